/* tlb.h - translation of addresses: a request to a page that the GPU has not translated waits before the interconnect.
 *
 * The caches of an SM are virtual: only requests that leave it are translated. The translations are the GPU's (its
 * second level, which reaches 8 GiB on Volta); a page walk takes one time. Later requests to the page wait for the same
 * answer, and requests to other pages pass. Misses of the first level, whose cost published latencies of DRAM contain,
 * are not modelled.
 *
 * Source: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, Fig 3.2 (a first
 * access takes 1,029 cycles, one that misses the L2 only 375).
 */
#ifndef GPU_STATE_TLB_H
#define GPU_STATE_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/config.h"
#include "gpu/common/req.h"

/* Of the GPU. */
struct tlb_page {
  uint64_t page;  /* address divided by the page size; UINT64_MAX: none */
  uint64_t ready; /* cycle in which its translation is there */
};
struct tlb {
  uint32_t entries, latency; /* entries 0: every address is translated at once */
  uint64_t page_bytes;
  uint64_t low, high;  /* pages looked up so far lie within; low > high: none */
  struct tlb_page *at; /* a page's place is its number modulo `entries`. Owned. */
};
void tlb_init(struct tlb *t, const struct gpu_config *c);
void tlb_destroy(struct tlb *t);
void tlb_clear(struct tlb *t);
/* True as long as no page takes the place of another, even if the next one is half the reach away. */
static inline bool tlb_ample(const struct tlb *t) {
  return t->low > t->high || t->high - t->low < t->entries / 2;
}
/* The cycle in which the address is translated, at most `now` if it is. `missed`: it starts a page walk. */
uint64_t tlb_look(struct tlb *t, uint64_t addr, uint64_t now, bool *missed);

/* The page is translated, by an access without time. */
void tlb_touch(struct tlb *t, uint64_t addr);

/* Of an SM: requests that wait, by `ready`, of equal ones in the order of arrival. */
struct tlb_wait {
  struct tlb_held {
    uint64_t ready;
    req_id id;
  } * held; /* owned */
  uint32_t first, count, room;
};
void tlb_hold(struct tlb_wait *w, req_id id, uint64_t ready);
void tlb_leave(struct tlb_wait *w); /* the first one */

#endif
