/* test_scheme_space.c - lines in registers that no CTA holds (hook on_space) and the scheme that keeps them there, by
 * hand: one warp whose loads wait for each other, on an L1 of one set of four ways. A KB of registers is eight lines.
 * Then lines in unused shared memory, on a machine that stands still.
 */
#include "gpu/l1/l1.h"
#include "scheme_rig.h"

static struct rig rig;
enum { TAGS, KEPT, HITS, TAG_HITS, SELECTED, WITHHELD, TAKEN };

/* All loads are the same instruction, but those of `other`. */
static void letters(const char *scheme, const char *set, const char *text, const char *other) {
  static struct rig_access at[256];
  uint32_t n = rig_letters(text, at);
  for (uint32_t i = 0; i < n; i++) at[i].pc = strchr(other, 'a' + (int)at[i].line) ? 2 : 1;
  rig_run(&rig, scheme, set, at, n);
}

#define EIGHT "a b c d e f g h "
#define ALL "linebacker:threshold=0/window=100/throttle=0/most="

/* Abstract: the registers that are idle hold what leaves the L1. */
static void victims_stay(void **state) {
  (void)state;
  letters(NULL, NULL, EIGHT EIGHT, "");
  rig_expect(&rig, 0, 16, 0, "four lines without");
  letters(ALL "1", NULL, EIGHT EIGHT, "");
  rig_expect(&rig, 8, 8, 0, "four lines in the L1 and four in registers");
  assert_int_equal(rig.counter[KEPT], 4);
  assert_int_equal(rig.counter[HITS], 4);
  assert_int_equal(rig.st.space_reads, 4);
  assert_int_equal(rig.st.space_writes, 4);
  letters(ALL "1", NULL, EIGHT "i j k l " EIGHT "i j k l", "");
  rig_expect(&rig, 12, 12, 0, "twelve");
  letters(ALL "1", NULL, EIGHT "i j k l m " EIGHT "i j k l m", "");
  rig_expect(&rig, 0, 26, 0, "thirteen lines in turn do not fit");
}

/* A line that is kept partly is fetched for the rest, and what both hold is one line. */
static void sectors(void **state) {
  (void)state;
  static const struct rig_access at[] = {{0, 1, .pc = 1}, {1, 1, .pc = 1}, {2, 1, .pc = 1}, {3, 1, .pc = 1},
                                         {4, 1, .pc = 1}, {0, 1, .pc = 1}, {0, 3, .pc = 1}, {0, 2, .pc = 1}};
  rig_run(&rig, ALL "1/bytes=32", NULL, at, 8);
  assert_int_equal(rig.counter[HITS], 1);
  assert_int_equal(rig.st.l1d_read_partial, 1);
  assert_int_equal(rig.st.l1d_read_hits, 2);
  assert_int_equal(rig.st.l1d_fetch_bytes, 6 * 32);
}

/* Abstract: space for loads of high locality only. The second pass finds tags; then the load is selected. */
static void loads_of_high_locality(void **state) {
  (void)state;
  letters("linebacker:window=100/throttle=0/most=1", NULL, EIGHT EIGHT EIGHT EIGHT, "");
  assert_true(rig.counter[TAG_HITS] > 0 && rig.counter[KEPT] > 0);
  assert_true(rig.st.l1d_read_hits >= 8); /* of 32, the last pass at least */
  letters("linebacker:window=100/throttle=0/most=1", NULL, EIGHT "i j k l m n o p", "");
  assert_int_equal(rig.counter[KEPT], 0);
  assert_int_equal(rig.counter[TAGS], 12);
  assert_int_equal(rig.counter[SELECTED], 0);
  /* a and b return again and again, what is between never does */
  letters("linebacker:window=100/throttle=0/most=1", NULL, "a b c d e f a b g h i j a b k l m n a b o p q r a b",
          "cdefghijklmnopqr");
  assert_int_equal(rig.counter[KEPT], 2); /* when i and j come; until then tags */
  rig_expect(&rig, 6, 20, 0, "once their load is selected");
}

static void stores_and_price(void **state) {
  (void)state;
  letters(ALL "1", NULL, "a b c d e A a", "");
  rig_expect(&rig, 0, 6, 0, "a store drops what is kept");
  letters(ALL "1", NULL, "a b c d e a a", "");
  rig_expect(&rig, 2, 5, 0, "without it");
  letters(ALL "1", "sm.space_latency=2", EIGHT EIGHT, "");
  uint64_t fast = rig.st.cycles;
  letters(ALL "1", "sm.space_latency=32", EIGHT EIGHT, "");
  assert_int_equal(rig.st.cycles, fast + 4 * 30);
  assert_int_equal(rig.st.space_waited, 0);
}

/* ---- on a machine that stands still: 128 KB of registers, 48 KB of shared memory, 32 sets of four lines */

static uint32_t kept_ways(const struct slot_instance *in) {
  return *(const uint32_t *)in->ctx.sm_state; /* its first member */
}

static void space_follows_ctas(void **state) {
  (void)state;
  struct gpu *g = rig_still("linebacker:threshold=0");
  const struct slot_instance *in = &g->slots.at[0];
  struct sm *s = &g->sm[0];
  gpu_space_changed(g, 0);
  assert_int_equal(kept_ways(in), 32);
  s->regs_taken = 32768 / 2, s->shared_taken = 1024;
  struct sm_space unused = gpu_sm_space(g, 0);
  assert_int_equal(unused.registers, 64 * 1024);
  assert_int_equal(unused.shared, 47 * 1024);
  gpu_space_changed(g, 0);
  assert_int_equal(kept_ways(in), 16);
  s->regs_taken = 32768 - 5 * 32 * 32; /* five ways: a partition has four */
  gpu_space_changed(g, 0);
  assert_int_equal(kept_ways(in), 4);
  s->regs_taken = 32768;
  gpu_space_changed(g, 0);
  assert_int_equal(kept_ways(in), 0);
  s->regs_taken = s->shared_taken = 0;
  gpu_free(g);
}

/* The port moves a line each sm.space_interval cycles: three lines at once wait 0, 1 and 2. */
static void one_port(void **state) {
  (void)state;
  struct gpu *g = rig_still("linebacker");
  struct sm *s = &g->sm[0];
  uint64_t before = s->st->space_waited;
  for (uint32_t i = 0; i < 3; i++) gpu_space_keep(g, 0);
  assert_int_equal(s->st->space_waited - before, 3);
  gpu_space_hit(g, 0);
  assert_int_equal(s->l1d.later, 3 + g->config.space_latency);
  s->l1d.later = 0;
  gpu_free(g);
}

/* The abstract throttles CTAs: one less, another while IPC rises by 10 %, one more when it falls by as much. */
static void throttling(void **state) {
  (void)state;
  static const struct {
    uint64_t insts;
    uint32_t limit;
  } window[] = {{1000, 7}, {1050, 7}, {1200, 6}, {1150, 6}, {1000, 7}, {800, 8}, {600, 8}};
  struct gpu *g = rig_still("linebacker:threshold=0/window=1000");
  struct slot_instance *in = &g->slots.at[0];
  struct sm *s = &g->sm[0];
  struct l1_event e = {.pc = 1, .cycle = 1};
  g->ctas_per_sm = 8;
  in->scheme->on_kernel(&in->ctx);
  assert_true(in->scheme->may_launch(&in->ctx, 0, 7));
  s->live = 1;
  for (uint32_t i = 0; i < sizeof window / sizeof *window; i++) {
    in->scheme->l1->touch(&in->ctx, &e, 1, L1_HIT);
    s->warp_insts += window[i].insts;
    in->scheme->on_epoch(&in->ctx);
    assert_true(in->scheme->may_launch(&in->ctx, 0, window[i].limit - 1));
    assert_false(in->scheme->may_launch(&in->ctx, 0, window[i].limit));
  }
  s->live = 0;
  gpu_free(g);
}

static void never(void **state) {
  (void)state;
  rig_same("sector=128", "linebacker:window=10000000/throttle=0", "tags alone");
  rig_same("baseline", "linebacker=0", "no register is used");
}

/* The warp leaves 16 lines of 1024 registers: on an L1 of one set they hold lines, on one of 32 sets not even one way,
 * and loads of high locality change nothing. */
static void no_idle_register(void **state) {
  (void)state;
  static const char *const set[] = {"sm.registers=1024,l1d.ways=1", "sm.registers=1024,l1d.ways=1,l1d.sets=32"};
  static struct rig_access at[256];
  for (uint32_t i = 0; i < 256; i++) at[i] = (struct rig_access){.line = i % 12 * 32, .pc = 1};
  for (uint32_t k = 0; k < 2; k++) {
    rig_run(&rig, "sector=128", set[k], at, 256);
    struct gpu_stats base = rig.st;
    assert_int_equal(base.l1d_read_hits, 0);
    rig_run(&rig, ALL "1024", set[k], at, 256);
    assert_true(k ? rig.counter[SELECTED] > 0 : rig.st.space_reads > 100);
    if (k) rig_equal(&base, &rig.st, "sector=128", "linebacker", "no idle register");
  }
}

static void refused(void **state) {
  struct slots s;
  struct err e = {0};
  (void)state;
  assert_false(slots_parse(&s, "linebacker+sector", &e));
  assert_false(slots_parse(&s, "linebacker+rrip", &e));
  assert_true(slots_parse(&s, "linebacker=0+sector", &e));
  assert_false(slots_parse(&s, "linebacker+ciao", &e));
  assert_true(slots_parse(&s, "ciao=off+sector", &e));
}

static void storage(void **state) {
  (void)state;
  /* 32 sets of 32 ways with 24 + 1 + 1 + 8 bits, 128 lines with 5, 32 loads with 33, 40 for the SM */
  double bits = 1024 * 34 + 128 * 5 + 32 * 33 + 40;
  assert_true(rig_storage_kb("linebacker") * 8 * 1024 == bits);
  /* 48 warps with 8 tags of 31 bits and 70 more, 128 lines with 6, 32 for the SM */
  bits = 48 * (8 * 31 + 70) + 128 * 6 + 32;
  assert_true(rig_storage_kb("ciao") * 8 * 1024 == bits);
}

/* ---- ciao: two warps, a set of four ways; hooks are called by hand ---- */

enum { VICTIMS, REREFERENCES, ISOLATED, THROTTLED, RELEASED, PLACED, CIAO_HITS };

/* One load of a line in the first set; true: a hit. */
static bool load(struct slot_instance *in, uint32_t warp, uint32_t line) {
  static uint64_t cycle;
  struct l1_event e = {.warp = warp, .line = line * 128ull, .addr = line * 128ull, .cycle = ++cycle};
  const struct l1_org *org = in->scheme->l1;
  uint32_t here = org->find(&in->ctx, &e);
  if (!here) assert_int_equal(org->plan(&in->ctx, &e, 1), PLAN_PLACE);
  org->touch(&in->ctx, &e, here, here ? L1_HIT : L1_MISS);
  if (here) return true;
  org->reserve(&in->ctx, &e, 1);
  org->fill(&in->ctx, &e, 1);
  return false;
}

static void issue(struct slot_instance *in, uint32_t instructions) {
  for (uint32_t i = 0; i < instructions; i++) in->scheme->on_issue(&in->ctx, 0, 0, NULL);
}

static struct gpu *two_warps(const char *scheme) {
  struct gpu *g = rig_still(scheme);
  struct slot_instance *in = &g->slots.at[0];
  g->sm[0].live = 3;
  in->scheme->l1->clear(&in->ctx, 0);
  for (uint32_t w = 0; w < 2; w++) in->scheme->on_warp_start(&in->ctx, 0, w, 0);
  return g;
}

/* Warp 1 evicts line 0 of warp 0, which fetches it again, `times` times. */
static void interfere(struct slot_instance *in, uint32_t times) {
  load(in, 0, 0);
  for (uint32_t i = 0; i < times; i++) {
    for (uint32_t k = 1; k < 5; k++) assert_false(load(in, 1, 4 * i + k));
    assert_false(load(in, 0, 0));
  }
}

/* The abstract: requests of a severely interfering warp go to unused shared memory; if that is not enough the warp is
 * throttled. The score of warp 0 is 2 re-references x active warps / instructions. */
static void interfering_warps_are_redirected_then_throttled(void **state) {
  (void)state;
  struct gpu *g = two_warps("ciao:high_epoch=100/low_epoch=10");
  struct slot_instance *in = &g->slots.at[0];
  const uint64_t *n = in->counter;
  interfere(in, 2);
  assert_int_equal(n[REREFERENCES], 2);
  issue(in, 99);
  assert_int_equal(n[ISOLATED], 0);
  issue(in, 1); /* 2 x 2 / 100 */
  assert_int_equal(n[ISOLATED], 1);
  for (uint32_t k = 20; k < 30; k++) assert_false(load(in, 1, k));
  assert_true(load(in, 0, 0)); /* nothing took its place */
  for (uint32_t k = 20; k < 30; k++) assert_true(load(in, 1, k));
  assert_int_equal(n[PLACED], 10);
  assert_int_equal(n[CIAO_HITS], 10);
  assert_int_equal(g->sm[0].st->space_reads, 10);
  assert_true(load(in, 0, 25)); /* all warps look there */
  assert_true(in->scheme->may_issue(&in->ctx, 0, 3, 0) == ~0ull);
  issue(in, 100); /* 2 x 2 / 200 is still above 0.01 */
  assert_int_equal(n[THROTTLED], 1);
  assert_true(in->scheme->may_issue(&in->ctx, 0, 3, 0) == ~2ull);
  assert_true(in->scheme->may_issue(&in->ctx, 0, 2, 0) == ~0ull); /* warp 0 waits at a barrier */
  issue(in, 199);
  assert_int_equal(n[RELEASED], 0);
  issue(in, 1); /* 2 x 1 / 400: it runs again, and stays redirected */
  assert_int_equal(n[RELEASED], 1);
  assert_true(in->scheme->may_issue(&in->ctx, 0, 3, 0) == ~0ull);
  load(in, 1, 40);
  assert_int_equal(n[PLACED], 11);
  issue(in, 400); /* 2 x 2 / 800 */
  assert_int_equal(n[RELEASED], 2);
  load(in, 1, 41);
  assert_int_equal(n[PLACED], 11);
  gpu_free(g);
}

/* A warp that has ended, or that starts in the same slot, neither suffers nor interferes. */
static void warps_come_and_go(void **state) {
  (void)state;
  struct gpu *g = two_warps("ciao:high_epoch=100/low_epoch=10");
  struct slot_instance *in = &g->slots.at[0];
  interfere(in, 2);
  issue(in, 200);
  assert_true(in->scheme->may_issue(&in->ctx, 0, 3, 0) == ~2ull);
  in->scheme->on_warp_done(&in->ctx, 0, 0);
  assert_true(in->scheme->may_issue(&in->ctx, 0, 3, 0) == ~0ull);
  in->scheme->on_warp_start(&in->ctx, 0, 0, 1);
  issue(in, 100);
  assert_int_equal(in->counter[ISOLATED], 1);
  /* without shared memory a warp is throttled at once; the last one that runs is not */
  g->sm[0].shared_taken = 48 * 1024;
  gpu_space_changed(g, 0);
  interfere(in, 8);
  issue(in, 100);
  assert_int_equal(in->counter[ISOLATED], 1);
  assert_int_equal(in->counter[THROTTLED], 2);
  g->sm[0].live = 1;
  in->scheme->on_warp_done(&in->ctx, 0, 1);
  issue(in, 1000);
  assert_int_equal(in->counter[THROTTLED], 2);
  g->sm[0].shared_taken = 0;
  gpu_free(g);
}

/* 48 KB are 372 lines of 132 B with their tags, of which 256 are used, direct-mapped. */
static void shared_memory_is_direct_mapped(void **state) {
  (void)state;
  struct gpu *g = two_warps("ciao=redirect:high_epoch=100/low=0");
  struct slot_instance *in = &g->slots.at[0];
  interfere(in, 2);
  issue(in, 100);
  load(in, 1, 300), load(in, 1, 301);
  assert_true(load(in, 1, 300));
  load(in, 1, 300 + 256);
  assert_false(load(in, 1, 300));
  assert_true(load(in, 1, 301));
  struct l1_event e = {.warp = 0, .line = 301 * 128};
  assert_true(in->scheme->l1->store(&in->ctx, &e, 1));
  assert_false(load(in, 1, 301));
  g->sm[0].shared_taken = 24 * 1024; /* 186 lines are left: 128; 300 moves from 44 to 44, 200 from 200 away */
  load(in, 1, 200);
  gpu_space_changed(g, 0);
  assert_true(load(in, 1, 300));
  assert_false(load(in, 1, 200));
  in->scheme->l1->drop(&in->ctx, 0); /* a fence */
  assert_false(load(in, 1, 300));
  assert_int_equal(in->counter[THROTTLED], 0);
  g->sm[0].shared_taken = 0;
  gpu_free(g);
}

static void ciao_never(void **state) {
  (void)state;
  rig_same("baseline", "ciao=off", "switched off");
  rig_same("sector=128", "ciao:high=1000", "no score is so high");
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {PAPER_TEST(victims_stay, "linebacker"),
                                     PAPER_TEST(sectors, "linebacker"),
                                     PAPER_TEST(loads_of_high_locality, "linebacker"),
                                     PAPER_TEST(stores_and_price, "linebacker"),
                                     PAPER_TEST(space_follows_ctas, "linebacker"),
                                     PAPER_TEST(throttling, "linebacker"),
                                     NEVER_TEST(never, "linebacker"),
                                     NEVER_TEST(no_idle_register, "linebacker"),
                                     PAPER_TEST(interfering_warps_are_redirected_then_throttled, "ciao"),
                                     PAPER_TEST(warps_come_and_go, "ciao"),
                                     PAPER_TEST(shared_memory_is_direct_mapped, "ciao"),
                                     NEVER_TEST(ciao_never, "ciao"),
                                     cmocka_unit_test(one_port),
                                     cmocka_unit_test(refused),
                                     cmocka_unit_test(storage)};
  return scheme_tests(tests, argc, argv);
}
