/* stencil - seven-point Jacobi iteration on a three-dimensional grid
 *
 * Program: Parboil stencil
 * Suites: tsc=stencil sharing=stencil
 * Groups: tsc=cache-line-positive
 * Algorithm: one CTA per row of the grid, one thread per point of it; every point is computed from its six neighbours
 *   and itself; the two arrays change roles between launches.
 * Loads: seven per point, straight from global memory: the row itself and its neighbours in y and z, coalesced, and the
 *   row shifted by one to both sides (degree 2); rows are read again by the CTAs next to theirs.
 * Simplified: nothing (the suite's base version).
 */
#include "../common/wl.h"

__global__ void point7(float c0, float c1, const float *a0, float *anext, int nx, int ny) {
  int i = threadIdx.x, j = blockIdx.x + 1, k = blockIdx.y + 1;
  if (i == 0) return;
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))
  anext[AT(i, j, k)] = (a0[AT(i, j, k + 1)] + a0[AT(i, j, k - 1)] + a0[AT(i, j + 1, k)] + a0[AT(i, j - 1, k)] +
                        a0[AT(i + 1, j, k)] + a0[AT(i - 1, j, k)]) *
                           c1 -
                       a0[AT(i, j, k)] * c0;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "stencil");
  int n = wl_int(&w, "side", wl_by_size(64, 128, 384), 4, 1024, "points in x and y");
  int nz = wl_int(&w, "depth", wl_by_size(12, 32, 64), 3, 1024, "points in z");
  int rounds = wl_int(&w, "iterations", wl_by_size(2, 2, 10), 1, 1000, "iterations");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t count = (size_t)n * (size_t)n * (size_t)nz;
  const float c0 = 1.0f / 6, c1 = 1.0f / 6 / 6;
  std::vector<float> a(count), b;
  for (float &v : a) v = wl_unit(&seed);
  b = a;
  float *da = wl_upload(a), *db = wl_upload(b);
  dim3 block((unsigned)n - 1), grid((unsigned)n - 2, (unsigned)nz - 2);
  for (int r = 0; r < rounds; r++) {
    point7<<<grid, block>>>(c0, c1, da, db, n, n);
    WL_LAUNCHED();
    std::swap(da, db);
    for (int k = 1; k < nz - 1; k++)
      for (int j = 1; j < n - 1; j++)
        for (int i = 1; i < n - 1; i++) {
          size_t at = (size_t)(i + n * (j + n * k)), row = (size_t)n, slab = row * row;
          b[at] = (a[at + slab] + a[at - slab] + a[at - row] + a[at + row] + a[at - 1] + a[at + 1]) * c1 - a[at] * c0;
        }
    std::swap(a, b);
  }
  struct wl_check chk = {};
  wl_near_all(&chk, "point", wl_download(da, count), a, 1e-5);
  return wl_end(&w, &chk);
}
