/* paper_order.c - the order of schemes in the headline figure of a paper: published, on workloads, on originals. The
 * figure's key `order` names the mean, says whether low values are the best, and what the paper states without a
 * number; the numbers are those of published.csv. See paper.h.
 */
#include "cli/cmd/paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/order.h"

enum { RATIOS_MAX = 16 * WORKLOADS_MAX };

/* A headline figure: its columns by number, and the mean over its programs. */
struct headline {
  json_t *figure;
  const json_t *mean;
  const char *label[ORDER_MOST];
  const json_t *column[ORDER_MOST];
  size_t count, base; /* base: the column that the figure is normalised to */
  struct order published;
};

static json_t *headline_figure(const struct paper *p) {
  json_t *figure;
  size_t i;
  json_array_foreach(p->figures, i, figure) if (json_object_get(figure, "order")) return figure;
  return NULL;
}

static size_t column_number(const struct headline *h, const char *label) {
  size_t i = 0;
  while (i < h->count && strcmp(h->label[i], label)) i++;
  return i;
}

/* False with `e`: `order` names what the figure has not. */
static bool headline_open(struct headline *h, json_t *figure, struct err *e) {
  const json_t *order = json_object_get(figure, "order");
  const char *name = paper_text(figure, "figure"), *label;
  json_t *column, *mean;
  size_t i;
  *h = (struct headline){.figure = figure};
  h->published.lowest = !strcmp(paper_text(order, "best"), "lowest");
  if (!h->published.lowest && strcmp(paper_text(order, "best"), "highest"))
    return err_set(e, ERR_INPUT, "figure '%s': order: best is lowest or highest", name);
  json_array_foreach(json_object_get(figure, "means"), i, mean) {
    if (!strcmp(paper_text(mean, "label"), paper_text(order, "mean"))) h->mean = mean;
  }
  if (!h->mean) return err_set(e, ERR_INPUT, "figure '%s': order: mean is none of its means", name);
  json_object_foreach(json_object_get(figure, "schemes"), label, column) {
    if (h->count == ORDER_MOST) return err_set(e, ERR_INPUT, "figure '%s': order: too many schemes", name);
    h->label[h->count] = label, h->column[h->count++] = column;
  }
  h->base = column_number(h, paper_text(figure, "normalise"));
  return h->base < h->count ||
         err_set(e, ERR_INPUT, "figure '%s': order: needs a base that is one of its schemes", name);
}

/* ---- what the paper says ---- */

static bool add_statements(struct headline *h, struct err *e) {
  json_t *worse, *one;
  const char *better;
  size_t k;
  json_object_foreach(json_object_get(json_object_get(h->figure, "order"), "stated"), better, worse) {
    size_t i = column_number(h, better);
    json_array_foreach(worse, k, one) {
      size_t j = json_is_string(one) ? column_number(h, json_string_value(one)) : h->count;
      if (i == h->count || j == h->count)
        return err_set(e, ERR_INPUT, "figure '%s': order: stated: '%s' names no scheme of the figure",
                       paper_text(h->figure, "figure"), i == h->count ? better : json_string_value(one));
      order_statement(&h->published, i, j);
    }
  }
  return true;
}

/* The number as a ratio of the quantity, which is what published_present prints of it. */
static double ratio_of(const struct published_figure *f) {
  double none = published_present(f, 0), one = published_present(f, 1);
  return one != none ? (f->value - none) / (one - none) : 0;
}

/* Numbers of the figure's mean that are of one column over another. */
static void add_numbers(struct headline *h, const struct published *all, const char *suite) {
  for (size_t k = 0; k < published_count(all); k++) {
    const struct published_figure *f = published_at(all, k);
    const char *group, *over = NULL;
    enum published_kind kind;
    if (!published_of_suite(f, suite) || !paper_where_is(h->figure, f) || !published_is_relative(f)) continue;
    if (!published_of_group(f, &group, &kind) || kind > PUBLISHED_HARMONIC) continue;
    if (strcmp(group, paper_text(h->mean, "group"))) continue;
    for (size_t i = 0; i < h->count; i++) {
      if (!paper_fits(h->figure, h->column[i], f) || !paper_over_of(h->figure, h->column[i], f, &over)) continue;
      order_number(&h->published, i, column_number(h, over), ratio_of(f));
    }
  }
}

/* ---- what was measured ---- */

/* The quantity of column i over column j: of a program the mean over its inputs, or of its kernels. */
static void add_program(struct paper *p, const struct headline *h, const char *workload, size_t i, size_t j,
                        double *ratio, size_t *n) {
  const char *metric = paper_text(h->figure, "metric");
  bool kernels = !strcmp(paper_text(h->mean, "per"), "kernel");
  json_t *sums = json_object();
  double sum = 0;
  size_t inputs = 0;
  for (size_t seed = 0;; seed++) {
    const json_t *a = paper_column_values(p, h->figure, h->column[i], workload, seed),
                 *b = paper_column_values(p, h->figure, h->column[j], workload, seed);
    if (!a || !b) break;
    if (kernels) paper_add_kernels(sums, a, b);
    else if (paper_counter(a, metric) > 0 && paper_counter(b, metric) > 0)
      sum += paper_counter(a, metric) / paper_counter(b, metric), inputs++;
  }
  *n += paper_kernel_means(sums, ratio + *n, RATIOS_MAX - *n);
  json_decref(sums);
  if (inputs && *n < RATIOS_MAX) ratio[(*n)++] = sum / (double)inputs;
}

static size_t ratios_of(struct paper *p, const struct headline *h, const struct workload_list *l, size_t i, size_t j,
                        double *ratio) {
  const char *group = paper_text(h->mean, "group");
  size_t n = 0;
  for (size_t k = 0; k < l->count; k++)
    if (!*group || !strcmp(group, l->at[k].group)) add_program(p, h, l->at[k].name, i, j, ratio, &n);
  return n;
}

/* {figure, where, mean, base, lowest, published: {LABEL: ratio}, measured: {LABEL: ratio}, intervals: {measured:
 * {LABEL: [low, high]}}, pairs: [{better, than, measured: {found, ratio}}]}; ratios are over the base, of a pair of the
 * first over the second. */
static json_t *order_json(struct paper *p, const struct headline *h, const struct workload_list *l) {
  double *ratio = ARENA_ARRAY(&p->arena, double, RATIOS_MAX);
  enum published_kind kind = paper_mean_kind(paper_text(h->mean, "of"));
  json_t *published = json_object(), *measured = json_object(), *intervals = json_object(), *pairs = json_array();
  double low, high;
  for (size_t i = 0; i < h->count; i++) {
    size_t n = i == h->base ? 0 : ratios_of(p, h, l, i, h->base, ratio);
    double said = i == h->base ? 1 : h->published.ratio[i][h->base];
    if (said > 0) json_object_set_new(published, h->label[i], json_real(said));
    if (n) json_object_set_new(measured, h->label[i], json_real(published_mean(kind, ratio, n)));
    if (published_interval(kind, ratio, n, &low, &high) && high < HUGE_VAL)
      json_object_set_new(intervals, h->label[i], json_pack("[f, f]", low, high));
  }
  if (json_object_size(measured)) json_object_set_new(measured, h->label[h->base], json_real(1));
  for (size_t i = 0; i < h->count; i++) {
    for (size_t j = 0; j < h->count; j++) {
      if (!order_published(&h->published, i, j)) continue;
      size_t n = ratios_of(p, h, l, i, j, ratio);
      const char *found = order_found_names[order_judge(&h->published, kind, ratio, n)];
      json_array_append_new(pairs,
                            json_pack("{s:s, s:s, s:{s:s, s:f}}", "better", h->label[i], "than", h->label[j],
                                      "measured", "found", found, "ratio", n ? published_mean(kind, ratio, n) : 0.0));
    }
  }
  return json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:o, s:{s:o}, s:o}", "figure", paper_text(h->figure, "figure"),
                   "where", paper_text(h->figure, "where"), "mean", paper_text(h->mean, "label"), "base",
                   h->label[h->base], "lowest", h->published.lowest, "published", published, "measured", measured,
                   "intervals", "measured", intervals, "pairs", pairs);
}

bool paper_order(struct paper *p, const struct published *all, struct err *e) {
  struct headline h;
  struct workload_list l = {0};
  json_t *figure = headline_figure(p);
  if (!figure || !strcmp(paper_size(p, figure), "small")) return true; /* small inputs fit the caches */
  bool ok =
      headline_open(&h, figure, e) && add_statements(&h, e) && workloads_load(&l, paper_text(figure, "suite"), NULL, e);
  if (ok) {
    add_numbers(&h, all, p->name);
    p->order = order_json(p, &h, &l);
  }
  workloads_free(&l);
  return ok;
}

/* ---- printing ---- */

/* Names of the columns with a ratio, the best first. */
static size_t best_first(const json_t *ratios, bool lowest, const char **label) {
  const char *name;
  json_t *v;
  size_t n = 0;
  json_object_foreach((json_t *)ratios, name, v) {
    size_t i = n++;
    for (; i > 0; i--) {
      double before = paper_counter(ratios, label[i - 1]), mine = json_number_value(v);
      if (lowest ? before <= mine : before >= mine) break;
      label[i] = label[i - 1];
    }
    label[i] = name;
  }
  return n;
}

static void put_ratios(FILE *f, const char *title, const json_t *ratios, bool lowest) {
  const char *label[ORDER_MOST];
  size_t n = best_first(ratios, lowest, label);
  fprintf(f, "  %-10s", title);
  for (size_t i = 0; i < n; i++) fprintf(f, "%s %s %.3f", i ? "," : "", label[i], paper_counter(ratios, label[i]));
  fputc('\n', f);
}

/* Pairs that the line of published numbers does not show. */
static void put_stated(FILE *f, const json_t *order) {
  const json_t *published = json_object_get(order, "published");
  json_t *pair;
  const char *before = "";
  size_t i;
  json_array_foreach(json_object_get(order, "pairs"), i, pair) {
    const char *better = paper_text(pair, "better"), *than = paper_text(pair, "than");
    if (json_object_get(published, better) && json_object_get(published, than)) continue;
    if (!strcmp(before, better)) fprintf(f, ", %s", than);
    else fprintf(f, "%s%s before %s", *before ? "; " : "  and        ", better, than);
    before = better;
  }
  if (*before) fputc('\n', f);
}

static void put_pairs(FILE *f, const json_t *order, const char *key) {
  size_t count[ORDER_FOUND] = {0}, i, reversed = 0, side = 0;
  bool lowest = json_is_true(json_object_get(order, "lowest"));
  json_t *pair, *pairs = json_object_get(order, "pairs");
  json_array_foreach(pairs, i, pair) {
    const json_t *one = json_object_get(pair, key);
    double ratio = json_number_value(json_object_get(one, "ratio"));
    for (int k = 0; k < ORDER_FOUND; k++) count[k] += !strcmp(paper_text(one, "found"), order_found_names[k]);
    side += !strcmp(paper_text(one, "found"), order_found_names[ORDER_TIE]) && (lowest ? ratio < 1 : ratio > 1);
  }
  fprintf(f, "  %-10s of %zu pairs %zu as published, %zu ties", key, json_array_size(pairs), count[ORDER_AS_PUBLISHED],
          count[ORDER_TIE]);
  if (count[ORDER_TIE]) fprintf(f, " (%zu on the published side)", side);
  fprintf(f, ", %zu reversed", count[ORDER_REVERSED]);
  if (count[ORDER_NOT_MEASURED]) fprintf(f, ", %zu not measured", count[ORDER_NOT_MEASURED]);
  json_array_foreach(pairs, i, pair) {
    if (strcmp(paper_text(json_object_get(pair, key), "found"), order_found_names[ORDER_REVERSED])) continue;
    fprintf(f, "%s%s before %s", reversed++ ? ", " : ": ", paper_text(pair, "than"), paper_text(pair, "better"));
  }
  fputc('\n', f);
}

/* The order as text, for the report and the terminal. */
static const char *order_text(struct paper *p, const json_t *order) {
  static const char *const keys[] = {"published", "workloads", "originals"};
  bool lowest = json_is_true(json_object_get(order, "lowest"));
  char *text = NULL;
  size_t bytes = 0;
  FILE *f = open_memstream(&text, &bytes);
  CHECK(f, "out of memory");
  fprintf(f, "order of schemes, the best first: %s of %s (%s), over %s\n", paper_text(order, "mean"),
          paper_text(order, "figure"), paper_text(order, "where"), paper_text(order, "base"));
  for (size_t i = 0; i < 3; i++) {
    const json_t *ratios = json_object_get(order, keys[i]);
    if (json_object_size(ratios) > 1) put_ratios(f, keys[i], ratios, lowest);
    if (!i) put_stated(f, order);
  }
  for (size_t i = 1; i < 3; i++)
    if (json_object_size(json_object_get(order, keys[i]))) put_pairs(f, order, keys[i]);
  fclose(f);
  const char *kept = arena_strdup(&p->arena, text);
  free(text);
  return kept;
}

/* What was measured goes from one object into another under a name; NULL: it goes. */
static void name_measured(json_t *to, const char *name, json_t *from) {
  json_t *measured = json_object_get(from, "measured");
  if (!name) json_object_del(to, "measured");
  else if (measured) json_object_set(to, name, measured);
}

void paper_order_join(struct paper *p, const struct paper *q) {
  json_t *pair, *other = q->order;
  size_t i;
  if (!p->order) return;
  const char *own = p->originals ? "originals" : "workloads", *theirs = p->originals ? "workloads" : "originals";
  name_measured(p->order, own, p->order);
  if (other) name_measured(p->order, theirs, other);
  name_measured(p->order, NULL, p->order);
  json_t *intervals = json_object_get(p->order, "intervals");
  name_measured(intervals, own, intervals);
  if (other) name_measured(intervals, theirs, json_object_get(other, "intervals"));
  name_measured(intervals, NULL, intervals);
  json_array_foreach(json_object_get(p->order, "pairs"), i, pair) {
    name_measured(pair, own, pair);
    if (other) name_measured(pair, theirs, json_array_get(json_object_get(other, "pairs"), i));
    name_measured(pair, NULL, pair);
  }
  json_object_set_new(p->order, "text", json_string(order_text(p, p->order)));
}

void paper_order_print(const struct paper *p) {
  if (p->order) printf("%s: %s", p->name, paper_text(p->order, "text"));
}
