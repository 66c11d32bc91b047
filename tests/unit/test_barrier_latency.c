/* test_barrier_latency.c - the barrier unit of an SM with fixed latencies (sub_cores.c), by hand: an arrival every
 * sm.barrier_interval cycles, and warps that continue sm.barrier_latency cycles after the last. */
#include "gpu/sm/sm.h"
#include "scheme_rig.h"

static struct gpu *machine(uint32_t latency, uint32_t interval) {
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 1;
  settings_apply(&c, "sm.schedulers=4,sm.sub_cores=true,sm.fixed_latency=true");
  c.barrier_latency = latency;
  c.barrier_interval = interval;
  struct gpu *g = gpu_new(&c, NULL, &e);
  if (!g) fail_msg("%s", e.msg);
  g->now = 100;
  return g;
}

/* Returns whether the warps still wait in cycle `now`. */
static uint64_t waiting_at(struct gpu *g, uint64_t now) {
  struct sm *s = &g->sm[0];
  g->now = now;
  s->wake_at = UINT64_MAX;
  if (s->lets) sm_sub_go(s);
  return s->barrier;
}

static void one_warp_takes_22_cycles(void **state) {
  (void)state;
  struct gpu *g = machine(20, 2);
  struct sm *s = &g->sm[0];
  s->barrier = 1;
  sm_sub_arrive(s);
  sm_sub_let(s, 1);
  s->none_to_issue = true;
  assert_int_equal(waiting_at(g, 121), 1);
  assert_int_equal(s->wake_at, 122);
  assert_true(s->none_to_issue);
  assert_int_equal(waiting_at(g, 122), 0);
  assert_false(s->none_to_issue);
  assert_false(s->lets);
  gpu_free(g);
}

/* Two CTAs of two warps: arrivals in cycles 102, 104, 106, 108. */
static void arrivals_take_turns(void **state) {
  (void)state;
  struct gpu *g = machine(20, 2);
  struct sm *s = &g->sm[0];
  s->barrier = 15;
  for (uint32_t cta = 0; cta < 2; cta++) {
    for (uint32_t w = 0; w < 2; w++) sm_sub_arrive(s);
    sm_sub_let(s, 3ull << 2 * cta);
  }
  assert_int_equal(waiting_at(g, 123), 15);
  assert_int_equal(waiting_at(g, 124), 12);
  assert_int_equal(s->wake_at, 128);
  assert_int_equal(waiting_at(g, 127), 12);
  assert_int_equal(waiting_at(g, 128), 0);
  gpu_free(g);
}

/* As many barriers end as there are warps, more often than the ring is long. */
static void the_ring_comes_round(void **state) {
  (void)state;
  struct gpu *g = machine(20, 0);
  struct sm *s = &g->sm[0];
  for (uint32_t round = 0; round < 3; round++) {
    s->barrier = UINT64_MAX;
    for (uint32_t w = 0; w < 64; w++) sm_sub_let(s, 1ull << w);
    assert_true(waiting_at(g, g->now + 19) == UINT64_MAX);
    assert_int_equal(waiting_at(g, g->now + 1), 0);
  }
  gpu_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_warp_takes_22_cycles), cmocka_unit_test(arrivals_take_turns),
                                     cmocka_unit_test(the_ring_comes_round)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
