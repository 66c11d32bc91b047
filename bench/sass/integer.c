/* integer.c - operations on integers, bits and predicates. */
#include <stdlib.h>

#include "exec.h"
#include "ops.h"

/* ---- sums ---- */

/* Rd[, P[, P]], a, b, c[, P, P]: carries of the sum. A negative operand is its complement and one more. */
OP(iadd3) {
  const struct sass *i = s->i;
  unsigned a = 1;
  while (i->o[a].kind == O_PRED) a++;
  EACH_LANE(s, lane) {
    uint64_t sum = 0;
    for (unsigned k = a; k < a + 3; k++) {
      struct operand o = i->o[k];
      bool neg = o.neg;
      o.neg = false;
      uint32_t v = get(s, &o, lane);
      sum += neg ? (uint64_t)(uint32_t)~v + 1 : v;
    }
    for (unsigned k = a + 3; k < i->n && IS(i, X); k++) sum += getp(s, &i->o[k], lane);
    for (unsigned k = 1; k < a; k++) putp(s, &i->o[k], lane, (sum >> 32) >= k);
    put(s, &i->o[0], lane, (uint32_t)sum);
  }
}

static int64_t extended(uint32_t v, bool is_signed) {
  return is_signed ? (int32_t)v : (int64_t)v;
}

OP(imad) {
  const struct sass *i = s->i;
  unsigned a = 1 + (i->o[1].kind == O_PRED);
  bool wide = IS(i, WIDE), hi = IS(i, HI), is_signed = !IS(i, U32);
  EACH_LANE(s, lane) {
    if (!wide && !hi) {
      uint32_t v = get(s, &i->o[a], lane) * get(s, &i->o[a + 1], lane) + get(s, &i->o[a + 2], lane);
      if (IS(i, X)) v += getp(s, last(i, 1), lane);
      put(s, &i->o[0], lane, v);
      continue;
    }
    uint64_t p =
        (uint64_t)(extended(get(s, &i->o[a], lane), is_signed) * extended(get(s, &i->o[a + 1], lane), is_signed));
    uint64_t c = raw64(s, &i->o[a + 2], lane);
    if (i->o[a + 2].neg) c = 0 - c;
    unsigned __int128 sum = (unsigned __int128)p + c + (IS(i, X) && getp(s, last(i, 1), lane));
    if (a == 2) putp(s, &i->o[1], lane, (bool)(sum >> 64));
    if (wide) put64(s, &i->o[0], lane, (uint64_t)sum);
    else put(s, &i->o[0], lane, (uint32_t)(sum >> 32));
  }
}

/* Rd[, P], a, b[, c], shift[, P]: (a << shift) + b, or its upper half of c:a. */
OP(lea) {
  const struct sass *i = s->i;
  unsigned a = 1 + (i->o[1].kind == O_PRED), tail = i->n - (last(i, 1)->kind == O_PRED && i->n > a + 3);
  unsigned shift_at = tail - 1;
  bool hi = IS(i, HI), has_c = hi && !IS(i, SX32);
  EACH_LANE(s, lane) {
    unsigned shift = i->o[shift_at].number & 31;
    uint64_t v = raw(s, &i->o[a], lane);
    if (IS(i, SX32)) v = (uint64_t)(int64_t)(int32_t)v;
    if (has_c) v |= (uint64_t)raw(s, &i->o[a + 2], lane) << 32;
    if (i->o[a].neg) v = 0 - v;
    if (i->o[a].inv) v = ~v;
    uint64_t sum = (uint32_t)(hi ? shift ? v >> (32 - shift) : v >> 32 : v << shift);
    if (i->o[a + 1].neg) sum += (uint64_t)(uint32_t)~raw(s, &i->o[a + 1], lane) + 1;
    else sum += get(s, &i->o[a + 1], lane);
    if (IS(i, X)) sum += getp(s, last(i, 1), lane);
    if (a == 2) putp(s, &i->o[1], lane, (bool)(sum >> 32));
    put(s, &i->o[0], lane, (uint32_t)sum);
  }
}

OP(iabs) {
  EACH_LANE(s, lane) {
    uint32_t v = get(s, &s->i->o[1], lane);
    put(s, &s->i->o[0], lane, (int32_t)v < 0 ? 0 - v : v);
  }
}

OP(imnmx) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    uint32_t a = get(s, &i->o[1], lane), b = get(s, &i->o[2], lane);
    bool less = IS(i, U32) ? a < b : (int32_t)a < (int32_t)b;
    put(s, &i->o[0], lane, less == getp(s, &i->o[3], lane) ? a : b);
  }
}

OP(vabsdiff) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    int64_t a = extended(get(s, &i->o[1], lane), !IS(i, U32)), b = extended(get(s, &i->o[2], lane), !IS(i, U32));
    put(s, &i->o[0], lane, (uint32_t)(a > b ? a - b : b - a) + get(s, &i->o[3], lane));
  }
}

/* ---- logic, shifts, bytes ---- */

static uint32_t lut(uint32_t a, uint32_t b, uint32_t c, unsigned table) {
  uint32_t v = 0;
  for (unsigned k = 0; k < 8; k++)
    if (table >> k & 1) v |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return v;
}

OP(lop3) {
  const struct sass *i = s->i;
  unsigned d = i->o[0].kind == O_PRED;
  EACH_LANE(s, lane) {
    uint32_t v =
        lut(get(s, &i->o[d + 1], lane), get(s, &i->o[d + 2], lane), get(s, &i->o[d + 3], lane), i->o[d + 4].number);
    bool with = getp(s, &i->o[d + 5], lane);
    put(s, &i->o[d], lane, v);
    if (d) putp(s, &i->o[0], lane, IS(i, PAND) ? v && with : v || with);
  }
}

/* P, P, a, b, c, table, table */
OP(plop3) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    unsigned a = getp(s, &i->o[2], lane), b = getp(s, &i->o[3], lane), c = getp(s, &i->o[4], lane);
    unsigned k = a << 2 | b << 1 | c;
    putp(s, &i->o[0], lane, i->o[5].number >> k & 1);
    putp(s, &i->o[1], lane, i->o[6].number >> k & 1);
  }
}

/* Rd, a, shift, c: of c:a, the lower or upper half. */
OP(shf) {
  const struct sass *i = s->i;
  bool is64 = IS(i, U64) || IS(i, S64), is_signed = IS(i, S32) || IS(i, S64);
  unsigned most = is64 ? 64 : 32;
  EACH_LANE(s, lane) {
    uint32_t n = get(s, &i->o[2], lane), c = get(s, &i->o[3], lane);
    uint64_t v = get(s, &i->o[1], lane) | (uint64_t)c << 32;
    n = IS(i, W) ? n & (most - 1) : n > most ? most : n;
    unsigned __int128 big = is_signed ? (unsigned __int128)(__int128)(int64_t)v : v;
    uint64_t out = (uint64_t)(IS(i, R) ? big >> n : big << n);
    put(s, &i->o[0], lane, (uint32_t)(IS(i, HI) ? out >> 32 : out));
  }
}

OP(prmt) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    uint64_t v = get(s, &i->o[1], lane) | (uint64_t)get(s, &i->o[3], lane) << 32;
    uint32_t pick = get(s, &i->o[2], lane), out = 0;
    for (unsigned b = 0; b < 4; b++) {
      uint8_t byte = (uint8_t)(v >> 8 * (pick >> 4 * b & 7));
      if (pick >> 4 * b & 8) byte = byte & 0x80 ? 0xff : 0;
      out |= (uint32_t)byte << 8 * b;
    }
    put(s, &i->o[0], lane, out);
  }
}

OP(popc) {
  EACH_LANE(s, lane) put(s, &s->i->o[0], lane, (uint32_t)__builtin_popcount(get(s, &s->i->o[1], lane)));
}

OP(flo) {
  EACH_LANE(s, lane) {
    uint32_t v = get(s, &s->i->o[1], lane);
    if (!IS(s->i, U32) && (int32_t)v < 0) v = ~v;
    uint32_t at = v ? 31 - (uint32_t)__builtin_clz(v) : UINT32_MAX;
    put(s, &s->i->o[0], lane, v && IS(s->i, SH) ? 31 - at : at);
  }
}

OP(brev) {
  EACH_LANE(s, lane) {
    uint32_t v = get(s, &s->i->o[1], lane), out = 0;
    for (unsigned b = 0; b < 32; b++) out |= (v >> b & 1) << (31 - b);
    put(s, &s->i->o[0], lane, out);
  }
}

OP(bmsk) {
  EACH_LANE(s, lane) {
    uint32_t at = get(s, &s->i->o[1], lane) & (IS(s->i, W) ? 31 : ~0u), n = get(s, &s->i->o[2], lane);
    uint64_t ones = n > 31 ? UINT32_MAX : (1ull << n) - 1;
    put(s, &s->i->o[0], lane, at > 31 ? 0 : (uint32_t)(ones << at));
  }
}

OP(sgxt) {
  EACH_LANE(s, lane) {
    uint32_t v = get(s, &s->i->o[1], lane), n = get(s, &s->i->o[2], lane);
    if (IS(s->i, W)) n &= 31;
    if (n < 32 && !n) v = 0;
    else if (n < 32) v = IS(s->i, U32) ? v << (32 - n) >> (32 - n) : (uint32_t)((int32_t)(v << (32 - n)) >> (32 - n));
    put(s, &s->i->o[0], lane, v);
  }
}

OP(mov) {
  EACH_LANE(s, lane) put(s, &s->i->o[0], lane, get(s, &s->i->o[1], lane));
}

OP(sel) {
  EACH_LANE(s, lane)
  put(s, &s->i->o[0], lane, get(s, &s->i->o[getp(s, &s->i->o[3], lane) ? 1 : 2], lane));
}

/* ---- comparisons ---- */

static bool joined(const struct sass *i, bool v, bool with) {
  return IS(i, OR) ? v || with : IS(i, XOR) ? v != with : v && with;
}

OP(isetp) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    int64_t a = extended(get(s, &i->o[2], lane), !IS(i, U32)), b = extended(get(s, &i->o[3], lane), !IS(i, U32));
    bool v = (IS(i, LT) && a < b) || (IS(i, LE) && a <= b) || (IS(i, GT) && a > b) || (IS(i, GE) && a >= b) ||
             (IS(i, EQ) && a == b) || (IS(i, NE) && a != b);
    if (IS(i, EX) && a == b) v = getp(s, &i->o[5], lane);
    bool with = getp(s, &i->o[4], lane);
    putp(s, &i->o[0], lane, joined(i, v, with));
    putp(s, &i->o[1], lane, joined(i, !v, with));
  }
}

OP(p2r) {
  const struct sass *i = s->i; /* Rd, PR, a, mask */
  EACH_LANE(s, lane) {
    uint32_t v = 0, mask = get(s, last(i, 1), lane);
    for (unsigned p = 0; p < 7; p++) v |= (s->w->p[p] >> lane & 1) << p;
    put(s, &i->o[0], lane, (get(s, &i->o[2], lane) & ~mask) | (v & mask));
  }
}

OP(r2p) {
  const struct sass *i = s->i; /* PR, a, mask */
  EACH_LANE(s, lane) {
    uint32_t v = get(s, &i->o[1], lane), mask = get(s, &i->o[2], lane);
    for (uint8_t p = 0; p < 7; p++)
      if (mask >> p & 1) putp(s, &(struct operand){.reg = p}, lane, v >> p & 1);
  }
}

/* ---- between lanes ---- */

/* P, Rd, a, lane, clamp: lanes read what lanes had that execute the instruction with them. */
OP(shfl) {
  const struct sass *i = s->i;
  uint32_t before[LANES];
  for (unsigned lane = 0; lane < LANES; lane++) before[lane] = raw(s, &i->o[2], lane);
  EACH_LANE(s, lane) {
    uint32_t b = get(s, &i->o[3], lane) & 31, c = get(s, &i->o[4], lane), most = c & 31, seg = c >> 8 & 31;
    uint32_t max = (lane & seg) | (most & ~seg), min = lane & seg, from = lane;
    bool ok = true;
    if (IS(i, UP)) from = lane - b, ok = (int32_t)from >= (int32_t)max;
    else if (IS(i, DOWN)) from = lane + b, ok = from <= max;
    else if (IS(i, BFLY)) from = lane ^ b, ok = from <= max;
    else from = min | (b & ~seg), ok = from <= max;
    if (!ok) from = lane;
    put(s, &i->o[1], lane, before[from & 31]);
    putp(s, &i->o[0], lane, ok);
  }
}

/* [Rd, ]P, a */
OP(vote) {
  const struct sass *i = s->i;
  unsigned d = i->o[0].kind == O_REG;
  uint32_t holds = 0;
  EACH_LANE(s, lane) holds |= (uint32_t)getp(s, &i->o[d + 1], lane) << lane;
  bool v = IS(i, ALL) ? holds == s->mask : IS(i, EQ) ? !holds || holds == s->mask : holds != 0;
  EACH_LANE(s, lane) {
    if (d) put(s, &i->o[0], lane, holds);
    putp(s, &i->o[d], lane, v);
  }
}

/* [P, ]Rd, a */
OP(match) {
  const struct sass *i = s->i;
  unsigned d = i->o[0].kind == O_PRED;
  uint32_t before[LANES];
  for (unsigned lane = 0; lane < LANES; lane++) before[lane] = raw(s, &i->o[d + 1], lane);
  EACH_LANE(s, lane) {
    uint32_t same = 0;
    for (unsigned k = 0; k < LANES; k++)
      if ((s->mask >> k & 1) && before[k] == before[lane]) same |= 1u << k;
    if (d) putp(s, &i->o[0], lane, same == s->mask);
    put(s, &i->o[d], lane, IS(i, ALL) && same != s->mask ? 0 : same);
  }
}
