/* paper.h - what `sluice paper` and `sluice paper --sensitivity` share: runs that figures need, done once and kept. */
#ifndef CLI_PAPER_H
#define CLI_PAPER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct job;
struct tempdir;

struct paper_options {
  const char *out, *size, *only;
  uint64_t jobs;
  bool quick, list, sensitivity;
};

struct paper {
  struct arena arena;
  const char *name, *out, *size;
  json_t *figures; /* as loaded, ordered by name; with --sensitivity one for each reading and quantity */
  json_t *runs;    /* {workload, alias, group, suite, scheme, gpu, set, hash, file, args, characterise} by hash */
  uint64_t simulator;
  struct job *job;
  size_t jobs, failed;
};

/* The runs that the figures name. */
bool paper_plan(struct paper *p, struct err *e);
/* Those without a record, in processes of their own. False on Ctrl-C. */
bool paper_simulate(struct paper *p, const struct paper_options *o, const struct tempdir *dir);
/* Totals of a workload under a scheme list on the figure's GPU with its knobs; NULL without such a record. */
const json_t *paper_totals(struct paper *p, const json_t *figure, const char *list, const char *workload);
/* A counter or derived value of such totals; 0 if there is none. */
double paper_counter(const void *totals, const char *key);

/* ---- paper_sensitivity.c ---- */
/* The readings of the machine and the quantities of the paper's baseline, as p->figures. */
bool sensitivity_load(struct paper *p, struct err *e);
/* After the runs: the table, and DIR/sensitivity.csv. */
bool sensitivity_print(struct paper *p, struct err *e);

#endif
