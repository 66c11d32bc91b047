/* csv.c - libFuzzer target: any text as an address-only trace, its accesses through the caches without time, with
 * whole lines and with sectors; the same result twice.
 *
 * Build, with a library that is instrumented:
 *   make B=build/fuzz CC=clang-14 SANITIZE=address,undefined lib && \
 *   clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/csv.c -Lbuild/fuzz/lib -lsluice-core \
 *     -Wl,-rpath,$PWD/build/fuzz/lib -o csv
 * Run: ./csv fuzz/corpus/csv
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "model/hitrate.h"
#include "trace/csv_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t digest(const char *path, bool sectors) {
  struct err e = {0};
  struct gpu_config c;
  struct csv_access a;
  gpu_config_defaults(&c);
  if (sectors) c.l2_org = L2_SECTORS;
  struct csv_trace *t = csv_open(path, &e);
  struct hitrate *h = t ? hitrate_new(&c, sectors, &e) : NULL;
  while (t && csv_next(t, &a, &e) == 1) {
    if (a.first) hitrate_kernel(h);
    hitrate_access(h, a.cta, a.kind, a.width, a.mask, a.addr);
  }
  struct hitrate_counts n = {0};
  if (h) n = hitrate_take(h);
  if (n.l1_hits + n.l1_partial > n.loads || n.l2_hits + n.l2_partial > n.l2_accesses) abort();
  if (sectors ? n.dram_reads > n.l2_accesses - n.l2_hits : n.dram_reads != n.l2_accesses - n.l2_hits) abort();
  hitrate_free(h);
  csv_close(t);
  return hash_bytes(hash_bytes(HASH_INIT, &n, sizeof n), e.msg, strlen(e.msg));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int fd = memfd_create("csv", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  for (int sectors = 0; sectors < 2; sectors++)
    if (digest(path, sectors) != digest(path, sectors)) abort();
  close(fd);
  return 0;
}
