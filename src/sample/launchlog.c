/* launchlog.c - see launchlog.h. The file is JSON; sums of a mean are KEY.sum and KEY.count. */
#include "sample/launchlog.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"

enum { FORMAT = 1 };

struct logged_launch *launchlog_at(struct launchlog *l, uint32_t launch) {
  if (launch >= l->room) {
    uint32_t room = launch + launch / 2 + 64;
    l->at = mem_resize(l->at, room, sizeof *l->at);
    memset(l->at + l->room, 0, (room - l->room) * sizeof *l->at);
    l->room = room;
  }
  if (launch >= l->n) l->n = launch + 1;
  return &l->at[launch];
}

void launchlog_add_counter(struct logged_launch *l, const char *key, uint64_t value) {
  for (uint32_t i = 0; i < l->schemes; i++)
    if (!strcmp(l->scheme[i].key, key)) {
      l->scheme[i].value += value;
      return;
    }
  l->scheme = mem_resize(l->scheme, l->schemes + 1, sizeof *l->scheme);
  l->scheme[l->schemes++] = (struct logged_counter){.key = mem_text(key), .value = value};
}

void launchlog_free(struct launchlog *l) {
  for (uint32_t i = 0; i < l->n; i++) {
    for (uint32_t k = 0; k < l->at[i].schemes; k++) free(l->at[i].scheme[k].key);
    free(l->at[i].scheme);
    free(l->at[i].inside.counter);
    free(l->at[i].kernel);
  }
  free(l->at);
  *l = (struct launchlog){0};
}

uint64_t launchlog_ctas(const struct logged_launch *l) {
  return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
}

/* ---- writing ---- */

static void put(json_t *o, const char *key, uint64_t v) {
  json_object_set_new(o, key, json_integer((json_int_t)v));
}

static json_t *three(const uint32_t v[3]) {
  return json_pack("[I, I, I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static const uint64_t *counter_at(const struct gpu_stats *s, uint32_t offset) {
  return (const uint64_t *)((const char *)s + offset);
}

static json_t *stats_json(const struct gpu_stats *s) {
  char key[128];
  json_t *o = json_object();
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    if (r->kind != STAT_MEAN) {
      put(o, r->key, *counter_at(s, r->offset));
      continue;
    }
    snprintf(key, sizeof key, "%s.sum", r->key);
    put(o, key, *counter_at(s, r->offset));
    snprintf(key, sizeof key, "%s.count", r->key);
    put(o, key, *counter_at(s, r->count_offset));
  }
  return o;
}

static json_t *inside_json(const struct logged_inside *in) {
  json_t *o = json_pack("{s:I, s:I, s:I, s:f, s:f, s:I}", "ctas", (json_int_t)in->ctas, "warp_insts",
                        (json_int_t)in->warp_insts, "thread_insts", (json_int_t)in->thread_insts, "cycles", in->cycles,
                        "variance", in->variance, "freedom", (json_int_t)in->freedom);
  json_t *all = in->counter ? json_array() : NULL;
  for (uint32_t i = 0; all && i < LOGGED_COUNTERS; i++)
    json_array_append_new(all, json_pack("[f, f]", in->counter[i].value, in->counter[i].variance));
  if (all) json_object_set_new(o, "counters", all); /* by place, as both ends are one build */
  return o;
}

static json_t *launch_json(const struct logged_launch *l) {
  json_t *o = json_object(), *sig = json_object();
  json_object_set_new(o, "kernel", json_string(l->kernel ? l->kernel : ""));
  json_object_set_new(o, "grid", three(l->grid));
  json_object_set_new(o, "block", three(l->block));
  put(o, "shared_bytes", l->shared_bytes);
  put(o, "registers", l->regs);
  put(o, "resident", l->resident);
  json_object_set_new(o, "timed", json_boolean(l->timed));
  json_object_set_new(o, "overlapped", json_boolean(l->overlapped));
  json_object_set_new(o, "orderly", json_boolean(l->orderly));
  json_object_set_new(o, "signed", json_boolean(l->signed_));
  for (uint32_t i = 0; i < SIGNATURE_ROWS; i++)
    put(sig, signature_rows[i].key, *(const uint64_t *)((const char *)&l->sig + signature_rows[i].offset));
  put(sig, "shape", l->sig.shape);
  json_object_set_new(o, "signature", sig);
  if (!l->timed) return o;
  json_object_set_new(o, "counters", stats_json(&l->stats));
  json_t *scheme = json_object();
  for (uint32_t i = 0; i < l->schemes; i++) put(scheme, l->scheme[i].key, l->scheme[i].value);
  json_object_set_new(o, "scheme_counters", scheme);
  if (l->inside.ctas) json_object_set_new(o, "inside", inside_json(&l->inside));
  return o;
}

bool launchlog_write(const struct launchlog *l, const char *path, struct err *e) {
  json_t *root = json_object(), *all = json_array();
  for (uint32_t i = 0; i < l->n; i++) json_array_append_new(all, launch_json(&l->at[i]));
  put(root, "format", FORMAT);
  json_object_set_new(root, "launches", all);
  return jsonfile_write(root, path, JSON_INDENT(1), e);
}

/* ---- reading ---- */

static uint64_t get(const json_t *o, const char *key) {
  return (uint64_t)json_integer_value(json_object_get(o, key));
}

static void read_triple(uint32_t v[3], const json_t *a) {
  for (size_t i = 0; i < 3; i++) v[i] = (uint32_t)json_integer_value(json_array_get(a, i));
}

static void read_stats(struct gpu_stats *s, const json_t *o) {
  char key[128];
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    snprintf(key, sizeof key, "%s%s", r->key, r->kind == STAT_MEAN ? ".sum" : "");
    *(uint64_t *)((char *)s + r->offset) = get(o, key);
    if (r->kind != STAT_MEAN) continue;
    snprintf(key, sizeof key, "%s.count", r->key);
    *(uint64_t *)((char *)s + r->count_offset) = get(o, key);
  }
}

static struct logged_estimate *read_estimates(const json_t *all) {
  if (json_array_size(all) != LOGGED_COUNTERS) return NULL;
  struct logged_estimate *out = mem_zeroed(LOGGED_COUNTERS, sizeof *out);
  for (uint32_t i = 0; i < LOGGED_COUNTERS; i++) {
    const json_t *one = json_array_get(all, i);
    out[i] =
        (struct logged_estimate){json_number_value(json_array_get(one, 0)), json_number_value(json_array_get(one, 1))};
  }
  return out;
}

static void read_launch(struct logged_launch *l, json_t *o) {
  json_t *v, *sig = json_object_get(o, "signature"), *in = json_object_get(o, "inside");
  const char *kernel = json_string_value(json_object_get(o, "kernel")), *key;
  l->kernel = mem_text(kernel ? kernel : "");
  read_triple(l->grid, json_object_get(o, "grid"));
  read_triple(l->block, json_object_get(o, "block"));
  l->shared_bytes = (uint32_t)get(o, "shared_bytes");
  l->regs = (uint32_t)get(o, "registers");
  l->resident = (uint32_t)get(o, "resident");
  l->timed = json_is_true(json_object_get(o, "timed"));
  l->overlapped = json_is_true(json_object_get(o, "overlapped"));
  l->orderly = json_is_true(json_object_get(o, "orderly"));
  l->signed_ = json_is_true(json_object_get(o, "signed"));
  for (uint32_t i = 0; i < SIGNATURE_ROWS; i++)
    *(uint64_t *)((char *)&l->sig + signature_rows[i].offset) = get(sig, signature_rows[i].key);
  l->sig.shape = (uint32_t)get(sig, "shape");
  if (!l->timed) return;
  read_stats(&l->stats, json_object_get(o, "counters"));
  json_object_foreach(json_object_get(o, "scheme_counters"), key, v)
      launchlog_add_counter(l, key, (uint64_t)json_integer_value(v));
  if (!in) return;
  l->inside = (struct logged_inside){.ctas = (uint32_t)get(in, "ctas"),
                                     .warp_insts = get(in, "warp_insts"),
                                     .thread_insts = get(in, "thread_insts"),
                                     .cycles = json_number_value(json_object_get(in, "cycles")),
                                     .variance = json_number_value(json_object_get(in, "variance")),
                                     .freedom = (uint32_t)get(in, "freedom"),
                                     .counter = read_estimates(json_object_get(in, "counters"))};
}

bool launchlog_read(struct launchlog *l, const char *path, struct err *e) {
  json_error_t je;
  json_t *root = json_load_file(path, 0, &je), *all = json_object_get(root, "launches"), *one;
  size_t i;
  *l = (struct launchlog){0};
  if (!root) return err_set(e, ERR_INPUT, "%s:%d:%d: %s", path, je.line, je.column, je.text);
  json_array_foreach(all, i, one) read_launch(launchlog_at(l, (uint32_t)i), one);
  json_decref(root);
  return true;
}
