/* test_tex.c - fetches from linear memory: those that lanes do together, and those that go lane by lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "simt/core/texture.h"
#include "simt/simt.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 arg)\n{\n"
    ".reg .b32 %t, %r<4>;\n.reg .b64 %out, %arg, %d<4>;\n.reg .f32 %f<8>;\nmov.u32 %t, %tid.x;\n"
    "ld.param.u64 %out, [out];\nld.param.u64 %arg, [arg];\n"
    "and.b32 %r2, %t, 1;\nmul.wide.u32 %d1, %r2, 8;\nadd.u64 %d1, %arg, %d1;\nld.global.u64 %d2, [%d1];\n"
    "sub.u32 %r3, %t, 3;\ntex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d2, {%r3}];\nadd.f32 %f5, %f1, %f2;\n"
    "add.f32 %f5, %f5, %f3;\nfma.rn.f32 %f5, %f4, 0f42C80000, %f5;\nmul.wide.u32 %d3, %t, 4;\n"
    "add.u64 %d3, %out, %d3;\nst.global.f32 [%d3], %f5;\nret;\n}\n";

/* Two channels: those of the texture, then 0 and 1; outside all are zero. In the second launch odd lanes have another
 * object, in the third the texture ends behind its allocation. */
static void linear_memory(void **state) {
  (void)state;
  struct err e = {0};
  struct simt *s = simt_new(1 << 26, &e);
  struct simt_module *m = simt_load(s, &(struct simt_text){.ptx = text, .name = "test.ptx"}, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  uint64_t out = simt_mem_alloc(s, 128, SIMT_MEM_DEVICE, "out"), arg = simt_mem_alloc(s, 16, SIMT_MEM_DEVICE, "arg"),
           texels = simt_mem_alloc(s, 256, SIMT_MEM_DEVICE, "texels");
  float *p = simt_mem_at(s, texels, 256), *got = simt_mem_at(s, out, 128);
  for (int i = 0; i < 64; i++) p[i] = (float)i;
  struct simt_tex t = {.addr = texels, .width = 20, .channels = 2, .bits = 32, .format = 2, .linear_memory = true},
                  u = t, v = t;
  u.addr += 8, v.width = 40;
  uint64_t *handle = simt_mem_at(s, arg, 16), a = simt_tex_create(s, &t), b = simt_tex_create(s, &u);
  for (int n = 0; n < 3; n++) {
    uint32_t threads = n < 2 ? 32 : 24;
    uint64_t params[] = {out, arg};
    struct simt_launch l = {
        .kernel = simt_find_kernel(m, "k"), .grid = {1, 1, 1}, .block = {threads, 1, 1}, .params = params};
    handle[0] = n < 2 ? a : simt_tex_create(s, &v);
    handle[1] = n == 1 ? b : handle[0];
    struct simt_run *r = simt_begin(s, &l, 1, &e);
    if (!r || !simt_run(r, NULL, &e)) fail_msg("%s", e.msg);
    simt_end(r);
    for (uint32_t i = 0; i < threads; i++) {
      uint32_t at = i - 3 + (n == 1 && i & 1);
      bool inside = i >= 3 && i - 3 < (n < 2 ? 20u : 32u);
      assert_float_equal(got[i], inside ? (float)(2 * at + 2 * at + 1 + 100) : 0.0f, 0);
    }
  }
  simt_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(linear_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
