/* accel.c - libFuzzer target: any bytes as an Accel-Sim kernel file. The first byte chooses the packing: .traceg,
 * .traceg.xz, .tracez, or a kernelslist.g. What can be read is run to its end, CTA by CTA.
 *
 * Build: clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/accel.c \
 *   src/trace/accel/*.c src/trace/common/order.c src/trace/trace_feed.c src/base/{arena,err,input,output,paths}.c -lzstd -llzma
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/accel/accel.h"
#include "trace/trace_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"k.traceg", "k.traceg.xz", "k.tracez", "kernelslist.g"};
  char path[64];
  if (!size) return 0;
  snprintf(path, sizeof path, "/dev/shm/fuzz-%d-%s", (int)getpid(), names[*data & 3]);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(data + 1, 1, size - 1, f) != size - 1) abort();
  fclose(f);
  struct err e = {0};
  struct trace_event ev;
  struct trace_input *t = accel_open(path, &e);
  while (t && t->ops->next(t, &ev, &e) && ev.kind != TRACE_END) {
    if (ev.kind != TRACE_LAUNCH || ev.kernel->ctas > 64) continue;
    struct trace_feed *feed = trace_feed_new(t, ev.kernel, 2, &e);
    if (feed) trace_drive(trace_feed_get(feed), 2, 0, NULL, &e);
    trace_feed_free(feed);
  }
  if (t) t->ops->close(t);
  unlink(path);
  return 0;
}
