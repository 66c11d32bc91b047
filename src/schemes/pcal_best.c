/* pcal_best.c - pcal-best: a search over `tokens` of pcal, run as one machine per value; the fastest is kept and
 * reported.
 *
 * Paper: Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder: Priority-Based Cache Allocation. HPCA 2015.
 * MeDiC (PACT 2015), section 6: the number of tokens is swept for each program.
 *
 * Deviations: none beside those of pcal.c.
 */
#include "gpu/scheme.h"

static const double values[] = {0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48};
static const struct scheme_sweep sweep = {
    .base = "pcal", .param = "tokens", .values = values, .count = sizeof values / sizeof *values};

static const struct scheme pcal_best = {
    .name = "pcal-best",
    .title = "priority-based cache allocation, best number of tokens",
    .paper = "Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder: Priority-Based Cache Allocation. HPCA 2015",
    .idea = "The number of tokens with which a program runs fastest, found by search.",
    .sweep = &sweep,
};
SCHEME(pcal_best);
