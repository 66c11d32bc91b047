/* abi_prop.h - cudaDeviceProp, of the interface abi.h, in the layouts of the major versions. */
#ifndef CUDART_CORE_ABI_PROP_H
#define CUDART_CORE_ABI_PROP_H

#include "cudart/core/abi.h"

/* cudaDeviceProp before CUDA 12 (also what cudaGetDeviceProperties of libcudart 12 fills for older objects). */
#define CUDA_DEVICE_PROP_IDS \
  struct cudaUUID uuid;      \
  char luid[8];              \
  unsigned luidDeviceNodeMask;
#define CUDA_DEVICE_PROP_COMMON_1           \
  size_t totalGlobalMem, sharedMemPerBlock; \
  int regsPerBlock, warpSize;               \
  size_t memPitch;                          \
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
#define CUDA_DEVICE_PROP_COMMON_2                                                                            \
  int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], \
      maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3],                 \
      maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2],   \
      maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];                                \
  size_t surfaceAlignment;                                                                                   \
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
#define CUDA_DEVICE_PROP_COMMON_3                                                      \
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,  \
      timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported; \
  unsigned gpuDirectRDMAFlushWritesOptions;                                            \
  int gpuDirectRDMAWritesOrdering;                                                     \
  unsigned memoryPoolSupportedHandleTypes;                                             \
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers;
/* `ids` from CUDA 10 on, `l2` and the end from CUDA 11 on. */
#define CUDA_DEVICE_PROP_UNTIL_12(ids, l2)                                                                         \
  char name[256];                                                                                                  \
  ids CUDA_DEVICE_PROP_COMMON_1 int clockRate;                                                                     \
  size_t totalConstMem;                                                                                            \
  int major, minor;                                                                                                \
  size_t textureAlignment, texturePitchAlignment;                                                                  \
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode,     \
      maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;                                                        \
  CUDA_DEVICE_PROP_COMMON_2                                                                                        \
  int memoryClockRate, memoryBusWidth, l2CacheSize;                                                                \
  l2 int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;    \
  size_t sharedMemPerMultiprocessor;                                                                               \
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,      \
      singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, \
      canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;                          \
  size_t sharedMemPerBlockOptin;
#define CUDA_DEVICE_PROP_PERSISTING int persistingL2CacheMaxSize;
#define CUDA_DEVICE_PROP_FROM_11                                                                          \
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, \
      accessPolicyMaxWindowSize;                                                                          \
  size_t reservedSharedMemPerBlock;

struct device_prop_9 { /* 9.2 appends two ints */
  CUDA_DEVICE_PROP_UNTIL_12(, )
};
struct device_prop_10 {
  CUDA_DEVICE_PROP_UNTIL_12(CUDA_DEVICE_PROP_IDS, )
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
};
struct device_prop_11 {
  CUDA_DEVICE_PROP_UNTIL_12(CUDA_DEVICE_PROP_IDS, CUDA_DEVICE_PROP_PERSISTING)
  CUDA_DEVICE_PROP_FROM_11
};
struct device_prop_12 {
  CUDA_DEVICE_PROP_UNTIL_12(CUDA_DEVICE_PROP_IDS, CUDA_DEVICE_PROP_PERSISTING)
  CUDA_DEVICE_PROP_FROM_11
  CUDA_DEVICE_PROP_COMMON_3
  int reserved[63];
};
struct device_prop_13 {
  char name[256];
  CUDA_DEVICE_PROP_IDS
  CUDA_DEVICE_PROP_COMMON_1
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory, maxTexture1D, maxTexture1DMipmap;
  CUDA_DEVICE_PROP_COMMON_2
  int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
      globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
      pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
      cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
      accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  CUDA_DEVICE_PROP_COMMON_3
  int deviceNumaConfig, deviceNumaId, mpsEnabled, hostNumaId;
  unsigned gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported, reserved[56];
};
#if CUDART_MAJOR == 9
typedef struct device_prop_9 cudaDeviceProp;
#elif CUDART_MAJOR == 10
typedef struct device_prop_10 cudaDeviceProp;
#elif CUDART_MAJOR == 11
typedef struct device_prop_11 cudaDeviceProp;
#elif CUDART_MAJOR == 12
typedef struct device_prop_12 cudaDeviceProp;
#else
typedef struct device_prop_13 cudaDeviceProp;
#endif
_Static_assert(sizeof(struct device_prop_10) == 712, "layout of cudaDeviceProp in CUDA 10");
_Static_assert(sizeof(struct device_prop_11) == 728, "layout of cudaDeviceProp before CUDA 12");
_Static_assert(sizeof(struct device_prop_12) == 1032, "layout of cudaDeviceProp in CUDA 12");

#endif
