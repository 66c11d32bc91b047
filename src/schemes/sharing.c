/* sharing.c - the sharing-aware design: CTA scheduling in groups of gridDim.x with balancing, and the cache management.
 *
 * Paper: Tabbakh, Annavaram, Qian, "Power Efficient Sharing-Aware GPU Data Management", IPDPS 2017, sections IV to VI.
 *
 * Deviations and choices: at the top of lib/sharing_cta.h and lib/sharing_cache.h.
 */
#include "schemes/lib/sharing_cache.h"
#include "schemes/lib/sharing_cta.h"

enum { GROUP, ADPT, CACHE };
static const struct scheme_param params[] = {
    {"group", "CTA", "consecutive CTAs that go to one SM; x or 0: gridDim.x (section IV)", 0, 1e6, 0, true},
    {"adpt", "", "1: round-robin once fewer groups are left than SMs (section IV)", 0, 1, 1, true},
    SHARING_CACHE_PARAMS,
    {0},
};
static const struct scheme_counter counters[] = {SHARING_CTA_COUNTERS, SHARING_CACHE_COUNTERS, {0}};
enum { CACHE_COUNTERS = SHARING_CTA_N };

struct sharing_sm {
  struct sharing_cta_sm cta; /* first: sharing_cta.h finds it by the SM's number */
  struct sharing_l1 l1;
};

static bool sharing_configure(struct gpu_config *g, const double *param, struct err *e) {
  (void)e;
  sharing_l1_on_fill(g, param[CACHE + SHARING_L1] != 0);
  return true;
}
static size_t sharing_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return sharing_l2_bytes(g);
}
static struct sharing_l2_line *sharing_lines(const struct scheme_ctx *c) {
  return (struct sharing_l2_line *)((struct sharing_cta *)c->state + 1);
}

static void sharing_on_kernel(struct scheme_ctx *c) {
  sharing_cta_begin(c, c->state, (uint32_t)c->param[GROUP]);
}
static int64_t sharing_pick_cta(struct scheme_ctx *c, uint32_t sm, uint32_t room) {
  (void)room;
  return sharing_cta_pick(c, c->state, sm, c->param[ADPT] != 0);
}

static int sharing_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *s, const struct l1_event *e) {
  return sharing_l1_victim(c, &SCHEME_SM(c, struct sharing_sm, sm)->l1, s, e, c->param + CACHE, CACHE_COUNTERS);
}
static void sharing_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  sharing_l1_hit(c, &SCHEME_SM(c, struct sharing_sm, e->sm)->l1, e);
}
static void sharing_on_fill(struct scheme_ctx *c, const struct l1_event *e) {
  sharing_l1_fill(c, &SCHEME_SM(c, struct sharing_sm, e->sm)->l1, e);
}

static bool sharing_l2_may_allocate(struct scheme_ctx *c, const struct mem_event *e) {
  return sharing_l2_admits(c, e, c->param[CACHE + SHARING_L2] != 0, CACHE_COUNTERS);
}
static uint32_t sharing_l2_narrow(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  return sharing_l2_left(c, sharing_lines(c), s, e, c->param + CACHE, CACHE_COUNTERS);
}
static void sharing_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  sharing_l2_access(c, sharing_lines(c), e, out, CACHE_COUNTERS);
}

static bool sharing_idle(const double *param, size_t hook) {
  if (hook == offsetof(struct scheme, pick_cta) || hook == offsetof(struct scheme, on_kernel))
    return param[GROUP] == 1 && !param[ADPT];
  return sharing_rule_idle(param + CACHE, hook);
}

static uint32_t sharing_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                uint32_t max) {
  if (max) out[0] = (struct scheme_bits){"current and end pointer of a group, 2 x 32 bits per SM", 64.0 * g->sms};
  return max ? 1 + sharing_bits(g, param + CACHE, out + 1, max - 1) : 0;
}

static const struct scheme sharing = {
    .name = "sharing",
    .title = "sharing-aware CTA scheduling and cache management together",
    .paper = "Tabbakh, Annavaram, Qian: Power Efficient Sharing-Aware GPU Data Management. IPDPS 2017",
    .idea =
        "Neighbouring CTAs, which share data, run on one SM, so that shared lines become private to it; what several\n"
        "SMs still share is kept in the L2 and does not crowd the L1s.",
    .params = params,
    .counters = counters,
    .positional = "group",
    .word = "x",
    .word_value = 0,
    .state_bytes = sizeof(struct sharing_cta),
    .more_state = sharing_more_state,
    .sm_state_bytes = sizeof(struct sharing_sm),
    .configure = sharing_configure,
    .init = sharing_cache_init,
    .by_sm = true,
    .idle = sharing_idle,
    .storage = sharing_storage,
    .on_kernel = sharing_on_kernel,
    .yields_l1 = true,
    .find_victim = sharing_find_victim,
    .on_hit = sharing_on_hit,
    .on_fill = sharing_on_fill,
    .l2_may_allocate = sharing_l2_may_allocate,
    .l2_narrow = sharing_l2_narrow,
    .on_l2_access = sharing_on_l2_access,
    .pick_cta = sharing_pick_cta,
};
SCHEME(sharing);
