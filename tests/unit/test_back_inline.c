/* test_back_inline.c - functions that become part of the kernels that call them: the memory is that of the PTX. */
#include <stdio.h>
#include <stdlib.h>

#include "back_run.h"
#include "back_text.h"

enum { VALUES = 4, FUNCTIONS = 4 };

#define HEAD ".version 7.8\n.target sm_70\n.address_size 64\n"
/* %r1: the thread; %rd2: its 16 bytes. */
#define KERNEL                                                                                                     \
  ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<8>;\n.reg .b16 %rs<16>;\n.reg .b32 %r<32>;\n" \
  ".reg .f32 %f<16>;\n.reg .b64 %rd<16>;\n.reg .f64 %fd<8>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"      \
  "mul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd2, %rd1, %rd3;\nld.global.u32 %r2, [%rd2];\n"
#define LEAVE "ret;\n}\n"

static const uint32_t machines[] = {70, 80, 90};

static void same_memory(const char *text) {
  static uint32_t want[RUN_WORDS], got[RUN_WORDS];
  run(text, 0, want);
  for (uint32_t i = 0; i < 3; i++) {
    run(text, machines[i], got);
    if (memcmp(want, got, sizeof want)) fail_msg("sm_%u leaves another memory:\n%s", machines[i], text);
  }
}

/* Bytes, pairs of bytes and vectors in a structure, signed and not; a result of the same kind. */
static void structures_are_passed_in_registers(void **state) {
  (void)state;
  same_memory(HEAD
              ".func (.param .align 8 .b8 out[24]) f(.param .align 8 .b8 in[24], .param .b32 c, .param .b32 h)\n{\n"
              ".reg .b16 %rs<16>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .f64 %fd<4>;\n"
              "ld.param.s8 %rs1, [c];\nld.param.u16 %rs2, [h];\nld.param.v2.u8 {%rs3, %rs4}, [in];\n"
              "ld.param.u16 %rs5, [in+2];\nld.param.v4.s8 {%rs6, %rs7, %rs8, %rs9}, [in+4];\n"
              "ld.param.f64 %fd1, [in+8];\nld.param.u64 %rd1, [in+16];\nadd.s16 %rs3, %rs3, %rs1;\n"
              "mul.lo.s16 %rs6, %rs6, %rs2;\nadd.f64 %fd1, %fd1, %fd1;\ncvt.s64.s16 %rd2, %rs1;\n"
              "add.s64 %rd1, %rd1, %rd2;\nst.param.v2.b8 [out], {%rs3, %rs4};\nst.param.b16 [out+2], %rs5;\n"
              "st.param.v4.b8 [out+4], {%rs9, %rs8, %rs7, %rs6};\nst.param.f64 [out+8], %fd1;\n"
              "st.param.b64 [out+16], %rd1;\nret;\n}\n" KERNEL
              "cvt.u16.u32 %rs1, %r2;\nshr.u32 %r3, %r2, 16;\ncvt.u16.u32 %rs2, %r3;\ncvt.rn.f64.u32 %fd1, %r2;\n"
              "cvt.u64.u32 %rd4, %r2;\n{\n.param .align 8 .b8 a[24];\n.param .b32 b;\n.param .b32 d;\n"
              ".param .align 8 .b8 e[24];\nst.param.v2.b8 [a], {%rs1, %rs2};\nst.param.b16 [a+2], %rs2;\n"
              "st.param.v4.b8 [a+4], {%rs2, %rs1, 9, %rs2};\nst.param.f64 [a+8], %fd1;\nst.param.b64 [a+16], %rd4;\n"
              "st.param.b32 [b], %r3;\nst.param.b32 [d], 70000;\ncall.uni (e), f, (a, b, d);\n"
              "ld.param.v4.u8 {%rs3, %rs4, %rs5, %rs6}, [e+4];\nld.param.v2.s8 {%rs7, %rs8}, [e];\n"
              "ld.param.u16 %rs9, [e+2];\nld.param.f64 %fd2, [e+8];\nld.param.b64 %rd5, [e+16];\n}\n"
              "mad.lo.s16 %rs3, %rs4, 3, %rs3;\nmad.lo.s16 %rs3, %rs5, 5, %rs3;\nmad.lo.s16 %rs3, %rs6, 7, %rs3;\n"
              "mad.lo.s16 %rs3, %rs7, 9, %rs3;\nmad.lo.s16 %rs3, %rs8, 11, %rs3;\nadd.s16 %rs3, %rs3, %rs9;\n"
              "cvt.u32.u16 %r4, %rs3;\ncvt.rzi.u32.f64 %r5, %fd2;\nst.global.v2.u32 [%rd2], {%r4, %r5};\n"
              "st.global.u64 [%rd2+8], %rd5;\n" LEAVE);
}

/* Lanes call under a guard and return at different times from a loop; a local array is that of one call. */
static void lanes_return_one_by_one(void **state) {
  (void)state;
  same_memory(HEAD
              ".func (.param .b32 out) f(.param .b32 in)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
              ".local .align 4 .b8 frame[32];\nld.param.u32 %r1, [in];\nmov.u32 %r2, 0;\nAGAIN:\n"
              "and.b32 %r3, %r2, 7;\nmul.wide.u32 %rd1, %r3, 4;\nmov.u64 %rd2, frame;\nadd.s64 %rd2, %rd2, %rd1;\n"
              "st.local.u32 [%rd2], %r1;\nadd.u32 %r2, %r2, 1;\nsetp.gt.u32 %p1, %r2, 20;\n"
              "st.param.b32 [out], %r2;\n@%p1 ret;\nand.b32 %r4, %r1, 1;\nsetp.eq.u32 %p2, %r4, 0;\n"
              "@%p2 bra HALF;\nmad.lo.u32 %r1, %r1, 3, 1;\nbra TEST;\nHALF:\nshr.u32 %r1, %r1, 1;\nTEST:\n"
              "setp.ne.u32 %p3, %r1, 1;\n@%p3 bra AGAIN;\nld.local.u32 %r5, [frame+4];\nadd.u32 %r5, %r5, %r2;\n"
              "st.param.b32 [out], %r5;\nret;\n}\n" KERNEL
              "add.u32 %r3, %r1, 2;\nmov.u32 %r4, 5;\nsetp.gt.u32 %p1, %r1, 9;\n{\n.param .b32 a;\n.param .b32 b;\n"
              "st.param.b32 [a], %r3;\n@%p1 call (b), f, (a);\n@%p1 ld.param.b32 %r4, [b];\n}\n{\n.param .b32 a;\n"
              ".param .b32 b;\nst.param.b32 [a], %r4;\n@!%p1 call (b), f, (a);\n@!%p1 ld.param.b32 %r5, [b];\n}\n"
              "st.global.u32 [%rd2], %r4;\n@!%p1 st.global.u32 [%rd2+4], %r5;\n" LEAVE);
}

/* ---- functions at random: each calls those before it ---- */

static void call_one(struct maker *m, unsigned below) {
  static const char *const guard[] = {"", "@%p ", "@!%p "};
  unsigned f = pick(m, below), r = pick(m, VALUES), g = pick(m, 3);
  say(m, "setp.lt.u32 %%p, %%v%u, %%v%u;\n{\n.param .b32 a;\n.param .b32 b;\n.param .align 8 .b8 c[8];\n", r,
      pick(m, VALUES));
  say(m, "st.param.b32 [a], %%v%u;\nst.param.b32 [b], %u;\n%scall (c), f%u, (a, b);\n", pick(m, VALUES),
      1 + pick(m, 1000), guard[g], f);
  say(m, "%sld.param.v2.b32 {%%v%u, %%v%u}, [c];\n}\n", guard[g], r, (r + 1) % VALUES);
}

static void body(struct maker *m, unsigned below, bool function) {
  for (unsigned n = 3 + pick(m, 8); n; n--) {
    unsigned d = pick(m, VALUES), x = pick(m, VALUES), l = m->labels;
    switch (pick(m, below ? 6 : 4)) {
    case 0:
      say(m, "mad.lo.u32 %%v%u, %%v%u, 1664525, %%v%u;\n", d, x, pick(m, VALUES));
      break;
    case 1:
      say(m, "shr.u32 %%t, %%v%u, 9;\nxor.b32 %%v%u, %%v%u, %%t;\n", x, d, d);
      break;
    case 2: /* a branch over one statement */
      m->labels++;
      say(m, "and.b32 %%t, %%v%u, 3;\nsetp.eq.u32 %%p, %%t, %u;\n@%%p bra L%u;\nadd.u32 %%v%u, %%v%u, %u;\nL%u:\n", x,
          pick(m, 4), l, d, d, pick(m, 99), l);
      break;
    case 3: /* some lanes return */
      if (!function) break;
      say(m, "and.b32 %%t, %%v%u, 15;\nsetp.eq.u32 %%p, %%t, %u;\nst.param.b32 [out], %%v%u;\n", x, pick(m, 16), d);
      say(m, "st.param.b32 [out+4], %%t;\n@%%p ret;\n");
      break;
    default:
      call_one(m, below);
    }
  }
}

static void declare(struct maker *m) {
  say(m, ".reg .pred %%p;\n.reg .b32 %%t, %%v<%d>;\n", VALUES);
}

static void random_calls_leave_the_same_memory(void **state) {
  (void)state;
  struct maker *m = calloc(1, sizeof *m);
  for (uint64_t seed = 1; seed <= 150; seed++) {
    m->at = 0;
    m->labels = 0;
    m->rng = rng_seed(seed);
    say(m, "%s", HEAD);
    for (unsigned f = 0; f < FUNCTIONS; f++) {
      say(m, ".func (.param .align 8 .b8 out[8]) f%u(.param .b32 x, .param .b32 y)\n{\n", f);
      declare(m);
      say(m, "ld.param.u32 %%v0, [x];\nld.param.u32 %%v1, [y];\nadd.u32 %%v2, %%v0, %%v1;\nmov.u32 %%v3, %u;\n", f);
      body(m, f, true);
      say(m, "st.param.v2.b32 [out], {%%v%u, %%v%u};\n" LEAVE, pick(m, VALUES), pick(m, VALUES));
    }
    say(m, "%s", KERNEL);
    declare(m);
    say(m, "mov.u32 %%v0, %%r2;\nmov.u32 %%v1, %%r1;\nmov.u32 %%v2, 3;\nmov.u32 %%v3, 4;\n");
    body(m, FUNCTIONS, false);
    call_one(m, FUNCTIONS);
    say(m, "st.global.v4.u32 [%%rd2], {%%v0, %%v1, %%v2, %%v3};\n" LEAVE);
    same_memory(m->text);
  }
  free(m);
}

/* ---- what stays PTX ---- */

static const char *refused(const char *functions, const char *body_of_k) {
  static char text[8192], why[128];
  struct err e = {0};
  snprintf(text, sizeof text, "%s%s%s%s%s", HEAD, functions, KERNEL, body_of_k, LEAVE);
  struct simt *s = simt_new(1 << 24, &e);
  simt_back_end(s, 70);
  struct simt_text t = {.ptx = text, .name = "calls.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  struct simt_kernel *k = simt_find_kernel(m, "k");
  struct simt_machine i;
  const char *r = simt_machine_refused(k);
  assert_int_equal(simt_machine_at(k, 0, &i), !r);
  snprintf(why, sizeof why, "%s", r ? r : "");
  simt_free(s);
  return why;
}

static void what_cannot_become_part_of_a_kernel(void **state) {
  (void)state;
  static const char calls[] = "calls that cannot become part of it";
  assert_string_equal(refused(".func f() { ret; }\n", "call f;\n"), "");
  assert_string_equal(refused(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n",
                              "{\n.param .b64 a;\n.param .b64 b;\n.param .b32 c;\nst.param.b64 [a], %rd1;\n"
                              "st.param.b64 [b], %rd1;\ncall (c), vprintf, (a, b);\n}\n"),
                      "");
  assert_string_equal(refused(".func f() { call f; ret; }\n", "call f;\n"), calls);
  assert_string_equal(refused(".func f() { ret; }\n", "mov.u64 %rd4, f;\nP: .callprototype _ ();\ncall %rd4, P;\n"),
                      calls);
  /* Each calls the one before twice: 2^24 calls without an instruction. */
  char chain[2048];
  size_t at = (size_t)sprintf(chain, ".func f0() { ret; }\n");
  for (unsigned i = 1; i <= 24; i++)
    at += (size_t)sprintf(chain + at, ".func f%u() { call f%u; call f%u; ret; }\n", i, i - 1, i - 1);
  assert_string_equal(refused(chain, "call f24;\n"), calls);
  /* Its parameter's address is taken. */
  assert_string_equal(refused(".func f(.param .b32 x) { .reg .b64 %d; mov.b64 %d, x; ret; }\n",
                              "{\n.param .b32 a;\nst.param.b32 [a], %r1;\ncall f, (a);\n}\n"),
                      calls);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structures_are_passed_in_registers),
      cmocka_unit_test(lanes_return_one_by_one),
      cmocka_unit_test(random_calls_leave_the_same_memory),
      cmocka_unit_test(what_cannot_become_part_of_a_kernel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
