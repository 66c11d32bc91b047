/* estimate_record.c - the record of an estimated run: clusters as kernels, estimates as totals, and the intervals. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cli.h"
#include "cli/run/estimate.h"

/* ---- counters of launches ---- */

/* Of CTAs in place of all. */
static double scaled_up(const struct logged_launch *l, double v) {
  return l->inside.warp_insts ? v * (double)l->sig.warp_insts / (double)l->inside.warp_insts : v;
}

static double value_of(const struct logged_launch *l, uint32_t offset) {
  double v = (double)*(const uint64_t *)((const char *)&l->stats + offset);
  if (!l->inside.ctas) return v;
  if (offset == offsetof(struct gpu_stats, cycles)) return l->inside.cycles;
  if (l->inside.counter) return l->inside.counter[offset / sizeof(uint64_t)].value;
  return scaled_up(l, v);
}

/* Counters that every launch has, timed or not. */
static bool is_known(const struct logged_launch *l, uint32_t offset, double *value) {
  if (offset == offsetof(struct gpu_stats, kernels)) return *value = 1, true;
  if (offset == offsetof(struct gpu_stats, warp_insts)) return *value = (double)l->sig.warp_insts, true;
  if (offset == offsetof(struct gpu_stats, thread_insts)) return *value = (double)l->sig.thread_insts, true;
  if (offset == offsetof(struct gpu_stats, ctas)) return *value = (double)launchlog_ctas(l), true;
  return false;
}

/* The variance of the cycles of a launch; what has none of its own is taken to vary as much. */
static double variance_as_cycles(const struct logged_launch *l, double value) {
  double part = l->inside.cycles > 0 ? value / l->inside.cycles : 0;
  return l->inside.variance * part * part;
}

static double variance_of(const struct logged_launch *l, uint32_t offset) {
  if (offset != offsetof(struct gpu_stats, cycles) && l->inside.ctas && l->inside.counter)
    return l->inside.counter[offset / sizeof(uint64_t)].variance;
  return variance_as_cycles(l, value_of(l, offset));
}

/* By how many cycles the mean of launches behind untimed ones differs from that in the whole run: the standard
 * deviation over eight programs, docs/notes/speed.md. */
static const double moved_cycles = 10;

/* Strata of one counter, a stratum per cluster, with the samples they point to. */
struct strata {
  struct estimate_stratum *at;
  struct stratum_samples {
    double *x, *y, *own, *weight;
  } * samples;
  size_t n;
};

static struct strata strata_new(size_t n) {
  return (struct strata){mem_zeroed(n, sizeof(struct estimate_stratum)), mem_zeroed(n, sizeof(struct stratum_samples)),
                         n};
}

static void strata_free(struct strata *s) {
  for (size_t i = 0; i < s->n; i++) {
    const struct stratum_samples *k = &s->samples[i];
    free(k->x), free(k->y), free(k->own), free(k->weight);
  }
  free(s->samples);
  free(s->at);
}

/* The stratum of cluster `c`; scheme counters by name. */
static struct estimate_stratum stratum_of(const struct estimated *x, const struct plan_cluster *c, uint32_t offset,
                                          const char *scheme, struct stratum_samples *room) {
  struct estimate_stratum s = {.members = c->members};
  if (!scheme && offset == offsetof(struct gpu_stats, cycles)) s.beside = moved_cycles;
  double *all = mem_zeroed(c->members, sizeof *all);
  size_t *place = mem_zeroed(c->members, sizeof *place);
  uint32_t *timed = mem_zeroed(c->members, sizeof *timed);
  s.timed = plan_series(c, &x->log, all, place, timed);
  *room = (struct stratum_samples){mem_zeroed(s.timed, sizeof(double)), mem_zeroed(s.timed, sizeof(double)),
                                   mem_zeroed(s.timed, sizeof(double)), NULL};
  for (uint32_t i = 0; i < c->members; i++) s.x_all += all[i];
  for (size_t k = 0; k < s.timed; k++) {
    const struct logged_launch *l = &x->log.at[timed[k]];
    room->x[k] = (double)l->sig.warp_insts;
    for (uint32_t q = 0; scheme && q < l->schemes; q++)
      if (!strcmp(l->scheme[q].key, scheme)) room->y[k] = scaled_up(l, (double)l->scheme[q].value);
    if (scheme) room->own[k] = variance_as_cycles(l, room->y[k]);
    else room->y[k] = value_of(l, offset), room->own[k] = variance_of(l, offset);
    if (l->inside.ctas) s.own_freedom = l->inside.freedom;
  }
  if (s.timed >= ESTIMATE_LINE) {
    room->weight = mem_zeroed(s.timed, sizeof(double));
    estimate_weights(all, c->members, place, s.timed, room->weight);
  }
  s.x = room->x, s.y = room->y, s.own = room->own, s.weight = room->weight;
  free(all), free(place), free(timed);
  return s;
}

/* The strata of a counter, or of the scheme counter `scheme`. */
static struct strata strata_of(const struct estimated *x, uint32_t offset, const char *scheme) {
  struct strata s = strata_new(x->plan.clusters);
  for (uint32_t c = 0; c < x->plan.clusters; c++)
    s.at[c] = stratum_of(x, &x->plan.cluster[c], offset, scheme, &s.samples[c]);
  return s;
}

/* Exact sums; false: the counter has to be estimated. */
static bool sum_known(const struct estimated *x, uint32_t offset, struct estimate_part *parts, struct estimate *t) {
  double v;
  *t = (struct estimate){.freedom = 1e6};
  for (uint32_t c = 0; c < x->plan.clusters; c++) {
    const struct plan_cluster *k = &x->plan.cluster[c];
    if (parts) parts[c] = (struct estimate_part){0};
    for (uint32_t i = 0; i < k->members; i++) {
      if (!is_known(&x->log.at[k->launch[i]], offset, &v)) return false;
      if (parts) parts[c].total += v;
      t->total += v;
    }
  }
  return true;
}

static struct estimate estimate_any(const struct estimated *x, uint32_t offset, const char *scheme,
                                    struct estimate_part *parts) {
  struct estimate t;
  if (!scheme && sum_known(x, offset, parts, &t)) return t;
  struct strata s = strata_of(x, offset, scheme);
  t = estimate_total(s.at, x->plan.clusters, parts);
  strata_free(&s);
  return t;
}

struct estimate estimate_counter(const struct estimated *x, uint32_t offset, struct estimate_part *parts) {
  return estimate_any(x, offset, NULL, parts);
}

/* ---- intervals ---- */

static void put(json_t *o, const char *key, double v) {
  json_object_set_new(o, key, json_real(v));
}

static json_t *interval_json(double value, double low, double high) {
  json_t *o = json_object();
  put(o, "estimate", value);
  put(o, "low", low > 0 ? low : 0);
  put(o, "high", high);
  return o;
}

static json_t *with_interval(const struct estimated *x, const struct estimate *t) {
  double half = estimate_half(t, x->plan.confidence);
  return interval_json(t->total, t->total - half, t->total + half);
}

/* A ratio of two counters: strata of both, with their differences. */
static struct estimate ratio_of(const struct estimated *x, uint32_t part, uint32_t whole) {
  struct strata a = strata_of(x, part, NULL), b = strata_of(x, whole, NULL);
  struct estimate t = estimate_ratio(a.at, b.at, x->plan.clusters);
  strata_free(&a);
  strata_free(&b);
  return t;
}

/* ---- estimates as counters ---- */

static void set_field(struct gpu_stats *s, uint32_t offset, double v) {
  *(uint64_t *)((char *)s + offset) = v > 0 ? (uint64_t)(v + 0.5) : 0;
}

static uint64_t largest(const struct estimated *x, uint32_t offset) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < x->log.n; i++) {
    uint64_t v = x->log.at[i].timed ? *(const uint64_t *)((const char *)&x->log.at[i].stats + offset) : 0;
    if (v > most) most = v;
  }
  return most;
}

/* Totals into `all`, each cluster's into cluster[c], intervals into `o`. */
static void estimate_all(const struct estimated *x, struct gpu_stats *all, struct gpu_stats *cluster, json_t *o) {
  struct estimate_part *parts = mem_zeroed(x->plan.clusters, sizeof *parts);
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    uint32_t field[2] = {r->offset, r->count_offset}, fields = r->kind == STAT_MEAN ? 2 : 1;
    if (r->kind == STAT_MAX) {
      set_field(all, r->offset, (double)largest(x, r->offset));
      continue;
    }
    for (uint32_t f = 0; f < fields; f++) {
      struct estimate t = estimate_counter(x, field[f], parts);
      set_field(all, field[f], t.total);
      for (uint32_t c = 0; c < x->plan.clusters; c++) set_field(&cluster[c], field[f], parts[c].total);
      if (r->kind == STAT_SUM) json_object_set_new(o, r->key, with_interval(x, &t));
    }
    if (r->kind != STAT_MEAN) continue;
    struct estimate m = ratio_of(x, r->offset, r->count_offset);
    json_object_set_new(o, r->key, with_interval(x, &m));
  }
  /* Instructions are known, cycles are not. */
  struct estimate cycles = estimate_counter(x, offsetof(struct gpu_stats, cycles), NULL);
  double half = estimate_half(&cycles, x->plan.confidence), insts = (double)all->thread_insts;
  json_object_set_new(o, "ipc",
                      interval_json(record_ratio(all->thread_insts, all->cycles), insts / (cycles.total + half),
                                    half < cycles.total ? insts / (cycles.total - half) : HUGE_VAL));
  free(parts);
}

/* Counters of schemes that any timed launch has. */
static json_t *estimate_schemes(const struct estimated *x, json_t *intervals) {
  json_t *o = json_object();
  for (uint32_t i = 0; i < x->log.n; i++)
    for (uint32_t k = 0; k < x->log.at[i].schemes; k++) {
      const char *key = x->log.at[i].scheme[k].key;
      if (json_object_get(o, key)) continue;
      struct estimate t = estimate_any(x, 0, key, NULL);
      json_object_set_new(o, key, json_integer((json_int_t)(t.total + 0.5)));
      json_object_set_new(intervals, key, with_interval(x, &t));
    }
  return o;
}

/* ---- the record ---- */

static json_t *dims_json(const uint32_t v[3]) {
  return json_pack("[I, I, I]", (json_int_t)v[0], (json_int_t)v[1], (json_int_t)v[2]);
}

static json_t *entry_json(const struct logged_launch *l, uint32_t launch, uint64_t launches, const char *mode,
                          const struct gpu_stats *s) {
  json_t *o = json_object(), *counters = record_counters(s);
  json_object_set_new(o, "name", json_string(l->kernel));
  json_object_set_new(o, "mode", json_string(mode));
  json_object_set_new(o, "grid", dims_json(l->grid));
  json_object_set_new(o, "block", dims_json(l->block));
  json_object_set_new(o, "shared_bytes", json_integer(l->shared_bytes));
  json_object_set_new(o, "registers", json_integer(l->regs));
  json_object_set_new(o, "launch", json_integer(launch));
  json_object_set_new(o, "launches", json_integer((json_int_t)launches));
  json_object_update(o, counters);
  json_decref(counters);
  return o;
}

/* Launches outside of the range: functional in a whole run too. Adds them to `sum` and to the list. */
static void add_untimed(const struct estimated *x, struct gpu_stats *sum, json_t *kernels) {
  for (uint32_t i = (uint32_t)x->warm; i < x->log.n; i++) {
    const struct logged_launch *l = &x->log.at[i];
    if (i >= x->range.first && i < x->range.end) continue;
    struct gpu_stats s = {.kernels = 1, .warp_insts = l->sig.warp_insts, .thread_insts = l->sig.thread_insts};
    gpu_stats_add(sum, &s);
    json_array_append_new(kernels, entry_json(l, i, 1, "functional", &s));
  }
}

static json_t *reals_json(const double *v, size_t n) {
  json_t *all = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(all, json_real(v[i]));
  return all;
}

/* The timed launches of a cluster, in the order of their warp instructions, with what estimates of ratios need. */
static void put_samples(json_t *o, const struct estimated *x, const struct plan_cluster *k,
                        const struct estimate_stratum *s) {
  double *all = mem_zeroed(k->members, sizeof *all);
  size_t *place = mem_zeroed(k->members, sizeof *place);
  uint32_t *launch = mem_zeroed(k->members, sizeof *launch);
  json_t *timed = json_array();
  size_t n = plan_series(k, &x->log, all, place, launch);
  for (size_t i = 0; i < n; i++) json_array_append_new(timed, json_integer(launch[i]));
  json_object_set_new(o, "timed", timed);
  json_object_set_new(o, "timed_cycles", reals_json(s->y, n));
  json_object_set_new(o, "timed_variance", reals_json(s->own, n));
  json_object_set_new(o, "timed_warp_insts", reals_json(s->x, n));
  json_object_set_new(o, "variance_freedom", json_real(s->own_freedom));
  if (s->weight) json_object_set_new(o, "timed_weight", reals_json(s->weight, n));
  free(all), free(place), free(launch);
}

static json_t *clusters_json(const struct estimated *x) {
  json_t *all = json_array();
  struct estimate_part *parts = mem_zeroed(x->plan.clusters, sizeof *parts);
  estimate_counter(x, offsetof(struct gpu_stats, cycles), parts);
  struct strata s = strata_of(x, offsetof(struct gpu_stats, cycles), NULL);
  for (uint32_t c = 0; c < x->plan.clusters; c++) {
    const struct plan_cluster *k = &x->plan.cluster[c];
    json_t *o = json_object();
    json_object_set_new(o, "kernel", json_string(k->kernel));
    json_object_set_new(o, "launches", json_integer(k->members));
    put_samples(o, x, k, &s.at[c]);
    put(o, "warp_insts", s.at[c].x_all);
    put(o, "cycles", parts[c].total);
    put(o, "deviation", sqrt(parts[c].between + parts[c].within));
    json_array_append_new(all, o);
  }
  strata_free(&s);
  free(parts);
  return all;
}

static json_t *estimate_json(const struct estimated *x, json_t *totals) {
  json_t *o = json_object();
  uint64_t timed = 0, launches = 0;
  for (uint32_t c = 0; c < x->plan.clusters; c++) {
    timed += x->plan.cluster[c].timed;
    launches += x->plan.cluster[c].members;
  }
  put(o, "error_bound", x->plan.error);
  put(o, "confidence", x->plan.confidence);
  json_object_set_new(o, "reached", json_boolean(x->reached));
  json_object_set_new(o, "seed", json_integer((json_int_t)x->plan.seed));
  json_object_set_new(o, "cold", json_boolean(x->plan.cold));
  json_object_set_new(o, "rounds", json_integer(x->rounds));
  json_object_set_new(o, "launches", json_integer((json_int_t)launches));
  json_object_set_new(o, "timed_launches", json_integer((json_int_t)timed));
  json_object_set_new(o, "warp_insts", json_integer((json_int_t)x->all));
  json_object_set_new(o, "detailed_warp_insts", json_integer((json_int_t)x->detailed));
  json_object_set_new(o, "totals", totals);
  json_object_set_new(o, "clusters", clusters_json(x));
  return o;
}

void estimate_into_record(const struct estimated *x, const struct gpu_config *c, void *record) {
  static const char *const gone[] = {"overlaps", "folded", "profile", "energy", "estimate", "kernels", "totals"};
  json_t *intervals = json_object(), *kernels = json_array(), *root = record, *totals;
  struct gpu_stats all = {0}, *cluster = mem_zeroed(x->plan.clusters, sizeof *cluster);
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) json_object_del(root, gone[i]);
  estimate_all(x, &all, cluster, intervals);
  for (uint32_t i = 0; i < x->plan.clusters; i++) {
    const struct plan_cluster *k = &x->plan.cluster[i];
    json_array_append_new(kernels,
                          entry_json(&x->log.at[k->launch[0]], k->launch[0], k->members, "timing", &cluster[i]));
  }
  struct gpu_stats timed = all;
  add_untimed(x, &all, kernels);
  totals = record_counters(&all);
  json_t *rates = record_counters(&timed);
  for (uint32_t i = 0; i < derived_row_count; i++)
    json_object_set(totals, derived_rows[i].key, json_object_get(rates, derived_rows[i].key));
  json_decref(rates);
  json_t *schemes = estimate_schemes(x, intervals);
  if (json_object_size(schemes)) json_object_set(totals, "scheme_counters", schemes);
  json_decref(schemes);
  json_object_set_new(root, "kernels", kernels);
  json_object_set_new(root, "folded",
                      json_pack("{s:I, s:I, s:I}", "after", (json_int_t)0, "launches",
                                (json_int_t)(x->log.n - (x->warm < x->log.n ? x->warm : x->log.n)), "rows",
                                (json_int_t)json_array_size(kernels)));
  if (x->warm) json_object_set_new(root, "warm", json_integer((json_int_t)x->warm));
  json_object_set_new(root, "totals", totals);
  json_object_set_new(root, "energy", record_energy(c, json_string_value(json_object_get(root, "scheme")), &timed));
  json_object_set_new(root, "estimate", estimate_json(x, intervals));
  free(cluster);
}

/* ---- two records of one plan ---- */

static double value_at(const json_t *o, const char *key) {
  return json_number_value(json_object_get(o, key));
}

static double *numbers_of(const json_t *o, const char *key) {
  const json_t *a = json_object_get(o, key);
  double *v = mem_zeroed(json_array_size(a), sizeof *v);
  for (size_t i = 0; i < json_array_size(a); i++) v[i] = json_number_value(json_array_get(a, i));
  return v;
}

static struct estimate_stratum stored_stratum(const json_t *o, struct stratum_samples *room) {
  *room = (struct stratum_samples){numbers_of(o, "timed_warp_insts"), numbers_of(o, "timed_cycles"),
                                   numbers_of(o, "timed_variance"), NULL};
  if (json_object_get(o, "timed_weight")) room->weight = numbers_of(o, "timed_weight");
  return (struct estimate_stratum){.members = (uint64_t)json_integer_value(json_object_get(o, "launches")),
                                   .timed = json_array_size(json_object_get(o, "timed")),
                                   .x_all = json_number_value(json_object_get(o, "warp_insts")),
                                   .x = room->x,
                                   .y = room->y,
                                   .own = room->own,
                                   .weight = room->weight,
                                   .own_freedom = value_at(o, "variance_freedom"),
                                   .beside = moved_cycles};
}

bool estimate_compared(const void *a, const void *b, double *ratio, double *half) {
  const json_t *ea = json_object_get(a, "estimate"), *eb = json_object_get(b, "estimate");
  const json_t *ca = json_object_get(ea, "clusters"), *cb = json_object_get(eb, "clusters");
  size_t n = json_array_size(ca);
  bool same = n && n == json_array_size(cb);
  struct strata sa = strata_new(n), sb = strata_new(n);
  for (size_t i = 0; same && i < n; i++) {
    const json_t *p = json_array_get(ca, i), *q = json_array_get(cb, i);
    same = json_equal(json_object_get(p, "timed"), json_object_get(q, "timed"));
    sa.at[i] = stored_stratum(p, &sa.samples[i]);
    sb.at[i] = stored_stratum(q, &sb.samples[i]);
  }
  if (same) {
    struct estimate t = estimate_ratio(sa.at, sb.at, n);
    *ratio = t.total;
    *half = estimate_half(&t, json_number_value(json_object_get(ea, "confidence")));
  }
  strata_free(&sa);
  strata_free(&sb);
  return same;
}

/* ---- for people ---- */

/* "12.4 M", with as many digits as `half` leaves certain. */
static void scaled(char *out, size_t size, double v, double unit, const char *name) {
  snprintf(out, size,
           v / unit >= 100  ? "%.1f%s%s"
           : v / unit >= 10 ? "%.2f%s%s"
                            : "%.3f%s%s",
           v / unit, *name ? " " : "", name);
}

static void print_interval(const json_t *totals, const char *key, FILE *f) {
  const json_t *t = json_object_get(totals, key);
  double v = value_at(t, "estimate"), half = (value_at(t, "high") - value_at(t, "low")) / 2;
  double unit = v >= 1e9 ? 1e9 : v >= 1e6 ? 1e6 : v >= 1e4 ? 1e3 : 1;
  const char *name = v >= 1e9 ? "G" : v >= 1e6 ? "M" : v >= 1e4 ? "k" : "";
  char value[48], width[48];
  if (!t || !(v > 0)) return;
  scaled(value, sizeof value, v, unit, name);
  scaled(width, sizeof width, half, unit, name);
  fprintf(f, "  %-18s %10s +- %s (%.2f %%)\n", key, value, width, 100 * half / v);
}

void estimate_print(const void *record, FILE *f) {
  static const char *const keys[] = {"cycles",  "ipc",        "l1d.read.accesses", "l1d.read.hits",  "l2.accesses",
                                     "l2.hits", "dram.reads", "dram.writes",       "icnt.flits_down"};
  const json_t *o = json_object_get(record, "estimate"), *totals = json_object_get(o, "totals");
  if (!o) return;
  double all = value_at(o, "warp_insts"), detailed = value_at(o, "detailed_warp_insts");
  fprintf(f, "estimate:      %.0f of %.0f launches timed in %.0f round%s, %.1f %% of the warp instructions%s\n",
          value_at(o, "timed_launches"), value_at(o, "launches"), value_at(o, "rounds"),
          &"s"[value_at(o, "rounds") == 1], all > 0 ? 100 * detailed / all : 0,
          json_is_true(json_object_get(o, "reached")) ? "" : "; the requested error was not reached");
  fprintf(f, "               intervals of %g %% confidence\n", 100 * value_at(o, "confidence"));
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) print_interval(totals, keys[i], f);
}

void estimate_validate(void *record, const void *truth, FILE *f) {
  json_t *o = json_object_get(record, "estimate"), *totals = json_object_get(o, "totals"), *check = json_object(), *t;
  const json_t *real = json_object_get(truth, "totals");
  const char *key;
  uint32_t held = 0, all = 0;
  double cycles = 0, width = 0;
  json_object_foreach(totals, key, t) {
    const json_t *v = json_object_get(real, key);
    if (!v) v = json_object_get(json_object_get(real, "scheme_counters"), key);
    double is = json_number_value(v), got = value_at(t, "estimate");
    if (!json_is_number(v) || !(is > 0)) continue;
    bool in = is >= value_at(t, "low") * (1 - 1e-9) && is <= value_at(t, "high") * (1 + 1e-9);
    json_t *one = json_object();
    put(one, "true", is);
    put(one, "error", got / is - 1);
    json_object_set_new(one, "held", json_boolean(in));
    json_object_set_new(check, key, one);
    held += in, all++;
    if (!strcmp(key, "cycles")) cycles = got / is - 1, width = (value_at(t, "high") - value_at(t, "low")) / 2 / is;
  }
  const json_t *of_cycles = json_object_get(check, "cycles");
  fprintf(f, "validation:    cycles %.0f, estimated %+.2f %% off: %s the interval of +- %.2f %%\n",
          value_at(of_cycles, "true"), 100 * cycles,
          json_is_true(json_object_get(of_cycles, "held")) ? "within" : "OUTSIDE", 100 * width);
  fprintf(f, "               %u of %u counters are within their intervals\n", held, all);
  json_object_set_new(o, "validation", check);
}
