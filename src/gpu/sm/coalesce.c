/* coalesce.c - coalescing rules and shared-memory bank conflicts. See coalesce.h. */
#include "gpu/sm/coalesce.h"

#include <string.h>
#ifdef __SSE4_1__
#include <immintrin.h>
#endif

enum { LANES = 32 };

/* Index of the access for block `block` in the ascending list, inserting it if it is new. */
static uint32_t place_block(struct access *out, uint32_t *n, uint64_t block) {
  uint32_t i = *n;
  while (i > 0 && out[i - 1].addr > block) i--;
  if (i > 0 && out[i - 1].addr == block) return i - 1;
  if (i < *n) memmove(out + i + 1, out + i, (*n - i) * sizeof *out);
  out[i] = (struct access){.addr = block};
  ++*n;
  return i;
}

static void shrink(struct access *a, uint32_t segment) {
  uint32_t size = segment;
  if (size == 256) {
    bool low = a->words & 0xffff, high = a->words >> 16;
    if (low && high) {
      a->bytes = size;
      return;
    }
    if (high) a->addr += 128, a->chunks >>= 4, a->words >>= 16;
    size = 128;
  }
  uint32_t first = (uint32_t)(a->addr & 127) / 32;
  uint32_t sectors = a->chunks >> first; /* relative to the segment */
  uint64_t addr = a->addr;
  if (size == 128) {
    bool low = sectors & 3, high = sectors & 12;
    if (low != high) {
      if (high) addr += 64, sectors >>= 2;
      size = 64;
    }
  }
  if (size == 64) {
    bool low = sectors & 1, high = sectors & 2;
    if (low != high) {
      if (high) addr += 32;
      size = 32;
    }
  }
  a->addr = addr;
  a->bytes = size;
}

static uint32_t segment_size(const struct coalesce_in *in) {
  uint32_t elem = in->elem ? in->elem : in->width;
  if (elem == 1) return 32;
  if (in->segment == 256 && in->width > 4 && elem >= 4) return 256;
  uint32_t s = elem == 2 ? 64 : 128;
  return in->segment < s ? in->segment : s;
}

/* The bytes of an element within 128. */
static inline void bytes_of(uint32_t off, uint32_t width, uint64_t *bits) {
  uint64_t all = width < 64 ? (1ull << width) - 1 : UINT64_MAX;
  bits[0] = bits[1] = 0;
  bits[off / 64] = all << off % 64;
  if (off < 64 && off % 64 + width > 64) bits[1] = all >> (64 - off % 64);
}

/* The first of `n` positions in the order of addresses that is not below `block`. */
static inline uint32_t not_below(const struct access *at, const uint8_t *order, uint32_t n, uint64_t block) {
  uint32_t from = 0;
  while (n) {
    uint32_t half = n / 2;
    bool below = at[order[from + half]].addr < block;
    from = below ? from + half + 1 : from;
    n = below ? n - half - 1 : half;
  }
  return from;
}

static uint32_t coalesce_atomic(const struct coalesce_in *in, struct access *out, uint32_t segment) {
  /* Accesses as they come, their order, and the bytes of each so far; a lane joins the first access of its block with
   * none of its bytes touched. */
  struct access made[32];
  uint8_t order[32];
  uint64_t used[32][2], bits[2];
  uint32_t n = 0;
  for (uint32_t m = in->mask; m; m &= m - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(m), off = (uint32_t)(in->addr[lane] & 127);
    uint64_t block = in->addr[lane] & ~(uint64_t)(segment - 1);
    bytes_of(off, in->width, bits);
    uint32_t i = not_below(made, order, n, block), k = n;
    for (; i < n && made[order[i]].addr == block; i++)
      if (in->together || !((used[order[i]][0] & bits[0]) | (used[order[i]][1] & bits[1]))) {
        k = order[i];
        break;
      }
    if (k == n) {
      memmove(order + i + 1, order + i, n++ - i);
      order[i] = (uint8_t)k;
      made[k] = (struct access){.addr = block};
      used[k][0] = used[k][1] = 0;
    }
    made[k].lanes |= 1u << lane;
    made[k].chunks |= 1u << (off / 32);
    made[k].words += ((used[k][0] & bits[0]) | (used[k][1] & bits[1])) != 0;
    used[k][0] |= bits[0];
    used[k][1] |= bits[1];
  }
  for (uint32_t i = 0; i < n; i++) {
    out[i] = made[order[i]];
    shrink(&out[i], segment);
  }
  return n;
}

/* A whole warp on consecutive, aligned elements: equals the general loop below, segment by segment. */
static uint32_t coalesce_dense(const struct coalesce_in *in, uint32_t segment, struct access *out) {
  uint64_t within = segment > 128 ? 255 : 127, first = in->addr[0], end = first + 32ull * in->width;
  uint32_t n = 0, lane = 0;
  for (uint64_t at = first; at < end; n++) {
    uint64_t block = at & ~(uint64_t)(segment - 1), next = block + segment < end ? block + segment : end;
    uint32_t lanes = (uint32_t)(next - at) >> __builtin_ctz(in->width), w0 = (uint32_t)(at & within) / 8;
    uint32_t w1 = (uint32_t)((next - 1) & within) / 8, c0 = w0 / 4, c1 = w1 / 4;
    out[n] = (struct access){.addr = block};
    out[n].lanes = (lanes == 32 ? UINT32_MAX : (1u << lanes) - 1) << lane;
    out[n].words = (uint32_t)((2ull << (w1 - w0)) - 1) << w0;
    out[n].chunks = ((2u << (c1 - c0)) - 1) << c0;
    lane += lanes;
    at = next;
  }
  for (uint32_t i = 0; i < n; i++) shrink(&out[i], segment);
  return n;
}

static bool is_dense(const struct coalesce_in *in) {
  if (in->mask != UINT32_MAX || in->addr[0] & (in->width - 1) || in->width & (in->width - 1)) return false;
  uint64_t off = 0;
  for (uint32_t i = 0; i < 32; i++) off |= in->addr[i] ^ (in->addr[0] + (uint64_t)i * in->width);
  return !off;
}

/* The 32 B sectors with a word in `words`. */
static inline uint32_t sectors_of_words(uint32_t words) {
  uint32_t any = words | words >> 1;
  any = (any | any >> 2) & 0x11111111u;
  any = (any | any >> 3) & 0x03030303u;
  any = (any | any >> 6) & 0x000f000fu;
  return (any | any >> 12) & 0xff;
}

/* Lanes that each lie in one segment, aligned to their power of two of at most 16 bytes: equals the loop in
 * coalesce_global, with segments found by hash and sorted at the end. False: not aligned. */
static bool coalesce_aligned(const struct coalesce_in *in, uint32_t segment, struct access *out, uint32_t *count) {
  uint64_t key[LANES], bad = 0, within = segment > 128 ? 255 : 127;
  uint32_t lanes[LANES], words[LANES], n = 0, shift = (uint32_t)__builtin_ctz(segment);
  uint32_t span = in->width > 8 ? 3 : 1;
  uint8_t slot[64] = {0}; /* by hash: a segment with that hash, + 1 */
  for (uint32_t m = in->mask; m; m &= m - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(m), i;
    uint64_t addr = in->addr[lane], block = addr >> shift;
    uint8_t *at = &slot[(block ^ block >> 6) & 63];
    bad |= addr;
    if (*at && key[*at - 1] == block) {
      i = *at - 1u;
    } else {
      for (i = *at ? 0 : n; i < n && key[i] != block; i++) {
      }
      if (i == n) key[n] = block, lanes[n] = words[n] = 0, n++;
      *at = (uint8_t)(i + 1);
    }
    lanes[i] |= 1u << lane;
    words[i] |= span << (addr & within) / 8;
  }
  if (bad & (in->width - 1)) return false;
  uint8_t order[LANES];
  for (uint32_t i = 0; i < n; i++) {
    uint32_t k = i;
    for (; k && key[order[k - 1]] > key[i]; k--) order[k] = order[k - 1];
    order[k] = (uint8_t)i;
  }
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = order[k];
    out[k] = (struct access){
        .addr = key[i] << shift, .lanes = lanes[i], .chunks = sectors_of_words(words[i]), .words = words[i]};
    shrink(&out[k], segment);
  }
  *count = n;
  return true;
}

/* The same for lanes in ascending segments, the usual case: no search and no sort. 0: some lane descends, or is not
 * aligned. */
static uint32_t coalesce_rising(const struct coalesce_in *in, uint32_t segment, struct access *out) {
  uint64_t bad = 0, within = segment > 128 ? 255 : 127, last = UINT64_MAX;
  uint32_t n = 0, shift = (uint32_t)__builtin_ctz(segment), span = in->width > 8 ? 3 : 1, lanes = 0, words = 0;
  for (uint32_t m = in->mask; m; m &= m - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(m);
    uint64_t addr = in->addr[lane], block = addr >> shift;
    bad |= addr;
    if (block != last) {
      if (n) {
        if (block < last) return 0;
        out[n - 1] =
            (struct access){.addr = last << shift, .lanes = lanes, .chunks = sectors_of_words(words), .words = words};
      }
      n++;
      last = block;
      lanes = words = 0;
    }
    lanes |= 1u << lane;
    words |= span << (addr & within) / 8;
  }
  if (bad & (in->width - 1)) return 0;
  out[n - 1] =
      (struct access){.addr = last << shift, .lanes = lanes, .chunks = sectors_of_words(words), .words = words};
  for (uint32_t i = 0; i < n; i++) shrink(&out[i], segment);
  return n;
}

#ifdef __SSE4_1__
/* Lanes of `key` that equal `k`, as a byte each: lanes 0 to 15, and 16 to 31. */
static inline void lanes_equal(const __m128i key[LANES / 4], uint32_t k, __m128i eq[2]) {
  __m128i v = _mm_set1_epi32((int)k);
  for (uint32_t h = 0; h < 2; h++) {
    const __m128i *q = key + 4 * h;
    __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(q[0], v), _mm_cmpeq_epi32(q[1], v));
    __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(q[2], v), _mm_cmpeq_epi32(q[3], v));
    eq[h] = _mm_packs_epi16(low, high);
  }
}

static inline uint32_t any_byte(__m128i v) {
  uint64_t x = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(v, _mm_unpackhi_epi64(v, v)));
  x |= x >> 32;
  x |= x >> 16;
  return (uint32_t)(x | x >> 8) & 0xff;
}

/* The same for warps with several lanes per segment, all lanes at a time, segment by segment in order of first lanes.
 * 0: too few lanes share a segment, or they are not aligned, some are missing, or they span more than 4 GB. */
static uint32_t coalesce_few(const struct coalesce_in *in, uint32_t segment, struct access *out) {
  enum { SHARE = 3 }; /* minimum lanes of the first segment */
  if (in->mask != UINT32_MAX || segment > 128) return 0;
  const __m128i *addr = (const __m128i *)(const void *)in->addr;
  __m128i low[LANES / 4], key[LANES / 4], first = _mm_set1_epi64x((int64_t)in->addr[0]), apart = _mm_setzero_si128();
  __m128i block = _mm_set1_epi32(-(int)segment), eq[2];
  for (uint32_t i = 0; i < LANES / 4; i++) {
    __m128i a = _mm_loadu_si128(addr + 2 * i), b = _mm_loadu_si128(addr + 2 * i + 1);
    apart = _mm_or_si128(apart, _mm_or_si128(_mm_xor_si128(a, first), _mm_xor_si128(b, first)));
    low[i] = _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _MM_SHUFFLE(2, 0, 2, 0)));
    key[i] = _mm_and_si128(low[i], block);
  }
  apart = _mm_or_si128(apart, _mm_unpackhi_epi64(apart, apart));
  uint64_t differ = (uint64_t)_mm_cvtsi128_si64(apart) | (in->addr[0] & (in->width - 1));
  if (differ >> 32 || differ & (in->width - 1)) return 0;
  lanes_equal(key, (uint32_t)in->addr[0] & -segment, eq);
  uint32_t lanes = (uint32_t)_mm_movemask_epi8(eq[0]) | (uint32_t)_mm_movemask_epi8(eq[1]) << 16;
  if (__builtin_popcount(lanes) < SHARE) return 0;
  /* Per lane, the bit of its word: words 0 to 7, and 8 to 15. */
  const __m128i bit = _mm_set_epi64x(0, (int64_t)0x8040201008040201),
                next = _mm_set_epi64x((int64_t)0x8040201008040201, 0);
  __m128i word[2][2];
  for (uint32_t h = 0; h < 2; h++) {
    __m128i w[4];
    for (uint32_t i = 0; i < 4; i++) w[i] = _mm_and_si128(_mm_srli_epi32(low[4 * h + i], 3), _mm_set1_epi32(15));
    __m128i of = _mm_packus_epi16(_mm_packs_epi32(w[0], w[1]), _mm_packs_epi32(w[2], w[3]));
    word[h][0] = _mm_shuffle_epi8(bit, of);
    word[h][1] = _mm_shuffle_epi8(next, of);
  }
  uint64_t above = in->addr[0] >> 32 << 32;
  uint32_t n = 0, span = in->width > 8 ? 3 : 1;
  for (uint32_t left = UINT32_MAX;;) {
    uint32_t lane = (uint32_t)__builtin_ctz(left);
    uint32_t words = any_byte(_mm_or_si128(_mm_and_si128(eq[0], word[0][0]), _mm_and_si128(eq[1], word[1][0])));
    words |= any_byte(_mm_or_si128(_mm_and_si128(eq[0], word[0][1]), _mm_and_si128(eq[1], word[1][1]))) << 8;
    words *= span; /* 16 bytes are two words, the first one even */
    uint64_t addr_of = above | ((uint32_t)in->addr[lane] & -segment);
    uint32_t k = n++;
    for (; k && out[k - 1].addr > addr_of; k--) out[k] = out[k - 1];
    out[k] = (struct access){.addr = addr_of, .lanes = lanes, .chunks = sectors_of_words(words), .words = words};
    if (!(left &= ~lanes)) break;
    lane = (uint32_t)__builtin_ctz(left);
    lanes_equal(key, (uint32_t)in->addr[lane] & -segment, eq);
    lanes = (uint32_t)_mm_movemask_epi8(eq[0]) | (uint32_t)_mm_movemask_epi8(eq[1]) << 16;
  }
  for (uint32_t i = 0; i < n; i++) shrink(&out[i], segment);
  return n;
}
#else
static uint32_t coalesce_few(const struct coalesce_in *in, uint32_t segment, struct access *out) {
  (void)in, (void)segment, (void)out;
  return 0;
}
#endif

uint32_t coalesce_global(const struct coalesce_in *in, struct access *out) {
  uint32_t segment = segment_size(in), n = 0, last = 0;
  uint64_t within = segment > 128 ? 255 : 127;
  if (in->atomic) return coalesce_atomic(in, out, segment);
  if (in->addr[1] - in->addr[0] == in->width && is_dense(in)) return coalesce_dense(in, segment, out);
  if (in->width <= 16 && !(in->width & (in->width - 1))) {
    if ((n = coalesce_few(in, segment, out))) return n;
    if ((n = coalesce_rising(in, segment, out))) return n;
    if (coalesce_aligned(in, segment, out, &n)) return n;
    n = 0;
  }
  for (uint32_t m = in->mask; m; m &= m - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(m);
    uint64_t addr = in->addr[lane], end = addr + in->width - 1;
    for (uint64_t at = addr;; at = end) { /* with narrow segments a lane may straddle two */
      uint64_t block = at & ~(uint64_t)(segment - 1);
      if (!(n && out[last].addr == block)) last = place_block(out, &n, block);
      out[last].lanes |= 1u << lane;
      uint32_t w0 = (uint32_t)(at & within) / 8, w1 = w0;
      if ((end & ~within) == (at & ~within) && (end & ~(uint64_t)(segment - 1)) == block)
        w1 = (uint32_t)(end & within) / 8;
      out[last].words |= ((2u << (w1 - w0)) - 1) << w0;
      for (uint32_t c = w0 / 4; c <= w1 / 4; c++) out[last].chunks |= 1u << c;
      if ((end & ~(uint64_t)(segment - 1)) == block) break;
    }
  }
  for (uint32_t i = 0; i < n; i++) shrink(&out[i], segment);
  return n;
}

uint32_t coalesce_sectors(const struct access *a, uint32_t line) {
  if (a->bytes > line) return 0;
  uint32_t first = (uint32_t)(a->addr & 127 & ~(uint64_t)(line - 1)) / 32;
  return a->chunks >> first & ((1u << line / 32) - 1);
}

uint32_t coalesce_whole(const struct access *a, uint32_t line) {
  uint64_t block = a->addr & ~(uint64_t)(a->bytes > 128 ? 255 : 127), start = a->addr & ~(uint64_t)(line - 1);
  uint32_t mask = 0;
  for (uint32_t k = 0; k < 8; k++) {
    uint64_t at = block + 32 * k - start; /* wraps before the line */
    if ((a->words >> 4 * k & 15) == 15 && at < line) mask |= 1u << (at / 32);
  }
  return mask;
}

uint32_t coalesce_lines(const uint64_t *addr, uint32_t mask, uint32_t line, struct access *out) {
  uint32_t n = 0, last = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(m);
    uint64_t block = addr[lane] & ~(uint64_t)(line - 1);
    if (!(n && out[last].addr == block)) last = place_block(out, &n, block);
    out[last].lanes |= 1u << lane;
    out[last].bytes = line;
    out[last].chunks = (1u << ((line + 31) / 32)) - 1;
  }
  return n;
}

uint32_t coalesce_shared(const uint64_t *addr, uint32_t mask, uint32_t banks) {
  uint64_t words[LANES];
  uint8_t per_bank[64] = {0}, last[64] = {0}, before[LANES]; /* the words of a bank, newest first: last, then before */
  uint32_t n = 0, most = 1;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t word = addr[__builtin_ctz(m)] >> 2;
    uint32_t bank = word & (banks - 1), left = per_bank[bank], i = last[bank];
    for (; left && words[i] != word; left--) i = before[i];
    if (left) continue;
    before[n] = last[bank];
    words[n] = word;
    last[bank] = (uint8_t)n++;
    if (++per_bank[bank] > most) most = per_bank[bank];
  }
  return most;
}

uint32_t coalesce_turns(const struct access *a, uint32_t n, uint32_t banks, uint32_t line) {
  uint32_t tags[8] = {0}, data[32] = {0}, most = 1;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t *bank = &tags[a[i].addr / line % banks];
    if (++*bank > most) most = *bank;
    for (uint32_t m = a[i].words; m; m &= m - 1) {
      uint32_t *words = &data[__builtin_ctz(m)];
      if (++*words > most) most = *words;
    }
  }
  return most;
}
