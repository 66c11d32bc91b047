/* port.h - requests from an SM into the interconnect. */
#ifndef GPU_STATE_PORT_H
#define GPU_STATE_PORT_H

#include "gpu/icnt/icnt.h"
#include "gpu/state/machine.h"
#include "gpu/state/sm.h"

/* A new request of this SM, stamped with the time and its destination (channel, sub-partition, bank). */
req_id sm_request(struct sm *s, enum req_type type, uint64_t addr, uint32_t bytes);
/* Inject it; sm_can_send_bytes has returned true for its packet. */
void sm_send(struct sm *s, req_id r);
/* False: a request of `s` to a page that has no translation yet waits. */
bool sm_translated(struct gpu *g, struct sm *s, req_id id);
/* Send the first request that waited for its translation, if it is due. False: the interconnect has no room. */
bool sm_send_held(struct sm *s);
/* The access and instruction behind a request, for caches, schemes and observers below the SM. */
static inline void sm_stamp(struct req *r, const struct op *o, const struct access *a) {
  r->warp = o->warp;
  r->cta = o->cta;
  const struct inst *i = o->uop->inst;
  r->pc = i->pc;
  r->cache_op = i->cache_op, r->hint_l1 = i->hint_l1, r->hint_l2 = i->hint_l2;
  r->degree = o->degree;
  r->lanes = a->lanes;
  r->chunks = a->chunks;
}
/* True if a packet fits the interconnect. If not, an SM that sleeps now wakes when it does. */
static inline __attribute__((always_inline)) bool sm_can_send_bytes(struct sm *s, uint32_t bytes) {
  if (icnt_can_push(s->g->icnt, s->id, bytes)) return true;
  if (bytes < s->need_icnt) s->need_icnt = bytes;
  return false;
}
static inline bool sm_can_send_read(struct sm *s) {
  return sm_can_send_bytes(s, REQ_HEADER_BYTES);
}

#endif
