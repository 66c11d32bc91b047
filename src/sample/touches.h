/* touches.h - accesses to the L2 of CTAs that run functionally, one after the other, in the order of CTAs that run side
 * by side.
 *
 * The time of an access is the number of instructions that its warp has executed, so that all warps of a CTA run at
 * the same pace. A CTA begins where the first of those before it ends. The order depends on the CTAs only.
 */
#ifndef SAMPLE_TOUCHES_H
#define SAMPLE_TOUCHES_H

#include <stdbool.h>
#include <stdint.h>

/* A line of global memory that an instruction touches; bit k of `sectors`: bytes 32 k to 32 k + 31. `place`: of its CTA
 * among those side by side, CTA 0 first. */
struct touched_line {
  uint64_t addr;
  uint32_t sectors, part, place; /* part: sectors of which it writes some bytes */
  bool write;
};
typedef void touches_sink(void *ctx, const struct touched_line *l);

/* An access: its line of 128 B, in the lowest five bits the sectors and whether it writes, in the highest four the
 * sectors that it writes in part; its time in the CTA, and its place among the accesses of the CTA. */
struct touched {
  uint64_t what;
  uint32_t at, place;
};
enum { TOUCHED_WRITE = 1 << 4, TOUCHED_FLAGS = 2 * TOUCHED_WRITE - 1, TOUCHED_PART = 60 };
/* struct touched.what of a CTA at `place`. */
static inline struct touched_line touched_line(uint64_t what, uint32_t place) {
  struct touched_line l = {.place = place, .part = (uint32_t)(what >> TOUCHED_PART)};
  l.addr = (what & ~(uint64_t)TOUCHED_FLAGS) << 4 >> 4;
  l.sectors = what & (TOUCHED_WRITE - 1);
  l.write = what & TOUCHED_WRITE;
  return l;
}

/* What a CTA did: accesses in any order, which the call sorts by time; `end`: the instructions of its longest warp;
 * `place`: of a part. */
struct touched_cta {
  struct touched *touch;
  uint32_t n, end, place;
};

struct touches;
struct touches *touches_new(void);
void touches_free(struct touches *t);
/* A launch begins. `side`: CTAs side by side, at least 1. */
void touches_begin(struct touches *t, uint32_t side, touches_sink *sink, void *ctx);
/* The next CTA; its accesses are copied. */
void touches_cta(struct touches *t, const struct touched_cta *c);
/* A part of a CTA that has too many: at once, behind all CTAs before it. */
void touches_part(struct touches *t, const struct touched_cta *c);
/* All CTAs end; the next ones begin together. */
void touches_flush(struct touches *t);

#endif
