/* reduce.c - see reduce.h. */
#include "report/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "results/record.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/text.h"

enum { MAX_LAUNCHES = 2000, MAX_LINES = 400, LEAST_INTERVALS = 32, LEAST_LINES = 24 };

/* ---- kernels ---- */

static bool adds_up(const char *key) {
  return (!strncmp(key, "energy.", 7) && strcmp(key, "energy.efficiency")) || !strcmp(key, "dram.bytes");
}

/* Sums and maxima only: means and rates cannot be added; the page computes rates from the sums. */
static void add_counters(json_t *to, json_t *from) {
  const char *key;
  json_t *v;
  json_object_foreach(from, key, v) {
    if (json_is_object(v) && !strcmp(key, "scheme_counters")) add_counters(to, v);
    if (json_is_real(v) && adds_up(key))
      json_object_set_new(to, key, json_real(json_number_value(json_object_get(to, key)) + json_real_value(v)));
    if (!json_is_integer(v) || !json_integer_value(v)) continue;
    if (!strcmp(key, "shared_bytes") || !strcmp(key, "registers")) continue;
    json_int_t old = json_integer_value(json_object_get(to, key)), now = json_integer_value(v);
    json_object_set_new(to, key, json_integer(text_ends_with(key, ".max") ? now > old ? now : old : old + now));
  }
}

static json_t *of_name(json_t *kernels, const char *name, size_t *at) {
  json_t *k;
  size_t i;
  json_array_foreach(kernels, i, k) {
    *at = i;
    if (!strcmp(json_string_value(json_object_get(k, "name")), name)) return k;
  }
  *at = json_array_size(kernels);
  k = json_pack("{s:s}", "name", name);
  json_array_append_new(kernels, k);
  return k;
}

static void add_kernels(json_t *run, const json_t *record) {
  json_t *kernels = json_array(), *launches = json_array(), *k;
  size_t i, at, left_out = 0;
  json_array_foreach(json_object_get(record, "kernels"), i, k) {
    const char *name = json_string_value(json_object_get(k, "name"));
    json_t *of = of_name(kernels, name ? name : "", &at);
    json_t *regs = json_object_get(k, "registers");
    add_counters(of, k);
    if (regs) json_object_set(of, "registers", regs);
    if (json_object_get(k, "launches")) { /* several, with unknown individual values */
      left_out += (size_t)json_integer_value(json_object_get(k, "launches"));
      continue;
    }
    if (json_array_size(launches) < MAX_LAUNCHES)
      json_array_append_new(launches,
                            json_pack("[I,I,O?,O?]", (json_int_t)at, json_integer_value(json_object_get(k, "cycles")),
                                      json_object_get(k, "grid"), json_object_get(k, "block")));
    else left_out++;
  }
  json_object_set_new(run, "kernels", kernels);
  json_object_set_new(run, "launches", launches);
  if (left_out) json_object_set_new(run, "launches_left_out", json_integer((json_int_t)left_out));
}

/* ---- source lines ---- */

static const char *const line_sums[] = {"executions",   "accesses", "l1_accesses", "l1_hits",
                                        "stall_cycles", "l2_bytes", "fetched",     "reused"};

static json_int_t get(const json_t *o, const char *key) {
  return json_integer_value(json_object_get(o, key));
}

static void add_line(json_t *by_place, const json_t *kernel, const json_t *line) {
  const char *file = json_string_value(json_object_get(line, "file"));
  const char *name = json_string_value(json_object_get(kernel, "name"));
  bool ptx = !get(line, "line");
  char place[2048];
  snprintf(place, sizeof place, "%s:%lld:%d", ptx ? name : file, get(line, ptx ? "ptx_line" : "line"), ptx);
  json_t *o = json_object_get(by_place, place);
  if (!o) {
    o = json_pack("{s:s, s:s, s:I}", "file", ptx ? "" : file, "kernel", name ? name : "", "line",
                  get(line, ptx ? "ptx_line" : "line"));
    json_object_set_new(by_place, place, o);
  }
  for (size_t i = 0; i < sizeof line_sums / sizeof *line_sums; i++) {
    json_int_t v = get(line, line_sums[i]);
    if (v) json_object_set_new(o, line_sums[i], json_integer(get(o, line_sums[i]) + v));
  }
}

static int by_stalls(const void *a, const void *b) {
  json_int_t x = get(*(json_t *const *)a, "stall_cycles"), y = get(*(json_t *const *)b, "stall_cycles");
  return (x < y) - (x > y);
}

static void add_lines(json_t *run, const json_t *record) {
  json_t *by_place = json_object(), *kernel, *line, *o;
  size_t k, i, n = 0;
  const char *key;
  json_t *entries = record_entries_of(record);
  json_array_foreach(entries, k, kernel) {
    json_array_foreach(json_object_get(kernel, "lines"), i, line) add_line(by_place, kernel, line);
  }
  json_decref(entries);
  json_t **sorted = mem_zeroed(json_object_size(by_place) + 1, sizeof(json_t *)), *lines = json_array();
  json_object_foreach(by_place, key, o) sorted[n++] = o;
  qsort(sorted, n, sizeof(json_t *), by_stalls);
  for (i = 0; i < n && i < MAX_LINES; i++) json_array_append(lines, sorted[i]);
  if (n) json_object_set(run, "lines", lines);
  json_decref(lines);
  json_decref(by_place);
  free(sorted);
}

/* ---- loads by un-coalescing degree ---- */

static void add_loads(json_t *run, const json_t *record) {
  json_t *classes = json_array(), *kernel, *o;
  size_t k, i;
  json_t *entries = record_entries_of(record);
  json_array_foreach(entries, k, kernel) {
    const json_t *of = json_object_get(json_object_get(kernel, "loads"), "by_degree");
    json_array_foreach(of, i, o) {
      json_t *to = json_array_get(classes, i);
      if (!to) {
        json_array_append_new(classes, to = json_object());
        json_object_set(to, "degrees", json_object_get(o, "degrees"));
      }
      double cycles = json_number_value(json_object_get(o, "latency.mean")) * (double)get(o, "loads");
      add_counters(to, o);
      json_object_set_new(to, "latency_sum", json_real(json_number_value(json_object_get(to, "latency_sum")) + cycles));
    }
  }
  json_decref(entries);
  if (json_array_size(classes)) json_object_set(run, "loads", classes);
  json_decref(classes);
}

/* ---- the whole ---- */

static json_t *totals_of(const json_t *record) {
  json_t *all = json_object(), *totals = json_object_get(record, "totals"), *v;
  const char *key;
  json_object_foreach(totals, key, v) {
    if (json_is_object(v)) json_object_update(all, v); /* a scheme's own counters */
    else if (json_number_value(v) != 0) json_object_set(all, key, v);
  }
  return all;
}

static json_t *config_of(const json_t *record, const json_t *first) {
  json_t *config = json_object_get(record, "config"), *base = json_object_get(first, "config"), *v;
  if (!base) return json_incref(config);
  json_t *own = json_object();
  const char *key;
  json_object_foreach(config, key, v) {
    if (!json_equal(v, json_object_get(base, key))) json_object_set(own, key, v);
  }
  return own;
}

/* Of an estimated run: what was timed, and the interval of each counter. */
static json_t *estimate_of(const json_t *record) {
  static const char *const kept[] = {"confidence", "warp_insts", "detailed_warp_insts"};
  const json_t *estimate = json_object_get(record, "estimate"), *v;
  if (!estimate) return NULL;
  json_t *o = json_object(), *intervals = json_object();
  const char *key;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    json_object_set(o, kept[i], json_object_get(estimate, kept[i]));
  json_object_foreach(json_object_get(estimate, "totals"), key, v)
      json_object_set_new(intervals, key, json_pack("[O, O]", json_object_get(v, "low"), json_object_get(v, "high")));
  json_object_set_new(o, "intervals", intervals);
  return o;
}

json_t *reduce_record(json_t *record, const json_t *first) {
  static const char *const kept[] = {"program", "mode", "scheme", "gpu", "config_hash", "profile", "copies"};
  json_t *run = json_object();
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    json_t *v = json_object_get(record, kept[i]);
    if (v) json_object_set_new(run, kept[i], json_deep_copy(v));
  }
  json_object_set_new(run, "totals", totals_of(record));
  json_t *estimate = estimate_of(record);
  if (estimate) json_object_set_new(run, "estimate", estimate);
  json_object_set_new(run, "config", config_of(record, first));
  add_kernels(run, record);
  add_lines(run, record);
  add_loads(run, record);
  return run;
}

/* ---- size ---- */

static json_t *halved(const json_t *v, size_t intervals) {
  json_t *out = json_array();
  size_t width = intervals ? json_array_size(v) / intervals : 0;
  for (size_t i = 0; i < intervals; i += 2)
    for (size_t k = 0; k < width; k++) {
      json_int_t a = json_integer_value(json_array_get(v, i * width + k));
      json_int_t b = i + 1 < intervals ? json_integer_value(json_array_get(v, (i + 1) * width + k)) : 0;
      json_array_append_new(out, json_integer(a + b));
    }
  return out;
}

bool reduce_profile(json_t *run) {
  static const char *const tables[] = {"set_accesses", "set_hits", "bank_bursts", "bank_rows"};
  json_t *p = json_object_get(run, "profile"), *counters = json_object_get(p, "counters"), *v;
  json_int_t n = get(p, "intervals");
  if (n < 2 * LEAST_INTERVALS) return false;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    json_object_set_new(p, tables[i], halved(json_object_get(p, tables[i]), (size_t)n));
  json_t *fewer = json_object();
  const char *key;
  json_object_foreach(counters, key, v) json_object_set_new(fewer, key, halved(v, (size_t)n));
  json_object_set_new(p, "counters", fewer);
  json_object_set_new(p, "every_cycles", json_integer(2 * get(p, "every_cycles")));
  json_object_set_new(p, "intervals", json_integer((n + 1) / 2));
  return true;
}

bool reduce_lines(json_t *run) {
  json_t *lines = json_object_get(run, "lines"); /* hottest first */
  size_t n = json_array_size(lines);
  if (n <= LEAST_LINES) return false;
  while (json_array_size(lines) > n / 2) json_array_remove(lines, json_array_size(lines) - 1);
  return true;
}

json_t *reduce_sources(const json_t *runs, size_t limit) {
  json_t *sources = json_object(), *run, *line;
  size_t r, i, total = 0;
  json_array_foreach(runs, r, run) {
    json_array_foreach(json_object_get(run, "lines"), i, line) {
      const char *file = json_string_value(json_object_get(line, "file"));
      if (!file || !*file || json_object_get(sources, file)) continue;
      size_t n = 0;
      char *text = path_read_whole(file, &n);
      json_t *s = text && total + n <= limit ? json_stringn(text, n) : NULL; /* also NULL if it is not UTF-8 */
      if (s) total += n;
      json_object_set_new(sources, file, s ? s : json_null());
      free(text);
    }
  }
  return sources;
}
