/* compress.h - sizes of lines under published compression: BDI, FPC, C-Pack. The simulator needs no compressed data,
 * only how many bytes or bits it takes.
 *
 * BDI: Pekhimenko et al., "Base-Delta-Immediate Compression", PACT 2012, Tables 2 and 3.
 * FPC: Alameldeen, Wood, "Frequent Pattern Compression", University of Wisconsin TR 1500, 2004, Table 1.
 * C-Pack: Chen et al., "C-Pack: A High-Performance Microprocessor Cache Compression Algorithm", IEEE TVLSI 18(8), 2010,
 * Table I.
 *
 * The papers' texts were not at hand: encodings, prefixes and their lengths are as recalled.
 *
 * Lines are little-endian, as on NVIDIA's GPUs, and multiples of 8 B.
 */
#ifndef SCHEMES_LIB_COMPRESS_H
#define SCHEMES_LIB_COMPRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- BDI ---- */

static inline uint64_t bdi_value(const uint8_t *line, uint32_t i, uint32_t width) {
  uint64_t v = 0;
  memcpy(&v, line + (size_t)i * width, width);
  return v;
}

/* The difference of two numbers of `width` bytes fits `delta` bytes with its sign. */
static inline bool bdi_near(uint64_t v, uint64_t base, uint32_t width, uint32_t delta) {
  uint32_t up = 64 - 8 * width;
  int64_t d = (int64_t)((v - base) << up) >> up, half = 1ll << (8 * delta - 1);
  return d >= -half && d < half;
}

/* True if each value is near zero or near the first value that is not. */
static inline bool bdi_fits(const uint8_t *line, uint32_t bytes, uint32_t width, uint32_t delta) {
  uint64_t base = 0;
  bool has = false;
  for (uint32_t i = 0; i < bytes / width; i++) {
    uint64_t v = bdi_value(line, i, width);
    if (bdi_near(v, 0, width, delta)) continue;
    if (!has) has = true, base = v;
    if (!bdi_near(v, base, width, delta)) return false;
  }
  return true;
}

/* Bytes of the line, without the bits of its encoding and of the choice of base, which lie with the tag. */
static inline uint32_t bdi_bytes(const uint8_t *line, uint32_t bytes) {
  static const uint8_t shape[][2] = {{8, 1}, {4, 1}, {8, 2}, {2, 1}, {4, 2}, {8, 4}}; /* base, delta */
  bool repeated = true;
  uint64_t first = bdi_value(line, 0, 8);
  for (uint32_t i = 1; i < bytes / 8; i++) repeated &= bdi_value(line, i, 8) == first;
  if (repeated) return first ? 8 : 1;
  uint32_t best = bytes;
  for (uint32_t k = 0; k < sizeof shape / sizeof *shape; k++) {
    uint32_t size = shape[k][0] + bytes / shape[k][0] * shape[k][1];
    if (size < best && bdi_fits(line, bytes, shape[k][0], shape[k][1])) best = size;
  }
  return best;
}

/* ---- FPC ---- */

static inline bool fpc_extends(int32_t v, uint32_t bits) {
  return v >= -(1 << (bits - 1)) && v < 1 << (bits - 1);
}

/* Bits of a word that is not zero, without its prefix. */
static inline uint32_t fpc_word_bits(uint32_t w) {
  int16_t low = (int16_t)w, high = (int16_t)(w >> 16);
  if (fpc_extends((int32_t)w, 4)) return 4;
  if (fpc_extends((int32_t)w, 8)) return 8;
  if (w == (w & 0xff) * 0x01010101u) return 8;
  if (fpc_extends((int32_t)w, 16)) return 16;
  if (!low) return 16;
  if (fpc_extends(low, 8) && fpc_extends(high, 8)) return 16;
  return 32;
}

/* Bits of the line: a prefix of 3 bits for each word, and for runs of up to eight zeros one prefix and their number. */
static inline uint32_t fpc_bits(const uint8_t *line, uint32_t bytes) {
  enum { PREFIX = 3, RUN = 3, MOST = 8 };
  uint32_t bits = 0, run = 0;
  for (uint32_t i = 0; i < bytes / 4; i++) {
    uint32_t w = (uint32_t)bdi_value(line, i, 4);
    if (w) {
      bits += PREFIX + fpc_word_bits(w);
      run = 0;
      continue;
    }
    if (!run) bits += PREFIX + RUN;
    run = (run + 1) % MOST;
  }
  return bits;
}

/* ---- C-Pack ---- */

enum { CPACK_WORDS = 16 };

/* The most bytes, from the highest one, in which a word of the dictionary equals `w`. */
static inline uint32_t cpack_match(const uint32_t *word, uint32_t words, uint32_t w) {
  uint32_t best = 0;
  for (uint32_t i = 0; i < words; i++) {
    uint32_t x = word[i] ^ w, same = !x ? 4 : x < 1u << 8 ? 3 : x < 1u << 16 ? 2 : 0;
    if (same > best) best = same;
  }
  return best;
}

/* Bits of the line. The dictionary is empty at its begin; words that it does not have whole enter it, first in first
 * out. */
static inline uint32_t cpack_bits(const uint8_t *line, uint32_t bytes) {
  uint32_t word[CPACK_WORDS], words = 0, next = 0, bits = 0;
  for (uint32_t i = 0; i < bytes / 4; i++) {
    uint32_t w = (uint32_t)bdi_value(line, i, 4), same;
    if (w < 1u << 8) { /* zzzz, zzzx */
      bits += w ? 12 : 2;
      continue;
    }
    same = cpack_match(word, words, w);
    bits += same == 4 ? 6 : same == 3 ? 16 : same == 2 ? 24 : 34; /* mmmm, mmmx, mmxx, xxxx */
    if (same == 4) continue;
    word[next] = w;
    next = (next + 1) % CPACK_WORDS;
    if (words < CPACK_WORDS) words++;
  }
  return bits;
}

#endif
