/* halves.c - values of 16 bits, two in a register. The machine's instructions name the half that they read (.H0_H0,
 * .H1_H1, bytes of PRMT), so that a pair taken apart costs nothing where all readers of its upper half do. Two values
 * that become a pair are made together: conversions (F2FP, since 8.0) and arithmetic of both halves of pairs (HADD2).
 * What ptxas 11.8 does for sm_70, 75, 80 and 90. */
#include "back/back_impl.h"

enum { MOST_PAIRS = 2, PACKS_CONVERSIONS = 80 /* compute capability */ };

/* mov with the halves on side `side`: 0 takes a register apart, 1 makes one. The number of halves, or 0. */
static uint32_t halves(const struct node *n, uint32_t side) {
  if (!n->in || n->in->op != OP_MOV || n->in->guard || n->in->nops != 2) return 0;
  const struct ptx_opnd *v = &n->in->ops[side], *whole = &n->in->ops[!side];
  if (v->kind != OK_VEC || whole->kind != OK_REG || (v->n != 2 && v->n != 2 * MOST_PAIRS)) return 0;
  return ptx_type_bytes[n->in->types[0]] == 2 * v->n ? v->n : 0;
}

static bool is_half_float(uint8_t type) {
  return type == T_F16 || type == T_BF16;
}

/* Does it name the half of a register that it reads? */
static bool names_halves(const struct node *n) {
  const struct ptx_inst *i = n->in;
  switch (i->op) {
  case OP_CVT:
    return ptx_type_bytes[i->types[1]] == 2 && i->types[1] != T_BF16;
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_FMA:
  case OP_MIN:
  case OP_MAX:
  case OP_NEG:
  case OP_ABS:
  case OP_SETP:
    return is_half_float(i->types[0]);
  case OP_MOV:
    return halves(n, 1);
  default:
    return false;
  }
}

/* Every second half needs an instruction if another reads it as a register. */
static void take_apart(struct back *k, struct node *n, const uint8_t *whole) {
  static const uint8_t takes[MOST_PAIRS] = {MO_PRMT, MO_PRMT};
  uint32_t parts = halves(n, 0), cost = 0;
  for (uint32_t q = 0; q < parts; q++) {
    const struct ptx_opnd *o = &n->in->ops[0].vec[q];
    if (o->kind != OK_REG) continue;
    if (k->r[o->reg->num].def == NODE_NONE) return;
    cost += q % 2 && whole[o->reg->num];
  }
  n->role = cost ? ROLE_COST : ROLE_FREE;
  n->ops = takes;
  n->nops = (uint8_t)cost;
  n->parallel = true;
}

/* The definition of a half, if `u` alone reads it, in the same block. */
static struct node *made_for(const struct back *k, const struct node *u, const struct ptx_opnd *o) {
  if (o->kind != OK_REG || o->sel || o->part) return NULL;
  const struct fact *f = &k->r[o->reg->num];
  struct node *d = f->def == NODE_NONE || f->konst ? NULL : &k->n[f->def];
  bool own = d && d->block == u->block && f->uses == 1 && d->role == ROLE_COST && d->ndef == 1 && !d->in->guard;
  return own ? d : NULL;
}

static bool same_register(const struct ptx_opnd *x, const struct ptx_opnd *y) {
  return x->kind == y->kind && x->reg == y->reg && x->imm == y->imm;
}

/* Are these the two halves of a register, or the same value? */
static bool are_pair(const struct back *k, const struct ptx_opnd *low, const struct ptx_opnd *high) {
  if (low->neg || high->neg || low->minus || high->minus) return false;
  if (same_register(low, high)) return true;
  if (low->kind != OK_REG || high->kind != OK_REG) return false;
  uint32_t d = k->r[low->reg->num].def;
  const struct node *from = d == NODE_NONE ? NULL : &k->n[d];
  for (uint32_t q = 0; from && q + 1 < halves(from, 0); q += 2) {
    const struct ptx_opnd *v = &from->in->ops[0].vec[q];
    if (v[0].kind == OK_REG && v[1].kind == OK_REG && v[0].reg == low->reg && v[1].reg == high->reg) return true;
  }
  return false;
}

static bool is_narrowing(const struct ptx_inst *i) {
  return i->op == OP_CVT && is_half_float(i->types[0]) && i->types[1] == T_F32;
}

/* The instruction that makes both halves; MO_PRMT puts together what others made. */
static enum mach_op made_together(struct back *k, struct node *u, const struct ptx_opnd *v) {
  struct node *low = made_for(k, u, &v[0]), *high = made_for(k, u, &v[1]);
  if (!low || !high || low == high || low->in->op != high->in->op || low->in->types[0] != high->in->types[0])
    return MO_PRMT;
  const struct ptx_inst *x = low->in, *y = high->in;
  bool convert = is_narrowing(x) && is_narrowing(y) && k->t->sm >= PACKS_CONVERSIONS;
  bool both = is_half_float(x->types[0]) && x->nops == y->nops &&
              (x->op == OP_ADD || x->op == OP_SUB || x->op == OP_MUL || x->op == OP_FMA);
  for (uint32_t q = 1; q < x->nops && both; q++) both = are_pair(k, &x->ops[q], &y->ops[q]);
  if (!convert && !both) return MO_PRMT;
  low->role = high->role = ROLE_FREE;
  return convert ? MO_F2FP : back_machine_op(x);
}

static void put_together(struct back *k, struct node *n) {
  uint32_t parts = halves(n, 1);
  uint8_t *ops = arena_alloc(&k->scratch, MOST_PAIRS);
  for (uint32_t q = 0; q < parts; q += 2) ops[q / 2] = (uint8_t)made_together(k, n, &n->in->ops[1].vec[q]);
  n->ops = ops;
  n->nops = (uint8_t)(parts / 2);
  n->parallel = true;
}

void back_halves(struct back *k) {
  uint8_t *whole = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1); /* by register: not read as a half alone */
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct node *n = &k->n[i];
    for (uint32_t u = 0; u < n->nuse && !names_halves(n); u++) whole[n->use[u]] = 1;
  }
  for (uint32_t i = 0; i < k->nn; i++)
    if (k->n[i].role == ROLE_COST && halves(&k->n[i], 1)) put_together(k, &k->n[i]);
  for (uint32_t i = 0; i < k->nn; i++)
    if (k->n[i].role == ROLE_COST && halves(&k->n[i], 0)) take_apart(k, &k->n[i], whole);
}
