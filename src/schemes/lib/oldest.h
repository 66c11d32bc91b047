/* oldest.h - the oldest warps of an SM. Shared by `swl` and `poise`. */
#ifndef SCHEMES_LIB_OLDEST_H
#define SCHEMES_LIB_OLDEST_H

#include "gpu/scheme.h"

/* The `n` oldest of `warps`. */
static inline uint64_t oldest_of(const struct gpu *g, uint32_t sm, uint64_t warps, uint32_t n) {
  uint64_t kept = 0;
  while (n-- && warps) {
    uint32_t best = (uint32_t)__builtin_ctzll(warps);
    for (uint64_t m = warps & (warps - 1); m; m &= m - 1) {
      uint32_t w = (uint32_t)__builtin_ctzll(m);
      if (gpu_sm_warp_age(g, sm, w) < gpu_sm_warp_age(g, sm, best)) best = w;
    }
    kept |= 1ull << best;
    warps &= ~(1ull << best);
  }
  return kept;
}

/* The same with the `n` split evenly over the `k` schedulers of the SM, the first ones taking the remainder. With fewer
 * warps than schedulers the oldest of the SM, whichever scheduler owns them. */
static inline uint64_t oldest_of_schedulers(const struct gpu *g, uint32_t sm, uint64_t warps, uint32_t n, uint32_t k) {
  uint64_t kept = 0;
  if (n < k) return oldest_of(g, sm, warps, n);
  for (uint32_t i = 0; i < k; i++) {
    uint64_t own = 0;
    for (uint32_t w = i; w < 64; w += k) own |= 1ull << w;
    kept |= oldest_of(g, sm, warps & own, n / k + (i < n % k));
  }
  return kept;
}

#endif
