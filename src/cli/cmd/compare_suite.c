/* compare_suite.c - `sluice compare --suite NAME`: every bundled workload of a paper under several schemes, and the
 * paper's figures beside the simulated ones.
 *
 * Which workload belongs to which suite and to which of the paper's groups is in share/sluice/workloads.json, made
 * from the workloads' header comments; the papers' figures are read by results/published.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/run/compare.h"
#include "cli/tables/energy.h"
#include "proc/jobs.h"
#include "cli/run/search.h"
#include "cli/run/workloads.h"
#include "results/published.h"

struct suite_row {
  const char *name, *label, *group; /* label: the paper's name */
  char *argv[4];
  double seconds;                  /* approximate duration of a simulation */
  json_t *totals[COMPARE_COLUMNS]; /* NULL: failed */
  json_t *record[COMPARE_COLUMNS]; /* for the report */
  const struct search *search[COMPARE_COLUMNS];
};

struct suite {
  struct arena arena;
  const char *name, *size;
  enum published_kind mean; /* the paper's mean of speed */
  struct workload_list list;
  struct suite_row row[WORKLOADS_MAX];
  size_t rows;
  const char *scheme[COMPARE_COLUMNS];
  size_t schemes;
  struct search *search;
  size_t searches;
};

static bool load_rows(struct suite *s, const char *name, const char *size, struct err *e) {
  if (!workloads_load(&s->list, name, size, e)) return false;
  for (; s->rows < s->list.count; s->rows++) {
    const struct workload *w = &s->list.at[s->rows];
    struct suite_row *r = &s->row[s->rows];
    r->name = w->name;
    r->label = w->alias;
    r->seconds = w->seconds[!strcmp(size, "small") ? 0 : !strcmp(size, "medium") ? 1 : 2];
    r->group = w->group;
    r->argv[0] = arena_strdup(&s->arena, w->name);
    r->argv[1] = arena_strdup(&s->arena, "--size");
    r->argv[2] = arena_strdup(&s->arena, size);
  }
  return true;
}

/* ---- simulating ---- */

static int run_searches(struct suite *s, const struct compare_options *o, const struct tempdir *dir, struct err *e) {
  s->search = ARENA_ARRAY(&s->arena, struct search, s->rows * s->schemes);
  for (size_t i = 0; i < s->rows; i++)
    for (size_t k = 0; k < s->schemes; k++) {
      if (!search_named(s->scheme[k])) continue;
      struct search *found = &s->search[s->searches++];
      *found = (struct search){.program = s->row[i].argv, .list = s->scheme[k]};
      s->row[i].search[k] = found;
    }
  if (!s->searches) return EXIT_OK;
  return search_all(s->search, s->searches, &o->sim, (unsigned)o->jobs, dir, &s->arena, e);
}

static int take_record(struct suite *s, size_t i, size_t k, const struct job *j, const char *path, struct err *e) {
  if (j->exit_code > 0) {
    text_say(stderr, "sluice: %s under '%s' ended with code %d:\n", s->row[i].name, s->scheme[k], j->exit_code);
    job_print_log(j);
    return j->exit_code; /* the others still count */
  }
  struct record_file *f = record_open(path, e);
  if (!f) return exit_code_of(e->code);
  s->row[i].totals[k] = json_incref(json_object_get(record_json(f), "totals"));
  s->row[i].record[k] = json_incref(record_json(f));
  record_close(f);
  return EXIT_OK;
}

/* Exit code of the last failure; with `e` set the suite is unusable. */
static int run_all(struct suite *s, const struct compare_options *o, const struct tempdir *dir, struct err *e) {
  int code = run_searches(s, o, dir, e);
  if (code) return code;
  size_t n = 0;
  struct job *job = ARENA_ARRAY(&s->arena, struct job, s->rows * s->schemes);
  for (size_t i = 0; i < s->rows * s->schemes; i++) {
    struct suite_row *r = &s->row[i / s->schemes];
    const struct search *found = r->search[i % s->schemes];
    if (found && found->exit_code) code = found->exit_code;
    if (found) r->totals[i % s->schemes] = json_incref(found->totals);
    if (found) continue;
    char path[600];
    tempdir_file(dir, arena_printf(&s->arena, "run%zu.json", i), path, sizeof path);
    job[n].weight = 0.1 + r->seconds;
    job[n++].argv = compare_argv(&s->arena, &o->sim, s->scheme[i % s->schemes], path, r->argv);
  }
  if (!jobs_run(job, n, (unsigned)o->jobs, dir, "comparing", false)) return 130;
  n = 0;
  for (size_t i = 0; i < s->rows * s->schemes && !e->code; i++) {
    if (s->row[i / s->schemes].search[i % s->schemes]) continue;
    char path[600];
    tempdir_file(dir, arena_printf(&s->arena, "run%zu.json", i), path, sizeof path);
    int rc = take_record(s, i / s->schemes, i % s->schemes, &job[n++], path, e);
    if (rc) code = rc;
  }
  return code;
}

/* ---- our own table ---- */

static double total_named(const void *totals, const char *key) {
  const json_t *v = json_object_get(totals, key);
  if (!v) v = json_object_get(json_object_get(totals, "scheme_counters"), key);
  return json_number_value(v);
}

/* IPC under column k relative to the first; 0 if one of them failed. */
static double relative(const struct suite_row *r, size_t k) {
  double base = r->totals[0] ? total_named(r->totals[0], "ipc") : 0,
         ipc = r->totals[k] ? total_named(r->totals[k], "ipc") : 0;
  return base > 0 ? ipc / base : 0;
}

/* Mean of column `k` over its first, among rows of `group` (NULL: all) that have both. 0 if there are none. */
static double mean(const struct suite *s, size_t k, const char *group) {
  double v[WORKLOADS_MAX];
  size_t n = 0;
  for (size_t i = 0; i < s->rows; i++)
    if ((!group || !strcmp(group, s->row[i].group)) && relative(&s->row[i], k) > 0) v[n++] = relative(&s->row[i], k);
  return published_mean(s->mean, v, n);
}

static void mean_row(struct table *t, const struct suite *s, const char *label, const char *group) {
  table_cell(t, "%s", published_kind_names[s->mean]);
  table_cell(t, "%s", label);
  table_cell(t, "%s", "");
  for (size_t k = 0; k < s->schemes; k++) table_cell(t, "%.3f", mean(s, k, group));
}

static void print_ours(const struct suite *s, FILE *f) {
  const char *titles[COMPARE_COLUMNS + 4] = {"workload", "group", "IPC"};
  char align[COMPARE_COLUMNS + 4] = "llr";
  for (size_t k = 0; k < s->schemes; k++) titles[3 + k] = s->scheme[k], align[3 + k] = 'r';
  struct table *t = table_new(titles, align);
  for (size_t i = 0; i < s->rows; i++) {
    const struct suite_row *r = &s->row[i];
    table_cell(t, "%s", r->name);
    table_cell(t, "%s", r->group);
    table_cell(t, "%.2f", r->totals[0] ? total_named(r->totals[0], "ipc") : 0);
    for (size_t k = 0; k < s->schemes; k++) {
      if (relative(r, k) > 0) table_cell(t, "%.3f", relative(r, k));
      else table_cell(t, "failed");
    }
  }
  table_rule(t);
  for (size_t i = 0; i < s->rows; i++)
    if (*s->row[i].group && (!i || strcmp(s->row[i].group, s->row[i - 1].group)))
      mean_row(t, s, s->row[i].group, s->row[i].group);
  mean_row(t, s, "all", NULL);
  table_print(t, f);
  table_free(t);
}

/* What the searches chose, workload by workload. */
static void print_chosen(const struct suite *s, FILE *f) {
  const char *titles[COMPARE_COLUMNS + 1] = {"chosen"};
  char align[COMPARE_COLUMNS + 1] = "l";
  size_t n = 1;
  if (!s->searches) return;
  for (size_t k = 0; k < s->schemes; k++)
    if (s->row[0].search[k]) titles[n] = s->scheme[k], align[n++] = 'l';
  struct table *t = table_new(titles, align);
  for (size_t i = 0; i < s->rows; i++) {
    table_cell(t, "%s", s->row[i].name);
    for (size_t k = 0; k < s->schemes; k++) {
      const struct search *found = s->row[i].search[k];
      if (found) table_cell(t, "%s", found->values ? found->values : "failed");
    }
  }
  fputc('\n', f);
  table_print(t, f);
  table_free(t);
}

/* ---- the paper's figures beside the simulated ones ---- */

/* The reference column of a figure: a searched setting first, since the papers tune their references. */
static size_t column_over(const struct suite *s, const struct published_figure *f) {
  size_t found = SIZE_MAX;
  for (size_t k = 0; k < s->schemes; k++) {
    const char *list = s->scheme[k];
    if (!published_over_is(f, list)) continue;
    if (strlen(list) > 5 && !strcmp(list + strlen(list) - 5, "-best")) return k;
    if (found == SIZE_MAX) found = k;
  }
  return found;
}

/* The ratio of row r for a figure of column k; false if it has none. */
static bool row_ratio(const struct suite *s, const struct suite_row *r, const struct published_figure *f, size_t k,
                      double *ratio) {
  size_t over = column_over(s, f);
  const struct search *found = r->search[k];
  if (!strcmp(f->metric, "best_warp_limit")) /* the result of a search over warps */
    return found && found->values && sscanf(found->values, "warps=%lf", ratio) == 1;
  return r->totals[k] &&
         published_ratio(f, total_named, r->totals[k], over < s->schemes ? r->totals[over] : NULL, ratio);
}

/* The simulated value for a figure of column k, over `count` workloads; false if there is none. */
static bool measure_figure(const struct suite *s, const struct published_figure *f, size_t k, double *ours,
                           size_t *count, enum published_kind *kind, const struct suite_row **one) {
  const char *group;
  double v[WORKLOADS_MAX];
  bool average = published_of_group(f, &group, kind);
  *count = 0;
  *one = NULL;
  for (size_t i = 0; i < s->rows; i++) {
    const struct suite_row *r = &s->row[i];
    if (average ? *group && strcmp(group, r->group) : strcmp(f->group, r->label) != 0) continue;
    if (!row_ratio(s, r, f, k, &v[*count])) continue;
    if (!average) *kind = PUBLISHED_ARITHMETIC, *one = r;
    (*count)++;
  }
  if (*count) *ours = published_present(f, published_mean(*kind, v, *count));
  return *count > 0;
}

static json_t *figure_json(const struct published_figure *f, const char *scheme, double ours, size_t count,
                           const char *kind) {
  json_t *o = json_object();
  json_object_set_new(o, "where", json_string(f->where));
  json_object_set_new(o, "metric", json_string(f->metric));
  json_object_set_new(o, "scheme", json_string(scheme));
  json_object_set_new(o, "group", json_string(f->group));
  json_object_set_new(o, "unit", json_string(f->unit));
  json_object_set_new(o, "mean", json_string(kind));
  json_object_set_new(o, "workloads", json_integer((json_int_t)count));
  json_object_set_new(o, "published", json_real(f->value));
  json_object_set_new(o, "ours", json_real(ours));
  return o;
}

/* Every figure of the suite that a column covers: rows of a table, and of `all`. */
static void set_beside(const struct suite *s, const struct published *p, struct table *t, json_t *all) {
  for (size_t i = 0; i < published_count(p); i++) {
    const struct published_figure *f = published_at(p, i);
    for (size_t k = 0; k < s->schemes; k++) {
      double ours;
      size_t count;
      enum published_kind kind;
      const struct suite_row *one;
      if (!published_of_suite(f, s->name) || !published_of_scheme(f, s->scheme[k])) continue;
      if (!measure_figure(s, f, k, &ours, &count, &kind, &one)) continue;
      const char *how = one ? one->name : published_kind_names[kind];
      json_array_append_new(all, figure_json(f, s->scheme[k], ours, count, how));
      table_cell(t, "%s", f->where);
      table_cell(t, "%s", f->metric);
      table_cell(t, "%s", s->scheme[k]);
      table_cell(t, "%s", f->group);
      if (one) table_cell(t, "%s", how);
      else table_cell(t, "%s of %zu", how, count);
      table_cell(t, "%g", f->value);
      table_cell(t, "%.*f", fabs(ours) < 10 ? 2 : 1, ours);
      table_cell(t, "%s", f->unit);
    }
  }
}

static bool print_beside(const struct suite *s, FILE *f, json_t *all, struct err *e) {
  static const char *const titles[] = {"in the paper", "figure", "scheme", "of",
                                       "scheme here",  "paper",  "sluice", "unit"};
  struct published *p = published_open(NULL, e);
  if (!p) return false;
  struct table *t = table_new(titles, "lllllrrl");
  table_order(t, "3...2..1");
  set_beside(s, p, t, all);
  if (f && json_array_size(all)) {
    fprintf(f, "\nThe paper's figures, and what our workloads (%s inputs) give:\n", s->size);
    table_print(t, f);
  }
  table_free(t);
  published_close(p);
  return true;
}

static bool write_suite(const struct suite *s, const char *path, json_t *beside, struct err *e) {
  json_t *root = json_object(), *runs = json_array();
  for (size_t i = 0; i < s->rows; i++)
    for (size_t k = 0; k < s->schemes; k++) {
      const struct suite_row *r = &s->row[i];
      json_t *o = json_object();
      json_object_set_new(o, "workload", json_string(r->name));
      json_object_set_new(o, "group", json_string(r->group));
      json_object_set_new(o, "scheme", json_string(s->scheme[k]));
      json_object_set_new(o, "ipc", json_real(r->totals[k] ? total_named(r->totals[k], "ipc") : 0));
      if (r->totals[k]) json_object_set(o, "totals", r->totals[k]);
      if (r->search[k]) json_object_set_new(o, "search", search_json(r->search[k]));
      json_array_append_new(runs, o);
    }
  json_object_set_new(root, "format", json_integer(RECORD_FORMAT));
  json_object_set_new(root, "suite", json_string(s->name));
  json_object_set_new(root, "size", json_string(s->size));
  json_object_set_new(root, "suite_runs", runs);
  json_object_set(root, "published", beside);
  bool ok = record_write_json(root, path, e);
  json_decref(root);
  return ok;
}

static void print_suite_energy(struct suite *s, const struct sim_options *o, FILE *f) {
  struct err e = {0};
  struct energy_grid g = {.scheme = s->scheme, .programs = s->rows, .schemes = s->schemes};
  g.stats = ARENA_ARRAY(&s->arena, struct gpu_stats, s->rows * s->schemes);
  for (size_t i = 0; i < s->rows * s->schemes; i++)
    record_stats_of(s->row[i / s->schemes].totals[i % s->schemes], &g.stats[i]);
  CHECK(sim_config(o, &g.config, &e), "%s", e.msg); /* it has run */
  energy_print_compare(&g, f);
  if (o->energy_sensitivity) energy_print_sensitivity(&g, f);
}

/* Of a search, keep only the counters of the best run. */
static json_t *record_of_search(const struct suite *s, size_t i, size_t k, const struct compare_options *o) {
  char *program = command_text(s->row[i].argv);
  json_t *r = json_pack("{s:s, s:s, s:s, s:O, s:o}", "program", program, "scheme", s->scheme[k], "gpu",
                        o->sim.gpu ? o->sim.gpu : "fermi", "totals", s->row[i].totals[k], "config", json_object());
  free(program);
  return r;
}

static bool html(struct suite *s, const struct compare_options *o, struct err *e) {
  void **records = ARENA_ARRAY(&s->arena, void *, s->rows * s->schemes);
  size_t n = 0;
  for (size_t i = 0; i < s->rows; i++)
    for (size_t k = 0; k < s->schemes; k++) {
      struct suite_row *r = &s->row[i];
      if (!r->record[k] && r->totals[k]) r->record[k] = record_of_search(s, i, k, o);
      if (r->record[k]) records[n++] = r->record[k];
    }
  return !n || compare_report(o, records, n, arena_printf(&s->arena, "%s, %s inputs", s->name, s->size), e);
}

static int report_suite(struct suite *s, const struct compare_options *o, struct err *e) {
  bool json_out = o->sim.json && !strcmp(o->sim.json, "-");
  FILE *f = o->sim.quiet ? NULL : json_out ? stderr : stdout;
  json_t *beside = json_array();
  if (f) print_ours(s, f);
  if (f) print_chosen(s, f);
  if (f && (o->sim.energy || o->sim.energy_sensitivity)) print_suite_energy(s, &o->sim, f);
  bool ok = print_beside(s, f, beside, e) && (!o->sim.json || write_suite(s, o->sim.json, beside, e));
  ok = ok && html(s, o, e);
  json_decref(beside);
  return ok ? EXIT_OK : exit_code_of(e->code);
}

int compare_suite(const struct compare_options *options) {
  struct suite *s = mem_zeroed(1, sizeof *s);
  struct compare_options o = *options;
  struct err e = {0};
  struct tempdir dir = {0};
  int code = EXIT_OK;
  s->name = o.suite;
  s->size = o.size ? o.size : "small";
  s->mean = !strcmp(s->name, "medic")     ? PUBLISHED_HARMONIC
            : !strcmp(s->name, "sharing") ? PUBLISHED_ARITHMETIC
                                          : PUBLISHED_GEOMETRIC;
  /* MeDiC and the sharing-aware paper have machines of their own; the others' are close to the default. */
  if (!o.sim.gpu && s->mean != PUBLISHED_GEOMETRIC) o.sim.gpu = strcmp(s->name, "medic") ? "sharing-aware" : "medic";
  bool ok = compare_split(&s->arena, o.sim.scheme ? o.sim.scheme : "baseline,bucl", s->scheme, &s->schemes, &e);
  if (ok && o.sim.mode && !strcmp(o.sim.mode, "functional"))
    ok = err_set(&e, ERR_USAGE, "compare needs timing mode: functional runs have no cycles");
  for (size_t k = 0; ok && k < s->schemes; k++) {
    struct sim_options one = o.sim;
    one.scheme = s->scheme[k];
    ok = sim_check(&one, &e);
  }
  if (ok && load_rows(s, s->name, s->size, &e) && tempdir_make(&dir, &e)) {
    code = run_all(s, &o, &dir, &e);
    if (!e.code && code != 130) {
      int rc = report_suite(s, &o, &e);
      if (rc) code = rc;
    }
  }
  if (e.code) code = cli_fail(&e);
  for (size_t i = 0; i < s->rows * s->schemes; i++) {
    json_decref(s->row[i / s->schemes].totals[i % s->schemes]);
    json_decref(s->row[i / s->schemes].record[i % s->schemes]);
  }
  for (size_t i = 0; i < s->searches; i++) search_free(&s->search[i]);
  tempdir_remove(&dir);
  workloads_free(&s->list);
  arena_free(&s->arena);
  free(s);
  return code;
}
