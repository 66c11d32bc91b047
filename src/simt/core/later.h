/* later.h - loads and stores of global memory by SMs that run ahead of each other (feed_ops.share).
 *
 * Within a window a store is only noted, with its data, and a load gets what is there and is noted too. At the end of
 * each cycle one thread performs the stores of all SMs in the order of the SMs, and repeats the loads that may have
 * missed a store or an atomic before them. Nothing reads the result of a load within the window, whose registers
 * the SM holds back for longer. So every load has the value that it has on one thread, whichever SMs store what it
 * loads.
 */
#ifndef SIMT_CORE_LATER_H
#define SIMT_CORE_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec;
struct simt_run;
bool simt_atomic(struct simt_run *r, uint32_t token, uint32_t lanes); /* feed_ops.atomic */
struct xop;

enum { LATER_STEPS = 8, LATER_THREADS = 16 }; /* cycles of a window, and feeds, at most */

/* The accesses of a feed that shares the launch, by cycle modulo LATER_STEPS; in a cycle those of an SM in order. */
struct later {
  const uint64_t *now; /* the cycle of its SMs */
  char *bytes;         /* struct noted, one behind the other */
  size_t used, room;
  struct later_step {
    size_t *at; /* in `bytes` */
    uint32_t n, room, stores;
  } step[LATER_STEPS];
};

/* What has been written since the window began: never less. */
enum { WRITTEN_BITS = 4096, WRITTEN_SHIFT = 5 }; /* by granules of the widest access */
struct written {
  bool any;
  uint64_t lo, hi; /* host addresses, both included */
  uint64_t bits[WRITTEN_BITS / 64];
};

/* An access of the lanes in `mask` to `width` bytes each, at host[lane] + delta. A load has been performed, a store
 * has not. */
void later_note(struct exec *x, const struct xop *o, uint32_t mask, uint32_t width, bool write, const uint64_t *host,
                uint64_t delta);
/* The atomic `token` has been issued, and nothing waits for it: it is performed where a store would be. */
void later_post(struct simt_run *r, uint32_t token, uint32_t lanes);
/* An atomic has been performed. */
void later_wrote(struct simt_run *r, const void *host);
/* Of the launch: a window begins, or the last one has ended; a cycle of it ends. */
void later_window(struct simt_run *r, bool begins);
void later_settle(struct simt_run *r, uint64_t now);
void later_free(struct simt_run *f);

#endif
