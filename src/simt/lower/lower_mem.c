/* lower_mem.c - loads, stores, atomics, address conversions. */
#include <string.h>

#include "simt/core/lower.h"
#include "simt/core/machine.h"

/* Base register and constant part of an address; variables become addresses in the instruction's space. */
bool lower_address(struct lowering *l, const struct ptx_inst *i, const struct ptx_opnd *m, struct xop *o) {
  o->imm = (uint64_t)m->imm;
  if (m->n || (m->reg && m->reg->type == T_B128)) return lower_refuse(l, i, "this address form");
  if (m->reg) {
    o->a = l->reg_off[m->reg->num];
    if (slot_bytes(m->reg->type) == 8 * LANES) o->flags |= XF_ADDR64;
    if (o->space == SPACE_SHARED || o->space == SPACE_LOCAL || o->space == SPACE_PARAM) return true;
    return true;
  }
  if (!m->var) return true;
  const struct ptx_var *v = m->var->def;
  if (v->space == SP_SHARED) {
    o->imm += v->is_extern || v->unsized ? (l->xf->shared_bytes + 15) & ~15u : v->addr;
    if (o->space == SPACE_GENERIC) o->imm += SHARED_WINDOW;
  } else if (v->space == SP_LOCAL || (v->space == SP_PARAM && o->space == SPACE_LOCAL)) {
    o->imm += v->addr;
    o->flags |= XF_FRAME;
    if (o->space == SPACE_GENERIC) return lower_refuse(l, i, "a generic address of a local variable by name");
  } else {
    o->imm += v->addr;
  }
  static const uint8_t want[] = {
      [SP_GLOBAL] = SPACE_GLOBAL, [SP_SHARED] = SPACE_SHARED, [SP_LOCAL] = SPACE_LOCAL, [SP_CONST] = SPACE_CONST};
  if (v->space != SP_PARAM && o->space != SPACE_GENERIC && v->space < sizeof want && want[v->space] != o->space)
    return LOWER_ERROR(l, m, "'%s' is not a variable of the instruction's state space", v->name);
  return true;
}

static void vector_aux(struct lowering *l, const struct ptx_opnd *v, enum ptx_type t, struct xop *o, bool load) {
  struct xaux *a = lower_aux(l);
  a->n = v->n;
  a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, v->n);
  bool wide = false;
  for (uint32_t k = 0; k < v->n; k++) {
    a->v[k] = lower_elem(l, &v->vec[k], t);
    if (v->vec[k].kind != OK_SINK) wide |= a->v[k].bytes == 8;
    if (v->vec[k].kind == OK_REG) o->sub = ptx_type_bytes[v->vec[k].reg->type];
  }
  if (wide) o->flags |= load ? XF_DST64 : XF_SRC64;
  o->aux = a;
}

static bool same_slots(const struct ptx_opnd *v, enum ptx_type t) {
  int wide = -1;
  for (uint32_t k = 0; k < v->n; k++) {
    const struct ptx_opnd *e = &v->vec[k];
    if (e->kind == OK_SINK) continue;
    int w = e->kind == OK_REG ? slot_bytes(e->reg->type) == 8 * LANES : ptx_type_bytes[t] > 4;
    if (wide >= 0 && w != wide) return false;
    wide = w;
  }
  return true;
}

static bool lower_ldst(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  bool load = i->op != OP_ST;
  enum ptx_type t = i->types[0];
  const struct ptx_opnd *data = &i->ops[load ? 0 : 1], *mem = &i->ops[load ? 1 : 0];
  if (!load && ptx_has(i, M_ASYNC)) return lower_refuse(l, i, "");
  if (o->elem * o->vec > 32) return lower_refuse(l, i, "");
  if (load && ptx_type_kinds[t] == 's') o->flags |= XF_SIGNED;
  if (!lower_address(l, i, mem, o)) return false;
  if (t == T_B128) {
    if (o->vec > 1 || !lower_wide_value(l, data, o, load)) return lower_refuse(l, i, "");
  } else if (data->kind == OK_VEC && data->n > 1) {
    if (!same_slots(data, t)) return lower_refuse(l, i, "elements of different register sizes");
    vector_aux(l, data, t, o, load);
  } else {
    const struct ptx_opnd *v = data->kind == OK_VEC ? &data->vec[0] : data;
    if (v->kind == OK_VAR || v->kind == OK_FUNC) return lower_refuse(l, i, "an address as the value stored");
    uint32_t off = lower_operand(l, v, t);
    bool wide = v->kind == OK_REG ? slot_bytes(v->reg->type) == 8 * LANES : ptx_type_bytes[t] > 4;
    if (load) o->d = off;
    else o->b = off;
    if (wide) o->flags |= load ? XF_DST64 : XF_SRC64;
    o->sub = v->kind == OK_REG ? ptx_type_bytes[v->reg->type] : ptx_type_bytes[t];
  }
  static const uint16_t loads[] = {
      [SPACE_GLOBAL] = X_ld_global, [SPACE_SHARED] = X_ld_shared, [SPACE_LOCAL] = X_ld_local,
      [SPACE_CONST] = X_ld_const,   [SPACE_PARAM] = X_ld_param,   [SPACE_GENERIC] = X_ld_generic};
  static const uint16_t stores[] = {[SPACE_GLOBAL] = X_st_global,
                                    [SPACE_SHARED] = X_st_shared,
                                    [SPACE_LOCAL] = X_st_local,
                                    [SPACE_CONST] = 0,
                                    [SPACE_PARAM] = 0,
                                    [SPACE_GENERIC] = X_st_generic};
  o->id = load ? loads[o->space] : stores[o->space];
  o->cls = XC_MEMORY;
  if (!o->id) return LOWER_ERROR(l, i, "%s cannot write this state space", ptx_form(l->m->ptx, i));
  return true;
}

/* atom, red with .v2, .v4, .v8: floats only, up to 16 bytes of global memory. */
static bool lower_vector_atomic(struct lowering *l, const struct ptx_inst *i, struct xop *o, int op) {
  bool red = i->op == OP_RED;
  enum ptx_type t = i->types[0];
  const struct ptx_opnd *from = &i->ops[red ? 1 : 2], *to = red ? NULL : &i->ops[0];
  bool half = ptx_type_kinds[t] == 'f' && t != T_F32 && t != T_F64, known = half || t == T_F32;
  if (!known || (half ? op > ATOM_MAX : op != ATOM_ADD) || ptx_type_bytes[t] * o->vec > 16 || from->kind != OK_VEC ||
      (to && to->kind != OK_VEC && to->kind != OK_SINK) || i->nops != (red ? 2 : 3) || o->space == SPACE_SHARED)
    return lower_refuse(l, i, "");
  if (!lower_address(l, i, &i->ops[red ? 0 : 1], o)) return false;
  struct xaux *a = lower_aux(l);
  a->n = o->vec;
  a->nret = to && to->kind == OK_VEC ? o->vec : 0;
  a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, a->n + a->nret);
  for (uint32_t k = 0; k < a->n; k++) {
    a->v[k] = lower_elem(l, &from->vec[k], t);
    if (a->nret) a->v[a->n + k] = lower_elem(l, &to->vec[k], t);
  }
  o->aux = a;
  o->sub = (uint8_t)op;
  o->cls = XC_MEMORY;
  o->id = X_atom;
  return true;
}

static bool lower_atomic(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  bool red = i->op == OP_RED;
  enum ptx_type t = i->types[0];
  static const struct {
    enum ptx_mod m;
    uint32_t op;
  } ops[] = {{M_ADD, ATOM_ADD}, {M_MIN, ATOM_MIN}, {M_MAX, ATOM_MAX}, {M_AND, ATOM_AND},   {M_OR, ATOM_OR},
             {M_XOR, ATOM_XOR}, {M_INC, ATOM_INC}, {M_DEC, ATOM_DEC}, {M_EXCH, ATOM_EXCH}, {M_CAS, ATOM_CAS}};
  int op = -1;
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
    if (ptx_has(i, ops[k].m)) op = (int)ops[k].op;
  if (op < 0) return LOWER_ERROR(l, i, "%s needs an operation such as .add", ptx_ops[i->op].name);
  if (t == T_B128 && (red || o->vec > 1 || op < ATOM_EXCH)) return lower_refuse(l, i, "");
  if (o->vec > 1) return lower_vector_atomic(l, i, o, op);
  if (op == ATOM_CAS && i->nops != 4) return LOWER_ERROR(l, i, "atom.cas takes 4 operands");
  if (ptx_type_kinds[t] == 'f' && op > ATOM_MAX && op != ATOM_EXCH && op != ATOM_CAS) return lower_refuse(l, i, "");
  if (!lower_address(l, i, &i->ops[red ? 0 : 1], o)) return false;
  if (!red) o->d = lower_operand(l, &i->ops[0], t);
  o->b = lower_operand(l, &i->ops[red ? 1 : 2], t);
  if (op == ATOM_CAS) o->c = lower_operand(l, &i->ops[3], t);
  for (int k = red ? 1 : 0; t == T_B128 && k < i->nops; k++)
    if (k != 1 && i->ops[k].kind != OK_REG && (k || i->ops[k].kind != OK_SINK)) return lower_refuse(l, i, "");
  o->sub = (uint8_t)op;
  if (ptx_type_bytes[t] == 8) o->flags |= XF_DST64;
  o->cls = XC_MEMORY;
  o->id = X_atom;
  return true;
}

static bool lower_cvta(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  const struct ptx_opnd *s = &i->ops[1];
  uint64_t window = 0;
  if (ptx_has(i, M_SHARED) || ptx_has(i, M_SHARED_CTA) || ptx_has(i, M_SHARED_CLUSTER)) window = SHARED_WINDOW;
  else if (ptx_has(i, M_LOCAL)) window = LOCAL_WINDOW;
  else if (ptx_has(i, M_PARAM) || ptx_has(i, M_PARAM_ENTRY)) return lower_refuse(l, i, "");
  if (i->nops != 2) return LOWER_ERROR(l, i, "cvta takes 2 operands, but there are %u", i->nops);
  o->d = lower_operand(l, &i->ops[0], t);
  uint64_t v = (uint64_t)s->imm;
  bool wide = ptx_type_bytes[t] == 8;
  if (s->kind == OK_VAR) {
    const struct ptx_var *var = s->var->def;
    if (var->space == SP_SHARED && (var->is_extern || var->unsized)) v += (l->xf->shared_bytes + 15) & ~15u;
    else v += var->addr;
    o->imm = v + window;
    if (var->space == SP_LOCAL) {
      if (wide) o->flags |= XF_DST64;
      o->id = X_mov_frame;
    } else {
      o->a = lower_const(l->m, o->imm, wide ? 8 : 4);
      o->id = wide ? X_mov_64 : X_mov_32;
    }
    return true;
  }
  o->a = lower_operand(l, s, t);
  if (o->a == OFF_NONE) return LOWER_ERROR(l, s, "cvta takes a register or a variable");
  if (ptx_has(i, M_TO)) window = 0 - window;
  o->b = lower_const(l->m, wide ? window : window & 0xFFFFFFFFu, wide ? 8 : 4);
  o->id = wide ? X_add_64 : X_add_32;
  if (!window) o->id = wide ? X_mov_64 : X_mov_32;
  return true;
}

static bool lower_isspacep(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  if (i->nops != 2 || i->ops[1].kind != OK_REG) return lower_refuse(l, i, "");
  o->d = lower_operand(l, &i->ops[0], T_PRED);
  o->a = lower_operand(l, &i->ops[1], i->ops[1].reg->type);
  if (slot_bytes(i->ops[1].reg->type) == 8 * LANES) o->flags |= XF_SRC64;
  o->sub = ptx_has(i, M_GLOBAL)                               ? SPACE_GLOBAL
           : ptx_has(i, M_LOCAL)                              ? SPACE_LOCAL
           : ptx_has(i, M_CONST)                              ? SPACE_CONST
           : ptx_has(i, M_PARAM) || ptx_has(i, M_PARAM_ENTRY) ? SPACE_PARAM
                                                              : SPACE_SHARED;
  o->vec = o->sub == SPACE_SHARED && !ptx_has(i, M_SHARED_CLUSTER);
  o->id = X_isspacep;
  return true;
}

/* cp.async.{ca,cg}.shared.global [dst], [src], bytes{, src bytes}; performed at once, so the group forms do nothing. */
static bool lower_cp(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  if (ptx_has(i, M_COMMIT_GROUP) || ptx_has(i, M_WAIT_GROUP) || ptx_has(i, M_WAIT_ALL)) {
    o->id = X_nop;
    return true;
  }
  if (ptx_has(i, M_BULK) || ptx_has(i, M_MBARRIER)) return lower_cp_sm90(l, i, o);
  if (!ptx_has(i, M_ASYNC) || i->nops < 3 || i->nops > 4 || i->ops[0].kind != OK_MEM || i->ops[1].kind != OK_MEM ||
      i->ops[2].kind != OK_IMM)
    return lower_refuse(l, i, "");
  struct xop dst = *o;
  dst.flags = 0;
  dst.space = SPACE_SHARED;
  o->space = SPACE_GLOBAL;
  if (!lower_address(l, i, &i->ops[1], o) || !lower_address(l, i, &i->ops[0], &dst)) return false;
  struct xaux *a = lower_aux(l);
  a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, 1);
  a->v[0] = (struct xopnd){.off = dst.a, .bytes = dst.flags & XF_ADDR64 ? 8 : 4, .size = (uint32_t)dst.imm};
  a->n = (uint32_t)i->ops[2].imm;
  if (a->n != 4 && a->n != 8 && a->n != 16) return LOWER_ERROR(l, &i->ops[2], "cp.async copies 4, 8 or 16 bytes");
  if (i->nops == 4) o->b = lower_operand(l, &i->ops[3], T_U32);
  o->elem = (uint8_t)a->n;
  o->vec = 1;
  o->aux = a;
  o->cls = XC_MEMORY;
  o->id = X_cp_async;
  return true;
}

bool lower_memory(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  switch (i->op) {
  case OP_LD:
  case OP_LDU:
  case OP_ST:
    return lower_ldst(l, i, o);
  case OP_ATOM:
  case OP_RED:
    return lower_atomic(l, i, o);
  case OP_CVTA:
    return lower_cvta(l, i, o);
  case OP_ISSPACEP:
    return lower_isspacep(l, i, o);
  default:
    return lower_cp(l, i, o);
  }
}
