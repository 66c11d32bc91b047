/* access.h - one access of a warp instruction to a cache: produced by the coalescer, consumed by the caches. */
#ifndef GPU_COMMON_ACCESS_H
#define GPU_COMMON_ACCESS_H

#include <stdint.h>

enum { COALESCE_MAX = 128 }; /* 32 lanes x 4 words of a local-memory vector */

struct access {
  uint64_t addr;  /* first byte, after shrinking */
  uint32_t bytes; /* 32, 64, 128; 256 only where `segment` is */
  uint32_t lanes;
  uint32_t chunks; /* touched 32 B sectors of the 128 B block, bit 0 = lowest */
  uint32_t words;  /* touched 8 B words of the 128 B block (of the 256 B block if bytes is 256), bit 0 = lowest; loads
                    * and stores only. Atomics whose lanes stay together: the lanes whose bytes an earlier lane has */
};

#endif
