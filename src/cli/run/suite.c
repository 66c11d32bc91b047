/* suite.c - `sluice run --suite NAME`: the bundled workloads of a paper, each checked, one line each. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/mem.h"
#include "base/arena.h"
#include "base/output.h"
#include "base/paths.h"
#include "cli/run/compare.h"
#include "proc/jobs.h"
#include "cli/run/workloads.h"

struct suite_run {
  struct arena arena;
  struct workload_list list;
  struct job job[WORKLOADS_MAX];
  const char *record[WORKLOADS_MAX];
};

static bool start_all(struct suite_run *s, const struct sim_options *o, const char *size, unsigned jobs,
                      const struct tempdir *dir) {
  size_t n = s->list.count, at = !strcmp(size, "small") ? 0 : !strcmp(size, "medium") ? 1 : 2;
  for (size_t i = 0; i < n; i++) {
    char path[600];
    char *program[] = {arena_strdup(&s->arena, s->list.at[i].name), arena_strdup(&s->arena, "--size"),
                       arena_strdup(&s->arena, size), NULL};
    tempdir_file(dir, arena_printf(&s->arena, "run%zu.json", i), path, sizeof path);
    s->record[i] = arena_strdup(&s->arena, path);
    s->job[i] = (struct job){.argv = compare_argv(&s->arena, o, o->scheme ? o->scheme : "baseline", path, program),
                             .weight = 0.1 + s->list.at[i].seconds[at]};
  }
  return jobs_run(s->job, n, jobs, dir, "running", false);
}

/* One row per workload; records of successful runs are appended to `runs`. Returns the number of failures. */
static size_t print_suite_rows(struct suite_run *s, bool timing, json_t *runs, FILE *out) {
  static const char *const titles[] = {"workload", "group",      "result", "warp instructions", "cycles", "IPC",
                                       "L1 hits",  "DRAM reads", "s"};
  static const char *const keys[] = {"warp_insts", "cycles", "ipc", "l1d.read.hit_rate", "dram.reads"};
  struct table *t = table_new(titles, "lllrrrrrr");
  table_order(t, ".3.4...12");
  size_t failed = 0;
  for (size_t i = 0; i < s->list.count; i++) {
    const struct job *j = &s->job[i];
    struct err e = {0};
    struct record_file *r = j->exit_code ? NULL : record_open(s->record[i], &e);
    failed += !r;
    table_cell(t, "%s", s->list.at[i].name);
    table_cell(t, "%s", s->list.at[i].group);
    if (r) table_cell(t, "PASS");
    else table_cell(t, "FAIL (%d)", j->exit_code);
    for (size_t k = 0; k < 5; k++) {
      double v = 0;
      char buf[48] = "";
      bool have = r && (timing || !k) && record_value(r, RECORD_TOTALS, keys[k], &v);
      if (have && k != 2 && k != 3) cli_count(buf, sizeof buf, v);
      else if (have) snprintf(buf, sizeof buf, k == 2 ? "%.2f" : "%.1f %%", k == 2 ? v : 100 * v);
      table_cell(t, "%s", buf);
    }
    table_cell(t, "%.1f", j->cpu_seconds);
    record_close(r);
    json_t *one = r ? json_load_file(s->record[i], 0, NULL) : NULL;
    if (one) json_array_append_new(runs, one);
  }
  if (out) table_print(t, out);
  table_free(t);
  return failed;
}

int run_suite(const struct sim_options *o, const char *suite, const char *size, unsigned jobs) {
  struct suite_run *s = mem_zeroed(1, sizeof *s);
  struct err e = {0};
  struct tempdir dir = {0};
  int code = EXIT_OK;
  if (!size) size = "small";
  bool ok = sim_check(o, &e) && workloads_load(&s->list, suite, size, &e) && tempdir_make(&dir, &e);
  if (ok && start_all(s, o, size, jobs, &dir)) {
    bool to_stdout = o->json && !strcmp(o->json, "-");
    bool timing = !o->mode || strcmp(o->mode, "functional");
    json_t *doc = json_object(), *runs = json_array();
    json_object_set_new(doc, "suite", json_string(suite));
    json_object_set_new(doc, "size", json_string(size));
    json_object_set_new(doc, "runs", runs);
    size_t failed = print_suite_rows(s, timing, runs, o->quiet ? NULL : to_stdout ? stderr : stdout);
    for (size_t i = 0; i < s->list.count; i++)
      if (s->job[i].exit_code > 0) {
        fprintf(stderr, "sluice: %s ended with code %d:\n", s->list.at[i].name, s->job[i].exit_code);
        job_print_log(&s->job[i]);
        if (!code) code = s->job[i].exit_code;
      }
    if (!o->quiet)
      fprintf(to_stdout ? stderr : stdout, "\n%zu of %zu workloads pass their checks\n", s->list.count - failed,
              s->list.count);
    if (o->json) ok = jsonfile_write(json_incref(doc), o->json, JSON_INDENT(1), &e);
    json_decref(doc);
  } else if (ok) {
    code = 130;
  }
  if (!ok) code = cli_fail(&e);
  tempdir_remove(&dir);
  workloads_free(&s->list);
  arena_free(&s->arena);
  free(s);
  return code;
}
