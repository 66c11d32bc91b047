/* net.h - the network between the L1s: two crossbars, one for accesses and one for answers. Only with a scheme that
 * fills `place`.
 *
 * An SM puts packets into its own queues and takes packets out of its own; packets move between cycles. A packet
 * occupies a port of the sender and one of the receiver for a cycle per flit and arrives l1net.latency cycles later.
 * Only the oldest packet of a sender is tried. Of several for one receiver the first in turn goes; the SM that is first
 * in turn changes every cycle.
 */
#ifndef GPU_L1_NET_H
#define GPU_L1_NET_H

#include "gpu/state/machine.h"
#include "gpu/state/sm.h"

enum l1_crossbar { NET_ASK, NET_ANSWER };
/* req.token: a look into the L1 of another SM for a miss (data, or none to be had), else the access plus 1. */
enum { NET_LOOK = 0, NET_REFUSED = 0xffffffff };

/* An access sent to another SM's L1: what its request does not say. */
struct l1_away {
  struct access acc;
  const struct uop *uop;
  uint8_t space;
  uint32_t next; /* free entries: index + 1 */
};

void l1_net_init(struct gpu *g);
void l1_net_destroy(struct gpu *g);
/* Between cycles: stores and fences reach other L1s, tags are read, packets move. */
void l1_net_step(struct gpu *g);
/* The first cycle with something to do; UINT64_MAX: none. */
uint64_t l1_net_next(const struct gpu *g);

/* ---- for an SM in its cycle ---- */
bool l1_net_room(const struct sm *s, enum l1_crossbar net); /* for a packet */
void l1_net_put(struct sm *s, enum l1_crossbar net, req_id id, uint32_t to);
/* The first packet that has arrived, 0 for none; take it. */
req_id l1_net_arrived(const struct sm *s, enum l1_crossbar net);
void l1_net_take(struct sm *s, enum l1_crossbar net);
/* True if this access takes the network, to `home`. */
bool l1_net_away(struct sm *s, op_id op, const struct access *a, uint32_t *home);
/* The SM whose L1 keeps the line. */
uint32_t l1_net_home_of(struct sm *s, const struct l1_event *e);
/* Send an access there (there is room). */
void l1_net_send(struct sm *s, op_id op, const struct access *a, uint32_t home);
const struct l1_away *l1_net_access(const struct gpu *g, const struct req *r);
/* The access `op`, which stands for one of another SM, is done: answer it. A store that the L2 acknowledges instead is
 * only forgotten. There is room for the answer. */
void l1_net_answer(struct sm *s, op_id op);
void l1_net_forget(struct sm *s, op_id op);
/* The SM whose access `op` stands for, and the instruction there. */
struct sm *l1_net_origin(const struct sm *s, op_id op, op_id *there);
/* The first request in the miss queue is to be asked about; ask. */
bool l1_net_asks(const struct sm *s);
void l1_net_ask(struct sm *s);
/* A miss that no other L1 answers, for the L2; 0: none. */
req_id l1_net_back(const struct sm *s);
void l1_net_back_push(struct sm *s, req_id id);
void l1_net_back_pop(struct sm *s);
/* A look: true if its data is here. */
bool l1_net_look(struct sm *s, const struct req *r);
void l1_net_stored(struct sm *s, op_id op, const struct access *a);
void l1_net_fenced(struct sm *s);

#endif
