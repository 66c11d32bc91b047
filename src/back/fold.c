/* fold.c - arithmetic that the assembler does itself: instructions whose operands are numbers, and sums of a sum and a
 * constant. An instruction that is not known here stays what it is. */
#include <math.h>
#include <string.h>

#include "back/back_impl.h"

static bool number(const struct back *k, const struct ptx_opnd *o, int64_t *v) {
  if (o->sel || o->part || o->neg || o->minus || o->reg2) return false;
  if (o->kind == OK_IMM) {
    *v = o->imm;
    return !o->is_float || o->is_f32;
  }
  if (o->kind != OK_REG || k->r[o->reg->num].konst != K_IMM || !k->r[o->reg->num].number) return false;
  *v = k->r[o->reg->num].imm;
  return true;
}

static int64_t as_type(enum ptx_type t, int64_t v) { /* the low bits as the type reads them */
  bool is_unsigned = ptx_type_kinds[t] != 's';
  switch (ptx_type_bytes[t]) {
  case 1:
    return is_unsigned ? (int64_t)(uint8_t)v : (int64_t)(int8_t)v;
  case 2:
    return is_unsigned ? (int64_t)(uint16_t)v : (int64_t)(int16_t)v;
  case 4:
    return is_unsigned ? (int64_t)(uint32_t)v : (int64_t)(int32_t)v;
  default:
    return v;
  }
}

static int64_t as_register(enum ptx_type t, int64_t v) { /* as struct fact keeps it */
  return ptx_type_bytes[t] == 8 ? v : ptx_type_bytes[t] == 4 ? (int64_t)(int32_t)v : (int64_t)(int16_t)v;
}

static bool to_integer(const struct ptx_inst *i, int64_t bits, int64_t *v) {
  float f;
  uint32_t b = (uint32_t)bits;
  if (i->types[1] != T_F32 || ptx_type_bytes[i->types[0]] != 4 || !ptx_has(i, M_RZI)) return false;
  memcpy(&f, &b, sizeof f);
  if (!(fabsf(f) < 1e9F)) return false;
  if (ptx_type_kinds[i->types[0]] != 's' && f < 0) return false;
  *v = (int64_t)f;
  return true;
}

static bool convert(const struct ptx_inst *i, int64_t x, int64_t *v) {
  if (ptx_has(i, M_SAT) || ptx_type_kinds[i->types[0]] == 'f' || ptx_type_bytes[i->types[0]] < 2) return false;
  if (ptx_type_kinds[i->types[1]] == 'f') return to_integer(i, x, v);
  *v = as_type((enum ptx_type)i->types[1], x);
  return true;
}

static bool shift(const struct ptx_inst *i, int64_t x, int64_t by, int64_t *v) {
  uint32_t bits = 8 * ptx_type_bytes[i->types[0]];
  uint64_t n = (uint32_t)by;
  x = as_type((enum ptx_type)i->types[0], x);
  bool sign = ptx_type_kinds[i->types[0]] == 's';
  if (i->op == OP_SHL) *v = n >= bits ? 0 : (int64_t)((uint64_t)x << n);
  else if (n >= bits) *v = sign && x < 0 ? -1 : 0;
  else *v = sign ? x >> n : (int64_t)((uint64_t)x >> n);
  return true;
}

bool back_fold(const struct back *k, const struct ptx_inst *i, int64_t *value) {
  int64_t x[3] = {0}, v;
  uint32_t n = i->nops - 1u;
  if (i->guard || i->refused || i->nops < 2 || i->nops > 4 || i->ops[0].kind != OK_REG) return false;
  enum ptx_type t = (enum ptx_type)i->types[0];
  uint32_t bytes = ptx_type_bytes[i->ops[0].reg->type];
  if (ptx_type_kinds[t] == 'f' || ptx_type_kinds[t] == 'p' || bytes < 2) return false;
  if (ptx_has(i, M_CC) || ptx_has(i, M_SAT) || ptx_has(i, M_HI)) return false;
  bool wide = ptx_has(i, M_WIDE);
  if (ptx_type_bytes[t] != (wide ? bytes / 2 : bytes) || (wide && bytes < 4)) return false;
  for (uint32_t q = 0; q < n; q++)
    if (!number(k, &i->ops[q + 1], &x[q])) return false;
  uint64_t a = (uint64_t)x[0], b = (uint64_t)x[1];
  if (wide) a = (uint64_t)as_type(t, x[0]), b = (uint64_t)as_type(t, x[1]);
  switch (i->op) {
  case OP_ADD:
    v = (int64_t)(a + b);
    break;
  case OP_SUB:
    v = (int64_t)(a - b);
    break;
  case OP_NEG:
    v = (int64_t)(0 - a);
    break;
  case OP_MUL:
    v = (int64_t)(a * b);
    break;
  case OP_MAD:
    v = (int64_t)(a * b + (uint64_t)x[2]);
    break;
  case OP_AND:
    v = (int64_t)(a & b);
    break;
  case OP_OR:
    v = (int64_t)(a | b);
    break;
  case OP_XOR:
    v = (int64_t)(a ^ b);
    break;
  case OP_SHL:
  case OP_SHR:
    if (!shift(i, x[0], x[1], &v)) return false;
    break;
  case OP_CVT:
    if (!convert(i, x[0], &v)) return false;
    break;
  default:
    return false;
  }
  *value = as_register((enum ptx_type)i->ops[0].reg->type, v);
  return true;
}

/* ---- sums ---- */

/* Is the second summand a number, by itself or in a register? */
static bool adds_number(const struct back *k, const struct ptx_inst *i) {
  const struct ptx_opnd *o = &i->ops[2];
  if (o->kind == OK_IMM) return true;
  return o->kind == OK_REG && k->r[o->reg->num].konst == K_IMM && k->r[o->reg->num].number;
}

/* (x + a) + b is x + (a + b). */
static bool join(struct back *k, struct node *n) {
  struct ptx_inst *i = n->in;
  int64_t outer, inner;
  uint16_t via, base;
  if (n->role == ROLE_GONE || !back_adds(k, i, &outer, &via)) return false;
  if (i->ops[1].kind != OK_REG || i->ops[1].reg->num != via || !adds_number(k, i) || i->ops[1].minus) return false;
  const struct ptx_inst *d = back_single(k, via);
  if (!d || d->types[0] != i->types[0] || !back_adds(k, d, &inner, &base) || !adds_number(k, d)) return false;
  if (d->ops[1].reg->num != base || k->r[base].def == NODE_NONE || k->r[base].konst) return false;
  int64_t sum = inner + outer;
  if (sum < INT32_MIN || sum > INT32_MAX) return false;
  i->op = OP_ADD;
  i->ops[1].reg = k->f->regs[base];
  i->ops[2] = (struct ptx_opnd){.kind = OK_IMM, .imm = sum, .line = i->ops[2].line, .col = i->ops[2].col};
  back_touch(k, n);
  return true;
}

bool back_join_sums(struct back *k) {
  bool any = false;
  for (uint32_t i = 0; i < k->nn; i++) any |= join(k, &k->n[i]);
  if (any) back_facts(k, false);
  return any;
}
