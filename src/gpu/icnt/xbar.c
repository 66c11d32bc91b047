/* xbar.c - a crossbar with one virtual channel, packet by packet: flits are not moved; their times are computed.
 *
 * The same machine as planes.c and vcs.c (docs/explanation/interconnect.md). In a crossbar an input holds an output
 * exclusively, so the times of a packet's flits follow from its grant and the receiver's pops:
 *
 *   w(j) = max(w(j - 1) + 1, x(j - B) + 2)            flit j of an output wins the switch; B: flits of a buffer
 *   x(j) = max(w(j) + 3, x(j - 1) + 1, room for j)    it moves from the ejection to the boundary buffer
 *
 * The injection side never delays a flit behind its packet's head, nor a head behind the one granted before it, because
 * a credit is back in 4 steps and B is 5 at least: the head at the front asks at max(tail of the one before + 1,
 * push + 2); with packets back to back at the tail's own step. So a packet has three events: request, grant, complete.
 * A step without a due event costs one test. With room for the whole packet in the boundary buffer, all times are known
 * at the grant, one flit a step. Otherwise (`slow`) they become known flit by flit as the receiver pops. The flits in
 * an injection buffer are computed on demand (room_at).
 *
 * Inputs and outputs are numbered separately: SMs and sub-partitions on the way up, the reverse on the way down.
 */
#include "gpu/icnt/icnt_impl.h"

#define NEVER UINT64_MAX
enum { SLOTS_LEAST = 64 };

struct queued {
  uint64_t pushed; /* first step that can inject it */
  uint32_t payload;
  uint16_t to, len; /* output; flits */
};
struct input {
  struct queued *ring; /* pushed and not granted */
  uint32_t mask, front, end;
  struct icnt_injected in;
  uint32_t base;                       /* flits of packets granted before the last, ever */
  uint64_t granted, tail, tail_before; /* steps: of the last grant; of its tail's switch traversal; of the previous
                                        * tail's */
  uint64_t second_before;              /* of the flit before that one; with packets back to back alone */
  uint64_t fits_at;                    /* step before which there is room for `fits_bytes` bytes; 0: not known */
  uint32_t fits_bytes, known;          /* known: `pushed` when it was last refused a packet */
  uint32_t first;                      /* of the last granted packet: number of its first flit at its output */
  uint16_t len, to;
  uint16_t next; /* in a list of struct icnt_xbar */
  uint16_t want; /* flits of the packet whose push is awaited, while the time of room is unknown; 0 */
  bool slow;     /* the last granted one is */
};

struct arrived {
  uint64_t whole;        /* step in which its tail reaches the boundary buffer; NEVER: not known yet */
  uint32_t payload, end; /* number of the flit behind its tail */
};
struct output {
  struct arrived *ring;             /* granted and not popped */
  uint32_t mask, pop, end, moving;  /* moving: whose flits' x is computed next */
  uint32_t granted, popped;         /* flits ever */
  uint32_t won, moved;              /* flits whose w, whose x is known */
  uint64_t free_at;                 /* first step in which it can be granted */
  uint64_t moved_at, next_win;      /* x of flit moved - 1; w of flit `won` at least */
  uint64_t *w_at, *x_at;            /* rings, only of slow packets: older numbers never matter */
  uint16_t holder, pointer, asking; /* input granted last; round robin; how many inputs ask */
  uint16_t next;
};

/* Compile-time constants in the steps of the default machines. */
struct sizes {
  uint32_t slots;               /* range of future steps with pending events */
  uint32_t in_words, out_words; /* words of a set of inputs, outputs */
};

struct icnt_xbar {
  uint32_t buffer, inject_flits, boundary_flits, flit_bytes, wire;
  uint32_t gap; /* steps from a tail's win to the next grant: 1 as planes.c, 0: flits of packets follow each other */
  uint32_t first_in, first_out; /* nodes */
  uint32_t w_mask, x_mask;
  struct sizes z;
  struct input *in;
  struct output *out;
  uint64_t *asks; /* output * in_words: inputs that request it */
  struct icnt_room *room;
  uint64_t *ready;  /* outputs with a whole packet, the set in struct icnt */
  uint64_t *sent;   /* inputs that have got room, the set in struct icnt; NULL on the way down */
  uint64_t *unsent; /* inputs with flits in the injection buffer, and some without */
  /* By step modulo `slots`: is anything due; sets of outputs and inputs; lists of inputs whose packet will request and
   * of outputs that become free with a request pending, as number + 1. */
  uint64_t *due;
  uint64_t *whole, *roomy;
  uint16_t *ask, *free;
  uint16_t *try; /* outputs to be granted in this step */
};

static inline uint64_t later(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

#define SIZED static inline __attribute__((always_inline))
SIZED void add_in(uint64_t *set, uint32_t i, uint32_t words) {
  set[words == 1 ? 0 : i >> 6] |= (uint64_t)1 << (i & 63);
}

/* ---- the injection buffer ---- */

/* The step before which a packet of this many flits cannot be pushed; NEVER: unknown, and not before *least. */
static uint64_t room_at(const struct icnt_xbar *x, const struct input *s, uint32_t flits, uint64_t now,
                        uint64_t *least) {
  uint32_t sent = s->in.pushed + flits - x->inject_flits; /* flits that must leave first */
  int32_t ahead = (int32_t)(sent - s->in.free_sent), of_last = (int32_t)(sent - x->buffer - s->base);
  uint64_t at = ahead > 0 ? s->in.free_at + (uint32_t)ahead : 0;
  if (of_last == -1 && !x->gap) return later(at, s->second_before + 1 + x->wire);
  if (of_last < 0) return at;
  /* The credit of flit number `of_last` of the last granted packet. */
  if (!of_last) return later(at, s->tail_before + 1 + x->wire);
  if (of_last > s->len) {
    uint64_t granted = s->tail == NEVER ? now : later(now, s->tail + x->gap);
    *least = granted + (uint32_t)of_last - s->len + 1 + x->wire;
    return NEVER;
  }
  if (!s->slow) return later(at, s->granted + (uint32_t)of_last + 1 + x->wire);
  if (s->tail != NEVER && s->tail + x->wire < now) return at;
  const struct output *k = &x->out[s->to];
  uint32_t flit = s->first + (uint32_t)of_last - 1;
  if ((int32_t)(flit - k->won) < 0) return later(at, k->w_at[flit & x->w_mask] + 1 + x->wire);
  *least = now + x->wire + flit - k->won + 1 + x->wire; /* the output waits for a pop */
  return NEVER;
}

/* Flits of the last granted packet that have won the switch before step `until`. */
static inline uint32_t won_before(const struct icnt_xbar *x, const struct input *s, uint64_t until) {
  if (s->tail < until) return s->len;
  if (!s->slow) return until > s->granted ? (uint32_t)(until - s->granted - 1) : 0;
  const struct output *k = &x->out[s->to];
  uint32_t n = 0;
  while (n < s->len && s->first + n != k->won && k->w_at[(s->first + n) & x->w_mask] < until) n++;
  return n;
}

/* Flits in the injection buffer before step `now`, with the pushes of `in`. */
static inline uint32_t waiting_of(const struct icnt_xbar *x, const struct input *s, const struct icnt_injected *in,
                                  uint64_t now) {
  uint32_t all = in->pushed - in->free_sent;
  uint64_t could = now - in->free_at, until = now - x->wire;
  uint32_t left = could < all ? all - (uint32_t)could : 0;
  uint32_t credited = s->base - (s->tail_before >= until) + won_before(x, s, until) + x->buffer;
  if (!x->gap) credited -= s->second_before >= until;
  int32_t behind = (int32_t)(in->pushed - credited);
  return behind > (int32_t)left ? (uint32_t)behind : left;
}

static inline uint32_t waiting(const struct icnt_xbar *x, const struct input *s, uint64_t now) {
  return waiting_of(x, s, &s->in, now);
}

uint32_t icnt_xbar_waiting(const struct icnt_xbar *x, uint32_t node, uint64_t now) {
  return waiting(x, &x->in[node - x->first_in], now);
}

/* ---- for nodes that run ahead ---- */

struct icnt_injected icnt_xbar_injected(const struct icnt_xbar *x, uint32_t node) {
  return x->in[node - x->first_in].in;
}

/* With grants of step `now` and later still to come. A flit of a packet granted in step t leaves the injection buffer
 * before step t + wire + 2 at the earliest; of one whose output waits for a pop in step t, before t + 2 wire + 1. */
uint32_t icnt_xbar_waiting_ahead(const struct icnt_xbar *x, uint32_t node, const struct icnt_injected *in, uint64_t now,
                                 uint64_t until, bool *exact) {
  const struct input *s = &x->in[node - x->first_in];
  bool waits = s->slow && s->tail == NEVER;
  *exact = !waits || until <= now + 2 * x->wire;
  if (until >= now + x->wire + 2 && !waits && s->front != s->end) {
    uint64_t asks = later(s->tail + x->gap, s->ring[s->front & s->mask].pushed + x->wire);
    *exact = asks > until - x->wire - 2;
  }
  return waiting_of(x, s, in, until);
}

void icnt_injected_push(struct icnt_injected *in, uint32_t flits, uint64_t now) {
  uint64_t could = now - in->free_at;
  uint32_t all = in->pushed - in->free_sent;
  in->free_sent += could < all ? (uint32_t)could : all;
  in->free_at = now;
  in->pushed += flits;
}

bool icnt_xbar_look_for_room(struct icnt_xbar *x, uint32_t node, uint32_t flits, uint64_t now) {
  struct input *s = &x->in[node - x->first_in];
  struct icnt_room *r = &x->room[node - x->first_in];
  uint32_t gone = s->tail < now ? s->len : 0, inside = s->in.pushed - s->base - gone; /* of the router; not yet sent */
  if (inside + flits > x->inject_flits) {
    uint64_t least, at = NEVER;
    /* Usually blocked behind a packet without a grant. */
    bool blocked = inside + flits > x->inject_flits + x->buffer + s->len - gone || flits > x->inject_flits;
    if (!blocked) at = room_at(x, s, flits, now, &least);
    if (at > now) {
      r->refused = (flits - 1) * x->flit_bytes + 1;
      r->until = at;
      s->known = s->in.pushed;
      return false;
    }
    inside = 2 * flits > x->inject_flits ? x->inject_flits - flits : waiting(x, s, now);
  }
  r->fits = (x->inject_flits - inside) * x->flit_bytes;
  return true;
}

uint32_t icnt_xbar_steps_to_room(const struct icnt_xbar *x, uint32_t node, uint32_t flits, uint64_t now) {
  const struct input *s = &x->in[node - x->first_in];
  struct icnt_room *r = &x->room[node - x->first_in];
  uint64_t least = 0, at = s->in.pushed - s->base + flits <= x->inject_flits ? 0 : room_at(x, s, flits, now, &least);
  if (at == NEVER) at = least;
  if (at > now) return (uint32_t)(at - now);
  r->fits = flits * x->flit_bytes;
  return 0;
}

/* ---- what is due when ---- */

SIZED uint32_t slot_of(struct icnt_xbar *x, uint64_t at, struct sizes z) {
  uint32_t slot = (uint32_t)at & (z.slots - 1);
  add_in(x->due, slot, z.slots / 64);
  return slot;
}
SIZED void ask_at(struct icnt_xbar *x, uint32_t i, uint64_t at, struct sizes z) {
  uint16_t *list = &x->ask[slot_of(x, at, z)];
  x->in[i].next = *list;
  *list = (uint16_t)(i + 1);
}
SIZED void free_at(struct icnt_xbar *x, uint32_t o, uint64_t at, struct sizes z) {
  uint16_t *list = &x->free[slot_of(x, at, z)];
  x->out[o].next = *list;
  *list = (uint16_t)(o + 1);
}
SIZED void whole_at(struct icnt_xbar *x, uint32_t o, uint64_t at, struct sizes z) {
  add_in(&x->whole[slot_of(x, at, z) * z.out_words], o, z.out_words);
}

/* A push of this many flits is awaited: input `i` joins `sent` when there is room, or earlier. */
static void await(struct icnt_xbar *x, uint32_t i, uint32_t flits, uint64_t now) {
  struct input *s = &x->in[i];
  const struct icnt_room *r = &x->room[i];
  bool known = s->known == s->in.pushed && r->refused == (flits - 1) * x->flit_bytes + 1 && r->until > now;
  uint64_t least, at = known ? r->until : room_at(x, s, flits, now, &least);
  s->want = at == NEVER ? (uint16_t)flits : 0;
  if (at == NEVER) return;
  s->fits_at = at;
  s->fits_bytes = flits * x->flit_bytes;
  at = later(at, now + 1) - 1; /* after this step */
  if (at - now >= x->z.slots) at = now + x->z.slots - 1, s->fits_at = 0;
  set_add(&x->roomy[slot_of(x, at, x->z) * x->z.in_words], i);
}

void icnt_xbar_await(struct icnt_xbar *x, uint32_t node, uint32_t flits, uint64_t now) {
  const struct input *s = &x->in[node - x->first_in];
  bool awaited = s->want == flits || (s->fits_at > now && s->fits_bytes == flits * x->flit_bytes);
  if (!awaited) await(x, node - x->first_in, flits, now);
}

/* ---- packets ---- */

/* The tail of the packet that holds the output wins the switch in step `at`: schedule the next packet. */
SIZED void let_go(struct icnt_xbar *x, uint32_t o, uint32_t i, uint64_t at, struct sizes z) {
  struct output *k = &x->out[o];
  struct input *s = &x->in[i];
  s->tail = at;
  k->free_at = at + x->gap;
  if (s->front != s->end) ask_at(x, i, later(at + x->gap, s->ring[s->front & s->mask].pushed + x->wire), z);
  if (k->asking) free_at(x, o, at + x->gap, z);
}

/* Compute the known times of the output's flits. */
static __attribute__((noinline)) void resolve_output(struct icnt_xbar *x, uint32_t o, uint64_t now) {
  struct output *k = &x->out[o];
  for (bool more = true; more;) {
    while (k->won != k->granted && k->won - k->moved < x->buffer) {
      uint64_t at = later(k->next_win, k->x_at[(k->won - x->buffer) & x->x_mask] + x->wire);
      k->w_at[k->won & x->w_mask] = at;
      k->next_win = at + 1;
      if (++k->won == k->granted) let_go(x, o, k->holder, at, x->z);
    }
    more = false;
    while (k->moved != k->won && k->moved - k->popped < x->boundary_flits) {
      uint64_t at = later(later(k->w_at[k->moved & x->w_mask] + x->wire + 1, k->moved_at + 1), now);
      CHECK(at - now < x->z.slots, "interconnect: output %u is known %u steps ahead", o, (uint32_t)(at - now));
      k->x_at[k->moved & x->x_mask] = k->moved_at = at;
      more = true;
      struct arrived *p = &k->ring[k->moving & k->mask];
      if (++k->moved != p->end) continue;
      p->whole = at;
      k->moving++;
      whole_at(x, o, at, x->z);
    }
  }
  x->room[k->holder].until = 0;
  if (x->in[k->holder].want) await(x, k->holder, x->in[k->holder].want, now);
}

/* The first requesting input at or after the pointer; advances the pointer. One exists. */
SIZED uint32_t pick(struct icnt_xbar *x, uint32_t o, struct sizes z) {
  struct output *k = &x->out[o];
  uint64_t *r = &x->asks[o * z.in_words], m;
  uint32_t from = k->pointer & 63, w = 0, i;
  if (z.in_words == 1) { /* without a branch, which would be unpredictable */
    m = r[0] >> from | r[0] << (-from & 63);
    i = ((uint32_t)__builtin_ctzll(m) + from) & 63;
  } else {
    w = k->pointer >> 6;
    w = w == z.in_words ? 0 : w;
    m = r[w] >> from << from;
    while (!m) {
      w = w + 1 == z.in_words ? 0 : w + 1;
      m = r[w];
    }
    i = (uint32_t)__builtin_ctzll(m);
  }
  r[w] &= ~((uint64_t)1 << i);
  i += w * 64;
  k->pointer = (uint16_t)(i + 1);
  k->asking--;
  return i;
}

/* The step in which the flit before the last tail won the switch; of long ago any. */
static uint64_t second_last(const struct icnt_xbar *x, const struct input *s, uint64_t now) {
  if (s->len < 2) return s->len ? s->tail_before : 0;
  if (!s->slow || s->tail + x->wire < now) return s->tail - 1;
  return x->out[s->to].w_at[(s->first + s->len - 2) & x->w_mask];
}

SIZED void grant(struct icnt_xbar *x, uint32_t o, uint64_t now, struct sizes z) {
  struct output *k = &x->out[o];
  uint32_t i = pick(x, o, z);
  struct input *s = &x->in[i];
  const struct queued *q = &s->ring[s->front++ & s->mask];
  if (!x->gap) s->second_before = second_last(x, s, now);
  s->base += s->len;
  s->tail_before = s->tail;
  s->granted = now;
  s->len = q->len;
  s->to = (uint16_t)o;
  struct arrived *p = &k->ring[k->end++ & k->mask];
  uint32_t first = k->granted;
  k->granted += q->len;
  p->payload = q->payload;
  p->end = k->granted;
  k->holder = (uint16_t)i;
  s->slow = k->moved != first || k->granted - k->popped > x->boundary_flits || k->moved_at > now + x->wire + 1;
  if (s->slow) {
    p->whole = s->tail = k->free_at = NEVER;
    s->first = first;
    k->next_win = now + 1;
    resolve_output(x, o, now);
    return;
  }
  uint64_t tail = now + q->len;
  p->whole = k->moved_at = tail + x->wire + 1;
  k->won = k->moved = k->granted;
  k->moving = k->end;
  whole_at(x, o, p->whole, z);
  let_go(x, o, i, tail, z);
  x->room[i].until = 0;
  if (s->want) await(x, i, s->want, now);
}

bool icnt_xbar_due(const struct icnt_xbar *x, uint64_t now) {
  return set_has(x->due, (uint32_t)now & (x->z.slots - 1));
}

SIZED void step(struct icnt_xbar *x, uint64_t now, struct sizes z) {
  uint32_t slot = (uint32_t)now & (z.slots - 1), n = 0;
  x->due[z.slots == 64 ? 0 : slot >> 6] &= ~((uint64_t)1 << (slot & 63));
  for (uint32_t w = 0; w < z.out_words; w++) {
    x->ready[w] |= x->whole[slot * z.out_words + w];
    x->whole[slot * z.out_words + w] = 0;
  }
  for (uint32_t w = 0; x->sent && w < z.in_words; w++) {
    uint64_t m = x->roomy[slot * z.in_words + w];
    x->sent[w] |= m;
    x->roomy[slot * z.in_words + w] = 0;
    for (; m; m &= m - 1) {
      uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(m);
      if (x->in[i].fits_at == now + 1) x->room[i].fits = x->in[i].fits_bytes;
    }
  }
  for (uint32_t o = x->free[slot]; o; o = x->out[o - 1].next) x->try[n++] = (uint16_t)(o - 1);
  for (uint32_t i = x->ask[slot]; i; i = x->in[i - 1].next) {
    const struct input *s = &x->in[i - 1];
    uint32_t o = s->ring[s->front & s->mask].to;
    struct output *k = &x->out[o];
    add_in(&x->asks[o * z.in_words], i - 1, z.in_words);
    if (k->asking++) continue;
    if (k->free_at <= now) x->try[n++] = (uint16_t)o;
    else if (k->free_at != NEVER) free_at(x, o, k->free_at, z);
  }
  x->free[slot] = x->ask[slot] = 0;
  for (uint32_t k = 0; k < n; k++) grant(x, x->try[k], now, z);
}

void icnt_xbar_step(struct icnt_xbar *x, uint64_t now) {
  enum { SHORT = SLOTS_LEAST };
  struct sizes z = x->z;
  if (z.slots != SHORT || z.in_words > 2 || z.out_words > 2 || z.in_words * z.out_words > 2) step(x, now, z);
  else if (z.in_words == 2) step(x, now, (struct sizes){SHORT, 2, 1});
  else if (z.out_words == 2) step(x, now, (struct sizes){SHORT, 1, 2});
  else step(x, now, (struct sizes){SHORT, 1, 1});
}

void icnt_xbar_push(struct icnt_xbar *x, uint32_t src, uint32_t dst, uint32_t payload, uint32_t flits, uint64_t now) {
  uint32_t i = src - x->first_in;
  struct input *s = &x->in[i];
  icnt_injected_push(&s->in, flits, now);
  s->fits_at = 0;
  if (s->front == s->end) {
    s->front = s->end = 0; /* in a cached line */
    if (s->tail != NEVER) ask_at(x, i, later(s->tail + x->gap, now + x->wire), x->z);
  }
  s->ring[s->end++ & s->mask] =
      (struct queued){.pushed = now, .payload = payload, .to = (uint16_t)(dst - x->first_out), .len = (uint16_t)flits};
  set_add(x->unsent, i);
}

/* The caller has checked that there is a packet. */
uint32_t icnt_xbar_peek(const struct icnt_xbar *x, uint32_t node) {
  const struct output *k = &x->out[node - x->first_out];
  return k->ring[k->pop & k->mask].payload;
}

uint32_t icnt_xbar_pop(struct icnt_xbar *x, uint32_t node, uint64_t now) {
  uint32_t o = node - x->first_out;
  struct output *k = &x->out[o];
  const struct arrived *p = &k->ring[k->pop++ & k->mask];
  uint32_t payload = p->payload;
  k->popped = p->end;
  if (k->pop == k->end) {
    k->pop = k->moving = k->end = 0;
    set_remove(x->ready, o);
    return payload;
  }
  if (k->ring[k->pop & k->mask].whole >= now) set_remove(x->ready, o);
  if (k->moved != k->granted) resolve_output(x, o, now);
  return payload;
}

bool icnt_xbar_granted(const struct icnt_xbar *x, uint32_t node, uint32_t i, uint64_t *whole) {
  const struct output *k = &x->out[node - x->first_out];
  if (k->end - k->pop <= i) return false;
  *whole = k->ring[(k->pop + i) & k->mask].whole;
  return true;
}

uint32_t icnt_xbar_payload(const struct icnt_xbar *x, uint32_t node, uint32_t i) {
  const struct output *k = &x->out[node - x->first_out];
  return k->ring[(k->pop + i) & k->mask].payload;
}

bool icnt_xbar_bound(const struct icnt_xbar *x, uint32_t node, uint64_t now, uint32_t *dst) {
  const struct input *s = &x->in[node - x->first_in];
  bool held = s->len && s->tail >= now;
  if (!held && s->front == s->end) return false;
  *dst = x->first_out + (held ? s->to : s->ring[s->front & s->mask].to);
  return true;
}

/* A step in which an injection buffer sends is not idle. */
uint32_t icnt_xbar_quiet(const struct icnt_xbar *x, uint64_t now) {
  for (uint32_t w = 0; w < x->z.in_words; w++)
    for (uint64_t m = x->unsent[w]; m; m &= m - 1) {
      const struct input *s = &x->in[w * 64 + (uint32_t)__builtin_ctzll(m)];
      uint32_t left = waiting(x, s, now);
      if (!left) x->unsent[w] &= ~(m & -m);
      else if (waiting(x, s, now + 1) != left) return 0;
    }
  for (uint32_t k = 0; k < x->z.slots; k++)
    if (icnt_xbar_due(x, now + k)) return k;
  return UINT32_MAX;
}

/* ---- construction ---- */

/* A buffer holds what a flit there and its credit back take. When a packet is granted, all credits of the packets
 * before it but the last are back: so it is on channels of up to two steps. */
bool icnt_xbar_fits(const struct layout *l) {
  return !l->mesh && l->vcs == 1 && l->wire <= 2 && l->vc_buf >= 2 * l->wire + 1;
}

static uint32_t power_of_two(uint32_t n) {
  return n < 2 ? 1 : (UINT32_MAX >> __builtin_clz(n - 1)) + 1;
}

struct icnt_xbar *icnt_xbar_new(struct icnt *n, bool up_net) {
  struct arena *a = &n->mem;
  const struct layout *l = &n->l;
  struct icnt_xbar *x = ARENA_NEW(a, struct icnt_xbar);
  uint32_t mems = l->nodes - l->sms, ins = up_net ? l->sms : mems, outs = up_net ? mems : l->sms;
  uint32_t longest = l->boundary_flits < l->inject_flits ? l->boundary_flits : l->inject_flits;
  *x = (struct icnt_xbar){.buffer = l->vc_buf,
                          .inject_flits = l->inject_flits,
                          .boundary_flits = l->boundary_flits,
                          .flit_bytes = up_net ? l->flit_bytes : l->reply_bytes,
                          .wire = l->wire,
                          .gap = l->gap,
                          .first_in = up_net ? 0 : l->sms,
                          .first_out = up_net ? l->sms : 0,
                          .z = {.slots = power_of_two(longest + l->vc_buf + 16),
                                .in_words = (ins + 63) / 64,
                                .out_words = (outs + 63) / 64},
                          .w_mask = power_of_two(2 * longest + l->vc_buf) - 1,
                          .x_mask = power_of_two(l->vc_buf) - 1,
                          .room = n->room + (up_net ? 0 : l->sms),
                          .ready = n->ready + (up_net ? l->sm_words : 0),
                          .sent = up_net ? n->sent : NULL};
  if (x->z.slots < SLOTS_LEAST) x->z.slots = SLOTS_LEAST;
  x->in = ARENA_ARRAY(a, struct input, ins);
  for (uint32_t i = 0; i < ins; i++) { /* waiting, and what the credits let out of the injection buffer */
    x->in[i].mask = power_of_two(l->inject_flits + l->vc_buf) - 1;
    x->in[i].ring = ARENA_ARRAY(a, struct queued, x->in[i].mask + 1);
  }
  x->out = ARENA_ARRAY(a, struct output, outs);
  for (uint32_t o = 0; o < outs; o++) { /* boundary buffer, what the credits let out of the router, the holder's */
    x->out[o].mask = power_of_two(l->boundary_flits + l->vc_buf + 1) - 1;
    x->out[o].ring = ARENA_ARRAY(a, struct arrived, x->out[o].mask + 1);
    x->out[o].w_at = ARENA_ARRAY(a, uint64_t, x->w_mask + 1);
    x->out[o].x_at = ARENA_ARRAY(a, uint64_t, x->x_mask + 1);
  }
  x->asks = ARENA_ARRAY(a, uint64_t, outs * x->z.in_words);
  x->unsent = ARENA_ARRAY(a, uint64_t, x->z.in_words);
  x->due = ARENA_ARRAY(a, uint64_t, x->z.slots / 64);
  x->whole = ARENA_ARRAY(a, uint64_t, x->z.slots * x->z.out_words);
  x->roomy = ARENA_ARRAY(a, uint64_t, x->z.slots * x->z.in_words);
  x->ask = ARENA_ARRAY(a, uint16_t, x->z.slots);
  x->free = ARENA_ARRAY(a, uint16_t, x->z.slots);
  x->try = ARENA_ARRAY(a, uint16_t, outs);
  return x;
}

uint32_t icnt_xbar_granted_to(const struct icnt_xbar *x, uint32_t out) {
  return x->out[out].pointer ? x->out[out].pointer - 1u : 0;
}

void icnt_xbar_granted_last(struct icnt_xbar *x, uint32_t out, uint32_t in) {
  x->out[out].pointer = (uint16_t)(in + 1);
}
