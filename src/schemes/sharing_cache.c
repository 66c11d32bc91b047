/* sharing_cache.c - sharing-aware cache management alone.
 *
 * Paper: Tabbakh, Annavaram, Qian, "Power Efficient Sharing-Aware GPU Data Management", IPDPS 2017, sections V and VI.
 *
 * Deviations and choices: at the top of lib/sharing_cache.h.
 */
#include "schemes/lib/sharing_cache.h"

enum { CACHE };
static const struct scheme_param params[] = {
    SHARING_CACHE_PARAMS,
    {0},
};
static const struct scheme_counter counters[] = {SHARING_CACHE_COUNTERS, {0}};
enum { CACHE_COUNTERS };

static bool sharing_cache_configure(struct gpu_config *g, const double *param, struct err *e) {
  (void)e;
  sharing_l1_on_fill(g, param[CACHE + SHARING_L1] != 0);
  return true;
}
static size_t sharing_cache_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return sharing_l2_bytes(g);
}
static struct sharing_l2_line *sharing_cache_lines(const struct scheme_ctx *c) {
  return c->state;
}

static int sharing_cache_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *s,
                                     const struct l1_event *e) {
  return sharing_l1_victim(c, SCHEME_SM(c, struct sharing_l1, sm), s, e, c->param + CACHE, CACHE_COUNTERS);
}
static void sharing_cache_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  sharing_l1_hit(c, SCHEME_SM(c, struct sharing_l1, e->sm), e);
}
static void sharing_cache_on_fill(struct scheme_ctx *c, const struct l1_event *e) {
  sharing_l1_fill(c, SCHEME_SM(c, struct sharing_l1, e->sm), e);
}

static bool sharing_cache_l2_may_allocate(struct scheme_ctx *c, const struct mem_event *e) {
  return sharing_l2_admits(c, e, c->param[CACHE + SHARING_L2] != 0, CACHE_COUNTERS);
}
static uint32_t sharing_cache_l2_narrow(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  return sharing_l2_left(c, sharing_cache_lines(c), s, e, c->param + CACHE, CACHE_COUNTERS);
}
static void sharing_cache_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  sharing_l2_access(c, sharing_cache_lines(c), e, out, CACHE_COUNTERS);
}

static bool sharing_cache_idle(const double *param, size_t hook) {
  return sharing_rule_idle(param + CACHE, hook);
}

static uint32_t sharing_cache_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                      uint32_t max) {
  return sharing_bits(g, param + CACHE, out, max);
}

static const struct scheme sharing_cache = {
    .name = "sharing-cache",
    .title = "allocation and replacement by sharing: private data in the L1, shared data in the L2",
    .paper = "Tabbakh, Annavaram, Qian: Power Efficient Sharing-Aware GPU Data Management. IPDPS 2017",
    .idea = "A line that several SMs use is fetched into the L1 of each and crowds out what each has for itself.\n"
            "Shared lines are kept in the L2, private ones in the L1s.",
    .params = params,
    .counters = counters,
    .more_state = sharing_cache_more_state,
    .sm_state_bytes = sizeof(struct sharing_l1),
    .configure = sharing_cache_configure,
    .init = sharing_cache_init,
    .by_sm = true,
    .idle = sharing_cache_idle,
    .storage = sharing_cache_storage,
    .yields_l1 = true,
    .find_victim = sharing_cache_find_victim,
    .on_hit = sharing_cache_on_hit,
    .on_fill = sharing_cache_on_fill,
    .l2_may_allocate = sharing_cache_l2_may_allocate,
    .l2_narrow = sharing_cache_l2_narrow,
    .on_l2_access = sharing_cache_on_l2_access,
};
SCHEME(sharing_cache);
