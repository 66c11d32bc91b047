/* rocache.h - a read-only cache of an SM (instructions, constants, textures): LRU, filled by line, MSHRs that merge.
 *
 * Waiters are 16-bit tags of the owner (a warp slot, or an instruction in flight). Lines are allocated when they
 * arrive.
 */
#ifndef GPU_RO_ROCACHE_H
#define GPU_RO_ROCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/ring.h"

#include "gpu/common/config.h"

struct romshr {
  uint64_t line;
  bool busy, ready;
  uint16_t count, head; /* waiters left: at[head .. head+count) */
  uint16_t *waiter;
};

struct rocache {
  uint32_t sets, ways, line_shift, merges, missq_limit, mshrs;
  uint64_t *tag;  /* sets x ways, line address, ~0 when invalid */
  uint64_t *used; /* last access */
  struct romshr *mshr;
  uint16_t *ready; /* ring of MSHRs whose line has arrived */
  uint32_t ready_head, ready_count;
  uint64_t *missq; /* lines that wait for the interconnect */
  uint16_t *missq_mshr;
  uint32_t missq_head, missq_count;
};

enum ro_result { RO_HIT, RO_MISS, RO_REFUSED };

void rocache_init(struct rocache *c, const struct cache_config *cfg);
void rocache_destroy(struct rocache *c);
void rocache_invalidate(struct rocache *c);
enum ro_result rocache_access(struct rocache *c, uint64_t addr, uint16_t waiter, uint64_t now);
/* Prefetch a line; false: it is present or pending, or there is no room. */
bool rocache_prefetch(struct rocache *c, uint64_t addr);
/* The head of the miss queue: line address and MSHR; false if none. */
bool rocache_miss(const struct rocache *c, uint64_t *line, uint16_t *mshr);
void rocache_miss_sent(struct rocache *c);
void rocache_fill(struct rocache *c, uint16_t mshr, uint64_t now);
/* The line of `addr` is there from now on, without time: of a launch that runs functionally. Nothing is pending. True:
 * it was there before. `order` rises from one to the next, from the present cycle on; rocache_touch_end turns it into
 * cycles up to `now`. */
bool rocache_touch(struct rocache *c, uint64_t addr, uint64_t order);
void rocache_touch_end(struct rocache *c, uint64_t now);
/* Next waiter whose data has arrived. */
static inline bool rocache_ready(const struct rocache *c) {
  return c->ready_count;
}
uint16_t rocache_next(struct rocache *c);

#endif
