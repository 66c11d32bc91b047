/* test_scheme_rules.c - equalities: every scheme, set to never act, equals the baseline in every counter; the
 * degenerate cases of the specification; and every scheme, left to act, changes something on the same traffic, without
 * which the first would say nothing; and a scheme that is switched off combines with every other one, which then does
 * what it does alone. Random kernels; one row a case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/gpu.h"
#include "gpu/slots/slots.h"
#include "scheme_claims.h"
#include "settings.h"
#include "units.h"

/* Kinds of traffic that a case leaves out, because the equality is not claimed with them. */
enum {
  NO_STORES = 1,
  NO_LOCAL = 2,
  NO_LOADS = 4,    /* of global or local memory */
  COALESCED = 8,   /* a load makes one access */
  FITS = 16,       /* in 32 lines, so that the L1 replaces nothing */
  ONE_A_TIME = 32, /* one warp for each scheduler */
  NO_HINTS = 64,   /* of instructions, for what is replaced */
  BRIEF = 128      /* a third of it */
};

struct equal {
  const char *a, *b;
  const char *set; /* settings of the machine, KEY=VALUE,... */
  unsigned without;
  const char *why;
};

#define SMALL_L2 "l2.sets=16,l2.ways=4"
#define BANKED_L2 \
  "memory.subpartitions=1,l2.sets=16,l2.ways=4,l2.banked=true,l2.banks=4,l2.ports=4,l2.write=write-through"
#define ON_FILL "l1d.allocate=on-fill,l2.sets=16,l2.ways=4"

static const struct equal never[] = {
    {"adaptive-llc=shared", NULL, SMALL_L2, 0, "the address chooses the slice"},
    {"adaptive-llc=shared", NULL, BANKED_L2, 0, "one slice in a channel"},
    {"adaptive-llc=private", NULL, BANKED_L2, 0, "one slice in a channel"},
    {"adaptive-llc=shared", NULL, "l2.organisation=sector", 0, "the address chooses the slice"},
    {"apcm:bypass=0/protect=0", NULL, NULL, 0, "neither bypass nor protection, which leaves LRU"},
    {"apres:laws=0/sap=0", NULL, NULL, 0, "no order and no line to request"},
    {"ata-cache=1", NULL, NULL, 0, "clusters of one SM"},
    {"ball", NULL, NULL, NO_LOADS | NO_STORES, "nothing but atomics, which never use the L1"},
    {"bcs:block=1/initial=0", NULL, SMALL_L2, 0, "blocks of one CTA"},
    {"bcs:block=1/initial=0", NULL, ON_FILL, 0, "blocks of one CTA"},
    {"belady:run=1", NULL, NULL, 0, "the first run only records"},
    {"block-filter:run=1", NULL, NULL, 0, "the first run only counts"},
    {"bucl:tucd=32/min=32/max=32/l1dhr=0", NULL, NULL, 0, "thresholds at their limits"},
    {"bucl-prf=500:l1dhr=0", NULL, NULL, COALESCED, "no load above the lowest threshold of Table II"},
    {"ccws:k=0", NULL, NULL, 0, "scores stay at the base"},
    {"ciao=off", NULL, NULL, 0, "switched off"},
    {"ciao=off", NULL, "l1d.organisation=sector", 0, "switched off"},
    {"cta-prefetch=0", NULL, NULL, 0, "switched off"},
    {"cta-clustering:redirect=1/clusters=1", NULL, SMALL_L2, 0, "one cluster in the grid's order"},
    {"cta-clustering:redirect=1/clusters=1", NULL, ON_FILL, 0, "one cluster in the grid's order"},
    {"decoupled-l1d:threshold=0/tags=4", NULL, NULL, 0, "threshold 0 and equal tags"},
    {"decoupled-l1d:threshold=0", NULL, NULL, 0, "threshold 0: the other tags are switched off"},
    {"dc-l1:l1s=1/cluster=1", NULL, NULL, 0, "a node for each SM"},
    {"dlp=0", NULL, NULL, 0, "no line is protected, which leaves LRU"},
    {"dsc:tags=1/sector=128", NULL, NULL, 0, "one tag to a frame of one sector"},
    {"eaf=1", NULL, SMALL_L2, 0, "every line is inserted at MRU"},
    {"eaf=1", NULL, BANKED_L2, 0, "every line is inserted at MRU"},
    {"fcfs", NULL, "l2.perfect=true", 0, "no request reaches the DRAM"},
    {"fifo", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"fr-fcfs", NULL, SMALL_L2, 0, "it is the baseline's"},
    {"gto", NULL, NULL, 0, "it is the baseline's"},
    {"hints", NULL, SMALL_L2, NO_HINTS, "no instruction says anything"},
    {"hints:l1=0/l2=0", NULL, SMALL_L2, 0, "both halves off"},
    {"l1-full-assoc", NULL, "l1d.sets=1,l1d.index=linear,l1d.ways=128", 0, "the L1 has one set already"},
    {"l1-latency=1", NULL, NULL, 0, "the baseline's latency"},
    {"l1-size=16", NULL, NULL, 0, "the baseline's size"},
    {"l2-banks=4", NULL, BANKED_L2, 0, "the machine's banks"},
    {"l2-belady:run=1", NULL, SMALL_L2, 0, "the first run only records"},
    {"l2-hawkeye=0", NULL, SMALL_L2, 0, "no sampled set"},
    {"l2-hawkeye", NULL, NULL, 0, "the L2 holds everything"},
    {"l2-mockingjay=0", NULL, BANKED_L2, 0, "no sampled set"},
    {"l2-mockingjay", NULL, NULL, 0, "the L2 holds everything"},
    {"l2-pcal=16384", NULL, SMALL_L2, 0, "a token for every warp"},
    {"l2-pcal=16384", NULL, BANKED_L2, 0, "a token for every warp"},
    {"l2-ports=4", NULL, BANKED_L2, 0, "the machine's ports"},
    {"l2-rrip", NULL, NULL, 0, "the L2 holds everything"},
    {"l2-size=768", NULL, NULL, 0, "the baseline's size"},
    {"lamar:uses=0", NULL, NULL, NO_STORES, "every line is coarse: whole lines"},
    {"latte-cc=off", NULL, NULL, 0, "no line is compressed"},
    {"latte-cc=off", NULL, "l1d.organisation=sector", 0, "no line is compressed"},
    {"lcs=32", NULL, SMALL_L2, 0, "no limit"},
    {"lcs=32", NULL, ON_FILL, 0, "no limit"},
    {"line=128", NULL, NULL, 0, "the baseline's lines"},
    {"linebacker=0", NULL, NULL, 0, "no register is used"},
    {"linebacker=0", NULL, "l1d.organisation=sector", 0, "no register is used"},
    {"lrr", NULL, NULL, ONE_A_TIME, "a scheduler with one warp has one order"},
    {"medic:profile=1000", NULL, SMALL_L2, 0, "no warp ever has a type"},
    {"medic:profile=1000", NULL, BANKED_L2, 0, "no warp ever has a type"},
    {"medic-reuse:profile=1000", NULL, SMALL_L2, 0, "no warp ever has a type"},
    {"medic-reuse:profile=1000", NULL, BANKED_L2, 0, "no warp ever has a type"},
    {"mrpb:depth=0/bypass=0", NULL, NULL, 0, "no queues and no bypass"},
    {"mta=0", NULL, NULL, 0, "no line to request"},
    {"next-line=0", NULL, NULL, 0, "no line to request"},
    {"next-line=0:into=l2", NULL, NULL, 0, "no line to request"},
    {"next-line", NULL, NULL, NO_LOADS, "no load to follow"},
    {"nru", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"pc-byp:profile=1000", NULL, SMALL_L2, 0, "no instruction is ever judged"},
    {"pc-byp:profile=1000", NULL, BANKED_L2, 0, "no instruction is ever judged"},
    {"pcal=64", NULL, NULL, 0, "a token for every warp"},
    {"pdp=0", NULL, NULL, 0, "a distance of 0 never bypasses and leaves LRU"},
    {"pdp-dyn", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"perfect-l1", NULL, NULL, NO_LOADS, "no load to hit"},
    {"rand=0", NULL, SMALL_L2, 0, "no warp is drawn"},
    {"rand=0", NULL, BANKED_L2, 0, "no warp is drawn"},
    {"poise:stride=0", NULL, NULL, 0, "all warps, no search"},
    {"random", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"rrip=0", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"rrip=1", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"rrip=2", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"sector=128", NULL, NULL, 0, "a sector of a line is a line"},
    {"sharing:group=1/l1=0/l2=0/adpt=0", NULL, SMALL_L2, 0, "groups of one CTA, no cache management"},
    {"sharing:group=1/l1=0/l2=0/adpt=0", NULL, ON_FILL, 0, "groups of one CTA, no cache management"},
    {"sharing-cache:l1=0/l2=0", NULL, SMALL_L2, 0, "both halves off"},
    {"sharing-cache:l1=0/l2=0", NULL, ON_FILL, 0, "both halves off"},
    {"sharing-cta=1", NULL, SMALL_L2, 0, "groups of one CTA"},
    {"sharing-cta=1", NULL, ON_FILL, 0, "groups of one CTA"},
    {"ship", NULL, NULL, FITS | NO_LOCAL, "nothing is replaced"},
    {"snake=0", NULL, NULL, 0, "switched off"},
    {"stride=0", NULL, NULL, 0, "no line to request"},
    {"stride=0:into=l2", NULL, SMALL_L2, 0, "no line to request"},
    {"swl=48", NULL, NULL, 0, "a limit of all warps"},
    {"tsc:chunk=128/latency=0", NULL, NULL, FITS | NO_LOCAL, "chunks of a line, nothing is replaced"},
    {"tsc+:chunk=128/latency=0/samplers=0", NULL, NULL, FITS | NO_LOCAL, "chunks of a line, nothing is replaced"},
    {"two-level=64", NULL, NULL, ONE_A_TIME, "a scheduler with one warp has one order"},
    {"wbyp:profile=1000", NULL, SMALL_L2, 0, "no warp ever has a type"},
    {"wbyp:profile=1000", NULL, BANKED_L2, 0, "no warp ever has a type"},
    {"wip:profile=1000", NULL, SMALL_L2, 0, "no warp ever has a type"},
    {"wip:profile=1000", NULL, BANKED_L2, 0, "no warp ever has a type"},
    {"wms:profile=1000", NULL, SMALL_L2, 0, "no warp ever has a type"},
    {"wms:profile=1000", NULL, BANKED_L2, 0, "no warp ever has a type"},
    {"write-update", NULL, NULL, NO_STORES, "no store to keep"},
};

static const struct equal degenerate[] = {
    {"sector:nru=1", "tsc:private=0/latency=0", NULL, 0, "no private tag: the sector cache, same replacement"},
    {"nru", "tsc:chunk=128/latency=0", NULL, NO_LOCAL,
     "chunks of a line: NRU, which sees no local stores beside the L1"},
    {"tsc", "tsc+:samplers=0", NULL, 0, "no samplers: always fine"},
    {"sector", "dsc=1", NULL, 0, "one tag to a frame: the sector cache"},
    {"apcm+sector=128", "apcm", NULL, NO_LOCAL, "sectors of a line: the scheme replaces lines as it does without them"},
    {"dlp+sector=128", "dlp", NULL, NO_LOCAL, "the same"},
    {"fifo+sector=128", "fifo", NULL, NO_LOCAL, "the same"},
    {"hints+sector=128", "hints", SMALL_L2, NO_LOCAL, "the same"},
    {"rrip=2", "rrip=2+sector=128", "l1d.sets=2,l1d.index=linear,l1d.ways=64", NO_LOCAL, "sets of 64 ways"},
    {"nru+sector=128", "nru", NULL, NO_LOCAL, "the same"},
    {"pdp+sector=128", "pdp", NULL, NO_LOCAL, "the same"},
    {"pdp-dyn+sector=128", "pdp-dyn", NULL, NO_LOCAL, "the same"},
    {"random+sector=128", "random", NULL, NO_LOCAL, "the same"},
    {"rrip=2+sector=128", "rrip=2", NULL, NO_LOCAL, "the same"},
    {"ship+sector=128", "ship", NULL, NO_LOCAL, "the same"},
    {"write-update+sector=128", "write-update", NULL, NO_LOCAL, "the same, for stores"},
    {"snake+sector=128", "snake", NULL, NO_LOCAL, "the same"},
    {"gto", "swl=48", NULL, 0, "a limit of all warps is GTO"},
    {"lrr", "two-level=64", NULL, 0, "an active set of all warps is round-robin"},
    {"ata-cache=3", "ata-cache=256", NULL, 0, "one cluster of all three SMs"},
    {"baseline", "decoupled-l1d:threshold=0/tags=4/repl=0", NULL, 0, "threshold 0 and equal tags"},
    {"bucl", "bucl+mrpb:depth=0/bypass=0", NULL, 0, "a scheme that never acts changes no other"},
    {"medic", "wbyp+wip+wms", BANKED_L2, 0, "MeDiC is its three parts"},
    {"sharing:group=4/adpt=0", "sharing-cta=4+sharing-cache", ON_FILL, 0, "sharing is its two halves"},
};

/* Lists that must change something where the default parameters would not on this traffic, and their machine. */
static const struct {
  const char *list, *set;
} acting[] = {
    {"adaptive-llc=private", NULL},
    {"eaf", SMALL_L2},
    {"l2-pcal=2", SMALL_L2},
    {"l2-pcal=2", BANKED_L2},
    {"rand=50", BANKED_L2},
    {"pc-byp", SMALL_L2},
    {"l2-rrip", SMALL_L2},
    {"l2-hawkeye", SMALL_L2},
    {"l2-mockingjay", SMALL_L2},
    {"medic", SMALL_L2},
    {"wbyp", SMALL_L2},
    {"wip", SMALL_L2},
    {"medic-reuse", BANKED_L2},
    {"wms:mostly_hit=0.25", SMALL_L2},
    {"sharing-cta=4", NULL},
    {"bcs", NULL},
    {"sharing-cache:l2=0", ON_FILL},
    {"sharing-cache:l1=0", SMALL_L2},
    {"sharing=4", ON_FILL},
    {"lcs", "sm.ctas=3"},
    {"swl=2", NULL},
    {"pcal=2", NULL},
    {"poise:n=2/p=1/stride=0/quantum=100", NULL},
    {"two-level=1", NULL},
    {"l2-size=96", NULL},
    {"l2-banks=8", BANKED_L2},
    {"l2-ports=1", BANKED_L2},
    {"ccws:k=64", NULL},
    {"ciao:high_epoch=100", NULL},
    {"stride:eager=1", NULL},
    {"snake:warps=1", NULL},
};
/* The baseline by another name, and a first run that is for its second. */
static const char *const inert[] = {"fr-fcfs", "gto", "belady", "block-filter", "l2-belady"};

/* Schemes told not to act: nothing is left for them to decide. */
static const char *const off[] = {
    "adaptive-llc=shared",
    "apcm:bypass=0/protect=0",
    "apres:laws=0/sap=0",
    "ata-cache=1",
    "bcs:block=1/initial=0",
    "ciao=off",
    "cta-prefetch=0",
    "dc-l1:l1s=1/cluster=1",
    "dlp=0",
    "hints:l1=0/l2=0",
    "l2-hawkeye=0",
    "l2-mockingjay=0",
    "latte-cc=off",
    "linebacker=0",
    "mrpb:depth=0/bypass=0",
    "mta=0",
    "next-line=0",
    "pdp=0",
    "poise:stride=0",
    "rand=0",
    "sharing:group=1/l1=0/l2=0/adpt=0",
    "sharing-cache:l1=0/l2=0",
    "sharing-cta=1",
    "snake=0",
    "stride=0",
};

static struct fake_feed feed;

static void narrow_traffic(unsigned without) {
  if (without & COALESCED) feed.spread_max = 1;
  for (uint32_t i = 0; i < FAKE_CODE; i++) {
    struct inst *in = &feed.code[i];
    bool data = in->space == SPACE_GLOBAL || in->space == SPACE_LOCAL;
    if (in->pipe != PIPE_MEM) continue;
    if (without & NO_HINTS) in->hint_l1 = in->hint_l2 = HINT_NONE;
    if (in->space == SPACE_LOCAL && without & NO_LOCAL) in->space = SPACE_GLOBAL;
    if (in->kind == KIND_STORE && data && without & NO_STORES)
      in->kind = KIND_LOAD, in->nsrc = 0, in->ndst = 1, in->dst[0] = in->dst_arch[0] = 1;
    if (in->kind == KIND_LOAD && data && without & NO_LOADS) in->space = SPACE_SHARED;
    if (in->elem_bytes > 4)
      in->elem_bytes = 4; /* random addresses are multiples of 4: wider ones would straddle lines */
    if (data && without & COALESCED) in->elem_bytes = 4; /* narrower ones coalesce into segments of 32 or 64 B */
  }
}

static struct gpu_stats run(const char *list, const char *set, unsigned without, uint64_t seed) {
  struct gpu_config c;
  struct gpu_stats st;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 3;
  settings_apply(&c, set);
  claims_saw(list);
  struct gpu *g = gpu_new(&c, list, &e);
  if (!g) fail_msg("%s: %s", list, e.msg);
  bool few = without & ONE_A_TIME;
  /* A small L2 shows with a footprint that does not fit it either. */
  uint64_t footprint = without & FITS ? 4096 : set && strstr(set, "l2.") ? 512 * 1024 : 128 * 1024;
  fake_kernel(&feed, seed, few ? 3 : without & BRIEF ? 5 : 14, few ? 2 : 4, 2, footprint);
  narrow_traffic(without);
  if (!gpu_run_kernel(g, &feed.feed, &st, &e)) fail_msg("%s: %s", list, e.msg);
  gpu_free(g);
  return st;
}

/* A scheme may act in few random kernels: this many are tried, and the baseline's results of all are kept. */
enum { ACT_SEEDS = 64, BASELINES = 1024 };

/* The same of the baseline, which many cases are compared with: run once for each machine, traffic and seed. */
static const struct gpu_stats *baseline(const char *set, unsigned without, uint64_t seed) {
  static struct {
    const char *set;
    unsigned without;
    uint64_t seed;
    struct gpu_stats st;
  } had[BASELINES];
  static uint32_t count;
  for (uint32_t i = 0; i < count; i++)
    if (had[i].without == without && had[i].seed == seed && !strcmp(had[i].set, set ? set : "")) return &had[i].st;
  assert_true(count < BASELINES);
  had[count].set = set ? set : "";
  had[count].without = without;
  had[count].seed = seed;
  had[count].st = run("baseline", set, without, seed);
  return &had[count++].st;
}

/* Sectors at the L1 are counted only under an organisation, so that they tell apart what behaves alike. */
static bool differ(const struct gpu_stats *x, const struct gpu_stats *y, uint32_t *row) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    if (!strncmp(gpu_stat_rows[i].key, "l1d.sectors.", 12)) continue;
    *row = i;
    if (gpu_stats_value(x, &gpu_stat_rows[i]) != gpu_stats_value(y, &gpu_stat_rows[i])) return true;
  }
  return false;
}

static void must_equal(const struct equal *q) {
  const char *b = q->b ? q->b : "baseline";
  for (uint64_t seed = 61; seed < 63; seed++) {
    struct gpu_stats x = run(q->a, q->set, q->without, seed),
                     y = q->b ? run(b, q->set, q->without, seed) : *baseline(q->set, q->without, seed);
    uint32_t i;
    if (differ(&x, &y, &i))
      fail_msg("%s: %s is %.17g under %s and %.17g under %s", q->why, gpu_stat_rows[i].key,
               gpu_stats_value(&x, &gpu_stat_rows[i]), q->a, gpu_stats_value(&y, &gpu_stat_rows[i]), b);
    assert_true(x.warp_insts > 300);
    assert_true(q->without & NO_LOADS || x.l1d_read_accesses + x.l1d_read_bypasses > 150);
  }
}

static void told_never_to_act(void **state) {
  (void)state;
  for (uint32_t i = 0; i < sizeof never / sizeof *never; i++) must_equal(&never[i]);
}

static void degenerate_cases(void **state) {
  (void)state;
  for (uint32_t i = 0; i < sizeof degenerate / sizeof *degenerate; i++) must_equal(&degenerate[i]);
}

static void must_act(const char *list, const char *set) {
  for (uint64_t seed = 61; seed < 61 + ACT_SEEDS; seed++) {
    struct gpu_stats a = *baseline(set, 0, seed), b = run(list, set, 0, seed);
    uint32_t i;
    if (differ(&a, &b, &i)) return;
  }
  fail_msg("%s changes nothing on %s", list, set ? set : "the default machine");
}

static bool begins_with_scheme(const char *list, const char *name) {
  size_t n = strlen(name);
  return !strncmp(list, name, n) && strchr("=:", list[n]); /* strchr finds the end of the text, too */
}

/* Each scheme by the rows of `acting`, else with its default parameters. */
static void left_to_act(void **state) {
  (void)state;
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const char *name = scheme_at(i)->name;
    bool done = scheme_at(i)->sweep != NULL;
    for (uint32_t k = 0; k < sizeof inert / sizeof *inert; k++) done |= !strcmp(inert[k], name);
    for (uint32_t k = 0; k < sizeof acting / sizeof *acting; k++) {
      if (!begins_with_scheme(acting[k].list, name)) continue;
      must_act(acting[k].list, acting[k].set);
      done = true;
    }
    if (!done) must_act(name, NULL);
  }
}

/* `list` with each scheme that is switched off, in either order. */
static void must_ignore_off(const char *list, const char *set) {
  enum { SEED = 61 };
  struct gpu_stats alone = run(list, set, BRIEF, SEED);
  for (uint32_t k = 0; k < sizeof off / sizeof *off; k++) {
    char pair[128], name[32];
    uint32_t i;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(off[k], "=:"), off[k]);
    if (begins_with_scheme(list, name)) continue;
    snprintf(pair, sizeof pair, "%s+%s", k & 1 ? list : off[k], k & 1 ? off[k] : list);
    struct gpu_stats both = run(pair, set, BRIEF, SEED);
    for (i = 0; i < gpu_stat_row_count; i++)
      if (gpu_stats_value(&alone, &gpu_stat_rows[i]) != gpu_stats_value(&both, &gpu_stat_rows[i]))
        fail_msg("%s: %s is %.17g, alone %.17g", pair, gpu_stat_rows[i].key, gpu_stats_value(&both, &gpu_stat_rows[i]),
                 gpu_stats_value(&alone, &gpu_stat_rows[i]));
  }
}

static void told_not_to_act_beside_others(void **state) {
  (void)state;
  for (uint32_t i = 0; i < scheme_count(); i++) {
    const char *list = scheme_at(i)->name, *set = NULL;
    for (uint32_t k = 0; k < sizeof acting / sizeof *acting; k++)
      if (begins_with_scheme(acting[k].list, scheme_at(i)->name)) list = acting[k].list, set = acting[k].set;
    if (!scheme_at(i)->sweep) must_ignore_off(list, set);
  }
}

static int rules_print(void) {
  for (uint32_t i = 0; i < sizeof never / sizeof *never; i++)
    printf("never %.*s\n", (int)strcspn(never[i].a, "=:"), never[i].a);
  return 0;
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(told_never_to_act),
      cmocka_unit_test(degenerate_cases),
      cmocka_unit_test(left_to_act),
      cmocka_unit_test(told_not_to_act_beside_others),
  };
  return claims_asked(argc, argv) ? rules_print() : cmocka_run_group_tests(tests, NULL, NULL);
}
