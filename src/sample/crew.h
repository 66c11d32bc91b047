/* crew.h - CTAs of a launch, run functionally on several host threads, one thread for each feed.
 *
 * The CTAs must not wait for each other, and the feeds must allow it (simt_share). What the signer of the launch keeps
 * of a CTA is committed in the order of CTAs: the L2 is the same for any number of threads. It sees the CTAs side by
 * side, and all of a range when crew_run returns.
 */
#ifndef SAMPLE_CREW_H
#define SAMPLE_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/feed.h"
#include "sample/signature.h"

enum { CREW_MOST = 64 };

struct crew;
/* `feed`: `n` of them, each with one slot; they and `s`, between signer_begin and signer_end, outlive the crew.
 * `s` NULL: nothing is signed. */
struct crew *crew_new(struct signer *s, struct feed *const *feed, uint32_t n);
/* One thread, on one slot of any feed. */
struct crew *crew_of_one(struct signer *s, struct feed *feed, uint32_t slot);
void crew_free(struct crew *c);
struct crew_counts {
  uint64_t warp_insts, thread_insts;
};
struct crew_range {
  uint32_t from, to; /* CTAs from `from` to before `to` */
  uint64_t watchdog; /* warp instructions of a CTA, 0: FEED_WATCHDOG */
  uint64_t cycle;    /* at which they begin, for clocks */
};
/* Run them and add to `n`. False: crew_fault. */
bool crew_run(struct crew *c, const struct crew_range *r, struct crew_counts *n);
/* Of the first CTA that has one; text "" if it makes no progress. */
const struct feed_fault *crew_fault(const struct crew *c);
/* CTAs that have ended; `watch` of the launch is called by the thread of crew_run. */
void crew_watch(struct crew *c, struct feed_watch *watch);

#endif
