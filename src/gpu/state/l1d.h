/* l1d.h - state of an L1 data cache: lines, MSHRs, miss queue, queues in front of it, and of an organisation that
 * replaces the lines. */
#ifndef GPU_STATE_L1D_H
#define GPU_STATE_L1D_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/access.h"
#include "gpu/common/req.h"
#include "gpu/slots/scheme.h"
#include "gpu/state/op.h"

struct latency_slot { /* an access in the L1's latency pipe */
  struct access acc;
  uint64_t at; /* cycle it entered */
  op_id op;
  bool asked; /* the stall hooks have been called for it */
};

/* Additional state of a line for schemes, observers and FIFO replacement. The default machine has none. */
struct l1_line {
  uint64_t filled;
  uint8_t warp; /* the warp that fetched it */
  bool reused;
  uint32_t used_chunks, reused_chunks; /* requested chunks; chunks requested again after the fill */
};
enum line_state { LINE_INVALID, LINE_RESERVED, LINE_VALID, LINE_DIRTY };

enum { L1_ORG_HASH = 64 };
struct l1_mshr {
  uint64_t line;
  uint32_t index; /* the reserved line, UINT32_MAX with allocate-on-fill */
  uint16_t count, head;
  bool busy, ready;
  uint32_t outstanding; /* organisations: pending chunks */
  op_id *waiter;        /* of l1d.waiting: ring of `merges` */
};

struct l1_order {          /* queues between coalescer and L1, for schemes */
  struct latency_slot *at; /* `queues` rings of `depth` */
  uint32_t queues, depth;
  uint32_t *head, *count;
};

struct l1d {
  /* used in every cycle */
  struct req_queue missq;
  struct latency_slot *lat; /* ring of `lat_size`; at most config l1d_latency times l1d_lookups entries */
  uint32_t lat_count, ready_count;
  uint32_t lat_head, ready_head;
  uint32_t order_waiting; /* accesses in `order` */
  uint8_t refused;        /* enum l1_outcome of the access at the head, if it was refused and the state is unchanged */
  bool head_waits;        /* the instruction at the head of the memory pipe found the ring full */
  bool probed;            /* the load at the head of the ring was refused after its set was searched: the result */
  bool dropped;           /* a fence has invalidated it, and earlier MSHRs are still busy */
  /* used per access */
  uint64_t org_busy; /* accepts no access before this cycle */
  uint32_t lat_size;
  uint32_t set;
  int way, victim;
  req_id net_result;         /* data of an access at another SM's L1 */
  bool net_last, net_yields; /* turns of accesses of other SMs: see net.inc */
  bool stays;                /* no scheme will bypass the refused access */
  /* the lines */
  uint32_t sets, ways, line_shift, line_bytes, mshrs, merges, missq_limit;
  uint64_t *tags; /* per set: tags of its ways, then cycles of their last uses */
  uint8_t *state;
  uint16_t *line_mshr; /* MSHR that fetches it, or did */
  struct l1_line *line;
  struct l1_mshr *mshr;
  op_id *waiting; /* loads waiting in the MSHRs */
  uint32_t mshrs_busy;
  uint16_t *ready, *spare; /* ring of MSHRs whose line has arrived; stack of free ones */
  struct l1_order order;
  struct l1_prefetch *prefetch; /* prefetch.c; NULL without a prefetching scheme */
  struct l1_packed *packed;     /* compressed.c; NULL without a compressing scheme */
  uint32_t later, slow;         /* what the last hit takes longer; hits that have not ended */
  struct l1_slow *slow_at;      /* those, the first to end last; room for `slow_size` */
  uint32_t slow_size;
  uint64_t space_free; /* the port of the SM's unused space is free from this cycle on */
  /* an organisation that replaces the lines */
  const struct l1_org *org;
  struct slot_instance *org_of;
  bool pending; /* all chunks missing for the last load are pending */
  uint32_t org_chunk, org_sets;
  struct {
    op_id op;
    uint16_t mshr;
  } * org_ready; /* ring of `org_ready_size`, ready_head and ready_count */
  uint32_t org_ready_size;
  uint32_t *org_left;                         /* like `waiting`: chunks that each load still waits for */
  uint64_t *org_free;                         /* bit set of free MSHRs */
  uint16_t org_first[L1_ORG_HASH], *org_next; /* busy MSHRs by hash of their line: lists of index + 1, 0 ends one */
  struct l1_dirty {
    uint64_t line;
    uint32_t chunks;
  } * dirty; /* lines with chunks that local stores wrote; room for `dirty_max` */
  uint32_t dirty_count, dirty_max;
};

/* Tags of the set that begins with line `base`, and the cycles of last use. */
static inline uint64_t *l1_tags(const struct l1d *l, uint32_t base) {
  return l->tags + 2 * base;
}
static inline uint64_t *l1_used(const struct l1d *l, uint32_t base) {
  return l->tags + 2 * base + l->ways;
}

#endif
