/* memory.h - events and decisions of a scheme at the L2 and in front of DRAM. */
#ifndef GPU_SLOTS_MEMORY_H
#define GPU_SLOTS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/req.h"

/* L2_PENDING: merged with a line in flight. L2_BYPASSED: DRAM answers, no line is allocated. */
enum l2_outcome { L2_HIT, L2_PENDING, L2_MISS, L2_REFUSED, L2_BYPASSED, L2_OUTCOMES };

struct mem_event {
  uint64_t addr, line, cycle;                 /* byte address; address of its line; core cycle */
  uint32_t subpart, set, way;                 /* way UINT32_MAX: none */
  uint32_t sm, warp, cta, pc, degree, chunks; /* as in the request */
  uint8_t type;                               /* enum req_type */
  uint8_t cache_op, hint;                     /* of the instruction: enum cache_op, enum cache_hint at the L2 */
  bool write, atomic;
  uint8_t *note; /* on_access of a read: travels with the reply to the SM (l1_event.note); else NULL */
};

/* Of a request with lines of 1 << `shift` bytes; in no set. */
static inline struct mem_event mem_event_of(const struct req *r, uint32_t shift, uint64_t cycle, uint32_t subpart) {
  return (struct mem_event){.addr = r->addr,
                            .line = r->addr >> shift << shift,
                            .cycle = cycle,
                            .subpart = subpart,
                            .set = UINT32_MAX,
                            .way = UINT32_MAX,
                            .sm = r->sm,
                            .warp = r->warp,
                            .cta = r->cta,
                            .pc = r->pc,
                            .degree = r->degree,
                            .chunks = r->chunks,
                            .type = r->type,
                            .cache_op = r->cache_op,
                            .hint = r->hint_l2,
                            .write = r->write,
                            .atomic = r->atomic};
}

struct cache_set; /* scheme.h */

/* Any of them may be NULL. */
struct mem_hooks {
  void *ctx;
  bool slices; /* a scheme chooses slices: a line may have copies in several slices of its channel (mem/l2_copies.c) */
  /* A request (no atomic, not newer in the L2 than in DRAM) left the ROP delay: bypass the L2? Called once. */
  bool (*bypass)(void *ctx, const struct mem_event *e);
  /* May this miss (no atomic) allocate a line? way: an empty one, UINT32_MAX: a line must be replaced. */
  bool (*may_allocate)(void *ctx, const struct mem_event *e);
  /* Way to replace out of s->usable when no way is empty; -1: allocate no line (DRAM answers), unless it is an atomic,
   * which evicts the least recently used. */
  int (*find_victim)(void *ctx, const struct cache_set *s, const struct mem_event *e);
  /* An access was accepted: hit, pending, miss (way: the reserved line), or bypass. */
  void (*on_access)(void *ctx, const struct mem_event *e, enum l2_outcome out);
  /* A valid line is replaced: e->line and way are the victim's, all else the requester's. */
  void (*on_evict)(void *ctx, const struct mem_event *e);
  /* DRAM queue of a request: 0 is served before 1, FR-FCFS within each. Must not depend on the number of calls. */
  uint32_t (*dram_class)(void *ctx, const struct req *r);
};

/* Observers (gpu_watch): every accepted access, and the L2 cycles that a request waited in front of the L2. */
struct mem_listener {
  void (*access)(void *ctx, const struct req *r, enum l2_outcome out);
  void (*waited)(void *ctx, uint64_t cycles);
  void *ctx;
};

#endif
