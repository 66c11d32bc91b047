/* hitrate.h - the caches of a configuration without time: which accesses would hit if each completed before the next
 * began. For address-only traces.
 *
 * L1 per SM, L2 per sub-partition, with the geometry, set index functions and address map of the machine; LRU. As in
 * the machine, stores write through the L1 and evict, atomics bypass it, the L2 writes back, and L1s are flushed
 * between kernels. Where a cache of the configuration keeps sectors of 32 B, a load hits if all sectors that it
 * touches are present, and fetches the others. A store evicts the sectors that it touches from the L1 and fetches
 * nothing into the L2; a partly covered sector is fetched when it is read. Effects of time (refusals, merged misses,
 * the order of SMs) are not modelled.
 */
#ifndef MODEL_HITRATE_H
#define MODEL_HITRATE_H

#include <stdint.h>

#include "base/err.h"
#include "gpu/common/config.h"
#include "ptx/inst.h"

struct hitrate_counts {
  uint64_t insts, lanes;    /* warp instructions, their lanes */
  uint64_t loads, l1_hits;  /* accesses of loads at the L1: lines touched */
  uint64_t stores, atomics; /* accesses that write */
  uint64_t l2_accesses, l2_hits;
  uint64_t l1_partial, l2_partial;  /* misses in a present line that lacks some of the sectors */
  uint64_t dram_reads, dram_writes; /* fetches and write-backs of the L2 */
  uint64_t dram_read_bytes, dram_write_bytes;
};

struct hitrate;
/* `l1_sectors`: the L1 keeps sectors; the L2's choice is in `c`. */
struct hitrate *hitrate_new(const struct gpu_config *c, bool l1_sectors, struct err *e);
void hitrate_kernel(struct hitrate *h); /* a kernel begins */
/* A load, store or atomic (enum inst_kind) of a warp of `cta`: `width` bytes at addr[lane] for the lanes of `mask`. */
void hitrate_access(struct hitrate *h, uint32_t cta, uint8_t kind, uint32_t width, uint32_t mask, const uint64_t *addr);
/* Counts since the last call; resets them. */
struct hitrate_counts hitrate_take(struct hitrate *h);
void hitrate_free(struct hitrate *h);

#endif
