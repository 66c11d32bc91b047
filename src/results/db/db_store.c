/* db_store.c - writing: the plan of a study, and a finished run with its whole record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "gpu/common/stats.h"
#include "results/db/db_impl.h"
#include "results/record.h"

enum { ZSTD_LEVEL = 6 };

/* ---- the plan ---- */

static int64_t put_study(struct db *db, const char *name, const char *file, const char *text, struct err *e) {
  sqlite3_stmt *s = db_prepare(db,
                               "INSERT INTO studies(name, file, text) VALUES(?, ?, ?) ON CONFLICT(name) DO UPDATE SET "
                               "file = excluded.file, text = excluded.text RETURNING id",
                               e);
  if (!s) return 0;
  db_bind_text(s, 1, name);
  db_bind_text(s, 2, file);
  db_bind_text(s, 3, text);
  int64_t id = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
  if (!id) db_fail(db, e);
  sqlite3_finalize(s);
  return id;
}

static bool put_plan(struct db *db, int64_t study, const struct db_plan *plan, size_t count, struct err *e) {
  sqlite3_stmt *clear = db_prepare(db, "DELETE FROM plan WHERE study_id = ?", e);
  if (!clear) return false;
  sqlite3_bind_int64(clear, 1, study);
  bool ok = db_run_once(db, clear, e);
  sqlite3_finalize(clear);
  sqlite3_stmt *s = ok ? db_prepare(db, "INSERT INTO plan VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", e) : NULL;
  ok = s;
  for (size_t i = 0; ok && i < count; i++) {
    const struct db_plan *p = &plan[i];
    const char *const texts[] = {p->hash, p->workload, p->suite,  p->group,
                                 p->size, p->gpu,      p->scheme, p->parameters ? p->parameters : "{}"};
    sqlite3_bind_int64(s, 1, study);
    sqlite3_bind_int64(s, 2, (int64_t)i);
    for (int k = 0; k < 8; k++) db_bind_text(s, 3 + k, texts[k]);
    sqlite3_bind_int64(s, 11, p->replica);
    ok = db_run_once(db, s, e);
  }
  sqlite3_finalize(s);
  return ok;
}

int64_t db_study_put(struct db *db, const char *name, const char *file, const char *text, const struct db_plan *plan,
                     size_t count, struct err *e) {
  if (!db_exec(db, "BEGIN IMMEDIATE", e)) return 0;
  int64_t id = put_study(db, name, file, text, e);
  if (id && put_plan(db, id, plan, count, e) && db_seal(db, DB_STUDIES, id, e) && db_seal(db, DB_PLAN, id, e) &&
      db_exec(db, "COMMIT", e))
    return id;
  sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
  return 0;
}

/* ---- a run ---- */

static void bind_json(sqlite3_stmt *s, int at, const json_t *v) {
  if (json_is_integer(v)) sqlite3_bind_int64(s, at, json_integer_value(v));
  else if (json_is_real(v)) sqlite3_bind_double(s, at, json_real_value(v));
  else if (json_is_boolean(v)) sqlite3_bind_int64(s, at, json_is_true(v));
  else db_bind_text(s, at, json_string_value(v));
}

/* A row (id, key, value) by `insert` for each member of `o`. */
static bool put_pairs(struct db *db, const char *insert, int64_t id, json_t *o, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, insert, e);
  bool ok = s;
  const char *key;
  json_t *v;
  json_object_foreach(o, key, v) {
    if (!ok) break;
    sqlite3_bind_int64(s, 1, id);
    db_bind_text(s, 2, key);
    bind_json(s, 3, v);
    ok = db_run_once(db, s, e);
  }
  sqlite3_finalize(s);
  return ok;
}

/* The row of the record's configuration, created if new; 0 with `e`. */
static int64_t put_configuration(struct db *db, json_t *record, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, "SELECT id FROM configurations WHERE hash = ?", e);
  if (!s) return 0;
  const char *hash = json_string_value(json_object_get(record, "config_hash"));
  db_bind_text(s, 1, hash ? hash : "");
  int64_t id = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
  sqlite3_finalize(s);
  if (id) return id;
  s = db_prepare(db, "INSERT INTO configurations(hash, gpu) VALUES(?, ?)", e);
  if (!s) return 0;
  db_bind_text(s, 1, hash ? hash : "");
  const char *gpu = json_string_value(json_object_get(record, "gpu"));
  db_bind_text(s, 2, gpu ? gpu : "");
  bool ok = db_run_once(db, s, e);
  sqlite3_finalize(s);
  id = ok ? sqlite3_last_insert_rowid(db->sql) : 0;
  ok = ok && put_pairs(db, "INSERT INTO knobs VALUES(?, ?, ?)", id, json_object_get(record, "config"), e);
  ok = ok && db_seal(db, DB_CONFIGURATIONS, id, e) && db_seal(db, DB_KNOBS, id, e);
  return ok ? id : 0;
}

/* INSERT INTO table(`head`, every counter) VALUES(?, ...). The caller finalizes it. */
static sqlite3_stmt *prepare_counters(struct db *db, const char *table, const char *head, unsigned heads,
                                      struct err *e) {
  sqlite3_str *t = sqlite3_str_new(db->sql);
  sqlite3_str_appendf(t, "INSERT INTO %s(%s", table, head);
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) sqlite3_str_appendf(t, ", \"%w\"", gpu_stat_rows[i].key);
  for (uint32_t i = 0; i < derived_row_count; i++) sqlite3_str_appendf(t, ", \"%w\"", derived_rows[i].key);
  sqlite3_str_appendf(t, ") VALUES(?");
  for (uint32_t i = 1; i < heads + gpu_stat_row_count + derived_row_count; i++) sqlite3_str_appendf(t, ", ?");
  sqlite3_str_appendf(t, ")");
  char *sql = sqlite3_str_finish(t);
  CHECK(sql, "out of memory");
  sqlite3_stmt *s = db_prepare(db, sql, e);
  sqlite3_free(sql);
  return s;
}

static void bind_counters(sqlite3_stmt *s, int at, const json_t *o) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) bind_json(s, at++, json_object_get(o, gpu_stat_rows[i].key));
  for (uint32_t i = 0; i < derived_row_count; i++) bind_json(s, at++, json_object_get(o, derived_rows[i].key));
}

static bool put_totals(struct db *db, int64_t run, json_t *totals, struct err *e) {
  sqlite3_stmt *s = prepare_counters(db, "totals", "run_id", 1, e);
  if (!s) return false;
  sqlite3_bind_int64(s, 1, run);
  bind_counters(s, 2, totals);
  bool ok = db_run_once(db, s, e);
  sqlite3_finalize(s);
  json_t *own = json_object_get(totals, "scheme_counters");
  return ok && put_pairs(db, "INSERT INTO scheme_counters VALUES(?, ?, ?)", run, own, e);
}

struct bucket { /* of a histogram */
  const char *name;
  size_t index;
  const char *label;
  const json_t *value;
};

static bool put_bucket(struct db *db, sqlite3_stmt *s, int64_t kernel, struct bucket b, struct err *e) {
  sqlite3_bind_int64(s, 1, kernel);
  db_bind_text(s, 2, b.name);
  sqlite3_bind_int64(s, 3, (int64_t)b.index);
  db_bind_text(s, 4, b.label);
  sqlite3_bind_double(s, 5, json_number_value(b.value));
  return db_run_once(db, s, e);
}

static bool put_histograms(struct db *db, sqlite3_stmt *s, int64_t kernel, json_t *loads, struct err *e) {
  static const char *const quarters[] = {"0", "1", "2", "3", "4"};
  bool ok = true;
  size_t i;
  json_t *one, *v;
  const char *key;
  json_array_foreach(json_object_get(loads, "by_degree"), i, one) {
    const char *label = json_string_value(json_object_get(one, "degrees"));
    json_object_foreach(one, key, v) {
      char name[96];
      if (!ok || !json_is_number(v)) continue;
      snprintf(name, sizeof name, "loads_by_degree.%s", key);
      ok = put_bucket(db, s, kernel, (struct bucket){name, i, label ? label : "", v}, e);
    }
  }
  json_array_foreach(json_object_get(loads, "lines_by_quarters_used"), i, v) {
    if (ok && i < 4)
      ok = put_bucket(db, s, kernel, (struct bucket){"lines_by_quarters_used", i, quarters[i + 1], v}, e);
  }
  json_array_foreach(json_object_get(loads, "lines_by_quarters_reused"), i, v) {
    if (ok && i < 5) ok = put_bucket(db, s, kernel, (struct bucket){"lines_by_quarters_reused", i, quarters[i], v}, e);
  }
  return ok;
}

static bool put_samples(struct db *db, sqlite3_stmt *s, int64_t kernel, json_t *samples, struct err *e) {
  json_int_t every = json_integer_value(json_object_get(samples, "every_cycles"));
  bool ok = true;
  const char *key;
  json_t *values, *v;
  size_t i;
  json_object_foreach(samples, key, values) {
    json_array_foreach(values, i, v) {
      if (!ok) break;
      sqlite3_bind_int64(s, 1, kernel);
      db_bind_text(s, 2, key);
      sqlite3_bind_int64(s, 3, (int64_t)(i + 1) * every);
      sqlite3_bind_double(s, 4, json_number_value(v));
      ok = db_run_once(db, s, e);
    }
  }
  return ok;
}

static bool put_lines(struct db *db, sqlite3_stmt *s, int64_t kernel, json_t *lines, struct err *e) {
  static const char *const keys[] = {"ptx_line",    "file",    "line",         "executions", "accesses",
                                     "l1_accesses", "l1_hits", "stall_cycles", "l2_bytes"};
  bool ok = true;
  size_t i;
  json_t *line;
  json_array_foreach(lines, i, line) {
    if (!ok) break;
    sqlite3_bind_int64(s, 1, kernel);
    for (int k = 0; k < 9; k++) bind_json(s, 2 + k, json_object_get(line, keys[k]));
    ok = db_run_once(db, s, e);
  }
  return ok;
}

bool db_fill_lines(struct db *db, struct err *e) {
  sqlite3_stmt *kernels = db_prepare(db, "SELECT id, run_id, launch FROM kernels ORDER BY run_id, launch", e);
  sqlite3_stmt *put = db_prepare(db, "INSERT INTO lines VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", e);
  bool ok = kernels && put;
  json_t *record = NULL;
  int64_t of = 0;
  while (ok && sqlite3_step(kernels) == SQLITE_ROW) {
    int64_t run = sqlite3_column_int64(kernels, 1);
    if (run != of) {
      json_decref(record);
      record = db_record(db, run, NULL);
      of = run;
    }
    json_t *k = json_array_get(json_object_get(record, "kernels"), (size_t)sqlite3_column_int64(kernels, 2));
    ok = put_lines(db, put, sqlite3_column_int64(kernels, 0), json_object_get(k, "lines"), e);
  }
  json_decref(record);
  sqlite3_finalize(kernels);
  sqlite3_finalize(put);
  return ok;
}

static void bind_triple(sqlite3_stmt *s, int at, const json_t *v) {
  char text[64];
  snprintf(text, sizeof text, "%lld,%lld,%lld", (long long)json_integer_value(json_array_get(v, 0)),
           (long long)json_integer_value(json_array_get(v, 1)), (long long)json_integer_value(json_array_get(v, 2)));
  db_bind_text(s, at, text);
}

/* Observations: of a launch, or of overlapping launches, under the first of them. */
static bool put_seen(struct db *db, int64_t kernel, json_t *from, struct err *e) {
  sqlite3_stmt *h = db_prepare(db, "INSERT INTO histograms VALUES(?, ?, ?, ?, ?)", e);
  sqlite3_stmt *p = db_prepare(db, "INSERT INTO samples VALUES(?, ?, ?, ?)", e);
  sqlite3_stmt *l = db_prepare(db, "INSERT INTO lines VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", e);
  bool ok = h && p && l && put_histograms(db, h, kernel, json_object_get(from, "loads"), e) &&
            put_samples(db, p, kernel, json_object_get(from, "samples"), e) &&
            put_lines(db, l, kernel, json_object_get(from, "lines"), e);
  sqlite3_finalize(h);
  sqlite3_finalize(p);
  sqlite3_finalize(l);
  return ok;
}

enum { KERNEL_HEADS = 11, OVERLAP_HEADS = 5 };

static bool put_kernels(struct db *db, int64_t run, json_t *kernels, struct err *e) {
  sqlite3_stmt *s = prepare_counters(db, "kernels",
                                     "run_id, launch, name, grid, block, shared_bytes, registers, stream, overlap, "
                                     "start_cycle, end_cycle",
                                     KERNEL_HEADS, e);
  bool ok = s;
  size_t i;
  json_t *k;
  json_array_foreach(kernels, i, k) {
    if (!ok) break;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, (int64_t)i);
    bind_json(s, 3, json_object_get(k, "name"));
    bind_triple(s, 4, json_object_get(k, "grid"));
    bind_triple(s, 5, json_object_get(k, "block"));
    bind_json(s, 6, json_object_get(k, "shared_bytes"));
    bind_json(s, 7, json_object_get(k, "registers"));
    sqlite3_bind_int64(s, 8, json_integer_value(json_object_get(k, "stream")));
    bind_json(s, 9, json_object_get(k, "overlap"));
    bind_json(s, 10, json_object_get(k, "start_cycle"));
    bind_json(s, 11, json_object_get(k, "end_cycle"));
    bind_counters(s, KERNEL_HEADS + 1, k);
    ok = db_run_once(db, s, e) && put_seen(db, sqlite3_last_insert_rowid(db->sql), k, e);
  }
  sqlite3_finalize(s);
  return ok;
}

static int64_t kernel_id(struct db *db, int64_t run, json_int_t launch, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, "SELECT id FROM kernels WHERE run_id = ? AND launch = ?", e);
  if (!s) return 0;
  sqlite3_bind_int64(s, 1, run);
  sqlite3_bind_int64(s, 2, launch);
  int64_t id = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
  if (!id) db_fail(db, e);
  sqlite3_finalize(s);
  return id;
}

static bool put_overlaps(struct db *db, int64_t run, json_t *overlaps, struct err *e) {
  if (!json_array_size(overlaps)) return true;
  sqlite3_stmt *s =
      prepare_counters(db, "overlaps", "run_id, overlap, name, start_cycle, launch_cycles", OVERLAP_HEADS, e);
  bool ok = s;
  size_t i;
  json_t *o;
  json_array_foreach(overlaps, i, o) {
    if (!ok) break;
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_int64(s, 2, (int64_t)i);
    bind_json(s, 3, json_object_get(o, "name"));
    bind_json(s, 4, json_object_get(o, "start_cycle"));
    bind_json(s, 5, json_object_get(o, "launch_cycles"));
    bind_counters(s, OVERLAP_HEADS + 1, o);
    json_t *members = json_object_get(o, "kernels_together");
    int64_t first = kernel_id(db, run, json_integer_value(json_array_get(members, 0)), e);
    ok = first && db_run_once(db, s, e) && put_seen(db, first, o, e);
  }
  sqlite3_finalize(s);
  return ok;
}

/* Fill the columns of `kernels` that belong to `overlaps`, for a stored run. */
static bool place_kernels(struct db *db, int64_t run, json_t *kernels, struct err *e) {
  sqlite3_stmt *s = db_prepare(db,
                               "UPDATE kernels SET stream = ?, overlap = ?, start_cycle = ?, end_cycle = ? WHERE "
                               "run_id = ? AND launch = ?",
                               e);
  bool ok = s;
  size_t i;
  json_t *k;
  json_array_foreach(kernels, i, k) {
    if (!ok || !json_object_get(k, "stream")) continue;
    bind_json(s, 1, json_object_get(k, "stream"));
    bind_json(s, 2, json_object_get(k, "overlap"));
    bind_json(s, 3, json_object_get(k, "start_cycle"));
    bind_json(s, 4, json_object_get(k, "end_cycle"));
    sqlite3_bind_int64(s, 5, run);
    sqlite3_bind_int64(s, 6, (int64_t)i);
    ok = db_run_once(db, s, e);
  }
  sqlite3_finalize(s);
  return ok;
}

bool db_fill_overlaps(struct db *db, struct err *e) {
  sqlite3_stmt *runs = db_prepare(db, "SELECT run_id FROM records", e);
  bool ok = runs;
  while (ok && sqlite3_step(runs) == SQLITE_ROW) {
    int64_t run = sqlite3_column_int64(runs, 0);
    json_t *record = db_record(db, run, NULL);
    ok = place_kernels(db, run, json_object_get(record, "kernels"), e) &&
         put_overlaps(db, run, json_object_get(record, "overlaps"), e);
    json_decref(record);
  }
  sqlite3_finalize(runs);
  return ok;
}

void *db_pack(const char *text, size_t bytes, size_t *packed) {
  size_t room = ZSTD_compressBound(bytes);
  void *out = mem_alloc(room);
  ZSTD_CCtx *c = ZSTD_createCCtx();
  CHECK(c, "out of memory");
  ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, ZSTD_LEVEL);
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1); /* recovery must detect a damaged record */
  *packed = ZSTD_compress2(c, out, room, text, bytes);
  CHECK(!ZSTD_isError(*packed), "zstd: %s", ZSTD_getErrorName(*packed));
  ZSTD_freeCCtx(c);
  return out;
}

static bool put_record(struct db *db, int64_t run, json_t *record, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, "INSERT INTO records VALUES(?, ?)", e);
  if (!s) return false;
  char *text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(10));
  CHECK(text, "a record that is not JSON");
  size_t packed;
  void *data = db_pack(text, strlen(text), &packed);
  free(text);
  sqlite3_bind_int64(s, 1, run);
  sqlite3_bind_blob64(s, 2, data, packed, free);
  bool ok = db_run_once(db, s, e);
  sqlite3_finalize(s);
  return ok;
}

static int64_t put_run_row(struct db *db, const struct db_run *r, int64_t configuration, struct err *e) {
  sqlite3_stmt *s = db_prepare(db,
                               "INSERT INTO runs(hash, program, program_hash, gpu, scheme, mode, status, error, log, "
                               "command, simulator, host, exit_code, configuration_id, seconds, cpu_seconds, peak_kb) "
                               "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                               e);
  if (!s) return 0;
  const char *const texts[] = {
      r->hash,  r->program, r->program_hash, r->gpu,       r->scheme, r->mode, r->done ? "done" : "failed",
      r->error, r->log,     r->command,      r->simulator, r->host};
  for (int i = 0; i < 12; i++) db_bind_text(s, 1 + i, texts[i]);
  sqlite3_bind_int(s, 13, r->exit_code);
  if (configuration) sqlite3_bind_int64(s, 14, configuration);
  sqlite3_bind_double(s, 15, r->seconds);
  sqlite3_bind_double(s, 16, r->cpu_seconds);
  sqlite3_bind_int64(s, 17, r->peak_kb);
  bool ok = db_run_once(db, s, e);
  sqlite3_finalize(s);
  return ok ? sqlite3_last_insert_rowid(db->sql) : 0;
}

/* Delete the run of that hash, if there is one. */
static bool drop_run(struct db *db, const char *hash, struct err *e) {
  sqlite3_stmt *s = db_prepare(db, "SELECT id FROM runs WHERE hash = ?", e);
  if (!s) return false;
  db_bind_text(s, 1, hash);
  bool there = sqlite3_step(s) == SQLITE_ROW;
  int64_t run = there ? sqlite3_column_int64(s, 0) : 0;
  sqlite3_finalize(s);
  if (!there) return true;
  if (!db_unseal_run(db, run, e) || !(s = db_prepare(db, "DELETE FROM runs WHERE id = ?", e))) return false;
  sqlite3_bind_int64(s, 1, run);
  bool ok = db_run_once(db, s, e);
  sqlite3_finalize(s);
  return ok;
}

static bool put_all(struct db *db, const struct db_run *r, json_t *record, struct err *e) {
  if (!drop_run(db, r->hash, e)) return false;
  int64_t configuration = record ? put_configuration(db, record, e) : 0;
  if (record && !configuration) return false;
  int64_t run = put_run_row(db, r, configuration, e);
  if (!run) return false;
  bool ok =
      !record || (put_totals(db, run, json_object_get(record, "totals"), e) &&
                  put_kernels(db, run, json_object_get(record, "kernels"), e) &&
                  put_overlaps(db, run, json_object_get(record, "overlaps"), e) && put_record(db, run, record, e));
  return ok && db_seal_run(db, run, e);
}

bool db_run_put(struct db *db, const struct db_run *run, json_t *record, struct err *e) {
  if (!db_exec(db, "BEGIN IMMEDIATE", e)) return false;
  if (db_run_status(db, run->hash) == DB_DONE) return db_exec(db, "ROLLBACK", e);
  if (put_all(db, run, record, e) && db_exec(db, "COMMIT", e)) return true;
  sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL); /* SQLite may have rolled back already */
  return false;
}
