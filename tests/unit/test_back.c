/* test_back.c - the back end: what it makes of random kernels leaves the same memory as their PTX, on every machine;
 * what it selects, merges and schedules in kernels written for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "back_code.h"
#include "back_run.h"
#include "back_text.h"
#include "simt/simt.h"

/* ---- random kernels ---- */

static void access(struct maker *m, const char *guard, unsigned d) {
  unsigned off = 4 * pick(m, 8);
  switch (pick(m, 9)) {
  case 7: /* a sum of three: what is known stands anywhere */
    say(m,
        "and.b32 %%sx, %%r%u, 28;\nadd.s32 %%sy, %%sx, %%sb;\nadd.s32 %%sy, %%s, %%sy;\n%sld.shared.u32 %%r%u, "
        "[%%sy];\n",
        pick(m, 12), guard, d);
    break;
  case 8:
    say(m,
        "and.b32 %%sx, %%r%u, 12;\n{\n.reg .b32 %%u<3>;\nmad.lo.s32 %%u0, %%t, 32, 4;\nadd.s32 %%u1, %%u0, %%sx;\n"
        "add.s32 %%u2, %%sb, %%u1;\n%sst.shared.u32 [%%u2], %%r%u;\n}\n",
        pick(m, 12), guard, d);
    break;
  case 0:
    say(m, "%sld.global.u32 %%r%u, [%%out+%u];\n", guard, d, off);
    break;
  case 1:
    say(m, "%sst.global.u32 [%%out+%u], %%r%u;\n", guard, off, d);
    break;
  case 2:
    say(m, "%sst.shared.u32 [%%sh+%u], %%r%u;\n", guard, off, d);
    break;
  case 3:
  case 4:
    say(m, "%sld.shared.u32 %%r%u, [%%sh+%u];\n", guard, d, off);
    break;
  case 5: /* neighbours */
    for (unsigned q = 0; q < 4; q++) say(m, "ld.shared.u32 %%r%u, [%%sh+%u];\n", (d + q) % 12, 4 * q);
    break;
  default:
    for (unsigned q = 0; q < 4; q++) say(m, "st.shared.u32 [%%sh+%u], %%r%u;\n", 16 + 4 * q, (d + q) % 12);
    break;
  }
}

/* Bits of a word, and its upper ones. */
static void bits(struct maker *m, unsigned a, unsigned b, unsigned c, unsigned d) {
  say(m,
      "{\n.reg .b32 %%u<5>;\n.reg .pred %%v<2>;\nand.b32 %%u0, %%r%u, %u;\nsetp.ne.s32 %%v0, %%u0, 0;\n"
      "and.b32 %%u1, %%r%u, %u;\nsetp.eq.s32 %%v1, %%u1, 0;\n@%%v0 add.s32 %%r%u, %%r%u, 1;\n@%%v1 xor.b32 %%r%u, "
      "%%r%u, 9;\nshr.%c32 %%u2, %%r%u, %u;\nadd.s32 %%r%u, %%u2, %%r%u;\n}\n",
      a, 1u << pick(m, 4), a, 1u << pick(m, 4), d, b, c, d, "us"[b & 1], a, 1 + pick(m, 31), b, c);
}

static void floats(struct maker *m, unsigned a, unsigned d) {
  say(m,
      "cvt.rn.f32.s32 %%f0, %%r%u;\nneg.f32 %%f1, %%f0;\nfma.rn.f32 %%f2, %%f1, %%f0, %%f1;\ncvt.rzi.s32.f32 %%r%u, "
      "%%f2;\n",
      a, d);
}

/* What is copied, replaced or taken apart. */
static void parts(struct maker *m, unsigned a, unsigned b, unsigned d) {
  switch (pick(m, 3)) {
  case 0: /* a value that a load may replace */
    say(m, "mov.b32 %%r%u, %%r%u;\n@%%p%u ld.shared.u32 %%r%u, [%%sh+%u];\n", d, a, pick(m, 4), d, 4 * pick(m, 8));
    break;
  case 1: /* two halves */
    say(m,
        "{\n.reg .b16 %%h<6>;\n.reg .f32 %%v<2>;\nmov.b32 {%%h0, %%h1}, %%r%u;\nmov.b32 {%%h2, %%h3}, %%r%u;\n"
        "cvt.f32.f16 %%v0, %%h%u;\ncvt.f32.f16 %%v1, %%h%u;\ncvt.rn.f16.f32 %%h4, %%v0;\ncvt.rn.f16.f32 %%h5, %%v1;\n"
        "mov.b32 %%r%u, {%%h%u, %%h%u};\n}\n",
        a, b, pick(m, 4), pick(m, 4), d, pick(m, 6), pick(m, 6));
    break;
  default: /* an address beside a register of several values */
    say(m, "{\n.reg .b32 %%u0;\nadd.s32 %%u0, %%sv, %u;\nld.shared.u32 %%r%u, [%%u0];\n%s}\n", 4 * pick(m, 4), d,
        pick(m, 2) ? "xor.b32 %sv, %sv, 16;\n" : "");
    break;
  }
}

/* Of 64 bits. */
static void longs(struct maker *m, unsigned a, unsigned b, unsigned c, unsigned d) {
  static const char *const wide[] = {"add.s64", "sub.s64", "xor.b64", "mul.lo.s64", "min.s64"};
  switch (pick(m, 4)) {
  case 0:
    say(m, "mul.wide.s32 %%rd%u, %%r%u, %u;\nadd.s64 %%rd%u, %%rd%u, %%rd%u;\n", d, a, pick(m, 9), b, c, d);
    break;
  case 1:
    say(m, "%s %%rd%u, %%rd%u, %%rd%u;\n", wide[pick(m, 5)], d, a, b);
    break;
  case 2:
    say(m, "cvt.u32.u64 %%r%u, %%rd%u;\n", d, a);
    break;
  default:
    say(m, "cvt.%c64.%c32 %%rd%u, %%r%u;\n", "su"[a & 1], "su"[a & 1], d, b);
    break;
  }
}

static void instruction(struct maker *m) {
  unsigned a = pick(m, 12), b = pick(m, 12), c = pick(m, 12), d = pick(m, 12);
  static const char *const binary[] = {"add.s32", "sub.s32", "mul.lo.s32", "and.b32",
                                       "or.b32",  "xor.b32", "min.s32",    "max.u32"};
  static const char *const compare[] = {"eq.s32", "ne.s32", "lt.s32", "ge.u32"};
  char guard[16] = "";
  if (!pick(m, 5)) snprintf(guard, sizeof guard, "@%s%%p%u ", pick(m, 2) ? "!" : "", pick(m, 4));
  switch (pick(m, 28)) {
  case 23:
    bits(m, a, b, c, d);
    break;
  case 24:
  case 25:
  case 26:
    parts(m, a, b, d);
    break;
  case 0:
    say(m, "mov.u32 %%r%u, %u;\n", d, pick(m, 100));
    break;
  case 1:
    say(m, "%smov.u32 %%r%u, %%r%u;\n", guard, d, a);
    break;
  case 2:
    say(m, "shl.b32 %%r%u, %%r%u, %u;\n", d, a, pick(m, 5));
    break;
  case 3:
    say(m, "mad.lo.s32 %%r%u, %%r%u, %%r%u, %%r%u;\n", d, a, b, c);
    break;
  case 4:
    say(m, "setp.%s %%p%u, %%r%u, %u;\n", compare[pick(m, 4)], pick(m, 4), a, pick(m, 3));
    break;
  case 5:
    say(m, "and.pred %%p%u, %%p%u, %%p%u;\n", pick(m, 4), pick(m, 4), pick(m, 4));
    break;
  case 6:
    say(m, "not.pred %%p%u, %%p%u;\n", pick(m, 4), pick(m, 4));
    break;
  case 7:
    say(m, "selp.b32 %%r%u, %%r%u, %%r%u, %%p%u;\n", d, a, b, pick(m, 4));
    break;
  case 8:
  case 9:
  case 10:
  case 11:
    longs(m, a, b, c, d);
    break;
  case 12:
  case 13:
  case 14:
  case 15:
  case 16:
  case 17:
  case 18:
    access(m, guard, d);
    break;
  case 19:
    floats(m, a, d);
    break;
  case 20:
    say(m, "rem.u32 %%r%u, %%r%u, 7;\n", d, a);
    break;
  case 21:
    say(m, "add.cc.u32 %%r%u, %%r%u, %%r%u;\naddc.u32 %%r%u, %%r%u, 0;\n", d, a, b, c, b);
    break;
  default:
    say(m, "%s%s %%r%u, %%r%u, %%r%u;\n", guard, binary[pick(m, 8)], d, a, b);
  }
}

/* Up or down to a register, which may lie at the end of the numbers, from up to 15 before it or from it on. */
static void loop_to_a_register(struct maker *m, unsigned d, unsigned step) {
  static const char *const ends[2][2][3] = {{{"40", "2147483640", "-2147483640"}, {"-40", "2147483630", "-2147483640"}},
                                            {{"40", "2147483640", "-16"}, {"40", "2147483640", "8"}}};
  unsigned is_unsigned = pick(m, 2), down = pick(m, 2), label = m->labels++;
  say(m, "and.b32 %%j%u, %%r%u, 3;\nadd.s32 %%e%u, %%j%u, %s;\n", d, pick(m, 12), d, d,
      ends[is_unsigned][down][pick(m, 3)]);
  say(m, "and.b32 %%i%u, %%r%u, 15;\n%s.s32 %%i%u, %%e%u, %%i%u;\nL%u:\n", d, pick(m, 12), down ? "add" : "sub", d, d,
      d, label);
  for (unsigned n = 1 + pick(m, 9); n > 0; n--) instruction(m);
  static const char *const tests[2][2][2] = {{{"lt", "le"}, {"ge", "gt"}}, {{"gt", "ge"}, {"le", "lt"}}};
  unsigned opposite = pick(m, 2);
  say(m, "add.s32 %%i%u, %%i%u, %s%u;\nsetp.%s.%s32 %%q, %%i%u, %%e%u;\n@%s%%q bra L%u;\n", d, d, down ? "-" : "", step,
      tests[down][opposite][pick(m, 2)], is_unsigned ? "u" : "s", d, d, opposite ? "!" : "", label);
}

/* Loops that are unrolled: with a known count, down to zero from a count that is not known, from and to registers. */
static void loop_of_one_block(struct maker *m, unsigned depth) {
  unsigned how = pick(m, 4), step = 1 + pick(m, 4);
  if (!how) {
    loop_to_a_register(m, depth, step);
    return;
  }
  unsigned label = m->labels++;
  if (how == 1) say(m, "mov.u32 %%i%u, %u;\n", depth, pick(m, 3));
  else
    say(m, "and.b32 %%i%u, %%r%u, 15;\nmad.lo.s32 %%i%u, %%i%u, %u, %u;\n", depth, pick(m, 12), depth, depth, step,
        step);
  if (how == 3) say(m, "mov.b32 %%e%u, %%r3;\nadd.s32 %%i%u, %%i%u, %%e%u;\n", depth, depth, depth, depth);
  say(m, "L%u:\n", label);
  for (unsigned n = 1 + pick(m, 9); n > 0; n--) instruction(m);
  if (how == 1)
    say(m, "add.s32 %%i%u, %%i%u, %u;\nsetp.%s.s32 %%q, %%i%u, %u;\n", depth, depth, step, pick(m, 2) ? "lt" : "le",
        depth, 1 + pick(m, 70));
  else say(m, "add.s32 %%i%u, %%i%u, -%u;\n", depth, depth, step);
  if (how == 2) say(m, "setp.ne.s32 %%q, %%i%u, 0;\n", depth);
  if (how == 3) say(m, "setp.ne.s32 %%q, %%i%u, %%e%u;\n", depth, depth);
  say(m, "@%%q bra L%u;\n", label);
}

static void statements(struct maker *m, unsigned depth) {
  for (unsigned n = 2 + pick(m, 12); n > 0 && m->at < TEXT / 2; n--) {
    unsigned what = depth < 3 ? pick(m, 12) : 9, label = m->labels;
    if (what == 0) { /* a branch around */
      m->labels++;
      say(m, "@%s%%p%u bra L%u;\n", pick(m, 2) ? "!" : "", pick(m, 4), label);
      statements(m, depth + 1);
      say(m, "L%u:\n", label);
    } else if (what == 1) { /* either, or */
      m->labels += 2;
      say(m, "@%%p%u bra L%u;\n", pick(m, 4), label);
      statements(m, depth + 1);
      say(m, "bra L%u;\nL%u:\n", label + 1, label);
      statements(m, depth + 1);
      say(m, "L%u:\n", label + 1);
    } else if (what == 2) { /* a loop whose variable is copied at its end, as compilers write it */
      m->labels++;
      say(m, "mov.u32 %%i%u, 0;\nL%u:\n", depth, label);
      statements(m, depth + 1);
      say(m, "add.s32 %%j%u, %%i%u, 1;\nsetp.lt.u32 %%q, %%j%u, %u;\nmov.u32 %%i%u, %%j%u;\n@%%q bra L%u;\n", depth,
          depth, depth, 1 + pick(m, 3), depth, depth, label);
    } else if (what == 4) {
      loop_of_one_block(m, depth);
    } else if (what == 3 && !depth) {
      say(m, "bar.sync 0;\n");
    } else {
      instruction(m);
    }
  }
}

static void make(struct maker *m, uint64_t seed) {
  *m = (struct maker){.at = 0};
  m->rng = rng_seed(seed);
  say(m, ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
         ".reg .pred %%p<4>, %%q;\n.reg .b32 %%r<12>, %%i<4>, %%j<4>, %%e<4>, %%n, %%t, %%s, %%sh, %%sb, %%sv, %%sx, "
         "%%sy;\n.reg .f32 "
         "%%f<3>;\n"
         ".reg .b64 %%rd<12>, %%out, %%base, %%g, %%x;\n.shared .align 4 .b8 buf[4096];\n"
         "ld.param.u64 %%base, [p];\nld.param.u32 %%n, [n];\ncvta.to.global.u64 %%g, %%base;\nmov.u32 %%t, %%tid.x;\n"
         "mul.wide.u32 %%x, %%t, 64;\nadd.s64 %%out, %%g, %%x;\nmov.u32 %%sb, buf;\nshl.b32 %%s, %%t, 5;\nadd.s32 "
         "%%sh, %%sb, %%s;\nmov.b32 %%sv, %%sh;\n");
  for (unsigned r = 0; r < 12; r++) {
    say(m, "mad.lo.s32 %%r%u, %%t, %u, %%n;\n", r, 3 * r + 1);
    say(m, "cvt.u64.u32 %%rd%u, %%r%u;\n", r, r);
  }
  for (unsigned p = 0; p < 4; p++) say(m, "setp.gt.s32 %%p%u, %%r%u, %u;\n", p, p, 40 * p);
  statements(m, 0);
  statements(m, 0);
  for (unsigned r = 0; r < 12; r++) say(m, "st.global.u32 [%%out+%u], %%r%u;\n", 4 * (r % 8), r);
  for (unsigned r = 0; r < 4; r++) say(m, "st.global.u64 [%%out+%u], %%rd%u;\n", 32 + 8 * r, r);
  say(m, "ret;\n}\n");
}

static void random_kernels_leave_the_same_memory(void **state) {
  (void)state;
  const char *n = getenv("BACK_KERNELS"), *first = getenv("BACK_FIRST");
  uint64_t from = first ? strtoull(first, NULL, 10) : 1, count = n ? strtoull(n, NULL, 10) : 150;
  static struct maker m;
  for (uint64_t seed = from; seed < from + count; seed++) {
    static uint32_t want[RUN_WORDS], got[RUN_WORDS];
    make(&m, seed);
    run(m.text, 0, want);
    for (uint32_t sm = 70; sm <= 90; sm += 10) {
      run(m.text, sm, got);
      if (memcmp(want, got, sizeof want))
        fail_msg("seed %llu, sm_%u differs:\n%s", (unsigned long long)seed, sm, m.text);
    }
  }
}

/* ---- kernels written for a pass ---- */

/* As ptxas 11.8 has it for sm_70: 2 S2R, an IMAD, a comparison, EXIT, a MOV of the factor, 3 IMAD.WIDE, 2 LDG, FADD,
 * STG, EXIT, and the prologue. */
static void an_addition_of_vectors_is_that_of_ptxas(void **state) {
  (void)state;
  struct code c = compile(
      INDEX
      "setp.ge.s32 %p1, %r4, %r9;\n@%p1 bra DONE;\nmul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\n"
      "add.s64 %rd7, %rd4, %rd5;\nld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd7];\nadd.f32 %f3, %f1, %f2;\n"
      "st.global.f32 [%rd7], %f3;\nDONE:\nret;\n",
      70);
  assert_int_equal(count(&c, "s2r", 0), 2);
  assert_int_equal(count(&c, "imad", 0), 3); /* the index and two addresses */
  assert_int_equal(count(&c, "mov", 0), 2);
  assert_int_equal(count(&c, "branch", 0), 2);
  assert_int_equal(count(&c, "int", 0), 0);
  assert_int_equal(c.n, 15); /* with a shuffle without lanes */
}

static void adjacent_shared_accesses_become_wide(void **state) {
  (void)state;
  struct code c = compile("mov.u32 %r1, %tid.x;\nmov.u32 %r2, buf;\nshl.b32 %r3, %r1, 4;\nadd.s32 %r4, %r2, %r3;\n"
                          "ld.shared.f32 %f1, [%r4];\nld.shared.f32 %f2, [%r4+4];\nld.shared.f32 %f3, "
                          "[%r4+8];\nld.shared.f32 %f4, [%r4+12];\n"
                          "add.f32 %f5, %f1, %f3;\nadd.f32 %f6, %f2, %f4;\n"
                          "st.shared.f32 [%r4+1024], %f5;\nst.shared.f32 [%r4+1028], %f6;\nret;\n",
                          70);
  assert_int_equal(count(&c, "lds", 16), 1);
  assert_int_equal(count(&c, "lds", 0), 1);
  assert_int_equal(count(&c, "sts", 8), 1);
  assert_int_equal(count(&c, "sts", 0), 1);
  c = compile("mov.u32 %r1, %tid.x;\nmov.u32 %r2, buf;\nshl.b32 %r3, %r1, 2;\nadd.s32 %r4, %r2, %r3;\n"
              "ld.shared.f32 %f1, [%r4];\nld.shared.f32 %f2, [%r4+4];\nst.shared.f32 [%r4+8], %f1;\nst.shared.f32 "
              "[%r4+12], %f2;\nret;\n",
              70);
  assert_int_equal(count(&c, "lds", 0), 2); /* a multiple of 4 is not one of 8 */
  assert_int_equal(count(&c, "sts", 0), 2);
}

/* Words of constant memory whose address is known are operands; neighbours at an index come two at a time, never four
 * (ptxas 11.8: LDC.64, c[0x3][..]). */
static void constants_are_operands_or_come_in_pairs(void **state) {
  (void)state;
  struct code c = compile(INDEX "ld.const.f32 %f1, [table+16];\nld.const.f32 %f2, [table+20];\n"
                                "mul.f32 %f3, %f1, %f2;\nmul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\n"
                                "st.global.f32 [%rd6], %f3;\nret;\n",
                          70);
  assert_int_equal(count(&c, "ldc", 0), 0);
  assert_int_equal(count(&c, "fp32", 0), 1);
  c = compile(INDEX "mul.wide.s32 %rd5, %r4, 16;\nmov.u64 %rd6, table;\nadd.s64 %rd7, %rd6, %rd5;\n"
                    "ld.const.f32 %f1, [%rd7];\nld.const.f32 %f2, [%rd7+4];\nld.const.f32 %f3, [%rd7+8];\n"
                    "ld.const.f32 %f4, [%rd7+12];\nadd.f32 %f5, %f1, %f2;\nadd.f32 %f6, %f3, %f4;\n"
                    "mul.f32 %f7, %f5, %f6;\nmul.wide.s32 %rd8, %r4, 4;\nadd.s64 %rd9, %rd3, %rd8;\n"
                    "st.global.f32 [%rd9], %f7;\nret;\n",
              70);
  assert_int_equal(count(&c, "ldc", 8), 2);
  assert_int_equal(count(&c, "ldc", 0), 2);
}

#define SINE_AND_COSINE(of)                                                                     \
  INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n"   \
        "ld.global.f32 %f2, [%rd6+4];\nsin.approx.f32 %f3, %f1;\ncos.approx.f32 %f4, " of ";\n" \
        "add.f32 %f5, %f3, %f4;\nst.global.f32 [%rd6], %f5;\nret;\n"

/* Of one value they share the product that brings it into range. */
static void sine_and_cosine_share_their_product(void **state) {
  (void)state;
  struct code one = compile(SINE_AND_COSINE("%f1"), 70), two = compile(SINE_AND_COSINE("%f2"), 70);
  assert_int_equal(count(&one, "sfu", 0), 2);
  assert_int_equal(count(&one, "fp32", 0), 2);
  assert_int_equal(count(&two, "fp32", 0), 3);
}

static struct code divisions(const char *type, const char *first, const char *second, uint32_t sm) {
  const char *bits = type[0] == 'f' ? "%f" : "%r";
  char text[1024];
  int n = snprintf(text, sizeof text,
                   "%smul.wide.s32 %%rd5, %%r4, 64;\nadd.s64 %%rd6, %%rd3, %%rd5;\nld.global.b32 %s10, [%%rd6];\n"
                   "ld.global.b32 %s11, [%%rd6+8];\nld.global.b32 %s12, [%%rd6+16];\n%s.%s %s13, %s11, %s10;\n"
                   "st.global.b32 [%%rd6+24], %s13;\n",
                   INDEX, bits, bits, bits, first, type, bits, bits, bits, bits);
  if (second)
    n += snprintf(text + n, sizeof text - (size_t)n, "%s.%s %s14, %s12, %s10;\nst.global.b32 [%%rd6+32], %s14;\n",
                  second, type, bits, bits, bits, bits);
  snprintf(text + n, sizeof text - (size_t)n, "ret;\n");
  return compile(text, sm);
}

/* A second division by the same divisor takes the reciprocal of the first: how many more instructions ptxas 11.8 makes,
 * with a load and a store. */
static void divisions_by_one_value_share_its_reciprocal(void **state) {
  (void)state;
  static const struct {
    const char *type, *first, *second;
    uint32_t more;
  } cases[] = {{"u32", "div", "div", 13},
               {"u32", "div", "rem", 12},
               {"u32", "rem", "rem", 12},
               {"s32", "div", "div", 17},
               {"s32", "div", "rem", 14},
               {"s32", "rem", "rem", 14},
               {"f32", "div.full", "div.full", 5},
               {"f32", "div.approx", "div.approx", 4},
               {"f32", "div.full.ftz", "div.full.ftz", 4},
               {"f32", "div.approx.ftz", "div.approx.ftz", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct code one = divisions(cases[i].type, cases[i].first, NULL, 70),
                two = divisions(cases[i].type, cases[i].first, cases[i].second, 70);
    assert_int_equal(two.n - one.n, cases[i].more);
    assert_int_equal(count(&two, "sfu", 0), 1);
  }
  struct code exact = divisions("f32", "div.rn", "div.rn", 70), other = divisions("f32", "div.full", "div.approx", 70);
  assert_int_equal(count(&exact, "sfu", 0), 2);
  assert_int_equal(count(&other, "sfu", 0), 2);
}

/* The assembler has the reciprocal of a number; only one that every way to the second division passes is shared. */
static void reciprocals_of_numbers_and_of_other_ways(void **state) {
  (void)state;
  static const char by_number[] =
      INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n"
            "div.rn.f32 %f2, %f1, 0f437F0000;\ndiv.full.f32 %f3, %f2, 0f437F0000;\nst.global.f32 [%rd6], %f3;\nret;\n";
  struct code c = compile(by_number, 70);
  assert_int_equal(count(&c, "sfu", 0), 0);
  assert_int_equal(count(&c, "fp32", 0), 7); /* FCHK, five FFMA, FMUL */
  static const char two_ways[] =
      INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.u32 %r5, [%rd6];\n"
            "ld.global.u32 %r6, [%rd6+4];\nsetp.eq.s32 %p1, %r6, 3;\n@%p1 bra A;\ndiv.u32 %r7, %r6, %r5;\n"
            "st.global.u32 [%rd6+8], %r7;\nbra.uni B;\nA:\nrem.u32 %r8, %r6, %r5;\nst.global.u32 [%rd6+12], %r8;\n"
            "B:\nret;\n";
  c = compile(two_ways, 70);
  assert_int_equal(count(&c, "sfu", 0), 2);
}

/* Entered at its test, a loop becomes straight code, too: no comparison is left, and what its counter leads to are
 * numbers. */
static void a_loop_entered_at_its_test_is_straight(void **state) {
  (void)state;
  struct code c = compile("mov.u32 %r1, buf;\nmov.u32 %r2, 3;\nmov.u32 %r3, 0;\nmov.f32 %f1, 0f00000000;\nbra.uni T;\n"
                          "B:\nld.shared.f32 %f3, [%r4+4];\nadd.f32 %f1, %f1, %f3;\nadd.s32 %r3, %r3, 8;\n"
                          "add.s32 %r2, %r2, 4;\nT:\nadd.s32 %r4, %r1, %r3;\nld.shared.f32 %f2, [%r4];\n"
                          "add.f32 %f1, %f1, %f2;\nsetp.eq.s32 %p1, %r2, 15;\n@%p1 bra O;\nbra.uni B;\nO:\n"
                          "st.shared.f32 [%r1+64], %f1;\nret;\n",
                          70);
  assert_int_equal(count(&c, "fp32", 0), 7);
  assert_int_equal(count(&c, "branch", 0), 1);
  assert_int_equal(count(&c, "setp", 0), 0);
  assert_int_equal(count(&c, "int", 0), 0);
}

/* `if (a && b)`: the first comparison is part of the second, unless that one is read elsewhere or needs a load. */
#define BOTH(load)                                                                                             \
  INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.u32 %r5, [%rd6];\nsetp.lt.s32 %p1, " \
        "%r4, 3;\n@%p1 bra A;\n" load "setp.eq.s32 %p2, %r5, 7;\n@%p2 bra A;\nadd.s32 %r6, %r5, %r4;\n"        \
        "st.global.u32 [%rd6+4], %r6;\nA:\n"
static void conditions_become_one_guard(void **state) {
  (void)state;
  struct code c = compile(BOTH("add.s32 %r5, %r5, %r4;\n") "st.global.u32 [%rd6+8], %r4;\nret;\n", 70);
  uint32_t exits = count(&c, "branch", 0);
  assert_int_equal(count(&c, "setp", 0), 2);
  c = compile(BOTH("") "@%p2 st.global.u32 [%rd6+12], %r4;\nst.global.u32 [%rd6+8], %r4;\nret;\n", 70);
  assert_int_equal(count(&c, "branch", 0), exits + 1);
  c = compile(BOTH("ld.global.u32 %r5, [%rd6+16];\n") "st.global.u32 [%rd6+8], %r4;\nret;\n", 70);
  assert_int_equal(count(&c, "branch", 0), exits + 1);
}

/* A loop of four disappears, and its addresses are those of its first one; one that counts down to zero is repeated
 * four times, then two times, before the loop as it was, unless the compiler forbids it. */
static void loops_of_one_block_are_unrolled(void **state) {
  (void)state;
  struct code c = compile("mov.u32 %r1, buf;\nmov.u32 %r2, 0;\nmov.f32 %f1, 0f00000000;\nL:\nadd.s32 %r3, %r1, %r2;\n"
                          "ld.shared.f32 %f2, [%r3];\nadd.f32 %f1, %f1, %f2;\nadd.s32 %r2, %r2, 4;\n"
                          "setp.lt.s32 %p1, %r2, 16;\n@%p1 bra L;\nst.shared.f32 [%r1+64], %f1;\nret;\n",
                          70);
  assert_int_equal(count(&c, "lds", 16), 1);
  assert_int_equal(count(&c, "fp32", 0), 4);
  assert_int_equal(count(&c, "branch", 0), 1);
  assert_int_equal(count(&c, "int", 0), 0);
  static const char down[] =
      "ld.param.u32 %%r2, [n];\nld.param.u64 %%rd1, [p];\nand.b32 %%r2, %%r2, 60;\nmov.f32 %%f1, "
      "0f00000000;\nL:\n%sld.global.f32 %%f2, [%%rd1];\nadd.f32 %%f1, %%f1, %%f2;\n"
      "add.s64 %%rd1, %%rd1, 4;\nadd.s32 %%r2, %%r2, -1;\nsetp.ne.s32 %%p1, %%r2, 0;\n@%%p1 bra L;\n"
      "st.global.f32 [%%rd1], %%f1;\nret;\n";
  char text[1024];
  snprintf(text, sizeof text, down, "");
  c = compile(text, 70);
  assert_int_equal(count(&c, "ldg", 0), 7);
  assert_int_equal(in_loops(&c, "ldg"), 5);
  snprintf(text, sizeof text, down, ".pragma \"nounroll\";\n");
  c = compile(text, 70);
  assert_int_equal(count(&c, "ldg", 0), 1);
  c = compile("ld.param.u32 %r2, [n];\nld.param.u64 %rd1, [p];\nmov.f32 %f1, 0f00000000;\nmov.u32 %r3, 0;\n"
              "ld.param.f32 %f3, [n];\nld.param.f32 %f4, [q];\nL:\nld.global.f32 %f2, [%rd1];\n"
              "fma.rn.f32 %f1, %f1, %f3, %f4;\nfma.rn.f32 %f1, %f2, %f3, %f1;\nadd.s32 %r3, %r3, 1;\n"
              "setp.lt.s32 %p1, %r3, %r2;\n@%p1 bra L;\nst.global.f32 [%rd1], %f1;\nret;\n",
              70);
  assert_int_equal(count(&c, "ldg", 0), 7);
  assert_int_equal(in_loops(&c, "ldg"), 4); /* what is left is one turn */
  assert_int_equal(in_loops(&c, "mov"), 0); /* the second word of the bank comes before the loop */
  static const char masks[] = "%s%s %%rd5, %%r4;\nand.b64 %%rd6, %%rd5, %s;\nxor.b64 %%rd7, %%rd6, 12;\n"
                              "st.global.u64 [%%rd3], %%rd7;\nret;\n";
  static const uint32_t logic[] = {2, 2};
  for (uint32_t q = 0; q < 2; q++) { /* where upper halves of numbers are zeros or ones one instruction is enough */
    snprintf(text, sizeof text, masks, INDEX, q ? "cvt.s64.s32" : "cvt.u64.u32", q ? "-16" : "4092");
    c = compile(text, 70);
    uint32_t n = 0;
    for (uint32_t i = 0; i < c.n; i++) n += !strcmp(c.at[i].name, "LOP3");
    assert_int_equal(n, logic[q]);
  }
}

/* ptxas 11.8: a body with a barrier or an atomic is repeated only where all lanes go round as often, one that exchanges
 * values between lanes never. */
static void bodies_that_synchronise_stay_loops(void **state) {
  (void)state;
  static const char loop[] = "ld.param.u32 %%r9, [n];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %s;\nmov.u32 %%r5, buf;\n"
                             "L:\n%s\nadd.s32 %%r2, %%r2, 1;\nsetp.lt.s32 %%p1, %%r2, %s;\n@%%p1 bra L;\n"
                             "st.shared.u32 [%%r5], %%r2;\nret;\n";
  static const char *const body[] = {"bar.sync 0;", "atom.shared.add.u32 %r7, [%r5], 1;",
                                     "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;"},
                           *const cls[] = {"bar", "atom", "shfl"};
  char text[1024];
  for (uint32_t q = 0; q < 3; q++) {
    snprintf(text, sizeof text, loop, "%r1", body[q], "%r9");
    struct code c = compile(text, 75);
    assert_int_equal(count(&c, cls[q], 0), 1);
    snprintf(text, sizeof text, loop, "%ctaid.x", body[q], "%r9");
    c = compile(text, 75);
    assert_int_equal(count(&c, cls[q], 0), q == 2 ? 1 : 7);
    snprintf(text, sizeof text, loop, "0", body[q], "8");
    c = compile(text, 75);
    assert_int_equal(count(&c, cls[q], 0), q == 2 ? 1 : 8);
  }
}

/* ptxas 11.8 before 7.5: a shuffle without lanes begins the kernel and a loop of which the first block has nothing for
 * the load/store unit. */
static void loops_begin_with_a_shuffle_without_lanes(void **state) {
  (void)state;
  static const char loop[] =
      "ld.param.u64 %%rd1, [p];\nld.param.u32 %%r9, [n];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, buf;\nmov.u32 %%r3, "
      "0;\n"
      ".pragma \"nounroll\";\nL:\n%s\nadd.s32 %%r1, %%r1, 1;\nsetp.lt.s32 %%p1, %%r1, %%r9;\n@%%p1 bra L;\n"
      "st.global.u32 [%%rd1], %%r3;\nret;\n";
#define RARE_HALF "setp.eq.s32 %p2, %r3, 7;\n@!%p2 bra J;\nst.shared.u32 [%r2], %r3;\nbar.sync 0;\nJ:\n"
  static const struct {
    const char *body;
    uint32_t in_loop;
  } rows[] = {
      {"mad.lo.s32 %r3, %r3, %r3, %r1;", 1},
      {"mad.lo.s32 %r3, %r3, %r3, %r1;\nst.shared.u32 [%r2], %r3;", 0},
      {"mad.lo.s32 %r3, %r3, %r3, %r1;\nbar.sync 0;", 0},
      {"mad.lo.s32 %r3, %r3, %r3, %r1;\nmembar.gl;", 0},
      {"and.b32 %r4, %r3, 60;\nld.const.u32 %r4, [%r4];\nadd.s32 %r3, %r3, %r4;", 1},
      {"cvt.rn.f32.s32 %f1, %r3;\nsin.approx.f32 %f1, %f1;\ncvt.rzi.s32.f32 %r3, %f1;", 1},
      {"st.shared.u32 [%r2], %r3;\n" RARE_HALF "add.s32 %r3, %r3, 3;", 0},
      {RARE_HALF "ld.shared.u32 %r3, [%r2+8];\nadd.s32 %r3, %r3, 3;", 1}, /* not in its first block */
  };
  for (size_t q = 0; q < sizeof rows / sizeof *rows; q++) {
    char text[2048];
    snprintf(text, sizeof text, loop, rows[q].body);
    struct code c = compile(text, 70);
    if (in_loops(&c, "shfl") != rows[q].in_loop) fail_msg("%s: %u", rows[q].body, in_loops(&c, "shfl"));
    assert_int_equal(count(&c, "shfl", 0), 1 + rows[q].in_loop);
    assert_string_equal(c.at[1].cls, "shfl");
    c = compile(text, 75);
    assert_int_equal(count(&c, "shfl", 0), 0);
  }
}

/* A subroutine for rare operands has registers apart from what is live across its call (cuobjdump says as many). */
static void rare_operands_take_registers(void **state) {
  (void)state;
  static const struct {
    const char *op;
    uint32_t regs;
  } cases[] = {
      {"rcp.rn.f32 %f3, %f1;\nadd.f32 %f3, %f3, %f2;", 17},
      {"div.rn.f32 %f3, %f1, %f2;", 16},
      {"sqrt.rn.f32 %f3, %f1;\nadd.f32 %f3, %f3, %f2;", 13},
      {"mul.f32 %f4, %f1, %f1;\nmul.f32 %f5, %f4, %f2;\nmul.f32 %f6, %f5, %f4;\nfma.rn.f32 %f3, %f6, %f5, %f4;", 8}};
  char text[1024];
  for (uint32_t q = 0; q < sizeof cases / sizeof *cases; q++)
    for (uint32_t sm = 70; sm <= 90; sm += 20) {
      snprintf(text, sizeof text,
               "%smul.wide.s32 %%rd5, %%r4, 4;\nadd.s64 %%rd6, %%rd3, %%rd5;\nld.global.f32 %%f1, [%%rd6];\n"
               "ld.global.f32 %%f2, [%%rd6+4];\n%s\nst.global.f32 [%%rd6], %%f3;\nret;\n",
               INDEX, cases[q].op);
      struct code c = compile(text, sm);
      assert_int_equal(c.regs, cases[q].regs);
    }
}

/* Loads that wait for each other: an address stays free for ten instructions, so that six pairs take turns. Words of
 * seven predicates at most are loaded at once. */
static void registers_of_accesses_and_predicates_wait(void **state) {
  (void)state;
  char text[4096];
  size_t at = (size_t)snprintf(text, sizeof text, "%smov.u32 %%r10, %%r4;\n", INDEX);
  for (uint32_t q = 0; q < 12; q++)
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "mul.wide.s32 %%rd%u, %%r%u, 4;\nadd.s64 %%rd%u, %%rd3, %%rd%u;\nld.global.u32 %%r%u, "
                           "[%%rd%u];\n",
                           5 + 2 * q, 10 + q, 6 + 2 * q, 5 + 2 * q, 11 + q, 6 + 2 * q);
  snprintf(text + at, sizeof text - at, "st.global.u32 [%%rd3], %%r22;\nret;\n");
  struct code c = compile(text, 70);
  assert_in_range(c.regs, 16, 19);
  at = (size_t)snprintf(text, sizeof text, "%s.reg .pred %%q<16>;\n", INDEX);
  for (uint32_t q = 0; q < 12; q++)
    at += (size_t)snprintf(text + at, sizeof text - at, "setp.gt.s32 %%q%u, %%r4, %u;\n", q, 3 * q);
  at += (size_t)snprintf(text + at, sizeof text - at, "mov.u32 %%r5, %%tid.x;\nmov.u32 %%r6, 0;\n");
  for (uint32_t q = 0; q < 12; q++)
    at += (size_t)snprintf(text + at, sizeof text - at, "selp.b32 %%r%u, %u, %%r9, %%q%u;\n", 10 + q, 100 + q, q);
  for (uint32_t q = 0; q < 12; q++)
    at += (size_t)snprintf(text + at, sizeof text - at, "st.global.u32 [%%rd3+%u], %%r%u;\n", 8 * q, 10 + q);
  snprintf(text + at, sizeof text - at, "ret;\n");
  c = compile(text, 70);
  uint32_t open = 0;
  for (uint32_t i = 0; i < c.n; i++) {
    open += !strcmp(c.at[i].cls, "setp");
    open -= !strcmp(c.at[i].name, "SEL");
    assert_in_range(open, 0, 7);
  }
}

/* R2P takes the bits of a byte, two or more of them, LEA.HI the upper bits of a word in a sum (ptxas 11.8). */
static void bits_and_upper_bits_need_no_shift(void **state) {
  (void)state;
  static const char bits[] =
      "mov.u32 %%r1, %%clock;\nmov.u32 %%r5, buf;\nand.b32 %%r2, %%r1, 1;\nsetp.ne.s32 %%p1, %%r2, "
      "0;\nand.b32 %%r3, %%r1, %u;\nsetp.ne.s32 %%p2, %%r3, 0;\n@%%p1 st.shared.u32 [%%r5], "
      "%%r1;\n@%%p2 st.shared.u32 [%%r5+64], %%r1;\nret;\n";
  static const uint32_t second[] = {4, 128, 512};
  char text[1024];
  for (uint32_t q = 0; q < 3; q++) {
    snprintf(text, sizeof text, bits, second[q]);
    struct code c = compile(text, 70);
    assert_int_equal(count(&c, "int", 0), q ? 2 : 1);
    assert_int_equal(count(&c, "setp", 0), 0);
  }
  struct code c = compile("mov.u32 %r1, %clock;\nmov.u32 %r5, buf;\nshr.u32 %r2, %r1, 31;\nadd.s32 %r3, %r1, %r2;\n"
                          "shr.s32 %r4, %r3, 1;\nst.shared.u32 [%r5], %r4;\nret;\n",
                          70);
  assert_int_equal(count(&c, "int", 0), 2);
}

/* Two arrays at one index: the index is made once, the arrays are offsets (ptxas 11.8). */
static void arrays_of_shared_memory_share_their_index(void **state) {
  (void)state;
  struct code c = compile(".shared .align 4 .b8 more[4096];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\n"
                          "shl.b32 %r3, %r1, 2;\nshl.b32 %r4, %r2, 6;\nmov.u32 %r5, buf;\nmov.u32 %r6, more;\n"
                          "add.s32 %r7, %r5, %r4;\nadd.s32 %r8, %r7, %r3;\nadd.s32 %r9, %r6, %r4;\n"
                          "add.s32 %r10, %r9, %r3;\nld.shared.u32 %r11, [%r8];\nst.shared.u32 [%r10], %r11;\nret;\n",
                          70);
  assert_int_equal(count(&c, "s2r", 0), 2);
  assert_int_equal(count(&c, "lds", 0), 1);
  assert_int_equal(count(&c, "sts", 0), 1);
  assert_int_equal(count(&c, "int", 0) + count(&c, "imad", 0), 2); /* a shift, and a shift with a sum */
}

/* HMMA.884 is four steps, two with accumulators of 16 bits, and a product of 16 by 16 by 16 four of them; one HMMA.1688
 * is a set on Turing, HMMA.16816 two on Ampere (ptxas 11.8). */
static void matrix_products_are_sets_of_steps(void **state) {
  (void)state;
  static const char quads[] = ".reg .b32 %%c<8>, %%d<8>;\nmma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 "
                              "{%%d0,%%d1,%%d2,%%d3,%%d4,%%d5,%%d6,%%d7}, {%%r1,%%r2}, {%%r3,%%r4}, "
                              "{%%c0,%%c1,%%c2,%%c3,%%c4,%%c5,%%c6,%%c7};\n%sret;\n";
  static const char store[] = "st.shared.u32 [buf], %d0;\nst.shared.u32 [buf+64], %d7;\n";
  char text[1024];
  snprintf(text, sizeof text, quads, store);
  struct code c = compile(text, 70);
  assert_int_equal(count(&c, "tensor", 0), 4);
  static const char wmma[] =
      ".reg .b32 %a<8>, %b<8>, %d<8>;\nwmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%d0,%d1,%d2,%d3}, "
      "{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, {%d4,%d5,%d6,%d7};\n"
      "st.shared.u32 [buf], %d0;\nret;\n";
  c = compile(wmma, 70);
  assert_int_equal(count(&c, "tensor", 0), 8);
  c = compile(wmma, 75);
  assert_int_equal(count(&c, "tensor", 0), 4);
  c = compile(wmma, 80);
  assert_int_equal(count(&c, "tensor", 0), 2);
}

/* A load of the same base at another offset goes above the store; one that may touch what is stored does not. */
static void short_branches_become_predicates(void **state) {
  (void)state;
  struct code c = compile(
      "mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 7;\nmov.u32 %r2, buf;\n@%p1 bra L1;\nst.shared.u32 [%r2], %r1;\n"
      "L1:\nst.shared.u32 [%r2+64], %r1;\nret;\n",
      70);
  assert_int_equal(count(&c, "branch", 0), 1); /* EXIT */
  assert_int_equal(count(&c, "sts", 0), 2);
}

/* Rows y + 0 to y + 7 of a table of 29 columns: one product, and a sum for each row (ptxas 11.8 and 13.0). */
static void turns_share_a_product(void **state) {
  (void)state;
  struct code c = compile(INDEX "mov.u32 %r5, 0;\nmov.f32 %f1, 0f00000000;\nL:\nadd.s32 %r6, %r4, %r5;\n"
                                "mad.lo.s32 %r7, %r6, 29, %r9;\nmul.wide.s32 %rd5, %r7, 4;\nadd.s64 %rd6, %rd3, %rd5;\n"
                                "ld.global.f32 %f2, [%rd6];\nadd.f32 %f1, %f1, %f2;\nadd.s32 %r5, %r5, 1;\n"
                                "setp.lt.s32 %p1, %r5, 8;\n@%p1 bra L;\nst.global.f32 [%rd4], %f1;\nret;\n",
                          70);
  assert_int_equal(count(&c, "ldg", 0), 8);
  assert_int_equal(count(&c, "imad", 0), 1 + 1 + 8); /* the thread's number, the product, addresses */
  assert_int_equal(count(&c, "int", 0), 7);
}

#define LOADS "ld.global.f32 %f2, [%rd3+8];\nst.global.f32 [%rd3+512], %f2;\n"
#define MANY LOADS LOADS LOADS LOADS LOADS LOADS LOADS LOADS LOADS LOADS LOADS

/* A barrier for each place where lanes meet: branches to the same place share it. */
static void lanes_meet_where_all_ways_lead(void **state) {
  (void)state;
  const char *begin =
      INDEX "mov.f32 %f1, 0f00000000;\nmul.wide.s32 %rd5, %r3, 4;\nadd.s64 %rd3, %rd3, %rd5;\n"
            "ld.global.f32 %f4, [%rd3+1024];\nsetp.lt.f32 %p1, %f4, 0f3F800000;\nsetp.lt.f32 %p2, %f4, 0f40000000;\n";
  const char *same = "@%p1 bra E;\n" LOADS "@%p2 bra E;\n" MANY "E:\n";
  const char *inner = "@%p1 bra E;\n" LOADS "@%p2 bra I;\n" MANY "I:\n" MANY "E:\n";
  const char *either = "@%p1 bra A;\n" MANY "bra.uni E;\nA:\n" MANY "E:\n";
  const char *const bodies[] = {same, inner, either};
  const uint32_t want[] = {2, 4, 2};
  for (uint32_t q = 0; q < 3; q++) {
    char text[8192];
    snprintf(text, sizeof text, "%s%sst.global.f32 [%%rd4], %%f1;\nret;\n", begin, bodies[q]);
    struct code c = compile(text, 80);
    assert_int_equal(count(&c, "sync", 0), want[q]);
  }
}

/* A row of comparisons, the first in a block with other code. */
static void switch_text(char *text, size_t size, const int *value, uint32_t n) {
  size_t at = (size_t)snprintf(text, size, "%s",
                               INDEX "mul.wide.s32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd3, %rd5;\n"
                                     "ld.global.u32 %r5, [%rd6];\nmov.u32 %r6, 1;\n");
  for (uint32_t q = 0; q < n; q++)
    at += (size_t)snprintf(text + at, size - at, "{\n.reg .pred %%c;\nsetp.eq.s32 %%c, %%r5, %d;\n@%%c bra L%u;\n}\n",
                           value[q], q);
  at += (size_t)snprintf(text + at, size - at, "bra.uni D;\n");
  for (uint32_t q = 0; q < n; q++)
    at +=
        (size_t)snprintf(text + at, size - at,
                         "L%u:\nmad.lo.s32 %%r6, %%r5, %u, %u;\nxor.b32 %%r6, %%r6, %%r4;\nbra.uni E;\n", q, 17 + q, q);
  snprintf(text + at, size - at,
           "D:\nadd.s32 %%r6, %%r6, 9;\nE:\nadd.s64 %%rd6, %%rd4, %%rd5;\nst.global.u32 [%%rd6], %%r6;\nret;\n");
}

/* Which rows ptxas 11.8 and 13.0 make a table of: two comparisons and more in blocks of their own, five entries for
 * each; of a longer row its end. */
static void rows_of_comparisons_become_tables(void **state) {
  (void)state;
  static const struct {
    int value[9];
    uint32_t n;
    bool table;
  } rows[] = {{{0, 1}, 2, false},          {{0, 1, 2}, 3, true},           {{7, 3, 5}, 3, true},
              {{0, 1, 10}, 3, true},       {{0, 1, 11}, 3, false},         {{0, 1, 2, 15}, 4, true},
              {{0, 1, 2, 16}, 4, false},   {{0, 9, 18, 27}, 4, true},      {{0, 10, 20, 30}, 4, false},
              {{-5, -4, -3, -2}, 4, true}, {{0, 1, 2, 3, 4, 25}, 6, true}, {{0, 1, 2, 3, 4, 26}, 6, false}};
  for (uint32_t q = 0; q < sizeof rows / sizeof *rows; q++) {
    char text[8192];
    switch_text(text, sizeof text, rows[q].value, rows[q].n);
    for (uint32_t sm = 70; sm <= 90; sm += 10) {
      struct code c = compile(text, sm);
      uint32_t n = 0;
      for (uint32_t i = 0; i < c.n; i++) n += !strcmp(c.at[i].name, "BRX");
      if ((n > 0) != rows[q].table) fail_msg("row %u, sm_%u: %u", q, sm, n);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_kernels_leave_the_same_memory),
      cmocka_unit_test(an_addition_of_vectors_is_that_of_ptxas),
      cmocka_unit_test(adjacent_shared_accesses_become_wide),
      cmocka_unit_test(constants_are_operands_or_come_in_pairs),
      cmocka_unit_test(sine_and_cosine_share_their_product),
      cmocka_unit_test(divisions_by_one_value_share_its_reciprocal),
      cmocka_unit_test(reciprocals_of_numbers_and_of_other_ways),
      cmocka_unit_test(loops_of_one_block_are_unrolled),
      cmocka_unit_test(a_loop_entered_at_its_test_is_straight),
      cmocka_unit_test(conditions_become_one_guard),
      cmocka_unit_test(bodies_that_synchronise_stay_loops),
      cmocka_unit_test(loops_begin_with_a_shuffle_without_lanes),
      cmocka_unit_test(rare_operands_take_registers),
      cmocka_unit_test(registers_of_accesses_and_predicates_wait),
      cmocka_unit_test(bits_and_upper_bits_need_no_shift),
      cmocka_unit_test(arrays_of_shared_memory_share_their_index),
      cmocka_unit_test(matrix_products_are_sets_of_steps),
      cmocka_unit_test(short_branches_become_predicates),
      cmocka_unit_test(turns_share_a_product),
      cmocka_unit_test(lanes_meet_where_all_ways_lead),
      cmocka_unit_test(rows_of_comparisons_become_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
