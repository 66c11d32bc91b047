/* machine.h - the functional machine and a launch on it: warps, CTAs, clusters. Private to src/simt. */
#ifndef SIMT_CORE_MACHINE_H
#define SIMT_CORE_MACHINE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "ptx/feed.h"
#include "simt/core/check.h"
#include "simt/core/code.h"
#include "simt/core/finding.h"
#include "simt/core/later.h"
#include "simt/core/memory.h"
#include "simt/core/module.h"
#include "simt/core/texture.h"
#include "simt/core/xop.h"
#include "simt/simt.h"

enum { LANES = WARP_LANES };
enum { CTA_BARRIERS = 16, CLUSTER_BARRIER };    /* the 16 named barriers of a program and the cluster's */
enum { CLUSTER_MOST = 16, CLUSTER_SHIFT = 18 }; /* CTAs of a cluster; bits of an address below the rank plus one */
#define FULL_MASK 0xFFFFFFFFu

/* Generic address windows of each thread's local and each CTA's shared memory. */
#define SHARED_WINDOW UINT64_C(0x90000000)
#define LOCAL_WINDOW UINT64_C(0x94000000)
#define WINDOW_BYTES UINT64_C(0x04000000)
#define RESERVED_SHARED 1024u             /* the system's part of shared memory */
#define CODE_BASE UINT64_C(0xF0000000000) /* addresses of functions: CODE_BASE + 8 * pc */
#define SYMBOL_BASE UINT64_C(0x100)       /* first .global or .const variable, as in the reference */
#define SYMBOL_LIMIT SHARED_WINDOW

struct simt {
  struct mem_block *blocks;
  uint32_t nblocks, cap_blocks;
  uint64_t capacity, used, next, serial, symbol_next;
  uint64_t host_base, host_next; /* pinned memory: first address, next address */
  char *map;                     /* host mapping of [SIMT_GLOBAL_BASE, + capacity) */
  uint64_t map_bytes, delta;
  char *sym_map; /* host mapping of [0, SYMBOL_LIMIT) */
  uint64_t sym_bytes;
  uint64_t generation; /* changes with every allocation and release: invalidates cached ranges */
  struct simt_module *modules;
  struct code_space code;
  xop_fn handlers[X_COUNT];
  int isa;
  enum simt_memory memory;
  uint64_t watchdog;     /* of functional mode; 0: FEED_WATCHDOG */
  uint64_t launches;     /* begun */
  uint32_t core_mhz;     /* of %globaltimer */
  uint32_t back_sm;      /* the compute capability (70) whose machine code PTX becomes; 0: it runs as it is */
  uint32_t turn;         /* functional mode: warp instructions of a CTA's turn; 0: CTA by CTA */
  uint32_t threads;      /* functional mode: of the host */
  atomic_flag *granules; /* GRANULE_LOCKS, NULL before the first launch on several threads */
  struct simt_strays strays;
  struct findings stray_found;
  FILE *out; /* printf of kernels */
  struct texture_table *tex;
  struct mem_block *freed; /* recent releases, for messages */
  uint32_t nfreed;
  struct check *check; /* NULL unless a check is on */
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

enum { OWN_ENTRIES = 9 }; /* enough for most kernels; push allocates more */

/* The end of the struct, with the first stack entry, is one cache line of the host: other warps run between two
 * instructions of a warp. */
struct warp {
  uint32_t cap; /* entries at `stack` */
  uint32_t live;
  uint32_t reg_bytes;
  uint32_t carry; /* condition code of add.cc and friends: a mask */
  uint8_t waiting, bar;
  uint32_t bar_pc, bar_mask, bar_frame;
  uint32_t cluster_lanes;           /* lanes that have arrived at the cluster's barrier, of a warp not yet complete */
  uint64_t cluster_arrived;         /* the phase after which it continues */
  _Alignas(64) struct entry *stack; /* `own`, or allocated */
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
  uint32_t live_warps, arrived; /* of all CTAs, including those not started */
  uint64_t phase;
  struct cta *cta[CLUSTER_MOST]; /* by rank, NULL before start and after end */
};

struct cta {
  uint32_t id, ctaid[3], sm, first_warp, slot;
  uint32_t live_warps;
  char *shared, *local;
  struct warp *warps;
  struct barrier bars[CTA_BARRIERS];
  uint64_t waiting;    /* bit set of warps at a barrier */
  uint32_t local_high; /* dirty bytes of each thread's local memory */
  bool running;
  uint8_t young; /* short turns still due, see simt_run */
  uint32_t rank; /* in its cluster */
  struct cluster *cluster;
  uint64_t cluster_waiting; /* bit set of warps at the cluster's barrier */
};

/* Locks of device memory, by granule: a launch on several host threads performs atomics under them. */
enum { GRANULE_SHIFT = 5, GRANULE_LOCKS = 4096 };

struct token {
  const struct xop *o;
  struct cta *cta;
  struct warp *w;
  uint32_t frame, next;
  uint32_t lanes;   /* to perform */
  uint32_t pending; /* lanes still to be performed, including lanes without work */
  uint64_t addr[LANES];
  char *shared[LANES]; /* where a lane's bytes of shared memory are; NULL: in global memory */
  uint64_t b[LANES], c[LANES];
  uint64_t upper[LANES][2]; /* upper halves of b and c for 128-bit operations */
};

struct exec {
  char *base[2]; /* 0: the frame's registers, 1: the immediates */
  struct issued *out;
  struct warp *w;
  struct cta *cta;
  struct entry *e;
  struct simt_run *run;
  const struct xop *ops;
  uint32_t lanes_mask; /* lanes valid in `lanes` */
  uint32_t stray;      /* lanes whose last access in access.c was out of bounds and allowed */
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
  bool grown; /* some warps have an allocated stack */
  char *regs, *locals, *shareds;
  size_t regs_bytes, locals_bytes, shareds_bytes;
  uint32_t local_stride, shared_stride;
  uint32_t (*tids)[3][LANES]; /* by warp of the CTA */
  char *params;
  struct range *ranges; /* by pc */
  uint64_t generation;
  struct token *tokens;
  uint32_t ntokens, free_token;
  uint64_t number; /* number of the launch, from 1 */
  uint64_t instructions, gridid;
  uint64_t charged; /* additional charge for turns of warps that may be spinning */
  struct issued scratch;
  struct children *children; /* grids launched by the kernel, NULL: none */
  struct check_run *check;   /* NULL: only bounds are checked */
  atomic_flag *granules;     /* GRANULE_LOCKS of them; NULL: one host thread runs the launch */
  struct simt_run **forks;   /* simt_share, workers_share */
  bool timed;                /* the latter */
  bool ahead;                /* a fork of the latter within a window: accesses are noted in `later` */
  uint32_t nforks;
  struct later *later;              /* a fork's, NULL: none */
  struct written *written;          /* of the launch and its forks */
  uint32_t fast_shared, fast_local; /* bytes within reach of the fast path: all, or none under a check */
};

#define OPND(T, off) ((T *)(x->base[(off)&1] + ((off) & ~1u)))

#endif
