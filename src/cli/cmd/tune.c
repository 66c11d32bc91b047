/* tune.c - `sluice tune --suite S --budget N`: searches for a better composition of schemes. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "proc/child.h"
#include "cli/run/compare.h"
#include "cli/run/estimate.h"
#include "proc/jobs.h"
#include "cli/cmd/league.h"
#include "cli/cmd/study_progress.h"
#include "study/tune.h"

struct tune_opts {
  const char *suite, *size, *gpu, *schemes, *results, *estimate;
  struct opt_list sets;
  uint64_t budget, seed, jobs, hold_out;
  bool quiet, leave_one_out, csv, retry;
};

static void cell_score(struct table *t, double v) {
  if (v > 0) table_cell(t, "%.4f", v);
  else table_cell(t, "failed");
}

static void print_names(const char *title, const char *const *names, size_t n) {
  printf("%s", title);
  for (size_t i = 0; i < n; i++) printf("%s%s", i ? ", " : " ", names[i]);
  putchar('\n');
}

static void print_rounds(const struct tune_result *r) {
  static const char *const titles[] = {"round", "candidates", "workloads", "kept", "best"};
  struct table *t = table_new(titles, "rrrrr");
  for (size_t i = 0; i < r->rounds; i++) {
    table_cell(t, "%zu", i + 1);
    table_cell(t, "%zu", r->round[i].candidates);
    table_cell(t, "%zu", r->round[i].workloads);
    table_cell(t, "%zu", r->round[i].kept);
    cell_score(t, r->round[i].best);
  }
  table_print(t, stdout);
  table_free(t);
}

static void print_best(const struct tune_result *r) {
  static const char *const titles[] = {"", "searched", "held out", "schemes"};
  struct table *t = table_new(titles, "lrrl");
  for (size_t i = 0; i < r->finals; i++) {
    table_cell(t, i ? "then" : "best found");
    cell_score(t, r->final[i].train);
    cell_score(t, r->final[i].held_out);
    table_cell(t, "%s", r->final[i].list);
  }
  if (r->published_count) {
    table_cell(t, "best published");
    cell_score(t, r->published[0].train);
    cell_score(t, r->published[0].held_out);
    table_cell(t, "%s", r->published[0].list);
  }
  table_cell(t, "baseline");
  table_cell(t, "1.0000");
  table_cell(t, "1.0000");
  table_cell(t, "none");
  table_print(t, stdout);
  table_free(t);
}

static void verdict(const struct tune_result *r) {
  if (!r->finals || !r->published_count) return;
  const struct tune_candidate *b = &r->final[0], *p = &r->published[0];
  if (!strcmp(b->list, p->list)) {
    puts("\nThe best found is the best published scheme: the search found nothing better.");
    return;
  }
  printf("\nAgainst the best published scheme: %+.2f %% on the workloads searched, %+.2f %% on those held out",
         100 * (b->train / p->train - 1), 100 * (b->held_out / p->held_out - 1));
  puts(b->held_out > p->held_out ? "." : b->train > p->train ? ": it does not generalise." : ".");
}

static int print(const struct tune_result *r, const struct tune_opts *o, const char *results) {
  text_say(stdout, "IPC over the baseline's, geometric means; %zu simulations now, in %s\n", r->simulations, results);
  print_names("searched on:", r->train, r->train_count);
  print_names("held out:   ", r->held_out, r->held_out_count);
  putchar('\n');
  print_rounds(r);
  putchar('\n');
  print_best(r);
  verdict(r);
  if (r->finals) {
    char *plus = mem_text(r->final[0].list); /* a comma would begin another column there */
    for (char *p = plus; *p; p++)
      if (*p == ',') *p = '+';
    printf("\nTry it: sluice compare --suite %s --scheme 'baseline,%s'\n", o->suite, plus);
    free(plus);
  }
  return EXIT_OK;
}

/* ---- leave-one-out ---- */

static double ratio_at(const struct tune_loo *l, size_t candidate, size_t workload) {
  return candidate == SIZE_MAX ? 1 : l->ratio[candidate * l->workloads + workload];
}

static void print_left(const struct tune_loo *l) {
  static const char *const titles[] = {"left out", "chosen", "single", "its best", "chosen on the others"};
  struct table *t = table_new(titles, "lrrrl");
  for (size_t w = 0; w < l->workloads; w++) {
    const struct tune_left *f = &l->left[w];
    table_cell(t, "%s", l->workload[w]);
    cell_score(t, ratio_at(l, f->composition, w));
    cell_score(t, ratio_at(l, f->single, w));
    cell_score(t, ratio_at(l, f->best, w));
    table_cell(t, "%s", l->candidate[f->composition].list);
  }
  table_hint(t, "a wider terminal or --csv shows all");
  table_print(t, stdout);
  table_free(t);
}

static void add_mean(struct table *t, const char *what, const double *ratio, size_t n) {
  struct league_ratio r = league_ratio_of(ratio, n);
  table_cell(t, "%s", what);
  table_cell(t, "%.4f", r.mean);
  table_cell(t, "%.4f to %.4f", r.low, r.high);
}

static int print_leave_one_out(const struct tune_loo *l, const struct tune_result *r, const char *results) {
  static const char *const titles[] = {"mean over the workloads left out", "IPC", "95 % interval"};
  size_t n = l->workloads;
  double *chosen = mem_alloc(4 * n * sizeof *chosen), *single = chosen + n, *best = single + n, *over = best + n;
  for (size_t w = 0; w < n; w++) {
    chosen[w] = ratio_at(l, l->left[w].composition, w);
    single[w] = ratio_at(l, l->left[w].single, w);
    best[w] = ratio_at(l, l->left[w].best, w);
    over[w] = chosen[w] / single[w];
  }
  text_say(stdout, "IPC over the baseline's; %zu single schemes and %zu compositions; %zu simulations now, in %s\n\n",
           l->singles, l->candidates - l->singles, r->simulations, results);
  print_left(l);
  putchar('\n');
  struct table *t = table_new(titles, "lrr");
  add_mean(t, "chosen on the others", chosen, n);
  add_mean(t, "best single scheme on the others", single, n);
  add_mean(t, "chosen over single", over, n);
  add_mean(t, "the best of each, or the baseline", best, n);
  table_print(t, stdout);
  table_free(t);
  struct league_ratio d = league_ratio_of(over, n);
  const char *which = d.low > 1    ? "The composition generalises: it gains over the best single scheme."
                      : d.high < 1 ? "The composition does not generalise: the best single scheme gains more."
                                   : "A tie: the interval of their ratio holds 1.";
  printf("\n%s\nChosen on all workloads: %s; of single schemes: %s\n", which, l->candidate[l->composition].list,
         l->candidate[l->single].list);
  free(chosen);
  return EXIT_OK;
}

static void csv_list(const struct tune_loo *l, size_t candidate) {
  printf(",\"%s\"", candidate == SIZE_MAX ? "none" : l->candidate[candidate].list);
}

static int print_csv(const struct tune_loo *l) {
  puts("workload,chosen_ipc,single_ipc,best_ipc,chosen,single,best");
  for (size_t w = 0; w < l->workloads; w++) {
    const struct tune_left *f = &l->left[w];
    printf("%s,%.6g,%.6g,%.6g", l->workload[w], ratio_at(l, f->composition, w), ratio_at(l, f->single, w),
           ratio_at(l, f->best, w));
    csv_list(l, f->composition);
    csv_list(l, f->single);
    csv_list(l, f->best);
    putchar('\n');
  }
  return EXIT_OK;
}

/* ---- the command ---- */

static bool read_sets(const struct tune_opts *o, struct study_set *sets, struct arena *a, struct err *e) {
  for (size_t i = 0; i < o->sets.count; i++) {
    const char *s = o->sets.at[i], *eq = strchr(s, '=');
    if (!eq) return err_set(e, ERR_USAGE, "--set needs KEY=VALUE, not '%s'", s);
    sets[i] = (struct study_set){.key = arena_strndup(a, s, (size_t)(eq - s)), .value = eq + 1};
  }
  return true;
}

static int search(const struct tune_opts *o, struct tune_options *t, const char *results) {
  struct err e = {0};
  struct tune_result r = {0};
  int lock;
  if (!study_lock(results, &lock, &e)) return cli_fail(&e);
  bool fresh = access(results, F_OK) != 0; /* under the lock: no other process creates it */
  struct db *db = db_open(results, DB_WRITE, &e);
  if (db && db_notice(db)) text_say(stderr, "sluice: %s %s\n", results, db_notice(db));
  struct tune_loo l;
  enum study_end end = !db                ? STUDY_STOPPED
                       : o->leave_one_out ? study_tune_leave_one_out(t, db, &r, &l, &e)
                                          : study_tune(t, db, &r, &e);
  screen_clear(t->run.ctx);
  int rc = EXIT_OK;
  if (end == STUDY_STOPPED) rc = cli_fail(&e);
  else if (end == STUDY_INTERRUPTED) {
    fprintf(stderr, "sluice: interrupted; the same command continues from here\n");
    rc = 130;
  } else if (o->csv) {
    rc = print_csv(&l);
  } else if (!o->quiet) {
    rc = o->leave_one_out ? print_leave_one_out(&l, &r, results) : print(&r, o, results);
  }
  db_close(db);
  if (fresh && end == STUDY_STOPPED && !r.simulations) unlink(results);
  arena_free(&r.arena);
  study_unlock(results, lock);
  return rc;
}

static int tune_run(const struct command *self, int argc, char **argv) {
  struct tune_opts o = {.budget = 200, .seed = 1, .hold_out = 33, .size = "small", .gpu = "fermi"};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (!o.suite || first < argc)
    return err_set(&e, ERR_USAGE, o.suite ? "'%s' after the options" : "--suite is needed%.0s",
                   o.suite ? argv[first] : ""),
           command_usage(self, &e);
  if (o.hold_out < 1 || o.hold_out > 90 || o.budget < 10)
    return err_set(&e, ERR_USAGE, o.budget < 10 ? "--budget: at least 10" : "--hold-out: a percentage from 1 to 90"),
           command_usage(self, &e);
  if (o.csv && !o.leave_one_out)
    return err_set(&e, ERR_USAGE, "--csv goes with --leave-one-out: it has a row for each workload"),
           command_usage(self, &e);
  struct arena a = {0};
  char self_at[PATH_MAX], results[PATH_MAX + 16];
  const char *pool[COMPARE_COLUMNS];
  size_t pool_count = 0;
  const char *file = o.results ? o.results : arena_printf(&a, "tune-%s.db", o.suite);
  struct screen screen = {.terminal = isatty(STDERR_FILENO), .quiet = o.quiet};
  struct study_set *sets = ARENA_ARRAY(&a, struct study_set, o.sets.count + 1);
  self_path(self_at, sizeof self_at);
  double error;
  bool ok = (!o.estimate || estimate_bound(o.estimate, &error, &e)) &&
            screen_absolute(file, results, sizeof results, &e) && read_sets(&o, sets, &a, &e) &&
            (!o.schemes || compare_split(&a, o.schemes, pool, &pool_count, &e));
  if (ok) {
    signal(SIGXFSZ, SIG_IGN);
    struct tune_options t = {.suite = o.suite,
                             .size = o.size,
                             .gpu = o.gpu,
                             .estimate = o.estimate,
                             .sets = sets,
                             .set_count = o.sets.count,
                             .pool = pool,
                             .pool_count = pool_count,
                             .budget = o.budget,
                             .seed = o.seed,
                             .hold_out = (double)o.hold_out / 100,
                             .leave_one_out = o.leave_one_out,
                             .find = program_find,
                             .run = {.self = self_at,
                                     .results = results,
                                     .jobs = (unsigned)o.jobs,
                                     .retry = o.retry,
                                     .show = screen_show,
                                     .note = screen_note,
                                     .ctx = &screen}};
    rc = search(&o, &t, results);
  } else {
    rc = cli_fail(&e);
  }
  opt_list_free(&o.sets);
  arena_free(&a);
  return rc;
}

#define AT(member) offsetof(struct tune_opts, member)
static const struct opt tune_opts_table[] = {
    {"suite", "NAME", "bundled workloads of a paper: bucl, tsc, medic, decoupled-l1d, sharing, or all", OPT_TEXT,
     AT(suite), 'w', NULL},
    {"budget", "N", "simulations that the search may take (default 200)", OPT_UINT, AT(budget), 'b', NULL},
    {"schemes", "A,B", "compose these only (default: all but machines of another size)", OPT_TEXT, AT(schemes), 'S',
     "scheme"},
    {"size", "SIZE", "small (default), medium or large inputs", OPT_TEXT, AT(size), 'z', "small medium large"},
    {"estimate", "[error=2%]", "time samples of the launches (`sluice run --help`)", OPT_MAYBE, AT(estimate), 0,
     "error=2%"},
    {"hold-out", "PERCENT", "workloads that no decision looks at (default 33)", OPT_UINT, AT(hold_out), 0, NULL},
    {"leave-one-out", NULL, "leave each workload out once and choose on the others: what generalises", OPT_FLAG,
     AT(leave_one_out), 0, NULL},
    {"csv", NULL, "with --leave-one-out: comma-separated values, a row for each workload", OPT_FLAG, AT(csv), 0, NULL},
    {"seed", "N", "another search (default 1)", OPT_UINT, AT(seed), 0, NULL},
    {"gpu", "NAME|FILE", "GPU configuration (default fermi)", OPT_TEXT, AT(gpu), 'g', "gpu"},
    {"set", "KEY=VALUE", "change one knob of the GPU; may be repeated", OPT_LIST, AT(sets), 's', "knob"},
    {"results", "FILE", "results file (default tune-SUITE.db)", OPT_TEXT, AT(results), 'r', "file"},
    {"jobs", "N", "simulations at a time (default: one per processor)", OPT_UINT, AT(jobs), 'J', NULL},
    {"retry-failed", NULL, "run again what failed", OPT_FLAG, AT(retry), 0, NULL},
    {"quiet", NULL, "no progress, no tables", OPT_FLAG, AT(quiet), 'q', NULL},
    {.name = NULL}};

const struct command cmd_tune = {
    .name = "tune",
    .summary = "search for a composition of schemes that beats the published ones",
    .usage = "--suite NAME [OPTIONS]",
    .help =
        "Successive halving: many lists of up to three schemes, with parameters drawn from the schemes' tables, on "
        "few\n"
        "workloads; the best third on more; the last ones on all but those held out. Then the winner and the best\n"
        "published scheme (alone, default parameters) run on the workloads held out, which no decision uses. The\n"
        "same seed does the same search. Results go into a results file; an interrupted search continues where it\n"
        "stopped. The budget counts runs of candidates; baseline, single schemes and held-out runs come on top.\n\n"
        "--leave-one-out runs all single schemes, and as many compositions as the budget allows, on all workloads.\n"
        "Each workload is left out once: the choice is made on the others and judged on it, for compositions and\n"
        "for single schemes alike. Means have intervals; a difference inside its interval is a tie.\n\n"
        "Examples:\n"
        "  sluice tune --suite bucl --budget 300\n"
        "  sluice tune --suite bucl --leave-one-out --schemes bucl,mrpb,swl,pdp --budget 60\n"
        "  sluice tune --suite medic --schemes medic,wbyp,wip,wms,eaf,pcal --seed 2\n",
    .opts = tune_opts_table,
    .run = tune_run,
};
