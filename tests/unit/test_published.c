/* test_published.c - the published figures: the bundled table is read whole, every name in it that a run can stand
 * beside is understood, and the means are the papers'. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/paths.h"
#include "results/published.h"

static const struct published_figure *find(const struct published *p, const char *suite, const char *metric,
                                           const char *list, const char *group) {
  for (size_t i = 0; i < published_count(p); i++) {
    const struct published_figure *f = published_at(p, i);
    if (published_of_suite(f, suite) && published_of_scheme(f, list) && !strcmp(f->metric, metric) &&
        !strcmp(f->group, group))
      return f;
  }
  fail_msg("no %s of %s for %s in %s", metric, list, group, suite);
  return NULL;
}

static void test_bundled(void **state) {
  (void)state;
  struct err e = {0};
  struct published *p = published_open(NULL, &e);
  if (!p) fail_msg("%s", e.msg);
  assert_true(published_count(p) > 100);
  assert_float_equal(find(p, "bucl", "ipc_improvement", "bucl", "uncoalesced average")->value, 36, 0);
  assert_float_equal(find(p, "bucl", "ipc_improvement", "bucl-prf=10000", "uncoalesced average")->value, 29, 0);
  assert_float_equal(find(p, "tsc", "ipc_improvement", "dsc=2", "geomean")->value, 10.4, 0);
  assert_float_equal(find(p, "sharing", "gpu_energy_reduction", "sharing", "20 benchmarks")->value, 6, 0);
  assert_float_equal(find(p, "decoupled-l1d", "normalized_ipc", "ball", "BP")->value, 0.23, 0);
  assert_string_equal(published_over(find(p, "bucl", "ipc_improvement_over_mrpb", "bucl", "KMN")), "mrpb");
  assert_string_equal(published_over(find(p, "decoupled-l1d", "ipc_improvement_over_pdp_best", "decoupled-l1d", "BH")),
                      "pdp-best");
  const struct published_figure *pcal = find(p, "medic", "speedup_over_pcal", "medic", "harmonic average");
  assert_true(published_over_is(pcal, "l2-pcal") && published_over_is(pcal, "l2-pcal-best"));
  assert_true(published_over_is(pcal, "l2-pcal=64") && published_over_is(pcal, "l2-pcal:tokens=64"));
  assert_false(published_over_is(pcal, "l2-pcal+medic") || published_over_is(pcal, "pc-byp"));
  const struct published_figure *bcs = find(p, "sharing", "gain_over_bcs", "sharing-cta=x:adpt=1", "20 benchmarks");
  assert_true(published_over_is(bcs, "bcs") && !published_over_is(bcs, "bcs+sharing-cache"));
  const char *group;
  enum published_kind kind;
  assert_true(published_of_group(find(p, "bucl", "ipc_improvement", "bucl", "coherent average"), &group, &kind));
  assert_string_equal(group, "coherent");
  assert_int_equal(kind, PUBLISHED_GEOMETRIC);
  assert_true(published_of_group(find(p, "bucl", "l1d_hit_rate", "bucl", "uncoalesced average"), &group, &kind));
  assert_int_equal(kind, PUBLISHED_ARITHMETIC);
  assert_false(published_of_group(find(p, "bucl", "ipc_improvement", "mrpb", "BP"), &group, &kind));
  /* MeDiC, section 5: the harmonic mean of the IPC ratios of all kernels; energy is of programs. */
  assert_true(published_by_kernel(pcal) && published_of_group(pcal, &group, &kind) && kind == PUBLISHED_HARMONIC);
  const struct published_figure *banks = find(p, "medic", "speedup_of_24_banks", "l2-banks=4", "average");
  assert_true(published_by_kernel(banks) && published_of_group(banks, &group, &kind) && kind == PUBLISHED_HARMONIC);
  assert_false(published_by_kernel(find(p, "medic", "energy_efficiency", "medic", "average")));
  assert_false(published_by_kernel(bcs));
  published_close(p);
}

struct run {
  double ipc, hits, accesses;
};

static double get(const void *run, const char *key) {
  const struct run *r = run;
  return !strcmp(key, "ipc") ? r->ipc : !strcmp(key, "l1d.read.hits") ? r->hits : r->accesses;
}

static void test_measure(void **state) {
  (void)state;
  struct run base = {2, 10, 100}, a = {3, 40, 80};
  double r;
  struct published_figure gain = {.metric = "ipc_improvement"}, over = {.metric = "ipc_improvement_over_mrpb"},
                          loss = {.metric = "worst_ipc_loss"}, rate = {.metric = "l1d_hit_rate"},
                          more = {.metric = "l1d_hit_rate_gain"}, none = {.metric = "storage_overhead"};
  assert_true(published_ratio(&gain, get, &a, &base, &r));
  assert_float_equal(published_present(&gain, r), 50, 1e-9);
  assert_true(published_ratio(&over, get, &a, &base, &r));
  assert_float_equal(published_present(&over, r), 50, 1e-9);
  assert_true(published_ratio(&loss, get, &base, &a, &r));
  assert_float_equal(published_present(&loss, r), 100.0 / 3, 1e-9);
  assert_true(published_ratio(&rate, get, &a, NULL, &r));
  assert_float_equal(published_present(&rate, r), 50, 1e-9);
  assert_true(published_ratio(&more, get, &a, &base, &r));
  assert_float_equal(published_present(&more, r), 40, 1e-9);
  assert_false(published_ratio(&none, get, &a, &base, &r));
  assert_false(published_ratio(&gain, get, &a, NULL, &r));
  const double v[] = {1, 2, 4};
  assert_float_equal(published_mean(PUBLISHED_ARITHMETIC, v, 3), 7.0 / 3, 1e-12);
  assert_float_equal(published_mean(PUBLISHED_GEOMETRIC, v, 3), 2, 1e-12);
  assert_float_equal(published_mean(PUBLISHED_HARMONIC, v, 3), 3 / 1.75, 1e-12);
  assert_float_equal(published_mean(PUBLISHED_MINIMUM, v, 3), 1, 0);
  assert_float_equal(published_mean(PUBLISHED_MAXIMUM, v, 3), 4, 0);
}

static void reads(const char *text, const char *complaint) {
  char path[] = "/tmp/sluice-published-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  struct err e = {0};
  struct published *p = published_open(path, &e);
  unlink(path);
  if (!complaint) {
    if (!p) fail_msg("%s", e.msg);
    published_close(p);
    return;
  }
  assert_null(p);
  if (!strstr(e.msg, complaint)) fail_msg("'%s' does not say '%s'", e.msg, complaint);
}

static void test_bad_tables(void **state) {
  (void)state;
  reads("paper,where,metric,scheme,group,value,unit\na,b,c,d,e,1,f\n", NULL);
  reads("paper,where,metric,scheme,group,value,unit\na,b,c,d,e,1,f", NULL);
  reads("titles\na,b,c\n", ":2: 3 fields");
  reads("titles\na,b,c,d,e,1,f,g\n", ":2: 8 fields");
  reads("titles\n\na,b,c,d,e,1x,f\n", ":3: the value '1x'");
}

/* Student's t over 1, 2, 4: mean 7/3, deviation 1.5275, t(2) 4.303. */
static void test_interval(void **state) {
  (void)state;
  double v[] = {1, 2, 4}, low, high;
  assert_true(published_interval(PUBLISHED_ARITHMETIC, v, 3, &low, &high));
  assert_float_equal(low, 7.0 / 3 - 4.303 * 1.5275252 / 1.7320508, 1e-4);
  assert_float_equal(high, 7.0 / 3 + 4.303 * 1.5275252 / 1.7320508, 1e-4);
  assert_true(published_interval(PUBLISHED_GEOMETRIC, v, 3, &low, &high));
  assert_float_equal(low * high, 4, 1e-9); /* symmetric about log 2 */
  assert_float_equal(high, 2 * exp(4.303 * 0.6931472 / 1.7320508), 1e-4);
  assert_true(published_interval(PUBLISHED_HARMONIC, v, 3, &low, &high));
  assert_true(low < 3 / 1.75 && isinf(high)); /* the inverses' interval holds zero */
  assert_false(published_interval(PUBLISHED_ARITHMETIC, v, 1, &low, &high));
  assert_false(published_interval(PUBLISHED_MAXIMUM, v, 3, &low, &high));
}

/* Every number of the table has a metric that a run or a scheme's storage can give. */
static void test_all_metrics(void **state) {
  (void)state;
  struct err e = {0};
  struct published *p = published_open(NULL, &e);
  char quantity[1024];
  size_t relative = 0, character = 0, stored = 0, bounds = 0;
  assert_non_null(p);
  for (size_t i = 0; i < published_count(p); i++) {
    const struct published_figure *f = published_at(p, i);
    double none;
    published_quantity(f, quantity, sizeof quantity);
    bool drawn = *quantity || !strncmp(f->metric, "normalized_", 11) || !strcmp(f->metric, "l1d_hit_rate_gain");
    if (!drawn && !published_is_storage(f)) fail_msg("%s: %s has no metric", f->paper, f->metric);
    assert_true(published_no_change(f, &none) == published_is_relative(f));
    relative += published_is_relative(f), character += published_needs_character(f), stored += published_is_storage(f);
    bounds += published_bound(f) != 0;
  }
  assert_true(relative > 70);
  assert_true(character > 15);
  assert_int_equal(stored, 8);
  assert_int_equal(bounds, 4);
  const struct published_figure *banks = find(p, "medic", "speedup_of_24_banks", "l2-banks=4", "average");
  assert_false(published_of_scheme(banks, "baseline"));
  assert_string_equal(published_over(banks), "baseline");
  const struct published_figure *late = find(p, "tsc", "ipc_improvement", "tsc:latency=2+l1-latency=90", "geomean");
  assert_string_equal(published_over(late), "l1-latency=90");
  const struct published_figure *ways =
      find(p, "decoupled-l1d", "ipc_gain_16_way_tags_over_8_way", "decoupled-l1d:tags=16", "average");
  assert_string_equal(published_over(ways), "decoupled-l1d:tags=8");
  assert_non_null(find(p, "tsc", "ipc_improvement", "dsc:tags=4", "geomean"));
  published_close(p);
}

static double class_get(const void *run, const char *key) {
  (void)run;
  return !strcmp(key, "loads.by_degree.4.latency_sum")   ? 700
         : !strcmp(key, "loads.by_degree.0.latency_sum") ? 400
         : !strcmp(key, "loads.by_degree.4.loads")       ? 2
         : !strcmp(key, "loads.by_degree.0.loads")       ? 4
                                                         : 0;
}

static void test_classes(void **state) {
  (void)state;
  struct published_figure f = {.metric = "normalized_load_latency", .group = "BFS degree 21-32"};
  double r;
  assert_true(published_of_workload(&f, "BFS") && !published_of_workload(&f, "BF"));
  assert_true(published_ratio(&f, class_get, &f, NULL, &r));
  assert_float_equal(r, 3.5, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bundled),     cmocka_unit_test(test_measure),
                                     cmocka_unit_test(test_bad_tables),  cmocka_unit_test(test_interval),
                                     cmocka_unit_test(test_all_metrics), cmocka_unit_test(test_classes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
