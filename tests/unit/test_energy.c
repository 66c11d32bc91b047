/* test_energy.c - sums over the table of energies: each event lands in its component once, and scales. The fit to the
 * reference is checked by tools/energy_fit.py, which needs a build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/energy.h"

static void near(double a, double b) {
  assert_true(a - b < 1e-9 * b && b - a < 1e-9 * b);
}

/* 1000 flits of 1955 pJ, and 10 reads for loads, 4 for write misses, 6 writes, 2 activates. */
static void by_hand(void **state) {
  (void)state;
  struct gpu_stats s = {.flits_up = 600, .flits_down = 400, .cycles = 100, .thread_insts = 3200};
  struct energy_report r = energy_report(&s, 700, NULL);
  near(r.joule[ENERGY_icnt], 1000 * 1955e-12);
  near(r.joule[ENERGY_mem_ctrl], 100 * 1646e-12);
  near(r.total, 1000 * 1955e-12 + 100 * 1646e-12);
  near(r.watt, r.total / (100 / 700e6));
  near(r.per_joule, 32 / r.total);
  s = (struct gpu_stats){
      .dram_reads = 14, .dram_writes = 6, .dram_activates = 2, .l2_write_accesses = 3, .l2_write_hits = 1};
  near(energy_of(&s, ENERGY_dram), (10 * 25580.0 + 10 * 5389.0 + 2 * 7975.0) * 1e-12);
  s.dram_reads = 2; /* fewer than the writes could have fetched: none was for a load */
  near(energy_of(&s, ENERGY_dram), (8 * 5389.0 + 2 * 7975.0) * 1e-12);
}

/* No row counts something twice within a component, and halving one changes the total by half of its share. */
static void factors_scale_one_row(void **state) {
  (void)state;
  struct gpu_stats s;
  for (size_t i = 0; i < sizeof s / sizeof(uint64_t); i++) ((uint64_t *)&s)[i] = 1000 + i;
  double factor[256];
  for (uint32_t i = 0; i < energy_event_count; i++) factor[i] = 1;
  double whole = energy_report(&s, 700, NULL).total, parts = 0;
  for (uint32_t i = 0; i < energy_event_count; i++) {
    factor[i] = 0.5;
    double share = 2 * (whole - energy_report(&s, 700, factor).total);
    double want = energy_events_of(&s, i) * energy_events[i].picojoule * 1e-12;
    assert_true(share - want < 1e-12 * whole && want - share < 1e-12 * whole); /* a difference of large numbers */
    parts += share;
    factor[i] = 1;
  }
  near(parts, whole);
}

static void nothing_costs_nothing(void **state) {
  (void)state;
  struct gpu_stats s = {0};
  struct energy_report r = energy_report(&s, 700, NULL);
  assert_true(r.total == 0 && r.watt == 0 && r.per_joule == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_hand),
      cmocka_unit_test(factors_scale_one_row),
      cmocka_unit_test(nothing_costs_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
