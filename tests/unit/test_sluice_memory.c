/* test_sluice_memory.c - every allocation of a call of the library fails once: the error comes back, nothing is used
 * after it, and nothing of Sluice leaks (checked by the sanitizers).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sluice.h>

#include "api/memory.h"

/* What other libraries hold when a call ends in their middle (memory.h). */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
  return "leak:libjansson\nleak:tsearch\nleak:_IO_mem_finish\nleak:open_memstream\n";
}

static const char ptx[] = ".version 3.1\n.target sm_20\n.address_size 64\n"
                          ".visible .entry fill(.param .u64 out)\n{\n"
                          "  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n  .shared .align 4 .b8 s[64];\n"
                          "  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd1, %r1, 4;\n"
                          "  ld.param.u64 %rd2, [out];\n  add.s64 %rd2, %rd2, %rd1;\n"
                          "  st.global.u32 [%rd2], %r1;\n  ret;\n}\n";

/* A machine with a bit of everything, and few SMs. */
static const char *const options[] = {"gpu=volta",        "sms=2",      "memory.channels=2",
                                      "memory.size_mb=1", "detail=yes", "lines=yes",
                                      "characterise=yes", "scheme=swl", NULL};

static void opening(void **state) {
  (void)state;
  size_t n = 1;
  for (;; n++) {
    struct sluice_session *s = NULL;
    struct sluice_error e = {0};
    memory_fails_at = n;
    int status = sluice_open(options, &s, &e);
    bool over = memory_fails_at != 0;
    memory_fails_at = 0;
    if (status == SLUICE_OK) sluice_close(s);
    else if (status != SLUICE_NO_MEMORY || s || !strstr(e.message, "memory"))
      fail_msg("%zu: %d %s", n, status, e.message);
    if (over) break;
  }
  assert_true(n > 100);
}

/* All that a program does; the first error that it meets. */
static int work(struct sluice_session *s, struct sluice_error *e) {
  struct sluice_module *m;
  struct sluice_kernel *k;
  uint64_t out;
  uint32_t words[64];
  const char *json;
  int status = sluice_load(s, ptx, "fill.ptx", &m, e);
  if (!status) status = sluice_find_kernel(s, m, "fill", &k, e);
  if (!status) status = sluice_alloc(s, sizeof words, "out", &out, e);
  const void *arguments[] = {&out};
  const struct sluice_launch l = {
      .size = sizeof l, .block = {64}, .argument_count = 1, .arguments = arguments, .shared_bytes = 16};
  if (!status) status = sluice_launch(s, k, &l, e);
  if (!status) status = sluice_read(s, words, out, sizeof words, e);
  if (!status) status = sluice_record(s, &json, e);
  if (!status) assert_int_equal(words[63], 63);
  return status;
}

static void working(void **state) {
  (void)state;
  size_t n = 1, broken = 0;
  for (;; n++) {
    struct sluice_session *s = NULL;
    struct sluice_error e = {0}, again = {0};
    assert_int_equal(sluice_open(options, &s, NULL), SLUICE_OK);
    memory_fails_at = n;
    int status = work(s, &e);
    bool over = memory_fails_at != 0;
    memory_fails_at = 0;
    if (status != SLUICE_OK && status != SLUICE_NO_MEMORY) fail_msg("%zu: %d %s", n, status, e.message);
    int second = work(s, &again);
    if (second) {
      broken++;
      assert_int_equal(second, SLUICE_NO_MEMORY);
      assert_string_equal(again.message, e.message);
    }
    sluice_close(s);
    if (over) break;
  }
  assert_true(broken > 20);
}

static void caching(void **state) {
  (void)state;
  for (size_t n = 1;; n++) {
    struct sluice_cache *c = NULL;
    struct sluice_error e = {0};
    int status, outcome, any;
    memory_fails_at = n;
    status = sluice_cache_open(NULL, &c, &e);
    struct sluice_access a = {.size = sizeof a, .bytes = 4};
    struct sluice_request r = {.size = sizeof r};
    for (int i = 0; !status && i < 20; i++) {
      a.address += 128;
      status = sluice_cache_access(c, &a, &outcome, &e);
      if (!status) status = sluice_cache_next(c, &r, &any, &e);
    }
    bool over = memory_fails_at != 0;
    memory_fails_at = 0;
    if (over) assert_int_equal(status, SLUICE_OK);
    else assert_int_equal(status, SLUICE_NO_MEMORY);
    sluice_cache_close(c);
    if (!over) continue;
    assert_true(n > 10);
    return;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(opening),
      cmocka_unit_test(working),
      cmocka_unit_test(caching),
  };
  /* Configurations lie beside the folder of tests. */
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
  if (n < 0) return 2;
  path[n] = 0;
  strcpy(strrchr(path, '/'), "/../share/sluice");
  setenv("SLUICE_DATA", path, 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
