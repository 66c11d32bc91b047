/* lists.c - `sluice schemes`, `gpus`, `knobs` and `stats`: the available choices, from the tables. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/paths.h"
#include "base/mem.h"
#include "cli/frame/cli.h"
#include "cli/tables/rows.h"
#include "gpu/common/config.h"
#include "gpu/slots/slots.h"
#include "results/record.h"

enum { MAX_NAMES = 128, STORAGE_ROWS = 32 };

struct list_options {
  const char *gpu;
  bool csv, json, whole;
};

/* The list for programs: numbers without units, every column. */
static bool for_program(const struct list_options *o) {
  return o->csv || o->json;
}

/* `ranks`: the order in which columns are dropped on a narrow terminal; --long keeps all. Frees the table. */
static void print_list(struct table *t, const struct list_options *o, const char *ranks, const char *hint) {
  static const char never[] = "........";
  table_order(t, o->whole ? never + sizeof never - 1 - strlen(ranks) : ranks);
  table_hint(t, hint);
  if (for_program(o)) rows_print_table(t, o->json ? DB_JSON : DB_CSV, stdout);
  else table_print(t, stdout);
  table_free(t);
}

/* A line below a list or of an explanation, broken at the terminal's width. */
static void print_wrapped_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void print_wrapped_text(const char *fmt, ...) {
  struct lines l;
  va_list ap;
  va_start(ap, fmt);
  vfprintf(lines_begin(&l, stdout), fmt, ap);
  va_end(ap);
  lines_end(&l);
}

/* ---- schemes ---- */

/* A search has the storage of its base. */
static double storage_bits(const struct scheme *s, const struct gpu_config *c, struct scheme_bits *rows,
                           uint32_t *count) {
  double param[SCHEME_PARAMS_MAX] = {0}, total = 0;
  if (s->sweep) s = scheme_find(s->sweep->base);
  for (uint32_t i = 0; i < scheme_param_count(s); i++) param[i] = s->params[i].dflt;
  *count = s->storage ? s->storage(c, param, rows, STORAGE_ROWS) : 0;
  for (uint32_t i = 0; i < *count; i++) total += rows[i].bits;
  return total;
}

static void print_bits(double bits, FILE *f) {
  if (bits >= 8192) fprintf(f, "%.2f KB", bits / 8192);
  else fprintf(f, "%.0f bits", bits);
}

/* The slots that a scheme fills; a search gives the values that it tries. */
static void print_slots(const struct scheme *s, FILE *f) {
  const char *slot, *seen[16];
  size_t slots = 0;
  if (s->sweep) {
    fprintf(f, "A search over %s of %s:", s->sweep->param, s->sweep->base);
    for (uint32_t i = 0; i < s->sweep->count; i++) fprintf(f, " %g", s->sweep->values[i]);
    fputc('\n', f);
    return;
  }
  fputs("Slots:", f);
  for (uint32_t k = 0; scheme_hook(s, k, &slot); k++) {
    bool new = *slot != 0;
    for (size_t i = 0; i < slots; i++) new &= strcmp(seen[i], slot) != 0;
    if (new) fprintf(f, "%s %s", slots ? "," : "", slot), seen[slots++] = slot;
  }
  for (size_t i = 0; i < SCHEME_OWNS && s->owns[i]; i++) fprintf(f, "%s decides %s", slots || i ? ";" : "", s->owns[i]);
  fputc('\n', f);
}

static void print_hooks(const struct scheme *s, FILE *f) {
  const char *slot, *hook;
  if (s->sweep) return;
  fputs("Hooks:", f);
  for (uint32_t k = 0; (hook = scheme_hook(s, k, &slot)); k++) {
    fprintf(f, " %s", hook);
    if (strcmp(hook, "l1")) continue;
    const struct l1_org *o = s->l1;
    fprintf(f, " (shape find%s plan reserve%s fill store%s)", o->want ? " want" : "", o->touch ? " touch" : "",
            o->clear ? " clear" : "");
  }
  fputc('\n', f);
}

static void print_scheme(const struct scheme *s, const struct gpu_config *c, FILE *f) {
  struct scheme_bits rows[STORAGE_ROWS];
  uint32_t count;
  fprintf(f, "%s - %s\n%s\n\n%s\n", s->name, s->title, s->paper, s->idea ? s->idea : "");
  if (scheme_param_count(s)) fputs("\nParameters (scheme:name=value,  / between several):\n", f);
  for (uint32_t i = 0; i < scheme_param_count(s); i++) {
    const struct scheme_param *p = &s->params[i];
    bool positional = s->positional && !strcmp(s->positional, p->name);
    fprintf(f, "  %-16s default %g, from %g to %g%s%s\n  %-16s %s\n", p->name, p->dflt, p->min, p->max,
            *p->unit ? " " : "", p->unit, "", p->doc);
    if (positional) fprintf(f, "  %-16s may be given as %s=VALUE\n", "", s->name);
  }
  if (scheme_counter_count(s)) fputs("\nCounters:\n", f);
  for (uint32_t i = 0; i < scheme_counter_count(s); i++)
    fprintf(f, "  %-16s %s [%s]\n", s->counters[i].name, s->counters[i].doc, s->counters[i].unit);
  fputc('\n', f);
  print_slots(s, f);
  print_hooks(s, f);
  const struct scheme *base = s->sweep ? scheme_find(s->sweep->base) : s;
  double total = storage_bits(base, c, rows, &count);
  fprintf(f, "\nStorage on this GPU%s%s: ", s->sweep ? ", of " : "", s->sweep ? base->name : "");
  if (base->no_storage) fprintf(f, "none: %s", base->no_storage);
  else print_bits(total, f);
  fputc('\n', f);
  for (uint32_t i = 0; i < count; i++) {
    fprintf(f, "  %-44s ", rows[i].item);
    print_bits(rows[i].bits, f);
    fputc('\n', f);
  }
}

/* Words of a list, in lines that begin with two spaces. `at`: the column. */
static void put_word(const char *word, size_t *at, FILE *f) {
  size_t n = strlen(word);
  if (*at + n + 1 > cli_page(118)) *at = (size_t)fprintf(f, "\n ") - 1;
  *at += (size_t)fprintf(f, " %s", word);
}

/* Short form of print_scheme, in about ten lines, without the meaning of parameters and counters. */
static void print_brief(const struct scheme *s, const struct gpu_config *c, FILE *f) {
  struct scheme_bits rows[STORAGE_ROWS];
  const struct scheme *base = s->sweep ? scheme_find(s->sweep->base) : s;
  char word[256];
  uint32_t count, params = scheme_param_count(s), counters = scheme_counter_count(s);
  double total = storage_bits(base, c, rows, &count);
  fprintf(f, "%s - %s\n%s\n%s\n", s->name, s->title, s->paper, s->idea ? s->idea : "");
  print_slots(s, f);
  size_t at = params ? (size_t)fprintf(f, "Parameters:") : 0;
  for (uint32_t i = 0; i < params; i++) {
    const struct scheme_param *p = &s->params[i];
    snprintf(word, sizeof word, "%s=%g (%g to %g%s%s)%s", p->name, p->dflt, p->min, p->max, *p->unit ? " " : "",
             p->unit, i + 1 < params ? "," : "\n");
    put_word(word, &at, f);
  }
  at = counters ? (size_t)fprintf(f, "Counters:") : 0;
  for (uint32_t i = 0; i < counters; i++) {
    snprintf(word, sizeof word, "%s%s", s->counters[i].name, i + 1 < counters ? "," : "\n");
    put_word(word, &at, f);
  }
  at = (size_t)fprintf(f, "Storage on this GPU: ");
  if (base->no_storage) at += (size_t)fprintf(f, "none: %s", base->no_storage);
  else print_bits(total, f), at += 9;
  if (count) fputc(':', f);
  for (uint32_t i = 0; i < count; i++) {
    snprintf(word, sizeof word, "%.0f (%s)%s", rows[i].bits, rows[i].item, i + 1 < count ? "," : "");
    put_word(word, &at, f);
  }
  fprintf(f, "\nMeaning of parameters and counters, hooks: sluice schemes --long %s\n", s->name);
}

static int unknown_scheme(const char *name) {
  struct err e = {0};
  const char *names[MAX_NAMES];
  uint32_t n = scheme_count() < MAX_NAMES ? scheme_count() : MAX_NAMES;
  for (uint32_t i = 0; i < n; i++) names[i] = scheme_at(i)->name;
  const char *near = err_nearest(name, names, n);
  err_set(&e, ERR_USAGE, "unknown scheme '%s'; %s%s%s", name, near ? "did you mean '" : "`sluice schemes` lists them",
          near ? near : "", near ? "'?" : "");
  return cli_fail(&e);
}

static void list_schemes(const struct gpu_config *c, const struct list_options *o) {
  const char *titles[] = {"scheme", "what it does", "parameters", for_program(o) ? "storage bits" : "storage", "paper"};
  struct table *t = table_new(titles, "lllrl");
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *s = scheme_at(i);
    struct scheme_bits rows[STORAGE_ROWS];
    uint32_t count;
    char params[256] = "";
    for (uint32_t k = 0; k < scheme_param_count(s); k++) {
      size_t used = strlen(params);
      snprintf(params + used, sizeof params - used, "%s%s=%g", k ? " " : "", s->params[k].name, s->params[k].dflt);
    }
    double bits = storage_bits(s, c, rows, &count);
    table_cell(t, "%s", s->name);
    table_cell(t, "%s", s->title);
    table_cell(t, "%s", params);
    if (for_program(o)) table_cell(t, "%.0f", bits);
    else table_cell(t, bits >= 8192 ? "%.2f KB" : "%.0f bits", bits >= 8192 ? bits / 8192 : bits);
    table_cell(t, "%s", s->paper);
  }
  print_list(t, o, "..2.1", "`sluice schemes --long` or NAME shows them");
  if (!for_program(o))
    print_wrapped_text("\n`sluice schemes NAME` explains one. Schemes combine: --scheme swl=8+bucl:tucd=5\n");
}

/* ---- schemes for programs: all that their tables say ---- */

static json_t *params_json(const struct scheme *s) {
  json_t *all = json_array();
  for (uint32_t i = 0; i < scheme_param_count(s); i++) {
    const struct scheme_param *p = &s->params[i];
    bool positional = s->positional && !strcmp(s->positional, p->name);
    json_array_append_new(all, json_pack("{s:s, s:f, s:f, s:f, s:b, s:s, s:b, s:s}", "name", p->name, "default",
                                         p->dflt, "from", p->min, "to", p->max, "integer", p->integer, "unit", p->unit,
                                         "positional", positional, "meaning", p->doc));
  }
  return all;
}

static json_t *counters_json(const struct scheme *s) {
  json_t *all = json_array();
  for (uint32_t i = 0; i < scheme_counter_count(s); i++) {
    const struct scheme_counter *k = &s->counters[i];
    json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "name", k->name, "unit", k->unit, "meaning", k->doc));
  }
  return all;
}

/* Hooks with the slots that they fill ("" for an observer), and the parts that the scheme owns beside them. */
static json_t *hooks_json(const struct scheme *s) {
  json_t *all = json_array();
  const char *slot, *hook;
  for (uint32_t k = 0; !s->sweep && (hook = scheme_hook(s, k, &slot)); k++)
    json_array_append_new(all, json_pack("{s:s, s:s}", "hook", hook, "slot", slot));
  return all;
}

static json_t *sweep_json(const struct scheme_sweep *w) {
  if (!w) return json_null();
  json_t *values = json_array();
  for (uint32_t i = 0; i < w->count; i++) json_array_append_new(values, json_real(w->values[i]));
  return json_pack("{s:s, s:s, s:o}", "base", w->base, "parameter", w->param, "values", values);
}

static json_t *scheme_json(const struct scheme *s, const struct gpu_config *c) {
  struct scheme_bits rows[STORAGE_ROWS];
  const struct scheme *base = s->sweep ? scheme_find(s->sweep->base) : s;
  uint32_t count;
  double total = storage_bits(base, c, rows, &count);
  json_t *items = json_array(), *owns = json_array();
  for (uint32_t i = 0; i < count; i++)
    json_array_append_new(items, json_pack("{s:s, s:f}", "item", rows[i].item, "bits", rows[i].bits));
  for (size_t i = 0; i < SCHEME_OWNS && s->owns[i]; i++) json_array_append_new(owns, json_string(s->owns[i]));
  return json_pack("{s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:s?}", "scheme", s->name, "what_it_does",
                   s->title, "paper", s->paper, "idea", s->idea, "parameters", params_json(s), "counters",
                   counters_json(s), "hooks", hooks_json(s), "owns", owns, "search", sweep_json(s->sweep),
                   "storage_bits", total, "storage", items, "no_storage", base->no_storage);
}

/* The schemes named, or all of them. */
static int describe_schemes(const struct gpu_config *c, char **names, uint32_t count) {
  json_t *all = json_array();
  for (uint32_t i = 0; i < (count ? count : scheme_count()); i++) {
    const struct scheme *s = count ? scheme_find(names[i]) : scheme_at(i);
    if (s) {
      json_array_append_new(all, scheme_json(s, c));
      continue;
    }
    json_decref(all);
    return unknown_scheme(names[i]);
  }
  struct err e = {0};
  return jsonfile_write(all, "-", JSON_INDENT(1) | JSON_REAL_PRECISION(15), &e) ? EXIT_OK : cli_fail(&e);
}

static int schemes_run(const struct command *self, int argc, char **argv) {
  struct list_options o = {0};
  struct gpu_config c;
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (!gpu_config_load(&c, o.gpu ? o.gpu : "fermi", &e)) return cli_fail(&e);
  if (o.json && (o.whole || first < argc)) return describe_schemes(&c, argv + first, (uint32_t)(argc - first));
  for (int i = first; i < argc; i++) {
    const struct scheme *s = scheme_find(argv[i]);
    if (!s) return unknown_scheme(argv[i]);
    struct lines l;
    FILE *f = lines_begin(&l, stdout);
    l.prose = true;
    if (i > first) fputs("\n\n", f);
    if (o.whole) print_scheme(s, &c, f);
    else print_brief(s, &c, f);
    lines_end(&l);
  }
  if (first < argc) return EXIT_OK;
  list_schemes(&c, &o);
  return EXIT_OK;
}

/* ---- GPUs ---- */

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The line after `description:` in a configuration file. */
static void description(const char *path, char *out, size_t size) {
  char *text = path_read_whole(path, NULL), *at = text ? strstr(text, "description:") : NULL;
  snprintf(out, size, "%.*s", at ? (int)strcspn(at + 12, "\n") : 0, at ? at + 12 : "");
  free(text);
}

static void size_cell(struct table *t, uint32_t bytes, bool exact) {
  table_cell(t, exact ? "%u" : "%u KB", exact ? bytes : bytes / 1024);
}

static int gpus_run(const struct command *self, int argc, char **argv) {
  struct list_options o = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  static const char *const people[] = {"gpu", "SMs", "L1", "L2", "channels", "what it is"};
  static const char *const exact[] = {"gpu", "SMs", "L1 bytes", "L2 bytes", "channels", "what it is"};
  char dir[PATH_MAX], path[PATH_MAX + 300], *names[MAX_NAMES];
  size_t n = 0;
  path_find(dir, sizeof dir, "configs");
  DIR *d = opendir(dir);
  for (struct dirent *de; d && n < MAX_NAMES && (de = readdir(d));)
    if (strstr(de->d_name, ".yaml")) names[n++] = mem_text_n(de->d_name, strlen(de->d_name) - 5);
  if (d) closedir(d);
  qsort(names, n, sizeof *names, compare_names);
  const char *const *titles = for_program(&o) ? exact : people;
  struct table *t = table_new(titles, "lrrrrl");
  for (size_t i = 0; i < n; i++) {
    struct gpu_config c;
    struct err e = {0};
    char about[256];
    snprintf(path, sizeof path, "%s/%s.yaml", dir, names[i]);
    description(path, about, sizeof about);
    if (!gpu_config_load(&c, names[i], &e)) return cli_fail(&e);
    table_cell(t, "%s", names[i]);
    table_cell(t, "%u", c.sms);
    size_cell(t, c.l1d.sets * c.l1d.ways * c.l1d.line, for_program(&o));
    size_cell(t, c.channels * c.subparts * c.l2.sets * c.l2.ways * c.l2.line, for_program(&o));
    table_cell(t, "%u", c.channels);
    table_cell(t, "%s", about + strspn(about, " "));
    free(names[i]);
  }
  print_list(t, &o, "....1.", "`sluice gpus --long` shows them");
  if (!for_program(&o))
    print_wrapped_text(
        "\nA file of your own: --gpu FILE.yaml, starting with `base: fermi`; `sluice knobs` lists what it can say.\n");
  return EXIT_OK;
}

/* ---- knobs ---- */

static void knob_range(const struct knob_row *r, char *out, size_t size) {
  out[0] = 0;
  if (r->type == KNOB_UINT) snprintf(out, size, "%u..%u", r->min, r->max);
  if (r->type == KNOB_BOOL) snprintf(out, size, "true false");
  for (size_t i = 0, used = 0; r->type == KNOB_WORD && r->words[i] && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", r->words[i]);
}

struct knob_printer {
  struct table *t;
  const char *only, *gpu; /* only: a prefix, or NULL */
  uint32_t row;
  bool any, whole; /* whole: `only` is the name of one */
};

static void explain_knob(const struct knob_printer *p, const char *key, const char *value, const char *unit,
                         const char *range, const char *doc) {
  print_wrapped_text("%s - %s\n\n  value    %s%s%s on %s\n", key, doc, *value ? value : "none", *unit ? " " : "", unit,
                     p->gpu);
  if (*range) print_wrapped_text("  allowed  %s\n", range);
  print_wrapped_text("\nTry:\n  sluice run --set %s=%s -- PROGRAM\n", key, *value ? value : "VALUE");
}

static void print_knob(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  struct knob_printer *p = ctx;
  const struct knob_row *r = &gpu_knob_rows[p->row++];
  char range[256];
  if (p->only && strncmp(key, p->only, strlen(p->only))) return;
  knob_range(r, range, sizeof range);
  p->any = true;
  if (p->only && !strcmp(key, p->only) && !p->t) explain_knob(p, key, value, unit, range, doc), p->whole = true;
  if (!p->t) return;
  table_cell(p->t, "%s", key);
  table_cell(p->t, "%s", value);
  table_cell(p->t, "%s", unit);
  table_cell(p->t, "%s", range);
  table_cell(p->t, "%s", doc);
}

static int knobs_run(const struct command *self, int argc, char **argv) {
  static const char *const titles[] = {"knob", "value", "unit", "allowed", "meaning"};
  struct list_options o = {0};
  struct gpu_config c;
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (!gpu_config_load(&c, o.gpu ? o.gpu : "fermi", &e)) return cli_fail(&e);
  struct knob_printer p = {.only = first < argc ? argv[first] : NULL, .gpu = c.name};
  if (p.only && !for_program(&o) && !o.whole) gpu_config_each(&c, print_knob, &p);
  if (p.whole) return EXIT_OK;
  p = (struct knob_printer){.t = table_new(titles, for_program(&o) ? "lrlll" : "lllll"), .only = p.only};
  gpu_config_each(&c, print_knob, &p);
  if (p.any) return print_list(p.t, &o, "..21.", "`sluice knobs --long` or NAME shows them"), EXIT_OK;
  table_free(p.t);
  err_set(&e, ERR_USAGE, "no knob begins with '%s'", p.only);
  return cli_fail(&e);
}

/* ---- counters ---- */

/* Counters as listed: those of the record, then derived ones. */
struct stat_line {
  const char *key, *unit, *doc, *note;
};

static struct stat_line stat_line(uint32_t i) {
  if (i >= gpu_stat_row_count) {
    const struct derived_row *d = &derived_rows[i - gpu_stat_row_count];
    return (struct stat_line){d->key, d->unit, d->doc, " (derived)"};
  }
  const struct stat_row *r = &gpu_stat_rows[i];
  return (struct stat_line){r->key, r->unit, r->doc,
                            r->kind == STAT_MEAN  ? " (mean)"
                            : r->kind == STAT_MAX ? " (maximum)"
                                                  : ""};
}

static int stats_run(const struct command *self, int argc, char **argv) {
  static const char *const titles[] = {"counter", "unit", "meaning"};
  struct list_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  const char *only = first < argc ? argv[first] : "";
  struct table *t = table_new(titles, "lll");
  for (uint32_t i = 0; i < gpu_stat_row_count + derived_row_count; i++) {
    struct stat_line s = stat_line(i);
    if (!strcmp(s.key, only) && !for_program(&o) && !o.whole) {
      print_wrapped_text("%s - %s%s\n", s.key, s.doc, s.note);
      if (*s.unit) print_wrapped_text("\n  unit  %s\n", s.unit);
      table_free(t);
      return EXIT_OK;
    }
    if (strncmp(s.key, only, strlen(only))) continue;
    table_cell(t, "%s", s.key);
    table_cell(t, "%s", s.unit);
    table_cell(t, "%s%s", s.doc, s.note);
  }
  if (table_rows(t)) return print_list(t, &o, ".1.", "`sluice stats --long` or NAME shows them"), EXIT_OK;
  table_free(t);
  err_set(&e, ERR_USAGE, "no counter begins with '%s'", only);
  return cli_fail(&e);
}

/* ---- table of commands ---- */

#define AT(member) offsetof(struct list_options, member)
#define LIST_OPTIONS                                                                           \
  {"long", NULL, "every column, however narrow the terminal", OPT_FLAG, AT(whole), 'l', NULL}, \
      {"csv", NULL, "for programs, as comma-separated values", OPT_FLAG, AT(csv), 0, NULL},    \
      {"json", NULL, "for programs, as JSON", OPT_FLAG, AT(json), 'j', NULL}, {                \
    .name = NULL                                                                               \
  }
#define GPU_OPTION \
  { "gpu", "NAME|FILE", "for this GPU (default fermi)", OPT_TEXT, AT(gpu), 'g', "gpu" }
static const struct opt list_opts[] = {LIST_OPTIONS};
static const struct opt gpu_opts[] = {GPU_OPTION, LIST_OPTIONS};

const struct command cmd_schemes = {
    .name = "schemes",
    .summary = "list the cache-management schemes, or explain one",
    .usage = "[NAME...]",
    .help = "Without a name: every scheme, what it does and its storage; on a wide terminal and with --long its "
            "parameters\n"
            "and paper too. With a name, in about ten lines: the idea, the slots, the parameters with defaults and "
            "ranges,\n"
            "the counters, and the storage item by item; --long says what every parameter and counter means.\n"
            "--json with a name, or with --long, gives all of that for programs.\n\n"
            "Examples:\n  sluice schemes bucl\n  sluice schemes --long bucl\n  sluice schemes --csv\n"
            "  sluice schemes --json bucl\n",
    .opts = gpu_opts,
    .run = schemes_run,
};
const struct command cmd_gpus = {
    .name = "gpus",
    .summary = "list the GPU configurations",
    .usage = "",
    .help = "The machines of the papers. `sluice knobs --gpu NAME` prints every value of one.\n",
    .opts = list_opts,
    .run = gpus_run,
};
const struct command cmd_knobs = {
    .name = "knobs",
    .summary = "list the knobs of a GPU with values, units and ranges",
    .usage = "[PREFIX | NAME]",
    .help =
        "Every parameter that --set and configuration files can change, those that begin with PREFIX, or all about\n"
        "one. A narrow terminal leaves out units and ranges; --long keeps them.\n\n"
        "Examples:\n  sluice knobs l1d\n  sluice knobs l1d.sets\n  sluice knobs --gpu medic l2\n",
    .opts = gpu_opts,
    .run = knobs_run,
};
const struct command cmd_stats = {
    .name = "stats",
    .summary = "list the counters of a result with units and definitions",
    .usage = "[PREFIX | NAME]",
    .help = "The keys of the JSON record, per kernel and in its totals.\n\n"
            "Examples:\n  sluice stats l1d.read\n  sluice stats l1d.read.hits\n",
    .opts = list_opts,
    .run = stats_run,
};
