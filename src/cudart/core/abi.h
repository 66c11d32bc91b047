/* abi.h - the binary interface of the CUDA runtime as programs were compiled against it: types, layouts, constants.
 *
 * Written from the public documentation of the interface; only the interface itself is here. CUDART_MAJOR (9 to 13)
 * selects layouts and signatures that changed between major versions. Enumerations are ints: a program may pass
 * any value, and an int cannot be undefined.
 */
#ifndef CUDART_CORE_ABI_H
#define CUDART_CORE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifndef CUDART_MAJOR
#define CUDART_MAJOR 12
#endif

typedef int cudaError_t;
enum cuda_error {
#define CUDA_ERROR_ROW(value, name, driver, text) cuda##name = value,
#include "cudart/core/errors.def"
#undef CUDA_ERROR_ROW
};

struct dim3_abi {
  uint32_t x, y, z;
};
typedef struct dim3_abi dim3;

/* Handles: opaque to programs. */
typedef struct cuda_stream *cudaStream_t;
typedef struct cuda_event *cudaEvent_t;
typedef struct cuda_array *cudaArray_t;
typedef struct cuda_mipmap *cudaMipmappedArray_t;
typedef struct cuda_graph *cudaGraph_t;
typedef struct cuda_node *cudaGraphNode_t;
typedef struct cuda_exec *cudaGraphExec_t;
typedef struct cuda_function *cudaFunction_t;
typedef struct cuda_pool *cudaMemPool_t;
typedef uint64_t cudaTextureObject_t;
typedef uint64_t cudaSurfaceObject_t;
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);

enum cuda_copy_kind { COPY_H2H, COPY_H2D, COPY_D2H, COPY_D2D, COPY_DEFAULT };
enum cuda_memory_type { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE, MEMORY_MANAGED };
enum { STREAM_NON_BLOCKING = 1 };
enum { EVENT_BLOCKING_SYNC = 1, EVENT_DISABLE_TIMING = 2, EVENT_INTERPROCESS = 4 };
enum { HOST_PORTABLE = 1, HOST_MAPPED = 2, HOST_WRITE_COMBINED = 4 };
enum { ARRAY_LAYERED = 1, ARRAY_SURFACE = 2, ARRAY_CUBEMAP = 4, ARRAY_GATHER = 8 };
enum { CHANNEL_SIGNED, CHANNEL_UNSIGNED, CHANNEL_FLOAT, CHANNEL_NONE };
enum { RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCH2D };
enum { FUNC_MAX_DYNAMIC_SHARED = 8, FUNC_SHARED_CARVEOUT = 9 };
enum {
  LIMIT_STACK,
  LIMIT_PRINTF,
  LIMIT_HEAP,
  LIMIT_SYNC_DEPTH,
  LIMIT_PENDING,
  LIMIT_L2_FETCH,
  LIMIT_L2_PERSIST,
  LIMITS
};

struct cudaChannelFormatDesc {
  int x, y, z, w; /* bits */
  int f;          /* CHANNEL_* */
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent;
  int kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  int dstDevice;
  struct cudaExtent extent;
};
struct cudaPointerAttributes {
#if CUDART_MAJOR <= 10
  int memoryType; /* host or device; managed memory counts as device */
#endif
#if CUDART_MAJOR >= 10
  int type;
#endif
  int device;
  void *devicePointer, *hostPointer;
#if CUDART_MAJOR <= 10
  int isManaged;
#endif
#if CUDART_MAJOR >= 13
  long reserved[8];
#endif
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
#if CUDART_MAJOR >= 12
  int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth,
      clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed, reserved[16];
#endif
};
struct cudaResourceDesc {
  int resType;
  union {
    cudaArray_t array;
    cudaMipmappedArray_t mipmap;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void *devPtr;
      struct cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
#if CUDART_MAJOR >= 13
    int reserved[32];
#endif
  } res;
#if CUDART_MAJOR >= 13
  unsigned flags;
#endif
};
struct cudaTextureDesc {
  int addressMode[3], filterMode, readMode, sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization; /* from CUDA 10.2 on */
  int seamlessCubemap;              /* from CUDA 12 on, in 11.8 under another name of the call */
};
struct textureReference {
  int normalized, filterMode, addressMode[3];
  struct cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  int mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};
struct surfaceReference {
  struct cudaChannelFormatDesc channelDesc;
};
struct cudaLaunchConfig {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  void *attrs;
  unsigned numAttrs;
};
struct cudaMemLocation {
  int type, id;
};
struct cudaMemPoolProps {
  int allocType, handleTypes;
  struct cudaMemLocation location;
  void *security;
  size_t maxSize;
  unsigned char reserved[56];
};
struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void *dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void *userData;
};
struct cudaMemAllocNodeParams {
  struct cudaMemPoolProps poolProps;
  const void *accessDescs;
  size_t accessDescCount, bytesize;
  void *dptr;
};
struct cudaUUID {
  char bytes[16];
};

#endif
