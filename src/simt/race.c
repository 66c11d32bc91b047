/* race.c - races between the warps of a CTA on shared memory, and barriers that only part of the CTA reaches.
 *
 * Happens-before with a vector clock per warp, and per byte the last write and the last two reads by different warps
 * (Flanagan and Freund, "FastTrack", PLDI 2009, cut to what a CTA needs): an access races with an earlier one of
 * another warp if no chain of barriers lies between them. Lanes of one warp execute together and do not race with each
 * other; atomics do not race with atomics; a write that leaves the value as it was does not race with other writes.
 * Clocks of a CTA slot only grow, so that what a former CTA left behind counts as ordered.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simt/check_impl.h"

enum { MAX_WARPS = 32, BARRIERS = CTA_BARRIERS };

struct race_mark { /* clock 0: none */
  uint32_t clock, pc;
  uint16_t thread; /* in the CTA */
  bool atomic;
};
struct race_cell { /* of one byte of shared memory */
  struct race_mark write, read[2];
};
struct race_clock {
  uint32_t at[MAX_WARPS];
};
struct race_cta {
  struct race_clock warp[MAX_WARPS], barrier[BARRIERS], gone, signal; /* gone: warps that have ended */
};

struct race {
  struct race_cta *ctas;
  struct race_cell *cells;
  size_t bytes;
};

void race_new(struct check_run *k, struct simt_run *r) {
  struct race *q = calloc(1, sizeof *q);
  CHECK(q, "out of memory");
  q->ctas = calloc(r->slots, sizeof *q->ctas);
  q->bytes = ((size_t)r->slots * r->shared_stride + 1) * sizeof *q->cells;
  q->cells = mmap(NULL, q->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(q->ctas && q->cells != MAP_FAILED, "out of memory");
  k->race = q;
}

void race_free(struct check_run *k) {
  if (!k->race) return;
  munmap(k->race->cells, k->race->bytes);
  free(k->race->ctas);
  free(k->race);
}

void race_cta_start(struct simt_run *r, const struct cta *c) {
  struct race_cta *q = &r->check->race->ctas[c->slot];
  uint32_t latest = 0;
  for (uint32_t w = 0; w < MAX_WARPS; w++)
    if (q->warp[w].at[w] > latest) latest = q->warp[w].at[w];
  memset(q, 0, sizeof *q);
  for (uint32_t w = 0; w < MAX_WARPS; w++) {
    for (uint32_t v = 0; v < MAX_WARPS; v++) q->warp[w].at[v] = latest;
    q->warp[w].at[w] = latest + 1;
  }
}

/* ---- accesses ---- */

static void describe_mark(struct exec *x, const struct race_mark *m, const char *verb, char *out, size_t size) {
  const struct simt_run *r = x->run;
  const struct inst *in = &r->m->code[m->pc];
  const char *file = in->src_file < r->fk.nfiles ? r->fk.files[in->src_file] : NULL;
  uint32_t t = m->thread, bx = r->fk.block[0], by = r->fk.block[1];
  char src[240] = "";
  if (in->src_line && file) snprintf(src, sizeof src, "%.200s:%u, ", file, in->src_line);
  snprintf(out, size, "%s by thread (%u,%u,%u) at %sPTX line %u", verb, t % bx, t / bx % by, t / bx / by, src,
           in->ptx_line);
}

static bool ordered(const struct race_clock *c, const struct race_mark *m) {
  return m->clock <= c->at[m->thread / LANES];
}

static void report_race(struct exec *x, const struct xop *o, int lane, uint64_t addr, const char *mine,
                        const struct race_mark *m, const char *theirs) {
  char other[320], what[480];
  describe_mark(x, m, theirs, other, sizeof other);
  snprintf(what, sizeof what, "%s of shared 0x%llx races with the %s: no barrier lies between them", mine,
           (unsigned long long)addr, other);
  check_report(x, o, &x->ops[m->pc], lane, CHECK_RACE, what);
}

/* The reads that stay: one of this warp, else the newest; what is ordered before this access goes first. */
static void remember_read(struct race_cell *cell, const struct race_clock *mine, struct race_mark m) {
  uint32_t at = 0;
  if (cell->read[0].clock && cell->read[0].thread / LANES == m.thread / LANES) at = 0;
  else if (cell->read[1].clock && cell->read[1].thread / LANES == m.thread / LANES) at = 1;
  else if (!cell->read[0].clock || ordered(mine, &cell->read[0])) at = 0;
  else at = 1;
  cell->read[at] = m;
}

void race_touch(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, enum check_access kind,
                bool changed) {
  struct race *q = x->run->check->race;
  const struct race_clock *mine = &q->ctas[x->cta->slot].warp[x->w->index];
  struct race_cell *cell = q->cells + (size_t)x->cta->slot * x->run->shared_stride + addr;
  uint32_t warp = x->w->index;
  struct race_mark m = {.clock = mine->at[warp],
                        .pc = (uint32_t)(o - x->ops),
                        .thread = (uint16_t)(warp * LANES + (uint32_t)lane),
                        .atomic = kind == CHECK_ATOMIC};
  const char *verb = kind == CHECK_READ ? "read" : kind == CHECK_WRITE ? "write" : "atomic";
  bool told = false;
  for (uint32_t i = 0; i < bytes; i++, cell++) {
    const struct race_mark *w = &cell->write;
    if (!told && w->clock && w->thread / LANES != warp && !ordered(mine, w) && !(m.atomic && w->atomic) &&
        (kind != CHECK_WRITE || changed)) {
      report_race(x, o, lane, addr + i, verb, w, w->atomic ? "atomic" : "write");
      told = true;
    }
    if (kind == CHECK_READ) {
      remember_read(cell, mine, m);
      continue;
    }
    for (int k = 0; k < 2; k++) {
      const struct race_mark *r = &cell->read[k];
      if (!told && r->clock && r->thread / LANES != warp && !ordered(mine, r)) {
        report_race(x, o, lane, addr + i, verb, r, "read");
        told = true;
      }
    }
    cell->write = m;
  }
}

/* ---- barriers ---- */

static void join(struct race_clock *into, const struct race_clock *from) {
  for (uint32_t v = 0; v < MAX_WARPS; v++)
    if (from->at[v] > into->at[v]) into->at[v] = from->at[v];
}

/* Threads of the warp when it started. */
static uint32_t first_mask(const struct simt_run *r, uint32_t warp) {
  uint32_t threads = r->fk.threads_per_cta - warp * LANES;
  return threads >= LANES ? FULL_MASK : (1u << threads) - 1;
}

/* A barrier for the whole CTA, reached by a warp without all of its threads or after other warps have ended. */
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
  join(&q->barrier[b], &q->warp[x->w->index]);
  q->warp[x->w->index].at[x->w->index]++;
}

void check_barrier_pass(struct exec *x, const struct warp *w, uint32_t b, bool all) {
  struct check_run *k = x->run->check;
  if (!k->race) return;
  struct race_cta *q = &k->race->ctas[x->cta->slot];
  join(&q->warp[w->index], &q->barrier[b]);
  if (all) join(&q->warp[w->index], &q->gone);
}

/* All mbarriers of a CTA count as one: that may hide a race, and reports none that is not there. */
void check_signal(struct exec *x, bool arrives) {
  struct check_run *k = x->run->check;
  if (!k->race) return;
  struct race_cta *q = &k->race->ctas[x->cta->slot];
  struct race_clock *mine = &q->warp[x->w->index];
  if (arrives) {
    join(&q->signal, mine);
    mine->at[x->w->index]++;
  } else {
    join(mine, &q->signal);
  }
}

void check_barrier_done(struct exec *x, uint32_t b) {
  struct check_run *k = x->run->check;
  if (k->race) memset(&k->race->ctas[x->cta->slot].barrier[b], 0, sizeof(struct race_clock));
}

/* A barrier that waits for the whole CTA orders what an ended warp did as well; one that others already wait at is
 * incomplete without it. */
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
  if (k->race) join(&k->race->ctas[x->cta->slot].gone, &k->race->ctas[x->cta->slot].warp[w->index]);
}
