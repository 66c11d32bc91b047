/* spin.c - atomics in shared memory that the machine has no instruction for become a loop: load, compute, compare and
 * swap, again unless that took place. These are sums of floating point and all of 64 bits but exchanges and compare and
 * swap (ptxas 11.8 on sm_70, 13.0 on sm_90). Minimum and maximum leave once they change nothing.
 *
 * Approximations: an atomic at a generic address stays one instruction, a sum of one half (f16, bf16), too.
 */
#include "back/back_impl.h"

static enum ptx_opcode operation(const struct ptx_inst *i) {
  static const struct {
    uint16_t mod, op;
  } known[] = {{M_ADD, OP_ADD}, {M_MIN, OP_MIN}, {M_MAX, OP_MAX}, {M_AND, OP_AND}, {M_OR, OP_OR}, {M_XOR, OP_XOR}};
  for (uint32_t q = 0; q < sizeof known / sizeof *known; q++)
    if (ptx_has(i, (enum ptx_mod)known[q].mod)) return (enum ptx_opcode)known[q].op;
  return OP_NONE;
}

static bool is_float(enum ptx_type t) {
  return t == T_F32 || t == T_F64 || t == T_F16X2 || t == T_BF16X2;
}

static bool spins(const struct ptx_inst *i) {
  static const enum ptx_mod others[] = {M_EXCH, M_CAS, M_V2, M_V4, M_V8, M_CC, M_ASYNC, M_SHARED_CLUSTER};
  if ((i->op != OP_ATOM && i->op != OP_RED) || i->refused || i->ntypes != 1 || !back_in_shared(i)) return false;
  bool atom = i->op == OP_ATOM;
  if (i->nops != (atom ? 3 : 2) || operation(i) == OP_NONE || i->ops[atom].kind != OK_MEM) return false;
  for (uint32_t q = 0; q < sizeof others / sizeof *others; q++)
    if (ptx_has(i, others[q])) return false;
  if (atom && i->ops[0].kind != OK_REG && i->ops[0].kind != OK_SINK) return false;
  const struct ptx_opnd *value = &i->ops[atom + 1];
  if ((value->kind != OK_REG && value->kind != OK_IMM) || value->sel || value->part) return false;
  enum ptx_type t = (enum ptx_type)i->types[0];
  return is_float(t) || ptx_type_bytes[t] == 8;
}

static struct ptx_opnd put_compare(struct making *m, enum ptx_mod how, enum ptx_type t, struct ptx_opnd x,
                                   struct ptx_opnd y) {
  struct ptx_opnd p = make_register(m, T_PRED);
  back_set(make_inst(m, p, OP_SETP, t, x, y), how);
  return p;
}

static bool spin(void *ctx, const struct node *n) {
  struct making *m = ctx;
  const struct ptx_inst *of = n->in;
  if (!spins(of)) return false;
  bool atom = of->op == OP_ATOM;
  const struct ptx_opnd at = of->ops[atom], value = of->ops[atom + 1];
  enum ptx_type t = (enum ptx_type)of->types[0];
  enum ptx_type bits = ptx_type_bytes[t] == 8 ? T_B64 : T_B32;
  uint32_t over = NODE_NONE, same = NODE_NONE;
  enum ptx_opcode op = operation(of);
  struct ptx_opnd old = make_register(m, bits), sum = make_register(m, bits), got = make_register(m, bits);
  if (of->guard) over = make_branch(m, of->guard, !of->guard_neg, 0);
  uint32_t again = m->out.nn;
  struct ptx_inst *load = make_inst(m, old, OP_LD, bits, at, make_nothing);
  back_set(load, M_VOLATILE);
  back_set(load, M_SHARED);
  m->out.n[m->out.nn - 1].spins = true;
  if (op == OP_MIN || op == OP_MAX) {
    same = make_branch(m, put_compare(m, op == OP_MIN ? M_LE : M_GE, t, old, value).reg, false, 0);
    sum = value;
  } else {
    struct ptx_inst *i = make_inst(m, sum, op, t, old, value);
    if (is_float(t)) back_set(i, M_RN);
  }
  struct ptx_inst *swap = make_inst(m, got, OP_ATOM, bits, at, old);
  make_operand(m, sum);
  back_set(swap, M_SHARED);
  back_set(swap, M_CAS);
  m->out.n[m->out.nn - 1].spins = true;
  struct ptx_opnd missed = put_compare(m, M_NE, bits, got, old);
  make_branch(m, missed.reg, false, again);
  if (same != NODE_NONE) make_landing(m, same);
  if (atom && of->ops[0].kind == OK_REG) make_inst(m, of->ops[0], OP_MOV, bits, old, make_nothing);
  if (over != NODE_NONE) make_landing(m, over);
  return true;
}

void back_spin(struct back *k) {
  enum { LONGEST = 12 };
  uint32_t atomics = 0;
  for (uint32_t i = 0; i < k->nn; i++) atomics += spins(k->n[i].in);
  if (!atomics) return;
  struct making m = {.k = k};
  make_over(&m, k->nn + LONGEST * atomics, spin, &m);
}
