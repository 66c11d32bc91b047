/* graph.c - see graph.h. */
#include "base/graph.h"

#include <string.h>

struct graph_rows graph_rows(uint32_t nodes, uint32_t edges, struct arena *a) {
  return (struct graph_rows){
      .nodes = nodes, .at = ARENA_ARRAY(a, uint32_t, nodes + 1), .to = ARENA_ARRAY(a, uint32_t, edges + 1)};
}

struct graph graph_of(const struct graph_rows *r) {
  return (struct graph){r->nodes, r->at, r->to};
}

struct graph graph_reversed(const struct graph *g, struct arena *a) {
  uint32_t edges = g->at[g->nodes], *at = ARENA_ARRAY(a, uint32_t, g->nodes + 2),
           *to = ARENA_ARRAY(a, uint32_t, edges + 1);
  for (uint32_t e = 0; e < edges; e++) at[g->to[e] + 2]++;
  for (uint32_t q = 2; q <= g->nodes + 1; q++) at[q] += at[q - 1];
  for (uint32_t q = 0; q < g->nodes; q++) /* at[q + 1] runs from the start of row q to its end */
    for (uint32_t e = g->at[q]; e < g->at[q + 1]; e++) to[at[g->to[e] + 1]++] = q;
  return (struct graph){g->nodes, at, to};
}

/* Nodes in reverse postorder into the last places of `sorted`; returns the first of them, the root's. */
static uint32_t sort_nodes(const struct graph *g, uint32_t root, uint32_t *order, uint32_t *sorted, struct arena *a) {
  uint32_t *stack = ARENA_ARRAY(a, uint32_t, g->nodes), *done = ARENA_ARRAY(a, uint32_t, g->nodes);
  uint32_t sp = 0, n = g->nodes;
  memset(order, 0xff, g->nodes * sizeof *order);
  stack[sp++] = root;
  order[root] = 0; /* met */
  while (sp) {
    uint32_t q = stack[sp - 1];
    if (g->at[q] + done[q] < g->at[q + 1]) {
      uint32_t to = g->to[g->at[q] + done[q]++];
      if (order[to] == GRAPH_NONE) order[to] = 0, stack[sp++] = to;
    } else {
      sorted[--n] = q;
      sp--;
    }
  }
  for (uint32_t i = n; i < g->nodes; i++) order[sorted[i]] = i;
  return n;
}

uint32_t graph_common(const struct dominators *d, uint32_t x, uint32_t y) {
  while (x != y) {
    while (d->order[x] > d->order[y]) x = d->idom[x];
    while (d->order[y] > d->order[x]) y = d->idom[y];
  }
  return x;
}

struct dominators graph_dominators(const struct graph *ahead, const struct graph *back, uint32_t root,
                                   struct arena *a) {
  struct dominators d = {ARENA_ARRAY(a, uint32_t, ahead->nodes), ARENA_ARRAY(a, uint32_t, ahead->nodes)};
  uint32_t *sorted = ARENA_ARRAY(a, uint32_t, ahead->nodes), first = sort_nodes(ahead, root, d.order, sorted, a);
  memset(d.idom, 0xff, ahead->nodes * sizeof *d.idom);
  d.idom[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = first + 1; i < ahead->nodes; i++) {
      uint32_t q = sorted[i], best = GRAPH_NONE;
      for (uint32_t e = back->at[q]; e < back->at[q + 1]; e++) {
        uint32_t from = back->to[e];
        if (d.idom[from] == GRAPH_NONE) continue;
        best = best == GRAPH_NONE ? from : graph_common(&d, best, from);
      }
      if (best != d.idom[q]) d.idom[q] = best, changed = true;
    }
  }
  return d;
}

bool graph_dominates(const struct dominators *d, uint32_t a, uint32_t b) {
  if (!graph_reached(d, a) || !graph_reached(d, b)) return false;
  while (d->order[b] > d->order[a]) b = d->idom[b];
  return a == b;
}
