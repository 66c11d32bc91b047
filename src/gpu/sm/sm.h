/* sm.h - a streaming multiprocessor: life cycle, step, and the stages of an SM with sub-cores. */
#ifndef GPU_SM_SM_H
#define GPU_SM_SM_H

#include "gpu/state/machine.h"
#include "gpu/state/sm.h"

/* sm.c */
void sm_init(struct sm *s, struct gpu *g, uint32_t id);
void sm_destroy(struct sm *s);
void sm_begin_kernel(struct sm *s);
/* Allocate scoreboard rows (uop.h) for a launch with registers up to `max_reg`. */
void sm_grow_score(struct sm *s, uint32_t max_reg);
/* Start a CTA of launch `work`: hardware CTA slot, first warp slot, linear id. */
void sm_start_cta(struct sm *s, uint32_t work, uint32_t slot, uint32_t first, uint32_t cta);
/* One core cycle of the SMs in word `w` of gpu.running; false: a fault of the simulated program. One function per enum
 * sm_kind (kind.inc). */
bool sm_steps_placed(struct gpu *g, uint32_t w);
bool sm_steps_modern(struct gpu *g, uint32_t w);
bool sm_steps_general(struct gpu *g, uint32_t w);
bool sm_steps_schemes(struct gpu *g, uint32_t w);
bool sm_steps_baseline(struct gpu *g, uint32_t w);
static inline bool sm_step_word(struct gpu *g, uint32_t w) {
  if (g->kind == SM_BASELINE) return sm_steps_baseline(g, w);
  if (g->kind == SM_PLACED) return sm_steps_placed(g, w);
  if (g->kind == SM_MODERN) return sm_steps_modern(g, w);
  return g->kind == SM_SCHEMES ? sm_steps_schemes(g, w) : sm_steps_general(g, w);
}
/* Select the kind for the present launches, schemes and observers. */
void sm_choose_step(struct gpu *g);
void sm_more_ops(struct sm *s); /* double the instructions in flight */
void sm_receive(struct sm *s);  /* replies: interconnect -> ejection queue -> memory unit or instruction cache */
void sm_settle(struct sm *s, uint64_t until); /* account for cycles slept before cycle `until` */
void sm_count(struct sm *s);                  /* complete the counters */
/* step.c, for sub_cores.c: collector `c` takes `id` and queues its reads; banks answer; the result of `id` is
 * due at `cycle` (false: too many; sm_result_due: however many). */
void sm_collector_take(struct sm *s, uint32_t c, op_id id);
void sm_read_banks(struct sm *s);
bool sm_result_at(struct sm *s, op_id id, uint64_t cycle);
void sm_result_due(struct sm *s, op_id id, uint64_t cycle);
/* sub_cores.c: the same stages for an SM with sub-cores */
void sm_sub_init(struct sm *s);
void sm_sub_destroy(struct sm *s);
void sm_sub_head(struct sm *s, uint32_t warp, const struct inst *i); /* a new instruction is at the head of a warp's
                                                                      * buffer */
uint64_t sm_sub_room(const struct sm *s, uint32_t scheduler);        /* warps whose head its sub-core can accept */
/* The cycle in which a pipe is free for one of the warps `ready` of the scheduler; UINT64_MAX: none is busy. */
uint64_t sm_sub_wake(const struct sm *s, uint32_t scheduler, uint64_t ready);
/* With fixed latencies: a warp arrives at a barrier; warps continue after it (sm.barrier_latency); those whose time has
 * come do so. */
void sm_sub_arrive(struct sm *s);
void sm_sub_let(struct sm *s, uint64_t warps);
void sm_sub_go(struct sm *s);
void sm_sub_issue(struct sm *s, uint32_t warp, op_id id);
void sm_sub_collect(struct sm *s);
void sm_sub_execute(struct sm *s);

#endif
