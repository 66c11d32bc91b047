/* db.c - `sluice db`: shows, checks and recovers a results file. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/tables/rows.h"

struct db_opts {
  const char *output;
};

static int info(const char *file, struct err *e) {
  struct db *db = db_open(file, DB_READ, e);
  if (!db) return cli_fail(e);
  struct db_table *t = db_sql(db,
                              "SELECT study, count(*) AS planned, sum(status = 'done') AS done, sum(status = 'failed') "
                              "AS failed, sum(status = 'missing') AS missing FROM results GROUP BY study ORDER BY "
                              "(SELECT id FROM studies WHERE name = study)",
                              e);
  if (t) rows_print(t, DB_TEXT, stdout);
  db_table_free(t);
  t = t ? db_sql(
              db,
              "SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM runs WHERE hash NOT IN (SELECT hash "
              "FROM plan)) AS \"in no study\", (SELECT count(*) FROM kernels) AS kernels, (SELECT count(*) FROM "
              "configurations) AS configurations, (SELECT count(*) FROM counters) AS counters, (SELECT "
              "count(DISTINCT simulator) FROM runs) AS \"builds of sluice\", (SELECT user_version FROM "
              "pragma_user_version) AS version",
              e)
        : NULL;
  if (t) {
    puts("");
    rows_print(t, DB_TEXT, stdout);
  }
  int rc = t ? EXIT_OK : cli_fail(e);
  db_table_free(t);
  db_close(db);
  return rc;
}

static int check_file(const char *file, struct err *e) {
  struct db *db = db_open(file, DB_READ, e);
  bool ok = db && db_check(db, e);
  db_close(db);
  if (ok) text_say(stdout, "%s is sound\n", file);
  if (ok) return EXIT_OK;
  cli_fail(e);
  return EXIT_CHECK;
}

static int migrate(const char *file, struct err *e) {
  if (access(file, F_OK)) return err_set(e, ERR_INPUT, "cannot open '%s': %s", file, strerror(errno)), cli_fail(e);
  struct db *db = db_open(file, DB_WRITE, e);
  if (!db) return cli_fail(e);
  if (db_notice(db)) text_say(stdout, "%s %s\n", file, db_notice(db));
  text_say(stdout, "%s is of version %d\n", file, DB_VERSION);
  db_close(db);
  return EXIT_OK;
}

static int seal(const char *file, struct err *e) {
  if (!db_seal_file(file, e)) return cli_fail(e);
  text_say(stdout, "what stands in %s is taken as right: its checksums were made again\n", file);
  return EXIT_OK;
}

static void show_recovery(void *p, double done, double total) {
  progress_show(p, "copying", done, total);
}

static int recover(const char *file, const char *output, struct err *e) {
  struct arena a = {0};
  const char *to = output ? output : arena_printf(&a, "%s.recovered", file);
  struct db_saved n;
  struct progress p;
  progress_start(&p);
  /* Remove incomplete output first, then end by the signal. */
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_BLOCK, &stop, &before);
  bool ok = db_recover(file, to, &n, show_recovery, &p, e);
  progress_clear(&p);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (ok) {
    text_say(stdout, "%zu whole runs and %zu %s were copied to %s; %s is as it was\n", n.runs, n.studies,
             n.studies == 1 ? "study" : "studies", to, file);
    if (n.lost)
      text_say(stdout, "%zu %s damaged and left out: the same `sluice study` with --results %s runs what is missing\n",
               n.lost, n.lost == 1 ? "run is" : "runs are", to);
    if (n.plans_lost)
      text_say(stdout,
               "of %zu %s the list of runs is damaged and left out: the same `sluice study` with --results %s makes it "
               "again\n",
               n.plans_lost, n.plans_lost == 1 ? "study" : "studies", to);
    text_say(stdout, "%s", n.which);
  }
  arena_free(&a);
  return ok ? EXIT_OK : cli_fail(e);
}

static int db_run(const struct command *self, int argc, char **argv) {
  static const char *const verbs[] = {"info", "check", "recover", "migrate", "seal"};
  struct db_opts o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  const char *verb = first < argc ? argv[first++] : NULL, *file = first < argc ? argv[first++] : NULL;
  if (file && first < argc) { /* options may follow the file */
    int more = opt_parse(self->opts, &o, argc - first + 1, argv + first - 1, &e);
    if (more < 0) return command_usage(self, &e);
    first += more - 1;
  }
  if (!file || first < argc)
    return err_set(&e, ERR_USAGE, "a verb and one results file are needed"), command_usage(self, &e);
  if (!strcmp(verb, "info")) return info(file, &e);
  if (!strcmp(verb, "check")) return check_file(file, &e);
  if (!strcmp(verb, "migrate")) return migrate(file, &e);
  if (!strcmp(verb, "seal")) return seal(file, &e);
  if (!strcmp(verb, "recover")) return recover(file, o.output, &e);
  const char *near = err_nearest(verb, verbs, 5);
  err_set(&e, ERR_USAGE, "unknown verb '%s'; %s%s%s", verb,
          near ? "did you mean '" : "it is info, check, recover, migrate or seal", near ? near : "", near ? "'?" : "");
  return command_usage(self, &e);
}

static const struct opt db_opts_table[] = {{"output", "FILE", "with recover: where to (default FILE.db.recovered)",
                                            OPT_TEXT, offsetof(struct db_opts, output), 'o', "file"},
                                           {.name = NULL}};

const struct command cmd_db = {
    .name = "db",
    .summary = "results files: what is in one, is it sound, save what can be saved",
    .usage = "info|check|recover|migrate|seal FILE.db [-o FILE]",
    .help =
        "info     studies and how far they are, counts of everything\n"
        "check    SQLite's own checks, and the checksum of every record; exit code 1 when something is wrong\n"
        "recover  copies every run that is sound into a new file; the damaged one stays as it is. Exit code 2 when\n"
        "         there is nothing to save\n"
        "migrate  brings a file of an older sluice to the present version (studies do so by themselves)\n"
        "seal     after your own changes by SQL: takes what stands in the file as right, and makes its checksums "
        "again\n\n"
        "Examples:\n  sluice db info l1.db\n  sluice db recover l1.db -o saved.db\n",
    .opts = db_opts_table,
    .run = db_run,
};
