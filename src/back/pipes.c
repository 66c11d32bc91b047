/* pipes.c - sums and shifts that either of two pipes does: which of them. */
#include "back/back_impl.h"

static bool by_products(const struct node *n) { /* may go to the pipe of products as well */
  if (n->role != ROLE_COST || n->nops != 1 || !n->in || n->nsrc > 2) return false;
  if (n->ops[0] == MO_IADD3) return true;
  return n->ops[0] == MO_SHF && n->in->op == OP_SHL && n->in->ops[2].kind == OK_IMM;
}

/* Sums and shifts of a block are shared out so that neither pipe has more to do than the other. */
static void balance(struct back *k, const struct bblock *b) {
  static const uint8_t product[] = {MO_IADD};
  uint32_t alu = 0, fma = 0;
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t q = 0; k->n[i].role == ROLE_COST && q < k->n[i].nops; q++) {
      uint8_t cls = mach_infos[k->n[i].ops[q]].cls;
      alu += cls == MC_INT || cls == MC_SETP;
      fma += cls == MC_FP32 || cls == MC_IMAD;
    }
  for (uint32_t i = b->first; i < b->end && alu > fma + 1; i++)
    if (by_products(&k->n[i])) k->n[i].ops = product, alu--, fma++;
}

void back_balance(struct back *k) {
  for (uint32_t q = 0; q < k->nb; q++) balance(k, &k->b[q]);
}
