/* select.c - which instructions of PTX become one machine instruction, which none, and what each reads.
 *
 * An instruction is absorbed where the machine instruction of its reader does its work as well: a product by the sum
 * that uses it (IMAD, IMAD.WIDE, LEA), sums of three, logic of three inputs, a negated operand, an address plus a
 * constant, a comparison by the operation on its predicate.
 */
#include <string.h>

#include "back/back_impl.h"

struct select {
  struct back *k;
  uint8_t *narrow;   /* by register: an address of 32 bits to the machine */
  uint8_t *low;      /* by register of 64 bits: only its lower half is read */
  uint8_t *inputs;   /* by node: leaves of its tree so far */
  uint8_t *replaced; /* by register: a guarded instruction writes it alone */
  uint8_t *zero;     /* by register: it is zero at this place of the block */
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
/* LEA.HI adds the upper bits of a word, with or without its sign. */
static bool upper_bits(const struct ptx_inst *i) {
  return i->op == OP_SHR && ptx_type_bytes[i->types[0]] == 4 && i->ops[2].kind == OK_IMM && i->ops[2].imm > 0 &&
         i->ops[2].imm < 32;
}
/* It adds a word that is turned by a number, too. */
static bool turned(const struct ptx_inst *i) {
  if (i->op != OP_SHF || i->nops != 4 || i->ops[1].kind != OK_REG || i->ops[2].kind != OK_REG) return false;
  if (i->ops[1].reg != i->ops[2].reg || i->ops[1].sel || i->ops[2].sel) return false;
  return i->ops[3].kind == OK_IMM && i->ops[3].imm > 0 && i->ops[3].imm < 32;
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
  bool bank = k->t->sm < NO_BANK_OPERANDS;
  for (uint32_t q = 1; q <= 2 && u->in->op == OP_ADD && bank;
       q++) { /* a product of constants, made again in blocks that add it */
    struct node *c = def_node(k, &u->in->ops[q]);
    if (!c || c->block == u->block || !plain_mul(c->in) || c->in->guard || constants_in(k, c->in) != 2) continue;
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
    bool shift = ((shift_by_constant(c->in, 4) && c->in->ops[2].imm < 32) || upper_bits(c->in) ||
                  (turned(c->in) && u->in->op == OP_ADD)) &&
                 !minus;
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

/* ---- integers of 64 bits of which the lower half is read ---- */

/* The lower half of the result is made of the lower halves of the operands; of a shift to the right of both. */
static bool has_low_half(const struct ptx_inst *i) {
  if (i->guard || i->nops < 2 || i->ops[0].kind != OK_REG || ptx_type_bytes[i->types[0]] != 8) return false;
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_has(i, M_HI) || ptx_has(i, M_CC) || ptx_has(i, M_SAT)) return false;
  return i->op == OP_ADD || i->op == OP_SUB || i->op == OP_MUL || i->op == OP_MAD || i->op == OP_SHL ||
         i->op == OP_SHR || i->op == OP_AND || i->op == OP_OR || i->op == OP_XOR || i->op == OP_NOT;
}

static bool reads_low_half(const struct select *s, const struct node *n, uint16_t r) {
  const struct ptx_inst *i = n->in;
  if (i->op == OP_ST)
    return ptx_type_bytes[i->types[0]] <= 4 && i->ops[1].kind == OK_REG && i->ops[1].reg->num == r &&
           (!i->ops[0].reg || i->ops[0].reg->num != r);
  if (i->op == OP_CVT)
    return ptx_type_bytes[i->types[0]] <= 4 && ptx_type_kinds[i->types[0]] != 'f' && ptx_type_bytes[i->types[1]] == 8 &&
           ptx_type_kinds[i->types[1]] != 'f' && !ptx_has(i, M_SAT);
  return n->ndef == 1 && s->low[n->def[0]] && i->op != OP_SHR;
}

static void find_low(struct select *s) {
  struct back *k = s->k;
  s->low = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  for (uint32_t r = 1; r <= k->nregs; r++) {
    const struct ptx_inst *i = back_single(k, (uint16_t)r);
    s->low[r] = i && back_wide(k, (uint16_t)r) && has_low_half(i);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++) {
      const struct node *n = &k->n[i];
      for (uint32_t u = 0; u < n->nuse; u++)
        if (s->low[n->use[u]] && !reads_low_half(s, n, n->use[u])) s->low[n->use[u]] = 0, changed = true;
    }
  }
}

/* ---- logic of up to three inputs ---- */

static bool is_logic(const struct ptx_inst *i) {
  return (i->op == OP_AND || i->op == OP_OR || i->op == OP_XOR || i->op == OP_NOT) && i->types[0] != T_PRED;
}

static bool same_input(const struct ptx_opnd *x, const struct ptx_opnd *y) {
  if (x->kind != y->kind) return false;
  return x->kind == OK_REG ? x->reg == y->reg && !x->sel && !y->sel : x->kind == OK_IMM && x->imm == y->imm;
}

/* What goes into the node and the logic that is part of it, each once; `first`, `second`: children that would be part,
 * too. Returns how many there are; beyond MOST_INPUTS it need not be exact. */
enum { MOST_INPUTS = 3 };
static uint32_t logic_inputs(const struct back *k, const struct node *u, const struct node *first,
                             const struct node *second, const struct ptx_opnd **in, uint32_t n) {
  for (uint32_t q = 1; q <= (u->in->op == OP_NOT ? 1u : 2u); q++) {
    const struct ptx_opnd *o = &u->in->ops[q];
    const struct node *c = def_node(k, o);
    bool part =
        c && is_logic(c->in) && (c->role == ROLE_FREE ? k->r[o->reg->num].uses == 1 : c == first || c == second);
    if (part) {
      n = logic_inputs(k, c, NULL, NULL, in, n);
      continue;
    }
    uint32_t x = 0;
    while (x < n && x < MOST_INPUTS && !same_input(in[x], o)) x++;
    if (x < n) continue;
    if (n < MOST_INPUTS) in[n] = o;
    n++;
  }
  return n;
}

/* Do these children fit into the node's three inputs? Then they are part of it. */
static bool takes(struct select *s, struct node *u, struct node *first, struct node *second) {
  const struct ptx_opnd *in[MOST_INPUTS];
  uint32_t n = logic_inputs(s->k, u, first, second, in, 0), constants = 0;
  if (n > MOST_INPUTS) return false;
  for (uint32_t x = 0; x < n; x++) constants += constant_operand(s->k, in[x]);
  if (constants > 1) return false;
  absorb(s, first);
  if (second) absorb(s, second);
  s->inputs[u - s->k->n] = (uint8_t)n;
  return true;
}

static void logic(struct select *s, struct node *u) {
  struct back *k = s->k;
  uint32_t operands = u->in->op == OP_NOT ? 1 : 2;
  struct node *c[2] = {NULL, NULL};
  s->inputs[u - k->n] = (uint8_t)operands;
  for (uint32_t q = 0; q < operands; q++) {
    struct node *x = child(k, u, &u->in->ops[q + 1]);
    if (x && is_logic(x->in) && ptx_type_bytes[x->in->types[0]] == ptx_type_bytes[u->in->types[0]]) c[q] = x;
  }
  if (c[0] && c[1] && takes(s, u, c[0], c[1])) return;
  for (uint32_t q = 0; q < operands; q++)
    if (c[q]) takes(s, u, c[q], NULL);
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

/* The bit that a comparison of one bit with zero asks about: 8 * byte + bit; false: it does not. */
static bool one_bit(const struct back *k, const struct node *u, uint16_t *word, uint32_t *bit) {
  if (u->role != ROLE_COST || !u->in || u->in->op != OP_SETP || u->in->guard || u->ndef != 1 || u->nops != 1 ||
      u->ops[0] != MO_LOP3 || k->r[u->def[0]].def == NODE_NONE)
    return false;
  const struct node *c = def_node(k, &u->in->ops[1]);
  if (!c || c->in->op != OP_AND || c->role != ROLE_FREE || c->in->ops[1].kind != OK_REG || c->in->ops[1].sel ||
      c->in->ops[1].part || c->in->ops[2].kind != OK_IMM)
    return false;
  uint32_t mask = (uint32_t)c->in->ops[2].imm;
  if (!mask || mask & (mask - 1) || k->r[c->in->ops[1].reg->num].def == NODE_NONE) return false;
  *word = c->in->ops[1].reg->num;
  *bit = (uint32_t)__builtin_ctz(mask);
  return *bit % 8 < 7; /* there are seven predicates */
}

/* R2P: bits of one byte become predicates at once, two or more (ptxas 11.8). */
static void bits_to_predicates(struct select *s, const struct bblock *b) {
  enum { MOST = 32 };
  struct back *k = s->k;
  struct {
    uint16_t word;
    uint32_t byte;
    struct node *first;
  } group[MOST];
  uint32_t n = 0;
  for (uint32_t i = b->first; i < b->end; i++) {
    struct node *u = &k->n[i];
    uint16_t word;
    uint32_t bit, g = 0;
    if (!one_bit(k, u, &word, &bit)) continue;
    while (g < n && (group[g].word != word || group[g].byte != bit / 8)) g++;
    if (g == n) {
      if (n < MOST) group[n].word = word, group[n].byte = bit / 8, group[n++].first = u;
      continue;
    }
    uint16_t of = group[g].first->def[0];
    single(s, group[g].first, MO_R2P);
    u->role = ROLE_FREE;
    u->src[0] = of; /* its readers wait for the first */
    u->nsrc = 1;
    k->r[u->def[0]].same = of;
  }
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

/* The compute capability since which the ALU converts 32-bit integers to floats, not names a byte. */
enum { CONVERTS_WORDS = 90 };

/* A byte of a register, with zeros or its sign above it (bytes.c). */
static bool takes_byte(const struct node *c) {
  return c && c->in->op == OP_PRMT && c->in->nops == 4 && c->in->ops[3].kind == OK_IMM &&
         c->in->ops[2].kind == OK_IMM && !c->in->ops[2].imm &&
         ((c->in->ops[3].imm & ~3) == 0x4440 || (c->in->ops[3].imm & 0x8888) == 0x8880);
}

/* A load, or what takes a byte, has extended it; not that of two half-words to a register. */
static bool loaded(const struct back *k, const struct ptx_opnd *o) {
  struct node *c = def_node(k, o);
  return (c && c->in->op == OP_LD && c->in->ops[0].kind != OK_VEC) || takes_byte(c);
}

/* Two half-words of a register: the one above takes an instruction, unless its reader names it. */
static bool half_loaded(const struct back *k, const struct ptx_opnd *o) {
  struct node *c = def_node(k, o);
  return c && c->in->op == OP_LD && c->in->ops[0].kind == OK_VEC && ptx_type_bytes[c->in->types[0]] == 2;
}

/* Arithmetic that saturates: a conversion to the same type is part of it. */
static bool saturates(const struct back *k, struct node *u) {
  const struct ptx_inst *i = u->in;
  if (i->types[0] != T_F32 || i->types[1] != T_F32 || !ptx_has(i, M_SAT) || ptx_has(i, M_RNI) || i->guard) return false;
  struct node *c = child(k, u, &i->ops[1]);
  if (!c || c->in->types[0] != T_F32 || ptx_has(c->in, M_SAT) || c->nops != 1) return false;
  if (c->in->op != OP_FMA && c->in->op != OP_ADD && c->in->op != OP_SUB && c->in->op != OP_MUL) return false;
  c->role = ROLE_FREE;
  u->ops = c->ops;
  u->nops = 1;
  return true;
}

static bool is_number(const struct ptx_opnd *o, int64_t n) {
  return o->kind == OK_IMM && o->imm == n;
}

/* A conversion of an integer to a float reads a byte of a register: its lowest or highest, before 9.0 any. */
static void read_byte(struct select *s, const struct node *u) {
  const struct back *k = s->k;
  struct node *c = child(k, u, &u->in->ops[1]);
  if (!c || c->in->guard || ptx_type_bytes[u->in->types[1]] != 4) return;
  bool any = k->t->sm < CONVERTS_WORDS, mask = c->in->op == OP_AND && is_number(&c->in->ops[2], 255);
  struct node *shift = mask ? child(k, c, &c->in->ops[1]) : c;
  bool shifts = shift && shift->in->op == OP_SHR && ptx_type_bytes[shift->in->types[0]] == 4 &&
                (mask || ptx_type_kinds[shift->in->types[0]] != 's');
  int64_t by = shifts && shift->in->ops[2].kind == OK_IMM ? shift->in->ops[2].imm : 0;
  if (shifts && (by == 24 || (mask && any && (by == 8 || by == 16)))) absorb(s, shift), absorb(s, c);
  else if (mask && (!shift || shift->in->op != OP_SHR)) absorb(s, c);
}

static void conversion(struct select *s, struct node *u) {
  struct back *k = s->k;
  const struct ptx_inst *i = u->in;
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_type_kinds[i->types[1]] == 'f' || i->guard || ptx_has(i, M_SAT)) {
    if (ptx_type_kinds[i->types[1]] == 'f') floating(s, u);
    if (saturates(k, u)) return;
    struct node *c = def_node(k, &i->ops[1]); /* of a part of a register */
    if (c && c->in->op == OP_CVT && c->block == u->block && ptx_type_kinds[i->types[1]] != 'f' &&
        child(k, u, &i->ops[1]) && ptx_type_kinds[c->in->types[1]] != 'f' && ptx_type_kinds[c->in->types[0]] != 'f')
      absorb(s, c);
    if (takes_byte(c) && k->t->sm < CONVERTS_WORDS && child(k, u, &i->ops[1])) absorb(s, c);
    if (i->types[0] == T_F32 && ptx_type_kinds[i->types[1]] != 'f') read_byte(s, u);
    return;
  }
  uint32_t db = ptx_type_bytes[i->types[0]], sb = ptx_type_bytes[i->types[1]];
  bool sign = ptx_type_kinds[i->types[1]] == 's';
  bool none = db < sb    ? db >= 2 && sb != 2 /* the low part of a register */
              : sb == 4  ? !sign              /* the upper half is zero */
              : db == sb ? true
                         : loaded(k, &i->ops[1]) || (sb == 2 && !sign); /* a load has extended it */
  if (db == 2 && sb == 1) none = true;
  if (db > sb && half_loaded(k, &i->ops[1])) none = false;
  const struct node *from = def_node(k, &i->ops[1]);
  if (from && from->in->op == OP_MOV && from->in->ops[0].kind == OK_VEC && db > sb)
    none = false; /* one of two halves */
  if (none) u->role = ROLE_FREE;
}

/* ---- moves ---- */

static bool defines(const struct node *n, uint16_t r) {
  for (uint32_t d = 0; d < n->ndef; d++)
    if (n->def[d] == r) return true;
  return false;
}

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

/* Is the copy read in its block only, by instructions up to node `to`? `through`: made of it at no cost,
 * such as an address plus a number. */
static bool read_up_to(const struct back *k, uint32_t copy, uint32_t to) {
  enum { MOST = 64 };
  uint16_t through[MOST] = {k->n[copy].def[0]};
  uint32_t n = 1, left = k->r[through[0]].uses;
  for (uint32_t i = copy + 1; i <= to && left; i++) {
    const struct node *u = &k->n[i];
    bool reads = false;
    for (uint32_t q = 0; q < u->nuse; q++)
      for (uint32_t t = 0; t < n; t++)
        if (u->use[q] == through[t]) reads = true, left--;
    if (!reads || u->role != ROLE_FREE) continue;
    if (u->ndef != 1 || n == MOST || k->r[u->def[0]].def == NODE_NONE) return false;
    left += k->r[u->def[0]].uses;
    through[n++] = u->def[0];
  }
  return !left;
}

/* Copies of a loop's variable with which the copies of its body begin: the same register, if all are read before it
 * takes its next value. */
static void copies_of_variables(struct back *k, const struct bblock *b) {
  for (uint32_t i = b->first; i < b->end; i++) {
    struct node *u = &k->n[i];
    const struct ptx_opnd *o = u->in->ops;
    if (u->in->op != OP_MOV || u->role != ROLE_COST || u->in->guard || u->ndef != 1 || u->nuse != 1) continue;
    if (o[0].kind != OK_REG || o[1].kind != OK_REG || o[1].sel || o[1].part) continue;
    uint16_t t = o[0].reg->num, r = o[1].reg->num;
    if (k->r[t].def == NODE_NONE || k->r[t].same || k->r[r].def != NODE_NONE || back_wide(k, t) || back_wide(k, r))
      continue;
    uint32_t to = i + 1;
    while (to < b->end && !defines(&k->n[to], r)) to++;
    if (to == b->end || !read_up_to(k, i, to)) continue;
    k->r[t].same = r;
    u->role = ROLE_FREE;
  }
}

/* Does the node copy zero into a register of several values, which no guarded instruction replaces alone? */
static bool zeroes(const struct select *s, const struct node *u) {
  const struct back *k = s->k;
  if (u->role != ROLE_COST || u->in->op != OP_MOV || u->in->guard || u->ndef != 1 || u->in->nops != 2) return false;
  const struct ptx_opnd *o = u->in->ops;
  if (o[0].kind != OK_REG || ptx_type_bytes[o[0].reg->type] != 4 || k->r[u->def[0]].def != NODE_NONE) return false;
  if (k->r[u->def[0]].uniform) return false;
  if (s->replaced[u->def[0]]) return false;
  if (o[1].kind == OK_IMM) return !o[1].imm;
  if (o[1].kind != OK_REG || o[1].neg || o[1].minus || o[1].sel || o[1].part) return false;
  const struct fact *f = &k->r[o[1].reg->num];
  return s->zero[o[1].reg->num] || (f->konst == K_IMM && f->number && !f->imm);
}

/* Of five and more zeros in a block all but one or two, which end up in no aligned pair, are made in pairs (CS2R). */
static void zeroes_in_pairs(struct select *s, const struct bblock *b) {
  enum { LEAST = 5 };
  struct back *k = s->k;
  uint32_t *all = ARENA_ARRAY(&k->scratch, uint32_t, b->end - b->first + 1), n = 0;
  for (uint32_t i = b->first; i < b->end; i++) {
    bool yes = zeroes(s, &k->n[i]);
    if (yes) all[n++] = i;
    for (uint32_t d = 0; d < k->n[i].ndef; d++) s->zero[k->n[i].def[d]] = yes;
  }
  for (uint32_t q = 0; q < n; q++) s->zero[k->n[all[q]].def[0]] = 0;
  for (uint32_t q = 0; n >= LEAST && q + 2 < n; q += 2) {
    single(s, &k->n[all[q]], MO_CS2R);
    k->n[all[q + 1]].role = ROLE_FREE;
  }
}

static void move(struct select *s, struct node *u) {
  struct back *k = s->k;
  const struct ptx_opnd *o = u->in->ops;
  if (o[0].kind == OK_VEC || o[1].kind == OK_VEC) return;
  if (u->in->op == OP_MOV && coalesces(k, u)) {
    k->r[o[1].reg->num].same = back_same(k, o[0].reg->num) == o[1].reg->num ? 0 : o[0].reg->num;
    u->role = ROLE_FREE;
  }
}

/* ---- memory: what is added to an address ---- */

/* Is register r a sum of a number and a variable that keeps its value from there up to node u? */
static bool is_sum_still(const struct back *k, uint16_t r, const struct node *u) {
  uint32_t d = k->r[r].def, at = (uint32_t)(u - k->n);
  int64_t imm;
  uint16_t base;
  if (d == NODE_NONE || k->n[d].block != u->block || d >= at || !back_adds(k, k->n[d].in, &imm, &base)) return false;
  if (k->r[base].def != NODE_NONE || k->r[base].konst) return false;
  while (++d < at)
    if (defines(&k->n[d], base)) return false;
  return true;
}

static void memory(struct select *s, struct node *u) {
  struct back *k = s->k;
  for (uint32_t q = 0; q < u->in->nops; q++) {
    const struct ptx_opnd *m = &u->in->ops[q];
    if (m->kind != OK_MEM || !m->reg) continue;
    struct place p = back_place(k, m);
    uint16_t r = m->reg->num;
    while (r && r != p.base) { /* the sums on the way, each if all its readers do the same */
      struct fact *f = &k->r[r];
      struct node *c = &k->n[f->def];
      int64_t imm;
      uint16_t base = 0;
      if (!back_adds(k, c->in, &imm, &base)) break;
      if (++f->absorbed < f->uses) break;
      c->role = ROLE_FREE;
      r = base;
    }
    if (r && r == p.base && is_sum_still(k, r, u) && ++k->r[r].absorbed == k->r[r].uses)
      k->n[k->r[r].def].role = ROLE_FREE;
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
  if (u->ndef == 1 && s->low[u->def[0]] && (n == 2 || u->in->op == OP_MUL || u->in->op == OP_MAD)) u->nops = 1;
  u->parallel = ptx_type_bytes[u->in->types[0]] == 8 && n == 2 && u->in->op != OP_ADD && u->in->op != OP_SUB;
  if (ptx_ops[u->in->op].kind == KIND_BARRIER || ptx_ops[u->in->op].kind == KIND_FENCE) u->parallel = true;
  u->lag = (uint8_t)back_matrix_steps(s->k, u->in);
  if (u->lag) u->parallel = true;
  s->inputs[u - s->k->n] = 2;
}

static bool is_constant(const struct back *k, const struct node *n) {
  return n->ndef == 1 && k->r[n->def[0]].konst != K_NO;
}

bool back_pairs(const struct ptx_inst *i) {
  if (ptx_type_bytes[i->types[0]] < 8) return false;
  if (i->op == OP_MOV) return i->ops[0].kind == OK_VEC || i->ops[1].kind == OK_VEC;
  if (i->op != OP_BFI) return false;
  const struct ptx_opnd *from = &i->ops[3], *bits = &i->ops[4];
  return from->kind == OK_IMM && from->imm == 32 && bits->kind == OK_IMM && bits->imm >= 32;
}

static bool accesses(const struct ptx_inst *i) {
  uint8_t kind = ptx_ops[i->op].kind;
  return kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOM;
}

static void select_node(struct select *s, struct node *u) {
  struct back *k = s->k;
  if (is_constant(k, u)) {
    u->role = ROLE_FREE;
    return;
  }
  const struct ptx_inst *i = u->in;
  if (u->role == ROLE_FREE) return; /* part of an address */
  if (back_pairs(i)) {
    u->role = ROLE_FREE;
    return;
  }
  if (!accesses(i)) expand(s, u);
  if (plain_sum(i, 4)) sum32(s, u);
  else if (plain_sum(i, 8)) sum64(s, u);
  else if (is_logic(i)) logic(s, u);
  else if ((i->op == OP_AND || i->op == OP_OR || i->op == OP_XOR || i->op == OP_NOT) && i->types[0] == T_PRED)
    predicate_logic(s, u);
  else if (i->op == OP_SETP && ptx_type_kinds[i->types[0]] != 'f') compare(s, u);
  else if (i->op == OP_CVT) conversion(s, u);
  else if (i->op == OP_MOV || i->op == OP_CVTA) move(s, u);
  else if (!accesses(i)) floating(s, u);
  if (ptx_type_kinds[i->types[0]] == 'f' && (i->op == OP_ADD || i->op == OP_SUB || i->op == OP_SETP)) floating(s, u);
}

/* Of addresses of local memory and of values whose lower half is read that half takes a register; the address of a
 * variable in local memory is the stack pointer and an offset. */
static void spare_registers(const struct select *s) {
  struct back *k = s->k;
  for (uint32_t r = 1; r <= k->nregs; r++) {
    const struct ptx_inst *i = back_single(k, (uint16_t)r);
    if (!i || !back_wide(k, (uint16_t)r)) continue;
    bool frame = i->op == OP_MOV && i->nops == 2 && i->ops[1].kind == OK_VAR && i->ops[1].var->space == SP_LOCAL;
    k->r[r].spared = frame ? 2 : s->narrow[r] || s->low[r];
  }
}

void back_select(struct back *k) {
  struct select s = {.k = k};
  s.inputs = ARENA_ARRAY(&k->scratch, uint8_t, k->nn + 1);
  back_dominators(k);
  k->dominated = true;
  find_narrow(&s);
  find_low(&s);
  spare_registers(&s);
  s.replaced = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  s.zero = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  for (uint32_t i = 0; i < k->nn; i++)
    if (k->n[i].in->guard && k->n[i].ndef == 1) s.replaced[k->n[i].def[0]] = 1;
  for (uint32_t i = 0; i < k->nn; i++) /* first what is part of an address: no sum with a product or shift then */
    if (accesses(k->n[i].in) && !is_constant(k, &k->n[i])) expand(&s, &k->n[i]), memory(&s, &k->n[i]);
  for (uint32_t i = 0; i < k->nn; i++) select_node(&s, &k->n[i]);
  back_halves(k);
  for (uint32_t q = 0; q < k->nb; q++) {
    bits_to_predicates(&s, &k->b[q]);
    copies_of_variables(k, &k->b[q]);
  }
  back_uniform(k);
  for (uint32_t q = 0; q < k->nb; q++) zeroes_in_pairs(&s, &k->b[q]);
}
