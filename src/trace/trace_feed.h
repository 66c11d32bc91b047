/* trace_feed.h - a recorded launch as a feed (ptx/feed.h): what the timing model runs when it replays.
 *
 * Barriers are resolved here, in the order in which the timing model lets warps arrive. Atomics are over when they are
 * issued: what they returned is in the path and the addresses already.
 */
#ifndef TRACE_TRACE_FEED_H
#define TRACE_TRACE_FEED_H

#include "trace/common/input.h"

struct trace_feed;

/* A feed over the launch that `next` of `t` gave last (`kernel` of that event). `slots`: CTA slots of the machine. NULL
 * with `e`. */
struct trace_feed *trace_feed_new(struct trace_input *t, const struct feed_kernel *kernel, uint32_t slots,
                                  struct err *e);
struct feed *trace_feed_get(struct trace_feed *f);
/* What went wrong in the file while replaying (the feed then reports a fault), or NULL. */
const struct err *trace_feed_error(const struct trace_feed *f);
void trace_feed_free(struct trace_feed *f);

/* ---- without a timing model ---- */
/* Drive any feed to its end in functional order: CTAs one after the other, warps of a CTA in turns, atomics at once.
 * CTAs that wait for others share `slots` slots. False: a fault, a deadlock, or no CTA ended in `watchdog` warp
 * instructions (0: FEED_WATCHDOG). */
bool trace_drive(struct feed *f, uint32_t slots, uint64_t watchdog, struct trace_counts *n, struct err *e);

#endif
