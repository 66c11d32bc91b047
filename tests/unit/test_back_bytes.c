/* test_back_bytes.c - vectors of bytes and half-words in memory: the memory is that of the PTX, the instructions are
 * those of ptxas 11.8 for sm_70 and 13.0 for sm_90.
 */
#include <stdio.h>
#include <stdlib.h>

#include "back_code.h"
#include "back_run.h"
#include "back_text.h"

/* %r1: the thread; %rd2: its 16 bytes. */
#define KERNEL                                                                                                       \
  ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"              \
  ".reg .pred %p<8>;\n.reg .b16 %rs<16>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<16>;\n"                 \
  "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd2, %rd1, %rd3;\n"          \
  "and.b32 %r3, %r1, 7;\nsetp.gt.u32 %p1, %r3, 4;\nmov.u32 %r4, 7;\nmov.u32 %r5, 7;\nmov.u32 %r6, 7;\nmov.u32 %r7, " \
  "7;\n"
#define LEAVE "ret;\n}\n"

static void same_memory(const char *text) {
  static const uint32_t machines[] = {70, 80, 90};
  same_memory_on(text, machines, sizeof machines / sizeof *machines);
}

static const char *const types[] = {"u8", "s8", "b8", "u16", "s16", "b16"};
enum { TYPES = sizeof types / sizeof *types };

/* Into registers of 32 bits, with and without a guard, and back as they were and changed. */
static void loads_and_stores_leave_the_same_memory(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  for (unsigned t = 0; t < TYPES; t++)
    for (unsigned how = 0; how < 8; how++) {
      const char *guard = how % 2 ? "@%p1 " : "", *n = how & 2 ? "v4" : "v2", *type = types[t];
      const char *regs = how & 2 ? "{%r4, %r5, %r6, %r7}" : "{%r4, %r5}";
      const char *turned = how & 2 ? "{%r7, %r4, %r4, %r6}" : "{%r5, %r4}";
      m->at = 0;
      say(m, "%s%sld.global.%s.%s %s, [%%rd2+8];\n", KERNEL, how & 4 ? "" : guard, n, type, regs);
      say(m, "%sst.global.%s.%s [%%rd2], %s;\n", how & 4 ? guard : "", n, type, turned);
      say(m, "add.u32 %%r8, %%r4, %%r5;\nmad.lo.u32 %%r8, %%r6, 77, %%r8;\nadd.u32 %%r8, %%r8, %%r7;\n");
      say(m, "st.global.u32 [%%rd2+8], %%r8;\n%s", LEAVE);
      same_memory(m->text);
    }
  free(m);
}

static void as_integers_and_floats(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  for (unsigned t = 0; t < 4; t++) {
    static const char *const load[] = {"v4.u8", "v4.s8", "v4.u16", "v4.s16"};
    bool sign = t % 2;
    m->at = 0;
    say(m, "%sld.global.%s {%%rs1, %%rs2, %%rs3, _}, [%%rd2];\n", KERNEL, load[t]);
    say(m, "cvt.%s32.%s16 %%r10, %%rs1;\ncvt.%s32.%s16 %%r11, %%rs2;\n", sign ? "s" : "u", sign ? "s" : "u",
        sign ? "s" : "u", sign ? "s" : "u");
    say(m, "cvt.rn.f32.%s16 %%f1, %%rs2;\ncvt.rn.f32.%s16 %%f2, %%rs3;\nmul.lo.s16 %%rs4, %%rs1, %%rs2;\n",
        sign ? "s" : "u", sign ? "s" : "u");
    say(m, "mul.lo.s16 %%rs5, %%rs4, -3;\ncvt.s32.s16 %%r12, %%rs5;\nadd.f32 %%f1, %%f1, %%f2;\n");
    say(m, "mad.lo.s32 %%r10, %%r10, 257, %%r11;\nadd.u32 %%r10, %%r10, %%r12;\nst.global.u32 [%%rd2], %%r10;\n");
    say(m, "st.global.f32 [%%rd2+4], %%f1;\nld.global.u32 %%r13, [%%rd2+12];\nand.b32 %%r14, %%r13, 255;\n");
    say(m, "shr.u32 %%r15, %%r13, 16;\nand.b32 %%r15, %%r15, 255;\nshr.u32 %%r16, %%r13, 24;\n");
    say(m, "cvt.rn.f32.u32 %%f3, %%r14;\ncvt.rn.f32.u32 %%f4, %%r15;\ncvt.rn.f32.u32 %%f5, %%r16;\n");
    say(m, "fma.rn.f32 %%f3, %%f4, %%f5, %%f3;\nst.global.f32 [%%rd2+8], %%f3;\n%s", LEAVE);
    same_memory(m->text);
  }
  free(m);
}

/* Integer instructions (PRMT, shifts, logic) besides those of the address. */
static void instructions_of_ptxas(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t ints[2]; /* sm_70, sm_90 */
  } cases[] = {
      {"ld.global.u32 %r5, [%rd3];\nst.global.u32 [%rd4], %r5;\nret;\n", {0, 0}},
      {"ld.global.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd3];\nst.global.v4.u8 [%rd4], {%rs4, %rs3, %rs2, %rs1};\nret;\n",
       {7, 7}},
      {"ld.global.u32 %r5, [%rd3];\nst.global.v4.u8 [%rd4], {%r5, %r5, %r4, %r4};\nret;\n", {3, 3}},
      {"ld.global.u32 %r5, [%rd3];\nst.global.v2.u16 [%rd4], {%r5, %r4};\nret;\n", {1, 1}},
      {"ld.global.u32 %r5, [%rd3];\nst.global.v4.u16 [%rd4], {%r5, %r4, %r4, %r5};\nret;\n", {2, 2}},
      {"ld.global.v2.u16 {%rs1, %rs2}, [%rd3];\ncvt.u32.u16 %r5, %rs1;\ncvt.u32.u16 %r6, %rs2;\n"
       "mul.lo.u32 %r7, %r5, %r6;\nst.global.u32 [%rd4], %r7;\nret;\n",
       {2, 2}},
      {"ld.global.v2.u16 {%rs1, %rs2}, [%rd3];\ncvt.rn.f32.u16 %f1, %rs1;\ncvt.rn.f32.u16 %f2, %rs2;\n"
       "mul.f32 %f1, %f1, %f2;\nst.global.f32 [%rd4], %f1;\nret;\n",
       {0, 0}},
      {"ld.global.v2.u8 {%rs1, %rs2}, [%rd3];\ncvt.rn.f32.u16 %f1, %rs1;\ncvt.rn.f32.u16 %f2, %rs2;\n"
       "mul.f32 %f1, %f1, %f2;\nst.global.f32 [%rd4], %f1;\nret;\n",
       {0, 2}},
      {"ld.global.u32 %r5, [%rd3];\nand.b32 %r6, %r5, 255;\nshr.u32 %r7, %r5, 8;\nand.b32 %r8, %r7, 255;\n"
       "cvt.rn.f32.u32 %f1, %r6;\ncvt.rn.f32.u32 %f2, %r8;\nmul.f32 %f1, %f1, %f2;\nst.global.f32 [%rd4], %f1;\nret;\n",
       {0, 2}},
      {"ld.global.u8 %rs1, [%rd3];\nmul.lo.s16 %rs2, %rs1, 9;\nst.global.u8 [%rd4], %rs2;\nret;\n", {0, 0}},
  };
  static char text[2048];
  for (uint32_t s = 0; s < 2; s++) {
    uint32_t base = 0;
    for (uint32_t q = 0; q < sizeof cases / sizeof *cases; q++) {
      snprintf(text, sizeof text, "%s%s%s", ".reg .b16 %rs<16>;\n", INDEX, cases[q].text);
      struct code c = compile(text, s ? 90 : 70);
      if (!q) base = count(&c, "int", 0);
      if (count(&c, "int", 0) != base + cases[q].ints[s])
        fail_msg("sm_%u: %u instead of %u:\n%s", s ? 90 : 70, count(&c, "int", 0) - base, cases[q].ints[s],
                 cases[q].text);
    }
  }
}

/* Of 64 bits: shifts by 32 and more, logic with small numbers, and what only the lower half is read of, move one. */
static void one_half_of_an_integer(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t ints;
  } cases[] = {
      {"", 0},
      {"shr.u64 %rd5, %rd5, 20;\n", 2},
      {"shr.u64 %rd5, %rd5, 33;\n", 1},
      {"shr.s64 %rd5, %rd5, 33;\n", 2},
      {"shr.s64 %rd5, %rd5, 32;\n", 1},
      {"shl.b64 %rd5, %rd5, 40;\n", 1},
      {"or.b64 %rd5, %rd5, 65536;\n", 1},
      {"or.b64 %rd5, %rd5, 4294967296;\n", 2},
      {"shr.u64 %rd6, %rd5, 33;\nxor.b64 %rd5, %rd6, %rd5;\n", 2},
      {"mul.wide.u32 %rd6, %r4, -1431655765;\nshr.u64 %rd7, %rd6, 36;\ncvt.u32.u64 %r5, %rd7;\n"
       "st.global.u32 [%rd4+8], %r5;\n",
       1},
      {"shr.u64 %rd6, %rd5, 20;\nst.global.u32 [%rd4+8], %rd6;\n", 1},
      {"xor.b64 %rd6, %rd5, %rd3;\nshl.b64 %rd7, %rd6, 3;\ncvt.u32.u64 %r5, %rd7;\nst.global.u32 [%rd4+8], %r5;\n", 2},
  };
  static char text[2048];
  uint32_t base = 0;
  for (uint32_t q = 0; q < sizeof cases / sizeof *cases; q++) {
    snprintf(text, sizeof text, "%s%s%s%s", INDEX, "ld.global.u64 %rd5, [%rd3];\n", cases[q].text,
             "st.global.u64 [%rd4], %rd5;\nret;\n");
    struct code c = compile(text, 80);
    if (!q) base = count(&c, "int", 0);
    if (count(&c, "int", 0) != base + cases[q].ints)
      fail_msg("%u instead of %u: %s", count(&c, "int", 0) - base, cases[q].ints, cases[q].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_and_stores_leave_the_same_memory),
      cmocka_unit_test(as_integers_and_floats),
      cmocka_unit_test(instructions_of_ptxas),
      cmocka_unit_test(one_half_of_an_integer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
