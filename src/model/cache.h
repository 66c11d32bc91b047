/* cache.h - the L2 of one sub-partition on its own: tags, MSHRs and miss queue of the machine (gpu/mem/l2_access.c),
 * without clocks, ports and delays. The caller provides the clock and the level below.
 */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "gpu/common/config.h"

struct cache;

/* Only the L2's part of the configuration is used. NULL with `e`. There is no call that frees a cache: it is made
 * between memory_enter and memory_leave (api/memory.h), whose ledger frees all its memory at once. */
struct cache *cache_new(const struct gpu_config *c, struct err *e);

enum cache_outcome { CACHE_HIT, CACHE_PENDING, CACHE_MISS, CACHE_REFUSED };
struct cache_access {
  uint64_t addr, cycle, id;
  uint32_t bytes; /* within one line */
  bool write;
  bool waits; /* out: cache_done will report it */
};
bool cache_access(struct cache *c, struct cache_access *a, enum cache_outcome *out, struct err *e);

enum cache_request_kind { CACHE_FETCH, CACHE_WRITE, CACHE_WRITE_BACK };
struct cache_request {
  uint64_t addr;
  uint32_t bytes, sectors; /* sectors: mask of a fetch or write-back of a sectored cache, else 0 */
  enum cache_request_kind kind;
  uint32_t answer; /* argument of cache_answer; 0: no answer needed */
};
/* The oldest request to the level below; false: none. */
bool cache_next(struct cache *c, struct cache_request *out);
bool cache_answer(struct cache *c, uint32_t answer, uint64_t cycle, struct err *e);
/* A waiting access that has completed; false: none. */
bool cache_done(struct cache *c, uint64_t *id);

struct cache_counts {
  uint64_t accesses, hits, pending, misses, refused, evictions, write_backs, fetches, fetched_bytes;
};
struct cache_counts cache_count(struct cache *c);

#endif
