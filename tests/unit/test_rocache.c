/* test_rocache.c - read-only caches, and the order of lines that accesses without time leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/common/recency.h"
#include "gpu/ro/rocache.h"

static const struct cache_config four_ways = {
    .sets = 1, .ways = 4, .line = 128, .mshrs = 2, .merges = 2, .miss_queue = 2};

static bool holds(const struct rocache *c, uint64_t line) {
  for (uint32_t i = 0; i < c->sets * c->ways; i++)
    if (c->tag[i] == line * 128) return true;
  return false;
}

/* A line that misses is there after its fill and replaces the one used longest ago. */
static void least_recent_goes(void **state) {
  (void)state;
  struct rocache c;
  uint64_t line, now = 10;
  uint16_t mshr;
  rocache_init(&c, &four_ways);
  for (uint64_t k = 0; k < 6; k++, now += 10) {
    if (k == 4) assert_int_equal(rocache_access(&c, 0, 7, now++), RO_HIT); /* line 1 is now the oldest */
    assert_int_equal(rocache_access(&c, k * 128, 7, now), RO_MISS);
    assert_true(rocache_miss(&c, &line, &mshr));
    assert_int_equal(line, k * 128);
    rocache_miss_sent(&c);
    rocache_fill(&c, mshr, now + 5);
    assert_true(rocache_ready(&c));
    assert_int_equal(rocache_next(&c), 7);
  }
  assert_true(holds(&c, 0) && holds(&c, 3) && holds(&c, 4) && holds(&c, 5));
  rocache_destroy(&c);
}

/* Six lines through four ways, twice: every touch of a round misses, as it would in time. */
static void touches(bool standing) {
  struct rocache c;
  uint64_t now = 100, order = now;
  rocache_init(&c, &four_ways);
  for (int round = 0; round < 2; round++)
    for (uint64_t k = 0; k < 6; k++) assert_false(rocache_touch(&c, k * 128, standing ? now : ++order));
  assert_true(holds(&c, 2) && holds(&c, 3) && holds(&c, 4) && holds(&c, 5));
  assert_true(rocache_touch(&c, 2 * 128, standing ? now : ++order));
  if (!standing) rocache_touch_end(&c, now);
  for (uint32_t i = 0; i < c.ways; i++) assert_true(c.used[i] <= now);
  assert_false(rocache_touch(&c, 6 * 128, now + 1)); /* line 3 is the oldest */
  assert_true(holds(&c, 2) && !holds(&c, 3) && holds(&c, 4) && holds(&c, 5) && holds(&c, 6));
  rocache_destroy(&c);
}

static void touches_with_the_clock_standing(void **state) {
  (void)state;
  touches(false);
}

static void touches_of_one_cycle(void **state) {
  (void)state;
  touches(true);
}

static void stamps(void **state) {
  (void)state;
  uint64_t s[4] = {50, 50, 49, 7};
  recency_place(s, 4, 0);
  static const uint64_t older[4] = {50, 49, 48, 6};
  assert_memory_equal(s, older, sizeof s);
  recency_place(s, 4, 0); /* nothing to do: the others are older */
  assert_memory_equal(s, older, sizeof s);
  uint64_t u[4] = {90, 50, 50, 49}; /* newer ones keep their stamp */
  static const uint64_t below[4] = {90, 50, 49, 48};
  recency_place(u, 4, 1);
  assert_memory_equal(u, below, sizeof u);
  uint64_t t[4] = {105, 101, 3, 101};
  static const uint64_t rebased[4] = {100, 98, 3, 99};
  recency_rebase(t, 4, 100);
  for (int i = 0; i < 4; i++)
    if (i != 2) assert_int_equal(t[i], rebased[i]);
  assert_true(t[2] < t[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(least_recent_goes),
      cmocka_unit_test(touches_with_the_clock_standing),
      cmocka_unit_test(touches_of_one_cycle),
      cmocka_unit_test(stamps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
