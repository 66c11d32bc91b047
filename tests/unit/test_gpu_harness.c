/* test_gpu_harness.c - the whole machine on random kernels: laws hold, runs repeat, skipping idle time changes nothing,
 * and every registered scheme and every pair of them runs or is refused with both names. No code per scheme.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/gpu.h"
#include "gpu/common/invariants.h"
#include "gpu/slots/slots.h"
#include "units.h"

struct outcome {
  struct gpu_stats st;
  uint64_t counter[SLOTS_MAX][SCHEME_COUNTERS_MAX];
  enum sm_kind kind; /* of its last launch */
};

/* Instrumented code is slow and finds other errors: there a third of the pairs and a run of each kind is enough; the
 * uninstrumented build runs all and compares. */
#ifdef __SANITIZE_ADDRESS__
enum { EVERY_NTH_PAIR = 3, COMPARES = false };
#else
enum { EVERY_NTH_PAIR = 1, COMPARES = true };
#endif

static struct fake_feed feed;

/* How much random traffic a run sees. Small ones are for the tests that make hundreds of runs. */
struct size {
  uint32_t sms, ctas, loops, kernels;
  uint64_t footprint;
};
static const struct size large = {4, 20, 6, 2, 256 * 1024}, medium = {3, 12, 3, 2, 128 * 1024},
                         small = {2, 3, 2, 1, 64 * 1024};

static bool kinds = true; /* for gpu_set_kinds */

static bool run_sized(const struct size *z, const char *scheme, uint64_t seed, bool skip, const char *set,
                      struct outcome *out, struct err *e) {
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.sms = z->sms;
  if (set) {
    char key[64];
    const char *eq = strchr(set, '=');
    snprintf(key, sizeof key, "%.*s", (int)(eq - set), set);
    if (!gpu_config_set(&c, key, eq + 1, "test", e)) return false;
  }
  struct gpu *g = gpu_new(&c, scheme, e);
  if (!g) return false;
  gpu_set_skip(g, skip);
  gpu_set_kinds(g, kinds);
  memset(out, 0, sizeof *out);
  bool ok = true;
  for (uint32_t k = 0; k < z->kernels && ok; k++) {
    struct gpu_stats st;
    fake_kernel(&feed, seed + k, z->ctas, 4, z->loops, z->footprint);
    ok = gpu_run_kernel(g, &feed.feed, &st, e);
    gpu_stats_add(&out->st, &st);
    out->kind = gpu_kind(g);
    if (ok) {
      assert_int_equal(feed.started, z->ctas);
      assert_int_equal(feed.ended, z->ctas);
      assert_int_equal(feed.pending_atomics, 0);
    }
  }
  struct slots *s = gpu_slots(g);
  for (uint32_t i = 0; i < s->count; i++) memcpy(out->counter[i], s->at[i].counter, sizeof out->counter[i]);
  gpu_free(g);
  return ok;
}

static bool run(const char *scheme, uint64_t seed, bool skip, const char *set, struct outcome *out, struct err *e) {
  return run_sized(&large, scheme, seed, skip, set, out, e);
}

static void must_run_sized(const struct size *z, const char *scheme, uint64_t seed, bool skip, const char *set,
                           struct outcome *out) {
  struct err e = {0};
  if (!run_sized(z, scheme, seed, skip, set, out, &e)) fail_msg("%s: %s", scheme ? scheme : "baseline", e.msg);
}

static void must_run(const char *scheme, uint64_t seed, bool skip, const char *set, struct outcome *out) {
  struct err e = {0};
  if (!run(scheme, seed, skip, set, out, &e)) fail_msg("%s: %s", scheme ? scheme : "baseline", e.msg);
}

/* Every row that differs, by name. */
static void same(const struct outcome *a, const struct outcome *b, const char *what) {
  bool differ = false;
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    double x = gpu_stats_value(&a->st, &gpu_stat_rows[i]), y = gpu_stats_value(&b->st, &gpu_stat_rows[i]);
    if (x == y) continue;
    print_error("%s: %s is %.17g in one run and %.17g in the other\n", what, gpu_stat_rows[i].key, x, y);
    differ = true;
  }
  assert_false(differ);
  assert_memory_equal(a->counter, b->counter, sizeof a->counter);
}

static void repeats(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed < 3; seed++) {
    struct outcome a, b;
    must_run(NULL, seed, true, NULL, &a);
    must_run(NULL, seed, true, NULL, &b);
    same(&a, &b, "two runs");
    assert_true(a.st.cycles > 1000);
  }
}

static void skipping_changes_nothing(void **state) {
  (void)state;
  static const char *const sets[] = {NULL,
                                     "sm.warp_scheduler=lrr",
                                     "sm.warp_scheduler=two-level",
                                     "sm.warp_scheduler=gty",
                                     "l1d.latency=20",
                                     "l1d.allocate=on-fill",
                                     "l1d.enabled=false",
                                     "icnt.topology=mesh",
                                     "dram.scheduler=fcfs",
                                     "l1d.miss_queue=2",
                                     "clock.core_mhz=500"};
  for (uint32_t s = 0; s < sizeof sets / sizeof *sets; s++)
    for (uint64_t seed = 10; seed < 12; seed++) {
      struct outcome a, b;
      must_run_sized(&medium, NULL, seed, true, sets[s], &a);
      must_run_sized(&medium, NULL, seed, false, sets[s], &b);
      same(&a, &b, sets[s] ? sets[s] : "defaults");
    }
}

/* The steps compiled for the default machine, without and with schemes, do what those for any machine do; with a
 * different value of such a knob they are not used. */
static void baseline_kind_changes_nothing(void **state) {
  (void)state;
  static const char *const defaults[] = {NULL,
                                         "l1d.ways=8",
                                         "l1d.sets=64",
                                         "l1d.mshrs=4",
                                         "l1d.mshr_merges=2",
                                         "l1d.miss_queue=2",
                                         "l1d.line_bytes=64",
                                         "sm.shared_latency=30",
                                         "icnt.topology=mesh",
                                         "clock.core_mhz=500"};
  static const char *const other[] = {"sm.warp_scheduler=lrr", "sm.warp_scheduler=two-level",
                                      "sm.schedulers=1",       "sm.schedulers=3",
                                      "sm.sp_units=1",         "sm.sfu_units=2",
                                      "sm.fetch_width=2",      "sm.writeback_width=1",
                                      "sm.register_banks=32",  "l1d.latency=20",
                                      "l1d.allocate=on-fill",  "l1d.enabled=false",
                                      "l1d.perfect=true",      "l1d.index=linear",
                                      "l1d.replacement=fifo",  "l2.organisation=sector",
                                      "sm.collectors_sp=4",    "sm.collectors_sfu=2",
                                      "sm.collectors_mem=1",   "l1i.prefetch=4",
                                      "l1c.interval=2",        "tlb.entries=4"};
  struct outcome a, b;
  for (uint32_t s = 0; s < sizeof defaults / sizeof *defaults; s++)
    for (uint64_t seed = 40; seed < 42; seed++) {
      must_run_sized(&medium, NULL, seed, true, defaults[s], &a);
      kinds = false;
      must_run_sized(&medium, NULL, seed, true, defaults[s], &b);
      kinds = true;
      same(&a, &b, defaults[s] ? defaults[s] : "defaults");
      assert_true(a.kind == SM_BASELINE && b.kind == SM_GENERAL);
    }
  for (uint32_t s = 0; s < sizeof other / sizeof *other; s++) {
    must_run_sized(&medium, NULL, 40, true, other[s], &a);
    kinds = false;
    must_run_sized(&medium, NULL, 40, true, other[s], &b);
    kinds = true;
    same(&a, &b, other[s]);
    if (a.kind == SM_BASELINE) fail_msg("%s: taken for the default machine", other[s]);
  }
  uint32_t found = 0;
  for (uint32_t i = 0; i < scheme_count(); i++) {
    if (scheme_at(i)->sweep) continue;
    must_run_sized(&small, scheme_at(i)->name, 41, true, NULL, &a);
    if (a.kind == SM_GENERAL || a.kind == SM_PLACED) continue;
    assert_int_equal(a.kind, SM_SCHEMES);
    kinds = false;
    must_run_sized(&small, scheme_at(i)->name, 41, true, NULL, &b);
    kinds = true;
    same(&a, &b, scheme_at(i)->name);
    found++;
  }
  assert_true(found > 40);
}

static void every_scheme(void **state) {
  (void)state;
  assert_true(scheme_count() >= 3);
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *sc = scheme_at(i);
    struct outcome a, b, off;
    uint64_t moved[SCHEME_COUNTERS_MAX] = {0};
    if (sc->sweep) continue;
    if (!COMPARES) {
      must_run_sized(&medium, sc->name, 21, true, NULL, &a);
      must_run_sized(&medium, sc->name, 22, false, "l1d.allocate=on-fill", &b);
      continue;
    }
    /* The large run is for what must move; the same seed again and without skipping, on the medium one. */
    must_run(sc->name, 20, true, NULL, &a);
    for (uint32_t k = 0; k < scheme_counter_count(sc); k++) moved[k] += a.counter[0][k];
    for (uint64_t seed = 21; seed < 23; seed++) {
      must_run_sized(&medium, sc->name, seed, true, NULL, &a);
      must_run_sized(&medium, sc->name, seed, false, NULL, &off);
      same(&a, &off, sc->name);
      for (uint32_t k = 0; k < scheme_counter_count(sc); k++) moved[k] += a.counter[0][k];
    }
    must_run_sized(&medium, sc->name, 22, true, NULL, &b);
    same(&a, &b, sc->name);
    must_run_sized(&medium, sc->name, 22, true, "l1d.allocate=on-fill", &a);
    must_run_sized(&medium, sc->name, 22, false, "l1d.allocate=on-fill", &b);
    same(&a, &b, sc->name);
    for (uint32_t k = 0; k < scheme_counter_count(sc); k++)
      if (sc->counters[k].must_move && !moved[k])
        fail_msg("%s: counter %s did not move", sc->name, sc->counters[k].name);
  }
}

/* `sluice schemes NAME` has something to say about every part. */
static void every_scheme_explains_itself(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *sc = scheme_at(i);
    double param[SCHEME_PARAMS_MAX] = {0};
    const char *slot;
    if (!sc->title || !sc->paper || !sc->idea || strlen(sc->idea) < 50)
      fail_msg("%s: no title, paper or idea", sc->name);
    if (!sc->sweep && !scheme_hook(sc, 0, &slot)) fail_msg("%s fills no hook", sc->name);
    if (sc->sweep && !scheme_find(sc->sweep->base)) fail_msg("%s searches %s", sc->name, sc->sweep->base);
    for (uint32_t p = 0; p < scheme_param_count(sc); p++) {
      const struct scheme_param *q = &sc->params[p];
      if (!q->unit || !q->doc || q->dflt < q->min || q->dflt > q->max) fail_msg("%s: %s", sc->name, q->name);
      param[p] = q->dflt;
    }
    for (uint32_t k = 0; k < scheme_counter_count(sc); k++)
      if (!sc->counters[k].unit || !sc->counters[k].doc) fail_msg("%s: %s", sc->name, sc->counters[k].name);
    struct scheme_bits bits[32];
    uint32_t n = sc->storage ? sc->storage(&c, param, bits, 32) : 0;
    for (uint32_t k = 0; k < n; k++)
      if (!bits[k].item || bits[k].bits != bits[k].bits) fail_msg("%s: storage item %u", sc->name, k);
  }
}

static void knobs_at_their_ends(void **state) {
  (void)state;
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const struct scheme *sc = scheme_at(i);
    for (uint32_t p = 0; !sc->sweep && p < scheme_param_count(sc); p++)
      for (uint32_t end = 0; end < 2; end++) {
        char list[128];
        snprintf(list, sizeof list, "%s:%s=%.17g", sc->name, sc->params[p].name,
                 end ? sc->params[p].max : sc->params[p].min);
        struct outcome a;
        struct err e = {0};
        if (!run_sized(&small, list, 30, true, NULL, &a, &e) && e.code != ERR_USAGE) fail_msg("%s: %s", list, e.msg);
      }
  }
}

static void every_pair(void **state) {
  (void)state;
  uint32_t ran = 0, refused = 0;
  for (uint32_t i = 0; i < scheme_count(); i++)
    for (uint32_t j = i + 1; j < scheme_count(); j++) {
      if (scheme_at(i)->sweep || scheme_at(j)->sweep) continue;
      if (EVERY_NTH_PAIR > 1 && (i + j) % EVERY_NTH_PAIR) continue;
      const char *a = scheme_at(i)->name, *b = scheme_at(j)->name;
      char list[128];
      snprintf(list, sizeof list, "%s+%s", a, b);
      struct outcome out;
      struct err e = {0};
      if (run_sized(&small, list, 40, true, NULL, &out, &e)) {
        ran++;
        continue;
      }
      if (e.code != ERR_USAGE || !strstr(e.msg, a) || !strstr(e.msg, b)) fail_msg("%s: %s", list, e.msg);
      refused++;
    }
  print_message("composition: %u pairs run, %u refused\n", ran, refused);
}

/* Each law is broken on purpose, by one in a counter it names, and must name itself. */
static void laws_catch_mutations(void **state) {
  (void)state;
  struct outcome a;
  must_run(NULL, 50, true, NULL, &a);
  struct err e = {0};
  /* Sums of launches obey the laws, too. */
  assert_true(gpu_check_laws(&a.st, &e));
  for (uint32_t i = 0; i < gpu_law_count; i++) {
    struct gpu_stats m = a.st;
    uint64_t *left = (uint64_t *)((char *)&m + gpu_laws[i].left[0] - 1);
    *left = gpu_laws[i].at_most ? UINT64_MAX / 2 : *left + 1;
    bool named = false;
    /* An earlier law over the same counter may speak first: skip to this one. */
    if (gpu_check_laws(&m, &e)) fail_msg("law '%s' did not catch its mutation", gpu_laws[i].name);
    for (uint32_t k = 0; k <= i; k++) named |= strstr(e.msg, gpu_laws[k].name) != NULL;
    assert_true(named);
  }
}

static void bad_lists(void **state) {
  (void)state;
  static const struct {
    const char *list, *expect;
  } bad[] = {{"buclx", "did you mean 'bucl'"},
             {"swl=0", "out of range"},
             {"swl=x", "not a number"},
             {"bucl:tucdd=3", "did you mean 'tucd'"},
             {"bucl:min=9/max=3", "min=9 is above max=3"},
             {"swl,,bucl", "empty name"},
             {"swl=4+swl=8", "named twice"}};
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct outcome out;
    struct err e = {0};
    assert_false(run(bad[i].list, 1, true, NULL, &out, &e));
    assert_int_equal(e.code, ERR_USAGE);
    if (!strstr(e.msg, bad[i].expect)) fail_msg("%s: %s", bad[i].list, e.msg);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(repeats),
      cmocka_unit_test(skipping_changes_nothing),
      cmocka_unit_test(baseline_kind_changes_nothing),
      cmocka_unit_test(every_scheme_explains_itself),
      cmocka_unit_test(every_scheme),
      cmocka_unit_test(knobs_at_their_ends),
      cmocka_unit_test(every_pair),
      cmocka_unit_test(laws_catch_mutations),
      cmocka_unit_test(bad_lists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
