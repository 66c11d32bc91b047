/* slt.c - libFuzzer target: any bytes as a .slt trace, read as far as possible, with the same result twice; then
 * counted without addresses (skim), from behind by seeking launches and CTAs, and driven as a replay does it.
 * Checksums are ignored (FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION), and the seeds are not compressed, so that changes
 * reach what lies behind them.
 *
 * Sources: fuzz/slt.c, src/trace/{slt,accel,common}/*.c, src/trace/{open,trace_feed}.c,
 * src/base/{arena,err,input,output,paths}.c; libraries: zstd, lzma.
 *
 * Seeds: clang -g -O1 -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -DSLT_SEEDS -D_GNU_SOURCE -Isrc -Itests/unit SOURCES
 * -o seeds; ./seeds fuzz/corpus/slt
 *
 * Build: the same without -DSLT_SEEDS, with -fsanitize=fuzzer,address,undefined; run: ./slt fuzz/corpus/slt
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/slt/slt.h"
#include "trace/slt/slt_read.h"
#include "trace/trace_feed.h"

#ifdef SLT_SEEDS
#include "random_trace.h"
#include "trace/slt/slt_write.h"

int main(int argc, char **argv) {
  for (uint32_t n = 0; argc > 1 && n < 12; n++) {
    struct err e = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/seed%u", argv[1], n);
    struct slt_writer *w = slt_create(path, NULL, "fuzz", 0, &e);
    for (uint32_t l = 0; w && l < 1 + n % 3; l++) {
      struct rt_feed *f = malloc(sizeof *f);
      struct trace_counts c;
      rt_init(f, n * 7 + l + 1, 1 + n % 4, 20 + 30 * (n % 3), 20 + 20 * n);
      if (n % 2) slt_note_copy(w, 1000, l & 1);
      struct feed *tap = slt_begin(w, &f->feed, 2, &e);
      if (!tap || !trace_drive(tap, 2, 0, &c, &e) || !slt_end(w, true, &e)) return 1;
      free(f);
    }
    if (!w || !slt_finish(w, &e)) return fprintf(stderr, "%s\n", e.msg), 1;
  }
  return argc < 2;
}
#else
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_STEPS = 20000, MAX_CTAS = 16, MAX_LAUNCHES = 64 };

struct read {
  uint64_t hash;
  struct trace_counts n;
  bool whole; /* every warp to its end */
};

/* A CTA, warp after warp: by `step`, or counted by `skim` in small bites. */
static bool cta(struct trace_input *t, const struct feed_kernel *k, uint32_t id, bool skim, struct read *r,
                struct err *e) {
  struct issued out = {0};
  bool good = t->ops->open_cta(t, 0, id, e);
  if (!good) return false;
  uint32_t steps = 0;
  for (uint32_t w = 0; good && w < k->warps_per_cta; w++) {
    do {
      out.bar_id = FEED_NO_BARRIER;
      out.waits = false;
      good = skim ? t->ops->skim(t, 0, w, 1 + id % 3 * 40, &out, &r->n, e) : t->ops->step(t, 0, w, &out, e);
      if (!good) break;
      if (out.next_pc != FEED_DONE && out.next_pc >= k->insts) abort();
      r->hash = hash_u64(r->hash ^ out.next_pc ^ out.bar_id);
      if (skim) continue;
      if (out.mask & ~out.active) abort();
      r->n.warp_insts++;
      r->n.thread_insts += (uint32_t)__builtin_popcount(out.mask);
      r->hash = hash_u64(r->hash ^ out.mask);
      for (uint32_t m = out.mask; m; m &= m - 1) r->hash += out.addr[__builtin_ctz(m)];
    } while (out.next_pc != FEED_DONE && ++steps < MAX_STEPS);
    good &= out.next_pc == FEED_DONE;
  }
  t->ops->close_cta(t, 0);
  return good;
}

static void launch(struct trace_input *t, const struct feed_kernel *k, bool skim, bool backwards, struct read *r,
                   struct err *e) {
  uint32_t n = k->ctas < MAX_CTAS ? k->ctas : MAX_CTAS;
  r->whole &= n == k->ctas;
  for (uint32_t c = 0; c < n && !e->code; c++) r->whole &= cta(t, k, backwards ? n - 1 - c : c, skim, r, e);
}

/* In the order of the file; or, if `backwards`, from the last launch and CTA to the first by seeking. */
static struct read digest(const char *path, bool salvage, bool skim, bool backwards) {
  struct err e = {0};
  struct read r = {.hash = HASH_INIT, .whole = true};
  struct trace_event ev;
  struct trace_input *t = slt_open(path, salvage, &e);
  r.whole = t && !e.code;
  e.code = ERR_NONE;
  uint32_t n = t && t->launches < MAX_LAUNCHES ? t->launches : MAX_LAUNCHES;
  for (uint32_t l = 0; t && !e.code && l < n; l++) {
    if (backwards && !t->ops->seek(t, n - 1 - l, &e)) break;
    do {
      if (!t->ops->next(t, &ev, &e)) break;
    } while (ev.kind == TRACE_COPY);
    if (e.code || ev.kind == TRACE_END) break;
    if (ev.kind == TRACE_LAUNCH && t->ops->begin(t, 1, &e)) launch(t, ev.kernel, skim, backwards, &r, &e);
  }
  r.whole &= !e.code;
  r.hash = hash_bytes(r.hash, e.msg, strlen(e.msg));
  if (t) trace_close(t);
  return r;
}

/* The same twice; what `step` reads to its end `skim` counts alike, in whatever order. */
static void check(const char *path, bool salvage) {
  struct read a = digest(path, salvage, false, false), b = digest(path, salvage, false, false);
  struct read s = digest(path, salvage, true, false), u = digest(path, salvage, true, true);
  if (a.hash != b.hash) abort();
  if (!a.whole) return;
  struct read z = digest(path, salvage, false, true);
  if (!s.whole || !u.whole || !z.whole) abort();
  if (s.n.warp_insts != a.n.warp_insts || s.n.thread_insts != a.n.thread_insts) abort();
  if (u.n.warp_insts != a.n.warp_insts || z.n.thread_insts != a.n.thread_insts) abort();
}

/* As a replay without a timing model does it, barriers and all. */
static void drive(const char *path) {
  struct err e = {0};
  struct trace_event ev;
  struct trace_input *t = slt_open(path, true, &e);
  for (uint32_t l = 0; t && l < MAX_LAUNCHES && t->ops->next(t, &ev, &e) && ev.kind != TRACE_END; l++) {
    if (ev.kind != TRACE_LAUNCH || ev.kernel->ctas > MAX_CTAS) continue;
    struct trace_feed *feed = trace_feed_new(t, ev.kernel, 2, &e);
    if (feed) trace_drive(trace_feed_get(feed), 2, 0, NULL, &e);
    trace_feed_free(feed);
  }
  if (t) trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int fd = memfd_create("trace", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  for (int salvage = 0; salvage < 2; salvage++) check(path, salvage);
  drive(path);
  close(fd);
  return 0;
}
#endif
