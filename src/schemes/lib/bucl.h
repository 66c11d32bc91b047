/* bucl.h - what BUCL-Dyn and BUCL-Prf share: the last period's L1 hit rate and input-buffer fill, and the rule for
 * refused accesses (Zhao et al., ICPADS 2016, section IV-B).
 *
 * The hit rate is that of the accepted accesses of SM 0 to global memory; a period without any counts as 0. An access
 * to a pending line is not a miss, as in the windowed miss rate of the simulator that the paper's authors extended
 * (with pending=0 it is): programs whose warps share lines then keep the rate above the threshold and are not
 * bypassed.
 *
 * A refused access to a pending line waits (merge=0): section II-B puts it into the waiting list of its MSHR, "no new
 * load request is issued"; only a miss that needs a request of its own can want an MSHR, a line or a place in the miss
 * queue. The limit of the list (8 waiters), and the check of the miss queue before the list, are properties of the
 * simulator that the paper does not mention. A bypass of such an access fetches pending data a second time. With
 * merge=1 it may bypass like any other; with merge=2 it waits only where the list is full.
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

/* The last rows of both tables of parameters. */
#define BUCL_READING_PARAMS                                                                                            \
  {"pending", "", "1: an access to a pending line counts as a hit; 0: as a miss", 0, 1, 1, true}, {                    \
    "merge", "", "refused accesses to a pending line: 0 wait; 1 may bypass; 2 wait if its list of waiters is full", 0, \
        2, 0, true                                                                                                     \
  }
/* Outcomes of refused accesses: consecutive rows of both tables of counters. */
enum { BUCL_PASSED, BUCL_KEPT_HIT_RATE, BUCL_KEPT_FULL, BUCL_KEPT_MERGE };
#define BUCL_STALL_COUNTERS                                                                                           \
  {"bypassed_on_stall", "access", "refused accesses that bypassed the L1", true},                                     \
      {"kept_hit_rate", "access", "refused accesses kept at first because the hit rate was high", false},             \
      {"kept_full", "access", "refused accesses kept at first because the sub-partition's buffer was full", false}, { \
    "kept_merge", "access", "refused accesses kept at first because their line was pending", false                    \
  }

/* True if a refused access may bypass the L1. Counts the reason of a first refusal in the four counters at `n`. */
static inline bool bucl_may_pass(const struct bucl_monitor *m, const struct l1_event *e, enum l1_outcome why,
                                 double hit_rate, double uib, double merge, uint64_t *n) {
  if (m->hit_rate >= hit_rate) {
    if (hit_rate > 0) n[BUCL_KEPT_HIT_RATE] += !e->retry; /* at 0 bypassing is off, not refused */
    return false;
  }
  if (merge == 0 ? e->pending : merge == 2 && why == L1_NO_MERGE) {
    n[BUCL_KEPT_MERGE] += !e->retry;
    return false;
  }
  if (m->fill[e->subpart] >= uib) {
    n[BUCL_KEPT_FULL] += !e->retry;
    return false;
  }
  n[BUCL_PASSED]++;
  return true;
}

#endif
