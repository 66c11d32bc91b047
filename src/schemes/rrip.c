/* rrip.c - re-reference interval prediction: SRRIP, BRRIP and the set-dueling DRRIP at the L1 data cache.
 *
 * Paper: Jaleel, Theobald, Steely, Emer, "High Performance Cache Replacement Using Re-Reference Interval Prediction
 * (RRIP)", ISCA 2010, sections 3 and 4. Hit-priority promotion.
 *
 * Deviations: the paper duels over 32 leader sets per policy of a last-level cache; an L1 of 32 sets has 4 + 4
 * (parameter `leaders`). A load that merges with a pending line does not promote it: its data is not there yet, and the
 * merge is most often the same burst.
 */
#include <string.h>

#include "gpu/scheme.h"

enum { RRIP_POLICY, RRIP_BITS, RRIP_THROTTLE, RRIP_LEADERS };
enum { RRIP_LINES = 4096, RRIP_PSEL_MAX = 1023 };

static const struct scheme_param params[] = {
    {"policy", "", "0 SRRIP, 1 BRRIP, 2 DRRIP (sections 3.1, 3.3, 3.4)", 0, 2, 0, true},
    {"bits", "bit", "width of the prediction value (section 3.1)", 1, 4, 2, true},
    {"throttle", "insertion", "BRRIP: one insertion in this many is long rather than distant (section 3.3)", 1, 1024,
     32, true},
    {"leaders", "set", "DRRIP: leader sets of each policy (section 4)", 1, 32, 4, true},
    {0},
};
enum { INSERT_LONG, INSERT_DISTANT, PROMOTIONS, AGINGS };
static const struct scheme_counter counters[] = {
    {"insert_long", "line", "lines inserted with a long prediction (max - 1)", true},
    {"insert_distant", "line", "lines inserted with a distant prediction (max)", false},
    {"promotions", "hit", "hits that set the prediction to near-immediate", true},
    {"agings", "step", "rounds in which all lines of a set aged", true},
    {0},
};

struct rrip_sm {
  uint8_t value[RRIP_LINES];
  uint32_t insertions;
  uint16_t psel; /* DRRIP: above the middle BRRIP wins */
};

static uint8_t rrip_max(const struct scheme_ctx *c) {
  return (uint8_t)((1u << (uint32_t)c->param[RRIP_BITS]) - 1);
}

static bool rrip_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  if (k->sets * k->ways > RRIP_LINES)
    return err_set(e, ERR_USAGE, "scheme rrip: an L1 of %u lines is larger than %d", k->sets * k->ways, RRIP_LINES);
  for (uint32_t i = 0; i < c->config->sms; i++) SCHEME_SM(c, struct rrip_sm, i)->psel = RRIP_PSEL_MAX / 2;
  return true;
}

/* 1: leader of SRRIP, 2: leader of BRRIP, 0: follower. */
static int rrip_leader(const struct scheme_ctx *c, uint32_t set) {
  uint32_t leaders = (uint32_t)c->param[RRIP_LEADERS], step = c->config->l1d.sets / leaders;
  if (step < 2) step = 2;
  if (set % step == 0) return 1;
  if (set % step == step / 2) return 2;
  return 0;
}

static bool rrip_bimodal(const struct scheme_ctx *c, const struct rrip_sm *s, uint32_t set) {
  switch ((int)c->param[RRIP_POLICY]) {
  case 0:
    return false;
  case 1:
    return true;
  default: {
    int l = rrip_leader(c, set);
    return l ? l == 2 : s->psel > RRIP_PSEL_MAX / 2;
  }
  }
}

static int rrip_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  struct rrip_sm *s = SCHEME_SM(c, struct rrip_sm, sm);
  uint8_t *v = s->value + cs->set * cs->ways, max = rrip_max(c);
  for (;;) {
    for (uint32_t w = 0; w < cs->ways; w++)
      if (cs->usable >> w & 1 && v[w] >= max) return (int)w;
    for (uint32_t w = 0; w < cs->ways; w++)
      if (cs->usable >> w & 1) v[w]++;
    c->counter[AGINGS]++;
  }
}

static void rrip_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  SCHEME_SM(c, struct rrip_sm, e->sm)->value[e->set * c->config->l1d.ways + e->way] = 0;
  c->counter[PROMOTIONS]++;
}

static void rrip_insert(struct scheme_ctx *c, const struct l1_event *e) {
  struct rrip_sm *s = SCHEME_SM(c, struct rrip_sm, e->sm);
  uint8_t max = rrip_max(c);
  int l = rrip_leader(c, e->set); /* a miss in a leader set counts against its policy */
  if (l == 1 && s->psel < RRIP_PSEL_MAX) s->psel++;
  if (l == 2 && s->psel > 0) s->psel--;
  bool distant = rrip_bimodal(c, s, e->set) && ++s->insertions % (uint32_t)c->param[RRIP_THROTTLE] != 0;
  s->value[e->set * c->config->l1d.ways + e->way] = (uint8_t)(distant ? max : max - 1);
  c->counter[distant ? INSERT_DISTANT : INSERT_LONG]++;
}

SCHEME_STORAGE(rrip_storage, {"prediction value per line", param[RRIP_BITS] * g->l1d.sets * g->l1d.ways * g->sms},
               {"policy selector (DRRIP), 10 bits per SM", param[RRIP_POLICY] == 2 ? 10.0 * g->sms : 0})

static const struct scheme rrip = {
    .name = "rrip",
    .title = "re-reference interval prediction",
    .paper = "Jaleel, Theobald, Steely, Emer: High Performance Cache Replacement Using RRIP. ISCA 2010",
    .idea = "Each line carries a guess of how soon it is used again: near-immediate after a hit, long when inserted.\n"
            "The victim is a line guessed distant; when there is none, all lines of the set age. BRRIP inserts most\n"
            "lines as distant, so that a scan does not flush the cache; DRRIP lets leader sets choose.",
    .params = params,
    .counters = counters,
    .positional = "policy",
    .sm_state_bytes = sizeof(struct rrip_sm),
    .by_sm = true,
    .init = rrip_init,
    .storage = rrip_storage,
    .find_victim = rrip_find_victim,
    .on_hit = rrip_on_hit,
    .on_place = rrip_insert,
};
SCHEME(rrip);
