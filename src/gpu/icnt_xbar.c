/* icnt_xbar.c - one crossbar with one virtual channel, all ports at once: a bit per port.
 *
 * The same machine as icnt.c and icnt_router.c with one router and one VC (docs/interconnect.md), for which per-flit
 * work vanishes. A flit is at most one per port, stage and step, so the content of a wire is a set of ports, and
 * counters that change by one (credits, occupancy, flits left) are kept in bit planes and counted for 64 ports by a
 * carry chain. What a flit belongs to follows from order: a source's packets stay in one ring from push until their
 * tail has left the input buffer, a sink's in one ring from the grant of the output until popped. Scalar work is left
 * per packet: its request, its grant, its tails.
 *
 * Switch allocation needs, per input, whether its output has a credit, and per output, whether its holder has a flit.
 * Each fact is computed where its counter lives and mirrored to the other side when it changes.
 */
#include "gpu/icnt_impl.h"

#include <string.h>

struct source_x {
  struct flit *ring;           /* meta: length in flits */
  uint32_t mask, queued;       /* flits of the packets from `inject` on, what it has already sent included */
  uint32_t front, inject, end; /* packet at the front of the input buffer; packet being sent; one past the last */
};
struct sink_x {
  struct flit *ring;
  uint32_t mask, pop, move, end; /* next to pop; packet whose flits move into the boundary buffer; one past the last */
  uint32_t whole;                /* flits of the packets from `pop` to `move` */
};

/* Counters as bit planes: plane k of word w is at p[w * stride + k]. The first NARROW planes are always computed,
 * without branches; `n` > NARROW adds the rest. Packets are nearly always shorter than 2^NARROW flits, so the counters
 * of flits left start narrow and widen when a longer packet is pushed. */
enum { NARROW = 4 };
struct planes {
  uint64_t *p;
  uint32_t n, stride;
};

struct icnt_xbar {
  uint32_t nodes, words, inject_flits, boundary_flits;
  struct source_x *src;
  struct sink_x *snk;
  uint16_t *holder, *out_of, *grant; /* output -> input; input -> output; output's round-robin pointer */
  uint64_t *req;                     /* output * words: inputs that ask for it */
  uint32_t *granted;                 /* pairs output, input */
  /* Sets of nodes, inputs or outputs. */
  uint64_t *sending;                    /* sources with a packet */
  uint64_t *active, *asking;            /* inputs whose front packet holds, or asks for, its output */
  uint64_t *held, *wanted;              /* outputs with a holder, with a request */
  uint64_t *has_flit, *holder_has_flit; /* inputs with a flit; outputs whose holder has one (mirror) */
  uint64_t *credit, *output_credit;     /* outputs with a credit; inputs whose output has one (mirror) */
  uint64_t *loaded;                     /* sinks with a packet in `left_snk` */
  uint64_t *ready;                      /* sinks with a whole packet: the set in struct icnt */
  uint64_t *tight;                      /* sinks whose boundary buffer cannot take all of the packet in `left_snk` */
  struct planes src_credits, left_src, occupancy, left_in, out_credits, ejection, left_snk;
  uint64_t *src_credit, *occupied, *out_credit, *waiting; /* where src_credits, ... , ejection are not zero */
  /* Wires, by step modulo 4: flits that left sources, flits that left inputs, outputs, flits ejected (credits). */
  uint64_t *injected[ICNT_SLOTS], *sent_in[ICNT_SLOTS], *sent_out[ICNT_SLOTS], *ejected[ICNT_SLOTS];
  uint32_t packets; /* pushed and not popped */
  uint32_t still;   /* steps in a row that put nothing on a wire, up to ICNT_SLOTS: then all slots are empty */
};

/* ---- counters ---- */

static inline uint64_t *at(const struct planes *c, uint32_t w) {
  return &c->p[w * c->stride];
}
/* Add one to the counters in `m`. */
static inline void up(const struct planes *c, uint32_t w, uint64_t m) {
  uint64_t *p = at(c, w);
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
  uint64_t *p = at(c, w);
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
  const uint64_t *p = at(c, w);
  uint64_t any = p[0] | p[1] | p[2] | p[3];
  _Static_assert(NARROW == 4, "planes named one by one");
  for (uint32_t k = NARROW; k < c->n; k++) any |= p[k];
  return any;
}
/* What arrives and what leaves in the same step cancel. `some`: the set of counters that are not zero. */
static inline void update(const struct planes *c, uint32_t w, uint64_t add, uint64_t sub, uint64_t *some) {
  uint64_t both = add & sub;
  add ^= both;
  sub ^= both;
  if (!(add | sub)) return;
  if (add) up(c, w, add);
  if (sub) down(c, w, sub);
  some[w] = nonzero(c, w);
}
static inline uint32_t get(const struct planes *c, uint32_t i) {
  uint32_t v = 0;
  for (uint32_t k = 0; k < c->n; k++) v |= (uint32_t)(at(c, i >> 6)[k] >> (i & 63) & 1) << k;
  return v;
}
static inline void put(const struct planes *c, uint32_t i, uint32_t v) {
  for (uint32_t k = 0; k < c->n; k++) {
    uint64_t *p = &at(c, i >> 6)[k];
    *p = (*p & ~((uint64_t)1 << (i & 63))) | (uint64_t)(v >> k & 1) << (i & 63);
  }
}
#define EACH(m, w, i) for (uint64_t m_ = (m), i; m_ && (i = (w)*64u + (uint32_t)__builtin_ctzll(m_), 1); m_ &= m_ - 1)

/* ---- nodes ---- */

/* Does the boundary buffer have room for all of the packet whose flits arrive? Then nothing has to be counted. */
static void update_tight(struct icnt_xbar *x, uint32_t node) {
  const struct sink_x *k = &x->snk[node];
  if (set_has(x->loaded, node) && k->whole + k->ring[k->move & k->mask].meta > x->boundary_flits)
    set_add(x->tight, node);
  else set_remove(x->tight, node);
}
/* Is there room for one flit more? */
static bool has_room(const struct icnt_xbar *x, uint32_t node) {
  const struct sink_x *k = &x->snk[node];
  if (!set_has(x->tight, node)) return true;
  return k->whole + k->ring[k->move & k->mask].meta - get(&x->left_snk, node) < x->boundary_flits;
}

/* Packet `snk->move` becomes the one whose flits arrive. */
static void load_sink(struct icnt_xbar *x, uint32_t node) {
  const struct sink_x *k = &x->snk[node];
  if (k->move == k->end) {
    set_remove(x->loaded, node);
    set_remove(x->tight, node);
    return;
  }
  set_add(x->loaded, node);
  put(&x->left_snk, node, k->ring[k->move & k->mask].meta);
  update_tight(x, node);
}
static void load_source(struct icnt_xbar *x, uint32_t node) {
  const struct source_x *s = &x->src[node];
  if (s->inject == s->end) {
    set_remove(x->sending, node);
    return;
  }
  set_add(x->sending, node);
  put(&x->left_src, node, s->ring[s->inject & s->mask].meta);
}

static void nodes_step(struct icnt_xbar *x, uint32_t w, uint64_t now) {
  uint64_t arrived = x->sent_out[(now - ICNT_SWITCH_AND_WIRE) & (ICNT_SLOTS - 1)][w];
  uint64_t move = arrived | x->waiting[w];
  if (move) {
    EACH(move & x->tight[w], w, node) {
      if (!has_room(x, (uint32_t)node)) move &= ~((uint64_t)1 << (node & 63));
    }
    update(&x->ejection, w, arrived, move, x->waiting);
    down(&x->left_snk, w, move);
    EACH(move & ~nonzero(&x->left_snk, w), w, node) {
      struct sink_x *k = &x->snk[node];
      k->whole += k->ring[k->move++ & k->mask].meta;
      set_add(x->ready, (uint32_t)node);
      load_sink(x, (uint32_t)node);
    }
  }
  x->ejected[now & (ICNT_SLOTS - 1)][w] = move;
  uint64_t credits = x->sent_in[(now - ICNT_CREDIT_WIRE) & (ICNT_SLOTS - 1)][w];
  uint64_t send = x->sending[w] & (credits | x->src_credit[w]);
  update(&x->src_credits, w, credits, send, x->src_credit);
  if (send) {
    down(&x->left_src, w, send);
    EACH(send & ~nonzero(&x->left_src, w), w, node) {
      struct source_x *s = &x->src[node];
      s->queued -= s->ring[s->inject++ & s->mask].meta;
      load_source(x, (uint32_t)node);
    }
  }
  x->injected[now & (ICNT_SLOTS - 1)][w] = send;
}

/* ---- router ---- */

/* The head at the front of input `i` asks for its output. */
static void ask(struct icnt_xbar *x, uint32_t i) {
  const struct source_x *s = &x->src[i];
  uint32_t o = s->ring[s->front & s->mask].dst;
  set_add(&x->req[o * x->words], i);
  set_add(x->wanted, o);
  set_add(x->asking, i);
}

/* Flits and credits that arrive, and what they change on the other side of the switch. */
static void receive(struct icnt_xbar *x, uint32_t w, uint64_t now) {
  uint64_t flits = x->injected[(now - ICNT_FLIT_WIRE) & (ICNT_SLOTS - 1)][w];
  uint64_t filled = flits | x->occupied[w], changed = (filled ^ x->has_flit[w]) & x->active[w];
  x->has_flit[w] = filled;
  EACH(changed, w, i) {
    uint32_t o = x->out_of[i];
    x->holder_has_flit[o >> 6] ^= (uint64_t)1 << (o & 63);
  }
  EACH(filled & ~x->active[w] & ~x->asking[w], w, i) {
    ask(x, (uint32_t)i);
  }
  uint64_t credits = x->ejected[(now - ICNT_CREDIT_WIRE) & (ICNT_SLOTS - 1)][w];
  uint64_t credit = credits | x->out_credit[w];
  changed = (credit ^ x->credit[w]) & x->held[w];
  x->credit[w] = credit;
  EACH(changed, w, o) {
    uint32_t i = x->holder[o];
    x->output_credit[i >> 6] ^= (uint64_t)1 << (i & 63);
  }
}

/* The first input at or after the pointer that asks for `o`; there is one. */
static uint32_t pick(const struct icnt_xbar *x, uint32_t o) {
  const uint64_t *r = &x->req[o * x->words];
  uint32_t w = x->grant[o] >> 6;
  uint64_t m = r[w] & ~(uint64_t)0 << (x->grant[o] & 63);
  while (!m) {
    w = w + 1 == x->words ? 0 : w + 1;
    m = r[w];
  }
  return w * 64 + (uint32_t)__builtin_ctzll(m);
}

static uint32_t grant(struct icnt_xbar *x) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < x->words; w++) EACH(x->wanted[w] & ~x->held[w], w, o) {
      uint32_t i = pick(x, (uint32_t)o);
      x->grant[o] = (uint16_t)(i + 1 == x->nodes ? 0 : i + 1);
      x->granted[n++] = (uint32_t)o;
      x->granted[n++] = i;
    }
  return n;
}

static void take(struct icnt_xbar *x, uint32_t n) {
  for (uint32_t k = 0; k < n; k += 2) {
    uint32_t o = x->granted[k], i = x->granted[k + 1];
    uint64_t *r = &x->req[o * x->words], left = 0;
    const struct source_x *s = &x->src[i];
    struct sink_x *d = &x->snk[o];
    struct flit p = s->ring[s->front & s->mask];
    set_remove(r, i);
    for (uint32_t w = 0; w < x->words; w++) left |= r[w];
    if (!left) set_remove(x->wanted, o);
    set_remove(x->asking, i);
    set_add(x->active, i);
    set_add(x->held, o);
    x->holder[o] = (uint16_t)i;
    x->out_of[i] = (uint16_t)o;
    set_add(x->holder_has_flit, o); /* its head */
    if (set_has(x->credit, o)) set_add(x->output_credit, i);
    else set_remove(x->output_credit, i);
    put(&x->left_in, i, p.meta);
    d->ring[d->end++ & d->mask] = p;
    if (!set_has(x->loaded, o)) load_sink(x, o);
  }
}

static void switch_step(struct icnt_xbar *x, uint64_t now) {
  uint32_t slot = now & (ICNT_SLOTS - 1), wire = (now - ICNT_FLIT_WIRE) & (ICNT_SLOTS - 1);
  uint64_t *in = x->sent_in[slot], *out = x->sent_out[slot];
  for (uint32_t w = 0; w < x->words; w++) {
    in[w] = x->active[w] & x->has_flit[w] & x->output_credit[w];
    out[w] = x->held[w] & x->holder_has_flit[w] & x->credit[w];
  }
  for (uint32_t w = 0; w < x->words; w++) {
    update(&x->occupancy, w, x->injected[wire][w], in[w], x->occupied);
    update(&x->out_credits, w, x->ejected[wire][w], out[w], x->out_credit);
    if (!in[w]) continue;
    down(&x->left_in, w, in[w]);
    EACH(in[w] & ~nonzero(&x->left_in, w), w, i) { /* tails: the output is free for the next step */
      uint32_t o = x->out_of[i];
      set_remove(x->held, o);
      x->active[w] &= ~((uint64_t)1 << (i & 63));
      x->src[i].front++;
      if (x->occupied[w] >> (i & 63) & 1) ask(x, (uint32_t)i);
    }
  }
}

/* ---- whole ---- */

/* Steps in which only the clock moves; it may say 0 one step too long when an output has just spent its last credit. */
uint32_t icnt_xbar_quiet(const struct icnt_xbar *x, uint64_t now) {
  uint64_t now_any = 0, wire[3] = {0};
  if (x->still == ICNT_SLOTS && !x->packets) return UINT32_MAX;
  for (uint32_t w = 0; w < x->words; w++) {
    now_any |= x->sending[w] & x->src_credit[w];
    now_any |= x->wanted[w] & ~x->held[w];
    now_any |= x->active[w] & x->output_credit[w] & x->occupied[w];
    EACH(x->waiting[w], w, node) {
      now_any |= has_room(x, (uint32_t)node);
    }
  }
  if (now_any) return 0;
  if (x->still == ICNT_SLOTS) return UINT32_MAX;
  for (uint32_t w = 0; w < x->words; w++)
    for (uint32_t k = 0; k < 3; k++) {
      wire[k] |= x->sent_out[(now + k - ICNT_SWITCH_AND_WIRE) & (ICNT_SLOTS - 1)][w];
      uint32_t s = (now + k - ICNT_FLIT_WIRE) & (ICNT_SLOTS - 1);
      if (k < 2) wire[k] |= x->sent_in[s][w] | x->injected[s][w] | x->ejected[s][w];
    }
  for (uint32_t k = 0; k < 3; k++)
    if (wire[k]) return k;
  return UINT32_MAX;
}

void icnt_xbar_step(struct icnt_xbar *x, uint64_t now) {
  uint32_t slot = now & (ICNT_SLOTS - 1);
  uint64_t any = 0;
  if (x->still == ICNT_SLOTS && icnt_xbar_quiet(x, now)) return;
  for (uint32_t w = 0; w < x->words; w++) nodes_step(x, w, now);
  for (uint32_t w = 0; w < x->words; w++) receive(x, w, now);
  uint32_t n = grant(x);
  switch_step(x, now);
  take(x, n);
  for (uint32_t w = 0; w < x->words; w++) any |= x->injected[slot][w] | x->sent_in[slot][w] | x->ejected[slot][w];
  x->still = any ? 0 : x->still + (x->still < ICNT_SLOTS);
}

void icnt_xbar_skip(struct icnt_xbar *x, uint64_t now, uint32_t steps) {
  size_t bytes = x->words * sizeof(uint64_t);
  for (; steps && x->still < ICNT_SLOTS; steps--, now++, x->still++) {
    uint32_t s = now & (ICNT_SLOTS - 1);
    memset(x->injected[s], 0, bytes);
    memset(x->sent_in[s], 0, bytes);
    memset(x->sent_out[s], 0, bytes);
    memset(x->ejected[s], 0, bytes);
  }
}

bool icnt_xbar_can_push(const struct icnt_xbar *x, uint32_t node, uint32_t flits) {
  const struct source_x *s = &x->src[node];
  if (s->queued + flits <= x->inject_flits) return true;
  uint32_t sent = s->ring[s->inject & s->mask].meta - get(&x->left_src, node); /* of the packet being sent */
  return s->queued - sent + flits <= x->inject_flits;
}

void icnt_xbar_push(struct icnt_xbar *x, uint32_t src, struct flit p) {
  struct source_x *s = &x->src[src];
  if (p.meta >> x->left_src.n) x->left_src.n = x->left_in.n = x->left_snk.n = x->left_src.stride;
  s->ring[s->end++ & s->mask] = p;
  s->queued += p.meta;
  x->packets++;
  if (s->inject + 1 == s->end) load_source(x, src);
}

uint32_t icnt_xbar_peek(const struct icnt_xbar *x, uint32_t node) {
  const struct sink_x *k = &x->snk[node];
  return k->ring[k->pop & k->mask].payload;
}

uint32_t icnt_xbar_pop(struct icnt_xbar *x, uint32_t node) {
  struct sink_x *k = &x->snk[node];
  struct flit p = k->ring[k->pop++ & k->mask];
  x->packets--;
  if (k->pop == k->move) set_remove(x->ready, node);
  k->whole -= p.meta;
  if (set_has(x->tight, node)) update_tight(x, node);
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

struct icnt_xbar *icnt_xbar_new(struct icnt *n, bool up_net) {
  struct arena *a = &n->mem;
  const struct layout *l = &n->l;
  uint32_t words = (l->nodes + 63) / 64;
  struct icnt_xbar *x = ARENA_NEW(a, struct icnt_xbar);
  *x = (struct icnt_xbar){.nodes = l->nodes,
                          .words = words,
                          .inject_flits = l->inject_flits,
                          .boundary_flits = l->boundary_flits,
                          .still = ICNT_SLOTS,
                          .ready = n->ready};
  x->src = ARENA_ARRAY(a, struct source_x, l->nodes);
  x->snk = ARENA_ARRAY(a, struct sink_x, l->nodes);
  x->holder = ARENA_ARRAY(a, uint16_t, l->nodes);
  x->out_of = ARENA_ARRAY(a, uint16_t, l->nodes);
  x->grant = ARENA_ARRAY(a, uint16_t, l->nodes);
  x->req = ARENA_ARRAY(a, uint64_t, l->nodes * words);
  x->granted = ARENA_ARRAY(a, uint32_t, 2 * l->nodes);
  uint64_t **sets[] = {&x->sending,  &x->active,          &x->asking,   &x->held,          &x->wanted,
                       &x->has_flit, &x->holder_has_flit, &x->credit,   &x->output_credit, &x->loaded,
                       &x->tight,    &x->src_credit,      &x->occupied, &x->out_credit,    &x->waiting};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) *sets[k] = ARENA_ARRAY(a, uint64_t, words);
  for (int s = 0; s < ICNT_SLOTS; s++) {
    x->injected[s] = ARENA_ARRAY(a, uint64_t, words);
    x->sent_in[s] = ARENA_ARRAY(a, uint64_t, words);
    x->sent_out[s] = ARENA_ARRAY(a, uint64_t, words);
    x->ejected[s] = ARENA_ARRAY(a, uint64_t, words);
  }
  uint32_t longest = l->boundary_flits < l->inject_flits ? l->boundary_flits : l->inject_flits;
  x->src_credits = planes_new(a, words, l->vc_buf);
  x->occupancy = planes_new(a, words, l->vc_buf);
  x->out_credits = planes_new(a, words, l->vc_buf);
  x->ejection = planes_new(a, words, l->vc_buf);
  x->left_src = planes_new(a, words, longest);
  x->left_in = planes_new(a, words, longest);
  x->left_snk = planes_new(a, words, longest);
  x->left_src.n = x->left_in.n = x->left_snk.n = NARROW;
  for (uint32_t node = 0; node < l->nodes; node++) {
    put(&x->src_credits, node, l->vc_buf);
    put(&x->out_credits, node, l->vc_buf);
    set_add(x->src_credit, node);
    set_add(x->out_credit, node);
    if ((node < l->sms) == up_net) { /* waiting, and what the credits let out of the injection buffer */
      x->src[node].mask = ring_mask(l->inject_flits + l->vc_buf);
      x->src[node].ring = ARENA_ARRAY(a, struct flit, x->src[node].mask + 1);
    } else { /* boundary buffer, what the credits let out of the router, the holder's packet */
      x->snk[node].mask = ring_mask(l->boundary_flits + l->vc_buf + 1);
      x->snk[node].ring = ARENA_ARRAY(a, struct flit, x->snk[node].mask + 1);
    }
  }
  return x;
}
