/* nw - global alignment of two sequences (Needleman-Wunsch)
 *
 * Program: Rodinia nw
 * Suites: bucl=NW decoupled-l1d=NW sharing=nw
 * Groups: bucl=coherent decoupled-l1d=cache-unfriendly
 * Algorithm: dynamic programming over 16 x 16 tiles, one launch per anti-diagonal of tiles (two kernels: growing and
 *   shrinking part); a CTA of 16 threads walks its tile's own anti-diagonals in shared memory.
 * Loads: each CTA reads its tile of the score table row by row (64 of 128 bytes), its upper row, and its left column,
 *   one element per row (degree 16); nothing is read twice by one CTA, neighbours' lines are.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define TILE 16

__device__ int max3(int a, int b, int c) {
  int k = a <= b ? b : a;
  return k <= c ? c : k;
}

/* One tile at (bx, by) in tiles; item is (n+1) x (n+1) with the borders set. */
__device__ void tile(const int *reference, int *item, int cols, int penalty, int bx, int by) {
  __shared__ int temp[TILE + 1][TILE + 1];
  __shared__ int ref[TILE][TILE];
  int tx = threadIdx.x;
  int index = cols * TILE * by + TILE * bx + tx + (cols + 1);
  int index_n = cols * TILE * by + TILE * bx + tx + 1;
  int index_w = cols * TILE * by + TILE * bx + cols;
  int index_nw = cols * TILE * by + TILE * bx;
  if (tx == 0) temp[0][0] = item[index_nw];
  for (int ty = 0; ty < TILE; ty++) ref[ty][tx] = reference[index + cols * ty];
  __syncthreads();
  temp[tx + 1][0] = item[index_w + cols * tx];
  __syncthreads();
  temp[0][tx + 1] = item[index_n];
  __syncthreads();
#pragma unroll
  for (int m = 0; m < TILE; m++) {
    if (tx <= m) {
      int x = tx + 1, y = m - tx + 1;
      temp[y][x] = max3(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
#pragma unroll
  for (int m = TILE - 2; m >= 0; m--) {
    if (tx <= m) {
      int x = tx + TILE - m, y = TILE - tx;
      temp[y][x] = max3(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty, temp[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  for (int ty = 0; ty < TILE; ty++) item[index + ty * cols] = temp[ty + 1][tx + 1];
}

__global__ void grow(const int *reference, int *item, int cols, int penalty, int i) {
  int bx = blockIdx.x;
  tile(reference, item, cols, penalty, bx, i - 1 - bx);
}
__global__ void shrink(const int *reference, int *item, int cols, int penalty, int i, int tiles) {
  int bx = blockIdx.x + tiles - i;
  tile(reference, item, cols, penalty, bx, tiles + tiles - i - bx - 1);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "nw");
  int n = wl_int(&w, "length", wl_by_size(256, 1024, 4096), TILE, 16384, "letters per sequence (rounded up to 16)");
  int penalty = wl_int(&w, "penalty", wl_by_size(10, 10, 10), 1, 100, "cost of a gap");
  wl_ready(&w);
  n = (n + TILE - 1) / TILE * TILE;

  uint64_t seed = w.seed;
  int cols = n + 1;
  size_t cells = (size_t)cols * (size_t)cols;
  std::vector<int> s1((size_t)cols), s2((size_t)cols), ref(cells, 0), item(cells, 0);
  for (int &v : s1) v = (int)wl_below(&seed, 24);
  for (int &v : s2) v = (int)wl_below(&seed, 24);
  int score[24][24]; /* a symmetric substitution matrix with a positive diagonal */
  for (int i = 0; i < 24; i++)
    for (int j = 0; j <= i; j++)
      score[i][j] = score[j][i] = i == j ? 4 + (int)wl_below(&seed, 6) : (int)wl_below(&seed, 7) - 4;
  for (size_t y = 1; y < (size_t)cols; y++)
    for (size_t x = 1; x < (size_t)cols; x++) ref[y * (size_t)cols + x] = score[s1[y]][s2[x]];
  for (size_t i = 1; i < (size_t)cols; i++) item[i] = item[i * (size_t)cols] = -(int)i * penalty;

  int *dref = wl_upload(ref), *ditem = wl_upload(item), tiles = n / TILE;
  for (int i = 1; i <= tiles; i++) {
    grow<<<(unsigned)i, TILE>>>(dref, ditem, cols, penalty, i);
    WL_LAUNCHED();
  }
  for (int i = tiles - 1; i >= 1; i--) {
    shrink<<<(unsigned)i, TILE>>>(dref, ditem, cols, penalty, i, tiles);
    WL_LAUNCHED();
  }
  for (size_t y = 1; y < (size_t)cols; y++)
    for (size_t x = 1; x < (size_t)cols; x++) {
      size_t at = y * (size_t)cols + x;
      item[at] =
          std::max(item[at - (size_t)cols - 1] + ref[at], std::max(item[at - 1], item[at - (size_t)cols]) - penalty);
    }
  struct wl_check chk = {};
  wl_equal_all(&chk, "score", wl_download(ditem, cells), item);
  return wl_end(&w, &chk);
}
