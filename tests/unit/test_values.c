/* test_values.c - values of memory for the timing model: what a feed says of a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "simt/simt.h"

#define TEXT                                                                                                           \
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 " \
  "%d<4>;\n"                                                                                                           \
  "ld.param.u64 %d1, [out];\nmov.u32 %r1, 77;\nst.global.u32 [%d1+8], %r1;\nret;\n}\n"

struct machine {
  struct simt *s;
  struct simt_run *r;
  const struct feed *f;
  uint64_t a, b; /* allocations of 100 and 60 bytes of fives and sevens */
};

static void open_machine(struct machine *m) {
  struct err e = {0};
  struct simt_text t = {.ptx = TEXT, .name = "test.ptx"};
  m->s = simt_new(1 << 26, &e);
  struct simt_module *module = m->s ? simt_load(m->s, &t, 1, &e) : NULL;
  if (!module) fail_msg("%s", e.msg);
  m->a = simt_mem_alloc(m->s, 100, SIMT_MEM_DEVICE, "a");
  m->b = simt_mem_alloc(m->s, 60, SIMT_MEM_DEVICE, "b");
  assert_true(m->b > m->a && m->b - m->a < 400);
  memset(simt_mem_at(m->s, m->a, 100), 5, 100);
  memset(simt_mem_at(m->s, m->b, 60), 7, 60);
  struct simt_launch l = {
      .kernel = simt_find_kernel(module, "k"), .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = &m->a};
  m->r = simt_begin(m->s, &l, 1, &e);
  if (!m->r) fail_msg("%s", e.msg);
  m->f = simt_feed(m->r);
}

static void close_machine(struct machine *m) {
  simt_end(m->r);
  simt_free(m->s);
}

/* Bytes of both allocations, and nothing between and behind them. */
static void lines_of_memory(void **state) {
  struct machine m;
  uint8_t is[512], be[512] = {0}, part[40];
  (void)state;
  open_machine(&m);
  memset(be, 5, 100);
  memset(be + (m.b - m.a), 7, 60);
  assert_true(m.f->ops->data(m.f->ctx, m.a, sizeof is, is));
  assert_memory_equal(is, be, sizeof is);
  assert_true(m.f->ops->data(m.f->ctx, m.a + 80, sizeof part, part));
  assert_memory_equal(part, be + 80, sizeof part);
  memset(be, 0, sizeof be);
  assert_true(m.f->ops->data(m.f->ctx, 1, sizeof is, is));
  assert_memory_equal(is, be, sizeof is);
  close_machine(&m);
}

/* A store has been executed when it is issued. */
static void stores_are_there(void **state) {
  struct machine m;
  struct issued out = {0};
  uint32_t line[32];
  (void)state;
  open_machine(&m);
  m.f->ops->start_cta(m.f->ctx, 0, 0, 0, 0);
  while (out.next_pc != FEED_DONE) assert_true(m.f->ops->issue(m.f->ctx, 0, 0, &out));
  assert_true(m.f->ops->data(m.f->ctx, m.a, sizeof line, line));
  assert_int_equal(line[1], 0x05050505);
  assert_int_equal(line[2], 77);
  m.f->ops->end_cta(m.f->ctx, 0);
  close_machine(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_memory), cmocka_unit_test(stores_are_there)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
