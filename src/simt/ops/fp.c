/* fp.c - bit-exact scalar arithmetic of PTX: see fp.h. Compiled with -frounding-math (room.mk): the host's rounding
 * mode is switched around one operation at a time. Half precision is computed in double with rounding to odd, which
 * makes the second rounding exact (Boldo and Melquiond, "When double rounding is odd", 2005). */
#include "simt/ops/fp.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "ptx/ptx.h"
#include "simt/ops/fp_approx.h"

#define NAN32 0x7FFFFFFFu
#define NAN64 0xFFF8000000000000ull
#define NAN16 0x7FFFu

static float f32_of(uint64_t b) {
  uint32_t w = (uint32_t)b;
  float f;
  memcpy(&f, &w, 4);
  return f;
}
static double f64_of(uint64_t b) {
  double d;
  memcpy(&d, &b, 8);
  return d;
}
static uint64_t bits_f32(float f) {
  uint32_t w;
  memcpy(&w, &f, 4);
  return f != f ? NAN32 : w;
}
static uint64_t bits_f64(double d) {
  uint64_t w;
  memcpy(&w, &d, 8);
  return d != d ? NAN64 : w;
}
static float flush_subnormal(float f) {
  uint32_t w;
  memcpy(&w, &f, 4);
  if (!(w & 0x7F800000u)) w &= 0x80000000u;
  memcpy(&f, &w, 4);
  return f;
}

static int host_mode(uint8_t r) {
  return r == FP_RZ ? FE_TOWARDZERO : r == FP_RM ? FE_DOWNWARD : r == FP_RP ? FE_UPWARD : FE_TONEAREST;
}

/* ---- formats below 32 bits ---- */

struct small_format {
  int prec, emin; /* significand bits with the hidden one; exponent of the smallest normal */
  int exp_bits, frac_bits;
};
static const struct small_format half_format = {11, -14, 5, 10}, bf16_format = {8, -126, 8, 7};

/* Encode `v` in a small format with the given rounding. NaN becomes the canonical one. */
static uint16_t encode_small(const struct small_format *f, double v, uint8_t round, bool satfinite) {
  uint64_t b;
  memcpy(&b, &v, 8);
  uint16_t sign = (uint16_t)(b >> 63 << 15);
  if (v != v) return NAN16;
  uint16_t inf = (uint16_t)(((1u << f->exp_bits) - 1) << f->frac_bits), max = (uint16_t)(inf - 1);
  int e = (int)(b >> 52 & 0x7FF) - 1023;
  uint64_t m = b & 0xFFFFFFFFFFFFFull;
  if (e == 1024) return (uint16_t)(sign | (satfinite ? max : inf));
  if (e == -1023) {
    if (!m) return sign;
    e = -1022;
  } else {
    m |= 1ull << 52;
  }
  int shift = 53 - f->prec;
  if (e < f->emin) shift += f->emin - e;
  uint64_t keep = shift > 54 ? 0 : m >> shift, rest = shift > 54 ? m : m & ((1ull << shift) - 1),
           halfway = shift > 54 ? UINT64_MAX : 1ull << (shift - 1);
  bool up = round == FP_RN    ? rest > halfway || (rest == halfway && (keep & 1))
            : round == FP_RNA ? rest >= halfway
            : round == FP_RZ  ? false
            : round == FP_RP  ? rest && !sign
                              : rest && sign;
  keep += up;
  int exp = e < f->emin ? 0 : e - f->emin + 1;
  uint64_t enc = exp ? ((uint64_t)(exp - 1) << f->frac_bits) + keep : keep; /* a carry moves into the exponent */
  if (enc >= inf) {
    bool to_max = satfinite || round == FP_RZ || (round == FP_RP && sign) || (round == FP_RM && !sign);
    return (uint16_t)(sign | (to_max ? max : inf));
  }
  return (uint16_t)(sign | enc);
}

static double decode_small(const struct small_format *f, uint16_t h) {
  int exp = h >> f->frac_bits & ((1 << f->exp_bits) - 1);
  int frac = h & ((1 << f->frac_bits) - 1);
  double v;
  if (exp == (1 << f->exp_bits) - 1) v = frac ? NAN : INFINITY;
  else if (!exp) v = ldexp(frac, f->emin - f->frac_bits);
  else v = ldexp(frac | 1 << f->frac_bits, exp - 1 + f->emin - f->frac_bits);
  return h & 0x8000 ? -v : v;
}

float fp_f16_to_f32(uint16_t h) {
  return (float)decode_small(&half_format, h);
}
uint16_t fp_f32_to_f16(float f) {
  return encode_small(&half_format, f, FP_RN, false);
}

/* a + b rounded to odd in double. */
static double add_odd(double a, double b) {
  volatile double s = a + b;
  if (isnan(s) || isinf(s)) return s;
  volatile double bb = s - a, ea = a - (s - bb), eb = b - bb, err = ea + eb;
  uint64_t w;
  double sv = s;
  memcpy(&w, &sv, 8);
  if (err != 0 && !(w & 1)) { /* inexact and even: step to the odd neighbour on the side of the error */
    bool away = (err > 0) == (sv > 0);
    w = away ? w + 1 : w - 1;
    memcpy(&sv, &w, 8);
  }
  return sv;
}

static double min_max(bool max, bool nan, double a, double b) {
  if (a != a || b != b) return nan ? NAN : a != a ? b : a;
  if (a == b) return max == !signbit(a) ? a : b;
  return (a > b) == max ? a : b;
}

static uint16_t eval_small(enum fp_op op, const struct small_format *f, const struct fp_env *env, uint16_t a,
                           uint16_t b, uint16_t c) {
  if (op == FP_NEG || op == FP_ABS) {
    uint16_t v = op == FP_NEG ? a ^ 0x8000 : a & 0x7FFF;
    return env->ftz && !(v & (0x7FFF >> f->frac_bits << f->frac_bits)) ? v & 0x8000 : v;
  }
  double x = decode_small(f, a), y = decode_small(f, b), z = decode_small(f, c), r;
  double tiny = ldexp(1, f->emin);
  if (env->ftz) {
    if (fabs(x) < tiny) x = copysign(0, x);
    if (fabs(y) < tiny) y = copysign(0, y);
    if (fabs(z) < tiny) z = copysign(0, z);
  }
  switch (op) {
  case FP_ADD:
    r = add_odd(x, y);
    break;
  case FP_SUB:
    r = add_odd(x, -y);
    break;
  case FP_MUL:
    r = x * y;
    break;
  case FP_FMA:
    r = add_odd(x * y, z);
    break;
  case FP_MIN:
  case FP_MAX:
    r = min_max(op == FP_MAX, env->nan, x, y);
    break;
  case FP_EX2:
    r = approx_ex2(x);
    break;
  case FP_TANH:
    r = approx_tanh(x);
    break;
  default:
    r = NAN;
    break;
  }
  if (env->relu && r < 0) r = 0;
  if (env->sat) r = r != r || r <= 0 ? 0 : r > 1 ? 1 : r;
  uint16_t h = encode_small(f, r, FP_RN, false);
  if (env->ftz && !(h & (0x7FFF >> f->frac_bits << f->frac_bits))) h &= 0x8000;
  return h;
}

/* ---- 32 and 64 bits ---- */

static float finish32(float r, const struct fp_env *env) {
  if (env->ftz) r = flush_subnormal(r);
  if (env->relu && r < 0) r = 0;
  if (env->sat) r = r != r || r <= 0 ? 0 : r > 1 ? 1 : r;
  return r;
}

static uint64_t eval32(enum fp_op op, const struct fp_env *env, uint64_t ab, uint64_t bb, uint64_t cb) {
  volatile float a = f32_of(ab), b = f32_of(bb), c = f32_of(cb), r;
  if (env->ftz) a = flush_subnormal(a), b = flush_subnormal(b), c = flush_subnormal(c);
  int mode = host_mode(env->round);
  if (mode != FE_TONEAREST) fesetround(mode);
  switch (op) {
  case FP_ADD:
    r = a + b;
    break;
  case FP_SUB:
    r = a - b;
    break;
  case FP_MUL:
    r = a * b;
    break;
  case FP_FMA:
    r = fmaf(a, b, c);
    break;
  case FP_DIV:
    r = env->approx ? (float)((double)a / (double)b) : a / b;
    break;
  case FP_RCP:
    r = 1.0f / a;
    break;
  case FP_SQRT:
    r = sqrtf(a);
    break;
  case FP_RSQRT:
    r = (float)(1.0 / sqrt((double)a));
    break;
  case FP_SIN:
    r = (float)approx_sin(a);
    break;
  case FP_COS:
    r = (float)approx_cos(a);
    break;
  case FP_EX2:
    r = (float)approx_ex2(a);
    break;
  case FP_LG2:
    r = (float)approx_lg2(a);
    break;
  case FP_TANH:
    r = (float)approx_tanh(a);
    break;
  case FP_MIN:
  case FP_MAX: {
    float m = (float)min_max(op == FP_MAX, env->nan, env->xorsign ? fabsf(a) : a, env->xorsign ? fabsf(b) : b);
    r = env->xorsign ? copysignf(m, signbit(a) != signbit(b) ? -1.0f : 1.0f) : m;
    break;
  }
  case FP_NEG:
    r = -a;
    break;
  default:
    r = fabsf(a);
    break;
  }
  float v = r;
  if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  return bits_f32(finish32(v, env));
}

/* The hardware's double reciprocals read the upper word only and return one. */
static double upper_word(double d) {
  uint64_t w = bits_f64(d);
  return f64_of(w & 0xFFFFFFFF00000000ull);
}

static uint64_t eval64(enum fp_op op, const struct fp_env *env, uint64_t ab, uint64_t bb, uint64_t cb) {
  volatile double a = f64_of(ab), b = f64_of(bb), c = f64_of(cb), r;
  int mode = host_mode(env->round);
  if (mode != FE_TONEAREST) fesetround(mode);
  if (env->approx && env->ftz && fabs(a) < 0x1p-1022) a = copysign(0, a);
  switch (op) {
  case FP_ADD:
    r = a + b;
    break;
  case FP_SUB:
    r = a - b;
    break;
  case FP_MUL:
    r = a * b;
    break;
  case FP_FMA:
    r = fma(a, b, c);
    break;
  case FP_DIV:
    r = a / b;
    break;
  case FP_RCP:
    r = env->approx ? upper_word(1.0 / upper_word(a)) : 1.0 / a;
    break;
  case FP_SQRT:
    r = sqrt(a);
    break;
  case FP_RSQRT:
    r = env->approx && env->ftz ? upper_word(1.0 / sqrt(upper_word(a))) : 1.0 / sqrt(a);
    break;
  case FP_MIN:
  case FP_MAX:
    r = min_max(op == FP_MAX, env->nan, a, b);
    break;
  case FP_NEG:
    r = -a;
    break;
  case FP_ABS:
    r = fabs(a);
    break;
  default:
    r = NAN;
    break;
  }
  double v = r;
  if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  if (env->approx && env->ftz && fabs(v) < 0x1p-1022) v = copysign(0, v);
  return bits_f64(v);
}

uint64_t fp_eval(enum fp_op op, int type, const struct fp_env *env, uint64_t a, uint64_t b, uint64_t c) {
  const struct small_format *f = type == T_BF16 || type == T_BF16X2 ? &bf16_format : &half_format;
  switch (type) {
  case T_F32:
    return eval32(op, env, a, b, c);
  case T_F64:
    return eval64(op, env, a, b, c);
  case T_F16X2:
  case T_BF16X2:
    return eval_small(op, f, env, (uint16_t)a, (uint16_t)b, (uint16_t)c) |
           (uint64_t)eval_small(op, f, env, (uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16)) << 16;
  default:
    return eval_small(op, f, env, (uint16_t)a, (uint16_t)b, (uint16_t)c);
  }
}

/* ---- conversions ---- */

static double to_integral(double v, uint8_t round) {
  switch (round) {
  case FP_RZ:
    return trunc(v);
  case FP_RM:
    return floor(v);
  case FP_RP:
    return ceil(v);
  default: {
    double r = floor(v), d = v - r;
    if (d > 0.5 || (d == 0.5 && fmod(r, 2) != 0)) r += 1;
    return copysign(r, v);
  }
  }
}

static uint64_t clamp_int(enum ptx_type to, double v) {
  int bits = 8 * ptx_type_bytes[to];
  if (v != v) return 0;
  if (ptx_type_kinds[to] == 's') {
    double top = ldexp(1, bits - 1);
    if (v >= top) return (1ull << (bits - 1)) - 1;
    if (v < -top) return 0ull - (1ull << (bits - 1));
    return (uint64_t)(int64_t)v;
  }
  if (v <= 0) return 0;
  if (v >= ldexp(1, bits)) return bits == 64 ? ~0ull : (1ull << bits) - 1;
  return v >= 0x1p63 ? (uint64_t)(int64_t)(v - 0x1p63) + (1ull << 63) : (uint64_t)(int64_t)v;
}

static uint64_t truncate(enum ptx_type t, uint64_t v) {
  int bits = 8 * ptx_type_bytes[t];
  return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static int64_t sign_extend(enum ptx_type t, uint64_t v) {
  int shift = 64 - 8 * ptx_type_bytes[t];
  return (int64_t)(v << shift) >> shift;
}

static uint64_t int_to_int(enum ptx_type to, enum ptx_type from, bool sat, uint64_t a) {
  bool s = ptx_type_kinds[from] == 's';
  int bits = 8 * ptx_type_bytes[to];
  uint64_t v = s ? (uint64_t)sign_extend(from, a) : truncate(from, a);
  if (!sat) return truncate(to, v);
  if (ptx_type_kinds[to] == 's') {
    int64_t hi = (int64_t)((1ull << (bits - 1)) - 1), lo = -hi - 1;
    if (s) return truncate(to, (uint64_t)((int64_t)v > hi ? hi : (int64_t)v < lo ? lo : (int64_t)v));
    return v > (uint64_t)hi ? (uint64_t)hi : v;
  }
  uint64_t max = bits == 64 ? ~0ull : (1ull << bits) - 1;
  if (s && (int64_t)v < 0) return 0;
  return v > max ? max : v;
}

/* |v| as a double whose rounding to 24 bits or fewer equals that of v: 64-bit integers keep a sticky bit. */
static double int_to_double(enum ptx_type from, uint64_t a) {
  bool s = ptx_type_kinds[from] == 's', neg = s && sign_extend(from, a) < 0;
  uint64_t m = s ? (uint64_t)sign_extend(from, a) : truncate(from, a);
  if (neg) m = 0 - m;
  int shift = 0;
  while (m >> 53) m = m >> 1 | (m & 1), shift++;
  double d = ldexp((double)m, shift);
  return neg ? -d : d;
}

static uint64_t int_to_f64(enum ptx_type from, uint8_t round, uint64_t a) {
  bool s = ptx_type_kinds[from] == 's';
  volatile int64_t sv = sign_extend(from, a);
  volatile uint64_t uv = truncate(from, a);
  fesetround(host_mode(round));
  volatile double d = s ? (double)sv : (double)uv;
  double v = d;
  fesetround(FE_TONEAREST);
  return bits_f64(v);
}

static float double_to_float(double v, uint8_t round) {
  volatile double in = v;
  fesetround(host_mode(round));
  volatile float f = (float)in;
  float r = f;
  fesetround(FE_TONEAREST);
  return r;
}

uint64_t fp_convert(int to, int from, const struct fp_env *env, bool int_round, uint64_t a) {
  bool fi = ptx_type_kinds[from] == 'f', ti = ptx_type_kinds[to] == 'f';
  if (!fi && !ti) return int_to_int(to, from, env->sat, a);
  if (to == T_TF32) { /* 10 fraction bits kept; .rna rounds halves away from zero */
    uint32_t w = (uint32_t)a, half = env->round == FP_RNA ? 0x1000 : 0x0FFF + (w >> 13 & 1);
    return (w & 0x7F800000u) == 0x7F800000u ? w : (w + half) & 0xFFFFE000u;
  }
  double v;
  if (!fi) {
    if (to == T_F64) return int_to_f64(from, env->round, a);
    v = int_to_double(from, a);
  } else {
    v = from == T_F64   ? f64_of(a)
        : from == T_F32 ? f32_of(a)
                        : decode_small(from == T_BF16 ? &bf16_format : &half_format, (uint16_t)a);
    if (env->ftz && from == T_F32) v = flush_subnormal(f32_of(a));
  }
  if (!ti) return truncate(to, clamp_int(to, to_integral(v, env->round)));
  if (int_round) v = to_integral(v, env->round);
  uint8_t round = int_round ? FP_RN : env->round;
  if (env->relu && v < 0) v = 0;
  if (env->sat) v = v != v || v <= 0 ? 0 : v > 1 ? 1 : v;
  if (to == T_F64) return bits_f64(v);
  if (to == T_F32) {
    float f = double_to_float(v, round);
    return bits_f32(env->ftz ? flush_subnormal(f) : f);
  }
  return encode_small(to == T_BF16 ? &bf16_format : &half_format, v, round, env->satfinite);
}
