/* copies.c - device memory for the runtime's calls: allocation, copies in one to three dimensions between every kind
 * of memory, sets, arrays, and host memory that the program registered.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/copies.h"
#include "cudart/core/arrays.h"
#include "cudart/core/context.h"

/* Origin of an allocation for messages: object and offset of the call. One string per call site. */
static const char *site_label(struct cudart *c, const void *site, const char *what) {
  char *label = ptrmap_get(&c->sites, (uintptr_t)site);
  if (label) return label;
  Dl_info info;
  if (dladdr(site, &info) && info.dli_fname) {
    const char *base = strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : info.dli_fname;
    uintptr_t offset = (uintptr_t)site - (uintptr_t)info.dli_fbase;
    label = arena_printf(&c->arena, "%s at %s+0x%lx", what, base, (unsigned long)offset);
  } else {
    label = arena_strdup(&c->arena, what);
  }
  if (site) ptrmap_put(&c->sites, (uintptr_t)site, label);
  return label;
}

cudaError_t cudart_alloc(struct cudart *c, uint64_t bytes, enum simt_mem_kind kind, const void *site, uint64_t *out) {
  static const char *const what[] = {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "symbol"};
  *out = 0;
  if (bytes == 0) return cudaSuccess;
  uint64_t base = simt_mem_alloc(c->simt, bytes, kind, site_label(c, site, what[kind]));
  if (!base)
    return cudart_why(c, cudaErrorMemoryAllocation, "%s: %llu bytes requested, %llu of %llu in use", what[kind],
                      (unsigned long long)bytes, (unsigned long long)simt_mem_used(c->simt),
                      (unsigned long long)simt_mem_capacity(c->simt));
  *out = base;
  return cudaSuccess;
}

cudaError_t cudart_release(struct cudart *c, uint64_t base, bool host) {
  if (!base) return cudaSuccess;
  const struct simt_alloc *a = simt_mem_find(c->simt, base);
  const char *call = host ? "cudaFreeHost" : "cudaFree";
  if (!a || a->kind == SIMT_MEM_SYMBOL || (a->kind == SIMT_MEM_HOST) != host)
    return cudart_why(c, cudaErrorInvalidValue, "%s: 0x%llx is not %s memory that is allocated now", call,
                      (unsigned long long)base, host ? "pinned host" : "device");
  if (a->base != base)
    return cudart_why(c, cudaErrorInvalidValue, "%s: 0x%llx is %llu bytes into an allocation", call,
                      (unsigned long long)base, (unsigned long long)(base - a->base));
  if (ptrmap_get(&c->graph_memory, base)) return cudaSuccess;
  ptrmap_remove(&c->pitches, base);
  ptrmap_remove(&c->host_flags, base);
  return simt_mem_release(c->simt, base) ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- copies ---- */

/* Bytes from the first to the last touched one; SIZE_MAX on overflow. */
static size_t span(size_t bytes, size_t rows, size_t slices, size_t pitch, size_t slice) {
  size_t a, b, sum;
  if (__builtin_mul_overflow(slices - 1, slice, &a) || __builtin_mul_overflow(rows - 1, pitch, &b) ||
      __builtin_add_overflow(a, b, &sum) || __builtin_add_overflow(sum, bytes, &sum))
    return SIZE_MAX;
  return sum;
}

/* One side made concrete: a host pointer to its first byte, its pitch and slice, and whether it is device memory. */
struct place {
  uint8_t *p;
  size_t pitch, slice;
  bool device;
  uint64_t addr; /* of the first byte on the device, 0: host memory unknown to Sluice */
};

/* Resolve `ptr` under unified addressing: device or host memory. An access to device memory must lie in one
 * allocation. */
static cudaError_t locate(struct cudart *c, const struct cuda_side *s, const struct cuda_copy *k, const char *role,
                          struct place *out) {
  if (s->array) {
    const struct cuda_array *a = s->array;
    size_t height = a->height ? a->height : 1, depth = a->depth ? a->depth : 1;
    if (s->x + k->bytes > a->width * a->element || s->y + k->rows > height || s->z + k->slices > depth)
      return cudart_why(c, cudaErrorInvalidValue, "copy: %s runs past the edge of its %zu x %zu x %zu array", role,
                        a->width, a->height, a->depth);
    out->pitch = a->pitch;
    out->slice = a->slice;
    out->device = true;
    out->p = simt_mem_at(c->simt, a->base, a->bytes);
    if (!out->p) return cudaErrorInvalidValue;
    out->p += s->z * out->slice + s->y * out->pitch + s->x;
    out->addr = a->base + s->z * out->slice + s->y * out->pitch + s->x;
    return cudaSuccess;
  }
  out->pitch = s->pitch;
  out->slice = s->pitch * s->rows;
  uint64_t at = s->ptr + s->z * out->slice + s->y * out->pitch + s->x;
  if (!s->ptr) return cudart_why(c, cudaErrorInvalidValue, "copy: %s is a null pointer", role);
  if (k->rows * k->slices > 1 && s->pitch < k->bytes)
    return cudart_why(c, cudaErrorInvalidPitchValue, "copy: %s has a pitch of %zu for rows of %zu bytes", role,
                      s->pitch, k->bytes);
  size_t bytes = span(k->bytes, k->rows, k->slices, out->pitch, out->slice);
  const struct simt_alloc *a = simt_mem_find(c->simt, at);
  if (!a) {
    if (at >= SIMT_GLOBAL_BASE && at - SIMT_GLOBAL_BASE < simt_mem_capacity(c->simt))
      return cudart_why(c, cudaErrorInvalidValue, "copy: %s 0x%llx is device memory that is not allocated", role,
                        (unsigned long long)at);
    out->device = false;
    out->p = (uint8_t *)(uintptr_t)at;
    return cudaSuccess;
  }
  out->device = a->kind != SIMT_MEM_HOST;
  out->addr = at;
  out->p = simt_mem_at(c->simt, at, bytes);
  if (!out->p)
    return cudart_why(c, cudaErrorInvalidValue,
                      "copy: %s needs %zu bytes at 0x%llx, but the allocation there ends after %llu", role, bytes,
                      (unsigned long long)at, (unsigned long long)(a->base + a->bytes - at));
  return cudaSuccess;
}

static bool managed(struct cudart *c, const struct cuda_side *s) {
  const struct simt_alloc *a = s->array ? NULL : simt_mem_find(c->simt, s->ptr);
  return a && a->kind == SIMT_MEM_MANAGED;
}

/* Check the stated direction. Pinned memory is also a device address, and managed memory is both. */
static bool direction_fits(struct cudart *c, const struct cuda_copy *k, const struct place *dst,
                           const struct place *src) {
  bool dst_ours = dst->device || (!k->dst.array && simt_mem_find(c->simt, k->dst.ptr));
  bool src_ours = src->device || (!k->src.array && simt_mem_find(c->simt, k->src.ptr));
  switch (k->kind) {
  case COPY_H2H:
    return (!dst->device || managed(c, &k->dst)) && (!src->device || managed(c, &k->src));
  case COPY_H2D:
    return dst_ours && (!src->device || managed(c, &k->src));
  case COPY_D2H:
    return src_ours && (!dst->device || managed(c, &k->dst));
  case COPY_D2D:
    return dst_ours && src_ours;
  default:
    return true;
  }
}

/* Mark device bytes as initialised, for the check of uninitialised reads. */
static void note_rows(struct cudart *c, uint64_t dst, uint64_t src, size_t bytes) {
  if (src) simt_mem_copied(c->simt, dst, src, bytes);
  else if (dst) simt_mem_written(c->simt, dst, bytes);
}

static bool nothing(const struct cuda_copy *k) {
  return k->bytes == 0 || k->rows == 0 || k->slices == 0;
}

static cudaError_t prepare(struct cudart *c, const struct cuda_copy *k, struct place *dst, struct place *src) {
  if (k->kind < COPY_H2H || k->kind > COPY_DEFAULT)
    return cudart_why(c, cudaErrorInvalidMemcpyDirection, "copy: %d is not a cudaMemcpyKind", k->kind);
  if (nothing(k)) return cudaSuccess;
  cudaError_t r = locate(c, &k->src, k, "source", src);
  if (r == cudaSuccess) r = locate(c, &k->dst, k, "destination", dst);
  if (r != cudaSuccess) return r;
  if (!direction_fits(c, k, dst, src)) {
    static const char *const names[] = {"HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default"};
    return cudart_why(c, cudaErrorInvalidValue, "copy %s: destination 0x%llx is %s memory, source 0x%llx is %s memory",
                      names[k->kind], (unsigned long long)k->dst.ptr, dst->device ? "device" : "host",
                      (unsigned long long)k->src.ptr, src->device ? "device" : "host");
  }
  return cudaSuccess;
}

cudaError_t cudart_check_copy(struct cudart *c, const struct cuda_copy *k) {
  struct place src = {0}, dst = {0};
  return prepare(c, k, &dst, &src);
}

cudaError_t cudart_copy(struct cudart *c, const struct cuda_copy *k) {
  struct place src = {0}, dst = {0};
  cudaError_t r = prepare(c, k, &dst, &src);
  if (r != cudaSuccess || nothing(k)) return r;
  for (size_t z = 0; z < k->slices; z++)
    for (size_t y = 0; y < k->rows; y++)
      memmove(dst.p + z * dst.slice + y * dst.pitch, src.p + z * src.slice + y * src.pitch, k->bytes);
  for (size_t z = 0; z < k->slices; z++)
    for (size_t y = 0; y < k->rows; y++)
      note_rows(c, dst.addr ? dst.addr + z * dst.slice + y * dst.pitch : 0,
                src.addr ? src.addr + z * src.slice + y * src.pitch : 0, k->bytes);
  if (src.device != dst.device) session_note_copy(c->session, k->bytes * k->rows * k->slices, dst.device);
  return cudaSuccess;
}

cudaError_t cudart_copy_linear(struct cudart *c, uint64_t dst, uint64_t src, size_t bytes, int kind) {
  struct cuda_copy k = {.src = {.ptr = src}, .dst = {.ptr = dst}, .bytes = bytes, .rows = 1, .slices = 1, .kind = kind};
  return cudart_copy(c, &k);
}

static cudaError_t prepare_set(struct cudart *c, const struct cuda_set *s, size_t bytes, uint8_t **at) {
  if (s->rows * s->slices > 1 && s->pitch < bytes)
    return cudart_why(c, cudaErrorInvalidPitchValue, "memset: pitch %zu for rows of %zu bytes", s->pitch, bytes);
  size_t all = span(bytes, s->rows, s->slices, s->pitch, s->pitch * s->slice_rows);
  *at = simt_mem_at(c->simt, s->ptr, all);
  if (!*at)
    return cudart_why(c, cudaErrorInvalidValue, "memset: %zu bytes at 0x%llx are not in one allocation", all,
                      (unsigned long long)s->ptr);
  return cudaSuccess;
}

cudaError_t cudart_check_set(struct cudart *c, const struct cuda_set *s) {
  size_t bytes = s->width * s->element;
  uint8_t *p;
  return bytes && s->rows && s->slices ? prepare_set(c, s, bytes, &p) : cudaSuccess;
}

cudaError_t cudart_set(struct cudart *c, const struct cuda_set *s) {
  size_t bytes = s->width * s->element;
  uint8_t *p;
  if (bytes == 0 || s->rows == 0 || s->slices == 0) return cudaSuccess;
  cudaError_t r = prepare_set(c, s, bytes, &p);
  if (r != cudaSuccess) return r;
  for (size_t z = 0; z < s->slices; z++)
    for (size_t y = 0; y < s->rows; y++) {
      uint8_t *row = p + (z * s->slice_rows + y) * s->pitch;
      simt_mem_written(c->simt, s->ptr + (z * s->slice_rows + y) * s->pitch, bytes);
      if (s->element == 1) memset(row, (int)s->value, bytes);
      else
        for (size_t i = 0; i < bytes; i += s->element) memcpy(row + i, &s->value, s->element);
    }
  return cudaSuccess;
}

/* ---- registered host memory ---- */

void cudart_sync_registered(struct cudart *c, bool to_device) {
  for (struct cuda_registered *r = c->registered; r; r = r->next) {
    void *shadow = r->shadow ? simt_mem_at(c->simt, r->shadow, r->bytes) : NULL;
    if (!shadow) continue;
    if (to_device) simt_mem_written(c->simt, r->shadow, r->bytes);
    if (to_device) memcpy(shadow, r->host, r->bytes);
    else memcpy(r->host, shadow, r->bytes);
  }
}

struct cuda_registered *cudart_find_registered(struct cudart *c, const void *p) {
  uintptr_t at = (uintptr_t)p;
  for (struct cuda_registered *r = c->registered; r; r = r->next)
    if (at >= (uintptr_t)r->host && at - (uintptr_t)r->host < r->bytes) return r;
  return NULL;
}

uint64_t cudart_registered_device(struct cudart *c, struct cuda_registered *r, const void *p) {
  if (!r->shadow) r->shadow = simt_mem_alloc(c->simt, r->bytes, SIMT_MEM_DEVICE, "cudaHostRegister");
  return r->shadow ? r->shadow + ((uintptr_t)p - (uintptr_t)r->host) : 0;
}
