/* test_energy.c - sums over the table of energies: each event lands in its component once, and scales. The fit to the
 * reference is checked by tools/energy_fit.py, which needs a build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/energy.h"

static void near(double a, double b) {
  assert_true(a - b < 1e-9 * b && b - a < 1e-9 * b);
}

/* 1000 flits of 1955 pJ, and 10 reads for loads, 4 for write misses, 6 writes, 2 activates. */
static void by_hand(void **state) {
  (void)state;
  struct gpu_stats s = {.flits_up = 600,
                        .flits_down = 400,
                        .cycles = 100,
                        .thread_insts = 3200}; /* no warp instruction: no idle lane either */
  struct energy_report r = energy_report(&s, 700, NULL);
  near(r.joule[ENERGY_icnt], 1000 * 1955e-12);
  near(r.joule[ENERGY_mem_ctrl], 100 * 1646e-12);
  near(r.total, 1000 * 1955e-12 + 100 * 1646e-12);
  near(r.watt, r.total / (100 / 700e6));
  near(r.per_joule, 32 / r.total);
  s = (struct gpu_stats){
      .dram_reads = 14, .dram_writes = 6, .dram_activates = 2, .l2_write_accesses = 3, .l2_write_hits = 1};
  near(energy_of(&s, ENERGY_dram), (10 * 25580.0 + 10 * 5800.0 + 2 * 8400.0) * 1e-12);
  s.dram_reads = 2; /* fewer than the writes could have fetched: none was for a load */
  near(energy_of(&s, ENERGY_dram), (8 * 5800.0 + 2 * 8400.0) * 1e-12);
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

/* Ten warp instructions of eight lanes each that read a register and write one: 240 lanes idle, 20 other operands. */
static void idle_lanes_and_other_operands(void **state) {
  (void)state;
  struct gpu_stats s = {.warp_insts = 10, .thread_insts = 80, .reg_reads = 10, .reg_writes = 10};
  near(energy_of(&s, ENERGY_regfile), (10 * 1140.0 + 20 * 95.0 + 240 * 34.8) * 1e-12);
  near(energy_of(&s, ENERGY_exec), 240 * 11.7e-12);
}

/* MeDiC's tables on its machine: 28320 bits (section 6.5's items for lines of 128 B), looked into once per L2 access
 * and once per DRAM request. */
static void tables_of_schemes(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  assert_true(gpu_config_load(&c, "medic", &e));
  struct gpu_stats s = {.cycles = 700000000, .l2_accesses = 1000, .dram_requests = 500, .l1d_read_accesses = 9};
  struct energy_tables t;
  assert_true(energy_of_tables("medic", &c, &s, &t));
  near(t.bits, 28320);
  near(t.probes, 1500);
  near(t.joule, 1500 * 0.8e-12);
  near(t.mm2, 28320 * 0.42e-6);
  near(t.leak_joule, 28320 * 105e-9); /* a second */
  assert_true(energy_of_tables("decoupled-l1d", &c, &s, &t));
  near(t.joule, 9 * 2e-12);
  assert_true(energy_of_tables("baseline", &c, &s, &t));
  assert_true(t.bits == 0 && t.joule == 0);
  assert_false(energy_of_tables("swl-best", &c, &s, &t));
  near(energy_leakage_watt(&c), 37.5);
  near(energy_refresh_watt(&c), 12 * 0.045);
}

/* A millisecond of a board: its constant power, and events by their own figures. */
static void power_of_a_board(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  struct energy_board b;
  assert_true(gpu_config_load(&c, "volta", &e));
  c.launch_cycles = 32000;
  struct gpu_stats s = {.cycles = 1100000, /* and the overhead: 1,132,000 at 1,132 MHz */
                        .kernels = 1,
                        .warp_insts = 1000000,
                        .l1d_sectors_read = 100000,
                        .l1d_sectors_written = 50000,
                        .shared_accesses = 12500,
                        .l2_sectors_read = 60000,
                        .l2_sectors_stored = 40000,
                        .dram_read_bytes = 32 * 70000,
                        .dram_write_bytes = 32 * 30000};
  assert_true(energy_board(&c, &s, &b));
  near(b.constant, 94.5);
  near(b.instructions, 1e6 * 290e-12 / 1e-3);
  near(b.l1, 200000 * 407e-12 / 1e-3);
  near(b.l2, 100000 * 1206e-12 / 1e-3);
  near(b.dram, 100000 * 1016e-12 / 1e-3);
  near(b.watt, b.constant + b.instructions + b.l1 + b.l2 + b.dram);
  s.cycles = 0;
  assert_false(energy_board(&c, &s, &b)); /* nothing was timed */
  s.cycles = 1;
  assert_true(gpu_config_load(&c, "a100", &e));
  assert_false(energy_board(&c, &s, &b)); /* not known */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_hand),
      cmocka_unit_test(factors_scale_one_row),
      cmocka_unit_test(nothing_costs_nothing),
      cmocka_unit_test(idle_lanes_and_other_operands),
      cmocka_unit_test(tables_of_schemes),
      cmocka_unit_test(power_of_a_board),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
