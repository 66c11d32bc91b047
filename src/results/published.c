/* published.c - see published.h. Names and metrics of the papers are rows of the tables here. */
#include "results/published.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"

enum { FIELDS = 7, METRIC_KEYS = 10 };

struct published {
  char *text;
  struct published_figure *at;
  size_t count;
};

const char *const published_kind_names[] = {"arithmetic mean", "geometric mean", "harmonic mean", "worst", "best"};

/* ---- reading ---- */

/* Split a line at its commas, in place. */
static size_t split_fields(char *line, char **field) {
  size_t n = 0;
  for (char *p = line; n <= FIELDS; n++) {
    if (n < FIELDS) field[n] = p;
    char *comma = strchr(p, ',');
    if (!comma) return n + 1;
    *comma = 0;
    p = comma + 1;
  }
  return n;
}

static bool add_published(struct published *p, char *line, const char *path, size_t number, struct err *e) {
  char *f[FIELDS], *end;
  size_t n = split_fields(line, f);
  if (n != FIELDS)
    return err_set(e, ERR_INPUT, "%s:%zu: %zu fields; expected paper,where,metric,scheme,group,value,unit", path,
                   number, n);
  double value = strtod(f[5], &end);
  if (end == f[5] || *end) return err_set(e, ERR_INPUT, "%s:%zu: the value '%s' is not a number", path, number, f[5]);
  p->at[p->count++] = (struct published_figure){f[0], f[1], f[2], f[3], f[4], f[6], value};
  return true;
}

struct published *published_open(const char *path, struct err *e) {
  char bundled[PATH_MAX];
  if (!path) path_find(bundled, sizeof bundled, "published.csv"), path = bundled;
  struct published *p = mem_zeroed(1, sizeof *p);
  if (!(p->text = path_read_whole(path, NULL))) {
    err_set(e, ERR_INPUT, "%s: %s", path, strerror(errno));
    free(p);
    return NULL;
  }
  size_t lines = 1, number = 0;
  for (const char *s = p->text; *s; s++) lines += *s == '\n';
  p->at = mem_zeroed(lines, sizeof *p->at);
  for (char *line = p->text, *next; line && *line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    line[strcspn(line, "\r")] = 0;
    if (!number++ || !*line) continue; /* titles */
    if (add_published(p, line, path, number, e)) continue;
    published_close(p);
    return NULL;
  }
  return p;
}

size_t published_count(const struct published *p) {
  return p->count;
}

const struct published_figure *published_at(const struct published *p, size_t i) {
  return &p->at[i];
}

void published_close(struct published *p) {
  if (!p) return;
  free(p->text);
  free(p->at);
  free(p);
}

/* ---- names ---- */

bool published_of_suite(const struct published_figure *f, const char *suite) {
  return !strcmp(f->paper, !strcmp(suite, "sharing") ? "sharing-aware" : suite);
}

bool published_of_scheme(const struct published_figure *f, const char *list) {
  static const struct {
    const char *typed, *paper, *metric; /* metric: of this one, only this list */
  } names[] = {
      {"bucl", "bucl-dyn", NULL},
      {"bucl-prf", "bucl-prf5k", NULL},
      {"bucl-prf=5000", "bucl-prf5k", NULL},
      {"bucl-prf=10000", "bucl-prf10k", NULL},
      {"dsc", "dsc-2", NULL},
      {"dsc=2", "dsc-2", NULL},
      {"dsc=4", "dsc-4", NULL},
      {"baseline", "128B lines", NULL},
      {"line=128", "128B lines", NULL},
      {"line=32", "32B lines", NULL},
      {"tsc:chunk=8", "tsc chunk 8B", NULL},
      {"tsc:chunk=16", "tsc chunk 16B", NULL},
      {"tsc:chunk=32", "tsc chunk 32B", NULL},
      {"tsc:chunk=64", "tsc chunk 64B", NULL},
      {"tsc=5", "tsc private tag 5 bits", NULL},
      {"tsc:private=5", "tsc private tag 5 bits", NULL},
      {"l1-latency=20+tsc", "tsc L1 latency 20", NULL},
      {"l1-latency=90+tsc", "tsc L1 latency 90", NULL},
      {"tsc+l1-latency=20", "tsc L1 latency 20", NULL},
      {"tsc+l1-latency=90", "tsc L1 latency 90", NULL},
      {"sharing", "qx_adpt+management", NULL},
      {"sharing-cta=x:adpt", "qx_adpt", NULL},
      {"sharing-cta=x+adpt", "qx_adpt", NULL},
      {"sharing-cta=x:adpt=1", "qx_adpt", NULL},
      {"dsc:tags=2", "dsc-2", NULL},
      {"dsc:tags=4", "dsc-4", NULL},
      {"rand-best", "rand", NULL},
      {"tsc:latency=2+l1-latency=20", "tsc L1 latency 20", NULL},
      {"tsc:latency=2+l1-latency=90", "tsc L1 latency 90", NULL},
      {"l2-banks=4", "baseline", "speedup_of_24_banks"},
      {"l2-banks=8", "baseline", "speedup_of_48_banks"},
      {"decoupled-l1d:tags=16", "decoupled-l1d", "ipc_gain_16_way_tags_over_8_way"},
  };
  bool found = !strcmp(f->scheme, list);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    bool same = !strcmp(names[i].typed, list) && !strcmp(names[i].paper, f->scheme);
    if (names[i].metric && !strcmp(names[i].metric, f->metric)) return same;
    found |= same && !names[i].metric;
  }
  return found;
}

/* ---- metrics ---- */

/* run/over; run alone; run - over; a class of the run's loads over those of degree 1; no run */
enum quantity { RELATIVE, OWN_RATE, DIFFERENCE, OF_CLASS, STORAGE };
enum print { AS_GAIN, AS_LOSS, AS_PERCENT, AS_RATIO, AS_TIMES };
struct metric {
  const char *name;  /* "x_over_" stands for every x_over_SCHEME */
  const char *paper; /* NULL: every paper without a row of its own */
  enum quantity quantity;
  enum print print;
  const char *part[METRIC_KEYS];  /* counters to add up, "-" before those to subtract; '@': the class of the loads */
  const char *whole[METRIC_KEYS]; /* no whole: the parts alone */
  bool any_size;                  /* depends on the threads' requests only */
};

/* Hits of the L1 where stores and local memory count, as in the decoupled L1D's section 3.2. */
#define ALL_HITS \
  { "l1d.read.hits", "l1d.write.hits", "l1d.local_read.hits", "l1d.local_write.hits" }
#define ALL_ACCESSES \
  { "l1d.read.accesses", "l1d.write.accesses", "l1d.local_read.accesses", "l1d.local_write.accesses" }
#define ALL_LOADS                                                                                             \
  "loads.by_degree.0.loads", "loads.by_degree.1.loads", "loads.by_degree.2.loads", "loads.by_degree.3.loads", \
      "loads.by_degree.4.loads"

static const struct metric metrics[] = {
    /* of time and work */
    {"ipc_improvement", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"ipc_improvement_over_", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"ipc_gain_16_way_tags_over_", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"normalized_ipc", NULL, RELATIVE, AS_RATIO, {"ipc"}, {0}, false},
    {"worst_ipc_loss", NULL, RELATIVE, AS_LOSS, {"ipc"}, {0}, false},
    {"speedup", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"speedup_over_", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"speedup_of_24_banks", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"speedup_of_48_banks", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"slowdown_vs_medic", NULL, RELATIVE, AS_LOSS, {"ipc"}, {0}, false},
    {"gain_over_", NULL, RELATIVE, AS_GAIN, {"ipc"}, {0}, false},
    {"execution_time_reduction", NULL, RELATIVE, AS_LOSS, {"cycles"}, {0}, false},
    /* two schedulers have a slot each in every cycle of an SM with warps */
    {"stall_time", NULL, OWN_RATE, AS_PERCENT, {"stall.l1d", "stall.l1d"}, {"issue.slots"}, false},
    {"best_warp_limit", NULL, OWN_RATE, AS_RATIO, {"search.value"}, {0}, false},
    /* of the L1 */
    {"l1d_hit_rate", NULL, OWN_RATE, AS_PERCENT, {"l1d.read.hits"}, {"l1d.read.accesses"}, false},
    {"l1d_hit_rate", "decoupled-l1d", OWN_RATE, AS_PERCENT, ALL_HITS, ALL_ACCESSES, false},
    {"l1d_hit_rate_gain", NULL, DIFFERENCE, AS_PERCENT, {"l1d.read.hits"}, {"l1d.read.accesses"}, false},
    {"l1d_hit_rate_gain", "decoupled-l1d", DIFFERENCE, AS_PERCENT, ALL_HITS, ALL_ACCESSES, false},
    {"prefetch_accuracy", NULL, OWN_RATE, AS_PERCENT, {"prefetch.useful", "prefetch.late"}, {"prefetch.issued"}, false},
    {"prefetch_coverage",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"prefetch.useful", "prefetch.late"},
     {"prefetch.useful", "prefetch.late", "l1d.read.misses", "l1d.read.partial_misses"},
     false},
    {"l1_miss_rate",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {ALL_LOADS, "-loads.by_degree.0.all_hit_loads", "-loads.by_degree.1.all_hit_loads",
      "-loads.by_degree.2.all_hit_loads", "-loads.by_degree.3.all_hit_loads", "-loads.by_degree.4.all_hit_loads"},
     {ALL_LOADS},
     false},
    {"l1_miss_rate_reduction",
     NULL,
     RELATIVE,
     AS_LOSS,
     {"l1d.read.misses", "l1d.read.partial_misses"},
     {"l1d.read.accesses"},
     false},
    {"mshr_hit_increase", NULL, RELATIVE, AS_GAIN, {"l1d.read.pending_hits"}, {0}, false},
    {"reservation_fail_stall_reduction", NULL, RELATIVE, AS_LOSS, {"l1d.read.rejections"}, {0}, false},
    {"l1_footprint_reduction", NULL, RELATIVE, AS_LOSS, {"loads.reuse.in_l1.first_accesses"}, {0}, false},
    {"compulsory_l1_misses",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"loads.misses_by_cause.first"},
     {"loads.misses_by_cause.first", "loads.misses_by_cause.store", "loads.misses_by_cause.capacity",
      "loads.misses_by_cause.conflict", "loads.misses_by_cause.partial"},
     false},
    {"reused_lines_with_one_quarter_reused",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"loads.lines_by_quarters_reused.1"},
     {"loads.lines_by_quarters_reused.1", "loads.lines_by_quarters_reused.2", "loads.lines_by_quarters_reused.3",
      "loads.lines_by_quarters_reused.4"},
     false},
    /* of loads by the accesses that they make; stores are counted with the coalesced loads, as the paper's two shares
     * need: kmeans has a coalesced store for each load of 32 accesses, and no other load */
    {"share_of_loads_degree_32",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"loads.degree_21_up"},
     {"loads.degree_1", "loads.degree_2", "loads.degree_3_10", "loads.degree_11_20", "loads.degree_21_up",
      "l1d.write.accesses"},
     true},
    {"share_of_accesses_from_degree_32",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"loads.by_degree.4.accesses"},
     {"loads.by_degree.0.accesses", "loads.by_degree.1.accesses", "loads.by_degree.2.accesses",
      "loads.by_degree.3.accesses", "loads.by_degree.4.accesses", "l1d.write.accesses"},
     true},
    {"all_hit_load_ratio",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"loads.by_degree.@.all_hit_loads"},
     {"loads.by_degree.@.loads"},
     false},
    {"normalized_load_latency",
     NULL,
     OF_CLASS,
     AS_RATIO,
     {"loads.by_degree.@.latency_sum"},
     {"loads.by_degree.@.loads"},
     false},
    {"normalized_block_reuse",
     NULL,
     OF_CLASS,
     AS_PERCENT,
     {"loads.by_degree.@.lines_reused"},
     {"loads.by_degree.@.lines_fetched"},
     false},
    {"requests_without_reuse",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"loads.reuse.asked.accesses_by_reuses.0"},
     {"loads.reuse.asked.accesses_by_reuses.0", "loads.reuse.asked.accesses_by_reuses.1",
      "loads.reuse.asked.accesses_by_reuses.2", "loads.reuse.asked.accesses_by_reuses.3",
      "loads.reuse.asked.accesses_by_reuses.4", "loads.reuse.asked.accesses_by_reuses.5",
      "loads.reuse.asked.accesses_by_reuses.6"},
     true},
    /* of the interconnect, the L2 and DRAM */
    {"l1_to_l2_traffic_increase", NULL, RELATIVE, AS_GAIN, {"icnt.flits_up"}, {0}, false},
    {"l1_to_l2_traffic_reduction", NULL, RELATIVE, AS_LOSS, {"icnt.flits_up"}, {0}, false},
    {"l2_to_l1_traffic_reduction", NULL, RELATIVE, AS_LOSS, {"icnt.flits_down"}, {0}, false},
    {"l2_mpki_reduction", NULL, RELATIVE, AS_LOSS, {"l2.misses"}, {"thread_insts"}, false},
    {"compulsory_l2_misses", NULL, OWN_RATE, AS_PERCENT, {"character.l2_misses.first"}, {0}, false},
    {"inter_bank_divergence_penalty", NULL, OWN_RATE, AS_RATIO, {"character.divergence_penalty.mean"}, {0}, false},
    {"l2_queuing_delay", NULL, OWN_RATE, AS_RATIO, {"l2.queue_delay.mean"}, {0}, false},
    {"l2_queuing_latency_reduction", NULL, RELATIVE, AS_TIMES, {"l2.queue_delay.mean"}, {0}, false},
    {"dram_traffic_reduction", NULL, RELATIVE, AS_LOSS, {"dram.bytes"}, {0}, false},
    /* of sharing */
    {"sharing_at_cta_distance_below_5",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"character.blocks.shared_below_distance_5"},
     {0},
     true},
    {"blocks_shared_across_sms", NULL, OWN_RATE, AS_PERCENT, {"character.blocks.shared_by_sms"}, {0}, true},
    {"sharers_per_shared_block", NULL, OWN_RATE, AS_RATIO, {"character.sharers_per_shared_block"}, {0}, true},
    {"shared_block_requests_hitting_mshr", NULL, OWN_RATE, AS_PERCENT, {"character.shared_loads.merged"}, {0}, false},
    {"shared_block_reuse_after_1000_cycles",
     NULL,
     OWN_RATE,
     AS_PERCENT,
     {"character.shared_loads.reused_late"},
     {0},
     false},
    /* of energy and storage */
    {"energy_efficiency", NULL, RELATIVE, AS_GAIN, {"energy.efficiency"}, {0}, false},
    {"energy_efficiency_over_", NULL, RELATIVE, AS_GAIN, {"energy.efficiency"}, {0}, false},
    {"energy_reduction", NULL, RELATIVE, AS_LOSS, {"energy.total"}, {0}, false},
    {"gpu_energy_reduction", NULL, RELATIVE, AS_LOSS, {"energy.total"}, {0}, false},
    {"dram_energy_reduction", NULL, RELATIVE, AS_LOSS, {"energy.dram"}, {0}, false},
    {"icnt_energy_reduction", NULL, RELATIVE, AS_LOSS, {"energy.icnt"}, {0}, false},
    {"l2_energy_reduction", NULL, RELATIVE, AS_LOSS, {"energy.l2"}, {0}, false},
    {"l2_icnt_dram_energy_reduction", NULL, RELATIVE, AS_LOSS, {"energy.l2", "energy.icnt", "energy.dram"}, {0}, false},
    {"storage_overhead", NULL, STORAGE, AS_RATIO, {0}, {0}, true},
};

/* Length of the known part of a metric's name; the reference scheme follows "_over_". */
static size_t known_length(const char *name) {
  const char *over = strstr(name, "_over_");
  return over ? (size_t)(over - name) + 6 : strlen(name);
}

static const struct metric *metric_of(const struct published_figure *f) {
  size_t n = known_length(f->metric);
  const struct metric *found = NULL;
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
    const struct metric *m = &metrics[i];
    if (strlen(m->name) != n || strncmp(m->name, f->metric, n)) continue;
    if (m->paper && f->paper && !strcmp(m->paper, f->paper)) return m;
    if (!m->paper) found = m;
  }
  return found;
}

const char *published_over(const struct published_figure *f) {
  static const struct {
    const char *paper, *typed;
  } names[] = {{"pdp_best", "pdp-best"}, {"pc_byp", "pc-byp"}, {"8_way", "decoupled-l1d:tags=8"}};
  const char *name = f->metric + known_length(f->metric);
  if (!strcmp(f->metric, "slowdown_vs_medic")) return "medic";
  if (!*name && !strcmp(f->scheme, "tsc L1 latency 20")) return "l1-latency=20";
  if (!*name && !strcmp(f->scheme, "tsc L1 latency 90")) return "l1-latency=90";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i].paper)) return names[i].typed;
  return *name ? name : "baseline";
}

bool published_over_is(const struct published_figure *f, const char *list) {
  const char *name = published_over(f);
  size_t n = strlen(name);
  if (!strcmp(name, list)) return true;
  if (strcmp(f->paper, "medic") || strchr(list, '+')) return false;
  if (!strncmp(list, "l2-", 3)) list += 3; /* MeDiC's PCAL is the L2 version */
  return !strncmp(list, name, n) && (!list[n] || list[n] == '=' || list[n] == ':' || !strcmp(list + n, "-best"));
}

bool published_of_group(const struct published_figure *f, const char **group, enum published_kind *kind) {
  static const struct {
    const char *paper, *label, *group;
    enum published_kind kind;
  } groups[] = {
      /* GMUC and GMCH of Fig 7 and GMEAN of Fig 9 are geometric; AGUC of Fig 8, a rate, is not. */
      {"bucl", "uncoalesced average", "un-coalesced", PUBLISHED_GEOMETRIC},
      {"bucl", "coherent average", "coherent", PUBLISHED_GEOMETRIC},
      {"tsc", "geomean", "", PUBLISHED_GEOMETRIC},
      {"medic", "harmonic average", "", PUBLISHED_HARMONIC},
      {"medic", "average", "", PUBLISHED_ARITHMETIC},
      {"medic", "average of all-hit warps", "", PUBLISHED_ARITHMETIC},
      {"decoupled-l1d", "CNF geomean", "cache-unfriendly", PUBLISHED_GEOMETRIC},
      {"decoupled-l1d", "CNF average", "cache-unfriendly", PUBLISHED_ARITHMETIC},
      {"decoupled-l1d", "average", "cache-unfriendly", PUBLISHED_ARITHMETIC},
      {"decoupled-l1d", "CNF maximum", "cache-unfriendly", PUBLISHED_MAXIMUM},
      {"decoupled-l1d", "CF average", "cache-friendly", PUBLISHED_ARITHMETIC},
      {"decoupled-l1d", "CF", "cache-friendly", PUBLISHED_MINIMUM},
      {"sharing-aware", "20 benchmarks", "", PUBLISHED_ARITHMETIC},
      {"sharing-aware", "average", "", PUBLISHED_ARITHMETIC},
      {"sharing-aware", "Kepler", "", PUBLISHED_ARITHMETIC},
  };
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    if (strcmp(groups[i].paper, f->paper) || strcmp(groups[i].label, f->group)) continue;
    const struct metric *m = metric_of(f);
    *group = groups[i].group;
    *kind =
        m && m->quantity != RELATIVE && groups[i].kind <= PUBLISHED_HARMONIC ? PUBLISHED_ARITHMETIC : groups[i].kind;
    if (published_by_kernel(f)) *kind = PUBLISHED_HARMONIC;
    return true;
  }
  return false;
}

bool published_by_kernel(const struct published_figure *f) {
  const struct metric *m = metric_of(f);
  return m && !strcmp(f->paper, "medic") && m->quantity == RELATIVE && !strcmp(m->part[0], "ipc");
}

bool published_of_workload(const struct published_figure *f, const char *alias) {
  size_t n = strlen(alias);
  return !strncmp(f->group, alias, n) && (!f->group[n] || !strncmp(f->group + n, " degree ", 8));
}

const char *published_gpu(const struct published_figure *f) {
  return !strcmp(f->group, "Kepler") ? "sharing-aware-kepler" : NULL;
}

/* The class of loads that "KMN degree 21-32" speaks of. */
static int figure_class(const struct published_figure *f) {
  static const char *const names[] = {"1", "2", "3-10", "11-20", "21-32"};
  const char *s = f->group ? strstr(f->group, " degree ") : NULL;
  for (int i = 0; s && i < (int)(sizeof names / sizeof *names); i++)
    if (!strcmp(s + 8, names[i])) return i;
  return 0;
}

static double published_value(published_get *get, const void *run, const char *key, int class) {
  char own[96];
  const char *at = strchr(key, '@');
  if (!at) return get(run, key);
  snprintf(own, sizeof own, "%.*s%d%s", (int)(at - key), key, class, at + 1);
  return get(run, own);
}

static double published_sum(published_get *get, const void *run, const char *const *key, int class) {
  double s = 0;
  for (size_t i = 0; i < METRIC_KEYS && key[i]; i++)
    s += *key[i] == '-' ? -published_value(get, run, key[i] + 1, class) : published_value(get, run, key[i], class);
  return s;
}

static bool quotient(const struct metric *m, published_get *get, const void *run, int class, double *out) {
  *out = published_sum(get, run, m->part, class);
  if (!m->whole[0]) return true;
  double whole = published_sum(get, run, m->whole, class);
  *out = whole > 0 ? *out / whole : 0;
  return whole > 0;
}

/* Parts of --characterise by the first parts of their keys, and a sum that a run that has them is not without. */
static bool characterised(const char *key) {
  return !strncmp(key, "loads.by", 8) || !strncmp(key, "loads.reuse", 11) || !strncmp(key, "loads.lines", 11) ||
         !strncmp(key, "loads.misses", 12) || !strncmp(key, "warps_at_l2.", 12) || !strncmp(key, "character.", 10);
}

bool published_needs_character(const struct published_figure *f) {
  const struct metric *m = metric_of(f);
  for (size_t i = 0; m && i < METRIC_KEYS; i++)
    if ((m->part[i] && characterised(m->part[i])) || (m->whole[i] && characterised(m->whole[i]))) return true;
  return false;
}

bool published_at_any_size(const struct published_figure *f) {
  const struct metric *m = metric_of(f);
  return m && m->any_size;
}

bool published_is_storage(const struct published_figure *f) {
  const struct metric *m = metric_of(f);
  return m && m->quantity == STORAGE;
}

bool published_is_relative(const struct published_figure *f) {
  const struct metric *m = metric_of(f);
  return m && (m->quantity == RELATIVE || m->quantity == DIFFERENCE);
}

static size_t append_text(char *out, size_t size, size_t n, const char *s) {
  int k = n < size ? snprintf(out + n, size - n, "%s", s) : 0;
  return n + (size_t)k;
}

static size_t append_sum(char *out, size_t size, size_t n, const char *const *key) {
  for (size_t i = 0; i < METRIC_KEYS && key[i]; i++) {
    bool minus = *key[i] == '-';
    if (i) n = append_text(out, size, n, minus ? " - " : " + ");
    n = append_text(out, size, n, key[i] + minus);
  }
  return n;
}

void published_quantity(const struct published_figure *f, char *out, size_t size) {
  const struct metric *m = metric_of(f);
  size_t n = append_text(out, size, 0, "");
  if (!m || m->quantity == DIFFERENCE || m->quantity == OF_CLASS) return; /* not used by figures */
  n = append_sum(out, size, n, m->part);
  if (m->whole[0]) append_sum(out, size, append_text(out, size, n, " / "), m->whole);
}

bool published_ratio(const struct published_figure *f, published_get *get, const void *run, const void *over,
                     double *ratio) {
  const struct metric *m = metric_of(f);
  int class = figure_class(f);
  double a, b;
  if (!m || m->quantity == STORAGE) return false;
  if (published_needs_character(f) && !(get(run, "character.warps") > 0 || get(run, "loads.by_degree.0.loads") > 0 ||
                                        get(run, "loads.by_degree.4.loads") > 0))
    return false;
  if (!quotient(m, get, run, class, &a)) return false;
  *ratio = a;
  if (m->quantity == OWN_RATE) return strcmp(m->part[0], "search.value") || a > 0;
  if (m->quantity == OF_CLASS) {
    if (!quotient(m, get, run, 0, &b) || b <= 0) return false;
    *ratio = a / b;
    return true;
  }
  if (!over || !quotient(m, get, over, class, &b)) return false;
  *ratio = m->quantity == DIFFERENCE ? a - b : b > 0 ? a / b : 0;
  return m->quantity == DIFFERENCE || b > 0;
}

double published_mean(enum published_kind kind, const double *ratio, size_t n) {
  double s = 0;
  if (!n) return 0;
  for (size_t i = 0; i < n; i++) {
    switch (kind) {
    case PUBLISHED_ARITHMETIC:
      s += ratio[i];
      break;
    case PUBLISHED_GEOMETRIC:
      s += log(ratio[i]);
      break;
    case PUBLISHED_HARMONIC:
      s += 1 / ratio[i];
      break;
    case PUBLISHED_MINIMUM:
      s = i ? fmin(s, ratio[i]) : ratio[i];
      break;
    case PUBLISHED_MAXIMUM:
      s = i ? fmax(s, ratio[i]) : ratio[i];
      break;
    }
  }
  return kind == PUBLISHED_ARITHMETIC  ? s / (double)n
         : kind == PUBLISHED_GEOMETRIC ? exp(s / (double)n)
         : kind == PUBLISHED_HARMONIC  ? (double)n / s
                                       : s;
}

/* Student's t that 2.5 % exceed. */
static double student(size_t freedom) {
  static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
                             2.074, 2.069,  2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  size_t most = sizeof t / sizeof *t - 1;
  return freedom <= most ? t[freedom] : 1.96 + 2.46 / (double)freedom;
}

static double transformed(enum published_kind kind, double x) {
  return kind == PUBLISHED_GEOMETRIC ? log(x) : kind == PUBLISHED_HARMONIC ? 1 / x : x;
}

bool published_interval(enum published_kind kind, const double *ratio, size_t n, double *low, double *high) {
  if (n < 2 || kind == PUBLISHED_MINIMUM || kind == PUBLISHED_MAXIMUM) return false;
  double mean = 0, squares = 0;
  for (size_t i = 0; i < n; i++) {
    if (kind != PUBLISHED_ARITHMETIC && ratio[i] <= 0) return false;
    mean += transformed(kind, ratio[i]) / (double)n;
  }
  for (size_t i = 0; i < n; i++) {
    double d = transformed(kind, ratio[i]) - mean;
    squares += d * d;
  }
  double half = student(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
  *low = mean - half, *high = mean + half;
  if (kind == PUBLISHED_GEOMETRIC) *low = exp(*low), *high = exp(*high);
  if (kind != PUBLISHED_HARMONIC) return true;
  double inverse = *low;
  *low = 1 / *high;
  *high = inverse > 0 ? 1 / inverse : HUGE_VAL;
  return true;
}

double published_present(const struct published_figure *f, double ratio) {
  const struct metric *m = metric_of(f);
  switch (m ? m->print : AS_RATIO) {
  case AS_GAIN:
    return 100 * (ratio - 1);
  case AS_LOSS:
    return 100 * (1 - ratio);
  case AS_PERCENT:
    return 100 * ratio;
  case AS_TIMES:
    return ratio > 0 ? 1 / ratio : 0;
  case AS_RATIO:
    break;
  }
  return ratio;
}

bool published_no_change(const struct published_figure *f, double *value) {
  const struct metric *m = metric_of(f);
  if (!m || (m->quantity != RELATIVE && m->quantity != DIFFERENCE)) return false;
  *value = published_present(f, m->quantity == RELATIVE);
  return true;
}

int published_bound(const struct published_figure *f) {
  return strstr(f->unit, "at most") ? -1 : strstr(f->unit, "at least") ? 1 : 0;
}
