/* test_sm.c - the pipeline of an SM on written programs. Cycles are compared between two programs, or two machines,
 * that differ in one thing, with a hand-computed difference; instructions are in their cache.
 */
#include <stdio.h>

#include "written_feed.h"

static struct written f;

static uint64_t cycles(const char *set, uint32_t warps, void (*program)(uint32_t n), uint32_t n) {
  struct gpu_config c = written_machine(1, (const char *const[]){set, NULL});
  written_begin(&f, 1, warps);
  program(n);
  written_exit(&f);
  return written_run(&f, &c, 2).cycles;
}

/* `n` additions, each of which waits for the one before. */
static void chain(uint32_t n) {
  for (uint32_t k = 0; k < n; k++) written_int_add(&f, 1, 1);
}

/* Each addition but the first waits for the result of the one before, and the warp ends after that of the last: a cycle
 * more of latency is one more for each of them. */
static void results_take_their_latency(void **state) {
  (void)state;
  for (uint32_t n = 4; n <= 12; n += 4) {
    uint64_t before = cycles("latency.int_add=10", 1, chain, n);
    for (uint32_t latency = 11; latency < 14; latency++) {
      char set[64];
      snprintf(set, sizeof set, "latency.int_add=%u", latency);
      assert_int_equal(cycles(set, 1, chain, n) - before, n * (latency - 10));
    }
  }
}

/* Additions that wait for nothing. */
static void apart(uint32_t n) {
  for (uint32_t k = 0; k < n; k++) written_int_add(&f, (uint16_t)(1 + k), 0);
}

/* Four warps of forty additions are 160 on two SP pipes, 80 each; one that takes another after `interval` cycles needs
 * 80 more for each cycle of interval. From 2 on the pipes are what holds the warps up; when the last instructions find
 * one pipe busy and the other idle, some cycles are lost or won. */
static void pipes_take_their_interval(void **state) {
  (void)state;
  uint64_t two = cycles("interval.int_add=2", 4, apart, 40), three = cycles("interval.int_add=3", 4, apart, 40),
           four = cycles("interval.int_add=4", 4, apart, 40);
  assert_in_range(three - two, 76, 84);
  assert_in_range(four - three, 76, 84);
}

/* A register is not written while an earlier write of it is pending. */
static void again(uint32_t n) {
  for (uint32_t k = 0; k < n; k++) written_int_add(&f, 1, 0);
}
static void writes_wait_for_writes(void **state) {
  (void)state;
  assert_int_equal(cycles("latency.int_add=21", 1, again, 8) - cycles("latency.int_add=20", 1, again, 8), 8);
}

/* Chains whose additions read register 1 and another: of the same of 16 banks (17), or of the next (18). A bank serves
 * one access a cycle, so that a pair of one bank is read a cycle later. */
static void pairs(uint32_t other) {
  for (uint32_t k = 0; k < 10; k++) {
    written_int_add(&f, 1, 1);
    struct inst *i = &f.code[f.count - 1];
    i->src[1] = i->src_arch[1] = (uint16_t)other;
    i->nsrc = 2;
  }
}
static void banks_serve_one_a_cycle(void **state) {
  (void)state;
  uint64_t same = cycles("sms=1", 1, pairs, 17), next = cycles("sms=1", 1, pairs, 18);
  assert_int_equal(same - next, 10);
}

/* Six loads of shared memory, lane l of word l * `words`. */
static void shared(uint32_t words) {
  for (uint32_t k = 0; k < 6; k++)
    written_memory(&f, KIND_LOAD, SPACE_SHARED, (uint16_t)(1 + k), (struct written_access){.lane = 4 * words});
}

/* 32 banks of a word. A stride of 1, 3 or 5 words touches each bank once, a stride of 2 sixteen banks twice, of 8 four
 * banks eight times, of 32 one bank 32 times; words that all lanes share are read once. A load holds the pipe one cycle
 * for each pass, so that loads of sixteen passes take eight more each than loads of eight (loads of one pass leave the
 * pipe idle now and then). */
static void banks_of_shared_memory(void **state) {
  (void)state;
  static const uint32_t stride[] = {0, 1, 2, 3, 4, 5, 8, 16, 32, 48}, passes[] = {1, 1, 2, 1, 4, 1, 8, 16, 32, 16};
  struct gpu_config c = written_machine(1, NULL);
  uint64_t one = cycles("sms=1", 1, shared, 1), eight = cycles("sms=1", 1, shared, 8);
  for (uint32_t k = 0; k < sizeof stride / sizeof *stride; k++) {
    written_begin(&f, 1, 1);
    shared(stride[k]);
    written_exit(&f);
    struct gpu_stats st = written_run(&f, &c, 2);
    assert_int_equal(st.shared_accesses, 6);
    assert_int_equal(st.shared_conflicts, 6 * (passes[k] - 1));
    if (passes[k] == 1) assert_int_equal(st.cycles, one);
    if (passes[k] > 8) assert_int_equal(st.cycles - eight, 6 * (passes[k] - 8));
  }
}

/* A load of shared memory and an addition that waits for it. */
static void load(uint32_t remote) {
  written_memory(&f, KIND_LOAD, SPACE_SHARED, 1, (struct written_access){.lane = 4, .remote = remote});
  written_int_add(&f, 2, 1);
}

/* A CTA's own shared memory answers after 3 cycles, that of another of the cluster after 180, or what the knobs say. */
static void shared_memory_of_others_is_far(void **state) {
  (void)state;
  uint64_t own = cycles("sms=1", 1, load, 0);
  assert_int_equal(cycles("sms=1", 1, load, 1) - own, 180 - 3);
  assert_int_equal(cycles("sm.remote_shared_latency=50", 1, load, 1) - own, 50 - 3);
  assert_int_equal(cycles("sm.shared_latency=30", 1, load, 0) - own, 30 - 3);
  assert_int_equal(cycles("sm.shared_latency=30", 1, load, 1) - own, 180 - 3);
}

/* With fixed latencies: four sub-cores. */
static uint64_t fixed_cycles(const char *set, uint32_t warps, void (*program)(uint32_t n), uint32_t n) {
  struct gpu_config c =
      written_machine(1, (const char *const[]){"sm.schedulers=4", "sm.sub_cores=true", "sm.fixed_latency=true",
                                               "l1t.unified=true", set, NULL});
  written_begin(&f, 1, warps);
  program(n);
  written_exit(&f);
  return written_run(&f, &c, 2).cycles;
}

/* A load of shared memory with `n` results in registers of one bank, and an addition that waits for the last. */
static void wide(uint32_t n) {
  written_memory(&f, KIND_LOAD, SPACE_SHARED, 16, (struct written_access){.lane = 4});
  struct inst *i = &f.code[f.count - 1];
  for (uint32_t d = 0; d < n; d++) i->dst[d] = i->dst_arch[d] = (uint16_t)(16 * (d + 1));
  i->ndst = (uint8_t)n;
  written_int_add(&f, 1, (uint16_t)(16 * n));
}

/* A bank takes one result a cycle; with fixed latencies four take no more time than one. */
static void results_wait_for_no_bank(void **state) {
  (void)state;
  assert_int_equal(cycles("sms=1", 1, wide, 4) - cycles("sms=1", 1, wide, 1), 3);
  assert_int_equal(fixed_cycles("sms=1", 1, wide, 4), fixed_cycles("sms=1", 1, wide, 1));
}

/* Loads of shared memory or textures whose lanes touch one word. */
static void close_loads(uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    written_memory(&f, KIND_LOAD, SPACE_SHARED, (uint16_t)(1 + k), (struct written_access){0});
}
static void textures(uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    written_memory(&f, KIND_LOAD, SPACE_TEX, (uint16_t)(1 + k), (struct written_access){0});
}

/* Of 20 loads of a warp each but the first waits a cycle more for each cycle of its sub-core's interval; four warps are
 * in four sub-cores, whose loads cross over. The memory unit's interval is between all of them. */
static void memory_instructions_keep_their_interval(void **state) {
  (void)state;
  uint64_t eight = fixed_cycles("sm.memory_interval=8", 1, close_loads, 20);
  assert_in_range(fixed_cycles("sm.memory_interval=10", 1, close_loads, 20) - eight, 19 * 2, 20 * 2);
  assert_in_range(fixed_cycles("sm.memory_interval=8", 4, close_loads, 20) - eight, 0, 12);
  eight = fixed_cycles("sm.memory_unit_interval=8", 4, close_loads, 20);
  assert_in_range(fixed_cycles("sm.memory_unit_interval=10", 4, close_loads, 20) - eight, 79 * 2, 80 * 2);
}

/* A warp has eight groups of four lanes: eight cycles at one a cycle, four at two. Other loads do not wait for them. */
static void textures_take_four_lanes_at_a_time(void **state) {
  (void)state;
  assert_in_range(fixed_cycles("l1t.quads=1", 4, textures, 20), 640, 720);
  assert_in_range(fixed_cycles("l1t.quads=2", 4, textures, 20), 320, 440);
  assert_int_equal(fixed_cycles("l1t.quads=1", 4, close_loads, 20), fixed_cycles("l1t.quads=8", 4, close_loads, 20));
}

/* Bytes four apart, 128 B in all: four segments of 32 B for the fermi-like machine, one line with fixed latencies. */
static uint64_t accesses_of_bytes(const char *const *set) {
  struct gpu_config c = written_machine(1, set);
  written_begin(&f, 1, 1);
  written_memory(&f, KIND_LOAD, SPACE_GLOBAL, 1, (struct written_access){.at = 1 << 20, .lane = 4});
  f.code[0].elem_bytes = 1;
  written_exit(&f);
  return written_run(&f, &c, 2).l1d_read_accesses;
}
static void bytes_of_a_line_are_one_access(void **state) {
  (void)state;
  static const char *const fixed[] = {"sm.schedulers=4", "sm.sub_cores=true", "sm.fixed_latency=true", NULL};
  assert_int_equal(accesses_of_bytes(NULL), 4);
  assert_int_equal(accesses_of_bytes(fixed), 1);
}

/* Two rounds of loads of `n` lines of constants, each of which needs what the one before it read. */
static struct gpu_stats two_rounds(const char *second_level, uint32_t n, bool cold) {
  struct gpu_config c =
      written_machine(1, (const char *const[]){"sm.schedulers=4", "sm.sub_cores=true", "sm.fixed_latency=true",
                                               "l1c.sets=8", "l1c.ways=4", "l1c.latency=27", second_level, NULL});
  written_begin(&f, 1, 1);
  for (uint32_t k = 0; k < 2 * n; k++) {
    written_memory(&f, KIND_LOAD, SPACE_CONST, 1, (struct written_access){.at = k % n * 64});
    f.code[f.count - 1].addr_reg = 1;
  }
  written_exit(&f);
  return written_run(&f, &c, cold ? 1 : 2);
}

/* Thirty lines of 64 B fit the first level of 2 KiB; forty do not, and come from the second in its latency. From the L2
 * they come 256 B at a time. */
static void constants_have_two_levels(void **state) {
  (void)state;
  struct gpu_stats near = two_rounds("l15c.latency=89", 30, false), far = two_rounds("l15c.latency=189", 30, false);
  assert_int_equal(near.l15c_accesses, 0);
  assert_int_equal(far.cycles, near.cycles);
  near = two_rounds("l15c.latency=89", 40, false), far = two_rounds("l15c.latency=189", 40, false);
  assert_int_equal(near.l15c_accesses, 80);
  assert_int_equal(near.l15c_misses, 0);
  assert_in_range(far.cycles - near.cycles, 7900, 8100);
  struct gpu_stats cold = two_rounds("l15c.latency=89", 40, true);
  assert_int_equal(cold.l15c_accesses, 80);
  assert_in_range(cold.l15c_misses, 10, 20); /* the second half of 256 B may still be under way */
  assert_int_equal(two_rounds("l15c.latency=0", 40, false).l15c_accesses, 0);
}

/* Loads of 32 different words of constants: a lookup each. */
static void words(uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    written_memory(&f, KIND_LOAD, SPACE_CONST, 1, (struct written_access){.lane = 4});
    f.code[f.count - 1].addr_reg = 1;
  }
}

static void constants_keep_their_interval(void **state) {
  (void)state;
  struct gpu_config each =
      written_machine(1, (const char *const[]){"sm.schedulers=4", "sm.sub_cores=true", "sm.fixed_latency=true",
                                               "l1c.latency=27", "l1c.word_by_word=true", NULL});
  struct gpu_config second = each;
  second.l1c_interval = 2;
  written_begin(&f, 1, 1);
  words(10);
  written_exit(&f);
  uint64_t one = written_run(&f, &each, 2).cycles;
  assert_int_equal(written_run(&f, &second, 2).cycles - one, 10 * 31);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_take_their_latency),
      cmocka_unit_test(pipes_take_their_interval),
      cmocka_unit_test(writes_wait_for_writes),
      cmocka_unit_test(banks_serve_one_a_cycle),
      cmocka_unit_test(banks_of_shared_memory),
      cmocka_unit_test(shared_memory_of_others_is_far),
      cmocka_unit_test(results_wait_for_no_bank),
      cmocka_unit_test(memory_instructions_keep_their_interval),
      cmocka_unit_test(textures_take_four_lanes_at_a_time),
      cmocka_unit_test(bytes_of_a_line_are_one_access),
      cmocka_unit_test(constants_have_two_levels),
      cmocka_unit_test(constants_keep_their_interval),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
