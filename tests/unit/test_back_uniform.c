/* test_back_uniform.c - what lies in uniform registers, which loops load constants in their body, and where lanes may
 * part. Each case is as ptxas 11.8 has it on sm_80 and 13.0 on sm_90.
 */
#include "back_code.h"

/* %r9: a parameter; %r7, %r8, %f1, %f2: loaded by the thread; %rd6: its words. */
#define START                                                                                                          \
  INDEX "mul.wide.s32 %rd5, %r3, 16;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.u32 %r7, [%rd6];\nmov.u32 %r10, 0;\n"       \
        "ld.global.u32 %r8, [%rd6+4];\nld.global.f32 %f1, [%rd6+8];\nld.global.f32 %f2, [%rd6+12];\nmov.u32 %r5, 0;\n" \
        "mov.f32 %f3, 0f00000000;\n"
#define LEAVE "st.global.u32 [%rd6], %r5;\nst.global.f32 [%rd6+4], %f3;\nret;\n"
#define LOOP(body, step, test)                                                                        \
  "LOOP:\n.pragma \"nounroll\";\n" body "add.s32 %r10, %r10, " step ";\nsetp.lt.s32 %p1, %r10, " test \
  ";\n@%p1 bra LOOP;\n"
#define VALUE "xor.b32 %r5, %r5, %r10;\nadd.s32 %r5, %r5, %r7;\n"
#define STRAIGHT "xor.b32 %r5, %r7, %r11;\nadd.s32 %r5, %r5, %r8;\n"

struct uniform_case {
  const char *name, *text;
  uint32_t ampere, hopper; /* instructions of the uniform datapath but loads and moves */
};

static const struct uniform_case cases[] = {
    {"a counter", LOOP(VALUE, "1", "%r9"), 0, 1},
    {"a counter that meets a number", LOOP(VALUE, "1", "100"), 0, 0},
    {"a counter and zero", LOOP(VALUE "setp.gt.s32 %p2, %r10, 0;\nselp.b32 %r5, %r5, %r8, %p2;\n", "1", "%r9"), 0, 1},
    {"a counter and a number",
     LOOP("add.s32 %r11, %r10, %r7;\nadd.s32 %r12, %r11, 5;\nxor.b32 %r5, %r5, %r12;\n", "1", "%r9"), 0, 0},
    {"a counter, shifted",
     LOOP("shl.b32 %r11, %r10, 4;\nxor.b32 %r5, %r5, %r11;\nadd.s32 %r5, %r5, %r8;\n", "1", "%r9"), 0, 2},
    {"a counter, shifted into a sum",
     LOOP("shl.b32 %r11, %r10, 4;\nadd.s32 %r12, %r11, %r7;\nxor.b32 %r5, %r5, %r12;\n", "1", "%r9"), 0, 0},
    {"a counter that is stored", LOOP(VALUE "st.global.u32 [%rd6+8], %r10;\n", "1", "%r9"), 0, 0},
    {"a counter that a lane chooses",
     LOOP(VALUE "selp.b32 %r11, %r10, %r7, %p2;\nadd.s32 %r5, %r5, %r11;\n", "1", "%r9"), 0, 0},
    {"steps of a parameter", LOOP(VALUE, "%r9", "%r7"), 0, 0},
    {"steps of the CTA's size", LOOP(VALUE, "%r2", "%r9"), 0, 1},
    {"a counter and a value", "mul.lo.s32 %r11, %r9, 3;\n" LOOP(VALUE, "1", "%r11"), 1, 1},
    {"a loop that lanes leave at different times",
     LOOP(VALUE "setp.gt.s32 %p2, %r5, 5;\n@%p2 bra OUT;\n" VALUE, "1", "%r9") "OUT:\n", 0, 0},
    {"an address of shared memory",
     LOOP("shl.b32 %r11, %r10, 2;\nmov.u32 %r12, buf;\nadd.s32 %r12, %r12, %r11;\nld.shared.u32 %r13, [%r12];\n"
          "add.s32 %r5, %r5, %r13;\n",
          "1", "%r9"),
     0, 2},
    {"a value", "mul.lo.s32 %r11, %r9, 3;\n" STRAIGHT, 1, 1},
    {"a value that is stored", "mul.lo.s32 %r11, %r9, 3;\nst.global.u32 [%rd6+8], %r11;\n", 0, 0},
    {"a value and a number", "mul.lo.s32 %r11, %r9, 3;\nadd.s32 %r12, %r11, %r7;\nadd.s32 %r11, %r12, 5;\n" STRAIGHT, 0,
     0},
    {"the lesser of two", "min.s32 %r11, %r2, %r9;\n" STRAIGHT, 2, 2},
    {"a number of the CTA", "mov.u32 %r6, %ctaid.y;\nmul.lo.s32 %r11, %r6, 48;\n" STRAIGHT, 1, 1},
    {"the like in a sum", "mov.u32 %r6, %ctaid.y;\nmad.lo.s32 %r11, %r6, 48, %r7;\n" STRAIGHT, 0, 0},
    {"the like as an index", "mov.u32 %r6, %ctaid.y;\nmul.wide.s32 %rd7, %r6, 4;\nadd.s64 %rd6, %rd6, %rd7;\n", 0, 0},
};

static uint32_t arithmetic(const struct code *c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++) {
    const char *name = c->at[i].name;
    n += !strcmp(c->at[i].cls, "uniform") && strcmp(name, "ULDC") && strcmp(name, "UMOV");
  }
  return n;
}

static void values_that_every_reader_takes(void **state) {
  (void)state;
  for (uint32_t q = 0; q < sizeof cases / sizeof *cases; q++) {
    static char text[1 << 14];
    snprintf(text, sizeof text, "%s%s%s", START, cases[q].text, LEAVE);
    struct code volta = compile(text, 70), ampere = compile(text, 80), hopper = compile(text, 90);
    if (arithmetic(&volta) || arithmetic(&ampere) != cases[q].ampere || arithmetic(&hopper) != cases[q].hopper)
      fail_msg("%s: %u on sm_70, %u on sm_80, %u on sm_90", cases[q].name, arithmetic(&volta), arithmetic(&ampere),
               arithmetic(&hopper));
  }
}

/* Of a number and a size of the CTA the first has the place for a uniform register. */
static void the_first_of_the_ctas_numbers(void **state) {
  (void)state;
#define SUM "mad.lo.s32 %r6, %r11, %r12, %r7;\nxor.b32 %r5, %r6, %r8;\n"
  struct code number = compile(START "mov.u32 %r11, %ctaid.y;\nmov.u32 %r12, %ntid.y;\n" SUM LEAVE, 90);
  struct code size = compile(START "mov.u32 %r12, %ntid.y;\nmov.u32 %r11, %ctaid.y;\n" SUM LEAVE, 90);
  assert_int_equal(count(&number, "ldc", 0), count(&size, "ldc", 0) + 1);
  assert_int_equal(count(&number, "uniform", 0) + 1, count(&size, "uniform", 0));
}

#define LOADS(n)                                                                                                 \
  "ld.global.f32 %f4, [%rd8+4];\nadd.f32 %f3, %f3, %f4;\nld.global.f32 %f5, [%rd8+8];\nadd.f32 %f3, %f3, %f5;\n" \
  "ld.global.f32 %f6, [%rd8+12];\nadd.f32 %f3, %f3, %f6;\n" n
#define POINTERS                                                                                                   \
  "mul.wide.s32 %rd7, %r4, 4;\nadd.s64 %rd8, %rd3, %rd7;\nadd.s64 %rd9, %rd4, %rd7;\nld.global.f32 %f7, [%rd8];\n" \
  "add.f32 %f3, %f3, %f7;\nld.global.f32 %f8, [%rd9];\nadd.f32 %f3, %f3, %f8;\n"
#define STRIDE(body)                                                                                          \
  START "LOOP:\n.pragma \"nounroll\";\n" POINTERS body "add.s32 %r4, %r4, %r9;\nsetp.lt.s32 %p1, %r4, %r9;\n" \
        "@%p1 bra LOOP;\n" LEAVE
#define FMA "fma.rn.f32 %f3, %f1, %f2, %f3;\n"

/* Where a fifth of a loop loads from global memory its constants are loaded in it; where it has branches they are not,
 * and where it has a loop within they are. */
static void loops_of_memory_load_their_constants(void **state) {
  (void)state;
  struct code few = compile(STRIDE(LOADS(FMA FMA FMA FMA)), 90),
              many = compile(STRIDE(LOADS(FMA FMA FMA FMA FMA FMA)), 90);
  assert_int_equal(in_loops(&few, "ldc"), 1); /* the other one serves what is before, too */
  assert_int_equal(in_loops(&many, "ldc"), 0);
  struct code wide =
      compile(STRIDE(LOADS("ld.global.v4.f32 {%f9, %f10, %f11, %f12}, [%rd8+4096];\nadd.f32 %f3, %f3, %f9;\n"
                           "add.f32 %f3, %f3, %f10;\nadd.f32 %f3, %f3, %f11;\nadd.f32 %f3, %f3, %f12;\n")),
              90);
  assert_int_equal(in_loops(&wide, "ldc"), 0);
  struct code branches = compile(STRIDE(LOADS("setp.gt.f32 %p2, %f3, %f1;\n@%p2 bra OVER;\nbar.sync 0;\n"
                                              "atom.global.add.u32 %r6, [%rd8], 1;\nbar.sync 0;\nOVER:\n")),
                                 90);
  assert_int_equal(in_loops(&branches, "ldc"), 0);
  struct code outer = compile(STRIDE("mov.u32 %r6, 0;\nIN:\n.pragma \"nounroll\";\n" FMA FMA "add.s32 %r6, %r6, 1;\n"
                                     "setp.lt.s32 %p3, %r6, %r9;\n@%p3 bra IN;\n"),
                              90);
  assert_int_equal(in_loops(&outer, "ldc"), 2);
}

static void vectors_of_parameters_are_parameters(void **state) {
  (void)state;
#define READ "add.s32 %r5, %r7, %r10;\nxor.b32 %r5, %r5, %r11;\n"
  struct code vector = compile(START "ld.param.v2.u32 {%r10, %r11}, [q];\n" READ LEAVE, 80);
  struct code apart = compile(START "ld.param.u32 %r10, [q];\nld.param.u32 %r11, [q+4];\n" READ LEAVE, 80);
  assert_int_equal(vector.n, apart.n);
  assert_int_equal(vector.regs, apart.regs);
}

/* Lanes that read one address, one lane's value or a vote go the same way; after local memory and atomics not. */
static void lanes_that_read_the_same_stay_together(void **state) {
  (void)state;
#define BOUND(text) START text LOOP(VALUE, "1", "%r11") LEAVE
  static const struct {
    const char *text;
    bool part;
  } bounds[] = {
      {BOUND("ld.global.u32 %r11, [%rd4];\n"), false},
      {BOUND("ld.volatile.shared.u32 %r11, [buf];\n"), false},
      {BOUND("shfl.sync.idx.b32 %r11, %r7, 0, 31, -1;\n"), false},
      {BOUND("setp.gt.s32 %p2, %r7, 3;\nvote.sync.ballot.b32 %r11, %p2, -1;\n"), false},
      {BOUND("ld.global.u32 %r11, [%rd6+4096];\n"), true},
      {BOUND("shfl.sync.idx.b32 %r11, %r7, %r8, 31, -1;\n"), true},
      {BOUND("atom.global.add.u32 %r11, [%rd4], 1;\n"), true},
      {BOUND("mov.u32 %r11, %lanemask_lt;\n"), true},
  };
  for (uint32_t q = 0; q < sizeof bounds / sizeof *bounds; q++)
    for (uint32_t sm = 70; sm <= 90; sm += 20) {
      struct code c = compile(bounds[q].text, sm);
      uint32_t parts = 0;
      for (uint32_t i = 0; i < c.n; i++) parts += !strcmp(c.at[i].name, "BSSY");
      if ((parts != 0) != bounds[q].part) fail_msg("bound %u, sm_%u: %u barriers", q, sm, parts);
    }
}

/* A loop with `own` values of the thread and `shared` ones (or as many of the thread again) that also meet numbers. */
static uint32_t registers(uint32_t sm, uint32_t own, uint32_t shared, bool apart) {
  static char text[1 << 14];
  size_t at = 0;
#define SAY(...) at += (size_t)snprintf(text + at, sizeof text - at, __VA_ARGS__)
  SAY("%s.reg .f32 %%v<40>;\n.reg .b32 %%s<40>;\n.reg .pred %%q<40>;\n", START);
  for (uint32_t i = 0; i < own; i++) SAY("ld.global.f32 %%v%u, [%%rd6+%u];\n", i, 4096 + 4 * i);
  for (uint32_t i = 0; i < shared; i++) SAY("mul.lo.s32 %%s%u, %s, %u;\n", i, apart ? "%r3" : "%r9", 3 + 2 * i);
  SAY("LOOP:\n.pragma \"nounroll\";\nbar.sync 0;\n");
  for (uint32_t i = 0; i < own; i++) SAY("fma.rn.f32 %%v%u, %%v%u, %%v%u, %%f1;\n", i, i, i);
  for (uint32_t i = 0; i < shared; i++)
    SAY("xor.b32 %%r5, %%r5, %%s%u;\nadd.s32 %%r5, %%r5, %%r8;\nsetp.lt.s32 %%q%u, %%s%u, %u;\n"
        "selp.b32 %%r5, %%r5, %%r8, %%q%u;\nxor.b32 %%r5, %%r5, %%r7;\n",
        i, i, i, 7 + i, i);
  SAY("add.s32 %%r10, %%r10, 1;\nsetp.lt.s32 %%p1, %%r10, %%r9;\n@%%p1 bra LOOP;\n");
  for (uint32_t i = 0; i < own; i++) SAY("st.global.f32 [%%rd6+%u], %%v%u;\n", 8192 + 4 * i, i);
  SAY("%s", LEAVE);
  return compile(text, sm).regs;
}

/* Where it lets more warps be resident, shared values are uniform whatever reads them; as many registers as ptxas 11.8
 * and 13.0 take. */
static void shared_values_make_room_for_warps(void **state) {
  (void)state;
  static const struct {
    uint32_t own, shared, regs, apart;
  } rows[] = {{20, 8, 32, 40}, {28, 8, 40, 48}, {20, 12, 32, 48}, {24, 12, 40, 48}, {28, 12, 40, 56}};
  for (uint32_t q = 0; q < sizeof rows / sizeof *rows; q++)
    for (uint32_t sm = 80; sm <= 90; sm += 10) {
      assert_int_equal((registers(sm, rows[q].own, rows[q].shared, false) + 7) & ~7u, rows[q].regs);
      assert_int_equal((registers(sm, rows[q].own, rows[q].shared, true) + 7) & ~7u, rows[q].apart);
    }
}

/* A value of 64 bits of which the lower half is read has one register. */
static void halves_that_take_no_register(void **state) {
  (void)state;
  struct code wide =
      compile(START "mul.lo.u64 %rd7, %rd6, 12345;\nxor.b64 %rd8, %rd7, %rd2;\nmul.lo.u64 %rd9, %rd8, %rd6;\n"
                    "st.global.u64 [%rd6+16], %rd9;\n" LEAVE,
              80);
  struct code half =
      compile(START "mul.lo.u64 %rd7, %rd6, 12345;\nxor.b64 %rd8, %rd7, %rd2;\nmul.lo.u64 %rd9, %rd8, %rd6;\n"
                    "st.global.u32 [%rd6+16], %rd9;\n" LEAVE,
              80);
  assert_true(half.regs < wide.regs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_that_every_reader_takes),         cmocka_unit_test(the_first_of_the_ctas_numbers),
      cmocka_unit_test(loops_of_memory_load_their_constants),   cmocka_unit_test(vectors_of_parameters_are_parameters),
      cmocka_unit_test(lanes_that_read_the_same_stay_together), cmocka_unit_test(shared_values_make_room_for_warps),
      cmocka_unit_test(halves_that_take_no_register),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
