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
 * x = 1, 1: R = 6, s2 = 2, 2 / 36 = 0.0556, weight 1; the usual one, 0.0001, weight 1; mean (0.02 + 0.0556 + 0.0001)
 * / 4 = 0.018914. A with the weight of one more degree of freedom: (2 x 4 + 0.018914 x 400) / 3 = 5.1885; variance 36 x
 * (1 + 1/2) / 3 x 5.1885 x (2 / 2)^2 = 93.393. Beside it (3 x 20 x 0.0005)^2 = 0.0009. */
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
  near(p[0].between, 93.3933, 0.0001);
  near(p[1].between, 0, 0);
  near(t.beside, 0.0009, 1e-9);
  near(t.variance, 93.3942, 0.0001);
  near(t.freedom, 3, 0.001);
  near(estimate_half(&t, 0.95), 3.1824 * sqrt(93.3942), 0.01);
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

/* Twice the value everywhere: the ratio is 2, however different the members. Its doubt is the usual
 * variance, (0.0001 / 3 x 40^2) / 3 of the members, 18 times that of the sum, and of (3 x 40 x 0.0005)^2 beside it. */
static void paired(void **state) {
  (void)state;
  static const double twice[] = {20, 44, 56};
  struct estimate_stratum a = strata[0];
  a.y = twice;
  struct estimate r = estimate_ratio(&a, strata, 1);
  near(r.total, 2, 1e-12);
  near(r.variance, (18 * 0.0001 / 9 * 1600 + 0.0036) / (120 * 120), 1e-9);
}

static void allocation(void **state) {
  (void)state;
  struct estimate_part p[2];
  uint64_t want[2];
  const double cost[] = {1, 1};
  estimate_total(strata, 2, p);
  estimate_allocate(strata, p, cost, 2, 100, 2, want); /* half 2 sqrt(93.4): within the bound already */
  assert_int_equal(want[0], 3);
  /* (N S)^2 = 93.393 x 3 / 1.5 = 186.79; with n = 5 186.79 x (11 / 6) / 5 = 68.5, with n = 4 77.8: half = 2
   * sqrt(72). */
  estimate_allocate(strata, p, cost, 2, 2 * sqrt(72), 2, want);
  assert_int_equal(want[0], 5);
  assert_int_equal(want[1], 2);
  estimate_allocate(strata, p, cost, 2, 1e-6, 2, want);
  assert_int_equal(want[0], 6);
}

/* Four members of eight, in the order of x = 1 to 8, at places 0, 2, 3, 6. The one at 1 lies half way: 1/2 of weight to
 * each neighbour; those at 4 and 5 give 2/3 and 1/3 to place 3, the rest to 6; 7 goes to 6: 1.5, 1.5, 2, 3. The rest
 * has sum 2 + 5 + 6 + 8 = 21, these shares 0.5 x 1 + 0.5 x 3 + 1 x 4 + 2 x 7 = 20: the line adds (x - 3.75) / 18.75. */
static void weights(void **state) {
  (void)state;
  static const double x[] = {1, 2, 3, 4, 5, 6, 7, 8}, sums[] = {1.5, 1.5, 2, 3};
  static const size_t place[] = {0, 2, 3, 6};
  double w[4], ones = 0, line = 0;
  estimate_weights(x, 8, place, 4, w);
  for (int i = 0; i < 4; i++) near(w[i], sums[i] + (x[place[i]] - 3.75) / 18.75, 1e-12);
  for (int i = 0; i < 4; i++) ones += w[i], line += w[i] * (7 + 3 * x[place[i]]);
  near(ones, 8, 1e-12);
  near(line, 8 * 7 + 3 * 36, 1e-12); /* a line is met */
}

/* Residuals of a line that alternate, 1, -1, ...: of the same x the squares of differences are 4 each. With n = 4 of
 * x = 5: sum 3 x 4 / 2 = 6, expectation of the form per unit variance: trace of A = 3, less that on the mean, 0. */
static void residuals(void **state) {
  (void)state;
  static const double x[] = {5, 5, 5, 5}, y[] = {11, 9, 11, 9}, w[] = {2, 2, 2, 2};
  struct estimate_stratum s = {.members = 8, .timed = 4, .x_all = 40, .x = x, .y = y, .weight = w};
  struct estimate_part p;
  struct estimate t = estimate_total(&s, 1, &p);
  near(t.total, 80, 1e-12);
  near(p.residual, 2, 1e-12);
  near(p.between, (4.5 + (0.045 + 0.0001) / 3.25 * 100) / 3.25 * (4 * 4 + 8), 1e-9);
  near(t.freedom, 1 + 9 / 4.0, 1e-3); /* squares in A: 1/4 + 1 + 1 + 1/4 + 6 x 1/4 = 4 */
}

/* 400 samples of 8 of 200 members: the interval of 95 % holds the truth in 91 to 99 % of them. */
struct drawn {
  double x[200], y[200], x_all, truth;
};

static unsigned held_of(const struct drawn *d, bool series) {
  enum { ALL = 200, SAMPLE = 8, TRIES = 400 };
  unsigned held = 0;
  for (uint64_t k = 0; k < TRIES; k++) {
    double sx[SAMPLE], sy[SAMPLE], weight[SAMPLE];
    size_t place[SAMPLE], n = 0;
    bool taken[ALL] = {false};
    for (uint64_t at = k << 20, left = SAMPLE; left;) {
      uint64_t i = hash_u64(++at) % ALL;
      left -= !taken[i];
      taken[i] = true;
    }
    for (size_t i = 0; i < ALL; i++)
      if (taken[i]) place[n] = i, sx[n] = d->x[i], sy[n++] = d->y[i];
    struct estimate_stratum s = {.members = ALL, .timed = SAMPLE, .x_all = d->x_all, .x = sx, .y = sy};
    if (series) estimate_weights(d->x, ALL, place, SAMPLE, weight), s.weight = weight;
    struct estimate t = estimate_total(&s, 1, NULL);
    held += fabs(t.total - d->truth) <= estimate_half(&t, 0.95);
  }
  return held;
}

static void coverage(void **state) {
  (void)state;
  struct drawn d = {.x_all = 0};
  for (uint64_t i = 0; i < 200; i++) {
    d.x[i] = 100 + (double)(hash_u64(i + 1) % 100);
    d.y[i] = d.x[i] * (5 + (double)(hash_u64(i + 7777) % 1000) / 500);
    d.x_all += d.x[i], d.truth += d.y[i];
  }
  unsigned held = held_of(&d, false);
  if (held < 364 || held > 396) fail_msg("%u of 400 intervals hold the truth", held);
  /* Cycles on a line, with 3 % of noise: sizes from 100 to 299 in order. */
  d.x_all = d.truth = 0;
  for (uint64_t i = 0; i < 200; i++) {
    d.x[i] = 100 + (double)i;
    d.y[i] = (50 + 3 * d.x[i]) * (1 + ((double)(hash_u64(i + 99) % 1000) - 500) / 5000);
    d.x_all += d.x[i], d.truth += d.y[i];
  }
  held = held_of(&d, true);
  if (held < 364 || held > 399) fail_msg("%u of 400 intervals of a series hold the truth", held);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(quantiles),    cmocka_unit_test(by_hand),
                                     cmocka_unit_test(own_variance), cmocka_unit_test(paired),
                                     cmocka_unit_test(allocation),   cmocka_unit_test(weights),
                                     cmocka_unit_test(residuals),    cmocka_unit_test(coverage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
