/* test_back_waits.c - loops in which lanes may wait for other threads: votes around YIELD before 8.0, YIELD since, as
 * ptxas 11.8 and 13.0 have them; the memory is that of the PTX.
 */
#include <stdio.h>
#include <stdlib.h>

#include "back_run.h"
#include "back_text.h"

/* %r1: the thread; %rd2: its 16 bytes; %rd3: a word that eight threads share. */
#define KERNEL                                                                                               \
  ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"      \
  ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.shared .align 4 .b8 buf[512];\n"               \
  "ld.param.u64 %rd1, [p];\nld.param.u32 %r2, [n];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 16;\n"     \
  "add.s64 %rd2, %rd1, %rd4;\nshr.u32 %r3, %r1, 3;\nmul.wide.u32 %rd5, %r3, 4;\nadd.s64 %rd3, %rd1, %rd5;\n" \
  "mov.u32 %r9, %r1;\nmov.u32 %r4, 0;\n"

#define FOR(body)                                                                           \
  "LOOP:\n.pragma \"nounroll\";\n" body "add.u32 %r9, %r9, 5;\nsetp.lt.u32 %p1, %r9, 90;\n" \
  "@%p1 bra LOOP;\n"

struct loop {
  const char *name, *text;
  bool waits, hopper; /* on sm_70 and sm_80; on sm_90 */
};

static const struct loop loops[] = {
    {"compare and swap",
     "ld.global.u32 %r5, [%rd3+1024];\nLOOP:\nmov.u32 %r6, %r5;\nadd.u32 %r7, %r6, %r1;\n"
     "atom.global.cas.b32 %r5, [%rd3+1024], %r6, %r7;\nsetp.ne.u32 %p1, %r5, %r6;\n@%p1 bra LOOP;\n",
     true, true},
    {"the like, left in its middle",
     "ld.global.u32 %r5, [%rd3+1024];\nLOOP:\nmov.u32 %r6, %r5;\nadd.u32 %r7, %r6, %r1;\n"
     "atom.global.cas.b32 %r5, [%rd3+1024], %r6, %r7;\nsetp.eq.u32 %p1, %r5, %r6;\n@%p1 bra OUT;\nbra LOOP;\nOUT:\n",
     true, true},
    {"in shared memory",
     "mov.u32 %r10, buf;\nshl.b32 %r11, %r3, 2;\nadd.u32 %r10, %r10, %r11;\nst.shared.u32 [%r10], %r2;\nbar.sync 0;\n"
     "ld.shared.u32 %r5, [%r10];\nLOOP:\nmov.u32 %r6, %r5;\nadd.u32 %r7, %r6, %r1;\n"
     "atom.shared.cas.b32 %r5, [%r10], %r6, %r7;\nsetp.ne.u32 %p1, %r5, %r6;\n@%p1 bra LOOP;\nbar.sync 0;\n"
     "ld.shared.u32 %r8, [%r10];\nst.global.u32 [%rd2], %r8;\n",
     true, true},
    {"of a volatile load", FOR("ld.volatile.global.u32 %r5, [%rd2+4];\nadd.u32 %r4, %r4, %r5;\n"), true, false},
    {"left by a volatile load",
     "LOOP:\nadd.u32 %r4, %r4, 3;\nst.volatile.global.u32 [%rd2+8], %r4;\nld.volatile.global.u32 %r5, [%rd2+8];\n"
     "add.u32 %r5, %r5, %r1;\nsetp.lt.u32 %p1, %r5, 70;\n@%p1 bra LOOP;\n",
     true, true},
    {"of a load", FOR("ld.global.u32 %r5, [%rd2+4];\nadd.u32 %r4, %r4, %r5;\n"), false, false},
    {"of a volatile store", FOR("st.volatile.global.u32 [%rd2+4], %r9;\n"), false, false},
    {"of a reduction", FOR("red.global.add.u32 [%rd3+2048], %r9;\n"), false, false},
    {"that all lanes leave together",
     "mov.u32 %r12, 0;\nLOOP:\n.pragma \"nounroll\";\nld.volatile.global.u32 %r5, [%rd2+4];\nadd.u32 %r4, %r4, %r5;\n"
     "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p1, %r12, %r2;\n@%p1 bra LOOP;\n",
     false, false},
    {"of a sum in shared memory",
     "mov.u32 %r10, buf;\nmov.u64 %rd7, 1;\nst.shared.u64 [%r10], %rd7;\nbar.sync 0;\n"
     "red.shared.add.u64 [%r10], %rd7;\nbar.sync 0;\nld.shared.u64 %rd8, [%r10];\nst.global.u64 [%rd2+8], %rd8;\n",
     false, false},
};

static void lanes_that_go_on_give_others_a_turn(void **state) {
  (void)state;
  static const uint32_t machines[] = {70, 75, 80, 90};
  struct maker *m = calloc(1, sizeof *m);
  for (uint32_t q = 0; q < sizeof loops / sizeof *loops; q++) {
    m->at = 0;
    say(m, "%s%sst.global.u32 [%%rd2+4], %%r4;\nret;\n}\n", KERNEL, loops[q].text);
    same_memory_on(m->text, machines, sizeof machines / sizeof *machines);
    for (uint32_t i = 0; i < sizeof machines / sizeof *machines; i++) {
      bool hopper = machines[i] >= 90, ampere = machines[i] >= 80;
      uint32_t want = hopper ? loops[q].hopper : loops[q].waits;
      uint32_t votes = instructions(m->text, machines[i], "VOTE"), nops = instructions(m->text, machines[i], "NOP");
      if (votes != (ampere ? 0 : 2 * want)) fail_msg("loop %s, sm_%u: %u votes", loops[q].name, machines[i], votes);
      if (want && !nops) fail_msg("loop %s, sm_%u: no YIELD", loops[q].name, machines[i]);
      if (!want && hopper && nops) fail_msg("loop %s, sm_%u: %u NOPs", loops[q].name, machines[i], nops);
    }
  }
  free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_that_go_on_give_others_a_turn)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
