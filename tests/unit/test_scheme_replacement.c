/* test_scheme_replacement.c - replacement schemes at the L1: the papers' own examples and hand-computed sequences, on
 * one set of four ways.
 */
#include <unistd.h>

#include "scheme_rig.h"

static struct rig rig;

static void run(const char *scheme, const char *text) {
  struct rig_access at[RIG_MAX];
  rig_run(&rig, scheme, NULL, at, rig_letters(text, at));
}

/* Jaleel et al., ISCA 2010, Fig 3: a1 a2 a2 a1 b1 b2 b3 b4 a1 a2 on four ways. LRU loses a1 and a2 to the scan, SRRIP
 * with hit priority keeps them. */
static void rrip_figure(void **state) {
  (void)state;
  run(NULL, "a b b a c d e f a b");
  rig_expect(&rig, 2, 8, 0, "LRU on the RRIP example");
  run("rrip=0", "a b b a c d e f a b");
  rig_expect(&rig, 4, 6, 0, "SRRIP on the RRIP example");
  assert_int_equal(rig.counter[3], 1); /* one ageing round: before b3 */
}

/* BRRIP inserts as distant: a scan of five lines through four ways keeps the first three. */
static void brrip_scan(void **state) {
  (void)state;
  run("rrip=1", "a b c d e a b c d e a b c");
  rig_expect(&rig, 6, 7, 0, "BRRIP on a scan");
  run(NULL, "a b c d e a b c d e a b c");
  rig_expect(&rig, 0, 13, 0, "LRU on a scan");
}

/* The bits of a b c d are all set by d and cleared; a b c set theirs again, so that e can only take d, and then d only
 * e. */
static void nru_by_hand(void **state) {
  (void)state;
  run("nru", "a b c d a b c e a b c d a");
  rig_expect(&rig, 7, 6, 0, "NRU");
  assert_int_equal(rig.counter[0], 2);
  assert_int_equal(rig.counter[1], 0);
}

static void fifo_by_hand(void **state) {
  (void)state;
  run("fifo", "a b c d a e a");
  rig_expect(&rig, 1, 6, 0, "FIFO evicts a though it was just used");
  run(NULL, "a b c d a e a");
  rig_expect(&rig, 2, 5, 0, "LRU evicts b");
}

static void random_counts(void **state) {
  (void)state;
  run("random", "a b c d e f g");
  rig_expect(&rig, 0, 7, 0, "random");
  assert_int_equal(rig.counter[0], 3);
}

/* Jouppi, ISCA 1993: a load after a store misses where stores evict, and hits where they update. The store counts as a
 * use: b is the oldest when e comes. With dueling on two sets, lines of even number update and those of odd evict. */
static void write_update_by_hand(void **state) {
  (void)state;
  run(NULL, "a A a");
  rig_expect(&rig, 0, 2, 0, "write-evict");
  run("write-update", "a A a B b B b");
  rig_expect(&rig, 2, 2, 0, "write-update");
  assert_int_equal(rig.counter[0], 2);
  assert_int_equal(rig.counter[2], 1);
  run("write-update", "a b c d A e a b");
  rig_expect(&rig, 1, 6, 0, "a store is a use");
  struct rig_access at[RIG_MAX];
  rig_run(&rig, "write-update:duel=1/leaders=1", "l1d.sets=2", at, rig_letters("a A a b B b", at));
  rig_expect(&rig, 1, 3, 0, "dueling");
  assert_int_equal(rig.counter[1], 1);
  rig_run(&rig, "write-update+sector", NULL, at, rig_letters("a A a", at));
  rig_expect(&rig, 1, 1, 0, "sectors");
}

/* PTX ISA, eviction priorities: evict_first goes before older lines, evict_last stays, unchanged changes nothing,
 * no_allocate places nothing; ld.cs is evict_first. */
static void hints_by_hand(void **state) {
  (void)state;
  struct rig_access at[RIG_MAX];
  uint32_t n = rig_letters("a b c d e a b c e d", at);
  at[3].hint = HINT_FIRST; /* d goes when e comes, though a is the oldest */
  rig_run(&rig, "hints", NULL, at, n);
  rig_expect(&rig, 4, 6, 0, "evict_first");
  at[3].hint = HINT_NONE, at[3].op = CACHE_CS;
  rig_run(&rig, "hints", NULL, at, n);
  rig_expect(&rig, 4, 6, 0, "ld.cs");
  rig_run(&rig, "hints:operators=0", NULL, at, n);
  rig_expect(&rig, 1, 9, 0, "LRU on a cycle of five lines");
  n = rig_letters("a b a c d e f g a", at);
  at[0].hint = HINT_LAST, at[2].hint = HINT_UNCHANGED; /* a stays */
  rig_run(&rig, "hints", NULL, at, n);
  rig_expect(&rig, 2, 7, 0, "evict_last");
  at[2].hint = HINT_NORMAL; /* its priority is that of the last use */
  rig_run(&rig, "hints", NULL, at, n);
  rig_expect(&rig, 1, 8, 0, "evict_normal");
  n = rig_letters("a b c d e a", at);
  at[4].hint = HINT_NO_ALLOCATE;
  rig_run(&rig, "hints", NULL, at, n);
  rig_expect(&rig, 1, 4, 1, "no_allocate");
}

/* The same at the L2, of one set of two ways: with c as evict_first, b is still there when it is read again. */
static void hints_at_the_l2(void **state) {
  (void)state;
  struct rig_access at[RIG_MAX];
  const char *machine = "memory.channels=1,memory.subpartitions=1,l2.sets=1,l2.ways=2,l1d.enabled=false";
  uint32_t n = rig_letters("a b c d b", at);
  rig_run(&rig, NULL, machine, at, n);
  uint64_t misses = rig.st.l2_misses;
  at[0].hint_l2 = at[2].hint_l2 = HINT_FIRST;
  rig_run(&rig, "hints", machine, at, n);
  assert_int_equal(rig.st.l2_misses + 1, misses);
}

/* A set of 64 ways: the oldest of 64 lines goes, and not one of the first 32 alone. */
static void many_ways(void **state) {
  (void)state;
  struct rig_access at[RIG_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < 64; i++) at[n++] = (struct rig_access){.line = i, .hint = i == 40 ? HINT_FIRST : 0};
  at[n++] = (struct rig_access){.line = 64}; /* takes the place of line 40 */
  for (uint32_t i = 0; i < 64; i++)
    if (i != 40) at[n++] = (struct rig_access){.line = i};
  rig_run(&rig, "hints", "l1d.ways=64", at, n);
  rig_expect(&rig, 63, 65, 0, "64 ways");
}

/* Wu et al., MICRO 2011, section 3: after the first unused eviction the counter of the scanning instruction is 0 and
 * its lines are inserted as distant, so that the fifth and sixth replace each other's way. */
static void ship_by_hand(void **state) {
  (void)state;
  struct rig_access at[16];
  uint32_t n = rig_letters("a b c d e f a b c", at);
  for (uint32_t i = 0; i < n; i++) at[i].pc = 7;
  rig_run(&rig, "ship", NULL, at, n);
  rig_expect(&rig, 3, 6, 0, "SHiP");
  assert_int_equal(rig.counter[0], 2); /* distant: e, f */
  assert_int_equal(rig.counter[1], 4);
  assert_int_equal(rig.counter[2], 3); /* hits */
  assert_int_equal(rig.counter[3], 2); /* d and e left unused */
}

/* Duong et al., MICRO 2012, section 2: with PD 8 four lines stay protected over e and f, which bypass; with PD 4 a's
 * protection runs out at e's access, and f takes its place. */
static void pdp_by_hand(void **state) {
  (void)state;
  run("pdp=8", "a b c d e f a b c d");
  rig_expect(&rig, 4, 4, 2, "PDP 8");
  run("pdp=4", "a b c d e f c d");
  rig_expect(&rig, 2, 5, 1, "PDP 4");
  run(NULL, "a b c d e f a b c d");
  rig_expect(&rig, 0, 10, 0, "LRU");
}

/* A loop over six lines in four ways: the sampled distance is 6, counted at 8 (steps of 4), which the formula picks. */
static void pdp_dyn_finds_the_distance(void **state) {
  (void)state;
  struct rig_access at[600];
  for (uint32_t i = 0; i < 600; i++) at[i] = (struct rig_access){.line = i % 6};
  rig_run(&rig, "pdp-dyn:interval=64", NULL, at, 600);
  assert_int_equal(rig.counter[2], 600 / 64);
  assert_int_equal(rig.counter[3], 8 * (600 / 64));
  assert_true(rig.st.l1d_read_hits > 300); /* four of six lines stay: LRU hits never */
  rig_run(&rig, NULL, NULL, at, 600);
  assert_int_equal(rig.st.l1d_read_hits, 0);
}

/* Lines that are placed when their data arrive: here every fill arrives before the next lookup, so all must come out as
 * above. State kept by way shows whether the way was the right one. */
static void placed_on_fill(void **state) {
  (void)state;
  static const struct {
    const char *scheme, *text;
    uint64_t hits;
  } runs[] = {
      {NULL, "a b b a c d e f a b", 2},
      {"rrip=0", "a b b a c d e f a b", 4},
      {"rrip=1", "a b c d e a b c d e a b c", 6},
      {"nru", "a b c d a b c e a b c d a", 7},
      {"fifo", "a b c d a e a", 1},
      {"ship", "a b c d a b c d e a b c d", 7},
      {"pdp=8", "a b c d e f a b c d", 4},
  };
  for (uint32_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    struct rig_access at[RIG_MAX];
    uint32_t n = rig_letters(runs[i].text, at);
    rig_run(&rig, runs[i].scheme, "l1d.allocate=on-fill", at, n);
    assert_int_equal(rig.st.l1d_read_hits, runs[i].hits);
    assert_int_equal(rig.st.l1d_read_hits + rig.st.l1d_read_misses, n);
  }
  struct rig_access at[600];
  for (uint32_t i = 0; i < 600; i++) at[i] = (struct rig_access){.line = i % 6};
  rig_run(&rig, "pdp-dyn:interval=64", "l1d.allocate=on-fill", at, 600);
  assert_true(rig.st.l1d_read_hits > 300);
}

/* ---- Belady's MIN ---- */

/* Hits of MIN on one set of four ways, by looking ahead in the whole sequence. */
static uint64_t min_hits(const struct rig_access *at, uint32_t n) {
  uint64_t way[4], hits = 0;
  uint32_t used = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t last = 0, next[4];
    bool hit = false;
    for (uint32_t w = 0; w < used; w++) {
      hit |= way[w] == at[i].line;
      for (next[w] = i + 1; next[w] < n && at[next[w]].line != way[w];) next[w]++;
      if (next[w] > next[last]) last = w;
    }
    hits += hit;
    if (!hit) way[used < 4 ? used++ : last] = at[i].line;
  }
  return hits;
}

static void min_runs(const struct rig_access *at, uint32_t n, const char *second) {
  char set[96];
  snprintf(set, sizeof set, "profile.file=/tmp/sluice-future-%ld", (long)getpid());
  rig_run(&rig, "belady", set, at, n);
  assert_int_equal(rig.counter[0], n);
  rig_run(&rig, second, set, at, n);
  assert_int_equal(rig.counter[1], n);
  assert_int_equal(rig.counter[2], 0);
  unlink(strchr(set, '=') + 1);
}

/* Five lines in turn: LRU always misses. e replaces d, d c, c a: a b c hit, then e a b, then d e. With bypassing a to d
 * stay; e bypasses twice, and at its last use, after which none is used again, it replaces one. */
static void min_by_hand(void **state) {
  (void)state;
  struct rig_access at[RIG_MAX];
  uint32_t n = rig_letters("a b c d e a b c d e a b c d e", at);
  rig_run(&rig, NULL, NULL, at, n);
  rig_expect(&rig, 0, 15, 0, "LRU");
  min_runs(at, n, "belady:run=2");
  rig_expect(&rig, 8, 7, 0, "MIN");
  min_runs(at, n, "belady=1:run=2");
  rig_expect(&rig, 8, 5, 2, "MIN with bypassing");
  uint64_t x = 1;
  for (uint32_t i = 0; i < 400; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    at[i] = (struct rig_access){.line = (x >> 33) % 9};
  }
  min_runs(at, 400, "belady:run=2");
  assert_int_equal(rig.st.l1d_read_hits, min_hits(at, 400));
  rig_run(&rig, NULL, NULL, at, 400);
  assert_true(rig.st.l1d_read_hits < min_hits(at, 400));
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(rrip_figure, "rrip"),
      PAPER_TEST(brrip_scan, "rrip"),
      PAPER_TEST(nru_by_hand, "nru"),
      PAPER_TEST(fifo_by_hand, "fifo"),
      PAPER_TEST(random_counts, "random"),
      PAPER_TEST(ship_by_hand, "ship"),
      PAPER_TEST(write_update_by_hand, "write-update"),
      PAPER_TEST(hints_by_hand, "hints"),
      cmocka_unit_test(hints_at_the_l2),
      cmocka_unit_test(many_ways),
      PAPER_TEST(pdp_by_hand, "pdp"),
      PAPER_TEST(pdp_dyn_finds_the_distance, "pdp-dyn"),
      cmocka_unit_test(placed_on_fill),
      PAPER_TEST(min_by_hand, "belady"),
  };
  return scheme_tests(tests, argc, argv);
}
