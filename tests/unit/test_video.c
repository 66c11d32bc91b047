/* test_video.c - video instructions and lop3 with a predicate: each form on edge values and random ones against C
 * expressions written down one by one, with the machine's own integer types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "simt/simt.h"

enum { N = 1024 };

static int64_t clip(int64_t v, int64_t lo, int64_t hi) {
  return v < lo ? lo : v > hi ? hi : v;
}
static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}
#define S8(v, k) ((int64_t)(int8_t)((v) >> 8 * (k)))
#define U8(v, k) ((int64_t)(uint8_t)((v) >> 8 * (k)))
#define S16(v, k) ((int64_t)(int16_t)((v) >> 16 * (k)))
#define U16(v, k) ((int64_t)(uint16_t)((v) >> 16 * (k)))
#define S(v) ((int64_t)(int32_t)(v))
#define U(v) ((int64_t)(v))
#define BYTE(v, k) (((uint32_t)(v)&0xFF) << 8 * (k))
#define HALF(v, k) (((uint32_t)(v)&0xFFFF) << 16 * (k))

/* form, value: a, b, c are uint32_t */
#define FORMS(X)                                                                                                       \
  X("vadd.u32.u32.u32 %r9, %a, %b", U(a) + U(b))                                                                       \
  X("vadd.s32.s32.u32.sat %r9, %a, %b", clip(S(a) + U(b), INT32_MIN, INT32_MAX))                                       \
  X("vadd.u32.s32.s32.sat %r9, %a.b3, %b.h1", clip(S8(a, 3) + S16(b, 1), 0, UINT32_MAX))                               \
  X("vadd.s32.s32.s32.add %r9, %a.h0, %b.b2, %c", S16(a, 0) + S8(b, 2) + S(c))                                         \
  X("vadd.u32.u32.s32.sat %r9.b2, %a.b0, %b.b1, %c", BYTE(clip(U8(a, 0) + S8(b, 1), 0, 255), 2) | (c & 0xFF00FFFFu))   \
  X("vadd.s32.s32.s32.sat %r9.h1, %a, %b.h0, %c", HALF(clip(S(a) + S16(b, 0), -32768, 32767), 1) | (c & 0xFFFFu))      \
  X("vsub.s32.u32.u32.sat %r9, %a, %b", clip(U(a) - U(b), INT32_MIN, INT32_MAX))                                       \
  X("vsub.u32.u32.u32.sat.max %r9, %a.b1, %b.b1, %c", most(clip(U8(a, 1) - U8(b, 1), 0, UINT32_MAX), U(c)))            \
  X("vsub.s32.s32.s32 %r9.b3, %a.h1, %b.h1, %c", BYTE(S16(a, 1) - S16(b, 1), 3) | (c & 0xFFFFFFu))                     \
  X("vabsdiff.u32.u32.u32.add %r9, %a.b2, %b.b2, %c",                                                                  \
    (U8(a, 2) > U8(b, 2) ? U8(a, 2) - U8(b, 2) : U8(b, 2) - U8(a, 2)) + U(c))                                          \
  X("vabsdiff.s32.s32.s32.sat %r9, %a, %b", clip(S(a) > S(b) ? S(a) - S(b) : S(b) - S(a), INT32_MIN, INT32_MAX))       \
  X("vmin.s32.s32.s32.max %r9, %a.b0, %b.h1, %c", most(least(S8(a, 0), S16(b, 1)), S(c)))                              \
  X("vmax.u32.u32.u32.min %r9, %a, %b, %c", least(most(U(a), U(b)), U(c)))                                             \
  X("vmax.s32.s32.u32 %r9.h0, %a, %b.b3, %c", HALF(most(S(a), U8(b, 3)), 0) | (c & 0xFFFF0000u))                       \
  X("vshl.u32.u32.u32.wrap %r9, %a, %b", (uint32_t)a << (b & 31))                                                      \
  X("vshl.u32.u32.u32.clamp %r9, %a, %b.b0", U8(b, 0) > 31 ? 0 : a << U8(b, 0))                                        \
  X("vshl.s32.s32.u32.sat.wrap %r9, %a.h0, %b", clip(S16(a, 0) * (INT64_C(1) << (b & 31)), INT32_MIN, INT32_MAX))      \
  X("vshr.s32.s32.u32.clamp %r9, %a, %b.b1", U8(b, 1) > 31 ? (S(a) < 0 ? -1 : 0) : (int32_t)a >> U8(b, 1))             \
  X("vshr.u32.u32.u32.wrap.add %r9, %a.h1, %b, %c", (U16(a, 1) >> (b & 31)) + U(c))                                    \
  X("vset.u32.u32.lt %r9, %a, %b", a < b)                                                                              \
  X("vset.s32.u32.ge %r9, %a, %b", S(a) >= U(b))                                                                       \
  X("vset.s32.s32.ne.add %r9, %a.b0, %b.b0, %c", (S8(a, 0) != S8(b, 0)) + U(c))                                        \
  X("vset.s32.s32.gt %r9.b1, %a.h0, %b.h0, %c", BYTE(S16(a, 0) > S16(b, 0), 1) | (c & 0xFFFF00FFu))                    \
  X("vmad.s32.s32.s32 %r9, %a, %b, %c", (int64_t)(a * b + c))                                                          \
  X("vmad.s32.s32.s32.sat %r9, %a.h0, %b.h1, %c", clip(S16(a, 0) * S16(b, 1) + S(c), INT32_MIN, INT32_MAX))            \
  X("vmad.u32.u32.u32.sat.shr15 %r9, %a.h0, %b.h0, %c", clip((U16(a, 0) * U16(b, 0) + U(c)) >> 15, 0, UINT32_MAX))     \
  X("vmad.s32.s32.u32.shr7 %r9, %a.h1, %b.b0, %c", (S16(a, 1) * U8(b, 0) + S(c)) >> 7)                                 \
  X("vmad.s32.u32.u32.sat %r9, -%a.h0, %b.h0, %c", clip(S(c) - U16(a, 0) * U16(b, 0), INT32_MIN, INT32_MAX))           \
  X("vmad.s32.u32.u32.sat %r9, %a.h0, %b.b3, -%c", clip(U16(a, 0) * U8(b, 3) - S(c), INT32_MIN, INT32_MAX))            \
  X("vmad.u32.u32.u32.po.shr7 %r9, %a.b1, %b.b2, %c", (U8(a, 1) * U8(b, 2) + U(c) + 1) >> 7)                           \
  X("vadd2.s32.s32.s32.sat %r9, %a, %b, %c",                                                                           \
    HALF(clip(S16(a, 0) + S16(b, 0), -32768, 32767), 0) | HALF(clip(S16(a, 1) + S16(b, 1), -32768, 32767), 1))         \
  X("vadd2.u32.u32.u32.add %r9, %a, %b, %c", U16(a, 0) + U16(b, 0) + U16(a, 1) + U16(b, 1) + U(c))                     \
  X("vsub2.s32.u32.u32 %r9.h1, %a.h01, %b.h23, %c", HALF(U16(a, 0) - U16(b, 0), 1) | (c & 0xFFFF))                     \
  X("vavrg2.s32.s32.s32 %r9, %a.h30, %b.h21, %c",                                                                      \
    HALF((S16(a, 0) + S16(a, 1) + (S16(a, 0) + S16(a, 1) >= 0)) >> 1, 0) |                                             \
        HALF((S16(b, 1) + S16(b, 0) + (S16(b, 1) + S16(b, 0) >= 0)) >> 1, 1))                                          \
  X("vabsdiff2.u32.s32.s32.add %r9.h0, %a, %b, %c", most(S16(a, 0) - S16(b, 0), S16(b, 0) - S16(a, 0)) + U(c))         \
  X("vmin2.u32.u32.u32 %r9, %a, %b, %c", HALF(least(U16(a, 0), U16(b, 0)), 0) | HALF(least(U16(a, 1), U16(b, 1)), 1))  \
  X("vmax2.s32.s32.s32 %r9, %a, %b, %c", HALF(most(S16(a, 0), S16(b, 0)), 0) | HALF(most(S16(a, 1), S16(b, 1)), 1))    \
  X("vset2.s32.s32.le %r9, %a, %b, %c", HALF(S16(a, 0) <= S16(b, 0), 0) | HALF(S16(a, 1) <= S16(b, 1), 1))             \
  X("vset2.u32.u32.gt.add %r9, %a, %b, %c", (U16(a, 0) > U16(b, 0)) + (U16(a, 1) > U16(b, 1)) + U(c))                  \
  X("vadd4.u32.u32.u32.sat %r9, %a, %b, %c",                                                                           \
    BYTE(clip(U8(a, 0) + U8(b, 0), 0, 255), 0) | BYTE(clip(U8(a, 1) + U8(b, 1), 0, 255), 1) |                          \
        BYTE(clip(U8(a, 2) + U8(b, 2), 0, 255), 2) | BYTE(clip(U8(a, 3) + U8(b, 3), 0, 255), 3))                       \
  X("vsub4.s32.s32.s32 %r9.b31, %a.b7610, %b.b0123, %c",                                                               \
    BYTE(S8(a, 1) - S8(a, 2), 1) | BYTE(S8(b, 3) - S8(a, 0), 3) | (c & 0x00FF00FFu))                                   \
  X("vavrg4.u32.u32.u32 %r9.b0, %a, %b, %c", BYTE((U8(a, 0) + U8(b, 0) + 1) >> 1, 0) | (c & 0xFFFFFF00u))              \
  X("vabsdiff4.u32.u32.u32.add %r9, %a, %b, %c",                                                                       \
    most(U8(a, 0) - U8(b, 0), U8(b, 0) - U8(a, 0)) + most(U8(a, 1) - U8(b, 1), U8(b, 1) - U8(a, 1)) +                  \
        most(U8(a, 2) - U8(b, 2), U8(b, 2) - U8(a, 2)) + most(U8(a, 3) - U8(b, 3), U8(b, 3) - U8(a, 3)) + U(c))        \
  X("vmin4.s32.s32.s32 %r9.b3210, %a, %b, %c",                                                                         \
    BYTE(least(S8(a, 0), S8(b, 0)), 0) | BYTE(least(S8(a, 1), S8(b, 1)), 1) | BYTE(least(S8(a, 2), S8(b, 2)), 2) |     \
        BYTE(least(S8(a, 3), S8(b, 3)), 3))                                                                            \
  X("vmax4.s32.u32.s32.add %r9.b20, %a, %b, %c", most(U8(a, 0), S8(b, 0)) + most(U8(a, 2), S8(b, 2)) + U(c))           \
  X("vset4.u32.u32.eq.add %r9, %a, %b, %c",                                                                            \
    (U8(a, 0) == U8(b, 0)) + (U8(a, 1) == U8(b, 1)) + (U8(a, 2) == U8(b, 2)) + (U8(a, 3) == U8(b, 3)) + U(c))          \
  X("setp.lt.u32 %q, %a, %b;\nlop3.or.b32 %r8|%p, %a, %b, %c, 0x80, %q;\nselp.u32 %r9, 77, 0, %p;\nxor.b32 %r9, %r9, " \
    "%r8",                                                                                                             \
    ((a & b & c) != 0 || a < b ? 77 : 0) ^ (a & b & c))                                                                \
  X("setp.lt.u32 %q, %a, %b;\nlop3.and.b32 _|%p, %a, %b, %c, 0x96, !%q;\nselp.u32 %r9, 1, 0, %p",                      \
    (a ^ b ^ c) != 0 && !(a < b))

#define DEFINE(text, value) text,
static const char *const texts[] = {FORMS(DEFINE)};
#undef DEFINE

static uint32_t expected(size_t form, uint32_t a, uint32_t b, uint32_t c) {
  size_t k = 0;
#define DEFINE(text, value) \
  if (form == k++) return (uint32_t)(value);
  FORMS(DEFINE)
#undef DEFINE
  return 0;
}

static uint32_t sample(uint32_t n, uint32_t which) {
  static const uint32_t edge[] = {0,          1,          0x7F,       0x80,       0xFF,       0x7FFF,
                                  0x8000,     0xFFFF,     0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80808080,
                                  0x7F7F7F7F, 0x80007FFF, 0x00FF01FE, 0x1F20FF21};
  if (n < 256) return edge[which == 0 ? n & 15 : which == 1 ? n >> 4 : (n * 7 + (n >> 4)) & 15];
  uint32_t x = n * 2654435761u + which * 40503u * 65537u + 12345u; /* a fixed hash of place and operand */
  x ^= x >> 15, x *= 2246822519u, x ^= x >> 13, x *= 3266489917u, x ^= x >> 16;
  return x;
}

static struct simt_module *load_form(struct simt *s, const char *form, char *text, size_t size, struct err *e) {
  snprintf(text, size,
           ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
           ".reg .pred %%p, %%q;\n.reg .b32 %%a, %%b, %%c, %%t, %%r<16>;\n.reg .b64 %%d<8>;\n"
           "mov.u32 %%r0, %%ctaid.x;\nmov.u32 %%r1, %%ntid.x;\nmov.u32 %%t, %%tid.x;\n"
           "mad.lo.u32 %%t, %%r0, %%r1, %%t;\nld.param.u64 %%d0, [out];\nld.param.u64 %%d1, [in];\n"
           "mul.wide.u32 %%d2, %%t, 12;\nadd.u64 %%d1, %%d1, %%d2;\nld.global.u32 %%a, [%%d1];\n"
           "ld.global.u32 %%b, [%%d1+4];\nld.global.u32 %%c, [%%d1+8];\n%s;\n"
           "mul.wide.u32 %%d2, %%t, 4;\nadd.u64 %%d0, %%d0, %%d2;\nst.global.u32 [%%d0], %%r9;\nret;\n}\n",
           form);
  struct simt_text t = {.ptx = text, .name = "video.ptx"};
  return simt_load(s, &t, 1, e);
}

static void forms(void **state) {
  (void)state;
  static char text[4096];
  struct err e = {0};
  struct simt *s = simt_new(1 << 24, &e);
  assert_non_null(s);
  uint64_t out = simt_mem_alloc(s, 4 * N, SIMT_MEM_DEVICE, "out"),
           in = simt_mem_alloc(s, 12 * N, SIMT_MEM_DEVICE, "in");
  uint32_t *o = simt_mem_at(s, out, 4 * N), *v = simt_mem_at(s, in, 12 * N);
  for (uint32_t n = 0; n < 3 * N; n++) v[n] = sample(n / 3, n % 3);
  for (size_t f = 0; f < sizeof texts / sizeof *texts; f++) {
    struct simt_module *m = load_form(s, texts[f], text, sizeof text, &e);
    if (!m) fail_msg("%s", e.msg);
    uint64_t params[2] = {out, in};
    struct simt_launch l = {
        .kernel = simt_find_kernel(m, "k"), .grid = {N / 256, 1, 1}, .block = {256, 1, 1}, .params = params};
    struct simt_counts counts;
    struct simt_run *r = simt_begin(s, &l, 1, &e);
    bool ok = r && simt_run(r, &counts, &e);
    simt_end(r);
    if (!ok) fail_msg("%s: %s", texts[f], e.msg);
    for (uint32_t n = 0; n < N; n++) {
      uint32_t want = expected(f, v[3 * n], v[3 * n + 1], v[3 * n + 2]);
      if (o[n] != want)
        fail_msg("%s: a %08x b %08x c %08x: got %08x, expected %08x", texts[f], v[3 * n], v[3 * n + 1], v[3 * n + 2],
                 o[n], want);
    }
    simt_unload(s, m);
  }
  printf("[  info    ] %zu forms on %d triples of values\n", sizeof texts / sizeof *texts, N);
  simt_free(s);
}

/* What the rules exclude is an error of the text, with the place. */
static void wrong(void **state) {
  (void)state;
  static const struct {
    const char *form, *says;
  } rows[] = {{"vadd.u32.u32.u32 %r9, %a.b4, %b", "cannot take that part"},
              {"vadd.u32.u32.u32 %r9, %a.h10, %b", "cannot take that part"},
              {"vadd2.u32.u32.u32 %r9, %a.b10, %b, %c", "cannot take that part"},
              {"vadd4.u32.u32.u32 %r9.b12, %a, %b, %c", "cannot write that part"},
              {"vadd.u32.u32.u32 %r9, %a, %b, %c", "third source"},
              {"vadd.u32.u32.u32.add %r9, %a, %b", "third source"},
              {"vadd.u32.u32 %r9, %a, %b", "three types"},
              {"vset.u32.u32 %r9, %a, %b", "comparison"},
              {"vshl.u32.u32.u32 %r9, %a, %b", ".clamp or .wrap"},
              {"vmad.s32.s32.s32.po %r9, -%a, %b, %c", "one of .po"},
              {"add.u32 %r9, %a.b0, %b", "whole registers"},
              {"add.u32 %r9, %a, -%b", "in vmad only"}};
  static char text[4096];
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    struct err e = {0};
    struct simt *s = simt_new(1 << 24, &e);
    assert_non_null(s);
    assert_null(load_form(s, rows[k].form, text, sizeof text, &e));
    if (!strstr(e.msg, rows[k].says) || !strstr(e.msg, "video.ptx:")) fail_msg("%s: %s", rows[k].form, e.msg);
    simt_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(wrong)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
