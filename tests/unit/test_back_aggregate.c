/* test_back_aggregate.c - atomics of a warp on one word, which one lane does: the memory is that of the PTX. */
#include <stdio.h>
#include <stdlib.h>

#include "back_code.h"
#include "back_run.h"
#include "back_text.h"

/* %r1: the thread; %rd2: its 16 bytes; %r2: a word of its own; words 512 and up are shared. */
#define KERNEL                                                                                                         \
  ".version 7.8\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n"                \
  ".reg .pred %p<8>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.shared .align 4 .b8 buf[64];\nld.param.u64 %rd1, [p];\n" \
  "ld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd2, %rd1, %rd3;\n"             \
  "ld.global.u32 %r2, [%rd2];\nand.b32 %r3, %r1, 7;\nsetp.gt.u32 %p1, %r3, 4;\nadd.s64 %rd4, %rd1, 2048;\n"
#define LEAVE "ret;\n}\n"

static const uint32_t machines[] = {70, 75, 80, 90};

static void same_memory(const char *text) {
  same_memory_on(text, machines, sizeof machines / sizeof *machines);
}

static const char *const operations[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                         "max.s32", "and.b32", "or.b32",  "xor.b32"};
static const char *const values[] = {"1", "-7", "%r9", "%r2"};
enum { OPERATIONS = sizeof operations / sizeof *operations, VALUES = sizeof values / sizeof *values };

/* Every operation, of whole warps and parts of them, with and without a result. */
static void every_operation_leaves_the_same_memory(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  for (unsigned op = 0; op < OPERATIONS; op++)
    for (unsigned v = 0; v < VALUES; v++)
      for (unsigned how = 0; how < 6; how++) {
        const char *guard = how % 3 == 1 ? "@%p1 " : "";
        m->at = 0;
        say(m, "%s", KERNEL);
        if (how % 3 == 2) say(m, "@%%p1 bra OVER;\n");
        if (how < 3) {
          say(m, "%sred.global.%s [%%rd4+%u], %s;\n", guard, operations[op], 4 * how, values[v]);
        } else {
          say(m, "mov.u32 %%r4, 3;\n%satom.global.%s %%r4, [%%rd4+%u], %s;\n", guard, operations[op], 4 * how,
              values[v]);
          say(m, "st.global.u32 [%%rd2+4], %%r4;\n");
        }
        if (how % 3 == 2) say(m, "OVER:\n");
        say(m, "%s", LEAVE);
        same_memory(m->text);
      }
  free(m);
}

/* Several of a block, in shared memory, in loops that lanes leave one by one, at addresses that are loaded. */
static void atomics_of_a_block_share_what_they_need(void **state) {
  (void)state;
  same_memory(KERNEL "mov.u32 %r8, buf;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 st.shared.u32 [buf], %r9;\nbar.sync 0;\n"
                     "and.b32 %r4, %r2, 15;\nLOOP:\natom.shared.add.u32 %r5, [buf], 3;\n"
                     "atom.shared.add.u32 %r6, [%r8+4], %r2;\nred.shared.max.s32 [buf+8], %r5;\n"
                     "red.global.add.u32 [%rd4], %r9;\n@%p1 red.global.add.u32 [%rd4+8], 2;\n"
                     "red.global.xor.b32 [%rd4+4], 5;\nadd.u32 %r7, %r6, %r5;\nst.global.u32 [%rd2+8], %r7;\n"
                     "sub.u32 %r4, %r4, 1;\nsetp.gt.s32 %p3, %r4, 0;\n@%p3 bra LOOP;\nbar.sync 0;\n"
                     "ld.global.u32 %r10, [%rd4+16];\nand.b32 %r10, %r10, 7;\nmul.wide.u32 %rd5, %r10, 4;\n"
                     "add.s64 %rd6, %rd4, %rd5;\nred.global.add.u32 [%rd6+64], 1;\n"
                     "ld.shared.v2.u32 {%r11, %r12}, [buf];\nst.global.v2.u32 [%rd2], {%r11, %r12};\n" LEAVE);
}

/* What a later atomic of the block needs is there for warps that are not whole, too. */
static void a_later_atomic_of_part_of_a_warp(void **state) {
  (void)state;
  same_memory(KERNEL "@%p1 bra OVER;\nred.global.add.u32 [%rd4], %r2;\nred.global.add.u32 [%rd4+4], 5;\nOVER:\n" LEAVE);
  same_memory(KERNEL "@%p1 bra OVER;\natom.global.add.u32 %r4, [%rd4], %r2;\nst.global.u32 [%rd2+4], %r4;\n"
                     "red.global.add.u32 [%rd4+4], 5;\nOVER:\n" LEAVE);
}

/* Lanes that are apart see other values of a word that changes: the address is not shared. */
static void an_address_loaded_before_lanes_part_is_not_shared(void **state) {
  (void)state;
  same_memory(KERNEL "shr.u32 %r4, %r3, 1;\nWAIT:\nred.global.add.u32 [%rd4+4], 1;\nld.global.u32 %r5, [%rd4+4];\n"
                     "bfe.u32 %r6, %r5, 4, 4;\nsub.u32 %r4, %r4, 1;\nsetp.gt.s32 %p2, %r4, 0;\n@%p2 bra WAIT;\n"
                     "mul.wide.u32 %rd5, %r6, 4;\nadd.s64 %rd6, %rd4, %rd5;\nred.global.add.u32 [%rd6+64], 1;\n" LEAVE);
}

/* What ptxas 11.8 makes of atomicAdd(p, 5), atomicAdd(p, q[t]), t = atomicAdd(p, 1), atomicAdd(p + t, 5) and
 * atomicAdd(&shared, 1). */
static void the_sequences_are_those_of_ptxas(void **state) {
  (void)state;
  static const char *const text[] = {
      INDEX "red.global.add.u32 [%rd3], 5;\nret;\n",
      INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r5, [%rd6];\n"
            "red.global.add.u32 [%rd3], %r5;\nret;\n",
      INDEX "atom.global.add.u32 %r5, [%rd3], 1;\nmul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd4, %rd5;\n"
            "st.global.u32 [%rd6], %r5;\nret;\n",
      INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nred.global.add.u32 [%rd6], 5;\nret;\n",
      "red.shared.add.u32 [buf], 1;\nret;\n"};
  /* machine, atomics, shuffles and votes (one shuffle without lanes before 7.5), S2R, uniform votes and the like */
  static const uint32_t want[][5][4] = {{{1, 2, 1, 0}, {2, 7, 3, 0}, {1, 3, 4, 0}, {1, 1, 2, 0}, {1, 2, 1, 0}},
                                        {{1, 0, 1, 2}, {1, 0, 3, 2}, {1, 1, 4, 1}, {1, 0, 2, 0}, {1, 0, 0, 0}}};
  for (uint32_t s = 0; s < 2; s++)
    for (uint32_t q = 0; q < 5; q++) {
      struct code c = compile(text[q], s ? 80 : 70);
      const uint32_t *w = want[s][q];
      uint32_t loads = s ? count(&c, "uniform", 0) - w[3] : 0; /* the descriptor of global memory */
      assert_int_equal(count(&c, "atom", 0), w[0]);
      assert_int_equal(count(&c, "shfl", 0), w[1]);
      assert_int_equal(count(&c, "s2r", 0), w[2]);
      assert_true(loads <= 1);
    }
}

/* What a vote of the whole warp gives is the same for all lanes: since 9.0 one lane adds it, before a scan does. */
static void votes_are_shared_since_hopper(void **state) {
  (void)state;
#define VOTE "mov.u32 %r8, -1;\nvote.sync.ballot.b32 %r5, %p1, %r8;\npopc.b32 %r6, %r5;\n"
  static const char text[] = INDEX "setp.gt.s32 %p1, %r4, 5;\n" VOTE "atom.global.add.u32 %r7, [%rd3], %r6;\n"
                                   "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd4, %rd5;\n"
                                   "st.global.u32 [%rd6], %r7;\nret;\n";
  struct code before = compile(text, 80), since = compile(text, 90);
  assert_true(count(&before, "shfl", 0) > 6);
  assert_int_equal(count(&since, "shfl", 0), 2); /* the vote and the old value */
  same_memory(KERNEL VOTE "atom.global.add.u32 %r7, [%rd4], %r6;\nst.global.u32 [%rd2+4], %r7;\n" LEAVE);
  same_memory(KERNEL VOTE "@%p1 atom.global.add.u32 %r7, [%rd4], %r6;\nred.global.max.u32 [%rd4+4], %r6;\n" LEAVE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_leaves_the_same_memory),
      cmocka_unit_test(atomics_of_a_block_share_what_they_need),
      cmocka_unit_test(a_later_atomic_of_part_of_a_warp),
      cmocka_unit_test(an_address_loaded_before_lanes_part_is_not_shared),
      cmocka_unit_test(the_sequences_are_those_of_ptxas),
      cmocka_unit_test(votes_are_shared_since_hopper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
