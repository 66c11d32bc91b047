/* energy.c - tables of energy: by component, per scheme, and sensitivity to the values of the energy table.
 *
 * "whole" is dynamic energy + leakage + refresh + the tables of the schemes. Values, sources and limits:
 * docs/explanation/energy.md.
 */
#include "cli/tables/energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/energy.h"

enum { ROWS_MAX = 96, NEAR = 5 }; /* values of the table; differences below this many per thousand are none */

struct whole {
  struct energy_report dynamic;
  struct energy_tables tables;
  double leakage, refresh, seconds, joule, per_joule;
};

/* `factor`: per event, then per constant; NULL for all 1. */
static struct whole whole_of(const struct energy_grid *g, size_t cell, const double *factor) {
  const struct gpu_stats *s = &g->stats[cell];
  const double *constant = factor ? factor + energy_event_count : NULL;
  struct whole w = {.dynamic = energy_report(s, g->config.core_mhz, factor)};
  w.seconds = (double)s->cycles / (g->config.core_mhz * 1e6);
  w.leakage = energy_leakage_watt(&g->config) * w.seconds * (constant ? constant[ENERGY_CONST_leakage] : 1);
  w.refresh = energy_refresh_watt(&g->config) * w.seconds * (constant ? constant[ENERGY_CONST_refresh] : 1);
  energy_of_tables(g->scheme[cell % g->schemes], &g->config, s, &w.tables);
  if (constant) {
    w.tables.joule *= constant[ENERGY_CONST_probe];
    w.tables.leak_joule *= constant[ENERGY_CONST_bit_leakage];
  }
  w.joule = w.dynamic.total + w.leakage + w.refresh + w.tables.joule + w.tables.leak_joule;
  if (w.joule > 0 && s->cycles) w.per_joule = (double)s->thread_insts / (double)s->cycles / w.joule;
  return w;
}

static void cell_joule(struct table *t, double j) {
  if (j >= 1) table_cell(t, "%.3f J", j);
  else if (j >= 1e-3) table_cell(t, "%.3f mJ", 1e3 * j);
  else table_cell(t, "%.3f uJ", 1e6 * j);
}

/* ---- one run ---- */

static void part(struct table *t, const char *name, double j, const struct whole *w) {
  if (j <= 0) return;
  table_cell(t, "%s", name);
  cell_joule(t, j);
  table_cell(t, "%.1f %%", 100 * j / w->joule);
  table_cell(t, "%.3f W", j / w->seconds);
}

static void print_run(const struct energy_grid *g, FILE *f) {
  static const char *const titles[] = {"energy", "joules", "share", "power"};
  static const char *const names[ENERGY_COMPONENTS] = {[ENERGY_icache] = "instruction cache",
                                                       [ENERGY_ibuffer] = "instruction buffers",
                                                       [ENERGY_scheduler] = "schedulers",
                                                       [ENERGY_regfile] = "register files",
                                                       [ENERGY_pipeline] = "pipeline registers",
                                                       [ENERGY_exec] = "execution units",
                                                       [ENERGY_l1d] = "L1 data caches",
                                                       [ENERGY_shared] = "shared memories",
                                                       [ENERGY_l2] = "L2",
                                                       [ENERGY_mem_ctrl] = "memory controllers",
                                                       [ENERGY_icnt] = "interconnect",
                                                       [ENERGY_dram] = "DRAM",
                                                       [ENERGY_idle_core] = "SMs without work"};
  if (!g->stats[0].cycles) {
    fputs("energy: nothing was timed\n", f);
    return;
  }
  struct whole w = whole_of(g, 0, NULL);
  struct table *t = table_new(titles, "lrrr");
  for (uint32_t i = 0; i < ENERGY_COMPONENTS; i++) part(t, names[i], w.dynamic.joule[i], &w);
  part(t, "dynamic", w.dynamic.total, &w);
  part(t, "leakage", w.leakage, &w);
  part(t, "DRAM refresh", w.refresh, &w);
  part(t, "tables of schemes", w.tables.joule + w.tables.leak_joule, &w);
  table_rule(t);
  part(t, "whole", w.joule, &w);
  fputc('\n', f);
  table_print(t, f);
  table_free(t);
  fprintf(f, "DRAM power %.3f W; efficiency %.4g IPC per joule, %.4g of the dynamic energy alone\n",
          w.dynamic.dram_watt + w.refresh / w.seconds, w.per_joule, w.dynamic.per_joule);
  struct energy_board b;
  if (energy_board(&g->config, &g->stats[0], &b))
    fprintf(f,
            "board: %.1f W by this GPU's own figures: constant %.1f, instructions %.1f, L1 and shared memory %.1f, L2 "
            "%.1f, "
            "DRAM %.1f; the table above has a GTX480's\n",
            b.watt, b.constant, b.instructions, b.l1, b.l2, b.dram);
  if (w.tables.bits > 0)
    fprintf(f, "tables of %s: %.3f KB, %.4f mm2, %.3f mW leakage\n", g->scheme[0], w.tables.bits / 8192, w.tables.mm2,
            1e3 * w.tables.leak_joule / w.seconds);
}

/* ---- beside the first scheme ---- */

enum quantity { WHOLE, DYNAMIC, L2_ICNT_DRAM, DRAM, POWER, DRAM_POWER, EFFICIENCY, QUANTITIES };

static double quantity_of(const struct whole *w, enum quantity q) {
  const double *j = w->dynamic.joule;
  switch (q) {
  case WHOLE:
    return w->joule;
  case DYNAMIC:
    return w->dynamic.total;
  case L2_ICNT_DRAM:
    return j[ENERGY_l2] + j[ENERGY_icnt] + j[ENERGY_dram] + w->refresh;
  case DRAM:
    return j[ENERGY_dram] + w->refresh;
  case POWER:
    return w->joule / w->seconds;
  case DRAM_POWER:
    return (j[ENERGY_dram] + w->refresh) / w->seconds;
  default:
    return w->per_joule;
  }
}

/* Geometric mean over the programs of scheme k over scheme 0; 0 if no program ran under both. */
static double mean_ratio(const struct energy_grid *g, size_t k, enum quantity q, const double *factor) {
  double sum = 0;
  size_t n = 0;
  for (size_t p = 0; p < g->programs; p++) {
    size_t a = p * g->schemes, b = a + k;
    if (!g->stats[a].cycles || !g->stats[b].cycles) continue;
    struct whole wa = whole_of(g, a, factor), wb = whole_of(g, b, factor);
    double x = quantity_of(&wa, q), y = quantity_of(&wb, q);
    if (x <= 0 || y <= 0) continue;
    sum += log(y / x);
    n++;
  }
  return n ? exp(sum / (double)n) : 0;
}

static void print_compare(const struct energy_grid *g, FILE *f) {
  static const char *const titles[] = {"energy",     "whole", "dynamic",    "L2+icnt+DRAM", "DRAM",      "power",
                                       "DRAM power", "IPC/J", "whole here", "tables",       "their area"};
  struct table *t = table_new(titles, "lrrrrrrrrrr");
  table_order(t, "....43..512");
  for (size_t k = 0; k < g->schemes; k++) {
    table_cell(t, "%s", g->scheme[k]);
    for (enum quantity q = 0; q < QUANTITIES; q++) table_cell(t, "%.3f", mean_ratio(g, k, q, NULL));
    double sum = 0, bits = 0, area = 0;
    for (size_t p = 0; p < g->programs; p++) {
      struct whole w = whole_of(g, p * g->schemes + k, NULL);
      sum += w.joule;
      bits = w.tables.bits;
      area = w.tables.mm2;
    }
    cell_joule(t, sum);
    table_cell(t, "%.2f KB", bits / 8192);
    table_cell(t, "%.4f mm2", area);
  }
  fprintf(f, "\nover %s%s; whole: with leakage, refresh and the schemes' tables\n", g->scheme[0],
          g->programs > 1 ? ", geometric means" : "");
  table_print(t, f);
  table_free(t);
}

/* ---- sensitivity ---- */

struct value {
  const char *component, *name, *source;
  double value;
};

static struct value energy_value(uint32_t i) {
  if (i < energy_event_count) {
    const struct energy_event *e = &energy_events[i];
    return (struct value){energy_component_names[e->component], e->name, e->source, e->picojoule};
  }
  const struct energy_constant *c = &energy_constants[i - energy_event_count];
  return (struct value){"constant", c->name, c->source, c->value};
}

/* Verdict of a ratio: -1 less than the first, 0 about the same, 1 more. */
static int verdict(double ratio) {
  return ratio > 1 + NEAR / 1000.0 ? 1 : ratio < 1 - NEAR / 1000.0 ? -1 : 0;
}

/* True if a pair of distinct schemes changes its order. */
static bool order_changes(const struct energy_grid *g, const double *before, const double *after) {
  for (size_t a = 0; a < g->schemes; a++)
    for (size_t b = 0; b < g->schemes; b++)
      if (verdict(before[a] / before[b]) < 0 && verdict(after[a] / after[b]) > 0) return true;
  return false;
}

struct trial {
  double ratio[64], low[64], high[64]; /* per scheme: as the table stands; over all trials */
  uint32_t turned, disordered;         /* trials in which a verdict is reversed; an order is */
};

static void energy_row(struct table *t, const struct energy_grid *g, uint32_t i, double by, const double *ratio,
                       const char *what) {
  struct value v = energy_value(i);
  table_cell(t, "%s: %s", v.component, v.name);
  table_cell(t, "%s %.4g", by < 1 ? "halved from" : "doubled from", v.value);
  for (size_t k = 0; k < g->schemes; k++) table_cell(t, "%.3f", ratio[k]);
  table_cell(t, "%s", what);
}

static void try_value(const struct energy_grid *g, double *factor, uint32_t i, double by, struct trial *tr,
                      struct table *t) {
  double ratio[64];
  bool turned = false;
  factor[i] = by;
  for (size_t k = 0; k < g->schemes; k++) {
    ratio[k] = mean_ratio(g, k, WHOLE, factor);
    tr->low[k] = fmin(tr->low[k], ratio[k]);
    tr->high[k] = fmax(tr->high[k], ratio[k]);
    turned |= verdict(ratio[k]) * verdict(tr->ratio[k]) < 0;
  }
  factor[i] = 1;
  bool disordered = order_changes(g, tr->ratio, ratio);
  tr->turned += turned;
  tr->disordered += disordered;
  bool moved = false;
  for (size_t k = 0; k < g->schemes; k++) moved |= fabs(ratio[k] - tr->ratio[k]) > 2 * NEAR / 1000.0;
  if (moved || turned || disordered)
    energy_row(t, g, i, by, ratio, turned ? "a verdict turns" : disordered ? "two schemes change places" : "");
}

static void sensitivity_of_schemes(const struct energy_grid *g, FILE *f) {
  double factor[ROWS_MAX];
  uint32_t rows = energy_event_count + ENERGY_CONSTANTS;
  struct trial tr = {0};
  const char *titles[68] = {"value of the table", "changed"};
  char align[68] = "ll";
  for (uint32_t i = 0; i < rows; i++) factor[i] = 1;
  for (size_t k = 0; k < g->schemes; k++) titles[2 + k] = g->scheme[k], align[2 + k] = 'r';
  titles[2 + g->schemes] = "conclusion";
  align[2 + g->schemes] = 'l';
  struct table *t = table_new(titles, align);
  table_cell(t, "as it stands");
  table_cell(t, "%s", "");
  for (size_t k = 0; k < g->schemes; k++) {
    tr.ratio[k] = tr.low[k] = tr.high[k] = mean_ratio(g, k, WHOLE, NULL);
    table_cell(t, "%.3f", tr.ratio[k]);
  }
  table_cell(t, "%s", "");
  for (uint32_t i = 0; i < rows; i++) {
    try_value(g, factor, i, 0.5, &tr, t);
    try_value(g, factor, i, 2, &tr, t);
  }
  table_rule(t);
  table_cell(t, "lowest and highest");
  table_cell(t, "of %u trials", 2 * rows);
  for (size_t k = 0; k < g->schemes; k++) table_cell(t, "%.3f-%.3f", tr.low[k], tr.high[k]);
  table_cell(t, "%s", "");
  fprintf(f, "\nsensitivity: whole energy over %s with each value halved and doubled (trials that move it by 0.01)\n",
          g->scheme[0]);
  table_print(t, f);
  table_free(t);
  fprintf(f, "of %u trials, %u turn a saving into a loss or back, %u let two schemes change places (0.5 %% apart)\n",
          2 * rows, tr.turned, tr.disordered);
}

static void sensitivity_of_run(const struct energy_grid *g, FILE *f) {
  static const char *const titles[] = {"value of the table", "is", "halved", "doubled", "source"};
  double factor[ROWS_MAX], base = whole_of(g, 0, NULL).joule;
  uint32_t rows = energy_event_count + ENERGY_CONSTANTS;
  for (uint32_t i = 0; i < rows; i++) factor[i] = 1;
  struct table *t = table_new(titles, "lrrrl");
  for (uint32_t i = 0; i < rows; i++) {
    struct value v = energy_value(i);
    factor[i] = 0.5;
    double low = whole_of(g, 0, factor).joule / base - 1;
    factor[i] = 2;
    double high = whole_of(g, 0, factor).joule / base - 1;
    factor[i] = 1;
    if (high < 0.0005) continue;
    table_cell(t, "%s: %s", v.component, v.name);
    table_cell(t, "%.4g %s", v.value, i < energy_event_count ? "pJ" : energy_constants[i - energy_event_count].unit);
    table_cell(t, "%+.1f %%", 100 * low);
    table_cell(t, "%+.1f %%", 100 * high);
    table_cell(t, "%s", v.source);
  }
  fputs("\nsensitivity: the whole energy with each value halved and doubled\n", f);
  table_print(t, f);
  table_free(t);
}

static void print_sensitivity(const struct energy_grid *g, FILE *f) {
  CHECK(energy_event_count + ENERGY_CONSTANTS <= ROWS_MAX, "%u values of energy", energy_event_count);
  if (!g->stats[0].cycles) return;
  if (g->schemes > 1) sensitivity_of_schemes(g, f);
  else sensitivity_of_run(g, f);
}

/* ---- lines no longer than the terminal is wide ---- */

static void in_lines(void (*print)(const struct energy_grid *, FILE *), const struct energy_grid *g, FILE *f) {
  struct lines l;
  print(g, lines_begin(&l, f));
  lines_end(&l);
}

void energy_print_run(const struct energy_grid *g, FILE *f) {
  in_lines(print_run, g, f);
}
void energy_print_compare(const struct energy_grid *g, FILE *f) {
  in_lines(print_compare, g, f);
}
void energy_print_sensitivity(const struct energy_grid *g, FILE *f) {
  in_lines(print_sensitivity, g, f);
}
