/* clean.c - copies, constants, common subexpressions and code without effect: what every compiler does to a function
 * first. A copy or a second computation of a value disappears, and its readers name the first register. */
#include <string.h>

#include "back/back_impl.h"
#include "base/hash.h"

/* ---- renaming ---- */

static void rename_operand(const struct back *k, struct ptx_opnd *o, const uint16_t *to) {
  if (o->reg && to[o->reg->num]) o->reg = k->f->regs[to[o->reg->num]];
  if (o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM)
    for (uint32_t q = 0; q < o->n; q++) rename_operand(k, &o->vec[q], to);
}

static void rename_reads(struct back *k, const uint16_t *to) {
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    if (n->role == ROLE_GONE) continue;
    bool any = false;
    for (uint32_t u = 0; u < n->nuse; u++) any |= to[n->use[u]] != 0;
    if (!any) continue;
    uint32_t dests = ptx_dests(n->in);
    for (uint32_t q = 0; q < n->in->nops; q++)
      if (q >= dests || n->in->ops[q].kind == OK_MEM) rename_operand(k, &n->in->ops[q], to);
    if (n->in->guard && to[n->in->guard->num]) n->in->guard = k->f->regs[to[n->in->guard->num]];
    back_touch(k, n);
  }
}

/* The end of a chain of renamings. */
static void close_chains(const struct back *k, uint16_t *to) {
  for (uint32_t r = 1; r <= k->nregs; r++)
    while (to[r] && to[to[r]]) to[r] = to[to[r]];
}

/* ---- copies and constants ---- */

static bool plain(const struct ptx_opnd *o) {
  return o->kind == OK_REG && !o->reg2 && !o->sel && !o->part && !o->neg && !o->minus;
}

/* mov, and the conversions of addresses that change nothing: the source register, or 0. */
static uint16_t copied(const struct back *k, const struct ptx_inst *i) {
  bool copy =
      i->op == OP_MOV || (i->op == OP_CVTA && ptx_has(i, M_GLOBAL)) || (i->op == OP_CVTA && ptx_has(i, M_CONST));
  if (i->op == OP_CVT && ptx_type_kinds[i->types[0]] != 'f' && ptx_type_kinds[i->types[1]] != 'f')
    copy = ptx_type_bytes[i->types[0]] == ptx_type_bytes[i->types[1]] && !ptx_has(i, M_SAT) &&
           ptx_type_bytes[i->types[0]] >= 4;
  if (!copy || i->guard || i->nops != 2 || !plain(&i->ops[0]) || !plain(&i->ops[1])) return 0;
  const struct ptx_reg *d = i->ops[0].reg, *s = i->ops[1].reg;
  if (ptx_type_bytes[d->type] != ptx_type_bytes[s->type] || (d->type == T_PRED) != (s->type == T_PRED)) return 0;
  return k->r[d->num].def != NODE_NONE && k->r[s->num].def != NODE_NONE ? s->num : 0;
}

static bool drop_copies(struct back *k) {
  uint16_t *to = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  bool any = false;
  for (uint32_t i = 0; i < k->nn; i++) {
    uint16_t s = k->n[i].role == ROLE_GONE ? 0 : copied(k, k->n[i].in);
    if (!s) continue;
    to[k->n[i].in->ops[0].reg->num] = s;
    k->n[i].role = ROLE_GONE;
    any = true;
  }
  if (!any) return false;
  close_chains(k, to);
  rename_reads(k, to);
  return true;
}

static bool fixed_register(const struct ptx_opnd *o) { /* in the constant bank */
  return o->kind == OK_SREG && ((o->sreg >= SR_NTID_X && o->sreg <= SR_NTID_Z) ||
                                (o->sreg >= SR_NCTAID_X && o->sreg <= SR_NCTAID_Z) || o->sreg == SR_DYNAMIC_SMEM);
}

static bool parameter(const struct back *k, const struct ptx_inst *i) {
  if (i->op != OP_LD || i->guard || !k->f->entry || i->nops < 2 || i->ops[0].kind != OK_REG) return false;
  if (!ptx_has(i, M_PARAM) && !ptx_has(i, M_PARAM_ENTRY)) return false;
  const struct ptx_opnd *m = &i->ops[1];
  return m->kind == OK_MEM && !m->reg && m->var && m->var->formal && !m->n;
}

/* A word of a variable in constant memory at an address that the instruction names. */
static bool constant_word(const struct back *k, const struct ptx_inst *i) {
  if (i->op != OP_LD || i->guard || !k->f->entry || i->nops < 2 || i->ops[0].kind != OK_REG || !ptx_has(i, M_CONST))
    return false;
  const struct ptx_opnd *m = &i->ops[1];
  if (m->kind != OK_MEM || m->reg || !m->var || m->n || m->imm < 0) return false;
  const struct ptx_var *v = m->var->def ? m->var->def : m->var;
  uint64_t bytes = ptx_type_bytes[i->types[0]];
  return v->space == SP_CONST && bytes >= 4 && (uint64_t)m->imm + bytes <= v->bytes;
}

static enum konst constant(const struct back *k, const struct ptx_inst *i, int64_t *imm, bool *number) {
  *imm = 0;
  *number = false;
  if (i->guard || !i->nops || !plain(&i->ops[0]) || k->r[i->ops[0].reg->num].def == NODE_NONE) return K_NO;
  if (back_fold(k, i, imm)) return *number = true, K_IMM;
  if (parameter(k, i) || constant_word(k, i)) return K_BANK;
  if (i->op == OP_CVTA && i->nops == 2 && i->ops[1].kind == OK_VAR) return K_BANK;
  if ((i->op == OP_CVT || i->op == OP_CVTA) && i->nops == 2 && plain(&i->ops[1]) &&
      ptx_type_kinds[i->types[0]] != 'f') {
    const struct fact *s = &k->r[i->ops[1].reg->num];
    if (s->konst == K_IMM && i->op == OP_CVT && ptx_type_kinds[i->types[1]] != 'f') {
      *imm = s->imm;
      return K_IMM;
    }
    return s->konst == K_BANK && i->op == OP_CVTA ? K_BANK : K_NO;
  }
  if (i->op != OP_MOV || i->nops != 2) return K_NO;
  const struct ptx_opnd *s = &i->ops[1];
  if (fixed_register(s)) return K_BANK;
  if (s->kind == OK_VAR) return s->var->space == SP_LOCAL ? K_NO : s->var->space == SP_SHARED ? K_IMM : K_BANK;
  if (s->kind != OK_IMM) return K_NO;
  *imm = s->imm;
  *number = !s->is_float || s->is_f32;
  return K_IMM;
}

static void find_constants(struct back *k) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++) {
      if (k->n[i].role == ROLE_GONE) continue;
      int64_t imm;
      bool number;
      enum konst c = constant(k, k->n[i].in, &imm, &number);
      if (c == K_NO) continue;
      struct fact *r = &k->r[k->n[i].in->ops[0].reg->num];
      changed |= r->konst != c || r->number != number;
      r->number = number;
      r->konst = (uint8_t)c;
      r->imm = imm;
    }
  }
}

/* ---- common subexpressions ---- */

static bool varies(const struct ptx_opnd *o) { /* a special register that two reads may find different */
  return o->kind == OK_SREG && (o->sreg >= SR_CLOCK || (o->sreg >= SR_WARPID && o->sreg <= SR_GRIDID));
}

static bool pure(const struct back *k, const struct ptx_inst *i) {
  if (parameter(k, i) || constant_word(k, i)) return true;
  if (ptx_ops[i->op].kind != KIND_ALU || !back_movable(i) || i->op == OP_CREATEPOLICY) return false;
  for (uint32_t q = 0; q < i->nops; q++)
    if (varies(&i->ops[q])) return false;
  return true;
}

static bool same_operand(const struct ptx_opnd *x, const struct ptx_opnd *y) {
  if (x->kind != y->kind || x->reg != y->reg || x->reg2 != y->reg2 || x->var != y->var || x->func != y->func ||
      x->imm != y->imm || x->neg != y->neg || x->minus != y->minus || x->sel != y->sel || x->part != y->part ||
      x->sreg != y->sreg || x->is_float != y->is_float || x->is_f32 != y->is_f32 || x->n != y->n)
    return false;
  for (uint32_t q = 0; (x->kind == OK_VEC || x->kind == OK_LIST || x->kind == OK_MEM) && q < x->n; q++)
    if (!same_operand(&x->vec[q], &y->vec[q])) return false;
  return true;
}

static bool same_value(const struct ptx_inst *x, const struct ptx_inst *y) {
  if (x->op != y->op || x->nops != y->nops || memcmp(x->types, y->types, sizeof x->types) ||
      memcmp(x->mods, y->mods, sizeof x->mods) || x->ops[0].reg->type != y->ops[0].reg->type)
    return false;
  for (uint32_t q = 1; q < x->nops; q++)
    if (!same_operand(&x->ops[q], &y->ops[q])) return false;
  return true;
}

static uint64_t value_hash(const struct ptx_inst *i) {
  uint64_t h = i->op * 31u + i->types[0];
  for (uint32_t q = 1; q < i->nops; q++)
    h = hash_u64(h * 0x9E3779B97F4A7C15u + (uint64_t)i->ops[q].imm + (i->ops[q].reg ? i->ops[q].reg->num : 0) +
                 (uint64_t)(uintptr_t)i->ops[q].kind);
  return h;
}

static bool single_operands(const struct back *k, const struct node *n) {
  if (n->in->guard || n->ndef != 1 || n->in->ops[0].kind != OK_REG || n->in->ops[0].reg2) return false;
  if (k->r[n->def[0]].def == NODE_NONE) return false;
  for (uint32_t u = 0; u < n->nuse; u++)
    if (k->r[n->use[u]].def == NODE_NONE) return false;
  return true;
}

static bool share_values(struct back *k) {
  uint32_t room = 64;
  while (room < 2 * k->nn) room *= 2;
  uint32_t *table = ARENA_ARRAY(&k->scratch, uint32_t, room);
  uint16_t *to = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  bool any = false;
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    if (n->role == ROLE_GONE || !pure(k, n->in) || !single_operands(k, n)) continue;
    uint32_t at = (uint32_t)value_hash(n->in) & (room - 1);
    for (; table[at]; at = (at + 1) & (room - 1)) {
      const struct node *o = &k->n[table[at] - 1];
      if (same_value(o->in, n->in) && back_dominates(k, o->block, n->block)) break;
    }
    if (!table[at]) {
      table[at] = i + 1;
      continue;
    }
    to[n->def[0]] = k->n[table[at] - 1].def[0];
    n->role = ROLE_GONE;
    any = true;
  }
  if (!any) return false;
  close_chains(k, to);
  rename_reads(k, to);
  return true;
}

/* ---- code without effect ---- */

static bool droppable(const struct back *k, const struct ptx_inst *i) {
  if (pure(k, i)) return true;
  return (i->op == OP_LD || i->op == OP_LDU) && !ptx_has(i, M_VOLATILE) && !ptx_has(i, M_ACQUIRE);
}

void back_drop_unread(struct back *k) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = k->nn; i-- > 0;) {
      struct node *n = &k->n[i];
      if (n->role == ROLE_GONE || !n->ndef || !droppable(k, n->in)) continue;
      bool read = false;
      for (uint32_t d = 0; d < n->ndef; d++) read |= k->r[n->def[d]].uses != 0;
      if (read) continue;
      n->role = ROLE_GONE;
      for (uint32_t u = 0; u < n->nuse; u++) k->r[n->use[u]].uses--;
      changed = true;
    }
  }
}

void back_clean(struct back *k) {
  back_dominators(k);
  for (bool again = true; again; again = back_join_sums(k)) { /* of numbers that are known then */
    for (bool changed = true; changed;) {
      changed = back_join_sums(k);
      changed |= drop_copies(k);
      changed |= share_values(k);
      back_facts(k, false);
    }
    find_constants(k);
  }
  back_drop_unread(k);
  back_facts(k, false);
  back_compact(k);
  back_facts(k, false);
}
