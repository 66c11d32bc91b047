/* module.h - a lowered module: code, functions and kernels. */
#ifndef SIMT_CORE_MODULE_H
#define SIMT_CORE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "ptx/inst.h"
#include "ptx/ptx.h"
#include "simt/core/xop.h"
#include "simt/simt.h"

enum kernel_threads { THREADS_UNKNOWN, THREADS_ONE, THREADS_MANY };
struct simt_kernel {
  struct simt_kernel_info info;
  struct xfunc *func;
  struct simt_module *m;
  uint32_t set_regs;   /* from machine code, 0 if unknown */
  bool apart;          /* the last launch stored to no allocation that it loaded from */
  bool mixes;          /* a launch in detail did */
  uint8_t threads;     /* can its CTAs run on several host threads? enum kernel_threads */
  uint8_t sm_threads;  /* can SMs that run it? */
  bool ordered;        /* of these: its accesses to global memory can be put in order (later.h) */
  uint64_t warp_insts; /* of a warp, in functional mode: mean of the last launch; 0: unknown */
};

struct simt_module {
  struct simt *s;
  struct ptx_module *ptx;
  struct arena arena;
  struct inst *code;
  struct xop *ops;
  uint32_t ninsts;
  /* Of machine code, NULL without regions: as in struct ptx_regions, numbered over all functions. */
  uint32_t *region_of, *region_up, *region_end, *region_meet; /* meet: RPC_NONE for none */
  uint8_t *region_waits;
  uint32_t members; /* of both arrays in all: behind the code, what its groups execute (X_group) */
  struct xfunc *funcs;
  uint32_t nfuncs;
  struct simt_kernel *kernels;
  uint32_t nkernels;
  char *pool; /* broadcast immediates */
  uint32_t pool_bytes, pool_cap;
  struct pooled *pooled; /* hash table: position in the pool by value */
  uint32_t pooled_used, pooled_mask;
  struct tex_ref *texrefs;
  uint32_t ntexrefs;
  size_t refusals; /* unsupported instructions */
  const char *first_refusal;
  struct simt_module *next;
  uint32_t shared_vars; /* variables in shared memory, */
  uint32_t *shared_of;  /* index of a shared variable by serial, during placement */
};

/* Does the instruction lie in the region, or at its end? */
static inline bool region_holds(const struct simt_module *m, uint32_t pc, uint32_t region) {
  if (pc == m->region_end[region]) return true;
  for (uint32_t q = pc < m->ninsts ? m->region_of[pc] : 0; q; q = m->region_up[q])
    if (q == region) return true;
  return false;
}

/* The outermost region that a branch leaves; 0: none. */
static inline uint32_t region_left(const struct simt_module *m, uint32_t from, uint32_t to) {
  uint32_t left = 0;
  for (uint32_t q = m->region_of ? m->region_of[from] : 0; q && !region_holds(m, to, q); q = m->region_up[q]) left = q;
  return left;
}

#endif
