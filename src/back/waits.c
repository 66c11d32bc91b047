/* waits.c - loops in which lanes may wait for other threads: lanes that go on give the others of their warp a turn.
 *
 * Such a loop reads memory that other threads change (an atomic of which the result is read, a volatile load), and
 * lanes may leave it at different times. Before 8.0 ptxas 11.8 ends each turn with two votes around YIELD, since then a
 * turn begins with YIELD; ptxas 13.0 (sm_90) has it only where leaving depends on what is read. Loops of spin.c have
 * none.
 */
#include "back/back_impl.h"

static bool reads_others(const struct back *k, const struct node *n) {
  const struct ptx_inst *i = n->in;
  if (n->spins) return false;
  if (ptx_ops[i->op].kind == KIND_LOAD) return (n->order & ORD_FENCE) != 0;
  if (i->op != OP_ATOM) return false;
  if (ptx_has(i, M_CAS) || ptx_has(i, M_EXCH)) return true;
  return i->ops[0].kind != OK_REG || k->r[i->ops[0].reg->num].uses;
}

/* What decides whether a block is left for one or the other, or NULL. */
static const struct ptx_reg *decides(const struct back *k, uint32_t q) {
  const struct ptx_inst *i = k->n[k->b[q].end - 1].in;
  return i->guard && (i->op == OP_BRA || ptx_ops[i->op].kind == KIND_EXIT) && !ptx_has(i, M_UNI) ? i->guard : NULL;
}

/* The blocks first to last are a loop by their place in the text. Does `q` lead out of it? */
static bool leaves(const struct back *k, uint32_t q, uint32_t first, uint32_t last) {
  bool out = ptx_ops[k->n[k->b[q].end - 1].in->op].kind == KIND_EXIT;
  for (uint32_t s = 0; s < k->b[q].nsucc; s++) out |= k->b[q].succ[s] < first || k->b[q].succ[s] > last;
  return out;
}

/* Marks what the value of a register comes from within the loop. */
static bool comes_from_others(const struct back *k, uint32_t begin, uint32_t end, uint8_t *wanted) {
  bool found = false;
  for (bool changed = true; changed && !found;) {
    changed = false;
    for (uint32_t i = begin; i < end && !found; i++) {
      const struct node *n = &k->n[i];
      bool of = false;
      for (uint32_t d = 0; d < n->ndef; d++) of |= wanted[n->def[d]];
      if (!of) continue;
      found = reads_others(k, n);
      for (uint32_t u = 0; u < n->nuse; u++)
        if (!wanted[n->use[u]]) wanted[n->use[u]] = changed = true;
    }
  }
  return found;
}

static bool waits(struct back *k, uint32_t first, uint32_t last) {
  uint32_t begin = k->b[first].first, end = k->b[last].end;
  bool reads = false, parts = false;
  uint8_t *wanted = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  for (uint32_t i = begin; i < end; i++) reads |= reads_others(k, &k->n[i]);
  if (!reads) return false;
  for (uint32_t q = first; q <= last; q++) {
    const struct ptx_reg *by = decides(k, q);
    if (!by || !leaves(k, q, first, last)) continue;
    parts |= k->r[by->num].lanes;
    wanted[by->num] = true;
  }
  return parts && (k->t->sm < 90 || comes_from_others(k, begin, end, wanted));
}

void back_waits(struct back *k) {
  for (uint32_t q = 0; q < k->nb; q++) {
    struct bblock *b = &k->b[q];
    const struct ptx_inst *i = k->n[b->end - 1].in;
    if (i->op != OP_BRA || k->n[i->target].block > q || k->n[b->end - 1].once) continue;
    uint32_t head = k->n[i->target].block;
    if (!waits(k, head, q)) continue;
    if (k->t->sm < 80) b->votes = q + 1 < k->nb;
    else k->b[head].yields = true;
  }
}
