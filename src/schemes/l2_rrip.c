/* l2_rrip.c - re-reference interval prediction at the L2: SRRIP, BRRIP and the set-dueling DRRIP.
 *
 * Paper: Jaleel, Theobald, Steely, Emer, "High Performance Cache Replacement Using Re-Reference Interval Prediction
 * (RRIP)", ISCA 2010, sections 3 and 4. Hit-priority promotion.
 *
 * Deviations: the 32 leader sets per policy of the paper's last-level cache are spread over the sub-partitions' sets
 * (`leaders` per policy and sub-partition), with one 10-bit selector for the whole L2. Accesses of all kinds take
 * part; a merge with a pending line does not promote it.
 */
#include "gpu/scheme.h"

enum { L2_RRIP_POLICY, L2_RRIP_BITS, L2_RRIP_THROTTLE, L2_RRIP_LEADERS };
enum { L2_RRIP_PSEL_MAX = 1023 };
static const struct scheme_param params[] = {
    {"policy", "", "0 SRRIP, 1 BRRIP, 2 DRRIP (sections 3.1, 3.3, 3.4)", 0, 2, 2, true},
    {"bits", "bit", "width of the prediction value (section 3.1)", 1, 4, 2, true},
    {"throttle", "insertion", "BRRIP: one insertion in this many is long (section 3.3)", 1, 1024, 32, true},
    {"leaders", "set", "DRRIP: leader sets of each policy in a sub-partition (section 4)", 1, 32, 4, true},
    {0},
};
enum { INSERT_LONG, INSERT_DISTANT, PROMOTIONS, AGINGS };
static const struct scheme_counter counters[] = {
    {"insert_long", "line", "lines inserted with a long prediction (max - 1)", true},
    {"insert_distant", "line", "lines inserted with a distant prediction (max)", true},
    {"promotions", "hit", "hits that set the prediction to near-immediate", true},
    {"agings", "step", "rounds in which all lines of a set aged", false},
    {0},
};

struct l2_rrip {
  uint32_t insertions; /* bimodal ones */
  uint32_t psel;       /* above the middle BRRIP wins */
  uint8_t value[];     /* per line */
};

static size_t l2_rrip_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return (size_t)g->channels * g->subparts * g->l2.sets * g->l2.ways;
}
static bool l2_rrip_init(struct scheme_ctx *c, struct err *e) {
  (void)e;
  ((struct l2_rrip *)c->state)->psel = L2_RRIP_PSEL_MAX / 2;
  return true;
}
static uint8_t *l2_rrip_set(const struct scheme_ctx *c, const struct mem_event *e) {
  struct l2_rrip *s = c->state;
  return s->value + ((size_t)e->subpart * c->config->l2.sets + e->set) * c->config->l2.ways;
}
static uint8_t l2_rrip_max(const struct scheme_ctx *c) {
  return (uint8_t)((1u << (uint32_t)c->param[L2_RRIP_BITS]) - 1);
}

/* 1: leader of SRRIP, 2: leader of BRRIP, 0: follower. */
static int l2_rrip_leader(const struct scheme_ctx *c, uint32_t set) {
  uint32_t step = c->config->l2.sets / (uint32_t)c->param[L2_RRIP_LEADERS];
  if (step < 2) step = 2;
  return set % step == 0 ? 1 : set % step == step / 2 ? 2 : 0;
}

static int l2_rrip_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  uint8_t *v = l2_rrip_set(c, e), max = l2_rrip_max(c);
  for (;;) {
    for (uint32_t w = 0; w < s->ways; w++)
      if (s->usable >> w & 1 && v[w] >= max) return (int)w;
    for (uint32_t w = 0; w < s->ways; w++)
      if (s->usable >> w & 1) v[w]++;
    c->counter[AGINGS]++;
  }
}

static void l2_rrip_insert(struct scheme_ctx *c, const struct mem_event *e) {
  struct l2_rrip *s = c->state;
  int leader = l2_rrip_leader(c, e->set), policy = (int)c->param[L2_RRIP_POLICY];
  if (leader == 1 && s->psel < L2_RRIP_PSEL_MAX) s->psel++; /* a miss counts against the leader's policy */
  if (leader == 2 && s->psel > 0) s->psel--;
  bool bimodal = policy == 1;
  if (policy == 2) bimodal = leader ? leader == 2 : s->psel > L2_RRIP_PSEL_MAX / 2;
  bool distant = bimodal && ++s->insertions % (uint32_t)c->param[L2_RRIP_THROTTLE] != 0;
  l2_rrip_set(c, e)[e->way] = (uint8_t)(l2_rrip_max(c) - !distant);
  c->counter[distant ? INSERT_DISTANT : INSERT_LONG]++;
}

static void l2_rrip_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  if (e->way == UINT32_MAX) return;
  if (out == L2_MISS) l2_rrip_insert(c, e);
  if (out != L2_HIT) return;
  l2_rrip_set(c, e)[e->way] = 0;
  c->counter[PROMOTIONS]++;
}

static uint32_t l2_rrip_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                uint32_t max) {
  double lines = (double)g->channels * g->subparts * g->l2.sets * g->l2.ways;
  if (max > 0) out[0] = (struct scheme_bits){"prediction value per L2 line", param[L2_RRIP_BITS] * lines};
  if (max > 1) out[1] = (struct scheme_bits){"policy selector (DRRIP), 10 bits", param[L2_RRIP_POLICY] == 2 ? 10 : 0};
  return 2;
}

static const struct scheme l2_rrip = {
    .name = "l2-rrip",
    .title = "re-reference interval prediction at the L2",
    .paper = "Jaleel, Theobald, Steely, Emer: High Performance Cache Replacement Using RRIP. ISCA 2010",
    .idea = "As rrip at the L1: lines carry a guess of how soon they are used again, and a line guessed distant goes\n"
            "first. Leader sets choose between inserting lines as long and as distant.",
    .params = params,
    .counters = counters,
    .positional = "policy",
    .state_bytes = sizeof(struct l2_rrip),
    .more_state = l2_rrip_more_state,
    .init = l2_rrip_init,
    .storage = l2_rrip_storage,
    .l2_find_victim = l2_rrip_l2_find_victim,
    .on_l2_access = l2_rrip_on_l2_access,
};
SCHEME(l2_rrip);
