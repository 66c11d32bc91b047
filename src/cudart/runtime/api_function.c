/* api_function.c - attributes of a kernel, and its CTAs per SM. */
#include <string.h>

#include "cudart/core/clusters.h"
#include "cudart/core/device.h"
#include "cudart/core/launches.h"
#include "cudart/core/modules.h"
#include "cudart/runtime/api.h"

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *func) {
  CUDART_ENTER_ASYNC();
  struct cuda_function *f = cudart_function(c, func);
  if (!out || !f || !f->info) return cudart_leave(c, out ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
  const struct simt_kernel_info *k = f->info;
  uint64_t limit = cudart_shared_limit(c->dev, f);
  *out = (struct cudaFuncAttributes){
      .sharedSizeBytes = k->static_shared,
      .constSizeBytes = k->const_bytes,
      .localSizeBytes = k->local_bytes,
      .maxThreadsPerBlock =
          (int)(k->max_threads < c->dev->max_threads_per_cta ? k->max_threads : c->dev->max_threads_per_cta),
      .numRegs = (int)k->regs,
      .ptxVersion = (int)k->target_sm,
      .binaryVersion = (int)k->target_sm,
      .maxDynamicSharedSizeBytes = k->static_shared < limit ? (int)(limit - k->static_shared) : 0,
      .preferredShmemCarveout = f->carveout ? f->carveout : -1};
#if CUDART_MAJOR >= 12
  for (int i = 0; i < 4; i++) cudart_cluster_value(f, 10 + i, &out->clusterDimMustBeSet + i);
  out->clusterSchedulingPolicyPreference = f->cluster_policy;
  out->nonPortableClusterSizeAllowed = f->non_portable;
#endif
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void *func, int attribute, int value) {
  CUDART_ENTER_ASYNC();
  struct cuda_function *f = cudart_function(c, func);
  if (!f || !f->info) return cudart_leave(c, cudaErrorInvalidDeviceFunction);
  switch (attribute) {
  case FUNC_MAX_DYNAMIC_SHARED:
    if (value < 0 || (uint64_t)value + f->info->static_shared > c->dev->shared_most)
      return cudart_leave(c, cudart_why(c, cudaErrorInvalidValue,
                                        "cudaFuncSetAttribute: %d bytes of dynamic shared memory for %s, an SM has %u",
                                        value, f->name, c->dev->shared_most));
    f->max_dynamic_shared = (uint32_t)value;
    break;
  case FUNC_SHARED_CARVEOUT:
    if (value < -1 || value > 100) return cudart_leave(c, cudaErrorInvalidValue);
    f->carveout = value;
    break;
  default:
    return cudart_leave(c, cudart_cluster_attribute(f, attribute, value) ? cudaSuccess : cudaErrorInvalidValue);
  }
  return cudart_leave(c, cudaSuccess);
}

/* Preferences between L1 and shared memory are ignored: the configuration decides. */
cudaError_t cudaFuncSetCacheConfig(const void *func, int config) {
  CUDART_ENTER();
  if (!cudart_function(c, func)) return cudart_leave(c, cudaErrorInvalidDeviceFunction);
  return cudart_leave(c, config >= 0 && config <= 3 ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *func, int config) {
  CUDART_ENTER();
  if (!cudart_function(c, func)) return cudart_leave(c, cudaErrorInvalidDeviceFunction);
  return cudart_leave(c, config >= 0 && config <= 2 ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func, int threads,
                                                                   size_t shared, unsigned flags) {
  CUDART_ENTER_ASYNC();
  struct cuda_function *f = cudart_function(c, func);
  if (!blocks || threads <= 0 || flags > 1) return cudart_leave(c, cudaErrorInvalidValue);
  if (!f || !f->info) return cudart_leave(c, cudaErrorInvalidDeviceFunction);
  *blocks = (int)cudart_occupancy(c->dev, f->info, (uint32_t)threads, shared);
  if (f->info->static_shared + shared > cudart_shared_limit(c->dev, f)) *blocks = 0;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, func, threads, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *func, int blocks, int threads) {
  CUDART_ENTER();
  struct cuda_function *f = cudart_function(c, func);
  if (!bytes || blocks <= 0 || threads <= 0) return cudart_leave(c, cudaErrorInvalidValue);
  if (!f || !f->info) return cudart_leave(c, cudaErrorInvalidDeviceFunction);
  uint64_t each = c->dev->shared_per_sm / (uint32_t)blocks, limit = cudart_shared_limit(c->dev, f);
  each = each > c->dev->shared_reserved ? each - c->dev->shared_reserved : 0;
  if (each > limit) each = limit;
  *bytes = each > f->info->static_shared ? each - f->info->static_shared : 0;
  return cudart_leave(c, cudaSuccess);
}
