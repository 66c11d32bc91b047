// compilers: clang nvcc
/* math - the error of the device's mathematical functions, in units in the last place, against the host's libm.
 *
 * clang compiles them from libclc, nvcc from NVIDIA's own library. The limits are those of the CUDA programming guide's
 * table rounded up, or looser where libclc is: a limit that is passed is a failure. The __name() forms are the
 * hardware's approximations, whose errors PTX states; they are measured over the ranges where it does. */
#include "../../workloads/common/wl.h"

#define COUNT 4096

#define UNARY(F)                       \
  F(sinf, sin, -100, 100, 2, 0)        \
  F(cosf, cos, -50000, 50000, 2, 0)    \
  F(tanf, tan, -50, 50, 5, 0)          \
  F(asinf, asin, -1, 1, 5, 0)          \
  F(acosf, acos, -1, 1, 5, 0)          \
  F(atanf, atan, -50, 50, 5, 0)        \
  F(sinhf, sinh, -10, 10, 5, 0)        \
  F(coshf, cosh, -10, 10, 5, 0)        \
  F(tanhf, tanh, -10, 10, 5, 0)        \
  F(expf, exp, -80, 80, 4, 0)          \
  F(exp2f, exp2, -100, 100, 4, 0)      \
  F(expm1f, expm1, -10, 10, 4, 0)      \
  F(logf, log, 1e-6, 1e6, 4, 0)        \
  F(log2f, log2, 1e-6, 1e6, 4, 0)      \
  F(log10f, log10, 1e-6, 1e6, 4, 0)    \
  F(log1pf, log1p, -0.9, 100, 4, 0)    \
  F(cbrtf, cbrt, -1000, 1000, 4, 0)    \
  F(erff, erf, -4, 4, 16, 0)           \
  F(erfcf, erfc, -4, 4, 16, 0)         \
  F(sqrtf, sqrt, 0, 1e6, 0.5001, 0)    \
  F(rsqrtf, rsqrt_d, 1e-6, 1e6, 2, 0)  \
  F(floorf, floor, -1e6, 1e6, 0, 0)    \
  F(rintf, rint, -1e6, 1e6, 0, 0)      \
  F(roundf, round, -1e6, 1e6, 0, 0)    \
  F(__expf, exp, -5, 5, 16, 0)         \
  F(__logf, log, 2, 1e6, 4, 0)         \
  F(__sinf, sin, -3.14, 3.14, 0, 1e-6) \
  F(__cosf, cos, -3.14, 3.14, 0, 1e-6)
/* Double precision, whose reference is long double. */
#define DOUBLE(F)                \
  F(sin, sinl, -100, 100, 4)     \
  F(cos, cosl, -100, 100, 4)     \
  F(exp, expl, -500, 500, 4)     \
  F(log, logl, 1e-6, 1e6, 4)     \
  F(sqrt, sqrtl, 0, 1e6, 0.5001) \
  F(atan, atanl, -50, 50, 4)     \
  F(tanh, tanhl, -10, 10, 8)
#define BINARY(F)                         \
  F(powf, pow, 0.01, 100, -8, 8, 16)      \
  F(atan2f, atan2, -10, 10, -10, 10, 6)   \
  F(fmodf, fmod, -1000, 1000, 0.1, 10, 0) \
  F(hypotf, hypot, -1000, 1000, -1000, 1000, 4)

#define KERNEL(f, ref, lo, hi, ulps, absolute)      \
  __global__ void k_##f(const float *x, float *y) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;  \
    y[i] = f(x[i]);                                 \
  }
UNARY(KERNEL)
#undef KERNEL
#define KERNEL(f, ref, lo, hi, lo2, hi2, ulps)                       \
  __global__ void k_##f(const float *x, const float *x2, float *y) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                   \
    y[i] = f(x[i], x2[i]);                                           \
  }
BINARY(KERNEL)
#undef KERNEL

#define KERNEL(f, ref, lo, hi, ulps)                  \
  __global__ void d_##f(const double *x, double *y) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;    \
    y[i] = f(x[i]);                                   \
  }
DOUBLE(KERNEL)
#undef KERNEL

static double rsqrt_d(double x) {
  return 1 / sqrt(x);
}
/* Distance in units in the last place of the wanted single-precision value. */
static double ulps_between(float got, double want) {
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : 1e30;
  int e;
  frexp(want, &e);
  return fabs((double)got - want) / ldexp(1.0, std::max(e, -125) - 24);
}

static double double_ulps(double got, long double want) {
  int e;
  if (isnan(got)) return 1e30;
  frexpl(want, &e);
  return (double)(fabsl(got - want) / ldexpl(1, std::max(e, -1021) - 53));
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "math");
  wl_ready(&w);
  uint64_t seed = w.seed;
  struct wl_check chk = {};
  std::vector<float> x(COUNT), x2(COUNT), y;
  float *dx = wl_alloc<float>(COUNT), *dx2 = wl_alloc<float>(COUNT), *dy = wl_alloc<float>(COUNT);
#define REPORT(f, error, limit, unit)                           \
  printf("%-8s %9.3g %s (limit %g)\n", #f, error, unit, limit); \
  wl_that(&chk, error <= limit, #f " is within its limit")
#define MEASURE(f, ref, lo, hi, ulps, absolute)                                                                     \
  {                                                                                                                 \
    double most = 0;                                                                                                \
    for (float &v : x) v = wl_range(&seed, (float)(lo), (float)(hi));                                               \
    wl_put(dx, x);                                                                                                  \
    k_##f<<<COUNT / 128, 128>>>(dx, dy);                                                                            \
    WL_LAUNCHED();                                                                                                  \
    y = wl_download(dy, COUNT);                                                                                     \
    for (size_t i = 0; i < COUNT; i++)                                                                              \
      most = std::max(most, absolute > 0 ? fabs(y[i] - ref((double)x[i])) : ulps_between(y[i], ref((double)x[i]))); \
    REPORT(f, most, (double)(absolute > 0 ? absolute : ulps), absolute > 0 ? "absolute" : "ulp");                   \
  }
  UNARY(MEASURE)
#undef MEASURE
#define MEASURE(f, ref, lo, hi, lo2, hi2, ulps)                                                                     \
  {                                                                                                                 \
    double most = 0;                                                                                                \
    for (float &v : x) v = wl_range(&seed, (float)(lo), (float)(hi));                                               \
    for (float &v : x2) v = wl_range(&seed, (float)(lo2), (float)(hi2));                                            \
    wl_put(dx, x);                                                                                                  \
    wl_put(dx2, x2);                                                                                                \
    k_##f<<<COUNT / 128, 128>>>(dx, dx2, dy);                                                                       \
    WL_LAUNCHED();                                                                                                  \
    y = wl_download(dy, COUNT);                                                                                     \
    for (size_t i = 0; i < COUNT; i++) most = std::max(most, ulps_between(y[i], ref((double)x[i], (double)x2[i]))); \
    REPORT(f, most, (double)(ulps), "ulp");                                                                         \
  }
  BINARY(MEASURE)
#undef MEASURE
  std::vector<double> z(COUNT), v;
  double *dz = wl_alloc<double>(COUNT), *dv = wl_alloc<double>(COUNT);
#define MEASURE(f, ref, lo, hi, ulps)                                                                    \
  {                                                                                                      \
    double most = 0;                                                                                     \
    for (double &a : z) a = lo + (hi - (lo)) * (double)(wl_next(&seed) >> 11) * 0x1p-53;                 \
    wl_put(dz, z);                                                                                       \
    d_##f<<<COUNT / 128, 128>>>(dz, dv);                                                                 \
    WL_LAUNCHED();                                                                                       \
    v = wl_download(dv, COUNT);                                                                          \
    for (size_t i = 0; i < COUNT; i++) most = std::max(most, double_ulps(v[i], ref((long double)z[i]))); \
    REPORT(f, most, (double)(ulps), "ulp (double)");                                                     \
  }
  DOUBLE(MEASURE)
#undef MEASURE
  return wl_end(&w, &chk);
}
