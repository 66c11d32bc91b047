/* net.c - see net.h. The lookups that packets make are in net.inc. */
#include "gpu/l1/net.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/l1/l1.h"
#include "gpu/observe/observe.h"
#include "gpu/state/port.h"

enum { PORTS_MAX = 4 };

struct packet {
  req_id id;
  uint32_t to;
  uint64_t at; /* when it was put here; when it arrives */
};
struct packets { /* ring of l1net.queue */
  struct packet *at;
  uint32_t head, count;
};
/* Of an SM in one crossbar. */
struct net_end {
  struct packets out, in;
  uint64_t out_free[PORTS_MAX], in_free[PORTS_MAX]; /* first cycle in which a port is free */
};
struct net_store {
  struct l1_event e;
  struct access acc;
};

struct l1_net {
  struct slot_instance *of;
  const struct l1_place *place;
  uint32_t size, ports; /* of a ring; ports in use */
  struct net_end *end[2];
  req_id *asked, *back, *back_last; /* by SM: a miss to be asked about, and those that no other L1 has (chained) */
  struct net_store *store;          /* of this cycle: one for each SM at most */
  uint32_t stores;
  uint64_t fenced[GPU_SM_WORDS];
  struct l1_away *away;
  uint32_t aways, free; /* index + 1 */
};

void l1_net_init(struct gpu *g) {
  const struct gpu_config *c = &g->config;
  if (!g->slots.n_place) return;
  struct l1_net *n = g->l1net = mem_zeroed(1, sizeof *n);
  n->of = &g->slots.at[g->slots.place[0]];
  n->place = n->of->scheme->place;
  n->size = c->l1net_queue;
  n->ports = c->l1net_ports;
  for (uint32_t k = 0; k < 2; k++) {
    n->end[k] = mem_zeroed(c->sms, sizeof *n->end[k]);
    for (uint32_t i = 0; i < c->sms; i++) {
      n->end[k][i].out.at = mem_zeroed(n->size, sizeof(struct packet));
      n->end[k][i].in.at = mem_zeroed(n->size, sizeof(struct packet));
    }
  }
  n->asked = mem_zeroed(c->sms, sizeof *n->asked);
  n->back = mem_zeroed(c->sms, sizeof *n->back);
  n->back_last = mem_zeroed(c->sms, sizeof *n->back_last);
  n->store = mem_zeroed(c->sms, sizeof *n->store);
}

void l1_net_destroy(struct gpu *g) {
  struct l1_net *n = g->l1net;
  if (!n) return;
  for (uint32_t k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < g->config.sms; i++) free(n->end[k][i].out.at), free(n->end[k][i].in.at);
    free(n->end[k]);
  }
  free(n->asked);
  free(n->back);
  free(n->back_last);
  free(n->store);
  free(n->away);
  free(n);
}

/* ---- packets ---- */

static struct net_end *end_of(const struct sm *s, enum l1_crossbar net) {
  return &s->g->l1net->end[net][s->id];
}

static struct packet *push_packet(const struct l1_net *n, struct packets *p) {
  return &p->at[(p->head + p->count++) % n->size];
}

static void pop_packet(const struct l1_net *n, struct packets *p) {
  p->head = (p->head + 1) % n->size;
  p->count--;
}

bool l1_net_room(const struct sm *s, enum l1_crossbar net) {
  return end_of(s, net)->out.count < s->g->l1net->size;
}

void l1_net_put(struct sm *s, enum l1_crossbar net, req_id id, uint32_t to) {
  CHECK(l1_net_room(s, net) && to < s->c->sms, "SM %u: a packet for the L1 of SM %u", s->id, to);
  *push_packet(s->g->l1net, &end_of(s, net)->out) = (struct packet){id, to, s->g->now};
  s->g->l1_moving++;
}

req_id l1_net_arrived(const struct sm *s, enum l1_crossbar net) {
  const struct packets *in = &end_of(s, net)->in;
  return in->count && in->at[in->head].at <= s->g->now ? in->at[in->head].id : 0;
}

void l1_net_take(struct sm *s, enum l1_crossbar net) {
  pop_packet(s->g->l1net, &end_of(s, net)->in);
  s->g->l1_moving--;
}

static uint64_t *idle_port(const struct l1_net *n, uint64_t *until, uint64_t now) {
  for (uint32_t i = 0; i < n->ports; i++)
    if (until[i] <= now) return &until[i];
  return NULL;
}

/* Something that the SM waits for has changed. */
static void rouse(struct sm *s) {
  s->memory_look = true;
  gpu_wake_sm(s->g, s->id);
}

/* The oldest packet of an SM leaves, if the ports are free and the receiver has a place. */
static void try_packet(struct gpu *g, enum l1_crossbar net, uint32_t from) {
  struct l1_net *n = g->l1net;
  struct net_end *src = &n->end[net][from];
  if (!src->out.count) return;
  struct packet p = src->out.at[src->out.head];
  struct net_end *dst = &n->end[net][p.to];
  uint64_t *out = idle_port(n, src->out_free, g->now), *in = idle_port(n, dst->in_free, g->now);
  if (!out || !in || dst->in.count == n->size) return;
  const struct req *r = &g->pool.at[p.id];
  bool refused = r->token == NET_REFUSED;
  uint32_t bytes = net == NET_ASK ? req_up_bytes(r) : refused ? REQ_HEADER_BYTES : req_down_bytes(r);
  uint32_t flits = quotient_up(bytes, g->config.l1net_bytes);
  *out = *in = g->now + flits;
  struct gpu_stats *st = g->sm[from].st;
  st->net_packets++;
  st->net_flits += flits;
  st->net_wait_sum += g->now - p.at;
  st->net_wait_count++;
  pop_packet(n, &src->out);
  p.at = g->now + g->config.l1net_latency + flits - 1;
  if (net == NET_ASK && r->token == NET_LOOK) p.at += g->config.l1d_latency; /* it does not pass the L1's own pipe */
  *push_packet(n, &dst->in) = p;
  rouse(&g->sm[from]);
}

static void move_packets(struct gpu *g, enum l1_crossbar net) {
  const uint32_t sms = g->config.sms, first = (uint32_t)(g->now % sms);
  for (uint32_t k = 0; k < g->l1net->ports; k++)
    for (uint32_t i = 0; i < sms; i++) try_packet(g, net, ring_at(first + i, sms));
  for (uint32_t i = 0; i < sms; i++) {
    const struct packets *in = &g->l1net->end[net][i].in;
    if (in->count && in->at[in->head].at <= g->now + 1) rouse(&g->sm[i]);
  }
}

/* ---- stores and fences ---- */

void l1_net_stored(struct sm *s, op_id op, const struct access *a) {
  struct l1_net *n = s->g->l1net;
  if (!n->place->peer || !n->place->reads) return; /* no L1 but that of the access has the line */
  if (s->op[op].space == SPACE_LOCAL) return;
  n->store[n->stores++] = (struct net_store){l1_event_of_access(s, &s->op[op], a, l1_event_set(s, a->addr)), *a};
  s->g->l1_moving++;
}

void l1_net_fenced(struct sm *s) {
  struct l1_net *n = s->g->l1net;
  uint64_t bit = 1ull << s->id % 64;
  if (!n->place->reads || n->fenced[s->id / 64] & bit) return;
  n->fenced[s->id / 64] |= bit;
  s->g->l1_moving++;
}

/* Evict the line of a store from the L1 of another SM. */
static void evict_stored(struct sm *s, const struct net_store *w) {
  struct l1d *l = &s->l1d;
  struct l1_event e = w->e;
  e.sm = s->id;
  bool was = false;
  if (l->org) was = l1_org_drop_stored(s, &e, &w->acc);
  for (uint32_t b = e.set * l->ways, k = 0; !l->org && k < l->ways; k++) {
    if (l1_tags(l, b)[k] != e.line || l->state[b + k] != LINE_VALID) continue;
    l->state[b + k] = LINE_INVALID;
    if (l->prefetch) l1_prefetch_gone(s, e.line, PREFETCH_LEFT);
    if (s->g->observed.character) observe_line_end(s, b + k);
    was = true;
  }
  s->st->net_evictions += was;
  if (!was) return;
  l->refused = 0, l->probed = false;
  if (s->live) rouse(s);
}

static void reach_others(struct gpu *g) {
  struct l1_net *n = g->l1net;
  struct scheme_ctx *c = &n->of->ctx;
  for (uint32_t k = 0; k < n->stores; k++)
    for (uint32_t i = 0; i < g->config.sms; i++)
      if (i != n->store[k].e.sm && n->place->reads(c, n->store[k].e.sm, i)) evict_stored(&g->sm[i], &n->store[k]);
  g->l1_moving -= n->stores;
  n->stores = 0;
  for (uint32_t w = 0; w < g->sm_words; w++)
    for (uint64_t m = n->fenced[w]; m; m &= m - 1) {
      uint32_t from = w * 64 + (uint32_t)__builtin_ctzll(m);
      g->l1_moving--;
      for (uint32_t i = 0; i < g->config.sms; i++) {
        if (i == from || !n->place->reads(c, from, i)) continue;
        l1d_drop(&g->sm[i]);
        if (g->sm[i].live) rouse(&g->sm[i]);
      }
    }
  memset(n->fenced, 0, sizeof n->fenced);
}

/* ---- misses that other L1s may answer ---- */

bool l1_net_asks(const struct sm *s) {
  const struct l1_net *n = s->g->l1net;
  req_id id = reqq_top(&s->l1d.missq);
  if (!id || !n->place->peer) return false;
  const struct req *r = &s->g->pool.at[id];
  return r->type == REQ_GLOBAL_READ && !r->prefetch;
}

void l1_net_ask(struct sm *s) {
  s->g->l1net->asked[s->id] = reqq_pop(&s->l1d.missq);
  s->g->l1_moving++;
  s->st->net_asked++;
}

req_id l1_net_back(const struct sm *s) {
  return s->g->l1net->back[s->id];
}

void l1_net_back_push(struct sm *s, req_id id) {
  struct l1_net *n = s->g->l1net;
  s->g->pool.at[id].next = 0;
  if (n->back[s->id]) s->g->pool.at[n->back_last[s->id]].next = id;
  else n->back[s->id] = id;
  n->back_last[s->id] = id;
}

void l1_net_back_pop(struct sm *s) {
  struct l1_net *n = s->g->l1net;
  req_id id = n->back[s->id];
  n->back[s->id] = s->g->pool.at[id].next;
  s->g->pool.at[id].next = 0;
}

static void read_tags(struct gpu *g) {
  struct l1_net *n = g->l1net;
  for (uint32_t i = 0; i < g->config.sms; i++) {
    req_id id = n->asked[i];
    if (!id) continue;
    struct sm *s = &g->sm[i];
    const struct req *r = &g->pool.at[id];
    struct l1_event e = l1_event_of_fill(s, r, l1_event_set(s, r->addr));
    uint32_t to = n->place->peer(&n->of->ctx, &e);
    n->asked[i] = 0;
    g->l1_moving--;
    if (to == PLACE_NONE) l1_net_back_push(s, id);
    else l1_net_put(s, NET_ASK, id, to);
    rouse(s);
  }
}

bool gpu_l1_holds(struct gpu *g, const struct l1_event *e, uint32_t at) {
  struct l1d *l = &g->sm[at].l1d;
  struct l1_event there = *e;
  there.sm = at;
  if (l->org) return !(e->chunks & ~l->org->find(&l->org_of->ctx, &there));
  for (uint32_t b = e->set * l->ways, k = 0; k < l->ways; k++)
    if (l1_tags(l, b)[k] == e->line && l->state[b + k] >= LINE_VALID) return true;
  return false;
}

bool l1_net_look(struct sm *s, const struct req *r) {
  struct l1d *l = &s->l1d;
  struct l1_event e = l1_event_of_fill(s, r, l1_event_set(s, r->addr));
  e.from = r->sm;
  bool here = gpu_l1_holds(s->g, &e, s->id);
  s->st->net_lookups++;
  s->st->net_hits += here;
  s->st->net_misses += !here;
  s->st->net_answers += here;
  if (here && l->org) l->org->touch(&l->org_of->ctx, &e, e.chunks, L1_HIT);
  for (uint32_t b = e.set * l->ways, k = 0; here && !l->org && k < l->ways; k++)
    if (l1_tags(l, b)[k] == e.line && l->state[b + k] >= LINE_VALID) l1_used(l, b)[k] = s->g->now;
  return here;
}

/* ---- accesses of lines that live elsewhere ---- */

bool l1_net_away(struct sm *s, op_id op, const struct access *a, uint32_t *home) {
  const struct l1_place *p = s->g->l1net->place;
  if (!p->home) return false;
  struct l1_event e = l1_event_of_access(s, &s->op[op], a, l1_event_set(s, a->addr));
  *home = l1_net_home_of(s, &e);
  return p->decoupled || *home != s->id;
}

uint32_t l1_net_home_of(struct sm *s, const struct l1_event *e) {
  struct l1_net *n = s->g->l1net;
  return n->place->home ? n->place->home(&n->of->ctx, e) : s->id;
}

static uint32_t new_away(struct l1_net *n) {
  if (!n->free) {
    uint32_t more = n->aways ? 2 * n->aways : 64;
    n->away = realloc(n->away, more * sizeof *n->away);
    CHECK(n->away, "out of memory for %u accesses between L1s", more);
    for (uint32_t i = more; i > n->aways; i--) n->away[i - 1].next = n->free, n->free = i;
    n->aways = more;
  }
  uint32_t i = n->free;
  n->free = n->away[i - 1].next;
  return i;
}

const struct l1_away *l1_net_access(const struct gpu *g, const struct req *r) {
  return &g->l1net->away[r->token - 1];
}

void l1_net_send(struct sm *s, op_id op, const struct access *a, uint32_t home) {
  const struct op *o = &s->op[op];
  bool local = o->space == SPACE_LOCAL;
  req_id id = req_new(&s->g->pool); /* it does not go to the L2 */
  struct req *r = &s->g->pool.at[id];
  r->type = o->load ? (local ? REQ_LOCAL_READ : REQ_GLOBAL_READ) : (local ? REQ_LOCAL_WRITE : REQ_GLOBAL_WRITE);
  r->addr = a->addr;
  r->bytes = a->bytes;
  r->sm = (uint8_t)s->id;
  r->born = s->g->now;
  r->write = !o->load;
  sm_stamp(r, o, a);
  r->owner = op;
  r->bypass = o->load; /* the answer goes to the instruction */
  uint32_t i = new_away(s->g->l1net);
  s->g->l1net->away[i - 1] = (struct l1_away){.acc = *a, .uop = o->uop, .space = o->space};
  r->token = i;
  if (!o->load) s->w[o->warp].stores++, s->st->net_stores++;
  l1_net_put(s, NET_ASK, id, home);
}

static struct req *forget_away(struct sm *s, op_id op) {
  struct l1_net *n = s->g->l1net;
  struct req *r = &s->g->pool.at[s->op[op].token];
  n->away[r->token - 1].next = n->free;
  n->free = r->token;
  r->token = 0;
  return r;
}

void l1_net_answer(struct sm *s, op_id op) {
  const struct req *r = forget_away(s, op);
  l1_net_put(s, NET_ANSWER, s->op[op].token, r->sm);
}

void l1_net_forget(struct sm *s, op_id op) {
  forget_away(s, op);
  req_free(&s->g->pool, s->op[op].token);
}

struct sm *l1_net_origin(const struct sm *s, op_id op, op_id *there) {
  const struct req *r = &s->g->pool.at[s->op[op].token];
  *there = (op_id)r->owner;
  return &s->g->sm[r->sm];
}

/* ---- time ---- */

void l1_net_step(struct gpu *g) {
  reach_others(g);
  read_tags(g);
  move_packets(g, NET_ASK);
  move_packets(g, NET_ANSWER);
}

uint64_t l1_net_next(const struct gpu *g) {
  const struct l1_net *n = g->l1net;
  if (!n || !g->l1_moving) return UINT64_MAX;
  uint64_t next = UINT64_MAX;
  uint32_t in = 0;
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < g->config.sms; i++) {
      const struct packets *p = &n->end[k][i].in;
      in += p->count;
      if (p->count && p->at[p->head].at < next) next = p->at[p->head].at;
    }
  if (in < g->l1_moving) return g->now; /* something waits to leave */
  return next > g->now + 1 ? next - 1 : g->now;
}
