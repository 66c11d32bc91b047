/* test_scheme_loads.c - schemes that treat each load instruction by what its lines were used for, by hand. */
#include "gpu/l1/l1.h"
#include "scheme_rig.h"

static struct rig rig;

/* A sequence of loads, an instruction number and a line each: "1a 1b 2a". */
static void loads(const char *scheme, const char *set, const char *text, uint32_t times) {
  static struct rig_access at[RIG_MAX];
  uint32_t n = 0;
  while (times--)
    for (const char *p = text; *p; p += *p == ' ' ? 1 : 2)
      if (*p != ' ') at[n++] = (struct rig_access){.line = (uint64_t)(p[1] - 'a'), .pc = (uint32_t)(*p - '0')};
  rig_run(&rig, scheme, set, at, n);
}

static void counters(const uint64_t *by_hand, uint32_t n, const char *what) {
  for (uint32_t i = 0; i < n; i++)
    if (rig.counter[i] != by_hand[i])
      fail_msg("%s: counter %u is %lu, by hand %lu", what, i, (unsigned long)rig.counter[i], (unsigned long)by_hand[i]);
}
#define COUNTERS(what, ...) \
  counters((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), what)

/* ---- dlp: one set of four ways ---- */

/* Six lines go round. A period is two rounds; under LRU nothing hits.
 * 1: all miss; the tags of a ... f are found in the second round and nothing hits: the distance rises to 15.
 * 2: a, b, c, d take the lines and are protected; e and f bypass. Their tags and those of a ... d are found once each,
 *    and a ... d hit once: 4 hits, 6 tags, one step more, which is the most already.
 * 3, 4, 5: 8 hits, no tag: 11, 7, 3.
 * 6: a ... d hit with a life of 3, which is over when e comes: e replaces a, and so on. */
static void dlp_round(void **state) {
  (void)state;
  static const char *const round = "1a 1b 1c 1d 1e 1f";
  loads("dlp:period=12", NULL, round, 2);
  rig_expect(&rig, 0, 12, 0, "the first period");
  COUNTERS("the first period", 0, 0, 6, 1, 0, 0);
  loads("dlp:period=12", NULL, round, 4);
  rig_expect(&rig, 4, 16, 4, "the second");
  COUNTERS("the second", 4, 4, 12, 2, 0, 8 * 15);
  loads("dlp:period=12", NULL, round, 10);
  rig_expect(&rig, 28, 16, 16, "the fifth");
  COUNTERS("the fifth", 16, 28, 12, 2, 3, 8 * (15 + 15 + 11 + 7));
  loads("dlp:period=12", NULL, round, 12);
  rig_expect(&rig, 32, 24, 16, "the sixth");
  COUNTERS("the sixth", 16, 32, 18, 3, 3, 8 * (15 + 15 + 11 + 7) + 12 * 3);
}

/* Each instruction has its own distance: 1 loads a over and over, 2 streams. The tags of the stream are not found. */
static void dlp_instructions(void **state) {
  (void)state;
  static const char *const text = "1a 2b 2c 2d 2e 1a 2f 2g 2h 2i";
  loads("dlp:period=10", NULL, text, 1); /* a was lost to the stream once */
  rig_expect(&rig, 0, 10, 0, "LRU");
  COUNTERS("LRU", 0, 0, 1, 1, 0, 0);
  static struct rig_access at[64]; /* after that a stays, while the stream takes the other three ways */
  uint32_t n = 0;
  for (uint32_t i = 0; i < 20; i++) {
    uint32_t k = i % 5, first = i < 10 ? 1 : 100;
    at[n++] = (struct rig_access){.line = k ? first + i : 0, .pc = k ? 2 : 1};
  }
  rig_run(&rig, "dlp:period=10", NULL, at, n);
  rig_expect(&rig, 1, 19, 0, "a is protected");
  COUNTERS("a is protected", 0, 1, 2, 1, 0, 2 * 15);
  rig_run(&rig, "dlp=0:period=10", NULL, at, n);
  rig_expect(&rig, 0, 20, 0, "no distance");
}

static void dlp_storage(void **state) {
  (void)state;
  assert_float_equal(rig_storage_kb("dlp") * 1024, 176 + 624 + 464, 0.01);
}

/* ---- apcm: one set of four ways, 8 tags, two lines to judge a load by ---- */

/* Each round instruction 1 loads a new line X, 2 four more, y z w v, and 1 X again. Under LRU v evicts X.
 * The 9th and 12th lines push y and z of the first round out of the tags: 2 streams from round 1 on, so that y ... v of
 * later rounds bypass. X of rounds 0 and 1 are out at the 13th and 18th line: 1 reuses them, 5 loads after. X is
 * protected when it is placed after that: the second time of round 3, if it does not hit, and in each later round. */
static void apcm_by_hand(void **state) {
  (void)state;
  static struct rig_access at[42];
  static const struct {
    const char *list;
    uint64_t hits, misses, bypasses, protected;
  } runs[] = {{"apcm:lines=2/tags=8/bypass=0/protect=0", 0, 42, 0, 0},
              {"apcm:lines=2/tags=8/bypass=0", 3, 39, 0, 4},
              {"apcm:lines=2/tags=8/protect=0", 5, 17, 20, 0},
              {"apcm:lines=2/tags=8", 5, 17, 20, 3}};
  for (uint32_t i = 0; i < 42; i++) {
    uint32_t round = i / 6, k = i % 6;
    at[i] = (struct rig_access){.line = 5 * round + k % 5, .pc = k % 5 ? 2 : 1};
  }
  for (uint32_t i = 0; i < 4; i++) {
    rig_run(&rig, runs[i].list, NULL, at, 42);
    rig_expect(&rig, runs[i].hits, runs[i].misses, runs[i].bypasses, runs[i].list);
    COUNTERS(runs[i].list, 35, 1, 1, 0, 0, runs[i].bypasses, 0, runs[i].protected);
  }
  /* One line to judge by: a of a round of five, used again 5 loads later. From j on lines are protected: n finds four
   * of them and bypasses, o too; p comes when the life of j is over. */
  loads("apcm:lines=1/tags=8", NULL, "1a 1b 1c 1d 1e 1a 1b 1c 1d 1e 1f 1g 1h 1i 1j 1k 1l 1m 1n 1j 1o 1p", 1);
  rig_expect(&rig, 1, 19, 2, "a set of protected lines");
  assert_int_equal(rig.counter[6], 2);
}

/* ---- loads shown to a scheme by hand, of several warps, on a machine that stands still ---- */

static struct gpu *still;
static struct slot_instance *in;

static void begin(const char *scheme) {
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 1;
  claims_saw(scheme);
  still = gpu_new(&c, scheme, &e);
  if (!still) fail_msg("%s", e.msg);
  in = &still->slots.at[0];
}

static void end(void) {
  gpu_free(still);
}

static void load(uint32_t warp, uint32_t pc, uint64_t addr, enum l1_outcome out) {
  struct l1_event e = {.addr = addr, .line = addr / 128 * 128, .warp = warp, .pc = pc, .degree = 1, .chunks = 15};
  in->scheme->on_access(&in->ctx, &e, out);
}

/* Warp 3 loads first and is monitored. 1: warp 5 loads the same lines; 2: warp 3 does, too; 3: no warp again; 4: warp 3
 * alone. Only 3 takes no line. When warp 3 ends, warp 5 is monitored. */
static void apcm_types(void **state) {
  (void)state;
  begin("apcm:lines=2/tags=8");
  for (uint64_t i = 0; i < 2; i++) {
    load(3, 1, 0x10000 + 128 * i, L1_MISS);
    load(5, 1, 0x10000 + 128 * i, L1_HIT);
    load(3, 2, 0x20000 + 128 * i, L1_MISS);
    load(3, 2, 0x20000 + 128 * i, L1_HIT);
    load(5, 2, 0x20000 + 128 * i, L1_HIT);
    load(3, 3, 0x30000 + 128 * i, L1_MISS);
    load(5, 4, 0x50000 + 128 * i, L1_MISS);
    load(3, 4, 0x40000 + 128 * i, L1_MISS);
    load(3, 4, 0x40000 + 128 * i, L1_HIT);
  }
  assert_int_equal(in->counter[0], 0);
  in->scheme->on_warp_done(&in->ctx, 0, 3);
  assert_int_equal(in->counter[0], 8);
  for (uint32_t i = 1; i <= 4; i++) assert_int_equal(in->counter[i], 1);
  for (uint32_t pc = 1; pc <= 4; pc++) {
    const struct l1_event e = {.pc = pc};
    assert_int_equal(in->scheme->may_allocate(&in->ctx, &e), pc != 3);
  }
  load(5, 6, 0x60000, L1_MISS);
  load(3, 6, 0x60000 + 128, L1_MISS);
  in->scheme->on_warp_done(&in->ctx, 0, 5);
  assert_int_equal(in->counter[0], 9);
  end();
}

/* ---- apres: six warps ---- */

static void issue(uint32_t warp, uint32_t pc) {
  const struct inst i = {.kind = KIND_LOAD, .space = SPACE_GLOBAL, .pc = pc};
  in->scheme->on_issue(&in->ctx, 0, warp, &i);
}

static void order(const char *by_hand) {
  char is[8] = "";
  uint64_t left = 63;
  for (uint32_t i = 0; left; i++) {
    int w = in->scheme->pick_warp(&in->ctx, 0, 0, left);
    assert_in_range(w, 0, 5);
    is[i] = (char)('0' + w);
    left &= ~(1ull << w);
  }
  assert_string_equal(is, by_hand);
}

/* The lines that wait to be fetched, in order. */
static void lines(const uint64_t *by_hand, uint32_t n) {
  struct sm *s = &still->sm[0];
  for (uint32_t i = 0; i < n; i++) {
    assert_true(l1_prefetch_waits(&s->l1d));
    assert_int_equal(l1_prefetch_take(s).line, by_hand[i]);
  }
  assert_false(l1_prefetch_waits(&s->l1d));
}
#define LINES(...) lines((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define NO_LINES() lines(NULL, 0)

/* Loads 7 hit: the other warps come first. Loads 9 miss with 1024 B from warp to warp: the group waits behind the rest,
 * until two pairs agree; then its lines are requested and it comes first. */
static void apres_groups(void **state) {
  (void)state;
  begin("apres");
  for (uint32_t w = 0; w < 6; w++) in->scheme->on_warp_start(&in->ctx, 0, w, 0);
  order("012345");
  issue(0, 7);
  load(0, 7, 0x8000, L1_HIT);
  order("123450");
  for (uint32_t w = 1; w < 6; w++) issue(w, 7), load(w, 7, 0x8000, L1_HIT);
  order("543210"); /* 1 moves 2 3 4 5 to the head, 2 moves 3 4 5, and so on; 5 has no group left */
  issue(5, 9);
  load(5, 9, 0x10000 + 5 * 1024, L1_MISS);
  order("543210"); /* all of them, and none before the others */
  issue(1, 9);
  load(1, 9, 0x10000 + 1 * 1024, L1_MISS);
  order("543210"); /* 1 and its group 0 2 3 4 behind 5 */
  NO_LINES();
  issue(2, 9);
  load(2, 9, 0x10000 + 2 * 1024, L1_MISS);
  order("430512"); /* the group 0 3 4 first, 2 last */
  LINES(0x10000, 0x10000 + 3 * 1024, 0x10000 + 4 * 1024);
  issue(3, 9);
  load(3, 9, 0x20000, L1_MISS); /* another stride */
  order("512430");
  NO_LINES();
  issue(0, 9);
  issue(4, 9);
  issue(5, 11);
  issue(1, 11); /* the fourth: the group of 0 is lost */
  load(0, 9, 0x8000, L1_HIT);
  order("512430");
  const uint64_t by_hand[] = {5, 3, 1, 1, 3};
  for (uint32_t i = 0; i < 5; i++) assert_int_equal(in->counter[i], by_hand[i]);
  in->scheme->on_warp_done(&in->ctx, 0, 5);
  assert_int_equal(in->scheme->pick_warp(&in->ctx, 0, 0, 63), 1);
  end();
}

/* A load of two accesses is repeated with both, as they look up the L1. */
static void apres_accesses(void **state) {
  (void)state;
  begin("apres:laws=0");
  for (uint32_t w = 0; w < 6; w++) in->scheme->on_warp_start(&in->ctx, 0, w, 0);
  for (uint32_t w = 0; w < 4; w++) {
    issue(w, 9);
    for (uint64_t i = 0; i < 2; i++) {
      struct l1_event e = {.line = 0x10000 + 512 * w + 4096 * i, .warp = w, .pc = 9, .degree = 2, .chunks = 15};
      e.addr = e.line;
      in->scheme->on_access(&in->ctx, &e, L1_MISS);
    }
    if (w == 2) LINES(0x10600, 0x10800, 0x10a00, 0x11600, 0x11800, 0x11a00);
    else if (w == 3) LINES(0x10800, 0x10a00, 0x11800, 0x11a00);
    else NO_LINES();
  }
  end();
}
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(dlp_round, "dlp"),        PAPER_TEST(dlp_instructions, "dlp"), cmocka_unit_test(dlp_storage),
      PAPER_TEST(apcm_by_hand, "apcm"),    PAPER_TEST(apcm_types, "apcm"),      PAPER_TEST(apres_groups, "apres"),
      PAPER_TEST(apres_accesses, "apres"),
  };
  return scheme_tests(tests, argc, argv);
}
