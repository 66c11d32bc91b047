/* perfect_l1.c - an L1 in which every load hits: the bound of any L1 scheme, for the motivation figures.
 *
 * Paper: Li et al., "Tag-Split Cache", ICS 2016, section 4 selects benchmarks by a perfect cache (there: compulsory
 * misses only); Zhao et al. (BUCL), ICPADS 2016, Fig 4.
 *
 * Deviations: TSC's perfect cache still has compulsory misses; this one has none.
 */
#include "gpu/scheme.h"

static bool perfect_l1_configure(struct gpu_config *c, const double *param, struct err *e) {
  (void)param, (void)e;
  c->l1d_perfect = true;
  return true;
}

static const struct scheme perfect_l1 = {
    .name = "perfect-l1",
    .title = "every load hits in the L1",
    .paper = "Li, Hayes, Song, Zhang: Tag-Split Cache for Efficient GPGPU Cache Utilization. ICS 2016, section 4",
    .idea =
        "Not a design but a bound: every load that asks the L1 hits. A program that gains little from it gains little\n"
        "from any L1 scheme.",
    .no_storage = "a bound, no design that could be built",
    .configure = perfect_l1_configure,
};
SCHEME(perfect_l1);
