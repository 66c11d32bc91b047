/* test_config.c - configuration files, --set and the check of the whole geometry. */
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
#include "gpu/config.h"

static void fails(bool ok, const struct err *e, const char *needle) {
  assert_false(ok);
  if (!strstr(e->msg, needle)) fail_msg("message '%s' does not say '%s'", e->msg, needle);
}

static void bundled_files_load(void **state) {
  (void)state;
  static const char *const names[] = {"fermi", "medic", "decoupled-l1d", "sharing-aware", "sharing-aware-kepler"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct gpu_config c;
    struct err e = {0};
    if (!gpu_config_load(&c, names[i], &e)) fail_msg("%s: %s", names[i], e.msg);
    if (!gpu_config_check(&c, &e)) fail_msg("%s: %s", names[i], e.msg);
  }
}

static void fermi_is_the_default(void **state) {
  (void)state;
  struct gpu_config file, dflt;
  struct err e = {0};
  gpu_config_defaults(&dflt);
  assert_true(gpu_config_load(&file, "fermi", &e));
  assert_memory_equal(&file, &dflt, sizeof file);
  assert_int_equal(gpu_config_hash(&file), gpu_config_hash(&dflt));
}

static void papers_differ_where_they_say(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  assert_true(gpu_config_load(&c, "medic", &e));
  assert_int_equal(c.l2.sets * c.l2.ways * c.l2.line * c.subparts * c.channels, 768 * 1024);
  assert_int_equal(c.l2.ways, 16);
  assert_int_equal(c.l2_write, WRITE_THROUGH);
  assert_true(c.l2_banked);
  assert_int_equal(c.dram_mhz, 1674);
  assert_true(gpu_config_load(&c, "decoupled-l1d", &e));
  assert_int_equal(c.l2.sets * c.l2.ways * c.l2.line * c.subparts, 128 * 1024);
  assert_true(gpu_config_load(&c, "sharing-aware", &e));
  assert_int_equal(c.icnt_kind, ICNT_MESH);
  assert_int_equal(c.l1d_alloc, ALLOC_ON_FILL);
  assert_true(gpu_config_load(&c, "sharing-aware-kepler", &e));
  assert_int_equal(c.l2.sets * c.l2.ways * c.l2.line * c.subparts * c.channels, 2 * 1024 * 1024);
  assert_int_equal(c.dram_queue, 32); /* through two bases */
}

static void one_value(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  uint64_t before = gpu_config_hash(&c);
  assert_true(gpu_config_set(&c, "l1d.ways", "8", "--set", &e));
  assert_int_equal(c.l1d.ways, 8);
  assert_true(gpu_config_hash(&c) != before);
  assert_true(gpu_config_set(&c, "sm.shared_bytes", "16 KiB", "--set", &e));
  assert_int_equal(c.sm_shared, 16384);
  assert_true(gpu_config_set(&c, "clock.core_mhz", "1.4GHz", "--set", &e) == false);
  assert_true(gpu_config_set(&c, "clock.core_mhz", "2 GHz", "--set", &e));
  assert_int_equal(c.core_mhz, 2000);
  assert_true(gpu_config_set(&c, "l2.rop_latency", "200 cycles", "--set", &e));
  assert_int_equal(c.rop_latency, 200);
  assert_true(gpu_config_set(&c, "latency.int_div", "100", "--set", &e));
  assert_int_equal(c.lat[LAT_INT_DIV].latency, 100);
  assert_true(gpu_config_set(&c, "sm.warp_scheduler", "lrr", "--set", &e));
  assert_int_equal(c.warp_sched, SCHED_LRR);
  fails(gpu_config_set(&c, "l1d.wyas", "8", "--set", &e), &e, "did you mean 'l1d.ways'");
  fails(gpu_config_set(&c, "l1d.ways", "0", "--set", &e), &e, "from 1 to 4096 way");
  fails(gpu_config_set(&c, "l1d.ways", "-1", "--set", &e), &e, "whole number from 1 to 4096");
  fails(gpu_config_set(&c, "l1d.ways", "99999999999999999999", "--set", &e), &e, "whole number");
  fails(gpu_config_set(&c, "l2.rop_latency", "7 ms", "--set", &e), &e, "its unit is L2 cycle");
  fails(gpu_config_set(&c, "sm.warp_scheduler", "gtoo", "--set", &e), &e, "gto, lrr, two-level");
  fails(gpu_config_set(&c, "l1d.perfect", "maybe", "--set", &e), &e, "true or false");
}

static void file_is(const char *text, const char *message) {
  char path[] = "/tmp/sluice-config-XXXXXX.yaml";
  int fd = mkstemps(path, 5);
  assert_true(fd >= 0);
  close(fd);
  assert_true(path_write_whole(path, text, strlen(text)));
  struct gpu_config c;
  struct err e = {0};
  bool ok = gpu_config_load(&c, path, &e) && gpu_config_check(&c, &e);
  unlink(path);
  if (message) fails(ok, &e, message);
  else if (!ok) fail_msg("%s", e.msg);
}

static void bad_files(void **state) {
  (void)state;
  file_is("base: fermi\nl2: {sets: 128}\n", NULL);
  file_is("l2:\n  setz: 128\n", ".yaml:2: unknown key 'l2.setz'; did you mean 'l2.sets'?");
  file_is("l2:\n  sets: many\n", ".yaml:2: 'l2.sets' needs a whole number from 1 to 65536 set, not 'many'");
  file_is("l2: [1, 2]\n", ".yaml:1: 'l2' needs a value or a mapping");
  file_is("- l2\n", "a configuration is a mapping");
  file_is("l2: {sets: 64,\n]\n", ".yaml:2:");
  file_is("sms: 3\nsms: 4\n", ".yaml:2: 'sms' is given twice");
  file_is("sms: 3\nbase: fermi\n", ".yaml:2: 'base' must come before every knob");
  file_is("base: fermy\n", "did you mean 'fermi'");
}

static void impossible_machines(void **state) {
  (void)state;
  static const char *const rows[][2] = {
      {"l1d:\n  sets: 48\n", ".yaml:2: l1d.sets is 48"},
      {"l1d: {sets: 128}\n", "fermi-hash is defined for 32 and 64"},
      {"l2: {line_bytes: 96}\n", "power of two"},
      {"l2: {queue_in: 0}\n", "from 1 to 256 request"},
      {"clock: {core_mhz: 0}\n", "from 1 to 10000 MHz"},
      {"sms: 1000\n", "from 1 to 256 SM"},
      {"sm: {threads: 1000}\n", "multiple of the warp size"},
      {"sm: {threads: 4096}\n", "at most 2048"},
      {"sm: {threads: 512}\n", "sm.cta_threads is 1024"},
      {"dram: {banks: 8}\n", "4 bank bits, but dram.banks is 8"},
      {"dram: {burst: 16}\n", "6 burst bits"},
      {"dram: {tRC: 30}\n", ".yaml:1: dram.tRC is 30: a row cycle cannot be shorter than tRAS + tRP = 40"},
      {"dram: {address_map: RBC}\n", "has 3 bits, not 64"},
      {"dram: {bank_groups: 3}\n", "not a multiple of dram.bank_groups"},
      {"icnt: {injection_buffer: 2}\n", "a packet of one line has 5"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) file_is(rows[i][0], rows[i][1]);
}

static void unknown_gpu(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  fails(gpu_config_load(&c, "ferni", &e), &e, "did you mean 'fermi'?");
  fails(gpu_config_load(&c, "/nonexistent/x.yaml", &e), &e, "No such file");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bundled_files_load),
      cmocka_unit_test(fermi_is_the_default),
      cmocka_unit_test(papers_differ_where_they_say),
      cmocka_unit_test(one_value),
      cmocka_unit_test(bad_files),
      cmocka_unit_test(impossible_machines),
      cmocka_unit_test(unknown_gpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
