/* test_l1.c - the L1 data cache on written sequences, with hand-computed hits and misses. */
#include "scheme_rig.h"
#include "written_feed.h"

/* A sequence of one warp, each access after the data of the one before; a capital letter stores. */
static void sequence(const char *machine, const char *text, uint64_t hits, uint64_t misses, uint64_t evictions) {
  static struct rig r;
  struct rig_access at[64];
  rig_run(&r, "baseline", machine, at, rig_letters(text, at));
  rig_expect(&r, hits, misses, 0, text);
  assert_int_equal(r.st.l1d_evictions, evictions);
}

/* One set of two ways. a and b miss; a hits and is then the younger, so c takes the place of b; a hits; b takes the
 * place of c, the older; a hits once more. */
static void the_least_recent_line_goes(void **state) {
  (void)state;
  sequence("l1d.ways=2", "a b a c a b a", 3, 4, 2);
}

/* The same with the oldest line going, whether it has been used since or not: c takes the place of a, a that of b, b
 * that of c; the last a hits. */
static void the_first_in_goes(void **state) {
  (void)state;
  sequence("l1d.ways=2,l1d.replacement=fifo", "a b a c a b a", 2, 5, 3);
}

/* Lines over two sets of one way: a and c are of set 0, b of set 1. c takes the place of a, b stays, a takes that of
 * c. */
static void sets_are_apart(void **state) {
  (void)state;
  sequence("l1d.sets=2,l1d.ways=1", "a b c b a", 1, 4, 2);
}

/* A store drops the line, so that the load after it misses; one to a line that is not there brings it not in. A line
 * dropped is none that is evicted: b takes the way that A left. */
static void stores_drop_and_do_not_allocate(void **state) {
  (void)state;
  sequence("l1d.ways=2", "a A a a", 1, 2, 0);
  sequence("l1d.ways=2", "A a a", 1, 1, 0);
  sequence("l1d.ways=2", "a c A b c b", 2, 3, 0);
}

/* The hashed index of 32 sets: bits 7-11 of the address with bits 13, 14, 15, 17 and 19. Line 0 is of set 0, line 64
 * (bit 13) of set 0 ^ 1 = 1, line 65 of set 1 ^ 1 = 0. With one way line 65 drives line 0 out, where line 64 does not;
 * by the linear index both 0 and 64 are of set 0, and 65 is of set 1. */
static void the_index_spreads_lines(void **state) {
  (void)state;
  static struct rig r;
  const struct rig_access far[] = {{.line = 0}, {.line = 64}, {.line = 0}},
                          near[] = {{.line = 0}, {.line = 65}, {.line = 0}};
  rig_run(&r, "baseline", "l1d.sets=32,l1d.ways=1,l1d.index=fermi-hash", far, 3);
  rig_expect(&r, 1, 2, 0, "0, 64, 0 hashed");
  rig_run(&r, "baseline", "l1d.sets=32,l1d.ways=1,l1d.index=fermi-hash", near, 3);
  rig_expect(&r, 0, 3, 0, "0, 65, 0 hashed");
  rig_run(&r, "baseline", "l1d.sets=32,l1d.ways=1,l1d.index=linear", far, 3);
  rig_expect(&r, 0, 3, 0, "0, 64, 0 linear");
  rig_run(&r, "baseline", "l1d.sets=32,l1d.ways=1,l1d.index=linear", near, 3);
  rig_expect(&r, 1, 2, 0, "0, 65, 0 linear");
}

/* Four warps load at nearly the same time: line `apart` * number of the warp. */
static struct gpu_stats four(const char *const *set, uint64_t apart) {
  static struct written f;
  struct gpu_config c = written_machine(1, set);
  written_begin(&f, 1, 4);
  written_memory(&f, KIND_LOAD, SPACE_GLOBAL, 1,
                 (struct written_access){.at = 0xC0000000, .lane = 4, .warp = 128 * apart});
  written_exit(&f);
  return written_run(&f, &c, 2);
}

/* One line for all: the first misses, the others join its MSHR. With room for two in it the third is refused until the
 * line is there; then it and the fourth hit. */
static void accesses_merge(void **state) {
  (void)state;
  struct gpu_stats st = four(NULL, 0);
  assert_int_equal(st.l1d_read_misses, 1);
  assert_int_equal(st.l1d_read_pending, 3);
  assert_int_equal(st.l1d_read_hits, 0);
  assert_int_equal(st.l1d_rej_merge, 0);
  st = four((const char *const[]){"l1d.mshr_merges=2", NULL}, 0);
  assert_int_equal(st.l1d_read_misses, 1);
  assert_int_equal(st.l1d_read_pending, 1);
  assert_int_equal(st.l1d_read_hits, 2);
  assert_true(st.l1d_rej_merge > 50);
  assert_int_equal(st.l1d_read_rejects, st.l1d_rej_merge);
}

/* Four lines: all miss, and each requests 128 bytes. One MSHR, or one line, serves them one after the other: each
 * waits for the whole way of the one before, and only the reason that is counted differs. */
static void one_at_a_time(void **state) {
  (void)state;
  struct gpu_stats wide = four(NULL, 1), mshr = four((const char *const[]){"l1d.mshrs=1", NULL}, 1),
                   line = four((const char *const[]){"l1d.sets=1", "l1d.ways=1", NULL}, 1);
  assert_int_equal(wide.l1d_read_misses, 4);
  assert_int_equal(wide.l1d_read_rejects, 0);
  assert_int_equal(wide.l1d_fetch_bytes, 4 * 128);
  assert_int_equal(mshr.l1d_read_misses, 4);
  assert_int_equal(mshr.l1d_read_rejects, mshr.l1d_rej_mshr);
  assert_int_equal(line.l1d_read_misses, 4);
  assert_int_equal(line.l1d_read_rejects, line.l1d_rej_line);
  assert_int_equal(line.l1d_evictions, 3);
  assert_true(mshr.cycles > 3 * wide.cycles);
  assert_true(line.cycles > 3 * wide.cycles);
}

/* A hit takes l1d.latency: of eight loads that each wait for the one before, one more cycle is eight more. */
static void a_hit_takes_its_latency(void **state) {
  (void)state;
  static struct rig r;
  struct rig_access at[64];
  uint32_t n = rig_letters("a a a a a a a a a", at);
  rig_run(&r, "baseline", "l1d.latency=20", at, n);
  uint64_t first = r.st.cycles;
  rig_run(&r, "baseline", "l1d.latency=21", at, n);
  rig_expect(&r, 8, 1, 0, "one line");
  assert_in_range(r.st.cycles - first, 8, 9); /* the miss may take it, too */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_recent_line_goes),
      cmocka_unit_test(the_first_in_goes),
      cmocka_unit_test(sets_are_apart),
      cmocka_unit_test(stores_drop_and_do_not_allocate),
      cmocka_unit_test(the_index_spreads_lines),
      cmocka_unit_test(accesses_merge),
      cmocka_unit_test(one_at_a_time),
      cmocka_unit_test(a_hit_takes_its_latency),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
