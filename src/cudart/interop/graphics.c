/* graphics.c - sharing OpenGL objects with CUDA: registration, mapping, and access to mapped resources.
 *
 * CUDA Runtime API, "Graphics Interoperability": OpenGL's work before a mapping comes before CUDA's work in the stream
 * after it, and the other way round for unmapping. Here both calls wait for all work of streams and then copy, which
 * orders more than required. The copies take no simulated time: a GPU that draws needs none. Device addresses stay the
 * same from one mapping to the next.
 */
#include "cudart/interop/graphics.h"
#include "cudart/core/arrays.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"

#include <stdlib.h>

#include "base/mem.h"

enum { EVERY_FLAG = 15, LISTS = 3 };

static cudaError_t current(struct cudart *c, const char *what) {
  return gl_current(&c->gl) ? cudaSuccess
                            : cudart_why(c, cudaErrorInvalidGraphicsContext,
                                         "%s: the calling thread has no current OpenGL context", what);
}

static bool flags_fit(unsigned flags) {
  const unsigned access = GRAPHICS_READ_ONLY | GRAPHICS_WRITE_DISCARD;
  return !(flags & ~(unsigned)EVERY_FLAG) && (flags & access) != access;
}

static struct cuda_graphics *known_graphics(struct cudart *c, const struct cuda_graphics *r) {
  return ptrmap_get(&c->graphics, (uintptr_t)r);
}

static struct cuda_graphics *enter(struct cudart *c, unsigned flags) {
  struct cuda_graphics *r = mem_zeroed(1, sizeof *r);
  r->flags = flags & (GRAPHICS_READ_ONLY | GRAPHICS_WRITE_DISCARD);
  ptrmap_put(&c->graphics, (uintptr_t)r, r);
  return r;
}

cudaError_t graphics_register_buffer(struct cudart *c, struct cuda_graphics **out, uint32_t name, unsigned flags) {
  uint64_t bytes;
  if (!out || !flags_fit(flags) || flags > GRAPHICS_WRITE_DISCARD) return cudaErrorInvalidValue;
  cudaError_t r = current(c, "registering a buffer");
  if (r != cudaSuccess) return r;
  if (!gl_buffer_bytes(c->gl, name, &bytes))
    return cudart_why(c, cudaErrorInvalidValue, "registering buffer %u: OpenGL has no buffer with storage of that name",
                      name);
  *out = enter(c, flags);
  (*out)->name = name;
  return cudaSuccess;
}

/* Memory and arrays of all levels. */
static cudaError_t place_levels(struct cudart *c, struct cuda_graphics *r, uint32_t flags) {
  struct cudaExtent e = r->image.extent;
  struct cuda_mipmap *m = mem_zeroed(1, sizeof *m);
  r->mips = m;
  m->mapped = true;
  flags |= r->image.flags;
  do {
    cudaError_t error = cudart_array_new(c, &r->image.desc, e.width, e.height, e.depth, flags, &m->level[m->levels]);
    if (error != cudaSuccess) return error;
    m->level[m->levels++]->view = true; /* the program may not free it */
  } while (m->levels < r->image.levels && cudart_smaller_level(&e, flags));
  return cudaSuccess;
}

static void release_graphics(struct cudart *c, struct cuda_graphics *r) {
  uint32_t levels = r->mips ? r->mips->levels : 0;
  for (uint32_t i = 0; r->layers && i < levels * r->layer_count; i++) cudart_array_drop_view(c, r->layers[i]);
  for (uint32_t i = 0; i < levels; i++) {
    simt_mem_release(c->simt, r->mips->level[i]->base);
    cudart_array_drop_view(c, r->mips->level[i]);
  }
  if (r->ptr) simt_mem_release(c->simt, r->ptr);
  ptrmap_remove(&c->graphics, (uintptr_t)r);
  free(r->layers);
  free(r->mips);
  free(r);
}

cudaError_t graphics_register_image(struct cudart *c, struct cuda_graphics **out, uint32_t name, uint32_t target,
                                    unsigned flags) {
  struct gl_image image;
  if (!out || !flags_fit(flags)) return cudaErrorInvalidValue;
  cudaError_t error = current(c, "registering an image");
  if (error != cudaSuccess) return error;
  const char *why = gl_image_describe(c->gl, name, target, &image);
  if (why)
    return cudart_why(c, cudaErrorInvalidValue, "registering image %u of target 0x%04x and internal format 0x%04x: %s",
                      name, target, image.internal, why);
  struct cuda_graphics *r = enter(c, flags);
  r->image = image;
  r->layer_count = image.flags ? (uint32_t)image.extent.depth : 1;
  error =
      place_levels(c, r, (flags & GRAPHICS_SURFACE ? ARRAY_SURFACE : 0) | (flags & GRAPHICS_GATHER ? ARRAY_GATHER : 0));
  if (error != cudaSuccess) {
    release_graphics(c, r);
    return error;
  }
  *out = r;
  return cudaSuccess;
}

cudaError_t graphics_set_flags(struct cudart *c, struct cuda_graphics *r, unsigned flags) {
  if (!known_graphics(c, r)) return cudaErrorInvalidResourceHandle;
  if (flags > GRAPHICS_WRITE_DISCARD) return cudaErrorInvalidValue;
  if (r->mapped) return cudaErrorAlreadyMapped;
  r->flags = flags;
  return cudaSuccess;
}

/* ---- copies ---- */

static cudaError_t refused(struct cudart *c, const struct cuda_graphics *r, cudaError_t error, const char *verb) {
  return cudart_why(c, error, "%s %s %u: OpenGL refuses its contents (does the program use it itself at the moment?)",
                    verb, r->name ? "buffer" : "image", r->name ? r->name : r->image.name);
}

/* A buffer's storage may have changed since it was last mapped. */
static cudaError_t place_buffer(struct cudart *c, struct cuda_graphics *r) {
  uint64_t bytes;
  if (!gl_buffer_bytes(c->gl, r->name, &bytes)) return refused(c, r, cudaErrorMapBufferObjectFailed, "mapping");
  if (r->ptr && r->bytes != bytes) {
    simt_mem_release(c->simt, r->ptr);
    r->ptr = 0;
  }
  if (!r->ptr) r->ptr = simt_mem_alloc(c->simt, bytes, SIMT_MEM_DEVICE, "cudaGraphicsGLRegisterBuffer");
  r->bytes = bytes;
  return r->ptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

static bool move_level(struct cudart *c, const struct cuda_graphics *r, uint32_t level, bool to_device) {
  const struct cuda_array *a = r->mips->level[level];
  void *p = simt_mem_at(c->simt, a->base, a->bytes);
  uint32_t row = (uint32_t)(a->pitch / a->element), rows = (uint32_t)(a->slice / a->pitch);
  if (!p || !to_device) return p && gl_image_write(c->gl, &r->image, level, p, row, rows);
  simt_mem_written(c->simt, a->base, a->bytes);
  return gl_image_read(c->gl, &r->image, level, p, row, rows);
}

static cudaError_t map_one(struct cudart *c, struct cuda_graphics *r) {
  cudaError_t error = r->name ? place_buffer(c, r) : cudaSuccess;
  bool good = true;
  if (error != cudaSuccess) return error;
  if (!(r->flags & GRAPHICS_WRITE_DISCARD) && r->name) {
    simt_mem_written(c->simt, r->ptr, r->bytes);
    good = gl_buffer_read(c->gl, r->name, simt_mem_at(c->simt, r->ptr, r->bytes), r->bytes);
  }
  for (uint32_t i = 0; !(r->flags & GRAPHICS_WRITE_DISCARD) && !r->name && good && i < r->mips->levels; i++)
    good = move_level(c, r, i, true);
  if (!good) return refused(c, r, cudaErrorMapBufferObjectFailed, "mapping");
  r->mapped = true;
  return cudaSuccess;
}

static cudaError_t unmap_one(struct cudart *c, struct cuda_graphics *r) {
  bool good = true;
  r->mapped = false;
  if (r->flags & GRAPHICS_READ_ONLY) return cudaSuccess;
  if (r->name) good = gl_buffer_write(c->gl, r->name, simt_mem_at(c->simt, r->ptr, r->bytes), r->bytes);
  for (uint32_t i = 0; !r->name && good && i < r->mips->levels; i++) good = move_level(c, r, i, false);
  return good ? cudaSuccess : refused(c, r, cudaErrorUnmapBufferObjectFailed, "unmapping");
}

/* All handles are known, distinct, and in the required state. */
static cudaError_t check_list(struct cudart *c, unsigned count, struct cuda_graphics *const *r, bool mapped) {
  if (count && !r) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count; i++) {
    if (!known_graphics(c, r[i])) return cudaErrorInvalidResourceHandle;
    for (unsigned k = 0; k < i; k++)
      if (r[k] == r[i]) return cudaErrorInvalidResourceHandle;
  }
  for (unsigned i = 0; i < count; i++)
    if (r[i]->mapped != mapped) return mapped ? cudaErrorNotMapped : cudaErrorAlreadyMapped;
  return cudaSuccess;
}

/* All streams are idle, blocking and others. */
static cudaError_t settle_stream(struct cudart *c, cudaStream_t stream) {
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s) return cudaErrorInvalidResourceHandle;
  if (s->capture) return cudaErrorStreamCaptureUnsupported;
  return c->in_call ? cudaErrorNotPermitted : cudart_drain(c);
}

cudaError_t graphics_map(struct cudart *c, unsigned count, struct cuda_graphics *const *r, cudaStream_t stream) {
  cudaError_t error = check_list(c, count, r, false);
  if (error == cudaSuccess) error = settle_stream(c, stream);
  if (error == cudaSuccess) error = current(c, "mapping resources");
  for (unsigned i = 0; i < count && error == cudaSuccess; i++) {
    error = map_one(c, r[i]);
    for (unsigned k = 0; k < i && error != cudaSuccess; k++) r[k]->mapped = false; /* all or none */
  }
  return error;
}

cudaError_t graphics_unmap(struct cudart *c, unsigned count, struct cuda_graphics *const *r, cudaStream_t stream) {
  cudaError_t error = check_list(c, count, r, true);
  if (error == cudaSuccess) error = settle_stream(c, stream);
  if (error == cudaSuccess) error = current(c, "unmapping resources");
  for (unsigned i = 0; i < count && error == cudaSuccess; i++) error = unmap_one(c, r[i]);
  return error;
}

cudaError_t graphics_unregister(struct cudart *c, struct cuda_graphics *r) {
  if (!known_graphics(c, r)) return cudaErrorInvalidResourceHandle;
  if (r->mapped && gl_current(&c->gl)) unmap_one(c, r);
  release_graphics(c, r);
  return cudaSuccess;
}

void graphics_forget(struct cudart *c) {
  for (uint32_t i = 0; i < c->graphics.capacity; i++) {
    struct cuda_graphics *r = c->graphics.slots[i].value;
    if (!r) continue;
    free(r->layers);
    free(r->mips);
    free(r);
  }
  ptrmap_free(&c->graphics);
  ptrmap_free(&c->gl_buffers);
}

/* ---- access to mapped resources ---- */

static cudaError_t seen_as(struct cudart *c, const struct cuda_graphics *r, bool buffer) {
  if (!known_graphics(c, r)) return cudaErrorInvalidResourceHandle;
  if (!r->mapped) return cudaErrorNotMapped;
  if (buffer && !r->name) return cudaErrorNotMappedAsPointer;
  return !buffer && r->name ? cudaErrorNotMappedAsArray : cudaSuccess;
}

cudaError_t graphics_pointer(struct cudart *c, struct cuda_graphics *r, uint64_t *ptr, size_t *bytes) {
  cudaError_t error = seen_as(c, r, true);
  if (error != cudaSuccess) return error;
  if (ptr) *ptr = r->ptr;
  if (bytes) *bytes = r->bytes;
  return cudaSuccess;
}

cudaError_t graphics_mipmap(struct cudart *c, struct cuda_graphics *r, struct cuda_mipmap **out) {
  cudaError_t error = seen_as(c, r, false);
  if (error == cudaSuccess && !out) error = cudaErrorInvalidValue;
  if (error == cudaSuccess) *out = r->mips;
  return error;
}

cudaError_t graphics_array(struct cudart *c, struct cuda_graphics *r, unsigned layer, unsigned level,
                           struct cuda_array **out) {
  cudaError_t error = seen_as(c, r, false);
  if (error != cudaSuccess) return error;
  if (!out || level >= r->mips->levels || layer >= r->layer_count) return cudaErrorInvalidValue;
  struct cuda_array *whole = r->mips->level[level];
  *out = whole;
  if (!r->image.flags) return cudaSuccess;
  if (!r->layers) r->layers = mem_zeroed((size_t)r->mips->levels * r->layer_count, sizeof *r->layers);
  struct cuda_array **view = &r->layers[level * r->layer_count + layer];
  const struct cudaExtent e = {whole->width, whole->height, 0};
  if (!*view)
    error =
        cudart_array_view(c, &whole->desc, &e, whole->flags & (ARRAY_SURFACE | ARRAY_GATHER),
                          (struct cuda_place){whole->base + layer * whole->slice, whole->pitch, whole->slice}, view);
  *out = *view;
  return error;
}

cudaError_t graphics_devices(struct cudart *c, unsigned *count, int *devices, unsigned room, int list) {
  if (list < 1 || list > LISTS) return cudaErrorInvalidValue;
  cudaError_t error = current(c, "asking for the devices of OpenGL");
  if (error != cudaSuccess) return error;
  if (count) *count = 1;
  if (devices && room) devices[0] = 0;
  return cudaSuccess;
}

/* ---- the interface until CUDA 3 ---- */

static struct cuda_graphics *graphics_by_name(struct cudart *c, uint32_t name) {
  return name ? ptrmap_get(&c->gl_buffers, name) : NULL;
}

cudaError_t graphics_old_register(struct cudart *c, uint32_t name) {
  struct cuda_graphics *r = NULL;
  if (graphics_by_name(c, name)) return cudaErrorAlreadyMapped;
  cudaError_t error = graphics_register_buffer(c, &r, name, 0);
  if (error == cudaSuccess) ptrmap_put(&c->gl_buffers, name, r);
  return error;
}

cudaError_t graphics_old_unregister(struct cudart *c, uint32_t name) {
  struct cuda_graphics *r = graphics_by_name(c, name);
  ptrmap_remove(&c->gl_buffers, name);
  return r ? graphics_unregister(c, r) : cudaErrorInvalidResourceHandle;
}

cudaError_t graphics_old_flags(struct cudart *c, uint32_t name, unsigned flags) {
  struct cuda_graphics *r = graphics_by_name(c, name);
  return r ? graphics_set_flags(c, r, flags) : cudaErrorInvalidResourceHandle;
}

cudaError_t graphics_old_map(struct cudart *c, uint64_t *ptr, size_t *bytes, uint32_t name, cudaStream_t stream) {
  struct cuda_graphics *r = graphics_by_name(c, name);
  if (!r) return cudaErrorInvalidResourceHandle;
  cudaError_t error = graphics_map(c, 1, &r, stream);
  return error == cudaSuccess ? graphics_pointer(c, r, ptr, bytes) : error;
}

cudaError_t graphics_old_unmap(struct cudart *c, uint32_t name, cudaStream_t stream) {
  struct cuda_graphics *r = graphics_by_name(c, name);
  return r ? graphics_unmap(c, 1, &r, stream) : cudaErrorInvalidResourceHandle;
}
