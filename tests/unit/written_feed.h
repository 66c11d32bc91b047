/* written_feed.h - a feed whose program a test writes instruction by instruction, with the address that each lane of
 * each warp touches. It executes nothing and keeps which CTA began where.
 */
#ifndef TESTS_WRITTEN_FEED_H
#define TESTS_WRITTEN_FEED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/gpu.h"
#include "ptx/feed.h"
#include "units.h"

enum { WRITTEN_CODE = 128, WRITTEN_SLOTS = 256, WRITTEN_WARPS = 32, WRITTEN_CTAS = 256 };

struct written_access {    /* of a memory instruction */
  uint64_t at, lane, warp; /* address: at + lane number * lane + number of the warp in the grid * warp */
  bool remote;             /* shared memory of another CTA of the cluster */
};
struct written_start { /* of a CTA, in the order of starting */
  uint32_t cta, sm, first_warp;
  uint32_t ended; /* CTAs, by then */
};
struct written {
  struct feed feed;
  struct feed_kernel kernel;
  struct inst code[WRITTEN_CODE];
  struct written_access access[WRITTEN_CODE];
  uint32_t count, next[WRITTEN_SLOTS][WRITTEN_WARPS], cta[WRITTEN_SLOTS];
  struct written_start start[WRITTEN_CTAS];
  uint32_t end[WRITTEN_CTAS]; /* CTAs in the order of ending */
  uint32_t started, ended;
};

static void written_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  struct written *f = ctx;
  assert_true(slot < WRITTEN_SLOTS && f->started < WRITTEN_CTAS);
  f->start[f->started++] = (struct written_start){cta, sm, first_warp, f->ended};
  f->cta[slot] = cta;
  memset(f->next[slot], 0, sizeof f->next[slot]);
}

static bool written_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *o) {
  struct written *f = ctx;
  uint32_t pc = f->next[slot][w]++;
  const struct inst *i = &f->code[pc];
  o->active = o->mask = ~0u;
  o->next_pc = i->kind == KIND_EXIT ? FEED_DONE : pc + 1;
  if (i->pipe != PIPE_MEM) return true;
  const struct written_access *a = &f->access[pc];
  o->space = i->space;
  o->width = i->elem_bytes;
  o->remote = a->remote ? ~0u : 0;
  uint64_t number = (uint64_t)f->cta[slot] * f->kernel.warps_per_cta + w;
  for (uint32_t l = 0; l < WARP_LANES; l++) o->addr[l] = a->at + l * a->lane + number * a->warp;
  return true;
}

static bool written_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  (void)ctx, (void)token, (void)lanes;
  return true;
}
static void written_end(void *ctx, uint32_t slot) {
  struct written *f = ctx;
  f->end[f->ended++] = f->cta[slot];
}
static const struct feed_fault *written_fault(void *ctx) {
  (void)ctx;
  return NULL;
}
static const struct feed_ops written_ops = {.start_cta = written_start,
                                            .issue = written_issue,
                                            .atomic = written_atomic,
                                            .end_cta = written_end,
                                            .fault = written_fault};

/* A program without instructions, for `ctas` CTAs of `warps` warps. */
static void written_begin(struct written *f, uint32_t ctas, uint32_t warps) {
  memset(f, 0, sizeof *f);
  f->kernel = (struct feed_kernel){.name = "written",
                                   .code = f->code,
                                   .grid = {ctas, 1, 1},
                                   .block = {warps * WARP_LANES, 1, 1},
                                   .ctas = ctas,
                                   .threads_per_cta = warps * WARP_LANES,
                                   .warps_per_cta = warps,
                                   .regs_per_thread = 16,
                                   .max_reg = 127};
  f->feed = (struct feed){.ops = &written_ops, .ctx = f, .kernel = &f->kernel};
}

static struct inst *written_add(struct written *f) {
  assert_true(f->count < WRITTEN_CODE);
  struct inst *i = &f->code[f->count];
  i->pc = f->count;
  i->fetch_pc = 8 * f->count;
  f->count++;
  return i;
}

/* An integer addition: `to` and `from` are registers, 0 for none. */
__attribute__((unused)) static void written_int_add(struct written *f, uint16_t to, uint16_t from) {
  struct inst *i = written_add(f);
  i->pipe = PIPE_SP;
  i->lat = LAT_INT_ADD;
  if (to) i->dst[0] = i->dst_arch[0] = to, i->ndst = 1;
  if (from) i->src[0] = i->src_arch[0] = from, i->nsrc = 1;
}

/* A load or store of 4 bytes a lane, of register `r`. */
__attribute__((unused)) static void written_memory(struct written *f, uint8_t kind, uint8_t space, uint16_t r,
                                                   struct written_access a) {
  f->access[f->count] = a;
  struct inst *i = written_add(f);
  i->pipe = PIPE_MEM;
  i->kind = kind;
  i->space = space;
  i->elem_bytes = 4;
  i->vec = 1;
  if (kind == KIND_LOAD) i->dst[0] = i->dst_arch[0] = r, i->ndst = 1;
  else i->src[0] = i->src_arch[0] = r, i->nsrc = 1;
}

/* Ends the program. */
static void written_exit(struct written *f) {
  struct inst *i = written_add(f);
  i->pipe = PIPE_SP;
  i->kind = KIND_EXIT;
  f->kernel.insts = f->count;
}

/* A machine of `sms` SMs, changed by "key=value" texts up to NULL. */
static struct gpu_config written_machine(uint32_t sms, const char *const *set) {
  struct gpu_config c;
  struct err e = {0};
  gpu_config_defaults(&c);
  c.sms = sms;
  for (; set && *set; set++) {
    char key[64];
    const char *eq = strchr(*set, '=');
    assert_non_null(eq);
    assert_true((size_t)(eq - *set) < sizeof key);
    memcpy(key, *set, (size_t)(eq - *set));
    key[eq - *set] = 0;
    if (!gpu_config_set(&c, key, eq + 1, "test", &e)) fail_msg("%s", e.msg);
  }
  return c;
}

/* Run it `times` times on a new machine; the counters are those of the last run. From the second on the instructions
 * are in their cache and what was loaded is in the L2. */
static struct gpu_stats written_run(struct written *f, const struct gpu_config *c, uint32_t times) {
  struct err e = {0};
  struct gpu_stats st;
  struct gpu *g = gpu_new(c, NULL, &e);
  if (!g) fail_msg("%s", e.msg);
  while (times--) {
    f->started = f->ended = 0;
    if (!gpu_run_kernel(g, &f->feed, &st, &e)) fail_msg("%s", e.msg);
  }
  gpu_free(g);
  return st;
}

#endif
