/* tsc.c - the tag-split cache: chunks of several lines share a group of a set, and the upper part of their tags.
 *
 * Paper: Li, Hayes, Song, Zhang, "Tag-Split Cache for Efficient GPGPU Cache Utilization", ICS 2016, section 3.
 *
 * Deviations and choices: see lib/tagsplit.h. No dirty data in the L1 (local stores write through and evict, as the
 * paper's global ones). "Evictions" counts lines that lost their last chunk.
 */
#include "schemes/lib/tagsplit.h"

static const struct scheme_param params[] = {
    TAGSPLIT_PARAMS,
    {0},
};
enum { PARTIAL, PLACED, DROPPED };
static const struct scheme_counter counters[] = {
    {"partial_misses", "access", "some of the requested chunks were present or pending", true},
    {"placed", "chunk", "chunks placed", true},
    {"dropped", "chunk", "valid chunks evicted for others", true},
    {0},
};

static struct tagsplit *tsc_of(struct scheme_ctx *c, uint32_t sm) {
  return SCHEME_SM(c, struct tagsplit, sm);
}
static struct l1_shape tsc_shape(const struct scheme_ctx *c) {
  return ts_shape(c);
}
static uint32_t tsc_find(struct scheme_ctx *c, const struct l1_event *e) {
  return ts_find(tsc_of(c, e->sm), e);
}
static enum l1_plan tsc_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  return ts_plan(tsc_of(c, e->sm), e, missing);
}
static void tsc_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  ts_touch(tsc_of(c, e->sm), e, here, out);
  c->counter[PARTIAL] += out == L1_PARTIAL;
}
static void tsc_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  ts_fill(tsc_of(c, e->sm), e, chunks);
}
static bool tsc_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  return ts_store(tsc_of(c, e->sm), e, chunks);
}
static void tsc_clear(struct scheme_ctx *c, uint32_t sm) {
  ts_clear(c, tsc_of(c, sm));
}
static void tsc_drop(struct scheme_ctx *c, uint32_t sm) {
  ts_forget(c, tsc_of(c, sm));
}
static uint32_t tsc_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  c->counter[DROPPED] += ts_reserve(c, tsc_of(c, e->sm), e, missing);
  c->counter[PLACED] += (uint64_t)__builtin_popcount(missing);
  return 0; /* all in one round (section 3.3) */
}

static const struct l1_org tsc_org = {
    .shape = tsc_shape,
    .find = tsc_find,
    .plan = tsc_plan,
    .reserve = tsc_reserve,
    .touch = tsc_touch,
    .fill = tsc_fill,
    .store = tsc_store,
    .clear = tsc_clear,
    .drop = tsc_drop,
    .steady = true,
};

static const struct scheme tsc = {
    .name = "tsc",
    .title = "tag-split cache",
    .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016",
    .idea =
        "Accesses stay 128 B, but only the requested chunks are fetched and stored, anywhere in the set. To keep tags\n"
        "small, the chunks of a group share the upper part of their tag and each has a short private part, so that a\n"
        "group holds chunks of any lines of a 1 MB region.",
    .params = params,
    .counters = counters,
    .positional = "private",
    .sm_state_bytes = sizeof(struct tagsplit),
    .by_sm = true,
    .more_sm_state = ts_more_sm_state,
    .configure = ts_configure,
    .init = ts_init,
    .storage = ts_storage,
    .probe_picojoule = 0.8, /* section 5.6 */
    .l1 = &tsc_org,
};
SCHEME(tsc);
