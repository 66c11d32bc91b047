/* Totals from samples: quantiles from tables of Student's t, a stratum worked by hand, coverage of drawn samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "sample/estimate.h"

static void near(double got, double want, double by) {
  if (fabs(got - want) > by) fail_msg("%.10g, and %.10g is right", got, want);
}

static void quantiles(void **state) {
  (void)state;
  near(estimate_student(0.95, 1), 12.706, 0.001);
  near(estimate_student(0.95, 2), 4.303, 0.001);
  near(estimate_student(0.95, 10), 2.228, 0.001);
  near(estimate_student(0.99, 5), 4.032, 0.001);
  near(estimate_student(0.90, 30), 1.697, 0.001);
  near(estimate_student(0.95, 1e6), 1.960, 0.001);
}

/* Two strata. A: x = 1, 2, 3 of 6 members with sum 12; y = 10, 22, 28: R = 10, residuals 0, 2, -2, s2 = 4; the total is
 * 60 + 10 x 6 = 120. B is timed whole: 5 + 7. Relative variance: s2 / mean^2 = 4 / 400 = 0.01, weight 2 of A; of B with
 * x = 1, 1: R = 6, s2 = 2, 2 / 36 = 0.0556, weight 1; mean (0.02 + 0.0556) / 3 = 0.025185. A with the weight of one
 * more degree of freedom: (2 x 4 + 0.025185 x 400) / 3 = 6.0247; variance 36 x (1 - 1/2) / 3 x 6.0247 x (2 / 2)^2 =
 * 36.148. */
static const double ax[] = {1, 2, 3}, ay[] = {10, 22, 28}, bx[] = {1, 1}, by[] = {5, 7};
static const struct estimate_stratum strata[] = {{.members = 6, .timed = 3, .x_all = 12, .x = ax, .y = ay},
                                                 {.members = 2, .timed = 2, .x_all = 2, .x = bx, .y = by}};

static void by_hand(void **state) {
  (void)state;
  struct estimate_part p[2];
  struct estimate t = estimate_total(strata, 2, p);
  near(t.total, 132, 1e-9);
  near(p[0].total, 120, 1e-9);
  near(p[0].residual, 4, 1e-9);
  near(p[0].between, 36.148, 0.001);
  near(p[1].between, 0, 0);
  near(t.variance, 36.148, 0.001);
  near(t.freedom, 2, 1e-9);
  near(estimate_half(&t, 0.95), 4.3027 * sqrt(36.148), 0.01);
}

/* Values that are estimates themselves add their variance, also where all members are timed. */
static void own_variance(void **state) {
  (void)state;
  static const double own[] = {3, 5};
  struct estimate_stratum s = strata[1];
  s.own = own;
  s.own_freedom = 4;
  struct estimate t = estimate_total(&s, 1, NULL);
  near(t.variance, 8, 1e-9);
  near(t.freedom, 8, 1e-9);
}

/* Twice the value everywhere: the ratio is 2 without doubt, however different the members. */
static void paired(void **state) {
  (void)state;
  static const double twice[] = {20, 44, 56};
  struct estimate_stratum a = strata[0];
  a.y = twice;
  struct estimate r = estimate_ratio(&a, strata, 1);
  near(r.total, 2, 1e-12);
  near(r.variance, 0, 1e-12);
}

static void allocation(void **state) {
  (void)state;
  struct estimate_part p[2];
  uint64_t want[2];
  const double cost[] = {1, 1};
  estimate_total(strata, 2, p);
  estimate_allocate(strata, p, cost, 2, 100, 2, want); /* within the bound already */
  assert_int_equal(want[0], 3);
  /* (N S)^2 = 36.148 x 3 / 0.5 = 216.89; with n = 5 216.89 x (1 / 6) / 5 = 7.23, with n = 4 18.07: half = 2
   * sqrt(10). */
  estimate_allocate(strata, p, cost, 2, 2 * sqrt(10), 2, want);
  assert_int_equal(want[0], 5);
  assert_int_equal(want[1], 2);
  estimate_allocate(strata, p, cost, 2, 1e-6, 2, want);
  assert_int_equal(want[0], 6);
}

/* 400 samples of 8 of 200 members: the interval of 95 % holds the truth in 91 to 99 % of them. */
static void coverage(void **state) {
  (void)state;
  enum { ALL = 200, SAMPLE = 8, TRIES = 400 };
  double x[ALL], y[ALL], x_all = 0, truth = 0;
  for (uint64_t i = 0; i < ALL; i++) {
    x[i] = 100 + (double)(hash_u64(i + 1) % 100);
    y[i] = x[i] * (5 + (double)(hash_u64(i + 7777) % 1000) / 500);
    x_all += x[i], truth += y[i];
  }
  unsigned held = 0;
  for (uint64_t k = 0; k < TRIES; k++) {
    double sx[SAMPLE], sy[SAMPLE];
    bool taken[ALL] = {false};
    for (uint64_t n = 0, at = k << 20; n < SAMPLE;) {
      uint64_t i = hash_u64(++at) % ALL;
      if (taken[i]) continue;
      taken[i] = true;
      sx[n] = x[i], sy[n++] = y[i];
    }
    struct estimate_stratum s = {.members = ALL, .timed = SAMPLE, .x_all = x_all, .x = sx, .y = sy};
    struct estimate t = estimate_total(&s, 1, NULL);
    held += fabs(t.total - truth) <= estimate_half(&t, 0.95);
  }
  if (held < TRIES * 91 / 100 || held > TRIES * 99 / 100) fail_msg("%u of %d intervals hold the truth", held, TRIES);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(quantiles),    cmocka_unit_test(by_hand),
                                     cmocka_unit_test(own_variance), cmocka_unit_test(paired),
                                     cmocka_unit_test(allocation),   cmocka_unit_test(coverage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
