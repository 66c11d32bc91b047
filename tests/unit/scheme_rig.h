/* scheme_rig.h - drives one L1 with a written sequence of accesses, for the paper tests of the schemes.
 *
 * One SM, one CTA of one warp (or more) whose program is the sequence: each access is a load or store that waits for
 * the one before, so that every fill has arrived before the next lookup. An access touches the 32 B sectors of one 128
 * B line that its mask names. The counts of hits, misses and bypasses are compared with hand-computed values.
 */
#ifndef TESTS_SCHEME_RIG_H
#define TESTS_SCHEME_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_feed.h"
#include "gpu/gpu.h"
#include "gpu/slots/slots.h"
#include "scheme_claims.h"
#include "settings.h"
#include "units.h"

enum { RIG_MAX = 4096 };

struct rig_access {
  uint64_t line;    /* number of the 128 B line */
  uint32_t sectors; /* bit per 32 B sector; 0: all four */
  bool store, half; /* half: the first 16 B of each sector alone */
  bool apart;                /* a load that does not wait for the one before it; six are in flight at most */
  uint8_t hint, hint_l2, op; /* of the instruction: enum cache_hint, enum cache_op */
  uint32_t pc;               /* 0: its place in the sequence; else loads with the same pc share an instruction number */
};

struct rig {
  struct feed feed;
  struct feed_kernel kernel;
  struct inst code[RIG_MAX + 1];
  struct rig_access at[RIG_MAX];
  uint32_t count, next[64];
  struct gpu *gpu;
  struct gpu_stats st;
  uint64_t counter[SCHEME_COUNTERS_MAX];
};

__attribute__((unused)) static void rig_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm,
                                              uint32_t first_warp) {
  (void)ctx, (void)slot, (void)cta, (void)sm, (void)first_warp;
}

static bool rig_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *o) {
  struct rig *r = ctx;
  (void)slot;
  uint32_t i = r->next[w]++;
  if (i == r->count) {
    o->active = o->mask = ~0u;
    o->next_pc = FEED_DONE;
    return true;
  }
  const struct rig_access *a = &r->at[i];
  uint32_t sectors = a->sectors ? a->sectors : 15, list[4], n = 0;
  for (uint32_t s = 0; s < 4; s++)
    if (sectors >> s & 1) list[n++] = s;
  o->active = o->mask = ~0u;
  o->space = SPACE_GLOBAL;
  o->width = 4;
  o->next_pc = i + 1;
  for (uint32_t l = 0; l < WARP_LANES; l++)
    o->addr[l] = 0xC0000000ull + a->line * 128 + list[l % n] * 32 + l / n % (a->half ? 4 : 8) * 4;
  return true;
}

static bool rig_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  (void)ctx, (void)token, (void)lanes;
  return true;
}
__attribute__((unused)) static void rig_end(void *ctx, uint32_t slot) {
  (void)ctx, (void)slot;
}
static const struct feed_fault *rig_fault(void *ctx) {
  (void)ctx;
  return NULL;
}
/* The words of a line; NULL: values are not known. */
static void (*rig_values)(uint64_t line, uint32_t words[32]);
static bool rig_data(void *ctx, uint64_t addr, uint32_t bytes, void *out) {
  (void)ctx;
  if (!rig_values || bytes != 128) return false;
  rig_values((addr - 0xC0000000ull) / 128, out);
  return true;
}
static const struct feed_ops rig_ops = {.start_cta = rig_start,
                                        .issue = rig_issue,
                                        .atomic = rig_atomic,
                                        .end_cta = rig_end,
                                        .fault = rig_fault,
                                        .data = rig_data};

/* Run the sequence `n` accesses long on machine `set` ("key=value,..." over one SM with a 1-set, linearly indexed L1 of
 * 4 ways) under `scheme`. */
__attribute__((unused)) static void rig_run(struct rig *r, const char *scheme, const char *set,
                                            const struct rig_access *at, uint32_t n) {
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 1;
  c.l1d.sets = 1;
  c.l1d_index = INDEX_LINEAR;
  settings_apply(&c, set);
  memset(r, 0, sizeof *r);
  assert_true(n <= RIG_MAX);
  r->count = n;
  memcpy(r->at, at, n * sizeof *at);
  for (uint32_t i = 0; i <= n; i++) {
    struct inst *k = &r->code[i];
    k->pc = i;
    k->fetch_pc = i * 8;
    k->pipe = PIPE_SP;
    if (i == n) {
      k->kind = KIND_EXIT;
      continue;
    }
    k->pc = at[i].pc ? at[i].pc : i;
    k->pipe = PIPE_MEM;
    k->kind = at[i].store ? KIND_STORE : KIND_LOAD;
    k->space = SPACE_GLOBAL;
    k->hint_l1 = at[i].hint, k->hint_l2 = at[i].hint_l2, k->cache_op = at[i].op;
    k->elem_bytes = 4;
    k->vec = 1;
    k->addr_reg = 1; /* each load writes what the next access needs */
    if (!at[i].store) k->dst[0] = 1, k->ndst = 1;
    if (at[i].apart) k->addr_reg = 0, k->dst[0] = (uint16_t)(2 + i % 6);
  }
  r->kernel = (struct feed_kernel){.name = "sequence",
                                   .code = r->code,
                                   .insts = n + 1,
                                   .grid = {1, 1, 1},
                                   .block = {32, 1, 1},
                                   .ctas = 1,
                                   .threads_per_cta = 32,
                                   .warps_per_cta = 1,
                                   .regs_per_thread = 16,
                                   .max_reg = 8};
  r->feed = (struct feed){.ops = &rig_ops, .ctx = r, .kernel = &r->kernel};
  claims_saw(scheme);
  r->gpu = gpu_new(&c, scheme, &e);
  if (!r->gpu) fail_msg("%s", e.msg);
  if (!gpu_run_kernel(r->gpu, &r->feed, &r->st, &e)) fail_msg("%s: %s", scheme, e.msg);
  if (gpu_slots(r->gpu)->count) memcpy(r->counter, gpu_slots(r->gpu)->at[0].counter, sizeof r->counter);
  gpu_free(r->gpu);
  r->gpu = NULL;
}

/* Hits, misses (partial ones included) and bypasses of the whole sequence, at once. */
__attribute__((unused)) static void rig_expect(const struct rig *r, uint64_t hits, uint64_t misses, uint64_t bypasses,
                                               const char *what) {
  uint64_t m = r->st.l1d_read_misses + r->st.l1d_read_partial;
  if (r->st.l1d_read_hits == hits && m == misses && r->st.l1d_read_bypasses == bypasses) return;
  fail_msg("%s: %lu hits, %lu misses, %lu bypasses; by hand %lu, %lu, %lu", what, (unsigned long)r->st.l1d_read_hits,
           (unsigned long)m, (unsigned long)r->st.l1d_read_bypasses, (unsigned long)hits, (unsigned long)misses,
           (unsigned long)bypasses);
}

/* A sequence of whole lines from text: "a b c a" (letters are lines; a capital stores). */
__attribute__((unused)) static uint32_t rig_letters(const char *text, struct rig_access *out) {
  uint32_t n = 0;
  for (; *text; text++) {
    if (*text == ' ') continue;
    bool store = *text >= 'A' && *text <= 'Z';
    out[n++] = (struct rig_access){.line = (uint64_t)(*text - (store ? 'A' : 'a')), .store = store};
  }
  return n;
}

/* Every counter of two runs equal; `what` names the claim. */
__attribute__((unused)) static void rig_equal(const struct gpu_stats *x, const struct gpu_stats *y, const char *a,
                                              const char *b, const char *what) {
  for (uint32_t i = 0; i < gpu_stat_row_count; i++) {
    double p = gpu_stats_value(x, &gpu_stat_rows[i]), q = gpu_stats_value(y, &gpu_stat_rows[i]);
    if (p != q) fail_msg("%s: %s is %.17g under %s and %.17g under %s", what, gpu_stat_rows[i].key, p, a, q, b);
  }
}

/* Random traffic of `seed` on three SMs. `ops` NULL: fake_ops. */
__attribute__((unused)) static struct gpu_stats rig_random(const char *list, uint64_t seed,
                                                           const struct feed_ops *ops) {
  static struct fake_feed feed;
  struct gpu_config c;
  struct gpu_stats st;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 3;
  claims_saw(list);
  struct gpu *g = gpu_new(&c, list, &e);
  if (!g) fail_msg("%s", e.msg);
  fake_kernel(&feed, seed, 12, 4, 4, 128 * 1024);
  if (ops) feed.feed.ops = ops;
  for (uint32_t i = 0; i < FAKE_CODE; i++) /* wider accesses to random multiples of 4 would straddle lines */
    if (feed.code[i].elem_bytes > 4) feed.code[i].elem_bytes = 4;
  if (!gpu_run_kernel(g, &feed.feed, &st, &e)) fail_msg("%s: %s", list, e.msg);
  gpu_free(g);
  return st;
}

/* The same over random traffic. */
__attribute__((unused)) static void rig_same(const char *a, const char *b, const char *what) {
  for (uint64_t seed = 61; seed < 63; seed++) {
    struct gpu_stats st[2] = {rig_random(a, seed, NULL), rig_random(b, seed, NULL)};
    rig_equal(&st[0], &st[1], a, b, what);
    assert_true(st[0].l1d_read_accesses > 500 || st[0].l1d_read_bypasses > 500);
  }
}

/* Storage that a scheme adds to each SM of the default machine, in KB. */
__attribute__((unused)) static double rig_storage_kb(const char *list) {
  struct gpu_config c;
  struct slots s;
  struct err e = {0};
  struct scheme_bits rows[32];
  double bits = 0;
  gpu_config_defaults(&c);
  if (!slots_parse(&s, list, &e)) fail_msg("%s", e.msg);
  assert_non_null(s.at[0].scheme->storage);
  uint32_t n = s.at[0].scheme->storage(&c, s.at[0].param, rows, 32);
  for (uint32_t i = 0; i < n; i++) bits += rows[i].bits;
  return bits / c.sms / 8 / 1024;
}

/* A machine of one SM under `scheme` that stands still: its hooks are called by hand. The caller frees it. */
__attribute__((unused)) static struct gpu *rig_still(const char *scheme) {
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 1;
  claims_saw(scheme);
  struct gpu *g = gpu_new(&c, scheme, &e);
  if (!g) fail_msg("%s", e.msg);
  return g;
}

#endif
