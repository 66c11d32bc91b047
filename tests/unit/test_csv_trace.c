/* test_csv_trace.c - address-only traces: fields in any order, addresses in every form, lines across blocks; and the
 * caches without time that they feed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/hitrate.h"
#include "trace/csv_trace.h"

static char path[64];

static struct csv_trace *with_text(const char *text) {
  struct err e = {0};
  FILE *f = fopen(path, "wb");
  fputs(text, f);
  fclose(f);
  struct csv_trace *t = csv_open(path, &e);
  if (!t) fail_msg("%s", e.msg);
  return t;
}

static void fields(void **state) {
  (void)state;
  struct err e = {0};
  struct csv_access a;
  struct csv_trace *t = with_text("# by hand\n\nMask, op,addresses,kernel ,cta,note,bytes,pc\r\n"
                                  "5,load, 0x10 32 ,k,7,anything,8,0x48\r\n# again\n"
                                  "0x80000001,st,0x1000+-\n");
  assert_int_equal(csv_next(t, &a, &e), 1);
  assert_true(a.first && a.cta == 7 && a.mask == 5 && a.width == 8 && a.pc == 0x48 && a.kind == KIND_LOAD);
  assert_string_equal(a.kernel, "k");
  assert_true(a.addr[0] == 16 && a.addr[2] == 32);
  assert_int_equal(csv_next(t, &a, &e), -1);
  assert_non_null(strstr(e.msg, ":6: expected"));
  csv_close(t);
  t = with_text("cta,addresses,op\n1,0x1000+8,atomic\n1,64-32,w\n2,1 2 3,r");
  assert_int_equal(csv_next(t, &a, &e), 1);
  assert_true(a.mask == UINT32_MAX && a.addr[31] == 0x1000 + 31 * 8 && a.kind == KIND_ATOM && a.first);
  assert_int_equal(csv_next(t, &a, &e), 1);
  assert_true(a.addr[2] == 0 && a.kind == KIND_STORE && !a.first);
  assert_int_equal(csv_next(t, &a, &e), 1); /* a last line without its end */
  assert_true(a.mask == 7 && a.addr[2] == 3 && a.width == 4);
  assert_int_equal(csv_next(t, &a, &e), 0);
  csv_close(t);
}

/* More text than one block: every line arrives whole. */
static void blocks(void **state) {
  (void)state;
  enum { LINES = 150000 };
  struct err e = {0};
  struct csv_access a;
  FILE *f = fopen(path, "wb");
  fputs("kernel,cta,addresses\n", f);
  for (int i = 0; i < LINES; i++) fprintf(f, "k%d,%d,0x%x %d\n", i / 50000, i, i * 7, i * 3);
  fclose(f);
  struct csv_trace *t = csv_open(path, &e);
  uint32_t kernels = 0;
  for (uint32_t i = 0; i < LINES; i++) {
    assert_int_equal(csv_next(t, &a, &e), 1);
    assert_true(a.cta == i && a.mask == 3 && a.addr[0] == i * 7 && a.addr[1] == i * 3);
    kernels += a.first;
  }
  assert_int_equal(csv_next(t, &a, &e), 0);
  assert_int_equal(kernels, 3);
  csv_close(t);
}

static void load(struct hitrate *h, uint32_t cta, uint64_t addr) {
  hitrate_access(h, cta, KIND_LOAD, 4, 1, &addr);
}

/* Fermi: 32 sets of 4 ways of 128 B, set = line bits 0-4 with address bits 13, 14, 15, 17, 19. */
static void caches(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  struct hitrate *h = hitrate_new(&c, false, &e);
  uint64_t base = 0xC0000000, lanes[32];
  for (int i = 0; i < 32; i++) lanes[i] = base + 4 * (uint64_t)i;
  hitrate_kernel(h);
  hitrate_access(h, 0, KIND_LOAD, 4, UINT32_MAX, lanes); /* one line */
  load(h, 0, base + 64);                                 /* hits it */
  load(h, 1, base + 64);                                 /* another SM: its L1 misses, the L2 hits */
  struct hitrate_counts n = hitrate_take(h);
  assert_true(n.insts == 3 && n.lanes == 34 && n.loads == 3 && n.l1_hits == 1);
  assert_true(n.l2_accesses == 2 && n.l2_hits == 1 && n.dram_reads == 1 && n.dram_writes == 0);
  /* Four more lines of set 0 push the first one out: 1 << 20 changes none of the hashed bits. */
  for (uint64_t i = 1; i <= 4; i++) load(h, 0, base + (i << 20));
  load(h, 0, base);
  load(h, 0, base + (4ull << 20));
  n = hitrate_take(h);
  assert_true(n.loads == 6 && n.l1_hits == 1 && n.l2_accesses == 5 && n.l2_hits == 1);
  /* A store evicts from the L1; the L2 keeps it. */
  uint64_t a = base;
  hitrate_access(h, 0, KIND_STORE, 4, 1, &a);
  load(h, 0, base);
  n = hitrate_take(h);
  assert_true(n.stores == 1 && n.loads == 1 && n.l1_hits == 0 && n.l2_hits == 2);
  /* An access over the end of a line is two; a kernel empties the L1s. */
  hitrate_kernel(h);
  a = base + 124;
  hitrate_access(h, 0, KIND_LOAD, 8, 1, &a);
  n = hitrate_take(h);
  assert_true(n.loads == 2 && n.l1_hits == 0 && n.l2_hits == 1);
  /* At the end of the address space. */
  a = UINT64_MAX - 1;
  hitrate_access(h, 0, KIND_ATOM, 4, 1, &a);
  n = hitrate_take(h);
  assert_int_equal(n.atomics, 2);
  hitrate_free(h);
}

/* As volta and later: sectors of 32 B in both caches. Computed by hand. */
static void sectors(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.l2_org = L2_SECTORS;
  c.dram_bus_bytes = 4, c.dram_chips = 1, c.dram_burst = 8; /* a burst is a sector */
  struct hitrate *h = hitrate_new(&c, true, &e);
  uint64_t base = 0xC0000000, a = base, lanes[32];
  hitrate_kernel(h);
  load(h, 0, base);      /* sector 0: misses both */
  load(h, 0, base + 28); /* there */
  load(h, 0, base + 32); /* sector 1: the line is there, the sector is not */
  struct hitrate_counts n = hitrate_take(h);
  assert_true(n.loads == 3 && n.l1_hits == 1 && n.l1_partial == 1);
  assert_true(n.l2_accesses == 2 && n.l2_hits == 0 && n.l2_partial == 1 && n.dram_reads == 2 &&
              n.dram_read_bytes == 64);
  /* A warp that touches sectors 0 to 3 is one access and requests only 2 and 3. */
  for (int i = 0; i < 32; i++) lanes[i] = base + 4 * (uint64_t)i;
  hitrate_access(h, 0, KIND_LOAD, 4, UINT32_MAX, lanes);
  n = hitrate_take(h);
  assert_true(n.loads == 1 && n.l1_partial == 1 && n.l2_accesses == 1 && n.dram_read_bytes == 64);
  /* A store evicts its sector from the L1 and nothing else. */
  hitrate_access(h, 0, KIND_STORE, 4, 1, &a);
  load(h, 0, base + 32);
  load(h, 0, base);
  n = hitrate_take(h);
  assert_true(n.stores == 1 && n.l1_hits == 1 && n.l1_partial == 1 && n.l2_accesses == 2 && n.l2_hits == 2);
  assert_true(n.dram_read_bytes == 0);
  /* A store to a line that is nowhere fetches nothing; of a sector that it covers in part a load fetches the rest, one
   * that it covers is there. */
  a = base + 4096;
  for (int i = 0; i < 32; i++) lanes[i] = a + 4 * (uint64_t)i;
  hitrate_access(h, 0, KIND_STORE, 4, 0x1ff, lanes); /* sector 0, and 4 B of sector 1 */
  n = hitrate_take(h);
  assert_true(n.l2_accesses == 1 && n.l2_hits == 0 && n.dram_reads == 0 && n.dram_read_bytes == 0);
  load(h, 0, a);
  load(h, 0, a + 36);
  n = hitrate_take(h);
  assert_true(n.l2_hits == 1 && n.l2_partial == 1 && n.dram_reads == 1 && n.dram_read_bytes == 32);
  /* Other lines of its set push it out of the L2: the two sectors that were written go to DRAM. */
  for (uint64_t i = 1; i <= 64; i++) load(h, 0, a + (i << 20));
  n = hitrate_take(h);
  assert_true(n.dram_writes == 1 && n.dram_write_bytes == 64);
  hitrate_free(h);
}

static int set_up(void **state) {
  (void)state;
  strcpy(path, "/tmp/sluice-csv-XXXXXX");
  int fd = mkstemp(path);
  return fd < 0 || close(fd);
}
static int tear_down(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fields), cmocka_unit_test(blocks), cmocka_unit_test(caches),
                                     cmocka_unit_test(sectors)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
