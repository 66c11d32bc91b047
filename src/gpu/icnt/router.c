/* router.c - the input-queued router with several virtual channels: buffers, VC allocation, switch allocation.
 *
 * Pipeline of a flit that enters an empty input buffer in step t: VC allocation in t (heads only), switch allocation
 * in t + 1, switch traversal in t + 2, link in t + 3, at the other end in t + 4. A packet holds its output VC until
 * its tail has won the switch; the VC can be given to the next packet in the step after. Both allocators are iSLIP
 * (McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", 1999): an output grants round-robin, an input
 * accepts round-robin, pointers move past an accepted match of the first iteration only. planes.c handles one VC.
 */
#include "gpu/icnt/icnt_impl.h"

#include <string.h>

/* The first member at or after `from`, cyclically, of a non-empty set of `words` words. */
static uint32_t first_from(const uint64_t *set, uint32_t words, uint32_t from) {
  uint32_t w = from >> 6;
  if (w >= words) w = 0, from = 0;
  uint64_t m = set[w] & (~(uint64_t)0 << (from & 63));
  for (uint32_t i = 0; !m && i < words; i++) {
    if (++w == words) w = 0;
    m = set[w];
  }
  return w * 64 + (uint32_t)__builtin_ctzll(m);
}

static struct flit *front(const struct net *t, uint32_t i) {
  return &t->buf[i * t->l->vc_buf + t->in[i].head];
}

/* The packet whose head is at the front of `i` requests a VC of its output. */
static void request_vc(struct net *t, uint32_t i) {
  const struct layout *l = t->l;
  uint32_t in_port = i / l->vcs, o = l->route[l->router[in_port] * l->nodes + front(t, i)->dst];
  uint32_t local = i - l->base[in_port] * l->vcs;
  t->in[i].state = IVC_VC_ALLOC;
  t->in[i].out = (uint16_t)o;
  t->req[o * l->req_words + (local >> 6)] |= (uint64_t)1 << (local & 63);
  t->req_count[o]++;
  if (t->free_vcs[o]) bits_set(&t->go_vc, o);
}

static void receive(struct net *t, struct slot *s) {
  const struct layout *l = t->l;
  for (uint32_t k = 0; k < s->n_to_router; k++) {
    uint32_t i = s->to_router[k].to;
    struct ivc *v = &t->in[i];
    CHECK(v->count < l->vc_buf, "interconnect: input buffer %u overflows", i);
    uint32_t tail = v->head + v->count;
    if (tail >= l->vc_buf) tail -= l->vc_buf;
    t->buf[i * l->vc_buf + tail] = s->to_router[k].f;
    if (v->count++) continue;
    if (v->state == IVC_IDLE) request_vc(t, i);
    else if (t->out[v->ovc].credits) bits_set(&t->go_switch, v->ovc);
  }
  for (uint32_t k = 0; k < s->n_credit_router; k++) {
    struct ovc *o = &t->out[s->credit_router[k]];
    if (o->credits++ == 0 && o->holder != ICNT_NONE && t->in[o->holder].count)
      bits_set(&t->go_switch, s->credit_router[k]);
  }
}

/* VC allocation, decided before switch allocation frees anything, applied after it. Each free VC of an output grants
 * one asking ivc, each ivc accepts one of the VCs granted to it. */
static uint32_t grant(struct net *t) {
  const struct layout *l = t->l;
  uint32_t n = 0, size = l->radix * l->vcs;
  BITS_EACH(&t->go_vc, o) {
    uint32_t first = n, base = l->base[o] * l->vcs, free = t->free_vcs[o];
    uint64_t asking[l->req_words];
    memcpy(asking, &t->req[o * l->req_words], sizeof asking);
    for (uint32_t it = 0; it < l->iterations && free; it++) {
      uint32_t who[8], left = 0;
      for (uint32_t w = 0; w < l->req_words; w++) left |= asking[w] != 0;
      if (!left) break;
      for (uint32_t v = 0; v < l->vcs; v++)
        who[v] = free >> v & 1 ? first_from(asking, l->req_words, t->out[o * l->vcs + v].grant) : ICNT_NONE;
      for (uint32_t v = 0; v < l->vcs; v++) {
        uint32_t i = who[v];
        if (i == ICNT_NONE || !(asking[i >> 6] >> (i & 63) & 1)) continue;
        /* Of all VCs that granted i, the first from its accept pointer. */
        uint32_t best = v, best_d = ICNT_NONE, at = t->sa.vc_accept[base + i];
        for (uint32_t u = v; u < l->vcs; u++) {
          uint32_t d = ((o - l->base[o]) * l->vcs + u + size - at) % size;
          if (who[u] == i && d < best_d) best = u, best_d = d;
        }
        uint32_t oc = o * l->vcs + best;
        asking[i >> 6] &= ~((uint64_t)1 << (i & 63));
        free &= ~(1u << best);
        if (it == 0) {
          t->out[oc].grant = (uint16_t)((i + 1) % size);
          t->sa.vc_accept[base + i] = (uint16_t)(((o - l->base[o]) * l->vcs + best + 1) % size);
        }
        t->granted[n++] = oc;
        t->granted[n++] = base + i;
      }
    }
    CHECK(n > first, "interconnect: output %u has a request and a free VC but grants nothing", o);
  }
  return n;
}

static void take_vcs(struct net *t, uint32_t n) {
  const struct layout *l = t->l;
  for (uint32_t k = 0; k < n; k += 2) {
    uint32_t oc = t->granted[k], i = t->granted[k + 1], o = oc / l->vcs, local = i - l->base[o] * l->vcs;
    struct ovc *ov = &t->out[oc];
    ov->holder = (uint16_t)i;
    t->in[i].ovc = (uint16_t)oc;
    t->in[i].state = IVC_ACTIVE;
    t->req[o * l->req_words + (local >> 6)] &= ~((uint64_t)1 << (local & 63));
    t->req_count[o]--;
    t->free_vcs[o] &= (uint8_t) ~(1u << oc % l->vcs);
    if (!t->free_vcs[o] || !t->req_count[o]) bits_clear(&t->go_vc, o);
    if (ov->credits) bits_set(&t->go_switch, oc);
  }
}

/* The flit at the front of the holder of `oc` has won the switch. */
static void send(struct net *t, uint32_t oc, uint64_t now) {
  const struct layout *l = t->l;
  struct ovc *ov = &t->out[oc];
  uint32_t i = ov->holder, o = oc / l->vcs, vc = oc % l->vcs, in_port = i / l->vcs;
  struct ivc *v = &t->in[i];
  struct flit f = *front(t, i);
  if (++v->head == l->vc_buf) v->head = 0;
  v->count--;
  ov->credits--;
  struct slot *s = &t->slot[(now + l->wire + 1) & (ICNT_SLOTS - 1)];
  if (l->port_node[o] != ICNT_NONE)
    s->to_node[s->n_to_node++] = (struct wire_flit){.to = l->port_node[o] * l->vcs + vc, .f = f};
  else s->to_router[s->n_to_router++] = (struct wire_flit){.to = l->peer[o] * l->vcs + vc, .f = f};
  s = &t->slot[(now + l->wire) & (ICNT_SLOTS - 1)];
  if (l->port_node[in_port] != ICNT_NONE)
    s->credit_node[s->n_credit_node++] = l->port_node[in_port] * l->vcs + i % l->vcs;
  else s->credit_router[s->n_credit_router++] = l->peer[in_port] * l->vcs + i % l->vcs;
  t->on_wire += 2;
  if (f.meta & ICNT_TAIL) {
    ov->holder = ICNT_NONE;
    t->free_vcs[o] |= (uint8_t)(1u << vc);
    if (t->req_count[o]) bits_set(&t->go_vc, o);
    v->state = IVC_IDLE;
    bits_clear(&t->go_switch, oc);
    if (v->count) request_vc(t, i);
  } else if (!v->count || !ov->credits) {
    bits_clear(&t->go_switch, oc);
  }
}

/* The VC of expanded input `e` that requests port `o`: the first from the input's rotation (which steps by the
 * speed-up so that it stays on the VCs of this expanded input). */
static uint32_t asking_vc(const struct net *t, uint32_t in_port, uint32_t half, uint32_t o) {
  const struct layout *l = t->l;
  uint32_t best = ICNT_NONE, best_d = ICNT_NONE, at = t->sa.vc_offset[in_port * l->speedup + half];
  for (uint32_t v = half; v < l->vcs; v += l->speedup) {
    const struct ivc *x = &t->in[in_port * l->vcs + v];
    uint32_t d = (v + l->vcs - at) % l->vcs;
    if (x->state == IVC_ACTIVE && x->count && x->out == o && t->out[x->ovc].credits && d < best_d) best = v, best_d = d;
  }
  return best;
}

static void switch_flits(struct net *t, uint64_t now) {
  const struct layout *l = t->l;
  struct switch_alloc *a = &t->sa;
  uint32_t size = l->radix * l->speedup; /* expanded inputs of a router */
  BITS_EACH(&t->go_switch, oc) {
    uint32_t i = t->out[oc].holder, o = oc / l->vcs, e = i / l->vcs * l->speedup + i % l->vcs % l->speedup;
    uint32_t local = e - l->base[o] * l->speedup;
    a->req[o * a->words + (local >> 6)] |= (uint64_t)1 << (local & 63);
    bits_set(&a->outs, o);
  }
  uint32_t n = 0;
  for (uint32_t it = 0; it < l->iterations; it++) {
    BITS_EACH(&a->outs, o) {
      if (a->out_matched[o]) continue;
      uint64_t asking[a->words], any = 0;
      for (uint32_t w = 0; w < a->words; w++) {
        asking[w] = a->req[o * a->words + w];
        for (uint64_t m = it ? asking[w] : 0; m; m &= m - 1) {
          uint32_t b = (uint32_t)__builtin_ctzll(m);
          if (a->match[l->base[o] * l->speedup + w * 64 + b] != ICNT_NONE) asking[w] &= ~((uint64_t)1 << b);
        }
        any |= asking[w];
      }
      if (!any) continue;
      uint32_t e = l->base[o] * l->speedup + first_from(asking, a->words, a->grant[o]), at = a->accept[e];
      uint32_t d = (o - l->base[o] + l->radix - at) % l->radix;
      if (a->best[e] == ICNT_NONE || d < (a->best[e] - l->base[o] + l->radix - at) % l->radix) a->best[e] = (uint16_t)o;
      bits_set(&a->ins, e);
    }
    BITS_EACH(&a->ins, e) {
      uint32_t o = a->best[e];
      a->best[e] = ICNT_NONE;
      bits_clear(&a->ins, e);
      a->match[e] = (uint16_t)o;
      a->out_matched[o] = true;
      if (it == 0) {
        a->grant[o] = (uint16_t)((e % size + 1) % size);
        a->accept[e] = (uint16_t)((o - l->base[o] + 1) % l->radix);
      }
      t->granted[n++] = e;
    }
  }
  BITS_EACH(&a->outs, o) {
    memset(&a->req[o * a->words], 0, a->words * sizeof *a->req);
    a->out_matched[o] = false;
    bits_clear(&a->outs, o);
  }
  /* A send affects the requests of other VCs of the same input only through the VC sent: select all, then send. */
  for (uint32_t k = 0; k < n; k++) {
    uint32_t e = t->granted[k], in_port = e / l->speedup, v = asking_vc(t, in_port, e % l->speedup, a->match[e]);
    CHECK(v != ICNT_NONE, "interconnect: expanded input %u granted without a request", e);
    a->vc_offset[e] = (uint16_t)((v + l->speedup) % l->vcs);
    a->match[e] = ICNT_NONE;
    send(t, t->in[in_port * l->vcs + v].ovc, now);
  }
}

void icnt_router_step(struct net *t, uint64_t now) {
  receive(t, &t->slot[now & (ICNT_SLOTS - 1)]);
  uint32_t n = grant(t), *vc_grants = t->granted;
  t->granted += n;
  switch_flits(t, now);
  t->granted = vc_grants;
  take_vcs(t, n);
}

static void bits_new(struct arena *a, struct bits *b, uint32_t n) {
  uint32_t words = (n + 63) / 64;
  b->nsum = (words + 63) / 64;
  b->w = ARENA_ARRAY(a, uint64_t, words);
  b->sum = ARENA_ARRAY(a, uint64_t, b->nsum);
}

static void slots_new(struct arena *a, struct net *t) {
  const struct layout *l = t->l;
  uint32_t sends = l->speedup < l->vcs ? l->speedup : l->vcs; /* flits an input can send in a step */
  for (int s = 0; s < ICNT_SLOTS; s++) {
    t->slot[s].to_router = ARENA_ARRAY(a, struct wire_flit, l->ports + l->nodes);
    t->slot[s].to_node = ARENA_ARRAY(a, struct wire_flit, l->nodes);
    t->slot[s].credit_router = ARENA_ARRAY(a, uint32_t, l->ports * sends + l->nodes);
    t->slot[s].credit_node = ARENA_ARRAY(a, uint32_t, l->nodes * sends);
  }
}

void icnt_router_new(struct icnt *n, struct net *t) {
  struct arena *a = &n->mem;
  const struct layout *l = &n->l;
  uint32_t vcs = l->ports * l->vcs, expanded = l->ports * l->speedup;
  t->l = l;
  t->in = ARENA_ARRAY(a, struct ivc, vcs);
  t->out = ARENA_ARRAY(a, struct ovc, vcs);
  t->buf = ARENA_ARRAY(a, struct flit, vcs * l->vc_buf);
  t->req = ARENA_ARRAY(a, uint64_t, l->ports * l->req_words);
  t->req_count = ARENA_ARRAY(a, uint16_t, l->ports);
  t->free_vcs = ARENA_ARRAY(a, uint8_t, l->ports);
  t->granted = ARENA_ARRAY(a, uint32_t, 2 * vcs + expanded);
  for (uint32_t o = 0; o < l->ports; o++) t->free_vcs[o] = (uint8_t)((1u << l->vcs) - 1);
  for (uint32_t o = 0; o < vcs; o++) t->out[o] = (struct ovc){.holder = ICNT_NONE, .credits = (uint16_t)l->vc_buf};
  bits_new(a, &t->go_inject, l->nodes);
  bits_new(a, &t->go_eject, l->nodes);
  bits_new(a, &t->go_vc, l->ports);
  bits_new(a, &t->go_switch, vcs);
  slots_new(a, t);
  struct switch_alloc *sa = &t->sa;
  sa->words = (l->radix * l->speedup + 63) / 64;
  sa->grant = ARENA_ARRAY(a, uint16_t, l->ports);
  sa->accept = ARENA_ARRAY(a, uint16_t, expanded);
  sa->vc_offset = ARENA_ARRAY(a, uint16_t, expanded);
  sa->vc_accept = ARENA_ARRAY(a, uint16_t, vcs);
  sa->req = ARENA_ARRAY(a, uint64_t, l->ports * sa->words);
  sa->best = ARENA_ARRAY(a, uint16_t, expanded);
  sa->match = ARENA_ARRAY(a, uint16_t, expanded);
  sa->out_matched = ARENA_ARRAY(a, bool, l->ports);
  bits_new(a, &sa->outs, l->ports);
  bits_new(a, &sa->ins, expanded);
  for (uint32_t e = 0; e < expanded; e++) {
    sa->best[e] = sa->match[e] = ICNT_NONE;
    sa->vc_offset[e] = (uint16_t)(e % l->speedup % l->vcs);
  }
}
