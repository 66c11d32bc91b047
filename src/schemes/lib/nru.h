/* nru.h - not-recently-used replacement over up to 64 entries of a set: a bit per entry, set on use; when all are set,
 * all are cleared (Tag-Split Cache, ICS 2016, section 3.3; HP Itanium 2). Shared by `nru` and the tag-split caches.
 */
#ifndef SCHEMES_LIB_NRU_H
#define SCHEMES_LIB_NRU_H

#include <stdint.h>

#include "base/hash.h"

static inline void nru_use(uint64_t *bits, uint32_t entry, uint32_t entries) {
  uint64_t all = entries == 64 ? ~0ull : (1ull << entries) - 1;
  *bits |= 1ull << entry;
  if ((*bits & all) == all) *bits = 0;
}

/* The entries of `mask`, lowest first. */
static inline void nru_use_each(uint64_t *bits, uint64_t mask, uint32_t entries) {
  uint64_t all = entries == 64 ? ~0ull : (1ull << entries) - 1;
  if (((*bits | mask) & all) != all) {
    *bits |= mask; /* none of them is the last */
    return;
  }
  for (; mask; mask &= mask - 1) nru_use(bits, (uint32_t)__builtin_ctzll(mask), entries);
}

/* A pseudo-random member of `mask` (not 0). The same `draw` gives the same member, so a retried access gets the same
 * result; advance `draw` when a victim is taken. */
static inline uint32_t nru_random(uint64_t mask, uint64_t draw) {
  for (uint32_t n = (uint32_t)(hash_u64(draw + 0x9e37) % (uint32_t)__builtin_popcountll(mask)); n; n--)
    mask &= mask - 1;
  return (uint32_t)__builtin_ctzll(mask);
}

/* Victim among `usable`: not recently used ones first, at random. */
static inline uint32_t nru_victim(uint64_t bits, uint64_t usable, uint64_t draw) {
  uint64_t old = usable & ~bits;
  return nru_random(old ? old : usable, draw);
}

#endif
