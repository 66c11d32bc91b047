/* lonebfs - breadth-first search, topology-driven
 *
 * Program: LonestarGPU bfs
 * Suites: medic=BFS
 * Groups: medic=all-hit
 * Algorithm: every launch lowers the levels of the neighbours of every vertex, reached or not, one thread per vertex in
 *   CTAs of 1024, with atomic minimum; the host launches until nothing changed. A kernel before fills the levels, one
 *   after verifies them.
 * Loads: for every edge, a vertex's number of edges and the place of its list are read again, coalesced; the edge's end
 *   lies in a list per thread (degree 4 or 5 at four edges a vertex), the neighbour's level anywhere.
 * Simplified: the graph is generated (as many uniform random neighbours for each vertex), or read from --input.
 */
#include "../common/wl_lonestar.h"

static std::vector<unsigned> reference(const struct wl_csr &g, int source) {
  std::vector<unsigned> level((size_t)g.rows, LONE_FAR);
  std::vector<int> queue(1, source);
  level[(size_t)source] = 0;
  for (size_t h = 0; h < queue.size(); h++)
    for (int e = g.row[(size_t)queue[h]]; e < g.row[(size_t)queue[h] + 1]; e++) {
      size_t to = (size_t)g.col[(size_t)e];
      if (level[to] != LONE_FAR) continue;
      level[to] = level[(size_t)queue[h]] + 1;
      queue.push_back((int)to);
    }
  return level;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "lonebfs");
  int scale = wl_int(&w, "scale", wl_by_size(11, 16, 20), 4, 24, "log2 of the vertices");
  int degree = wl_int(&w, "degree", wl_by_size(4, 4, 4), 1, 64, "edges per vertex");
  int kind = wl_int(&w, "graph", wl_by_size(3, 3, 3), 0, 3, WL_GRAPHS);
  wl_ready(&w, true);

  struct wl_csr g = wl_graph_for(&w, kind, scale, degree, 10, true);
  int source = wl_hub(g);
  struct wl_check chk = {};
  std::vector<unsigned> level = lone_distances<false>(g, {}, source, &chk);
  wl_equal_all(&chk, "level", level, reference(g, source));
  return wl_end(&w, &chk);
}
