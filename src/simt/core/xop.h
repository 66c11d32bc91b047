/* xop.h - a lowered instruction, which the handlers of src/simt/ops execute, and a lowered function.
 *
 * A module's functions are lowered into one array of `struct xop`, parallel to its `struct inst` array. A warp's
 * registers are vectors of 32 lanes: 4-byte slots for values up to 32 bits (16-bit values zero-extended), 8-byte slots
 * for 64-bit values; a predicate is one 32-bit mask. Immediates live in a module-wide pool as broadcast vectors, so
 * every operand is (base[bit 0], offset) without a branch in the handlers.
 */
#ifndef SIMT_CORE_XOP_H
#define SIMT_CORE_XOP_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/inst.h"
#include "ptx/ptx.h"

enum { CLUSTER_WAIT = 3, CLUSTER_ARRIVE }; /* xop.sub of a barrier: 0 sync, 1 arrive, 2 red; of a cluster's: these */

struct exec;
struct xop;
typedef void (*xop_fn)(struct exec *x, const struct xop *o, uint32_t mask);

enum xop_id {
  X_NONE,
#define X(name) X_##name,
#include "simt/core/xops.def"
#undef X
  X_COUNT
};

enum xop_class { XC_SIMPLE, XC_MEMORY, XC_BRANCH, XC_BRX, XC_CALL, XC_RET, XC_EXIT, XC_TRAP, XC_BARRIER };

enum xop_flags {
  XF_FTZ = 1 << 0,
  XF_SAT = 1 << 1,
  XF_SET_F32 = 1 << 2, /* set.f32: 1.0, else all ones */
  XF_SET = 1 << 3,
  XF_SIGNED = 1 << 4, /* load: sign-extend */
  XF_DST64 = 1 << 5,  /* 8-byte destination slot */
  XF_SRC64 = 1 << 6,  /* 8-byte source slot */
  XF_ADDR64 = 1 << 7, /* the address register has 64 bits */
  XF_CC = 1 << 8,     /* sets the carry flag */
  XF_CARRY = 1 << 9,  /* uses it */
  XF_NEG_C = 1 << 10, /* predicate operand c is negated */
  XF_NAN = 1 << 11,
  XF_HI = 1 << 12,
  XF_APPROX = 1 << 13,
  XF_SATFIN = 1 << 14,
  XF_RELU = 1 << 15,
  XF_SYNC = 1 << 16,
  XF_NEG_A = 1 << 17,
  XF_XORSIGN = 1 << 18,
  XF_FRAME = 1 << 19, /* the address is relative to the frame in local memory */
};

/* Operand offset: byte offset from base[off & 1]; 4-byte aligned, so bit 0 is free. */
#define OFF_CONST 1u
#define OFF_NONE UINT32_MAX

enum { ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_INC, ATOM_DEC, ATOM_EXCH, ATOM_CAS };

struct xop {
  xop_fn fn;
  uint32_t d, a, b, c;
  uint64_t imm;
  uint32_t guard; /* predicate slot, OFF_NONE without */
  uint32_t d2, p; /* second destination; predicate source */
  uint32_t target, reconv;
  uint32_t flags;
  uint16_t id;
  uint8_t cls, guard_neg;
  uint8_t space, elem, vec, sub; /* memory: enum mem_space, bytes, elements; sub: variant within a handler */
  bool releases;                 /* memory: includes a fence */
  bool strong;                   /* memory: volatile, or with an explicit order or scope (synchronisation) */
  bool publishes;                /* a store to global memory; ends a warp's first turn before it */
  bool may_break;                /* a branch out of a region of machine code */
  bool straight;                 /* simple, and neither it nor its successor needs the divergence stack */
  uint8_t type, type2;
  const void *aux; /* struct xaux or another extension */
};

/* Long operand lists: vectors, calls, textures. */
struct xopnd {
  uint32_t off;
  uint8_t bytes, kind; /* slot bytes; kind: 0 register or immediate, 1 parameter variable (offset in frame), 2 none */
  uint32_t size;       /* parameter variable: bytes */
};
struct xaux {
  uint32_t n, nret;
  struct xopnd *v; /* vector elements, or arguments then returns */
  const struct xfunc *func;
  const char *name; /* built-in function, texture name */
  uint32_t *targets;
  uint32_t ntargets;
  const struct ptx_inst *inst;
  int (*builtin)(struct exec *x, const struct xop *o, uint32_t mask);
  void *ref;
  uint32_t op; /* operation code where several share a handler */
};

struct xfunc { /* a lowered function */
  const struct ptx_func *f;
  uint32_t entry, end;   /* pcs */
  uint32_t code_at;      /* first instruction in code space, in instructions */
  uint32_t frame_bytes;  /* registers of a warp */
  uint32_t local_bytes;  /* per thread: .local, arguments, returns */
  struct xopnd *formals; /* kind 1: offset in the local frame; kind 0: register */
  struct xopnd ret;
  uint32_t nformals;
  uint32_t total_frame, total_local; /* including callees, when not recursive */
  uint32_t shared_bytes;
  bool recursive, visited, active;
  uint32_t *zero; /* register offsets to clear at the start */
  uint8_t *zero_bytes;
  uint32_t nzero;
  uint8_t *uses_shared; /* marks shared variables, by shared_of */
};

#endif
