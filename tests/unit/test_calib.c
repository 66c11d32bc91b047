/* test_calib.c - the arithmetic of sluice calibrate on a small reference table: errors, correlation, goals. */
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
#include "cli/cmd/calib.h"

static const char good[] =
    "case,kernels,cycles,thread_insts,warp_insts,l1d.read.accesses,l1d.read.hits,mem.latency.mean\n"
    "copy,1,1000,32000,1000,1000,500,300\n"
    "chase_l2,1,10000,3200,100,1000,100,200.5\n"
    "other,1,100000,320,10,5,5,0\n";

static bool load(struct calib_table *t, const char *text, struct err *e) {
  char path[] = "/tmp/sluice-calib-XXXXXX";
  close(mkstemp(path));
  assert_true(path_write_whole(path, text, strlen(text)));
  bool ok = calib_read(t, path, e);
  unlink(path);
  return ok;
}

static void same_as_reference(struct calib_table *t) {
  for (size_t i = 0; i < t->count; i++) {
    memcpy(t->at[i].ours, t->at[i].reference, sizeof t->at[i].ours);
    t->at[i].ran = true;
  }
}

static void reading(void **state) {
  (void)state;
  struct calib_table t;
  struct err e = {0};
  assert_true(load(&t, good, &e));
  assert_int_equal(t.count, 3);
  assert_int_equal(t.columns, 7);
  assert_string_equal(t.at[1].name, "chase_l2");
  assert_float_equal(calib_get(&t, t.at[1].reference, "mem.latency.mean"), 200.5, 0);
  assert_float_equal(calib_get(&t, t.at[1].reference, "no.such"), 0, 0);
  calib_free(&t);
  assert_false(load(&t, "name,cycles\n", &e));
  assert_non_null(strstr(e.msg, ":1: the first column must be `case`"));
  calib_free(&t);
  assert_false(load(&t, "case,cycles,x\na,1\n", &e));
  assert_non_null(strstr(e.msg, ":2: 1 values"));
  calib_free(&t);
  assert_false(load(&t, "case,cycles\na,many\n", &e));
  assert_non_null(strstr(e.msg, ":2: 'cycles' of a is not a number"));
  calib_free(&t);
}

static void equal_meets_every_goal(void **state) {
  (void)state;
  struct calib_table t;
  struct err e = {0};
  char lines[1024];
  assert_true(load(&t, good, &e));
  same_as_reference(&t);
  struct calib_overall o = calib_overall(&t);
  assert_float_equal(o.mean, 0, 0);
  assert_float_equal(o.correlation, 1, 1e-12);
  assert_int_equal(calib_goals_missed(&t, lines, sizeof lines), 0);
  assert_null(calib_worst(&t, &t.at[0]).column);
  calib_free(&t);
}

/* Set one value of one case and see how many goals that misses. */
static unsigned missed_with(size_t row, const char *column, double value, const char *says) {
  struct calib_table t;
  struct err e = {0};
  char lines[2048];
  assert_true(load(&t, good, &e));
  same_as_reference(&t);
  for (size_t k = 0; k < t.columns; k++)
    if (!strcmp(t.column[k], column)) t.at[row].ours[k] = value;
  unsigned n = calib_goals_missed(&t, lines, sizeof lines);
  if (says && !strstr(lines, says)) fail_msg("'%s' does not say '%s'", lines, says);
  calib_free(&t);
  return n;
}

static void each_goal_can_be_missed(void **state) {
  (void)state;
  assert_int_equal(missed_with(2, "thread_insts", 321, "other: thread_insts is 321, the reference has 320"), 1);
  assert_int_equal(missed_with(0, "l1d.read.accesses", 1011, "+1.1 %"), 1);
  assert_int_equal(missed_with(0, "l1d.read.accesses", 1010, NULL), 0);
  assert_int_equal(missed_with(2, "l1d.read.accesses", 6, NULL), 0); /* one access more of five */
  assert_int_equal(missed_with(0, "l1d.read.hits", 512, "51.2 %, the reference has 50.0 %"), 1);
  assert_int_equal(missed_with(0, "l1d.read.hits", 509, NULL), 0);
  assert_int_equal(missed_with(1, "mem.latency.mean", 205, "chase_l2: mean latency is off by +2.2 %"), 1);
  assert_int_equal(missed_with(0, "cycles", 1040, "copy: bandwidth is off by -3.8 %"), 1);
  assert_int_equal(missed_with(2, "cycles", 116000, "worst error of cycles is 16.00 % (other)"), 2); /* and the mean */
}

/* A case of several launches: its cache tables in the reference are those of the last ones. */
static void partial_tables_are_passed_over(void **state) {
  (void)state;
  static const char text[] = "case,kernels,cycles,warp_insts,l1d.read.accesses,l2.read.accesses,l2.accesses\n"
                             "bfs,9,1000,100000,500,500,1000\n";
  struct calib_table t;
  struct err e = {0};
  char lines[1024];
  assert_true(load(&t, text, &e));
  same_as_reference(&t);
  t.at[0].ours[2] = 100100, t.at[0].ours[3] = 5000, t.at[0].ours[4] = 5000;
  assert_int_equal(calib_goals_missed(&t, lines, sizeof lines), 0);
  assert_string_equal(calib_worst(&t, &t.at[0]).column, "warp_insts");
  t.at[0].ours[2] = 100101; /* it races, but not that much */
  assert_int_equal(calib_goals_missed(&t, lines, sizeof lines), 1);
  t.at[0].ours[5] = 1011; /* this one is a total */
  assert_int_equal(calib_goals_missed(&t, lines, sizeof lines), 2);
  calib_free(&t);
}

static void errors_are_relative(void **state) {
  (void)state;
  struct calib_table t;
  struct err e = {0};
  assert_true(load(&t, good, &e));
  same_as_reference(&t);
  t.at[0].ours[1] = 1100; /* cycles +10 % */
  t.at[1].ours[1] = 9500; /* -5 % */
  t.at[0].ours[4] = 900;  /* l1d.read.accesses -10 % */
  struct calib_overall o = calib_overall(&t);
  assert_float_equal(o.mean, 0.05, 1e-9);
  assert_float_equal(o.worst, 0.10, 1e-9);
  assert_string_equal(o.worst_case, "copy");
  struct calib_worst w = calib_worst(&t, &t.at[0]);
  assert_string_equal(w.column, "l1d.read.accesses");
  assert_float_equal(w.error, -0.10, 1e-9);
  struct calib_column c = calib_column_stats(&t, 4);
  assert_int_equal(c.cases, 2); /* the case with five accesses says nothing */
  assert_float_equal(c.mean, 0.05, 1e-9);
  assert_string_equal(c.worst_case, "copy");
  t.at[2].ran = false;
  char lines[512];
  assert_true(calib_goals_missed(&t, lines, sizeof lines) >= 1);
  assert_non_null(strstr(lines, "other: did not run"));
  calib_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reading),
      cmocka_unit_test(equal_meets_every_goal),
      cmocka_unit_test(each_goal_can_be_missed),
      cmocka_unit_test(partial_tables_are_passed_over),
      cmocka_unit_test(errors_are_relative),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
