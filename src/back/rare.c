/* rare.c - what ptxas has subroutines for: quotients, reciprocals and roots of operands for which the short sequence is
 * not exact. A test in that sequence (FCHK, or a comparison) finds them; lanes with one go through the subroutine.
 *
 * Which operands: as the tests of ptxas 11.8 compare; FCHK's are not published and taken as those for which an
 * intermediate value of the short sequence would not be normal. How many instructions: those for zero, the most
 * frequent of them; operands that the subroutine scales take about ten more. The subroutine's code stands behind the
 * kernel's, once for each place that it is called from (ptxas has one of a kind in a kernel).
 */
#include "back/back_impl.h"

static const struct {
  uint16_t op;
  uint8_t bytes;
  const char *seq; /* from the call to the way back */
} rows[] = {
    {OP_DIV, 4,
     "MOV SHF BSSY SHF MOV LOP3 MOV LOP3 IADD3 IADD3 ISETP ISETP MOV BRA FSETP FSETP PLOP3 BRA LOP3 BRA FSETP FSETP "
     "FSETP "
     "BRA LOP3 PLOP3 BRA LOP3 BRA BSYNC MOV RET MOV BRA"},
    {OP_RCP, 4,
     "MOV CALL IMAD BSSY SHF ISETP BRA IMAD ISETP FFMA MUFU MUFU FFMA FADD FFMA FFMA BRA BSYNC MOV MOV RET BRA"},
    {OP_SQRT, 4, "MOV CALL LOP3 MOV BRA MOV MOV MOV RET BRA"},
    {OP_DIV, 8,
     "MOV LOP3 MOV MOV ISETP MOV BSSY SEL DMUL MUFU DFMA DFMA DFMA LOP3 MOV ISETP DFMA SEL DMUL DFMA DMUL DFMA DFMA "
     "DSETP "
     "BRA DSETP BRA DMUL BSYNC MOV RET MOV MOV BRA"},
    {OP_RCP, 8, "LOP3 IADD3 MOV DSETP BSSY BRA LOP3 IADD3 ISETP LOP3 MOV BRA BSYNC MOV MOV MOV RET BRA"},
    {OP_SQRT, 8, "MOV ISETP BSSY MOV BRA DSETP BRA DADD BSYNC MOV RET MOV MOV BRA"},
    {OP_RSQRT, 8, "MOV DSETP BSSY LOP3 BRA LOP3 MOV BSYNC MOV MOV RET BRA"}};

uint32_t back_rare(const struct back *k, const struct ptx_inst *i, uint8_t *out) {
  if (!i || i->guard || ptx_type_kinds[i->types[0]] != 'f') return 0;
  for (size_t q = 0; q < sizeof rows / sizeof *rows; q++)
    if (rows[q].op == i->op && rows[q].bytes == ptx_type_bytes[i->types[0]])
      return back_branches(k, i) ? back_sequence(k, rows[q].seq, out) : 0;
  return 0;
}

struct ptx_inst *back_rare_test(struct back *k, const struct ptx_inst *i, uint16_t *result) {
  struct ptx_inst *t = ARENA_NEW(k->a, struct ptx_inst);
  *result = back_register(k, T_PRED);
  *t = (struct ptx_inst){.op = OP_TESTP, .types = {i->types[0]}, .ntypes = 1, .nops = 4};
  t->line = i->line, t->col = i->col, t->src_line = i->src_line, t->src_file = i->src_file;
  t->ops = ARENA_ARRAY(k->a, struct ptx_opnd, PTX_MAX_OPNDS);
  t->ops[0] = (struct ptx_opnd){.kind = OK_REG, .reg = k->f->regs[*result]};
  t->ops[1] = i->ops[1];
  t->ops[2] = i->ops[i->nops - 1];
  t->ops[3] = (struct ptx_opnd){.kind = OK_IMM, .imm = i->op};
  return t;
}
