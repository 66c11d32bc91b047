/* regs.c - which machine registers are live where. */
#include "back/back_impl.h"

uint32_t back_weight(const struct back *k, uint16_t r) {
  enum ptx_type t = (enum ptx_type)k->f->regs[r]->type;
  if (t == T_PRED || k->r[r].uniform) return 0;
  return (ptx_type_bytes[t] <= 4 ? 1 : ptx_type_bytes[t] / 4) - k->r[r].spared;
}

static uint32_t add_once(uint16_t *out, uint32_t n, uint16_t r) {
  for (uint32_t q = 0; q < n; q++)
    if (out[q] == r) return n;
  out[n] = r;
  return n + 1;
}

uint32_t back_reads(const struct back *k, const struct node *n, uint16_t *out) {
  (void)k;
  uint32_t m = 0;
  if (n->role != ROLE_COST && !n->passes) return 0;
  for (uint32_t q = 0; q < n->nsrc; q++) m = add_once(out, m, n->src[q]);
  if (n->addr) m = add_once(out, m, n->addr);
  if (n->pred) m = add_once(out, m, n->pred);
  return m;
}

uint32_t back_writes(const struct back *k, const struct node *n, uint16_t *out) {
  uint32_t m = 0;
  if (n->role != ROLE_COST && !n->passes) return 0;
  if (n->fresh) m = add_once(out, m, n->fresh);
  for (uint32_t q = 0; q < n->ndef; q++) m = add_once(out, m, back_same(k, n->def[q]));
  return m;
}

bool back_overwrites(const struct node *n) {
  return !n->in || !n->in->guard;
}

const struct node *back_node_at(const struct back *k, uint32_t i) {
  return &k->n[k->seq ? k->seq[i] : i];
}

static void local_sets(const struct back *k, const struct live *l, uint32_t q, uint64_t *use, uint64_t *def) {
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  (void)l;
  for (uint32_t i = k->b[q].end; i-- > k->b[q].first;) {
    const struct node *n = back_node_at(k, i);
    uint32_t m = back_writes(k, n, r);
    for (uint32_t s = 0; s < m; s++) {
      bool whole = back_overwrites(n) || k->r[r[s]].ssa;
      if (whole) use[r[s] / 64] &= ~(1ull << r[s] % 64), def[r[s] / 64] |= 1ull << r[s] % 64;
    }
    m = back_reads(k, n, r);
    for (uint32_t s = 0; s < m; s++) use[r[s] / 64] |= 1ull << r[s] % 64;
  }
}

struct live back_liveness(struct back *k) {
  struct live l = {.words = k->nregs / 64 + 1};
  size_t row = l.words;
  l.in = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  l.out = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  uint64_t *use = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  uint64_t *def = ARENA_ARRAY(&k->scratch, uint64_t, row * (k->nb + 1));
  for (uint32_t q = 0; q < k->nb; q++) local_sets(k, &l, q, use + q * row, def + q * row);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t q = k->nb; q-- > 0;) {
      for (uint32_t s = 0; s < back_successors(k, q); s++) {
        const uint64_t *in = l.in + back_successor(k, q, s) * row;
        for (uint32_t w = 0; w < row; w++) l.out[q * row + w] |= in[w];
      }
      for (uint32_t w = 0; w < row; w++) {
        uint64_t v = use[q * row + w] | (l.out[q * row + w] & ~def[q * row + w]);
        if (v != l.in[q * row + w]) l.in[q * row + w] = v, changed = true;
      }
    }
  }
  return l;
}
