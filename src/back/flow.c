/* flow.c - control flow as an assembler leaves it: a branch to an exit is an exit, a branch to the next instruction is
 * nothing, and the instructions of a short branch carry its predicate instead.
 */
#include <string.h>

#include "back/back_impl.h"

/* Machine instructions that may carry a predicate instead of a branch around them, in each of two arms, and in arms
 * whose loads may then be in flight together: where ptxas 11.8 changes over (sm_70, sm_90; docs/notes/backend.md). */
enum { ONE_ARM_MOST = 8, ARM_MOST = 7, LOADING_ARM_MOST = 19, NEVER = LOADING_ARM_MOST + 1 };

bool back_only_leaves(const struct back *k, const struct bblock *b) {
  const struct ptx_inst *i = k->n[b->first].in;
  return b->end == b->first + 1 && !i->guard && (i->op == OP_RET || i->op == OP_EXIT);
}

static void make_exit(struct back *k, struct node *n) {
  struct ptx_inst *i = n->in;
  i->op = OP_EXIT;
  i->nops = 0;
  memset(i->mods, 0, sizeof i->mods);
  i->target = 0;
  back_touch(k, n);
}

static void exits(struct back *k) {
  for (uint32_t q = 0; q < k->nb; q++) {
    struct node *n = &k->n[k->b[q].end - 1];
    if (n->in->op == OP_BRA && back_only_leaves(k, &k->b[k->n[n->in->target].block])) make_exit(k, n);
  }
}

static bool may_be_guarded(const struct ptx_inst *i, const struct ptx_reg *p) {
  const struct ptx_op_info *info = &ptx_ops[i->op];
  if (i->refused || info->lat == LF_SHFL) return false;
  switch (i->op) {
  case OP_VOTE:
  case OP_MATCH:
  case OP_REDUX:
  case OP_ACTIVEMASK:
  case OP_ELECT:
  case OP_WMMA:
  case OP_MMA:
  case OP_LDMATRIX:
  case OP_MOVMATRIX:
  case OP_ADDC:
  case OP_SUBC:
  case OP_MADC:
  case OP_ALLOCA:
  case OP_MBARRIER:
  case OP_DIV:
  case OP_REM:
    return false;
  default:
    break;
  }
  if (ptx_has(i, M_CC) || ptx_has(i, M_VOLATILE)) return false;
  if (info->kind != KIND_ALU && info->kind != KIND_LOAD && info->kind != KIND_STORE && info->kind != KIND_ATOM)
    return false;
  uint16_t use[PTX_MAX_USES], def[PTX_MAX_USES];
  uint32_t nu, nd;
  ptx_uses(i, use, &nu, def, &nd);
  for (uint32_t d = 0; d < nd; d++)
    if (def[d] == p->num) return false;
  return true;
}

/* A sum of 64 bits with a product of the instructions from `first` on: one IMAD.WIDE. */
static bool joins_product(const struct back *k, uint32_t first, uint32_t at) {
  const struct ptx_inst *in = k->n[at].in;
  if (in->op != OP_ADD || ptx_type_bytes[in->types[0]] != 8 || ptx_type_kinds[in->types[0]] == 'f') return false;
  for (uint32_t d = first; d < at; d++) {
    const struct ptx_inst *product = k->n[d].in;
    if ((product->op != OP_MUL && product->op != OP_MAD) || !ptx_has(product, M_WIDE)) continue;
    for (uint32_t q = 1; q <= 2; q++)
      if (in->ops[q].kind == OK_REG && in->ops[q].reg == product->ops[0].reg) return true;
  }
  return false;
}

/* Does an instruction of the block compare, for nothing but the guards of what follows in it, all of one sense, and
 * without an access of memory before it? The predicate of a branch around the block may then be part of the comparison:
 * `if (a && b)` is one guard. */
static bool compares_for_guards(const struct back *k, uint32_t at, uint32_t first, uint32_t end, bool *neg) {
  const struct ptx_inst *d = k->n[at].in;
  if (d->op != OP_SETP || d->guard || d->nops != 3 || d->ops[0].kind != OK_REG || d->ops[0].reg2) return false;
  uint32_t guards = 0;
  for (uint32_t i = first; i < at; i++) {
    const struct ptx_inst *in = k->n[i].in;
    bool bank = ptx_has(in, M_CONST) || ptx_has(in, M_CONST0) || ptx_has(in, M_PARAM) || ptx_has(in, M_PARAM_ENTRY);
    if (ptx_ops[in->op].kind != KIND_ALU && !(ptx_ops[in->op].kind == KIND_LOAD && bank)) return false;
  }
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct node *n = &k->n[i];
    for (uint32_t q = 0; q < n->ndef; q++)
      if (n->def[q] == d->ops[0].reg->num && i != at) return false;
    for (uint32_t q = 0; q < n->nuse; q++) {
      if (n->use[q] != d->ops[0].reg->num) continue;
      if (i <= at || i < first || i >= end || n->in->guard != d->ops[0].reg) return false;
      if (guards++ && *neg != n->in->guard_neg) return false;
      *neg = n->in->guard_neg;
    }
  }
  return guards > 0;
}

/* The comparison of an instruction's guard. */
static bool guard_may_grow(const struct back *k, uint32_t at, uint32_t first, uint32_t end) {
  const struct ptx_reg *g = k->n[at].in->guard;
  bool neg;
  for (uint32_t i = first; i < at; i++)
    for (uint32_t q = 0; q < k->n[i].ndef; q++)
      if (k->n[i].def[q] == g->num) return compares_for_guards(k, i, first, end, &neg);
  return false;
}

/* Its result: only where the block runs, and the other one where it does not. */
static void grow(struct back *k, struct node *n, struct ptx_reg *p, bool block_neg, bool guards_neg) {
  enum ptx_mod how = guards_neg ? M_OR : M_AND;
  back_set(n->in, how);
  n->in->ops[3] = (struct ptx_opnd){.kind = OK_REG, .reg = p, .neg = guards_neg != block_neg, .line = n->in->line};
  n->in->nops = 4;
  back_touch(k, n);
}

static bool is_load(const struct ptx_inst *in) {
  return ptx_ops[in->op].kind == KIND_LOAD && (in->op == OP_LD || in->op == OP_LDU) && !ptx_has(in, M_CONST) &&
         !ptx_has(in, M_CONST0) && !ptx_has(in, M_PARAM) && !ptx_has(in, M_PARAM_ENTRY);
}

/* Of an arm of a branch: its machine instructions, about (NEVER: some cannot carry a guard), and whether it loads from
 * beyond the SM. */
struct arm {
  uint32_t cost, stores;
  bool loads;
};

static struct arm measure(const struct back *k, const struct bblock *b, const struct ptx_reg *p) {
  uint32_t n = 0, stores = 0, first = b->first, end = b->end;
  uint8_t ops[MAX_SEQ];
  bool loads = false;
  for (uint32_t i = first; i < end; i++) {
    const struct ptx_inst *in = k->n[i].in;
    if (in->op == OP_BRA && !in->guard && i + 1 == end) continue;
    if (!may_be_guarded(in, p) || (in->guard && !guard_may_grow(k, i, first, end))) return (struct arm){.cost = NEVER};
    loads |= is_load(in) && !back_in_shared(in);
    stores += ptx_ops[in->op].kind == KIND_STORE;
    if (in->nops && in->ops[0].kind == OK_REG && k->r[in->ops[0].reg->num].konst) continue;
    if (back_pairs(in)) continue;
    if (!joins_product(k, first, i)) n += back_expand(k, in, ops);
  }
  return (struct arm){n, stores, loads};
}

/* A few registers. */
struct some_regs {
  uint32_t n;
  uint16_t reg[128];
};

static bool has_any(const struct some_regs *s, const uint16_t *reg, uint32_t n) {
  for (uint32_t u = 0; u < n; u++)
    for (uint32_t i = 0; i < s->n; i++)
      if (s->reg[i] == reg[u]) return true;
  return false;
}

static void add_regs(struct some_regs *s, const uint16_t *reg, uint32_t n) {
  for (uint32_t d = 0; d < n && s->n < sizeof s->reg / sizeof *s->reg; d++) s->reg[s->n++] = reg[d];
}

static bool is_read(const struct back *k, uint32_t def, uint32_t end) {
  for (uint32_t i = def + 1; i < end; i++)
    for (uint32_t u = 0; u < k->n[i].nuse; u++)
      if (k->n[i].use[u] == k->n[def].def[0]) return true;
  return false;
}

/* Since 9.0 it takes a special register. */
static bool is_shared_address(const struct ptx_inst *in) {
  return in->op == OP_MOV && in->nops == 2 && in->ops[1].kind == OK_VAR && in->ops[1].var->space == SP_SHARED;
}

/* Does a block load, and may a load behind the branch at its end be in flight together with one of these? So it is with
 * loads that the branch does not wait for and that no store to global memory follows; of shared memory, with those
 * whose value the block does not read. */
static bool loads_before(const struct back *k, const struct bblock *b, bool *in_flight) {
  bool any = *in_flight = false, stored = false;
  struct some_regs needed = {0};
  add_regs(&needed, &k->n[b->end - 1].in->guard->num, 1);
  for (uint32_t i = b->end; i-- > b->first;) {
    const struct node *n = &k->n[i];
    enum inst_kind kind = ptx_ops[n->in->op].kind;
    bool wanted = has_any(&needed, n->def, n->ndef), load = is_load(n->in) && n->ndef, shared = back_in_shared(n->in);
    any |= load;
    if (wanted) add_regs(&needed, n->use, n->nuse);
    else if (load) *in_flight |= shared ? !is_read(k, i, b->end) : !stored;
    else if (k->t->sm >= 90) *in_flight |= is_shared_address(n->in);
    stored |= (kind == KIND_STORE && !shared) || kind == KIND_ATOM || kind == KIND_BARRIER;
  }
  return any;
}

/* What the arms of a branch load, and what follows from it. */
static void add_arm(struct some_regs *s, const struct back *k, const struct bblock *b) {
  for (uint32_t i = b->first; i < b->end; i++) {
    const struct node *n = &k->n[i];
    if ((is_load(n->in) && !back_in_shared(n->in)) || has_any(s, n->use, n->nuse)) add_regs(s, n->def, n->ndef);
  }
}

/* Neither control of a loop (steps and comparisons) nor a copy. */
static bool is_work(const struct node *n) {
  const struct ptx_inst *in = n->in;
  enum inst_kind kind = ptx_ops[in->op].kind;
  if (in->op == OP_SETP || in->op == OP_MOV || in->op == OP_CVTA) return false;
  bool step =
      in->op == OP_ADD && in->ops[2].kind == OK_IMM && in->ops[1].kind == OK_REG && in->ops[1].reg == in->ops[0].reg;
  return (kind == KIND_ALU && !step) || kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOM;
}

/* Has the block behind the arms work to do while their loads are in flight? */
static bool has_work(const struct back *k, const struct bblock *b, struct some_regs *s) {
  uint32_t work = 0, enough = 2;
  for (uint32_t i = b->first; i < b->end && work < enough; i++) {
    const struct node *n = &k->n[i];
    if (ptx_ops[n->in->op].kind == KIND_BARRIER) enough = 3;
    if (has_any(s, n->use, n->nuse)) add_regs(s, n->def, n->ndef);
    else work += is_work(n) && !joins_product(k, b->first, i);
  }
  return work >= enough;
}

/* Are the arms short enough of the branch at the end of `b`, which meet at `join`? A branch around loads pays unless
 * they share their latency: with each other, with others in flight, or with work behind them; or if what they load is
 * stored at several places. `be`: NULL for one arm. */
static bool fit(const struct back *k, const struct bblock *b, const struct bblock *join, const struct bblock *ba,
                const struct bblock *be, const struct ptx_reg *p) {
  struct arm a = measure(k, ba, p), e = {0};
  if (be) e = measure(k, be, p);
  if (a.cost == NEVER || e.cost == NEVER) return false;
  uint32_t most = a.loads || e.loads ? LOADING_ARM_MOST : be ? ARM_MOST : ONE_ARM_MOST;
  if (a.cost > most || e.cost > most) return false;
  if (a.loads == e.loads) return true;
  struct some_regs s = {0};
  bool in_flight, before = loads_before(k, b, &in_flight);
  if (in_flight || (!before && a.stores + e.stores >= 2)) return true;
  add_arm(&s, k, ba);
  if (be) add_arm(&s, k, be);
  return has_work(k, join, &s);
}

static void guard(struct back *k, uint32_t first, uint32_t end, struct ptx_reg *p, bool neg) {
  for (uint32_t i = first; i < end; i++) {
    struct node *n = &k->n[i];
    if (n->in->op == OP_BRA) {
      n->role = ROLE_GONE;
      continue;
    }
    if (n->in->nops && n->in->ops[0].kind == OK_REG && k->r[n->in->ops[0].reg->num].konst) continue;
    bool guards_neg = false;
    if (n->in->guard) continue; /* its comparison has grown */
    if (compares_for_guards(k, i, first, end, &guards_neg)) {
      grow(k, n, p, neg, guards_neg);
      continue;
    }
    n->in->guard = p;
    n->in->guard_neg = neg;
    back_touch(k, n);
  }
}

static uint32_t goes_to(const struct back *k, uint32_t q) { /* the block after one that has one way out */
  return k->b[q].nsucc == 1 && !k->b[q].ntargets ? k->b[q].succ[0] : NODE_NONE;
}

/* @p bra L; T; L:   and   @p bra E; T; bra L; E: ...; L: */
static bool predicate_one(struct back *k, uint32_t q) {
  struct bblock *b = &k->b[q];
  struct node *n = &k->n[b->end - 1];
  if (n->in->op != OP_BRA || !n->in->guard || b->nsucc != 2 || q + 1 >= k->nb) return false;
  struct ptx_reg *p = n->in->guard;
  bool neg = n->in->guard_neg;
  uint32_t t = q + 1, taken = k->n[n->in->target].block;
  if (taken <= q || k->b[t].preds != 1) return false;
  const struct bblock *bt = &k->b[t];
  uint32_t after = goes_to(k, t);
  if (after == NODE_NONE) return false;
  if (after == taken && taken == t + 1) {
    if (!fit(k, b, &k->b[after], bt, NULL, p)) return false;
    guard(k, bt->first, bt->end, p, !neg);
    n->role = ROLE_GONE;
    return true;
  }
  if (taken != t + 1 || k->b[taken].preds != 1 || goes_to(k, taken) != after || after != taken + 1) return false;
  const struct bblock *be = &k->b[taken];
  if (!fit(k, b, &k->b[after], bt, be, p)) return false;
  guard(k, bt->first, bt->end, p, !neg);
  guard(k, be->first, be->end, p, neg);
  n->role = ROLE_GONE;
  return true;
}

static void skip_to_next(struct back *k) {
  for (uint32_t q = 0; q + 1 < k->nb; q++) {
    struct node *n = &k->n[k->b[q].end - 1];
    if (n->in->op == OP_BRA && n->in->target == k->b[q].end) n->role = ROLE_GONE;
  }
}

/* @p bra L; bra M; L: is @!p bra M; L: */
static void branches_over_branches(struct back *k) {
  for (uint32_t q = 0; q + 2 < k->nb; q++) {
    struct node *n = &k->n[k->b[q].end - 1], *over = &k->n[k->b[q + 1].first];
    if (n->role == ROLE_GONE || n->in->op != OP_BRA || !n->in->guard || n->in->target != k->b[q + 2].first) continue;
    if (k->b[q + 1].end != k->b[q + 1].first + 1 || k->b[q + 1].preds != 1) continue;
    if (over->in->op != OP_BRA || over->in->guard || over->role == ROLE_GONE) continue;
    n->in->guard_neg = !n->in->guard_neg;
    n->in->target = over->in->target;
    over->role = ROLE_GONE;
  }
}

void back_predicate(struct back *k) {
  exits(k);
  branches_over_branches(k);
  skip_to_next(k);
  back_compact(k);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t q = 0; q < k->nb && !changed; q++) changed = predicate_one(k, q);
    if (changed) back_compact(k);
  }
  back_facts(k, false);
}
