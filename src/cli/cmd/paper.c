/* paper.c - `sluice paper NAME`: a paper's whole evaluation. Reads the figure files of the paper, runs every simulation
 * that they name and that has not been run before, and hands the records to share/sluice/paper.mjs, which draws.
 *
 * A run is kept as DIR/runs/HASH.json, where HASH stands for everything that decides its outcome: simulator, program,
 * GPU, scheme, knobs, size. A record appears there whole or not at all, so a run that was interrupted is simply missing
 * and the next call continues where the last one stopped.
 */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/output.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/cmd/figurefile.h"
#include "cli/cmd/figures_draw.h"
#include "cli/cmd/paper.h"
#include "cli/run/estimate.h"
#include "proc/jobs.h"
#include "report/report.h"
#include "results/record.h"
#include "results/stored.h"

static const char *const papers[] = {"bucl", "tsc", "medic", "decoupled-l1d", "sharing"};
enum { PAPERS = sizeof papers / sizeof *papers };

/* ---- the figures of a paper ---- */

static int is_yaml(const struct dirent *d) {
  size_t n = strlen(d->d_name);
  return n > 5 && !strcmp(d->d_name + n - 5, ".yaml");
}

/* True if this call draws it. --quick: only figures that small inputs can show, unless requested by name. */
static bool figure_wanted(const json_t *f, const struct paper *p, const struct paper_options *o) {
  if (strcmp(paper_text(f, "paper"), p->name)) return false;
  if (o->only) return !strcmp(paper_text(f, "figure"), o->only);
  return !o->quick || o->list || json_is_true(json_object_get(f, "small"));
}

static bool load_figures(struct paper *p, const struct paper_options *o, struct err *e) {
  char dir[PATH_MAX];
  struct dirent **name = NULL;
  path_find(dir, sizeof dir, "figures");
  int n = scandir(dir, &name, is_yaml, versionsort);
  if (n < 0) return err_set(e, ERR_INPUT, "no figure files in '%s': `make` puts them there", dir);
  p->figures = json_array();
  for (int i = 0; i < n; i++) {
    json_t *f = e->code ? NULL : figure_load(arena_printf(&p->arena, "%s/%s", dir, name[i]->d_name), e);
    if (f && figure_wanted(f, p, o)) json_array_append(p->figures, f);
    json_decref(f);
    free(name[i]);
  }
  free(name);
  if (!e->code && o->only && !json_array_size(p->figures))
    return err_set(e, ERR_USAGE, "%s has no figure '%s'; `sluice paper --list %s` names them", p->name, o->only,
                   p->name);
  return !e->code;
}

/* ---- the runs of a figure ---- */

static uint64_t hash_file(uint64_t h, const char *path) {
  size_t n = 0;
  char *s = path_read_whole(path, &n);
  h = hash_bytes(h, s ? s : "", s ? n : 0);
  free(s);
  return h;
}

static uint64_t hash_text(uint64_t h, const char *s) {
  return hash_bytes(h, s, strlen(s) + 1);
}

static uint64_t identity(struct paper *p, const struct workload *w, const char *gpu, const char *list,
                         const json_t *set, const char *size, const json_t *original) {
  char path[PATH_MAX], program[PATH_MAX];
  uint64_t h = hash_text(hash_text(hash_u64(p->simulator), w->name), size);
  if (p->stored) program[0] = 0; /* nothing is going to run */
  else if (original) h = paper_originals_hash(h, original);
  else if (program_find(w->name, program, sizeof program)) h = hash_file(h, program);
  h = hash_text(hash_text(h, gpu), list);
  if (p->warm) h = hash_u64(h ^ p->warm);
  if (p->estimate) h = hash_text(h, p->estimate);
  if (!p->stored && path_find(path, sizeof path, arena_printf(&p->arena, "configs/%s.yaml", gpu)))
    h = hash_file(h, path);
  char *knobs = json_dumps(set ? set : json_null(), JSON_ENCODE_ANY | JSON_SORT_KEYS);
  h = hash_text(h, knobs);
  free(knobs);
  return h;
}

static void add_run(struct paper *p, const json_t *figure, const struct workload *w, const char *list,
                    const json_t *column) {
  const char *gpu = column_gpu(figure, column), *size = paper_size(p, figure);
  json_t *original = p->originals ? paper_originals_run(p, w, size) : NULL;
  if (p->originals && !original) return;
  json_t *set = column_set(figure, column), *words = NULL;
  double most = 0;
  char hash[20];
  uint64_t h = identity(p, w, gpu, list, set, size, original);
  if (p->inputs) {
    words = paper_input(p, w->alias, &most);
    char *text = json_dumps(words, JSON_COMPACT);
    h = hash_text(h, arena_printf(&p->arena, "%s %.0f", text, most));
    free(text);
  }
  snprintf(hash, sizeof hash, "%016llx", (unsigned long long)h);
  json_t *r = json_object_get(p->runs, hash);
  if (!r) {
    int at = !strcmp(size, "medium") ? 1 : !strcmp(size, "large") ? 2 : 0;
    r = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:O, s:s, s:s, s:f}", "workload", w->name, "alias", w->alias, "group",
                  w->group, "suite", paper_text(figure, "suite"), "scheme", list, "gpu", gpu, "set", set, "size", size,
                  "hash", hash, "seconds", original ? 0 : w->seconds[at]);
    if (original) json_object_update(r, original);
    if (words) json_object_set(r, "words", words), json_object_set_new(r, "max_insts", json_real(most));
    json_object_set_new(p->runs, hash, r);
  }
  if (json_is_true(json_object_get(figure, "characterise"))) json_object_set_new(r, "characterise", json_true());
  json_decref(original);
  json_decref(words);
  json_decref(set);
}

/* One column of a figure: a scheme list, or a mapping with list or among, gpu and set. */
static void add_runs(struct paper *p, const json_t *figure, const struct workload_list *l, const json_t *column) {
  json_t *only = json_object_get(figure, "workloads"), *groups = json_object_get(figure, "groups"), *one;
  const json_t *among = json_object_get(column, "among");
  size_t k;
  for (size_t i = 0; i < l->count; i++) {
    const struct workload *w = &l->at[i];
    bool in = !only, of = !groups;
    json_array_foreach(only, k, one) in |= !strcmp(json_string_value(one), w->alias);
    json_array_foreach(groups, k, one) of |=
        !strcmp(json_string_value(one), w->group) || !strcmp(json_string_value(one), "*");
    if (!in || !of || (p->program && strcmp(p->program, w->alias) != 0)) continue;
    if (column_list(column)) add_run(p, figure, w, column_list(column), column);
    json_array_foreach(among, k, one) add_run(p, figure, w, json_string_value(one), column);
  }
}

const char *paper_size(const struct paper *p, const json_t *figure) {
  const char *own = paper_text(figure, "size");
  return *own ? own : p->size;
}

bool paper_plan_figure(struct paper *p, const json_t *figure, struct err *e) {
  struct workload_list l = {0};
  const char *label;
  json_t *column;
  bool ok = workloads_load(&l, paper_text(figure, "suite"),
                           p->stored || p->originals || p->inputs ? NULL : paper_size(p, figure), e);
  if (ok) json_object_foreach(json_object_get(figure, "schemes"), label, column) add_runs(p, figure, &l, column);
  workloads_free(&l);
  return ok;
}

bool paper_plan(struct paper *p, struct err *e) {
  json_t *f;
  size_t i;
  p->runs = json_object();
  json_array_foreach(p->figures, i, f) if (!paper_plan_figure(p, f, e)) return false;
  return true;
}

/* The search's outcome on the default input is what runs on the others. */
static const char *list_to_run(const json_t *r) {
  return *paper_text(r, "chosen") ? paper_text(r, "chosen") : paper_text(r, "scheme");
}

static char **run_argv(struct paper *p, const json_t *r, const char *record) {
  json_t *set = json_object_get(r, "set"), *words = json_object_get(r, "arguments"), *own = json_object_get(r, "words"),
         *v;
  size_t most_words = 34 + 2 * json_object_size(set) + json_array_size(words) + json_array_size(own);
  char **a = ARENA_ARRAY(&p->arena, char *, most_words), self[PATH_MAX];
  size_t n = 0, i;
  const char *knob;
  self_path(self, sizeof self);
#define ARG(s) a[n++] = arena_strdup(&p->arena, s)
  char data[PATH_MAX]; /* of this command, absolute: the program runs in a folder of its own */
  if (words) ARG("/usr/bin/env"), ARG("-C"), ARG(paper_text(r, "folder"));
  if (words && getenv("SLUICE_DATA") && realpath(getenv("SLUICE_DATA"), data))
    ARG(arena_printf(&p->arena, "SLUICE_DATA=%s", data));
  ARG(self), ARG("run"), ARG("--quiet"), ARG("--json"), ARG(record), ARG("--gpu"), ARG(paper_text(r, "gpu"));
  ARG("--scheme"), ARG(list_to_run(r));
  if (json_is_true(json_object_get(r, "characterise"))) ARG("--characterise");
  if (paper_estimates(p, r)) ARG(arena_printf(&p->arena, "--estimate=%s", p->estimate));
  if (paper_estimates(p, r)) ARG("--estimate-plan"), ARG(paper_estimate_plan(p, r));
  json_object_foreach(set, knob, v) {
    char *value = json_is_string(v) ? strdup(json_string_value(v)) : json_dumps(v, JSON_ENCODE_ANY);
    ARG("--set"), ARG(arena_printf(&p->arena, "%s=%s", knob, value));
    free(value);
  }
  double most = json_number_value(json_object_get(r, "max_insts"));
  if (p->warm) ARG(arena_printf(&p->arena, "--warm=%llu", (unsigned long long)p->warm));
  if (most > 0) ARG(arena_printf(&p->arena, "--max-insts=%.0f", most));
  if (*paper_text(r, "launches")) ARG("--timing-kernels"), ARG(paper_text(r, "launches"));
  if (words) ARG("--"), ARG(paper_text(r, "program"));
  else ARG("--"), ARG(paper_text(r, "workload"));
  if (!words && !own) ARG("--size"), ARG(paper_text(r, "size"));
  json_array_foreach(words, i, v) ARG(json_string_value(v));
  json_array_foreach(own, i, v) ARG(json_string_value(v));
  json_int_t seed = json_integer_value(json_object_get(r, "seed")); /* 1 is that of the default input */
  if (seed > 0) ARG("--seed"), ARG(arena_printf(&p->arena, "%lld", (long long)seed + 1));
#undef ARG
  return a;
}

bool paper_have(const json_t *r, const char *file) {
  if (access(file, R_OK)) return false;
  json_t *doc = json_load_file(file, 0, NULL), *kernel;
  bool needs = json_is_true(json_object_get(r, "characterise"));
  bool found = !needs || !json_array_size(json_object_get(doc, "kernels"));
  size_t k;
  json_t *entries = record_entries_of(doc);
  json_array_foreach(entries, k, kernel) found |= json_object_get(kernel, "loads") != NULL;
  found = found && doc && !json_object_get(doc, "ended"); /* an interrupted run writes a partial record */
  json_decref(entries);
  json_decref(doc);
  return found;
}

/* Those of `every` without a record; how many. */
static size_t not_run(struct paper *p, json_t **every, size_t all, json_t **of) {
  size_t n = 0;
  for (size_t i = 0; i < all; i++) {
    json_t *r = every[i];
    const char *file =
        arena_printf(&p->arena, "%s/runs/%s.json", p->originals ? p->whole : p->out, paper_text(r, "hash"));
    json_object_set_new(r, "file", json_string(file));
    if (!json_object_get(r, "failed") && !paper_have(r, file)) of[n++] = r;
  }
  return n;
}

bool paper_simulate(struct paper *p, const struct paper_options *o, const struct tempdir *dir) {
  size_t n, all, plans;
  json_t **every = paper_every_run(p, &all), **of = ARENA_ARRAY(&p->arena, json_t *, all);
  p->job = ARENA_ARRAY(&p->arena, struct job, all);
  n = not_run(p, every, all, of);
  plans = p->estimate ? paper_estimate_order(p, of, n) : 0;
  for (size_t i = 0; i < n; i++) {
    double seconds = json_number_value(json_object_get(of[i], "seconds"));
    p->job[i] =
        (struct job){.argv = run_argv(p, of[i], paper_text(of[i], "file")), .weight = seconds > 0 ? seconds : 1};
  }
  p->jobs = n;
  if (o->sensitivity) printf("%zu runs of the baseline, %zu of them to simulate\n", all, n);
  else printf("%zu figures and tables, %zu runs, %zu of them to simulate\n", json_array_size(p->figures), all, n);
  fflush(stdout);
  bool all_ran = !plans || jobs_run(p->job, plans, (unsigned)o->jobs, dir, "choosing what to time", false);
  if (all_ran && n > plans) all_ran = jobs_run(p->job + plans, n - plans, (unsigned)o->jobs, dir, "simulating", false);
  paper_note_times(p, of);
  if (!all_ran) return false;
  for (size_t i = 0; i < n; i++) {
    if (p->job[i].exit_code <= 0 || (p->originals && p->job[i].exit_code == EXIT_STRAY)) continue; /* as published */
    p->failed++;
    if (p->originals) unlink(paper_text(of[i], "file")); /* what it counted until it failed is not the program's */
    json_object_set_new(of[i], "failed", json_integer(p->job[i].exit_code));
    fprintf(stderr, "sluice: %s under '%s' ended with code %d:\n", paper_text(of[i], "workload"),
            paper_text(of[i], "scheme"), p->job[i].exit_code);
    job_print_log(&p->job[i]);
  }
  return true;
}

/* ---- drawing ---- */

/* A copy for drawing, of the run and of those of further seeds. */
static json_t *without_values(const json_t *r) {
  json_t *copy = json_copy((json_t *)r), *seeds = json_object_get(r, "seeds"), *copies = json_array(), *one;
  size_t i;
  json_array_foreach(seeds, i, one) json_array_append_new(copies, without_values(one));
  json_object_del(copy, "values");
  if (seeds) json_object_set(copy, "seeds", copies);
  json_decref(copies);
  return copy;
}

static bool draw_figures(struct paper *p, struct err *e) {
  const char *hash;
  json_t *r, *runs = json_array();
  json_object_foreach(p->runs, hash, r) json_array_append_new(runs, without_values(r));
  json_t *doc = json_pack("{s:s, s:s, s:s, s:O, s:O, s:O*, s:o}", "paper", p->name, "size", p->size, "origin",
                          p->origin ? p->origin : "", "figures", p->figures, "claims", p->claims, "order", p->order,
                          "runs", runs);
  return figures_draw(doc, p->out, false, e);
}

static bool write_report(struct paper *p, const char *typed, struct err *e) {
  json_t *drawn = json_load_file(arena_printf(&p->arena, "%s/figures.json", p->out), 0, NULL), *r;
  void **record = ARENA_ARRAY(&p->arena, void *, json_object_size(p->runs));
  json_t *keep = json_array();
  const char *hash;
  size_t n = 0;
  json_object_foreach(p->runs, hash, r) {
    json_t *doc =
        p->stored ? NULL : json_load_file(paper_text(r, "file"), 0, NULL); /* stored: no launches to look at */
    if (!doc) continue;
    if (json_is_string(json_object_get(r, "scheme"))) json_object_set(doc, "scheme", json_object_get(r, "scheme"));
    json_array_append_new(keep, doc);
    record[n++] = doc;
  }
  bool ok = report_write(
      arena_printf(&p->arena, "%s/report.html", p->out),
      &(struct report_input){.title = arena_printf(&p->arena, "%s, %s%s", p->name,
                                                   p->stored ? "stored results" : p->size, p->stored ? "" : " inputs"),
                             .command = typed,
                             .records = record,
                             .count = n,
                             .figures = drawn,
                             .claims = p->claims,
                             .order = p->order ? paper_text(p->order, "text") : NULL,
                             .origin = p->origin},
      e);
  json_decref(keep);
  json_decref(drawn);
  return ok;
}

/* ---- the command ---- */

static bool prepare_folder(struct paper *p, const struct paper_options *o, const char *name, struct err *e) {
  p->name = name;
  p->size = o->size ? o->size : o->quick ? "small" : "medium"; /* --stored: of every figure its own */
  p->quick = o->quick;
  p->readings = o->sensitivity;
  p->warm = o->warm;
  p->estimate = o->estimate;
  char lib[PATH_MAX];
  path_lib(lib, sizeof lib);
  p->simulator = hash_file(HASH_INIT, arena_printf(&p->arena, "%s/libsluice-core.so", lib));
  if (!(o->sensitivity ? sensitivity_load(p, e) : load_figures(p, o, e))) return false;
  if (o->originals && !paper_originals_load(p, o->originals, o->only != NULL, e)) return false;
  p->program = o->program;
  if (!strcmp(p->size, "paper") && !o->originals && !o->stored && !paper_inputs_load(p, e)) return false;
  if (o->stored && !o->list && !paper_stored_open(p, o->quick ? "small" : o->size, e)) return false;
  if (!paper_plan(p, e)) return false;
  if (p->program && !json_object_size(p->runs))
    return err_set(e, ERR_USAGE, "no figure here has a program '%s'; `sluice workloads --suite %s` names them",
                   p->program, p->name);
  return true;
}

static bool make_folders(struct paper *p, struct err *e) {
  const char *runs = arena_printf(&p->arena, "%s/runs", p->out);
  if ((mkdir(p->out, 0777) && errno != EEXIST) || (mkdir(runs, 0777) && errno != EEXIST))
    return err_set(e, ERR_OUTPUT, "cannot make '%s': %s", runs, strerror(errno));
  const char *plans = arena_printf(&p->arena, "%s/plans", p->out);
  if (p->estimate && mkdir(plans, 0777) && errno != EEXIST)
    return err_set(e, ERR_OUTPUT, "cannot make '%s': %s", plans, strerror(errno));
  return true;
}

/* Remove the figures of an earlier call. */
static bool clear_figures(struct paper *p, struct err *e) {
  static const char *const ends[] = {"svg", "pdf", "png", "csv"}, *const others[] = {"data.json", "figures.json",
                                                                                     "report.html"};
  json_t *f;
  size_t i;
  bool ok = true;
  for (size_t k = 0; k < 3; k++) ok = ok && output_prepare(arena_printf(&p->arena, "%s/%s", p->out, others[k]), e);
  json_array_foreach(p->figures, i, f) for (size_t k = 0; k < 4; k++) ok =
      ok && output_prepare(arena_printf(&p->arena, "%s/%s.%s", p->out, paper_text(f, "figure"), ends[k]), e);
  return ok;
}

static void print_figures(const struct paper *p) {
  json_t *f;
  size_t i;
  json_array_foreach(p->figures, i, f)
      printf("%-20s %-10s %s\n", paper_text(f, "figure"), paper_text(f, "where"), paper_text(f, "title"));
}

static bool is_paper(const char *name, struct err *e) {
  for (size_t i = 0; i < PAPERS; i++)
    if (!strcmp(name, papers[i])) return true;
  const char *near = err_nearest(name, papers, PAPERS);
  return err_set(e, ERR_USAGE, "unknown paper '%s'%s%s%s; there are bucl, tsc, medic, decoupled-l1d, sharing, and all",
                 name, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void say_quick(const struct paper_options *o) {
  if (!o->quick || o->list || o->sensitivity) return;
  puts("small inputs fit the caches: they cannot show speed, hit rates, traffic, latency or energy, only what follows "
       "from the requests of the threads; omit --quick for the rest");
}

static int run_sensitivity(struct paper *p, const struct paper_options *o, struct err *e) {
  struct tempdir dir = {0};
  int rc = EXIT_OK;
  if (make_folders(p, e) && tempdir_make(&dir, e)) {
    if (p->stored) {
      paper_stored_attach(p);
      printf("%s: readings of its machine, %s inputs, %s\n", p->name, p->size, p->origin);
    }
    if (!p->stored && !paper_simulate(p, o, &dir)) rc = 130;
    else if (o->store && !paper_store(p, o->store, o->commit, e)) rc = EXIT_OK;
    else if (sensitivity_print(p, e) && p->failed) rc = EXIT_CHECK;
  }
  tempdir_remove(&dir);
  return rc;
}

/* One paper, with its counts of verdicts and its rows added to `claims`. */
static int evaluate(struct paper *p, const struct paper_options *o, const char *typed, FILE *claims,
                    size_t count[VERDICTS], struct err *e) {
  struct tempdir dir = {0};
  double started = cli_seconds();
  int rc = EXIT_OK;
  bool ready = make_folders(p, e) && clear_figures(p, e) && tempdir_make(&dir, e);
  if (ready && p->originals) ready = paper_originals_prepare(p, e);
  if (ready) {
    if (p->stored) {
      paper_stored_attach(p);
      paper_stored_print(p);
    }
    json_t *planned = json_deep_copy(p->figures); /* claims change the figures */
    if (!p->stored && (!paper_simulate(p, o, &dir) || !paper_seeds(p, o, &dir, e))) rc = e->code ? EXIT_OK : 130;
    else if (o->store && !paper_store(p, o->store, o->commit, e)) rc = EXIT_OK;
    else if (paper_claims(p, e) && paper_beside(p, planned, e) && draw_figures(p, e) && write_report(p, typed, e)) {
      text_say(stdout, "%s: figures as SVG, PDF and PNG, data as CSV, report.html, in %.0f s\n", p->out,
               cli_seconds() - started);
      if (p->inputs) paper_inputs_print(p);
      if (p->estimate) paper_estimate_print(p);
      paper_claims_rows(p, claims, count);
      rc = p->failed ? EXIT_CHECK : EXIT_OK;
    }
    json_decref(planned);
  }
  tempdir_remove(&dir);
  return rc;
}

static void print_count(const char *name, const size_t count[VERDICTS]) {
  size_t all = 0;
  for (int v = 0; v < VERDICTS; v++) all += count[v];
  printf("%s: of %zu published numbers", name, all);
  for (int v = 0; v < VERDICTS; v++) printf("%s %zu %s", v ? "," : "", count[v], verdict_names[v]);
  puts("");
}

/* `name` or, for "all", every paper in turn. */
static int run_papers(const struct paper_options *o, const char *name, const char *typed, struct err *e) {
  bool all = !strcmp(name, "all");
  char *text = NULL;
  size_t bytes = 0;
  size_t sum[VERDICTS] = {0};
  int rc = EXIT_OK;
  say_quick(o);
  if (o->claims && !output_prepare(o->claims, e)) return EXIT_OK;
  FILE *claims = open_memstream(&text, &bytes);
  CHECK(claims, "out of memory");
  paper_claims_titles(claims, all);
  for (size_t i = 0; i < PAPERS && !e->code && rc != 130; i++) {
    struct paper p = {.all = all};
    size_t count[VERDICTS] = {0};
    if (!all && strcmp(name, papers[i])) continue;
    p.out = o->out && all ? arena_printf(&p.arena, "%s/%s", o->out, papers[i])
            : o->out      ? o->out
                          : arena_printf(&p.arena, "paper-%s", papers[i]);
    if (all && o->out && !o->list && mkdir(o->out, 0777) && errno != EEXIST)
      err_set(e, ERR_OUTPUT, "cannot make '%s': %s", o->out, strerror(errno));
    else if (prepare_folder(&p, o, papers[i], e) && o->list) print_figures(&p);
    else if (!e->code && o->sensitivity) rc = run_sensitivity(&p, o, e);
    else if (!e->code) {
      int one = evaluate(&p, o, typed, claims, count, e);
      if (one) rc = one;
      if (!e->code && one != 130) print_count(papers[i], count);
      if (!e->code && one != 130 && o->stored) paper_claims_shares(&p);
      if (!e->code && one != 130) paper_order_print(&p);
    }
    for (int v = 0; v < VERDICTS; v++) sum[v] += count[v];
    json_decref(p.figures);
    json_decref(p.runs);
    json_decref(p.claims);
    json_decref(p.order);
    json_decref(p.reasons);
    json_decref(p.inputs);
    stored_free(p.stored);
    arena_free(&p.arena);
  }
  if (all && !e->code && rc != 130 && !o->list) print_count("all", sum);
  fclose(claims);
  if (o->claims && !e->code && rc != 130 && !path_write_whole(o->claims, text, bytes))
    output_failed(o->claims, errno, e);
  free(text);
  return rc;
}

static bool options_agree(const struct paper_options *o, bool all, struct err *e) {
  if (all && o->only) return err_set(e, ERR_USAGE, "--only names a figure of one paper");
  if (all && o->sensitivity) return err_set(e, ERR_USAGE, "--sensitivity is of one paper");
  if (all && o->store) return err_set(e, ERR_USAGE, "--store is of one paper");
  if (o->originals && (all || o->stored || o->sensitivity || o->quick))
    return err_set(e, ERR_USAGE, "--originals runs the original programs of one paper: leave out %s",
                   all         ? "all"
                   : o->stored ? "--stored"
                   : o->quick  ? "--quick"
                               : "--sensitivity");
  if (o->stored && o->store) return err_set(e, ERR_USAGE, "--stored runs nothing: leave out --store");
  if (o->seeds > 1 && (o->stored || o->originals || o->sensitivity))
    return err_set(e, ERR_USAGE, "--seeds is of simulations of the bundled workloads: leave out %s",
                   o->stored      ? "--stored, which has the seeds that are stored"
                   : o->originals ? "--originals"
                                  : "--sensitivity");
  if (o->warm && (o->stored || o->store))
    return err_set(e, ERR_USAGE, "the stored results are of a cold start: leave out --warm");
  if (o->estimate && (o->stored || o->store))
    return err_set(e, ERR_USAGE, "stored results are of whole runs: leave out --%s", o->stored ? "stored" : "store");
  double error;
  if (o->estimate && !estimate_bound(o->estimate, &error, e)) return false;
  if (!o->store != !o->commit) return err_set(e, ERR_USAGE, "--store FILE and --commit HASH go together");
  if (o->commit && (strlen(o->commit) != 40 || strspn(o->commit, "0123456789abcdef") != 40))
    return err_set(e, ERR_USAGE, "--commit takes 40 hexadecimal digits, as `git rev-parse HEAD` prints them");
  return true;
}

static int paper_run(const struct command *self, int argc, char **argv) {
  struct paper_options o = {0};
  struct err e = {0};
  struct arena arena = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first >= argc)
    return err_set(&e, ERR_USAGE, "no paper: bucl, tsc, medic, decoupled-l1d, sharing or all"), command_usage(self, &e);
  const char *typed = "sluice paper";
  for (int i = 1; i < argc; i++) typed = arena_printf(&arena, "%s %s", typed, argv[i]);
  if (first + 1 < argc) { /* options may follow the name */
    int more = opt_parse(self->opts, &o, argc - first, argv + first, &e);
    if (more < 0 || more < argc - first) {
      if (more >= 0) err_set(&e, ERR_USAGE, "'%s': one paper at a time, or all", argv[first + more]);
      return arena_free(&arena), command_usage(self, &e);
    }
  }
  rc = EXIT_OK;
  bool all = !strcmp(argv[first], "all");
  if (options_agree(&o, all, &e) && (all || is_paper(argv[first], &e))) rc = run_papers(&o, argv[first], typed, &e);
  if (e.code) rc = cli_fail(&e);
  arena_free(&arena);
  return rc;
}

#define PAPER(member) offsetof(struct paper_options, member)
static const struct opt paper_opts[] = {
    {"quick", NULL, "small inputs, and only what they can show: minutes instead of hours", OPT_FLAG, PAPER(quick), 'q',
     NULL},
    {"size", "SIZE", "inputs: small, medium (default), large, or paper (its instruction counts)", OPT_TEXT, PAPER(size),
     'z', "small medium large paper"},
    {"output", "DIR", "folder for figures and runs (default paper-NAME)", OPT_TEXT, PAPER(out), 'o', "file"},
    {"jobs", "N", "simulations at a time (default: one per processor)", OPT_UINT, PAPER(jobs), 'J', NULL},
    {"seeds", "N", "inputs of each program, from so many seeds (default 1)", OPT_UINT, PAPER(seeds), 0, NULL},
    {"warm", "N", "warm start: count the launches after the first N of each program", OPT_UINT, PAPER(warm), 0, NULL},
    {"estimate", "[error=2%]", "time samples of the launches, the same ones under every scheme (`sluice run --help`)",
     OPT_MAYBE, PAPER(estimate), 0, "error=2%"},
    {"only", "FIGURE", "one figure, by its name in --list", OPT_TEXT, PAPER(only), 0, NULL},
    {"program", "NAME", "one program, by the paper's name for it", OPT_TEXT, PAPER(program), 0, NULL},
    {"claims", "FILE", "write every published and simulated number, a verdict, as CSV", OPT_TEXT, PAPER(claims), 'c',
     "file"},
    {"originals", "FOLDER", "run the original programs of the benchmark suites, built in FOLDER", OPT_TEXT,
     PAPER(originals), 0, "file"},
    {"stored", NULL, "from the stored results, without a simulation", OPT_FLAG, PAPER(stored), 's', NULL},
    {"store", "FILE", "add the runs to a file of stored results", OPT_TEXT, PAPER(store), 0, "file"},
    {"commit", "HASH", "with --store: the commit that the simulator was built from", OPT_TEXT, PAPER(commit), 0, NULL},
    {"sensitivity", NULL, "which readings of the machine reproduce the paper's baseline", OPT_FLAG, PAPER(sensitivity),
     0, NULL},
    {"list", NULL, "only list the figures and tables", OPT_FLAG, PAPER(list), 'l', NULL},
    {.name = NULL}};

const struct command cmd_paper = {
    .name = "paper",
    .summary = "a paper's whole evaluation: every figure and table that is a measurement",
    .usage = "[OPTIONS] bucl|tsc|medic|decoupled-l1d|sharing|all",
    .help =
        "Simulates what the paper's figures need and draws them in the paper's form, with the published numbers "
        "beside\n"
        "the simulated ones where its text gives them. Runs are kept in the output folder: a second call draws without "
        "simulating, and\n"
        "an interrupted one continues. A figure is one file in share/sluice/figures (docs/how-to/papers.md).\n\n"
        "--stored simulates nothing: figures, tables and claims come from the runs in share/sluice/results, of the\n"
        "largest inputs of which all are there. --store FILE adds the runs of the call to such a file.\n\n"
        "--sensitivity runs the baseline alone over the readings of what the paper leaves open about its machine\n"
        "(share/sluice/readings) and says which of them give the numbers that the paper states of its baseline.\n\n"
        "--originals runs the programs that the paper used, from a folder where you have built them. What the folder "
        "lacks\n"
        "is named with where it comes from, and the rest runs. share/sluice/originals has the command lines;\n"
        "tools/originals.py makes inputs. The tables have published, originals and Sluice.\n\n"
        "Examples:\n"
        "  sluice paper bucl --stored\n"
        "  sluice paper bucl --quick\n"
        "  sluice paper medic --size medium -o results/medic\n"
        "  sluice paper medic --sensitivity\n"
        "  sluice paper tsc --size large --estimate\n"
        "  sluice paper bucl --originals ~/suites --size paper\n"
        "  sluice paper all --stored --claims claims.csv\n",
    .opts = paper_opts,
    .run = paper_run,
};
