/* launches.c - checks before a launch, in the order and with the codes of the real runtime, and the launch itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/core/launches.h"
#include "cudart/core/clusters.h"
#include "cudart/core/context.h"
#include "cudart/core/modules.h"

enum { MAX_BLOCK_XY = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };

void *cudart_pack_args(const struct cuda_function *f, void **args) {
  uint8_t *block = mem_zeroed(1, f->info->param_block_bytes ? f->info->param_block_bytes : 1);
  for (uint32_t i = 0; i < f->info->params; i++) {
    if (!args || !args[i]) {
      free(block);
      return NULL;
    }
    memcpy(block + f->info->param_offset[i], args[i], f->info->param_bytes[i]);
  }
  return block;
}

uint64_t cudart_shared_limit(const struct session_device *d, const struct cuda_function *f) {
  uint64_t opted = f->max_dynamic_shared ? f->max_dynamic_shared + (uint64_t)f->info->static_shared : 0;
  return opted > d->shared_per_cta ? opted : d->shared_per_cta;
}

/* Resident CTAs per SM: the rules by which the machine dispatches (threads in whole warps, registers, shared memory).
 */
uint32_t cudart_occupancy(const struct session_device *d, const struct simt_kernel_info *k, uint32_t threads,
                          uint64_t dynamic_shared) {
  if (threads == 0 || threads > d->max_threads_per_cta) return 0;
  uint64_t warps = (threads + d->warp_size - 1) / d->warp_size;
  uint64_t n = d->max_ctas_per_sm, limit = d->max_threads_per_sm / (warps * d->warp_size);
  if (limit < n) n = limit;
  uint64_t each = k->regs, most = simt_register_limit(k, threads, d->regs_per_sm);
  uint64_t regs = warps * d->warp_size * (((each > most ? most : each) + 3) & ~3ull); /* dispatched in fours */
  if (regs && d->regs_per_sm / regs < n) n = d->regs_per_sm / regs;
  uint64_t shared = k->static_shared + dynamic_shared + d->shared_reserved;
  if (shared && d->shared_per_sm / shared < n) n = d->shared_per_sm / shared;
  return (uint32_t)n;
}

static cudaError_t check_shape(struct cudart *c, const struct cuda_launch *l) {
  const char *name = l->function->name;
  const uint32_t *g = l->grid, *b = l->block;
  const struct simt_kernel_info *k = l->function->info;
  /* Targets from sm_30 on have 31 bits in x. */
  uint32_t max_x = k->target_sm >= 30 || c->dev->cc_major >= 3 ? INT32_MAX : MAX_GRID_YZ;
  for (int i = 0; i < 3; i++)
    if (g[i] == 0 || b[i] == 0)
      return cudart_why(c, cudaErrorInvalidConfiguration, "launch of %s: grid %ux%ux%u, block %ux%ux%u is empty", name,
                        g[0], g[1], g[2], b[0], b[1], b[2]);
  if (g[0] > max_x || g[1] > MAX_GRID_YZ || g[2] > MAX_GRID_YZ)
    return cudart_why(c, cudaErrorInvalidConfiguration, "launch of %s: grid %ux%ux%u is over the limit %ux%dx%d", name,
                      g[0], g[1], g[2], max_x, MAX_GRID_YZ, MAX_GRID_YZ);
  uint64_t threads = (uint64_t)b[0] * b[1] * b[2];
  if (b[0] > MAX_BLOCK_XY || b[1] > MAX_BLOCK_XY || b[2] > MAX_BLOCK_Z || threads > c->dev->max_threads_per_cta)
    return cudart_why(c, cudaErrorInvalidConfiguration, "launch of %s: block %ux%ux%u is over the limit of %u threads",
                      name, b[0], b[1], b[2], c->dev->max_threads_per_cta);
  if ((uint64_t)g[0] * g[1] * g[2] > UINT32_MAX)
    return cudart_why(c, cudaErrorInvalidConfiguration, "launch of %s: more than 2^32 - 1 CTAs", name);
  if (threads > k->max_threads)
    return cudart_why(c, cudaErrorLaunchOutOfResources, "launch of %s: %llu threads, its .maxntid allows %u", name,
                      (unsigned long long)threads, k->max_threads);
  return cudaSuccess;
}

static cudaError_t check_resources(struct cudart *c, const struct cuda_launch *l) {
  const struct simt_kernel_info *k = l->function->info;
  uint64_t shared = (uint64_t)k->static_shared + l->shared, limit = cudart_shared_limit(c->dev, l->function);
  if (shared > limit)
    return cudart_why(c, cudaErrorInvalidValue, "launch of %s: %llu bytes of shared memory, a CTA can have %llu",
                      k->name, (unsigned long long)shared, (unsigned long long)limit);
  uint32_t threads = l->block[0] * l->block[1] * l->block[2];
  uint32_t per_sm = cudart_occupancy(c->dev, k, threads, l->shared);
  if (per_sm == 0)
    return cudart_why(c, cudaErrorLaunchOutOfResources,
                      "launch of %s: %u threads of %u registers and %llu bytes of shared memory do not fit on an SM",
                      k->name, threads, k->regs, (unsigned long long)shared);
  uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  if (l->cooperative && ctas > (uint64_t)per_sm * c->dev->sms)
    return cudart_why(c, cudaErrorCooperativeLaunchTooLarge,
                      "cooperative launch of %s: %llu CTAs, %llu can be resident at once", k->name,
                      (unsigned long long)ctas, (unsigned long long)per_sm * c->dev->sms);
  return cudaSuccess;
}

/* Driver data of a cooperative grid: its size and a barrier counter, two words of a small block. */
enum { WORKSPACE_BYTES = 256 };

uint64_t cudart_grid_workspace(struct cudart *c) {
  if (!c->grid_workspace)
    c->grid_workspace = simt_mem_alloc(c->simt, WORKSPACE_BYTES, SIMT_MEM_DEVICE, "barrier of cooperative grids");
  uint32_t *p = c->grid_workspace ? simt_mem_at(c->simt, c->grid_workspace, WORKSPACE_BYTES) : NULL;
  if (!p) return 0;
  memset(p, 0, WORKSPACE_BYTES);
  simt_mem_written(c->simt, c->grid_workspace, WORKSPACE_BYTES);
  p[0] = WORKSPACE_BYTES;
  return c->grid_workspace;
}

cudaError_t cudart_check_launch(struct cudart *c, const struct cuda_launch *l) {
  const struct cuda_function *f = l->function;
  if (f->dead) return cudart_why(c, cudaErrorInvalidResourceHandle, "launch of %s: its module was unloaded", f->name);
  if (!f->info) {
    if (f->module->machine_only)
      return cudart_why(c, cudaErrorNoKernelImageForDevice, "launch of %s: %s holds no PTX of it", f->name,
                        f->module->label);
    return cudart_why(c, cudaErrorInvalidDeviceFunction, "launch of %s: %s has no such kernel", f->name,
                      f->module->label);
  }
  cudaError_t r = check_shape(c, l);
  if (r == cudaSuccess) r = cudart_check_cluster(c, l);
  return r == cudaSuccess ? check_resources(c, l) : r;
}
