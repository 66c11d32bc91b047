/* record.c - writing the result record. Order of keys is order of insertion, so the tables decide it. */
#include "results/record.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "gpu/energy.h"
#include "gpu/observe.h"
#include "gpu/observe_l2.h"
#include "results/seen.h"

/* Digits enough for rates and means to be compared; few enough to be the same from every compiler's printf. */
#define RECORD_FLAGS (JSON_INDENT(1) | JSON_REAL_PRECISION(10))

struct record {
  struct gpu_config config;
  const char *scheme; /* owned by root */
  json_t *root, *kernels, *overlaps, *last_kernel, *scheme_totals;
  struct gpu_stats total, timed; /* timed: of the launches that had the timing model, beside functional ones */
  struct gpu_l2_sums l2;         /* with --characterise */
  uint64_t bytes_to_device, bytes_from_device;
};

static json_t *text(const char *s) {
  json_t *j = json_string(s);
  return j ? j : json_string_nocheck("(not UTF-8)");
}

static void add_knob(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  (void)unit, (void)doc;
  char *end;
  long long n = strtoll(value, &end, 10);
  json_t *v = *value && !*end           ? json_integer(n)
              : !strcmp(value, "true")  ? json_true()
              : !strcmp(value, "false") ? json_false()
                                        : text(value);
  json_object_set_new(ctx, key, v);
}

struct record *record_new(const struct record_head *h) {
  struct record *r = calloc(1, sizeof *r);
  CHECK(r, "out of memory");
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, gpu_config_hash(h->config));
  json_t *config = json_object();
  gpu_config_each(h->config, add_knob, config);
  r->root = json_object();
  r->config = *h->config;
  json_object_set_new(r->root, "format", json_integer(RECORD_FORMAT));
  json_object_set_new(r->root, "program", text(h->program ? h->program : ""));
  json_object_set_new(r->root, "mode", text(h->mode));
  json_object_set_new(r->root, "scheme", text(h->scheme));
  r->scheme = json_string_value(json_object_get(r->root, "scheme"));
  json_object_set_new(r->root, "gpu", text(h->config->name));
  json_object_set_new(r->root, "config_hash", json_string(hash));
  json_object_set_new(r->root, "config", config);
  r->kernels = json_array();
  json_object_set_new(r->root, "kernels", r->kernels);
  return r;
}

static json_t *triple(const uint32_t v[3]) {
  return json_pack("[I, I, I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

/* Counters of `s`; rates of `timed`. */
static void add_counters(json_t *o, const struct gpu_stats *s, const struct gpu_stats *timed) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *row = &gpu_stat_rows[i];
    json_t *v;
    if (row->kind == STAT_MEAN) v = json_real(gpu_stats_value(s, row));
    else v = json_integer((json_int_t) * (const uint64_t *)((const char *)s + row->offset));
    json_object_set_new(o, row->key, v);
  }
  for (uint32_t i = 0; i < derived_row_count; i++)
    json_object_set_new(o, derived_rows[i].key, json_real(derived_rows[i].value(timed)));
}

static void add_stats(json_t *o, const struct gpu_stats *s) {
  add_counters(o, s, s);
}

static json_t *launch_json(const struct record_launch *l) {
  json_t *k = json_object();
  json_object_set_new(k, "name", text(l->kernel));
  json_object_set_new(k, "mode", text(l->timing ? "timing" : "functional"));
  json_object_set_new(k, "grid", triple(l->grid));
  json_object_set_new(k, "block", triple(l->block));
  json_object_set_new(k, "shared_bytes", json_integer(l->shared_bytes));
  json_object_set_new(k, "registers", json_integer(l->regs));
  if (l->stream) json_object_set_new(k, "stream", json_integer(l->stream));
  return k;
}

void record_add(struct record *r, const struct record_launch *l, const struct gpu_stats *stats) {
  json_t *k = launch_json(l);
  add_stats(k, stats);
  json_array_append_new(r->kernels, k);
  r->last_kernel = k;
  gpu_stats_add(&r->total, stats);
  if (l->timing) gpu_stats_add(&r->timed, stats);
}

/* Counters that a launch has for itself while others run beside it. */
static bool is_own(const char *key) {
  static const char *const keys[] = {"kernels", "cycles", "thread_insts", "warp_insts", "ctas", "insts.", "registers."};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    size_t n = strlen(keys[i]);
    if (keys[i][n - 1] == '.' ? !strncmp(key, keys[i], n) : !strcmp(key, keys[i])) return true;
  }
  return false;
}

static void add_own(struct record *r, const struct record_launch *l, uint32_t overlap) {
  json_t *k = launch_json(l);
  json_object_set_new(k, "overlap", json_integer(overlap));
  json_object_set_new(k, "launch", json_integer(l->launch));
  json_object_set_new(k, "start_cycle", json_integer((json_int_t)l->start));
  json_object_set_new(k, "end_cycle", json_integer((json_int_t)l->end));
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *row = &gpu_stat_rows[i];
    if (!is_own(row->key)) continue;
    json_object_set_new(k, row->key,
                        json_integer((json_int_t) * (const uint64_t *)((const char *)&l->own + row->offset)));
  }
  json_object_set_new(k, "ipc", json_real(gpu_stats_ipc(&l->own)));
  json_object_set_new(k, "warps_per_sm", json_real(l->warps));
  json_array_append_new(r->kernels, k);
}

/* "first + second", each kernel once. */
static json_t *names_of(const struct record_launch *l, uint32_t n) {
  char all[256];
  size_t used = 0;
  for (uint32_t i = 0; i < n && used < sizeof all; i++) {
    bool known = false;
    for (uint32_t k = 0; k < i && !known; k++) known = !strcmp(l[k].kernel, l[i].kernel);
    if (!known) used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? " + " : "", l[i].kernel);
  }
  return text(all);
}

void record_add_overlapping(struct record *r, const struct record_launch *l, uint32_t n, uint64_t start,
                            const struct gpu_stats *stats) {
  if (!r->overlaps) json_object_set_new(r->root, "overlaps", r->overlaps = json_array());
  json_t *o = json_object(), *members = json_array();
  uint64_t alone = 0;
  for (uint32_t i = 0; i < n; i++) {
    json_array_append_new(members, json_integer((json_int_t)json_array_size(r->kernels)));
    add_own(r, &l[i], (uint32_t)json_array_size(r->overlaps));
    alone += l[i].end - l[i].start;
  }
  json_object_set_new(o, "name", names_of(l, n));
  json_object_set_new(o, "kernels_together", members);
  json_object_set_new(o, "start_cycle", json_integer((json_int_t)start));
  json_object_set_new(o, "launch_cycles", json_integer((json_int_t)alone));
  add_stats(o, stats);
  json_array_append_new(r->overlaps, o);
  r->last_kernel = o;
  gpu_stats_add(&r->total, stats);
  gpu_stats_add(&r->timed, stats);
}

void record_add_seen(struct record *r, const struct gpu_seen *seen) {
  seen_to_json(r->last_kernel, seen);
  if (gpu_seen_l2(seen)) gpu_l2_sums_add(&r->l2, &gpu_seen_l2(seen)->sums);
}

void record_set_profile(struct record *r, const struct gpu_seen *seen) {
  json_t *profile = profile_to_json(seen);
  if (profile) json_object_set_new(r->root, "profile", profile);
}

static void add_to(json_t *o, const char *key, uint64_t value) {
  json_t *old = json_object_get(o, key);
  json_object_set_new(o, key, json_integer((old ? json_integer_value(old) : 0) + (json_int_t)value));
}

void record_add_scheme_counter(struct record *r, const char *key, uint64_t value) {
  if (!value) return;
  if (r->last_kernel) {
    json_t *o = json_object_get(r->last_kernel, "scheme_counters");
    if (!o) json_object_set_new(r->last_kernel, "scheme_counters", o = json_object());
    add_to(o, key, value);
  }
  if (!r->scheme_totals) r->scheme_totals = json_object();
  add_to(r->scheme_totals, key, value);
}

void record_add_copy(struct record *r, uint64_t bytes, bool to_device) {
  *(to_device ? &r->bytes_to_device : &r->bytes_from_device) += bytes;
}

void record_begin_findings(struct record *r) {
  json_object_set_new(r->root, "findings", json_array());
}

void record_add_finding(struct record *r, const char *check, const char *what, uint64_t count) {
  json_t *f = json_object();
  json_object_set_new(f, "check", text(check));
  json_object_set_new(f, "text", text(what));
  json_object_set_new(f, "count", json_integer((json_int_t)count));
  json_array_append_new(json_object_get(r->root, "findings"), f);
}

const struct gpu_stats *record_total_stats(const struct record *r) {
  return &r->total;
}

/* Beside the dynamic energy of the counters: what needs the clock, the configuration or the schemes. */
static json_t *energy_json(const struct record *r) {
  struct energy_report e = energy_report(&r->timed, r->config.core_mhz, NULL);
  struct energy_tables t;
  double seconds = (double)r->timed.cycles / (r->config.core_mhz * 1e6);
  double leakage = energy_leakage_watt(&r->config) * seconds, refresh = energy_refresh_watt(&r->config) * seconds;
  energy_of_tables(r->scheme, &r->config, &r->timed, &t);
  double whole = e.total + leakage + refresh + t.joule + t.leak_joule;
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:{s:f, s:f, s:f, s:f, s:f}}", "seconds", seconds,
                   "whole_uj", 1e6 * whole, "dynamic_uj", 1e6 * e.total, "leakage_uj", 1e6 * leakage, "refresh_uj",
                   1e6 * refresh, "watt", whole / seconds, "dram_watt", e.dram_watt + refresh / seconds,
                   "ipc_per_joule", whole > 0 ? gpu_stats_ipc(&r->timed) / whole : 0.0, "tables", "bits", t.bits, "mm2",
                   t.mm2, "probes", t.probes, "dynamic_uj", 1e6 * t.joule, "leakage_uj", 1e6 * t.leak_joule);
}

char *record_text(const struct record *r) {
  json_t *totals = json_object(), *copies = json_object();
  /* With --timing-kernels most launches have no cycles: rates are those of the launches that have. */
  add_counters(totals, &r->total, r->timed.cycles ? &r->timed : &r->total);
  if (r->l2.launches) seen_l2_to_totals(totals, &r->l2);
  if (r->scheme_totals) json_object_set(totals, "scheme_counters", r->scheme_totals);
  json_object_set_new(copies, "to_device_bytes", json_integer((json_int_t)r->bytes_to_device));
  json_object_set_new(copies, "from_device_bytes", json_integer((json_int_t)r->bytes_from_device));
  json_t *whole = json_copy(r->root);
  json_object_set_new(whole, "copies", copies);
  json_object_set_new(whole, "totals", totals);
  if (r->total.cycles) json_object_set_new(whole, "energy", energy_json(r));
  char *out = json_dumps(whole, RECORD_FLAGS);
  json_decref(whole);
  CHECK(out, "a record that is not JSON");
  return out;
}

static bool write_text(char *t, const char *path, struct err *e) {
  size_t n = strlen(t);
  t[n] = '\n'; /* the terminator is not written */
  bool ok = path_write_whole(path, t, n + 1);
  int why = errno;
  free(t);
  return ok || err_set(e, ERR_INPUT, "cannot write '%s': %s", path, strerror(why));
}

bool record_write(const struct record *r, const char *path, struct err *e) {
  return write_text(record_text(r), path, e);
}

bool record_write_json(const void *document, const char *path, struct err *e) {
  char *t = json_dumps(document, RECORD_FLAGS);
  CHECK(t, "a document that is not JSON");
  return write_text(t, path, e);
}

void record_free(struct record *r) {
  if (!r) return;
  json_decref(r->root);
  json_decref(r->scheme_totals);
  free(r);
}
