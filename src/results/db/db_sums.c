/* db_sums.c - a checksum for every record of the file: the rows of a table that belong to one study, machine, run or
 * launch.
 *
 * SQLite detects a damaged tree, but not damaged content. So `sums` has a 64-bit checksum per table and owner,
 * computed from the file's content when it is written and verified before the table is read. It does not depend on the
 * order of the rows nor on columns that are NULL: a new counter does not change the sums of older runs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/hash.h"
#include "results/db/db_impl.h"

/* Sluice's objects in the schema; others may add an index or view. */
#define OURS                                                                                             \
  "'studies', 'configurations', 'knobs', 'runs', 'plan', 'plan_hash', 'counters', 'totals', 'kernels', " \
  "'scheme_counters', 'histograms', 'samples', 'records', 'results', 'lines', 'lines_kernel', 'overlaps', 'sums'"

enum owner { OWNER_ITSELF, OWNER_RUN, OWNER_KERNEL, OWNER_FILE };
static const struct part {
  const char *table;
  const char *owner; /* column that identifies a sum's owner */
  enum owner kind;
  const char *what; /* for messages */
} parts[DB_PARTS] = {
    [DB_SCHEMA] = {"sqlite_schema", "0", OWNER_FILE, "the file"},
    [DB_COUNTERS] = {"counters", "0", OWNER_FILE, "the file"},
    [DB_STUDIES] = {"studies", "id", OWNER_ITSELF, "study"},
    [DB_PLAN] = {"plan", "study_id", OWNER_ITSELF, "study"},
    [DB_CONFIGURATIONS] = {"configurations", "id", OWNER_ITSELF, "configuration"},
    [DB_KNOBS] = {"knobs", "configuration_id", OWNER_ITSELF, "configuration"},
    [DB_RUNS] = {"runs", "id", OWNER_RUN, "run"},
    [DB_TOTALS] = {"totals", "run_id", OWNER_RUN, "run"},
    [DB_SCHEME_COUNTERS] = {"scheme_counters", "run_id", OWNER_RUN, "run"},
    [DB_KERNELS] = {"kernels", "run_id", OWNER_RUN, "run"},
    [DB_OVERLAPS] = {"overlaps", "run_id", OWNER_RUN, "run"},
    [DB_RECORDS] = {"records", "run_id", OWNER_RUN, "run"},
    [DB_HISTOGRAMS] = {"histograms", "kernel_id", OWNER_KERNEL, "launch"},
    [DB_SAMPLES] = {"samples", "kernel_id", OWNER_KERNEL, "launch"},
    [DB_LINES] = {"lines", "kernel_id", OWNER_KERNEL, "launch"},
};

int db_part(const char *table) {
  for (int i = 0; i < DB_PARTS; i++)
    if (!strcmp(parts[i].table, table)) return i;
  return -1;
}

/* ---- what stands there ---- */

struct group {
  int64_t owner;
  uint64_t sum;
};

/* Rows of a part in order of owners, and the position in them. */
struct scan {
  sqlite3_stmt *s;
  uint64_t *name; /* hash per column */
  int columns, rc;
};

static uint64_t value_sum(sqlite3_stmt *s, int at, uint64_t h) {
  uint64_t x = 0;
  switch (sqlite3_column_type(s, at)) {
  case SQLITE_INTEGER:
    return hash_u64(h ^ (uint64_t)sqlite3_column_int64(s, at));
  case SQLITE_FLOAT: {
    double d = sqlite3_column_double(s, at);
    memcpy(&x, &d, sizeof x);
    return hash_u64(hash_u64(h) ^ x);
  }
  default: {
    const void *p = sqlite3_column_blob(s, at);
    return hash_u64(hash_bytes(h, p, (size_t)sqlite3_column_bytes(s, at)) + (uint64_t)sqlite3_column_type(s, at));
  }
  }
}

static uint64_t row_sum(const struct scan *c) {
  uint64_t h = HASH_INIT;
  for (int i = 1; i < c->columns; i++)
    if (sqlite3_column_type(c->s, i) != SQLITE_NULL) h = hash_u64(h) ^ value_sum(c->s, i, c->name[i]);
  return hash_u64(h);
}

static bool scan_begin(struct db *db, struct scan *c, enum db_part part, const char *where, int64_t id, struct err *e) {
  const struct part *p = &parts[part];
  char *sql = part == DB_SCHEMA
                  ? sqlite3_mprintf("SELECT 0, type, name, tbl_name, sql FROM sqlite_schema WHERE name IN "
                                    "(" OURS ")")
                  : sqlite3_mprintf("SELECT %s, t.* FROM %s t%s ORDER BY 1", p->owner, p->table, where);
  *c = (struct scan){.s = db_prepare(db, sql, e)};
  sqlite3_free(sql);
  if (!c->s) return false;
  if (*where) sqlite3_bind_int64(c->s, 1, id);
  c->columns = sqlite3_column_count(c->s);
  c->name = mem_zeroed((size_t)c->columns, sizeof *c->name);
  for (int i = 0; i < c->columns; i++) {
    const char *name = sqlite3_column_name(c->s, i);
    c->name[i] = hash_bytes(HASH_INIT, name, strlen(name));
  }
  c->rc = sqlite3_step(c->s);
  return true;
}

/* The next owner with the sum of its rows; false at the end and at an error (c->rc says which). */
static bool scan_next(struct scan *c, struct group *g) {
  if (c->rc != SQLITE_ROW) return false;
  g->owner = sqlite3_column_int64(c->s, 0);
  g->sum = 0;
  do g->sum += row_sum(c); /* in any order */
  while ((c->rc = sqlite3_step(c->s)) == SQLITE_ROW && sqlite3_column_int64(c->s, 0) == g->owner);
  return c->rc == SQLITE_ROW || c->rc == SQLITE_DONE;
}

static void scan_end(struct scan *c) {
  sqlite3_finalize(c->s);
  free(c->name);
}

/* ---- sealing ---- */

/* Recompute the sums of rows selected by `where`; `sums_where` selects the old sums. */
static bool seal(struct db *db, enum db_part part, const char *where, const char *sums_where, int64_t id,
                 struct err *e) {
  struct scan c;
  struct group g;
  char *sql = sqlite3_mprintf("DELETE FROM sums WHERE part = ?2%s", sums_where);
  sqlite3_stmt *clear = db_prepare(db, sql, e);
  sqlite3_free(sql);
  bool ok = clear;
  if (ok) {
    if (*sums_where) sqlite3_bind_int64(clear, 1, id);
    db_bind_text(clear, 2, parts[part].table);
    ok = db_run_once(db, clear, e);
  }
  sqlite3_finalize(clear);
  sqlite3_stmt *put = ok ? db_prepare(db, "INSERT INTO sums VALUES(?, ?, ?)", e) : NULL;
  ok = put && scan_begin(db, &c, part, where, id, e);
  if (ok) {
    db_bind_text(put, 1, parts[part].table);
    while (ok && scan_next(&c, &g)) {
      sqlite3_bind_int64(put, 2, g.owner);
      sqlite3_bind_int64(put, 3, (int64_t)g.sum);
      ok = db_run_once(db, put, e);
    }
    if (ok && c.rc != SQLITE_DONE) ok = db_fail(db, e);
    scan_end(&c);
  }
  sqlite3_finalize(put);
  return ok;
}

bool db_seal(struct db *db, enum db_part part, int64_t owner, struct err *e) {
  char *where = sqlite3_mprintf(" WHERE %s = ?1", parts[part].owner);
  bool ok = seal(db, part, where, " AND id = ?1", owner, e);
  sqlite3_free(where);
  return ok;
}

#define LAUNCHES "IN (SELECT id FROM kernels WHERE run_id = ?1)"

bool db_seal_run(struct db *db, int64_t run, struct err *e) {
  bool ok = true;
  for (int i = 0; ok && i < DB_PARTS; i++) {
    if (parts[i].kind == OWNER_RUN) ok = db_seal(db, (enum db_part)i, run, e);
    if (parts[i].kind == OWNER_KERNEL)
      ok = seal(db, (enum db_part)i, " WHERE kernel_id " LAUNCHES, " AND id " LAUNCHES, run, e);
  }
  return ok;
}

bool db_unseal_run(struct db *db, int64_t run, struct err *e) {
  bool ok = true;
  for (int i = 0; ok && i < DB_PARTS; i++) {
    if (parts[i].kind != OWNER_RUN && parts[i].kind != OWNER_KERNEL) continue;
    sqlite3_stmt *s = db_prepare(db,
                                 parts[i].kind == OWNER_RUN ? "DELETE FROM sums WHERE id = ?1 AND part = ?2"
                                                            : "DELETE FROM sums WHERE id " LAUNCHES " AND part = ?2",
                                 e);
    ok = s;
    if (!ok) break;
    sqlite3_bind_int64(s, 1, run);
    db_bind_text(s, 2, parts[i].table);
    ok = db_run_once(db, s, e);
    sqlite3_finalize(s);
  }
  return ok;
}

bool db_seal_all(struct db *db, struct err *e) {
  bool ok = true;
  for (int i = 0; ok && i < DB_PARTS; i++) ok = seal(db, (enum db_part)i, "", "", 0, e);
  return ok;
}

/* ---- comparing ---- */

static bool report_damage(struct db *db, const struct part *p, int64_t owner, struct err *e) {
  db->trouble = DB_DAMAGED;
  char of[64] = "";
  if (p->kind != OWNER_FILE) snprintf(of, sizeof of, " of %s %lld", p->what, (long long)owner);
  return err_set(
      e, ERR_INPUT,
      "%s is damaged: what stands in `%s`%s is not what was written there (its checksum differs). `sluice db "
      "recover %s` copies what is sound into a new file",
      db->path, p->table, of, db->path);
}

/* The sums cover the table's rows, but readers use its indexes. */
static bool verify_indexes(struct db *db, const struct part *p, struct err *e) {
  char what[80], *sql = sqlite3_mprintf("PRAGMA integrity_check(%s)", p->table);
  snprintf(what, sizeof what, "`%s`: ", p->table);
  bool ok = db_check_ok(db, sql, what, e);
  sqlite3_free(sql);
  return ok;
}

static bool verify_part(struct db *db, enum db_part part, struct err *e) {
  const struct part *p = &parts[part];
  if (!verify_indexes(db, p, e)) return false;
  sqlite3_stmt *want = db_prepare(db, "SELECT id, sum FROM sums WHERE part = ? ORDER BY id", e);
  if (!want) return false;
  db_bind_text(want, 1, p->table);
  struct scan c;
  struct group g = {0};
  if (!scan_begin(db, &c, part, "", 0, e)) return sqlite3_finalize(want), false;
  bool ok = true;
  for (;;) {
    int rc = sqlite3_step(want);
    bool any = scan_next(&c, &g);
    if (rc == SQLITE_DONE && !any && c.rc == SQLITE_DONE) break;
    if ((rc != SQLITE_ROW && rc != SQLITE_DONE) || (c.rc != SQLITE_ROW && c.rc != SQLITE_DONE)) {
      ok = db_fail(db, e);
      break;
    }
    int64_t id = rc == SQLITE_ROW ? sqlite3_column_int64(want, 0) : 0;
    ok = any && rc == SQLITE_ROW && id == g.owner && (uint64_t)sqlite3_column_int64(want, 1) == g.sum;
    if (ok) continue;
    /* One of them is missing: the lower number has no counterpart. */
    report_damage(db, p, !any || (rc == SQLITE_ROW && id < g.owner) ? id : g.owner, e);
    break;
  }
  scan_end(&c);
  sqlite3_finalize(want);
  return ok;
}

unsigned db_parts_there(struct db *db) {
  unsigned which = 1u << DB_SCHEMA;
  for (int i = DB_SCHEMA + 1; i < DB_PARTS; i++)
    if (sqlite3_table_column_metadata(db->sql, NULL, parts[i].table, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK)
      which |= 1u << i;
  return which;
}

bool db_verify(struct db *db, unsigned which, struct err *e) {
  which &= ~db->verified;
  if (!which) return true;
  /* Rows and sums of one state of the file, despite concurrent writers. */
  bool own = sqlite3_get_autocommit(db->sql);
  if (own && !db_exec(db, "BEGIN", e)) return false;
  bool ok = true;
  for (int i = 0; ok && i < DB_PARTS; i++)
    if (which & 1u << i) ok = verify_part(db, (enum db_part)i, e);
  if (own) sqlite3_exec(db->sql, "COMMIT", NULL, NULL, NULL);
  if (ok) db->verified |= which;
  return ok;
}

enum db_sum db_sum_of(struct db *db, enum db_part part, int64_t owner) {
  sqlite3_stmt *s = db_prepare(db, "SELECT sum FROM sums WHERE part = ? AND id = ?", NULL);
  if (!s) return DB_SUM_NONE;
  db_bind_text(s, 1, parts[part].table);
  sqlite3_bind_int64(s, 2, owner);
  bool there = sqlite3_step(s) == SQLITE_ROW;
  uint64_t sum = there ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
  sqlite3_finalize(s);
  if (!there) return DB_SUM_NONE;
  char *where = sqlite3_mprintf(" WHERE %s = ?1", parts[part].owner);
  struct scan c;
  struct group g = {0};
  bool right = scan_begin(db, &c, part, where, owner, NULL) && scan_next(&c, &g) && g.owner == owner && g.sum == sum;
  scan_end(&c);
  sqlite3_free(where);
  return right ? DB_SUM_RIGHT : DB_SUM_WRONG;
}
