/* trace_feed.c - replay: the feed over a recorded launch, and the driver that runs any feed without a timing model.
 *
 * Barrier rules are those of the functional machine (src/simt/run/barrier.c): a warp arrives as a whole; a barrier
 * without a count waits for every warp of the CTA that has not finished.
 */
#include "trace/trace_feed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { BARRIERS = 16, QUANTUM = 4096, CTA_BUDGET = 1 << 22 };

struct arrivals {
  uint32_t expected, count; /* threads; expected 0: all */
  uint64_t waiting;
};

struct slot_state {
  struct arrivals bar[BARRIERS];
  uint64_t waiting;    /* warps at some barrier */
  uint32_t live_warps; /* not finished */
  bool used;           /* some barrier has been touched since the CTA began */
};

struct trace_feed {
  struct feed feed;
  struct trace_input *in;
  const struct trace_input_ops *ops;
  struct slot_state *slot;
  struct err err;
  struct feed_fault fault;
  struct trace_feed *of;    /* the launch's feed; in that itself: itself */
  struct trace_feed *share; /* of host threads */
  uint32_t shares;
  const struct trace_feed *failed; /* the one of which the fault is reported */
  pthread_mutex_t lock;
};

/* ---- barriers ---- */

static void release_slot(struct slot_state *s, struct arrivals *b, struct issued *out) {
  uint32_t need = b->expected ? b->expected : s->live_warps * WARP_LANES;
  if (!b->count || b->count < need) return;
  out->released |= b->waiting;
  s->waiting &= ~b->waiting;
  *b = (struct arrivals){0};
}

static bool arrive(struct trace_feed *f, struct slot_state *s, uint32_t warp, struct issued *out) {
  if (out->bar_id >= BARRIERS)
    return err_set(&f->err, ERR_INPUT, "%s: barrier %u of kernel %s: a CTA has 16", f->in->path, out->bar_id,
                   f->feed.kernel->name);
  struct arrivals *b = &s->bar[out->bar_id];
  s->used = true;
  if (!b->count) b->expected = out->bar_threads;
  b->count += WARP_LANES;
  if (out->waits) {
    b->waiting |= 1ull << warp;
    s->waiting |= 1ull << warp;
  }
  release_slot(s, b, out);
  return true;
}

static void warp_done(struct slot_state *s, struct issued *out) {
  s->live_warps--;
  if (!s->waiting) return;
  for (uint32_t b = 0; b < BARRIERS; b++)
    if (s->bar[b].count && !s->bar[b].expected) release_slot(s, &s->bar[b], out);
}

/* ---- the feed ---- */

static bool fail(struct trace_feed *f) {
  f->fault.cuda_error = 0;
  snprintf(f->fault.text, sizeof f->fault.text, "%.1000s", f->err.msg);
  return false;
}

static void replay_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  (void)sm, (void)first_warp;
  struct trace_feed *f = ctx;
  struct slot_state *s = &f->slot[slot];
  if (s->used) memset(s, 0, sizeof *s);
  s->live_warps = f->feed.kernel->warps_per_cta;
  if (!f->err.code) f->ops->open_cta(f->in, slot, cta, &f->err); /* a failure is reported at the first issue */
}

static inline void clear(struct issued *out) {
  out->waits = false;
  out->token = 0;
  out->released = 0;
  out->bar_id = FEED_NO_BARRIER;
}

static inline bool stepped(struct trace_feed *f, uint32_t slot, uint32_t warp, struct issued *out) {
  struct slot_state *s = &f->slot[slot];
  if (out->bar_id != FEED_NO_BARRIER && !arrive(f, s, warp, out)) return fail(f);
  if (out->next_pc == FEED_DONE) warp_done(s, out);
  return true;
}

static bool replay_issue(void *ctx, uint32_t slot, uint32_t warp, struct issued *out) {
  struct trace_feed *f = ctx;
  clear(out);
  if (__builtin_expect(f->err.code != ERR_NONE, 0) || !f->ops->step(f->in, slot, warp, out, &f->err)) return fail(f);
  return stepped(f, slot, warp, out);
}

/* Many instructions of a warp, for counting only. */
static bool feed_skim(struct trace_feed *f, uint32_t slot, uint32_t warp, struct issued *out, struct trace_counts *n) {
  clear(out);
  if (f->err.code || !f->ops->skim(f->in, slot, warp, QUANTUM, out, n, &f->err)) return fail(f);
  return stepped(f, slot, warp, out);
}

static bool replay_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  (void)ctx, (void)token, (void)lanes;
  return true;
}

static void replay_end(void *ctx, uint32_t slot) {
  struct trace_feed *f = ctx;
  f->ops->close_cta(f->in, slot);
}

static const struct feed_fault *replay_fault(void *ctx) {
  const struct trace_feed *f = ctx;
  f->of->failed = f;
  return &f->fault;
}

/* Instructions of a CTA need nothing of other CTAs. */
static bool replay_share(void *ctx, uint32_t n, const uint64_t *const *now, const struct feed **out) {
  struct trace_feed *f = ctx;
  (void)now;
  CHECK(!f->share, "kernel %s is shared twice", f->feed.kernel->name);
  f->share = mem_zeroed(n, sizeof *f->share);
  f->shares = n;
  f->in->lock = &f->lock;
  for (uint32_t i = 0; i < n; i++) {
    struct trace_feed *s = &f->share[i];
    *s = (struct trace_feed){.feed = f->feed, .in = f->in, .ops = f->ops, .slot = f->slot, .of = f};
    s->feed.ctx = s;
    s->feed.watch = NULL; /* one thread reports progress */
    out[i] = &s->feed;
  }
  return true;
}

static bool replay_apart(void *ctx) {
  (void)ctx; /* addresses do not depend on values */
  return true;
}

static const struct feed_ops operations = {.start_cta = replay_start,
                                           .issue = replay_issue,
                                           .atomic = replay_atomic,
                                           .end_cta = replay_end,
                                           .fault = replay_fault,
                                           .share = replay_share,
                                           .apart = replay_apart};

struct trace_feed *trace_feed_new(struct trace_input *t, const struct feed_kernel *kernel, uint32_t slots,
                                  struct err *e) {
  if (!t->ops->begin(t, slots, e)) return NULL;
  struct trace_feed *f = mem_zeroed(1, sizeof *f);
  f->in = t;
  f->of = f;
  f->ops = t->ops;
  pthread_mutex_init(&f->lock, NULL);
  f->slot = mem_zeroed(slots, sizeof *f->slot);
  f->feed = (struct feed){.ops = &operations, .ctx = f, .kernel = kernel};
  return f;
}

struct feed *trace_feed_get(struct trace_feed *f) {
  return &f->feed;
}

const struct err *trace_feed_error(const struct trace_feed *f) {
  const struct trace_feed *wrong = f->failed ? f->failed : f;
  return wrong->err.code ? &wrong->err : NULL;
}

void trace_feed_free(struct trace_feed *f) {
  if (!f) return;
  if (f->shares) f->in->lock = NULL;
  pthread_mutex_destroy(&f->lock);
  free(f->share);
  free(f->slot);
  free(f);
}

/* ---- without a timing model ---- */

struct drive_slot {
  bool running;
  uint64_t live, waiting; /* warps */
};

struct drive {
  struct feed *f;
  struct issued out;
  struct trace_counts n;
  uint64_t all;            /* warps of a CTA */
  struct trace_feed *skim; /* the feed, if it is a trace whose reader can skim; else NULL */
};

static bool drive_fault(const struct drive *d, struct err *e) {
  const struct feed_fault *fault = d->f->ops->fault(d->f->ctx);
  return err_set(e, ERR_PROGRAM, "%s", fault ? fault->text : "the kernel faulted");
}

/* Effect of the last instruction on the warps. False: this warp cannot continue now. */
static bool drive_on(const struct drive *d, struct drive_slot *s, uint64_t bit) {
  if (d->out.waits) s->waiting |= bit;
  s->waiting &= ~d->out.released;
  if (d->out.next_pc == FEED_DONE) s->live &= ~bit;
  return d->out.next_pc != FEED_DONE && !(s->waiting & bit);
}

/* About QUANTUM instructions of one warp. */
static bool drive_warp(struct drive *d, struct drive_slot *s, uint32_t slot, uint32_t warp, struct err *e) {
  const struct feed_ops *ops = d->f->ops;
  struct issued *out = &d->out;
  uint64_t bit = 1ull << warp, end = d->n.warp_insts + QUANTUM;
  while (d->n.warp_insts < end) {
    if (d->skim) {
      if (!feed_skim(d->skim, slot, warp, out, &d->n)) return drive_fault(d, e);
    } else {
      out->cycle = d->n.warp_insts * FEED_FUNCTIONAL_CYCLES;
      out->waits = false;
      out->token = 0;
      out->released = 0;
      bool ok = ops->issue(d->f->ctx, slot, warp, out);
      if (ok && out->token) ok = ops->atomic(d->f->ctx, out->token, out->mask);
      if (!ok) return drive_fault(d, e);
      d->n.warp_insts++;
      d->n.thread_insts += (uint32_t)__builtin_popcount(out->mask);
    }
    if (!drive_on(d, s, bit)) return true;
  }
  return true;
}

static bool drive_round(struct drive *d, struct drive_slot *s, uint32_t slot, struct err *e) {
  bool ran = false;
  for (uint64_t left = s->live; left; left &= left - 1) {
    if (left & -left & s->waiting) continue;
    ran = true;
    if (!drive_warp(d, s, slot, (uint32_t)__builtin_ctzll(left), e)) return false;
  }
  if (ran) return true;
  return err_set(e, ERR_STUCK, "kernel %s: %d warps of a CTA wait at barriers for ever", d->f->kernel->name,
                 __builtin_popcountll(s->live));
}

static bool drive_endless(const struct drive *d, uint64_t insts, struct err *e) {
  const struct feed_kernel *k = d->f->kernel;
  uint32_t pc = d->out.next_pc;
  return err_set(
      e, ERR_STUCK,
      "kernel %s makes no progress: warps issue, but no block ended for %llu warp instructions (--watchdog N "
      "waits for N)\n  the last one of them is at PTX line %u",
      k->name, (unsigned long long)insts, pc < k->insts ? k->code[pc].ptx_line : 0);
}

bool trace_drive(struct feed *f, uint32_t slots, uint64_t watchdog, struct trace_counts *n, struct err *e) {
  const struct feed_kernel *k = f->kernel;
  struct drive d = {.f = f, .all = k->warps_per_cta >= 64 ? ~0ull : (1ull << k->warps_per_cta) - 1};
  if (f->ops == &operations && ((struct trace_feed *)f->ctx)->ops->skim) d.skim = f->ctx;
  struct drive_slot *state = mem_zeroed(slots, sizeof *state);
  uint32_t next = 0, live = 0;
  uint64_t progress = 0;
  bool ok = true;
  if (!watchdog) watchdog = FEED_WATCHDOG;
  while (ok && (next < k->ctas || live)) {
    for (uint32_t i = 0; ok && i < slots; i++) {
      struct drive_slot *s = &state[i];
      if (!s->running) {
        if (next == k->ctas) continue;
        f->ops->start_cta(f->ctx, i, next++, i, 0);
        *s = (struct drive_slot){.running = true, .live = d.all};
        live++;
      }
      uint64_t limit = d.n.warp_insts + CTA_BUDGET;
      while (ok && s->live && d.n.warp_insts < limit && d.n.warp_insts - progress <= watchdog)
        ok = drive_round(&d, s, i, e);
      if (ok && s->live && d.n.warp_insts - progress > watchdog) ok = drive_endless(&d, d.n.warp_insts - progress, e);
      if (!ok || s->live) continue;
      f->ops->end_cta(f->ctx, i);
      feed_cta_ended(f);
      s->running = false;
      progress = d.n.warp_insts;
      live--;
      i--; /* reuse the slot: its memory is warm */
    }
  }
  free(state);
  if (n) *n = d.n;
  return ok;
}
