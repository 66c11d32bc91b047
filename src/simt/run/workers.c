/* workers.c - a launch in functional mode on several host threads: see grid.h. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/thread.h"
#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/run.h"
#include "simt/run/grid.h"

enum {
  MOST_WORKERS = 64,
  LEAST_WARPS = 32,
  LEAST_INSTS = 20000 /* of a warp: a millisecond, of which starting threads is a tenth */
};

/* ---- which kernels ---- */

static bool place_or_time(enum ptx_sreg r) {
  switch (r) {
  case SR_SMID:
  case SR_NSMID:
  case SR_WARPID:
  case SR_CLOCK:
  case SR_CLOCK_HI:
  case SR_CLOCK64:
  case SR_GLOBALTIMER:
  case SR_GLOBALTIMER_LO:
  case SR_GLOBALTIMER_HI:
    return true;
  default:
    return false;
  }
}

/* Does it pass the order of CTAs on to the program: what an atomic returns, the rounding of sums of floats, the last of
 * several exchanges, what a load reads that expects others to write? */
static bool shows_order(const struct xop *o) {
  if (o->space != SPACE_GLOBAL && o->space != SPACE_GENERIC) return false;
  if (o->id != X_atom) return o->strong && !o->publishes;
  bool commutes = o->sub <= ATOM_XOR; /* add, min, max, and, or, xor */
  bool whole = o->type != T_F16 && o->type != T_F16X2 && o->type != T_BF16 && o->type != T_BF16X2 && o->type != T_F32 &&
               o->type != T_F64;
  return o->d != OFF_NONE || !commutes || !whole || o->vec > 1;
}

static bool waits_for_others(const struct xop *o) {
  bool global = o->space == SPACE_GLOBAL || o->space == SPACE_GENERIC;
  return global && o->id != X_atom && o->strong && !o->publishes;
}

/* What a search of a kernel's code looks for. */
enum quest {
  IN_TURN,   /* what needs one host thread in functional mode, */
  IN_STEP,   /* and for SMs, which issue at their times, and whose atomics are performed in order */
  UNORDERED, /* accesses to global memory that cannot be put in order (later.h) */
  POSTED     /* atomics without a result: a machine may perform them at their issue */
};

/* Functions that a kernel reaches, by their index in the module. */
struct reach {
  const struct simt_module *m;
  enum quest quest;
  bool ordered; /* the last of them finds nothing */
  bool *in;
  bool indirect; /* a call of any function */
};

/* Loads and stores that are noted, and accesses that are private or performed in order anyway. */
static bool op_unordered(const struct xop *o) {
  switch (o->id) {
  case X_ld_global:
  case X_ld_generic:
  case X_ld_shared:
  case X_ld_local:
  case X_ld_param:
  case X_ld_const:
  case X_st_global:
  case X_st_generic:
  case X_st_shared:
  case X_st_local:
  case X_atom:
  case X_fence:
  case X_ldmatrix:
    return false;
  case X_tex:
  case X_suld:
  case X_sust:
  case X_sured:
  case X_cp_async:
  case X_wmma:
    return true;
  default:
    return o->cls == XC_MEMORY;
  }
}

static bool memory_found(const struct reach *q, const struct xop *o) {
  bool plain = o->id == X_ld_global || o->id == X_ld_generic || o->id == X_st_global || o->id == X_st_generic;
  if (q->quest == IN_TURN) return shows_order(o);
  return waits_for_others(o) && !(q->ordered && plain);
}

static bool op_found(struct reach *q, const struct xop *o) {
  const struct xaux *a = o->aux;
  if (o->cls == XC_CALL && a->name) return strcmp(a->name, "__assertfail") != 0;
  if (o->cls == XC_CALL && a->func) q->in[a->func - q->m->funcs] = true;
  else if (o->cls == XC_CALL) q->indirect = true;
  if (o->cls != XC_SIMPLE && o->cls != XC_MEMORY) return false;
  for (uint32_t i = 0; o->id == X_group && i < o->imm; i++)
    if (op_found(q, &q->m->ops[o->target + i])) return true;
  if (q->quest == UNORDERED) return op_unordered(o);
  if (q->quest == POSTED) return o->id == X_atom && o->d == OFF_NONE && o->space != SPACE_SHARED;
  if (o->id == X_mov_sreg) return q->quest == IN_TURN && place_or_time(o->sub);
  if (o->cls == XC_MEMORY && memory_found(q, o)) return true;
  return o->id == X_sured || o->id == X_bulk || (q->quest == IN_STEP && o->id == X_sust);
}

static bool function_found(struct reach *q, const struct xfunc *f) {
  for (uint32_t pc = f->entry; pc < f->end; pc++)
    if (op_found(q, &q->m->ops[pc])) return true;
  return false;
}

static bool kernel_has(const struct simt_kernel *k, enum quest quest) {
  const struct simt_module *m = k->m;
  struct reach q = {.m = m, .quest = quest, .ordered = k->ordered, .in = mem_zeroed(m->nfuncs, sizeof(bool))};
  bool *done = mem_zeroed(m->nfuncs, sizeof *done), found = false, more = true;
  q.in[k->func - m->funcs] = true;
  while (more && !found) {
    more = false;
    for (uint32_t i = 0; i < m->nfuncs && !found; i++) {
      if (done[i] || !(q.in[i] || q.indirect)) continue;
      done[i] = more = true;
      found = function_found(&q, &m->funcs[i]);
    }
  }
  free(q.in);
  free(done);
  return found;
}

void simt_set_threads(struct simt *s, uint32_t n) {
  s->threads = n < MOST_WORKERS ? n : MOST_WORKERS;
}

static bool may_share(const struct simt_run *r) {
  struct simt_kernel *k = r->k;
  if (r->check || r->fk.cluster > 1) return false;
  if (k->threads == THREADS_UNKNOWN) k->threads = kernel_has(k, IN_TURN) ? THREADS_ONE : THREADS_MANY;
  return k->threads == THREADS_MANY;
}

uint32_t simt_workers(const struct simt_run *r) {
  uint64_t warps = (uint64_t)r->fk.ctas * r->fk.warps_per_cta, n = r->s->threads;
  if (!may_share(r)) return 0;
  if (n <= 1 || warps < LEAST_WARPS) return 1;
  if (r->k->warp_insts && r->k->warp_insts * warps < LEAST_INSTS) return 1;
  return (uint32_t)(n < r->fk.ctas ? n : r->fk.ctas);
}

void simt_note(struct simt_run *r, uint64_t warp_insts) {
  r->k->warp_insts = warp_insts / ((uint64_t)r->fk.ctas * r->fk.warps_per_cta);
}

uint32_t workers_for(const struct simt_run *r) {
  if (r->s->threads <= 1) return 1;
  uint32_t n = simt_workers(r);
  return n > r->slots ? r->slots : n ? n : 1;
}

/* ---- the workers ---- */

struct worker {
  struct simt_run *r; /* the first has the launch's own */
  struct grid *g;
  struct simt_counts n;
  struct err e;
  pthread_t thread;
  bool failed;
};

/* What a worker changes is its own; memory of the launch is shared. */
static struct simt_run *fork_run(const struct simt_run *r, uint32_t first, uint32_t slots) {
  struct simt_run *f = mem_lines((sizeof *f + 63) & ~(size_t)63, 1);
  *f = *r;
  f->x.run = f;
  f->feed.ctx = f;
  f->feed.watch = NULL; /* one thread reports progress */
  f->ctas = r->ctas + first;
  f->clusters = r->clusters + first;
  for (uint32_t i = 0; i < slots; i++) f->ctas[i].slot = i;
  f->warps = r->warps + (size_t)first * r->fk.warps_per_cta;
  f->slots = slots;
  f->ranges = mem_alloc(r->m->members * sizeof *f->ranges);
  memcpy(f->ranges, r->ranges, r->m->members * sizeof *f->ranges);
  f->tokens = NULL;
  f->ntokens = f->free_token = 0;
  f->later = NULL;
  f->ahead = false;
  return f;
}

static void join_run(struct simt_run *r, struct simt_run *f) {
  r->instructions += f->instructions;
  r->grown |= f->grown;
  later_free(f);
  free(f->ranges);
  free(f->tokens);
  free(f);
}

void simt_share(struct simt_run *r, uint32_t first, uint32_t n, struct feed **out) {
  CHECK(first + n <= r->slots, "%u workers from slot %u of %u", n, first, r->slots);
  if (!r->s->granules) r->s->granules = mem_zeroed(GRANULE_LOCKS, sizeof *r->s->granules);
  r->forks = mem_alloc(n * sizeof *r->forks);
  r->nforks = n;
  for (uint32_t i = 0; i < n; i++) {
    struct simt_run *f = r->forks[i] = fork_run(r, first + i, 1);
    f->granules = n > 1 ? r->s->granules : NULL;
    out[i] = &f->feed;
  }
}

static void classify(struct simt_kernel *k) {
  if (k->sm_threads != THREADS_UNKNOWN) return;
  k->ordered = !kernel_has(k, UNORDERED);
  bool one = kernel_has(k, IN_STEP) || (!k->ordered && kernel_has(k, POSTED));
  k->sm_threads = one ? THREADS_ONE : THREADS_MANY;
}

/* SMs within a few cycles of each other run in any order: loads and stores of global memory are put in order, or stores
 * must not be to what others load. */
bool workers_share(void *ctx, uint32_t n, const uint64_t *const *now, const struct feed **out) {
  struct simt_run *r = ctx;
  struct simt_kernel *k = r->k;
  classify(k);
  if (r->check || r->fk.cluster > 1 || r->forks || k->sm_threads == THREADS_ONE || n > LATER_THREADS) return false;
  if (k->mixes && !k->ordered) return false;
  k->apart = r->timed = true;
  r->forks = mem_alloc(n * sizeof *r->forks);
  r->nforks = n;
  if (k->ordered) r->written = mem_zeroed(1, sizeof *r->written);
  for (uint32_t i = 0; i < n; i++) {
    struct simt_run *f = r->forks[i] = fork_run(r, 0, r->slots);
    if (k->ordered) f->later = mem_zeroed(1, sizeof *f->later), f->later->now = now[i];
    out[i] = &f->feed;
  }
  return true;
}

void simt_fault(struct simt_run *r, const struct feed_fault *f) {
  r->fault = *f;
}

void workers_end(struct simt_run *r) {
  if (r->timed) r->k->mixes = !r->k->apart;
  for (uint32_t i = 0; i < r->nforks; i++) join_run(r, r->forks[i]);
  free(r->forks);
  free(r->written);
  r->forks = NULL;
  r->written = NULL;
  r->nforks = 0;
}

static void *work(void *ctx) {
  struct worker *w = ctx;
  pthread_mutex_lock(&w->g->lock); /* until it is known how many threads there are */
  pthread_mutex_unlock(&w->g->lock);
  w->failed = !run_ctas(w->r, w->g, &w->n, &w->e);
  if (w->failed) workers_failed(w->g, w->r, 0, &w->e);
  return NULL;
}

void workers_failed(struct grid *g, const struct simt_run *r, uint32_t id, const struct err *e) {
  pthread_mutex_lock(&g->lock);
  if (id < atomic_load(&g->stop)) {
    atomic_store(&g->stop, id);
    g->fault = r->fault;
    g->e = *e;
  }
  pthread_mutex_unlock(&g->lock);
}

static void share_slots(struct simt_run *r, struct worker *w, uint32_t n) {
  uint32_t first = 0, all = r->slots;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t slots = all / n + (i < all % n);
    w[i].r = i ? fork_run(r, first, slots) : r;
    first += slots;
  }
  r->slots = all / n + (all % n != 0);
}

static void start_workers(struct simt_run *r, struct grid *g, struct worker *w) {
  uint32_t n = 1;
  pthread_mutex_lock(&g->lock);
  for (uint32_t i = 0; i < g->workers; i++) w[i] = (struct worker){.g = g};
  while (n < g->workers && thread_start(&w[n].thread, work, &w[n])) n++;
  g->workers = n;
  g->together = r->s->turn && !g->apart;
  if (g->together) pthread_barrier_init(&g->turn_ends, NULL, n);
  share_slots(r, w, n);
  pthread_mutex_unlock(&g->lock);
}

bool workers_run(struct simt_run *r, struct grid *g, struct simt_counts *n, struct err *e) {
  struct worker w[MOST_WORKERS];
  uint32_t slots = r->slots;
  if (!r->s->granules) r->s->granules = mem_zeroed(GRANULE_LOCKS, sizeof *r->s->granules);
  r->granules = r->s->granules;
  pthread_mutex_init(&g->lock, NULL);
  start_workers(r, g, w);
  work(&w[0]);
  for (uint32_t i = 1; i < g->workers; i++) pthread_join(w[i].thread, NULL);
  if (g->together) pthread_barrier_destroy(&g->turn_ends);
  for (uint32_t i = 0; i < g->workers; i++) {
    n->warp_insts += w[i].n.warp_insts;
    n->thread_insts += w[i].n.thread_insts;
    if (i) join_run(r, w[i].r);
  }
  pthread_mutex_destroy(&g->lock);
  r->slots = slots;
  for (uint32_t i = 0; i < slots; i++) r->ctas[i].slot = i;
  r->granules = NULL;
  if (atomic_load(&g->stop) == NO_CTA) return true;
  r->fault = g->fault;
  r->x.fault = g->fault.text[0] != 0;
  *e = g->e;
  return false;
}
