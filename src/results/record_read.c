/* record_read.c - reading result records back. */
#include "results/record.h"

#include <jansson.h>
#include <string.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/input.h"

struct record_file {
  json_t *root, *kernels, *totals, *entries;
};

void *record_entries_of(const void *document) {
  json_t *all = json_copy(json_object_get(document, "kernels"));
  json_array_extend(all, json_object_get(document, "overlaps"));
  return all;
}

const void *record_entries(const struct record_file *f) {
  return f->entries;
}

void *record_document(const char *path, struct err *e) {
  json_error_t je;
  size_t bytes;
  char *text = input_read(path, INPUT_JSON_MOST, &bytes, e);
  if (!text) return NULL;
  json_t *root = json_loadb(text, bytes, 0, &je);
  free(text);
  if (!root && je.line < 0) err_set(e, ERR_INPUT, "%s: %s", path, je.text);
  else if (!root) err_set(e, ERR_INPUT, "%s:%d:%d: %s", path, je.line, je.column, je.text);
  return root;
}

struct record_file *record_open(const char *path, struct err *e) {
  json_t *root = record_document(path, e);
  if (!root) return NULL;
  json_t *kernels = json_object_get(root, "kernels"), *totals = json_object_get(root, "totals");
  json_int_t format = json_integer_value(json_object_get(root, "format"));
  if (!json_is_array(kernels) || !json_is_object(totals)) {
    err_set(e, ERR_INPUT, "%s: not a result record of sluice (it needs `kernels` and `totals`)", path);
  } else if (format != RECORD_FORMAT) {
    err_set(e, ERR_INPUT, "%s: record format %lld; this sluice reads %d", path, (long long)format, RECORD_FORMAT);
  } else {
    struct record_file *f = mem_alloc(sizeof *f);
    *f = (struct record_file){root, kernels, totals, record_entries_of(root)};
    return f;
  }
  json_decref(root);
  return NULL;
}

struct record_file *record_wrap(void *document) {
  json_t *kernels = json_object_get(document, "kernels"), *totals = json_object_get(document, "totals");
  if (!json_is_array(kernels) || !json_is_object(totals)) return NULL;
  struct record_file *f = mem_alloc(sizeof *f);
  *f = (struct record_file){json_incref(document), kernels, totals, record_entries_of(document)};
  return f;
}

const char *record_field(const struct record_file *f, const char *key) {
  return json_string_value(json_object_get(f->root, key));
}

size_t record_kernels(const struct record_file *f) {
  return json_array_size(f->kernels);
}

uint64_t record_launches(const struct record_file *f) {
  const json_t *n = json_object_get(json_object_get(f->root, "folded"), "launches");
  size_t after = (size_t)json_integer_value(json_object_get(json_object_get(f->root, "folded"), "after"));
  return n ? after + (uint64_t)json_integer_value(n) : record_kernels(f);
}

const char *record_kernel_name(const struct record_file *f, size_t kernel) {
  return json_string_value(json_object_get(json_array_get(f->kernels, kernel), "name"));
}

bool record_value(const struct record_file *f, size_t kernel, const char *key, double *value) {
  const json_t *o = kernel == RECORD_TOTALS ? f->totals : json_array_get(f->kernels, kernel);
  const json_t *v = json_object_get(o, key);
  if (!v) v = json_object_get(json_object_get(o, "scheme_counters"), key);
  if (!json_is_number(v)) return false;
  *value = json_number_value(v);
  return true;
}

size_t record_findings(const struct record_file *f) {
  const json_t *all = json_object_get(f->root, "findings"), *v;
  size_t i, n = 0;
  json_array_foreach(all, i, v) {
    const char *check = json_string_value(json_object_get(v, "check"));
    n += !check || strcmp(check, "same-value"); /* harmless */
  }
  return n;
}

struct record_strays record_strays(const struct record_file *f) {
  const json_t *o = json_object_get(f->root, "out_of_bounds");
  return (struct record_strays){.reads = (uint64_t)json_integer_value(json_object_get(o, "reads")),
                                .writes = (uint64_t)json_integer_value(json_object_get(o, "writes")),
                                .places = json_array_size(json_object_get(o, "places"))};
}

void record_stats_of(const void *o, struct gpu_stats *out) {
  *out = (struct gpu_stats){0};
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *row = &gpu_stat_rows[i];
    if (row->kind == STAT_MEAN) continue;
    *(uint64_t *)((char *)out + row->offset) = (uint64_t)json_integer_value(json_object_get(o, row->key));
  }
}

void record_stats(const struct record_file *f, size_t kernel, struct gpu_stats *out) {
  record_stats_of(kernel == RECORD_TOTALS ? f->totals : json_array_get(f->kernels, kernel), out);
}

void *record_json(const struct record_file *f) {
  return f->root;
}

void record_close(struct record_file *f) {
  if (!f) return;
  json_decref(f->entries);
  json_decref(f->root);
  free(f);
}
