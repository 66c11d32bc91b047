/* db.c - libFuzzer target: any bytes as a results file: content that check accepts is read unchanged or rejected, with
 * the same result twice; recovery ends and saves the sound part.
 *
 * Build, with the results room instrumented and the simulator as it is:
 *   make lib && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/db.c
 *   src/results/db/[a-z]*.c \
 *     -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib -lsqlite3 -lzstd -ljansson -lm -o db
 * Run: ./db -max_len=300000 found fuzz/corpus/db   (after unxz -k of the seeds)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/paths.h"
#include "results/db.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t digest;

static void note(const char *s) {
  if (s) digest = hash_bytes(digest, s, strlen(s));
}

static bool each(void *db, const struct db_row *r) {
  double v = 0;
  note(r->hash);
  note(r->workload);
  if (r->run && db_value(db, r->run, "cycles", &v)) digest = hash_bytes(digest, &v, sizeof v);
  json_t *record = r->run ? db_record(db, r->run, NULL) : NULL;
  digest += json_object_size(record);
  json_decref(record);
  return true;
}

static void table(struct db *db, const char *sql) {
  struct err e = {0};
  struct db_table *t = db_sql(db, sql, &e);
  for (size_t i = 0; t && i < t->rows * t->columns; i++) {
    const struct db_cell *c = &t->cell[i];
    if (c->kind == CELL_TEXT) note(c->s);
    if (c->kind == CELL_INT) digest = hash_bytes(digest, &c->i, sizeof c->i);
    if (c->kind == CELL_REAL) digest = hash_bytes(digest, &c->r, sizeof c->r);
  }
  db_table_free(t);
  note(e.msg);
}

/* Everything that reads. */
static uint64_t look(const char *path) {
  struct err e = {0};
  digest = HASH_INIT;
  struct db *db = db_open(path, DB_READ, &e);
  if (db) {
    digest += db_check(db, &e);
    note(e.msg);
    db_each(db, NULL, each, db, &e);
    table(db, "SELECT name FROM studies ORDER BY id");
    table(db, "SELECT * FROM kernels");
    table(db, "SELECT study, status, cycles FROM results");
  }
  db_close(db);
  note(e.msg);
  return digest;
}

static void unlink_all(const char *path) {
  static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
  char p[128];
  for (int i = 0; i < 4; i++) {
    snprintf(p, sizeof p, "%s%s", path, tails[i]);
    unlink(p);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char path[64], saved[64];
  if (!*path) {
    /* Of this process: libFuzzer runs several in one folder. */
    snprintf(path, sizeof path, "/dev/shm/sluice-fuzz-%d.db", (int)getpid());
    snprintf(saved, sizeof saved, "/dev/shm/sluice-fuzz-%d.saved", (int)getpid());
  }
  if (!path_write_whole(path, data, size)) abort();
  if (look(path) != look(path)) abort();
  struct err e = {0};
  struct db_saved n;
  if (db_recover(path, saved, &n, NULL, NULL, &e)) {
    struct db *db = db_open(saved, DB_READ, &e);
    if (!db || !db_check(db, &e)) abort();
    db_close(db);
  } else if (!access(saved, F_OK)) {
    abort(); /* what cannot be saved leaves no file */
  }
  db_close(db_open(path, DB_WRITE, &e));
  unlink_all(path);
  unlink_all(saved);
  return 0;
}
