/* recency.h - the order of the lines of a set, as stamps: the line with the least is replaced first.
 *
 * Accesses in time have the cycle as stamp. Those of launches and CTAs that run functionally take none: many have the
 * same cycle, and must still be in order.
 */
#ifndef GPU_COMMON_RECENCY_H
#define GPU_COMMON_RECENCY_H

#include <stdbool.h>
#include <stdint.h>

/* Line `at` has just been stamped, and goes before the others with its stamp: these and all older ones become older by
 * one. */
static inline void recency_place(uint64_t *stamp, uint32_t ways, uint32_t at) {
  bool equal = false;
  for (uint32_t i = 0; i < ways; i++) equal |= i != at && stamp[i] == stamp[at];
  for (uint32_t i = 0; equal && i < ways; i++)
    if (i != at && stamp[i] && stamp[i] <= stamp[at]) stamp[i]--;
}

/* Stamps up to `now`, in the same order. */
void recency_rebase(uint64_t *stamp, uint32_t ways, uint64_t now);

#endif
