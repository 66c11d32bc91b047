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

static void add_many(struct record *r, uint32_t n, bool overlap) {
  for (uint32_t i = 0; i < n; i++) {
    struct record_launch l = {
        .kernel = i % 2 ? "odd" : "even", .grid = {1 + i % 3, 1, 1}, .block = {32, 1, 1}, .timing = true, .launch = i};
    struct gpu_stats s = {.kernels = 1, .cycles = 10 + i % 7, .warp_insts = i, .mem_latency_max = i};
    if (overlap) {
      struct record_launch two[2] = {l, l};
      s.kernels = 2;
      two[0].own = two[1].own = (struct gpu_stats){.kernels = 1, .cycles = 10};
      two[1].stream = 1;
      two[0].end = two[1].end = 10;
      record_add_overlapping(r, two, 2, 0, &s);
    } else {
      record_add(r, &l, &s);
    }
    record_add_scheme_counter(r, "bucl.loads", i);
    record_commit(r);
  }
}

static struct record_file *read_text(struct record *r) {
  char path[] = "/tmp/sluice-record-XXXXXX";
  close(mkstemp(path));
  struct err e = {0};
  assert_true(record_write(r, path, &e));
  struct record_file *f = record_open(path, &e);
  assert_non_null(f);
  unlink(path);
  return f;
}

static double sum_of(const struct record_file *f, const char *key) {
  double sum = 0, v;
  for (size_t k = 0; k < record_kernels(f); k++)
    if (record_value(f, k, key, &v)) sum += v;
  return sum;
}

/* Beyond the first launches a row stands for all that are alike; sums stay exact. On request each has its entry. */
static void many_launches_fold(void **state) {
  (void)state;
  enum { N = RECORD_SINGLE_LAUNCHES + 6000 };
  struct gpu_config c;
  gpu_config_defaults(&c);
  struct record_head h = {.config = &c, .mode = "timing", .scheme = "bucl"};
  struct record *r = record_new(&h);
  add_many(r, N, false);
  struct record_file *f = read_text(r);
  assert_int_equal(record_kernels(f), RECORD_SINGLE_LAUNCHES + 6); /* two kernels, three grids */
  assert_int_equal(record_launches(f), N);
  assert_float_equal(value(f, RECORD_TOTALS, "kernels"), N, 0);
  assert_float_equal(value(f, RECORD_TOTALS, "warp_insts"), (double)N * (N - 1) / 2, 0);
  assert_float_equal(sum_of(f, "warp_insts"), (double)N * (N - 1) / 2, 0);
  assert_float_equal(sum_of(f, "bucl.loads"), (double)N * (N - 1) / 2, 0);
  assert_float_equal(value(f, RECORD_SINGLE_LAUNCHES, "launches"), 1000, 0);
  assert_float_equal(value(f, RECORD_SINGLE_LAUNCHES + 5, "mem.latency.max"), N - 1, 0);
  record_close(f);
  record_free(r);
  h.every_launch = true;
  r = record_new(&h);
  add_many(r, RECORD_SINGLE_LAUNCHES + 10, false);
  f = read_text(r);
  assert_int_equal(record_kernels(f), RECORD_SINGLE_LAUNCHES + 10);
  record_close(f);
  record_free(r);
}

static void overlapping_launches_fold(void **state) {
  (void)state;
  enum { N = RECORD_SINGLE_LAUNCHES };
  struct gpu_config c;
  gpu_config_defaults(&c);
  struct record_head h = {.config = &c, .mode = "timing", .scheme = "bucl"};
  struct record *r = record_new(&h);
  add_many(r, N, true);
  struct record_file *f = read_text(r);
  assert_int_equal(record_launches(f), 2 * N);
  assert_float_equal(value(f, RECORD_TOTALS, "kernels"), 2 * N, 0);
  assert_float_equal(sum_of(f, "kernels"), 2 * N, 0);
  assert_float_equal(value(f, RECORD_TOTALS, "warp_insts"), (double)N * (N - 1) / 2, 0);
  record_close(f);
  record_free(r);
}

/* More kinds of launches than there are rows: by kernel, and then all others in one. */
static void rows_are_bounded(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  struct record_head h = {.config = &c, .mode = "functional", .scheme = "baseline"};
  struct record *r = record_new(&h);
  for (uint32_t i = 0; i < RECORD_SINGLE_LAUNCHES + 5000; i++) {
    char name[32];
    snprintf(name, sizeof name, "k%u", i % 500);
    struct record_launch l = {.kernel = name, .grid = {i + 1, 1, 1}, .block = {32, 1, 1}};
    record_add(r, &l, &(struct gpu_stats){.kernels = 1, .warp_insts = 3});
    record_commit(r);
  }
  struct record_file *f = read_text(r);
  assert_in_range(record_kernels(f), RECORD_SINGLE_LAUNCHES + 200, RECORD_SINGLE_LAUNCHES + 256);
  assert_float_equal(sum_of(f, "warp_insts"), 3.0 * (RECORD_SINGLE_LAUNCHES + 5000), 0);
  record_close(f);
  record_free(r);
}

/* What a process leaves that ends at any point is what it had committed. */
static void outlives_the_process(void **state) {
  (void)state;
  char dir[] = "/tmp/sluice-record-XXXXXX", path[64], state_file[64];
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/process", dir);
  snprintf(state_file, sizeof state_file, "%s/process-1", dir);
  struct gpu_config c;
  gpu_config_defaults(&c);
  struct record_head h = {.config = &c, .mode = "timing", .scheme = "bucl", .state = path};
  struct record *r = record_new(&h);
  assert_string_equal(record_state(r), state_file);
  add_many(r, RECORD_SINGLE_LAUNCHES + 100, false);
  record_add_copy(r, 77, true);
  struct record_launch l = {.kernel = "never committed", .timing = true};
  record_add(r, &l, &(struct gpu_stats){.kernels = 1, .cycles = 1});
  h.state = state_file;
  struct err e = {0};
  struct record *again = record_recover(&h, &e);
  assert_non_null(again);
  struct record *whole = record_new(&(struct record_head){.config = &c, .mode = "timing", .scheme = "bucl"});
  add_many(whole, RECORD_SINGLE_LAUNCHES + 100, false);
  record_add_copy(whole, 77, true);
  char *a = record_text(again), *b = record_text(whole);
  assert_string_equal(a, b);
  free(a), free(b);
  record_free(again), record_free(whole), record_free(r);
  char text[80];
  snprintf(text, sizeof text, "%s.text", state_file);
  unlink(text), unlink(state_file), rmdir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_launches_fold), cmocka_unit_test(overlapping_launches_fold),
      cmocka_unit_test(rows_are_bounded),   cmocka_unit_test(outlives_the_process),
      cmocka_unit_test(read_back),          cmocka_unit_test(bytes_are_stable),
      cmocka_unit_test(bad_records),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
