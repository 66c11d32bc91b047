/* test_scheme_sharing.c - sharing-aware CTA scheduling and cache management (Tabbakh et al., IPDPS 2017), BCS and LCS
 * (Lee et al., HPCA 2014), and CTA clustering (Li et al., ASPLOS 2017) on examples from the papers and hand-computed
 * sequences.
 */
#include "gpu/state/machine.h"
#include "mem_scheme.h"

/* ---- CTA schedulers: a launch of `ctas` blocks, x to a row, on 2 SMs that hold `limit` each ---- */
struct launch {
  struct bench b;
  struct gpu gpu; /* only what the services read */
  struct feed_kernel kernel;
};

static void launch_start(struct launch *l, const char *list, uint32_t ctas, uint32_t x, uint32_t limit) {
  memset(&l->gpu, 0, sizeof l->gpu);
  bench_start(&l->b, list);
  l->kernel = (struct feed_kernel){.ctas = ctas, .grid = {x, ctas / x, 1}};
  l->gpu.kernel = &l->kernel;
  l->gpu.ctas_per_sm = limit;
  l->b.c->gpu = &l->gpu;
  if (l->b.scheme->on_kernel) l->b.scheme->on_kernel(l->b.c);
}
static int pick(struct launch *l, uint32_t sm, uint32_t room) {
  return (int)l->b.scheme->pick_cta(l->b.c, sm, room);
}
static void expect(struct launch *l, uint32_t sm, uint32_t room, int cta) {
  assert_int_equal(pick(l, sm, room), cta);
}

/* Section IV: each SM draws from its own group of gridDim.x, and takes a new group at its end. */
static void groups_of_a_row(void **state) {
  (void)state;
  struct launch l;
  launch_start(&l, "sharing-cta=x", 12, 3, 2);
  expect(&l, 0, 2, 0), expect(&l, 1, 2, 3);
  expect(&l, 0, 1, 1), expect(&l, 1, 1, 4);
  expect(&l, 0, 1, 2), expect(&l, 0, 1, 6); /* SM 0 is faster: its second row */
  expect(&l, 1, 1, 5), expect(&l, 0, 1, 7);
  expect(&l, 1, 1, 9), expect(&l, 1, 1, 10), expect(&l, 1, 1, 11);
  expect(&l, 1, 1, -1); /* row 2 belongs to SM 0 */
  expect(&l, 0, 1, 8), expect(&l, 0, 1, -1);
  assert_int_equal(bench_counter(&l.b, "groups"), 4);
  bench_end(&l.b);
}

/* With `adpt`: "until the number of remaining CTA groups is less than the number of SMs", then round-robin. */
static void adaptive_end(void **state) {
  (void)state;
  struct launch l;
  launch_start(&l, "sharing-cta=3,adpt", 9, 9, 4);
  expect(&l, 0, 4, 0), expect(&l, 0, 3, 1);
  expect(&l, 1, 4, 3);                      /* two groups were left: a group of its own */
  expect(&l, 0, 2, 2), expect(&l, 0, 1, 6); /* one is left: single CTAs */
  expect(&l, 1, 3, 4), expect(&l, 1, 2, 5), expect(&l, 1, 1, 7);
  expect(&l, 0, 1, 8), expect(&l, 1, 1, -1);
  assert_int_equal(bench_counter(&l.b, "groups"), 2);
  assert_int_equal(bench_counter(&l.b, "round_robin"), 3);
  bench_end(&l.b);
}

/* First as many consecutive CTAs as an SM holds, then pairs, which wait for room for both. */
static void blocks_of_two(void **state) {
  (void)state;
  struct launch l;
  launch_start(&l, "bcs", 11, 11, 3);
  expect(&l, 0, 3, 0), expect(&l, 1, 3, 3);
  expect(&l, 0, 2, 1), expect(&l, 0, 1, 2), expect(&l, 1, 2, 4), expect(&l, 1, 1, 5);
  expect(&l, 0, 1, -1); /* one place: held */
  expect(&l, 0, 2, 6), expect(&l, 1, 2, 8), expect(&l, 0, 1, 7), expect(&l, 1, 1, 9);
  expect(&l, 1, 1, 10); /* the last one alone */
  expect(&l, 0, 3, -1);
  assert_int_equal(bench_counter(&l.b, "initial_sets"), 2);
  assert_int_equal(bench_counter(&l.b, "blocks"), 3);
  bench_end(&l.b);
}

/* Three CTAs of a warp each issued 60, 30 and 25 instructions when the first ends: 115 / 60, rounded up, is 2. */
static void a_lazy_limit(void **state) {
  (void)state;
  struct launch l;
  launch_start(&l, "lcs", 20, 20, 4);
  static const uint32_t issued[] = {60, 30, 25};
  for (uint32_t w = 0; w < 3; w++) {
    l.b.scheme->on_warp_start(l.b.c, 0, w, 10 + w);
    for (uint32_t i = 0; i < issued[w]; i++) l.b.scheme->on_issue(l.b.c, 0, w, NULL);
  }
  assert_true(l.b.scheme->may_launch(l.b.c, 0, 3));
  l.b.scheme->on_cta_done(l.b.c, 0, 10);
  assert_false(l.b.scheme->may_launch(l.b.c, 0, 2));
  assert_true(l.b.scheme->may_launch(l.b.c, 0, 1));
  assert_true(l.b.scheme->may_launch(l.b.c, 1, 3)); /* the other SM has not learnt */
  assert_int_equal(bench_counter(&l.b, "limit_sum"), 2);
  l.b.scheme->on_kernel(l.b.c);
  assert_true(l.b.scheme->may_launch(l.b.c, 0, 3));
  bench_end(&l.b);
}

/* A grid of 3 x 4 CTAs on two SMs, by hand: each SM takes its half of the order, whenever it has room. */
static void clusters_in_order(void **state) {
  (void)state;
  static const struct {
    const char *list;
    int sm[2][6];
  } cases[] = {
      {"cta-clustering", {{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}},
      {"cta-clustering=column", {{0, 3, 6, 9, 1, 4}, {7, 10, 2, 5, 8, 11}}},
      {"cta-clustering=tile:tile=2", {{0, 1, 3, 4, 2, 5}, {6, 7, 9, 10, 8, 11}}},
      {"cta-clustering=tile:tile=3", {{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct launch l;
    launch_start(&l, cases[i].list, 12, 3, 4);
    for (uint32_t k = 0; k < 3; k++) expect(&l, 1, 4, cases[i].sm[1][k]); /* SM 1 is first and fast */
    for (uint32_t k = 0; k < 6; k++) expect(&l, 0, 1, cases[i].sm[0][k]);
    expect(&l, 0, 1, -1); /* its cluster is done, the other's is not */
    for (uint32_t k = 3; k < 6; k++) expect(&l, 1, 1, cases[i].sm[1][k]);
    expect(&l, 1, 1, -1);
    assert_int_equal(bench_counter(&l.b, "given"), 12);
    assert_int_equal(bench_counter(&l.b, "done_early"), 1);
    bench_end(&l.b);
  }
}

/* Eleven CTAs: six and five. Redirected, the n-th to start is of cluster n modulo 2 on whichever SM; in one cluster
 * that is the grid's own order. Throttled to two agents an SM takes no third CTA. */
static void clusters_of_a_redirected_grid(void **state) {
  (void)state;
  struct launch l;
  launch_start(&l, "cta-clustering:redirect=1", 11, 11, 4);
  static const int at[] = {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, -1};
  for (uint32_t k = 0; k < 12; k++) expect(&l, k == 1, 2, at[k]);
  assert_int_equal(bench_counter(&l.b, "moved"), 10);
  bench_end(&l.b);
  launch_start(&l, "cta-clustering:redirect=1/clusters=1", 11, 11, 4);
  for (int k = 0; k < 11; k++) expect(&l, k % 3 == 1, 2, k);
  bench_end(&l.b);
  launch_start(&l, "cta-clustering:agents=2", 11, 11, 4);
  assert_true(l.b.scheme->may_launch(l.b.c, 0, 1));
  assert_false(l.b.scheme->may_launch(l.b.c, 0, 2));
  bench_end(&l.b);
}

/* ---- cache management ---- */

static uint8_t touch_l2(struct bench *b, uint32_t sm, uint64_t line, uint32_t way, enum l2_outcome out) {
  struct mem_event e = bench_event(b, sm, 0, line);
  e.way = way;
  b->note = 9;
  b->scheme->on_l2_access(b->c, &e, out);
  return b->note;
}

/* Section VI-A: the flag is set when the requester is not the owner; a merge counts as well. */
static void the_l2_tells_shared_lines(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "sharing-cache");
  assert_int_equal(touch_l2(&b, 0, 0, 0, L2_MISS), 0);
  assert_int_equal(touch_l2(&b, 0, 0, 0, L2_HIT), 0);
  assert_int_equal(touch_l2(&b, 1, 4, 1, L2_MISS), 0);
  assert_int_equal(touch_l2(&b, 0, 4, 1, L2_PENDING), 1);
  assert_int_equal(touch_l2(&b, 1, 4, 1, L2_HIT), 1); /* its owner, but it is shared */
  assert_int_equal(touch_l2(&b, 0, 8, 2, L2_MISS), 0);
  uint64_t tag[4] = {0}, used[4] = {5, 1, 6, 0};
  struct cache_set s = {.ways = 4, .usable = 7, .tag = tag, .used = used};
  struct mem_event e = bench_event(&b, 0, 0, 12);
  assert_int_equal(b.scheme->l2_narrow(b.c, &s, &e), 5); /* the private ones; way 1 is shared */
  touch_l2(&b, 1, 0, 0, L2_HIT);
  assert_int_equal(b.scheme->l2_narrow(b.c, &s, &e), 4);
  touch_l2(&b, 1, 8, 2, L2_HIT);
  assert_int_equal(b.scheme->l2_narrow(b.c, &s, &e), 7); /* all shared: any of them */
  assert_int_equal(touch_l2(&b, 0, 16, 0, L2_MISS), 0);  /* a new line there is private again */
  e.type = REQ_LOCAL_READ;
  assert_false(b.scheme->l2_may_allocate(b.c, &e));
  e.type = REQ_GLOBAL_READ;
  assert_true(b.scheme->l2_may_allocate(b.c, &e));
  bench_end(&b);
}

/* An untouched shared line outlives every private one, unless l2_dead=1 gives it one more chance only. */
static void shared_lines_of_the_l2_may_die(void **state) {
  (void)state;
  for (uint32_t rule = 0; rule < 2; rule++) {
    struct bench b;
    bench_start(&b, rule ? "sharing-cache:l2_dead=1" : "sharing-cache");
    for (uint32_t w = 0; w < 4; w++) touch_l2(&b, 0, 4 * w, w, L2_MISS);
    touch_l2(&b, 1, 0, 0, L2_HIT); /* way 0 is shared, and the least recently used */
    uint64_t tag[4] = {0}, used[4] = {1, 2, 3, 4};
    struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
    struct mem_event e = bench_event(&b, 0, 0, 16);
    assert_int_equal(b.scheme->l2_narrow(b.c, &s, &e), 14); /* the private ones: declared dead */
    touch_l2(&b, 1, 0, 0, L2_HIT);                          /* but still in use */
    assert_int_equal(b.scheme->l2_narrow(b.c, &s, &e), 14);
    assert_int_equal(b.scheme->l2_narrow(b.c, &s, &e), rule ? 1 : 14);
    assert_int_equal(bench_counter(&b, "l2_dead_replaced"), rule);
    touch_l2(&b, 0, 20, 0, L2_MISS); /* another line in its place is neither shared nor dead */
    assert_int_equal(b.scheme->l2_narrow(b.c, &s, &e), 15);
    bench_end(&b);
  }
}

static struct l1_event l1_event_of(uint32_t way, bool shared) {
  return (struct l1_event){.way = way, .note = shared};
}

/* Figure 12: B and D private, A and C shared, D least recently used: D is declared dead and C goes; at the next fill D
 * is still the least recent and goes. (B is way 1, D way 3; order of use D, C, A, B.) */
static void figure_12_with(const char *scheme) {
  struct bench b;
  bench_start(&b, scheme);
  for (uint32_t w = 0; w < 4; w++) {
    struct l1_event f = l1_event_of(w, w == 0 || w == 2);
    b.scheme->on_fill(b.c, &f);
  }
  uint64_t tag[4] = {0}, used[4] = {3, 4, 2, 1};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  struct l1_event e = l1_event_of(0, false);
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 2);
  struct l1_event f = l1_event_of(2, false); /* E in the place of C */
  b.scheme->on_fill(b.c, &f);
  used[2] = 5;
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 3);
  assert_int_equal(bench_counter(&b, "dead_declared"), 1);
  assert_int_equal(bench_counter(&b, "dead_replaced"), 1);
  bench_end(&b);
}

static void figure_12(void **state) {
  (void)state;
  figure_12_with("sharing-cache");
}

/* Both together: rows of CTAs stay on an SM, single ones at the end, and the L1 goes by Figure 12. */
static void both_halves(void **state) {
  (void)state;
  struct launch l;
  launch_start(&l, "sharing=3", 9, 9, 4);
  expect(&l, 0, 4, 0), expect(&l, 0, 3, 1), expect(&l, 1, 4, 3);
  expect(&l, 0, 2, 2), expect(&l, 0, 1, 6), expect(&l, 1, 3, 4);
  bench_end(&l.b);
  figure_12_with("sharing");
}

/* A hit takes the flag off; without a shared line the private one goes at once. */
static void dead_lines_may_come_back(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "sharing-cache");
  for (uint32_t w = 0; w < 4; w++) {
    struct l1_event f = l1_event_of(w, w == 1);
    b.scheme->on_fill(b.c, &f);
  }
  uint64_t tag[4] = {0}, used[4] = {1, 2, 3, 4};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  struct l1_event e = l1_event_of(0, false);
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 1); /* way 0 is dead now */
  struct l1_event h = l1_event_of(0, false);
  b.scheme->on_hit(b.c, &h);
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 1); /* it is not: declared again */
  s.usable = 13;
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 0);
  bench_end(&b);
}

/* Figure 11 for shared data: the least recent line, private, is declared dead and E is not placed; D is placed there.
 */
static void shared_data_replaces_dead_lines(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "sharing-cache");
  uint64_t tag[4] = {0}, used[4] = {1, 2, 3, 4};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  for (uint32_t w = 0; w < 4; w++) {
    struct l1_event f = l1_event_of(w, false);
    b.scheme->on_fill(b.c, &f);
  }
  struct l1_event e = l1_event_of(0, true);
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), -1);
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 0);
  assert_int_equal(bench_counter(&b, "l1_kept_out"), 1);
  assert_int_equal(bench_counter(&b, "dead_replaced"), 1);
  bench_end(&b);
}

/* P1 to the letter: shared data never drives private data out of the L1. */
static void shared_data_spares_private(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "sharing-cache:strict=1");
  uint64_t tag[4] = {0}, used[4] = {1, 2, 3, 4};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  for (uint32_t w = 0; w < 4; w++) {
    struct l1_event f = l1_event_of(w, false);
    b.scheme->on_fill(b.c, &f);
  }
  struct l1_event e = l1_event_of(0, true);
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), -1);
  struct l1_event f = l1_event_of(2, true);
  b.scheme->on_fill(b.c, &f);
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 2);
  e.local = true; /* local data is private whatever the L2 says */
  assert_int_equal(b.scheme->find_victim(b.c, 0, &s, &e), 0);
  assert_int_equal(bench_counter(&b, "l1_kept_out"), 1);
  bench_end(&b);
}

/* schemes.md: these four together are legal. MeDiC then chooses among the private lines, TSC keeps those of the L1. */
static void composes_with_the_other_designs(void **state) {
  (void)state;
  static const char *const lists[] = {"tsc+,bucl,medic,sharing", "decoupled-l1d+bucl+medic+sharing",
                                      "medic+sharing-cache",     "lcs+sharing-cache",
                                      "bcs+sharing-cache",       "eaf+sharing",
                                      "rrip+sharing-cta=8"};
  struct gpu_config g;
  struct err e = {0};
  assert_true(gpu_config_load(&g, "medic", &e));
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    struct slots s;
    if (!slots_parse(&s, lists[i], &e)) fail_msg("%s: %s", lists[i], e.msg);
    assert_int_equal(s.n_find_victim, i >= 2);
  }
  struct slots s;
  assert_false(slots_parse(&s, "rrip+sharing-cache", &e)); /* both choose the L1's victim */
  assert_non_null(strstr(e.msg, "L1 replacement"));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(composes_with_the_other_designs),
      PAPER_TEST(groups_of_a_row, "sharing-cta"),
      PAPER_TEST(adaptive_end, "sharing-cta"),
      PAPER_TEST(blocks_of_two, "bcs"),
      PAPER_TEST(a_lazy_limit, "lcs"),
      PAPER_TEST(clusters_in_order, "cta-clustering"),
      cmocka_unit_test(clusters_of_a_redirected_grid),
      PAPER_TEST(the_l2_tells_shared_lines, "sharing-cache"),
      cmocka_unit_test(shared_lines_of_the_l2_may_die),
      PAPER_TEST(figure_12, "sharing-cache"),
      PAPER_TEST(both_halves, "sharing"),
      cmocka_unit_test(dead_lines_may_come_back),
      cmocka_unit_test(shared_data_spares_private),
      cmocka_unit_test(shared_data_replaces_dead_lines),
  };
  return scheme_tests(tests, argc, argv);
}
