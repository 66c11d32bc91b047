/* estimate.h - `--estimate`: a program of which a sample of the launches is timed, in the rounds that the bound
 * needs. */
#ifndef CLI_RUN_ESTIMATE_H
#define CLI_RUN_ESTIMATE_H

#include "cli/run/run.h"
#include "sample/estimate.h"
#include "sample/plan.h"

/* What the rounds have found: of each launch its signature, of the timed ones their counters. */
struct estimated {
  struct sample_plan plan;
  struct launchlog log;
  struct plan_range range; /* launches that a whole run would time */
  uint64_t warm;           /* earlier ones are in no sum */
  uint32_t rounds;
  bool reached;         /* the interval of the cycles is within the bound */
  double detailed, all; /* warp instructions timed, and those of the range */
};

/* "error=2%", "2%" or "2" to 0.02. */
bool estimate_bound(const char *text, double *error, struct err *e);
/* Options that --estimate does not go with, and bounds that make no sense. */
bool estimate_fits(const struct sim_options *o, struct err *e);

/* The estimate of one counter, by its place in struct gpu_stats. */
struct estimate estimate_counter(const struct estimated *x, uint32_t offset, struct estimate_part *parts);
/* Turn the record of a round into that of the whole program: its kernels are clusters, its totals estimates; "estimate"
 * holds the intervals. */
void estimate_into_record(const struct estimated *x, const struct gpu_config *c, void *record);
/* Add the truth, a record of the whole program; says on `f` how far off the estimate was. */
void estimate_validate(void *record, const void *truth, FILE *f);
/* The ratio of the cycles of two estimated records of one plan, `a` over `b`, and half its interval, from the launches
 * that both have timed. False: they are not of one plan. */
bool estimate_compared(const void *a, const void *b, double *ratio, double *half);
/* The intervals under the table. */
void estimate_print(const void *record, FILE *f);

/* `sluice run --estimate`. Returns an exit code. */
int run_estimate(const struct command *self, const struct sim_options *o, char **argv);

#endif
