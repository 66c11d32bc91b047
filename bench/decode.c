/* decode.c - speed of the trace decoder alone: every warp of every CTA of a recorded program read through `step`
 * (masks and addresses of all lanes) and through `skim` (counted only), on one core, CPU time. bench/replay builds and
 * runs it; by hand:
 *   cc -O2 -D_GNU_SOURCE -Isrc -o build/decode bench/decode.c -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib
 *   build/decode FILE.slt [REPEATS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "trace/common/input.h"

/* All instructions of the file once; the sum keeps the compiler from removing the work. */
static bool read_all(const char *path, bool skim, struct trace_counts *n, uint64_t *sum, struct err *e) {
  struct trace_input *t = trace_open(path, false, e);
  struct trace_event ev = {0};
  struct issued out = {.bar_id = FEED_NO_BARRIER};
  while (t && t->ops->next(t, &ev, e) && ev.kind != TRACE_END) {
    if (ev.kind != TRACE_LAUNCH) continue;
    if (!t->ops->begin(t, 1, e)) return false;
    for (uint32_t c = 0; c < ev.kernel->ctas; c++) {
      if (!t->ops->open_cta(t, 0, c, e)) return false;
      for (uint32_t w = 0; w < ev.kernel->warps_per_cta; w++) {
        do {
          out.bar_id = FEED_NO_BARRIER;
          if (skim ? !t->ops->skim(t, 0, w, 4096, &out, n, e) : !t->ops->step(t, 0, w, &out, e)) return false;
          if (skim) continue;
          n->warp_insts++;
          *sum += out.mask ^ out.addr[0];
        } while (out.next_pc != FEED_DONE);
      }
      t->ops->close_cta(t, 0);
    }
  }
  trace_close(t);
  return t && ev.kind == TRACE_END;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  struct err e = {0};
  int repeats = argc > 2 ? atoi(argv[2]) : 3;
  if (argc < 2) return fprintf(stderr, "decode FILE.slt [REPEATS]\n"), 2;
  for (int skim = 0; skim < 2; skim++) {
    double best = 1e9;
    struct trace_counts n = {0};
    uint64_t sum = 0;
    for (int k = 0; k < repeats; k++) {
      n = (struct trace_counts){0};
      double start = seconds();
      if (!read_all(argv[1], skim, &n, &sum, &e)) return fprintf(stderr, "%s\n", e.msg), 1;
      double s = seconds() - start;
      if (s < best) best = s;
    }
    printf("%s %llu %.6f %llu\n", skim ? "skim" : "step", (unsigned long long)n.warp_insts, best,
           (unsigned long long)(sum & 1));
  }
  return 0;
}
