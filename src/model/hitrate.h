/* hitrate.h - the caches of a configuration without time: which accesses would hit, if each were over before the next
 * one began. For traces that hold addresses and nothing else.
 *
 * L1 per SM, L2 per sub-partition, with the geometry, set index functions and address map of the machine; LRU. As
 * there, stores write through the L1 and evict, atomics go past it, the L2 writes back, and L1s are emptied between
 * kernels. Where a cache of the configuration keeps sectors of 32 B, a load hits if all that it touches are there and
 * asks for those that are not; a store evicts those it touches from the L1, fetches nothing into the L2, and what it
 * covers only in part is fetched when it is read. What time decides (refusals, misses merged with ones that are under
 * way, the order of SMs) is not here.
 */
#ifndef GPU_HITRATE_H
#define GPU_HITRATE_H

#include <stdint.h>

#include "base/err.h"
#include "gpu/common/config.h"
#include "ptx/inst.h"

struct hitrate_counts {
  uint64_t insts, lanes;    /* warp instructions, their lanes */
  uint64_t loads, l1_hits;  /* accesses of loads at the L1: lines touched */
  uint64_t stores, atomics; /* accesses that write */
  uint64_t l2_accesses, l2_hits;
  uint64_t l1_partial, l2_partial;  /* misses in a line that was there without all of the sectors */
  uint64_t dram_reads, dram_writes; /* fetches and write-backs of the L2 */
  uint64_t dram_read_bytes, dram_write_bytes;
};

struct hitrate;
/* `l1_sectors`: the L1 keeps sectors; that of the L2 is in `c`. */
struct hitrate *hitrate_new(const struct gpu_config *c, bool l1_sectors, struct err *e);
void hitrate_kernel(struct hitrate *h); /* a kernel begins */
/* A load, store or atomic (enum inst_kind) of a warp of `cta`: `width` bytes at addr[lane] for the lanes of `mask`. */
void hitrate_access(struct hitrate *h, uint32_t cta, uint8_t kind, uint32_t width, uint32_t mask, const uint64_t *addr);
/* Counted since the last call; then they are 0 again. */
struct hitrate_counts hitrate_take(struct hitrate *h);
void hitrate_free(struct hitrate *h);

#endif
