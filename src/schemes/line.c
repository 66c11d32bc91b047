/* line.c - an L1 of another line size at equal capacity; accesses are coalesced to the line.
 *
 * Paper: Li et al., "Tag-Split Cache", ICS 2016, section 2.2, Fig 2, 4 and 5.
 *
 * Choices: sets grow or shrink, ways stay. Segments are the line for 32 and 64 B lines; with 256 B lines 128 B for
 * elements of up to 4 bytes and 256 B for loads of wider ones. A fill of 256 B takes a request for each of the two L2
 * lines. line=128 is the baseline without dirty data (see l1_org in gpu/slots/scheme.h).
 */
#include "schemes/lib/frames.h"

enum { LINE_BYTES };
static const struct scheme_param params[] = {
    {"bytes", "B", "line size: 32, 64, 128 or 256 (section 2.2)", 32, 256, 64, true},
    {0},
};

enum { LINE_PLACED, LINE_HALVES };
static const struct scheme_counter counters[] = {
    {"placed", "line", "lines of this size allocated", true},
    {"halves", "access", "misses that asked two L2 lines for one of 256 B", false},
    {0},
};

static bool line_configure(struct gpu_config *c, const double *param, struct err *e) {
  uint32_t bytes = (uint32_t)param[LINE_BYTES];
  (void)c;
  if (bytes & (bytes - 1)) return err_set(e, ERR_USAGE, "scheme line: %u is not one of 32, 64, 128, 256", bytes);
  return true;
}

static uint32_t line_sets_of(const struct gpu_config *g, const double *param) {
  uint32_t sets = g->l1d.sets * g->l1d.line / (uint32_t)param[LINE_BYTES];
  return sets ? sets : 1;
}
static uint32_t line_sets(const struct scheme_ctx *c) {
  return line_sets_of(c->config, c->param);
}
static size_t line_more_sm_state(const struct gpu_config *g, const double *param) {
  return frames_bytes(line_sets_of(g, param), g->l1d.ways);
}

static bool line_init(struct scheme_ctx *c, struct err *e) {
  if (line_sets(c) * c->config->l1d.ways <= FRAMES_MAX) return true;
  return err_set(e, ERR_USAGE, "scheme line: more than %d lines", FRAMES_MAX);
}

static struct frames *frames_of(struct scheme_ctx *c, uint32_t sm) {
  return SCHEME_SM(c, struct frames, sm);
}
static struct l1_shape line_shape(const struct scheme_ctx *c) {
  uint32_t bytes = (uint32_t)c->param[LINE_BYTES];
  return (struct l1_shape){bytes, bytes > 128 ? 128 : bytes, line_sets(c)};
}
static uint32_t line_find(struct scheme_ctx *c, const struct l1_event *e) {
  const struct frame *f = frames_find(frames_of(c, e->sm), e, c->config->l1d.ways);
  return f ? f->valid : 0;
}
/* A miss brings the whole line. */
static uint32_t line_want(struct scheme_ctx *c, const struct l1_event *e, uint32_t need) {
  (void)e, (void)need;
  return c->param[LINE_BYTES] > 128 ? 3 : 1;
}
static enum l1_plan line_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  (void)missing;
  return frames_has_place(frames_of(c, e->sm), e, c->config->l1d.ways) ? PLAN_PLACE : PLAN_FULL;
}
static uint32_t line_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  c->counter[LINE_PLACED]++;
  c->counter[LINE_HALVES] += missing == 3;
  frames_reserve(c, frames_of(c, e->sm), e, c->config->l1d.ways, missing, NULL);
  return 0;
}
static void line_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  frames_touch(frames_of(c, e->sm), e, c->config->l1d.ways, here, out);
}
static void line_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  frames_fill(frames_of(c, e->sm), e, c->config->l1d.ways, chunks);
}
static bool line_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  (void)chunks; /* the whole line goes */
  return frames_store(frames_of(c, e->sm), e, c->config->l1d.ways, 3);
}
static void line_clear(struct scheme_ctx *c, uint32_t sm) {
  frames_clear(frames_of(c, sm), line_sets(c) * c->config->l1d.ways);
}
static void line_drop(struct scheme_ctx *c, uint32_t sm) {
  frames_drop(frames_of(c, sm), line_sets(c) * c->config->l1d.ways);
}

/* Beside 128 B lines: a tag, a valid bit and 2 bits of age more per line added (32-bit addresses, as in TSC Fig 9). */
static uint32_t line_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out, uint32_t max) {
  double lines = (double)g->l1d.sets * g->l1d.ways * g->l1d.line / param[LINE_BYTES];
  double more = lines - (double)g->l1d.sets * g->l1d.ways;
  if (max) out[0] = (struct scheme_bits){"tag 20, valid, age 2 of each line more", more > 0 ? 23 * more * g->sms : 0};
  return 1;
}

static const struct l1_org line_org = {
    .shape = line_shape,
    .find = line_find,
    .want = line_want,
    .plan = line_plan,
    .reserve = line_reserve,
    .touch = line_touch,
    .fill = line_fill,
    .store = line_store,
    .clear = line_clear,
    .drop = line_drop,
    .steady = true,
};

static const struct scheme line = {
    .name = "line",
    .title = "an L1 of another line size at equal capacity",
    .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016, section 2.2",
    .idea =
        "Short lines waste less of the cache on data that is not used; long ones make fewer requests and use spatial\n"
        "locality. Coalescing follows the line size.",
    .params = params,
    .counters = counters,
    .positional = "bytes",
    .configure = line_configure,
    .sm_state_bytes = sizeof(struct frames),
    .by_sm = true,
    .more_sm_state = line_more_sm_state,
    .init = line_init,
    .storage = line_storage,
    .l1 = &line_org,
};
SCHEME(line);
