/* league.h - shared by the files of `sluice league`: what it reads from a results file, and its options. */
#ifndef CLI_CMD_LEAGUE_H
#define CLI_CMD_LEAGUE_H

#include "base/arena.h"
#include "cli/tables/rows.h"

struct league_options {
  const char *file, *classes, *class, *gpu, *size, *study, *html, *figures, *intro;
  struct opt_list add;
  uint64_t top, jobs;
  bool all, csv, json, bound, page;
};

/* What is compared with the baseline's. */
enum league_metric {
  LEAGUE_IPC,
  LEAGUE_ENERGY,
  LEAGUE_TRAFFIC, /* flits between SMs and L2 */
  LEAGUE_DRAM,    /* bytes */
  LEAGUE_METRICS
};

struct league_run {
  int64_t id;
  size_t program, scheme;       /* places in the lists of names */
  double value[LEAGUE_METRICS]; /* NAN: not recorded */
};
/* A scheme in a class. */
struct league_entry {
  size_t class, scheme, rank; /* rank 0: runs are missing */
  size_t programs, of;        /* of the class: with a run of the scheme; with one of the baseline */
  double ipc, low, high;      /* geometric mean over the baseline's, and its 95 % interval; NAN: none */
  double worst, best;
  size_t worst_at, best_at; /* programs */
  double energy, bits;      /* NAN: not known */
};

struct league {
  struct arena arena;
  struct db *db;
  const char *gpu, *size; /* the chosen ones */
  bool chosen;
  const char **gpus, **sizes, **programs, **schemes, **classes; /* class 0: all */
  size_t gpu_count, size_count, program_count, scheme_count, class_count;
  size_t base; /* the baseline among the schemes */
  struct league_run *run;
  size_t run_count;
  size_t *class_of; /* each program's, 0: none */
  struct league_entry *entry;
  size_t entries;
};

/* The finished runs of the chosen machine and inputs in `l->db`. */
bool league_load(struct league *l, const struct league_options *o, struct err *e);
bool league_classes(struct league *l, const char *suite, struct err *e);
void league_free(struct league *l);
/* Mean of the runs (replicas) of a program under a scheme; 0: none. */
double league_mean(const struct league *l, size_t program, size_t scheme, enum league_metric m);
size_t league_scheme(const struct league *l, const char *name); /* scheme_count: the file has no run of it */
double league_bits(const struct league *l, size_t scheme);      /* that it adds to the GPU; NAN: not known */

/* A geometric mean over programs with its 95 % interval (Student's t of the logarithms). */
struct league_ratio {
  double mean, low, high; /* NAN: none */
  size_t programs;
};
struct league_ratio league_ratio_of(const double *ratio, size_t n);
/* Over the baseline's, of a class of programs (0: all). */
struct league_ratio league_over_base(const struct league *l, size_t class, size_t scheme, enum league_metric m);

/* league_bound.c: how much of the distance between the baseline and a bound a scheme covers: the sum of the logarithms
 * of its ratios of IPC over that of the bound's, over the programs in which the bound gains 1 % or more. 95 % interval
 * by the jackknife. */
struct league_ratio league_share(const struct league *l, size_t scheme, size_t bound);
/* The shares of `min` and `l2-min`, and what holds each program up under the baseline. */
bool league_bound(const struct league *l, struct err *e);
struct table *league_limits(const struct league *l);
/* league_page.c: all machines of the file as a page in Markdown; with --figures what its first table shows, drawn. */
bool league_page(struct db *db, const struct league_options *o, struct err *e);
/* Run the schemes of --add as the file's largest study of that machine runs its own. Exit code. */
int league_add(const struct league_options *o);

#endif
