/* l2_belady.c - one run of Belady's MIN at the L2: a first run records the accesses of every sub-partition; a second
 * one replaces the line that is used last. The search `l2-min` makes both.
 *
 * Paper: Belady, "A Study of Replacement Algorithms for a Virtual-Storage Computer", IBM Systems Journal 5 (2), 1966;
 * with bypassing, McFarling, "Cache Replacement with Dynamic Exclusion", ISCA 1992.
 *
 * By hand: --scheme l2-belady:run=1 --set profile.file=F, then --scheme l2-belady:run=2 --set profile.file=F.
 *
 * What it bounds: replacement, for the requests and their order of the first run. In the second one CTAs may run on
 * other SMs and L1s may hit elsewhere, so that lines get more or fewer requests than recorded, in another order:
 * another replacement may hit more. Beside an L1 scheme the first run has to run with it.
 *
 * Choices: a use is every accepted request, whatever its kind. Lines never used again are equal, and the least recently
 * used of them goes, dirty or not. Launches do not overlap. The L2 keeps its lines between launches, so that the
 * recorded order continues over all of them.
 */
#include "gpu/scheme.h"
#include "schemes/lib/future.h"

enum { L2_BELADY_BYPASS, L2_BELADY_RUN };
static const char l2_belady_mark[] = "SLUICEM2";

static const struct scheme_param params[] = {
    {"bypass", "", "run 2: 1: a request that would be used last takes no line; 0: it replaces one", 0, 1, 0, true},
    {"run", "", "1: record, everything as in the baseline; 2: replace by the record of run 1", 1, 2, 1, true},
    {0},
};
enum { RECORDED, FORESEEN, UNFORESEEN, REPLACED };
static const struct scheme_counter counters[] = {
    {"recorded", "request", "requests recorded (run 1)", true},
    {"foreseen", "request", "requests of lines with a recorded one left (run 2)", false},
    {"unforeseen", "request", "other requests: the runs differ (run 2)", false},
    {"replaced", "line", "lines replaced (run 2)", false},
    {0},
};

static bool l2_belady_second(const struct scheme_ctx *c) {
  return c->param[L2_BELADY_RUN] == 2;
}

static bool l2_belady_init(struct scheme_ctx *c, struct err *e) {
  struct future *f = c->state;
  size_t n;
  if (!future_init(c, f, "l2-belady", l2_belady_mark, l2_belady_second(c), e)) return false;
  if (l2_belady_second(c)) future_launch(f, &n);
  else future_record(f, FUTURE_LAUNCH, 0, 0);
  return true;
}

static void l2_belady_finish(struct scheme_ctx *c, struct err *e) {
  struct future *f = c->state;
  if (f->word) future_finish(c, f, l2_belady_mark, l2_belady_second(c), e);
}

static bool l2_belady_may_launch(struct scheme_ctx *c, uint32_t sm, uint32_t running) {
  (void)c, (void)sm, (void)running; /* with this hook launches do not overlap */
  return true;
}

static void l2_belady_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  struct future *f = c->state;
  (void)out;
  if (!l2_belady_second(c)) {
    future_record(f, FUTURE_ACCESS, e->subpart, e->line);
    c->counter[RECORDED]++;
    return;
  }
  c->counter[future_next(f, e->subpart, e->line, 0) == FUTURE_NEVER ? UNFORESEEN : FORESEEN]++;
  future_used(f, e->subpart, e->line);
}

static int l2_belady_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  return future_victim(c->state, e->subpart, s, e->line, c->param[L2_BELADY_BYPASS] == 1);
}

static void l2_belady_on_l2_evict(struct scheme_ctx *c, const struct mem_event *e) {
  (void)e;
  c->counter[REPLACED]++;
}

static bool l2_belady_idle(const double *param, size_t hook) {
  return param[L2_BELADY_RUN] == 1 &&
         (hook == offsetof(struct scheme, l2_find_victim) || hook == offsetof(struct scheme, on_l2_evict));
}

static const struct scheme l2_belady = {
    .name = "l2-belady",
    .title = "one run of l2-min: record the requests at the L2, or replace the line used last",
    .paper =
        "Belady: A Study of Replacement Algorithms for a Virtual-Storage Computer. IBM Systems Journal 5 (2), 1966",
    .idea = "What replacement at the L2 could gain if the future were known: run 1 records the requests at every\n"
            "sub-partition into profile.file; run 2 replaces the line whose next use is the last. Requests and their\n"
            "order change with the timing, so that it is a bound for those of run 1 only.",
    .no_storage = "no hardware is proposed: the host keeps the requests, to bound what replacement could gain",
    .params = params,
    .counters = counters,
    .positional = "bypass",
    .owns = {"profile.file"},
    .state_bytes = sizeof(struct future),
    .idle = l2_belady_idle,
    .init = l2_belady_init,
    .finish = l2_belady_finish,
    .may_launch = l2_belady_may_launch,
    .on_l2_access = l2_belady_on_l2_access,
    .on_l2_evict = l2_belady_on_l2_evict,
    .l2_find_victim = l2_belady_l2_find_victim,
};
SCHEME(l2_belady);
