/* check.c - the type rules of one instruction: operand count and kinds against the signature in ops.def, register types
 * against the instruction's (PTX ISA, "Operand Type Checking"): same size, and kinds that agree or are untyped bits;
 * ld, st, cvt and friends take wider registers. */
#include <string.h>

#include "ptx/parser.h"

static bool kinds_agree(enum ptx_type inst, enum ptx_type reg) {
  char a = ptx_type_kinds[inst], b = ptx_type_kinds[reg];
  if (a == 'o' || b == 'o') return true;
  if (a == 'p' || b == 'p') return a == b;
  if (a == 'b' || b == 'b') return true;
  if ((a == 'u' || a == 's') && (b == 'u' || b == 's')) return true;
  if (a == 'f' && b == 'f') return true;
  return false;
}

static const char *type_text(enum ptx_type t) {
  return t ? ptx_type_names[t] : "untyped";
}

static void check_reg(struct parser *p, struct ptx_inst *i, struct ptx_opnd *o, int n, enum ptx_type want,
                      uint32_t bytes, bool wider) {
  if (o->kind == OK_IMM || o->kind == OK_SREG || o->kind == OK_SINK) return;
  if (o->kind != OK_REG)
    parse_fail(p, o->line, o->col, ERR_INPUT, "operand %d of %s must be a register or a number", n,
               ptx_ops[i->op].name);
  enum ptx_type have = o->reg->type;
  uint32_t have_bytes = ptx_type_bytes[have];
  bool size = wider ? have_bytes >= bytes : have_bytes == bytes;
  if (want == T_PRED || have == T_PRED) size = want == have;
  if (!size || !(kinds_agree(want, have) || (wider && want != T_PRED)))
    parse_fail(p, o->line, o->col, ERR_INPUT, "operand %d of %s must be a .%s register%s, but %s is .%s", n,
               ptx_ops[i->op].name, type_text(want), wider ? " or wider" : "", o->reg->name, type_text(have));
}

static enum ptx_type widened(enum ptx_type t) {
  switch (t) {
  case T_U16:
    return T_U32;
  case T_S16:
    return T_S32;
  case T_U32:
    return T_U64;
  case T_S32:
    return T_S64;
  default:
    return t;
  }
}

static void check_dest(struct parser *p, struct ptx_inst *i, struct ptx_opnd *o, int n) {
  if (o->kind != OK_REG && o->kind != OK_SINK)
    parse_fail(p, o->line, o->col, ERR_INPUT, "operand %d of %s is its destination and must be a register", n,
               ptx_ops[i->op].name);
}

static void check_vector(struct parser *p, struct ptx_inst *i, struct ptx_opnd *o, int n, enum ptx_type t, bool dest) {
  uint32_t want = ptx_has(i, M_V2) ? 2 : ptx_has(i, M_V4) ? 4 : ptx_has(i, M_V8) ? 8 : 1;
  uint32_t bytes = ptx_type_bytes[t];
  if (o->kind != OK_VEC) {
    if (want > 1)
      parse_fail(p, o->line, o->col, ERR_INPUT, "operand %d of %s must be a vector of %u registers in braces", n,
                 ptx_ops[i->op].name, want);
    if (dest) check_dest(p, i, o, n);
    if (o->kind == OK_VAR || o->kind == OK_FUNC) return;
    check_reg(p, i, o, n, t, bytes, true);
    return;
  }
  if (o->n != want)
    parse_fail(p, o->line, o->col, ERR_INPUT, "operand %d of %s must have %u elements, but has %u", n,
               ptx_ops[i->op].name, want, o->n);
  for (uint32_t k = 0; k < o->n; k++) {
    if (dest) check_dest(p, i, &o->vec[k], n);
    check_reg(p, i, &o->vec[k], n, t, bytes, true);
  }
}

static void check_mem(struct parser *p, struct ptx_inst *i, struct ptx_opnd *o, int n) {
  if (o->kind != OK_MEM)
    parse_fail(p, o->line, o->col, ERR_INPUT, "operand %d of %s must be an address in brackets", n,
               ptx_ops[i->op].name);
  if (o->reg && ptx_type_bytes[o->reg->type] < 4)
    parse_fail(p, o->line, o->col, ERR_INPUT, "the address register %s is .%s, but must have 32 or 64 bits",
               o->reg->name, type_text(o->reg->type));
}

static void check_one(struct parser *p, struct ptx_inst *i, char c, struct ptx_opnd *o, int n) {
  enum ptx_type t = i->types[0];
  bool wide = ptx_has(i, M_WIDE);
  switch (c) {
  case 'd':
    check_dest(p, i, o, n);
    check_reg(p, i, o, n, t, ptx_type_bytes[t], false);
    break;
  case 'i':
    check_dest(p, i, o, n); /* fall through */
  case 'w': {
    enum ptx_type w = wide ? widened(t) : t;
    check_reg(p, i, o, n, w, ptx_type_bytes[w], false);
    break;
  }
  case 'a':
    check_reg(p, i, o, n, t, ptx_type_bytes[t], false);
    break;
  case 'b':
    check_reg(p, i, o, n, i->types[1], ptx_type_bytes[i->types[1]], false);
    break;
  case 'e':
    check_dest(p, i, o, n);
    check_reg(p, i, o, n, t, ptx_type_bytes[t], true);
    break;
  case 'f':
    check_reg(p, i, o, n, i->types[1], ptx_type_bytes[i->types[1]], true);
    break;
  case 'u':
    check_reg(p, i, o, n, T_B32, 4, false);
    break;
  case 'U':
    check_dest(p, i, o, n);
    check_reg(p, i, o, n, T_B32, 4, false);
    break;
  case 'P':
  case 'p':
    if (c == 'P') check_dest(p, i, o, n);
    check_reg(p, i, o, n, T_PRED, 1, false);
    break;
  case 'Y':
    check_dest(p, i, o, n);
    check_reg(p, i, o, n, t, ptx_type_bytes[t], false);
    break;
  case 'V':
    check_vector(p, i, o, n, t, true);
    break;
  case 'v':
    check_vector(p, i, o, n, t, false);
    break;
  case 'M':
    check_mem(p, i, o, n);
    break;
  case 'L':
    if (o->kind != OK_LABEL)
      parse_fail(p, o->line, o->col, ERR_INPUT, "operand %d of %s must be a label", n, ptx_ops[i->op].name);
    break;
  default:
    break;
  }
  if (o->neg && o->kind == OK_REG && o->reg->type != T_PRED)
    parse_fail(p, o->line, o->col, ERR_INPUT, "'!' applies to predicates only");
}

static uint32_t types_needed(enum ptx_opcode op) {
  switch (op) {
  case OP_CVT:
  case OP_SET:
  case OP_SLCT:
    return 2;
  case OP_BRA:
  case OP_BRX:
  case OP_CALL:
  case OP_RET:
  case OP_EXIT:
  case OP_TRAP:
  case OP_BRKPT:
  case OP_BAR:
  case OP_BARRIER:
  case OP_MEMBAR:
  case OP_FENCE:
  case OP_CP:
  case OP_PREFETCH:
  case OP_PREFETCHU:
  case OP_DISCARD:
  case OP_PMEVENT:
  case OP_ISSPACEP:
  case OP_ISTYPEP:
  case OP_APPLYPRIORITY:
  case OP_CREATEPOLICY:
  case OP_ELECT:
  case OP_GRIDDEPCONTROL:
  case OP_SETMAXNREG:
    return 0;
  default:
    return 1;
  }
}

void parse_check(struct parser *p, struct ptx_inst *i) {
  const struct ptx_op_info *info = &ptx_ops[i->op];
  if (i->ntypes < types_needed(i->op))
    parse_fail(p, i->line, i->col, ERR_INPUT, "%s needs %s", info->name,
               types_needed(i->op) == 2 ? "two types" : "a type");
  int n = 0;
  bool optional = false;
  for (const char *s = info->sig; *s; s++) {
    if (*s == '?') {
      optional = true;
      continue;
    }
    if (*s == '*') return;
    if (n == i->nops) {
      if (optional) return;
      parse_fail(p, i->line, i->col, ERR_INPUT, "%s takes more than %d operand%s", info->name, n, n == 1 ? "" : "s");
    }
    check_one(p, i, *s, &i->ops[n], n + 1);
    n++;
  }
  if (n < i->nops)
    parse_fail(p, i->ops[n].line, i->ops[n].col, ERR_INPUT, "%s takes %d operand%s, but there are %d", info->name, n,
               n == 1 ? "" : "s", i->nops);
}
