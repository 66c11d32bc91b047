/* driver_interop.c - libcuda: sharing with OpenGL, external memory and semaphores, mipmapped arrays. */
#include "cudart/core/arrays.h"
#include "cudart/core/external.h"
#include "cudart/driver/driver.h"
#include "cudart/interop/graphics.h"

typedef struct cuda_graphics *CUgraphicsResource;

/* ---- OpenGL ---- */

CUresult cuGraphicsGLRegisterBuffer(CUgraphicsResource *resource, unsigned buffer, unsigned flags) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_register_buffer(c, resource, buffer, flags));
}

CUresult cuGraphicsGLRegisterImage(CUgraphicsResource *resource, unsigned image, unsigned target, unsigned flags) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_register_image(c, resource, image, target, flags));
}

CUresult cuGraphicsUnregisterResource(CUgraphicsResource resource) {
  DRIVER_ENTER();
  DRIVER_LEAVE(graphics_unregister(c, resource));
}

CUresult cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned flags) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_set_flags(c, resource, flags));
}
DRIVER_ALIAS(cuGraphicsResourceSetMapFlags_v2, cuGraphicsResourceSetMapFlags);

CUresult cuGraphicsMapResources(unsigned count, CUgraphicsResource *resources, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_map(c, count, resources, stream));
}
DRIVER_PTSZ(cuGraphicsMapResources);

CUresult cuGraphicsUnmapResources(unsigned count, CUgraphicsResource *resources, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_unmap(c, count, resources, stream));
}
DRIVER_PTSZ(cuGraphicsUnmapResources);

CUresult cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr *pointer, size_t *bytes, CUgraphicsResource resource) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_pointer(c, resource, pointer, bytes));
}
DRIVER_ALIAS(cuGraphicsResourceGetMappedPointer_v2, cuGraphicsResourceGetMappedPointer);

CUresult cuGraphicsSubResourceGetMappedArray(struct cuda_array **array, CUgraphicsResource resource, unsigned layer,
                                             unsigned level) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_array(c, resource, layer, level, array));
}

CUresult cuGraphicsResourceGetMappedMipmappedArray(struct cuda_mipmap **mipmap, CUgraphicsResource resource) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_mipmap(c, resource, mipmap));
}

CUresult cuGLGetDevices_v2(unsigned *count, CUdevice *devices, unsigned room, int list) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_devices(c, count, devices, room, list));
}
DRIVER_ALIAS(cuGLGetDevices_v2, cuGLGetDevices);

/* ---- OpenGL until CUDA 3 ---- */

CUresult cuGLInit(void) {
  return cudaSuccess;
}

CUresult cuGLCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
DRIVER_ALIAS(cuGLCtxCreate_v2, cuGLCtxCreate);

CUresult cuGLRegisterBufferObject(unsigned buffer) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_old_register(c, buffer));
}

CUresult cuGLUnregisterBufferObject(unsigned buffer) {
  DRIVER_ENTER();
  DRIVER_LEAVE(graphics_old_unregister(c, buffer));
}

CUresult cuGLSetBufferObjectMapFlags(unsigned buffer, unsigned flags) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_old_flags(c, buffer, flags));
}

CUresult cuGLMapBufferObjectAsync_v2(CUdeviceptr *pointer, size_t *bytes, unsigned buffer, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_old_map(c, pointer, bytes, buffer, stream));
}
DRIVER_ALIAS(cuGLMapBufferObjectAsync_v2, cuGLMapBufferObjectAsync);

CUresult cuGLMapBufferObject_v2(CUdeviceptr *pointer, size_t *bytes, unsigned buffer) {
  return cuGLMapBufferObjectAsync_v2(pointer, bytes, buffer, NULL);
}
DRIVER_ALIAS(cuGLMapBufferObject_v2, cuGLMapBufferObject);

CUresult cuGLUnmapBufferObjectAsync(unsigned buffer, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(graphics_old_unmap(c, buffer, stream));
}

CUresult cuGLUnmapBufferObject(unsigned buffer) {
  return cuGLUnmapBufferObjectAsync(buffer, NULL);
}

/* ---- mipmapped arrays ---- */

CUresult cuMipmappedArrayCreate(struct cuda_mipmap **mipmap, const struct driver_array_3d *d, unsigned levels) {
  DRIVER_ENTER();
  struct cudaChannelFormatDesc format;
  if (!mipmap || !d || !levels || !driver_channel_desc(d->format, d->channels, &format))
    DRIVER_LEAVE(cudaErrorInvalidValue);
  const struct cudaExtent extent = {d->width, d->height, d->depth};
  DRIVER_LEAVE(cudart_mipmap_new(c, &format, extent, levels, d->flags, mipmap));
}

CUresult cuMipmappedArrayGetLevel(struct cuda_array **array, struct cuda_mipmap *mipmap, unsigned level) {
  DRIVER_ENTER_ASYNC();
  if (!array || !mipmap || level >= mipmap->levels) DRIVER_LEAVE(cudaErrorInvalidValue);
  *array = mipmap->level[level];
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuMipmappedArrayDestroy(struct cuda_mipmap *mipmap) {
  DRIVER_ENTER();
  DRIVER_LEAVE(mipmap ? cudart_mipmap_free(c, mipmap) : cudaErrorInvalidResourceHandle);
}

/* ---- external memory ---- */

CUresult cuImportExternalMemory(struct cuda_memory **memory, const struct external_memory_desc *desc) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(external_memory_import(c, memory, desc));
}

CUresult cuDestroyExternalMemory(struct cuda_memory *memory) {
  DRIVER_ENTER();
  DRIVER_LEAVE(external_memory_destroy(c, memory));
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *pointer, struct cuda_memory *memory,
                                         const struct external_buffer_desc *desc) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(external_memory_buffer(c, pointer, memory, desc));
}

struct mipmap_desc { /* CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC */
  unsigned long long offset;
  struct driver_array_3d array;
  unsigned levels, reserved[16];
};

CUresult cuExternalMemoryGetMappedMipmappedArray(struct cuda_mipmap **mipmap, struct cuda_memory *memory,
                                                 const struct mipmap_desc *d) {
  DRIVER_ENTER_ASYNC();
  struct external_mipmap_desc m;
  if (!d || !driver_channel_desc(d->array.format, d->array.channels, &m.format)) DRIVER_LEAVE(cudaErrorInvalidValue);
  m.offset = d->offset;
  m.extent = (struct cudaExtent){d->array.width, d->array.height, d->array.depth};
  m.flags = d->array.flags, m.levels = d->levels;
  DRIVER_LEAVE(external_memory_mipmap(c, mipmap, memory, &m));
}

/* ---- external semaphores ---- */

CUresult cuImportExternalSemaphore(struct cuda_semaphore **semaphore, const struct external_semaphore_desc *desc) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(external_semaphore_import(c, semaphore, desc));
}

CUresult cuDestroyExternalSemaphore(struct cuda_semaphore *semaphore) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(external_semaphore_destroy(c, semaphore));
}

static struct external_params params_at(const struct external_semaphore_params *p) {
  return (struct external_params){p, sizeof *p, offsetof(struct external_semaphore_params, flags)};
}

CUresult cuSignalExternalSemaphoresAsync(struct cuda_semaphore *const *semaphores,
                                         const struct external_semaphore_params *p, unsigned count,
                                         cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(external_semaphores_submit(c, true, semaphores, params_at(p), count, stream));
}
DRIVER_PTSZ(cuSignalExternalSemaphoresAsync);

CUresult cuWaitExternalSemaphoresAsync(struct cuda_semaphore *const *semaphores,
                                       const struct external_semaphore_params *p, unsigned count, cudaStream_t stream) {
  DRIVER_ENTER_ASYNC();
  DRIVER_LEAVE(external_semaphores_submit(c, false, semaphores, params_at(p), count, stream));
}
DRIVER_PTSZ(cuWaitExternalSemaphoresAsync);
