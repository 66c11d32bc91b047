/* test_tlb.c - translation of addresses: page walks, and requests that wait for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/state/tlb.h"

enum { PAGE = 2048 * 1024 };

static void a_page_is_walked_once(void **state) {
  (void)state;
  const struct gpu_config c = {.tlb_entries = 4, .tlb_latency = 654, .tlb_page_kb = 2048};
  struct tlb t;
  bool missed;
  tlb_init(&t, &c);
  assert_int_equal(tlb_look(&t, 5, 100, &missed), 754);
  assert_true(missed);
  assert_int_equal(tlb_look(&t, PAGE - 1, 700, &missed), 754); /* of the same page: waits for the same walk */
  assert_false(missed);
  assert_int_equal(tlb_look(&t, PAGE, 700, &missed), 1354); /* the next page */
  assert_true(missed);
  assert_true(tlb_look(&t, 64, 2000, &missed) <= 2000);
  assert_false(missed);
  assert_int_equal(tlb_look(&t, 4ull * PAGE, 3000, &missed), 3654); /* takes the place of the first page */
  assert_int_equal(tlb_look(&t, 0, 4000, &missed), 4654);
  assert_true(missed);
  tlb_clear(&t);
  assert_int_equal(tlb_look(&t, PAGE, 5000, &missed), 5654);
  assert_true(missed);
  tlb_destroy(&t);
}

static void waiting_requests_leave_in_order(void **state) {
  (void)state;
  struct tlb_wait w = {0};
  for (req_id id = 1; id <= 40; id++) tlb_hold(&w, id, id % 2 ? 200 : 100);
  for (uint32_t turn = 0; turn < 2; turn++)
    for (req_id id = turn ? 1 : 2; id <= 40; id += 2) {
      assert_int_equal(w.held[w.first].ready, turn ? 200 : 100);
      assert_int_equal(w.held[w.first].id, id);
      tlb_leave(&w);
      if (id == 20) tlb_hold(&w, 99, 300); /* room in front is used */
    }
  assert_int_equal(w.count, 1);
  assert_int_equal(w.held[w.first].id, 99);
  free(w.held);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_page_is_walked_once),
      cmocka_unit_test(waiting_requests_leave_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
