/* test_back_order.c - the order in which the back end leaves instructions. */
#include "back_code.h"

static void loads_rise_above_stores_that_they_cannot_meet(void **state) {
  (void)state;
  struct code c =
      compile("mov.u32 %r1, %tid.x;\nmov.u32 %r2, buf;\nshl.b32 %r3, %r1, 5;\nadd.s32 %r4, %r2, %r3;\n"
              "ld.shared.f32 %f1, [%r4];\nadd.f32 %f2, %f1, 0f3F800000;\nst.shared.f32 [%r4+8], %f2;\n"
              "ld.shared.f32 %f3, [%r4+20];\nadd.f32 %f4, %f3, 0f3F800000;\nst.shared.f32 [%r4+28], %f4;\nret;\n",
              70);
  uint32_t first_store = 0, last_load = 0;
  for (uint32_t i = 0; i < c.n; i++) {
    if (!strcmp(c.at[i].cls, "sts") && !first_store) first_store = i;
    if (!strcmp(c.at[i].cls, "lds")) last_load = i;
  }
  assert_true(last_load < first_store);
  c = compile(
      INDEX
      "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd4, %rd5;\nst.global.f32 [%rd6], %f1;\n"
      "ld.global.f32 %f3, [%rd7];\nst.global.f32 [%rd6+4], %f3;\nret;\n",
      70);
  uint32_t load = 0, store = 0;
  for (uint32_t i = c.n; i-- > 0;) {
    if (!strcmp(c.at[i].cls, "stg")) store = i;
    if (!strcmp(c.at[i].cls, "ldg")) load = i;
  }
  assert_true(store < load);
}

static uint32_t last_of(const struct code *c, const char *cls) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < c->n; i++)
    if (!strcmp(c->at[i].cls, cls)) at = i;
  return at;
}

static uint32_t first_of(const struct code *c, const char *cls) {
  uint32_t at = 0;
  while (at < c->n && strcmp(c->at[at].cls, cls)) at++;
  return at;
}

/* Twenty words of a column, each address the one before plus the pitch: a result is used when all loads are out. */
static void addresses_come_before_what_waits_for_loads(void **state) {
  (void)state;
  char body[4096];
  int at = snprintf(body, sizeof body,
                    "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\n"
                    "mul.wide.s32 %%rd7, %%r9, 4;\nmov.f32 %%f1, 0f00000000;\n",
                    INDEX);
  for (int q = 0; q < 20; q++)
    at += snprintf(body + at, sizeof body - (size_t)at,
                   "ld.global.f32 %%f%d, [%%rd6];\nfma.rn.f32 %%f1, %%f%d, %%f%d, %%f1;\n"
                   "add.s64 %%rd6, %%rd6, %%rd7;\n",
                   q + 2, q + 2, q + 2);
  snprintf(body + at, sizeof body - (size_t)at, "add.s64 %%rd8, %%rd4, %%rd5;\nst.global.f32 [%%rd8], %%f1;\nret;\n");
  for (uint32_t sm = 80; sm <= 90; sm += 10) {
    struct code c = compile(body, sm);
    assert_int_equal(count(&c, "ldg", 0), 20);
    assert_true(last_of(&c, "ldg") < first_of(&c, "fp32"));
  }
}

/* (base + 4096) + 4 i and base + 4 i: one sum, the number is the offset of an access. */
static void addresses_of_64_bits_share_their_sum(void **state) {
  (void)state;
  struct code c = compile(INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, %rd3, 4096;\n"
                                "add.s64 %rd8, %rd7, %rd5;\nld.global.u32 %r10, [%rd6];\nst.global.u32 [%rd8], %r10;\n"
                                "ret;\n",
                          70);
  struct code one = compile(INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\n"
                                  "ld.global.u32 %r10, [%rd6];\nst.global.u32 [%rd6+4096], %r10;\nret;\n",
                            70);
  assert_int_equal(c.n, one.n);
}

/* Roots scale their operand in place, so that with most registers taken the products of several run side by side. */
static void roots_overlap_with_few_registers(void **state) {
  (void)state;
  enum { ROOTS = 14 };
  char body[8000];
  int at = snprintf(body, sizeof body, "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\n", INDEX);
  for (int q = 0; q < ROOTS; q++)
    at += snprintf(body + at, sizeof body - (size_t)at, "ld.global.f32 %%f%d, [%%rd6+%d];\n", q, 1024 * q);
  at += snprintf(body + at, sizeof body - (size_t)at, "ld.global.f32 %%f30, [%%rd6+16];\nmov.f32 %%f31, 0f3F000000;\n");
  for (int q = 0; q < ROOTS; q++)
    at += snprintf(body + at, sizeof body - (size_t)at,
                   "{\n.reg .f32 %%u<2>;\nfma.rn.f32 %%u0, %%f30, %%f30, %%f31;\nrsqrt.approx.f32 %%u1, %%u0;\n"
                   "fma.rn.f32 %%f%d, %%u1, %%f31, %%f%d;\nadd.f32 %%f30, %%f30, %%f31;\n}\n",
                   q, q);
  for (int q = 0; q < ROOTS; q++)
    at += snprintf(body + at, sizeof body - (size_t)at, "st.global.f32 [%%rd6+%d], %%f%d;\n", 1024 * q, q);
  snprintf(body + at, sizeof body - (size_t)at, "ret;\n");
  struct code c = compile(body, 90);
  assert_int_equal(count(&c, "sfu", 0), ROOTS);
  uint32_t waits = 0;
  for (uint32_t i = 0; i + 1 < c.n; i++) waits += !strcmp(c.at[i].cls, "sfu") && c.at[i + 1].line == c.at[i].line;
  assert_true(waits <= 2);
}

/* Eight chains of arithmetic to a load, each with its store to shared memory, while sixteen values are live: one chain
 * after the other takes few registers, and no store waits for the load just before it. */
static void loads_gather_with_few_registers(void **state) {
  (void)state;
  enum { KEPT = 16, CHAINS = 8 };
  char body[8000];
  int at = snprintf(body, sizeof body, "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\n", INDEX);
  for (int q = 0; q < KEPT; q++)
    at += snprintf(body + at, sizeof body - (size_t)at, "ld.global.f32 %%f%d, [%%rd6+%d];\n", q, 1024 * q);
  at += snprintf(body + at, sizeof body - (size_t)at,
                 "bar.sync 0;\nmov.u32 %%r10, buf;\nmad.lo.s32 %%r10, %%r3, 64, %%r10;\n");
  for (int q = 0; q < CHAINS; q++)
    at += snprintf(body + at, sizeof body - (size_t)at,
                   "{\n.reg .b32 %%u<8>;\n.reg .b64 %%v<2>;\n.reg .pred %%w;\nadd.s32 %%u0, %%r4, %d;\n"
                   "min.s32 %%u1, %%u0, %%r9;\nabs.s32 %%u2, %%u1;\nsetp.lt.s32 %%w, %%u2, %%r9;\n"
                   "sub.s32 %%u3, %%r9, %%u2;\nselp.b32 %%u4, %%u2, %%u3, %%w;\nmad.lo.s32 %%u5, %%u4, %%r9, %%r3;\n"
                   "mul.wide.s32 %%v0, %%u5, 4;\nadd.s64 %%v1, %%rd4, %%v0;\nld.global.u32 %%u6, [%%v1];\n"
                   "st.shared.u32 [%%r10+%d], %%u6;\n}\n",
                   q + 1, 4 * (2 * q + 1) % 64);
  for (int q = 0; q < KEPT; q++)
    at += snprintf(body + at, sizeof body - (size_t)at, "st.global.f32 [%%rd6+%d], %%f%d;\n", 1024 * q, q);
  snprintf(body + at, sizeof body - (size_t)at, "ret;\n");
  struct code c = compile(body, 90);
  assert_int_equal(count(&c, "ldg", 0), KEPT + CHAINS);
  uint32_t waits = 0; /* stores that wait for a load just before them */
  for (uint32_t i = 1; i < c.n; i++) waits += !strcmp(c.at[i].cls, "sts") && c.at[i - 1].line + 1 == c.at[i].line;
  assert_true(waits <= 1);
  assert_true(c.regs <= 32);
}

/* Four values that loads under a guard may replace, each a copy of the value before: no copy but three of the first
 * value (the fourth is in place), besides the stack pointer and a factor. */
static void guarded_loads_replace_in_place(void **state) {
  (void)state;
  enum { WORDS = 4, ROUNDS = 3 };
  char body[8000];
  int at = snprintf(body, sizeof body,
                    "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\nadd.s64 %%rd7, %%rd4, %%rd5;\n"
                    "setp.lt.s32 %%p1, %%r4, %%r9;\nmov.b32 %%r10, %%r1;\n",
                    INDEX);
  for (int round = 0; round < ROUNDS; round++) {
    for (int q = 0; q < WORDS; q++) {
      int from = round ? 11 + 4 * (round - 1) + q : 10, to = 11 + 4 * round + q;
      at += snprintf(body + at, sizeof body - (size_t)at,
                     "mov.b32 %%r%d, %%r%d;\n@%%p1 ld.global.u32 %%r%d, [%%rd6+%d];\n", to, from, to,
                     4096 * round + 512 * q);
    }
    at += snprintf(body + at, sizeof body - (size_t)at, "bar.sync 0;\n");
    for (int q = 0; q < WORDS; q++)
      at += snprintf(body + at, sizeof body - (size_t)at,
                     "mov.b32 %%f%d, %%r%d;\nadd.f32 %%f%d, %%f%d, %%f%d;\nst.global.f32 [%%rd7+%d], %%f%d;\n", q,
                     11 + 4 * round + q, q + 8, q, q, 4096 * round + 512 * q, q + 8);
  }
  snprintf(body + at, sizeof body - (size_t)at, "ret;\n");
  struct code c = compile(body, 70);
  assert_int_equal(count(&c, "ldg", 0), WORDS * ROUNDS);
  assert_int_equal(count(&c, "fp32", 0), WORDS * ROUNDS);
  assert_int_equal(count(&c, "mov", 0), WORDS - 1 + 2);
}

/* A number added to a register of several values is the offset of an access, unless the register changes between. */
static void sums_with_variables_are_offsets(void **state) {
  (void)state;
  static const char *const between[] = {"", "add.s32 %r10, %r10, %r9;\n"};
  uint32_t ints[2];
  for (uint32_t q = 0; q < 2; q++) {
    char body[2000];
    snprintf(body, sizeof body,
             "%smov.u32 %%r10, buf;\nmad.lo.s32 %%r10, %%r3, 4, %%r10;\nadd.s32 %%r11, %%r10, 64;\n%s"
             "ld.shared.u32 %%r12, [%%r11];\n%sadd.s32 %%r13, %%r10, 128;\nld.shared.u32 %%r14, [%%r13];\n"
             "add.s32 %%r15, %%r12, %%r14;\nst.shared.u32 [%%r10], %%r15;\nret;\n",
             INDEX, between[q], between[!q]);
    struct code c = compile(body, 70);
    assert_int_equal(count(&c, "lds", 0), 2);
    ints[q] = count(&c, "int", 0);
  }
  assert_int_equal(ints[1], ints[0] + 1);
}

/* Sums that begin with zero, each in a register of its own, in a loop that stays: pairs, but for one or two. */
static void zeros_come_in_pairs(void **state) {
  (void)state;
  for (int n = 1; n <= 16; n++) {
    char body[4096];
    int at = snprintf(body, sizeof body,
                      "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\nmov.u32 %%r10, %%r9;\n", INDEX);
    for (int q = 0; q < n; q++)
      at += snprintf(body + at, sizeof body - (size_t)at, q ? "mov.f32 %%f%d, %%f0;\n" : "mov.f32 %%f%d, 0f00000000;\n",
                     q);
    at +=
        snprintf(body + at, sizeof body - (size_t)at, "LOOP:\n.pragma \"nounroll\";\nld.global.f32 %%f31, [%%rd6];\n");
    for (int q = 0; q < n; q++)
      at += snprintf(body + at, sizeof body - (size_t)at, "fma.rn.f32 %%f%d, %%f31, %%f31, %%f%d;\n", q, q);
    at +=
        snprintf(body + at, sizeof body - (size_t)at,
                 "add.s64 %%rd6, %%rd6, 4;\nadd.s32 %%r10, %%r10, -1;\nsetp.ne.s32 %%p1, %%r10, 0;\n@%%p1 bra LOOP;\n");
    for (int q = 0; q < n; q++)
      at += snprintf(body + at, sizeof body - (size_t)at, "st.global.f32 [%%rd6+%d], %%f%d;\n", 1024 * q, q);
    snprintf(body + at, sizeof body - (size_t)at, "ret;\n");
    struct code c = compile(body, 80);
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < c.n; i++) pairs += !strcmp(c.at[i].name, "CS2R");
    if (pairs != (n < 5 ? 0 : (uint32_t)(n - 1) / 2)) fail_msg("%d zeros: %u pairs", n, pairs);
  }
}

/* `loads` of 16 bytes at the begin and sums of their words behind: loads wait until all warps stay resident (ptxas 11.8
 * and 13.0 take 32 registers for each of these).
 */
static void loads_wait_where_registers_cost_warps(void **state) {
  (void)state;
  static const int numbers[] = {7, 8, 10, 12};
  static char body[1 << 14];
  for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++) {
    int at = snprintf(body, sizeof body,
                      "ld.param.u64 %%rd1, [p];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd3, %%r1, 1024;\n"
                      "add.s64 %%rd4, %%rd1, %%rd3;\n.reg .f32 %%w<64>, %%s;\n");
    for (int i = 0; i < numbers[n]; i++)
      at +=
          snprintf(body + at, sizeof body - (size_t)at, "ld.global.v4.f32 {%%w%d, %%w%d, %%w%d, %%w%d}, [%%rd4+%d];\n",
                   4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 16 * i);
    at += snprintf(body + at, sizeof body - (size_t)at, "mov.f32 %%s, 0f3F800000;\n");
    for (int i = 0; i < 8 * numbers[n]; i++)
      at += snprintf(body + at, sizeof body - (size_t)at, "fma.rn.f32 %%s, %%w%d, %%s, %%w%d;\n", i / 8 * 4 + i % 4,
                     i / 8 * 4 + (i + 1 + i % 8 / 4) % 4);
    snprintf(body + at, sizeof body - (size_t)at, "st.global.f32 [%%rd4], %%s;\nret;\n");
    for (uint32_t sm = 70; sm <= 90; sm += 10) assert_in_range(compile(body, sm).regs, 24, 32);
  }
}

static uint32_t named(const struct code *c, const char *name) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++) n += !strcmp(c->at[i].name, name);
  return n;
}

/* Logic of three values is one instruction, whatever its form; a word that is turned is added by LEA.HI (ptxas 11.8 and
 * 13.0). */
static void logic_of_three_values_and_turned_sums(void **state) {
  (void)state;
#define VALUES "ld.param.u64 %rd1, [p];\nld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];\n"
#define WRITTEN "st.global.u32 [%rd1], %r9;\nret;\n"
  static const struct {
    const char *text;
    uint32_t logic, shifts, leas;
  } cases[] = {
      {"and.b32 %r5, %r1, %r2;\nnot.b32 %r6, %r1;\nand.b32 %r7, %r6, %r3;\nor.b32 %r9, %r5, %r7;\n", 1, 0, 0},
      {"or.b32 %r5, %r2, %r3;\nand.b32 %r6, %r1, %r5;\nand.b32 %r7, %r2, %r3;\nor.b32 %r9, %r6, %r7;\n", 1, 0, 0},
      {"and.b32 %r5, %r1, %r2;\nand.b32 %r6, %r3, %r4;\nor.b32 %r9, %r5, %r6;\n", 2, 0, 0},
      {"and.b32 %r5, %r1, 255;\nand.b32 %r6, %r2, 65280;\nor.b32 %r9, %r5, %r6;\n", 2, 0, 0},
      {"shf.l.wrap.b32 %r5, %r1, %r1, 7;\nadd.s32 %r9, %r5, %r2;\n", 0, 0, 1},
      {"shf.l.wrap.b32 %r5, %r1, %r1, 7;\nsub.s32 %r9, %r5, %r2;\n", 0, 1, 0},
      {"shf.l.wrap.b32 %r5, %r1, %r2, 7;\nadd.s32 %r9, %r5, %r2;\n", 0, 1, 0},
  };
  for (size_t q = 0; q < sizeof cases / sizeof *cases; q++) {
    char body[1024];
    snprintf(body, sizeof body, "%s%s%s", VALUES, cases[q].text, WRITTEN);
    struct code c = compile(body, 80);
    assert_int_equal(named(&c, "LOP3"), cases[q].logic);
    assert_int_equal(named(&c, "SHF"), cases[q].shifts);
    assert_int_equal(named(&c, "LEA"), cases[q].leas);
  }
}

/* A tree of `n` values that the text makes level by level, far apart: in the order of the text n registers. */
static uint32_t registers_of_tree(uint32_t n, uint32_t sm) {
  static char text[1 << 16];
  size_t at = 0;
#define SAY(...) at += (size_t)snprintf(text + at, sizeof text - at, __VA_ARGS__)
  SAY("%s%s", INDEX,
      ".reg .b32 %v<400>;\nmul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.u32 %r8, [%rd6];\n");
  for (uint32_t i = 0; i < n; i++) SAY("ld.global.u32 %%v%u, [%%rd6+%u];\n", i, 64 * (i + 1));
  for (uint32_t from = 0, to = n, half = n / 2; half; from = to - half, half /= 2)
    for (uint32_t i = 0; i < half; i++, to++)
      SAY("xor.b32 %%v%u, %%v%u, %%v%u;\nmul.lo.s32 %%v%u, %%v%u, %%r8;\n", to, from + i, from + half + i, to, to);
  SAY("st.global.u32 [%%rd6], %%v%u;\nret;\n", 2 * n - 2);
  return compile(text, sm).regs;
}

/* ptxas 11.8 and 13.0 take 32 for both. */
static void a_wide_tree_is_made_branch_by_branch(void **state) {
  (void)state;
  for (uint32_t sm = 70; sm <= 90; sm += 10) {
    assert_in_range(registers_of_tree(64, sm), 24, 32);
    assert_in_range(registers_of_tree(128, sm), 24, 32);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_rise_above_stores_that_they_cannot_meet),
      cmocka_unit_test(addresses_come_before_what_waits_for_loads),
      cmocka_unit_test(addresses_of_64_bits_share_their_sum),
      cmocka_unit_test(roots_overlap_with_few_registers),
      cmocka_unit_test(loads_gather_with_few_registers),
      cmocka_unit_test(guarded_loads_replace_in_place),
      cmocka_unit_test(sums_with_variables_are_offsets),
      cmocka_unit_test(zeros_come_in_pairs),
      cmocka_unit_test(loads_wait_where_registers_cost_warps),
      cmocka_unit_test(logic_of_three_values_and_turned_sums),
      cmocka_unit_test(a_wide_tree_is_made_branch_by_branch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
