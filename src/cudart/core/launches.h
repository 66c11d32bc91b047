/* launches.h - the request of a launch, and its check against the device. */
#ifndef CUDART_CORE_LAUNCHES_H
#define CUDART_CORE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/abi.h"

struct cudart;
struct cuda_function;
struct session_device;
struct simt_kernel_info;

struct cuda_launch {
  struct cuda_function *function;
  uint32_t grid[3], block[3], shared;
  uint32_t cluster[3]; /* requested by the launch, {0}: the kernel's */
  bool cooperative;
  void *params; /* parameter block, owned by a graph node */
};

/* Build the parameter block from an array of pointers to arguments; the caller frees it. NULL: arguments missing. */
void *cudart_pack_args(const struct cuda_function *f, void **args);
cudaError_t cudart_check_launch(struct cudart *c, const struct cuda_launch *l);
/* Device address of the barrier of cooperative grids, cleared. */
uint64_t cudart_grid_workspace(struct cudart *c);
/* Resident CTAs per SM. */
uint32_t cudart_occupancy(const struct session_device *d, const struct simt_kernel_info *k, uint32_t threads,
                          uint64_t dynamic_shared);
uint64_t cudart_shared_limit(const struct session_device *d, const struct cuda_function *f);

#endif
