/* driver.h - shared by the files of the driver interface (libcuda): handles, error numbers, entering.
 *
 * The driver API and the runtime share the context of the process, so that handles and memory pass between them. Error
 * numbers are the runtime's.
 */
#ifndef CUDART_DRIVER_DRIVER_H
#define CUDART_DRIVER_DRIVER_H

#include "cudart/core/context.h"
#include "cudart/core/textures.h"

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef int CUdevice;
typedef struct cuda_module *CUmodule;
typedef struct cuda_function *CUfunction;
typedef struct driver_context *CUcontext;

struct driver_array_3d { /* CUDA_ARRAY3D_DESCRIPTOR */
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
/* False: no such format, or not 1, 2 or 4 channels. */
bool driver_channel_desc(int format, unsigned channels, struct cudaChannelFormatDesc *d);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);

#define DRIVER_API __attribute__((visibility("default")))
#define DRIVER_ALIAS(name, other) extern __typeof(name) other __attribute__((alias(#name)))
/* The names that headers map to: NAME_v2 and the per-thread-stream variants. */
#define DRIVER_V2(name) DRIVER_ALIAS(name, name##_v2)
#define DRIVER_PTSZ(name) CUDART_PER_THREAD(name, _ptsz)
#define DRIVER_PTDS(name) CUDART_PER_THREAD(name, _ptds)

/* As in context.h: without or after waiting for all work of streams. */
#define DRIVER_ENTER_ASYNC()                             \
  struct cudart *c = cudart_enter();                     \
  if (c->sticky) return cudart_leave_with(c, c->sticky); \
  if (!c->driver_ready) return cudart_leave_with(c, cudaErrorInitializationError)
#define DRIVER_ENTER()                  \
  DRIVER_ENTER_ASYNC();                 \
  cudaError_t before = cudart_drain(c); \
  if (before != cudaSuccess) return cudart_leave_with(c, before)
#define DRIVER_LEAVE(r) return cudart_leave_with(c, (r))

#endif
