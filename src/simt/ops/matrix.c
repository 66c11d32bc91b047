/* matrix.c - warp-level matrix instructions: wmma, mma.sync, ldmatrix.
 *
 * PTX does not define which lane holds which element of a wmma fragment; here lane l holds the elements [l * n, l * n
 * + n) of the row-major matrix. The fragments of mma.sync and ldmatrix follow the PTX ISA. Products are summed in
 * double and rounded once to the accumulator's type, within the bounds of PTX.
 */
#include <math.h>
#include <string.h>

#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"
#include "simt/ops/fp.h"

enum { MAX_DIM = 32 };

struct shape {
  enum ptx_mod mod;
  uint8_t m, n;
  uint16_t k;
};
static const struct shape shapes[] = {
    {M_M16N16K16, 16, 16, 16}, {M_M8N32K16, 8, 32, 16},   {M_M32N8K16, 32, 8, 16},   {M_M16N8K16, 16, 8, 16},
    {M_M16N8K8, 16, 8, 8},     {M_M16N8K4, 16, 8, 4},     {M_M16N8K32, 16, 8, 32},   {M_M16N16K8, 16, 16, 8},
    {M_M8N8K4, 8, 8, 4},       {M_M8N8K32, 8, 8, 32},     {M_M8N8K16, 8, 8, 16},     {M_M16N8K64, 16, 8, 64},
    {M_M8N8K128, 8, 8, 128},   {M_M16N8K128, 16, 8, 128}, {M_M16N8K256, 16, 8, 256},
};

struct matrix_op { /* behind xaux.ref */
  const struct shape *s;
  uint8_t part; /* wmma: 'a', 'b', 'c' */
  bool col, load, store;
  bool quads;               /* mma.m8n8k4 of halves: four products, one for each pair of groups of four lanes */
  bool a_col, b_col;        /* of those: A and B lie by columns */
  bool bit_and;             /* 1-bit elements: and instead of xor */
  enum ptx_type a, b, c, d; /* element types */
  struct xopnd regs[4][16]; /* d, a, b, c */
  uint8_t n[4];
};

/* Less than a byte each: 32 bits of a row or column in a register. */
static bool packed(enum ptx_type t) {
  return t == T_S4 || t == T_U4 || t == T_B1T;
}

static uint32_t element_bits(enum ptx_type t) {
  if (packed(t)) return t == T_B1T ? 1 : 4;
  return t == T_S8 || t == T_U8 ? 8 : t == T_F16 || t == T_BF16 ? 16 : t == T_F64 ? 64 : 32;
}

/* Registers of the fragment; those of .f64 elements have 64 bits, all others 32. */
static bool registers(struct lowering *l, const struct ptx_inst *i, const struct ptx_opnd *v, struct matrix_op *q,
                      int which, enum ptx_type t) {
  uint32_t bytes = t == T_F64 ? 8 : 4;
  uint32_t n = v->kind == OK_VEC ? v->n : 1;
  if (n > 16 || (v->kind != OK_VEC && v->kind != OK_REG))
    return lower_malformed(l, i, "expected a vector of registers");
  q->n[which] = (uint8_t)n;
  for (uint32_t k = 0; k < n; k++) {
    q->regs[which][k] = lower_elem(l, v->kind == OK_VEC ? &v->vec[k] : v, bytes == 8 ? T_B64 : T_B32);
    if (q->regs[which][k].bytes != bytes || q->regs[which][k].off == OFF_NONE)
      return lower_malformed(l, i, bytes == 8 ? "expected 64-bit registers" : "expected 32-bit registers");
  }
  return true;
}

static bool fragments(struct lowering *l, const struct ptx_inst *i, struct matrix_op *q) {
  return registers(l, i, &i->ops[0], q, 0, q->d) && registers(l, i, &i->ops[1], q, 1, q->a) &&
         registers(l, i, &i->ops[2], q, 2, q->b) && registers(l, i, &i->ops[3], q, 3, q->c);
}

static bool packed_shape(const struct shape *s, enum ptx_type t) {
  uint32_t words = s->k / (32 / element_bits(t)); /* of a row */
  return s->n == 8 && (s->m == 8 ? words == 4 : s->m == 16 && (words == 4 || words == 8));
}

/* .xor.popc or .and.popc for bits, neither for anything else. */
static bool bit_operation(const struct ptx_inst *i, struct matrix_op *q) {
  q->bit_and = ptx_has(i, M_AND);
  bool said = ptx_has(i, M_POPC) && (q->bit_and || ptx_has(i, M_XOR));
  return q->a == T_B1T ? said : !q->bit_and && !ptx_has(i, M_XOR);
}

static bool lower_wmma(struct lowering *l, const struct ptx_inst *i, struct xop *o, struct matrix_op *q) {
  q->load = ptx_has(i, M_LOAD);
  q->store = ptx_has(i, M_STORE);
  q->col = false;
  uint32_t layouts = 0;
  for (uint32_t k = 0; k < i->nmods; k++)
    if (i->mod_order[k] == M_ROW || i->mod_order[k] == M_COL) {
      if (layouts++ == 0) q->col = i->mod_order[k] == M_COL;
    }
  if (q->load || q->store) {
    enum ptx_type t = i->types[0];
    q->part = ptx_has(i, M_AA) ? 'a' : ptx_has(i, M_B) ? 'b' : 'c';
    bool operand = t == T_F16 || t == T_BF16 || t == T_TF32 || t == T_S8 || t == T_U8 || t == T_F64,
         result = t == T_F16 || t == T_F32 || t == T_S32 || t == T_F64;
    if (packed(t)) operand = q->load && packed_shape(q->s, t) && q->s->m == 8 && q->col == (q->part == 'b');
    else if (q->s->k >= 32 && q->part != 'c') operand = false;
    if (q->part == 'c' ? !result : !operand) return lower_refuse(l, i, "");
    const struct ptx_opnd *mem = &i->ops[q->store ? 0 : 1], *data = &i->ops[q->store ? 1 : 0];
    if (i->nops < 2 || mem->kind != OK_MEM) return lower_malformed(l, i, "expected an address");
    if (!registers(l, i, data, q, 0, t)) return false;
    q->d = t;
    if (!lower_address(l, i, mem, o)) return false;
    o->b = i->nops > 2 ? lower_operand(l, &i->ops[2], T_U32) : OFF_NONE;
    o->cls = XC_MEMORY;
    o->elem = packed(t) ? 4 : (uint8_t)ptx_type_bytes[t];
    o->vec = 1;
    o->type = (uint8_t)t;
    return true;
  }
  if (i->nops != 4 || i->ntypes < 2) return lower_malformed(l, i, "expected four fragments");
  q->d = i->types[0];
  q->c = i->types[i->ntypes - 1];
  q->a = q->b = T_F16;
  if (i->ntypes == 4) q->a = i->types[1], q->b = i->types[2];
  bool halves = q->a == T_F16 && (q->d == T_F16 || q->d == T_F32) && (q->c == T_F16 || q->c == T_F32),
       floats = (q->a == T_BF16 || q->a == T_TF32) && q->d == T_F32 && q->c == T_F32,
       ints = (q->a == T_S8 || q->a == T_U8 || packed(q->a)) && q->d == T_S32 && q->c == T_S32,
       doubles = q->a == T_F64 && q->d == T_F64 && q->c == T_F64;
  if (packed(q->a) || q->s->k >= 32) {
    bool good = packed(q->a) && packed_shape(q->s, q->a) && q->s->m == 8 && q->a == q->b && ints;
    if (!good || !bit_operation(i, q)) return lower_refuse(l, i, "");
    o->id = X_mma_int;
    return fragments(l, i, q);
  }
  if (q->a != q->b || (!halves && !floats && !ints && !doubles)) return lower_refuse(l, i, "");
  return fragments(l, i, q);
}

/* m8n8k4 of halves, with any layouts. */
static bool lower_quads(struct lowering *l, const struct ptx_inst *i, struct matrix_op *q) {
  uint32_t layouts = 0;
  for (uint32_t k = 0; k < i->nmods; k++)
    if (i->mod_order[k] == M_ROW || i->mod_order[k] == M_COL) {
      q->b_col = i->mod_order[k] == M_COL;
      if (layouts++ == 0) q->a_col = q->b_col;
    }
  bool halves = (q->d == T_F16 || q->d == T_F32) && (q->c == T_F16 || q->c == T_F32) && q->b == T_F16;
  if (!layouts || !halves) return lower_refuse(l, i, "");
  q->quads = true;
  if (!fragments(l, i, q)) return false;
  if (q->n[0] != (q->d == T_F16 ? 4 : 8) || q->n[1] != 2 || q->n[2] != 2 || q->n[3] != (q->c == T_F16 ? 4 : 8))
    return lower_malformed(l, i, "a fragment has the wrong number of registers");
  return true;
}

static bool lower_mma(struct lowering *l, const struct ptx_inst *i, struct xop *o, struct matrix_op *q) {
  if (i->ntypes == 4 && i->nops == 4 && i->types[1] == T_F16 && ptx_has(i, M_M8N8K4)) {
    q->d = i->types[0], q->a = i->types[1], q->b = i->types[2], q->c = i->types[3];
    return lower_quads(l, i, q);
  }
  if (i->ntypes != 4 || i->nops != 4 || !ptx_has(i, M_ROW) || !ptx_has(i, M_COL)) return lower_refuse(l, i, "");
  q->d = i->types[0], q->a = i->types[1], q->b = i->types[2], q->c = i->types[3];
  bool ints = q->d == T_S32 && q->c == T_S32 && element_bits(q->a) <= 8 && element_bits(q->b) == element_bits(q->a) &&
              packed_shape(q->s, q->a);
  bool floats = (q->d == T_F32 || q->d == T_F16) && (q->c == T_F32 || q->c == T_F16) && q->a == q->b &&
                (q->a == T_TF32 ? q->s->k <= 8 : (q->a == T_F16 || q->a == T_BF16) && (q->s->k == 8 || q->s->k == 16));
  bool doubles = q->a == T_F64 && q->b == T_F64 && q->c == T_F64 && q->d == T_F64 && q->s->m == 8 && q->s->k == 4;
  if ((!ints && !floats && !doubles) || !bit_operation(i, q)) return lower_refuse(l, i, "");
  if (ints) o->id = X_mma_int;
  if (!fragments(l, i, q)) return false;
  uint32_t word = doubles ? 64 : 32;
  uint32_t per_a = q->s->m * q->s->k / LANES * element_bits(q->a) / word,
           per_b = q->s->n * q->s->k / LANES * element_bits(q->b) / word;
  uint32_t per_c = q->s->m * q->s->n / LANES * element_bits(q->c) / word,
           per_d = q->s->m * q->s->n / LANES * element_bits(q->d) / word;
  if (q->n[0] != per_d || q->n[1] != per_a || q->n[2] != per_b || q->n[3] != per_c)
    return lower_malformed(l, i, "a fragment has the wrong number of registers");
  return true;
}

static bool lower_ldmatrix(struct lowering *l, const struct ptx_inst *i, struct xop *o, struct matrix_op *q) {
  uint32_t n = ptx_has(i, M_X4) ? 4 : ptx_has(i, M_X2) ? 2 : 1;
  if (i->nops != 2 || i->ops[1].kind != OK_MEM) return lower_malformed(l, i, "expected registers and an address");
  if (!registers(l, i, &i->ops[0], q, 0, T_B32)) return false;
  if (q->n[0] != n) return lower_malformed(l, i, "the wrong number of registers");
  if (!lower_address(l, i, &i->ops[1], o)) return false;
  q->col = ptx_has(i, M_TRANS);
  o->cls = XC_MEMORY;
  o->elem = 16;
  o->vec = 1;
  o->id = X_ldmatrix;
  return true;
}

static bool lower_movmatrix(struct lowering *l, const struct ptx_inst *i, struct xop *o, struct matrix_op *q) {
  if (i->nops != 2 || !ptx_has(i, M_TRANS)) return lower_malformed(l, i, "expected .trans and two registers");
  o->id = X_movmatrix;
  return registers(l, i, &i->ops[0], q, 0, T_B32) && registers(l, i, &i->ops[1], q, 1, T_B32);
}

bool lower_matrix(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_matrix(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  struct xaux *a = lower_aux(l);
  struct matrix_op *q = ARENA_NEW(&l->m->arena, struct matrix_op);
  a->ref = q;
  o->aux = a;
  if (i->op == OP_LDMATRIX) return lower_ldmatrix(l, i, o, q);
  if (i->op == OP_MOVMATRIX) return lower_movmatrix(l, i, o, q);
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
    if (ptx_has(i, shapes[k].mod)) q->s = &shapes[k];
  if (!q->s) return lower_refuse(l, i, "");
  if (i->op == OP_MMA) {
    o->id = X_mma;
    return lower_mma(l, i, o, q);
  }
  o->id = X_wmma;
  return lower_wmma(l, i, o, q);
}

/* ---- fragments ---- */

static uint32_t word(struct exec *x, const struct matrix_op *q, int which, uint32_t k, uint32_t lane) {
  return OPND(uint32_t, q->regs[which][k].off)[lane];
}

static double element_value(enum ptx_type t, uint32_t bits) {
  struct fp_env env = {.round = FP_RN};
  float f;
  uint64_t v;
  switch (t) {
  case T_F16:
    return fp_f16_to_f32((uint16_t)bits);
  case T_BF16:
    v = fp_convert(T_F32, T_BF16, &env, false, bits);
    break;
  case T_TF32:
    v = bits & 0xFFFFE000u;
    break;
  case T_S8:
    return (int8_t)bits;
  case T_U8:
    return (uint8_t)bits;
  case T_S32:
    return (int32_t)bits;
  default:
    v = bits;
    break;
  }
  uint32_t w = (uint32_t)v;
  memcpy(&f, &w, 4);
  return f;
}

/* Element e (in units of its own size) of a lane's registers. */
static double element(struct exec *x, const struct matrix_op *q, int which, enum ptx_type t, uint32_t e,
                      uint32_t lane) {
  if (t == T_F64) return OPND(double, q->regs[which][e].off)[lane];
  uint32_t bits = element_bits(t), per = 32 / bits, w = word(x, q, which, e / per, lane);
  return element_value(t, bits == 32 ? w : w >> (e % per * bits) & ((1u << bits) - 1));
}

static void put_element(struct exec *x, const struct matrix_op *q, enum ptx_type t, uint32_t e, uint32_t lane, double v,
                        bool saturate) {
  struct fp_env env = {.round = FP_RN};
  if (t == T_F64) {
    OPND(double, q->regs[0][e].off)[lane] = v;
    return;
  }
  uint32_t *r = OPND(uint32_t, q->regs[0][t == T_F16 ? e / 2 : e].off) + lane;
  uint64_t in;
  memcpy(&in, &v, 8);
  if (t == T_F16) {
    uint32_t h = (uint32_t)fp_convert(T_F16, T_F64, &env, false, in), shift = e % 2 * 16;
    *r = (*r & ~(0xFFFFu << shift)) | h << shift;
  } else if (t == T_S32) {
    int64_t s = (int64_t)v;
    if (saturate) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
    *r = (uint32_t)s;
  } else {
    *r = (uint32_t)fp_convert(T_F32, T_F64, &env, false, in);
  }
}

struct matrices {
  double a[MAX_DIM][MAX_DIM], b[MAX_DIM][MAX_DIM], c[MAX_DIM][MAX_DIM];
};

/* Double precision: a chain of fused multiply-adds from the accumulator on, each rounded. */
static void multiply_doubles(const struct shape *s, struct matrices *m) {
  for (uint32_t r = 0; r < s->m; r++)
    for (uint32_t c = 0; c < s->n; c++)
      for (uint32_t k = 0; k < s->k; k++) m->c[r][c] = fma(m->a[r][k], m->b[k][c], m->c[r][c]);
}

static void multiply(const struct matrix_op *q, struct matrices *m) {
  const struct shape *s = q->s;
  if (q->a == T_F64) {
    multiply_doubles(s, m);
    return;
  }
  for (uint32_t r = 0; r < s->m; r++)
    for (uint32_t c = 0; c < s->n; c++) {
      double sum = 0;
      for (uint32_t k = 0; k < s->k; k++) sum += m->a[r][k] * m->b[k][c];
      m->c[r][c] += sum;
    }
}

static bool whole_warp(struct exec *x, const struct xop *o, uint32_t mask) {
  if (mask == FULL_MASK) return true;
  fault_text(x, o, mask ? __builtin_ctz(mask) : 0, 719,
             "a warp-level matrix instruction with only the lanes 0x%x active", mask);
  return false;
}

/* ---- wmma ---- */

static void fragment_size(const struct matrix_op *q, uint32_t *rows, uint32_t *cols) {
  *rows = q->part == 'b' ? q->s->k : q->s->m;
  *cols = q->part == 'a' ? q->s->k : q->s->n;
}

/* Element e of a lane's registers to or from memory. */
static void move_element(struct exec *x, const struct matrix_op *q, uint32_t lane, uint32_t e, char *p) {
  uint32_t bytes = ptx_type_bytes[q->d], per_word = bytes == 8 ? 1 : 4 / bytes, size = bytes == 8 ? 8 : 4;
  char *w = (char *)OPND(char, q->regs[0][e / per_word].off) + lane * size + e % per_word * bytes;
  if (q->store) memcpy(p, w, bytes);
  else memcpy(w, p, bytes);
}

/* 32 bits of a row of A or a column of B to a lane, four lanes to a row. */
static void load_packed(struct exec *x, const struct xop *o, const struct matrix_op *q) {
  uint8_t space = SPACE_NONE;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint64_t addr = o->imm;
    if (o->a != OFF_NONE) addr += o->flags & XF_ADDR64 ? OPND(uint64_t, o->a)[lane] : OPND(uint32_t, o->a)[lane];
    uint32_t ld = o->b == OFF_NONE ? q->s->k : OPND(uint32_t, o->b)[lane];
    addr += (uint64_t)(lane / 4) * ld * element_bits(q->d) / 8 + lane % 4 * 4;
    space = o->space;
    const char *p = mem_host(x, o, (int)lane, addr, 4, false, &space);
    if (!p) return;
    x->out->addr[lane] = o->space == SPACE_GENERIC && space == SPACE_SHARED ? addr - SHARED_WINDOW : addr;
    memcpy(OPND(uint32_t, q->regs[0][0].off) + lane, p, 4);
  }
  x->out->space = space;
  x->out->width = 4;
}

static void wmma_memory(struct exec *x, const struct xop *o, const struct matrix_op *q) {
  if (packed(q->d)) {
    load_packed(x, o, q);
    return;
  }
  uint32_t rows, cols, bytes = ptx_type_bytes[q->d], per_word = bytes == 8 ? 1 : 4 / bytes;
  fragment_size(q, &rows, &cols);
  uint32_t each = rows * cols / LANES;
  uint8_t space = SPACE_NONE;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint64_t base = o->imm;
    if (o->a != OFF_NONE) base += o->flags & XF_ADDR64 ? OPND(uint64_t, o->a)[lane] : OPND(uint32_t, o->a)[lane];
    uint32_t ld = o->b == OFF_NONE ? (q->col ? rows : cols) : OPND(uint32_t, o->b)[lane];
    for (uint32_t e = 0; e < each; e++) {
      uint32_t r = (lane * each + e) / cols, c = (lane * each + e) % cols;
      uint64_t addr = base + (uint64_t)(q->col ? c * ld + r : r * ld + c) * bytes;
      space = o->space;
      char *p = mem_host(x, o, (int)lane, addr, bytes, q->store, &space);
      if (!p) return;
      if (!e) x->out->addr[lane] = o->space == SPACE_GENERIC && space == SPACE_SHARED ? addr - SHARED_WINDOW : addr;
      if (e / per_word < q->n[0]) move_element(x, q, lane, e, p);
    }
    for (uint32_t k = each / per_word; !q->store && k < q->n[0]; k++) OPND(uint32_t, q->regs[0][k].off)[lane] = 0;
  }
  x->out->space = space;
  x->out->width = (uint8_t)(q->col ? bytes : each * bytes > 16 ? 16 : each * bytes);
}

static void x_wmma(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct matrix_op *q = ((const struct xaux *)o->aux)->ref;
  if (!whole_warp(x, o, mask)) return;
  if (q->load || q->store) {
    wmma_memory(x, o, q);
    return;
  }
  struct matrices m;
  const struct shape *s = q->s;
  for (uint32_t e = 0; e < (uint32_t)s->m * s->k; e++)
    m.a[e / s->k][e % s->k] = element(x, q, 1, q->a, e % (s->m * s->k / LANES), e / (s->m * s->k / LANES));
  for (uint32_t e = 0; e < (uint32_t)s->k * s->n; e++)
    m.b[e / s->n][e % s->n] = element(x, q, 2, q->b, e % (s->k * s->n / LANES), e / (s->k * s->n / LANES));
  for (uint32_t e = 0; e < (uint32_t)s->m * s->n; e++)
    m.c[e / s->n][e % s->n] = element(x, q, 3, q->c, e % (s->m * s->n / LANES), e / (s->m * s->n / LANES));
  multiply(q, &m);
  for (uint32_t e = 0; e < (uint32_t)s->m * s->n; e++)
    put_element(x, q, q->d, e % (s->m * s->n / LANES), e / (s->m * s->n / LANES), m.c[e / s->n][e % s->n],
                o->flags & XF_SATFIN);
}

/* ---- mma.sync: PTX ISA, "Matrix Fragments for mma.m16n8k*" ---- */

/* Row and column of element e of lane in A: groups of `run` elements along a row, then the lower half, then the right.
 */
static void place_a(const struct matrix_op *q, uint32_t lane, uint32_t e, uint32_t *r, uint32_t *c) {
  uint32_t run = q->a == T_F64 ? 1 : 32 / element_bits(q->a), group = e / run;
  *r = lane / 4 + (group & 1 ? 8 : 0);
  *c = lane % 4 * run + e % run + (group / 2) * 4 * run;
}

static void place_b(const struct matrix_op *q, uint32_t lane, uint32_t e, uint32_t *r, uint32_t *c) {
  uint32_t run = q->b == T_F64 ? 1 : 32 / element_bits(q->b);
  *r = lane % 4 * run + e % run + (e / run) * 4 * run;
  *c = lane / 4;
}

/* Row and column of element e of a lane in the accumulators of m8n8k4: a row to a lane as halves, else pairs of columns
 * of two rows. */
static void place_quad(enum ptx_type t, uint32_t lane, uint32_t e, uint32_t *r, uint32_t *c) {
  *r = t == T_F16 ? lane % 4 : (lane & 1) + (e & 2);
  *c = t == T_F16 ? e : (e & 4) + (lane & 2) + (e & 1);
  if (lane >= LANES / 2) *r += 4;
}

/* Lanes 4p to 4p + 3 and the same of the warp's upper half hold the four products' matrices (PTX ISA, "Matrix Fragments
 * for mma.m8n8k4 with .f16"). */
static void mma_quads(struct exec *x, const struct xop *o, const struct matrix_op *q) {
  struct matrices m[4];
  for (uint32_t lane = 0; lane < LANES; lane++) {
    struct matrices *p = &m[lane % (LANES / 2) / 4];
    uint32_t half = lane < LANES / 2 ? 0 : 4, r, c;
    for (uint32_t e = 0; e < 4; e++) {
      uint32_t along = lane % 4 + half, across = e;
      p->a[q->a_col ? e + half : along][q->a_col ? lane % 4 : across] = element(x, q, 1, T_F16, e, lane);
      p->b[q->b_col ? across : lane % 4][q->b_col ? along : e + half] = element(x, q, 2, T_F16, e, lane);
    }
    for (uint32_t e = 0; e < 8; e++) place_quad(q->c, lane, e, &r, &c), p->c[r][c] = element(x, q, 3, q->c, e, lane);
  }
  for (uint32_t p = 0; p < 4; p++) multiply(q, &m[p]);
  for (uint32_t lane = 0; lane < LANES; lane++)
    for (uint32_t e = 0; e < 8; e++) {
      uint32_t r, c;
      place_quad(q->d, lane, e, &r, &c);
      put_element(x, q, q->d, e, lane, m[lane % (LANES / 2) / 4].c[r][c], o->flags & XF_SATFIN);
    }
}

static void x_mma(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct matrix_op *q = ((const struct xaux *)o->aux)->ref;
  const struct shape *s = q->s;
  struct matrices m;
  if (q->quads) {
    if (whole_warp(x, o, mask)) mma_quads(x, o, q);
    return;
  }
  uint32_t per_c = (uint32_t)s->m * s->n / LANES;
  if (!whole_warp(x, o, mask)) return;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint32_t r, c;
    for (uint32_t e = 0; e < (uint32_t)s->m * s->k / LANES; e++)
      place_a(q, lane, e, &r, &c), m.a[r][c] = element(x, q, 1, q->a, e, lane);
    for (uint32_t e = 0; e < (uint32_t)s->n * s->k / LANES; e++)
      place_b(q, lane, e, &r, &c), m.b[r][c] = element(x, q, 2, q->b, e, lane);
    for (uint32_t e = 0; e < per_c; e++)
      m.c[lane / 4 + e / 2 * 8][lane % 4 * 2 + e % 2] = element(x, q, 3, q->c, e, lane);
  }
  multiply(q, &m);
  for (uint32_t lane = 0; lane < LANES; lane++)
    for (uint32_t e = 0; e < per_c; e++)
      put_element(x, q, q->d, e, lane, m.c[lane / 4 + e / 2 * 8][lane % 4 * 2 + e % 2], o->flags & XF_SATFIN);
}

/* The sum over the elements of two words, each of a type of its own, or over their bits. */
static int64_t dot(const struct matrix_op *q, uint32_t a, uint32_t b) {
  uint32_t bits = element_bits(q->a);
  if (bits == 1) return __builtin_popcount(q->bit_and ? a & b : a ^ b);
  int64_t sum = 0;
  bool signed_a = q->a == T_S4 || q->a == T_S8, signed_b = q->b == T_S4 || q->b == T_S8;
  for (uint32_t at = 0; at < 32; at += bits) {
    uint32_t up = 32 - bits - at, down = 32 - bits;
    int64_t u = a << up >> down, v = b << up >> down;
    if (signed_a) u = (int32_t)(a << up) >> down;
    if (signed_b) v = (int32_t)(b << up) >> down;
    sum += u * v;
  }
  return sum;
}

/* Integers and bits, 32 bits of a row to a register: four lanes hold the words of a row of A, or of a column of B; then
 * come the rows from 8 on, then the right half (PTX ISA, the figures for .u8, .u4 and .b1). */
static void x_mma_int(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct matrix_op *q = ((const struct xaux *)o->aux)->ref;
  if (!whole_warp(x, o, mask)) return;
  uint32_t below = q->s->m == 16, halves = q->n[2], result[LANES][4];
  for (uint32_t lane = 0; lane < LANES; lane++)
    for (uint32_t e = 0; e < q->n[3]; e++) {
      int64_t sum = (int32_t)word(x, q, 3, e, lane);
      for (uint32_t h = 0; h < halves; h++)
        for (uint32_t k = 0; k < 4; k++)
          sum += dot(q, word(x, q, 1, h * (1 + below) + e / 2, lane / 4 * 4 + k),
                     word(x, q, 2, h, (lane % 4 * 2 + e % 2) * 4 + k));
      if (o->flags & XF_SATFIN) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
      result[lane][e] = (uint32_t)sum;
    }
  for (uint32_t lane = 0; lane < LANES; lane++)
    for (uint32_t e = 0; e < q->n[3]; e++) OPND(uint32_t, q->regs[0][e].off)[lane] = result[lane][e];
}

static void x_ldmatrix(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct matrix_op *q = ((const struct xaux *)o->aux)->ref;
  uint16_t rows[LANES][8];
  if (!whole_warp(x, o, mask)) return;
  uint8_t space = o->space;
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint64_t addr = o->imm;
    if (o->a != OFF_NONE) addr += o->flags & XF_ADDR64 ? OPND(uint64_t, o->a)[lane] : OPND(uint32_t, o->a)[lane];
    x->out->addr[lane] = addr;
    if (lane / 8 >= q->n[0]) continue; /* the first lanes give the addresses */
    space = o->space;
    char *p = mem_host(x, o, (int)lane, addr, 16, false, &space);
    if (!p) return;
    if (o->space == SPACE_GENERIC && space == SPACE_SHARED) x->out->addr[lane] = addr - SHARED_WINDOW;
    memcpy(rows[lane], p, 16);
  }
  for (uint32_t lane = q->n[0] * 8u; lane < LANES; lane++) x->out->addr[lane] = x->out->addr[0];
  for (uint32_t k = 0; k < q->n[0]; k++)
    for (uint32_t lane = 0; lane < LANES; lane++) {
      uint32_t r = lane / 4, c = lane % 4 * 2;
      uint32_t lo = q->col ? rows[8 * k + c][r] : rows[8 * k + r][c],
               hi = q->col ? rows[8 * k + c + 1][r] : rows[8 * k + r][c + 1];
      OPND(uint32_t, q->regs[0][k].off)[lane] = lo | hi << 16;
    }
  x->out->space = space;
  x->out->width = 16;
}

/* Row r of the transposed block is column r; a lane holds two neighbours of a row, four lanes the row. */
static void x_movmatrix(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct matrix_op *q = ((const struct xaux *)o->aux)->ref;
  uint32_t from[LANES];
  if (!whole_warp(x, o, mask)) return;
  for (uint32_t lane = 0; lane < LANES; lane++) from[lane] = word(x, q, 1, 0, lane);
  for (uint32_t lane = 0; lane < LANES; lane++) {
    uint32_t r = lane / 4, c = lane % 4 * 2, shift = r % 2 * 16;
    uint32_t lo = from[c * 4 + r / 2] >> shift & 0xFFFF, hi = from[(c + 1) * 4 + r / 2] >> shift & 0xFFFF;
    OPND(uint32_t, q->regs[0][0].off)[lane] = lo | hi << 16;
  }
}

void simt_matrix_handlers(xop_fn *table) {
  table[X_wmma] = x_wmma;
  table[X_mma] = x_mma;
  table[X_mma_int] = x_mma_int;
  table[X_ldmatrix] = x_ldmatrix;
  table[X_movmatrix] = x_movmatrix;
}
