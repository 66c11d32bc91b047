/* test_back_registers.c - how many registers a kernel takes, beside ptxas: 11.8 for sm_70 and sm_80, 13.0 for sm_90. */
#include "back_code.h"

/* Parameters, the thread's number in %r4, and the addresses of its elements in %rd6 and %rd7. */
#define ELEMENT(bytes) \
  INDEX "mul.wide.s32 %rd5, %r4, " bytes ";\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\n"

struct counts {
  uint32_t sm_70, sm_80, sm_90;
};

static void check(const char *body, struct counts want) {
  struct code c = compile(body, 70);
  assert_int_equal(c.regs, want.sm_70);
  c = compile(body, 80);
  assert_int_equal(c.regs, want.sm_80);
  c = compile(body, 90);
  assert_int_equal(c.regs, want.sm_90);
}

/* Words that are stored lie in the odd bank, beside pairs that begin in the even one; the stack pointer has the second
 * register, so that no pair has the first two. The address of several loads is not written over. */
static void words_lie_in_the_odd_bank(void **state) {
  (void)state;
  static const struct {
    uint32_t words;
    struct counts want;
  } rows[] = {{1, {8, 8, 10}}, {2, {12, 12, 14}}, {3, {14, 14, 16}}, {4, {16, 16, 18}}, {8, {24, 24, 26}}};
  char text[4096];
  for (uint32_t q = 0; q < sizeof rows / sizeof *rows; q++) {
    int at = snprintf(text, sizeof text, "%s", ELEMENT("4"));
    for (uint32_t w = 0; w < 2 * rows[q].words; w++) {
      uint32_t x = w % rows[q].words;
      bool load = w < rows[q].words;
      size_t left = sizeof text - (size_t)at;
      if (load) at += snprintf(text + at, left, "ld.global.f32 %%f%u, [%%rd6+%u];\n", x, 4 * x);
      else at += snprintf(text + at, left, "st.global.f32 [%%rd7+%u], %%f%u;\n", 4 * x, x);
    }
    snprintf(text + at, sizeof text - (size_t)at, "ret;\n");
    check(text, rows[q].want);
  }
}

static void registers_of_one_access_are_neighbours(void **state) {
  (void)state;
  check(ELEMENT("16") "ld.global.v2.f32 {%f1, %f2}, [%rd6];\nst.global.v2.f32 [%rd7], {%f1, %f2};\nret;\n",
        (struct counts){8, 8, 10});
  check(ELEMENT("16") "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd6];\n"
                      "ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd6+16];\n"
                      "st.global.v4.f32 [%rd7], {%f1, %f2, %f3, %f4};\n"
                      "st.global.v4.f32 [%rd7+16], {%f5, %f6, %f7, %f8};\nret;\n",
        (struct counts){18, 18, 18});
  check(ELEMENT("16") "ld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd6+64];\nld.global.f32 %f3, [%rd6+128];\n"
                      "ld.global.f32 %f4, [%rd6+256];\nst.global.v4.f32 [%rd7], {%f1, %f2, %f3, %f4};\nret;\n",
        (struct counts){14, 14, 14});
}

static void a_sum_of_64_bits_is_made_half_by_half(void **state) {
  (void)state;
  check(INDEX "cvt.s64.s32 %rd5, %r4;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\n"
              "ld.global.u8 %r5, [%rd6];\nst.global.u8 [%rd7], %r5;\nret;\n",
        (struct counts){8, 8, 8});
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(words_lie_in_the_odd_bank),
                                     cmocka_unit_test(registers_of_one_access_are_neighbours),
                                     cmocka_unit_test(a_sum_of_64_bits_is_made_half_by_half)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
