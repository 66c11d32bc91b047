/* divide.c - sequences of divisions and remainders that depend on what is known of the divisor. The assembler computes
 * the reciprocal of a number itself, and that of a register once for all divisions by it that the first one dominates.
 * The sequences are those of ptxas 11.8.
 */
#include <string.h>

#include "back/back_impl.h"

static bool is_division(const struct ptx_inst *i) {
  return (i->op == OP_DIV || i->op == OP_REM) && i->nops == 3;
}

/* The divisor is a number, in the text or found by the back end. */
static bool by_number(const struct back *k, const struct ptx_inst *i) {
  const struct ptx_opnd *d = &i->ops[2];
  if (d->kind == OK_IMM) return true;
  return d->kind == OK_REG && k->r[d->reg->num].konst == K_IMM && k->r[d->reg->num].number;
}

static bool same_register(const struct ptx_opnd *x, const struct ptx_opnd *y) {
  return x->kind == OK_REG && y->kind == OK_REG && x->reg == y->reg && x->neg == y->neg && x->minus == y->minus &&
         x->sel == y->sel && x->part == y->part;
}

/* Is `o`, a node before that of `i`, a division by the same value that is always executed before it? */
static bool serves(const struct back *k, const struct node *o, const struct node *n) {
  const struct ptx_inst *x = o->in, *i = n->in;
  if (o->role != ROLE_COST || !x || !is_division(x) || x->guard || x->types[0] != i->types[0]) return false;
  if (!same_register(&x->ops[2], &i->ops[2]) || !k->r[i->ops[2].reg->num].ssa) return false;
  if (i->types[0] == T_F32 && memcmp(x->mods, i->mods, sizeof i->mods)) return false;
  return back_dominates(k, o->block, n->block);
}

/* Does a division before `i` serve it? *both: one that divides the same value. */
static bool is_served(const struct back *k, const struct ptx_inst *i, bool *both) {
  uint32_t at = 0;
  bool any = *both = false;
  while (at < k->nn && k->n[at].in != i) at++;
  for (uint32_t q = 0; q < at && at < k->nn; q++) {
    if (!serves(k, &k->n[q], &k->n[at])) continue;
    any = true;
    *both |= same_register(&k->n[q].in->ops[1], &i->ops[1]);
  }
  return any;
}

static const char *of_float(const struct back *k, const struct ptx_inst *i) {
  bool full = ptx_has(i, M_FULL), approx = ptx_has(i, M_APPROX), ftz = ptx_has(i, M_FTZ), both;
  if (i->op != OP_DIV) return NULL;
  if (by_number(k, i)) return full || approx ? "FMUL" : "MOV MOV FCHK FFMA FFMA FFMA FFMA FFMA BSSY BRA BSYNC";
  if (!full && !approx) return NULL;
  bool shared = k->dominated && is_served(k, i, &both);
  if (approx && ftz) return shared ? "FMUL" : "MUFU FMUL";
  if (full && !ftz) return shared ? "FMUL FMUL FMUL" : NULL;
  return shared ? "FMUL FMUL" : "FSETP FMUL FMUL MUFU FMUL";
}

/* A remainder by a number that only the assembler has found: the divisor's absolute value is known, and what is made of
 * the dividend serves all remainders of it. */
static const char *remainder_by_number(const struct back *k, const struct ptx_inst *i) {
  static const char dividend[] = "IABS MOV ISETP ",
                    all[] = "IABS MOV ISETP I2F MUFU IADD3 F2I MOV IMAD IMAD IMAD IMAD ISETP IADD3 ISETP IADD3 IADD3";
  for (uint32_t q = 0; q < k->nn && k->n[q].in != i; q++) {
    const struct ptx_inst *o = k->n[q].in;
    if (k->n[q].role != ROLE_COST || !o || !is_division(o) || o->op != OP_REM || o->types[0] != T_S32) continue;
    if (o->ops[2].kind == OK_REG && by_number(k, o) && same_register(&o->ops[1], &i->ops[1]))
      return all + sizeof dividend - 1;
  }
  return all;
}

static const char *of_integer(const struct back *k, const struct ptx_inst *i) {
  bool sign = i->types[0] == T_S32, rem = i->op == OP_REM, both;
  if (i->ops[2].kind != OK_REG) return NULL;
  if (by_number(k, i)) return sign && rem ? remainder_by_number(k, i) : NULL;
  if (!k->dominated || !is_served(k, i, &both)) return NULL;
  if (both) return sign ? "MOV IMAD ISETP ISETP SEL SEL SEL" : "IMAD SEL SEL";
  if (!sign)
    return rem ? "IMAD MOV IMAD IMAD ISETP IADD3 ISETP IADD3 SEL SEL"
               : "IMAD MOV IMAD IMAD MOV ISETP IADD3 IADD3 ISETP SEL SEL";
  return rem ? "IABS MOV IMAD MOV IMAD IMAD IMAD ISETP ISETP ISETP SEL SEL"
             : "IABS MOV IMAD MOV IMAD IMAD MOV ISETP IADD3 IADD3 ISETP LOP3 ISETP SEL SEL";
}

const char *back_division(const struct back *k, const struct ptx_inst *i) {
  if (!is_division(i)) return NULL;
  if (i->types[0] == T_F32) return of_float(k, i);
  return i->types[0] == T_S32 || i->types[0] == T_U32 ? of_integer(k, i) : NULL;
}
