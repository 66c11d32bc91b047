/* crew.c - see crew.h. */
#include "sample/crew.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/thread.h"

enum { TURN = 4096, /* instructions of a warp */ AHEAD = 8 /* CTAs of a worker that wait to be committed */ };

struct worker {
  struct crew *c;
  struct feed *feed;
  uint32_t i, slot;
  struct crew_counts n;
  pthread_t thread;
  struct issued out;
};

struct crew {
  struct signer *s; /* NULL, or one that keeps nothing: CTAs need no order */
  const struct feed_kernel *kernel;
  struct worker worker[CREW_MOST];
  uint32_t workers;
  uint64_t watchdog, cycle;
  struct feed_watch *watch;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t turn;  /* `commit` has changed */
  uint32_t next, commit, to, ended;
  uint32_t stop; /* the first CTA with a fault; `to`: none */
  bool committing;
  struct signed_cta **ready; /* of CTA commit + k at (commit + k) % room: ended, not committed */
  uint32_t room;
  struct signed_cta *unused[CREW_MOST * (AHEAD + 1)];
  uint32_t nunused;
  struct feed_fault fault;
};

/* ---- the order ---- */

static struct signed_cta *take_log(struct worker *w) {
  struct crew *c = w->c;
  pthread_mutex_lock(&c->lock);
  struct signed_cta *unused = c->nunused ? c->unused[--c->nunused] : NULL;
  pthread_mutex_unlock(&c->lock);
  return signer_take(c->s, w->i, unused);
}

static void put_back(struct crew *c, struct signed_cta *log) {
  if (c->nunused < sizeof c->unused / sizeof *c->unused) c->unused[c->nunused++] = log;
  else signer_free_log(log);
}

/* Commit what is due. One worker does, the others continue. The lock is held before and after. */
static void commit_ready(struct crew *c) {
  struct signed_cta *log;
  if (c->committing) return;
  c->committing = true;
  while ((log = c->ready[c->commit % c->room])) {
    c->ready[c->commit % c->room] = NULL;
    pthread_mutex_unlock(&c->lock);
    signer_commit(c->s, log, false);
    pthread_mutex_lock(&c->lock);
    put_back(c, log);
    c->commit++;
    pthread_cond_broadcast(&c->turn);
  }
  c->committing = false;
}

/* A CTA that has more to keep than is reasonable waits for its turn. */
static void commit_part(struct worker *w, uint32_t cta) {
  struct crew *c = w->c;
  struct signed_cta *log = take_log(w);
  pthread_mutex_lock(&c->lock);
  while ((c->commit != cta || c->committing) && c->stop > cta) pthread_cond_wait(&c->turn, &c->lock);
  bool due = c->commit == cta;
  pthread_mutex_unlock(&c->lock);
  if (due) signer_commit(c->s, log, true); /* no other CTA is committed before this one has ended */
  pthread_mutex_lock(&c->lock);
  put_back(c, log);
  pthread_mutex_unlock(&c->lock);
}

static void cta_ended(struct worker *w, uint32_t cta) {
  struct crew *c = w->c;
  struct signed_cta *log = c->s ? take_log(w) : NULL;
  pthread_mutex_lock(&c->lock);
  c->ended++;
  if (log) {
    c->ready[cta % c->room] = log;
    commit_ready(c);
  }
  uint32_t ended = c->ended;
  pthread_mutex_unlock(&c->lock);
  if (w->i || !c->watch) return;
  c->watch->ended = ended;
  c->watch->look(c->watch->ctx, c->kernel, ended);
}

/* The next CTA, `to` if there is none. */
static uint32_t next_cta(struct crew *c) {
  pthread_mutex_lock(&c->lock);
  while (c->s && c->next < c->stop && c->next - c->commit >= c->room) pthread_cond_wait(&c->turn, &c->lock);
  uint32_t cta = c->next < c->stop ? c->next++ : c->to;
  pthread_mutex_unlock(&c->lock);
  return cta;
}

static void note_fault(struct worker *w, uint32_t cta, bool stuck) {
  struct crew *c = w->c;
  const struct feed_fault *f = w->feed->ops->fault(w->feed->ctx);
  pthread_mutex_lock(&c->lock);
  if (cta < c->stop) {
    c->stop = cta;
    c->fault = (struct feed_fault){0};
    if (f && !stuck) c->fault = *f;
  }
  pthread_cond_broadcast(&c->turn);
  pthread_mutex_unlock(&c->lock);
}

/* ---- a CTA ---- */

struct progress {
  uint64_t live, waiting, insts; /* warps; instructions of the CTA */
};

/* Up to TURN instructions of warp `q`. False: a fault. */
static bool run_warp_turn(struct worker *w, struct progress *p, uint32_t q) {
  const struct feed_ops *ops = w->feed->ops;
  struct issued *out = &w->out;
  for (uint32_t i = 0; i < TURN; i++) {
    out->cycle = w->c->cycle + p->insts * FEED_FUNCTIONAL_CYCLES;
    out->waits = false;
    out->token = 0;
    out->released = 0;
    bool ok = ops->issue(w->feed->ctx, w->slot, q, out);
    if (ok && out->token) ok = ops->atomic(w->feed->ctx, out->token, out->mask);
    if (!ok) return false;
    w->n.warp_insts++;
    p->insts++;
    w->n.thread_insts += (uint32_t)__builtin_popcount(out->mask);
    if (out->waits) p->waiting |= 1ull << q;
    p->waiting &= ~out->released;
    if (out->next_pc == FEED_DONE) p->live &= ~(1ull << q);
    if (out->next_pc == FEED_DONE || p->waiting >> q & 1) return true;
  }
  return true;
}

static bool run_cta(struct worker *w, uint32_t cta, bool *stuck) {
  struct crew *c = w->c;
  uint32_t warps = c->kernel->warps_per_cta;
  struct progress p = {.live = warps >= 64 ? ~0ull : (1ull << warps) - 1};
  w->feed->ops->start_cta(w->feed->ctx, w->slot, cta, 0, 0);
  while (p.live) {
    *stuck = !(p.live & ~p.waiting) || p.insts > c->watchdog;
    if (*stuck) return false;
    for (uint64_t left = p.live; left; left &= left - 1) {
      if (left & -left & p.waiting) continue;
      if (!run_warp_turn(w, &p, (uint32_t)__builtin_ctzll(left))) return false;
      if (c->s && signer_full(c->s, w->i)) commit_part(w, cta);
    }
  }
  w->feed->ops->end_cta(w->feed->ctx, w->slot);
  return true;
}

static void *work(void *ctx) {
  struct worker *w = ctx;
  uint32_t cta;
  while ((cta = next_cta(w->c)) != w->c->to) {
    bool stuck = false;
    if (run_cta(w, cta, &stuck)) {
      cta_ended(w, cta);
      continue;
    }
    note_fault(w, cta, stuck);
    break; /* its feed has faulted */
  }
  return NULL;
}

/* ---- for callers ---- */

static struct crew *new_crew(struct signer *s, struct feed *const *feed, uint32_t n, uint32_t slot) {
  struct crew *c = mem_zeroed(1, sizeof *c);
  c->s = s && signer_keeps(s) ? s : NULL;
  c->kernel = feed[0]->kernel;
  c->workers = n < CREW_MOST ? n : CREW_MOST;
  c->room = AHEAD * c->workers;
  c->ready = mem_zeroed(c->room, sizeof(struct signed_cta *));
  for (uint32_t i = 0; i < c->workers; i++)
    c->worker[i] =
        (struct worker){.c = c, .i = i, .slot = slot, .feed = s ? signer_share(s, i, feed[i], slot + 1) : feed[i]};
  pthread_mutex_init(&c->lock, NULL);
  pthread_cond_init(&c->turn, NULL);
  return c;
}

struct crew *crew_new(struct signer *s, struct feed *const *feed, uint32_t n) {
  return new_crew(s, feed, n, 0);
}

struct crew *crew_of_one(struct signer *s, struct feed *feed, uint32_t slot) {
  return new_crew(s, &feed, 1, slot);
}

void crew_free(struct crew *c) {
  if (!c) return;
  for (uint32_t i = 0; i < c->nunused; i++) signer_free_log(c->unused[i]);
  for (uint32_t i = 0; i < c->room; i++) signer_free_log(c->ready[i]);
  pthread_cond_destroy(&c->turn);
  pthread_mutex_destroy(&c->lock);
  free(c->ready);
  free(c);
}

void crew_watch(struct crew *c, struct feed_watch *watch) {
  c->watch = watch;
}

const struct feed_fault *crew_fault(const struct crew *c) {
  return &c->fault;
}

bool crew_run(struct crew *c, const struct crew_range *r, struct crew_counts *n) {
  uint32_t started = 1;
  c->next = c->commit = r->from;
  c->to = c->stop = r->to;
  c->cycle = r->cycle;
  c->watchdog = r->watchdog ? r->watchdog : FEED_WATCHDOG;
  for (uint32_t i = 0; i < c->workers; i++) c->worker[i].n = (struct crew_counts){0};
  while (started < c->workers && started < r->to - r->from &&
         thread_start(&c->worker[started].thread, work, &c->worker[started]))
    started++;
  work(&c->worker[0]);
  for (uint32_t i = 1; i < started; i++) pthread_join(c->worker[i].thread, NULL);
  for (uint32_t i = 0; i < c->workers; i++) {
    n->warp_insts += c->worker[i].n.warp_insts;
    n->thread_insts += c->worker[i].n.thread_insts;
  }
  if (c->s) signer_flush(c->s);
  return c->stop == r->to;
}
