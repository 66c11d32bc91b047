/* test_back_flow.c - which branches become predicates. Each case is as ptxas 11.8 has it on sm_70 and sm_90. */
#include "back_code.h"

#define BEFORE                                                                                                  \
  "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\ncvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, " \
  "%rd2;\nld.param.u32 %r2, [n];\nmov.u32 %r1, %tid.x;\nshl.b32 %r3, %r1, 2;\nmov.u32 %r4, buf;\nadd.s32 %r5, " \
  "%r3, %r4;\nmul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\nadd.s32 %r6, "  \
  "%r1, 5;\nmov.u32 %r10, 7;\n"
#define AFTER "st.global.u32 [%rd7+64], %r10;\nret;\n"
#define BY_THREAD "setp.lt.s32 %p1, %r1, %r2;\n"
#define BY_LOAD "ld.global.u32 %r8, [%rd7+128];\nsetp.lt.s32 %p1, %r8, %r2;\n"
#define LOAD(r, at) "ld.global.u32 %r" #r ", [%rd6+" #at "];\n"
#define PUT(r, at) "st.shared.u32 [%r5+" #at "], %r" #r ";\n"
#define STEP(r) "mad.lo.s32 %r" #r ", %r" #r ", %r6, %r1;\n"
#define STEPS_3(r) STEP(r) STEP(r) STEP(r)
#define STEPS_6(r) STEPS_3(r) STEPS_3(r)
#define STEPS_15(r) STEPS_6(r) STEPS_6(r) STEPS_3(r)

static const struct {
  const char *before, *arm, *other, *behind;
  enum { PREDICATES, BRANCH, BRANCH_ON_70 } is;
} cases[] = {
    /* without loads: eight instructions, or seven in each of two arms */
    {BY_THREAD, STEPS_6(10), NULL, "", PREDICATES},
    {BY_THREAD, STEPS_6(10) STEPS_3(10), NULL, "", BRANCH},
    {BY_THREAD, STEPS_6(10), STEPS_6(10), "", PREDICATES},
    {BY_THREAD, STEPS_6(10) STEPS_3(10), STEP(10), "", BRANCH},
    {BY_THREAD, "ld.shared.u32 %r11, [%r5];\n" STEP(11) PUT(11, 64), NULL, "", PREDICATES},
    /* a load alone: a branch around it; on sm_90 the address of shared memory is in flight with it */
    {BY_THREAD, LOAD(11, 4) PUT(11, 64), NULL, "", BRANCH_ON_70},
    {BY_LOAD, LOAD(11, 4) PUT(11, 64), NULL, "", BRANCH_ON_70},
    {BY_THREAD, LOAD(10, 4), NULL, "", BRANCH},
    /* ... with work behind it that does not wait for it */
    {BY_THREAD, LOAD(11, 4) PUT(11, 64), NULL, "mov.u32 %r12, %r1;\n" STEPS_3(12) PUT(12, 256), PREDICATES},
    {BY_LOAD, LOAD(11, 4) PUT(11, 64), NULL, "mov.u32 %r12, %r1;\n" STEPS_3(12) PUT(12, 256), PREDICATES},
    {BY_THREAD, LOAD(10, 4), NULL, STEPS_6(10), BRANCH},
    /* ... with a load in flight before it, unless a store to global memory is between them */
    {BY_LOAD LOAD(12, 512), LOAD(11, 4) "add.s32 %r11, %r11, %r12;\n" PUT(11, 64), NULL, "", PREDICATES},
    {BY_LOAD LOAD(12, 512) PUT(12, 512), LOAD(11, 4) PUT(11, 64), NULL, "", PREDICATES},
    {BY_LOAD LOAD(12, 512) "st.global.u32 [%rd7+512], %r12;\n", LOAD(10, 4), NULL, "", BRANCH},
    /* ... in both arms, up to 19 instructions in each */
    {BY_LOAD, LOAD(11, 4) PUT(11, 64), LOAD(12, 8) PUT(12, 96), "", PREDICATES},
    {BY_LOAD, LOAD(10, 4) STEPS_15(10), LOAD(10, 8) STEPS_15(10), "", PREDICATES},
    {BY_LOAD, LOAD(10, 4) STEPS_15(10) STEPS_6(10), LOAD(10, 8) STEPS_15(10) STEPS_6(10), "", BRANCH},
    /* ... or stored twice, where no load comes before */
    {BY_THREAD, LOAD(11, 4) PUT(11, 64) PUT(11, 96), NULL, "", PREDICATES},
    {BY_LOAD, LOAD(11, 4) PUT(11, 64) PUT(11, 96), NULL, "", BRANCH_ON_70},
};

static void branches_that_become_predicates(void **state) {
  (void)state;
  char text[4096];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint32_t sm = 70; sm <= 90; sm += 20) {
      snprintf(text, sizeof text, "%s%s@%%p1 bra L1;\n%s%sL1:\n%s%s%s%s", BEFORE, cases[i].before, cases[i].arm,
               cases[i].other ? "bra.uni L2;\n" : "", cases[i].other ? cases[i].other : "",
               cases[i].other ? "L2:\n" : "", cases[i].behind, AFTER);
      struct code c = compile(text, sm);
      if ((count(&c, "branch", 0) > 1) != (cases[i].is == BRANCH || (cases[i].is == BRANCH_ON_70 && sm == 70)))
        fail_msg("case %zu, sm_%u", i, sm);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(branches_that_become_predicates)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
