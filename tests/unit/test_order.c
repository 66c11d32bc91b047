/* test_order.c - the order of schemes: which pairs published numbers and statements order, and what becomes of a pair
 * that was measured. Numbers of BUCL's Fig 7 and MeDiC's Fig 11.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/order.h"

enum { BASELINE, MRPB, PRF5K, PRF10K, SWL, DYN, BUCL_SCHEMES };

static void test_numbers_over_one_base(void **state) {
  (void)state;
  static const double gain[BUCL_SCHEMES] = {1, 1.22, 1.38, 1.29, 1.16, 1.36};
  static const size_t best_first[BUCL_SCHEMES] = {PRF5K, DYN, PRF10K, MRPB, SWL, BASELINE};
  struct order o = {0};
  size_t pairs = 0;
  for (size_t i = 1; i < BUCL_SCHEMES; i++) order_number(&o, i, BASELINE, gain[i]);
  for (size_t i = 0; i < BUCL_SCHEMES; i++) {
    for (size_t k = 0; k < BUCL_SCHEMES; k++) {
      assert_int_equal(order_published(&o, best_first[i], best_first[k]), i < k);
      pairs += order_published(&o, i, k);
    }
  }
  assert_int_equal(pairs, 15);
  o.lowest = true; /* were they times, the last would be the best */
  assert_true(order_published(&o, BASELINE, SWL) && order_published(&o, SWL, PRF5K));
  assert_false(order_published(&o, PRF5K, SWL));
}

enum { BASE, WIP, WBYP, MEDIC, EAF, PCAL };

static void test_numbers_over_others(void **state) {
  (void)state;
  struct order o = {0};
  order_number(&o, WIP, BASE, 1.325);
  order_number(&o, WBYP, BASE, 1.336);
  order_number(&o, MEDIC, BASE, 1.415);
  order_number(&o, WIP, EAF, 1.122);
  order_number(&o, WBYP, PCAL, 1.128);
  order_number(&o, MEDIC, PCAL, 1.218);
  assert_true(order_published(&o, WIP, EAF) && !order_published(&o, EAF, WIP));
  assert_true(order_published(&o, MEDIC, PCAL) && order_published(&o, MEDIC, WBYP));
  assert_false(order_published(&o, MEDIC, EAF) || order_published(&o, EAF, MEDIC)); /* the paper does not say */
  assert_false(order_published(&o, EAF, BASE) || order_published(&o, PCAL, EAF));
  order_statement(&o, MEDIC, EAF);
  assert_true(order_published(&o, MEDIC, EAF));
  order_statement(&o, EAF, MEDIC); /* both ways: neither */
  assert_false(order_published(&o, MEDIC, EAF) || order_published(&o, EAF, MEDIC));
  order_number(&o, EAF, PCAL, 1); /* the same */
  assert_false(order_published(&o, EAF, PCAL) || order_published(&o, PCAL, EAF));
  order_number(&o, WIP, WIP, 2);
  order_number(&o, ORDER_MOST, WIP, 2); /* no scheme */
  assert_false(order_published(&o, WIP, WIP));
}

static void test_pairs_judged(void **state) {
  (void)state;
  struct order o = {0};
  static const double more[] = {1.10, 1.12, 1.11, 1.13}, less[] = {0.90, 0.91, 0.89, 0.92},
                      both[] = {0.9, 1.2, 1.0, 1.05}, same[] = {1, 1, 1}, one[] = {1.02};
  for (int kind = PUBLISHED_ARITHMETIC; kind <= PUBLISHED_HARMONIC; kind++) {
    assert_int_equal(order_judge(&o, (enum published_kind)kind, more, 4), ORDER_AS_PUBLISHED);
    assert_int_equal(order_judge(&o, (enum published_kind)kind, less, 4), ORDER_REVERSED);
    assert_int_equal(order_judge(&o, (enum published_kind)kind, both, 4), ORDER_TIE);
    assert_int_equal(order_judge(&o, (enum published_kind)kind, same, 3), ORDER_TIE);
  }
  assert_int_equal(order_judge(&o, PUBLISHED_GEOMETRIC, one, 1), ORDER_AS_PUBLISHED);
  assert_int_equal(order_judge(&o, PUBLISHED_GEOMETRIC, one, 0), ORDER_NOT_MEASURED);
  o.lowest = true;
  assert_int_equal(order_judge(&o, PUBLISHED_ARITHMETIC, more, 4), ORDER_REVERSED);
  assert_int_equal(order_judge(&o, PUBLISHED_ARITHMETIC, less, 4), ORDER_AS_PUBLISHED);
  /* 3.182 times the standard error of four: 1.05 +- 0.0536 holds 1, 1.06 +- 0.0536 does not. */
  static const double near[] = {1.01, 1.04, 1.06, 1.09}, beyond[] = {1.02, 1.05, 1.07, 1.10};
  double low, high;
  assert_true(published_interval(PUBLISHED_ARITHMETIC, near, 4, &low, &high));
  assert_true(low < 1 && 0.99 < low);
  o.lowest = false;
  assert_int_equal(order_judge(&o, PUBLISHED_ARITHMETIC, near, 4), ORDER_TIE);
  assert_int_equal(order_judge(&o, PUBLISHED_ARITHMETIC, beyond, 4), ORDER_AS_PUBLISHED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers_over_one_base),
      cmocka_unit_test(test_numbers_over_others),
      cmocka_unit_test(test_pairs_judged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
