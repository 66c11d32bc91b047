/* test_session.c - work that waits for other work: what begins when, on the machine and without one, and what becomes
 * of it when a launch fails. Kernels write their number into a log in the order in which they get there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "session/session.h"

/* note: turns `spins` times, then takes the next place in the log. wild: writes where nothing is. */
static const char text[] = ".version 6.0\n.target sm_35\n.address_size 64\n"
                           ".visible .entry note(.param .u64 log, .param .u32 id, .param .u32 spins)\n{\n"
                           ".reg .u64 %rd<4>;\n.reg .u32 %r<6>;\n.reg .pred %p;\n"
                           "  ld.param.u64 %rd1, [log];\n"
                           "  ld.param.u32 %r1, [id];\n"
                           "  ld.param.u32 %r2, [spins];\n"
                           "L: setp.eq.u32 %p, %r2, 0;\n"
                           "  @%p bra D;\n"
                           "  sub.u32 %r2, %r2, 1;\n"
                           "  bra L;\n"
                           "D: atom.global.add.u32 %r3, [%rd1], 1;\n"
                           "  mul.wide.u32 %rd2, %r3, 4;\n"
                           "  add.u64 %rd2, %rd1, %rd2;\n"
                           "  st.global.u32 [%rd2+4], %r1;\n"
                           "  ret;\n}\n"
                           ".visible .entry wild(.param .u64 log, .param .u32 id, .param .u32 spins)\n{\n"
                           ".reg .u64 %rd<2>;\n"
                           "  mov.u64 %rd1, 64;\n"
                           "  st.global.u32 [%rd1], 1;\n"
                           "  ret;\n}\n";

enum { PLACES = 64 };

struct params {
  uint64_t log;
  uint32_t id, spins;
};

struct rig {
  struct session *s;
  struct simt_kernel *note, *wild;
  uint64_t log;
  uint32_t released;
  char record[64];
};

static struct rig open_rig(enum session_mode mode) {
  struct rig r = {0};
  struct err e = {0};
  snprintf(r.record, sizeof r.record, "/tmp/test_session.%d.json", (int)getpid());
  struct session_options o = {.mode = mode, .record_path = r.record, .quiet = true, .program = "test"};
  if (!(r.s = session_open(&o, &e))) fail_msg("%s", e.msg);
  struct simt *simt = session_simt(r.s);
  struct simt_text t = {.ptx = text, .name = "t.ptx"};
  struct simt_module *m = simt_load(simt, &t, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  r.note = simt_find_kernel(m, "note");
  r.wild = simt_find_kernel(m, "wild");
  r.log = simt_mem_alloc(simt, 4 * (PLACES + 1), SIMT_MEM_DEVICE, "log");
  memset(simt_mem_at(simt, r.log, 4 * (PLACES + 1)), 0, 4 * (PLACES + 1));
  simt_mem_written(simt, r.log, 4 * (PLACES + 1));
  return r;
}

/* The record; the caller decrefs it. */
static json_t *close_rig(struct rig *r) {
  struct err e = {0};
  if (!session_close(r->s, &e)) fail_msg("%s", e.msg);
  json_t *j = json_load_file(r->record, 0, NULL);
  unlink(r->record);
  assert_non_null(j);
  return j;
}

static const uint32_t *log_of(const struct rig *r) {
  return simt_mem_at(session_simt(r->s), r->log, 4 * (PLACES + 1));
}

/* The log is these numbers, in this order. */
static void logged(const struct rig *r, uint32_t n, const uint32_t *ids) {
  const uint32_t *log = log_of(r);
  assert_int_equal(log[0], n);
  for (uint32_t i = 0; i < n; i++) assert_int_equal(log[1 + i], ids[i]);
}
#define LOGGED(r, ...) logged(r, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

static void count_release(void *ctx) {
  ((struct rig *)ctx)->released++;
}

struct how {
  uint32_t stream, spins;
  int priority;
  session_task after, and_after;
};

static session_task submit(struct rig *r, struct simt_kernel *k, uint32_t id, struct how how) {
  struct params p = {r->log, id, how.spins};
  struct simt_launch l = {.kernel = k, .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &p};
  struct session_item item = {.kind = SESSION_LAUNCH,
                              .stream = how.stream,
                              .priority = how.priority,
                              .launch = &l,
                              .ctx = r,
                              .release = count_release};
  session_task deps[] = {how.after, how.and_after};
  session_task t = session_submit(r->s, &item, deps, 2);
  p = (struct params){0}; /* both were copied */
  l = (struct simt_launch){0};
  return t;
}

static void wait_for(struct rig *r, session_task t) {
  struct err e = {0};
  int code = -1;
  if (!session_wait(r->s, t, &code, &e)) fail_msg("%s", e.msg);
  assert_int_equal(code, 0);
}

/* ---- order ---- */

static void nothing_before_a_wait(void **state) {
  (void)state;
  for (int mode = SESSION_TIMING; mode <= SESSION_FUNCTIONAL; mode++) {
    struct rig r = open_rig(mode);
    session_task a = submit(&r, r.note, 1, (struct how){0}), b = submit(&r, r.note, 2, (struct how){.after = a});
    assert_true(a && b > a);
    assert_false(session_done(r.s, a) || session_done(r.s, SESSION_ALL));
    assert_int_equal(log_of(&r)[0], 0);
    assert_int_equal(session_time_ns(r.s), 0);
    wait_for(&r, a);
    assert_true(session_done(r.s, a));
    wait_for(&r, SESSION_ALL);
    assert_true(session_done(r.s, b) && session_done(r.s, SESSION_ALL));
    LOGGED(&r, 1, 2);
    assert_int_equal(r.released, 2);
    assert_true(session_time_ns(r.s) > 0);
    json_decref(close_rig(&r));
  }
}

/* 1 turns long and 2 does not wait for it; 3 waits for both, 4 for 2 alone. */
static void four(struct rig *r) {
  session_task one = submit(r, r->note, 1, (struct how){.stream = 1, .spins = 400});
  session_task two = submit(r, r->note, 2, (struct how){.stream = 2});
  submit(r, r->note, 3, (struct how){.stream = 1, .after = one, .and_after = two});
  submit(r, r->note, 4, (struct how){.stream = 2, .after = two});
  wait_for(r, SESSION_ALL);
}

static json_int_t of(json_t *record, size_t launch, const char *key) {
  json_t *k = json_array_get(json_object_get(record, "kernels"), launch), *v = json_object_get(k, key);
  if (!json_is_integer(v)) fail_msg("launch %zu has no %s", launch, key);
  return json_integer_value(v);
}

static void streams_overlap(void **state) {
  (void)state;
  struct rig r = open_rig(SESSION_TIMING);
  four(&r);
  LOGGED(&r, 2, 4, 1, 3);
  json_t *j = close_rig(&r);
  assert_int_equal(json_array_size(json_object_get(j, "kernels")), 4);
  /* 1, 2 and 4 overlap and stand in the order of submission; 3 ran alone when the machine was idle again. */
  static const json_int_t streams[] = {1, 2, 2, 1};
  for (size_t i = 0; i < 4; i++) assert_int_equal(of(j, i, "stream"), streams[i]);
  assert_int_equal(of(j, 0, "start_cycle"), 0);
  assert_true(of(j, 1, "start_cycle") < of(j, 0, "end_cycle"));
  assert_true(of(j, 2, "start_cycle") >= of(j, 1, "end_cycle"));
  assert_true(of(j, 2, "end_cycle") < of(j, 0, "end_cycle"));
  json_t *alone = json_array_get(json_object_get(j, "kernels"), 3);
  assert_null(json_object_get(alone, "overlap"));
  assert_true(json_integer_value(json_object_get(alone, "cycles")) > 0);
  json_decref(j);
}

static void functional_keeps_the_order(void **state) {
  (void)state;
  struct rig r = open_rig(SESSION_FUNCTIONAL);
  four(&r);
  LOGGED(&r, 1, 2, 3, 4);
  json_decref(close_rig(&r));
}

static void priority_goes_first(void **state) {
  (void)state;
  struct rig r = open_rig(SESSION_TIMING);
  submit(&r, r.note, 1, (struct how){.stream = 1, .priority = 0});
  submit(&r, r.note, 2, (struct how){.stream = 2, .priority = -3});
  wait_for(&r, SESSION_ALL);
  submit(&r, r.note, 3, (struct how){.stream = 1});
  submit(&r, r.note, 4, (struct how){.stream = 2});
  wait_for(&r, SESSION_ALL);
  LOGGED(&r, 2, 1, 3, 4);
  json_decref(close_rig(&r));
}

/* What has ended is no reason to wait, and neither is no task. */
static void ended_dependencies(void **state) {
  (void)state;
  struct rig r = open_rig(SESSION_TIMING);
  session_task a = submit(&r, r.note, 1, (struct how){0});
  wait_for(&r, a);
  session_task b = submit(&r, r.note, 2, (struct how){.after = a});
  wait_for(&r, b);
  LOGGED(&r, 1, 2);
  struct err e = {0};
  struct params p = {r.log, 3, 0};
  struct simt_launch l = {.kernel = r.note, .grid = {3, 1, 1}, .block = {2, 1, 1}, .params = &p};
  int code;
  assert_true(session_launch(r.s, &l, &code, &e));
  LOGGED(&r, 1, 2, 3, 3, 3, 3, 3, 3); /* six threads */
  json_t *j = close_rig(&r);
  assert_int_equal(json_array_size(json_object_get(j, "kernels")), 3);
  assert_int_equal(of(j, 2, "ctas"), 3);
  json_decref(j);
}

/* ---- calls ---- */

struct call {
  struct rig *r;
  uint32_t seen, calls, asked, ready_at;
};

static void look(void *ctx) {
  struct call *c = ctx;
  c->seen = log_of(c->r)[0];
  c->calls++;
}

static bool ready_later(void *ctx) {
  struct call *c = ctx;
  return ++c->asked >= c->ready_at;
}

static void calls_between_launches(void **state) {
  (void)state;
  for (int mode = SESSION_TIMING; mode <= SESSION_FUNCTIONAL; mode++) {
    struct rig r = open_rig(mode);
    struct call c = {.r = &r};
    session_task a = submit(&r, r.note, 1, (struct how){.spins = 50});
    struct session_item item = {.kind = SESSION_CALL, .ctx = &c, .call = look};
    session_task t = session_submit(r.s, &item, &a, 1);
    submit(&r, r.note, 2, (struct how){.after = t});
    wait_for(&r, SESSION_ALL);
    assert_int_equal(c.calls, 1);
    assert_int_equal(c.seen, 1);
    LOGGED(&r, 1, 2);
    json_decref(close_rig(&r));
  }
}

static void a_call_that_is_not_ready(void **state) {
  (void)state;
  struct rig r = open_rig(SESSION_TIMING);
  struct call c = {.r = &r, .ready_at = UINT32_MAX};
  struct session_item item = {.kind = SESSION_CALL, .ctx = &c, .call = look, .ready = ready_later};
  session_task t = session_submit(r.s, &item, NULL, 0);
  session_task after = submit(&r, r.note, 1, (struct how){.after = t}), beside = submit(&r, r.note, 2, (struct how){0});
  wait_for(&r, after); /* gives up: nothing can continue */
  assert_false(session_done(r.s, t) || session_done(r.s, after));
  assert_true(session_done(r.s, beside) && c.asked > 0);
  assert_int_equal(c.calls, 0);
  c.ready_at = 0;
  wait_for(&r, after);
  assert_true(session_done(r.s, after));
  assert_int_equal(c.calls, 1);
  LOGGED(&r, 2, 1);
  json_decref(close_rig(&r));
}

/* ---- failures ---- */

static void a_failure_ends_what_was_submitted(void **state) {
  (void)state;
  for (int mode = SESSION_TIMING; mode <= SESSION_FUNCTIONAL; mode++) {
    struct rig r = open_rig(mode);
    session_task a = submit(&r, r.note, 1, (struct how){0});
    session_task bad = submit(&r, r.wild, 2, (struct how){.after = a});
    session_task never = submit(&r, r.note, 3, (struct how){.after = bad});
    struct err e = {0};
    int code = 0;
    assert_false(session_wait(r.s, never, &code, &e));
    assert_int_equal(e.code, ERR_PROGRAM);
    assert_non_null(strstr(e.msg, "wild"));
    assert_int_equal(code, 700); /* cudaErrorIllegalAddress */
    assert_true(session_done(r.s, SESSION_ALL));
    assert_int_equal(r.released, 3);
    LOGGED(&r, 1);
    wait_for(&r, SESSION_ALL); /* it is reported once */
    wait_for(&r, submit(&r, r.note, 4, (struct how){0}));
    LOGGED(&r, 1, 4);
    json_decref(close_rig(&r));
  }
}

/* One that the machine refuses, while another is on it: that one is lost, too. */
static void a_failure_beside_a_running_launch(void **state) {
  (void)state;
  struct rig r = open_rig(SESSION_TIMING);
  submit(&r, r.note, 1, (struct how){.spins = 2000});
  struct params p = {r.log, 2, 0};
  struct simt_launch l = {
      .kernel = r.note, .grid = {1, 1, 1}, .block = {1, 1, 1}, .params = &p, .dynamic_shared = 1 << 20};
  struct session_item item = {.kind = SESSION_LAUNCH, .launch = &l, .ctx = &r, .release = count_release};
  session_submit(r.s, &item, NULL, 0);
  struct err e = {0};
  assert_false(session_wait(r.s, SESSION_ALL, NULL, &e));
  assert_non_null(strstr(e.msg, "shared memory"));
  assert_int_equal(r.released, 2);
  wait_for(&r, SESSION_ALL);
  assert_int_equal(log_of(&r)[0], 0);
  wait_for(&r, submit(&r, r.note, 3, (struct how){0}));
  LOGGED(&r, 3);
  json_decref(close_rig(&r));
}

/* ---- time ---- */

static void time_passes(void **state) {
  (void)state;
  struct rig r = open_rig(SESSION_TIMING);
  session_task a = submit(&r, r.note, 1, (struct how){.spins = 2000});
  struct err e = {0};
  assert_true(session_advance(r.s, 1000, NULL, &e));
  assert_false(session_done(r.s, a));
  uint64_t first = session_time_ns(r.s);
  assert_in_range(first, 1000, 1100);
  assert_true(session_advance(r.s, 1000, NULL, &e));
  assert_in_range(session_time_ns(r.s), first + 1000, first + 1100);
  wait_for(&r, a);
  uint64_t ns = session_time_ns(r.s);
  json_t *j = close_rig(&r);
  double mhz = json_number_value(json_object_get(json_object_get(j, "config"), "clock.core_mhz"));
  assert_int_equal(ns, (uint64_t)((double)of(j, 0, "cycles") * 1000 / mhz));
  json_decref(j);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_before_a_wait),
                                     cmocka_unit_test(streams_overlap),
                                     cmocka_unit_test(functional_keeps_the_order),
                                     cmocka_unit_test(priority_goes_first),
                                     cmocka_unit_test(ended_dependencies),
                                     cmocka_unit_test(calls_between_launches),
                                     cmocka_unit_test(a_call_that_is_not_ready),
                                     cmocka_unit_test(a_failure_ends_what_was_submitted),
                                     cmocka_unit_test(a_failure_beside_a_running_launch),
                                     cmocka_unit_test(time_passes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
