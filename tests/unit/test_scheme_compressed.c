/* test_scheme_compressed.c - compressed lines of the L1 (hook line_size) and the schemes that use them, by hand: one
 * warp whose loads wait for each other, on an L1 of one set with the space of four lines in segments of 32 B, 16 tags.
 */
#include "gpu/l1/l1.h"
#include "scheme_rig.h"

static struct rig rig;

/* Lines with these letters are noise; all others are zeros, which take a segment. */
static const char *noisy;
static uint32_t calls[32]; /* times that a line was looked at */

static void words_of(uint64_t line, uint32_t words[32]) {
  bool noise = noisy && strchr(noisy, 'a' + (int)line);
  if (line < 32) calls[line]++;
  for (uint32_t i = 0; i < 32; i++) words[i] = noise ? (uint32_t)hash_u64(line * 32 + i) : 0;
}

/* Zeros when a line arrives, noise once a store has changed it. */
static void words_that_grow(uint64_t line, uint32_t words[32]) {
  bool noise = line < 32 && calls[line]++;
  for (uint32_t i = 0; i < 32; i++) words[i] = noise ? (uint32_t)hash_u64(line * 32 + i) : 0;
}

static void letters(const char *scheme, const char *set, const char *text) {
  static struct rig_access at[128];
  memset(calls, 0, sizeof calls);
  if (!rig_values) rig_values = words_of;
  rig_run(&rig, scheme, set, at, rig_letters(text, at));
}

#define THIRTEEN "a b c d e f g h i j k l m "

/* A miss reserves four segments, so that 12 lines of one segment may be there when the 13th comes. */
static void more_lines_fit(void **state) {
  (void)state;
  noisy = NULL;
  letters(NULL, NULL, "a b c d e f g h a b c d e f g h");
  rig_expect(&rig, 0, 16, 0, "eight lines without compression");
  letters("latte-cc=bdi", NULL, "a b c d e f g h a b c d e f g h");
  rig_expect(&rig, 8, 8, 0, "eight lines of zeros");
  assert_int_equal(rig.st.packed_lines, 8);
  assert_int_equal(rig.st.packed_from, 8 * 128);
  assert_int_equal(rig.st.packed_bytes, 8 * 32);
  assert_int_equal(rig.st.packed_whole, 0);
  assert_int_equal(rig.st.l1d_evictions, 0);
  letters("latte-cc=bdi", NULL, THIRTEEN THIRTEEN);
  rig_expect(&rig, 13, 13, 0, "thirteen lines");
  letters("latte-cc=bdi", NULL, THIRTEEN "n " THIRTEEN "n");
  rig_expect(&rig, 0, 28, 0, "fourteen lines, in turn");
  letters("latte-cc=bdi", "l1d.compressed_tags=2", "a b c d e f g h a b c d e f g h");
  rig_expect(&rig, 8, 8, 0, "eight tags");
  letters("latte-cc=bdi", "l1d.compressed_tags=2", "a b c d e f g h i a");
  rig_expect(&rig, 0, 10, 0, "a ninth line has no tag");
  letters("latte-cc=bdi", "l1d.compressed_segment=64", "a b c d e f g a b c d e f g");
  rig_expect(&rig, 7, 7, 0, "segments of half a line: six and the one that comes");
}

/* A line of noise takes four segments, one of zeros a single one. */
static void lines_of_each_size(void **state) {
  (void)state;
  noisy = "xyz";
  letters("latte-cc=bdi", NULL, "x y z a b c d x y z a b c d");
  /* 12 segments and four for a, of which it keeps one; b needs four: x goes. With d there are 12, and x has room. */
  rig_expect(&rig, 6, 8, 0, "three lines of noise and four of zeros");
  assert_int_equal(rig.st.packed_bytes, 4 * 128 + 4 * 32);
  assert_int_equal(rig.st.l1d_evictions, 1);
  letters("latte-cc=bdi", NULL, "x y z x y z");
  rig_expect(&rig, 3, 3, 0, "noise fits as without compression");
  assert_int_equal(rig.counter[0], 3);
  assert_int_equal(rig.st.packed_hits, 0);
}

/* Four hits, each of which waits for the one before. */
static void hits_take_longer(void **state) {
  (void)state;
  noisy = NULL;
  letters("latte-cc:mode=3/bdi=0", NULL, "a a a a a");
  uint64_t fast = rig.st.cycles;
  assert_int_equal(rig.st.packed_hits, 0);
  letters("latte-cc:mode=2/bdi=30", NULL, "a a a a a");
  assert_int_equal(rig.st.cycles, fast);
  letters("latte-cc:mode=3/bdi=1", NULL, "a a a a a");
  uint64_t one = rig.st.cycles;
  assert_true(one > fast);
  letters("latte-cc:mode=3/bdi=30", NULL, "a a a a a");
  assert_int_equal(rig.st.cycles, one + 4 * 29);
  assert_int_equal(rig.st.packed_hits, 4);
  assert_int_equal(rig.st.packed_cycles, 4 * 30);
  noisy = "a";
  letters("latte-cc:mode=3/bdi=30", NULL, "a a a a a");
  assert_int_equal(rig.st.cycles, fast);
  letters("latte-cc:mode=3/bdi=0+write-update", NULL, "a b B a");
  fast = rig.st.cycles;
  letters("latte-cc:mode=3/bdi=30+write-update", NULL, "a b B a"); /* b takes longer, but its store is no hit */
  assert_int_equal(rig.st.packed_hits, 0);
  assert_int_equal(rig.st.cycles, fast);
}

/* SC learns in the first phase of 16 loads; the data of the last of them arrives after it. */
static void values_that_occur_often(void **state) {
  (void)state;
  noisy = NULL;
  letters("latte-cc:mode=4/phase=16", NULL, THIRTEEN "n o p q r s t u v w q r s t u v w");
  rig_expect(&rig, 7, 23, 0, "after the first sixteen");
  assert_int_equal(rig.counter[2], 8);
  assert_int_equal(rig.counter[7], 1);
}

/* Thirteen lines of zeros. What the first store changes grows to four segments, which makes 16; the oldest, the same
 * line, goes when the next one grows. */
static void stores_change_sizes(void **state) {
  (void)state;
  rig_values = words_that_grow;
  letters("latte-cc=bdi", "l1d.store=update", THIRTEEN "A B c m a");
  rig_expect(&rig, 2, 14, 0, "two lines that grow");
  assert_int_equal(rig.st.l1d_evictions, 2); /* then b gives way to a */
  assert_int_equal(rig.st.l1d_write_hits, 2);
  letters("write-update+latte-cc=bdi", NULL, THIRTEEN "A a m");
  rig_expect(&rig, 2, 13, 0, "a store that a scheme lets stay");
  letters("latte-cc=bdi", NULL, THIRTEEN "A a m");
  rig_expect(&rig, 1, 14, 0, "a store that evicts");
  rig_values = NULL;
}

/* Without values all lines are whole, and the scheme is not called. */
static bool no_values(void *ctx, uint64_t addr, uint32_t bytes, void *out) {
  (void)ctx, (void)addr, (void)bytes, (void)out;
  return false;
}

static void compare(const char *a, const char *b, uint64_t seed, bool values) {
  struct feed_ops ops = fake_ops;
  if (!values) ops.data = no_values;
  struct gpu_stats st[2] = {rig_random(a, seed, &ops), rig_random(b, seed, &ops)};
  assert_true(values ? st[1].packed_lines > 100 : st[1].packed_whole > 100 && !st[1].packed_lines);
  st[1].packed_lines = st[1].packed_whole = st[1].packed_from = st[1].packed_bytes = 0;
  if (!strcmp(a, "baseline")) st[1].l1d_sectors_read = 0; /* counted in organisations only */
  rig_equal(&st[0], &st[1], a, b, "whole lines");
}

static void whole_lines_are_the_baseline(void **state) {
  (void)state;
  compare("baseline", "latte-cc=none", 61, true);
  for (uint64_t seed = 70; seed < 73; seed++) {
    compare("sector=128", "latte-cc=none", seed, true);
    compare("sector=128", "latte-cc=bdi", seed, false);
  }
}

static void refused_with_places(void **state) {
  struct slots s;
  struct err e = {0};
  (void)state;
  assert_false(slots_parse(&s, "latte-cc+ata-cache", &e));
  assert_false(slots_parse(&s, "latte-cc+sector", &e));
  assert_false(slots_parse(&s, "latte-cc+rrip", &e));
  assert_true(slots_parse(&s, "latte-cc=off+sector", &e));
}

/* ---- decisions, on a machine that stands still: sets 0, 8, 16, 24 are dedicated to none, the next to BDI and SC */

static struct gpu *still;
static struct slot_instance *in;

static void load(uint32_t set, enum l1_outcome out) {
  struct l1_event e = {.set = set};
  in->scheme->on_access(&in->ctx, &e, out);
}

/* A phase of 16 loads: of four in each mode's sets 1, 2 and 3 hit, and misses take `miss` cycles. */
static uint32_t phase(uint32_t miss) {
  static const uint32_t zeros[32];
  struct l1_event e = {.line = 4096, .cycle = 100, .set = 7};
  in->scheme->on_miss(&in->ctx, &e);
  e.cycle += miss;
  in->scheme->on_fill(&in->ctx, &e);
  for (uint32_t m = 0; m < 3; m++)
    for (uint32_t k = 0; k < 4; k++) load(8 * k + m, k <= m ? L1_HIT : L1_MISS);
  for (uint32_t k = 0; k < 4; k++) load(7, L1_PENDING);
  struct l1_size z = in->scheme->line_size(&in->ctx, &e, (const uint8_t *)zeros);
  return z.later;
}

static void decisions(void **state) {
  (void)state;
  still = rig_still("latte-cc:phase=16/period=1");
  in = &still->slots.at[0];
  struct sm *s = &still->sm[0];
  assert_int_equal(phase(100), 0); /* 75.25, 51.5 and 36.25 cycles; SC has no codes before a line was looked at */
  assert_int_equal(phase(100), 14);
  assert_int_equal(phase(16), 2); /* 12.25, 9.5, 15.25 */
  assert_int_equal(phase(2), 0);  /* 1.75, 2.5, 11.75 */
  /* Eight ready warps, which run for four instructions each, before two schedulers: 16 cycles are hidden. */
  s->live = s->head = 0xff;
  for (uint32_t i = 0; i < 8; i++) in->scheme->on_issue(&in->ctx, 0, i / 4 * 2, NULL);
  assert_int_equal(phase(2), 14); /* 1.75, 1.5, 1.25 */
  /* Runs of two instructions hide 8 cycles: SC takes (3 * 7 + 16) / 4. */
  for (uint32_t i = 0; i < 8; i++) in->scheme->on_issue(&in->ctx, 0, i / 2 * 2, NULL);
  assert_int_equal(phase(16), 2); /* 12.25, 8.5, 9.25 */
  s->live = s->head = 0;
  gpu_free(still);
}

static void storage(void **state) {
  (void)state;
  /* 384 further tags of 27 bits, 512 tags with 16, 48 and 138 for 1024 values, 32 MSHRs of 16, 14 counters of 16 */
  double bits = 384 * 27 + 512 * 16 + 1024 * (48 + 138) + 32 * 16 + 14 * 16;
  assert_true(rig_storage_kb("latte-cc") * 8 * 1024 == bits);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {PAPER_TEST(more_lines_fit, "latte-cc"),
                                     PAPER_TEST(lines_of_each_size, "latte-cc"),
                                     PAPER_TEST(hits_take_longer, "latte-cc"),
                                     PAPER_TEST(values_that_occur_often, "latte-cc"),
                                     PAPER_TEST(stores_change_sizes, "latte-cc"),
                                     PAPER_TEST(decisions, "latte-cc"),
                                     NEVER_TEST(whole_lines_are_the_baseline, "latte-cc"),
                                     cmocka_unit_test(refused_with_places),
                                     cmocka_unit_test(storage)};
  return scheme_tests(tests, argc, argv);
}
