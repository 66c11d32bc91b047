/* test_scheme_search.c - poise: its search over vital and polluting warps, computed by hand on a made-up machine whose
 * work depends on the two numbers alone.
 */
#include <stdlib.h>

#include "gpu/state/machine.h"
#include "mem_scheme.h"

enum { WARPS = 8 };
static struct bench b;
static struct gpu machine;
static struct sm sms[2];

static void start(const char *list) {
  memset(&machine, 0, sizeof machine);
  memset(sms, 0, sizeof sms);
  bench_start(&b, list);
  b.c->gpu = &machine;
  machine.sm = sms;
  sms[0].live = (1u << WARPS) - 1;
  for (uint32_t w = 0; w < WARPS; w++) sms[0].w[w].age = w;
  if (b.scheme->on_kernel) b.scheme->on_kernel(b.c);
}
static uint32_t vital(void) {
  return (uint32_t)__builtin_popcountll(b.scheme->may_issue(b.c, 0, sms[0].live, 0));
}
static uint32_t polluting(void) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < WARPS; w++) n += b.scheme->may_allocate(b.c, &(struct l1_event){.warp = w});
  return n;
}
/* A quantum at the present tuple, whose work is highest at n, p. */
static void quantum(int n, int p) {
  sms[0].warp_insts += (uint64_t)(100 - 10 * abs((int)vital() - n) - 5 * abs((int)polluting() - p));
  b.scheme->on_epoch(b.c);
}

/* Best at 4 of 8 warps, 2 of them polluting; stride 2. (8,8) 30, (6,6) 60, (4,4) 90, (2,2) 80; p: (4,2) 100, (4,1) 95;
 * stride 1: (3,2) 90, (5,2) 90, (4,1) 95, (4,3) 95: ten trials with the start, of three quanta each, the first of which
 * is not counted. */
static void search_by_hand(void **state) {
  (void)state;
  static const uint32_t tried[][2] = {{8, 8}, {6, 6}, {4, 4}, {2, 2}, {4, 2}, {4, 1}, {3, 2}, {5, 2}, {4, 1}, {4, 3}};
  start("poise:stride=2/period=5/warmup=1");
  assert_int_equal(vital(), 8);
  quantum(4, 2);
  assert_int_equal(bench_counter(&b, "looks"), 1);
  quantum(4, 2); /* the second look begins the search */
  for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
    for (uint32_t q = 0; q < 3; q++) {
      assert_int_equal(vital(), tried[i][0]);
      assert_int_equal(polluting(), tried[i][1]);
      quantum(4, 2);
    }
  assert_int_equal(vital(), 4);
  assert_int_equal(polluting(), 2);
  assert_int_equal(bench_counter(&b, "trials"), 9);
  assert_int_equal(bench_counter(&b, "moves"), 3);
  assert_int_equal(bench_counter(&b, "searches"), 1);
  /* After five quanta it begins again at the best. The work now has its best at 6, 2: up by the stride. */
  for (uint32_t q = 0; q < 5 + 3; q++) quantum(6, 2);
  assert_int_equal(vital(), 2); /* down first */
  for (uint32_t q = 0; q < 3; q++) quantum(6, 2);
  assert_int_equal(vital(), 6);
  for (uint32_t q = 0; q < 100 && bench_counter(&b, "searches") < 2; q++) quantum(6, 2);
  assert_int_equal(bench_counter(&b, "n_sum"), 4 + 6);
  assert_int_equal(bench_counter(&b, "p_sum"), 2 + 2);
  bench_end(&b);
}

/* A given tuple stays: the oldest four issue, two by each scheduler, and the oldest of them allocates. */
static void a_tuple_stays(void **state) {
  (void)state;
  start("poise:n=4/p=1/stride=0/warmup=0");
  assert_int_equal(b.scheme->may_issue(b.c, 0, sms[0].live, 0), sms[0].live); /* before the first look */
  for (uint32_t q = 0; q < 10; q++) {
    quantum(8, 8);
    assert_int_equal(b.scheme->may_issue(b.c, 0, sms[0].live, 0), 15);
    assert_true(b.scheme->may_allocate(b.c, &(struct l1_event){.warp = 0}));
    assert_int_equal(polluting(), 1);
  }
  sms[0].done = 1; /* the oldest ends: the next one follows */
  assert_int_equal(b.scheme->may_issue(b.c, 0, sms[0].live & ~sms[0].done, 0), 0x1e);
  assert_true(b.scheme->may_allocate(b.c, &(struct l1_event){.warp = 1}));
  sms[0].done = 0;
  sms[0].w[0].age = WARPS; /* a new warp in its slot is the youngest */
  b.scheme->on_warp_start(b.c, 0, 0, 9);
  assert_int_equal(b.scheme->may_issue(b.c, 0, sms[0].live, 0), 0x1e);
  assert_int_equal(bench_counter(&b, "trials"), 0);
  bench_end(&b);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(search_by_hand, "poise"),
      cmocka_unit_test(a_tuple_stays),
  };
  return scheme_tests(tests, argc, argv);
}
