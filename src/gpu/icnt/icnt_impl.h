/* icnt_impl.h - private to icnt*.c: what the networks share, and the state of one with several virtual channels.
 *
 * A network is `routers` routers of `radix` ports; port p = router * radix + direction. The crossbar is one router
 * whose port is the node; in the mesh a router has five ports: 0 +x, 1 -x, 2 +y, 3 -y, 4 the node.
 */
#ifndef GPU_ICNT_ICNT_IMPL_H
#define GPU_ICNT_ICNT_IMPL_H

#include "base/arena.h"
#include "base/err.h"
#include "gpu/icnt/icnt.h"

/* Steps from sending to arrival at the other end are layout.wire for a flit and for a credit; after switch allocation
 * there is one more for switch traversal. Wires are kept by step modulo ICNT_SLOTS. */
enum { ICNT_WIRE_MOST = 6, ICNT_SLOTS = 8 };
_Static_assert(ICNT_WIRE_MOST + 1 < ICNT_SLOTS && !(ICNT_SLOTS & (ICNT_SLOTS - 1)), "a flit outlasts its slot");
enum { ICNT_NONE = 0xffff };
enum { ICNT_HEAD = 0x8000, ICNT_TAIL = 0x4000, ICNT_LEN = 0x3fff }; /* struct flit.meta */

/* Sets of nodes or ports, one word per 64. */
static inline void set_add(uint64_t *s, uint32_t i) {
  s[i >> 6] |= (uint64_t)1 << (i & 63);
}
static inline void set_remove(uint64_t *s, uint32_t i) {
  s[i >> 6] &= ~((uint64_t)1 << (i & 63));
}
static inline bool set_has(const uint64_t *s, uint32_t i) {
  return s[i >> 6] >> (i & 63) & 1;
}

struct flit {
  uint32_t payload;
  uint16_t dst, meta; /* destination node; packet length in flits | ICNT_HEAD | ICNT_TAIL */
};

/* Common to both networks. */
struct layout {
  uint32_t sms, nodes, routers, radix, ports, vcs, vc_buf, speedup, iterations, req_words;
  uint32_t inject_flits, boundary_flits, flit_bytes, columns, wire;
  uint32_t reply_bytes; /* flits from memory to the SMs */
  uint32_t gap;         /* steps between packets, of xbar.c alone */
  uint32_t sm_words;    /* of a set of SMs */
  int flit_shift;       /* log2 of flit_bytes, -1 if it is not a power of two */
  bool mesh;
  uint16_t *node_port; /* node -> port where it is attached */
  uint16_t *port_node; /* port -> node attached there, or ICNT_NONE */
  uint16_t *peer;      /* output port -> input port it feeds and the other way round, or ICNT_NONE */
  uint16_t *base;      /* port -> first port of its router */
  uint16_t *route;     /* [router * nodes + destination] -> output port */
  uint16_t *router;    /* port -> its router */
};

/* Known state of a node's injection buffer in xbar.c. SMs query it every cycle, before anything else. */
struct icnt_room {
  uint32_t fits;    /* a packet of this many bytes fits until the next push; whole flits */
  uint32_t refused; /* a packet of this many bytes does not fit before step `until`, */
  uint64_t until;   /* or with UINT64_MAX until the network has set it to 0 */
};

/* What has been pushed at an input of xbar.c. */
struct icnt_injected {
  uint32_t pushed;    /* flits ever */
  uint32_t free_sent; /* flits that would have been sent before step `free_at` if credits never lacked */
  uint64_t free_at;
};

struct icnt_xbar;
struct icnt_planes;
struct icnt_port;
struct net;
struct icnt {
  struct arena mem;
  struct layout l;
  uint64_t *ready;               /* sets of SMs, then of sub-partitions with a whole packet to pop: icnt_ready */
  uint64_t *sent;                /* icnt_sent; NULL with several VCs */
  struct icnt_room *room;        /* by node */
  struct icnt_xbar *xbar[2];     /* a crossbar with one VC */
  struct icnt_planes *planes[2]; /* a mesh with one, a crossbar of small buffers */
  struct net *vcs[2];            /* with several */
  struct icnt_port *port;        /* none of these: a stand-in (port.c) */
  uint64_t now;
  struct icnt_stats st;
};

/* The place of a node in struct icnt.ready. */
static inline uint32_t icnt_ready(const struct layout *l, uint32_t node) {
  return node < l->sms ? node : l->sm_words * 64 + node - l->sms;
}

/* xbar.c, planes.c and vcs.c: the same calls as icnt.h's for one network. `flits` and the meta of a pushed flit are
 * the packet's length; peek and pop are called when `ready` contains the node. */
bool icnt_xbar_fits(const struct layout *l);
struct icnt_xbar *icnt_xbar_new(struct icnt *n, bool up_net);
bool icnt_xbar_due(const struct icnt_xbar *x, uint64_t now); /* otherwise a step would do nothing */
void icnt_xbar_step(struct icnt_xbar *x, uint64_t now);
uint32_t icnt_xbar_quiet(const struct icnt_xbar *x, uint64_t now);
uint32_t icnt_xbar_waiting(const struct icnt_xbar *x, uint32_t node, uint64_t now);
/* For nodes that run ahead of the network, which is before step `now`: what has been pushed, and pushes to come; flits
 * in the injection buffer before step `until`, or if not *exact, at most. */
struct icnt_injected icnt_xbar_injected(const struct icnt_xbar *x, uint32_t node);
void icnt_injected_push(struct icnt_injected *in, uint32_t flits, uint64_t now);
uint32_t icnt_xbar_waiting_ahead(const struct icnt_xbar *x, uint32_t node, const struct icnt_injected *in, uint64_t now,
                                 uint64_t until, bool *exact);
bool icnt_xbar_look_for_room(struct icnt_xbar *x, uint32_t node, uint32_t flits, uint64_t now);
uint32_t icnt_xbar_steps_to_room(const struct icnt_xbar *x, uint32_t node, uint32_t flits, uint64_t now);
void icnt_xbar_await(struct icnt_xbar *x, uint32_t node, uint32_t flits, uint64_t now);
bool icnt_xbar_bound(const struct icnt_xbar *x, uint32_t node, uint64_t now, uint32_t *dst);
void icnt_xbar_push(struct icnt_xbar *x, uint32_t src, uint32_t dst, uint32_t payload, uint32_t flits, uint64_t now);
uint32_t icnt_xbar_peek(const struct icnt_xbar *x, uint32_t node);
uint32_t icnt_xbar_pop(struct icnt_xbar *x, uint32_t node, uint64_t now);
/* Of the packets granted to `node` and not popped the i-th, from 0: false if there is none, or it can be popped after
 * step *whole (UINT64_MAX: not known); its payload. */
bool icnt_xbar_granted(const struct icnt_xbar *x, uint32_t node, uint32_t i, uint64_t *whole);
uint32_t icnt_xbar_granted_to(const struct icnt_xbar *x, uint32_t out);
void icnt_xbar_granted_last(struct icnt_xbar *x, uint32_t out, uint32_t in);
uint32_t icnt_xbar_payload(const struct icnt_xbar *x, uint32_t node, uint32_t i);

/* Kept out of line: their callers are inlined into xbar.c's functions, or the reverse. */
#define SELDOM __attribute__((noinline))
struct icnt_planes *icnt_planes_new(struct icnt *n, bool up_net);
void icnt_planes_step(struct icnt_planes *x, uint64_t now);
uint32_t icnt_planes_quiet(const struct icnt_planes *x, uint64_t now);
SELDOM uint32_t icnt_planes_waiting(const struct icnt_planes *x, uint32_t node);
SELDOM bool icnt_planes_can_push(const struct icnt_planes *x, uint32_t node, uint32_t flits);
SELDOM bool icnt_planes_bound(const struct icnt_planes *x, uint32_t node, uint32_t *dst);
SELDOM void icnt_planes_push(struct icnt_planes *x, uint32_t src, struct flit p);
SELDOM uint32_t icnt_planes_peek(const struct icnt_planes *x, uint32_t node);
SELDOM uint32_t icnt_planes_pop(struct icnt_planes *x, uint32_t node);
SELDOM bool icnt_port_can_push(const struct icnt *p, uint32_t node, uint32_t bytes);
SELDOM void icnt_port_push(struct icnt *p, uint32_t node, uint32_t payload, uint32_t flits);
SELDOM uint32_t icnt_port_pop(struct icnt *p, uint32_t node);
void icnt_planes_skip(struct icnt_planes *x, uint64_t now, uint32_t steps);

struct net *icnt_vcs_new(struct icnt *n, bool up_net);
void icnt_vcs_step(struct net *t, uint64_t now);
uint32_t icnt_vcs_quiet(const struct net *t, uint64_t now);
SELDOM uint32_t icnt_vcs_waiting(const struct net *t, uint32_t node);
SELDOM bool icnt_vcs_can_push(const struct net *t, uint32_t node, uint32_t flits);
SELDOM void icnt_vcs_push(struct net *t, uint32_t src, struct flit p);
SELDOM uint32_t icnt_vcs_peek(const struct net *t, uint32_t node);
SELDOM uint32_t icnt_vcs_pop(struct net *t, uint32_t node);

/* ---- several virtual channels ----
 *
 * "ivc"/"ovc" = port * vcs + virtual channel on the input/output side. Pending work is in bit sets ("go" sets) of the
 * members that will act in the next step, and in delay slots for flits on a wire; if both are empty, a step changes
 * nothing but the clock.
 */

/* A set with a summary level: iteration costs time per member only. */
struct bits {
  uint64_t *w, *sum;
  uint32_t nsum;
};

static inline void bits_set(struct bits *b, uint32_t i) {
  b->w[i >> 6] |= (uint64_t)1 << (i & 63);
  b->sum[i >> 12] |= (uint64_t)1 << (i >> 6 & 63);
}
static inline void bits_clear(struct bits *b, uint32_t i) {
  uint64_t *w = &b->w[i >> 6];
  *w &= ~((uint64_t)1 << (i & 63));
  if (!*w) b->sum[i >> 12] &= ~((uint64_t)1 << (i >> 6 & 63));
}
static inline bool bits_any(const struct bits *b) {
  for (uint32_t s = 0; s < b->nsum; s++)
    if (b->sum[s]) return true;
  return false;
}
/* Visits the members in ascending order. The body may clear any member and set the one visited, nothing else. */
#define BITS_EACH(b, i)                                                                           \
  for (uint32_t s_ = 0; s_ < (b)->nsum; s_++)                                                     \
    for (uint64_t m_ = (b)->sum[s_]; m_; m_ &= m_ - 1)                                            \
      for (uint32_t k_ = s_ * 64 + (uint32_t)__builtin_ctzll(m_), i, once_ = 1; once_; once_ = 0) \
        for (uint64_t v_ = (b)->w[k_]; v_ && (i = k_ * 64 + (uint32_t)__builtin_ctzll(v_), 1); v_ &= v_ - 1)

/* Packets that a node has accepted and not sent completely. */
struct source {
  struct flit *ring; /* one entry per packet */
  uint32_t mask, head, packets, flits;
  uint16_t sent;       /* flits of the front packet already sent */
  uint8_t vc, last_vc; /* of the front packet once sent > 0; of the packet before */
  uint16_t *credits;   /* per VC: free places in the router's buffer */
};

/* Arrivals of one VC at a node: the ejection buffer in flits, behind it the boundary buffer, where whole packets count.
 */
struct sink {
  struct flit *ring, *packets;
  uint32_t mask, head, count;
  uint32_t pmask, phead, pcount;
  uint32_t boundary_flits; /* including those of a packet not yet whole */
};

enum ivc_state { IVC_IDLE, IVC_VC_ALLOC, IVC_ACTIVE };
struct ivc {
  uint16_t head, count; /* ring of vc_buf flits */
  uint16_t out;         /* output port of the packet at the front (not IDLE) */
  uint16_t ovc;         /* output VC it holds (ACTIVE) */
  uint8_t state;
};
struct ovc {
  uint16_t holder;  /* ivc whose packet holds it until its tail has left, or ICNT_NONE */
  uint16_t credits; /* free places downstream */
  uint16_t grant;   /* iSLIP grant pointer of VC allocation, local ivc number */
};

struct wire_flit {
  uint32_t to; /* ivc, or node * vcs + vc */
  struct flit f;
};
struct slot {
  struct wire_flit *to_router, *to_node;
  uint32_t *credit_router, *credit_node; /* ovc; node * vcs + vc */
  uint32_t n_to_router, n_to_node, n_credit_router, n_credit_node;
};

/* Switch allocation with several VCs: iSLIP over expanded inputs (input speed-up) and outputs. */
struct switch_alloc {
  uint16_t *grant, *accept, *vc_offset; /* pointers per port; per expanded input; its rotation among VCs */
  uint16_t *vc_accept;                  /* iSLIP accept pointer of VC allocation, per ivc */
  uint64_t *req;                        /* per port: bit set over the router's expanded inputs */
  uint16_t *best, *match;               /* per expanded input: best grant in this iteration; accepted output */
  struct bits outs, ins;                /* outputs with requests; expanded inputs with a grant */
  bool *out_matched;
  uint32_t words;
};

/* A network with several virtual channels (vcs.c, router.c). */
struct net {
  uint64_t *ready; /* the one in struct icnt */
  const struct layout *l;
  struct source *src; /* per node */
  struct sink *snk;   /* per node * vcs */
  uint8_t *turn;      /* per node: VC that icnt_pop tries first */
  uint8_t *credit_q;  /* per node: ring of vcs * vc_buf VCs with an ejected flit whose credit is due */
  uint16_t *credit_q_head, *credit_q_count;
  struct ivc *in;
  struct ovc *out;
  struct flit *buf;                /* ivc * vc_buf */
  uint64_t *req;                   /* per port, req_words: local ivcs that request one of its VCs */
  uint16_t *req_count;             /* per port */
  uint8_t *free_vcs;               /* per port: bit per free VC */
  uint32_t *granted;               /* list of (ovc, ivc) pairs granted in this step */
  struct bits go_inject, go_eject; /* nodes */
  struct bits go_vc;               /* ports with a request and a free VC */
  struct bits go_switch;           /* ovcs whose holder has a flit, and a credit for it */
  struct slot slot[ICNT_SLOTS];
  uint32_t on_wire; /* entries in all slots */
  struct switch_alloc sa;
};

/* router.c */
void icnt_router_new(struct icnt *n, struct net *t);
void icnt_router_step(struct net *t, uint64_t now);

#endif
