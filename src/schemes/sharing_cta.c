/* sharing_cta.c - sharing-aware CTA scheduling alone: neighbouring CTAs run on the same SM.
 *
 * Paper: Tabbakh, Annavaram, Qian, "Power Efficient Sharing-Aware GPU Data Management", IPDPS 2017,
 * section IV, Figures 5, 14, 15.
 *
 * Choices: at the top of lib/sharing_cta.h. `sharing-cta=x` (value 0) takes gridDim.x as the size of a group.
 */
#include "schemes/lib/sharing_cta.h"

enum { GROUP, ADPT };
static const struct scheme_param params[] = {
    {"group", "CTA", "consecutive CTAs that go to one SM; x or 0: gridDim.x (section IV)", 0, 1e6, 0, true},
    {"adpt", "", "1: round-robin once fewer groups are left than SMs (section IV)", 0, 1, 0, true},
    {0},
};
static const struct scheme_counter counters[] = {SHARING_CTA_COUNTERS, {0}};

static void sharing_cta_on_kernel(struct scheme_ctx *c) {
  sharing_cta_begin(c, c->state, (uint32_t)c->param[GROUP]);
}
static int64_t sharing_cta_pick_cta(struct scheme_ctx *c, uint32_t sm, uint32_t room) {
  (void)room;
  return sharing_cta_pick(c, c->state, sm, c->param[ADPT] != 0);
}

/* Groups of one CTA are the grid's order. */
static bool sharing_cta_idle(const double *param, size_t hook) {
  (void)hook;
  return param[GROUP] == 1 && !param[ADPT];
}

SCHEME_STORAGE(sharing_cta_storage, {"current and end pointer of a group, 2 x 32 bits per SM", 64.0 * g->sms})

static const struct scheme sharing_cta = {
    .name = "sharing-cta",
    .title = "CTA scheduling by groups of neighbours",
    .paper = "Tabbakh, Annavaram, Qian: Power Efficient Sharing-Aware GPU Data Management. IPDPS 2017, section IV",
    .idea =
        "CTAs with neighbouring ids often touch the same lines. A group of consecutive CTAs runs on one SM, so that\n"
        "what they share is fetched into one L1.",
    .params = params,
    .counters = counters,
    .positional = "group",
    .word = "x",
    .word_value = 0,
    .state_bytes = sizeof(struct sharing_cta),
    .sm_state_bytes = sizeof(struct sharing_cta_sm),
    .idle = sharing_cta_idle,
    .storage = sharing_cta_storage,
    .on_kernel = sharing_cta_on_kernel,
    .pick_cta = sharing_cta_pick_cta,
};
SCHEME(sharing_cta);
