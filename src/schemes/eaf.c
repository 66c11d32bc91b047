/* eaf.c - evicted-address filter: lines that return soon after their eviction are inserted at the MRU position of their
 * L2 set, others bimodally.
 *
 * Paper: Seshadri, Mutlu, Kozuch, Mowry, "The Evicted-Address Filter: A Unified Mechanism to Address Both Cache
 * Pollution and Thrashing", PACT 2012, section 3; MeDiC (PACT 2015) compares its insertion with it.
 *
 * Choices: one filter per L2 sub-partition, 8 bits per line, 4 hash functions. Low priority is the LRU position except
 * once in `throttle` insertions (the bimodal policy). The LRU position is kept as a bit per line: the line inserted
 * there last is the first victim, until a hit moves it to the MRU position. A line placed in an empty way is inserted
 * by the same rule. Atomics take part like reads.
 */
#include "schemes/lib/eaf.h"

enum { EAF_THROTTLE, EAF_HASHES };
static const struct scheme_param params[] = {
    {"throttle", "insertion", "one low-priority insertion in this many is at MRU; 1: all (section 3)", 1, 1024, 64,
     true},
    {"hashes", "", "hash functions of the filter", 1, 16, 4, true},
    {0},
};
enum { FOUND, BIMODAL_MRU, INSERTED_LRU, CLEARED };
static const struct scheme_counter counters[] = {
    {"found", "line", "missed lines found in the filter: inserted at MRU", false},
    {"bimodal_mru", "line", "other lines inserted at MRU", true},
    {"inserted_lru", "line", "lines inserted at LRU", true},
    {"cleared", "clear", "times a filter was full and cleared", false},
    {0},
};

struct eaf {
  uint64_t low_insertions;
  char filters[] __attribute__((aligned(8))); /* then a byte per line: inserted at LRU and not hit since */
};

static size_t eaf_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return eaf_filters_bytes(g) + (size_t)g->channels * g->subparts * g->l2.sets * g->l2.ways;
}

/* The LRU-position bytes of the set of `e`. */
static uint8_t *eaf_low(struct scheme_ctx *c, const struct mem_event *e) {
  const struct gpu_config *g = c->config;
  uint8_t *low = (uint8_t *)((struct eaf *)c->state)->filters + eaf_filters_bytes(g);
  return low + ((size_t)e->subpart * g->l2.sets + e->set) * g->l2.ways;
}
static struct eaf_filter *eaf_filter_of(struct scheme_ctx *c, const struct mem_event *e) {
  return eaf_of(((struct eaf *)c->state)->filters, c->config, e->subpart);
}

static int eaf_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  const uint8_t *low = eaf_low(c, e);
  int best = -1;
  for (uint32_t w = 0; w < s->ways; w++) {
    if (!(s->usable >> w & 1)) continue;
    /* The line at the LRU position is the one put there last. */
    bool better = best < 0 || low[w] > low[best] ||
                  (low[w] == low[best] && (low[w] ? s->used[w] > s->used[best] : s->used[w] < s->used[best]));
    if (better) best = (int)w;
  }
  return best;
}

static void eaf_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  struct eaf *s = c->state;
  if (out == L2_HIT && e->way != UINT32_MAX) eaf_low(c, e)[e->way] = 0;
  if (out != L2_MISS) return;
  bool found = eaf_has(eaf_filter_of(c, e), c->config, e->line, (uint32_t)c->param[EAF_HASHES]);
  bool mru = found || s->low_insertions++ % (uint32_t)c->param[EAF_THROTTLE] == 0;
  eaf_low(c, e)[e->way] = !mru;
  c->counter[found ? FOUND : mru ? BIMODAL_MRU : INSERTED_LRU]++;
}

static void eaf_on_l2_evict(struct scheme_ctx *c, const struct mem_event *e) {
  c->counter[CLEARED] += eaf_insert(eaf_filter_of(c, e), c->config, e->line, (uint32_t)c->param[EAF_HASHES]);
}

static uint32_t eaf_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  (void)param;
  double lines = (double)g->channels * g->subparts * g->l2.sets * g->l2.ways;
  const struct scheme_bits rows[] = {
      {"Bloom filter, 8 bits per L2 line", 8 * lines},
      {"count of addresses in the filter, 16 bits per sub-partition", 16.0 * g->channels * g->subparts},
      {"bimodal counter, 6 bits", 6},
  };
  return SCHEME_ROWS(rows, out, max);
}

static const struct scheme eaf = {
    .name = "eaf",
    .title = "evicted-address filter: L2 insertion by recent eviction",
    .paper = "Seshadri, Mutlu, Kozuch, Mowry: The Evicted-Address Filter. PACT 2012",
    .idea =
        "A line requested again soon after its eviction has reuse; others do not.\n"
        "A Bloom filter remembers recently evicted addresses: lines found in it are inserted at MRU, others at LRU.",
    .params = params,
    .counters = counters,
    .positional = "throttle",
    .state_bytes = sizeof(struct eaf),
    .more_state = eaf_more_state,
    .storage = eaf_storage,
    .l2_find_victim = eaf_l2_find_victim,
    .on_l2_access = eaf_on_l2_access,
    .on_l2_evict = eaf_on_l2_evict,
};
SCHEME(eaf);
