/* compare.c - `sluice compare`: one program under several schemes side by side, and `sluice report`: the same page from
 * records written earlier.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/mem.h"
#include "base/arena.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/run/compare.h"
#include "cli/run/estimate.h"
#include "cli/tables/energy.h"
#include "proc/jobs.h"
#include "cli/run/run.h"
#include "cli/run/search.h"
#include "gpu/slots/slots.h"
#include "report/report.h"

enum { MAX_COLUMNS = COMPARE_COLUMNS, MAX_ARGV = 4096, BAR_COLUMNS = 40 };

struct comparison {
  const char *scheme[MAX_COLUMNS];
  struct record_file *record[MAX_COLUMNS];
  struct job job[MAX_COLUMNS];
  struct search search[MAX_COLUMNS]; /* of the columns that name one, in their order */
  size_t count, searches;
  struct arena arena;
};

bool compare_split(struct arena *a, const char *list, const char **out, size_t *count, struct err *e) {
  for (const char *p = list;;) {
    size_t n = strcspn(p, ",");
    if (!n) return err_set(e, ERR_USAGE, "--scheme '%s': an empty name between commas", list);
    if (*count == MAX_COLUMNS) return err_set(e, ERR_USAGE, "--scheme: more than %d columns", MAX_COLUMNS);
    out[(*count)++] = arena_strndup(a, p, n);
    if (!p[n]) return true;
    p += n + 1;
  }
}

char **compare_argv(struct arena *arena, const struct sim_options *o, const char *scheme, const char *record,
                    char **program) {
  size_t n = 0, extra = 0;
  while (program[extra]) extra++;
  char **a = ARENA_ARRAY(arena, char *, 16 + sim_options_pass_most(o) + extra), self[PATH_MAX];
  self_path(self, sizeof self);
#define ARG(s) a[n++] = arena_strdup(arena, s)
  ARG(self), ARG("run"), ARG("--quiet"), ARG("--scheme"), ARG(scheme), ARG("--json"), ARG(record);
  n += sim_options_pass(arena, o, a + n);
  if (o->profile) ARG("--lines"), ARG("--characterise"); /* shown by a report for a single run */
  ARG("--");
  for (size_t i = 0; i < extra; i++) ARG(program[i]);
#undef ARG
  return a;
}

/* ---- output ---- */

static double total_of(const struct record_file *r, const char *key) {
  double v = 0;
  record_value(r, RECORD_TOTALS, key, &v);
  return v;
}

static double quotient(double a, double b) {
  return b > 0 ? a / b : 0;
}

static void cell_percent(struct table *t, double part, double whole) {
  if (whole > 0) table_cell(t, "%.1f %%", 100 * part / whole);
  else table_cell(t, "-");
}

static void print_table(const struct comparison *c, FILE *f) {
  static const char *const titles[] = {"scheme",    "cycles",      "IPC",     "IPC norm.",     "L1 hits",
                                       "L1 bypass", "L1 refusals", "L2 hits", "L1-L2 traffic", "DRAM traffic"};
  struct table *t = table_new(titles, "lrrrrrrrrr");
  table_order(t, ".5...21364");
  const struct record_file *b = c->record[0];
  for (size_t i = 0; i < c->count; i++) {
    const struct record_file *r = c->record[i];
    char n[48];
    double loads = total_of(r, "l1d.read.accesses"), bypass = total_of(r, "l1d.read.bypasses");
    table_cell(t, "%s", c->scheme[i]);
    cli_count(n, sizeof n, total_of(r, "cycles"));
    table_cell(t, "%s", n);
    table_cell(t, "%.2f", total_of(r, "ipc"));
    table_cell(t, "%.3f", quotient(total_of(r, "ipc"), total_of(b, "ipc")));
    cell_percent(t, total_of(r, "l1d.read.hits"), loads);
    cell_percent(t, bypass, loads + bypass);
    cli_count(n, sizeof n, total_of(r, "l1d.read.rejections"));
    table_cell(t, "%s", n);
    cell_percent(t, total_of(r, "l2.hits"), total_of(r, "l2.accesses"));
    table_cell(t, "%.3f",
               quotient(total_of(r, "icnt.flits_up") + total_of(r, "icnt.flits_down"),
                        total_of(b, "icnt.flits_up") + total_of(b, "icnt.flits_down")));
    table_cell(t, "%.3f",
               quotient(total_of(r, "dram.reads") + total_of(r, "dram.writes"),
                        total_of(b, "dram.reads") + total_of(b, "dram.writes")));
  }
  table_print(t, f);
  table_free(t);
}

/* What became of the prefetches, if a column has some. */
static void print_prefetches(const struct comparison *c, FILE *f) {
  static const char *const titles[] = {"scheme",   "prefetched", "accuracy",       "coverage",
                                       "lateness", "evicted",    "of L1's traffic"};
  struct table *t = NULL;
  for (size_t i = 0; i < c->count; i++) {
    const struct record_file *r = c->record[i];
    char n[48];
    double lines = total_of(r, "prefetch.issued");
    if (!(lines > 0)) continue;
    if (!t) t = table_new(titles, "lrrrrrr");
    table_cell(t, "%s", c->scheme[i]);
    cli_count(n, sizeof n, lines);
    table_cell(t, "%s", n);
    cell_percent(t, total_of(r, "prefetch.accuracy"), 1);
    cell_percent(t, total_of(r, "prefetch.coverage"), 1);
    cell_percent(t, total_of(r, "prefetch.lateness"), 1);
    cell_percent(t, total_of(r, "prefetch.evicted"), lines);
    cell_percent(t, total_of(r, "prefetch.traffic"), 1);
  }
  if (!t) return;
  fprintf(f, "\nlines prefetched into the L1\n");
  table_print(t, f);
  table_free(t);
}

/* What looked up the L1s of other SMs, if a column has some. */
static void print_places(const struct comparison *c, FILE *f) {
  static const char *const titles[] = {"scheme", "loads", "hits", "of the misses answered", "flits", "wait", "latency"};
  struct table *t = NULL;
  for (size_t i = 0; i < c->count; i++) {
    const struct record_file *r = c->record[i];
    char n[48];
    double loads = total_of(r, "l1net.loads");
    if (!(loads > 0)) continue;
    if (!t) t = table_new(titles, "lrrrrrr");
    table_cell(t, "%s", c->scheme[i]);
    cli_count(n, sizeof n, loads);
    table_cell(t, "%s", n);
    cell_percent(t, total_of(r, "l1net.hits"), loads);
    cell_percent(t, total_of(r, "l1net.answered"), 1);
    cli_count(n, sizeof n, total_of(r, "l1net.flits"));
    table_cell(t, "%s", n);
    table_cell(t, "%.1f", total_of(r, "l1net.wait.mean"));
    table_cell(t, "%.1f", total_of(r, "l1net.latency.mean"));
  }
  if (!t) return;
  fprintf(f, "\nloads that looked up the L1s of other SMs\n");
  table_print(t, f);
  table_free(t);
}

static void print_bars(const struct comparison *c, FILE *f) {
  double max = 0, base = total_of(c->record[0], "ipc");
  size_t width = 0;
  bool color = cli_color(f);
  for (size_t i = 0; i < c->count; i++) {
    max = fmax(max, quotient(total_of(c->record[i], "ipc"), base));
    if (strlen(c->scheme[i]) > width) width = strlen(c->scheme[i]);
  }
  if (!(max > 0)) return;
  fprintf(f, "\nIPC, normalised to %s\n", c->scheme[0]);
  for (size_t i = 0; i < c->count; i++) {
    double v = quotient(total_of(c->record[i], "ipc"), base);
    char bar[4 * BAR_COLUMNS + 1];
    cli_bar(bar, v / max, BAR_COLUMNS);
    const char *paint = !color      ? ""
                        : i == 0    ? "\033[90m"
                        : v > 1.005 ? "\033[32m"
                        : v < 0.995 ? "\033[31m"
                                    : "\033[33m";
    fprintf(f, "  %-*s %s%s%s %.3f\n", (int)width, c->scheme[i], paint, bar, color ? "\033[0m" : "", v);
  }
}

/* With --estimate: the gains and their intervals. All columns timed the same launches, so differences are paired. */
static void print_paired(const struct comparison *c, FILE *f) {
  double ratio, half;
  for (size_t i = 1; i < c->count; i++) {
    if (!estimate_compared(record_json(c->record[0]), record_json(c->record[i]), &ratio, &half)) continue;
    fprintf(f, "%s%-16s %.3f +- %.3f%s\n", i == 1 ? "\nestimates of IPC norm., of the same launches:\n  " : "  ",
            c->scheme[i], ratio, half, fabs(ratio - 1) > half ? "" : ", not different from 1");
  }
}

static void print_energy_table(struct comparison *c, const struct sim_options *o, FILE *f) {
  struct err e = {0};
  struct energy_grid g = {.scheme = c->scheme, .programs = 1, .schemes = c->count};
  g.stats = ARENA_ARRAY(&c->arena, struct gpu_stats, c->count);
  for (size_t i = 0; i < c->count; i++) record_stats(c->record[i], RECORD_TOTALS, &g.stats[i]);
  CHECK(sim_config(o, &g.config, &e), "%s", e.msg);
  energy_print_compare(&g, f);
  if (o->energy_sensitivity) energy_print_sensitivity(&g, f);
}

static bool write_comparison(const char *path, const struct comparison *c, struct err *e) {
  json_t *runs = json_array(), *root = json_object();
  for (size_t i = 0; i < c->count; i++) json_array_append(runs, record_json(c->record[i]));
  json_object_set_new(root, "format", json_integer(RECORD_FORMAT));
  json_object_set_new(root, "runs", runs);
  return jsonfile_write(root, path, JSON_INDENT(1) | JSON_REAL_PRECISION(10), e);
}

bool compare_report(const struct compare_options *o, void *const *record, size_t count, const char *title,
                    struct err *e) {
  if (o->no_html) return true;
  const char *path = o->html ? o->html : "report.html";
  FILE *f = o->sim.json && !strcmp(o->sim.json, "-") ? stderr : stdout;
  bool ok = report_write(
      path, &(struct report_input){.title = title, .command = o->command, .records = record, .count = count}, e);
  if (ok && !o->sim.quiet) text_say(f, "\nreport: %s\n", path);
  if (ok || o->html) return ok;
  text_say(stderr, "sluice: no report: %s\n", e->msg); /* the report was not requested explicitly */
  *e = (struct err){0};
  return true;
}

/* ---- the command ---- */

/* The search of column i, NULL if it is none. */
static const struct search *search_of(const struct comparison *c, size_t i) {
  for (size_t k = 0; k < c->searches; k++)
    if (c->search[k].list == c->scheme[i]) return &c->search[k];
  return NULL;
}

static int search_columns(struct comparison *c, const struct compare_options *o, char **program,
                          const struct tempdir *dir) {
  struct err e = {0};
  for (size_t i = 0; i < c->count; i++)
    if (search_named(c->scheme[i]))
      c->search[c->searches++] = (struct search){.program = program, .list = c->scheme[i], .again = true};
  if (!c->searches) return 0;
  int rc = search_all(c->search, c->searches, &o->sim, (unsigned)o->jobs, dir, &c->arena, &e);
  if (e.code) cli_fail(&e);
  for (size_t k = 0; !rc && k < c->searches; k++) rc = c->search[k].exit_code;
  return rc;
}

static int read_records(struct comparison *c, const struct tempdir *dir) {
  struct err e = {0};
  for (size_t i = 0; i < c->count; i++) {
    char name[32], path[600];
    snprintf(name, sizeof name, "run%zu.json", i);
    tempdir_file(dir, name, path, sizeof path);
    if (!(c->record[i] = record_open(path, &e))) return cli_fail(&e);
    struct record_strays n = record_strays(c->record[i]);
    if (n.reads + n.writes)
      fprintf(stderr, "sluice: warning: under '%s' the program went out of bounds %llu times at %zu place%s\n",
              c->scheme[i], (unsigned long long)(n.reads + n.writes), n.places, &"s"[n.places == 1]);
    if (!record_kernels(c->record[i])) {
      err_set(&e, ERR_INPUT, "the program launched no kernel: there is nothing to compare");
      return cli_fail(&e);
    }
    const struct search *s = search_of(c, i);
    if (s) json_object_set_new(record_json(c->record[i]), "search", search_json(s));
  }
  return 0;
}

static int simulate(struct comparison *c, const struct compare_options *o, char **program, const struct tempdir *dir) {
  int rc = search_columns(c, o, program, dir);
  char plan[600];
  if (rc) return rc;
  tempdir_file(dir, "estimate.plan", plan, sizeof plan);
  for (size_t i = 0; i < c->count; i++) {
    char name[32], path[600];
    snprintf(name, sizeof name, "run%zu.json", i);
    tempdir_file(dir, name, path, sizeof path);
    const struct search *s = search_of(c, i);
    struct sim_options one = s ? search_options(s, &o->sim, &c->arena) : o->sim;
    if (one.estimate && !one.estimate_plan) one.estimate_plan = plan;
    c->job[i].argv = compare_argv(&c->arena, &one, s ? s->chosen : c->scheme[i], path, program);
  }
  /* The first column makes the plan that serves the others. */
  size_t first = o->sim.estimate ? 1 : 0;
  if (first && !jobs_run(c->job, 1, 1, dir, "comparing", true)) return 130;
  if (!(first && c->job[0].exit_code) &&
      !jobs_run(c->job + first, c->count - first, (unsigned)o->jobs, dir, "comparing", true))
    return 130;
  for (size_t i = 0; i < c->count; i++) {
    if (c->job[i].exit_code <= 0) continue;
    fprintf(stderr, "sluice: the run under '%s' ended with code %d:\n", c->scheme[i], c->job[i].exit_code);
    job_print_log(&c->job[i]);
    return c->job[i].exit_code;
  }
  return read_records(c, dir);
}

static int write_outputs(struct comparison *c, const struct compare_options *o, char **program) {
  struct err e = {0};
  bool json_out = o->sim.json && !strcmp(o->sim.json, "-");
  FILE *f = json_out ? stderr : stdout;
  if (!o->sim.quiet) {
    text_say(f, "sluice: %s on %s\n\n", program[0], record_field(c->record[0], "gpu"));
    print_table(c, f);
    print_prefetches(c, f);
    print_places(c, f);
    print_bars(c, f);
    print_paired(c, f);
    if (c->searches) fputc('\n', f);
    for (size_t k = 0; k < c->searches; k++) search_say(&c->search[k], f);
    if (o->sim.energy || o->sim.energy_sensitivity) print_energy_table(c, &o->sim, f);
  }
  if (o->sim.json && !write_comparison(o->sim.json, c, &e)) return cli_fail(&e);
  char *title = command_text(program);
  void *records[MAX_COLUMNS];
  for (size_t i = 0; i < c->count; i++) records[i] = record_json(c->record[i]);
  bool ok = compare_report(o, records, c->count, title, &e);
  free(title);
  return ok ? EXIT_OK : cli_fail(&e);
}

static bool check_all(const struct comparison *c, const struct compare_options *o, char **program, struct err *e) {
  if (o->sim.estimate && !estimate_fits(&o->sim, e)) return false;
  for (size_t i = 0; i < c->count; i++) {
    struct sim_options one = o->sim;
    one.scheme = c->scheme[i];
    if (!sim_check(&one, e)) return false;
  }
  if (o->sim.mode && !strcmp(o->sim.mode, "functional"))
    return err_set(e, ERR_USAGE, "compare needs timing mode: functional runs have no cycles");
  char path[PATH_MAX];
  if (!is_kernel_file(program[0]) && !is_trace_file(program[0]) && !program_find(program[0], path, sizeof path))
    return err_set(e, ERR_USAGE, "cannot run '%s': %s", program[0], strerror(errno));
  return true;
}

static int compare_run(const struct command *self, int argc, char **argv) {
  struct compare_options o = {0};
  struct err e = {0};
  struct tempdir dir = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  const char *html = o.html ? o.html : "report.html";
  if (!sim_output(o.sim.json, &o.sim, argv + first, &e)) return cli_fail(&e);
  if (!o.no_html && !sim_output(html, &o.sim, argv + first, &e) && o.html) return cli_fail(&e);
  e = (struct err){0};
  struct arena a = {0};
  o.command = "sluice compare";
  for (int i = 1; i < argc; i++)
    o.command = arena_printf(&a, strchr(argv[i], ' ') ? "%s '%s'" : "%s %s", o.command, argv[i]);
  o.sim.profile = !o.no_html && !o.suite && !o.sim.estimate; /* profiles of hundreds of runs do not fit a page */
  if (o.suite) {
    if (first < argc) return err_set(&e, ERR_USAGE, "--suite brings its own programs"), command_usage(self, &e);
    rc = compare_suite(&o);
    opt_list_free(&o.sim.sets);
    arena_free(&a);
    return rc;
  }
  if (first >= argc) return err_set(&e, ERR_USAGE, "no program to compare on"), command_usage(self, &e);
  struct comparison *c = mem_zeroed(1, sizeof *c);
  bool ok = compare_split(&c->arena, o.sim.scheme ? o.sim.scheme : "baseline,bucl", c->scheme, &c->count, &e) &&
            check_all(c, &o, argv + first, &e) && tempdir_make(&dir, &e);
  rc = ok ? simulate(c, &o, argv + first, &dir) : cli_fail(&e);
  if (!rc) rc = write_outputs(c, &o, argv + first);
  for (size_t i = 0; i < c->count; i++) record_close(c->record[i]);
  for (size_t k = 0; k < c->searches; k++) search_free(&c->search[k]);
  tempdir_remove(&dir);
  arena_free(&c->arena);
  arena_free(&a);
  free(c);
  opt_list_free(&o.sim.sets);
  return rc;
}

#define CMP(member) offsetof(struct compare_options, member)
static const struct opt compare_opts[] = {
    {"scheme", "A,B,C", "columns to compare; + joins schemes in one column (default baseline,bucl)", OPT_TEXT,
     CMP(sim.scheme), 'S', "scheme"},
    {"jobs", "N", "simulations at a time (default: one per processor)", OPT_UINT, CMP(jobs), 'J', NULL},
    {"suite", "NAME", "all bundled workloads of a paper: bucl, tsc, medic, decoupled-l1d, sharing, or all", OPT_TEXT,
     CMP(suite), 'w', NULL},
    {"size", "SIZE", "with --suite: small (default), medium or large inputs", OPT_TEXT, CMP(size), 'z', NULL},
    {"energy", NULL, "energy, power and efficiency beside the first column's (docs/explanation/energy.md)", OPT_FLAG,
     CMP(sim.energy), 'E', NULL},
    {"energy-sensitivity", NULL, "the same with each value of the table of energies halved and doubled", OPT_FLAG,
     CMP(sim.energy_sensitivity), 0, NULL},
    {"json", "FILE", "write all records as one document (- for standard output)", OPT_TEXT, CMP(sim.json), 'j', "file"},
    {"html", "FILE", "where the self-contained HTML report goes (default report.html)", OPT_TEXT, CMP(html), 'H',
     "file"},
    {"no-html", NULL, "no report, and none of its observations", OPT_FLAG, CMP(no_html), 0, NULL},
    {"quiet", NULL, "no table", OPT_FLAG, CMP(sim.quiet), 'q', NULL},
#define SIM_OPTION(kind, member, name, letter, arg, complete, runs, pass, session, help) \
  {name, arg, help, OPT_##kind, CMP(sim.member), letter, complete},
#define RUN_OPTION(...)
#include "session/options.def"
    {.name = NULL}};

const struct command cmd_compare = {
    .name = "compare",
    .summary = "one program under several schemes, side by side",
    .usage = "[OPTIONS] [--scheme A,B,C] -- PROGRAM [ARGS...]",
    .help =
        "Runs the program once per column, in parallel processes, and prints IPC normalised to the first column, hit\n"
        "rates and traffic, with bars. The program's own output is kept back unless it fails. report.html shows the "
        "same\n"
        "and more in a browser: stalls over time, L1 sets, DRAM banks, memory instructions by source line.\n\n"
        "Examples:\n"
        "  sluice compare -- ./kmeans -n 4096\n"
        "  sluice compare --scheme baseline,bucl,swl=8,swl=8+bucl --html kmeans.html -- ./kmeans\n"
        "  sluice compare --suite bucl --size small --scheme baseline,mrpb,bucl\n",
    .opts = compare_opts,
    .run = compare_run,
    .program = true,
};

/* ---- sluice report ---- */

struct report_options {
  const char *out, *title;
};

/* A record, or the `runs` of a compare document. */
static bool add_records(json_t *file, void **records, size_t *count) {
  json_t *runs = json_object_get(file, "runs"), *one;
  size_t i;
  if (json_is_object(json_object_get(file, "totals")) && *count < MAX_COLUMNS) records[(*count)++] = file;
  json_array_foreach(runs, i, one) {
    if (*count < MAX_COLUMNS && json_is_object(json_object_get(one, "totals"))) records[(*count)++] = one;
  }
  return *count > 0;
}

static int report_run(const struct command *self, int argc, char **argv) {
  struct report_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first >= argc) return err_set(&e, ERR_USAGE, "no result record to report on"), command_usage(self, &e);
  const char *out = o.out ? o.out : "report.html";
  if (!command_is_no_input(out, argv + first, &e) || !output_prepare(out, &e)) return cli_fail(&e);
  void *records[MAX_COLUMNS];
  json_t *files = json_array();
  size_t count = 0;
  for (int i = first; i < argc && !e.code; i++) {
    json_t *file = record_document(argv[i], &e);
    if (file && !add_records(file, records, &count))
      err_set(&e, ERR_INPUT, "%s: not a result of sluice (no `totals`, no `runs`)", argv[i]);
    if (file) json_array_append_new(files, file);
  }
  const char *program = count ? json_string_value(json_object_get(records[0], "program")) : NULL;
  const char *command = program ? program : "";
  bool ok =
      !e.code &&
      report_write(out,
                   &(struct report_input){
                       .title = o.title ? o.title : command, .command = command, .records = records, .count = count},
                   &e);
  json_decref(files);
  if (!ok) return cli_fail(&e);
  text_say(stdout, "report: %s\n", out);
  return EXIT_OK;
}

static const struct opt report_opts[] = {
    {"output", "FILE", "where to write it (default report.html)", OPT_TEXT, offsetof(struct report_options, out), 'o',
     "file"},
    {"title", "TEXT", "heading (default: the program)", OPT_TEXT, offsetof(struct report_options, title), 't', NULL},
    {.name = NULL}};
const struct command cmd_report = {
    .name = "report",
    .summary = "an HTML report from result records",
    .usage = "[-o FILE] RECORD.json...",
    .help =
        "Takes records of `sluice run --json` and documents of `sluice compare --json`; the first is what the others\n"
        "are normalised to.\n",
    .opts = report_opts,
    .run = report_run,
};
