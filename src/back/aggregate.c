/* aggregate.c - an atomic of all lanes of a warp on one word: one lane does it for all. This is what ptxas 11.8 makes
 * of sums, extremes and logic of 32-bit integers in global and shared memory where it sees that lanes share the
 * address; not of 64 bits, floating point, inc, dec, exch and cas, nor of a result that is read, unless it is a sum.
 *
 * Where lanes share the value of a sum, too, the highest lane adds it as often as there are lanes, and a result is the
 * old value and as many times that as there are lanes below. Else REDUX combines the values; before 8.0, and of a sum
 * with a result, shuffles do, if all 32 lanes take part.
 */
#include <string.h>

#include "back/back_impl.h"

/* What the atomics of a block have in common, of kind OK_NONE until one needs it. */
struct common {
  struct ptx_opnd set, leader, own, leads, count, rank; /* the lanes, the highest, this lane; lanes, and those below */
};

struct aggregate {
  struct making m; /* of: the atomic */
  uint32_t block;  /* its block */
  struct common common, guarded;
  struct common *c; /* common, of an atomic under a guard: guarded, its own */
};

/* ---- what lanes share ---- */

static bool is_shared(const struct aggregate *g, const struct ptx_opnd *o, uint32_t deep);

/* Of a load, unless the memory never changes: lanes that load together, and then are together at the atomic; not by an
 * address that may be in local memory, of which each lane has its own. */
static bool load_is_shared(const struct aggregate *g, const struct node *n, uint32_t deep) {
  const struct ptx_inst *i = n->in;
  bool common = ptx_has(i, M_GLOBAL) || ptx_has(i, M_SHARED), together = n->block == g->block;
  return i->op == OP_LD && (back_movable(i) || (common && together)) && is_shared(g, &i->ops[1], deep);
}

/* Since 9.0 a vote in which the whole warp takes part. */
static bool vote_is_shared(const struct aggregate *g, const struct ptx_inst *i) {
  enum { SINCE = 90 };
  if (g->m.k->t->sm < SINCE || i->op != OP_VOTE || !ptx_has(i, M_SYNC)) return false;
  const struct ptx_opnd *set = &i->ops[i->nops - 1];
  const struct ptx_inst *d = set->kind == OK_REG ? back_single(g->m.k, set->reg->num) : NULL;
  if (d && d->op == OP_MOV && !d->guard && d->nops == 2) set = &d->ops[1];
  return set->kind == OK_IMM && (uint32_t)set->imm == 0xFFFFFFFF;
}

static bool register_is_shared(const struct aggregate *g, uint16_t r, uint32_t deep) {
  enum { DEEPEST = 24 };
  const struct fact *f = &g->m.k->r[r];
  if (!f->ssa || f->def == NODE_NONE || deep == DEEPEST) return false;
  const struct node *n = &g->m.k->n[f->def];
  const struct ptx_inst *i = n->in;
  if (i->refused || i->guard) return false;
  if (ptx_ops[i->op].kind == KIND_LOAD) return load_is_shared(g, n, deep + 1);
  if (vote_is_shared(g, i)) return true;
  if (ptx_ops[i->op].kind != KIND_ALU || !back_movable(i) || n->ndef != 1) return false;
  for (uint32_t q = 1; q < i->nops; q++)
    if (!is_shared(g, &i->ops[q], deep + 1)) return false;
  return true;
}

static bool is_shared(const struct aggregate *g, const struct ptx_opnd *o, uint32_t deep) {
  switch (o->kind) {
  case OK_IMM:
    return true;
  case OK_SREG:
    return (o->sreg >= SR_NTID_X && o->sreg <= SR_NCTAID_Z) || o->sreg == SR_SMID;
  case OK_VAR:
  case OK_MEM:
    if (o->var && o->var->space == SP_LOCAL) return false;
    return !o->reg || register_is_shared(g, o->reg->num, deep);
  case OK_REG:
    return !o->sel && !o->part && !o->reg2 && register_is_shared(g, o->reg->num, deep);
  default:
    return false;
  }
}

/* ---- instructions of the sequence ---- */

static struct ptx_opnd put_value(struct aggregate *g, enum ptx_opcode op, struct ptx_opnd x, struct ptx_opnd y) {
  struct ptx_opnd to = make_register(&g->m, T_B32);
  bool bits = op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_POPC || op == OP_ACTIVEMASK;
  enum ptx_type t = op == OP_MIN || op == OP_MAX ? (enum ptx_type)g->m.of->types[0] : bits ? T_B32 : T_U32;
  make_inst(&g->m, to, op, t, x, y);
  return to;
}

static void guard_last(struct aggregate *g, const struct ptx_opnd *p, bool neg) {
  struct node *n = &g->m.out.n[g->m.out.nn - 1];
  n->in->guard = p->reg;
  n->in->guard_neg = neg;
  back_touch(g->m.k, n);
}

static struct ptx_opnd guard_of(const struct ptx_inst *i) {
  return i->guard ? (struct ptx_opnd){.kind = OK_REG, .reg = i->guard, .neg = i->guard_neg, .line = i->line}
                  : make_nothing;
}

/* x == y or x != y, and the predicate `also` unless it is nothing. */
static struct ptx_opnd put_compare(struct aggregate *g, enum ptx_mod how, struct ptx_opnd x, struct ptx_opnd y,
                                   struct ptx_opnd also) {
  struct ptx_opnd to = make_register(&g->m, T_PRED);
  struct ptx_inst *i = make_inst(&g->m, to, OP_SETP, T_U32, x, y);
  back_set(i, how);
  if (also.kind == OK_NONE) return to;
  back_set(i, M_AND);
  make_operand(&g->m, also);
  return to;
}

/* The lanes that take part. */
static struct ptx_opnd members(struct aggregate *g) {
  struct ptx_opnd *set = &g->c->set;
  if (set->kind != OK_NONE) return *set;
  if (!g->m.of->guard) return *set = put_value(g, OP_ACTIVEMASK, make_nothing, make_nothing);
  *set = make_register(&g->m, T_B32);
  back_set(make_inst(&g->m, *set, OP_VOTE, T_B32, guard_of(g->m.of), make_nothing), M_BALLOT);
  return *set;
}

static struct ptx_opnd leader(struct aggregate *g) {
  struct ptx_opnd *o = &g->c->leader, set = members(g);
  return o->kind != OK_NONE ? *o : (*o = put_value(g, OP_BFIND, set, make_nothing));
}

static struct ptx_opnd lane(struct aggregate *g) {
  struct ptx_opnd *o = &g->c->own;
  return o->kind != OK_NONE ? *o : (*o = put_value(g, OP_MOV, make_special(SR_LANEID), make_nothing));
}

/* This lane is the highest. */
static struct ptx_opnd leads(struct aggregate *g) {
  struct ptx_opnd *o = &g->c->leads, highest = leader(g), own = lane(g);
  return o->kind != OK_NONE ? *o : (*o = put_compare(g, M_EQ, highest, own, make_nothing));
}

static struct ptx_opnd lane_count(struct aggregate *g) {
  struct ptx_opnd *o = &g->c->count, set = members(g);
  return o->kind != OK_NONE ? *o : (*o = put_value(g, OP_POPC, set, make_nothing));
}

static struct ptx_opnd lanes_below(struct aggregate *g) {
  struct ptx_opnd *o = &g->c->rank, set = members(g);
  if (o->kind != OK_NONE) return *o;
  struct ptx_opnd below = put_value(g, OP_MOV, make_special(SR_LANEMASK_LT), make_nothing);
  return *o = put_value(g, OP_POPC, put_value(g, OP_AND, below, set), make_nothing);
}

/* The value of lane x ^ n or x - n, or of lane n. `valid`: a predicate of whether there is such a lane, or NULL. */
static struct ptx_opnd shuffle(struct aggregate *g, enum ptx_mod how, struct ptx_opnd x, struct ptx_opnd n,
                               struct ptx_opnd *valid) {
  struct ptx_opnd to = make_register(&g->m, T_B32), both = to;
  if (valid) {
    *valid = make_register(&g->m, T_PRED);
    both.reg2 = valid->reg;
  }
  back_set(make_inst(&g->m, both, OP_SHFL, T_B32, x, n), how);
  make_operand(&g->m, make_number(how == M_UP ? 0 : 31));
  return to;
}

/* The atomic itself, by the lanes of a predicate. */
static void put_atomic(struct aggregate *g, const struct ptx_opnd *p, const struct ptx_opnd *to,
                       struct ptx_opnd value) {
  struct ptx_inst *i = back_copy(g->m.k, g->m.of);
  if (to) i->ops[0] = *to;
  i->ops[i->op == OP_ATOM ? 2 : 1] = value;
  back_append(g->m.k, &g->m.out, i);
  guard_last(g, p, false);
}

/* ---- the sequences ---- */

static struct ptx_opnd times(struct aggregate *g, struct ptx_opnd n, struct ptx_opnd value) {
  return value.kind == OK_IMM && value.imm == 1 ? n : put_value(g, OP_MUL, n, value);
}

/* The highest lane adds the value that all share, for all. */
static void add_by_count(struct aggregate *g, struct ptx_opnd value, const struct ptx_opnd *result) {
  struct ptx_opnd one = leads(g), all = times(g, lane_count(g), value), old = make_nothing;
  if (result) old = make_register(&g->m, T_B32);
  put_atomic(g, &one, result ? &old : NULL, all);
  if (!result) return;
  struct ptx_opnd before = times(g, lanes_below(g), value), first = shuffle(g, M_IDX, old, leader(g), NULL);
  make_inst(&g->m, *result, OP_ADD, T_U32, first, before);
  if (g->m.of->guard) guard_last(g, &(struct ptx_opnd){.reg = g->m.of->guard}, g->m.of->guard_neg);
}

static enum ptx_mod operation(const struct ptx_inst *i) {
  static const enum ptx_mod known[] = {M_ADD, M_MIN, M_MAX, M_AND, M_OR, M_XOR};
  for (uint32_t q = 0; q < sizeof known / sizeof *known; q++)
    if (ptx_has(i, known[q])) return known[q];
  return M_NONE;
}

static void combine_by_redux(struct aggregate *g, struct ptx_opnd value) {
  enum ptx_mod how = operation(g->m.of);
  bool bits = how == M_AND || how == M_OR || how == M_XOR;
  struct ptx_opnd one = leads(g), set = members(g), all = make_register(&g->m, T_B32);
  if (value.kind == OK_IMM) value = put_value(g, OP_MOV, value, make_nothing);
  back_set(make_inst(&g->m, all, OP_REDUX, bits ? T_B32 : (enum ptx_type)g->m.of->types[0], value, set), how);
  if (g->m.of->guard) guard_last(g, &(struct ptx_opnd){.reg = g->m.of->guard}, g->m.of->guard_neg);
  put_atomic(g, &one, NULL, all);
}

/* Lanes of a warp that is not whole do the atomic themselves. Returns the predicate of one that is whole. */
static struct ptx_opnd unless_whole(struct aggregate *g, struct ptx_opnd value, const struct ptx_opnd *result) {
  struct ptx_opnd set = members(g), whole = put_compare(g, M_EQ, set, make_number(0xFFFFFFFF), make_nothing);
  struct ptx_opnd alone = put_compare(g, M_NE, set, make_number(0xFFFFFFFF), guard_of(g->m.of));
  put_atomic(g, &alone, result, value);
  return whole;
}

/* Of lanes that share the value: the first lane's suffices; an even number of xor is none. */
static void once_if_whole(struct aggregate *g, struct ptx_opnd value) {
  struct ptx_opnd whole = unless_whole(g, value, NULL), own = lane(g);
  struct ptx_opnd first = put_compare(g, M_EQ, own, make_number(0), whole);
  put_atomic(g, &first, NULL, operation(g->m.of) == M_XOR ? make_number(0) : value);
}

static void combine_by_shuffles(struct aggregate *g, struct ptx_opnd value) {
  static const enum ptx_opcode ops[] = {
      [M_ADD] = OP_ADD, [M_MIN] = OP_MIN, [M_MAX] = OP_MAX, [M_AND] = OP_AND, [M_OR] = OP_OR, [M_XOR] = OP_XOR};
  struct ptx_opnd whole = unless_whole(g, value, NULL), own = lane(g); /* later atomics read it, too */
  uint32_t branch = make_branch(&g->m, whole.reg, true, 0);
  for (int64_t n = 1; n < 32; n *= 2)
    value = put_value(g, ops[operation(g->m.of)], value, shuffle(g, M_BFLY, value, make_number(n), NULL));
  struct ptx_opnd first = put_compare(g, M_EQ, own, make_number(0), make_nothing);
  put_atomic(g, &first, NULL, value);
  make_landing(&g->m, branch);
}

/* A sum with a result: what the lanes below add, by shuffles; the last lane has the sum of all. */
static void add_by_scan(struct aggregate *g, struct ptx_opnd value, const struct ptx_opnd *result) {
  struct ptx_opnd whole = unless_whole(g, value, result), own = lane(g), valid;
  uint32_t branch = make_branch(&g->m, whole.reg, true, 0);
  for (int64_t n = 1; n < 32; n *= 2) {
    struct ptx_opnd below = shuffle(g, M_UP, value, make_number(n), &valid),
                    sum = put_value(g, OP_MOV, value, make_nothing);
    make_inst(&g->m, sum, OP_ADD, T_U32, value, below);
    guard_last(g, &valid, false);
    value = sum;
  }
  struct ptx_opnd last = put_compare(g, M_EQ, own, make_number(31), make_nothing), old = make_register(&g->m, T_B32);
  put_atomic(g, &last, &old, value);
  struct ptx_opnd before = shuffle(g, M_UP, value, make_number(1), &valid);
  struct ptx_opnd first = shuffle(g, M_IDX, old, make_number(31), NULL);
  make_inst(&g->m, *result, OP_MOV, T_B32, first, make_nothing);
  make_inst(&g->m, *result, OP_ADD, T_U32, first, before);
  guard_last(g, &valid, false);
  make_landing(&g->m, branch);
}

/* ---- which atomics ---- */

static bool is_plain(const struct ptx_inst *i) {
  static const enum ptx_mod others[] = {M_INC, M_DEC,     M_EXCH,    M_CAS,     M_V2,       M_V4,    M_V8,
                                        M_CC,  M_ACQUIRE, M_RELEASE, M_ACQ_REL, M_VOLATILE, M_ASYNC, M_SHARED_CLUSTER};
  if ((i->op != OP_ATOM && i->op != OP_RED) || i->refused || i->ntypes != 1) return false;
  if (i->nops != (i->op == OP_ATOM ? 3 : 2) || operation(i) == M_NONE) return false;
  if (i->types[0] != T_U32 && i->types[0] != T_S32 && i->types[0] != T_B32) return false;
  for (uint32_t q = 0; q < sizeof others / sizeof *others; q++)
    if (ptx_has(i, others[q])) return false;
  return true;
}

/* Puts the sequence that takes the place of an atomic. False: none does. */
static bool aggregate(void *ctx, const struct node *n) {
  struct aggregate *g = ctx;
  const struct ptx_inst *i = n->in;
  if (!is_plain(i)) return false;
  bool atom = i->op == OP_ATOM;
  const struct ptx_opnd *to = &i->ops[0], *at = &i->ops[atom ? 1 : 0], *value = &i->ops[atom ? 2 : 1];
  const struct ptx_opnd *result = atom && to->kind == OK_REG && g->m.k->r[to->reg->num].uses ? to : NULL;
  if (atom && to->kind != OK_REG && to->kind != OK_SINK) return false;
  if (value->kind != OK_REG && value->kind != OK_IMM) return false;
  if (n->block != g->block) g->common = (struct common){0};
  g->guarded = (struct common){0};
  g->c = i->guard ? &g->guarded : &g->common;
  g->m.of = i;
  g->block = n->block;
  bool sums = operation(i) == M_ADD;
  if (at->kind != OK_MEM || !is_shared(g, at, 0) || (result && !sums)) return false;
  /* ATOMS.POPC.INC: shared memory counts the lanes */
  if (g->m.k->t->sm >= 80 && ptx_has(i, M_SHARED) && sums && !result && value->kind == OK_IMM && value->imm == 1)
    return false;
  bool same = is_shared(g, value, 0);
  if (sums && same) add_by_count(g, *value, result);
  else if (result) add_by_scan(g, *value, result);
  else if (g->m.k->t->sm >= 80) combine_by_redux(g, *value);
  else if (same) once_if_whole(g, *value);
  else combine_by_shuffles(g, *value);
  return true;
}

void back_aggregate(struct back *k) {
  enum { LONGEST = 40 };
  uint32_t atomics = 0;
  for (uint32_t i = 0; i < k->nn; i++) atomics += is_plain(k->n[i].in);
  if (!atomics) return;
  struct aggregate g = {.m.k = k};
  make_over(&g.m, k->nn + LONGEST * atomics, aggregate, &g);
}
