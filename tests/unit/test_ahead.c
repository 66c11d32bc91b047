/* test_ahead.c - SMs on several host threads: counters of the machine and of schemes, and memory, are those of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/slots/slots.h"
#include "settings.h"
#include "simt/simt.h"
#include "units.h"

enum { WORDS = 1 << 16, OUT = 1 << 16, LAUNCHES = 2 };

#define HEAD                                                                                                   \
  ".version 8.0\n.target sm_70\n.address_size 64\n"                                                            \
  ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %p<8>;\n.reg .b32 %t, %c, %l, %r<16>;\n"  \
  ".reg .b64 %d<8>;\n.shared .align 4 .b8 sh[1024];\nmov.u32 %c, %ctaid.x;\nmov.u32 %l, %tid.x;\n"             \
  "mad.lo.u32 %t, %c, 128, %l;\nld.param.u64 %d0, [in];\nld.param.u64 %d1, [out];\nmul.wide.u32 %d2, %t, 4;\n" \
  "add.u64 %d2, %d1, %d2;\n"
#define TAIL "ret;\n}\n"
/* A gather: 5 words of each thread, 12 of every third CTA. */
#define GATHER                                                                                                    \
  "rem.u32 %r0, %c, 3;\nsetp.eq.u32 %p0, %r0, 0;\nselp.u32 %r1, 12, 5, %p0;\nmov.u32 %r2, 0;\nmov.u32 %r3, %t;\n" \
  "LOOP:\nmad.lo.u32 %r3, %r3, 1664525, 1013904223;\nshr.u32 %r4, %r3, 16;\nmul.wide.u32 %d3, %r4, 4;\n"          \
  "add.u64 %d3, %d0, %d3;\nld.global.u32 %r5, [%d3];\nadd.u32 %r2, %r2, %r5;\nsub.u32 %r1, %r1, 1;\n"             \
  "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\nst.global.u32 [%d2], %r2;\n"
/* Arithmetic, shared memory and barriers; lanes diverge. */
#define TILES                                                                                                        \
  "mul.wide.u32 %d3, %t, 4;\nadd.u64 %d3, %d0, %d3;\nld.global.u32 %r2, [%d3];\nmov.u32 %r1, 10;\nshl.b32 %r6, %l, " \
  "2;\n"                                                                                                             \
  "mov.u32 %r7, sh;\nadd.u32 %r6, %r6, %r7;\nxor.b32 %r8, %r6, 4;\nLOOP:\nst.shared.u32 [%r6], %r2;\nbar.sync 0;\n"  \
  "ld.shared.u32 %r9, [%r8];\nmad.lo.u32 %r2, %r2, 5, %r9;\nand.b32 %r10, %r2, 1;\nsetp.eq.u32 %p2, %r10, 0;\n"      \
  "@%p2 bra EVEN;\nmul.lo.u32 %r2, %r2, 3;\nEVEN:\nbar.sync 0;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"    \
  "@%p1 bra LOOP;\nst.global.u32 [%d2], %r2;\n"
/* Atomics on few words, with and without a result. */
#define ATOMICS                                                                                                        \
  "mov.u32 %r1, 6;\nmov.u32 %r3, %t;\nLOOP:\nmad.lo.u32 %r3, %r3, 1664525, 1013904223;\nshr.u32 %r4, %r3, 26;\n"       \
  "mul.wide.u32 %d3, %r4, 4;\nadd.u64 %d3, %d1, %d3;\nred.global.add.u32 [%d3], 1;\n"                                  \
  "atom.global.exch.b32 %r5, [%d3+512], %t;\nadd.u32 %r3, %r3, %r5;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n" \
  "@%p1 bra LOOP;\n"
/* It stores to what it loads, words of other CTAs too. */
#define MIXED                                                                                                    \
  "mov.u32 %r1, 8;\nmov.u32 %r3, %t;\nLOOP:\nmad.lo.u32 %r3, %r3, 1664525, 1013904223;\nshr.u32 %r4, %r3, 22;\n" \
  "mul.wide.u32 %d3, %r4, 4;\nadd.u64 %d3, %d1, %d3;\nld.global.u32 %r5, [%d3];\nadd.u32 %r5, %r5, %t;\n"        \
  "st.global.u32 [%d3], %r5;\nadd.u32 %r3, %r3, %r5;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra " \
  "LOOP;\n"
/* All CTAs load and store the same 512 bytes, in elements of 1 to 16 bytes, with atomics in between; what is loaded
 * decides the next address. */
#define RACES                                                                                                       \
  "mov.u32 %r1, 6;\nmov.u32 %r3, %t;\nLOOP:\nmad.lo.u32 %r3, %r3, 1664525, 1013904223;\nshr.u32 %r4, %r3, 27;\n"    \
  "mul.wide.u32 %d3, %r4, 16;\nadd.u64 %d3, %d1, %d3;\nld.global.u32 %r5, [%d3];\nst.global.u8 [%d3+9], %r3;\n"     \
  "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d3];\nred.global.add.u32 [%d3+4], 3;\nst.global.v2.u32 [%d3+8], {%t, "  \
  "%r5};\nld.global.s16 %r10, [%d3+6];\nld.global.u64 %d4, [%d3+8];\nadd.u32 %r3, %r3, %r5;\nadd.u32 %r3, %r3, "    \
  "%r7;\nadd.u32 %r3, %r3, %r10;\nst.global.u64 [%d3], %d4;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 " \
  "bra LOOP;\nst.global.u32 [%d2+1024], %r3;\n"
/* Threads of a CTA give each other words through global memory, behind barriers; a generic address is shared or
 * global. */
#define HANDED                                                                                                   \
  "mov.u32 %r1, 8;\nmov.u32 %r2, %t;\nxor.b32 %r6, %l, 33;\nmad.lo.u32 %r6, %c, 128, %r6;\nmul.wide.u32 %d3, "   \
  "%r6, 4;\nadd.u64 %d3, %d1, %d3;\nand.b32 %r7, %c, 1;\nsetp.eq.u32 %p3, %r7, 0;\nmul.wide.u32 %d4, %l, 4;\n"   \
  "mov.u64 %d5, sh;\ncvta.shared.u64 %d5, %d5;\nadd.u64 %d4, %d4, %d5;\nselp.b64 %d4, %d4, %d2, %p3;\n"          \
  "LOOP:\nst.global.u32 [%d2], %r2;\nbar.sync 0;\nld.global.u32 %r5, [%d3];\nbar.sync 0;\nst.u32 [%d4], %r5;\n"  \
  "ld.u32 %r8, [%d4];\nld.volatile.global.u32 %r9, [%d3];\nmad.lo.u32 %r2, %r8, 7, %r9;\nsub.u32 %r1, %r1, 1;\n" \
  "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\n"
/* Chains of loads, each from where the one before says, in 64 words that all CTAs store. */
#define CHASE                                                                                                       \
  "mov.u32 %r1, 16;\nmov.u32 %r3, %t;\nLOOP:\nand.b32 %r4, %r3, 63;\nmul.wide.u32 %d3, %r4, 4;\nadd.u64 %d3, "      \
  "%d1, %d3;\nld.global.u32 %r5, [%d3];\nst.global.u32 [%d3], %r3;\nand.b32 %r5, %r5, 63;\nmul.wide.u32 %d4, %r5, " \
  "4;\nadd.u64 %d4, %d1, %d4;\nld.global.u32 %r6, [%d4];\nmad.lo.u32 %r3, %r6, 5, %r3;\nsub.u32 %r1, %r1, 1;\n"     \
  "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\nst.global.u32 [%d2+1024], %r3;\n"
/* CTA 77 stores to nowhere. */
#define FAULT GATHER "setp.ne.u32 %p3, %c, 77;\n@%p3 bra FINE;\nmov.u64 %d2, 64;\nst.global.u32 [%d2], %r2;\nFINE:\n"

struct outcome {
  struct gpu_stats stats[LAUNCHES];
  uint64_t cycles, windows, schemes;
  uint32_t *out;
  struct err e;
  bool ok;
};

static void add_counter(void *ctx, const char *key, uint64_t value) {
  uint64_t *h = ctx;
  for (; *key; key++) *h = (*h ^ (uint8_t)*key) * UINT64_C(0x100000001b3);
  *h = (*h ^ value) * UINT64_C(0x9E3779B97F4A7C15);
}

struct setup {
  const char *gpu, *scheme, *set, *body;
  uint32_t ctas;
};
/* Windows open where they are measured to pay. */
static bool paced;
/* Not NULL, in shared memory: a child is forked between the launches, and runs the second one too. */
static struct gpu_stats *of_child;

static struct outcome run(const struct setup *u, uint32_t threads) {
  struct outcome o = {.out = calloc(OUT, sizeof *o.out)};
  struct gpu_config c;
  char text[4096];
  snprintf(text, sizeof text, "%s%s%s", HEAD, u->body, TAIL);
  if (!gpu_config_load(&c, u->gpu, &o.e)) fail_msg("%s", o.e.msg);
  settings_apply(&c, u->set);
  struct gpu *g = gpu_new(&c, u->scheme, &o.e);
  struct simt *s = simt_new(1 << 26, &o.e);
  struct simt_module *m = simt_load(s, &(struct simt_text){.ptx = text, .name = "test.ptx"}, 1, &o.e);
  if (!g || !m) fail_msg("%s", o.e.msg);
  uint64_t params[2] = {simt_mem_alloc(s, WORDS * 4, SIMT_MEM_DEVICE, "in"),
                        simt_mem_alloc(s, OUT * 4, SIMT_MEM_DEVICE, "out")};
  uint32_t *in = simt_mem_at(s, params[0], WORDS * 4);
  for (uint32_t i = 0; i < WORDS; i++) in[i] = i * 2654435761u;
  struct simt_launch l = {
      .kernel = simt_find_kernel(m, "k"), .grid = {u->ctas, 1, 1}, .block = {128, 1, 1}, .params = params};
  gpu_set_threads(g, threads);
  gpu_set_all_windows(g, !paced);
  o.ok = true;
  for (uint32_t i = 0; i < LAUNCHES && o.ok; i++) {
    pid_t child = i && of_child ? fork() : -1;
    if (child > 0) waitpid(child, NULL, 0);
    struct simt_run *r = simt_begin(s, &l, gpu_cta_slots(g), &o.e);
    o.ok = r && gpu_run_kernel(g, simt_feed(r), &o.stats[i], &o.e);
    simt_end(r);
    if (child) continue;
    *of_child = o.stats[i];
    _exit(0);
  }
  o.cycles = gpu_now(g);
  o.windows = gpu_windows(g);
  slots_take_counters(gpu_slots(g), add_counter, &o.schemes);
  memcpy(o.out, simt_mem_at(s, params[1], OUT * 4), OUT * 4);
  gpu_free(g);
  simt_free(s);
  return o;
}

static void same_stats(const struct setup *u, uint32_t n, const struct gpu_stats *a, const struct gpu_stats *b) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    const struct stat_row *r = &gpu_stat_rows[i];
    if (gpu_stats_value(a, r) != gpu_stats_value(b, r))
      fail_msg("%s, %s, %s: %s is %g on one thread, %g on %u", u->gpu, u->scheme ? u->scheme : "baseline",
               u->set ? u->set : "", r->key, gpu_stats_value(a, r), gpu_stats_value(b, r), n);
  }
  assert_memory_equal(a, b, sizeof *a);
}

/* With 1 to 3 threads. Returns the windows of two. */
static uint64_t compare(const struct setup *u, bool ends_well) {
  struct outcome one = run(u, 1);
  uint64_t windows = 0;
  assert_int_equal(one.windows, 0);
  if (one.ok != ends_well) fail_msg("%s", one.e.msg);
  for (uint32_t n = 2; n < 4; n++) {
    struct outcome x = run(u, n);
    if (x.ok != one.ok) fail_msg("%s, %s: %s", u->gpu, u->scheme ? u->scheme : "baseline", x.e.msg);
    assert_string_equal(x.e.msg, one.e.msg);
    for (uint32_t i = 0; i < LAUNCHES && x.ok; i++) same_stats(u, n, &one.stats[i], &x.stats[i]);
    if (x.ok) assert_int_equal(x.cycles, one.cycles);
    if (x.ok) assert_int_equal(x.schemes, one.schemes);
    if (x.ok) assert_memory_equal(x.out, one.out, OUT * sizeof *x.out);
    if (n == 2) windows = x.windows;
    free(x.out);
  }
  free(one.out);
  return windows;
}

static const char *const gpus[] = {"fermi", "volta", "hopper"};

static void gathers(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 3; i++) assert_true(compare(&(struct setup){gpus[i], NULL, NULL, GATHER, 150}, true) > 50);
}

/* Trials open windows and close them in the middle of launches. */
static void as_it_pays(void **state) {
  (void)state;
  paced = true;
  for (uint32_t i = 0; i < 3; i++) assert_true(compare(&(struct setup){gpus[i], "bucl", NULL, GATHER, 300}, true) > 50);
  paced = false;
}

static void tiles(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 3; i++) assert_true(compare(&(struct setup){gpus[i], NULL, NULL, TILES, 150}, true) > 50);
}

static void atomics(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 3; i++) assert_true(compare(&(struct setup){gpus[i], NULL, NULL, ATOMICS, 100}, true) > 50);
}

/* Schemes that are by SM, and those of which the machine calls every hook. */
static const char *const parallel[] = {"adaptive-llc",
                                       "adaptive-llc=private",
                                       "apcm",
                                       "apres",
                                       "bcs",
                                       "bucl",
                                       "bucl-prf",
                                       "ccws",
                                       "cta-clustering",
                                       "cta-prefetch",
                                       "decoupled-l1d",
                                       "dlp",
                                       "dsc",
                                       "eaf",
                                       "hints",
                                       "l2-hawkeye",
                                       "l2-mockingjay",
                                       "l2-rrip",
                                       "lamar",
                                       "line",
                                       "lrr",
                                       "medic",
                                       "medic-reuse",
                                       "mrpb",
                                       "mta",
                                       "next-line",
                                       "nru",
                                       "pc-byp",
                                       "pcal",
                                       "pdp",
                                       "pdp-dyn",
                                       "poise",
                                       "rand",
                                       "random",
                                       "rrip",
                                       "sector",
                                       "sharing",
                                       "sharing-cache",
                                       "sharing-cta",
                                       "ship",
                                       "snake",
                                       "stride",
                                       "swl",
                                       "tsc",
                                       "wbyp",
                                       "wip",
                                       "wms",
                                       "write-update",
                                       "swl=8+nru",
                                       "bucl+medic+lrr",
                                       "decoupled-l1d+rand"};

static void schemes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof parallel / sizeof *parallel; i++)
    if (compare(&(struct setup){"fermi", parallel[i], NULL, GATHER, 30}, true) < 50)
      fail_msg("%s opens no window", parallel[i]);
  for (uint32_t i = 0; i < scheme_count(); i++) {
    bool listed = false;
    for (size_t k = 0; k < sizeof parallel / sizeof *parallel; k++) listed |= !strcmp(parallel[k], scheme_at(i)->name);
    if (scheme_at(i)->by_sm && !listed) fail_msg("%s is not in the list", scheme_at(i)->name);
  }
  assert_true(compare(&(struct setup){"volta", "rrip", NULL, GATHER, 100}, true) > 50);
  assert_true(compare(&(struct setup){"volta", "stride+bucl", NULL, TILES, 100}, true) > 50);
}

/* A boundary buffer of one packet, an injection buffer of one, few MSHRs, a network of other delays. */
static void narrow(void **state) {
  (void)state;
  compare(&(struct setup){"fermi", NULL, "icnt.boundary_buffer=5,icnt.injection_buffer=5", GATHER, 100}, true);
  compare(&(struct setup){"fermi", NULL, "l1d.mshrs=2,icnt.channel_latency=1", GATHER, 100}, true);
  compare(&(struct setup){"volta", NULL, "tlb.entries=2,tlb.page_kb=16", GATHER, 100}, true);
}

/* Stores to what other SMs load, in the same few cycles. */
static void mixed(void **state) {
  static const char *const body[] = {MIXED, RACES, HANDED};
  (void)state;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t i = 0; i < 3; i++)
      assert_true(compare(&(struct setup){gpus[i], i ? NULL : "bucl", NULL, body[k], 60}, true) > 50);
}

/* With four lookups a cycle an SM pushes many packets in one. */
static void many_packets(void **state) {
  (void)state;
  assert_true(compare(&(struct setup){"volta", NULL, NULL, RACES, 300}, true) > 50);
  assert_true(compare(&(struct setup){"volta", "bucl", "icnt.injection_buffer=9", MIXED, 300}, true) > 50);
}

/* Where loads give their results soon, windows are shorter. */
static void short_loads(void **state) {
  (void)state;
  for (uint32_t i = 0; i < 3; i++) {
    const struct setup u = {gpus[i], "perfect-l1", "l1d.latency=1", CHASE, 60};
    assert_true(compare(&u, true) > 50);
  }
}

static void others_stay_on_one(void **state) {
  (void)state;
  assert_int_equal(compare(&(struct setup){"fermi", "tsc+", NULL, GATHER, 40}, true), 0);
  assert_int_equal(compare(&(struct setup){"fermi", "next-line:into=l2", NULL, GATHER, 40}, true), 0);
  assert_int_equal(compare(&(struct setup){"fermi", NULL, "icnt.topology=mesh", GATHER, 40}, true), 0);
  assert_int_equal(compare(&(struct setup){"fermi", NULL, "clock.icnt_mhz=1400", GATHER, 40}, true), 0);
}

/* A forked child has no thread but the one that forked, which then does all. */
static void forks(void **state) {
  (void)state;
  const struct setup u = {"fermi", NULL, NULL, GATHER, 100};
  of_child = mmap(NULL, sizeof *of_child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(of_child, MAP_FAILED);
  struct outcome o = run(&u, 2);
  assert_true(o.ok && o.windows > 50 && of_child->cycles > 0);
  same_stats(&u, 2, &o.stats[1], of_child);
  free(o.out);
  munmap(of_child, sizeof *of_child);
  of_child = NULL;
}

static void faults(void **state) {
  (void)state;
  compare(&(struct setup){"fermi", NULL, NULL, FAULT, 100}, false);
  compare(&(struct setup){"volta", NULL, NULL, FAULT, 100}, false);
}

/* An argument is a pattern: only tests whose names it matches. */
int main(int argc, char **argv) {
  if (argc > 1) cmocka_set_test_filter(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gathers),      cmocka_unit_test(as_it_pays),  cmocka_unit_test(tiles),
      cmocka_unit_test(atomics),      cmocka_unit_test(schemes),     cmocka_unit_test(narrow),
      cmocka_unit_test(mixed),        cmocka_unit_test(short_loads), cmocka_unit_test(others_stay_on_one),
      cmocka_unit_test(many_packets), cmocka_unit_test(forks),       cmocka_unit_test(faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
