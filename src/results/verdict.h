/* verdict.h - compares a measurement with a published number, by one rule for every paper (docs/how-to/papers.md).
 *
 * - reproduced: a change in the same direction within a quarter of the published one, or a rate within a quarter; or
 *   the published number lies in our interval, if that can tell: one of a change that does not hold no change, one of a
 *   rate between half and twice the published one. A published bound is reproduced when the result keeps it. A
 *   published "no change" is reproduced by a change of at most 3 %, or one whose interval holds no change.
 * - direction: a change in the same direction, of another size.
 * - contradicted: a change in the other direction, none where one was published (our interval holds no change and not
 *   the published number), or a rate elsewhere.
 * - not-comparable: nothing measures it, or our interval holds the published number and cannot tell; but a change in
 *   the same direction between half and twice the published one is `direction` then.
 */
#ifndef RESULTS_VERDICT_H
#define RESULTS_VERDICT_H

#include <stdbool.h>

enum verdict { VERDICT_REPRODUCED, VERDICT_DIRECTION, VERDICT_CONTRADICTED, VERDICT_NOT_COMPARABLE, VERDICTS };
extern const char *const verdict_names[VERDICTS];

struct verdict_case {
  double published, ours;
  double low, high; /* the measurement's interval, if has_interval */
  double none;      /* the value of "no change", if has_none; rates and counts have none */
  double percent;   /* one percent in the unit of the numbers */
  bool has_interval, has_none;
  int bound; /* 1: the published number is a lower bound, -1: an upper one */
};

enum verdict verdict_of(const struct verdict_case *c, const char **why);
/* Is the result within a quarter of the published number or change, or is the number in our interval; of a bound: kept;
 * of a published "no change": none here. Without the question whether the interval can tell. */
bool verdict_near(const struct verdict_case *c);
/* A published change: is the simulated one in the same direction? Without one (no value of no change, or none
 * published): false. */
bool verdict_has_sign(const struct verdict_case *c);
bool verdict_same_sign(const struct verdict_case *c);

#endif
