/* paper_claims.c - the published numbers of a paper beside the runs of its figures: which column of which figure
 * measures a number, the result with its interval, and the verdict. See paper.h.
 */
#include "cli/cmd/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/common/config.h"
#include "gpu/slots/scheme.h"
#include "gpu/slots/slots.h"
#include "results/stored.h"

enum { KEY = 160, TEXT = 1024, RATIOS_MAX = 16 * WORKLOADS_MAX, SEEDS_MAX = 64 };

/* ---- columns ---- */

const char *paper_text(const json_t *o, const char *key) {
  const char *s = json_string_value(json_object_get(o, key));
  return s ? s : "";
}

const char *column_list(const json_t *column) {
  return json_is_object(column) ? json_string_value(json_object_get(column, "list")) : json_string_value(column);
}

const char *column_gpu(const json_t *figure, const json_t *column) {
  const char *own = json_is_object(column) ? paper_text(column, "gpu") : "";
  return *own ? own : *paper_text(figure, "gpu") ? paper_text(figure, "gpu") : "fermi";
}

json_t *column_set(const json_t *figure, const json_t *column) {
  json_t *all = json_object(), *of = json_object_get(figure, "set");
  if (of) json_object_update(all, of);
  of = json_is_object(column) ? json_object_get(column, "set") : NULL;
  if (of) json_object_update(all, of);
  return all;
}

/* ---- values of a run ---- */

/* Add the numbers of a part of the characterisation to `values` under dotted keys; means become sums. */
static void flatten(json_t *values, const char *prefix, const json_t *part) {
  char key[KEY];
  const char *name;
  json_t *v;
  size_t i;
  if (json_is_number(part)) {
    double before = json_number_value(json_object_get(values, prefix));
    json_object_set_new(values, prefix, json_real(before + json_number_value(part)));
  }
  json_array_foreach(part, i, v) {
    snprintf(key, sizeof key, "%s.%zu", prefix, i);
    flatten(values, key, v);
  }
  if (!json_is_object(part)) return;
  double loads = json_number_value(json_object_get(part, "loads"));
  json_object_foreach((json_t *)part, name, v) {
    bool mean = !strcmp(name, "latency.mean");
    snprintf(key, sizeof key, "%s.%s", prefix, mean ? "latency_sum" : name);
    json_t *sum = mean ? json_real(json_number_value(v) * loads) : json_incref(v);
    flatten(values, key, sum);
    json_decref(sum);
  }
}

/* Counters of all launches, of the schemes, and of the characterisation if there is one; what a search found; an object
 * of the kernels by name. */
static json_t *values_of(json_t *doc) {
  static const char *const parts[] = {"loads", "warps_at_l2", "sharing"};
  json_t *values = json_object(), *totals = json_object_get(doc, "totals"), *kernel;
  size_t k;
  json_array_foreach(json_object_get(doc, "kernels"), k, kernel) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
      json_t *part = json_object_get(kernel, parts[i]);
      if (part) flatten(values, parts[i], part);
    }
  }
  if (totals) json_object_update(values, totals);
  if (json_object_get(totals, "scheme_counters"))
    json_object_update(values, json_object_get(totals, "scheme_counters"));
  const char *found = strchr(paper_text(json_object_get(doc, "search"), "values"), '=');
  if (found) json_object_set_new(values, "search.value", json_real(strtod(found + 1, NULL)));
  json_object_set_new(values, "by_kernel", stored_kernels(doc));
  return values;
}

double paper_counter(const void *values, const char *key) {
  return json_number_value(json_object_get(values, key));
}

const json_t *paper_run_values(json_t *r) {
  json_t *values = json_object_get(r, "values"), *doc = json_incref(json_object_get(r, "record"));
  if (!values && (doc || (doc = json_load_file(paper_text(r, "file"), 0, NULL)))) {
    json_object_set_new(r, "values", values = values_of(doc));
  }
  json_decref(doc);
  return values;
}

/* On the default input, or on that of a further seed. */
static const json_t *run_values(struct paper *p, const char *list, const char *gpu, const json_t *set,
                                const char *workload, const char *size, size_t seed) {
  const char *hash;
  json_t *r;
  json_object_foreach(p->runs, hash, r) {
    if (strcmp(paper_text(r, "scheme"), list) || strcmp(paper_text(r, "workload"), workload) ||
        strcmp(paper_text(r, "gpu"), gpu) || strcmp(paper_text(r, "size"), size) ||
        !json_equal(set, json_object_get(r, "set")))
      continue;
    json_t *of = seed ? json_array_get(json_object_get(r, "seeds"), seed - 1) : r;
    return of ? paper_run_values(of) : NULL;
  }
  return NULL;
}

const json_t *paper_totals(struct paper *p, const json_t *figure, const char *list, const char *workload) {
  json_t *set = column_set(figure, NULL);
  const json_t *values = run_values(p, list, column_gpu(figure, NULL), set, workload, paper_size(p, figure), 0);
  json_decref(set);
  return values;
}

const json_t *paper_column_values(struct paper *p, const json_t *figure, const json_t *column, const char *workload,
                                  size_t seed) {
  const char *list = column_list(column);
  json_t *set = column_set(figure, column);
  const json_t *values =
      list ? run_values(p, list, column_gpu(figure, column), set, workload, paper_size(p, figure), seed) : NULL;
  json_decref(set);
  return values;
}

/* Add IPC of each kernel over that of the same kernel in the other run to [sum, number] by the kernel's name. */
void paper_add_kernels(json_t *sums, const json_t *run, const json_t *over) {
  json_t *all = json_object_get(run, "by_kernel"), *of = json_object_get(over, "by_kernel"), *a;
  const char *name;
  json_object_foreach(all, name, a) {
    const json_t *b = json_object_get(of, name), *had = json_object_get(sums, name);
    double mine = paper_counter(a, "thread_insts") * paper_counter(b, "cycles"),
           theirs = paper_counter(b, "thread_insts") * paper_counter(a, "cycles");
    if (mine <= 0 || theirs <= 0) continue;
    double sum = json_number_value(json_array_get(had, 0)) + mine / theirs,
           n = json_number_value(json_array_get(had, 1)) + 1;
    json_object_set_new(sums, name, json_pack("[f, f]", sum, n));
  }
}

/* The mean of each kernel; how many there are, at most `room`. */
size_t paper_kernel_means(json_t *sums, double *ratio, size_t room) {
  const char *name;
  json_t *v;
  size_t n = 0;
  json_object_foreach(sums, name, v) if (n < room) ratio[n++] =
      json_number_value(json_array_get(v, 0)) / json_number_value(json_array_get(v, 1));
  return n;
}

/* ---- the best of several settings for all programs ---- */

enum published_kind paper_mean_kind(const char *of) {
  return !strcmp(of, "harmonic")     ? PUBLISHED_HARMONIC
         : !strcmp(of, "arithmetic") ? PUBLISHED_ARITHMETIC
                                     : PUBLISHED_GEOMETRIC;
}

static double mean_of(struct paper *p, const json_t *figure, const json_t *column, const char *list,
                      const struct workload_list *l) {
  const json_t *base = json_object_get(json_object_get(figure, "schemes"), paper_text(figure, "normalise"));
  const char *key = *paper_text(column, "metric") ? paper_text(column, "metric") : "ipc",
             *gpu = column_gpu(figure, column), *size = paper_size(p, figure);
  json_t *set = column_set(figure, column);
  bool kernels = !strcmp(paper_text(column, "per"), "kernel");
  double ratio[RATIOS_MAX];
  size_t n = 0;
  for (size_t i = 0; i < l->count && base; i++) {
    const json_t *a = run_values(p, list, gpu, set, l->at[i].name, size, 0);
    const json_t *b = run_values(p, column_list(base), gpu, set, l->at[i].name, size, 0);
    json_t *sums = json_object();
    if (kernels && a && b) paper_add_kernels(sums, a, b);
    n += paper_kernel_means(sums, ratio + n, RATIOS_MAX - n);
    json_decref(sums);
    if (!kernels && a && b && paper_counter(a, key) > 0 && paper_counter(b, key) > 0)
      ratio[n++] = paper_counter(a, key) / paper_counter(b, key);
  }
  json_decref(set);
  return n ? published_mean(paper_mean_kind(paper_text(column, "of")), ratio, n) : 0;
}

/* A column with `among` stands for the list with the best mean over all programs. The figure's reason names it. */
static void choose_workloads(struct paper *p, json_t *figure, const char *label, json_t *column,
                             const struct workload_list *l) {
  const char *best = NULL;
  double most = 0;
  json_t *one;
  size_t i;
  if (column_list(column)) return; /* chosen before */
  json_array_foreach(json_object_get(column, "among"), i, one) {
    double mean = mean_of(p, figure, column, json_string_value(one), l);
    if (mean > most) most = mean, best = json_string_value(one);
  }
  if (!best) return;
  json_object_set_new(column, "list", json_string(best));
  const char *why =
      arena_printf(&p->arena, "%s %s is %s, the best mean of all programs.", paper_text(figure, "reason"), label, best);
  json_object_set_new(figure, "reason", json_string(why));
}

bool paper_choose(struct paper *p, struct err *e) {
  json_t *figure, *column;
  const char *label;
  size_t i;
  json_array_foreach(p->figures, i, figure) {
    struct workload_list l = {0};
    bool ok = workloads_load(&l, paper_text(figure, "suite"), NULL, e);
    if (ok)
      json_object_foreach(json_object_get(figure, "schemes"), label, column) if (json_object_get(column, "among"))
          choose_workloads(p, figure, label, column, &l);
    workloads_free(&l);
    if (!ok) return false;
  }
  return true;
}

/* ---- which column measures a number ---- */

struct claim {
  const json_t *figure, *column, *over; /* over: the column compared with, if it is one of the figure's */
  double ours, low, high;
  size_t programs, of; /* measured, of those that the number covers */
  bool interval;
};

/* Does the number belong to the figure by where the paper has it? "Fig 7" is the beginning of "Fig 7 text". */
bool paper_where_is(const json_t *figure, const struct published_figure *f) {
  const char *where = *paper_text(figure, "published") ? paper_text(figure, "published") : paper_text(figure, "where");
  size_t n = strlen(where);
  char next = strncmp(f->where, where, n) ? '?' : f->where[n];
  return !next || next == ' ' || next == '-' || (next >= 'a' && next <= 'z');
}

bool paper_fits(const json_t *figure, const json_t *column, const struct published_figure *f) {
  const char *gpu = column_gpu(figure, column), *list = column_list(column), *other = published_gpu(f);
  const char *said = json_is_object(column) ? paper_text(column, "published") : "";
  if (!list || (other ? strcmp(other, gpu) : !strcmp(gpu, "sharing-aware-kepler"))) return false;
  if (*said) return !strcmp(said, f->scheme);
  json_t *set = column_set(figure, column);
  bool plain = !json_object_size(set); /* another machine than the paper's needs `published` to be meant */
  json_decref(set);
  return plain && published_of_scheme(f, list);
}

/* The column of the figure that the number compares with, on the same machine. */
const json_t *paper_over_of(const json_t *figure, const json_t *column, const struct published_figure *f,
                            const char **label) {
  json_t *set = column_set(figure, column), *other;
  const char *name;
  const json_t *found = NULL;
  json_object_foreach(json_object_get(figure, "schemes"), name, other) {
    json_t *own = column_set(figure, other);
    if (!found && column_list(other) && published_over_is(f, column_list(other)) && json_equal(own, set) &&
        !strcmp(column_gpu(figure, other), column_gpu(figure, column)))
      found = other, *label = name;
    json_decref(own);
  }
  json_decref(set);
  return found;
}

/* What measures a number: the column's runs of a workload and those that they are over. */
struct source {
  const char *list, *over, *gpu, *size;
  const json_t *knobs;
  bool kernels; /* of each, rather than of the whole program */
};

/* What is measured: ratios of programs or kernels, and those of the last program's inputs. */
struct ratios {
  double at[RATIOS_MAX], input[SEEDS_MAX];
  size_t count, inputs;
};

/* Add the ratio of a workload, the mean over its inputs, or those of its kernels. False: there is none. */
static bool add_ratios(struct paper *p, const struct source *s, const struct published_figure *f, const char *workload,
                       struct ratios *r) {
  json_t *sums = json_object();
  double sum = 0;
  size_t before = r->count;
  r->inputs = 0;
  for (size_t seed = 0; seed < SEEDS_MAX; seed++) {
    const json_t *run = run_values(p, s->list, s->gpu, s->knobs, workload, s->size, seed);
    const json_t *base =
        run && published_is_relative(f) ? run_values(p, s->over, s->gpu, s->knobs, workload, s->size, seed) : NULL;
    if (!run) break;
    if (s->kernels && base) paper_add_kernels(sums, run, base);
    else if (!s->kernels && published_ratio(f, paper_counter, run, base, &r->input[r->inputs]))
      sum += r->input[r->inputs++];
  }
  r->count += paper_kernel_means(sums, r->at + r->count, RATIOS_MAX - r->count);
  json_decref(sums);
  if (r->inputs) r->at[r->count++] = sum / (double)r->inputs;
  return r->count > before;
}

static void set_interval(struct claim *c, const struct published_figure *f, enum published_kind kind,
                         const double *ratio, size_t n) {
  if (!published_interval(kind, ratio, n, &c->low, &c->high)) return;
  double a = published_present(f, c->low), b = published_present(f, c->high);
  c->interval = true, c->low = fmin(a, b), c->high = fmax(a, b);
}

static bool measure_claim(struct paper *p, const json_t *figure, const json_t *column, const struct published_figure *f,
                          const struct workload_list *l, struct claim *c) {
  const char *group = NULL, *label;
  enum published_kind kind = PUBLISHED_ARITHMETIC;
  bool set = published_of_group(f, &group, &kind);
  json_t *knobs = column_set(figure, column);
  struct ratios r = {.count = 0};
  *c = (struct claim){.figure = figure, .column = column, .over = paper_over_of(figure, column, f, &label)};
  struct source s = {column_list(column),
                     c->over ? column_list(c->over) : published_over(f),
                     column_gpu(figure, column),
                     paper_size(p, figure),
                     knobs,
                     set && published_by_kernel(f)};
  for (size_t i = 0; i < l->count; i++) {
    const struct workload *w = &l->at[i];
    if (set ? *group && strcmp(group, w->group) : !published_of_workload(f, w->alias)) continue;
    c->of++;
    c->programs += add_ratios(p, &s, f, w->name, &r);
  }
  json_decref(knobs);
  if (!r.count) return false;
  c->ours = published_present(f, published_mean(kind, r.at, r.count));
  if (set) set_interval(c, f, kind, r.at, r.count);
  else if (r.count == 1 && r.inputs > 2)
    set_interval(c, f, PUBLISHED_ARITHMETIC, r.input, r.inputs); /* has randomness */
  return true;
}

/* The storage of a scheme, as `sluice overhead` has it: of an L1, or of the whole GPU. */
static bool storage(const struct published_figure *f, const char *gpu, double *kb) {
  static const char *const lists[] = {"lamar", "dsc=2", "dsc=4", "mrpb", "tsc", "tsc+", "tsc:private=5", "medic"};
  struct err e = {0};
  struct gpu_config config;
  struct slots s;
  struct scheme_bits row[64];
  double bits = 0;
  const char *list = NULL;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    if (published_of_scheme(f, lists[i])) list = lists[i];
  if (!list || !gpu_config_load(&config, gpu, &e) || !slots_parse(&s, list, &e)) return false;
  const struct scheme *scheme = s.at[0].scheme;
  uint32_t n = scheme->storage ? scheme->storage(&config, s.at[0].param, row, 64) : 0;
  for (uint32_t i = 0; i < n; i++) bits += row[i].bits;
  *kb = bits / 8192 / (strcmp(f->group, "whole GPU") ? config.sms : 1);
  return n > 0;
}

static bool is_small(const struct paper *p, const json_t *figure) {
  return !strcmp(paper_size(p, figure), "small");
}

/* Inputs that can tell go before small ones, then the column that measures more of the programs. */
static bool better(const struct paper *p, const struct claim *a, const struct claim *b) {
  bool small = is_small(p, a->figure), other = is_small(p, b->figure);
  return small != other ? other : a->programs > b->programs;
}

/* The column that measures most of the programs: of the number's own figure if it can, else of any. */
static bool best_column(struct paper *p, const struct published_figure *f, struct claim *best) {
  struct workload_list l = {0};
  struct err e = {0};
  bool found = false;
  if (!workloads_load(&l, p->name, NULL, &e)) return workloads_free(&l), false;
  for (int own = 1; own >= 0; own--) {
    json_t *figure, *column;
    const char *label;
    size_t i;
    json_array_foreach(p->figures, i, figure) {
      if (paper_where_is(figure, f) != own) continue;
      json_object_foreach(json_object_get(figure, "schemes"), label, column) {
        struct claim c;
        if (!paper_fits(figure, column, f) || !measure_claim(p, figure, column, f, &l, &c)) continue;
        if (!found || better(p, &c, best)) *best = c;
        found = true;
      }
    }
  }
  workloads_free(&l);
  return found;
}

/* ---- verdicts ---- */

static struct verdict_case case_of(const struct published_figure *f, const struct claim *c) {
  struct verdict_case v = {.published = f->value,
                           .ours = c->ours,
                           .low = c->low,
                           .high = c->high,
                           .has_interval = c->interval,
                           .bound = published_bound(f)};
  v.has_none = published_no_change(f, &v.none);
  v.percent = v.none == 1 ? 0.01 : 1;
  return v;
}

static enum verdict judge_claim(const struct paper *p, const struct published_figure *f, const struct claim *c,
                                const char **why) {
  if (is_small(p, c->figure) && !published_at_any_size(f)) {
    *why = "small inputs fit the caches";
    return VERDICT_NOT_COMPARABLE;
  }
  struct verdict_case v = case_of(f, c);
  return verdict_of(&v, why);
}

/* What the goals count: `near`, and `sign` of a published change. */
static void add_goals(json_t *row, const struct published_figure *f, const struct claim *c) {
  struct verdict_case v = case_of(f, c);
  json_object_set_new(row, "near", json_boolean(verdict_near(&v)));
  if (verdict_has_sign(&v)) json_object_set_new(row, "sign", json_boolean(verdict_same_sign(&v)));
}

static json_t *claim_json(struct paper *p, const struct published_figure *f) {
  char quantity[TEXT];
  struct claim c = {0};
  json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:f, s:s}", "where", f->where, "metric", f->metric, "scheme", f->scheme,
                          "group", f->group, "published", f->value, "unit", f->unit);
  double zero = published_present(f, 0), one = published_present(f, 1);
  if (one != zero && isfinite(one - zero))
    json_object_set_new(row, "ratio", json_real((f->value - zero) / (one - zero)));
  published_quantity(f, quantity, sizeof quantity);
  json_object_set_new(row, "quantity", json_string(quantity));
  bool kept = published_is_storage(f),
       measured = kept ? storage(f, !strcmp(p->name, "medic") ? "medic" : "fermi", &c.ours) : best_column(p, f, &c);
  const char *why = kept ? "the scheme does not say its storage" : "no run of this call measures it";
  enum verdict v = measured ? judge_claim(p, f, &c, &why) : VERDICT_NOT_COMPARABLE;
  if (p->quick && !published_at_any_size(f)) c.interval = measured = false; /* not shown */
  if (measured) json_object_set_new(row, "ours", json_real(c.ours)), add_goals(row, f, &c);
  if (c.interval && isfinite(c.low)) json_object_set_new(row, "low", json_real(c.low));
  if (c.interval && isfinite(c.high)) json_object_set_new(row, "high", json_real(c.high));
  if (c.programs < c.of) why = arena_printf(&p->arena, "%s; %zu of %zu programs", why, c.programs, c.of);
  bool open = v != VERDICT_REPRODUCED && (!c.figure || !is_small(p, c.figure) || published_at_any_size(f));
  const char *reason = open ? paper_reason(p, f) : NULL;
  if (reason) why = arena_printf(&p->arena, "%s: %s", why, reason);
  json_object_set_new(row, "programs", json_integer((json_int_t)c.programs));
  json_object_set_new(row, "of", json_integer((json_int_t)c.of));
  json_object_set_new(row, "verdict", json_string(verdict_names[v]));
  json_object_set_new(row, "reason", json_string(why));
  if (c.figure) json_object_set_new(row, "figure", json_string(paper_text(c.figure, "figure")));
  return row;
}

/* The figure's own rows: labels of its columns say where a diamond goes. */
static void add_claim_row(json_t *rows, const json_t *figure, const struct published_figure *f, const json_t *claim) {
  json_t *row = json_copy((json_t *)claim), *column;
  const char *label, *over = NULL, *group;
  enum published_kind kind;
  json_object_foreach(json_object_get(figure, "schemes"), label, column) {
    if (!paper_fits(figure, column, f)) continue;
    json_object_set_new(row, "label", json_string(label));
    if (published_is_relative(f) && paper_over_of(figure, column, f, &over))
      json_object_set_new(row, "over_label", json_string(over));
    break;
  }
  if (published_of_group(f, &group, &kind)) json_object_set_new(row, "of_group", json_string(group));
  json_array_append_new(rows, row);
}

/* Key `published` says where in the paper a figure's numbers are until the rows take its place. */
static void add_rows(struct paper *p, const struct published *all) {
  json_t **rows = ARENA_ARRAY(&p->arena, json_t *, json_array_size(p->figures)), *figure;
  size_t i;
  for (i = 0; i < json_array_size(p->figures); i++) rows[i] = json_array();
  for (size_t k = 0, of = 0; k < published_count(all); k++) {
    const struct published_figure *f = published_at(all, k);
    if (!published_of_suite(f, p->name)) continue;
    const json_t *claim = json_array_get(p->claims, of++);
    json_array_foreach(p->figures, i, figure) {
      if (paper_where_is(figure, f)) add_claim_row(rows[i], figure, f, claim);
    }
  }
  json_array_foreach(p->figures, i, figure) json_object_set_new(figure, "published", rows[i]);
}

bool paper_claims(struct paper *p, struct err *e) {
  struct published *all = paper_choose(p, e) ? published_open(NULL, e) : NULL;
  if (!all) return false;
  if (!paper_reasons_load(p, all, e)) return published_close(all), false;
  p->claims = json_array();
  for (size_t i = 0; i < published_count(all); i++)
    if (published_of_suite(published_at(all, i), p->name))
      json_array_append_new(p->claims, claim_json(p, published_at(all, i)));
  bool ok = paper_order(p, all, e);
  add_rows(p, all);
  published_close(all);
  return ok;
}

/* ---- the table ---- */

void paper_claims_titles(FILE *f, bool all) {
  fprintf(f, "%swhere,metric,scheme,over,published,ours,low,high,originals,unit,verdict,reason\n", all ? "paper," : "");
}

void paper_csv_text(FILE *f, const char *s, const char *after) {
  bool quote = strpbrk(s, ",\"\n") != NULL;
  if (quote) fputc('"', f);
  for (; *s; s++) fprintf(f, *s == '"' ? "\"\"" : "%c", *s);
  fprintf(f, "%s%s", quote ? "\"" : "", after);
}

static void put_number(FILE *f, const json_t *v) {
  if (v) fprintf(f, "%.6g", json_number_value(v));
  fputc(',', f);
}

/* Contradictions first; the rest in the order of the paper. */
void paper_claims_rows(const struct paper *p, FILE *f, size_t count[VERDICTS]) {
  static const enum verdict order[VERDICTS] = {VERDICT_CONTRADICTED, VERDICT_DIRECTION, VERDICT_REPRODUCED,
                                               VERDICT_NOT_COMPARABLE};
  json_t *c;
  size_t i;
  for (int k = 0; k < VERDICTS; k++) {
    json_array_foreach(p->claims, i, c) {
      if (strcmp(paper_text(c, "verdict"), verdict_names[order[k]])) continue;
      count[order[k]]++;
      if (p->all) paper_csv_text(f, p->name, ",");
      paper_csv_text(f, paper_text(c, "where"), ",");
      paper_csv_text(f, paper_text(c, "metric"), ",");
      paper_csv_text(f, paper_text(c, "scheme"), ",");
      paper_csv_text(f, paper_text(c, "group"), ",");
      put_number(f, json_object_get(c, "published"));
      put_number(f, json_object_get(c, "ours"));
      put_number(f, json_object_get(c, "low"));
      put_number(f, json_object_get(c, "high"));
      put_number(f, json_object_get(c, "originals"));
      paper_csv_text(f, paper_text(c, "unit"), ",");
      paper_csv_text(f, paper_text(c, "verdict"), ",");
      paper_csv_text(f, paper_text(c, "reason"), "\n");
    }
  }
}

/* One column of the table: of how many numbers it has, the shares that the goals are about. */
static void print_shares(const struct paper *p, const char *name, const char *value, const char *near,
                         const char *sign) {
  size_t has = 0, close = 0, signs = 0, same = 0, i;
  json_t *c;
  json_array_foreach(p->claims, i, c) {
    if (!json_object_get(c, value) || !json_object_get(c, near)) continue;
    has++, close += json_is_true(json_object_get(c, near));
    signs += json_object_get(c, sign) != NULL, same += json_is_true(json_object_get(c, sign));
  }
  if (!has) return;
  printf("  %-10s same sign %zu of %zu, within 25 %% or in the interval %zu of %zu\n", name, same, signs, close, has);
}

void paper_claims_shares(const struct paper *p) {
  print_shares(p, "workloads", "ours", "near", "sign");
  print_shares(p, "originals", "originals", "near_originals", "sign_originals");
}
