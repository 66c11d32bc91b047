/* reconverge.h - where the lanes of a warp reconverge in machine code, which has convergence barriers (BSSY, BSYNC,
 * BREAK, since Volta).
 *
 * A region is a set of blocks whose lanes wait for each other at its end; lanes that leave it elsewhere are waited for
 * no more (BREAK). Regions lie in each other or apart:
 * - a natural loop; its end is its head;
 * - the blocks between a join and its begin, the nearest block that dominates it and is in no loop but the join's, if
 *   the join does not post-dominate its begin, and each branch out of the region may part lanes and chooses one of two
 *   ways; its end is the join. Where a loop's last branch leads on is a join, too. Of joins with one begin it is the
 *   last.
 * A branch reconverges at the immediate post-dominator in the smallest region that has two of its successors, ways out
 * of the region left out, or at the region's end; in no region, in the function.
 *
 * Found in code of ptxas 11.8 and 13.0 (cuobjdump).
 */
#ifndef BASE_RECONVERGE_H
#define BASE_RECONVERGE_H

#include "base/graph.h"

/* Of a block. */
enum {
  ENDS_SOME = 1, /* it ends some lanes under a guard: outside loops its way to the end counts for nothing */
  TOGETHER = 2,  /* all its lanes take the same way */
  LEADS_ON = 4,  /* it is a branch and nothing else */
  CHOOSES = 8    /* it ends in a branch through a table, which has no BREAK */
};

enum { NO_REGION = 0xffffffff };

/* Blocks are nodes 0 to exit - 1, the first is the entry; node `exit` is the end of the function. */
struct reconvergence {
  uint32_t exit, n, loops; /* regions; the first are loops */
  uint32_t *end, *up;      /* by region: its end; the smallest one around it or NO_REGION */
  uint32_t *meet;          /* by region: where lanes that leave it meet the others, GRAPH_NONE: nowhere */
  uint32_t *of;            /* by block: the smallest region that has it, or NO_REGION */
  uint32_t *sorted;        /* regions from the smallest on */
  uint32_t *at;            /* by block: where its lanes reconverge, or GRAPH_NONE: it has one way, or they never do */
  uint64_t *in;            /* a row of `words` for each region: its blocks */
  uint32_t words;
  struct dominators dom;
};

/* `back` is `ahead` reversed; flags: by block. `loops_apart`: what is reached out of a loop and from elsewhere is no
 * join (ptxas 13.0). All memory is the arena's. */
struct reconvergence graph_reconverge(const struct graph *ahead, const struct graph *back, const uint8_t *flags,
                                      bool loops_apart, struct arena *a);
/* The block itself, or the one before the loops around it that do not have `place`; GRAPH_NONE: there is none. */
uint32_t region_before_loops(const struct reconvergence *r, uint32_t block, uint32_t place);

static inline bool region_has(const struct reconvergence *r, uint32_t region, uint32_t block) {
  return r->in[(size_t)region * r->words + block / 64] >> (block % 64) & 1;
}

#endif
