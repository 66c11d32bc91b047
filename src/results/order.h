/* order.h - the order of a paper's schemes: the pairs that the paper orders, and whether measurements have them so.
 *
 * In the order of use: order_number and order_statement for what the paper says; order_published of each pair;
 * order_judge with what was measured of it.
 */
#ifndef RESULTS_ORDER_H
#define RESULTS_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "results/published.h"

enum { ORDER_MOST = 24 }; /* schemes, called 0 to 23 */

/* How a measurement has a pair that the paper orders; a tie: its interval holds no difference. */
enum order_found { ORDER_AS_PUBLISHED, ORDER_TIE, ORDER_REVERSED, ORDER_NOT_MEASURED, ORDER_FOUND };
extern const char *const order_found_names[ORDER_FOUND];

struct order {
  bool lowest;                          /* the lowest value is the best, as of time */
  double ratio[ORDER_MOST][ORDER_MOST]; /* published, of the first over the second; 0: none */
  bool before[ORDER_MOST][ORDER_MOST];  /* stated without a number */
};

/* The paper's number for scheme i over scheme j, as a ratio of the quantity. */
void order_number(struct order *o, size_t i, size_t j, double ratio);
/* The paper says that i is better than j. */
void order_statement(struct order *o, size_t i, size_t j);
/* Is i better than j in the paper: as it states, by the number of one over the other, or by those of both over the same
 * third? False if it says nothing, the same of both, or also the reverse. */
bool order_published(const struct order *o, size_t i, size_t j);
/* Of a pair whose first is better in the paper: `ratio` is the quantity of the first over the second, of each of n
 * programs; `kind` the paper's mean. */
enum order_found order_judge(const struct order *o, enum published_kind kind, const double *ratio, size_t n);

#endif
