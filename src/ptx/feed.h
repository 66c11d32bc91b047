/* feed.h - the interface between the source of instructions (src/simt executing, src/trace replaying) and the timing
 * model (src/gpu): docs/explanation/architecture.md, "Decisions". The timing model decides when; the feed says what.
 *
 * The timing model starts a CTA on a slot, then issues instructions of its warps one at a time. Issuing executes: the
 * answer carries the lanes' masks and addresses, and where the warp goes next. Barriers are resolved by the feed,
 * which returns the warps that an arrival releases. Atomics return a token at issue and are performed when the timing
 * model says so.
 */
#ifndef PTX_FEED_H
#define PTX_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/inst.h"

enum { WARP_LANES = 32 };
#define FEED_NO_BARRIER 0xff
#define FEED_DONE UINT32_MAX /* next_pc of a warp all of whose lanes have exited */

/* Warps of another CTA of the cluster (on `slot`) that are released. */
enum { FEED_PEERS = 15 };
struct feed_peer {
  uint32_t slot;
  uint64_t warps;
};

struct issued {
  /* in: set by the timing model */
  uint64_t cycle; /* for %clock; without timing FEED_FUNCTIONAL_CYCLES per instruction */
  /* out */
  uint32_t active;      /* lanes on the current path, before the guard predicate */
  uint32_t mask;        /* lanes that execute */
  uint32_t next_pc;     /* the warp's next instruction, or FEED_DONE */
  uint8_t space;        /* memory: the space after resolving generic addresses (never SPACE_GENERIC) */
  uint8_t width;        /* memory: bytes per lane of the whole access (elem_bytes x vec) */
  bool waits;           /* the warp now waits at a barrier */
  uint8_t bar_id;       /* number of the CTA's barrier (of 16) at which the warp arrives; else unchanged */
  uint16_t bar_threads; /* threads that the barrier waits for (a multiple of 32), 0 for all of the CTA */
  uint32_t token;       /* atomics: hand it to `atomic`; 0 if the instruction performed nothing */
  uint64_t
      released;  /* barrier or exit: warps of the CTA (bit = warp in CTA) that are released now; may include this one */
  uint8_t peers; /* entries of `peer`, the same for other CTAs */
  uint32_t remote; /* lanes whose shared memory access goes to another CTA of the cluster */
  struct feed_peer peer[FEED_PEERS];
  /* Lanes' byte addresses in the resolved space, valid where `mask` is set. Global: device address. Shared: offset in
   * the CTA's shared memory. Local: offset in the thread's local memory. Const and param: address in the constant
   * window (see feed_kernel). Texture: the device address of the texel fetched (first one if filtered). */
  uint64_t addr[WARP_LANES];
};

/* Without a timing model, a kernel is stuck if no CTA ends within this many warp instructions (one or two minutes). */
#define FEED_WATCHDOG UINT64_C(2000000000)

/* Advance of %clock per instruction without a timing model: roughly the time of an instruction of a single warp on a
 * GPU, so programs that wait for a number of cycles do not wait long. */
enum { FEED_FUNCTIONAL_CYCLES = 8 };

#define FEED_UNSUPPORTED (-1) /* an instruction that Sluice does not support */
/* A fault of the simulated program; the text is complete (kernel, lines, CTA, thread, address, allocation). */
struct feed_fault {
  int cuda_error; /* the cudaError_t that the runtime reports, 0 if none happened, or FEED_UNSUPPORTED */
  char text[1536];
};

/* Static facts of one launch. */
struct feed_kernel {
  const char *name;        /* as in PTX (mangled) */
  const struct inst *code; /* `insts` entries */
  uint32_t insts;
  uint32_t entry_pc;
  uint32_t grid[3], block[3];
  uint32_t ctas;    /* grid[0]*grid[1]*grid[2] */
  uint32_t cluster; /* CTAs of a cluster, numbered one after the other and started together; 0 or 1: none */
  uint32_t threads_per_cta;
  uint32_t warps_per_cta;   /* ceil(threads / 32) */
  uint32_t regs_per_thread; /* physical registers, for occupancy */
  uint32_t shared_bytes;    /* static + dynamic per CTA */
  uint32_t local_bytes;     /* per thread */
  uint32_t max_reg;         /* highest virtual register number in `code` */
  uint64_t param_base;      /* address of the first kernel parameter in the constant window */
  const char *const *files; /* names of source files by inst.src_file; NULL entries and a NULL array are possible */
  uint32_t nfiles;
  /* Text of an imported trace, for writing it again: one per entry of `code`, and the header of the launch. NULL if
   * none. */
  const char *const *text;
  const char *origin;
};

struct feed;
struct feed_ops {
  /* Begin CTA `cta` (linear id, x fastest) on CTA slot `slot` of the machine. `sm` and `first_warp` (hardware warp slot
   * of its warp 0 on that SM) are for %smid and %warpid. Slots are numbered over the whole machine; a slot is reused
   * after end_cta. All its warps start at kernel->entry_pc. */
  void (*start_cta)(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp);
  /* Execute the instruction at the pc of warp `w` of the CTA on `slot`. False: a fault, described by `fault`. Never
   * called for a warp that is done or waits at a barrier. */
  bool (*issue)(void *ctx, uint32_t slot, uint32_t w, struct issued *out);
  /* Perform the atomic `token` for the lanes in `lanes` (each lane once, lane order); frees the token with its last
   * lane. False: a fault. */
  bool (*atomic)(void *ctx, uint32_t token, uint32_t lanes);
  /* The same in the cycle of its issue, of all lanes at once, by the thread that issued it. NULL: `atomic` does. */
  bool (*posted)(void *ctx, uint32_t token, uint32_t lanes);
  /* All warps of the CTA are done and nothing of it is in flight. */
  void (*end_cta)(void *ctx, uint32_t slot);
  const struct feed_fault *(*fault)(void *ctx);
  /* Warp `w` may issue a memory instruction within the next few cycles: prefetch its data into the host's caches. No
   * other effect. NULL where it would not help. */
  void (*soon)(void *ctx, uint32_t slot, uint32_t w);
  /* The `bytes` of global memory at `addr` as they are now, zero where nothing is allocated. False, or NULL: values are
   * not known; a trace has none. */
  bool (*data)(void *ctx, uint64_t addr, uint32_t bytes, void *out);
  /* For SMs on `n` host threads: as many feeds of the same CTA slots, one for each thread, which last as long as this
   * one. Instructions of different slots may then be issued at the same time, each by one thread; all other calls but
   * end_cta are made by one thread while the others rest. now[i]: the cycle of the SMs of thread i. False: not this
   * launch. NULL: never. */
  bool (*share)(void *ctx, uint32_t n, const uint64_t *const *now, const struct feed **out);
  /* With `share`: a window begins in which the threads' cycles differ, or has ended. Within it loads and stores take
   * effect in the order of cycles, and in a cycle of SMs, if `settle` is called at the end of each cycle. NULL: what
   * is issued does not depend on memory. */
  void (*window)(void *ctx, bool begins);
  void (*settle)(void *ctx, uint64_t now);
  /* False as soon as the order of the launch's instructions may matter in a way that `settle` does not mend. With
   * `share`. */
  bool (*apart)(void *ctx);
};

/* An observer of a launch's progress: called after each CTA that ends, and at intervals in between. */
struct feed_watch {
  void (*look)(void *ctx, const struct feed_kernel *k, uint32_t ended);
  void *ctx;
  uint32_t ended; /* CTAs */
};

struct feed {
  const struct feed_ops *ops;
  void *ctx;
  const struct feed_kernel *kernel;
  struct feed_watch *watch; /* NULL: none. Set before the launch begins */
};

static inline void feed_look(const struct feed *f) {
  if (f->watch) f->watch->look(f->watch->ctx, f->kernel, f->watch->ended);
}
/* Called by the driver of the feed, after end_cta. */
static inline void feed_cta_ended(const struct feed *f) {
  if (!f->watch) return;
  f->watch->ended++;
  feed_look(f);
}

#endif
