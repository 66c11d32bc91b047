/* dispatch.h - launches on the machine and the CTAs they give to the SMs. */
#ifndef GPU_DISPATCH_H
#define GPU_DISPATCH_H

#include "gpu/state/machine.h"

/* A place for a launch; its turn; the end of one, of all; CTAs for the SMs. */
struct gpu_work *gpu_work_new(struct gpu *g, const struct feed *f, const struct gpu_start *how, struct err *e);
void gpu_work_turn(struct gpu *g, struct gpu_work *k);
void gpu_work_end(struct gpu *g, struct gpu_ended *out);
void gpu_work_clear(struct gpu *g);
void gpu_dispatch(struct gpu *g);
/* Warps of CTAs on other SMs that were to stop waiting after this cycle (gpu_release_later) do so. */
void gpu_release(struct gpu *g);

#endif
