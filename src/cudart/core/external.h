/* external.h - memory and semaphores that other software shares with CUDA through file descriptors.
 *
 * Memory is truly shared: kernels, the host and other processes that map the file use the same pages. The file may be
 * a memfd, a shared-memory object or a dma-buf; of Mesa's software Vulkan drivers the allocation inside their memfd is
 * found. Semaphores are eventfds, sync files (waits only), or files that hold the value in their first eight bytes
 * (timelines, and binary ones whose value is 0 or 1). Waits poll every millisecond.
 */
#ifndef CUDART_CORE_EXTERNAL_H
#define CUDART_CORE_EXTERNAL_H

#include "cudart/core/context.h"

enum { EXTERNAL_OPAQUE_FD = 1, EXTERNAL_NVSCI_BUF = 8, EXTERNAL_TIMELINE_FD = 9, EXTERNAL_TIMELINE_WIN32 = 10 };

/* Structures passed by programs; later versions append fields. */
struct external_handle {
  int type;
  union {
    int fd;
    void *pointers[2];
  } u;
};
struct external_memory_desc {
  struct external_handle handle;
  unsigned long long size;
  unsigned flags;
};
struct external_buffer_desc {
  unsigned long long offset, size;
  unsigned flags;
};
struct external_semaphore_desc {
  struct external_handle handle;
  unsigned flags;
};
/* For signals and waits alike, from CUDA 11.2 on. */
struct external_semaphore_params {
  unsigned long long value, sci, key;
  unsigned reserved[12], flags, more[16];
};
_Static_assert(offsetof(struct external_semaphore_params, flags) == 72, "layout of CUDA 11.2");
#define EXTERNAL_NO_FLAGS SIZE_MAX

struct cuda_memory; /* an imported file */
struct cuda_semaphore;

/* A successful import takes over the file descriptor. */
cudaError_t external_memory_import(struct cudart *c, struct cuda_memory **out, const struct external_memory_desc *d);
cudaError_t external_memory_destroy(struct cudart *c, struct cuda_memory *m);
cudaError_t external_memory_buffer(struct cudart *c, uint64_t *ptr, struct cuda_memory *m,
                                   const struct external_buffer_desc *d);
/* Levels are contiguous in the image layout of Mesa's software drivers: rows padded to 64 bytes, slices to four rows
 * (one row for images of one dimension). */
struct external_mipmap_desc {
  uint64_t offset; /* in the memory, in bytes */
  struct cudaChannelFormatDesc format;
  struct cudaExtent extent; /* of the largest level */
  unsigned flags, levels;
};
cudaError_t external_memory_mipmap(struct cudart *c, struct cuda_mipmap **out, struct cuda_memory *m,
                                   const struct external_mipmap_desc *d);
cudaError_t external_semaphore_import(struct cudart *c, struct cuda_semaphore **out,
                                      const struct external_semaphore_desc *d);
cudaError_t external_semaphore_destroy(struct cudart *c, struct cuda_semaphore *s);
/* The parameters of each semaphore: `stride` bytes apart; each begins with a value and has flags at `flags_at`, or
 * none that is known (EXTERNAL_NO_FLAGS). */
struct external_params {
  const void *at;
  size_t stride, flags_at;
};
/* Append to a stream. A signal returns when all earlier work is done, since others may wait for it outside this
 * library. */
cudaError_t external_semaphores_submit(struct cudart *c, bool signal, struct cuda_semaphore *const *s,
                                       struct external_params params, unsigned count, cudaStream_t stream);
/* Execution, by the queue. */
cudaError_t external_semaphore_signal(struct cudart *c, struct cuda_semaphore *s, uint64_t value);
/* True if it is signalled; a binary one is reset. */
bool external_semaphore_take(struct cuda_semaphore *s, uint64_t value);
/* Free all imported objects: cudaDeviceReset. */
void external_forget(struct cudart *c);

#endif
