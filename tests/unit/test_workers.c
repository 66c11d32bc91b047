/* test_workers.c - functional mode on several host threads: memory and counts are those of one thread, whatever the
 * number; CTAs that wait for each other end; faults name one place; kernels that must run on one thread do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "simt/core/machine.h"
#include "simt/simt.h"

#define ENTRY                                                                                               \
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"  \
  ".reg .pred %p<8>;\n.reg .b32 %t, %c, %r<32>;\n.reg .b64 %out, %in, %d<16>;\n.reg .f32 %f<8>;\n"          \
  "mov.u32 %c, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %t, %tid.x;\nmad.lo.u32 %t, %c, %r1, %t;\n"        \
  "ld.param.u64 %out, [out];\nld.param.u64 %in, [in];\nmul.wide.u32 %d0, %t, 4;\nadd.u64 %d1, %out, %d0;\n" \
  "add.u64 %d2, %in, %d0;\n"
enum { CTAS = 96, THREADS = 128, WORDS = CTAS * THREADS, BINS = 61, SLOTS = 24 };

struct outcome {
  uint32_t out[WORDS], in[WORDS];
  struct simt_counts n;
  struct err e;
  bool ok, alone;
};

/* What `text` makes of words 0, 1, 2... on `threads` host threads, launched `times` times. */
static struct outcome *run(const char *text, uint32_t threads, uint32_t times) {
  static struct outcome o[5];
  struct outcome *x = &o[threads];
  struct simt *s = simt_new(1 << 26, &x->e);
  struct simt_text t = {.ptx = text, .name = "test.ptx"};
  *x = (struct outcome){.ok = true};
  simt_interleave(s, 4096);
  simt_set_threads(s, threads);
  simt_set_watchdog(s, 20000000);
  struct simt_module *m = simt_load(s, &t, 1, &x->e);
  if (!m) fail_msg("%s", x->e.msg);
  uint64_t p[2] = {simt_mem_alloc(s, sizeof x->out, SIMT_MEM_DEVICE, "out"),
                   simt_mem_alloc(s, sizeof x->in, SIMT_MEM_DEVICE, "in")};
  uint32_t *in = simt_mem_at(s, p[1], sizeof x->in);
  for (uint32_t i = 0; i < WORDS; i++) in[i] = i;
  memset(simt_mem_at(s, p[0], sizeof x->out), 0, sizeof x->out);
  struct simt_launch l = {
      .kernel = simt_find_kernel(m, "k"), .grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}, .params = p};
  for (uint32_t i = 0; i < times && x->ok; i++) {
    struct simt_run *r = simt_begin(s, &l, SLOTS, &x->e);
    x->ok = r && simt_run(r, &x->n, &x->e);
    simt_end(r);
  }
  x->alone = simt_find_kernel(m, "k")->threads != THREADS_MANY;
  memcpy(x->out, simt_mem_at(s, p[0], sizeof x->out), sizeof x->out);
  memcpy(x->in, in, sizeof x->in);
  simt_free(s);
  return x;
}

static void must_agree(const char *text, uint32_t times) {
  const struct outcome *one = run(text, 1, times);
  if (!one->ok) fail_msg("%s", one->e.msg);
  for (uint32_t n = 2; n < 5; n++) {
    const struct outcome *x = run(text, n, times);
    if (!x->ok) fail_msg("%u threads: %s", n, x->e.msg);
    assert_false(x->alone);
    assert_memory_equal(x->out, one->out, sizeof x->out);
    assert_memory_equal(x->in, one->in, sizeof x->in);
    assert_int_equal(x->n.warp_insts, one->n.warp_insts);
    assert_int_equal(x->n.thread_insts, one->n.thread_insts);
  }
}

/* A loop whose length differs between CTAs, shared memory, and a barrier. */
#define REVERSE                                                                                         \
  ENTRY ".shared .b32 tile[128];\nld.global.u32 %r2, [%d2];\nand.b32 %r3, %c, 31;\nLOOP:\n"             \
        "mad.lo.u32 %r2, %r2, 17, 3;\nsub.u32 %r3, %r3, 1;\nsetp.ge.s32 %p0, %r3, 0;\n@%p0 bra LOOP;\n" \
        "mov.u32 %r4, %tid.x;\nshl.b32 %r5, %r4, 2;\nmov.u32 %r6, tile;\nadd.u32 %r7, %r6, %r5;\n"      \
        "st.shared.u32 [%r7], %r2;\nbar.sync 0;\nsub.u32 %r8, 127, %r4;\nshl.b32 %r8, %r8, 2;\n"        \
        "add.u32 %r8, %r6, %r8;\nld.shared.u32 %r9, [%r8];\nst.global.u32 [%d1], %r9;\nret;\n}\n"

static void own_words(void **state) {
  (void)state;
  must_agree(REVERSE, 3);
}

/* All threads count into few words; lanes of a warp collide. Every total has to arrive. */
static void atomics(void **state) {
  (void)state;
  const char *text = ENTRY "ld.global.u32 %r2, [%d2];\nrem.u32 %r3, %r2, 61;\nmul.wide.u32 %d3, %r3, 4;\n"
                           "add.u64 %d4, %out, %d3;\nred.global.add.u32 [%d4], 1;\n"
                           "red.global.max.u32 [%d4+1024], %r2;\nret;\n}\n";
  must_agree(text, 2);
  const struct outcome *x = run(text, 4, 2);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < BINS; i++) sum += x->out[i];
  assert_int_equal(sum, 2 * WORDS);
  assert_int_equal(x->out[256 + (WORDS - 1) % BINS], WORDS - 1);
}

/* A CTA waits for the one before it, through a flag and a fence. */
static void chain(void **state) {
  (void)state;
  for (uint32_t n = 2; n < 5; n++) {
    const struct outcome *x = run(ENTRY "mul.wide.u32 %d5, %c, 4;\nadd.u64 %d6, %out, %d5;\nmov.u32 %r4, %tid.x;\n"
                                        "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra DONE;\nmov.u32 %r5, 0;\n"
                                        "setp.eq.u32 %p0, %c, 0;\n@%p0 bra SET;\nWAIT:\n"
                                        "ld.volatile.global.u32 %r5, [%d6+-4];\nsetp.eq.u32 %p2, %r5, 0;\n"
                                        "@%p2 bra WAIT;\nSET:\nadd.u32 %r5, %r5, 3;\nmembar.gl;\n"
                                        "st.volatile.global.u32 [%d6], %r5;\nDONE:\nret;\n}\n",
                                  n, 1);
    if (!x->ok) fail_msg("%s", x->e.msg);
    assert_true(x->alone);
    for (uint32_t i = 0; i < CTAS; i++) assert_int_equal(x->out[i], 3 * (i + 1));
  }
}

/* A kernel that reads and writes one array: no resident CTA writes before all have read (simt_run). */
static void first_turns(void **state) {
  (void)state;
  const char *text = ENTRY "xor.b32 %r2, %t, 1024;\nmul.wide.u32 %d3, %r2, 4;\nadd.u64 %d4, %in, %d3;\n"
                           "ld.global.u32 %r3, [%d4];\nadd.u32 %r3, %r3, 1;\nst.global.u32 [%d2], %r3;\nret;\n}\n";
  for (uint32_t n = 1; n < 5; n++) {
    const struct outcome *x = run(text, n, 1);
    if (!x->ok) fail_msg("%s", x->e.msg);
    for (uint32_t i = 0; i < 16 * THREADS; i++) assert_int_equal(x->in[i], (i ^ 1024) + 1);
  }
}

/* Threads of CTAs 40 and up leave the array; the first one is named, and the launch ends. */
static void faults(void **state) {
  (void)state;
  for (uint32_t n = 1; n < 5; n++) {
    const struct outcome *x = run(ENTRY "setp.lt.u32 %p0, %c, 40;\n@%p0 bra FINE;\nmov.u64 %d1, 64;\nFINE:\n"
                                        "st.global.u32 [%d1], %t;\nret;\n}\n",
                                  n, 1);
    assert_false(x->ok);
    assert_int_equal(x->e.code, ERR_PROGRAM);
    if (!strstr(x->e.msg, "CTA (40,0,0)")) fail_msg("%u threads: %s", n, x->e.msg);
  }
}

static void endless(void **state) {
  (void)state;
  for (uint32_t n = 1; n < 4; n++) {
    const struct outcome *x = run(ENTRY "setp.lt.u32 %p0, %c, 90;\nL:\n@%p0 bra DONE;\nbra L;\nDONE:\nret;\n}\n", n, 1);
    assert_false(x->ok);
    assert_int_equal(x->e.code, ERR_STUCK);
  }
}

/* What a kernel reads of time and place depends on what else runs. */
static void one_thread(void **state) {
  (void)state;
  static const char *const what[] = {"mov.u32 %r9, %clock;",
                                     "mov.u32 %r9, %smid;",
                                     "mov.u64 %d9, %globaltimer;",
                                     "mov.u64 %d9, %clock64;",
                                     "atom.global.add.u32 %r9, [%d1], 1;",
                                     "red.global.add.f32 [%d1], 0f3F800000;"};
  for (uint32_t i = 0; i < sizeof what / sizeof *what; i++) {
    char text[2000];
    snprintf(text, sizeof text, "%s%s\nst.global.u32 [%%d1], %%t;\nret;\n}\n", ENTRY, what[i]);
    const struct outcome *x = run(text, 4, 1);
    assert_true(x->ok);
    assert_true(x->alone);
  }
  const char *print = ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n";
  char text[3000];
  snprintf(
      text, sizeof text,
      ".version 8.0\n.target sm_80\n.address_size 64\n%s.func say()\n{\n.param .b64 a;\n.param .b64 b;\n"
      ".param .b32 r;\ncall.uni (r), vprintf, (a, b);\nret;\n}\n%s.reg .b32 %%never;\nsetp.ne.u32 %%p7, %%c, %%c;\n"
      "@!%%p7 bra FINE;\ncall.uni say;\nFINE:\nst.global.u32 [%%d1], %%t;\nret;\n}\n",
      print, strstr(ENTRY, ".visible"));
  const struct outcome *x = run(text, 4, 1);
  assert_true(x->ok);
  assert_true(x->alone);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_words),   cmocka_unit_test(atomics), cmocka_unit_test(chain),
      cmocka_unit_test(first_turns), cmocka_unit_test(faults),  cmocka_unit_test(endless),
      cmocka_unit_test(one_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
