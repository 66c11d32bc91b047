/* rand_best.c - rand-best: a search over `percent` of rand, run as one machine per value; the fastest is kept and
 * reported.
 *
 * Paper: Ausavarungnirun et al. (MeDiC), PACT 2015, section 5: the share of warps that bypass is set per workload to
 * the best one, found by search.
 *
 * Deviations: the paper names no steps; these are of ten percent.
 */
#include "gpu/scheme.h"

static const double values[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
static const struct scheme_sweep sweep = {
    .base = "rand", .param = "percent", .values = values, .count = sizeof values / sizeof *values};

static const struct scheme rand_best = {
    .name = "rand-best",
    .title = "random bypassing of the L2, best share of warps",
    .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity (MeDiC). PACT 2015, section 5",
    .idea = "The share of bypassing warps with which a program runs fastest, found by search.",
    .sweep = &sweep,
};
SCHEME(rand_best);
