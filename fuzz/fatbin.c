/* fatbin.c - libFuzzer target: any bytes as a fat binary and as machine code; the same bytes twice give the same
 * answer.
 *
 * Build: clang -g -fsanitize=fuzzer,address,undefined -Isrc fuzz/fatbin.c src/cudart/image/{fatbin,cubin}.c \
 *   src/base/{arena,err}.c -llz4 -lzstd -lelf
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "cudart/image/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(void *ctx, const char *kernel, uint32_t regs) {
  uint64_t *h = ctx;
  *h = hash_bytes(*h, kernel, strlen(kernel)) ^ regs;
}

static uint64_t digest(const uint8_t *data, size_t size) {
  struct fatbin f = {0};
  struct err e = {0};
  uint64_t h = HASH_INIT;
  if (!fatbin_add(&f, data, size, &e)) h = hash_bytes(h, e.msg, strlen(e.msg));
  for (uint32_t i = 0; i < f.count; i++) {
    if (fatbin_unpack(&f, &f.items[i], &e)) h = hash_bytes(h, f.items[i].unpacked, f.items[i].unpacked_len);
    else h = hash_bytes(h, e.msg, strlen(e.msg));
    if (f.items[i].unpacked && f.items[i].kind == FATBIN_CUBIN)
      cubin_registers(f.items[i].unpacked, f.items[i].unpacked_len, note, &h);
  }
  for (uint32_t cc = 0; cc < 120; cc += 7) {
    const struct fatbin_item *ptx = fatbin_choose_ptx(&f, 0, cc);
    h = hash_bytes(h, &cc, sizeof cc) ^ (ptx ? ptx->sm : 0);
  }
  cubin_registers(data, size, note, &h);
  fatbin_free(&f);
  return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (digest(data, size) != digest(data, size)) abort();
  return 0;
}
