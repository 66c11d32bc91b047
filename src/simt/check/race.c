/* race.c - order between the warps of a CTA, for race detection, and the check of barriers that only part of a CTA
 * reaches.
 *
 * Happens-before with a vector clock per warp (Flanagan and Freund, "FastTrack", PLDI 2009, cut to what a CTA needs):
 * a warp's clock ticks when it arrives at a barrier; a warp that leaves the barrier has the clocks of all that
 * arrived. The accesses themselves are in race_global.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simt/check/race_impl.h"

enum { MAX_WARPS = 32, BARRIERS = CTA_BARRIERS };

struct race_clock {
  uint32_t at[MAX_WARPS];
};
struct race_cta {
  struct race_clock warp[MAX_WARPS], barrier[BARRIERS], gone, signal; /* gone: warps that have ended */
};

struct race {
  struct race_cta *ctas;
  struct spare memory; /* of them */
  uint32_t warps;      /* of a CTA: of each clock only so many are used */
};

void race_new(struct check_run *k, struct simt_run *r) {
  struct race *q = mem_zeroed(1, sizeof *q);
  q->memory = race_take(&r->s->check->shadow->clocks, r->slots * sizeof *q->ctas);
  q->ctas = q->memory.p;
  q->warps = r->fk.warps_per_cta;
  k->race = q;
}

void race_free(struct check_run *k, struct simt *s) {
  if (!k->race) return;
  race_give(&s->check->shadow->clocks, &k->race->memory);
  free(k->race);
}

static void clear(const struct race *q, struct race_clock *c) {
  memset(c->at, 0, q->warps * sizeof *c->at);
}

/* Clocks are compared within a CTA only: each starts at 0. */
void race_cta_start(struct simt_run *r, const struct cta *c) {
  const struct race *q = r->check->race;
  struct race_cta *a = &q->ctas[c->slot];
  for (uint32_t w = 0; w < q->warps; w++) {
    clear(q, &a->warp[w]);
    a->warp[w].at[w] = 1;
  }
  for (uint32_t b = 0; b < BARRIERS; b++) clear(q, &a->barrier[b]);
  clear(q, &a->gone);
  clear(q, &a->signal);
}

uint32_t race_clock_of(const struct exec *x) {
  return x->run->check->race->ctas[x->cta->slot].warp[x->w->index].at[x->w->index];
}

bool race_passed(const struct exec *x, uint32_t warp, uint32_t clock) {
  return clock <= x->run->check->race->ctas[x->cta->slot].warp[x->w->index].at[warp];
}

/* ---- barriers ---- */

static void join_clocks(const struct race *q, struct race_clock *into, const struct race_clock *from) {
  for (uint32_t v = 0; v < q->warps; v++)
    if (from->at[v] > into->at[v]) into->at[v] = from->at[v];
}

/* Threads of the warp when it started. */
static uint32_t first_mask(const struct simt_run *r, uint32_t warp) {
  uint32_t threads = r->fk.threads_per_cta - warp * LANES;
  return threads >= LANES ? FULL_MASK : (1u << threads) - 1;
}

/* A barrier for the whole CTA that a warp reaches without all of its threads or after other warps have ended. */
static void check_whole(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct simt_run *r = x->run;
  const struct warp *w = x->w;
  uint32_t first = first_mask(r, w->index), away = w->live & ~mask;
  char what[200];
  if (away) {
    snprintf(what, sizeof what, "barrier reached by the lanes 0x%x of warp %u; its lanes 0x%x have diverged", mask,
             w->index, away);
    check_report(x, o, NULL, __builtin_ctz(mask), CHECK_BARRIER, what);
  } else if (first & ~w->live) {
    snprintf(what, sizeof what, "barrier reached by the lanes 0x%x of warp %u; its lanes 0x%x have exited", mask,
             w->index, first & ~w->live);
    check_report(x, o, NULL, __builtin_ctz(mask), CHECK_BARRIER, what);
  } else if (x->cta->live_warps < r->fk.warps_per_cta) {
    snprintf(what, sizeof what, "barrier reached after %u of the %u warps of the CTA have exited",
             r->fk.warps_per_cta - x->cta->live_warps, r->fk.warps_per_cta);
    check_report(x, o, NULL, __builtin_ctz(mask), CHECK_BARRIER, what);
  }
}

void check_barrier_arrive(struct exec *x, const struct xop *o, uint32_t mask, uint32_t b, bool all) {
  struct check_run *k = x->run->check;
  if (all && k->on & SIMT_CHECK_BARRIER) check_whole(x, o, mask);
  if (!k->race) return;
  struct race_cta *q = &k->race->ctas[x->cta->slot];
  join_clocks(k->race, &q->barrier[b], &q->warp[x->w->index]);
  q->warp[x->w->index].at[x->w->index]++;
}

void check_barrier_pass(struct exec *x, const struct warp *w, uint32_t b, bool all) {
  struct check_run *k = x->run->check;
  if (!k->race) return;
  struct race_cta *q = &k->race->ctas[x->cta->slot];
  join_clocks(k->race, &q->warp[w->index], &q->barrier[b]);
  if (all) join_clocks(k->race, &q->warp[w->index], &q->gone);
}

/* All mbarriers of a CTA count as one: this may hide a race and never reports a false one. */
void check_signal(struct exec *x, bool arrives) {
  struct check_run *k = x->run->check;
  if (!k->race) return;
  struct race_cta *q = &k->race->ctas[x->cta->slot];
  struct race_clock *mine = &q->warp[x->w->index];
  if (arrives) {
    join_clocks(k->race, &q->signal, mine);
    mine->at[x->w->index]++;
  } else {
    join_clocks(k->race, mine, &q->signal);
  }
}

void check_barrier_done(struct exec *x, uint32_t b) {
  struct check_run *k = x->run->check;
  if (!k->race) return;
  clear(k->race, &k->race->ctas[x->cta->slot].barrier[b]);
  if (!x->cta->bars[b].expected) race_grid_barrier(x);
}

/* A barrier for the whole CTA also orders the accesses of ended warps; if others already wait at it, it is incomplete.
 */
void check_warp_done(struct exec *x, const struct warp *w) {
  struct check_run *k = x->run->check;
  if (k->on & SIMT_CHECK_BARRIER && x->cta->waiting) {
    for (uint32_t b = 0; b < BARRIERS; b++) {
      const struct barrier *bar = &x->cta->bars[b];
      if (!bar->count || bar->expected || !(bar->arrived & x->cta->waiting)) continue;
      const struct warp *first = &x->cta->warps[__builtin_ctzll(bar->arrived & x->cta->waiting)];
      const struct xop *o = &x->ops[first->bar_pc];
      char what[160];
      snprintf(what, sizeof what, "barrier reached by this warp, but warp %u has exited without reaching it", w->index);
      struct warp *self = x->w;
      x->w = (struct warp *)first;
      check_report(x, o, NULL, __builtin_ctz(first->bar_mask), CHECK_BARRIER, what);
      x->w = self;
    }
  }
  if (k->race) join_clocks(k->race, &k->race->ctas[x->cta->slot].gone, &k->race->ctas[x->cta->slot].warp[w->index]);
}
