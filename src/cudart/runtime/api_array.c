/* api_array.c - CUDA arrays, copies to and from them, texture and surface objects, texture and surface references. */
#include <stdlib.h>
#include <string.h>

#include "cudart/core/arrays.h"
#include "cudart/core/copies.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/runtime/api.h"

enum { TEXTURE_ALIGN = 512 };

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int f) {
  return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* ---- arrays ---- */

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags) {
  CUDART_ENTER();
  if (!array || !desc) return cudart_leave(c, cudaErrorInvalidValue);
  return cudart_leave(c, cudart_array_new(c, desc, width, height, 0, flags, array));
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned flags) {
  CUDART_ENTER();
  if (!array || !desc) return cudart_leave(c, cudaErrorInvalidValue);
  if ((flags & ARRAY_CUBEMAP) && (extent.width != extent.height || extent.depth % 6))
    return cudart_leave(c, cudaErrorInvalidValue);
  return cudart_leave(c, cudart_array_new(c, desc, extent.width, extent.height, extent.depth, flags, array));
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  CUDART_ENTER();
  return cudart_leave(c, cudart_array_free(c, array));
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
  CUDART_ENTER();
  struct cuda_array *a = cudart_array(c, array);
  if (!a) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  if (desc) *desc = a->desc;
  if (extent) *extent = (struct cudaExtent){a->width, a->height, a->depth};
  if (flags) *flags = a->flags;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_t array) {
  CUDART_ENTER();
  struct cuda_array *a = cudart_array(c, array);
  if (!a || !desc) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  *desc = a->desc;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *out, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags) {
  CUDART_ENTER();
  if (!out || !desc || !levels) return cudart_leave(c, cudaErrorInvalidValue);
  return cudart_leave(c, cudart_mipmap_new(c, desc, extent, levels, flags, out));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_t mipmap, unsigned level) {
  CUDART_ENTER();
  if (!array || !mipmap || level >= mipmap->levels) return cudart_leave(c, cudaErrorInvalidValue);
  *array = mipmap->level[level];
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap) {
  CUDART_ENTER();
  return cudart_leave(c, cudart_mipmap_free(c, mipmap));
}

/* ---- copies ---- */

/* One side of a copy: from (x, y) of an array on, in bytes and rows, or memory. */
static struct cuda_side in_array(cudaArray_t array, size_t x, size_t y) {
  return (struct cuda_side){.array = array, .x = x, .y = y};
}
static struct cuda_side in_memory(const void *at, size_t pitch, size_t rows) {
  return (struct cuda_side){.ptr = (uintptr_t)at, .pitch = pitch, .rows = rows};
}

/* Memory and array, or two arrays. */
static cudaError_t copy_2d(struct cuda_side dst, struct cuda_side src, size_t width, size_t rows, int kind,
                           cudaStream_t stream, enum cuda_when when) {
  CUDART_ENTER_ASYNC();
  if ((src.array && !cudart_array(c, src.array)) || (dst.array && !cudart_array(c, dst.array)))
    return cudart_leave(c, cudaErrorInvalidResourceHandle);
  if ((!dst.array && !dst.ptr) || (!src.array && !src.ptr)) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_copy k = {.src = src, .dst = dst, .bytes = width, .rows = rows, .slices = 1, .kind = kind};
  return cudart_leave(c, cudart_submit_copy(c, stream, &k, when));
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                size_t rows, int kind) {
  return copy_2d(in_array(dst, x, y), in_memory(src, pitch, rows), width, rows, kind, NULL, WHEN_DONE);
}
PTDS(cudaMemcpy2DToArray);

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                     size_t rows, int kind, cudaStream_t stream) {
  return copy_2d(in_array(dst, x, y), in_memory(src, pitch, rows), width, rows, kind, stream, WHEN_QUEUED);
}
PTSZ(cudaMemcpy2DToArrayAsync);

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_t src, size_t x, size_t y, size_t width,
                                  size_t rows, int kind) {
  return copy_2d(in_memory(dst, pitch, rows), in_array(src, x, y), width, rows, kind, NULL, WHEN_DONE);
}
PTDS(cudaMemcpy2DFromArray);

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, cudaArray_t src, size_t x, size_t y, size_t width,
                                       size_t rows, int kind, cudaStream_t stream) {
  return copy_2d(in_memory(dst, pitch, rows), in_array(src, x, y), width, rows, kind, stream, WHEN_QUEUED);
}
PTSZ(cudaMemcpy2DFromArrayAsync);

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_t src, size_t src_x,
                                     size_t src_y, size_t width, size_t rows, int kind) {
  return copy_2d(in_array(dst, dst_x, dst_y), in_array(src, src_x, src_y), width, rows, kind, NULL, WHEN_DONE);
}
PTDS(cudaMemcpy2DArrayToArray);

/* A run of bytes from a position of an array across row ends: one copy per row. */
enum array_way { TO_ARRAY, FROM_ARRAY };
static cudaError_t copy_run(struct cuda_side in, const void *memory, size_t bytes, int kind, cudaStream_t stream,
                            enum array_way way, enum cuda_when when) {
  CUDART_ENTER_ASYNC();
  struct cuda_array *a = cudart_array(c, in.array);
  if (!a || !memory) return cudart_leave(c, a ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  size_t row = a->width * a->element;
  cudaError_t r = when == WHEN_DONE ? cudart_sync_allowed(c) : cudaSuccess;
  for (const char *at = memory; bytes && r == cudaSuccess; in.y++, in.x = 0) {
    if (in.x >= row) return cudart_leave(c, cudaErrorInvalidValue);
    size_t part = bytes < row - in.x ? bytes : row - in.x;
    struct cuda_side out = {.ptr = (uintptr_t)at};
    struct cuda_copy k = {.src = way == TO_ARRAY ? out : in,
                          .dst = way == TO_ARRAY ? in : out,
                          .bytes = part,
                          .rows = 1,
                          .slices = 1,
                          .kind = kind};
    r = cudart_submit_copy(c, stream, &k, when);
    at += part;
    bytes -= part;
  }
  return cudart_leave(c, r);
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes, int kind) {
  return copy_run(in_array(dst, x, y), src, bytes, kind, NULL, TO_ARRAY, WHEN_DONE);
}
PTDS(cudaMemcpyToArray);

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes, int kind,
                                   cudaStream_t stream) {
  return copy_run(in_array(dst, x, y), src, bytes, kind, stream, TO_ARRAY, WHEN_QUEUED);
}
PTSZ(cudaMemcpyToArrayAsync);

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_t src, size_t x, size_t y, size_t bytes, int kind) {
  return copy_run(in_array(src, x, y), dst, bytes, kind, NULL, FROM_ARRAY, WHEN_DONE);
}
PTDS(cudaMemcpyFromArray);

cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_t src, size_t x, size_t y, size_t bytes, int kind,
                                     cudaStream_t stream) {
  return copy_run(in_array(src, x, y), dst, bytes, kind, stream, FROM_ARRAY, WHEN_QUEUED);
}
PTSZ(cudaMemcpyFromArrayAsync);

cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y, cudaArray_t src, size_t src_x,
                                   size_t src_y, size_t bytes, int kind) {
  size_t row = src ? src->width * src->element : 0;
  struct cuda_side to = in_array(dst, dst_x, dst_y), from = in_array(src, src_x, src_y);
  if (!row || src_x || dst_x || bytes % row) /* whole rows, or a part of one */
    return copy_2d(to, from, bytes, 1, kind, NULL, WHEN_DONE);
  return copy_2d(to, from, row, bytes / row, kind, NULL, WHEN_DONE);
}
PTDS(cudaMemcpyArrayToArray);

/* ---- texture and surface objects ---- */

static cudaError_t resource_of(struct cudart *c, const struct cudaResourceDesc *d, struct cuda_resource *r) {
  *r = (struct cuda_resource){0};
  switch (d->resType) {
  case RESOURCE_ARRAY:
    r->array = cudart_array(c, d->res.array);
    return r->array ? cudaSuccess : cudaErrorInvalidValue;
  case RESOURCE_MIPMAP: /* the largest level is what gets sampled */
    r->array = d->res.mipmap ? cudart_array(c, d->res.mipmap->level[0]) : NULL;
    return r->array ? cudaSuccess : cudaErrorInvalidValue;
  case RESOURCE_LINEAR: {
    const struct cudaChannelFormatDesc *f = &d->res.linear.desc;
    int bits = f->x + f->y + f->z + f->w;
    if (bits < 8) return cudaErrorInvalidChannelDescriptor;
    r->ptr = (uintptr_t)d->res.linear.devPtr;
    r->desc = *f;
    r->width = d->res.linear.sizeInBytes / ((size_t)bits / 8);
    return cudaSuccess;
  }
  case RESOURCE_PITCH2D:
    r->ptr = (uintptr_t)d->res.pitch2D.devPtr;
    r->desc = d->res.pitch2D.desc;
    r->width = d->res.pitch2D.width;
    r->height = d->res.pitch2D.height;
    r->pitch = d->res.pitch2D.pitchInBytes;
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

/* This version's part of a texture description. */
static size_t desc_bytes(void) {
  if (cudart_api_version >= 12000) return sizeof(struct cudaTextureDesc);
  return cudart_api_version >= 10020 ? offsetof(struct cudaTextureDesc, seamlessCubemap)
                                     : offsetof(struct cudaTextureDesc, disableTrilinearOptimization);
}

static cudaError_t create_texture(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                  const struct cudaTextureDesc *given, size_t bytes, const void *view) {
  struct cudaTextureDesc copy = {0}, *desc = given ? &copy : NULL;
  if (given) memcpy(&copy, given, bytes);
  CUDART_ENTER();
  struct cuda_resource r;
  if (!object || !resource || !desc) return cudart_leave(c, cudaErrorInvalidValue);
  if (view)
    return cudart_leave(c, cudart_why(c, cudaErrorNotSupported,
                                      "cudaCreateTextureObject: resource views are not "
                                      "modelled"));
  cudaError_t e = resource_of(c, resource, &r);
  return cudart_leave(c, e ? e : texture_new(c, &r, resource->resType, desc, false, object));
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *desc, const void *view) {
  return create_texture(object, resource, desc, desc_bytes(), view);
}

/* CUDA 11.8, with the longer description. */
cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                       const struct cudaTextureDesc *desc, const void *view) {
  return create_texture(object, resource, desc, sizeof *desc, view);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  CUDART_ENTER();
  return cudart_leave(c, texture_free(c, object, false));
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
  CUDART_ENTER();
  struct cuda_resource r;
  if (!object || !resource || resource->resType != RESOURCE_ARRAY) return cudart_leave(c, cudaErrorInvalidValue);
  cudaError_t e = resource_of(c, resource, &r);
  return cudart_leave(c, e ? e : texture_new(c, &r, RESOURCE_ARRAY, NULL, true, object));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  CUDART_ENTER();
  return cudart_leave(c, texture_free(c, object, true));
}

static cudaError_t describe_resource(struct cudaResourceDesc *out, uint64_t object, bool surface) {
  CUDART_ENTER();
  struct cuda_texture *t = texture_find(c, object, surface);
  if (!t || !out) return cudart_leave(c, cudaErrorInvalidValue);
  memset(out, 0, sizeof *out);
  out->resType = t->type;
  if (t->type == RESOURCE_LINEAR) {
    out->res.linear.devPtr = (void *)(uintptr_t)t->res.ptr;
    out->res.linear.desc = t->res.desc;
    out->res.linear.sizeInBytes =
        t->res.width * (size_t)(t->res.desc.x + t->res.desc.y + t->res.desc.z + t->res.desc.w) / 8;
  } else if (t->type == RESOURCE_PITCH2D) {
    out->res.pitch2D.devPtr = (void *)(uintptr_t)t->res.ptr;
    out->res.pitch2D.desc = t->res.desc;
    out->res.pitch2D.width = t->res.width;
    out->res.pitch2D.height = t->res.height;
    out->res.pitch2D.pitchInBytes = t->res.pitch;
  } else {
    out->res.array = t->res.array;
  }
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out, cudaTextureObject_t object) {
  return describe_resource(out, object, false);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, cudaSurfaceObject_t object) {
  return describe_resource(out, object, true);
}

static cudaError_t describe_reading(void *out, size_t bytes, cudaTextureObject_t object) {
  CUDART_ENTER();
  struct cuda_texture *t = texture_find(c, object, false);
  if (!t || !out) return cudart_leave(c, cudaErrorInvalidValue);
  memcpy(out, &t->desc, bytes);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, cudaTextureObject_t object) {
  return describe_reading(out, desc_bytes(), object);
}

cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *out, cudaTextureObject_t object) {
  return describe_reading(out, sizeof *out, object);
}

/* ---- texture and surface references (until CUDA 11) ---- */

static cudaError_t bind(const struct textureReference *ref, const struct cuda_resource *r, int type, size_t *offset) {
  CUDART_ENTER();
  struct cuda_texref *t = ptrmap_get(&c->texrefs, (uintptr_t)ref);
  if (!t) return cudart_leave(c, cudaErrorInvalidTexture);
  struct cuda_resource moved = *r;
  if (r->array && !cudart_array(c, r->array)) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  /* Fetches count from an aligned address; the rest is the caller's to add. */
  t->offset = r->array ? 0 : r->ptr % TEXTURE_ALIGN;
  if (t->offset && !offset) return cudart_leave(c, cudaErrorInvalidValue);
  const struct simt_alloc *a = r->array ? NULL : simt_mem_find(c->simt, r->ptr);
  if (a && type == RESOURCE_LINEAR) {
    size_t element = (size_t)(r->desc.x + r->desc.y + r->desc.z + r->desc.w) / 8;
    size_t left = (size_t)(a->base + a->bytes - r->ptr) / (element ? element : 1);
    if (moved.width > left) moved.width = left; /* programs pass UINT_MAX for "all of it" */
    moved.width += element ? t->offset / element : 0;
  }
  moved.ptr -= t->offset;
  if (offset) *offset = t->offset;
  struct cudaTextureDesc d = texture_desc_of(ref, t->normalized);
  return cudart_leave(c, texture_bind(c, t, &moved, type, &d));
}

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *ref, const void *p,
                            const struct cudaChannelFormatDesc *desc, size_t bytes) {
  size_t element = desc ? (size_t)(desc->x + desc->y + desc->z + desc->w) / 8 : 0;
  if (!element) return cudart_leave(cudart_enter(), cudaErrorInvalidChannelDescriptor);
  struct cuda_resource r = {.ptr = (uintptr_t)p, .desc = *desc, .width = bytes / element};
  return bind(ref, &r, RESOURCE_LINEAR, offset);
}

cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *ref, const void *p,
                              const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch) {
  if (!desc) return cudart_leave(cudart_enter(), cudaErrorInvalidChannelDescriptor);
  struct cuda_resource r = {.ptr = (uintptr_t)p, .desc = *desc, .width = width, .height = height, .pitch = pitch};
  return bind(ref, &r, RESOURCE_PITCH2D, offset);
}

cudaError_t cudaBindTextureToArray(const struct textureReference *ref, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *desc) {
  (void)desc; /* the array has its own */
  struct cuda_resource r = {.array = array};
  if (!array) return cudart_leave(cudart_enter(), cudaErrorInvalidResourceHandle);
  return bind(ref, &r, RESOURCE_ARRAY, NULL);
}

cudaError_t cudaBindTextureToMipmappedArray(const struct textureReference *ref, cudaMipmappedArray_t mipmap,
                                            const struct cudaChannelFormatDesc *desc) {
  return cudaBindTextureToArray(ref, mipmap ? mipmap->level[0] : NULL, desc);
}

cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *ref, cudaArray_t array,
                                   const struct cudaChannelFormatDesc *desc) {
  (void)desc;
  CUDART_ENTER();
  struct cuda_texref *t = ptrmap_get(&c->texrefs, (uintptr_t)ref);
  struct cuda_array *a = cudart_array(c, array);
  if (!t || !t->surface || !a) return cudart_leave(c, t ? cudaErrorInvalidResourceHandle : cudaErrorInvalidSurface);
  struct cuda_resource r = {.array = a};
  return cudart_leave(c, texture_bind(c, t, &r, RESOURCE_ARRAY, NULL));
}

cudaError_t cudaUnbindTexture(const struct textureReference *ref) {
  CUDART_ENTER();
  struct cuda_texref *t = ptrmap_get(&c->texrefs, (uintptr_t)ref);
  return cudart_leave(c, t ? texture_unbind(c, t) : cudaErrorInvalidTexture);
}

cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *ref) {
  CUDART_ENTER();
  struct cuda_texref *t = ptrmap_get(&c->texrefs, (uintptr_t)ref);
  if (!t || !offset) return cudart_leave(c, cudaErrorInvalidTexture);
  if (!t->bound) return cudart_leave(c, cudaErrorInvalidTextureBinding);
  *offset = t->offset;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetTextureReference(const struct textureReference **ref, const void *symbol) {
  CUDART_ENTER();
  struct cuda_texref *t = ptrmap_get(&c->texrefs, (uintptr_t)symbol);
  if (!t || !ref) return cudart_leave(c, cudaErrorInvalidTexture);
  *ref = t->ref;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetSurfaceReference(const struct surfaceReference **ref, const void *symbol) {
  CUDART_ENTER();
  struct cuda_texref *t = ptrmap_get(&c->texrefs, (uintptr_t)symbol);
  if (!t || !t->surface || !ref) return cudart_leave(c, cudaErrorInvalidSurface);
  *ref = symbol;
  return cudart_leave(c, cudaSuccess);
}
