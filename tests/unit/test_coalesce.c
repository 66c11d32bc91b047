/* test_coalesce.c - coalescing against the rules taken literally (coalesce.h), on random and on regular addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gpu/sm/coalesce.h"

enum { LANES = 32 };

/* Byte by byte: the segments that lanes touch, in ascending order, each cut down to the half or quarter that is used.
 */
static uint32_t literal(const struct coalesce_in *in, struct access *out) {
  uint32_t elem = in->elem ? in->elem : in->width, n = 0;
  uint32_t segment = elem == 1 ? 32 : elem == 2 ? 64 : 128;
  if (in->segment == 256 && in->width > 4 && elem >= 4) segment = 256;
  else if (in->segment < segment) segment = in->segment;
  uint64_t within = segment > 128 ? 256 : 128;
  for (uint32_t lane = 0; lane < LANES; lane++)
    for (uint32_t b = 0; b < in->width && in->mask >> lane & 1; b++) {
      uint64_t at = in->addr[lane] + b, block = at / segment * segment;
      uint32_t i = 0;
      while (i < n && out[i].addr < block) i++;
      if (i == n || out[i].addr != block) {
        memmove(out + i + 1, out + i, (n - i) * sizeof *out);
        out[i] = (struct access){.addr = block};
        n++;
      }
      out[i].lanes |= 1u << lane;
      out[i].chunks |= 1u << (at % within / 32);
      out[i].words |= 1u << (at % within / 8);
    }
  for (uint32_t i = 0; i < n; i++) {
    struct access *a = &out[i];
    for (a->bytes = segment; a->bytes > 32; a->bytes /= 2) {
      uint32_t half = a->bytes / 2, sectors = half / 32, first = (uint32_t)(a->addr % within / 32);
      uint32_t low = a->chunks >> first & ((1u << sectors) - 1),
               high = a->chunks >> (first + sectors) & ((1u << sectors) - 1);
      if (low && high) break;
      if (high) a->addr += half;
      if (a->bytes == 256) { /* from here on, places are those in a block of 128 bytes */
        if (high) a->chunks >>= 4, a->words >>= 16;
        within = 128;
      }
    }
    within = segment > 128 ? 256 : 128;
  }
  return n;
}

static void compare(const struct coalesce_in *in, const char *what) {
  struct access got[COALESCE_MAX + 2], want[COALESCE_MAX + 2];
  uint32_t n = coalesce_global(in, got), m = literal(in, want);
  if (n != m) fail_msg("%s: %u accesses instead of %u (width %u, mask %x)", what, n, m, in->width, in->mask);
  for (uint32_t i = 0; i < n; i++)
    if (got[i].addr != want[i].addr || got[i].bytes != want[i].bytes || got[i].lanes != want[i].lanes ||
        got[i].chunks != want[i].chunks || got[i].words != want[i].words)
      fail_msg(
          "%s, access %u of %u: %#lx+%u lanes %x chunks %x words %x instead of %#lx+%u %x %x %x (width %u, mask %x)",
          what, i, n, (unsigned long)got[i].addr, got[i].bytes, got[i].lanes, got[i].chunks, got[i].words,
          (unsigned long)want[i].addr, want[i].bytes, want[i].lanes, want[i].chunks, want[i].words, in->width,
          in->mask);
}

/* Lanes in each of `groups` places, in strides, in blocks, at random; whole warps and parts; near a boundary of 4 GB.
 */
static void as_the_rules_say(void **state) {
  (void)state;
  struct rng r = rng_seed(7);
  for (uint32_t round = 0; round < 200000; round++) {
    uint32_t kind = rng_below(&r, 6), width = 1u << rng_below(&r, 5), groups = 1 + rng_below(&r, 40),
             odd = rng_below(&r, 8);
    uint64_t base = rng_below(&r, 4) ? 0x80000000ull + 256 * rng_below(&r, 1u << 20)
                                     : (1ull << 32) * (1 + rng_below(&r, 3)) - 128 * rng_below(&r, 40);
    uint64_t apart = 32u << rng_below(&r, 8), addr[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
      uint64_t at = 0;
      switch (kind) {
      case 0:
        at = apart * (lane % groups) + lane / groups * width;
        break;
      case 1:
        at = apart * (lane * groups / LANES) + lane * width;
        break;
      case 2:
        at = (uint64_t)lane * groups * width;
        break;
      case 3:
        at = (uint64_t)(LANES - lane) * groups * width;
        break;
      case 4:
        at = apart * rng_below(&r, groups) + width * rng_below(&r, 32);
        break;
      default:
        at = width * rng_below(&r, 1 + 4096 / width);
      }
      addr[lane] = base + at / width * width;
      if (!odd && width <= 8)
        addr[lane] += addr[lane] % 32 + 2 * width <= 32 ? rng_below(&r, width) : 0; /* not aligned */
    }
    uint32_t mask = UINT32_MAX;
    if (!rng_below(&r, 3)) mask = rng_below(&r, UINT32_MAX) | 1u << rng_below(&r, 32);
    for (uint32_t lane = 0; lane < LANES; lane++)
      if (!(mask >> lane & 1)) addr[lane] = 0xdeadbeefdeadbeefull * (lane + 1); /* whatever was there */
    static const uint32_t segments[] = {32, 64, 128, 256};
    struct coalesce_in in = {.addr = addr, .mask = mask, .width = width, .segment = segments[rng_below(&r, 4)]};
    if (width > 4) in.elem = width >> rng_below(&r, 3);
    char what[64];
    snprintf(what, sizeof what, "round %u, kind %u", round, kind);
    compare(&in, what);
  }
}

/* Atomics: no byte twice in an access; each lane joins the first access of its block that allows it. */
static void atomics(void **state) {
  (void)state;
  struct rng r = rng_seed(11);
  for (uint32_t round = 0; round < 50000; round++) {
    uint32_t width = 1u << rng_below(&r, 5), words = 1 + rng_below(&r, round % 2 ? 40 : 4000), accesses = 0;
    uint64_t addr[LANES], seen[LANES] = {0};
    struct access got[COALESCE_MAX + 2];
    uint32_t mask = rng_below(&r, 3) ? UINT32_MAX : rng_below(&r, UINT32_MAX) | 2;
    for (uint32_t i = 0; i < LANES; i++) addr[i] = 0x80000000ull + (uint64_t)width * rng_below(&r, words);
    struct coalesce_in in = {.addr = addr, .mask = mask, .width = width, .elem = width < 4 ? 4 : 0, .segment = 128};
    in.atomic = true;
    uint32_t n = coalesce_global(&in, got), lanes = 0;
    for (uint32_t i = 0; i < LANES; i++) { /* the number of earlier lanes at the same element is that of its access */
      for (uint32_t k = 0; k < i && mask >> i & 1; k++) seen[i] += (mask >> k & 1) && addr[k] == addr[i];
      uint32_t turn = 0, a = 0;
      for (; a < n && !(got[a].lanes >> i & 1); a++) turn += got[a].addr / 128 == addr[i] / 128;
      if (!(mask >> i & 1)) continue;
      assert_true(a < n && turn == seen[i]);
      assert_true(got[a].addr <= addr[i] && addr[i] + width <= got[a].addr + got[a].bytes);
      assert_true(got[a].chunks >> (addr[i] % 128 / 32) & 1);
    }
    for (uint32_t a = 0; a < n; a++) {
      assert_int_equal(lanes & got[a].lanes, 0);
      lanes |= got[a].lanes;
      accesses += got[a].lanes != 0;
      assert_true(!a || got[a - 1].addr / 128 <= got[a].addr / 128);
    }
    assert_true(lanes == mask && accesses == n);
  }
}

/* Atomics whose lanes stay together: an access for each sector that any lane touches, whose `words` counts the lanes
 * that have the bytes of an earlier one. */
static void atomics_together(void **state) {
  (void)state;
  struct rng r = rng_seed(12);
  for (uint32_t round = 0; round < 20000; round++) {
    uint64_t addr[LANES];
    uint32_t mask = rng_below(&r, 3) ? UINT32_MAX : rng_below(&r, UINT32_MAX) | 2, lanes = 0, repeats = 0, again = 0;
    struct access got[COALESCE_MAX + 2];
    for (uint32_t i = 0; i < LANES; i++) addr[i] = 0x80000000ull + 4ull * rng_below(&r, 1 + round % 400);
    struct coalesce_in in = {.addr = addr, .mask = mask, .width = 4, .segment = 32, .atomic = true, .together = true};
    uint32_t n = coalesce_global(&in, got), sectors = 0;
    for (uint32_t i = 0; i < LANES; i++) {
      bool word = false, sector = false;
      for (uint32_t k = 0; k < i && mask >> i & 1; k++) {
        word |= (mask >> k & 1) && addr[k] == addr[i];
        sector |= (mask >> k & 1) && addr[k] / 32 == addr[i] / 32;
      }
      again += word;
      sectors += (mask >> i & 1) && !sector;
    }
    for (uint32_t a = 0; a < n; a++) {
      assert_true(!(lanes & got[a].lanes) && (!a || got[a - 1].addr < got[a].addr));
      lanes |= got[a].lanes;
      repeats += got[a].words;
    }
    assert_int_equal(n, sectors);
    assert_int_equal(repeats, again);
    assert_int_equal(lanes, mask);
  }
}

/* What an H200 takes for a load of words that many bytes apart, all in its L1 (docs/notes/accuracy.md). */
static void turns(void **state) {
  (void)state;
  static const uint32_t measured[][2] = {{0, 1}, {4, 1}, {8, 2}, {16, 4}, {32, 8}, {64, 16}, {128, 32}, {512, 32}};
  for (size_t k = 0; k < sizeof measured / sizeof *measured; k++) {
    uint64_t addr[LANES];
    struct access got[COALESCE_MAX + 2];
    for (uint32_t i = 0; i < LANES; i++) addr[i] = 0x80000000ull + (uint64_t)i * measured[k][0];
    struct coalesce_in in = {.addr = addr, .mask = UINT32_MAX, .width = 4, .segment = 128};
    uint32_t n = coalesce_global(&in, got);
    assert_int_equal(coalesce_turns(got, n, 4, 128), measured[k][1]);
  }
  for (uint64_t seed = 1; seed <= 100; seed++) { /* random words of 64 KiB: 10.9 cycles on an H200 */
    struct rng r = rng_seed(seed);
    uint64_t addr[LANES];
    struct access got[COALESCE_MAX + 2];
    for (uint32_t i = 0; i < LANES; i++) addr[i] = 0x80000000ull + 4ull * rng_below(&r, 16384);
    struct coalesce_in in = {.addr = addr, .mask = UINT32_MAX, .width = 4, .segment = 128};
    uint32_t n = coalesce_global(&in, got), t = coalesce_turns(got, n, 4, 128);
    assert_in_range(t, 7, 18);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_rules_say), cmocka_unit_test(atomics),
                                     cmocka_unit_test(atomics_together), cmocka_unit_test(turns)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
