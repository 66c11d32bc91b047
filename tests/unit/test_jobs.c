/* test_jobs.c - how many simulations run at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "proc/jobs.h"

static char *one[] = {"sluice", "run", "--json", "a", NULL};
static char *two[] = {"sluice", "run", "--threads", "2", NULL};
static char *four[] = {"sluice", "run", "--threads=4", NULL};
static char *of_program[] = {"sluice", "run", "--", "./a", "--threads", "8", NULL};

static void share_the_processors(void **state) {
  (void)state;
  const struct job plain = {.argv = one}, pairs = {.argv = two}, fours = {.argv = four}, own = {.argv = of_program};
  const struct job mixed[] = {plain, fours, pairs};
  assert_int_equal(jobs_at_once(&plain, 1, 16), 16);
  assert_int_equal(jobs_at_once(&pairs, 1, 16), 8);
  assert_int_equal(jobs_at_once(&pairs, 1, 2), 1);
  assert_int_equal(jobs_at_once(&fours, 1, 2), 1); /* more threads than processors */
  assert_int_equal(jobs_at_once(mixed, 3, 16), 4);
  assert_int_equal(jobs_at_once(&own, 1, 16), 16); /* an argument of the program */
  assert_int_equal(jobs_at_once(NULL, 0, -1), 1);  /* their number is not known */
}

static void last_jobs_share_idle_processors(void **state) {
  (void)state;
  assert_int_equal(jobs_threads(2, 0, 0), 2); /* the only one */
  assert_int_equal(jobs_threads(2, 1, 0), 1);
  assert_int_equal(jobs_threads(2, 0, 5), 1);
  assert_int_equal(jobs_threads(16, 0, 3), 4);  /* four to start */
  assert_int_equal(jobs_threads(16, 10, 1), 3); /* six processors for two */
  assert_int_equal(jobs_threads(16, 15, 0), 1);
  assert_int_equal(jobs_threads(4, 7, 0), 1); /* more jobs than processors */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(share_the_processors),
                                     cmocka_unit_test(last_jobs_share_idle_processors)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
