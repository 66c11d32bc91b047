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
#include "gpu/common/config.h"

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
  assert_int_equal(c.dram_mhz, 837);
  assert_int_equal(c.icnt_ports, 2);
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
  fails(gpu_config_set(&c, "sm.warp_scheduler", "gtoo", "--set", &e), &e, "gto, lrr, two-level, gty");
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

/* Records and their hash do not depend on where files lie. */
static void paths_do_not_count(void **state) {
  (void)state;
  struct gpu_config a, b, c;
  struct err e = {0};
  gpu_config_defaults(&a), gpu_config_defaults(&b), gpu_config_defaults(&c);
  assert_true(gpu_config_set(&a, "profile.file", "/home/one/x.profile", "--set", &e));
  assert_true(gpu_config_set(&b, "profile.file", "/tmp/two/x.profile", "--set", &e));
  assert_true(gpu_config_set(&c, "profile.file", "/tmp/two/y.profile", "--set", &e));
  assert_true(gpu_config_hash(&a) == gpu_config_hash(&b));
  assert_true(gpu_config_hash(&a) != gpu_config_hash(&c));
}

static void bad_files(void **state) {
  (void)state;
  file_is("base: fermi\nl2: {sets: 128}\n", NULL);
  file_is("l2:\n  setz: 128\n", ".yaml:2: unknown key 'l2.setz'; did you mean 'l2.sets'?");
  file_is("l2:\n  sets: many\n", ".yaml:2: 'l2.sets' needs a whole number from 1 to 65536 set, not 'many'");
  file_is("l2: [1, 2]\n", ".yaml:1: 'l2' needs a value or a mapping");
  file_is("base: volta\nsm: {fixed_latency: false, ibuffer: 2, register_banks: 8, collectors: 4}\n", NULL);
  file_is("- l2\n", "a configuration is a mapping");
  file_is("l2: {sets: 64,\n]\n", ".yaml:2:");
  file_is("sms: 3\nsms: 4\n", ".yaml:2: 'sms' is given twice");
  file_is("sms: 3\nbase: fermi\n", ".yaml:2: 'base' must come before every knob");
  file_is("base: fermi\nbase: fermi\n", ".yaml:2: 'base' is given twice");
  file_is("base: fermy\n", "did you mean 'fermi'");
}

/* Whatever a knob may be, values that are not: refused from a file with its line and from --set, with what is allowed.
 */
static void refused(const struct knob_row *r, const char *value, const char *allowed) {
  char path[] = "/tmp/sluice-config-XXXXXX.yaml", text[512], where[80];
  int fd = mkstemps(path, 5);
  assert_true(fd >= 0);
  close(fd);
  int n = snprintf(text, sizeof text, "base: fermi\n# the next line is wrong\n%s: \"%s\"\n", r->key, value);
  assert_true(n < (int)sizeof text && path_write_whole(path, text, (size_t)n));
  struct gpu_config c;
  struct err e = {0};
  bool ok = gpu_config_load(&c, path, &e);
  unlink(path);
  snprintf(where, sizeof where, "%s:3: ", path);
  if (ok) fail_msg("%s: '%s' is taken", r->key, value);
  fails(ok, &e, where);
  fails(ok, &e, r->key);
  fails(ok, &e, allowed);
  gpu_config_defaults(&c);
  e = (struct err){0};
  fails(gpu_config_set(&c, r->key, value, "--set", &e), &e, "--set: ");
  fails(false, &e, allowed);
}

static void number_refuses(const struct knob_row *r) {
  char range[120], value[32], unit[64];
  snprintf(range, sizeof range, "from %u to %u%s%s", r->min, r->max, *r->unit ? " " : "", r->unit);
  if (r->min) snprintf(value, sizeof value, "%u", r->min - 1), refused(r, value, range);
  if (r->max < UINT32_MAX) snprintf(value, sizeof value, "%llu", r->max + 1ull), refused(r, value, range);
  static const char *const no_numbers[] = {"-1", "99999999999999999999", "many", "1.5", "", "true"};
  for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) refused(r, no_numbers[i], range);
  snprintf(value, sizeof value, "%u furlongs", r->min);
  snprintf(unit, sizeof unit, *r->unit ? "its unit is %s" : "it has no unit", r->unit);
  refused(r, value, unit);
}

static void every_knob_refuses(void **state) {
  (void)state;
  char longer[160];
  memset(longer, 'x', sizeof longer);
  longer[sizeof longer - 1] = 0;
  for (uint32_t i = 0; i < gpu_knob_row_count; i++) {
    const struct knob_row *r = &gpu_knob_rows[i];
    if (r->type == KNOB_UINT) number_refuses(r);
    if (r->type == KNOB_BOOL) refused(r, "maybe", "true or false"), refused(r, "2", "true or false");
    if (r->type == KNOB_TEXT) refused(r, longer, "longer than");
    if (r->type != KNOB_WORD) continue;
    for (uint32_t k = 0; r->words[k]; k++) refused(r, "nonesuch", r->words[k]);
    refused(r, "0", "must be one of");
  }
}

/* The ends of each knob's range are taken by the knob itself, whatever the whole then says. */
static void every_knob_takes_its_ends(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  for (uint32_t i = 0; i < gpu_knob_row_count; i++) {
    const struct knob_row *r = &gpu_knob_rows[i];
    struct err e = {0};
    char value[2][32];
    if (r->type != KNOB_UINT) continue;
    snprintf(value[0], sizeof value[0], "%u", r->min);
    snprintf(value[1], sizeof value[1], "0x%x", r->max);
    for (int k = 0; k < 2; k++) {
      if (!gpu_config_set(&c, r->key, value[k], "--set", &e)) fail_msg("%s: %s", r->key, e.msg);
      assert_int_equal(*(const uint32_t *)((const char *)&c + r->offset), k ? r->max : r->min);
    }
  }
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
      {"sm: {threads: 512}\n", ".yaml:1: sm.cta_threads is 1024"}, /* the line of the other number */
      {"sms: 256\nmemory: {channels: 64, subpartitions: 16}\n", "from 1 to 8"},
      {"memory:\n  channels: 64\n  subpartitions: 4\nsms: 257\n", ".yaml:4: 'sms' must be from 1 to 256 SM, not 257"},
      {"dram: {banks: 16}\nsm:\n  sub_cores: true\n  schedulers: 3\n", ".yaml:4: "},
      {"l1d: {ways: 4096}\nl2:\n  sets: 1024\n  ways: 4096\n", ".yaml:4: l2.ways is 4096: with 1024 sets"},
      {"dram: {banks: 8}\n", "4 bank bits, but dram.banks is 8"},
      {"dram: {burst: 16}\n", "6 burst bits"},
      {"dram: {tREFI: 100, tRFC: 100}\n", ".yaml:1: dram.tRFC is 100: a refresh must be shorter than dram.tREFI (100)"},
      {"dram: {tRC: 30}\n", ".yaml:1: dram.tRC is 30: a row cycle cannot be shorter than tRAS + tRP = 40"},
      {"dram: {address_map: RBC}\n", "has 3 bits, not 64"},
      {"dram: {bank_groups: 3}\n", "not a multiple of dram.bank_groups"},
      {"base: volta\nsm: {register_banks: 8}\n", ".yaml:2: sm.register_banks is 8, but has no effect with sm.fixed_l"},
      {"base: volta\nsm:\n  collectors: 4\n", ".yaml:3: sm.collectors is 4, but has no effect with sm.fixed_latency"},
      {"sm:\n  ibuffer: 3\n",
       ".yaml:2: sm.ibuffer is 3, but more than 2 entries have no effect without sm.sub_cores and sm.f"},
      {"base: volta\nsm:\n  fixed_latency: false\n", "/volta.yaml:"}, /* its line there */
      {"icnt: {injection_buffer: 2}\n", "a packet of one line has 5"},
      {"icnt: {reply_flit_bytes: 8}\n",
       "a packet of one line has 17 (l1d.line_bytes, l2.line_bytes, icnt.reply_flit_bytes)"},
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
      cmocka_unit_test(bundled_files_load),           cmocka_unit_test(fermi_is_the_default),
      cmocka_unit_test(papers_differ_where_they_say), cmocka_unit_test(one_value),
      cmocka_unit_test(paths_do_not_count),           cmocka_unit_test(bad_files),
      cmocka_unit_test(every_knob_refuses),           cmocka_unit_test(every_knob_takes_its_ends),
      cmocka_unit_test(impossible_machines),          cmocka_unit_test(unknown_gpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
