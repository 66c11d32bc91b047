/* planes.c - routers with one virtual channel, all ports at once: a bit per port.
 *
 * The same machine as vcs.c and router.c with one VC (docs/explanation/interconnect.md), without work per flit. A flit
 * is at most one per port, stage and step, so the content of a wire is a set of ports, and counters that change by one
 * (credits, occupancy, flits left) are kept in bit planes and counted for 64 ports by a carry chain. The packet of a
 * flit follows from order: every input has a ring of the packets in its buffer and on the way to it (a node's input:
 * from push on; others: from the grant upstream), a sink one from the grant of its output until popped. Scalar work is
 * left per packet: its request, its grant, its tails.
 *
 * Switch allocation needs, per input, whether its output has a credit, and per output, whether its holder has a flit.
 * Each fact is computed where its counter lives and mirrored to the other side when it changes.
 *
 * Ports are numbered direction by direction, `span` bits each, so that a wire to the neighbours is a shift: +x, -x,
 * +y, -y, node in the mesh, node alone in the crossbar. Nodes are numbered by position (crossbar: the node; mesh: its
 * router).
 */
#include "gpu/icnt/icnt_impl.h"

#include <string.h>

struct fifo {
  struct flit *ring; /* meta: length in flits */
  uint32_t mask, front, end;
};
/* The node's side of the fifo of its input. */
struct source_x {
  uint32_t inject, waiting; /* packet being sent; flits in the injection buffer */
  uint32_t left;            /* flits of that packet to be sent */
};
/* While the boundary buffer has room for the whole arriving packet, its flits pass the ejection buffer without delay
 * and only the marked tail matters. Otherwise (`tight`, until nothing waits) flits are counted. */
struct sink_x {
  struct flit *ring;
  uint32_t mask, pop, move, end; /* next to pop; packet whose flits move into the boundary buffer; one past the last */
  uint32_t whole;                /* flits of the packets from `pop` to `move` */
  uint32_t ejection, left;       /* while counted: flits in the ejection buffer; of packet `move`, those to move */
};

/* Counters as bit planes: plane k of word w is at p[w * stride + k]. The first NARROW planes are always computed,
 * without branches; `n` > NARROW adds the rest. Packets are nearly always shorter than 2^NARROW flits, so the counters
 * of flits left start narrow and widen when a longer packet is pushed. */
enum { NARROW = 4 };
struct planes {
  uint64_t *p;
  uint32_t n, stride;
};

/* Words `from` to `to` - 1 of sets of ports. */
struct span {
  uint32_t from, to;
};

struct icnt_planes {
  uint32_t nodes, inject_flits, boundary_flits, wire;
  uint32_t dirs, span, row;             /* directions; ports of one (a multiple of 64); routers in a row */
  uint32_t local_words, words;          /* words of one direction, of all */
  uint32_t local, local_word;           /* first port and word of the direction of the nodes, the last */
  uint32_t req_words;                   /* crossbar: words per output; mesh: 0 */
  struct span inputs, outputs;          /* words of sets of ports with inputs, outputs in use */
  struct span sources, sinks;           /* words of sets of positions: in the crossbar the same */
  uint16_t *place, *node_at, *ready_at; /* node -> position; position -> node, its place in `ready` */
  uint16_t *router, *peer;              /* port -> position of its router; output -> input it feeds (mesh) */
  uint16_t *route;                      /* mesh: [position * nodes + destination node] -> output */
  struct fifo *in;                      /* per input */
  struct source_x *src;                 /* per position */
  struct sink_x *snk;
  uint16_t *holder, *out_of, *grant; /* output -> input; input -> output; output's round-robin pointer */
  uint64_t *req;                     /* crossbar: output * req_words: inputs that request it */
  uint8_t *req_dir;                  /* mesh: directions that request an output */
  uint32_t *granted;                 /* pairs output, input */
  /* Sets of ports. */
  uint64_t *active, *asking;            /* inputs whose front packet holds, or requests, its output */
  uint64_t *held, *wanted;              /* outputs with a holder, with a request */
  uint64_t *has_flit, *holder_has_flit; /* inputs with a flit; outputs whose holder has one (mirror) */
  uint64_t *credit, *output_credit;     /* outputs with a credit; inputs whose output has one (mirror) */
  uint64_t *flits_in, *credits_in;      /* what arrived in this step, at inputs, at outputs */
  struct planes occupancy, left_in, out_credits;
  uint64_t *occupied, *out_credit; /* where occupancy, out_credits are not zero */
  /* Sets of positions. */
  uint64_t *sending; /* sources with a packet */
  uint64_t *tight;   /* sinks whose boundary buffer cannot take all of it */
  struct planes src_credits;
  uint64_t *src_credit, *waiting; /* where src_credits, the ejection buffers' flits are not zero */
  uint64_t *sent;                 /* SMs that injected a flit: the set in struct icnt; NULL on the way down */
  uint64_t *ready;                /* nodes with a whole packet: the set in struct icnt */
  /* Wires, by step modulo ICNT_SLOTS: flits that left inputs, outputs (ports), sources, and the ejection buffer
   * (positions). */
  uint64_t *sent_in[ICNT_SLOTS], *sent_out[ICNT_SLOTS], *injected[ICNT_SLOTS], *ejected[ICNT_SLOTS];
  uint64_t *tails[ICNT_SLOTS]; /* of sent_out, at the nodes' outputs: tails (positions) */
  uint32_t packets;            /* pushed and not popped */
  uint32_t still; /* steps in a row that put nothing on a wire, up to ICNT_SLOTS: then all slots are empty */
};

#define WORDS(s, w) for (uint32_t w = (s).from, end_ = (s).to; w < end_; w++)

/* ---- counters ---- */

static inline uint64_t *plane_at(const struct planes *c, uint32_t w) {
  return &c->p[w * c->stride];
}
/* Add one to the counters in `m`. */
static inline void up(const struct planes *c, uint32_t w, uint64_t m) {
  uint64_t *p = plane_at(c, w);
  for (uint32_t k = 0; k < NARROW; k++) {
    uint64_t carry = p[k] & m;
    p[k] ^= m;
    m = carry;
  }
  for (uint32_t k = NARROW; m && k < c->n; k++) {
    uint64_t carry = p[k] & m;
    p[k] ^= m;
    m = carry;
  }
  CHECK(!m, "interconnect: counter of %u bits overflows", c->n);
}
static inline void down(const struct planes *c, uint32_t w, uint64_t m) {
  uint64_t *p = plane_at(c, w);
  for (uint32_t k = 0; k < NARROW; k++) {
    uint64_t borrow = ~p[k] & m;
    p[k] ^= m;
    m = borrow;
  }
  for (uint32_t k = NARROW; m && k < c->n; k++) {
    uint64_t borrow = ~p[k] & m;
    p[k] ^= m;
    m = borrow;
  }
  CHECK(!m, "interconnect: counter of %u bits falls below zero", c->n);
}
static inline uint64_t nonzero(const struct planes *c, uint32_t w) {
  const uint64_t *p = plane_at(c, w);
  uint64_t any = p[0] | p[1] | p[2] | p[3];
  _Static_assert(NARROW == 4, "planes named one by one");
  for (uint32_t k = NARROW; k < c->n; k++) any |= p[k];
  return any;
}
/* Arrivals and departures in the same step cancel. `some`: the set of non-zero counters. */
static inline void update(const struct planes *c, uint32_t w, uint64_t add, uint64_t sub, uint64_t *some) {
  uint64_t both = add & sub;
  add ^= both;
  sub ^= both;
  if (!(add | sub)) return;
  if (add) up(c, w, add);
  if (sub) down(c, w, sub);
  some[w] = nonzero(c, w);
}
/* The counter is zero. */
static inline void put_plane(const struct planes *c, uint32_t i, uint32_t v) {
  uint64_t *p = plane_at(c, i >> 6), bit = (uint64_t)1 << (i & 63);
  for (; v; v &= v - 1) p[__builtin_ctz(v)] |= bit;
}
#define EACH(m, w, i) for (uint64_t m_ = (m), i; m_ && (i = (w)*64u + (uint32_t)__builtin_ctzll(m_), 1); m_ &= m_ - 1)

/* ---- nodes ---- */

/* The boundary buffer has room for the whole packet whose flits arrive: no counting needed. */
static inline void update_tight(struct icnt_planes *x, uint32_t node) {
  const struct sink_x *k = &x->snk[node];
  if (k->move != k->end && k->whole + k->ring[k->move & k->mask].meta > x->boundary_flits) set_add(x->tight, node);
  else set_remove(x->tight, node);
}
/* There is room for one more flit. */
static bool has_room(const struct icnt_planes *x, uint32_t node) {
  const struct sink_x *k = &x->snk[node];
  return !set_has(x->tight, node) || k->whole + k->ring[k->move & k->mask].meta - k->left < x->boundary_flits;
}

/* Packet `snk->move` becomes the one whose flits arrive. */
static inline void load_sink(struct icnt_planes *x, uint32_t node) {
  struct sink_x *k = &x->snk[node];
  k->left = k->ring[k->move & k->mask].meta;
  update_tight(x, node);
}
/* All of packet `snk->move` is in the boundary buffer. */
static inline void packet_complete(struct icnt_planes *x, uint32_t node) {
  struct sink_x *k = &x->snk[node];
  k->whole += k->ring[k->move++ & k->mask].meta;
  set_add(x->ready, x->ready_at[node]);
  load_sink(x, node);
}
static inline void load_source(struct icnt_planes *x, uint32_t node) {
  const struct fifo *f = &x->in[x->local + node];
  struct source_x *s = &x->src[node];
  if (s->inject == f->end) {
    set_remove(x->sending, node);
    return;
  }
  set_add(x->sending, node);
  s->left = f->ring[s->inject & f->mask].meta;
}

/* A step of the sinks `m` with counted flits: those that move one into the boundary buffer. */
static uint64_t counted(struct icnt_planes *x, uint32_t w, uint64_t m, uint64_t arrived) {
  uint64_t moved = 0;
  EACH(m, w, node) {
    struct sink_x *k = &x->snk[node];
    uint64_t bit = (uint64_t)1 << (node & 63);
    if (arrived & bit) k->ejection++;
    if (k->ejection && has_room(x, (uint32_t)node)) {
      moved |= bit;
      k->ejection--;
      if (!--k->left) packet_complete(x, (uint32_t)node);
    }
    if (k->ejection) x->waiting[w] |= bit;
    else x->waiting[w] &= ~bit;
  }
  return moved;
}

static inline void sinks_step(struct icnt_planes *x, uint32_t w, uint64_t now) {
  uint32_t switched = (now - x->wire - 1) & (ICNT_SLOTS - 1);
  uint64_t arrived = x->sent_out[switched][x->local_word + w], slow = x->tight[w] | x->waiting[w],
           move = arrived & ~slow;
  EACH(x->tails[switched][w] & ~slow, w, node) {
    packet_complete(x, (uint32_t)node);
  }
  if (slow) move |= counted(x, w, slow, arrived);
  x->tails[now & (ICNT_SLOTS - 1)][w] = 0;
  x->ejected[now & (ICNT_SLOTS - 1)][w] = move;
}

static inline void sources_step(struct icnt_planes *x, uint32_t w, uint64_t now) {
  uint64_t credits = x->sent_in[(now - x->wire) & (ICNT_SLOTS - 1)][x->local_word + w];
  uint64_t send = x->sending[w] & (credits | x->src_credit[w]);
  update(&x->src_credits, w, credits, send, x->src_credit);
  EACH(send, w, node) {
    struct source_x *s = &x->src[node];
    s->waiting--;
    if (x->sent) set_add(x->sent, x->node_at[node]);
    if (--s->left) continue;
    s->inject++;
    load_source(x, (uint32_t)node);
  }
  x->injected[now & (ICNT_SLOTS - 1)][w] = send;
}

/* ---- router ---- */

/* The head at the front of input `i` requests its output. */
static inline void ask(struct icnt_planes *x, uint32_t i) {
  const struct fifo *f = &x->in[i];
  uint32_t o = f->ring[f->front & f->mask].dst;
  if (x->req_words) {
    set_add(&x->req[o * x->req_words], i);
  } else {
    o = x->route[x->router[i] * x->nodes + o];
    x->req_dir[o] |= (uint8_t)(1u << i / x->span);
  }
  set_add(x->wanted, o);
  set_add(x->asking, i);
}

/* Flits from the neighbours in direction `dir` (0..3): word `w` of the facing ports. */
static inline uint64_t from_neighbours(const struct icnt_planes *x, const uint64_t *sent, uint32_t dir, uint32_t w) {
  const uint64_t *facing = sent + (dir ^ 1) * x->local_words;
  uint32_t by = dir < 2 ? 1 : x->row;
  if (dir & 1) return facing[w] << by | (w ? facing[w - 1] >> (64 - by) : 0);
  return facing[w] >> by | (w + 1 < x->local_words ? facing[w + 1] << (64 - by) : 0);
}

static inline void arrivals(struct icnt_planes *x, uint64_t now) {
  uint32_t wired = (now - x->wire) & (ICNT_SLOTS - 1), switched = (now - x->wire - 1) & (ICNT_SLOTS - 1);
  for (uint32_t d = 0; d + 1 < x->dirs; d++)
    for (uint32_t w = 0; w < x->local_words; w++) {
      x->flits_in[d * x->local_words + w] = from_neighbours(x, x->sent_out[switched], d, w);
      x->credits_in[d * x->local_words + w] = from_neighbours(x, x->sent_in[wired], d, w);
    }
  WORDS(x->sources, w) x->flits_in[x->local_word + w] = x->injected[wired][w];
  WORDS(x->sinks, w) x->credits_in[x->local_word + w] = x->ejected[wired][w];
}

/* Effect of arriving flits on the other side of the switch; the same for credits. */
static inline void receive_flits(struct icnt_planes *x, uint32_t w) {
  uint64_t filled = x->flits_in[w] | x->occupied[w], changed = (filled ^ x->has_flit[w]) & x->active[w];
  x->has_flit[w] = filled;
  EACH(changed, w, i) {
    uint32_t o = x->out_of[i];
    x->holder_has_flit[o >> 6] ^= (uint64_t)1 << (o & 63);
  }
  EACH(filled & ~x->active[w] & ~x->asking[w], w, i) {
    ask(x, (uint32_t)i);
  }
}

static inline void receive_credits(struct icnt_planes *x, uint32_t w) {
  uint64_t credit = x->credits_in[w] | x->out_credit[w];
  uint64_t changed = (credit ^ x->credit[w]) & x->held[w];
  x->credit[w] = credit;
  EACH(changed, w, o) {
    uint32_t i = x->holder[o];
    x->output_credit[i >> 6] ^= (uint64_t)1 << (i & 63);
  }
}

/* The first input at or after the pointer that requests `o`; advances the pointer. One exists. */
static inline uint32_t pick_input(struct icnt_planes *x, uint32_t o) {
  if (!x->req_words) {
    uint32_t ask = x->req_dir[o], later = ask >> x->grant[o] << x->grant[o];
    uint32_t d = (uint32_t)__builtin_ctz(later ? later : ask);
    x->grant[o] = (uint16_t)(d + 1 == x->dirs ? 0 : d + 1);
    return d * x->span + x->router[o];
  }
  const uint64_t *r = &x->req[o * x->req_words];
  uint32_t w = x->grant[o] >> 6;
  uint64_t m = r[w] & ~(uint64_t)0 << (x->grant[o] & 63);
  while (!m) {
    w = w + 1 == x->req_words ? 0 : w + 1;
    m = r[w];
  }
  uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(m);
  x->grant[o] = (uint16_t)(i + 1 == x->nodes ? 0 : i + 1);
  return i;
}

static inline uint32_t grant(struct icnt_planes *x) {
  uint32_t n = 0;
  WORDS(x->outputs, w) EACH(x->wanted[w] & ~x->held[w], w, o) {
    x->granted[n++] = (uint32_t)o;
    x->granted[n++] = pick_input(x, (uint32_t)o);
  }
  return n;
}

static inline void remove_request(struct icnt_planes *x, uint32_t o, uint32_t i) {
  uint64_t left = 0;
  if (!x->req_words) {
    left = x->req_dir[o] &= (uint8_t) ~(1u << i / x->span);
  } else {
    uint64_t *r = &x->req[o * x->req_words];
    set_remove(r, i);
    for (uint32_t w = 0; w < x->req_words; w++) left |= r[w];
  }
  if (!left) set_remove(x->wanted, o);
}

static inline void take(struct icnt_planes *x, uint32_t n) {
  for (uint32_t k = 0; k < n; k += 2) {
    uint32_t o = x->granted[k], i = x->granted[k + 1];
    const struct fifo *f = &x->in[i];
    struct flit p = f->ring[f->front & f->mask];
    remove_request(x, o, i);
    set_remove(x->asking, i);
    set_add(x->active, i);
    set_add(x->held, o);
    x->holder[o] = (uint16_t)i;
    x->out_of[i] = (uint16_t)o;
    set_add(x->holder_has_flit, o); /* its head */
    if (set_has(x->credit, o)) set_add(x->output_credit, i);
    else set_remove(x->output_credit, i);
    put_plane(&x->left_in, i, p.meta);
    if (o < x->local) {
      struct fifo *next = &x->in[x->peer[o]];
      next->ring[next->end++ & next->mask] = p;
      continue;
    }
    struct sink_x *d = &x->snk[o - x->local];
    bool first = d->move == d->end;
    d->ring[d->end++ & d->mask] = p;
    if (first) load_sink(x, o - x->local);
  }
}

static inline void switch_step(struct icnt_planes *x, uint64_t now) {
  uint64_t *in = x->sent_in[now & (ICNT_SLOTS - 1)], *out = x->sent_out[now & (ICNT_SLOTS - 1)];
  WORDS(x->inputs, w) in[w] = x->active[w] & x->has_flit[w] & x->output_credit[w];
  WORDS(x->outputs, w) {
    out[w] = x->held[w] & x->holder_has_flit[w] & x->credit[w];
    update(&x->out_credits, w, x->credits_in[w], out[w], x->out_credit);
  }
  WORDS(x->inputs, w) {
    update(&x->occupancy, w, x->flits_in[w], in[w], x->occupied);
    if (!in[w]) continue;
    down(&x->left_in, w, in[w]);
    EACH(in[w] & ~nonzero(&x->left_in, w), w, i) { /* tails: the output is free for the next step */
      uint32_t o = x->out_of[i];
      set_remove(x->held, o);
      if (o >= x->local) set_add(x->tails[now & (ICNT_SLOTS - 1)], o - x->local);
      x->active[w] &= ~((uint64_t)1 << (i & 63));
      struct fifo *f = &x->in[i];
      if (++f->front == f->end) {
        f->front = f->end = 0; /* as in icnt_planes_pop */
        if (i >= x->local) x->src[i - x->local].inject = 0;
      }
      if (x->occupied[w] >> (i & 63) & 1) ask(x, (uint32_t)i);
    }
  }
}

/* ---- whole ---- */

/* Steps in which only the clock moves; may be 0 one step too long when an output has just spent its last credit. */
uint32_t icnt_planes_quiet(const struct icnt_planes *x, uint64_t now) {
  uint64_t now_any = 0, wire[ICNT_SLOTS] = {0};
  if (x->still == ICNT_SLOTS && !x->packets) return UINT32_MAX;
  for (uint32_t w = 0; w < x->local_words; w++) {
    now_any |= x->sending[w] & x->src_credit[w];
    EACH(x->waiting[w], w, node) {
      now_any |= has_room(x, (uint32_t)node);
    }
  }
  for (uint32_t w = 0; w < x->words; w++) {
    now_any |= x->wanted[w] & ~x->held[w];
    now_any |= x->active[w] & x->output_credit[w] & x->occupied[w];
  }
  if (now_any) return 0;
  if (x->still == ICNT_SLOTS) return UINT32_MAX;
  for (uint32_t k = 0; k <= x->wire; k++) {
    uint32_t wired = (now + k - x->wire) & (ICNT_SLOTS - 1);
    uint32_t switched = (now + k - x->wire - 1) & (ICNT_SLOTS - 1);
    for (uint32_t w = 0; w < x->words; w++)
      wire[k] |= x->sent_out[switched][w] | (k < x->wire ? x->sent_in[wired][w] : 0);
    for (uint32_t w = 0; k < x->wire && w < x->local_words; w++)
      wire[k] |= x->injected[wired][w] | x->ejected[wired][w];
  }
  for (uint32_t k = 0; k <= x->wire; k++)
    if (wire[k]) return k;
  return UINT32_MAX;
}

static inline void step_planes(struct icnt_planes *x, uint64_t now) {
  uint32_t slot = now & (ICNT_SLOTS - 1);
  uint64_t any = 0;
  WORDS(x->sinks, w) sinks_step(x, w, now);
  WORDS(x->sources, w) sources_step(x, w, now);
  arrivals(x, now);
  WORDS(x->inputs, w) receive_flits(x, w);
  WORDS(x->outputs, w) receive_credits(x, w);
  uint32_t n = grant(x);
  switch_step(x, now);
  take(x, n);
  WORDS(x->sources, w) any |= x->injected[slot][w];
  WORDS(x->sinks, w) any |= x->ejected[slot][w];
  WORDS(x->inputs, w) any |= x->sent_in[slot][w];
  x->still = any ? 0 : x->still + (x->still < ICNT_SLOTS);
}

void icnt_planes_step(struct icnt_planes *x, uint64_t now) {
  if (x->still < ICNT_SLOTS || !icnt_planes_quiet(x, now)) step_planes(x, now);
}

void icnt_planes_skip(struct icnt_planes *x, uint64_t now, uint32_t steps) {
  size_t bytes = x->words * sizeof(uint64_t), local_bytes = x->local_words * sizeof(uint64_t);
  for (; steps && x->still < ICNT_SLOTS; steps--, now++, x->still++) {
    uint32_t s = now & (ICNT_SLOTS - 1);
    memset(x->injected[s], 0, local_bytes);
    memset(x->sent_in[s], 0, bytes);
    memset(x->sent_out[s], 0, bytes);
    memset(x->ejected[s], 0, local_bytes);
    memset(x->tails[s], 0, local_bytes);
  }
}

uint32_t icnt_planes_waiting(const struct icnt_planes *x, uint32_t node) {
  return x->src[x->place[node]].waiting;
}

bool icnt_planes_can_push(const struct icnt_planes *x, uint32_t node, uint32_t flits) {
  return x->src[x->place[node]].waiting + flits <= x->inject_flits;
}

void icnt_planes_push(struct icnt_planes *x, uint32_t src, struct flit p) {
  uint32_t place = x->place[src];
  struct source_x *s = &x->src[place];
  struct fifo *f = &x->in[x->local + place];
  if (p.meta >> x->left_in.n) x->left_in.n = x->left_in.stride;
  f->ring[f->end++ & f->mask] = p;
  s->waiting += p.meta;
  x->packets++;
  if (s->inject + 1 == f->end) load_source(x, place);
}

bool icnt_planes_bound(const struct icnt_planes *x, uint32_t node, uint32_t *dst) {
  const struct fifo *f = &x->in[x->local + x->place[node]];
  if (f->front == f->end) return false;
  *dst = f->ring[f->front & f->mask].dst;
  return true;
}

/* The caller has checked that there is a packet. */
uint32_t icnt_planes_peek(const struct icnt_planes *x, uint32_t node) {
  const struct sink_x *k = &x->snk[x->place[node]];
  return k->ring[k->pop & k->mask].payload;
}

uint32_t icnt_planes_pop(struct icnt_planes *x, uint32_t node) {
  uint32_t place = x->place[node];
  struct sink_x *k = &x->snk[place];
  struct flit p = k->ring[k->pop++ & k->mask];
  x->packets--;
  if (k->pop == k->move) {
    set_remove(x->ready, x->ready_at[place]);
    if (k->pop == k->end) k->pop = k->move = k->end = 0; /* start at the front again, in a cached line */
  }
  k->whole -= p.meta;
  if (set_has(x->tight, place)) update_tight(x, place);
  return p.payload;
}

/* ---- construction ---- */

static struct planes planes_new(struct arena *a, uint32_t words, uint32_t most) {
  uint32_t n = 32 - (uint32_t)__builtin_clz(most);
  struct planes c = {.n = n < NARROW ? NARROW : n};
  c.stride = c.n;
  c.p = ARENA_ARRAY(a, uint64_t, words * c.stride);
  return c;
}

static uint32_t ring_mask(uint32_t n) {
  return n < 2 ? 0 : UINT32_MAX >> __builtin_clz(n - 1);
}

/* Positions, and in the mesh neighbours and routes, from the ports that struct layout numbers router by router. */
static void places_new(struct arena *a, struct icnt_planes *x, const struct layout *l) {
  uint32_t ports = x->words * 64;
  x->place = ARENA_ARRAY(a, uint16_t, l->nodes);
  x->node_at = ARENA_ARRAY(a, uint16_t, x->span);
  x->ready_at = ARENA_ARRAY(a, uint16_t, x->span);
  for (uint32_t node = 0; node < l->nodes; node++) {
    x->place[node] = (uint16_t)(l->mesh ? l->node_port[node] / l->radix : node);
    x->node_at[x->place[node]] = (uint16_t)node;
    x->ready_at[x->place[node]] = (uint16_t)icnt_ready(l, node);
  }
  if (!l->mesh) return;
  x->router = ARENA_ARRAY(a, uint16_t, ports);
  x->peer = ARENA_ARRAY(a, uint16_t, ports);
  x->route = ARENA_ARRAY(a, uint16_t, l->routers * l->nodes);
  x->req_dir = ARENA_ARRAY(a, uint8_t, ports);
  for (uint32_t p = 0; p < ports; p++) x->router[p] = (uint16_t)(p % x->span);
  for (uint32_t p = 0; p < l->ports; p++) {
    uint32_t to = l->peer[p];
    if (to == ICNT_NONE) continue;
    x->peer[p % l->radix * x->span + p / l->radix] = (uint16_t)(to % l->radix * x->span + to / l->radix);
  }
  for (uint32_t k = 0; k < l->routers * l->nodes; k++)
    x->route[k] = (uint16_t)(l->route[k] % l->radix * x->span + l->route[k] / l->radix);
}

static void fifo_new(struct arena *a, struct fifo *f, uint32_t most) {
  f->mask = ring_mask(most);
  f->ring = ARENA_ARRAY(a, struct flit, f->mask + 1);
}

static void rings_new(struct arena *a, struct icnt_planes *x, const struct layout *l, bool up_net) {
  x->in = ARENA_ARRAY(a, struct fifo, x->words * 64);
  x->src = ARENA_ARRAY(a, struct source_x, x->span);
  x->snk = ARENA_ARRAY(a, struct sink_x, x->span);
  for (uint32_t node = 0; node < l->nodes; node++) {
    uint32_t place = x->place[node];
    if ((node < l->sms) == up_net) { /* waiting, and what the credits let out of the injection buffer */
      fifo_new(a, &x->in[x->local + place], l->inject_flits + l->vc_buf);
      continue;
    }
    struct sink_x *k =
        &x->snk[place]; /* boundary buffer, what the credits let out of the router, the holder's packet */
    k->mask = ring_mask(l->boundary_flits + l->vc_buf + 1);
    k->ring = ARENA_ARRAY(a, struct flit, k->mask + 1);
  }
  for (uint32_t p = 0; p < x->local; p++) /* what the credits let out of the neighbour, and its holder's packet */
    if (x->router[p] < l->routers) fifo_new(a, &x->in[p], l->vc_buf + 1);
}

static void sets_new(struct arena *a, struct icnt_planes *x) {
  uint32_t local = x->local_words;
  x->active = ARENA_ARRAY(a, uint64_t, x->words);
  x->asking = ARENA_ARRAY(a, uint64_t, x->words);
  x->held = ARENA_ARRAY(a, uint64_t, x->words);
  x->wanted = ARENA_ARRAY(a, uint64_t, x->words);
  x->has_flit = ARENA_ARRAY(a, uint64_t, x->words);
  x->holder_has_flit = ARENA_ARRAY(a, uint64_t, x->words);
  x->credit = ARENA_ARRAY(a, uint64_t, x->words);
  x->output_credit = ARENA_ARRAY(a, uint64_t, x->words);
  x->flits_in = ARENA_ARRAY(a, uint64_t, x->words);
  x->credits_in = ARENA_ARRAY(a, uint64_t, x->words);
  x->occupied = ARENA_ARRAY(a, uint64_t, x->words);
  x->out_credit = ARENA_ARRAY(a, uint64_t, x->words);
  x->sending = ARENA_ARRAY(a, uint64_t, local);
  x->tight = ARENA_ARRAY(a, uint64_t, local);
  x->src_credit = ARENA_ARRAY(a, uint64_t, local);
  x->waiting = ARENA_ARRAY(a, uint64_t, local);
  for (uint32_t s = 0; s < ICNT_SLOTS; s++) {
    x->sent_in[s] = ARENA_ARRAY(a, uint64_t, x->words);
    x->sent_out[s] = ARENA_ARRAY(a, uint64_t, x->words);
    x->injected[s] = ARENA_ARRAY(a, uint64_t, local);
    x->ejected[s] = ARENA_ARRAY(a, uint64_t, local);
    x->tails[s] = ARENA_ARRAY(a, uint64_t, local);
  }
}

struct icnt_planes *icnt_planes_new(struct icnt *n, bool up_net) {
  struct arena *a = &n->mem;
  const struct layout *l = &n->l;
  struct icnt_planes *x = ARENA_NEW(a, struct icnt_planes);
  uint32_t local_words = ((l->mesh ? l->routers : l->nodes) + 63) / 64, dirs = l->mesh ? 5 : 1;
  *x = (struct icnt_planes){.nodes = l->nodes,
                            .inject_flits = l->inject_flits,
                            .boundary_flits = l->boundary_flits,
                            .wire = l->wire,
                            .dirs = dirs,
                            .span = local_words * 64,
                            .row = l->columns,
                            .local_words = local_words,
                            .words = dirs * local_words,
                            .local = (dirs - 1) * local_words * 64,
                            .local_word = (dirs - 1) * local_words,
                            .req_words = l->mesh ? 0 : local_words,
                            .inputs = {0, dirs * local_words},
                            .outputs = {0, dirs * local_words},
                            .sources = {0, local_words},
                            .sinks = {0, local_words},
                            .ready = n->ready,
                            .sent = up_net ? n->sent : NULL,
                            .still = ICNT_SLOTS};
  if (!l->mesh) { /* nodes below `sms` are sources on the way up and sinks on the way down, the others the reverse */
    struct span sms = {0, (l->sms + 63) / 64}, memory = {l->sms / 64, local_words};
    x->inputs = x->sources = up_net ? sms : memory;
    x->outputs = x->sinks = up_net ? memory : sms;
  }
  uint32_t ports = x->words * 64;
  places_new(a, x, l);
  rings_new(a, x, l, up_net);
  x->holder = ARENA_ARRAY(a, uint16_t, ports);
  x->out_of = ARENA_ARRAY(a, uint16_t, ports);
  x->grant = ARENA_ARRAY(a, uint16_t, ports);
  x->req = ARENA_ARRAY(a, uint64_t, l->nodes * x->req_words);
  x->granted = ARENA_ARRAY(a, uint32_t, 2 * ports);
  sets_new(a, x);
  uint32_t longest = l->boundary_flits < l->inject_flits ? l->boundary_flits : l->inject_flits;
  x->src_credits = planes_new(a, local_words, l->vc_buf);
  x->occupancy = planes_new(a, x->words, l->vc_buf);
  x->out_credits = planes_new(a, x->words, l->vc_buf);
  x->left_in = planes_new(a, x->words, longest);
  x->left_in.n = NARROW;
  for (uint32_t p = 0; p < x->span; p++) {
    put_plane(&x->src_credits, p, l->vc_buf);
    set_add(x->src_credit, p);
  }
  for (uint32_t p = 0; p < ports; p++) {
    put_plane(&x->out_credits, p, l->vc_buf);
    set_add(x->out_credit, p);
  }
  return x;
}
