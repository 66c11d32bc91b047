/* sssp - single-source shortest paths, topology-driven
 *
 * Program: LonestarGPU sssp (the topology-driven base variant)
 * Suites: bucl=SSSP medic=SSSP decoupled-l1d=SSSP
 * Groups: bucl=un-coalesced decoupled-l1d=cache-unfriendly
 * Algorithm: Bellman-Ford: every launch relaxes the out-edges of every reached vertex, one thread per vertex, with
 *   atomic minimum on the neighbour's distance; the host launches until nothing changed.
 * Loads: row pointers and own
 *   distance coalesced; edge targets and weights walk a list per thread (degree up to 32, one sector used at a time); the
 *   neighbour's distance is anywhere.
 * Simplified: a thread takes one vertex, Lonestar's a strided block of them; the
 *   graph is generated, or read from --input.
 */
#include "../common/wl_graph.h"
#include <queue>

#define FAR 1000000000u

__global__ void relax(const int *row, const int *col, const unsigned *weight, unsigned *dist, int *changed, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  unsigned mine = dist[v];
  if (mine == FAR) return;
  int end = row[v + 1];
  for (int i = row[v]; i < end; i++) {
    int to = col[i];
    unsigned through = mine + weight[i];
    if (through < dist[to]) {
      if (through < atomicMin(&dist[to], through)) *changed = 1;
    }
  }
}

static std::vector<unsigned> reference(const struct wl_csr &g, const std::vector<unsigned> &weight, int source) {
  typedef std::pair<unsigned, int> item;
  std::vector<unsigned> dist((size_t)g.rows, FAR);
  std::priority_queue<item, std::vector<item>, std::greater<item>> queue;
  dist[(size_t)source] = 0;
  queue.push(item(0, source));
  while (!queue.empty()) {
    item top = queue.top();
    queue.pop();
    if (top.first != dist[(size_t)top.second]) continue;
    for (int i = g.row[(size_t)top.second]; i < g.row[(size_t)top.second + 1]; i++) {
      size_t to = (size_t)g.col[(size_t)i];
      unsigned through = top.first + weight[(size_t)i];
      if (through >= dist[to]) continue;
      dist[to] = through;
      queue.push(item(through, (int)to));
    }
  }
  return dist;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "sssp");
  int scale = wl_int(&w, "scale", wl_by_size(11, 14, 18), 4, 24, "log2 of the vertices");
  int degree = wl_int(&w, "degree", wl_by_size(6, 8, 8), 1, 64, "edges per vertex");
  int kind = wl_int(&w, "graph", wl_by_size(2, 2, 2), 0, 2, "0 R-MAT, 1 road map, 2 uniform");
  wl_ready(&w, true);

  struct wl_csr g = wl_graph_for(&w, kind, scale, degree, 100, true);
  int source = wl_hub(g);
  size_t n = (size_t)g.rows;
  std::vector<unsigned> weight(g.val.size()), dist0(n, FAR);
  for (size_t i = 0; i < weight.size(); i++) weight[i] = (unsigned)std::max(1.0f, fabsf(g.val[i]));
  dist0[(size_t)source] = 0;
  int *drow = wl_upload(g.row), *dcol = wl_upload(g.col), *dchanged = wl_alloc<int>(1);
  unsigned *dw = wl_upload(weight), *dd = wl_upload(dist0);

  int launches = 0, changed;
  do {
    wl_set(dchanged, 0);
    relax<<<wl_blocks(n, 256), 256>>>(drow, dcol, dw, dd, dchanged, (int)n);
    WL_LAUNCHED();
    changed = wl_get(dchanged);
    launches++;
  } while (changed);
  printf("%d launches from vertex %d\n", launches, source);

  struct wl_check chk = {};
  wl_equal_all(&chk, "distance", wl_download(dd, n), reference(g, weight, source));
  return wl_end(&w, &chk);
}
