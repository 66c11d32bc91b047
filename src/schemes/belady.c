/* belady.c - one run of Belady's MIN at the L1: a first run records the accesses; a second one replaces the line that
 * is used last. The search `min` makes both.
 *
 * Paper: Belady, "A Study of Replacement Algorithms for a Virtual-Storage Computer", IBM Systems Journal 5 (2), 1966;
 * with bypassing, McFarling, "Cache Replacement with Dynamic Exclusion", ISCA 1992 (its optimal direct-mapped cache).
 *
 * By hand: --scheme belady:run=1 --set profile.file=F, then --scheme belady:run=2 --set profile.file=F.
 *
 * What it bounds: replacement, for the accesses and their order of the first run. The second run gives each SM the CTAs
 * that it had, in the same order, so that each line has as many accesses; but hits change when warps continue, and with
 * it the order, so that the future is near, not exact, and another replacement may hit more. Fewer misses need not be
 * fewer cycles either: it knows nothing of latency, MSHRs or the memory below.
 *
 * Choices: a use is an access of a global or local load after coalescing, also one that joins a line in flight or that
 * the scheme bypasses. Stores are no uses: a line that a store evicts is kept until then as if its next load could hit.
 * Lines never used again are equal, and the least recently used of them goes. Launches do not overlap. A launch of
 * another grid than that of run 1 gets its CTAs in order.
 */
#include "gpu/scheme.h"
#include "schemes/lib/future.h"

enum { BELADY_BYPASS, BELADY_RUN };
static const char belady_mark[] = "SLUICEM1";

static const struct scheme_param params[] = {
    {"bypass", "", "run 2: 1: a load that would be used last bypasses the L1; 0: it replaces a line", 0, 1, 0, true},
    {"run", "", "1: record, everything as in the baseline; 2: replace by the record of run 1", 1, 2, 1, true},
    {0},
};
enum { RECORDED, FORESEEN, UNFORESEEN, REPLACED, BYPASSED };
static const struct scheme_counter counters[] = {
    {"recorded", "access", "accesses recorded (run 1)", true},
    {"foreseen", "access", "accesses of lines with a recorded one left (run 2)", false},
    {"unforeseen", "access", "other accesses: the runs differ (run 2)", false},
    {"replaced", "line", "lines replaced (run 2)", false},
    {"bypassed", "access", "accesses that bypassed the L1 (run 2)", false},
    {0},
};

struct belady {
  struct future future;
  uint32_t *cta, *next, *end; /* CTAs by SM; those left of an SM */
  uint32_t ctas, given;       /* recorded for this launch; given to SMs in order of their number */
};

static bool belady_second(const struct scheme_ctx *c) {
  return c->param[BELADY_RUN] == 2;
}

static bool belady_init(struct scheme_ctx *c, struct err *e) {
  struct belady *b = c->state;
  b->next = mem_zeroed(2 * (size_t)c->config->sms, sizeof *b->next);
  b->end = b->next + c->config->sms;
  return future_init(c, &b->future, "belady", belady_mark, belady_second(c), e);
}

static void belady_finish(struct scheme_ctx *c, struct err *e) {
  struct belady *b = c->state;
  if (b->next) future_finish(c, &b->future, belady_mark, belady_second(c), e);
  free(b->cta);
  free(b->next);
  *b = (struct belady){0};
}

/* The CTAs of a launch, in the order in which their SM started them. */
static void belady_ctas(struct scheme_ctx *c, const uint64_t *event, size_t n) {
  struct belady *b = c->state;
  uint32_t sms = c->config->sms, first = 0;
  memset(b->end, 0, sms * sizeof *b->end);
#define BELADY_SM(w) ((uint32_t)((w) >> FUTURE_UNIT_SHIFT) & 0xfff)
#define EACH_CTA(i)              \
  for (size_t i = 0; i < n; i++) \
    if (future_kind(event[i]) == FUTURE_CTA && BELADY_SM(event[i]) < sms)
  EACH_CTA(i) b->end[BELADY_SM(event[i])]++;
  for (uint32_t s = 0; s < sms; s++) b->next[s] = first, first += b->end[s], b->end[s] = b->next[s];
  b->ctas = first;
  b->given = 0;
  b->cta = mem_resize(b->cta, first + 1, sizeof *b->cta);
  EACH_CTA(i) b->cta[b->end[BELADY_SM(event[i])]++] = (uint32_t)event[i];
}

static void belady_on_kernel(struct scheme_ctx *c) {
  struct belady *b = c->state;
  size_t n;
  if (!belady_second(c)) {
    future_record(&b->future, FUTURE_LAUNCH, 0, 0);
    return;
  }
  const uint64_t *event = future_launch(&b->future, &n);
  belady_ctas(c, event, n);
}

static bool belady_may_launch(struct scheme_ctx *c, uint32_t sm, uint32_t running) {
  (void)c, (void)sm, (void)running; /* with this hook launches do not overlap */
  return true;
}

static int64_t belady_pick_cta(struct scheme_ctx *c, uint32_t sm, uint32_t room) {
  struct belady *b = c->state;
  (void)room;
  uint32_t all = gpu_grid_ctas(c->gpu);
  if (b->ctas != all) return b->given < all ? (int64_t)b->given++ : -1; /* not the launch of run 1 */
  return b->next[sm] < b->end[sm] ? (int64_t)b->cta[b->next[sm]++] : -1;
}

static void belady_on_cta_start(struct scheme_ctx *c, uint32_t sm, uint32_t cta) {
  struct belady *b = c->state;
  if (!belady_second(c)) future_record(&b->future, FUTURE_CTA, sm, cta);
}

static void belady_use(struct scheme_ctx *c, const struct l1_event *e) {
  struct belady *b = c->state;
  if (!belady_second(c)) {
    future_record(&b->future, FUTURE_ACCESS, e->sm, e->line);
    c->counter[RECORDED]++;
    return;
  }
  c->counter[future_next(&b->future, e->sm, e->line, 0) == FUTURE_NEVER ? UNFORESEEN : FORESEEN]++;
  future_used(&b->future, e->sm, e->line);
}

static void belady_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  (void)out;
  belady_use(c, e);
}

static void belady_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  if (by != BYPASS_BY_CACHE) return;
  belady_use(c, e);
  c->counter[BYPASSED]++;
}

static int belady_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *s, const struct l1_event *e) {
  const struct belady *b = c->state;
  return future_victim(&b->future, sm, s, e->line, c->param[BELADY_BYPASS] == 1);
}

static void belady_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)e, (void)owner, (void)reused;
  c->counter[REPLACED]++;
}

/* Run 1 records, run 2 decides. */
static bool belady_idle(const double *param, size_t hook) {
  return param[BELADY_RUN] == 1 &&
         (hook == offsetof(struct scheme, pick_cta) || hook == offsetof(struct scheme, on_evict) ||
          hook == offsetof(struct scheme, find_victim));
}

static const struct scheme belady = {
    .name = "belady",
    .title = "one run of min: record the accesses of the L1, or replace the line used last",
    .paper =
        "Belady: A Study of Replacement Algorithms for a Virtual-Storage Computer. IBM Systems Journal 5 (2), 1966",
    .idea = "What replacement could gain if the future were known: run 1 records the accesses of every SM into\n"
            "profile.file; run 2 gives each SM the same CTAs and replaces the line whose next use is the last. The\n"
            "order of accesses changes with their timing, so that it is a bound for the order of run 1 only.",
    .no_storage = "no hardware is proposed: the host keeps the accesses, to bound what replacement could gain",
    .params = params,
    .counters = counters,
    .positional = "bypass",
    .owns = {"profile.file"},
    .state_bytes = sizeof(struct belady),
    .steady = true,
    .idle = belady_idle,
    .init = belady_init,
    .finish = belady_finish,
    .on_kernel = belady_on_kernel,
    .may_launch = belady_may_launch,
    .pick_cta = belady_pick_cta,
    .on_cta_start = belady_on_cta_start,
    .on_access = belady_on_access,
    .on_bypass = belady_on_bypass,
    .on_evict = belady_on_evict,
    .find_victim = belady_find_victim,
};
SCHEME(belady);
