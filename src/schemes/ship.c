/* ship.c - signature-based hit prediction (SHiP-PC, SHiP-Mem) on SRRIP at the L1 data cache.
 *
 * Paper: Wu, Jaleel, Hasenplaugh, Martonosi, Steely, Emer, "SHiP: Signature-based Hit Predictor for High Performance
 * Caching", MICRO 2011, sections 3 and 4.
 *
 * Deviations: the table of counters is per SM (the paper's is per last-level cache). A line evicted by a store does
 * not train the table: there is no eviction event. The PC is the number of the instruction. Several hits to a line
 * count once each.
 */
#include "gpu/scheme.h"

enum { SHIP_TABLE, SHIP_BITS, SHIP_REGION };
enum { SHIP_LINES = 4096, SHIP_TABLE_MAX = 65536, SHIP_FAR = 3 };

static const struct scheme_param params[] = {
    {"table", "entry", "counters of the signature history table (section 4.1)", 16, SHIP_TABLE_MAX, 16384, true},
    {"bits", "bit", "width of a counter (section 4.1)", 1, 8, 3, true},
    {"region", "B", "signature from address regions of this size (SHiP-Mem, 16384 in section 3.2); 0: from the PC", 0,
     1048576, 0, true},
    {0},
};
enum { INSERT_FAR, INSERT_NEAR, TAUGHT_HIT, TAUGHT_UNUSED };
static const struct scheme_counter counters[] = {
    {"insert_distant", "line", "lines whose signature predicts no reuse", true},
    {"insert_intermediate", "line", "the other lines", true},
    {"hits_learnt", "hit", "hits that raised the counter of a signature", true},
    {"unused_learnt", "line", "lines evicted unused, which lowered it", true},
    {0},
};

struct ship_sm {
  uint8_t rrpv[SHIP_LINES];
  bool reused[SHIP_LINES];
  uint32_t signature[SHIP_LINES];
  uint8_t table[SHIP_TABLE_MAX];
};

static bool ship_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  if (k->sets * k->ways > SHIP_LINES)
    return err_set(e, ERR_USAGE, "scheme ship: an L1 of %u lines is larger than %d", k->sets * k->ways, SHIP_LINES);
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct ship_sm *s = SCHEME_SM(c, struct ship_sm, i);
    for (uint32_t t = 0; t < SHIP_TABLE_MAX; t++) s->table[t] = 1; /* weakly reused, as in the authors' code */
  }
  return true;
}

static uint32_t ship_signature(const struct scheme_ctx *c, const struct l1_event *e) {
  uint64_t region = (uint64_t)c->param[SHIP_REGION];
  uint64_t s = region ? e->line / region : e->pc;
  return (uint32_t)(s % (uint32_t)c->param[SHIP_TABLE]);
}

static int ship_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  uint8_t *v = SCHEME_SM(c, struct ship_sm, sm)->rrpv + cs->set * cs->ways;
  for (;;) {
    for (uint32_t w = 0; w < cs->ways; w++)
      if (cs->usable >> w & 1 && v[w] >= SHIP_FAR) return (int)w;
    for (uint32_t w = 0; w < cs->ways; w++)
      if (cs->usable >> w & 1) v[w]++;
  }
}

static void ship_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  struct ship_sm *s = SCHEME_SM(c, struct ship_sm, e->sm);
  uint32_t i = e->set * c->config->l1d.ways + e->way, max = (1u << (uint32_t)c->param[SHIP_BITS]) - 1;
  s->rrpv[i] = 0;
  s->reused[i] = true;
  c->counter[TAUGHT_HIT]++;
  uint8_t *t = &s->table[s->signature[i]];
  if (*t < max) ++*t;
}

static void ship_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)owner, (void)reused;
  struct ship_sm *s = SCHEME_SM(c, struct ship_sm, e->sm);
  uint32_t i = e->set * c->config->l1d.ways + e->way;
  if (s->reused[i]) return;
  c->counter[TAUGHT_UNUSED]++;
  uint8_t *t = &s->table[s->signature[i]];
  if (*t) --*t;
}

static void ship_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  struct ship_sm *s = SCHEME_SM(c, struct ship_sm, e->sm);
  uint32_t i = e->set * c->config->l1d.ways + e->way;
  s->signature[i] = ship_signature(c, e);
  s->reused[i] = false;
  bool far = !s->table[s->signature[i]];
  s->rrpv[i] = far ? SHIP_FAR : SHIP_FAR - 1;
  c->counter[far ? INSERT_FAR : INSERT_NEAR]++;
}

static uint32_t ship_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double lines = (double)g->l1d.sets * g->l1d.ways * g->sms, bits = 0;
  while (1u << (uint32_t)bits < (uint32_t)param[SHIP_TABLE]) bits++;
  const struct scheme_bits rows[] = {
      {"prediction value, 2 bits per line", 2 * lines},
      {"signature per line", bits * lines},
      {"outcome bit per line", lines},
      {"signature history table per SM", param[SHIP_TABLE] * param[SHIP_BITS] * g->sms},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme ship = {
    .name = "ship",
    .title = "signature-based hit prediction",
    .paper = "Wu, Jaleel, Hasenplaugh, Martonosi, Steely, Emer: SHiP. MICRO 2011",
    .idea =
        "Lines brought in by one load instruction tend to be reused alike. A counter per signature rises when such a\n"
        "line hits and falls when one leaves unused; at zero, lines of that signature are inserted as the next\n"
        "victims. Replacement is SRRIP with 2 bits.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct ship_sm),
    .by_sm = true,
    .init = ship_init,
    .storage = ship_storage,
    .find_victim = ship_find_victim,
    .on_hit = ship_on_hit,
    .on_evict = ship_on_evict,
    .on_place = ship_on_place,
};
SCHEME(ship);
