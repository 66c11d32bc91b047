/* db_read.c - reading runs, their labels and their values back. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"

#include "results/db/db_impl.h"

enum db_status db_run_status(struct db *db, const char *hash) {
  sqlite3_stmt *s = db_prepare(db, "SELECT status = 'done' FROM runs WHERE hash = ?", NULL);
  if (!s) return DB_MISSING;
  db_bind_text(s, 1, hash);
  enum db_status status = sqlite3_step(s) != SQLITE_ROW ? DB_MISSING : sqlite3_column_int(s, 0) ? DB_DONE : DB_FAILED;
  sqlite3_finalize(s);
  return status;
}

bool db_each(struct db *db, const char *study, bool (*each)(void *ctx, const struct db_row *row), void *ctx,
             struct err *e) {
  sqlite3_stmt *s = db_prepare(db,
                               "SELECT ifnull(run, 0), study, hash, workload, suite, \"group\", size, gpu, scheme, "
                               "parameters, ordinal, replica, status, "
                               "exit_code, error, command, program, mode, simulator, seconds, cpu_seconds, peak_kb "
                               "FROM results WHERE ?1 IS NULL OR study = ?1 ORDER BY "
                               "(SELECT id FROM studies WHERE name = study), ordinal",
                               e);
  unsigned read =
      1u << DB_SCHEMA | 1u << DB_STUDIES | 1u << DB_PLAN | 1u << DB_RUNS | 1u << DB_TOTALS | 1u << DB_SCHEME_COUNTERS;
  if (!s || !db_verify(db, read, e)) return sqlite3_finalize(s), false;
  db_bind_text(s, 1, study);
  int rc;
  while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
    const char *status = db_column_text(s, 12);
    struct db_row r = {
        .run = sqlite3_column_int64(s, 0),
        .study = db_column_text(s, 1),
        .hash = db_column_text(s, 2),
        .workload = db_column_text(s, 3),
        .suite = db_column_text(s, 4),
        .group = db_column_text(s, 5),
        .size = db_column_text(s, 6),
        .gpu = db_column_text(s, 7),
        .scheme = db_column_text(s, 8),
        .parameters = db_column_text(s, 9),
        .ordinal = sqlite3_column_int64(s, 10),
        .replica = sqlite3_column_int64(s, 11),
        .status = !status                     ? DB_MISSING /* a changed view whose change was accepted */
                  : !strcmp(status, "done")   ? DB_DONE
                  : !strcmp(status, "failed") ? DB_FAILED
                                              : DB_MISSING,
        .exit_code = sqlite3_column_int(s, 13),
        .error = db_column_text(s, 14),
        .command = db_column_text(s, 15),
        .program = db_column_text(s, 16),
        .mode = db_column_text(s, 17),
        .simulator = db_column_text(s, 18),
        .seconds = sqlite3_column_double(s, 19),
        .cpu_seconds = sqlite3_column_double(s, 20),
        .peak_kb = sqlite3_column_int64(s, 21),
    };
    if (!each(ctx, &r)) {
      rc = SQLITE_DONE;
      break;
    }
  }
  bool ok = rc == SQLITE_DONE || db_fail(db, e);
  sqlite3_finalize(s);
  return ok;
}

bool db_value(struct db *db, int64_t run, const char *key, double *value) {
  if (!db_verify(db, 1u << DB_TOTALS | 1u << DB_SCHEME_COUNTERS, NULL)) return false;
  /* A column name cannot be bound; %w quotes any text safely, and an unknown one is no column. */
  bool column = sqlite3_table_column_metadata(db->sql, NULL, "totals", key, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
  char *sql = column ? sqlite3_mprintf("SELECT \"%w\" FROM totals WHERE run_id = ?1", key)
                     : sqlite3_mprintf("SELECT value FROM scheme_counters WHERE run_id = ?1 AND key = %Q", key);
  sqlite3_stmt *s = db_prepare(db, sql, NULL);
  sqlite3_free(sql);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, run);
  bool found = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_type(s, 0) != SQLITE_NULL;
  if (found) *value = sqlite3_column_double(s, 0);
  sqlite3_finalize(s);
  return found;
}

char *db_unpack(const void *data, size_t bytes, size_t *unpacked) {
  unsigned long long size = ZSTD_getFrameContentSize(data, bytes);
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > (1ull << 34)) return NULL;
  char *out = mem_alloc(size + 1);
  if (!out) return NULL;
  size_t n = ZSTD_decompress(out, size, data, bytes);
  if (ZSTD_isError(n)) {
    free(out);
    return NULL;
  }
  out[n] = 0;
  *unpacked = n;
  return out;
}

static void db_record_damaged(const struct db *db, int64_t run, struct err *e) {
  err_set(
      e, ERR_INPUT,
      "%s is damaged: the record of run %lld is not what was written. `sluice db recover %s` copies what is sound into "
      "a new file",
      db->path, (long long)run, db->path);
}

char *db_record_text(struct db *db, int64_t run, size_t *bytes, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, "SELECT zstd FROM records WHERE run_id = ?", e);
  if (!s) return NULL;
  sqlite3_bind_int64(s, 1, run);
  int rc = sqlite3_step(s);
  char *t = NULL;
  if (rc == SQLITE_ROW) {
    /* Migration and recovery read files without a sum. */
    if (db_sum_of(db, DB_RECORDS, run) != DB_SUM_WRONG)
      t = db_unpack(sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0), bytes);
    if (!t) db_record_damaged(db, run, e);
  } else if (rc == SQLITE_DONE) {
    err_set(e, ERR_INPUT, "%s: run %lld has no record", db->path, (long long)run);
  } else {
    db_fail(db, e);
  }
  sqlite3_finalize(s);
  return t;
}

json_t *db_record(struct db *db, int64_t run, struct err *e) {
  size_t n = 0;
  char *t = db_record_text(db, run, &n, e);
  json_t *j = t ? json_loadb(t, n, 0, NULL) : NULL;
  if (t && !j) db_record_damaged(db, run, e);
  free(t);
  return j;
}
