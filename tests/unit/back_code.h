/* back_code.h - the machine code of a kernel written for a test. */
#ifndef BACK_CODE_H
#define BACK_CODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "simt/simt.h"

struct code {
  uint32_t n, regs;
  struct simt_machine at[512];
};

static struct code compile(const char *body, uint32_t sm) {
  struct err e = {0};
  static char text[1 << 17];
  snprintf(text, sizeof text,
           ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .b8 table[4096];\n.visible .entry k(.param "
           ".u64 p, .param .u64 q, .param .u32 "
           "n) {\n"
           ".reg .pred %%p<8>;\n.reg .b32 %%r<32>;\n.reg .f32 %%f<32>;\n.reg .b64 %%rd<32>;\n.shared .align 4 .b8 "
           "buf[4096];\n%s}\n",
           body);
  struct simt *s = simt_new(1 << 24, &e);
  simt_back_end(s, sm);
  struct simt_text t = {.ptx = text, .name = "written.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  struct simt_kernel *k = simt_find_kernel(m, "k");
  struct code c = {.regs = simt_kernel_info(k)->regs};
  while (c.n < 512 && simt_machine_at(k, c.n, &c.at[c.n])) c.n++;
  simt_free(s);
  return c;
}

__attribute__((unused)) static uint32_t count(const struct code *c, const char *cls, uint32_t bytes) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++) n += !strcmp(c->at[i].cls, cls) && (!bytes || c->at[i].bytes == bytes);
  return n;
}

__attribute__((unused)) static uint32_t in_loops(const struct code *c, const char *cls) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->n; i++) n += !strcmp(c->at[i].cls, cls) && c->at[i].depth;
  return n;
}

#define INDEX                                                                                                  \
  "ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\nld.param.u32 %r9, [n];\ncvta.to.global.u64 %rd3, %rd1;\n" \
  "cvta.to.global.u64 %rd4, %rd2;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"      \
  "mad.lo.s32 %r4, %r1, %r2, %r3;\n"

#endif
