/* estimate.c - see estimate.h. */
#include "sample/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* ---- Student's t ---- */

/* Continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), by Lentz's method. */
static double beta_fraction(double a, double b, double x) {
  const double tiny = 1e-300, close = 1e-14;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (fabs(d) < tiny ? tiny : d);
  double h = d;
  for (int m = 1; m < 1000; m++) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 + even * d, d = 1 / (fabs(d) < tiny ? tiny : d);
    c = 1 + even / c, c = fabs(c) < tiny ? tiny : c;
    h *= d * c;
    d = 1 + odd * d, d = 1 / (fabs(d) < tiny ? tiny : d);
    c = 1 + odd / c, c = fabs(c) < tiny ? tiny : c;
    h *= d * c;
    if (fabs(d * c - 1) < close) break;
  }
  return h;
}

static double beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double estimate_student(double confidence, double freedom) {
  if (freedom < 1) freedom = 1;
  if (freedom > 1e6) freedom = 1e6;
  double low = 0, high = 1, tail = 1 - confidence;
#define TAIL(t) beta(freedom / 2, 0.5, freedom / (freedom + (t) * (t)))
  while (TAIL(high) > tail && high < 1e9) high *= 2;
  for (int i = 0; i < 100; i++) {
    double middle = (low + high) / 2;
    *(TAIL(middle) > tail ? &low : &high) = middle;
  }
#undef TAIL
  return (low + high) / 2;
}

/* ---- totals ---- */

struct moments {
  double x, y, ratio, residual;
  double size; /* mean of the values that a relative variance refers to */
};

static struct moments moments_of(const struct estimate_stratum *s) {
  struct moments m = {0};
  for (size_t i = 0; i < s->timed; i++) m.x += s->x[i], m.y += s->y[i];
  m.ratio = m.x > 0 ? m.y / m.x : 0;
  for (size_t i = 0; i < s->timed; i++) {
    double d = s->y[i] - m.ratio * s->x[i];
    m.residual += d * d;
  }
  m.residual = s->timed > 1 ? m.residual / (double)(s->timed - 1) : 0;
  return m;
}

/* The mean over strata of the relative variance between members, weighted by degrees of freedom. */
static double borrowed(const struct estimate_stratum *s, const struct moments *m, size_t n) {
  double sum = 0, weight = 0;
  for (size_t h = 0; h < n; h++) {
    double f = (double)s[h].timed - 1, size = m[h].size;
    if (size > 0 && f > 0) sum += f * m[h].residual / (size * size), weight += f;
  }
  return weight > 0 ? sum / weight : 0;
}

/* The variance of the estimate, from the variance between members. */
static double between_of(const struct estimate_stratum *s, double x_timed, double residual) {
  double n = (double)s->timed, all = (double)s->members, f = n / all;
  if (s->timed >= s->members || x_timed <= 0) return 0;
  double scale = s->x_all / all / (x_timed / n);
  return all * all * (1 - f) / n * residual * scale * scale;
}

/* Residuals contain the variance of the y themselves; between members it is less. */
static double own_of(const struct estimate_stratum *s) {
  double sum = 0;
  for (size_t i = 0; s->own && i < s->timed; i++) sum += s->own[i];
  return sum;
}

static struct estimate_part part_of(const struct estimate_stratum *s, const struct moments *m, double relative) {
  double f = (double)s->timed - 1;
  struct estimate_part p = {.residual = m->residual};
  double residual = (f * m->residual + relative * m->size * m->size) / (f + 1);
  p.total = m->y + m->ratio * (s->timed < s->members ? s->x_all - m->x : 0);
  p.between = between_of(s, m->x, residual);
  p.within = own_of(s) * (double)s->members / (double)s->timed;
  return p;
}

/* Variances are relative to the y of `sizes`. */
static struct estimate total_of(const struct estimate_stratum *s, size_t n, const struct estimate_stratum *sizes,
                                struct estimate_part *parts) {
  struct estimate t = {0};
  struct moments *m = mem_zeroed(n, sizeof *m);
  double spread = 0;
  for (size_t h = 0; h < n; h++) {
    m[h] = moments_of(&s[h]);
    for (size_t i = 0; i < sizes[h].timed; i++) m[h].size += sizes[h].y[i] / (double)sizes[h].timed;
  }
  double relative = borrowed(s, m, n);
  for (size_t h = 0; h < n; h++) {
    struct estimate_part p = part_of(&s[h], &m[h], relative);
    double f = s[h].timed > 1 ? (double)s[h].timed - 1 : 1, g = s[h].own_freedom * (double)s[h].timed;
    t.total += p.total;
    t.variance += p.between + p.within;
    spread += p.between * p.between / f; /* Satterthwaite (Cochran 5.4) */
    if (g > 0) spread += p.within * p.within / g;
    if (parts) parts[h] = p;
  }
  t.freedom = spread > 0 ? t.variance * t.variance / spread : 1e6;
  free(m);
  return t;
}

struct estimate estimate_total(const struct estimate_stratum *s, size_t n, struct estimate_part *parts) {
  return total_of(s, n, s, parts);
}

double estimate_half(const struct estimate *t, double confidence) {
  return t->variance > 0 ? estimate_student(confidence, t->freedom) * sqrt(t->variance) : 0;
}

/* The total of a - R b has the variance of R's numerator; b scales it. */
struct estimate estimate_ratio(const struct estimate_stratum *a, const struct estimate_stratum *b, size_t n) {
  struct estimate ta = estimate_total(a, n, NULL), tb = estimate_total(b, n, NULL), d;
  if (!(tb.total > 0)) return (struct estimate){.freedom = 1};
  double ratio = ta.total / tb.total;
  struct estimate_stratum *s = mem_zeroed(n, sizeof *s);
  for (size_t h = 0; h < n; h++) {
    double *y = mem_zeroed(a[h].timed, sizeof *y), *own = mem_zeroed(a[h].timed, sizeof *own);
    for (size_t i = 0; i < a[h].timed; i++) {
      y[i] = a[h].y[i] - ratio * b[h].y[i];
      if (a[h].own) own[i] += a[h].own[i];
      if (b[h].own) own[i] += ratio * ratio * b[h].own[i];
    }
    s[h] = a[h];
    s[h].y = y;
    s[h].own = own;
  }
  d = total_of(s, n, a, NULL);
  for (size_t h = 0; h < n; h++) free((void *)s[h].y), free((void *)s[h].own);
  free(s);
  return (struct estimate){.total = ratio, .variance = d.variance / (tb.total * tb.total), .freedom = d.freedom};
}

/* ---- allocation ---- */

/* Members for the multiplier `scale`, and the variance that remains between members. */
static double allocate_at(const struct estimate_stratum *s, const struct estimate_part *parts, const double *cost,
                          size_t n, double scale, uint64_t *want) {
  double variance = 0;
  for (size_t h = 0; h < n; h++) {
    double all = (double)s[h].members, now = (double)s[h].timed, f = now / all;
    want[h] = s[h].timed;
    if (s[h].timed >= s[h].members) continue;
    double spread = sqrt(parts[h].between * now / (1 - f)); /* N S */
    double k = ceil(scale * spread / sqrt(cost[h] > 0 ? cost[h] : 1));
    if (k > (double)want[h]) want[h] = k >= all ? s[h].members : (uint64_t)k;
    double share = (double)want[h] / all;
    variance += spread * spread * (1 - share) / (double)want[h];
  }
  return variance;
}

void estimate_allocate(const struct estimate_stratum *s, const struct estimate_part *parts, const double *cost,
                       size_t n, double half, double student, uint64_t *want) {
  double bound = half / student * (half / student), low = 0, high = 1e-9;
  for (size_t h = 0; h < n; h++) bound -= parts[h].within;
  if (allocate_at(s, parts, cost, n, 0, want) <= bound) return;
  while (high < 1e18 && allocate_at(s, parts, cost, n, high, want) > bound) low = high, high *= 2;
  for (int i = 0; i < 60; i++) {
    double middle = (low + high) / 2;
    *(allocate_at(s, parts, cost, n, middle, want) > bound ? &low : &high) = middle;
  }
  allocate_at(s, parts, cost, n, high, want);
}
