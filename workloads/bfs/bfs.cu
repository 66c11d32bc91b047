/* bfs - breadth-first search, level by level over masks
 *
 * Program: Rodinia bfs
 * Suites: bucl=BFS tsc=bfs sharing=bfs
 * Groups: bucl=un-coalesced tsc=cache-line-negative
 * Algorithm: Harish and Narayanan's. Kernel 1 expands every vertex of the frontier mask and marks unvisited neighbours;
 *   kernel 2 turns the marks into the next frontier and sets a flag while there is one. Two launches per level.
 * Loads: one thread per vertex reads masks (bytes, coalesced) and its {start, count} pair; a frontier thread then reads
 *   its neighbour list and the visited flag and cost of each neighbour, which lie anywhere: degree 1 to 32 by chance,
 *   divergent in length because the degrees vary.
 * Simplified: nothing; the graph is generated (uniform as by the original's generator, R-MAT, road map), or read from
 *   --input (DIMACS or Matrix Market).
 */
#include "../common/wl_graph.h"

struct node {
  int start, count;
};

__global__ void bfs_expand(const node *nodes, const int *edges, unsigned char *mask, unsigned char *updating,
                           const unsigned char *visited, int *cost, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && mask[v]) {
    mask[v] = 0;
    for (int i = nodes[v].start; i < nodes[v].start + nodes[v].count; i++) {
      int to = edges[i];
      if (!visited[to]) {
        cost[to] = cost[v] + 1;
        updating[to] = 1;
      }
    }
  }
}

__global__ void bfs_advance(unsigned char *mask, unsigned char *updating, unsigned char *visited, int *again, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v < n && updating[v]) {
    mask[v] = 1;
    visited[v] = 1;
    *again = 1;
    updating[v] = 0;
  }
}

static std::vector<int> reference(const struct wl_csr &g, int source) {
  std::vector<int> cost((size_t)g.rows, -1), queue(1, source);
  cost[(size_t)source] = 0;
  for (size_t head = 0; head < queue.size(); head++) {
    int v = queue[head];
    for (int i = g.row[(size_t)v]; i < g.row[(size_t)v + 1]; i++) {
      int to = g.col[(size_t)i];
      if (cost[(size_t)to] >= 0) continue;
      cost[(size_t)to] = cost[(size_t)v] + 1;
      queue.push_back(to);
    }
  }
  return cost;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "bfs");
  int scale = wl_int(&w, "scale", wl_by_size(12, 16, 20), 4, 24, "log2 of the vertices");
  int degree = wl_int(&w, "degree", wl_by_size(4, 4, 4), 1, 64, "edges that a vertex chooses at most");
  int kind = wl_int(&w, "graph", wl_by_size(2, 2, 2), 0, 3, WL_GRAPHS);
  wl_ready(&w, true);

  struct wl_csr g = wl_graph_for(&w, kind, scale, degree, 10, true);
  int source = kind == 2 && !w.input && g.degree(0) ? 0 : wl_hub(g);
  size_t n = (size_t)g.rows;
  std::vector<node> nodes(n);
  for (size_t v = 0; v < n; v++) nodes[v] = {g.row[v], g.row[v + 1] - g.row[v]};
  std::vector<unsigned char> first(n, 0);
  first[(size_t)source] = 1;
  std::vector<int> cost0(n, -1);
  cost0[(size_t)source] = 0;
  node *dn = wl_upload(nodes);
  int *de = wl_upload(g.col), *dcost = wl_upload(cost0), *dagain = wl_alloc<int>(1);
  unsigned char *dmask = wl_upload(first), *dvisited = wl_upload(first), *dupdating = wl_zeros<unsigned char>(n);

  unsigned grid = wl_blocks(n, 512);
  int levels = 0, again;
  do {
    wl_set(dagain, 0);
    bfs_expand<<<grid, 512>>>(dn, de, dmask, dupdating, dvisited, dcost, (int)n);
    WL_LAUNCHED();
    bfs_advance<<<grid, 512>>>(dmask, dupdating, dvisited, dagain, (int)n);
    WL_LAUNCHED();
    again = wl_get(dagain);
    levels++;
  } while (again);
  printf("%d levels from vertex %d\n", levels, source);

  struct wl_check chk = {};
  wl_equal_all(&chk, "cost", wl_download(dcost, n), reference(g, source));
  return wl_end(&w, &chk);
}
