/* character.c - the tables of `sluice run --characterise`, over all launches: what un-coalescing costs loads (BUCL, Fig
 * 2, 3 and 5) and how much of an L1 line is used before it goes (TSC, Fig 1).
 */
#include <jansson.h>

#include "cli/run.h"

enum { CLASSES = 5, QUARTERS = 4 };

struct degree {
  const char *name;
  double loads, accesses, hits, all_hit, latency, fetched, reused;
};

static double get(const json_t *o, const char *key) {
  return json_number_value(json_object_get(o, key));
}

static void add(struct degree *d, const json_t *o) {
  double loads = get(o, "loads");
  d->name = json_string_value(json_object_get(o, "degrees"));
  d->loads += loads;
  d->accesses += get(o, "accesses");
  d->hits += get(o, "hits");
  d->all_hit += get(o, "all_hit_loads");
  d->latency += get(o, "latency.mean") * loads;
  d->fetched += get(o, "lines_fetched");
  d->reused += get(o, "lines_reused");
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

void character_print(const struct record_file *r, FILE *f) {
  struct degree d[CLASSES] = {0};
  double used[QUARTERS] = {0}, lines = 0, loads = 0;
  const json_t *kernel, *o;
  size_t k, i;
  json_array_foreach(json_object_get(record_json(r), "kernels"), k, kernel) {
    const json_t *all = json_object_get(kernel, "loads");
    json_array_foreach(json_object_get(all, "by_degree"), i, o) {
      if (i < CLASSES) add(&d[i], o), loads += get(o, "loads");
    }
    json_array_foreach(json_object_get(all, "lines_by_quarters_used"), i, o) {
      if (i < QUARTERS) used[i] += json_number_value(o), lines += json_number_value(o);
    }
  }
  if (loads <= 0) {
    fputs("no global load was simulated in detail\n", f);
    return;
  }
  print_degrees(d, f);
  if (lines > 0)
    fprintf(f, "lines used before they went: a quarter %.1f %%, half %.1f %%, three quarters %.1f %%, all %.1f %%\n",
            100 * used[0] / lines, 100 * used[1] / lines, 100 * used[2] / lines, 100 * used[3] / lines);
}
