/* poise.c - Poise without its prediction: a search for the warps that run and, of them, those that may take lines.
 *
 * Paper: Dublish, Nagarajan, Topham, "Poise: Balancing Thread-Level Parallelism and Memory System Performance in GPUs
 * using Machine Learning", HPCA 2019.
 *
 * What was at hand: the abstract and others' summaries, not the paper's sections: two numbers per SM, N vital warps
 * that issue and p polluting warps of them that may allocate in the L1; a regression, trained before, that predicts
 * both at run time from sampled features; a local search from there.
 *
 * Left out: the regression. Its weights are in no text that was at hand, and those of another machine would not be the
 * paper's. The search therefore begins at a stated tuple, by default at all warps, and its first strides are longer.
 *
 * What is built: an SM measures the warp instructions of `measure` quanta after one that is not counted. It moves N,
 * then p, by a stride: down as long as that is better, else up; then half the stride, until that was one. The best
 * tuple holds until the `period` is over; the next search begins at it.
 *
 * Choices: N is split over the schedulers as the limit of `swl`. Vital warps are the oldest that wait for no barrier,
 * fence or atomic; polluting ones are the oldest that run. As many as ran when the search began are no limit. The
 * misses of the others bypass the L1; they hit and merge. A launch begins at the start again, after `warmup` quanta:
 * while its caches are cold, every later trial looks better. The first stride is a quarter of the running warps at
 * most. Lengths and strides are choices of this file.
 */
#include "schemes/lib/oldest.h"

enum { POISE_N, POISE_P, POISE_STRIDE, POISE_QUANTUM, POISE_MEASURE, POISE_PERIOD, POISE_WARMUP };
enum { POISE_PART = 4 }; /* the first stride is this part of the running warps at most */
static const struct scheme_param params[] = {
    {"n", "warp", "vital warps of an SM at the start; 0: all", 0, 64, 0, true},
    {"p", "warp", "polluting warps of an SM at the start; 0: all vital ones", 0, 64, 0, true},
    {"stride", "warp", "first stride of the search; 0: none, n and p stay", 0, 32, 8, true},
    {"quantum", "core cycle", "time between two looks at the SMs", 100, 1e6, 1000, true},
    {"measure", "quantum", "counted quanta of a trial", 1, 1000, 2, true},
    {"period", "quantum", "from a search's end to the next one; 0: one search in a launch", 0, 1e6, 200, true},
    {"warmup", "quantum", "of an SM's launch before its first search", 0, 1e6, 10, true},
    {0},
};
enum { LOOKS, TRIALS, MOVES, SEARCHES, N_SUM, P_SUM, DENIED };
static const struct scheme_counter counters[] = {
    {"looks", "quantum", "looks at SMs with warps", true},
    {"trials", "trial", "tuples tried", false},
    {"moves", "trial", "of them, better ones", false},
    {"searches", "search", "searches that ended", false},
    {"n_sum", "warp", "vital warps found: divide by searches for their mean", false},
    {"p_sum", "warp", "polluting warps found: divide by searches for their mean", false},
    {"denied", "access", "accesses of warps that may not allocate, which bypassed the L1", false},
    {0},
};

struct poise_tuple {
  uint32_t n, p;
};
enum poise_phase { POISE_BEGIN, POISE_SEARCH, POISE_HOLD };
struct poise_sm {
  struct poise_tuple now, best; /* n 0: no limit yet */
  uint64_t best_work, from;     /* warp instructions of the best trial; at the start of this one */
  enum poise_phase phase;
  uint32_t most;   /* warps that ran when the search began */
  uint32_t left;   /* quanta of this trial or of the rest */
  uint32_t waited; /* quanta since the launch began */
  uint32_t stride;
  bool on_p, up, moved, first; /* which number moves; where to; this way was better; the start is being measured */
  uint64_t of, vital;          /* the vital warps of `of`; 0: to be found */
  uint64_t running, polluting; /* the polluting warps of `running`; 0: to be found */
};

static void poise_apply(const struct scheme_ctx *c, struct poise_sm *s, struct poise_tuple t) {
  s->now = t;
  s->of = s->running = 0;
  s->left = (uint32_t)c->param[POISE_MEASURE] + 1;
}

static void poise_on_kernel(struct scheme_ctx *c) {
  for (uint32_t i = 0; i < c->config->sms; i++) *SCHEME_SM(c, struct poise_sm, i) = (struct poise_sm){0};
}

/* ---- the search ---- */

static void poise_begin(struct scheme_ctx *c, struct poise_sm *s, uint64_t running) {
  bool again = s->best.n != 0;
  uint32_t n = again ? s->best.n : (uint32_t)c->param[POISE_N], p = again ? s->best.p : (uint32_t)c->param[POISE_P];
  s->most = (uint32_t)__builtin_popcountll(running);
  if (!n || n > s->most) n = s->most;
  if (!p || p > n) p = n;
  s->stride = (uint32_t)c->param[POISE_STRIDE];
  if (s->stride > s->most / POISE_PART) s->stride = s->most > POISE_PART ? s->most / POISE_PART : s->stride > 0;
  s->on_p = s->up = s->moved = false;
  s->first = true;
  s->phase = POISE_SEARCH;
  poise_apply(c, s, (struct poise_tuple){n, p});
}

/* This way is at its end: the other way, the other number, or half the stride. */
static void poise_turn(struct poise_sm *s) {
  if (!s->up && !s->moved) {
    s->up = true;
    return;
  }
  if (s->on_p) s->stride /= 2;
  s->on_p = !s->on_p;
  s->up = s->moved = false;
}

static uint32_t poise_moved(const struct poise_sm *s, uint32_t from, uint32_t most) {
  if (s->up) return from + s->stride < most ? from + s->stride : most;
  return from > s->stride ? from - s->stride : 1;
}

static void poise_next(struct scheme_ctx *c, struct poise_sm *s) {
  for (; s->stride; poise_turn(s)) {
    struct poise_tuple t = s->best;
    if (s->on_p) t.p = poise_moved(s, t.p, t.n);
    else t.n = poise_moved(s, t.n, s->most);
    if (t.p > t.n) t.p = t.n;
    if (t.n == s->best.n && t.p == s->best.p) continue;
    c->counter[TRIALS]++;
    poise_apply(c, s, t);
    return;
  }
  poise_apply(c, s, s->best);
  s->phase = POISE_HOLD;
  s->left = (uint32_t)c->param[POISE_PERIOD];
  c->counter[SEARCHES]++;
  c->counter[N_SUM] += s->best.n;
  c->counter[P_SUM] += s->best.p;
}

static void poise_judge(struct scheme_ctx *c, struct poise_sm *s, uint64_t work) {
  if (!s->first && work <= s->best_work) {
    poise_turn(s);
    return;
  }
  c->counter[MOVES] += !s->first;
  s->moved = !s->first;
  s->first = false;
  s->best = s->now;
  s->best_work = work;
}

static void poise_look(struct scheme_ctx *c, uint32_t sm) {
  struct poise_sm *s = SCHEME_SM(c, struct poise_sm, sm);
  uint64_t running = gpu_sm_warps(c->gpu, sm), work = gpu_sm_warp_insts(c->gpu, sm);
  if (!running) return;
  c->counter[LOOKS]++;
  if (s->phase == POISE_HOLD && s->left && !--s->left) s->phase = POISE_BEGIN;
  if (s->phase == POISE_BEGIN && !s->best.n && s->waited++ < c->param[POISE_WARMUP]) return;
  if (s->phase == POISE_BEGIN) poise_begin(c, s, running);
  else if (s->phase == POISE_SEARCH) {
    s->left--;
    if (s->left == c->param[POISE_MEASURE]) s->from = work;
    if (s->left) return;
    poise_judge(c, s, work - s->from);
    poise_next(c, s);
  }
}

static void poise_on_epoch(struct scheme_ctx *c) {
  for (uint32_t i = 0; i < c->config->sms; i++) poise_look(c, i);
}

/* ---- the tuple ---- */

static uint64_t poise_may_issue(struct scheme_ctx *c, uint32_t sm, uint64_t warps, uint64_t loads) {
  (void)loads;
  struct poise_sm *s = SCHEME_SM(c, struct poise_sm, sm);
  if (!s->now.n || s->now.n >= s->most) return warps;
  if (s->of != warps || !warps) {
    s->of = warps;
    s->vital = oldest_of_schedulers(c->gpu, sm, warps, s->now.n, c->config->schedulers);
  }
  return s->vital;
}

static bool poise_may_allocate(struct scheme_ctx *c, const struct l1_event *e) {
  struct poise_sm *s = SCHEME_SM(c, struct poise_sm, e->sm);
  uint64_t running = gpu_sm_warps(c->gpu, e->sm);
  if (!s->now.n || s->now.p >= s->most) return true;
  if (s->running != running || !running) {
    s->running = running;
    s->polluting = oldest_of(c->gpu, e->sm, running, s->now.p);
  }
  return s->polluting >> e->warp & 1;
}

static void poise_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)warp, (void)cta;
  struct poise_sm *s = SCHEME_SM(c, struct poise_sm, sm);
  s->of = s->running = 0;
}

static void poise_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  (void)e;
  c->counter[DENIED] += by == BYPASS_BY_CACHE;
}

static bool poise_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[POISE_STRIDE] && !param[POISE_N] && !param[POISE_P];
}

SCHEME_STORAGE(poise_storage, {"two tuples, 4 x 6 bits per SM", 24.0 * g->sms},
               {"warp instructions of the best trial and at its start, 2 x 32 bits per SM", 64.0 * g->sms},
               {"stride, quanta and state of the search, 6 + 20 + 6 bits per SM", 32.0 * g->sms},
               {"vital and polluting bit per warp", 2.0 * (g->sm_threads / 32) * g->sms})

static const struct scheme poise = {
    .name = "poise",
    .title = "Poise's local search over running and allocating warps, without its prediction",
    .paper = "Dublish, Nagarajan, Topham: Poise: Balancing Thread-Level Parallelism and Memory System Performance in "
             "GPUs using Machine Learning. HPCA 2019",
    .idea = "More warps hide latency and thrash the L1. Two numbers are chosen apart: how many warps issue, and how\n"
            "many of them may take lines in the L1. Each SM tries neighbours of its tuple and keeps the best. The\n"
            "paper predicts the start by regression; here it is given.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct poise_sm),
    .idle = poise_idle,
    .by_sm = true,
    .storage = poise_storage,
    .epoch = 1000,
    .epoch_param = "quantum",
    .on_kernel = poise_on_kernel,
    .on_epoch = poise_on_epoch,
    .may_issue = poise_may_issue,
    .may_allocate = poise_may_allocate,
    .on_warp_start = poise_on_warp_start,
    .on_bypass = poise_on_bypass,
};
SCHEME(poise);
