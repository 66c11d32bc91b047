/* test_race_words.c - cells of the check of races in four bytes: what is stored is what is loaded, whatever the form of
 * its chunk, also when pairs run out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "simt/check/race_words.h"

enum { CHUNKS = 1600, NARROW = RACE_WIDE_FIRST, WORDS = CHUNKS * RACE_CHUNK };

static uint32_t mark(uint32_t id, uint32_t lane, uint32_t bytes, uint32_t write) {
  return write << 30 | id << RACE_ID_SHIFT | lane << RACE_LANE_SHIFT | bytes;
}

static uint64_t cell(uint32_t lo, uint32_t hi) {
  return lo | (uint64_t)hi << 32;
}

/* Shadow whose first chunks, the wide ones, are touched. */
static struct race_words fresh(void) {
  struct race_words s;
  assert_true(race_words_new(&s, WORDS));
  for (uint32_t c = 0; c < NARROW; c++) assert_int_equal(race_words_form(&s, (uint64_t)c * RACE_CHUNK), RACE_WIDE);
  assert_int_equal(race_words_form(&s, (uint64_t)NARROW * RACE_CHUNK), RACE_NARROW);
  return s;
}

/* Extremes of every field, in a wide chunk and in a narrow one. */
static void fields(void **state) {
  (void)state;
  struct race_words s = fresh();
  const uint32_t top = (1u << RACE_ID_BITS) - 1, ids[] = {1, 2, top - 1, top}, lanes[] = {0, 1, 30, 31};
  const uint32_t bytes[] = {1, 8, 12, 15};
  uint64_t chunks[] = {0, NARROW};
  for (uint32_t c = 0; c < 2; c++) {
    for (uint32_t n = 0; n < 2 * 4096; n++) {
      uint32_t a = n & 3, b = n >> 2 & 3, l = n >> 4 & 3, m = n >> 6 & 3, p = n >> 8 & 3, q = n >> 10 & 3, w = n >> 12;
      uint64_t v = cell(mark(ids[a], lanes[l], bytes[p], w), mark(ids[b], lanes[m], bytes[q], 0)),
               at = chunks[c] * RACE_CHUNK + n % RACE_CHUNK;
      race_words_store(&s, at, v);
      assert_int_equal(race_words_load(&s, at), v);
      race_words_store(&s, at, (uint32_t)v);
      assert_int_equal(race_words_load(&s, at), (uint32_t)v);
    }
    assert_int_equal(race_words_form(&s, chunks[c] * RACE_CHUNK), c ? RACE_NARROW : RACE_WIDE);
  }
  race_words_free(&s);
}

/* Rows of 32 lanes that two warps read: as many pairs as rows, and every chunk stays narrow. Readers follow one
 * another until pairs were made many times over, so that sweeps free those that no cell has any more. */
static void rows(void **state) {
  (void)state;
  struct race_words s = fresh();
  uint64_t from = (uint64_t)NARROW * RACE_CHUNK, n = 40ull * RACE_CHUNK;
  for (uint32_t round = 1; round <= 30; round++)
    for (uint64_t i = 0; i < n; i++) {
      uint32_t row = (uint32_t)(i / 32), lane = (uint32_t)(i % 32);
      race_words_store(&s, from + i, cell(mark(1 + row, lane, 15, 0), mark(400000 + row + round, 31 - lane, 15, 0)));
    }
  for (uint64_t i = 0; i < n; i++) {
    uint32_t row = (uint32_t)(i / 32), lane = (uint32_t)(i % 32);
    assert_int_equal(race_words_load(&s, from + i),
                     cell(mark(1 + row, lane, 15, 0), mark(400000 + row + 30, 31 - lane, 15, 0)));
  }
  assert_int_equal(s.widened, 0);
  assert_true(s.limit < 4 * n / 32 + (1 << 16));
  race_words_free(&s);
}

/* Every word has a pair of its own: chunks become wide when pairs run out, and no mark is lost or changed. */
static void overflow(void **state) {
  (void)state;
  struct race_words s = fresh();
  uint64_t from = (uint64_t)NARROW * RACE_CHUNK, n = 400ull * RACE_CHUNK;
  for (int round = 0; round < 2; round++) {
    for (uint64_t i = 0; i < n; i++)
      race_words_store(
          &s, from + i,
          cell(mark(1 + (uint32_t)(i >> 12), i & 31, 15, 0), mark(1 + (uint32_t)(i & 0xfffff), i >> 5 & 31, 3, round)));
    for (uint64_t i = 0; i < n; i++)
      assert_int_equal(race_words_load(&s, from + i), cell(mark(1 + (uint32_t)(i >> 12), i & 31, 15, 0),
                                                           mark(1 + (uint32_t)(i & 0xfffff), i >> 5 & 31, 3, round)));
  }
  assert_true(s.widened > 300);
  race_words_drop(&s);
  assert_int_equal(race_words_load(&s, from + n - 1), 0);
  race_words_free(&s);
}

/* 1,900 pairs a chunk in more chunks than there are pairs for: no sweep finds a chunk of many of its own. */
static void thin(void **state) {
  (void)state;
  struct race_words s = fresh();
  uint64_t from = (uint64_t)NARROW * RACE_CHUNK;
  const uint32_t each = 1900, chunks = CHUNKS - NARROW;
  for (uint32_t c = 0; c < chunks; c++)
    for (uint32_t i = 0; i < each; i++)
      race_words_store(&s, from + (uint64_t)c * RACE_CHUNK + i, cell(mark(1 + c, 1, 15, 0), mark(1 + i, 2, 15, 0)));
  for (uint32_t c = 0; c < chunks; c++)
    for (uint32_t i = 0; i < each; i++)
      assert_int_equal(race_words_load(&s, from + (uint64_t)c * RACE_CHUNK + i),
                       cell(mark(1 + c, 1, 15, 0), mark(1 + i, 2, 15, 0)));
  assert_true(s.widened > 0 && s.widened < chunks / 2);
  race_words_free(&s);
}

/* Random stores against an array of their own. */
static void any(void **state) {
  (void)state;
  struct race_words s = fresh();
  enum { N = 40 * RACE_CHUNK };
  uint64_t *plain = calloc(N, sizeof *plain), from = (uint64_t)(NARROW - 8) * RACE_CHUNK, seed = 1;
  for (uint32_t i = 0; i < 4000000; i++) {
    uint64_t r = seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407, at = (r >> 40) % N;
    uint32_t kind = r >> 38 & 3, id = r >> 10 & 0xfffff;
    plain[at] = kind == 3 ? 0
                          : cell(mark(1 + (id & 0xff), r >> 30 & 31, 15, id & 1),
                                 kind ? mark(1 + (id >> (kind == 1 ? 12 : 1)), r >> 33 & 31, 1 + (id & 7), 0) : 0);
    race_words_store(&s, from + at, plain[at]);
  }
  for (uint32_t i = 0; i < N; i++) assert_int_equal(race_words_load(&s, from + i), plain[i]);
  free(plain);
  race_words_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields), cmocka_unit_test(rows), cmocka_unit_test(overflow),
                                     cmocka_unit_test(thin), cmocka_unit_test(any)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
