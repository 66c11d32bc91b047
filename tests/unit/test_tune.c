/* test_tune.c - what `sluice tune --leave-one-out` chooses, from a table of which the answer is known by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "study/tune.h"

enum { WORKLOADS = 3, A = 0, B, AB, FAILS, CANDIDATES };
static const char *const workload[] = {"x", "y", "z"};
static const struct tune_candidate candidate[CANDIDATES] = {
    {.list = "a", .published = true}, {.list = "b", .published = true}, {.list = "a,b"}, {.list = "b,a"}};

static void chosen_on_the_others(void **state) {
  (void)state;
  static const double ratio[CANDIDATES * WORKLOADS] = {
      4.0, 0.9, 0.9, /* a: much on x alone */
      1.1, 1.1, 1.1, /* b: a little everywhere */
      1.0, 1.3, 0.8, /* a,b: it gains on y, and loses on z */
      9.0, 9.0, 0.0, /* it fails on z */
  };
  struct tune_left left[WORKLOADS];
  struct tune_loo l = {.workload = workload,
                       .workloads = WORKLOADS,
                       .candidate = candidate,
                       .candidates = CANDIDATES,
                       .singles = 2,
                       .ratio = ratio,
                       .left = left};
  tune_choose(&l);
  assert_int_equal(l.composition, A); /* 4 * 0.81 = 3.24 */
  assert_int_equal(l.single, A);
  /* x left out: a 0.81, b 1.21, a,b 1.04; y: a 3.6, b 1.21, a,b 0.8; z: a 3.6, b 1.21, a,b 1.3 */
  assert_int_equal(left[0].composition, B);
  assert_int_equal(left[0].single, B);
  assert_int_equal(left[1].composition, A);
  assert_int_equal(left[2].composition, A);
  assert_int_equal(left[0].best, FAILS);
  assert_int_equal(left[1].best, FAILS);
  assert_int_equal(left[2].best, B);
}

static void compositions_apart_from_singles(void **state) {
  (void)state;
  static const double ratio[3 * WORKLOADS] = {1.2, 0.9, 0.9, 0.9, 1.2, 0.9, 1.1, 1.1, 0.7};
  struct tune_left left[WORKLOADS];
  struct tune_loo l = {workload, WORKLOADS, candidate, 3, 2, ratio, 0, 0, left};
  tune_choose(&l);
  assert_int_equal(left[2].composition, AB); /* 1.21 of 1.08 and 1.08 */
  assert_int_equal(left[2].single, A);
  assert_int_equal(left[0].composition, B); /* a 0.81, b 1.08, a,b 0.77 */
  assert_true(left[2].best == SIZE_MAX);    /* nothing gains on z: the baseline */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chosen_on_the_others),
                                     cmocka_unit_test(compositions_apart_from_singles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
