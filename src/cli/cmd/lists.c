/* lists.c - `sluice schemes`, `gpus`, `knobs` and `stats`: what there is to choose from, from the tables. */
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "cli/frame/cli.h"
#include "gpu/common/config.h"
#include "gpu/slots/slots.h"
#include "results/record.h"

enum { MAX_NAMES = 128, STORAGE_ROWS = 32, BRIEF_WIDTH = 118 };

struct list_options {
  const char *gpu;
  bool json, whole;
};

/* ---- schemes ---- */

/* A search has the storage of what it searches. */
static double storage_bits(const struct scheme *s, const struct gpu_config *c, struct scheme_bits *rows,
                           uint32_t *count) {
  double param[SCHEME_PARAMS_MAX] = {0}, total = 0;
  if (s->sweep) s = scheme_find(s->sweep->base);
  for (uint32_t i = 0; i < scheme_param_count(s); i++) param[i] = s->params[i].dflt;
  *count = s->storage ? s->storage(c, param, rows, STORAGE_ROWS) : 0;
  for (uint32_t i = 0; i < *count; i++) total += rows[i].bits;
  return total;
}

static void print_bits(double bits) {
  if (bits >= 8192) printf("%.2f KB", bits / 8192);
  else printf("%.0f bits", bits);
}

/* The slots that a scheme fills (the spec's words); a search names what it tries. */
static void print_slots(const struct scheme *s) {
  const char *slot, *seen[16];
  size_t slots = 0;
  if (s->sweep) {
    printf("A search over %s of %s:", s->sweep->param, s->sweep->base);
    for (uint32_t i = 0; i < s->sweep->count; i++) printf(" %g", s->sweep->values[i]);
    putchar('\n');
    return;
  }
  fputs("Slots:", stdout);
  for (uint32_t k = 0; scheme_hook(s, k, &slot); k++) {
    bool new = *slot != 0;
    for (size_t i = 0; i < slots; i++) new &= strcmp(seen[i], slot) != 0;
    if (new) printf("%s %s", slots ? "," : "", slot), seen[slots++] = slot;
  }
  for (size_t i = 0; i < SCHEME_OWNS && s->owns[i]; i++) printf("%s decides %s", slots || i ? ";" : "", s->owns[i]);
  putchar('\n');
}

static void print_hooks(const struct scheme *s) {
  const char *slot, *hook;
  if (s->sweep) return;
  fputs("Hooks:", stdout);
  for (uint32_t k = 0; (hook = scheme_hook(s, k, &slot)); k++) {
    printf(" %s", hook);
    if (strcmp(hook, "l1")) continue;
    const struct l1_org *o = s->l1;
    printf(" (shape find%s plan reserve%s fill store%s)", o->want ? " want" : "", o->touch ? " touch" : "",
           o->clear ? " clear" : "");
  }
  putchar('\n');
}

static void print_scheme(const struct scheme *s, const struct gpu_config *c) {
  struct scheme_bits rows[STORAGE_ROWS];
  uint32_t count;
  printf("%s - %s\n%s\n\n%s\n", s->name, s->title, s->paper, s->idea ? s->idea : "");
  if (scheme_param_count(s)) puts("\nParameters (scheme:name=value,  / between several):");
  for (uint32_t i = 0; i < scheme_param_count(s); i++) {
    const struct scheme_param *p = &s->params[i];
    bool positional = s->positional && !strcmp(s->positional, p->name);
    printf("  %-16s default %g, from %g to %g%s%s\n  %-16s %s\n", p->name, p->dflt, p->min, p->max, *p->unit ? " " : "",
           p->unit, "", p->doc);
    if (positional) printf("  %-16s may be given as %s=VALUE\n", "", s->name);
  }
  if (scheme_counter_count(s)) puts("\nCounters:");
  for (uint32_t i = 0; i < scheme_counter_count(s); i++)
    printf("  %-16s %s [%s]\n", s->counters[i].name, s->counters[i].doc, s->counters[i].unit);
  putchar('\n');
  print_slots(s);
  print_hooks(s);
  const struct scheme *base = s->sweep ? scheme_find(s->sweep->base) : s;
  double total = storage_bits(base, c, rows, &count);
  printf("\nStorage on this GPU%s%s: ", s->sweep ? ", of " : "", s->sweep ? base->name : "");
  if (base->no_storage) printf("none: %s", base->no_storage);
  else print_bits(total);
  putchar('\n');
  for (uint32_t i = 0; i < count; i++) {
    printf("  %-44s ", rows[i].item);
    print_bits(rows[i].bits);
    putchar('\n');
  }
}

/* Words of a list, one after the other, in lines that begin with two spaces. `at`: the column. */
static void put_word(const char *word, size_t *at) {
  size_t n = strlen(word);
  if (*at + n + 1 > BRIEF_WIDTH) *at = (size_t)printf("\n ") - 1;
  *at += (size_t)printf(" %s", word);
}

/* The same as print_scheme in about ten lines: what parameters and counters mean is left out. */
static void print_brief(const struct scheme *s, const struct gpu_config *c) {
  struct scheme_bits rows[STORAGE_ROWS];
  const struct scheme *base = s->sweep ? scheme_find(s->sweep->base) : s;
  char word[256];
  uint32_t count, params = scheme_param_count(s), counters = scheme_counter_count(s);
  double total = storage_bits(base, c, rows, &count);
  printf("%s - %s\n%s\n%s\n", s->name, s->title, s->paper, s->idea ? s->idea : "");
  print_slots(s);
  size_t at = params ? (size_t)printf("Parameters:") : 0;
  for (uint32_t i = 0; i < params; i++) {
    const struct scheme_param *p = &s->params[i];
    snprintf(word, sizeof word, "%s=%g (%g to %g%s%s)%s", p->name, p->dflt, p->min, p->max, *p->unit ? " " : "",
             p->unit, i + 1 < params ? "," : "\n");
    put_word(word, &at);
  }
  at = counters ? (size_t)printf("Counters:") : 0;
  for (uint32_t i = 0; i < counters; i++) {
    snprintf(word, sizeof word, "%s%s", s->counters[i].name, i + 1 < counters ? "," : "\n");
    put_word(word, &at);
  }
  at = (size_t)printf("Storage on this GPU: ");
  if (base->no_storage) at += (size_t)printf("none: %s", base->no_storage);
  else print_bits(total), at += 9;
  if (count) putchar(':');
  for (uint32_t i = 0; i < count; i++) {
    snprintf(word, sizeof word, "%.0f (%s)%s", rows[i].bits, rows[i].item, i + 1 < count ? "," : "");
    put_word(word, &at);
  }
  printf("\nMeaning of parameters and counters, hooks: sluice schemes --long %s\n", s->name);
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

static int schemes_run(const struct command *self, int argc, char **argv) {
  struct list_options o = {0};
  struct gpu_config c;
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (!gpu_config_load(&c, o.gpu ? o.gpu : "fermi", &e)) return cli_fail(&e);
  for (int i = first; i < argc; i++) {
    const struct scheme *s = scheme_find(argv[i]);
    if (!s) return unknown_scheme(argv[i]);
    if (i > first) puts("\n");
    if (o.whole) print_scheme(s, &c);
    else print_brief(s, &c);
  }
  if (first < argc) return EXIT_OK;
  static const char *const titles[] = {"scheme", "what it does", "parameters", "storage", "paper"};
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
    double bits = storage_bits(s, &c, rows, &count);
    table_cell(t, "%s", s->name);
    table_cell(t, "%s", s->title);
    table_cell(t, "%s", params);
    table_cell(t, bits >= 8192 ? "%.2f KB" : "%.0f bits", bits >= 8192 ? bits / 8192 : bits);
    table_cell(t, "%s", s->paper);
  }
  table_print(t, stdout);
  table_free(t);
  puts("\n`sluice schemes NAME` explains one. Schemes combine: --scheme swl=8+bucl:tucd=5");
  return EXIT_OK;
}

/* ---- GPUs ---- */

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The line after `description:` in a configuration file. */
static void description(const char *path, char *out, size_t size) {
  char *text = path_read_whole(path, NULL), *at = text ? strstr(text, "description:") : NULL;
  snprintf(out, size, "%.*s", at ? (int)strcspn(at + 12, "\n") : 0, at ? at + 12 : "");
  free(text);
}

static int gpus_run(const struct command *self, int argc, char **argv) {
  struct list_options o = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  char dir[PATH_MAX], path[PATH_MAX + 300], *names[MAX_NAMES];
  size_t n = 0;
  path_find(dir, sizeof dir, "configs");
  DIR *d = opendir(dir);
  for (struct dirent *de; d && n < MAX_NAMES && (de = readdir(d));)
    if (strstr(de->d_name, ".yaml")) names[n++] = strndup(de->d_name, strlen(de->d_name) - 5);
  if (d) closedir(d);
  qsort(names, n, sizeof *names, by_name);
  static const char *const titles[] = {"gpu", "SMs", "L1", "L2", "channels", "what it is"};
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
    table_cell(t, "%u KB", c.l1d.sets * c.l1d.ways * c.l1d.line / 1024);
    table_cell(t, "%u KB", c.channels * c.subparts * c.l2.sets * c.l2.ways * c.l2.line / 1024);
    table_cell(t, "%u", c.channels);
    table_cell(t, "%s", about + strspn(about, " "));
    free(names[i]);
  }
  table_print(t, stdout);
  table_free(t);
  puts("\nA file of your own: --gpu FILE.yaml, starting with `base: fermi`; `sluice knobs` lists what it can say.");
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
  const char *only; /* prefix, or NULL */
  uint32_t row;
  bool any;
};

static void print_knob(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  struct knob_printer *p = ctx;
  const struct knob_row *r = &gpu_knob_rows[p->row++];
  char range[256];
  if (p->only && strncmp(key, p->only, strlen(p->only))) return;
  knob_range(r, range, sizeof range);
  p->any = true;
  table_cell(p->t, "%s", key);
  table_cell(p->t, "%s", value);
  table_cell(p->t, "%s", unit);
  table_cell(p->t, "%s", range);
  table_cell(p->t, "%s", doc);
}

static int knobs_run(const struct command *self, int argc, char **argv) {
  struct list_options o = {0};
  struct gpu_config c;
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  if (!gpu_config_load(&c, o.gpu ? o.gpu : "fermi", &e)) return cli_fail(&e);
  static const char *const titles[] = {"knob", "value", "unit", "allowed", "meaning"};
  struct knob_printer p = {.t = table_new(titles, "lllll"), .only = first < argc ? argv[first] : NULL};
  gpu_config_each(&c, print_knob, &p);
  if (p.any) table_print(p.t, stdout);
  else err_set(&e, ERR_USAGE, "no knob begins with '%s'", p.only);
  table_free(p.t);
  return p.any ? EXIT_OK : cli_fail(&e);
}

/* ---- counters ---- */

static int stats_run(const struct command *self, int argc, char **argv) {
  struct list_options o = {0};
  struct err e = {0};
  int first, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  const char *only = first < argc ? argv[first] : "";
  static const char *const titles[] = {"counter", "unit", "meaning"};
  struct table *t = table_new(titles, "lll");
  bool any = false;
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    if (strncmp(r->key, only, strlen(only))) continue;
    any = true;
    table_cell(t, "%s", r->key);
    table_cell(t, "%s", r->unit);
    table_cell(t, "%s%s", r->doc, r->kind == STAT_MEAN ? " (mean)" : r->kind == STAT_MAX ? " (maximum)" : "");
  }
  for (uint32_t i = 0; i < derived_row_count; i++) {
    const struct derived_row *r = &derived_rows[i];
    if (strncmp(r->key, only, strlen(only))) continue;
    any = true;
    table_cell(t, "%s", r->key);
    table_cell(t, "%s", r->unit);
    table_cell(t, "%s (derived)", r->doc);
  }
  if (any) table_print(t, stdout);
  else err_set(&e, ERR_USAGE, "no counter begins with '%s'", only);
  table_free(t);
  return any ? EXIT_OK : cli_fail(&e);
}

/* ---- table of commands ---- */

#define GPU_OPTION \
  { "gpu", "NAME|FILE", "for this GPU (default fermi)", OPT_TEXT, offsetof(struct list_options, gpu), 'g', "gpu" }
static const struct opt gpu_opts[] = {GPU_OPTION, {.name = NULL}};
static const struct opt schemes_opts[] = {GPU_OPTION,
                                          {"long", NULL, "with what every parameter and counter means", OPT_FLAG,
                                           offsetof(struct list_options, whole), 'l', NULL},
                                          {.name = NULL}};
static const struct opt no_opts[] = {{.name = NULL}};

const struct command cmd_schemes = {
    .name = "schemes",
    .summary = "list the cache-management schemes, or explain one",
    .usage = "[NAME...]",
    .help =
        "Without a name: every scheme with its parameters, storage in bits and paper. With a name, in about ten "
        "lines:\n"
        "the idea, the slots, the parameters with defaults and ranges, the counters, and the storage item by item.\n\n"
        "Examples:\n  sluice schemes bucl\n  sluice schemes --long bucl\n",
    .opts = schemes_opts,
    .run = schemes_run,
};
const struct command cmd_gpus = {
    .name = "gpus",
    .summary = "list the GPU configurations",
    .usage = "",
    .help = "The machines of the papers. `sluice knobs --gpu NAME` prints every value of one.\n",
    .opts = no_opts,
    .run = gpus_run,
};
const struct command cmd_knobs = {
    .name = "knobs",
    .summary = "list the knobs of a GPU with values, units and ranges",
    .usage = "[PREFIX]",
    .help = "Every parameter that --set and configuration files can change.\n\nExamples:\n  sluice knobs l1d\n  sluice "
            "knobs --gpu medic l2\n",
    .opts = gpu_opts,
    .run = knobs_run,
};
const struct command cmd_stats = {
    .name = "stats",
    .summary = "list the counters of a result with units and definitions",
    .usage = "[PREFIX]",
    .help = "The keys of the JSON record, per kernel and in its totals.\n\nExample:\n  sluice stats l1d.read\n",
    .opts = no_opts,
    .run = stats_run,
};
