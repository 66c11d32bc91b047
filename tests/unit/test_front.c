/* test_front.c - the front end of sub-cores: experiments of Huerta et al., "Dissecting and Modeling the Architecture of
 * Modern GPU Cores", MICRO 2025 (Figure 4, Table 1, section 5.1.1), cycle by cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/gpu.h"
#include "gpu/state/uop.h"
#include "ptx/mach.h"
#include "units.h"

enum { LOG = 4096 };
static struct fake_feed feed;
static struct {
  uint64_t cycle;
  uint32_t warp, pc;
} seen[LOG];
static uint32_t issues;

static bool log_issue(void *ctx, uint32_t slot, uint32_t warp, struct issued *o) {
  struct fake_feed *f = ctx;
  assert_true(issues < LOG);
  seen[issues].cycle = o->cycle, seen[issues].warp = warp, seen[issues++].pc = f->w[slot][warp].pc;
  if (!fake_issue(ctx, slot, warp, o)) return false;
  for (uint32_t l = 0; l < 32 && o->space == SPACE_CONST; l++) o->addr[l] = 0x1000; /* one word for all lanes */
  return true;
}

/* Independent instructions, FP32 and INT in turn, so that one can issue every cycle. */
static void independent(uint32_t warps, uint32_t loops) {
  fake_kernel(&feed, 1, 1, warps, loops, 4096);
  for (uint32_t pc = 0; pc < FAKE_CODE - 2; pc++) {
    struct inst *i = &feed.code[pc];
    *i = (struct inst){.pc = pc, .fetch_pc = pc * 8, .kind = KIND_ALU, .pipe = PIPE_SP, .ndst = 1};
    i->lat = pc & 1 ? LAT_INT_ADD : LAT_F32_ADD;
    i->flags = pc & 1 ? 0 : INST_FLOAT;
    i->dst[0] = i->dst_arch[0] = (uint16_t)(1 + pc % 16);
  }
}

static void loads(uint32_t n) {
  for (uint32_t pc = 0; pc < n; pc++)
    feed.code[pc] = (struct inst){.pc = pc,
                                  .fetch_pc = pc * 8,
                                  .kind = KIND_LOAD,
                                  .pipe = PIPE_MEM,
                                  .space = SPACE_SHARED,
                                  .elem_bytes = 4,
                                  .vec = 1,
                                  .ndst = 1,
                                  .dst = {(uint16_t)(20 + pc)},
                                  .dst_arch = {(uint16_t)(20 + pc)}};
}

static struct gpu_config machine(const char *name) {
  struct gpu_config c;
  struct err e = {0};
  if (!gpu_config_load(&c, name, &e)) fail_msg("%s: %s", name, e.msg);
  c.sms = 1;
  return c;
}

static uint64_t run(const struct gpu_config *c) {
  struct err e = {0};
  struct gpu_stats st;
  static struct feed_ops ops;
  ops = fake_ops;
  ops.issue = log_issue;
  feed.feed.ops = &ops;
  issues = 0;
  struct gpu *g = gpu_new(c, NULL, &e);
  if (!g) fail_msg("%s", e.msg);
  if (!gpu_run_kernel(g, &feed.feed, &st, &e)) fail_msg("%s", e.msg);
  gpu_free(g);
  return st.cycles;
}

/* The cycle in which a warp issues the n-th of its instructions. */
static uint64_t cycle_of(uint32_t warp, uint32_t n) {
  for (uint32_t i = 0; i < issues; i++)
    if (seen[i].warp == warp && !n--) return seen[i].cycle;
  fail_msg("warp %u has fewer instructions", warp);
  return 0;
}

/* Turns of the warps of sub-core 0. */
static uint32_t turns(void) {
  uint32_t n = 0, last = UINT32_MAX;
  for (uint32_t i = 0; i < issues; i++)
    if (seen[i].warp % 4 == 0) n += seen[i].warp != last, last = seen[i].warp;
  return n;
}

/* Figure 4 a: the greedy warp issues in every cycle, then the youngest does. */
static void greedy_then_youngest(void **state) {
  (void)state;
  struct gpu_config c = machine("volta");
  c.warp_sched = SCHED_GTY;
  c.control_stall = 0;
  independent(16, 3);
  run(&c);
  uint64_t end[4];
  for (uint32_t q = 0; q < 4; q++) end[q] = cycle_of(q * 4, 100);
  assert_true(end[3] < end[2] && end[2] < end[1] && end[1] < end[0]);
  assert_true(turns() < 16); /* four warps, and the misses of the instruction cache */
  for (uint32_t n = 90; n < 110; n++) assert_int_equal(cycle_of(12, n + 1) - cycle_of(12, n), 1);
  c.warp_sched = SCHED_GTO;
  independent(16, 3);
  run(&c);
  assert_true(turns() < 16);
}

/* Figure 4 b: a stall count turns to another warp, and a warp alone waits. */
static void stall_counts(void **state) {
  (void)state;
  struct gpu_config c = machine("volta");
  for (uint32_t stall = 2; stall < 16; stall += 3) {
    c.control_stall = stall;
    independent(1, 4);
    run(&c);
    uint32_t body = FAKE_CODE - 1; /* the branch is its last */
    for (uint32_t loop = 2; loop < 4; loop++) {
      uint64_t wait = cycle_of(0, loop * body) - cycle_of(0, loop * body - 1);
      assert_int_equal(wait, stall); /* fetch and decode of the target take two */
    }
  }
  c.memory_stall = 6;
  independent(1, 1);
  loads(3);
  run(&c);
  assert_int_equal(cycle_of(0, 1) - cycle_of(0, 0), 6);
  assert_int_equal(cycle_of(0, 2) - cycle_of(0, 1), 6);
  assert_in_range(cycle_of(0, 3) - cycle_of(0, 2), 1, 5);
}

static void stall_of_an_instruction(void **state) {
  (void)state;
  struct gpu_config c = machine("volta");
  struct inst load = {.kind = KIND_LOAD, .pipe = PIPE_MEM}, add = {.kind = KIND_ALU}, sync = {.flags = INST_STALLS};
  struct inst branch = {.kind = KIND_BRANCH}, fence = {.kind = KIND_FENCE, .pipe = PIPE_MEM};
  assert_int_equal(uop_stall(&c, &load, &load), 4);
  assert_int_equal(uop_stall(&c, &load, &add), 0);
  assert_int_equal(uop_stall(&c, &load, NULL), 0);
  assert_int_equal(uop_stall(&c, &add, &load), 0);
  assert_int_equal(uop_stall(&c, &branch, &load), 5);
  assert_int_equal(uop_stall(&c, &sync, NULL), 5);
  assert_int_equal(uop_stall(&c, &fence, &add), 0);
  struct inst shuffle = {.kind = KIND_ALU, .lat = LAT_SHFL}, ldc = load;
  ldc.space = SPACE_CONST, ldc.addr_reg = 3;
  assert_int_equal(uop_stall(&c, &shuffle, &load), 4);
  assert_int_equal(uop_stall(&c, &load, &shuffle), 4);
  assert_int_equal(uop_stall(&c, &shuffle, &add), 0);
  assert_int_equal(uop_stall(&c, &ldc, &ldc), 8);
  assert_int_equal(uop_stall(&c, &ldc, &load), 4);
  assert_int_equal(uop_stall(&c, &ldc, &add), 0);
  c.const_interval = 0;
  assert_int_equal(uop_stall(&c, &ldc, &ldc), 4);
  assert_int_equal(mach_infos[MO_S2R].lat, LAT_SHFL); /* special registers come the same way */
}

/* Table 1, an Ampere GPU: the first five memory instructions issue one a cycle, the sixth eleven cycles after the
 * first, then one every four cycles (two each for the SM). */
static void memory_queue(void **state) {
  (void)state;
  struct gpu_config c = machine("ampere");
  c.memory_stall = 0;
  for (uint32_t warps = 1; warps <= 4; warps += 3) {
    independent(warps, 2), feed.spread_max = 1;
    loads(8);
    run(&c);
    static const uint32_t alone[8] = {0, 1, 2, 3, 4, 11, 15, 19}, four[8] = {0, 1, 2, 3, 4, 11, 19, 27};
    uint64_t first = UINT64_MAX;
    for (uint32_t w = 0; w < warps; w++)
      if (cycle_of(w, FAKE_CODE - 1) < first) first = cycle_of(w, FAKE_CODE - 1);
    for (uint32_t n = 0; n < 8; n++) {
      uint64_t at = UINT64_MAX;
      for (uint32_t w = 0; w < warps; w++)
        if (cycle_of(w, FAKE_CODE - 1 + n) < at) at = cycle_of(w, FAKE_CODE - 1 + n);
      if (warps == 1) assert_int_equal(at - first, alone[n]);
      else assert_in_range(at - first, four[n], four[n] + 1); /* the warps do not begin in the same cycle */
    }
  }
}

/* Shuffles take places of the same queue, of which one is free every fourth cycle; loads of constants issue every
 * eighth, by their stall counts. */
static void others_in_the_queue(void **state) {
  (void)state;
  static const uint32_t shuffles[8] = {0, 1, 2, 3, 4, 11, 15, 19};
  struct gpu_config c = machine("volta");
  uint32_t begin = 2 * (FAKE_CODE - 1); /* of the third turn, whose constants are there */
  c.memory_stall = 0;
  for (uint32_t constants = 0; constants < 2; constants++) {
    independent(1, 3), feed.spread_max = 1;
    loads(8);
    for (uint32_t pc = 0; pc < 8; pc++) {
      struct inst *i = &feed.code[pc];
      if (constants) i->space = SPACE_CONST, i->addr_reg = 3;
      else i->kind = KIND_ALU, i->pipe = PIPE_SP, i->lat = LAT_SHFL, i->space = SPACE_NONE;
    }
    run(&c);
    for (uint32_t n = 0; n < 8; n++)
      assert_int_equal(cycle_of(0, begin + n) - cycle_of(0, begin), constants ? 8 * n : shuffles[n]);
  }
}

/* Section 5.1.1: a constant operand that misses stops the sub-core for four cycles, then another warp issues. */
static void constant_operands(void **state) {
  (void)state;
  struct gpu_config c = machine("volta");
  c.warp_sched = SCHED_GTY;
  for (uint32_t wait = 4; wait <= 12; wait += 8) {
    c.imc_wait = wait;
    independent(8, 1); /* warps 0 and 4 are of sub-core 0 */
    feed.code[3].operand = 1;
    run(&c);
    uint32_t at = 0; /* the first warp in front of the operand */
    while (seen[at].warp % 4 || seen[at].pc != 2) at++;
    uint32_t other = at + 1;
    while (seen[other].warp % 4) other++;
    assert_int_not_equal(seen[other].warp, seen[at].warp);
    assert_int_equal(seen[other].cycle - seen[at].cycle, wait + 1);
    assert_true(cycle_of(seen[at].warp, 3) - seen[at].cycle > 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(greedy_then_youngest), cmocka_unit_test(stall_counts),
      cmocka_unit_test(memory_queue),         cmocka_unit_test(stall_of_an_instruction),
      cmocka_unit_test(constant_operands),    cmocka_unit_test(others_in_the_queue),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
