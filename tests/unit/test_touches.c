/* test_touches.c - accesses of CTAs that run one after the other, in the order of CTAs side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sample/touches.h"

/* Lines are named by letters. */
struct seen {
  char order[64], place[64]; /* place: a digit */
  uint32_t n, writes, parts;
  uint32_t *times; /* of each line, if not NULL */
};

static void note(void *ctx, const struct touched_line *l) {
  struct seen *s = ctx;
  if (s->times) s->times[l->addr >> 7]++;
  else if (s->n < sizeof s->order - 1) s->order[s->n] = (char)(l->addr >> 7), s->place[s->n] = (char)('0' + l->place);
  assert_int_equal(l->addr & 127, 0);
  assert_true(l->sectors && l->sectors < 16);
  s->n++;
  s->writes += l->write;
  s->parts += l->part == 4;
}

static struct touched at(char line, uint32_t time, uint32_t place) {
  return (struct touched){.what = (uint64_t)line << 7 | 5, .at = time, .place = place};
}

/* Two side by side. a to c of the first CTA are at 0, 5 and 5, its end at 6; d and e of the second at 1 and 2, its end
 * at 3; so the third begins at 3, and f and g are at 3 and 4; the fourth at 5, where it is behind the first's. */
static void by_hand(void **state) {
  (void)state;
  struct touches *t = touches_new();
  struct seen s = {0};
  struct touched one[] = {at('b', 5, 0), at('c', 5, 1), at('a', 0, 2)}, two[] = {at('d', 1, 0), at('e', 2, 1)};
  struct touched three[] = {at('f', 0, 0), at('g', 1, 1)}, four[] = {at('h', 0, 0)};
  two[1].what |= TOUCHED_WRITE;
  three[0].what |= TOUCHED_WRITE | UINT64_C(4) << TOUCHED_PART;
  touches_begin(t, 2, note, &s);
  touches_cta(t, &(struct touched_cta){one, 3, 6, 0});
  touches_cta(t, &(struct touched_cta){two, 2, 3, 0});
  touches_cta(t, &(struct touched_cta){three, 2, 2, 0});
  touches_cta(t, &(struct touched_cta){four, 1, 1, 0});
  touches_flush(t);
  assert_string_equal(s.order, "adefgbch");
  assert_string_equal(s.place, "01111001");
  assert_int_equal(s.writes, 2);
  assert_int_equal(s.parts, 1);
  /* A part comes at once, behind those before it; with one place CTAs follow each other. */
  memset(&s, 0, sizeof s);
  touches_begin(t, 1, note, &s);
  touches_cta(t, &(struct touched_cta){two, 2, 3, 0});
  touches_part(t, &(struct touched_cta){three, 2, 0, 0});
  touches_cta(t, &(struct touched_cta){one, 3, 6, 0});
  assert_string_equal(s.order, "defg");
  touches_cta(t, &(struct touched_cta){four, 1, 1, 0});
  touches_flush(t);
  touches_flush(t);
  assert_string_equal(s.order, "defgabch");
  touches_free(t);
}

/* More than is kept, CTAs without an access among them: each access comes once. */
static void each_once(void **state) {
  (void)state;
  enum { LINES = 5 << 20, MOST = 140000 };
  static const uint32_t sides[] = {16, 120};
  struct touches *t = touches_new();
  struct touched *touch = mem_zeroed(MOST, sizeof *touch);
  struct seen s = {.times = mem_zeroed(LINES, sizeof(uint32_t))};
  struct rng r = {9};
  for (uint32_t k = 0; k < 2; k++) {
    memset(s.times, 0, LINES * sizeof *s.times);
    touches_begin(t, sides[k], note, &s);
    for (uint32_t line = 0; line < LINES;) {
      uint32_t n = rng_below(&r, 4) ? rng_below(&r, MOST) : 0;
      if (n > LINES - line) n = LINES - line;
      for (uint32_t i = 0; i < n; i++)
        touch[i] = (struct touched){.what = (uint64_t)line++ << 7 | 1, .at = rng_below(&r, 1000), .place = i};
      touches_cta(t, &(struct touched_cta){touch, n, 1000, 0});
    }
    touches_flush(t);
    for (uint32_t i = 0; i < LINES; i++)
      if (s.times[i] != 1) fail_msg("line %u came %u times, %u side by side", i, s.times[i], sides[k]);
  }
  free(s.times);
  free(touch);
  touches_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_hand), cmocka_unit_test(each_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
