/* api_memory.c - allocation, copies and sets of linear memory, symbols, pinned and managed memory, memory pools. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/core/arrays.h"
#include "cudart/core/copies.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/runtime/api.h"

enum { PITCH_ALIGN = 512 };

/* ---- allocation ---- */

static cudaError_t runtime_allocate(void **p, uint64_t bytes, enum simt_mem_kind kind, const void *site) {
  CUDART_ENTER_ASYNC();
  if (!p) return cudart_leave(c, cudaErrorInvalidValue);
  uint64_t base = 0;
  cudaError_t r = cudart_alloc(c, bytes, kind, site, &base);
  if (r == cudaSuccess) *p = (void *)(uintptr_t)base;
  return cudart_leave(c, r);
}

cudaError_t cudaMalloc(void **p, size_t bytes) {
  return runtime_allocate(p, bytes, SIMT_MEM_DEVICE, CALL_SITE());
}

cudaError_t cudaMallocManaged(void **p, size_t bytes, unsigned flags) {
  if ((flags != 1 && flags != 2) || !bytes) return cudart_leave(cudart_enter(), cudaErrorInvalidValue);
  return runtime_allocate(p, bytes, SIMT_MEM_MANAGED, CALL_SITE());
}

static cudaError_t allocate_host(void **p, size_t bytes, unsigned flags, const void *site) {
  CUDART_ENTER_ASYNC();
  if (!p || flags > 7) return cudart_leave(c, cudaErrorInvalidValue);
  uint64_t base = 0;
  cudaError_t r = cudart_alloc(c, bytes, SIMT_MEM_HOST, site, &base);
  *p = (void *)(uintptr_t)base;
  if (base && flags) ptrmap_put(&c->host_flags, base, (void *)(uintptr_t)flags);
  return cudart_leave(c, r);
}

cudaError_t cudaMallocHost(void **p, size_t bytes) {
  return allocate_host(p, bytes, 0, CALL_SITE());
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
  return allocate_host(p, bytes, flags, CALL_SITE());
}

cudaError_t cudaFree(void *p) {
  CUDART_ENTER();
  return cudart_leave(c, cudart_release(c, (uintptr_t)p, false));
}

cudaError_t cudaFreeHost(void *p) {
  CUDART_ENTER();
  return cudart_leave(c, cudart_release(c, (uintptr_t)p, true));
}

static cudaError_t allocate_pitched(struct cudart *c, void **p, size_t *pitch, size_t width, size_t rows,
                                    const void *site) {
  if (!p || !pitch || width > SIZE_MAX - PITCH_ALIGN) return cudaErrorInvalidValue;
  *pitch = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
  size_t bytes;
  if (__builtin_mul_overflow(*pitch, rows, &bytes)) return cudaErrorMemoryAllocation;
  uint64_t base = 0;
  cudaError_t r = cudart_alloc(c, bytes, SIMT_MEM_DEVICE, site, &base);
  *p = (void *)(uintptr_t)base;
  if (base) ptrmap_put(&c->pitches, base, (void *)*pitch);
  return r;
}

cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, allocate_pitched(c, p, pitch, width, height, CALL_SITE()));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent extent) {
  CUDART_ENTER_ASYNC();
  size_t rows;
  if (!p || __builtin_mul_overflow(extent.height, extent.depth, &rows)) return cudart_leave(c, cudaErrorInvalidValue);
  p->xsize = extent.width;
  p->ysize = extent.height;
  return cudart_leave(c, allocate_pitched(c, &p->ptr, &p->pitch, extent.width, rows, CALL_SITE()));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
  CUDART_ENTER_ASYNC();
  if (!free_bytes || !total) return cudart_leave(c, cudaErrorInvalidValue);
  *total = simt_mem_capacity(c->simt);
  *free_bytes = *total - simt_mem_used(c->simt);
  return cudart_leave(c, cudaSuccess);
}

/* ---- pinned and registered host memory ---- */

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags) {
  CUDART_ENTER();
  if (!p || !bytes) return cudart_leave(c, cudaErrorInvalidValue);
  if (cudart_find_registered(c, p) || cudart_find_registered(c, (char *)p + bytes - 1))
    return cudart_leave(c, cudaErrorHostMemoryAlreadyRegistered);
  struct cuda_registered *r = mem_zeroed(1, sizeof *r);
  *r = (struct cuda_registered){.next = c->registered, .host = p, .bytes = bytes, .flags = flags};
  c->registered = r;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaHostUnregister(void *p) {
  CUDART_ENTER();
  for (struct cuda_registered **link = &c->registered; *link; link = &(*link)->next) {
    struct cuda_registered *r = *link;
    if (r->host != p) continue;
    *link = r->next;
    if (r->shadow) simt_mem_release(c->simt, r->shadow);
    free(r);
    return cudart_leave(c, cudaSuccess);
  }
  return cudart_leave(c, cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  CUDART_ENTER();
  if (!device || flags) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_registered *r = cudart_find_registered(c, host);
  const struct simt_alloc *a = simt_mem_find(c->simt, (uintptr_t)host);
  if (r) *device = (void *)(uintptr_t)cudart_registered_device(c, r, host);
  else if (a && a->kind == SIMT_MEM_HOST) *device = host;
  else return cudart_leave(c, cudaErrorInvalidValue);
  return cudart_leave(c, *device ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host) {
  CUDART_ENTER_ASYNC();
  struct cuda_registered *r = cudart_find_registered(c, host);
  const struct simt_alloc *a = simt_mem_find(c->simt, (uintptr_t)host);
  if (!flags || (!r && (!a || a->kind != SIMT_MEM_HOST))) return cudart_leave(c, cudaErrorInvalidValue);
  /* Under unified addressing every pinned allocation is mapped. */
  *flags = r ? r->flags : (unsigned)(uintptr_t)ptrmap_get(&c->host_flags, a->base) | HOST_MAPPED;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p) {
  CUDART_ENTER();
  if (!out) return cudart_leave(c, cudaErrorInvalidValue);
  const struct simt_alloc *a = simt_mem_find(c->simt, (uintptr_t)p);
  struct cuda_registered *r = a ? NULL : cudart_find_registered(c, p);
  int type = MEMORY_UNREGISTERED;
  *out = (struct cudaPointerAttributes){.device = a || r ? 0 : -2};
  if (r) {
    type = MEMORY_HOST;
    out->hostPointer = (void *)p;
    out->devicePointer = (void *)(uintptr_t)cudart_registered_device(c, r, p);
  } else if (a) {
    type = a->kind == SIMT_MEM_HOST ? MEMORY_HOST : a->kind == SIMT_MEM_MANAGED ? MEMORY_MANAGED : MEMORY_DEVICE;
    out->devicePointer = (void *)p;
    out->hostPointer = type == MEMORY_DEVICE ? NULL : (void *)p;
  } else {
    if (CUDART_MAJOR <= 10) return cudart_leave(c, cudaErrorInvalidValue); /* as it was for unregistered memory */
    out->hostPointer = (void *)p;
  }
#if CUDART_MAJOR <= 10
  out->memoryType = type == MEMORY_HOST ? MEMORY_HOST : MEMORY_DEVICE;
  out->isManaged = type == MEMORY_MANAGED;
#endif
#if CUDART_MAJOR >= 10
  out->type = type;
#else
  (void)type;
#endif
  return cudart_leave(c, cudaSuccess);
}

/* ---- copies ---- */

static cudaError_t copy_any(const struct cuda_copy *k, cudaStream_t stream, bool waits) {
  CUDART_ENTER_ASYNC();
  cudaError_t r = waits ? cudart_sync_allowed(c) : cudaSuccess;
  struct cuda_op op = {.kind = OP_COPY, .u.copy = *k};
  return cudart_leave(c, r == cudaSuccess ? (waits ? cudart_submit_wait : cudart_submit)(c, stream, &op) : r);
}

static struct cuda_copy linear(const void *dst, const void *src, size_t bytes, int kind) {
  return (struct cuda_copy){
      .src.ptr = (uintptr_t)src, .dst.ptr = (uintptr_t)dst, .bytes = bytes, .rows = 1, .slices = 1, .kind = kind};
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, int kind) {
  struct cuda_copy k = linear(dst, src, bytes, kind);
  return copy_any(&k, NULL, true);
}
PTDS(cudaMemcpy);

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, cudaStream_t stream) {
  struct cuda_copy k = linear(dst, src, bytes, kind);
  return copy_any(&k, stream, false);
}
PTSZ(cudaMemcpyAsync);

static bool peers(int a, int b) {
  return a == 0 && b == 0; /* one device */
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t bytes) {
  if (!peers(dst_device, src_device)) return cudart_leave(cudart_enter(), cudaErrorInvalidDevice);
  struct cuda_copy k = linear(dst, src, bytes, COPY_D2D);
  return copy_any(&k, NULL, true);
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                                cudaStream_t stream) {
  if (!peers(dst_device, src_device)) return cudart_leave(cudart_enter(), cudaErrorInvalidDevice);
  struct cuda_copy k = linear(dst, src, bytes, COPY_D2D);
  return copy_any(&k, stream, false);
}

static struct cuda_copy rectangle(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                                  size_t rows, int kind) {
  return (struct cuda_copy){.src = {.ptr = (uintptr_t)src, .pitch = src_pitch, .rows = rows},
                            .dst = {.ptr = (uintptr_t)dst, .pitch = dst_pitch, .rows = rows},
                            .bytes = width,
                            .rows = rows,
                            .slices = 1,
                            .kind = kind};
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t rows,
                         int kind) {
  if (width > dst_pitch || width > src_pitch) return cudart_leave(cudart_enter(), cudaErrorInvalidPitchValue);
  struct cuda_copy k = rectangle(dst, dst_pitch, src, src_pitch, width, rows, kind);
  return copy_any(&k, NULL, true);
}
PTDS(cudaMemcpy2D);

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t rows,
                              int kind, cudaStream_t stream) {
  if (width > dst_pitch || width > src_pitch) return cudart_leave(cudart_enter(), cudaErrorInvalidPitchValue);
  struct cuda_copy k = rectangle(dst, dst_pitch, src, src_pitch, width, rows, kind);
  return copy_any(&k, stream, false);
}
PTSZ(cudaMemcpy2DAsync);

/* Positions and extents are in elements where an array takes part, otherwise in bytes. */
static struct cuda_side side_of_region(cudaArray_t array, struct cudaPos pos, struct cudaPitchedPtr p,
                                       uint32_t element) {
  struct cuda_side s = {.array = array, .ptr = (uintptr_t)p.ptr, .pitch = p.pitch, .rows = p.ysize, .y = pos.y};
  s.x = array ? pos.x * element : pos.x;
  s.z = pos.z;
  return s;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t stream, enum cuda_when when) {
  CUDART_ENTER_ASYNC();
  if ((p->srcArray && !cudart_array(c, p->srcArray)) || (p->dstArray && !cudart_array(c, p->dstArray)))
    return cudart_leave(c, cudaErrorInvalidResourceHandle);
  uint32_t element = p->srcArray ? p->srcArray->element : p->dstArray ? p->dstArray->element : 1;
  struct cuda_copy k = {.src = side_of_region(p->srcArray, p->srcPos, p->srcPtr, element),
                        .dst = side_of_region(p->dstArray, p->dstPos, p->dstPtr, element),
                        .bytes = p->extent.width * element,
                        .rows = p->extent.height,
                        .slices = p->extent.depth,
                        .kind = p->kind};
  return cudart_leave(c, cudart_submit_copy(c, stream, &k, when));
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
  return copy_3d(p, NULL, WHEN_DONE);
}
PTDS(cudaMemcpy3D);

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
  return copy_3d(p, stream, WHEN_QUEUED);
}
PTSZ(cudaMemcpy3DAsync);

static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream, enum cuda_when when) {
  if (!peers(p->dstDevice, p->srcDevice)) return cudart_leave(cudart_enter(), cudaErrorInvalidDevice);
  struct cudaMemcpy3DParms one = {.srcArray = p->srcArray,
                                  .srcPos = p->srcPos,
                                  .srcPtr = p->srcPtr,
                                  .dstArray = p->dstArray,
                                  .dstPos = p->dstPos,
                                  .dstPtr = p->dstPtr,
                                  .extent = p->extent,
                                  .kind = COPY_DEFAULT};
  return copy_3d(&one, stream, when);
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
  return copy_3d_peer(p, NULL, WHEN_DONE);
}
PTDS(cudaMemcpy3DPeer);

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream) {
  return copy_3d_peer(p, stream, WHEN_QUEUED);
}
PTSZ(cudaMemcpy3DPeerAsync);

/* ---- symbols ---- */

struct symbol_part {
  const void *symbol;
  size_t bytes, offset;
};
enum symbol_way { TO_SYMBOL, FROM_SYMBOL };

static cudaError_t copy_symbol(struct symbol_part p, const void *other, int kind, cudaStream_t stream,
                               enum symbol_way way, enum cuda_when when) {
  CUDART_ENTER_ASYNC();
  struct cuda_variable *v = cudart_variable(c, p.symbol);
  if (!v) return cudart_leave(c, cudart_why(c, cudaErrorInvalidSymbol, "copy: %p is not a device symbol", p.symbol));
  if (p.offset > v->bytes || p.bytes > v->bytes - p.offset)
    return cudart_leave(c, cudart_why(c, cudaErrorInvalidValue,
                                      "copy: %zu bytes at offset %zu of symbol %s, which has %llu", p.bytes, p.offset,
                                      v->name, (unsigned long long)v->bytes));
  uint64_t at = v->addr + p.offset, host = (uintptr_t)other;
  struct cuda_copy k = {.src.ptr = way == TO_SYMBOL ? host : at,
                        .dst.ptr = way == TO_SYMBOL ? at : host,
                        .bytes = p.bytes,
                        .rows = 1,
                        .slices = 1,
                        .kind = kind};
  return cudart_leave(c, cudart_submit_copy(c, stream, &k, when));
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind) {
  return copy_symbol((struct symbol_part){symbol, bytes, offset}, src, kind, NULL, TO_SYMBOL, WHEN_DONE);
}
PTDS(cudaMemcpyToSymbol);

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                                    cudaStream_t stream) {
  return copy_symbol((struct symbol_part){symbol, bytes, offset}, src, kind, stream, TO_SYMBOL, WHEN_QUEUED);
}
PTSZ(cudaMemcpyToSymbolAsync);

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind) {
  return copy_symbol((struct symbol_part){symbol, bytes, offset}, dst, kind, NULL, FROM_SYMBOL, WHEN_DONE);
}
PTDS(cudaMemcpyFromSymbol);

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                                      cudaStream_t stream) {
  return copy_symbol((struct symbol_part){symbol, bytes, offset}, dst, kind, stream, FROM_SYMBOL, WHEN_QUEUED);
}
PTSZ(cudaMemcpyFromSymbolAsync);

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
  CUDART_ENTER();
  struct cuda_variable *v = cudart_variable(c, symbol);
  if (!v || !address) return cudart_leave(c, cudaErrorInvalidSymbol);
  *address = v->managed ? *v->managed : (void *)(uintptr_t)v->addr;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  CUDART_ENTER();
  struct cuda_variable *v = cudart_variable(c, symbol);
  if (!v || !bytes) return cudart_leave(c, cudaErrorInvalidSymbol);
  *bytes = v->bytes;
  return cudart_leave(c, cudaSuccess);
}

/* ---- sets ---- */

/* A set, in bytes: memory with its pitch, and the value. */
static cudaError_t set(struct cudaPitchedPtr p, int value, struct cudaExtent extent, cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op = {.kind = OP_SET,
                       .u.set = {.ptr = (uintptr_t)p.ptr,
                                 .pitch = p.pitch,
                                 .slice_rows = p.ysize,
                                 .width = extent.width,
                                 .rows = extent.height,
                                 .slices = extent.depth,
                                 .value = (uint8_t)value,
                                 .element = 1}};
  return cudart_leave(c, cudart_submit(c, stream, &op));
}
static struct cudaPitchedPtr rows_at(void *p, size_t pitch, size_t rows) {
  return (struct cudaPitchedPtr){.ptr = p, .pitch = pitch, .ysize = rows};
}

cudaError_t cudaMemset(void *p, int value, size_t bytes) {
  return set(rows_at(p, bytes, 1), value, (struct cudaExtent){bytes, 1, 1}, NULL);
}
PTDS(cudaMemset);

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream) {
  return set(rows_at(p, bytes, 1), value, (struct cudaExtent){bytes, 1, 1}, stream);
}
PTSZ(cudaMemsetAsync);

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t rows) {
  return set(rows_at(p, pitch, rows), value, (struct cudaExtent){width, rows, 1}, NULL);
}
PTDS(cudaMemset2D);

cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t rows, cudaStream_t stream) {
  return set(rows_at(p, pitch, rows), value, (struct cudaExtent){width, rows, 1}, stream);
}
PTSZ(cudaMemset2DAsync);

cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent) {
  return set(p, value, extent, NULL);
}
PTDS(cudaMemset3D);

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent, cudaStream_t stream) {
  return set(p, value, extent, stream);
}
PTSZ(cudaMemset3DAsync);
