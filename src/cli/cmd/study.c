/* study.c - `sluice study FILE`: executes the runs of a study that the results file lacks. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "proc/child.h"
#include "proc/jobs.h"
#include "cli/tables/rows.h"
#include "cli/cmd/study_live.h"
#include "cli/cmd/study_progress.h"
#include "cli/cmd/study_report.h"
#include "session/live.h"
#include "study/study.h"

enum { ASK_FROM = 1000 };

struct study_opts {
  const char *engine, *results;
  uint64_t jobs, threads, task;
  bool yes, dry_run, retry, cancel, script, quiet;
  const char *html, *live;
  bool no_html;
  uint32_t live_ms;
};

/* ---- before ---- */

static void print_plan(const struct study_runs *r, struct db *db) {
  static const char *const titles[] = {"run", "state", "workload", "size", "gpu", "scheme", "parameters"};
  static const char *const states[] = {[DB_MISSING] = "to do", [DB_FAILED] = "failed", [DB_DONE] = "done"};
  struct table *t = table_new(titles, "lllllll");
  table_order(t, "3..12..");
  for (size_t i = 0; i < r->plan_count; i++) {
    const struct db_plan *p = &r->plan[i];
    table_cell(t, "%.12s", p->hash);
    table_cell(t, "%s", states[db ? db_run_status(db, p->hash) : DB_MISSING]);
    table_cell(t, "%s", p->workload);
    table_cell(t, "%s", p->size ? p->size : "");
    table_cell(t, "%s", p->gpu);
    table_cell(t, "%s", p->scheme);
    table_cell(t, "%s", strcmp(p->parameters, "{}") ? p->parameters : "");
  }
  table_print(t, stdout);
  table_free(t);
}

static size_t runs_missing(const struct study_runs *r, struct db *db) {
  size_t n = 0;
  for (size_t i = 0; i < r->count; i++) n += !db || db_run_status(db, r->run[i].hash) == DB_MISSING;
  return n;
}

/* Guard against many runs by accident: ask, or require an option. */
static bool confirm(double runs, struct err *e) {
  char n[64], answer[16] = "";
  cli_count(n, sizeof n, runs);
  if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
    return err_set(e, ERR_USAGE, "the study has %s runs to do; --yes starts that many, --dry-run lists them", n);
  fprintf(stderr, "The study has %s runs to do. Start them? [y/N] ", n);
  if (!fgets(answer, sizeof answer, stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
    return err_set(e, ERR_USAGE, "nothing was started");
  return true;
}

/* ---- after ---- */

static void print_metrics(struct db *db, struct study *s) {
  struct err e = {0};
  const char *columns = "";
  for (size_t i = 0; i < s->metric_count && i < 8; i++)
    columns = arena_printf(&s->arena, "%s, avg(\"%s\") AS \"%s\"", columns, s->metrics[i], s->metrics[i]);
  char *sql = arena_printf(&s->arena,
                           "SELECT gpu, scheme, count(run) AS runs%s FROM results WHERE study = %s AND status = "
                           "'done' GROUP BY gpu, scheme ORDER BY min(ordinal)",
                           columns, sql_text(&s->arena, s->name));
  struct db_table *t = db_sql(db, sql, &e);
  if (t && t->rows) {
    puts("");
    rows_print(t, DB_TEXT, stdout);
    puts("(arithmetic means)");
  }
  db_table_free(t);
}

static bool write_report(struct db *db, struct study *s, const char *results, const struct study_opts *o) {
  struct err e = {0};
  size_t n = strlen(results);
  bool ending = n > 3 && !strcmp(results + n - 3, ".db");
  const char *path =
      o->html ? o->html : arena_printf(&s->arena, "%.*s-report.html", (int)(ending ? n - 3 : n), results);
  bool ok = output_prepare(path, &e) && study_report(db, s->name, s->file, path, &e);
  if (ok) text_say(stdout, "\nreport: %s\n", path);
  else text_say(stderr, "sluice: no report: %s\n", e.msg);
  return ok || e.code != ERR_OUTPUT;
}

static int report_end(enum study_end end, const struct study_progress *p, struct study *s, struct db *db,
                      const char *results, const struct study_opts *o, const struct err *e) {
  char took[32], before[64] = "";
  bool written = true;
  screen_seconds(took, sizeof took, p->since);
  if (p->before) snprintf(before, sizeof before, " (%zu of them before)", p->before);
  if (!o->quiet) {
    text_say(stdout, "study %s: %zu of %zu runs done%s, %zu failed, %s; results in %s\n", s->name, p->done, p->total,
             before, p->failed, took, results);
    if (end == STUDY_COMPLETE) print_metrics(db, s);
    if (end == STUDY_COMPLETE && !o->no_html && p->done) written = write_report(db, s, results, o);
    if (p->failed)
      text_say(stdout, "\nFailed runs: sluice query %s --failed    again: sluice study %s --retry-failed\n", results,
               s->path);
    fflush(stdout);
  }
  if (end == STUDY_STOPPED) return cli_fail(e);
  if (end == STUDY_INTERRUPTED) {
    fprintf(stderr, "sluice: interrupted; the same command continues from here\n");
    return 130;
  }
  return !written ? EXIT_OUTPUT : p->failed ? EXIT_CHECK : EXIT_OK;
}

/* ---- the command ---- */

static bool go_to_folder(const char *file, struct err *e) {
  const char *slash = strrchr(file, '/');
  if (!slash) return true;
  char dir[PATH_MAX];
  if ((size_t)snprintf(dir, sizeof dir, "%.*s", (int)(slash - file), file) >= sizeof dir) return true;
  return !chdir(*dir ? dir : "/") || err_set(e, ERR_INPUT, "cannot go to '%s': %s", dir, strerror(errno));
}

static int run_missing(struct study *s, struct study_runs *r, const struct study_opts *o, const char *results) {
  struct err e = {0};
  struct screen screen = {.terminal = isatty(STDERR_FILENO), .quiet = o->quiet};
  char self[PATH_MAX];
  self_path(self, sizeof self);
  signal(SIGXFSZ, SIG_IGN); /* a file-size limit then gives an error like a full disk */
  int lock;
  if (!study_lock(results, &lock, &e)) return cli_fail(&e);
  bool fresh = access(results, F_OK) != 0, ran = false; /* under the lock: no other process creates it */
  struct db *db = db_open(results, DB_WRITE, &e);
  if (db && db_notice(db)) text_say(stderr, "sluice: %s %s\n", results, db_notice(db));
  struct study_progress p = {0};
  size_t todo = db ? runs_missing(r, db) : 0;
  bool ok = db && (todo < ASK_FROM || o->yes || confirm((double)todo, &e)) &&
            db_study_put(db, s->name, s->file, s->text, r->plan, r->plan_count, &e) > 0;
  int rc;
  if (!ok) {
    rc = cli_fail(&e);
  } else {
    struct study_options so = {.engine = o->engine && !strcmp(o->engine, "slurm") ? STUDY_SLURM : STUDY_LOCAL,
                               .self = self,
                               .results = results,
                               .jobs = (unsigned)o->jobs,
                               .threads = (unsigned)o->threads,
                               .retry = o->retry,
                               .cancel = o->cancel,
                               .script_only = o->script,
                               .show = screen_show,
                               .note = screen_note,
                               .ctx = &screen};
    struct study_live *live = o->live_ms ? study_live_open(s, o->live_ms) : NULL;
    if (live) so.show = study_live_show, so.note = study_live_note, so.event = study_live_event, so.ctx = live;
    enum study_end end = study_run(s, r, &so, db, &p, &e);
    ran = true;
    study_live_close(live);
    screen_clear(&screen);
    rc = end == STUDY_SCRIPT ? EXIT_OK : report_end(end, &p, s, db, results, o, &e);
  }
  db_close(db);
  if (fresh && !ran) unlink(results);
  study_unlock(results, lock);
  return rc;
}

static int run_study(const char *file, const struct study_opts *o) {
  struct err e = {0};
  struct study s = {0};
  struct study_runs r;
  char results[PATH_MAX] = "";
  if (o->results && !screen_absolute(o->results, results, sizeof results, &e)) return cli_fail(&e);
  int rc;
  bool ok = study_read(&s, file, &e) && go_to_folder(file, &e) && study_parse(&s, &e);
  if (ok && !*results) ok = screen_absolute(s.results, results, sizeof results, &e);
  double size = ok ? study_size(&s) : 0;
  /* Too many even to list quickly. */
  if (ok && size > 20 * ASK_FROM && !o->yes) ok = confirm(size, &e);
  ok = ok && study_expand(&s, &r, program_find, &e);
  if (!ok) {
    rc = cli_fail(&e);
  } else if (o->dry_run) {
    struct db *db = access(results, F_OK) ? NULL : db_open(results, DB_READ, &e);
    print_plan(&r, db);
    text_say(stdout, "\n%zu runs, %zu to do; results in %s\n", r.count, runs_missing(&r, db), results);
    db_close(db);
    rc = e.code ? cli_fail(&e) : EXIT_OK;
  } else {
    rc = run_missing(&s, &r, o, results);
  }
  study_free(&s);
  return rc;
}

static int study_main(const struct command *self, int argc, char **argv) {
  static const char *const engines[] = {"local", "slurm"};
  struct study_opts o = {.task = UINT64_MAX};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first < argc && o.task == UINT64_MAX) { /* options may follow the file */
    int more = opt_parse(self->opts, &o, argc - first, argv + first, &e);
    if (more < 0) return command_usage(self, &e);
    argv[first + more - 1] = argv[first], first += more - 1;
  }
  if (first + 1 != argc) return err_set(&e, ERR_USAGE, "one study file is needed"), command_usage(self, &e);
  if (o.engine && strcmp(o.engine, "local") && strcmp(o.engine, "slurm")) {
    const char *near = err_nearest(o.engine, engines, 2);
    err_set(&e, ERR_USAGE, "unknown engine '%s'; %s%s%s", o.engine, near ? "did you mean '" : "it is local or slurm",
            near ? near : "", near ? "'?" : "");
    return command_usage(self, &e);
  }
  if (o.task != UINT64_MAX) {
    char me[PATH_MAX];
    self_path(me, sizeof me);
    return study_task(argv[first], o.task, me);
  }
  if (!live_interval(o.live, &o.live_ms, &e)) return command_usage(self, &e);
  char html[PATH_MAX]; /* relative to the folder of the call, like --results */
  if (o.html && !screen_absolute(o.html, html, sizeof html, &e)) return cli_fail(&e);
  if (o.html) o.html = html;
  return run_study(argv[first], &o);
}

#define AT(member) offsetof(struct study_opts, member)
static const struct opt study_opts_table[] = {
    {"jobs", "N", "simulations at a time (default: one per processor)", OPT_UINT, AT(jobs), 'J', NULL},
    {"threads", "N",
     "host threads of each run, and fewer runs at a time (default: one, and those of idle processors for the last "
     "runs)",
     OPT_UINT, AT(threads), 0, NULL},
    {"results", "FILE", "results file, in place of the study file's", OPT_TEXT, AT(results), 'r', "file"},
    {"dry-run", NULL, "list the runs and what is there of them; start none", OPT_FLAG, AT(dry_run), 'n', NULL},
    {"yes", NULL, "start a thousand runs or more without asking", OPT_FLAG, AT(yes), 'y', NULL},
    {"retry-failed", NULL, "run again what failed", OPT_FLAG, AT(retry), 0, NULL},
    {"engine", "NAME", "local (default), or slurm: an array of jobs on a cluster", OPT_TEXT, AT(engine), 'e',
     "local slurm"},
    {"script", NULL, "with slurm: write the job script, to be submitted by hand", OPT_FLAG, AT(script), 0, NULL},
    {"cancel", NULL, "with slurm: Ctrl-C cancels what is queued (else it stays)", OPT_FLAG, AT(cancel), 0, NULL},
    {"task", "N", "with a folder in place of the file: what a job script calls", OPT_UINT, AT(task), 0, NULL},
    {"live", "[every=SECONDS]",
     "what runs, IPC and hit rates of what has ended, rate, time left; redrawn on a terminal, "
     "lines elsewhere",
     OPT_MAYBE, AT(live), 0, "every=auto"},
    {"html", "FILE", "where the report goes (default: beside the results)", OPT_TEXT, AT(html), 'H', "file"},
    {"no-html", NULL, "no report", OPT_FLAG, AT(no_html), 0, NULL},
    {"quiet", NULL, "no progress, no summary, no report", OPT_FLAG, AT(quiet), 'q', NULL},
    {.name = NULL}};

const struct command cmd_study = {
    .name = "study",
    .summary = "sweeps: execute the runs of a study file that are not in the results yet",
    .usage = "[OPTIONS] FILE.yaml",
    .help =
        "A study file names programs, schemes, GPUs and parameter ranges; every combination is a run. Results go into\n"
        "one SQLite file, run by run: whatever interrupts the study, the same command continues where it stopped, and\n"
        "nothing is run twice. Runs are recognised by the SHA-256 of the complete configuration, the schemes, the\n"
        "content of the program and of the files among its arguments. A failed run keeps its log and the command\n"
        "that reproduces it, and the others continue; the exit code is then 1. docs/how-to/studies.md explains the "
        "file.\n\n"
        "Example:\n"
        "  name: l1\n"
        "  suites: [bucl]\n"
        "  schemes: [none, bucl, mrpb]\n"
        "  parameters: {l1d.sets: [32, 64], bucl.tucd: {from: 1, to: 5}}\n"
        "  limits: {time: 10 min, memory: 4 GB}\n\n"
        "  sluice study l1.yaml --dry-run          what would run\n"
        "  sluice study l1.yaml                    run it; again: what is missing\n"
        "  sluice study l1.yaml --engine slurm     the same on a cluster\n"
        "  sluice query l1.db ipc --rows workload --columns scheme\n",
    .opts = study_opts_table,
    .run = study_main,
};
