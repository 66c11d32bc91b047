/* test_simt_exec.c - the functional machine as a whole: control flow, calls, barriers, atomics, warp operations,
 * spaces, textures, printf and malloc, and messages about faults of a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simt/simt.h"
#include "simt/core/texture.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
/* A kernel that gets one pointer in %out and its global thread number in %t. */
#define ENTRY                                                                                                        \
  ".visible .entry k(.param .u64 out, .param .u64 arg)\n{\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n.reg .b32 %t, "      \
  "%r<32>;\n.reg .b64 %out, %arg, %d<16>;\n"                                                                         \
  ".reg .f32 %f<16>;\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %ntid.x;\nmov.u32 %t, %tid.x;\nmad.lo.u32 %t, %r0, %r1, " \
  "%t;\nld.param.u64 %out, [out];\nld.param.u64 %arg, [arg];\n"
/* Store %r9 at out[t]. */
#define STORE "mul.wide.u32 %d15, %t, 4;\nadd.u64 %d15, %out, %d15;\nst.global.u32 [%d15], %r9;\nret;\n}\n"

struct machine {
  struct simt *s;
  struct simt_module *m;
  struct err e;
  struct simt_counts n;
};

static bool load(struct machine *x, const char *text) {
  *x = (struct machine){.s = simt_new(1 << 28, &x->e)};
  assert_non_null(x->s);
  struct simt_text t = {.ptx = text, .name = "test.ptx"};
  x->m = simt_load(x->s, &t, 1, &x->e);
  return x->m != NULL;
}

static bool launch(struct machine *x, uint32_t ctas, uint32_t threads, uint64_t out, uint64_t arg, uint32_t slots) {
  uint64_t params[2] = {out, arg};
  struct simt_launch l = {.kernel = simt_find_kernel(x->m, "k"),
                          .grid = {ctas, 1, 1},
                          .block = {threads, 1, 1},
                          .dynamic_shared = 256,
                          .params = params};
  struct simt_run *r = simt_begin(x->s, &l, slots, &x->e);
  bool ok = r && simt_run(r, &x->n, &x->e);
  simt_end(r);
  return ok;
}

/* Load, run with `threads` per CTA, return the output words. */
static uint32_t *run(struct machine *x, const char *text, uint32_t ctas, uint32_t threads) {
  if (!load(x, text)) fail_msg("%s", x->e.msg);
  uint64_t out = simt_mem_alloc(x->s, 4ull * ctas * threads, SIMT_MEM_DEVICE, "out");
  if (!launch(x, ctas, threads, out, 0, 1)) fail_msg("%s", x->e.msg);
  return simt_mem_at(x->s, out, 4ull * ctas * threads);
}

static void done(struct machine *x) {
  simt_free(x->s);
}

/* Nested divergence, a loop with a different count per lane: sum of 0..lane. Both sides meet at the post-dominator. */
static void divergence(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o = run(&x,
                    HEAD ENTRY "mov.u32 %r9, 0;\nmov.u32 %r2, 0;\nLOOP:\nadd.u32 %r9, %r9, %r2;\nadd.u32 %r2, %r2, "
                               "1;\nsetp.le.u32 %p0, %r2, %t;\n@%p0 bra LOOP;\n"
                               "and.b32 %r3, %t, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra EVEN;\nsetp.gt.u32 %p2, %t, "
                               "10;\n@!%p2 bra JOIN;\nadd.u32 %r9, %r9, 1000;\nbra JOIN;\n"
                               "EVEN:\nadd.u32 %r9, %r9, 100;\nJOIN:\nactivemask.b32 %r4;\nsetp.ne.u32 %p3, %r4, "
                               "0xffffffff;\n@%p3 add.u32 %r9, %r9, 7;\n" STORE,
                    1, 32);
  for (uint32_t t = 0; t < 32; t++) assert_int_equal(o[t], t * (t + 1) / 2 + (t & 1 ? (t > 10 ? 1000 : 0) : 100));
  done(&x);
}

/* brx.idx: four ways, then together again. */
static void indexed_branch(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o = run(&x,
                    HEAD ENTRY "and.b32 %r2, %t, 3;\nTS: .branchtargets A, B, C, B;\nbrx.idx %r2, TS;\nA:\nmov.u32 "
                               "%r9, 10;\nbra J;\nB:\nmov.u32 %r9, 20;\nbra J;\n"
                               "C:\nmov.u32 %r9, 30;\nJ:\nvote.sync.ballot.b32 %r3, %p0, 0xffffffff;\nactivemask.b32 "
                               "%r4;\npopc.b32 %r4, %r4;\nadd.u32 %r9, %r9, %r4;\n" STORE,
                    1, 32);
  static const uint32_t want[] = {42, 52, 62, 52};
  for (uint32_t t = 0; t < 32; t++) assert_int_equal(o[t], want[t & 3]);
  done(&x);
}

/* Recursion with a different depth per lane, early return under a predicate, and an indirect call through a table. */
static void calls(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o = run(&x,
                    HEAD ".func (.param .b32 r) fib(.param .b32 n)\n{\n.reg .pred %p;\n.reg .b32 %a, %b, "
                         "%c;\nld.param.b32 %a, [n];\nsetp.lt.u32 %p, %a, 2;\nst.param.b32 [r], %a;\n@%p ret;\n"
                         "sub.u32 %b, %a, 1;\n{\n.param .b32 p0;\n.param .b32 q0;\nst.param.b32 [p0], %b;\ncall.uni "
                         "(q0), fib, (p0);\nld.param.b32 %c, [q0];\n}\n"
                         "sub.u32 %b, %a, 2;\n{\n.param .b32 p0;\n.param .b32 q0;\nst.param.b32 [p0], %b;\ncall.uni "
                         "(q0), fib, (p0);\nld.param.b32 %b, [q0];\n}\n"
                         "add.u32 %c, %c, %b;\nst.param.b32 [r], %c;\nret;\n}\n"
                         ".func (.param .b32 r) twice(.param .b32 n)\n{\n.reg .b32 %a;\nld.param.b32 %a, [n];\nadd.u32 "
                         "%a, %a, %a;\nst.param.b32 [r], %a;\nret;\n}\n"
                         ".global .align 8 .u64 table[2] = {fib, twice};\n" ENTRY
                         "and.b32 %r2, %t, 1;\nmul.wide.u32 %d0, %r2, 8;\nmov.u64 %d1, table;\nadd.u64 %d1, %d1, "
                         "%d0;\nld.global.u64 %d2, [%d1];\nshr.u32 %r3, %t, 1;\n"
                         "{\n.param .b32 p0;\n.param .b32 q0;\nst.param.b32 [p0], %r3;\nPT: .callprototype (.param "
                         ".b32 _) _ (.param .b32 _);\ncall (q0), %d2, (p0), PT;\nld.param.b32 %r9, [q0];\n}\n" STORE,
                    1, 32);
  static const uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
  for (uint32_t t = 0; t < 32; t++) assert_int_equal(o[t], t & 1 ? t / 2 * 2 : fib[t / 2]);
  done(&x);
}

/* Shared memory reversed over a barrier, bar.red, atomics on shared and global memory, a local array. */
static void memory_spaces(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o = run(
      &x,
      HEAD ".global .u32 total;\n.const .align 4 .u32 scale[2] = {3, 5};\n.extern .shared .align 4 .b8 dyn[];\n" ENTRY
           ".shared .align 4 .b8 sh[512];\n.shared .u32 sum;\n.local .align 8 .b8 stack[64];\n.reg .b32 %lt;\nmov.u32 "
           "%lt, %tid.x;\nshl.b32 %r2, %lt, 2;\nmov.u32 %r3, sh;\n"
           "add.u32 %r3, %r3, %r2;\nst.shared.u32 [%r3], %lt;\nbar.sync 0;\nmov.u32 %r4, sh;\nsub.u32 %r4, %r4, "
           "%r2;\nld.shared.u32 %r9, [%r4+508];\n" /* 127 - tid */
           "atom.shared.add.u32 %r5, [sum], 1;\natom.global.add.u32 %r5, [total], 2;\nsetp.lt.u32 %p0, %lt, "
           "40;\nbar.red.popc.u32 %r6, 0, %p0;\nadd.u32 %r9, %r9, %r6;\n"
           "ld.shared.u32 %r7, [sum];\nadd.u32 %r9, %r9, %r7;\nmov.u64 %d0, stack;\ncvta.local.u64 %d1, %d0;\nst.u32 "
           "[%d1+8], %r9;\nld.local.u32 %r9, [stack+8];\n"
           "ld.const.u32 %r8, [scale+4];\nmul.lo.u32 %r9, %r9, %r8;\nst.shared.u32 [dyn+4], %r9;\n" STORE,
      3, 128);
  for (uint32_t t = 0; t < 384; t++) assert_int_equal(o[t], (127 - t % 128 + 40 + 128) * 5);
  uint64_t addr, bytes;
  assert_true(simt_find_symbol(x.m, "total", &addr, &bytes));
  assert_int_equal(bytes, 4);
  assert_int_equal(*(uint32_t *)simt_mem_at(x.s, addr, 4), 768);
  done(&x);
}

static void warp_operations(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o = run(&x,
                    HEAD ENTRY "shfl.sync.bfly.b32 %r2|%p0, %t, 5, 31, 0xffffffff;\nshfl.sync.up.b32 %r3|%p1, %t, 3, "
                               "0, 0xffffffff;\nshfl.sync.down.b32 %r4|%p2, %t, 4, 0x181f, 0xffffffff;\n"
                               "shfl.sync.idx.b32 %r5, %t, 2, 0x101f, 0xffffffff;\nselp.u32 %r6, 1, 0, %p1;\nselp.u32 "
                               "%r7, 1, 0, %p2;\nand.b32 %r8, %t, 3;\nmatch.any.sync.b32 %r8, %r8, 0xffffffff;\n"
                               "redux.sync.add.u32 %r10, %t, 0xffffffff;\nmad.lo.u32 %r9, %r2, 100, %r3;\nmad.lo.u32 "
                               "%r9, %r9, 100, %r4;\nmad.lo.u32 %r9, %r9, 32, %r5;\nmad.lo.u32 %r9, %r9, 2, %r6;\n"
                               "mad.lo.u32 %r9, %r9, 2, %r7;\nxor.b32 %r9, %r9, %r8;\nadd.u32 %r9, %r9, %r10;\n" STORE,
                    1, 32);
  for (uint32_t t = 0; t < 32; t++) {
    uint32_t up = t >= 3 ? t - 3 : t, down_ok = (t & 7) + 4 < 8, down = down_ok ? t + 4 : t, idx = (t & 16) + 2;
    uint32_t v = ((((t ^ 5) * 100 + up) * 100 + down) * 32 + idx) * 2 + (t >= 3);
    v = v * 2 + down_ok;
    assert_int_equal(o[t], (v ^ (0x11111111u << (t & 3))) + 496);
  }
  done(&x);
}

/* A spin lock between CTAs: only works when CTAs share the machine. */
/* Predicates as numbers, which nvcc writes for xor.pred; a shuffle from lanes that take no part gives 0. */
static void predicate_numbers(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o = run(&x,
                    HEAD ENTRY "setp.lt.u32 %p1, %t, 5;\nxor.pred %p2, %p1, 1;\nand.pred %p2, %p2, -1;\n"
                               "or.pred %p3, %p2, 0;\nsetp.ne.and.u32 %p4, %t, 20, 1;\nselp.b32 %r9, 7, 9, %p3;\n"
                               "@!%p4 add.u32 %r9, %r9, 100;\nmov.u32 %r5, %t;\n"
                               "@%p1 shfl.sync.down.b32 %r6, %r5, 3, 31, 31;\n@%p1 add.u32 %r9, %r9, %r6;\n" STORE,
                    1, 32);
  for (uint32_t t = 0; t < 32; t++) {
    uint32_t want = (t < 5 ? 9u : 7u) + (t == 20 ? 100 : 0);
    if (t < 2) want += t + 3; /* lanes 5 and up are not there */
    assert_int_equal(o[t], want);
  }
  done(&x);
}

/* A cluster of four CTAs: each writes to the next one's shared memory, between two barriers of the cluster. */
static void clusters(void **state) {
  (void)state;
  struct machine x;
  if (!load(&x, ".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY
                ".shared .align 4 .b32 box[32];\nmov.u32 %r2, %cluster_ctarank;\nmov.u32 %r3, %cluster_nctarank;\n"
                "add.u32 %r4, %r2, 1;\nrem.u32 %r4, %r4, %r3;\nmov.u32 %r5, box;\nmov.u32 %r10, %tid.x;\n"
                "shl.b32 %r11, %r10, 2;\nadd.u32 %r5, %r5, %r11;\nmapa.shared::cluster.u32 %r6, %r5, %r4;\n"
                "barrier.cluster.arrive;\nbarrier.cluster.wait;\nst.shared::cluster.u32 [%r6], %r0;\n"
                "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
                "ld.shared.u32 %r9, [%r5];\ngetctarank.shared::cluster.u32 %r7, %r6;\n"
                "mad.lo.u32 %r9, %r7, 100, %r9;\n" STORE))
    fail_msg("%s", x.e.msg);
  uint64_t out = simt_mem_alloc(x.s, 4 * 8 * 32, SIMT_MEM_DEVICE, "out"), params[2] = {out, 0};
  struct simt_launch l = {.kernel = simt_find_kernel(x.m, "k"),
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .cluster = {4, 1, 1},
                          .params = params};
  struct simt_run *r = simt_begin(x.s, &l, 1, &x.e);
  if (!r || !simt_run(r, &x.n, &x.e)) fail_msg("%s", x.e.msg);
  simt_end(r);
  uint32_t *o = simt_mem_at(x.s, out, 4 * 8 * 32);
  for (uint32_t t = 0; t < 8 * 32; t++) {
    uint32_t cta = t / 32, rank = cta % 4, before = cta / 4 * 4 + (rank + 3) % 4;
    assert_int_equal(o[t], (rank + 1) % 4 * 100 + before);
  }
  l.grid[0] = 6; /* not made of clusters of four */
  assert_null(simt_begin(x.s, &l, 1, &x.e));
  done(&x);
}

static void spin_on_another_cta(void **state) {
  (void)state;
  struct machine x;
  const char *text =
      HEAD ".global .u32 flag;\n" ENTRY "setp.ne.u32 %p0, %t, 0;\n@%p0 bra SET;\nWAIT:\nld.volatile.global.u32 %r2, "
           "[flag];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra WAIT;\nmov.u32 %r9, 5;\nbra END;\n"
           "SET:\nmov.u32 %r3, 1;\nst.volatile.global.u32 [flag], %r3;\nmov.u32 %r9, 6;\nEND:\n" STORE;
  assert_true(load(&x, text));
  uint64_t out = simt_mem_alloc(x.s, 8, SIMT_MEM_DEVICE, NULL);
  if (!launch(&x, 2, 1, out, 0, 2)) fail_msg("%s", x.e.msg);
  assert_int_equal(((uint32_t *)simt_mem_at(x.s, out, 8))[0], 5);
  done(&x);
}

static void textures(void **state) {
  (void)state;
  struct machine x;
  const char *text =
      HEAD ".global .texref tref;\n" ENTRY "cvt.rn.f32.u32 %f0, %t;\nadd.f32 %f0, %f0, 0f3F000000;\nmov.f32 %f1, "
           "0f3FC00000;\ntex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7}, [tref, {%f0,%f1}];\n"
           "add.f32 %f0, %f0, 0f3F000000;\ntex.2d.v4.f32.f32 {%f8,%f9,%f10,%f11}, [%arg, {%f0,%f1}];\nadd.f32 %f4, "
           "%f4, %f8;\nmov.b32 %r9, %f4;\n" STORE;
  if (!load(&x, text)) fail_msg("%s", x.e.msg);
  uint64_t out = simt_mem_alloc(x.s, 32, SIMT_MEM_DEVICE, NULL),
           texels = simt_mem_alloc(x.s, 4 * 8 * 2, SIMT_MEM_DEVICE, "texels");
  float *p = simt_mem_at(x.s, texels, 64);
  for (int i = 0; i < 16; i++) p[i] = (float)(i * i);
  struct simt_tex t = {
      .addr = texels, .width = 8, .height = 2, .channels = 1, .bits = 32, .format = 2, .address_mode = {1, 1, 1}};
  assert_true(simt_tex_bind(x.m, "tref", &t));
  assert_false(simt_tex_bind(x.m, "nothing", &t));
  t.linear_filter = true;
  uint64_t obj = simt_tex_create(x.s, &t);
  if (!launch(&x, 1, 8, out, obj, 1)) fail_msg("%s", x.e.msg);
  const float *o = simt_mem_at(x.s, out, 32);
  for (int i = 0; i < 8; i++) {
    float a = (float)((8 + i) * (8 + i)), b = (float)((8 + (i < 7 ? i + 1 : 7)) * (8 + (i < 7 ? i + 1 : 7)));
    assert_true(o[i] == a + (a + b) / 2);
  }
  assert_true(simt_tex_destroy(x.s, obj));
  assert_false(launch(&x, 1, 8, out, obj, 1));
  assert_non_null(strstr(x.e.msg, "is no texture or surface object"));
  done(&x);
}

/* ---- faults of programs ---- */

static void expect_fault(const char *body, uint32_t threads, const char *const *says) {
  struct machine x;
  char text[4096];
  snprintf(text, sizeof text, "%s%s%s%s", HEAD, ENTRY, body, STORE);
  if (!load(&x, text)) fail_msg("%s", x.e.msg);
  uint64_t out = simt_mem_alloc(x.s, 1000, SIMT_MEM_DEVICE, "results"),
           gone = simt_mem_alloc(x.s, 4096, SIMT_MEM_DEVICE, "temporary");
  simt_mem_release(x.s, gone);
  assert_false(launch(&x, 1, threads, out, gone, 1));
  assert_int_equal(x.e.code, ERR_PROGRAM);
  for (; *says; says++)
    if (!strstr(x.e.msg, *says)) fail_msg("expected '%s' in: %s", *says, x.e.msg);
  done(&x);
}

static void faults(void **state) {
  (void)state;
  expect_fault("mov.u32 %r9, 1;\n", 256,
               (const char *const[]){"kernel k", "thread (250,0,0)", "global write of 4 bytes", "past the end",
                                     "1000 bytes", "'results'", NULL});
  expect_fault("add.u64 %out, %out, 2;\nld.global.u16 %h0, [%out+998];\n", 1,
               (const char *const[]){"read of 2 bytes", "0 bytes past the end", NULL});
  expect_fault("mov.u64 %out, 0;\n", 1, (const char *const[]){"null pointer", NULL});
  expect_fault("add.u64 %out, %out, 2;\n", 1, (const char *const[]){"misaligned", NULL});
  expect_fault("ld.global.u32 %r9, [%arg+4];\n", 32,
               (const char *const[]){"inside a freed allocation of 4096 bytes", "'temporary'", "thread (0,0,0)", NULL});
  expect_fault(".shared .b8 s[16];\nmov.u32 %r2, s;\nshl.b32 %r3, %t, 2;\nadd.u32 %r2, %r2, %r3;\nst.shared.u32 "
               "[%r2+512], %r3;\n",
               32, (const char *const[]){"shared write", "outside", NULL});
  expect_fault(".local .b8 s[16];\nst.local.u32 [s+16], %t;\n", 1, (const char *const[]){"local write", NULL});
  expect_fault("trap;\n", 1, (const char *const[]){"trap", NULL});
  expect_fault("mov.u32 %r2, 99;\nbar.sync %r2;\n", 1, (const char *const[]){"barrier 99", NULL});
}

static void deadlock(void **state) {
  (void)state;
  struct machine x;
  const char *text = HEAD ENTRY "setp.lt.u32 %p0, %t, 32;\n@%p0 bra ONE;\nbar.sync 1, 64;\nbra END;\nONE:\nbar.sync 2, "
                                "64;\nEND:\nmov.u32 %r9, 0;\n" STORE;
  if (!load(&x, text)) fail_msg("%s", x.e.msg);
  uint64_t out = simt_mem_alloc(x.s, 256, SIMT_MEM_DEVICE, NULL);
  assert_false(launch(&x, 1, 64, out, 0, 1));
  assert_int_equal(x.e.code, ERR_STUCK);
  assert_non_null(strstr(x.e.msg, "warp 0 at barrier 2"));
  assert_non_null(strstr(x.e.msg, "warp 1 at barrier 1"));
  done(&x);
}

/* Errors of the text name file, line and column and what was expected. */
static void bad_text(void **state) {
  static const struct {
    const char *body, *says;
    enum err_code code;
  } list[] = {{"add.s32 %r1, %r2 %r3;\n", "expected ',' or ';' after operand 2 of add", ERR_INPUT},
              {"add.f32 %f1, %r2, %f3;\n", "operand 2 of add must be a .f32 register, but %r2 is .b32", ERR_NONE},
              {"addd.s32 %r1, %r2, %r3;\n", "did you mean 'add'?", ERR_INPUT},
              {"add.s32 %r1, %r2, %r99;\n", "register '%r99' is not declared", ERR_INPUT},
              {"add.s32 %r1, %r2;\n", "takes more than 2 operands", ERR_INPUT},
              {"add.s64 %r1, %d2, %d3;\n", "operand 1 of add must be a .s64 register, but %r1 is .b32", ERR_INPUT},
              {"add.pred %p1, %p2, %p3;\n", "'.pred' is not a type that add takes", ERR_INPUT},
              {"ld.global.rnn.u32 %r1, [%d0];\n", "no modifier of ld", ERR_INPUT},
              {"ld.global.v2.u32 %r1, [%d0];\n", "vector of 2 registers", ERR_INPUT},
              {"bra NOWHERE;\n", "'NOWHERE' is not declared", ERR_INPUT},
              {"mov.u32 %r1, %r2\n", "expected ',' or ';'", ERR_INPUT},
              {"wgmma.fence.sync.aligned;\n", "instruction 'wgmma' is not supported", ERR_UNSUPPORTED},
              {"setp.s32 %p1, %r1, %r2;\n", "needs a comparison", ERR_INPUT}};
  (void)state;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    struct machine x;
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s%s", HEAD, ENTRY, list[i].body, STORE);
    bool ok = load(&x, text);
    if (i == 1) { /* bits and floats agree: this one loads */
      assert_true(ok);
    } else if (list[i].code == ERR_UNSUPPORTED) { /* loads: only executing it is refused */
      if (!ok) fail_msg("%s", x.e.msg);
      const char *first = NULL;
      assert_int_equal(simt_refusals(x.m, &first), 1);
      assert_non_null(strstr(first, "test.ptx:1"));
      uint64_t out = simt_mem_alloc(x.s, 4096, SIMT_MEM_DEVICE, NULL);
      assert_false(launch(&x, 1, 32, out, 0, 1));
      assert_int_equal(x.e.code, ERR_UNSUPPORTED);
      if (!strstr(x.e.msg, list[i].says)) fail_msg("expected '%s' in: %s", list[i].says, x.e.msg);
      if (!strstr(x.e.msg, "executed by kernel k")) fail_msg("no kernel in: %s", x.e.msg);
    } else {
      if (ok) fail_msg("accepted: %s", list[i].body);
      if (!strstr(x.e.msg, list[i].says)) fail_msg("expected '%s' in: %s", list[i].says, x.e.msg);
      assert_int_equal(x.e.code, list[i].code);
      assert_non_null(strstr(x.e.msg, "test.ptx:1"));
    }
    done(&x);
  }
}

/* PTX of a later ISA: what is known runs, whatever is not stops the thread that executes it. */
/* 128-bit values through mov, ld, st and the two atomics; the system's part of shared memory has a place of its own. */
static void wide_values(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o =
      run(&x,
          ".version 8.4\n.target sm_90\n.address_size 64\n" ENTRY ".reg .b128 %q<8>;\n.shared .align 16 .b8 buf[64];\n"
          "setp.ne.u32 %p1, %t, 0; @%p1 exit; mov.u64 %d1, 5; mov.u64 %d2, 7; mov.b128 %q1, {%d1, %d2}; st.shared.b128 "
          "[buf], %q1;\n"
          "mov.u64 %d3, 100; mov.u64 %d4, 200; mov.b128 %q2, {%d3, %d4};\n"
          "atom.shared.cas.b128 %q3, [buf], %q1, %q2;\n" /* 5:7 was there, 100:200 is now */
          "atom.shared.exch.b128 %q4, [buf], %q3;\n"     /* 100:200, and 5:7 again */
          "ld.shared.b128 %q5, [buf]; mov.b128 %q6, %q5; mov.b128 {_, %d5}, %q6; mov.b128 {%d6, %d7}, %q4;\n"
          "st.global.b128 [%out], %q3; atom.global.exch.b128 %q7, [%out], %q4;\n"
          "mov.b128 {%d8, %d9}, %q7; add.u64 %d5, %d5, %d6; add.u64 %d5, %d5, %d7; add.u64 %d5, %d5, %d8;\n"
          "add.u64 %d5, %d5, %d9; cvt.u32.u64 %r9, %d5;\n" /* 7 + 100 + 200 + 5 + 7 */
          "mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r2, 1000000; st.shared.u32 [%r1], %r2;\n"
          "mov.u32 %r3, buf; setp.ge.u32 %p1, %r3, 1024; @%p1 ld.shared.u32 %r4, [%r1];\n"
          "@%p1 add.u32 %r9, %r9, %r4;\n" STORE,
          1, 4);
  assert_int_equal(o[0], 1000319);
  done(&x);
  if (!load(&x, ".version 8.4\n.target sm_90\n.address_size 64\n" ENTRY
                ".reg .b128 %q<2>;\nld.u32 %q1, [%out];\n" STORE)) /* may be refused at once, or when it is executed */
    assert_non_null(strstr(x.e.msg, "%q1"));
  else assert_false(launch(&x, 1, 1, 0, 0, 1));
  done(&x);
}

/* nvcc -lineinfo: the position of an inlined instruction may be followed by one of any length. */
static void inlined_positions(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o = run(&x,
                    HEAD ".file 1 \"a.cu\"\n" ENTRY
                         ".loc 1 12 102, function_name $L__info_string0, inlined_at 1 12 122\nmov.u32 %r9, 3;\n"
                         ".loc 1 7 2, function_name $L__info_string0+8, inlined_at 1 9 1\nadd.u32 %r9, %r9, 1;\n"
                         ".loc 1 7 2, function_name .debug_str+16, inlined_at 1 9 1\nneg.s32 %r8, %r9;\n" STORE,
                    1, 1);
  assert_int_equal(o[0], 4);
  done(&x);
}

/* .ptr .align, as compilers for sm_100 write it, is of the pointee: the parameter itself stays aligned. Also: grids
 * that a kernel launches come out in order, with their parameters. */
static void parameters_and_children(void **state) {
  (void)state;
  struct machine x;
  const char *text = ".version 8.0\n.target sm_80\n.address_size 64\n"
                     ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 "
                     "g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"
                     ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
                     ".visible .entry k(.param .align 4 .b8 pad[4], .param .u64 .ptr .global .align 1 out)\n{\n"
                     ".reg .b64 %d<4>; .reg .b32 %r<3>;\nmov.u64 %d1, k;\n{\n.param .b64 a; st.param.b64 [a], %d1;\n"
                     ".param .align 4 .b8 g[12]; st.param.b32 [g], 3; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"
                     ".param .align 4 .b8 b[12]; st.param.b32 [b], 5; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1;\n"
                     ".param .b32 s; st.param.b32 [s], 16; .param .b64 r;\n"
                     "call (r), __cudaCDP2GetParameterBufferV2, (a, g, b, s); ld.param.b64 %d2, [r];\n}\n"
                     "ld.param.u64 %d3, [out]; st.u32 [%d2], 77; st.u64 [%d2+8], %d3;\n"
                     "{\n.param .b64 p; st.param.b64 [p], %d2; .param .b64 s; st.param.b64 [s], 0; .param .b32 r;\n"
                     "call (r), __cudaCDP2LaunchDeviceV2, (p, s); ld.param.b32 %r1, [r];\n}\nret;\n}\n";
  if (!load(&x, text)) fail_msg("%s", x.e.msg);
  struct simt_kernel *k = simt_find_kernel(x.m, "k");
  assert_int_equal(simt_kernel_info(k)->param_offset[1], 8);
  uint64_t params[2] = {1, 4242};
  struct simt_launch l = {.kernel = k, .grid = {1, 1, 1}, .block = {2, 1, 1}, .params = params};
  struct simt_run *r = simt_begin(x.s, &l, 1, &x.e);
  if (!r || !simt_run(r, &x.n, &x.e)) fail_msg("%s", x.e.msg);
  struct simt_child *c = simt_take_children(r);
  simt_end(r);
  uint32_t n = 0;
  for (struct simt_child *i = c; i; i = i->next, n++) {
    assert_ptr_equal(i->launch.kernel, k);
    assert_int_equal(i->launch.grid[0], 3);
    assert_int_equal(i->launch.block[0], 5);
    assert_int_equal(i->launch.dynamic_shared, 16);
    assert_int_equal((uint32_t)i->params[0], 77);
    assert_int_equal(i->params[1], 4242);
  }
  assert_int_equal(n, 2);
  simt_free_children(c);
  done(&x);
}

static void newer_isa(void **state) {
  (void)state;
  static const char *const bodies[] = {"fly.high.u32 %r2, %r3;\n", "add.brand_new.u32 %r2, %r3, %r4;\n",
                                       "add.u32 %r2, %r3, %r4, %r5, %r6;\n", "setp.s32 %p1, %r1, %r2;\n"};
  struct machine x;
  for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++)
    for (int executed = 0; executed < 2; executed++) {
      char text[4096];
      snprintf(text, sizeof text, "%s%sadd.u32 %%r9, %%t, 5;\nsetp.ge.u32 %%p0, %%t, %d;\n@%%p0 bra OVER;\n%sOVER:\n%s",
               ".version 9.7\n.target sm_80\n.address_size 64\n", ENTRY, executed ? 32 : 0, bodies[k], STORE);
      if (!load(&x, text)) fail_msg("%s", x.e.msg);
      assert_int_equal(simt_newer_isa(x.m), 97);
      char says[512];
      simt_newer_text(x.m, says, sizeof says);
      assert_non_null(strstr(says, "test.ptx is PTX of ISA version 9.7"));
      uint64_t out = simt_mem_alloc(x.s, 128, SIMT_MEM_DEVICE, "out");
      uint32_t *o = simt_mem_at(x.s, out, 128);
      bool ok = launch(&x, 1, 32, out, 0, 1);
      assert_int_equal(ok, !executed);
      if (executed) assert_int_equal(x.e.code, ERR_UNSUPPORTED);
      for (uint32_t t = 0; ok && t < 32; t++) assert_int_equal(o[t], t + 5);
      done(&x);
    }
  assert_true(load(&x, HEAD ENTRY STORE));
  assert_int_equal(simt_newer_isa(x.m), 0);
  done(&x);
}

/* Two texts linked: an external function and an external variable. */
static void linking(void **state) {
  (void)state;
  struct err e = {0};
  struct simt *s = simt_new(1 << 26, &e);
  struct simt_text t[2] = {
      {.ptx = HEAD ".extern .func (.param .b32 r) f(.param .b32 a);\n.extern .global .u32 g;\n" ENTRY
                   "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %t;\ncall.uni (r), f, (a);\nld.param.b32 %r9, "
                   "[r];\n}\nld.global.u32 %r2, [g];\nadd.u32 %r9, %r9, %r2;\n" STORE,
       .name = "a.ptx"},
      {.ptx = HEAD ".visible .global .u32 g = 1000;\n.visible .func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 "
                   "%x;\nld.param.b32 %x, [a];\nmul.lo.u32 %x, %x, %x;\nst.param.b32 [r], %x;\nret;\n}\n",
       .name = "b.ptx"}};
  assert_null(simt_load(s, t, 1, &e));
  assert_non_null(strstr(e.msg, "'g' is defined in none"));
  struct machine x = {.s = s, .m = simt_load(s, t, 2, &e)};
  if (!x.m) fail_msg("%s", e.msg);
  uint64_t out = simt_mem_alloc(s, 128, SIMT_MEM_DEVICE, NULL);
  if (!launch(&x, 1, 32, out, 0, 1)) fail_msg("%s", x.e.msg);
  for (uint32_t k = 0; k < 32; k++) assert_int_equal(((uint32_t *)simt_mem_at(s, out, 128))[k], k * k + 1000);
  done(&x);
}

/* Variables follow one another in the order of the text, texture, sampler and surface references with 4 B each among
 * them: the addresses are those that the reference printed for Rodinia's kmeans and Parboil's bfs. */
static void variable_addresses(void **state) {
  (void)state;
  static const struct {
    const char *text, *name;
    uint64_t addr;
  } cases[] = {
      {".global .texref a;\n.global .texref b;\n.global .texref c;\n.const .align 4 .b8 clusters[4352];\n", "clusters",
       0x180},
      {".global .texref a;\n.global .texref b;\n.global .align 4 .u32 count;\n.global .align 4 .u32 nodes;\n", "nodes",
       0x10c},
      {".global .align 8 .u64 x;\n.global .surfref a;\n.global .samplerref b;\n.global .align 8 .u64 y;\n", "y", 0x110},
      {".global .align 4 .u32 x;\n.global .align 4 .b8 y[12];\n", "y", 0x180},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct machine x;
    char text[1024];
    uint64_t addr, bytes;
    snprintf(text, sizeof text, "%s%s%s", HEAD, cases[i].text, ENTRY "ret;\n}\n");
    if (!load(&x, text)) fail_msg("%s", x.e.msg);
    assert_true(simt_find_symbol(x.m, cases[i].name, &addr, &bytes));
    assert_int_equal(addr, cases[i].addr);
    done(&x);
  }
}

/* Pinned memory is the host's: it takes no address of the device, until the mapping has no others. */
static void pinned_memory(void **state) {
  (void)state;
  struct err e;
  struct simt *s = simt_new(1 << 20, &e);
  uint64_t a = simt_mem_alloc(s, 100, SIMT_MEM_DEVICE, "a"), h = simt_mem_alloc(s, 1000, SIMT_MEM_HOST, "h"),
           b = simt_mem_alloc(s, 100, SIMT_MEM_DEVICE, "b"), i = simt_mem_alloc(s, 1, SIMT_MEM_HOST, "i");
  assert_int_equal(a, SIMT_GLOBAL_BASE);
  assert_int_equal(b, a + 256);
  assert_ptr_equal(simt_mem_at(s, h, 1000), (void *)(uintptr_t)h);
  assert_int_equal(simt_mem_used(s), 512);
  /* AddressSanitizer takes the addresses of the mapping; pinned memory is then wherever the host has room. */
  if (simt_mem_at(s, a, 100) == (void *)(uintptr_t)a) {
    assert_true(h > b + (1 << 20) && i == h + 1024);
    uint64_t last = i, most = 0;
    for (uint64_t p; (p = simt_mem_alloc(s, 1 << 18, SIMT_MEM_HOST, NULL)); last = p) most++;
    assert_true(most >= 8 && last < h); /* the rest of the mapping serves too */
  }
  assert_true(simt_mem_release(s, h));
  simt_free(s);
}

/* Device memory: addresses in a row of 256, exact sizes, release, pointers shared with the host. */
static void device_memory(void **state) {
  (void)state;
  struct err e;
  struct simt *s = simt_new(1 << 20, &e);
  uint64_t a = simt_mem_alloc(s, 100, SIMT_MEM_DEVICE, "a"), b = simt_mem_alloc(s, 300, SIMT_MEM_DEVICE, "b"),
           c = simt_mem_alloc(s, 1, SIMT_MEM_MANAGED, NULL);
  assert_int_equal(a, SIMT_GLOBAL_BASE);
  assert_int_equal(b, SIMT_GLOBAL_BASE + 256);
  assert_ptr_equal(simt_mem_at(s, c, 1), (void *)(uintptr_t)c);
  assert_null(simt_mem_at(s, a, 101));
  assert_null(simt_mem_find(s, a + 100));
  assert_string_equal(simt_mem_find(s, b + 299)->label, "b");
  assert_false(simt_mem_release(s, b + 1));
  assert_true(simt_mem_release(s, b));
  assert_false(simt_mem_release(s, b));
  assert_int_equal(simt_mem_alloc(s, 1 << 20, SIMT_MEM_DEVICE, NULL), 0);
  assert_int_equal(simt_mem_used(s), 512);
  simt_free(s);
}

/* Runs a warp until its atomic, whose token is given, or its end. */
static uint32_t go_on(const struct feed *f, uint32_t warp, struct issued *out) {
  do assert_true(f->ops->issue(f->ctx, 0, warp, out));
  while (!out->token && out->next_pc != FEED_DONE);
  return out->token;
}

/* Atomics on shared memory take effect when the timing model has them done, not in the order of issue: of two warps
 * that count in one word, the one performed first gets 0 to 31. */
static void shared_atomics_when_performed(void **state) {
  (void)state;
  struct machine x;
  const char *text = HEAD ".shared .align 4 .u32 word;\n" ENTRY "atom.shared.add.u32 %r9, [word], 1;\n" STORE;
  if (!load(&x, text)) fail_msg("%s", x.e.msg);
  uint64_t params[2] = {simt_mem_alloc(x.s, 256, SIMT_MEM_DEVICE, "out"), 0};
  struct simt_launch l = {
      .kernel = simt_find_kernel(x.m, "k"), .grid = {1, 1, 1}, .block = {64, 1, 1}, .params = params};
  struct simt_run *r = simt_begin(x.s, &l, 1, &x.e);
  if (!r) fail_msg("%s", x.e.msg);
  const struct feed *f = simt_feed(r);
  struct issued out;
  f->ops->start_cta(f->ctx, 0, 0, 0, 0);
  uint32_t first = go_on(f, 0, &out), second = go_on(f, 1, &out);
  assert_true(first && second);
  assert_true(f->ops->atomic(f->ctx, second, UINT32_MAX) && f->ops->atomic(f->ctx, first, UINT32_MAX));
  for (uint32_t w = 0; w < 2; w++) assert_int_equal(go_on(f, w, &out), 0);
  f->ops->end_cta(f->ctx, 0);
  simt_end(r);
  const uint32_t *o = simt_mem_at(x.s, params[0], 256);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(o[i], (i + 32) % 64);
  done(&x);
}

/* The address of texel (%t, row) that the timing model sees, by lane. */
static void texel_addresses(const struct simt_tex *t, uint32_t row, uint64_t *addr) {
  struct machine x;
  char text[4096];
  snprintf(
      text, sizeof text,
      "%smov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %u;\ntex.2d.v4.f32.s32 {%%f4,%%f5,%%f6,%%f7}, [%%arg, {%%r1,%%r2}];\n"
      "mov.b32 %%r9, %%f4;\n%s",
      HEAD ENTRY, row, STORE);
  if (!load(&x, text)) fail_msg("%s", x.e.msg);
  struct simt_tex at = *t;
  at.addr = simt_mem_alloc(x.s, 2048, SIMT_MEM_DEVICE, "texels");
  uint64_t params[2] = {simt_mem_alloc(x.s, 256, SIMT_MEM_DEVICE, "out"), simt_tex_create(x.s, &at)};
  float *texel = simt_mem_at(x.s, at.addr, 2048);
  for (uint32_t i = 0; i < 512; i++) texel[i] = (float)i;
  struct simt_launch l = {
      .kernel = simt_find_kernel(x.m, "k"), .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params};
  struct simt_run *r = simt_begin(x.s, &l, 1, &x.e);
  if (!r) fail_msg("%s", x.e.msg);
  const struct feed *f = simt_feed(r);
  struct issued out = {0};
  bool seen = false;
  f->ops->start_cta(f->ctx, 0, 0, 0, 0);
  while (out.next_pc != FEED_DONE) {
    out.space = SPACE_NONE;
    assert_true(f->ops->issue(f->ctx, 0, 0, &out));
    for (uint32_t i = 0; i < 32 && out.space == SPACE_TEX; i++) addr[i] = out.addr[i] - at.addr, seen = true;
  }
  assert_true(seen);
  f->ops->end_cta(f->ctx, 0);
  simt_end(r);
  const float *o = simt_mem_at(x.s, params[0], 256);
  for (uint32_t i = 0; i < 32; i++) assert_true(o[i] == (float)(32 * row + i)); /* the values are those of rows */
  done(&x);
}

/* Arrays in blocks of 64 B by 8 rows. Byte 84 of row 3: the second block, its left half (20), the second pair of rows,
 * the second 16 B of 32, the second row of the pair. Blocks are filled; rows that fill none stay where they were. */
static void arrays_in_blocks(void **state) {
  (void)state;
  struct simt_tex t = {.width = 32, .height = 12, .pitch = 128, .channels = 1, .bits = 32, .format = 2};
  uint64_t addr[32];
  uint8_t taken[1024] = {0};
  texel_addresses(&t, 3, addr);
  assert_int_equal(addr[21], 3 * 128 + 84);
  t.blocks = true;
  texel_addresses(&t, 3, addr);
  assert_int_equal(addr[21], 512 + 0 + 64 + 32 + 16 + 4);
  texel_addresses(&t, 9, addr);
  assert_int_equal(addr[21], 9 * 128 + 84);
  for (uint32_t row = 0; row < 8; row++) {
    texel_addresses(&t, row, addr);
    for (uint32_t i = 0; i < 32; i++) {
      assert_in_range(addr[i], 0, 1020);
      assert_int_equal(taken[addr[i]]++, 0);
    }
  }
}

/* red and atom on vectors: each element is its own sum; the old values of one thread belong together. */
static void vector_atomics(void **state) {
  (void)state;
  struct machine x;
  bool ok =
      load(&x, HEAD ENTRY
           "cvt.rn.f32.u32 %f0, %t;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0fC0000000;\nadd.f32 %f3, %f0, %f0;\n"
           "red.relaxed.gpu.global.add.v4.f32 [%arg], {%f0, %f1, %f2, %f3};\n"
           "atom.global.add.v2.f32 {%f4, %f5}, [%arg+16], {%f1, %f2};\n"
           "mul.f32 %f6, %f4, %f2;\nsetp.eq.f32 %p0, %f6, %f5;\ncvt.rzi.u32.f32 %r9, %f4;\n@!%p0 mov.u32 %r9, 999;\n"
           "mov.b32 %r2, 0x40003C00;\nmov.b32 %r3, 0xBC004200;\nred.global.add.noftz.v2.f16x2 [%arg+24], {%r2, %r3};\n"
           "mov.b16 %h0, 0x3C00;\ncvt.rn.f16.u32 %h1, %t;\n"
           "red.global.max.noftz.v8.f16 [%arg+32], {%h0, %h1, %h0, %h1, %h1, %h0, %h1, %h0};\n" STORE);
  if (!ok) fail_msg("%s", x.e.msg);
  uint64_t out = simt_mem_alloc(x.s, 256, SIMT_MEM_DEVICE, "out"),
           arg = simt_mem_alloc(x.s, 48, SIMT_MEM_DEVICE, "arg");
  uint32_t *o = simt_mem_at(x.s, out, 256), *h;
  float *f = simt_mem_at(x.s, arg, 48);
  memset(f, 0, 48);
  if (!launch(&x, 2, 32, out, arg, 2)) fail_msg("%s", x.e.msg);
  const float want[] = {2016, 64, -128, 4032, 64, -128};
  for (int k = 0; k < 6; k++) assert_true(f[k] == want[k]);
  h = (uint32_t *)f;
  assert_int_equal(h[6], 0x58005400); /* 64 times 2 and 1 */
  assert_int_equal(h[7], 0xD4005A00); /* 64 times -1 and 3 */
  assert_int_equal(h[8], 0x53E03C00); /* the greatest of 0 to 63, and 1 */
  assert_int_equal(h[9], 0x53E03C00);
  assert_int_equal(h[10], 0x3C0053E0);
  assert_int_equal(h[11], 0x3C0053E0);
  uint64_t seen = 0;
  for (int k = 0; k < 64; k++) {
    assert_true(o[k] < 64);
    seen |= UINT64_C(1) << o[k];
  }
  assert_true(seen == UINT64_MAX);
  done(&x);
}

/* sured: sums, extremes and bits in a surface of 4 x 4 words; what lies outside is dropped (.zero) or clamped. */
static void surface_reductions(void **state) {
  (void)state;
  struct machine x;
  bool ok = load(&x, HEAD ENTRY
                 "and.b32 %r2, %t, 7;\nshl.b32 %r3, %r2, 2;\nsub.u32 %r4, 3, %t;\nmov.u32 %r5, 0;\nmov.u32 %r6, 1;\n"
                 "mov.u32 %r7, 2;\nmov.u32 %r8, 3;\nadd.u32 %r9, %t, 100;\nshl.b32 %r10, %r6, %t;\n"
                 "sured.b.add.2d.u32.zero [%arg, {%r3, %r5}], %r9;\nsured.b.min.2d.s32.zero [%arg, {%r3, %r6}], %r4;\n"
                 "sured.b.or.2d.b32.clamp [%arg, {%r3, %r7}], %r10;\ncvt.u64.u32 %d0, %t;\nadd.s64 %d0, %d0, -40;\n"
                 "sured.b.max.2d.s64.trap [%arg, {%r5, %r8}], %d0;\n" STORE);
  if (!ok) fail_msg("%s", x.e.msg);
  uint64_t out = simt_mem_alloc(x.s, 128, SIMT_MEM_DEVICE, "out"),
           mem = simt_mem_alloc(x.s, 64, SIMT_MEM_DEVICE, "mem");
  uint32_t *v = simt_mem_at(x.s, mem, 64), sum[4] = {0}, low[4] = {0}, bits[4] = {0};
  memset(v, 0, 64);
  v[13] = 0xFFFFFF00; /* upper half of a negative number */
  struct simt_tex t = {.addr = mem, .width = 4, .height = 4, .channels = 1, .bits = 32, .format = 1};
  uint64_t obj = simt_tex_create(x.s, &t);
  if (!launch(&x, 1, 32, out, obj, 1)) fail_msg("%s", x.e.msg);
  for (int k = 0; k < 32; k++) {
    int at = k & 7;
    bits[at < 3 ? at : 3] |= 1u << k;
    if (at > 3) continue;
    sum[at] += (uint32_t)k + 100;
    if (3 - k < (int32_t)low[at]) low[at] = (uint32_t)(3 - k);
  }
  for (int k = 0; k < 4; k++) {
    assert_int_equal(v[k], sum[k]);
    assert_int_equal(v[4 + k], low[k]);
    assert_int_equal(v[8 + k], bits[k]);
  }
  assert_int_equal(v[12], (uint32_t)-9);
  assert_int_equal(v[13], UINT32_MAX);
  done(&x);
}

/* mma.m8n8k4 of halves (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16"): the product of quad pair p is held by
 * lanes 4p to 4p + 3 and 16 more; A by rows, B by columns. Lane l has 1 + l % 5 + e in A and l % 3 + e in B. */
static void products_of_quads(void **state) {
  (void)state;
  struct machine x;
  uint32_t *o =
      run(&x,
          HEAD ENTRY
          "rem.u32 %r2, %t, 5;\nrem.u32 %r3, %t, 3;\n.reg .b16 %a<4>, %b<4>;\n.reg .b32 %v<4>;\n.reg .f32 "
          "%x<8>;\n"
          "add.u32 %r4, %r2, 1;\ncvt.rn.f16.u32 %a0, %r4;\nadd.u32 %r4, %r2, 2;\ncvt.rn.f16.u32 %a1, %r4;\n"
          "add.u32 %r4, %r2, 3;\ncvt.rn.f16.u32 %a2, %r4;\nadd.u32 %r4, %r2, 4;\ncvt.rn.f16.u32 %a3, %r4;\n"
          "cvt.rn.f16.u32 %b0, %r3;\nadd.u32 %r4, %r3, 1;\ncvt.rn.f16.u32 %b1, %r4;\nadd.u32 %r4, %r3, 2;\n"
          "cvt.rn.f16.u32 %b2, %r4;\nadd.u32 %r4, %r3, 3;\ncvt.rn.f16.u32 %b3, %r4;\nmov.b32 %v0, {%a0, %a1};\n"
          "mov.b32 %v1, {%a2, %a3};\nmov.b32 %v2, {%b0, %b1};\nmov.b32 %v3, {%b2, %b3};\ncvt.rn.f32.u32 %f0, %t;\n"
          "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7}, {%v0,%v1}, "
          "{%v2,%v3}, {%f0,%f0,%f0,%f0,%f0,%f0,%f0,%f0};\nfma.rn.f32 %f1, %x7, 0f42C80000, %x2;\n"
          "cvt.rni.u32.f32 %r9, %f1;\n" STORE,
          1, 32);
  for (uint32_t l = 0; l < 32; l++) {
    uint32_t got[2];
    for (uint32_t q = 0; q < 2; q++) { /* c2 and c7 */
      uint32_t e = q ? 7 : 2, row = (l & 1) + (e & 2), col = (e & 4) + (l & 2) + (e & 1), pair = l % 16 / 4 * 4;
      uint32_t a = pair + row % 4 + (l >= 16 ? 16 : 0), b = pair + col % 4 + (col >= 4 ? 16 : 0);
      got[q] = l;
      for (uint32_t k = 0; k < 4; k++) got[q] += (1 + a % 5 + k) * (b % 3 + k);
    }
    assert_int_equal(o[l], got[0] + 100 * got[1]);
  }
  done(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(divergence),
                                     cmocka_unit_test(products_of_quads),
                                     cmocka_unit_test(indexed_branch),
                                     cmocka_unit_test(calls),
                                     cmocka_unit_test(memory_spaces),
                                     cmocka_unit_test(warp_operations),
                                     cmocka_unit_test(predicate_numbers),
                                     cmocka_unit_test(clusters),
                                     cmocka_unit_test(spin_on_another_cta),
                                     cmocka_unit_test(textures),

                                     cmocka_unit_test(faults),
                                     cmocka_unit_test(deadlock),
                                     cmocka_unit_test(bad_text),
                                     cmocka_unit_test(linking),
                                     cmocka_unit_test(device_memory),
                                     cmocka_unit_test(variable_addresses),
                                     cmocka_unit_test(pinned_memory),
                                     cmocka_unit_test(vector_atomics),
                                     cmocka_unit_test(shared_atomics_when_performed),
                                     cmocka_unit_test(arrays_in_blocks),
                                     cmocka_unit_test(surface_reductions),
                                     cmocka_unit_test(newer_isa),
                                     cmocka_unit_test(wide_values),
                                     cmocka_unit_test(inlined_positions),
                                     cmocka_unit_test(parameters_and_children)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
