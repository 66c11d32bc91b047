/* leaves.c - what a machine instruction reads: registers, constants, and what the instructions that are part of it
 * read. */
#include "back/back_impl.h"

void back_add_source(struct node *u, uint16_t r) {
  for (uint32_t q = 0; q < u->nsrc; q++)
    if (u->src[q] == r) return;
  if (u->nsrc < MAX_SRC) u->src[u->nsrc++] = r;
}

static void immediates(const struct ptx_inst *i, struct leaves *l) {
  bool shift = i->op == OP_SHL || i->op == OP_SHR || i->op == OP_BFE || i->op == OP_PRMT || i->op == OP_SHFL ||
               i->op == OP_LOP3 || i->op == OP_SHF || i->op == OP_BFI || i->op == OP_BAR || i->op == OP_BARRIER;
  uint32_t dests = ptx_dests(i);
  for (uint32_t q = dests; q < i->nops && !shift; q++)
    if (i->ops[q].kind == OK_IMM && i->ops[q].imm && l->nimm < 16) l->imm[l->nimm++] = i->ops[q].imm;
}

const struct node *back_part(const struct back *k, uint16_t r) {
  const struct fact *f = &k->r[r];
  return f->def != NODE_NONE && k->n[f->def].role == ROLE_FREE && !f->same && !f->konst ? &k->n[f->def] : NULL;
}

void back_leaf(const struct back *k, struct node *u, uint16_t r, struct leaves *l, uint32_t deep) {
  const struct fact *f = &k->r[r];
  const struct node *c = deep < 8 ? back_part(k, r) : NULL;
  if (f->konst) {
    if (f->konst == K_IMM && !f->imm && !back_named(k, r)) return; /* the zero register */
    for (uint32_t q = 0; q < l->nkonst; q++)
      if (l->konst[q] == r) return;
    if (l->nkonst < 16) l->konst[l->nkonst++] = r;
  } else if (c) {
    for (uint32_t q = 0; q < c->nuse; q++) back_leaf(k, u, c->use[q], l, deep + 1);
    if (c->in->op != OP_CVT) immediates(c->in, l);
  } else {
    back_add_source(u, back_same(k, r));
  }
}

void back_leaves(const struct back *k, struct node *u, struct leaves *l) {
  const struct ptx_opnd *m = NULL;
  for (uint32_t q = 0; q < u->in->nops; q++)
    if (u->in->ops[q].kind == OK_MEM) m = &u->in->ops[q];
  uint32_t n = 0;
  for (uint32_t q = 0; q < u->nuse; q++) {
    bool defined = false; /* a guarded result keeps the old value: no operand of the machine's */
    for (uint32_t d = 0; d < u->ndef; d++) defined |= u->in->guard && u->def[d] == u->use[q];
    if (m && m->reg && u->use[q] == m->reg->num && n++ == 0) continue;
    if (u->in->guard && q == 0) continue; /* the guard comes first */
    if (!defined) back_leaf(k, u, u->use[q], l, 0);
  }
  bool by_number = (u->in->op == OP_SHL || u->in->op == OP_SHR) && u->in->ops[2].kind == OK_IMM;
  if (by_number && l->nkonst && k->t->sm < UNIFORM_DATAPATH)
    l->imm[l->nimm++] = u->in->ops[2].imm; /* both take the room of a constant */
  immediates(u->in, l);
}
