/* converge.c - where lanes that took different ways meet again: BSSY saves a barrier's lanes before they part, BSYNC
 * waits for them (Volta and later).
 */

#include "back/back_impl.h"

static bool of_lane(enum ptx_sreg r) {
  return r <= SR_TID_Z || r == SR_LANEID || (r >= SR_LANEMASK_EQ && r <= SR_LANEMASK_GT);
}

/* Results that all lanes of a warp share, whatever they give: votes, sums of a warp, the value of one known lane. */
static bool is_shared(const struct ptx_inst *i) {
  if (i->op == OP_SHFL) return ptx_has(i, M_IDX) && i->nops > 2 && i->ops[2].kind == OK_IMM;
  return i->op == OP_VOTE || i->op == OP_REDUX;
}

/* Does what it gives differ between the lanes of a warp? Loads from one address do not, but in local memory. */
static bool differs(const struct back *k, const struct node *n) {
  const struct ptx_inst *i = n->in;
  if (is_shared(i)) return false;
  for (uint32_t u = 0; u < n->nuse; u++)
    if (k->r[n->use[u]].lanes) return true;
  for (uint32_t q = 0; q < i->nops; q++)
    if (i->ops[q].kind == OK_SREG && of_lane(i->ops[q].sreg)) return true;
  uint8_t kind = ptx_ops[i->op].kind;
  return kind == KIND_ATOM || (kind == KIND_LOAD && n->order && n->space == SPACE_LOCAL);
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

static void find_landings(struct back *k, const struct graph *back) {
  for (uint32_t q = 0; q < k->nb; q++) {
    bool only = back->at[q] < back->at[q + 1];
    for (uint32_t p = back->at[q]; p < back->at[q + 1]; p++) only &= k->n[k->b[back->to[p]].end - 1].in->op == OP_BRX;
    k->b[q].lands = only;
  }
}

/* An outer barrier at the same place serves the branches within. */
static bool covered(const struct back *k, const uint32_t *from, uint32_t to, uint32_t q) {
  for (uint32_t p = 0; p < k->nb; p++)
    if (from[p] == to && p != q && back_dominates(k, p, q)) return true;
  return false;
}

/* The blocks between a branch that may part lanes and the place where they meet. */
static void mark_parted(struct back *k, uint32_t from, uint32_t end, uint32_t *stack, uint32_t *met) {
  uint32_t n = 0;
  stack[n++] = from;
  while (n) {
    uint32_t q = stack[--n];
    for (uint32_t s = 0; s < back_successors(k, q); s++) {
      uint32_t to = back_successor(k, q, s);
      if (to == end || to == k->nb || met[to] == from + 1) continue;
      met[to] = from + 1;
      k->b[to].parted = true;
      stack[n++] = to;
    }
  }
}

/* Lanes that a branch may part meet where all ways from it do; those of a loop that they may leave at different times
 * behind it. */
void back_converge(struct back *k) {
  struct graph ahead = back_graph(k), back = graph_reversed(&ahead, &k->scratch);
  struct dominators post = graph_dominators(&back, &ahead, k->nb, &k->scratch);
  find_lanes(k);
  find_landings(k, &back);
  back_dominators(k);
  uint32_t *from = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1); /* by block: where the barrier that it begins ends */
  uint32_t *stack = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1), *met = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1);
  for (uint32_t q = 0; q < k->nb; q++) from[q] = NODE_NONE;
  for (uint32_t q = 0; q < k->nb; q++) {
    const struct ptx_inst *i = k->n[k->b[q].end - 1].in;
    const struct ptx_reg *by = i->op == OP_BRX ? i->ops[0].reg : i->op == OP_BRA ? i->guard : NULL;
    if (!by || ptx_has(i, M_UNI) || !k->r[by->num].lanes) continue;
    uint32_t to = i->op == OP_BRX ? q + 1 : k->n[i->target].block, end = post.idom[q], begin = q;
    if (end == NODE_NONE || end == k->nb || back_only_leaves(k, &k->b[end])) continue;
    mark_parted(k, q, end, stack, met);
    if (to <= q) { /* a loop: before it */
      begin = to ? k->dom.idom[to] : NODE_NONE;
      if (begin == NODE_NONE || begin >= to) continue;
    }
    if (covered(k, from, end, begin)) continue;
    if (begin != q && from[begin] == end) continue;
    from[begin] = end;
    k->b[begin].parts++;
    k->b[end].meets++;
  }
}
