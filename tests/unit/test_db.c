/* The results database: what is put in comes out, in whole runs; foreign, newer, damaged or locked files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/paths.h"
#include "results/db/db_impl.h"
#include "results/record.h"

static char dir[64];

static const char *file(const char *name) {
  static char path[4][128];
  static unsigned k;
  char *p = path[k++ % 4];
  snprintf(p, sizeof path[0], "%s/%s", dir, name);
  return p;
}

static int setup(void **state) {
  (void)state;
  strcpy(dir, "/tmp/sluice-db-XXXXXX");
  return mkdtemp(dir) ? 0 : 1;
}

static int teardown(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

/* A record of two launches with recognisable counters. */
static json_t *make_record(uint64_t cycles) {
  struct gpu_config c;
  gpu_config_defaults(&c);
  struct record *r = record_new(
      &(struct record_head){.config = &c, .program = "prog --size small", .mode = "timing", .scheme = "bucl"});
  for (uint32_t i = 1; i <= 2; i++) {
    struct gpu_stats s = {.kernels = 1, .cycles = i * cycles, .thread_insts = 320 * cycles, .l1d_read_accesses = 8};
    record_add(r, &(struct record_launch){.kernel = "k", .grid = {i, 1, 1}, .block = {32, 2, 1}, .timing = true}, &s);
  }
  record_add_scheme_counter(r, "bucl.bypassed_loads", 7);
  char *text = record_text(r);
  json_t *j = json_loads(text, 0, NULL);
  assert_non_null(j);
  free(text);
  record_free(r);
  return j;
}

static struct db_run run_of(const char *hash, bool done) {
  return (struct db_run){.hash = hash,
                         .done = done,
                         .exit_code = done ? 0 : 4,
                         .error = done ? NULL : "out of bounds",
                         .log = done ? NULL : "a long story",
                         .command = "sluice run -- prog",
                         .program = "prog",
                         .gpu = "fermi",
                         .scheme = "bucl",
                         .mode = "timing"};
}

static bool first_row(void *ctx, const struct db_row *r) {
  *(struct db_row *)ctx = *r;
  return false;
}

static int64_t count(struct db *db, const char *table) {
  char sql[96];
  struct err e = {0};
  snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
  struct db_table *t = db_sql(db, sql, &e);
  assert_non_null(t);
  int64_t n = t->cell[0].i;
  db_table_free(t);
  return n;
}

static void round_trip(void **state) {
  (void)state;
  struct err e = {0};
  struct db *db = db_open(file("a.db"), DB_WRITE, &e);
  assert_non_null(db);
  const struct db_plan plan[] = {
      {.hash = "h1", .workload = "prog", .gpu = "fermi", .scheme = "bucl", .parameters = "{}"},
      {.hash = "h2", .workload = "prog", .gpu = "fermi", .scheme = "none"}};
  assert_true(db_study_put(db, "s", "s.yaml", "name: s\n", plan, 2, &e) > 0);
  json_t *record = make_record(100);
  struct db_run run = run_of("h1", true);
  assert_true(db_run_put(db, &run, record, &e));
  /* Again: nothing is stored twice. */
  assert_true(db_run_put(db, &run, record, &e));
  assert_int_equal(count(db, "runs"), 1);
  assert_int_equal(count(db, "kernels"), 2);
  /* A failed run is replaced when it works. */
  run = run_of("h2", false);
  assert_true(db_run_put(db, &run, NULL, &e));
  assert_int_equal(db_run_status(db, "h2"), DB_FAILED);
  run = run_of("h2", true);
  assert_true(db_run_put(db, &run, record, &e));
  assert_int_equal(db_run_status(db, "h2"), DB_DONE);
  assert_int_equal(count(db, "runs"), 2);
  db_close(db);

  db = db_open(file("a.db"), DB_READ, &e);
  assert_non_null(db);
  struct db_row row;
  assert_true(db_each(db, "s", first_row, &row, &e));
  assert_true(row.run > 0 && row.status == DB_DONE);
  double v;
  assert_true(db_value(db, row.run, "cycles", &v) && v == 300);
  assert_true(db_value(db, row.run, "ipc", &v) && v > 213 && v < 214);
  assert_true(db_value(db, row.run, "bucl.bypassed_loads", &v) && v == 7);
  assert_false(db_value(db, row.run, "no such\" counter", &v));
  json_t *back = db_record(db, row.run, &e);
  assert_true(json_equal(back, record));
  json_decref(back);
  json_decref(record);
  assert_true(db_check(db, &e));
  /* Only questions. */
  assert_null(db_sql(db, "DELETE FROM runs", &e));
  assert_null(db_sql(db, "SELECT 1; SELECT 2", &e));
  assert_null(db_sql(db, "SELECT nonsense", &e));
  assert_non_null(strstr(e.msg, "nonsense"));
  db_close(db);
}

static void refused(const char *name, const char *why) {
  struct err e = {0};
  assert_null(db_open(file(name), DB_WRITE, &e));
  if (!strstr(e.msg, why)) fail_msg("'%s' lacks '%s'", e.msg, why);
  assert_int_equal(e.code, ERR_INPUT);
}

static void sql(const char *name, const char *text) {
  sqlite3 *s;
  assert_int_equal(sqlite3_open(file(name), &s), SQLITE_OK);
  assert_int_equal(sqlite3_exec(s, text, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(s);
}

static void bad_files(void **state) {
  (void)state;
  struct err e = {0};
  assert_null(db_open(file("none.db"), DB_READ, &e));
  assert_non_null(strstr(e.msg, "No such file"));
  assert_int_not_equal(access(file("none.db"), F_OK), 0);
  sql("other.db", "CREATE TABLE t(x)");
  size_t other_bytes, other_after;
  char *other = path_read_whole(file("other.db"), &other_bytes);
  refused("other.db", "not one of sluice's");
  char *same = path_read_whole(file("other.db"), &other_after);
  assert_int_equal(other_bytes, other_after);
  assert_memory_equal(other, same, other_bytes);
  free(other);
  free(same);
  /* A log whose file is gone would be played into the new one. */
  assert_true(path_write_whole(file("gone.db-wal"), "some frames", 11));
  refused("gone.db", "belongs to a results file that was moved");
  assert_int_not_equal(access(file("gone.db"), F_OK), 0);
  db_close(db_open(file("newer.db"), DB_WRITE, &e));
  sql("newer.db", "PRAGMA user_version = 999");
  refused("newer.db", "newer sluice");
  assert_true(path_write_whole(file("text.db"), "results, they said; but this is a text of some length\n", 54));
  refused("text.db", "db recover");
  size_t n;
  char *left = path_read_whole(file("text.db"), &n);
  assert_int_equal(n, 54);
  free(left);
  refused("", "not a file");
}

/* A writer that is killed when its first pages are in the file: the journal beside it takes them back. */
static void leave_hot_journal(const char *name) {
  pid_t pid = fork();
  if (!pid) {
    sql(name, "CREATE TABLE t(x); DROP TABLE t; VACUUM");
    sqlite3 *s;
    int rc = sqlite3_open(file(name), &s);
    if (!rc)
      rc =
          sqlite3_exec(s,
                       "PRAGMA cache_size = 2; BEGIN; CREATE TABLE t(x); INSERT INTO t SELECT zeroblob(4000) FROM "
                       "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i FROM n)",
                       NULL, NULL, NULL);
    _exit(rc);
  }
  int status;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  char journal[160];
  snprintf(journal, sizeof journal, "%s-journal", file(name));
  assert_int_equal(access(journal, F_OK), 0);
}

/* Files without tables, as a kill leaves them: an empty one, the first page of one in either mode, pages that a hot
 * journal takes back. They are used, with a word about it; for reading they are an error that says what to do. */
static void unfinished(void **state) {
  (void)state;
  static const char *const begun[] = {"", "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; COMMIT",
                                      "CREATE TABLE t(x); DROP TABLE t; VACUUM", NULL};
  for (int i = 0; i < 4; i++) {
    char name[32];
    struct err e = {0};
    snprintf(name, sizeof name, "begun%d.db", i);
    if (!begun[i]) leave_hot_journal(name);
    else if (*begun[i]) sql(name, begun[i]);
    else assert_true(path_write_whole(file(name), "", 0));
    assert_null(db_open(file(name), DB_READ, &e));
    if (!strstr(e.msg, begun[i] ? "no tables yet" : "when its writer was killed")) fail_msg("%s", e.msg);
    struct db *db = db_open(file(name), DB_WRITE, &e);
    if (!db) fail_msg("%s", e.msg);
    assert_non_null(db_notice(db));
    struct db_run run = run_of("h", false);
    assert_true(db_run_put(db, &run, NULL, &e));
    db_close(db);
    db = db_open(file(name), DB_WRITE, &e);
    assert_true(db && !db_notice(db) && db_check(db, &e));
    assert_int_equal(db_run_status(db, "h"), DB_FAILED);
    db_close(db);
  }
}

/* Several at once: all use one file, and what each stores is there. */
static void created_together(void **state) {
  (void)state;
  enum { PROCESSES = 6 };
  pid_t pid[PROCESSES];
  const char *path = file("together.db");
  for (int i = 0; i < PROCESSES; i++) {
    if ((pid[i] = fork())) continue;
    struct err e = {0};
    char hash[16];
    snprintf(hash, sizeof hash, "h%d", i);
    struct db *db = db_open(path, DB_WRITE, &e);
    struct db_run run = run_of(hash, false);
    bool ok = db && db_run_put(db, &run, NULL, &e);
    db_close(db);
    if (!ok) fprintf(stderr, "%s\n", e.msg);
    _exit(!ok);
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status;
    assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
    assert_int_equal(status, 0);
  }
  struct err e = {0};
  struct db *db = db_open(path, DB_READ, &e);
  assert_non_null(db);
  assert_int_equal(count(db, "runs"), PROCESSES);
  db_close(db);
}

/* Every row of `a` is the row of `b` at its place. */
static void same_rows(struct db *a, struct db *b, const char *sql) {
  struct err e = {0};
  sqlite3_stmt *x = db_prepare(a, sql, &e), *y = db_prepare(b, sql, &e);
  assert_non_null(x);
  assert_non_null(y);
  int rows = 0;
  for (int rc; (rc = sqlite3_step(x)) == sqlite3_step(y) && rc == SQLITE_ROW; rows++)
    for (int i = 0; i < sqlite3_column_count(x); i++) {
      const char *p = (const char *)sqlite3_column_text(x, i), *q = (const char *)sqlite3_column_text(y, i);
      assert_int_equal(!p, !q);
      if (p) assert_string_equal(p, q);
    }
  assert_true(rows > 10);
  assert_int_equal(sqlite3_stmt_busy(x), 0);
  assert_int_equal(sqlite3_stmt_busy(y), 0);
  sqlite3_finalize(x);
  sqlite3_finalize(y);
}

/* A new file has the tables, columns and counters that all steps one after the other give, but not made one by one. */
static void same_tables(void **state) {
  (void)state;
  enum { FROM = 3 };
  struct err e = {0};
  char set[96];
  sqlite3 *old;
  assert_int_equal(sqlite3_open(file("steps.db"), &old), SQLITE_OK);
  for (int v = 0; v < FROM; v++) assert_int_equal(sqlite3_exec(old, db_migrations[v], NULL, NULL, NULL), SQLITE_OK);
  snprintf(set, sizeof set, "PRAGMA user_version = %d; PRAGMA application_id = %d", FROM, DB_APPLICATION);
  assert_int_equal(sqlite3_exec(old, set, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(old);
  struct db *steps = db_open(file("steps.db"), DB_WRITE, &e), *new = db_open(file("new.db"), DB_WRITE, &e);
  assert_non_null(steps);
  assert_non_null(new);
  same_rows(steps, new, "SELECT name, type, tbl_name, sql FROM sqlite_schema ORDER BY name");
  same_rows(steps, new, "SELECT * FROM pragma_table_info('kernels') ORDER BY cid");
  same_rows(steps, new, "SELECT * FROM pragma_table_info('results') ORDER BY cid");
  same_rows(steps, new, "SELECT * FROM counters ORDER BY key");
  assert_true(db_check(steps, &e));
  assert_true(db_check(new, &e));
  db_close(steps);
  sqlite3_stmt *changes = db_prepare(new, "PRAGMA schema_version", &e);
  assert_int_equal(sqlite3_step(changes), SQLITE_ROW);
  int64_t n = sqlite3_column_int64(changes, 0);
  if (n > 100) fail_msg("%lld changes of the schema of a new file", (long long)n);
  sqlite3_finalize(changes);
  db_close(new);
}

static void locked(void **state) {
  (void)state;
  struct err e = {0};
  struct db *db = db_open(file("a.db"), DB_WRITE, &e);
  assert_non_null(db);
  sqlite3_busy_timeout(db->sql, 50);
  sqlite3 *other;
  assert_int_equal(sqlite3_open(file("a.db"), &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  struct db_run run = run_of("h", false);
  assert_false(db_run_put(db, &run, NULL, &e));
  assert_int_equal(db_trouble(db), DB_LOCKED);
  assert_non_null(strstr(e.msg, "locked"));
  assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(other);
  assert_true(db_run_put(db, &run, NULL, &e));
  db_close(db);
}

/* The second page of rows of a table. */
static size_t leaf(const char *path, const char *table) {
  struct err e = {0};
  char sql[160];
  struct db *db = db_open(path, DB_READ, &e);
  assert_non_null(db);
  snprintf(sql, sizeof sql,
           "SELECT pageno FROM dbstat WHERE name = '%s' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 1", table);
  struct db_table *t = db_sql(db, sql, &e);
  if (!t || !t->rows) fail_msg("%s has too few pages: %s", table, e.msg);
  size_t page = (size_t)t->cell[0].i;
  db_table_free(t);
  db_close(db);
  return page;
}

/* Rubbish over pages in the middle of a file of 40 runs: found, kept, and most runs come out whole. */
static void damaged(void **state) {
  (void)state;
  struct err e = {0};
  struct db *db = db_open(file("d.db"), DB_WRITE, &e);
  assert_non_null(db);
  for (int i = 0; i < 40; i++) {
    char hash[16];
    snprintf(hash, sizeof hash, "h%d", i);
    json_t *record = make_record(100 + (uint64_t)i);
    struct db_run run = run_of(hash, true);
    assert_true(db_run_put(db, &run, record, &e));
    json_decref(record);
  }
  db_close(db);
  size_t n;
  char *bytes = path_read_whole(file("d.db"), &n);
  assert_true(n > 40 * 4096);
  /* A page of launches, which can be made again, and one of records, which cannot. */
  memset(bytes + (leaf(file("d.db"), "kernels") - 1) * 4096, 0x5a, 4096);
  memset(bytes + (leaf(file("d.db"), "records") - 1) * 4096, 0x5a, 4096);
  assert_true(path_write_whole(file("d.db"), bytes, n));
  db = db_open(file("d.db"), DB_READ, &e);
  assert_non_null(db);
  assert_false(db_check(db, &e));
  assert_non_null(strstr(e.msg, "db recover"));
  db_close(db);
  struct db_saved saved;
  if (!db_recover(file("d.db"), file("r.db"), &saved, NULL, NULL, &e)) fail_msg("%s", e.msg);
  size_t runs = saved.runs;
  if (runs < 30 || runs >= 40) fail_msg("%zu runs", runs);
  assert_int_equal(saved.lost, 40 - runs);
  char *after = path_read_whole(file("d.db"), &n);
  assert_memory_equal(bytes, after, n);
  free(bytes);
  free(after);
  db = db_open(file("r.db"), DB_READ, &e);
  assert_non_null(db);
  assert_int_equal(count(db, "runs"), runs);
  assert_int_equal(count(db, "kernels"), 2 * runs);
  db_close(db);
  assert_false(db_recover(file("d.db"), file("r.db"), &saved, NULL, NULL, &e)); /* there already */
}

/* A record that its checksum fits and the tables refuse: the other runs are saved, and that one is named. */
static void unfit_record(void **state) {
  (void)state;
  struct err e = {0};
  struct db *db = db_open(file("u.db"), DB_WRITE, &e);
  assert_non_null(db);
  json_t *record = make_record(10);
  const char *const hashes[] = {"u1", "u2", "u3"};
  for (int i = 0; i < 3; i++) {
    struct db_run run = run_of(hashes[i], true);
    assert_true(db_run_put(db, &run, record, &e));
  }
  json_object_del(json_array_get(json_object_get(record, "kernels"), 1), "name");
  char *text = json_dumps(record, JSON_COMPACT);
  size_t packed;
  void *data = db_pack(text, strlen(text), &packed);
  free(text);
  json_decref(record);
  sqlite3_stmt *put = db_prepare(db, "UPDATE records SET zstd = ? WHERE run_id = 2", &e);
  assert_non_null(put);
  sqlite3_bind_blob64(put, 1, data, packed, free);
  assert_int_equal(sqlite3_step(put), SQLITE_DONE);
  sqlite3_finalize(put);
  db_close(db);
  assert_true(db_seal_file(file("u.db"), &e));
  struct db_saved saved;
  if (!db_recover(file("u.db"), file("v.db"), &saved, NULL, NULL, &e)) fail_msg("%s", e.msg);
  assert_int_equal(saved.runs, 2);
  assert_int_equal(saved.lost, 1);
  assert_string_equal(saved.which, "  run 2 (prog under bucl): NOT NULL constraint failed: kernels.name\n");
  db = db_open(file("v.db"), DB_READ, &e);
  assert_non_null(db);
  assert_int_equal(db_run_status(db, "u1"), DB_DONE);
  assert_int_equal(db_run_status(db, "u2"), DB_MISSING);
  assert_int_equal(db_run_status(db, "u3"), DB_DONE);
  assert_true(db_check(db, &e));
  db_close(db);
}

static bool status_of(void *ctx, const struct db_row *r) {
  *(enum db_status *)ctx = r->status;
  return false;
}

/* The view that everything is read through says something else than it did: it is not used, and when the change was
 * meant (the file is sealed), what it does not say is missing. */
static void other_view(void **state) {
  (void)state;
  struct err e = {0};
  struct db *db = db_open(file("view.db"), DB_WRITE, &e);
  assert_non_null(db);
  const struct db_plan plan[] = {{.hash = "h1", .workload = "prog", .gpu = "fermi", .scheme = "none"}};
  assert_true(db_study_put(db, "s", "s.yaml", "name: s\n", plan, 1, &e) > 0);
  db_close(db);
  sql("view.db", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '''missing''', 'NULL') "
                 "WHERE name = 'results'");
  enum db_status status = DB_DONE;
  assert_non_null(db = db_open(file("view.db"), DB_READ, &e));
  assert_false(db_each(db, NULL, status_of, &status, &e));
  assert_non_null(strstr(e.msg, "sqlite_schema"));
  assert_null(db_sql(db, "SELECT study, status FROM results", &e));
  db_close(db);
  assert_true(db_seal_file(file("view.db"), &e));
  assert_non_null(db = db_open(file("view.db"), DB_READ, &e));
  assert_true(db_each(db, NULL, status_of, &status, &e));
  assert_int_equal(status, DB_MISSING);
  db_close(db);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip),       cmocka_unit_test(bad_files),   cmocka_unit_test(unfinished),
      cmocka_unit_test(created_together), cmocka_unit_test(same_tables), cmocka_unit_test(locked),
      cmocka_unit_test(damaged),          cmocka_unit_test(other_view),  cmocka_unit_test(unfit_record)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
