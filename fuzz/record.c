/* record.c - libFuzzer target: any text as a result record: every query, with the same result twice; writing and
 * reading it changes nothing.
 *
 * Build, with the readers instrumented and the simulator as it is:
 *   make lib && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/record.c \
 *     src/results/{record_read,record,derived}.c src/base/input.c -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib \
 *     -ljansson -lm -o record
 * Run: ./record found fuzz/corpus/record
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "results/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t note(uint64_t h, const char *s) {
  return s ? hash_bytes(h, s, strlen(s)) : hash_u64(h);
}

static uint64_t ask(const struct record_file *f) {
  static const char *const keys[] = {"cycles", "ipc", "l1_hit_rate", "dram_reads", "bucl.bypassed_loads"};
  size_t n = record_kernels(f);
  uint64_t h = note(note(HASH_INIT, record_field(f, "scheme")), record_field(f, "config_hash"));
  for (size_t i = 0; i <= n && i < 64; i++) {
    size_t k = i == n ? RECORD_TOTALS : i;
    struct gpu_stats s;
    record_stats(f, k, &s);
    h = hash_bytes(h, &s, sizeof s);
    if (i < n) h = note(h, record_kernel_name(f, k));
    for (size_t j = 0; j < sizeof keys / sizeof *keys; j++) {
      double v = 0;
      if (record_value(f, k, keys[j], &v)) h = hash_bytes(h, &v, sizeof v);
    }
  }
  struct record_strays o = record_strays(f);
  h = hash_bytes(h, &o, sizeof o);
  return h ^ record_findings(f) ^ json_array_size(record_entries(f));
}

static uint64_t digest(const char *path) {
  struct err e = {0};
  struct record_file *f = record_open(path, &e);
  uint64_t h = f ? ask(f) : note(HASH_INIT, e.msg);
  if (!f && (!e.code || !*e.msg)) abort();
  record_close(f);
  return h;
}

static json_t *through(const json_t *document) {
  char path[64];
  struct err e = {0};
  snprintf(path, sizeof path, "/dev/shm/sluice-fuzz-%d.json", (int)getpid());
  if (!record_write_json(document, path, &e)) abort();
  json_t *again = record_document(path, &e);
  if (!again && !strstr(e.msg, "real number overflow")) abort(); /* the largest double, rounded */
  unlink(path);
  return again;
}

/* Records have ten digits: what was written once is the same document from then on. */
static void write_again(const char *path) {
  struct err e = {0};
  json_t *was = record_document(path, &e);
  json_t *once = was ? through(was) : NULL, *twice = once ? through(once) : NULL;
  if (once && !json_equal(once, twice)) abort();
  json_decref(twice);
  json_decref(once);
  json_decref(was);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int fd = memfd_create("record", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (digest(path) != digest(path)) abort();
  write_again(path);
  close(fd);
  return 0;
}
