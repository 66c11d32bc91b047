/* set.h - the set of the L1 data cache for an address, by index function (enum gpu_index). */
#ifndef GPU_L1_SET_H
#define GPU_L1_SET_H

#include <stdint.h>

#include "gpu/common/config.h"

static inline uint32_t l1_set(uint32_t index, uint32_t sets, uint32_t line, uint64_t addr) {
  uint32_t shift = (uint32_t)__builtin_ctz(line);
  uint32_t linear = (uint32_t)(addr >> shift);
  switch (index) {
  case INDEX_FERMI_HASH: {
    /* Nugteren et al., HPCA 2014: bits 7-11 with bits 13, 14, 15, 17, 19; bit 12 on top for 64 sets. Other numbers of
     * sets fold the same upper bits into as many low ones as they have. */
    uint32_t lower = linear & 31;
    uint32_t upper = (uint32_t)(addr >> 13 & 7) | (uint32_t)(addr >> 17 & 1) << 3 | (uint32_t)(addr >> 19 & 1) << 4;
    uint32_t set = lower ^ upper;
    if (sets == 64) set |= (uint32_t)(addr >> 12 & 1) << 5;
    else if (sets > 32) set = (linear & ~31u) | set;
    return set & (sets - 1);
  }
  case INDEX_XOR:
    return (linear ^ linear >> __builtin_ctz(sets)) & (sets - 1);
  case INDEX_IPOLY: {
    /* Remainder of the line number by a primitive polynomial (Rau, ISCA 1991): x^5+x^2+1 and its like by size. */
    static const uint32_t poly[] = {1, 3, 7, 11, 19, 37, 67, 131, 285, 529, 1033, 2053, 4179};
    uint32_t bits = (uint32_t)__builtin_ctz(sets);
    uint64_t v = addr >> shift;
    for (int b = 47; b >= (int)bits; b--)
      if (v >> b & 1) v ^= (uint64_t)poly[bits] << (b - (int)bits);
    return (uint32_t)v & (sets - 1);
  }
  default:
    return linear & (sets - 1);
  }
}

#endif
