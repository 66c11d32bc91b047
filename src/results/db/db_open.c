/* db_open.c - opening a results file: which errors it can have, and bringing it to the present version. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/stats.h"
#include "results/db/db_impl.h"
#include "results/record.h"

enum { BUSY_MS = 10000, CHECK_BYTES = 256 << 20 };

enum db_trouble db_trouble(const struct db *db) {
  return db->trouble;
}

void *db_handle(struct db *db) {
  return db->sql;
}

bool db_fail(struct db *db, struct err *e) {
  const char *p = db->path;
  switch (sqlite3_errcode(db->sql) & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    db->trouble = DB_LOCKED;
    return err_set(e, ERR_INPUT,
                   "%s is locked by another program, which has held it for more than %d s; nothing was written. Close "
                   "that program and try again",
                   p, BUSY_MS / 1000);
  case SQLITE_FULL:
    db->trouble = DB_FULL;
    return err_set(e, ERR_INPUT, "%s: the disk is full; what was stored before is safe. Free some space and try again",
                   p);
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB:
    db->trouble = DB_DAMAGED;
    return err_set(
        e, ERR_INPUT,
        "%s is damaged (%s). It was left as it is: `sluice db recover %s` copies what can be read into a new "
        "file",
        p, sqlite3_errmsg(db->sql), p);
  case SQLITE_READONLY:
    db->trouble = DB_OTHER;
    return err_set(e, ERR_INPUT, "%s is read-only; make it writable, or name another file with --results", p);
  case SQLITE_IOERR: /* a write cut short by a limit or a quota arrives as this */
    if (sqlite3_system_errno(db->sql) == ENOSPC || sqlite3_system_errno(db->sql) == EDQUOT ||
        sqlite3_system_errno(db->sql) == EFBIG) {
      db->trouble = DB_FULL;
      return err_set(e, ERR_INPUT,
                     "%s: the disk is full (%s); what was stored before is safe. Free some space and "
                     "try again",
                     p, strerror(sqlite3_system_errno(db->sql)));
    }
    break;
  default:
    break;
  }
  db->trouble = DB_OTHER;
  int why = sqlite3_system_errno(db->sql);
  bool file = (sqlite3_errcode(db->sql) & 0xff) == SQLITE_CANTOPEN || (sqlite3_errcode(db->sql) & 0xff) == SQLITE_IOERR;
  return err_set(e, ERR_INPUT, "%s: %s%s%s", p, sqlite3_errmsg(db->sql), file && why ? ": " : "",
                 file && why ? strerror(why) : "");
}

bool db_exec(struct db *db, const char *sql, struct err *e) {
  return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK || db_fail(db, e);
}

sqlite3_stmt *db_prepare(struct db *db, const char *sql, struct err *e) {
  sqlite3_stmt *s = NULL;
  if (sqlite3_prepare_v2(db->sql, sql, -1, &s, NULL) != SQLITE_OK) db_fail(db, e);
  return s;
}

void db_bind_text(sqlite3_stmt *s, int at, const char *text) {
  if (text) sqlite3_bind_text(s, at, text, -1, SQLITE_TRANSIENT);
  else sqlite3_bind_null(s, at);
}

bool db_run_once(struct db *db, sqlite3_stmt *s, struct err *e) {
  bool ok = sqlite3_step(s) == SQLITE_DONE || db_fail(db, e);
  sqlite3_reset(s);
  return ok;
}

/* First column of the first row, or -1. */
static int64_t pragma(struct db *db, const char *sql) {
  sqlite3_stmt *s = db_prepare(db, sql, NULL);
  int64_t v = s && sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
  sqlite3_finalize(s);
  return v;
}

/* ---- counters as columns ---- */

static bool has_column(struct db *db, const char *table, const char *column) {
  return sqlite3_table_column_metadata(db->sql, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static bool add_counter(struct db *db, sqlite3_stmt *put, const char *key, const char *unit, const char *doc,
                        const char *kind, const char *type, struct err *e) {
  static const char *const tables[] = {"totals", "kernels", "overlaps"};
  for (size_t t = 0; t < 3; t++) {
    if (has_column(db, tables[t], key)) continue;
    char *sql = sqlite3_mprintf("ALTER TABLE %s ADD COLUMN \"%w\" %s", tables[t], key, type);
    bool ok = db_exec(db, sql, e);
    sqlite3_free(sql);
    if (!ok) return false;
  }
  db_bind_text(put, 1, key);
  db_bind_text(put, 2, unit);
  db_bind_text(put, 3, doc);
  db_bind_text(put, 4, kind);
  return db_run_once(db, put, e);
}

bool db_sync_counters(struct db *db, struct err *e) {
  static const char *const kinds[] = {[STAT_SUM] = "sum", [STAT_MAX] = "maximum", [STAT_MEAN] = "mean"};
  sqlite3_stmt *put = db_prepare(db,
                                 "INSERT INTO counters VALUES(?, ?, ?, ?) ON CONFLICT(key) DO UPDATE SET unit = "
                                 "excluded.unit, meaning = excluded.meaning, kind = excluded.kind WHERE "
                                 "unit <> excluded.unit OR meaning <> excluded.meaning OR kind <> excluded.kind",
                                 e);
  bool ok = put;
  for (uint32_t i = 0; ok && i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    ok = add_counter(db, put, r->key, r->unit, r->doc, kinds[r->kind], r->kind == STAT_MEAN ? "REAL" : "INTEGER", e);
  }
  for (uint32_t i = 0; ok && i < derived_row_count; i++) {
    const struct derived_row *r = &derived_rows[i];
    ok = add_counter(db, put, r->key, r->unit, r->doc, "derived", "REAL", e);
  }
  sqlite3_finalize(put);
  return ok;
}

/* ---- opening ---- */

static bool refuse_newer(const struct db *db, int64_t version, struct err *e) {
  return err_set(e, ERR_INPUT,
                 "%s was written by a newer sluice (results version %lld, this one reads up to %d); it was left as it "
                 "is. Use that sluice, or another file",
                 db->path, (long long)version, DB_VERSION);
}

static bool migrate(struct db *db, struct err *e) {
  /* Another process may have done it between our look and our lock. */
  if (!db_exec(db, "BEGIN IMMEDIATE", e)) return false;
  int64_t version = pragma(db, "PRAGMA user_version");
  bool ok = version >= 0 || db_fail(db, e);
  bool before_lines = version == 1, before_overlaps = version == 1 || version == 2;
  for (; ok && version < DB_VERSION; version++) ok = db_exec(db, db_migrations[version], e);
  ok = ok && (!before_lines || db_fill_lines(db, e));
  char set[96];
  snprintf(set, sizeof set, "PRAGMA user_version = %d; PRAGMA application_id = %d;", DB_VERSION, DB_APPLICATION);
  ok = ok && db_exec(db, set, e) && db_sync_counters(db, e) && (!before_overlaps || db_fill_overlaps(db, e)) &&
       db_exec(db, "COMMIT", e);
  if (!ok) sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
  return ok;
}

static bool check_kind(struct db *db, bool empty, enum db_mode mode, struct err *e) {
  int64_t id = pragma(db, "PRAGMA application_id"), version = pragma(db, "PRAGMA user_version");
  if (id < 0 || version < 0) return db_fail(db, e);
  if (!empty && id != DB_APPLICATION)
    return err_set(e, ERR_INPUT, "%s is an SQLite file, but not one of sluice's; it was left as it is", db->path);
  if (version > DB_VERSION) return refuse_newer(db, version, e);
  if (mode == DB_READ && version < DB_VERSION)
    return err_set(e, ERR_INPUT,
                   "%s is of an older sluice (results version %lld): `sluice db migrate %s` brings it to "
                   "version %d",
                   db->path, (long long)version, db->path, DB_VERSION);
  return true;
}

/* A page that is damaged where nobody reads it would be copied along for weeks. */
static bool quick_check(struct db *db, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, "PRAGMA quick_check(1)", e);
  if (!s) return false;
  int rc = sqlite3_step(s);
  const char *found = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
  bool ok = found && !strcmp(found, "ok");
  if (!ok && found) {
    db->trouble = DB_DAMAGED;
    err_set(e, ERR_INPUT,
            "%s is damaged (%.200s). It was left as it is: `sluice db recover %s` copies what can be read into a new "
            "file",
            db->path, found, db->path);
  } else if (!ok) {
    db_fail(db, e);
  }
  sqlite3_finalize(s);
  return ok;
}

static bool open_file(struct db *db, enum db_mode mode, bool frozen, struct err *e) {
  int flags = mode == DB_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  char *uri = NULL;
  if (frozen) { /* a folder in which SQLite cannot make its index of the log, and no log: nobody can be writing */
    uri = sqlite3_mprintf("file:%s?immutable=1", db->path);
    flags |= SQLITE_OPEN_URI;
  }
  int rc = sqlite3_open_v2(uri ? uri : db->path, &db->sql, flags, NULL);
  sqlite3_free(uri);
  CHECK(db->sql, "out of memory");
  if (rc != SQLITE_OK) return db_fail(db, e);
  sqlite3_extended_result_codes(db->sql, 1);
  sqlite3_busy_timeout(db->sql, BUSY_MS);
  return true;
}

struct db *db_open(const char *path, enum db_mode mode, struct err *e) {
  struct stat st = {0}, log;
  bool there = !stat(path, &st);
  if (!there && mode == DB_READ) return err_set(e, ERR_INPUT, "cannot open '%s': %s", path, strerror(errno)), NULL;
  if (there && !S_ISREG(st.st_mode)) return err_set(e, ERR_INPUT, "'%s' is not a file", path), NULL;
  struct db *db = calloc(1, sizeof *db);
  CHECK(db && (db->path = strdup(path)), "out of memory");
  char *wal = sqlite3_mprintf("%s-wal", path);
  bool quiet = stat(wal, &log) || !log.st_size;
  sqlite3_free(wal);
  bool ok = open_file(db, mode, false, e) &&
            (mode == DB_READ || db_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", e)) &&
            db_exec(db, "PRAGMA foreign_keys = ON; SELECT count(*) FROM sqlite_schema;", e);
  if (!ok && mode == DB_READ && quiet && (sqlite3_extended_errcode(db->sql) & 0xff) == SQLITE_CANTOPEN) {
    sqlite3_close(db->sql);
    ok = open_file(db, mode, true, e) && db_exec(db, "SELECT count(*) FROM sqlite_schema;", e);
  }
  ok = ok && check_kind(db, !there || !st.st_size, mode, e);
  ok = ok && (mode == DB_READ || ((st.st_size > CHECK_BYTES || quick_check(db, e)) && migrate(db, e)));
  if (ok) return db;
  db_close(db);
  return NULL;
}

void db_close(struct db *db) {
  if (!db) return;
  sqlite3_close_v2(db->sql);
  free(db->path);
  free(db);
}
