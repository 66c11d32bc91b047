/* tune.h - searches for a composition of schemes that beats the published ones, by successive halving.
 *
 * Candidates are lists of schemes with parameters drawn from the schemes' own tables. A round runs the remaining
 * candidates on some workloads and keeps the best third for the next, larger round. A part of the suite is held out:
 * no decision uses it, and the winner's score there shows whether it generalises. Runs are stored in a results file,
 * so an interrupted search continues; the same seed gives the same result.
 */
#ifndef STUDY_TUNE_H
#define STUDY_TUNE_H

#include "study/study.h"

struct tune_options {
  const char *suite, *size, *gpu;
  const struct study_set *sets; /* knobs changed for all runs */
  size_t set_count;
  const char *const *pool; /* schemes to compose; NULL: all published ones */
  size_t pool_count;
  uint64_t
      budget; /* simulations of candidates; those of the baseline, published schemes and held-out workloads are extra */
  uint64_t seed;
  const char *estimate; /* bound of --estimate; NULL: everything is timed */
  double hold_out;      /* share of the workloads */
  bool leave_one_out;   /* study_tune_leave_one_out: no halving, nothing is held out throughout */
  struct study_options run;
  study_find_fn find;
};

struct tune_candidate {
  const char *list; /* for --scheme */
  bool published;   /* one scheme with its default parameters */
  bool failed;
  double score;           /* geometric mean of IPC over the baseline's, on the workloads of its last round */
  double train, held_out; /* the same on all training workloads, and on the held-out ones; 0: not run there */
};

struct tune_round {
  size_t candidates, workloads, kept;
  double best;
};

enum { TUNE_ROUNDS = 8, TUNE_FINAL = 5 };
struct tune_result {
  struct arena arena;
  const char **train, **held_out; /* workloads */
  size_t train_count, held_out_count;
  struct tune_round round[TUNE_ROUNDS];
  size_t rounds;
  struct tune_candidate final[TUNE_FINAL]; /* best first, by `train` */
  size_t finals;
  struct tune_candidate *published; /* best first, by `train` */
  size_t published_count;
  size_t simulations; /* in this call: stored runs are not repeated */
};

/* STUDY_STOPPED with `e`. Free the result with arena_free(&r->arena) in any case. */
enum study_end study_tune(const struct tune_options *o, struct db *db, struct tune_result *r, struct err *e);

/* ---- what generalises ---- */

/* Candidates on all workloads. Each workload is left out once: the choice is made on the others (geometric mean of
 * IPC over the baseline's) and judged on it. Members but the last three are the caller's. */
struct tune_left {
  size_t composition, single; /* chosen on the others: of all candidates, of the published ones */
  size_t best;                /* on this workload itself: no choice could do better. SIZE_MAX: the baseline */
};
struct tune_loo {
  const char *const *workload;
  size_t workloads;
  const struct tune_candidate *candidate; /* the first `singles` are published schemes alone */
  size_t candidates, singles;
  const double *ratio;        /* [candidate * workloads + workload]; 0: failed, then the candidate is never chosen */
  size_t composition, single; /* chosen on all workloads */
  struct tune_left *left;     /* of each workload; allocated by the caller */
};
/* At least two workloads, and one published scheme that ran on all of them. */
void tune_choose(struct tune_loo *l);
/* Runs published schemes and `budget` / workloads compositions, drawn before anything is measured, on all workloads of
 * the suite, and chooses. `r` has the memory and the count of simulations. */
enum study_end study_tune_leave_one_out(const struct tune_options *o, struct db *db, struct tune_result *r,
                                        struct tune_loo *l, struct err *e);

#endif
