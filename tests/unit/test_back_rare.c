/* test_back_rare.c - lanes with operands for which the short sequence of a division or root is not exact go through
 * what ptxas has a subroutine for: the memory is that of the PTX, and a warp executes as many instructions more.
 */
#include <stdio.h>

#include "back_run.h"

/* Thread `which` has the first number as x, all others the second; y is 3. -1: none, -2: all. */
static const char *kernel(const char *what, bool wide, int which, const char *rare, const char *usual) {
  static char text[2048];
  const char *t = wide ? "f64" : "f32", *r = wide ? "fd" : "f";
  snprintf(text, sizeof text,
           ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
           ".reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n.reg .f32 %%f<8>;\n.reg .f64 %%fd<8>;\n.reg .b64 %%rd<8>;\n"
           "ld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd2, %%r1, 8;\nadd.s64 %%rd2, %%rd1, "
           "%%rd2;\nsetp.%s.s32 %%p1, %%r1, %d;\nselp.%s %%%s1, %s, %s, %%p1;\nmov.u32 %%r2, %%ntid.x;\n"
           "cvt.rn.%s.u32 %%%s2, %%r2;\n%s;\nst.global.%s [%%rd2], %%%s3;\nret;\n}\n",
           which == -2 ? "ge" : "eq", which == -2 ? 0 : which, t, r, rare, usual, t, r, what, t, r);
  return text;
}

static const struct {
  const char *what;
  bool wide;
  uint32_t more[2]; /* on 7.0, where a BMOV goes before each BSSY, and on 9.0 */
} ops[] = {{"div.rn.f32 %f3, %f1, %f2", false, {35, 34}},  {"rcp.rn.f32 %f3, %f1", false, {23, 22}},
           {"sqrt.rn.f32 %f3, %f1", false, {10, 10}},      {"div.rn.f64 %fd3, %fd1, %fd2", true, {35, 34}},
           {"rcp.rn.f64 %fd3, %fd1", true, {19, 18}},      {"sqrt.rn.f64 %fd3, %fd1", true, {15, 14}},
           {"rsqrt.approx.f64 %fd3, %fd1", true, {13, 12}}};
enum { OPS = sizeof ops / sizeof *ops };
static const uint32_t machines[] = {70, 90};

static uint64_t executes(const char *text, uint32_t sm) {
  static uint32_t want[RUN_WORDS], got[RUN_WORDS];
  run(text, 0, want);
  uint64_t n = run(text, sm, got);
  if (memcmp(want, got, sizeof want)) fail_msg("sm_%u leaves another memory:\n%s", sm, text);
  return n;
}

static void zeros_take_the_subroutine(void **state) {
  (void)state;
  for (uint32_t o = 0; o < OPS; o++)
    for (uint32_t s = 0; s < 2; s++) {
      const char *zero = ops[o].wide ? "0d0000000000000000" : "0f00000000",
                 *one = ops[o].wide ? "0d3FF8000000000000" : "0f3FC00000";
      uint64_t none = executes(kernel(ops[o].what, ops[o].wide, -1, zero, one), machines[s]),
               lane = executes(kernel(ops[o].what, ops[o].wide, 3, zero, one), machines[s]),
               all = executes(kernel(ops[o].what, ops[o].wide, -2, zero, one), machines[s]);
      assert_int_equal(lane - none, ops[o].more[s]);
      assert_int_equal(all - none, 2 * ops[o].more[s]);
    }
}

/* Numbers of one lane, and which operations have a subroutine for them: bit by place in `ops`. */
static void which_numbers_are_rare(void **state) {
  (void)state;
  enum { DIV, RCP, ROOT, DIV64, RCP64, ROOT64, RSQRT64 };
  static const struct {
    const char *single, *twice; /* as f32 and f64 */
    uint32_t rare;
  } cases[] = {
      {"0f00000001", "0d0000000000000001", 0x7F},                                   /* the smallest */
      {"0f7F800000", "0d7FF0000000000000", 0x7F},                                   /* infinity */
      {"0f7FC00000", "0d7FF8000000000000", 0x7F},                                   /* no number */
      {"0fBF800000", "0dBFF0000000000000", 1 << ROOT | 1 << ROOT64 | 1 << RSQRT64}, /* -1 */
      {"0f7F000000", "0d7FE0000000000000", 1 << RCP | 1 << RCP64},             /* of a reciprocal that is not normal */
      {"0f0B000000", "0d0350000000000000", 1 << DIV | 1 << ROOT | 1 << DIV64}, /* of a remainder that is not normal */
      {"0f5F000000", "0d5FF0000000000000", 0},
  };
  for (uint32_t c = 0; c < sizeof cases / sizeof *cases; c++)
    for (uint32_t o = 0; o < OPS; o++) {
      const char *x = ops[o].wide ? cases[c].twice : cases[c].single,
                 *one = ops[o].wide ? "0d3FF8000000000000" : "0f3FC00000";
      uint64_t none = executes(kernel(ops[o].what, ops[o].wide, -1, x, one), 90),
               lane = executes(kernel(ops[o].what, ops[o].wide, 40, x, one), 90);
      if ((lane != none) != (cases[c].rare >> o & 1)) fail_msg("%s of %s", ops[o].what, x);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zeros_take_the_subroutine),
      cmocka_unit_test(which_numbers_are_rare),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
