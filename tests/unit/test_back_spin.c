/* test_back_spin.c - atomics in shared memory that are loops of compare and swap: the memory is that of the PTX. */
#include <stdio.h>
#include <stdlib.h>

#include "back_code.h"
#include "back_run.h"
#include "back_text.h"

/* %r1: the thread; %rd2: its 16 bytes; %f1, %fd1: its number; %rd9: a word of its own. Sums are of small integers, so
 * that their order is nothing to them. */
#define KERNEL                                                                                                     \
  ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"            \
  ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .f32 %f<8>;\n.reg .f64 %fd<8>;\n.reg .b64 %rd<16>;\n"                \
  ".shared .align 8 .b8 buf[128];\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 16;\n"   \
  "add.s64 %rd2, %rd1, %rd3;\nld.global.u64 %rd9, [%rd2];\nand.b32 %r3, %r1, 7;\nsetp.gt.u32 %p1, %r3, 4;\n"       \
  "cvt.rn.f32.u32 %f1, %r1;\ncvt.rn.f64.u32 %fd1, %r1;\nand.b32 %r4, %r1, 3;\nshl.b32 %r4, %r4, 3;\nmov.u32 %r5, " \
  "buf;\nadd.u32 %r4, %r4, %r5;\nshr.u32 %r7, %r1, 5;\nmad.lo.u32 %r4, %r7, 64, %r4;\nmov.u64 %rd4, "              \
  "0;\nst.shared.u64 [%r4], %rd4;\nst.shared.u64 [%r4+32], %rd4;\n"                                                \
  "bar.sync 0;\n"
#define LEAVE "bar.sync 0;\nld.shared.u64 %rd5, [%r4];\nst.global.u64 [%rd2], %rd5;\nret;\n}\n"

static const uint32_t machines[] = {70, 80, 90};

static void same_memory(const char *text) {
  same_memory_on(text, machines, sizeof machines / sizeof *machines);
}

static const char *const atomics[][2] = {
    {"add.f32", "%f1"},        {"add.f64", "%fd1"}, {"add.u64", "%rd9"},  {"min.u64", "%rd9"}, {"min.s64", "%rd9"},
    {"max.u64", "%rd9"},       {"max.s64", "%rd9"}, {"and.b64", "%rd9"},  {"or.b64", "%rd9"},  {"xor.b64", "%rd9"},
    {"add.f32", "0f40000000"}, {"max.s64", "77"},   {"exch.b64", "%rd3"}, {"add.u32", "%r1"}};
enum { ATOMICS = sizeof atomics / sizeof *atomics };

static void every_operation_leaves_the_same_memory(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  for (unsigned op = 0; op < ATOMICS; op++)
    for (unsigned how = 0; how < 4; how++) {
      const char *guard = how % 2 ? "@%p1 " : "";
      m->at = 0;
      say(m, "%s", KERNEL);
      if (how < 2) {
        say(m, "%sred.shared.%s [%%r4], %s;\n", guard, atomics[op][0], atomics[op][1]);
      } else { /* of a warp, whose lanes come in their order */
        say(m, "mov.u64 %%rd6, 3;\nmov.u32 %%r6, 3;\n%satom.shared.%s %s, [%%r4+32], %s;\n", guard, atomics[op][0],
            op == 0 || op == 10 ? "%f2"
            : op == 1           ? "%fd2"
            : op == 13          ? "%r6"
                                : "%rd6",
            atomics[op][1]);
        bool extreme = op >= 3 && op <= 6; /* lanes that change nothing leave first */
        if (!extreme && op != 11) say(m, "st.global.u64 [%%rd2+8], %%rd6;\n");
      }
      say(m, "%s", LEAVE);
      same_memory(m->text);
    }
  free(m);
}

/* What ptxas makes of atomicAdd(&s, 1.5f) and the like: a load, an atomic and a branch back in a loop. */
static void these_are_loops(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t loads, atomics, branches, sums;
  } cases[] = {
      {"red.shared.add.f32 [buf], %f1;\nret;\n", 1, 1, 1, 1},
      {"red.shared.add.u64 [buf], %rd3;\nret;\n", 1, 1, 1, 0},
      {"red.shared.max.u64 [buf], %rd3;\nret;\n", 1, 1, 2, 0},
      {"atom.shared.exch.b64 %rd5, [buf], %rd3;\nst.shared.u64 [buf+8], %rd5;\nret;\n", 0, 0, 0, 0},
      {"red.shared.add.u32 [buf], %r4;\nret;\n", 0, 0, 0, 0},
      {"red.global.add.f32 [%rd3], %f1;\nret;\n", 0, 0, 0, 0},
  };
  char text[1024];
  for (uint32_t q = 0; q < sizeof cases / sizeof *cases; q++)
    for (uint32_t s = 0; s < 2; s++) {
      snprintf(text, sizeof text, "%s%s%s", INDEX, "cvt.rn.f32.s32 %f1, %r4;\n", cases[q].text);
      struct code c = compile(text, s ? 90 : 70);
      assert_int_equal(in_loops(&c, "lds"), cases[q].loads);
      assert_int_equal(in_loops(&c, "atom"), cases[q].atomics);
      assert_int_equal(in_loops(&c, "branch"), cases[q].branches);
      assert_int_equal(in_loops(&c, "fp32"), cases[q].sums);
      assert_int_equal(count(&c, "atom", 0), q != 4 || s ? 1 : count(&c, "atom", 0));
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_leaves_the_same_memory),
      cmocka_unit_test(these_are_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
