/* config.c - libFuzzer target: any text as the configuration of a GPU, the same twice; what loads is the same machine
 * when its knobs are set one by one.
 *
 * Build, with the reader instrumented and the simulator as it is:
 *   make lib && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/config.c \
 *     src/gpu/common/config.c src/base/{input,paths}.c -Lbuild/lib -lsluice-core -Wl,-rpath,$PWD/build/lib -lyaml -lm -o config
 * Run: SLUICE_DATA=$PWD/build/share/sluice ./config found fuzz/corpus/config
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "gpu/common/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_one(void *ctx, const char *key, const char *value, const char *unit, const char *doc) {
  struct err e = {0};
  (void)unit, (void)doc;
  if (!gpu_config_set(ctx, key, value, "fuzz", &e)) abort();
}

static uint64_t digest(const char *path) {
  struct err e = {0};
  struct gpu_config c, again;
  if (!gpu_config_load(&c, path, &e)) {
    if (!e.code || !*e.msg) abort();
    return hash_bytes(HASH_INIT, e.msg, strlen(e.msg));
  }
  gpu_config_defaults(&again);
  gpu_config_each(&c, set_one, &again);
  if (gpu_config_hash(&again) != gpu_config_hash(&c) || !gpu_config_check(&again, &e)) abort();
  return gpu_config_hash(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int fd = memfd_create("config", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (digest(path) != digest(path)) abort();
  close(fd);
  return 0;
}
