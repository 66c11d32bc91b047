/* test_scheme_slices.c - lines with copies in several slices of the L2 (gpu/mem/l2_copies.c): what loads and stores of
 * two clusters of SMs do to them, by hand, and the scheme that chooses slices.
 *
 * Four SMs, two slices in a channel: SMs 0 and 1 are a cluster, 2 and 3 the other. Line a has its home in the slice of
 * SMs 0 and 1, line c in that of SMs 2 and 3.
 */
#include "place_rig.h"

static struct place_rig rig;

static void expect(const char *what, uint64_t is, uint64_t by_hand) {
  if (is != by_hand) fail_msg("%s: %lu, by hand %lu", what, (unsigned long)is, (unsigned long)by_hand);
}

/* Reads of global memory at the L2 that missed, copies that stores invalidated, copies that were written back. */
static void copies(const char *what, uint64_t misses, uint64_t dropped, uint64_t cleaned) {
  print_message("%s\n", what);
  expect("misses of reads", rig.st.l2_read_accesses - rig.st.l2_read_hits, misses);
  expect("dropped", rig.st.l2_copies_dropped, dropped);
  expect("written back", rig.st.l2_copies_cleaned, cleaned);
}

static const char *const organisations[] = {"l2.organisation=line", "l2.organisation=sector"};

static void clusters_have_copies(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 2; i++) {
    const char *set = organisations[i];
    PLACE_RUN(&rig, "adaptive-llc=shared", set, "a", "", ".......a", "");
    copies("shared", 1, 0, 0);
    expect("requests moved", rig.st.l2_moved, 0);
    PLACE_RUN(&rig, "adaptive-llc=private", set, "a", "", ".......a", "");
    copies("private, two clusters", 2, 0, 0);
    PLACE_RUN(&rig, "adaptive-llc=private", set, "a", ".......a", "", "");
    copies("private, one cluster", 1, 0, 0);
    PLACE_RUN(&rig, "adaptive-llc=private", set, "m", "", ".......m", "..............m");
    copies("a line of the other home", 2, 0, 0);
  }
}

static void stores_drop_copies(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 2; i++) {
    const char *set = organisations[i];
    PLACE_RUN(&rig, "adaptive-llc=private", set, "a.......A", "", "...a", "....................a");
    copies("at home: its data go to DRAM before they are read elsewhere", 3, 1, 1);
    expect("lines written back", rig.st.l2_writebacks, 1);
    PLACE_RUN(&rig, "adaptive-llc=private", set, "a", "....................a", "........A", "");
    copies("elsewhere: to DRAM at once", 2, 1, 0);
    expect("lines written back", rig.st.l2_writebacks, 0);
    PLACE_RUN(&rig, "adaptive-llc=private", set, "a.......A", "....................a", "", "");
    copies("the cluster at home alone", 1, 0, 0);
    PLACE_RUN(&rig, "adaptive-llc=replicated", set, "a", "....................a", "........A", "");
    copies("stores at home only", 1, 0, 0);
    PLACE_RUN(&rig, "adaptive-llc=replicated", set, "a", "", "...a.......A", "....................a");
    copies("and the copy of their own cluster goes", 3, 1, 1);
  }
  PLACE_RUN(&rig, "adaptive-llc=private", "l2.write=write-through", "a.......A", "", "...a", "....................a");
  copies("an L2 that writes through", 3, 1, 0);
}

/* The first load of an SM brings its code. SM 0 stores after the request of SM 2 has missed in the other slice and
 * before its data, which serve SM 2 only: SM 3, which asks then, waits and fetches the line again. */
static void data_in_flight_are_not_kept(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 2; i++) {
    char set[128];
    snprintf(set, sizeof set, "clock.dram_mhz=50,%s", organisations[i]);
    PLACE_RUN(&rig, "adaptive-llc=private", set, "e...............A", "", "g..........a", "i.............a");
    copies("a store under a fetch", 5, 1, i); /* in sectors the store makes its home newer than DRAM */
    assert_true(rig.st.l2_rejects > 0);
  }
}

/* ---- random traffic ---- */

static void random_traffic_drains(void **state) {
  (void)state;
  static const char *const list[] = {"adaptive-llc=private",
                                     "adaptive-llc=replicated",
                                     "adaptive-llc:profile=1000",
                                     "adaptive-llc=private+l2-rrip",
                                     "adaptive-llc=replicated+next-line:into=l2",
                                     "adaptive-llc=private+medic"};
  static const char *const set[] = {"l2.organisation=line",
                                    "l2.organisation=sector",
                                    "l2.sets=16,l2.ways=2",
                                    "l2.organisation=sector,l2.sets=16,l2.ways=2",
                                    "l2.mshrs=2",
                                    "l2.write=write-through",
                                    "l2.organisation=sector,l2.write=write-through",
                                    "memory.subpartitions=4",
                                    "memory.subpartitions=8,memory.channels=2,l2.organisation=sector",
                                    "memory.subpartitions=1",
                                    "l2.banked=true,l2.banks=4,l2.ports=4",
                                    "l2.perfect=true",
                                    "clock.dram_mhz=200"};
  for (uint32_t i = 0; i < sizeof list / sizeof *list; i++)
    for (uint32_t k = 0; k < sizeof set / sizeof *set; k++) {
      struct gpu_stats a = place_random(list[i], set[k], 70 + k, true),
                       b = place_random(list[i], set[k], 70 + k, false);
      rig_equal(&a, &b, "skipping", "stepping", list[i]);
      bool moves = !strstr(set[k], "subpartitions=1") && strcmp(list[i], "adaptive-llc:profile=1000") != 0;
      assert_true(!moves || a.l2_moved > 20);
      assert_true(a.l2_accesses > 200);
    }
}

/* ---- adaptive-llc ---- */

#define HOMES_6 "acemoqacemoqacemoqacemoqacemoqacemoqacemoqacemoqacemoqacemoqacemoqacemoq"
#define READ_6 "abcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdef"

/* The abstract: a shared slice serves a line to all clusters, one request after another; private slices have a copy
 * each and supply more. Six lines pass through L1s of four. Their homes are one slice in each of three channels: read
 * by both clusters, three slices serve them if they are shared and six if they are private. Six lines with homes in
 * six slices, read by one cluster, are served by six if they are shared and by three if they are private. */
static void lines_that_all_read_get_copies(void **state) {
  (void)state;
  enum { PROFILED, SAMPLED, SAMPLED_HITS, BY_MISSES, BY_BANDWIDTH, STAYED };
  static const char list[] = "adaptive-llc:profile=5000/sets=64";
  PLACE_RUN(&rig, list, NULL, READ_6, READ_6, READ_6, READ_6);
  expect("private, since more is supplied", rig.counter[BY_BANDWIDTH], 1);
  expect("other choices", rig.counter[BY_MISSES] + rig.counter[STAYED], 0);
  assert_in_range(rig.st.l2_moved, 20, rig.st.l2_accesses / 2);
  PLACE_RUN(&rig, list, NULL, HOMES_6, HOMES_6, "", "");
  expect("shared slices supply more", rig.counter[STAYED], 1);
  expect("other choices", rig.counter[BY_MISSES] + rig.counter[BY_BANDWIDTH], 0);
  expect("requests moved", rig.st.l2_moved, 0);
  assert_true(rig.counter[SAMPLED_HITS] < rig.counter[SAMPLED] && rig.counter[SAMPLED] < rig.counter[PROFILED]);
  PLACE_RUN(&rig, "adaptive-llc:sets=64", NULL, READ_6, READ_6, READ_6, READ_6);
  expect("a launch shorter than its profile stays shared", rig.st.l2_moved, 0);
  /* 8 sets of 8 tags of 32 bits and 3 of recency; 12 slices, two counters of 16 bits; 7 sums; one bit */
  assert_true(rig_storage_kb("adaptive-llc") * 15 * 8192 == 64 * 35 + 24 * 16 + 7 * 32 + 1);
}

static void told_to_share(void **state) {
  (void)state;
  rig_same("baseline", "adaptive-llc=shared", "the address chooses the slice");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clusters_have_copies),
      cmocka_unit_test(stores_drop_copies),
      cmocka_unit_test(data_in_flight_are_not_kept),
      cmocka_unit_test(random_traffic_drains),
      PAPER_TEST(lines_that_all_read_get_copies, "adaptive-llc"),
      NEVER_TEST(told_to_share, "adaptive-llc"),
  };
  return scheme_tests(tests, argc, argv);
}
