/* test_scheme_l2_learning.c - schemes at the L2 that learn what MIN would do, l2-hawkeye and l2-mockingjay, on
 * sequences computed by hand from their descriptions. Every set is sampled.
 */
#include "mem_scheme.h"

/* An access to line `line` of set 0 by instruction `pc`. */
static struct mem_event event(struct bench *b, uint32_t pc, uint64_t line) {
  struct mem_event e = bench_event(b, 0, 0, 4 * line);
  e.pc = pc;
  return e;
}
static void use(struct bench *b, uint32_t pc, uint64_t line, uint32_t way, enum l2_outcome out) {
  struct mem_event e = event(b, pc, line);
  e.way = way;
  b->scheme->on_l2_access(b->c, &e, out);
}
/* The way that a miss of `line` by `pc` replaces among those of `usable`. */
static int victim(struct bench *b, uint32_t pc, uint64_t line, uint32_t usable) {
  uint64_t tag[4] = {0}, used[4] = {0};
  struct cache_set s = {.ways = b->config.l2.ways, .usable = usable, .tag = tag, .used = used};
  struct mem_event e = event(b, pc, line);
  return b->scheme->l2_find_victim(b->c, &s, &e);
}
static void evict(struct bench *b, uint32_t way, uint64_t line) {
  struct mem_event e = event(b, 0, line);
  e.way = way;
  b->scheme->on_l2_evict(b->c, &e);
}

/* ---- Hawkeye ---- */

/* A B B C D E A F D E F C with room for two lines. Counts of the steps, by hand:
 *   B over step 1: hit. A over 0 to 5: 0 1 0 0 0 0 are below 2: hit, 1 2 1 1 1 1. D over 4 to 7: 1 1 0 0: hit, 2 2 1 1.
 *   E over 5 to 8 begins with 2: miss. F over 7 to 9: 1 0 0: hit. C over 3 to 10 meets step 4: miss.
 * A, B, D and F are friendly then, E and C averse. */
static void optgen_by_hand(void **state) {
  (void)state;
  struct bench b;
  bench_ways = 2;
  bench_start(&b, "l2-hawkeye");
  bench_ways = 4;
  for (const char *p = "abbcdeafdefc"; *p; p++) use(&b, (uint32_t)*p, (uint64_t)*p, 0, L2_MISS);
  assert_int_equal(bench_counter(&b, "opt_hits"), 4);
  assert_int_equal(bench_counter(&b, "opt_misses"), 2);
  static const struct {
    char letter;
    bool friendly;
  } after[] = {{'a', true}, {'b', true}, {'c', false}, {'d', true}, {'e', false}, {'f', true}};
  for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
    uint64_t before = bench_counter(&b, "averse");
    use(&b, (uint32_t)after[i].letter, 100 + i, 1, L2_MISS);
    assert_int_equal(bench_counter(&b, "averse") - before, !after[i].friendly);
  }
  bench_end(&b);
}

/* Friendly lines age with each friendly miss and are replaced oldest first; an averse one goes before them. */
static void hawkeye_replaces_averse_lines_first(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "l2-hawkeye");
  for (uint32_t w = 0; w < 4; w++) use(&b, 1, w, w, L2_MISS); /* unknown: weakly friendly; 3 2 1 0 */
  assert_int_equal(victim(&b, 1, 9, 15), 0);
  use(&b, 1, 0, 0, L2_HIT); /* 0 2 1 0 */
  assert_int_equal(victim(&b, 1, 9, 15), 1);
  assert_int_equal(victim(&b, 1, 9, 13), 2); /* way 1 waits for its data */
  evict(&b, 1, 1);                           /* instruction 1: up by the hit, down by this */
  assert_int_equal(bench_counter(&b, "detrained"), 1);
  use(&b, 1, 9, 1, L2_MISS); /* 1 0 2 1 */
  evict(&b, 2, 2);           /* now in the lower half */
  use(&b, 1, 10, 2, L2_MISS);
  assert_int_equal(bench_counter(&b, "averse"), 1);
  use(&b, 7, 0, 0, L2_HIT);
  assert_int_equal(victim(&b, 7, 11, 15), 2); /* the averse line, though newest */
  evict(&b, 2, 10);                           /* teaches nothing */
  assert_int_equal(bench_counter(&b, "detrained"), 2);
  use(&b, 7, 11, 2, L2_MISS); /* 1 1 0 2 */
  assert_int_equal(victim(&b, 7, 12, 15), 3);
  bench_end(&b);
}

/* A cycle of three lines by instruction 1, each followed by a line that instruction 2 brings once: six lines between
 * two uses, so that LRU never hits in four ways. MIN keeps the three and none of the others. */
static void hawkeye_keeps_a_cycle(void **state) {
  (void)state;
  struct bench b;
  uint64_t way[4] = {0}, hits = 0;
  uint32_t used = 0;
  bench_start(&b, "l2-hawkeye");
  for (uint64_t i = 0; i < 400; i++) {
    uint64_t line = i % 2 ? 100 + i : 1 + i / 2 % 3;
    uint32_t pc = i % 2 ? 2 : 1, w = 0;
    while (w < used && way[w] != line) w++;
    bool hit = w < used;
    if (!hit && used < 4) w = used++;
    else if (!hit) {
      w = (uint32_t)victim(&b, pc, line, 15);
      evict(&b, w, way[w]);
    }
    way[w] = line;
    use(&b, pc, line, w, hit ? L2_HIT : L2_MISS);
    hits += hit;
  }
  assert_true(bench_counter(&b, "averse") > 150); /* nearly all of instruction 2's */
  assert_true(hits > 180);                        /* of 200 */
  bench_end(&b);
}

/* ---- Mockingjay ---- */

/* Instruction 1 learns distance 2, instruction 2 distance 9; line 3 of instruction 8 passes the time. Distances are
 * up to 31, a counter falls with every access. */
static void jay_learn(struct bench *b) {
  use(b, 1, 1, 0, L2_MISS);
  use(b, 2, 2, 1, L2_MISS);
  use(b, 9, 1, 0, L2_HIT); /* two accesses after the miss */
  use(b, 8, 3, 3, L2_MISS);
  for (uint32_t i = 0; i < 6; i++) use(b, 9, 3, 3, L2_HIT);
  use(b, 9, 2, 1, L2_HIT); /* nine after */
}

static void the_furthest_use_goes(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "l2-mockingjay:grain=1");
  jay_learn(&b);
  use(&b, 1, 11, 0, L2_MISS);                /* 2 */
  use(&b, 2, 12, 1, L2_MISS);                /* 1 9 */
  assert_int_equal(victim(&b, 7, 20, 3), 1); /* nothing known of instruction 7 */
  assert_int_equal(victim(&b, 2, 20, 3), 1); /* as far as the furthest: takes its place */
  use(&b, 9, 3, 3, L2_HIT);                  /* 0 8 */
  assert_int_equal(victim(&b, 2, 20, 3), -1);
  for (uint32_t i = 0; i < 4; i++) use(&b, 9, 3, 3, L2_HIT); /* -4 4: overdue counts more */
  assert_int_equal(victim(&b, 7, 20, 3), 0);
  evict(&b, 0, 11);
  evict(&b, 1, 12);
  assert_int_equal(bench_counter(&b, "overdue"), 1);
  assert_int_equal(bench_counter(&b, "far"), 1);
  use(&b, 2, 20, UINT32_MAX, L2_BYPASSED); /* -5 3: an access all the same */
  assert_int_equal(bench_counter(&b, "bypassed"), 1);
  bench_end(&b);
}

/* After distance 2 one of 20 moves the prediction to 3, not further; without bypassing a line always goes. */
static void predictions_move_by_one(void **state) {
  (void)state;
  for (uint32_t bypass = 0; bypass < 2; bypass++) {
    struct bench b;
    bench_start(&b, bypass ? "l2-mockingjay:grain=1" : "l2-mockingjay:grain=1/bypass=0");
    jay_learn(&b);
    use(&b, 1, 11, 0, L2_MISS); /* 2 */
    assert_int_equal(victim(&b, 1, 20, 1), 0);
    for (uint32_t i = 0; i < 19; i++) use(&b, 9, 3, 3, L2_HIT);
    use(&b, 9, 11, 2, L2_HIT);  /* 20 after: 3 */
    use(&b, 1, 12, 0, L2_MISS); /* 3 */
    assert_int_equal(victim(&b, 1, 20, 1), 0);
    use(&b, 9, 3, 3, L2_HIT); /* 2 */
    assert_int_equal(victim(&b, 1, 20, 1), bypass ? -1 : 0);
    use(&b, 9, 3, 3, L2_HIT);
    use(&b, 9, 3, 3, L2_HIT); /* 0 */
    assert_int_equal(victim(&b, 1, 20, 1), bypass ? -1 : 0);
    for (uint32_t i = 0; i < 3; i++) use(&b, 9, 3, 3, L2_HIT);
    assert_int_equal(victim(&b, 1, 20, 1), 0); /* -3: as far as the request */
    bench_end(&b);
  }
}

/* Lines of instruction 4 are used once: those that leave the memory make it a scan, which takes no line at all. */
static void scans_take_no_line(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "l2-mockingjay");
  assert_int_equal(victim(&b, 4, 99, 15), 0);
  for (uint64_t i = 0; i < 40; i++) use(&b, 4, 100 + i, 0, L2_MISS);
  assert_true(bench_counter(&b, "scans") > 8);
  assert_int_equal(bench_counter(&b, "trained"), 0);
  assert_int_equal(victim(&b, 4, 99, 15), -1);
  struct mem_event e = event(&b, 4, 99);
  e.atomic = true;
  uint64_t tag[4] = {0}, used[4] = {0};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 3); /* performed in the L2 */
  bench_end(&b);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(optgen_by_hand, "l2-hawkeye"),  PAPER_TEST(hawkeye_replaces_averse_lines_first, "l2-hawkeye"),
      cmocka_unit_test(hawkeye_keeps_a_cycle),   PAPER_TEST(the_furthest_use_goes, "l2-mockingjay"),
      cmocka_unit_test(predictions_move_by_one), cmocka_unit_test(scans_take_no_line),
  };
  return scheme_tests(tests, argc, argv);
}
