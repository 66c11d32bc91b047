/* int_eval.c - integer operations too rare for a vector handler; values travel as bits. */
#include "ptx/ptx.h"
#include "simt/ops/fp.h"
#include "simt/core/machine.h"

static int64_t sext(uint64_t v, int bits) {
  return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static uint64_t clamp(__int128 v, int bits, bool sign) {
  __int128 hi = sign ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1,
           lo = sign ? -((__int128)1 << (bits - 1)) : 0;
  return (uint64_t)(v > hi ? hi : v < lo ? lo : v);
}

static uint64_t bfe64(bool sign, uint64_t a, uint32_t pos, uint32_t len) {
  if (!len) return 0;
  uint32_t top = pos + len - 1 > 63 ? 63 : pos + len - 1;
  uint64_t fill = sign && (a >> top & 1) ? ~0ull : 0, v = 0;
  for (uint32_t k = 0; k < 64; k++) {
    uint64_t bit = k < len && pos + k < 64 ? a >> (pos + k) & 1 : fill & 1;
    v |= bit << k;
  }
  return v;
}

static uint64_t bfi64(uint64_t a, uint64_t b, uint32_t pos, uint32_t len) {
  for (uint32_t k = 0; k < len && pos + k < 64; k++) b = (b & ~(1ull << (pos + k))) | (a >> k & 1) << (pos + k);
  return b;
}

static uint64_t bfind(bool sign, bool shiftamt, int bits, uint64_t a) {
  if (sign && sext(a, bits) < 0) a = ~a;
  if (bits < 64) a &= (1ull << bits) - 1;
  if (!a) return 0xFFFFFFFFu;
  uint32_t top = 63 - (uint32_t)__builtin_clzll(a);
  return shiftamt ? (uint32_t)bits - 1 - top : top;
}

static uint64_t brev64(uint64_t a) {
  uint64_t r = 0;
  for (int k = 0; k < 64; k++) r |= (a >> k & 1) << (63 - k);
  return r;
}

/* The n-th set bit at or after (before, if n < 0) `base`. */
static uint64_t fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == 0) return mask >> (base & 31) & 1 ? base : 0xFFFFFFFFu;
  int count = offset > 0 ? offset : -offset;
  for (int pos = (int)base; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
    if ((mask >> pos & 1) && !--count) return (uint32_t)pos;
  return 0xFFFFFFFFu;
}

static uint64_t dot(bool sa, bool sb, int n, bool hi, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = c;
  for (int k = 0; k < n; k++) {
    int64_t x, y;
    if (n == 4) {
      x = sa ? (int8_t)(a >> 8 * k) : (uint8_t)(a >> 8 * k);
      y = sb ? (int8_t)(b >> 8 * k) : (uint8_t)(b >> 8 * k);
    } else {
      int byte = 2 * hi + k;
      x = sa ? (int16_t)(a >> 16 * k) : (uint16_t)(a >> 16 * k);
      y = sb ? (int8_t)(b >> 8 * byte) : (uint8_t)(b >> 8 * byte);
    }
    r += (uint32_t)(x * y);
  }
  return r;
}

static uint64_t pair(enum int_op op, bool sign, uint32_t a, uint32_t b) {
  uint32_t r = 0;
  for (int k = 0; k < 2; k++) {
    int x = sign ? (int16_t)(a >> 16 * k) : (uint16_t)(a >> 16 * k),
        y = sign ? (int16_t)(b >> 16 * k) : (uint16_t)(b >> 16 * k);
    int v = op == INT_ADD2 ? x + y : op == INT_SUB2 ? x - y : op == INT_MIN2 ? (x < y ? x : y) : (x > y ? x : y);
    r |= (uint32_t)(v & 0xFFFF) << 16 * k;
  }
  return r;
}

uint64_t int_eval(enum int_op op, int type, int type2, uint32_t flags, const uint64_t v[4]) {
  const uint64_t a = v[0], b = v[1], c = v[2], d = v[3];
  int bits = 8 * ptx_type_bytes[type];
  bool sign = ptx_type_kinds[type] == 's', hi = flags & XF_HI, sat = flags & XF_SAT;
  switch (op) {
  case INT_POPC:
    return (uint64_t)__builtin_popcountll(a);
  case INT_CLZ:
    return a ? (uint64_t)__builtin_clzll(a) - (64 - (uint64_t)bits) : (uint64_t)bits;
  case INT_BREV:
    return brev64(a);
  case INT_BFIND:
    return bfind(sign, hi, bits, a);
  case INT_CNOT:
    return !(bits == 64 ? a : a & ((1ull << bits) - 1));
  case INT_BFE:
    return bfe64(sign, a, (uint32_t)b & 0xFF, (uint32_t)c & 0xFF);
  case INT_BFI:
    return bfi64(a, b, (uint32_t)c & 0xFF, (uint32_t)d & 0xFF);
  case INT_MUL24:
  case INT_MAD24: {
    int64_t p = sign ? sext(a, 24) * sext(b, 24) : (int64_t)((a & 0xFFFFFF) * (b & 0xFFFFFF));
    int64_t r = hi ? p >> 16 : p;
    if (op == INT_MUL24) return (uint32_t)r;
    return sat && hi ? (uint32_t)clamp((__int128)(int32_t)r + (sign ? (int32_t)c : (int64_t)(uint32_t)c), 32, sign)
                     : (uint32_t)(r + (int64_t)c);
  }
  case INT_MADSAT:
    return (uint32_t)clamp((((__int128)sext(a, 32) * sext(b, 32)) >> 32) + sext(c, 32), 32, true);
  case INT_ADDSAT:
    return clamp((__int128)sext(a, bits) + sext(b, bits), bits, true);
  case INT_SUBSAT:
    return clamp((__int128)sext(a, bits) - sext(b, bits), bits, true);
  case INT_ADD2:
  case INT_SUB2:
  case INT_MIN2:
  case INT_MAX2:
    return pair(op, type == T_S16X2, (uint32_t)a, (uint32_t)b);
  case INT_FNS:
    return fns((uint32_t)a, (uint32_t)b, (int32_t)c);
  case INT_BMSK: {
    uint32_t p = (uint32_t)a, n = (uint32_t)b;
    if (hi) p &= 31, n &= 31;
    if (p > 31 || !n) return 0;
    uint64_t m = (n > 31 ? 0xFFFFFFFFull : (1ull << n) - 1) << p;
    return m & 0xFFFFFFFFull;
  }
  case INT_DP4A:
    return dot(type == T_S32, type2 == T_S32, 4, false, (uint32_t)a, (uint32_t)b, (uint32_t)c);
  default:
    return dot(type == T_S32, type2 == T_S32, 2, hi, (uint32_t)a, (uint32_t)b, (uint32_t)c);
  }
}
