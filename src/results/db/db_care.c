/* db_care.c - checking a results file, and copying what can be read of a damaged one.
 *
 * A run's record (compressed, with a checksum) holds all that the other tables say of it. So recovery reads the rows of
 * `runs`, `records` and `studies` one by one, going around what cannot be read, and stores every run whose record is
 * sound anew: what comes out is whole. It works on a copy, since opening a file may replay its log into it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "results/db/db_impl.h"

bool db_check(struct db *db, struct err *e) {
  static const char *const checks[] = {
      "SELECT integrity_check FROM pragma_integrity_check(5) WHERE integrity_check <> 'ok'",
      "SELECT 'a row of ' || \"table\" || ' names a row of ' || parent || ' that is not there' FROM "
      "pragma_foreign_key_check LIMIT 5",
      "SELECT 'run ' || id || ' is marked done, but has no totals' FROM runs WHERE status = 'done' AND id NOT IN "
      "(SELECT run_id FROM totals) LIMIT 5",
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
  return true;
}

/* ---- reading around damage ---- */

struct salvage {
  struct db *from, *to;
  const char *columns, *table;
  bool (*row)(struct salvage *s, sqlite3_stmt *row, struct err *e); /* false: the new file cannot be written */
  size_t rows;
  struct err *e;
};

/* Rows with lo < rowid < hi, from below (or from above) up to the first that cannot be read. *reached: the last one
 * read. 1: all were read, 0: damage, -1: the new file cannot be written. */
static int read_until_damage(struct salvage *s, int64_t lo, int64_t hi, bool down, int64_t *reached) {
  char *sql = sqlite3_mprintf("SELECT rowid, %s FROM %s WHERE rowid > %lld AND rowid < %lld ORDER BY rowid %s",
                              s->columns, s->table, (long long)lo, (long long)hi, down ? "DESC" : "ASC");
  sqlite3_stmt *q = db_prepare(s->from, sql, NULL);
  sqlite3_free(sql);
  if (!q) return 0;
  int rc, result = 0;
  while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
    *reached = sqlite3_column_int64(q, 0);
    if (!s->row(s, q, s->e)) {
      result = -1;
      break;
    }
  }
  if (rc == SQLITE_DONE) result = 1;
  sqlite3_finalize(q);
  return result;
}

/* Halve what lies between two damaged ends until nothing is left between them. */
static bool salvage_range(struct salvage *s, int64_t lo, int64_t hi) {
  int64_t first = lo, last = hi;
  int rc = read_until_damage(s, lo, hi, false, &first);
  if (rc) return rc > 0;
  rc = read_until_damage(s, first, hi, true, &last);
  if (rc) return rc > 0;
  if (last - first < 3) return true;
  int64_t mid = first + (last - first) / 2;
  return salvage_range(s, first, mid) && salvage_range(s, mid - 1, last);
}

static bool salvage(struct salvage *s) {
  sqlite3_stmt *q = NULL;
  char *sql = sqlite3_mprintf("SELECT max(rowid) FROM %s", s->table);
  q = db_prepare(s->from, sql, NULL);
  sqlite3_free(sql);
  int64_t max = q && sqlite3_step(q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 1 << 20;
  sqlite3_finalize(q);
  return salvage_range(s, 0, max + 1);
}

/* ---- what is done with a row ---- */

static const char *text(sqlite3_stmt *s, int at) {
  return (const char *)sqlite3_column_text(s, at);
}

static const char run_columns[] = "hash, status, exit_code, error, log, command, program, program_hash, gpu, scheme, "
                                  "mode, simulator, host, seconds, cpu_seconds, peak_kb";

static bool run_row(struct salvage *s, sqlite3_stmt *q, struct err *e) {
  const char *status = text(q, 2);
  struct db_run r = {.hash = text(q, 1),
                     .done = status && !strcmp(status, "done"),
                     .exit_code = sqlite3_column_int(q, 3),
                     .error = text(q, 4),
                     .log = text(q, 5),
                     .command = text(q, 6),
                     .program = text(q, 7),
                     .program_hash = text(q, 8),
                     .gpu = text(q, 9),
                     .scheme = text(q, 10),
                     .mode = text(q, 11),
                     .simulator = text(q, 12),
                     .host = text(q, 13),
                     .seconds = sqlite3_column_double(q, 14),
                     .cpu_seconds = sqlite3_column_double(q, 15),
                     .peak_kb = sqlite3_column_int64(q, 16)};
  if (!r.hash || !status || !r.command || !r.program || !r.gpu || !r.scheme || !r.mode) return true;
  json_t *record = NULL;
  if (r.done && !(record = db_record(s->from, sqlite3_column_int64(q, 0), NULL))) return true;
  if (db_run_status(s->to, r.hash) == DB_MISSING) s->rows++;
  bool ok = db_run_put(s->to, &r, record, e);
  json_decref(record);
  return ok;
}

static bool study_row(struct salvage *s, sqlite3_stmt *q, struct err *e) {
  const char *name = text(q, 1), *file = text(q, 2), *about = text(q, 3);
  if (!name || !file || !about) return true;
  size_t count = 0, room = 64;
  struct db_plan *plan = malloc(room * sizeof *plan);
  char *texts[8];
  CHECK(plan, "out of memory");
  sqlite3_stmt *p = db_prepare(s->from,
                               "SELECT hash, workload, suite, \"group\", size, gpu, scheme, parameters, replica FROM "
                               "plan WHERE study_id = ? ORDER BY ordinal",
                               NULL);
  if (p) sqlite3_bind_int64(p, 1, sqlite3_column_int64(q, 0));
  while (p && sqlite3_step(p) == SQLITE_ROW) {
    if (!text(p, 0)) continue;
    if (count == room) {
      struct db_plan *grown = realloc(plan, (room *= 2) * sizeof *plan);
      CHECK(grown, "out of memory");
      plan = grown;
    }
    for (int i = 0; i < 8; i++) texts[i] = text(p, i) ? strdup(text(p, i)) : NULL;
    plan[count++] = (struct db_plan){
        texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], texts[7], sqlite3_column_int64(p, 8)};
  }
  sqlite3_finalize(p);
  bool ok = db_study_put(s->to, name, file, about, plan, count, e) > 0;
  for (size_t i = 0; i < count; i++) {
    const char *const all[] = {plan[i].hash, plan[i].workload, plan[i].suite,  plan[i].group,
                               plan[i].size, plan[i].gpu,      plan[i].scheme, plan[i].parameters};
    for (size_t k = 0; k < 8; k++) free((char *)all[k]);
  }
  free(plan);
  s->rows++;
  return ok;
}

/* ---- the copy ---- */

static bool copy(const char *from, const char *to, bool needed, struct err *e) {
  size_t n;
  char *data = path_read_whole(from, &n);
  if (!data)
    return (!needed && errno == ENOENT) || err_set(e, ERR_INPUT, "cannot read '%s': %s", from, strerror(errno));
  bool ok = path_write_whole(to, data, n) || err_set(e, ERR_INPUT, "cannot write '%s': %s", to, strerror(errno));
  free(data);
  return ok;
}

static bool copy_with_log(const char *from, const char *to, struct err *e) {
  char *from_log = sqlite3_mprintf("%s-wal", from), *to_log = sqlite3_mprintf("%s-wal", to);
  bool ok = copy(from, to, true, e) && copy(from_log, to_log, false, e);
  sqlite3_free(from_log);
  sqlite3_free(to_log);
  return ok;
}

static void remove_with_log(const char *path) {
  static const char *const tails[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < 3; i++) {
    char *p = sqlite3_mprintf("%s%s", path, tails[i]);
    unlink(p);
    sqlite3_free(p);
  }
}

static bool salvage_all(const char *copy_path, struct db *to, size_t *runs, struct err *e) {
  struct db from = {.path = (char *)copy_path};
  bool ok = sqlite3_open_v2(copy_path, &from.sql, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
  /* A schema with a broken row is read as far as it goes. */
  ok = ok && sqlite3_exec(from.sql, "PRAGMA writable_schema = ON", NULL, NULL, NULL) == SQLITE_OK;
  struct salvage s = {&from, to, run_columns, "runs", run_row, 0, e};
  struct salvage t = {&from, to, "name, file, text", "studies", study_row, 0, e};
  ok = ok && salvage(&s) && salvage(&t);
  *runs = s.rows;
  if (ok && !s.rows && !t.rows) ok = err_set(e, ERR_INPUT, "nothing of a results file could be read");
  else if (!ok && !e->code) db_fail(&from, e);
  sqlite3_close(from.sql);
  return ok;
}

bool db_recover(const char *from, const char *to, size_t *runs, struct err *e) {
  if (access(from, R_OK)) return err_set(e, ERR_INPUT, "cannot read '%s': %s", from, strerror(errno));
  if (!access(to, F_OK)) return err_set(e, ERR_INPUT, "'%s' is there already; name another with --output", to);
  char *work = sqlite3_mprintf("%s.damaged", to);
  CHECK(work, "out of memory");
  struct db *db = NULL;
  bool ok = copy_with_log(from, work, e) && (db = db_open(to, DB_WRITE, e)) && salvage_all(work, db, runs, e) &&
            db_check(db, e);
  db_close(db);
  remove_with_log(work);
  sqlite3_free(work);
  if (!ok) {
    if (db) remove_with_log(to);
    err_prefix(e, "%s", from);
  }
  return ok;
}
