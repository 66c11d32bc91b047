/* l1d.h - the state of an L1 data cache: lines, MSHRs, miss queue, queues in front of it, and of an organisation in
 * their place. */
#ifndef GPU_STATE_L1D_H
#define GPU_STATE_L1D_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/access.h"
#include "gpu/common/req.h"
#include "gpu/slots/scheme.h"
#include "gpu/state/op.h"

struct latency_slot { /* an access on its way into the L1 */
  struct access acc;
  uint64_t at; /* cycle it entered */
  op_id op;
  bool asked; /* the stall hooks have seen it */
};

/* What schemes, observers and FIFO replacement want to know of a line. A plain machine keeps none of it. */
struct l1_line {
  uint64_t filled;
  uint8_t warp; /* that fetched it */
  bool reused;
  uint32_t used_chunks, reused_chunks; /* asked for; asked for again after the fill */
};
enum line_state { LINE_INVALID, LINE_RESERVED, LINE_VALID, LINE_DIRTY };

enum { L1_ORG_HASH = 64 };
struct l1_mshr {
  uint64_t line;
  uint32_t index; /* of the line reserved, UINT32_MAX with allocate-on-fill */
  uint16_t count, head;
  bool busy, ready;
  uint32_t outstanding; /* organisations: chunks on their way */
  op_id *waiter;        /* of l1d.waiting: ring of `merges` */
};

struct l1_order {          /* queues between coalescer and L1, if a scheme wants them */
  struct latency_slot *at; /* `queues` rings of `depth` */
  uint32_t queues, depth;
  uint32_t *head, *count;
};

struct l1d {
  /* looked at in every cycle */
  struct req_queue missq;
  struct latency_slot *lat; /* ring of `lat_size`; at most config l1d_latency entries */
  uint32_t lat_count, ready_count;
  uint32_t lat_head, ready_head;
  uint32_t order_waiting; /* accesses in `order` */
  uint8_t refused; /* enum l1_outcome of the access at the head, if it was refused and nothing has changed since */
  bool head_waits; /* the instruction at the head of the memory pipe found the ring full */
  bool probed;     /* the load at the head of the ring was refused after its set was looked at: what was found there */
  bool dropped;    /* a fence has emptied it, and MSHRs of before are still busy */
  /* looked at with an access */
  uint64_t org_busy; /* takes no access before this cycle */
  uint32_t lat_size;
  uint32_t set;
  int way, victim;
  bool stays; /* no scheme will send the access that was refused around the L1 */
  /* the lines */
  uint32_t sets, ways, line_shift, line_bytes, mshrs, merges, missq_limit;
  uint64_t *tags; /* of each set: the tags of its ways, then the cycles of their last uses */
  uint8_t *state;
  uint16_t *line_mshr; /* that fetches it, or did */
  struct l1_line *line;
  struct l1_mshr *mshr;
  op_id *waiting; /* loads that wait in the MSHRs */
  uint32_t mshrs_busy;
  uint16_t *ready, *spare; /* ring of those whose line has come; stack of those that are free */
  struct l1_order order;
  /* an organisation in the place of the lines */
  const struct l1_org *org;
  struct slot_instance *org_of;
  bool pending; /* what the load looked up last lacks is on its way */
  uint32_t org_chunk, org_sets;
  struct {
    op_id op;
    uint16_t mshr;
  } * org_ready; /* ring of `org_ready_size`, ready_head and ready_count */
  uint32_t org_ready_size;
  uint32_t *org_left;                         /* as `waiting`: chunks that each still waits for */
  uint64_t *org_free;                         /* set of MSHRs that are free */
  uint16_t org_first[L1_ORG_HASH], *org_next; /* busy MSHRs by hash of their line: lists of index + 1, 0 ends one */
  struct l1_dirty {
    uint64_t line;
    uint32_t chunks;
  } * dirty; /* lines with chunks that local stores wrote; room for `dirty_max` */
  uint32_t dirty_count, dirty_max;
};

/* The tags of the set that begins with line `base`, and the cycles of the last uses. */
static inline uint64_t *l1_tags(const struct l1d *l, uint32_t base) {
  return l->tags + 2 * base;
}
static inline uint64_t *l1_used(const struct l1d *l, uint32_t base) {
  return l->tags + 2 * base + l->ways;
}

#endif
