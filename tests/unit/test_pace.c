/* test_pace.c - when windows are open: by the time that chunks of cycles take with and without them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu/pace.h"

/* Chunks that take `on` ns with windows and `off` without; returns how many had windows. */
static uint32_t run(struct pace *p, uint32_t chunks, uint64_t on, uint64_t off) {
  uint32_t with = 0;
  for (uint32_t i = 0; i < chunks; i++) {
    with += p->on;
    pace_chunk(p, p->on ? on : off);
  }
  return with;
}

enum { TRIAL = 1 + 2 * PACE_PAIRS };

static void windows_that_gain_stay(void **state) {
  (void)state;
  struct pace p;
  pace_init(&p);
  assert_true(p.on); /* a short program has them */
  assert_int_equal(run(&p, TRIAL, 700, 1000), 1 + PACE_PAIRS);
  assert_int_equal(run(&p, PACE_KEPT, 700, 1000), PACE_KEPT);
  assert_true(run(&p, 10000, 700, 1000) > 9900);
}

static void windows_that_lose_go(void **state) {
  (void)state;
  struct pace p;
  pace_init(&p);
  run(&p, TRIAL, 1100, 1000);
  assert_int_equal(run(&p, PACE_KEPT, 1100, 1000), 0);
  assert_true(run(&p, 10000, 1100, 1000) < 120);
  pace_init(&p);
  run(&p, TRIAL, 990, 1000); /* not worth two cores */
  assert_false(p.on);
}

/* A chunk of the three in which the host did other work changes nothing. */
static void one_long_chunk(void **state) {
  (void)state;
  for (uint32_t late = 0; late < TRIAL; late++)
    for (uint32_t gain = 0; gain < 2; gain++) {
      struct pace p;
      pace_init(&p);
      for (uint32_t i = 0; i < TRIAL; i++) pace_chunk(&p, i == late ? 100000 : p.on == gain ? 800 : 1000);
      assert_int_equal(p.on, gain);
    }
}

/* What was true of one part of a program is asked again in the next. */
static void a_program_changes(void **state) {
  (void)state;
  struct pace p;
  pace_init(&p);
  run(&p, 3000, 1100, 1000);
  assert_true(run(&p, 3000, 600, 1000) > 3000 - PACE_LONGEST - TRIAL);
  assert_true(run(&p, 3000, 1100, 1000) < PACE_LONGEST + 2 * TRIAL + 40);
}

/* The clock stands between launches, and a chunk may span several. */
static void cycles_of_several_launches(void **state) {
  (void)state;
  struct pace p;
  pace_init(&p);
  for (uint32_t launch = 0; launch < 4; launch++) {
    for (uint32_t i = 0; i < PACE_CHUNK / 2; i++) pace_cycle(&p);
    assert_true(p.since);
    pace_pause(&p);
    assert_false(p.since);
    pace_pause(&p);
  }
  assert_int_equal(p.chunk, 1); /* the second ends with the next cycle */
  pace_cycle(&p);
  pace_cycle(&p);
  assert_true(p.chunk <= 2);
  for (uint32_t i = 0; i < 20 * PACE_CHUNK; i++) pace_cycle(&p);
  assert_true(p.kept);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(windows_that_gain_stay), cmocka_unit_test(windows_that_lose_go),
                                     cmocka_unit_test(one_long_chunk), cmocka_unit_test(a_program_changes),
                                     cmocka_unit_test(cycles_of_several_launches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
