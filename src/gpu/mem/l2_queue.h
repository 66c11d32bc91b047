/* l2_queue.h - first-in first-out queues of the memory side. An entry is a request with all data that the units behind
 * the L2 need, so that they never access the request pool.
 */
#ifndef GPU_MEM_L2_QUEUE_H
#define GPU_MEM_L2_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/common/req.h"

struct l2_op {
  uint64_t at; /* time stamp, by queue: ready at, or entered at */
  req_id r;
  uint16_t set;    /* L2 set */
  uint16_t bytes;  /* to move at the DRAM */
  uint16_t mshr;   /* entry filled by its data, or L2_NO_MSHR: bypasses the L2 */
  uint8_t cls;     /* DRAM queue: 0 is served before 1 */
  uint8_t sectors; /* sectored L2: those of its line that the data fills */
  uint32_t sub;    /* from the DRAM queue on: destination sub-partition of the channel */
};

/* Short, so that the data of a step of an L2 or channel spans few cache lines of the host. */
struct l2_queue {
  struct l2_op *at;
  uint16_t head, count;
  uint16_t mask;  /* places, a power of two, less one */
  uint16_t limit; /* UINT16_MAX: grows */
};

/* `limit` 0: unbounded. */
void l2_queue_init(struct l2_queue *q, uint32_t limit);
void l2_queue_free(struct l2_queue *q);
__attribute__((noinline, cold)) void l2_queue_grow(struct l2_queue *q);

static inline bool l2_queue_full(const struct l2_queue *q) {
  return q->count >= q->limit;
}
static inline struct l2_op *l2_queue_top(const struct l2_queue *q) {
  return &q->at[q->head];
}
static inline void l2_queue_push(struct l2_queue *q, struct l2_op op) {
  if (q->count > q->mask) l2_queue_grow(q);
  q->at[(q->head + q->count++) & q->mask] = op;
}
static inline struct l2_op l2_queue_pop(struct l2_queue *q) {
  struct l2_op op = q->at[q->head];
  /* An empty queue starts at the front again, in a cached line. */
  q->head = --q->count ? (q->head + 1) & q->mask : 0;
  return op;
}

#endif
