/* paper_sensitivity.c - `sluice paper NAME --sensitivity`: which readings of what a paper leaves open about its machine
 * reproduce the numbers that it gives of its baseline.
 *
 * share/sluice/readings/NAME.yaml names the readings, each with the knobs in which it differs from the paper's machine
 * file, and the quantities of the baseline with their published values. Every run here is of the baseline: no scheme
 * has a say in the choice of a reading.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/paths.h"
#include "cli/cmd/figurefile.h"
#include "cli/cmd/paper.h"
#include "cli/frame/cli.h"
#include "cli/run/workloads.h"
#include "results/published.h"

static const char BASELINE[] = "baseline";
enum { METRIC_SHOWN = 80 }; /* a longer one is in the file */

/* ---- the file ---- */

static const char *const file_keys[] = {"*paper", "*gpu", "*suite", "*readings", "*quantities", NULL};
static const char *const quantity_keys[] = {"*name", "*where", "*metric", "*published",   "workloads",
                                            "set",   "over",   "mean",    "unit",         "within",
                                            "limit", "group",  "scale",   "characterise", NULL};

/* Has `o` the keys with a '*' and no others? */
static bool keys_are(const json_t *o, const char *const *keys, const char *path, const char *what, struct err *e) {
  const char *key;
  json_t *v;
  if (!json_is_object(o)) return err_set(e, ERR_INPUT, "%s: %s is no mapping", path, what);
  for (const char *const *k = keys; *k; k++)
    if (**k == '*' && !json_object_get(o, *k + 1))
      return err_set(e, ERR_INPUT, "%s: %s lacks '%s'", path, what, *k + 1);
  json_object_foreach((json_t *)o, key, v) {
    bool known = false;
    for (const char *const *k = keys; *k; k++) known |= !strcmp(key, *k + (**k == '*'));
    if (!known) return err_set(e, ERR_INPUT, "%s: %s has no key '%s'", path, what, key);
  }
  return true;
}

static json_t *joined(const json_t *a, const json_t *b) {
  json_t *all = json_object();
  if (a) json_object_update(all, (json_t *)a);
  if (b) json_object_update(all, (json_t *)b);
  return all;
}

/* The runs of a quantity under a reading, as a figure of the one column `baseline`. */
static json_t *figure_of(const json_t *file, const json_t *reading, const json_t *quantity, const json_t *set) {
  json_t *f = json_object(), *schemes = json_object();
  json_object_set(f, "suite", json_object_get(file, "suite"));
  json_object_set(f, "gpu", json_object_get(file, "gpu"));
  json_object_set_new(f, "set", joined(reading, set));
  if (json_object_get(quantity, "workloads")) json_object_set(f, "workloads", json_object_get(quantity, "workloads"));
  if (json_object_get(quantity, "characterise")) json_object_set_new(f, "characterise", json_true());
  if (json_object_get(quantity, "group"))
    json_object_set_new(f, "groups", json_pack("[O]", json_object_get(quantity, "group")));
  json_object_set_new(schemes, BASELINE, json_string(BASELINE));
  json_object_set_new(f, "schemes", schemes);
  return f;
}

/* Readings x quantities, each a pair of figures: with the quantity's knobs, and with those that it is relative to. */
static json_t *figures_of(const json_t *file) {
  json_t *all = json_array(), *reading, *q;
  const char *name;
  size_t i;
  json_object_foreach(json_object_get(file, "readings"), name, reading) {
    json_array_foreach(json_object_get(file, "quantities"), i, q) {
      json_array_append_new(all, figure_of(file, reading, q, json_object_get(q, "set")));
      json_array_append_new(
          all, figure_of(file, reading, q, json_object_get(q, json_object_get(q, "over") ? "over" : "set")));
    }
  }
  return all;
}

static bool mean_named(const char *word, enum published_kind *kind) {
  for (int k = PUBLISHED_ARITHMETIC; k <= PUBLISHED_MAXIMUM; k++) {
    if (strcmp(word, published_kind_names[k]) != 0) continue;
    if (kind) *kind = (enum published_kind)k;
    return true;
  }
  return false;
}

static bool check_quantities(const json_t *file, const char *path, struct err *e) {
  json_t *q, *reading;
  const char *name;
  size_t i;
  if (!keys_are(file, file_keys, path, "the file", e)) return false;
  json_object_foreach(json_object_get((json_t *)file, "readings"), name,
                      reading) if (!json_is_object(reading)) return err_set(e, ERR_INPUT,
                                                                            "%s: reading '%s' is no mapping of knobs",
                                                                            path, name);
  json_array_foreach(json_object_get(file, "quantities"), i, q) {
    if (!keys_are(q, quantity_keys, path, "a quantity", e)) return false;
    const char *mean = json_string_value(json_object_get(q, "mean"));
    if (mean && !mean_named(mean, NULL)) return err_set(e, ERR_INPUT, "%s: there is no mean '%s'", path, mean);
    bool within = json_object_get(q, "within"), limit = json_object_get(q, "limit");
    if (within == limit)
      return err_set(e, ERR_INPUT, "%s: '%s' needs one of 'within' and 'limit'", path,
                     json_string_value(json_object_get(q, "name")));
  }
  return true;
}

static json_t *load_quantities(struct paper *p, struct err *e) {
  char path[PATH_MAX];
  if (!path_find(path, sizeof path, arena_printf(&p->arena, "readings/%s.yaml", p->name)))
    return err_set(e, ERR_INPUT, "there are no readings of %s: '%s' is missing", p->name, path), NULL;
  json_t *file = yaml_load(path, e);
  if (file && !check_quantities(file, path, e)) {
    json_decref(file);
    file = NULL;
  }
  return file;
}

bool sensitivity_load(struct paper *p, struct err *e) {
  json_t *file = load_quantities(p, e);
  if (!file) return false;
  p->figures = figures_of(file);
  json_decref(file);
  return true;
}

/* ---- values ---- */

/* Counters joined by '+' and '-'; with '/' a ratio of two such sums. */
static double metric_value(const json_t *totals, const char *metric) {
  double part[2] = {0, 0};
  size_t at = 0;
  char *copy = strdup(metric), *save = NULL;
  bool ratio = strchr(copy, '/') != NULL;
  size_t slash = ratio ? (size_t)(strchr(copy, '/') - copy) : SIZE_MAX;
  for (char *s = strtok_r(copy, "+-/", &save); s; s = strtok_r(NULL, "+-/", &save)) {
    size_t first = (size_t)(s - copy);
    at = first > slash;
    part[at] += (first && metric[first - 1] == '-' ? -1 : 1) * paper_counter(totals, s);
  }
  free(copy);
  return !ratio ? part[0] : part[1] != 0 ? part[0] / part[1] : NAN;
}

static enum published_kind quantity_mean(const json_t *q) {
  const char *word = json_string_value(json_object_get(q, "mean"));
  enum published_kind kind = PUBLISHED_ARITHMETIC;
  if (word) mean_named(word, &kind);
  return kind;
}

/* Does the quantity speak of this workload? */
static bool speaks_of(const json_t *q, const struct workload *w) {
  json_t *only = json_object_get(q, "workloads"), *one;
  const char *group = json_string_value(json_object_get(q, "group"));
  size_t i;
  if (group && strcmp(group, w->group)) return false;
  if (!only) return true;
  json_array_foreach(only, i, one) if (!strcmp(json_string_value(one), w->alias)) return true;
  return false;
}

/* The mean over the workloads that have run; with `over` the gain in percent. NAN: none has. */
static double measured(struct paper *p, const json_t *q, json_t *const figure[2]) {
  struct workload_list l = {0};
  struct err e = {0};
  const char *metric = json_string_value(json_object_get(q, "metric"));
  double v[WORKLOADS_MAX], scale = json_number_value(json_object_get(q, "scale"));
  bool relative = json_object_get(q, "over");
  size_t n = 0;
  if (!workloads_load(&l, json_string_value(json_object_get(figure[0], "suite")), p->size, &e)) return NAN;
  for (size_t i = 0; i < l.count; i++) {
    if (!speaks_of(q, &l.at[i])) continue;
    const json_t *run = paper_totals(p, figure[0], BASELINE, l.at[i].name);
    const json_t *over = paper_totals(p, figure[1], BASELINE, l.at[i].name);
    if (!run || (relative && !over)) continue;
    double x = metric_value(run, metric);
    if (relative) x /= metric_value(over, metric);
    if (isfinite(x)) v[n++] = x;
  }
  workloads_free(&l);
  if (!n) return NAN;
  double mean = published_mean(quantity_mean(q), v, n);
  return relative ? 100 * (mean - 1) : mean * (scale != 0 ? scale : 1);
}

/* `within`: percent of the published value; `limit`: the paper says "less than", and a loss is no gain. */
static bool agrees(const json_t *q, double v) {
  double published = json_number_value(json_object_get(q, "published"));
  if (json_object_get(q, "limit")) return v <= published;
  return fabs(v - published) <= fabs(published) * json_number_value(json_object_get(q, "within")) / 100;
}

/* How far the value is from the published one: |ln(simulated/published)|; 0 inside a limit. */
static double distance(const json_t *q, double v) {
  double published = json_number_value(json_object_get(q, "published"));
  if (json_object_get(q, "limit")) return v <= published ? 0 : log((100 + v) / (100 + published));
  return v > 0 && published > 0 ? fabs(log(v / published)) : INFINITY;
}

/* ---- the table ---- */

struct outcome {
  const char *name;
  size_t agree, measured;
  double away; /* mean distance */
};

/* Against the machine file, the first reading, only more quantities count: it follows the paper's text. */
static bool better(const struct outcome *a, const struct outcome *b, bool first) {
  if (first) return a->agree > b->agree;
  return a->agree != b->agree ? a->agree > b->agree : a->away < b->away;
}

static struct outcome judge_quantity(struct paper *p, const json_t *quantities, const char *name, size_t first,
                                     double *value) {
  struct outcome v = {.name = name};
  json_t *q;
  size_t i;
  json_array_foreach(quantities, i, q) {
    json_t *figure[2] = {json_array_get(p->figures, first + 2 * i), json_array_get(p->figures, first + 2 * i + 1)};
    value[i] = measured(p, q, figure);
    if (!isfinite(value[i])) continue;
    v.measured++;
    v.agree += agrees(q, value[i]);
    v.away += distance(q, value[i]);
  }
  if (v.measured) v.away /= (double)v.measured;
  return v;
}

static void add_outcome(struct table *t, FILE *csv, const json_t *quantities, const struct outcome *v,
                        const double *value, const char *size) {
  json_t *q;
  size_t i;
  table_cell(t, "%s", v->name);
  json_array_foreach(quantities, i, q) {
    if (isfinite(value[i])) table_cell(t, "%.3g%s", value[i], agrees(q, value[i]) ? " *" : "");
    else table_cell(t, "-");
    paper_csv_text(csv, v->name, ",");
    paper_csv_text(csv, paper_text(q, "name"), ",");
    paper_csv_text(csv, paper_text(q, "where"), ",");
    paper_csv_text(csv, paper_text(q, "unit"), ",");
    fprintf(csv, "%g,%g,%d,%s\n", json_number_value(json_object_get(q, "published")), value[i],
            isfinite(value[i]) && agrees(q, value[i]), size);
  }
  table_cell(t, "%zu of %zu", v->agree, v->measured);
  table_cell(t, "%.2f", v->away);
}

static struct table *header(struct paper *p, const json_t *quantities) {
  size_t n = json_array_size(quantities), i;
  const char **title = ARENA_ARRAY(&p->arena, const char *, n + 4);
  char *align = ARENA_ARRAY(&p->arena, char, n + 4);
  json_t *q;
  memset(align, 'r', n + 3);
  align[0] = 'l';
  title[0] = "reading";
  json_array_foreach(quantities, i, q) title[i + 1] = json_string_value(json_object_get(q, "name"));
  title[n + 1] = "agree", title[n + 2] = "away";
  struct table *t = table_new(title, align);
  table_cell(t, "published");
  json_array_foreach(quantities, i, q) table_cell(t, "%s%g", json_object_get(q, "limit") ? "at most " : "",
                                                  json_number_value(json_object_get(q, "published")));
  table_cell(t, "%s", ""), table_cell(t, "%s", "");
  return t;
}

static void print_legend(const json_t *quantities) {
  json_t *q;
  size_t i;
  puts("");
  json_array_foreach(quantities, i, q) {
    const char *unit = json_string_value(json_object_get(q, "unit"));
    const char *metric = json_string_value(json_object_get(q, "metric"));
    printf("%s: %s", json_string_value(json_object_get(q, "name")), json_string_value(json_object_get(q, "where")));
    if (strlen(metric) < METRIC_SHOWN) printf(", %s", metric);
    printf("%s%s", unit ? ", " : "", unit ? unit : "");
    if (json_object_get(q, "within")) printf(", within %g %%", json_number_value(json_object_get(q, "within")));
    puts("");
  }
}

bool sensitivity_print(struct paper *p, struct err *e) {
  json_t *file = load_quantities(p, e), *reading;
  if (!file) return false;
  const json_t *quantities = json_object_get(file, "quantities");
  const char *name, *path = arena_printf(&p->arena, "%s/sensitivity.csv", p->out);
  struct outcome best = {0};
  double *value = ARENA_ARRAY(&p->arena, double, json_array_size(quantities));
  size_t first = 0, size = 0, rows = 0;
  bool kept = false;
  char *text = NULL;
  FILE *csv = open_memstream(&text, &size);
  struct table *t = header(p, quantities);
  fprintf(csv, "reading,quantity,where,unit,published,ours,agrees,size\n");
  json_object_foreach(json_object_get(file, "readings"), name, reading) {
    struct outcome v = judge_quantity(p, quantities, name, first, value);
    first += 2 * json_array_size(quantities);
    add_outcome(t, csv, quantities, &v, value, p->size);
    if (v.measured && (!best.name || better(&v, &best, kept))) best = v, kept = !rows++;
  }
  fclose(csv);
  table_print(t, stdout);
  table_free(t);
  print_legend(quantities);
  if (best.name && !best.agree)
    printf("\nNo reading gives any of these numbers, and the machine file stays. No scheme has run.\n");
  else if (best.name)
    printf("\nThe baseline alone chooses '%s': %zu of %zu quantities agree (*). No scheme has run.\n", best.name,
           best.agree, best.measured);
  bool ok = path_write_whole(path, text, size);
  if (!ok) output_failed(path, errno, e);
  free(text);
  json_decref(file);
  return ok;
}
