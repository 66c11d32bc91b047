/* order.c - first-in first-out queues between coalescer and L1, for schemes (Jia, Shaw, Martonosi, "MRPB", HPCA 2014,
 * section 4.2).
 *
 * The memory pipe puts each access into the queue chosen by the scheme and blocks while it is full; in every cycle in
 * which the L1 takes an access, the scheme chooses the next queue. An access spends a cycle in its queue.
 */
#include "gpu/l1/l1.h"
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

void l1_order_init(struct sm *s) {
  struct l1_order *q = &s->l1d.order;
  struct slot_instance *in = &s->g->slots.at[s->g->slots.queues[0]];
  CHECK(in->scheme->queue_of && in->scheme->pick_queue, "scheme %s has queues but does not pick", in->scheme->name);
  q->queues = in->scheme->queues(&in->ctx, &q->depth);
  if (!q->queues) return;
  q->at = mem_zeroed((size_t)q->queues * q->depth, sizeof *q->at);
  q->head = mem_zeroed(q->queues, sizeof *q->head);
  q->count = mem_zeroed(q->queues, sizeof *q->count);
}

void l1_order_destroy(struct l1d *l) {
  free(l->order.at);
  free(l->order.head);
  free(l->order.count);
}

bool l1_order_push(struct sm *s, op_id op, const struct access *a) {
  struct l1_order *q = &s->l1d.order;
  struct slot_instance *in = &s->g->slots.at[s->g->slots.queues[0]];
  struct l1_event e = l1_event_of_access(s, &s->op[op], a, 0);
  uint32_t k = in->scheme->queue_of(&in->ctx, &e);
  CHECK(k < q->queues, "scheme %s names queue %u of %u", in->scheme->name, k, q->queues);
  if (q->count[k] >= q->depth) return false;
  q->at[k * q->depth + (q->head[k] + q->count[k]++) % q->depth] =
      (struct latency_slot){.acc = *a, .at = s->g->now, .op = op};
  s->l1d.order_waiting++;
  return true;
}

/* The L1 takes one access a cycle; the queues are stepped before the pipe adds to them. */
void l1_order_step(struct sm *s) {
  struct l1d *l = &s->l1d;
  struct l1_order *q = &l->order;
  if (l->lat_count >= s->c->l1d_latency) return;
  struct slot_instance *in = &s->g->slots.at[s->g->slots.queues[0]];
  int k = in->scheme->pick_queue(&in->ctx, s->id, q->count);
  if (k < 0) return;
  CHECK((uint32_t)k < q->queues && q->count[k], "scheme %s picks the empty queue %d", in->scheme->name, k);
  struct latency_slot slot = q->at[(uint32_t)k * q->depth + q->head[k]];
  q->head[k] = (q->head[k] + 1) % q->depth;
  q->count[k]--;
  l->order_waiting--;
  slot.at = s->g->now;
  l->lat[(l->lat_head + l->lat_count++) % l->lat_size] = slot;
  s->acted = true;
}
