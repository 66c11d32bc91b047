/* pathfinder - cheapest path down a grid
 *
 * Program: Rodinia pathfinder
 * Suites: decoupled-l1d=PF sharing=pathfinder
 * Groups: decoupled-l1d=cache-insensitive
 * Algorithm: dynamic programming row by row; a launch advances `pyramid` rows in CTAs of 256 columns in shared memory,
 *   with overlapping borders that are recomputed.
 * Loads: one row of weights per step and the previous result, coalesced
 *   but not aligned because of the overlap (degree 2); the weights are read once.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define BLOCK 256

__global__ void dynproc(int iteration, const int *wall, const int *src, int *dst, int cols, int first_row, int border) {
  __shared__ int prev[BLOCK], result[BLOCK];
  int tx = threadIdx.x, small = BLOCK - iteration * 2;
  int x0 = small * blockIdx.x - border, x = x0 + tx;
  int xmin = x0 < 0 ? -x0 : 0, xmax = x0 + BLOCK - 1 > cols - 1 ? BLOCK - 1 - (x0 + BLOCK - cols) : BLOCK - 1;
  int west = max(tx - 1, xmin), east = min(tx + 1, xmax);
  bool valid = tx >= xmin && tx <= xmax, computed = false;
  if (valid) prev[tx] = src[x];
  __syncthreads();
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (tx >= i + 1 && tx <= BLOCK - i - 2 && valid) {
      computed = true;
      int shortest = min(min(prev[west], prev[tx]), prev[east]);
      result[tx] = shortest + wall[cols * (first_row + i) + x];
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) prev[tx] = result[tx];
    __syncthreads();
  }
  if (computed) dst[x] = result[tx];
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "pathfinder");
  int cols = wl_int(&w, "columns", wl_by_size(8192, 20000, 100000), BLOCK, 1 << 22, "columns");
  int rows = wl_int(&w, "rows", wl_by_size(21, 40, 100), 2, 10000, "rows");
  int height = wl_int(&w, "pyramid", wl_by_size(20, 20, 20), 1, 100, "rows per launch");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t sc = (size_t)cols;
  std::vector<int> wall(sc * (size_t)rows);
  for (int &v : wall) v = (int)wl_below(&seed, 10);
  std::vector<int> best(wall.begin(), wall.begin() + cols), next(sc);
  int *dwall = wl_upload(wall), *a = wl_upload(best), *b = wl_alloc<int>(sc);
  for (int t = 1; t < rows; t += height) {
    int steps = std::min(height, rows - t);
    dynproc<<<wl_blocks(sc, (unsigned)(BLOCK - 2 * steps)), BLOCK>>>(steps, dwall, a, b, cols, t, steps);
    WL_LAUNCHED();
    std::swap(a, b);
  }
  for (size_t t = 1; t < (size_t)rows; t++) {
    for (size_t x = 0; x < sc; x++)
      next[x] = wall[t * sc + x] + std::min(best[x], std::min(best[x ? x - 1 : 0], best[std::min(x + 1, sc - 1)]));
    std::swap(best, next);
  }
  struct wl_check chk = {};
  wl_equal_all(&chk, "cost", wl_download(a, sc), best);
  return wl_end(&w, &chk);
}
