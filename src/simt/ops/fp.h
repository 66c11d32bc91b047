/* fp.h - exact scalar arithmetic of PTX: every rounding mode, flush, saturation, half precision, approximations, and
 * the integer operations that are too rare for a vector handler. One lane at a time; values travel as bits. */
#ifndef SIMT_OPS_FP_H
#define SIMT_OPS_FP_H

#include <stdbool.h>
#include <stdint.h>

enum fp_round { FP_RN, FP_RZ, FP_RM, FP_RP, FP_RNA };
enum fp_op {
  FP_ADD,
  FP_SUB,
  FP_MUL,
  FP_FMA,
  FP_DIV,
  FP_RCP,
  FP_SQRT,
  FP_RSQRT,
  FP_SIN,
  FP_COS,
  FP_EX2,
  FP_LG2,
  FP_TANH,
  FP_MIN,
  FP_MAX,
  FP_NEG,
  FP_ABS
};
enum int_op {
  INT_POPC,
  INT_CLZ,
  INT_BREV,
  INT_BFIND,
  INT_CNOT,
  INT_BFE,
  INT_BFI,
  INT_MUL24,
  INT_MAD24,
  INT_MADSAT,
  INT_ADDSAT,
  INT_SUBSAT,
  INT_ADD2,
  INT_SUB2,
  INT_MIN2,
  INT_MAX2,
  INT_FNS,
  INT_BMSK,
  INT_DP4A,
  INT_DP2A
};

struct fp_env {
  uint8_t round; /* enum fp_round */
  bool ftz, sat, approx, nan, relu, satfinite, xorsign;
};

float fp_f16_to_f32(uint16_t h);
uint16_t fp_f32_to_f16(float f); /* round to nearest even */
/* Any operation of enum fp_op on values of enum ptx_type `type` (f16, f16x2, bf16, bf16x2, f32, f64). */
uint64_t fp_eval(enum fp_op op, int type, const struct fp_env *env, uint64_t a, uint64_t b, uint64_t c);
/* cvt: from type to type; int_round: the rounding is to an integral value (.rni and friends). */
uint64_t fp_convert(int to, int from, const struct fp_env *env, bool int_round, uint64_t a);
/* `v` holds the values of operands a, b, c and the fourth one; flags: XF_*. */
uint64_t int_eval(enum int_op op, int type, int type2, uint32_t flags, const uint64_t v[4]);

#endif
