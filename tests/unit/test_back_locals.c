/* test_back_locals.c - small arrays in local memory that become registers: the memory is that of the PTX. Which become
 * registers is as ptxas 11.8 has it on sm_70.
 */
#include <stdio.h>
#include <stdlib.h>

#include "back_run.h"
#include "back_text.h"

/* %r1: the thread; %rd2: its 16 bytes; %rd7: the array; %rd8: 4 times the thread's number, wrapped to `mask` words. */
static void begin(struct maker *m, uint32_t words, uint32_t mask) {
  m->at = 0;
  say(m, ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n");
  say(m, ".local .align 16 .b8 depot[%u];\n.reg .b64 %%SPL;\n.reg .b64 %%SP;\n", 4 * words);
  say(m, ".reg .pred %%p<8>;\n.reg .b32 %%r<32>;\n.reg .b64 %%rd<16>;\nmov.u64 %%SPL, depot;\n");
  say(m, "cvta.local.u64 %%SP, %%SPL;\nld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %%tid.x;\n");
  say(m, "mul.wide.u32 %%rd3, %%r1, 16;\nadd.s64 %%rd2, %%rd1, %%rd3;\nadd.u64 %%rd7, %%SPL, 0;\n");
  say(m, "and.b32 %%r2, %%r1, %u;\nmul.wide.u32 %%rd8, %%r2, 4;\nadd.s64 %%rd9, %%rd7, %%rd8;\n", mask);
  say(m, "ld.global.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%rd2];\n");
}

static void fill(struct maker *m, uint32_t words) {
  for (uint32_t q = 0; q + 4 <= words; q += 8) {
    say(m, "st.local.v4.u32 [%%rd7+%u], {%%r4, %%r5, %%r6, %%r7};\n", 4 * q);
    for (uint32_t e = 4; e < 8 && q + 8 <= words; e++)
      say(m, "st.local.u32 [%%rd7+%u], %u;\n", 4 * (q + e), 77 * q + e);
  }
}

static uint32_t local_accesses(const char *text, uint32_t sm) {
  return instructions(text, sm, "ldl") + instructions(text, sm, "stl");
}

static void check(const char *text, bool registers) {
  static const uint32_t machines[] = {70, 80, 90};
  same_memory_on(text, machines, sizeof machines / sizeof *machines);
  for (uint32_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    uint32_t accesses = instructions(text, machines[i], "ldl") + instructions(text, machines[i], "stl");
    if (!accesses != registers) fail_msg("sm_%u: %s registers:\n%s", machines[i], registers ? "no" : "", text);
  }
}

#define LEAVE "st.global.u32 [%rd2], %r8;\nret;\n}\n"

static void a_word_at_an_unknown_place_is_read_and_written(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  static const uint32_t sizes[] = {4, 8, 16, 32, 64};
  for (uint32_t q = 0; q < sizeof sizes / sizeof *sizes; q++) {
    bool registers = true;
    begin(m, sizes[q], sizes[q] - 1);
    fill(m, sizes[q]);
    say(m, "ld.local.u32 %%r8, [%%rd9];\n%s", LEAVE);
    check(m->text, registers);
    begin(m, sizes[q], sizes[q] / 4 - 1);
    fill(m, sizes[q]);
    for (uint32_t a = 0; a < sizes[q]; a++) say(m, "st.global.u32 [%%rd2+%u], %%r4;\n", 4 + a % 3 * 4);
    say(m, "st.local.u32 [%%rd9+4], %%r1;\nld.local.u32 %%r8, [%%rd9];\nld.local.u32 %%r9, [%%rd7+4];\n");
    say(m, "ld.local.v2.u32 {%%r10, %%r11}, [%%rd7+8];\nmad.lo.u32 %%r8, %%r8, 33, %%r9;\n");
    say(m, "mad.lo.u32 %%r8, %%r8, 33, %%r10;\nmad.lo.u32 %%r8, %%r8, 33, %%r11;\n%s", LEAVE);
    check(m->text, registers);
  }
  free(m);
}

static void many_accesses_stay_in_memory(void **state) {
  (void)state;
  static const struct {
    uint32_t words, accesses;
    uint32_t others; /* stores to global memory beside them */
    bool registers;
  } cases[] = {{8, 4, 0, true},  {8, 7, 0, false},  {16, 2, 0, true},  {16, 3, 0, false},  {16, 3, 8, true},
               {32, 1, 0, true}, {32, 2, 0, false}, {32, 2, 8, true},  {32, 3, 14, false}, {32, 3, 24, true},
               {64, 1, 0, true}, {64, 2, 0, false}, {64, 2, 24, true}, {64, 3, 40, false}, {64, 3, 56, true}};
  struct maker *m = calloc(1, sizeof *m);
  for (uint32_t q = 0; q < sizeof cases / sizeof *cases; q++) {
    begin(m, cases[q].words, cases[q].words - 1);
    fill(m, cases[q].words);
    say(m, "mov.u32 %%r8, 0;\n");
    for (uint32_t a = 0; a < cases[q].accesses; a++) {
      say(m, "mad.lo.u32 %%r2, %%r2, 5, 3;\nand.b32 %%r2, %%r2, %u;\n", cases[q].words - 1);
      say(m, "{\n.reg .b64 %%x<2>;\nmul.wide.u32 %%x0, %%r2, 4;\nadd.s64 %%x1, %%rd7, %%x0;\n");
      say(m, "ld.local.u32 %%r9, [%%x1];\n}\n");
      say(m, "mad.lo.u32 %%r8, %%r8, 7, %%r9;\n");
    }
    for (uint32_t a = 0; a < cases[q].others; a++) say(m, "st.global.u32 [%%rd2+%u], %%r4;\n", 4 + a % 3 * 4);
    say(m, "%s", LEAVE);
    check(m->text, cases[q].registers);
  }
  free(m);
}

#define FOUR                                                                                         \
  "mad.lo.u32 %r8, %r8, %r8, %r9;\nmad.lo.u32 %r8, %r8, %r8, %r9;\nmad.lo.u32 %r8, %r8, %r8, %r9;\n" \
  "mad.lo.u32 %r8, %r8, %r8, %r9;\n"
#define LOOP(work)                                                                                          \
  "mov.u32 %r9, 0;\nLOOP:\n.pragma \"nounroll\";\nld.local.u32 %r8, [%rd9];\nadd.u32 %r8, %r8, %r9;\n" work \
  "st.local.u32 [%rd9], %r8;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, %r3;\n@%p1 bra LOOP;\n"

/* In a loop; under a guard; by bytes; where the address is a number that is stored. */
static void what_keeps_an_array_in_memory(void **state) {
  (void)state;
  static const struct {
    uint32_t words;
    const char *text;
    bool registers;
  } cases[] = {
      {8, "st.local.u32 [%rd9], %r5;\n", true},
      {8, "setp.lt.u32 %p1, %r1, 3;\n@%p1 st.local.u32 [%rd9], %r5;\n", false},
      {8, "st.local.u8 [%rd9], %r5;\n", false},
      {8, "st.global.u64 [%rd2+8], %SP;\n", false},
      {8, "xor.b64 %rd10, %rd9, %rd9;\nst.global.u64 [%rd2+8], %rd10;\n", false},
      {8, LOOP(FOUR FOUR FOUR), true},
      {8, LOOP(""), false},
  };
  struct maker *m = calloc(1, sizeof *m);
  for (uint32_t q = 0; q < sizeof cases / sizeof *cases; q++) {
    begin(m, cases[q].words, cases[q].words - 1);
    fill(m, cases[q].words);
    say(m, "and.b32 %%r3, %%r1, 3;\nst.global.u32 [%%rd2+4], %%r4;\nst.global.u32 [%%rd2+12], %%r6;\n");
    say(m, "%s", cases[q].text);
    say(m, "ld.local.u32 %%r8, [%%rd9];\nld.local.u32 %%r10, [%%rd7];\nadd.u32 %%r8, %%r8, %%r10;\n%s", LEAVE);
    if (strstr(cases[q].text, "%SP")) { /* an address is another in each run */
      if (local_accesses(m->text, 70) == 0) fail_msg("registers:\n%s", m->text);
    } else {
      check(m->text, cases[q].registers);
    }
  }
  free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_word_at_an_unknown_place_is_read_and_written),
      cmocka_unit_test(many_accesses_stay_in_memory),
      cmocka_unit_test(what_keeps_an_array_in_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
