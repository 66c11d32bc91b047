/* run.c - one launch: memory for its CTA slots, the feed that the timing model drives, the functional mode. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "simt/core/memory.h"
#include "simt/core/run.h"
#include "simt/core/machine.h"
#include "simt/run/grid.h"

enum {
  RECURSION_LOCAL = 64 * 1024,
  RECURSION_FRAMES = 256 * 1024,
  QUANTUM = 4096,
  CTA_BUDGET = 1 << 22,
  CLUSTER_BUDGET = 1 << 16, /* CTAs of a cluster wait for each other often */
  MANY_TURNS = 8,
  FAIR_TURN = 4096,
  FAIR_WARP = 512, /* for a warp within its CTA's turn */
  STRONG_COST = 64 /* cost of a volatile access or an atomic: spinning warps yield soon */
};

bool atom_perform(struct exec *x, struct token *t, uint32_t lanes);

/* ---- the feed ---- */

static void run_feed_start(void *ctx, uint32_t slot, uint32_t id, uint32_t sm, uint32_t first_warp) {
  struct simt_run *r = ctx;
  struct cta *c = &r->ctas[slot];
  c->id = id;
  c->sm = sm;
  c->first_warp = first_warp;
  c->live_warps = r->fk.warps_per_cta;
  c->waiting = 0;
  c->running = true;
  memset(c->bars, 0, sizeof c->bars);
  memset(c->shared, 0, r->fk.shared_bytes);
  cluster_start_cta(r, c);
  if (r->check) check_cta_start(r, c);
  uint32_t high = c->local_high < r->local_stride ? c->local_high : r->local_stride;
  for (uint32_t t = 0; high && t < r->fk.warps_per_cta * LANES; t++)
    memset(c->local + (size_t)t * r->local_stride, 0, high);
  c->local_high = r->k->func->total_local;
  for (uint32_t w = 0; w < r->fk.warps_per_cta; w++) warp_start(r, c, w);
}

/* What the handlers of instructions work on: warp `w` of CTA `c`, at entry `e` of its divergence stack. */
static inline void run_enter(struct exec *x, struct warp *w, struct cta *c, struct entry *e, struct issued *out) {
  x->base[0] = w->regs + e->frame;
  x->out = out;
  x->w = w;
  x->cta = c;
  x->e = e;
}

static bool run_feed_issue(void *ctx, uint32_t slot, uint32_t index, struct issued *out) {
  struct simt_run *r = ctx;
  struct exec *x = &r->x;
  struct cta *c = &r->ctas[slot];
  struct warp *w = &r->warps[(size_t)slot * r->fk.warps_per_cta + index];
  struct entry *e = &w->stack[w->sp - 1];
  const struct xop *o = &x->ops[e->pc];
  uint32_t mask = e->mask;
  run_enter(x, w, c, e, out);
  out->active = mask;
  if (o->guard != OFF_NONE) mask &= *(uint32_t *)(x->base[0] + o->guard) ^ -(uint32_t)o->guard_neg;
  out->mask = mask;
  out->waits = false;
  out->token = 0;
  out->released = 0;
  out->peers = 0;
  out->remote = 0;
  if (o->cls <= XC_MEMORY) {
    if (mask) o->fn(x, o, mask);
    if (++e->pc == e->rpc && !e->call) {
      warp_settle(x, w);
      e = &w->stack[w->sp - 1];
    }
    out->next_pc = e->pc;
    return !x->fault;
  }
  if (o->cls == XC_BARRIER) barrier_arrive(x, o, mask), warp_settle(x, w);
  else warp_control(x, o, mask);
  if (w->sp) {
    out->next_pc = w->stack[w->sp - 1].pc;
  } else {
    out->next_pc = FEED_DONE;
    barrier_warp_done(x);
  }
  return !x->fault;
}

/* All other warps run between two instructions of a warp, and their data exceeds the host's L2. Registers are not
 * prefetched: that was 2 to 7 % slower. */
static void feed_soon(void *ctx, uint32_t slot, uint32_t index) {
  struct simt_run *r = ctx;
  const struct warp *w = &r->warps[(size_t)slot * r->fk.warps_per_cta + index];
  const struct entry *e = &w->stack[w->sp - 1];
  const struct xop *o = &r->x.ops[e->pc];
  if (o->cls != XC_MEMORY || o->space != SPACE_GLOBAL || !(o->flags & XF_ADDR64) || o->a & OFF_CONST) return;
  const uint64_t *addr = (const uint64_t *)(w->regs + e->frame + o->a);
  uint64_t delta = r->ranges[e->pc].delta + o->imm;
  __builtin_prefetch((const char *)(addr[0] + delta));
  __builtin_prefetch((const char *)(addr[LANES - 1] + delta));
}

bool simt_atomic(struct simt_run *r, uint32_t token, uint32_t lanes) {
  struct token *t = &r->tokens[token];
  bool ok = atom_perform(&r->x, t, lanes & t->lanes);
  t->pending &= ~lanes;
  if (!t->pending) {
    t->next = r->free_token;
    r->free_token = token;
  }
  return ok;
}

static bool run_feed_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  return simt_atomic(ctx, token, lanes);
}

/* SMs that run ahead of each other post in the order of their cycles. */
static bool run_feed_posted(void *ctx, uint32_t token, uint32_t lanes) {
  struct simt_run *r = ctx;
  if (!r->ahead) return simt_atomic(r, token, lanes);
  later_post(r, token, lanes);
  return true;
}

static void run_feed_end(void *ctx, uint32_t slot) {
  struct simt_run *r = ctx;
  r->ctas[slot].running = false;
  cluster_end_cta(r, &r->ctas[slot]);
}

/* Its own, or that of a feed that shares the launch. */
static const struct feed_fault *run_feed_fault(void *ctx) {
  const struct simt_run *r = ctx;
  for (uint32_t i = 0; !r->fault.cuda_error && i < r->nforks; i++)
    if (r->forks[i]->fault.cuda_error) return &r->forks[i]->fault;
  return &r->fault;
}

static bool run_feed_apart(void *ctx) {
  const struct simt_run *r = ctx;
  return r->written || __atomic_load_n(&r->k->apart, __ATOMIC_RELAXED);
}

static void run_feed_window(void *ctx, bool begins) {
  struct simt_run *r = ctx;
  if (r->written) later_window(r, begins);
}

static void run_feed_settle(void *ctx, uint64_t now) {
  struct simt_run *r = ctx;
  if (r->written) later_settle(r, now);
}

static bool run_feed_data(void *ctx, uint64_t addr, uint32_t bytes, void *out) {
  const struct simt_run *r = ctx;
  memset(out, 0, bytes);
  for (uint32_t at = 0; at < bytes;) {
    const struct mem_block *b = mem_block_at(r->s, addr + at);
    const struct simt_alloc *next = b ? NULL : simt_mem_after(r->s, addr + at);
    uint64_t left = bytes - at, n = b ? b->a.bytes - (addr + at - b->a.base) : next ? next->base - (addr + at) : left;
    if (n > left) n = left;
    if (b) memcpy((char *)out + at, (const void *)(uintptr_t)(addr + at + b->delta), n);
    at += (uint32_t)n;
  }
  return true;
}

static const struct feed_ops feed_operations = {.start_cta = run_feed_start,
                                                .issue = run_feed_issue,
                                                .soon = feed_soon,
                                                .atomic = run_feed_atomic,
                                                .posted = run_feed_posted,
                                                .end_cta = run_feed_end,
                                                .fault = run_feed_fault,
                                                .data = run_feed_data,
                                                .share = workers_share,
                                                .window = run_feed_window,
                                                .settle = run_feed_settle,
                                                .apart = run_feed_apart};

/* ---- set-up ---- */

/* Zeroed memory of a launch: from the heap, or mapped if most of it will stay untouched (stacks for recursion). */
enum { FROM_HEAP = 4 << 20, LINE = 128 };

static char *get_memory(size_t bytes) {
  if (bytes <= FROM_HEAP) {
    char *p = aligned_alloc(LINE, (bytes + LINE) & ~(size_t)(LINE - 1));
    return p ? memset(p, 0, bytes) : NULL;
  }
  char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static void put_memory(char *p, size_t bytes) {
  if (bytes <= FROM_HEAP) free(p);
  else if (p) munmap(p, bytes);
}

static bool check_launch(const struct simt_launch *l, struct err *e) {
  const struct simt_kernel_info *k = &l->kernel->info;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2],
           ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  if (!threads || !ctas) return err_set(e, ERR_PROGRAM, "launch of %s with an empty grid or block", k->name);
  if (threads > 1024 || threads > k->max_threads)
    return err_set(e, ERR_PROGRAM, "launch of %s with %llu threads per block; it allows %u", k->name,
                   (unsigned long long)threads, k->max_threads < 1024 ? k->max_threads : 1024);
  if ((uint64_t)k->static_shared + l->dynamic_shared > PTX_SHARED_MOST)
    return err_set(e, ERR_PROGRAM, "launch of %s with %u + %u bytes of shared memory", k->name, k->static_shared,
                   l->dynamic_shared);
  const uint32_t *d = l->cluster;
  if (d[0] && (l->grid[0] % d[0] || l->grid[1] % d[1] || l->grid[2] % d[2] || d[0] * d[1] * d[2] > CLUSTER_MOST))
    return err_set(e, ERR_PROGRAM,
                   "launch of %s: a grid of %ux%ux%u is not made of clusters of %ux%ux%u CTAs, at most %d", k->name,
                   l->grid[0], l->grid[1], l->grid[2], d[0], d[1], d[2], CLUSTER_MOST);
  if (ctas > UINT32_MAX)
    return err_set(e, ERR_PROGRAM, "launch of %s with %llu blocks; the limit is 2^32 - 1", k->name,
                   (unsigned long long)ctas);
  return true;
}

static void fill_tids(struct simt_run *r) {
  const uint32_t *b = r->fk.block;
  for (uint32_t t = 0; t < r->fk.warps_per_cta * LANES; t++) {
    r->tids[t / LANES][0][t % LANES] = t % b[0];
    r->tids[t / LANES][1][t % LANES] = t / b[0] % b[1];
    r->tids[t / LANES][2][t % LANES] = t / b[0] / b[1];
  }
}

static void fill_feed(struct simt_run *r, const struct simt_launch *l) {
  const struct simt_kernel *k = l->kernel;
  struct feed_kernel *f = &r->fk;
  *f = (struct feed_kernel){.name = k->info.name,
                            .code = r->m->code,
                            .insts = r->m->ninsts,
                            .entry_pc = k->func->entry,
                            .regs_per_thread = k->set_regs ? k->set_regs : k->info.regs,
                            .local_bytes = r->local_stride,
                            .param_base = 0};
  if (l->reg_limit && f->regs_per_thread > l->reg_limit) f->regs_per_thread = l->reg_limit;
  f->files = r->m->ptx->files;
  f->nfiles = r->m->ptx->nfiles;
  memcpy(f->grid, l->grid, sizeof f->grid);
  memcpy(f->block, l->block, sizeof f->block);
  f->ctas = l->grid[0] * l->grid[1] * l->grid[2];
  f->cluster = r->launch.cluster[0] * r->launch.cluster[1] * r->launch.cluster[2];
  f->threads_per_cta = l->block[0] * l->block[1] * l->block[2];
  f->warps_per_cta = (f->threads_per_cta + LANES - 1) / LANES;
  f->shared_bytes = k->info.static_shared;
  if (l->dynamic_shared) f->shared_bytes = ((f->shared_bytes + 15) & ~15u) + l->dynamic_shared;
  for (uint32_t i = 0; i < r->m->nfuncs; i++)
    if (r->m->funcs[i].f->nregs > f->max_reg) f->max_reg = r->m->funcs[i].f->nregs;
}

static bool allocate_warps(struct simt_run *r, struct err *e) {
  const struct xfunc *f = r->k->func;
  uint32_t wpc = r->fk.warps_per_cta, warps = r->slots * wpc;
  uint32_t frame = f->total_frame + (f->recursive ? RECURSION_FRAMES : 0) + 128;
  r->shared_stride = (r->fk.shared_bytes + 127) & ~127u;
  r->regs_bytes = (size_t)warps * frame;
  r->locals_bytes = (size_t)warps * LANES * r->local_stride;
  r->shareds_bytes = (size_t)r->slots * r->shared_stride;
  r->regs = get_memory(r->regs_bytes);
  r->locals = get_memory(r->locals_bytes);
  r->shareds = get_memory(r->shareds_bytes);
  r->ctas = mem_zeroed(r->slots, sizeof *r->ctas);
  r->clusters = mem_zeroed(r->slots, sizeof *r->clusters);
  r->warps_block = mem_zeroed(1, warps * sizeof *r->warps + 63);
  r->warps = (struct warp *)(((uintptr_t)r->warps_block + 63) & ~(uintptr_t)63);
  r->tids = mem_lines(wpc * sizeof *r->tids, 1);
  r->ranges = mem_zeroed(r->m->members, sizeof *r->ranges);
  r->params = mem_zeroed(1, r->k->info.param_block_bytes + 16);
  if (!r->regs || !r->locals || !r->shareds || !r->ctas || !r->clusters || !r->warps_block || !r->tids || !r->ranges ||
      !r->params)
    return err_set(e, ERR_INTERNAL, "not enough memory for the state of %u CTAs of %s", r->slots, r->fk.name);
  for (uint32_t s = 0; s < r->slots; s++) {
    struct cta *c = &r->ctas[s];
    c->slot = s;
    c->shared = r->shareds + (size_t)s * r->shared_stride;
    c->local = r->locals + (size_t)s * wpc * LANES * r->local_stride;
    c->warps = r->warps + (size_t)s * wpc;
    for (uint32_t w = 0; w < wpc; w++) {
      struct warp *q = &c->warps[w];
      q->regs = r->regs + ((size_t)s * wpc + w) * frame;
      q->reg_bytes = frame;
      q->stack = q->own;
      q->cap = OWN_ENTRIES;
    }
  }
  return true;
}

struct simt_run *simt_begin(struct simt *s, const struct simt_launch *l, uint32_t cta_slots, struct err *e) {
  if (!check_launch(l, e)) return NULL;
  struct simt_run *r = mem_lines((sizeof *r + 63) & ~(size_t)63, 1);
  memset(r, 0, sizeof *r);
  r->s = s;
  r->k = l->kernel;
  r->m = l->kernel->m;
  r->launch = *l;
  r->number = ++s->launches;
  r->slots = cta_slots ? cta_slots : 1;
  uint32_t *d = r->launch.cluster;
  r->launch.in_clusters = d[0] != 0;
  for (int k = 0; k < 3; k++)
    if (!d[k]) d[k] = 1;
  if (r->slots < d[0] * d[1] * d[2]) r->slots = d[0] * d[1] * d[2];
  const struct xfunc *f = r->k->func;
  r->local_stride = (f->total_local + (f->recursive ? RECURSION_LOCAL : 0) + 15) & ~15u;
  fill_feed(r, l);
  if (!allocate_warps(r, e)) {
    simt_end(r);
    return NULL;
  }
  fill_tids(r);
  if (l->params) memcpy(r->params, l->params, r->k->info.param_block_bytes);
  r->check = check_run_new(r);
  r->fast_shared = r->check && !check_is_fast(s) ? 0 : r->fk.shared_bytes;
  r->fast_local = r->check && !check_is_fast(s) ? 0 : r->local_stride;
  r->x = (struct exec){.run = r, .ops = r->m->ops};
  r->x.base[1] = r->m->pool;
  r->feed = (struct feed){.ops = &feed_operations, .ctx = r, .kernel = &r->fk};
  return r;
}

struct feed *simt_feed(struct simt_run *r) {
  return &r->feed;
}

void simt_end(struct simt_run *r) {
  if (!r) return;
  fflush(r->s->out);
  workers_end(r);
  for (uint32_t w = 0; r->grown && w < r->slots * r->fk.warps_per_cta; w++)
    if (r->warps[w].stack != r->warps[w].own) free(r->warps[w].stack);
  put_memory(r->regs, r->regs_bytes);
  put_memory(r->locals, r->locals_bytes);
  put_memory(r->shareds, r->shareds_bytes);
  check_run_free(r->check, r->s);
  children_free(r);
  free(r->ctas);
  free(r->clusters);
  free(r->warps_block);
  free(r->tids);
  free(r->ranges);
  free(r->params);
  free(r->tokens);
  free(r);
}

/* ---- functional mode ---- */

/* Up to `budget` instructions of one warp; stops at barriers and the end; in its first turns also before a store and
 * at the branch after it. Returns the number executed. */
static uint64_t run_warp(struct simt_run *r, struct cta *c, struct warp *w, uint64_t budget, struct simt_counts *n) {
  struct exec *x = &r->x;
  struct issued *out = &r->scratch;
  uint64_t done = 0, charge = 0;
  bool stored = false;
  while (done + charge < budget) {
    struct entry *e = &w->stack[w->sp - 1];
    const struct xop *o = &x->ops[e->pc];
    if (c->young) {
      if (c->young == FIRST_TURNS && o->publishes && done) break;
      if (c->young < FIRST_TURNS && stored && o->cls > XC_MEMORY) break;
      stored |= o->publishes;
    }
    if (o->strong && r->s->turn) charge += STRONG_COST;
    if (o->straight) { /* no use of the divergence stack */
      const struct xop *first = o;
      uint32_t mask = e->mask;
      run_enter(x, w, c, e, out);
      out->cycle = (r->instructions + done) * FEED_FUNCTIONAL_CYCLES;
      do {
        o->fn(x, o, mask);
        o++;
      } while (o->straight);
      uint64_t k = (uint64_t)(o - first);
      e->pc += (uint32_t)k;
      done += k;
      n->thread_insts += k * (uint32_t)__builtin_popcount(mask);
      if (x->fault) break;
      continue;
    }
    out->cycle = (r->instructions + done) * FEED_FUNCTIONAL_CYCLES;
    bool ok = run_feed_issue(r, c->slot, w->index, out);
    done++;
    n->thread_insts += (uint32_t)__builtin_popcount(out->mask);
    if (ok && out->token) ok = simt_atomic(r, out->token, out->mask);
    if (!ok || out->next_pc == FEED_DONE || w->waiting) break;
  }
  r->charged += charge;
  n->warp_insts += done;
  return done;
}

static bool report_stuck(struct simt_run *r, struct cta *c, struct err *e) {
  char list[400];
  int at = 0;
  for (uint32_t w = 0; w < r->fk.warps_per_cta && at < 300; w++)
    if (c->warps[w].sp)
      at += snprintf(list + at, sizeof list - (size_t)at, "%s warp %u at barrier %u (PTX line %u)", at ? "," : "", w,
                     c->warps[w].bar, r->m->code[c->warps[w].bar_pc].ptx_line);
  return err_set(e, ERR_STUCK, "kernel %s: CTA (%u,%u,%u) waits for ever:%s", r->fk.name, c->ctaid[0], c->ctaid[1],
                 c->ctaid[2], list);
}

static bool report_endless(struct simt_run *r, uint64_t insts, struct err *e) {
  enum { SHOWN = 8 };
  char list[1200] = "";
  size_t at = 0;
  uint32_t shown = 0;
  for (uint32_t s = 0; s < r->slots; s++) {
    const struct cta *c = &r->ctas[s];
    for (uint32_t w = 0; c->running && w < r->fk.warps_per_cta && shown < SHOWN; w++) {
      const struct warp *q = &c->warps[w];
      if (!q->sp) continue;
      uint32_t pc = q->waiting ? q->bar_pc : q->stack[q->sp - 1].pc;
      at += (size_t)snprintf(list + at, sizeof list - at, "\n  block (%u,%u,%u) warp %u: PTX line %u, %s", c->ctaid[0],
                             c->ctaid[1], c->ctaid[2], w, r->m->code[pc].ptx_line,
                             q->waiting ? "waits at a barrier" : "runs");
      shown++;
    }
  }
  return err_set(
      e, ERR_STUCK,
      "kernel %s makes no progress: warps issue, but no block ended for %llu warp instructions (--watchdog N "
      "waits for N)%s",
      r->fk.name, (unsigned long long)insts, list);
}

/* One round over the warps of a CTA. *finished: no warp has work left; *waits: none can continue before another CTA
 * does.
 */
static bool run_round(struct simt_run *r, struct cta *c, struct simt_counts *n, bool *finished, bool *waits,
                      struct err *e) {
  bool ran = false, left = false;
  for (uint32_t w = 0; w < r->fk.warps_per_cta; w++) {
    struct warp *q = &c->warps[w];
    if (!q->sp) continue;
    left = true;
    if (q->waiting) continue;
    ran = true;
    r->instructions += run_warp(r, c, q, r->s->turn ? FAIR_WARP : QUANTUM, n);
    if (r->x.fault)
      return err_set(e, r->fault.cuda_error == FEED_UNSUPPORTED ? ERR_UNSUPPORTED : ERR_PROGRAM, "%s", r->fault.text);
  }
  *finished = !left;
  if (!left || ran) return true;
  *waits = c->cluster_waiting && !c->waiting; /* wait for CTAs of its cluster, in other turns */
  return *waits || report_stuck(r, c, e);
}

void simt_set_watchdog(struct simt *s, uint64_t warp_insts) {
  s->watchdog = warp_insts;
}

void simt_set_clock(struct simt *s, uint32_t core_mhz) {
  s->core_mhz = core_mhz;
}

bool simt_interleave_parse(const char *text, uint32_t *turn, struct err *e) {
  *turn = FAIR_TURN;
  if (!text || !*text || !strcmp(text, "fair")) return true;
  char *end = NULL;
  unsigned long n = !strncmp(text, "fair=", 5) && text[5] >= '0' && text[5] <= '9' ? strtoul(text + 5, &end, 10) : 0;
  if (strcmp(text, "none") && (!end || *end || !n || n > UINT32_MAX))
    return err_set(e, ERR_USAGE, "--interleave needs none, fair or fair=N, warp instructions of a CTA's turn, not '%s'",
                   text);
  *turn = (uint32_t)n;
  return true;
}

void simt_back_end(struct simt *s, uint32_t sm) {
  s->back_sm = sm;
}

void simt_interleave(struct simt *s, uint32_t turn) {
  s->turn = turn;
}

/* A worker's turns over its slots. */
struct turns {
  struct simt_run *r;
  struct grid *g;
  struct simt_counts *n;
  uint64_t budget, watchdog, progress; /* warp instructions: of a turn, without an ended CTA; when the last one ended */
  uint32_t live, ended;                /* CTAs on the slots; of the grid, when `progress` was set */
  bool apart;                          /* the launch before stored to no allocation that it loaded from */
  struct cta *waiting;                 /* for another CTA of its cluster, in this round */
};

static bool start_next(struct turns *t, uint32_t slot) {
  struct grid *g = t->g;
  uint32_t id = (uint32_t)atomic_fetch_add_explicit(&g->next, 1, memory_order_relaxed);
  if (id >= t->r->fk.ctas || (g->workers > 1 && id >= atomic_load(&g->stop))) {
    atomic_store_explicit(&g->next, t->r->fk.ctas, memory_order_relaxed);
    return false;
  }
  struct cta *c = &t->r->ctas[slot];
  run_feed_start(t->r, slot, id, c->slot, 0);
  bool apart = t->apart && __atomic_load_n(&t->r->k->apart, __ATOMIC_RELAXED);
  c->young = t->r->s->turn && !apart ? FIRST_TURNS : 0;
  t->live++;
  return true;
}

static void end_cta(struct turns *t, uint32_t slot) {
  struct simt_run *r = t->r;
  t->progress = r->instructions;
  t->live--;
  t->ended = (uint32_t)atomic_fetch_add_explicit(&t->g->ended, 1, memory_order_relaxed) + 1;
  run_feed_end(r, slot);
  if (!r->feed.watch) return;
  r->feed.watch->ended = t->ended;
  feed_look(&r->feed);
}

/* CTAs of other workers end, too. */
static bool is_stuck(struct turns *t) {
  if (t->r->instructions - t->progress <= t->watchdog) return false;
  uint32_t ended = (uint32_t)atomic_load_explicit(&t->g->ended, memory_order_relaxed);
  if (t->g->workers == 1 || ended == t->ended) return true;
  t->ended = ended;
  t->progress = t->r->instructions;
  return false;
}

static bool run_turn(struct turns *t, uint32_t slot, bool *finished, struct err *e) {
  struct simt_run *r = t->r;
  struct cta *c = &r->ctas[slot];
  uint64_t limit = r->instructions + r->charged + (c->young ? 1 : t->budget);
  bool ok = true, waits = false, stuck = false;
  *finished = false;
  while (ok && !*finished && !waits && r->instructions + r->charged < limit && !(stuck = is_stuck(t)))
    ok = run_round(r, c, t->n, finished, &waits, e);
  if (c->young) c->young--;
  if (waits) t->waiting = c;
  if (ok && !*finished && stuck) ok = report_endless(r, r->instructions - t->progress, e);
  return ok;
}

/* Of one worker, a fault ends the launch; of several, CTAs before that one come first. */
static bool pass_fault(struct turns *t, uint32_t slot, struct err *e) {
  struct cta *c = &t->r->ctas[slot];
  if (t->g->workers == 1) return false;
  workers_failed(t->g, t->r, c->id, e);
  c->running = t->r->x.fault = false;
  t->live--;
  if (t->watchdog > CTA_BUDGET) t->watchdog = CTA_BUDGET; /* they may wait for it */
  return true;
}

static bool run_slot(struct turns *t, uint32_t slot, struct err *e) {
  struct cta *c = &t->r->ctas[slot];
  bool finished;
  do { /* a slot is used again at once: its memory is warm */
    if (!c->running && !start_next(t, slot)) return true;
    if (t->g->workers > 1 && c->id > atomic_load_explicit(&t->g->stop, memory_order_relaxed)) {
      c->running = false;
      t->live--;
      return true;
    }
    if (!run_turn(t, slot, &finished, e)) return pass_fault(t, slot, e);
    if (finished) end_cta(t, slot);
  } while (finished && t->r->fk.cluster == 1);
  return true;
}

bool run_ctas(struct simt_run *r, struct grid *g, struct simt_counts *n, struct err *e) {
  struct turns t = {.r = r, .g = g, .n = n, .progress = r->instructions, .apart = g->apart};
  t.budget = r->fk.cluster > 1 ? CLUSTER_BUDGET : CTA_BUDGET;
  if (r->s->turn && r->s->turn < t.budget) t.budget = r->s->turn;
  t.watchdog = r->s->watchdog ? r->s->watchdog : FEED_WATCHDOG;
  if (!r->s->watchdog && r->s->turn) t.watchdog *= r->slots < MANY_TURNS ? r->slots : MANY_TURNS; /* all end late */
  bool ok = true;
  uint32_t round = 0;
  while (ok && (t.live || atomic_load_explicit(&g->next, memory_order_relaxed) < r->fk.ctas)) {
    uint64_t before = r->instructions;
    t.waiting = NULL;
    for (uint32_t s = 0; ok && s < r->slots; s++)
      ok = run_slot(&t, s, e); /* CTAs that spin on others share the slots */
    if (ok && t.waiting && r->instructions == before) ok = report_stuck(r, t.waiting, e);
    if (g->together && round++ < FIRST_TURNS) pthread_barrier_wait(&g->turn_ends);
  }
  while (g->together && round++ < FIRST_TURNS) pthread_barrier_wait(&g->turn_ends);
  return ok;
}

/* Fair turns (simt_interleave): a starting CTA gets two short turns. In the first, each warp stops before it stores to
 * global memory; in the second, at the branch after that. So all resident warps have done their first reads before one
 * writes, and those writes before one reads again: on a GPU the latency of memory exceeds the time to start all CTAs.
 * Programs that mark a graph's nodes in one array for this level and the next rely on this. A kernel that stored to no
 * allocation that it loads from, last time and so far, skips this. */
bool simt_run(struct simt_run *r, struct simt_counts *out, struct err *e) {
  struct simt_counts n = {0};
  struct grid g = {.workers = workers_for(r), .stop = NO_CTA, .apart = r->k->apart};
  r->k->apart = true;
  bool ok = g.workers > 1 ? workers_run(r, &g, &n, e) : run_ctas(r, &g, &n, e);
  simt_note(r, n.warp_insts);
  if (out) *out = n;
  return ok;
}
