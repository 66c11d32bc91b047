/* league_page.c - `sluice league FILE --page`: the machines of a results file side by side, as a page in Markdown.
 *
 * A machine called "NAME +PROPERTY" is NAME with one property of another; it is compared with NAME. What a person says
 * about the tables is a file of its own (--intro), so that drawing the page again keeps it.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd/figures_draw.h"
#include "cli/cmd/league.h"
#include "results/published.h"

enum { MACHINES = 32, MENTIONED = 6, INTRO_MOST = 1 << 20 };
#define MUCH 1.05 /* a program's gain that is worth a mention */

struct page {
  struct league at[MACHINES];  /* of one machine each */
  size_t of[MACHINES];         /* the machine that it changes; itself: none */
  size_t count, planned, done; /* machines; runs of all of them */
};

/* ---- Markdown ---- */

static void print_page_table(struct table *t) {
  size_t columns = table_columns(t);
  for (size_t i = 0; i < columns; i++) printf("| %s ", table_title(t, i));
  puts("|");
  for (size_t i = 0; i < columns; i++) fputs(table_is_number(t, i) ? "|--:" : "|---", stdout);
  puts("|");
  for (size_t r = 0; r < table_rows(t); r++) {
    for (size_t i = 0; i < columns; i++) printf("| %s ", table_at(t, r, i));
    puts("|");
  }
  table_free(t);
}

/* Bold where the whole interval is above 1, in italics where it is below. */
static const char *mark_of(const struct league_ratio *r) {
  if (!(r->programs > 2) || !isfinite(r->low)) return "";
  return r->low > 1 ? "**" : r->high < 1 ? "*" : "";
}
static void mean_cell(struct table *t, const struct league_ratio *r) {
  if (isfinite(r->mean)) table_cell(t, "%s%.3f%s", mark_of(r), r->mean, mark_of(r));
  else table_cell(t, "-");
}
static void interval_cell(struct table *t, const struct league_ratio *r) {
  if (isfinite(r->low) && isfinite(r->high)) table_cell(t, "%.3f to %.3f", r->low, r->high);
  else table_cell(t, "-");
}

/* ---- the tables ---- */

static bool is_machine(const struct page *p, size_t i) {
  return p->of[i] == i;
}

/* A column for each machine; `class` by name, NULL: all programs. */
static void print_machines(const struct page *p, const char *class) {
  const char *titles[MACHINES + 2] = {"scheme"};
  char align[MACHINES + 2] = "l";
  size_t columns = 1;
  for (size_t i = 0; i < p->count; i++)
    if (is_machine(p, i)) titles[columns] = p->at[i].gpu, align[columns++] = 'r';
  struct table *t = table_new(titles, align);
  const struct league *first = &p->at[0];
  for (size_t s = 0; s < first->scheme_count; s++) {
    if (s == first->base) continue;
    table_cell(t, "%s", first->schemes[s]);
    for (size_t i = 0; i < p->count; i++) {
      const struct league *l = &p->at[i];
      size_t own = league_scheme(l, first->schemes[s]), c = 0;
      if (!is_machine(p, i)) continue;
      while (class && c < l->class_count && strcmp(l->classes[c], class)) c++;
      struct league_ratio r = {.mean = NAN};
      if (own < l->scheme_count && c < l->class_count) r = league_over_base(l, c, own, LEAGUE_IPC);
      mean_cell(t, &r);
    }
  }
  print_page_table(t);
}

static void share_cell(struct table *t, const struct league *l, size_t scheme, const char *bound) {
  struct league_ratio r = league_share(l, scheme, league_scheme(l, bound));
  if (isfinite(r.mean)) table_cell(t, "%.0f %%", 100 * r.mean);
  else table_cell(t, "-");
}

static void print_machine(const struct league *l) {
  static const char *const titles[] = {"scheme",        "IPC",          "95 % interval", "programs", "energy",
                                       "SM-L2 traffic", "DRAM traffic", "storage, KB",   "of min",   "of l2-min"};
  struct table *t = table_new(titles, "lrlrrrrrrr");
  for (size_t s = 0; s < l->scheme_count; s++) {
    struct league_ratio r = league_over_base(l, 0, s, LEAGUE_IPC);
    double bits = league_bits(l, s);
    if (s == l->base) continue;
    table_cell(t, "%s", l->schemes[s]);
    mean_cell(t, &r);
    interval_cell(t, &r);
    table_cell(t, "%zu", r.programs);
    for (enum league_metric m = LEAGUE_ENERGY; m < LEAGUE_METRICS; m++)
      table_cell(t, "%.3f", league_over_base(l, 0, s, m).mean);
    if (isfinite(bits)) table_cell(t, "%.2f", bits / 8192);
    else table_cell(t, "-");
    share_cell(t, l, s, "min");
    share_cell(t, l, s, "l2-min");
  }
  print_page_table(t);
}

/* ---- which programs ---- */

struct change {
  size_t program;
  double ratio;
};
static int most_first(const void *x, const void *y) {
  const struct change *a = x, *b = y;
  return a->ratio > b->ratio ? -1 : a->ratio < b->ratio ? 1 : a->program < b->program ? -1 : 1;
}

/* The programs of a scheme that gain (sign 1) or lose (-1) much, the greatest change first. */
static void changes_cell(struct table *t, const struct league *l, size_t scheme, int sign) {
  struct change *c = mem_alloc((l->program_count + 1) * sizeof *c);
  char text[512] = "";
  size_t n = 0;
  for (size_t p = 0; p < l->program_count; p++) {
    double base = league_mean(l, p, l->base, LEAGUE_IPC), own = league_mean(l, p, scheme, LEAGUE_IPC);
    if (base > 0 && own > 0 && pow(own / base, sign) >= MUCH) c[n++] = (struct change){p, pow(own / base, sign)};
  }
  qsort(c, n, sizeof *c, most_first);
  for (size_t i = 0; i < n && i < MENTIONED; i++) {
    size_t have = strlen(text);
    snprintf(text + have, sizeof text - have, "%s%s %.2f", i ? ", " : "", l->programs[c[i].program],
             pow(c[i].ratio, sign));
  }
  if (n > MENTIONED) snprintf(text + strlen(text), sizeof text - strlen(text), ", and %zu more", n - MENTIONED);
  table_cell(t, "%s", text);
  free(c);
}

static void print_programs(const struct league *l) {
  static const char *const titles[] = {"scheme", "gain 5 % or more", "lose 5 % or more"};
  struct table *t = table_new(titles, "lll");
  for (size_t s = 0; s < l->scheme_count; s++) {
    if (s == l->base) continue;
    table_cell(t, "%s", l->schemes[s]);
    changes_cell(t, l, s, 1);
    changes_cell(t, l, s, -1);
  }
  print_page_table(t);
}

/* ---- why ---- */

/* The ratio of a scheme on machine `x` over that on machine `y`, of the programs that both have; of the baseline: its
 * IPC on `x` over that on `y`. */
static struct league_ratio changed_by(const struct league *x, const struct league *y, const char *scheme) {
  size_t in_x = league_scheme(x, scheme), in_y = league_scheme(y, scheme), n = 0;
  struct league_ratio none = {.mean = NAN, .low = NAN, .high = NAN};
  if (in_x == x->scheme_count || in_y == y->scheme_count) return none;
  double *ratio = mem_alloc((x->program_count + 1) * sizeof *ratio);
  for (size_t p = 0; p < x->program_count; p++) {
    size_t q = 0;
    while (q < y->program_count && strcmp(y->programs[q], x->programs[p])) q++;
    if (q == y->program_count) continue;
    double a = league_mean(x, p, in_x, LEAGUE_IPC), b = league_mean(y, q, in_y, LEAGUE_IPC);
    double a0 = in_x == x->base ? 1 : league_mean(x, p, x->base, LEAGUE_IPC);
    double b0 = in_y == y->base ? 1 : league_mean(y, q, y->base, LEAGUE_IPC);
    if (a > 0 && b > 0 && a0 > 0 && b0 > 0) ratio[n++] = a / a0 / (b / b0);
  }
  struct league_ratio r = league_ratio_of(ratio, n);
  free(ratio);
  return r;
}

/* The properties of one machine: a column each. */
static void print_why(const struct page *p, size_t machine) {
  const char *titles[MACHINES + 2] = {"scheme", p->at[machine].gpu};
  char align[MACHINES + 3] = "lr";
  size_t columns = 2, column[MACHINES];
  for (size_t i = 0; i < p->count; i++)
    if (!is_machine(p, i) && p->of[i] == machine)
      titles[columns] = strchr(p->at[i].gpu, '+'), align[columns] = 'r', column[columns++] = i;
  if (columns == 2) return;
  const struct league *l = &p->at[machine];
  printf("\n## Properties, one at a time, on `%s`\n\n", l->gpu);
  struct table *t = table_new(titles, align);
  for (size_t s = 0; s < l->scheme_count; s++) {
    struct league_ratio r = league_over_base(l, 0, s, LEAGUE_IPC);
    table_cell(t, "%s", s == l->base ? "baseline, beside its own" : l->schemes[s]);
    if (s == l->base) table_cell(t, "1");
    else mean_cell(t, &r);
    for (size_t c = 2; c < columns; c++) {
      struct league_ratio by = changed_by(&p->at[column[c]], l, l->schemes[s]);
      mean_cell(t, &by);
    }
  }
  print_page_table(t);
}

/* ---- the page ---- */

static void print_intro(const struct page *p, const char *file, const char *text) {
  const struct league *l = &p->at[0];
  const char *slash = strrchr(file, '/');
  size_t runs = 0;
  for (size_t i = 0; i < p->count; i++) runs += p->at[i].run_count;
  printf("# Schemes on several machines\n\n%s%s", text, *text ? "\n" : "");
  printf(
      "Generated by `sluice league %s --page` from %zu stored runs%s%s.\n\n"
      "A number is the geometric mean over programs of IPC over the baseline's of the same machine. **Bold**: its 95 "
      "%% interval (Student's t of\nthe logarithms) lies above 1; *italics*: below. Schemes have default parameters; "
      "`min` and `l2-min` are bounds of replacement (Belady).\n\n",
      slash ? slash + 1 : file, runs, *l->size ? ", inputs " : "", l->size);
  if (p->done < p->planned)
    printf("**Unfinished**: %.0f %% of the planned runs are missing.\n\n",
           100.0 * (double)(p->planned - p->done) / (double)p->planned);
  for (size_t i = 0; i < p->count; i++)
    if (is_machine(p, i)) printf("- `%s`: %zu programs\n", p->at[i].gpu, p->at[i].program_count);
  puts("\nWhere the launch splits the L1 (`sm.unified_kb`), organisations of the L1 (`tsc+`, `decoupled-l1d`) have the "
       "sets and ways of\n`l1d` instead: their numbers there include a smaller L1. They, `latte-cc`, `linebacker` and "
       "`ciao` reserve a line\non the miss, also where the L1 of the baseline does not (`l1d.allocate: on-fill`).");
}

/* The schemes whose interval is above 1 (sign 1) or below (-1) on a machine. */
static void print_sure(const struct league *l, int sign) {
  const char *before = sign > 0 ? " gain " : "; lose ";
  for (size_t s = 0; s < l->scheme_count; s++) {
    struct league_ratio r = league_over_base(l, 0, s, LEAGUE_IPC);
    const char *mark = s == l->base ? "" : mark_of(&r);
    if (strlen(mark) != (sign > 0 ? 2 : 1)) continue;
    printf("%s`%s` %.3f", before, l->schemes[s], r.mean);
    before = ", ";
  }
  if (before[0] != ',') printf("%snone", before);
}

static void print_findings(const struct page *p) {
  puts("\n## What is sure\n\nSchemes whose interval over all programs leaves 1 out:\n");
  for (size_t i = 0; i < p->count; i++) {
    if (!is_machine(p, i)) continue;
    printf("- `%s`:", p->at[i].gpu);
    print_sure(&p->at[i], 1);
    print_sure(&p->at[i], -1);
    puts("");
  }
}

static void print_classes(const struct page *p) {
  const struct league *first = &p->at[0];
  puts("\n## By class\n\nThe classes of the decoupled L1D's paper; the other programs have none.");
  for (size_t c = 1; c < first->class_count; c++) {
    size_t n = 0;
    for (size_t i = 0; i < first->program_count; i++) n += first->class_of[i] == c;
    printf("\n### %s (%zu programs on %s)\n\n", first->classes[c], n, first->gpu);
    print_machines(p, first->classes[c]);
  }
}

/* ---- the figure ---- */

static json_t *panel_of(const struct league *l) {
  json_t *values = json_object();
  for (size_t s = 0; s < l->scheme_count; s++) {
    struct league_ratio r = league_over_base(l, 0, s, LEAGUE_IPC);
    if (s == l->base || !isfinite(r.mean)) continue;
    json_t *v = json_pack("[f]", r.mean);
    json_array_append_new(v, isfinite(r.low) ? json_real(r.low) : json_null());
    json_array_append_new(v, isfinite(r.high) ? json_real(r.high) : json_null());
    json_object_set_new(values, l->schemes[s], v);
  }
  return json_pack("{s:s, s:o, s:o}", "name", l->gpu, "note", json_sprintf("%zu programs", l->program_count), "values",
                   values);
}

/* The table of all programs, as `league` in a folder. */
static bool draw_machines(const struct page *p, const char *dir, struct err *e) {
  const struct league *first = &p->at[0];
  json_t *rows = json_array(), *panels = json_array();
  for (size_t s = 0; s < first->scheme_count; s++)
    if (s != first->base) json_array_append_new(rows, json_string(first->schemes[s]));
  for (size_t i = 0; i < p->count; i++)
    if (is_machine(p, i)) json_array_append_new(panels, panel_of(&p->at[i]));
  json_t *figure =
      json_pack("{s:s, s:s, s:s, s:s, s:{s:s}, s:o, s:o}", "figure", "league", "where", "", "title",
                "Schemes on several machines", "kind", "intervals", "axis", "x",
                "IPC over the baseline's of the same machine, 95 % interval", "rows", rows, "panels", panels);
  return figures_draw(json_pack("{s:[o], s:[]}", "figures", figure, "runs"), dir, true, e);
}

static void print_all(const struct page *p, const struct league_options *o, const char *text) {
  print_intro(p, o->file, text);
  print_findings(p);
  puts("\n## All programs\n");
  if (o->figures)
    puts("![Means and intervals of all schemes on each machine](league.svg)\n\n"
         "Filled: the interval leaves 1 out. An arrow: the mean lies beyond the edge.\n");
  print_machines(p, NULL);
  print_classes(p);
  for (size_t i = 0; i < p->count; i++) {
    if (!is_machine(p, i)) continue;
    printf(
        "\n## %s\n\nEnergy and traffic over the baseline's. `of min`, `of l2-min`: the share of the distance from the "
        "baseline to the bound that\na scheme covers, in programs where the bound gains 1 %% or more.\n\n",
        p->at[i].gpu);
    print_machine(&p->at[i]);
    puts("");
    print_programs(&p->at[i]);
    puts("\nWhat holds the baseline up, and what the bounds gain:\n");
    print_page_table(league_limits(&p->at[i]));
  }
  for (size_t i = 0; i < p->count; i++)
    if (is_machine(p, i)) print_why(p, i);
  puts("\nThe first row is the baseline's IPC with the property over its IPC without; the others are how the property "
       "changes what a\nscheme gains: 0.95 takes 5 % off its ratio. Bold and italics as above.");
}

static bool each_machine(void *ctx, const struct db_row *row) {
  struct page *p = ctx;
  p->planned++;
  p->done += row->status == DB_DONE;
  if (row->status != DB_DONE || !row->gpu) return true;
  for (size_t i = 0; i < p->count; i++)
    if (!strcmp(p->at[i].gpu, row->gpu)) return true;
  if (p->count < MACHINES) p->at[p->count++].gpu = arena_strdup(&p->at[0].arena, row->gpu);
  return true;
}

static bool page_load(struct page *p, struct db *db, const struct league_options *o, struct err *e) {
  if (!db_each(db, o->study, each_machine, p, e)) return false;
  if (!p->count) return err_set(e, ERR_INPUT, "%s: no finished run of a named machine in it", o->file);
  for (size_t i = 0; i < p->count; i++) {
    struct league_options own = *o;
    own.gpu = p->at[i].gpu;
    p->at[i].db = db;
    if (!league_load(&p->at[i], &own, e) || !league_classes(&p->at[i], o->classes ? o->classes : "decoupled-l1d", e))
      return false;
  }
  for (size_t i = 0; i < p->count; i++) {
    size_t base = strcspn(p->at[i].gpu, "+");
    p->of[i] = i;
    for (size_t k = 0; p->at[i].gpu[base] && k < p->count; k++)
      if (strlen(p->at[k].gpu) + 1 == base && !strncmp(p->at[k].gpu, p->at[i].gpu, base - 1)) p->of[i] = k;
  }
  return true;
}

bool league_page(struct db *db, const struct league_options *o, struct err *e) {
  struct page *p = mem_zeroed(1, sizeof *p);
  char *text = NULL;
  bool ok = (!o->intro || (text = input_read(o->intro, INTRO_MOST, NULL, e))) && page_load(p, db, o, e) &&
            (!o->figures || draw_machines(p, o->figures, e));
  if (ok) print_all(p, o, text ? text : "");
  free(text);
  for (size_t i = 0; i < p->count; i++) p->at[i].db = NULL;   /* the caller's */
  for (size_t i = p->count; i-- > 0;) league_free(&p->at[i]); /* the first has the names of all */
  free(p);
  return ok;
}
