/* graphics.h - OpenGL buffers and images that CUDA works on, for the calls of runtime and driver.
 *
 * Sluice's device memory and OpenGL's are separate: mapping copies the contents from OpenGL, unmapping copies them
 * back, unless the flags make one of them unnecessary. Errors are the driver's; the runtime's of CUDA 9 differ.
 */
#ifndef CUDART_INTEROP_GRAPHICS_H
#define CUDART_INTEROP_GRAPHICS_H

#include "cudart/core/context.h"
#include "cudart/interop/gl.h"

enum { GRAPHICS_READ_ONLY = 1, GRAPHICS_WRITE_DISCARD = 2, GRAPHICS_SURFACE = 4, GRAPHICS_GATHER = 8 };

struct cuda_graphics {
  uint32_t name; /* of the buffer; 0: an image */
  struct gl_image image;
  uint32_t flags; /* for the next mapping: GRAPHICS_READ_ONLY or GRAPHICS_WRITE_DISCARD */
  bool mapped;
  uint64_t ptr, bytes;        /* of a buffer, from the first mapping on */
  struct cuda_mipmap *mips;   /* of an image */
  struct cuda_array **layers; /* arrays of single layers, created on demand, [level * layer_count + layer], or NULL */
  uint32_t layer_count;
};

/* ---- resources ---- */
cudaError_t graphics_register_buffer(struct cudart *c, struct cuda_graphics **out, uint32_t name, unsigned flags);
cudaError_t graphics_register_image(struct cudart *c, struct cuda_graphics **out, uint32_t name, uint32_t target,
                                    unsigned flags);
cudaError_t graphics_unregister(struct cudart *c, struct cuda_graphics *r);
cudaError_t graphics_set_flags(struct cudart *c, struct cuda_graphics *r, unsigned flags);
cudaError_t graphics_map(struct cudart *c, unsigned count, struct cuda_graphics *const *r, cudaStream_t stream);
cudaError_t graphics_unmap(struct cudart *c, unsigned count, struct cuda_graphics *const *r, cudaStream_t stream);
/* Access to mapped resources. */
cudaError_t graphics_pointer(struct cudart *c, struct cuda_graphics *r, uint64_t *ptr, size_t *bytes);
cudaError_t graphics_array(struct cudart *c, struct cuda_graphics *r, unsigned layer, unsigned level,
                           struct cuda_array **out);
cudaError_t graphics_mipmap(struct cudart *c, struct cuda_graphics *r, struct cuda_mipmap **out);
/* Devices of the current OpenGL context: the simulated one. */
cudaError_t graphics_devices(struct cudart *c, unsigned *count, int *devices, unsigned room, int list);
/* ---- the interface until CUDA 3, by name of the buffer ---- */
cudaError_t graphics_old_register(struct cudart *c, uint32_t name);
cudaError_t graphics_old_unregister(struct cudart *c, uint32_t name);
cudaError_t graphics_old_flags(struct cudart *c, uint32_t name, unsigned flags);
cudaError_t graphics_old_map(struct cudart *c, uint64_t *ptr, size_t *bytes, uint32_t name, cudaStream_t stream);
cudaError_t graphics_old_unmap(struct cudart *c, uint32_t name, cudaStream_t stream);
/* cudaDeviceReset: all registrations are gone. */
void graphics_forget(struct cudart *c);

#endif
