/* test_scheme_prefetch.c - what becomes of prefetched lines, and the prefetching schemes, by hand: one warp whose loads
 * wait for each other, on an L1 of one set of four ways.
 */
#include "scheme_rig.h"

static struct rig rig;

static void letters(const char *scheme, const char *set, const char *text) {
  static struct rig_access at[64];
  rig_run(&rig, scheme, set, at, rig_letters(text, at));
}

/* Fetched: useful, late, evicted, left. Not fetched: redundant, no queue, no MSHR, no line. */
static void fates(const char *what, const uint64_t fetched[4], const uint64_t not_fetched[4]) {
  const struct gpu_stats *s = &rig.st;
  const uint64_t is[8] = {s->prefetch_useful,    s->prefetch_late,     s->prefetch_evicted, s->prefetch_left,
                          s->prefetch_redundant, s->prefetch_no_queue, s->prefetch_no_mshr, s->prefetch_no_line};
  static const char *const name[8] = {"useful",    "late",     "evicted", "left",
                                      "redundant", "no queue", "no MSHR", "no line"};
  for (uint32_t i = 0; i < 8; i++) {
    uint64_t by_hand = i < 4 ? fetched[i] : not_fetched[i - 4];
    if (is[i] != by_hand)
      fail_msg("%s: %lu %s, by hand %lu", what, (unsigned long)is[i], name[i], (unsigned long)by_hand);
  }
}
#define FETCHED(...) ((const uint64_t[4]){__VA_ARGS__})
#define NOT_FETCHED(...) ((const uint64_t[4]){__VA_ARGS__})

/* Each line is loaded twice. What a miss requests comes with its own line, before the next one is loaded; what a hit asks
 * for takes longer than the hits, so that c is in flight when it is loaded. */
static void one_block_lookahead(void **state) {
  (void)state;
  letters("next-line:when=1", NULL, "a a b b c c d d"); /* a and c miss and request b and d */
  rig_expect(&rig, 6, 2, 0, "on misses");
  fates("on misses", FETCHED(2, 0, 0, 0), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line", NULL, "a a b b c c d d"); /* a requests b, whose use requests c, and so on; e is not used */
  rig_expect(&rig, 6, 1, 0, "tagged");
  fates("tagged", FETCHED(2, 1, 0, 1), NOT_FETCHED(0, 0, 0, 0));
  assert_int_equal(rig.counter[0], 1);
  assert_int_equal(rig.counter[1], 3);
  letters("next-line:when=0", NULL, "a a b b c c d d"); /* every second load requests a line that is there */
  rig_expect(&rig, 6, 1, 0, "always");
  fates("always", FETCHED(2, 1, 0, 1), NOT_FETCHED(4, 0, 0, 0));
  letters("next-line=2:when=1", NULL, "a a b c d"); /* a requests b and c, d for e and f */
  rig_expect(&rig, 3, 2, 0, "two lines");
  fates("two lines", FETCHED(2, 0, 0, 2), NOT_FETCHED(0, 0, 0, 0));
}

static void each_fate(void **state) {
  (void)state;
  /* Four misses request b, q, s, c. The set is full with a, b, p, q. r takes the place of b, used last when it was
   * placed, s that of a, b that of q, c that of p. */
  letters("next-line:when=1", NULL, "a a p p r r b b");
  rig_expect(&rig, 4, 4, 0, "replaced before use");
  fates("replaced before use", FETCHED(0, 0, 2, 2), NOT_FETCHED(0, 0, 0, 0));
  assert_int_equal(rig.st.prefetch_bytes, 4 * 128);
  assert_int_equal(rig.st.prefetch_requests, 4);
  letters("next-line:when=1", NULL, "a a B b"); /* the store evicts b, whose load requests c */
  rig_expect(&rig, 1, 2, 0, "a store");
  fates("a store", FETCHED(0, 0, 0, 2), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line:when=1", "l1d.mshrs=1", "a a b"); /* the load itself has the only MSHR */
  rig_expect(&rig, 1, 2, 0, "no MSHR");
  fates("no MSHR", FETCHED(0, 0, 0, 0), NOT_FETCHED(0, 0, 2, 0));
  letters("next-line=8:when=1", "l1d.prefetch_queue=3", "a"); /* eight lines at once for a queue of three */
  fates("a short queue", FETCHED(0, 0, 0, 3), NOT_FETCHED(0, 5, 0, 0));
  letters("next-line=8:when=1", NULL, "a"); /* three ways are left while all of them are being fetched */
  fates("a small set", FETCHED(0, 0, 0, 3), NOT_FETCHED(0, 0, 0, 5));
  /* A reply takes 5 steps of a slow network: b is in flight when its load comes. */
  letters("next-line:when=1", "clock.icnt_mhz=20", "a b");
  assert_int_equal(rig.st.l1d_read_pending, 1);
  rig_expect(&rig, 0, 1, 0, "late");
  fates("late", FETCHED(0, 1, 0, 0), NOT_FETCHED(0, 0, 0, 0));
}

/* The same through an organisation: its lines are those of the L1, and only the sectors of the load are fetched. */
static void organisations(void **state) {
  (void)state;
  letters("next-line:when=1+sector", NULL, "a a b b c c d d");
  rig_expect(&rig, 6, 2, 0, "sectors, on misses");
  fates("sectors, on misses", FETCHED(2, 0, 0, 0), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line:when=1+sector", NULL, "a a p p r r b b");
  rig_expect(&rig, 4, 4, 0, "sectors, replaced before use");
  fates("sectors, replaced before use", FETCHED(0, 0, 2, 2), NOT_FETCHED(0, 0, 0, 0));
  const struct rig_access at[] = {{.line = 0, .sectors = 1}, {.line = 0, .sectors = 1}, {.line = 1, .sectors = 1}};
  rig_run(&rig, "next-line:when=1+sector", NULL, at, 3);
  rig_expect(&rig, 2, 1, 0, "one sector");
  assert_int_equal(rig.st.prefetch_bytes, 32);
  letters("next-line:when=1", "l1d.allocate=on-fill", "a a b b c c d d");
  rig_expect(&rig, 6, 2, 0, "lines allocated on fill");
  fates("lines allocated on fill", FETCHED(2, 0, 0, 0), NOT_FETCHED(0, 0, 0, 0));
}

/* The end of a launch waits for no prefetch: the cycles are those without, and the line is still counted. */
static void the_end(void **state) {
  (void)state;
  letters(NULL, NULL, "a");
  uint64_t cycles = rig.st.cycles;
  letters("next-line", "dram.fixed_latency=1000", "a");
  uint64_t slow = rig.st.cycles;
  fates("the end", FETCHED(0, 0, 0, 1), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line", NULL, "a");
  fates("the end", FETCHED(0, 0, 0, 1), NOT_FETCHED(0, 0, 0, 0));
  assert_int_equal(rig.st.cycles, cycles);
  assert_true(slow > cycles);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(one_block_lookahead, "next-line"),
      cmocka_unit_test(each_fate),
      cmocka_unit_test(organisations),
      cmocka_unit_test(the_end),
  };
  return scheme_tests(tests, argc, argv);
}
