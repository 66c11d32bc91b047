/* dispatch.h - launches on the machine and dispatch of CTAs to SMs. */
#ifndef GPU_DISPATCH_H
#define GPU_DISPATCH_H

#include "gpu/state/machine.h"

/* A free place for a launch, with the resources that its CTAs take. NULL with `e`: a CTA does not fit an SM. */
struct gpu_work *gpu_work_new(struct gpu *g, const struct feed *f, const struct gpu_start *how, struct err *e);
/* CTAs of a kernel that an SM takes; 0: none fits. */
uint32_t gpu_ctas_per_sm(const struct gpu *g, const struct feed_kernel *k);
/* Put it into the order of dispatch, by priority and age. */
void gpu_work_turn(struct gpu *g, struct gpu_work *k);
/* Take a launch whose CTAs have all ended off the machine; gpu.finished says that there is one. */
void gpu_work_end(struct gpu *g, struct gpu_ended *out);
/* Take all launches off the machine: after a failure. */
void gpu_work_clear(struct gpu *g);
/* Give CTAs to SMs with room, at most one to each: once in a core cycle, after the SMs. */
void gpu_dispatch(struct gpu *g);
/* Release the warps on other SMs that gpu_release_later deferred to the end of this cycle. */
void gpu_release(struct gpu *g);

#endif
