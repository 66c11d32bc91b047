/* pipes.c - sums and shifts that either of two pipes does: which of them; and what the uniform datapath does. */
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

/* ---- the uniform datapath ---- */

static const uint8_t *uniform_op(uint8_t op) {
  static const uint8_t ops[][2] = {{MO_IADD3, MO_UIADD3}, {MO_IADD, MO_UIADD3}, {MO_IMAD, MO_UIMAD}, {MO_LEA, MO_ULEA},
                                   {MO_SHF, MO_USHF},     {MO_LOP3, MO_ULOP3},  {MO_FLO, MO_UFLO}};
  for (size_t q = 0; q < sizeof ops / sizeof *ops; q++)
    if (ops[q][0] == op) return &ops[q][1];
  return NULL;
}

static bool reads_cta(const struct ptx_inst *i) {
  return i->op == OP_MOV && i->ops[1].kind == OK_SREG && i->ops[1].sreg >= SR_CTAID_X && i->ops[1].sreg <= SR_CTAID_Z;
}

/* The set of lanes that do an atomic together (aggregate.c). */
static bool reads_members(const struct ptx_inst *i) {
  return i->op == OP_ACTIVEMASK || (i->op == OP_VOTE && i->nops == 2 && ptx_has(i, M_BALLOT));
}

/* By register: a shuffle reads it, so that it is the thread's. */
static uint8_t *shuffled(struct back *k) {
  uint8_t *by = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t q = 0; k->n[i].in && k->n[i].in->op == OP_SHFL && q < k->n[i].nsrc; q++) by[k->n[i].src[q]] = 1;
  return by;
}

/* Integer arithmetic of 32 bits on numbers of the CTA, words of the constant bank, sets of lanes and what is made of
 * them. */
void back_uniform(struct back *k) {
  enum { SINCE = 75 };
  static const uint8_t vote[] = {MO_VOTEU};
  if (k->t->sm < SINCE) return;
  const uint8_t *own = shuffled(k);
  uint8_t *shared = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1); /* by register: all lanes have it */
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    bool load = !n->in && n->nops == 1 && n->ops[0] == MO_ULDC;
    if (load) shared[n->fresh] = 1;
    if (n->role != ROLE_COST || !n->in || n->in->guard || n->ndef != 1 || n->nops != 1) continue;
    uint16_t d = back_same(k, n->def[0]);
    if (k->r[d].def == NODE_NONE || k->r[n->def[0]].def == NODE_NONE) continue;
    if (reads_cta(n->in)) {
      shared[d] = 1;
      continue;
    }
    bool members = reads_members(n->in) && !own[d];
    const uint8_t *op = members ? vote : uniform_op(n->ops[0]);
    bool all = members || (op && !own[d] && ptx_type_bytes[k->f->regs[d]->type] == 4 && n->nsrc);
    for (uint32_t q = 0; !members && q < n->nsrc; q++) all &= shared[n->src[q]];
    if (!all) continue;
    shared[d] = 1;
    k->r[d].uniform = true;
    n->ops = op;
  }
}

void back_balance(struct back *k) {
  for (uint32_t q = 0; q < k->nb; q++) balance(k, &k->b[q]);
}
