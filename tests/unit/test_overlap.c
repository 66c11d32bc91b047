/* test_overlap.c - several launches on one machine: what they count for themselves adds up to what the machine counted,
 * the laws hold, idle time skipped or not makes no difference, no SM is given more than it has, and priority and the
 * rule for sharing an SM decide who gets room. Under schemes of every kind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/gpu.h"
#include "gpu/state/machine.h"

enum { LAUNCHES = 5 };

struct outcome {
  struct gpu_stats all;
  struct gpu_ended ended[LAUNCHES];
  uint64_t from[LAUNCHES];
  bool shared; /* some SM held CTAs of two launches */
  bool over;   /* some SM held more than it has */
};

static struct fake_feed feed[LAUNCHES];
static struct outcome one, two;

static void look(const struct gpu *g, struct outcome *out) {
  for (uint32_t i = 0; i < g->config.sms; i++) {
    const struct sm *s = &g->sm[i];
    uint32_t holders = 0;
    for (uint32_t k = 0; k < g->works; k++) holders += g->work[g->turn[k]].on_sm[i] > 0;
    out->shared |= holders > 1;
    out->over |= s->regs_taken > g->config.sm_regs || s->shared_taken > g->config.sm_shared ||
                 s->ctas > g->config.sm_ctas || (s->live & ~s->warps_taken);
  }
}

/* Launches of different shapes, one more every 700 cycles. */
static void run(struct outcome *out, const char *scheme, bool skip, bool share) {
  static const uint32_t ctas[LAUNCHES] = {9, 3, 30, 1, 14}, warps[LAUNCHES] = {4, 7, 2, 12, 5};
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 4;
  c.share_sm = share;
  struct gpu *g = gpu_new(&c, scheme, &e);
  if (!g) fail_msg("%s", e.msg);
  gpu_set_skip(g, skip);
  memset(out, 0, sizeof *out);
  uint32_t begun = 0, done = 0, as[LAUNCHES];
  while (done < LAUNCHES) {
    if (begun < LAUNCHES && gpu_can_start(g)) {
      fake_kernel(&feed[begun], 7 + begun, ctas[begun], warps[begun], 3, 64 * 1024);
      out->from[begun] = gpu_now(g);
      struct gpu_start how = {.priority = begun == 3 ? -1 : 0};
      if (!gpu_start(g, &feed[begun].feed, &how, &as[begun], &e)) fail_msg("%s", e.msg);
      begun++;
    }
    struct gpu_ended ended;
    enum gpu_ran ran = gpu_run(g, begun < LAUNCHES ? gpu_now(g) + 700 : UINT64_MAX, &ended, &e);
    look(g, out);
    if (ran == GPU_FAILED) fail_msg("%s: %s", scheme, e.msg);
    if (ran == GPU_TIME) continue;
    for (uint32_t k = 0; k < begun; k++)
      if (as[k] == ended.launch && out->from[k] == ended.start) out->ended[k] = ended;
    done++;
    struct gpu_stats part;
    if (gpu_running(g)) continue;
    if (!gpu_close(g, &part, &e)) fail_msg("%s: %s", scheme, e.msg);
    gpu_stats_add(&out->all, &part);
  }
  gpu_free(g);
}

static void check(const struct outcome *o, const char *scheme) {
  struct gpu_stats own = {0};
  for (uint32_t k = 0; k < LAUNCHES; k++) {
    gpu_stats_add(&own, &o->ended[k].own);
    assert_int_equal(o->ended[k].own.ctas, feed[k].kernel.ctas);
    assert_int_equal(feed[k].started, feed[k].ended);
    assert_int_equal(feed[k].pending_atomics, 0);
  }
  if (own.warp_insts != o->all.warp_insts || own.thread_insts != o->all.thread_insts ||
      own.exec_mem != o->all.exec_mem || own.reg_reads != o->all.reg_reads || own.ctas != o->all.ctas)
    fail_msg("%s: the launches do not add up", scheme);
  assert_int_equal(o->all.kernels, LAUNCHES);
  assert_true(own.cycles > o->all.cycles);
  assert_false(o->over);
}

static const char *const schemes[] = {"baseline", "bucl",      "ccws",  "mrpb",   "medic",
                                      "nru",      "tsc",       "swl=8", "rrip",   "decoupled-l1d",
                                      "lamar",    "two-level", "pcal",  "pc-byp", "dsc"};

static void adds_up(void **state) {
  (void)state;
  uint32_t tried = 0;
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    struct gpu_config c;
    gpu_config_defaults(&c);
    struct err e = {0};
    if (!scheme_list_check(schemes[i], &c, &e)) continue; /* a name that the registry has otherwise */
    tried++;
    run(&one, schemes[i], true, true);
    check(&one, schemes[i]);
    run(&two, schemes[i], false, true);
    if (memcmp(&one, &two, sizeof one)) fail_msg("%s: skipping changes the outcome", schemes[i]);
  }
  assert_true(tried >= 8);
}

static void sharing(void **state) {
  (void)state;
  run(&one, "baseline", true, true);
  assert_true(one.shared);
  run(&two, "baseline", true, false);
  check(&two, "baseline");
  assert_false(two.shared);
}

/* A scheme that schedules CTAs has one grid at a time. */
static void one_grid(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e = {0};
  uint32_t as;
  gpu_config_defaults(&c);
  struct gpu *g = gpu_new(&c, "lcs", &e);
  if (!g) fail_msg("%s", e.msg);
  fake_kernel(&feed[0], 1, 20, 2, 2, 4096);
  assert_true(gpu_can_start(g));
  assert_true(gpu_start(g, &feed[0].feed, &(struct gpu_start){0}, &as, &e));
  assert_false(gpu_can_start(g));
  struct gpu_ended ended;
  struct gpu_stats st;
  assert_int_equal(gpu_run(g, UINT64_MAX, &ended, &e), GPU_ENDED);
  assert_true(gpu_close(g, &st, &e));
  assert_int_equal(ended.own.warp_insts, st.warp_insts);
  assert_int_equal(ended.own.cycles, st.cycles);
  gpu_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(adds_up), cmocka_unit_test(sharing), cmocka_unit_test(one_grid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
