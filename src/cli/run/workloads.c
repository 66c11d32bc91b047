/* workloads.c - `sluice workloads`, and the list of bundled programs for the other commands. */
#include "cli/run/workloads.h"

#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "cli/frame/cli.h"
#include "cli/tables/rows.h"

static const char *const suites[] = {"all", "bucl", "tsc", "medic", "decoupled-l1d", "sharing"};
static const char *const sizes[WORKLOAD_SIZES] = {"small", "medium", "large"};

static const char *workload_text(json_t *w, const char *key) {
  const char *s = json_string_value(json_object_get(w, key));
  return s ? s : "";
}

static bool word_known(const char *what, const char *word, const char *const *words, size_t n, struct err *e) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(word, words[i])) return true;
  const char *near = err_nearest(word, words, n);
  char all[160] = "";
  for (size_t i = 0; i < n; i++) snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", words[i]);
  return err_set(e, ERR_USAGE, "unknown %s '%s'; %s%s%s", what, word, near ? "did you mean '" : "there are ",
                 near ? near : all, near ? "'?" : "");
}

static int by_group(const void *a, const void *b) {
  const struct workload *x = a, *y = b;
  int c = strcmp(x->group, y->group);
  return c ? c : strcmp(x->name, y->name);
}

bool workloads_load(struct workload_list *l, const char *suite, const char *size, struct err *e) {
  char path[PATH_MAX];
  json_error_t je;
  l->count = 0;
  l->json = NULL;
  if (!word_known("suite", suite, suites, sizeof suites / sizeof *suites, e)) return false;
  if (size && !word_known("size", size, sizes, WORKLOAD_SIZES, e)) return false;
  path_find(path, sizeof path, "workloads.json");
  l->json = json_load_file(path, 0, &je);
  if (!json_is_array((json_t *)l->json))
    return err_set(e, ERR_INPUT, "no bundled workloads here (%s): `make` builds them", path);
  size_t i;
  json_t *w;
  json_array_foreach((json_t *)l->json, i, w) {
    const char *alias = workload_text(json_object_get(w, "suites"), suite);
    if (strcmp(suite, "all") && !*alias) continue;
    CHECK(l->count < WORKLOADS_MAX, "more than %d workloads", WORKLOADS_MAX);
    struct workload *r = &l->at[l->count++];
    *r = (struct workload){.name = workload_text(w, "name"),
                           .about = workload_text(w, "about"),
                           .alias = alias,
                           .group = workload_text(json_object_get(w, "groups"), suite)};
    for (size_t s = 0; s < WORKLOAD_SIZES; s++) {
      r->warp_insts[s] = json_number_value(json_object_get(json_object_get(w, "warp_insts"), sizes[s]));
      r->seconds[s] = json_number_value(json_object_get(json_object_get(w, "seconds"), sizes[s]));
    }
  }
  qsort(l->at, l->count, sizeof *l->at, by_group);
  return true;
}

void workloads_free(struct workload_list *l) {
  json_decref(l->json);
  l->json = NULL;
}

/* ---- sluice workloads ---- */

struct workload_options {
  const char *suite, *group, *size;
  bool json, csv, whole;
};

static void number_cell(struct table *t, double n, bool seconds) {
  char buf[48];
  if (n <= 0 && !seconds) snprintf(buf, sizeof buf, "-");
  else if (seconds) snprintf(buf, sizeof buf, "%.1f", n);
  else cli_count(buf, sizeof buf, n);
  table_cell(t, "%s", buf);
}

/* Columns of one size are dropped together, the largest size first. */
static size_t size_columns(const char **titles, char *align, char *ranks, size_t c, size_t s, char head[2][40],
                           bool program) {
  snprintf(head[0], sizeof head[0], program ? "%s warp insts" : "%s: warp insts", sizes[s]);
  snprintf(head[1], sizeof head[1], program ? "%s seconds" : "s", sizes[s]);
  for (int k = 0; k < 2; k++, c++) titles[c] = head[k], align[c] = 'r', ranks[c] = s ? (char)('3' - (int)s) : '.';
  return c;
}

static void size_cells(struct table *t, const struct workload *w, size_t s, bool program) {
  bool timed = w->seconds[s] > 0 || s < 2; /* large: extrapolated from medium */
  bool counted = w->warp_insts[s] > 0;
  if (program) table_cell(t, "%.0f", w->warp_insts[s]);
  else number_cell(t, w->warp_insts[s], false);
  if (counted && timed) number_cell(t, w->seconds[s], true);
  else if (counted && w->warp_insts[1] > 0)
    table_cell(t, program ? "%.0f" : "~%.0f", w->warp_insts[s] * w->seconds[1] / w->warp_insts[1]);
  else table_cell(t, "-");
}

static void print_list(const struct workload_list *l, const struct workload_options *o) {
  bool all = !o->suite || !strcmp(o->suite, "all"), program = o->csv;
  const char *titles[16] = {"workload"};
  char align[16] = "l", ranks[16] = ".", head[WORKLOAD_SIZES][2][40];
  bool show[WORKLOAD_SIZES];
  size_t c = 1;
  if (!all) titles[c] = "in the paper", ranks[c] = '3', align[c++] = 'l';
  if (!all) titles[c] = "group", ranks[c] = '.', align[c++] = 'l';
  titles[c] = "what it does", ranks[c] = '.', align[c++] = 'l';
  for (size_t s = 0; s < WORKLOAD_SIZES; s++) {
    show[s] = o->size && !strcmp(o->size, sizes[s]);
    for (size_t i = 0; i < l->count && !o->size; i++) show[s] |= l->at[i].warp_insts[s] > 0;
    if (show[s]) c = size_columns(titles, align, ranks, c, s, head[s], program);
  }
  struct table *t = table_new(titles, align);
  if (o->whole || o->size) memset(ranks, '.', c);
  table_order(t, ranks);
  table_hint(t, "`sluice workloads --long`, --size SIZE or NAME shows them");
  for (size_t i = 0; i < l->count; i++) {
    const struct workload *w = &l->at[i];
    if (o->group && strcmp(o->group, w->group)) continue;
    table_cell(t, "%s", w->name);
    if (!all) table_cell(t, "%s", w->alias), table_cell(t, "%s", w->group);
    table_cell(t, "%s", w->about);
    for (size_t s = 0; s < WORKLOAD_SIZES; s++)
      if (show[s]) size_cells(t, w, s, program);
  }
  if (program) rows_print_table(t, DB_CSV, stdout);
  else table_print(t, stdout);
  table_free(t);
}

/* A paragraph under its heading, in lines of up to 100 columns. */
static void print_field(const char *title, const char *body) {
  size_t page = cli_page(100), column = page;
  if (*body) printf("\n%s:", title);
  for (const char *p = body + strspn(body, " "); *p; p += strspn(p, " ")) {
    size_t n = strcspn(p, " ");
    column += n + 1;
    if (column > page) column = n + 2, fputs("\n  ", stdout);
    else putchar(' ');
    printf("%.*s", (int)n, p);
    p += n;
  }
  if (*body) putchar('\n');
}

/* The header comment of one program, from the JSON list. */
static bool print_one(const struct workload_list *l, const char *name, struct err *e) {
  const char *names[WORKLOADS_MAX];
  json_t *w, *found = NULL, *v;
  size_t i;
  const char *key;
  json_array_foreach((json_t *)l->json, i, w) {
    names[i] = workload_text(w, "name");
    if (!strcmp(names[i], name)) found = w;
  }
  if (!found) {
    const char *near = err_nearest(name, names, json_array_size(l->json));
    return err_set(e, ERR_USAGE, "no workload '%s'%s%s%s", name, near ? ", did you mean '" : "", near ? near : "",
                   near ? "'?" : "; `sluice workloads` lists them");
  }
  printf("%s - %s\n\n", name, workload_text(found, "about"));
  json_object_foreach(json_object_get(found, "suites"), key, v) {
    const char *group = workload_text(json_object_get(found, "groups"), key);
    printf("  in %-14s %s%s%s\n", key, json_string_value(v), *group ? ", " : "", group);
  }
  static const char *const fields[][2] = {
      {"Stands for", "stands_for"}, {"Algorithm", "algorithm"}, {"Loads", "loads"}, {"Simplified", "simplified"}};
  for (size_t f = 0; f < 4; f++) print_field(fields[f][0], workload_text(found, fields[f][1]));
  printf("\nTry:\n  sluice run -- %s --size small\n  %s --help     the parameters behind the sizes\n", name,
         workload_text(found, "program"));
  return true;
}

static int workloads_run(const struct command *self, int argc, char **argv) {
  struct workload_options o = {0};
  struct workload_list l;
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  bool ok = workloads_load(&l, o.suite ? o.suite : "all", o.size, &e);
  if (ok && o.group) {
    const char *groups[WORKLOADS_MAX];
    size_t n = 0; /* the list is ordered by group */
    for (size_t i = 0; i < l.count; i++)
      if (*l.at[i].group && (!n || strcmp(groups[n - 1], l.at[i].group))) groups[n++] = l.at[i].group;
    if (!o.suite || !strcmp(o.suite, "all"))
      ok = err_set(&e, ERR_USAGE, "--group needs --suite: the groups are a paper's");
    else ok = word_known("group", o.group, groups, n, &e);
  }
  if (ok && o.json) {
    json_dumpf(l.json, stdout, JSON_INDENT(1));
    putchar('\n');
  } else if (ok && first < argc) {
    for (int i = first; ok && i < argc; i++) ok = print_one(&l, argv[i], &e);
  } else if (ok) {
    print_list(&l, &o);
  }
  workloads_free(&l);
  return ok ? EXIT_OK : cli_fail(&e);
}

#define AT(member) offsetof(struct workload_options, member)
static const struct opt workload_opts[] = {
    {"suite", "NAME", "those of one paper: bucl, tsc, medic, decoupled-l1d, sharing; or all", OPT_TEXT, AT(suite), 0,
     "all bucl tsc medic decoupled-l1d sharing"},
    {"group", "NAME", "those of one class of the suite's paper, un-coalesced say", OPT_TEXT, AT(group), 0, NULL},
    {"size", "SIZE", "numbers of one size: small, medium or large", OPT_TEXT, AT(size), 0, "small medium large"},
    {"long", NULL, "every column, however narrow the terminal", OPT_FLAG, AT(whole), 'l', NULL},
    {"csv", NULL, "the list for programs, as comma-separated values", OPT_FLAG, AT(csv), 0, NULL},
    {"json", NULL, "everything that is known, as JSON", OPT_FLAG, AT(json), 'j', NULL},
    {.name = NULL}};

const struct command cmd_workloads = {
    .name = "workloads",
    .summary = "list the bundled CUDA programs, or explain one",
    .usage = "[OPTIONS] [NAME...]",
    .help = "CUDA programs that come with Sluice; they check their own results. The list has their dynamic warp\n"
            "instructions and the processor seconds that the baseline takes to simulate them. With a name: the\n"
            "published program it stands for, its algorithm and its loads.\n\n"
            "Examples:\n"
            "  sluice workloads --suite bucl --group un-coalesced\n"
            "  sluice workloads kmeans\n"
            "  sluice run -- kmeans --size medium\n"
            "  sluice run --suite tsc --size small\n"
            "  sluice compare --suite bucl --size small --scheme baseline,bucl\n",
    .opts = workload_opts,
    .run = workloads_run,
};
