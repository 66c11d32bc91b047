/* select.c - which instructions of PTX become one machine instruction, which none, and what each reads.
 *
 * An instruction is absorbed where the machine instruction of its reader does its work as well: a product by the sum
 * that uses it (IMAD, IMAD.WIDE, LEA), sums of three, logic of three inputs, a negated operand, an address plus a
 * constant, a comparison by the operation on its predicate. Constants and parameters are operands from the instruction
 * or the constant bank; a machine instruction has room for one, and others cost a move, once a block.
 */
#include <string.h>

#include "back/back_impl.h"

struct select {
  struct back *k;
  uint8_t *narrow;   /* by register: an address of 32 bits to the machine */
  uint8_t *inputs;   /* by node: leaves of its tree so far */
  struct node *made; /* moves of constants of the block */
  uint32_t nmade, cap_made;
  uint16_t *moved, *moved_in; /* by register: the register that holds the constant, and in which block plus one */
  struct {
    int64_t imm;
    uint16_t reg;
  } imms[64], early[8];
  uint32_t nimms, nearly;
};

static struct node *def_node(const struct back *k, const struct ptx_opnd *o) {
  if (o->kind != OK_REG || o->sel || o->part) return NULL;
  uint32_t d = k->r[o->reg->num].def;
  return d == NODE_NONE ? NULL : &k->n[d];
}

/* The definition of an operand, if its one reader is `u`, in the same block and with the same guard. */
static struct node *child(const struct back *k, const struct node *u, const struct ptx_opnd *o) {
  struct node *c = def_node(k, o);
  if (!c || c->block != u->block || c->role != ROLE_COST || k->r[o->reg->num].uses != 1 || c->ndef != 1) return NULL;
  if (c->in->guard != u->in->guard || c->in->guard_neg != u->in->guard_neg) return NULL;
  return c;
}

static bool is_int(const struct ptx_inst *i, uint32_t bytes) {
  return ptx_type_kinds[i->types[0]] != 'f' && ptx_type_kinds[i->types[0]] != 'p' &&
         ptx_type_bytes[i->types[0]] == bytes;
}

static bool constant_operand(const struct back *k, const struct ptx_opnd *o) {
  return o->kind == OK_IMM || (o->kind == OK_REG && k->r[o->reg->num].konst != K_NO);
}

static void absorb(struct select *s, struct node *c) {
  (void)s;
  c->role = ROLE_FREE;
}

static void single(struct select *s, struct node *u, enum mach_op op) {
  uint8_t *ops = arena_alloc(&s->k->scratch, 1);
  ops[0] = (uint8_t)op;
  u->ops = ops;
  u->nops = 1;
}

/* ---- integer sums ---- */

static bool plain_mul(const struct ptx_inst *i) {
  return i->op == OP_MUL && is_int(i, 4) && !ptx_has(i, M_HI) && !ptx_has(i, M_WIDE) &&
         ptx_type_bytes[i->types[0]] == 4;
}
static bool shift_by_constant(const struct ptx_inst *i, uint32_t bytes) {
  return i->op == OP_SHL && ptx_type_bytes[i->types[0]] == bytes && i->ops[2].kind == OK_IMM;
}
static bool plain_sum(const struct ptx_inst *i, uint32_t bytes) {
  return (i->op == OP_ADD || i->op == OP_SUB) && is_int(i, bytes) && !ptx_has(i, M_CC) && !ptx_has(i, M_SAT);
}

static uint32_t constants_in(const struct back *k, const struct ptx_inst *i) {
  uint32_t n = 0;
  for (uint32_t q = 1; q < i->nops; q++) n += constant_operand(k, &i->ops[q]);
  return n;
}

static void sum32(struct select *s, struct node *u) {
  struct back *k = s->k;
  for (uint32_t q = 1; q <= 2 && u->in->op == OP_ADD;
       q++) { /* a product of constants, made again wherever it is added */
    struct node *c = def_node(k, &u->in->ops[q]);
    if (!c || !plain_mul(c->in) || c->in->guard || constants_in(k, c->in) != 2) continue;
    struct fact *r = &k->r[u->in->ops[q].reg->num];
    if (++r->absorbed == r->uses) absorb(s, c);
    s->inputs[u - k->n] = 3;
    single(s, u, MO_IMAD);
    return;
  }
  for (uint32_t q = 1; q <= 2; q++) {
    struct node *c = child(k, u, &u->in->ops[q]);
    if (!c || s->inputs[c - k->n] > 2) continue;
    const struct ptx_opnd *other = &u->in->ops[3 - q];
    bool minus = u->in->op == OP_SUB && q == 2;
    bool mul = plain_mul(c->in) && (!minus || c->in->ops[2].kind == OK_IMM);
    bool shift = shift_by_constant(c->in, 4) && !minus && c->in->ops[2].imm < 32;
    bool sum = plain_sum(c->in, 4) && constants_in(k, c->in) + constant_operand(k, other) <= 1;
    if (!mul && !shift && !sum) continue;
    absorb(s, c);
    s->inputs[u - k->n] = 3;
    single(s, u, mul ? MO_IMAD : shift ? MO_LEA : MO_IADD3);
    return;
  }
}

/* A 32-bit value widened: what an index of 64 bits is made of. */
static bool widens(const struct ptx_inst *i) {
  return i->op == OP_CVT && ptx_type_bytes[i->types[0]] == 8 && ptx_type_bytes[i->types[1]] == 4 &&
         ptx_type_kinds[i->types[0]] != 'f' && ptx_type_kinds[i->types[1]] != 'f';
}

static bool wide_product(const struct ptx_inst *i) {
  return i->op == OP_MUL && ptx_has(i, M_WIDE) && ptx_type_bytes[i->types[0]] == 4 && !i->guard;
}

static bool narrow_sum(struct select *s, struct node *u);

static void sum64(struct select *s, struct node *u) {
  static const uint8_t pair[] = {MO_LEA, MO_LEA};
  struct back *k = s->k;
  if (s->narrow[u->def[0]] && narrow_sum(s, u)) return;
  for (uint32_t q = 1; q <= 2; q++) {
    if (u->in->op == OP_SUB && q == 2) continue;
    struct node *c = def_node(k, &u->in->ops[q]);
    if (c &&
        wide_product(c->in)) { /* again for each of several sums, in loops as well: one instruction instead of two */
      struct fact *r = &k->r[u->in->ops[q].reg->num];
      if (++r->absorbed == r->uses) absorb(s, c);
      s->inputs[u - k->n] = 3;
      single(s, u, MO_IMAD);
      return;
    }
    c = child(k, u, &u->in->ops[q]);
    if (!c) continue;
    if (shift_by_constant(c->in, 8)) {
      struct node *w = child(k, c, &c->in->ops[1]);
      absorb(s, c);
      if (w && widens(w->in)) absorb(s, w), single(s, u, MO_IMAD);
      else u->ops = pair, u->nops = 2;
      s->inputs[u - k->n] = 3;
      return;
    }
    if (widens(c->in) || (plain_sum(c->in, 8) && s->inputs[c - k->n] <= 2 &&
                          constants_in(k, c->in) + constant_operand(k, &u->in->ops[3 - q]) <= 1)) {
      absorb(s, c);
      s->inputs[u - k->n] = 3;
      return;
    }
  }
}

/* ---- addresses of constant and local memory, which have 32 bits on the machine ---- */

static bool may_be_narrow(const struct back *k, uint16_t r) {
  const struct ptx_inst *i = back_single(k, r);
  if (!i || !back_wide(k, r) || i->nops < 2) return false;
  return i->op == OP_ADD || i->op == OP_SUB || i->op == OP_MUL || i->op == OP_SHL || i->op == OP_CVT ||
         i->op == OP_MAD || i->op == OP_MOV || i->op == OP_CVTA;
}

static void find_narrow(struct select *s) {
  struct back *k = s->k;
  s->narrow = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  for (uint32_t r = 1; r <= k->nregs; r++) s->narrow[r] = may_be_narrow(k, (uint16_t)r);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++) {
      const struct node *n = &k->n[i];
      bool small = n->space == SPACE_CONST || n->space == SPACE_LOCAL;
      bool access = (n->in->op == OP_LD || n->in->op == OP_ST) && small;
      const struct ptx_opnd *m = access ? &n->in->ops[n->in->op == OP_ST ? 0 : 1] : NULL;
      bool through = n->ndef == 1 && s->narrow[n->def[0]];
      for (uint32_t u = 0; u < n->nuse; u++) {
        uint16_t r = n->use[u];
        bool address = m && m->kind == OK_MEM && m->reg && m->reg->num == r;
        if (s->narrow[r] && !address && !through) s->narrow[r] = 0, changed = true;
      }
    }
  }
}

/* The variable is part of the access. */
static bool narrow_sum(struct select *s, struct node *u) {
  struct back *k = s->k;
  if (u->in->op != OP_ADD || u->in->guard) return false;
  for (uint32_t q = 1; q <= 2; q++)
    if (u->in->ops[q].kind == OK_REG && k->r[u->in->ops[q].reg->num].konst) {
      u->role = ROLE_FREE;
      return true;
    }
  return false;
}

/* ---- logic of up to three inputs ---- */

static bool is_logic(const struct ptx_inst *i) {
  return (i->op == OP_AND || i->op == OP_OR || i->op == OP_XOR || i->op == OP_NOT) && i->types[0] != T_PRED;
}

static void logic(struct select *s, struct node *u) {
  struct back *k = s->k;
  uint32_t operands = u->in->op == OP_NOT ? 1 : 2, at = (uint32_t)(u - k->n);
  s->inputs[at] = (uint8_t)operands;
  for (uint32_t q = 1; q <= operands; q++) {
    struct node *c = child(k, u, &u->in->ops[q]);
    if (!c || !is_logic(c->in) || ptx_type_bytes[c->in->types[0]] != ptx_type_bytes[u->in->types[0]]) continue;
    uint32_t n = s->inputs[at] - 1u + s->inputs[c - k->n];
    if (n > 3) continue;
    uint32_t consts = constants_in(k, u->in) + constants_in(k, c->in);
    if (consts > 1) continue;
    absorb(s, c);
    s->inputs[at] = (uint8_t)n;
  }
}

/* ---- predicates ---- */

static void predicate_logic(struct select *s, struct node *u) {
  struct back *k = s->k;
  if (u->in->op == OP_NOT) { /* readers negate it themselves */
    u->role = ROLE_FREE;
    return;
  }
  for (uint32_t q = 2; q >= 1; q--) {
    struct node *c = child(k, u, &u->in->ops[q]);
    if (!c || c->in->op != OP_SETP || c->in->nops > 3 || c->in->ops[0].reg2 || !c->nops) continue;
    absorb(s, c);
    u->ops = c->ops;
    u->nops = c->nops;
    return;
  }
}

/* A comparison of a masked value with zero is the logic instruction itself. */
static void compare(struct select *s, struct node *u) {
  struct back *k = s->k;
  if (!ptx_has(u->in, M_EQ) && !ptx_has(u->in, M_NE)) return;
  if (u->in->ops[2].kind != OK_IMM || u->in->ops[2].imm || ptx_type_bytes[u->in->types[0]] != 4) return;
  struct node *c = child(k, u, &u->in->ops[1]);
  if (!c || !is_logic(c->in)) return;
  absorb(s, c);
  single(s, u, MO_LOP3);
}

/* ---- floating point: signs and absolute values of operands; a product and a sum without rounding of their own ---- */

static bool free_sign(const struct node *c) {
  return c && (c->in->op == OP_NEG || c->in->op == OP_ABS) && !c->in->guard &&
         (c->in->types[0] == T_F32 || c->in->types[0] == T_F64) && c->role != ROLE_GONE;
}

static bool takes_signs(const struct ptx_inst *i) {
  switch (i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_FMA:
  case OP_MIN:
  case OP_MAX:
  case OP_SETP:
  case OP_EX2:
  case OP_SQRT:
  case OP_RSQRT:
  case OP_RCP:
  case OP_CVT:
    return true;
  default:
    return false;
  }
}

static bool rounds(const struct ptx_inst *i) {
  return ptx_has(i, M_RN) || ptx_has(i, M_RZ) || ptx_has(i, M_RM) || ptx_has(i, M_RP) || ptx_has(i, M_SAT);
}

static void floating(struct select *s, struct node *u) {
  struct back *k = s->k;
  for (uint32_t q = 1; q < u->in->nops && takes_signs(u->in); q++) {
    struct node *c = def_node(k, &u->in->ops[q]);
    if (!free_sign(c)) continue;
    if (c->in->op == OP_ABS && u->in->op != OP_ADD && u->in->op != OP_SUB && u->in->op != OP_SETP &&
        u->in->op != OP_MIN && u->in->op != OP_MAX)
      continue;
    struct fact *r = &k->r[u->in->ops[q].reg->num];
    if (++r->absorbed == r->uses) absorb(s, c);
  }
  if ((u->in->op != OP_ADD && u->in->op != OP_SUB) || rounds(u->in)) return;
  for (uint32_t q = 1; q <= 2; q++) {
    struct node *c = child(k, u, &u->in->ops[q]);
    if (!c || c->in->op != OP_MUL || rounds(c->in) || c->in->types[0] != u->in->types[0]) continue;
    absorb(s, c);
    single(s, u, u->in->types[0] == T_F64 ? MO_DFMA : u->in->types[0] == T_F32 ? MO_FFMA : MO_HFMA2);
    return;
  }
}

/* ---- conversions that are none ---- */

static bool loaded(const struct back *k, const struct ptx_opnd *o) {
  struct node *c = def_node(k, o);
  return c && c->in->op == OP_LD;
}

static void conversion(struct select *s, struct node *u) {
  struct back *k = s->k;
  const struct ptx_inst *i = u->in;
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_type_kinds[i->types[1]] == 'f' || i->guard || ptx_has(i, M_SAT)) {
    if (ptx_type_kinds[i->types[1]] == 'f') floating(s, u);
    struct node *c = def_node(k, &i->ops[1]); /* of a part of a register */
    if (c && c->in->op == OP_CVT && c->block == u->block && ptx_type_kinds[i->types[1]] != 'f' &&
        child(k, u, &i->ops[1]) && ptx_type_kinds[c->in->types[1]] != 'f' && ptx_type_kinds[c->in->types[0]] != 'f')
      absorb(s, c);
    return;
  }
  uint32_t db = ptx_type_bytes[i->types[0]], sb = ptx_type_bytes[i->types[1]];
  bool sign = ptx_type_kinds[i->types[1]] == 's';
  bool none = db < sb    ? db >= 2 && sb != 2 /* the low part of a register */
              : sb == 4  ? !sign              /* the upper half is zero */
              : db == sb ? true
                         : loaded(k, &i->ops[1]) || (sb == 2 && !sign); /* a load has extended it */
  if (db == 2 && sb == 1) none = true;
  if (none) u->role = ROLE_FREE;
}

/* ---- moves ---- */

/* A loop's variable takes its next value: the same register, unless it is read after that value is made. */
static bool coalesces(const struct back *k, const struct node *u) {
  const struct ptx_opnd *o = u->in->ops;
  if (o[0].kind != OK_REG || o[1].kind != OK_REG || u->in->guard) return false;
  uint32_t d = k->r[o[1].reg->num].def, at = (uint32_t)(u - k->n);
  if (d == NODE_NONE || k->r[o[1].reg->num].konst || k->r[o[1].reg->num].same) return false;
  uint32_t from = k->n[d].block == u->block ? d + 1 : k->b[u->block].first;
  if (k->n[d].block != u->block && k->r[o[1].reg->num].uses != 1) return false;
  for (uint32_t q = from; q < at; q++)
    for (uint32_t r = 0; r < k->n[q].nuse; r++)
      if (k->n[q].use[r] == o[0].reg->num) return false;
  return true;
}

static void move(struct select *s, struct node *u) {
  struct back *k = s->k;
  const struct ptx_opnd *o = u->in->ops;
  if (o[0].kind == OK_VEC || o[1].kind == OK_VEC) {
    if (ptx_type_bytes[u->in->types[0]] >= 8) u->role = ROLE_FREE; /* halves of a pair */
    return;
  }
  if (u->in->op == OP_MOV && coalesces(k, u)) {
    k->r[o[1].reg->num].same = back_same(k, o[0].reg->num) == o[1].reg->num ? 0 : o[0].reg->num;
    u->role = ROLE_FREE;
  }
}

/* ---- memory: what is added to an address ---- */

static void memory(struct select *s, struct node *u) {
  (void)s;
  for (uint32_t q = 0; q < u->in->nops; q++) {
    const struct ptx_opnd *m = &u->in->ops[q];
    if (m->kind != OK_MEM || !m->reg) continue;
    struct place p = back_place(s->k, m);
    for (uint16_t r = m->reg->num; r && r != p.base;) { /* the sums on the way, each if all its readers do the same */
      struct fact *f = &s->k->r[r];
      struct node *c = &s->k->n[f->def];
      int64_t imm;
      uint16_t base = 0;
      if (!back_adds(s->k, c->in, &imm, &base)) break;
      if (++f->absorbed < f->uses) break;
      c->role = ROLE_FREE;
      r = base;
    }
  }
}

/* ---- the pass over a block ---- */

static void expand(struct select *s, struct node *u) {
  uint8_t ops[MAX_SEQ];
  uint32_t n = back_expand(s->k, u->in, ops);
  uint8_t *own = arena_alloc(&s->k->scratch, n + 1);
  memcpy(own, ops, n);
  u->ops = own;
  u->nops = (uint8_t)n;
  if (u->ndef == 1 && s->narrow[u->def[0]] && n == 2) u->nops = 1;
  u->parallel = ptx_type_bytes[u->in->types[0]] == 8 && n == 2 && u->in->op != OP_ADD && u->in->op != OP_SUB;
  if (ptx_ops[u->in->op].kind == KIND_BARRIER || ptx_ops[u->in->op].kind == KIND_FENCE) u->parallel = true;
  s->inputs[u - s->k->n] = 2;
}

static bool is_constant(const struct back *k, const struct node *n) {
  return n->ndef == 1 && k->r[n->def[0]].konst != K_NO;
}

static void select_node(struct select *s, struct node *u) {
  struct back *k = s->k;
  if (is_constant(k, u)) {
    u->role = ROLE_FREE;
    return;
  }
  expand(s, u);
  const struct ptx_inst *i = u->in;
  if (plain_sum(i, 4)) sum32(s, u);
  else if (plain_sum(i, 8)) sum64(s, u);
  else if (is_logic(i)) logic(s, u);
  else if ((i->op == OP_AND || i->op == OP_OR || i->op == OP_XOR || i->op == OP_NOT) && i->types[0] == T_PRED)
    predicate_logic(s, u);
  else if (i->op == OP_SETP && ptx_type_kinds[i->types[0]] != 'f') compare(s, u);
  else if (i->op == OP_CVT) conversion(s, u);
  else if (i->op == OP_MOV || i->op == OP_CVTA) move(s, u);
  else if (ptx_ops[i->op].kind == KIND_LOAD || ptx_ops[i->op].kind == KIND_STORE || ptx_ops[i->op].kind == KIND_ATOM)
    memory(s, u);
  else floating(s, u);
  if (ptx_type_kinds[i->types[0]] == 'f' && (i->op == OP_ADD || i->op == OP_SUB || i->op == OP_SETP)) floating(s, u);
}

/* ---- sources ---- */

static void add_source(struct node *u, uint16_t r) {
  for (uint32_t q = 0; q < u->nsrc; q++)
    if (u->src[q] == r) return;
  if (u->nsrc < MAX_SRC) u->src[u->nsrc++] = r;
}

/* What a reader of register `r` reads: constants are counted, what is absorbed is its own operands. */
struct leaves {
  uint16_t konst[16];
  int64_t imm[16];
  uint32_t nkonst, nimm;
};

static void leaf(struct select *s, struct node *u, uint16_t r, struct leaves *l, uint32_t deep);

static void immediates(const struct ptx_inst *i, struct leaves *l) {
  bool shift = i->op == OP_SHL || i->op == OP_SHR || i->op == OP_BFE || i->op == OP_PRMT || i->op == OP_SHFL ||
               i->op == OP_LOP3 || i->op == OP_SHF || i->op == OP_BFI || i->op == OP_BAR || i->op == OP_BARRIER;
  uint32_t dests = ptx_dests(i);
  for (uint32_t q = dests; q < i->nops && !shift; q++)
    if (i->ops[q].kind == OK_IMM && i->ops[q].imm && l->nimm < 16) l->imm[l->nimm++] = i->ops[q].imm;
}

static void leaves_of(struct select *s, struct node *u, const struct node *c, struct leaves *l, uint32_t deep) {
  for (uint32_t q = 0; q < c->nuse; q++) leaf(s, u, c->use[q], l, deep);
  if (c->role == ROLE_COST || c->in->op != OP_CVT) immediates(c->in, l);
}

static void leaf(struct select *s, struct node *u, uint16_t r, struct leaves *l, uint32_t deep) {
  struct back *k = s->k;
  const struct fact *f = &k->r[r];
  if (f->konst) {
    if (f->konst == K_IMM && !f->imm && !back_named(k, r)) return; /* the zero register */
    for (uint32_t q = 0; q < l->nkonst; q++)
      if (l->konst[q] == r) return;
    if (l->nkonst < 16) l->konst[l->nkonst++] = r;
    return;
  }
  if (f->def != NODE_NONE && k->n[f->def].role == ROLE_FREE && !f->same && deep < 8) {
    leaves_of(s, u, &k->n[f->def], l, deep + 1);
    return;
  }
  add_source(u, back_same(k, r));
}

/* The line of the constant banks in which a constant lies, + 1; 0: it is part of the instruction. The sizes of grid and
 * CTA come first, then the parameters (cuobjdump); addresses of variables and variables in constant memory have banks
 * of their own. Approximation: those share the lines after the parameters'. */
static uint8_t operand_of(const struct back *k, uint16_t r) {
  enum { LINE = 64, BANK = 4096, ADDRESSES = 2048, APART = 5 * LINE };
  const struct ptx_inst *i = k->r[r].konst == K_BANK ? back_single(k, r) : NULL;
  if (!i) return 0;
  const struct ptx_opnd *o = &i->ops[1];
  if (i->op == OP_CVTA && o->kind == OK_REG) return operand_of(k, o->reg->num);
  if (o->kind == OK_SREG) return 1;
  if (o->kind == OK_VAR) return (uint8_t)(1 + (ADDRESSES + 8 * (o->var->serial % 256)) / LINE);
  if (ptx_has(i, M_CONST)) {
    uint64_t in_bank = (uint64_t)o->imm + (uint64_t)o->var->serial * APART;
    return (uint8_t)(1 + (ADDRESSES + in_bank % (BANK - ADDRESSES)) / LINE);
  }
  uint64_t at = k->t->sm < 90 ? 0x160 : 0x210;
  for (uint32_t p = 0; p < k->f->nparams; p++) {
    const struct ptx_var *v = k->f->params[p];
    if (!v) continue;
    uint64_t align = v->align ? v->align : 4;
    at = (at + align - 1) / align * align;
    if (v == o->var) return (uint8_t)(1 + (at + (uint64_t)o->imm) % BANK / LINE);
    at += v->bytes;
  }
  return 0;
}

static uint16_t new_move(struct select *s, uint32_t block, bool wide) {
  struct back *k = s->k;
  static const uint8_t movs[] = {MO_MOV, MO_MOV};
  if (s->nmade == s->cap_made) {
    struct node *m = ARENA_ARRAY(&k->scratch, struct node, s->cap_made = 2 * s->cap_made + 16);
    if (s->nmade) memcpy(m, s->made, s->nmade * sizeof *m);
    s->made = m;
  }
  uint16_t r = back_register(k, wide ? T_B64 : T_B32);
  s->made[s->nmade++] = (struct node){.block = block, .ops = movs, .nops = wide ? 2 : 1, .parallel = true, .fresh = r};
  return r;
}

/* The constant of a register in a register, one move for all readers of a block. */
static uint16_t in_register(struct select *s, uint32_t block, uint16_t r) {
  if (s->moved_in[r] != (uint16_t)(block + 1)) {
    s->moved_in[r] = (uint16_t)(block + 1);
    s->moved[r] = new_move(s, block, back_wide(s->k, r));
    s->made[s->nmade - 1].operand = operand_of(s->k, r);
  }
  return s->moved[r];
}

/* `early`: in the first block, for all that follow: numbers of floating point, which ptxas takes out of loops. */
static uint16_t number_in_register(struct select *s, uint32_t block, int64_t imm, bool early) {
  if (early) {
    for (uint32_t q = 0; q < s->nearly; q++)
      if (s->early[q].imm == imm) return s->early[q].reg;
    if (s->nearly < 8) {
      s->early[s->nearly].imm = imm;
      return s->early[s->nearly++].reg = new_move(s, 0, false);
    }
  }
  for (uint32_t q = 0; q < s->nimms; q++)
    if (s->imms[q].imm == imm) return s->imms[q].reg;
  uint16_t r = new_move(s, block, false);
  if (s->nimms < 64) s->imms[s->nimms].imm = imm, s->imms[s->nimms++].reg = r;
  return r;
}

static uint32_t room_for_constants(const struct node *u) {
  enum mach_op op = (enum mach_op)u->ops[u->nops - 1];
  uint8_t cls = mach_infos[op].cls;
  return cls >= MC_LDG && cls <= MC_TEX ? 0 : cls == MC_BRANCH || cls == MC_BAR ? 8 : 1;
}

static void place_address(struct select *s, struct node *u, const struct ptx_opnd *m) {
  struct back *k = s->k;
  struct place p = back_place(k, m);
  u->addr_imm = p.off;
  if (!p.base) return;
  uint16_t r = m->reg->num; /* as far as the sums on the way are part of it */
  while (r != p.base && k->n[k->r[r].def].role == ROLE_FREE && !k->r[r].konst) {
    int64_t imm;
    uint16_t base = 0;
    if (!back_adds(k, k->n[k->r[r].def].in, &imm, &base)) break;
    r = base;
  }
  if (k->r[r].konst == K_IMM) return;
  if (k->r[r].konst == K_BANK) {
    bool fixed = u->space == SPACE_CONST || u->space == SPACE_PARAM || u->space == SPACE_SHARED;
    if (!fixed) u->addr = in_register(s, u->block, r);
    return;
  }
  struct node tmp = {.nsrc = 0};
  struct leaves l = {.nkonst = 0};
  leaf(s, &tmp, r, &l, 0);
  u->addr = tmp.nsrc ? tmp.src[0] : 0;
  for (uint32_t q = 1; q < tmp.nsrc; q++) add_source(u, tmp.src[q]);
  for (uint32_t q = 0; q < l.nkonst && !tmp.nsrc; q++) u->addr = in_register(s, u->block, l.konst[q]);
}

static void find_sources(struct select *s, struct node *u) {
  struct leaves l = {.nkonst = 0};
  const struct ptx_opnd *m = NULL;
  for (uint32_t q = 0; q < u->in->nops; q++)
    if (u->in->ops[q].kind == OK_MEM) m = &u->in->ops[q];
  if (m) place_address(s, u, m);
  if (u->in->guard) {
    struct node tmp = {.nsrc = 0};
    leaf(s, &tmp, u->in->guard->num, &l, 0);
    u->pred = tmp.nsrc ? tmp.src[0] : 0;
    for (uint32_t q = 1; q < tmp.nsrc; q++) add_source(u, tmp.src[q]);
    l = (struct leaves){.nkonst = 0};
  }
  uint32_t n = 0;
  for (uint32_t q = 0; q < u->nuse; q++) {
    bool defined = false; /* a guarded result keeps the old value: no operand of the machine's */
    for (uint32_t d = 0; d < u->ndef; d++) defined |= u->in->guard && u->def[d] == u->use[q];
    if (m && m->reg && u->use[q] == m->reg->num && n++ == 0) continue;
    if (u->in->guard && q == 0) continue; /* the guard comes first */
    if (!defined) leaf(s, u, u->use[q], &l, 0);
  }
  immediates(u->in, &l);
  uint32_t room = room_for_constants(u);
  bool is_float = ptx_type_kinds[u->in->types[0]] == 'f' && ptx_ops[u->in->op].kind == KIND_ALU;
  if (back_machine_op(u->in) == MO_SHFL) room = 3;
  for (uint32_t q = 0; q < l.nkonst; q++) {
    bool inside = room && !(s->moved_in[l.konst[q]] == (uint16_t)(u->block + 1));
    uint8_t operand = inside ? operand_of(s->k, l.konst[q]) : 0;
    if (operand) u->operand = operand;
    if (inside) room--;
    else add_source(u, in_register(s, u->block, l.konst[q]));
  }
  for (uint32_t q = 0; q < l.nimm; q++) {
    if (room) room--;
    else add_source(u, number_in_register(s, u->block, l.imm[q], s->k->b[u->block].depth && is_float));
  }
}

/* A sequence that leaves out rare operands branches: code before and after it lies in blocks of its own. */
static bool jumps(const struct node *u) {
  bool yes = false;
  for (uint32_t q = 0; q < u->nops && u->role == ROLE_COST && u->in; q++)
    yes |= u->nops > 1 && (u->ops[q] == MO_BRA || u->ops[q] == MO_CALL);
  return yes;
}

/* Sine and cosine begin with the same product: the one of another of them, of the same operand and between `from` and
 * `to`, or 0. */
static uint16_t shared_lead(const struct back *k, const struct node *u, const struct node *from,
                            const struct node *to) {
  const struct ptx_inst *i = u->in;
  if ((i->op != OP_SIN && i->op != OP_COS) || i->guard || i->ops[1].kind != OK_REG || !k->r[i->ops[1].reg->num].ssa)
    return 0;
  for (; from < to; from++) {
    const struct ptx_inst *o = from->in ? NULL : from->line_of;
    if (o && from->fresh && (o->op == OP_SIN || o->op == OP_COS) && !o->guard && o->types[0] == i->types[0] &&
        o->ops[1].reg == i->ops[1].reg && o->ops[1].neg == i->ops[1].neg && o->ops[1].minus == i->ops[1].minus)
      return from->fresh;
  }
  return 0;
}

/* The machine instructions before the last of a sequence, each a node: the first reads what the instruction reads,
 * every other the one before it. `first`: of the block. */
static uint32_t lead_in(struct back *k, struct node *u, const struct node *first, struct node *out) {
  uint32_t n = u->role == ROLE_COST && u->in && !u->parallel && u->nops > 1 ? u->nops - 1u : 0;
  uint16_t last = n ? shared_lead(k, u, first, out) : 0;
  if (last) {
    u->src[0] = last;
    u->nsrc = 1;
    u->ops += n;
    u->nops = 1;
    return 0;
  }
  for (uint32_t q = 0; q < n; q++) {
    struct node *c = &out[q];
    *c =
        (struct node){.block = u->block, .ops = u->ops + q, .nops = 1, .line_of = u->in, .operand = q ? 0 : u->operand};
    if (last) c->src[c->nsrc++] = last;
    else memcpy(c->src, u->src, sizeof c->src), c->nsrc = u->nsrc;
    c->fresh = last = back_register(k, T_B32);
  }
  if (!n) return 0;
  if (u->nsrc < MAX_SRC) u->src[u->nsrc++] = last;
  u->ops += n;
  u->nops = 1;
  return n;
}

/* The moves of constants and the beginnings of sequences join their blocks. */
static void insert_made(struct select *s) {
  struct back *k = s->k;
  uint32_t most = k->nn + s->nmade;
  for (uint32_t i = 0; i < k->nn; i++) most += k->n[i].nops;
  struct node *n = ARENA_ARRAY(&k->scratch, struct node, most + 1);
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1), at = 0;
  for (uint32_t q = 0; q < k->nb; q++) {
    struct bblock *b = &k->b[q];
    uint32_t first = at;
    for (uint32_t m = 0; m < s->nmade; m++)
      if (s->made[m].block == q) n[at++] = s->made[m];
    for (uint32_t i = b->first; i < b->end; i++) {
      if (jumps(&k->n[i])) k->n[i].order |= ORD_ALL;
      at += lead_in(k, &k->n[i], n + first, n + at);
      to[i] = at, n[at++] = k->n[i];
    }
    b->first = first;
    b->end = at;
  }
  for (uint32_t r = 0; r <= k->nregs; r++)
    if (k->r[r].def != NODE_NONE) k->r[r].def = to[k->r[r].def];
  for (uint32_t i = 0; i < at; i++) {
    struct ptx_inst *in = n[i].in;
    if (in && in->op == OP_BRA) in->target = k->n[in->target].block; /* from here on a block's number */
    for (int64_t q = 0; in && in->op == OP_BRX && q < in->ops[1].imm; q++)
      in->ops[1].vec[q].imm = k->n[in->ops[1].vec[q].imm].block;
  }
  k->n = n;
  k->nn = at;
  k->blocks_named = true;
}

/* ---- pipes ---- */

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

void back_select(struct back *k) {
  struct select s = {.k = k};
  s.inputs = ARENA_ARRAY(&k->scratch, uint8_t, k->nn + 1);
  find_narrow(&s);
  for (uint32_t i = 0; i < k->nn; i++) select_node(&s, &k->n[i]);
  s.moved = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  s.moved_in = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  for (uint32_t q = 0; q < k->nb; q++) {
    s.nimms = 0;
    for (uint32_t i = k->b[q].first; i < k->b[q].end; i++)
      if (k->n[i].role == ROLE_COST) find_sources(&s, &k->n[i]);
  }
  insert_made(&s);
  for (uint32_t q = 0; q < k->nb; q++) balance(k, &k->b[q]);
}
