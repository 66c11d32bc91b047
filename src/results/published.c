/* published.c - see published.h. Names and metrics of the papers are rows of the tables here. */
#include "results/published.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"

enum { FIELDS = 7, METRIC_KEYS = 3 };

struct published {
  char *text;
  struct published_figure *at;
  size_t count;
};

const char *const published_kind_names[] = {"arithmetic mean", "geometric mean", "harmonic mean", "worst", "best"};

/* ---- reading ---- */

/* Split a line at its commas, in place. */
static size_t split(char *line, char **field) {
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

static bool add_row(struct published *p, char *line, const char *path, size_t number, struct err *e) {
  char *f[FIELDS], *end;
  size_t n = split(line, f);
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
    if (add_row(p, line, path, number, e)) continue;
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
    const char *typed, *paper;
  } names[] = {
      {"bucl", "bucl-dyn"},
      {"bucl-prf", "bucl-prf5k"},
      {"bucl-prf=5000", "bucl-prf5k"},
      {"bucl-prf=10000", "bucl-prf10k"},
      {"dsc", "dsc-2"},
      {"dsc=2", "dsc-2"},
      {"dsc=4", "dsc-4"},
      {"baseline", "128B lines"},
      {"line=128", "128B lines"},
      {"line=32", "32B lines"},
      {"tsc:chunk=8", "tsc chunk 8B"},
      {"tsc:chunk=16", "tsc chunk 16B"},
      {"tsc:chunk=32", "tsc chunk 32B"},
      {"tsc:chunk=64", "tsc chunk 64B"},
      {"tsc=5", "tsc private tag 5 bits"},
      {"tsc:private=5", "tsc private tag 5 bits"},
      {"l1-latency=20+tsc", "tsc L1 latency 20"},
      {"l1-latency=90+tsc", "tsc L1 latency 90"},
      {"tsc+l1-latency=20", "tsc L1 latency 20"},
      {"tsc:latency=2+l1-latency=20", "tsc L1 latency 20"},
      {"tsc+l1-latency=90", "tsc L1 latency 90"},
      {"tsc:latency=2+l1-latency=90", "tsc L1 latency 90"},
      {"sharing", "qx_adpt+management"},
      {"sharing-cta=x:adpt", "qx_adpt"},
      {"sharing-cta=x+adpt", "qx_adpt"},
      {"sharing-cta=x:adpt=1", "qx_adpt"},
  };
  if (!strcmp(f->scheme, list)) return true;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i].typed, list) && !strcmp(names[i].paper, f->scheme)) return true;
  return false;
}

/* ---- metrics ---- */

enum quantity { RELATIVE, OWN_RATE, DIFFERENCE }; /* run/over; run alone; run - over */
enum print { AS_GAIN, AS_LOSS, AS_PERCENT, AS_RATIO };
struct metric {
  const char *name; /* "x_over_" stands for every x_over_SCHEME */
  enum quantity quantity;
  enum print print;
  const char *part[METRIC_KEYS], *whole[METRIC_KEYS]; /* sums of counters; no whole: the parts alone */
};

static const struct metric metrics[] = {
    {"ipc_improvement", RELATIVE, AS_GAIN, {"ipc"}, {0}},
    {"ipc_improvement_over_", RELATIVE, AS_GAIN, {"ipc"}, {0}},
    {"normalized_ipc", RELATIVE, AS_RATIO, {"ipc"}, {0}},
    {"worst_ipc_loss", RELATIVE, AS_LOSS, {"ipc"}, {0}},
    {"speedup", RELATIVE, AS_GAIN, {"ipc"}, {0}},
    {"speedup_over_", RELATIVE, AS_GAIN, {"ipc"}, {0}},
    {"gain_over_", RELATIVE, AS_GAIN, {"ipc"}, {0}},
    {"execution_time_reduction", RELATIVE, AS_LOSS, {"cycles"}, {0}},
    {"l1d_hit_rate", OWN_RATE, AS_PERCENT, {"l1d.read.hits"}, {"l1d.read.accesses"}},
    {"l1d_hit_rate_gain", DIFFERENCE, AS_PERCENT, {"l1d.read.hits"}, {"l1d.read.accesses"}},
    {"l1_miss_rate", OWN_RATE, AS_PERCENT, {"l1d.read.misses_per_load"}, {0}},
    {"l1_miss_rate_reduction",
     RELATIVE,
     AS_LOSS,
     {"l1d.read.misses", "l1d.read.partial_misses"},
     {"l1d.read.accesses"}},
    {"mshr_hit_increase", RELATIVE, AS_GAIN, {"l1d.read.pending_hits"}, {0}},
    {"reservation_fail_stall_reduction", RELATIVE, AS_LOSS, {"l1d.read.rejections"}, {0}},
    {"l1_to_l2_traffic_increase", RELATIVE, AS_GAIN, {"icnt.flits_up"}, {0}},
    {"l1_to_l2_traffic_reduction", RELATIVE, AS_LOSS, {"icnt.flits_up"}, {0}},
    {"l2_to_l1_traffic_reduction", RELATIVE, AS_LOSS, {"icnt.flits_down"}, {0}},
    {"l2_mpki_reduction", RELATIVE, AS_LOSS, {"l2.misses"}, {"thread_insts"}},
    {"dram_traffic_reduction", RELATIVE, AS_LOSS, {"dram.bytes"}, {0}},
    {"energy_efficiency", RELATIVE, AS_GAIN, {"energy.efficiency"}, {0}},
    {"energy_efficiency_over_", RELATIVE, AS_GAIN, {"energy.efficiency"}, {0}},
    {"energy_reduction", RELATIVE, AS_LOSS, {"energy.total"}, {0}},
    {"gpu_energy_reduction", RELATIVE, AS_LOSS, {"energy.total"}, {0}},
    {"dram_energy_reduction", RELATIVE, AS_LOSS, {"energy.dram"}, {0}},
    {"icnt_energy_reduction", RELATIVE, AS_LOSS, {"energy.icnt"}, {0}},
    {"l2_energy_reduction", RELATIVE, AS_LOSS, {"energy.l2"}, {0}},
    {"l2_icnt_dram_energy_reduction", RELATIVE, AS_LOSS, {"energy.l2", "energy.icnt", "energy.dram"}, {0}},
};

/* Length of the part of a metric's name that the table knows; the scheme compared with follows "_over_". */
static size_t known_length(const char *name) {
  const char *over = strstr(name, "_over_");
  return over ? (size_t)(over - name) + 6 : strlen(name);
}

static const struct metric *metric_of(const struct published_figure *f) {
  size_t n = known_length(f->metric);
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
    if (strlen(metrics[i].name) == n && !strncmp(metrics[i].name, f->metric, n)) return &metrics[i];
  return NULL;
}

const char *published_over(const struct published_figure *f) {
  const char *name = f->metric + known_length(f->metric);
  if (!*name) return "baseline";
  if (!strcmp(name, "pdp_best")) return "pdp-best";
  if (!strcmp(name, "pc_byp")) return "pc-byp";
  return name;
}

bool published_over_is(const struct published_figure *f, const char *list) {
  const char *name = published_over(f);
  size_t n = strlen(name);
  if (!strcmp(name, list)) return true;
  if (strcmp(f->paper, "medic") || strchr(list, '+')) return false;
  if (!strncmp(list, "l2-", 3)) list += 3; /* MeDiC's PCAL is the one at the L2 */
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
      {"decoupled-l1d", "CNF geomean", "cache-unfriendly", PUBLISHED_GEOMETRIC},
      {"decoupled-l1d", "CNF average", "cache-unfriendly", PUBLISHED_ARITHMETIC},
      {"decoupled-l1d", "CNF maximum", "cache-unfriendly", PUBLISHED_MAXIMUM},
      {"decoupled-l1d", "CF average", "cache-friendly", PUBLISHED_ARITHMETIC},
      {"decoupled-l1d", "CF", "cache-friendly", PUBLISHED_MINIMUM},
      {"sharing-aware", "20 benchmarks", "", PUBLISHED_ARITHMETIC},
      {"sharing-aware", "average", "", PUBLISHED_ARITHMETIC},
  };
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    if (strcmp(groups[i].paper, f->paper) || strcmp(groups[i].label, f->group)) continue;
    const struct metric *m = metric_of(f);
    *group = groups[i].group;
    *kind =
        m && m->quantity != RELATIVE && groups[i].kind <= PUBLISHED_HARMONIC ? PUBLISHED_ARITHMETIC : groups[i].kind;
    return true;
  }
  return false;
}

static double sum(published_get *get, const void *run, const char *const *key) {
  double s = 0;
  for (size_t i = 0; i < METRIC_KEYS && key[i]; i++) s += get(run, key[i]);
  return s;
}

static bool quotient(const struct metric *m, published_get *get, const void *run, double *out) {
  *out = sum(get, run, m->part);
  if (!m->whole[0]) return true;
  double whole = sum(get, run, m->whole);
  *out = whole > 0 ? *out / whole : 0;
  return whole > 0;
}

bool published_ratio(const struct published_figure *f, published_get *get, const void *run, const void *over,
                     double *ratio) {
  const struct metric *m = metric_of(f);
  double a, b;
  if (!m || !quotient(m, get, run, &a)) return false;
  *ratio = a;
  if (m->quantity == OWN_RATE) return true;
  if (!over || !quotient(m, get, over, &b)) return false;
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

double published_present(const struct published_figure *f, double ratio) {
  const struct metric *m = metric_of(f);
  switch (m ? m->print : AS_RATIO) {
  case AS_GAIN:
    return 100 * (ratio - 1);
  case AS_LOSS:
    return 100 * (1 - ratio);
  case AS_PERCENT:
    return 100 * ratio;
  case AS_RATIO:
    break;
  }
  return ratio;
}
