/* stored.h - stored results of a paper: runs in a file of JSON lines under zstd (results/README.md), without what
 * figures and claims do not need.
 *
 * In the order of use: stored_open, or stored_new; stored_put for runs; stored_find; stored_save.
 */
#ifndef RESULTS_STORED_H
#define RESULTS_STORED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { STORED_FORMAT = 1 }; /* "format" of the file; raised when a key changes its meaning */

struct stored;

/* What a run is found by. Texts and `set` stay the caller's. */
struct stored_run {
  const char *workload, *scheme, *gpu, *size;
  const json_t *set; /* knobs that differ from the machine file */
  int seed;
};

/* `programs`: "workloads" or "originals". */
struct stored *stored_new(const char *paper, const char *programs);
/* NULL with `e`: no such file, not of this paper and format, or damaged. */
struct stored *stored_open(const char *path, const char *paper, struct err *e);
void stored_free(struct stored *s);

/* The run as a line of the file, owned by `s`; NULL if it is not there. */
const json_t *stored_find(const struct stored *s, const struct stored_run *run);
/* All runs by key, in no order that means anything; owned by `s`. */
const json_t *stored_runs(const struct stored *s);
/* Add or replace a run; what only the line before it has stays if the commit is the same. `line` has the keys of
 * results/README.md but those of `run`, and is taken over. */
void stored_put(struct stored *s, const struct stored_run *run, json_t *line);
/* Of a record (results/record.h): the totals, time and instructions of each kernel, energy with and without leakage,
 * the characterisation summed over launches, the outcome of a search. A new reference. */
json_t *stored_reduce(const json_t *record);
/* The other way: a record that has these, with one launch, its `energy`, and `by_kernel` as stored_kernels gives it. A
 * new reference.
 */
json_t *stored_record(const json_t *line);
/* Of a record: {NAME: {launches, cycles, thread_insts}}, for means over kernels. A new reference. */
json_t *stored_kernels(const json_t *record);
/* Whole or not at all. False with `e`. */
bool stored_save(const struct stored *s, const char *path, struct err *e);

#endif
