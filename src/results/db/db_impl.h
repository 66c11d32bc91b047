/* db_impl.h - shared by the files of the results database. Private to src/results/db. */
#ifndef RESULTS_DB_DB_IMPL_H
#define RESULTS_DB_DB_IMPL_H

#include <sqlite3.h>

#include "results/db.h"

struct db {
  sqlite3 *sql;
  char *path;
  enum db_trouble trouble;
  unsigned verified;  /* bits of enum db_part: parts verified since the file was opened */
  const char *notice; /* a repair made by opening, for the user */
};

enum { DB_APPLICATION = 0x534c5543 }; /* "SLUC" */

/* db_migrations[v] brings a file from version v to v + 1. */
extern const char *const db_migrations[];

/* A new file with all tables, whole or not at all; also true when another process was faster. */
bool db_create(const char *path, struct err *e);
/* Migrate an open file to the present version, or create an empty one's tables. */
bool db_migrate(struct db *db, struct err *e);

/* Turn SQLite's last error into `e`, with a remedy. Returns false. */
bool db_fail(struct db *db, struct err *e);
/* Execute statements without results. */
bool db_exec(struct db *db, const char *sql, struct err *e);
/* NULL with `e`. */
sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct err *e);
/* The text of a column of the present row, or NULL; valid until the next step. */
static inline const char *db_column_text(sqlite3_stmt *s, int at) {
  return (const char *)sqlite3_column_text(s, at);
}
/* Text or NULL; static during the statement. */
void db_bind_text(sqlite3_stmt *s, int at, const char *text);
/* Run a check of SQLite that answers "ok"; else an error with `what` before its answer, and db->trouble. */
bool db_check_ok(struct db *db, const char *sql, const char *what, struct err *e);
/* Step a statement that returns no rows, and reset it. */
bool db_run_once(struct db *db, sqlite3_stmt *s, struct err *e);
/* Add the columns of new counters, and refresh `counters`. */
bool db_sync_counters(struct db *db, struct err *e);
/* Fill `lines` of every run from its record. */
bool db_fill_lines(struct db *db, struct err *e);
/* Fill `overlaps` and its columns in `kernels`, likewise; the columns of counters must exist. */
bool db_fill_overlaps(struct db *db, struct err *e);
/* ---- checksums ---- */
enum db_part {
  DB_SCHEMA,
  DB_COUNTERS,
  DB_STUDIES,
  DB_PLAN,
  DB_CONFIGURATIONS,
  DB_KNOBS,
  DB_RUNS,
  DB_TOTALS,
  DB_SCHEME_COUNTERS,
  DB_KERNELS,
  DB_OVERLAPS,
  DB_RECORDS,
  DB_HISTOGRAMS,
  DB_SAMPLES,
  DB_LINES,
  DB_PARTS
};
#define DB_ALL ((1u << DB_PARTS) - 1)
/* The part of a table, -1 for none. */
int db_part(const char *table);
/* Write the sums of the rows of one owner, of a whole run, of the whole file, within the transaction that wrote them.
 */
bool db_seal(struct db *db, enum db_part part, int64_t owner, struct err *e);
bool db_seal_run(struct db *db, int64_t run, struct err *e);
bool db_seal_all(struct db *db, struct err *e);
/* Remove the sums of a run before it is deleted. */
bool db_unseal_run(struct db *db, int64_t run, struct err *e);
/* Verify the parts in `which` (bits) that are not verified yet. */
bool db_verify(struct db *db, unsigned which, struct err *e);
/* The parts present in a file of an older version. */
unsigned db_parts_there(struct db *db);
/* One record; DB_SUM_NONE: no readable sum. */
enum db_sum { DB_SUM_NONE, DB_SUM_RIGHT, DB_SUM_WRONG };
enum db_sum db_sum_of(struct db *db, enum db_part part, int64_t owner);

/* Check that every record is readable and that totals match: for files of versions without sums. */
bool db_records_sound(struct db *db, struct err *e);
/* Compressed text of a record and back. */
void *db_pack(const char *text, size_t bytes, size_t *packed);
char *db_unpack(const void *data, size_t bytes, size_t *unpacked);
/* The text of a run's record, verified by its sum; the caller frees it. NULL with `e`. */
char *db_record_text(struct db *db, int64_t run, size_t *bytes, struct err *e);

#endif
