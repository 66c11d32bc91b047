/* query.h - shared by the files of `sluice query`: its options, and names of the command line as SQL over the view
 * `results`, in which a statement's own rows are `r`.
 */
#ifndef CLI_CMD_QUERY_H
#define CLI_CMD_QUERY_H

#include "cli/tables/rows.h"

enum { QUERY_METRICS = 32, QUERY_LABELS = 16 };

struct query_opts {
  const char *sql, *format, *rows, *columns, *relative, *groups, *best, *mean, *study;
  struct opt_list where;
  bool failed;
};

struct query {
  struct arena a;
  struct db *db;
  const struct query_opts *o;
  const char *metric[QUERY_METRICS];
  size_t metrics;
  struct {
    const char *label, *value; /* --relative, which divides each run by another; NULL: not set */
  } base;
  struct err *e;
};

/* A label, PARAMETER of a study (l1d.sets), a counter, a column of `results`, a value of the record, or sums of those
 * and their ratio ("a+b/c+d"). With `parameter`, a parameter hides the counter or knob of the same name. NULL with
 * `e`. */
const char *query_column(struct query *q, const char *name, bool parameter);
/* Names between commas as SQL columns; the unquoted names to `names`, QUERY_LABELS of them at most. */
const char *query_labels(struct query *q, const char *text, const char **names, size_t *count);
/* The selected runs. */
const char *query_conditions(struct query *q, bool done_only);
/* Parse --relative; `first` is the default label. */
bool query_base(struct query *q, const char *first);
/* A metric of a run, divided by that of its reference run. */
const char *query_value(struct query *q, const char *metric);
/* The mean of an expression over the runs of a group. */
const char *query_mean(struct query *q, const char *value);
/* The kind of mean: by --mean, else geometric for ratios and arithmetic for values. */
const char *query_mean_kind(const struct query *q, bool ratios);

#endif
