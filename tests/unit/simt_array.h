/* simt_array.h - run one PTX instruction over arrays: lane i reads a[i], b[i], c[i] and writes d[i], 8 bytes each. */
#ifndef TESTS_SIMT_ARRAY_H
#define TESTS_SIMT_ARRAY_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "simt/simt.h"

static inline const char *array_class(uint32_t bytes) {
  return bytes == 8 ? "b64" : bytes == 4 ? "b32" : "b16";
}

struct array_op {
  const char *text;              /* an instruction on %d, %a, %b, %c */
  uint32_t d_bytes, in_bytes[3]; /* of these registers */
  uint32_t n;                    /* lanes, and values of each array */
  const uint64_t *in[3];         /* NULL: as the first */
  uint64_t *d;
};

/* False with `e` on failure. */
static inline bool array_run(struct simt *s, const struct array_op *o, struct err *e) {
  const char *d = array_class(o->d_bytes), *a = array_class(o->in_bytes[0]), *b = array_class(o->in_bytes[1]),
             *c = array_class(o->in_bytes[2]);
  uint32_t n = o->n;
  char text[2048];
  snprintf(text, sizeof text,
           ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 pa, .param .u64 pb, .param "
           ".u64 pc, .param .u64 pd, .param .u32 n)\n"
           "{\n.reg .pred %%p, %%q;\n.reg .b32 %%t, %%u, %%v, %%n;\n.reg .b64 %%x, %%y;\n.reg .%s %%d;\n.reg .%s "
           "%%a;\n.reg .%s %%b;\n.reg .%s %%c;\n"
           "mov.u32 %%t, %%ctaid.x;\nmov.u32 %%u, %%ntid.x;\nmov.u32 %%v, %%tid.x;\nmad.lo.u32 %%t, %%t, %%u, "
           "%%v;\nld.param.u32 %%n, [n];\n"
           "setp.ge.u32 %%p, %%t, %%n;\n@%%p bra DONE;\nmul.wide.u32 %%x, %%t, 8;\n"
           "ld.param.u64 %%y, [pa];\nadd.u64 %%y, %%y, %%x;\nld.global.%s %%a, [%%y];\nld.param.u64 %%y, "
           "[pb];\nadd.u64 %%y, %%y, %%x;\nld.global.%s %%b, [%%y];\n"
           "ld.param.u64 %%y, [pc];\nadd.u64 %%y, %%y, %%x;\nld.global.%s %%c, [%%y];\n%s\nld.param.u64 %%y, "
           "[pd];\nadd.u64 %%y, %%y, %%x;\nst.global.%s [%%y], %%d;\n"
           "DONE:\nret;\n}\n",
           d, a, b, c, a, b, c, o->text, d);
  struct simt_text t = {.ptx = text, .name = "array.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, e);
  if (!m) return false;
  uint64_t bytes = (uint64_t)n * 8, at[4];
  for (int k = 0; k < 4; k++) {
    at[k] = simt_mem_alloc(s, bytes, SIMT_MEM_DEVICE, NULL);
    if (k < 3) memcpy(simt_mem_at(s, at[k], bytes), o->in[k] ? o->in[k] : o->in[0], bytes);
  }
  struct {
    uint64_t p[4];
    uint32_t n;
  } params = {{at[0], at[1], at[2], at[3]}, n};
  struct simt_launch l = {
      .kernel = simt_find_kernel(m, "k"), .grid = {(n + 127) / 128, 1, 1}, .block = {128, 1, 1}, .params = &params};
  struct simt_run *r = simt_begin(s, &l, 1, e);
  bool ok = r && simt_run(r, NULL, e);
  if (ok) memcpy(o->d, simt_mem_at(s, at[3], bytes), bytes);
  simt_end(r);
  for (int k = 0; k < 4; k++) simt_mem_release(s, at[k]);
  simt_unload(s, m);
  return ok;
}

#endif
