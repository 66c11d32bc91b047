/* db_impl.h - what the files of the results database share. Private to src/results/db. */
#ifndef RESULTS_DB_IMPL_H
#define RESULTS_DB_IMPL_H

#include <sqlite3.h>

#include "results/db.h"

struct db {
  sqlite3 *sql;
  char *path;
  enum db_trouble trouble;
};

enum { DB_APPLICATION = 0x534c5543 }; /* "SLUC" */

/* db_migrations[v] brings a file from version v to v + 1. */
extern const char *const db_migrations[];

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
/* Compressed text of a record and back. */
void *db_pack(const char *text, size_t bytes, size_t *packed);
char *db_unpack(const void *data, size_t bytes, size_t *unpacked);

#endif
