/* test_scheme_l2_admission.c - what MeDiC is compared with at the L2 (eaf, l2-pcal, rand, pc-byp), and l2-rrip, on
 * sequences computed by hand from the papers' definitions. */
#include <unistd.h>

#include "mem_scheme.h"

static void tell(struct bench *b, struct mem_event e, uint32_t way, enum l2_outcome out) {
  e.way = way;
  b->scheme->on_l2_access(b->c, &e, out);
}

/* Seshadri et al., section 3: not in the filter: LRU position, but once in `throttle` MRU; in it: MRU. */
static void eaf_inserts_by_recent_eviction(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "eaf=4");
  uint64_t tag[4] = {0}, used[4] = {1, 2, 3, 4};
  struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  struct mem_event e = bench_event(&b, 0, 0, 0);
  tell(&b, e, 0, L2_MISS);                                    /* the first of four: MRU */
  tell(&b, bench_event(&b, 0, 0, 4), 1, L2_MISS);             /* LRU */
  tell(&b, bench_event(&b, 0, 0, 8), 2, L2_MISS);             /* LRU, before way 1 */
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 2); /* put at the end last */
  struct mem_event v = bench_event(&b, 0, 0, 12);
  b.scheme->on_l2_evict(b.c, &v);
  tell(&b, v, 3, L2_MISS); /* found: MRU */
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 2);
  tell(&b, bench_event(&b, 0, 0, 8), 2, L2_HIT); /* promoted */
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 1);
  tell(&b, bench_event(&b, 0, 0, 4), 1, L2_HIT);
  assert_int_equal(b.scheme->l2_find_victim(b.c, &s, &e), 0); /* none at LRU: the oldest */
  assert_int_equal(bench_counter(&b, "found"), 1);
  assert_int_equal(bench_counter(&b, "inserted_lru"), 2);
  assert_int_equal(bench_counter(&b, "bimodal_mru"), 1);
  bench_end(&b);
}

/* 8 bits per block; cleared when as many addresses as blocks were inserted: 16 here. */
static void eaf_forgets_when_full(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "eaf");
  for (uint64_t i = 0; i < 16; i++) {
    assert_int_equal(bench_counter(&b, "cleared"), 0);
    struct mem_event v = bench_event(&b, 0, 0, i);
    b.scheme->on_l2_evict(b.c, &v);
  }
  assert_int_equal(bench_counter(&b, "cleared"), 1);
  tell(&b, bench_event(&b, 0, 0, 3), 0, L2_MISS);
  assert_int_equal(bench_counter(&b, "found"), 0);
  bench_end(&b);
}

static bool allowed(struct bench *b, uint32_t warp, uint32_t way) {
  struct mem_event e = bench_event(b, 0, warp, 9);
  e.way = way;
  return b->scheme->l2_may_allocate(b->c, &e);
}

/* MeDiC, section 5: tokens in order of arrival; in the next epoch, first to those that used the cache last. */
static void pcal_grants_tokens(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "l2-pcal=2");
  for (uint32_t w = 1; w < 4; w++) tell(&b, bench_event(&b, 0, w, w), 0, L2_HIT);
  assert_true(allowed(&b, 1, UINT32_MAX));
  assert_true(allowed(&b, 2, UINT32_MAX));
  assert_false(allowed(&b, 3, UINT32_MAX));
  assert_true(allowed(&b, 3, 1)); /* an empty way: nothing is replaced */
  assert_int_equal(bench_counter(&b, "denied"), 1);
  tell(&b, bench_event(&b, 0, 1, 1), 0, L2_HIT); /* order of last use: 2, 3, 1 */
  b.scheme->on_epoch(b.c);
  assert_true(allowed(&b, 1, UINT32_MAX));
  assert_true(allowed(&b, 3, UINT32_MAX));
  assert_false(allowed(&b, 2, UINT32_MAX));
  b.scheme->on_warp_done(b.c, 0, 1); /* its token is free */
  assert_true(allowed(&b, 2, UINT32_MAX));
  assert_false(allowed(&b, 4, UINT32_MAX));
  struct mem_event inst = bench_event(&b, 0, 9, 5);
  inst.type = REQ_INST_READ;
  assert_true(b.scheme->l2_may_allocate(b.c, &inst));
  bench_end(&b);
}

static void rand_draws_a_share_of_the_warps(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "rand=50");
  uint64_t before = 0, after = 0;
  for (uint32_t w = 0; w < 64; w++) {
    struct mem_event e = bench_event(&b, 1, w, 3);
    before |= (uint64_t)b.scheme->l2_bypass(b.c, &e) << w;
    assert_int_equal(b.scheme->l2_bypass(b.c, &e), before >> w & 1); /* the same until the next draw */
  }
  assert_in_range(__builtin_popcountll(before), 16, 48);
  b.scheme->on_epoch(b.c);
  for (uint32_t w = 0; w < 64; w++) {
    struct mem_event e = bench_event(&b, 1, w, 3);
    after |= (uint64_t)b.scheme->l2_bypass(b.c, &e) << w;
  }
  assert_true(before != after);
  bench_end(&b);
}

/* An instruction with 6 hits in 30 bypasses, one with 7 does not, whatever the warp. */
static void pc_byp_goes_by_instruction(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "pc-byp=4096");
  for (uint32_t i = 0; i < 30; i++) {
    struct mem_event e = bench_event(&b, 0, i, 50 + i);
    e.pc = 11;
    assert_false(b.scheme->l2_bypass(b.c, &e));
    tell(&b, e, 0, i < 6 ? L2_HIT : L2_MISS);
    e.pc = 12;
    tell(&b, e, 0, i < 7 ? L2_HIT : L2_PENDING);
  }
  struct mem_event e = bench_event(&b, 1, 40, 2);
  e.pc = 11;
  assert_true(b.scheme->l2_bypass(b.c, &e));
  e.pc = 12;
  assert_false(b.scheme->l2_bypass(b.c, &e));
  assert_int_equal(bench_counter(&b, "shared"), 0);
  b.scheme->on_epoch(b.c);
  e.pc = 11;
  assert_false(b.scheme->l2_bypass(b.c, &e));
  bench_end(&b);
}

/* One entry for all: the instructions spoil each other's ratio (MeDiC, section 6.1). */
static void pc_byp_entries_are_shared(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "pc-byp=1");
  for (uint32_t i = 0; i < 30; i++) {
    struct mem_event e = bench_event(&b, 0, 0, i);
    e.pc = i % 2;
    tell(&b, e, 0, i % 2 ? L2_HIT : L2_MISS);
  }
  struct mem_event e = bench_event(&b, 0, 0, 99);
  assert_false(b.scheme->l2_bypass(b.c, &e)); /* never hit, but the other always did */
  assert_int_equal(bench_counter(&b, "shared"), 29);
  bench_end(&b);
}

/* The mixed pattern of the example in Jaleel et al., section 3, SRRIP with 2 bits and hit priority, four ways: a1 a2 a2
 * a1 b1 b2 b3 b4 a1 a2. The scan of four leaves both a's in the set: b1 and b2 take the two empty ways, b3 and b4 age
 * the set and replace b1 and b2.
 */
static void rrip_resists_the_scan(void **state) {
  (void)state;
  struct bench b;
  bench_start(&b, "l2-rrip=0");
  static const char *const trace = "AaaAbcdeAa"; /* A: a1, a: a2, then b1 to b4 */
  char way[4] = {0};
  uint32_t hits = 0, misses = 0;
  for (const char *p = trace; *p; p++) {
    uint64_t tag[4] = {0}, used[4] = {0};
    struct cache_set s = {.ways = 4, .usable = 15, .tag = tag, .used = used};
    struct mem_event e = bench_event(&b, 0, 0, 0);
    int at = -1;
    for (int w = 0; w < 4 && at < 0; w++)
      if (way[w] == *p) at = w;
    bool hit = at >= 0;
    for (int w = 0; w < 4 && at < 0; w++)
      if (!way[w]) at = w;
    if (at < 0) at = b.scheme->l2_find_victim(b.c, &s, &e);
    way[at] = *p;
    tell(&b, e, (uint32_t)at, hit ? L2_HIT : L2_MISS);
    hits += hit, misses += !hit;
  }
  assert_int_equal(hits, 4); /* a2, a1, and both again after the scan; LRU has two */
  assert_int_equal(misses, 6);
  assert_int_equal(bench_counter(&b, "agings"), 1);
  assert_int_equal(bench_counter(&b, "insert_long"), 6);
  bench_end(&b);
}

/* One set of four ways under a scheme: hits, and requests that take no line. */
static void min_set(struct bench *b, const char *text, uint32_t *hits, uint32_t *bypassed) {
  uint64_t tag[4] = {0}, used[4] = {0};
  struct cache_set s = {.ways = 4, .tag = tag, .used = used};
  for (uint64_t at = 1; *text; text++, at++) {
    struct mem_event e = bench_event(b, 0, 0, 4 * (uint64_t)(*text - 'a' + 1));
    int w = 0;
    while (w < 4 && !(s.usable >> w & 1 && tag[w] == e.line)) w++;
    bool hit = w < 4;
    if (!hit) w = s.usable == 15 ? b->scheme->l2_find_victim(b->c, &s, &e) : __builtin_ctz(~s.usable);
    tell(b, e, w < 0 ? UINT32_MAX : (uint32_t)w, hit ? L2_HIT : w < 0 ? L2_BYPASSED : L2_MISS);
    *hits += hit;
    *bypassed += w < 0;
    if (w < 0) continue;
    tag[w] = e.line;
    used[w] = at;
    s.usable |= 1u << w;
  }
}

/* As in test_scheme_replacement.c: five lines in turn. */
static void min_looks_ahead(void **state) {
  (void)state;
  char path[64];
  snprintf(path, sizeof path, "/tmp/sluice-l2-future-%ld", (long)getpid());
  bench_profile = path;
  for (uint32_t bypass = 0; bypass < 2; bypass++) {
    static const char text[] = "abcdeabcdeabcde";
    struct bench b;
    uint32_t hits = 0, bypassed = 0;
    bench_start(&b, "l2-belady");
    for (const char *p = text; *p; p++) tell(&b, bench_event(&b, 0, 0, 4 * (uint64_t)(*p - 'a' + 1)), 0, L2_MISS);
    assert_int_equal(bench_counter(&b, "recorded"), 15);
    bench_end(&b);
    bench_start(&b, bypass ? "l2-belady=1:run=2" : "l2-belady:run=2");
    min_set(&b, text, &hits, &bypassed);
    assert_int_equal(hits, 8);
    assert_int_equal(bypassed, bypass ? 2 : 0);
    assert_int_equal(bench_counter(&b, "foreseen"), 15);
    bench_end(&b);
  }
  bench_profile = NULL;
  unlink(path);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(eaf_inserts_by_recent_eviction, "eaf"), PAPER_TEST(eaf_forgets_when_full, "eaf"),
      PAPER_TEST(pcal_grants_tokens, "l2-pcal"),         PAPER_TEST(rand_draws_a_share_of_the_warps, "rand"),
      PAPER_TEST(pc_byp_goes_by_instruction, "pc-byp"),  cmocka_unit_test(pc_byp_entries_are_shared),
      PAPER_TEST(rrip_resists_the_scan, "l2-rrip"),      PAPER_TEST(min_looks_ahead, "l2-belady"),
  };
  return scheme_tests(tests, argc, argv);
}
