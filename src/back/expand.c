/* expand.c - the machine instructions of one instruction of PTX that no neighbour is part of: the table of sequences,
 * and for all others one instruction by operation and type, or two for 64 bits. */
#include <string.h>

#include "back/back_impl.h"

static const struct {
  uint8_t op, type;
  uint16_t mod;
  const char *seq;
} rows[] = {
#define EXPAND(op, type, mod, seq) {OP_##op, T_##type, M_##mod, seq},
#include "back/expand.def"
#undef EXPAND
};

static const char *expansion(const struct back *k, const struct ptx_inst *i) {
  for (size_t q = 0; q < sizeof rows / sizeof *rows; q++) {
    if (rows[q].op != i->op || (rows[q].type != T_NONE && rows[q].type != i->types[0])) continue;
    if (rows[q].mod != M_NONE && !ptx_has(i, (enum ptx_mod)rows[q].mod)) continue;
    if (i->op == OP_MUL && rows[q].mod == M_NONE && ptx_has(i, M_WIDE)) continue;
    if (i->op == OP_MAD && ptx_has(i, M_WIDE)) continue;
    if (!strncmp(rows[q].seq, "70:", 3)) return k->t->sm < 80 ? rows[q].seq + 3 : NULL;
    return rows[q].seq;
  }
  return NULL;
}

static enum mach_op float_op(const struct ptx_inst *i, enum mach_op f32, enum mach_op f64, enum mach_op f16) {
  uint32_t bytes = ptx_type_bytes[i->types[0]];
  if (i->types[0] == T_F16X2 || i->types[0] == T_BF16X2 || bytes == 2) return f16;
  return bytes == 8 ? f64 : f32;
}

static enum mach_op convert_op(const struct ptx_inst *i) {
  bool to = ptx_type_kinds[i->types[0]] == 'f', from = ptx_type_kinds[i->types[1]] == 'f';
  if (to && from) {
    if (i->types[0] == T_F32 && i->types[1] == T_F16) return MO_HADD2; /* HADD2.F32 */
    if (i->types[0] == T_F32 && i->types[1] == T_BF16) return MO_SHF;
    if (i->types[0] != i->types[1]) return MO_F2F;
    return ptx_has(i, M_SAT) && !ptx_has(i, M_RNI) ? MO_FADD : MO_FRND;
  }
  if (to) return MO_I2F;
  if (from) return MO_F2I;
  if (ptx_type_bytes[i->types[0]] == 8) return MO_SHF;
  return ptx_type_kinds[i->types[1]] == 's' ? MO_PRMT : MO_LOP3;
}

static enum mach_op memory_op(const struct ptx_inst *i, bool load) {
  if (back_in_shared(i)) return load ? MO_LDS : MO_STS;
  if (ptx_has(i, M_LOCAL)) return load ? MO_LDL : MO_STL;
  if (ptx_has(i, M_CONST) || ptx_has(i, M_PARAM)) return MO_LDC;
  return load ? MO_LDG : MO_STG;
}

static enum mach_op move_op(const struct ptx_inst *i) {
  if (i->types[0] == T_PRED) return MO_PLOP3;
  const struct ptx_opnd *s = &i->ops[1];
  if (i->ops[0].kind == OK_VEC || s->kind == OK_VEC) return MO_PRMT;
  bool timer = s->kind == OK_SREG && s->sreg >= SR_CLOCK && s->sreg <= SR_PM;
  return s->kind == OK_SREG && !timer ? MO_S2R : MO_MOV;
}

static enum mach_op arithmetic_op(const struct ptx_inst *i, bool f) {
  switch (i->op) {
  case OP_ADD:
  case OP_SUB:
    return f ? float_op(i, MO_FADD, MO_DADD, MO_HADD2) : MO_IADD3;
  case OP_NEG:
  case OP_ABS:
    if (!f && i->op == OP_ABS) return MO_IABS;
    return f ? float_op(i, MO_FADD, MO_DADD, MO_HADD2) : MO_IADD3;
  case OP_MUL:
    return f ? float_op(i, MO_FMUL, MO_DMUL, MO_HMUL2) : MO_IMAD;
  case OP_FMA:
  case OP_MAD:
    return f ? float_op(i, MO_FFMA, MO_DFMA, MO_HFMA2) : MO_IMAD;
  case OP_MIN:
  case OP_MAX:
    return f ? float_op(i, MO_FMNMX, MO_DSETP, MO_HADD2) : MO_IMNMX;
  case OP_MADC:
    return MO_IMAD;
  default: /* addc, subc */
    return MO_IADD3;
  }
}

static enum mach_op logic_op(const struct ptx_inst *i) {
  switch (i->op) {
  case OP_SHL:
  case OP_SHR:
  case OP_SHF:
    return MO_SHF;
  case OP_PRMT:
    return MO_PRMT;
  case OP_BFE:
    return MO_SGXT;
  case OP_BMSK:
    return MO_BMSK;
  case OP_POPC:
    return MO_POPC;
  case OP_BFIND:
  case OP_FNS:
    return MO_FLO;
  case OP_BREV:
    return MO_BREV;
  case OP_SAD:
    return MO_VABSDIFF;
  case OP_DP2A:
  case OP_DP4A:
    return MO_IDP;
  case OP_SELP:
    return ptx_type_kinds[i->types[0]] == 'f' ? MO_FSEL : MO_SEL;
  default: /* and, or, xor, not, lop3 */
    return i->types[0] == T_PRED ? MO_PLOP3 : MO_LOP3;
  }
}

static enum mach_op other_op(const struct ptx_inst *i) {
  switch (ptx_ops[i->op].kind) {
  case KIND_LOAD:
    if (i->op == OP_TEX || i->op == OP_TLD4 || i->op == OP_SULD) return MO_TEX;
    if (i->op == OP_CP) return ptx_has(i, M_GLOBAL) ? MO_LDG : MO_NOP; /* LDGSTS; LDGDEPBAR, DEPBAR */
    return i->op == OP_LDMATRIX ? MO_LDS : memory_op(i, true);
  case KIND_STORE:
    return i->op == OP_ST ? memory_op(i, false) : MO_TEX;
  case KIND_ATOM:
    return MO_ATOM;
  case KIND_BARRIER:
    return MO_BAR;
  case KIND_FENCE:
    return MO_MEMBAR;
  case KIND_BRANCH:
    return MO_BRA;
  case KIND_EXIT:
  case KIND_RET:
    return MO_EXIT;
  case KIND_CALL:
    return MO_CALL;
  default:
    break;
  }
  switch (i->op) {
  case OP_SHFL:
    return MO_SHFL;
  case OP_VOTE:
  case OP_ACTIVEMASK:
  case OP_MATCH:
  case OP_ELECT:
    return MO_VOTE;
  case OP_REDUX:
    return MO_REDUX;
  case OP_MMA:
  case OP_WMMA:
    return i->types[0] == T_F16 ? MO_HMMA_F16 : MO_HMMA;
  case OP_MOVMATRIX:
    return MO_MOVM;
  case OP_NANOSLEEP:
  case OP_PREFETCH:
    return MO_NOP;
  case OP_EX2:
  case OP_TANH:
    return MO_MUFU;
  case OP_TESTP:
    return MO_FSETP;
  default:
    return MO_OTHER;
  }
}

enum mach_op back_machine_op(const struct ptx_inst *i) {
  bool f = ptx_type_kinds[i->types[0]] == 'f';
  switch (i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_NEG:
  case OP_ABS:
  case OP_MUL:
  case OP_FMA:
  case OP_MAD:
  case OP_MIN:
  case OP_MAX:
  case OP_MADC:
  case OP_ADDC:
  case OP_SUBC:
    return arithmetic_op(i, f);
  case OP_SHL:
  case OP_SHR:
  case OP_SHF:
  case OP_PRMT:
  case OP_BFE:
  case OP_BMSK:
  case OP_POPC:
  case OP_BFIND:
  case OP_FNS:
  case OP_BREV:
  case OP_SAD:
  case OP_DP2A:
  case OP_DP4A:
  case OP_SELP:
  case OP_AND:
  case OP_OR:
  case OP_XOR:
  case OP_NOT:
  case OP_LOP3:
    return logic_op(i);
  case OP_SETP:
    return f ? float_op(i, MO_FSETP, MO_DSETP, MO_FSETP) : MO_ISETP;
  case OP_CVT:
    return convert_op(i);
  case OP_CVTA:
    return MO_IADD3;
  case OP_MOV:
    return move_op(i);
  default:
    return other_op(i);
  }
}

/* Is the upper half of an operand of 64 bits zero? */
static bool upper_zero(const struct back *k, const struct ptx_opnd *o, uint32_t deep) {
  enum { DEEPEST = 4 };
  if (o->kind == OK_IMM) return !o->is_float && !((uint64_t)o->imm >> 32);
  if (o->kind != OK_REG || o->sel || o->part || deep == DEEPEST) return false;
  const struct fact *f = &k->r[o->reg->num];
  if (f->konst == K_IMM && f->number) return !((uint64_t)f->imm >> 32);
  const struct ptx_inst *d = back_single(k, o->reg->num);
  if (!d || d->guard || d->ops[0].reg != o->reg) return false;
  switch (d->op) {
  case OP_CVT:
    return ptx_type_kinds[d->types[0]] == 'u' && ptx_type_kinds[d->types[1]] == 'u' && ptx_type_bytes[d->types[1]] <= 4;
  case OP_AND:
    return upper_zero(k, &d->ops[1], deep + 1) || upper_zero(k, &d->ops[2], deep + 1);
  case OP_OR:
  case OP_XOR:
  case OP_SELP:
    return upper_zero(k, &d->ops[1], deep + 1) && upper_zero(k, &d->ops[2], deep + 1);
  case OP_SHR:
    return ptx_type_kinds[d->types[0]] != 's' && d->ops[2].kind == OK_IMM && d->ops[2].imm >= 32;
  default:
    return false;
  }
}

static bool upper_ones(const struct back *k, const struct ptx_opnd *o) {
  if (o->kind == OK_IMM) return !o->is_float && o->imm >> 32 == -1;
  if (o->kind != OK_REG || o->sel || o->part) return false;
  const struct fact *f = &k->r[o->reg->num];
  return f->konst == K_IMM && f->number && f->imm >> 32 == -1;
}

/* A shift by a number of 32 and more moves one half; the other is zero or the sign. */
static uint32_t shifted_halves(const struct ptx_inst *i) {
  if (i->ops[2].kind != OK_IMM || i->ops[2].imm < 32) return 2;
  bool sign = i->op == OP_SHR && ptx_type_kinds[i->types[0]] == 's';
  return sign && i->ops[2].imm > 32 ? 2 : 1;
}

/* A half that both numbers have alike is not selected. */
static uint32_t selected_halves(const struct back *k, const struct ptx_inst *i) {
  uint64_t v[2];
  for (uint32_t q = 0; q < 2; q++) {
    const struct ptx_opnd *o = &i->ops[1 + q];
    const struct fact *f = o->kind == OK_REG && !o->sel && !o->part ? &k->r[o->reg->num] : NULL;
    if (o->kind == OK_IMM && !o->is_float) v[q] = (uint64_t)o->imm;
    else if (f && f->konst == K_IMM && f->number) v[q] = (uint64_t)f->imm;
    else return 2;
  }
  return (v[0] >> 32 != v[1] >> 32) + ((uint32_t)v[0] != (uint32_t)v[1]) == 2 ? 2 : 1;
}

/* Integers of 64 bits take the instruction twice, logic with a number whose upper half is zero once. */
static uint32_t repeats(const struct back *k, const struct ptx_inst *i, enum mach_op op) {
  if (ptx_type_bytes[i->types[0]] != 8 || ptx_type_kinds[i->types[0]] == 'f') return 1;
  bool logic = i->op == OP_AND || i->op == OP_OR || i->op == OP_XOR;
  if (logic && i->nops == 3) {
    uint32_t zero = upper_zero(k, &i->ops[1], 0) + upper_zero(k, &i->ops[2], 0);
    if (zero || (i->op == OP_AND && (upper_ones(k, &i->ops[1]) || upper_ones(k, &i->ops[2])))) return 1;
  }
  switch (i->op) {
  case OP_ADD:
  case OP_SUB:
  case OP_NEG:
  case OP_AND:
  case OP_OR:
  case OP_XOR:
  case OP_NOT:
  case OP_SELP:
  case OP_SETP:
    return 2;
  case OP_SHL:
  case OP_SHR:
    return shifted_halves(i);
  case OP_MOV:
    return op == MO_MOV ? 2 : 1;
  default:
    return 1;
  }
}

uint32_t back_sequence(const struct back *k, const char *seq, uint8_t *out) {
  uint32_t n = 0;
  while (*seq && n < MAX_SEQ) {
    size_t len = strcspn(seq, " ");
    if (k->t->sm < 80 && !strncmp(seq, "BSSY", 4) && n + 1 < MAX_SEQ) out[n++] = MO_NOP; /* BMOV */
    for (uint32_t o = 1; o < MO_COUNT; o++)
      if (strlen(mach_infos[o].name) == len && !strncmp(mach_infos[o].name, seq, len)) out[n++] = (uint8_t)o;
    seq += len;
    seq += strspn(seq, " ");
  }
  return n;
}

/* ---- matrix products ---- */

/* Multiplications and additions of a warp, by shape. */
static uint32_t matrix_work(const struct ptx_inst *i) {
  static const struct {
    enum ptx_mod mod;
    uint32_t work;
  } shapes[] = {{M_M16N16K16, 4096}, {M_M8N32K16, 4096}, {M_M32N8K16, 4096}, {M_M16N16K8, 2048}};
  for (size_t q = 0; q < sizeof shapes / sizeof *shapes; q++)
    if (ptx_has(i, shapes[q].mod)) return shapes[q].work;
  return i->op == OP_MMA && ptx_has(i, M_M8N8K4) && i->types[1] == T_F16 ? 1024 : 0;
}

/* HMMA.884 is a set of four steps, of two with accumulators of 16 bits, for 1,024 products. */
uint32_t back_matrix_steps(const struct back *k, const struct ptx_inst *i) {
  bool product = i->op == OP_MMA || (i->op == OP_WMMA && ptx_ops[i->op].kind == KIND_ALU);
  if (!product || ptx_has(i, M_LOAD) || ptx_has(i, M_STORE) || !matrix_work(i)) return 0;
  if (k->t->sm >= 75) return 1;
  return i->types[0] == T_F16 ? 2 : 4;
}

/* How many machine instructions: HMMA.884, HMMA.1688 on Turing (integers: IMMA.8816), then HMMA.16816 (ptxas 11.8). */
static uint32_t matrix_ops(const struct back *k, const struct ptx_inst *i) {
  uint32_t steps = back_matrix_steps(k, i), work = matrix_work(i);
  bool bytes = i->ntypes == 4 && ptx_type_bytes[i->types[1]] == 1;
  uint32_t each = k->t->sm < 80 ? 1024 : bytes ? 4096 : i->ntypes == 4 && i->types[1] == T_TF32 ? 1024 : 2048;
  return steps && work > each ? work / each * steps : steps ? steps : 1;
}

uint32_t back_expand(const struct back *k, const struct ptx_inst *i, uint8_t *out) {
  const char *seq = back_division(k, i);
  if (!seq) seq = expansion(k, i);
  if (seq) return back_sequence(k, seq, out);
  enum mach_op op = back_machine_op(i);
  if (op == MO_F2F && k->t->sm >= 80 && i->types[1] == T_F32 && float_op(i, MO_FADD, MO_DADD, MO_HADD2) == MO_HADD2)
    op = MO_F2FP;
  uint32_t n = op == MO_HMMA || op == MO_HMMA_F16 ? matrix_ops(k, i) : repeats(k, i, op);
  if (i->op == OP_SELP && ptx_type_bytes[i->types[0]] == 8) n = selected_halves(k, i);
  for (uint32_t q = 0; q < n; q++) out[q] = (uint8_t)op;
  return n;
}

bool back_branches(const struct back *k, const struct ptx_inst *i) {
  uint8_t ops[MAX_SEQ];
  uint32_t n = i->refused ? 0 : back_expand(k, i, ops);
  for (uint32_t q = 0; q < n; q++)
    if (ops[q] == MO_BRA || ops[q] == MO_CALL) return true;
  return false;
}
