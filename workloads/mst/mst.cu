/* mst - minimum spanning forest by Boruvka's algorithm
 *
 * Program: LonestarGPU mst
 * Suites: medic=MST
 * Groups: medic=all-hit
 * Algorithm: rounds of: every vertex finds its lightest edge to another component; components take the minimum of their
 *   vertices' with a 64-bit atomic; pairs of components that chose each other are broken, the rest hook; pointer
 *   jumping flattens the components; until no edge joins two components.
 * Loads: edges are walked per vertex; the
 *   component of each edge's far end is gathered (degree up to 32) round after round from one array that fits the L2;
 *   pointer jumping chases chains.
 * Simplified: ties are broken by edge number, so that the forest is unique and can be
 *   checked.
 */
#include "../common/wl_graph.h"
#include <numeric>

typedef unsigned long long u64;
#define NONE 0xffffffffffffffffull

__global__ void reset(u64 *best, int *parent, const int *comp, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  best[v] = NONE;
  parent[v] = comp[v];
}
/* Weight in the upper, edge number in the lower half. Both directions of an edge carry the number of the one that goes
 * up. */
__global__ void find_min(const int *row, const int *col, const int *weight, const int *id, const int *comp, u64 *best,
                         int *changed, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int mine = comp[v];
  u64 least = NONE;
  for (int e = row[v]; e < row[v + 1]; e++)
    if (comp[col[e]] != mine) {
      u64 key = (u64)(unsigned)weight[e] << 32 | (unsigned)id[e];
      if (key < least) least = key;
    }
  if (least != NONE) {
    atomicMin(&best[mine], least);
    *changed = 1;
  }
}
/* Roots hook to the component at the other end of their edge; of two that chose the same edge the smaller stays root.
 */
__global__ void hook(const u64 *best, const int *from, const int *to, const int *comp, int *parent,
                     unsigned char *taken, int n) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n || comp[c] != c || best[c] == NONE) return;
  int e = (int)(unsigned)best[c], a = comp[from[e]], b = comp[to[e]], other = a == c ? b : a;
  taken[e] = 1;
  if (best[other] == best[c] && c < other) return;
  parent[c] = other;
}
__global__ void jump(int *parent, int *changed, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int p = parent[v], g = parent[p];
  if (p != g) {
    parent[v] = g;
    *changed = 1;
  }
}
__global__ void relabel(int *comp, const int *parent, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n) comp[v] = parent[comp[v]];
}

/* Kruskal over the same (weight, number) order: which edges are in the forest. */
static std::vector<unsigned char> reference(int n, const std::vector<int> &from, const std::vector<int> &to,
                                            const std::vector<int> &weight) {
  std::vector<int> order(from.size()), root((size_t)n);
  std::iota(order.begin(), order.end(), 0);
  std::iota(root.begin(), root.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weight[(size_t)a] < weight[(size_t)b]; });
  auto find = [&](int v) {
    while (root[(size_t)v] != v) v = root[(size_t)v] = root[(size_t)root[(size_t)v]];
    return v;
  };
  std::vector<unsigned char> taken(from.size(), 0);
  for (int e : order) {
    int a = find(from[(size_t)e]), b = find(to[(size_t)e]);
    if (a == b) continue;
    root[(size_t)a] = b;
    taken[(size_t)e] = 1;
  }
  return taken;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "mst");
  int scale = wl_int(&w, "scale", wl_by_size(11, 14, 18), 4, 22, "log2 of the vertices");
  int degree = wl_int(&w, "degree", wl_by_size(2, 2, 2), 1, 64, "edges per vertex");
  int kind = wl_int(&w, "graph", wl_by_size(2, 2, 2), 0, 2, "0 R-MAT, 1 road map, 2 uniform");
  wl_ready(&w, true);

  struct wl_csr g = wl_graph_for(&w, kind, scale, degree, 1000, true);
  size_t n = (size_t)g.rows;
  /* Numbers for undirected edges; a one-way edge of an input file counts as both ways only if both are in it. */
  std::vector<int> from, to, weight, id(g.col.size(), -1), ew(g.col.size(), 0), row(1, 0), col;
  for (int v = 0; v < g.rows; v++)
    for (int e = g.row[(size_t)v]; e < g.row[(size_t)v + 1]; e++) {
      int u = g.col[(size_t)e];
      auto begin = g.col.begin() + g.row[(size_t)u], end = g.col.begin() + g.row[(size_t)u + 1],
           back = std::lower_bound(begin, end, v);
      if (u <= v || back == end || *back != v) continue;
      size_t r = (size_t)(back - g.col.begin());
      id[(size_t)e] = id[r] = (int)from.size();
      ew[(size_t)e] = ew[r] = (int)fabsf(g.val[(size_t)e]);
      from.push_back(v);
      to.push_back(u);
      weight.push_back(ew[(size_t)e]);
    }
  std::vector<int> kept_w, kept_id;
  for (int v = 0; v < g.rows; v++) {
    for (int e = g.row[(size_t)v]; e < g.row[(size_t)v + 1]; e++)
      if (id[(size_t)e] >= 0) {
        col.push_back(g.col[(size_t)e]);
        kept_w.push_back(ew[(size_t)e]);
        kept_id.push_back(id[(size_t)e]);
      }
    row.push_back((int)col.size());
  }
  std::vector<int> comp0(n);
  std::iota(comp0.begin(), comp0.end(), 0);
  int *drow = wl_upload(row), *dcol = wl_upload(col), *dw = wl_upload(kept_w), *did = wl_upload(kept_id),
      *dfrom = wl_upload(from), *dto = wl_upload(to);
  int *comp = wl_upload(comp0), *parent = wl_alloc<int>(n), *changed = wl_alloc<int>(1);
  u64 *best = wl_alloc<u64>(n);
  unsigned char *taken = wl_zeros<unsigned char>(from.size());
  unsigned grid = wl_blocks(n, 256);
  int rounds = 0;
  for (;; rounds++) {
    wl_set(changed, 0);
    reset<<<grid, 256>>>(best, parent, comp, (int)n);
    find_min<<<grid, 256>>>(drow, dcol, dw, did, comp, best, changed, (int)n);
    WL_LAUNCHED();
    if (!wl_get(changed)) break;
    hook<<<grid, 256>>>(best, dfrom, dto, comp, parent, taken, (int)n);
    do {
      wl_set(changed, 0);
      jump<<<grid, 256>>>(parent, changed, (int)n);
      WL_LAUNCHED();
    } while (wl_get(changed));
    relabel<<<grid, 256>>>(comp, parent, (int)n);
    WL_LAUNCHED();
  }
  printf("%d rounds\n", rounds);
  struct wl_check chk = {};
  wl_equal_all(&chk, "edge in the forest", wl_download(taken, from.size()), reference((int)n, from, to, weight));
  return wl_end(&w, &chk);
}
