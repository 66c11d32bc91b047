/* league_bound.c - the schemes of a league beside the bounds of replacement, and what holds programs up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/cmd/league.h"
#include "results/published.h"

#define LEAST_GAIN 1.01 /* of a bound: below it there is no distance to cover */

static const char *const bounds[] = {"min", "l2-min"};
enum { BOUNDS = sizeof bounds / sizeof *bounds };

/* Share of the sums without program `but` (SIZE_MAX: of all). */
static double share_without(const double *own, const double *most, size_t n, size_t but) {
  double covered = 0, distance = 0;
  for (size_t i = 0; i < n; i++)
    if (i != but) covered += own[i], distance += most[i];
  return covered / distance;
}

struct league_ratio league_share(const struct league *l, size_t scheme, size_t bound) {
  struct league_ratio r = {.mean = NAN, .low = NAN, .high = NAN};
  if (bound == l->scheme_count || scheme == l->scheme_count) return r;
  double *own = mem_alloc(3 * (l->program_count + 1) * sizeof *own);
  double *most = own + l->program_count + 1, *pseudo = most + l->program_count + 1;
  for (size_t p = 0; p < l->program_count; p++) {
    double base = league_mean(l, p, l->base, LEAGUE_IPC), x = league_mean(l, p, scheme, LEAGUE_IPC);
    double b = league_mean(l, p, bound, LEAGUE_IPC);
    if (base <= 0 || x <= 0 || b < LEAST_GAIN * base) continue;
    own[r.programs] = log(x / base);
    most[r.programs++] = log(b / base);
  }
  double n = (double)r.programs;
  if (r.programs) r.mean = share_without(own, most, r.programs, SIZE_MAX);
  for (size_t i = 0; i < r.programs; i++) pseudo[i] = n * r.mean - (n - 1) * share_without(own, most, r.programs, i);
  if (r.programs > 1) {
    double middle = published_mean(PUBLISHED_ARITHMETIC, pseudo, r.programs);
    if (published_interval(PUBLISHED_ARITHMETIC, pseudo, r.programs, &r.low, &r.high))
      r.low += r.mean - middle, r.high += r.mean - middle;
  }
  free(own);
  return r;
}

/* ---- what holds a program up ---- */

static double baseline_total(const struct league *l, size_t program, const char *key) {
  double v = 0;
  for (size_t i = 0; i < l->run_count; i++)
    if (l->run[i].program == program && l->run[i].scheme == l->base && db_value(l->db, l->run[i].id, key, &v)) break;
  return v;
}

/* The greatest share of the issue slots, in words; DRAM that is busy most of the time comes first. */
static const char *held_by(const double *share, double dram) {
  static const char *const words[] = {"issues all it can", "waits for results", "memory unit is full", "pipes are busy",
                                      "barriers",          "branches",          "too few warps"};
  size_t most = 0;
  for (size_t i = 1; i < sizeof words / sizeof *words; i++)
    if (share[i] > share[most]) most = i;
  return dram >= 0.6 ? "DRAM bandwidth" : words[most];
}

static void percent_cell(struct table *t, double v) {
  if (isfinite(v)) table_cell(t, "%.0f %%", 100 * v);
  else table_cell(t, "-");
}

static void limit_row(const struct league *l, struct table *t, size_t p) {
  static const char *const slot[] = {"issue.issued",  "issue.data_hazard", "issue.memory_stall", "issue.pipe_busy",
                                     "issue.barrier", "issue.control",     "issue.idle"};
  double share[sizeof slot / sizeof *slot], slots = baseline_total(l, p, "issue.slots");
  double dram = baseline_total(l, p, "dram.utilisation"), base = league_mean(l, p, l->base, LEAGUE_IPC);
  table_cell(t, "%s", l->programs[p]);
  for (size_t b = 0; b < BOUNDS; b++) {
    size_t s = league_scheme(l, bounds[b]);
    double own = s < l->scheme_count ? league_mean(l, p, s, LEAGUE_IPC) : 0;
    if (own > 0) table_cell(t, "%.3f", own / base);
    else table_cell(t, "-");
  }
  for (size_t i = 0; i < sizeof slot / sizeof *slot; i++) share[i] = baseline_total(l, p, slot[i]) / slots;
  table_cell(t, "%s", held_by(share, dram));
  for (size_t i = 0; i < sizeof slot / sizeof *slot; i++)
    if (i != 3) percent_cell(t, share[i]);
  percent_cell(t, baseline_total(l, p, "l1d.read.hit_rate"));
  percent_cell(t, baseline_total(l, p, "l2.hit_rate"));
  percent_cell(t, dram);
}

struct gain {
  size_t program;
  double most;
};
static int by_gain(const void *x, const void *y) {
  const struct gain *a = x, *b = y;
  return a->most > b->most ? -1 : a->most < b->most ? 1 : a->program < b->program ? -1 : 1;
}

struct table *league_limits(const struct league *l) {
  static const char *const titles[] = {"program",  "min",      "l2-min",  "held up by", "issued",  "results",  "memory",
                                       "barriers", "branches", "no warp", "L1 hits",    "L2 hits", "DRAM busy"};
  struct table *t = table_new(titles, "lrrlrrrrrrrrr");
  table_order(t, "....444441123");
  struct gain *g = mem_alloc((l->program_count + 1) * sizeof *g);
  size_t n = 0;
  for (size_t p = 0; p < l->program_count; p++) {
    double base = league_mean(l, p, l->base, LEAGUE_IPC), most = 0;
    for (size_t b = 0; b < BOUNDS; b++) {
      size_t s = league_scheme(l, bounds[b]);
      if (s < l->scheme_count) most = fmax(most, league_mean(l, p, s, LEAGUE_IPC));
    }
    if (base > 0 && most > 0) g[n++] = (struct gain){p, most / base};
  }
  qsort(g, n, sizeof *g, by_gain);
  for (size_t i = 0; i < n; i++) limit_row(l, t, g[i].program);
  free(g);
  return t;
}

bool league_bound(const struct league *l, struct err *e) {
  static const char *const titles[] = {"scheme", "of min", "95 % interval", "of l2-min", "95 % interval"};
  size_t at[BOUNDS], found = 0;
  for (size_t b = 0; b < BOUNDS; b++) found += (at[b] = league_scheme(l, bounds[b])) < l->scheme_count;
  if (!found) return err_set(e, ERR_INPUT, "--bound: the file has no run of min or l2-min on %s", l->gpu);
  struct table *t = table_new(titles, "lrlrl");
  for (size_t s = 0; s < l->scheme_count; s++) {
    if (s == l->base || s == at[0] || s == at[1]) continue;
    table_cell(t, "%s", l->schemes[s]);
    for (size_t b = 0; b < BOUNDS; b++) {
      struct league_ratio r = league_share(l, s, at[b]);
      percent_cell(t, r.mean);
      if (isfinite(r.low)) table_cell(t, "%.0f to %.0f", 100 * r.low, 100 * r.high);
      else table_cell(t, "-");
    }
  }
  text_say(
      stdout,
      "sluice: %s%s%s, share of the distance from the baseline to the bounds, in programs where they gain 1 %%\n\n",
      l->gpu, *l->size ? ", inputs " : "", l->size);
  table_print(t, stdout);
  table_free(t);
  for (size_t b = 0; b < BOUNDS; b++)
    if (at[b] < l->scheme_count)
      text_say(stdout, "%s gains 1 %% or more in %zu of %zu programs\n", bounds[b],
               league_share(l, at[b], at[b]).programs, l->program_count);
  puts("\nIPC of the bounds over the baseline's, and the baseline's issue slots, hit rates and DRAM:\n");
  t = league_limits(l);
  table_hint(t, "a wider terminal or `| cat` shows all");
  table_print(t, stdout);
  table_free(t);
  return true;
}
