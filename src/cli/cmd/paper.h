/* paper.h - what the parts of `sluice paper` share: paper.c plans the runs that figures need, does them once and keeps
 * them, and draws; paper_claims.c puts the published numbers beside them; paper_sensitivity.c tries readings of the
 * machine.
 */
#ifndef CLI_CMD_PAPER_H
#define CLI_CMD_PAPER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/run/workloads.h"
#include "results/published.h"
#include "results/verdict.h"

struct job;
struct originals;
struct stored;
struct tempdir;

struct paper_options {
  const char *out, *size, *only, *claims, *store, *commit, *originals, *program, *estimate;
  uint64_t jobs, seeds, warm;
  bool quick, list, sensitivity, stored;
};

struct paper {
  struct arena arena;
  const char *name, *out, *size, *program; /* program: that one alone, by the paper's name; NULL: all */
  bool quick, all;                         /* all: one of several whose claims share a table */
  bool readings;                           /* --sensitivity: `figures` are those of the readings */
  json_t *figures; /* as loaded, ordered by name; with --sensitivity one for each reading and quantity */
  /* {workload, alias, group, suite, scheme, gpu, set, size, hash, file, record, characterise} by hash, of the programs'
   * default inputs; `seeds`: a list of such objects, the same runs on inputs of further seeds, in their order. */
  json_t *runs;
  json_t *claims;  /* of every published number: {where, metric, scheme, group, published, unit, `ours`, low, ...} */
  json_t *order;   /* of the schemes in the headline figure (paper_order.c); NULL: not among the figures */
  json_t *inputs;  /* with --size paper: inputs/NAME.yaml */
  json_t *reasons; /* why numbers are not reproduced, as in reasons/NAME.yaml */
  struct stored *stored;       /* the file of stored results that the records come from; NULL: from simulations */
  struct originals *originals; /* the programs are the paper's own; NULL: bundled workloads */
  const char *whole;           /* absolute path of `out`; with originals */
  const char *origin;          /* what it is said of these */
  const char *estimate;        /* bound of the runs' cycles; NULL: everything is timed */
  uint64_t simulator, warm;    /* warm: launches before those that count */
  struct job *job;
  size_t jobs, failed;
};

/* The runs that the figures name; of one figure, added to those that are there. */
bool paper_plan(struct paper *p, struct err *e);
bool paper_plan_figure(struct paper *p, const json_t *figure, struct err *e);
/* The size of the figure's inputs: its own, or that of the call. NULL: that of the call. */
const char *paper_size(const struct paper *p, const json_t *figure);
/* Is the record of a run in `file`, whole, with what the figures need of it? */
bool paper_have(const json_t *run, const char *file);
/* Those without a record, in processes of their own. False on Ctrl-C. */
bool paper_simulate(struct paper *p, const struct paper_options *o, const struct tempdir *dir);

/* ---- paper_seeds.c ---- */
/* After the simulations of the default inputs: the same runs on inputs of further seeds, `seeds` in all. False on
 * Ctrl-C or with `e`. */
bool paper_seeds(struct paper *p, const struct paper_options *o, const struct tempdir *dir, struct err *e);
/* Every run, those of further seeds after that of the default input; an array in the arena, its length in `count`. */
json_t **paper_every_run(struct paper *p, size_t *count);

/* ---- paper_claims.c ---- */
/* Text of an object, "" without it. */
const char *paper_text(const json_t *o, const char *key);
/* A column of a figure is a scheme list, or a mapping with list or among, gpu, set, over and published. */
const char *column_list(const json_t *column); /* NULL: among several, none of which has been chosen */
const char *column_gpu(const json_t *figure, const json_t *column);
json_t *column_set(const json_t *figure, const json_t *column); /* a new reference */
/* Totals of a workload under a scheme list on the figure's GPU with its knobs, with the characterisation summed over
 * launches as "loads.by_degree.0.loads"; NULL without such a record. */
const json_t *paper_totals(struct paper *p, const json_t *figure, const char *list, const char *workload);
/* A counter or derived value of such totals; 0 if there is none. */
double paper_counter(const void *totals, const char *key);
/* Give each column that stands for the best of several its list. */
bool paper_choose(struct paper *p, struct err *e);
/* After the simulations: choose the lists of columns that stand for the best of several, measure every published number
 * of the paper, and give each figure its rows. */
bool paper_claims(struct paper *p, struct err *e);
/* Values of a column's run of a workload on the default input, or on that of a further seed; NULL without one. */
const json_t *paper_column_values(struct paper *p, const json_t *figure, const json_t *column, const char *workload,
                                  size_t seed);
/* Add IPC of each kernel over that of the same kernel in the other run to [sum, number] by the kernel's name. */
void paper_add_kernels(json_t *sums, const json_t *run, const json_t *over);
/* The mean of each kernel; how many there are, at most `room`. */
size_t paper_kernel_means(json_t *sums, double *ratio, size_t room);
/* A mean by its word in figure files. */
enum published_kind paper_mean_kind(const char *of);
/* Is the number of this figure; of this column; the column that it compares with, on the same machine. */
bool paper_where_is(const json_t *figure, const struct published_figure *f);
bool paper_fits(const json_t *figure, const json_t *column, const struct published_figure *f);
const json_t *paper_over_of(const json_t *figure, const json_t *column, const struct published_figure *f,
                            const char **label);
/* The table for programs: titles, then the rows of a paper, whose verdicts it adds to `count`. */
void paper_claims_titles(FILE *f, bool all);
/* A cell of a CSV file, in quotes where it needs them, and what follows it. */
void paper_csv_text(FILE *f, const char *s, const char *after);
void paper_claims_rows(const struct paper *p, FILE *f, size_t count[VERDICTS]);
/* How many of the paper's changes have its sign, and how many numbers are near: on the workloads, on the originals. */
void paper_claims_shares(const struct paper *p);

/* ---- paper_order.c ---- */
/* After the claims: p->order. False with `e` if the figure's `order` names what it has not. */
bool paper_order(struct paper *p, const struct published *all, struct err *e);
/* With that of the other programs, if there is one. */
void paper_order_join(struct paper *p, const struct paper *q);
void paper_order_print(const struct paper *p);

/* ---- paper_inputs.c ---- */
/* The inputs that have the paper's size. */
bool paper_inputs_load(struct paper *p, struct err *e);
/* Arguments of a workload by the paper's name for it, a new list of words, and the cut-off in thread instructions; 0:
 * none. */
json_t *paper_input(const struct paper *p, const char *alias, double *max_insts);
/* After the runs: thread instructions beside the paper's, and the rule that chose each input. */
void paper_inputs_print(struct paper *p);

/* ---- paper_reasons.c ---- */
/* Entries are checked against the published numbers. Without a file there are none. */
bool paper_reasons_load(struct paper *p, const struct published *all, struct err *e);
/* What the first entry that fits the number says; NULL without one. */
const char *paper_reason(const struct paper *p, const struct published_figure *f);

/* Counters of a run, as paper_totals gives them; NULL without a record. */
const json_t *paper_run_values(json_t *run);

/* ---- paper_originals.c ---- */
/* The paper's mapping to original programs; `folder` NULL: nothing is going to run. Keeps the figures that the mapping
 * names, or with `one_figure` those that are there. */
bool paper_originals_load(struct paper *p, const char *folder, bool one_figure, struct err *e);
/* Program and arguments of a run as originals_run has them, a new reference; NULL: there is no such run. */
json_t *paper_originals_run(struct paper *p, const struct workload *w, const char *size);
/* What decides its outcome. */
uint64_t paper_originals_hash(uint64_t h, const json_t *run);
/* Before the runs: a working folder for each program. */
bool paper_originals_prepare(struct paper *p, struct err *e);
/* After the claims: the stored values of the originals beside the simulated ones or, with originals, the reverse, then
 * printed. `figures` are those of the plan, without what claims added. */
bool paper_beside(struct paper *p, const json_t *figures, struct err *e);

/* ---- paper_estimate.c ---- */
/* Is the run a sample? Not where its loads are characterised. */
bool paper_estimates(const struct paper *p, const json_t *run);
/* File of its plan, in the arena. */
const char *paper_estimate_plan(struct paper *p, const json_t *run);
/* Put the runs first that write a plan, the baseline's where there is a choice; returns how many. */
size_t paper_estimate_order(struct paper *p, json_t **run, size_t n);
/* After the runs: how many are estimates, and what they timed. */
void paper_estimate_print(struct paper *p);

/* ---- paper_sensitivity.c ---- */
/* The readings of the machine and the quantities of the paper's baseline, as p->figures. */
bool sensitivity_load(struct paper *p, struct err *e);
/* After the runs: the table, and DIR/sensitivity.csv. */
bool sensitivity_print(struct paper *p, struct err *e);

/* ---- paper_store.c ---- */
/* File of the stored results, below the data folder. */
const char *paper_stored_name(struct paper *p);
/* The stored results of the paper, and for every figure the size that most of its runs have there; `size` NULL: any.
 * With `readings` one size for all, p->size from then on. */
bool paper_stored_open(struct paper *p, const char *size, struct err *e);
/* After the plan: the runs get their records; p->origin says what there is. */
void paper_stored_attach(struct paper *p);
void paper_stored_print(const struct paper *p);
/* After simulations: keep the processor time of run[i], which job i made. */
void paper_note_times(struct paper *p, json_t *const *run);
/* Add the runs that have records to the stored results in `file`. */
bool paper_store(struct paper *p, const char *file, const char *commit, struct err *e);

#endif
