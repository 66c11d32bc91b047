/* searches.c - schemes that run another one with every value of a parameter, one machine per value; the fastest is kept
 * and reported. What they deviate in beyond their base is named.
 */
#include "gpu/scheme.h"

#define VALUES(...) \
  .values = (const double[]){__VA_ARGS__}, .count = sizeof((const double[]){__VA_ARGS__}) / sizeof(double)
#define SEARCH(symbol, over, of, steps, ...)                                            \
  static const struct scheme_sweep symbol##_sweep = {.base = over, .param = of, steps}; \
  static const struct scheme symbol = {.sweep = &symbol##_sweep, __VA_ARGS__};          \
  SCHEME(symbol)
#define PCAL_PAPER \
  "Li, Rhu, Johnson, O'Connor, Erez, Burger, Fussell, Redder: Priority-Based Cache Allocation. HPCA 2015"

/* Paper: section 5. BUCL section V and Table III: the best static limit of each program, of all that an SM of 48 warps
 * can have. */
SEARCH(
    swl_best, "swl", "warps",
    VALUES(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
           30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48),
    .name = "swl-best", .title = "static warp limiting, best limit",
    .paper = "Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling. MICRO 2012, section 5",
    .idea =
        "The limit with which a program runs fastest, found by search. BUCL's Table III lists those of its programs.");

/* Paper: Li et al., ICS 2015, section 6.1: PDP-best searches the distance exhaustively; these twelve values up to the
 * paper's 256. */
SEARCH(pdp_best, "pdp", "pd", VALUES(4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256), .name = "pdp-best",
       .title = "static protecting distance, best distance",
       .paper = "Duong, Zhao, Kim, Cammarota, Valero, Veidenbaum: Dynamic Reuse Distances. MICRO 2012",
       .idea = "The protecting distance with which a program runs fastest, found by search.");

/* Paper: MeDiC (PACT 2015), section 6: the number of tokens is swept for each program. */
SEARCH(pcal_best, "pcal", "tokens", VALUES(0, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48), .name = "pcal-best",
       .title = "priority-based cache allocation, best number of tokens", .paper = PCAL_PAPER,
       .idea = "The number of tokens with which a program runs fastest, found by search.");

/* Paper: MeDiC (PACT 2015), section 5: PCAL at the L2, its number of tokens swept for each program.
 * Deviations: the paper names no steps; these are eleven, up to the 720 warps of 15 SMs. */
SEARCH(l2_pcal_best, "l2-pcal", "tokens", VALUES(0, 16, 32, 64, 96, 128, 192, 256, 384, 512, 720),
       .name = "l2-pcal-best", .title = "priority-based allocation at the L2, best number of tokens",
       .paper = PCAL_PAPER, .idea = "The number of tokens with which a program runs fastest, found by search.");

/* Paper: section 5: the share of warps that bypass is set per workload to the best one, found by search.
 * Deviations: the paper names no steps; these are of ten percent. */
SEARCH(rand_best, "rand", "percent", VALUES(0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100), .name = "rand-best",
       .title = "random bypassing of the L2, best share of warps",
       .paper = "Ausavarungnirun et al.: Exploiting Inter-Warp Heterogeneity (MeDiC). PACT 2015, section 5",
       .idea = "The share of bypassing warps with which a program runs fastest, found by search.");

#define FORESEEN VALUES(0, 1), .fixed = "run=2", .prepare = "run=1"

/* Paper: Belady, 1966; with bypassing McFarling, ISCA 1992.
 * Deviations: those of belady.c. */
SEARCH(
    min, "belady", "bypass", FORESEEN, .name = "min", .title = "Belady's MIN at the L1, a bound of replacement",
    .paper =
        "Belady: A Study of Replacement Algorithms for a Virtual-Storage Computer. IBM Systems Journal 5 (2), 1966",
    .idea =
        "A first run records the accesses of the L1s; then the line whose next use is the last is replaced, with and\n"
        "without bypassing of loads that would be used later still. The faster is kept. It bounds the hits for the\n"
        "recorded order; the order changes with timing, and fewer misses need not be fewer cycles.");

/* Paper: Belady, 1966; with bypassing McFarling, ISCA 1992.
 * Deviations: those of l2_belady.c. */
SEARCH(
    l2_min, "l2-belady", "bypass", FORESEEN, .name = "l2-min",
    .title = "Belady's MIN at the L2, a bound of replacement",
    .paper =
        "Belady: A Study of Replacement Algorithms for a Virtual-Storage Computer. IBM Systems Journal 5 (2), 1966",
    .idea =
        "As min at the L2: a first run records the requests of every sub-partition; then the line whose next use is\n"
        "the last is replaced, with and without bypassing. The faster is kept.");
