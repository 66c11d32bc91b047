/* api_graphics.c - sharing OpenGL buffers and images with CUDA, in the interface since CUDA 3 and the one before. */
#include "cudart/runtime/api.h"
#include "cudart/interop/graphics.h"

typedef struct cuda_graphics *cudaGraphicsResource_t;

/* ---- resources ---- */

cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t *resource, unsigned buffer, unsigned flags) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_register_buffer(c, resource, buffer, flags));
}

cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t *resource, unsigned image, unsigned target,
                                        unsigned flags) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_register_image(c, resource, image, target, flags));
}

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource) {
  CUDART_ENTER();
  return cudart_leave(c, graphics_unregister(c, resource));
}

cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned flags) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_set_flags(c, resource, flags));
}

cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, count < 0 ? cudaErrorInvalidValue : graphics_map(c, (unsigned)count, resources, stream));
}
PTSZ(cudaGraphicsMapResources);

cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t *resources, cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, count < 0 ? cudaErrorInvalidValue : graphics_unmap(c, (unsigned)count, resources, stream));
}
PTSZ(cudaGraphicsUnmapResources);

cudaError_t cudaGraphicsResourceGetMappedPointer(void **pointer, size_t *bytes, cudaGraphicsResource_t resource) {
  CUDART_ENTER_ASYNC();
  uint64_t p = 0;
  cudaError_t r = graphics_pointer(c, resource, &p, bytes);
  if (r == cudaSuccess && pointer) *pointer = (void *)(uintptr_t)p;
  return cudart_leave(c, r);
}

cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t *array, cudaGraphicsResource_t resource, unsigned layer,
                                                  unsigned level) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_array(c, resource, layer, level, array));
}

cudaError_t cudaGraphicsResourceGetMappedMipmappedArray(cudaMipmappedArray_t *mipmap, cudaGraphicsResource_t resource) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_mipmap(c, resource, mipmap));
}

/* ---- devices ---- */

cudaError_t cudaGLGetDevices(unsigned *count, int *devices, unsigned room, int list) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_devices(c, count, devices, room, list));
}

cudaError_t cudaGLSetGLDevice(int device) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

/* ---- until CUDA 3 ---- */

cudaError_t cudaGLRegisterBufferObject(unsigned buffer) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_old_register(c, buffer));
}

cudaError_t cudaGLUnregisterBufferObject(unsigned buffer) {
  CUDART_ENTER();
  return cudart_leave(c, graphics_old_unregister(c, buffer));
}

cudaError_t cudaGLSetBufferObjectMapFlags(unsigned buffer, unsigned flags) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, graphics_old_flags(c, buffer, flags));
}

cudaError_t cudaGLMapBufferObjectAsync(void **pointer, unsigned buffer, cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  uint64_t p = 0;
  if (!pointer) return cudart_leave(c, cudaErrorInvalidValue);
  cudaError_t r = graphics_old_map(c, &p, NULL, buffer, stream);
  if (r == cudaSuccess) *pointer = (void *)(uintptr_t)p;
  return cudart_leave(c, r == cudaErrorInvalidResourceHandle ? cudaErrorMapBufferObjectFailed : r);
}

cudaError_t cudaGLMapBufferObject(void **pointer, unsigned buffer) {
  return cudaGLMapBufferObjectAsync(pointer, buffer, NULL);
}

cudaError_t cudaGLUnmapBufferObjectAsync(unsigned buffer, cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  cudaError_t r = graphics_old_unmap(c, buffer, stream);
  return cudart_leave(c, r == cudaErrorInvalidResourceHandle ? cudaErrorUnmapBufferObjectFailed : r);
}

cudaError_t cudaGLUnmapBufferObject(unsigned buffer) {
  return cudaGLUnmapBufferObjectAsync(buffer, NULL);
}
