/* graph.h - directed graphs and their immediate dominators (Cooper, Harvey and Kennedy, "A simple, fast dominance
 * algorithm", 2001). Post-dominators are the dominators of the reversed graph.
 *
 * A node is a number below `nodes`. All memory is the arena's.
 */
#ifndef BASE_GRAPH_H
#define BASE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { GRAPH_NONE = 0xffffffff }; /* no node */

/* The neighbours of node q: to[at[q]] up to to[at[q + 1] - 1]. */
struct graph {
  uint32_t nodes;
  const uint32_t *at, *to;
};

/* To make one: rows in the order of their nodes. `edges`: of all rows, at most. */
struct graph_rows {
  uint32_t nodes, row, edges;
  uint32_t *at, *to;
};
struct graph_rows graph_rows(uint32_t nodes, uint32_t edges, struct arena *a);
static inline void graph_edge(struct graph_rows *r, uint32_t to) {
  r->to[r->edges++] = to;
}
/* The row of a node is complete. */
static inline void graph_next(struct graph_rows *r) {
  r->at[++r->row] = r->edges;
}
struct graph graph_of(const struct graph_rows *r);
struct graph graph_reversed(const struct graph *g, struct arena *a);

struct dominators {
  uint32_t *order; /* by node: its place in a reverse postorder from the root; GRAPH_NONE: it is not reached */
  uint32_t *idom;  /* the root's is the root, that of a node that is not reached GRAPH_NONE */
};

/* `back` is `ahead` reversed. */
struct dominators graph_dominators(const struct graph *ahead, const struct graph *back, uint32_t root, struct arena *a);

static inline bool graph_reached(const struct dominators *d, uint32_t node) {
  return d->order[node] != GRAPH_NONE;
}
/* The nearest node that dominates both; both are reached. */
uint32_t graph_common(const struct dominators *d, uint32_t x, uint32_t y);
/* Do all ways from the root to `b` go through `a`? False if one of them is not reached. */
bool graph_dominates(const struct dominators *d, uint32_t a, uint32_t b);

#endif
