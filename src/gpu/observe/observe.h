/* observe.h - counting what closer looks at a launch ask for (gpu/common/seen.h).
 *
 * The units of the machine count through a pointer to struct gpu_stats. With `detail` each of them gets a struct of its
 * own and the launch's counters are their sum, so the parts add up to the total by construction. Samples are
 * differences of totals at multiples of `sample` cycles, after everything that sleeps has been accounted for. Nothing
 * here exists, and no pointer is moved, for what is not asked for.
 */
#ifndef GPU_OBSERVE_OBSERVE_H
#define GPU_OBSERVE_OBSERVE_H

#include "gpu/common/seen.h"
#include "gpu/observe/timeline.h"
#include "gpu/state/machine.h"
#include "gpu/state/sm.h"

/* observe.c */
void gpu_seen_begin(struct gpu *g);
void gpu_seen_free(struct gpu *g);
/* Everything counted in this launch so far by units that are settled. */
void gpu_seen_total(const struct gpu *g, struct gpu_stats *total);
/* The launch is over: lines that are still there count as they are. */
void gpu_seen_end(struct gpu *g);
/* Only with a character: a global load begins, the L1 took one of its accesses (`out`: an enum l1_outcome, L1_BYPASS
 * for one that went past it), it has its data; the L1 took a global store. */
void gpu_see_load(struct sm *s, uint32_t op);
void gpu_see_access(struct sm *s, uint32_t op, uint64_t addr, int out);
void gpu_see_load_done(struct sm *s, uint32_t op);
void gpu_see_store(struct sm *s, uint64_t addr);
/* The same for lines of the L1: reserved for an access, replaced or invalidated. */
void gpu_see_line(struct sm *s, uint32_t index, bool local, uint32_t degree);
void gpu_see_line_end(struct sm *s, uint32_t index);
/* Only with a profile: a load was looked up in the L1. */
void gpu_see_set(struct sm *s, uint64_t addr, bool hit);
/* Close the intervals that end now, all of them at the end of a launch. Units must be settled. */
void gpu_seen_look(struct gpu *g, bool end);
/* A load in flight, for its requests at the L2; an access that the L1 took (out) or that goes past it (L1_BYPASS); a
 * fill; a CTA on an SM. */
void gpu_see_l2_load(struct sm *s, uint32_t op);
void gpu_see_l2_load_done(struct sm *s, uint32_t op);
void gpu_see_fill(struct sm *s, uint64_t addr, bool local);
void gpu_see_cta(struct gpu *g, uint32_t sm, uint32_t slot);
void gpu_see_cta_done(struct gpu *g, uint32_t sm, uint32_t slot);
/* A launch begins on the machine: its code has a place in gpu_seen.inst, its name in the timeline. */
void gpu_seen_launch(struct gpu *g, struct gpu_work *k);
/* loads.c: set up, and begin a launch of, gpu_watch.character */
void gpu_see_character(struct gpu *g);
void gpu_see_character_free(struct gpu_character *c, uint32_t sms);
void gpu_see_character_begin(struct gpu_character *c);
/* profile.c: the same for gpu_watch.profile; add what was counted since the last look. */
void gpu_see_profile(struct gpu *g);
void gpu_see_dram(struct gpu *g); /* hears every DRAM command for them */
void gpu_see_profile_free(struct gpu_profile *p);
void gpu_see_profile_begin(struct gpu *g);
void gpu_see_profile_look(struct gpu *g, const struct gpu_stats *total);
/* l2.c, sharing.c: the same for what happens at the L2 and to blocks */
void gpu_see_l2(struct gpu *g);
void gpu_see_l2_free(struct seen_l2 *o);
void gpu_see_l2_begin(struct gpu *g);
void gpu_see_l2_end(struct gpu *g);
void gpu_see_block(struct sm *s, uint32_t op, uint64_t addr, enum l1_outcome out);
/* stuck.c: what the warps of a launch that makes no progress wait for. */
void gpu_describe_stuck(const struct gpu *g, struct err *e);
/* The instruction of `o` in gpu_seen.inst. */
static inline struct gpu_inst_memory *sm_seen_inst(const struct sm *s, const struct op *o) {
  const struct gpu_work *k = &s->g->work[s->cta_work[s->w[o->warp].cta_slot]];
  return &s->g->seen.inst[k->inst_base + o->uop->inst->pc];
}

#endif
