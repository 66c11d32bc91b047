/* test_stored.c - stored results: what is put into a file comes back, and sums are those of the launches. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "results/stored.h"

static const char record_text[] =
    "{'totals': {'cycles': 30, 'ipc': 0.5, 'l1d.read.hits': 0, 'scheme_counters': {'bypassed': 7}}, 'kernels': ["
    "{'loads': {'by_degree': [{'degrees': '1', 'loads': 2, 'latency.mean': 10.0}], 'distance': [1, 2]}},"
    "{'loads': {'by_degree': [{'degrees': '1', 'loads': 6, 'latency.mean': 20.0}], 'distance': [3, 4, 5]}},"
    "{'name': 'k', 'cycles': 10, 'thread_insts': 64}, {'name': 'k', 'cycles': 5, 'thread_insts': 32}, {'name': "
    "'other'}],"
    "'energy': {'whole_uj': 3.5, 'leakage_uj': 1.5, 'tables': {'bits': 1}}}";

static json_t *parse(const char *text) {
  char copy[1024];
  snprintf(copy, sizeof copy, "%s", text);
  for (char *c = copy; *c; c++)
    if (*c == '\'') *c = '"';
  json_t *v = json_loads(copy, 0, NULL);
  assert_non_null(v);
  return v;
}

static double at(const json_t *line, const char *key) {
  const json_t *row = json_array_get(json_object_get(json_object_get(line, "loads"), "by_degree"), 0);
  return json_number_value(json_object_get(row, key));
}

static void launches_are_summed(void **state) {
  (void)state;
  json_t *record = parse(record_text), *line = stored_reduce(record);
  assert_true(json_equal(json_object_get(line, "totals"), json_object_get(record, "totals")));
  assert_float_equal(at(line, "loads"), 8, 0);
  assert_float_equal(at(line, "latency_sum"), 2 * 10 + 6 * 20, 0);
  json_t *distance = parse("[4, 6, 5]");
  assert_true(json_equal(json_object_get(json_object_get(line, "loads"), "distance"), distance));
  json_t *kernels = parse("{'k': {'launches': 2, 'cycles': 15, 'thread_insts': 96}, 'other': {'launches': 1}}");
  assert_true(json_equal(json_object_get(line, "kernels"), kernels));
  json_t *energy = parse("{'whole_uj': 3.5, 'leakage_uj': 1.5}");
  assert_true(json_equal(json_object_get(line, "energy"), energy));
  json_t *again = stored_record(line), *twice = stored_reduce(again); /* a record of one launch has the same sums */
  assert_true(json_equal(json_object_get(twice, "loads"), json_object_get(line, "loads")));
  assert_true(json_equal(json_object_get(twice, "kernels"), kernels));
  json_decref(record), json_decref(line), json_decref(distance), json_decref(again), json_decref(twice);
  json_decref(kernels), json_decref(energy);
}

static json_t *line_with(const char *key, int value, const char *commit) {
  return json_pack("{s:i, s:s}", key, value, "commit", commit);
}

static void runs_come_back(void **state) {
  (void)state;
  char path[] = "/tmp/stored-XXXXXX";
  close(mkstemp(path));
  struct err e = {0};
  json_t *set = parse("{'b': 1, 'a': 'x'}"), *same = parse("{'a': 'x', 'b': 1}");
  struct stored *s = stored_new("bucl", "workloads");
  struct stored_run r = {.workload = "bfs", .scheme = "mrpb", .gpu = "bucl", .size = "small", .set = set}, other = r;
  stored_put(s, &r, line_with("first", 1, "one"));
  stored_put(s, &r, line_with("second", 2, "one"));
  other.seed = 3;
  stored_put(s, &other, line_with("first", 1, "one"));
  stored_put(s, &other, line_with("second", 2, "two"));
  assert_true(stored_save(s, path, &e));
  stored_free(s);
  s = stored_open(path, "bucl", &e);
  assert_non_null(s);
  assert_int_equal(json_object_size(stored_runs(s)), 2);
  r.set = same; /* the order of knobs means nothing */
  const json_t *line = stored_find(s, &r);
  assert_int_equal(json_integer_value(json_object_get(line, "first")), 1);
  assert_int_equal(json_integer_value(json_object_get(line, "second")), 2);
  assert_string_equal(json_string_value(json_object_get(line, "workload")), "bfs");
  line = stored_find(s, &other); /* another commit: nothing of the former run stays */
  assert_null(json_object_get(line, "first"));
  assert_int_equal(json_integer_value(json_object_get(line, "second")), 2);
  r.size = "medium";
  assert_null(stored_find(s, &r));
  stored_free(s);
  assert_null(stored_open(path, "tsc", &e));
  assert_int_equal(e.code, ERR_INPUT);
  json_decref(set), json_decref(same);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(launches_are_summed), cmocka_unit_test(runs_come_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
