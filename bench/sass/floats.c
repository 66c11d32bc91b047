/* floats.c - operations on floating point, and conversions. */
#include <fenv.h>
#include <stdlib.h>

#include "exec.h"
#include "ops.h"

/* Arithmetic rounds as the modifier says; volatile keeps it between the two settings. */
static void round_as(const struct sass *i) {
  if (IS(i, RP)) fesetround(FE_UPWARD);
  else if (IS(i, RM)) fesetround(FE_DOWNWARD);
  else if (IS(i, RZ)) fesetround(FE_TOWARDZERO);
}

static void round_nearest(const struct sass *i) {
  if (IS(i, RP) || IS(i, RM) || IS(i, RZ)) fesetround(FE_TONEAREST);
}

static void putf(struct step *s, unsigned o, unsigned lane, float v) {
  if (IS(s->i, FTZ)) v = flush(v);
  if (IS(s->i, SAT)) v = v > 0 ? v < 1 ? v : 1 : 0;
  put(s, &s->i->o[o], lane, of_float(v));
}

#define ARITHMETIC(name, type, get_, put_, expression)                        \
  OP(name) {                                                                  \
    const struct sass *i = s->i;                                              \
    round_as(i);                                                              \
    EACH_LANE(s, lane) {                                                      \
      volatile type a = get_(s, &i->o[1], lane), b = get_(s, &i->o[2], lane), \
                    c = i->n > 3 ? get_(s, &i->o[3], lane) : 0, v;            \
      (void)c;                                                                \
      v = expression;                                                         \
      put_;                                                                   \
    }                                                                         \
    round_nearest(i);                                                         \
  }
ARITHMETIC(fadd, float, getf, putf(s, 0, lane, v), a + b)
ARITHMETIC(fmul, float, getf, putf(s, 0, lane, v), a *b)
ARITHMETIC(ffma, float, getf, putf(s, 0, lane, v), fmaf(a, b, c))
ARITHMETIC(dadd, double, getd, put64(s, &i->o[0], lane, of_double(v)), a + b)
ARITHMETIC(dmul, double, getd, put64(s, &i->o[0], lane, of_double(v)), a *b)
ARITHMETIC(dfma, double, getd, put64(s, &i->o[0], lane, of_double(v)), fma(a, b, c))

OP(fmnmx) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    float a = getf(s, &i->o[1], lane), b = getf(s, &i->o[2], lane);
    putf(s, 0, lane, getp(s, &i->o[3], lane) ? fminf(a, b) : fmaxf(a, b));
  }
}

OP(dmnmx) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    double a = getd(s, &i->o[1], lane), b = getd(s, &i->o[2], lane);
    put64(s, &i->o[0], lane, of_double(getp(s, &i->o[3], lane) ? fmin(a, b) : fmax(a, b)));
  }
}

OP(fsel) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) putf(s, 0, lane, getf(s, &i->o[getp(s, &i->o[3], lane) ? 1 : 2], lane));
}

static bool compared(const struct sass *i, double a, double b) {
  if (isnan(a) || isnan(b)) return IS(i, UNORDERED) || IS(i, NAN);
  return (IS(i, LT) && a < b) || (IS(i, LE) && a <= b) || (IS(i, GT) && a > b) || (IS(i, GE) && a >= b) ||
         (IS(i, EQ) && a == b) || (IS(i, NE) && a != b) || IS(i, NUM);
}

static bool joined(const struct sass *i, bool v, bool with) {
  return IS(i, OR) ? v || with : IS(i, XOR) ? v != with : v && with;
}

static void setp(struct step *s, bool twice) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    bool with = getp(s, &i->o[4], lane);
    bool v = twice ? compared(i, getd(s, &i->o[2], lane), getd(s, &i->o[3], lane))
                   : compared(i, (double)getf(s, &i->o[2], lane), (double)getf(s, &i->o[3], lane));
    putp(s, &i->o[0], lane, joined(i, v, with));
    putp(s, &i->o[1], lane, joined(i, !v, with));
  }
}

OP(fsetp) {
  setp(s, false);
}

OP(dsetp) {
  setp(s, true);
}

OP(fset) { /* Rd, a, b, P */
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    bool v = joined(i, compared(i, (double)getf(s, &i->o[1], lane), (double)getf(s, &i->o[2], lane)),
                    getp(s, &i->o[3], lane));
    put(s, &i->o[0], lane, v ? IS(i, BF) ? of_float(1) : UINT32_MAX : 0);
  }
}

/* Whether a / b needs the subroutine: operands or the quotient's exponent near the ends of the range. */
OP(fchk) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    uint32_t a = of_float(getf(s, &i->o[1], lane)), b = of_float(getf(s, &i->o[2], lane));
    int ea = (int)(a >> 23 & 255), eb = (int)(b >> 23 & 255), d = ea - eb;
    putp(s, &i->o[0], lane, ea == 255 || eb == 255 || !eb || d >= 126 || d <= -126 || (ea < 24 && a << 1));
  }
}

static double special(const struct sass *i, double v) {
  const double turn = 6.283185307179586;
  if (IS(i, RCP)) return 1 / v;
  if (IS(i, RSQ)) return 1 / sqrt(v);
  if (IS(i, SQRT)) return sqrt(v);
  if (IS(i, EX2)) return exp2(v);
  if (IS(i, LG2)) return log2(v);
  if (IS(i, SIN)) return sin(turn * v);
  if (IS(i, COS)) return cos(turn * v);
  if (IS(i, TANH)) return tanh(v);
  die("%s is not known here", i->opcode);
}

OP(mufu) {
  const struct sass *i = s->i;
  bool upper = IS(i, RCP64H) || IS(i, RSQ64H);
  EACH_LANE(s, lane) {
    if (upper) {
      double v = as_double((uint64_t)raw(s, &i->o[1], lane) << 32);
      if (i->o[1].abs) v = fabs(v);
      if (i->o[1].neg) v = -v;
      put(s, &i->o[0], lane, (uint32_t)(of_double(IS(i, RCP64H) ? 1 / v : 1 / sqrt(v)) >> 32));
    } else { /* flushes denormal inputs and results */
      float v = (float)special(i, (double)flush(getf(s, &i->o[1], lane)));
      put(s, &i->o[0], lane, of_float(IS(i, SQRT) || IS(i, EX2) || IS(i, RCP) || IS(i, RSQ) ? flush(v) : v));
    }
  }
}

/* ---- conversions ---- */

static double half_of(uint32_t h) {
  int e = (int)(h >> 10 & 31), m = (int)(h & 1023);
  double v = e == 31 ? m ? (double)NAN : (double)INFINITY : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
  return h & 0x8000 ? -v : v;
}

static uint32_t to_half(double v) {
  uint32_t sign = signbit(v) ? 0x8000 : 0;
  v = fabs(v);
  if (isnan(v)) return 0x7fff;
  if (v >= 65520) return sign | 0x7c00;
  int e;
  frexp(v, &e);
  if (e < -13) return sign | (uint32_t)nearbyint(ldexp(v, 24));
  return sign + (uint32_t)((e + 13) << 10) + (uint32_t)nearbyint(ldexp(v, 11 - e));
}

/* Whether the first of the types that the opcode names is F64 and F16; the second is the source's. */
static bool names_first(const struct sass *i, const char *type) {
  const char *dot = strchr(i->opcode, '.');
  return dot && !strncmp(dot + 1, type, strlen(type));
}

static double whole_number(const struct sass *i, double v) {
  if (IS(i, TRUNC) || IS(i, RZ)) return trunc(v);
  if (IS(i, FLOOR) || IS(i, RM)) return floor(v);
  if (IS(i, CEIL) || IS(i, RP)) return ceil(v);
  return nearbyint(v);
}

OP(i2f) {
  const struct sass *i = s->i;
  round_as(i);
  EACH_LANE(s, lane) {
    bool is64 = IS(i, S64) || IS(i, U64), is_signed = !IS(i, U32) && !IS(i, U64) && !IS(i, U16) && !IS(i, U8);
    uint64_t v = is64 ? raw64(s, &i->o[1], lane) : raw(s, &i->o[1], lane);
    if (IS(i, U16)) v = (uint16_t)v;
    else if (IS(i, U8)) v = (uint8_t)v;
    else if (IS(i, S16)) v = (uint64_t)(int16_t)v;
    else if (IS(i, S8)) v = (uint64_t)(int8_t)v;
    else if (!is64 && is_signed) v = (uint64_t)(int64_t)(int32_t)v;
    volatile int64_t as_signed = (int64_t)v;
    volatile uint64_t as_unsigned = v;
    if (i->o[1].neg) as_signed = -as_signed;
    volatile float f = is_signed ? (float)as_signed : (float)as_unsigned;
    volatile double d = is_signed ? (double)as_signed : (double)as_unsigned;
    if (IS(i, F64)) put64(s, &i->o[0], lane, of_double(d));
    else put(s, &i->o[0], lane, IS(i, F16) ? to_half(d) : of_float(f));
  }
  round_nearest(i);
}

OP(f2i) {
  const struct sass *i = s->i;
  bool is64 = IS(i, S64) || IS(i, U64), no_sign = IS(i, U32) || IS(i, U64) || IS(i, U16) || IS(i, U8);
  unsigned bits = is64 ? 64 : IS(i, U16) || IS(i, S16) ? 16 : IS(i, U8) || IS(i, S8) ? 8 : 32;
  EACH_LANE(s, lane) {
    double v = IS(i, F64) ? getd(s, &i->o[1], lane) : (double)getf(s, &i->o[1], lane);
    if (IS(i, F16)) v = half_of(raw(s, &i->o[1], lane));
    v = whole_number(i, v);
    double most = ldexp(1, (int)bits - !no_sign), least = no_sign ? 0 : -most;
    uint64_t out;
    if (isnan(v)) out = is64 ? 1ull << 63 : 0;
    else if (v >= most) out = no_sign ? UINT64_MAX >> (64 - bits) : (1ull << (bits - 1)) - 1;
    else if (v <= least) out = no_sign ? 0 : 0 - (1ull << (bits - 1));
    else out = no_sign ? (uint64_t)v : (uint64_t)(int64_t)v;
    if (is64) put64(s, &i->o[0], lane, out);
    else put(s, &i->o[0], lane, (uint32_t)out);
  }
}

static void put_as(struct step *s, unsigned lane, double v) {
  const struct sass *i = s->i;
  volatile float f = (float)v;
  if (names_first(i, "F64")) put64(s, &i->o[0], lane, of_double(v));
  else if (names_first(i, "F16")) put(s, &i->o[0], lane, to_half(v));
  else putf(s, 0, lane, f);
}

OP(f2f) {
  const struct sass *i = s->i;
  const char *second = strrchr(i->opcode, 'F');
  round_as(i);
  EACH_LANE(s, lane) {
    double v = !strncmp(second, "F64", 3)   ? getd(s, &i->o[1], lane)
               : !strncmp(second, "F16", 3) ? half_of(raw(s, &i->o[1], lane))
                                            : (double)getf(s, &i->o[1], lane);
    put_as(s, lane, v);
  }
  round_nearest(i);
}

OP(frnd) {
  const struct sass *i = s->i;
  EACH_LANE(s, lane) {
    if (IS(i, F64)) put64(s, &i->o[0], lane, of_double(whole_number(i, getd(s, &i->o[1], lane))));
    else putf(s, 0, lane, (float)whole_number(i, (double)getf(s, &i->o[1], lane)));
  }
}
