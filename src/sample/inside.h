/* inside.h - a sample of the CTAs of one launch: a feed that has fewer CTAs, in groups drawn at random, and runs the
 * others functionally in between.
 *
 * A group is as many consecutive CTAs as the GPU holds. The first four and the last of the launch are always timed:
 * with them the machine fills, CTAs cease to run in step, and the machine drains. In between runs of four consecutive
 * groups are drawn. The first of a run misses what its neighbours before it would have left in the caches and in DRAM
 * rows, beside the last the next run begins; the CTAs left out are taken to run at the rate of the two between, in
 * cycles per warp instruction.
 */
#ifndef SAMPLE_INSIDE_H
#define SAMPLE_INSIDE_H

#include "ptx/feed.h"
#include "sample/crew.h"
#include "sample/launchlog.h"

/* A launch is sampled inside if at most half of its groups are then timed, and its CTAs are alike: the longest executes
 * at most `inside_likeness` times the mean (short ones have another rate). INSIDE_ENDS: groups outside the runs. The
 * launches of a cluster that are timed first have INSIDE_FIRST_RUNS together, and each at least INSIDE_FEW_RUNS, which
 * give it a variance. */
enum { INSIDE_RUN = 4, INSIDE_FIRST = 4, INSIDE_ENDS = INSIDE_FIRST + 1 };
enum { INSIDE_FIRST_RUNS = 5, INSIDE_FEW_RUNS = 2 };
extern const double inside_likeness;

struct inside_choice {
  uint32_t resident; /* CTAs of a group */
  uint32_t runs;     /* inside_timed_groups of them are at most what there is */
  uint64_t seed;
  struct crew *crew; /* which runs the CTAs that are not timed, on slots that the machine does not use. Becomes the
                        sample's */
};
/* Groups of a launch. */
uint32_t inside_groups(uint64_t ctas, uint32_t resident);
static inline uint32_t inside_timed_groups(uint32_t runs) {
  return INSIDE_ENDS + INSIDE_RUN * runs;
}

/* The counters of the machine while the sample runs. */
struct inside_source {
  void (*soon)(void *ctx);                          /* the watch of the feed is called soon, */
  bool (*peek)(void *ctx, struct gpu_stats *stats); /* and may take them then */
  void *ctx;
};

struct inside;
struct inside *inside_new(struct feed *inner, const struct inside_choice *c);
void inside_free(struct inside *s);
struct feed *inside_feed(struct inside *s);
/* After the feed has got its watch, before it runs: note the counters at the end of each group. */
void inside_watch(struct inside *s, const struct inside_source *source);
/* The timed CTAs have ended after `cycles`: run the rest. False: a fault of the program, which `inner` describes. */
bool inside_end(struct inside *s);
/* Warp and thread instructions of all CTAs, and the estimates of the whole from the counters of the timed ones. */
struct logged_inside inside_result(const struct inside *s, const struct gpu_stats *timed, uint64_t *warp_insts,
                                   uint64_t *thread_insts);

/* The estimate from the timed part: at points of it, in the order of time, the cycle or a counter and the instructions
 * issued so far. */
struct inside_point {
  double value, insts;
};
/* The launch has `value` plus `rest` instructions at the rate of `n` batches: the first is from points[from] to
 * points[from + size], the next begins `step` points later. They give its variance. */
struct inside_rate {
  uint32_t from, size, step, n;
  double value, rest;
};
struct logged_estimate inside_extrapolate(const struct inside_point *p, const struct inside_rate *r);

#endif
