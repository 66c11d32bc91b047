/* bucl.h - what BUCL-Dyn and BUCL-Prf share: the last period's L1 hit rate and input-buffer fill, and the rule for
 * refused accesses (Zhao et al., ICPADS 2016, section IV-B).
 *
 * The hit rate is that of the accepted accesses of SM 0 to global memory; a period without any counts as 0. An access
 * to a line on its way is no miss, as in the windowed miss rate of the simulator that the paper's authors extended
 * (with pending=0 it is one): programs whose warps share lines then keep the rate above the threshold and are left
 * alone.
 */
#ifndef SCHEMES_LIB_BUCL_H
#define SCHEMES_LIB_BUCL_H

#include "gpu/scheme.h"

enum { BUCL_SUBPARTS = 256 };
struct bucl_monitor {
  uint64_t hits, accesses; /* of SM 0 in this period */
  double hit_rate;         /* of the last period */
  double fill[BUCL_SUBPARTS], area[BUCL_SUBPARTS];
};

static inline bool bucl_monitor_init(const struct scheme_ctx *c, const char *name, struct err *e) {
  if (c->config->channels * c->config->subparts <= BUCL_SUBPARTS) return true;
  return err_set(e, ERR_USAGE, "scheme %s: more than %d L2 sub-partitions", name, BUCL_SUBPARTS);
}

/* A period of `cycles` ends. */
static inline void bucl_monitor_period(struct scheme_ctx *c, struct bucl_monitor *m, double cycles) {
  m->hit_rate = m->accesses ? (double)m->hits / (double)m->accesses : 0;
  m->hits = m->accesses = 0;
  for (uint32_t s = 0; s < c->config->channels * c->config->subparts; s++) {
    double area = gpu_subpart_fill_cycles(c->gpu, s);
    m->fill[s] = (area - m->area[s]) / cycles;
    m->area[s] = area;
  }
}

static inline void bucl_monitor_access(struct bucl_monitor *m, const struct l1_event *e, enum l1_outcome out,
                                       bool pending) {
  if (e->sm || e->local) return;
  m->accesses++;
  m->hits += out == L1_HIT || (pending && out == L1_PENDING);
}

/* May a refused access go past the L1? Counts the reason of a first refusal. */
static inline bool bucl_may_pass(const struct bucl_monitor *m, const struct l1_event *e, double hit_rate, double uib,
                                 uint64_t *passed, uint64_t *kept_hit_rate, uint64_t *kept_full) {
  if (m->hit_rate >= hit_rate) {
    if (hit_rate > 0) *kept_hit_rate += !e->retry; /* at 0 passing is off, not refused */
    return false;
  }
  if (m->fill[e->subpart] >= uib) {
    *kept_full += !e->retry;
    return false;
  }
  ++*passed;
  return true;
}

#endif
