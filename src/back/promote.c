/* promote.c - since Turing values that all lanes of a warp share may move to uniform registers where that lets more
 * warps be resident, whatever reads them (ptxas 11.8 and 13): arithmetic of 32 bits and addresses, and constants that
 * have a register. Approximation: the moves between both kinds of registers cost nothing here.
 */
#include "back/back_impl.h"

enum kind { NEITHER, VALUE, CONSTANT };

/* A move or load of a constant, which no PTX instruction is. */
static bool makes_constant(const struct node *n) {
  return !n->in && !n->line_of && n->nops == 1 && n->fresh && !n->nsrc && (n->ops[0] == MO_LDC || n->ops[0] == MO_MOV);
}

static bool makes_value(const struct back *k, const struct node *n) {
  if (!n->in || n->in->guard || k->b[n->block].parted) return false;
  uint8_t kind = ptx_ops[n->in->op].kind;
  if (kind == KIND_LOAD || kind == KIND_ATOM) return false;
  for (uint32_t d = 0; d < n->ndef; d++)
    if (k->r[n->def[d]].lanes) return false;
  return true;
}

static bool has_uniform_kind(const struct back *k, uint16_t r) {
  uint8_t type = k->f->regs[r]->type, bytes = ptx_type_bytes[type];
  return bytes == 4 || (bytes == 8 && ptx_type_kinds[type] != 'f');
}

uint32_t back_shared_values(struct back *k, uint16_t *out) {
  uint8_t *kind = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1),
          *never = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct node *n = &k->n[i];
    uint32_t m = back_writes(k, n, r);
    for (uint32_t q = 0; q < m; q++) {
      bool constant = makes_constant(n);
      kind[r[q]] = constant ? CONSTANT : VALUE;
      if (!constant && (!makes_value(k, n) || k->r[r[q]].lanes || !has_uniform_kind(k, r[q]))) never[r[q]] = 1;
    }
  }
  for (uint32_t i = 0; i < k->nn; i++) { /* where lanes are apart constants alone are read */
    uint32_t m = k->b[k->n[i].block].parted ? back_reads(k, &k->n[i], r) : 0;
    for (uint32_t q = 0; q < m; q++) never[r[q]] |= kind[r[q]] != CONSTANT;
  }
  uint32_t n = 0;
  for (uint32_t x = 1; x <= k->nregs; x++)
    if (kind[x] && !never[x] && back_weight(k, (uint16_t)x)) out[n++] = (uint16_t)x;
  return n;
}

/* The instructions that make promoted registers, as the uniform datapath's where it has them. */
void back_promoted(struct back *k) {
  static const uint8_t load[] = {MO_ULDC};
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    uint16_t r = n->fresh ? n->fresh : n->ndef == 1 ? back_same(k, n->def[0]) : 0;
    if (n->role != ROLE_COST || n->nops != 1 || !r || !k->r[r].uniform) continue;
    if (n->ops[0] == MO_LDC) n->ops = load;
    bool shared = true;
    for (uint32_t q = 0; q < n->nsrc; q++) shared &= !back_weight(k, n->src[q]);
    const uint8_t *op = shared ? back_uniform_op(n->ops[0]) : NULL;
    if (op) n->ops = op;
  }
}
