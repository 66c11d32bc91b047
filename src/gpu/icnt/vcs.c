/* vcs.c - a network with several virtual channels: its nodes, and the order of a step.
 *
 * A step, in order: flits that reach a node go through its ejection buffer to its boundary buffer (one flit of each VC
 * a step, if there is room), which sends a credit back; every node with a credit injects one flit; routers take in what
 * arrived and allocate (router.c). A packet can be popped after the step in which its tail reached the boundary
 * buffer.
 */
#include "gpu/icnt/icnt_impl.h"

/* True if the node can send a flit in the next step. A packet's head may use any VC with room. */
static void update_inject(struct net *t, uint32_t node) {
  const struct source *s = &t->src[node];
  uint32_t room = s->sent ? s->credits[s->vc] : 0;
  if (!s->sent)
    for (uint32_t v = 0; v < t->l->vcs; v++) room |= s->credits[v];
  if (s->packets && room) bits_set(&t->go_inject, node);
  else bits_clear(&t->go_inject, node);
}

static void inject(struct net *t, uint32_t node, struct slot *later) {
  const struct layout *l = t->l;
  struct source *s = &t->src[node];
  const struct flit *p = &s->ring[s->head];
  struct flit f = *p;
  if (!s->sent) { /* the next VC in rotation that has room */
    uint32_t v = s->last_vc;
    do v = v + 1 >= l->vcs ? 0 : v + 1;
    while (!s->credits[v]);
    s->vc = s->last_vc = (uint8_t)v;
    f.meta |= ICNT_HEAD;
  }
  s->credits[s->vc]--;
  s->flits--;
  if (++s->sent == p->meta) {
    f.meta |= ICNT_TAIL;
    s->sent = 0;
    s->packets--;
    s->head = (s->head + 1) & s->mask;
  }
  later->to_router[later->n_to_router++] = (struct wire_flit){.to = l->node_port[node] * l->vcs + s->vc, .f = f};
  t->on_wire++;
  update_inject(t, node);
}

/* Ejection buffer to boundary buffer, one flit of every VC; the credit of one flit goes back per step. */
static void eject(struct net *t, uint32_t node, struct slot *later) {
  const struct layout *l = t->l;
  uint32_t size = l->vcs * l->vc_buf;
  bool more = false;
  for (uint32_t v = 0; v < l->vcs; v++) {
    struct sink *k = &t->snk[node * l->vcs + v];
    if (!k->count || k->boundary_flits >= l->boundary_flits) continue;
    struct flit f = k->ring[k->head];
    k->head = (k->head + 1) & k->mask;
    k->count--;
    k->boundary_flits++;
    if (f.meta & ICNT_TAIL) {
      k->packets[(k->phead + k->pcount++) & k->pmask] = f;
      set_add(t->ready, icnt_ready(l, node));
    }
    more |= k->count && k->boundary_flits < l->boundary_flits;
    t->credit_q[node * size + (t->credit_q_head[node] + t->credit_q_count[node]++) % size] = (uint8_t)v;
  }
  if (t->credit_q_count[node]) {
    uint32_t v = t->credit_q[node * size + t->credit_q_head[node]];
    t->credit_q_head[node] = (uint16_t)((t->credit_q_head[node] + 1u) % size);
    more |= --t->credit_q_count[node] != 0;
    later->credit_router[later->n_credit_router++] = l->node_port[node] * l->vcs + v;
    t->on_wire++;
  }
  if (!more) bits_clear(&t->go_eject, node);
}

uint32_t icnt_vcs_quiet(const struct net *t, uint64_t now) {
  if (bits_any(&t->go_inject) || bits_any(&t->go_switch) || bits_any(&t->go_vc) || bits_any(&t->go_eject)) return 0;
  if (!t->on_wire) return UINT32_MAX;
  uint32_t k = 0;
  for (;; k++) {
    const struct slot *s = &t->slot[(now + k) & (ICNT_SLOTS - 1)];
    if (s->n_to_router | s->n_to_node | s->n_credit_router | s->n_credit_node) return k;
    CHECK(k < ICNT_SLOTS, "interconnect: %u entries on the wires, none in a slot", t->on_wire);
  }
}

void icnt_vcs_step(struct net *t, uint64_t now) {
  if (icnt_vcs_quiet(t, now)) return;
  const struct layout *l = t->l;
  struct slot *s = &t->slot[now & (ICNT_SLOTS - 1)];
  struct slot *later = &t->slot[(now + l->wire) & (ICNT_SLOTS - 1)];
  for (uint32_t i = 0; i < s->n_to_node; i++) {
    struct sink *k = &t->snk[s->to_node[i].to];
    CHECK(k->count <= k->mask, "interconnect: ejection buffer %u overflows", s->to_node[i].to);
    k->ring[(k->head + k->count++) & k->mask] = s->to_node[i].f;
    if (k->boundary_flits < l->boundary_flits) bits_set(&t->go_eject, s->to_node[i].to / l->vcs);
  }
  BITS_EACH(&t->go_eject, node) {
    eject(t, node, later);
  }
  for (uint32_t i = 0; i < s->n_credit_node; i++) {
    uint32_t node = s->credit_node[i] / l->vcs;
    if (t->src[node].credits[s->credit_node[i] % l->vcs]++ == 0) update_inject(t, node);
  }
  BITS_EACH(&t->go_inject, node) {
    inject(t, node, later);
  }
  icnt_router_step(t, now);
  t->on_wire -= s->n_to_router + s->n_to_node + s->n_credit_router + s->n_credit_node;
  s->n_to_router = s->n_to_node = s->n_credit_router = s->n_credit_node = 0;
}

uint32_t icnt_vcs_waiting(const struct net *t, uint32_t node) {
  return t->src[node].flits;
}

bool icnt_vcs_can_push(const struct net *t, uint32_t node, uint32_t flits) {
  return t->src[node].flits + flits <= t->l->inject_flits;
}

void icnt_vcs_push(struct net *t, uint32_t src, struct flit p) {
  struct source *s = &t->src[src];
  s->ring[(s->head + s->packets++) & s->mask] = p;
  s->flits += p.meta;
  if (s->packets == 1) update_inject(t, src);
}

/* The next VC in rotation with a whole packet; one exists. */
static uint32_t ready_vc(const struct net *t, uint32_t node) {
  uint32_t vcs = t->l->vcs, v = t->turn[node];
  while (!t->snk[node * vcs + v].pcount) v = v + 1 == vcs ? 0 : v + 1;
  return v;
}

uint32_t icnt_vcs_peek(const struct net *t, uint32_t node) {
  const struct sink *k = &t->snk[node * t->l->vcs + ready_vc(t, node)];
  return k->packets[k->phead].payload;
}

uint32_t icnt_vcs_pop(struct net *t, uint32_t node) {
  uint32_t vcs = t->l->vcs, v = ready_vc(t, node), left = 0;
  struct sink *k = &t->snk[node * vcs + v];
  struct flit p = k->packets[k->phead];
  k->phead = (k->phead + 1) & k->pmask;
  k->pcount--;
  k->boundary_flits -= p.meta & ICNT_LEN;
  if (k->count) bits_set(&t->go_eject, node);
  t->turn[node] = (uint8_t)(v + 1 == vcs ? 0 : v + 1);
  for (uint32_t i = 0; i < vcs; i++) left |= t->snk[node * vcs + i].pcount;
  if (!left) set_remove(t->ready, icnt_ready(t->l, node));
  return p.payload;
}

static uint32_t ring_size(uint32_t n) {
  uint32_t size = 1;
  while (size < n) size *= 2;
  return size;
}

static void nodes_new(struct icnt *n, struct net *t, bool up_net) {
  struct arena *a = &n->mem;
  const struct layout *l = &n->l;
  t->src = ARENA_ARRAY(a, struct source, l->nodes);
  t->snk = ARENA_ARRAY(a, struct sink, l->nodes * l->vcs);
  t->turn = ARENA_ARRAY(a, uint8_t, l->nodes);
  t->ready = n->ready;
  t->credit_q = ARENA_ARRAY(a, uint8_t, l->nodes * l->vcs * l->vc_buf);
  t->credit_q_head = ARENA_ARRAY(a, uint16_t, l->nodes);
  t->credit_q_count = ARENA_ARRAY(a, uint16_t, l->nodes);
  for (uint32_t node = 0; node < l->nodes; node++) {
    if ((node < l->sms) == up_net) {
      struct source *s = &t->src[node];
      s->mask = ring_size(l->inject_flits) - 1;
      s->ring = ARENA_ARRAY(a, struct flit, s->mask + 1);
      s->credits = ARENA_ARRAY(a, uint16_t, l->vcs);
      s->last_vc = (uint8_t)(l->vcs - 1); /* the first packet takes VC 0 */
      for (uint32_t v = 0; v < l->vcs; v++) s->credits[v] = (uint16_t)l->vc_buf;
      continue;
    }
    for (uint32_t v = 0; v < l->vcs; v++) {
      struct sink *k = &t->snk[node * l->vcs + v];
      k->mask = ring_size(l->vc_buf) - 1;
      k->ring = ARENA_ARRAY(a, struct flit, k->mask + 1);
      k->pmask = ring_size(l->boundary_flits) - 1;
      k->packets = ARENA_ARRAY(a, struct flit, k->pmask + 1);
    }
  }
}

struct net *icnt_vcs_new(struct icnt *n, bool up_net) {
  struct net *t = ARENA_NEW(&n->mem, struct net);
  nodes_new(n, t, up_net);
  icnt_router_new(n, t);
  return t;
}
