/* db_recover.c - copies the sound part of a damaged results file into a new one.
 *
 * A run's record (compressed, with a checksum) contains all of its data in other tables. So recovery reads the rows of
 * `runs`, `records` and `studies` one by one, skips unreadable ones, and stores every run whose record and row match
 * their checksums. The damaged file is only read; if it has a log, which opening would apply, a copy is read instead.
 * Termination is guaranteed for any content: probes into damage, waits without a row and the time spent in damage are
 * bounded.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "results/db/db_impl.h"

/* PROBES: reads that meet damage, of one table. WAIT_SECONDS: of processor time without a row, in one statement;
 * WASTE_SECONDS: in all.
 */
enum {
  PROBES = 20000,
  WAIT_SECONDS = 3,
  WASTE_SECONDS = 12,
  TICK = 20000,
  LARGEST_VALUE = 512 << 20,
  MOST_PLAN = 1 << 22
};

struct salvage {
  struct db *from, *to;
  const char *columns, *table;
  sqlite3_stmt *rows[2];                                            /* of the table: upwards, downwards */
  bool (*row)(struct salvage *s, sqlite3_stmt *row, struct err *e); /* false: the new file cannot be written */
  struct db_saved *saved;
  struct err *e;
  void (*show)(void *ctx, double done, double total);
  void *ctx;
  double max;                 /* row of the table */
  double waits_since, wasted; /* of the statement that is stepped; seconds spent without a row */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* load of the machine must not count as damage */
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool interrupted(void) {
  sigset_t pending;
  return !sigpending(&pending) && (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM));
}

/* Called by SQLite every TICK steps of its machine: not 0 ends the statement. */
static int too_long(void *ctx) {
  struct salvage *s = ctx;
  double waits = now() - s->waits_since;
  return interrupted() || waits > WAIT_SECONDS || s->wasted + waits > WASTE_SECONDS;
}

static int step_salvage(struct salvage *s, sqlite3_stmt *q) {
  s->waits_since = now();
  int rc = sqlite3_step(q);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) s->wasted += now() - s->waits_since;
  s->waits_since = now(); /* statements that use the row have their own limits */
  return rc;
}

/* ---- reading around damage ---- */

static bool run_row(struct salvage *s, sqlite3_stmt *q, struct err *e);

/* The rows of the table in a range, upwards or downwards: prepared once, since thousands of queries are made. NULL:
 * missing table or columns. */
static sqlite3_stmt *rows_between(const struct salvage *s, bool down) {
  char *sql = sqlite3_mprintf("SELECT rowid, %s FROM %s WHERE rowid BETWEEN ? AND ? ORDER BY rowid %s", s->columns,
                              s->table, down ? "DESC" : "ASC");
  sqlite3_stmt *q = db_prepare(s->from, sql, NULL);
  sqlite3_free(sql);
  return q;
}

/* Rows with lo <= rowid <= hi, upwards or downwards to the first that cannot be read or is out of order. *reached: the
 * last one that was read. 1: all were, 0: damage, -1: the new file cannot be written. */
static int read_until_damage(struct salvage *s, int64_t lo, int64_t hi, bool down, int64_t *reached, bool *any) {
  sqlite3_stmt *q = s->rows[down];
  sqlite3_bind_int64(q, 1, lo);
  sqlite3_bind_int64(q, 2, hi);
  *any = false;
  int rc, result = 0;
  while ((rc = step_salvage(s, q)) == SQLITE_ROW) {
    int64_t at = sqlite3_column_int64(q, 0);
    if (at < lo || at > hi || (*any && (down ? at >= *reached : at <= *reached))) break; /* a tree with a loop */
    *reached = at;
    *any = true;
    if (s->show && s->row == run_row) s->show(s->ctx, (double)at, s->max);
    if (interrupted() || !s->row(s, q, s->e)) {
      result = -1;
      break;
    }
  }
  if (rc == SQLITE_DONE) result = 1;
  sqlite3_reset(q);
  return result;
}

struct range {
  int64_t lo, hi;
};

static int64_t last_row(struct salvage *s) {
  char *sql = sqlite3_mprintf("SELECT max(rowid) FROM %s", s->table);
  sqlite3_stmt *q = db_prepare(s->from, sql, NULL);
  sqlite3_free(sql);
  int64_t max = q && step_salvage(s, q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
  sqlite3_finalize(q);
  return max < 1 || max > INT_MAX ? 1 << 21 : max; /* upper bound of a study's runs (STUDY_RUNS_MAX) */
}

/* From both ends inwards, then the halves of the range in between, larger ranges first. After PROBES of them the rest
 * is abandoned. */
static bool salvage_rows(struct salvage *s) {
  int64_t max = last_row(s);
  s->max = (double)max;
  struct range *queue = mem_zeroed(2 * PROBES + 2, sizeof *queue);
  size_t put = 1;
  bool ok = true;
  queue[0] = (struct range){1, max};
  for (size_t take = 0; ok && take < put && take < PROBES && s->wasted < WASTE_SECONDS; take++) {
    struct range r = queue[take];
    int64_t reached = 0;
    bool any;
    int rc = read_until_damage(s, r.lo, r.hi, false, &reached, &any);
    ok = rc >= 0;
    if (rc) continue;
    if (any) r.lo = reached + 1;
    if (r.lo >= r.hi) continue; /* a single unreadable row */
    rc = read_until_damage(s, r.lo, r.hi, true, &reached, &any);
    ok = rc >= 0;
    if (rc) continue;
    if (any) r.hi = reached - 1;
    if (r.lo >= r.hi) continue;
    int64_t mid = r.lo + (r.hi - r.lo) / 2;
    queue[put++] = (struct range){r.lo, mid};
    queue[put++] = (struct range){mid + 1, r.hi};
  }
  free(queue);
  return ok;
}

static bool salvage(struct salvage *s) {
  s->rows[0] = rows_between(s, false);
  s->rows[1] = rows_between(s, true);
  bool ok = !s->rows[0] || !s->rows[1] || salvage_rows(s);
  sqlite3_finalize(s->rows[0]);
  sqlite3_finalize(s->rows[1]);
  return ok;
}

/* ---- what is done with a row ---- */

/* Names what is left out; `e` (may be NULL): of the new file, which it then leaves to say why. */
static void left_out(struct salvage *s, const char *what, int64_t id, const char *of, const struct err *e) {
  char *which = s->saved->which;
  size_t used = strlen(which), room = sizeof s->saved->which - used;
  /* "FILE: UNIQUE constraint failed: ..." without the file, which is temporary */
  const char *why = e ? strstr(e->msg, ": ") : NULL;
  int n =
      snprintf(which + used, room, "  %s %lld (%.200s): %.300s\n", what, (long long)id, of, why ? why + 2 : "damaged");
  if (n < 0 || (size_t)n >= room) which[used] = 0;
}

/* The new file's tables refuse the row, and nothing else is wrong with that file: leave the row out. */
static bool refused(struct salvage *s, struct err *e, const char *what, int64_t id, const char *of) {
  if (db_trouble(s->to) != DB_REFUSED) return false;
  left_out(s, what, id, of, e);
  *e = (struct err){0};
  return true;
}

static const char run_columns[] = "hash, status, exit_code, error, log, command, program, program_hash, gpu, scheme, "
                                  "mode, simulator, host, seconds, cpu_seconds, peak_kb";

static bool run_row(struct salvage *s, sqlite3_stmt *q, struct err *e) {
  const char *status = db_column_text(q, 2);
  struct db_run r = {.hash = db_column_text(q, 1),
                     .done = status && !strcmp(status, "done"),
                     .exit_code = sqlite3_column_int(q, 3),
                     .error = db_column_text(q, 4),
                     .log = db_column_text(q, 5),
                     .command = db_column_text(q, 6),
                     .program = db_column_text(q, 7),
                     .program_hash = db_column_text(q, 8),
                     .gpu = db_column_text(q, 9),
                     .scheme = db_column_text(q, 10),
                     .mode = db_column_text(q, 11),
                     .simulator = db_column_text(q, 12),
                     .host = db_column_text(q, 13),
                     .seconds = sqlite3_column_double(q, 14),
                     .cpu_seconds = sqlite3_column_double(q, 15),
                     .peak_kb = sqlite3_column_int64(q, 16)};
  int64_t id = sqlite3_column_int64(q, 0);
  bool whole = r.hash && status && (r.done || !strcmp(status, "failed")) && r.command && r.program && r.gpu &&
               r.scheme && r.mode && db_sum_of(s->from, DB_RUNS, id) != DB_SUM_WRONG;
  json_t *record = whole && r.done ? db_record(s->from, id, NULL) : NULL;
  char of[200];
  snprintf(of, sizeof of, "%s under %s", r.program ? r.program : "?", r.scheme ? r.scheme : "?");
  if (!whole || (r.done && !json_is_object(json_object_get(record, "totals")))) {
    s->saved->lost++;
    left_out(s, "run", id, of, NULL);
    json_decref(record);
    return true;
  }
  bool missing = db_run_status(s->to, r.hash) == DB_MISSING, ok = db_run_put(s->to, &r, record, e);
  json_decref(record);
  if (ok) s->saved->runs += missing;
  else s->saved->lost += ok = refused(s, e, "run", id, of);
  return ok;
}

/* The plan of a study, whole or not at all. The caller frees the texts. */
static bool read_plan(struct salvage *s, int64_t study, struct db_plan **plan, size_t *count) {
  size_t room = 0;
  sqlite3_stmt *p =
      db_prepare(s->from,
                 "SELECT hash, workload, suite, \"group\", size, gpu, scheme, parameters, replica, ordinal "
                 "FROM plan WHERE study_id = ? ORDER BY ordinal",
                 NULL);
  if (!p) return false;
  sqlite3_bind_int64(p, 1, study);
  int rc;
  bool ok = true;
  while (ok && (rc = step_salvage(s, p)) == SQLITE_ROW) {
    ok = db_column_text(p, 0) && sqlite3_column_int64(p, 9) == (int64_t)*count && *count < MOST_PLAN;
    if (!ok) break;
    if (*count == room) {
      room = room ? 2 * room : 64;
      struct db_plan *grown = mem_resize(*plan, room, sizeof **plan);
      *plan = grown;
    }
    char *t[8];
    for (int i = 0; i < 8; i++) t[i] = db_column_text(p, i) ? strdup(db_column_text(p, i)) : NULL;
    (*plan)[(*count)++] = (struct db_plan){t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], sqlite3_column_int64(p, 8)};
  }
  sqlite3_finalize(p);
  return ok && rc == SQLITE_DONE && db_sum_of(s->from, DB_PLAN, study) != DB_SUM_WRONG;
}

static void free_plan(struct db_plan *plan, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *const all[] = {plan[i].hash, plan[i].workload, plan[i].suite,  plan[i].group,
                               plan[i].size, plan[i].gpu,      plan[i].scheme, plan[i].parameters};
    for (size_t k = 0; k < 8; k++) free((char *)all[k]);
  }
  free(plan);
}

static bool study_row(struct salvage *s, sqlite3_stmt *q, struct err *e) {
  const char *name = db_column_text(q, 1), *file = db_column_text(q, 2), *about = db_column_text(q, 3);
  int64_t id = sqlite3_column_int64(q, 0);
  if (!name || !file || !about || db_sum_of(s->from, DB_STUDIES, id) == DB_SUM_WRONG) {
    s->saved->plans_lost++;
    left_out(s, "study", id, name ? name : "?", NULL);
    return true;
  }
  struct db_plan *plan = NULL;
  size_t count = 0;
  bool whole = read_plan(s, id, &plan, &count);
  bool ok = db_study_put(s->to, name, file, about, plan, whole ? count : 0, e) > 0;
  free_plan(plan, count);
  if (ok) s->saved->studies++;
  else whole = false, ok = refused(s, e, "study", id, name);
  s->saved->plans_lost += !whole;
  return ok;
}

/* Runs with sums in the file but without a row. */
static void count_lost(struct salvage *s) {
  sqlite3_stmt *q = db_prepare(s->from, "SELECT count(*) FROM sums WHERE part = 'runs'", NULL);
  int64_t n = q && step_salvage(s, q) == SQLITE_ROW ? sqlite3_column_int64(q, 0) : 0;
  sqlite3_finalize(q);
  if (n < INT_MAX && (size_t)n > s->saved->runs + s->saved->lost) s->saved->lost = (size_t)n - s->saved->runs;
}

/* ---- what is read ---- */

/* Keep holes: the apparent size of a file may exceed the disk. */
static bool copy_data(int in, int out, off_t size) {
  char buf[65536];
  off_t at = 0;
  while (at < size) {
    off_t from = lseek(in, at, SEEK_DATA), to = from < 0 ? -1 : lseek(in, from, SEEK_HOLE);
    if (from < 0 && errno == ENXIO) break;        /* a hole to the end */
    if (from < 0 || to < 0) from = at, to = size; /* no holes on this file system */
    if (lseek(in, from, SEEK_SET) < 0 || lseek(out, from, SEEK_SET) < 0) return false;
    for (at = from; at < to;) {
      ssize_t n = read(in, buf, (size_t)(to - at) < sizeof buf ? (size_t)(to - at) : sizeof buf);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      if (!n) return true;
      for (ssize_t done = 0, k; done < n; done += k)
        if ((k = write(out, buf + done, (size_t)(n - done))) < 0) {
          if (errno != EINTR) return false;
          k = 0;
        }
      at += n;
    }
  }
  return !ftruncate(out, size);
}

static bool copy_file(const char *from, const char *to, struct err *e) {
  struct stat st;
  int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (in < 0) return err_set(e, ERR_INPUT, "cannot read '%s': %s", from, strerror(errno));
  int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool ok = out >= 0 && !fstat(in, &st) && copy_data(in, out, st.st_size);
  if (!ok) err_set(e, ERR_INPUT, "cannot copy '%s' to '%s': %s", from, to, strerror(errno));
  close(in);
  if (out >= 0 && close(out)) ok = false;
  return ok;
}

static const char *const tails[] = {"", "-wal", "-journal", "-shm"};
enum { LOGS_FROM = 1, LOGS_TO = 3, TAILS = 4 };

static bool has_log(const char *path) {
  struct stat st;
  bool any = false;
  for (int i = LOGS_FROM; i < LOGS_TO; i++) {
    char *log = sqlite3_mprintf("%s%s", path, tails[i]);
    any |= !stat(log, &st) && st.st_size;
    sqlite3_free(log);
  }
  return any;
}

static void remove_all(const char *path) {
  for (int i = 0; i < TAILS; i++) {
    char *p = sqlite3_mprintf("%s%s", path, tails[i]);
    unlink(p);
    sqlite3_free(p);
  }
}

static bool copy_all(const char *from, const char *to, struct err *e) {
  bool ok = true;
  for (int i = 0; ok && i < LOGS_TO; i++) {
    char *a = sqlite3_mprintf("%s%s", from, tails[i]), *b = sqlite3_mprintf("%s%s", to, tails[i]);
    ok = (i && access(a, F_OK)) || copy_file(a, b, e);
    sqlite3_free(a);
    sqlite3_free(b);
  }
  return ok;
}

/* ':', '?' and similar characters are special in a URI. */
static char *frozen_uri(const char *path) {
  sqlite3_str *u = sqlite3_str_new(NULL);
  sqlite3_str_appendall(u, "file:");
  for (const unsigned char *p = (const unsigned char *)path; *p; p++)
    sqlite3_str_appendf(u, strchr("%?#", *p) ? "%%%02x" : "%c", *p);
  sqlite3_str_appendall(u, "?immutable=1");
  return sqlite3_str_finish(u);
}

/* True if the header is SQLite's. Other content is not a database. */
static bool check_magic(const char *path, struct err *e) {
  static const char magic[16] = "SQLite format 3";
  char head[16] = "";
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat(fd, &st)) {
    err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return false;
  }
  bool file = S_ISREG(st.st_mode);
  ssize_t n = file ? pread(fd, head, sizeof head, 0) : 0;
  close(fd);
  if (!file) return err_set(e, ERR_INPUT, "'%s' is not a file", path);
  if (!st.st_size) return err_set(e, ERR_INPUT, "%s is empty: nothing can be saved of it", path);
  return (n == sizeof head && !memcmp(head, magic, sizeof head)) ||
         err_set(e, ERR_INPUT, "%s does not begin like an SQLite file: nothing can be saved of it", path);
}

static bool salvage_all(struct salvage *s, const char *path, bool frozen, struct err *e) {
  struct db from = {.path = (char *)path};
  char *uri = frozen ? frozen_uri(path) : NULL;
  bool ok = sqlite3_open_v2(uri ? uri : path, &from.sql,
                            frozen ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
  sqlite3_free(uri);
  /* cppcheck-suppress autoVariables */
  s->from = &from; /* until the end of this function */
  s->columns = run_columns, s->table = "runs", s->row = run_row;
  sqlite3_progress_handler(from.sql, TICK, too_long, s);
  sqlite3_limit(from.sql, SQLITE_LIMIT_LENGTH, LARGEST_VALUE);
  s->waits_since = now();
  /* Read a schema with a broken row as far as possible. */
  ok = ok && sqlite3_exec(from.sql, "PRAGMA writable_schema = ON; PRAGMA cell_size_check = ON", NULL, NULL, NULL) ==
                 SQLITE_OK;
  ok = ok && salvage(s);
  count_lost(s);
  s->columns = "name, file, text", s->table = "studies", s->row = study_row;
  ok = ok && salvage(s);
  if (interrupted()) ok = err_set(e, ERR_INPUT, "interrupted; nothing was written");
  else if (ok && !s->saved->runs && !s->saved->studies)
    ok = err_set(e, ERR_INPUT, "%s: no run and no study of it can be read: nothing can be saved of it", path);
  else if (!ok && !e->code) db_fail(&from, e);
  sqlite3_close(from.sql);
  s->from = NULL;
  return ok;
}

/* ---- the new file ---- */

/* Name it when complete, unless the name was taken meanwhile. */
static bool give_name(const char *tmp, const char *to, struct err *e) {
  if (!link(tmp, to)) return unlink(tmp), true;
  if (errno != EEXIST && access(to, F_OK) && !rename(tmp, to)) return true;
  return err_set(e, ERR_INPUT, "cannot make '%s': %s", to, strerror(errno));
}

/* No other user can put a link or a file into it. */
static char *private_folder(const char *to, struct err *e) {
  char *folder = sqlite3_mprintf("%s.part-XXXXXX", to);
  CHECK(folder, "out of memory");
  if (mkdtemp(folder)) return folder;
  output_failed(to, errno, e);
  sqlite3_free(folder);
  return NULL;
}

bool db_recover(const char *from, const char *to, struct db_saved *saved,
                void (*show)(void *ctx, double done, double total), void *ctx, struct err *e) {
  *saved = (struct db_saved){0};
  if (!check_magic(from, e)) return false;
  if (!access(to, F_OK)) return err_set(e, ERR_INPUT, "'%s' is there already; name another with --output", to);
  char *folder = private_folder(to, e);
  if (!folder) return false;
  char *copied = sqlite3_mprintf("%s/damaged", folder), *tmp = sqlite3_mprintf("%s/new", folder);
  CHECK(copied && tmp, "out of memory");
  bool log = has_log(from);
  struct db *db = NULL;
  struct salvage s = {.saved = saved, .show = show, .ctx = ctx, .e = e};
  bool ok = (!log || copy_all(from, copied, e)) && (db = db_open(tmp, DB_WRITE, e)) &&
            (s.to = db, salvage_all(&s, log ? copied : from, !log, e)) && db_check(db, e);
  db_close(db); /* applies the log to the file and removes it */
  ok = ok && give_name(tmp, to, e);
  remove_all(copied);
  remove_all(tmp);
  rmdir(folder);
  sqlite3_free(folder);
  sqlite3_free(copied);
  sqlite3_free(tmp);
  return ok;
}
