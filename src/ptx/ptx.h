/* ptx.h - a parsed PTX module: the linked texts, before placement and lowering.
 *
 * Use: ptx_new, ptx_parse per text, ptx_link once, then read the lists; ptx_free releases everything: one arena. */
#ifndef PTX_PTX_H
#define PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "ptx/inst.h"

enum ptx_type {
  T_NONE,
#define T(id, text, bytes, kind) T_##id,
#include "ptx/types.def"
#undef T
  T_COUNT
};

enum ptx_mod {
  M_NONE,
#define M(id, text) M_##id,
#include "ptx/mods.def"
#undef M
  M_COUNT
};

enum ptx_opcode {
  OP_NONE,
#define O(id, text, types, sig, mods, kind, lat) OP_##id,
#include "ptx/ops.def"
#undef O
  OP_COUNT
};

enum ptx_sreg {
  SR_TID_X,
  SR_TID_Y,
  SR_TID_Z,
  SR_NTID_X,
  SR_NTID_Y,
  SR_NTID_Z,
  SR_CTAID_X,
  SR_CTAID_Y,
  SR_CTAID_Z,
  SR_NCTAID_X,
  SR_NCTAID_Y,
  SR_NCTAID_Z,
  SR_LANEID,
  SR_WARPID,
  SR_NWARPID,
  SR_SMID,
  SR_NSMID,
  SR_GRIDID,
  SR_LANEMASK_EQ,
  SR_LANEMASK_LE,
  SR_LANEMASK_LT,
  SR_LANEMASK_GE,
  SR_LANEMASK_GT,
  SR_CLOCK,
  SR_CLOCK_HI,
  SR_CLOCK64,
  SR_GLOBALTIMER,
  SR_GLOBALTIMER_LO,
  SR_GLOBALTIMER_HI,
  SR_PM,
  SR_ENVREG,
  SR_ENVREG1, /* high half, 2 the low: address of the workspace of a cooperative grid */
  SR_ENVREG2,
  SR_DYNAMIC_SMEM,
  SR_TOTAL_SMEM,
  SR_CLUSTERID_X,
  SR_CLUSTERID_Y,
  SR_CLUSTERID_Z,
  SR_NCLUSTERID_X,
  SR_NCLUSTERID_Y,
  SR_NCLUSTERID_Z,
  SR_CLUSTER_CTAID_X,
  SR_CLUSTER_CTAID_Y,
  SR_CLUSTER_CTAID_Z,
  SR_CLUSTER_NCTAID_X,
  SR_CLUSTER_NCTAID_Y,
  SR_CLUSTER_NCTAID_Z,
  SR_CLUSTER_CTARANK,
  SR_CLUSTER_NCTARANK,
  SR_CLUSTER_EXPLICIT,
  SR_ZERO,
  SR_RESERVED_BEGIN, /* the system's part of shared memory, for kernels that read its location */
  SR_RESERVED_1,
  SR_RESERVED_END,
  SR_COUNT
};

struct ptx_func;
struct ptx_var;

struct ptx_reg {
  const char *name;
  uint8_t type;
  uint16_t num;  /* order of declaration in the function, from 1 */
  uint16_t arch; /* the digits in its name: the compiler's number */
};

enum ptx_space { SP_NONE, SP_REG, SP_GLOBAL, SP_SHARED, SP_LOCAL, SP_CONST, SP_PARAM, SP_GENERIC, SP_TEX };

struct ptx_init {        /* one element of an initialiser */
  uint64_t bits;         /* value, or addend of a symbol */
  struct ptx_var *var;   /* address of a variable, */
  struct ptx_func *func; /* or of a function, or neither */
  bool generic;
  uint8_t shift; /* mask operators 0xFF00(sym): the byte taken, 0xff = whole value */
};

struct ptx_var {
  const char *name;
  uint8_t space, type, vec;
  uint8_t bank; /* of constants */
  bool unsized, is_extern, visible, weak, common;
  bool managed; /* one address for host and device */
  bool formal;  /* a parameter of its function, not a variable for call arguments */
  uint32_t align;
  uint64_t bytes; /* 0 when unsized */
  struct ptx_init *init;
  uint32_t inits, elem_bytes;
  struct ptx_func *func; /* owner of locals and parameters, NULL at module scope */
  struct ptx_var *def;   /* after linking: the definition (itself, unless extern) */
  uint32_t text, line, col;
  uint64_t addr;   /* global, const: device address; others: offset in their space */
  uint32_t serial; /* dense index over the module, for marking */
};

enum ptx_opnd_kind {
  OK_NONE,
  OK_REG,
  OK_IMM,
  OK_VEC,
  OK_MEM,
  OK_LABEL,
  OK_VAR,
  OK_FUNC,
  OK_SREG,
  OK_SINK,
  OK_LIST,
  OK_TABLE
};

struct ptx_opnd {
  uint8_t kind;
  uint8_t sreg;
  bool neg;             /* !p, or a negated register operand */
  bool is_float;        /* immediate written as a floating point number: bits hold a double unless is_f32 */
  bool is_f32;          /* immediate written as 0fXXXXXXXX */
  uint8_t n;            /* vector or list length */
  uint8_t sel;          /* component selector .x .y .z .w of a vector register, + 1 */
  bool minus;           /* vmad: -%r */
  uint16_t part;        /* video instructions: the part taken, .b0 to .b3210 or .h0 to .h32; see PTX_PART_* */
  struct ptx_reg *reg;  /* register; base of memory */
  struct ptx_reg *reg2; /* second destination p|q */
  struct ptx_var *var;  /* variable; base of memory */
  struct ptx_func *func;
  struct ptx_opnd *vec; /* elements */
  int64_t imm;          /* value, or byte offset of memory; label: instruction index */
  uint32_t line, col;
};

/* ptx_opnd.part: up to four selectors of 3 bits, the rightmost lowest; from bit 12 their number minus one; then
 * whether any was written, and whether they select bytes rather than half-words. */
enum { PTX_PART_COUNT = 12, PTX_PART_WRITTEN = 1 << 14, PTX_PART_BYTES = 1 << 15 };
/* The rows of the table from the first to the last video instruction. */
#define ptx_is_video(op) ((op) >= OP_VABSDIFF && (op) <= OP_VSUB4)

enum { PTX_MAX_OPNDS = 8, PTX_MAX_TYPES = 4, PTX_MAX_USES = 600 };

struct ptx_inst {
  uint8_t op, ntypes, nops, guard_neg;
  uint8_t types[PTX_MAX_TYPES];
  uint64_t mods[(M_COUNT + 63) / 64];    /* set of modifiers; order is kept where it matters in mod_order */
  uint8_t mod_order[8], nmods, nounroll; /* nounroll: .pragma "nounroll" stands before it */
  struct ptx_reg *guard;
  struct ptx_opnd
      *ops; /* beyond nops there are some of kind OK_NONE: at least 4 in all, 8 where the op has no signature */
  struct ptx_func *proto; /* indirect call: its prototype */
  const char *refused;    /* unsupported instruction: the reason; the op is a trap */
  uint32_t line, col, src_line, src_file;
  uint32_t target;       /* branch: instruction index */
  uint32_t reconv;       /* branch: index of the immediate post-dominator, PTX_EXIT if it is the end of the function */
  struct ptx_mach *mach; /* of a machine instruction (ptx/mach.h), else NULL */
};
#define PTX_EXIT UINT32_MAX

struct ptx_table { /* .branchtargets, .calltargets */
  uint32_t n;
  struct ptx_opnd *labels;
};

struct ptx_func {
  const char *name;
  bool entry, is_extern, visible, weak, proto, has_body, noreturn;
  struct ptx_var **params; /* .param or (as NULL with reg set) .reg formals */
  struct ptx_reg **param_regs;
  struct ptx_var *ret;
  struct ptx_reg *ret_reg;
  uint32_t nparams;
  struct ptx_inst *code;
  uint32_t ncode;
  struct ptx_reg **regs;   /* regs[num] */
  uint32_t nregs;          /* registers, numbered 1..nregs */
  struct ptx_var **locals; /* .local, .param and .shared declared inside */
  uint32_t nlocals;
  struct ptx_func *def;
  uint32_t text, line, maxntid, reqntid, minctas, maxnreg; /* performance directives: 0 if absent */
  uint32_t cluster[3];                                     /* .reqnctapercluster: CTAs of a cluster, 0 if absent */
  bool in_clusters;                                        /* .explicitcluster: launched in clusters */
  uint32_t live_regs, serial, lowered; /* most live 32-bit values; lowered: index among the functions with code */
  uint64_t *live_in;                   /* bit set of registers read before they are written */
  /* By register number: first and last instruction of the text in which it may hold a value; unused: first > last. */
  uint32_t *live_first, *live_last;
  /* machine code: registers, 0: the code is PTX; compute capability, 70 for 7.0; instructions before rare operands' */
  uint32_t mach_regs, mach_sm, mach_common;
  const struct ptx_regions *regions; /* of machine code (ptx/mach.h), NULL: none */
  const char *mach_refused;          /* why a back end left it so, NULL: none was asked, or it did not */
};

/* Bytes. A constant bank and the local memory of a thread have these limits on every GPU, kernel parameters since CUDA
 * 12.1. The smaller limit of shared memory is checked at launch. */
#define PTX_CONST_MOST UINT64_C(65536)
#define PTX_LOCAL_MOST (UINT64_C(512) << 10)
#define PTX_PARAM_MOST UINT64_C(32764)
#define PTX_SHARED_MOST (UINT64_C(1) << 30)
#define PTX_GLOBAL_MOST (UINT64_C(1) << 40)
#define PTX_NEWEST 90 /* newest ISA version of the table, times 10 */

struct ptx_text {
  const char *name, *src;
  uint32_t version, sm; /* 78, 35 */
  bool compiled;        /* declared as generated by a compiler */
  const char *shown;    /* the line of the last error: many errors need one walk over the text */
  uint32_t shown_line;
  uint32_t file_base; /* added to the numbers of its .file directives, so that they are unique in the module */
};

struct ptx_module {
  struct arena arena;
  struct ptx_text *texts;
  uint32_t ntexts;
  struct ptx_func **funcs;
  uint32_t nfuncs, cap_funcs;
  struct ptx_var **vars; /* module scope */
  uint32_t nvars, cap_vars, serials;
  const char **files; /* names from .file, by number + file_base; NULL where there is none */
  uint32_t nfiles;
  struct parser *parser;
  bool compiled; /* the texts parsed from now on come from a compiler, declared or not */
};

struct ptx_op_info {
  const char *name, *sig, *mods;
  uint64_t types; /* bit per enum ptx_type */
  uint8_t kind, lat;
};
enum ptx_lat_family { LF_ONE, LF_ADD, LF_MAX, LF_MUL, LF_MAD, LF_DIV, LF_MUL24, LF_MAD24, LF_SFU, LF_SHFL };
extern const struct ptx_op_info ptx_ops[OP_COUNT];
extern const char *const ptx_mod_names[M_COUNT];
extern const char *const ptx_type_names[T_COUNT];
extern const uint8_t ptx_type_bytes[T_COUNT];
extern const char ptx_type_kinds[T_COUNT];

static inline bool ptx_has(const struct ptx_inst *i, enum ptx_mod m) {
  return i->mods[m / 64] >> (m % 64) & 1;
}
struct ptx_module *ptx_new(void);
void ptx_free(struct ptx_module *m);
/* Parse and type-check one text; `src` must outlive the module. */
bool ptx_parse(struct ptx_module *m, const char *src, const char *name, struct err *e);
/* Do two declarations say the same: state space, type and size; sizes of parameters and results? */
bool ptx_same_var(const struct ptx_var *a, const struct ptx_var *b);
bool ptx_same_func(const struct ptx_func *a, const struct ptx_func *b);
/* Resolve external functions and variables between the texts. `builtin(name)`: the machine provides the function. */
bool ptx_link(struct ptx_module *m, bool (*builtin)(const char *), struct err *e);
/* Reconvergence points, liveness, register estimate of one function. */
void ptx_analyse(struct ptx_module *m, struct ptx_func *f);
/* Report an error at a place of a text: file:line:column, the line, a caret. Returns false. */
struct ptx_place {
  uint32_t text, line, col; /* text: a number of the module's */
};
bool ptx_error(struct ptx_module *m, struct ptx_place at, enum err_code code, struct err *e, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* The instruction form, as in "ld.global.v4.f32". */
const char *ptx_form(struct ptx_module *m, const struct ptx_inst *i);
/* Static facts for the timing model. */
void ptx_decode(const struct ptx_module *m, const struct ptx_func *f, const struct ptx_inst *i, struct inst *out);
/* Numbers of the registers read (with the guard) and written, at most PTX_MAX_USES each; returns the counts. */
void ptx_uses(const struct ptx_inst *i, uint16_t *use, uint32_t *nuse, uint16_t *def, uint32_t *ndef);
/* How many of its leading operands are destinations. */
uint32_t ptx_dests(const struct ptx_inst *i);

#endif
