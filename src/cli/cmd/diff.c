/* diff.c - `sluice diff A B`: compares two results files. For CI: exit code 1 when they differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/tables/rows.h"
#include "gpu/common/stats.h"
#include "results/record.h"

struct diff_opts {
  const char *tolerance, *study, *format;
  struct opt_list metrics;
  uint64_t top;
  bool quiet;
};

/* A planned run by its labels: hashes change when a program is recompiled, labels do not. */
struct side {
  char *key, *status;
  int64_t run;
};
struct sides {
  struct side *at;
  size_t count, room;
};

struct difference {
  const char *key, *metric;
  double a, b, relative;
};

struct diff {
  struct arena arena;
  struct db *db[2];
  struct sides side[2];
  const char **metric;
  size_t metrics, compared, only[2], status_differs, differ, room;
  struct difference *list;
  double tolerance;
};

static bool add_side(void *ctx, const struct db_row *r) {
  struct sides *s = ctx;
  static const char *const states[] = {[DB_MISSING] = "missing", [DB_FAILED] = "failed", [DB_DONE] = "done"};
  if (s->count == s->room) {
    s->room = s->room ? 2 * s->room : 256;
    s->at = mem_resize(s->at, s->room, sizeof *s->at);
  }
  struct side *n = &s->at[s->count++];
#define TEXT(x) ((x) ? (x) : "")
  CHECK(asprintf(&n->key, "%s%s%s %s %s %s #%lld %s", TEXT(r->workload), r->size ? " " : "", TEXT(r->size),
                 TEXT(r->gpu), TEXT(r->scheme), TEXT(r->parameters), (long long)r->replica, TEXT(r->suite)) > 0,
        "out of memory");
#undef TEXT
  n->status = mem_text(states[r->status]);
  n->run = r->run;
  return true;
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const struct side *)a)->key, ((const struct side *)b)->key);
}

static bool load_side(struct diff *d, int i, const char *file, const char *study, struct err *e) {
  d->db[i] = db_open(file, DB_READ, e);
  if (!d->db[i] || !db_each(d->db[i], study, add_side, &d->side[i], e)) return false;
  if (!d->side[i].count) return err_set(e, ERR_INPUT, study ? "%s: no study '%s'" : "%s: no study in it", file, study);
  qsort(d->side[i].at, d->side[i].count, sizeof *d->side[i].at, by_key);
  return true;
}

static void choose_metrics(struct diff *d, const struct diff_opts *o) {
  d->metric = ARENA_ARRAY(&d->arena, const char *, gpu_stat_row_count + derived_row_count + o->metrics.count);
  for (size_t i = 0; i < o->metrics.count; i++) d->metric[d->metrics++] = o->metrics.at[i];
  for (uint32_t i = 0; !o->metrics.count && i < gpu_stat_row_count; i++) d->metric[d->metrics++] = gpu_stat_rows[i].key;
  for (uint32_t i = 0; !o->metrics.count && i < derived_row_count; i++) d->metric[d->metrics++] = derived_rows[i].key;
}

static void compare_run(struct diff *d, const struct side *a, const struct side *b) {
  d->compared++;
  for (size_t i = 0; i < d->metrics; i++) {
    double x = 0, y = 0;
    bool has_x = db_value(d->db[0], a->run, d->metric[i], &x), has_y = db_value(d->db[1], b->run, d->metric[i], &y);
    if (!has_x || !has_y || x == y) continue; /* a counter missing on one side does not differ */
    double relative = fabs(x - y) / fmax(fabs(x), fabs(y));
    if (relative <= d->tolerance) continue;
    if (d->differ == d->room) {
      d->room = d->room ? 2 * d->room : 256;
      d->list = mem_resize(d->list, d->room, sizeof *d->list);
    }
    d->list[d->differ++] = (struct difference){a->key, d->metric[i], x, y, relative};
  }
}

static void compare_all(struct diff *d, bool quiet) {
  size_t i = 0, k = 0;
  const struct sides *a = &d->side[0], *b = &d->side[1];
  while (i < a->count || k < b->count) {
    int c = i == a->count ? 1 : k == b->count ? -1 : strcmp(a->at[i].key, b->at[k].key);
    if (c) {
      if (!quiet) text_say(stdout, "only in %s: %s\n", c < 0 ? "A" : "B", c < 0 ? a->at[i].key : b->at[k].key);
      d->only[c > 0]++;
      if (c < 0) i++;
      else k++;
      continue;
    }
    if (strcmp(a->at[i].status, b->at[k].status)) {
      if (!quiet) text_say(stdout, "%s in A, %s in B: %s\n", a->at[i].status, b->at[k].status, a->at[i].key);
      d->status_differs++;
    } else if (!strcmp(a->at[i].status, "done")) {
      compare_run(d, &a->at[i], &b->at[k]);
    }
    i++, k++;
  }
}

static int by_relative(const void *a, const void *b) {
  double x = ((const struct difference *)a)->relative, y = ((const struct difference *)b)->relative;
  return x < y ? 1 : x > y ? -1 : strcmp(((const struct difference *)a)->key, ((const struct difference *)b)->key);
}

static void print_diff(struct diff *d, uint64_t top) {
  static const char *const titles[] = {"run", "metric", "A", "B", "difference"};
  qsort(d->list, d->differ, sizeof *d->list, by_relative);
  struct table *t = table_new(titles, "llrrr");
  table_order(t, ".....");
  for (size_t i = 0; i < d->differ && i < top; i++) {
    const struct difference *x = &d->list[i];
    table_cell(t, "%s", x->key);
    table_cell(t, "%s", x->metric);
    table_cell(t, "%.10g", x->a);
    table_cell(t, "%.10g", x->b);
    table_cell(t, "%.3g %%", 100 * x->relative);
  }
  table_print(t, stdout);
  table_free(t);
  if (d->differ > top) printf("(the largest %llu of %zu)\n", (unsigned long long)top, d->differ);
}

static int finish_diff(struct diff *d, const struct diff_opts *o) {
  bool same = !d->differ && !d->only[0] && !d->only[1] && !d->status_differs;
  if (!o->quiet) {
    if (d->differ) print_diff(d, o->top ? o->top : 20);
    printf(
        "%zu runs compared over %zu metrics: %zu values differ by more than %g %%; %zu runs only in A, %zu only in B, "
        "%zu ended differently\n",
        d->compared, d->metrics, d->differ, 100 * d->tolerance, d->only[0], d->only[1], d->status_differs);
  }
  return same ? EXIT_OK : EXIT_CHECK;
}

static bool read_tolerance(const char *text, double *out, struct err *e) {
  char *end = NULL;
  *out = text ? strtod(text, &end) : 0;
  if (text && *end == '%') *out /= 100, end++;
  if (!text || (end != text && !*end && *out >= 0 && isfinite(*out))) return true;
  return err_set(e, ERR_USAGE, "--tolerance needs a fraction or a percentage, such as 0.01 or 1%%, not '%s'", text);
}

static int diff_run(const struct command *self, int argc, char **argv) {
  struct diff_opts o = {0};
  struct err e = {0};
  const char *file[2];
  int first, count = 0, rc = command_begin(self, argc, argv, &o, &first);
  if (rc >= 0) return rc;
  while (first < argc) {
    int more = argv[first][0] == '-' ? opt_parse(self->opts, &o, argc - first + 1, argv + first - 1, &e) : 0;
    if (more < 0) return command_usage(self, &e);
    if (more) first += more - 1;
    else if (count == 2) return err_set(&e, ERR_USAGE, "more than two files"), command_usage(self, &e);
    else file[count++] = argv[first++];
  }
  if (count < 2) return err_set(&e, ERR_USAGE, "two results files are needed"), command_usage(self, &e);
  struct diff d = {0};
  bool ok = read_tolerance(o.tolerance, &d.tolerance, &e) && load_side(&d, 0, file[0], o.study, &e) &&
            load_side(&d, 1, file[1], o.study, &e);
  if (ok) {
    choose_metrics(&d, &o);
    compare_all(&d, o.quiet);
    rc = finish_diff(&d, &o);
  } else {
    rc = cli_fail(&e);
  }
  for (int i = 0; i < 2; i++) {
    for (size_t k = 0; k < d.side[i].count; k++) free(d.side[i].at[k].key), free(d.side[i].at[k].status);
    free(d.side[i].at);
    db_close(d.db[i]);
  }
  free(d.list);
  arena_free(&d.arena);
  opt_list_free(&o.metrics);
  return rc;
}

#define AT(member) offsetof(struct diff_opts, member)
static const struct opt diff_opts_table[] = {
    {"tolerance", "X", "relative difference that is let pass: 0.01 or 1% (default 0: bit for bit)", OPT_TEXT,
     AT(tolerance), 't', NULL},
    {"metric", "KEY", "compare this one only; may be repeated (default: all counters and derived values)", OPT_LIST,
     AT(metrics), 'm', NULL},
    {"study", "NAME", "this study only", OPT_TEXT, AT(study), 's', NULL},
    {"top", "N", "list the N largest differences (default 20)", OPT_UINT, AT(top), 'n', NULL},
    {"quiet", NULL, "the exit code only", OPT_FLAG, AT(quiet), 'q', NULL},
    {.name = NULL}};

const struct command cmd_diff = {
    .name = "diff",
    .summary = "compare two results files, for CI",
    .usage = "A.db B.db [OPTIONS]",
    .help =
        "Runs are matched by workload, suite, size, GPU, scheme, parameters and replica. Exit code 0: the same runs "
        "with\n"
        "the same values, within the tolerance; 1: they differ; 2: a file cannot be read. Times are not compared.\n\n"
        "Example:\n  sluice diff main.db branch.db --tolerance 0.5% --metric ipc\n",
    .opts = diff_opts_table,
    .run = diff_run,
};
