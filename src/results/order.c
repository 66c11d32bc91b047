/* order.c - see order.h. */
#include "results/order.h"

#include <math.h>

const char *const order_found_names[ORDER_FOUND] = {"as published", "tie", "reversed", "not measured"};

static const double ROUNDING = 1e-9;

void order_number(struct order *o, size_t i, size_t j, double ratio) {
  if (i < ORDER_MOST && j < ORDER_MOST && i != j) o->ratio[i][j] = ratio;
}

void order_statement(struct order *o, size_t i, size_t j) {
  if (i < ORDER_MOST && j < ORDER_MOST && i != j) o->before[i][j] = true;
}

/* Of two values of the quantity: is the first better? */
static bool value_is_better(const struct order *o, double a, double b) {
  return o->lowest ? a < b - ROUNDING : a > b + ROUNDING;
}

static bool numbers_say(const struct order *o, size_t i, size_t j) {
  bool better = (o->ratio[i][j] > 0 && value_is_better(o, o->ratio[i][j], 1)) ||
                (o->ratio[j][i] > 0 && value_is_better(o, 1, o->ratio[j][i]));
  for (size_t k = 0; k < ORDER_MOST && !better; k++)
    better = o->ratio[i][k] > 0 && o->ratio[j][k] > 0 && value_is_better(o, o->ratio[i][k], o->ratio[j][k]);
  return better;
}

bool order_published(const struct order *o, size_t i, size_t j) {
  bool forth = o->before[i][j] || numbers_say(o, i, j), back = o->before[j][i] || numbers_say(o, j, i);
  return forth && !back;
}

enum order_found order_judge(const struct order *o, enum published_kind kind, const double *ratio, size_t n) {
  double low, high;
  if (!n) return ORDER_NOT_MEASURED;
  double mean = published_mean(kind, ratio, n);
  if (fabs(mean - 1) <= ROUNDING) return ORDER_TIE;
  if (published_interval(kind, ratio, n, &low, &high) && low - ROUNDING <= 1 && 1 <= high + ROUNDING) return ORDER_TIE;
  return value_is_better(o, mean, 1) ? ORDER_AS_PUBLISHED : ORDER_REVERSED;
}
