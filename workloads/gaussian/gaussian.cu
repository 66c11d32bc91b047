/* gaussian - Gaussian elimination, one column at a time
 *
 * Program: Rodinia gaussian
 * Suites: bucl=GAU tsc=gaussian decoupled-l1d=GS sharing=gaussian
 * Groups: bucl=un-coalesced tsc=cache-line-positive decoupled-l1d=cache-insensitive
 * Algorithm: for every column t: fan1 computes the multipliers of the rows below, fan2 subtracts row t times the
 *   multiplier from each; the host substitutes back. Two launches per column.
 * Loads: fan1 walks down a column (degree
 *   32). fan2 has CTAs of 4 x 4 threads whose x index is the row: the 16 threads of a warp touch four rows (degree 4),
 *   and CTAs along y share the rows.
 * Simplified: nothing; no pivoting, as in the original (the matrix is diagonally
 *   dominant).
 */
#include "../common/wl.h"

#define SIDE 4

__global__ void fan1(float *m, const float *a, int size, int t) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= size - 1 - t) return;
  m[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

__global__ void fan2(const float *m, float *a, float *b, int size, int t) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= size - 1 - t || y >= size - t) return;
  a[size * (x + 1 + t) + (y + t)] -= m[size * (x + 1 + t) + t] * a[size * t + (y + t)];
  if (y == 0) b[x + 1 + t] -= m[size * (x + 1 + t) + (y + t)] * b[t];
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "gaussian");
  int n = wl_int(&w, "n", wl_by_size(64, 96, 208), 2, 2048, "unknowns");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t size = (size_t)n;
  std::vector<float> a(size * size), b(size), x(size);
  for (float &v : a) v = wl_range(&seed, -1, 1);
  for (size_t i = 0; i < size; i++) a[i * size + i] = (float)n;
  for (float &v : b) v = wl_range(&seed, -10, 10);
  float *da = wl_upload(a), *db = wl_upload(b), *dm = wl_zeros<float>(a.size());
  unsigned side = wl_blocks(size, SIDE);
  for (int t = 0; t < n - 1; t++) {
    fan1<<<wl_blocks(size, 512), 512>>>(dm, da, n, t);
    WL_LAUNCHED();
    fan2<<<dim3(side, side), dim3(SIDE, SIDE)>>>(dm, da, db, n, t);
    WL_LAUNCHED();
  }
  std::vector<float> u = wl_download(da, a.size()), c = wl_download(db, size);
  for (size_t i = size; i-- > 0;) {
    float sum = c[i];
    for (size_t j = i + 1; j < size; j++) sum -= u[i * size + j] * x[j];
    x[i] = sum / u[i * size + i];
  }
  /* The solution must solve the system that was given. */
  struct wl_check chk = {};
  for (size_t i = 0; i < size; i++) {
    double sum = 0;
    for (size_t j = 0; j < size; j++) sum += (double)a[i * size + j] * x[j];
    wl_near(&chk, "row", i, sum, b[i], 1e-3);
  }
  return wl_end(&w, &chk);
}
