/* l2_pcal_best.c - l2-pcal-best: a search over `tokens` of l2-pcal, run as one machine per value; the fastest is kept
 * and reported.
 *
 * Paper: Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder: Priority-Based Cache Allocation. HPCA 2015.
 * MeDiC (PACT 2015), section 5: PCAL at the L2, its number of tokens swept for each program.
 *
 * Deviations: the paper names no steps; these are eleven, up to the 720 warps of 15 SMs.
 */
#include "gpu/scheme.h"

static const double values[] = {0, 16, 32, 64, 96, 128, 192, 256, 384, 512, 720};
static const struct scheme_sweep sweep = {
    .base = "l2-pcal", .param = "tokens", .values = values, .count = sizeof values / sizeof *values};

static const struct scheme l2_pcal_best = {
    .name = "l2-pcal-best",
    .title = "priority-based allocation at the L2, best number of tokens",
    .paper = "Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder: Priority-Based Cache Allocation. HPCA 2015",
    .idea = "The number of tokens with which a program runs fastest, found by search.",
    .sweep = &sweep,
};
SCHEME(l2_pcal_best);
