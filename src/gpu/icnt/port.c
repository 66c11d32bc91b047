/* port.c - a stand-in for the interconnect, for SMs that run ahead of it. See icnt.h.
 *
 * Of a crossbar with one virtual channel all times are known at the grant (xbar.c). A packet that is granted from now
 * on takes a step for its flit, the channel and a step into the boundary buffer, and the receiver finds it one step
 * later: until then only packets arrive whose grants have been made. The room of an injection buffer is known as far as
 * no grant to come frees a place in it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "gpu/icnt/icnt_impl.h"

struct icnt_port {
  const struct icnt *of;
  uint32_t step;              /* after the network's last, from 0 */
  uint16_t *taken;            /* by SM: packets popped */
  struct icnt_injected *sent; /* by SM: with what it has pushed */
  uint64_t *exact;            /* set of SMs whose room is known in this step */
  struct icnt_log log[ICNT_AHEAD_MOST];
  uint32_t room[ICNT_AHEAD_MOST]; /* of log.push */
};

uint32_t icnt_ahead(const struct icnt *n) {
  return n->xbar[ICNT_UP] && n->xbar[ICNT_DOWN] ? n->l.wire + 3 : 0;
}

struct icnt *icnt_port_new(const struct icnt *n) {
  struct icnt *p = mem_zeroed(1, sizeof *p);
  p->l = n->l;
  p->room = ARENA_ARRAY(&p->mem, struct icnt_room, n->l.nodes);
  p->ready = ARENA_ARRAY(&p->mem, uint64_t, n->l.sm_words + (n->l.nodes - n->l.sms + 63) / 64);
  struct icnt_port *q = p->port = ARENA_NEW(&p->mem, struct icnt_port);
  q->of = n;
  q->taken = ARENA_ARRAY(&p->mem, uint16_t, n->l.sms);
  q->sent = ARENA_ARRAY(&p->mem, struct icnt_injected, n->l.sms);
  q->exact = ARENA_ARRAY(&p->mem, uint64_t, n->l.sm_words);
  for (uint32_t k = 0; k < ICNT_AHEAD_MOST; k++) q->log[k].pop = ARENA_ARRAY(&p->mem, uint64_t, n->l.sm_words);
  return p;
}

void icnt_port_free(struct icnt *p) {
  if (!p) return;
  for (uint32_t k = 0; k < ICNT_AHEAD_MOST; k++) free(p->port->log[k].push);
  icnt_free(p);
}

void icnt_port_begin(struct icnt *p) {
  for (uint32_t k = 0; k < ICNT_AHEAD_MOST; k++) {
    p->port->log[k].pushes = 0;
    for (uint32_t w = 0; w < p->l.sm_words; w++) p->port->log[k].pop[w] = 0;
  }
}

void icnt_port_node(struct icnt *p, uint32_t node) {
  struct icnt_port *q = p->port;
  q->taken[node] = 0;
  q->sent[node] = icnt_xbar_injected(q->of->xbar[ICNT_UP], node);
  p->room[node] = (struct icnt_room){0};
}

enum icnt_known icnt_port_at(struct icnt *p, uint32_t node, uint32_t step) {
  struct icnt_port *q = p->port;
  uint64_t whole;
  q->step = step;
  set_remove(p->ready, node);
  if (!icnt_xbar_granted(q->of->xbar[ICNT_DOWN], node, q->taken[node], &whole)) return ICNT_NO_PACKET;
  if (whole == UINT64_MAX) return step ? ICNT_UNKNOWN : ICNT_NO_PACKET;
  if (whole >= q->of->now + step) return ICNT_NO_PACKET;
  set_add(p->ready, node);
  return ICNT_PACKET;
}

bool icnt_port_knows(struct icnt *p, uint32_t node, uint32_t bytes) {
  struct icnt_port *q = p->port;
  bool exact;
  set_remove(q->exact, node);
  if (p->room[node].fits >= bytes) return true;
  uint32_t full =
      icnt_xbar_waiting_ahead(q->of->xbar[ICNT_UP], node, &q->sent[node], q->of->now, q->of->now + q->step + 1, &exact);
  p->room[node].fits = full < p->l.inject_flits ? (p->l.inject_flits - full) * p->l.flit_bytes : 0;
  if (exact) set_add(q->exact, node);
  return exact || p->room[node].fits >= bytes;
}

bool icnt_port_can_push(const struct icnt *p, uint32_t node, uint32_t bytes) {
  CHECK(set_has(p->port->exact, node), "interconnect: SM %u pushes %u B ahead of what is known", node, bytes);
  return false;
}

void icnt_port_push(struct icnt *p, uint32_t node, uint32_t payload, uint32_t flits) {
  struct icnt_port *q = p->port;
  struct icnt_log *l = &q->log[q->step];
  if (l->pushes == q->room[q->step]) {
    q->room[q->step] = 2 * q->room[q->step] + 64;
    l->push = mem_resize(l->push, q->room[q->step], sizeof *l->push);
  }
  l->push[l->pushes++] = (struct icnt_pushed){.node = node, .payload = payload};
  p->room[node].fits -= flits * p->l.flit_bytes;
  icnt_injected_push(&q->sent[node], flits, q->of->now + q->step + 1);
}

uint32_t icnt_port_pop(struct icnt *p, uint32_t node) {
  struct icnt_port *q = p->port;
  set_remove(p->ready, node);
  set_add(q->log[q->step].pop, node);
  return icnt_xbar_payload(q->of->xbar[ICNT_DOWN], node, q->taken[node]++);
}

const struct icnt_log *icnt_port_log(const struct icnt *p, uint32_t step) {
  return &p->port->log[step];
}
