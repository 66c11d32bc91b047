/* test_back_loops.c - lanes that leave loops of machine code at different times: the memory is that of the PTX, and a
 * loop that lanes leave one by one takes one pass. Loops of known count: likewise. */
#include <stdio.h>
#include <stdlib.h>

#include "back_code.h"
#include "back_run.h"
#include "back_text.h"

enum { VALUES = 6, PREDICATES = 400 };

/* %p: a bit of a value that differs from lane to lane. */
static void condition(struct maker *m) {
  say(m, "shr.u32 %%c, %%r%u, %u;\nand.b32 %%c, %%c, %u;\nsetp.eq.u32 %%p, %%c, 0;\n", pick(m, VALUES), pick(m, 24),
      1 + pick(m, 3));
}

static void statements(struct maker *m, unsigned left);

static void loop(struct maker *m, unsigned left) {
  unsigned l = m->loops[m->depth] = m->labels++, d = m->depth++;
  say(m, "and.b32 %%e%u, %%r%u, 7;\nmov.u32 %%i%u, 0;\nLOOP%u:\n", d, pick(m, VALUES), d, l);
  statements(m, left - 1);
  say(m, "NEXT%u:\nadd.u32 %%i%u, %%i%u, 1;\nsetp.le.u32 %%p, %%i%u, %%e%u;\n@%%p bra LOOP%u;\nOUT%u:\n", l, d, d, d, d,
      l, l);
  m->depth--;
}

/* A row of comparisons, of the register itself or of a copy. */
static void row(struct maker *m, unsigned left) {
  unsigned l = m->labels++, cases = 3 + pick(m, 4), first = pick(m, 6), step = 1 + pick(m, 5), falls = pick(m, 2);
  say(m, "and.b32 %%c, %%r%u, 15;\n{\n.reg .b32 %%u0;\n.reg .pred %%v<%u>;\nmov.b32 %%u0, %%c;\n", pick(m, VALUES),
      cases);
  for (unsigned q = 0; q < cases; q++)
    say(m, "setp.eq.s32 %%v%u, %%%s, %d;\n@%%v%u bra CASE%u_%u;\n", q, falls ? "u0" : "c", (int)(first + q * step) - 3,
        q, l, q);
  if (falls) say(m, "xor.b32 %%r0, %%r0, %%u0;\n");
  say(m, "bra.uni DONE%u;\n", l);
  for (unsigned q = 0; q < cases; q++) {
    say(m, "CASE%u_%u:\n", l, q);
    if (q) say(m, "add.u32 %%r%u, %%r%u, %u;\n", q % VALUES, q % VALUES, 3 * q + 1);
    else statements(m, left - 1);
    if (pick(m, 3)) say(m, "bra.uni DONE%u;\n", l);
  }
  say(m, "DONE%u:\n}\n", l);
}

static void statements(struct maker *m, unsigned left) {
  for (unsigned n = 1 + pick(m, 4); n > 0; n--) {
    unsigned a = pick(m, VALUES), l = m->labels;
    switch (pick(m, left ? 10 : 4)) {
    case 8:
      row(m, left);
      break;
    case 4:
    case 5: /* each with a predicate of its own: one that nothing else reads may become part of another */
      condition(m);
      m->labels++;
      if (l < PREDICATES) say(m, "setp.%s.u32 %%b%u, %%c, 0;\n@%%b%u bra ELSE%u;\n", pick(m, 2) ? "eq" : "ne", l, l, l);
      else say(m, "@%%p bra ELSE%u;\n", l);
      statements(m, left - 1);
      if (pick(m, 2)) {
        say(m, "bra END%u;\nELSE%u:\n", l, l);
        statements(m, left - 1);
        say(m, "END%u:\n", l);
      } else {
        say(m, "ELSE%u:\n", l);
      }
      break;
    case 6:
    case 7:
      if (m->depth < DEEP) loop(m, left);
      break;
    case 9: /* a block that lanes may leave, out of what lies in it */
      if (m->within == DEEP) break;
      m->blocks[m->within++] = m->labels++;
      statements(m, left - 1);
      say(m, "AFTER%u:\n", m->blocks[--m->within]);
      break;
    case 3: /* out of a block or a loop, or on to the loop's next turn */
      condition(m);
      if (m->within && pick(m, 2)) say(m, "@%%p bra AFTER%u;\n", m->blocks[pick(m, m->within)]);
      if (!m->depth) break;
      say(m, "@%s%%p bra %s%u;\n", pick(m, 2) ? "!" : "", pick(m, 3) ? "OUT" : "NEXT", m->loops[pick(m, m->depth)]);
      break;
    case 2:
      if (pick(m, 12)) break;
      condition(m);
      say(m, "st.global.u32 [%%out], %%r%u;\n@%%p exit;\n", a);
      break;
    default:
      say(m, "mad.lo.u32 %%r%u, %%r%u, 1664525, %u;\nxor.b32 %%r%u, %%r%u, %%r%u;\n", a, a, pick(m, 1 << 20),
          pick(m, VALUES), pick(m, VALUES), a);
      break;
    }
  }
}

static void begin_kernel(struct maker *m, uint64_t seed) {
  *m = (struct maker){.at = 0};
  m->rng = rng_seed(seed);
  say(m, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %%p, %%q<6>, "
         "%%b<400>;\n"
         ".reg .b32 %%r<6>, %%i<4>, %%e<4>, %%c, %%t;\n.reg .b16 %%h<4>;\n.reg .b64 %%out, %%base, %%x;\n.shared "
         ".align 4 .b8 words[128];\n"
         "ld.param.u64 %%base, [p];\ncvta.to.global.u64 %%base, %%base;\nmov.u32 %%t, %%tid.x;\n"
         "mul.wide.u32 %%x, %%t, 64;\nadd.s64 %%out, %%base, %%x;\n");
  for (unsigned r = 0; r < VALUES; r++) say(m, "ld.global.u32 %%r%u, [%%out+%u];\n", r, 4 * r);
}

static void end_kernel(struct maker *m) {
  for (unsigned r = 0; r < VALUES; r++) say(m, "st.global.u32 [%%out+%u], %%r%u;\n", 4 * r, r);
  say(m, "ret;\n}\n");
}

static void make(struct maker *m, uint64_t seed) {
  begin_kernel(m, seed);
  for (unsigned q = 0; q < 3; q++) loop(m, 4);
  end_kernel(m);
}

static void random_ways_out_leave_the_same_memory(void **state) {
  (void)state;
  const char *n = getenv("BACK_KERNELS"), *first = getenv("BACK_FIRST");
  uint64_t from = first ? strtoull(first, NULL, 10) : 1, count = n ? strtoull(n, NULL, 10) : 300;
  static struct maker m;
  for (uint64_t seed = from; seed < from + count; seed++) {
    static uint32_t want[RUN_WORDS], got[RUN_WORDS];
    make(&m, seed);
    run(m.text, 0, want);
    run(m.text, 70 + 10 * (seed % 3), got);
    if (memcmp(want, got, sizeof want)) fail_msg("seed %llu differs:\n%s", (unsigned long long)seed, m.text);
  }
}

/* A bit of the lane's number, another one in each turn, chooses one of two ways of the loop's body. Lanes leave out of
 * one of them in different turns, with six instructions of their own: no barrier of ptxas ends there. */
static const char search[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %p<4>;\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
    "mov.u32 %r4, 0;\nLOOP:\nand.b32 %r3, %r2, 3;\nshr.u32 %r3, %r1, %r3;\nand.b32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r3, "
    "0;\n@%p1 bra SAME;\n"
    "mad.lo.u32 %r4, %r4, 5, %r2;\nmad.lo.u32 %r4, %r4, 7, %r1;\nmad.lo.u32 %r4, %r4, 9, %r2;\n"
    "mad.lo.u32 %r4, %r4, 11, %r1;\nmad.lo.u32 %r4, %r4, 13, %r1;\nmad.lo.u32 %r4, %r4, 15, %r2;\n"
    "mad.lo.u32 %r4, %r4, 5, %r2;\nmad.lo.u32 %r4, %r4, 7, %r1;\nmad.lo.u32 %r4, %r4, 9, %r2;\n"
    "mad.lo.u32 %r4, %r4, 11, %r1;\nbra NEXT;\nSAME:\nsetp.eq.u32 %p2, %r2, %r1;\n@%p2 bra FOUND;\n"
    "NEXT:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 64;\n@%p3 bra LOOP;\nbra END;\nFOUND:\n"
    "mad.lo.u32 %r4, %r4, 3, %r2;\nmad.lo.u32 %r4, %r4, 5, %r2;\nmad.lo.u32 %r4, %r4, 7, %r2;\n"
    "mad.lo.u32 %r4, %r4, 9, %r2;\nmad.lo.u32 %r4, %r4, 11, %r2;\nmad.lo.u32 %r4, %r4, 13, %r2;\nEND:\nmul.wide.u32 "
    "%rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";

static void lanes_that_leave_meet_outside(void **state) {
  (void)state;
  static uint32_t want[RUN_WORDS], got[RUN_WORDS];
  uint64_t ptx = run(search, 0, want), machine = run(search, 70, got);
  assert_memory_equal(want, got, sizeof want);
  assert_in_range(machine, 1, ptx / 4);
}

/* The result of a search is in its counter, and the -1 of one that finds nothing is put there behind the loop. */
static void a_search_has_no_moves_in_its_turns(void **state) {
  (void)state;
  static const char body[] = INDEX
      "mov.u32 %r10, 0;\nL:\nmul.wide.s32 %rd5, %r10, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.u32 %r11, [%rd6];\n"
      "setp.eq.s32 %p1, %r11, %r4;\nmov.u32 %r12, %r10;\n@%p1 bra F;\nadd.s32 %r10, %r10, 1;\n"
      "setp.lt.s32 %p2, %r10, %r9;\nmov.u32 %r12, -1;\n@%p2 bra L;\nF:\nmul.wide.s32 %rd7, %r4, 4;\n"
      "add.s64 %rd8, %rd4, %rd7;\nst.global.u32 [%rd8], %r12;\nret;\n";
  for (uint32_t sm = 70; sm <= 90; sm += 10) {
    struct code c = compile(body, sm);
    assert_int_equal(in_loops(&c, "mov"), sm < 90); /* the 4 of the product */
  }
}

/* A turn of a loop: 16-bit arithmetic with a counter, sums, a load from the thread's own words. */
static void turn(struct maker *m, const char *counter, unsigned size) {
  for (unsigned n = 0; n < size; n++) {
    unsigned a = pick(m, VALUES), b = pick(m, VALUES);
    switch (pick(m, 6)) {
    case 5: /* shifts of sums and logic, and an address made of them */
      say(m,
          "{\n.reg .b32 %%u<6>;\nadd.s32 %%u0, %%t, %%%s;\nshl.b32 %%u1, %%u0, %u;\n%s.b32 %%u2, %%t, %%%s;\nshl.b32 "
          "%%u3, %%u2, %u;\nand.b32 %%u4, %%u3, 124;\nmov.u32 %%u5, words;\nadd.s32 %%u5, %%u5, %%u4;\nld.shared.u32 "
          "%%u5, [%%u5];\nadd.u32 %%u1, %%u1, %%u5;\nxor.b32 %%u1, %%u1, %%u3;\nadd.u32 %%r%u, %%r%u, %%u1;\n}\n",
          counter, 1 + pick(m, 31), pick(m, 2) ? "or" : "xor", counter, 1 + pick(m, 31), a, b);
      break;
    case 4: /* a product of a sum: turns share it once the counter is a number */
      say(m,
          "{\n.reg .b32 %%u<4>;\nadd.s32 %%u0, %%t, %%%s;\nadd.s32 %%u1, %%%s, %%t;\nmad.lo.s32 %%u2, %%u0, %d, "
          "%%%s;\nadd.u32 %%r%u, %%r%u, %%u2;\n}\n",
          counter, counter, (int)pick(m, 65536) - 32768, pick(m, 2) ? "u1" : "t", a, b);
      break;
    case 0:
      say(m,
          "cvt.u16.u32 %%h1, %%%s;\nand.b16 %%h2, %%h1, %u;\nmul.wide.u16 %%c, %%h2, %d;\nshr.u32 %%c, %%c, %u;\n"
          "cvt.u16.u32 %%h3, %%c;\nmul.lo.s16 %%h3, %%h3, %u;\nsub.s16 %%h3, %%h1, %%h3;\ncvt.%s.%s %%c, %%h3;\n"
          "add.u32 %%r%u, %%r%u, %%c;\n",
          counter, 1 + pick(m, 65535), (int)pick(m, 65536) - 32768, pick(m, 20), pick(m, 30),
          pick(m, 2) ? "u32" : "s32", pick(m, 2) ? "u16" : "s16", a, b);
      break;
    case 1:
      say(m,
          "and.b32 %%c, %%%s, 7;\nmul.wide.u32 %%x, %%c, 4;\nadd.s64 %%x, %%out, %%x;\nld.global.u32 %%c, [%%x];\n"
          "xor.b32 %%r%u, %%r%u, %%c;\n",
          counter, a, b);
      break;
    default:
      say(m, "mad.lo.u32 %%r%u, %%r%u, 1664525, %%%s;\n", a, b, counter);
    }
  }
}

/* A loop that takes `count` turns, entered at its begin or at its test, within another one or not. Nothing else reads
 * its predicate. */
static void counted(struct maker *m, unsigned q) {
  static const char *const tests[] = {"ne", "lt"};
  unsigned count = pick(m, 2) ? 1 + pick(m, 30) : 1 + pick(m, 700), step = 1 + pick(m, 5), size = 1 + pick(m, 6);
  unsigned first = pick(m, 9), how = pick(m, 2), last = first + count * step;
  bool outer = !pick(m, 3), again = pick(m, 2);
  if (outer) say(m, "mov.u32 %%i1, 0;\nOUTER%u:\n", q);
  if (again || !outer) say(m, "mov.u32 %%i2, %u;\n", pick(m, 4));
  say(m, "mov.u32 %%i0, %u;\n", first);
  if (pick(m, 2)) {
    say(m, "bra.uni TEST%u;\nBODY%u:\n", q, q);
    turn(m, "i2", size);
    say(m, "add.s32 %%i2, %%i2, 4;\nadd.s32 %%i0, %%i0, %u;\nTEST%u:\n", step, q);
    turn(m, "i2", size);
    if (how) say(m, "setp.%s.s32 %%q%u, %%i0, %u;\n@%%q%u bra BODY%u;\n", tests[pick(m, 2)], q, last, q, q);
    else say(m, "setp.eq.s32 %%q%u, %%i0, %u;\n@%%q%u bra DONE%u;\nbra.uni BODY%u;\n", q, last, q, q, q);
    say(m, "DONE%u:\n", q);
  } else {
    say(m, "BODY%u:\n", q);
    turn(m, "i2", size);
    say(m, "add.s32 %%i2, %%i2, 1;\nadd.s32 %%i0, %%i0, %u;\nsetp.%s.s32 %%q%u, %%i0, %u;\n@%%q%u bra BODY%u;\n", step,
        tests[how], q, last, q, q);
  }
  say(m, "add.u32 %%r%u, %%r%u, %%i%u;\n", q, q, pick(m, 2) ? 0 : 2);
  if (outer) say(m, "add.s32 %%i1, %%i1, 1;\nsetp.lt.s32 %%q%u, %%i1, 3;\n@%%q%u bra OUTER%u;\n", q + 3, q + 3, q);
}

/* Straight code, bodies repeated, a copy of the test in front. */
static void loops_of_known_count_leave_the_same_memory(void **state) {
  (void)state;
  const char *n = getenv("BACK_KERNELS");
  static struct maker m;
  for (uint64_t seed = 1; seed <= (n ? strtoull(n, NULL, 10) : 200); seed++) {
    static uint32_t want[RUN_WORDS], got[RUN_WORDS];
    begin_kernel(&m, seed);
    say(&m, "mov.u32 %%i2, 1;\n");
    for (unsigned q = 0; q < 3; q++) counted(&m, q);
    end_kernel(&m);
    run(m.text, 0, want);
    run(m.text, 70 + 10 * (seed % 3), got);
    if (memcmp(want, got, sizeof want)) fail_msg("seed %llu differs:\n%s", (unsigned long long)seed, m.text);
  }
}

/* A loop with loads of shared memory in another loop: `more` stands in the outer one. */
static struct code products(const char *more, uint32_t turns, uint32_t sm) {
  char body[4096];
  int at = snprintf(body, sizeof body,
                    "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\nmov.u32 %%r10, buf;\n"
                    "mad.lo.s32 %%r10, %%r3, 4, %%r10;\nmov.u32 %%r11, 0;\nmov.f32 %%f0, 0f00000000;\nOUTER:\n%s"
                    "bar.sync 0;\nmov.u32 %%r12, 0;\nINNER:\nshl.b32 %%r13, %%r12, 6;\nadd.s32 %%r14, %%r10, %%r13;\n",
                    INDEX, more);
  for (int q = 0; q < 16; q++)
    at += snprintf(body + at, sizeof body - (size_t)at,
                   "ld.shared.f32 %%f%d, [%%r14+%d];\nfma.rn.f32 %%f0, %%f%d, %%f%d, %%f0;\n"
                   "fma.rn.f32 %%f0, %%f0, %%f%d, %%f0;\n",
                   q + 1, 8 * q, q + 1, q + 1, q + 1);
  snprintf(body + at, sizeof body - (size_t)at,
           "add.s32 %%r12, %%r12, 1;\nsetp.ne.s32 %%p1, %%r12, %u;\n@%%p1 bra INNER;\nbar.sync 0;\n"
           "add.s32 %%r11, %%r11, 1;\nsetp.lt.s32 %%p2, %%r11, %%r9;\n@%%p2 bra OUTER;\nst.global.f32 [%%rd6], %%f0;\n"
           "ret;\n",
           turns);
  return compile(body, sm);
}

static uint32_t deepest(const struct code *c) {
  uint32_t d = 0;
  for (uint32_t i = 0; i < c->n; i++) d = c->at[i].depth > d ? c->at[i].depth : d;
  return d;
}

/* Straight where ptxas has it: before 9.0, and where the outer loop has no other branch. 7 x 52 instructions may
 * become 600 anywhere, 14 x 52 not. */
static void products_of_a_tile_are_straight(void **state) {
  (void)state;
  struct code c = products("", 14, 80), newer = products("", 14, 90), few = products("", 7, 90);
  struct code branch = products("setp.gt.s32 %p3, %r3, 7;\n@%p3 bra SKIP;\n"
                                "ld.global.u32 %r20, [%rd6];\nst.shared.u32 [%r10], %r20;\nSKIP:\n",
                                14, 80);
  assert_int_equal(deepest(&c), 1);
  assert_int_equal(deepest(&newer), 2);
  assert_int_equal(deepest(&few), 1);
  assert_int_equal(deepest(&branch), 2);
  /* of turns that share addresses nothing but loads, products and the outer loop is left */
  assert_true(in_loops(&few, "int") <= 2);
}

/* `loads` of one pointer and `stores` to another, in a loop of unknown count. `moves`: what the stores go by. */
static struct code copies(int loads, int stores, const char *moves, const char *test) {
  char body[8192];
  int at = snprintf(body, sizeof body,
                    "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\nadd.s64 %%rd7, %%rd4, %%rd5;\n"
                    "mov.u32 %%r10, %%r9;\nmov.f32 %%f30, 0f00000000;\nmul.wide.s32 %%rd9, %%r9, 4;\nLOOP:\n",
                    INDEX);
  for (int q = 0; q < loads; q++)
    at += snprintf(body + at, sizeof body - (size_t)at, "ld.global.f32 %%f%d, [%%rd6+%d];\n", q, 512 * q);
  for (int q = 0; q < stores; q++)
    at += snprintf(body + at, sizeof body - (size_t)at, "st.global.f32 [%%rd7+%d], %%f%d;\n", 512 * q, q % loads);
  for (int q = 0; q < loads && !stores; q++)
    at += snprintf(body + at, sizeof body - (size_t)at, "fma.rn.f32 %%f30, %%f%d, %%f%d, %%f30;\n", q, q);
  snprintf(body + at, sizeof body - (size_t)at,
           "add.s64 %%rd6, %%rd6, 8192;\n%sadd.s32 %%r10, %%r10, -1;\nsetp.%s.s32 %%p1, %%r10, 0;\n@%%p1 bra LOOP;\n"
           "st.global.f32 [%%rd4], %%f30;\nret;\n",
           moves, test);
  return compile(body, 80);
}

/* The largest bodies of which ptxas 11.8 makes four, two and one. */
static void bodies_are_repeated_up_to_a_weight(void **state) {
  (void)state;
  enum { COPIES = 4 + 2 + 1 };
  static const char fixed[] = "add.s64 %rd7, %rd7, 8192;\n", any[] = "add.s64 %rd7, %rd7, %rd9;\n";
  struct code c = copies(15, 0, fixed, "ne"), more = copies(16, 0, fixed, "ne");
  assert_int_equal(count(&c, "ldg", 0), 15 * COPIES);
  assert_int_equal(count(&more, "ldg", 0), 16);
  c = copies(11, 11, fixed, "ne"), more = copies(12, 12, fixed, "ne");
  assert_int_equal(count(&c, "ldg", 0), 11 * COPIES);
  assert_int_equal(count(&more, "ldg", 0), 12);
  /* a store at any address, which later loads may not pass */
  struct code pass = copies(1, 1, fixed, "gt"), stop = copies(1, 1, any, "gt"), counted = copies(1, 1, any, "ne");
  assert_int_equal(count(&pass, "ldg", 0), COPIES);
  assert_int_equal(count(&stop, "ldg", 0), 1);
  assert_int_equal(count(&counted, "ldg", 0), COPIES);
  c = copies(1, 1, fixed, "ge");
  assert_int_equal(count(&c, "ldg", 0), COPIES);
}

/* A load and `n` FFMA, b times, a times over; a 1: one loop. */
static bool is_straight(uint32_t a, uint32_t b, uint32_t n) {
  char text[8192];
  int at = snprintf(text, sizeof text, "%s%s%s",
                    INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd3, %rd3, %rd5;\nadd.s64 %rd4, %rd4, %rd5;\n"
                          "mov.f32 %f1, 0f00000000;\nmov.f32 %f3, 0f3F900000;\n",
                    a > 1 ? "mov.u32 %r6, 0;\nOUT:\nmov.u32 %r5, 0;\n" : "mov.u32 %r5, 0;\n",
                    "IN:\nld.global.f32 %f2, [%rd3];\n");
  for (uint32_t i = 0; i < n; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, "fma.rn.f32 %%f1, %%f2, %%f3, %%f1;\n");
  at += snprintf(text + at, sizeof text - (size_t)at,
                 "add.s64 %%rd3, %%rd3, 512;\nadd.s32 %%r5, %%r5, 1;\nsetp.lt.s32 %%p1, %%r5, %u;\n@%%p1 bra IN;\n", b);
  if (a > 1)
    at += snprintf(text + at, sizeof text - (size_t)at,
                   "add.s64 %%rd3, %%rd3, 4096;\nadd.s32 %%r6, %%r6, 1;\nsetp.lt.s32 %%p2, %%r6, %u;\n@%%p2 bra OUT;\n",
                   a);
  snprintf(text + at, sizeof text - (size_t)at, "st.global.f32 [%%rd4], %%f1;\nret;\n");
  struct code c = compile(text, 70);
  return deepest(&c) == 0;
}

/* The last number of turns that becomes straight code (ptxas 11.8), and nests of two loops. */
static void straight_up_to(void **state) {
  (void)state;
  static const struct {
    uint32_t n, turns;
  } one[] = {{4, 441}, {8, 182}, {14, 73}, {20, 43}, {30, 21}, {40, 13}, {60, 7}, {80, 4}};
  for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
    if (!is_straight(1, one[i].turns, one[i].n)) fail_msg("%u FFMA: not straight", one[i].n);
    if (is_straight(1, one[i].turns + 1, one[i].n)) fail_msg("%u FFMA: straight", one[i].n);
  }
  static const struct {
    uint32_t a, b, n;
    bool straight;
  } two[] = {{32, 25, 2, true}, {48, 25, 2, false}, {16, 25, 4, true}, {24, 25, 4, false},
             {6, 25, 8, true},  {8, 25, 8, false},  {4, 11, 14, true}, {8, 11, 14, false},
             {8, 5, 20, true},  {11, 5, 20, false}, {4, 5, 30, true},  {6, 5, 30, false}};
  for (size_t i = 0; i < sizeof two / sizeof *two; i++)
    if (is_straight(two[i].a, two[i].b, two[i].n) != two[i].straight) fail_msg("nest %zu", i);
}

/* `mov x, y` at the end costs nothing if x is read before y is made, which an addition may wait for, a load may not. */
static void a_value_is_made_after_the_last_read_of_what_it_replaces(void **state) {
  (void)state;
#define HANDS_ON(reader)                                                                                         \
  INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\nmov.f32 %f2, %f1;\n" \
        "mov.f32 %f3, 0f3F000000;\nmov.u32 %r5, 0;\nLOOP:\nadd.f32 %f4, %f1, %f3;\n" reader                      \
        "mul.f32 %f3, %f4, %f5;\nadd.s32 %r5, %r5, 1;\nsetp.lt.f32 %p1, %f3, 0f40800000;\nmov.f32 %f2, %f4;\n"   \
        ".pragma \"nounroll\";\n@%p1 bra LOOP;\nst.global.f32 [%rd6], %f2;\nret;\n"
  struct code c = compile(HANDS_ON("fma.rn.f32 %f5, %f2, %f2, %f1;\n"), 80);
  assert_int_equal(in_loops(&c, "mov"), 0);
  c = compile(HANDS_ON("st.global.f32 [%rd6+4], %f2;\nadd.f32 %f5, %f1, %f1;\n"), 80);
  assert_int_equal(in_loops(&c, "mov"), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(straight_up_to),
      cmocka_unit_test(random_ways_out_leave_the_same_memory),
      cmocka_unit_test(a_search_has_no_moves_in_its_turns),
      cmocka_unit_test(lanes_that_leave_meet_outside),
      cmocka_unit_test(loops_of_known_count_leave_the_same_memory),
      cmocka_unit_test(products_of_a_tile_are_straight),
      cmocka_unit_test(bodies_are_repeated_up_to_a_weight),
      cmocka_unit_test(a_value_is_made_after_the_last_read_of_what_it_replaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
