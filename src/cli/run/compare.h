/* compare.h - shared by `sluice compare` of one program and of a suite. */
#ifndef CLI_RUN_COMPARE_H
#define CLI_RUN_COMPARE_H

#include "base/arena.h"
#include "cli/run/run.h"

struct compare_options {
  struct sim_options sim;
  const char *html, *suite, *size, *command; /* command: as typed */
  uint64_t jobs;
  bool no_html;
};

enum { COMPARE_COLUMNS = 64 };

/* Split "a,b+c,d" at its commas into `out`. */
bool compare_split(struct arena *a, const char *list, const char **out, size_t *count, struct err *e);
/* The command line of one simulation: `program` and its arguments, NULL-terminated, under `scheme`, record to `record`.
 */
char **compare_argv(struct arena *a, const struct sim_options *o, const char *scheme, const char *record,
                    char **program);
/* Write the report of `count` records (json_t; o->html, else report.html) and print its path, unless disabled. */
bool compare_report(const struct compare_options *o, void *const *record, size_t count, const char *title,
                    struct err *e);
/* All workloads of o->suite under every scheme: a table of IPC normalised to the first, with means. Exit code. */
int compare_suite(const struct compare_options *o);

#endif
