/* test_back_reconverge.c - where lanes of machine code wait for each other: the convergence barriers of ptxas 11.8
 * (sm_70) and 13.0 (sm_90) for the same kernels, and passes through code that lanes reach by several ways.
 */
#include <stdio.h>

#include "back_run.h"

/* Too long for a predicate. */
#define WORK                                                                                            \
  "atom.global.add.u32 %x, [%q], %x;\nmad.lo.u32 %x, %x, 5, %t;\natom.global.xor.b32 %x, [%q+4], %x;\n" \
  "mad.lo.u32 %x, %x, 7, %t;\natom.global.min.u32 %x, [%q+8], %x;\nmad.lo.u32 %x, %x, 9, %t;\n"         \
  "atom.global.max.u32 %x, [%q+12], %x;\n"
#define IF(pred, number, place) "setp.eq.u32 " pred ", %x, " #number ";\n@" pred " bra " place ";\n"
#define UNIFORM(pred, number, place) "setp.eq.u32 " pred ", %n, " #number ";\n@" pred " bra " place ";\n"
#define BEGIN_LOOP "mov.u32 %i, 0;\nL:\n"
#define END_LOOP "add.u32 %i, %i, 1;\nsetp.lt.u32 %p9, %i, %m;\n@%p9 bra L;\n"

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry k(.param .u64 p, .param .u32 n) "
                           "{\n.reg .pred %p<10>;\n.reg .b32 %x, %n, %m, %t, %i;\n.reg .b64 %q, %a;\n"
                           "ld.param.u64 %q, [p];\nld.param.u32 %n, [n];\nmov.u32 %t, %tid.x;\n"
                           "mul.wide.u32 %a, %t, 4;\nadd.s64 %a, %q, %a;\nld.global.u32 %x, [%a+256];\n"
                           "ld.global.u32 %m, [%a+512];\n";
static const char tail[] = "st.global.u32 [%a], %x;\nret;\n}\n";

static const struct barriers {
  const char *what, *body;
  uint8_t bssy[2], breaks[2], warpsync; /* sm_70, sm_90; of sm_90 */
} kernels[] = {
    {"a way past a join", IF("%p1", 0, "T") WORK IF("%p2", 7, "U") WORK "T:\n" WORK "U:\n" WORK, {2, 2}, {1, 1}, 1},
    {"a || b", IF("%p1", 0, "T") WORK IF("%p2", 5, "T") WORK "bra U;\nT:\n" WORK "U:\n" WORK, {2, 2}, {1, 1}, 1},
    {"a && b", IF("%p1", 0, "T") WORK IF("%p2", 5, "T") WORK "T:\n" WORK, {1, 1}, {0, 0}, 0},
    {"from two depths",
     IF("%p1", 0, "T") WORK IF("%p2", 5, "S") WORK IF("%p3", 8, "U") WORK "S:\n" WORK "T:\n" WORK "U:\n" WORK,
     {3, 3},
     {2, 2},
     1},
    {"of three places with one begin two",
     IF("%p1", 0, "T") WORK IF("%p2", 5, "A") WORK IF("%p3", 6, "U") WORK "T:\n" WORK "A:\n" WORK "U:\n" WORK,
     {2, 2},
     {1, 1},
     1},
    {"all lanes take the way past",
     IF("%p1", 0, "T") WORK UNIFORM("%p2", 7, "U") WORK "T:\n" WORK "U:\n" WORK,
     {1, 1},
     {0, 0},
     0},
    {"all lanes take the way around",
     UNIFORM("%p1", 0, "T") WORK IF("%p2", 7, "U") WORK "T:\n" WORK "U:\n" WORK,
     {1, 1},
     {0, 0},
     0},
    {"a loop and a way past what follows it",
     BEGIN_LOOP WORK IF("%p1", 6, "U") WORK END_LOOP WORK "U:\n" WORK,
     {2, 2},
     {1, 1},
     0},
    {"ways out of a loop to two places",
     BEGIN_LOOP WORK IF("%p1", 5, "A") WORK IF("%p2", 6, "U") WORK END_LOOP WORK "A:\n" WORK "U:\n" WORK,
     {2, 2},
     {1, 2},
     0}, /* ptxas: 1 */
    {"some lanes end",
     IF("%p1", 0, "T") WORK "setp.eq.u32 %p2, %x, 7;\n@%p2 exit;\n" WORK "T:\n" WORK,
     {1, 1},
     {0, 0},
     0},
};

static const char *text_of(const char *body) {
  static char text[1 << 14];
  int n = snprintf(text, sizeof text, "%s%s%s", head, body, tail);
  assert_in_range(n, 1, sizeof text - 1);
  return text;
}

static void barriers_of_ptxas(void **state) {
  (void)state;
  static const uint32_t sm[] = {70, 90};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    const struct barriers *b = &kernels[i];
    const char *text = text_of(b->body);
    for (uint32_t s = 0; s < 2; s++) {
      uint32_t bssy = instructions(text, sm[s], "BSSY"), bsync = instructions(text, sm[s], "BSYNC");
      uint32_t breaks = instructions(text, sm[s], "BREAK"), all = instructions(text, sm[s], "WARPSYNC");
      if (bssy != b->bssy[s] || bsync != bssy || breaks != b->breaks[s] || all != (s ? b->warpsync : 0))
        fail_msg("%s, sm_%u: %u BSSY, %u BSYNC, %u BREAK, %u WARPSYNC", b->what, sm[s], bssy, bsync, breaks, all);
    }
  }
}

#define LONG "mad.lo.u32 %x, %x, 5, %t;\nmad.lo.u32 %x, %x, 7, %t;\nmad.lo.u32 %x, %x, 9, %t;\n"
#define LONGER LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG

/* Odd lanes jump to T, lane 4 past it, the others come to it from above: T takes one pass, as PTX two. */
static void lanes_meet_although_one_goes_past(void **state) {
  (void)state;
  static const char body[] = "and.b32 %i, %t, 1;\nsetp.eq.u32 %p1, %i, 1;\n@%p1 bra T;\n" LONGER
                             "setp.eq.u32 %p2, %t, 4;\n@%p2 bra U;\n" LONGER "T:\n" LONGER "U:\n" LONGER;
  static uint32_t want[RUN_WORDS], got[RUN_WORDS];
  uint64_t ptx = run(text_of(body), 0, want);
  for (uint32_t sm = 70; sm <= 90; sm += 10) {
    uint64_t machine = run(text_of(body), sm, got);
    assert_memory_equal(want, got, sizeof want);
    assert_in_range(machine + 25, 1, ptx); /* one warp of two has lane 4 */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(barriers_of_ptxas),
                                     cmocka_unit_test(lanes_meet_although_one_goes_past)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
