/* matmul - dense matrix multiplication through shared-memory tiles
 *
 * Program: CUDA SDK matrixMul
 * Suites: decoupled-l1d=MM sharing=matrixMul
 * Groups: decoupled-l1d=cache-friendly
 * Algorithm: C = A B; a CTA of 32 x 32 threads computes a tile of C, loading one tile of A and one of B into shared
 *   memory per step.
 * Loads: a warp reads a row of a tile of A and of B, a line each (degree 1); the CTAs of a row of the
 *   grid share A's rows, those of a column share B's columns.
 * Simplified: --tiled 0 selects the kernel without shared
 *   memory (every operand through the L1), for cache studies.
 */
#include "../common/wl.h"

#define TILE 32

__global__ void matmul_tiled(float *c, const float *a, const float *b, int n) {
  __shared__ float as[TILE][TILE];
  __shared__ float bs[TILE][TILE];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

__global__ void matmul_plain(float *c, const float *a, const float *b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
  c[y * n + x] = sum;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "matmul");
  int n = wl_int(&w, "n", wl_by_size(128, 256, 768), 16, 4096, "side of the matrices (rounded up to 32)");
  int tiled = wl_int(&w, "tiled", wl_by_size(1, 1, 1), 0, 1, "1 tiles in shared memory, 0 without");
  wl_ready(&w);
  n = (n + TILE - 1) / TILE * TILE;

  uint64_t seed = w.seed;
  size_t count = (size_t)n * (size_t)n;
  std::vector<float> a(count), b(count), want(count);
  for (float &v : a) v = wl_range(&seed, -1, 1);
  for (float &v : b) v = wl_range(&seed, -1, 1);
  float *da = wl_upload(a), *db = wl_upload(b), *dc = wl_alloc<float>(count);
  dim3 block(TILE, TILE), grid((unsigned)n / TILE, (unsigned)n / TILE);
  if (tiled) matmul_tiled<<<grid, block>>>(dc, da, db, n);
  else matmul_plain<<<grid, block>>>(dc, da, db, n);
  WL_LAUNCHED();

  for (size_t y = 0; y < (size_t)n; y++) {
    std::vector<double> row((size_t)n, 0);
    for (size_t k = 0; k < (size_t)n; k++)
      for (size_t x = 0; x < (size_t)n; x++) row[x] += (double)a[y * (size_t)n + k] * b[k * (size_t)n + x];
    for (size_t x = 0; x < (size_t)n; x++) want[y * (size_t)n + x] = (float)row[x];
  }
  struct wl_check chk = {};
  wl_near_all(&chk, "c", wl_download(dc, count), want, 1e-4);
  return wl_end(&w, &chk);
}
