/* sm90.c - instructions of sm_90: barriers that count arrivals and bytes in shared memory (mbarrier), bulk copies
 * that complete on them, and hints to the hardware.
 *
 * PTX does not define the 64 bits of an mbarrier object. Here: bits 0-19 the expected arrivals of a phase, 20-39 those
 * still pending, 40-62 the bytes still expected (signed), 63 the phase. Copies are performed at issue, so waits are
 * short (PTX ISA 8.0, section "Parallel Synchronization and Communication Instructions: mbarrier").
 */
#include <math.h>
#include <string.h>

#include "simt/core/lower.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"
#include "simt/ops/fp.h"

#define EACH(mask) \
  for (uint32_t left_ = (mask), i = 0; left_ && (i = (uint32_t)__builtin_ctz(left_), 1); left_ &= left_ - 1)

enum { ARRIVALS = 20, TX = 40, PHASE = 63 };
#define COUNT_MASK ((UINT64_C(1) << ARRIVALS) - 1)
#define TX_MASK ((UINT64_C(1) << (PHASE - TX)) - 1)

enum mbar_op {
  MB_INIT,
  MB_INVAL,
  MB_ARRIVE,
  MB_DROP,
  MB_NO_COMPLETE,
  MB_EXPECT,
  MB_COMPLETE,
  MB_ARRIVE_EXPECT,
  MB_DROP_EXPECT,
  MB_WAIT,
  MB_WAIT_PARITY,
  MB_PENDING
};

static uint64_t operand_value(struct exec *x, uint32_t off, bool wide, uint32_t i) {
  if (off == OFF_NONE) return 0;
  return wide ? OPND(uint64_t, off)[i] : OPND(uint32_t, off)[i];
}

static uint64_t operand_address(struct exec *x, const struct xop *o, uint32_t i) {
  uint64_t a = operand_value(x, o->a, o->flags & XF_ADDR64, i) + o->imm;
  return o->flags & XF_ADDR64 || o->a == OFF_NONE ? a : (uint32_t)a;
}

/* ---- the state of an mbarrier ---- */

static uint32_t pending(uint64_t v) {
  return v >> ARRIVALS & COUNT_MASK;
}

/* Subtract `arrivals`, add `tx` expected bytes; a phase with neither remaining completes. */
static uint64_t advance(uint64_t v, uint64_t arrivals, int64_t tx, bool drop) {
  uint64_t expected = v & COUNT_MASK, left = (pending(v) - arrivals) & COUNT_MASK, phase = v >> PHASE,
           bytes = ((v >> TX & TX_MASK) + (uint64_t)tx) & TX_MASK;
  if (drop) expected = (expected - arrivals) & COUNT_MASK;
  if (!left && !bytes) phase ^= 1, left = expected;
  return expected | left << ARRIVALS | bytes << TX | phase << PHASE;
}

static bool complete_bytes(struct exec *x, const struct xop *o, uint32_t lane, uint64_t addr, uint64_t bytes) {
  uint8_t space = addr - SHARED_WINDOW < WINDOW_BYTES ? SPACE_GENERIC : SPACE_SHARED;
  char *p = mem_host(x, o, (int)lane, addr, 8, true, &space);
  if (!p) return false;
  uint64_t v;
  memcpy(&v, p, 8);
  v = advance(v, 0, -(int64_t)bytes, false);
  memcpy(p, &v, 8);
  return true;
}

static void x_mbarrier(struct exec *x, const struct xop *o, uint32_t mask) {
  uint32_t passed = 0;
  EACH(mask) {
    uint64_t n = operand_value(x, o->b, o->flags & XF_SRC64, i), v, old;
    if (o->sub == MB_PENDING) {
      OPND(uint32_t, o->d)[i] = pending(n);
      continue;
    }
    uint8_t space = o->space;
    char *p = mem_host(x, o, (int)i, operand_address(x, o, i), 8, true, &space);
    if (!p) return;
    memcpy(&old, p, 8);
    v = old;
    switch (o->sub) {
    case MB_INIT:
      v = (n & COUNT_MASK) | (n & COUNT_MASK) << ARRIVALS;
      break;
    case MB_INVAL:
      v = 0;
      break;
    case MB_ARRIVE:
    case MB_DROP:
    case MB_NO_COMPLETE:
      v = advance(v, o->b == OFF_NONE ? 1 : n, 0, o->sub == MB_DROP);
      break;
    case MB_EXPECT:
      v = advance(v, 0, (int64_t)n, false);
      break;
    case MB_COMPLETE:
      v = advance(v, 0, -(int64_t)n, false);
      break;
    case MB_ARRIVE_EXPECT:
    case MB_DROP_EXPECT:
      v = (v & ~(TX_MASK << TX)) | (((v >> TX) + n) & TX_MASK) << TX;
      v = advance(v, 1, 0, o->sub == MB_DROP_EXPECT);
      break;
    case MB_WAIT:
      passed |= (uint32_t)(v >> PHASE != n >> PHASE) << i;
      break;
    default:
      passed |= (uint32_t)(v >> PHASE != (n & 1)) << i;
      break;
    }
    if (o->sub < MB_WAIT && o->sub != MB_INIT && o->sub != MB_INVAL && x->run->check) check_signal(x, true);
    if (v != old) memcpy(p, &v, 8);
    if (o->sub < MB_WAIT && o->d != OFF_NONE) OPND(uint64_t, o->d)[i] = old;
  }
  if (o->sub != MB_WAIT && o->sub != MB_WAIT_PARITY) return;
  if (passed && x->run->check) check_signal(x, false);
  if (o->d == OFF_NONE) return;
  uint32_t *d = OPND(uint32_t, o->d);
  *d = (*d & ~mask) | passed;
}

static const struct ptx_opnd *memory_of(const struct ptx_inst *i, uint32_t *at) {
  for (*at = 0; *at < i->nops; ++*at)
    if (i->ops[*at].kind == OK_MEM) return &i->ops[*at];
  return NULL;
}

static bool lower_mbarrier(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  static const struct {
    enum ptx_mod m;
    enum mbar_op op;
  } ops[] = {{M_INIT, MB_INIT},
             {M_INVAL, MB_INVAL},
             {M_ARRIVE, MB_ARRIVE},
             {M_ARRIVE_DROP, MB_DROP},
             {M_NOCOMPLETE, MB_NO_COMPLETE},
             {M_TEST_WAIT, MB_WAIT},
             {M_TRY_WAIT, MB_WAIT},
             {M_PENDING_COUNT, MB_PENDING},
             {M_COMPLETE_TX, MB_COMPLETE}};
  int op = -1;
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
    if (ptx_has(i, ops[k].m)) op = (int)ops[k].op;
  if (ptx_has(i, M_EXPECT_TX)) op = op == MB_ARRIVE ? MB_ARRIVE_EXPECT : op == MB_DROP ? MB_DROP_EXPECT : MB_EXPECT;
  if (op == MB_WAIT && ptx_has(i, M_PARITY)) op = MB_WAIT_PARITY;
  if (op < 0) return lower_malformed(l, i, "no operation such as .init or .arrive");
  o->sub = (uint8_t)op;
  o->id = X_mbarrier;
  if (op == MB_PENDING) {
    if (i->nops != 2) return lower_malformed(l, i, "expected two operands");
    o->d = lower_operand(l, &i->ops[0], T_U32);
    o->b = lower_operand(l, &i->ops[1], T_B64);
    o->flags |= XF_SRC64;
    return true;
  }
  uint32_t at;
  const struct ptx_opnd *m = memory_of(i, &at);
  if (!m || at > 1) return lower_malformed(l, i, "expected an address");
  o->space =
      ptx_has(i, M_SHARED) || ptx_has(i, M_SHARED_CTA) || ptx_has(i, M_SHARED_CLUSTER) ? SPACE_SHARED : SPACE_GENERIC;
  if (!lower_address(l, i, m, o)) return false;
  bool waits = op == MB_WAIT || op == MB_WAIT_PARITY;
  if (at == 1) o->d = lower_operand(l, &i->ops[0], waits ? T_PRED : T_B64);
  if (at + 1u < i->nops) {
    o->b = lower_operand(l, &i->ops[at + 1], op == MB_WAIT ? T_B64 : T_U32);
    if (op == MB_WAIT) o->flags |= XF_SRC64;
  } else if (op != MB_ARRIVE && op != MB_DROP && op != MB_INVAL && op != MB_NO_COMPLETE) {
    return lower_malformed(l, i, "too few operands");
  }
  return true;
}

/* cp.async.mbarrier.arrive{.noinc} [addr]: earlier copies are complete, so this arrives at once; without .noinc the
 * pending count was raised by one first. */
static void x_cp_arrive(struct exec *x, const struct xop *o, uint32_t mask) {
  EACH(mask) {
    uint8_t space = o->space;
    uint64_t v;
    char *p = mem_host(x, o, (int)i, operand_address(x, o, i), 8, true, &space);
    if (!p) return;
    memcpy(&v, p, 8);
    if (o->sub) v = advance(v, 1, 0, false);
    memcpy(p, &v, 8);
    if (x->run->check) check_signal(x, true);
  }
}

/* ---- bulk copies: one lane moves a block ---- */

struct bulk { /* behind xaux.ref */
  uint8_t dst_space, src_space;
  uint32_t dst, bytes, mbar; /* registers or immediates */
  uint64_t dst_imm, mbar_imm;
  bool dst_wide, mbar_wide, signals;
};

static char *block_at(struct exec *x, const struct xop *o, uint32_t lane, uint64_t addr, uint64_t bytes, bool write,
                      uint8_t space) {
  char *p = NULL;
  for (uint64_t at = 0; at < bytes; at += 16) { /* each part is checked; the block is contiguous */
    uint8_t s = space;
    char *q = mem_host(x, o, (int)lane, addr + at, 16, write, &s);
    if (!q) return NULL;
    if (!p) p = q;
  }
  return p;
}

static void x_bulk(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct bulk *k = ((const struct xaux *)o->aux)->ref;
  EACH(mask) {
    uint64_t src = operand_address(x, o, i), dst = operand_value(x, k->dst, k->dst_wide, i) + k->dst_imm,
             n = operand_value(x, k->bytes, false, i);
    x->out->addr[i] = k->src_space == SPACE_GLOBAL ? src : dst;
    if (n % 16) {
      fault_text(x, o, (int)i, 716, "a bulk copy of %llu bytes: not a multiple of 16", (unsigned long long)n);
      return;
    }
    if (n) {
      char *from = block_at(x, o, i, src, n, false, k->src_space),
           *to = from ? block_at(x, o, i, dst, n, true, k->dst_space) : NULL;
      if (!to) return;
      memmove(to, from, n);
    }
    if (k->signals && !complete_bytes(x, o, i, operand_value(x, k->mbar, k->mbar_wide, i) + k->mbar_imm, n)) return;
    if (k->signals && x->run->check) check_signal(x, true);
  }
  x->out->space = SPACE_GLOBAL;
  x->out->width = 16;
}

/* cp.async.bulk.SPACE.SPACE{.mbarrier::complete_tx::bytes} [dst], [src], bytes{, [mbar]} */
static bool lower_bulk(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  if (i->nops < 3 || i->ops[0].kind != OK_MEM || i->ops[1].kind != OK_MEM || ptx_has(i, M_ADD) || i->ops[1].n ||
      i->ops[0].n)
    return lower_refuse(l, i, "");
  struct bulk *k = ARENA_NEW(&l->m->arena, struct bulk);
  struct xaux *a = lower_aux(l);
  bool first_global = false, shared = false;
  for (uint32_t n = 0; n < i->nmods; n++) {
    if (i->mod_order[n] == M_GLOBAL && !shared) first_global = true;
    shared |= i->mod_order[n] == M_SHARED || i->mod_order[n] == M_SHARED_CTA || i->mod_order[n] == M_SHARED_CLUSTER;
  }
  k->dst_space = first_global ? SPACE_GLOBAL : SPACE_SHARED;
  k->src_space = first_global ? SPACE_SHARED : ptx_has(i, M_GLOBAL) ? SPACE_GLOBAL : SPACE_SHARED;
  struct xop dst = *o, mbar = *o;
  o->space = k->src_space, dst.space = k->dst_space, mbar.space = SPACE_SHARED;
  if (!lower_address(l, i, &i->ops[1], o) || !lower_address(l, i, &i->ops[0], &dst)) return false;
  k->dst = dst.a, k->dst_imm = dst.imm, k->dst_wide = dst.flags & XF_ADDR64;
  k->bytes = lower_operand(l, &i->ops[2], T_U32);
  k->mbar = OFF_NONE;
  if (i->nops > 3 && i->ops[3].kind == OK_MEM) {
    if (!lower_address(l, i, &i->ops[3], &mbar)) return false;
    k->mbar = mbar.a, k->mbar_imm = mbar.imm, k->mbar_wide = mbar.flags & XF_ADDR64, k->signals = true;
  }
  a->ref = k;
  o->aux = a;
  o->cls = XC_MEMORY;
  o->id = X_bulk;
  return true;
}

bool lower_cp_sm90(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  if (ptx_has(i, M_PREFETCH)) {
    o->id = X_nop;
    return true;
  }
  if (ptx_has(i, M_BULK)) return lower_bulk(l, i, o);
  uint32_t at;
  const struct ptx_opnd *m = memory_of(i, &at);
  if (!m) return lower_malformed(l, i, "expected an address");
  o->space = ptx_has(i, M_SHARED) || ptx_has(i, M_SHARED_CTA) ? SPACE_SHARED : SPACE_GENERIC;
  o->sub = ptx_has(i, M_NOINC);
  o->id = X_cp_arrive;
  return lower_address(l, i, m, o);
}

/* ---- 8-bit floats: two in 16 bits ---- */

struct fp8 {
  int mantissa, bias;
  double most;
  uint8_t most_bits;
};
static const struct fp8 e4m3 = {3, 7, 448, 0x7E}, e5m2 = {2, 15, 57344, 0x7B};

/* Round to nearest even; larger values become the largest (.satfinite, required by PTX). */
static uint8_t to_fp8(const struct fp8 *f, double v, bool relu) {
  if (isnan(v)) return 0x7F;
  if (relu && !(v > 0)) return 0;
  uint8_t sign = signbit(v) ? 0x80 : 0;
  int e;
  frexp(v, &e);
  e--;
  if (e < 1 - f->bias) e = 1 - f->bias;
  double steps = nearbyint(ldexp(fabs(v), f->mantissa - e));
  if (isinf(v) || ldexp(steps, e - f->mantissa) > f->most) return sign | f->most_bits;
  int n = (int)steps; /* a carry out of the mantissa raises the exponent by itself */
  return sign | (uint8_t)(n < 1 << f->mantissa ? n : n + ((e + f->bias - 1) << f->mantissa));
}

static uint16_t from_fp8(const struct fp8 *f, uint8_t b) {
  int e = (b & 0x7F) >> f->mantissa, m = b & ((1 << f->mantissa) - 1);
  if (f == &e5m2) return (b & 0x7F) > 0x7C ? 0x7FFF : (uint16_t)(b << 8);
  if ((b & 0x7F) == 0x7F) return 0x7FFF;
  double v = e ? ldexp(m + (1 << f->mantissa), e - f->bias - f->mantissa) : ldexp(m, 1 - f->bias - f->mantissa);
  return (uint16_t)(fp_f32_to_f16((float)v) | (b & 0x80) << 8);
}

static double float_of(uint64_t bits) {
  uint32_t w = (uint32_t)bits;
  float v;
  memcpy(&v, &w, 4);
  return v;
}

static void x_cvt_fp8(struct exec *x, const struct xop *o, uint32_t mask) {
  const struct fp8 *to = o->type == T_E4M3X2 ? &e4m3 : &e5m2, *from = o->type2 == T_E4M3X2 ? &e4m3 : &e5m2;
  bool relu = o->flags & XF_RELU;
  EACH(mask) {
    uint64_t a = operand_value(x, o->a, false, i);
    uint32_t r;
    if (o->type == T_F16X2) {
      r = from_fp8(from, (uint8_t)a) | (uint32_t)from_fp8(from, (uint8_t)(a >> 8)) << 16;
      if (relu)
        for (int k = 0; k < 2; k++)
          if ((r >> 16 * k & 0x8000) && (r >> 16 * k & 0x7FFF) <= 0x7C00) r &= ~(0xFFFFu << 16 * k);
    } else if (o->type2 == T_F32) { /* a is the upper half */
      r = (uint32_t)to_fp8(to, float_of(a), relu) << 8 | to_fp8(to, float_of(operand_value(x, o->b, false, i)), relu);
    } else {
      r = to_fp8(to, fp_f16_to_f32((uint16_t)a), relu) | (uint32_t)to_fp8(to, fp_f16_to_f32((uint16_t)(a >> 16)), relu)
                                                             << 8;
    }
    OPND(uint32_t, o->d)[i] = r;
  }
}

/* ---- the rest ---- */

static void x_elect(struct exec *x, const struct xop *o, uint32_t mask) {
  EACH(mask) {
    uint32_t members = OPND(uint32_t, o->a)[i] & mask, leader = members ? (uint32_t)__builtin_ctz(members) : i;
    if (o->d != OFF_NONE) OPND(uint32_t, o->d)[i] = leader;
    if (o->d2 == OFF_NONE) continue;
    uint32_t *p = OPND(uint32_t, o->d2);
    *p = (*p & ~(1u << i)) | (uint32_t)(leader == i) << i;
  }
}

bool lower_sm90(struct lowering *l, const struct ptx_inst *i, struct xop *o) {
  o->id = X_nop;
  switch (i->op) {
  case OP_MBARRIER:
    return lower_mbarrier(l, i, o);
  case OP_ELECT: /* elect.sync d|p, members */
    if (i->nops != 2) return lower_malformed(l, i, "expected two operands");
    o->d = lower_operand(l, &i->ops[0], T_B32);
    if (i->ops[0].reg2) o->d2 = l->reg_off[i->ops[0].reg2->num];
    o->a = lower_operand(l, &i->ops[1], T_B32);
    o->id = X_elect;
    return true;
  case OP_MAPA:
  case OP_GETCTARANK:
    return lower_mapa(l, i, o);
  case OP_CREATEPOLICY: { /* cache hints have no effect, so any policy is valid */
    if (!i->nops || i->ops[0].kind != OK_REG) return lower_malformed(l, i, "expected a register");
    bool slot64 = slot_bytes(i->ops[0].reg->type) == 8 * LANES;
    o->d = lower_operand(l, &i->ops[0], T_B64);
    o->a = lower_const(l->m, 0, slot64 ? 8 : 4);
    o->id = slot64 ? X_mov_64 : X_mov_32;
    return true;
  }
  default: /* griddepcontrol (kernels of a stream follow one another), setmaxnreg, applypriority */
    return true;
  }
}

void simt_sm90_handlers(xop_fn *table) {
  table[X_mbarrier] = x_mbarrier;
  table[X_cp_arrive] = x_cp_arrive;
  table[X_bulk] = x_bulk;
  table[X_elect] = x_elect;
  table[X_cvt_fp8] = x_cvt_fp8;
}
