/* test_addrmap.c - device addresses to channels, sub-partitions, banks, rows: worked by hand, and as a bijection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gpu/mem/addrmap.h"
#include "gpu/mem/partition.h"

static struct req split(const struct addrmap *m, uint64_t addr) {
  struct req r = {.addr = addr};
  addrmap_split(m, &r);
  return r;
}

static void fermi_by_hand(void **state) {
  (void)state;
  struct gpu_config c;
  struct addrmap m;
  gpu_config_defaults(&c);
  assert_true(addrmap_init(&m, &c, NULL));
  /* 0xC0000000 >> 8 = 12582912 = 6 * 2097152: channel 0, inside 0x20000000: above the row bits. */
  struct req r = split(&m, 0xC0000000);
  assert_int_equal(r.channel, 0);
  assert_int_equal(r.subpart, 0);
  assert_int_equal(r.bank | r.row | r.column, 0);
  /* 256 B further: the next channel. 6 * 256 B further: inside bit 8, the lowest bank bit, the other sub-partition. */
  assert_int_equal(split(&m, 0xC0000100).channel, 1);
  r = split(&m, 0xC0000000 + 6 * 256);
  assert_int_equal(r.channel, 0);
  assert_int_equal(r.bank, 1);
  assert_int_equal(r.subpart, 1);
  /* inside bits: 9-12 column (above the 8 of the low byte), 13-15 bank, 16 up row. */
  r = split(&m, 0xC0000000 + 6 * 0x200 + 0x80);
  assert_int_equal(r.column, 0x100 | 0x80);
  assert_int_equal(r.bank, 0);
  r = split(&m, 0xC0000000 + 6 * 0x2000);
  assert_int_equal(r.bank, 2);
  assert_int_equal(r.column, 0);
  r = split(&m, 0xC0000000 + 6ull * 0xE000 + 5 * 256);
  assert_int_equal(r.bank, 14);
  assert_int_equal(r.channel, 5);
  assert_int_equal(r.subpart, 10);
  r = split(&m, 0xC0000000 + 6ull * 0xABC0000);
  assert_int_equal(r.row, 0xABC);
  /* The set index leaves the sub-partition's bit out. */
  assert_int_equal(addrmap_local(&m, 0x80), 0x80);
  assert_int_equal(addrmap_local(&m, 6 * 256), 0);
  assert_int_equal(addrmap_local(&m, 6 * 512), 256);
}

static void slow_and_fast_agree(void **state) {
  (void)state;
  struct gpu_config c;
  struct addrmap m;
  gpu_config_defaults(&c);
  assert_true(addrmap_init(&m, &c, NULL));
  struct rng g = rng_seed(3);
  for (int i = 0; i < 1000; i++) {
    struct req a = split(&m, rng_next(&g) >> 24);
    /* Every field bit by bit from the text. */
    uint64_t inside = (a.addr >> 8) / 6 << 8 | (a.addr & 255);
    uint32_t want[3] = {0}, n[3] = {0};
    int bit = 63;
    char order[64];
    for (const char *p = c.dram_map; *p; p++)
      if (*p != ' ') order[bit--] = *p;
    for (bit = 0; bit < 64; bit++) {
      int f = order[bit] == 'R' ? 0 : order[bit] == 'B' ? 1 : order[bit] == '0' ? -1 : 2;
      if (f >= 0) want[f] |= (uint32_t)(inside >> bit & 1) << n[f]++;
    }
    assert_int_equal(a.row, want[0]);
    assert_int_equal(a.bank, want[1]);
    assert_int_equal(a.column, want[2]);
  }
}

/* No two addresses share channel, sub-partition and local address; traffic spreads evenly. */
static void a_bijection_for(uint32_t channels, uint32_t subparts, enum gpu_partition_hash hash) {
  struct gpu_config c;
  struct addrmap m;
  gpu_config_defaults(&c);
  c.channels = channels, c.subparts = subparts, c.partition_hash = hash;
  assert_true(addrmap_init(&m, &c, NULL));
  enum { LINES = 1 << 16 };
  uint32_t n = channels * subparts, room = LINES / n + 2 * 1024;
  uint8_t *seen = calloc((size_t)n * room, 1);
  uint32_t *hits = calloc(n, sizeof *hits);
  assert_non_null(seen);
  assert_non_null(hits);
  for (uint32_t k = 0; k < LINES; k++) {
    struct req r = split(&m, (uint64_t)k * 128);
    uint64_t local = addrmap_local(&m, r.addr) / 128;
    assert_true(r.channel < channels);
    assert_int_equal(r.subpart / subparts, r.channel);
    assert_true(local < room);
    assert_int_equal(seen[r.subpart * room + local]++, 0);
    hits[r.subpart]++;
  }
  for (uint32_t s = 0; s < n; s++) assert_true(hits[s] > LINES / n / 2 && hits[s] < LINES / n * 2);
  free(seen);
  free(hits);
}

static void bijections(void **state) {
  (void)state;
  static const uint32_t shapes[][2] = {{6, 2}, {6, 1}, {8, 2}, {1, 1}, {3, 4}, {16, 2}, {1, 2}};
  for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    a_bijection_for(shapes[i][0], shapes[i][1], PARTITION_MODULO);
    a_bijection_for(shapes[i][0], shapes[i][1], PARTITION_SKEWED);
  }
  a_bijection_for(48, 2, PARTITION_SKEWED);
  a_bijection_for(32, 2, PARTITION_IPOLY);
}

/* The most accesses that a sub-partition gets of 64 n, `stride` bytes apart. */
static uint32_t most_of_stride(uint32_t channels, enum gpu_partition_hash hash, uint64_t stride) {
  struct gpu_config c;
  struct addrmap m;
  gpu_config_defaults(&c);
  c.channels = channels, c.subparts = 2, c.partition_hash = hash;
  assert_true(addrmap_init(&m, &c, NULL));
  uint32_t n = channels * 2, hits[256] = {0}, most = 0;
  for (uint32_t k = 0; k < 64 * n; k++) hits[split(&m, k * stride).subpart]++;
  for (uint32_t s = 0; s < n; s++) most = hits[s] > most ? hits[s] : most;
  return most;
}

/* Strides of powers of two meet a few of 80 or 96 sub-partitions by their remainder, and all of them if rounds begin at
 * another one each. */
static void skewed_rounds_spread_strides(void **state) {
  (void)state;
  for (uint64_t stride = 256; stride <= 1 << 20; stride *= 2) {
    assert_in_range(most_of_stride(40, PARTITION_SKEWED, stride), 64, 2 * 64);
    assert_in_range(most_of_stride(48, PARTITION_SKEWED, stride), 64, 2 * 64);
    if (stride >= 4096) assert_true(most_of_stride(48, PARTITION_MODULO, stride) >= 8 * 64);
  }
}

static void bad_maps_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *map, *says;
  } bad[] = {
      {"0000RRRR BBBB", "fewer than 64"},
      {"0000000000000000000000000000000000000RRRRRRRRRRRRBBBBCCCCCCCSSSSSS", "more than 64"},
      {"00000000 00000000 00000000 00000000 0000RRRR RRRRRRRR BBBCCCXB CCSSSSSS", "'X'"},
      {"00000000 00000000 00000000 00000000 0000RRRR RRRRRRRR BBBBCCCB CCSSSSSS", "dram.banks is 16"},
  };
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct gpu_config c;
    struct addrmap m;
    struct err e = {0};
    gpu_config_defaults(&c);
    strcpy(c.dram_map, bad[i].map);
    assert_false(addrmap_init(&m, &c, &e));
    assert_int_equal(e.code, ERR_INPUT);
    assert_non_null(strstr(e.msg, bad[i].says));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fermi_by_hand),        cmocka_unit_test(slow_and_fast_agree),
      cmocka_unit_test(bijections),           cmocka_unit_test(skewed_rounds_spread_strides),
      cmocka_unit_test(bad_maps_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
