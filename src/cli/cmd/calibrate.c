/* calibrate.c - `sluice calibrate`: every calibration case against the reference's counters.
 *
 * Goals, per table: mean absolute error of cycles at most 5 %, worst at most 15 %, correlation of log cycles at least
 * 0.999; instruction counts equal; L1, L2 and DRAM access counts within 1 %, hits and misses within one point of rate;
 * latency of the pointer chases within 2 %, cycles (so bandwidth) of copy and triad within 3 %.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/arena.h"
#include "base/output.h"
#include "base/paths.h"
#include "cli/cmd/calib.h"
#include "cli/cmd/silicon.h"
#include "proc/jobs.h"
#include "cli/run/run.h"

enum { MAX_CASES = 256 };

struct calibrate_options {
  const char *table, *csv, *gpu, *silicon;
  struct opt_list sets, cases;
  uint64_t jobs;
  bool check, list;
};

static const struct {
  const char *name, *file, *set;
} tables[] = {
    {"fermi", "reference-fermi.csv", NULL},
    {"lrr", "reference-fermi-lrr.csv", "sm.warp_scheduler=lrr"},
    {"ball", "reference-fermi-ball.csv", "l1d.enabled=false"},
};
enum { TABLES = sizeof tables / sizeof *tables };

/* ---- jobs ---- */

static void add_job(struct arena *a, struct job *j, const struct calibrate_options *o, const char *set,
                    const char *program, const char *name, const char *record) {
  char self[PATH_MAX];
  size_t n = 0;
  char **v = ARENA_ARRAY(a, char *, 24 + 2 * o->sets.count);
  self_path(self, sizeof self);
#define ARG(s) v[n++] = arena_strdup(a, s)
  ARG(self), ARG("run"), ARG("--quiet"), ARG("--json"), ARG(record), ARG("--gpu"), ARG(o->gpu ? o->gpu : "fermi");
  if (set) ARG("--set"), ARG(set);
  for (size_t i = 0; i < o->sets.count; i++) ARG("--set"), ARG(o->sets.at[i]);
  ARG("--"), ARG(program), ARG(name);
#undef ARG
  j->argv = v;
}

static bool case_wanted(const struct calibrate_options *o, const char *name) {
  for (size_t i = 0; i < o->cases.count; i++)
    if (!strcmp(o->cases.at[i], name)) return true;
  return !o->cases.count;
}

/* The program prints "NAME PASS" after checking its own result. */
static bool job_passed(const struct job *j) {
  char *log = path_read_whole(j->log, NULL);
  bool ok = j->exit_code == 0 && log && strstr(log, "PASS");
  free(log);
  return ok;
}

/* ---- output ---- */

static void print_cases(const struct calib_table *t) {
  static const char *const titles[] = {"case", "cycles", "reference", "error", "worst other column", "off by", "CPU s"};
  struct table *out = table_new(titles, "lrrrlrr");
  table_order(out, ".32...1");
  for (size_t i = 0; i < t->count; i++) {
    const struct calib_case *c = &t->at[i];
    struct calib_worst w = calib_worst(t, c);
    char ours[48], ref[48];
    if (!c->ran) {
      table_cell(out, "%s", c->name);
      for (int k = 0; k < 3; k++) table_cell(out, "%s", k == 2 ? "FAILED" : "-");
      for (int k = 0; k < 3; k++) table_cell(out, " ");
      continue;
    }
    cli_count(ours, sizeof ours, calib_get(t, c->ours, "cycles"));
    cli_count(ref, sizeof ref, calib_get(t, c->reference, "cycles"));
    table_cell(out, "%s", c->name);
    table_cell(out, "%s", ours);
    table_cell(out, "%s", ref);
    table_cell(out, "%+.2f %%", 100 * calib_cycle_error(t, c));
    table_cell(out, "%s", w.column ? w.column : "");
    table_cell(out, w.column ? "%+.1f %%" : " ", 100 * w.error);
    table_cell(out, "%.2f", c->cpu_seconds);
  }
  table_print(out, stdout);
  table_free(out);
}

static void print_columns(const struct calib_table *t) {
  static const char *const titles[] = {"column", "mean abs error", "worst", "case", "goal"};
  struct table *out = table_new(titles, "lrrll");
  for (size_t k = 0; k < t->columns; k++) {
    struct calib_column s = calib_column_stats(t, k);
    const char *goal = calib_goal_text(t->column[k]);
    if (!s.cases) continue;
    table_cell(out, "%s", t->column[k]);
    table_cell(out, "%.2f %%", 100 * s.mean);
    table_cell(out, "%+.2f %%", 100 * s.worst);
    table_cell(out, "%s", s.worst_case);
    table_cell(out, "%s", goal ? goal : "");
  }
  table_print(out, stdout);
  table_free(out);
}

/* One case alone: every column. */
static void print_one(const struct calib_table *t, const struct calib_case *c) {
  static const char *const titles[] = {"column", "sluice", "reference", "error"};
  struct table *out = table_new(titles, "lrrr");
  for (size_t k = 0; c->ran && k < t->columns; k++) {
    table_cell(out, "%s", t->column[k]);
    table_cell(out, "%.10g", c->ours[k]);
    table_cell(out, "%.10g", c->reference[k]);
    if (c->ours[k] == c->reference[k]) table_cell(out, "=");
    else table_cell(out, "%+.2f %%", 100 * calib_relative(c->ours[k], c->reference[k]));
  }
  printf("%s\n", c->name);
  table_print(out, stdout);
  table_free(out);
}

static bool append_csv(FILE *f, const char *table, const struct calib_table *t) {
  for (size_t i = 0; i < t->count; i++) {
    const struct calib_case *c = &t->at[i];
    for (size_t k = 0; c->ran && k < t->columns; k++)
      fprintf(f, "%s,%s,%s,%.10g,%.10g\n", table, c->name, t->column[k], c->ours[k], c->reference[k]);
  }
  return !ferror(f);
}

static unsigned print_table(const char *name, const struct calib_table *t, const struct calibrate_options *o) {
  char missed[4096];
  printf("\n== %s: %zu cases\n", name, t->count);
  if (o->cases.count && o->cases.count <= 4) {
    for (size_t i = 0; i < t->count; i++) print_one(t, &t->at[i]);
  } else {
    print_cases(t);
    puts("");
    print_columns(t);
  }
  struct calib_overall all = calib_overall(t);
  printf("\ncycles: mean abs error %.2f %%, worst %.2f %% (%s), correlation %.6f\n", 100 * all.mean, 100 * all.worst,
         all.worst_case, all.correlation);
  unsigned n = calib_goals_missed(t, missed, sizeof missed);
  if (n) printf("goals missed: %u\n%s", n, missed);
  else puts("all goals met");
  return n;
}

/* ---- the command ---- */

struct plan {
  struct arena arena;
  struct calib_table table[TABLES];
  bool selected[TABLES];
  struct job job[TABLES * MAX_CASES];
  struct {
    uint8_t table;
    size_t index;
    char record[600];
  } of[TABLES * MAX_CASES];
  size_t jobs;
};

static bool make_plan(struct plan *p, const struct calibrate_options *o, const char *dir, const struct tempdir *tmp,
                      struct err *e) {
  char program[PATH_MAX + 8], path[PATH_MAX + 64];
  snprintf(program, sizeof program, "%s/calib", dir);
  if (access(program, X_OK)) return err_set(e, ERR_INPUT, "cannot run '%s': %s", program, strerror(errno));
  for (size_t t = 0; t < TABLES; t++) {
    if (!p->selected[t]) continue;
    struct calib_table *ct = &p->table[t];
    snprintf(path, sizeof path, "%s/%s", dir, tables[t].file);
    if (!calib_read(ct, path, e)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < ct->count; i++)
      if (case_wanted(o, ct->at[i].name)) ct->at[kept++] = ct->at[i];
    if (o->cases.count && !kept) return err_set(e, ERR_USAGE, "no case '%s' in %s", o->cases.at[0], path);
    ct->count = kept;
    for (size_t i = 0; i < kept && p->jobs < TABLES * MAX_CASES; i++) {
      size_t j = p->jobs++;
      char name[32];
      snprintf(name, sizeof name, "case%zu.json", j);
      tempdir_file(tmp, name, p->of[j].record, sizeof p->of[j].record);
      p->of[j].table = (uint8_t)t;
      p->of[j].index = i;
      p->job[j].weight = 0.05 + calib_get(ct, ct->at[i].reference, "warp_insts") * 1e-6 +
                         calib_get(ct, ct->at[i].reference, "cycles") * 1e-6;
      add_job(&p->arena, &p->job[j], o, tables[t].set, program, ct->at[i].name, p->of[j].record);
    }
  }
  return true;
}

static unsigned collect_cases(struct plan *p) {
  unsigned failed = 0;
  for (size_t j = 0; j < p->jobs; j++) {
    struct calib_table *t = &p->table[p->of[j].table];
    struct calib_case *c = &t->at[p->of[j].index];
    struct err e = {0};
    c->cpu_seconds = p->job[j].cpu_seconds;
    struct record_file *r = job_passed(&p->job[j]) ? record_open(p->of[j].record, &e) : NULL;
    if (r) {
      calib_fill(t, c, r);
      record_close(r);
      continue;
    }
    failed++;
    fprintf(stderr, "sluice: case %s failed (exit code %d):\n", c->name, p->job[j].exit_code);
    job_print_log(&p->job[j]);
  }
  return failed;
}

static bool select_tables(struct plan *p, const char *name, struct err *e) {
  const char *names[TABLES];
  bool any = false;
  for (size_t t = 0; t < TABLES; t++) {
    names[t] = tables[t].name;
    p->selected[t] = !name || !strcmp(name, tables[t].name);
    any |= p->selected[t];
  }
  if (any) return true;
  const char *near = err_nearest(name, names, TABLES);
  return err_set(e, ERR_USAGE, "unknown table '%s'; %s%s%s", name,
                 near ? "did you mean '" : "there are fermi, lrr and ball", near ? near : "", near ? "'?" : "");
}

static int finish_calibration(struct plan *p, const struct calibrate_options *o) {
  unsigned bad = collect_cases(p), missed = 0;
  struct output *file = o->csv ? output_open(o->csv) : NULL;
  FILE *csv = file ? output_file(file) : NULL;
  struct err e = {0};
  if (o->csv && !file) {
    output_failed(o->csv, errno, &e);
    return cli_fail(&e);
  }
  if (csv) fputs("table,case,column,ours,reference\n", csv);
  for (size_t t = 0; t < TABLES; t++) {
    if (!p->selected[t]) continue;
    missed += print_table(tables[t].name, &p->table[t], o);
    if (csv) append_csv(csv, tables[t].name, &p->table[t]);
  }
  if (file && !output_commit(file)) return output_failed(o->csv, errno, &e), cli_fail(&e);
  return bad || (o->check && missed) ? EXIT_CHECK : EXIT_OK;
}

static int calibrate_run(const struct command *self, int argc, char **argv) {
  struct calibrate_options o = {0};
  struct err e = {0};
  struct tempdir tmp = {0};
  char dir[PATH_MAX];
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first + 1 < argc)
    return err_set(&e, ERR_USAGE, "'%s' follows '%s': options come before DIR", argv[first + 1], argv[first]),
           command_usage(self, &e);
  struct sim_options sim = {.gpu = o.gpu, .sets = o.sets};
  if (!output_prepare(o.csv, &e)) return cli_fail(&e);
  if (o.silicon) {
    struct silicon_options s = {.file = o.silicon,
                                .dir = first < argc ? argv[first] : ".",
                                .csv = o.csv,
                                .gpu = o.gpu,
                                .sets = &o.sets,
                                .kernels = &o.cases,
                                .jobs = (unsigned)o.jobs};
    rc = silicon_run(&s);
    opt_list_free(&o.sets);
    opt_list_free(&o.cases);
    return rc;
  }
  struct plan *p = mem_zeroed(1, sizeof *p);
  if (first < argc) snprintf(dir, sizeof dir, "%s", argv[first]);
  else path_find(dir, sizeof dir, "calibration");
  bool ok =
      sim_check(&sim, &e) && select_tables(p, o.table, &e) && tempdir_make(&tmp, &e) && make_plan(p, &o, dir, &tmp, &e);
  if (!ok) rc = cli_fail(&e);
  else rc = jobs_run(p->job, p->jobs, (unsigned)o.jobs, &tmp, "calibrating", false) ? finish_calibration(p, &o) : 130;
  for (size_t t = 0; t < TABLES; t++) calib_free(&p->table[t]);
  tempdir_remove(&tmp);
  arena_free(&p->arena);
  free(p);
  opt_list_free(&o.sets);
  opt_list_free(&o.cases);
  return rc;
}

#define CAL(member) offsetof(struct calibrate_options, member)
static const struct opt calibrate_opts[] = {
    {"table", "NAME", "one table: fermi, lrr or ball (default: all three)", OPT_TEXT, CAL(table), 't',
     "fermi lrr ball"},
    {"case", "NAME", "only this case, every column printed; may be repeated", OPT_LIST, CAL(cases), 'c', NULL},
    {"silicon", "FILE", "set kernels of DIR beside a GPU's hardware counters instead (--case: a kernel)", OPT_TEXT,
     CAL(silicon), 0, "file"},
    {"jobs", "N", "simulations at a time (default: one per processor)", OPT_UINT, CAL(jobs), 'J', NULL},
    {"csv", "FILE", "write the simulated and the reference value of every case and column", OPT_TEXT, CAL(csv), 0,
     "file"},
    {"check", NULL, "exit with 1 when a goal is missed", OPT_FLAG, CAL(check), 0, NULL},
    {"gpu", "NAME|FILE", "GPU configuration (default fermi; with --silicon the one that FILE names, or volta)",
     OPT_TEXT, CAL(gpu), 'g', "gpu"},
    {"set", "KEY=VALUE", "change one knob of the GPU; may be repeated", OPT_LIST, CAL(sets), 's', "knob"},
    {.name = NULL}};

const struct command cmd_calibrate = {
    .name = "calibrate",
    .summary = "compare 47 kernels with the reference simulator's counters",
    .usage = "[OPTIONS] [DIR]",
    .help = "Runs all cases of DIR (default: the bundled tests/calibration) and prints, per case, per column and "
            "overall, the counters\n"
            "against the reference. Three tables: the baseline, loose round-robin, and all loads bypassing the L1.\n\n"
            "With --silicon, FILE is a table of counters measured on a GPU, a row per program and kernel\n"
            "(tests/silicon/v100.csv; bench/silicon makes one). DIR holds for each program PROGRAM.slt, a trace\n"
            "(sluice record), or PROGRAM.cmd, the command line; programs without either are passed over.\n\n"
            "Examples:\n"
            "  sluice calibrate\n"
            "  sluice calibrate --table fermi --case copy        every column of one case\n"
            "  sluice calibrate --check --csv accuracy.csv\n"
            "  sluice calibrate --silicon tests/silicon/v100.csv traces\n",
    .opts = calibrate_opts,
    .run = calibrate_run,
};
