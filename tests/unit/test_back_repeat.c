/* test_back_repeat.c - loops with branches, and with counters of 64 bits, that are repeated: the memory is that of the
 * PTX, and which are repeated is as ptxas 11.8 has it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "back_code.h"
#include "back_run.h"
#include "back_text.h"

enum { VALUES = 5, LOOPS = 3 };

static unsigned value(struct maker *m) {
  return pick(m, VALUES);
}

/* Work of a turn or of one arm: a value of its own, sums, a load or store of the thread's words. */
static void work(struct maker *m, unsigned q, unsigned size) {
  for (unsigned n = 0; n < size; n++) {
    unsigned a = value(m), b = value(m);
    switch (pick(m, 5)) {
    case 0:
      say(m, "mad.lo.u32 %%own%u, %%r%u, 77, %%turn%u;\nxor.b32 %%r%u, %%r%u, %%own%u;\n", q, b, q, a, a, q);
      break;
    case 1:
      say(m, "and.b32 %%c, %%turn%u, 7;\nmul.wide.u32 %%x, %%c, 4;\nadd.s64 %%x, %%out, %%x;\n", q);
      say(m, "ld.global.u32 %%c, [%%x+%u];\nadd.u32 %%r%u, %%r%u, %%c;\n", 4 * pick(m, 8), a, b);
      break;
    case 2:
      say(m, "st.global.u32 [%%out+%u], %%r%u;\n", 4 * pick(m, 16), a);
      break;
    case 3:
      say(m, "setp.lt.u32 %%p, %%r%u, %%r%u;\nselp.u32 %%r%u, %%r%u, %%turn%u, %%p;\n", a, b, b, a, q);
      break;
    default:
      say(m, "mad.lo.u32 %%r%u, %%r%u, 1664525, %%turn%u;\n", a, b, q);
    }
  }
}

/* One branch over an arm, two arms, or one that another decides about. */
static void branch(struct maker *m, unsigned q, unsigned n, bool deep) {
  unsigned at = 100 * q + 10 * n + deep;
  say(m, "and.b32 %%c, %%r%u, %u;\nsetp.%s.u32 %%p, %%c, %u;\n@%%p bra A%u;\n", value(m), 1 + pick(m, 7),
      pick(m, 2) ? "lt" : "eq", pick(m, 4), at);
  work(m, q, 1 + pick(m, 3));
  if (!deep && !pick(m, 6)) branch(m, q, n, true);
  if (pick(m, 2)) {
    say(m, "bra.uni B%u;\nA%u:\n", at, at);
    work(m, q, 1 + pick(m, 2));
    say(m, "B%u:\n", at);
  } else {
    say(m, "A%u:\n", at);
  }
}

static void random_loop(struct maker *m, unsigned q) {
  static const char *const up[] = {"ne", "lt", "le"}, *const down[] = {"ne", "gt", "ge"};
  bool wide = pick(m, 2), known = pick(m, 2), grows = pick(m, 2), is_signed = pick(m, 2);
  unsigned how = pick(m, 3), step = 1 + pick(m, 3), turns = 1 + pick(m, 40), first = 200 + pick(m, 9);
  const char *bits = wide ? "64" : "32", *type = is_signed ? "s" : "u", *r = wide ? "w" : "n";
  unsigned last = grows ? first + step * turns : first - step * turns;
  say(m, ".reg .b32 %%own%u, %%turn%u, %%n%u, %%z%u;\n.reg .b64 %%w%u, %%y%u;\n", q, q, q, q, q, q);
  say(m, "mov.u32 %%turn%u, %u;\nmov.u%s %%%s%u, %u;\n", q, pick(m, 5), bits, r, q, first);
  if (!known) { /* the bound from memory, and in half of them another in each lane */
    say(m, "ld.param.u64 %%x, [p];\nld.global.u32 %%z%u, [%%x];\nand.b32 %%z%u, %%z%u, 0;\n", q, q, q);
    say(m, "add.u32 %%z%u, %%z%u, %u;\n", q, q, last);
    if (pick(m, 2))
      say(m, "and.b32 %%c, %%t, 15;\nmad.lo.s32 %%z%u, %%c, %d, %%z%u;\n", q, grows ? (int)step : -(int)step, q);
    say(m, "cvt.u64.u32 %%y%u, %%z%u;\n", q, q);
  }
  say(m, "L%u:\n", q);
  for (unsigned n = 0; n < 3; n++) {
    work(m, q, pick(m, 3));
    if (pick(m, 3)) branch(m, q, n, false);
  }
  say(m, "add.u32 %%turn%u, %%turn%u, 1;\nadd.s%s %%%s%u, %%%s%u, %d;\n", q, q, bits, r, q, r, q,
      grows ? (int)step : -(int)step);
  say(m, "setp.%s.%s%s %%q, %%%s%u, ", grows ? up[how] : down[how], how ? type : "u", bits, r, q);
  if (known) say(m, "%u", last);
  else say(m, "%%%s%u", wide ? "y" : "z", q);
  say(m, ";\n@%%q bra L%u;\n", q);
}

static void random_loops_leave_the_same_memory(void **state) {
  (void)state;
  static const uint32_t machines[] = {70, 80, 90};
  const char *n = getenv("BACK_KERNELS"), *from = getenv("BACK_FIRST");
  uint64_t first = from ? strtoull(from, NULL, 10) : 1, count = n ? strtoull(n, NULL, 10) : 300;
  struct maker *m = calloc(1, sizeof *m);
  for (uint64_t seed = first; seed < first + count; seed++) {
    m->at = 0;
    m->rng = rng_seed(seed);
    say(m,
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %%p, %%q;\n"
        ".reg .b32 %%r<6>, %%c, %%t;\n.reg .b64 %%out, %%base, %%x;\nld.param.u64 %%base, [p];\nmov.u32 %%t, %%tid.x;\n"
        "mul.wide.u32 %%x, %%t, 64;\nadd.s64 %%out, %%base, %%x;\n");
    for (unsigned r = 0; r < VALUES; r++) say(m, "ld.global.u32 %%r%u, [%%out+%u];\n", r, 4 * r);
    for (unsigned q = 0; q < LOOPS; q++) random_loop(m, q);
    for (unsigned r = 0; r < VALUES; r++) say(m, "st.global.u32 [%%out+%u], %%r%u;\n", 4 * r, r);
    say(m, "ret;\n}\n");
    same_memory_on(m->text, machines + seed % 3, 1);
  }
  free(m);
}

/* ---- which are repeated ---- */

#define BEGIN                                                                                           \
  "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nld.param.u32 %r1, [n];\nmov.u32 %r3, %tid.x;\n"    \
  "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd1, %rd1, %rd3;\nld.global.f32 %f1, [%rd2];\n"                 \
  "ld.global.f32 %f2, [%rd2+128];\nmov.f32 %f3, 0f00000000;\nshl.b32 %r5, %r3, 2;\nmov.u32 %r6, buf;\n" \
  "add.u32 %r6, %r6, %r5;\nsetp.lt.s32 %p6, %r1, 50;\ncvt.u64.u32 %rd9, %r1;\nmov.u64 %rd8, 0;\n"
#define LOAD "add.s64 %rd1, %rd1, 1024;\nld.global.f32 %f10, [%rd1];\nadd.f32 %f3, %f3, %f10;\n"
#define ARM(condition, work) "setp." condition ".f32 %p2, %f10, %f1;\n@%p2 bra OVER;\n" work "OVER:\n"
#define ADD "add.f32 %f3, %f3, %f2;\n"
#define DOWN "add.s32 %r1, %r1, -1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra LOOP;\n"
#define UP "add.s64 %rd8, %rd8, 4;\nsetp.lt.u64 %p1, %rd8, %rd9;\n@%p1 bra LOOP;\n"

struct repeated {
  const char *name, *body, *end;
  unsigned least, most; /* of the instruction `ADD` that ptxas 11.8 repeats */
};

static bool is_repeated(const struct repeated *r, unsigned adds, uint32_t sm) {
  static char text[1 << 14];
  int at = snprintf(text, sizeof text, "%sLOOP:\n%s", BEGIN, r->body);
  for (unsigned i = 0; i < adds; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, "fma.rn.f32 %%f3, %%f1, %%f2, %%f3;\n");
  snprintf(text + at, sizeof text - (size_t)at, "%sst.global.f32 [%%rd2], %%f3;\nret;\n", r->end);
  struct code c = compile(text, sm);
  uint32_t loads = 0, sums = 0;
  for (uint32_t i = 0; i < c.n; i++) {
    loads += !strncmp(c.at[i].cls, "ld", 2);
    sums += !strcmp(c.at[i].cls, "fp32");
  }
  return loads > 8 || sums > 3 * adds + 8;
}

static void turns_are_repeated_up_to_a_weight(void **state) {
  (void)state;
  static const struct repeated all[] = {
      {"no load", "", DOWN, 18, 19},
      {"a load", LOAD, DOWN, 43, 44},
      {"a counter of 64 bits", LOAD, UP, 43, 44},
      {"a load of shared memory", "ld.shared.f32 %f10, [%r6];\nadd.f32 %f3, %f3, %f10;\n", DOWN, 21, 22},
      {"an atomic", LOAD "atom.global.add.u32 %r10, [%rd1], %r5;\nxor.b32 %r6, %r6, %r10;\n", DOWN, 31, 32},
      {"an exponential", LOAD "ex2.approx.f32 %f3, %f3;\n", DOWN, 37, 38},
      {"a branch", LOAD ARM("lt", ADD), DOWN, 40, 41},
      {"a branch of two arms", LOAD ARM("lt", ADD "bra.uni NEXT;\n") ADD "NEXT:\n", DOWN, 38, 39},
      {"a branch that another decides about", LOAD ARM("lt", ADD "@%p6 bra OVER;\n" ADD), DOWN, 0, 1},
      {"a branch and a barrier", LOAD ARM("lt", ADD) "bar.sync 0;\n", DOWN, 0, 1},
  };
  for (size_t q = 0; q < sizeof all / sizeof *all; q++) {
    if (all[q].least && !is_repeated(&all[q], all[q].least, 70)) fail_msg("%s, %u: once", all[q].name, all[q].least);
    if (is_repeated(&all[q], all[q].most, 70)) fail_msg("%s, %u: repeated", all[q].name, all[q].most);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_loops_leave_the_same_memory),
      cmocka_unit_test(turns_are_repeated_up_to_a_weight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
