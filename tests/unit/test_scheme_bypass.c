/* test_scheme_bypass.c - schemes that send loads around the L1 or order them in front of it: thresholds over time,
 * tokens and queues by hand.
 */
#include <unistd.h>

#include "scheme_rig.h"

static struct rig rig;

static void letters(const char *scheme, const char *text) {
  struct rig_access at[64];
  rig_run(&rig, scheme, NULL, at, rig_letters(text, at));
}

/* BUCL section V: the threshold starts at 5 and moves by one a period within [2, 25]: up while nearly all loads hit,
 * down while all miss. */
static void bucl_threshold(void **state) {
  (void)state;
  struct rig_access at[2000];
  for (uint32_t i = 0; i < 2000; i++) at[i] = (struct rig_access){.line = 1};
  rig_run(&rig, "bucl", NULL, at, 2000);
  uint64_t periods = rig.counter[5], sum = 0;
  assert_true(periods > 22); /* long enough to reach 25 */
  for (uint64_t k = 1; k <= periods; k++) sum += 5 + k < 25 ? 5 + k : 25;
  assert_int_equal(rig.counter[6], sum);
  for (uint32_t i = 0; i < 2000; i++) at[i] = (struct rig_access){.line = i % 5};
  rig_run(&rig, "bucl", NULL, at, 2000);
  periods = rig.counter[5], sum = 0;
  for (uint64_t k = 1; k <= periods; k++) sum += k < 3 ? 5 - k : 2;
  assert_int_equal(rig.counter[6], sum);
  assert_int_equal(rig.counter[0], 0); /* degree 1 never exceeds it */
}

/* Section II-B: an access to a pending line joins the list of its MSHR and issues no request, so whatever refuses it,
 * it waits; merge=1 lets it pass, merge=2 lets it wait for room in the list alone. A miss of its own passes whatever
 * it lacks. */
static void bucl_waits_for_pending(void **state) {
  (void)state;
  const struct scheme *s = scheme_find("bucl");
  enum { MERGE = 7, PASSED = 1, KEPT_MERGE = 4 };
  assert_string_equal(s->params[MERGE].name, "merge");
  assert_string_equal(s->counters[KEPT_MERGE].name, "kept_merge");
  static const bool passes[3][4] = {/* coming: miss queue, list; not: line, miss queue */
                                    {false, false, true, true},
                                    {true, true, true, true},
                                    {true, false, true, true}};
  static const enum l1_outcome why[4] = {L1_NO_MISSQ, L1_NO_MERGE, L1_NO_LINE, L1_NO_MISSQ};
  for (uint32_t merge = 0; merge < 3; merge++) {
    double param[SCHEME_PARAMS_MAX];
    uint64_t counter[SCHEME_COUNTERS_MAX] = {0}, passed = 0;
    struct scheme_ctx c = {.param = param, .counter = counter, .state = calloc(1, s->state_bytes)};
    assert_non_null(c.state);
    for (uint32_t i = 0; i < scheme_param_count(s); i++) param[i] = s->params[i].dflt;
    param[MERGE] = merge;
    for (uint32_t i = 0; i < 4; i++) {
      assert_int_equal(s->on_stall(&c, &(struct l1_event){.pending = i < 2}, why[i]), passes[merge][i]);
      passed += passes[merge][i];
    }
    assert_int_equal(counter[PASSED], passed);
    assert_int_equal(counter[KEPT_MERGE], 4 - passed);
    free(c.state);
  }
}

/* Section IV-C: one SM profiles with the first entry of Table II and keeps it. */
static void bucl_prf_selects(void **state) {
  (void)state;
  struct rig_access at[400];
  for (uint32_t i = 0; i < 400; i++) at[i] = (struct rig_access){.line = 1};
  rig_run(&rig, "bucl-prf=2000", NULL, at, 400);
  assert_int_equal(rig.counter[5], 1);
  assert_int_equal(rig.counter[6], 2);
}

static void ball_uses_no_line(void **state) {
  (void)state;
  letters("ball", "a a a");
  rig_expect(&rig, 0, 0, 12, "four 32 B requests a load");
}

static void pcal_tokens(void **state) {
  (void)state;
  letters("pcal=0", "a a a");
  rig_expect(&rig, 0, 0, 3, "no token");
  letters("pcal=1", "a a a");
  rig_expect(&rig, 2, 1, 0, "the only warp holds the token");
}

/* Jia et al., HPCA 2014: one queue is drained until it is empty, then the longest; or the first non-empty one. */
static void mrpb_drains(void **state) {
  (void)state;
  static const struct {
    const char *list;
    uint32_t lengths[4];
    int pick;
  } steps[] = {{"mrpb:queues=4", {0, 3, 2, 0}, 1},
               {"", {4, 2, 2, 0}, 1},
               {"", {4, 1, 5, 0}, 1},
               {"", {4, 0, 5, 6}, 3},
               {"", {4, 9, 5, 5}, 3},
               {"", {2, 2, 2, 0}, 0},
               {"", {0, 0, 0, 0}, -1},
               {"mrpb:queues=4/drain=1", {0, 1, 7, 7}, 1},
               {"", {1, 1, 7, 7}, 0},
               {"", {0, 0, 0, 7}, 3}};
  struct gpu_config c;
  struct slots s = {0};
  struct err e = {0};
  gpu_config_defaults(&c);
  for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    if (*steps[i].list) {
      slots_free(&s);
      claims_saw(steps[i].list);
      assert_true(slots_parse(&s, steps[i].list, &e) && slots_start(&s, NULL, &c, 1, &e));
    }
    assert_int_equal(s.at[0].scheme->pick_queue(&s.at[0].ctx, 0, steps[i].lengths), steps[i].pick);
  }
  slots_free(&s);
}

/* A burst that misses for lack of MSHRs bypasses; with assoc=1 only for lack of a line. */
static void mrpb_bypasses(void **state) {
  (void)state;
  struct rig_access at[200];
  for (uint32_t i = 0; i < 200; i++) at[i] = (struct rig_access){.line = i % 3};
  rig_run(&rig, "mrpb", NULL, at, 200);
  rig_expect(&rig, 197, 3, 0, "nothing is refused, nothing bypasses");
}

/* Section 6.1: a is referenced three times, the others once; with a threshold of 1 the second run keeps a alone. */
static void profiled_two_runs(void **state) {
  (void)state;
  char path[64], set[96];
  snprintf(path, sizeof path, "/tmp/sluice-profile-%ld", (long)getpid());
  snprintf(set, sizeof set, "l1d.ways=1,profile.file=%s", path);
  struct rig_access at[16];
  uint32_t n = rig_letters("a b a c a d", at);
  rig_run(&rig, "block-filter:run=1", set, at, n);
  rig_expect(&rig, 0, 6, 0, "one way: every access misses");
  assert_int_equal(rig.counter[0], 6);
  rig_run(&rig, "block-filter=1:run=2", set, at, n);
  rig_expect(&rig, 2, 1, 3, "a keeps the way");
  assert_int_equal(rig.counter[1], 3);
  rig_run(&rig, "block-filter=1:run=2/filter=1", set, at, n);
  rig_expect(&rig, 0, 0, 6, "no other SM uses any of them");
  unlink(path);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(bucl_threshold, "bucl"),       cmocka_unit_test(bucl_waits_for_pending),
      PAPER_TEST(bucl_prf_selects, "bucl-prf"), PAPER_TEST(ball_uses_no_line, "ball"),
      PAPER_TEST(pcal_tokens, "pcal"),          PAPER_TEST(mrpb_drains, "mrpb"),
      PAPER_TEST(mrpb_bypasses, "mrpb"),        PAPER_TEST(profiled_two_runs, "block-filter"),
  };
  return scheme_tests(tests, argc, argv);
}
