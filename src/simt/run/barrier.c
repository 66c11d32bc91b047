/* barrier.c - the 16 named barriers of a CTA. A warp arrives as a whole, whatever its mask, as in the reference; a
 * barrier without a count waits for every warp of the CTA that has not finished. */
#include <string.h>

#include "simt/core/machine.h"
#include "simt/core/run.h"

static uint32_t live_threads(const struct simt_run *r, const struct cta *c) {
  (void)r;
  return c->live_warps * LANES;
}

/* Release barrier `b` if it is complete: its warps continue and receive the results of reductions. */
static void try_release(struct exec *x, uint32_t b) {
  struct cta *c = x->cta;
  struct barrier *bar = &c->bars[b];
  uint32_t need = bar->expected ? bar->expected : live_threads(x->run, c);
  if (!bar->count || bar->count < need) return;
  for (uint64_t left = bar->arrived & c->waiting; left; left &= left - 1) {
    struct warp *w = &c->warps[__builtin_ctzll(left)];
    w->waiting = 0;
    if (x->run->check) check_barrier_pass(x, w, b, !bar->expected);
    const struct xop *o = &x->ops[w->bar_pc];
    const struct xaux *a = o->aux;
    if (o->sub == 2 && o->d != OFF_NONE) {
      char *regs = w->regs + w->bar_frame;
      if (a->op == 0) {
        for (uint32_t m = w->bar_mask; m; m &= m - 1) ((uint32_t *)(regs + o->d))[__builtin_ctz(m)] = bar->popc;
      } else {
        uint32_t *p = (uint32_t *)(regs + o->d), v = a->op == 1 ? bar->and_ : bar->or_;
        *p = (*p & ~w->bar_mask) | (v & w->bar_mask);
      }
    }
  }
  x->out->released |= bar->arrived & c->waiting;
  c->waiting &= ~bar->arrived;
  if (x->run->check) check_barrier_done(x, b);
  *bar = (struct barrier){.and_ = FULL_MASK};
}

void barrier_arrive(struct exec *x, const struct xop *o, uint32_t mask) {
  if (o->sub >= CLUSTER_WAIT) {
    cluster_barrier(x, o, mask);
    return;
  }
  struct warp *w = x->w;
  struct cta *c = x->cta;
  x->e->pc++;
  if (!mask) return;
  int lane = __builtin_ctz(mask);
  uint32_t id = OPND(uint32_t, o->a)[lane], expected = o->b == OFF_NONE ? 0 : OPND(uint32_t, o->b)[lane];
  if (id >= CTA_BARRIERS) {
    fault_text(x, o, lane, 719, "barrier %u does not exist: a CTA has 16", id);
    return;
  }
  if (expected % LANES) {
    fault_text(x, o, lane, 719, "the thread count %u of barrier %u is no multiple of 32", expected, id);
    return;
  }
  struct barrier *bar = &c->bars[id];
  if (bar->count && bar->expected != expected) {
    fault_text(x, o, lane, 719, "barrier %u is waited for with different thread counts (%u and %u)", id, bar->expected,
               expected);
    return;
  }
  x->out->bar_id = (uint8_t)id;
  x->out->bar_threads = (uint16_t)expected;
  if (x->run->check) check_barrier_arrive(x, o, mask, id, !expected);
  if (!bar->count) *bar = (struct barrier){.expected = expected, .and_ = FULL_MASK};
  if (o->sub == 2) {
    uint32_t p = *OPND(uint32_t, o->p);
    if (o->flags & XF_NEG_C) p = ~p;
    bar->popc += (uint32_t)__builtin_popcount(p & mask);
    if ((p & mask) != mask) bar->and_ = 0;
    if (p & mask) bar->or_ = FULL_MASK;
  }
  bar->count += LANES;
  if (o->sub != 1) {
    bar->arrived |= 1ull << w->index;
    c->waiting |= 1ull << w->index;
    w->waiting = 1;
    w->bar = (uint8_t)id;
    w->bar_pc = (uint32_t)(o - x->ops);
    w->bar_mask = mask;
    w->bar_frame = x->e->frame;
    x->out->waits = true;
  }
  try_release(x, id);
}

/* The warp has ended: barriers without a count need one warp less. */
void barrier_warp_done(struct exec *x) {
  struct cta *c = x->cta;
  c->live_warps--;
  if (x->run->check) check_warp_done(x, x->w);
  cluster_warp_done(x);
  if (!c->waiting) return;
  for (uint32_t b = 0; b < CTA_BARRIERS; b++)
    if (c->bars[b].count && !c->bars[b].expected) try_release(x, b);
}
