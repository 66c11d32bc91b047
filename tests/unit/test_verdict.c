/* test_verdict.c - the rule that says what our measurement says of a published number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "results/verdict.h"

static void is(struct verdict_case c, enum verdict expected) {
  const char *why = NULL;
  enum verdict v = verdict_of(&c, &why);
  if (v != expected)
    fail_msg("published %g, ours %g [%g, %g]: %s (%s)", c.published, c.ours, c.low, c.high, verdict_names[v], why);
  assert_true(why && *why);
}

#define GAIN(p, o) \
  { .published = (p), .ours = (o), .has_none = true, .percent = 1 }
#define GAIN_IN(p, o, l, h) \
  { .published = (p), .ours = (o), .low = (l), .high = (h), .has_interval = true, .has_none = true, .percent = 1 }

static void changes(void **state) {
  (void)state;
  is((struct verdict_case)GAIN(20, 15), VERDICT_REPRODUCED);
  is((struct verdict_case)GAIN(20, 25), VERDICT_REPRODUCED);
  is((struct verdict_case)GAIN(20, 14.9), VERDICT_DIRECTION);
  is((struct verdict_case)GAIN(20, 60), VERDICT_DIRECTION);
  is((struct verdict_case)GAIN(20, -1), VERDICT_CONTRADICTED);
  is((struct verdict_case)GAIN(-7, -8), VERDICT_REPRODUCED);
  is((struct verdict_case)GAIN(-7, 1), VERDICT_CONTRADICTED);
  is((struct verdict_case)GAIN(20, 0), VERDICT_CONTRADICTED);
}

static void intervals(void **state) {
  (void)state;
  is((struct verdict_case)GAIN_IN(20, 40, 10, 70), VERDICT_REPRODUCED);
  is((struct verdict_case)GAIN_IN(20, 40, 30, 50), VERDICT_DIRECTION);
  is((struct verdict_case)GAIN_IN(20, 5, -3, 13), VERDICT_CONTRADICTED);      /* a tie is no gain */
  is((struct verdict_case)GAIN_IN(20, 0.6, -30, 40), VERDICT_NOT_COMPARABLE); /* decides nothing */
  is((struct verdict_case)GAIN_IN(20, 30, -30, 90), VERDICT_DIRECTION);
  is((struct verdict_case)GAIN_IN(20, -5, -30, 40), VERDICT_NOT_COMPARABLE);
  is((struct verdict_case)GAIN_IN(20, -5, -10, -1), VERDICT_CONTRADICTED);
}

static void no_change(void **state) {
  (void)state;
  struct verdict_case c = {.published = 1, .ours = 1.02, .none = 1, .has_none = true, .percent = 0.01};
  is(c, VERDICT_REPRODUCED);
  c.ours = 0.9;
  is(c, VERDICT_CONTRADICTED);
  c.has_interval = true, c.low = 0.8, c.high = 1.1;
  is(c, VERDICT_REPRODUCED);
}

static void rates_and_bounds(void **state) {
  (void)state;
  struct verdict_case c = {.published = 40, .ours = 31};
  is(c, VERDICT_REPRODUCED);
  c.ours = 29;
  is(c, VERDICT_CONTRADICTED);
  c.has_interval = true, c.low = 10, c.high = 48;
  is(c, VERDICT_NOT_COMPARABLE);
  c.low = 21;
  is(c, VERDICT_REPRODUCED);
  is((struct verdict_case){.published = 4, .ours = -2, .has_none = true, .percent = 1, .bound = -1},
     VERDICT_REPRODUCED);
  is((struct verdict_case){.published = 4, .ours = 5, .has_none = true, .percent = 1, .bound = -1},
     VERDICT_CONTRADICTED);
  is((struct verdict_case){.published = 44, .ours = 50, .bound = 1}, VERDICT_REPRODUCED);
  is((struct verdict_case){.published = 44, .ours = 40, .bound = 1}, VERDICT_CONTRADICTED);
}

static void goals(void **state) {
  (void)state;
  struct verdict_case c = GAIN_IN(20, 5, -3, 25); /* the interval holds both: near, of the same sign, no verdict */
  assert_true(verdict_near(&c) && verdict_has_sign(&c) && verdict_same_sign(&c));
  c.high = 13;
  assert_false(verdict_near(&c));
  c.ours = -1;
  assert_false(verdict_same_sign(&c));
  struct verdict_case none = {.published = 1, .ours = 1.02, .none = 1, .has_none = true, .percent = 0.01};
  assert_true(verdict_near(&none) && !verdict_has_sign(&none));
  none.ours = 0.9;
  assert_false(verdict_near(&none));
  struct verdict_case ratio = {.published = 1.36, .ours = 1.05, .none = 1, .has_none = true, .percent = 0.01};
  assert_true(verdict_same_sign(&ratio) && !verdict_near(&ratio)); /* of the change, not of the ratio */
  struct verdict_case rate = {.published = 40, .ours = 31};
  assert_true(verdict_near(&rate) && !verdict_has_sign(&rate));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(changes), cmocka_unit_test(intervals),
                                     cmocka_unit_test(no_change), cmocka_unit_test(rates_and_bounds),
                                     cmocka_unit_test(goals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
