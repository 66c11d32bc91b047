/* test_icnt_stages.c - the interconnect against a slow model that walks through the router stage by stage.
 *
 * The model here shares no code and no idea with src/gpu/icnt*.c: every register of every channel exists, allocators
 * work on whole request matrices, nothing is skipped. Random traffic with back pressure at the receivers goes through
 * both; every packet has to come out of both in the same cycle, and both have to refuse the same pushes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "gpu/icnt/icnt.h"

/* ---- a queue of anything small ---- */
struct fl {
  uint32_t payload; /* 0: no flit */
  int dst, head, tail, vc;
};
struct queue {
  struct fl *f;
  int n, cap;
};
static void put(struct queue *q, struct fl f) {
  if (q->n == q->cap) q->f = realloc(q->f, sizeof *q->f * (size_t)(q->cap = q->cap * 2 + 4));
  q->f[q->n++] = f;
}
static struct fl take(struct queue *q) {
  struct fl f = q->f[0];
  memmove(q->f, q->f + 1, sizeof *q->f * (size_t)--q->n);
  return f;
}

/* ---- channels: written in one step, readable `wire` steps later ---- */
enum { MODEL_WIRE = 6 };
struct flit_wire {
  struct fl in, mid[MODEL_WIRE], out;
};
struct credit_wire {
  int in, mid[MODEL_WIRE], out; /* sets of VCs */
};

/* ---- iSLIP on a matrix ---- */
struct islip {
  int ins, outs, *gptr, *aptr, *in_match, *out_match, *grant;
  char *req, *asked, *granted; /* matrix; outputs with any request, inputs with any grant */
};
static struct islip islip_new(int ins, int outs) {
  struct islip a = {.ins = ins, .outs = outs};
  a.gptr = calloc((size_t)outs, sizeof(int));
  a.aptr = calloc((size_t)ins, sizeof(int));
  a.in_match = calloc((size_t)ins, sizeof(int));
  a.out_match = calloc((size_t)outs, sizeof(int));
  a.grant = calloc((size_t)outs, sizeof(int));
  a.req = calloc((size_t)(ins * outs), 1);
  a.asked = calloc((size_t)outs, 1);
  a.granted = calloc((size_t)ins, 1);
  return a;
}
static void islip_clear(struct islip *a) {
  memset(a->req, 0, (size_t)(a->ins * a->outs));
  memset(a->asked, 0, (size_t)a->outs);
}
static void islip_ask(struct islip *a, int in, int out) {
  a->req[in * a->outs + out] = a->asked[out] = 1;
}
static void islip_free(struct islip *a) {
  free(a->gptr), free(a->aptr), free(a->in_match), free(a->out_match), free(a->grant), free(a->req), free(a->asked);
  free(a->granted);
}
static void islip_run(struct islip *a, int iterations) {
  for (int i = 0; i < a->ins; i++) a->in_match[i] = -1;
  for (int o = 0; o < a->outs; o++) a->out_match[o] = -1;
  for (int it = 0; it < iterations; it++) {
    memset(a->granted, 0, (size_t)a->ins);
    for (int o = 0; o < a->outs; o++) {
      a->grant[o] = -1;
      for (int k = 0; k < a->ins && a->asked[o] && a->out_match[o] < 0 && a->grant[o] < 0; k++) {
        int i = (a->gptr[o] + k) % a->ins;
        if (a->req[i * a->outs + o] && a->in_match[i] < 0) a->grant[o] = i, a->granted[i] = 1;
      }
    }
    for (int i = 0; i < a->ins; i++) {
      for (int k = 0; k < a->outs && a->granted[i] && a->in_match[i] < 0; k++) {
        int o = (a->aptr[i] + k) % a->outs;
        if (a->grant[o] != i) continue;
        a->in_match[i] = o;
        a->out_match[o] = i;
        if (it == 0) a->gptr[o] = (i + 1) % a->ins, a->aptr[i] = (o + 1) % a->outs;
      }
    }
  }
}

/* ---- router ---- */
enum { IDLE, WANTS_VC, HAS_VC };
struct router {
  struct queue *buf;         /* per input VC */
  int *state, *out, *out_vc; /* per input VC */
  int *busy, *used;          /* per output VC: owner or -1, places taken downstream */
  struct islip va, sa;
  int *label, *rotation;          /* VC that requests (expanded input, output); per expanded input */
  struct fl *crossbar, *outgoing; /* per output: in the crossbar, in the output buffer */
  int *credit_out;                /* per input: set of VCs freed in this step */
  struct flit_wire **from, **to;  /* channels of the ports; NULL at the border */
  struct credit_wire **credit_to, **credit_from;
};
struct model_net {
  struct router *r;
  struct flit_wire *wires;
  struct credit_wire *credits;
  int n_wires;
  struct queue *source;      /* per node: flits waiting to be injected */
  int *used, *last_vc, *cur; /* per node * vcs: places taken in the router; rotation; VC of the packet being sent */
  struct queue *ejection, *boundary, *owed;
  int *whole, *turn;
};
struct model {
  int sms, nodes, vcs, buf, speedup, iterations, inject_flits, boundary_flits, flit, wire, mesh, columns, routers,
      radix;
  int *place; /* node -> router in the mesh */
  struct model_net net[2];
};

static void model_wires(struct model *m, struct model_net *t) {
  t->n_wires = 2 * m->nodes + m->routers * m->radix;
  t->wires = calloc((size_t)t->n_wires, sizeof *t->wires);
  t->credits = calloc((size_t)t->n_wires, sizeof *t->credits);
  int used = 0;
  for (int n = 0; n < m->nodes; n++) {
    struct router *r = &t->r[m->mesh ? m->place[n] : 0];
    int port = m->mesh ? 4 : n;
    r->from[port] = &t->wires[n], r->credit_to[port] = &t->credits[n];
    r->to[port] = &t->wires[m->nodes + n], r->credit_from[port] = &t->credits[m->nodes + n];
  }
  used = 2 * m->nodes;
  for (int a = 0; m->mesh && a < m->routers; a++) {
    int x = a % m->columns, y = a / m->columns, rows = m->routers / m->columns;
    int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1}, other[4] = {1, 0, 3, 2};
    for (int d = 0; d < 4; d++) {
      int bx = x + dx[d], by = y + dy[d];
      if (bx < 0 || by < 0 || bx >= m->columns || by >= rows) continue;
      struct router *b = &t->r[by * m->columns + bx];
      t->r[a].to[d] = b->from[other[d]] = &t->wires[used];
      t->r[a].credit_from[d] = b->credit_to[other[d]] = &t->credits[used];
      used++;
    }
  }
}

static void model_net_new(struct model *m, struct model_net *t) {
  size_t in = (size_t)(m->radix * m->vcs), exp = (size_t)(m->radix * m->speedup), radix = (size_t)m->radix;
  t->r = calloc((size_t)m->routers, sizeof *t->r);
  for (int k = 0; k < m->routers; k++) {
    struct router *r = &t->r[k];
    r->buf = calloc(in, sizeof *r->buf);
    r->state = calloc(in, sizeof(int)), r->out = calloc(in, sizeof(int)), r->out_vc = calloc(in, sizeof(int));
    r->busy = malloc(in * sizeof(int)), r->used = calloc(in, sizeof(int));
    for (size_t i = 0; i < in; i++) r->busy[i] = -1;
    r->va = islip_new((int)in, (int)in);
    r->sa = islip_new((int)exp, m->radix);
    r->label = calloc(exp * radix, sizeof(int));
    r->rotation = calloc(exp, sizeof(int));
    for (int e = 0; e < (int)exp; e++) r->rotation[e] = e % m->speedup;
    r->crossbar = calloc(radix, sizeof *r->crossbar), r->outgoing = calloc(radix, sizeof *r->outgoing);
    r->credit_out = calloc(radix, sizeof(int));
    r->from = calloc(radix, sizeof *r->from), r->to = calloc(radix, sizeof *r->to);
    r->credit_to = calloc(radix, sizeof *r->credit_to), r->credit_from = calloc(radix, sizeof *r->credit_from);
  }
  model_wires(m, t);
  size_t nv = (size_t)(m->nodes * m->vcs), nn = (size_t)m->nodes;
  t->source = calloc(nn, sizeof *t->source);
  t->used = calloc(nv, sizeof(int)), t->last_vc = malloc(nn * sizeof(int)), t->cur = malloc(nn * sizeof(int));
  for (size_t i = 0; i < nn; i++) t->last_vc[i] = t->cur[i] = -1;
  t->ejection = calloc(nv, sizeof *t->ejection), t->boundary = calloc(nv, sizeof *t->boundary);
  t->owed = calloc(nn, sizeof *t->owed);
  t->whole = calloc(nv, sizeof(int)), t->turn = calloc(nn, sizeof(int));
}

static struct model *model_new(const struct gpu_config *c, int nodes) {
  struct model *m = calloc(1, sizeof *m);
  *m = (struct model){.sms = (int)c->sms,
                      .nodes = nodes,
                      .vcs = (int)c->icnt_vcs,
                      .buf = (int)c->icnt_vc_buf,
                      .speedup = (int)c->icnt_speedup,
                      .iterations = (int)c->icnt_islip,
                      .inject_flits = (int)c->icnt_in_buf,
                      .boundary_flits = (int)c->icnt_bnd_buf,
                      .flit = (int)c->icnt_flit,
                      .wire = (int)c->icnt_wire,
                      .mesh = c->icnt_kind == ICNT_MESH,
                      .routers = 1,
                      .radix = nodes};
  if (m->mesh) {
    while (m->columns * m->columns < nodes) m->columns++;
    m->routers = (nodes + m->columns - 1) / m->columns * m->columns;
    m->radix = 5;
    m->place = malloc(sizeof(int) * (size_t)nodes);
    int mems = nodes - m->sms, at = 0;
    char *taken = calloc((size_t)nodes, 1);
    for (int j = 0; j < mems; j++) {
      m->place[m->sms + j] = (2 * j + 1) * nodes / (2 * mems);
      taken[m->place[m->sms + j]] = 1;
    }
    for (int s = 0; s < m->sms; s++, at++) {
      while (taken[at]) at++;
      m->place[s] = at;
    }
    free(taken);
  }
  for (int k = 0; k < 2; k++) model_net_new(m, &m->net[k]);
  return m;
}

static void queues_free(struct queue *q, int n) {
  for (int i = 0; i < n; i++) free(q[i].f);
  free(q);
}
static void model_free(struct model *m) {
  for (int k = 0; k < 2; k++) {
    struct model_net *t = &m->net[k];
    for (int i = 0; i < m->routers; i++) {
      struct router *r = &t->r[i];
      queues_free(r->buf, m->radix * m->vcs);
      free(r->state), free(r->out), free(r->out_vc), free(r->busy), free(r->used), free(r->label), free(r->rotation);
      free(r->crossbar), free(r->outgoing), free(r->credit_out);
      free(r->from), free(r->to), free(r->credit_to), free(r->credit_from);
      islip_free(&r->va), islip_free(&r->sa);
    }
    queues_free(t->source, m->nodes), queues_free(t->owed, m->nodes);
    queues_free(t->ejection, m->nodes * m->vcs), queues_free(t->boundary, m->nodes * m->vcs);
    free(t->r), free(t->wires), free(t->credits), free(t->used), free(t->last_vc), free(t->cur), free(t->whole);
    free(t->turn);
  }
  free(m->place);
  free(m);
}

static int model_route(const struct model *m, int router, int dst) {
  if (!m->mesh) return dst;
  int d = m->place[dst], x = router % m->columns, y = router / m->columns, tx = d % m->columns, ty = d / m->columns;
  return x < tx ? 0 : x > tx ? 1 : y < ty ? 2 : y > ty ? 3 : 4;
}

static void router_step(struct model *m, struct router *r, int id, const struct fl *arrived, const int *credited) {
  int in = m->radix * m->vcs, V = m->vcs, S = m->speedup;
  /* buffer write, credits */
  for (int p = 0; p < m->radix; p++) {
    if (arrived[p].payload) {
      int i = p * V + arrived[p].vc;
      put(&r->buf[i], arrived[p]);
      assert_true(r->buf[i].n <= m->buf);
      if (r->state[i] == IDLE) r->state[i] = WANTS_VC;
    }
    for (int v = 0; v < V; v++)
      if (credited[p] >> v & 1) r->used[p * V + v]--;
  }
  /* VC allocation decides */
  islip_clear(&r->va);
  for (int i = 0; i < in; i++) {
    if (r->state[i] != WANTS_VC) continue;
    r->out[i] = model_route(m, id, r->buf[i].f[0].dst);
    for (int v = 0; v < V; v++)
      if (r->busy[r->out[i] * V + v] < 0) islip_ask(&r->va, i, r->out[i] * V + v);
  }
  islip_run(&r->va, m->iterations);
  /* switch allocation decides */
  islip_clear(&r->sa);
  for (int i = 0; i < in; i++) {
    if (r->state[i] != HAS_VC || !r->buf[i].n || r->used[r->out[i] * V + r->out_vc[i]] >= m->buf) continue;
    int p = i / V, v = i % V, e = p * S + v % S, o = r->out[i], *label = &r->label[e * m->radix + o];
    int at = r->rotation[e];
    if (r->sa.req[e * m->radix + o] && (*label - at + V) % V <= (v - at + V) % V) continue;
    islip_ask(&r->sa, e, o);
    *label = v;
  }
  islip_run(&r->sa, m->iterations);
  /* switch traversal of what won in the step before */
  for (int o = 0; o < m->radix; o++) {
    r->outgoing[o] = r->crossbar[o];
    r->crossbar[o].payload = 0;
    r->credit_out[o] = 0;
  }
  /* both allocators take effect */
  for (int i = 0; i < in; i++) {
    int o = r->va.in_match[i];
    if (o < 0) continue;
    r->busy[o] = i;
    r->out_vc[i] = o % V;
    r->state[i] = HAS_VC;
  }
  for (int e = 0; e < m->radix * S; e++) {
    int o = r->sa.in_match[e];
    if (o < 0) continue;
    int v = r->label[e * m->radix + o], i = e / S * V + v;
    r->rotation[e] = (v + S) % V;
    struct fl f = take(&r->buf[i]);
    f.vc = r->out_vc[i];
    assert_int_equal(r->crossbar[o].payload, 0);
    r->crossbar[o] = f;
    r->used[o * V + f.vc]++;
    r->credit_out[e / S] |= 1 << v;
    if (!f.tail) continue;
    r->busy[o * V + f.vc] = -1;
    r->state[i] = r->buf[i].n ? WANTS_VC : IDLE;
  }
}

static void net_step(struct model *m, struct model_net *t) {
  int V = m->vcs;
  int *ejected = malloc(sizeof(int) * (size_t)m->nodes);
  for (int n = 0; n < m->nodes; n++) {
    struct fl f = t->wires[m->nodes + n].out;
    if (f.payload) put(&t->ejection[n * V + f.vc], f);
    for (int v = 0; v < V; v++) {
      int k = n * V + v;
      if (!t->ejection[k].n || t->boundary[k].n >= m->boundary_flits) continue;
      f = take(&t->ejection[k]);
      put(&t->boundary[k], f);
      t->whole[k] += f.tail;
      put(&t->owed[n], f);
    }
    ejected[n] = t->owed[n].n ? 1 << take(&t->owed[n]).vc : 0;
    for (int v = 0; v < V; v++)
      if (t->credits[n].out >> v & 1) t->used[n * V + v]--;
  }
  struct fl *arrived = calloc((size_t)(m->routers * m->radix), sizeof *arrived);
  int *credited = calloc((size_t)(m->routers * m->radix), sizeof *credited);
  for (int k = 0; k < m->routers * m->radix; k++) {
    struct router *r = &t->r[k / m->radix];
    int p = k % m->radix;
    if (r->from[p]) arrived[k] = r->from[p]->out;
    if (r->credit_from[p]) credited[k] = r->credit_from[p]->out;
  }
  for (int k = 0; k < t->n_wires; k++) {
    struct flit_wire *f = &t->wires[k];
    struct credit_wire *c = &t->credits[k];
    for (int d = m->wire - 2; d > 0; d--) f->mid[d] = f->mid[d - 1], c->mid[d] = c->mid[d - 1];
    f->mid[0] = f->in, c->mid[0] = c->in;
    f->in.payload = 0, c->in = 0;
  }
  for (int n = 0; n < m->nodes; n++) {
    if (!t->source[n].n) continue;
    if (t->source[n].f[0].head && t->cur[n] < 0) {
      for (int k = 1; k <= V && t->cur[n] < 0; k++) {
        int v = (t->last_vc[n] + k) % V;
        if (t->used[n * V + v] < m->buf) t->cur[n] = t->last_vc[n] = v;
      }
    }
    int v = t->cur[n];
    if (v < 0 || t->used[n * V + v] >= m->buf) continue;
    struct fl f = take(&t->source[n]);
    f.vc = v;
    t->used[n * V + v]++;
    if (f.tail) t->cur[n] = -1;
    t->wires[n].in = f;
  }
  for (int n = 0; n < m->nodes; n++) t->credits[m->nodes + n].in = ejected[n];
  for (int k = 0; k < m->routers; k++) router_step(m, &t->r[k], k, arrived + k * m->radix, credited + k * m->radix);
  for (int k = 0; k < t->n_wires; k++) {
    if (m->wire < 2) break;
    t->wires[k].out = t->wires[k].mid[m->wire - 2];
    t->wires[k].mid[m->wire - 2].payload = 0;
    t->credits[k].out = t->credits[k].mid[m->wire - 2];
    t->credits[k].mid[m->wire - 2] = 0;
  }
  for (int k = 0; k < m->routers * m->radix; k++) {
    struct router *r = &t->r[k / m->radix];
    int p = k % m->radix;
    if (r->outgoing[p].payload) r->to[p]->in = r->outgoing[p];
    if (r->credit_out[p]) r->credit_to[p]->in = r->credit_out[p];
  }
  for (int k = 0; k < t->n_wires && m->wire == 1; k++) {
    t->wires[k].out = t->wires[k].in, t->credits[k].out = t->credits[k].in;
    t->wires[k].in.payload = 0, t->credits[k].in = 0;
  }
  free(ejected), free(arrived), free(credited);
}

static void model_push(struct model *m, int src, int dst, uint32_t payload, int bytes) {
  struct model_net *t = &m->net[src < m->sms ? 0 : 1];
  int flits = (bytes + m->flit - 1) / m->flit;
  for (int k = 0; k < flits; k++)
    put(&t->source[src], (struct fl){.payload = payload, .dst = dst, .head = k == 0, .tail = k == flits - 1});
}
static bool model_can_push(const struct model *m, int src, int bytes) {
  return m->net[src < m->sms ? 0 : 1].source[src].n + (bytes + m->flit - 1) / m->flit <= m->inject_flits;
}
static uint32_t model_pop(struct model *m, int node) {
  struct model_net *t = &m->net[node < m->sms ? 1 : 0];
  for (int k = 0, v = t->turn[node]; k < m->vcs; k++, v = (v + 1) % m->vcs) {
    int i = node * m->vcs + v;
    if (!t->whole[i]) continue;
    struct fl f;
    do f = take(&t->boundary[i]);
    while (!f.tail);
    t->whole[i]--;
    t->turn[node] = (v + 1) % m->vcs;
    return f.payload;
  }
  return 0;
}

/* ---- the comparison ---- */
struct traffic {
  int cycles;
  uint32_t push, pop; /* per node and cycle, out of 1000 */
  int hot;            /* share of packets to one node, out of 1000 */
  int bytes[2];       /* most bytes of a packet, by net */
};

static void config(struct gpu_config *c, enum gpu_icnt kind, uint32_t sms, uint32_t vcs) {
  *c = (struct gpu_config){.sms = sms,
                           .icnt_kind = kind,
                           .icnt_wire = 2,
                           .icnt_flit = 32,
                           .icnt_vcs = vcs,
                           .icnt_vc_buf = 8,
                           .icnt_in_buf = 256,
                           .icnt_ej_buf = 64,
                           .icnt_bnd_buf = 64,
                           .icnt_islip = 1,
                           .icnt_speedup = 2};
}

/* What a node refused a packet knows: bytes of the packet that it awaits room for; the first cycle that can have it. */
struct refused {
  int bytes;
  uint64_t until;
};

/* An SM that awaits room for a packet is notified in the cycle in which there is room, or earlier. */
static void check_reported(struct icnt *n, const struct model *m, struct refused *r) {
  uint64_t *sent = icnt_sent(n);
  for (int node = 0; sent && node < m->sms; node++) {
    bool told = sent[node / 64] >> (node % 64) & 1, can = r[node].bytes && model_can_push(m, node, r[node].bytes);
    if (can) assert_true(icnt_now(n) >= r[node].until);
    if (can && !told) fail_msg("node %d is not told of room for %d B", node, r[node].bytes);
    sent[node / 64] &= ~(1ull << (node % 64));
    if (can) r[node].bytes = 0;
    else if (told && r[node].bytes) icnt_await(n, (uint32_t)node, (uint32_t)r[node].bytes);
  }
}

static void offer(struct icnt *n, struct model *m, struct rng *g, const struct traffic *w, int node, uint32_t *next,
                  struct refused *r) {
  if (rng_below(g, 1000) >= w->push) return;
  bool sm = node < m->sms;
  int peers = sm ? m->nodes - m->sms : m->sms, first = sm ? m->sms : 0;
  int dst = first + ((int)rng_below(g, 1000) < w->hot ? 0 : (int)rng_below(g, (uint32_t)peers));
  int bytes = 1 + (int)rng_below(g, (uint32_t)w->bytes[!sm]);
  bool can = model_can_push(m, node, bytes);
  uint32_t steps = icnt_steps_to_room(n, (uint32_t)node, (uint32_t)bytes);
  assert_int_equal(can, steps == 0);
  assert_int_equal(can, icnt_can_push(n, (uint32_t)node, (uint32_t)bytes));
  assert_int_equal(m->net[!sm].source[node].n, icnt_waiting(n, (uint32_t)node));
  if (!can && sm && icnt_sent(n)) {
    r[node] = (struct refused){.bytes = bytes, .until = icnt_now(n) + steps};
    icnt_await(n, (uint32_t)node, (uint32_t)bytes);
  }
  if (!can) return;
  r[node].bytes = 0;
  model_push(m, node, dst, *next, bytes);
  icnt_push(n, (uint32_t)node, (uint32_t)dst, (*next)++, (uint32_t)bytes);
}

static uint64_t compare(const struct gpu_config *c, int nodes, const struct traffic *w, uint64_t seed) {
  struct icnt *n = icnt_new(c, (uint32_t)nodes);
  struct model *m = model_new(c, nodes);
  struct rng g = rng_seed(seed);
  uint32_t next = 1;
  uint64_t popped = 0;
  struct refused *refused = calloc((size_t)nodes, sizeof *refused);
  for (int cycle = 0; cycle < w->cycles || popped < next - 1; cycle++) {
    bool drain = cycle >= w->cycles;
    assert_true(cycle < w->cycles * 40);
    for (int node = 0; node < nodes; node++) {
      if (!drain && rng_below(&g, 1000) >= w->pop) continue;
      uint32_t peek = icnt_peek(n, (uint32_t)node), a = icnt_pop(n, (uint32_t)node), b = model_pop(m, node);
      if (a != b) fail_msg("cycle %d node %d: packet %u, the model says %u", cycle, node, a, b);
      assert_int_equal(peek, a);
      popped += a != 0;
    }
    for (int node = (int)c->sms; node < nodes && !drain; node++) offer(n, m, &g, w, node, &next, refused);
    icnt_step(n);
    for (int k = 0; k < 2; k++) net_step(m, &m->net[k]);
    check_reported(n, m, refused);
    for (int node = 0; node < (int)c->sms && !drain; node++) offer(n, m, &g, w, node, &next, refused);
  }
  assert_int_equal(popped, next - 1);
  free(refused);
  model_free(m);
  icnt_free(n);
  return popped;
}

/* Light, heavy, hot-spot, and receivers that hardly take anything. */
static const struct traffic patterns[] = {
    {.cycles = 3000, .push = 10, .pop = 1000, .hot = 0, .bytes = {136, 136}},
    {.cycles = 1500, .push = 500, .pop = 1000, .hot = 0, .bytes = {40, 136}},
    {.cycles = 1500, .push = 200, .pop = 700, .hot = 600, .bytes = {136, 136}},
    {.cycles = 1500, .push = 300, .pop = 60, .hot = 300, .bytes = {136, 136}},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* Matrices grow with the square of the virtual channels: fewer cycles there. */
static void run_all(const struct gpu_config *c, int nodes, uint64_t seed) {
  for (int p = 0; p < PATTERNS; p++) {
    struct traffic w = patterns[p];
    w.cycles /= (int)(c->icnt_vcs > 1 ? 2 * c->icnt_vcs : 1);
    assert_true(compare(c, nodes, &w, seed + (uint64_t)p) > 10);
  }
}

static void crossbar_of_the_fermi_machine(void **state) {
  (void)state;
  struct gpu_config c;
  config(&c, ICNT_CROSSBAR, 15, 1);
  for (uint64_t seed = 1; seed <= 3; seed++) run_all(&c, 27, seed * 100);
  c.icnt_in_buf = 9; /* as in configs/fermi.yaml */
  c.icnt_ej_buf = 8;
  c.icnt_bnd_buf = 16;
  for (uint64_t seed = 4; seed <= 6; seed++) run_all(&c, 27, seed * 100);
}

static void crossbar_with_several_virtual_channels(void **state) {
  (void)state;
  for (uint32_t vcs = 2; vcs <= 5; vcs++)
    for (uint32_t speedup = 1 + vcs % 2; speedup <= 3; speedup += 2) {
      struct gpu_config c;
      config(&c, ICNT_CROSSBAR, 6, vcs);
      c.icnt_speedup = speedup;
      c.icnt_islip = 1 + vcs % 3;
      run_all(&c, 10, vcs * 1000 + speedup);
    }
}

static void crossbar_with_small_buffers(void **state) {
  (void)state;
  struct gpu_config c;
  config(&c, ICNT_CROSSBAR, 5, 1);
  c.icnt_in_buf = 7;
  c.icnt_bnd_buf = 5;
  for (c.icnt_vc_buf = 1; c.icnt_vc_buf <= 6; c.icnt_vc_buf++)
    for (c.icnt_vcs = 1; c.icnt_vcs <= 2; c.icnt_vcs++) run_all(&c, 8, c.icnt_vc_buf * 10 + c.icnt_vcs);
}

/* Packets of up to 34 flits, more than half of a boundary buffer and more than counters of four bits hold; of up to
 * 136.
 */
static void crossbar_with_narrow_flits(void **state) {
  (void)state;
  struct gpu_config c;
  for (uint32_t vcs = 1; vcs <= 2; vcs++) {
    config(&c, ICNT_CROSSBAR, 6, vcs);
    c.icnt_flit = 4;
    run_all(&c, 11, 500 + vcs);
    c.icnt_bnd_buf = 34;
    c.icnt_in_buf = 40;
    c.icnt_vc_buf = 17;
    run_all(&c, 11, 600 + vcs);
    c.icnt_flit = 1;
    c.icnt_bnd_buf = 200;
    c.icnt_in_buf = 150;
    run_all(&c, 11, 700 + vcs);
  }
}

/* More than 64 ports: sets of several words; 90 * 2 expanded inputs. */
static void crossbar_of_many_nodes(void **state) {
  (void)state;
  struct gpu_config c;
  struct traffic w = {.cycles = 150, .push = 300, .pop = 900, .hot = 100, .bytes = {136, 136}};
  config(&c, ICNT_CROSSBAR, 70, 1);
  assert_true(compare(&c, 150, &w, 7) > 300);
  c.icnt_in_buf = 9;
  c.icnt_ej_buf = 8;
  c.icnt_bnd_buf = 16;
  for (int nodes = 82; nodes <= 150; nodes += 34) assert_true(compare(&c, nodes, &w, 7 + (uint64_t)nodes) > 300);
  config(&c, ICNT_CROSSBAR, 130, 1);
  c.icnt_in_buf = 9;
  c.icnt_bnd_buf = 16;
  w.pop = 100;
  assert_true(compare(&c, 142, &w, 9) > 300);
  config(&c, ICNT_CROSSBAR, 50, 2);
  assert_true(compare(&c, 90, &w, 8) > 300);
}

static void mesh(void **state) {
  (void)state;
  struct gpu_config c;
  config(&c, ICNT_MESH, 15, 1);
  run_all(&c, 27, 11);
  run_all(&c, 21, 12);
  config(&c, ICNT_MESH, 3, 2);
  run_all(&c, 5, 13);
  config(&c, ICNT_MESH, 28, 4);
  c.icnt_islip = 2;
  c.icnt_vc_buf = 3;
  run_all(&c, 36, 14);
}

/* Channels of one step and of many, in each of the networks; buffers above and below a round trip. */
static void channels_of_every_length(void **state) {
  (void)state;
  struct gpu_config c;
  for (uint32_t wire = 1; wire <= MODEL_WIRE; wire++) {
    if (wire == 2) continue; /* as above */
    config(&c, ICNT_CROSSBAR, 6, 1);
    c.icnt_wire = wire;
    run_all(&c, 10, 800 + wire);
    c.icnt_vc_buf = 2 * wire + 1;
    run_all(&c, 10, 810 + wire);
    config(&c, ICNT_CROSSBAR, 6, 2);
    c.icnt_wire = wire;
    run_all(&c, 10, 820 + wire);
    config(&c, ICNT_MESH, 6, 1 + wire % 2);
    c.icnt_wire = wire;
    run_all(&c, 10, 830 + wire);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crossbar_of_the_fermi_machine), cmocka_unit_test(crossbar_with_several_virtual_channels),
      cmocka_unit_test(crossbar_with_small_buffers),   cmocka_unit_test(crossbar_of_many_nodes),
      cmocka_unit_test(crossbar_with_narrow_flits),    cmocka_unit_test(mesh),
      cmocka_unit_test(channels_of_every_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
