/* fake_feed.h - a feed that executes nothing: random straight-line code in a loop, random addresses. For tests of the
 * timing model without the functional machine. Deterministic in its seed.
 */
#ifndef TESTS_FAKE_FEED_H
#define TESTS_FAKE_FEED_H

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "ptx/feed.h"

enum { FAKE_CODE = 40, FAKE_SLOTS = 512, FAKE_WARPS = 32 };

struct fake_warp {
  uint32_t pc, loops;
  uint64_t salt;
};
struct fake_feed {
  struct feed feed;
  struct feed_kernel kernel;
  struct inst code[FAKE_CODE];
  struct fake_warp w[FAKE_SLOTS][FAKE_WARPS];
  uint64_t waiting[FAKE_SLOTS], exited[FAKE_SLOTS];
  uint64_t footprint;  /* bytes */
  uint32_t spread_max; /* elements between lanes, at most; 1: each access is one line of 128 B */
  uint32_t loops, started, ended, pending_atomics;
  uint64_t atomics;
};

static void fake_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  (void)sm, (void)first_warp;
  struct fake_feed *f = ctx;
  f->started++;
  f->waiting[slot] = f->exited[slot] = 0;
  for (uint32_t w = 0; w < f->kernel.warps_per_cta; w++)
    f->w[slot][w] = (struct fake_warp){.loops = f->loops, .salt = hash_u64(cta * 64ull + w + 1)};
}

static uint64_t fake_all(const struct fake_feed *f) {
  return (1ull << f->kernel.warps_per_cta) - 1;
}

static void fake_addresses(const struct fake_feed *f, const struct fake_warp *w, const struct inst *i,
                           struct issued *o) {
  uint64_t h = hash_u64(w->salt + i->pc * 131ull + w->loops * 7919ull);
  uint32_t spread = 1u << (h & 7); /* 1 .. 128 elements between lanes */
  if (spread > f->spread_max) spread = f->spread_max;
  uint64_t aligned = f->spread_max == 1 ? ~127ull : ~0ull;
  for (uint32_t l = 0; l < WARP_LANES; l++) {
    uint64_t off = ((h >> 8 & aligned) + (uint64_t)l * spread * 4) % f->footprint & ~3ull;
    switch (i->space) {
    case SPACE_SHARED:
      o->addr[l] = off % 4096;
      break;
    case SPACE_LOCAL:
      o->addr[l] = off % 256;
      break;
    case SPACE_CONST:
      o->addr[l] = 0x1000 + off % 2048;
      break;
    default:
      o->addr[l] = 0xC0000000ull + off;
    }
  }
}

static bool fake_issue(void *ctx, uint32_t slot, uint32_t wi, struct issued *o) {
  struct fake_feed *f = ctx;
  struct fake_warp *w = &f->w[slot][wi];
  const struct inst *i = &f->code[w->pc];
  o->active = o->mask = ~0u;
  o->space = i->space;
  o->width = (uint8_t)(i->elem_bytes * i->vec);
  o->next_pc = w->pc + 1;
  if (i->pipe == PIPE_MEM && i->kind != KIND_FENCE) {
    fake_addresses(f, w, i, o);
    if (hash_u64(w->salt ^ w->pc ^ w->loops) % 8 == 0) o->mask = 0x0f0f3c01u;
  }
  if (i->kind == KIND_ATOM) {
    o->token = 1;
    f->pending_atomics += (uint32_t)__builtin_popcount(o->mask);
  }
  if (i->kind == KIND_BARRIER) {
    f->waiting[slot] |= 1ull << wi;
    o->waits = true;
  }
  if (i->kind == KIND_BRANCH && --w->loops) o->next_pc = 0;
  if (i->kind == KIND_EXIT) {
    o->next_pc = FEED_DONE;
    f->exited[slot] |= 1ull << wi;
  }
  if (f->waiting[slot] && (f->waiting[slot] | f->exited[slot]) == fake_all(f)) {
    o->released = f->waiting[slot];
    f->waiting[slot] = 0;
  }
  w->pc = o->next_pc;
  return true;
}

static bool fake_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  struct fake_feed *f = ctx;
  (void)token;
  f->atomics += (uint32_t)__builtin_popcount(lanes);
  f->pending_atomics -= (uint32_t)__builtin_popcount(lanes);
  return true;
}
static void fake_end(void *ctx, uint32_t slot) {
  (void)slot;
  ((struct fake_feed *)ctx)->ended++;
}
static const struct feed_fault *fake_fault(void *ctx) {
  (void)ctx;
  return NULL;
}
/* Zeros, small numbers, pointers near each other and noise, a line each. */
static bool fake_data(void *ctx, uint64_t addr, uint32_t bytes, void *out) {
  uint64_t h = hash_u64(addr);
  (void)ctx;
  for (uint32_t i = 0; i < bytes / 8; i++) {
    uint64_t r = hash_u64(h + i), v = h % 4 == 0 ? 0 : h % 4 == 1 ? r % 100 : h % 4 == 2 ? h + r % 100 : r;
    memcpy((char *)out + (size_t)i * 8, &v, 8);
  }
  return true;
}
static const struct feed_ops fake_ops = {.start_cta = fake_start,
                                         .issue = fake_issue,
                                         .atomic = fake_atomic,
                                         .end_cta = fake_end,
                                         .fault = fake_fault,
                                         .data = fake_data};

static void fake_memory(struct inst *i, uint8_t kind, uint8_t space, struct rng *r) {
  static const uint8_t widths[] = {1, 2, 4, 4, 4, 8};
  i->pipe = PIPE_MEM;
  i->kind = kind;
  i->space = space;
  i->elem_bytes = space == SPACE_LOCAL || kind == KIND_ATOM ? 4 : widths[rng_below(r, 6)];
  i->vec = 1;
  i->addr_reg = (uint16_t)(1 + rng_below(r, 20));
  i->addr_arch = i->addr_reg;
  i->hint_l1 = (uint8_t)(i->addr_reg % (HINT_NO_ALLOCATE + 1)); /* without effect but for a scheme that reads them */
  i->hint_l2 = (uint8_t)(i->addr_reg / 2 % HINT_NO_ALLOCATE);
  if (kind == KIND_STORE) {
    i->src[0] = (uint16_t)(1 + rng_below(r, 20)), i->src_arch[0] = i->src[0], i->nsrc = 1;
  } else {
    i->dst[0] = (uint16_t)(1 + rng_below(r, 20)), i->dst_arch[0] = i->dst[0], i->ndst = 1;
  }
}

/* A random kernel of `ctas` blocks of `warps` warps that loops `loops` times over its code. */
static void fake_kernel(struct fake_feed *f, uint64_t seed, uint32_t ctas, uint32_t warps, uint32_t loops,
                        uint64_t footprint) {
  struct rng r = rng_seed(seed);
  memset(f, 0, sizeof *f);
  f->loops = loops;
  f->footprint = footprint;
  f->spread_max = 32;
  for (uint32_t pc = 0; pc < FAKE_CODE; pc++) {
    struct inst *i = &f->code[pc];
    i->pc = pc;
    i->fetch_pc = pc * 8;
    i->ptx_line = pc + 1;
    uint32_t k = rng_below(&r, 20);
    if (pc == FAKE_CODE - 1) i->kind = KIND_EXIT;
    else if (pc == FAKE_CODE - 2) i->kind = KIND_BRANCH;
    else if (k < 5) fake_memory(i, KIND_LOAD, SPACE_GLOBAL, &r);
    else if (k < 6) fake_memory(i, KIND_STORE, SPACE_GLOBAL, &r);
    else if (k < 7) fake_memory(i, rng_below(&r, 2) ? KIND_LOAD : KIND_STORE, SPACE_SHARED, &r);
    else if (k < 8) fake_memory(i, rng_below(&r, 2) ? KIND_LOAD : KIND_STORE, SPACE_LOCAL, &r);
    else if (k < 9) fake_memory(i, KIND_LOAD, SPACE_CONST, &r);
    else if (k < 10 && pc % 3 == 0) fake_memory(i, KIND_ATOM, SPACE_GLOBAL, &r);
    else if (k < 11 && pc % 5 == 0) i->kind = KIND_BARRIER;
    else if (k < 12 && pc % 5 == 0) i->kind = KIND_FENCE, i->pipe = PIPE_MEM;
    else {
      i->lat = (uint8_t)rng_below(&r, LAT_COUNT);
      i->pipe = i->lat == LAT_SFU || i->lat == LAT_INT_DIV || i->lat >= LAT_F64_ADD ? PIPE_SFU : PIPE_SP;
      i->dst[0] = (uint16_t)(1 + rng_below(&r, 20)), i->dst_arch[0] = i->dst[0], i->ndst = 1;
      for (uint32_t s = 0; s < 2; s++) i->src[s] = (uint16_t)(1 + rng_below(&r, 20)), i->src_arch[s] = i->src[s];
      i->nsrc = 2;
    }
  }
  f->kernel = (struct feed_kernel){.name = "random",
                                   .code = f->code,
                                   .insts = FAKE_CODE,
                                   .grid = {ctas % 4 ? ctas : 4, ctas % 4 ? 1 : ctas / 4, 1},
                                   .block = {warps * 32, 1, 1},
                                   .ctas = ctas,
                                   .threads_per_cta = warps * 32,
                                   .warps_per_cta = warps,
                                   .regs_per_thread = 20,
                                   .shared_bytes = 4096,
                                   .local_bytes = 256,
                                   .max_reg = 32};
  f->feed = (struct feed){.ops = &fake_ops, .ctx = f, .kernel = &f->kernel};
}

#endif
