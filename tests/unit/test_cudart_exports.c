/* test_cudart_exports.c - the table of calls and the libraries agree: every row is exported by the three runtime
 * libraries, everything they export has a row, and no library needs an undefined symbol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

static const char *const rows[] = {
#define CUDA_GROUP(title)
#define CUDA_CALL(name, doc) #name,
#define CUDA_LIMITED(name, doc) #name,
#define CUDA_ANSWER(name, doc) #name,
#define CUDA_REFUSED(name, doc) #name,
#include "cudart/core/calls.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* Gone from CUDA 13, whose unsuffixed names have the new signatures. */
static const char *const until_12[] = {"cudaMemPrefetchAsync_v2", "cudaMemAdvise_v2", "cudaStreamGetCaptureInfo_v2"};

static bool in(const char *name, size_t len, const char *const *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strlen(list[i]) == len && strncmp(list[i], name, len) == 0) return true;
  return false;
}

static void library(char *out, const char *soname) {
  char self[PATH_MAX] = "";
  assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  snprintf(out, PATH_MAX, "%.3000s/../lib/%s", dirname(self), soname);
}

static void check(const char *soname, bool is_13) {
  char path[PATH_MAX], command[PATH_MAX + 64], line[512];
  library(path, soname);
  void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!lib) fail_msg("%s", dlerror());
  for (size_t i = 0; i < ROWS; i++) {
    if (is_13 && in(rows[i], strlen(rows[i]), until_12, 3)) continue;
    if (!dlsym(lib, rows[i])) fail_msg("%s has no %s", soname, rows[i]);
  }
  snprintf(command, sizeof command, "nm -D --defined-only '%s'", path);
  FILE *nm = popen(command, "r");
  assert_non_null(nm);
  size_t seen = 0;
  while (fgets(line, sizeof line, nm)) {
    char kind, name[256];
    if (sscanf(line, "%*x %c %255[^@\n]", &kind, name) != 2 || kind != 'T') continue;
    seen++;
    size_t len = strlen(name);
    if (in(name, len, rows, ROWS)) continue;
    static const char *const suffixes[] = {"_ptsz", "_ptds", "_v2", "_v5050", "_v3", "_v2_ptsz", "_v3_ptsz"};
    bool known = false;
    for (size_t s = 0; s < sizeof suffixes / sizeof *suffixes; s++) {
      size_t tail = strlen(suffixes[s]);
      known |= len > tail && strcmp(name + len - tail, suffixes[s]) == 0 && in(name, len - tail, rows, ROWS);
    }
    if (!known) fail_msg("%s exports %s, which has no row in calls.def", soname, name);
  }
  assert_int_equal(pclose(nm), 0);
  assert_true(seen >= ROWS - 3);
}

static void runtime_9_and_10(void **state) {
  (void)state;
  check("libcudart.so.9.0", false);
  check("libcudart.so.10.1", false);
}

static void runtime_11(void **state) {
  (void)state;
  check("libcudart.so.11.0", false);
}

static void runtime_12(void **state) {
  (void)state;
  check("libcudart.so.12", false);
}

static void runtime_13(void **state) {
  (void)state;
  check("libcudart.so.13", true);
}

static void driver(void **state) {
  (void)state;
  char path[PATH_MAX];
  library(path, "libcuda.so.1");
  void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!lib) fail_msg("%s", dlerror());
  assert_non_null(dlsym(lib, "cuLaunchKernel"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(runtime_9_and_10), cmocka_unit_test(runtime_11),
                                     cmocka_unit_test(runtime_12), cmocka_unit_test(runtime_13),
                                     cmocka_unit_test(driver)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
