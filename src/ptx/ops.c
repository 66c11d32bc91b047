/* ops.c - the tables behind ops.def, mods.def and types.def. */
#include "ptx/ptx.h"

#define T_1(t) (1ull << T_##t)
#define T_ANY (1ull << T_NONE | ~0ull)
#define T_I163264 (T_1(U16) | T_1(U32) | T_1(U64) | T_1(S16) | T_1(S32) | T_1(S64))
#define T_I3264 (T_1(U32) | T_1(U64) | T_1(S32) | T_1(S64) | T_1(B32) | T_1(B64))
#define T_B3264 (T_1(B32) | T_1(B64))
#define T_B163264 (T_1(B16) | T_1(B32) | T_1(B64))
#define T_F3264 (T_1(F32) | T_1(F64))
#define T_F (T_F3264 | T_1(F16) | T_1(F16X2) | T_1(BF16) | T_1(BF16X2))
#define T_ARITH (T_I163264 | T_F | T_1(U16X2) | T_1(S16X2))
#define T_ARITH_S (T_1(S16) | T_1(S32) | T_1(S64) | T_F)
#define T_LOGIC (T_1(PRED) | T_B163264)
#define T_SELP (T_B163264 | T_I163264 | T_F3264)
#define T_SETD \
  (T_1(U32) | T_1(S32) | T_1(F32) | T_1(F16) | T_1(F16X2) | T_1(BF16) | T_1(BF16X2) | T_1(B32) | T_1(U16) | T_1(S16))
#define T_SETP (T_B163264 | T_I163264 | T_F)
#define T_MEM                                                                                                      \
  (T_B163264 | T_I163264 | T_F3264 | T_1(B8) | T_1(U8) | T_1(S8) | T_1(B128) | T_1(F16) | T_1(F16X2) | T_1(BF16) | \
   T_1(BF16X2))
#define T_MOV (T_B163264 | T_I163264 | T_F | T_1(PRED) | T_1(B128))
#define T_CVT (T_I163264 | T_F | T_1(U8) | T_1(S8) | T_1(TF32) | T_1(E4M3X2) | T_1(E5M2X2) | T_B163264)
#define T_ATOM (T_B3264 | T_I3264 | T_F | T_1(B16) | T_1(B128))

const struct ptx_op_info ptx_ops[OP_COUNT] = {
#define O(id, text, types, sig, mods, kind, lat) [OP_##id] = {text, sig, mods, types, KIND_##kind, LF_##lat},
#include "ptx/ops.def"
#undef O
};

const char *const ptx_mod_names[M_COUNT] = {
#define M(id, text) [M_##id] = text,
#include "ptx/mods.def"
#undef M
};

const char *const ptx_type_names[T_COUNT] = {
#define T(id, text, bytes, kind) [T_##id] = text,
#include "ptx/types.def"
#undef T
};
const uint8_t ptx_type_bytes[T_COUNT] = {
#define T(id, text, bytes, kind) [T_##id] = bytes,
#include "ptx/types.def"
#undef T
};
const char ptx_type_kinds[T_COUNT] = {
#define T(id, text, bytes, kind) [T_##id] = kind,
#include "ptx/types.def"
#undef T
};
