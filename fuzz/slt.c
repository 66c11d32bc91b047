/* slt.c - libFuzzer target: any bytes as a trace of our own format, read as far as it goes, and the same twice.
 * Checksums are not looked at (FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION), and the seeds are not compressed, so that
 * changes reach what lies behind them.
 *
 * Sources: fuzz/slt.c, src/trace/{slt,accel,sass}*.c, src/trace/{input,order,trace_feed}.c,
 * src/base/{err,arena,paths}.c; libraries: zstd, lzma.
 *
 * Seeds: clang -g -O1 -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -DSLT_SEEDS -D_GNU_SOURCE -Isrc -Itests/unit
 * SOURCES -o seeds; ./seeds fuzz/corpus/slt
 *
 * Build: the same without -DSLT_SEEDS, with -fsanitize=fuzzer,address,undefined; run: ./slt fuzz/corpus/slt
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/slt.h"
#include "trace/slt_read.h"

#ifdef SLT_SEEDS
#include "random_trace.h"
#include "trace/slt_write.h"
#include "trace/trace_feed.h"

int main(int argc, char **argv) {
  for (uint32_t n = 0; argc > 1 && n < 12; n++) {
    struct err e = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/seed%u", argv[1], n);
    struct slt_writer *w = slt_create(path, NULL, "fuzz", &e);
    for (uint32_t l = 0; w && l < 1 + n % 3; l++) {
      struct rt_feed *f = malloc(sizeof *f);
      struct trace_counts c;
      rt_init(f, n * 7 + l + 1, 1 + n % 4, 20 + 30 * (n % 3), 20 + 20 * n);
      if (n % 2) slt_note_copy(w, 1000, l & 1);
      struct feed *tap = slt_begin(w, &f->feed, 2, &e);
      if (!tap || !trace_drive(tap, 2, &c, &e) || !slt_end(w, true, &e)) return 1;
      free(f);
    }
    if (!w || !slt_finish(w, &e)) return fprintf(stderr, "%s\n", e.msg), 1;
  }
  return argc < 2;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_STEPS = 20000, MAX_CTAS = 16 };

static uint64_t cta(struct trace_input *t, const struct feed_kernel *k, uint32_t id, uint64_t h, struct err *e) {
  struct issued out = {0};
  if (!t->ops->open_cta(t, 0, id, e)) return h;
  uint32_t steps = 0;
  for (uint32_t w = 0; w < k->warps_per_cta; w++) {
    do {
      out.bar_id = FEED_NO_BARRIER;
      out.waits = false;
      if (!t->ops->step(t, 0, w, &out, e)) return h;
      if (out.next_pc != FEED_DONE && out.next_pc >= k->insts) abort();
      if (out.mask & ~out.active) abort();
      h = hash_u64(h ^ out.mask ^ out.next_pc);
      for (uint32_t m = out.mask; m; m &= m - 1) h += out.addr[__builtin_ctz(m)];
    } while (out.next_pc != FEED_DONE && ++steps < MAX_STEPS);
    if (out.next_pc != FEED_DONE) break;
  }
  t->ops->close_cta(t, 0);
  return h;
}

static uint64_t digest(const char *path, bool salvage) {
  struct err e = {0};
  uint64_t h = HASH_INIT;
  struct trace_input *t = slt_open(path, salvage, &e);
  if (!t) return hash_bytes(h, e.msg, strlen(e.msg));
  struct trace_event ev;
  e.code = ERR_NONE;
  for (uint32_t l = 0; l < 64 && !e.code && t->ops->next(t, &ev, &e) && ev.kind != TRACE_END; l++) {
    if (ev.kind != TRACE_LAUNCH || !t->ops->begin(t, 1, &e)) continue;
    for (uint32_t c = 0; c < ev.kernel->ctas && c < MAX_CTAS && !e.code; c++) h = cta(t, ev.kernel, c, h, &e);
  }
  h = hash_bytes(h, e.msg, strlen(e.msg));
  trace_close(t);
  return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int fd = memfd_create("trace", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  for (int salvage = 0; salvage < 2; salvage++)
    if (digest(path, salvage) != digest(path, salvage)) abort();
  close(fd);
  return 0;
}
#endif
