/* turns.h - whose turn it is at the crossbar's arbiters, without time. A launch leaves them where its last requests put
 * them, and the next one's SMs ask one slice for its constants at once: which gets them first decides how long a launch
 * of few instructions takes. A launch without time leaves the turns where the last timed launch of its kernel and grid
 * did, counted from the SM of its last CTA.
 */
#ifndef GPU_TURNS_H
#define GPU_TURNS_H

#include "gpu/state/machine.h"

struct turns;
void turns_free(struct turns *t);
/* A launch on an idle machine begins, and ends. */
void turns_begin(struct gpu *g);
void turns_end(struct gpu *g, const struct feed_kernel *k);
/* After one without time, whose CTAs g->last_sm counts already. */
void turns_touch(struct gpu *g, const struct feed_kernel *k);

#endif
