/* bytes.c - vectors of bytes and half-words in memory: registers of 32 bits hold them, PRMT takes a byte out of one and
 * puts them together. Vectors of parameters are parameters by themselves. Products of 16 bits are those of 32. What
 * ptxas 11.8 does for sm_70 and sm_80, 13.0 for sm_90.
 *
 * Approximation: a half-word that is loaded stays a register of its own, which only its use as an integer costs an
 * instruction (select.c).
 */
#include "back/back_impl.h"

static bool all_registers(const struct ptx_opnd *v, bool sinks) {
  for (uint32_t q = 0; q < v->n; q++) {
    const struct ptx_opnd *o = &v->vec[q];
    if (o->kind == OK_SINK && sinks) continue;
    if (o->kind != OK_REG || o->sel || o->part || o->neg) return false;
  }
  return true;
}

/* Bytes of an element of the vector that the access loads or stores; 0: no vector of registers. */
static uint32_t element_bytes(const struct ptx_inst *i, enum ptx_opcode op) {
  uint32_t at = op == OP_ST;
  if (i->op != op || i->refused || i->ntypes != 1 || i->nops != 2 || i->ops[at].kind != OK_VEC) return 0;
  if (i->ops[at].n != 2 && i->ops[at].n != 4) return 0;
  return all_registers(&i->ops[at], op == OP_LD) ? ptx_type_bytes[i->types[0]] : 0;
}

/* The access as one of `n` words of `type` at the same address. */
static struct ptx_inst *put_words(struct making *m, enum ptx_type type, uint32_t n, const struct ptx_opnd *words) {
  struct ptx_inst *i = back_copy(m->k, m->of);
  struct ptx_opnd *to = &i->ops[m->of->op == OP_ST];
  i->mods[M_V2 / 64] &= ~(1ull << M_V2 % 64);
  i->mods[M_V4 / 64] &= ~(1ull << M_V4 % 64);
  i->types[0] = (uint8_t)type;
  if (n == 1) *to = words[0];
  else to->n = (uint8_t)n, to->vec[0] = words[0], to->vec[1] = words[1], i->mods[M_V2 / 64] |= 1ull << M_V2 % 64;
  back_append(m->k, &m->out, i);
  return i;
}

static void guard_as_access(struct making *m) {
  struct node *n = &m->out.n[m->out.nn - 1];
  n->in->guard = m->of->guard;
  n->in->guard_neg = m->of->guard_neg;
  back_touch(m->k, n);
}

static void put_prmt(struct making *m, struct ptx_opnd to, struct ptx_opnd x, struct ptx_opnd y, int64_t selector) {
  make_inst(m, to, OP_PRMT, T_B32, x, y);
  make_operand(m, make_number(selector));
}

static bool load_bytes(struct making *m, const struct ptx_inst *of) {
  if (element_bytes(of, OP_LD) != 1) return false;
  bool sign = ptx_type_kinds[of->types[0]] == 's';
  struct ptx_opnd v = of->ops[0], word = make_register(m, T_B32);
  put_words(m, v.n == 4 ? T_B32 : T_U16, 1, &word);
  for (uint32_t q = 0; q < v.n; q++) {
    if (v.vec[q].kind != OK_REG) continue;
    put_prmt(m, v.vec[q], word, make_number(0), sign ? 0x8880 + 0x1111 * (int64_t)q : 0x4440 + (int64_t)q);
    if (of->guard) guard_as_access(m);
  }
  return true;
}

/* Words of the constant bank at an address that the instruction names: each an operand of what reads it. */
static bool load_constants(struct making *m, const struct ptx_inst *of) {
  uint32_t bytes = element_bytes(of, OP_LD);
  bool bank = ptx_has(of, M_PARAM) || ptx_has(of, M_PARAM_ENTRY) || ptx_has(of, M_CONST);
  if (bytes < 4 || !bank || of->guard || of->ops[1].reg || !of->ops[1].var) return false;
  for (uint32_t q = 0; q < of->ops[0].n; q++) {
    if (of->ops[0].vec[q].kind != OK_REG) continue;
    struct ptx_inst *i = put_words(m, (enum ptx_type)of->types[0], 1, &of->ops[0].vec[q]);
    i->ops[1].imm += q * bytes;
    back_touch(m->k, &m->out.n[m->out.nn - 1]);
  }
  return true;
}

static bool store_vector(struct making *m, const struct ptx_inst *of) {
  uint32_t bytes = element_bytes(of, OP_ST), n = bytes ? of->ops[1].n : 0, words = n * bytes > 4 ? 2 : 1;
  if (bytes != 1 && bytes != 2) return false;
  const struct ptx_opnd *v = of->ops[1].vec;
  struct ptx_opnd packed[2];
  for (uint32_t w = 0; w < words; w++) {
    packed[w] = make_register(m, T_B32);
    put_prmt(m, packed[w], v[2 * w], v[2 * w + 1], bytes == 2 ? 0x5410 : 0x0040);
  }
  for (uint32_t q = 2; q < n && bytes == 1; q++) {
    struct ptx_opnd more = make_register(m, T_B32);
    put_prmt(m, more, packed[0], v[q], q == 2 ? 0x0410 : 0x4210);
    packed[0] = more;
  }
  put_words(m, n * bytes == 2 ? T_U16 : T_B32, words, packed);
  return true;
}

/* The lower half of a product of 16 bits: of the factors as integers of 32. */
static bool multiply(struct making *m, const struct ptx_inst *of) {
  if (of->op != OP_MUL || of->guard || !ptx_has(of, M_LO) || of->ntypes != 1 || of->nops != 3) return false;
  if ((of->types[0] != T_S16 && of->types[0] != T_U16) || of->ops[0].kind != OK_REG) return false;
  struct ptx_opnd x[2];
  bool sign = of->types[0] == T_S16;
  for (uint32_t q = 0; q < 2; q++) {
    x[q] = of->ops[1 + q];
    if (x[q].kind == OK_IMM) continue;
    if (x[q].kind != OK_REG || x[q].sel || x[q].part) return false;
  }
  for (uint32_t q = 0; q < 2; q++) {
    if (x[q].kind == OK_IMM) continue;
    struct ptx_opnd wide = make_register(m, T_B32);
    struct ptx_inst *i = make_inst(m, wide, OP_CVT, sign ? T_S32 : T_U32, x[q], make_nothing);
    i->types[i->ntypes++] = of->types[0];
    x[q] = wide;
  }
  struct ptx_opnd product = make_register(m, T_B32);
  make_inst(m, product, OP_MUL, T_S32, x[0], x[1]);
  struct ptx_inst *low = make_inst(m, of->ops[0], OP_CVT, T_U16, product, make_nothing);
  low->types[low->ntypes++] = T_U32;
  return true;
}

static bool take_parts(void *ctx, const struct node *n) {
  return load_constants(ctx, n->in) || load_bytes(ctx, n->in) || store_vector(ctx, n->in) || multiply(ctx, n->in);
}

void back_bytes(struct back *k) {
  enum { LONGEST = 4 };
  uint32_t found = 0;
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct ptx_inst *in = k->n[i].in;
    found += in->op == OP_LD || in->op == OP_ST || in->op == OP_MUL;
  }
  if (!found) return;
  struct making m = {.k = k};
  make_over(&m, k->nn + LONGEST * found, take_parts, &m);
}
