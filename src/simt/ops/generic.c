/* generic.c - handlers common to all instruction sets: special registers, packing, conversions and arithmetic through
 * fp.c, carries, votes, shuffles. Lane by lane; none is hot in ordinary programs. */
#include <string.h>

#include "ptx/mach.h"

#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"
#include "simt/ops/fp.h"

#define EACH(mask) \
  for (uint32_t left_ = (mask), i = 0; left_ && (i = (uint32_t)__builtin_ctz(left_), 1); left_ &= left_ - 1)

static uint64_t get_reg(struct exec *x, uint32_t off, bool wide, uint32_t i) {
  if (off == OFF_NONE) return 0;
  return wide ? OPND(uint64_t, off)[i] : OPND(uint32_t, off)[i];
}

static void put_reg(struct exec *x, uint32_t off, bool wide, uint32_t i, uint64_t v) {
  if (off == OFF_NONE) return;
  if (wide) OPND(uint64_t, off)[i] = v;
  else OPND(uint32_t, off)[i] = (uint32_t)v;
}

static uint32_t pred(struct exec *x, uint32_t off, bool neg) {
  return neg ? ~*OPND(uint32_t, off) : *OPND(uint32_t, off);
}

static void put_pred(struct exec *x, uint32_t off, uint32_t mask, uint32_t v) {
  if (off == OFF_NONE) return;
  uint32_t *p = OPND(uint32_t, off);
  *p = (*p & ~mask) | (v & mask);
}

/* One host thread performs accesses in order; then only the checks use fences. */
static void x_fence(struct exec *x, const struct xop *o, uint32_t mask) {
  (void)o;
  if (x->run->granules) atomic_thread_fence(memory_order_seq_cst);
  if (mask && x->run->check) check_fence(x);
}

static void x_nop(struct exec *x, const struct xop *o, uint32_t mask) {
  (void)x, (void)o, (void)mask;
}

/* What one machine instruction executes, in order; its lanes are those of the main one. */
static void x_group(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xop *p = x->ops + o->target;
  uint32_t lanes = mask;
  for (uint32_t g = 0; g < o->imm && !x->fault; g++, p++) {
    uint32_t q = mask;
    if (p->guard != OFF_NONE) q &= *OPND(uint32_t, p->guard) ^ -(uint32_t)p->guard_neg;
    if (g == o->reconv) lanes = q;
    if (q) p->fn(x, p, q);
  }
  x->out->mask = o->reconv == MACH_NO_LANES ? 0 : lanes;
}

/* ---- special registers ---- */

static uint32_t lanemask(enum ptx_sreg r, uint32_t i) {
  switch (r) {
  case SR_LANEMASK_EQ:
    return 1u << i;
  case SR_LANEMASK_LE:
    return (2u << i) - 1;
  case SR_LANEMASK_LT:
    return (1u << i) - 1;
  case SR_LANEMASK_GE:
    return ~((1u << i) - 1);
  default: /* gt */
    return ~((2u << i) - 1);
  }
}

static uint64_t clock_of(const struct exec *x) {
  return x->run->launch.now + x->out->cycle;
}

static uint64_t nanoseconds(const struct exec *x) {
  return clock_of(x) * 1000 / x->run->s->core_mhz;
}

static uint64_t special(struct exec *x, enum ptx_sreg r, uint32_t i) {
  const struct simt_run *run = x->run;
  const struct feed_kernel *k = &run->fk;
  const struct cta *c = x->cta;
  switch (r) {
  case SR_TID_X:
  case SR_TID_Y:
  case SR_TID_Z:
    return run->tids[x->w->index][r - SR_TID_X][i];
  case SR_NTID_X:
  case SR_NTID_Y:
  case SR_NTID_Z:
    return k->block[r - SR_NTID_X];
  case SR_CTAID_X:
  case SR_CTAID_Y:
  case SR_CTAID_Z:
    return c->ctaid[r - SR_CTAID_X];
  case SR_NCTAID_X:
  case SR_NCTAID_Y:
  case SR_NCTAID_Z:
    return k->grid[r - SR_NCTAID_X];
  case SR_LANEID:
    return i;
  case SR_WARPID:
    return c->first_warp + x->w->index;
  case SR_NWARPID:
    return 64;
  case SR_SMID:
    return c->sm;
  case SR_NSMID:
    return run->slots;
  case SR_GRIDID:
    return run->gridid;
  case SR_LANEMASK_EQ:
  case SR_LANEMASK_LE:
  case SR_LANEMASK_LT:
  case SR_LANEMASK_GE:
  case SR_LANEMASK_GT:
    return lanemask(r, i);
  case SR_CLOCK:
    return (uint32_t)clock_of(x);
  case SR_CLOCK_HI:
    return clock_of(x) >> 32;
  case SR_CLOCK64:
    return clock_of(x);
  case SR_GLOBALTIMER:
    return nanoseconds(x);
  case SR_GLOBALTIMER_LO:
    return (uint32_t)nanoseconds(x);
  case SR_GLOBALTIMER_HI:
    return nanoseconds(x) >> 32;
  case SR_ENVREG1:
    return run->launch.grid_workspace >> 32;
  case SR_ENVREG2:
    return (uint32_t)run->launch.grid_workspace;
  case SR_DYNAMIC_SMEM:
    return run->launch.dynamic_shared;
  case SR_RESERVED_1:
    return RESERVED_SHARED / 4;
  case SR_RESERVED_END:
    return RESERVED_SHARED;
  case SR_TOTAL_SMEM:
    return k->shared_bytes;
  default:
    return r >= SR_CLUSTERID_X && r <= SR_CLUSTER_EXPLICIT ? cluster_register(x, r) : 0;
  }
}

static void x_mov_sreg(struct exec *x, const struct xop *o, uint32_t mask) {
  bool wide = o->flags & XF_DST64;
  EACH(mask) put_reg(x, o->d, wide, i, special(x, o->sub, i));
}

static void x_mov_frame(struct exec *x, const struct xop *o, uint32_t mask) {
  uint64_t v = o->imm + x->e->local;
  EACH(mask) put_reg(x, o->d, o->flags & XF_DST64, i, v);
}

/* ---- vectors in registers ---- */

static void x_pack(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  uint32_t bits = o->elem * 8u;
  uint64_t keep = bits >= 64 ? ~0ull : (1ull << bits) - 1;
  EACH(mask) {
    uint64_t v = 0;
    for (uint32_t k = 0; k < a->n; k++) v |= (get_reg(x, a->v[k].off, a->v[k].bytes == 8, i) & keep) << (bits * k);
    put_reg(x, o->d, o->flags & XF_DST64, i, v);
  }
}

static void x_unpack(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct xaux *a = o->aux;
  uint32_t bits = o->elem * 8u;
  uint64_t keep = bits >= 64 ? ~0ull : (1ull << bits) - 1;
  EACH(mask) {
    uint64_t v = get_reg(x, o->a, o->flags & XF_SRC64, i);
    for (uint32_t k = 0; k < a->n; k++) put_reg(x, a->v[k].off, a->v[k].bytes == 8, i, v >> (bits * k) & keep);
  }
}

/* ---- arithmetic ---- */

static struct fp_env environment(const struct xop *o) {
  return (struct fp_env){.round = o->elem,
                         .ftz = o->flags & XF_FTZ,
                         .sat = o->flags & XF_SAT,
                         .approx = o->flags & XF_APPROX,
                         .nan = o->flags & XF_NAN,
                         .relu = o->flags & XF_RELU,
                         .satfinite = o->flags & XF_SATFIN,
                         .xorsign = o->flags & XF_XORSIGN};
}

static void x_cvt_any(struct exec *x, const struct xop *o, uint32_t mask) {
  struct fp_env env = environment(o);
  bool wd = o->flags & XF_DST64, ws = o->flags & XF_SRC64;
  bool sign = ptx_type_kinds[o->type] == 's';
  uint32_t bytes = ptx_type_bytes[o->type];
  EACH(mask) {
    uint64_t v;
    if (o->b != OFF_NONE) { /* cvt.f16x2.f32 d, a, b: a is the upper half */
      int half = o->type == T_F16X2 ? T_F16 : T_BF16;
      v = fp_convert(half, o->type2, &env, false, get_reg(x, o->a, ws, i)) << 16 |
          fp_convert(half, o->type2, &env, false, get_reg(x, o->b, ws, i));
    } else {
      v = fp_convert(o->type, o->type2, &env, o->vec, get_reg(x, o->a, ws, i));
    }
    if (sign && bytes < 8) { /* a wider register holds the sign-extended value */
      uint32_t shift = 64 - 8 * bytes;
      v = (uint64_t)((int64_t)(v << shift) >> shift);
      if (bytes == 2 && !wd) v &= 0xFFFFFFFFu;
    }
    put_reg(x, o->d, wd, i, v);
  }
}

static void x_fp_any(struct exec *x, const struct xop *o, uint32_t mask) {
  struct fp_env env = environment(o);
  bool wide = o->type == T_F64;
  EACH(mask)
  put_reg(
      x, o->d, wide, i,
      fp_eval(o->sub, o->type, &env, get_reg(x, o->a, wide, i), get_reg(x, o->b, wide, i), get_reg(x, o->c, wide, i)));
}

static void x_int_any(struct exec *x, const struct xop *o, uint32_t mask) {
  bool wide = ptx_type_bytes[o->type] == 8;
  bool counts = o->sub == INT_POPC || o->sub == INT_CLZ || o->sub == INT_BFIND; /* 32-bit results */
  bool narrow = o->sub == INT_BFE || o->sub == INT_BFI;                         /* 32-bit positions */
  EACH(mask) {
    const uint64_t v[] = {get_reg(x, o->a, wide, i), get_reg(x, o->b, wide && o->sub != INT_BFE, i),
                          get_reg(x, o->c, wide && !narrow, i), get_reg(x, o->d2, false, i)};
    put_reg(x, o->d, wide && !counts, i, int_eval(o->sub, o->type, o->type2, o->flags, v));
  }
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc: the carry is one bit per lane of the warp. */
static void x_carry_any(struct exec *x, const struct xop *o, uint32_t mask) {
  bool wide = ptx_type_bytes[o->type] == 8, sign = ptx_type_kinds[o->type] == 's';
  uint32_t carry = x->w->carry, out = carry;
  EACH(mask) {
    uint64_t a = get_reg(x, o->a, wide, i), b = get_reg(x, o->b, wide, i),
             in = o->flags & XF_CARRY ? carry >> i & 1 : 0;
    unsigned __int128 r;
    bool c;
    if (o->sub == 2) {
      uint64_t p;
      if (wide)
        p = o->flags & XF_HI ? (sign ? (uint64_t)(((__int128)(int64_t)a * (int64_t)b) >> 64)
                                     : (uint64_t)(((unsigned __int128)a * b) >> 64))
                             : a * b;
      else {
        uint64_t full = sign ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : a * b;
        p = o->flags & XF_HI ? full >> 32 : full & 0xFFFFFFFFu;
      }
      r = (unsigned __int128)p + get_reg(x, o->c, wide, i) + in;
      c = wide ? r >> 64 & 1 : r >> 32 & 1;
    } else if (o->sub == 1) {
      r = (unsigned __int128)a - b - in;
      c = (unsigned __int128)b + in > a;
    } else {
      r = (unsigned __int128)a + b + in;
      c = wide ? r >> 64 & 1 : r >> 32 & 1;
    }
    put_reg(x, o->d, wide, i, (uint64_t)r);
    out = (out & ~(1u << i)) | (uint32_t)c << i;
  }
  if (o->flags & XF_CC) x->w->carry = out;
}

static void x_slct(struct exec *x, const struct xop *o, uint32_t mask) {
  bool wide = ptx_type_bytes[o->type] == 8;
  EACH(mask) {
    uint32_t c = OPND(uint32_t, o->c)[i];
    bool ge = (int32_t)c >= 0;
    if (o->type2 == T_F32) {
      float f;
      memcpy(&f, &c, 4);
      ge = f >= 0 || ((o->flags & XF_FTZ) && !(c & 0x7F800000u));
    }
    put_reg(x, o->d, wide, i, get_reg(x, ge ? o->a : o->b, wide, i));
  }
}

/* lop3.and, lop3.or: the predicate is (result != 0) op q; the result may be discarded. */
static void x_lop3_p(struct exec *x, const struct xop *o, uint32_t mask) {
  uint32_t q = pred(x, o->p, o->flags & XF_NEG_C), nonzero = 0;
  EACH(mask) {
    uint32_t a = OPND(uint32_t, o->a)[i], b = OPND(uint32_t, o->b)[i], c = OPND(uint32_t, o->c)[i], r = 0;
    for (uint32_t row = 0; row < 8; row++)
      if (o->imm >> row & 1) r |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    nonzero |= (uint32_t)(r != 0) << i;
    put_reg(x, o->d, false, i, r);
  }
  put_pred(x, o->d2, mask, o->sub ? nonzero | q : nonzero & q);
}

static void x_copysign(struct exec *x, const struct xop *o, uint32_t mask) { /* the sign of a on b */
  bool wide = o->type == T_F64;
  uint64_t s = wide ? 1ull << 63 : 1ull << 31;
  EACH(mask) put_reg(x, o->d, wide, i, (get_reg(x, o->a, wide, i) & s) | (get_reg(x, o->b, wide, i) & ~s));
}

bool generic_compare(uint32_t cmp, double a, double b) {
  switch (cmp) {
  case 0:
    return a == b;
  case 1:
    return a != b;
  case 2:
    return a < b;
  case 3:
    return a <= b;
  case 4:
    return a > b;
  default:
    return a >= b;
  }
}

static bool compare_floats(uint32_t cmp, float a, float b) {
  bool nan = a != a || b != b;
  if (cmp >= 12) return nan == (cmp == 13);               /* num, nan */
  return nan ? cmp >= 6 : generic_compare(cmp % 6, a, b); /* from 6 on the unordered forms */
}

static float half_value(int type, uint64_t bits) {
  struct fp_env env = {.round = FP_RN};
  uint32_t w = (uint32_t)fp_convert(T_F32, type, &env, false, bits & 0xFFFF);
  float f;
  memcpy(&f, &w, 4);
  return f;
}

/* setp and set on half precision: one element, or two whose results go to p and q or to the halves of the result. */
static void x_setp_half(struct exec *x, const struct xop *o, uint32_t mask) {
  int src = o->flags & XF_SET ? o->type2 : o->type;
  bool pair = src == T_F16X2 || src == T_BF16X2, bf = src == T_BF16 || src == T_BF16X2;
  uint32_t r[2] = {0, 0};
  EACH(mask) {
    for (int k = 0; k <= pair; k++) {
      float a = half_value(bf ? T_BF16 : T_F16, get_reg(x, o->a, false, i) >> 16 * k),
            b = half_value(bf ? T_BF16 : T_F16, get_reg(x, o->b, false, i) >> 16 * k);
      r[k] |= (uint32_t)compare_floats(o->elem, a, b) << i;
    }
  }
  if (!pair) r[1] = ~r[0];
  if (o->sub) {
    uint32_t c = pred(x, o->p, o->flags & XF_NEG_C);
    for (int k = 0; k < 2; k++) r[k] = o->sub == 1 ? r[k] & c : o->sub == 2 ? r[k] | c : r[k] ^ c;
  }
  if (!(o->flags & XF_SET)) {
    put_pred(x, o->d, mask, r[0]);
    put_pred(x, o->d2, mask, r[1]);
    return;
  }
  uint32_t one = o->type == T_F32                           ? 0x3F800000u
                 : o->type == T_F16 || o->type == T_F16X2   ? 0x3C00
                 : o->type == T_BF16 || o->type == T_BF16X2 ? 0x3F80
                 : pair || ptx_type_bytes[o->type] == 2     ? 0xFFFF
                                                            : 0xFFFFFFFFu;
  EACH(mask) put_reg(x, o->d, false, i, (r[0] >> i & 1 ? one : 0) | (pair && (r[1] >> i & 1) ? one << 16 : 0));
}

/* Has a short sequence of instructions no exact result? back/rare.c says whence. */
static bool is_rare_f32(uint32_t op, uint32_t a, uint32_t b) {
  enum { BIAS = 127, TOP = 255, DIGITS = 24 };
  uint32_t of_a = a >> 23 & TOP, of_b = b >> 23 & TOP;
  if (op == OP_SQRT) return a - 0x0D000000u > 0x727FFFFFu;
  if (op == OP_RCP) return ((a + 0x01800000u) & 0x7F800000u) <= 0x01FFFFFFu;
  int32_t quotient = (int32_t)of_a - (int32_t)of_b;
  bool a_normal = of_a > DIGITS && of_a < TOP, b_normal = of_b && of_b < 2 * BIAS - 1;
  return !a_normal || !b_normal || quotient >= BIAS || quotient <= 1 - BIAS;
}

static bool is_rare_f64(uint32_t op, uint64_t a, uint64_t b) {
  uint32_t high = (uint32_t)(a >> 32);
  if (op == OP_SQRT) return high - 0x03500000u >= 0x7CA00000u;
  if (op == OP_RSQRT) return high - 0x00100000u >= 0x7FE00000u;
  if (op == OP_RCP) return ((high + 0x00300402u) & 0x7FFFFFFFu) < 0x00400402u;
  double x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  double q = x / y;
  uint64_t bits;
  memcpy(&bits, &q, sizeof bits);
  uint32_t of_q = bits >> 32 & 0x7FFFFFFFu;
  return (high & 0x7FFFFFFFu) <= 0x035B7333u || of_q <= 0x00055555u || of_q > 0x7F800000u;
}

static void x_rare(struct exec *x, const struct xop *o, uint32_t mask) {
  bool wide = o->type == T_F64;
  uint32_t r = 0;
  EACH(mask) {
    uint64_t a = get_reg(x, o->a, wide, i), b = get_reg(x, o->b, wide, i);
    r |= (uint32_t)(wide ? is_rare_f64(o->sub, a, b) : is_rare_f32(o->sub, (uint32_t)a, (uint32_t)b)) << i;
  }
  put_pred(x, o->d, mask, r);
}

static void x_testp(struct exec *x, const struct xop *o, uint32_t mask) {
  bool wide = o->type == T_F64;
  uint32_t r = 0;
  EACH(mask) {
    uint64_t v = get_reg(x, o->a, wide, i), exp = wide ? v >> 52 & 0x7FF : v >> 23 & 0xFF,
             frac = wide ? v << 12 : v << 41, top = wide ? 0x7FF : 0xFF;
    bool t = false;
    switch (o->sub) {
    case M_FINITE:
      t = exp != top;
      break;
    case M_INFINITE:
      t = exp == top && !frac;
      break;
    case M_NUMBER:
      t = exp != top || !frac;
      break;
    case M_NOTANUMBER:
      t = exp == top && frac;
      break;
    case M_NORMAL:
      t = exp && exp != top;
      break;
    default:
      t = !exp && frac;
      break;
    }
    r |= (uint32_t)t << i;
  }
  put_pred(x, o->d, mask, r);
}

static void x_isspacep(struct exec *x, const struct xop *o, uint32_t mask) {
  uint32_t r = 0;
  EACH(mask) {
    uint64_t a = get_reg(x, o->a, o->flags & XF_SRC64, i);
    bool shared = a - SHARED_WINDOW < WINDOW_BYTES, local = a - LOCAL_WINDOW < WINDOW_BYTES;
    if (o->vec && shared) { /* .shared::cta: not another CTA's memory */
      uint64_t k = (a - SHARED_WINDOW) >> CLUSTER_SHIFT;
      shared = !k || k == x->cta->rank + 1u;
    }
    bool t = o->sub == SPACE_SHARED   ? shared
             : o->sub == SPACE_LOCAL  ? local
             : o->sub == SPACE_GLOBAL ? !shared && !local
                                      : false;
    r |= (uint32_t)t << i;
  }
  put_pred(x, o->d, mask, r);
}

/* ---- across lanes: legacy and .sync forms alike work on the lanes that execute together ---- */

static void x_vote(struct exec *x, const struct xop *o, uint32_t mask) {
  uint32_t p = pred(x, o->p, o->flags & XF_NEG_C) & mask;
  EACH(mask) {
    uint32_t members = o->a == OFF_NONE ? mask : OPND(uint32_t, o->a)[i] & mask, v = p & members;
    if (o->sub == 3) {
      put_reg(x, o->d, false, i, v);
      continue;
    }
    bool t = o->sub == 0 ? v == members : o->sub == 1 ? v != 0 : v == members || !v;
    put_pred(x, o->d, 1u << i, t ? FULL_MASK : 0);
  }
}

static void x_shfl(struct exec *x, const struct xop *o, uint32_t mask) {
  uint32_t src[LANES], p = 0, out[LANES];
  memcpy(src, OPND(uint32_t, o->a), sizeof src);
  EACH(mask) {
    uint32_t b = OPND(uint32_t, o->b)[i] & 31, c = OPND(uint32_t, o->c)[i], seg = c >> 8 & 31, clamp = c & 31;
    uint32_t max = (i & seg) | (clamp & ~seg), min = i & seg;
    int j;
    bool ok;
    switch (o->sub) {
    case 0:
      j = (int)i - (int)b, ok = j >= (int)max;
      break;
    case 1:
      j = (int)(i + b), ok = j <= (int)max;
      break;
    case 2:
      j = (int)(i ^ b), ok = j <= (int)max;
      break;
    default:
      j = (int)(min | (b & ~seg)), ok = j <= (int)max;
      break;
    }
    if (!ok) j = (int)i;
    /* PTX leaves the value of an inactive lane undefined. GPUs return 0: NVIDIA's sample `reduction` adds the eight
     * sums of a CTA with the shuffles of a whole warp. */
    out[i] = mask >> j & 1 ? src[j] : 0;
    p |= (uint32_t)ok << i;
  }
  EACH(mask) put_reg(x, o->d, false, i, out[i]);
  put_pred(x, o->d2, mask, p);
}

static void x_match(struct exec *x, const struct xop *o, uint32_t mask) {
  bool wide = o->flags & XF_SRC64;
  uint32_t r[LANES], p = 0;
  EACH(mask) {
    uint32_t members = OPND(uint32_t, o->b)[i] & mask, same = 0;
    uint64_t v = get_reg(x, o->a, wide, i);
    for (uint32_t m = members; m; m &= m - 1)
      if (get_reg(x, o->a, wide, (uint32_t)__builtin_ctz(m)) == v) same |= m & -m;
    bool all = same == members;
    r[i] = o->sub && !all ? 0 : same;
    p |= (uint32_t)all << i;
  }
  EACH(mask) put_reg(x, o->d, false, i, r[i]);
  put_pred(x, o->d2, mask, p);
}

static void x_activemask(struct exec *x, const struct xop *o, uint32_t mask) {
  EACH(mask) put_reg(x, o->d, false, i, mask);
}

static uint32_t combine_lanes(const struct xop *o, const uint32_t *a, uint32_t members) {
  uint32_t v = a[__builtin_ctz(members)];
  bool sign = o->type == T_S32;
  for (uint32_t m = members & (members - 1); m; m &= m - 1) {
    uint32_t w = a[__builtin_ctz(m)];
    switch (o->sub) {
    case 0:
      v += w;
      break;
    case 1:
      v = (sign ? (int32_t)w < (int32_t)v : w < v) ? w : v;
      break;
    case 2:
      v = (sign ? (int32_t)w > (int32_t)v : w > v) ? w : v;
      break;
    case 3:
      v &= w;
      break;
    case 4:
      v |= w;
      break;
    default:
      v ^= w;
      break;
    }
  }
  return v;
}

/* Groups with different masks may execute one redux together (tiles of a warp). */
static void x_redux(struct exec *x, const struct xop *o, uint32_t mask) {
  uint32_t a[LANES];
  memcpy(a, OPND(uint32_t, o->a), sizeof a);
  for (uint32_t left = mask; left;) {
    uint32_t members = OPND(uint32_t, o->b)[__builtin_ctz(left)] & left;
    if (!members) members = left & -left;
    uint32_t v = combine_lanes(o, a, members);
    EACH(members) put_reg(x, o->d, false, i, v);
    left &= ~members;
  }
}

/* ---- the stack in local memory ---- */

static void x_alloca(struct exec *x, const struct xop *o, uint32_t mask) {
  uint64_t most = 0, align = o->imm ? o->imm : 8;
  bool wide = o->flags & XF_DST64;
  EACH(mask) {
    uint64_t n = get_reg(x, o->a, wide, i);
    if (n > most) most = n;
  }
  uint64_t at = (x->e->local_top + align - 1) & ~(align - 1);
  if (at + most > x->run->local_stride) {
    fault_text(x, o, __builtin_ctz(mask), 719, "stack overflow: alloca of %llu bytes", (unsigned long long)most);
    return;
  }
  x->e->local_top = (uint32_t)((at + most + 15) & ~15ull);
  if (x->e->local_top > x->cta->local_high) x->cta->local_high = x->e->local_top;
  EACH(mask) put_reg(x, o->d, wide, i, at);
}

static void x_stacksave(struct exec *x, const struct xop *o, uint32_t mask) {
  EACH(mask) put_reg(x, o->d, o->flags & XF_DST64, i, x->e->local_top);
}

static void x_stackrestore(struct exec *x, const struct xop *o, uint32_t mask) {
  x->e->local_top = (uint32_t)get_reg(x, o->a, o->flags & XF_DST64, (uint32_t)__builtin_ctz(mask));
}

void simt_generic_handlers(xop_fn *table) {
#define SET(name) table[X_##name] = x_##name
  SET(nop), SET(group), SET(fence), SET(mov_sreg), SET(mov_frame), SET(pack), SET(unpack), SET(cvt_any), SET(fp_any),
      SET(int_any), SET(carry_any), SET(slct);
  SET(copysign), SET(testp), SET(rare), SET(isspacep), SET(vote), SET(shfl), SET(match), SET(activemask), SET(redux);
  SET(alloca), SET(stacksave), SET(stackrestore), SET(setp_half), SET(lop3_p);
#undef SET
  simt_atom_handlers(table);
  simt_wide_handlers(table);
  simt_tex_handlers(table);
  simt_matrix_handlers(table);
  simt_sm90_handlers(table);
  simt_cluster_handlers(table);
  simt_video_handlers(table);
}
