/* icnt.c - the interconnect: nodes, injection and ejection, topology, and the clock of the two networks.
 *
 * A step of a network, in order: flits that reach a node go through its ejection buffer to its boundary buffer (one
 * flit of each VC a step, if there is room), which sends a credit back; every node with a credit injects one flit;
 * routers take in what arrived and allocate (icnt_router.c). A packet can be popped in the cycle after the step in
 * which its tail reached the boundary buffer. Both networks keep the same time and share nothing else.
 * docs/interconnect.md derives the latencies.
 */
#include "gpu/icnt.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/icnt_impl.h"

static uint32_t flits_of(const struct icnt *n, uint32_t bytes) {
  return (bytes + n->l.flit_bytes - 1) / n->l.flit_bytes;
}
static int net_out(const struct icnt *n, uint32_t node) {
  return node < n->l.sms ? ICNT_UP : ICNT_DOWN;
}
static int net_in(const struct icnt *n, uint32_t node) {
  return node < n->l.sms ? ICNT_DOWN : ICNT_UP;
}

/* ---- node side ---- */

/* Compiled once for one VC, where every division and loop over VCs disappears, and once for several. */
#define INLINE static inline __attribute__((always_inline))

/* Can the node send a flit in the next step? At a packet's head any VC with room will do. */
INLINE void update_inject(struct net *t, uint32_t node, const uint32_t V) {
  const struct source *s = &t->src[node];
  uint32_t room = s->sent ? s->credits[s->vc] : 0;
  if (!s->sent)
    for (uint32_t v = 0; v < V; v++) room |= s->credits[v];
  if (s->packets && room) bits_set(&t->go_inject, node);
  else bits_clear(&t->go_inject, node);
}

INLINE void inject(struct net *t, uint32_t node, struct slot *later, const uint32_t V) {
  const struct layout *l = t->l;
  struct source *s = &t->src[node];
  const struct flit *p = &s->ring[s->head];
  struct flit f = *p;
  if (!s->sent) { /* the next VC in rotation that has room */
    uint32_t v = s->last_vc;
    do v = v + 1 >= V ? 0 : v + 1;
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
  later->to_router[later->n_to_router++] = (struct wire_flit){.to = l->node_port[node] * V + s->vc, .f = f};
  t->on_wire++;
  update_inject(t, node, V);
}

/* Ejection buffer to boundary buffer, one flit of every VC; the credit of one flit goes back per step. */
INLINE void eject(struct net *t, uint32_t node, struct slot *later, const uint32_t V) {
  const struct layout *l = t->l;
  bool more = false;
  uint32_t owed = V; /* VC whose credit goes back now, vcs: none */
  for (uint32_t v = 0; v < V; v++) {
    struct sink *k = &t->snk[node * V + v];
    if (!k->count || k->boundary_flits >= l->boundary_flits) continue;
    struct flit f = k->ring[k->head];
    k->head = (k->head + 1) & k->mask;
    k->count--;
    k->boundary_flits++;
    if (f.meta & ICNT_TAIL) {
      k->packets[(k->phead + k->pcount++) & k->pmask] = f;
      set_add(t->ready, node);
    }
    more |= k->count && k->boundary_flits < l->boundary_flits;
    if (V == 1) owed = 0;
    else {
      uint32_t size = V * l->vc_buf, at = (t->credit_q_head[node] + t->credit_q_count[node]++) % size;
      t->credit_q[node * size + at] = (uint8_t)v;
    }
  }
  if (V > 1 && t->credit_q_count[node]) {
    uint32_t size = V * l->vc_buf;
    owed = t->credit_q[node * size + t->credit_q_head[node]];
    t->credit_q_head[node] = (uint16_t)((t->credit_q_head[node] + 1u) % size);
    more |= --t->credit_q_count[node] != 0;
  }
  if (owed < V) {
    later->credit_router[later->n_credit_router++] = l->node_port[node] * V + owed;
    t->on_wire++;
  }
  if (!more) bits_clear(&t->go_eject, node);
}

static bool net_quiet(const struct net *t) {
  return !t->on_wire && !bits_any(&t->go_inject) && !bits_any(&t->go_switch) && !bits_any(&t->go_vc) &&
         !bits_any(&t->go_eject);
}

INLINE void net_step(struct net *t, uint64_t now, const uint32_t V) {
  const struct layout *l = t->l;
  struct slot *s = &t->slot[now & (ICNT_SLOTS - 1)];
  struct slot *later = &t->slot[(now + ICNT_FLIT_WIRE) & (ICNT_SLOTS - 1)]; /* credits take as long */
  _Static_assert(ICNT_FLIT_WIRE == ICNT_CREDIT_WIRE, "one slot for both");
  for (uint32_t i = 0; i < s->n_to_node; i++) {
    struct sink *k = &t->snk[s->to_node[i].to];
    CHECK(k->count <= k->mask, "interconnect: ejection buffer %u overflows", s->to_node[i].to);
    k->ring[(k->head + k->count++) & k->mask] = s->to_node[i].f;
    if (k->boundary_flits < l->boundary_flits) bits_set(&t->go_eject, s->to_node[i].to / V);
  }
  BITS_EACH(&t->go_eject, node) {
    eject(t, node, later, V);
  }
  for (uint32_t i = 0; i < s->n_credit_node; i++) {
    uint32_t node = s->credit_node[i] / V;
    if (t->src[node].credits[s->credit_node[i] % V]++ == 0) update_inject(t, node, V);
  }
  BITS_EACH(&t->go_inject, node) {
    inject(t, node, later, V);
  }
  icnt_router_step(t, now);
  t->on_wire -= s->n_to_router + s->n_to_node + s->n_credit_router + s->n_credit_node;
  s->n_to_router = s->n_to_node = s->n_credit_router = s->n_credit_node = 0;
}

void icnt_step(struct icnt *n) {
  for (int i = 0; i < 2; i++) {
    if (n->xbar[i]) {
      icnt_xbar_step(n->xbar[i], n->now);
      continue;
    }
    struct net *t = &n->net[i];
    if (net_quiet(t)) continue;
    if (n->l.vcs == 1) net_step(t, n->now, 1);
    else net_step(t, n->now, n->l.vcs);
  }
  n->now++;
}

static uint32_t net_quiet_steps(const struct net *t, uint64_t now) {
  if (bits_any(&t->go_inject) || bits_any(&t->go_switch) || bits_any(&t->go_vc) || bits_any(&t->go_eject)) return 0;
  if (!t->on_wire) return UINT32_MAX;
  uint32_t k = 0;
  for (;; k++) {
    const struct slot *s = &t->slot[(now + k) & (ICNT_SLOTS - 1)];
    if (s->n_to_router | s->n_to_node | s->n_credit_router | s->n_credit_node) return k;
    CHECK(k < ICNT_SLOTS, "interconnect: %u entries on the wires, none in a slot", t->on_wire);
  }
}

uint32_t icnt_quiet_steps(const struct icnt *n) {
  uint32_t least = UINT32_MAX;
  for (int i = 0; i < 2 && least; i++) {
    uint32_t k = n->xbar[i] ? icnt_xbar_quiet(n->xbar[i], n->now) : net_quiet_steps(&n->net[i], n->now);
    if (k < least) least = k;
  }
  return least;
}

void icnt_skip(struct icnt *n, uint32_t steps) {
  for (int i = 0; i < 2; i++)
    if (n->xbar[i]) icnt_xbar_skip(n->xbar[i], n->now, steps);
  n->now += steps;
}

/* ---- calls from SMs and L2 ---- */

bool icnt_can_push(const struct icnt *n, uint32_t node, uint32_t bytes) {
  int which = net_out(n, node);
  uint32_t flits = flits_of(n, bytes);
  if (n->xbar[which]) return icnt_xbar_can_push(n->xbar[which], node, flits);
  return n->net[which].src[node].flits + flits <= n->l.inject_flits;
}

void icnt_push(struct icnt *n, uint32_t src, uint32_t dst, uint32_t payload, uint32_t bytes) {
  int which = net_out(n, src);
  uint32_t flits = flits_of(n, bytes);
  CHECK(payload && flits && dst < n->l.nodes && net_out(n, dst) != which,
        "interconnect: packet %u of %u B from %u to %u", payload, bytes, src, dst);
  CHECK(flits <= n->l.boundary_flits, "interconnect: a packet of %u flits never fits the boundary buffer of %u", flits,
        n->l.boundary_flits);
  CHECK(icnt_can_push(n, src, bytes), "interconnect: node %u pushes into a full injection buffer", src);
  struct flit p = {.payload = payload, .dst = (uint16_t)dst, .meta = (uint16_t)flits};
  if (n->xbar[which]) icnt_xbar_push(n->xbar[which], src, p);
  else {
    struct net *t = &n->net[which];
    struct source *s = &t->src[src];
    s->ring[(s->head + s->packets++) & s->mask] = p;
    s->flits += flits;
    if (s->packets == 1) update_inject(t, src, n->l.vcs);
  }
  n->inside++;
  n->st.packets[which]++;
  n->st.flits[which] += flits;
}

/* The next VC in rotation that has a whole packet; there is one. */
static uint32_t ready_vc(const struct net *t, uint32_t node) {
  uint32_t vcs = t->l->vcs, v = t->turn[node];
  while (!t->snk[node * vcs + v].pcount) v = v + 1 == vcs ? 0 : v + 1;
  return v;
}

uint32_t icnt_peek(const struct icnt *n, uint32_t node) {
  if (!set_has(n->ready, node)) return 0;
  int which = net_in(n, node);
  if (n->xbar[which]) return icnt_xbar_peek(n->xbar[which], node);
  const struct net *t = &n->net[which];
  const struct sink *k = &t->snk[node * n->l.vcs + ready_vc(t, node)];
  return k->packets[k->phead].payload;
}

uint32_t icnt_pop(struct icnt *n, uint32_t node) {
  if (!set_has(n->ready, node)) return 0;
  int which = net_in(n, node);
  n->inside--;
  if (n->xbar[which]) return icnt_xbar_pop(n->xbar[which], node);
  struct net *t = &n->net[which];
  uint32_t vcs = n->l.vcs, v = ready_vc(t, node), left = 0;
  struct sink *k = &t->snk[node * vcs + v];
  struct flit p = k->packets[k->phead];
  k->phead = (k->phead + 1) & k->pmask;
  k->pcount--;
  k->boundary_flits -= p.meta & ICNT_LEN;
  if (k->count) bits_set(&t->go_eject, node);
  t->turn[node] = (uint8_t)(v + 1 == vcs ? 0 : v + 1);
  for (uint32_t i = 0; i < vcs; i++) left |= t->snk[node * vcs + i].pcount;
  if (!left) set_remove(n->ready, node);
  return p.payload;
}

bool icnt_idle(const struct icnt *n) {
  return n->inside == 0;
}

const struct icnt_stats *icnt_stats(const struct icnt *n) {
  return &n->st;
}

/* ---- construction ---- */

/* Crossbar: port = node. Mesh: as square as it goes, nodes in rows from one corner with the L2 nodes spread evenly
 * among the SMs, so that no row or column carries all of the replies; positions left over have a router and no node. */
static void topology(struct icnt *n) {
  struct layout *l = &n->l;
  struct arena *a = &n->mem;
  l->routers = 1;
  l->radix = l->nodes;
  if (l->mesh) {
    for (l->columns = 1; l->columns * l->columns < l->nodes;) l->columns++;
    l->routers = (l->nodes + l->columns - 1) / l->columns * l->columns;
    l->radix = 5;
  }
  l->ports = l->routers * l->radix;
  l->req_words = (l->radix * l->vcs + 63) / 64;
  l->node_port = ARENA_ARRAY(a, uint16_t, l->nodes);
  l->port_node = ARENA_ARRAY(a, uint16_t, l->ports);
  l->peer = ARENA_ARRAY(a, uint16_t, l->ports);
  memset(l->port_node, 0xff, l->ports * sizeof *l->port_node);
  memset(l->peer, 0xff, l->ports * sizeof *l->peer);
  uint32_t mems = l->nodes - l->sms, sm = 0, mem = 0;
  for (uint32_t at = 0; at < l->nodes; at++) {
    bool is_mem = mem < mems && (2 * mem + 1) * l->nodes / (2 * mems) == at;
    uint32_t node = !l->mesh ? at : is_mem ? l->sms + mem++ : sm++;
    uint32_t port = l->mesh ? at * l->radix + 4 : at;
    l->node_port[node] = (uint16_t)port;
    l->port_node[port] = (uint16_t)node;
  }
  for (uint32_t r = 0; l->mesh && r < l->routers; r++) {
    if (r % l->columns + 1 < l->columns) { /* the neighbour at +x: output +x feeds its input -x, and back */
      l->peer[r * 5 + 0] = (uint16_t)((r + 1) * 5 + 1);
      l->peer[(r + 1) * 5 + 1] = (uint16_t)(r * 5 + 0);
    }
    if (r + l->columns < l->routers) {
      l->peer[r * 5 + 2] = (uint16_t)((r + l->columns) * 5 + 3);
      l->peer[(r + l->columns) * 5 + 3] = (uint16_t)(r * 5 + 2);
    }
  }
}

/* XY routing: x first, then y, then out to the node; in the crossbar straight to the node's port. */
static void routes(struct icnt *n) {
  struct layout *l = &n->l;
  l->base = ARENA_ARRAY(&n->mem, uint16_t, l->ports);
  l->router = ARENA_ARRAY(&n->mem, uint16_t, l->ports);
  l->route = ARENA_ARRAY(&n->mem, uint16_t, l->routers * l->nodes);
  for (uint32_t p = 0; p < l->ports; p++) {
    l->router[p] = (uint16_t)(p / l->radix);
    l->base[p] = (uint16_t)(p / l->radix * l->radix);
  }
  for (uint32_t r = 0; r < l->routers; r++)
    for (uint32_t dst = 0; dst < l->nodes; dst++) {
      uint32_t port = l->node_port[dst], to = port / l->radix;
      if (r != to) {
        uint32_t x = r % l->columns, tx = to % l->columns;
        port = r * l->radix + (x < tx ? 0 : x > tx ? 1 : r < to ? 2 : 3);
      }
      l->route[r * l->nodes + dst] = (uint16_t)port;
    }
}

static uint32_t ring_size(uint32_t n) {
  uint32_t size = 1;
  while (size < n) size *= 2;
  return size;
}

static void nodes_new(struct icnt *n, int which) {
  struct arena *a = &n->mem;
  const struct layout *l = &n->l;
  struct net *t = &n->net[which];
  t->src = ARENA_ARRAY(a, struct source, l->nodes);
  t->snk = ARENA_ARRAY(a, struct sink, l->nodes * l->vcs);
  t->turn = ARENA_ARRAY(a, uint8_t, l->nodes);
  t->ready = n->ready;
  if (l->vcs > 1) {
    t->credit_q = ARENA_ARRAY(a, uint8_t, l->nodes * l->vcs * l->vc_buf);
    t->credit_q_head = ARENA_ARRAY(a, uint16_t, l->nodes);
    t->credit_q_count = ARENA_ARRAY(a, uint16_t, l->nodes);
  }
  for (uint32_t node = 0; node < l->nodes; node++) {
    if (net_out(n, node) == which) {
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

struct icnt *icnt_new(const struct gpu_config *c, uint32_t nodes) {
  struct icnt *n = calloc(1, sizeof *n);
  CHECK(n, "out of memory");
  /* The router counts free places of the next VC buffer and applies the same count at the node, so that an ejection
   * buffer larger than a VC buffer is never filled and a smaller one bounds both. */
  uint32_t room = c->icnt_ej_buf < c->icnt_vc_buf ? c->icnt_ej_buf : c->icnt_vc_buf;
  n->l = (struct layout){.sms = c->sms,
                         .nodes = nodes,
                         .vcs = c->icnt_vcs,
                         .vc_buf = room,
                         .speedup = c->icnt_speedup,
                         .iterations = c->icnt_islip,
                         .inject_flits = c->icnt_in_buf,
                         .boundary_flits = c->icnt_bnd_buf,
                         .flit_bytes = c->icnt_flit,
                         .mesh = c->icnt_kind == ICNT_MESH};
  CHECK(nodes > c->sms && nodes <= 1024, "interconnect: %u nodes, %u of them SMs", nodes, c->sms);
  n->ready = ARENA_ARRAY(&n->mem, uint64_t, (nodes + 63) / 64);
  topology(n);
  routes(n);
  for (int i = 0; i < 2; i++) {
    if (!n->l.mesh && n->l.vcs == 1) {
      n->xbar[i] = icnt_xbar_new(n, i == ICNT_UP);
      continue;
    }
    nodes_new(n, i);
    icnt_router_new(n, &n->net[i]);
  }
  return n;
}

void icnt_free(struct icnt *n) {
  if (!n) return;
  arena_free(&n->mem);
  free(n);
}
