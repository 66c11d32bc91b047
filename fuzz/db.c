/* db.c - libFuzzer target: any bytes as a results file: content that check accepts is read unchanged or rejected, with
 * the same result twice; recovery ends and saves the sound part.
 *
 * Flipped bytes rarely get behind the checksums. So the mutator also changes the file through SQL (cells of any type, rows, the
 * schema, records) and mostly recomputes the checksums: then the readers meet unwritten values. Files have five counters
 * instead of 300, in pages of 512 bytes: an execution takes a sixth of the time.
 *
 * Build, with the results room instrumented and the simulator as it is:
 *   make lib && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/db.c \
 *     src/results/db/[a-z]*.c -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib -lsqlite3 -lzstd -ljansson -lm -o db
 * Run: ASAN_OPTIONS=malloc_context_size=2 ./db -max_len=65536 found fuzz/corpus/db
 * A seed is written by `SEED=FILE ./db -runs=0`.
 */
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/paths.h"
#include "gpu/common/stats.h"
#include "results/db.h"
#include "results/db/db_impl.h"
#include "results/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* In place of the simulator's: each is a column of three tables, which SQLite reads again and again. */
const struct stat_row gpu_stat_rows[] = {
    {"cycles", "cycles", "", STAT_SUM, 0, 0},
    {"instructions", "instructions", "", STAT_SUM, 8, 0},
    {"queue.max", "entries", "", STAT_MAX, 16, 0},
    {"latency.mean", "cycles", "", STAT_MEAN, 24, 32},
};
const uint32_t gpu_stat_row_count = 4;
const struct derived_row derived_rows[] = {{"ipc", "instructions", "", NULL}};
const uint32_t derived_row_count = 1;

/* ---- memory of SQLite ----
 *
 * It requests some 50,000 small blocks per execution, and the sanitizer's allocator took half of the time. Free blocks are kept
 * per size and poisoned, so a text that is read after its statement has ended is still found.
 */

enum { CLASSES = 16, SMALLEST = 32, HEAD = 16 }; /* 32 bytes to 1 MB; HEAD: class and size in front of a block */
static void *unused[CLASSES];
static long blocks; /* in use */

struct head {
  size_t size;
  int class;
};

__attribute__((no_sanitize("coverage"))) static struct head *head_of(void *p) {
  return (struct head *)((char *)p - HEAD);
}

/* From the system: the leak checker does not follow pointers in poisoned blocks. `blocks` finds leaks instead. */
__attribute__((no_sanitize("coverage"))) static void *cut(size_t bytes) {
  static char *slab;
  static size_t left;
  if (left < bytes) {
    left = 8 << 20;
    slab = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab == MAP_FAILED) abort();
  }
  slab += bytes;
  left -= bytes;
  return slab - bytes;
}

/* Its branches are the same in every execution. */
#define NOT_COUNTED __attribute__((no_sanitize("coverage")))

NOT_COUNTED static int class_of(int bytes) {
  return bytes <= SMALLEST ? 0 : 27 - __builtin_clz((unsigned)bytes - 1); /* 2^(5 + class) bytes */
}

NOT_COUNTED static void *take(int bytes) {
  int class = class_of(bytes);
  if (class > CLASSES) class = CLASSES;
  char *raw;
  if (class < CLASSES && unused[class]) {
    raw = unused[class];
    __asan_unpoison_memory_region(raw + HEAD, sizeof(void *));
    memcpy(&unused[class], raw + HEAD, sizeof(void *));
    __asan_unpoison_memory_region(raw + HEAD, (size_t)bytes);
  } else {
    size_t room = class < CLASSES ? (size_t)SMALLEST << class : (size_t)bytes;
    if (!(raw = class < CLASSES ? cut(HEAD + room) : malloc(HEAD + room))) return NULL;
    __asan_poison_memory_region(raw + HEAD + bytes, room - (size_t)bytes);
  }
  blocks++;
  *(struct head *)raw = (struct head){(size_t)bytes, class};
  return raw + HEAD;
}

NOT_COUNTED static void give(void *p) {
  if (!p) return;
  struct head *h = head_of(p);
  blocks--;
  if (h->class == CLASSES) {
    free(h);
    return;
  }
  size_t room = (size_t)SMALLEST << h->class;
  __asan_unpoison_memory_region(p, sizeof(void *));
  memcpy(p, &unused[h->class], sizeof(void *));
  unused[h->class] = h;
  __asan_poison_memory_region(p, room);
}

NOT_COUNTED static int size_of(void *p) {
  return p ? (int)head_of(p)->size : 0;
}

NOT_COUNTED static void *resize(void *p, int bytes) {
  void *q = take(bytes);
  if (!q) return NULL;
  memcpy(q, p, (size_t)(size_of(p) < bytes ? size_of(p) : bytes));
  give(p);
  return q;
}

static int round_up(int bytes) {
  return (bytes + 7) & ~7;
}

static int start(void *ctx) {
  (void)ctx;
  return SQLITE_OK;
}

static void end(void *ctx) {
  (void)ctx;
}

static const sqlite3_mem_methods memory = {take, give, resize, size_of, round_up, start, end, NULL};

/* ---- reading ---- */

static uint64_t digest;

static void note(const char *s) {
  if (s) digest = hash_bytes(digest, s, strlen(s));
}

static bool each(void *db, const struct db_row *r) {
  double v = 0;
  const char *const texts[] = {r->study,  r->hash,       r->workload, r->suite,   r->group,   r->size, r->gpu,
                               r->scheme, r->parameters, r->error,    r->command, r->program, r->mode, r->simulator};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) note(texts[i]);
  if (r->run && db_value(db, r->run, "cycles", &v)) digest = hash_bytes(digest, &v, sizeof v);
  if (r->run && db_value(db, r->run, "bypasses", &v)) digest = hash_bytes(digest, &v, sizeof v);
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

/* Of this process: libFuzzer runs several in one folder. */
static const char *scratch(const char *what) {
  static char path[2][64];
  char *p = path[!strcmp(what, "db")];
  snprintf(p, sizeof path[0], "/dev/shm/sluice-fuzz-%d.%s", (int)getpid(), what);
  return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = scratch("db"), *saved = scratch("saved");
  long before = blocks;
  if (!path_write_whole(path, data, size)) abort();
  uint64_t seen = look(path);
  if (!(hash_bytes(HASH_INIT, data, size) & 3) && look(path) != seen) abort();
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
  if (blocks != before) abort();
  return 0;
}

/* ---- changing a file through SQL ---- */

static unsigned draw(unsigned *seed, unsigned below) {
  *seed = *seed * 1664525u + 1013904223u;
  return (*seed >> 8) % below;
}

/* Bytes 18 and 19 say write-ahead log, which an image in memory cannot have. */
static void set_format(uint8_t *image, size_t size, uint8_t format) {
  if (size > 19) image[18] = image[19] = format;
}

static sqlite3 *load(const uint8_t *data, size_t size) {
  sqlite3 *db = NULL;
  uint8_t *image = sqlite3_malloc64(size);
  if (!image || sqlite3_open(":memory:", &db) != SQLITE_OK) abort();
  memcpy(image, data, size);
  set_format(image, size, 1);
  sqlite3_deserialize(db, "main", image, (sqlite3_int64)size, (sqlite3_int64)size,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  return db;
}

/* A value of any type for `?1`. */
static void bind_any(sqlite3_stmt *s, unsigned *seed, const void *was, size_t bytes) {
  static const int64_t ints[] = {0, 1, 2, -1, 7, 255, INT32_MAX, INT64_MAX, INT64_MIN, 1ll << 40};
  static const double reals[] = {0.5, -1.0, 1e300, -1e300, 1e-300, 4294967296.5};
  static const char *const texts[] = {"",   "done",     "failed",          "{}",   "\x1b[31m", "=1+1",
                                      "nn", "\xff\xfe", "{\"totals\":{}}", "1e999"};
  uint8_t buf[4096] = {0};
  switch (draw(seed, 6)) {
  case 0:
    sqlite3_bind_null(s, 1);
    break;
  case 1:
    sqlite3_bind_int64(s, 1, ints[draw(seed, sizeof ints / sizeof *ints)]);
    break;
  case 2:
    sqlite3_bind_double(s, 1, reals[draw(seed, sizeof reals / sizeof *reals)]);
    break;
  case 3:
    sqlite3_bind_text(s, 1, texts[draw(seed, sizeof texts / sizeof *texts)], -1, SQLITE_STATIC);
    break;
  default: {
    bytes = bytes > sizeof buf / 2 ? sizeof buf / 2 : bytes;
    if (bytes) memcpy(buf, was, bytes);
    bytes = LLVMFuzzerMutate(buf, bytes, sizeof buf);
    if (draw(seed, 4)) sqlite3_bind_text(s, 1, (char *)buf, (int)bytes, SQLITE_TRANSIENT);
    else sqlite3_bind_blob(s, 1, buf, (int)bytes, SQLITE_TRANSIENT);
  }
  }
}

/* One cell of a row: the `at`th of a table's. */
static void change_cell(sqlite3 *sql, unsigned *seed, const char *table) {
  char *q = sqlite3_mprintf("SELECT * FROM %s LIMIT 1 OFFSET %u", table, draw(seed, 4));
  sqlite3_stmt *row = NULL, *put = NULL;
  sqlite3_prepare_v2(sql, q, -1, &row, NULL);
  sqlite3_free(q);
  if (row && sqlite3_step(row) == SQLITE_ROW) {
    unsigned columns = (unsigned)sqlite3_column_count(row), at = draw(seed, columns), by = draw(seed, columns);
    q = sqlite3_mprintf("UPDATE OR REPLACE %s SET \"%w\" = ?1 WHERE \"%w\" IS ?2", table,
                        sqlite3_column_name(row, (int)at), sqlite3_column_name(row, (int)by));
    sqlite3_prepare_v2(sql, q, -1, &put, NULL);
    sqlite3_free(q);
    if (put) {
      bind_any(put, seed, sqlite3_column_blob(row, (int)at), (size_t)sqlite3_column_bytes(row, (int)at));
      sqlite3_bind_value(put, 2, sqlite3_column_value(row, (int)by));
      sqlite3_step(put);
    }
    sqlite3_finalize(put);
  }
  sqlite3_finalize(row);
}

/* The text of a record, packed again. */
static void change_record(sqlite3 *sql, unsigned *seed) {
  sqlite3_stmt *row = NULL, *put = NULL;
  uint8_t buf[16384];
  size_t n = 0, packed = 0;
  sqlite3_prepare_v2(sql, "SELECT run_id, zstd FROM records LIMIT 1 OFFSET ?", -1, &row, NULL);
  sqlite3_bind_int(row, 1, (int)draw(seed, 3));
  if (row && sqlite3_step(row) == SQLITE_ROW) {
    char *text = db_unpack(sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1), &n);
    if (text && n <= sizeof buf) {
      memcpy(buf, text, n);
      n = LLVMFuzzerMutate(buf, n, sizeof buf);
      void *data = db_pack((char *)buf, n, &packed);
      sqlite3_prepare_v2(sql, "UPDATE records SET zstd = ?1 WHERE run_id = ?2", -1, &put, NULL);
      sqlite3_bind_blob(put, 1, data, (int)packed, free);
      sqlite3_bind_int64(put, 2, sqlite3_column_int64(row, 0));
      sqlite3_step(put);
      sqlite3_finalize(put);
    }
    free(text);
  }
  sqlite3_finalize(row);
}

static void change(sqlite3 *sql, unsigned *seed) {
  static const char *const tables[] = {"studies",  "plan",    "configurations",  "knobs",      "runs",
                                       "counters", "totals",  "scheme_counters", "kernels",    "lines",
                                       "overlaps", "records", "samples",         "histograms", "sums"};
  static const char *const schema[] = {
      "PRAGMA user_version = 0",
      "PRAGMA user_version = 1",
      "PRAGMA user_version = 2",
      "PRAGMA user_version = 3",
      "PRAGMA user_version = 5",
      "DROP VIEW results",
      "DROP INDEX plan_hash",
      "DROP TABLE lines",
      "DROP TABLE overlaps",
      "DROP TABLE sums",
      "ALTER TABLE totals DROP COLUMN ipc",
      "ALTER TABLE kernels ADD COLUMN more",
      "ALTER TABLE runs RENAME COLUMN error TO fault",
      "DROP VIEW results; CREATE VIEW results AS SELECT 1 AS study, NULL AS status, x'00' AS cycles",
      "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM records; END",
      "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
      "DROP VIEW results; CREATE VIEW results AS SELECT name AS study, 'x' AS hash, 1 AS run FROM studies",
  };
  const char *table = tables[draw(seed, sizeof tables / sizeof *tables)];
  char *q = NULL;
  switch (draw(seed, 8)) {
  case 0:
    q = sqlite3_mprintf("%s", schema[draw(seed, sizeof schema / sizeof *schema)]);
    break;
  case 1:
    q = sqlite3_mprintf("DELETE FROM %s WHERE rowid %% 2 = %u", table, draw(seed, 2));
    break;
  case 2:
    q = sqlite3_mprintf("UPDATE OR IGNORE %s SET rowid = rowid * %u + %u", table, draw(seed, 1000), draw(seed, 7));
    break;
  case 3:
    change_record(sql, seed);
    break;
  default:
    change_cell(sql, seed, table);
  }
  if (q) sqlite3_exec(sql, q, NULL, NULL, NULL);
  sqlite3_free(q);
}

static int too_long(void *left) {
  return --*(int *)left < 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
  if (!draw(&seed, 3) || size < 512) return LLVMFuzzerMutate(data, size, max);
  sqlite3 *sql = load(data, size);
  struct db db = {.path = (char *)"the mutator's", .sql = sql};
  struct err e = {0};
  int left = 1000;
  sqlite3_progress_handler(sql, 1000, too_long, &left);
  for (unsigned i = 1 + draw(&seed, 3); i; i--) change(sql, &seed);
  if (draw(&seed, 4)) db_seal_all(&db, &e);
  sqlite3_int64 n = 0;
  unsigned char *image = sqlite3_serialize(sql, "main", &n, 0);
  bool fits = image && n > 0 && (size_t)n <= max;
  if (fits) {
    memcpy(data, image, (size_t)n);
    set_format(data, (size_t)n, 2);
  }
  sqlite3_free(image);
  sqlite3_close(sql);
  return fits ? (size_t)n : LLVMFuzzerMutate(data, size, max);
}

/* ---- the seed: a study of four runs, one of which failed and one of which is missing ---- */

static const char seed_record[] =
    "{\"config_hash\": \"c0\", \"gpu\": \"GTX480\", \"config\": {\"l1d.sets\": 32, \"icnt.kind\": \"crossbar\"},"
    " \"totals\": {\"cycles\": 1000, \"instructions\": 5000, \"queue.max\": 3, \"latency.mean\": 12.5, \"ipc\": 5.0,"
    "  \"scheme_counters\": {\"bypasses\": 4}},"
    " \"kernels\": [{\"id\": 1, \"name\": \"k\", \"grid\": [1, 1, 1], \"block\": [32, 1, 1], \"shared_bytes\": 0, "
    "\"registers\": 8,"
    "  \"stream\": 1, \"overlap\": 1, \"cycles\": 600, \"lines\": [{\"file\": \"k.cu\", \"line\": 3, \"ptx_line\": 9, "
    "\"executions\": 7,"
    "  \"accesses\": 7, \"l1_accesses\": 7, \"l1_hits\": 2, \"stall_cycles\": 50, \"l2_bytes\": 640}],"
    "  \"samples\": {\"every_cycles\": 100, \"cycles\": [10, 20]},"
    "  \"loads\": {\"by_degree\": [{\"degrees\": \"1\", \"loads\": 3}], \"lines_by_quarters_used\": [1, 0, 0, 2]}}],"
    " \"overlaps\": [{\"kernels_together\": [0], \"name\": \"k\", \"start_cycle\": 0, \"launch_cycles\": 600, "
    "\"cycles\": 600}]}";

static void make_seed(const char *path) {
  struct err e = {0};
  struct db *db = db_open(path, DB_WRITE, &e);
  json_t *record = json_loads(seed_record, 0, NULL);
  struct db_plan plan[4] = {
      {.hash = "r1", .workload = "nn", .gpu = "fermi", .scheme = "none"},
      {.hash = "r2", .workload = "nn", .suite = "rodinia", .scheme = "bucl", .parameters = "{\"l1d.sets\": 64}"},
      {.hash = "r3", .workload = "bfs", .group = "g", .size = "small", .replica = 1},
      {.hash = "r4", .workload = "bfs"}};
  bool ok = db && record && db_study_put(db, "s", "s.yaml", "programs: [nn]", plan, 4, &e);
  for (int i = 0; ok && i < 3; i++) {
    struct db_run r = {.hash = plan[i].hash,
                       .done = i < 2,
                       .exit_code = i < 2 ? 0 : 2,
                       .error = i < 2 ? NULL : "no such size",
                       .log = "end",
                       .command = "sluice run",
                       .program = "nn",
                       .program_hash = "p",
                       .gpu = "fermi",
                       .scheme = "none",
                       .mode = "timing",
                       .simulator = "1",
                       .host = "h",
                       .seconds = 0.5,
                       .cpu_seconds = 0.25,
                       .peak_kb = 9000};
    ok = db_run_put(db, &r, i < 2 ? record : NULL, &e);
  }
  ok = ok && db_exec(db, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM; PRAGMA journal_mode = WAL", &e);
  json_decref(record);
  db_close(db);
  if (!ok) fprintf(stderr, "seed: %s\n", e.msg);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  if (sqlite3_config(SQLITE_CONFIG_MALLOC, &memory) || sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0)) abort();
  if (getenv("SEED")) make_seed(getenv("SEED"));
  return 0;
}
