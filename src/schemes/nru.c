/* nru.c - not-recently-used replacement at the L1 data cache.
 *
 * Paper: the replacement of Li et al., "Tag-Split Cache", ICS 2016, section 3.3, at the granularity of lines; known
 * from the Itanium 2. The bit of a line is set on a hit and on allocation; when all bits of a set are 1 they become 0.
 * The victim is random among the lines whose bit is 0.
 *
 * Deviations: none known. A load that merges with a pending line does not set the bit again.
 */
#include "gpu/scheme.h"
#include "schemes/lib/nru.h"

enum { NRU_SETS = 4096 };

enum { VICTIM_OLD, VICTIM_RECENT };
static const struct scheme_counter counters[] = {
    {"victim_not_recent", "line", "lines replaced in sets that had one with its bit clear", true},
    {"victim_recent", "line", "lines replaced though recently used: no usable line had its bit clear", false},
    {0},
};

struct nru_sm {
  uint64_t bits[NRU_SETS];
  uint64_t draw; /* lines placed so far */
};

static bool nru_init(struct scheme_ctx *c, struct err *e) {
  if (c->config->l1d.sets > NRU_SETS)
    return err_set(e, ERR_USAGE, "scheme nru: an L1 of %u sets has more than %d", c->config->l1d.sets, NRU_SETS);
  return true;
}

static void nru_on_kernel(struct scheme_ctx *c) { /* the L1 is empty */
  for (uint32_t i = 0; i < c->config->sms; i++) {
    uint64_t *bits = SCHEME_SM(c, struct nru_sm, i)->bits;
    for (uint32_t k = 0; k < c->config->l1d.sets; k++) bits[k] = 0;
  }
}

static int nru_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  struct nru_sm *s = SCHEME_SM(c, struct nru_sm, sm);
  return (int)nru_victim(s->bits[cs->set], cs->usable, s->draw);
}

static void nru_on_evict(struct scheme_ctx *c, const struct l1_event *e, uint32_t owner, bool reused) {
  (void)owner, (void)reused;
  uint64_t bits = SCHEME_SM(c, struct nru_sm, e->sm)->bits[e->set];
  c->counter[bits >> e->way & 1 ? VICTIM_RECENT : VICTIM_OLD]++;
}

static void nru_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  nru_use(&SCHEME_SM(c, struct nru_sm, e->sm)->bits[e->set], e->way, c->config->l1d.ways);
}

static void nru_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  struct nru_sm *s = SCHEME_SM(c, struct nru_sm, e->sm);
  nru_use(&s->bits[e->set], e->way, c->config->l1d.ways);
  s->draw++;
}

SCHEME_STORAGE(nru_storage, {"recently-used bit per line", (double)g->l1d.sets * g->l1d.ways * g->sms})

static const struct scheme nru = {
    .name = "nru",
    .title = "not-recently-used replacement",
    .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016, section 3.3",
    .idea = "A bit per line says that it was used since the bits of its set were last cleared, which happens when all\n"
            "are set. The victim is a random line whose bit is clear.",
    .counters = counters,
    .sm_state_bytes = sizeof(struct nru_sm),
    .by_sm = true,
    .init = nru_init,
    .storage = nru_storage,
    .find_victim = nru_find_victim,
    .on_kernel = nru_on_kernel,
    .on_evict = nru_on_evict,
    .on_hit = nru_on_hit,
    .on_place = nru_on_place,
};
SCHEME(nru);
