/* test_scheme_warps.c - warp schedulers and throttling, and the schemes that are configurations: by hand, and where
 * they must equal each other.
 */
#include "scheme_rig.h"

static struct rig rig;

/* Rogers et al., MICRO 2012, section 4: e takes a's line, whose tag goes to the warp's victim tags; a's miss finds it
 * there (and evicts b). Six instructions are issued by then, so that the score is 1/6 x 8 x (1 warp x 100) = 133. */
static void ccws_lost_locality(void **state) {
  (void)state;
  struct rig_access at[8];
  rig_run(&rig, "ccws", NULL, at, rig_letters("a b c d e a e", at));
  assert_int_equal(rig.counter[0], 2);
  assert_int_equal(rig.counter[1], 1);
  assert_int_equal(rig.counter[2], 133);
  assert_int_equal(rig.counter[3], 1);
  rig_same("baseline", "ccws:k=0", "scores that stay at the base hold nobody");
}

static void schedulers(void **state) {
  (void)state;
  rig_same("gto", "swl=48", "a limit of all warps is GTO");
  rig_same("baseline", "gto", "GTO is the baseline's");
  rig_same("lrr", "two-level=64", "an active set of all warps is round-robin");
}

static void perfect(void **state) {
  (void)state;
  struct rig_access at[16];
  rig_run(&rig, "perfect-l1", NULL, at, rig_letters("a b c d e f", at));
  rig_expect(&rig, 6, 0, 0, "a perfect L1");
}

static void configured(void **state) {
  (void)state;
  struct gpu_config c;
  struct slots s;
  struct err e = {0};
  gpu_config_defaults(&c);
  assert_true(slots_parse(&s, "l1-size=64+l1-latency=20+l2-banks=4+fcfs", &e) && slots_configure(&s, &c, &e));
  assert_int_equal(c.l1d.sets, 64);
  assert_int_equal(c.l1d.ways, 8);
  assert_int_equal(c.l1d_latency, 20);
  assert_true(c.l2_banked && c.l2_banks == 4);
  assert_int_equal(c.dram_sched, DRAM_FCFS);
  gpu_config_defaults(&c);
  assert_true(slots_parse(&s, "l1-full-assoc+l2-size=1536", &e) && slots_configure(&s, &c, &e));
  assert_int_equal(c.l1d.ways, 128);
  assert_int_equal(c.l2.sets, 128);
  assert_true(slots_parse(&s, "l1-size=24", &e));
  assert_false(slots_configure(&s, &c, &e));
  assert_int_equal(e.code, ERR_USAGE);
}

/* Two of a kind are refused by name; a name may end in '+'. */
static void owners(void **state) {
  (void)state;
  static const char *const refused[][3] = {{"tsc+rrip", "tsc", "rrip"},
                                           {"tsc++sector", "tsc+", "sector"},
                                           {"lrr,two-level", "lrr", "two-level"},
                                           {"pdp+nru", "pdp", "nru"},
                                           {"fcfs+fr-fcfs", "fcfs", "fr-fcfs"}};
  struct slots s;
  for (uint32_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct err e = {0};
    assert_false(slots_parse(&s, refused[i][0], &e));
    assert_non_null(strstr(e.msg, refused[i][1]));
    assert_non_null(strstr(e.msg, refused[i][2]));
  }
  struct err e = {0};
  assert_true(slots_parse(&s, "tsc++bucl,swl=8", &e));
  assert_int_equal(s.count, 3);
  assert_string_equal(s.at[0].scheme->name, "tsc+");
  assert_true(slots_parse(&s, "bucl+tsc+:private=5", &e));
  assert_string_equal(s.at[1].scheme->name, "tsc+");
}

/* A search stands for one machine per value; one machine cannot run it. */
static void sweeps(void **state) {
  (void)state;
  char list[128];
  struct slots s;
  struct err e = {0};
  assert_int_equal(scheme_sweep_count("bucl"), 1);
  assert_int_equal(scheme_sweep_count("swl-best+bucl"), 13);
  assert_true(scheme_sweep_list("swl-best+bucl", 5, list, sizeof list));
  assert_string_equal(list, "swl:warps=8+bucl");
  assert_true(scheme_sweep_list("tsc+,bucl:tucd=3", 0, list, sizeof list));
  assert_string_equal(list, "tsc++bucl:tucd=3");
  assert_false(scheme_sweep_list("swl-best+bucl", 5, list, 8));
  assert_true(scheme_sweep_values("swl-best+bucl", 5, list, sizeof list));
  assert_string_equal(list, "warps=8");
  assert_true(scheme_sweep_values("swl-best+pdp-best", 12 * 12 + 1, list, sizeof list));
  assert_string_equal(list, "warps=48 pd=8");
  assert_false(scheme_sweep_prepare("swl-best+bucl", list, sizeof list));
  assert_true(scheme_sweep_prepare("swl-best+profiled=local+mrpb", list, sizeof list));
  assert_string_equal(list, "block-filter:run=1/filter=0+mrpb");
  assert_true(scheme_sweep_list("profiled=global", 2, list, sizeof list));
  assert_string_equal(list, "block-filter:threshold=3/run=2/filter=1");
  assert_true(scheme_sweep_check("profiled=both+swl-best", &e));
  assert_false(scheme_sweep_check("bucl+profiled=globl", &e));
  assert_non_null(strstr(e.msg, "nor one of local, global, both"));
  assert_false(scheme_sweep_check("swl-best=8", &e));
  assert_non_null(strstr(e.msg, "swl-best takes no value"));
  assert_false(slots_parse(&s, "pdp-best", &e));
  assert_int_equal(e.code, ERR_USAGE);
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme_sweep *w = scheme_at(i)->sweep;
    for (uint32_t k = 0; w && k < scheme_sweep_count(scheme_at(i)->name); k++) {
      assert_true(scheme_sweep_list(scheme_at(i)->name, k, list, sizeof list));
      if (!slots_parse(&s, list, &e)) fail_msg("%s: %s", list, e.msg);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ccws_lost_locality), cmocka_unit_test(schedulers), cmocka_unit_test(perfect),
      cmocka_unit_test(configured),         cmocka_unit_test(owners),     cmocka_unit_test(sweeps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
