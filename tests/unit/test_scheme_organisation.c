/* test_scheme_organisation.c - organisations of the L1: hand-computed sequences on one set of four frames, and Table 3
 * of the Tag-Split Cache paper.
 */
#include <math.h>

#include "mem_scheme.h"
#include "scheme_rig.h"

static struct rig rig;

#define RUN(scheme, ...)                                       \
  do {                                                         \
    const struct rig_access at[] = {__VA_ARGS__};              \
    rig_run(&rig, scheme, NULL, at, sizeof at / sizeof at[0]); \
  } while (0)

static void letters(const char *scheme, const char *text) {
  struct rig_access at[64];
  rig_run(&rig, scheme, NULL, at, rig_letters(text, at));
}

/* `n` lines of one sector each, twice over. */
static void twice(const char *scheme, uint32_t n, uint32_t first_sector_of_half) {
  struct rig_access at[128];
  for (uint32_t i = 0; i < 2 * n; i++) {
    uint32_t line = i % n;
    at[i] = (struct rig_access){.line = line, .sectors = line < n / 2 ? 1 : 1u << first_sector_of_half};
  }
  rig_run(&rig, scheme, NULL, at, 2 * n);
}

static void sector_by_hand(void **state) {
  (void)state;
  /* sector 0, then 1 (partial miss), then both, then a store to 1, then 0 hits and 1 misses again */
  RUN("sector", {.line = 1, .sectors = 1}, {.line = 1, .sectors = 3}, {.line = 1, .sectors = 3},
      {.line = 1, .sectors = 2, .store = true}, {.line = 1, .sectors = 1}, {.line = 1, .sectors = 2});
  rig_expect(&rig, 2, 3, 0, "sector");
  assert_int_equal(rig.st.l1d_read_partial, 1); /* the last finds nothing of what it needs */
  assert_int_equal(rig.st.l1d_fetch_bytes, 96);
  assert_int_equal(rig.st.l1d_write_hits, 1);
}

/* Misses to more lines than the set has frames: they wait for frames, or with frames given on the fill for nothing. The
 * last four lines stay either way. */
static void sector_streams(void **state) {
  (void)state;
  struct rig_access at[16];
  for (uint32_t i = 0; i < 16; i++)
    at[i] = (struct rig_access){.line = i < 12 ? i : i - 4, .sectors = 1, .apart = i < 11};
  rig_run(&rig, "sector", NULL, at, 16);
  rig_expect(&rig, 4, 12, 0, "frames on the miss");
  assert_true(rig.st.l1d_rej_line > 0);
  uint64_t waited = rig.st.cycles;
  rig_run(&rig, "sector", "l1d.allocate=on-fill", at, 16);
  rig_expect(&rig, 4, 12, 0, "frames on the fill");
  assert_int_equal(rig.st.l1d_rej_line, 0);
  assert_int_equal(rig.st.l1d_evictions, 8);
  assert_true(rig.st.cycles < waited);
}

static void line_by_hand(void **state) {
  (void)state;
  RUN("line=32", {.line = 0}, {.line = 0, .sectors = 1}); /* four segments, then one of them */
  rig_expect(&rig, 1, 4, 0, "32 B lines");
  assert_int_equal(rig.st.l1d_fetch_bytes, 128);
  RUN("line=256", {.line = 0}, {.line = 1}); /* one line of two requests */
  rig_expect(&rig, 1, 1, 0, "256 B lines");
  assert_int_equal(rig.st.l1d_read_split, 1);
  assert_int_equal(rig.st.l1d_fetch_bytes, 256);
}

/* Section 3.1: a set of 16 chunks keeps one chunk of each of 16 lines of a region, four times what frames keep. */
static void tsc_shares_groups(void **state) {
  (void)state;
  twice("tsc:latency=0", 16, 0);
  rig_expect(&rig, 16, 16, 0, "TSC keeps 16 lines of a chunk");
  assert_int_equal(rig.st.l1d_fetch_bytes, 16 * 32);
  twice("sector", 16, 0);
  rig_expect(&rig, 0, 32, 0, "a sector cache keeps four");
  /* whole lines: a group is a line (section 3.1) */
  letters("tsc:latency=0", "a b c d a b c d");
  rig_expect(&rig, 4, 4, 0, "TSC with whole lines");
}

/* Section 3.3: a group with another shared tag loses all its chunks. With one set and 8 private bits a region is 256
 * lines: four regions fill the groups with two chunks each, the fifth takes one group whole. */
static void tsc_foreign_group(void **state) {
  (void)state;
  RUN("tsc:latency=0", {.line = 0, .sectors = 3}, {.line = 256, .sectors = 3}, {.line = 512, .sectors = 3},
      {.line = 768, .sectors = 3}, {.line = 1024, .sectors = 1});
  rig_expect(&rig, 0, 5, 0, "five regions");
  assert_int_equal(rig.counter[1], 9); /* placed */
  assert_int_equal(rig.counter[2], 2); /* dropped: both chunks of one group */
  assert_int_equal(rig.st.l1d_evictions, 1);
}

/* Stores that place what they write, without a fetch: a sector written whole is read from there, one written in part is
 * not; a store hits where the line has a place. The fifth line takes the place of the one used longest ago. */
static void stores_allocate(void **state) {
  (void)state;
  static const char allocate[] = "l1d.allocate=on-fill,l1d.store=allocate,l1d.organisation=sector";
  const struct rig_access parts[] = {
      {.line = 1, .sectors = 1, .store = true}, /* misses */
      {.line = 1, .sectors = 1},                /* hits */
      {.line = 1, .sectors = 2, .store = true, .half = true},
      {.line = 1, .sectors = 2}, /* misses: half of it is not there */
      {.line = 1, .sectors = 2}, /* hits */
      {.line = 1, .sectors = 4}, /* misses */
  };
  rig_run(&rig, NULL, allocate, parts, sizeof parts / sizeof *parts);
  rig_expect(&rig, 2, 2, 0, "parts of a line");
  assert_int_equal(rig.st.l1d_sectors_written, 2);
  assert_int_equal(rig.st.l1d_sectors_written_hit, 1);
  const struct rig_access lines[] = {
      {.line = 1},
      {.line = 2, .store = true},
      {.line = 3, .store = true},
      {.line = 4, .store = true, .half = true},
      {.line = 2},
      {.line = 5, .store = true}, /* in the place of 1 */
      {.line = 2},
      {.line = 3},
      {.line = 5},
      {.line = 4},
      {.line = 1},
  };
  rig_run(&rig, NULL, allocate, lines, sizeof lines / sizeof *lines);
  rig_expect(&rig, 4, 3, 0, "lines of a set");
  rig_run(&rig, NULL, "l1d.allocate=on-fill,l1d.store=update,l1d.organisation=sector", lines,
          sizeof lines / sizeof *lines);
  rig_expect(&rig, 1, 6, 0, "stores that update");
}

/* Section 3.2: a partial miss requests only the missing chunks. Section 3.3: a store invalidates the chunks it
 * touches.
 */
static void tsc_partial(void **state) {
  (void)state;
  RUN("tsc", {.line = 9, .sectors = 5}, {.line = 9, .sectors = 7}, {.line = 9, .sectors = 4, .store = true},
      {.line = 9, .sectors = 3}, {.line = 9, .sectors = 6});
  rig_expect(&rig, 1, 3, 0, "partial misses");
  assert_int_equal(rig.st.l1d_read_partial, 2);
  assert_int_equal(rig.st.l1d_fetch_bytes, 4 * 32);
}

/* Section 3.5, two sampler sets: lines whose four chunks are read one after another cost a fine set four misses of two
 * packets and a coarse one a miss of five: coarse wins. Lines of which one chunk is read cost 2 and 5: fine wins. */
static void tsc_plus_chooses(void **state) {
  (void)state;
  struct rig_access at[160];
  for (uint32_t i = 0; i < 160; i++) at[i] = (struct rig_access){.line = i / 4, .sectors = 1u << (i % 4)};
  rig_run(&rig, "tsc+:samplers=1", "l1d.sets=4", at, 160);
  assert_true(rig.counter[4] == 1); /* one switch, to coarse */
  assert_true(rig.st.l1d_read_hits > 60);
  for (uint32_t i = 0; i < 160; i++) at[i] = (struct rig_access){.line = i, .sectors = 1};
  rig_run(&rig, "tsc+:samplers=1", "l1d.sets=4", at, 160);
  /* Products after each sampler miss, fine : coarse: 2:0 coarse, 2:5 fine, 8:5 coarse, 8:20 fine, and fine from there
   * on. Lines 1 and 5 fall into the coarse times; beside them only the coarse sampler fetches whole lines, 40 of them.
   */
  assert_int_equal(rig.counter[4], 4);
  assert_int_equal(rig.counter[3], 42);
}

/* Five lines of one used sector under the coarse default; the first is evicted used once, is remembered, and returns
 * fine. */
static void lamar_by_hand(void **state) {
  (void)state;
  RUN("lamar", {.line = 0, .sectors = 1}, {.line = 1, .sectors = 1}, {.line = 2, .sectors = 1},
      {.line = 3, .sectors = 1}, {.line = 4, .sectors = 1}, {.line = 0, .sectors = 1});
  assert_int_equal(rig.st.l1d_fetch_bytes, 5 * 128 + 32);
  assert_int_equal(rig.counter[0], 5);
  assert_int_equal(rig.counter[1], 1);
  assert_int_equal(rig.counter[2], 2);
}

/* Seznec, ISCA 1994: lines that use different sectors share the frames; of lines that use the same one, the fifth takes
 * a sector from another. */
static void dsc_by_hand(void **state) {
  (void)state;
  twice("dsc=2", 8, 1);
  rig_expect(&rig, 8, 8, 0, "DSC-2 keeps eight lines");
  twice("sector", 8, 1);
  rig_expect(&rig, 0, 16, 0, "a sector cache keeps four");
  /* Four lines of two sectors fill the frames; line 4 wants sector 0 of one. Line 0 was used again, so that line 1
   * gives its sector 0 and keeps the other. With victim=1 the order of use decides nothing: line 0, placed first,
   * gives. */
  for (int fewest = 0; fewest < 2; fewest++) {
    RUN(fewest ? "dsc=2:victim=1" : "dsc=2", {.line = 0, .sectors = 3}, {.line = 1, .sectors = 3},
        {.line = 2, .sectors = 3}, {.line = 3, .sectors = 3}, {.line = 0, .sectors = 3}, {.line = 4, .sectors = 1},
        {.line = 0, .sectors = 3}, {.line = 1, .sectors = 2});
    assert_int_equal(rig.counter[1] > 0, true);
    rig_expect(&rig, fewest ? 2 : 3, fewest ? 6 : 5, 0, fewest ? "DSC-2, fewest first" : "DSC-2, by use");
  }
}

/* Section 4.2: a tag first, a line at the second reference, then hits. */
static void decoupled_by_hand(void **state) {
  (void)state;
  letters("decoupled-l1d:duel=0", "a a a");
  rig_expect(&rig, 1, 1, 1, "first reference counts");
  letters("decoupled-l1d:duel=0/first=0", "a a a a");
  rig_expect(&rig, 1, 1, 2, "first reference does not count");
  letters("decoupled-l1d:duel=0", "a a b c d e f g a");
  rig_expect(&rig, 1, 1, 7, "a scan leaves the line alone");
  /* a's allocation ages b from 1 to 0 */
  letters("decoupled-l1d:duel=0", "b a a b b b");
  rig_expect(&rig, 1, 2, 3, "ageing");
  /* four tags: e takes that of a, the oldest of equal counts */
  letters("decoupled-l1d:duel=0/tags=4", "a b c d e a");
  rig_expect(&rig, 0, 0, 6, "LFU of tags");
  /* Four tags: a, b and c have lines and counts 0, 1 and 2, d has none and counts 1. e takes d's tag, or a's. */
  letters("decoupled-l1d:duel=0/tags=4", "a a b b c c d e a");
  rig_expect(&rig, 0, 3, 6, "the smallest count of all goes first");
  letters("decoupled-l1d:duel=0/tags=4/victim=0", "a a b b c c d e a");
  rig_expect(&rig, 1, 3, 5, "a tag without a line goes first");
  for (uint32_t repl = 0; repl < 3; repl++) {
    char list[64];
    snprintf(list, sizeof list, "decoupled-l1d:duel=0/repl=%u", repl);
    letters(list, "a a b b c c d d e e a b c d e");
    assert_int_equal(rig.st.l1d_read_misses, 5 + (15 - 10 - rig.st.l1d_read_hits) - (rig.st.l1d_read_bypasses - 5));
  }
}

/* An interval of 100 accesses on SM 0 and on SM 1, of which so many missed. */
static void duel(struct bench *b, uint32_t fresh, uint32_t base) {
  for (uint32_t i = 0; i < 200; i++) {
    struct l1_event e = {.sm = i % 2, .line = i * 128};
    b->scheme->on_access(b->c, &e, i / 2 < (i % 2 ? base : fresh) ? L1_MISS : L1_HIT);
  }
  b->scheme->on_epoch(b->c);
}

/* Does a first reference on this SM bypass the L1? */
static bool filters(struct bench *b, uint32_t sm) {
  struct l1_event e = {.sm = sm, .line = 4096, .set = 1};
  return b->scheme->l1->plan(b->c, &e, 1) == PLAN_BYPASS;
}

/* Section 4.3, Table 3: SM 0 begins with the new design, SM 1 with the baseline, the others with SM 1; a rate of SM 0
 * that is higher by more than 10 points turns the new design off on all SMs, any other turns it on. */
static void decoupled_duels(void **state) {
  (void)state;
  struct bench b;
  bench_start_on(&b, 3, "decoupled-l1d:rest=2");
  assert_true(filters(&b, 0) && !filters(&b, 1) && !filters(&b, 2));
  duel(&b, 100, 100); /* nothing hits: the new design costs nothing */
  assert_int_equal(bench_counter(&b, "to_new"), 1);
  assert_true(filters(&b, 0) && filters(&b, 1) && filters(&b, 2));
  duel(&b, 100, 0), duel(&b, 100, 0); /* they are idle, and are not counted */
  assert_true(filters(&b, 0) && !filters(&b, 1) && filters(&b, 2));
  duel(&b, 60, 49); /* eleven points */
  assert_true(!filters(&b, 0) && !filters(&b, 1) && !filters(&b, 2));
  assert_int_equal(bench_counter(&b, "to_baseline"), 1);
  duel(&b, 0, 0), duel(&b, 0, 0);
  duel(&b, 59, 50); /* nine */
  assert_true(filters(&b, 1) && filters(&b, 2));
  bench_end(&b);
  bench_start_on(&b, 3, "decoupled-l1d:rest=0");
  duel(&b, 50, 50);
  assert_true(filters(&b, 0) && !filters(&b, 1) && filters(&b, 2)); /* SM 1 stays for comparison */
  bench_end(&b);
}

/* Printed digits of Table 3; the paper prints 0.063 where the others have two digits. */
static void table_3(void **state) {
  (void)state;
  static const struct {
    const char *list;
    double kb, digit;
  } rows[] = {{"lamar", 0.063, 0.001}, {"dsc=2", 0.45, 0.01}, {"dsc=4", 1.33, 0.01},        {"mrpb", 1.21, 0.01},
              {"tsc", 0.58, 0.01},     {"tsc+", 0.58, 0.01},  {"tsc:private=5", 0.44, 0.01}};
  for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    double kb = rig_storage_kb(rows[i].list), printed = floor(kb / rows[i].digit + 0.5) * rows[i].digit;
    if (fabs(printed - rows[i].kb) > 1e-9) fail_msg("%s: %.4f KB, Table 3 has %g", rows[i].list, kb, rows[i].kb);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(sector_by_hand, "sector"),
      cmocka_unit_test(sector_streams),
      cmocka_unit_test(stores_allocate),
      PAPER_TEST(line_by_hand, "line"),
      PAPER_TEST(tsc_shares_groups, "tsc"),
      PAPER_TEST(tsc_foreign_group, "tsc"),
      PAPER_TEST(tsc_partial, "tsc"),
      PAPER_TEST(tsc_plus_chooses, "tsc+"),
      PAPER_TEST(lamar_by_hand, "lamar"),
      PAPER_TEST(dsc_by_hand, "dsc"),
      PAPER_TEST(decoupled_by_hand, "decoupled-l1d"),
      PAPER_TEST(decoupled_duels, "decoupled-l1d"),
      cmocka_unit_test(table_3),
  };
  return scheme_tests(tests, argc, argv);
}
