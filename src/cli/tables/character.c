/* character.c - the tables of `sluice run --characterise`, over all launches: cost of un-coalescing for loads (BUCL,
 * Fig 2, 3 and 5), use of an L1 line before its eviction (TSC, Fig 1), hit rates of warps and waiting times at the L2
 * (MeDiC, Table II, Fig 3, 6, 7 and 8), data shared by CTAs and SMs, and causes of L2 misses (sharing-aware
 * management, sections I and III, Fig 3, 5 and 8).
 */
#include <jansson.h>

#include "cli/frame/cli.h"
#include "cli/tables/tables.h"

enum { CLASSES = 5, QUARTERS = 4 };

struct degree {
  const char *name;
  double loads, accesses, hits, all_hit, latency, fetched, reused;
};

static void add_degree(struct degree *d, const json_t *o) {
  double loads = number_at(o, "loads");
  d->name = json_string_value(json_object_get(o, "degrees"));
  d->loads += loads;
  d->accesses += number_at(o, "accesses");
  d->hits += number_at(o, "hits");
  d->all_hit += number_at(o, "all_hit_loads");
  d->latency += number_at(o, "latency.mean") * loads;
  d->fetched += number_at(o, "lines_fetched");
  d->reused += number_at(o, "lines_reused");
}

static void cell_share(struct table *t, double part, double whole) {
  if (whole > 0) table_cell(t, "%.1f %%", 100 * part / whole);
  else table_cell(t, "-");
}

static void print_degrees(const struct degree *d, FILE *f) {
  static const char *const titles[] = {"accesses per load", "loads",   "share",       "L1 hits",
                                       "all-hit loads",     "latency", "lines reused"};
  double all = 0;
  for (int i = 0; i < CLASSES; i++) all += d[i].loads;
  struct table *t = table_new(titles, "lrrrrrr");
  for (int i = 0; i < CLASSES; i++) {
    char buf[48];
    if (d[i].loads <= 0) continue;
    table_cell(t, "%s", d[i].name);
    cli_count(buf, sizeof buf, d[i].loads);
    table_cell(t, "%s", buf);
    cell_share(t, d[i].loads, all);
    cell_share(t, d[i].hits, d[i].accesses);
    cell_share(t, d[i].all_hit, d[i].loads);
    table_cell(t, "%.0f", d[i].latency / d[i].loads);
    cell_share(t, d[i].reused, d[i].fetched);
  }
  fputc('\n', f);
  table_print(t, f);
  table_free(t);
}

/* ---- at the L2, and sharing ---- */

/* Sum of one array or object of numbers over all launches, by position. */
static size_t add_up(const struct record_file *r, const char *part, const char *key, double *sum, const char **name,
                     size_t room) {
  const json_t *kernel, *v;
  size_t k, i, n = 0;
  json_array_foreach(record_entries(r), k, kernel) {
    json_t *all = json_object_get(json_object_get(kernel, part), key);
    const char *word;
    json_array_foreach(all, i, v) {
      if (i < room) sum[i] += json_number_value(v), n = i + 1 > n ? i + 1 : n;
    }
    i = 0;
    json_object_foreach(all, word, v) {
      if (i < room) sum[i] += json_number_value(v), name[i] = word, n = i + 1 > n ? i + 1 : n;
      i++;
    }
  }
  return n;
}

static void print_counts(FILE *f, const char *title, const double *v, const char *const *name, size_t n) {
  double all = 0;
  bool any = false;
  for (size_t i = 0; i < n; i++) all += v[i];
  if (all <= 0) return;
  for (size_t i = 0; i < n; i++) {
    if (v[i] <= 0) continue;
    fprintf(f, "%s %s %.1f %%", any ? "," : title, name[i], 100 * v[i] / all);
    any = true;
  }
  fputc('\n', f);
}

static void print_waits(const struct record_file *r, FILE *f) {
  static const char *const names[] = {"0",     "1",      "2-3",     "4-7",     "8-15",     "16-31",
                                      "32-63", "64-127", "128-255", "256-511", "512-1023", "1024-"};
  double v[12] = {0};
  print_counts(f, "cycles in front of the L2:", v, names,
               add_up(r, "warps_at_l2", "requests_by_log2_wait", v, NULL, 12));
}

/* Blocks by how many SMs touch them, as the cumulative distribution of sharing-aware management, Fig 5. */
static void print_sharers(const struct record_file *r, FILE *f) {
  enum { MOST = 65 };
  double v[MOST] = {0}, all = 0, below = 0;
  size_t n = add_up(r, "sharing", "blocks_by_sharing_sms", v, NULL, MOST);
  for (size_t i = 0; i < n; i++) all += v[i];
  if (all <= 0) return;
  fputs("blocks that so many SMs touch at most:", f);
  for (size_t i = 1; i < n; i++) {
    below += v[i];
    if (v[i] > 0) fprintf(f, " %zu %.1f %%%s", i, 100 * below / all, i + 1 < n ? "," : "\n");
  }
}

/* Hit ratios of the followed warp slots over the first million cycles of the longest launch (MeDiC, Fig 6). */
static void print_followed(const struct record_file *r, FILE *f) {
  enum { PERIODS = 10 };
  const json_t *kernel, *longest = NULL, *warp;
  size_t k, i;
  json_array_foreach(record_entries(r), k, kernel) {
    if (json_object_get(kernel, "launches")) continue; /* merged launches: no time series */
    if (!longest || number_at(kernel, "cycles") > number_at(longest, "cycles")) longest = kernel;
  }
  bool any = false;
  json_array_foreach(json_object_get(json_object_get(longest, "warps_at_l2"), "followed_warps"), k, warp) {
    const json_t *accesses = json_object_get(warp, "accesses"), *hits = json_object_get(warp, "hits");
    size_t per = (size_t)(100000 / number_at(warp, "every_cycles")), n = json_array_size(accesses);
    double a[PERIODS] = {0}, h[PERIODS] = {0}, all = 0;
    for (i = 0; i < n && i / per < PERIODS; i++) {
      a[i / per] += json_number_value(json_array_get(accesses, i));
      h[i / per] += json_number_value(json_array_get(hits, i));
      all += json_number_value(json_array_get(accesses, i));
    }
    if (all <= 0) continue;
    if (!any) fputs("hit ratio of chosen warps in each 100,000 cycles of the longest launch (%):\n", f);
    any = true;
    fprintf(f, "  SM %.0f, slot %.0f:", number_at(warp, "sm"), number_at(warp, "warp"));
    for (i = 0; i < PERIODS && i * per < n; i++) {
      if (a[i] > 0) fprintf(f, " %3.0f", 100 * h[i] / a[i]);
      else fputs("   -", f);
    }
    fputc('\n', f);
  }
}

static double total(const struct record_file *r, const char *key) {
  double v = 0;
  record_value(r, RECORD_TOTALS, key, &v);
  return v;
}

static void print_causes(const struct record_file *r, FILE *f) {
  double first = total(r, "character.l2_misses.first"), capacity = total(r, "character.l2_misses.capacity");
  double conflict = total(r, "character.l2_misses.conflict");
  if (first + capacity + conflict <= 0) return;
  fprintf(f, "why the L2 missed: first access %.1f %%, capacity %.1f %%, conflict %.1f %%\n", 100 * first,
          100 * capacity, 100 * conflict);
}

static void print_l2(const struct record_file *r, FILE *f) {
  static const char *const tenths[] = {"0-10",  "10-20", "20-30", "30-40", "40-50",
                                       "50-60", "60-70", "70-80", "80-90", "90-100"};
  double v[16] = {0}, loads[16] = {0}, tenth[10] = {0}, distance[16] = {0};
  const char *name[16] = {0};
  if (total(r, "character.warps") > 0) {
    size_t n = add_up(r, "warps_at_l2", "warps_by_type", v, name, 16);
    print_counts(f, "warps at the L2:          ", v, name, n);
    print_counts(f, "their hit ratios (%):     ", tenth, tenths,
                 add_up(r, "warps_at_l2", "warps_by_hit_ratio_tenths", tenth, NULL, 10));
    print_counts(f, "loads at the L2:          ", loads, name,
                 add_up(r, "warps_at_l2", "loads_by_type", loads, name, 16));
    fprintf(f, "a warp's type stays for another 100,000 cycles in %.1f %% of cases\n",
            100 * total(r, "character.warps.type_kept"));
    print_followed(r, f);
    print_waits(r, f);
  }
  print_causes(r, f);
  if (total(r, "character.divergence_penalty.max") > 0)
    fprintf(f, "loads all of whose requests hit in the L2 wait %.1f cycles for the slowest of them, at most %.0f\n",
            total(r, "character.divergence_penalty.mean"), total(r, "character.divergence_penalty.max"));
  if (total(r, "character.blocks") <= 0) return;
  fprintf(f, "blocks of 128 B: %.0f, %.1f %% shared by CTAs, %.1f %% by SMs (%.2f SMs each; %.2f over all blocks)\n",
          total(r, "character.blocks"), 100 * total(r, "character.blocks.shared_by_ctas"),
          100 * total(r, "character.blocks.shared_by_sms"), total(r, "character.sharers_per_shared_block"),
          total(r, "character.sharers_per_block"));
  print_sharers(r, f);
  size_t n = add_up(r, "sharing", "blocks_by_cta_distance", distance, name, 16);
  print_counts(f, "distance of sharing CTAs: ", distance, name, n);
  if (total(r, "character.blocks.shared_by_sms") > 0)
    fprintf(f,
            "loads of blocks that SMs share: %.1f %% hit, %.1f %% merge; %.1f %% of reuses after 1000 cycles or more\n",
            100 * total(r, "character.shared_loads.hits"), 100 * total(r, "character.shared_loads.merged"),
            100 * total(r, "character.shared_loads.reused_late"));
  fprintf(f, "the longest CTA of a launch runs %.2f times as long as the mean, the shortest %.2f times\n",
          total(r, "character.ctas.longest_over_mean"), total(r, "character.ctas.shortest_over_mean"));
}

static void print_all(const struct record_file *r, FILE *f) {
  struct degree d[CLASSES] = {0};
  double used[QUARTERS] = {0}, lines = 0, loads = 0;
  const json_t *kernel, *o;
  size_t k, i;
  json_array_foreach(record_entries(r), k, kernel) {
    const json_t *all = json_object_get(kernel, "loads");
    json_array_foreach(json_object_get(all, "by_degree"), i, o) {
      if (i < CLASSES) add_degree(&d[i], o), loads += number_at(o, "loads");
    }
    json_array_foreach(json_object_get(all, "lines_by_quarters_used"), i, o) {
      if (i < QUARTERS) used[i] += json_number_value(o), lines += json_number_value(o);
    }
  }
  if (loads <= 0) {
    fputs("no global load was simulated in detail\n", f);
    character_reuse_print(r, f);
    print_l2(r, f);
    return;
  }
  print_degrees(d, f);
  if (lines > 0)
    fprintf(f, "lines used before they went: a quarter %.1f %%, half %.1f %%, three quarters %.1f %%, all %.1f %%\n",
            100 * used[0] / lines, 100 * used[1] / lines, 100 * used[2] / lines, 100 * used[3] / lines);
  character_reuse_print(r, f);
  print_l2(r, f);
}

void character_print(const struct record_file *r, FILE *f) {
  struct lines l;
  print_all(r, lines_begin(&l, f));
  lines_end(&l);
}
