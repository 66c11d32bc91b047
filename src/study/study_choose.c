/* study_choose.c - which candidate is chosen where each workload is left out once; see tune.h. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "study/tune.h"

/* The candidate of the first `n` with the greatest mean, workload `out` left out. */
static size_t best_without(const struct tune_loo *l, size_t n, size_t out) {
  size_t best = SIZE_MAX;
  double most = 0;
  for (size_t c = 0; c < n; c++) {
    double sum = 0;
    bool failed = false;
    for (size_t w = 0; w < l->workloads; w++) {
      double r = l->ratio[c * l->workloads + w];
      failed |= !(r > 0);
      if (w != out && r > 0) sum += log(r);
    }
    if (failed || (best != SIZE_MAX && sum <= most)) continue;
    best = c, most = sum;
  }
  CHECK(best != SIZE_MAX, "no scheme ran on all workloads");
  return best;
}

void tune_choose(struct tune_loo *l) {
  l->composition = best_without(l, l->candidates, SIZE_MAX);
  l->single = best_without(l, l->singles, SIZE_MAX);
  for (size_t w = 0; w < l->workloads; w++) {
    struct tune_left *f = &l->left[w];
    *f = (struct tune_left){.composition = best_without(l, l->candidates, w), .single = best_without(l, l->singles, w)};
    double most = 1;
    f->best = SIZE_MAX;
    for (size_t c = 0; c < l->candidates; c++)
      if (l->ratio[c * l->workloads + w] > most) most = l->ratio[c * l->workloads + w], f->best = c;
  }
}
