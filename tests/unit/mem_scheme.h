/* mem_scheme.h - for tests of schemes on the memory side and of CTA dispatch: a scheme's hooks called directly on
 * made-up events, and whole runs on random kernels to compare with the baseline.
 */
#ifndef TESTS_MEM_SCHEME_H
#define TESTS_MEM_SCHEME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/gpu.h"
#include "gpu/scheme.h"

/* One scheme without a machine around it: 2 SMs, 1 sub-partition of 4 sets x 4 ways, so 16 lines. */
struct bench {
  struct gpu_config config;
  struct slots slots;
  const struct scheme *scheme;
  struct scheme_ctx *c;
  uint64_t now;
  uint8_t note;
};

static inline void bench_start_on(struct bench *b, uint32_t sms, const char *list) {
  struct err e = {0};
  memset(b, 0, sizeof *b);
  gpu_config_defaults(&b->config);
  b->config.sms = sms;
  b->config.channels = b->config.subparts = 1;
  b->config.l2.sets = b->config.l2.ways = 4;
  if (!slots_parse(&b->slots, list, &e) || !slots_start(&b->slots, NULL, &b->config, 1, &e)) fail_msg("%s", e.msg);
  b->scheme = b->slots.at[0].scheme;
  b->c = &b->slots.at[0].ctx;
  b->c->now = &b->now;
}
static inline void bench_start(struct bench *b, const char *list) {
  bench_start_on(b, 2, list);
}
static inline void bench_end(struct bench *b) {
  slots_free(&b->slots);
}
static inline uint64_t bench_counter(const struct bench *b, const char *name) {
  for (uint32_t i = 0; i < scheme_counter_count(b->scheme); i++)
    if (!strcmp(b->scheme->counters[i].name, name)) return b->slots.at[0].counter[i];
  fail_msg("no counter %s", name);
  return 0;
}

/* A global read of `line` (a number) by a warp; the line's set is its number modulo 4. */
static inline struct mem_event bench_event(struct bench *b, uint32_t sm, uint32_t warp, uint64_t line) {
  return (struct mem_event){.addr = line * 128,
                            .line = line * 128,
                            .cycle = b->now,
                            .set = (uint32_t)(line % 4),
                            .way = UINT32_MAX,
                            .sm = sm,
                            .warp = warp,
                            .type = REQ_GLOBAL_READ,
                            .note = &b->note};
}

static inline struct gpu_stats run_random(const char *scheme, uint64_t seed, const char *const *sets) {
  static struct fake_feed feed;
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 3;
  for (; sets && *sets; sets += 2)
    if (!gpu_config_set(&c, sets[0], sets[1], "test", &e)) fail_msg("%s", e.msg);
  struct gpu *g = gpu_new(&c, scheme, &e);
  if (!g) fail_msg("%s: %s", scheme, e.msg);
  fake_kernel(&feed, seed, 14, 4, 4, 512 * 1024);
  struct gpu_stats st;
  if (!gpu_run_kernel(g, &feed.feed, &st, &e)) fail_msg("%s: %s", scheme, e.msg);
  assert_int_equal(feed.ended, 14);
  gpu_free(g);
  return st;
}

/* Every counter as in the baseline, on the default machine and on one with the settings given (key, value, ..., NULL).
 */
static inline void must_never_act(const char *scheme, const char *const *sets) {
  for (uint64_t seed = 60; seed < 62; seed++) {
    struct gpu_stats a = run_random(NULL, seed, sets), b = run_random(scheme, seed, sets);
    for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
      double x = gpu_stats_value(&a, &gpu_stat_rows[i]), y = gpu_stats_value(&b, &gpu_stat_rows[i]);
      if (x != y) fail_msg("%s: %s is %.17g, %.17g in the baseline", scheme, gpu_stat_rows[i].key, y, x);
    }
  }
}
/* The opposite: with these parameters the scheme changes the run. */
static inline void must_act(const char *scheme, const char *const *sets) {
  for (uint64_t seed = 60; seed < 63; seed++) {
    struct gpu_stats a = run_random(NULL, seed, sets), b = run_random(scheme, seed, sets);
    if (a.cycles != b.cycles) return;
  }
  fail_msg("%s changes nothing", scheme);
}

static const char *const small_l2[] = {"l2.sets", "16", "l2.ways", "4", NULL};
static const char *const banked_l2[] = {
    "memory.subpartitions", "1", "l2.sets", "16", "l2.ways", "4", "l2.banked", "true", "l2.write",
    "write-through",        NULL};

#endif
