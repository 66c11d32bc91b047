/* sssp - single-source shortest paths, topology-driven
 *
 * Program: LonestarGPU sssp
 * Suites: bucl=SSSP medic=SSSP decoupled-l1d=SSSP
 * Groups: bucl=un-coalesced decoupled-l1d=cache-unfriendly
 * Algorithm: Bellman-Ford: every launch relaxes the out-edges of every vertex, reached or not, one thread per vertex in
 *   CTAs of 1024, with atomic minimum on the neighbour's distance; the host launches until nothing changed. A kernel
 *   before fills the distances, one after verifies them.
 * Loads: for every edge, a vertex's number of edges and the place of its list are read again, coalesced; the edge's end
 *   and weight lie in a list per thread (degree 4 or 5 at four edges a vertex), the neighbour's distance anywhere.
 * Simplified: the graph is generated (as many uniform random neighbours for each vertex), or read from --input.
 */
#include "../common/wl_lonestar.h"
#include <queue>

static std::vector<unsigned> reference(const struct wl_csr &g, const std::vector<unsigned> &weight, int source) {
  typedef std::pair<unsigned, int> item;
  std::vector<unsigned> dist((size_t)g.rows, LONE_FAR);
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
  int degree = wl_int(&w, "degree", wl_by_size(4, 4, 4), 1, 64, "edges per vertex");
  int kind = wl_int(&w, "graph", wl_by_size(3, 3, 3), 0, 3, WL_GRAPHS);
  wl_ready(&w, true);

  struct wl_csr g = wl_graph_for(&w, kind, scale, degree, 100, true);
  int source = wl_hub(g);
  std::vector<unsigned> weight(g.val.size());
  for (size_t i = 0; i < weight.size(); i++) weight[i] = (unsigned)std::max(1.0f, fabsf(g.val[i]));
  struct wl_check chk = {};
  std::vector<unsigned> dist = lone_distances<true>(g, weight, source, &chk);
  wl_equal_all(&chk, "distance", dist, reference(g, weight, source));
  return wl_end(&w, &chk);
}
