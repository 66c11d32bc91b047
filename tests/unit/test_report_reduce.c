/* test_report_reduce.c - a record cut down for the report's page: what is added, what is left out, and how the page
 * gets smaller, against records of a few numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/reduce.h"

static json_t *json(const char *text) {
  json_error_t why;
  json_t *j = json_loads(text, JSON_DECODE_ANY, &why);
  if (!j) fail_msg("%d:%d: %s", why.line, why.column, why.text);
  return j;
}

/* `j` is what the text says. */
static void is(const json_t *j, const char *text) {
  json_t *expected = json(text);
  if (!json_equal(j, expected)) {
    char *shown = json_dumps(j, JSON_SORT_KEYS);
    fail_msg("%s\nis not\n%s", shown, text);
  }
  json_decref(expected);
}

static json_t *reduced(const char *record, const char *first) {
  json_t *r = json(record), *f = first ? json(first) : NULL, *out = reduce_record(r, f);
  json_decref(r);
  json_decref(f);
  return out;
}

/* ---- launches ---- */

static void launches_of_a_kernel(void **state) {
  (void)state;
  json_t *run = reduced(
      "{\"program\": \"p\", \"ended\": \"early\", \"kernels\": ["
      " {\"name\": \"a\", \"grid\": [2, 1, 1], \"block\": [32, 1, 1], \"registers\": 8, \"shared_bytes\": 100, "
      "\"cycles\": 10,"
      "  \"mem.latency.max\": 70, \"ipc\": 1.5, \"energy.l2\": 0.25, \"energy.efficiency\": 9.5, \"dram.bytes\": 64.0,"
      "  \"l2.hits\": 0, \"scheme_counters\": {\"bucl.moves\": 3}},"
      " {\"name\": \"b\", \"grid\": [1, 1, 1], \"block\": [64, 1, 1], \"registers\": 4, \"cycles\": 5},"
      " {\"name\": \"a\", \"grid\": [4, 1, 1], \"block\": [32, 1, 1], \"registers\": 8, \"shared_bytes\": 100, "
      "\"cycles\": 30,"
      "  \"mem.latency.max\": 50, \"ipc\": 2.5, \"energy.l2\": 0.5, \"energy.efficiency\": 9.5, \"dram.bytes\": 32.0,"
      "  \"scheme_counters\": {\"bucl.moves\": 4}}]}",
      NULL);
  /* Counters add up, maxima stay maxima; rates, sizes and what is zero are not there. */
  is(json_object_get(run, "kernels"),
     "[{\"name\": \"a\", \"registers\": 8, \"cycles\": 40, \"mem.latency.max\": 70, \"energy.l2\": 0.75,"
     "  \"dram.bytes\": 96.0, \"bucl.moves\": 7},"
     " {\"name\": \"b\", \"registers\": 4, \"cycles\": 5}]");
  /* Each launch: which kernel, cycles, grid, block. */
  is(json_object_get(run, "launches"),
     "[[0, 10, [2, 1, 1], [32, 1, 1]], [1, 5, [1, 1, 1], [64, 1, 1]], [0, 30, [4, 1, 1], [32, 1, 1]]]");
  assert_null(json_object_get(run, "launches_left_out"));
  assert_string_equal(json_string_value(json_object_get(run, "program")), "p");
  assert_null(json_object_get(run, "ended"));
  json_decref(run);
}

/* Entries that stand for many launches, and launches beyond 2000, are counted only. */
static void many_launches(void **state) {
  (void)state;
  json_t *record = json("{\"kernels\": [{\"name\": \"a\", \"launches\": 70, \"cycles\": 700}]}");
  json_t *kernels = json_object_get(record, "kernels");
  for (int i = 0; i < 2003; i++)
    json_array_append_new(kernels, json_pack("{s:s, s:i, s:[iii], s:[iii]}", "name", "b", "cycles", i, "grid", 1, 1, 1,
                                             "block", 32, 1, 1));
  json_t *run = reduce_record(record, NULL), *of = json_object_get(run, "kernels");
  assert_int_equal(json_array_size(json_object_get(run, "launches")), 2000);
  is(json_object_get(run, "launches_left_out"), "73");
  /* 2005003: 0 + 1 + ... + 2002 */
  is(of, "[{\"name\": \"a\", \"launches\": 70, \"cycles\": 700}, {\"name\": \"b\", \"cycles\": 2005003}]");
  json_decref(run);
  json_decref(record);
}

static void totals_and_configuration(void **state) {
  (void)state;
  static const char record[] = "{\"totals\": {\"cycles\": 9, \"l2.hits\": 0, \"ipc\": 0.5,"
                               " \"scheme_counters\": {\"swl.held_back\": 2, \"swl.none\": 0}},"
                               " \"config\": {\"gpu\": \"fermi\", \"l1d.sets\": 64, \"l1d.mshrs\": 32}}";
  json_t *run = reduced(record, NULL);
  is(json_object_get(run, "totals"), "{\"cycles\": 9, \"ipc\": 0.5, \"swl.held_back\": 2, \"swl.none\": 0}");
  is(json_object_get(run, "config"), "{\"gpu\": \"fermi\", \"l1d.sets\": 64, \"l1d.mshrs\": 32}");
  json_decref(run);
  /* Beside a first record, only the knobs that differ. */
  run = reduced(record, "{\"config\": {\"gpu\": \"fermi\", \"l1d.sets\": 32, \"l1d.mshrs\": 32}}");
  is(json_object_get(run, "config"), "{\"l1d.sets\": 64}");
  json_decref(run);
}

/* ---- source lines and loads ---- */

static void lines_over_launches(void **state) {
  (void)state;
  json_t *run = reduced(
      "{\"kernels\": ["
      " {\"name\": \"a\", \"lines\": ["
      "  {\"file\": \"x.cu\", \"line\": 7, \"ptx_line\": 40, \"executions\": 2, \"stall_cycles\": 5, \"l2_bytes\": 0},"
      "  {\"file\": \"x.cu\", \"line\": 7, \"ptx_line\": 41, \"executions\": 1, \"stall_cycles\": 1},"
      "  {\"file\": \"x.cu\", \"line\": 9, \"ptx_line\": 50, \"executions\": 4, \"stall_cycles\": 90}]},"
      " {\"name\": \"b\", \"lines\": ["
      "  {\"file\": \"x.cu\", \"line\": 7, \"ptx_line\": 80, \"executions\": 10, \"stall_cycles\": 20},"
      "  {\"file\": \"\", \"line\": 0, \"ptx_line\": 41, \"executions\": 3, \"stall_cycles\": 50}]}]}",
      NULL);
  /* Instructions of a line are one row, in all kernels; without a line it is the PTX line, of its kernel. Hottest
   * first. */
  is(json_object_get(run, "lines"),
     "[{\"file\": \"x.cu\", \"kernel\": \"a\", \"line\": 9, \"executions\": 4, \"stall_cycles\": 90},"
     " {\"file\": \"\", \"kernel\": \"b\", \"line\": 41, \"executions\": 3, \"stall_cycles\": 50},"
     " {\"file\": \"x.cu\", \"kernel\": \"a\", \"line\": 7, \"executions\": 13, \"stall_cycles\": 26}]");
  json_decref(run);
}

/* At most 400 lines, the hottest; fewer when the page is too large, but never below 24. */
static void lines_that_stay(void **state) {
  (void)state;
  json_t *lines = json_array();
  for (int i = 0; i < 500; i++)
    json_array_append_new(
        lines, json_pack("{s:s, s:i, s:i, s:i}", "file", "x.cu", "line", i + 1, "executions", 1, "stall_cycles", i));
  json_t *record = json_pack("{s:[{s:s, s:o}]}", "kernels", "name", "a", "lines", lines);
  json_t *run = reduce_record(record, NULL);
  lines = json_object_get(run, "lines");
  assert_int_equal(json_array_size(lines), 400);
  assert_int_equal(json_integer_value(json_object_get(json_array_get(lines, 0), "stall_cycles")), 499);
  assert_int_equal(json_integer_value(json_object_get(json_array_get(lines, 399), "stall_cycles")), 100);
  static const size_t sizes[] = {200, 100, 50, 25, 12};
  for (size_t i = 0; i < 5; i++) {
    assert_true(reduce_lines(run));
    assert_int_equal(json_array_size(lines), sizes[i]);
  }
  assert_false(reduce_lines(run));
  assert_int_equal(json_array_size(lines), 12);
  assert_int_equal(json_integer_value(json_object_get(json_array_get(lines, 0), "stall_cycles")), 499);
  json_decref(run);
  json_decref(record);
}

static void loads_by_degree(void **state) {
  (void)state;
  json_t *run = reduced("{\"kernels\": ["
                        " {\"name\": \"a\", \"loads\": {\"by_degree\": ["
                        "  {\"degrees\": \"1\", \"loads\": 4, \"latency.mean\": 100.0}, {\"degrees\": \"2\", "
                        "\"loads\": 1, \"latency.mean\": 7.0}]}},"
                        " {\"name\": \"b\", \"loads\": {\"by_degree\": ["
                        "  {\"degrees\": \"1\", \"loads\": 6, \"latency.mean\": 50.0}, {\"degrees\": \"2\", \"loads\": "
                        "0, \"latency.mean\": 0.0}]}}]}",
                        NULL);
  is(json_object_get(run, "loads"),
     "[{\"degrees\": \"1\", \"loads\": 10, \"latency_sum\": 700.0}," /* 4 x 100 + 6 x 50 */
     " {\"degrees\": \"2\", \"loads\": 1, \"latency_sum\": 7.0}]");
  json_decref(run);
}

/* ---- the profile ---- */

static void put_counts(json_t *to, const char *key, size_t n, int first) {
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(list, json_integer(first + (int)i));
  json_object_set_new(to, key, list);
}

static json_int_t at(const json_t *o, const char *key, size_t i) {
  return json_integer_value(json_array_get(json_object_get(o, key), i));
}

static void half_the_resolution(void **state) {
  (void)state;
  json_t *run = json("{\"profile\": {\"intervals\": 65, \"every_cycles\": 100, \"counters\": {}}}");
  json_t *p = json_object_get(run, "profile");
  put_counts(json_object_get(p, "counters"), "insts", 65, 1);
  put_counts(p, "set_accesses", 65 * 2, 0); /* two sets, an interval after the other */
  put_counts(p, "set_hits", 65 * 2, 7);
  put_counts(p, "bank_bursts", 65 * 3, 0);
  put_counts(p, "bank_rows", 65 * 3, 0);
  assert_true(reduce_profile(run));
  p = json_object_get(run, "profile");
  is(json_object_get(p, "intervals"), "33");
  is(json_object_get(p, "every_cycles"), "200");
  const json_t *counters = json_object_get(p, "counters");
  assert_int_equal(json_array_size(json_object_get(counters, "insts")), 33);
  assert_int_equal(at(counters, "insts", 0), 1 + 2);
  assert_int_equal(at(counters, "insts", 31), 63 + 64);
  assert_int_equal(at(counters, "insts", 32), 65); /* the last has no neighbour */
  assert_int_equal(json_array_size(json_object_get(p, "set_accesses")), 33 * 2);
  assert_int_equal(at(p, "set_accesses", 0), 0 + 2); /* set 0 of intervals 0 and 1 */
  assert_int_equal(at(p, "set_accesses", 1), 1 + 3);
  assert_int_equal(at(p, "set_hits", 2), 11 + 13);
  assert_int_equal(at(p, "bank_bursts", 5), 8 + 11); /* bank 2 of intervals 2 and 3 */
  assert_false(reduce_profile(run));                 /* 33 intervals would become 17 */
  is(json_object_get(p, "intervals"), "33");
  json_decref(run);
  run = json("{}");
  assert_false(reduce_profile(run) || reduce_lines(run));
  json_decref(run);
}

/* ---- sources ---- */

static void sources(void **state) {
  (void)state;
  char folder[] = "/tmp/test_report_reduce.XXXXXX", small[64], large[64], odd[64];
  assert_non_null(mkdtemp(folder));
  const char *const names[] = {small, large, odd}, *const texts[] = {"line 1\n", "0123456789", "\xff\xfe"};
  snprintf(small, sizeof small, "%s/small.cu", folder);
  snprintf(large, sizeof large, "%s/large.cu", folder);
  snprintf(odd, sizeof odd, "%s/odd.cu", folder);
  for (size_t i = 0; i < 3; i++) {
    FILE *f = fopen(names[i], "w");
    assert_non_null(f);
    fputs(texts[i], f);
    fclose(f);
  }
  json_t *runs = json_pack("[{s:[{s:s}, {s:s}, {s:s}]}, {s:[{s:s}, {s:s}, {s:s}]}, {}]", "lines", "file", small, "file",
                           "", "file", "/nowhere.cu", "lines", "file", large, "file", odd, "file", small);
  json_t *got = reduce_sources(runs, 12); /* 7 bytes fit, 10 more do not, 2 more do but are no text */
  json_t *expected = json_pack("{s:s, s:n, s:n, s:n}", small, "line 1\n", "/nowhere.cu", large, odd);
  assert_true(json_equal(got, expected));
  json_decref(got);
  got = reduce_sources(runs, 17);
  assert_string_equal(json_string_value(json_object_get(got, large)), "0123456789");
  json_decref(got);
  json_decref(expected);
  json_decref(runs);
  for (size_t i = 0; i < 3; i++) unlink(names[i]);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(launches_of_a_kernel),     cmocka_unit_test(many_launches),
                                     cmocka_unit_test(totals_and_configuration), cmocka_unit_test(lines_over_launches),
                                     cmocka_unit_test(lines_that_stay),          cmocka_unit_test(loads_by_degree),
                                     cmocka_unit_test(half_the_resolution),      cmocka_unit_test(sources)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
