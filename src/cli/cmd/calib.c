/* calib.c - reference tables, errors and goals of the calibration of the baseline GPU. */
#include "cli/cmd/calib.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"

/* Below this count one access is more than a percent: relative errors are not meaningful. */
static const double small_count = 200;

enum goal_kind { GOAL_EQUAL, GOAL_COUNT, GOAL_RATE };
static const struct goal {
  const char *column;
  enum goal_kind kind;
  const char *whole; /* GOAL_RATE: the denominator of the rate */
} goals[] = {
    {"thread_insts", GOAL_EQUAL, NULL},
    {"warp_insts", GOAL_EQUAL, NULL},
    {"l1d.read.accesses", GOAL_COUNT, NULL},
    {"l1d.write.accesses", GOAL_COUNT, NULL},
    {"l2.accesses", GOAL_COUNT, NULL},
    {"l2.read.accesses", GOAL_COUNT, NULL},
    {"l2.write.accesses", GOAL_COUNT, NULL},
    {"dram.reads", GOAL_COUNT, NULL},
    {"dram.writes", GOAL_COUNT, NULL},
    {"l1d.read.hits", GOAL_RATE, "l1d.read.accesses"},
    {"l1d.read.misses", GOAL_RATE, "l1d.read.accesses"},
    {"l2.misses", GOAL_RATE, "l2.accesses"},
};
static const char *const goal_texts[] = {"equal", "within 1 %", "within one point of rate"};

/* ---- reading ---- */

static size_t lines_of(const char *s) {
  size_t n = 0;
  for (; *s; s++) n += *s == '\n';
  return n + 1;
}

bool calib_read(struct calib_table *t, const char *path, struct err *e) {
  *t = (struct calib_table){.text = path_read_whole(path, NULL)};
  if (!t->text) return err_set(e, ERR_INPUT, "cannot read '%s': %s", path, strerror(errno));
  t->at = mem_zeroed(lines_of(t->text), sizeof *t->at);
  char *lines, *line = strtok_r(t->text, "\r\n", &lines);
  if (!line || strncmp(line, "case,", 5)) return err_set(e, ERR_INPUT, "%s:1: the first column must be `case`", path);
  char *cells, *cell = strtok_r(line + 5, ",", &cells);
  for (; cell; cell = strtok_r(NULL, ",", &cells)) {
    if (t->columns == CALIB_COLUMNS) return err_set(e, ERR_INPUT, "%s:1: more than %d columns", path, CALIB_COLUMNS);
    t->column[t->columns++] = cell;
  }
  for (unsigned at = 2; (line = strtok_r(NULL, "\r\n", &lines)); at++) {
    struct calib_case *c = &t->at[t->count];
    char *p = strchr(line, ',');
    if (!p || (size_t)(p - line) >= sizeof c->name) return err_set(e, ERR_INPUT, "%s:%u: no case name", path, at);
    memcpy(c->name, line, (size_t)(p - line));
    for (size_t k = 0; k < t->columns; k++) {
      char *end;
      if (*p != ',') return err_set(e, ERR_INPUT, "%s:%u: %zu values, the heading has %zu", path, at, k, t->columns);
      c->reference[k] = strtod(p + 1, &end);
      if (end == p + 1)
        return err_set(e, ERR_INPUT, "%s:%u: '%s' of %s is not a number", path, at, t->column[k], c->name);
      p = end;
    }
    t->count++;
  }
  return true;
}

void calib_free(struct calib_table *t) {
  free(t->text);
  free(t->at);
  *t = (struct calib_table){0};
}

void calib_fill(const struct calib_table *t, struct calib_case *c, const struct record_file *r) {
  c->ran = true;
  for (size_t k = 0; k < t->columns; k++)
    if (!record_value(r, RECORD_TOTALS, t->column[k], &c->ours[k])) c->ours[k] = 0;
}

static size_t column_of(const struct calib_table *t, const char *name) {
  size_t k = 0;
  while (k < t->columns && strcmp(t->column[k], name)) k++;
  return k;
}

double calib_get(const struct calib_table *t, const double *row, const char *column) {
  size_t k = column_of(t, column);
  return k < t->columns ? row[k] : 0;
}

/* ---- errors ---- */

double calib_relative(double ours, double reference) {
  return reference != 0 ? (ours - reference) / reference : ours;
}

double calib_cycle_error(const struct calib_table *t, const struct calib_case *c) {
  return calib_relative(calib_get(t, c->ours, "cycles"), calib_get(t, c->reference, "cycles"));
}

static bool is_mean(const char *column) {
  size_t n = strlen(column);
  return n > 5 && (!strcmp(column + n - 5, ".mean") || !strcmp(column + n - 4, ".max"));
}

/* The reference prints its per-type cache tables for the last launches of a case only, not for all: where there are
 * several launches (bfs) its L1 columns and its L2 reads and writes are no totals. Its l2.accesses, mem.read_requests
 * and mem.write_requests are, and the L2's reads of all launches equal mem.read_requests. */
static bool is_total(const struct calib_table *t, const struct calib_case *c, const char *column) {
  if (calib_get(t, c->reference, "kernels") <= 1) return true;
  return strncmp(column, "l1d.", 4) && strncmp(column, "l2.read.", 8) && strncmp(column, "l2.write.", 9);
}

/* Warps of this case race on purpose (which neighbour marks a vertex first): the number of instructions depends on the
 * arrival of each store. */
static bool races(const struct calib_case *c) {
  return !strcmp(c->name, "bfs");
}

static bool means_something(const struct calib_table *t, const struct calib_case *c, size_t k) {
  if (!c->ran || !is_total(t, c, t->column[k])) return false;
  if (is_mean(t->column[k])) return c->reference[k] > 0;
  return c->reference[k] >= small_count || c->ours[k] >= small_count;
}

struct calib_worst calib_worst(const struct calib_table *t, const struct calib_case *c) {
  struct calib_worst w = {0};
  for (size_t k = 0; k < t->columns; k++) {
    if (!strcmp(t->column[k], "cycles") || !means_something(t, c, k)) continue;
    double x = calib_relative(c->ours[k], c->reference[k]);
    if (x != 0 && fabs(x) > fabs(w.error)) w = (struct calib_worst){t->column[k], x};
  }
  return w;
}

struct calib_column calib_column_stats(const struct calib_table *t, size_t k) {
  struct calib_column s = {.worst_case = ""};
  for (size_t i = 0; i < t->count; i++) {
    if (!means_something(t, &t->at[i], k)) continue;
    double x = calib_relative(t->at[i].ours[k], t->at[i].reference[k]);
    s.mean += fabs(x);
    s.cases++;
    if (fabs(x) > fabs(s.worst)) s.worst = x, s.worst_case = t->at[i].name;
  }
  if (s.cases) s.mean /= (double)s.cases;
  return s;
}

struct calib_overall calib_overall(const struct calib_table *t) {
  struct calib_overall o = {.worst_case = ""};
  double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
  for (size_t i = 0; i < t->count; i++) {
    const struct calib_case *c = &t->at[i];
    if (!c->ran) continue;
    double err = calib_cycle_error(t, c);
    double x = log(fmax(1, calib_get(t, c->ours, "cycles"))), y = log(fmax(1, calib_get(t, c->reference, "cycles")));
    o.mean += fabs(err);
    if (fabs(err) > o.worst || !*o.worst_case) o.worst = fabs(err), o.worst_case = c->name;
    n++, sx += x, sy += y, sxx += x * x, syy += y * y, sxy += x * y;
  }
  if (n > 0) o.mean /= n;
  double vx = n * sxx - sx * sx, vy = n * syy - sy * sy;
  o.correlation = vx > 0 && vy > 0 ? (n * sxy - sx * sy) / sqrt(vx * vy) : 0;
  return o;
}

/* ---- goals ---- */

const char *calib_goal_text(const char *column) {
  if (!strcmp(column, "cycles")) return "mean 5 %, worst 15 %";
  for (size_t g = 0; g < sizeof goals / sizeof *goals; g++)
    if (!strcmp(goals[g].column, column)) return goal_texts[goals[g].kind];
  return NULL;
}

struct lines {
  char *at;
  size_t size, used;
  unsigned count;
};

static void missed(struct lines *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void missed(struct lines *l, const char *fmt, ...) {
  va_list ap;
  l->count++;
  if (l->used + 256 > l->size) return;
  l->used += (size_t)snprintf(l->at + l->used, l->size - l->used, "  ");
  va_start(ap, fmt);
  l->used += (size_t)vsnprintf(l->at + l->used, l->size - l->used, fmt, ap);
  va_end(ap);
  l->used += (size_t)snprintf(l->at + l->used, l->size - l->used, "\n");
}

static void check_goal(const struct calib_table *t, const struct calib_case *c, const struct goal *g, struct lines *l) {
  double ours = calib_get(t, c->ours, g->column), ref = calib_get(t, c->reference, g->column);
  if (!is_total(t, c, g->column)) return;
  if (g->kind == GOAL_EQUAL && fabs(ours - ref) > (races(c) ? 0.001 * ref : 0))
    missed(l, "%s: %s is %.0f, the reference has %.0f", c->name, g->column, ours, ref);
  /* Below a hundred accesses, a difference of one counts as within 1 %. */
  if (g->kind == GOAL_COUNT && fabs(ours - ref) > fmax(1, 0.01 * ref))
    missed(l, "%s: %s is %.0f, the reference has %.0f (%+.1f %%)", c->name, g->column, ours, ref,
           100 * calib_relative(ours, ref));
  if (g->kind != GOAL_RATE) return;
  double a = calib_get(t, c->ours, g->whole), b = calib_get(t, c->reference, g->whole);
  double rate_ours = a > 0 ? ours / a : 0, rate_ref = b > 0 ? ref / b : 0;
  if (b >= small_count && fabs(rate_ours - rate_ref) > 0.01)
    missed(l, "%s: %s / %s is %.1f %%, the reference has %.1f %%", c->name, g->column, g->whole, 100 * rate_ours,
           100 * rate_ref);
}

unsigned calib_goals_missed(const struct calib_table *t, char *text, size_t size) {
  struct lines l = {.at = text, .size = size};
  struct calib_overall o = calib_overall(t);
  *text = 0;
  if (o.mean > 0.05) missed(&l, "mean absolute error of cycles is %.2f %%, more than 5 %%", 100 * o.mean);
  if (o.worst > 0.15) missed(&l, "worst error of cycles is %.2f %% (%s), more than 15 %%", 100 * o.worst, o.worst_case);
  if (t->count > 2 && o.correlation < 0.999)
    missed(&l, "correlation of log cycles is %.5f, less than 0.999", o.correlation);
  for (size_t i = 0; i < t->count; i++) {
    const struct calib_case *c = &t->at[i];
    if (!c->ran) {
      missed(&l, "%s: did not run", c->name);
      continue;
    }
    for (size_t g = 0; g < sizeof goals / sizeof *goals; g++) check_goal(t, c, &goals[g], &l);
    double latency =
        calib_relative(calib_get(t, c->ours, "mem.latency.mean"), calib_get(t, c->reference, "mem.latency.mean"));
    if (!strncmp(c->name, "chase_", 6) && fabs(latency) > 0.02)
      missed(&l, "%s: mean latency is off by %+.1f %%, more than 2 %%", c->name, 100 * latency);
    double bandwidth = calib_cycle_error(t, c);
    if ((!strcmp(c->name, "copy") || !strcmp(c->name, "triad")) && fabs(bandwidth) > 0.03)
      missed(&l, "%s: bandwidth is off by %+.1f %%, more than 3 %%", c->name, -100 * bandwidth / (1 + bandwidth));
  }
  return l.count;
}
