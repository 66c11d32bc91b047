/* l2_queue.h - first-in first-out queues of the memory side. An entry is a request with what the units behind the L2
 * need to know about it, so that no unit looks into the request pool to move it on.
 */
#ifndef GPU_L2_QUEUE_H
#define GPU_L2_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu/req.h"

struct l2_op {
  uint64_t at; /* time stamp of the queue it is in: ready at, or entered at */
  req_id r;
  uint32_t set;    /* L2 set */
  uint16_t bytes;  /* to move at the DRAM */
  uint8_t cls;     /* DRAM queue: 0 is served before 1 */
  uint8_t sectors; /* sectored L2: those of its line that the data fills */
  uint16_t mshr;   /* entry that its data fills, or L2_NO_MSHR: passes the L2 by */
};

struct l2_queue {
  struct l2_op *at;
  uint32_t head, count, size; /* size: a power of two */
  uint32_t limit;             /* 0: grows */
};

void l2_queue_init(struct l2_queue *q, uint32_t limit);
void l2_queue_free(struct l2_queue *q);
__attribute__((noinline, cold)) void l2_queue_grow(struct l2_queue *q);

static inline bool l2_queue_full(const struct l2_queue *q) {
  return q->limit && q->count >= q->limit;
}
static inline struct l2_op *l2_queue_top(const struct l2_queue *q) {
  return &q->at[q->head];
}
static inline void l2_queue_push(struct l2_queue *q, struct l2_op op) {
  if (q->count == q->size) l2_queue_grow(q);
  q->at[(q->head + q->count++) & (q->size - 1)] = op;
}
static inline struct l2_op l2_queue_pop(struct l2_queue *q) {
  struct l2_op op = q->at[q->head];
  /* A queue that runs empty begins anew in front, in a line that the cache still has. */
  q->head = --q->count ? (q->head + 1) & (q->size - 1) : 0;
  return op;
}

#endif
