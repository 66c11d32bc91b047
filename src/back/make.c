/* make.c - instructions of PTX that a pass puts in the place of another. */
#include "back/back_impl.h"

const struct ptx_opnd make_nothing = {.kind = OK_NONE};

struct ptx_opnd make_number(int64_t n) {
  return (struct ptx_opnd){.kind = OK_IMM, .imm = n};
}

struct ptx_opnd make_special(enum ptx_sreg s) {
  return (struct ptx_opnd){.kind = OK_SREG, .sreg = (uint8_t)s};
}

struct ptx_opnd make_register(struct making *m, enum ptx_type t) {
  uint16_t r = back_register(m->k, t); /* may move regs */
  return (struct ptx_opnd){.kind = OK_REG, .reg = m->k->f->regs[r], .line = m->of->line, .col = m->of->col};
}

struct ptx_inst *make_inst(struct making *m, struct ptx_opnd to, enum ptx_opcode op, enum ptx_type t, struct ptx_opnd x,
                           struct ptx_opnd y) {
  const struct ptx_inst *of = m->of;
  struct ptx_inst *i = ARENA_NEW(m->k->a, struct ptx_inst);
  *i = (struct ptx_inst){.op = (uint8_t)op, .ntypes = 1, .types = {(uint8_t)t}, .line = of->line, .col = of->col};
  i->src_line = of->src_line, i->src_file = of->src_file;
  i->ops = ARENA_ARRAY(m->k->a, struct ptx_opnd, PTX_MAX_OPNDS);
  i->ops[i->nops++] = to;
  if (x.kind != OK_NONE) i->ops[i->nops++] = x;
  if (y.kind != OK_NONE) i->ops[i->nops++] = y;
  if (op == OP_MUL) back_set(i, M_LO);
  back_append(m->k, &m->out, i);
  return i;
}

void make_operand(struct making *m, struct ptx_opnd o) {
  struct node *n = &m->out.n[m->out.nn - 1];
  n->in->ops[n->in->nops++] = o;
  back_touch(m->k, n);
}

uint32_t make_branch(struct making *m, struct ptx_reg *guard, bool neg, uint32_t to) {
  uint32_t at = m->out.nn;
  struct ptx_opnd label = {.kind = OK_LABEL, .imm = to};
  struct ptx_inst *i = make_inst(m, label, OP_BRA, T_B32, make_nothing, make_nothing);
  i->ntypes = 0;
  i->target = to;
  i->guard = guard;
  i->guard_neg = neg;
  back_touch(m->k, &m->out.n[at]);
  return at;
}

void make_landing(struct making *m, uint32_t branch) {
  struct ptx_inst *i = m->out.n[branch].in;
  i->target = m->out.nn;
  i->ops[0].imm = m->out.nn;
}

void back_keep(struct back *k, struct node_list *l, uint32_t i, uint8_t *old) {
  old[l->nn] = 1;
  struct node *kept = back_append(k, l, k->n[i].in);
  kept->once = k->n[i].once;
  kept->turn = k->n[i].turn;
  kept->spins = k->n[i].spins;
  kept->behind = k->n[i].behind;
}

void make_over(struct making *m, uint32_t longest, bool (*put)(void *ctx, const struct node *n), void *ctx) {
  struct back *k = m->k;
  if (k->nregs + (uint64_t)(longest - k->nn) > UINT16_MAX) return; /* a node makes one at most */
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  uint8_t *old = ARENA_ARRAY(&k->scratch, uint8_t, longest + 1);
  bool any = false;
  for (uint32_t i = 0; i < k->nn; i++) {
    to[i] = m->out.nn;
    m->of = k->n[i].in;
    if (put(ctx, &k->n[i])) {
      any = true;
      continue;
    }
    back_keep(k, &m->out, i, old);
  }
  to[k->nn] = m->out.nn;
  if (!any) return;
  back_replace(k, &m->out, to, old);
  back_facts(k, true);
}
