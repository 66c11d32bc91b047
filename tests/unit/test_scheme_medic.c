/* test_scheme_medic.c - MeDiC and its parts on sequences computed from Ausavarungnirun et al., PACT 2015, section 4. */
#include "mem_scheme.h"

/* `hits` hits, then misses, of a warp: `n` accesses in all. */
static void accesses(struct bench *b, uint32_t warp, uint32_t hits, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct mem_event e = bench_event(b, 0, warp, 1000 + i);
    e.way = 0;
    b->scheme->on_l2_access(b->c, &e, i < hits ? L2_HIT : i % 2 ? L2_PENDING : L2_MISS);
  }
}
static bool bypassed(struct bench *b, uint32_t warp) {
  struct mem_event e = bench_event(b, 0, warp, 7);
  return b->scheme->l2_bypass(b->c, &e);
}
static uint32_t class_of(struct bench *b, uint32_t warp, uint8_t type) {
  struct req r = {.warp = (uint8_t)warp, .type = type};
  return b->scheme->dram_class(b->c, &r);
}

/* Figure 4: the boundaries are 70 % and 20 %, both inclusive; 30 accesses are profiled (section 4.1). */
static void types_follow_the_hit_ratio(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "medic");
  accesses(&b, 1, 5, 29);
  assert_false(bypassed(&b, 1)); /* still profiled */
  accesses(&b, 1, 1, 1);         /* 6 of 30: 20 % */
  assert_true(bypassed(&b, 1));
  accesses(&b, 2, 7, 30); /* 23 %: balanced */
  assert_false(bypassed(&b, 2));
  assert_int_equal(class_of(&b, 2, REQ_GLOBAL_READ), 1);
  accesses(&b, 3, 20, 30); /* 67 % */
  assert_int_equal(class_of(&b, 3, REQ_GLOBAL_READ), 1);
  accesses(&b, 4, 21, 30); /* 70 %: mostly-hit */
  assert_int_equal(class_of(&b, 4, REQ_GLOBAL_READ), 0);
  assert_int_equal(class_of(&b, 4, REQ_L2_WRITE_ALLOC), 0);
  assert_int_equal(class_of(&b, 4, REQ_INST_READ), 1); /* belongs to no warp */
  assert_int_equal(class_of(&b, 4, REQ_L2_WRITEBACK), 1);
  accesses(&b, 5, 30, 30);
  assert_int_equal(class_of(&b, 5, REQ_GLOBAL_READ), 0);
  accesses(&b, 6, 0, 30);
  assert_true(bypassed(&b, 6));
  assert_int_equal(bench_counter(&b, "mostly_miss"), 1);
  assert_int_equal(bench_counter(&b, "balanced"), 2);
  assert_int_equal(bench_counter(&b, "mostly_hit"), 1);
  assert_int_equal(bench_counter(&b, "all_hit"), 1);
  assert_int_equal(bench_counter(&b, "all_miss"), 1);
  b.scheme->on_warp_start(b.c, 0, 6, 99); /* another warp in the slot continues as the one before */
  assert_true(bypassed(&b, 6));
  bench_end(&b);
  bench_start(&b, "medic:reprofile=1");
  accesses(&b, 6, 0, 30);
  assert_true(bypassed(&b, 6));
  b.scheme->on_warp_start(b.c, 0, 6, 99);
  assert_false(bypassed(&b, 6));
  bench_end(&b);
}

/* Section 6.5: 10-bit counters, halved when the top bit of the second is set. */
static void counters_are_halved(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "medic");
  accesses(&b, 1, 512, 512); /* 256 of 256 */
  accesses(&b, 1, 0, 110);   /* 256 of 366: 69.9 %; unhalved 512 of 622: 82 % */
  assert_int_equal(class_of(&b, 1, REQ_GLOBAL_READ), 1);
  bench_end(&b);
}

/* A store bypasses the L2 only if no copy would become stale. */
static void stores_that_hit_stay(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "wbyp");
  accesses(&b, 1, 0, 30);
  struct mem_event e = bench_event(&b, 0, 1, 7);
  e.write = true;
  e.type = REQ_GLOBAL_WRITE;
  assert_true(b.scheme->l2_bypass(b.c, &e));
  e.way = 2;
  assert_false(b.scheme->l2_bypass(b.c, &e));
  e.type = REQ_L1_WRITEBACK;
  e.way = UINT32_MAX;
  assert_false(b.scheme->l2_bypass(b.c, &e)); /* no warp's */
  assert_int_equal(bench_counter(&b, "bypassed"), 1);
  assert_int_equal(bench_counter(&b, "kept_stores"), 1);
  bench_end(&b);
}

/* Footnote 3: 5 points less for every 5 points by which the miss rate rises. Reference 50 %; then 60 %: boundary 10 %;
 * then 54 %: back to 20 %. After the period every warp is profiled again. */
static void the_boundary_follows_the_miss_rate(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "medic:window=1000/period=5000");
  accesses(&b, 1, 5, 30); /* 17 % */
  accesses(&b, 2, 45, 70);
  assert_true(bypassed(&b, 1));
  b.now = 1000;
  b.scheme->on_epoch(b.c); /* reference: 50 of 100 missed */
  assert_true(bypassed(&b, 1));
  accesses(&b, 2, 40, 100);
  b.now = 2000;
  b.scheme->on_epoch(b.c);
  assert_false(bypassed(&b, 1)); /* 17 % is above 10 % now */
  accesses(&b, 2, 46, 100);
  b.now = 3000;
  b.scheme->on_epoch(b.c);
  assert_true(bypassed(&b, 1));
  assert_int_equal(bench_counter(&b, "windows"), 2);
  assert_int_equal(bench_counter(&b, "lowered"), 1);
  b.now = 5000;
  b.scheme->on_epoch(b.c);
  assert_false(bypassed(&b, 1));
  bench_end(&b);
}

static void insert(struct bench *b, uint32_t warp, uint64_t line, uint32_t way) {
  struct mem_event e = bench_event(b, 0, warp, line);
  e.way = way;
  b->scheme->on_l2_access(b->c, &e, L2_MISS);
}

/* Section 4.4: two queues, and requests of mostly-hit and all-hit warps are in the one that goes first. */
static void urgent_requests_first(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "wms");
  accesses(&b, 1, 30, 30);
  accesses(&b, 2, 21, 30);
  accesses(&b, 3, 20, 30);
  accesses(&b, 4, 0, 30);
  for (uint32_t warp = 1; warp <= 4; warp++) assert_int_equal(class_of(&b, warp, REQ_GLOBAL_READ), warp > 2);
  assert_int_equal(class_of(&b, 5, REQ_GLOBAL_READ), 1); /* still profiled */
  bench_end(&b);
}

/* Section 4.3: where lines begin. Four lines of warps of no type yet, then one of each type in the places of others. */
static void places_by_type(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "wip");
  accesses(&b, 1, 30, 30); /* all-hit */
  accesses(&b, 2, 15, 30); /* balanced */
  accesses(&b, 3, 3, 30);  /* mostly-miss */
  uint64_t tag[4] = {0, 512, 1024, 1536}, used[4] = {1, 2, 3, 4};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  struct mem_event e = bench_event(&b, 0, 9, 16);
  for (uint32_t w = 0; w < 4; w++) insert(&b, 9, 4 * w, w);
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 0);
  insert(&b, 3, 16, 0); /* mostly-miss: the first to go again */
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 0);
  insert(&b, 1, 20, 0); /* all-hit: the last; order 1 2 3 0 */
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 1);
  used[1] = 9;          /* as the machine counts it */
  insert(&b, 2, 24, 1); /* balanced: beside the middle one of 2 3 0; order 2 3 1 0 */
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 2);
  s.usable = 11;
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 3);
  s.usable = 3;
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 1);
  e = bench_event(&b, 0, 9, 24), e.way = 1;
  b.scheme->on_l2_access(b.c, &e, L2_HIT); /* a touch makes it the last */
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 0);
  bench_end(&b);
}

/* The strict reading: data of mostly-miss warps goes first, that of mostly-hit warps last; within a type the least
 * recently used. */
static void victims_go_by_type(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "wip:strict=1");
  accesses(&b, 1, 30, 30); /* all-hit */
  accesses(&b, 2, 15, 30); /* balanced */
  accesses(&b, 3, 3, 30);  /* mostly-miss */
  insert(&b, 1, 0, 0);
  insert(&b, 2, 4, 1);
  insert(&b, 3, 8, 2);
  insert(&b, 3, 12, 3);
  uint64_t tag[4] = {0, 512, 1024, 1536}, used[4] = {1, 2, 4, 3};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  struct mem_event e = bench_event(&b, 0, 9, 16);
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 3); /* mostly-miss, older */
  s.usable = 7;
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 2);
  s.usable = 3;
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 1); /* balanced, though younger */
  s.usable = 1;
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 0);
  assert_int_equal(bench_counter(&b, "out_of_turn"), 3);
  bench_end(&b);
}

/* Section 6.4: a block that was evicted a short while ago is not bypassed. */
static void reuse_overrides(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "medic-reuse");
  accesses(&b, 1, 0, 30);
  struct mem_event e = bench_event(&b, 0, 1, 7);
  assert_true(b.scheme->l2_bypass(b.c, &e));
  b.scheme->on_l2_evict(b.c, &e);
  assert_false(b.scheme->l2_bypass(b.c, &e));
  assert_int_equal(bench_counter(&b, "overridden"), 1);
  for (uint64_t i = 0; i < 15; i++) { /* 16 evictions in all clear the filter of 16 lines */
    struct mem_event v = bench_event(&b, 0, 1, 100 + i);
    b.scheme->on_l2_evict(b.c, &v);
  }
  assert_true(b.scheme->l2_bypass(b.c, &e));
  bench_end(&b);
}

/* Section 6.5: 5.1 kB. 22 bits for each of 15 x 48 warps and 2 bits per line come to that with 64 B lines. */
static void storage_is_the_papers(void **state) {
  (void)state;
  struct gpu_config g;
  gpu_config_defaults(&g);
  g.channels = 6;
  g.subparts = 1;
  g.l2.line = 64;
  g.l2.sets = 128;
  g.l2.ways = 16;
  const struct scheme *s = scheme_find("wip");
  double param[8] = {0}, bits = 0;
  struct scheme_bits row[8];
  uint32_t n = s->storage(&g, param, row, 8);
  for (uint32_t i = 0; i < n; i++) bits += row[i].bits;
  assert_true(bits / 8 > 5000 && bits / 8 < 5150);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(types_follow_the_hit_ratio, "medic"), cmocka_unit_test(counters_are_halved),
      PAPER_TEST(stores_that_hit_stay, "wbyp"),        cmocka_unit_test(the_boundary_follows_the_miss_rate),
      PAPER_TEST(victims_go_by_type, "wip"),           PAPER_TEST(places_by_type, "wip"),
      PAPER_TEST(urgent_requests_first, "wms"),        PAPER_TEST(reuse_overrides, "medic-reuse"),
      cmocka_unit_test(storage_is_the_papers),
  };
  return scheme_tests(tests, argc, argv);
}
