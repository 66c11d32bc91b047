/* mem_scheme.h - for tests of schemes on the memory side and of CTA dispatch: a scheme's hooks called directly on
 * made-up events.
 */
#ifndef TESTS_MEM_SCHEME_H
#define TESTS_MEM_SCHEME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "gpu/slots/slots.h"
#include "scheme_claims.h"

/* One scheme without a machine around it: 2 SMs, 1 sub-partition of 4 sets x 4 ways, so 16 lines. */
struct bench {
  struct gpu_config config;
  struct slots slots;
  const struct scheme *scheme;
  struct scheme_ctx *c;
  uint64_t now;
  uint8_t note;
};

static const char *bench_profile; /* profile.file; NULL: none */
static uint32_t bench_ways = 4;
static inline void bench_start_on(struct bench *b, uint32_t sms, const char *list) {
  struct err e = {0};
  memset(b, 0, sizeof *b);
  gpu_config_defaults(&b->config);
  b->config.sms = sms;
  b->config.channels = b->config.subparts = 1;
  b->config.l2.sets = 4;
  b->config.l2.ways = bench_ways;
  if (bench_profile) snprintf(b->config.profile, sizeof b->config.profile, "%s", bench_profile);
  claims_saw(list);
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

#endif
