/* sass.h - SASS opcodes for the timing model: pipe, latency class, kind and space of an instruction by name.
 *
 * Source: instruction set references in NVIDIA's "CUDA Binary Utilities"; data widths as derived by Accel-Sim's
 * tracer.
 */
#ifndef TRACE_ACCEL_SASS_H
#define TRACE_ACCEL_SASS_H

#include <stdbool.h>
#include <stddef.h>

#include "ptx/inst.h"

enum sass_unit {
  U_F32_ADD,
  U_F32_FMA,
  U_F32_MAX,
  U_F32_MUL,
  U_F16,
  U_TENSOR,
  U_F64_ADD,
  U_F64_FMA,
  U_F64_MUL,
  U_F64_MAX,
  U_INT,
  U_INT_ADD,
  U_INT_MAD,
  U_INT_MUL,
  U_INT_SLOW,
  U_CONVERT,
  U_SFU,
  U_SHUFFLE,
  U_SPECIAL,
  U_UNIFORM,
  U_LOAD_GENERIC,
  U_LOAD_GLOBAL,
  U_LOAD_LOCAL,
  U_LOAD_SHARED,
  U_LOAD_CONST,
  U_COPY_ASYNC,
  U_STORE_GENERIC,
  U_STORE_GLOBAL,
  U_STORE_LOCAL,
  U_STORE_SHARED,
  U_ATOM_GENERIC,
  U_ATOM_GLOBAL,
  U_ATOM_SHARED,
  U_RED_GLOBAL,
  U_BULK,
  U_TEXTURE,
  U_FENCE,
  U_BRANCH,
  U_CALL,
  U_RET,
  U_EXIT,
  U_BARRIER,
  U_UNKNOWN
};

/* The unit of `opcode` (dotted modifiers ignored), U_UNKNOWN if no generation has it. */
enum sass_unit sass_unit_of(const char *opcode, size_t n);
/* Bytes per lane of a memory instruction: its first modifier that is a number of bits, `64` or `U16`; 4 without. */
unsigned sass_width(const char *opcode, size_t n);
/* True if `modifier` is one of the dotted parts of the opcode. */
bool sass_has(const char *opcode, size_t n, const char *modifier);
/* Fill pipe, kind, lat, space, cache_op, elem_bytes, vec and flags of `i`. `memory`: the trace gives addresses;
 * otherwise a memory instruction counts as arithmetic (constant bank operands, textures). `version`: binary version,
 * 70 say. */
void sass_classify(struct inst *i, const char *opcode, size_t n, bool memory, unsigned version);

#endif
