/* profiled.c - profiled: Profiled-BYPASS as a search. One run of block-filter counts the references of every block;
 * then one run per threshold filters by those counts, and the fastest is kept and reported.
 *
 * Paper: Li, Song, Dai, Sidelnik, Hari, Zhou, "Locality-Driven Dynamic GPU Cache Bypassing", ICS 2015, section 6.1
 * (Profiled-BYPASS): local, global and combined filters, thresholds 1 to 16.
 *
 * Deviations: those of block_filter.c.
 */
#include "gpu/scheme.h"

static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const struct scheme_sweep sweep = {.base = "block-filter",
                                          .param = "threshold",
                                          .values = values,
                                          .count = sizeof values / sizeof *values,
                                          .fixed = "run=2",
                                          .prepare = "run=1"};
static const char *const filters[] = {"local", "global", "both", NULL};
static const struct scheme_param params[] = {
    {"filter", "", "whose references count: 0 local, 1 global, 2 both (section 6.1)", 0, 2, 2, true},
    {0},
};

static const struct scheme profiled = {
    .name = "profiled",
    .title = "bypass blocks that a first run found to have few references, best threshold",
    .paper = "Li, Song, Dai, Sidelnik, Hari, Zhou: Locality-Driven Dynamic GPU Cache Bypassing. ICS 2015, section 6.1",
    .idea =
        "What a filter on reuse could gain if the reuse were known: a first run counts the references of every block,\n"
        "in further runs accesses of blocks at or below a threshold bypass the L1, for thresholds from 1 to 16.\n"
        "profiled=local counts those of the SM itself, global those of the others, both all. No hardware.",
    .params = params,
    .positional = "filter",
    .words = filters,
    .sweep = &sweep,
};
SCHEME(profiled);
