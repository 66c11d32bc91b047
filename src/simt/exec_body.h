/* exec_body.h - the vector handlers, compiled once per instruction set by exec_v2.c, exec_v3.c and exec_v4.c, which
 * define HANDLERS, the name of the table. Loops run over 32 lanes and are written for the compiler's vectoriser; a full
 * mask takes a path without blending. Results are the same bits in every build: no contraction, explicit fma. */
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "simt/machine.h"

#ifdef __clang__
#define LOOP _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < LANES; i++)
#else
#define LOOP _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
#endif

static const int32_t *lanes(struct exec *x, uint32_t mask) {
  if (x->lanes_mask != mask) {
    x->lanes_mask = mask;
    int32_t *l = x->lanes;
    LOOP l[i] = -(int32_t)(mask >> i & 1);
  }
  return x->lanes;
}

/* Bit i: sign of t[i]. */
static inline uint32_t pack_signs(const int32_t *t) {
#if defined(__AVX512DQ__)
  return (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(t)) |
         (uint32_t)_mm512_movepi32_mask(_mm512_load_si512(t + 16)) << 16;
#elif defined(__AVX2__)
  uint32_t r = 0;
  for (int k = 0; k < 4; k++) r |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)(t + 8 * k))) << (8 * k);
  return r;
#else
  uint32_t r = 0;
  for (int k = 0; k < 8; k++) r |= (uint32_t)_mm_movemask_ps(_mm_load_ps((const float *)(t + 4 * k))) << (4 * k);
  return r;
#endif
}

#define DEF1(name, D, S, T, expr)                                            \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) { \
    D *d = OPND(D, o->d);                                                    \
    const S *pa = OPND(S, o->a);                                             \
    if (mask == FULL_MASK) {                                                 \
      LOOP {                                                                 \
        T A = (T)pa[i];                                                      \
        d[i] = (D)(expr);                                                    \
      }                                                                      \
    } else {                                                                 \
      const int32_t *m = lanes(x, mask);                                     \
      LOOP {                                                                 \
        T A = (T)pa[i];                                                      \
        D r = (D)(expr), old = d[i];                                         \
        d[i] = m[i] ? r : old;                                               \
      }                                                                      \
    }                                                                        \
  }

#define DEF2(name, D, S, T, expr)                                            \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) { \
    D *d = OPND(D, o->d);                                                    \
    const S *pa = OPND(S, o->a), *pb = OPND(S, o->b);                        \
    if (mask == FULL_MASK) {                                                 \
      LOOP {                                                                 \
        T A = (T)pa[i], B = (T)pb[i];                                        \
        d[i] = (D)(expr);                                                    \
      }                                                                      \
    } else {                                                                 \
      const int32_t *m = lanes(x, mask);                                     \
      LOOP {                                                                 \
        T A = (T)pa[i], B = (T)pb[i];                                        \
        D r = (D)(expr), old = d[i];                                         \
        d[i] = m[i] ? r : old;                                               \
      }                                                                      \
    }                                                                        \
  }

/* Shifts: the amount is a 32-bit operand whatever the type. */
#define DEFS(name, D, T, expr)                                               \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) { \
    D *d = OPND(D, o->d);                                                    \
    const D *pa = OPND(D, o->a);                                             \
    const uint32_t *pb = OPND(uint32_t, o->b);                               \
    const int32_t *m = lanes(x, mask);                                       \
    LOOP {                                                                   \
      T A = (T)pa[i];                                                        \
      uint32_t B = pb[i];                                                    \
      D r = (D)(expr), old = d[i];                                           \
      d[i] = m[i] ? r : old;                                                 \
    }                                                                        \
  }

#define DEF3(name, D, S, T, SC, TC, expr)                                    \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) { \
    D *d = OPND(D, o->d);                                                    \
    const S *pa = OPND(S, o->a), *pb = OPND(S, o->b);                        \
    const SC *pc = OPND(SC, o->c);                                           \
    if (mask == FULL_MASK) {                                                 \
      LOOP {                                                                 \
        T A = (T)pa[i], B = (T)pb[i];                                        \
        TC C = (TC)pc[i];                                                    \
        d[i] = (D)(expr);                                                    \
      }                                                                      \
    } else {                                                                 \
      const int32_t *m = lanes(x, mask);                                     \
      LOOP {                                                                 \
        T A = (T)pa[i], B = (T)pb[i];                                        \
        TC C = (TC)pc[i];                                                    \
        D r = (D)(expr), old = d[i];                                         \
        d[i] = m[i] ? r : old;                                               \
      }                                                                      \
    }                                                                        \
  }

typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* ---- integers ---- */
DEF2(add_16, u32, u32, u32, (u16)(A + B))
DEF2(add_32, u32, u32, u32, A + B)
DEF2(add_64, u64, u64, u64, A + B)
DEF2(sub_16, u32, u32, u32, (u16)(A - B))
DEF2(sub_32, u32, u32, u32, A - B)
DEF2(sub_64, u64, u64, u64, A - B)
DEF2(mul_16, u32, u32, u32, (u16)(A *B))
DEF2(mul_32, u32, u32, u32, A *B)
DEF2(mul_64, u64, u64, u64, A *B)
DEF3(mad_16, u32, u32, u32, u32, u32, (u16)(A *B + C))
DEF3(mad_32, u32, u32, u32, u32, u32, A *B + C)
DEF3(mad_64, u64, u64, u64, u64, u64, A *B + C)
DEF2(mulw_u16, u32, u32, u16, (u32)A *(u32)B)
DEF2(mulw_s16, u32, u32, s16, (u32)((s32)A *(s32)B))
DEF2(mulw_u32, u64, u32, u32, (u64)A *(u64)B)
DEF2(mulw_s32, u64, u32, s32, (u64)((s64)A *(s64)B))
DEF3(madw_u16, u32, u32, u16, u32, u32, (u32)A *(u32)B + C)
DEF3(madw_s16, u32, u32, s16, u32, u32, (u32)((s32)A *(s32)B) + C)
DEF3(madw_u32, u64, u32, u32, u64, u64, (u64)A *(u64)B + C)
DEF3(madw_s32, u64, u32, s32, u64, u64, (u64)((s64)A *(s64)B) + C)
DEF2(mulhi_u16, u32, u32, u16, ((u32)A * (u32)B) >> 16)
DEF2(mulhi_s16, u32, u32, s16, (u16)(((s32)A * (s32)B) >> 16))
DEF2(mulhi_u32, u32, u32, u32, ((u64)A * B) >> 32)
DEF2(mulhi_s32, u32, u32, s32, ((s64)A * B) >> 32)
DEF2(mulhi_u64, u64, u64, u64, ((unsigned __int128)A * B) >> 64)
DEF2(mulhi_s64, u64, u64, s64, ((__int128)A * B) >> 64)
DEF3(madhi_u16, u32, u32, u16, u32, u32, (u16)((((u32)A * (u32)B) >> 16) + C))
DEF3(madhi_s16, u32, u32, s16, u32, u32, (u16)((u32)(((s32)A * (s32)B) >> 16) + C))
DEF3(madhi_u32, u32, u32, u32, u32, u32, (u32)(((u64)A * B) >> 32) + C)
DEF3(madhi_s32, u32, u32, s32, u32, u32, (u32)(((s64)A * B) >> 32) + C)
DEF3(madhi_u64, u64, u64, u64, u64, u64, (u64)(((unsigned __int128)A * B) >> 64) + C)
DEF3(madhi_s64, u64, u64, s64, u64, u64, (u64)(((__int128)A * B) >> 64) + C)
/* Division by zero gives all ones and remainder by zero the dividend; PTX leaves both open. Nothing may trap. */
#define UDIV(max) (B ? A / B : (max))
#define UREM (B ? A % B : A)
#define SDIV(U) (B == 0 ? -1 : B == -1 ? (__typeof__(A))(0 - (U)A) : A / B)
#define SREM (B == 0 ? A : B == -1 ? 0 : A % B)
DEF2(div_u16, u32, u32, u16, (u16)UDIV(0xFFFF))
DEF2(div_u32, u32, u32, u32, UDIV(0xFFFFFFFFu))
DEF2(div_u64, u64, u64, u64, UDIV(~0ull))
DEF2(div_s16, u32, u32, s16, (u16)SDIV(u16))
DEF2(div_s32, u32, u32, s32, SDIV(u32))
DEF2(div_s64, u64, u64, s64, SDIV(u64))
DEF2(rem_u16, u32, u32, u16, (u16)UREM)
DEF2(rem_u32, u32, u32, u32, UREM)
DEF2(rem_u64, u64, u64, u64, UREM)
DEF2(rem_s16, u32, u32, s16, (u16)SREM)
DEF2(rem_s32, u32, u32, s32, SREM)
DEF2(rem_s64, u64, u64, s64, SREM)
#define DEF_US(op, expr)                     \
  DEF2(op##_u16, u32, u32, u16, (u16)(expr)) \
  DEF2(op##_u32, u32, u32, u32, expr)        \
  DEF2(op##_u64, u64, u64, u64, expr)        \
  DEF2(op##_s16, u32, u32, s16, (u16)(expr)) \
  DEF2(op##_s32, u32, u32, s32, expr)        \
  DEF2(op##_s64, u64, u64, s64, expr)
DEF_US(min, A < B ? A : B)
DEF_US(max, A > B ? A : B)
DEF3(sad_u16, u32, u32, u16, u32, u32, (u16)(C + (u32)(A > B ? A - B : B - A)))
DEF3(sad_s16, u32, u32, s16, u32, u32, (u16)(C + (u32)(A > B ? A - B : B - A)))
DEF3(sad_u32, u32, u32, u32, u32, u32, C + (A > B ? A - B : B - A))
DEF3(sad_s32, u32, u32, s32, u32, u32, C + (A > B ? (u32)A - (u32)B : (u32)B - (u32)A))
DEF3(sad_u64, u64, u64, u64, u64, u64, C + (A > B ? A - B : B - A))
DEF3(sad_s64, u64, u64, s64, u64, u64, C + (A > B ? (u64)A - (u64)B : (u64)B - (u64)A))
DEFS(shl_16, u32, u16, B > 15 ? 0 : (u16)(A << (B & 15)))
DEFS(shl_32, u32, u32, B > 31 ? 0 : A << (B & 31))
DEFS(shl_64, u64, u64, B > 63 ? 0 : A << (B & 63))
DEFS(shr_u16, u32, u16, B > 15 ? 0 : A >> (B & 15))
DEFS(shr_u32, u32, u32, B > 31 ? 0 : A >> (B & 31))
DEFS(shr_u64, u64, u64, B > 63 ? 0 : A >> (B & 63))
DEFS(shr_s16, u32, s16, (u16)(A >> (B > 15 ? 15 : B)))
DEFS(shr_s32, u32, s32, A >> (B > 31 ? 31 : B))
DEFS(shr_s64, u64, s64, A >> (B > 63 ? 63 : B))
DEF1(not_16, u32, u32, u32, (u16)~A)
DEF1(not_32, u32, u32, u32, ~A)
DEF1(not_64, u64, u64, u64, ~A)
DEF1(abs_16, u32, u32, s16, (u16)(A < 0 ? -A : A))
DEF1(abs_32, u32, u32, s32, A < 0 ? 0 - (u32)A : (u32)A)
DEF1(abs_64, u64, u64, s64, A < 0 ? 0 - (u64)A : (u64)A)
DEF1(neg_16, u32, u32, u32, (u16)(0 - A))
DEF1(neg_32, u32, u32, u32, 0 - A)
DEF1(neg_64, u64, u64, u64, 0 - A)
DEF2(and_32, u32, u32, u32, A &B)
DEF2(and_64, u64, u64, u64, A &B)
DEF2(or_32, u32, u32, u32, A | B)
DEF2(or_64, u64, u64, u64, A | B)
DEF2(xor_32, u32, u32, u32, A ^ B)
DEF2(xor_64, u64, u64, u64, A ^ B)
DEF1(mov_32, u32, u32, u32, A)
DEF1(mov_64, u64, u64, u64, A)

/* ---- predicates: one mask each ---- */
static inline u32 pred_in(struct exec *x, u32 off, bool neg) {
  return neg ? ~*OPND(u32, off) : *OPND(u32, off);
}
static inline void pred_out(struct exec *x, u32 off, u32 mask, u32 v) {
  if (off == OFF_NONE) return;
  u32 *d = OPND(u32, off);
  *d = (*d & ~mask) | (v & mask);
}
#define DEFP(name, expr)                                                                                             \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) {                                         \
    u32 A = pred_in(x, o->a, o->flags & XF_NEG_A), B = o->b == OFF_NONE ? 0 : pred_in(x, o->b, o->flags & XF_NEG_C); \
    (void)B;                                                                                                         \
    pred_out(x, o->d, mask, expr);                                                                                   \
  }
DEFP(and_p, A &B)
DEFP(or_p, A | B)
DEFP(xor_p, A ^ B)
DEFP(not_p, ~A)
DEFP(mov_p, A)

#define DEF_SELP(name, T)                                                    \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) { \
    T *d = OPND(T, o->d);                                                    \
    const T *pa = OPND(T, o->a), *pb = OPND(T, o->b);                        \
    u32 p = pred_in(x, o->p, o->flags & XF_NEG_C);                           \
    int32_t sel[LANES] __attribute__((aligned(64)));                         \
    LOOP sel[i] = -(int32_t)(p >> i & 1);                                    \
    const int32_t *m = lanes(x, mask);                                       \
    LOOP {                                                                   \
      T r = sel[i] ? pa[i] : pb[i], old = d[i];                              \
      d[i] = m[i] ? r : old;                                                 \
    }                                                                        \
  }
DEF_SELP(selp_32, u32)
DEF_SELP(selp_64, u64)

/* ---- floating point: NaN results are PTX's canonical NaN, so that they do not depend on operand order ---- */
static inline f32 canon32(f32 r) {
  u32 bits;
  memcpy(&bits, &r, 4);
  bits = r != r ? 0x7FFFFFFFu : bits;
  memcpy(&r, &bits, 4);
  return r;
}
static inline f64 canon64(f64 r) {
  u64 bits;
  memcpy(&bits, &r, 8);
  bits = r != r ? 0xFFF8000000000000ull : bits;
  memcpy(&r, &bits, 8);
  return r;
}
static inline f32 flush(f32 a) {
  u32 bits;
  memcpy(&bits, &a, 4);
  bits = (bits & 0x7F800000u) ? bits : bits & 0x80000000u;
  memcpy(&a, &bits, 4);
  return a;
}
static inline u32 bits32(f32 a) {
  u32 b;
  memcpy(&b, &a, 4);
  return b;
}
static inline u64 bits64(f64 a) {
  u64 b;
  memcpy(&b, &a, 8);
  return b;
}
DEF2(add_f32, f32, f32, f32, canon32(A + B))
DEF2(sub_f32, f32, f32, f32, canon32(A - B))
DEF2(mul_f32, f32, f32, f32, canon32(A *B))
DEF3(fma_f32, f32, f32, f32, f32, f32, canon32(__builtin_fmaf(A, B, C)))
DEF2(add_ftz_f32, f32, f32, f32, canon32(flush(flush(A) + flush(B))))
DEF2(sub_ftz_f32, f32, f32, f32, canon32(flush(flush(A) - flush(B))))
DEF2(mul_ftz_f32, f32, f32, f32, canon32(flush(flush(A) * flush(B))))
DEF3(fma_ftz_f32, f32, f32, f32, f32, f32, canon32(flush(__builtin_fmaf(flush(A), flush(B), flush(C)))))
DEF2(add_f64, f64, f64, f64, canon64(A + B))
DEF2(sub_f64, f64, f64, f64, canon64(A - B))
DEF2(mul_f64, f64, f64, f64, canon64(A *B))
DEF3(fma_f64, f64, f64, f64, f64, f64, canon64(__builtin_fma(A, B, C)))
/* min, max: a NaN loses to a number; -0 is below +0. */
#define FMIN(bits) (A != A ? B : B != B ? A : (A < B || (A == B && (s64)(bits) < 0)) ? A : B)
#define FMAX(bits) (A != A ? B : B != B ? A : (A > B || (A == B && (s64)(bits) >= 0)) ? A : B)
DEF2(min_f32, f32, f32, f32, canon32(FMIN((s64)(s32)bits32(A))))
DEF2(max_f32, f32, f32, f32, canon32(FMAX((s64)(s32)bits32(A))))
DEF2(min_f64, f64, f64, f64, canon64(FMIN(bits64(A))))
DEF2(max_f64, f64, f64, f64, canon64(FMAX(bits64(A))))
DEF1(neg_f32, u32, u32, u32, A ^ 0x80000000u)
DEF1(abs_f32, u32, u32, u32, A & 0x7FFFFFFFu)
DEF1(neg_f64, u64, u64, u64, A ^ 0x8000000000000000ull)
DEF1(abs_f64, u64, u64, u64, A & 0x7FFFFFFFFFFFFFFFull)
DEF2(div_f32, f32, f32, f32, canon32(A / B))
DEF2(div_f64, f64, f64, f64, canon64(A / B))
DEF1(rcp_f32, f32, f32, f32, canon32(1.0f / A))
DEF1(rcp_f64, f64, f64, f64, canon64(1.0 / A))
DEF1(sqrt_f32, f32, f32, f32, canon32(__builtin_sqrtf(A)))
DEF1(sqrt_f64, f64, f64, f64, canon64(__builtin_sqrt(A)))

/* ---- comparisons ---- */
static inline void finish_compare(struct exec *x, const struct xop *o, u32 mask, u32 r) {
  u32 q = ~r;
  if (o->sub) {
    u32 c = pred_in(x, o->p, o->flags & XF_NEG_C);
    q = o->sub == 1 ? q & c : o->sub == 2 ? q | c : q ^ c;
    r = o->sub == 1 ? r & c : o->sub == 2 ? r | c : r ^ c;
  }
  if (o->flags & XF_SET) {
    u32 *d = OPND(u32, o->d), one = o->flags & XF_SET_F32 ? 0x3F800000u : 0xFFFFFFFFu;
    const int32_t *m = lanes(x, mask);
    LOOP {
      u32 v = (r >> i & 1) ? one : 0, old = d[i];
      d[i] = m[i] ? v : old;
    }
    return;
  }
  pred_out(x, o->d, mask, r);
  pred_out(x, o->d2, mask, q);
}
#define DEFC(name, S, T, IN, expr)                                           \
  static void x_##name(struct exec *x, const struct xop *o, uint32_t mask) { \
    const S *pa = OPND(S, o->a), *pb = OPND(S, o->b);                        \
    int32_t t[LANES] __attribute__((aligned(64)));                           \
    IN() LOOP {                                                              \
      T A = (T)pa[i], B = (T)pb[i];                                          \
      t[i] = (expr) ? -1 : 0;                                                \
    }                                                                        \
    finish_compare(x, o, mask, pack_signs(t));                               \
  }
#define DEF_CMP(t, S, T, IN)       \
  DEFC(eq_##t, S, T, IN, A == B)   \
  DEFC(ne_##t, S, T, IN, NE(A, B)) \
  DEFC(lt_##t, S, T, IN, A < B)    \
  DEFC(le_##t, S, T, IN, A <= B)   \
  DEFC(gt_##t, S, T, IN, A > B)    \
  DEFC(ge_##t, S, T, IN, A >= B)
#define AS_IS()
#define NE(a, b) ((a) != (b))
DEF_CMP(s16, u32, s16, AS_IS)
DEF_CMP(u16, u32, u16, AS_IS)
DEF_CMP(s32, u32, s32, AS_IS)
DEF_CMP(u32, u32, u32, AS_IS)
DEF_CMP(s64, u64, s64, AS_IS)
DEF_CMP(u64, u64, u64, AS_IS)
#undef NE
#define NE(a, b) (((a) < (b)) | ((a) > (b))) /* ordered */
#define DEF_CMPF(t, S, IN)                     \
  DEF_CMP(t, S, S, IN)                         \
  DEFC(equ_##t, S, S, IN, !(A < B) & !(A > B)) \
  DEFC(neu_##t, S, S, IN, A != B)              \
  DEFC(ltu_##t, S, S, IN, !(A >= B))           \
  DEFC(leu_##t, S, S, IN, !(A > B))            \
  DEFC(gtu_##t, S, S, IN, !(A <= B))           \
  DEFC(geu_##t, S, S, IN, !(A < B))            \
  DEFC(num_##t, S, S, IN, (A == A) & (B == B)) \
  DEFC(nan_##t, S, S, IN, (A != A) | (B != B))
#define FLUSH_INPUTS()                                                                \
  f32 fa[LANES] __attribute__((aligned(64))), fb[LANES] __attribute__((aligned(64))); \
  if (o->flags & XF_FTZ) {                                                            \
    LOOP {                                                                            \
      fa[i] = flush(pa[i]);                                                           \
      fb[i] = flush(pb[i]);                                                           \
    }                                                                                 \
    pa = fa;                                                                          \
    pb = fb;                                                                          \
  }
DEF_CMPF(f32, f32, FLUSH_INPUTS)
DEF_CMPF(f64, f64, AS_IS)

/* ---- conversions ---- */
DEF1(sext_8_32, u32, u32, int8_t, (u32)(s32)A)
DEF1(sext_16_32, u32, u32, s16, (u32)(s32)A)
DEF1(zext_8_32, u32, u32, u32, A & 0xFF)
DEF1(zext_16_32, u32, u32, u32, A & 0xFFFF)
DEF1(sext_32_64, u64, u32, s32, (u64)(s64)A)
DEF1(zext_32_64, u64, u32, u32, A)
DEF1(trunc_64_32, u32, u64, u64, (u32)A)
DEF1(f32_s32, f32, u32, s32, (f32)A)
DEF1(f32_u32, f32, u32, u32, (f32)A)
DEF1(f64_s32, f64, u32, s32, (f64)A)
DEF1(f64_u32, f64, u32, u32, (f64)A)
DEF1(f64_f32, f64, f32, f32, canon64((f64)A))
DEF1(f32_f64, f32, f64, f64, canon32((f32)A))
DEF1(s32_f32, s32, f32, f32, A != A ? 0 : A >= 2147483648.0f ? INT32_MAX : A < -2147483648.0f ? INT32_MIN : (s32)A)
DEF1(u32_f32, u32, f32, f32, !(A > 0) ? 0u : A >= 4294967296.0f ? UINT32_MAX : (u32)(s64)A)

/* ---- bits ---- */
static inline u32 low_mask(u32 len) {
  return len > 31 ? 0xFFFFFFFFu : (1u << len) - 1;
}
static inline u32 bfe_u(u32 a, u32 pos, u32 len) {
  return pos > 31 ? 0 : (a >> pos) & low_mask(len);
}
static inline u32 bfe_s(u32 a, u32 pos, u32 len) {
  if (!len) return 0;
  u32 top = pos + len - 1 > 31 ? 31 : pos + len - 1;
  u32 sign = -(a >> top & 1), v = (pos > 31 ? 0 : a >> pos) & low_mask(len);
  u32 got = pos > 31 ? 0 : 32 - pos; /* bits that exist; the rest is sign */
  u32 n = len < got ? len : got;
  return n > 31 ? v : (v & low_mask(n)) | (sign & ~low_mask(n));
}
static inline u32 bfi(u32 a, u32 b, u32 pos, u32 len) {
  if (pos > 31) return b;
  u32 m = low_mask(len) << pos;
  return (b & ~m) | (a << pos & m);
}
static inline u32 brev(u32 a) {
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0F0F0F0Fu) | (a & 0x0F0F0F0Fu) << 4;
  return __builtin_bswap32(a);
}
static inline u32 prmt(u32 a, u32 b, u32 c, u32 mode) {
  u64 ab = (u64)b << 32 | a;
  u32 r = 0, s[4];
  for (u32 k = 0; k < 4; k++) s[k] = c >> (4 * k) & 0xF;
  if (mode) {
    u32 k0 = c & 3;
    for (u32 k = 0; k < 4; k++) switch (mode) {
      case 1:
        s[k] = k0 + k;
        break; /* f4e */
      case 2:
        s[k] = (k0 + 8 - k) & 7;
        break; /* b4e */
      case 3:
        s[k] = k0;
        break; /* rc8 */
      case 4:
        s[k] = k < k0 ? k0 : k;
        break; /* ecl */
      case 5:
        s[k] = k > k0 ? k0 : k;
        break; /* ecr */
      default:
        s[k] = (k0 & 1) * 2 + (k & 1);
        break; /* rc16 */
      }
  }
  for (u32 k = 0; k < 4; k++) {
    u32 byte = (u32)(ab >> (8 * (s[k] & 7))) & 0xFF;
    if (s[k] & 8) byte = byte & 0x80 ? 0xFF : 0;
    r |= byte << (8 * k);
  }
  return r;
}
static inline u32 lop3(u32 a, u32 b, u32 c, u32 lut) {
  u32 r = 0;
  if (lut & 0x80) r |= a & b & c;
  if (lut & 0x40) r |= a & b & ~c;
  if (lut & 0x20) r |= a & ~b & c;
  if (lut & 0x10) r |= a & ~b & ~c;
  if (lut & 0x08) r |= ~a & b & c;
  if (lut & 0x04) r |= ~a & b & ~c;
  if (lut & 0x02) r |= ~a & ~b & c;
  if (lut & 0x01) r |= ~a & ~b & ~c;
  return r;
}
DEF3(bfe_u32, u32, u32, u32, u32, u32, bfe_u(A, B & 0xFF, C & 0xFF))
DEF3(bfe_s32, u32, u32, u32, u32, u32, bfe_s(A, B & 0xFF, C & 0xFF))
DEF1(popc_32, u32, u32, u32, __builtin_popcount(A))
DEF1(clz_32, u32, u32, u32, A ? __builtin_clz(A) : 32)
DEF1(brev_32, u32, u32, u32, brev(A))
DEF3(prmt, u32, u32, u32, u32, u32, prmt(A, B, C, o->sub))
DEF3(lop3, u32, u32, u32, u32, u32, lop3(A, B, C, (u32)o->imm))
DEF3(shf_l_wrap, u32, u32, u32, u32, u32, (u32)((((u64)B << 32 | A) << (C & 31)) >> 32))
DEF3(shf_l_clamp, u32, u32, u32, u32, u32, C > 31 ? A : (u32)((((u64)B << 32 | A) << (C & 31)) >> 32))
DEF3(shf_r_wrap, u32, u32, u32, u32, u32, (u32)(((u64)B << 32 | A) >> (C & 31)))
DEF3(shf_r_clamp, u32, u32, u32, u32, u32, C > 31 ? B : (u32)(((u64)B << 32 | A) >> (C & 31)))
static void x_bfi_32(struct exec *x, const struct xop *o, uint32_t mask) { /* the fourth source is in d2 */
  u32 *d = OPND(u32, o->d);
  const u32 *pa = OPND(u32, o->a), *pb = OPND(u32, o->b), *pc = OPND(u32, o->c), *pd = OPND(u32, o->d2);
  const int32_t *m = lanes(x, mask);
  LOOP {
    u32 r = bfi(pa[i], pb[i], pc[i] & 0xFF, pd[i] & 0xFF), old = d[i];
    d[i] = m[i] ? r : old;
  }
}

#include "simt/exec_mem.h"

const xop_fn HANDLERS[X_COUNT] = {
#define XOPS_VECTOR_ONLY
#define X(name) [X_##name] = x_##name,
#include "simt/xops.def"
#undef X
#undef XOPS_VECTOR_ONLY
};
