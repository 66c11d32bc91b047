/* test_mechanisms.c - what the calibration cases do not exercise: one small PTX kernel per mechanism of the SM, and the
 * counters or cycles that the mechanism costs (docs/notes/accuracy.md, "Mechanisms beyond the cases").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "gpu/ro/texcache.h"
#include "simt/simt.h"
#include "simt/core/texture.h"
#include "units.h"

#define HEAD ".version 7.8\n.target sm_35\n.address_size 64\n"
/* A kernel of the data at %d1 (`p`), of which lane i owns the 16 bytes at %d2; %r1 is the thread. */
#define ENTRY                                                                                              \
  HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<8>;\n.reg .b16 %h<16>;\n.reg .b32 %r<40>;\n"    \
       ".reg .f32 %f<40>;\n.reg .b64 %d<16>;\n.shared .align 16 .b8 tile[4096];\nld.param.u64 %d1, [p];\n" \
       "mov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 16;\nadd.s64 %d2, %d1, %d3;\n"
#define LEAVE "ret;\n}\n"

enum { TEXTURED = 1 << 16 }; /* beside the threads: %d1 is a texture of 32-bit integers on the data */

/* Run a body on a machine, `threads` in each of its blocks. */
static struct gpu_stats run_machine(const struct gpu_config *c, const char *scheme, const char *body, uint32_t threads,
                                    uint32_t blocks) {
  struct err e = {0};
  char text[8192];
  snprintf(text, sizeof text, "%s%s%s", ENTRY, body, LEAVE);
  struct simt *s = simt_new(1 << 28, &e);
  assert_non_null(s);
  struct simt_text t = {.ptx = text, .name = "test.ptx"};
  struct simt_module *m = simt_load(s, &t, 1, &e);
  if (!m) fail_msg("%s", e.msg);
  uint64_t p = simt_mem_alloc(s, 1 << 20, SIMT_MEM_DEVICE, "data");
  if (threads & TEXTURED) {
    struct simt_tex tex = {.addr = p, .width = 1 << 18, .channels = 1, .bits = 32, .format = 1};
    p = simt_tex_create(s, &tex);
    threads &= ~(uint32_t)TEXTURED;
  }
  struct gpu *g = gpu_new(c, scheme, &e);
  if (!g) fail_msg("%s", e.msg);
  struct simt_launch l = {
      .kernel = simt_find_kernel(m, "k"), .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .params = &p};
  struct simt_run *r = simt_begin(s, &l, gpu_cta_slots(g), &e);
  if (!r) fail_msg("%s", e.msg);
  struct gpu_stats st;
  if (!gpu_run_kernel(g, simt_feed(r), &st, &e)) fail_msg("%s", e.msg);
  simt_end(r);
  gpu_free(g);
  simt_free(s);
  return st;
}

/* One block on one SM. */
static struct gpu_stats run_scheme(const char *scheme, const char *body, uint32_t threads) {
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.sms = 1;
  return run_machine(&c, scheme, body, threads, 1);
}

static struct gpu_stats run(const char *body, uint32_t threads) {
  return run_scheme(NULL, body, threads);
}

static uint64_t cycles(const char *body) {
  return run(body, 32).cycles;
}

/* One warp of a kernel without parameters, on one SM. */
static struct gpu_stats launch_alone(struct simt *s, struct simt_kernel *k) {
  struct err e = {0};
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.sms = 1;
  struct gpu *g = gpu_new(&c, NULL, &e);
  if (!g) fail_msg("%s", e.msg);
  struct simt_launch l = {.kernel = k, .grid = {1, 1, 1}, .block = {32, 1, 1}};
  struct simt_run *r = simt_begin(s, &l, gpu_cta_slots(g), &e);
  if (!r) fail_msg("%s", e.msg);
  struct gpu_stats st;
  if (!gpu_run_kernel(g, simt_feed(r), &st, &e)) fail_msg("%s", e.msg);
  simt_end(r);
  gpu_free(g);
  return st;
}

/* Segments follow the element, not the vector: 32 lanes of 4 bytes are one 128 B line, but elements of one byte are
 * coalesced in 32 B segments and elements of two in 64 B. */
static void vectors_coalesce_by_element(void **state) {
  (void)state;
#define AT4 "mul.wide.u32 %d5, %r1, 4;\nadd.s64 %d4, %d1, %d5;\n"
  assert_int_equal(run(AT4 "ld.global.u32 %r2, [%d4];\n", 32).l1d_read_accesses, 1);
  assert_int_equal(run(AT4 "ld.global.v4.u8 {%h1,%h2,%h3,%h4}, [%d4];\n", 32).l1d_read_accesses, 4);
  assert_int_equal(run(AT4 "ld.global.v2.u16 {%h1,%h2}, [%d4];\n", 32).l1d_read_accesses, 2);
  assert_int_equal(run(AT4 "st.global.v4.u8 [%d4], {%h1,%h2,%h3,%h4};\n", 32).l1d_write_accesses, 4);
  assert_int_equal(run("ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%d2];\n", 32).l1d_read_accesses, 4);
}

/* A word of local memory of 32 lanes is one line of 128 B. A vector accesses the words of its first element: one of 4
 * bytes, two of 8; for 2 bytes that line is two segments of 64 B. */
static void local_vectors(void **state) {
  (void)state;
#define FRAME ".local .align 16 .b8 frame[64];\n"
  struct gpu_stats st = run(FRAME "st.local.v4.u32 [frame], {%r1,%r1,%r1,%r1};\n", 32);
  assert_int_equal(st.l1d_local_write_accesses, 1);
  assert_int_equal(run(FRAME "st.local.u64 [frame], %d1;\n", 32).l1d_local_write_accesses, 2);
  assert_int_equal(run(FRAME "st.local.v2.u64 [frame], {%d1,%d1};\n", 32).l1d_local_write_accesses, 2);
  st = run(FRAME "st.local.v2.u16 [frame], {%h1,%h2};\nld.local.v4.f32 {%f1,%f2,%f3,%f4}, [frame];\n", 32);
  assert_int_equal(st.l1d_local_write_accesses, 2);
  assert_int_equal(st.l1d_local_read_accesses, 1);
}

/* Since Volta local stores write through and place the sectors that they write whole; a vector accesses all its words.
 * Lane i stores a word of line i: part of a sector, which stays out if it is not there. */
static void local_stores_since_volta(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e;
  if (!gpu_config_load(&c, "volta", &e)) fail_msg("%s", e.msg);
  c.sms = 1;
#define OWN_WORD                                                                                       \
  FRAME "mul.lo.u32 %r2, %r1, 4;\nand.b32 %r2, %r2, 28;\ncvt.u64.u32 %d4, %r2;\nmov.u64 %d5, frame;\n" \
        "add.s64 %d5, %d5, %d4;\n"
  struct gpu_stats st = run_machine(&c, NULL, FRAME "st.local.v4.u32 [frame], {%r1,%r1,%r1,%r1};\n", 32, 1);
  assert_int_equal(st.l1d_local_write_accesses, 4);
  assert_int_equal(st.l2_sectors_stored, 16);
  st = run_machine(&c, NULL,
                   FRAME "st.local.v4.u32 [frame], {%r1,%r1,%r1,%r1};\nst.local.u32 [frame+4], %r1;\n"
                         "ld.local.v4.u32 {%r2,%r3,%r4,%r5}, [frame];\n",
                   32, 1);
  assert_int_equal(st.l2_sectors_stored, 20);
  assert_int_equal(st.l1d_local_read_hits, 4);
  assert_int_equal(st.l1d_sectors_written_hit, 4);
  st = run_machine(&c, NULL, OWN_WORD "st.local.u32 [%d5], %r1;\nld.local.u32 %r3, [%d5];\n", 32, 1);
  assert_int_equal(st.l1d_local_write_accesses, 8);
  assert_int_equal(st.l2_sectors_stored, 32);
  assert_int_equal(st.l1d_local_read_hits, 0);
}

/* Half-warps store rows of 16 floats, 17 floats apart, from the second float on: five sectors. */
static void stores_touch_their_sectors_alone(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e;
  if (!gpu_config_load(&c, "volta", &e)) fail_msg("%s", e.msg);
  c.sms = 1;
  for (uint32_t how = 0; how < 2; how++) {
    char body[400];
    snprintf(
        body, sizeof body,
        "shr.u32 %%r2, %%r1, 4;\nadd.u32 %%r3, %%r1, %%r2;\nmul.wide.u32 %%d5, %%r3, 4;\nadd.s64 %%d4, %%d1, %%d5;\n"
        "st.global%s.u32 [%%d4+4], %%r1;\n",
        how ? ".cg" : "");
    assert_int_equal(run_machine(&c, NULL, body, 32, 1).l2_sectors_stored, 5);
  }
}

/* A store that writes no sector whole has a bit for each byte in its packet: 8 + 32 + 4 B are two flits of 40 B,
 * one without. A line written whole takes 136 B, four flits. */
static void packets_with_byte_masks(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e;
  if (!gpu_config_load(&c, "volta", &e)) fail_msg("%s", e.msg);
  c.sms = 1;
  const char *body[] = {"mul.wide.u32 %d5, %r1, 128;\nadd.s64 %d4, %d1, %d5;\nst.global.u32 [%d4], %r1;\n",
                        "mul.wide.u32 %d5, %r1, 4;\nadd.s64 %d4, %d1, %d5;\nst.global.u32 [%d4], %r1;\n"};
  for (uint32_t whole = 0; whole < 2; whole++) {
    c.icnt_masks = false;
    uint64_t without = run_machine(&c, NULL, body[whole], 32, 1).flits_up;
    c.icnt_masks = true;
    assert_int_equal(run_machine(&c, NULL, body[whole], 32, 1).flits_up - without, whole ? 0 : 32);
  }
}

/* A warp adds to a word and stores what it reads of it 50 times. */
static struct gpu_stats posts(bool posted, const char *between) {
  struct gpu_config c;
  struct err e;
  char body[400];
  if (!gpu_config_load(&c, "volta", &e)) fail_msg("%s", e.msg);
  c.sms = 1, c.posted_atomics = posted;
  snprintf(body, sizeof body,
           "mov.u32 %%r4, 0;\nL:\nred.global.add.u32 [%%d2], %%r1;\n%s\nadd.u32 %%r4, %%r4, 1;\n"
           "setp.lt.u32 %%p1, %%r4, 50;\n@%%p1 bra L;\n",
           between);
  return run_machine(&c, NULL, body, 32, 1);
}

/* Each atomic takes a way to the L2 and back, unless it is posted; behind a fence it does in any case. */
static void atomics_without_a_result(void **state) {
  (void)state;
  struct gpu_stats waits = posts(false, ""), posted = posts(true, ""), fenced = posts(true, "membar.gl;");
  assert_int_equal(waits.atomic_requests, 50 * 16); /* lanes 16 B apart: two in a sector of 32 B */
  assert_int_equal(posted.atomic_requests, 50 * 16);
  assert_true(waits.cycles > 50 * 170 && fenced.cycles > 50 * 170);
  assert_in_range(posted.cycles, 50 * 16, 50 * 16 + 3000);
}

/* 64 warps add to one word: a request each, and a slice takes l2.atomic_interval for each lane. */
static void atomics_of_a_word(void **state) {
  (void)state;
  for (uint32_t interval = 100; interval <= 300; interval += 50) {
    struct gpu_config c;
    struct err e;
    if (!gpu_config_load(&c, "volta", &e)) fail_msg("%s", e.msg);
    c.sms = 1, c.l2_atomic = interval, c.code = CODE_PTX;
    struct gpu_stats s = run_machine(&c, NULL, "red.global.xor.b32 [%d1], %r1;\n", 1024, 2);
    assert_int_equal(s.atomic_requests, 64);
    assert_in_range(s.cycles, 64 * 32 * interval / 100, 64 * 32 * interval / 100 + 2500);
  }
}

/* Two copies to shared memory, a group each, behind a chain of dependent loads from the same lines: cycles with `wait`
 * at the end. */
static uint64_t copies(const char *machine, const char *wait) {
  struct gpu_config c;
  struct err e;
  char body[800];
  if (!gpu_config_load(&c, machine, &e)) fail_msg("%s", e.msg);
  c.sms = 1;
  snprintf(body, sizeof body,
           "mov.u32 %%r2, tile;\nshl.b32 %%r3, %%r1, 4;\nadd.u32 %%r2, %%r2, %%r3;\n"
           "cp.async.cg.shared.global [%%r2], [%%d2], 16;\ncp.async.commit_group;\n%s\n"
           "cp.async.ca.shared.global [%%r2+2048], [%%d2+65536], 16;\ncp.async.commit_group;\n%s\nbar.sync 0;\n"
           "ld.shared.u32 %%r5, [%%r2];\nst.global.u32 [%%d2+4], %%r5;\n",
           strstr(wait, "twice") ? "cp.async.wait_group 0;" : "", strstr(wait, "twice") ? "cp.async.wait_all;" : wait);
  return run_machine(&c, NULL, body, 64, 1).cycles;
}

/* A copy takes as long as a load from DRAM if its warp waits for it; one group may be left; two waits in a row take
 * twice as long as one for both. */
static void copies_are_waited_for(void **state) {
  (void)state;
  static const char *const machines[] = {"a100", "hopper"};
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t none = copies(machines[i], ""), all = copies(machines[i], "cp.async.wait_group 0;"),
             some = copies(machines[i], "cp.async.wait_group 1;"), two = copies(machines[i], "cp.async.wait_group 2;"),
             twice = copies(machines[i], "twice");
    assert_in_range(two, none, none + 10);
    assert_int_equal(copies(machines[i], "cp.async.wait_all;"), all);
    assert_true(some <= all && some + 10 > two);
    assert_true(twice > all + 300);
  }
}

/* 170 KB, read twice by one warp: an A100 holds them but for the 32 KB that its 32 places of such CTAs reserve. */
static void reserved_shared_memory(void **state) {
  (void)state;
  struct gpu_config c;
  struct err e;
  if (!gpu_config_load(&c, "a100", &e)) fail_msg("%s", e.msg);
  c.sms = 1;
  for (uint32_t reserved = 0; reserved <= 1024; reserved += 1024) {
    c.cta_reserved = reserved;
    struct gpu_stats s =
        run_machine(&c, NULL,
                    "mul.wide.u32 %d5, %r1, 4;\nmov.u32 %r4, 0;\nR:\nadd.s64 %d4, %d1, %d5;\nmov.u32 %r5, 0;\nL:\n"
                    "ld.global.u32 %r6, [%d4];\nadd.u32 %r7, %r7, %r6;\nadd.s64 %d4, %d4, 128;\n"
                    "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 1360;\n@%p1 bra L;\nadd.u32 %r4, %r4, 1;\n"
                    "setp.lt.u32 %p1, %r4, 2;\n@%p1 bra R;\nst.global.u32 [%d2], %r7;\n",
                    32, 1);
    assert_int_equal(s.l1d_read_accesses, 2720);
    if (reserved) assert_true(s.l1d_read_misses > 1600);
    else assert_int_equal(s.l1d_read_misses, 1360);
  }
  c.cta_reserved = 0;
  c.sm_shared = 8192;
  const char *shared = "st.shared.u32 [tile], %r1;\n"; /* 4 KB */
  uint64_t two = run_machine(&c, NULL, shared, 32, 40).cycles;
  c.cta_reserved = 1024;
  assert_true(run_machine(&c, NULL, shared, 32, 40).cycles * 10 > two * 16); /* one CTA at a time */
}

/* A chain of 40 loads from the L2 on each of two SMs. */
static uint64_t cycles_of_two_sms(uint32_t gpc_sms, uint32_t far) {
  struct gpu_config c;
  struct err e;
  if (!gpu_config_load(&c, "volta", &e)) fail_msg("%s", e.msg);
  c.sms = 2, c.gpc_sms = gpc_sms, c.sm_far = far, c.tREFI = 0, c.tlb_entries = 0;
  return run_machine(&c, NULL,
                     "mov.u32 %r4, 0;\nL:\nld.global.cg.u32 %r6, [%d2];\nmul.wide.u32 %d5, %r6, 4;\n"
                     "add.s64 %d2, %d2, %d5;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 40;\n@%p1 bra L;\n"
                     "st.global.u32 [%d2], %r4;\n",
                     32, 2)
      .cycles;
}

static void replies_to_other_gpcs(void **state) {
  (void)state;
  uint64_t more = cycles_of_two_sms(1, 64) - cycles_of_two_sms(1, 54);
  assert_in_range(more, 40 * 10, 40 * 10 + 200); /* and for code and constants */
  assert_int_equal(cycles_of_two_sms(2, 64), cycles_of_two_sms(2, 0));
}

/* Eight warps read 32 lines of a texture, 64 times: a line a cycle, or four. */
static uint64_t cycles_of_lookups(uint32_t lookups) {
  struct gpu_config c;
  struct err e;
  if (!gpu_config_load(&c, "volta", &e)) fail_msg("%s", e.msg);
  c.sms = 1, c.l1t_lookups = lookups;
  return run_machine(&c, NULL,
                     "mul.lo.u32 %r2, %r1, 32;\nmov.u32 %r4, 0;\nL:\n"
                     "tex.1d.v4.u32.s32 {%r8,%r9,%r10,%r11}, [%d1, {%r2}];\n"
                     "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 64;\n@%p1 bra L;\nst.shared.u32 [tile], %r8;\n",
                     256 | TEXTURED, 1)
      .cycles;
}

static void lines_of_a_texture_instruction(void **state) {
  (void)state;
  uint64_t one = cycles_of_lookups(1), four = cycles_of_lookups(4), as_loads = cycles_of_lookups(0);
  assert_in_range(one, 64 * 8 * 32, 64 * 8 * 32 + 4000);
  assert_in_range(four, 64 * 8 * 8, 64 * 8 * 8 + 4000);
  assert_int_equal(as_loads, one); /* the lanes need the same 8 B of the data path */
}

/* st.cg bypasses the L1 in 32 B segments and leaves the line there as it is; st evicts it. */
static void stores_past_the_l1(void **state) {
  (void)state;
#define LOAD "ld.global.u32 %r2, [%d1];\nadd.u32 %r3, %r2, %r2;\n"
  struct gpu_stats wb = run(LOAD "st.global.u32 [%d2], %r3;\n" LOAD, 32);
  struct gpu_stats cg = run(LOAD "st.global.cg.u32 [%d2], %r3;\n" LOAD, 32);
  assert_int_equal(wb.l1d_write_accesses, 4);
  assert_int_equal(wb.l1d_read_misses, 2);
  assert_int_equal(wb.mem_writes, 4);
  assert_int_equal(cg.l1d_write_accesses, 0);
  assert_int_equal(cg.l1d_read_misses, 1);
  assert_int_equal(cg.l1d_read_hits, 1);
  assert_int_equal(cg.mem_writes, 16);
}

/* A fence waits for the warp's registers, not for its stores, and then empties the L1. */
static void fences_empty_the_l1(void **state) {
  (void)state;
  struct gpu_stats no = run(LOAD LOAD, 32), yes = run(LOAD "membar.gl;\n" LOAD, 32);
  assert_int_equal(no.l1d_read_misses, 1);
  assert_int_equal(yes.l1d_read_misses, 2);
  /* The load of the same warp is in flight: the fence waits for it. */
  struct gpu_stats late = run("ld.global.u32 %r2, [%d1];\nmembar.cta;\nld.global.u32 %r3, [%d1];\n", 32);
  assert_int_equal(late.l1d_read_misses, 2);
  assert_true(late.cycles > no.cycles + 100);
  uint64_t plain = cycles("st.global.u32 [%d1], %r1;\nst.shared.u32 [tile], %r1;\n");
  uint64_t fenced = cycles("st.global.u32 [%d1], %r1;\nmembar.gl;\nst.shared.u32 [tile], %r1;\n");
  assert_in_range(fenced, plain, plain + 4);
}

/* Another warp's fence drops a pending line: the next miss joins the MSHR that fetches it. */
#define OTHERS \
  "setp.lt.u32 %p1, %r1, 32;\n@%p1 ld.global.u32 %r2, [%d1];\n@!%p1 membar.gl;\n@!%p1 ld.global.u32 %r3, [%d1];\n"
static void fences_of_others(void **state) {
  (void)state;
  struct gpu_stats st = run(OTHERS, 64);
  assert_int_equal(st.l1d_read_accesses, 2);
  assert_int_equal(st.l1d_read_misses + st.l1d_read_pending, 2);
  assert_int_equal(st.mem_reads, 1);
}

/* Organisations of the L1: arrived data is lost, pending data is kept. */
static void fences_and_organisations(void **state) {
  (void)state;
  static const char *const schemes[] = {
      "line=128", "sector", "lamar", "tsc", "tsc+", "dsc", "decoupled-l1d:threshold=0"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    struct gpu_stats no = run_scheme(schemes[i], LOAD LOAD, 32),
                     yes = run_scheme(schemes[i], LOAD "membar.gl;\n" LOAD, 32);
    if (no.l1d_read_hits != 1 || yes.l1d_read_hits)
      fail_msg("%s: %llu and %llu hits", schemes[i], (unsigned long long)no.l1d_read_hits,
               (unsigned long long)yes.l1d_read_hits);
    struct gpu_stats others = run_scheme(schemes[i], OTHERS, 64);
    assert_int_equal(others.l1d_read_accesses, 2);
    assert_int_equal(others.mem_reads, 1);
  }
}

/* A register that an instruction names twice is read once: two reads of one bank would take two cycles. */
static void repeated_sources(void **state) {
  (void)state;
  uint64_t once = cycles("add.u32 %r5, %r1, %r2;\nadd.u32 %r6, %r5, %r2;\n");
  assert_int_equal(cycles("add.u32 %r5, %r1, %r1;\nadd.u32 %r6, %r5, %r5;\n"), once);
  /* %r2 and %f2 share a name and so a read; %r2 and %r18 share a bank and take two. */
  assert_int_equal(cycles("slct.u32.f32 %r5, %r1, %r2, %f2;\nadd.u32 %r6, %r5, %r2;\n"),
                   cycles("slct.u32.f32 %r5, %r1, %r2, %f3;\nadd.u32 %r6, %r5, %r2;\n"));
  assert_int_equal(cycles("add.u32 %r5, %r2, %r18;\nadd.u32 %r6, %r5, %r3;\n"),
                   cycles("add.u32 %r5, %r2, %r4;\nadd.u32 %r6, %r5, %r3;\n") + 1);
}

/* A register without a number in its name (%SPL) is of no bank: beside %r16 of bank 0 it costs no second read, where
 * %r32 of that bank does. */
static void registers_without_numbers(void **state) {
  (void)state;
#define FIRST_READS(other) ".reg .b32 %odd;\nadd.u32 %r5, %r16, " other ";\nadd.u32 %r6, %r5, %r3;\n"
  uint64_t apart = cycles(FIRST_READS("%r4"));
  assert_int_equal(cycles(FIRST_READS("%odd")), apart);
  assert_int_equal(cycles(FIRST_READS("%r32")), apart + 1);
}

/* mul24 and mad24 take one cycle more than mul and mad, and keep their pipe one cycle longer. */
static void intervals_of_mul24(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  assert_int_equal(c.lat[LAT_INT_MUL24].latency, c.lat[LAT_INT_MUL].latency + 1);
  assert_int_equal(c.lat[LAT_INT_MUL24].interval, c.lat[LAT_INT_MUL].interval + 1);
  assert_int_equal(c.lat[LAT_INT_MAD24].latency, c.lat[LAT_INT_MAD].latency + 1);
  assert_int_equal(c.lat[LAT_INT_MAD24].interval, c.lat[LAT_INT_MAD].interval + 1);
}

/* The scoreboard looks at three scalar sources: the fourth is not waited for. */
static void fourth_source(void **state) {
  (void)state;
#define BFI(c, d)                                               \
  "ld.global.u32 %r2, [%d1];\nbfi.b32 %r9, %r3, %r4, " c ", " d \
  ";\nadd.u32 %r10, %r9, 1;\nld.global.u32 %r11, [%d1+4096];\n"
  uint64_t none = cycles(BFI("%r5", "%r6"));
  assert_int_equal(cycles(BFI("%r5", "%r2")), none);
  assert_true(cycles(BFI("%r2", "%r6")) > none + 100);
}

/* A shared load that no lane takes part in still passes the pipe of shared memory; a global one is done at once. */
static void loads_without_lanes(void **state) {
  (void)state;
#define NOBODY "setp.gt.u32 %p1, %r1, 99;\n"
#define ALL "setp.lt.u32 %p1, %r1, 99;\n"
  uint64_t off = cycles(NOBODY "@%p1 ld.shared.u32 %r2, [tile];\nadd.u32 %r3, %r2, 1;\n");
  assert_int_equal(cycles(ALL "@%p1 ld.shared.u32 %r2, [tile];\nadd.u32 %r3, %r2, 1;\n"), off);
  assert_true(cycles(NOBODY "@%p1 ld.global.u32 %r2, [%d1];\nadd.u32 %r3, %r2, 1;\n") < off);
}

/* Accesses leave the texture cache in the order in which they came, one a cycle while there is room for results; it
 * refuses one when a FIFO of it is full. */
static void textures_in_order(void **state) {
  (void)state;
  struct gpu_config c;
  gpu_config_defaults(&c);
  struct texcache t;
  uint64_t line;
  uint16_t rob;
  texcache_init(&t, &c);
  assert_int_equal(texcache_access(&t, 0x1000, 1, 1), TEX_MISS);
  assert_int_equal(texcache_access(&t, 0x1040, 2, 2), TEX_HIT); /* the line is taken, its data on the way */
  assert_int_equal(texcache_access(&t, 0x2000, 3, 3), TEX_MISS);
  assert_false(texcache_step(&t));
  assert_true(texcache_request(&t, &line, &rob));
  assert_int_equal(line, 0x1000);
  uint16_t first = rob;
  texcache_request_sent(&t);
  assert_true(texcache_request(&t, &line, &rob));
  assert_int_equal(line, 0x2000);
  texcache_request_sent(&t);
  texcache_fill(&t, rob); /* the second line arrives first: nothing overtakes */
  assert_false(texcache_step(&t));
  assert_true(texcache_awaited(&t, &line));
  assert_int_equal(line, 0x1000);
  texcache_fill(&t, first);
  assert_true(texcache_step(&t));
  assert_true(texcache_step(&t));
  assert_false(texcache_step(&t)); /* two results wait */
  assert_int_equal(texcache_next(&t), 1);
  assert_true(texcache_step(&t));
  assert_int_equal(texcache_next(&t), 2);
  assert_int_equal(texcache_next(&t), 3);
  assert_false(texcache_busy(&t));
  for (uint16_t i = 0; i < 4; i++) assert_int_equal(texcache_access(&t, 0x8000 + 128u * i, i, 9), TEX_MISS);
  assert_int_equal(texcache_access(&t, 0x9000, 4, 9), TEX_REFUSED); /* requests */
  assert_int_equal(texcache_access(&t, 0x1000, 4, 9), TEX_REFUSED); /* even for a hit */
  texcache_destroy(&t);
}

/* A hit takes two cycles longer than one in the L1, which answers the access itself: it passes the FIFO and is written
 * back. */
static void texture_latency(void **state) {
  (void)state;
#define FETCH(to, at) "tex.1d.v4.u32.s32 {" to ",%r31,%r32,%r33}, [%d1, {" at "}];\n"
#define USE(r) "add.u32 %r9, " r ", 1;\n"
  struct gpu_stats one = run(FETCH("%r2", "%r1") USE("%r2"), 32 | TEXTURED);
  struct gpu_stats two = run(FETCH("%r2", "%r1") USE("%r2") FETCH("%r4", "%r1") USE("%r4"), 32 | TEXTURED);
  assert_int_equal(one.l1t_accesses, 1);
  assert_int_equal(one.l1t_misses, 1);
  assert_int_equal(two.l1t_accesses, 2);
  assert_int_equal(two.l1t_misses, 1);
  struct gpu_stats wide =
      run("shl.b32 %r5, %r1, 5;\n" FETCH("%r2", "%r5") USE("%r2") FETCH("%r4", "%r5") USE("%r4"), 32 | TEXTURED);
  assert_int_equal(wide.l1t_accesses, 64);
  assert_int_equal(wide.l1t_misses, 32);
}

/* Two modules in one code space: 20 instructions of the first (160 B) put the second's kernel of 14 (112 B) at 160 to
 * 272, on lines 1 and 2. Alone it lies at 0 to 112, on line 0. A function that an earlier text defined takes no space.
 */
static void code_of_all_modules(void **state) {
  (void)state;
#define FIVE \
  "add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\n"
#define OTHER                                                                                   \
  HEAD ".visible .entry other()\n{\n.reg .b32 %r<4>;\n" FIVE FIVE FIVE "add.u32 %r1, %r1, 1;\n" \
       "add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nret;\n}\n"
#define KERNEL                                                                         \
  HEAD ".visible .entry k()\n{\n.reg .b32 %r<4>;\n" FIVE FIVE "add.u32 %r1, %r1, 1;\n" \
       "add.u32 %r1, %r1, 1;\nadd.u32 %r1, %r1, 1;\nret;\n}\n"
  static const struct {
    const char *first, *second;
    uint64_t misses;
  } t[] = {{OTHER, KERNEL, 2}, {NULL, KERNEL, 1}, {KERNEL, OTHER, 1}, {KERNEL, KERNEL, 1}};
  for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
    struct err e = {0};
    struct simt *s = simt_new(1 << 28, &e);
    struct simt_text first = {.ptx = t[i].first, .name = "a.ptx"}, second = {.ptx = t[i].second, .name = "b.ptx"};
    struct simt_module *a = t[i].first ? simt_load(s, &first, 1, &e) : NULL, *b = simt_load(s, &second, 1, &e);
    if (!b) fail_msg("%s", e.msg);
    struct simt_kernel *k = simt_find_kernel(b, "k");
    struct gpu_stats st = launch_alone(s, k ? k : simt_find_kernel(a, "k"));
    assert_int_equal(st.l1i_misses, t[i].misses);
    simt_free(s);
  }
}

/* Core cycles in which four SMs load `times` x 16 x 16 warps' lines that are in the only L2. */
static uint64_t cycles_of_lines(uint32_t nodes, uint32_t times) {
  struct gpu_config c;
  gpu_config_defaults(&c);
  c.sms = 4, c.channels = 1, c.subparts = 1, c.icnt_ports = nodes;
  c.l2_port_bytes = 128;                             /* a line a cycle */
  c.l1d_enabled = false, c.l1d_bypass_segment = 128; /* every load goes to the L2, whole lines */
  c.icnt_in_buf = c.icnt_ej_buf = c.icnt_bnd_buf = c.icnt_vc_buf = 64;
  c.icnt_flit = 32; /* a reply of 8 + 128 bytes is 5 flits */
  char body[2048] = "mul.wide.u32 %d5, %r1, 4;\nadd.s64 %d4, %d1, %d5;\nmov.u32 %r4, 0;\nL:\n";
  size_t n = strlen(body);
  for (uint32_t i = 0; i < 16; i++)
    n += (size_t)snprintf(body + n, sizeof body - n, "ld.global.u32 %%r%u, [%%d4];\n", 10 + i);
  snprintf(body + n, sizeof body - n, "add.u32 %%r4, %%r4, 1;\nsetp.lt.u32 %%p1, %%r4, %u;\n@%%p1 bra L;\n", times);
  return run_machine(&c, NULL, body, 512, 4).cycles;
}

/* A packet of 5 flits occupies a node for 6 cycles (interconnect.md, "One VC"): replies leave one L2 every 6 cycles by
 * one node, every 6/2 by two, every 6/4 by four. 20 times more of 16 loads of 4 x 16 warps are 20,480 replies more. */
static void nodes_of_a_sub_partition(void **state) {
  (void)state;
  for (uint32_t nodes = 1; nodes <= 4; nodes *= 2) {
    uint64_t more = cycles_of_lines(nodes, 30) - cycles_of_lines(nodes, 10), least = 20480 * 6 / nodes;
    assert_in_range(more, least, least * 101 / 100);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors_coalesce_by_element),
      cmocka_unit_test(code_of_all_modules),
      cmocka_unit_test(local_vectors),
      cmocka_unit_test(local_stores_since_volta),
      cmocka_unit_test(stores_touch_their_sectors_alone),
      cmocka_unit_test(packets_with_byte_masks),
      cmocka_unit_test(atomics_without_a_result),
      cmocka_unit_test(atomics_of_a_word),
      cmocka_unit_test(copies_are_waited_for),
      cmocka_unit_test(reserved_shared_memory),
      cmocka_unit_test(replies_to_other_gpcs),
      cmocka_unit_test(lines_of_a_texture_instruction),
      cmocka_unit_test(stores_past_the_l1),
      cmocka_unit_test(fences_empty_the_l1),
      cmocka_unit_test(fences_of_others),
      cmocka_unit_test(fences_and_organisations),
      cmocka_unit_test(repeated_sources),
      cmocka_unit_test(registers_without_numbers),
      cmocka_unit_test(intervals_of_mul24),
      cmocka_unit_test(fourth_source),
      cmocka_unit_test(loads_without_lanes),
      cmocka_unit_test(textures_in_order),
      cmocka_unit_test(texture_latency),
      cmocka_unit_test(nodes_of_a_sub_partition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
