/* launch.h - attributes of a launch at its start, and its results at the end. */
#ifndef GPU_COMMON_LAUNCH_H
#define GPU_COMMON_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/stats.h"

struct gpu_start {
  int priority;    /* lower gets CTA slots first, as in cudaStreamCreateWithPriority; then the older launch */
  uint32_t stream; /* for the timeline */
};
/* Counters of a single launch; all others belong to the launches that ran together. */
struct gpu_ended {
  uint32_t launch;      /* number from gpu_start */
  uint64_t start, end;  /* core cycles since the machine was built */
  struct gpu_stats own; /* kernels, cycles, ctas, warp_insts, thread_insts, insts.*, registers.*; the rest is 0 */
  double warps;         /* resident warps, mean over its cycles and all SMs */
};
enum gpu_ran { GPU_ENDED, GPU_TIME, GPU_FAILED };

/* Kinds of machine for which the step of an SM is compiled (gpu/sm/kind.inc). */
enum sm_kind { SM_PLACED, SM_MODERN, SM_GENERAL, SM_SCHEMES, SM_BASELINE };

#endif
