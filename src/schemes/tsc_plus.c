/* tsc_plus.c - the tag-split cache with a choice of granularity: fetch the requested chunks or the whole line.
 *
 * Paper: Li, Hayes, Song, Zhang, "Tag-Split Cache for Efficient GPGPU Cache Utilization", ICS 2016, sections 3.3 and
 * 3.5.
 *
 * Deviations and choices: see tsc.c and lib/tagsplit.h. Sampler sets are spread evenly over the sets of SM 0 (the
 * paper draws them at random). A miss or partial miss that allocates in one adds a miss and 1 + n packets, n the
 * chunks fetched. Of equal products the fine mode wins. In coarse mode a load waits for the whole line. Stores are not
 * widened.
 */
#include "schemes/lib/tagsplit.h"

enum { TSP_SAMPLERS = TS_PARAMS, TSP_LIMIT };
static const struct scheme_param params[] = {
    TAGSPLIT_PARAMS,
    {"samplers", "set", "sampler sets of each mode, in SM 0; 0: always fine (section 3.5)", 0, 16, 4, true},
    {"limit", "miss", "a miss counter above this halves all four (section 3.5)", 1, 65535, 1024, true},
    {0},
};
enum { PARTIAL, PLACED, DROPPED, COARSE, SWITCHES, HALVINGS };
static const struct scheme_counter counters[] = {
    {"partial_misses", "access", "some of the requested chunks were present or pending", true},
    {"placed", "chunk", "chunks placed", true},
    {"dropped", "chunk", "valid chunks evicted for others", true},
    {"coarse", "miss", "misses that fetched whole lines", true},
    {"switches", "time", "changes of the mode of the follower sets", false},
    {"halvings", "time", "times the four counters were halved", false},
    {0},
};

struct tsp {
  uint32_t misses[2], packets[2]; /* fine, coarse */
  bool coarse;                    /* mode of the followers */
};

static struct tagsplit *tsp_of(struct scheme_ctx *c, uint32_t sm) {
  return SCHEME_SM(c, struct tagsplit, sm);
}
static struct l1_shape tsp_shape(const struct scheme_ctx *c) {
  return ts_shape(c);
}
static uint32_t tsp_find(struct scheme_ctx *c, const struct l1_event *e) {
  return ts_find(tsp_of(c, e->sm), e);
}
static enum l1_plan tsp_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  return ts_plan(tsp_of(c, e->sm), e, missing);
}
static void tsp_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  ts_touch(tsp_of(c, e->sm), e, here, out);
  c->counter[PARTIAL] += out == L1_PARTIAL;
}
static void tsp_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  ts_fill(tsp_of(c, e->sm), e, chunks);
}
static bool tsp_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  return ts_store(tsp_of(c, e->sm), e, chunks);
}
static void tsp_clear(struct scheme_ctx *c, uint32_t sm) {
  ts_clear(c, tsp_of(c, sm));
}
static void tsp_drop(struct scheme_ctx *c, uint32_t sm) {
  ts_forget(c, tsp_of(c, sm));
}

/* 0: a fine sampler, 1: a coarse one, -1: a follower. */
static int tsp_sampler(const struct scheme_ctx *c, const struct l1_event *e) {
  uint32_t n = (uint32_t)c->param[TSP_SAMPLERS], step = n ? c->config->l1d.sets / n : 0;
  if (e->sm || !n) return -1;
  if (step < 2) step = 2;
  if (e->set / step >= n) return -1;
  return e->set % step == 0 ? 0 : e->set % step == step / 2 ? 1 : -1;
}

static uint32_t tsp_want(struct scheme_ctx *c, const struct l1_event *e, uint32_t need) {
  const struct tsp *t = c->state;
  int sampler = tsp_sampler(c, e);
  uint32_t per = c->config->l1d.line / (uint32_t)c->param[TS_CHUNK];
  return (sampler < 0 ? t->coarse : sampler) ? (uint32_t)((1ull << per) - 1) : need;
}

/* A miss that allocates in a sampler set. */
static void tsp_learn(struct scheme_ctx *c, int mode, uint32_t chunks) {
  struct tsp *t = c->state;
  t->misses[mode]++;
  t->packets[mode] += 1 + chunks;
  if (t->misses[mode] > (uint32_t)c->param[TSP_LIMIT]) {
    for (int i = 0; i < 2; i++) t->misses[i] >>= 1, t->packets[i] >>= 1;
    c->counter[HALVINGS]++;
  }
  bool coarse = (uint64_t)t->misses[1] * t->packets[1] < (uint64_t)t->misses[0] * t->packets[0];
  if (coarse == t->coarse) return;
  c->counter[SWITCHES]++;
  t->coarse = coarse;
  gpu_l1_ask_again(c->gpu);
}

static uint32_t tsp_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  const struct tsp *t = c->state;
  int sampler = tsp_sampler(c, e);
  c->counter[COARSE] += sampler < 0 ? t->coarse : (uint64_t)sampler;
  c->counter[DROPPED] += ts_reserve(c, tsp_of(c, e->sm), e, missing);
  c->counter[PLACED] += (uint64_t)__builtin_popcount(missing);
  if (sampler >= 0) tsp_learn(c, sampler, (uint32_t)__builtin_popcount(missing));
  return 0;
}

static uint32_t tsp_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  uint32_t n = ts_storage(g, param, out, max);
  if (n < max) out[n] = (struct scheme_bits){"two miss and two packet counters of 16 bits, for the GPU", 64};
  return n + 1;
}

static const struct l1_org tsp_org = {
    .shape = tsp_shape,
    .find = tsp_find,
    .want = tsp_want,
    .plan = tsp_plan,
    .reserve = tsp_reserve,
    .touch = tsp_touch,
    .fill = tsp_fill,
    .store = tsp_store,
    .clear = tsp_clear,
    .drop = tsp_drop,
    .steady = true,
};

static const struct scheme tsc_plus = {
    .name = "tsc+",
    .title = "tag-split cache that chooses between chunks and whole lines",
    .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016, section 3.5",
    .idea =
        "As tsc, but a few sampler sets of SM 0 always fetch the requested chunks and a few always whole lines. The\n"
        "mode with the smaller product of misses and packets is used by all other sets.",
    .params = params,
    .counters = counters,
    .positional = "private",
    .state_bytes = sizeof(struct tsp),
    .sm_state_bytes = sizeof(struct tagsplit),
    .more_sm_state = ts_more_sm_state,
    .configure = ts_configure,
    .init = ts_init,
    .storage = tsp_storage,
    .probe_picojoule = 0.8, /* section 5.6 */
    .l1 = &tsp_org,
};
SCHEME(tsc_plus);
