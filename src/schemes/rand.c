/* rand.c - random bypassing of the L2: a share of the warps, drawn every 100,000 cycles, bypasses the L2.
 *
 * Paper: the yardstick "Rand" of Ausavarungnirun et al. (MeDiC), PACT 2015, section 5, which uses the best share of
 * each workload: sweep `percent`.
 *
 * Choices: the draw is per hardware warp slot and independent, so the share is met on average; a warp that starts
 * within a period has the draw of its slot. A store whose line the L2 holds is not bypassed (the copy would become
 * stale), nor are atomics. Requests of no warp (instruction, constant, texture fetches, write-backs) use the L2.
 */
#include "gpu/scheme.h"

enum { RAND_PERCENT, RAND_PERIOD };
enum { RAND_WARPS = 64 };
static const struct scheme_param params[] = {
    {"percent", "%", "share of warps that bypass; swept in MeDiC", 0, 100, 30, false},
    {"period", "core cycle", "warps are drawn again after this time (section 5)", 1, 1e9, 100000, true},
    {0},
};
enum { BYPASSED, KEPT_STORES };
static const struct scheme_counter counters[] = {
    {"bypassed", "request", "requests of drawn warps sent straight to DRAM", true},
    {"kept_stores", "request", "stores of such warps whose line the L2 held", false},
    {0},
};

/* State: per SM a word with a bit per drawn warp slot. */
static size_t rand_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return sizeof(uint64_t) * g->sms;
}

static void rand_draw(struct scheme_ctx *c) {
  uint64_t *drawn = c->state;
  for (uint32_t i = 0; i < c->config->sms; i++) {
    drawn[i] = 0;
    for (uint32_t w = 0; w < RAND_WARPS; w++)
      drawn[i] |= (uint64_t)(rng_below(&c->rng, 10000) < c->param[RAND_PERCENT] * 100) << w;
  }
}

static bool rand_init(struct scheme_ctx *c, struct err *e) {
  (void)e;
  rand_draw(c);
  return true;
}

static bool rand_l2_bypass(struct scheme_ctx *c, const struct mem_event *e) {
  const uint64_t *drawn = c->state;
  bool own = e->type == REQ_GLOBAL_READ || e->type == REQ_LOCAL_READ || e->type == REQ_GLOBAL_WRITE ||
             e->type == REQ_LOCAL_WRITE;
  if (!own || !(drawn[e->sm] >> e->warp & 1)) return false;
  bool keep = e->write && e->way != UINT32_MAX;
  c->counter[keep ? KEPT_STORES : BYPASSED]++;
  return !keep;
}

SCHEME_STORAGE(rand_storage, {"bypass bit per warp", g->sm_threads / 32 * 1.0 * g->sms},
               {"linear-feedback shift register, 16 bits", 16})

static const struct scheme rand_scheme = {
    .name = "rand",
    .title = "bypassing of the L2 by randomly chosen warps",
    .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity to Improve GPGPU Performance. PACT 2015, "
             "section 5",
    .idea = "Fewer warps in the L2 means shorter queues there. Which ones is left to chance: what a choice by warp\n"
            "type gains must show against this.",
    .params = params,
    .counters = counters,
    .positional = "percent",
    .more_state = rand_more_state,
    .init = rand_init,
    .storage = rand_storage,
    .epoch = 100000,
    .epoch_param = "period",
    .on_epoch = rand_draw,
    .l2_bypass = rand_l2_bypass,
};
SCHEME(rand_scheme);
