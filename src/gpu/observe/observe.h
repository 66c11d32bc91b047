/* observe.h - counts the enabled observations of a launch (gpu/common/observed.h).
 *
 * The units of the machine count through a pointer to struct gpu_stats. With `detail` each unit gets its own struct
 * and the launch's counters are their sum, so the parts add up to the total by construction. Samples are differences
 * of totals at multiples of `sample` cycles, after accounting for all sleeping units. A disabled observation allocates
 * nothing and redirects no pointer.
 */
#ifndef GPU_OBSERVE_OBSERVE_H
#define GPU_OBSERVE_OBSERVE_H

#include "gpu/common/observed.h"
#include "gpu/observe/timeline.h"
#include "gpu/state/machine.h"
#include "gpu/state/sm.h"

/* observe.c */
void observe_begin(struct gpu *g);
void observe_free(struct gpu *g);
/* All counts of this launch so far, of settled units. */
void observe_total(const struct gpu *g, struct gpu_stats *total);
/* End of the launch: count lines still present. */
void observe_end(struct gpu *g);
/* With a character only: a global load begins; the L1 accepted one of its accesses (`out`: an enum l1_outcome,
 * L1_BYPASS for a bypass); its data is complete; the L1 accepted a global store. */
void observe_load(struct sm *s, uint32_t op);
void observe_access(struct sm *s, uint32_t op, uint64_t addr, int out);
void observe_load_done(struct sm *s, uint32_t op);
void observe_store(struct sm *s, uint64_t addr);
/* The same for lines of the L1: reserved for an access, replaced or invalidated. */
void observe_line(struct sm *s, uint32_t index, bool local, uint32_t degree);
void observe_line_end(struct sm *s, uint32_t index);
/* With a profile only: the L1 looked up a load. */
void observe_set(struct sm *s, uint64_t addr, bool hit);
/* Close the intervals that end now, or all at the end of a launch. Units must be settled. */
void observe_look(struct gpu *g, bool end);
/* A load in flight, for its requests at the L2; an access accepted by the L1 (out) or bypassing it (L1_BYPASS); a
 * fill; a CTA on an SM. */
void observe_l2_load(struct sm *s, uint32_t op);
void observe_l2_load_done(struct sm *s, uint32_t op);
void observe_fill(struct sm *s, uint64_t addr, bool local);
void observe_cta(struct gpu *g, uint32_t sm, uint32_t slot);
void observe_cta_done(struct gpu *g, uint32_t sm, uint32_t slot);
/* A launch starts on the machine: add its code to gpu_observed.inst and its name to the timeline. */
void observe_launch(struct gpu *g, struct gpu_work *k);
/* loads.c: set up gpu_watch.character, and start a launch of it */
void observe_character(struct gpu *g);
void observe_character_free(struct gpu_character *c, uint32_t sms);
void observe_character_begin(struct gpu_character *c);
/* profile.c: the same for gpu_watch.profile; add the counts since the last update. */
void observe_profile(struct gpu *g);
void observe_dram(struct gpu *g); /* observes every DRAM command for them */
void observe_profile_free(struct gpu_profile *p);
void observe_profile_begin(struct gpu *g);
void observe_profile_look(struct gpu *g, const struct gpu_stats *total);
/* l2.c, sharing.c: the same for the L2 and shared blocks */
void observe_l2(struct gpu *g);
void observe_l2_free(struct l2_observer *o);
void observe_l2_begin(struct gpu *g);
void observe_l2_end(struct gpu *g);
void observe_block(struct sm *s, uint32_t op, uint64_t addr, enum l1_outcome out);
/* stuck.c: what the warps of a stuck launch wait for. */
void gpu_describe_stuck(const struct gpu *g, struct err *e);
/* The instruction of `o` in gpu_observed.inst. */
static inline struct gpu_inst_memory *observed_inst(const struct sm *s, const struct op *o) {
  const struct gpu_work *k = &s->g->work[s->cta_work[s->w[o->warp].cta_slot]];
  return &s->g->observed.inst[k->inst_base + o->uop->inst->pc];
}

#endif
