/* api_pool.c - stream-ordered allocation, memory pools, and advice about managed memory.
 *
 * Streams run in order of the calls, so an asynchronous allocation is an allocation. Pools keep their properties and
 * their count of bytes; all draw from device memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/core/copies.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/runtime/api.h"

struct cuda_pool {
  uint64_t attributes[8]; /* cudaMemPoolAttr, values 1 to 8 */
  uint64_t used, high;
};

enum { POOL_RELEASE = 4, POOL_RESERVED = 5, POOL_RESERVED_HIGH = 6, POOL_USED = 7, POOL_USED_HIGH = 8 };

static struct cuda_pool *default_pool(struct cudart *c) {
  struct cuda_pool *p = ptrmap_get(&c->pools, 1);
  if (p) return p;
  p = ARENA_NEW(&c->arena, struct cuda_pool);
  for (int i = 1; i <= 3; i++) p->attributes[i - 1] = 1; /* reuse policies are on */
  ptrmap_put(&c->pools, 1, p);
  ptrmap_put(&c->pools, (uintptr_t)p, p);
  return p;
}

static cudaError_t allocate_from(struct cuda_pool *pool, void **p, size_t bytes, cudaStream_t stream,
                                 const void *site) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || !p) return cudart_leave(c, s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  if (!pool) pool = default_pool(c);
  if (!ptrmap_get(&c->pools, (uintptr_t)pool)) return cudart_leave(c, cudaErrorInvalidValue);
  uint64_t base = 0;
  cudaError_t r = cudart_alloc(c, bytes, SIMT_MEM_DEVICE, site, &base);
  *p = (void *)(uintptr_t)base;
  if (r == cudaSuccess && base) {
    pool->used += bytes;
    if (pool->used > pool->high) pool->high = pool->used;
  }
  if (r == cudaSuccess && s->capture) {
    struct cuda_op op = {.kind = OP_ALLOC, .u.mem = {.ptr = base, .bytes = bytes}};
    ptrmap_put(&c->graph_memory, base, c);
    r = cudart_submit(c, stream, &op);
  }
  return cudart_leave(c, r);
}

cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream) {
  return allocate_from(NULL, p, bytes, stream, CALL_SITE());
}
PTSZ(cudaMallocAsync);

cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return allocate_from(pool, p, bytes, stream, CALL_SITE());
}
PTSZ(cudaMallocFromPoolAsync);

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) {
  CUDART_ENTER();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  if (s->capture) {
    struct cuda_op op = {.kind = OP_FREE, .u.mem.ptr = (uintptr_t)p};
    return cudart_leave(c, cudart_submit(c, stream, &op));
  }
  const struct simt_alloc *a = simt_mem_find(c->simt, (uintptr_t)p);
  struct cuda_pool *pool = default_pool(c);
  uint64_t bytes = a ? a->bytes : 0;
  cudaError_t r = cudart_release(c, (uintptr_t)p, false);
  if (r == cudaSuccess) pool->used -= bytes < pool->used ? bytes : pool->used;
  return cudart_leave(c, r);
}
PTSZ(cudaFreeAsync);

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props) {
  CUDART_ENTER();
  if (!pool || !props) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_pool *p = mem_zeroed(1, sizeof *p);
  ptrmap_put(&c->pools, (uintptr_t)p, p);
  *pool = p;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  CUDART_ENTER();
  if (!pool || pool == default_pool(c) || !ptrmap_remove(&c->pools, (uintptr_t)pool))
    return cudart_leave(c, cudaErrorInvalidValue);
  free(pool);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  CUDART_ENTER();
  if (!pool || device != 0) return cudart_leave(c, pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *pool = default_pool(c);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  CUDART_ENTER();
  bool known = ptrmap_get(&c->pools, (uintptr_t)pool) != NULL;
  return cudart_leave(c, device ? cudaErrorInvalidDevice : known ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  (void)keep; /* no memory is retained */
  CUDART_ENTER();
  return cudart_leave(c, ptrmap_get(&c->pools, (uintptr_t)pool) ? cudaSuccess : cudaErrorInvalidValue);
}

/* Reuse policies are ints, the others 64-bit. */
static size_t attribute_bytes(int attr) {
  return attr < POOL_RELEASE ? sizeof(int) : sizeof(uint64_t);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attr, void *value) {
  CUDART_ENTER();
  if (!ptrmap_get(&c->pools, (uintptr_t)pool) || !value || attr < 1 || attr > 8)
    return cudart_leave(c, cudaErrorInvalidValue);
  uint64_t v = 0;
  memcpy(&v, value, attribute_bytes(attr));
  if (attr == POOL_USED_HIGH || attr == POOL_RESERVED_HIGH) pool->high = pool->used; /* only a reset to 0 is allowed */
  else pool->attributes[attr - 1] = v;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attr, void *value) {
  CUDART_ENTER();
  if (!ptrmap_get(&c->pools, (uintptr_t)pool) || !value || attr < 1 || attr > 8)
    return cudart_leave(c, cudaErrorInvalidValue);
  uint64_t v = pool->attributes[attr - 1];
  if (attr == POOL_USED || attr == POOL_RESERVED) v = pool->used;
  if (attr == POOL_USED_HIGH || attr == POOL_RESERVED_HIGH) v = pool->high;
  memcpy(value, &v, attribute_bytes(attr));
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const void *desc, size_t count) {
  (void)desc, (void)count; /* one device, which always has access */
  CUDART_ENTER();
  return cudart_leave(c, ptrmap_get(&c->pools, (uintptr_t)pool) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, struct cudaMemLocation *location) {
  CUDART_ENTER();
  if (!flags || !location || !ptrmap_get(&c->pools, (uintptr_t)pool)) return cudart_leave(c, cudaErrorInvalidValue);
  *flags = location->id == 0 ? 3 : 0; /* read and write */
  return cudart_leave(c, cudaSuccess);
}

/* ---- managed memory: advice changes nothing, since host and device share it ---- */

static cudaError_t advise(const void *p, size_t bytes) {
  CUDART_ENTER();
  const struct simt_alloc *a = simt_mem_find(c->simt, (uintptr_t)p);
  bool good = a && a->kind == SIMT_MEM_MANAGED && bytes && simt_mem_at(c->simt, (uintptr_t)p, bytes);
  return cudart_leave(c, good ? cudaSuccess : cudaErrorInvalidValue);
}

#if CUDART_MAJOR >= 13
cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, struct cudaMemLocation where, unsigned flags,
                                 cudaStream_t stream) {
  (void)where, (void)flags, (void)stream;
  return advise(p, bytes);
}

cudaError_t cudaMemAdvise(const void *p, size_t bytes, int advice, struct cudaMemLocation where) {
  (void)advice, (void)where;
  return advise(p, bytes);
}
#else
cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes, int device, cudaStream_t stream) {
  (void)device, (void)stream;
  return advise(p, bytes);
}

cudaError_t cudaMemAdvise(const void *p, size_t bytes, int advice, int device) {
  (void)advice, (void)device;
  return advise(p, bytes);
}

cudaError_t cudaMemPrefetchAsync_v2(const void *p, size_t bytes, struct cudaMemLocation where, unsigned flags,
                                    cudaStream_t stream) {
  (void)where, (void)flags, (void)stream;
  return advise(p, bytes);
}
PTSZ(cudaMemPrefetchAsync_v2);

cudaError_t cudaMemAdvise_v2(const void *p, size_t bytes, int advice, struct cudaMemLocation where) {
  (void)advice, (void)where;
  return advise(p, bytes);
}
#endif
PTSZ(cudaMemPrefetchAsync);

enum { RANGE_READ_MOSTLY = 1, RANGE_PREFERRED = 2, RANGE_ACCESSED_BY = 3, RANGE_LAST_PREFETCH = 4 };

cudaError_t cudaMemRangeGetAttribute(void *data, size_t data_bytes, int attribute, const void *p, size_t bytes) {
  cudaError_t r = advise(p, bytes);
  if (r != cudaSuccess || !data || data_bytes < sizeof(int)) return r ? r : cudaErrorInvalidValue;
  int v = attribute == RANGE_READ_MOSTLY ? 0 : -2; /* cudaInvalidDeviceId: no preference */
  for (size_t i = 0; i + sizeof v <= data_bytes; i += sizeof v) memcpy((char *)data + i, &v, sizeof v);
  return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes, unsigned flags) {
  (void)bytes, (void)flags;
  CUDART_ENTER();
  if (!cudart_stream(c, stream)) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  const struct simt_alloc *a = simt_mem_find(c->simt, (uintptr_t)p);
  return cudart_leave(c, a && a->kind == SIMT_MEM_MANAGED ? cudaSuccess : cudaErrorInvalidValue);
}
PTSZ(cudaStreamAttachMemAsync);
