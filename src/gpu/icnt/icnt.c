/* icnt.c - the interconnect: its interface, the topologies, and the clock of the two networks.
 *
 * The networks themselves are in xbar.c (a crossbar with one virtual channel, the default), in planes.c (a mesh with
 * one) and in vcs.c and router.c (several). Both networks keep the same time and share nothing else.
 * docs/explanation/interconnect.md describes the machine and derives the latencies.
 */
#include "gpu/icnt/icnt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/icnt/icnt_impl.h"

enum { FIRST_STEP = 16 }; /* keeps "a few steps ago" at or above step 0 */

static uint32_t flits_of(const struct icnt *n, int which, uint32_t bytes) {
  if (__builtin_expect(which == ICNT_DOWN && n->l.reply_bytes != n->l.flit_bytes, 0))
    return (bytes + n->l.reply_bytes - 1) / n->l.reply_bytes;
  if (bytes <= n->l.flit_bytes) return 1;
  if (n->l.flit_shift >= 0) return (bytes + n->l.flit_bytes - 1) >> n->l.flit_shift;
  return (bytes + n->l.flit_bytes - 1) / n->l.flit_bytes;
}
static int net_out(const struct icnt *n, uint32_t node) {
  return node < n->l.sms ? ICNT_UP : ICNT_DOWN;
}
static int net_in(const struct icnt *n, uint32_t node) {
  return node < n->l.sms ? ICNT_DOWN : ICNT_UP;
}

void icnt_step(struct icnt *n) {
  for (int i = 0; i < 2; i++) {
    if (n->xbar[i]) {
      if (icnt_xbar_due(n->xbar[i], n->now)) icnt_xbar_step(n->xbar[i], n->now);
    } else if (n->planes[i]) icnt_planes_step(n->planes[i], n->now);
    else icnt_vcs_step(n->vcs[i], n->now);
  }
  n->now++;
}

uint32_t icnt_quiet_steps(const struct icnt *n) {
  uint32_t least = UINT32_MAX;
  for (int i = 0; i < 2 && least; i++) {
    uint32_t k = n->xbar[i]     ? icnt_xbar_quiet(n->xbar[i], n->now)
                 : n->planes[i] ? icnt_planes_quiet(n->planes[i], n->now)
                                : icnt_vcs_quiet(n->vcs[i], n->now);
    if (k < least) least = k;
  }
  return least;
}

void icnt_skip(struct icnt *n, uint32_t steps) {
  for (int i = 0; i < 2; i++)
    if (n->planes[i]) icnt_planes_skip(n->planes[i], n->now, steps);
  n->now += steps;
}

/* ---- calls from SMs and L2 ---- */

static __attribute__((noinline, flatten)) bool look_for_room(const struct icnt *n, uint32_t node, uint32_t bytes) {
  int which = net_out(n, node);
  uint32_t flits = flits_of(n, which, bytes);
  if (n->xbar[which]) return icnt_xbar_look_for_room(n->xbar[which], node, flits, n->now);
  if (n->planes[which]) return icnt_planes_can_push(n->planes[which], node, flits);
  if (n->port) return icnt_port_can_push(n, node, bytes);
  return icnt_vcs_can_push(n->vcs[which], node, flits);
}

bool icnt_can_push(const struct icnt *n, uint32_t node, uint32_t bytes) {
  const struct icnt_room *r = &n->room[node];
  if (bytes <= r->fits) return true;
  if (bytes >= r->refused && n->now < r->until) return false;
  return look_for_room(n, node, bytes);
}

/* A node sends at most one flit a step. */
__attribute__((flatten)) uint32_t icnt_steps_to_room(const struct icnt *n, uint32_t node, uint32_t bytes) {
  int which = net_out(n, node);
  uint32_t flits = flits_of(n, which, bytes);
  if (n->xbar[which]) return icnt_xbar_steps_to_room(n->xbar[which], node, flits, n->now);
  if (!n->planes[which]) return !icnt_vcs_can_push(n->vcs[which], node, flits);
  uint32_t full = icnt_planes_waiting(n->planes[which], node) + flits;
  return full > n->l.inject_flits ? full - n->l.inject_flits : 0;
}

__attribute__((flatten)) void icnt_await(struct icnt *n, uint32_t node, uint32_t bytes) {
  if (n->xbar[ICNT_UP]) icnt_xbar_await(n->xbar[ICNT_UP], node, flits_of(n, ICNT_UP, bytes), n->now);
}

uint32_t icnt_waiting(const struct icnt *n, uint32_t node) {
  int which = net_out(n, node);
  if (n->xbar[which]) return icnt_xbar_waiting(n->xbar[which], node, n->now);
  return n->planes[which] ? icnt_planes_waiting(n->planes[which], node) : icnt_vcs_waiting(n->vcs[which], node);
}

static __attribute__((noinline)) void push_elsewhere(struct icnt *n, int which, uint32_t src, struct flit p) {
  if (n->planes[which]) icnt_planes_push(n->planes[which], src, p);
  else if (n->port) icnt_port_push(n, src, p.payload, p.meta);
  else icnt_vcs_push(n->vcs[which], src, p);
}

__attribute__((flatten)) void icnt_push(struct icnt *n, uint32_t src, uint32_t dst, uint32_t payload, uint32_t bytes) {
  int which = net_out(n, src);
  uint32_t flits = flits_of(n, which, bytes);
  CHECK(payload && dst < n->l.nodes && net_out(n, dst) != which, "interconnect: packet %u of %u B from %u to %u",
        payload, bytes, src, dst);
  CHECK(flits <= n->l.boundary_flits, "interconnect: a packet of %u flits never fits the boundary buffer of %u", flits,
        n->l.boundary_flits);
  CHECK(icnt_can_push(n, src, bytes), "interconnect: node %u pushes into a full injection buffer", src);
  n->st.packets[which]++;
  n->st.flits[which] += flits;
  if (n->xbar[which]) {
    n->room[src].fits -= flits * (which == ICNT_UP ? n->l.flit_bytes : n->l.reply_bytes);
    icnt_xbar_push(n->xbar[which], src, dst, payload, flits, n->now);
  } else {
    push_elsewhere(n, which, src, (struct flit){.payload = payload, .dst = (uint16_t)dst, .meta = (uint16_t)flits});
  }
}

uint32_t icnt_peek(const struct icnt *n, uint32_t node) {
  if (!set_has(n->ready, icnt_ready(&n->l, node))) return 0;
  int which = net_in(n, node);
  if (n->xbar[which]) return icnt_xbar_peek(n->xbar[which], node);
  return n->planes[which] ? icnt_planes_peek(n->planes[which], node) : icnt_vcs_peek(n->vcs[which], node);
}

bool icnt_bound(const struct icnt *n, uint32_t node, uint32_t *dst) {
  int which = net_out(n, node);
  if (n->xbar[which]) return icnt_xbar_bound(n->xbar[which], node, n->now, dst);
  return n->planes[which] && icnt_planes_bound(n->planes[which], node, dst);
}

__attribute__((flatten)) uint32_t icnt_pop(struct icnt *n, uint32_t node) {
  if (!set_has(n->ready, icnt_ready(&n->l, node))) return 0;
  int which = net_in(n, node);
  if (n->xbar[which]) return icnt_xbar_pop(n->xbar[which], node, n->now);
  if (n->port) return icnt_port_pop(n, node);
  return n->planes[which] ? icnt_planes_pop(n->planes[which], node) : icnt_vcs_pop(n->vcs[which], node);
}

uint64_t *icnt_sent(const struct icnt *n) {
  return n->sent;
}

const uint64_t *icnt_arrivals(const struct icnt *n, enum icnt_net net) {
  return n->ready + (net == ICNT_UP ? n->l.sm_words : 0);
}

uint64_t icnt_now(const struct icnt *n) {
  return n->now;
}

const struct icnt_stats *icnt_stats(const struct icnt *n) {
  return &n->st;
}

/* ---- construction ---- */

/* Crossbar: port = node. Mesh: as square as it goes, nodes in rows from one corner with the L2 nodes spread evenly
 * among the SMs, so that no row or column carries all of the replies; unused positions have a router and no node. */
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

struct icnt *icnt_new(const struct gpu_config *c, uint32_t nodes) {
  struct icnt *n = mem_zeroed(1, sizeof *n);
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
                         .reply_bytes = c->icnt_reply_flit ? c->icnt_reply_flit : c->icnt_flit,
                         .wire = c->icnt_wire,
                         .gap = !c->icnt_back_to_back,
                         .flit_shift = c->icnt_flit & (c->icnt_flit - 1) ? -1 : __builtin_ctz(c->icnt_flit),
                         .sm_words = (c->sms + 63) / 64,
                         .mesh = c->icnt_kind == ICNT_MESH};
  n->now = FIRST_STEP;
  CHECK(nodes > c->sms && nodes <= 1024, "interconnect: %u nodes, %u of them SMs", nodes, c->sms);
  n->room = ARENA_ARRAY(&n->mem, struct icnt_room, nodes);
  n->ready = ARENA_ARRAY(&n->mem, uint64_t, n->l.sm_words + (nodes - c->sms + 63) / 64);
  if (n->l.vcs == 1) n->sent = ARENA_ARRAY(&n->mem, uint64_t, n->l.sm_words);
  topology(n);
  routes(n);
  for (int i = 0; i < 2; i++) {
    if (icnt_xbar_fits(&n->l)) n->xbar[i] = icnt_xbar_new(n, i == ICNT_UP);
    else if (n->l.vcs == 1) n->planes[i] = icnt_planes_new(n, i == ICNT_UP);
    else n->vcs[i] = icnt_vcs_new(n, i == ICNT_UP);
  }
  return n;
}

void icnt_free(struct icnt *n) {
  if (!n) return;
  arena_free(&n->mem);
  free(n);
}

uint32_t icnt_granted(const struct icnt *n, uint32_t node) {
  return n->xbar[ICNT_UP] ? icnt_xbar_granted_to(n->xbar[ICNT_UP], node - n->l.sms) : 0;
}

/* Other networks than a crossbar with one virtual channel keep their turns. */
void icnt_granted_last(struct icnt *n, uint32_t node, uint32_t sm) {
  if (n->xbar[ICNT_UP]) icnt_xbar_granted_last(n->xbar[ICNT_UP], node - n->l.sms, sm);
}
