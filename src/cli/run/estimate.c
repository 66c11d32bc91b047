/* estimate.c - the rounds of `sluice run --estimate`: a functional pass that gives every launch a signature, then runs
 * that time a sample of the launches each, until the interval of the cycles is within the bound.
 *
 * Every pass is a run of the program as its own process. A program that launches other kernels in each run is timed
 * whole, in one run.
 */
#include "cli/run/estimate.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/run/compare.h"
#include "proc/jobs.h"
#include "sample/inside.h"

enum { MOST_ROUNDS = 6 };
static const double margin = 0.85; /* of the bound: variances of few samples are too small as often as too large */

struct rounds {
  const struct sim_options *o;
  char **program;
  struct tempdir dir;
  struct arena arena;
  struct estimated x;
  struct job job;     /* of the last run */
  const char *record; /* and its record */
  bool given;         /* the plan was read */
  bool unlike;        /* the program launches other kernels in each run */
  int own;            /* exit code of the program */
};

/* ---- options ---- */

bool estimate_bound(const char *text, double *error, struct err *e) {
  const char *p = strncmp(text, "error=", 6) ? text : text + 6;
  char *end;
  double v = strtod(p, &end);
  if (*end == '%') end++;
  *error = v / 100;
  return (end != p && !*end && v >= 0.01 && v <= 50) ||
         err_set(e, ERR_USAGE, "--estimate needs error=PERCENT from 0.01 to 50, error=2%% say, not '%s'", text);
}

bool estimate_fits(const struct sim_options *o, struct err *e) {
  const struct {
    bool given;
    const char *name;
  } whole[] = {{o->detail, "detail"},
               {o->lines, "lines"},
               {o->characterise, "characterise"},
               {o->timeline, "timeline"},
               {o->profile, "profile"},
               {o->sample, "sample"},
               {o->check, "check"},
               {o->keep_going, "keep-going"},
               {o->launch_log, "launch-log"},
               {o->time_plan, "time-plan"},
               {o->launches && !strcmp(o->launches, "all"), "launches all"}};
  double error;
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    if (whole[i].given)
      return err_set(e, ERR_USAGE, "--%s does not go with --estimate, which times a sample only", whole[i].name);
  if (o->confidence && (o->confidence < 50 || o->confidence > 99))
    return err_set(e, ERR_USAGE, "--confidence needs a percentage from 50 to 99, not %" PRIu64, o->confidence);
  return estimate_bound(o->estimate, &error, e);
}

/* ---- one run of the program ---- */

static const char *temp_file(struct rounds *r, const char *name) {
  char path[600];
  tempdir_file(&r->dir, name, path, sizeof path);
  return arena_strdup(&r->arena, path);
}

/* The rest of the options are those of a run that times everything. */
static struct sim_options plain_options(const struct sim_options *o) {
  struct sim_options one = *o;
  one.estimate = one.estimate_plan = one.json = NULL;
  one.confidence = one.estimate_seed = 0;
  one.estimate_cold = one.estimate_validate = one.energy = one.energy_sensitivity = false;
  return one;
}

/* 0, or the exit code of a run that left no log. */
static int run_once(struct rounds *r, const struct sim_options *one, const char *what) {
  const char *scheme = one->scheme ? one->scheme : "baseline";
  r->record = temp_file(r, "record.json");
  r->job = (struct job){.argv = compare_argv(&r->arena, one, scheme, r->record, r->program)};
  unlink(r->record);
  if (!jobs_run(&r->job, 1, 1, &r->dir, what, true)) return 130;
  r->own = r->job.exit_code;
  if (r->own <= 0 || (!access(r->record, F_OK) && (!one->launch_log || !access(one->launch_log, F_OK)))) return 0;
  job_print_log(&r->job);
  return r->own;
}

/* ---- the functional pass ---- */

/* Launches that a whole run would time: those of --timing-kernels, without those of --warm, up to --max-insts. */
static struct plan_range whole_range(const struct rounds *r, const struct launchlog *l) {
  struct err ignored;
  struct plan_range range;
  uint64_t done = 0;
  sim_timing_range(r->o->timing_kernels, &range.first, &range.end, &ignored);
  if (!range.end || range.end > l->n) range.end = l->n;
  if (range.first < r->o->warm) range.first = r->o->warm < l->n ? (uint32_t)r->o->warm : l->n;
  if (!r->o->max_insts) return range;
  uint32_t i = range.first;
  for (; i < range.end && done < r->o->max_insts; i++) done += l->at[i].sig.thread_insts;
  range.end = i;
  return range;
}

static int survey(struct rounds *r, struct err *e) {
  struct sim_options one = plain_options(r->o);
  one.mode = "functional";
  one.launch_log = temp_file(r, "survey.json");
  one.timing_kernels = one.scheme = NULL;
  one.max_insts = one.warm = one.watchdog = 0;
  one.fresh = false;
  int rc = run_once(r, &one, "looking at all launches");
  if (rc) return rc;
  if (!launchlog_read(&r->x.log, one.launch_log, e)) return cli_fail(e);
  return 0;
}

static int no_launch(const struct rounds *r, struct err *e) {
  err_set(e, ERR_INPUT, "%s launched no kernel%s: there is nothing to estimate", r->program[0],
          r->x.log.n ? " in the range to be timed" : "");
  return cli_fail(e);
}

/* ---- rounds ---- */

static bool same_launch(const struct logged_launch *a, const struct logged_launch *b) {
  return !strcmp(a->kernel, b->kernel) && !memcmp(a->grid, b->grid, sizeof a->grid) &&
         !memcmp(a->block, b->block, sizeof a->block);
}

static bool one_by_one(const struct launchlog *l, struct err *e) {
  for (uint32_t i = 0; i < l->n; i++)
    if (l->at[i].overlapped)
      return err_set(e, ERR_UNSUPPORTED,
                     "launch %u (%s) ran beside others: --estimate takes launches one after the other "
                     "(--set kernels.concurrent=1 runs them so)",
                     i, l->at[i].kernel);
  return true;
}

static const char *kernel_of(const struct launchlog *l, uint32_t i) {
  return i < l->n ? l->at[i].kernel : "none";
}

/* Take the timed launches of a round, unless its launches are others than those seen before. */
static bool join(struct rounds *r, struct launchlog *l, struct err *e) {
  struct launchlog *all = &r->x.log;
  uint32_t i = 0;
  while (i < l->n && i < all->n && same_launch(&l->at[i], &all->at[i])) i++;
  if (i < l->n || i < all->n) {
    fprintf(stderr,
            "sluice: %s does not launch the same kernels every time (launch %u was %s, then %s): all launches are "
            "timed, in one run\n",
            r->program[0], i, kernel_of(all, i), kernel_of(l, i));
    r->unlike = true;
    return true;
  }
  if (!one_by_one(l, e)) return false;
  for (i = 0; i < l->n; i++) {
    struct logged_launch *from = &l->at[i], *to = &all->at[i];
    if (!from->timed) continue;
    struct logged_launch was = *to;
    to->timed = true;
    to->stats = from->stats;
    to->inside = from->inside, from->inside = was.inside;
    to->scheme = from->scheme, from->scheme = was.scheme;
    to->schemes = from->schemes, from->schemes = was.schemes;
  }
  return true;
}

/* Time members [from[c], timed) of each cluster. */
static int time_members(struct rounds *r, const uint32_t *from, struct err *e) {
  struct sample_plan part = r->x.plan;
  struct sim_options one = plain_options(r->o);
  struct launchlog log = {0};
  const char *plan = temp_file(r, "plan.json");
  char what[64];
  part.cluster = ARENA_ARRAY(&r->arena, struct plan_cluster, part.clusters + 1);
  part.clusters = 0;
  for (uint32_t c = 0; c < r->x.plan.clusters; c++) {
    struct plan_cluster k = r->x.plan.cluster[c];
    if (k.timed == from[c]) continue;
    k.launch += from[c];
    k.members -= from[c];
    k.timed -= from[c];
    part.cluster[part.clusters++] = k;
  }
  if (!r->given) part.before = NULL, plan_add_before(&part, &r->x.log);
  if (!plan_write(&part, plan, e)) {
    if (!r->given) free(part.before);
    return cli_fail(e);
  }
  one.time_plan = plan;
  one.launch_log = temp_file(r, "round.json");
  one.timing_kernels = NULL;
  one.max_insts = one.warm = 0;
  unlink(one.launch_log);
  snprintf(what, sizeof what, "timing samples, round %u", ++r->x.rounds);
  int rc = run_once(r, &one, what);
  if (rc) return rc;
  bool ok = launchlog_read(&log, one.launch_log, e);
  if (ok && !r->x.log.n) {
    r->x.log = log; /* a plan was given: this run is the first */
    log = (struct launchlog){0};
    ok = one_by_one(&r->x.log, e);
  } else if (ok) {
    ok = join(r, &log, e);
  }
  for (uint32_t i = 0; i < part.befores && part.before[i] < r->x.log.n; i++)
    r->x.detailed += (double)r->x.log.at[part.before[i]].sig.warp_insts;
  launchlog_free(&log);
  if (!r->given) free(part.before);
  return ok ? 0 : cli_fail(e);
}

/* The variance that CTAs left out may cause: half of it all, or what the launches left out leave if that is more. */
static double allowed_inside(const struct estimate_part *parts, uint32_t n, double allowed) {
  double between = 0;
  for (uint32_t c = 0; c < n; c++) between += parts[c].between;
  return fmax(allowed / 2, allowed - between);
}

static uint32_t runs_of(const struct plan_cluster *k) {
  return (k->blocks - INSIDE_ENDS) / INSIDE_RUN;
}

/* Where CTAs left out make more of the variance than `room`, time more of them: of all timed members, again. The
 * variance of a cluster is inverse to its runs of groups (Neyman's allocation, with the instructions of a run as
 * cost). */
static bool widen_inside(struct rounds *r, struct estimate_part *parts, double room, uint32_t *from) {
  struct estimated *x = &r->x;
  double sum = 0, all = 0;
  bool any = false;
  for (uint32_t c = 0; c < x->plan.clusters; c++) {
    const struct plan_cluster *k = &x->plan.cluster[c];
    if (!k->blocks) continue;
    all += parts[c].within;
    sum += sqrt(parts[c].within * runs_of(k) * k->warp_insts / plan_groups(k, &x->log));
  }
  if (all <= room) return false;
  for (uint32_t c = 0; c < x->plan.clusters; c++) {
    struct plan_cluster *k = &x->plan.cluster[c];
    if (!k->blocks) continue;
    uint32_t groups = plan_groups(k, &x->log), now = runs_of(k), runs;
    double need = ceil(sqrt(parts[c].within * now * groups / k->warp_insts) * sum / room);
    if (need <= now) continue;
    runs = need < groups ? (uint32_t)need : groups;
    k->blocks = 2 * inside_timed_groups(runs) > groups ? 0 : inside_timed_groups(runs);
    parts[c].within *= k->blocks ? now / need : 0;
    from[c] = 0;
    any = true;
  }
  return any;
}

/* Where all is timed in the end, it is timed in one run: exact. */
static void time_all_together(const struct sample_plan *p, uint32_t *from) {
  for (uint32_t c = 0; c < p->clusters; c++)
    if (p->cluster[c].blocks || p->cluster[c].timed < p->cluster[c].members) return;
  memset(from, 0, p->clusters * sizeof *from);
}

/* How many members of each cluster the bound needs; false: no more, or none are left. */
static bool ask_more(struct rounds *r, uint32_t *from) {
  struct estimated *x = &r->x;
  uint32_t n = x->plan.clusters;
  struct estimate_part *parts = ARENA_ARRAY(&r->arena, struct estimate_part, n);
  struct estimate_stratum *s = ARENA_ARRAY(&r->arena, struct estimate_stratum, n);
  double *cost = ARENA_ARRAY(&r->arena, double, n);
  uint64_t *want = ARENA_ARRAY(&r->arena, uint64_t, n);
  struct estimate t = estimate_counter(x, offsetof(struct gpu_stats, cycles), parts);
  struct estimate sampled = {.variance = t.variance - t.beside, .freedom = t.freedom};
  double half = estimate_half(&sampled, x->plan.confidence), bound = x->plan.error * t.total;
  bool more = false;
  x->reached = estimate_half(&t, x->plan.confidence) <= bound;
  for (uint32_t c = 0; c < n; c++) {
    const struct plan_cluster *k = &x->plan.cluster[c];
    s[c] = (struct estimate_stratum){.members = k->members, .timed = k->timed};
    cost[c] = k->warp_insts / k->members;
    from[c] = k->timed;
  }
  if (half <= bound || x->rounds == MOST_ROUNDS || r->given) return false;
  /* With more samples there are more degrees of freedom; the next round sees what is missing. */
  double student = estimate_student(x->plan.confidence, fmax(t.freedom, 8));
  double allowed = margin * bound / student * (margin * bound / student);
  more = widen_inside(r, parts, allowed_inside(parts, n, allowed), from);
  estimate_allocate(s, parts, cost, n, margin * bound, student, want);
  for (uint32_t c = 0; c < n; c++) {
    /* The variance of few members is uncertain: a round times at most twice as many, but the last what it takes. */
    uint64_t twice = 2ull * x->plan.cluster[c].timed;
    if (want[c] > twice && x->rounds < MOST_ROUNDS - 1) want[c] = twice;
    x->plan.cluster[c].timed = (uint32_t)want[c];
    more |= want[c] > from[c];
  }
  for (uint32_t c = 0; !more && c < n; c++) { /* the interval is too wide for few samples: one more of each */
    struct plan_cluster *k = &x->plan.cluster[c];
    if (k->timed < k->members) k->timed++, more = true;
  }
  if (more) plan_round_up(&x->plan, &x->log);
  if (more) time_all_together(&x->plan, from);
  return more;
}

static void count_detail(struct estimated *x) {
  for (uint32_t i = x->range.first; i < x->range.end && i < x->log.n; i++) {
    const struct logged_launch *l = &x->log.at[i];
    x->all += (double)l->sig.warp_insts;
    if (l->timed) x->detailed += (double)(l->inside.ctas ? l->inside.warp_insts : l->sig.warp_insts);
  }
}

static bool check_plan(const struct rounds *r, struct err *e) {
  const struct sample_plan *p = &r->x.plan;
  char *command = command_text(r->program);
  bool same = !strcmp(command, p->program);
  free(command);
  return same || err_set(e, ERR_INPUT, "%s is a plan for another program: %s", r->o->estimate_plan, p->program);
}

static void new_plan(struct rounds *r) {
  struct sample_plan *p = &r->x.plan;
  struct err e = {0};
  CHECK(estimate_bound(r->o->estimate, &p->error, &e), "%s", e.msg);
  p->confidence = r->o->confidence ? (double)r->o->confidence / 100 : 0.95;
  p->seed = r->o->estimate_seed ? r->o->estimate_seed : 1;
  p->cold = r->o->estimate_cold;
  p->program = command_text(r->program);
  r->x.range = whole_range(r, &r->x.log);
  plan_cluster_launches(p, &r->x.log, r->x.range);
  plan_first_samples(p, &r->x.log);
  plan_round_up(p, &r->x.log);
}

/* The plan of a run that times all launches, of its own log. */
static int time_whole(struct rounds *r, struct err *e) {
  struct sim_options one = plain_options(r->o);
  struct sample_plan *p = &r->x.plan;
  one.launch_log = temp_file(r, "whole.json");
  int rc = run_once(r, &one, "timing all launches");
  if (rc) return rc;
  launchlog_free(&r->x.log);
  if (!launchlog_read(&r->x.log, one.launch_log, e) || !one_by_one(&r->x.log, e)) return cli_fail(e);
  plan_free(p);
  new_plan(r);
  if (!p->clusters) return no_launch(r, e);
  for (uint32_t c = 0; c < p->clusters; c++) p->cluster[c].timed = p->cluster[c].members, p->cluster[c].blocks = 0;
  r->x.rounds++;
  r->x.reached = true;
  r->x.detailed = 0;
  count_detail(&r->x);
  return 0;
}

/* All rounds. 0, or an exit code. */
static int all_rounds(struct rounds *r, struct err *e) {
  const char *file = r->o->estimate_plan;
  bool given = r->given = file && !access(file, F_OK);
  r->x.warm = r->o->warm;
  if (given) {
    if (!plan_read(&r->x.plan, file, e) || !check_plan(r, e)) return cli_fail(e);
  } else {
    if (file && !output_prepare(file, e)) return cli_fail(e);
    int rc = survey(r, e);
    if (rc) return rc;
    new_plan(r);
    if (!r->x.plan.clusters) return no_launch(r, e);
  }
  uint32_t *from = ARENA_ARRAY(&r->arena, uint32_t, r->x.plan.clusters);
  memset(from, 0, r->x.plan.clusters * sizeof *from);
  do {
    int rc = time_members(r, from, e);
    if (rc) return rc;
    if (given && r->x.log.n != r->x.plan.launches) {
      fprintf(stderr, "sluice: %s is a plan for %u launches, here %s has %u: all launches are timed, in one run\n",
              file, r->x.plan.launches, r->program[0], r->x.log.n);
      r->unlike = true;
    }
    if (r->unlike) return time_whole(r, e);
    if (given) r->x.range = whole_range(r, &r->x.log);
  } while (ask_more(r, from));
  if (!given) plan_add_before(&r->x.plan, &r->x.log);
  if (file && !given && !plan_write(&r->x.plan, file, e)) return cli_fail(e);
  count_detail(&r->x);
  return 0;
}

/* ---- the end ---- */

static void show_program(const struct rounds *r) {
  size_t n;
  char *text = path_read_whole(r->job.log, &n);
  FILE *f = r->o->json && !strcmp(r->o->json, "-") ? stderr : stdout;
  if (text) fwrite(text, 1, n, f);
  fflush(f);
  free(text);
}

static int validate(struct rounds *r, json_t *record, struct err *e) {
  struct sim_options one = plain_options(r->o);
  bool to_stdout = r->o->json && !strcmp(r->o->json, "-");
  int rc = run_once(r, &one, "timing all launches");
  if (rc) return rc;
  json_t *truth = record_document(r->record, e);
  if (!truth) return cli_fail(e);
  estimate_validate(record, truth, to_stdout ? stderr : stdout);
  json_decref(truth);
  return 0;
}

static int end_estimate(struct rounds *r, struct err *e) {
  struct gpu_config c;
  int own = r->own;
  json_t *record = record_document(r->record, e);
  if (!record || !sim_config(r->o, &c, e)) return json_decref(record), cli_fail(e);
  show_program(r);
  estimate_into_record(&r->x, &c, record);
  const char *done = temp_file(r, "estimate.json");
  int rc = 0;
  bool ok = record_write_json(record, done, e);
  if (ok) {
    struct sim_options shown = *r->o;
    shown.json = NULL;
    rc = run_finish(done, &shown);
  }
  if (ok && !rc && r->o->estimate_validate) rc = validate(r, record, e);
  if (ok && !rc && r->o->json) ok = record_write_json(record, r->o->json, e);
  json_decref(record);
  if (!ok) return cli_fail(e);
  return rc ? rc : own > 0 ? own : 0;
}

int run_estimate(const struct command *self, const struct sim_options *o, char **argv) {
  struct err e = {0};
  struct rounds r = {.o = o, .program = argv};
  enum run_what what = is_kernel_file(argv[0]) ? RUN_KERNEL : is_trace_file(argv[0]) ? RUN_TRACE : RUN_PROGRAM;
  if (!estimate_fits(o, &e) || !run_fits(o, what, &e)) return command_usage(self, &e);
  if (!sim_check(o, &e) || !tempdir_make(&r.dir, &e)) return cli_fail(&e);
  int rc = all_rounds(&r, &e);
  if (!rc) rc = end_estimate(&r, &e);
  plan_free(&r.x.plan);
  launchlog_free(&r.x.log);
  tempdir_remove(&r.dir);
  arena_free(&r.arena);
  return rc;
}
