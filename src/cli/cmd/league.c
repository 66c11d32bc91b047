/* league.c - `sluice league FILE`: the schemes of one machine, ranked per class of program, from a results file. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/cmd/league.h"
#include "cli/run/workloads.h"
#include "gpu/slots/slots.h"
#include "report/report.h"
#include "results/published.h"

enum { LEAGUE_TOP = 10, LEAGUE_BITS = 32 };

/* ---- the runs ---- */

static size_t place(struct league *l, const char ***list, size_t *count, const char *name) {
  for (size_t i = 0; i < *count; i++)
    if (!strcmp((*list)[i], name)) return i;
  *list = mem_resize(*list, *count + 1, sizeof **list);
  (*list)[*count] = arena_strdup(&l->arena, name);
  return (*count)++;
}

/* Machines and sizes of the file, or the runs of the chosen ones. */
static bool add_run(void *ctx, const struct db_row *row) {
  struct league *l = ctx;
  const char *gpu = row->gpu ? row->gpu : "", *size = row->size ? row->size : "";
  if (row->status != DB_DONE || !row->workload) return true;
  if (!l->chosen) {
    place(l, &l->gpus, &l->gpu_count, gpu);
    place(l, &l->sizes, &l->size_count, size);
    return true;
  }
  if (strcmp(gpu, l->gpu) || strcmp(size, l->size)) return true;
  bool varied = row->parameters && strcmp(row->parameters, "{}") != 0;
  const char *scheme = row->scheme && *row->scheme ? row->scheme : "none";
  if (varied) scheme = arena_printf(&l->arena, "%s %s", scheme, row->parameters);
  struct league_run r = {.id = row->run,
                         .program = place(l, &l->programs, &l->program_count, row->workload),
                         .scheme = place(l, &l->schemes, &l->scheme_count, scheme)};
  for (size_t i = 0; i < l->run_count; i++)
    if (l->run[i].id == r.id && l->run[i].scheme == r.scheme) return true; /* planned twice, under two suites */
  double *v = r.value, up = 0, down = 0;
  if (!db_value(l->db, r.id, "ipc", &v[LEAGUE_IPC]) || !(v[LEAGUE_IPC] > 0)) return true;
  if (!db_value(l->db, r.id, "energy.total", &v[LEAGUE_ENERGY])) v[LEAGUE_ENERGY] = NAN;
  if (!db_value(l->db, r.id, "dram.bytes", &v[LEAGUE_DRAM])) v[LEAGUE_DRAM] = NAN;
  bool flits = db_value(l->db, r.id, "icnt.flits_up", &up) && db_value(l->db, r.id, "icnt.flits_down", &down);
  v[LEAGUE_TRAFFIC] = flits ? up + down : NAN;
  l->run = mem_resize(l->run, l->run_count + 1, sizeof *l->run);
  l->run[l->run_count++] = r;
  return true;
}

/* The only one, or the one that is asked. */
static bool league_choose(const char **out, const char *asked, const char **list, size_t count, const char *option,
                          struct err *e) {
  for (size_t i = 0; asked && i < count; i++)
    if (!strcmp(list[i], asked)) return *out = list[i], true;
  if (!asked && count == 1) return *out = list[0], true;
  char names[256] = "";
  for (size_t i = 0; i < count; i++) {
    size_t have = strlen(names);
    snprintf(names + have, sizeof names - have, "%s%s", i ? ", " : "", *list[i] ? list[i] : "''");
  }
  return asked ? err_set(e, ERR_USAGE, "--%s: no finished run of '%s'; the file has %s", option, asked, names)
               : err_set(e, ERR_USAGE, "the file has runs of %s: choose with --%s", names, option);
}

double league_mean(const struct league *l, size_t program, size_t scheme, enum league_metric m) {
  double sum = 0;
  size_t n = 0;
  for (size_t i = 0; i < l->run_count; i++) {
    const struct league_run *r = &l->run[i];
    if (r->program == program && r->scheme == scheme) sum += r->value[m], n++;
  }
  return n ? sum / (double)n : 0;
}

size_t league_scheme(const struct league *l, const char *name) {
  size_t i = 0;
  while (i < l->scheme_count && strcmp(l->schemes[i], name)) i++;
  return i;
}

struct league_ratio league_ratio_of(const double *ratio, size_t n) {
  struct league_ratio r = {.mean = NAN, .low = NAN, .high = NAN, .programs = n};
  if (n) r.mean = published_mean(PUBLISHED_GEOMETRIC, ratio, n);
  if (n) published_interval(PUBLISHED_GEOMETRIC, ratio, n, &r.low, &r.high);
  return r;
}

struct league_ratio league_over_base(const struct league *l, size_t class, size_t scheme, enum league_metric m) {
  double *ratio = mem_alloc((l->program_count + 1) * sizeof *ratio);
  size_t n = 0;
  for (size_t p = 0; p < l->program_count; p++) {
    double base = league_mean(l, p, l->base, m), own = league_mean(l, p, scheme, m);
    if ((!class || l->class_of[p] == class) && base > 0 && own > 0) ratio[n++] = own / base;
  }
  struct league_ratio r = league_ratio_of(ratio, n);
  free(ratio);
  return r;
}

bool league_load(struct league *l, const struct league_options *o, struct err *e) {
  if (!db_each(l->db, o->study, add_run, l, e)) return false;
  if (!l->gpu_count) return err_set(e, ERR_INPUT, "%s: no finished run of a named program in it", o->file);
  if (!league_choose(&l->gpu, o->gpu, l->gpus, l->gpu_count, "gpu", e) ||
      !league_choose(&l->size, o->size, l->sizes, l->size_count, "size", e))
    return false;
  l->chosen = true;
  if (!db_each(l->db, o->study, add_run, l, e)) return false;
  l->base = league_scheme(l, "none");
  if (l->base == l->scheme_count)
    return err_set(e, ERR_INPUT, "%s: no run of the baseline (scheme none) on %s to compare with", o->file, l->gpu);
  return true;
}

/* ---- classes ---- */

bool league_classes(struct league *l, const char *suite, struct err *e) {
  struct workload_list w;
  bool ok = workloads_load(&w, suite, NULL, e);
  l->class_of = mem_zeroed(l->program_count + 1, sizeof *l->class_of);
  place(l, &l->classes, &l->class_count, "all");
  for (size_t i = 0; ok && i < w.count; i++)
    for (size_t p = 0; p < l->program_count; p++)
      if (!strcmp(w.at[i].name, l->programs[p]) && *w.at[i].group)
        l->class_of[p] = place(l, &l->classes, &l->class_count, w.at[i].group);
  workloads_free(&w);
  return ok;
}

/* ---- the table ---- */

double league_bits(const struct league *l, size_t scheme) {
  char list[512];
  struct err e = {0};
  struct gpu_config g;
  struct slots s;
  struct scheme_bits row[LEAGUE_BITS];
  double bits = 0;
  if (scheme == l->base) return 0;
  snprintf(list, sizeof list, "%.*s", (int)strcspn(l->schemes[scheme], " "), l->schemes[scheme]);
  if (!gpu_config_load(&g, l->gpu, &e) || !slots_parse(&s, list, &e)) return NAN;
  for (uint32_t i = 0; i < s.count; i++) {
    const struct scheme *k = s.at[i].scheme;
    uint32_t n = k->storage ? k->storage(&g, s.at[i].param, row, LEAGUE_BITS) : 0;
    for (uint32_t b = 0; b < n; b++) bits += row[b].bits;
  }
  return bits;
}

static struct league_entry entry_of(const struct league *l, size_t class, size_t scheme) {
  struct league_entry t = {.class = class, .scheme = scheme, .bits = league_bits(l, scheme), .low = NAN, .high = NAN};
  struct league_ratio ipc = league_over_base(l, class, scheme, LEAGUE_IPC);
  for (size_t p = 0; p < l->program_count; p++) {
    double base = league_mean(l, p, l->base, LEAGUE_IPC), own = league_mean(l, p, scheme, LEAGUE_IPC);
    if ((class && l->class_of[p] != class) || base <= 0) continue;
    t.of++;
    if (own <= 0) continue;
    double r = own / base;
    t.programs++;
    if (t.programs == 1 || r < t.worst) t.worst = r, t.worst_at = p;
    if (t.programs == 1 || r > t.best) t.best = r, t.best_at = p;
  }
  t.ipc = ipc.mean, t.low = ipc.low, t.high = ipc.high;
  t.energy = league_over_base(l, class, scheme, LEAGUE_ENERGY).mean;
  return t;
}

/* Complete ones before the others, then by IPC. */
static int by_rank(const void *x, const void *y) {
  const struct league_entry *a = x, *b = y;
  if (a->class != b->class) return a->class < b->class ? -1 : 1;
  bool whole_a = a->programs == a->of, whole_b = b->programs == b->of;
  if (whole_a != whole_b) return whole_a ? -1 : 1;
  return a->ipc > b->ipc ? -1 : a->ipc < b->ipc ? 1 : a->scheme < b->scheme ? -1 : 1;
}

static bool league_rank(struct league *l, const char *class, struct err *e) {
  size_t only = SIZE_MAX;
  for (size_t c = 0; class && c < l->class_count; c++)
    if (!strcmp(l->classes[c], class)) only = c;
  if (class && only == SIZE_MAX) {
    const char *near = err_nearest(class, l->classes, l->class_count);
    return err_set(e, ERR_USAGE, "--class: no program of the file is of class '%s'; %s%s%s", class,
                   near ? "did you mean '" : "--classes names the paper whose classes count", near ? near : "",
                   near ? "'?" : "");
  }
  l->entry = mem_alloc((l->class_count * l->scheme_count + 1) * sizeof *l->entry);
  for (size_t c = 0; c < l->class_count; c++)
    for (size_t s = 0; s < l->scheme_count && (only == SIZE_MAX || only == c); s++) {
      struct league_entry t = entry_of(l, c, s);
      if (t.programs) l->entry[l->entries++] = t;
    }
  qsort(l->entry, l->entries, sizeof *l->entry, by_rank);
  for (size_t i = 0; i < l->entries; i++) {
    struct league_entry *t = &l->entry[i];
    bool first = !i || t[-1].class != t->class;
    t->rank = t->programs < t->of ? 0 : first ? 1 : t[-1].rank + 1;
  }
  return true;
}

static void cell_number(struct table *t, const char *format, double v) {
  char buf[32];
  snprintf(buf, sizeof buf, format, v);
  table_cell(t, "%s", isfinite(v) ? buf : "-");
}

/* For people: the first of each class, and those that were added. */
static void print_league(const struct league *l, const struct league_options *o) {
  static const char *const titles[] = {"class", "rank", "scheme", "IPC",      "95 % interval", "worst",
                                       "",      "best", "",       "programs", "energy",        "storage"};
  struct table *t = table_new(titles, "lrlrlrlrlrrr");
  table_order(t, "....2333341.");
  uint64_t top = o->all ? UINT64_MAX : o->top ? o->top : LEAGUE_TOP, shown = 0;
  for (size_t i = 0; i < l->entries; i++) {
    const struct league_entry *n = &l->entry[i];
    bool first = !i || n[-1].class != n->class, added = false;
    if (first && i) table_rule(t);
    if (first) shown = 0;
    for (size_t k = 0; k < o->add.count; k++) added |= !strcmp(o->add.at[k], l->schemes[n->scheme]);
    if (++shown > top && !added && n->scheme != l->base) continue;
    table_cell(t, "%s", first ? l->classes[n->class] : "");
    if (n->rank) table_cell(t, "%zu", n->rank);
    else table_cell(t, "-");
    table_cell(t, "%s%s", l->schemes[n->scheme], added ? " (added)" : "");
    table_cell(t, "%.3f", n->ipc);
    if (isfinite(n->low) && isfinite(n->high)) table_cell(t, "%.3f to %.3f", n->low, n->high);
    else table_cell(t, "-");
    table_cell(t, "%.3f", n->worst);
    table_cell(t, "%s", l->programs[n->worst_at]);
    table_cell(t, "%.3f", n->best);
    table_cell(t, "%s", l->programs[n->best_at]);
    table_cell(t, n->programs < n->of ? "%zu of %zu" : "%zu", n->programs, n->of);
    cell_number(t, "%.3f", n->energy);
    cell_number(t, "%.2f KB", n->bits / 8192);
  }
  table_hint(t, "a wider terminal or --csv shows all");
  text_say(stdout, "sluice: league of %s%s%s, IPC and energy over the baseline's, geometric means\n\n", l->gpu,
           *l->size ? ", inputs " : "", l->size);
  table_print(t, stdout);
  table_free(t);
  bool gaps = false;
  for (size_t i = 0; i < l->entries; i++) gaps |= !l->entry[i].rank;
  if (gaps) puts("(-: without a rank, since runs of some programs are missing)");
}

static json_t *number_or_null(double v) {
  return isfinite(v) ? json_real(v) : json_null();
}

static json_t *league_json(const struct league *l) {
  json_t *all = json_array();
  for (size_t i = 0; i < l->entries; i++) {
    const struct league_entry *n = &l->entry[i];
    json_t *o = json_pack("{s:s, s:o, s:s, s:i, s:i, s:f}", "class", l->classes[n->class], "rank",
                          n->rank ? json_integer((json_int_t)n->rank) : json_null(), "scheme", l->schemes[n->scheme],
                          "programs", (int)n->programs, "of", (int)n->of, "ipc", n->ipc);
    json_object_set_new(o, "low", number_or_null(n->low));
    json_object_set_new(o, "high", number_or_null(n->high));
    json_object_set_new(o, "worst", json_real(n->worst));
    json_object_set_new(o, "worst_program", json_string(l->programs[n->worst_at]));
    json_object_set_new(o, "best", json_real(n->best));
    json_object_set_new(o, "best_program", json_string(l->programs[n->best_at]));
    json_object_set_new(o, "energy", number_or_null(n->energy));
    json_object_set_new(o, "storage_bits", number_or_null(n->bits));
    json_array_append_new(all, o);
  }
  return all;
}

/* The same rows as comma-separated values. */
static void print_columns(const struct league *l) {
  static const char *const titles[] = {"class",        "rank", "scheme", "programs",      "of",
                                       "ipc",          "low",  "high",   "worst_program", "worst",
                                       "best_program", "best", "energy", "storage_bits"};
  struct table *t = table_new(titles, "lrlrrrrrlrlrrr");
  for (size_t i = 0; i < l->entries; i++) {
    const struct league_entry *n = &l->entry[i];
    table_cell(t, "%s", l->classes[n->class]);
    cell_number(t, "%.0f", n->rank ? (double)n->rank : NAN);
    table_cell(t, "%s", l->schemes[n->scheme]);
    table_cell(t, "%zu", n->programs);
    table_cell(t, "%zu", n->of);
    cell_number(t, "%.6f", n->ipc);
    cell_number(t, "%.6f", n->low);
    cell_number(t, "%.6f", n->high);
    table_cell(t, "%s", l->programs[n->worst_at]);
    cell_number(t, "%.6f", n->worst);
    table_cell(t, "%s", l->programs[n->best_at]);
    cell_number(t, "%.6f", n->best);
    cell_number(t, "%.6f", n->energy);
    cell_number(t, "%.0f", n->bits);
  }
  rows_print_table(t, DB_CSV, stdout);
  table_free(t);
}

static bool write_page(const struct league *l, const struct league_options *o, struct err *e) {
  json_t *all = league_json(l);
  struct arena a = {0};
  bool ok =
      output_prepare(o->html, e) &&
      report_write(o->html,
                   &(struct report_input){.title = arena_printf(&a, "League of %s", l->gpu),
                                          .command = arena_printf(&a, "sluice league %s --gpu %s", o->file, l->gpu),
                                          .league = all},
                   e);
  json_decref(all);
  arena_free(&a);
  return ok;
}

/* ---- the command ---- */

static int league_show(struct league *l, const struct league_options *o) {
  struct err e = {0};
  if (o->figures && !o->page)
    return err_set(&e, ERR_USAGE, "--figures draws what --page shows: give both"), cli_fail(&e);
  if (o->intro && !o->page)
    return err_set(&e, ERR_USAGE, "--intro is the beginning of what --page shows: give both"), cli_fail(&e);
  if (!(l->db = db_open(o->file, DB_READ, &e))) return cli_fail(&e);
  if (o->page) return league_page(l->db, o, &e) ? EXIT_OK : cli_fail(&e);
  if (!league_load(l, o, &e) || !league_classes(l, o->classes ? o->classes : "decoupled-l1d", &e) ||
      !league_rank(l, o->class, &e) || (o->html && !write_page(l, o, &e)))
    return cli_fail(&e);
  if (o->json) {
    json_t *all = league_json(l);
    json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(8));
    putchar('\n');
    json_decref(all);
  } else if (o->csv) {
    print_columns(l);
  } else if (o->bound) {
    if (!league_bound(l, &e)) return cli_fail(&e);
  } else {
    print_league(l, o);
    if (o->html) text_say(stdout, "\nreport: %s\n", o->html);
  }
  return EXIT_OK;
}

void league_free(struct league *l) {
  db_close(l->db);
  free(l->gpus), free(l->sizes), free(l->programs), free(l->schemes), free(l->classes);
  free(l->run), free(l->class_of), free(l->entry);
  arena_free(&l->arena);
}

static int league_run(const struct command *self, int argc, char **argv) {
  struct league_options o = {0};
  struct league l = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (first < argc) {
    o.file = argv[first];
    int more = opt_parse(self->opts, &o, argc - first, argv + first, &e); /* options may follow the file */
    if (more < 0) return command_usage(self, &e);
    first += more;
  }
  if (first < argc) return err_set(&e, ERR_USAGE, "'%s' after the results file", argv[first]), command_usage(self, &e);
  if (!o.file) o.file = "league.db";
  if (access(o.file, F_OK))
    return err_set(&e, ERR_INPUT, "no results file '%s'; `sluice study studies/league.yaml -r %s` makes one", o.file,
                   o.file),
           cli_fail(&e);
  rc = o.add.count ? league_add(&o) : EXIT_OK;
  if (rc == EXIT_OK) rc = league_show(&l, &o);
  league_free(&l);
  opt_list_free(&o.add);
  return rc;
}

#define AT(member) offsetof(struct league_options, member)
static const struct opt league_opts[] = {
    {"add", "LIST", "run this scheme like the others first, and show it; may be repeated", OPT_LIST, AT(add), 'a',
     "scheme"},
    {"classes", "SUITE", "the paper whose classes of programs count (default decoupled-l1d)", OPT_TEXT, AT(classes),
     'w', "bucl tsc medic decoupled-l1d"},
    {"class", "NAME", "this class only, or all", OPT_TEXT, AT(class), 'c', NULL},
    {"gpu", "NAME", "the machine, if the file has several", OPT_TEXT, AT(gpu), 'g', "gpu"},
    {"size", "SIZE", "the inputs, if the file has several", OPT_TEXT, AT(size), 'z', "small medium large"},
    {"study", "NAME", "runs of this study only", OPT_TEXT, AT(study), 's', NULL},
    {"top", "N", "schemes of a class (default 10, and the baseline)", OPT_UINT, AT(top), 'n', NULL},
    {"long", NULL, "all of them", OPT_FLAG, AT(all), 'l', NULL},
    {"csv", NULL, "all rows for programs, as comma-separated values", OPT_FLAG, AT(csv), 0, NULL},
    {"json", NULL, "the same as JSON", OPT_FLAG, AT(json), 'j', NULL},
    {"bound", NULL, "how much of the distance to min and l2-min each scheme covers, and what holds programs up",
     OPT_FLAG, AT(bound), 'b', NULL},
    {"page", NULL, "all machines of the file as a page in Markdown", OPT_FLAG, AT(page), 0, NULL},
    {"figures", "DIR", "with --page: draw its first table there, as DIR/league.svg, .pdf, .png and .csv", OPT_TEXT,
     AT(figures), 'f', NULL},
    {"intro", "FILE", "with --page: a text in Markdown that follows its title", OPT_TEXT, AT(intro), 0, "file"},
    {"html", "FILE", "write a report that draws the league", OPT_TEXT, AT(html), 'H', "file"},
    {"jobs", "N", "with --add: simulations at a time (default: one per processor)", OPT_UINT, AT(jobs), 'J', NULL},
    {.name = NULL}};

const struct command cmd_league = {
    .name = "league",
    .summary = "schemes of a results file ranked per class of program",
    .usage = "[FILE.db] [OPTIONS]",
    .help =
        "For every scheme of one machine: the geometric mean of its IPC over the baseline's, with the 95 % interval "
        "of\n"
        "Student's t over the programs, its worst and best program, its energy over the baseline's, and the bits that\n"
        "it adds to the GPU. All programs first, then each class that a paper puts them in (`sluice workloads --suite\n"
        "NAME`). A scheme without a run of every program has no rank. FILE is a results file of `sluice study` with\n"
        "the scheme none; default league.db. --add runs one more scheme on the programs, inputs and machine of the\n"
        "file's study and stores the runs there; interrupted, the same command continues.\n\n"
        "Examples:\n"
        "  sluice study studies/league.yaml -r league.db --yes   every scheme on every bundled program, small inputs\n"
        "  sluice league                                         the league\n"
        "  sluice league --add mine                              with a scheme of your own\n"
        "  sluice league --add bucl:tucd=4 --class cache-unfriendly\n"
        "  sluice league medium.db --classes bucl --html league.html\n"
        "  sluice league --csv > league.csv\n"
        "  sluice league --bound                                 beside Belady's MIN\n"
        "  sluice league modern.db --page > modern.md            machines side by side; NAME +PROPERTY beside NAME\n"
        "  sluice league modern.db --page --figures . > modern.md   with the first table drawn\n"
        "  sluice league modern.db --page --intro intro.md > modern.md   and a text of your own first\n",
    .opts = league_opts,
    .run = league_run,
};
