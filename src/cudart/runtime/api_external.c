/* api_external.c - external memory and semaphores. */
#include "cudart/runtime/api.h"
#include "cudart/core/external.h"

typedef struct cuda_memory *cudaExternalMemory_t;
typedef struct cuda_semaphore *cudaExternalSemaphore_t;

struct cudaExternalMemoryMipmappedArrayDesc {
  unsigned long long offset;
  struct cudaChannelFormatDesc formatDesc;
  struct cudaExtent extent;
  unsigned flags, numLevels;
};

/* Values of signals and waits; the value comes first. The second form, which the driver has too, came with CUDA 11.2
 * and is all there is from CUDA 13 on. Of the first one, what follows the value grew between CUDA 10.0 and 10.2. */
struct signal_1 {
  unsigned long long value, sci, key;
  unsigned flags;
};
struct await_1 {
  unsigned long long value, sci, key;
  unsigned timeout, unused, flags;
};

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory, const struct external_memory_desc *desc) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, external_memory_import(c, memory, desc));
}

cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory) {
  CUDART_ENTER();
  return cudart_leave(c, external_memory_destroy(c, memory));
}

cudaError_t cudaExternalMemoryGetMappedBuffer(void **pointer, cudaExternalMemory_t memory,
                                              const struct external_buffer_desc *desc) {
  CUDART_ENTER_ASYNC();
  uint64_t p = 0;
  if (!pointer) return cudart_leave(c, cudaErrorInvalidValue);
  cudaError_t r = external_memory_buffer(c, &p, memory, desc);
  if (r == cudaSuccess) *pointer = (void *)(uintptr_t)p;
  return cudart_leave(c, r);
}

cudaError_t cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t *mipmap, cudaExternalMemory_t memory,
                                                      const struct cudaExternalMemoryMipmappedArrayDesc *d) {
  CUDART_ENTER_ASYNC();
  if (!d) return cudart_leave(c, cudaErrorInvalidValue);
  const struct external_mipmap_desc m = {d->offset, d->formatDesc, d->extent, d->flags, d->numLevels};
  return cudart_leave(c, external_memory_mipmap(c, mipmap, memory, &m));
}

cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                        const struct external_semaphore_desc *desc) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, external_semaphore_import(c, semaphore, desc));
}

cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, external_semaphore_destroy(c, semaphore));
}

/* The attribute list is NvSci's own and belongs to a library of embedded systems; a device elsewhere takes no part in
   it. Flags: 1 signals, 2 waits. */
cudaError_t cudaDeviceGetNvSciSyncAttributes(void *attributes, int device, int flags) {
  struct cudart *c = cudart_enter();
  if (!attributes || flags < 1 || flags > 3) return cudart_leave(c, cudaErrorInvalidValue);
  if (device != 0) return cudart_leave(c, cudaErrorInvalidDevice);
  return cudart_leave(c, cudart_why(c, cudaErrorNotSupported,
                                    "cudaDeviceGetNvSciSyncAttributes: the device does not take part in NvSciSync"));
}

#define SUBMIT(name, signal, params)                                                                  \
  cudaError_t name(const cudaExternalSemaphore_t *semaphores, const struct params *p, unsigned count, \
                   cudaStream_t stream) {                                                             \
    CUDART_ENTER_ASYNC();                                                                             \
    struct external_params at = {p, sizeof *p, offsetof(struct params, flags)};                       \
    if (CUDART_MAJOR <= 10) at.flags_at = EXTERNAL_NO_FLAGS;                                          \
    return cudart_leave(c, external_semaphores_submit(c, signal, semaphores, at, count, stream));     \
  }                                                                                                   \
  PTSZ(name)
#if CUDART_MAJOR >= 13
SUBMIT(cudaSignalExternalSemaphoresAsync, true, external_semaphore_params);
SUBMIT(cudaWaitExternalSemaphoresAsync, false, external_semaphore_params);
#else
SUBMIT(cudaSignalExternalSemaphoresAsync, true, signal_1);
SUBMIT(cudaWaitExternalSemaphoresAsync, false, await_1);
SUBMIT(cudaSignalExternalSemaphoresAsync_v2, true, external_semaphore_params);
SUBMIT(cudaWaitExternalSemaphoresAsync_v2, false, external_semaphore_params);
#endif
