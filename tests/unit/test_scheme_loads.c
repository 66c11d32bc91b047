/* test_scheme_loads.c - schemes that treat each load instruction by what its lines were used for, by hand. */
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
 * 1: all miss; the tags of a ... f are found in the second round: six times more than hits, so the distance rises to 15.
 * 2: a, b, c, d take the lines and are protected; e and f bypass. Their tags and those of a ... d are found once each, and
 *    a ... d hit once: 4 hits, 6 tags, one step more, which is the most already.
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

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(dlp_round, "dlp"),
      PAPER_TEST(dlp_instructions, "dlp"),
      cmocka_unit_test(dlp_storage),
  };
  return scheme_tests(tests, argc, argv);
}
