/* ahead.c - SMs on several host threads. See ahead.h. */
#include "gpu/ahead.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sched.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/thread.h"
#include "gpu/gpu.h"
#include "gpu/icnt/icnt.h"
#include "gpu/observe/observe.h"
#include "gpu/pace.h"
#include "gpu/sm/sm.h"
#include "gpu/state/port.h"

enum {
  LEAST = 2,       /* SMs of a group that run: of fewer a window takes less time than to begin and end one */
  REQUESTS = 12,   /* of an SM in a cycle, at most */
  CALL_AGAIN = 64, /* windows after which a sleeping thread is called again */
  PACES = 16,      /* by kernel */
  SPINS = 1000,    /* pauses of the host before a thread lets others run, */
  SLEEP = 20000,   /* and before it sleeps */
  VIEW_COUNT = 1 << 30
};

/* An SM that left a window early, and the cycle from which the machine steps it. */
struct stopped {
  uint64_t at;
  uint32_t sm;
};
struct ended {
  uint64_t at;
  uint32_t sm, slot;
};

/* What its SMs add to the machine's counts in a cycle, modulo 2^32. */
struct prefetch_change {
  uint32_t fetched, sent;
};

struct ahead_group {
  struct gpu view;
  struct ahead *all;
  uint32_t first, sms;         /* its SMs: every `groups`-th from `first` on, `sms` of them */
  uint64_t mine[GPU_SM_WORDS]; /* those of them that it steps */
  bool stop;                   /* the SM stops after this cycle */
  bool failed;
  uint64_t failed_at;
  uint32_t failed_sm;
  struct stopped *stopped;
  struct ended *ended;
  uint32_t stops, stop_room, ends, end_room;
  struct prefetch_change *prefetch; /* of each cycle of the window, where schemes prefetch */
  pthread_t thread;
  _Alignas(64) atomic_uint_fast32_t claimed; /* the last turn that a thread has run or runs */
};

struct ahead {
  struct gpu *g;
  uint32_t groups, threads;               /* threads that have started, with the first, which is the caller's */
  pid_t owner;                            /* a forked child has the first thread alone, which then does all */
  uint32_t longest;                       /* cycles of a window, at most */
  uint64_t from, end;                     /* the window */
  uint64_t rest;                          /* no window before this cycle */
  uint64_t windows;                       /* so far */
  uint32_t late;                          /* windows in a row that the first thread ran alone */
  bool entered;                           /* SMs count into the views */
  bool taken;                             /* groups have SMs */
  struct pace *pace, paces[PACES];        /* of the launch's kernel; by the hash of its name */
  _Alignas(64) atomic_uint_fast32_t turn; /* windows begun; UINT32_MAX: the threads end */
  _Alignas(64) atomic_uint_fast32_t left; /* threads that have not ended the present one */
  atomic_uint_fast32_t asleep;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_mutex_t uops;
  struct ahead_group group[];
};

static inline bool bit_of(const uint64_t *set, uint32_t i) {
  return set[i / 64] >> (i % 64) & 1;
}

/* ---- what SMs of a group do (machine.h) ---- */

void ahead_cta_done(struct gpu *view, uint32_t sm, uint32_t slot) {
  struct ahead_group *q = view->group;
  if (q->ends == q->end_room) {
    q->end_room = 2 * q->end_room + 16;
    q->ended = mem_resize(q->ended, q->end_room, sizeof *q->ended);
  }
  q->ended[q->ends++] = (struct ended){.at = view->now, .sm = sm, .slot = slot};
  const struct gpu_work *k = &view->work[view->turn[0]];
  if (k->next_cta < k->feed->kernel->ctas) q->stop = true;
}

void ahead_send(struct gpu *view, const struct req *r) {
  const struct tlb *t = &view->group->all->g->tlb;
  const struct tlb_page *p = &t->at[r->addr / t->page_bytes % t->entries];
  if (p->page != r->addr / t->page_bytes || p->ready > view->now) view->group->stop = true;
}

void ahead_lock_uops(struct gpu *view, bool on) {
  if (on) pthread_mutex_lock(&view->group->all->uops);
  else pthread_mutex_unlock(&view->group->all->uops);
}

/* ---- a window of a group ---- */

static void stop_at(struct ahead_group *q, uint32_t sm, uint64_t at) {
  if (q->stops == q->stop_room) {
    q->stop_room = 2 * q->stop_room + 16;
    q->stopped = mem_resize(q->stopped, q->stop_room, sizeof *q->stopped);
  }
  q->stopped[q->stops++] = (struct stopped){.at = at, .sm = sm};
}

static bool step_one(struct gpu *v, uint32_t i) {
  uint64_t bit = 1ull << (i % 64), others = v->running[i / 64] & ~bit;
  v->running[i / 64] = bit;
  bool ok = sm_step_word(v, i / 64);
  v->running[i / 64] = others | (v->running[i / 64] & bit);
  return ok;
}

/* The view counts from VIEW_COUNT on: none of its SMs finds 0. */
static void take_prefetches(struct gpu *v, struct prefetch_change *of) {
  of->fetched += v->prefetches - VIEW_COUNT;
  of->sent += v->prefetches_sent - VIEW_COUNT;
  v->prefetches = v->prefetches_sent = VIEW_COUNT;
}

static uint32_t flits_of(const struct sm *s, uint32_t bytes) {
  return (bytes + s->c->icnt_flit - 1) / s->c->icnt_flit;
}

static uint32_t flits_of_access(const struct sm *s, const struct op *o, const struct access *a) {
  return flits_of(s, req_most_bytes(a->bytes, !o->load || o->atomic, s->c->icnt_masks && !o->atomic));
}

/* Bytes of the packets that the SM pushes in this cycle, at most: the head of the miss queue, a read of each of the
 * caches for textures, constants, operands and instructions, accesses that bypass the L1 before their lookup, and those
 * that it or a scheme declines. */
static uint32_t most_sent(const struct sm *s) {
  enum { READS = 4 };
  const struct l1d *l = &s->l1d;
  uint32_t flits = READS * flits_of(s, REQ_HEADER_BYTES), lookups = s->c->l1d_lookups;
  bool decided = s->g->slots.count || l->org;
  req_id head = reqq_top(&l->missq);
  if (head) flits += flits_of(s, req_up_bytes(&s->g->pool.at[head]));
  const struct op *o = &s->op[s->dispatch];
  if (s->dispatch && o->buffer != NO_BUFFER && (decided || o->bypass || o->atomic))
    for (uint32_t k = 0; k < lookups && k < o->left; k++)
      flits += flits_of_access(s, o, &s->buffer[o->buffer][o->left - 1 - k]);
  for (uint32_t k = 0; decided && k < lookups && k < l->lat_count; k++) {
    const struct latency_slot *q = &l->lat[ring_at(l->lat_head + k, l->lat_size)];
    flits += flits_of_access(s, &s->op[q->op], &q->acc);
  }
  return flits * s->c->icnt_flit;
}

/* Run SM `i` through the window, or as far as it knows what happens. */
static void run_sm(struct ahead_group *q, uint32_t i, uint64_t from, uint64_t end) {
  struct gpu *v = &q->view;
  struct sm *s = v->sm_at[i];
  icnt_port_node(v->icnt, i);
  for (uint64_t at = from; at < end; at++) {
    enum icnt_known packet = icnt_port_at(v->icnt, i, (uint32_t)(at - from));
    bool waits = bit_of(v->no_room, i);
    bool due = bit_of(v->running, i) || v->wake_at[i] <= at || packet || s->eject.count || waits;
    if (!due) continue;
    if (packet == ICNT_UNKNOWN || !icnt_port_knows(v->icnt, i, most_sent(s))) {
      stop_at(q, i, at);
      break;
    }
    v->now = at;
    if (packet || s->eject.count) sm_receive(s);
    if (q->prefetch) take_prefetches(v, &q->prefetch[at - from]);
    if (v->wake_at[i] <= at || (waits && icnt_can_push(v->icnt, i, s->need_icnt))) gpu_wake_sm(v, i);
    if (!bit_of(v->running, i)) continue;
    bool fine = step_one(v, i);
    if (q->prefetch) take_prefetches(v, &q->prefetch[at - from]);
    if (!fine) {
      if (!q->failed || at < q->failed_at) q->failed = true, q->failed_at = at, q->failed_sm = i;
      break;
    }
    if (!q->stop) continue;
    q->stop = false;
    stop_at(q, i, at + 1);
    break;
  }
}

static void run_group(struct ahead_group *q) {
  struct ahead *a = q->all;
  q->stops = q->ends = 0;
  icnt_port_begin(q->view.icnt);
  if (q->prefetch) memset(q->prefetch, 0, a->longest * sizeof *q->prefetch);
  for (uint32_t w = 0; w < a->g->sm_words; w++) EACH_BIT(w, q->mine[w], i) run_sm(q, (uint32_t)i, a->from, a->end);
}

/* ---- threads ---- */

static void pause_host(uint32_t n) {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
  if (n >= SPINS && n % 64 == 0) sched_yield();
}

static uint32_t next_turn(struct ahead *a, uint32_t seen) {
  uint32_t turn;
  for (uint32_t n = 0; n < SLEEP; n++) {
    if ((turn = (uint32_t)atomic_load_explicit(&a->turn, memory_order_acquire)) != seen) return turn;
    pause_host(n);
  }
  pthread_mutex_lock(&a->lock);
  atomic_fetch_add(&a->asleep, 1);
  while ((turn = (uint32_t)atomic_load(&a->turn)) == seen) pthread_cond_wait(&a->wake, &a->lock);
  atomic_fetch_sub(&a->asleep, 1);
  pthread_mutex_unlock(&a->lock);
  return turn;
}

/* Run the group in this turn, unless a thread has begun to: a thread that is late finds its work done by the first. */
static bool claim(struct ahead_group *q, uint32_t turn) {
  uint_fast32_t last = turn - 1;
  if (!atomic_compare_exchange_strong(&q->claimed, &last, turn)) return false;
  run_group(q);
  atomic_fetch_sub_explicit(&q->all->left, 1, memory_order_release);
  return true;
}

static void *group_thread(void *ctx) {
  struct ahead_group *q = ctx;
  for (uint32_t turn = 0; (turn = next_turn(q->all, turn)) != UINT32_MAX;) claim(q, turn);
  return NULL;
}

static void call_threads(struct ahead *a, uint32_t turn) {
  atomic_store(&a->turn, turn);
  bool called = a->late % CALL_AGAIN && turn != UINT32_MAX; /* waking takes many windows */
  if (called || !atomic_load(&a->asleep) || a->owner != getpid()) return;
  pthread_mutex_lock(&a->lock);
  pthread_cond_broadcast(&a->wake);
  pthread_mutex_unlock(&a->lock);
}

static void run_groups(struct ahead *a) {
  uint32_t turn = (uint32_t)atomic_load_explicit(&a->turn, memory_order_relaxed) + 1, own = 0;
  CHECK(turn != UINT32_MAX, "too many windows");
  atomic_store_explicit(&a->left, a->groups, memory_order_relaxed);
  call_threads(a, turn);
  for (uint32_t i = 0; i < a->groups; i++) own += claim(&a->group[i], turn);
  for (uint32_t n = 0; atomic_load_explicit(&a->left, memory_order_acquire); n++) pause_host(n);
  a->late = own == a->groups ? a->late + 1 : 0;
}

/* ---- SMs change hands ---- */

/* Where a scheme chooses CTAs, an SM with room may get one as soon as any CTA ends. */
static bool can_go(const struct gpu *g, const struct sm *s) {
  const struct gpu_work *k = &g->work[g->turn[0]];
  bool chosen = g->slots.n_pick_cta | g->slots.n_may_launch;
  if (chosen && k->next_cta < k->feed->kernel->ctas && k->on_sm[s->id] < k->ctas_per_sm) return false;
  return !s->untranslated.count;
}

static void take_sm(struct ahead_group *q, struct sm *s) {
  struct gpu *g = q->all->g, *v = &q->view;
  uint32_t i = s->id, w = i / 64;
  uint64_t bit = 1ull << (i % 64);
  q->mine[w] |= bit;
  g->away[w] |= bit;
  v->running[w] = (v->running[w] & ~bit) | (g->running[w] & bit);
  v->no_room[w] = (v->no_room[w] & ~bit) | (g->no_room[w] & bit);
  g->running[w] &= ~bit;
  g->no_room[w] &= ~bit;
  v->wake_at[i] = g->wake_at[i];
  g->wake_at[i] = UINT64_MAX;
  s->g = v;
  if (s->l1d.org) s->l1d.org_of = &v->slots.at[v->slots.l1[0]];
}

/* From the present cycle on the machine steps the SM. */
static void give_sm(struct ahead_group *q, struct sm *s) {
  struct gpu *g = q->all->g, *v = &q->view;
  uint32_t i = s->id, w = i / 64;
  uint64_t bit = 1ull << (i % 64);
  q->mine[w] &= ~bit;
  g->away[w] &= ~bit;
  s->g = g;
  if (s->l1d.org) s->l1d.org_of = &g->slots.at[g->slots.l1[0]];
  if (s->eject.count) g->ejected[w] |= bit;
  else g->ejected[w] &= ~bit;
  if (v->running[w] & bit) gpu_wake_sm(g, i);
  else if (v->wake_at[i] != UINT64_MAX) gpu_sleep_sm(g, i, v->wake_at[i]);
  if (v->no_room[w] & bit) g->no_room[w] |= bit, g->look[w] |= bit;
  v->running[w] &= ~bit;
  v->no_room[w] &= ~bit;
}

static void give_all(struct ahead *a) {
  if (!a->taken) return;
  a->taken = false;
  for (uint32_t k = 0; k < a->groups; k++)
    for (uint32_t w = 0; w < a->g->sm_words; w++)
      EACH_BIT(w, a->group[k].mine[w], i) give_sm(&a->group[k], a->g->sm_at[i]);
}

/* ---- windows ---- */

/* Schemes see the view, and count there. */
static void view_slots(struct gpu *v) {
  for (uint32_t i = 0; i < v->slots.count; i++) {
    struct slot_instance *in = &v->slots.at[i];
    in->ctx.gpu = v;
    in->ctx.stats = &v->stats;
    in->ctx.now = &v->now;
    in->ctx.counter = in->counter;
    memset(in->counter, 0, sizeof in->counter);
  }
}

static void add_counters(struct gpu *g, struct gpu *v) {
  for (uint32_t i = 0; i < g->slots.count; i++)
    for (uint32_t k = 0; k < SCHEME_COUNTERS_MAX; k++) g->slots.at[i].counter[k] += v->slots.at[i].counter[k];
}

static void enter_views(struct ahead *a) {
  struct gpu *g = a->g;
  a->entered = true;
  for (uint32_t k = 0; k < a->groups; k++) {
    struct ahead_group *q = &a->group[k];
    struct req_pool pool = q->view.pool;
    struct icnt *port = q->view.icnt;
    q->view = *g;
    memset(&q->view.stats, 0, sizeof q->view.stats);
    q->view.pool = pool;
    q->view.icnt = port;
    q->view.group = q;
    q->view.prefetches = q->view.prefetches_sent = VIEW_COUNT;
    memset(q->view.running, 0, sizeof q->view.running);
    memset(q->view.no_room, 0, sizeof q->view.no_room);
    view_slots(&q->view);
    for (uint32_t i = q->first; i < g->config.sms; i += a->groups) g->sm_at[i]->st = &q->view.stats;
  }
}

static uint64_t window_end(const struct ahead *a) {
  const struct gpu *g = a->g;
  uint64_t end = g->now + a->longest;
  if (g->look_up < end) end = g->look_up;
  if (g->leaves_at < end) end = g->leaves_at;
  return end < g->slots.next_epoch ? end : g->slots.next_epoch;
}

/* SMs run that are enough for a window. */
static bool is_worth(const struct ahead *a) {
  const struct gpu *g = a->g;
  uint32_t run = 0;
  for (uint32_t w = 0; w < g->sm_words; w++) {
    uint64_t m = g->running[w];
    for (uint32_t k = 0; k < a->groups; k++) m |= a->group[k].view.running[w];
    run += (uint32_t)__builtin_popcountll(m);
  }
  return run >= LEAST * a->groups || g->all_windows;
}

static bool may_open(struct ahead *a) {
  const struct gpu *g = a->g;
  if (g->now < a->rest || g->works != 1 || g->finished || g->now >= g->look_up || g->now >= g->slots.next_epoch ||
      g->now >= g->leaves_at)
    return false;
  const struct gpu_work *k = &g->work[g->turn[0]];
  if (!g->full && k->next_cta < k->feed->kernel->ctas) return false; /* SMs with room get CTAs */
  if (!is_worth(a)) return false;
  bool known = !g->tlb.entries || tlb_ample(&g->tlb);
  if (known && k->shares && k->feed->ops->apart(k->feed->ctx)) return true;
  a->rest = UINT64_MAX;
  a->g->windows = false;
  return false;
}

static const struct feed *ordered_feed(const struct gpu *g) {
  const struct feed *f = g->works ? g->work[g->turn[0]].feed : NULL;
  return f && f->ops->settle ? f : NULL;
}

static void order_accesses(const struct gpu *g, bool window) {
  const struct feed *f = ordered_feed(g);
  if (f) f->ops->window(f->ctx, window);
}

static void open_window(struct ahead *a) {
  struct gpu *g = a->g;
  a->from = a->end = g->now;
  if (!(a->pace->on || g->all_windows) || !may_open(a)) {
    give_all(a);
    return;
  }
  if (!a->entered) enter_views(a);
  a->taken = true;
  a->end = window_end(a);
  order_accesses(g, true);
  for (uint32_t n = 0; n < a->groups; n++) {
    struct ahead_group *q = &a->group[n];
    uint32_t need = q->sms * a->longest * REQUESTS;
    uint32_t spare = q->view.pool.lent - q->view.pool.live;
    req_lend(&g->pool, &q->view.pool, spare < need ? 2 * need - spare : 0);
    for (uint32_t i = q->first; i < g->config.sms; i += a->groups)
      if (!bit_of(q->mine, i) && can_go(g, g->sm_at[i])) take_sm(q, g->sm_at[i]);
  }
  for (uint32_t n = 0; n < a->groups; n++) a->group[n].view.pool.at = g->pool.at;
  a->windows++;
  run_groups(a);
}

static void close_window(struct ahead *a) {
  struct gpu *g = a->g;
  if (a->from == a->end) return;
  for (uint32_t k = 0; k < a->groups; k++)
    if (a->group[k].view.progress_at > g->progress_at) g->progress_at = a->group[k].view.progress_at;
}

static void give_stopped(struct ahead *a) {
  for (uint32_t k = 0; k < a->groups; k++)
    for (uint32_t i = 0; i < a->group[k].stops; i++)
      if (a->group[k].stopped[i].at == a->g->now) give_sm(&a->group[k], a->g->sm_at[a->group[k].stopped[i].sm]);
}

void ahead_begin_cycle(struct gpu *g) {
  struct ahead *a = g->ahead;
  pace_cycle(a->pace);
  if (g->now >= a->end) {
    if (a->end > a->from) give_stopped(a);
    close_window(a);
    open_window(a);
    if (a->end == a->from) return;
  }
  give_stopped(a);
  uint32_t step = (uint32_t)(g->now - a->from);
  for (uint32_t k = 0; k < a->groups; k++) {
    struct ahead_group *q = &a->group[k];
    const struct icnt_log *l = icnt_port_log(q->view.icnt, step);
    q->view.now = g->now; /* CTAs may start */
    if (q->prefetch) {
      g->prefetches += q->prefetch[step].fetched;
      g->prefetches_sent += q->prefetch[step].sent;
    }
    for (uint32_t w = 0; w < g->sm_words; w++) EACH_BIT(w, l->pop[w], i) {
        icnt_pop(g->icnt, (uint32_t)i);
        g->in_flight--;
      }
  }
  g->busy = true;
}

static void push_again(struct gpu *g, const struct icnt_pushed *p) {
  struct req *r = &g->pool.at[p->payload];
  struct sm *s = g->sm_at[p->node];
  g->in_flight++;
  if (!sm_translated(g, s, p->payload)) return;
  icnt_push(g->icnt, p->node, gpu_subpart_node(g, r->subpart, p->node), p->payload, req_up_bytes(r));
}

bool ahead_end_cycle(struct gpu *g) {
  struct ahead *a = g->ahead;
  if (g->now >= a->end) return true;
  uint32_t step = (uint32_t)(g->now - a->from);
  const struct ahead_group *failed = NULL;
  for (uint32_t k = 0; k < a->groups; k++) {
    struct ahead_group *q = &a->group[k];
    const struct icnt_log *l = icnt_port_log(q->view.icnt, step);
    for (uint32_t i = 0; i < l->pushes; i++) push_again(g, &l->push[i]);
    for (uint32_t i = 0; i < q->ends; i++)
      if (q->ended[i].at == g->now) gpu_cta_done(g, q->ended[i].sm, q->ended[i].slot);
    if (!failed && q->failed && q->failed_at == g->now) failed = q;
  }
  const struct feed *f = ordered_feed(g);
  if (f) f->ops->settle(f->ctx, g->now);
  if (f && g->now + 1 == a->end) f->ops->window(f->ctx, false);
  if (!failed) return true;
  g->faulted = failed->view.faulted;
  g->fault = failed->view.fault;
  return false;
}

void ahead_leave(struct gpu *g) {
  struct ahead *a = g->ahead;
  if (a && a->pace) pace_pause(a->pace);
  if (!a || !a->entered) return;

  if (a->end > a->from) {
    for (uint32_t k = 0; k < a->groups; k++)
      if (a->group[k].view.progress_at > g->progress_at && a->group[k].view.progress_at <= g->now)
        g->progress_at = a->group[k].view.progress_at;
  }
  give_all(a);
  a->from = a->end = g->now;
  a->entered = false;
  for (uint32_t k = 0; k < a->groups; k++) {
    struct ahead_group *q = &a->group[k];
    for (uint32_t i = q->first; i < g->config.sms; i += a->groups) {
      sm_count(g->sm_at[i]);
      g->sm_at[i]->st = &g->stats;
    }
    gpu_stats_add(&g->stats, &q->view.stats);
    add_counters(g, &q->view);
    memset(&q->view.stats, 0, sizeof q->view.stats);
    q->failed = false;
  }
}

/* ---- launches ---- */

/* Hooks that the machine calls, or that change the configuration alone. */
static bool is_serial(size_t hook) {
#define AT(name) offsetof(struct scheme, name)
  static const size_t serial[] = {AT(on_kernel),    AT(on_epoch),       AT(may_launch),   AT(pick_cta),
                                  AT(on_cta_start), AT(on_warp_start),  AT(l2_bypass),    AT(l2_may_allocate),
                                  AT(l2_narrow),    AT(l2_find_victim), AT(on_l2_access), AT(on_l2_evict),
                                  AT(dram_class)};
#undef AT
  for (size_t i = 0; i < sizeof serial / sizeof *serial; i++)
    if (serial[i] == hook) return true;
  return false;
}

static bool scheme_allows(const struct slot_instance *in) {
  const struct scheme *s = in->scheme;
  if (s->by_sm) return !s->not_by_sm || !s->not_by_sm(in->param);
  for (uint32_t i = 0; i < hook_count; i++)
    if (scheme_fills(s, &hook_rows[i]) && !is_serial(hook_rows[i].offset)) return false;
  return true;
}

static bool schemes_allow(const struct slots *k) {
  if (k->n_place | k->n_on_cta_done) return false;
  for (uint32_t i = 0; i < k->count; i++)
    if (!scheme_allows(&k->at[i])) return false;
  return true;
}

static bool machine_allows(const struct gpu *g) {
  const struct gpu_observed *o = &g->observed;
  bool watched = o->sm || o->on.lines || o->timeline || o->character || o->profile || o->l2 || o->on.sample;
  bool one_clock = g->p_icnt == g->p_core;
  return !watched && one_clock && schemes_allow(&g->slots) && !g->l1net && g->may_sleep && !g->every_cycle &&
         icnt_ahead(g->icnt);
}

/* No instruction of a window reads what a load of it gives (simt/core/later.h): the L1 is looked up in the second or
 * third cycle after the issue of a load, and gives a hit to the registers one or two after its latency. */
static uint32_t longest_window(const struct gpu *g) {
  const struct gpu_config *c = &g->config;
  uint32_t known = icnt_ahead(g->icnt), used = c->l1d_latency + (c->fixed_issue ? 3 : 5);
  return used < known ? used : known;
}

static struct ahead *ahead_new(struct gpu *g) {
  uint32_t n = g->threads < g->config.sms ? g->threads : g->config.sms;
  if (n > AHEAD_MOST) n = AHEAD_MOST;
  struct ahead *a = mem_lines((sizeof *a + n * sizeof *a->group + 63) & ~(size_t)63, 1);
  memset(a, 0, sizeof *a + n * sizeof *a->group);
  a->g = g;
  a->groups = n;
  a->owner = getpid();
  a->longest = longest_window(g);
  for (uint32_t k = 0; k < PACES; k++) pace_init(&a->paces[k]);
  pthread_mutex_init(&a->lock, NULL);
  pthread_mutex_init(&a->uops, NULL);
  pthread_cond_init(&a->wake, NULL);
  for (uint32_t k = 0; k < n; k++) {
    struct ahead_group *q = &a->group[k];
    q->all = a;
    q->first = k;
    q->sms = (g->config.sms - k + n - 1) / n;
    q->view.icnt = icnt_port_new(g->icnt);
    if (g->slots.n_on_prefetch) q->prefetch = mem_alloc(a->longest * sizeof *q->prefetch);
    for (uint32_t i = q->first; i < g->config.sms; i += a->groups) g->sm_at[i]->group = k;
  }
  a->threads = 1;
  while (a->threads < n && thread_start(&a->group[a->threads].thread, group_thread, &a->group[a->threads]))
    a->threads++;
  return a;
}

void ahead_launch(struct gpu *g, struct gpu_work *k) {
  k->shares = 0;
  g->windows = false;
  if (g->threads <= 1 || !k->feed->ops->share || g->works != 1 || !machine_allows(g)) return;
  if (k->feed->kernel->ctas < 2) return;
  if (!g->ahead) g->ahead = ahead_new(g);
  const uint64_t *now[AHEAD_MOST];
  for (uint32_t i = 0; i < g->ahead->groups; i++) now[i] = &g->ahead->group[i].view.now;
  if (!k->feed->ops->share(k->feed->ctx, g->ahead->groups, now, k->share)) return;
  k->shares = g->ahead->groups;
  const char *name = k->feed->kernel->name;
  g->ahead->pace = &g->ahead->paces[hash_bytes(HASH_INIT, name, strlen(name)) % PACES];
  g->ahead->rest = g->now;
  g->windows = true;
}

uint64_t gpu_windows(const struct gpu *g) {
  return g->ahead ? g->ahead->windows : 0;
}

void ahead_free(struct gpu *g) {
  struct ahead *a = g->ahead;
  if (!a) return;
  call_threads(a, UINT32_MAX);
  for (uint32_t k = 1; k < a->threads && a->owner == getpid(); k++) pthread_join(a->group[k].thread, NULL);
  for (uint32_t k = 0; k < a->groups; k++) {
    icnt_port_free(a->group[k].view.icnt);
    free(a->group[k].stopped);
    free(a->group[k].ended);
    free(a->group[k].prefetch);
  }
  pthread_mutex_destroy(&a->lock);
  pthread_mutex_destroy(&a->uops);
  pthread_cond_destroy(&a->wake);
  free(a);
  g->ahead = NULL;
}
