/* back_run.h - run the kernel `k` of a PTX text as machine code, or as its PTX is written. */
#ifndef BACK_RUN_H
#define BACK_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "simt/simt.h"

enum { RUN_WORDS = 2048, RUN_THREADS = 64 };

/* RUN_WORDS words that the kernel leaves in `memory`; returns its warp instructions. `sm`: 0 PTX. Parameters: the
 * memory's address and the number 11. */
static uint64_t run(const char *text, uint32_t sm, uint32_t *memory) {
  struct err e = {0};
  struct simt *s = simt_new(1 << 24, &e);
  assert_non_null(s);
  if (sm) simt_back_end(s, sm);
  struct simt_text t = {.ptx = text, .name = "random.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, &e);
  if (!m) fail_msg("%s\n%s", e.msg, text);
  struct simt_kernel *k = simt_find_kernel(m, "k");
  if (sm && simt_machine_refused(k)) fail_msg("stays PTX: %s", simt_machine_refused(k));
  uint64_t at = simt_mem_alloc(s, RUN_WORDS * 4, SIMT_MEM_DEVICE, NULL);
  uint32_t *words = simt_mem_at(s, at, RUN_WORDS * 4);
  for (uint32_t i = 0; i < RUN_WORDS; i++) words[i] = i * 2654435761u;
  struct {
    uint64_t p;
    uint32_t n;
  } params = {at, 11};
  struct simt_launch l = {.kernel = k, .grid = {1, 1, 1}, .block = {RUN_THREADS, 1, 1}, .params = &params};
  struct simt_counts counts = {0};
  struct simt_run *r = simt_begin(s, &l, 1, &e);
  if (!r || !simt_run(r, &counts, &e)) fail_msg("sm_%u: %s\n%s", sm, e.msg, text);
  simt_end(r);
  memcpy(memory, words, RUN_WORDS * 4);
  simt_free(s);
  return counts.warp_insts;
}

/* On machines of these compute capabilities the kernel leaves the memory that its PTX leaves. */
__attribute__((unused)) static void same_memory_on(const char *text, const uint32_t *machines, uint32_t n) {
  static uint32_t want[RUN_WORDS], got[RUN_WORDS];
  run(text, 0, want);
  for (uint32_t i = 0; i < n; i++) {
    run(text, machines[i], got);
    if (memcmp(want, got, sizeof want)) fail_msg("sm_%u leaves another memory:\n%s", machines[i], text);
  }
}

/* Instructions of the kernel's machine code with this name or of this class. */
__attribute__((unused)) static uint32_t instructions(const char *text, uint32_t sm, const char *what) {
  struct err e = {0};
  struct simt *s = simt_new(1 << 24, &e);
  assert_non_null(s);
  simt_back_end(s, sm);
  struct simt_text t = {.ptx = text, .name = "written.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  struct simt_machine at;
  uint32_t n = 0;
  for (uint32_t i = 0; simt_machine_at(simt_find_kernel(m, "k"), i, &at); i++)
    n += !strcmp(at.name, what) || !strcmp(at.cls, what);
  simt_free(s);
  return n;
}

#endif
