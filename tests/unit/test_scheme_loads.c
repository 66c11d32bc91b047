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
    if (!i) COUNTERS(runs[i].list, 0, 0, 0, 0, 0, 0, 0, 0); /* switched off: it does not monitor either */
    else COUNTERS(runs[i].list, 35, 1, 1, 0, 0, runs[i].bypasses, 0, runs[i].protected);
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
  still = rig_still(scheme);
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
/* ---- snake ---- */

/* Load `pc` of a warp, and the lines that it requests. */
static void snake_load(uint32_t warp, uint32_t pc, uint64_t addr, const uint64_t *by_hand, uint32_t n) {
  uint64_t line[16];
  load(warp, pc, addr, L1_MISS);
  for (uint32_t i = 0; i < n; i++) line[i] = by_hand[i] / 128 * 128;
  lines(line, n);
}
#define CHAIN(warp, pc, addr, ...)                            \
  snake_load(warp, pc, addr, (const uint64_t[]){__VA_ARGS__}, \
             sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define QUIET(warp, pc, addr) snake_load(warp, pc, addr, NULL, 0)

static void snake_start(const char *list, uint32_t warps) {
  begin(list);
  for (uint32_t w = 0; w < warps; w++) in->scheme->on_warp_start(&in->ctx, 0, w, 0);
}

/* The strides of LPS: -400, 40400, -400 from load to load, from bases that have no stride. Three warps
 * promote each link, the fourth follows the chain. Then two warps go elsewhere from load 1, which costs the link these
 * warps, and a third, which costs it its promotion. */
static void snake_chain(void **state) {
  (void)state;
  static const uint64_t base[] = {100000, 200000, 700000, 1500000};
  snake_start("snake:ahead=0", 8);
  for (uint32_t w = 0; w < 3; w++) {
    QUIET(w, 1, base[w]);
    QUIET(w, 2, base[w] - 400);
    QUIET(w, 3, base[w] + 40000);
    QUIET(w, 4, base[w] + 39600);
  }
  assert_int_equal(in->counter[0], 9);
  assert_int_equal(in->counter[1], 3); /* promoted */
  CHAIN(3, 1, base[3], base[3] - 400, base[3] + 40000, base[3] + 39600);
  CHAIN(3, 2, base[3] - 400, base[3] + 40000, base[3] + 39600);
  for (uint32_t w = 4; w < 7; w++) {
    CHAIN(w, 1, base[3] * w, base[3] * w - 400, base[3] * w + 40000, base[3] * w + 39600);
    assert_int_equal(in->counter[2], 0);
    CHAIN(w, 2, base[3] * w + 8000, base[3] * w + 48400, base[3] * w + 48000);
  }
  assert_int_equal(in->counter[2], 1);
  CHAIN(7, 1, base[0], base[0] + 8000, base[0] + 48400, base[0] + 48000); /* three warps agree on this stride */
  end();
  snake_start("snake:depth=1/ahead=0", 4);
  for (uint32_t w = 0; w < 3; w++) QUIET(w, 1, base[w]), QUIET(w, 2, base[w] - 400), QUIET(w, 3, base[w] + 40000);
  CHAIN(3, 1, base[3], base[3] - 400);
  end();
}

/* Loads 6 and 7 of a loop, 300 B apart, 2000 B a round: the stride of load 6 is found back along the chain. */
static void snake_within(void **state) {
  (void)state;
  static const uint64_t base[] = {100000, 200000, 700000};
  snake_start("snake:ahead=0/depth=0", 3);
  for (uint32_t w = 0; w < 3; w++) {
    QUIET(w, 6, base[w]);
    QUIET(w, 7, base[w] + 300);
    if (w < 2) QUIET(w, 6, base[w] + 2000);
    else CHAIN(w, 6, base[w] + 2000, base[w] + 4000);
  }
  assert_int_equal(in->counter[4], 1);
  end();
}

/* Warps 1, 2, 3 load 1024 B apart, and 8192 B further next. In the second round, 0x80c24 further, the third of
 * them knows both. */
static void snake_between(void **state) {
  (void)state;
  snake_start("snake:ahead=2", 8);
  for (uint64_t pc = 520; pc < 560; pc += 20)
    for (uint64_t w = 1; w <= 3; w++) QUIET((uint32_t)w, (uint32_t)pc, 1024 * w + (pc - 520) / 20 * 8192);
  CHAIN(1, 520, 0x81024, 0x81024 + 8192);
  CHAIN(2, 520, 0x81024 + 1024, 0x81024 + 1024 + 8192);
  CHAIN(3, 520, 0x81824, 0x81824 + 8192, 0x81824 + 0x80c24, 0x81824 + 1024, 0x81824 + 2048);
  assert_int_equal(in->counter[5], 2);
  end();
}

static void snake_line(uint32_t way, bool prefetch, bool hit) {
  struct l1_event e = {.way = way, .prefetch = prefetch};
  if (hit) in->scheme->on_hit(&in->ctx, &e);
  else in->scheme->on_place(&in->ctx, &e);
}

static int snake_victim(void) {
  static const uint64_t used[] = {9, 8, 1, 2}, tag[4];
  const struct cache_set cs = {.ways = 4, .usable = 15, .tag = tag, .used = used};
  const struct l1_event e = {.line = 0};
  return in->scheme->find_victim(&in->ctx, 0, &cs, &e);
}

/* Prefetched lines give way, until four fifths of them were loaded: then the others do. */
static void snake_decouples(void **state) {
  (void)state;
  snake_start("snake", 3);
  for (uint32_t w = 0; w < 4; w++) snake_line(w, w < 2, false);
  assert_int_equal(snake_victim(), 1);
  snake_line(1, false, true);
  assert_int_equal(snake_victim(), 0);
  snake_line(0, false, true);
  assert_int_equal(snake_victim(), 2);
  for (uint32_t set = 1; set < 32; set++)
    for (uint32_t w = 0; w < 4; w++)
      in->scheme->on_place(&in->ctx, &(struct l1_event){.set = set, .way = w, .prefetch = set == 31});
  const struct l1_event evicts = {.set = 5, .prefetch = true};
  in->scheme->on_evict(&in->ctx, &evicts, 0, false); /* 2 of 6 lines were loaded: the four of set 31 are freed */
  assert_int_equal(in->counter[7], 1);
  in->scheme->on_evict(&in->ctx, &evicts, 0, false); /* there is space in other sets */
  assert_int_equal(in->counter[7], 1);
  for (uint32_t w = 0; w < 4; w++) in->scheme->on_hit(&in->ctx, &(struct l1_event){.set = 31, .way = w});
  snake_line(3, true, false);
  snake_line(3, false, true);
  in->scheme->on_evict(&in->ctx, &evicts, 0, false); /* 5 of 1: 32 others are freed, the oldest, 2 of set 0 first */
  assert_int_equal(in->counter[7], 2);
  snake_line(0, true, false);
  assert_int_equal(snake_victim(), 2);
  end();
}

/* The first load of a warp, with one load after it in its chain. */
static void snake_new_warp(bool halted) {
  in->scheme->on_warp_start(&in->ctx, 0, 3, 0);
  if (halted) QUIET(3, 1, 50000);
  else CHAIN(3, 1, 50000, 58000);
}

/* 50 cycles without requests for lack of space; from 70 % of the bandwidth down to 50 %. A window of 128
 * cycles takes 128 flits, a line is 5. */
static void snake_throttles(void **state) {
  (void)state;
  const struct l1_event fill = {.way = 0};
  snake_start("snake:ahead=0", 4);
  for (uint32_t w = 0; w < 3; w++) QUIET(w, 1, 100000 + 7000 * w * w), QUIET(w, 2, 108000 + 7000 * w * w);
  for (uint32_t set = 0; set < 32; set++)
    for (uint32_t w = 0; w < 4; w++) in->scheme->on_place(&in->ctx, &(struct l1_event){.set = set, .way = w});
  still->now = 1000;
  snake_new_warp(false);
  in->scheme->on_evict(&in->ctx, &(struct l1_event){.prefetch = true}, 0, false);
  snake_new_warp(true);
  still->now = 1049;
  snake_new_warp(true);
  still->now = 1050;
  snake_new_warp(false);
  assert_int_equal(in->counter[6], 2);
  static const uint32_t fills[] = {17, 18, 17, 13, 12, 17};
  static const bool halted[] = {false, false, true, true, true, false};
  for (uint32_t i = 0; i < 6; i++) {
    still->now = 1280 + 128 * i;
    snake_new_warp(halted[i]);
    for (uint32_t k = 0; k < fills[i]; k++) in->scheme->on_fill(&in->ctx, &fill);
  }
  assert_int_equal(in->counter[8], 1);
  end();
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(dlp_round, "dlp"),        PAPER_TEST(dlp_instructions, "dlp"),  cmocka_unit_test(dlp_storage),
      PAPER_TEST(apcm_by_hand, "apcm"),    PAPER_TEST(apcm_types, "apcm"),       PAPER_TEST(apres_groups, "apres"),
      PAPER_TEST(apres_accesses, "apres"), PAPER_TEST(snake_chain, "snake"),     PAPER_TEST(snake_within, "snake"),
      PAPER_TEST(snake_between, "snake"),  PAPER_TEST(snake_decouples, "snake"), PAPER_TEST(snake_throttles, "snake"),
  };
  return scheme_tests(tests, argc, argv);
}
