/* input.h - recorded kernels, whatever file they come from: launches in order, and per launch the warps' instructions.
 *
 * Every reader of the room (own format, Accel-Sim, CSV) fills a `struct trace_input`; whoever replays, prints, compares
 * or converts a trace sees only that. Order of use: trace_open; per event `next`; for a launch that is wanted `begin`,
 * then per CTA `open_cta`, `step` of its warps in any interleaving, `close_cta`; at the end `close`. A launch that is
 * not wanted is skipped by calling `next` again.
 */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ptx/feed.h"
#include "trace/common/order.h"

enum trace_event_kind { TRACE_END, TRACE_COPY, TRACE_LAUNCH };

struct trace_event {
  enum trace_event_kind kind;
  /* TRACE_COPY; addr: on the device, 0 if not known */
  uint64_t addr;
  uint64_t bytes;
  bool to_device;
  /* TRACE_LAUNCH; `kernel` is valid until the next `next` */
  uint32_t launch; /* from 0, in the order of the file */
  const struct feed_kernel *kernel;
  uint64_t warp_insts, thread_insts; /* of the whole launch; 0: the file does not say */
};

struct trace_counts {
  uint64_t warp_insts, thread_insts;
};

struct trace_input;
struct trace_input_ops {
  const char *format; /* "slt", "accel-sim", "csv" */
  /* The next event in the file's order. False with `e`: unreadable from here on (what came before stands). */
  bool (*next)(struct trace_input *t, struct trace_event *ev, struct err *e);
  /* Make `next` go on at launch `launch` (from 0) without reading what lies between, where the format allows it. NULL:
   * the caller skips with `next`. */
  bool (*seek)(struct trace_input *t, uint32_t launch, struct err *e);
  /* Get ready for CTAs of the launch that `next` gave last, at most `slots` of them open at a time. */
  bool (*begin)(struct trace_input *t, uint32_t slots, struct err *e);
  /* Open CTA `cta` (linear id, x fastest; any order, each once) on `slot`: its warps stand before kernel->entry_pc. */
  bool (*open_cta)(struct trace_input *t, uint32_t slot, uint32_t cta, struct err *e);
  /* The next instruction of warp `warp` of the CTA on `slot`: the one at kernel->entry_pc first, then the one at the
   * next_pc of the last answer. Never called after FEED_DONE. Fills of `out`
   *   always:                          active, mask, next_pc (FEED_DONE: no lane goes on)
   *   load, store, atomic with lanes:  space, width, addr[] of the lanes in `mask`; token: nonzero for an atomic that
   *                                    the L2 performs
   *   arrival at a barrier:            bar_id, bar_threads, waits (false: arrives without waiting)
   * and leaves the rest alone: the caller has cleared waits, token and released and set bar_id to FEED_NO_BARRIER.
   * Releasing barriers is not the reader's business. */
  bool (*step)(struct trace_input *t, uint32_t slot, uint32_t warp, struct issued *out, struct err *e);
  /* As `step` for `limit` instructions or some more, up to one that ends the warp or arrives at a barrier: adds them to
   * `n`, and fills next_pc and what belongs to a barrier. For whoever counts and wants no addresses: what it passes
   * over it need not check, and a warp is read by `skim` from beginning to end or not at all. NULL: step. */
  bool (*skim)(struct trace_input *t, uint32_t slot, uint32_t warp, uint32_t limit, struct issued *out,
               struct trace_counts *n, struct err *e);
  void (*close_cta)(struct trace_input *t, uint32_t slot);
  void (*close)(struct trace_input *t);
};

/* First member of every reader's own struct. */
struct trace_input {
  const struct trace_input_ops *ops;
  const char *path;
  const char *program; /* what was recorded, as one line; NULL if the file does not say */
  uint32_t launches;   /* launches in the file; 0 if only reading on will tell */
  /* Told now and then where `next` reads a whole kernel: bytes of the file. NULL: nobody. */
  void (*reading)(void *ctx, uint64_t done, uint64_t total);
  void *reading_ctx;
  const struct trace_order *order; /* what could overlap; NULL: nothing */
  /* With an order: bytes that the program copied to the device, where `next` would have to read kernels to tell. */
  bool knows_copies;
  uint64_t copied;
};

/* Open a trace by its name and first bytes: .slt, kernelslist.g, .traceg (also compressed). NULL with `e`. With
 * `salvage`, a damaged file gives the whole launches before the damage, and `e` (code set) says what is wrong. */
struct trace_input *trace_open(const char *path, bool salvage, struct err *e);
/* Would trace_open take it? By name, or by the first bytes of a file. */
bool trace_is_trace(const char *path);
void trace_close(struct trace_input *t);

#endif
