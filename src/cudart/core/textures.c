/* textures.c - texture and surface objects and references, translated for the functional machine. */
#include "cudart/core/textures.h"
#include "cudart/core/arrays.h"
#include "cudart/core/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simt/core/texture.h"

/* Channels of equal width, 1, 2 or 4 of them, as in hardware. */
static bool channels_of(const struct cudaChannelFormatDesc *d, struct simt_tex *t) {
  int n = (d->x > 0) + (d->y > 0) + (d->z > 0) + (d->w > 0);
  if (n != 1 && n != 2 && n != 4) return false;
  if ((d->x != 8 && d->x != 16 && d->x != 32) || (n >= 2 && d->y != d->x)) return false;
  if (n == 4 && (d->z != d->x || d->w != d->x)) return false;
  if (d->f < CHANNEL_SIGNED || d->f > CHANNEL_FLOAT || (d->f == CHANNEL_FLOAT && d->x == 8)) return false;
  t->channels = (uint8_t)n;
  t->bits = (uint8_t)d->x;
  t->format = (uint8_t)d->f;
  return true;
}

static void place_array(const struct cuda_array *a, struct simt_tex *t) {
  bool layers = a->flags & (ARRAY_LAYERED | ARRAY_CUBEMAP);
  t->addr = a->base;
  t->width = (uint32_t)a->width;
  t->height = (uint32_t)a->height;
  t->depth = layers ? 0 : (uint32_t)a->depth;
  t->layers = layers ? (uint32_t)a->depth : 0;
  t->pitch = (uint32_t)a->pitch;
  t->slice = a->slice;
}

static cudaError_t translate(struct cudart *c, const struct cuda_resource *r, int type, const struct cudaTextureDesc *d,
                             struct simt_tex *t) {
  const struct cudaChannelFormatDesc *format = r->array ? &r->array->desc : &r->desc;
  *t = (struct simt_tex){.linear_memory = type == RESOURCE_LINEAR};
  if (!channels_of(format, t)) return cudaErrorInvalidChannelDescriptor;
  if (r->array) {
    place_array(r->array, t);
    t->blocks = c->dev->array_blocks;
  } else {
    if (!simt_mem_find(c->simt, r->ptr)) return cudaErrorInvalidValue;
    t->addr = r->ptr;
    t->width = (uint32_t)r->width;
    t->height = (uint32_t)r->height;
    t->pitch = (uint32_t)r->pitch;
  }
  if (!d) return cudaSuccess;
  if (d->filterMode == 1 && t->format != CHANNEL_FLOAT && d->readMode != 1) return cudaErrorInvalidFilterSetting;
  if (d->readMode == 1 && (t->bits == 32 || t->format == CHANNEL_FLOAT) && t->format != CHANNEL_FLOAT)
    return cudaErrorInvalidNormSetting;
  t->normalized_coords = d->normalizedCoords != 0;
  t->linear_filter = d->filterMode == 1;
  t->read_normalized = d->readMode == 1 && t->format != CHANNEL_FLOAT;
  for (int i = 0; i < 3; i++) t->address_mode[i] = (uint8_t)(d->addressMode[i] & 3);
  memcpy(t->border, d->borderColor, sizeof t->border);
  return cudaSuccess;
}

cudaError_t texture_new(struct cudart *c, const struct cuda_resource *r, int type, const struct cudaTextureDesc *d,
                        bool surface, uint64_t *id) {
  struct simt_tex t;
  cudaError_t e = translate(c, r, type, d, &t);
  if (e != cudaSuccess) return e;
  *id = simt_tex_create(c->simt, &t);
  if (!*id) return cudaErrorMemoryAllocation;
  struct cuda_texture *x = mem_zeroed(1, sizeof *x);
  *x = (struct cuda_texture){.id = *id, .surface = surface, .type = type, .res = *r};
  if (d) x->desc = *d;
  ptrmap_put(surface ? &c->surfaces : &c->textures, *id, x);
  return cudaSuccess;
}

struct cuda_texture *texture_find(struct cudart *c, uint64_t id, bool surface) {
  return ptrmap_get(surface ? &c->surfaces : &c->textures, id);
}

cudaError_t texture_free(struct cudart *c, uint64_t id, bool surface) {
  if (!id) return cudaSuccess;
  struct cuda_texture *x = ptrmap_remove(surface ? &c->surfaces : &c->textures, id);
  if (!x) return cudaErrorInvalidValue;
  simt_tex_destroy(c->simt, id);
  free(x);
  return cudaSuccess;
}

cudaError_t texture_bind(struct cudart *c, struct cuda_texref *t, const struct cuda_resource *r, int type,
                         const struct cudaTextureDesc *d) {
  struct simt_tex x;
  cudaError_t e = translate(c, r, type, d, &x);
  if (e != cudaSuccess) return e;
  if (!t->module->simt || !simt_tex_bind(t->module->simt, t->name, &x)) return cudaErrorInvalidTexture;
  t->addr = x.addr;
  t->bound = true;
  return cudaSuccess;
}

cudaError_t texture_unbind(struct cudart *c, struct cuda_texref *t) {
  (void)c;
  if (t->module->simt) simt_tex_bind(t->module->simt, t->name, NULL);
  t->bound = false;
  return cudaSuccess;
}

struct cudaTextureDesc texture_desc_of(const struct textureReference *ref, int normalized_read) {
  struct cudaTextureDesc d = {.filterMode = ref->filterMode,
                              .readMode = normalized_read ? 1 : 0,
                              .sRGB = ref->sRGB,
                              .normalizedCoords = ref->normalized,
                              .maxAnisotropy = ref->maxAnisotropy};
  memcpy(d.addressMode, ref->addressMode, sizeof d.addressMode);
  return d;
}
