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
}

/* ---- the order in which warps issue: 8 warps of 41 independent instructions, the 21st a barrier; 2 schedulers ---- */
enum { ORDER_WARPS = 8, ORDER_INSTS = 41, ORDER_BARRIER = 20 };
static struct {
  uint8_t warp[ORDER_WARPS * ORDER_INSTS]; /* that issued, one after the other */
  uint32_t n, released;                    /* how many, and how many before the barrier opened */
  uint32_t next[ORDER_WARPS], waiting;
  bool barrier;
} order;

static bool order_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *o) {
  (void)ctx, (void)slot;
  uint32_t i = order.next[w]++;
  order.warp[order.n++] = (uint8_t)w;
  o->active = o->mask = ~0u;
  o->next_pc = i + 1 == ORDER_INSTS ? FEED_DONE : i + 1;
  if (i != ORDER_BARRIER || !order.barrier) return true;
  o->waits = true;
  if (++order.waiting == ORDER_WARPS) o->released = (1u << ORDER_WARPS) - 1, order.released = order.n;
  return true;
}

static void order_run(const char *scheme, bool barrier) {
  static struct inst code[ORDER_INSTS];
  static const struct feed_ops ops = {
      .start_cta = rig_start, .issue = order_issue, .atomic = rig_atomic, .end_cta = rig_end, .fault = rig_fault};
  struct feed_kernel kernel = {.name = "order",
                               .code = code,
                               .insts = ORDER_INSTS,
                               .grid = {1, 1, 1},
                               .block = {ORDER_WARPS * 32, 1, 1},
                               .ctas = 1,
                               .threads_per_cta = ORDER_WARPS * 32,
                               .warps_per_cta = ORDER_WARPS,
                               .regs_per_thread = 16,
                               .max_reg = 8};
  struct feed feed = {.ops = &ops, .kernel = &kernel};
  struct gpu_config c;
  struct gpu_stats st;
  struct err e = {0};
  memset(&order, 0, sizeof order);
  memset(code, 0, sizeof code);
  for (uint32_t i = 0; i < ORDER_INSTS; i++) code[i] = (struct inst){.pc = i, .fetch_pc = i * 8, .pipe = PIPE_SP};
  if (barrier) code[ORDER_BARRIER].kind = KIND_BARRIER;
  order.barrier = barrier;
  code[ORDER_INSTS - 1].kind = KIND_EXIT;
  gpu_config_defaults(&c);
  c.sms = 1;
  claims_saw(scheme);
  struct gpu *g = gpu_new(&c, scheme, &e);
  if (!g || !gpu_run_kernel(g, &feed, &st, &e)) fail_msg("%s: %s", scheme, e.msg);
  gpu_free(g);
  assert_int_equal(order.n, ORDER_WARPS * ORDER_INSTS);
}

/* Warps that have issued and not ended, at most at any time: all of them, or those of one scheduler. */
static uint32_t order_most_at_once(uint32_t first, uint32_t step) {
  uint32_t had[ORDER_WARPS] = {0}, most = 0;
  for (uint32_t i = 0; i < order.n; i++) {
    uint32_t now = 0;
    had[order.warp[i]]++;
    for (uint32_t w = first; w < ORDER_WARPS; w += step) now += had[w] && had[w] < ORDER_INSTS;
    if (now > most) most = now;
  }
  return most;
}

/* Rogers et al., MICRO 2012, section 5: no more than N warps of an SM run at a time, the oldest first. */
static void swl_limits(void **state) {
  (void)state;
  for (uint32_t limit = 1; limit <= 4; limit++) {
    char list[16];
    snprintf(list, sizeof list, "swl=%u", limit);
    order_run(list, false);
    assert_int_equal(order_most_at_once(0, 1), limit);
    assert_in_range(order.warp[0], 0, limit - 1);
    assert_in_range(order.warp[order.n - 1], ORDER_WARPS - limit, ORDER_WARPS - 1);
  }
}

/* Narasiman et al., MICRO 2011, section 4: a scheduler issues from its active set alone while that does not wait. */
static void two_level_sets(void **state) {
  (void)state;
  for (uint32_t active = 1; active <= 3; active++) {
    char list[16];
    snprintf(list, sizeof list, "two-level=%u", active);
    order_run(list, false);
    for (uint32_t s = 0; s < 2; s++) assert_int_equal(order_most_at_once(s, 2), active);
  }
}

/* When the barrier opens, all warps have instructions ready. In turn: none issues twice before the others of its
 * scheduler. Greedy, then oldest: the same warp continues while it can, and the youngest come last. */
static void orders(void **state) {
  (void)state;
  for (uint32_t greedy = 0; greedy < 2; greedy++) {
    order_run(greedy ? "gto" : "lrr", true);
    uint32_t n[ORDER_WARPS] = {0}, again = 0, last[2] = {99, 99};
    for (uint32_t i = order.released; i < order.released + 32; i++) {
      uint32_t w = order.warp[i];
      n[w]++;
      again += last[w % 2] == w;
      last[w % 2] = w;
    }
    for (uint32_t w = 0; w < ORDER_WARPS; w++)
      if (!greedy) assert_in_range(n[w], 3, 5);
    if (greedy) assert_true(again >= 8 && n[6] <= 1 && n[7] <= 1 && n[0] >= 4 && n[1] >= 4);
    else assert_int_equal(again, 0);
  }
}

/* ---- schemes that are configurations ---- */

static uint64_t cycles_of(const char *scheme, const char *set, const struct rig_access *at, uint32_t n) {
  rig_run(&rig, scheme, set, at, n);
  return rig.st.cycles;
}

/* TSC section 5.5: an access takes as many cycles more as the latency is longer. */
static void latency(void **state) {
  (void)state;
  struct rig_access at[15]; /* one line of the instruction cache: fetching the next would hide some */
  for (uint32_t i = 0; i < 15; i++) at[i] = (struct rig_access){.line = 1};
  uint64_t was = cycles_of("l1-latency=20", NULL, at, 15);
  assert_int_equal(cycles_of("l1-latency=40", NULL, at, 15) - was, 15 * 20);
}

/* BUCL Fig 4, Li et al. Fig 2: eight lines go round in four and in eight; five of one set of two in one set of eight.
 */
static void capacity(void **state) {
  (void)state;
  static const char *const round = "a b c d e f g h a b c d e f g h", *const conflict = "a c e g i a c e g i";
  struct rig_access at[32];
  uint32_t n = rig_letters(round, at);
  rig_run(&rig, NULL, NULL, at, n);
  rig_expect(&rig, 0, 16, 0, "512 B");
  rig_run(&rig, "l1-size=1", NULL, at, n);
  rig_expect(&rig, 8, 8, 0, "1 KB");
  n = rig_letters(conflict, at);
  rig_run(&rig, NULL, "l1d.sets=2", at, n);
  rig_expect(&rig, 0, 10, 0, "two sets");
  rig_run(&rig, "l1-full-assoc", "l1d.sets=2", at, n);
  rig_expect(&rig, 5, 5, 0, "one set of all lines");
}

/* Li et al. Fig 2: what an L2 of a line per sub-partition misses, a larger one holds. The L1 is of one line. */
static void l2_capacity(void **state) {
  (void)state;
  static const char *const set = "l1d.ways=1,l2.sets=1,l2.ways=1,memory.channels=1,memory.subpartitions=1";
  struct rig_access at[32];
  uint32_t n = rig_letters("a b c d a b c d", at);
  rig_run(&rig, NULL, set, at, n);
  uint64_t missed = rig.st.l2_misses;
  rig_run(&rig, "l2-size=4", set, at, n);
  assert_int_equal(missed - rig.st.l2_misses, 4);
}

/* MeDiC Fig 6: fewer banks, or ports, and requests wait longer for them. Rixner et al.: open rows first, so that more
 * requests find their row open. Random traffic. */
static void memory_side(void **state) {
  (void)state;
  static const struct {
    const char *fewer, *more, *set;
  } rows[] = {{"l2-banks=1", "l2-banks=8", "l2.banked=true,l2.lookup_cycles=8,l2.ports=8"},
              {"l2-ports=1", "l2-ports=8", "l2.banked=true,l2.banks=8,memory.subpartitions=1"},
              {"fcfs", "fr-fcfs", "l2.sets=4"}};
  static struct fake_feed feed;
  for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct gpu_stats st[2];
    for (uint32_t k = 0; k < 2; k++) {
      const char *list = k ? rows[i].more : rows[i].fewer;
      struct gpu_config c;
      struct err e = {0};
      gpu_config_defaults(&c);
      c.sms = 6;
      c.channels = 2;
      settings_apply(&c, rows[i].set);
      claims_saw(list);
      struct gpu *g = gpu_new(&c, list, &e);
      if (!g) fail_msg("%s", e.msg);
      fake_kernel(&feed, 8, 24, 4, 3, 1024 * 1024);
      if (!gpu_run_kernel(g, &feed.feed, &st[k], &e)) fail_msg("%s: %s", list, e.msg);
      gpu_free(g);
    }
    if (st[1].cycles >= st[0].cycles)
      fail_msg("%s takes %lu cycles, %s %lu", rows[i].fewer, (unsigned long)st[0].cycles, rows[i].more,
               (unsigned long)st[1].cycles);
    if (i == 2) assert_true(st[1].dram_row_hits > st[0].dram_row_hits);
  }
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
  assert_string_equal(s.at[2].scheme->name, "tsc+"); /* by name, whatever the list's order */
  assert_true(slots_parse(&s, "tsc+:private=5+bucl", &e));
  assert_string_equal(s.at[1].scheme->name, "tsc+");
  assert_true(slots_parse(&s, "l1-latency=20+tsc", &e)); /* settings of the machine last */
  assert_string_equal(s.at[1].scheme->name, "l1-latency");
}

/* A search stands for one machine per value; one machine cannot run it. */
static void sweeps(void **state) {
  (void)state;
  char list[128];
  struct slots s;
  struct err e = {0};
  assert_int_equal(scheme_sweep_count("bucl"), 1);
  assert_int_equal(scheme_sweep_count("swl-best+bucl"), 48);
  assert_true(scheme_sweep_list("swl-best+bucl", 5, list, sizeof list));
  assert_string_equal(list, "swl:warps=6+bucl");
  assert_true(scheme_sweep_list("tsc+,bucl:tucd=3", 0, list, sizeof list));
  assert_string_equal(list, "tsc++bucl:tucd=3");
  assert_false(scheme_sweep_list("swl-best+bucl", 5, list, 8));
  assert_true(scheme_sweep_values("swl-best+bucl", 5, list, sizeof list));
  assert_string_equal(list, "warps=6");
  assert_true(scheme_sweep_values("swl-best+pdp-best", 47 * 12 + 1, list, sizeof list));
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
    if (w) claims_saw(scheme_at(i)->name);
    for (uint32_t k = 0; w && k < scheme_sweep_count(scheme_at(i)->name); k++) {
      assert_true(scheme_sweep_list(scheme_at(i)->name, k, list, sizeof list));
      if (!slots_parse(&s, list, &e)) fail_msg("%s: %s", list, e.msg);
    }
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      PAPER_TEST(ccws_lost_locality, "ccws"),
      PAPER_TEST(swl_limits, "swl"),
      PAPER_TEST(two_level_sets, "two-level"),
      PAPER_TEST(orders, "gto lrr"),
      PAPER_TEST(latency, "l1-latency"),
      PAPER_TEST(capacity, "l1-size l1-full-assoc"),
      PAPER_TEST(l2_capacity, "l2-size"),
      PAPER_TEST(memory_side, "l2-banks l2-ports fcfs fr-fcfs"),
      PAPER_TEST(perfect, "perfect-l1"),
      cmocka_unit_test(configured),
      cmocka_unit_test(owners),
      PAPER_TEST(sweeps, "swl-best pdp-best pcal-best l2-pcal-best rand-best profiled min l2-min"),
  };
  return scheme_tests(tests, argc, argv);
}
