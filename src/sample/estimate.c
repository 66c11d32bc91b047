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

const double estimate_usual = 0.01, estimate_beside = 0.0005;

struct moments {
  double x, y, ratio, residual;
  double freedom; /* degrees of freedom of `residual` */
  double size;    /* mean of the values that a relative variance refers to */
};

/* A line through points, y against x. */
struct line {
  double mean_x, mean_y, slope, spread; /* spread: sum of the squared differences of x, 0 if they are all the same */
};

static struct line line_of(const double *x, const double *y, size_t n) {
  struct line l = {0};
  double product = 0;
  for (size_t i = 0; i < n; i++) l.mean_x += x[i] / (double)n, l.mean_y += y ? y[i] / (double)n : 0;
  for (size_t i = 0; i < n; i++) {
    double d = x[i] - l.mean_x;
    l.spread += d * d;
    product += y ? d * (y[i] - l.mean_y) : 0;
  }
  if (l.spread <= 1e-12 * l.mean_x * l.mean_x * (double)n) l.spread = 0;
  l.slope = l.spread > 0 ? product / l.spread : 0;
  return l;
}

/* Row i of A v, where v' A v is half the sum of the squared differences of successive v. */
static double successive(const double *v, size_t n, size_t i) {
  double sum = 0;
  if (i) sum += v[i] - v[i - 1];
  if (i + 1 < n) sum += v[i] - v[i + 1];
  return sum / 2;
}

/* The variance beside the line, from successive differences: what changes slowly with x is in the estimate, not in its
 * error (Wolter, "Introduction to Variance Estimation", 1985, chapter 7). Its expectation and degrees of freedom follow
 * from the traces of the quadratic form in the residuals of a fit: A (I - H), with the projection H on the columns of
 * the fit, q of them, orthogonal and of length one. */
static void residual_of_line(const struct estimate_stratum *s, struct moments *m) {
  size_t n = s->timed;
  struct line l = line_of(s->x, s->y, n);
  double *column[2] = {mem_zeroed(n, sizeof(double)), mem_zeroed(n, sizeof(double))};
  double *e = mem_zeroed(n, sizeof *e), squares = 0, trace = 0, trace2 = 0, a[2][2] = {{0}}, a2[2] = {0};
  size_t q = l.spread > 0 ? 2 : 1;
  for (size_t i = 0; i < n; i++) {
    column[0][i] = 1 / sqrt((double)n);
    column[1][i] = q == 2 ? (s->x[i] - l.mean_x) / sqrt(l.spread) : 0;
    e[i] = s->y[i] - l.mean_y - l.slope * (s->x[i] - l.mean_x);
  }
  for (size_t i = 0; i < n; i++) {
    double diagonal = (i > 0) / 2.0 + (i + 1 < n) / 2.0;
    squares += e[i] * successive(e, n, i);
    trace += diagonal;
    trace2 += diagonal * diagonal + ((i > 0) + (i + 1 < n)) / 4.0;
    for (size_t k = 0; k < q; k++) {
      double at = successive(column[k], n, i);
      a2[k] += at * at;
      for (size_t j = 0; j < q; j++) a[j][k] += column[j][i] * at;
    }
  }
  for (size_t k = 0; k < q; k++) {
    trace -= a[k][k];
    trace2 -= 2 * a2[k];
    for (size_t j = 0; j < q; j++) trace2 += a[j][k] * a[k][j];
  }
  m->residual = trace > 0 ? squares / trace : 0;
  m->freedom = trace2 > 0 ? trace * trace / trace2 : 1;
  free(column[0]), free(column[1]), free(e);
}

static struct moments moments_of(const struct estimate_stratum *s) {
  struct moments m = {0};
  for (size_t i = 0; i < s->timed; i++) m.x += s->x[i], m.y += s->y[i];
  m.ratio = m.x > 0 ? m.y / m.x : 0;
  if (s->weight) return residual_of_line(s, &m), m;
  for (size_t i = 0; i < s->timed; i++) {
    double d = s->y[i] - m.ratio * s->x[i];
    m.residual += d * d;
  }
  m.freedom = s->timed > 1 ? (double)s->timed - 1 : 0;
  m.residual = s->timed > 1 ? m.residual / m.freedom : 0;
  return m;
}

/* The mean over strata of the relative variance between members, weighted by degrees of freedom; with the usual one,
 * which counts as one of these: few members may be alike by chance. */
static double borrowed(const struct moments *m, size_t n) {
  double sum = estimate_usual * estimate_usual, weight = 1;
  for (size_t h = 0; h < n; h++) {
    double f = m[h].freedom, size = m[h].size;
    if (size > 0 && f > 0) sum += f * m[h].residual / (size * size), weight += f;
  }
  return sum / weight;
}

/* The variance of the estimate, from the variance between members. Behind launches that are not timed a launch takes
 * another time than in the whole run, so the members of the sample are as new: what is estimated varies beside the
 * estimate, in place of the finite population correction. */
static double between_of(const struct estimate_stratum *s, double x_timed, double residual) {
  double n = (double)s->timed, all = (double)s->members, f = n / all;
  if (s->timed >= s->members || x_timed <= 0) return 0;
  if (s->weight) {
    double squares = all;
    for (size_t i = 0; i < s->timed; i++) squares += s->weight[i] * s->weight[i];
    return squares * residual;
  }
  double scale = s->x_all / all / (x_timed / n);
  return all * all * (1 + f) / n * residual * scale * scale;
}

/* The variance of the y themselves. Residuals contain it, so it is added only where there are none. */
static double own_of(const struct estimate_stratum *s) {
  double sum = 0;
  for (size_t i = 0; s->own && i < s->timed; i++) sum += s->own[i];
  return sum;
}

static struct estimate_part part_of(const struct estimate_stratum *s, const struct moments *m, double relative) {
  double f = m->freedom;
  struct estimate_part p = {.residual = m->residual};
  double residual = (f * m->residual + relative * m->size * m->size) / (f + 1);
  p.total = m->y + (s->weight ? 0 : m->ratio * (s->timed < s->members ? s->x_all - m->x : 0));
  for (size_t i = 0; s->weight && i < s->timed; i++) p.total += (s->weight[i] - 1) * s->y[i];
  p.between = between_of(s, m->x, residual);
  if (s->timed == s->members || !(m->freedom > 0)) p.within = own_of(s) * (double)s->members / (double)s->timed;
  return p;
}

/* The rest of a series: each member has the line's value for its x, plus what lies between the residuals of the timed
 * ones before and behind it. The total of that is a sum over the timed y. */
void estimate_weights(const double *x, size_t all, const size_t *place, size_t n, double *weight) {
  double *timed = mem_zeroed(n, sizeof *timed), rest = 0;
  size_t next = 0;
  for (size_t i = 0; i < n; i++) timed[i] = x[place[i]], weight[i] = 1;
  for (size_t j = 0; j < all; j++) {
    if (next < n && place[next] == j) {
      next++;
      continue;
    }
    rest += x[j];
    if (!next || next == n) {
      weight[next ? n - 1 : 0] += 1;
      continue;
    }
    double to = (double)(j - place[next - 1]) / (double)(place[next] - place[next - 1]);
    weight[next - 1] += 1 - to;
    weight[next] += to;
  }
  struct line l = line_of(timed, NULL, n);
  for (size_t i = 0; i < n; i++) rest -= (weight[i] - 1) * timed[i];
  for (size_t i = 0; l.spread > 0 && i < n; i++) weight[i] += rest * (timed[i] - l.mean_x) / l.spread;
  free(timed);
}

/* Variances are relative to the y of `sizes`. */
static struct estimate total_of(const struct estimate_stratum *s, size_t n, const struct estimate_stratum *sizes,
                                struct estimate_part *parts) {
  struct estimate t = {0};
  struct moments *m = mem_zeroed(n, sizeof *m);
  double spread = 0, left = 0;
  for (size_t h = 0; h < n; h++) {
    m[h] = moments_of(&s[h]);
    for (size_t i = 0; i < sizes[h].timed; i++) m[h].size += sizes[h].y[i] / (double)sizes[h].timed;
  }
  double relative = borrowed(m, n);
  for (size_t h = 0; h < n; h++) {
    struct estimate_part p = part_of(&s[h], &m[h], relative);
    double f = m[h].freedom + 1, g = s[h].own_freedom * (double)s[h].timed;
    t.total += p.total;
    left += fmax(estimate_beside * m[h].size, s[h].beside) * (double)(s[h].members - s[h].timed);
    t.variance += p.between + p.within;
    spread += p.between * p.between / f; /* Satterthwaite (Cochran 5.4) */
    if (g > 0) spread += p.within * p.within / g;
    if (parts) parts[h] = p;
  }
  t.beside = left * left;
  t.variance += t.beside;
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
    s[h].beside = hypot(a[h].beside, ratio * b[h].beside);
  }
  d = total_of(s, n, a, NULL);
  for (size_t h = 0; h < n; h++) free((void *)s[h].y), free((void *)s[h].own);
  free(s);
  double size = tb.total * tb.total;
  return (struct estimate){
      .total = ratio, .variance = d.variance / size, .freedom = d.freedom, .beside = d.beside / size};
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
    double spread = sqrt(parts[h].between * now / (1 + f)); /* N S */
    double k = ceil(scale * spread / sqrt(cost[h] > 0 ? cost[h] : 1));
    if (k > (double)want[h]) want[h] = k >= all ? s[h].members : (uint64_t)k;
    double share = (double)want[h] / all;
    if (want[h] < s[h].members) variance += spread * spread * (1 + share) / (double)want[h];
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
