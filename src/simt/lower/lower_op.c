/* lower_op.c - selects the handler of each arithmetic, logic and conversion instruction. A form without a handler is
 * rejected at load, by name. Memory: lower_mem.c; control, textures, calls: lower_ctl.c. */
#include <string.h>

#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/ops/fp.h"

bool lower_refuse(struct lowering *l, const struct ptx_inst *i, const char *why) {
  return ptx_error(l->m->ptx, (struct ptx_place){l->f->text, i->line, i->col}, ERR_UNSUPPORTED, l->e,
                   "%s is not supported%s%s (in '%s')", ptx_form(l->m->ptx, i), *why ? ": " : "", why, l->f->name);
}

bool lower_malformed(struct lowering *l, const struct ptx_inst *i, const char *what) {
  return LOWER_ERROR(l, i, "%s: %s", ptx_form(l->m->ptx, i), what);
}

struct xaux *lower_aux(struct lowering *l) {
  return ARENA_NEW(&l->m->arena, struct xaux);
}

static uint64_t immediate(const struct ptx_opnd *v, enum ptx_type t) {
  uint64_t bits = (uint64_t)v->imm;
  if (v->is_float) {
    double d;
    float f;
    if (v->is_f32) {
      uint32_t w = (uint32_t)bits;
      memcpy(&f, &w, 4);
      d = f;
    } else {
      memcpy(&d, &bits, 8);
      f = (float)d;
    }
    if (t == T_F64 || (ptx_type_bytes[t] == 8 && !v->is_f32)) memcpy(&bits, &d, 8);
    else if (t == T_F16) bits = fp_f32_to_f16(f);
    else {
      uint32_t w;
      memcpy(&w, &f, 4);
      bits = w;
    }
  } else if (t == T_F32 || t == T_F64) { /* an integer where a float is expected: its value */
    if (t == T_F64) {
      double d = (double)v->imm;
      memcpy(&bits, &d, 8);
    } else {
      float f = (float)v->imm;
      uint32_t w;
      memcpy(&w, &f, 4);
      bits = w;
    }
  }
  switch (ptx_type_bytes[t]) {
  case 1:
    return bits & 0xFF;
  case 2:
    return bits & 0xFFFF;
  case 4:
    return bits & 0xFFFFFFFFu;
  default:
    return bits;
  }
}

/* Offset of a source or destination; OFF_NONE for `_`. Sources may have wider slots than their type. */
uint32_t lower_operand(struct lowering *l, const struct ptx_opnd *v, enum ptx_type t) {
  if (v->kind == OK_REG) return l->reg_off[v->reg->num];
  if (v->kind == OK_IMM) return lower_const(l->m, immediate(v, t), ptx_type_bytes[t] > 4 ? 8 : 4);
  return OFF_NONE;
}

struct xopnd lower_elem(struct lowering *l, const struct ptx_opnd *v, enum ptx_type t) {
  struct xopnd r = {
      .off = lower_operand(l, v, t), .bytes = ptx_type_bytes[t] > 4 ? 8 : 4, .kind = v->kind == OK_SINK ? 2 : 0};
  if (v->kind == OK_REG) r.bytes = slot_bytes(v->reg->type) == 8 * LANES ? 8 : 4;
  r.size = v->kind == OK_REG ? ptx_type_bytes[v->reg->type] : ptx_type_bytes[t];
  return r;
}

static int log_width(enum ptx_type t) { /* 16: 0, 32: 1, 64: 2 */
  return ptx_type_bytes[t] == 8 ? 2 : ptx_type_bytes[t] == 4 ? 1 : 0;
}
static bool by_width(struct xop *o, enum xop_id first, enum ptx_type t) {
  return set_xop(o, first + (enum xop_id)log_width(t));
}
static bool by_sign(struct xop *o, enum xop_id first, enum ptx_type t) {
  return set_xop(o, first + (enum xop_id)(log_width(t) + (ptx_type_kinds[t] == 's' ? 3 : 0)));
}

static uint8_t rounding(const struct ptx_inst *i) {
  if (ptx_has(i, M_RZ) || ptx_has(i, M_RZI)) return FP_RZ;
  if (ptx_has(i, M_RM) || ptx_has(i, M_RMI)) return FP_RM;
  if (ptx_has(i, M_RP) || ptx_has(i, M_RPI)) return FP_RP;
  if (ptx_has(i, M_RNA)) return FP_RNA;
  return FP_RN;
}

static void common_flags(const struct ptx_inst *i, struct xop *o) {
  static const struct {
    enum ptx_mod m;
    uint32_t f;
  } map[] = {
      {M_FTZ, XF_FTZ},        {M_SAT, XF_SAT},          {M_CC, XF_CC},     {M_NAN, XF_NAN},   {M_APPROX, XF_APPROX},
      {M_FULL, XF_APPROX},    {M_SATFINITE, XF_SATFIN}, {M_RELU, XF_RELU}, {M_SYNC, XF_SYNC}, {M_HI, XF_HI},
      {M_XORSIGN, XF_XORSIGN}};
  for (size_t k = 0; k < sizeof map / sizeof *map; k++)
    if (ptx_has(i, map[k].m)) o->flags |= map[k].f;
}

/* Operands 1..3 as a, b, c of the first type. */
static void abc(struct lowering *l, const struct ptx_inst *i, struct xop *o, enum ptx_type t) {
  o->d = lower_operand(l, &i->ops[0], t);
  if (i->nops > 1) o->a = lower_operand(l, &i->ops[1], t);
  if (i->nops > 2) o->b = lower_operand(l, &i->ops[2], t);
  if (i->nops > 3) o->c = lower_operand(l, &i->ops[3], t);
}

static bool is_half(enum ptx_type t) {
  return t == T_F16 || t == T_F16X2 || t == T_BF16 || t == T_BF16X2;
}

/* The generic lane-by-lane evaluator. */
static bool fp_any(const struct ptx_inst *i, struct xop *o, enum fp_op op) {
  o->sub = (uint8_t)op;
  o->elem = rounding(i);
  return set_xop(o, X_fp_any);
}

static bool int_any(struct xop *o, enum int_op op) {
  o->sub = (uint8_t)op;
  return set_xop(o, X_int_any);
}

/* add, sub, mul, fma in floating point: two fast handlers per type, the evaluator for other forms. */
static bool float_op(const struct ptx_inst *i, struct xop *o, enum xop_id f32, enum xop_id f32_ftz, enum xop_id f64,
                     enum fp_op op) {
  enum ptx_type t = i->types[0];
  bool plain = rounding(i) == FP_RN && !(o->flags & (XF_SAT | XF_RELU));
  if (t == T_F32 && plain) return set_xop(o, o->flags & XF_FTZ ? f32_ftz : f32);
  if (t == T_F64 && plain) return set_xop(o, f64);
  return fp_any(i, o, op);
}

static bool lower_add(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  bool sub = i->op == OP_SUB || i->op == OP_SUBC;
  abc(l, i, o, t);
  if (ptx_type_kinds[t] == 'f')
    return float_op(i, o, sub ? X_sub_f32 : X_add_f32, sub ? X_sub_ftz_f32 : X_add_ftz_f32, sub ? X_sub_f64 : X_add_f64,
                    sub ? FP_SUB : FP_ADD);
  if (i->op == OP_ADDC || i->op == OP_SUBC) o->flags |= XF_CARRY;
  if (o->flags & (XF_CC | XF_CARRY)) {
    o->sub = sub;
    return set_xop(o, X_carry_any);
  }
  if (t == T_U16X2 || t == T_S16X2) return int_any(o, sub ? INT_SUB2 : INT_ADD2);
  if (o->flags & XF_SAT) return int_any(o, sub ? INT_SUBSAT : INT_ADDSAT);
  return by_width(o, sub ? X_sub_16 : X_add_16, t);
}

static bool lower_mul(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  bool s = ptx_type_kinds[t] == 's';
  abc(l, i, o, t);
  if (ptx_type_kinds[t] == 'f') return float_op(i, o, X_mul_f32, X_mul_ftz_f32, X_mul_f64, FP_MUL);
  if (ptx_has(i, M_WIDE))
    return set_xop(o, ptx_type_bytes[t] == 2 ? (s ? X_mulw_s16 : X_mulw_u16) : (s ? X_mulw_s32 : X_mulw_u32));
  if (ptx_has(i, M_HI)) return by_sign(o, X_mulhi_u16, t);
  return by_width(o, X_mul_16, t);
}

static bool lower_mad(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  bool s = ptx_type_kinds[t] == 's';
  abc(l, i, o, t);
  if (ptx_type_kinds[t] == 'f') return float_op(i, o, X_fma_f32, X_fma_ftz_f32, X_fma_f64, FP_FMA);
  if (ptx_has(i, M_WIDE)) {
    enum ptx_type w = ptx_type_bytes[t] == 2 ? T_U32 : T_U64;
    o->c = lower_operand(l, &i->ops[3], w);
    if (i->ops[3].kind == OK_IMM && s) {
      struct ptx_opnd v = i->ops[3];
      o->c = lower_operand(l, &v, w);
    }
    return set_xop(o, ptx_type_bytes[t] == 2 ? (s ? X_madw_s16 : X_madw_u16) : (s ? X_madw_s32 : X_madw_u32));
  }
  if (i->op == OP_MADC) o->flags |= XF_CARRY;
  if (o->flags & (XF_CC | XF_CARRY)) {
    o->sub = 2;
    return set_xop(o, X_carry_any);
  }
  if (o->flags & XF_SAT) return int_any(o, INT_MADSAT);
  if (ptx_has(i, M_HI)) return by_sign(o, X_madhi_u16, t);
  return by_width(o, X_mad_16, t);
}

/* A predicate register, or the constant that nvcc writes as 0, 1 or -1. */
static bool predicate(struct lowering *l, const struct ptx_opnd *v, uint32_t *off) {
  if (v->kind == OK_IMM) *off = lower_const(l->m, v->imm ? FULL_MASK : 0, 4);
  else if (v->kind == OK_REG) *off = l->reg_off[v->reg->num];
  else return false;
  return true;
}

static bool lower_logic(struct lowering *l, const struct ptx_inst *i, struct xop *o, enum xop_id w32, enum xop_id w64,
                        enum xop_id p) {
  enum ptx_type t = i->types[0];
  if (t == T_PRED) {
    abc(l, i, o, t);
    if (!predicate(l, &i->ops[1], &o->a) || (i->nops > 2 && !predicate(l, &i->ops[2], &o->b)))
      return lower_refuse(l, i, "this operand as predicate");
    if (i->ops[1].neg) o->flags |= XF_NEG_A;
    if (i->nops > 2 && i->ops[2].neg) o->flags |= XF_NEG_C;
    return set_xop(o, p);
  }
  abc(l, i, o, t);
  return set_xop(o, ptx_type_bytes[t] == 8 ? w64 : w32);
}

static bool lower_minmax(struct lowering *l, const struct ptx_inst *i, struct xop *o, bool max) {
  enum ptx_type t = i->types[0];
  abc(l, i, o, t);
  if (t == T_U16X2 || t == T_S16X2) return int_any(o, max ? INT_MAX2 : INT_MIN2);
  if (ptx_type_kinds[t] != 'f')
    return o->flags & XF_RELU ? lower_refuse(l, i, "") : by_sign(o, max ? X_max_u16 : X_min_u16, t);
  if (!(o->flags & (XF_FTZ | XF_NAN | XF_XORSIGN)) && i->nops == 3 && !ptx_has(i, M_ABS)) {
    if (t == T_F32) return set_xop(o, max ? X_max_f32 : X_min_f32);
    if (t == T_F64) return set_xop(o, max ? X_max_f64 : X_min_f64);
  }
  if (i->nops == 4 || ptx_has(i, M_ABS)) return lower_refuse(l, i, "");
  return fp_any(i, o, max ? FP_MAX : FP_MIN);
}

static bool lower_compare(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  static const enum ptx_mod order[] = {M_EQ,  M_NE,  M_LT,  M_LE,  M_GT,  M_GE,  M_EQU,
                                       M_NEU, M_LTU, M_LEU, M_GTU, M_GEU, M_NUM, M_NANC};
  bool set = i->op == OP_SET;
  enum ptx_type t = set ? i->types[1] : i->types[0];
  int cmp = -1;
  bool is_unsigned = ptx_has(i, M_LO) || ptx_has(i, M_LS) || ptx_has(i, M_HI) || ptx_has(i, M_HS);
  for (int k = 0; k < 14; k++)
    if (ptx_has(i, order[k])) cmp = k;
  if (ptx_has(i, M_LO)) cmp = 2;
  if (ptx_has(i, M_LS)) cmp = 3;
  if (ptx_has(i, M_HI)) cmp = 4;
  if (ptx_has(i, M_HS)) cmp = 5;
  o->flags &= ~(uint32_t)XF_HI;
  if (cmp < 0) return LOWER_ERROR(l, i, "%s needs a comparison such as .eq or .lt", ptx_ops[i->op].name);
  o->d = lower_operand(l, &i->ops[0], set ? i->types[0] : T_PRED);
  if (i->ops[0].reg2) o->d2 = l->reg_off[i->ops[0].reg2->num];
  o->a = lower_operand(l, &i->ops[1], t);
  o->b = lower_operand(l, &i->ops[2], t);
  if (i->nops > 3) {
    if (!predicate(l, &i->ops[3], &o->p)) return lower_refuse(l, i, "this operand as predicate");
    if (i->ops[3].neg) o->flags |= XF_NEG_C;
    o->sub = ptx_has(i, M_AND) ? 1 : ptx_has(i, M_OR) ? 2 : ptx_has(i, M_XOR) ? 3 : 0;
    if (!o->sub) return LOWER_ERROR(l, i, "%s with a predicate source needs .and, .or or .xor", ptx_ops[i->op].name);
  }
  if (set) {
    enum ptx_type dt = i->types[0];
    bool half_source = is_half(t);
    if ((ptx_type_bytes[dt] != 4 || dt == T_F16X2 || dt == T_BF16X2) && !half_source) return lower_refuse(l, i, "");
    o->flags |= XF_SET | (dt == T_F32 ? XF_SET_F32 : 0);
  }
  char kind = ptx_type_kinds[t];
  if (kind == 'f') {
    if (is_half(t)) {
      o->elem = (uint8_t)cmp;
      return set_xop(o, X_setp_half);
    }
    return set_xop(o, (t == T_F64 ? X_eq_f64 : X_eq_f32) + (enum xop_id)cmp);
  }
  if (cmp > 5) return LOWER_ERROR(l, i, "an unordered comparison of integers");
  static const enum xop_id base[3][2] = {{X_eq_u16, X_eq_s16}, {X_eq_u32, X_eq_s32}, {X_eq_u64, X_eq_s64}};
  return set_xop(o, base[log_width(t)][kind == 's' && !is_unsigned] + (enum xop_id)cmp);
}

static bool lower_cvt(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type d = i->types[0], s = i->types[1];
  char dk = ptx_type_kinds[d], sk = ptx_type_kinds[s];
  uint32_t db = ptx_type_bytes[d], sb = ptx_type_bytes[s];
  o->d = lower_operand(l, &i->ops[0], d);
  o->a = lower_operand(l, &i->ops[1], s);
  if (i->nops > 2) o->b = lower_operand(l, &i->ops[2], s);
  if (i->ops[0].kind == OK_REG && slot_bytes(i->ops[0].reg->type) == 8 * LANES) o->flags |= XF_DST64;
  if (i->ops[1].kind == OK_REG && slot_bytes(i->ops[1].reg->type) == 8 * LANES) o->flags |= XF_SRC64;
  if (i->ops[1].kind == OK_IMM && sb == 8) o->flags |= XF_SRC64;
  bool ints = dk != 'f' && sk != 'f' && dk != 'o' && sk != 'o', wide_d = o->flags & XF_DST64,
       wide_s = o->flags & XF_SRC64;
  uint8_t r = rounding(i);
  bool int_round = ptx_has(i, M_RNI) || ptx_has(i, M_RZI) || ptx_has(i, M_RMI) || ptx_has(i, M_RPI);
  bool exact_slots = (db == 8) == wide_d && (sb == 8) == wide_s;
  if (ints && !(o->flags & XF_SAT) && exact_slots) {
    if (db == 8 && sb == 4) return set_xop(o, sk == 's' ? X_sext_32_64 : X_zext_32_64);
    if (db == 4 && sb == 8) return set_xop(o, X_trunc_64_32);
    if (db == sb) return set_xop(o, db == 8 ? X_mov_64 : X_mov_32);
    if (db == 4 && sb == 2) return set_xop(o, sk == 's' ? X_sext_16_32 : X_zext_16_32);
    if (db == 4 && sb == 1) return set_xop(o, sk == 's' ? X_sext_8_32 : X_zext_8_32);
    if (db == 2 && sb == 4) return set_xop(o, X_zext_16_32);
  }
  if (!(o->flags & (XF_FTZ | XF_SAT | XF_RELU | XF_SATFIN)) && exact_slots) {
    if (r == FP_RN && !int_round) {
      if (d == T_F32 && sb == 4 && sk == 's') return set_xop(o, X_f32_s32);
      if (d == T_F32 && sb == 4 && sk == 'u') return set_xop(o, X_f32_u32);
      if (d == T_F64 && sb == 4 && sk == 's') return set_xop(o, X_f64_s32);
      if (d == T_F64 && sb == 4 && sk == 'u') return set_xop(o, X_f64_u32);
      if (d == T_F64 && s == T_F32) return set_xop(o, X_f64_f32);
      if (d == T_F32 && s == T_F64) return set_xop(o, X_f32_f64);
    }
    if (ptx_has(i, M_RZI) && s == T_F32 && d == T_S32) return set_xop(o, X_s32_f32);
    if (ptx_has(i, M_RZI) && s == T_F32 && d == T_U32) return set_xop(o, X_u32_f32);
  }
  bool to8 = d == T_E4M3X2 || d == T_E5M2X2, from8 = s == T_E4M3X2 || s == T_E5M2X2;
  if ((to8 && ((s == T_F32 && i->nops == 3) || (s == T_F16X2 && i->nops == 2))) ||
      (from8 && d == T_F16X2 && i->nops == 2))
    return set_xop(o, X_cvt_fp8);
  if (dk == 'o' || sk == 'o') return lower_refuse(l, i, "");
  if (i->nops > 2 && d != T_F16X2 && d != T_BF16X2) return lower_refuse(l, i, "");
  o->elem = r;
  o->vec = int_round;
  return set_xop(o, X_cvt_any);
}

static bool lower_mov(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  const struct ptx_opnd *d = &i->ops[0], *s = &i->ops[1];
  if (i->nops != 2) return LOWER_ERROR(l, i, "mov takes 2 operands, but there are %u", i->nops);
  if (t == T_B128) return lower_refuse(l, i, "");
  if (d->kind == OK_VEC || s->kind == OK_VEC) {
    const struct ptx_opnd *v = d->kind == OK_VEC ? d : s, *w = d->kind == OK_VEC ? s : d;
    struct xaux *a = lower_aux(l);
    uint32_t each = ptx_type_bytes[t] / v->n;
    enum ptx_type et = each == 1 ? T_B8 : each == 2 ? T_B16 : T_B32;
    a->n = v->n;
    a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, v->n);
    for (uint32_t k = 0; k < v->n; k++) a->v[k] = lower_elem(l, &v->vec[k], et);
    o->aux = a;
    o->elem = (uint8_t)each;
    o->flags |= ptx_type_bytes[t] == 8 ? XF_DST64 | XF_SRC64 : 0;
    o->d = o->a = lower_operand(l, w, t);
    return set_xop(o, d->kind == OK_VEC ? X_unpack : X_pack);
  }
  if (d->kind != OK_REG) return LOWER_ERROR(l, d, "the destination of mov must be a register");
  o->d = lower_operand(l, d, t);
  bool wide = slot_bytes(d->reg->type) == 8 * LANES;
  if (s->kind == OK_SREG) {
    o->sub = s->sreg;
    if (wide) o->flags |= XF_DST64;
    return set_xop(o, X_mov_sreg);
  }
  if (s->kind == OK_VAR || s->kind == OK_FUNC || s->kind == OK_LABEL) {
    uint64_t v = (uint64_t)s->imm;
    if (s->kind == OK_LABEL) return LOWER_ERROR(l, s, "a label is not a value");
    if (s->kind == OK_FUNC) {
      const struct ptx_func *f = s->func->def;
      const struct xfunc *xf = f ? lowered_function(l->m, f) : NULL;
      if (!xf) return lower_refuse(l, i, "the address of a function without a body");
      v += CODE_BASE + 8ull * xf->entry;
    } else if (s->var->type == T_TEXREF || s->var->type == T_SURFREF || s->var->type == T_SAMPLERREF) {
      return lower_refuse(l, i, "the address of a texture reference");
    } else {
      const struct ptx_var *var = s->var->def;
      if (var->space == SP_SHARED && (var->is_extern || var->unsized)) v += (l->xf->shared_bytes + 15) & ~15u;
      else v += var->addr;
      if (var->space == SP_LOCAL || (var->space == SP_PARAM && !(l->f->entry && var->formal))) {
        o->imm = v;
        if (wide) o->flags |= XF_DST64;
        return set_xop(o, X_mov_frame);
      }
    }
    o->a = lower_const(l->m, v, wide ? 8 : 4);
    return set_xop(o, wide ? X_mov_64 : X_mov_32);
  }
  o->a = lower_operand(l, s, t);
  if (o->a == OFF_NONE) return LOWER_ERROR(l, s, "mov cannot read this operand");
  if (t == T_PRED) {
    if (s->kind != OK_REG) { /* mov.pred %p, 1 */
      o->a = lower_const(l->m, s->imm ? 0xFFFFFFFFu : 0, 4);
    }
    if (s->neg) o->flags |= XF_NEG_A;
    return set_xop(o, X_mov_p);
  }
  if (s->kind == OK_REG && slot_bytes(s->reg->type) != slot_bytes(d->reg->type))
    return LOWER_ERROR(l, s, "mov between registers of different sizes: %s and %s", d->reg->name, s->reg->name);
  return set_xop(o, wide ? X_mov_64 : X_mov_32);
}

static bool lower_bits(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  bool w64 = ptx_type_bytes[t] == 8, s = ptx_type_kinds[t] == 's';
  o->d = lower_operand(l, &i->ops[0], t);
  o->a = lower_operand(l, &i->ops[1], t);
  switch (i->op) {
  case OP_POPC:
    return w64 ? int_any(o, INT_POPC) : set_xop(o, X_popc_32);
  case OP_CLZ:
    return w64 ? int_any(o, INT_CLZ) : set_xop(o, X_clz_32);
  case OP_BREV:
    return w64 ? int_any(o, INT_BREV) : set_xop(o, X_brev_32);
  case OP_BFIND:
    if (ptx_has(i, M_SHIFTAMT)) o->flags |= XF_HI;
    return int_any(o, INT_BFIND);
  case OP_CNOT:
    return int_any(o, INT_CNOT);
  case OP_BFE:
    o->b = lower_operand(l, &i->ops[2], T_U32);
    o->c = lower_operand(l, &i->ops[3], T_U32);
    return w64 ? int_any(o, INT_BFE) : set_xop(o, s ? X_bfe_s32 : X_bfe_u32);
  case OP_BFI:
    o->b = lower_operand(l, &i->ops[2], t);
    o->c = lower_operand(l, &i->ops[3], T_U32);
    o->d2 = lower_operand(l, &i->ops[4], T_U32);
    return w64 ? int_any(o, INT_BFI) : set_xop(o, X_bfi_32);
  default:
    return lower_refuse(l, i, "");
  }
}

static bool lower_prmt_lop(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  if (i->op == OP_LOP3) {
    bool both = i->ops[0].reg2 && i->nops == 6 && i->ops[5].kind == OK_REG && (ptx_has(i, M_AND) || ptx_has(i, M_OR));
    if (i->nops < 5 || i->ops[4].kind != OK_IMM || (!both && (i->nops != 5 || i->ops[0].reg2)))
      return lower_refuse(l, i, "");
    abc(l, i, o, T_B32);
    o->imm = (uint64_t)i->ops[4].imm & 0xFF;
    if (!both) return set_xop(o, X_lop3);
    o->d2 = l->reg_off[i->ops[0].reg2->num]; /* lop3.BoolOp.b32 d|p, a, b, c, table, q */
    o->p = l->reg_off[i->ops[5].reg->num];
    if (i->ops[5].neg) o->flags |= XF_NEG_C;
    o->sub = ptx_has(i, M_OR);
    return set_xop(o, X_lop3_p);
  }
  abc(l, i, o, T_B32);
  if (i->op == OP_PRMT) {
    o->sub = ptx_has(i, M_F4E)    ? 1
             : ptx_has(i, M_B4E)  ? 2
             : ptx_has(i, M_RC8)  ? 3
             : ptx_has(i, M_ECL)  ? 4
             : ptx_has(i, M_ECR)  ? 5
             : ptx_has(i, M_RC16) ? 6
                                  : 0;
    return set_xop(o, X_prmt);
  }
  bool wrap = ptx_has(i, M_WRAP);
  return set_xop(o, ptx_has(i, M_L) ? (wrap ? X_shf_l_wrap : X_shf_l_clamp) : (wrap ? X_shf_r_wrap : X_shf_r_clamp));
}

static bool lower_unary_float(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  abc(l, i, o, t);
  bool plain = rounding(i) == FP_RN && !(o->flags & (XF_FTZ | XF_APPROX | XF_SAT));
  bool f64 = t == T_F64;
  switch (i->op) {
  case OP_RCP:
    return plain && (t == T_F32 || f64) ? set_xop(o, f64 ? X_rcp_f64 : X_rcp_f32) : fp_any(i, o, FP_RCP);
  case OP_SQRT:
    return plain && (t == T_F32 || f64) ? set_xop(o, f64 ? X_sqrt_f64 : X_sqrt_f32) : fp_any(i, o, FP_SQRT);
  case OP_DIV:
    return plain ? set_xop(o, f64 ? X_div_f64 : X_div_f32) : fp_any(i, o, FP_DIV);
  case OP_RSQRT:
    return fp_any(i, o, FP_RSQRT);
  case OP_SIN:
    return fp_any(i, o, FP_SIN);
  case OP_COS:
    return fp_any(i, o, FP_COS);
  case OP_EX2:
    return fp_any(i, o, FP_EX2);
  case OP_LG2:
    return fp_any(i, o, FP_LG2);
  default:
    return fp_any(i, o, FP_TANH);
  }
}

static bool lower_neg_abs(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  bool neg = i->op == OP_NEG;
  abc(l, i, o, t);
  if (is_half(t) || (t == T_F32 && (o->flags & XF_FTZ))) return fp_any(i, o, neg ? FP_NEG : FP_ABS);
  if (t == T_F32) return set_xop(o, neg ? X_neg_f32 : X_abs_f32);
  if (t == T_F64) return set_xop(o, neg ? X_neg_f64 : X_abs_f64);
  return by_width(o, neg ? X_neg_16 : X_abs_16, t);
}

static bool lower_misc_int(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  abc(l, i, o, t);
  switch (i->op) {
  case OP_MUL24:
    return int_any(o, INT_MUL24);
  case OP_MAD24:
    return int_any(o, INT_MAD24);
  case OP_FNS:
    return int_any(o, INT_FNS);
  case OP_BMSK:
    o->b = lower_operand(l, &i->ops[2], T_U32);
    if (ptx_has(i, M_WRAP)) o->flags |= XF_HI;
    return int_any(o, INT_BMSK);
  case OP_DP4A:
  case OP_DP2A: /* dp4a.atype.btype d, a, b, c */
    if (i->ntypes != 2 || i->nops != 4) return lower_refuse(l, i, "");
    return int_any(o, i->op == OP_DP4A ? INT_DP4A : INT_DP2A);
  default:
    return lower_refuse(l, i, "");
  }
}

/* Operations with a lowering function of their own. */
static bool lower_group(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  switch (i->op) {
  case OP_POPC:
  case OP_CLZ:
  case OP_BREV:
  case OP_BFIND:
  case OP_CNOT:
  case OP_BFE:
  case OP_BFI:
    return lower_bits(l, i, o);
  case OP_PRMT:
  case OP_LOP3:
  case OP_SHF:
    return lower_prmt_lop(l, i, o);
  case OP_RCP:
  case OP_SQRT:
  case OP_RSQRT:
  case OP_SIN:
  case OP_COS:
  case OP_EX2:
  case OP_LG2:
  case OP_TANH:
    return lower_unary_float(l, i, o);
  case OP_MUL24:
  case OP_MAD24:
  case OP_FNS:
  case OP_BMSK:
  case OP_DP4A:
  case OP_DP2A:
    return lower_misc_int(l, i, o);
  case OP_LD:
  case OP_LDU:
  case OP_ST:
  case OP_ATOM:
  case OP_RED:
  case OP_CP:
  case OP_CVTA:
  case OP_ISSPACEP:
    return lower_memory(l, i, o);
  default:
    return lower_special(l, i, o);
  }
}

/* Logic, comparisons, selections and conversions. */
static bool lower_value(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  switch (i->op) {
  case OP_AND:
    return lower_logic(l, i, o, X_and_32, X_and_64, X_and_p);
  case OP_OR:
    return lower_logic(l, i, o, X_or_32, X_or_64, X_or_p);
  case OP_XOR:
    return lower_logic(l, i, o, X_xor_32, X_xor_64, X_xor_p);
  case OP_NOT:
    if (t == T_PRED) return lower_logic(l, i, o, X_not_32, X_not_64, X_not_p);
    abc(l, i, o, t);
    return by_width(o, X_not_16, t);
  case OP_SETP:
  case OP_SET:
    return lower_compare(l, i, o);
  case OP_SELP:
    abc(l, i, o, t);
    o->c = OFF_NONE;
    if (!predicate(l, &i->ops[3], &o->p)) return lower_refuse(l, i, "this operand as predicate");
    if (i->ops[3].neg) o->flags |= XF_NEG_C;
    return set_xop(o, ptx_type_bytes[t] == 8 ? X_selp_64 : X_selp_32);
  case OP_SLCT:
    abc(l, i, o, t);
    o->c = lower_operand(l, &i->ops[3], i->types[1]);
    return set_xop(o, X_slct);
  case OP_COPYSIGN:
    abc(l, i, o, t);
    return set_xop(o, X_copysign);
  case OP_TESTP:
    o->d = lower_operand(l, &i->ops[0], T_PRED);
    o->a = lower_operand(l, &i->ops[1], t);
    o->sub = i->mod_order[0];
    if (i->nops == 4) { /* of a back end: operands of a division or root that take a subroutine */
      o->b = lower_operand(l, &i->ops[2], t);
      o->sub = (uint8_t)i->ops[3].imm;
      return set_xop(o, X_rare);
    }
    return set_xop(o, X_testp);
  case OP_CVT:
    return lower_cvt(l, i, o);
  case OP_MOV:
    return lower_mov(l, i, o);
  default:
    return lower_group(l, i, o);
  }
}

static bool lower_arithmetic(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  switch (i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_ADDC:
  case OP_SUBC:
    return lower_add(l, i, o);
  case OP_MUL:
    return lower_mul(l, i, o);
  case OP_MAD:
  case OP_MADC:
  case OP_FMA:
    return lower_mad(l, i, o);
  case OP_DIV:
    if (ptx_type_kinds[t] == 'f') return lower_unary_float(l, i, o);
    abc(l, i, o, t);
    return by_sign(o, X_div_u16, t);
  case OP_REM:
    abc(l, i, o, t);
    return by_sign(o, X_rem_u16, t);
  case OP_MIN:
    return lower_minmax(l, i, o, false);
  case OP_MAX:
    return lower_minmax(l, i, o, true);
  case OP_NEG:
  case OP_ABS:
    return lower_neg_abs(l, i, o);
  case OP_SAD:
    abc(l, i, o, t);
    return by_sign(o, X_sad_u16, t);
  case OP_SHL:
  case OP_SHR:
    o->d = lower_operand(l, &i->ops[0], t);
    o->a = lower_operand(l, &i->ops[1], t);
    o->b = lower_operand(l, &i->ops[2], T_U32);
    return i->op == OP_SHL ? by_width(o, X_shl_16, t) : by_sign(o, X_shr_u16, t);
  default:
    return lower_value(l, i, o);
  }
}

bool lower_inst(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  enum ptx_type t = i->types[0];
  common_flags(i, o);
  if (lower_mentions_wide(i)) {
    if (i->op == OP_MOV) return lower_wide_move(l, i, o);
    bool memory = i->op == OP_LD || i->op == OP_ST || i->op == OP_ATOM;
    if (!memory || t != T_B128) return lower_refuse(l, i, "a .b128 register");
  }
  if (i->op != OP_MOV)
    for (int k = 0; k < i->nops; k++)
      if (i->ops[k].kind == OK_SREG) return lower_refuse(l, i, "a special register is read by mov only");
  return lower_arithmetic(l, i, o);
}
