/* study.c - libFuzzer target: any text as a study file, and its runs, with the same result twice.
 *
 * Build, with the readers instrumented and the simulator as it is:
 *   make lib && clang-14 -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Isrc fuzz/study.c \
 *     src/study/study_{file,suite,expand,schema,identity}.c src/base/{input,yamltext}.c -Lbuild/lib -lsluice-core \
 *     -Wl,-rpath,$PWD/build/lib -lyaml -ljansson -lmd -lm -o study
 * Run: SLUICE_DATA=$PWD/build/share/sluice ./study found fuzz/corpus/study
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No program is looked for: what a name stands for is not the file's. */
static bool find(const char *program, char *out, size_t size) {
  (void)program;
  return (size_t)snprintf(out, size, "/bin/true") < size;
}

static uint64_t digest(const char *path) {
  struct err e = {0};
  struct study s;
  struct study_runs r = {0};
  uint64_t h = HASH_INIT;
  /* Larger studies are the same code over and over. */
  if (study_load(&s, path, &e) && study_size(&s) < 200 && study_expand(&s, &r, find, &e))
    for (size_t i = 0; i < r.count; i++) h = hash_bytes(h, r.run[i].hash, STUDY_HASH);
  study_free(&s);
  return hash_bytes(h, e.msg, strlen(e.msg));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  int fd = memfd_create("study", 0);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (digest(path) != digest(path)) abort();
  close(fd);
  return 0;
}
