/* Whose turn it is at the crossbar's arbiters behind launches without time: as behind the last timed one of the kernel
 * and grid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "gpu/icnt/icnt.h"
#include "gpu/turns.h"
#include "units.h"

/* The last CTA of a launch was on SM 4, and two of three slices served SM 6 last, the third SM 5: behind one without
 * time whose last CTA was on SM 10 that is SM 12 or 11. A slice that no request reached keeps its turn. */
static void as_the_last_timed_one(void **state) {
  (void)state;
  struct err e = {0};
  struct gpu_config c;
  if (!gpu_config_load(&c, "fermi", &e)) fail_msg("%s", e.msg);
  struct gpu *g = gpu_new(&c, NULL, &e);
  struct feed_kernel k = {.name = "k", .ctas = 20}, wider = {.name = "k", .ctas = 21},
                     other = {.name = "m", .ctas = 20};
  uint32_t n = g->subparts, eleven = 0, twelve = 0, kept = 0;
  for (uint32_t i = 0; i < n; i++) icnt_granted_last(g->icnt, c.sms + i, 1);
  turns_begin(g);
  for (uint32_t i = 1; i < n; i++) icnt_granted_last(g->icnt, c.sms + i, i % 3 ? 6 : 5);
  g->last_sm = 4;
  turns_end(g, &k);
  for (uint32_t i = 0; i < n; i++) icnt_granted_last(g->icnt, c.sms + i, 3);
  g->last_sm = 10;
  turns_touch(g, &wider);
  turns_touch(g, &other);
  for (uint32_t i = 0; i < n; i++) assert_int_equal(icnt_granted(g->icnt, c.sms + i), 3);
  turns_touch(g, &k);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t sm = icnt_granted(g->icnt, c.sms + i);
    eleven += sm == 11, twelve += sm == 12, kept += sm == 3;
  }
  assert_int_equal(kept, 1);
  assert_int_equal(eleven, (n - 1) / 3);
  assert_int_equal(eleven + twelve + kept, n);
  gpu_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_last_timed_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
