/* Device mathematics.
 *
 * Exact operations and the hardware's fast approximations are PTX instructions. The rest (sin, exp, pow, ...) is
 * libclc's, Debian's OpenCL C library for this target, bound by its symbol names and inlined when tools/sluice-cc
 * links its bitcode. tests/cuda/math.cu measures the error of each against the host's libm. libclc's sine, cosine and
 * tangent lose all precision near the zeros outside [-pi, pi], so these three are Sluice's own. */
#ifndef SLUICE_CUDA_MATH_FUNCTIONS_H
#define SLUICE_CUDA_MATH_FUNCTIONS_H

#include "device_functions.h"

/* One argument; two arguments. The symbol is libclc's mangled name without the types. */
#define SL_CLC1(name, sym)                                              \
  extern "C" __device__ float sl_clc_##name##f(float) __asm__(sym "f"); \
  extern "C" __device__ double sl_clc_##name(double) __asm__(sym "d");  \
  SL_DEV float name##f(float x) {                                       \
    return sl_clc_##name##f(x);                                         \
  }                                                                     \
  SL_DEV float name(float x) {                                          \
    return sl_clc_##name##f(x);                                         \
  }                                                                     \
  SL_DEV double name(double x) {                                        \
    return sl_clc_##name(x);                                            \
  }
#define SL_CLC2(name, sym)                                                      \
  extern "C" __device__ float sl_clc_##name##f(float, float) __asm__(sym "ff"); \
  extern "C" __device__ double sl_clc_##name(double, double) __asm__(sym "dd"); \
  SL_DEV float name##f(float x, float y) {                                      \
    return sl_clc_##name##f(x, y);                                              \
  }                                                                             \
  SL_DEV float name(float x, float y) {                                         \
    return sl_clc_##name##f(x, y);                                              \
  }                                                                             \
  SL_DEV double name(double x, double y) {                                      \
    return sl_clc_##name(x, y);                                                 \
  }
SL_CLC1(asin, "_Z4asin")
SL_CLC1(acos, "_Z4acos")
SL_CLC1(atan, "_Z4atan")
SL_CLC1(sinh, "_Z4sinh")
SL_CLC1(cosh, "_Z4cosh")
SL_CLC1(tanh, "_Z4tanh")
SL_CLC1(asinh, "_Z5asinh")
SL_CLC1(acosh, "_Z5acosh")
SL_CLC1(atanh, "_Z5atanh")
SL_CLC1(exp, "_Z3exp")
SL_CLC1(exp2, "_Z4exp2")
SL_CLC1(exp10, "_Z5exp10")
SL_CLC1(expm1, "_Z5expm1")
SL_CLC1(log, "_Z3log")
SL_CLC1(log2, "_Z4log2")
SL_CLC1(log10, "_Z5log10")
SL_CLC1(log1p, "_Z5log1p")
SL_CLC1(cbrt, "_Z4cbrt")
SL_CLC1(erf, "_Z3erf")
SL_CLC1(erfc, "_Z4erfc")
SL_CLC1(tgamma, "_Z6tgamma")
SL_CLC1(lgamma, "_Z6lgamma")
SL_CLC1(sinpi, "_Z5sinpi")
SL_CLC1(cospi, "_Z5cospi")
SL_CLC2(pow, "_Z3pow")
SL_CLC2(atan2, "_Z5atan2")
SL_CLC2(fmod, "_Z4fmod")
SL_CLC2(hypot, "_Z5hypot")
#undef SL_CLC1
#undef SL_CLC2

/* ---- sine, cosine, tangent ---- */
extern "C" __device__ float sl_clc_sinf(float) __asm__("_Z3sinf");
extern "C" __device__ float sl_clc_cosf(float) __asm__("_Z3cosf");
extern "C" __device__ double sl_clc_sin(double) __asm__("_Z3sind");
extern "C" __device__ double sl_clc_cos(double) __asm__("_Z3cosd");
/* Minimax polynomials on [-pi/4, pi/4]. */
SL_DEV float sl_sin_part(float r) {
  float s = r * r;
  float p = __builtin_fmaf(s, __builtin_fmaf(s, __builtin_fmaf(s, 2.7183114e-6f, -1.9839335e-4f), 8.3333293e-3f),
                           -1.6666667e-1f);
  return __builtin_fmaf(r * s, p, r);
}
SL_DEV float sl_cos_part(float r) {
  float s = r * r;
  float p =
      __builtin_fmaf(s, __builtin_fmaf(s, __builtin_fmaf(s, 2.4390449e-5f, -1.3886763e-3f), 4.1666623e-2f), -0.5f);
  return __builtin_fmaf(s, p, 1.0f);
}
/* Quarter turns are taken off with pi/2 in three parts (Cody and Waite), exact enough up to 1e5; above, libclc's
 * reduction, which is made for large arguments. `turn` is 0 for the sine, 1 for the cosine. */
SL_DEV float sl_sin_turned(float x, int turn) {
  float j = __builtin_rintf(x * 0.63661977f);
  float r = __builtin_fmaf(j, -1.57079601287841796875f, x);
  r = __builtin_fmaf(j, -3.1391647326017846e-7f, r);
  r = __builtin_fmaf(j, -5.390302529957765e-15f, r);
  int q = __float2int_rz(j) + turn;
  float v = q & 1 ? sl_cos_part(r) : sl_sin_part(r);
  return q & 2 ? -v : v;
}
SL_DEV float sinf(float x) {
  return __builtin_fabsf(x) > 100000.0f ? sl_clc_sinf(x) : sl_sin_turned(x, 0);
}
SL_DEV float cosf(float x) {
  return __builtin_fabsf(x) > 100000.0f ? sl_clc_cosf(x) : sl_sin_turned(x, 1);
}
SL_DEV double sl_sin_turned(double x, int turn) {
  double j = __builtin_rint(x * 0.63661977236758134);
  double r = __builtin_fma(j, -1.5707963267948966, x);
  r = __builtin_fma(j, -6.123233995736766e-17, r);
  double s = r * r, p;
  int q = __double2int_rz(j) + turn;
  if (q & 1) {
    p = __builtin_fma(s, -1.13596475577881948265e-11, 2.08757232129817482790e-9);
    p = __builtin_fma(s, p, -2.75573143513906633035e-7);
    p = __builtin_fma(s, p, 2.48015872894767294178e-5);
    p = __builtin_fma(s, p, -1.38888888888741095749e-3);
    p = __builtin_fma(s, p, 4.16666666666666019037e-2);
    p = __builtin_fma(s, __builtin_fma(s, p, -0.5), 1.0);
  } else {
    p = __builtin_fma(s, 1.58969099521155010221e-10, -2.50507602534068634195e-8);
    p = __builtin_fma(s, p, 2.75573137070700676789e-6);
    p = __builtin_fma(s, p, -1.98412698298579493134e-4);
    p = __builtin_fma(s, p, 8.33333333332248946124e-3);
    p = __builtin_fma(s, p, -1.66666666666666324348e-1);
    p = __builtin_fma(r * s, p, r);
  }
  return q & 2 ? -p : p;
}
extern "C" __device__ float sl_clc_tanf(float) __asm__("_Z3tanf");
extern "C" __device__ double sl_clc_tan(double) __asm__("_Z3tand");
SL_DEV float tanf(float x) {
  return __builtin_fabsf(x) > 100000.0f ? sl_clc_tanf(x) : sl_sin_turned(x, 0) / sl_sin_turned(x, 1);
}
SL_DEV float tan(float x) {
  return tanf(x);
}
SL_DEV double tan(double x) {
  return __builtin_fabs(x) > 100000.0 ? sl_clc_tan(x) : sl_sin_turned(x, 0) / sl_sin_turned(x, 1);
}
SL_DEV float sin(float x) {
  return sinf(x);
}
SL_DEV float cos(float x) {
  return cosf(x);
}
SL_DEV double sin(double x) {
  return __builtin_fabs(x) > 100000.0 ? sl_clc_sin(x) : sl_sin_turned(x, 0);
}
SL_DEV double cos(double x) {
  return __builtin_fabs(x) > 100000.0 ? sl_clc_cos(x) : sl_sin_turned(x, 1);
}

/* ---- operations that PTX has ---- */
#define SL_OP1(name, single, dbl) \
  SL_DEV float name##f(float x) { \
    return single;                \
  }                               \
  SL_DEV float name(float x) {    \
    return single;                \
  }                               \
  SL_DEV double name(double x) {  \
    return dbl;                   \
  }
#define SL_OP2(name, single, dbl)          \
  SL_DEV float name##f(float x, float y) { \
    return single;                         \
  }                                        \
  SL_DEV float name(float x, float y) {    \
    return single;                         \
  }                                        \
  SL_DEV double name(double x, double y) { \
    return dbl;                            \
  }
SL_OP1(sqrt, __nvvm_sqrt_rn_f(x), __nvvm_sqrt_rn_d(x))
SL_OP1(rsqrt, __nvvm_rsqrt_approx_f(x), __nvvm_rsqrt_approx_d(x))
SL_OP1(fabs, __builtin_fabsf(x), __builtin_fabs(x))
SL_OP1(floor, __builtin_floorf(x), __builtin_floor(x))
SL_OP1(ceil, __builtin_ceilf(x), __builtin_ceil(x))
SL_OP1(trunc, __builtin_truncf(x), __builtin_trunc(x))
SL_OP1(rint, __builtin_rintf(x), __builtin_rint(x))
SL_OP1(nearbyint, __builtin_rintf(x), __builtin_rint(x))
/* Half away from zero, which no PTX rounding mode is. */
SL_OP1(round,
       __builtin_copysignf(__builtin_floorf(__builtin_fabsf(x) + (__builtin_fabsf(x) < 8388608.f ? .5f : 0.f)), x),
       __builtin_copysign(__builtin_floor(__builtin_fabs(x) + (__builtin_fabs(x) < 4503599627370496. ? .5 : 0.)), x))
SL_OP2(fmax, __builtin_fmaxf(x, y), __builtin_fmax(x, y))
SL_OP2(fmin, __builtin_fminf(x, y), __builtin_fmin(x, y))
SL_OP2(copysign, __builtin_copysignf(x, y), __builtin_copysign(x, y))
SL_OP2(fdim, x > y ? x - y : 0.f, x > y ? x - y : 0.)
#undef SL_OP1
#undef SL_OP2
SL_DEV float abs(float x) {
  return __builtin_fabsf(x);
}
SL_DEV double abs(double x) {
  return __builtin_fabs(x);
}
SL_DEV int abs(int x) {
  return x < 0 ? -x : x;
}
SL_DEV sl_ll abs(sl_ll x) {
  return x < 0 ? -x : x;
}
SL_DEV long labs(long x) {
  return x < 0 ? -x : x;
}
SL_DEV float fmaf(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
SL_DEV double fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
SL_DEV float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
SL_DEV int lrintf(float x) {
  return __float2int_rn(x);
}
SL_DEV float ldexpf(float x, int e) {
  /* Two steps keep the factors normal for every exponent whose result is finite and normal. */
  int h = e / 2;
  return x * __int_as_float((127 + h) << 23) * __int_as_float((127 + e - h) << 23);
}
SL_DEV void sincosf(float x, float *s, float *c) {
  *s = sinf(x);
  *c = cosf(x);
}
SL_DEV void sincos(double x, double *s, double *c) {
  *s = sin(x);
  *c = cos(x);
}
SL_DEV float pow(float x, int n) {
  return powf(x, (float)n);
}
SL_DEV double pow(double x, int n) {
  return pow(x, (double)n);
}

/* ---- the hardware's approximations ---- */
#define SL_APPROX(name, ptx)                           \
  SL_DEV float name(float x) {                         \
    float y;                                           \
    asm(ptx ".approx.f32 %0, %1;" : "=f"(y) : "f"(x)); \
    return y;                                          \
  }
SL_APPROX(__sinf, "sin")
SL_APPROX(__cosf, "cos")
SL_APPROX(sl_ex2, "ex2")
SL_APPROX(sl_lg2, "lg2")
#undef SL_APPROX
SL_DEV float __expf(float x) {
  return sl_ex2(x * 1.4426950408889634f);
}
SL_DEV float __exp10f(float x) {
  return sl_ex2(x * 3.3219280948873623f);
}
SL_DEV float __log2f(float x) {
  return sl_lg2(x);
}
SL_DEV float __logf(float x) {
  return sl_lg2(x) * 0.6931471805599453f;
}
SL_DEV float __log10f(float x) {
  return sl_lg2(x) * 0.30102999566398120f;
}
SL_DEV float __powf(float x, float y) {
  return sl_ex2(y * sl_lg2(x));
}
SL_DEV float __tanf(float x) {
  float q;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(q) : "f"(__sinf(x)), "f"(__cosf(x)));
  return q;
}
SL_DEV void __sincosf(float x, float *s, float *c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
SL_DEV float __fdividef(float x, float y) {
  float q;
  asm("div.approx.f32 %0, %1, %2;" : "=f"(q) : "f"(x), "f"(y));
  return q;
}
SL_DEV float fdividef(float x, float y) {
  return x / y;
}
SL_DEV float __frcp_rn(float x) {
  return __nvvm_rcp_rn_f(x);
}
SL_DEV float __fsqrt_rn(float x) {
  return __nvvm_sqrt_rn_f(x);
}
SL_DEV float __saturatef(float x) {
  return __nvvm_saturate_f(x);
}
SL_DEV float __fadd_rn(float a, float b) {
  return __nvvm_add_rn_f(a, b);
}
SL_DEV float __fmul_rn(float a, float b) {
  return __nvvm_mul_rn_f(a, b);
}
SL_DEV float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
SL_DEV float __fdiv_rn(float a, float b) {
  return __nvvm_div_rn_f(a, b);
}
SL_DEV double __dadd_rn(double a, double b) {
  return __nvvm_add_rn_d(a, b);
}
SL_DEV double __dmul_rn(double a, double b) {
  return __nvvm_mul_rn_d(a, b);
}

/* ---- min and max, on both sides as in the toolkit ---- */
#define SL_MINMAX(T)                                                          \
  static inline __host__ __device__ __attribute__((unused)) T min(T a, T b) { \
    return b < a ? b : a;                                                     \
  }                                                                           \
  static inline __host__ __device__ __attribute__((unused)) T max(T a, T b) { \
    return a < b ? b : a;                                                     \
  }
SL_MINMAX(int)
SL_MINMAX(sl_uint)
SL_MINMAX(long)
SL_MINMAX(unsigned long)
SL_MINMAX(sl_ll)
SL_MINMAX(sl_ull)
#undef SL_MINMAX
#define SL_FMINMAX(T, R, fmin_, fmax_, S)                                     \
  static inline __host__ __device__ __attribute__((unused)) R min(T a, S b) { \
    return fmin_((R)a, (R)b);                                                 \
  }                                                                           \
  static inline __host__ __device__ __attribute__((unused)) R max(T a, S b) { \
    return fmax_((R)a, (R)b);                                                 \
  }
SL_FMINMAX(float, float, __builtin_fminf, __builtin_fmaxf, float)
SL_FMINMAX(double, double, __builtin_fmin, __builtin_fmax, double)
SL_FMINMAX(float, double, __builtin_fmin, __builtin_fmax, double)
SL_FMINMAX(double, double, __builtin_fmin, __builtin_fmax, float)
#undef SL_FMINMAX
static inline __host__ __device__ __attribute__((unused)) sl_uint min(int a, sl_uint b) {
  return min((sl_uint)a, b);
}
static inline __host__ __device__ __attribute__((unused)) sl_uint min(sl_uint a, int b) {
  return min(a, (sl_uint)b);
}
static inline __host__ __device__ __attribute__((unused)) sl_uint max(int a, sl_uint b) {
  return max((sl_uint)a, b);
}
static inline __host__ __device__ __attribute__((unused)) sl_uint max(sl_uint a, int b) {
  return max(a, (sl_uint)b);
}

#endif
