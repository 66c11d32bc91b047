/* suite.c - `sluice compare --suite NAME`: every bundled workload of a paper under several schemes.
 *
 * Which workload belongs to which suite and to which of the paper's groups is in share/sluice/workloads.json, made from
 * the workloads' header comments.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/jobs.h"
#include "cli/workloads.h"

struct suite_row {
  const char *name, *group;
  char *argv[4];
  double ipc[COMPARE_COLUMNS];
};

struct suite {
  struct arena arena;
  struct workload_list list;
  struct suite_row row[WORKLOADS_MAX];
  size_t rows;
  const char *scheme[COMPARE_COLUMNS];
  size_t schemes;
};

static bool load_rows(struct suite *s, const char *name, const char *size, struct err *e) {
  if (!workloads_load(&s->list, name, size, e)) return false;
  for (; s->rows < s->list.count; s->rows++) {
    const struct workload *w = &s->list.at[s->rows];
    struct suite_row *r = &s->row[s->rows];
    r->name = w->name;
    r->group = w->group;
    r->argv[0] = arena_strdup(&s->arena, w->name);
    r->argv[1] = arena_strdup(&s->arena, "--size");
    r->argv[2] = arena_strdup(&s->arena, size);
  }
  return true;
}

static bool run_all(struct suite *s, const struct compare_options *o, const struct tempdir *dir, struct err *e,
                    int *code) {
  size_t n = s->rows * s->schemes;
  struct job *job = ARENA_ARRAY(&s->arena, struct job, n);
  const char **record = ARENA_ARRAY(&s->arena, const char *, n);
  for (size_t i = 0; i < n; i++) {
    char path[600];
    tempdir_file(dir, arena_printf(&s->arena, "run%zu.json", i), path, sizeof path);
    record[i] = arena_strdup(&s->arena, path);
    job[i].argv = compare_argv(&s->arena, &o->sim, s->scheme[i % s->schemes], path, s->row[i / s->schemes].argv);
  }
  if (!jobs_run(job, n, (unsigned)o->jobs, dir, "comparing", false)) {
    *code = 130;
    return true;
  }
  for (size_t i = 0; i < n; i++) {
    struct suite_row *r = &s->row[i / s->schemes];
    if (job[i].exit_code > 0) {
      fprintf(stderr, "sluice: %s under '%s' ended with code %d:\n", r->name, s->scheme[i % s->schemes],
              job[i].exit_code);
      job_print_log(&job[i]);
      *code = job[i].exit_code;
      continue; /* the others still count */
    }
    struct record_file *f = record_open(record[i], e);
    if (!f) return false;
    record_value(f, RECORD_TOTALS, "ipc", &r->ipc[i % s->schemes]);
    record_close(f);
  }
  return true;
}

/* Geometric mean of column `k` over its first, among rows of `group` (NULL: all) that have both. 0 if there are none.
 */
static double mean(const struct suite *s, size_t k, const char *group) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < s->rows; i++) {
    const struct suite_row *r = &s->row[i];
    if ((group && strcmp(group, r->group)) || r->ipc[0] <= 0 || r->ipc[k] <= 0) continue;
    sum += log(r->ipc[k] / r->ipc[0]);
    n++;
  }
  return n ? exp(sum / (double)n) : 0;
}

static void mean_row(struct table *t, const struct suite *s, const char *label, const char *group) {
  table_cell(t, "geometric mean");
  table_cell(t, "%s", label);
  table_cell(t, "%s", "");
  for (size_t k = 0; k < s->schemes; k++) table_cell(t, "%.3f", mean(s, k, group));
}

static void print_suite(const struct suite *s, FILE *f) {
  const char *titles[COMPARE_COLUMNS + 4] = {"workload", "group", "IPC"};
  char align[COMPARE_COLUMNS + 4] = "llr";
  for (size_t k = 0; k < s->schemes; k++) titles[3 + k] = s->scheme[k], align[3 + k] = 'r';
  struct table *t = table_new(titles, align);
  for (size_t i = 0; i < s->rows; i++) {
    const struct suite_row *r = &s->row[i];
    table_cell(t, "%s", r->name);
    table_cell(t, "%s", r->group);
    table_cell(t, "%.2f", r->ipc[0]);
    for (size_t k = 0; k < s->schemes; k++) {
      if (r->ipc[0] > 0 && r->ipc[k] > 0) table_cell(t, "%.3f", r->ipc[k] / r->ipc[0]);
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

static bool write_json(const struct suite *s, const char *path, struct err *e) {
  json_t *runs = json_array();
  for (size_t i = 0; i < s->rows; i++)
    for (size_t k = 0; k < s->schemes; k++)
      json_array_append_new(runs, json_pack("{s:s, s:s, s:s, s:f}", "workload", s->row[i].name, "group",
                                            s->row[i].group, "scheme", s->scheme[k], "ipc", s->row[i].ipc[k]));
  bool to_stdout = !strcmp(path, "-");
  bool ok = to_stdout ? !json_dumpf(runs, stdout, JSON_INDENT(1)) : !json_dump_file(runs, path, JSON_INDENT(1));
  json_decref(runs);
  return ok || err_set(e, ERR_INPUT, "cannot write %s", path);
}

int compare_suite(const struct compare_options *o) {
  struct suite *s = calloc(1, sizeof *s);
  CHECK(s, "out of memory");
  struct err e = {0};
  struct tempdir dir = {0};
  int code = EXIT_OK;
  bool ok = compare_split(&s->arena, o->sim.scheme ? o->sim.scheme : "baseline,bucl", s->scheme, &s->schemes, &e);
  if (ok && o->sim.mode && !strcmp(o->sim.mode, "functional"))
    ok = err_set(&e, ERR_USAGE, "compare needs timing mode: functional runs have no cycles");
  for (size_t k = 0; ok && k < s->schemes; k++) {
    struct sim_options one = o->sim;
    one.scheme = s->scheme[k];
    ok = sim_check(&one, &e);
  }
  ok = ok && load_rows(s, o->suite, o->size ? o->size : "small", &e) && tempdir_make(&dir, &e) &&
       run_all(s, o, &dir, &e, &code);
  if (ok && code != 130) {
    bool json_out = o->sim.json && !strcmp(o->sim.json, "-");
    if (!o->sim.quiet) print_suite(s, json_out ? stderr : stdout);
    if (o->sim.json) ok = write_json(s, o->sim.json, &e);
  }
  if (!ok) code = cli_fail(&e);
  tempdir_remove(&dir);
  workloads_free(&s->list);
  arena_free(&s->arena);
  free(s);
  return code;
}
