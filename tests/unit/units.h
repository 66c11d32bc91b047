/* units.h - a slice of the L2, a DRAM channel and a machine stepped on their own. Their machine steps many at a time
 * and skips those that are quiet (gpu/mem/partition.c, gpu/gpu.c).
 */
#ifndef TESTS_UNITS_H
#define TESTS_UNITS_H

#include "gpu/gpu.h"
#include "gpu/mem/dram.h"
#include "gpu/mem/l2.h"

/* Cycles in which nothing happens in the slice; UINT64_MAX: until a push or a return. */
static inline uint64_t l2_quiet(const struct l2_slice *s) {
  return s->wake <= s->t ? 0 : s->wake == UINT64_MAX ? UINT64_MAX : s->wake - s->t;
}

/* One cycle in which nothing happens. */
static inline void l2_skip(struct l2_slice *s) {
  l2_skip_to(s, s->t + 1);
}

static inline void l2_step(struct l2_slice *s) {
  if (l2_quiet(s)) l2_skip(s);
  else l2_step_as(s, *s->env->now, s->baseline);
}

static inline bool l2_idle(const struct l2_slice *s) {
  uint32_t n = s->rop.count + s->to_dram.count + s->out.count;
  for (uint32_t i = 0; i < s->ports; i++) n += s->port[i].count;
  for (uint32_t i = 0; i < s->banks; i++) {
    const struct l2_bank *b = &s->bank[i];
    n += b->mshrs.used + b->in.count + b->miss.count + b->from_dram.count + b->lookup.count;
  }
  return !n;
}

static inline void dram_push(struct dram *d, struct l2_op op) {
  dram_push_as(d, &op, d->narrow);
}

/* The first cycle from now on in which a step does something by itself; UINT64_MAX if the channel is empty. */
static inline uint64_t dram_wake(const struct dram *d) {
  if (d->returns.count || d->waiting & ~d->busy) return d->t;
  uint64_t at = d->issue_at < d->pop_at ? d->issue_at : d->pop_at;
  return at > d->t ? at : d->t;
}

/* One command cycle. Returns the write-back whose data is in the row, else 0. */
static inline req_id dram_step(struct dram *d) {
  req_id done = dram_moves(d) ? dram_move(d) : 0;
  dram_work_as(d, d->narrow);
  return done;
}

/* One launch from its start to its end, with its counters. */
static inline bool gpu_run_kernel(struct gpu *g, struct feed *f, struct gpu_stats *out, struct err *e) {
  struct gpu_ended ended;
  uint32_t launch;
  if (!gpu_start(g, f, &(struct gpu_start){0}, &launch, e)) return false;
  bool ok = gpu_run(g, UINT64_MAX, &ended, e) == GPU_ENDED;
  return gpu_close(g, out, e) && ok;
}

#endif
