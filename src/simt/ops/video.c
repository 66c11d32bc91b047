/* video.c - the video instructions of PTX: arithmetic on bytes and half-words of 32-bit registers, one value (vadd,
 * vmad, ...) or two or four side by side (vadd2, vadd4, ...), with saturation and a second operation or a merge.
 *
 * GPUs since sm_50 implement a few of them and compose the others; the semantics are those of the PTX ISA, section
 * "Video Instructions": intermediate values are exact, and cut to 32 bits at the end.
 */
#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"

#define EACH(mask) \
  for (uint32_t left_ = (mask), i = 0; left_ && (i = (uint32_t)__builtin_ctz(left_), 1); left_ &= left_ - 1)

typedef __int128 wide_t; /* holds every product, sum and shift of these instructions */

enum video_op { V_ABSDIFF, V_ADD, V_AVRG, V_MAX, V_MIN, V_SET, V_SHL, V_SHR, V_SUB, V_MAD };
enum second_op { SECOND_NONE, SECOND_ADD, SECOND_MIN, SECOND_MAX };

struct pick {
  uint8_t bytes; /* 1, 2 or 4: of each value */
  uint8_t at[4]; /* index of the value, from the lowest; SIMD forms continue from a into b */
  uint8_t sign;
};

struct video {
  uint8_t op, lanes; /* lanes: 1, 2, 4 */
  uint8_t second, cmp, shift;
  bool sign, sat, wrap, merge, minus_ab, minus_c, plus_one;
  struct pick a, b;
  uint8_t at, bytes; /* scalar merge: position of the result, and its size (4: everything) */
  uint8_t mask;      /* SIMD: results taken; the others come from c */
};

static wide_t take(uint64_t v, const struct pick *k, uint32_t lane) {
  uint32_t bits = 8u * k->bytes;
  uint64_t u = v >> (bits * k->at[lane]) & (UINT64_MAX >> (64 - bits));
  return k->sign ? (wide_t)((int64_t)(u << (64 - bits)) >> (64 - bits)) : (wide_t)u;
}

static wide_t limit(wide_t v, uint32_t bytes, bool sign) {
  wide_t one = 1, hi = (one << (8 * bytes - sign)) - 1, lo = sign ? -(one << (8 * bytes - 1)) : 0;
  return v > hi ? hi : v < lo ? lo : v;
}

static wide_t operate(const struct video *k, wide_t a, wide_t b) {
  uint32_t n = (uint32_t)b;
  switch (k->op) {
  case V_ABSDIFF:
    return a > b ? a - b : b - a;
  case V_ADD:
    return a + b;
  case V_AVRG:
    return (a + b + (a + b >= 0)) >> 1;
  case V_MAX:
    return a > b ? a : b;
  case V_MIN:
    return a < b ? a : b;
  case V_SET:
    return generic_compare(k->cmp, (double)a, (double)b); /* at most 34 bits: exact */
  case V_SUB:
    return a - b;
  default:
    n = k->wrap ? n & 31 : n > 32 ? 32 : n;
    return k->op == V_SHL ? a * ((wide_t)1 << n) : a >> n;
  }
}

/* One value. The third operand has the sign of the result. */
static uint32_t scalar_op(const struct video *k, uint32_t a, uint32_t b, uint32_t c) {
  wide_t v = operate(k, take(a, &k->a, 0), take(b, &k->b, 0)), third = k->sign ? (wide_t)(int32_t)c : (wide_t)c;
  if (k->sat) v = limit(v, k->bytes, k->sign);
  if (k->merge) {
    uint32_t bits = 8u * k->bytes, field = (UINT32_MAX >> (32 - bits)) << bits * k->at;
    return ((uint32_t)v << bits * k->at & field) | (c & ~field);
  }
  if (k->second == SECOND_ADD) v += third;
  if (k->second == SECOND_MIN && third < v) v = third;
  if (k->second == SECOND_MAX && third > v) v = third;
  return (uint32_t)v;
}

/* a * b + c in full, then a shift. A negated product or c is the complement, plus one in the last place. */
static uint32_t multiply_add(const struct video *k, uint32_t a, uint32_t b, uint32_t c) {
  bool sign = k->a.sign || k->b.sign || k->minus_ab || k->minus_c;
  wide_t v = take(a, &k->a, 0) * take(b, &k->b, 0), third = sign ? (wide_t)(int32_t)c : (wide_t)c;
  if (k->minus_ab) v = -v;
  if (k->minus_c) third = (wide_t)(int32_t)~c + 1;
  v = (v + third + k->plus_one) >> k->shift;
  return (uint32_t)(k->sat ? limit(v, 4, sign) : v);
}

static uint32_t simd(const struct video *k, uint32_t a, uint32_t b, uint32_t c) {
  uint64_t both = (uint64_t)b << 32 | a;
  uint32_t bits = 32u / k->lanes, field = UINT32_MAX >> (32 - bits), r = k->second ? c : 0;
  for (uint32_t n = 0; n < k->lanes; n++) {
    bool taken = k->mask >> n & 1;
    wide_t v = operate(k, take(both, &k->a, n), take(both, &k->b, n));
    if (k->sat) v = limit(v, k->a.bytes, k->sign);
    if (k->second) r += taken ? (uint32_t)v : 0;
    else r |= taken ? ((uint32_t)v & field) << bits * n : c & field << bits * n;
  }
  return r;
}

static void x_video(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct video *k = o->aux;
  EACH(mask) {
    uint32_t a = OPND(uint32_t, o->a)[i], b = OPND(uint32_t, o->b)[i],
             c = o->c == OFF_NONE ? 0 : OPND(uint32_t, o->c)[i];
    uint32_t r = k->op == V_MAD ? multiply_add(k, a, b, c) : k->lanes == 1 ? scalar_op(k, a, b, c) : simd(k, a, b, c);
    if (o->d != OFF_NONE) OPND(uint32_t, o->d)[i] = r;
  }
}

void simt_video_handlers(xop_fn *table) {
  table[X_video] = x_video;
}

static const struct {
  uint8_t op, lanes;
} operations[OP_COUNT] = {
    [OP_VABSDIFF] = {V_ABSDIFF, 1}, [OP_VABSDIFF2] = {V_ABSDIFF, 2}, [OP_VABSDIFF4] = {V_ABSDIFF, 4},
    [OP_VADD] = {V_ADD, 1},         [OP_VADD2] = {V_ADD, 2},         [OP_VADD4] = {V_ADD, 4},
    [OP_VAVRG2] = {V_AVRG, 2},      [OP_VAVRG4] = {V_AVRG, 4},       [OP_VMAX] = {V_MAX, 1},
    [OP_VMAX2] = {V_MAX, 2},        [OP_VMAX4] = {V_MAX, 4},         [OP_VMIN] = {V_MIN, 1},
    [OP_VMIN2] = {V_MIN, 2},        [OP_VMIN4] = {V_MIN, 4},         [OP_VSET] = {V_SET, 1},
    [OP_VSET2] = {V_SET, 2},        [OP_VSET4] = {V_SET, 4},         [OP_VSUB] = {V_SUB, 1},
    [OP_VSUB2] = {V_SUB, 2},        [OP_VSUB4] = {V_SUB, 4},         [OP_VSHL] = {V_SHL, 1},
    [OP_VSHR] = {V_SHR, 1},         [OP_VMAD] = {V_MAD, 1},
};

static bool refuse_operand(struct lowering *l, const struct ptx_inst *i, const struct ptx_opnd *v, const char *what) {
  uint32_t line = v ? v->line : i->line, col = v ? v->col : i->col;
  return ptx_error(l->m->ptx, (struct ptx_place){l->f->text, line, col}, ERR_INPUT, l->e, "%s %s", ptx_ops[i->op].name,
                   what);
}

/* The part of a source: .b0 to .b3 or .h0, .h1 of one value; .h10 (default) or .h32 and the like of two, which count on
 * from a into b; .b3210 and the like of four. */
static bool pick_source(struct lowering *l, const struct ptx_inst *i, int n, uint32_t lanes, struct pick *k) {
  const struct ptx_opnd *v = &i->ops[n];
  uint32_t count = (v->part >> PTX_PART_COUNT & 3) + 1u;
  bool bytes = v->part & PTX_PART_BYTES;
  k->bytes = (uint8_t)(4 / lanes);
  for (uint32_t j = 0; j < lanes; j++) k->at[j] = (uint8_t)(lanes == 1 ? 0 : j + (n == 2 ? lanes : 0));
  if (!v->part) return true;
  uint32_t most = lanes == 1 ? (bytes ? 4 : 2) : 2 * lanes;
  if (count != lanes || (lanes == 2 && bytes) || (lanes == 4 && !bytes))
    return refuse_operand(l, i, v, "cannot take that part of its operand");
  k->bytes = bytes ? 1 : 2;
  for (uint32_t j = 0; j < lanes; j++) {
    k->at[j] = v->part >> (3 * j) & 7;
    if (k->at[j] >= most) return refuse_operand(l, i, v, "cannot take that part of its operand");
  }
  return true;
}

/* The part of the destination: where one value goes, or which of several results are kept. */
static bool pick_result(struct lowering *l, const struct ptx_inst *i, struct video *k) {
  const struct ptx_opnd *v = &i->ops[0];
  uint32_t count = (v->part >> PTX_PART_COUNT & 3) + 1u;
  bool bytes = v->part & PTX_PART_BYTES;
  k->bytes = 4;
  k->mask = (uint8_t)((1u << k->lanes) - 1);
  if (!v->part) return true;
  if (k->op == V_MAD) return refuse_operand(l, i, v, "writes a whole register");
  if (k->lanes == 1) {
    k->merge = true;
    k->bytes = bytes ? 1 : 2;
    k->at = v->part & 7;
    return (count == 1 && k->at < 4 / k->bytes) || refuse_operand(l, i, v, "cannot write that part of its destination");
  }
  k->mask = 0;
  for (uint32_t j = 0, above = 0; j < count; j++) { /* selectors rise from right to left */
    uint32_t at = v->part >> (3 * j) & 7;
    if (at >= k->lanes || at < above || bytes != (k->lanes == 4))
      return refuse_operand(l, i, v, "cannot write that part of its destination");
    above = at + 1;
    k->mask |= (uint8_t)(1u << at);
  }
  return true;
}

static bool video_types(struct lowering *l, const struct ptx_inst *i, struct video *k) {
  uint32_t n = k->op == V_SET ? 2 : 3, first = n - 2;
  if (i->ntypes != n) return refuse_operand(l, i, NULL, n == 2 ? "needs two types" : "needs three types");
  for (uint32_t j = 0; j < n; j++)
    if (i->types[j] != T_U32 && i->types[j] != T_S32)
      return refuse_operand(l, i, NULL, "takes the types .u32 and .s32");
  k->sign = k->op != V_SET && i->types[0] == T_S32;
  k->a.sign = i->types[first] == T_S32;
  k->b.sign = i->types[first + 1] == T_S32;
  if ((k->op == V_SHL || k->op == V_SHR) && k->b.sign)
    return refuse_operand(l, i, NULL, "takes .u32 as the type of the shift");
  return true;
}

static bool video_modifiers(struct lowering *l, const struct ptx_inst *i, struct video *k) {
  static const enum ptx_mod order[] = {M_EQ, M_NE, M_LT, M_LE, M_GT, M_GE};
  uint32_t comparisons = 0;
  for (uint8_t j = 0; j < 6; j++)
    if (ptx_has(i, order[j])) k->cmp = j, comparisons++;
  if (k->op == V_SET && comparisons != 1) return refuse_operand(l, i, NULL, "needs one comparison such as .eq or .lt");
  bool shifts = k->op == V_SHL || k->op == V_SHR;
  if (shifts && ptx_has(i, M_CLAMP) == ptx_has(i, M_WRAP)) return refuse_operand(l, i, NULL, "needs .clamp or .wrap");
  k->wrap = ptx_has(i, M_WRAP);
  k->sat = ptx_has(i, M_SAT);
  k->shift = ptx_has(i, M_SHR7) ? 7 : ptx_has(i, M_SHR15) ? 15 : 0;
  k->second = ptx_has(i, M_ADD)   ? SECOND_ADD
              : ptx_has(i, M_MIN) ? SECOND_MIN
              : ptx_has(i, M_MAX) ? SECOND_MAX
                                  : SECOND_NONE;
  k->plus_one = ptx_has(i, M_PO);
  k->minus_ab = i->ops[1].minus != i->ops[2].minus;
  k->minus_c = i->ops[3].minus;
  if (k->minus_ab + k->minus_c + k->plus_one > 1)
    return refuse_operand(l, i, NULL, "takes one of .po, a negated product and -c");
  if (i->ops[0].minus || i->ops[3].part) return refuse_operand(l, i, NULL, "cannot take that part of its operand");
  if (k->op == V_MAD || k->lanes > 1) return true;
  if (i->nops == 3 ? k->merge || k->second : k->merge == (k->second != SECOND_NONE))
    return refuse_operand(l, i, NULL,
                          "takes a third source with .add, .min, .max or a part of the destination, and only then");
  return true;
}

bool lower_video(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  struct video *k = ARENA_NEW(&l->m->arena, struct video);
  k->op = operations[i->op].op;
  k->lanes = operations[i->op].lanes;
  if (!video_types(l, i, k) || !pick_result(l, i, k) || !video_modifiers(l, i, k)) return false;
  if (!pick_source(l, i, 1, k->lanes, &k->a) || !pick_source(l, i, 2, k->lanes, &k->b)) return false;
  o->d = lower_operand(l, &i->ops[0], T_U32);
  o->a = lower_operand(l, &i->ops[1], T_U32);
  o->b = lower_operand(l, &i->ops[2], T_U32);
  if (i->nops > 3) o->c = lower_operand(l, &i->ops[3], T_U32);
  o->aux = k;
  o->id = X_video;
  return true;
}
