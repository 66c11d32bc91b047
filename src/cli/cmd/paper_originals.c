/* paper_originals.c - `sluice paper NAME --originals FOLDER`: figures of a paper on the original programs of the
 * suites, and their numbers beside the published and the simulated ones. originals.h has the mapping file; runs, claims
 * and the file of stored results are those of the bundled workloads, with an original program in place of the workload.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/output.h"
#include "base/paths.h"
#include "cli/cmd/originals.h"
#include "cli/cmd/paper.h"
#include "cli/frame/cli.h"
#include "results/stored.h"

/* ---- the plan ---- */

/* The figures that the mapping names, or the requested one. */
static void keep_figures(struct paper *p) {
  json_t *kept = json_array(), *f;
  size_t i;
  json_array_foreach(p->figures, i, f) {
    bool named = false;
    for (size_t k = 0; k < p->originals->figure_count; k++)
      named |= !strcmp(p->originals->figures[k], paper_text(f, "figure"));
    if (named) json_array_append(kept, f);
  }
  json_decref(p->figures);
  p->figures = kept;
}

bool paper_originals_load(struct paper *p, const char *folder, bool one_figure, struct err *e) {
  p->originals = originals_load(&p->arena, p->name, e);
  if (!p->originals) return false;
  for (size_t i = 0; i < p->originals->count; i++) {
    const struct original *q = &p->originals->at[i];
    struct workload_list l = {0};
    bool there = false, loaded = workloads_load(&l, p->name, NULL, e);
    for (size_t k = 0; k < l.count; k++) there |= !strcmp(l.at[k].alias, q->name) && !strcmp(l.at[k].name, q->like);
    workloads_free(&l);
    if (!loaded) return false;
    if (!there)
      return err_set(e, ERR_INPUT, "%s:%zu: %s has no program '%s' that workload '%s' stands for", p->originals->path,
                     q->line, p->name, q->name, q->like);
  }
  if (!one_figure) keep_figures(p);
  return !folder || originals_in(&p->arena, p->originals, folder, p->size, e);
}

json_t *paper_originals_run(struct paper *p, const struct workload *w, const char *size) {
  const struct original *o = originals_find(p->originals, w->alias);
  return o ? originals_run(&p->arena, p->originals, o, size) : NULL;
}

uint64_t paper_originals_hash(uint64_t h, const json_t *run) {
  size_t n = 0;
  char *s = path_read_whole(paper_text(run, "program"), &n);
  h = hash_bytes(h, s ? s : "", s ? n : 0);
  free(s);
  const char *command = paper_text(run, "command");
  h = hash_bytes(h, command, strlen(command) + 1);
  h = hash_u64(h ^ (uint64_t)json_number_value(json_object_get(run, "bytes")));
  const char *launches = paper_text(run, "launches");
  if (*launches) h = hash_bytes(h, launches, strlen(launches));
  return hash_u64(h ^ (uint64_t)json_number_value(json_object_get(run, "max_insts")));
}

/* ---- a run ---- */

static bool make_folder(const char *path) {
  return !mkdir(path, 0777) || errno == EEXIST;
}

/* The program's working folder, three below DIR/work/NAME, where "../../../data" of a suite can be: with links to what
 * it reads by a fixed name. */
static bool prepare_folder(struct paper *p, const json_t *run, const char **out, struct err *e) {
  const char *at = arena_printf(&p->arena, "%s/work", p->whole), *parts[] = {paper_text(run, "alias"), "1", "2", "3"},
             *name;
  bool ok = make_folder(at);
  for (size_t i = 0; i < 4 && ok; i++) ok = make_folder(at = arena_printf(&p->arena, "%s/%s", at, parts[i]));
  json_t *file;
  json_object_foreach(json_object_get((json_t *)run, "files"), name, file) {
    char *link = arena_printf(&p->arena, "%s/%s", at, name);
    for (char *s = strchr(link + strlen(at) + 1, '/'); s && ok; s = strchr(s + 1, '/')) {
      *s = 0;
      ok = make_folder(link);
      *s = '/';
    }
    if (ok) ok = !symlink(json_string_value(file), link) || errno == EEXIST;
  }
  *out = at;
  return ok || err_set(e, ERR_OUTPUT, "cannot make '%s' for what %s reads: %s", at, paper_text(run, "alias"),
                       strerror(errno));
}

bool paper_originals_prepare(struct paper *p, struct err *e) {
  const char *hash, *folder;
  char whole[PATH_MAX];
  json_t *r;
  if (!realpath(p->out, whole)) return err_set(e, ERR_OUTPUT, "cannot find '%s': %s", p->out, strerror(errno));
  p->whole = arena_strdup(&p->arena, whole);
  json_object_foreach(p->runs, hash, r) {
    if (!prepare_folder(p, r, &folder, e)) return false;
    json_object_set_new(r, "folder", json_string(folder));
  }
  return true;
}

/* ---- what is stored of the others ---- */

/* `q` becomes the paper on the other programs, from the stored results, with its claims. False: there are none. */
static bool others(struct paper *p, const json_t *figures, struct paper *q, struct err *e) {
  char path[PATH_MAX];
  *q = (struct paper){.name = p->name, .size = "medium", .out = p->out, .figures = json_deep_copy(figures)};
  if (!p->originals && !paper_originals_load(q, NULL, true, e)) return false;
  if (!path_find(path, sizeof path, paper_stored_name(q))) return false;
  if (!paper_stored_open(q, NULL, e) || !paper_plan(q, e)) return false;
  paper_stored_attach(q);
  paper_stored_print(q);
  return paper_claims(q, e);
}

static void close_others(struct paper *q) {
  json_decref(q->figures);
  json_decref(q->runs);
  json_decref(q->claims);
  json_decref(q->order);
  json_decref(q->reasons);
  stored_free(q->stored);
  arena_free(&q->arena);
}

static void copy_key(json_t *to, const char *key, const json_t *from, const char *of) {
  json_t *v = json_object_get(from, of);
  if (v) json_object_set(to, key, v);
  else json_object_del(to, key);
}

static double number_of(const json_t *claim, const char *key) {
  return json_number_value(json_object_get(claim, key));
}

static bool is_whole(const json_t *claim) {
  return number_of(claim, "programs") >= number_of(claim, "of");
}

static bool is_most(const json_t *claim) {
  return 5 * number_of(claim, "programs") >= 4 * number_of(claim, "of");
}

/* The originals decide: a number that they measure on four fifths of its programs has their verdict and is counted
 * among the shares. */
static void join_originals(struct paper *p, const struct paper *q) {
  static const char *const ours[] = {"ours", "low", "high", "near", "sign"};
  static const char *const theirs[] = {"originals", "low_originals", "high_originals", "near_originals",
                                       "sign_originals"};
  json_t *claim;
  size_t i;
  json_array_foreach(p->claims, i, claim) {
    const json_t *other = q->claims ? json_array_get(q->claims, i) : NULL;
    const json_t *original = p->originals ? claim : other;
    json_t *before = json_deep_copy(claim);
    bool most = is_most(original);
    for (size_t k = 0; k < (p->originals || most ? 5 : 3); k++)
      copy_key(claim, theirs[k], p->originals ? before : other, ours[k]);
    for (size_t k = 0; k < 5 && p->originals; k++) copy_key(claim, ours[k], other, ours[k]);
    bool decides = json_object_get(claim, "originals") && most;
    if (decides && !p->originals) {
      copy_key(claim, "verdict", other, "verdict");
      json_object_set_new(claim, "reason",
                          json_string(arena_printf(&p->arena, "originals: %s", paper_text(other, "reason"))));
    }
    json_decref(before);
  }
}

/* ---- the tables ---- */

static json_t *baseline_of(const struct paper *p, const char *alias) {
  const char *hash;
  json_t *r, *found = NULL;
  json_object_foreach(p->runs, hash, r) {
    bool is = !strcmp(paper_text(r, "alias"), alias) && !strcmp(paper_text(r, "scheme"), "baseline") &&
              !json_object_size(json_object_get(r, "set")) && paper_run_values(r);
    if (is && (!found || !strcmp(paper_text(r, "size"), "paper"))) found = r;
  }
  return found;
}

static void rate(struct table *t, json_t *run, const char *part, const char *all) {
  const json_t *values = run ? paper_run_values(run) : NULL;
  double x = values ? paper_counter(values, part) : 0, y = values ? paper_counter(values, all) : 0;
  if (y > 0) table_cell(t, "%.1f", 100 * x / y);
  else table_cell(t, "-");
}

static void count_cell(struct table *t, double n) {
  char text[48];
  cli_count(text, sizeof text, n);
  table_cell(t, "%s", n > 0 ? text : "-");
}

/* What the baseline does on the originals and on the bundled workloads. */
static void print_programs(const struct paper *p, const struct paper *ours) {
  static const char *const titles[] = {
      "program", "input", "insts: paper", "original", "ours", "L1 hit %: original", "ours", "L2 hit %: original",
      "ours",    NULL};
  struct table *t = table_new(titles, "llrrrrrrr");
  for (size_t i = 0; i < p->originals->count; i++) {
    const struct original *o = &p->originals->at[i];
    json_t *run = baseline_of(p, o->name), *own = baseline_of(ours, o->name);
    if (!run) continue;
    table_cell(t, "%s", o->name);
    table_cell(t, "%s", paper_text(run, "size"));
    count_cell(t, o->insts);
    count_cell(t, paper_counter(paper_run_values(run), "thread_insts"));
    count_cell(t, own ? paper_counter(paper_run_values(own), "thread_insts") : 0);
    rate(t, run, "l1d.read.hits", "l1d.read.accesses");
    rate(t, own, "l1d.read.hits", "l1d.read.accesses");
    rate(t, run, "l2.read.hits", "l2.read.accesses");
    rate(t, own, "l2.read.hits", "l2.read.accesses");
  }
  table_print(t, stdout);
}

static void number_cell(struct table *t, const json_t *v) {
  if (v) table_cell(t, "%.4g", json_number_value(v));
  else table_cell(t, "-");
}

static void print_claims(const struct paper *p) {
  static const char *const titles[] = {"where",     "metric", "scheme",  "over", "published",
                                       "originals", "ours",   "verdict", NULL};
  struct table *t = table_new(titles, "llllrrrl");
  json_t *c;
  size_t i;
  json_array_foreach(p->claims, i, c) {
    if (!json_object_get(c, "originals") || !*paper_text(c, "figure")) continue;
    table_cell(t, "%s", paper_text(c, "where"));
    table_cell(t, "%s", paper_text(c, "metric"));
    table_cell(t, "%s", paper_text(c, "scheme"));
    table_cell(t, "%s", paper_text(c, "group"));
    number_cell(t, json_object_get(c, "published"));
    number_cell(t, json_object_get(c, "originals"));
    number_cell(t, json_object_get(c, "ours"));
    if (is_whole(c)) table_cell(t, "%s", paper_text(c, "verdict"));
    else
      table_cell(t, "%s; %.0f of %.0f programs", paper_text(c, "verdict"), number_of(c, "programs"),
                 number_of(c, "of"));
  }
  table_print(t, stdout);
}

bool paper_beside(struct paper *p, const json_t *figures, struct err *e) {
  struct paper q;
  if (!p->originals && !p->stored) return paper_order_join(p, &(struct paper){0}), true;
  bool there = others(p, figures, &q, e);
  if (!e->code) join_originals(p, &q);
  if (!e->code) paper_order_join(p, &q);
  if (!e->code && p->originals) {
    print_programs(p, &q);
    if (!there) printf("workloads: no stored results (results/%s.jsonl.zst)\n", p->name);
    print_claims(p);
  }
  close_others(&q);
  return !e->code;
}
