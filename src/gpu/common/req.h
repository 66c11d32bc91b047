/* req.h - a memory request below the coalescer: from the SM's caches through the interconnect to L2 and DRAM and back.
 *
 * Requests live in one pool per GPU and are named by 32-bit handles (0 is none). The consumer of the last queue frees
 * the request.
 */
#ifndef GPU_COMMON_REQ_H
#define GPU_COMMON_REQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpu/common/ring.h"

typedef uint32_t req_id;

enum req_type {
  REQ_GLOBAL_READ,
  REQ_LOCAL_READ,
  REQ_CONST_READ,
  REQ_TEX_READ,
  REQ_INST_READ,
  REQ_GLOBAL_WRITE,
  REQ_LOCAL_WRITE,
  REQ_L1_WRITEBACK,   /* dirty local line evicted from the L1 */
  REQ_L2_WRITEBACK,   /* dirty line evicted from the L2 */
  REQ_L2_WRITE_ALLOC, /* read that fetches the line of an L2 write miss */
  REQ_L2_PREFETCH,    /* a line that a scheme requested in the L2: it has no reply */
  REQ_TYPES
};

enum { REQ_HEADER_BYTES = 8 };

/* The first cache line of the host holds the fields that every request needs, the second those that some need. */
struct req {
  uint64_t addr;                    /* first byte */
  uint64_t born, arrived, returned; /* times, in core cycles */
  uint32_t owner;                   /* SM-private: handle of the load that waits */
  uint32_t lanes;                   /* lanes served */
  uint32_t row, column; /* with channel, subpart and bank: the destination, set by addrmap_route; the column only for
                         * callers that need it */
  req_id next;          /* intrusive queues */
  uint16_t bytes;       /* data bytes requested or written */
  uint8_t type;
  bool write;               /* carries data towards memory */
  uint8_t channel, subpart; /* subpart: over the whole GPU */
  uint8_t bank;
  bool atomic;
  bool bypass; /* skipped the L1: the reply goes to the waiting load, not to a line */
  uint8_t sm;
  uint8_t warp;    /* hardware warp slot on the SM */
  bool posted : 1; /* an atomic that has been performed: its reply is that of a store */
  bool masked : 1; /* its packet has a bit for each byte */
  uint8_t whole;   /* stores: mask of sectors written completely, from the L2 line's first sector on */
  uint8_t note;    /* for schemes: written at the L2, read at the fill */
  uint8_t sectors; /* for a sectored L2: requested sectors of the line; 0: all from `addr` on */
  uint16_t degree; /* accesses of its instruction: un-coalescing degree */
  uint32_t pc;     /* index in the kernel */
  uint32_t cta;    /* linear CTA id */
  uint32_t chunks; /* mask of requested 32 B sectors (or scheme chunks), bit 0 = lowest */
  uint32_t token;  /* atomics: feed token */
  uint16_t from;   /* fetched by the L1 of `sm` for a load of another SM: 1 + its number; else 0 */
  uint8_t repeats; /* of an atomic: lanes of `lanes` whose word an earlier one has */
  bool prefetch;   /* no load waits for it */
  uint8_t cache_op, hint_l1, hint_l2; /* of its instruction: enum cache_op, enum cache_hint */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct req, whole) == 64,
               "the fields that every request needs are not a line of the host's cache");

/* Bytes of a packet towards memory: header, data, and a bit for each byte that says whether it is written. */
static inline uint32_t req_most_bytes(uint32_t bytes, bool data, bool masked) {
  return REQ_HEADER_BYTES + (data ? bytes + (masked ? bytes / 8 : 0) : 0);
}
/* Packet bytes towards memory and back. A read request and a write acknowledgement consist of the header only. */
static inline uint32_t req_up_bytes(const struct req *r) {
  return req_most_bytes(r->bytes, r->write || r->atomic, r->masked);
}
static inline uint32_t req_down_bytes(const struct req *r) {
  return REQ_HEADER_BYTES + (r->write || r->posted ? 0 : r->bytes);
}

struct req_pool {
  struct req *at; /* grows by doubling: keep handles, not pointers, across req_new */
  uint32_t size, live, peak;
  uint32_t lent; /* with req_lend: handles that it got. Fewer than `lent` - `live` may be taken: it does not grow */
  req_id free;
};
req_id req_new(struct req_pool *p); /* zeroed; never 0 */
void req_free(struct req_pool *p, req_id id);
void req_pool_destroy(struct req_pool *p);
/* Another pool of the same requests: it gets `n` free handles, and its place of requests is brought up to date. */
void req_lend(struct req_pool *p, struct req_pool *to, uint32_t n);

/* A bounded first-in first-out queue of handles. */
struct req_queue {
  req_id *at;
  uint32_t head, count, size; /* size: power of two >= limit */
  uint32_t limit;
};
static inline bool reqq_full(const struct req_queue *q) {
  return q->count >= q->limit;
}
static inline req_id reqq_top(const struct req_queue *q) {
  return q->count ? q->at[q->head] : 0;
}
static inline void reqq_push(struct req_queue *q, req_id r) {
  q->at[(q->head + q->count++) & (q->size - 1)] = r;
}
static inline req_id reqq_pop(struct req_queue *q) {
  req_id r = q->at[q->head];
  q->head = (q->head + 1) & (q->size - 1);
  q->count--;
  return r;
}
void reqq_init(struct req_queue *q, uint32_t limit);
void reqq_free(struct req_queue *q);

#endif
