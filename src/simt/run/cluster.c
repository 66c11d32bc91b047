/* cluster.c - clusters of CTAs (sm_90): members, distributed shared memory, barrier.
 *
 * A CTA's own shared memory starts at 0; that of the CTA with rank k of its cluster at (k + 1) << CLUSTER_SHIFT, both
 * in shared addresses and in the generic window. So an ordinary access needs no extra test: a remote address is
 * outside the CTA's memory and reaches access.c, which calls this file. (PTX ISA 8.0, "State Spaces: Shared" and
 * "Parallel Synchronization: barrier.cluster".)
 *
 * A launch without clusters has implicit clusters of one CTA, as PTX defines.
 */
#include <stdlib.h>
#include <string.h>

#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"

#define EACH(mask) \
  for (uint32_t left_ = (mask), i = 0; left_ && (i = (uint32_t)__builtin_ctz(left_), 1); left_ &= left_ - 1)

/* ---- who belongs together ---- */

/* CTAs are numbered cluster by cluster, so the CTAs of a cluster start together; within a cluster, and clusters within
 * the grid, x is fastest. With clusters of one CTA this is the usual order. */
static void place_cta(const struct simt_run *r, struct cta *c) {
  const uint32_t *g = r->fk.grid, *d = r->launch.cluster;
  uint32_t size = r->fk.cluster, q = c->id / size, k = c->id % size;
  uint32_t nx = g[0] / d[0], ny = g[1] / d[1];
  c->rank = k;
  c->ctaid[0] = q % nx * d[0] + k % d[0];
  c->ctaid[1] = q / nx % ny * d[1] + k / d[0] % d[1];
  c->ctaid[2] = q / nx / ny * d[2] + k / d[0] / d[1];
}

static struct cluster *join_cluster(struct simt_run *r, const struct cta *c) {
  struct cluster *unused = NULL;
  uint32_t id = c->id / r->fk.cluster;
  if (r->fk.cluster == 1) unused = &r->clusters[c->slot];
  for (uint32_t i = 0; i < r->slots && r->fk.cluster > 1; i++) {
    struct cluster *k = &r->clusters[i];
    if (k->used && k->id == id) return k;
    if (!k->used && !unused) unused = k;
  }
  CHECK(unused, "more clusters than CTA slots");
  *unused = (struct cluster){.used = true, .id = id, .live_warps = r->fk.cluster * r->fk.warps_per_cta};
  return unused;
}

void cluster_start_cta(struct simt_run *r, struct cta *c) {
  place_cta(r, c);
  c->cluster = join_cluster(r, c);
  c->cluster->cta[c->rank] = c;
  c->cluster_waiting = 0;
}

void cluster_end_cta(struct simt_run *r, struct cta *c) {
  c->cluster->cta[c->rank] = NULL;
  if (++c->cluster->ended == r->fk.cluster) c->cluster->used = false;
}

/* ---- addresses ---- */

char *cluster_shared(struct exec *x, const struct xop *o, int lane, uint64_t *addr, const char **why) {
  uint64_t k = (*addr >> CLUSTER_SHIFT) - 1;
  struct simt_run *r = x->run;
  if (k >= r->fk.cluster) {
    *why = "its cluster has no CTA of that rank";
    return NULL;
  }
  struct cta *c = x->cta->cluster->cta[k];
  if (!c) {
    *why = "the CTA of that rank has not begun or has ended: barrier.cluster (cluster.sync()) before and after";
    return NULL;
  }
  (void)o;
  *addr &= (UINT64_C(1) << CLUSTER_SHIFT) - 1;
  if (c != x->cta) x->out->remote |= 1u << lane;
  return c->shared;
}

static uint64_t cluster_operand(struct exec *x, uint32_t off, bool wide, uint32_t i) {
  return wide ? OPND(uint64_t, off)[i] : OPND(uint32_t, off)[i];
}

/* mapa d, a, k: the address in the CTA of rank k that corresponds to a in this one. */
static void x_mapa(struct exec *x, const struct xop *o, uint32_t mask) {
  const uint64_t ranks = WINDOW_BYTES - (UINT64_C(1) << CLUSTER_SHIFT);
  bool wide = o->flags & XF_DST64;
  EACH(mask) {
    uint64_t a = cluster_operand(x, o->a, wide, i) & ~ranks, k = OPND(uint32_t, o->b)[i];
    a |= (k + 1) << CLUSTER_SHIFT & ranks;
    if (wide) OPND(uint64_t, o->d)[i] = a;
    else OPND(uint32_t, o->d)[i] = (uint32_t)a;
  }
}

static void x_getctarank(struct exec *x, const struct xop *o, uint32_t mask) {
  EACH(mask) {
    uint64_t k = cluster_operand(x, o->a, o->flags & XF_SRC64, i) % WINDOW_BYTES >> CLUSTER_SHIFT;
    OPND(uint32_t, o->d)[i] = k ? (uint32_t)k - 1 : x->cta->rank;
  }
}

bool lower_mapa(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  bool wide = ptx_type_bytes[i->types[0]] == 8, rank = i->op == OP_GETCTARANK;
  if (i->nops != (rank ? 2 : 3) || i->ops[0].kind != OK_REG)
    return LOWER_ERROR(l, i, "%s takes %s operands", ptx_form(l->m->ptx, i), rank ? "two" : "three");
  o->d = lower_operand(l, &i->ops[0], rank ? T_U32 : i->types[0]);
  if (i->ops[1].kind == OK_VAR) {
    uint64_t at = i->ops[1].var->def->addr + (uint64_t)i->ops[1].imm;
    o->a = lower_const(l->m, at, wide ? 8 : 4);
  } else {
    o->a = lower_operand(l, &i->ops[1], i->types[0]);
  }
  if (!rank) o->b = lower_operand(l, &i->ops[2], T_U32);
  if (o->a == OFF_NONE || (!rank && o->b == OFF_NONE)) return lower_refuse(l, i, "this operand");
  if (wide) o->flags |= rank ? XF_SRC64 : XF_DST64;
  o->id = rank ? X_getctarank : X_mapa;
  return true;
}

/* ---- special registers ---- */

uint32_t cluster_register(const struct exec *x, enum ptx_sreg s) {
  const struct simt_run *r = x->run;
  const struct cta *c = x->cta;
  const uint32_t *g = r->fk.grid, *d = r->launch.cluster;
  switch (s) {
  case SR_CLUSTERID_X:
  case SR_CLUSTERID_Y:
  case SR_CLUSTERID_Z:
    return c->ctaid[s - SR_CLUSTERID_X] / d[s - SR_CLUSTERID_X];
  case SR_NCLUSTERID_X:
  case SR_NCLUSTERID_Y:
  case SR_NCLUSTERID_Z:
    return g[s - SR_NCLUSTERID_X] / d[s - SR_NCLUSTERID_X];
  case SR_CLUSTER_CTAID_X:
  case SR_CLUSTER_CTAID_Y:
  case SR_CLUSTER_CTAID_Z:
    return c->ctaid[s - SR_CLUSTER_CTAID_X] % d[s - SR_CLUSTER_CTAID_X];
  case SR_CLUSTER_NCTAID_X:
  case SR_CLUSTER_NCTAID_Y:
  case SR_CLUSTER_NCTAID_Z:
    return d[s - SR_CLUSTER_NCTAID_X];
  case SR_CLUSTER_CTARANK:
    return c->rank;
  case SR_CLUSTER_NCTARANK:
    return r->fk.cluster;
  default:
    return r->launch.in_clusters;
  }
}

/* ---- the barrier ---- */

/* All remaining warps have arrived: the next phase begins and waiting warps of every CTA continue. */
static void try_complete(struct exec *x, struct cluster *k) {
  if (!k->live_warps || k->arrived < k->live_warps) return;
  k->arrived = 0;
  k->phase++;
  if (x->run->check) check_cluster_met(x, k);
  for (uint32_t n = 0; n < x->run->fk.cluster; n++) {
    struct cta *c = k->cta[n];
    if (!c || !c->cluster_waiting) continue;
    for (uint64_t left = c->cluster_waiting; left; left &= left - 1) c->warps[__builtin_ctzll(left)].waiting = 0;
    if (c == x->cta) x->out->released |= c->cluster_waiting;
    else x->out->peer[x->out->peers++] = (struct feed_peer){.slot = c->slot, .warps = c->cluster_waiting};
    c->cluster_waiting = 0;
  }
}

/* barrier.cluster.arrive: counts a warp when all its lanes have arrived, together or path by path. */
static void arrive(struct exec *x, uint32_t mask) {
  struct warp *w = x->w;
  struct cluster *k = x->cta->cluster;
  w->cluster_lanes |= mask;
  if (w->live & ~w->cluster_lanes || w->cluster_arrived == k->phase + 1) return;
  w->cluster_lanes = 0;
  w->cluster_arrived = k->phase + 1;
  k->arrived++;
  try_complete(x, k);
}

/* barrier.cluster.wait: for the phase that the warp arrived in. */
static void wait(struct exec *x, const struct xop *o) {
  struct warp *w = x->w;
  struct cta *c = x->cta;
  if (w->cluster_arrived && w->cluster_arrived <= c->cluster->phase) return;
  c->cluster_waiting |= 1ull << w->index;
  w->waiting = 1;
  w->bar = CLUSTER_BARRIER;
  w->bar_pc = (uint32_t)(o - x->ops);
  x->out->waits = true;
}

void cluster_barrier(struct exec *x, const struct xop *o, uint32_t mask) {
  x->e->pc++;
  if (!mask) return;
  if (o->sub == CLUSTER_ARRIVE) arrive(x, mask);
  else wait(x, o);
}

void cluster_warp_done(struct exec *x) {
  struct cluster *k = x->cta->cluster;
  if (x->w->cluster_arrived == k->phase + 1) k->arrived--;
  k->live_warps--;
  try_complete(x, k);
}

void simt_cluster_handlers(xop_fn *table) {
  table[X_mapa] = x_mapa;
  table[X_getctarank] = x_getctarank;
}
