/* inst.h - the static instruction as used by the timing model and the traces.
 *
 * A decoded kernel is an array of `struct inst`; the index is the instruction's pc within the kernel. The operation
 * itself is in a parallel array of src/simt: timing needs only pipe, latency class, registers and the kind of memory
 * access.
 */
#ifndef PTX_INST_H
#define PTX_INST_H

#include <stdint.h>

enum { NO_ARCH = 0xFFFF }; /* a register without a number in its name: of no operand bank */

enum inst_pipe { PIPE_SP, PIPE_SFU, PIPE_MEM };

enum inst_kind {
  KIND_ALU,     /* everything that only writes registers */
  KIND_LOAD,    /* ld, ldu, tex, suld */
  KIND_STORE,   /* st, sust */
  KIND_ATOM,    /* atom (with result) and red (without) */
  KIND_BARRIER, /* bar, barrier (also .arrive, .red) */
  KIND_FENCE,   /* membar, fence */
  KIND_BRANCH,  /* bra, brx: may diverge */
  KIND_CALL,    /* call (also of a built-in such as vprintf) */
  KIND_RET,     /* ret from a .func */
  KIND_EXIT,    /* exit, ret of an .entry, trap */
};

/* Rows of the latency table in the GPU configuration: result latency and cycles until the pipe takes the next one. */
enum lat_class {
  LAT_ONE, /* logic, shift, selp, bra, ... */
  LAT_INT_ADD,
  LAT_INT_MAX,
  LAT_INT_MUL,
  LAT_INT_MAD,
  LAT_INT_DIV,
  LAT_INT_MUL24,
  LAT_INT_MAD24,
  LAT_F32_ADD,
  LAT_F32_MAX,
  LAT_F32_MUL,
  LAT_F32_FMA,
  LAT_F32_DIV,
  LAT_F64_ADD,
  LAT_F64_MAX,
  LAT_F64_MUL,
  LAT_F64_FMA,
  LAT_F64_DIV,
  LAT_SFU,
  LAT_TENSOR,
  LAT_TENSOR_F16,
  LAT_SHFL,
  LAT_MOV,
  LAT_CMP,
  LAT_CVT,
  LAT_BIT,
  LAT_COUNT
};

enum mem_space {
  SPACE_NONE,
  SPACE_GLOBAL,
  SPACE_SHARED,
  SPACE_LOCAL,
  SPACE_CONST,
  SPACE_PARAM,
  SPACE_TEX,
  SPACE_GENERIC
};

enum cache_op { CACHE_CA, CACHE_CG, CACHE_CS, CACHE_LU, CACHE_CV, CACHE_WB, CACHE_WT, CACHE_NC };

/* Cache eviction priority of an instruction at the L1 or the L2 (PTX ISA, "Cache Eviction Priority Hints"). NONE: it
 * says nothing; NO_ALLOCATE at the L1 alone. */
enum cache_hint { HINT_NONE, HINT_NORMAL, HINT_FIRST, HINT_LAST, HINT_UNCHANGED, HINT_NO_ALLOCATE };

enum inst_flags {
  INST_VOLATILE = 1 << 0,
  INST_PREDICATED = 1 << 1, /* has a guard predicate; its register is `pred` */
  INST_F64 = 1 << 2,
  INST_FLOAT = 1 << 3,
  INST_NO_RESULT = 1 << 4,  /* red: an atomic without a result */
  INST_RECONVERGE = 1 << 5, /* some branch reconverges here */
  INST_WAITS_3 = 1 << 6,    /* the scoreboard checks the first three sources only */
  INST_STALLS = 1 << 7,     /* machine code: control that touches no pc, whose warp waits as for a branch */
  INST_INDIRECT = 1 << 8,   /* machine code: the branch to a target that a table gives */
};

/* Copies from global to shared memory that a warp does not wait for (cp.async), in groups; ASYNC_WAIT + n waits until n
 * committed groups at most are incomplete. */
enum inst_async { ASYNC_NONE, ASYNC_COPY, ASYNC_COMMIT, ASYNC_WAIT_ALL, ASYNC_WAIT };

enum { INST_MAX_DST = 8, INST_MAX_SRC = 12 };

/* Register numbers are the compiler's virtual registers in order of declaration in the kernel, from 1; 0 means none.
 * Vector operands count one register each. An address register is in `addr_reg` only. */
struct inst {
  uint32_t pc;       /* index in the kernel's code */
  uint32_t fetch_pc; /* byte address of the instruction in code space, without the code base */
  uint8_t pipe, kind, lat, space;
  uint8_t cache_op;
  uint8_t elem_bytes; /* memory: bytes of one element (1, 2, 4, 8, 16) */
  uint8_t vec;        /* memory: elements per lane (1, 2, 4) */
  uint8_t ndst, nsrc;
  uint8_t operand;          /* machine code: 64 B line of the constant banks with an operand, + 1; 0: none */
  uint8_t hint_l1, hint_l2; /* memory: enum cache_hint */
  uint8_t async;            /* enum inst_async */
  uint16_t flags;
  uint16_t pred;     /* guard predicate register, 0 if none */
  uint16_t addr_reg; /* 0 if the address is a symbol or immediate */
  uint16_t dst[INST_MAX_DST];
  uint16_t src[INST_MAX_SRC]; /* data sources, without the guard predicate and the address register */
  /* The same registers by the number in their name (%r15: 15), which selects the operand bank in the reference;
   * predicates and 64-bit registers included, so numbers of different classes coincide. */
  uint16_t dst_arch[INST_MAX_DST], src_arch[INST_MAX_SRC], addr_arch;
  uint32_t ptx_line; /* line in the PTX text, 1-based */
  uint32_t src_line; /* line in the source file from .loc, 0 if unknown */
  uint16_t src_file; /* index of the .file directive, 0 if unknown */
};

#endif
