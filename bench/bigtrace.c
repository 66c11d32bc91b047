/* bigtrace.c - writes a trace of about so many megabytes, which nothing can compress: every load goes to 32 random
 * addresses. For measuring how much memory and time a replay takes (tests/trace/big builds and runs it). bigtrace
 * FILE.slt MEGABYTES
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "trace/slt/slt_write.h"
#include "trace/trace_feed.h"

enum { WARPS = 8, LOADS = 500, SLOTS = 1, BYTES_OF_LOAD = 135 };

struct big {
  struct rng rng;
  struct {
    uint32_t pc, left;
  } warp[WARPS];
};

static void start(void *ctx, uint32_t slot, uint32_t cta, uint32_t sm, uint32_t first) {
  (void)slot, (void)cta, (void)sm, (void)first;
  struct big *b = ctx;
  for (int w = 0; w < WARPS; w++) b->warp[w].pc = 0, b->warp[w].left = LOADS;
}

static bool issue(void *ctx, uint32_t slot, uint32_t w, struct issued *o) {
  (void)slot;
  struct big *b = ctx;
  uint32_t pc = b->warp[w].pc++;
  o->active = o->mask = ~0u;
  if (!pc) {
    o->space = SPACE_GLOBAL;
    o->width = 4;
    for (int l = 0; l < WARP_LANES; l++) o->addr[l] = 0x10000000 + (rng_next(&b->rng) & 0xffffffc);
  }
  if (pc == 2 && --b->warp[w].left) b->warp[w].pc = 0;
  o->next_pc = pc == 3 ? FEED_DONE : b->warp[w].pc;
  return true;
}

static bool atomic(void *ctx, uint32_t token, uint32_t lanes) {
  (void)ctx, (void)token, (void)lanes;
  return true;
}
static void end(void *ctx, uint32_t slot) {
  (void)ctx, (void)slot;
}
static const struct feed_fault *fault(void *ctx) {
  (void)ctx;
  return NULL;
}

int main(int argc, char **argv) {
  static const struct feed_ops ops = {
      .start_cta = start, .issue = issue, .atomic = atomic, .end_cta = end, .fault = fault};
  struct inst code[4] = {
      {.pipe = PIPE_MEM, .kind = KIND_LOAD, .space = SPACE_GLOBAL, .elem_bytes = 4, .vec = 1, .ndst = 1, .dst = {1}},
      {.pc = 1, .fetch_pc = 8, .lat = LAT_INT_ADD, .ndst = 1, .dst = {2}, .nsrc = 1, .src = {1}},
      {.pc = 2, .fetch_pc = 16, .kind = KIND_BRANCH},
      {.pc = 3, .fetch_pc = 24, .kind = KIND_EXIT}};
  if (argc < 3) return fprintf(stderr, "bigtrace FILE.slt MEGABYTES\n"), 2;
  uint32_t ctas = (uint32_t)(strtod(argv[2], NULL) * 1e6 / (WARPS * LOADS * BYTES_OF_LOAD)) + 1;
  struct feed_kernel k = {.name = "gather",
                          .code = code,
                          .insts = 4,
                          .grid = {ctas, 1, 1},
                          .block = {WARPS * 32, 1, 1},
                          .ctas = ctas,
                          .threads_per_cta = WARPS * 32,
                          .warps_per_cta = WARPS,
                          .regs_per_thread = 16,
                          .max_reg = 2};
  struct big b = {.rng = rng_seed(1)};
  struct feed feed = {.ops = &ops, .ctx = &b, .kernel = &k};
  struct err e = {0};
  struct slt_writer *w = slt_create(argv[1], NULL, "bigtrace", 0, &e);
  struct feed *tap = w ? slt_begin(w, &feed, SLOTS, &e) : NULL;
  if (!tap || !trace_drive(tap, SLOTS, 0, NULL, &e) || !slt_end(w, true, &e) || !slt_finish(w, &e))
    return fprintf(stderr, "%s\n", e.msg), 1;
  return 0;
}
