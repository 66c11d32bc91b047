/* lcs.c - lazy CTA scheduling: each SM learns how many CTAs it needs and is given no more.
 *
 * Paper: Lee, Song, Moon, Kim, Seo, Cho, Ryu, "Improving GPGPU Resource Utilization through Alternative Thread Block
 * Scheduling", HPCA 2014; the sharing-aware paper (IPDPS 2017) names it: "determines the optimal number of CTAs per
 * core".
 *
 * What is built: an SM is first filled to its limit. Under a greedy warp scheduler its oldest CTA issues most. When
 * the first CTA of the SM ends, the limit becomes the warp instructions that all its CTAs have issued, divided by
 * those of the CTA that issued most, rounded up; it holds until the launch ends.
 *
 * Choices: the limit is learnt per SM and per launch. `extra` CTAs are added to it.
 */
#include "gpu/scheme.h"

enum { EXTRA };
enum { LCS_WARPS = 64 };
static const struct scheme_param params[] = {
    {"extra", "CTA", "added to the limit; 32: no limit", 0, 32, 0, true},
    {0},
};
enum { LEARNT, LIMIT_SUM, LOWERED };
static const struct scheme_counter counters[] = {
    {"learnt", "SM", "SMs that learnt a limit, summed over launches", true},
    {"limit_sum", "CTA", "limits learnt: divide by learnt for their mean", true},
    {"lowered", "SM", "of those, limits below what the SM can hold", false},
    {0},
};

struct lcs_sm {
  uint64_t issued[LCS_WARPS]; /* warp instructions */
  uint32_t cta[LCS_WARPS];
  uint32_t limit; /* 0: not learnt */
};

static void lcs_on_kernel(struct scheme_ctx *c) {
  for (uint32_t i = 0; i < c->config->sms; i++) *SCHEME_SM(c, struct lcs_sm, i) = (struct lcs_sm){0};
}

static void lcs_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  SCHEME_SM(c, struct lcs_sm, sm)->cta[warp] = cta;
}

static void lcs_on_issue(struct scheme_ctx *c, uint32_t sm, uint32_t warp, const struct inst *i) {
  (void)i;
  struct lcs_sm *s = SCHEME_SM(c, struct lcs_sm, sm);
  if (!s->limit) s->issued[warp]++;
}

static void lcs_on_cta_done(struct scheme_ctx *c, uint32_t sm, uint32_t cta) {
  (void)cta;
  struct lcs_sm *s = SCHEME_SM(c, struct lcs_sm, sm);
  if (s->limit) return;
  uint64_t total = 0, most = 1;
  for (uint32_t w = 0; w < LCS_WARPS; w++) {
    uint64_t of_cta = 0;
    total += s->issued[w];
    for (uint32_t v = 0; v < LCS_WARPS; v++) of_cta += s->cta[v] == s->cta[w] ? s->issued[v] : 0;
    if (of_cta > most) most = of_cta;
  }
  s->limit = (uint32_t)((total + most - 1) / most) + (uint32_t)c->param[EXTRA];
  if (!s->limit) s->limit = 1;
  uint32_t holds = gpu_sm_cta_limit(c->gpu);
  c->counter[LOWERED] += s->limit < holds;
  if (s->limit > holds) s->limit = holds;
  c->counter[LEARNT]++;
  c->counter[LIMIT_SUM] += s->limit;
}

static bool lcs_may_launch(struct scheme_ctx *c, uint32_t sm, uint32_t running) {
  uint32_t limit = SCHEME_SM(c, struct lcs_sm, sm)->limit;
  return !limit || running < limit;
}

SCHEME_STORAGE(lcs_storage, {"instruction count per CTA slot, 32 bits", 32.0 * g->sm_ctas * g->sms},
               {"limit, 4 bits per SM", 4.0 * g->sms})

static const struct scheme lcs = {
    .name = "lcs",
    .title = "lazy CTA scheduling: as many CTAs per SM as it can use",
    .paper = "Lee, Song, Moon, Kim, Seo, Cho, Ryu: Improving GPGPU Resource Utilization through Alternative Thread "
             "Block Scheduling. HPCA 2014",
    .idea = "More CTAs than hide the latency only share the L1 among more. The share of instructions that the greedy\n"
            "CTA issued until the first one ended says how many are needed.",
    .params = params,
    .counters = counters,
    .positional = "extra",
    .sm_state_bytes = sizeof(struct lcs_sm),
    .storage = lcs_storage,
    .on_kernel = lcs_on_kernel,
    .on_warp_start = lcs_on_warp_start,
    .on_issue = lcs_on_issue,
    .may_launch = lcs_may_launch,
    .on_cta_done = lcs_on_cta_done,
};
SCHEME(lcs);
