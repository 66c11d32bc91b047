/* Power cuts: what a results file can be afterwards opens, is sound, has every run from before the last checkpoint, and
 * takes the rest.
 *
 * A file system of SQLite's (a VFS) in front of the real one keeps each write, truncation, synchronisation and removal
 * of the file and its log. A cut after any of them leaves what was synchronised, and of what came later nothing, all,
 * or any part: a disk writes 512 bytes whole, in an order of its own. POWER=n tries n places instead of 50.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/paths.h"
#include "results/db/db_impl.h"

enum { RUNS = 60, SECTOR = 512 };
enum which { DB, WAL, FILES };

/* ---- what is written ---- */

struct op {
  enum { WRITE, TRUNCATE, SYNC, REMOVE, DONE /* a run is stored, for those who asked */ } kind;
  enum which file;
  size_t at, bytes;
  unsigned char *data;
};

static struct op *ops;
static size_t nops, room;
static bool recording;

static struct op *note(int kind, enum which file, size_t at, size_t bytes, const void *data) {
  if (nops == room) {
    room = room ? 2 * room : 256;
    ops = realloc(ops, room * sizeof *ops);
    assert_non_null(ops);
  }
  struct op *o = &ops[nops++];
  *o = (struct op){.kind = kind, .file = file, .at = at, .bytes = bytes};
  if (data) o->data = memcpy(malloc(bytes), data, bytes);
  return o;
}

struct kept {
  sqlite3_file base;
  enum which file;
  sqlite3_file *real;
};

#define REAL(f) (((struct kept *)(f))->real)
#define CALL(f, method, ...) REAL(f)->pMethods->method(REAL(f), ##__VA_ARGS__)

static int x_close(sqlite3_file *f) {
  return CALL(f, xClose);
}
static int x_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
  return CALL(f, xRead, p, n, at);
}
static int x_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
  if (recording) note(WRITE, ((struct kept *)f)->file, (size_t)at, (size_t)n, p);
  return CALL(f, xWrite, p, n, at);
}
static int x_truncate(sqlite3_file *f, sqlite3_int64 size) {
  if (recording) note(TRUNCATE, ((struct kept *)f)->file, (size_t)size, 0, NULL);
  return CALL(f, xTruncate, size);
}
static int x_sync(sqlite3_file *f, int flags) {
  if (recording) note(SYNC, ((struct kept *)f)->file, 0, 0, NULL);
  (void)flags; /* kept, and believed: a test need not wait for the disk */
  return SQLITE_OK;
}
static int x_size(sqlite3_file *f, sqlite3_int64 *size) {
  return CALL(f, xFileSize, size);
}
static int x_lock(sqlite3_file *f, int kind) {
  return CALL(f, xLock, kind);
}
static int x_unlock(sqlite3_file *f, int kind) {
  return CALL(f, xUnlock, kind);
}
static int x_reserved(sqlite3_file *f, int *out) {
  return CALL(f, xCheckReservedLock, out);
}
static int x_control(sqlite3_file *f, int op, void *arg) {
  return CALL(f, xFileControl, op, arg);
}
static int x_sector(sqlite3_file *f) {
  (void)f;
  return SECTOR;
}
static int x_device(sqlite3_file *f) {
  (void)f;
  return 0; /* no promise of a safe overwrite or of an order */
}
static int x_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **p) {
  return CALL(f, xShmMap, page, size, extend, p);
}
static int x_shm_lock(sqlite3_file *f, int at, int n, int flags) {
  return CALL(f, xShmLock, at, n, flags);
}
static void x_shm_barrier(sqlite3_file *f) {
  CALL(f, xShmBarrier);
}
static int x_shm_unmap(sqlite3_file *f, int drop) {
  return CALL(f, xShmUnmap, drop);
}

static const sqlite3_io_methods methods = {
    2,         x_close,  x_read,   x_write,   x_truncate, x_sync,        x_size,      x_lock, x_unlock, x_reserved,
    x_control, x_sector, x_device, x_shm_map, x_shm_lock, x_shm_barrier, x_shm_unmap, NULL,   NULL};

static sqlite3_vfs *real_vfs, vfs;

static int x_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out) {
  (void)v;
  struct kept *k = (struct kept *)f;
  k->file = flags & SQLITE_OPEN_WAL ? WAL : DB;
  k->real = (sqlite3_file *)(k + 1);
  assert_true(flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_DB)); /* nothing else is written */
  int rc = real_vfs->xOpen(real_vfs, name, k->real, flags, out);
  f->pMethods = rc == SQLITE_OK ? &methods : NULL;
  return rc;
}

static int x_delete(sqlite3_vfs *v, const char *name, int sync) {
  (void)v;
  if (recording && strstr(name, "-wal")) note(REMOVE, WAL, 0, 0, NULL);
  return real_vfs->xDelete(real_vfs, name, sync);
}

/* ---- the study ---- */

static char dir[64], path[128];

static json_t *record(int i) {
  return json_pack("{s:s, s:s, s:{s:i}, s:{s:i, s:i}}", "config_hash", "c", "gpu", "g", "config", "l1d.sets", 32,
                   "totals", "cycles", 1000 + i, "core.cycles", 1000 + i);
}

static const char *hash_of(int i) {
  static char h[16];
  snprintf(h, sizeof h, "run-%03d", i);
  return h;
}

static void put(struct db *db, int i) {
  struct err e = {0};
  struct db_run r = {
      .hash = hash_of(i), .done = true, .command = "c", .program = "p", .gpu = "g", .scheme = "s", .mode = "timing"};
  json_t *j = record(i);
  assert_non_null(j);
  if (!db_run_put(db, &r, j, &e)) fail_msg("run %d: %s", i, e.msg);
  json_decref(j);
}

static void plan(struct db *db) {
  struct db_plan p[RUNS];
  char h[RUNS][16];
  struct err e = {0};
  for (int i = 0; i < RUNS; i++) {
    strcpy(h[i], hash_of(i));
    p[i] = (struct db_plan){.hash = h[i], .gpu = "g", .scheme = "s"};
  }
  assert_true(db_study_put(db, "study", "s.yaml", "text", p, RUNS, &e) > 0);
}

/* ---- after a cut ---- */

struct content {
  unsigned char *p;
  size_t bytes;
  bool there;
};

static void grow(struct content *c, size_t bytes) {
  if (bytes <= c->bytes) return;
  c->p = realloc(c->p, bytes);
  assert_non_null(c->p);
  memset(c->p + c->bytes, 0, bytes - c->bytes);
  c->bytes = bytes;
}

static unsigned seed;
static bool coin(void) {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 16 & 1;
}

static void apply(struct content *c, const struct op *o, bool torn) {
  if (o->kind == REMOVE) c->there = false, c->bytes = 0;
  if (o->kind == TRUNCATE) {
    if (o->at > c->bytes) grow(c, o->at);
    c->bytes = o->at;
  }
  if (o->kind != WRITE) return;
  c->there = true;
  for (size_t i = 0; i < o->bytes; i += SECTOR) {
    size_t n = o->bytes - i < SECTOR ? o->bytes - i : SECTOR;
    if (torn && coin()) continue;
    grow(c, o->at + i + n);
    memcpy(c->p + o->at + i, o->data + i, n);
  }
}

static void lay(const char *tail, const struct content *c) {
  char name[160];
  snprintf(name, sizeof name, "%s%s", path, tail);
  unlink(name);
  if (c && c->there) assert_true(path_write_whole(name, c->p, c->bytes));
}

enum { NOTHING, EVERYTHING, PARTS, FATES };

/* The files after a cut behind `n` operations. Returns how many runs lie before the last checkpoint. */
static int cut(size_t n, int fate, struct content *c) {
  size_t synced[FILES] = {0};
  int sure = 0, done = 0;
  for (size_t i = 0; i < n; i++) {
    done += ops[i].kind == DONE;
    if (ops[i].kind != SYNC) continue;
    synced[ops[i].file] = i;
    if (ops[i].file == DB) sure = done;
  }
  for (size_t i = 0; i < n; i++) {
    const struct op *o = &ops[i];
    if (o->kind == DONE) continue;
    bool durable = i <= synced[o->file] && synced[o->file];
    if (durable || fate == EVERYTHING) apply(&c[o->file], o, false);
    else if (fate == PARTS && (o->kind == WRITE || coin())) apply(&c[o->file], o, true);
  }
  return sure;
}

static int there(struct db *db) {
  struct err e = {0};
  struct db_table *t = db_sql(db, "SELECT hash, cycles FROM results WHERE status = 'done'", &e);
  if (!t) fail_msg("%s", e.msg);
  int n = (int)t->rows;
  for (size_t i = 0; i < t->rows; i++)
    assert_int_equal(t->cell[2 * i + 1].i, 1000 + atoi(t->cell[2 * i].s + 4)); /* and nothing else */
  db_table_free(t);
  return n;
}

static void survives(size_t n, int fate, unsigned char *made, size_t bytes) {
  struct content c[FILES] = {{memcpy(malloc(bytes), made, bytes), bytes, true}, {0}};
  struct err e = {0};
  int sure = cut(n, fate, c);
  lay("", &c[DB]);
  lay("-wal", &c[WAL]);
  lay("-shm", NULL);
  struct db *db = db_open(path, DB_WRITE, &e);
  if (!db) fail_msg("cut behind %zu of %zu operations (%d): %s", n, nops, fate, e.msg);
  if (!db_check(db, &e)) fail_msg("cut behind %zu of %zu operations (%d): %s", n, nops, fate, e.msg);
  int found = there(db);
  if (found < sure) fail_msg("cut behind %zu of %zu operations (%d): %d runs of %d", n, nops, fate, found, sure);
  if (n % 4 == 0) { /* the same study continues */
    plan(db);
    for (int i = 0; i < RUNS; i++)
      if (db_run_status(db, hash_of(i)) != DB_DONE) put(db, i);
    assert_int_equal(there(db), RUNS);
    assert_true(db_check(db, &e));
  }
  db_close(db);
  free(c[DB].p);
  free(c[WAL].p);
}

static void cuts(void **state) {
  (void)state;
  struct err e = {0};
  size_t bytes = 0, places = getenv("POWER") ? strtoul(getenv("POWER"), NULL, 10) : 50, syncs = 0;
  assert_true(db_create(path, &e)); /* on the disk whole, by fsync, before it has its name */
  char *made = path_read_whole(path, &bytes);
  assert_non_null(made);
  recording = true;
  struct db *db = db_open(path, DB_WRITE, &e);
  assert_non_null(db);
  sqlite3_wal_autocheckpoint(db->sql, 100); /* pages; these runs are small */
  plan(db);
  for (int i = 0; i < RUNS; i++) {
    put(db, i);
    note(DONE, DB, 0, 0, NULL);
  }
  db_close(db);
  recording = false;
  for (size_t i = 0; i < nops; i++) syncs += ops[i].kind == SYNC && ops[i].file == DB;
  assert_true(syncs > 2); /* checkpoints, not only the one at the end */
  for (seed = 1; places; places--) {
    size_t n = 0;
    for (int i = 0; i < 24; i++) n = n << 1 | coin();
    for (int fate = NOTHING; fate < FATES; fate++) survives(n % (nops + 1), fate, (unsigned char *)made, bytes);
  }
  free(made);
}

static int setup(void **state) {
  (void)state;
  strcpy(dir, "/tmp/sluice-power-XXXXXX");
  if (!mkdtemp(dir)) return 1;
  snprintf(path, sizeof path, "%s/r.db", dir);
  real_vfs = sqlite3_vfs_find(NULL);
  vfs = *real_vfs;
  vfs.zName = "kept";
  vfs.szOsFile = (int)sizeof(struct kept) + real_vfs->szOsFile;
  vfs.xOpen = x_open;
  vfs.xDelete = x_delete;
  return sqlite3_vfs_register(&vfs, 1);
}

static int teardown(void **state) {
  (void)state;
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cuts)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
