/* capacity.h - capacities that a cache of whole sets can have. */
#ifndef SCHEMES_LIB_CAPACITY_H
#define SCHEMES_LIB_CAPACITY_H

#include <stdint.h>

/* The least capacity of at least `bytes` with a power of two of sets of `set` bytes, in KiB. */
static inline double capacity_next_kb(uint64_t bytes, uint64_t set) {
  uint64_t fits = set;
  while (fits < bytes || fits % 1024) fits *= 2;
  return (double)fits / 1024;
}

#endif
