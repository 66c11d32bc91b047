/* signature.c - see signature.h. */
#include "sample/signature.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { LINE_SHIFT = 7, SECTOR_SHIFT = 5, SEEN_BITS = 1 << 17, MOST_SHAPES = 512, MOST_CONSTANTS = 256 };
static const double shape_distance = 0.05; /* half the sum of the differences of two shares */

#define ROW(field) \
  { #field, offsetof(struct signature, field) }
const struct signature_row signature_rows[SIGNATURE_ROWS] = {
    ROW(warp_insts), ROW(thread_insts), ROW(loads), ROW(stores),    ROW(atomics),
    ROW(shared),     ROW(other),        ROW(lines), ROW(footprint), ROW(longest)};
#undef ROW

/* The shares of the instructions in a launch. */
struct shape {
  char *kernel;
  float *share;
  uint32_t insts, launch;
};

struct signer {
  struct feed feed;
  struct feed *inner;
  const struct inst *code;
  signature_touch *touch;
  void *ctx;
  struct signature now;
  uint32_t *pc;        /* of each warp of each slot */
  uint64_t *cta_insts; /* of the CTA on each slot */
  uint32_t warps, warp_room, slot_room;
  uint64_t *count; /* executions of each instruction */
  uint64_t *last;  /* which instruction of the launch, from 1, was its last execution; 0: none */
  uint32_t count_room;
  uint64_t seen[SEEN_BITS / 64]; /* lines, by a hash: linear counting */
  uint64_t constant[MOST_CONSTANTS];
  uint32_t constants;
  struct shape *shape;
  uint32_t shapes;
};

/* ---- the tap ---- */

static void tap_start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first_warp) {
  struct signer *s = ctx;
  s->cta_insts[slot] = 0;
  for (uint32_t w = 0; w < s->warps; w++) s->pc[slot * s->warps + w] = s->feed.kernel->entry_pc;
  s->inner->ops->start_cta(s->inner->ctx, slot, cta, sm, first_warp);
}

static void touch_line(struct signer *s, uint64_t line, uint32_t sectors, bool write) {
  uint64_t h = (line >> LINE_SHIFT) * UINT64_C(0x9E3779B97F4A7C15) >> 47;
  s->seen[h / 64] |= 1ull << h % 64;
  s->now.lines++;
  if (s->touch) s->touch(s->ctx, line, sectors, write);
}

static uint32_t sectors_of(uint64_t line, uint64_t from, uint64_t to) {
  uint32_t a = from <= line ? 0 : (uint32_t)(from - line) >> SECTOR_SHIFT;
  uint32_t b = to - line >= 1u << LINE_SHIFT ? 3 : (uint32_t)(to - line) >> SECTOR_SHIFT;
  return (2u << b) - (1u << a);
}

/* The lines of one instruction, each once. */
static void touch_lines(struct signer *s, const struct issued *out, bool write) {
  uint64_t line[2 * WARP_LANES];
  uint32_t sectors[2 * WARP_LANES], n = 0;
  for (uint32_t left = out->mask & ~out->remote; left; left &= left - 1) {
    uint64_t from = out->addr[__builtin_ctz(left)], to = from + (out->width ? out->width : 1) - 1;
    for (uint64_t l = from >> LINE_SHIFT << LINE_SHIFT; l <= to; l += 1u << LINE_SHIFT) {
      uint32_t i = n;
      while (i && line[i - 1] != l) i--;
      if (!i && n < 2 * WARP_LANES) line[n] = l, sectors[n] = 0, i = ++n;
      if (i) sectors[i - 1] |= sectors_of(l, from, to);
    }
  }
  for (uint32_t i = 0; i < n; i++) touch_line(s, line[i], sectors[i], write);
}

static void touch_constants(struct signer *s, const struct issued *out) {
  for (uint32_t left = out->mask; left; left &= left - 1) {
    uint64_t line = out->addr[__builtin_ctz(left)] >> SECTOR_SHIFT << SECTOR_SHIFT;
    uint32_t i = s->constants;
    while (i && s->constant[i - 1] != line) i--;
    if (!i && s->constants < MOST_CONSTANTS) s->constant[s->constants++] = line;
  }
}

static void count_access(struct signer *s, const struct inst *in, const struct issued *out) {
  if (out->space == SPACE_SHARED) s->now.shared++;
  else if (out->space != SPACE_GLOBAL) s->now.other++;
  if (s->touch && (out->space == SPACE_CONST || out->space == SPACE_PARAM)) touch_constants(s, out);
  if (out->space != SPACE_GLOBAL) return;
  *(in->kind == KIND_LOAD ? &s->now.loads : in->kind == KIND_STORE ? &s->now.stores : &s->now.atomics) += 1;
  touch_lines(s, out, in->kind != KIND_LOAD);
}

static bool tap_issue(void *ctx, uint32_t slot, uint32_t w, struct issued *out) {
  struct signer *s = ctx;
  uint32_t *pc = &s->pc[slot * s->warps + w];
  if (!s->inner->ops->issue(s->inner->ctx, slot, w, out)) return false;
  const struct inst *in = &s->code[*pc];
  s->count[*pc]++;
  s->last[*pc] = ++s->now.warp_insts;
  s->cta_insts[slot]++;
  s->now.thread_insts += (uint32_t)__builtin_popcount(out->mask);
  if (in->kind >= KIND_LOAD && in->kind <= KIND_ATOM && out->mask) count_access(s, in, out);
  if (out->next_pc != FEED_DONE) *pc = out->next_pc;
  return true;
}

static bool tap_atomic(void *ctx, uint32_t token, uint32_t lanes) {
  const struct signer *s = ctx;
  return s->inner->ops->atomic(s->inner->ctx, token, lanes);
}

static void tap_end(void *ctx, uint32_t slot) {
  struct signer *s = ctx;
  if (s->cta_insts[slot] > s->now.longest) s->now.longest = s->cta_insts[slot];
  s->inner->ops->end_cta(s->inner->ctx, slot);
}

static const struct feed_fault *tap_fault(void *ctx) {
  const struct signer *s = ctx;
  return s->inner->ops->fault(s->inner->ctx);
}

static const struct feed_ops operations = {
    .start_cta = tap_start, .issue = tap_issue, .atomic = tap_atomic, .end_cta = tap_end, .fault = tap_fault};

/* ---- shapes ---- */

static double distance(const struct shape *p, const uint64_t *count, double all) {
  double sum = 0;
  for (uint32_t i = 0; i < p->insts; i++) sum += fabs(p->share[i] - (double)count[i] / all);
  return sum / 2;
}

static uint32_t shape_of(struct signer *s, uint32_t launch) {
  const struct feed_kernel *k = s->feed.kernel;
  double all = s->now.warp_insts ? (double)s->now.warp_insts : 1, least = HUGE_VAL;
  uint32_t nearest = launch;
  for (uint32_t i = 0; i < s->shapes; i++) {
    const struct shape *p = &s->shape[i];
    if (p->insts != k->insts || strcmp(p->kernel, k->name) != 0) continue;
    double d = distance(p, s->count, all);
    if (d < least) least = d, nearest = p->launch;
  }
  if (least <= shape_distance || s->shapes == MOST_SHAPES) return nearest;
  s->shape = mem_resize(s->shape, s->shapes + 1, sizeof *s->shape);
  struct shape *p = &s->shape[s->shapes++];
  *p = (struct shape){.kernel = mem_text(k->name), .insts = k->insts, .launch = launch};
  p->share = mem_zeroed(k->insts, sizeof *p->share);
  for (uint32_t i = 0; i < k->insts; i++) p->share[i] = (float)((double)s->count[i] / all);
  return launch;
}

/* Linear counting (Whang et al., "A linear-time probabilistic counting algorithm", TODS 1990). */
static uint64_t footprint(const struct signer *s) {
  uint64_t used = 0;
  for (uint32_t i = 0; i < SEEN_BITS / 64; i++) used += (uint32_t)__builtin_popcountll(s->seen[i]);
  double free_bits = used < SEEN_BITS ? (double)(SEEN_BITS - used) : 0.5;
  return (uint64_t)(SEEN_BITS * log(SEEN_BITS / free_bits) + 0.5);
}

/* ---- for callers ---- */

struct signer *signer_new(void) {
  return mem_zeroed(1, sizeof(struct signer));
}

void signer_free(struct signer *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->shapes; i++) free(s->shape[i].kernel), free(s->shape[i].share);
  free(s->shape);
  free(s->pc);
  free(s->count);
  free(s->last);
  free(s->cta_insts);
  free(s);
}

const uint64_t *signer_last(const struct signer *s) {
  return s->last;
}

const uint64_t *signer_constants(const struct signer *s, uint32_t *n) {
  *n = s->constants;
  return s->constant;
}

struct feed *signer_begin(struct signer *s, struct feed *inner, uint32_t slots, signature_touch *touch, void *ctx) {
  const struct feed_kernel *k = inner->kernel;
  s->inner = inner;
  s->code = k->code;
  s->touch = touch;
  s->ctx = ctx;
  s->now = (struct signature){0};
  s->constants = 0;
  s->warps = k->warps_per_cta;
  if (slots * s->warps > s->warp_room) {
    s->warp_room = slots * s->warps;
    s->pc = mem_resize(s->pc, s->warp_room, sizeof *s->pc);
  }
  if (slots > s->slot_room) {
    s->slot_room = slots;
    s->cta_insts = mem_resize(s->cta_insts, slots, sizeof *s->cta_insts);
  }
  if (k->insts > s->count_room) {
    s->count_room = k->insts;
    s->count = mem_resize(s->count, s->count_room, sizeof *s->count);
    s->last = mem_resize(s->last, s->count_room, sizeof *s->last);
  }
  memset(s->count, 0, k->insts * sizeof *s->count);
  memset(s->last, 0, k->insts * sizeof *s->last);
  memset(s->seen, 0, sizeof s->seen);
  s->feed = (struct feed){.ops = &operations, .ctx = s, .kernel = k, .watch = inner->watch};
  return &s->feed;
}

void signer_end(struct signer *s, uint32_t launch, struct signature *out) {
  s->now.footprint = footprint(s);
  s->now.shape = shape_of(s, launch);
  *out = s->now;
}
