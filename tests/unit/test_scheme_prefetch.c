/* test_scheme_prefetch.c - what becomes of prefetched lines, and the prefetching schemes, by hand: one warp whose loads
 * wait for each other, on an L1 of one set of four ways.
 */
#include "gpu/l1/l1.h"
#include "scheme_rig.h"

static struct rig rig;

static void letters(const char *scheme, const char *set, const char *text) {
  static struct rig_access at[64];
  rig_run(&rig, scheme, set, at, rig_letters(text, at));
}

/* Fetched: useful, late, evicted, left. Not fetched: redundant, no queue, no MSHR, no line. */
static void fates(const char *what, const uint64_t fetched[4], const uint64_t not_fetched[4]) {
  const struct gpu_stats *s = &rig.st;
  const uint64_t is[8] = {s->prefetch_useful,    s->prefetch_late,     s->prefetch_evicted, s->prefetch_left,
                          s->prefetch_redundant, s->prefetch_no_queue, s->prefetch_no_mshr, s->prefetch_no_line};
  static const char *const name[8] = {"useful",    "late",     "evicted", "left",
                                      "redundant", "no queue", "no MSHR", "no line"};
  for (uint32_t i = 0; i < 8; i++) {
    uint64_t by_hand = i < 4 ? fetched[i] : not_fetched[i - 4];
    if (is[i] != by_hand)
      fail_msg("%s: %lu %s, by hand %lu", what, (unsigned long)is[i], name[i], (unsigned long)by_hand);
  }
}
#define FETCHED(...) ((const uint64_t[4]){__VA_ARGS__})
#define NOT_FETCHED(...) ((const uint64_t[4]){__VA_ARGS__})

/* Each line is loaded twice. What a miss requests comes with its own line, before the next one is loaded; what a hit
 * requests takes longer than the hits, so that c is in flight when it is loaded. */
static void one_block_lookahead(void **state) {
  (void)state;
  letters("next-line:when=1", NULL, "a a b b c c d d"); /* a and c miss and request b and d */
  rig_expect(&rig, 6, 2, 0, "on misses");
  fates("on misses", FETCHED(2, 0, 0, 0), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line", NULL, "a a b b c c d d"); /* a requests b, whose use requests c, and so on; e is not used */
  rig_expect(&rig, 6, 1, 0, "tagged");
  fates("tagged", FETCHED(2, 1, 0, 1), NOT_FETCHED(0, 0, 0, 0));
  assert_int_equal(rig.counter[0], 1);
  assert_int_equal(rig.counter[1], 3);
  letters("next-line:when=0", NULL, "a a b b c c d d"); /* every second load requests a line that is there */
  rig_expect(&rig, 6, 1, 0, "always");
  fates("always", FETCHED(2, 1, 0, 1), NOT_FETCHED(4, 0, 0, 0));
  letters("next-line=2:when=1", NULL, "a a b c d"); /* a requests b and c, d for e and f */
  rig_expect(&rig, 3, 2, 0, "two lines");
  fates("two lines", FETCHED(2, 0, 0, 2), NOT_FETCHED(0, 0, 0, 0));
}

static void each_fate(void **state) {
  (void)state;
  /* Four misses request b, q, s, c. The set is full with a, b, p, q. r takes the place of b, used last when it was
   * placed, s that of a, b that of q, c that of p. */
  letters("next-line:when=1", NULL, "a a p p r r b b");
  rig_expect(&rig, 4, 4, 0, "replaced before use");
  fates("replaced before use", FETCHED(0, 0, 2, 2), NOT_FETCHED(0, 0, 0, 0));
  assert_int_equal(rig.st.prefetch_bytes, 4 * 128);
  assert_int_equal(rig.st.prefetch_requests, 4);
  letters("next-line:when=1", NULL, "a a B b"); /* the store evicts b, whose load requests c */
  rig_expect(&rig, 1, 2, 0, "a store");
  fates("a store", FETCHED(0, 0, 0, 2), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line:when=1", "l1d.mshrs=1", "a a b"); /* the load itself has the only MSHR */
  rig_expect(&rig, 1, 2, 0, "no MSHR");
  fates("no MSHR", FETCHED(0, 0, 0, 0), NOT_FETCHED(0, 0, 2, 0));
  letters("next-line=8:when=1", "l1d.prefetch_queue=3", "a"); /* eight lines at once for a queue of three */
  fates("a short queue", FETCHED(0, 0, 0, 3), NOT_FETCHED(0, 5, 0, 0));
  letters("next-line=8:when=1", NULL, "a"); /* three ways are left while all of them are being fetched */
  fates("a small set", FETCHED(0, 0, 0, 3), NOT_FETCHED(0, 0, 0, 5));
  /* A reply takes 5 steps of a slow network: b is in flight when its load comes. */
  letters("next-line:when=1", "clock.icnt_mhz=20", "a b");
  assert_int_equal(rig.st.l1d_read_pending, 1);
  rig_expect(&rig, 0, 1, 0, "late");
  fates("late", FETCHED(0, 1, 0, 0), NOT_FETCHED(0, 0, 0, 0));
}

/* The same through an organisation: its lines are those of the L1, and only the sectors of the load are fetched. */
static void organisations(void **state) {
  (void)state;
  letters("next-line:when=1+sector", NULL, "a a b b c c d d");
  rig_expect(&rig, 6, 2, 0, "sectors, on misses");
  fates("sectors, on misses", FETCHED(2, 0, 0, 0), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line:when=1+sector", NULL, "a a p p r r b b");
  rig_expect(&rig, 4, 4, 0, "sectors, replaced before use");
  fates("sectors, replaced before use", FETCHED(0, 0, 2, 2), NOT_FETCHED(0, 0, 0, 0));
  const struct rig_access at[] = {{.line = 0, .sectors = 1}, {.line = 0, .sectors = 1}, {.line = 1, .sectors = 1}};
  rig_run(&rig, "next-line:when=1+sector", NULL, at, 3);
  rig_expect(&rig, 2, 1, 0, "one sector");
  assert_int_equal(rig.st.prefetch_bytes, 32);
  letters("next-line:when=1", "l1d.allocate=on-fill", "a a b b c c d d");
  rig_expect(&rig, 6, 2, 0, "lines allocated on fill");
  fates("lines allocated on fill", FETCHED(2, 0, 0, 0), NOT_FETCHED(0, 0, 0, 0));
}

/* Into the L2: the L1 misses each line. b, c and d are there when they are loaded; e is not used. */
static void into_the_l2(void **state) {
  (void)state;
  const struct gpu_stats *s = &rig.st;
  letters("next-line:when=1/into=l2", NULL, "a a b b c c d d");
  rig_expect(&rig, 4, 4, 0, "lines in the L2");
  fates("not in the L1", FETCHED(0, 0, 0, 0), NOT_FETCHED(0, 0, 0, 0));
  assert_int_equal(s->l2_prefetch_requested, 4);
  assert_int_equal(s->l2_prefetch_sent, 4);
  assert_int_equal(s->l2_prefetch_issued, 4);
  assert_int_equal(s->l2_prefetch_useful, 3);
  assert_int_equal(s->l2_prefetch_left, 1);
  assert_int_equal(s->l2_read_accesses, 4); /* prefetches are not among them */
  uint64_t cycles = s->cycles, reads = s->dram_reads;
  letters(NULL, NULL, "a a b b c c d d");
  assert_true(cycles < s->cycles);
  assert_int_equal(reads, s->dram_reads + 2); /* e, in two bursts */
  /* Slow DRAM: b comes with a, c is requested by a load that needs no DRAM and is late, d is left. */
  letters("next-line:when=1/into=l2", "dram.fixed_latency=1000", "a a b b c c");
  assert_int_equal(s->l2_prefetch_useful, 1);
  assert_int_equal(s->l2_prefetch_late, 1);
  assert_int_equal(s->l2_prefetch_left, 1);
  letters("next-line:when=1/into=l2", NULL, "a a b b A b b"); /* the store leaves the L1's b alone: two misses */
  assert_int_equal(s->l2_prefetch_issued, 2);
  letters("next-line=8:when=1/into=l2", "l1d.prefetch_queue=3", "a");
  assert_int_equal(s->l2_prefetch_no_queue, 5);
  assert_int_equal(s->l2_prefetch_issued, 3);
  letters("next-line:when=1/into=l2", "l2.sets=1,l2.ways=1", "a"); /* the only line of the set is being fetched */
  assert_int_equal(s->l2_prefetch_no_mshr, 1);
  letters("next-line:when=1/into=l2", "l2.perfect=true", "a b");
  assert_int_equal(s->l2_prefetch_redundant, 2);
  letters("next-line:when=1/into=l2", "tlb.entries=64,tlb.latency=50", "a a b b");
  assert_int_equal(s->l2_prefetch_issued, 2);
}

/* Random traffic on small L2s of each kind: every fate occurs, whether idle time is skipped or not. */
static void any_l2(void **state) {
  (void)state;
  static struct fake_feed feed;
  static const char *const set[] = {"l2.sets=2,l2.ways=2", "l2.sets=2,l2.ways=2,l2.organisation=sector",
                                    "l2.sets=4,l2.ways=2,memory.subpartitions=1,l2.banked=true,l2.banks=4,l2.ports=4"};
  static const char *const list[] = {"next-line=2:into=l2", "stride:into=l2+next-line",
                                     "next-line:into=l2+l2-mockingjay"};
  for (uint32_t i = 0; i < 9; i++) {
    struct gpu_stats st[2];
    for (uint32_t k = 0; k < 2; k++) {
      struct gpu_config c;
      struct err e = {0};
      gpu_config_defaults(&c);
      c.sms = 3;
      settings_apply(&c, set[i % 3]);
      struct gpu *g = gpu_new(&c, list[i / 3], &e);
      if (!g) fail_msg("%s", e.msg);
      gpu_set_skip(g, !k);
      fake_kernel(&feed, 90 + i, 12, 4, 4, 128 * 1024);
      if (!gpu_run_kernel(g, &feed.feed, &st[k], &e)) fail_msg("%s: %s", list[i / 3], e.msg);
      gpu_free(g);
    }
    rig_equal(&st[0], &st[1], "skipping", "stepping", list[i / 3]);
    const struct gpu_stats *is = &st[0];
    if (i / 3 == 1) continue; /* random loads have no stride */
    assert_true(is->l2_prefetch_evicted && is->l2_prefetch_redundant && is->l2_prefetch_no_mshr);
    if (i < 3) assert_true(is->l2_prefetch_useful && is->l2_prefetch_late);
    else assert_true(is->l2_prefetch_no_line); /* what Mockingjay gives no line */
  }
}

/* The end of a launch waits for no prefetch: the cycles are those without, and the line is still counted. */
static void the_end(void **state) {
  (void)state;
  letters(NULL, NULL, "a");
  uint64_t cycles = rig.st.cycles;
  letters("next-line", "dram.fixed_latency=1000", "a");
  uint64_t slow = rig.st.cycles;
  fates("the end", FETCHED(0, 0, 0, 1), NOT_FETCHED(0, 0, 0, 0));
  letters("next-line", NULL, "a");
  fates("the end", FETCHED(0, 0, 0, 1), NOT_FETCHED(0, 0, 0, 0));
  assert_int_equal(rig.st.cycles, cycles);
  assert_true(slow > cycles);
}

/* ---- loads shown to a scheme by hand, on a machine that stands still: the lines that it requests ---- */

enum { PC = 0x1a, LINE = 128 };
static struct gpu *still;
static struct slot_instance *in;

static void begin(const char *scheme) {
  still = rig_still(scheme);
  in = &still->slots.at[0];
}

static void end(void) {
  gpu_free(still);
}

/* A load of one access by `warp`; the addresses of the lines that it makes the scheme request, 0 after the last. */
static void load(uint32_t warp, uint32_t pc, uint64_t addr, const uint64_t *lines) {
  struct sm *s = &still->sm[0];
  struct l1_event e = {.addr = addr, .line = addr / LINE * LINE, .warp = warp, .pc = pc, .degree = 1, .chunks = 15};
  in->scheme->on_access(&in->ctx, &e, L1_MISS);
  for (uint32_t i = 0; lines[i] || l1_prefetch_waits(&s->l1d); i++) {
    uint64_t line = l1_prefetch_waits(&s->l1d) ? l1_prefetch_take(s).line : 0;
    if (line != lines[i])
      fail_msg("%s: warp %u at %lu requests %lu, by hand %lu", in->scheme->name, warp, (unsigned long)addr,
               (unsigned long)line, (unsigned long)lines[i]);
    if (!line) break;
  }
}
#define LOAD(warp, addr, ...) load(warp, PC, addr, (const uint64_t[]){__VA_ARGS__, 0})

/* Chen, Baer: the states of an entry. */
static void reference_prediction(void **state) {
  (void)state;
  begin("stride");
  LOAD(0, 1024, 0);    /* initial */
  LOAD(0, 1536, 0);    /* transient: stride 512 */
  LOAD(0, 2048, 2560); /* steady */
  LOAD(0, 2560, 3072);
  LOAD(0, 9216, 0);      /* initial, the stride stays */
  LOAD(0, 9728, 10240);  /* steady */
  LOAD(0, 9856, 0);      /* initial */
  LOAD(0, 20480, 0);     /* transient: stride 10624 */
  LOAD(0, 30720, 0);     /* no prediction: stride 10240 */
  LOAD(0, 40960, 0);     /* transient */
  LOAD(0, 51200, 61440); /* steady */
  assert_int_equal(in->counter[2], 4);
  end();
  begin("stride=2:distance=3/eager=1");
  LOAD(0, 1024, 0);
  LOAD(0, 1536, 1536 + 3 * 512, 1536 + 4 * 512); /* transient */
  end();
  /* Lee et al., section III: two warps in a loop of stride 1000 look irregular without an entry for each. */
  for (uint32_t warps = 0; warps < 2; warps++) {
    begin(warps ? "stride" : "stride:warp=0");
    LOAD(1, 0, 0);
    LOAD(2, 640, 0);
    LOAD(1, 12800, 0);
    LOAD(2, 13440, 0);
    if (warps) {
      LOAD(1, 25600, 38400);
      LOAD(2, 26240, 39040);
    } else {
      LOAD(1, 25600, 0);
      LOAD(2, 26240, 0);
    }
    end();
  }
}

/* Three warps with a stride of 12800 in a loop promote it: the first load of a fourth is enough then. They differ by no
 * common stride between warps. */
static void many_threads(void **state) {
  (void)state;
  static const uint64_t base[] = {0, 128000, 1280000};
  begin("mta:throttle=0");
  for (uint32_t round = 0; round < 2; round++)
    for (uint32_t w = 0; w < 3; w++) LOAD(w, base[w] + round * 12800, 0);
  LOAD(0, base[0] + 25600, base[0] + 38400);
  LOAD(1, base[1] + 25600, base[1] + 38400);
  assert_int_equal(in->counter[4], 0);
  LOAD(2, base[2] + 25600, base[2] + 38400);
  assert_int_equal(in->counter[4], 1); /* promoted */
  LOAD(3, 6400000, 6412800);
  assert_int_equal(in->counter[0], 1);
  assert_int_equal(in->counter[2], 3);
  end();
  /* Warps 0, 1 and 3 load 256 B per warp apart: warp 4 tells the line of warp 5. */
  begin("mta:throttle=0");
  LOAD(0, 4096, 0);
  LOAD(1, 4352, 0);
  LOAD(3, 4864, 0);
  LOAD(4, 5120, 5376);
  assert_int_equal(in->counter[1], 1);
  end();
}

static void show_fate(enum prefetch_fate fate, uint32_t times) {
  const struct l1_event e = {.warp = 0};
  for (uint32_t i = 0; i < times; i++) in->scheme->on_prefetch(&in->ctx, &e, fate);
}

/* Loads of one warp with a stride: each requests a line once the stride is known, or is throttled. */
static uint64_t walk(uint32_t loads) {
  static uint64_t at = 1 << 20;
  uint64_t before = in->counter[5];
  for (uint32_t i = 0; i < loads; i++) {
    struct l1_event e = {.addr = at += 12800, .pc = PC, .degree = 1};
    in->scheme->on_access(&in->ctx, &e, L1_HIT);
    if (l1_prefetch_waits(&still->sm[0].l1d)) l1_prefetch_take(&still->sm[0]);
  }
  return in->counter[5] - before;
}

/* Section V, Table I: of five requests, as many as the degree are dropped. A period of 200 useful lines. */
static void many_threads_throttle(void **state) {
  (void)state;
  static const struct {
    uint32_t evicted, merges, degree;
  } period[] = {
      {1, 300, 1},               /* few evictions, many merges: one less */
      {0, 300, 0},  {3, 300, 1}, /* 1.5 % evicted: one more */
      {10, 300, 5},              /* 5 %: none */
      {0, 300, 4},  {0, 0, 3},   /* the merge ratio is a mean with that of the time before: still high */
      {0, 0, 5},                 /* few merges: none */
  };
  struct l1_event joins = {.local = true};
  begin("mta");
  assert_int_equal(walk(2), 0); /* the stride is not known */
  assert_int_equal(walk(5), 2); /* the first degree */
  for (uint32_t i = 0; i < sizeof period / sizeof *period; i++) {
    show_fate(PREFETCH_USEFUL, 200);
    show_fate(PREFETCH_EVICTED, period[i].evicted);
    for (uint32_t k = 0; k < period[i].merges; k++) in->scheme->on_access(&in->ctx, &joins, L1_PENDING);
    in->scheme->on_epoch(&in->ctx);
    assert_int_equal(walk(5), period[i].degree);
  }
  end();
}

/* Four warps of CTA 7 and four of CTA 8. Warp 0 leads; warp 2 shows 1024 B per warp, which gives the lines of the other
 * warps of both CTAs that have a base. */
static void cta_aware(void **state) {
  (void)state;
  begin("cta-prefetch:wrong=2");
  for (uint32_t w = 0; w < 8; w++) in->scheme->on_warp_start(&in->ctx, 0, w, w < 4 ? 7 : 8);
  LOAD(0, 4096, 0);
  LOAD(5, 65536, 0); /* leads CTA 8 */
  LOAD(2, 6144, 5120, 7168, 64512, 66560, 67584);
  LOAD(1, 5120, 0);
  assert_int_equal(in->counter[3], 1); /* right */
  LOAD(0, 8192, 9216, 10240, 11264);   /* the next round of a loop */
  LOAD(1, 9216 + 128, 0);
  LOAD(2, 10240 + 128, 0);
  assert_int_equal(in->counter[4], 2); /* wrong: twice is too often */
  LOAD(0, 12288, 0);
  end();
  /* An address that was loaded, through an addition, is not traced. */
  const struct inst index = {.kind = KIND_LOAD, .space = SPACE_GLOBAL, .addr_reg = 1, .ndst = 1, .dst = {2}},
                    add = {.kind = KIND_ALU, .nsrc = 2, .src = {3, 2}, .ndst = 1, .dst = {4}},
                    data = {.kind = KIND_LOAD, .space = SPACE_GLOBAL, .pc = PC, .addr_reg = 4, .ndst = 1, .dst = {5}};
  begin("cta-prefetch");
  for (uint32_t w = 0; w < 4; w++) in->scheme->on_warp_start(&in->ctx, 0, w, 7);
  in->scheme->on_issue(&in->ctx, 0, 0, &index);
  in->scheme->on_issue(&in->ctx, 0, 0, &add);
  in->scheme->on_issue(&in->ctx, 0, 0, &data);
  LOAD(0, 4096, 0);
  LOAD(1, 5120, 0);
  assert_int_equal(in->counter[5], 2);
  end();
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(one_block_lookahead, "next-line"),
      cmocka_unit_test(each_fate),
      cmocka_unit_test(organisations),
      cmocka_unit_test(into_the_l2),
      cmocka_unit_test(any_l2),
      cmocka_unit_test(the_end),
      PAPER_TEST(reference_prediction, "stride"),
      PAPER_TEST(many_threads, "mta"),
      PAPER_TEST(many_threads_throttle, "mta"),
      PAPER_TEST(cta_aware, "cta-prefetch"),
  };
  return scheme_tests(tests, argc, argv);
}
