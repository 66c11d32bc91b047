/* estimate.h - totals from samples, with their intervals: Cochran, "Sampling Techniques", 3rd ed. 1977, chapters 5 to
 * 8.
 *
 * A stratum is a cluster of launches. Of all its members the executed warp instructions x are known, of the timed ones
 * a counter y too. Of four members and more the rest is estimated by a line, y against x (chapter 7), plus what the
 * timed neighbours in the order of x lie beside it; of fewer by the ratio of y to x (chapter 6). Strata are added up
 * (chapter 5); a stratum that is timed whole has no variance.
 */
#ifndef SAMPLE_ESTIMATE_H
#define SAMPLE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Student's t: the value that |t| with `freedom` degrees of freedom (fractions allowed) exceeds with probability
 * 1 - confidence. */
double estimate_student(double confidence, double freedom);

struct estimate_stratum {
  uint64_t members;     /* N */
  size_t timed;         /* n, 0 < n <= N */
  double x_all;         /* sum of x over all members */
  const double *x, *y;  /* of the timed ones */
  const double *own;    /* variance of each y, if it is an estimate itself; NULL: exact */
  double own_freedom;   /* degrees of freedom of one of them */
  double beside;        /* per member that is not timed, see struct estimate */
  const double *weight; /* of each y in the total (estimate_weights), timed members in the order of x; NULL: ratio */
};

/* The weight of each of `n` timed members in the estimate of the total of `all`, whose x ascend; place[]: where in that
 * order the timed ones are, ascending too. At least ESTIMATE_LINE of them. */
enum { ESTIMATE_LINE = 4 };
void estimate_weights(const double *x, size_t all, const size_t *place, size_t n, double *weight);

/* What a stratum contributes. */
struct estimate_part {
  double total;    /* estimate of the sum of y */
  double residual; /* variance of y - R x between members, as measured; 0 with n < 2 */
  double between;  /* of the variance of `total`: what more members would reduce */
  double within;   /* what more precise y would reduce, where all members are timed */
};

struct estimate {
  double total, variance, freedom;
  double beside; /* the part of `variance` that more samples do not show: what is left is moved by as much */
};

/* Usual relative standard deviation of members of a stratum: about the median of launches of equal work
 * (docs/notes/speed.md). */
extern const double estimate_usual;
/* Standard deviation of the mean of what is not timed, as a share of it, where struct estimate_stratum has no more:
 * untimed launches leave caches and queues otherwise than timed ones, which no sample shows. Measured, there too. */
extern const double estimate_beside;
/* The sum over strata. With few members in a stratum its own variance is uncertain: the mean relative variance of all
 * strata and of the usual one enters it with the weight of one degree of freedom, as a conjugate prior would (Gelman et
 * al., "Bayesian Data Analysis", section 2.6). parts[n] may be NULL. */
struct estimate estimate_total(const struct estimate_stratum *s, size_t n, struct estimate_part *parts);
/* Half the width of the interval. */
double estimate_half(const struct estimate *t, double confidence);
/* The ratio of two totals of the same members under two machines, `a` over `b`: strata of both have the same members in
 * the same order, so the differences count (chapter 6.11). */
struct estimate estimate_ratio(const struct estimate_stratum *a, const struct estimate_stratum *b, size_t n);

/* How many members of each stratum to time, so that the half width becomes at most `half`: Neyman's allocation with
 * costs (5.5), n from the variances of `parts`, never less than what is timed. Costs: of one member. */
void estimate_allocate(const struct estimate_stratum *s, const struct estimate_part *parts, const double *cost,
                       size_t n, double half, double student, uint64_t *want);

#endif
