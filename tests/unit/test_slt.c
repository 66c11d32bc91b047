/* test_slt.c - the trace format: what is written is read back, in any order of CTAs and warps; damage is found and
 * named; a long warp is read in slices; a trace is a feed like any other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random_trace.h"
#include "trace/slt/slt.h"
#include "trace/slt/slt_write.h"
#include "trace/trace_feed.h"

static char path[64];

static struct rt_feed *record_into(struct slt_writer *w, uint64_t seed, uint32_t ctas, uint32_t threads,
                                   uint32_t length) {
  struct err e = {0};
  struct rt_feed *f = malloc(sizeof *f);
  rt_init(f, seed, ctas, threads, length);
  struct feed *tap = slt_begin(w, &f->feed, RT_SLOTS, &e);
  struct trace_counts n;
  assert_non_null(tap);
  assert_true(trace_drive(tap, RT_SLOTS, 0, &n, &e));
  assert_true(slt_end(w, true, &e));
  return f;
}

static struct rt_feed *record(uint64_t seed, uint32_t ctas, uint32_t threads, uint32_t length) {
  struct err e = {0};
  struct slt_writer *w = slt_create(path, NULL, "prog arg", 70, &e);
  assert_non_null(w);
  struct rt_feed *f = record_into(w, seed, ctas, threads, length);
  assert_true(slt_finish(w, &e));
  return f;
}

static void same_step(const struct issued *a, const struct issued *b, const struct inst *i) {
  assert_int_equal(a->active, b->active);
  assert_int_equal(a->mask, b->mask);
  assert_int_equal(a->next_pc, b->next_pc);
  assert_int_equal(a->bar_id, b->bar_id);
  if (a->bar_id != FEED_NO_BARRIER) {
    assert_int_equal(a->bar_threads, b->bar_threads);
    assert_int_equal(a->waits, b->waits);
  }
  if ((i->kind != KIND_LOAD && i->kind != KIND_STORE && i->kind != KIND_ATOM) || !a->mask) return;
  assert_int_equal(a->space, b->space);
  assert_int_equal(a->width, b->width);
  assert_int_equal(a->token != 0, b->token != 0);
  for (uint32_t m = a->mask; m; m &= m - 1) assert_true(a->addr[__builtin_ctz(m)] == b->addr[__builtin_ctz(m)]);
}

static struct issued blank(void) {
  return (struct issued){.bar_id = FEED_NO_BARRIER};
}

/* Every warp of one CTA against what the feed did. */
static void check_cta(struct trace_input *t, const struct rt_feed *f, uint32_t slot, uint32_t cta) {
  struct err e = {0};
  assert_true(t->ops->open_cta(t, slot, cta, &e));
  for (uint32_t w = 0; w < f->kernel.warps_per_cta; w++) {
    struct rt_warp truth;
    struct issued want, got;
    rt_start_warp(f, &truth, cta, w);
    do {
      uint32_t pc = truth.pc;
      want = got = blank();
      rt_next(f, &truth, &want);
      if (!t->ops->step(t, slot, w, &got, &e)) fail_msg("%s", e.msg);
      same_step(&want, &got, &f->code[pc]);
    } while (want.next_pc != FEED_DONE);
  }
  t->ops->close_cta(t, slot);
}

static struct trace_event launch_of(struct trace_input *t) {
  struct err e = {0};
  struct trace_event ev;
  do
    if (!t->ops->next(t, &ev, &e)) fail_msg("%s", e.msg);
  while (ev.kind == TRACE_COPY);
  return ev;
}

static void round_trip(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    struct err e = {0};
    uint32_t ctas = 1 + (uint32_t)seed * 3;
    struct rt_feed *f = record(seed, ctas, 20 + 40 * (uint32_t)seed, 400);
    struct trace_input *t = trace_open(path, false, &e);
    assert_non_null(t);
    assert_string_equal(t->program, "prog arg");
    assert_int_equal(t->machine, 70);
    assert_int_equal(t->launches, 1);
    struct trace_event ev = launch_of(t);
    const struct feed_kernel *k = ev.kernel;
    assert_int_equal(ev.kind, TRACE_LAUNCH);
    assert_string_equal(k->name, "random");
    assert_int_equal(k->insts, RT_CODE);
    for (uint32_t pc = 0; pc < RT_CODE; pc++) assert_memory_equal(&k->code[pc], &f->code[pc], sizeof *f->code);
    struct feed_kernel other = *k;
    other.name = f->kernel.name, other.code = f->kernel.code, other.files = f->kernel.files;
    assert_memory_equal(&other, &f->kernel, sizeof other);
    assert_true(t->ops->begin(t, 3, &e));
    for (uint32_t c = ctas; c-- > 0;) check_cta(t, f, c % 3, c); /* backwards: seeks */
    assert_int_equal(launch_of(t).kind, TRACE_END);
    trace_close(t);
    free(f);
  }
}

/* Warps of several CTAs in turns, as a machine issues them. */
static void interleaved(void **state) {
  (void)state;
  enum { CTAS = 6, WARPS = 4 };
  struct err e = {0};
  struct rt_feed *f = record(77, CTAS, WARPS * 32, 30000); /* several slices a warp */
  struct rt_warp truth[CTAS][WARPS];
  struct rng r = rng_seed(3);
  struct trace_input *t = trace_open(path, false, &e);
  launch_of(t);
  assert_true(t->ops->begin(t, CTAS, &e));
  uint32_t left = CTAS * WARPS;
  for (uint32_t c = 0; c < CTAS; c++) {
    assert_true(t->ops->open_cta(t, c, c, &e));
    for (uint32_t w = 0; w < WARPS; w++) rt_start_warp(f, &truth[c][w], c, w);
  }
  while (left) {
    uint32_t c = rng_below(&r, CTAS), w = rng_below(&r, WARPS);
    for (uint32_t n = rng_below(&r, 3000); n && truth[c][w].pc != FEED_DONE; n--) {
      struct issued want = blank(), got = blank();
      uint32_t pc = truth[c][w].pc;
      rt_next(f, &truth[c][w], &want);
      if (!t->ops->step(t, c, w, &got, &e)) fail_msg("%s", e.msg);
      same_step(&want, &got, &f->code[pc]);
      left -= want.next_pc == FEED_DONE;
    }
  }
  trace_close(t);
  free(f);
}

/* Skimming a warp counts what stepping shows and stops at the same barriers, beside warps that are stepped. */
static void skimmed(void **state) {
  (void)state;
  struct err e = {0};
  struct rng r = rng_seed(8);
  for (uint64_t seed = 1; seed <= 6; seed++) {
    struct rt_feed *f = record(seed, 3, 128, seed == 6 ? 30000 : 500);
    struct trace_input *t = trace_open(path, false, &e);
    launch_of(t);
    assert_true(t->ops->begin(t, 1, &e));
    for (uint32_t c = 0; c < 3; c++) {
      assert_true(t->ops->open_cta(t, 0, c, &e));
      for (uint32_t w = 0; w < 4; w++) {
        struct rt_warp truth;
        struct issued want = blank(), got;
        bool step = !rng_below(&r, 4);
        rt_start_warp(f, &truth, c, w);
        do {
          uint32_t pc = truth.pc;
          got = blank();
          if (step) {
            want = blank();
            rt_next(f, &truth, &want);
            assert_true(t->ops->step(t, 0, w, &got, &e));
            same_step(&want, &got, &f->code[pc]);
            continue;
          }
          struct trace_counts n = {0}, m = {0};
          if (!t->ops->skim(t, 0, w, 1 + rng_below(&r, 90), &got, &n, &e)) fail_msg("%s", e.msg);
          assert_true(n.warp_insts > 0);
          for (; m.warp_insts < n.warp_insts; m.warp_insts++) {
            if (m.warp_insts) assert_true(want.bar_id == FEED_NO_BARRIER && want.next_pc != FEED_DONE);
            want = blank();
            rt_next(f, &truth, &want);
            m.thread_insts += (uint32_t)__builtin_popcount(want.mask);
          }
          assert_true(m.thread_insts == n.thread_insts);
          assert_int_equal(want.next_pc, got.next_pc);
          assert_int_equal(want.bar_id, got.bar_id);
        } while (want.next_pc != FEED_DONE);
      }
      t->ops->close_cta(t, 0);
    }
    trace_close(t);
    free(f);
  }
}

/* Launches one after the other, small ones that share a dictionary, copies between them; seeking. */
static void many_launches(void **state) {
  (void)state;
  enum { LAUNCHES = 60 };
  struct err e = {0};
  struct slt_writer *w = slt_create(path, NULL, NULL, 0, &e);
  struct rt_feed *f[LAUNCHES];
  for (uint32_t l = 0; l < LAUNCHES; l++) {
    slt_note_copy(w, 64ull * l, 1ull << l, l & 1);
    f[l] = record_into(w, 5, 3, 64, 300); /* the same code, other runs */
  }
  assert_true(slt_finish(w, &e));
  struct trace_input *t = trace_open(path, false, &e);
  assert_int_equal(t->launches, LAUNCHES);
  struct trace_event ev;
  for (uint32_t l = 0; l < LAUNCHES; l++) {
    assert_true(t->ops->next(t, &ev, &e));
    assert_int_equal(ev.kind, TRACE_COPY);
    assert_true(ev.bytes == 1ull << l && ev.to_device == (l & 1));
    assert_true(t->ops->next(t, &ev, &e));
    assert_int_equal(ev.kind, TRACE_LAUNCH);
    assert_int_equal(ev.launch, l);
    assert_true(t->ops->begin(t, 1, &e));
    check_cta(t, f[l], 0, 1);
  }
  for (uint32_t l = LAUNCHES; l-- > 0;) {
    assert_true(t->ops->seek(t, l, &e));
    assert_int_equal(launch_of(t).launch, l);
    assert_true(t->ops->begin(t, 1, &e));
    check_cta(t, f[l], 0, 2);
  }
  assert_false(t->ops->seek(t, LAUNCHES, &e));
  trace_close(t);
  for (uint32_t l = 0; l < LAUNCHES; l++) free(f[l]);
}

/* A launch that faulted is not in the file; those around it are. */
static void left_out(void **state) {
  (void)state;
  struct err e = {0};
  struct slt_writer *w = slt_create(path, NULL, NULL, 0, &e);
  struct rt_feed *a = record_into(w, 1, 4, 64, 100), *b = malloc(sizeof *b);
  rt_init(b, 2, 4, 64, 5000);
  struct trace_counts n;
  assert_true(trace_drive(slt_begin(w, &b->feed, 2, &e), 2, 0, &n, &e));
  assert_true(slt_end(w, false, &e));
  struct rt_feed *c = record_into(w, 3, 4, 64, 100);
  assert_true(slt_finish(w, &e));
  struct trace_input *t = trace_open(path, false, &e);
  assert_int_equal(t->launches, 2);
  launch_of(t);
  assert_true(t->ops->begin(t, 1, &e));
  check_cta(t, a, 0, 3);
  launch_of(t);
  assert_true(t->ops->begin(t, 1, &e));
  check_cta(t, c, 0, 3);
  trace_close(t);
  free(a), free(b), free(c);
}

/* Until it is complete the file does not exist under its name, and giving up leaves nothing. */
static void whole_or_not(void **state) {
  (void)state;
  struct err e = {0};
  unlink(path);
  struct slt_writer *w = slt_create(path, NULL, NULL, 0, &e);
  free(record_into(w, 1, 2, 64, 100));
  assert_int_not_equal(access(path, F_OK), 0);
  slt_abandon(w);
  assert_int_not_equal(access(path, F_OK), 0);
  assert_null(slt_create("/nonexistent/x.slt", NULL, NULL, 0, &e));
  assert_non_null(strstr(e.msg, "cannot write"));
}

/* Read everything; false when something was wrong. */
static bool read_all(const char *file, bool salvage, uint32_t *launches, struct err *e) {
  struct trace_input *t = trace_open(file, salvage, e);
  struct trace_event ev;
  *launches = 0;
  if (!t) return false;
  bool ok = true;
  struct issued out = blank();
  while (ok && (ok = t->ops->next(t, &ev, e)) && ev.kind != TRACE_END) {
    if (ev.kind != TRACE_LAUNCH) continue;
    ok = t->ops->begin(t, 1, e);
    for (uint32_t c = 0; ok && c < ev.kernel->ctas; c++) {
      ok = t->ops->open_cta(t, 0, c, e);
      for (uint32_t w = 0; ok && w < ev.kernel->warps_per_cta; w++) do
          ok = t->ops->step(t, 0, w, &out, e);
        while (ok && out.next_pc != FEED_DONE);
      if (ok) t->ops->close_cta(t, 0);
    }
    *launches += ok;
  }
  trace_close(t);
  return ok;
}

/* Each cut and each changed byte is found, by an error that names the file and an offset; salvage gives no more
 * launches than there were before. */
static void damage(void **state) {
  (void)state;
  struct err e = {0};
  struct slt_writer *w = slt_create(path, NULL, NULL, 0, &e);
  for (uint64_t s = 1; s <= 4; s++) free(record_into(w, s, 3, 64, 60));
  assert_true(slt_finish(w, &e));
  uint8_t bytes[1 << 16];
  FILE *f = fopen(path, "rb");
  size_t n = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  assert_true(n > 1000 && n < sizeof bytes);
  char other[80];
  snprintf(other, sizeof other, "%s.bad.slt", path);
  struct rng r = rng_seed(9);
  uint32_t launches;
  assert_true(read_all(path, false, &launches, &e));
  assert_int_equal(launches, 4);
  for (uint32_t k = 0; k < 800; k++) {
    bool cut = k & 1;
    size_t at = rng_below(&r, (uint32_t)n);
    uint8_t was = bytes[at];
    bytes[at] ^= (uint8_t)(1u << rng_below(&r, 8));
    f = fopen(other, "wb");
    assert_int_equal(fwrite(bytes, 1, cut ? at : n, f), cut ? at : n);
    fclose(f);
    bytes[at] = was;
    e = (struct err){0};
    assert_false(read_all(other, false, &launches, &e));
    assert_non_null(strstr(e.msg, other));
    assert_non_null(strstr(e.msg, ": offset "));
    e = (struct err){0};
    read_all(other, true, &launches, &e);
    assert_int_not_equal(e.code, ERR_NONE);
    assert_true(launches <= 4);
  }
  unlink(other);
}

/* Barriers: replay through trace_feed releases what the rules say, whatever the order of the warps. */
static void barriers(void **state) {
  (void)state;
  struct err e = {0};
  enum { WARPS = 4 };
  /* Each warp: a barrier for all, one of two warps' worth (id 3), the end. */
  struct inst code[4] = {{.kind = KIND_BARRIER}, {.kind = KIND_BARRIER, .pc = 1}, {.kind = KIND_EXIT, .pc = 2}};
  struct feed_kernel k = {.name = "bar",
                          .code = code,
                          .insts = 3,
                          .grid = {1, 1, 1},
                          .block = {WARPS * 32, 1, 1},
                          .ctas = 1,
                          .threads_per_cta = WARPS * 32,
                          .warps_per_cta = WARPS};
  extern const struct feed_ops bar_ops;
  uint32_t pcs[WARPS] = {0};
  struct feed inner = {.ops = &bar_ops, .ctx = pcs, .kernel = &k};
  struct slt_writer *w = slt_create(path, NULL, NULL, 0, &e);
  struct feed *tap = slt_begin(w, &inner, 1, &e);
  struct issued out = {0};
  tap->ops->start_cta(tap->ctx, 0, 0, 0, 0);
  for (uint32_t i = 0; i < WARPS; i++)
    for (int n = 0; n < 3; n++) assert_true(tap->ops->issue(tap->ctx, 0, i, &out));
  tap->ops->end_cta(tap->ctx, 0);
  assert_true(slt_end(w, true, &e) && slt_finish(w, &e));
  struct trace_input *t = trace_open(path, false, &e);
  struct trace_event ev = launch_of(t);
  struct trace_feed *f = trace_feed_new(t, ev.kernel, 1, &e);
  struct feed *feed = trace_feed_get(f);
  feed->ops->start_cta(feed->ctx, 0, 0, 0, 0);
  static const uint32_t order[] = {2, 0, 3, 1};
  for (int n = 0; n < WARPS; n++) {
    assert_true(feed->ops->issue(feed->ctx, 0, order[n], &out));
    assert_true(out.waits);
    assert_int_equal(out.released, n == WARPS - 1 ? 15 : 0);
  }
  static const uint64_t freed[] = {0, 1ull << 2 | 1ull << 0, 0, 1ull << 3 | 1ull << 1};
  for (int n = 0; n < WARPS; n++) {
    assert_true(feed->ops->issue(feed->ctx, 0, order[n], &out));
    assert_int_equal(out.released, freed[n]);
  }
  trace_feed_free(f);
  trace_close(t);
}

static void bar_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first) {
  (void)ctx, (void)slot, (void)cta, (void)sm, (void)first;
}
static bool bar_issue(void *ctx, uint32_t slot, uint32_t warp, struct issued *o) {
  (void)slot;
  uint32_t *pc = (uint32_t *)ctx + warp;
  o->active = o->mask = ~0u;
  if (*pc < 2) o->waits = true, o->bar_id = *pc ? 3 : 0, o->bar_threads = *pc ? 64 : 0;
  o->next_pc = ++*pc < 3 ? *pc : FEED_DONE;
  return true;
}
static void bar_end(void *ctx, uint32_t slot) {
  (void)ctx, (void)slot;
}
const struct feed_ops bar_ops = {
    .start_cta = bar_start, .issue = bar_issue, .atomic = rt_atomic, .end_cta = bar_end, .fault = rt_fault};

static int set_up(void **state) {
  (void)state;
  strcpy(path, "/tmp/sluice-slt-XXXXXX");
  int fd = mkstemp(path);
  return fd < 0 || close(fd);
}
static int tear_down(void **state) {
  (void)state;
  unlink(path);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip),    cmocka_unit_test(interleaved),
                                     cmocka_unit_test(many_launches), cmocka_unit_test(left_out),
                                     cmocka_unit_test(whole_or_not),  cmocka_unit_test(damage),
                                     cmocka_unit_test(barriers),      cmocka_unit_test(skimmed)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
