/* random_trace.h - a feed that does what the trace format finds hardest: random jumps, masks, barriers, address vectors
 * of every form. Deterministic in its seed: the n-th instruction of a warp is a function of seed, CTA, warp and n, so
 * that a test can ask again what a decoder should have said.
 */
#ifndef TESTS_RANDOM_TRACE_H
#define TESTS_RANDOM_TRACE_H

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "ptx/feed.h"

enum { RT_CODE = 300, RT_SLOTS = 8, RT_WARPS = 32 };

struct rt_warp {
  struct rng r;
  uint32_t pc, left, active;
  uint64_t base[16];
  int64_t stride[16];
  int32_t shape[4][WARP_LANES];
};
struct rt_feed {
  struct feed feed;
  struct feed_kernel kernel;
  struct inst code[RT_CODE + 1];
  uint64_t seed;
  uint32_t length; /* instructions of a warp, about */
  struct rt_warp w[RT_SLOTS][RT_WARPS];
};

static void rt_code(struct rt_feed *f) {
  struct rng r = rng_seed(f->seed);
  for (uint32_t pc = 0; pc < RT_CODE; pc++) {
    struct inst *i = &f->code[pc];
    *i = (struct inst){.pc = pc, .fetch_pc = pc * 8, .ptx_line = pc * 2 + 1, .src_line = rng_below(&r, 90)};
    uint32_t k = rng_below(&r, 12);
    if (k < 4) {
      static const uint8_t spaces[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL,  SPACE_CONST,
                                       SPACE_PARAM,  SPACE_TEX,    SPACE_GENERIC};
      i->pipe = PIPE_MEM;
      i->kind = k < 2 ? KIND_LOAD : k < 3 ? KIND_STORE : KIND_ATOM;
      i->space = spaces[rng_below(&r, k < 2 ? 7 : 2)];
      i->operand = (uint8_t)(pc % 5);
      i->elem_bytes = (uint8_t)(1u << rng_below(&r, 4));
      i->vec = i->elem_bytes == 4 ? (uint8_t)(1u << rng_below(&r, 3)) : 1;
      i->addr_reg = (uint16_t)(1 + rng_below(&r, 60)), i->addr_arch = i->addr_reg;
    } else if (k == 4) {
      i->kind = KIND_BARRIER;
    } else if (k == 5) {
      i->kind = KIND_BRANCH;
    } else if (k == 6) {
      i->kind = KIND_FENCE, i->pipe = PIPE_MEM;
    } else {
      i->lat = (uint8_t)rng_below(&r, LAT_COUNT);
      i->ndst = (uint8_t)rng_below(&r, 4), i->nsrc = (uint8_t)rng_below(&r, 4);
      for (uint32_t d = 0; d < i->ndst; d++) i->dst[d] = (uint16_t)(1 + rng_below(&r, 60)), i->dst_arch[d] = i->dst[d];
      for (uint32_t s = 0; s < i->nsrc; s++) i->src[s] = (uint16_t)(1 + rng_below(&r, 60)), i->src_arch[s] = i->src[s];
    }
    if (rng_below(&r, 4) == 0) i->flags |= INST_PREDICATED, i->pred = (uint16_t)(1 + rng_below(&r, 60));
  }
}

static uint32_t rt_mask(struct rng *r, uint32_t active) {
  switch (rng_below(r, 4)) {
  case 0:
    return active;
  case 1:
    return active & (uint32_t)rng_next(r);
  case 2:
    return active & (0xffffu << rng_below(r, 17));
  default:
    return 0;
  }
}

static void rt_addresses(struct rt_warp *w, const struct inst *i, struct issued *o) {
  struct rng *r = &w->r;
  uint32_t at = i->pc % 16, s = rng_below(r, 4);
  switch (rng_below(r, 8)) {
  case 0:
    w->stride[at] = (int64_t)rng_below(r, 64) * 4 - 128;
    break;
  case 1:
    w->base[at] = rng_next(r) >> rng_below(r, 60);
    break;
  default:
    w->base[at] += 128;
  }
  for (uint32_t l = 0; l < WARP_LANES; l++) o->addr[l] = w->base[at] + (uint64_t)w->stride[at] * l;
  switch (rng_below(r, 8)) {
  case 0: /* a vector from nowhere, which may come again */
    for (uint32_t l = 0; l < WARP_LANES; l++) w->shape[s][l] = (int32_t)(rng_next(r) >> rng_below(r, 60)) & ~3;
    break;
  case 1:
    break;
  case 2: /* all over the address space */
    for (uint32_t l = 0; l < WARP_LANES; l++) o->addr[l] = rng_next(r);
    return;
  default:
    return;
  }
  for (uint32_t l = 0; l < WARP_LANES; l++) o->addr[l] = w->base[at] + (uint64_t)(int64_t)w->shape[s][l];
}

static void rt_start_warp(const struct rt_feed *f, struct rt_warp *w, uint32_t cta, uint32_t warp) {
  memset(w, 0, sizeof *w);
  w->r = rng_seed(hash_u64(f->seed + cta * 977ull + warp * 31ull + 5));
  w->pc = f->kernel.entry_pc;
  w->left = f->length / 2 + rng_below(&w->r, f->length);
  w->active = warp == f->kernel.warps_per_cta - 1 && f->kernel.threads_per_cta % 32
                  ? (1u << f->kernel.threads_per_cta % 32) - 1
                  : ~0u;
}

static void rt_next(const struct rt_feed *f, struct rt_warp *w, struct issued *o) {
  struct rng *r = &w->r;
  const struct inst *i = &f->code[w->pc];
  o->active = w->active;
  o->mask = i->flags & INST_PREDICATED || rng_below(r, 50) == 0 ? rt_mask(r, w->active) : w->active;
  bool memory = i->kind == KIND_LOAD || i->kind == KIND_STORE || i->kind == KIND_ATOM;
  if (memory && o->mask) {
    o->space = i->space == SPACE_GENERIC ? (rng_below(r, 3) ? SPACE_GLOBAL : SPACE_SHARED) : i->space;
    o->width = (uint8_t)(i->elem_bytes * i->vec);
    if (rng_below(r, 30) == 0) o->width = 4;
    rt_addresses(w, i, o);
    o->token = i->kind == KIND_ATOM && (o->space == SPACE_GLOBAL) != (rng_below(r, 20) == 0);
  }
  if (i->kind == KIND_BARRIER && o->mask) { /* without waiting: any order of warps is possible */
    o->bar_id = (uint8_t)rng_below(r, 16);
    o->bar_threads = (uint16_t)(rng_below(r, 33) * 32);
    o->waits = false;
  }
  o->next_pc = w->pc + 1;
  if (rng_below(r, 6) == 0) o->next_pc = rng_below(r, RT_CODE), w->active = rt_mask(r, ~0u) | 1;
  else if (rng_below(r, 20) == 0) w->active = (uint32_t)rng_next(r) | 1;
  if (o->next_pc >= RT_CODE) o->next_pc = 0;
  if (!--w->left) o->next_pc = FEED_DONE;
  w->pc = o->next_pc;
}

static void rt_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  (void)sm, (void)first_warp;
  struct rt_feed *f = ctx;
  for (uint32_t w = 0; w < f->kernel.warps_per_cta; w++) rt_start_warp(f, &f->w[slot][w], cta, w);
}
static bool rt_issue(void *ctx, uint32_t slot, uint32_t warp, struct issued *o) {
  struct rt_feed *f = ctx;
  rt_next(f, &f->w[slot][warp], o);
  return true;
}
static bool rt_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  (void)ctx, (void)token, (void)lanes;
  return true;
}
static void rt_end(void *ctx, uint32_t slot) {
  (void)ctx, (void)slot;
}
static const struct feed_fault *rt_fault(void *ctx) {
  (void)ctx;
  return NULL;
}
static const struct feed_ops rt_ops = {
    .start_cta = rt_start, .issue = rt_issue, .atomic = rt_atomic, .end_cta = rt_end, .fault = rt_fault};

static void rt_init(struct rt_feed *f, uint64_t seed, uint32_t ctas, uint32_t threads, uint32_t length) {
  memset(f, 0, sizeof *f);
  f->seed = seed;
  f->length = length;
  rt_code(f);
  f->kernel = (struct feed_kernel){.name = "random",
                                   .code = f->code,
                                   .insts = RT_CODE,
                                   .entry_pc = (uint32_t)(seed % 7),
                                   .grid = {ctas, 1, 1},
                                   .block = {threads, 1, 1},
                                   .ctas = ctas,
                                   .threads_per_cta = threads,
                                   .warps_per_cta = (threads + 31) / 32,
                                   .regs_per_thread = 20,
                                   .shared_bytes = 4096,
                                   .local_bytes = 256,
                                   .max_reg = 64};
  f->feed = (struct feed){.ops = &rt_ops, .ctx = f, .kernel = &f->kernel};
}

#endif
