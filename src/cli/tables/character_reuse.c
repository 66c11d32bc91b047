/* character_reuse.c - the part of `sluice run --characterise` on reuse, over all launches: how often and how soon lines
 * are accessed again and what a larger L1 would hit (decoupled L1D, Fig 3, 4 and 11; BUCL, Fig 4), and why loads miss.
 */
#include <jansson.h>

#include "cli/frame/cli.h"
#include "cli/tables/tables.h"

enum { DISTANCES = 16, COUNTS = 7, CAUSES = 5 };

/* Requests of loads, or those admitted to the L1. */
struct reuse {
  double first, distance[DISTANCES], lines[COUNTS], accesses[COUNTS];
};

static void cell_share(struct table *t, double part, double whole) {
  if (whole > 0) table_cell(t, "%.1f %%", 100 * part / whole);
  else table_cell(t, "-");
}

static void add_array(double *to, const json_t *from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] += json_number_value(json_array_get(from, i));
}

static void add_reuse(struct reuse *r, const json_t *o) {
  r->first += number_at(o, "first_accesses");
  add_array(r->distance, json_object_get(o, "by_distance"), DISTANCES);
  add_array(r->lines, json_object_get(o, "lines_by_reuses"), COUNTS);
  add_array(r->accesses, json_object_get(o, "accesses_by_reuses"), COUNTS);
}

static double sum_of_bins(const double *v, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += v[i];
  return s;
}

static void print_counts(const struct reuse *asked, const struct reuse *in, FILE *f) {
  static const char *const titles[] = {"line used again", "lines", "of accesses", "in the L1: lines", "of accesses"};
  static const char *const names[COUNTS] = {"never", "once", "twice", "3 times", "4-7", "8-15", "16 or more"};
  struct table *t = table_new(titles, "lrrrr");
  for (size_t i = 0; i < COUNTS; i++) {
    table_cell(t, "%s", names[i]);
    cell_share(t, asked->lines[i], sum_of_bins(asked->lines, COUNTS));
    cell_share(t, asked->accesses[i], sum_of_bins(asked->accesses, COUNTS));
    cell_share(t, in->lines[i], sum_of_bins(in->lines, COUNTS));
    cell_share(t, in->accesses[i], sum_of_bins(in->accesses, COUNTS));
  }
  fputc('\n', f);
  table_print(t, f);
  table_free(t);
}

/* Rows up to the largest distance that occurs. The last column: what a fully associative LRU cache that holds the
 * distances up to this row would hit of all that is asked. */
static void print_distances(const struct reuse *asked, const struct reuse *in, double line, FILE *f) {
  static const char *const titles[] = {"reuse distance", "of accesses", "in the L1", "LRU cache of", "would hit"};
  double all = asked->first + sum_of_bins(asked->distance, DISTANCES),
         taken = in->first + sum_of_bins(in->distance, DISTANCES), hits = 0;
  size_t last = DISTANCES - 1;
  while (last && asked->distance[last] <= 0) last--;
  struct table *t = table_new(titles, "lrrrr");
  for (size_t i = 0; i <= last; i++) {
    char size[32];
    hits += asked->distance[i];
    if (i < 2) table_cell(t, "%zu", i);
    else if (i == DISTANCES - 1) table_cell(t, "%d or more", 1 << (i - 1));
    else table_cell(t, "%d-%d", 1 << (i - 1), (1 << i) - 1);
    cell_share(t, asked->distance[i], all);
    cell_share(t, in->distance[i], taken);
    cli_bytes(size, sizeof size, line * (1 << i));
    if (i == DISTANCES - 1) table_cell(t, "-"), table_cell(t, "-");
    else table_cell(t, "%s", size), cell_share(t, hits, all);
  }
  table_cell(t, "first access");
  cell_share(t, asked->first, all);
  cell_share(t, in->first, taken);
  table_cell(t, "-");
  table_cell(t, "-");
  fputc('\n', f);
  table_print(t, f);
  table_free(t);
}

static void print_causes(const double *cause, FILE *f) {
  static const char *const names[CAUSES] = {"first access", "evicted by a store", "capacity", "conflict",
                                            "part of the line missing"};
  double all = sum_of_bins(cause, CAUSES);
  if (all <= 0) return;
  fputs("why loads missed the L1:", f);
  for (size_t i = 0, n = 0; i < CAUSES; i++)
    if (cause[i] > 0) fprintf(f, "%s %s %.1f %%", n++ ? "," : "", names[i], 100 * cause[i] / all);
  fputc('\n', f);
}

static void print_totals(const struct record_file *r, const struct reuse *asked, const struct reuse *in, double line,
                         FILE *f) {
  const json_t *t = json_object_get(record_json(r), "totals");
  char a[32], b[32];
  cli_bytes(a, sizeof a, line * asked->first);
  cli_bytes(b, sizeof b, line * in->first);
  fprintf(f, "footprint, summed over SMs and launches: %s requested, %s of it in the L1\n", a, b);
  fprintf(f, "L1 misses: %.3f per load, %.2f per 1000 thread instructions\n", number_at(t, "l1d.read.misses_per_load"),
          number_at(t, "l1d.read.mpki"));
  cli_bytes(a, sizeof a, 32 * number_at(t, "icnt.flits_up"));
  cli_bytes(b, sizeof b, 32 * number_at(t, "icnt.flits_down"));
  fprintf(f, "flits between L1 and L2: %s up, %s down\n", a, b);
}

void character_reuse_print(const struct record_file *r, FILE *f) {
  static const char *const causes[CAUSES] = {"first", "store", "capacity", "conflict", "partial"};
  struct reuse asked = {0}, in = {0};
  double cause[CAUSES] = {0}, line = 0;
  const json_t *kernel;
  size_t k;
  json_array_foreach(record_entries(r), k, kernel) {
    const json_t *all = json_object_get(kernel, "loads"), *reuse = json_object_get(all, "reuse");
    if (reuse) line = number_at(reuse, "line_bytes");
    add_reuse(&asked, json_object_get(reuse, "asked"));
    add_reuse(&in, json_object_get(reuse, "in_l1"));
    for (size_t i = 0; i < CAUSES; i++) cause[i] += number_at(json_object_get(all, "misses_by_cause"), causes[i]);
  }
  print_counts(&asked, &in, f);
  print_distances(&asked, &in, line, f);
  fputc('\n', f);
  print_causes(cause, f);
  print_totals(r, &asked, &in, line, f);
}
