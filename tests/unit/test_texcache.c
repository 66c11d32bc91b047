/* test_texcache.c - the texture cache on written sequences: which line goes, what waits behind what, what is refused.
 * The comment beside each expected answer derives it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/ro/texcache.h"

enum { LINE = 128 };

/* 2 sets of 2 ways; a FIFO of 4 accesses, 2 results; a miss queue of 2, a reorder buffer of 3. */
static struct texcache small(void) {
  struct gpu_config c;
  struct texcache t;
  gpu_config_defaults(&c);
  c.l1t.sets = 2;
  c.l1t.ways = 2;
  c.l1t.line = LINE;
  c.l1t.miss_queue = 2;
  c.l1t.mshrs = 3;
  c.l1t_fifo = 4;
  c.l1t_results = 2;
  texcache_init(&t, &c);
  return t;
}

/* The oldest request, which goes to memory. */
static uint16_t send(struct texcache *t, uint64_t line) {
  uint64_t at;
  uint16_t rob;
  assert_true(texcache_request(t, &at, &rob));
  assert_int_equal(at, line * LINE);
  texcache_request_sent(t);
  return rob;
}

/* An access that is answered at once, as if memory took no time. */
static enum tex_outcome through(struct texcache *t, uint64_t line, uint64_t now) {
  enum tex_outcome out = texcache_access(t, line * LINE + 4, (uint16_t)line, now);
  if (out == TEX_MISS) texcache_fill(t, send(t, line));
  assert_true(texcache_step(t));
  assert_int_equal(texcache_next(t), line);
  return out;
}

/* Even lines share set 0: 0 and 2 fill its ways; 0 is used again, so 4 takes the place of 2; then 2 that of 0, used at
 * 3 where 4 was used at 5; then 0 that of 4. Line 1 lies in set 1, where nothing disturbs it. */
static void the_least_recent_line_goes(void **state) {
  (void)state;
  static const struct {
    uint64_t line;
    enum tex_outcome out;
  } step[] = {{0, TEX_MISS}, {2, TEX_MISS}, {1, TEX_MISS}, {0, TEX_HIT},  {4, TEX_MISS},
              {4, TEX_HIT},  {2, TEX_MISS}, {1, TEX_HIT},  {0, TEX_MISS}, {2, TEX_HIT}};
  struct texcache t = small();
  for (uint64_t i = 0; i < sizeof step / sizeof *step; i++) assert_int_equal(through(&t, step[i].line, i), step[i].out);
  texcache_destroy(&t);
}

/* Line 0 misses, is requested again and hits, since its tag is there already. */
static void a_hit_waits_behind_a_miss(void **state) {
  (void)state;
  struct texcache t = small();
  assert_int_equal(through(&t, 1, 0), TEX_MISS);
  assert_int_equal(texcache_access(&t, 0, 10, 1), TEX_MISS);
  assert_int_equal(texcache_access(&t, 64, 11, 2), TEX_HIT);
  assert_int_equal(texcache_access(&t, LINE, 12, 3), TEX_HIT);
  uint16_t rob = send(&t, 0);
  assert_false(texcache_step(&t));
  uint64_t line = 99;
  assert_true(texcache_awaited(&t, &line));
  assert_int_equal(line, 0);
  texcache_fill(&t, rob);
  assert_false(texcache_awaited(&t, &line));
  assert_true(texcache_step(&t));
  assert_true(texcache_step(&t));
  assert_false(texcache_step(&t)); /* two results wait already */
  assert_int_equal(texcache_next(&t), 10);
  assert_true(texcache_step(&t));
  assert_int_equal(texcache_next(&t), 11);
  assert_int_equal(texcache_next(&t), 12);
  assert_false(texcache_busy(&t));
  texcache_destroy(&t);
}

/* The second line arrives first: its access still leaves second. */
static void lines_may_arrive_in_any_order(void **state) {
  (void)state;
  struct texcache t = small();
  assert_int_equal(texcache_access(&t, 0 * LINE, 10, 0), TEX_MISS);
  assert_int_equal(texcache_access(&t, 1 * LINE, 11, 0), TEX_MISS);
  uint16_t first = send(&t, 0), second = send(&t, 1);
  texcache_fill(&t, second);
  assert_false(texcache_step(&t));
  texcache_fill(&t, first);
  assert_true(texcache_step(&t));
  assert_true(texcache_step(&t));
  assert_int_equal(texcache_next(&t), 10);
  assert_int_equal(texcache_next(&t), 11);
  texcache_destroy(&t);
}

/* Two misses fill the miss queue: the third access is refused, though it would hit. With the first sent, line 2 takes
 * the last place of the reorder buffer: again all are refused, though the miss queue is empty in the end. With line 0
 * gone there is a place, and two hits fill the FIFO, in which lines 1, 2, 1 and 1 then wait. */
static void what_is_full_refuses(void **state) {
  (void)state;
  struct texcache t = small();
  assert_int_equal(texcache_access(&t, 0 * LINE, 10, 0), TEX_MISS);
  assert_int_equal(texcache_access(&t, 1 * LINE, 11, 0), TEX_MISS);
  assert_int_equal(texcache_access(&t, 1 * LINE, 12, 1), TEX_REFUSED);
  uint16_t rob = send(&t, 0);
  assert_int_equal(texcache_access(&t, 2 * LINE, 12, 2), TEX_MISS);
  send(&t, 1);
  send(&t, 2);
  assert_int_equal(texcache_access(&t, 1 * LINE, 13, 3), TEX_REFUSED);
  texcache_fill(&t, rob);
  assert_true(texcache_step(&t));
  assert_int_equal(texcache_access(&t, 1 * LINE, 13, 4), TEX_HIT);
  assert_int_equal(texcache_access(&t, 1 * LINE, 14, 5), TEX_HIT);
  assert_int_equal(texcache_access(&t, 1 * LINE, 15, 6), TEX_REFUSED);
  texcache_destroy(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_recent_line_goes),
      cmocka_unit_test(a_hit_waits_behind_a_miss),
      cmocka_unit_test(lines_may_arrive_in_any_order),
      cmocka_unit_test(what_is_full_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
