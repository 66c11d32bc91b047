/* l2.h - the character of a launch below and across the L1s: warps and queues at the L2 (MeDiC, Fig 3, 4 and
 * 6-8, Table II), blocks shared by CTAs and SMs, run times of CTAs (sharing-aware management, Fig 3, 5, 8 and 14).
 *
 * Choices not specified by the papers:
 *  - A warp counts from the first to the last of its requests (loads and stores of global and local memory) at the L2;
 *    warps that never reach it are excluded. A merge with a pending line is not a hit.
 *  - Table II can be read in two ways: by the hits of a warp over its life, or (section 3.1) "when the warp issues a
 *    single memory instruction". Both are counted, the second for loads.
 *  - Types change between periods of 100,000 cycles, MeDiC's, of one warp in which it has at least 30 accesses each.
 *  - The penalty is of loads with two requests or more all of which hit: longest less shortest time from arrival at the
 *    sub-partition to the hit.
 *  - A block is a line of 128 B of global memory; it is touched by every access that reaches the L1, hits and bypasses
 *    included, loads, stores and atomics. Distance of a block: the smallest difference of the linear ids of two CTAs
 *    that touched it one after the other.
 *  - Causes of all L2 misses: first access of the run (the L2 keeps its lines from launch to launch); a fully
 *    associative LRU cache of the size of all its slices would also have missed (capacity); it would not (conflict). A
 *    sectored L2 counts sectors, by the first one of a request.
 *  - Reuse of a shared block: every access (no merge) after it was last filled into the L1 of any SM.
 */
#ifndef GPU_OBSERVE_L2_H
#define GPU_OBSERVE_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/observed.h"

enum {
  WARP_TYPES = 5, /* all-hit, mostly-hit, balanced, mostly-miss, all-miss */
  RATIO_BINS = 10,
  QUEUE_BINS = 12,   /* waits of 0, 1, 2-3, 4-7, ..., 1024 cycles and more */
  DISTANCE_BINS = 7, /* 1, 2-4, 5-9, 10-19, 20-49, 50-99, 100 and more */
  SHARER_BINS = 65,  /* by number of SMs */
  L2_CAUSES = 3,     /* of misses: first access, capacity, conflict */
  SERIES = 6,        /* warps followed over time */
  SERIES_CYCLES = 10000
};
extern const char *const gpu_warp_type_names[WARP_TYPES];
extern const char *const gpu_distance_names[DISTANCE_BINS];
extern const char *const gpu_l2_cause_names[L2_CAUSES];

/* Sums over one or several launches. */
struct gpu_l2_sums {
  uint64_t warp_type[WARP_TYPES], hit_ratio[RATIO_BINS];
  uint64_t load_type[WARP_TYPES];   /* load instructions with requests at the L2, by the hits among these */
  uint64_t type_kept, type_changed; /* pairs of neighbouring periods of a warp */
  uint64_t waits[QUEUE_BINS];       /* requests by L2 cycles in the queues in front of the L2 */
  uint64_t miss[L2_CAUSES];
  uint64_t all_hit_loads, penalty, penalty_max;
  uint64_t blocks, cta_shared, distance[DISTANCE_BINS]; /* blocks touched; by two CTAs or more */
  uint64_t sharers[SHARER_BINS];                        /* blocks by number of SMs that touched them */
  uint64_t shared_loads, shared_hits, shared_merges;    /* loads of blocks that two SMs or more touched: in the L1 */
  uint64_t reuses, late_reuses;                         /* of them after a fill: all; 1000 cycles or more after it */
  uint64_t ctas, cta_cycles;                            /* cycles of all */
  uint64_t cta_mean, cta_shortest, cta_longest;         /* of a launch; sums over launches */
  uint64_t launches;
};

struct gpu_l2_character {
  struct gpu_l2_sums sums;
  /* Observed warp slots; per interval of SERIES_CYCLES, accesses and hits of the warp in the slot. */
  uint32_t series_sm[SERIES], series_warp[SERIES], intervals, room;
  uint32_t (*series)[SERIES][2];
};

/* With a character: the last launch at the L2, else NULL. */
const struct gpu_l2_character *gpu_observed_l2(const struct gpu_observed *observed);
/* Add up several launches. */
void gpu_l2_sums_add(struct gpu_l2_sums *total, const struct gpu_l2_sums *s);

#endif
