/* test_record.c - the result record: what is written is read back, bytes are stable, totals are sums. */
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
#include "results/record.h"

static struct record *sample(const char *scheme) {
  struct gpu_config c;
  gpu_config_defaults(&c);
  struct record *r =
      record_new(&(struct record_head){.config = &c, .program = "prog a b", .mode = "timing", .scheme = scheme});
  struct record_launch l = {.kernel = "first", .grid = {2, 1, 1}, .block = {64, 1, 1}, .timing = true};
  struct gpu_stats s = {.kernels = 1, .cycles = 100, .thread_insts = 6400, .warp_insts = 200};
  s.l1d_read_accesses = 10, s.l1d_read_hits = 7;
  s.mem_latency_sum = 300, s.mem_latency_count = 2, s.mem_latency_max = 200;
  record_add(r, &l, &s);
  record_add_scheme_counter(r, "bucl.loads", 3);
  l.kernel = "second";
  s = (struct gpu_stats){.kernels = 1, .cycles = 300, .thread_insts = 1600, .warp_insts = 50};
  s.mem_latency_sum = 100, s.mem_latency_count = 2, s.mem_latency_max = 60;
  record_add(r, &l, &s);
  record_add_scheme_counter(r, "bucl.loads", 4);
  record_add_scheme_counter(r, "bucl.stalls", 0);
  record_add_copy(r, 4096, true);
  return r;
}

static double value(const struct record_file *f, size_t k, const char *key) {
  double v;
  if (!record_value(f, k, key, &v)) fail_msg("no %s", key);
  return v;
}

static void read_back(void **state) {
  (void)state;
  char path[] = "/tmp/sluice-record-XXXXXX";
  close(mkstemp(path));
  struct err e = {0};
  struct record *r = sample("bucl");
  assert_true(record_write(r, path, &e));
  struct record_file *f = record_open(path, &e);
  assert_non_null(f);
  assert_string_equal(record_field(f, "scheme"), "bucl");
  assert_string_equal(record_field(f, "program"), "prog a b");
  assert_int_equal(strlen(record_field(f, "config_hash")), 16);
  assert_int_equal(record_kernels(f), 2);
  assert_string_equal(record_kernel_name(f, 1), "second");
  assert_float_equal(value(f, 0, "cycles"), 100, 0);
  assert_float_equal(value(f, 0, "ipc"), 64, 1e-9);
  assert_float_equal(value(f, 0, "l1d.read.hit_rate"), 0.7, 1e-9);
  assert_float_equal(value(f, RECORD_TOTALS, "kernels"), 2, 0);
  assert_float_equal(value(f, RECORD_TOTALS, "cycles"), 400, 0);
  assert_float_equal(value(f, RECORD_TOTALS, "ipc"), 20, 1e-9);
  assert_float_equal(value(f, RECORD_TOTALS, "mem.latency.mean"), 100, 1e-9); /* mean of all, not of means */
  assert_float_equal(value(f, RECORD_TOTALS, "mem.latency.max"), 200, 0);
  assert_float_equal(value(f, RECORD_TOTALS, "bucl.loads"), 7, 0);
  double v;
  assert_false(record_value(f, RECORD_TOTALS, "bucl.stalls", &v)); /* zeros are left out */
  assert_false(record_value(f, 2, "cycles", &v));
  record_close(f);
  record_free(r);
  unlink(path);
}

static void bytes_are_stable(void **state) {
  (void)state;
  struct record *a = sample("baseline"), *b = sample("baseline"), *c = sample("bucl");
  char *ta = record_text(a), *tb = record_text(b), *tc = record_text(c);
  assert_string_equal(ta, tb);
  assert_string_not_equal(ta, tc);
  char *at = strstr(tc, "\"bucl\""); /* the name is all that differs in what was counted */
  assert_non_null(at);
  char *fixed = malloc(strlen(tc) + 8);
  sprintf(fixed, "%.*s\"baseline\"%s", (int)(at - tc), tc, at + 6);
  char *ea = strstr(ta, "\n \"energy\":"), *ec = strstr(fixed, "\n \"energy\":"); /* but for the schemes' tables */
  assert_non_null(ea);
  assert_non_null(ec);
  assert_string_not_equal(ea, ec);
  *ea = *ec = 0;
  assert_string_equal(ta, fixed);
  free(fixed), free(ta), free(tb), free(tc);
  record_free(a), record_free(b), record_free(c);
}

static void refuses(const char *textual, const char *needle) {
  char path[] = "/tmp/sluice-record-XXXXXX";
  close(mkstemp(path));
  assert_true(path_write_whole(path, textual, strlen(textual)));
  struct err e = {0};
  assert_null(record_open(path, &e));
  if (!strstr(e.msg, needle)) fail_msg("'%s' does not say '%s'", e.msg, needle);
  unlink(path);
}

static void bad_records(void **state) {
  (void)state;
  refuses("{", ":1:");
  refuses("[]", "not a result record");
  refuses("{\"format\": 99, \"kernels\": [], \"totals\": {}}", "record format 99");
  struct err e = {0};
  assert_null(record_open("/nonexistent/r.json", &e));
  struct record *r = sample("x");
  assert_false(record_write(r, "/nonexistent/r.json", &e));
  assert_non_null(strstr(e.msg, "No such file"));
  record_free(r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(read_back),
      cmocka_unit_test(bytes_are_stable),
      cmocka_unit_test(bad_records),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
