/* league.h - shared by the files of `sluice league`: what it reads from a results file, and its options. */
#ifndef CLI_CMD_LEAGUE_H
#define CLI_CMD_LEAGUE_H

#include "base/arena.h"
#include "cli/tables/rows.h"

struct league_options {
  const char *file, *classes, *class, *gpu, *size, *study, *html;
  struct opt_list add;
  uint64_t top, jobs;
  bool all, csv, json;
};

struct league_run {
  int64_t id;
  size_t program, scheme; /* places in the lists of names */
  double ipc, energy;     /* energy NAN: not recorded */
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
void league_free(struct league *l);
/* Run the schemes of --add as the file's largest study of that machine runs its own. Exit code. */
int league_add(const struct league_options *o);

#endif
