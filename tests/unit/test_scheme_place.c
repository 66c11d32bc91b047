/* test_scheme_place.c - lines in the L1s of other SMs: the network between the L1s by hand, with two schemes of this
 * file, and the schemes that use it.
 */
#include "place_rig.h"

static struct place_rig rig;

/* ---- two schemes ---- */

static uint32_t next_that_holds(struct scheme_ctx *c, const struct l1_event *e) {
  for (uint32_t k = 1; k < c->config->sms; k++)
    if (gpu_l1_holds(c->gpu, e, (e->sm + k) % c->config->sms)) return (e->sm + k) % c->config->sms;
  return PLACE_NONE;
}
static uint32_t first_sm(struct scheme_ctx *c, const struct l1_event *e) {
  (void)c, (void)e;
  return 0;
}
static bool any(struct scheme_ctx *c, uint32_t sm, uint32_t at) {
  (void)c, (void)sm, (void)at;
  return true;
}
static bool only_first(struct scheme_ctx *c, uint32_t sm, uint32_t at) {
  (void)c, (void)sm;
  return at == 0;
}
static const struct l1_place peers = {.peer = next_that_holds, .reads = any};
static const struct l1_place homes = {.home = first_sm, .reads = only_first};
static const struct scheme test_peers = {
    .name = "test-peers", .title = "misses look into the other L1s", .place = &peers, .no_storage = "a test"};
static const struct scheme test_homes = {
    .name = "test-homes", .title = "all lines live in the first L1", .place = &homes, .no_storage = "a test"};

static int add_schemes(void **state) {
  struct err e = {0};
  (void)state;
  return !(scheme_add(&test_peers, &e) && scheme_add(&test_homes, &e));
}
static int remove_schemes(void **state) {
  (void)state;
  scheme_remove(&test_peers);
  scheme_remove(&test_homes);
  return 0;
}

static void expect(const char *what, uint64_t is, uint64_t by_hand) {
  if (is != by_hand) fail_msg("%s: %lu, by hand %lu", what, (unsigned long)is, (unsigned long)by_hand);
}

static void loads_of_others(const char *what, uint64_t hits, uint64_t pending, uint64_t misses, uint64_t l2_reads) {
  print_message("%s\n", what);
  expect("hits", rig.st.net_hits, hits);
  expect("pending", rig.st.net_pending, pending);
  expect("misses", rig.st.net_misses, misses);
  expect("loads", rig.st.net_lookups, hits + pending + misses);
  expect("read requests to the L2", rig.st.mem_reads, l2_reads);
}

/* ---- the hook ---- */

static void a_miss_finds_its_data_in_another_l1(void **state) {
  (void)state;
  PLACE_RUN(&rig, "test-peers", NULL, "a", ".......aa");
  loads_of_others("one", 1, 0, 0, 1);
  expect("asked", rig.st.net_asked, 2);
  expect("answered by an L1", rig.st.net_answers, 1);
  expect("misses of the L1s", rig.st.l1d_read_misses, 2);
  expect("hits of the L1s", rig.st.l1d_read_hits, 1);
  expect("packets", rig.st.net_packets, 2);
  expect("flits", rig.st.net_flits, 1 + (8 + 128 + 31) / 32);
  expect("bytes filled", rig.st.l1d_fill_bytes, 256);
  uint64_t took = rig.st.net_latency_sum;
  PLACE_RUN(&rig, "test-peers", "l1net.latency=18", "a", ".......aa");
  expect("ten cycles more each way", rig.st.net_latency_sum, took + 20);
  PLACE_RUN(&rig, "test-peers", "l1net.bytes=136", "a", ".......aa");
  expect("four flits less", rig.st.net_latency_sum, took - 4);
  PLACE_RUN(&rig, "test-peers", "l1d.latency=11", "a", ".......aa");
  expect("ten cycles more in both L1s", rig.st.net_latency_sum, took + 20);
}

static void data_may_be_gone(void **state) {
  (void)state;
  /* A store of its SM, or of any other, evicts the line while the look is under way, which takes 200 cycles. */
  PLACE_RUN(&rig, "test-peers", "l1net.latency=200", "a.......A", ".......a", "");
  loads_of_others("evicted at its SM", 0, 0, 1, 2);
  PLACE_RUN(&rig, "test-peers", "l1net.latency=200", "a", ".......a", ".......A");
  loads_of_others("evicted by another SM", 0, 0, 1, 2);
  expect("evicted elsewhere", rig.st.net_evictions, 1);
  PLACE_RUN(&rig, "test-peers", NULL, "a", ".......a", "..............A", "...................a");
  loads_of_others("two copies, evicted", 1, 0, 0, 2);
  expect("evicted elsewhere", rig.st.net_evictions, 2);
  PLACE_RUN(&rig, "test-peers", NULL, "a", ".......!", "...........a");
  loads_of_others("a fence of another SM", 0, 0, 0, 2);
}

static void lines_live_in_one_l1(void **state) {
  (void)state;
  PLACE_RUN(&rig, "test-homes", NULL, "", "aa");
  loads_of_others("a miss and a hit", 1, 0, 1, 1);
  expect("misses", rig.st.l1d_read_misses, 1);
  expect("hits", rig.st.l1d_read_hits, 1);
  expect("packets", rig.st.net_packets, 4);
  expect("flits", rig.st.net_flits, 2 * (1 + 5));
  PLACE_RUN(&rig, "test-homes", "l2.rop_latency=1000", "........a", "a", "a"); /* SM 0 fetches one line of code less */
  expect("one line for three SMs: misses", rig.st.l1d_read_misses, 1);
  expect("and merges", rig.st.l1d_read_pending, 2);
  expect("of others", rig.st.net_lookups, 2);
  expect("requests to the L2", rig.st.mem_reads, 1);
  PLACE_RUN(&rig, "test-homes", NULL, "a.......a", "....A", "");
  loads_of_others("a store of another SM evicts it", 0, 0, 0, 2);
  expect("stores", rig.st.net_stores, 1);
  expect("of which hit", rig.st.l1d_write_hits, 1);
  PLACE_RUN(&rig, "test-homes", NULL, "....!", "a.......a", "");
  loads_of_others("a fence", 0, 0, 2, 2);
  PLACE_RUN(&rig, "test-homes", "l1d.mshrs=1", "", "a", "b", "c");
  loads_of_others("one MSHR", 0, 0, 3, 3);
}

/* An SM without warps has work until what its L1 sends for others has left: here stores that wait for a page walk. */
static void stores_wait_for_their_page(void **state) {
  (void)state;
  PLACE_RUN(&rig, "test-homes", "tlb.entries=16,tlb.latency=500", "", "ABCD");
  expect("stores", rig.st.net_stores, 4);
  expect("page walks", rig.st.tlb_misses, 1);
  expect("writes", rig.st.mem_writes, 4);
}

/* Three SMs load from one; with a width of 1 B an answer takes its port for 136 cycles. */
static void one_port(void **state) {
  (void)state;
  PLACE_RUN(&rig, "test-homes", "l1net.bytes=1", "abc", "..........a", "..........b", "..........c");
  loads_of_others("three hits", 3, 0, 0, 3);
  expect("flits", rig.st.net_flits, 3 * (8 + 136));
  assert_in_range(rig.st.net_wait_sum, 1, 136 + 2 * 136 + 3 * 8);
  PLACE_RUN(&rig, "test-homes", "l1net.bytes=1,l1net.ports=4", "abc", "..........a", "..........b", "..........c");
  expect("four ports", rig.st.net_wait_sum, 0);
}

/* ---- random traffic ---- */

static void laws_and_time(void **state) {
  (void)state;
  static const char *const list[] = {"test-peers",
                                     "test-homes",
                                     "test-peers+sector",
                                     "test-homes+sector",
                                     "test-homes+next-line",
                                     "test-peers+tsc",
                                     "test-homes+mrpb",
                                     "test-homes+pdp",
                                     "dc-l1",
                                     "dc-l1:l1s=1+sector",
                                     "ata-cache"};
  static const char *const set[] = {"",
                                    "l1net.queue=1",
                                    "l1net.ports=2",
                                    "l1net.latency=100",
                                    "l1d.latency=20",
                                    "l1d.allocate=on-fill",
                                    "l1d.mshrs=2",
                                    "l1d.miss_queue=2",
                                    "icnt.injection_buffer=5",
                                    "sm.warp_scheduler=lrr"};
  for (uint32_t i = 0; i < sizeof list / sizeof *list; i++)
    for (uint32_t k = 0; k < sizeof set / sizeof *set; k++) {
      struct gpu_stats a = place_random(list[i], set[k], 70 + k, true),
                       b = place_random(list[i], set[k], 70 + k, false);
      rig_equal(&a, &b, "skipping", "stepping", list[i]);
      assert_true(a.net_lookups > 20);
    }
}

/* ---- ata-cache ---- */

/* The abstract: the caches are only accessed by other cores when they have a copy. Two clusters of two SMs. */
static void other_l1s_are_accessed_if_they_hold_the_data(void **state) {
  (void)state;
  PLACE_RUN(&rig, "ata-cache=2", NULL, "a", ".......ab", ".......a", "..............ac");
  loads_of_others("a from SM 0 to 1 and from 2 to 3", 2, 0, 0, 4); /* a for SM 0 and 2, b, c */
  expect("misses compared", rig.counter[0], 6);
  expect("found", rig.counter[1], 2);
  expect("copies", rig.counter[2], 2);
  expect("packets", rig.st.net_packets, 4);
  PLACE_RUN(&rig, "ata-cache=4", NULL, "a", ".......ab", "..............a", ".....................ac");
  loads_of_others("one cluster", 3, 0, 0, 3);
  expect("copies", rig.counter[2], 1 + 2 + 3);
  PLACE_RUN(&rig, "ata-cache=2", NULL, "a..............a", ".......A");
  loads_of_others("a store evicts the copies of its cluster", 0, 0, 0, 2);
  PLACE_RUN(&rig, "ata-cache=2", NULL, "a..............a", "", ".......A");
  loads_of_others("but not those of another", 0, 0, 0, 1);
  /* 8 packets of 48 bits wait at either end of both crossbars; those of answers have 128 B */
  assert_true(rig_storage_kb("ata-cache") == 2 * 8 * (2 * 48 + 1024) / 8192.0);
}

/* ---- dc-l1 ---- */

/* The abstract: an L1 for each SM keeps the same lines many times. Eight lines, twice, by four SMs, in L1s of four. */
static void nodes_keep_lines_once(void **state) {
  (void)state;
  static const char all[] = "abcdefghabcdefgh";
  static const struct {
    const char *list;
    uint64_t reads, hits;
  } design[] = {{"baseline", 4 * 16, 0},                       /* eight lines pass through four ways */
                {"dc-l1:l1s=2/cluster=2", 2 * 8, 4 * 16 - 16}, /* Pr2: all eight, once for two SMs */
                {"dc-l1:l1s=1/cluster=4", 8, 4 * 16 - 8},      /* Sh4: once, two in each node */
                {"dc-l1:l1s=2/cluster=4", 8, 4 * 16 - 8},      /* Sh2: once, four in each node */
                {"dc-l1:l1s=1/cluster=2", 2 * 8, 4 * 16 - 16}, /* Sh4+C2: once for each cluster */
                {"dc-l1:l1s=4/cluster=4", 8, 4 * 16 - 8}};     /* Pr1: all L1s in one */
  for (uint32_t i = 0; i < sizeof design / sizeof *design; i++) {
    PLACE_RUN(&rig, design[i].list, NULL, all, all, all, all);
    print_message("%s\n", design[i].list);
    expect("read requests to the L2", rig.st.mem_reads, design[i].reads);
    expect("hits and merges", rig.st.l1d_read_hits + rig.st.l1d_read_pending, design[i].hits);
    expect("loads over the network", rig.st.net_lookups, i ? 4 * 16 : 0);
    expect("packets", rig.st.net_packets, i ? 2 * 4 * 16 : 0);
  }
  PLACE_RUN(&rig, "dc-l1:l1s=1/cluster=4", NULL, "a.......a", "....A", "", "");
  loads_of_others("a store of another SM evicts it", 0, 0, 2, 2);
  PLACE_RUN(&rig, "dc-l1:l1s=1/cluster=2", NULL, "a.......a", "", "....A", "");
  loads_of_others("but not that of another cluster", 1, 0, 1, 1);
  PLACE_RUN(&rig, "dc-l1:l1s=2/cluster=8", "sms=5", "ab", "ab", "ab", "ab", "ab"); /* two nodes for five SMs */
  expect("read requests to the L2", rig.st.mem_reads, 2);
  assert_true(rig_storage_kb("dc-l1") == 2 * 8 * (2 * 48 + 2 * 1024) / 8192.0);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_miss_finds_its_data_in_another_l1),
      cmocka_unit_test(data_may_be_gone),
      cmocka_unit_test(lines_live_in_one_l1),
      cmocka_unit_test(stores_wait_for_their_page),
      cmocka_unit_test(one_port),
      cmocka_unit_test(laws_and_time),
      PAPER_TEST(other_l1s_are_accessed_if_they_hold_the_data, "ata-cache"),
      PAPER_TEST(nodes_keep_lines_once, "dc-l1"),
  };
  return claims_asked(argc, argv) ? claims_print(tests, sizeof tests / sizeof *tests)
                                  : cmocka_run_group_tests(tests, add_schemes, remove_schemes);
}
