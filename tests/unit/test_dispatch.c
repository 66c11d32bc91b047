/* test_dispatch.c - which CTA begins on which SM, in which warps, and when there is room: written launches, with
 * hand-computed answers.
 */
#include "written_feed.h"
#include "units.h"

static struct written f;

/* Launches, `times` times, `ctas` CTAs of `warps` warps that do one addition. */
static void launches(const struct gpu_config *c, uint32_t times, uint32_t ctas, uint32_t warps, uint32_t cluster) {
  written_begin(&f, ctas, warps);
  f.kernel.cluster = cluster;
  written_int_add(&f, 1, 0);
  written_exit(&f);
  written_run(&f, c, times);
  assert_int_equal(f.started, ctas);
  assert_int_equal(f.ended, ctas);
}

static void began(uint32_t nth, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  const struct written_start *s = &f.start[nth];
  if (s->cta != cta || s->sm != sm || s->first_warp != first_warp)
    fail_msg("start %u is CTA %u on SM %u at warp %u; by hand CTA %u on SM %u at warp %u", nth, s->cta, s->sm,
             s->first_warp, cta, sm, first_warp);
}

/* Three SMs of two CTAs, CTAs of two warps: one round puts 0, 1, 2 on SM 0, 1, 2 at warp 0, the next one 3, 4, 5 beside
 * them at warp 2. 6 begins when one has ended, in its place; SM 0, the next in turn, has its first end when the others
 * do. */
static void round_by_round(void **state) {
  (void)state;
  struct gpu_config c = written_machine(3, (const char *const[]){"sm.ctas=2", NULL});
  launches(&c, 1, 7, 2, 0);
  for (uint32_t i = 0; i < 6; i++) {
    began(i, i, i % 3, i / 3 * 2);
    assert_int_equal(f.start[i].ended, 0);
  }
  uint32_t end = 0;
  while (f.end[end] % 3) end++; /* the first of SM 0: 0 or 3 */
  assert_true(end < f.start[6].ended);
  began(6, 6, 0, f.start[f.end[end]].first_warp);
}

/* The next launch continues after the SM that was given a CTA last: 4 CTAs on 3 SMs end with SM 0, so that the second
 * run of them begins with SM 1. */
static void launches_go_on_round(void **state) {
  (void)state;
  struct gpu_config c = written_machine(3, NULL);
  launches(&c, 2, 4, 1, 0);
  for (uint32_t i = 0; i < 3; i++) began(i, i, (i + 1) % 3, 0);
  began(3, 3, 1, 1);
}

/* CTAs of a grid of 64 that are on one SM before the first of them ends. */
static uint32_t resident(const char *set, uint32_t threads, uint32_t regs, uint32_t shared) {
  struct gpu_config c = written_machine(1, (const char *const[]){set, NULL});
  written_begin(&f, 64, (threads + 31) / 32);
  f.kernel.threads_per_cta = f.kernel.block[0] = threads;
  f.kernel.regs_per_thread = regs;
  f.kernel.shared_bytes = shared;
  /* A chain long enough for all that fit to begin, one in a cycle, before it ends. */
  for (uint32_t k = 0; k < 40; k++) written_int_add(&f, 1, 1);
  written_exit(&f);
  written_run(&f, &c, 1);
  uint32_t n = 0;
  while (n < 64 && !f.start[n].ended) n++;
  return n;
}

static void what_an_sm_holds(void **state) {
  (void)state;
  /* 1536 threads, 8 CTAs, 32768 registers, 49152 B of shared memory */
  assert_int_equal(resident("sms=1", 256, 20, 0), 6);          /* 1536 / 256 */
  assert_int_equal(resident("sms=1", 192, 20, 0), 8);          /* 1536 / 192, and registers for 8.5 */
  assert_int_equal(resident("sms=1", 64, 20, 0), 8);           /* 24 by threads, but 8 CTAs */
  assert_int_equal(resident("sms=1", 256, 24, 0), 5);          /* 32768 / (256 x 24) = 5.3 */
  assert_int_equal(resident("sms=1", 256, 21, 0), 5);          /* 21 registers are given as 24 */
  assert_int_equal(resident("sms=1", 64, 20, 12288), 4);       /* 49152 / 12288 */
  assert_int_equal(resident("sms=1", 64, 20, 12289), 3);       /* a byte more: 3.99 */
  assert_int_equal(resident("sm.ctas=32", 48, 8, 0), 24);      /* 48 threads are two warps: 1536 / 64 */
  assert_int_equal(resident("sm.threads=1024", 768, 8, 0), 1); /* 1024 / 768 */
}

/* A small grid is spread: of 6 CTAs each of three SMs takes two at most, though it has room for eight. With 24 the SMs
 * are full. */
static void small_grids_are_spread(void **state) {
  (void)state;
  struct gpu_config c = written_machine(3, NULL);
  for (uint32_t ctas = 6; ctas <= 24; ctas += 18) {
    launches(&c, 1, ctas, 1, 0);
    uint32_t on[3] = {0};
    for (uint32_t i = 0; i < ctas; i++) on[f.start[i].sm]++;
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(on[i], ctas / 3);
  }
}

/* A launch that does not fit says what is missing. */
static void too_large(void **state) {
  (void)state;
  struct gpu_config c = written_machine(1, NULL);
  struct err e = {0};
  struct gpu_stats st;
  struct gpu *g = gpu_new(&c, NULL, &e);
  written_begin(&f, 1, 2);
  written_exit(&f);
  f.kernel.shared_bytes = 49153;
  assert_false(gpu_run_kernel(g, &f.feed, &st, &e));
  assert_int_equal(e.code, ERR_INPUT);
  assert_non_null(strstr(e.msg, "49153 bytes of shared memory"));
  f.kernel.shared_bytes = 0;
  f.kernel.regs_per_thread = 513; /* 516 x 64 = 33024 */
  assert_false(gpu_run_kernel(g, &f.feed, &st, &e));
  assert_non_null(strstr(e.msg, "registers"));
  gpu_free(g);
}

/* Clusters of two on GPCs of two SMs: 0 and 1 on the first GPC, 2 and 3 on the second, one CTA on each SM; then 4 and 5
 * beside the first ones. On GPCs of four a cluster still begins on the first SMs of its GPC that have room. */
static void clusters_lie_within_a_gpc(void **state) {
  (void)state;
  struct gpu_config c = written_machine(4, (const char *const[]){"gpc_sms=2", "sm.ctas=2", NULL});
  launches(&c, 1, 6, 1, 2);
  for (uint32_t i = 0; i < 4; i++) began(i, i, i, 0);
  began(4, 4, 0, 1);
  began(5, 5, 1, 1);
  /* Three CTAs on GPCs of two SMs: the third lies on the first SM again. One GPC of four has an SM for each. */
  launches(&c, 1, 3, 1, 3);
  for (uint32_t i = 0; i < 3; i++) began(i, i, i % 2, i / 2);
  c = written_machine(4, (const char *const[]){"gpc_sms=4", "sm.ctas=2", NULL});
  launches(&c, 1, 3, 1, 3);
  for (uint32_t i = 0; i < 3; i++) began(i, i, i, 0);
}

/* Two launches on an SM that holds two CTAs of one warp: the one of higher priority (the lower number) takes both
 * places, though the other came first; where SMs are not shared it is the same, and the other waits for both to end. */
static void the_urgent_launch_goes_first(void **state) {
  (void)state;
  struct gpu_config c = written_machine(1, (const char *const[]){"sm.ctas=2", NULL});
  static struct written other;
  struct err e = {0};
  written_begin(&f, 2, 1);
  written_int_add(&f, 1, 0);
  written_exit(&f);
  memcpy(&other, &f, sizeof f);
  other.feed.ctx = &other;
  other.feed.kernel = &other.kernel;
  other.kernel.code = other.code;
  struct gpu *g = gpu_new(&c, NULL, &e);
  uint32_t id[2];
  struct gpu_ended ended;
  struct gpu_stats st;
  assert_true(gpu_start(g, &f.feed, &(struct gpu_start){.priority = 0, .stream = 1}, &id[0], &e));
  assert_true(gpu_start(g, &other.feed, &(struct gpu_start){.priority = -1, .stream = 2}, &id[1], &e));
  assert_int_equal(gpu_run(g, UINT64_MAX, &ended, &e), GPU_ENDED);
  assert_int_equal(ended.launch, id[1]);
  assert_int_equal(other.ended, 2);
  assert_int_equal(gpu_run(g, UINT64_MAX, &ended, &e), GPU_ENDED);
  assert_int_equal(ended.launch, id[0]);
  assert_int_equal(f.ended, 2);
  assert_true(gpu_close(g, &st, &e));
  gpu_free(g);
}

/* Cycles on an SM that holds two CTAs; the second run, whose instructions are in their cache. */
static uint64_t cycles_with(uint32_t turnaround) {
  struct gpu_config c = written_machine(1, (const char *const[]){"sm.ctas=2", NULL});
  c.cta_turnaround = turnaround;
  struct gpu_stats st = written_run(&f, &c, 2);
  assert_int_equal(f.ended, f.kernel.ctas);
  return st.cycles;
}

/* Eight CTAs in two places, so four in each, of which three follow another: every cycle of the turnaround is waited for
 * three times. A
 * launch whose CTAs have all begun waits for none. */
static void a_place_is_given_away_after_the_turnaround(void **state) {
  (void)state;
  written_begin(&f, 8, 1);
  written_int_add(&f, 1, 0);
  written_exit(&f);
  uint64_t at_100 = cycles_with(100);
  assert_int_equal(cycles_with(300), at_100 + 3 * 200);
  assert_true(cycles_with(0) < at_100);
  written_begin(&f, 2, 1);
  written_int_add(&f, 1, 0);
  written_exit(&f);
  assert_int_equal(cycles_with(300), cycles_with(0));
}

/* The turnaround begins with the last instruction, not when its stores have been answered: one that is shorter than
 * their way to the L2 and back costs nothing. */
static void the_turnaround_passes_while_stores_are_out(void **state) {
  (void)state;
  written_begin(&f, 8, 1);
  written_memory(&f, KIND_STORE, SPACE_GLOBAL, 1, (struct written_access){.at = 0x10000, .lane = 4, .warp = 128});
  written_exit(&f);
  uint64_t stores = cycles_with(0);
  assert_int_equal(cycles_with(50), stores);
  uint64_t at_1000 = cycles_with(1000);
  assert_true(at_1000 > stores);
  assert_int_equal(cycles_with(1200), at_1000 + 3 * 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_by_round),
      cmocka_unit_test(launches_go_on_round),
      cmocka_unit_test(what_an_sm_holds),
      cmocka_unit_test(small_grids_are_spread),
      cmocka_unit_test(too_large),
      cmocka_unit_test(clusters_lie_within_a_gpc),
      cmocka_unit_test(the_urgent_launch_goes_first),
      cmocka_unit_test(a_place_is_given_away_after_the_turnaround),
      cmocka_unit_test(the_turnaround_passes_while_stores_are_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
