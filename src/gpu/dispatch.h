/* dispatch.h - launches on the machine and dispatch of CTAs to SMs. */
#ifndef GPU_DISPATCH_H
#define GPU_DISPATCH_H

#include "gpu/state/machine.h"

/* Slot for a launch; its turn; end of one, of all; dispatch of CTAs. */
struct gpu_work *gpu_work_new(struct gpu *g, const struct feed *f, const struct gpu_start *how, struct err *e);
void gpu_work_turn(struct gpu *g, struct gpu_work *k);
void gpu_work_end(struct gpu *g, struct gpu_ended *out);
void gpu_work_clear(struct gpu *g);
void gpu_dispatch(struct gpu *g);
/* Release the warps on other SMs that gpu_release_later deferred to the end of this cycle. */
void gpu_release(struct gpu *g);

#endif
