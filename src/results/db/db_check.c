/* db_check.c - checks a results file: its trees by SQLite, its records by checksums. */
#include <math.h>
#include <string.h>

#include "results/db/db_impl.h"

bool db_check(struct db *db, struct err *e) {
  static const char *const checks[] = {
      "SELECT integrity_check FROM pragma_integrity_check(5) WHERE integrity_check <> 'ok'",
      "SELECT 'a row of ' || \"table\" || ' names a row of ' || parent || ' that is not there' FROM "
      "pragma_foreign_key_check LIMIT 5",
      "SELECT 'run ' || id || ' is marked done, but has no totals' FROM runs WHERE status = 'done' AND id NOT IN "
      "(SELECT run_id FROM totals) LIMIT 5",
      "SELECT 'run ' || id || ' is marked done, but has no record' FROM runs WHERE status = 'done' AND id NOT IN "
      "(SELECT run_id FROM records) LIMIT 5",
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    sqlite3_stmt *s = db_prepare(db, checks[i], e);
    if (!s) return false;
    int rc = sqlite3_step(s);
    bool ok = rc == SQLITE_DONE;
    if (rc == SQLITE_ROW) {
      const char *found = (const char *)sqlite3_column_text(s, 0);
      db->trouble = DB_DAMAGED;
      err_set(e, ERR_INPUT, "%s is damaged: %.300s. `sluice db recover %s` copies what can be read into a new file",
              db->path, found ? found : "?", db->path);
    } else if (!ok) {
      db_fail(db, e);
    }
    sqlite3_finalize(s);
    if (!ok) return false;
  }
  return db_verify(db, DB_ALL, e);
}

/* Compare a run's totals with its record: numbers in the record have ten digits. */
static bool same_totals(sqlite3_stmt *row, const json_t *totals) {
  for (int i = 0; i < sqlite3_column_count(row); i++) {
    const json_t *v = json_object_get(totals, sqlite3_column_name(row, i));
    if (!json_is_number(v) || sqlite3_column_type(row, i) == SQLITE_NULL) continue;
    double a = sqlite3_column_double(row, i), b = json_number_value(v);
    if (fabs(a - b) > 1e-8 * fmax(fabs(a), fabs(b))) return false;
  }
  return true;
}

bool db_records_sound(struct db *db, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, "SELECT t.* FROM totals t JOIN records r ON r.run_id = t.run_id", e);
  bool ok = s;
  int rc = SQLITE_DONE;
  while (ok && (rc = sqlite3_step(s)) == SQLITE_ROW) {
    int64_t run = sqlite3_column_int64(s, 0);
    json_t *record = db_record(db, run, e);
    ok = record;
    if (ok && !same_totals(s, json_object_get(record, "totals"))) {
      db->trouble = DB_DAMAGED;
      ok = err_set(
          e, ERR_INPUT,
          "%s is damaged: the totals of run %lld are not those of its record. `sluice db recover %s` copies what "
          "is sound into a new file",
          db->path, (long long)run, db->path);
    }
    json_decref(record);
  }
  if (ok && rc != SQLITE_DONE) ok = db_fail(db, e);
  sqlite3_finalize(s);
  return ok;
}
