/* recency.h - the order of the lines of a set, as stamps: the line with the least is replaced first.
 *
 * Accesses in time have the cycle as stamp. Those of launches and CTAs that run functionally take none: many have the
 * same cycle, and must still be in order.
 */
#ifndef GPU_COMMON_RECENCY_H
#define GPU_COMMON_RECENCY_H

#include <stdint.h>

/* Line `at` has just been stamped: where another is not older, all others become older by one. */
static inline void recency_newest(uint64_t *stamp, uint32_t ways, uint32_t at) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < ways; i++)
    if (i != at && stamp[i] > most) most = stamp[i];
  if (most < stamp[at]) return;
  for (uint32_t i = 0; i < ways; i++)
    if (i != at && stamp[i]) stamp[i]--;
}

/* Stamps up to `now`, in the same order. */
void recency_rebase(uint64_t *stamp, uint32_t ways, uint64_t now);

#endif
