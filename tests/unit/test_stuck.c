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
#include "gpu/gpu.h"
#include "gpu/mem/dram.h"
#include "gpu/state/machine.h"
#include "gpu/mem/l2.h"
#include "units.h"

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

static void shut_from_dram(struct gpu *g) {
  for (uint32_t p = 0; p < g->subparts; p++) partition_slice(g->parts, p)->bank[0].from_dram.limit = 0;
}
static void shut_to_dram(struct gpu *g) {
  for (uint32_t p = 0; p < g->subparts; p++) partition_slice(g->parts, p)->to_dram.limit = 0;
}
static void shut_l2_misses(struct gpu *g) {
  for (uint32_t p = 0; p < g->subparts; p++) partition_slice(g->parts, p)->bank[0].miss.limit = 0;
}
static void shut_l2_input(struct gpu *g) {
  for (uint32_t p = 0; p < g->subparts; p++) partition_slice(g->parts, p)->bank[0].in.limit = 0;
}
static void shut_l2_replies(struct gpu *g) {
  for (uint32_t p = 0; p < g->subparts; p++) partition_slice(g->parts, p)->out.limit = 0;
}
static void shut_returns(struct gpu *g) {
  for (uint32_t c = 0; c < g->config.channels; c++) partition_dram(g->parts, c)->returns.limit = 0;
}
static void shut_l1_misses(struct gpu *g) {
  for (uint32_t i = 0; i < g->config.sms; i++) g->sm[i].l1d.missq_limit = 0;
}
static void shut_ejection(struct gpu *g) {
  for (uint32_t i = 0; i < g->config.sms; i++) g->sm[i].eject.limit = 0;
}

/* Barriers that release no warp. */
static bool issue_unreleased(void *ctx, uint32_t slot, uint32_t w, struct issued *o) {
  bool ok = fake_issue(ctx, slot, w, o);
  o->released = 0;
  return ok;
}
static void shut_barriers(struct gpu *g) {
  static struct feed_ops ops;
  (void)g;
  feed.code[5] = (struct inst){.pc = 5, .fetch_pc = 40, .ptx_line = 6, .kind = KIND_BARRIER};
  ops = fake_ops;
  ops.issue = issue_unreleased;
  feed.feed.ops = &ops;
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
        fprintf(stderr, "%s\n", e.msg);
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
                                          "L1 of SM 0: MSHRs", "to DRAM ", "DRAM channel", "queue 0 of 0",
                                          "it waits for the queue of DRAM channel ", "(dram.queue=0)", NULL});
}

static void l2_takes_nothing(void **state) {
  (void)state;
  expect(shut_l2,
         (const char *const[]){"SM 0 warp ", "(the data port is busy)", "memory pipe held by warp", "to DRAM 0 of 8",
                               "it waits for the data port of L2 sub-partition ", "(l2.port_bytes=32)", NULL});
}

static void sm_takes_no_reply(void **state) {
  (void)state;
  expect(shut_replies, (const char *const[]){"replies at SM 0: one waits in the interconnect, ejection queue 8 of 8, "
                                             "response queue 0 of 0",
                                             "it waits for the response queue of SM 0", "(sm.response_queue=0)", NULL});
}

/* The knob of whatever has no room is named. */
static void every_queue_names_its_knob(void **state) {
  static const struct {
    void (*shut)(struct gpu *);
    const char *knob;
  } at[] = {{shut_from_dram, "(l2.queue_from_dram=0)"}, {shut_to_dram, "(l2.queue_to_dram=0)"},
            {shut_l2_misses, "(l2.miss_queue=0)"},      {shut_l2_input, "(l2.queue_in=0)"},
            {shut_l2_replies, "(l2.queue_out=0)"},      {shut_returns, "(dram.return_queue=0)"},
            {shut_l1_misses, "(l1d.miss_queue=0)"},     {shut_ejection, "(sm.ejection_queue=0)"}};
  (void)state;
  for (size_t i = 0; i < sizeof at / sizeof *at; i++)
    expect(at[i].shut, (const char *const[]){"\n it waits for ", at[i].knob, NULL});
}

static void barriers_count_their_warps(void **state) {
  (void)state;
  expect(shut_barriers, (const char *const[]){"waits at a barrier: 4 of the block's 4 warps wait", NULL});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_shut),
      cmocka_unit_test(dram_takes_nothing),
      cmocka_unit_test(l2_takes_nothing),
      cmocka_unit_test(sm_takes_no_reply),
      cmocka_unit_test(every_queue_names_its_knob),
      cmocka_unit_test(barriers_count_their_warps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
