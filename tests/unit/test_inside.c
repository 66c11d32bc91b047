/* A sample of the CTAs of a launch: the extrapolation worked by hand, and the CTAs that are started and run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/inside.h"

/* Points 0 to 6 in batches of 2: cycles 20, 30, 40 for 10 instructions each: rate 90 / 30 = 3, residuals -10, 0, 10,
 * squares 200; with 60 instructions left 100 + 3 x 60 = 280 cycles, variance 200 / 2 / 3 x (90 / 10)^2 x (1 + 30 / 90)
 * = 3600. */
static void by_hand(void **state) {
  (void)state;
  static const struct inside_point p[] = {{0, 0}, {10, 5}, {20, 10}, {35, 15}, {50, 20}, {70, 25}, {90, 30}};
  struct inside_rate r = {.from = 0, .size = 2, .step = 2, .n = 3, .value = 100, .rest = 60};
  struct logged_estimate out = inside_extrapolate(p, &r);
  assert_true(fabs(out.value - 280) < 1e-9);
  assert_true(fabs(out.variance - 3600) < 1e-9);
  /* Batches of one point, every third: cycles 10 and 15 for 5 instructions each, rate 2.5: 100 + 2.5 x 60. */
  r.size = 1, r.step = 3, r.n = 2;
  out = inside_extrapolate(p, &r);
  assert_true(fabs(out.value - 250) < 1e-9);
}

/* A feed whose CTAs are one warp of CTA % 3 + 1 instructions; it notes who started. */
enum { ALL = 50, SLOTS = 4 };
struct noted {
  uint32_t started[ALL], on[SLOTS], left[SLOTS], times, spare;
};

static void note_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first) {
  (void)sm, (void)first;
  struct noted *n = ctx;
  n->started[cta]++;
  n->spare += slot == SLOTS - 1;
  n->left[slot] = cta % 3 + 1;
}
static bool note_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *out) {
  (void)w;
  struct noted *n = ctx;
  n->times++;
  out->mask = 0xff;
  out->token = 0;
  out->waits = false;
  out->released = 0;
  out->next_pc = --n->left[slot] ? 0 : FEED_DONE;
  return true;
}
static void note_end(void *ctx, uint32_t slot) {
  (void)ctx, (void)slot;
}

/* A machine of which a counter grows by seven with each instruction, after 1,000 at the begin; it looks when it can. */
struct machine {
  const struct noted *n;
  uint64_t timed;
  bool soon;
  uint32_t looks, outer;
};
static void look_soon(void *ctx) {
  ((struct machine *)ctx)->soon = true;
}
static bool peek(void *ctx, struct gpu_stats *s) {
  struct machine *m = ctx;
  if (!m->soon) return false;
  m->soon = false;
  m->looks++;
  *s = (struct gpu_stats){.thread_insts = 1000 + 7 * m->timed, .loads_1 = 5};
  return true;
}
static void outer_look(void *ctx, const struct feed_kernel *k, uint32_t ended) {
  (void)k;
  struct machine *m = ctx;
  assert_true(ended >= m->outer);
  m->outer = ended;
}

static void every_cta_once(void **state) {
  (void)state;
  static const struct feed_ops ops = {.start_cta = note_start, .issue = note_issue, .end_cta = note_end};
  static const struct feed_kernel k = {.name = "k", .ctas = ALL, .warps_per_cta = 1, .threads_per_cta = 32};
  struct noted n = {0};
  struct machine m = {.n = &n};
  struct feed_watch watch = {.look = outer_look, .ctx = &m};
  struct feed inner = {.ops = &ops, .ctx = &n, .kernel = &k, .watch = &watch};
  struct inside_choice c = {.resident = 3, .runs = 2, .seed = 1, .crew = crew_of_one(NULL, &inner, SLOTS - 1)};
  assert_int_equal(inside_groups(ALL, 3), 16);
  struct inside *s = inside_new(&inner, &c);
  struct feed *f = inside_feed(s);
  inside_watch(s, &(struct inside_source){look_soon, peek, &m});
  assert_int_equal(f->kernel->ctas, (4 + 2 * 4 + 1) * 3 + 2); /* the incomplete group goes with the last */
  for (uint32_t i = 0; i < f->kernel->ctas; i++) {
    struct issued out = {.cycle = i};
    f->ops->start_cta(f->ctx, i % 3, i, 0, 0);
    do assert_true(f->ops->issue(f->ctx, i % 3, 0, &out)), m.timed++;
    while (out.next_pc != FEED_DONE);
    f->ops->end_cta(f->ctx, i % 3);
    feed_cta_ended(f);
  }
  assert_true(inside_end(s));
  uint64_t warp_insts, thread_insts;
  struct gpu_stats timed = {.cycles = 100, .thread_insts = 1000 + 7 * m.timed, .loads_1 = 5};
  struct logged_inside r = inside_result(s, &timed, &warp_insts, &thread_insts);
  const struct logged_estimate *insts = &r.counter[offsetof(struct gpu_stats, thread_insts) / sizeof(uint64_t)];
  const struct logged_estimate *loads = &r.counter[offsetof(struct gpu_stats, loads_1) / sizeof(uint64_t)];
  assert_int_equal(m.looks, 13);
  assert_int_equal(m.outer, 41);
  assert_true(fabs(insts->value - (1000 + 7.0 * n.times)) < 1e-6 && insts->variance < 1e-6); /* at its rate */
  assert_true(loads->value == 5 && loads->variance == 0);                                    /* of the begin only */
  for (uint32_t i = 0; i < ALL; i++) assert_int_equal(n.started[i], 1);
  assert_int_equal(n.spare, ALL - f->kernel->ctas);
  assert_int_equal(warp_insts, n.times);
  assert_int_equal(thread_insts, 8 * n.times);
  assert_true(r.ctas == 41 && r.warp_insts < warp_insts && r.cycles > 100);
  free(r.counter);
  inside_free(s);
}

/* A scheme chooses who is next: the last ones first, or every seventh. */
static void every_cta_once_in_any_order(void **state) {
  (void)state;
  static const struct feed_ops ops = {.start_cta = note_start, .issue = note_issue, .end_cta = note_end};
  static const struct feed_kernel k = {.name = "k", .ctas = ALL, .warps_per_cta = 1, .threads_per_cta = 32};
  for (uint32_t step = 7; step <= 40; step += 33) { /* 40 is -1 of 41 */
    struct noted n = {0};
    struct feed inner = {.ops = &ops, .ctx = &n, .kernel = &k};
    struct inside_choice c = {.resident = 3, .runs = 2, .seed = 1, .crew = crew_of_one(NULL, &inner, SLOTS - 1)};
    struct inside *s = inside_new(&inner, &c);
    struct feed *f = inside_feed(s);
    for (uint32_t i = 1; i <= f->kernel->ctas; i++) {
      struct issued out = {.cycle = i};
      f->ops->start_cta(f->ctx, 0, i * step % f->kernel->ctas, 0, 0);
      do assert_true(f->ops->issue(f->ctx, 0, 0, &out));
      while (out.next_pc != FEED_DONE);
      f->ops->end_cta(f->ctx, 0);
    }
    assert_true(inside_end(s));
    for (uint32_t i = 0; i < ALL; i++) assert_int_equal(n.started[i], 1);
    assert_int_equal(n.spare, ALL - f->kernel->ctas);
    inside_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(every_cta_once),
                                     cmocka_unit_test(every_cta_once_in_any_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
