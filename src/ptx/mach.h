/* mach.h - machine instructions, as a back end (src/back) makes them of PTX: what one executes, and what it looks like
 * to the timing model.
 *
 * A machine instruction executes any number of instructions of PTX, in order: none (part of a longer sequence), one, or
 * several (a multiplication and the addition that uses it). So the results are those of the PTX whatever is selected.
 */
#ifndef PTX_MACH_H
#define PTX_MACH_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/inst.h"

enum mach_class {
  MC_FP32,
  MC_FP64,
  MC_FP16,
  MC_TENSOR,
  MC_IMAD,
  MC_INT,
  MC_MOV,
  MC_SETP,
  MC_SFU,
  MC_CVT,
  MC_LDG,
  MC_STG,
  MC_LDS,
  MC_STS,
  MC_LDL,
  MC_STL,
  MC_LDC,
  MC_ATOM,
  MC_TEX,
  MC_SHFL,
  MC_BAR,
  MC_BRANCH,
  MC_SYNC,
  MC_S2R,
  MC_UNIFORM,
  MC_OTHER,
  MC_COUNT
};

enum mach_op {
  MO_NONE,
#define MACH(name, cls, lat, pipe, flags) MO_##name,
#include "ptx/mach.def"
#undef MACH
  MO_COUNT
};

struct mach_info {
  const char *name;
  uint8_t cls, lat, pipe;
  uint16_t flags;
};
extern const struct mach_info mach_infos[MO_COUNT];
extern const char *const mach_class_names[MC_COUNT];

/* As the main member of an instruction that executes nothing: no lane takes part, the warp's predicate is false. */
enum { MACH_NO_LANES = 0xFFFF };

struct ptx_inst;
struct ptx_mach {
  uint8_t op;            /* enum mach_op */
  bool own;              /* executes what its ptx_inst says; else `group`, in order */
  uint8_t depth;         /* loops around it */
  uint16_t ngroup, main; /* main: the member whose lanes and addresses are the instruction's */
  struct ptx_inst *group;
  uint8_t nsrc, ndst;
  uint8_t operand;     /* as in struct inst */
  uint16_t addr, pred; /* registers of address and guard, 0 none */
  uint16_t src[INST_MAX_SRC], dst[INST_MAX_DST];
  uint16_t src_bank[INST_MAX_SRC], dst_bank[INST_MAX_DST], addr_bank; /* the physical registers */
};

/* Regions of a function (base/reconverge.h), numbered from 1 on. */
struct ptx_regions {
  uint32_t n;
  uint32_t *of, *up; /* by instruction the innermost region around it, by region the one around that; 0 none */
  uint32_t *end;     /* by region: the instruction at which its lanes wait for each other */
  uint32_t *meet;    /* by region: that at which lanes that leave it meet the others, PTX_EXIT: none */
  uint8_t *waits;    /* by region: it may wait for what another thread writes */
};

#endif
