/* db_impl.h - what the files of the results database share. Private to src/results/db. */
#ifndef RESULTS_DB_IMPL_H
#define RESULTS_DB_IMPL_H

#include <sqlite3.h>

#include "results/db.h"

struct db {
  sqlite3 *sql;
  char *path;
  enum db_trouble trouble;
  unsigned verified;  /* bits of enum db_part: compared with their sums since the file was opened */
  const char *notice; /* what opening it had to mend, for the user */
};

enum { DB_APPLICATION = 0x534c5543 }; /* "SLUC" */

/* db_migrations[v] brings a file from version v to v + 1. */
extern const char *const db_migrations[];

/* A new file with all tables, whole or not at all; true as well when another process was faster. */
bool db_create(const char *path, struct err *e);
/* Bring an open file to the present version, an empty one from nothing. */
bool db_migrate(struct db *db, struct err *e);

/* Turn SQLite's last error into `e`, with what the user can do about it. Returns false. */
bool db_fail(struct db *db, struct err *e);
/* Execute statements without results. */
bool db_exec(struct db *db, const char *sql, struct err *e);
/* NULL with `e`. */
sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct err *e);
/* Text or NULL; static during the statement. */
void db_bind_text(sqlite3_stmt *s, int at, const char *text);
/* Step a statement that returns no rows, and reset it. */
bool db_run_once(struct db *db, sqlite3_stmt *s, struct err *e);
/* Add the columns of counters that the file does not know, and refresh `counters`. */
bool db_sync_counters(struct db *db, struct err *e);
/* Fill `lines` of every run from its record. */
bool db_fill_lines(struct db *db, struct err *e);
/* Fill `overlaps` and what `kernels` says of them, likewise; the columns of counters must be there. */
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
/* The part that a table is, -1 for none. */
int db_part(const char *table);
/* Write the sums of the rows of one owner, of everything of a run, of the whole file: in the transaction that wrote
 * them. */
bool db_seal(struct db *db, enum db_part part, int64_t owner, struct err *e);
bool db_seal_run(struct db *db, int64_t run, struct err *e);
bool db_seal_all(struct db *db, struct err *e);
/* Forget the sums of a run that is about to be deleted. */
bool db_unseal_run(struct db *db, int64_t run, struct err *e);
/* Compare the parts in `which` (bits) that were not compared before. */
bool db_verify(struct db *db, unsigned which, struct err *e);
/* The parts that a file of an older version has. */
unsigned db_parts_there(struct db *db);
/* One record; DB_SUM_NONE: the file has no readable sum of it. */
enum db_sum { DB_SUM_NONE, DB_SUM_RIGHT, DB_SUM_WRONG };
enum db_sum db_sum_of(struct db *db, enum db_part part, int64_t owner);

/* Every record can be read, and the totals are those of the records: for files of versions without sums. */
bool db_records_sound(struct db *db, struct err *e);
/* Compressed text of a record and back. */
void *db_pack(const char *text, size_t bytes, size_t *packed);
char *db_unpack(const void *data, size_t bytes, size_t *unpacked);
/* The text of a run's record, compared with its sum; the caller frees it. NULL with `e`. */
char *db_record_text(struct db *db, int64_t run, size_t *bytes, struct err *e);

#endif
