/* place_rig.h - several SMs, one warp on each, with a written sequence of accesses for each SM: for lines that live in
 * the L1s of other SMs.
 *
 * A letter loads a line of 128 B, a capital stores to it, '.' waits for 145 cycles (an integer division), '!' is a
 * fence. Each waits for the one before.
 */
#ifndef TESTS_PLACE_RIG_H
#define TESTS_PLACE_RIG_H

#include "scheme_rig.h"

enum { PLACE_SMS = 8, PLACE_TEXT = 128, PLACE_CODE = PLACE_SMS * PLACE_TEXT + 1 };

struct place_rig {
  struct feed feed;
  struct feed_kernel kernel;
  struct inst code[PLACE_CODE];
  char text[PLACE_SMS][PLACE_TEXT];
  uint32_t cta_at[1024]; /* by CTA slot */
  uint32_t next[PLACE_SMS], sm_of[PLACE_SMS];
  bool begun[PLACE_SMS];
  struct gpu_stats st;
  uint64_t counter[SCHEME_COUNTERS_MAX];
};

static uint32_t place_pc(uint32_t cta, uint32_t i) {
  return 1 + cta * PLACE_TEXT + i;
}

static void place_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  struct place_rig *r = ctx;
  (void)first_warp;
  r->cta_at[slot] = cta;
  r->sm_of[cta] = sm;
}

static bool place_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *o) {
  struct place_rig *r = ctx;
  uint32_t cta = r->cta_at[slot];
  (void)w;
  o->active = o->mask = ~0u;
  if (!r->begun[cta]) {
    r->begun[cta] = true;
    o->next_pc = place_pc(cta, 0);
    return true;
  }
  uint32_t i = r->next[cta]++;
  char c = r->text[cta][i];
  o->next_pc = c ? place_pc(cta, i + 1) : FEED_DONE;
  o->space = SPACE_GLOBAL;
  o->width = 4;
  uint64_t line = (uint64_t)((c | 32) - 'a');
  for (uint32_t l = 0; l < WARP_LANES; l++) o->addr[l] = 0xC0000000ull + line * 128 + l * 4;
  return true;
}

static const struct feed_ops place_ops = {
    .start_cta = place_start, .issue = place_issue, .atomic = rig_atomic, .end_cta = rig_end, .fault = rig_fault};

static void place_code(struct inst *k, char c) {
  k->pipe = PIPE_SP;
  if (c == '.') {
    k->pipe = PIPE_SFU;
    k->lat = LAT_INT_DIV;
    k->src[0] = k->dst[0] = 1, k->nsrc = k->ndst = 1;
  } else if (c == '!') {
    k->kind = KIND_FENCE;
    k->pipe = PIPE_MEM;
  } else if (!c) {
    k->kind = KIND_EXIT;
  } else {
    bool store = c >= 'A' && c <= 'Z';
    k->pipe = PIPE_MEM;
    k->kind = store ? KIND_STORE : KIND_LOAD;
    k->space = SPACE_GLOBAL;
    k->elem_bytes = 4;
    k->vec = 1;
    k->addr_reg = 1;
    if (!store) k->dst[0] = 1, k->ndst = 1;
  }
}

/* Run `n` SMs; text[i] is the sequence of SM i. The L1s have one set of four ways. */
__attribute__((unused)) static void place_run(struct place_rig *r, const char *scheme, const char *set, uint32_t n,
                                              const char *const *text) {
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = n;
  c.l1d.sets = 1;
  c.l1d_index = INDEX_LINEAR;
  settings_apply(&c, set);
  memset(r, 0, sizeof *r);
  for (uint32_t i = 0; i < PLACE_CODE; i++)
    r->code[i] = (struct inst){.pc = i, .fetch_pc = i * 8, .pipe = PIPE_SP, .kind = i ? KIND_EXIT : 0};
  for (uint32_t i = 0; i < n; i++) {
    assert_true(strlen(text[i]) + 1 < PLACE_TEXT);
    strcpy(r->text[i], text[i]);
    for (uint32_t k = 0; k <= strlen(text[i]); k++) {
      struct inst *in = &r->code[place_pc(i, k)];
      in->kind = 0;
      place_code(in, text[i][k]);
    }
  }
  r->kernel = (struct feed_kernel){.name = "sequences",
                                   .code = r->code,
                                   .insts = PLACE_CODE,
                                   .grid = {n, 1, 1},
                                   .block = {32, 1, 1},
                                   .ctas = n,
                                   .threads_per_cta = 32,
                                   .warps_per_cta = 1,
                                   .regs_per_thread = 16,
                                   .max_reg = 8};
  r->feed = (struct feed){.ops = &place_ops, .ctx = r, .kernel = &r->kernel};
  claims_saw(scheme);
  struct gpu *g = gpu_new(&c, scheme, &e);
  if (!g) fail_msg("%s", e.msg);
  if (!gpu_run_kernel(g, &r->feed, &r->st, &e)) fail_msg("%s: %s", scheme, e.msg);
  for (uint32_t i = 0; i < n; i++) assert_int_equal(r->sm_of[i], i);
  if (gpu_slots(g)->count) memcpy(r->counter, gpu_slots(g)->at[0].counter, sizeof r->counter);
  gpu_free(g);
}
#define PLACE_RUN(r, scheme, set, ...)                              \
  do {                                                              \
    const char *const text_[] = {__VA_ARGS__};                      \
    place_run(r, scheme, set, sizeof text_ / sizeof *text_, text_); \
  } while (0)

/* Random traffic of four SMs under a scheme and settings ("" or "knob=value,..."),
 * cycle by cycle or with idle cycles skipped. */
static struct gpu_stats place_random(const char *scheme, const char *set, uint64_t seed, bool skip) {
  static struct fake_feed feed;
  struct gpu_config c;
  struct gpu_stats st;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = 4;
  settings_apply(&c, set);
  struct gpu *g = gpu_new(&c, scheme, &e);
  if (!g) fail_msg("%s: %s", scheme, e.msg);
  gpu_set_skip(g, skip);
  fake_kernel(&feed, seed, 14, 4, 4, 64 * 1024);
  for (uint32_t i = 0; i < FAKE_CODE; i++)
    if (feed.code[i].elem_bytes > 4) feed.code[i].elem_bytes = 4;
  if (!gpu_run_kernel(g, &feed.feed, &st, &e)) fail_msg("%s, %s: %s", scheme, set, e.msg);
  gpu_free(g);
  return st;
}

#endif
