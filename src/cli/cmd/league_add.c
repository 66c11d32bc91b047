/* league_add.c - `sluice league --add LIST`: one more scheme on the programs, inputs and machine of a results file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/cmd/league.h"
#include "cli/cmd/study_progress.h"
#include "gpu/slots/slots.h"
#include "proc/child.h"
#include "proc/jobs.h"

static bool can_add(const struct league_options *o, struct err *e) {
  for (size_t i = 0; i < o->add.count; i++) {
    struct slots s;
    const struct scheme *search = scheme_find(o->add.at[i]);
    if (search && search->sweep) return err_set(e, ERR_USAGE, "--add: %s is a search; add what it finds", o->add.at[i]);
    if (!slots_parse(&s, o->add.at[i], e)) return false;
  }
  return true;
}

/* The study of the file with most runs on the league's machine, as it was written. */
static bool read_study(const struct league *l, const struct league_options *o, struct study *s, struct err *e) {
  const char *only = o->study ? arena_printf(&s->arena, " AND s.name = %s", sql_text(&s->arena, o->study)) : "";
  struct db_table *t = db_sql(
      l->db,
      arena_printf(&s->arena,
                   "SELECT s.name, s.file, s.text FROM plan p JOIN studies s ON s.id = p.study_id WHERE p.gpu = %s AND "
                   "ifnull(p.size, '') = %s AND s.name NOT LIKE 'league %%'%s GROUP BY s.id ORDER BY count(*) DESC",
                   sql_text(&s->arena, l->gpu), sql_text(&s->arena, l->size), only),
      e);
  bool ok = t && t->rows;
  if (t && !ok) err_set(e, ERR_INPUT, "%s: no study to add to", o->file);
  if (ok) {
    s->name = arena_strdup(&s->arena, t->cell[0].s);
    s->path = s->file = arena_strdup(&s->arena, t->cell[1].s);
    s->text = arena_strdup(&s->arena, t->cell[2].s);
    s->bytes = strlen(s->text);
  }
  db_table_free(t);
  return ok;
}

/* The league's machine and inputs alone, with the baseline and the added schemes; parameters of other schemes go. */
static void narrow_study(struct study *s, const struct league *l, const struct league_options *o) {
  size_t gpus = 0, ranges = 0;
  for (size_t i = 0; i < s->gpu_count; i++)
    if (!strcmp(s->gpus[i].name, l->gpu)) s->gpus[gpus++] = s->gpus[i];
  s->gpu_count = gpus;
  for (size_t i = 0; *l->size && i < s->size_count; i++)
    if (!strcmp(s->sizes[i], l->size)) s->sizes[0] = s->sizes[i], s->size_count = 1;
  for (size_t i = 0; i < s->range_count; i++)
    if (!s->ranges[i].scheme) s->ranges[ranges++] = s->ranges[i];
  s->range_count = ranges;
  s->schemes = ARENA_ARRAY(&s->arena, struct study_scheme, o->add.count + 1);
  s->schemes[0].list = "none";
  for (size_t i = 0; i < o->add.count; i++) s->schemes[1 + i].list = o->add.at[i];
  s->scheme_count = o->add.count + 1;
  s->name = arena_printf(&s->arena, "league %s", s->schemes[1].list);
}

static int run_added(struct study *s, const struct league_options *o, const char *results) {
  struct err e = {0};
  struct study_runs r;
  struct study_progress p = {0};
  struct screen screen = {.terminal = isatty(STDERR_FILENO)};
  char self[PATH_MAX];
  int lock;
  self_path(self, sizeof self);
  signal(SIGXFSZ, SIG_IGN);
  if (!study_expand(s, &r, program_find, &e) || !study_lock(results, &lock, &e)) return cli_fail(&e);
  struct db *db = db_open(results, DB_WRITE, &e);
  struct study_options so = {.self = self,
                             .results = results,
                             .jobs = (unsigned)o->jobs,
                             .show = screen_show,
                             .note = screen_note,
                             .ctx = &screen};
  enum study_end end = STUDY_STOPPED;
  if (db && db_study_put(db, s->name, s->file, s->text, r.plan, r.plan_count, &e) > 0)
    end = study_run(s, &r, &so, db, &p, &e);
  screen_clear(&screen);
  db_close(db);
  study_unlock(results, lock);
  if (end == STUDY_STOPPED) return cli_fail(&e);
  if (end == STUDY_COMPLETE) return EXIT_OK;
  fprintf(stderr, "sluice: interrupted; the same command continues from here\n");
  return 130;
}

int league_add(const struct league_options *o) {
  struct err e = {0};
  struct league l = {0};
  struct study s = {0};
  char results[PATH_MAX];
  int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
  bool ok = can_add(o, &e) && screen_absolute(o->file, results, sizeof results, &e) &&
            (l.db = db_open(o->file, DB_READ, &e)) && league_load(&l, o, &e) && read_study(&l, o, &s, &e);
  if (ok) { /* paths of a study are relative to its folder: beside its results, if it says nothing else */
    char *slash = strrchr(results, '/'), folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - results) + 1, results);
    if (chdir(folder)) ok = err_set(&e, ERR_INPUT, "cannot go to '%s': %s", folder, strerror(errno));
  }
  ok = ok && study_parse(&s, &e);
  if (ok) narrow_study(&s, &l, o);
  league_free(&l);
  rc = ok ? run_added(&s, o, results) : cli_fail(&e);
  if (here >= 0 && fchdir(here)) rc = EXIT_USAGE;
  if (here >= 0) close(here);
  study_free(&s);
  return rc;
}
