/* test_reuse.c - reuse distances and counts: a sequence by hand, and random ones against the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "gpu/common/reuse.h"

static void by_hand(void **state) {
  (void)state;
  struct reuse_stream s = {0};
  struct reuse_histogram h = {0};
  const char *text = "abcaabbd";
  const uint64_t want[] = {REUSE_FIRST, REUSE_FIRST, REUSE_FIRST, 2, 0, 2, 0, REUSE_FIRST};
  for (uint32_t i = 0; text[i]; i++) assert_int_equal(reuse_access(&s, (uint64_t)text[i], &h), want[i]);
  assert_int_equal(h.first, 4);
  assert_int_equal(h.distance[0], 2);
  assert_int_equal(h.distance[1], 0);
  assert_int_equal(h.distance[2], 2);
  reuse_store(&s, 'a');
  reuse_store(&s, 'x'); /* not there */
  assert_true(reuse_stored(&s, 'a') && !reuse_stored(&s, 'b') && !reuse_stored(&s, 'x'));
  reuse_access(&s, 'a', &h);
  assert_false(reuse_stored(&s, 'a'));
  reuse_end(&s, &h); /* a 4 times, b 3, c and d once */
  assert_int_equal(h.lines[0], 2);
  assert_int_equal(h.accesses[0], 2);
  assert_int_equal(h.lines[2], 1);
  assert_int_equal(h.accesses[2], 3);
  assert_int_equal(h.lines[3], 1);
  assert_int_equal(h.accesses[3], 4);
  assert_int_equal(reuse_access(&s, 'a', &h), REUSE_FIRST); /* empty again */
  reuse_free(&s);
}

/* Distinct others since the last access, counted one by one. */
static void against_the_definition(void **state) {
  (void)state;
  enum { STEPS = 3000 };
  static uint64_t line[STEPS];
  static const uint64_t lines[] = {3, 100, 1500};
  for (uint32_t k = 0; k < 3; k++) {
    struct reuse_stream s = {0};
    struct reuse_histogram h = {0};
    struct rng r = rng_seed(k);
    for (uint32_t i = 0; i < STEPS; i++) {
      line[i] = 128 * rng_below(&r, lines[k]);
      uint64_t want = 0;
      uint32_t j = i;
      while (j && line[j - 1] != line[i]) { /* is this the last access to line[j - 1] before i? */
        bool later = false;
        for (uint32_t m = j; m < i && !later; m++) later = line[m] == line[j - 1];
        want += !later;
        j--;
      }
      if (!j) want = REUSE_FIRST;
      assert_int_equal(reuse_access(&s, line[i], &h), want);
    }
    uint64_t all = h.first, by_line = 0, again = 0;
    for (uint32_t i = 0; i < REUSE_DISTANCES; i++) all += h.distance[i];
    assert_int_equal(all, STEPS);
    reuse_end(&s, &h);
    for (uint32_t i = 0; i < REUSE_COUNTS; i++) by_line += h.lines[i], again += h.accesses[i];
    assert_int_equal(by_line, h.first);
    assert_int_equal(again, STEPS);
    reuse_free(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(against_the_definition)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
