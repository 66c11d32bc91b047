/* test_back_literals.c - numbers of double precision, which since Hopper take a pair of registers if their lower word
 * is not zero. Each case is as ptxas 13.0 has it on sm_90.
 */
#include "back_code.h"

#define START                                                                                                      \
  INDEX ".reg .f64 %fd<16>;\nmul.wide.s32 %rd5, %r4, 8;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f64 %fd1, [%rd6];\n" \
        "ld.global.u32 %r5, [%rd6+8];\nmov.u32 %r6, 0;\n"
#define LEAVE "st.global.f64 [%rd6], %fd1;\nret;\n"
#define ONE_1 "0d3FF199999999999A"
#define ONE_2 "0d3FF3333333333333"
#define ONE_3 "0d3FF4CCCCCCCCCCCD"

struct counts {
  uint32_t uniform, mov, uniform_in_loop, mov_in_loop;
};

/* How many more than those of the same code with numbers that are part of instructions. */
static struct counts extra(const char *with, const char *without) {
  struct code a = compile(with, 90), b = compile(without, 90);
  return (struct counts){count(&a, "uniform", 0) - count(&b, "uniform", 0), count(&a, "mov", 0) - count(&b, "mov", 0),
                         in_loops(&a, "uniform") - in_loops(&b, "uniform"), in_loops(&a, "mov") - in_loops(&b, "mov")};
}

static void assert_counts(struct counts c, uint32_t uniform, uint32_t mov, uint32_t uniform_in_loop,
                          uint32_t mov_in_loop) {
  assert_int_equal(c.uniform, uniform);
  assert_int_equal(c.mov, mov);
  assert_int_equal(c.uniform_in_loop, uniform_in_loop);
  assert_int_equal(c.mov_in_loop, mov_in_loop);
}

#define POLYNOMIAL(a, b, c) "fma.rn.f64 %fd2, %fd1, " a ", " b ";\nfma.rn.f64 %fd1, %fd2, %fd1, " c ";\n"
#define EASY POLYNOMIAL("0d3FF8000000000000", "0d4000000000000000", "0d4008000000000000")
#define LITERALS POLYNOMIAL(ONE_1, ONE_2, ONE_3)

/* Of an instruction's two one is its uniform operand. */
static void a_pair_of_uniform_registers_or_of_the_threads(void **state) {
  (void)state;
  assert_counts(extra(START LITERALS LEAVE, START EASY LEAVE), 4, 0, 0,
                0); /* the second takes two moves, easy or not */
  /* the same number twice in an instruction is the thread's, for all its readers */
  assert_counts(extra(START POLYNOMIAL(ONE_1, ONE_1, ONE_1) LEAVE, START EASY LEAVE), 0, 0, 0, 0);
  struct code before = compile(START LITERALS LEAVE, 80), easy = compile(START EASY LEAVE, 80); /* in a bank */
  assert_int_equal(count(&before, "mov", 0), count(&easy, "mov", 0));
}

/* A loop without memory has them before it; one with memory in its body. */
static void of_a_loop_of_one_block(void **state) {
  (void)state;
#define LOOP(body) START "LOOP:\n" body "add.s32 %r6, %r6, 1;\nsetp.lt.s32 %p1, %r6, %r9;\n@%p1 bra LOOP;\n" LEAVE
#define MEMORY "st.global.u32 [%rd6+16], %r6;\nmembar.gl;\n"
  assert_int_equal(extra(LOOP(LITERALS), LOOP(EASY)).uniform_in_loop, 0);
  assert_int_equal(extra(LOOP(LITERALS), LOOP(EASY)).uniform, 4);
  assert_int_equal(extra(LOOP(LITERALS MEMORY), LOOP(EASY MEMORY)).uniform_in_loop, 4);
}

/* Where lanes may be apart, a pair that other blocks read is the thread's. */
static void where_lanes_are_apart(void **state) {
  (void)state;
#define TURNS(body)                                                                                                   \
  START "setp.lt.s32 %p2, %r5, 1;\n@%p2 bra OVER;\nLOOP:\n" body "add.s32 %r6, %r6, 1;\nsetp.lt.s32 %p1, %r6, %r5;\n" \
        "@%p1 bra LOOP;\nOVER:\n" LEAVE
  assert_int_equal(extra(TURNS(LITERALS), TURNS(EASY)).uniform, 0);
  assert_int_equal(extra(TURNS(LITERALS), TURNS(EASY)).mov_in_loop, 0);
  assert_int_equal(extra(TURNS(LITERALS MEMORY), TURNS(EASY MEMORY)).uniform, 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pair_of_uniform_registers_or_of_the_threads),
      cmocka_unit_test(of_a_loop_of_one_block),
      cmocka_unit_test(where_lanes_are_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
