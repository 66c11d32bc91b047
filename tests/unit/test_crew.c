/* test_crew.c - CTAs of a tapped launch on several host threads: signature, touches in their order, and what code and
 * constants were read are those of one thread; a fault is that of the first CTA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpu/gpu.h"
#include "sample/crew.h"
#include "simt/simt.h"
#include "units.h"

enum { CTAS = 48, THREADS = 128, ARRAY = 1 << 22, SIDE = 6, SMS = 3, HALF = 20 };
/* CTA c reads c % 7 + 1 lines with each thread; CTA 5, 1,400, which is more than a crew keeps for its turn. */
#define KERNEL(stores_at)                                                                                       \
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n.reg .pred %p<4>;\n"    \
  ".reg .b32 %c, %t, %r<8>;\n.reg .b64 %d<8>;\nmov.u32 %c, %ctaid.x;\nmov.u32 %r1, %tid.x;\n"                   \
  "mad.lo.u32 %t, %c, 128, %r1;\nld.param.u64 %d0, [in];\nmul.wide.u32 %d1, %t, 128;\nadd.u64 %d1, %d0, %d1;\n" \
  "rem.u32 %r2, %c, 7;\nsetp.eq.u32 %p0, %c, 5;\nselp.u32 %r2, 1400, %r2, %p0;\nmov.u64 %d2, %d1;\nLOOP:\n"     \
  "ld.global.u32 %r3, [%d2];\nadd.u64 %d2, %d2, 128;\nand.b64 %d3, %d2, 0x3fffff;\nadd.u64 %d2, %d0, %d3;\n"    \
  "sub.u32 %r2, %r2, 1;\nsetp.ge.s32 %p1, %r2, 0;\n@%p1 bra LOOP;\nsetp.lt.u32 %p2, %c, " stores_at ";\n"       \
  "@%p2 bra FINE;\nmov.u64 %d1, 64;\nFINE:\nst.global.u32 [%d1], %t;\nret;\n}\n"

struct touches_seen {
  uint64_t hash, n;
};

static void note(void *ctx, const struct touched_line *l) {
  struct touches_seen *t = ctx;
  t->hash = (t->hash ^ l->addr ^ (uint64_t)l->sectors << 8 ^ l->write) * UINT64_C(0x9E3779B97F4A7C15);
  t->n++;
}

struct outcome {
  struct signature sig;
  struct touches_seen touches;
  struct crew_counts n;
  uint64_t last[64], constants[8];
  uint32_t nconstants;
  bool ok;
  char fault[600];
};

static struct outcome run(const char *text, uint32_t threads) {
  struct err e = {0};
  struct outcome o = {0};
  struct feed *feed[4];
  struct simt *s = simt_new(1 << 26, &e);
  struct simt_text t = {.ptx = text, .name = "test.ptx"};
  simt_set_threads(s, threads);
  struct simt_module *m = simt_load(s, &t, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  uint64_t in = simt_mem_alloc(s, ARRAY, SIMT_MEM_DEVICE, "in");
  assert_int_equal(in % ARRAY, 0);
  struct simt_launch l = {
      .kernel = simt_find_kernel(m, "k"), .grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}, .params = &in};
  struct simt_run *r = simt_begin(s, &l, 8, &e);
  struct signer *g = signer_new();
  assert_int_equal(simt_workers(r), threads);
  signer_begin(g, simt_feed(r), 8, &(struct signer_l2){note, &o.touches, SIDE, SMS});
  simt_share(r, 2, threads, feed);
  struct crew *c = crew_new(g, feed, threads);
  o.ok = crew_run(c, &(struct crew_range){.to = HALF}, &o.n) &&
         crew_run(c, &(struct crew_range){.from = HALF, .to = CTAS}, &o.n);
  snprintf(o.fault, sizeof o.fault, "%.500s", crew_fault(c)->text);
  crew_free(c);
  memcpy(o.last, signer_last(g), simt_feed(r)->kernel->insts * sizeof *o.last);
  const uint64_t *list = signer_constants(g, &o.nconstants);
  assert_true(o.nconstants && o.nconstants <= 8);
  memcpy(o.constants, list, o.nconstants * sizeof *list);
  signer_end(g, 0, &o.sig);
  signer_free(g);
  simt_end(r);
  simt_free(s);
  return o;
}

static void same(void **state) {
  (void)state;
  struct outcome one = run(KERNEL("1000"), 1);
  assert_true(one.ok);
  assert_true(one.touches.n > (1 << 17));
  assert_int_equal(one.sig.stores, CTAS * THREADS / 32);
  for (uint32_t n = 2; n < 5; n++) {
    struct outcome x = run(KERNEL("1000"), n);
    if (!x.ok) fail_msg("%u threads: %s", n, x.fault);
    assert_memory_equal(&x.sig, &one.sig, sizeof x.sig);
    assert_int_equal(x.touches.n, one.touches.n);
    assert_int_equal(x.touches.hash, one.touches.hash);
    assert_int_equal(x.n.warp_insts, one.sig.warp_insts);
    assert_int_equal(x.n.thread_insts, one.sig.thread_insts);
    assert_memory_equal(x.last, one.last, sizeof x.last);
    assert_int_equal(x.nconstants, one.nconstants);
    assert_memory_equal(x.constants, one.constants, sizeof x.constants);
  }
}

/* One thread on a slot of the launch's own feed, and one that drives the tap of it: the same again, but for the order
 * in which the latter touches the L2. */
static void as_one_feed(bool tap) {
  struct err e = {0};
  struct touches_seen touches = {0};
  struct outcome one = run(KERNEL("1000"), 3);
  struct simt *s = simt_new(1 << 26, &e);
  struct simt_module *m = simt_load(s, &(struct simt_text){.ptx = KERNEL("1000"), .name = "test.ptx"}, 1, &e);
  uint64_t in = simt_mem_alloc(s, ARRAY, SIMT_MEM_DEVICE, "in");
  struct simt_launch l = {
      .kernel = simt_find_kernel(m, "k"), .grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}, .params = &in};
  struct simt_run *r = simt_begin(s, &l, 4, &e);
  struct signer *g = signer_new();
  struct feed *f = signer_begin(g, simt_feed(r), 4, &(struct signer_l2){note, &touches, SIDE, SMS});
  struct crew *c = tap ? crew_of_one(NULL, f, 3) : crew_of_one(g, simt_feed(r), 3);
  struct crew_counts n = {0};
  assert_true(crew_run(c, &(struct crew_range){.to = HALF}, &n));
  assert_true(crew_run(c, &(struct crew_range){.from = HALF, .to = CTAS}, &n));
  crew_free(c);
  assert_int_equal(touches.n, one.touches.n);
  if (tap) assert_int_not_equal(touches.hash, one.touches.hash);
  else assert_int_equal(touches.hash, one.touches.hash);
  assert_memory_equal(signer_last(g), one.last, f->kernel->insts * sizeof *one.last);
  struct signature sig;
  signer_end(g, 0, &sig);
  assert_memory_equal(&sig, &one.sig, sizeof sig);
  signer_free(g);
  simt_end(r);
  simt_free(s);
}

static void one_slot(void **state) {
  (void)state;
  as_one_feed(false);
}

static void one_tap(void **state) {
  (void)state;
  as_one_feed(true);
}

/* CTA 1 adds twice. */
#define TWICE                                                                                               \
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n.reg .pred %p0;\n"  \
  ".reg .b32 %r<4>;\n.reg .b64 %d0;\nld.param.u64 %d0, [in];\nmov.u32 %r0, %ctaid.x;\nsetp.ne.u32 %p0, "    \
  "%r0, 1;\n@%p0 bra ONCE;\nadd.u32 %r0, %r0, 5;\nONCE:\nadd.u32 %r0, %r0, 7;\nst.global.u32 [%d0], %r0;\n" \
  "ret;\n}\n"
enum { THE_SECOND_ADD = 4 };

/* The instructions that ran on each of three SMs, which get five CTAs in turn: by a crew, or by the tap of a feed. */
static void on_each_sm(bool tap) {
  struct err e = {0};
  struct touches_seen touches = {0};
  struct simt *s = simt_new(1 << 26, &e);
  struct simt_module *m = simt_load(s, &(struct simt_text){.ptx = TWICE, .name = "test.ptx"}, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  uint64_t in = simt_mem_alloc(s, 1024, SIMT_MEM_DEVICE, "in");
  struct simt_launch l = {.kernel = simt_find_kernel(m, "k"), .grid = {5, 1, 1}, .block = {32, 1, 1}, .params = &in};
  struct simt_run *r = simt_begin(s, &l, 4, &e);
  struct signer *g = signer_new();
  struct feed *f = signer_begin(g, simt_feed(r), 4, &(struct signer_l2){note, &touches, SIDE, SMS});
  struct crew *c = tap ? crew_of_one(NULL, f, 3) : crew_of_one(g, simt_feed(r), 3);
  struct crew_counts n = {0};
  assert_true(crew_run(c, &(struct crew_range){.to = 5}, &n));
  crew_free(c);
  uint32_t words;
  const uint64_t *ran = signer_ran(g, &words);
  assert_int_equal(words, 1);
  assert_int_equal(ran[0], ran[2]);
  assert_int_equal(ran[0] ^ ran[1], 1 << THE_SECOND_ADD);
  assert_true(ran[1] >> THE_SECOND_ADD & 1);
  signer_free(g);
  simt_end(r);
  simt_free(s);
}

static void code_of_each_sm(void **state) {
  (void)state;
  on_each_sm(false);
  on_each_sm(true);
}

/* Each thread stores 300 words of its stack and loads them again: more lines than an L1 holds. */
#define STACK                                                                                                    \
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n.reg .pred %p0;\n"       \
  ".reg .b32 %r<8>;\n.reg .b64 %d<4>;\n.local .align 4 .b8 stack[1200];\nld.param.u64 %d0, [in];\nmov.u32 %r0, " \
  "stack;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nPUT:\nst.local.u32 [%r0], %r1;\nadd.u32 %r0, %r0, 4;\nadd.u32 "     \
  "%r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, 300;\n@%p0 bra PUT;\nGET:\nsub.u32 %r0, %r0, 4;\nld.local.u32 %r3, "      \
  "[%r0];\nadd.u32 %r2, %r2, %r3;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra GET;\n"              \
  "st.global.u32 [%d0], %r2;\nret;\n}\n"

/* L2 misses of a launch of STACK, one CTA on each SM, after one that ran functionally on `threads` threads; 0: none
 * did. */
static uint64_t misses_after(uint32_t threads, uint32_t *words) {
  struct err e = {0};
  struct gpu_config c;
  struct touches_seen touches = {0};
  struct feed *feed[4];
  struct gpu_stats st;
  struct simt *s = simt_new(1 << 26, &e);
  struct simt_module *m = simt_load(s, &(struct simt_text){.ptx = STACK, .name = "test.ptx"}, 1, &e);
  if (!m || !gpu_config_load(&c, "fermi", &e)) fail_msg("%s", e.msg);
  struct gpu *g = gpu_new(&c, NULL, &e);
  uint64_t in = simt_mem_alloc(s, 1024, SIMT_MEM_DEVICE, "in");
  struct simt_launch l = {
      .kernel = simt_find_kernel(m, "k"), .grid = {c.sms, 1, 1}, .block = {32, 1, 1}, .params = &in};
  struct simt_run *r = simt_begin(s, &l, 8, &e);
  *words = 0;
  if (threads) {
    struct signer *k = signer_new();
    struct crew_counts n = {0};
    struct signature sig;
    signer_begin(k, simt_feed(r), 8, &(struct signer_l2){note, &touches, SIDE, c.sms});
    simt_share(r, 0, threads, feed);
    struct crew *w = crew_new(k, feed, threads);
    assert_true(crew_run(w, &(struct crew_range){.to = c.sms}, &n));
    crew_free(w);
    struct gpu_executed x = {.kernel = simt_feed(r)->kernel, .last = signer_last(k)};
    x.local = signer_local(k);
    x.local_words = SIGNED_LOCAL;
    x.on_sm = signer_ran(k, &x.set_words);
    for (uint32_t i = 0; i < SIGNED_LOCAL / 64; i++) *words += (uint32_t)__builtin_popcountll(x.local[i]);
    gpu_touch_code(g, &x);
    signer_end(k, 0, &sig);
    signer_free(k);
  }
  simt_end(r);
  r = simt_begin(s, &l, gpu_cta_slots(g), &e);
  assert_true(gpu_run_kernel(g, simt_feed(r), &st, &e));
  simt_end(r);
  gpu_free(g);
  simt_free(s);
  return st.l2_misses;
}

static void local_memory(void **state) {
  (void)state;
  uint32_t words;
  uint64_t cold = misses_after(0, &words);
  for (uint32_t n = 1; n < 4; n++) {
    uint64_t warm = misses_after(n, &words);
    assert_int_equal(words, 300);
    if (cold < 15 * 170 || warm > 30)
      fail_msg("%u misses, after a launch without time %u", (uint32_t)cold, (uint32_t)warm);
  }
}

static void faults(void **state) {
  (void)state;
  for (uint32_t n = 1; n < 5; n++) {
    struct outcome x = run(KERNEL("11"), n);
    assert_false(x.ok);
    if (!strstr(x.fault, "CTA (11,0,0)")) fail_msg("%u threads: %s", n, x.fault);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same),    cmocka_unit_test(one_slot),
                                     cmocka_unit_test(one_tap), cmocka_unit_test(local_memory),
                                     cmocka_unit_test(faults),  cmocka_unit_test(code_of_each_sm)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
