/* test_modern.c - the machines since Volta: sub-cores and their pipes, the sectored L1, hashed partitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/mem/addrmap.h"
#include "gpu/gpu.h"
#include "gpu/slots/slots.h"
#include "units.h"

static const char *const machines[] = {"volta", "turing", "ampere", "a100", "hopper"};
static struct fake_feed feed;

static struct gpu_config machine(const char *name) {
  struct gpu_config c;
  struct err e = {0};
  if (!gpu_config_load(&c, name, &e)) fail_msg("%s: %s", name, e.msg);
  return c;
}

static uint64_t run(struct gpu_config *c, const char *scheme, bool skip, struct gpu_stats *st) {
  struct err e = {0};
  struct gpu *g = gpu_new(c, scheme, &e);
  if (!g) fail_msg("%s: %s", c->name, e.msg);
  gpu_set_skip(g, skip);
  if (!gpu_run_kernel(g, &feed.feed, st, &e)) fail_msg("%s: %s", c->name, e.msg);
  gpu_free(g);
  return st->cycles;
}

/* Random code; most instructions have a constant operand, in one of four lines. */
static void operand_kernel(uint64_t seed) {
  fake_kernel(&feed, seed, 24, 4, 6, 1 << 16);
  for (uint32_t pc = 0; pc < FAKE_CODE; pc++) feed.code[pc].operand = (uint8_t)(pc % 5);
}

/* Random code: all laws hold (they are checked after every launch), skipping idle time changes nothing. */
static void random_code(void **state) {
  (void)state;
  for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
    struct gpu_config c = machine(machines[m]);
    struct gpu_stats a, b;
    c.sms = 4;
    for (uint64_t seed = 1; seed < 3; seed++) {
      operand_kernel(seed);
      run(&c, NULL, true, &a);
      operand_kernel(seed);
      run(&c, NULL, false, &b);
      assert_true(c.imc_lines == 0 || a.imc_misses > 0);
      assert_true(c.tlb_entries == 0 || a.tlb_misses > 0);
      for (uint32_t i = 0; i < gpu_stat_row_count; i++)
        if (gpu_stats_value(&a, &gpu_stat_rows[i]) != gpu_stats_value(&b, &gpu_stat_rows[i]))
          fail_msg("%s: %s differs with and without skipping", machines[m], gpu_stat_rows[i].key);
    }
  }
}

/* Thirty-eight independent instructions of a kind, looped over. */
static uint64_t straight(struct gpu_config *c, uint32_t warps, const uint8_t lat[2], const uint16_t flags[2]) {
  struct gpu_stats st;
  fake_kernel(&feed, 1, 1, warps, 50, 4096);
  for (uint32_t pc = 0; pc < FAKE_CODE - 2; pc++) {
    struct inst *i = &feed.code[pc];
    *i = (struct inst){.pc = pc, .fetch_pc = pc * 8, .kind = KIND_ALU, .lat = lat[pc & 1], .flags = flags[pc & 1]};
    i->pipe = PIPE_SP;
    i->ndst = 1;
    i->dst[0] = i->dst_arch[0] = (uint16_t)(1 + pc % 16);
  }
  return run(c, NULL, true, &st);
}

static void pipes_of_a_sub_core(void **state) {
  (void)state;
  struct gpu_config c = machine("volta");
  c.sms = 1;
  c.inst_bytes = 8; /* fewer cold misses of fetch, which are not the matter here */
  const uint8_t fp[2] = {LAT_F32_ADD, LAT_F32_ADD}, mixed[2] = {LAT_F32_ADD, LAT_INT_ADD};
  const uint16_t fpf[2] = {INST_FLOAT, INST_FLOAT}, mixf[2] = {INST_FLOAT, 0};
  /* One pipe of two cycles per instruction: 1900 instructions of each of four warps on each sub-core. */
  uint64_t only = straight(&c, 16, fp, fpf), both = straight(&c, 16, mixed, mixf);
  assert_in_range(only, 2 * 4 * 1900, 2 * 4 * 1900 * 1.06);
  /* FP32 and INT take turns: the scheduler's one instruction a cycle is the limit. */
  assert_in_range(both, 4 * 1900, 4 * 1900 * 1.2);
  /* Warps 0 and 4 share a sub-core, 0 and 1 do not. */
  uint64_t one = straight(&c, 1, fp, fpf), four = straight(&c, 4, fp, fpf);
  assert_in_range(four, one, one * 1.05);
}

/* Code of one pass over 38 instructions: its lines of 128 B, by the machine's instruction size or by the addresses that
 * a trace of SASS brings; the exit is the last. */
static void size_of_instructions(void **state) {
  (void)state;
  struct gpu_config c = machine("volta"), old = machine("fermi");
  const uint8_t lat[2] = {LAT_F32_ADD, LAT_F32_ADD};
  const uint16_t flags[2] = {0, 0};
  struct gpu_stats st;
  static const struct {
    bool volta, sass;
    uint32_t step, lines;
  } t[] = {{false, false, 8, 3}, {true, false, 8, 5}, {true, true, 16, 5}, {false, true, 16, 5}, {false, true, 64, 20}};
  for (size_t k = 0; k < sizeof t / sizeof *t; k++) {
    straight(t[k].volta ? &c : &old, 1, lat, flags); /* fills feed.code */
    for (uint32_t pc = 0; pc < FAKE_CODE; pc++) feed.code[pc].fetch_pc = pc * t[k].step;
    struct inst code[FAKE_CODE];
    memcpy(code, feed.code, sizeof code);
    fake_kernel(&feed, 1, 1, 1, 1, 4096);
    memcpy(feed.code, code, sizeof code);
    feed.kernel.origin = t[k].sass ? "" : NULL;
    run(t[k].volta ? &c : &old, NULL, true, &st);
    feed.kernel.origin = NULL;
    /* A pending line is missed again by the next fetch into it; it is requested once. */
    assert_in_range(st.l1i_misses + st.l1i_prefetches, t[k].lines, t[k].lines + 1);
    if (t[k].volta) assert_int_equal(st.l1i_misses, 1); /* the lines after the first are fetched ahead */
  }
}

/* Cycles of a warp whose instructions take turns among `lines` lines of constant operands. */
static uint64_t with_operands(const struct gpu_config *from, uint32_t lines, struct gpu_stats *st) {
  struct gpu_config c = *from;
  const uint8_t lat[2] = {LAT_F32_ADD, LAT_F32_ADD};
  const uint16_t flags[2] = {0, 0};
  c.sms = 1;
  straight(&c, 1, lat, flags); /* fills feed.code */
  struct inst code[FAKE_CODE];
  memcpy(code, feed.code, sizeof code);
  fake_kernel(&feed, 1, 1, 1, 40, 4096);
  memcpy(feed.code, code, sizeof code);
  for (uint32_t pc = 0; pc < FAKE_CODE; pc++) feed.code[pc].operand = (uint8_t)(lines ? 1 + pc / 2 % lines : 0);
  return run(&c, NULL, true, st);
}

/* The first read of each line of constant operands takes as long as a read of memory or of the second level, and no
 * other. */
static void operands_miss_once(void **state) {
  (void)state;
  struct gpu_config c = machine("volta"), never = c;
  struct gpu_stats st;
  never.imc_lines = 0;
  uint64_t none = with_operands(&c, 0, &st);
  assert_int_equal(st.imc_misses, 0);
  assert_int_equal(with_operands(&never, 4, &st), none);
  uint64_t one = with_operands(&c, 1, &st);
  assert_int_equal(st.imc_misses, 1);
  assert_in_range(one - none, 200, 300); /* the front end has written it to the L2 */
  uint64_t four = with_operands(&c, 4, &st);
  assert_int_equal(st.imc_misses, 4);
  assert_in_range(four - one, 3 * 50, 3 * 100); /* 256 B came with the first: the second level has the others */
  struct gpu_config alone = c;
  alone.l15c_latency = 0;
  assert_in_range(with_operands(&alone, 4, &st) - none, 4 * 150, 4 * 300);
  c.imc_lines = 2; /* too few for four lines in turn */
  assert_true(with_operands(&c, 4, &st) > four);
  assert_true(st.imc_misses > 8);
}

static void organisation_of_the_machine(void **state) {
  (void)state;
  struct gpu_config c = machine("volta");
  struct err e = {0};
  static const struct {
    const char *list, *describes;
  } t[] = {{NULL, "sector:"}, {"baseline", "sector:"}, {"swl=4", "+swl:warps=4"}, {"tsc", "tsc:"}, {"srrip", "srrip:"}};
  for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
    struct slots s;
    char text[1024];
    if (t[i].list && !strcmp(t[i].list, "srrip") && !scheme_find("srrip")) continue;
    if (!slots_for_machine(&s, t[i].list, &c, &e)) fail_msg("%s", e.msg);
    slots_describe(&s, text, sizeof text);
    if (!strstr(text, t[i].describes)) fail_msg("%s gives %s", t[i].list ? t[i].list : "nothing", text);
    if (!strstr(t[i].describes, "sector") && t[i].describes[0] != '+') assert_null(strstr(text, "sector:"));
    slots_free(&s);
  }
}

/* Every line of a gigabyte lies in one place only, and partitions get equal shares of any power-of-two stride. */
static void hashed_partitions(void **state) {
  (void)state;
  struct gpu_config c = machine("volta");
  struct addrmap m;
  struct err e = {0};
  assert_int_equal(c.partition_hash, PARTITION_IPOLY);
  assert_true(addrmap_init(&m, &c, &e));
  enum { LINES = 1 << 16, PARTS = 64 };
  static uint32_t first[PARTS][LINES / PARTS];
  memset(first, 0, sizeof first);
  for (uint32_t line = 0; line < LINES; line++) {
    struct req r = {.addr = (uint64_t)line * 256};
    addrmap_split(&m, &r);
    uint64_t local = addrmap_local(&m, r.addr) / 256;
    assert_true(r.subpart < PARTS && local < LINES / PARTS);
    assert_int_equal(first[r.subpart][local], 0);
    first[r.subpart][local] = 1;
    assert_int_equal(r.channel, r.subpart / 2);
  }
  for (uint32_t shift = 8; shift < 20; shift++) {
    uint32_t hits[PARTS] = {0};
    for (uint64_t i = 0; i < 64 * PARTS; i++) {
      struct req r = {.addr = i << shift};
      addrmap_split(&m, &r);
      hits[r.subpart]++;
    }
    for (uint32_t p = 0; p < PARTS; p++) assert_int_equal(hits[p], 64);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_code),          cmocka_unit_test(pipes_of_a_sub_core),
      cmocka_unit_test(size_of_instructions), cmocka_unit_test(organisation_of_the_machine),
      cmocka_unit_test(hashed_partitions),    cmocka_unit_test(operands_miss_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
