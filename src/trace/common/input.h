/* input.h - recorded kernels from any file format: launches in order, and per launch the warps' instructions.
 *
 * Every reader of this folder (own format, Accel-Sim, CSV) fills a `struct trace_input`; replay, printing, comparison
 * and conversion use only that. Order of use: trace_open; per event `next`; for a selected launch `begin`, then per
 * CTA `open_cta`, `step` of its warps in any interleaving, `close_cta`; at the end `close`. To skip a launch, call
 * `next` again.
 */
#ifndef TRACE_COMMON_INPUT_H
#define TRACE_COMMON_INPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ptx/feed.h"
#include "trace/common/order.h"

enum trace_event_kind { TRACE_END, TRACE_COPY, TRACE_LAUNCH };

struct trace_event {
  enum trace_event_kind kind;
  /* TRACE_COPY; addr: on the device, 0 if unknown */
  uint64_t addr;
  uint64_t bytes;
  bool to_device;
  /* TRACE_LAUNCH; `kernel` is valid until the next call of `next` */
  uint32_t launch; /* from 0, in the order of the file */
  const struct feed_kernel *kernel;
  uint64_t warp_insts, thread_insts; /* of the whole launch; 0: not in the file */
};

struct trace_counts {
  uint64_t warp_insts, thread_insts;
};

struct trace_input;
struct trace_input_ops {
  const char *format; /* "slt", "accel-sim", "csv" */
  /* The next event in file order. False with `e`: unreadable from here on (earlier events remain valid). */
  bool (*next)(struct trace_input *t, struct trace_event *ev, struct err *e);
  /* Continue `next` at launch `launch` (from 0) without reading the part before, where the format allows it. NULL: the
   * caller skips with `next`. */
  bool (*seek)(struct trace_input *t, uint32_t launch, struct err *e);
  /* Prepare for CTAs of the last launch returned by `next`, at most `slots` of them open at a time. */
  bool (*begin)(struct trace_input *t, uint32_t slots, struct err *e);
  /* Open CTA `cta` (linear id, x fastest; any order, each once) on `slot`: its warps are before kernel->entry_pc. */
  bool (*open_cta)(struct trace_input *t, uint32_t slot, uint32_t cta, struct err *e);
  /* The next instruction of warp `warp` of the CTA on `slot`: the one at kernel->entry_pc first, then the one at the
   * next_pc of the last answer. Never called after FEED_DONE. Fills of `out`
   *   always:                          active, mask, next_pc (FEED_DONE: no lane continues)
   *   load, store, atomic with lanes:  space, width, addr[] of the lanes in `mask`; token: nonzero for an atomic that
   *                                    the L2 performs
   *   arrival at a barrier:            bar_id, bar_threads, waits (false: arrives without waiting)
   * and leaves other fields unchanged: the caller has cleared waits, token and released and set bar_id to
   * FEED_NO_BARRIER. The caller releases barriers. */
  bool (*step)(struct trace_input *t, uint32_t slot, uint32_t warp, struct issued *out, struct err *e);
  /* As `step` for about `limit` instructions, up to one that ends the warp or arrives at a barrier: adds them to `n`,
   * and sets next_pc and the barrier fields. For counting without addresses: skipped data is not checked, and a warp
   * is read by `skim` entirely or not at all. NULL: step. */
  bool (*skim)(struct trace_input *t, uint32_t slot, uint32_t warp, uint32_t limit, struct issued *out,
               struct trace_counts *n, struct err *e);
  void (*close_cta)(struct trace_input *t, uint32_t slot);
  void (*close)(struct trace_input *t);
};

enum { TRACE_SASS = 1 };

/* First member of every reader's own struct. */
struct trace_input {
  const struct trace_input_ops *ops;
  const char *path;
  const char *program; /* the recorded program, as one line; NULL if not in the file */
  uint32_t launches;   /* launches in the file; 0 if unknown before reading it */
  /* Its instructions: 0 those of the PTX, TRACE_SASS those of a GPU, else machine code that Sluice made for this
   * compute capability (70). */
  uint32_t machine;
  /* Progress where `next` reads a whole kernel: bytes of the file. NULL: none. */
  void (*reading)(void *ctx, uint64_t done, uint64_t total);
  void *reading_ctx;
  const struct trace_order *order; /* possible overlap; NULL: none */
  /* With an order: bytes copied to the device, where `next` would have to read kernels to know. */
  bool knows_copies;
  uint64_t copied;
  /* Not NULL: several threads step and close CTAs, each on slots of its own. What slots share is under this lock. */
  pthread_mutex_t *lock;
};

static inline void trace_lock(struct trace_input *t) {
  if (t->lock) pthread_mutex_lock(t->lock);
}
static inline void trace_unlock(struct trace_input *t) {
  if (t->lock) pthread_mutex_unlock(t->lock);
}

/* Open a trace by its name and first bytes: .slt, kernelslist.g, .traceg (also compressed). NULL with `e`. With
 * `salvage`, a damaged file gives the complete launches before the damage, and `e` (code set) describes it. */
struct trace_input *trace_open(const char *path, bool salvage, struct err *e);
/* True if trace_open accepts it, by name or by the first bytes of the file. */
bool trace_is_trace(const char *path);
void trace_close(struct trace_input *t);

#endif
