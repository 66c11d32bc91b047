/* test_compress.c - sizes of compressed lines: the examples of the papers, each row of their tables, and random lines
 * against bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "schemes/lib/compress.h"
#include "schemes/lib/compress_sc.h"

enum { LINE = 32 }; /* of the examples of BDI */

static const uint8_t *words(const uint32_t *w) {
  return (const uint8_t *)w;
}

static void must(const char *what, uint32_t is, uint32_t by_hand) {
  if (is != by_hand) fail_msg("%s: %u, by hand %u", what, is, by_hand);
}

/* PACT 2012, Figures 3 and 4: lines of 32 B from h264ref and perlbench, narrow values and near pointers; and a line of
 * both, for which two bases are needed (section 3.3). */
static void examples_of_bdi(void **state) {
  (void)state;
  static const uint32_t narrow[8] = {0, 0xB, 3, 1, 4, 0, 3, 4};
  static const uint32_t near[8] = {0xC04039C0, 0xC04039C8, 0xC04039D0, 0xC04039D8,
                                   0xC04039E0, 0xC04039E8, 0xC04039F0, 0xC04039F8};
  static const uint32_t both[8] = {0, 0x09A40178, 0xB, 1, 0x09A46838, 0xA, 0xB, 0x09A402F0};
  must("narrow values, 4 B and deltas of 1", bdi_bytes(words(narrow), LINE), 12);
  must("near pointers, the same", bdi_bytes(words(near), LINE), 12);
  assert_false(bdi_fits(words(both), LINE, 4, 1));
  must("both, 4 B and deltas of 2", bdi_bytes(words(both), LINE), 20);
  uint32_t three[8];
  memcpy(three, both, sizeof three);
  three[6] = 0x7FFF0000;
  must("a third base", bdi_bytes(words(three), LINE), LINE);
}

/* Table 2: sizes of lines of 32 and 64 B by encoding. */
static void encodings_of_bdi(void **state) {
  (void)state;
  static const struct {
    uint32_t base, delta, size[2];
  } row[] = {{8, 1, {12, 16}}, {8, 2, {16, 24}}, {8, 4, {24, 40}},
             {4, 1, {12, 20}}, {4, 2, {20, 36}}, {2, 1, {18, 34}}};
  for (uint32_t k = 0; k < sizeof row / sizeof *row; k++)
    for (uint32_t l = 0; l < 2; l++) {
      uint8_t line[64] = {0};
      uint32_t bytes = l ? 64 : 32, n = bytes / row[k].base;
      uint64_t base = 0x7123456789ABCDEFull >> (64 - 8 * row[k].base);
      for (uint32_t i = 0; i < n; i++) { /* the last value is as far from the base as the delta goes */
        uint64_t v = base + (i + 1 == n ? (1ull << (8 * row[k].delta - 1)) - 1 : i % 2);
        memcpy(line + (size_t)i * row[k].base, &v, row[k].base);
      }
      must("an encoding", bdi_bytes(line, bytes), row[k].size[l]);
      uint64_t far = base + (1ull << (8 * row[k].delta - 1));
      memcpy(line + (size_t)(n - 1) * row[k].base, &far, row[k].base);
      assert_true(bdi_bytes(line, bytes) > row[k].size[l]);
    }
  static const uint32_t zero[16], same[16] = {7, 9, 7, 9, 7, 9, 7, 9, 7, 9, 7, 9, 7, 9, 7, 9};
  must("zeros", bdi_bytes(words(zero), 64), 1);
  must("repeated values", bdi_bytes(words(same), 64), 8);
}

/* TR 1500, Table 1: a word of each pattern. */
static void patterns_of_fpc(void **state) {
  (void)state;
  static const struct {
    uint32_t word, bits;
  } row[] = {{7, 4},           {0xFFFFFFF8, 4},  {8, 8},           {0xFFFFFF80, 8},  {0x80, 16},
             {0xFFFF8000, 16}, {0x8000, 32},     {0x12340000, 16}, {0x007FFF80, 16}, {0x0080FF80, 32},
             {0x5A5A5A5A, 8},  {0x12345678, 32}, {0xDEADBEEF, 32}};
  for (uint32_t k = 0; k < sizeof row / sizeof *row; k++) {
    must("a word", fpc_word_bits(row[k].word), row[k].bits);
    uint32_t line[2] = {row[k].word, 0};
    must("beside a zero", fpc_bits(words(line), 8), 3 + row[k].bits + 6);
  }
  static const uint32_t zero[32], broken[16] = {0, 0, 1};
  must("a run of eight", fpc_bits(words(zero), 32), 6);
  must("a run of nine", fpc_bits(words(zero), 40), 12);
  must("a line of 128 B", fpc_bits(words(zero), 128), 4 * 6);
  must("two runs, of two and thirteen", fpc_bits(words(broken), 64), 6 + 7 + 2 * 6);
}

/* TVLSI 2010, Table I: the patterns in the order in which the dictionary has them. */
static void patterns_of_cpack(void **state) {
  (void)state;
  static const struct {
    uint32_t word, bits;
    const char *what;
  } row[] = {{0, 2, "zzzz"},           {0x12345678, 34, "xxxx"}, {0x12345678, 6, "mmmm"}, {0x123456AA, 16, "mmmx"},
             {0x1234BBBB, 24, "mmxx"}, {0x000000FF, 12, "zzzx"}, {0x1234BBBB, 6, "mmmm"}, {0x99345678, 34, "xxxx"}};
  uint32_t line[8], last = 0;
  for (uint32_t k = 0; k < 8; k++) {
    line[k] = row[k].word;
    uint32_t bits = cpack_bits(words(line), 4 * (k + 1));
    must(row[k].what, bits - last, row[k].bits);
    last = bits;
  }
  uint32_t many[CPACK_WORDS + 2]; /* the first word leaves the dictionary for the last but one */
  for (uint32_t k = 0; k <= CPACK_WORDS; k++) many[k] = (k + 1) << 24 | 0x10000u * k;
  many[CPACK_WORDS + 1] = many[0];
  must("a word that has left", cpack_bits(words(many), sizeof many), 34 * (CPACK_WORDS + 2));
  many[CPACK_WORDS + 1] = many[1];
  must("one that has not", cpack_bits(words(many), sizeof many), 34 * (CPACK_WORDS + 1) + 6);
}

/* Sizes lie between those of the best and the worst line; words that differ in a byte have one base. */
static void bounds_on_random_lines(void **state) {
  (void)state;
  struct rng r = rng_seed(3);
  for (uint32_t k = 0; k < 2000; k++) {
    uint32_t line[32], mask = rng_below(&r, 2) ? 0xFF : 0xFFFFFFFF, base = (uint32_t)hash_u64(k);
    for (uint32_t i = 0; i < 32; i++) line[i] = base + ((uint32_t)hash_u64(k * 32 + i) & mask);
    uint32_t b = bdi_bytes(words(line), 128), f = fpc_bits(words(line), 128), c = cpack_bits(words(line), 128);
    assert_true(b >= 1 && b <= 128 && f >= 24 && f <= 32 * 35 && c >= 64 && c <= 32 * 34);
    if (mask == 0xFF) assert_true(b <= 4 + 2 * 32);
  }
}

/* Huffman by hand: 4, 2 and 1 occurrences and the escape have codes of 1, 2, 3 and 3 bits. */
static void codes_of_sc(void **state) {
  (void)state;
  static struct sc_table t, none;
  static const uint32_t seen[8] = {5, 5, 5, 5, 9, 9, 7, 7}, fours[8] = {5, 5, 5, 5, 5, 5, 5, 5};
  static const uint32_t mixed[4] = {5, 9, 7, 1234};
  sc_learn(&t, words(seen), 28);
  sc_code(&t);
  must("the most frequent value", sc_bits(&t, words(fours), 32), 8);
  must("one of each", sc_bits(&t, words(mixed), 16), 1 + 2 + 3 + 3 + 32);
  sc_code(&none);
  must("nothing learnt", sc_bits(&none, words(fours), 32), 8 * 33);
}

/* Kraft's sum of a full table is 1, more frequent values have no longer codes, and what does not fit is escaped. */
static void many_codes_of_sc(void **state) {
  (void)state;
  static struct sc_table t;
  for (uint32_t v = 0; v < SC_VALUES + 100; v++) {
    uint32_t line[64];
    for (uint32_t i = 0; i < 64; i++) line[i] = v;
    sc_learn(&t, words(line), 4 * (1 + v % 64));
  }
  must("values", t.values, SC_VALUES);
  assert_true(t.others > 100);
  sc_code(&t);
  double sum = 0;
  for (uint32_t i = 0; i <= SC_VALUES; i++) sum += 1 / (double)(1ull << t.at[i].bits);
  assert_true(sum == 1);
  for (uint32_t i = 0; i <= SC_VALUES; i++)
    for (uint32_t k = 0; k <= SC_VALUES; k++)
      if (t.at[i].count > t.at[k].count) assert_true(t.at[i].bits <= t.at[k].bits);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(codes_of_sc),
      cmocka_unit_test(many_codes_of_sc),
      cmocka_unit_test(examples_of_bdi),
      cmocka_unit_test(encodings_of_bdi),
      cmocka_unit_test(patterns_of_fpc),
      cmocka_unit_test(patterns_of_cpack),
      cmocka_unit_test(bounds_on_random_lines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
