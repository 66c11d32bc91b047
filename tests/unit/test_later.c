/* test_later.c - SMs that run ahead of each other: whatever the order in which the host steps them, a load gives what
 * the stores and atomics of earlier cycles, and of SMs before it in its cycle, have left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "simt/core/machine.h"
#include "simt/simt.h"

enum { SMS = 6, THREADS = 2, CYCLES = 5, ROUNDS = 400 };

/* A CTA of one warp stores its number plus 100 to a word that several CTAs share, loads that word, and puts what it
 * got into a word of its own. */
#define KERNEL(store, load)                                                                                  \
  ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>;\n" \
  ".reg .b64 %d<8>;\nld.param.u64 %d0, [out];\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r4, %tid.x;\nand.b32 %r1, "  \
  "%r0, 1;\nmul.wide.u32 %d1, %r1, 32;\nadd.u64 %d1, %d0, %d1;\nmul.wide.u32 %d2, %r0, 4;\nadd.u64 %d2, "    \
  "%d0, %d2;\nadd.u32 %r2, %r0, 100;\n" store " [%d1], %r2;\n" load " %r3, [%d1];\nst.global.u32 "           \
  "[%d2+128], %r3;\nret;\n}\n"

struct rig {
  struct simt *s;
  struct simt_run *r;
  const struct feed *feed, *share[THREADS];
  uint64_t now[THREADS];
  uint32_t *out, pc[SMS];
};

static void set_up(struct rig *q, const char *text) {
  struct err e = {0};
  q->s = simt_new(1 << 22, &e);
  struct simt_module *m = simt_load(q->s, &(struct simt_text){.ptx = text, .name = "test.ptx"}, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  uint64_t out = simt_mem_alloc(q->s, 1024, SIMT_MEM_DEVICE, "out");
  q->out = simt_mem_at(q->s, out, 1024);
  memset(q->out, 0, 1024);
  struct simt_launch l = {.kernel = simt_find_kernel(m, "k"), .grid = {SMS, 1, 1}, .block = {1, 1, 1}, .params = &out};
  q->r = simt_begin(q->s, &l, SMS, &e);
  q->feed = simt_feed(q->r);
  const uint64_t *now[THREADS] = {&q->now[0], &q->now[1]};
  assert_true(q->feed->ops->share(q->feed->ctx, THREADS, now, q->share));
  for (uint32_t i = 0; i < SMS; i++) {
    const struct feed *f = q->share[i % THREADS];
    f->ops->start_cta(f->ctx, i, i, i, 0);
    q->pc[i] = q->feed->kernel->entry_pc;
  }
}

static void tear_down(struct rig *q) {
  simt_end(q->r);
  simt_free(q->s);
}

static uint32_t issue(struct rig *q, uint32_t sm) {
  const struct feed *f = q->share[sm % THREADS];
  struct issued is;
  assert_true(f->ops->issue(f->ctx, sm, 0, &is));
  q->pc[sm] = is.next_pc;
  return is.token;
}

static enum inst_kind next_kind(const struct rig *q, uint32_t sm) {
  return q->feed->kernel->code[q->pc[sm]].kind;
}

static void issue_up_to(struct rig *q, uint32_t sm, enum inst_kind kind) {
  while (next_kind(q, sm) != kind) issue(q, sm);
}

/* When an SM stores and loads, and the cycle from which the machine steps it. */
struct plan {
  uint32_t store, load, stops;
};

/* An atomic that nothing waits for takes the place of the store. */
static void issue_posted(struct rig *q, uint32_t sm) {
  const struct feed *f = q->share[sm % THREADS];
  uint32_t token = issue(q, sm);
  if (token) assert_true(f->ops->posted(f->ctx, token, 1));
}

static void step(struct rig *q, const struct plan *p, uint32_t sm, uint32_t cycle) {
  q->now[sm % THREADS] = 40 + cycle;
  if (p[sm].store == cycle) issue_posted(q, sm);
  if (p[sm].load == cycle) issue(q, sm);
}

/* What SMs find and leave, one after the other in the order of cycles and SMs. */
static void in_turn(const struct plan *p, bool adds, uint32_t *found, uint32_t *word) {
  for (uint32_t c = 0; c < CYCLES; c++)
    for (uint32_t i = 0; i < SMS; i++) {
      if (p[i].store == c) word[i % 2] = adds ? word[i % 2] + 100 + i : 100 + i;
      if (p[i].load == c) found[i] = word[i % 2];
    }
}

static void in_any_order(const char *text, enum inst_kind kind) {
  uint32_t differ = 0;
  srand(7);
  for (uint32_t k = 0; k < ROUNDS; k++) {
    struct rig q = {0};
    struct plan p[SMS];
    uint32_t found[SMS] = {0}, word[2] = {0, 0};
    set_up(&q, text);
    for (uint32_t i = 0; i < SMS; i++) {
      issue_up_to(&q, i, kind);
      p[i].store = (uint32_t)rand() % CYCLES;
      p[i].load = p[i].store + (uint32_t)rand() % (CYCLES - p[i].store);
      p[i].stops = rand() % 3 ? CYCLES : (uint32_t)rand() % CYCLES;
    }
    q.feed->ops->window(q.feed->ctx, true);
    for (uint32_t t = THREADS; t-- > 0;)
      for (uint32_t i = t; i < SMS; i += THREADS)
        for (uint32_t c = 0; c < p[i].stops; c++) step(&q, p, i, c);
    assert_int_equal(q.out[0] | q.out[8], 0); /* no store yet */
    for (uint32_t c = 0; c < CYCLES; c++) {
      for (uint32_t i = 0; i < SMS; i++)
        if (c >= p[i].stops) step(&q, p, i, c);
      q.feed->ops->settle(q.feed->ctx, 40 + c);
    }
    q.feed->ops->window(q.feed->ctx, false);
    for (uint32_t i = 0; i < SMS; i++) issue(&q, i);
    in_turn(p, kind == KIND_ATOM, found, word);
    for (uint32_t i = 0; i < SMS; i++) {
      assert_int_equal(q.out[32 + i], found[i]);
      differ += found[i] != 100 + i;
    }
    assert_true(q.out[0] == word[0] && q.out[8] == word[1]);
    tear_down(&q);
  }
  assert_true(differ > ROUNDS / 2); /* loads that found what another SM had stored */
}

static void loads_find_what_is_stored(void **state) {
  (void)state;
  in_any_order(KERNEL("st.global.u32", "ld.global.u32"), KIND_STORE);
}

static void loads_find_what_is_posted(void **state) {
  (void)state;
  in_any_order(KERNEL("red.global.add.u32", "ld.global.u32"), KIND_ATOM);
}

/* An atomic of an earlier cycle, performed by the machine while the SMs' loads have been issued already. */
static void loads_find_atomics(void **state) {
  (void)state;
  struct rig q = {0};
  uint32_t token[SMS];
  set_up(&q, KERNEL("red.global.add.u32", "ld.global.u32"));
  for (uint32_t i = 0; i < SMS; i++) {
    issue_up_to(&q, i, KIND_ATOM);
    token[i] = issue(&q, i);
    assert_true(token[i]);
  }
  q.feed->ops->window(q.feed->ctx, true);
  for (uint32_t i = 0; i < SMS; i++) q.now[i % THREADS] = 8 + i % 3, issue(&q, i);
  for (uint32_t c = 0; c < 3;
       c++) { /* in cycle c the machine performs the atomics of SMs 2c and 2c + 1, before loads */
    for (uint32_t i = 2 * c; i < 2 * c + 2; i++) {
      const struct feed *f = q.share[i % THREADS];
      assert_true(f->ops->atomic(f->ctx, token[i], 1));
    }
    q.feed->ops->settle(q.feed->ctx, 8 + c);
  }
  q.feed->ops->window(q.feed->ctx, false);
  for (uint32_t i = 0; i < SMS; i++) {
    uint32_t sum = 0;
    issue(&q, i);
    for (uint32_t k = i % 2; k <= 2 * (i % 3) + 1; k += 2) sum += 100 + k;
    assert_int_equal(q.out[32 + i], sum);
  }
  tear_down(&q);
}

/* Outside of windows all is performed at once. */
static void no_window(void **state) {
  (void)state;
  struct rig q = {0};
  set_up(&q, KERNEL("st.global.u32", "ld.global.u32"));
  for (uint32_t i = 0; i < SMS; i++) {
    issue_up_to(&q, i, KIND_STORE);
    issue(&q, i);
    assert_int_equal(q.out[8 * (i % 2)], 100 + i);
  }
  tear_down(&q);
}

/* Textures, and copies to shared memory, do not take part. */
static void kernels_without_order(void **state) {
  static const char *const text =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<8>;\n"
      ".reg .b64 %d<8>;\n.shared .align 16 .b8 sh[64];\nld.param.u64 %d0, [out];\nmov.u32 %r0, sh;\n"
      "cp.async.ca.shared.global [%r0], [%d0], 16;\ncp.async.wait_all;\nret;\n}\n";
  (void)state;
  struct rig q = {0};
  set_up(&q, text);
  assert_null(q.r->written);
  q.feed->ops->window(q.feed->ctx, true);
  q.feed->ops->settle(q.feed->ctx, 1);
  assert_true(q.feed->ops->apart(q.feed->ctx));
  tear_down(&q);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(loads_find_what_is_stored),
                                     cmocka_unit_test(loads_find_what_is_posted), cmocka_unit_test(loads_find_atomics),
                                     cmocka_unit_test(no_window), cmocka_unit_test(kernels_without_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
