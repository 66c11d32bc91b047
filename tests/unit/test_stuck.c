/* test_stuck.c - queues shut on purpose: the watchdog ends the launch and its message leads from the warps to the queue
 * that is shut, through those that are full behind it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/dram.h"
#include "gpu/gpu_impl.h"
#include "gpu/l2.h"

static struct fake_feed feed;

static void shut_dram(struct gpu *g) {
  for (uint32_t c = 0; c < g->config.channels; c++) partition_dram(g->parts, c)->limit = 0;
}
static void shut_l2(struct gpu *g) {
  for (uint32_t p = 0; p < g->subparts; p++) partition_slice(g->parts, p)->bank[0].data_free = UINT64_MAX;
}
static void shut_replies(struct gpu *g) {
  for (uint32_t i = 0; i < g->config.sms; i++) g->sm[i].response.limit = 0;
}

static void expect(void (*shut)(struct gpu *), const char *const *words) {
  struct gpu_config c;
  struct gpu_stats st;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 3;
  struct gpu *g = gpu_new(&c, NULL, &e);
  assert_non_null(g);
  gpu_set_watchdog(g, 20000);
  fake_kernel(&feed, 7, 12, 4, 6, 256 * 1024);
  assert_true(gpu_run_kernel(g, &feed.feed, &st, &e)); /* the code is in the instruction caches from now on */
  fake_kernel(&feed, 7, 12, 4, 6, 16 * 1024 * 1024);
  if (shut) shut(g);
  bool ok = gpu_run_kernel(g, &feed.feed, &st, &e);
  assert_int_equal(ok, !shut);
  if (shut) {
    assert_int_equal(e.code, ERR_STUCK);
    for (; *words; words++)
      if (!strstr(e.msg, *words)) {
        print_message("%s\n", e.msg);
        fail_msg("the message does not say: %s", *words);
      }
  }
  gpu_free(g);
}

static void nothing_is_shut(void **state) {
  (void)state;
  expect(NULL, NULL);
}

static void dram_takes_nothing(void **state) {
  (void)state;
  expect(shut_dram, (const char *const[]){"nothing issued for 2000", "SM 0 warp ",
                                          "queues from there to memory and back:", "memory pipe held by warp",
                                          "L1 of SM 0: MSHRs", "to DRAM ", "DRAM channel", "queue 0 of 0", NULL});
}

static void l2_takes_nothing(void **state) {
  (void)state;
  expect(shut_l2, (const char *const[]){"SM 0 warp ", "(the data port is busy)", "memory pipe held by warp",
                                        "to DRAM 0 of 8", NULL});
}

static void sm_takes_no_reply(void **state) {
  (void)state;
  expect(shut_replies, (const char *const[]){"replies at SM 0: one waits in the interconnect, ejection queue 8 of 8, "
                                             "response queue 0 of 0",
                                             NULL});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_shut),
      cmocka_unit_test(dram_takes_nothing),
      cmocka_unit_test(l2_takes_nothing),
      cmocka_unit_test(sm_takes_no_reply),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
