/* machine.h - the inside of the functional machine, shared by the files of src/simt only.
 *
 * A module's functions are lowered into one array of `struct xop`, parallel to its `struct inst` array. A warp's
 * registers are vectors of 32 lanes: 4-byte slots for values up to 32 bits (16-bit values zero-extended), 8-byte slots
 * for 64-bit values; a predicate is one 32-bit mask. Immediates live in a module-wide pool as broadcast vectors, so
 * that every operand is (base[bit 0], offset) and handlers need not ask.
 */
#ifndef SIMT_MACHINE_H
#define SIMT_MACHINE_H

#include <stddef.h>
#include <stdio.h>

#include "ptx/feed.h"
#include "ptx/ptx.h"
#include "simt/core/check.h"
#include "simt/core/code.h"
#include "simt/core/finding.h"
#include "simt/simt.h"
#include "simt/core/texture.h"

enum { LANES = WARP_LANES };
enum { CTA_BARRIERS = 16, CLUSTER_BARRIER }; /* the 16 that a program names, and that of the cluster */
enum { CLUSTER_WAIT = 3, CLUSTER_ARRIVE };   /* xop.sub of a barrier: 0 sync, 1 arrive, 2 red; of a cluster's: these */
enum { CLUSTER_MOST = 16, CLUSTER_SHIFT = 18 }; /* CTAs of a cluster; bits of an address below the rank plus one */
#define FULL_MASK 0xFFFFFFFFu

/* The generic address space besides global memory: windows of each thread's local and each CTA's shared memory. */
#define SHARED_WINDOW UINT64_C(0x90000000)
#define LOCAL_WINDOW UINT64_C(0x94000000)
#define WINDOW_BYTES UINT64_C(0x04000000)
#define RESERVED_SHARED 1024u             /* the system's part of shared memory */
#define CODE_BASE UINT64_C(0xF0000000000) /* addresses of functions: CODE_BASE + 8 * pc */
#define SYMBOL_BASE UINT64_C(0x100)       /* first .global or .const variable, as in the reference */
#define SYMBOL_LIMIT SHARED_WINDOW

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
  bool releases;                 /* memory: a fence lies in it */
  bool strong;                   /* memory: volatile, or with an order or scope of its own: part of a protocol */
  bool publishes;                /* a store to global memory, before which a warp's first turn ends */
  bool straight;                 /* simple, and neither it nor its successor needs the divergence stack */
  uint8_t type, type2;
  const void *aux; /* struct xaux or other long tail */
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

struct simt_kernel {
  struct simt_kernel_info info;
  struct xfunc *func;
  struct simt_module *m;
  uint32_t set_regs; /* from machine code, 0 unknown */
  bool apart;        /* its last launch, as far as it went, stored to no allocation that it loaded from */
};

struct simt_module {
  struct simt *s;
  struct ptx_module *ptx;
  struct arena arena;
  struct inst *code;
  struct xop *ops;
  uint32_t ninsts;
  struct xfunc *funcs;
  uint32_t nfuncs;
  struct simt_kernel *kernels;
  uint32_t nkernels;
  char *pool; /* broadcast immediates */
  uint32_t pool_bytes, pool_cap;
  struct pooled *pooled; /* where each is in the pool, by its bits: a hash table */
  uint32_t pooled_used, pooled_mask;
  struct tex_ref *texrefs;
  uint32_t ntexrefs;
  size_t refusals; /* instructions that Sluice does not have */
  const char *first_refusal;
  struct simt_module *next;
  uint32_t shared_vars; /* variables in shared memory, */
  uint32_t *shared_of;  /* and which of them one is, by serial: while they are placed */
};

struct mem_block { /* one allocation; sorted by base */
  struct simt_alloc a;
  uint64_t delta; /* host address = device address + delta */
  bool live;
  bool imported;           /* its pages are those of a file: shared, and given back whole */
  uint64_t loaded, stored; /* the last launch that did: by its number */
};

struct simt {
  struct mem_block *blocks;
  uint32_t nblocks, cap_blocks;
  uint64_t capacity, used, next, serial, symbol_next;
  char *map; /* host mapping of [SIMT_GLOBAL_BASE, + capacity) */
  uint64_t map_bytes, delta;
  char *sym_map; /* host mapping of [0, SYMBOL_LIMIT) */
  uint64_t sym_bytes;
  uint64_t generation; /* changes with every allocation and release: invalidates cached ranges */
  struct simt_module *modules;
  struct code_space code;
  xop_fn handlers[X_COUNT];
  int isa;
  enum simt_memory memory;
  uint64_t watchdog; /* of the functional mode; 0: FEED_WATCHDOG */
  uint64_t launches; /* begun */
  uint32_t turn;     /* functional mode: warp instructions of a CTA's turn; 0: CTA by CTA */
  struct simt_strays strays;
  struct findings stray_found;
  FILE *out; /* printf of kernels */
  struct texture_table *tex;
  struct mem_block *freed; /* recent releases, for messages */
  uint32_t nfreed;
  struct check *check; /* NULL unless a check was asked for */
};

struct range {                /* cached allocation of one static instruction */
  uint64_t base, span, delta; /* span: bytes */
};

struct entry { /* divergence stack */
  uint32_t pc, rpc, mask;
  uint32_t frame, local, local_top; /* registers (bytes in the warp's file), local memory */
  uint32_t site;                    /* call: pc of the call instruction */
  uint32_t up_frame, up_local;      /* call: the caller's frames, where the result goes */
  bool call;
};
#define RPC_NONE 0xFFFFFFFFu
#define RPC_RET 0xFFFFFFFEu

enum { OWN_ENTRIES = 9 }; /* more than most kernels need; push finds room for others */

/* Between two instructions of a warp all others have run, so what every instruction looks at is one line of the host's
 * cache: the end of the struct, with the first entry of the stack. */
struct warp {
  uint32_t cap; /* entries at `stack` */
  uint32_t live;
  uint32_t reg_bytes;
  uint32_t carry; /* condition code of add.cc and friends: a mask */
  uint8_t waiting, bar;
  uint32_t bar_value; /* bar.red: where the result goes */
  uint32_t bar_pc, bar_mask, bar_frame;
  uint32_t cluster_lanes;   /* that have arrived at the barrier of the cluster, of a warp that has not as a whole */
  uint64_t cluster_arrived; /* the phase after which it goes on */
  _Alignas(64) struct entry *stack; /* `own`, or elsewhere */
  char *regs;
  uint32_t sp;    /* top is stack[sp - 1] */
  uint32_t index; /* in its CTA */
  struct entry own[OWN_ENTRIES];
};
_Static_assert(offsetof(struct warp, own[1]) % 64 == 0, "a warp's first entry reaches into another line");

struct barrier {
  uint64_t arrived;         /* warps */
  uint32_t expected, count; /* threads; 0: all */
  uint32_t popc, and_, or_;
};

struct cluster { /* CTAs that run together and reach each other's shared memory */
  bool used;
  uint32_t id, ended;           /* CTAs */
  uint32_t live_warps, arrived; /* of all CTAs, those not begun included */
  uint64_t phase;
  struct cta *cta[CLUSTER_MOST]; /* by rank, NULL before its start and after its end */
};

struct cta {
  uint32_t id, ctaid[3], sm, first_warp, slot;
  uint32_t live_warps;
  char *shared, *local;
  struct warp *warps;
  struct barrier bars[CTA_BARRIERS];
  uint64_t waiting;    /* warps at a barrier */
  uint32_t local_high; /* dirty bytes of each thread's local memory */
  bool running;
  uint8_t young; /* short turns that it has yet to get, see simt_run */
  uint32_t rank; /* in its cluster */
  struct cluster *cluster;
  uint64_t cluster_waiting; /* warps at the cluster's barrier */
};

struct token {
  const struct xop *o;
  struct cta *cta;
  struct warp *w;
  uint32_t frame, next;
  uint32_t lanes;   /* to perform */
  uint32_t pending; /* not yet called for, lanes that had nothing to do included */
  uint64_t addr[LANES];
  uint64_t b[LANES], c[LANES];
  uint64_t upper[LANES][2]; /* of b and c where they have 128 bits */
};

struct exec {
  char *base[2]; /* 0: the frame's registers, 1: the immediates */
  struct issued *out;
  struct warp *w;
  struct cta *cta;
  struct entry *e;
  struct simt_run *run;
  const struct xop *ops;
  uint32_t lanes_mask; /* what `lanes` holds */
  uint32_t stray;      /* lanes whose last access in access.c went out of bounds, and was let through */
  bool fault;
  int32_t lanes[LANES] __attribute__((aligned(64))); /* -1 where lanes_mask is set */
};

struct simt_run {
  struct exec x;
  struct simt *s;
  struct simt_module *m;
  struct simt_kernel *k;
  struct feed feed;
  struct feed_kernel fk;
  struct feed_fault fault;
  struct simt_launch launch;
  struct cta *ctas;
  struct cluster *clusters; /* as many as slots */
  uint32_t slots;
  struct warp *warps; /* of all CTA slots, in `warps_block` */
  void *warps_block;
  bool grown; /* some have their stack elsewhere */
  char *regs, *locals, *shareds;
  size_t regs_bytes, locals_bytes, shareds_bytes;
  uint32_t local_stride, shared_stride;
  uint32_t (*tids)[3][LANES]; /* by warp of the CTA */
  char *params;
  struct range *ranges; /* by pc */
  uint64_t generation;
  struct token *tokens;
  uint32_t ntokens, free_token;
  uint64_t number; /* of the launch, from 1 */
  uint64_t instructions, gridid;
  uint64_t charged; /* on top of them: to turns of warps that may be waiting for others */
  struct issued scratch;
  struct children *children;        /* grids launched by the kernel, NULL: none yet */
  struct check_run *check;          /* NULL: nothing is checked beyond bounds */
  uint32_t fast_shared, fast_local; /* bytes that the fast path may reach: all, or none when checking */
};

#define OPND(T, off) ((T *)(x->base[(off)&1] + ((off) & ~1u)))

/* memory.c */
struct mem_block *mem_block_at(struct simt *s, uint64_t addr);
uint64_t mem_alloc_symbol(struct simt *s, uint64_t bytes, uint32_t align, const char *label);
void mem_drop_symbol(struct simt *s, uint64_t addr);
void mem_describe(struct simt *s, uint64_t addr, char *out, size_t size);
/* Host address of bytes outside of allocations, but in a page of 2 MB that one has a part of; else NULL. */
char *mem_in_page(struct simt *s, uint64_t addr, uint32_t bytes);
/* Distance to the nearest byte of an allocation that is of the same kind of address; UINT64_MAX: there is none. */
uint64_t mem_distance(struct simt *s, uint64_t addr);
/* stray.c: an access out of bounds (of `limit` bytes, unless it is one of global memory). Host address where the mode
 * lets it through, NULL where it is a fault. `own`: the memory itself, if more of it is there than was asked for. */
char *stray_access(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, bool write,
                   uint8_t space);
char *stray_limited(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, bool write,
                    uint8_t space, char *own, uint64_t there);
void stray_free(struct simt *s);
/* lower.c */
bool lower_module(struct simt_module *m, struct err *e);
/* lower_op.c */
struct lowering {
  struct simt_module *m;
  struct ptx_func *f;
  struct xfunc *xf;
  struct err *e;
  uint32_t *reg_off; /* by register number */
  uint32_t pc0;
};
bool lower_inst(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_memory(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_address(struct lowering *l, const struct ptx_inst *i, const struct ptx_opnd *m, struct xop *o);
/* video.c */
bool lower_video(struct lowering *l, const struct ptx_inst *i, struct xop *o);
/* b128.c: 128-bit values */
bool lower_mentions_wide(const struct ptx_inst *i);
bool lower_wide_move(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_wide_value(struct lowering *l, const struct ptx_opnd *v, struct xop *o, bool load);
void simt_wide_handlers(xop_fn *table);
/* modern.c */
bool lower_modern(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_cp_modern(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_special(struct lowering *l, const struct ptx_inst *i, struct xop *o);
bool lower_refuse(struct lowering *l, const struct ptx_inst *i, const char *why);
uint32_t lower_operand(struct lowering *l, const struct ptx_opnd *v, enum ptx_type t);
/* The code of a function, NULL if it has none; the function that holds `pc`. */
struct xfunc *lowered_function(const struct simt_module *m, const struct ptx_func *f);
struct xfunc *function_at(const struct simt_module *m, uint32_t pc);
uint32_t lower_const(struct simt_module *m, uint64_t bits, uint32_t slot_bytes);
uint32_t slot_bytes(enum ptx_type t);
void lower_refusal(struct simt_module *m, struct xop *o, const char *why);
struct xaux *lower_aux(struct lowering *l);
struct xopnd lower_elem(struct lowering *l, const struct ptx_opnd *v, enum ptx_type t);
/* handlers by instruction set: bits identical, speed not */
extern const xop_fn simt_handlers_v2[X_COUNT], simt_handlers_v3[X_COUNT], simt_handlers_v4[X_COUNT];
/* fault.c */
int fault_place(struct exec *x, const struct xop *o, int lane, char *out, size_t size);
void fault_address(struct exec *x, const struct xop *o, uint32_t mask, int lane, uint64_t addr, uint32_t bytes,
                   const char *what, int code);
void fault_text(struct exec *x, const struct xop *o, int lane, int code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* access.c: slow paths of memory, called from the handlers */
bool mem_global_slow(struct exec *x, const struct xop *o, uint32_t mask, uint32_t width, bool write);
/* The same from addresses that are still in registers. */
void mem_check_slow(struct exec *x, const struct xop *o, uint32_t mask, bool write);
/* Host address; counts as a read, write or (instruction atom) atomic for the checks. */
char *mem_host(struct exec *x, const struct xop *o, int lane, uint64_t addr, uint32_t bytes, bool write,
               uint8_t *space);
uint8_t mem_one_space(uint32_t mask, const uint8_t *spaces, uint64_t *addr);
/* generic.c, atom.c, tex.c, matrix.c: handlers that are one for all instruction sets */
void simt_generic_handlers(xop_fn *table);
/* tex.c */
void tex_collect(struct simt_module *m);
void tex_free(struct simt *s);
/* atom.c: what memory holds after an atomic of o->sub on o->type */
uint64_t atom_combine(const struct xop *o, uint64_t old, uint64_t b, uint64_t c);
/* warp.c: the divergence stack */
void warp_control(struct exec *x, const struct xop *o, uint32_t mask);
void warp_settle(struct exec *x, struct warp *w);
void warp_start(struct simt_run *r, struct cta *c, uint32_t index);
/* barrier.c */
void barrier_arrive(struct exec *x, const struct xop *o, uint32_t mask);
void barrier_warp_done(struct exec *x);
/* cluster.c */
void cluster_start_cta(struct simt_run *r, struct cta *c);
void cluster_end_cta(struct simt_run *r, struct cta *c);
/* Shared memory of the CTA that *addr names, which becomes an offset in it; NULL with *why. */
char *cluster_shared(struct exec *x, const struct xop *o, int lane, uint64_t *addr, const char **why);
bool lower_mapa(struct lowering *l, const struct ptx_inst *i, struct xop *o);
uint32_t cluster_register(const struct exec *x, enum ptx_sreg s);
void cluster_barrier(struct exec *x, const struct xop *o, uint32_t mask);
void cluster_warp_done(struct exec *x);
/* builtin.c */
bool builtin_known(const char *name);
bool builtin_call(struct exec *x, const struct xop *o, uint32_t mask, const char *name);
uint64_t builtin_argument(struct exec *x, const struct xop *o, uint32_t k, uint32_t lane);
void builtin_bytes(struct exec *x, const struct xop *o, uint32_t k, uint32_t lane, void *out, uint32_t bytes);
void builtin_result(struct exec *x, const struct xop *o, uint32_t lane, uint64_t v);
/* children.c: true of a call if it changed what is allocated */
bool children_known(const char *name);
bool children_call(struct exec *x, const struct xop *o, uint32_t lane, const char *name);
void children_free(struct simt_run *r);

#endif
