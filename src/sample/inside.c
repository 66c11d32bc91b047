/* inside.c - see inside.h. */
#include "sample/inside.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

const double inside_likeness = 1.05;

struct inside {
  struct feed feed;
  struct feed_kernel kernel; /* of the timed CTAs */
  struct feed *inner;
  struct crew *crew; /* of the CTAs that are not timed */
  uint32_t resident, runs;
  uint32_t *cta; /* the timed ones, ascending */
  uint32_t ctas;
  uint32_t next; /* timed CTAs before which all that are not timed have run */
  bool failed;
  uint64_t now, warp_insts, thread_insts;   /* of the timed ones */
  uint64_t other_warp_insts, other_threads; /* of the rest */
  struct inside_point *point;               /* ends of timed CTAs */
  uint32_t points;
  struct inside_source source; /* of counters; `peek` NULL: none */
  struct feed_watch watch, *outer;
  struct group_end *group; /* of timed groups; the first is the begin of the launch */
  uint32_t groups, seen;   /* that have ended; of which the counters have been noted */
};

/* The counters when a group had ended. */
struct group_end {
  struct gpu_stats stats;
  double insts;
};

uint32_t inside_groups(uint64_t ctas, uint32_t resident) {
  return resident ? (uint32_t)(ctas / resident) : 0;
}

/* ---- the CTAs that are not timed ---- */

/* Those before timed CTA `timed` of the list; its length: all. A scheme may start timed ones in any order. */
static bool run_up_to(struct inside *s, uint32_t timed) {
  for (; s->next <= timed && !s->failed; s->next++) {
    struct crew_counts n = {0};
    uint32_t from = s->next ? s->cta[s->next - 1] + 1 : 0;
    uint32_t to = s->next < s->ctas ? s->cta[s->next] : s->inner->kernel->ctas;
    if (from >= to) continue;
    s->failed = !crew_run(s->crew, &(struct crew_range){.from = from, .to = to, .cycle = s->now}, &n);
    s->other_warp_insts += n.warp_insts;
    s->other_threads += n.thread_insts;
  }
  return !s->failed;
}

/* ---- the feed ---- */

static void inside_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  struct inside *s = ctx;
  run_up_to(s, cta); /* a failure shows at the next issue */
  s->inner->ops->start_cta(s->inner->ctx, slot, s->cta[cta], sm, first_warp);
}

static bool inside_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *out) {
  struct inside *s = ctx;
  if (s->failed) return false;
  s->now = out->cycle;
  bool ok = s->inner->ops->issue(s->inner->ctx, slot, w, out);
  s->warp_insts++;
  s->thread_insts += (uint32_t)__builtin_popcount(out->mask);
  return ok;
}

static bool inside_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  const struct inside *s = ctx;
  return s->inner->ops->atomic(s->inner->ctx, token, lanes);
}

static void inside_end_cta(void *ctx, uint32_t slot) {
  struct inside *s = ctx;
  s->point[s->points++] = (struct inside_point){(double)s->now, (double)s->warp_insts};
  if (s->source.peek && s->points % s->resident == 0) {
    s->groups++;
    s->source.soon(s->source.ctx);
  }
  s->inner->ops->end_cta(s->inner->ctx, slot);
}

static const struct feed_fault *inside_fault(void *ctx) {
  const struct inside *s = ctx;
  if (s->failed) return crew_fault(s->crew);
  return s->inner->ops->fault(s->inner->ctx);
}

static bool inside_data(void *ctx, uint64_t addr, uint32_t bytes, void *out) {
  const struct inside *s = ctx;
  return s->inner->ops->data && s->inner->ops->data(s->inner->ctx, addr, bytes, out);
}

static const struct feed_ops operations = {.start_cta = inside_start,
                                           .issue = inside_issue,
                                           .atomic = inside_atomic,
                                           .end_cta = inside_end_cta,
                                           .fault = inside_fault,
                                           .data = inside_data};

/* ---- counters ---- */

static void note_group(void *ctx, const struct feed_kernel *k, uint32_t ended) {
  struct inside *s = ctx;
  struct group_end now = {.insts = (double)s->warp_insts};
  if (s->outer) {
    s->outer->ended = ended;
    s->outer->look(s->outer->ctx, k, ended);
  }
  if (s->seen == s->groups || !s->source.peek(s->source.ctx, &now.stats)) return;
  while (s->seen < s->groups) s->group[++s->seen] = now;
}

void inside_watch(struct inside *s, const struct inside_source *source) {
  s->source = *source;
  s->outer = s->feed.watch;
  s->watch = (struct feed_watch){.look = note_group, .ctx = s};
  s->feed.watch = &s->watch;
  s->group = mem_zeroed(s->ctas / s->resident + 1, sizeof *s->group);
}

/* ---- the choice ---- */

static void add_groups(struct inside *s, uint32_t first, uint32_t n) {
  for (uint32_t i = 0; i < n * s->resident; i++) s->cta[s->ctas++] = first * s->resident + i;
}

/* One run of each of equal parts of what is between the first groups and the last. */
static void choose(struct inside *s, const struct inside_choice *c, uint32_t all) {
  uint32_t groups = inside_groups(all, c->resident), between = groups - INSIDE_ENDS;
  add_groups(s, 0, INSIDE_FIRST);
  for (uint32_t r = 0; r < c->runs; r++) {
    uint32_t first = (uint32_t)((uint64_t)r * between / c->runs), end = (uint32_t)((r + 1ull) * between / c->runs);
    uint32_t places = end - first - INSIDE_RUN + 1;
    add_groups(s, INSIDE_FIRST + first + (uint32_t)(hash_u64(c->seed ^ hash_u64(r)) % places), INSIDE_RUN);
  }
  add_groups(s, groups - 1, 1);
  for (uint32_t i = groups * c->resident; i < all; i++) s->cta[s->ctas++] = i; /* the incomplete one */
}

struct inside *inside_new(struct feed *inner, const struct inside_choice *c) {
  const struct feed_kernel *k = inner->kernel;
  struct inside *s = mem_zeroed(1, sizeof *s);
  CHECK(c->runs && inside_timed_groups(c->runs) <= inside_groups(k->ctas, c->resident), "%u runs of a launch", c->runs);
  s->inner = inner;
  s->crew = c->crew;
  s->resident = c->resident;
  s->runs = c->runs;
  s->cta = mem_zeroed((size_t)(inside_timed_groups(c->runs) + 1) * c->resident, sizeof *s->cta);
  choose(s, c, k->ctas);
  s->point = mem_zeroed(s->ctas, sizeof *s->point);
  s->kernel = *k;
  s->kernel.ctas = s->ctas;
  s->feed = (struct feed){.ops = &operations, .ctx = s, .kernel = &s->kernel, .watch = inner->watch};
  return s;
}

void inside_free(struct inside *s) {
  if (!s) return;
  crew_free(s->crew);
  free(s->cta);
  free(s->point);
  free(s->group);
  free(s);
}

struct feed *inside_feed(struct inside *s) {
  return &s->feed;
}

bool inside_end(struct inside *s) {
  return run_up_to(s, s->ctas);
}

/* ---- the result ---- */

static uint32_t inside_freedom(uint32_t runs) {
  return runs > 1 ? runs - 1 : 1;
}

struct logged_estimate inside_extrapolate(const struct inside_point *p, const struct inside_rate *r) {
  double value = 0, insts = 0, squares = 0;
  for (uint32_t b = 0; b < r->n; b++) {
    const struct inside_point *a = &p[r->from + b * r->step], *z = a + r->size;
    value += z->value - a->value;
    insts += z->insts - a->insts;
  }
  double rate = insts > 0 ? value / insts : 0;
  for (uint32_t b = 0; b < r->n; b++) {
    const struct inside_point *a = &p[r->from + b * r->step], *z = a + r->size;
    double d = z->value - a->value - rate * (z->insts - a->insts);
    squares += d * d;
  }
  /* The total of what the batches are a sample of has the variance of their mean; the same instructions without gaps
   * would run with other delays: their true total varies as much as they do. */
  double batch = squares / inside_freedom(r->n) / r->n, all = insts + r->rest;
  double scale = insts > 0 ? all / (insts / r->n) : 0;
  return (struct logged_estimate){r->value + rate * r->rest, batch * scale * scale * (1 + insts / all)};
}

/* Counts the first and the last group of each run as not timed: with neighbours they would have taken less time. */
static void leave_out_edges(const struct inside_point *p, struct inside_rate *r) {
  for (uint32_t b = 0; b < r->n; b++) {
    const struct inside_point *a = &p[r->from + b * r->step], *z = a + r->size;
    const struct inside_point *first = a - (r->step - r->size) / 2, *end = first + r->step;
    r->value -= a->value - first->value + end->value - z->value;
    r->rest += a->insts - first->insts + end->insts - z->insts;
  }
}

/* From points that are `each` to a group, points[0] the end of the first group. */
static struct logged_estimate of_runs(const struct inside *s, const struct inside_point *p, uint32_t each,
                                      double timed) {
  struct inside_rate r = {.from = (INSIDE_FIRST + 1) * each - 1,
                          .size = (INSIDE_RUN - 2) * each,
                          .step = INSIDE_RUN * each,
                          .n = s->runs,
                          .value = timed,
                          .rest = (double)s->other_warp_insts};
  leave_out_edges(p, &r);
  return inside_extrapolate(p, &r);
}

/* As the cycles, from what was noted at the ends of groups. NULL: nothing was. */
static struct logged_estimate *counters(const struct inside *s, const struct gpu_stats *timed) {
  uint32_t last = INSIDE_FIRST + INSIDE_RUN * s->runs; /* groups up to the end of the last run */
  if (s->seen < last) return NULL;
  struct logged_estimate *out = mem_zeroed(LOGGED_COUNTERS, sizeof *out);
  struct inside_point *p = mem_zeroed(last, sizeof *p);
  for (uint32_t i = 0; i < LOGGED_COUNTERS; i++) {
    for (uint32_t g = 0; g < last; g++) {
      const struct group_end *e = &s->group[g + 1];
      p[g] = (struct inside_point){(double)((const uint64_t *)&e->stats)[i], e->insts};
    }
    out[i] = of_runs(s, p, 1, (double)((const uint64_t *)timed)[i]);
    if (out[i].value < 0) out[i].value = 0; /* a maximum */
  }
  free(p);
  return out;
}

struct logged_inside inside_result(const struct inside *s, const struct gpu_stats *timed, uint64_t *warp_insts,
                                   uint64_t *thread_insts) {
  *warp_insts = s->warp_insts + s->other_warp_insts;
  *thread_insts = s->thread_insts + s->other_threads;
  struct logged_estimate cycles = of_runs(s, s->point, s->resident, (double)timed->cycles);
  return (struct logged_inside){.ctas = s->ctas,
                                .warp_insts = s->warp_insts,
                                .thread_insts = s->thread_insts,
                                .cycles = cycles.value,
                                .variance = cycles.variance,
                                .freedom = inside_freedom(s->runs),
                                .counter = counters(s, timed)};
}
