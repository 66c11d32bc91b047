/* trace_feed.h - a recorded launch as a feed (ptx/feed.h) for the timing model.
 *
 * Barriers are resolved here, in the order of arrival in the timing model. Atomics are complete at issue: their
 * results are already part of the recorded path and addresses.
 */
#ifndef TRACE_TRACE_FEED_H
#define TRACE_TRACE_FEED_H

#include "trace/common/input.h"

struct trace_feed;

/* A feed over the launch last returned by `next` of `t` (`kernel` of that event). `slots`: CTA slots of the machine.
 * NULL with `e`. */
struct trace_feed *trace_feed_new(struct trace_input *t, const struct feed_kernel *kernel, uint32_t slots,
                                  struct err *e);
struct feed *trace_feed_get(struct trace_feed *f);
/* The file error during replay (the feed then reports a fault), or NULL. */
const struct err *trace_feed_error(const struct trace_feed *f);
void trace_feed_free(struct trace_feed *f);

/* ---- without a timing model ---- */
/* Run any feed to its end in functional order: CTAs one after the other, warps of a CTA in turns, atomics at once.
 * CTAs that wait for others share `slots` slots. False: a fault, a deadlock, or no CTA ended in `watchdog` warp
 * instructions (0: FEED_WATCHDOG). */
bool trace_drive(struct feed *f, uint32_t slots, uint64_t watchdog, struct trace_counts *n, struct err *e);

#endif
