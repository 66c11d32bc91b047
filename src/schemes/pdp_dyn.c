/* pdp_dyn.c - dynamic protecting distance: PD is computed from sampled reuse distances.
 *
 * Paper: Duong, Zhao, Kim, Cammarota, Valero, Veidenbaum, "Improving Cache Management Policies Using Dynamic Reuse
 * Distances", MICRO 2012, sections 2.4 and 3. E(d) = sum_{i<=d} N_i / (sum N_i i + (N_t - sum N_i)(d + W)).
 *
 * Deviations, all from the size of an L1: every SM samples and chooses for itself; up to 32 sampled sets, which is
 * every set of the baseline; a FIFO takes every 8th access of its set, so that 32 entries reach the paper's distance
 * of 256; PD is recomputed after `interval` accesses of the SM (512 K in the paper, for some 10^4 lines: 16 accesses a
 * line; with 128 lines that would be 2048, too few to see a distance of 256 in 32 sets, hence 16384), and the counters
 * restart. The start is PD = associativity. See lib/pdp.h.
 */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/hash.h"
#include "schemes/lib/pdp.h"

enum { DYN_INTERVAL, DYN_MAX };
enum { DYN_FIFOS = 32, DYN_DEPTH = 32, DYN_EVERY = 8, DYN_STEP = 4, DYN_COUNTERS = 64 };

static const struct scheme_param params[] = {
    {"interval", "access", "accesses of an SM between computations of PD (section 3)", 64, 1e9, 16384, true},
    {"max", "access", "largest distance (section 3: 256)", DYN_STEP, 256, 256, true},
    {0},
};
enum { BYPASSES, RENEWED, COMPUTED, PD_SUM, SAMPLED };
static const struct scheme_counter counters[] = {
    {"bypasses", "access", "misses that bypassed the L1 because all lines of the set were protected", true},
    {"renewed", "hit", "hits that renewed a line's distance", true},
    {"computed", "time", "computations of PD, over all SMs", false},
    {"pd_sum", "access", "PD summed over computations: divide by them for its mean", false},
    {"sampled", "access", "reuse distances measured", true},
    {0},
};

struct dyn_fifo {
  uint16_t tag[DYN_DEPTH];
  uint32_t valid; /* a bit each */
  uint32_t head;  /* index of the newest entry; older ones follow */
  uint32_t since; /* accesses since then */
};
_Static_assert(DYN_DEPTH == 32, "the entries of a FIFO are a word of bits");
struct dyn_sm {
  struct pdp_lines lines;
  struct dyn_fifo fifo[DYN_FIFOS];
  uint32_t n[DYN_COUNTERS + 1]; /* reuses at distances (4(k-1), 4k] */
  uint32_t total, accesses, pd;
  uint32_t interval;
};

static bool dyn_init(struct scheme_ctx *c, struct err *e) {
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct dyn_sm *s = SCHEME_SM(c, struct dyn_sm, i);
    s->pd = c->config->l1d.ways;
    s->interval = (uint32_t)c->param[DYN_INTERVAL];
  }
  return pdp_init_lines(c, "pdp-dyn", e);
}

/* The distance that maximises E; 0 if nothing was reused. */
static uint32_t dyn_best(const struct dyn_sm *s, uint32_t ways, uint32_t max) {
  double hits = 0, occupancy = 0, best = 0;
  uint32_t pd = 0;
  for (uint32_t k = 1; k <= max / DYN_STEP; k++) {
    hits += s->n[k];
    occupancy += (double)s->n[k] * k * DYN_STEP;
    double e = hits ? hits / (occupancy + (s->total - hits) * (k * DYN_STEP + ways)) : 0;
    if (e > best) best = e, pd = k * DYN_STEP;
  }
  return pd;
}

/* The entries of a FIFO with this tag, a bit each. */
static inline uint32_t dyn_equal(const struct dyn_fifo *f, uint16_t tag) {
#ifdef __SSE2__
  __m128i t = _mm_set1_epi16((short)tag), equal[DYN_DEPTH / 8];
  for (uint32_t k = 0; k < DYN_DEPTH / 8; k++)
    equal[k] = _mm_cmpeq_epi16(_mm_loadu_si128((const __m128i *)f->tag + k), t);
  uint32_t low = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(equal[0], equal[1]));
  return low | (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(equal[2], equal[3])) << 16;
#else
  uint32_t m = 0;
  for (uint32_t k = 0; k < DYN_DEPTH; k++) m |= (uint32_t)(f->tag[k] == tag) << k;
  return m;
#endif
}

static inline void dyn_sample(struct scheme_ctx *c, struct dyn_sm *s, const struct l1_event *e) {
  uint32_t sets = c->config->l1d.sets, at = e->set;
  if (sets > DYN_FIFOS) {
    uint32_t step = sets / DYN_FIFOS;
    if (e->set % step) return;
    at /= step;
  }
  if (at >= DYN_FIFOS) return;
  struct dyn_fifo *f = &s->fifo[at];
  uint16_t tag = (uint16_t)hash_u64(e->line);
  s->total++;
  f->since++;
  uint32_t equal = dyn_equal(f, tag) & f->valid;
  if (equal) { /* the youngest of them: by age from the head on */
    uint32_t k = (uint32_t)__builtin_ctz(equal >> f->head | equal << (DYN_DEPTH - f->head) % DYN_DEPTH);
    uint32_t distance = k * DYN_EVERY + f->since, slot = (distance + DYN_STEP - 1) / DYN_STEP;
    f->valid &= ~(1u << (f->head + k) % DYN_DEPTH);
    if (slot <= DYN_COUNTERS) s->n[slot]++;
    c->counter[SAMPLED]++;
  }
  if (f->since < DYN_EVERY) return;
  f->since = 0;
  f->head = (f->head + DYN_DEPTH - 1) % DYN_DEPTH;
  f->tag[f->head] = tag;
  f->valid |= 1u << f->head;
}

static void dyn_access(struct scheme_ctx *c, const struct l1_event *e, int way) {
  struct dyn_sm *s = SCHEME_SM(c, struct dyn_sm, e->sm);
  dyn_sample(c, s, e);
  pdp_access(&s->lines, e->set, c->config->l1d.ways, way, s->pd);
  if (++s->accesses < s->interval) return;
  uint32_t pd = dyn_best(s, c->config->l1d.ways, (uint32_t)c->param[DYN_MAX]);
  if (pd) s->pd = pd;
  c->counter[COMPUTED]++;
  c->counter[PD_SUM] += s->pd;
  memset(s->n, 0, sizeof s->n);
  s->total = s->accesses = 0;
}

static int dyn_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *cs, const struct l1_event *e) {
  (void)e;
  return pdp_victim(&SCHEME_SM(c, struct dyn_sm, sm)->lines, cs);
}

static bool dyn_on_stall(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome why) {
  struct dyn_sm *s = SCHEME_SM(c, struct dyn_sm, e->sm);
  if (why != L1_NO_LINE || !pdp_all_protected(&s->lines, e->set, c->config->l1d.ways)) return false;
  c->counter[BYPASSES]++;
  dyn_access(c, e, -1);
  return true;
}

static void dyn_on_access(struct scheme_ctx *c, const struct l1_event *e, enum l1_outcome out) {
  c->counter[RENEWED] += out == L1_HIT;
  dyn_access(c, e, out == L1_HIT || out == L1_MISS ? (int)e->way : -1);
}

/* A line placed at the arrival of its data is protected from then on; where misses place lines, on_access protects it.
 */
static void dyn_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  if (c->config->l1d_alloc != ALLOC_ON_FILL) return;
  struct dyn_sm *s = SCHEME_SM(c, struct dyn_sm, e->sm);
  pdp_protect(&s->lines, e->set, c->config->l1d.ways, e->way, s->pd);
}

static void dyn_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  if (by != BYPASS_BY_CACHE) return;
  c->counter[BYPASSES]++;
  dyn_access(c, e, -1);
}

SCHEME_STORAGE(dyn_storage, {"remaining distance, 8 bits per line", 8.0 * g->l1d.sets * g->l1d.ways * g->sms},
               {"sampler, 32 FIFOs of 32 tags of 16 bits and a valid bit, per SM", 32.0 * 32 * 17 * g->sms},
               {"insertion counters, 3 bits per FIFO", 32.0 * 3 * g->sms},
               {"distance counters of 16 bits, total of 32 bits, per SM",
                (param[DYN_MAX] / DYN_STEP * 16 + 32) * g->sms},
               {"PD, 8 bits per SM", 8.0 * g->sms})

static const struct scheme pdp_dyn = {
    .name = "pdp-dyn",
    .title = "protecting distance computed from sampled reuse distances",
    .paper = "Duong, Zhao, Kim, Cammarota, Valero, Veidenbaum: Dynamic Reuse Distances. MICRO 2012",
    .idea =
        "As pdp, but the distance is recomputed periodically: small FIFOs of sampled addresses measure how far apart\n"
        "uses of a line are, and the distance with most hits for the time that lines occupy the cache is chosen.",
    .params = params,
    .counters = counters,
    .sm_state_bytes = sizeof(struct dyn_sm),
    .by_sm = true,
    .steady = true,
    .init = dyn_init,
    .storage = dyn_storage,
    .find_victim = dyn_find_victim,
    .on_stall = dyn_on_stall,
    .on_access = dyn_on_access,
    .on_place = dyn_on_place,
    .on_bypass = dyn_on_bypass,
};
SCHEME(pdp_dyn);
