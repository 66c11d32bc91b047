/* launch.h - what goes with a launch that begins, and what is said of one that has ended. */
#ifndef GPU_COMMON_LAUNCH_H
#define GPU_COMMON_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/stats.h"

struct gpu_start {
  int priority; /* lower goes first to room for CTAs, as cudaStreamCreateWithPriority has it; then the older launch */
  uint32_t stream; /* for the timeline */
};
/* What is the launch's own; the rest of the counters belong to all that ran together. */
struct gpu_ended {
  uint32_t launch;      /* as gpu_start named it */
  uint64_t start, end;  /* core cycles since the machine was built */
  struct gpu_stats own; /* kernels, cycles, ctas, warp_insts, thread_insts, insts.*, registers.*; the rest is 0 */
  double warps;         /* resident warps, mean over its cycles and all SMs */
};
enum gpu_ran { GPU_ENDED, GPU_TIME, GPU_FAILED };

/* For which machines the step of an SM is compiled (gpu/sm/kind.inc). */
enum sm_kind { SM_GENERAL, SM_SCHEMES, SM_BASELINE };

#endif
