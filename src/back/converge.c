/* converge.c - where lanes that took different ways meet again: BSSY saves a barrier's lanes before they part, BSYNC
 * waits for them (Volta and later).
 */
#include <string.h>

#include "back/back_impl.h"

static bool differs(const struct back *k, const struct node *n) { /* between the lanes of a warp */
  const struct ptx_inst *i = n->in;
  for (uint32_t u = 0; u < n->nuse; u++)
    if (k->r[n->use[u]].lanes) return true;
  for (uint32_t q = 0; q < i->nops; q++)
    if (i->ops[q].kind == OK_SREG && (i->ops[q].sreg <= SR_TID_Z || i->ops[q].sreg == SR_LANEID)) return true;
  uint8_t kind = ptx_ops[i->op].kind;
  return kind == KIND_ATOM || (kind == KIND_LOAD && n->order);
}

/* ---- post-dominators (as dominators, facts.c, of the reversed graph) ---- */

struct posts {
  uint32_t
      *order; /* by block, and of the exit, number nb: place in a reverse postorder; UINT32_MAX: no way leads out */
  uint32_t *ipdom; /* the exit: NODE_NONE or nb */
};

static uint32_t reverse_order(struct back *k, const uint32_t *pred, const uint32_t *at, uint32_t *order,
                              uint32_t *rpo) {
  uint32_t *stack = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1),
           *next = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1);
  uint32_t sp = 0, n = k->nb + 1;
  for (uint32_t q = 0; q <= k->nb; q++) order[q] = UINT32_MAX;
  for (uint32_t e = 0; e < k->nb; e++) {
    if (back_successors(k, e) || order[e] != UINT32_MAX) continue;
    stack[sp++] = e;
    order[e] = 0; /* met */
    while (sp) {
      uint32_t q = stack[sp - 1];
      if (at[q] + next[q] < at[q + 1]) {
        uint32_t p = pred[at[q] + next[q]++];
        if (order[p] == UINT32_MAX) order[p] = 0, stack[sp++] = p;
      } else {
        rpo[--n] = q;
        sp--;
      }
    }
  }
  rpo[--n] = k->nb;
  for (uint32_t i = n; i <= k->nb; i++) order[rpo[i]] = i;
  return n;
}

static uint32_t common(const struct posts *p, uint32_t x, uint32_t y) {
  while (x != y) {
    while (p->order[x] > p->order[y]) x = p->ipdom[x];
    while (p->order[y] > p->order[x]) y = p->ipdom[y];
  }
  return x;
}

static struct posts post_dominators(struct back *k) {
  struct posts p = {ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1), ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1)};
  uint32_t *rpo = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1), *at;
  uint32_t *pred = back_predecessors(k, &at), first = reverse_order(k, pred, at, p.order, rpo);
  for (uint32_t q = 0; q < k->nb; q++) p.ipdom[q] = NODE_NONE;
  p.ipdom[k->nb] = k->nb;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = first + 1; i <= k->nb; i++) {
      uint32_t q = rpo[i], n = back_successors(k, q), best = n ? NODE_NONE : k->nb;
      for (uint32_t s = 0; s < n; s++) {
        uint32_t t = back_successor(k, q, s);
        if (p.ipdom[t] == NODE_NONE) continue;
        best = best == NODE_NONE ? t : common(&p, best, t);
      }
      if (best != p.ipdom[q]) p.ipdom[q] = best, changed = true;
    }
  }
  return p;
}

/* ---- barriers ---- */

static void find_lanes(struct back *k) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++)
      for (uint32_t d = 0; d < k->n[i].ndef; d++) {
        struct fact *r = &k->r[k->n[i].def[d]];
        if (!r->lanes && differs(k, &k->n[i])) r->lanes = changed = true;
      }
  }
}

static void find_landings(struct back *k) {
  uint32_t *at, *pred = back_predecessors(k, &at);
  for (uint32_t q = 0; q < k->nb; q++) {
    bool only = at[q] < at[q + 1];
    for (uint32_t p = at[q]; p < at[q + 1]; p++) only &= k->n[k->b[pred[p]].end - 1].in->op == OP_BRX;
    k->b[q].lands = only;
  }
}

/* An outer barrier at the same place serves the branches within. */
static bool covered(const struct back *k, const uint32_t *from, uint32_t before, uint32_t to, uint32_t q) {
  for (uint32_t p = 0; p < before; p++)
    if (from[p] == to && p != q && back_dominates(k, p, q)) return true;
  return false;
}

/* Lanes that a branch may part meet where all ways from it do; those of a loop that they may leave at different times
 * behind it. */
void back_converge(struct back *k) {
  find_lanes(k);
  find_landings(k);
  back_dominators(k);
  struct posts p = post_dominators(k);
  uint32_t *from = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1); /* by block: where the barrier that it begins ends */
  for (uint32_t q = 0; q < k->nb; q++) from[q] = NODE_NONE;
  for (uint32_t q = 0; q < k->nb; q++) {
    const struct ptx_inst *i = k->n[k->b[q].end - 1].in;
    const struct ptx_reg *by = i->op == OP_BRX ? i->ops[0].reg : i->op == OP_BRA ? i->guard : NULL;
    if (!by || ptx_has(i, M_UNI) || !k->r[by->num].lanes) continue;
    uint32_t to = i->op == OP_BRX ? q + 1 : k->n[i->target].block, end = p.ipdom[q], begin = q;
    if (end == NODE_NONE || end == k->nb || back_only_leaves(k, &k->b[end])) continue;
    if (to <= q) { /* a loop: before it */
      begin = k->b[to].order == UINT32_MAX || !to ? NODE_NONE : k->b[to].idom;
      if (begin == NODE_NONE || begin >= to) continue;
    }
    if (covered(k, from, k->nb, end, begin)) continue;
    if (begin != q && from[begin] == end) continue;
    from[begin] = end;
    k->b[begin].parts++;
    k->b[end].meets++;
  }
}
