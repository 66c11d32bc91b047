/* db_open.c - opens a results file: its possible errors, and migration to the present version. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "gpu/common/stats.h"
#include "results/db/db_impl.h"
#include "results/record.h"

/* SUMS_SINCE: the first version with checksums. */
enum { BUSY_MS = 10000, CHECK_BYTES = 256 << 20, SUMS_SINCE = 4 };

enum db_trouble db_trouble(const struct db *db) {
  return db->trouble;
}

const char *db_notice(const struct db *db) {
  return db->notice;
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
    return err_set(e, ERR_OUTPUT, "%s: the disk is full; what was stored before is safe. Free some space and try again",
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
    if (sqlite3_extended_errcode(db->sql) == SQLITE_READONLY_ROLLBACK)
      return err_set(e, ERR_INPUT,
                     "%s was being written when its writer was killed: `sluice db migrate %s` undoes that", p, p);
    return err_set(e, ERR_INPUT, "%s is read-only; make it writable, or name another file with --results", p);
  case SQLITE_IOERR: /* a write cut short by a limit or quota gives this */
    if (sqlite3_system_errno(db->sql) == ENOSPC || sqlite3_system_errno(db->sql) == EDQUOT ||
        sqlite3_system_errno(db->sql) == EFBIG) {
      db->trouble = DB_FULL;
      return err_set(e, ERR_OUTPUT,
                     "%s: the disk is full (%s); what was stored before is safe. Free some space and "
                     "try again",
                     p, strerror(sqlite3_system_errno(db->sql)));
    }
    break;
  case SQLITE_CONSTRAINT:
  case SQLITE_MISMATCH:
  case SQLITE_TOOBIG:
    db->trouble = DB_REFUSED;
    return err_set(e, ERR_INPUT, "%s: %s", p, sqlite3_errmsg(db->sql));
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

enum { COUNTER_TABLES = 3 };
static const char *const counter_tables[COUNTER_TABLES] = {"totals", "kernels", "overlaps"};

/* Counter `i` as a row of `counters` and the type of its columns; false when there are no more. */
struct counter {
  const char *key, *unit, *doc, *kind, *type;
};

static bool counter_at(uint32_t i, struct counter *c) {
  static const char *const kinds[] = {[STAT_SUM] = "sum", [STAT_MAX] = "maximum", [STAT_MEAN] = "mean"};
  if (i < gpu_stat_row_count) {
    const struct stat_row *r = &gpu_stat_rows[i];
    *c = (struct counter){r->key, r->unit, r->doc, kinds[r->kind], r->kind == STAT_MEAN ? "REAL" : "INTEGER"};
    return true;
  }
  if (i - gpu_stat_row_count >= derived_row_count) return false;
  const struct derived_row *r = &derived_rows[i - gpu_stat_row_count];
  *c = (struct counter){r->key, r->unit, r->doc, "derived", "REAL"};
  return true;
}

static bool add_counter(struct db *db, sqlite3_stmt *put, const struct counter *c, struct err *e) {
  for (size_t t = 0; t < COUNTER_TABLES; t++) {
    if (has_column(db, counter_tables[t], c->key)) continue;
    char *sql = sqlite3_mprintf("ALTER TABLE %s ADD COLUMN \"%w\" %s", counter_tables[t], c->key, c->type);
    bool ok = db_exec(db, sql, e);
    sqlite3_free(sql);
    if (!ok) return false;
  }
  db_bind_text(put, 1, c->key);
  db_bind_text(put, 2, c->unit);
  db_bind_text(put, 3, c->doc);
  db_bind_text(put, 4, c->kind);
  return db_run_once(db, put, e);
}

bool db_sync_counters(struct db *db, struct err *e) {
  sqlite3_stmt *put = db_prepare(db,
                                 "INSERT INTO counters VALUES(?, ?, ?, ?) ON CONFLICT(key) DO UPDATE SET unit = "
                                 "excluded.unit, meaning = excluded.meaning, kind = excluded.kind WHERE "
                                 "unit <> excluded.unit OR meaning <> excluded.meaning OR kind <> excluded.kind",
                                 e);
  bool ok = put;
  struct counter c;
  for (uint32_t i = 0; ok && counter_at(i, &c); i++) ok = add_counter(db, put, &c, e);
  sqlite3_finalize(put);
  return ok;
}

static bool recreate(struct db *db, const char *table, const char *sql, struct err *e) {
  char *drop = sqlite3_mprintf("DROP TABLE %s", table);
  bool ok = db_exec(db, drop, e) && db_exec(db, sql, e);
  sqlite3_free(drop);
  return ok;
}

/* SQLite reads the whole schema again for every added column. So an empty table gets one counter that way, which finds
 * its position among columns and constraints, and is then recreated with all counters. */
static bool widen_empty(struct db *db, const char *table, struct err *e) {
  struct counter c;
  CHECK(counter_at(0, &c), "no counters");
  char *first = sqlite3_mprintf("\"%w\" %s", c.key, c.type);
  char *add = sqlite3_mprintf("ALTER TABLE %s ADD COLUMN %s", table, first);
  sqlite3_stmt *was = db_exec(db, add, e) ? db_prepare(db, "SELECT sql FROM sqlite_schema WHERE name = ?", e) : NULL;
  sqlite3_str *now = sqlite3_str_new(db->sql);
  if (was) {
    db_bind_text(was, 1, table);
    const char *sql = sqlite3_step(was) == SQLITE_ROW ? (const char *)sqlite3_column_text(was, 0) : NULL;
    const char *at = sql ? strstr(sql, first) : NULL;
    CHECK(at, "%s: no column %s", table, first);
    at += strlen(first);
    sqlite3_str_append(now, sql, (int)(at - sql));
    for (uint32_t i = 1; counter_at(i, &c); i++) sqlite3_str_appendf(now, ", \"%w\" %s", c.key, c.type);
    sqlite3_str_appendall(now, at);
  }
  sqlite3_finalize(was);
  char *text = sqlite3_str_finish(now);
  bool ok = was && recreate(db, table, text, e);
  sqlite3_free(text);
  sqlite3_free(add);
  sqlite3_free(first);
  return ok;
}

/* ---- opening ---- */

static bool refuse_newer(const struct db *db, int64_t version, struct err *e) {
  return err_set(e, ERR_INPUT,
                 "%s was written by a newer sluice (results version %lld, this one reads up to %d); it was left as it "
                 "is. Use that sluice, or another file",
                 db->path, (long long)version, DB_VERSION);
}

/* Migrate a file of an older version step by step. The sums are recomputed from verified content. */
static bool migrate_steps(struct db *db, int64_t version, struct err *e) {
  bool before_lines = version == 1, before_overlaps = version == 1 || version == 2;
  bool ok = version < SUMS_SINCE || db_verify(db, db_parts_there(db), e);
  ok = ok && (version == 0 || version >= SUMS_SINCE || db_records_sound(db, e));
  for (int64_t v = version; ok && v < DB_VERSION; v++) ok = db_exec(db, db_migrations[v], e);
  ok = ok && (!before_lines || db_fill_lines(db, e));
  for (size_t t = 0; ok && version == 0 && t < COUNTER_TABLES; t++) ok = widen_empty(db, counter_tables[t], e);
  char set[96];
  snprintf(set, sizeof set, "PRAGMA user_version = %d; PRAGMA application_id = %d;", DB_VERSION, DB_APPLICATION);
  db->verified = 0;
  return ok && db_exec(db, set, e) && db_sync_counters(db, e) && (!before_overlaps || db_fill_overlaps(db, e)) &&
         db_seal_all(db, e);
}

/* Counters missing in the file. */
static bool update_counters(struct db *db, struct err *e) {
  int64_t schema = pragma(db, "PRAGMA schema_version");
  int changes = sqlite3_total_changes(db->sql);
  if (!db_sync_counters(db, e)) return false;
  if (schema == pragma(db, "PRAGMA schema_version") && changes == sqlite3_total_changes(db->sql)) return true;
  return db_seal(db, DB_SCHEMA, 0, e) && db_seal(db, DB_COUNTERS, 0, e);
}

bool db_migrate(struct db *db, struct err *e) {
  /* Another process may have done it between check and lock. */
  if (!db_exec(db, "BEGIN IMMEDIATE", e)) return false;
  int64_t version = pragma(db, "PRAGMA user_version");
  bool ok = version >= 0 || db_fail(db, e);
  ok =
      ok && (version < DB_VERSION ? migrate_steps(db, version, e) : update_counters(db, e)) && db_exec(db, "COMMIT", e);
  if (!ok) sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
  return ok;
}

/* No tables and no marks: a file of a killed creator, or one made by `touch`. */
static bool is_blank(struct db *db) {
  return !pragma(db, "SELECT count(*) FROM sqlite_schema") && !pragma(db, "PRAGMA application_id") &&
         !pragma(db, "PRAGMA user_version");
}

static bool check_kind(struct db *db, enum db_mode mode, struct err *e) {
  int64_t id = pragma(db, "PRAGMA application_id"), version = pragma(db, "PRAGMA user_version");
  if (id < 0 || version < 0) return db_fail(db, e);
  if (is_blank(db)) {
    if (mode == DB_READ)
      return err_set(
          e, ERR_INPUT,
          "%s has no tables yet: what made it was stopped before it had begun. The same `sluice study` makes "
          "them and continues",
          db->path);
    db->notice = "had no tables: what made it was stopped before it had begun; they are made now";
    return true;
  }
  if (id != DB_APPLICATION)
    return err_set(e, ERR_INPUT, "%s is an SQLite file, but not one of sluice's; it was left as it is", db->path);
  if (version > DB_VERSION) return refuse_newer(db, version, e);
  if (!version) {
    db->trouble = DB_DAMAGED;
    return err_set(e, ERR_INPUT,
                   "%s is damaged: it has no version. `sluice db recover %s` copies what is sound into a new file",
                   db->path, db->path);
  }
  if (mode == DB_READ && version < DB_VERSION)
    return err_set(e, ERR_INPUT,
                   "%s is of an older sluice (results version %lld): `sluice db migrate %s` brings it to "
                   "version %d",
                   db->path, (long long)version, db->path, DB_VERSION);
  return true;
}

bool db_check_ok(struct db *db, const char *sql, const char *what, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, sql, e);
  if (!s) return false;
  int rc = sqlite3_step(s);
  const char *found = rc == SQLITE_ROW ? db_column_text(s, 0) : NULL;
  bool ok = found && !strcmp(found, "ok");
  if (!ok && found) {
    db->trouble = DB_DAMAGED;
    err_set(
        e, ERR_INPUT,
        "%s is damaged: %s%.200s. It was left as it is: `sluice db recover %s` copies what is sound into a new file",
        db->path, what, found, db->path);
  } else if (!ok) {
    db_fail(db, e);
  }
  sqlite3_finalize(s);
  return ok;
}

/* SQLite reads a truncated last page as zeros. */
static bool whole_pages(struct db *db, off_t size, struct err *e) {
  int64_t page = pragma(db, "PRAGMA page_size");
  if (page <= 0 || size % page == 0) return true;
  db->trouble = DB_DAMAGED;
  return err_set(
      e, ERR_INPUT,
      "%s is damaged: it was cut off at %lld bytes, within a page. `sluice db recover %s` copies what can be "
      "read into a new file",
      db->path, (long long)size, db->path);
}

static bool open_file(struct db *db, enum db_mode mode, bool frozen, struct err *e) {
  int flags = mode == DB_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  char *uri = NULL;
  if (frozen) { /* a folder in which SQLite cannot create its index of the log, and no log: there is no writer */
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

/* Unread damage would be copied for weeks: verify everything, or in large files the part needed to resume. */
static bool sound_enough(struct db *db, off_t size, bool sums, struct err *e) {
  bool small = size <= CHECK_BYTES;
  unsigned parts =
      small ? DB_ALL : 1u << DB_SCHEMA | 1u << DB_COUNTERS | 1u << DB_STUDIES | 1u << DB_PLAN | 1u << DB_RUNS;
  return (!small || db_check_ok(db, "PRAGMA quick_check(1)", "", e)) &&
         (!sums || pragma(db, "PRAGMA user_version") < DB_VERSION || db_verify(db, parts, e));
}

/* SQLite would apply an old log to a new file of the same name. */
static bool no_old_log(const char *path, struct err *e) {
  static const char *const tails[] = {"-wal", "-journal"};
  struct stat st;
  for (size_t i = 0; i < 2; i++) {
    char *log = sqlite3_mprintf("%s%s", path, tails[i]);
    bool left = !stat(log, &st) && st.st_size && access(path, F_OK); /* access: created by another process just now */
    if (left)
      err_set(
          e, ERR_INPUT,
          "%s is there without %s: it belongs to a results file that was moved or removed. Put that back, or remove "
          "this too",
          log, path);
    sqlite3_free(log);
    if (left) return false;
  }
  return true;
}

/* True if the file exists and is usable; created if necessary. */
static bool find_file(const char *path, enum db_mode mode, off_t *size, struct err *e) {
  struct stat st;
  bool there = !stat(path, &st);
  if (!there && mode == DB_READ) return err_set(e, ERR_INPUT, "cannot open '%s': %s", path, strerror(errno));
  if (!there && (!no_old_log(path, e) || !db_create(path, e))) return false;
  if (!there && stat(path, &st)) return err_set(e, ERR_INPUT, "cannot open '%s': %s", path, strerror(errno));
  *size = st.st_size;
  return S_ISREG(st.st_mode) || err_set(e, ERR_INPUT, "'%s' is not a file", path);
}

static struct db *open_checked(const char *path, enum db_mode mode, bool sums, struct err *e) {
  off_t size = 0;
  if (!find_file(path, mode, &size, e)) return NULL;
  struct db *db = mem_zeroed(1, sizeof *db);
  db->path = mem_text(path);
  struct stat log;
  char *wal = sqlite3_mprintf("%s-wal", path);
  bool quiet = stat(wal, &log) || !log.st_size;
  sqlite3_free(wal);
  bool ok =
      open_file(db, mode, false, e) && db_exec(db, "PRAGMA foreign_keys = ON; SELECT count(*) FROM sqlite_schema;", e);
  if (!ok && mode == DB_READ && quiet && (sqlite3_extended_errcode(db->sql) & 0xff) == SQLITE_CANTOPEN) {
    sqlite3_close(db->sql);
    ok = open_file(db, mode, true, e) && db_exec(db, "SELECT count(*) FROM sqlite_schema;", e);
  }
  ok = ok && (!quiet || whole_pages(db, size, e)) && check_kind(db, mode, e);
  if (mode == DB_WRITE)
    ok = ok && sound_enough(db, size, sums, e) &&
         db_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", e) && db_migrate(db, e);
  if (ok) return db;
  db_close(db);
  return NULL;
}

struct db *db_open(const char *path, enum db_mode mode, struct err *e) {
  return open_checked(path, mode, true, e);
}

bool db_seal_file(const char *path, struct err *e) {
  if (access(path, F_OK)) return err_set(e, ERR_INPUT, "cannot open '%s': %s", path, strerror(errno));
  struct db *db = open_checked(path, DB_WRITE, false, e);
  bool ok =
      db && db_exec(db, "BEGIN IMMEDIATE", e) && db_seal_all(db, e) && db_check(db, e) && db_exec(db, "COMMIT", e);
  db_close(db); /* rolls back uncommitted changes */
  return ok;
}

void db_close(struct db *db) {
  if (!db) return;
  sqlite3_close_v2(db->sql);
  free(db->path);
  free(db);
}
