/* wl_lonestar.h - a graph on the device as LonestarGPU's programs see it, with its accessors.
 *
 * Four arrays instead of CSR's two: a vertex's number of edges, its place in the table of lists, that table, and the
 * edges' ends, whose first element is not used. Each accessor checks its arguments and reads what it needs, so that every
 * edge costs a number, a place and a start again before its end is read. What is out of bounds is counted. */
#ifndef WL_LONESTAR_H
#define WL_LONESTAR_H

#include "wl_graph.h"

#define LONE_FAR 1000000000u
#define LONE_BLOCK 1024u /* threads of a CTA */

struct lone_graph {
  unsigned vertices, edges;
  unsigned *number, *place, *start; /* by vertex, by vertex, by place */
  unsigned *end, *weight;           /* by edge, from 1 */
  unsigned *wrong;                  /* one: what was out of bounds, or could still be lowered at the end */
};

__device__ static unsigned lone_number(const lone_graph &g, unsigned v) {
  if (v < g.vertices) return g.number[v];
  atomicAdd(g.wrong, 1);
  return 0;
}
__device__ static unsigned lone_start(const lone_graph &g, unsigned v) {
  if (v < g.vertices) {
    if (lone_number(g, v) > 0 && g.place[v] < g.vertices) return g.start[g.place[v]];
    atomicAdd(g.wrong, 1);
  }
  return 0;
}
/* Position of the i-th edge of v in the arrays of edges, or 0. */
__device__ static unsigned lone_edge(const lone_graph &g, unsigned v, unsigned i) {
  if (v < g.vertices && i < lone_number(g, v)) {
    unsigned e = lone_start(g, v) + i;
    return e <= g.edges ? e : 0;
  }
  atomicAdd(g.wrong, 1);
  return 0;
}
__global__ void lone_fill(unsigned *dist, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dist[i] = LONE_FAR;
}

/* Lowers the far end's distance to what the way over the edge gives: whether that was lower. */
template <bool weighted>
__device__ static bool lone_relax_edge(unsigned *dist, const lone_graph &g, unsigned v, unsigned i) {
  unsigned e = lone_edge(g, v, i), w = 1;
  if (e == 0) return false;
  unsigned to = g.end[e];
  if (to >= g.vertices) return false;
  if (weighted) {
    e = lone_edge(g, v, i);
    if (e == 0) return false;
    w = g.weight[e];
  }
  unsigned through = dist[v] + w;
  return through < dist[to] && through < atomicMin(&dist[to], through);
}
/* Topology-driven: every vertex relaxes its edges in every launch, reached or not. */
template <bool weighted> __global__ void lone_relax(unsigned *dist, lone_graph graph, bool *changed) {
  lone_graph g = graph; /* in registers */
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= g.vertices) return;
  bool lower = false;
  unsigned n = lone_number(g, v);
  for (unsigned i = 0; i < n; i++)
    if (lone_relax_edge<weighted>(dist, g, v, i)) lower = true;
  if (lower) *changed = true;
}
/* Counts the edges over which a distance could still be lowered. */
template <bool weighted> __global__ void lone_verify(const unsigned *dist, lone_graph g) {
  unsigned v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= g.vertices) return;
  unsigned n = lone_number(g, v);
  for (unsigned i = 0; i < n; i++) {
    unsigned e = lone_edge(g, v, i), w = 1;
    if (e == 0) continue;
    unsigned to = g.end[e];
    if (weighted) w = g.weight[lone_edge(g, v, i)];
    if (dist[v] + w < dist[to]) atomicAdd(g.wrong, 1);
  }
}

static inline lone_graph lone_upload(const struct wl_csr &g, const std::vector<unsigned> &weight) {
  size_t n = (size_t)g.rows;
  std::vector<unsigned> number(n), place(n), start(n + 1), end(1, 0), w(1, 0);
  for (size_t v = 0; v < n; v++) {
    number[v] = (unsigned)g.degree((int)v);
    place[v] = (unsigned)v;
    start[v] = (unsigned)g.row[v] + 1;
  }
  end.insert(end.end(), g.col.begin(), g.col.end());
  w.insert(w.end(), weight.begin(), weight.end());
  lone_graph d = {};
  d.vertices = (unsigned)g.rows;
  d.edges = (unsigned)g.edges();
  d.end = wl_upload(end); /* in the order in which LonestarGPU lays them out */
  d.weight = wl_upload(w);
  d.start = wl_upload(start);
  d.number = wl_upload(number);
  wl_alloc<unsigned>(n); /* numbers of edges that arrive: not read here */
  d.place = wl_upload(place);
  wl_alloc<unsigned>(1); /* the largest numbers: not read here */
  wl_alloc<unsigned>(1);
  d.wrong = wl_zeros<unsigned>(1);
  return d;
}

/* Distances of all vertices from `source`, by launches until nothing changes; `weight` is empty where every edge
 * counts 1. */
template <bool weighted>
static std::vector<unsigned> lone_distances(const struct wl_csr &g, const std::vector<unsigned> &weight, int source,
                                            struct wl_check *chk) {
  lone_graph dg = lone_upload(g, weight);
  unsigned n = dg.vertices, blocks = wl_blocks(n, LONE_BLOCK), launches = 0, *dist = wl_alloc<unsigned>(n);
  bool *dchanged = wl_zeros<bool>(1), changed;
  lone_fill<<<blocks, LONE_BLOCK>>>(dist, n);
  WL_LAUNCHED();
  wl_set(dist + source, 0u);
  do {
    wl_set(dchanged, false);
    lone_relax<weighted><<<blocks, LONE_BLOCK>>>(dist, dg, dchanged);
    WL_LAUNCHED();
    changed = wl_get(dchanged);
    launches++;
  } while (changed);
  lone_verify<weighted><<<blocks, LONE_BLOCK>>>(dist, dg);
  WL_LAUNCHED();
  wl_equal_all(chk, "faults", wl_download(dg.wrong, 1), std::vector<unsigned>(1, 0));
  printf("%u launches from vertex %d\n", launches, source);
  return wl_download(dist, n);
}

#endif
