/* lonebfs - breadth-first search with worklists
 *
 * Program: LonestarGPU bfs (data-driven variant)
 * Suites: medic=BFS
 * Groups: medic=all-hit
 * Algorithm: each launch takes the vertices of one worklist, one per thread, lowers their neighbours' levels with
 *   atomic minimum, and appends those that changed to the other worklist through an atomic counter.
 * Loads: the worklist
 *   is coalesced; row pointers, edges and levels are gathered (degree up to 32), with warps whose lanes have neighbour
 *   lists of very different lengths.
 * Simplified: nothing; a vertex can be queued more than once, as in the original.
 */
#include "../common/wl_graph.h"

#define FAR 1000000000

__global__ void expand(const int *row, const int *col, int *level, const int *in, int in_n, int *out, int *out_n,
                       int room) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= in_n) return;
  int v = in[i], next = level[v] + 1;
  for (int e = row[v]; e < row[v + 1]; e++) {
    int to = col[e];
    if (level[to] > next && atomicMin(&level[to], next) > next) {
      int at = atomicAdd(out_n, 1);
      if (at < room) out[at] = to;
    }
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "lonebfs");
  int scale = wl_int(&w, "scale", wl_by_size(13, 17, 20), 4, 24, "log2 of the vertices");
  int degree = wl_int(&w, "degree", wl_by_size(6, 8, 8), 1, 64, "edges per vertex");
  int kind = wl_int(&w, "graph", wl_by_size(0, 0, 0), 0, 2, "0 R-MAT, 1 road map, 2 uniform");
  wl_ready(&w, true);

  struct wl_csr g = wl_graph_for(&w, kind, scale, degree, 10, true);
  size_t n = (size_t)g.rows, room = n + g.col.size();
  int source = wl_hub(g);
  std::vector<int> level(n, FAR);
  level[(size_t)source] = 0;
  int *drow = wl_upload(g.row), *dcol = wl_upload(g.col), *dlevel = wl_upload(level), *dn = wl_alloc<int>(1);
  int *in = wl_alloc<int>(room), *out = wl_alloc<int>(room), count = 1, launches = 0;
  wl_set(in, source);
  struct wl_check chk = {};
  for (; count; launches++) {
    wl_set(dn, 0);
    expand<<<wl_blocks((size_t)count, 256), 256>>>(drow, dcol, dlevel, in, count, out, dn, (int)room);
    WL_LAUNCHED();
    count = wl_get(dn);
    wl_that(&chk, count <= (int)room, "the worklist is large enough");
    std::swap(in, out);
  }
  printf("%d launches from vertex %d\n", launches, source);
  std::vector<int> queue(1, source);
  for (size_t h = 0; h < queue.size(); h++)
    for (int e = g.row[(size_t)queue[h]]; e < g.row[(size_t)queue[h] + 1]; e++) {
      size_t to = (size_t)g.col[(size_t)e];
      if (level[to] != FAR) continue;
      level[to] = level[(size_t)queue[h]] + 1;
      queue.push_back((int)to);
    }
  wl_equal_all(&chk, "level", wl_download(dlevel, n), level);
  return wl_end(&w, &chk);
}
