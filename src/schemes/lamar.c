/* lamar.c - LAMAR: a sector cache that chooses for each line between the requested sectors and the whole line.
 *
 * Paper: Rhu, Sullivan, Leng, Erez, "A Locality-Aware Memory Hierarchy for Energy-Efficient GPU Architectures", MICRO
 * 2013, section 4. Compared with in Li et al., "Tag-Split Cache", ICS 2016, whose Table 3 counts the sectors' valid
 * bits (0.063 KB) and not the filters.
 *
 * Choices: filters are per SM. Hash k is the low 11 of 22 line-address bits XORed with the high 11 rotated by 2k. A
 * line's use is the sectors that loads requested while it had its frame, the first load included; 2 or more are
 * coarse. Sub-ranked DRAM is not modelled: the L2 fetches whole lines. The prediction is asked on every miss, also
 * under a present frame.
 */
#include <string.h>

#include "schemes/lib/frames.h"

enum { LAMAR_BITS, LAMAR_PERIOD, LAMAR_FLIP, LAMAR_USES };
enum { LAMAR_FILTER_MAX = 8192, LAMAR_HASHES = 6, LAMAR_SECTOR = 32, LAMAR_SECTORS = 4 };

static const struct scheme_param params[] = {
    {"filter", "bit", "size of each of two Bloom filters, a power of two (section 4.2)", 64, LAMAR_FILTER_MAX, 2048,
     true},
    {"period", "eviction", "evictions after which the filters change roles (section 4.2)", 1, 1e6, 512, true},
    {"flip", "", "share of evicted lines against the default at which the default flips (section 4.2)", 0, 1, 0.7,
     false},
    {"uses", "sector", "sectors used from which on a line is coarse; 0: every line, so that it never acts", 0, 4, 2,
     true},
    {0},
};
enum { COARSE, FINE, INSERTED, FLIPS, ROTATIONS };
static const struct scheme_counter counters[] = {
    {"coarse", "miss", "misses that fetched whole lines", true},
    {"fine", "miss", "misses that fetched the requested sectors", false},
    {"inserted", "line", "evicted lines that disagreed with the default", true},
    {"flips", "time", "changes of the default", false},
    {"rotations", "time", "changes of roles of the filters", false},
    {0},
};

struct lamar_sm {
  uint64_t filter[2][LAMAR_FILTER_MAX / 64];
  uint32_t current, evictions, since_flip, inserted;
  bool fine;       /* the default */
  struct frames f; /* last: the frames follow it */
};

static bool lamar_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  uint32_t bits = (uint32_t)c->param[LAMAR_BITS];
  if (bits & (bits - 1)) return err_set(e, ERR_USAGE, "scheme lamar: filter=%u is not a power of two", bits);
  if (k->line != LAMAR_SECTOR * LAMAR_SECTORS)
    return err_set(e, ERR_USAGE, "scheme lamar: lines of %u B; it is defined for 128", k->line);
  if (k->sets * k->ways > FRAMES_MAX) return err_set(e, ERR_USAGE, "scheme lamar: more than %d frames", FRAMES_MAX);
  return true;
}

static uint32_t lamar_hash(const struct scheme_ctx *c, uint64_t line, uint32_t k) {
  uint32_t x = (uint32_t)(line / (LAMAR_SECTOR * LAMAR_SECTORS)), low = x & 2047, high = x >> 11 & 2047, r = 2 * k;
  return (low ^ ((high << r | high >> (11 - r)) & 2047) ^ (x >> 22 << 3)) & ((uint32_t)c->param[LAMAR_BITS] - 1);
}

static bool lamar_known(const struct scheme_ctx *c, const struct lamar_sm *s, uint64_t line) {
  for (uint32_t k = 0; k < LAMAR_HASHES; k++) {
    uint32_t h = lamar_hash(c, line, k);
    if (!(s->filter[s->current][h / 64] >> (h % 64) & 1)) return false;
  }
  return true;
}

/* A frame is evicted: was the default prediction right for its line? */
static void lamar_learn(struct scheme_ctx *c, struct lamar_sm *s, const struct frame *went) {
  bool coarse = __builtin_popcount(went->read) >= (int)c->param[LAMAR_USES];
  s->evictions++;
  s->since_flip++;
  if (coarse == s->fine) {
    for (uint32_t k = 0; k < LAMAR_HASHES; k++) {
      uint32_t h = lamar_hash(c, went->line, k);
      s->filter[0][h / 64] |= 1ull << (h % 64);
      s->filter[1][h / 64] |= 1ull << (h % 64);
    }
    s->inserted++;
    c->counter[INSERTED]++;
  }
  if (s->evictions < (uint32_t)c->param[LAMAR_PERIOD]) return;
  s->evictions = 0;
  c->counter[ROTATIONS]++;
  memset(s->filter[s->current], 0, sizeof s->filter[0]);
  s->current ^= 1;
  if (s->inserted < c->param[LAMAR_FLIP] * s->since_flip) return;
  memset(s->filter, 0, sizeof s->filter);
  s->fine = !s->fine;
  s->since_flip = s->inserted = 0;
  c->counter[FLIPS]++;
}

static size_t lamar_more_sm_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return frames_bytes(g->l1d.sets, g->l1d.ways);
}

static struct lamar_sm *lamar_of(struct scheme_ctx *c, uint32_t sm) {
  return SCHEME_SM(c, struct lamar_sm, sm);
}
static struct l1_shape lamar_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, LAMAR_SECTOR, c->config->l1d.sets};
}
static uint32_t lamar_find(struct scheme_ctx *c, const struct l1_event *e) {
  const struct frame *f = frames_find(&lamar_of(c, e->sm)->f, e, c->config->l1d.ways);
  return f ? f->valid : 0;
}
static uint32_t lamar_want(struct scheme_ctx *c, const struct l1_event *e, uint32_t need) {
  const struct lamar_sm *s = lamar_of(c, e->sm);
  if (!(need & ~lamar_find(c, e))) return need;
  return lamar_known(c, s, e->line) == s->fine ? (1u << LAMAR_SECTORS) - 1 : need;
}
static enum l1_plan lamar_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  (void)missing;
  return frames_has_place(&lamar_of(c, e->sm)->f, e, c->config->l1d.ways) ? PLAN_PLACE : PLAN_FULL;
}
static uint32_t lamar_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct lamar_sm *s = lamar_of(c, e->sm);
  struct frame went;
  c->counter[lamar_known(c, s, e->line) == s->fine ? COARSE : FINE]++;
  struct frame *at = frames_reserve(c, &s->f, e, c->config->l1d.ways, missing, &went);
  at->read |= e->chunks;
  if (went.valid) lamar_learn(c, s, &went);
  return 0;
}
static void lamar_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  (void)here;
  frames_touch(&lamar_of(c, e->sm)->f, e, c->config->l1d.ways, e->chunks, out);
}
static void lamar_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  frames_fill(&lamar_of(c, e->sm)->f, e, c->config->l1d.ways, chunks);
}
static bool lamar_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  return frames_store(&lamar_of(c, e->sm)->f, e, c->config->l1d.ways, chunks);
}
static void lamar_clear(struct scheme_ctx *c, uint32_t sm) {
  frames_clear(&lamar_of(c, sm)->f, c->config->l1d.sets * c->config->l1d.ways);
}
static void lamar_drop(struct scheme_ctx *c, uint32_t sm) {
  frames_drop(&lamar_of(c, sm)->f, c->config->l1d.sets * c->config->l1d.ways);
}

SCHEME_STORAGE(lamar_storage,
               {"valid bit of every sector (Table 3 of TSC leaves out the filters: 2 x 2048 bits per SM)",
                (double)LAMAR_SECTORS * g->l1d.sets * g->l1d.ways * g->sms})

static const struct l1_org lamar_org = {
    .shape = lamar_shape,
    .find = lamar_find,
    .want = lamar_want,
    .plan = lamar_plan,
    .reserve = lamar_reserve,
    .touch = lamar_touch,
    .fill = lamar_fill,
    .store = lamar_store,
    .clear = lamar_clear,
    .drop = lamar_drop,
    .steady = true,
};

static const struct scheme lamar = {
    .name = "lamar",
    .title = "sector cache that predicts whether to fetch sectors or the whole line",
    .paper = "Rhu, Sullivan, Leng, Erez: A Locality-Aware Memory Hierarchy for Energy-Efficient GPU Architectures. "
             "MICRO 2013",
    .idea =
        "Lines whose sectors are mostly used are better fetched whole, the others in parts. A default holds for all\n"
        "lines; evicted lines that disagreed with it are remembered in two Bloom filters and get the opposite.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct lamar_sm),
    .by_sm = true,
    .more_sm_state = lamar_more_sm_state,
    .init = lamar_init,
    .storage = lamar_storage,
    .l1 = &lamar_org,
};
SCHEME(lamar);
