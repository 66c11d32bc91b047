/* fp_approx.c - see fp_approx.h: argument reduction, then a Taylor or atanh series to beyond float precision. */
#include "simt/ops/fp_approx.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

double approx_ex2(double x) {
  if (x != x) return x;
  if (x > 1100) return INFINITY;
  if (x < -1100) return 0;
  double n = floor(x + 0.5), t = (x - n) * 0x1.62e42fefa39efp-1, r = 1, term = 1; /* ln 2 */
  for (int k = 1; k <= 14; k++) {
    term *= t / k;
    r += term;
  }
  return ldexp(r, (int)n);
}

double approx_lg2(double x) {
  if (x != x || x < 0) return NAN;
  if (x == 0) return -INFINITY;
  if (isinf(x)) return x;
  int e;
  double m = frexp(x, &e);
  if (m < 0x1.6a09e667f3bcdp-1) m *= 2, e--; /* m in [sqrt(1/2), sqrt(2)) */
  double s = (m - 1) / (m + 1), s2 = s * s, p = s, r = 0;
  for (int k = 1; k <= 25; k += 2) {
    r += p / k;
    p *= s2;
  }
  return e + r * 0x1.71547652b82fep+1; /* 2 / ln 2 */
}

/* 2/pi in 24-bit digits. */
static const uint32_t two_over_pi[] = {0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62,
                                       0x95993C, 0x439041, 0xFE5163, 0xABDEBB, 0xC561B7, 0x246E3A};

/* |x| = quadrant * pi/2 + r, |r| <= pi/4; exact for every float (Payne and Hanek, 1983). */
static double reduce(double x, int *quadrant) {
  int e;
  uint64_t m = (uint64_t)ldexp(frexp(x, &e), 24); /* x = m * 2^(e - 24) */
  int low = e - 24;
  *quadrant = 0;
  if (e <= -1) return x; /* |x| < 1/2 */
  /* bits of 2/pi below weight 2^-(low - 2) matter; take 96 of them from there */
  int first = low > 2 ? low - 2 : 0; /* bits of 2/pi that give multiples of 4 */
  unsigned __int128 window = 0;
  for (int k = 0; k < 96; k++) {
    int bit = first + k;
    window = window << 1 | (bit / 24 < 12 ? two_over_pi[bit / 24] >> (23 - bit % 24) & 1 : 0);
  }
  /* window has weight 2^-(first + 96); product with m has weight 2^(low - first - 96) */
  unsigned __int128 p = window * m; /* fits: 96 + 24 bits */
  int point = first + 96 - low;     /* bits below the binary point */
  uint64_t q = point >= 128 ? 0 : (uint64_t)(p >> point);
  unsigned __int128 frac = point >= 128 ? p : p & (((unsigned __int128)1 << point) - 1);
  double f = ldexp((double)(uint64_t)(point > 64 ? frac >> (point - 64) : frac), point > 64 ? -64 : -point);
  if (f > 0.5) f -= 1, q++;
  *quadrant = (int)(q & 3);
  return f * 0x1.921fb54442d18p+0;
}

static double sin_poly(double r) {
  double r2 = r * r, term = r, s = r;
  for (int k = 1; k <= 8; k++) {
    term *= -r2 / ((2 * k) * (2 * k + 1));
    s += term;
  }
  return s;
}

static double cos_poly(double r) {
  double r2 = r * r, term = 1, s = 1;
  for (int k = 1; k <= 8; k++) {
    term *= -r2 / ((2 * k - 1) * (2 * k));
    s += term;
  }
  return s;
}

double approx_sin(double x) {
  if (x != x || isinf(x)) return NAN;
  int q;
  double r = reduce(fabs(x), &q), v = q & 1 ? cos_poly(r) : sin_poly(r);
  if (q & 2) v = -v;
  return signbit(x) ? -v : v;
}

double approx_cos(double x) {
  if (x != x || isinf(x)) return NAN;
  int q;
  double r = reduce(fabs(x), &q), v = q & 1 ? -sin_poly(r) : cos_poly(r);
  return q & 2 ? -v : v;
}

double approx_tanh(double x) {
  if (x != x) return x;
  double a = fabs(x);
  if (a > 20) return copysign(1, x);
  if (a < 1e-4) return x - x * x * x / 3;
  double e = approx_ex2(a * 0x1.71547652b82fep+1); /* exp(2a) */
  return copysign(1 - 2 / (e + 1), x);
}
