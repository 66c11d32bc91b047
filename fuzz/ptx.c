/* ptx.c - libFuzzer target: any text as PTX through parser, checker, linker and lowering; what loads is also run for
 * one CTA, as it is and as machine code, so that the handlers see odd operands. The same text twice gives the same answer.
 *
 * Build: clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc -fno-strict-aliasing fuzz/ptx.c \
 *   src/ptx/[a-z]*.c src/back/[a-z]*.c src/simt/[a-z]*.c src/base/{arena,err}.c -lm, with -march=x86-64-v3 and v4 for exec_v3.c and
 * exec_v4.c Run: ./ptx fuzz/corpus/ptx
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "simt/simt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t digest(const char *text, uint32_t sm) {
  struct err e = {0};
  uint64_t h = HASH_INIT;
  struct simt *s = simt_new(1 << 20, &e);
  if (!s) return 0;
  simt_back_end(s, sm);
  struct simt_text t = {.ptx = text, .name = "fuzz.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, &e);
  h = hash_bytes(h, e.msg, strlen(e.msg));
  for (size_t k = 0; m && k < simt_kernel_count(m); k++) {
    struct simt_kernel *kernel = simt_kernel_at(m, k);
    const struct simt_kernel_info *info = simt_kernel_info(kernel);
    if (info->param_block_bytes > 4096 || info->local_bytes > 4096 || info->static_shared > 65536) continue;
    uint64_t params[513] = {0};
    uint64_t a = simt_mem_alloc(s, 4096, SIMT_MEM_DEVICE, NULL);
    for (int i = 0; i < 512; i++) params[i] = a;
    struct simt_launch l = {.kernel = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params};
    struct simt_run *r = simt_begin(s, &l, 1, &e);
    struct feed *f = r ? simt_feed(r) : NULL;
    struct issued out = {0};
    if (f) f->ops->start_cta(f->ctx, 0, 0, 0, 0);
    for (int i = 0; f && i < 300 && out.next_pc != FEED_DONE && !out.waits; i++) {
      bool ok = f->ops->issue(f->ctx, 0, 0, &out);
      if (ok && out.token) ok = f->ops->atomic(f->ctx, out.token, out.mask);
      if (!ok) break;
      h = hash_u64(h ^ out.mask ^ out.next_pc);
    }
    simt_end(r);
  }
  simt_free(s);
  return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  uint64_t a = digest(text, 0), b = digest(text, 0), c = digest(text, 70), d = digest(text, 70);
  if (a != b || c != d) abort();
  free(text);
  return 0;
}
