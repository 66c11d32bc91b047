/* pdp.c - static protecting distance: a line may not be evicted until its set has had PD accesses since its last use.
 *
 * Paper: Duong, Zhao, Kim, Cammarota, Valero, Veidenbaum, "Improving Cache Management Policies Using Dynamic Reuse
 * Distances", MICRO 2012, section 2 (static PDP with bypass). PDP-best of Li et al., ICS 2015, sweeps the distance.
 *
 * Deviations: full-width distances rather than the paper's 3 bits with a step. See lib/pdp.h for choices.
 */
#include "schemes/lib/pdp.h"

enum { PDP_PD };
static const struct scheme_param params[] = {
    {"pd", "access", "protecting distance; 0 protects nothing and never bypasses (section 2.3)", 0, 4096, 16, true},
    {0},
};
enum { BYPASSES, RENEWED };
static const struct scheme_counter counters[] = {
    {"bypasses", "access", "misses that bypassed the L1 because all lines of the set were protected", true},
    {"renewed", "hit", "hits that renewed a line's distance", true},
    {0},
};

static bool pdp_init(struct scheme_ctx *c, struct err *e) {
  return pdp_init_lines(c, "pdp", e);
}

static int pdp_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  return pdp_victim(SCHEME_SM(c, struct pdp_lines, sm), cs);
}

static bool pdp_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  struct pdp_lines *l = SCHEME_SM(c, struct pdp_lines, e->sm);
  uint32_t ways = c->config->l1d.ways;
  if (why != L1_NO_LINE || !pdp_all_protected(l, e->set, ways)) return false;
  c->counter[BYPASSES]++;
  pdp_access(l, e->set, ways, -1, 0);
  return true;
}

static void pdp_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  int way = out == L1_HIT || out == L1_MISS ? (int)e->way : -1;
  c->counter[RENEWED] += out == L1_HIT;
  pdp_access(SCHEME_SM(c, struct pdp_lines, e->sm), e->set, c->config->l1d.ways, way, (uint32_t)c->param[PDP_PD]);
}

/* A line placed at the arrival of its data is protected from then on; where misses place lines, on_access protects it.
 */
static void pdp_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  if (c->config->l1d_alloc != ALLOC_ON_FILL) return;
  pdp_protect(SCHEME_SM(c, struct pdp_lines, e->sm), e->set, c->config->l1d.ways, e->way, (uint32_t)c->param[PDP_PD]);
}

static void pdp_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  if (by != BYPASS_BY_CACHE) return;
  c->counter[BYPASSES]++;
  pdp_access(SCHEME_SM(c, struct pdp_lines, e->sm), e->set, c->config->l1d.ways, -1, 0);
}

static bool pdp_idle(const double *param, size_t hook) {
  (void)hook;
  return !param[PDP_PD];
}

static uint32_t pdp_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double bits = 0;
  while ((1u << (uint32_t)bits) <= (uint32_t)param[PDP_PD]) bits++;
  if (max) out[0] = (struct scheme_bits){"remaining distance per line", bits * g->l1d.sets * g->l1d.ways * g->sms};
  return 1;
}

static const struct scheme pdp = {
    .name = "pdp",
    .title = "static protecting distance with bypass",
    .paper = "Duong, Zhao, Kim, Cammarota, Valero, Veidenbaum: Dynamic Reuse Distances. MICRO 2012",
    .idea =
        "A line is protected for PD accesses to its set after each use, which is how long its reuse may take. A miss\n"
        "replaces an unprotected line; when all are protected it bypasses the cache.",
    .params = params,
    .counters = counters,
    .positional = "pd",
    .sm_state_bytes = sizeof(struct pdp_lines),
    .by_sm = true,
    .steady = true,
    .init = pdp_init,
    .idle = pdp_idle,
    .storage = pdp_storage,
    .find_victim = pdp_find_victim,
    .on_stall = pdp_on_stall,
    .on_access = pdp_on_access,
    .on_place = pdp_on_place,
    .on_bypass = pdp_on_bypass,
};
SCHEME(pdp);
