/* fragments.c - wmma as the machine has it: a load or store of a fragment is addresses by lane and ordinary accesses,
 * or LDSM, and a product is that of the machine's shape. PTX leaves open which lane holds which element; here the
 * lanes hold what the machine's products take (PTX ISA, "Matrix Fragments for mma.m8n8k4" and "mma.m16n8k16"), as
 * ptxas has it (cuobjdump, 11.8).
 *
 * Volta: A and B by groups of four lanes, four products of 8 x 8 x 4 at a time; the warp's two halves hold rows 0 to 3
 * and 4 to 7 of each. Turing and later: products with 16 rows of A and 8 columns of B. Of m8n32k16, whose A has 8 rows,
 * the transposed product is computed: B is its first operand.
 *
 * Elements are 16-bit floats, accumulators these or 32-bit floats; fragments of other types stay as they are.
 */
#include "back/back_impl.h"

/* Instructions in the place of one, registers that an access takes. */
enum { MOST_NEW = 40, MOST_REGISTERS = 16, MOST_VALUES = 64 };

/* A value that depends on the lane alone. */
struct by_lane {
  enum ptx_opcode op;
  struct ptx_opnd x, y, is;
};

struct fragments {
  struct making m;
  struct by_lane value[MOST_VALUES]; /* of the present block */
  uint32_t values, block;
};

/* ---- which ---- */

static bool has_shape(const struct ptx_inst *i) {
  return ptx_has(i, M_M16N16K16) || ptx_has(i, M_M8N32K16) || ptx_has(i, M_M32N8K16);
}

static bool is_half(uint8_t t) {
  return t == T_F16 || t == T_BF16;
}

/* Of the types whose fragments are placed here. */
static bool is_ours(const struct ptx_inst *i) {
  return i->op == OP_WMMA && !i->refused && has_shape(i) && (is_half(i->types[0]) || i->types[0] == T_F32);
}

static bool is_access(const struct ptx_inst *i) {
  return ptx_has(i, M_LOAD) || ptx_has(i, M_STORE);
}

static bool is_vector(const struct ptx_opnd *o, uint32_t least) {
  if (o->kind != OK_VEC || o->n < least) return false;
  for (uint32_t q = 0; q < o->n; q++)
    if (o->vec[q].kind != OK_REG) return false;
  return true;
}

static char matrix_of(const struct ptx_inst *i) {
  return ptx_has(i, M_AA) ? 'a' : ptx_has(i, M_B) ? 'b' : 'c';
}

/* Since Turing: blocks of 16 rows (columns of B where the product is transposed) or 8 columns that an operand has. */
static uint32_t tiles(const struct ptx_inst *i, bool first) {
  return ptx_has(i, M_M16N16K16) ? (first ? 1 : 2) : first ? 2 : 1;
}

static bool transposed(const struct ptx_inst *i) {
  return ptx_has(i, M_M8N32K16);
}

/* Is the operand the first one of the machine's product? */
static bool is_first(const struct ptx_inst *i, char part) {
  return (part == 'a') != transposed(i);
}

static uint32_t registers_of(const struct back *k, const struct ptx_inst *i, char part) {
  if (part == 'c') return i->types[0] == T_F32 ? 8 : 4;
  if (k->t->sm < 75) return 8;
  bool first = is_first(i, part);
  return tiles(i, first) * (first ? 4 : 2);
}

static bool known_access(const struct back *k, const struct ptx_inst *i) {
  bool load = ptx_has(i, M_LOAD);
  const struct ptx_opnd *mem = &i->ops[load ? 1 : 0], *data = &i->ops[load ? 0 : 1];
  char part = matrix_of(i);
  if (i->nops < 3 || i->guard || mem->kind != OK_MEM || mem->n || (!mem->reg && !mem->var)) return false;
  if (i->ops[2].kind != OK_REG && i->ops[2].kind != OK_IMM) return false;
  if (part == 'c' ? i->types[0] == T_BF16 : !is_half(i->types[0])) return false;
  return is_vector(data, registers_of(k, i, part));
}

/* Do vectors share a register? A product in several steps writes before it has read all. */
static bool have_common(const struct ptx_opnd *x, const struct ptx_opnd *y) {
  for (uint32_t q = 0; x->kind == OK_VEC && q < x->n; q++)
    for (uint32_t p = 0; y->kind == OK_VEC && p < y->n; p++)
      if (x->vec[q].reg == y->vec[p].reg) return true;
  return false;
}

static bool known_product(const struct back *k, const struct ptx_inst *i) {
  uint8_t d = i->types[0], c = i->types[i->ntypes - 1], a = i->ntypes == 4 ? i->types[1] : T_F16;
  if (i->guard || ptx_has(i, M_SATFINITE) || i->nops != 4 || (i->ntypes != 2 && i->ntypes != 4)) return false;
  if ((d != T_F32 && d != T_F16) || (c != T_F32 && c != T_F16)) return false;
  if (!is_half(a) || (i->ntypes == 4 && i->types[2] != a)) return false;
  if (k->t->sm >= 75 && (d != c || (a == T_BF16 && d != T_F32))) return false;
  if (a == T_BF16 && k->t->sm < 80) return false;
  if (have_common(&i->ops[0], &i->ops[1]) || have_common(&i->ops[0], &i->ops[2])) return false;
  return is_vector(&i->ops[0], d == T_F32 ? 8 : 4) && is_vector(&i->ops[1], registers_of(k, i, 'a')) &&
         is_vector(&i->ops[2], registers_of(k, i, 'b')) && is_vector(&i->ops[3], c == T_F32 ? 8 : 4);
}

/* ---- values ---- */

static bool same_operand(const struct ptx_opnd *x, const struct ptx_opnd *y) {
  return x->kind == y->kind && x->reg == y->reg && x->imm == y->imm && x->sreg == y->sreg;
}

/* Of values by lane and numbers. */
static struct ptx_opnd value(struct fragments *g, enum ptx_opcode op, struct ptx_opnd x, struct ptx_opnd y) {
  bool bits = op == OP_AND || op == OP_OR || op == OP_SHL;
  for (uint32_t q = 0; q < g->values; q++) {
    const struct by_lane *v = &g->value[q];
    if (v->op == op && same_operand(&v->x, &x) && same_operand(&v->y, &y)) return v->is;
  }
  struct ptx_opnd to = make_register(&g->m, T_B32);
  make_inst(&g->m, to, op, bits ? T_B32 : T_U32, x, y);
  if (g->values < MOST_VALUES) g->value[g->values++] = (struct by_lane){op, x, y, to};
  return to;
}

static struct ptx_opnd value_with(struct fragments *g, enum ptx_opcode op, struct ptx_opnd x, int64_t y) {
  return value(g, op, x, make_number(y));
}

/* x * y + z of 32 bits; of 64 bits from products of 32 if z has them. */
static struct ptx_opnd product(struct fragments *g, struct ptx_opnd x, struct ptx_opnd y, struct ptx_opnd z) {
  bool wide = z.kind == OK_REG && ptx_type_bytes[z.reg->type] == 8;
  struct ptx_opnd to = make_register(&g->m, wide ? T_B64 : T_B32);
  back_set(make_inst(&g->m, to, OP_MAD, T_U32, x, y), wide ? M_WIDE : M_LO);
  make_operand(&g->m, z);
  return to;
}

static struct ptx_opnd lane(struct fragments *g) {
  return value(g, OP_MOV, make_special(SR_LANEID), make_nothing);
}

/* Bits [at, at + n) of the lane's number, moved to bit `to`. */
static struct ptx_opnd lane_bits(struct fragments *g, uint32_t at, uint32_t n, uint32_t to) {
  enum { LANE_BITS = 5 };
  struct ptx_opnd x = lane(g);
  int64_t mask = (1ll << n) - 1;
  if (at) x = value_with(g, OP_SHR, x, at);
  if (at + n < LANE_BITS) x = value_with(g, OP_AND, x, mask);
  return to ? value_with(g, OP_SHL, x, to) : x;
}

/* Nothing counts as zero. */
static struct ptx_opnd both(struct fragments *g, struct ptx_opnd x, struct ptx_opnd y) {
  if (x.kind == OK_NONE) return y;
  return y.kind == OK_NONE ? x : value(g, OP_OR, x, y);
}

/* ---- accesses ---- */

/* An access of a fragment: element (line, at) of the matrix in memory, whose lines are a stride apart, by lane; what
 * the lanes have in common is added per piece. */
struct place_in {
  struct ptx_opnd line, at; /* nothing: 0 */
  struct ptx_opnd base;     /* address of that element, once it is known */
  struct ptx_opnd moved;    /* the same `moved_by` lines on */
  uint32_t moved_by;
};

static const struct ptx_opnd *matrix_in_memory(const struct fragments *g) {
  return &g->m.of->ops[ptx_has(g->m.of, M_LOAD) ? 1 : 0];
}

static const struct ptx_opnd *data(const struct fragments *g) {
  return &g->m.of->ops[ptx_has(g->m.of, M_LOAD) ? 0 : 1];
}

static uint32_t element_bytes(const struct fragments *g) {
  return ptx_type_bytes[g->m.of->types[0]];
}

static struct ptx_opnd base_of(struct fragments *g) {
  const struct ptx_opnd *m = matrix_in_memory(g);
  struct ptx_opnd o = *m;
  if (m->reg) return (struct ptx_opnd){.kind = OK_REG, .reg = m->reg, .line = m->line, .col = m->col};
  bool narrow = m->var->space == SP_SHARED;
  struct ptx_opnd to = make_register(&g->m, narrow ? T_B32 : T_B64);
  o.kind = OK_VAR, o.imm = 0;
  make_inst(&g->m, to, OP_MOV, narrow ? T_U32 : T_U64, o, make_nothing);
  return to;
}

static void find_base(struct fragments *g, struct place_in *p) {
  struct ptx_opnd stride = g->m.of->ops[2], base = base_of(g), bytes = make_number(element_bytes(g));
  if (p->line.kind == OK_NONE) {
    p->base = p->at.kind == OK_NONE ? base : product(g, p->at, bytes, base);
  } else if (p->at.kind == OK_NONE && stride.kind == OK_REG) {
    p->base = product(g, value(g, OP_MUL, p->line, bytes), stride, base);
  } else if (p->at.kind == OK_NONE) {
    p->base = product(g, p->line, make_number(stride.imm * element_bytes(g)), base);
  } else {
    p->base = product(g, product(g, p->line, stride, p->at), bytes, base);
  }
  p->moved = p->base;
  p->moved_by = 0;
}

/* The address of the element that lies so many lines and elements further on. */
static struct ptx_opnd element_at(struct fragments *g, struct place_in *p, uint32_t lines, uint32_t at) {
  struct ptx_opnd stride = g->m.of->ops[2];
  int64_t bytes = element_bytes(g), imm = matrix_in_memory(g)->imm + (int64_t)at * bytes;
  if (p->base.kind == OK_NONE) find_base(g, p);
  if (stride.kind == OK_IMM) imm += (int64_t)lines * stride.imm * bytes;
  else if (lines != p->moved_by)
    p->moved = lines ? product(g, stride, make_number(lines * bytes), p->base) : p->base, p->moved_by = lines;
  struct ptx_opnd from = stride.kind == OK_IMM ? p->base : p->moved;
  return (struct ptx_opnd){.kind = OK_MEM, .reg = from.reg, .imm = imm, .line = g->m.of->line, .col = g->m.of->col};
}

static void set_space(const struct fragments *g, struct ptx_inst *i) {
  static const enum ptx_mod spaces[] = {M_GLOBAL, M_SHARED, M_SHARED_CTA};
  for (uint32_t q = 0; q < sizeof spaces / sizeof *spaces; q++)
    if (ptx_has(g->m.of, spaces[q])) back_set(i, spaces[q]);
}

static struct ptx_opnd vector(struct fragments *g, const struct ptx_opnd *r, uint32_t n) {
  struct ptx_opnd o = {.kind = OK_VEC, .n = (uint8_t)n, .line = g->m.of->line, .col = g->m.of->col};
  o.vec = ARENA_ARRAY(g->m.k->a, struct ptx_opnd, n);
  for (uint32_t q = 0; q < n; q++) o.vec[q] = r[q];
  return o;
}

/* n registers of type t, by one access. */
static void move_words(struct fragments *g, enum ptx_type t, const struct ptx_opnd *r, uint32_t n, struct ptx_opnd at) {
  bool load = ptx_has(g->m.of, M_LOAD);
  struct ptx_opnd d = n == 1 ? *r : vector(g, r, n);
  struct ptx_inst *i = make_inst(&g->m, load ? d : at, load ? OP_LD : OP_ST, t, load ? at : d, make_nothing);
  set_space(g, i);
  if (n > 1) back_set(i, n == 2 ? M_V2 : M_V4);
}

/* Elements of 16 bits that lie apart: two to a register. */
static void move_halves(struct fragments *g, const struct ptx_opnd *r, struct ptx_opnd low, struct ptx_opnd high) {
  bool load = ptx_has(g->m.of, M_LOAD);
  struct ptx_opnd h[2];
  for (uint32_t q = 0; q < 2; q++) h[q] = make_register(&g->m, T_B16);
  if (!load) make_inst(&g->m, vector(g, h, 2), OP_MOV, T_B32, *r, make_nothing);
  move_words(g, T_B16, &h[0], 1, low);
  move_words(g, T_B16, &h[1], 1, high);
  if (load) make_inst(&g->m, *r, OP_MOV, T_B32, vector(g, h, 2), make_nothing);
}

/* Registers of the fragment that the machine does not use. */
static void clear_from(struct fragments *g, uint32_t n) {
  const struct ptx_opnd *d = data(g);
  for (uint32_t q = n; ptx_has(g->m.of, M_LOAD) && q < d->n; q++)
    make_inst(&g->m, d->vec[q], OP_MOV, T_B32, make_number(0), make_nothing);
}

/* ---- Volta ---- */

/* The first row or column of the 8 that a group of four lanes works on. */
static struct ptx_opnd quad_of(struct fragments *g, bool rows) {
  const struct ptx_inst *i = g->m.of;
  if (ptx_has(i, M_M16N16K16)) return lane_bits(g, rows ? 2 : 3, 1, 3);
  return rows == ptx_has(i, M_M32N8K16) ? lane_bits(g, 2, 2, 3) : make_nothing;
}

/* With that of the warp's half. */
static struct ptx_opnd quad_base(struct fragments *g, bool rows) {
  struct ptx_opnd half = lane_bits(g, 4, 1, 2);
  return both(g, quad_of(g, rows), half);
}

static void volta_operand(struct fragments *g, bool along) {
  struct place_in p = {0};
  const struct ptx_opnd *r = data(g)->vec;
  struct ptx_opnd four = lane_bits(g, 0, 2, 0), base = quad_base(g, matrix_of(g->m.of) == 'a');
  if (along) {
    p.line = both(g, base, four);
    for (uint32_t q = 0; q < 2; q++) move_words(g, T_B32, r + 4 * q, 4, element_at(g, &p, 0, 8 * q));
    return;
  }
  p.line = four, p.at = base;
  for (uint32_t q = 0; q < 4; q++) move_words(g, T_B32, r + 2 * q, 2, element_at(g, &p, 4 * q, 0));
}

/* By rows: registers of one line. */
static void volta_result(struct fragments *g, bool by_rows) {
  struct place_in p = {0};
  const struct ptx_opnd *r = data(g)->vec;
  bool single = g->m.of->types[0] == T_F32;
  struct ptx_opnd row = both(g, quad_base(g, true), lane_bits(g, 0, single ? 1 : 2, 0)), col = quad_of(g, false);
  if (single) col = both(g, col, value_with(g, OP_AND, lane(g), 2));
  p.line = by_rows ? row : col, p.at = by_rows ? col : row;
  if (single && by_rows) {
    for (uint32_t lines = 0; lines < 4; lines += 2)
      for (uint32_t at = 0; at < 8; at += 4) move_words(g, T_B32, r + lines + at, 2, element_at(g, &p, lines, at));
  } else if (single) {
    static const uint8_t lines[] = {0, 1, 4, 5};
    for (uint32_t q = 0; q < sizeof lines; q++)
      for (uint32_t at = 0; at < 4; at += 2)
        move_words(g, T_B32, r + lines[q] + at, 1, element_at(g, &p, lines[q], at));
  } else if (by_rows) {
    move_words(g, T_B32, r, 4, element_at(g, &p, 0, 0));
  } else {
    for (uint32_t q = 0; q < 4; q++) {
      struct ptx_opnd low = element_at(g, &p, 2 * q, 0), high = element_at(g, &p, 2 * q + 1, 0);
      move_halves(g, r + q, low, high);
    }
  }
}

/* ---- Turing and later ---- */

/* An 8 x 8 block of 16-bit elements, a word of a line to each lane, the other way round. */
static struct ptx_opnd turned(struct fragments *g, struct ptx_opnd from, const struct ptx_opnd *to) {
  struct ptx_opnd r = to ? *to : make_register(&g->m, T_B32);
  struct ptx_inst *i = make_inst(&g->m, r, OP_MOVMATRIX, T_B16, from, make_nothing);
  back_set(i, M_SYNC), back_set(i, M_ALIGNED), back_set(i, M_M8N8), back_set(i, M_TRANS);
  return r;
}

static void move_turned(struct fragments *g, const struct ptx_opnd *r, struct ptx_opnd at) {
  if (ptx_has(g->m.of, M_STORE)) {
    struct ptx_opnd t = turned(g, *r, NULL);
    move_words(g, T_B32, &t, 1, at);
    return;
  }
  struct ptx_opnd t = make_register(&g->m, T_B32);
  move_words(g, T_B32, &t, 1, at);
  turned(g, t, r);
}

static void load_matrices(struct fragments *g, const struct ptx_opnd *r, uint32_t n, bool trans, struct ptx_opnd at) {
  struct ptx_inst *i = make_inst(&g->m, vector(g, r, n), OP_LDMATRIX, T_B16, at, make_nothing);
  back_set(i, M_SYNC), back_set(i, M_ALIGNED), back_set(i, M_M8N8);
  back_set(i, n == 4 ? M_X4 : n == 2 ? M_X2 : M_X1);
  if (trans) back_set(i, M_TRANS);
  set_space(g, i);
}

/* Of shared memory. Lane l has the address of line l % 8 of block l / 8; blocks are in the order of the registers: of
 * the first operand the lower rows first, of the second the right half of the products' 16 first. `along`: lines go
 * along these. */
static void load_operand(struct fragments *g, bool first, bool along) {
  uint32_t n = registers_of(g->m.k, g->m.of, matrix_of(g->m.of)), each = g->m.k->t->sm >= 80 && n >= 4 ? 4 : 2;
  const struct ptx_opnd *r = data(g)->vec;
  struct place_in p = {0};
  struct ptx_opnd low = lane_bits(g, 0, 3, 0), second = make_nothing, third = make_nothing;
  second = lane_bits(g, 3, 1, 3);
  if (each == 4) third = lane_bits(g, 4, 1, 3);
  struct ptx_opnd inner = first ? third : second, outer = first ? second : third; /* along the products, and across */
  p.line = both(g, along ? outer : inner, low), p.at = along ? inner : outer;
  for (uint32_t q = 0; q < n; q += each) {
    uint32_t across = first ? q / 4 * 16 : q / 2 * 8, products = first ? q % 4 / 2 * 8 : 0;
    struct ptx_opnd at = along ? element_at(g, &p, across, products) : element_at(g, &p, products, across);
    load_matrices(g, r + q, each, !along, at);
  }
}

/* Words of two elements by lane: the line is a group of four lanes. */
static struct place_in by_groups(struct fragments *g) {
  return (struct place_in){.line = lane_bits(g, 2, 3, 0), .at = lane_bits(g, 0, 2, 1)};
}

static void put_operand(struct fragments *g, bool first, bool along) {
  uint32_t n = registers_of(g->m.k, g->m.of, matrix_of(g->m.of));
  const struct ptx_opnd *r = data(g)->vec;
  bool shared = back_in_shared(g->m.of);
  if (shared) {
    load_operand(g, first, along);
  } else {
    struct place_in p = by_groups(g);
    for (uint32_t q = 0; q < n; q++) {
      uint32_t across = first ? q / 4 * 16 + q % 2 * 8 : q / 2 * 8, products = (first ? q % 4 / 2 : q % 2) * 8;
      if (along) move_words(g, T_B32, r + q, 1, element_at(g, &p, across, products));
      else move_turned(g, r + q, element_at(g, &p, products, across));
    }
  }
  clear_from(g, n);
}

/* `along`: a line of memory is a row of the machine's product. */
static void result(struct fragments *g, bool along) {
  const struct ptx_opnd *r = data(g)->vec;
  bool single = g->m.of->types[0] == T_F32, beside = ptx_has(g->m.of, M_M16N16K16); /* blocks side by side */
  struct place_in p =
      single && !along ? (struct place_in){.line = lane_bits(g, 0, 2, 1), .at = lane_bits(g, 2, 3, 0)} : by_groups(g);
  for (uint32_t q = 0; q < 4; q++) { /* rows 0 and 8 of the first block, then of the second */
    uint32_t row = q % 2 * 8 + (beside ? 0 : q / 2 * 16), col = beside ? q / 2 * 8 : 0;
    if (single && along) {
      move_words(g, T_B32, r + 2 * q, 2, element_at(g, &p, row, col));
    } else if (single) {
      for (uint32_t e = 0; e < 2; e++) move_words(g, T_B32, r + 2 * q + e, 1, element_at(g, &p, col + e, row));
    } else if (along) {
      move_words(g, T_B32, r + q, 1, element_at(g, &p, row, col));
    } else {
      move_turned(g, r + q, element_at(g, &p, col, row));
    }
  }
}

static void put_access(struct fragments *g) {
  const struct ptx_inst *i = g->m.of;
  char part = matrix_of(i);
  bool rows = ptx_has(i, M_ROW);
  if (g->m.k->t->sm < 75) {
    if (part == 'c') volta_result(g, rows);
    else volta_operand(g, rows == (part == 'a'));
  } else if (part == 'c') {
    result(g, rows != transposed(i));
  } else {
    put_operand(g, is_first(i, part), rows == (part == 'a'));
  }
}

/* ---- products ---- */

static enum ptx_mod layout(const struct ptx_inst *i, bool second) {
  for (uint32_t q = 0; q < i->nmods; q++) {
    enum ptx_mod m = (enum ptx_mod)i->mod_order[q];
    if (m != M_ROW && m != M_COL) continue;
    if (!second) return m;
    second = false;
  }
  return M_ROW;
}

/* d = a b + c of vectors, by the machine's product of that shape. */
static struct ptx_inst *put_product(struct fragments *g, enum ptx_mod shape, struct ptx_opnd d, struct ptx_opnd a,
                                    struct ptx_opnd b, struct ptx_opnd c) {
  const struct ptx_inst *i = g->m.of;
  bool quads = shape == M_M8N8K4;
  uint8_t type = i->ntypes == 4 ? i->types[1] : T_F16;
  struct ptx_inst *p = make_inst(&g->m, d, OP_MMA, (enum ptx_type)i->types[0], a, b);
  p->ntypes = 4;
  p->types[1] = p->types[2] = type;
  p->types[3] = i->types[i->ntypes - 1];
  back_set(p, M_SYNC), back_set(p, M_ALIGNED), back_set(p, shape);
  back_set(p, quads ? layout(i, false) : M_ROW), back_set(p, quads ? layout(i, true) : M_COL);
  make_operand(&g->m, c);
  return p;
}

static void volta_product(struct fragments *g) {
  const struct ptx_inst *i = g->m.of;
  enum { SETS = 4 };
  struct ptx_opnd c = i->ops[3];
  for (uint32_t q = 0; q < SETS; q++) {
    struct ptx_opnd a = vector(g, i->ops[1].vec + 2 * q, 2), b = vector(g, i->ops[2].vec + 2 * q, 2);
    struct ptx_inst *p = put_product(g, M_M8N8K4, i->ops[0], a, b, c);
    if (q) p->types[3] = i->types[0];
    c = i->ops[0];
  }
}

static void put_products(struct fragments *g) {
  const struct ptx_inst *i = g->m.of;
  const struct ptx_opnd *a = i->ops[transposed(i) ? 2 : 1].vec, *b = i->ops[transposed(i) ? 1 : 2].vec;
  uint32_t words = i->types[0] == T_F32 ? 4 : 2; /* of a block's accumulators */
  bool beside = ptx_has(i, M_M16N16K16), halves = g->m.k->t->sm < 80;
  if (g->m.k->t->sm < 75) {
    volta_product(g);
    return;
  }
  for (uint32_t t = 0; t < 2; t++) {
    const struct ptx_opnd *p = beside ? a : a + 4 * t, *q = beside ? b + 2 * t : b;
    struct ptx_opnd d = vector(g, i->ops[0].vec + words * t, words), c = vector(g, i->ops[3].vec + words * t, words);
    if (!halves) {
      put_product(g, M_M16N8K16, d, vector(g, p, 4), vector(g, q, 2), c);
      continue;
    }
    put_product(g, M_M16N8K8, d, vector(g, p, 2), *q, c);
    put_product(g, M_M16N8K8, d, vector(g, p + 2, 2), q[1], d);
  }
}

/* ---- the pass ---- */

/* How many there are, and accesses among them; 0 if one of them is not known: which lane holds what has to be the same
 * for all. */
static uint32_t count(const struct back *k, uint32_t *accesses) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct ptx_inst *in = k->n[i].in;
    if (!is_ours(in)) continue;
    if (is_access(in) ? !known_access(k, in) : !known_product(k, in)) return 0;
    *accesses += is_access(in);
    n++;
  }
  return n;
}

void back_fragments(struct back *k) {
  uint32_t accesses = 0, n = count(k, &accesses);
  if (!n || k->nregs + (uint64_t)MOST_REGISTERS * accesses > UINT16_MAX) return;
  struct fragments g = {.m.k = k, .block = NODE_NONE};
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  uint8_t *old = ARENA_ARRAY(&k->scratch, uint8_t, k->nn + (size_t)MOST_NEW * n + 1);
  for (uint32_t i = 0; i < k->nn; i++) {
    to[i] = g.m.out.nn;
    if (k->n[i].block != g.block) g.block = k->n[i].block, g.values = 0;
    g.m.of = k->n[i].in;
    if (is_ours(g.m.of)) {
      if (is_access(g.m.of)) put_access(&g);
      else put_products(&g);
      continue;
    }
    old[g.m.out.nn] = 1;
    back_append(k, &g.m.out, k->n[i].in)->once = k->n[i].once;
  }
  to[k->nn] = g.m.out.nn;
  back_replace(k, &g.m.out, to, old);
}
