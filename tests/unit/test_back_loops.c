/* test_back_loops.c - lanes that leave loops of machine code at different times: the memory is that of the PTX, and a
 * loop that lanes leave one by one takes one pass. */
#include <stdio.h>
#include <stdlib.h>

#include "back_run.h"
#include "base/rng.h"

enum { TEXT = 1 << 16, VALUES = 6, DEEP = 3 };

struct maker {
  char text[TEXT];
  size_t at;
  struct rng rng;
  unsigned labels, loops[DEEP + 1], depth; /* labels of the loops around */
};

static void say(struct maker *m, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  m->at += (size_t)vsnprintf(m->text + m->at, TEXT - m->at, fmt, ap);
  va_end(ap);
  assert_true(m->at < TEXT);
}

static unsigned pick(struct maker *m, unsigned n) {
  return (unsigned)(rng_next(&m->rng) % n);
}

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

static void statements(struct maker *m, unsigned left) {
  for (unsigned n = 1 + pick(m, 4); n > 0; n--) {
    unsigned a = pick(m, VALUES), l = m->labels;
    switch (pick(m, left ? 8 : 4)) {
    case 4:
    case 5:
      condition(m);
      m->labels++;
      say(m, "@%%p bra ELSE%u;\n", l);
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
    case 3: /* out of a loop, or on to its next turn */
      if (!m->depth) break;
      condition(m);
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

static void make(struct maker *m, uint64_t seed) {
  *m = (struct maker){.at = 0};
  m->rng = rng_seed(seed);
  say(m, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %%p;\n"
         ".reg .b32 %%r<6>, %%i<4>, %%e<4>, %%c, %%t;\n.reg .b64 %%out, %%base, %%x;\n"
         "ld.param.u64 %%base, [p];\ncvta.to.global.u64 %%base, %%base;\nmov.u32 %%t, %%tid.x;\n"
         "mul.wide.u32 %%x, %%t, 64;\nadd.s64 %%out, %%base, %%x;\n");
  for (unsigned r = 0; r < VALUES; r++) say(m, "ld.global.u32 %%r%u, [%%out+%u];\n", r, 4 * r);
  for (unsigned q = 0; q < 3; q++) loop(m, 4);
  for (unsigned r = 0; r < VALUES; r++) say(m, "st.global.u32 [%%out+%u], %%r%u;\n", 4 * r, r);
  say(m, "ret;\n}\n");
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

/* Lane i leaves in turn i + 1, out of one of two ways of the loop's body, and then runs a loop of 16 turns. */
static const char search[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .pred %p<4>;\n"
    ".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, 0;\n"
    "mov.u32 %r4, 0;\nLOOP:\nxor.b32 %r3, %r2, %r1;\nand.b32 %r3, %r3, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra SAME;\n"
    "mad.lo.u32 %r4, %r4, 5, %r2;\nmad.lo.u32 %r4, %r4, 7, %r1;\nmad.lo.u32 %r4, %r4, 9, %r2;\n"
    "mad.lo.u32 %r4, %r4, 11, %r1;\nmad.lo.u32 %r4, %r4, 13, %r1;\nmad.lo.u32 %r4, %r4, 15, %r2;\n"
    "mad.lo.u32 %r4, %r4, 5, %r2;\nmad.lo.u32 %r4, %r4, 7, %r1;\nmad.lo.u32 %r4, %r4, 9, %r2;\n"
    "mad.lo.u32 %r4, %r4, 11, %r1;\nbra NEXT;\nSAME:\nsetp.eq.u32 %p2, %r2, %r1;\n@%p2 bra FOUND;\n"
    "NEXT:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 64;\n@%p3 bra LOOP;\nbra END;\nFOUND:\nmov.u32 %r5, 0;\nMORE:\n"
    "mad.lo.u32 %r4, %r4, 3, %r5;\nadd.u32 %r5, %r5, 1;\nadd.u32 %r6, %r1, 16;\nsetp.lt.u32 %p3, %r5, %r6;\n@%p3 bra "
    "MORE;\nEND:\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r4;\nret;\n}\n";

static void lanes_that_leave_meet_outside(void **state) {
  (void)state;
  static uint32_t want[RUN_WORDS], got[RUN_WORDS];
  uint64_t ptx = run(search, 0, want), machine = run(search, 70, got);
  assert_memory_equal(want, got, sizeof want);
  assert_in_range(machine, 1, ptx / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_ways_out_leave_the_same_memory),
      cmocka_unit_test(lanes_that_leave_meet_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
