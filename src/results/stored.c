/* stored.c - see stored.h. */
#include "results/stored.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"

enum { LEVEL = 19, MOST_BYTES = 1 << 30 };

static const char *const parts[] = {"loads", "warps_at_l2", "sharing"};
enum { PARTS = sizeof parts / sizeof *parts };

struct stored {
  json_t *header, *runs; /* runs: line by key */
};

/* ---- a run's key ---- */

/* Sorts by size, workload, scheme, machine, knobs and seed. The caller frees it. */
static char *key_of(const struct stored_run *r) {
  char *key = NULL, *set = json_dumps(r->set ? r->set : json_null(), JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_COMPACT);
  const char *knobs = r->set && json_object_size(r->set) ? set : "{}";
  CHECK(asprintf(&key, "%s\t%s\t%s\t%s\t%s\t%06d", r->size, r->workload, r->scheme, r->gpu, knobs, r->seed) > 0,
        "out of memory");
  free(set);
  return key;
}

static const char *stored_text(const json_t *o, const char *key) {
  const char *s = json_string_value(json_object_get(o, key));
  return s ? s : "";
}

static struct stored_run run_of(const json_t *line) {
  return (struct stored_run){.workload = stored_text(line, "workload"),
                             .scheme = stored_text(line, "scheme"),
                             .gpu = stored_text(line, "gpu"),
                             .size = stored_text(line, "size"),
                             .set = json_object_get(line, "set"),
                             .seed = (int)json_integer_value(json_object_get(line, "seed"))};
}

const json_t *stored_find(const struct stored *s, const struct stored_run *run) {
  char *key = key_of(run);
  const json_t *line = json_object_get(s->runs, key);
  free(key);
  return line;
}

const json_t *stored_runs(const struct stored *s) {
  return s->runs;
}

static void put_run(struct stored *s, json_t *line) {
  struct stored_run r = run_of(line);
  char *key = key_of(&r);
  json_object_set_new(s->runs, key, line);
  free(key);
}

void stored_put(struct stored *s, const struct stored_run *run, json_t *line) {
  json_t *set = run->set ? json_deep_copy(run->set) : json_object();
  json_t *whole = json_pack("{s:s, s:s, s:s, s:s, s:o, s:i}", "workload", run->workload, "scheme", run->scheme, "gpu",
                            run->gpu, "size", run->size, "set", set, "seed", run->seed);
  json_object_update(whole, line);
  json_decref(line);
  const json_t *old = stored_find(s, run); /* the same run may have been characterised for another figure */
  if (old && !strcmp(stored_text(old, "commit"), stored_text(whole, "commit")))
    json_object_update_missing(whole, (json_t *)old);
  put_run(s, whole);
}

/* ---- reading ---- */

struct stored *stored_new(const char *paper, const char *programs) {
  struct stored *s = mem_alloc(sizeof *s);
  s->header = json_pack("{s:i, s:s, s:s}", "format", STORED_FORMAT, "paper", paper, "programs", programs);
  s->runs = json_object();
  return s;
}

void stored_free(struct stored *s) {
  if (!s) return;
  json_decref(s->header);
  json_decref(s->runs);
  free(s);
}

/* The whole text, NUL-terminated; NULL with `e`. */
static char *unpack(const char *path, struct err *e) {
  size_t packed = 0;
  char *data = path_read_whole(path, &packed), *text = NULL;
  if (!data) return err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno)), NULL;
  unsigned long long bytes = ZSTD_getFrameContentSize(data, packed);
  if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR || bytes > MOST_BYTES) {
    err_set(e, ERR_INPUT, "'%s' is no file of stored results: it is not one frame of zstd that states its size", path);
  } else {
    text = mem_alloc((size_t)bytes + 1);
    size_t n = ZSTD_decompress(text, (size_t)bytes, data, packed);
    text[bytes] = 0;
    if (ZSTD_isError(n) || n != bytes || strlen(text) != n) {
      err_set(e, ERR_INPUT, "'%s' is damaged: %s", path, ZSTD_isError(n) ? ZSTD_getErrorName(n) : "it ends early");
      free(text);
      text = NULL;
    }
  }
  free(data);
  return text;
}

static bool is_header(const json_t *line, const char *paper) {
  return json_integer_value(json_object_get(line, "format")) == STORED_FORMAT &&
         !strcmp(stored_text(line, "paper"), paper);
}

struct stored *stored_open(const char *path, const char *paper, struct err *e) {
  char *text = unpack(path, e), *save = NULL;
  if (!text) return NULL;
  struct stored *s = NULL;
  size_t row = 0;
  for (char *l = strtok_r(text, "\n", &save); l && !e->code; l = strtok_r(NULL, "\n", &save)) {
    json_error_t je;
    json_t *line = json_loads(l, 0, &je);
    row++;
    if (!json_is_object(line)) err_set(e, ERR_INPUT, "%s:%zu: %s", path, row, line ? "no object" : je.text);
    else if (row == 1 && !is_header(line, paper))
      err_set(e, ERR_INPUT, "%s:1: stored results of %s in format %d begin with another header", path, paper,
              STORED_FORMAT);
    else if (row == 1) s = stored_new(paper, stored_text(line, "programs"));
    else put_run(s, json_incref(line));
    json_decref(line);
  }
  free(text);
  if (!s && !e->code) err_set(e, ERR_INPUT, "'%s' is empty", path);
  if (!e->code) return s;
  stored_free(s);
  return NULL;
}

/* ---- a record and its line ---- */

/* The sum of two values: of numbers, of lists by place, of objects by key; a mean latency becomes a sum over loads. */
static json_t *sum_records(json_t *a, const json_t *b) {
  const char *name;
  json_t *v;
  if (json_is_integer(b) && (!a || json_is_integer(a))) {
    json_int_t before = json_integer_value(a);
    json_decref(a);
    return json_integer(before + json_integer_value(b));
  }
  if (json_is_number(b)) {
    double before = json_number_value(a);
    json_decref(a);
    return json_real(before + json_number_value(b));
  }
  if (json_is_array(b)) {
    json_t *all = json_is_array(a) ? a : json_array();
    for (size_t i = 0; i < json_array_size(b); i++) {
      json_t *was = json_array_get(all, i), *now = sum_records(json_incref(was), json_array_get(b, i));
      if (was) json_array_set_new(all, i, now);
      else json_array_append_new(all, now);
    }
    return all;
  }
  if (!json_is_object(b)) {
    json_decref(a);
    return json_incref((json_t *)b);
  }
  json_t *all = json_is_object(a) ? a : json_object();
  double loads = json_number_value(json_object_get(b, "loads"));
  json_object_foreach((json_t *)b, name, v) {
    bool mean = !strcmp(name, "latency.mean");
    const char *key = mean ? "latency_sum" : name;
    json_t *term = mean ? json_real(json_number_value(v) * loads) : json_incref(v);
    json_object_set_new(all, key, sum_records(json_incref(json_object_get(all, key)), term));
    json_decref(term);
  }
  return all;
}

json_t *stored_kernels(const json_t *record) {
  static const char *const counters[] = {"cycles", "thread_insts"};
  json_t *ready = json_object_get(record, "by_kernel"), *kernel;
  if (ready) return json_incref(ready);
  json_t *all = json_object();
  size_t k;
  json_array_foreach(json_object_get(record, "kernels"), k, kernel) {
    const char *name = stored_text(kernel, "name");
    json_t *one = json_object_get(all, name), *folded = json_object_get(kernel, "launches");
    if (!*name) continue;
    if (!one) json_object_set_new(all, name, one = json_object());
    json_int_t n = folded ? json_integer_value(folded) : 1;
    json_object_set_new(one, "launches", json_integer(json_integer_value(json_object_get(one, "launches")) + n));
    for (size_t i = 0; i < 2; i++) {
      const json_t *v = json_object_get(kernel, counters[i]);
      if (v) json_object_set_new(one, counters[i], sum_records(json_incref(json_object_get(one, counters[i])), v));
    }
  }
  return all;
}

/* With and without leakage, without what each structure took. */
static json_t *energy_of(const json_t *record) {
  json_t *all = json_object(), *v;
  const char *name;
  json_object_foreach(json_object_get(record, "energy"), name, v) {
    if (json_is_number(v)) json_object_set(all, name, v);
  }
  return all;
}

json_t *stored_reduce(const json_t *record) {
  json_t *line = json_object(), *search = json_object_get(record, "search"), *kernel;
  json_object_set_new(line, "kernels", stored_kernels(record));
  json_object_set_new(line, "energy", energy_of(record));
  json_object_set(line, "totals", json_object_get(record, "totals"));
  size_t k;
  json_array_foreach(json_object_get(record, "kernels"), k, kernel) {
    for (int i = 0; i < PARTS; i++) {
      const json_t *part = json_object_get(kernel, parts[i]);
      if (part) json_object_set_new(line, parts[i], sum_records(json_incref(json_object_get(line, parts[i])), part));
    }
  }
  if (search) json_object_set(line, "search", search);
  return line;
}

json_t *stored_record(const json_t *line) {
  json_t *kernel = json_object(), *record = json_pack("{s:O}", "totals", json_object_get(line, "totals"));
  for (int i = 0; i < PARTS; i++) {
    json_t *part = json_object_get(line, parts[i]);
    if (part) json_object_set(kernel, parts[i], part);
  }
  json_object_set_new(record, "kernels", json_pack("[o]", kernel));
  if (json_object_get(line, "kernels")) json_object_set(record, "by_kernel", json_object_get(line, "kernels"));
  if (json_object_get(line, "energy")) json_object_set(record, "energy", json_object_get(line, "energy"));
  if (json_object_get(line, "search")) json_object_set(record, "search", json_object_get(line, "search"));
  return record;
}

/* ---- writing ---- */

static int by_text(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *text_of_all(const struct stored *s, size_t *bytes) {
  char *text = NULL;
  FILE *f = open_memstream(&text, bytes);
  size_t n = 0, all = json_object_size(s->runs);
  const char **keys = mem_alloc((all + 1) * sizeof *keys), *key;
  json_t *line;
  CHECK(f, "out of memory");
  json_object_foreach(s->runs, key, line) keys[n++] = key;
  qsort(keys, n, sizeof *keys, by_text);
  json_dumpf(s->header, f, JSON_COMPACT);
  fputc('\n', f);
  for (size_t i = 0; i < n; i++) {
    json_dumpf(json_object_get(s->runs, keys[i]), f, JSON_COMPACT | JSON_REAL_PRECISION(10));
    fputc('\n', f);
  }
  fclose(f);
  free(keys);
  return text;
}

bool stored_save(const struct stored *s, const char *path, struct err *e) {
  size_t bytes = 0;
  char *text = text_of_all(s, &bytes), *packed = mem_alloc(ZSTD_compressBound(bytes));
  size_t n = ZSTD_compress(packed, ZSTD_compressBound(bytes), text, bytes, LEVEL);
  CHECK(!ZSTD_isError(n), "zstd: %s", ZSTD_getErrorName(n));
  bool ok = path_write_whole(path, packed, n);
  if (!ok) output_failed(path, errno, e);
  free(packed);
  free(text);
  return ok;
}
