/* coalesce.h - combines the lanes' addresses of one warp instruction into accesses to the caches.
 *
 * Rules (docs/explanation/gpu-model.md "Loads and stores"): segments of 128 B for elements of 4 bytes and more, 64 B
 * for 2, 32 B for 1, whatever the vector length; each touched segment is one access, shrunk to the used 64 B half or
 * 32 B quarter. Accesses that bypass the L1 have their own limit (32 B in the reference, 128 B in its version 3).
 * Lanes of an atomic that hit the same bytes become separate accesses, unless they stay together.
 */
#ifndef GPU_SM_COALESCE_H
#define GPU_SM_COALESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/access.h"

struct coalesce_in {
  const uint64_t *addr; /* per lane */
  uint32_t mask;
  uint32_t width;        /* bytes per lane */
  uint32_t elem;         /* bytes of one element, which select the segment; 0: all of width */
  bool atomic, together; /* lanes of an atomic with the same bytes stay in one access; `words` counts them */
  uint32_t segment;      /* largest segment in bytes: that of the L1 line, or of bypassing accesses; 256 for 8 bytes and
                     * more */
};

/* Ascending by address; returns their number. */
uint32_t coalesce_global(const struct coalesce_in *in, struct access *out);
/* Of a store: the 32 B sectors of the `line`-byte L2 line at its address that it writes completely, at the resolution
 * of 8 B words; bit 0 = the line's first. */
uint32_t coalesce_whole(const struct access *a, uint32_t line);
/* The sectors of 32 B of its line of `line` bytes that an access touches; 0: it spans lines. */
uint32_t coalesce_sectors(const struct access *a, uint32_t line);
/* One access per distinct `line`-byte block: constant and texture caches. */
uint32_t coalesce_lines(const uint64_t *addr, uint32_t mask, uint32_t line, struct access *out);
/* Passes of a shared-memory instruction: distinct 4-byte words in the most-loaded bank; at least 1. */
uint32_t coalesce_shared(const uint64_t *addr, uint32_t mask, uint32_t banks);
/* Cycles in which an L1 with up to 8 banks of tags takes `n` accesses: those of the bank with most lines, or of the 8 B
 * of the data path that most lines touch; at least 1. */
uint32_t coalesce_turns(const struct access *a, uint32_t n, uint32_t banks, uint32_t line);

#endif
