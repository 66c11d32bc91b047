/* arrays.c - CUDA arrays and mipmapped arrays: with their own memory, or views of shared memory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/core/arrays.h"
#include "cudart/core/context.h"

enum { ARRAY_ALIGN = 64 };

static cudaError_t check_array(const struct cudaChannelFormatDesc *d, size_t w, size_t h, size_t depth) {
  int bits = d->x + d->y + d->z + d->w;
  bool good = d->x >= 0 && d->y >= 0 && d->z >= 0 && d->w >= 0 && bits > 0 && bits <= 128 && bits % 8 == 0;
  if (!good) return cudaErrorInvalidChannelDescriptor;
  return !w || w > 1u << 20 || h > 1u << 20 || depth > 1u << 16 ? cudaErrorInvalidValue : cudaSuccess;
}

static struct cuda_array *array_new(const struct cudaChannelFormatDesc *d, size_t w, size_t h, size_t depth,
                                    uint32_t flags) {
  struct cuda_array *a = mem_zeroed(1, sizeof *a);
  *a = (struct cuda_array){.desc = *d, .width = w, .height = h, .depth = depth, .flags = flags};
  a->element = (uint32_t)(d->x + d->y + d->z + d->w) / 8;
  a->pitch = (w * a->element + ARRAY_ALIGN - 1) / ARRAY_ALIGN * ARRAY_ALIGN;
  a->slice = a->pitch * (h ? h : 1);
  a->bytes = a->slice * (depth ? depth : 1);
  return a;
}

cudaError_t cudart_array_new(struct cudart *c, const struct cudaChannelFormatDesc *d, size_t w, size_t h, size_t depth,
                             uint32_t flags, struct cuda_array **out) {
  cudaError_t r = check_array(d, w, h, depth);
  if (r != cudaSuccess) return r;
  struct cuda_array *a = array_new(d, w, h, depth, flags);
  a->base = simt_mem_alloc(c->simt, a->bytes, SIMT_MEM_DEVICE, "cudaMallocArray");
  if (!a->base) {
    free(a);
    return cudaErrorMemoryAllocation;
  }
  ptrmap_put(&c->arrays, (uintptr_t)a, a);
  *out = a;
  return cudaSuccess;
}

cudaError_t cudart_array_view(struct cudart *c, const struct cudaChannelFormatDesc *d, const struct cudaExtent *extent,
                              uint32_t flags, struct cuda_place at, struct cuda_array **out) {
  cudaError_t r = check_array(d, extent->width, extent->height, extent->depth);
  if (r != cudaSuccess) return r;
  struct cuda_array *a = array_new(d, extent->width, extent->height, extent->depth, flags);
  a->base = at.base;
  a->view = true;
  if (at.pitch) a->pitch = at.pitch;
  a->slice = at.slice ? at.slice : a->pitch * (a->height ? a->height : 1);
  a->bytes = a->slice * (a->depth ? a->depth : 1);
  ptrmap_put(&c->arrays, (uintptr_t)a, a);
  *out = a;
  return cudaSuccess;
}

void cudart_array_drop_view(struct cudart *c, struct cuda_array *a) {
  if (a && ptrmap_remove(&c->arrays, (uintptr_t)a)) free(a);
}

cudaError_t cudart_array_free(struct cudart *c, struct cuda_array *a) {
  if (!a) return cudaSuccess;
  if (!cudart_array(c, a)) return cudaErrorInvalidValue;
  if (a->view)
    return cudart_why(c, cudaErrorArrayIsMapped,
                      "freeing an array that belongs to a graphics resource or to external "
                      "memory");
  ptrmap_remove(&c->arrays, (uintptr_t)a);
  simt_mem_release(c->simt, a->base);
  free(a);
  return cudaSuccess;
}

struct cuda_array *cudart_array(struct cudart *c, struct cuda_array *a) {
  return ptrmap_get(&c->arrays, (uintptr_t)a);
}

/* ---- mipmapped arrays ---- */

bool cudart_smaller_level(struct cudaExtent *e, uint32_t flags) {
  if (e->width <= 1 && e->height <= 1 && (e->depth <= 1 || (flags & (ARRAY_LAYERED | ARRAY_CUBEMAP)))) return false;
  e->width = e->width > 1 ? e->width / 2 : 1;
  if (e->height > 1) e->height /= 2;
  if (e->depth > 1 && !(flags & (ARRAY_LAYERED | ARRAY_CUBEMAP))) e->depth /= 2;
  return true;
}

cudaError_t cudart_mipmap_new(struct cudart *c, const struct cudaChannelFormatDesc *d, struct cudaExtent extent,
                              uint32_t levels, uint32_t flags, struct cuda_mipmap **out) {
  struct cuda_mipmap *m = mem_zeroed(1, sizeof *m);
  cudaError_t r;
  do {
    r = cudart_array_new(c, d, extent.width, extent.height, extent.depth, flags, &m->level[m->levels]);
    if (r == cudaSuccess) m->levels++;
  } while (r == cudaSuccess && m->levels < levels && m->levels < MAX_LEVELS && cudart_smaller_level(&extent, flags));
  if (r != cudaSuccess) cudart_mipmap_free(c, m), m = NULL;
  *out = m;
  return r;
}

cudaError_t cudart_mipmap_free(struct cudart *c, struct cuda_mipmap *m) {
  if (!m) return cudaSuccess;
  if (m->mapped) return cudaErrorArrayIsMapped;
  for (uint32_t i = 0; i < m->levels; i++)
    if (m->block) cudart_array_drop_view(c, m->level[i]);
    else cudart_array_free(c, m->level[i]);
  if (m->block) simt_mem_release(c->simt, m->block);
  free(m);
  return cudaSuccess;
}
