/* b128.c - 128-bit values: mov, ld, st, and the exchange and compare-and-swap of sm_90. A .b128 register is two 8-byte
 * slots, the lower halves of all lanes before the upper ones; no other instruction takes such a register.
 */
#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"

static bool is_wide(const struct ptx_opnd *v) {
  return v->kind == OK_REG && v->reg->type == T_B128;
}

static bool mentions(const struct ptx_opnd *v) {
  if (is_wide(v) || (v->kind == OK_MEM && v->reg && v->reg->type == T_B128)) return true;
  for (uint32_t k = 0; (v->kind == OK_VEC || v->kind == OK_LIST || v->kind == OK_MEM) && k < v->n; k++)
    if (mentions(&v->vec[k])) return true;
  return false;
}

bool lower_mentions_wide(const struct ptx_inst *i) {
  if (i->ntypes && i->types[0] == T_B128) return true;
  for (uint32_t k = 0; k < i->nops; k++)
    if (mentions(&i->ops[k])) return true;
  return false;
}

/* The two halves of a register or of {low, high}. */
static bool halves(struct lowering *l, const struct ptx_opnd *v, struct xopnd out[2]) {
  if (is_wide(v)) {
    uint32_t at = lower_operand(l, v, T_B128);
    for (uint32_t k = 0; k < 2; k++) out[k] = (struct xopnd){.off = at + k * 8 * LANES, .bytes = 8, .size = 8};
    return true;
  }
  if (v->kind != OK_VEC || v->n != 2) return false;
  for (uint32_t k = 0; k < 2; k++) {
    if (v->vec[k].kind == OK_REG && slot_bytes(v->vec[k].reg->type) != 8 * LANES) return false;
    out[k] = lower_elem(l, &v->vec[k], T_B64);
  }
  return true;
}

bool lower_wide_move(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  struct xaux *a = lower_aux(l);
  a->n = 4;
  a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, 4);
  if (i->types[0] != T_B128 || !halves(l, &i->ops[0], a->v) || !halves(l, &i->ops[1], a->v + 2))
    return lower_refuse(l, i, "other operands than .b128 registers and pairs of 64-bit ones");
  for (uint32_t k = 2; k < 4; k++)
    if (a->v[k].off == OFF_NONE) return lower_refuse(l, i, "reading _");
  o->aux = a;
  o->id = X_mov_128;
  return true;
}

/* ld and st move the halves as a vector of two. */
bool lower_wide_value(struct lowering *l, const struct ptx_opnd *v, struct xop *o, bool load) {
  struct xaux *a = lower_aux(l);
  a->n = 2;
  a->v = ARENA_ARRAY(&l->m->arena, struct xopnd, 2);
  if (!is_wide(v) || !halves(l, v, a->v)) return false;
  o->elem = o->sub = 8;
  o->vec = 2;
  o->flags |= load ? XF_DST64 : XF_SRC64;
  o->aux = a;
  return true;
}

static void x_mov_128(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(m);
    uint64_t low = OPND(uint64_t, a->v[2].off)[i], high = OPND(uint64_t, a->v[3].off)[i];
    if (a->v[0].off != OFF_NONE) OPND(uint64_t, a->v[0].off)[i] = low;
    if (a->v[1].off != OFF_NONE) OPND(uint64_t, a->v[1].off)[i] = high;
  }
}

void simt_wide_handlers(xop_fn *table) {
  table[X_mov_128] = x_mov_128;
}
