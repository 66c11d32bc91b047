/* db.h - the results file: every run of every study in one SQLite database (docs/reference/results-database.md has the
 * tables).
 *
 * Write-ahead log, foreign keys, application_id "SLUC", user_version = DB_VERSION. A file of an older version is
 * migrated when it is opened for writing; one of a newer version is rejected. The counters of counters.def are columns
 * of `totals` and `kernels`; new ones are added on opening. A run is in the file whole or not at all.
 *
 * Linked into the command only, not into libsluice: simulated programs must not load SQLite.
 */
#ifndef RESULTS_DB_H
#define RESULTS_DB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { DB_VERSION = 4 };
struct db;

/* ---- opening ---- */
enum db_mode { DB_READ, DB_WRITE }; /* DB_WRITE creates a missing file */
/* NULL with `e`: no such file, not a results file, newer, read-only, locked, damaged. A damaged file is not changed. */
struct db *db_open(const char *path, enum db_mode mode, struct err *e);
void db_close(struct db *db);
/* A line for the user about a repair made by opening, or NULL. */
const char *db_notice(const struct db *db);
/* Class of the last failure, for callers that can wait or must stop. */
enum db_trouble { DB_FINE, DB_LOCKED, DB_FULL, DB_DAMAGED, DB_REFUSED, DB_OTHER }; /* refused: by a rule of a table */
enum db_trouble db_trouble(const struct db *db);

/* ---- writing ---- */
/* A study's plan, in order. `hash` identifies the run; several rows may name one run under different labels. Texts may
 * be NULL. */
struct db_plan {
  const char *hash;
  const char *workload, *suite, *group, *size, *gpu, *scheme;
  const char *parameters; /* JSON object of the study's parameters: {"l1d.sets": 64} */
  int64_t replica;        /* from 0 */
};
/* Replace the plan of study `name` (the runs stay). Returns the study's id, 0 with `e`. */
int64_t db_study_put(struct db *db, const char *name, const char *file, const char *text, const struct db_plan *plan,
                     size_t count, struct err *e);

struct db_run {
  const char *hash;
  bool done; /* false: failed, `record` may be NULL */
  int exit_code;
  const char *error;   /* one line with the cause of the failure; NULL if done */
  const char *log;     /* end of its output; NULL if done */
  const char *command; /* the command that reproduces it */
  const char *program, *program_hash;
  const char *gpu, *scheme, *mode;
  const char *simulator; /* identity of libsluice */
  const char *host;
  double seconds, cpu_seconds;
  int64_t peak_kb;
};
/* Store a run with its whole record, in one transaction. A run stored as done is kept; a failed one is replaced. */
bool db_run_put(struct db *db, const struct db_run *run, json_t *record, struct err *e);
enum db_status { DB_MISSING, DB_FAILED, DB_DONE };
enum db_status db_run_status(struct db *db, const char *hash);

/* ---- reading ---- */
/* A planned run with its labels and result. Texts are valid during the call, NULL where the file has none. */
struct db_row {
  int64_t run; /* 0: not run yet */
  const char *study, *hash, *workload, *suite, *group, *size, *gpu, *scheme, *parameters;
  int64_t ordinal, replica;
  enum db_status status;
  int exit_code;
  const char *error, *command, *program, *mode, *simulator;
  double seconds, cpu_seconds;
  int64_t peak_kb;
};
/* Call `each` for every planned run of a study (NULL: of all), in order, until it returns false. */
bool db_each(struct db *db, const char *study, bool (*each)(void *ctx, const struct db_row *row), void *ctx,
             struct err *e);
/* Total of a run by key: counter, derived value or scheme counter; false if it has none. */
bool db_value(struct db *db, int64_t run, const char *key, double *value);
/* The record as `sluice run --json` wrote it; the caller decrefs it. */
json_t *db_record(struct db *db, int64_t run, struct err *e);

/* ---- queries ---- */
enum db_format { DB_TEXT, DB_CSV, DB_JSON, DB_MARKDOWN, DB_LATEX };
struct db_cell {
  enum { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT } kind;
  int64_t i;
  double r;
  const char *s;
};
struct db_table {
  char **title;
  struct db_cell *cell; /* rows x columns */
  size_t columns, rows;
  struct arena *arena;
};
/* The answer of one SQL statement that only reads. */
struct db_table *db_sql(struct db *db, const char *sql, struct err *e);
void db_table_free(struct db_table *t);

/* ---- care ---- */
/* All checks of SQLite and Sluice; false with the findings in `e`. */
bool db_check(struct db *db, struct err *e);
/* Accept the content of the file after changes by other programs: its trees must be sound; checksums are recomputed. */
bool db_seal_file(const char *path, struct err *e);
/* Copy the sound part of a damaged file into `to`, which must not exist and is written whole or not at all. Bounded to
 * seconds of reading in damage, for any content; false with `e` if nothing can be saved. */
struct db_saved {
  size_t runs, studies;    /* copied */
  size_t lost, plans_lost; /* runs, and plans of studies, that are damaged, unreadable or against a table's rules */
  char which[2000];        /* of these, those with a readable row: a line each, as many as there is room for */
};
/* `show` (may be NULL): progress, in rows of `runs`. A pending SIGINT or SIGTERM ends it without a file. */
bool db_recover(const char *from, const char *to, struct db_saved *saved,
                void (*show)(void *ctx, double done, double total), void *ctx, struct err *e);

#endif
