/* stencil - seven-point Jacobi iteration on a three-dimensional grid
 *
 * Program: Parboil stencil
 * Suites: tsc=stencil sharing=stencil
 * Groups: tsc=cache-line-positive
 * Algorithm: CTAs of 32 x 4 threads own two adjacent columns per thread in x and march along z, with the current plane
 *   in shared memory and the planes before and after in registers; the two arrays change roles between launches.
 * Loads: coalesced reads of the next plane, and of the halo in x and y from global memory (degree 1, or 2 at the borders of a
 *   tile); neighbouring CTAs read the same lines.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define TX 32
#define TY 4

__global__ void block2d(float c0, float c1, const float *a0, float *anext, int nx, int ny, int nz) {
  __shared__ float plane[TY][TX * 2];
  int i = blockIdx.x * TX * 2 + threadIdx.x, j = blockIdx.y * TY + threadIdx.y, i2 = i + TX;
  int s1 = threadIdx.x, s2 = threadIdx.x + TX, sy = threadIdx.y;
  bool in1 = i > 0 && i < nx - 1 && j > 0 && j<ny - 1, in2 = i2> 0 && i2 < nx - 1 && j > 0 && j < ny - 1;
  bool have1 = i < nx && j < ny, have2 = i2 < nx && j < ny;
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))
  float bottom1 = have1 ? a0[AT(i, j, 0)] : 0, bottom2 = have2 ? a0[AT(i2, j, 0)] : 0;
  float now1 = have1 ? a0[AT(i, j, 1)] : 0, now2 = have2 ? a0[AT(i2, j, 1)] : 0;
  for (int k = 1; k < nz - 1; k++) {
    plane[sy][s1] = now1;
    plane[sy][s2] = now2;
    __syncthreads();
    float top1 = have1 ? a0[AT(i, j, k + 1)] : 0, top2 = have2 ? a0[AT(i2, j, k + 1)] : 0;
    if (in1) {
      float left = s1 ? plane[sy][s1 - 1] : a0[AT(i - 1, j, k)], right = plane[sy][s1 + 1];
      float up = sy ? plane[sy - 1][s1] : a0[AT(i, j - 1, k)],
            down = sy < TY - 1 ? plane[sy + 1][s1] : a0[AT(i, j + 1, k)];
      anext[AT(i, j, k)] = (top1 + bottom1 + up + down + left + right) * c1 - now1 * c0;
    }
    if (in2) {
      float left = plane[sy][s2 - 1], right = s2 < TX * 2 - 1 ? plane[sy][s2 + 1] : a0[AT(i2 + 1, j, k)];
      float up = sy ? plane[sy - 1][s2] : a0[AT(i2, j - 1, k)],
            down = sy < TY - 1 ? plane[sy + 1][s2] : a0[AT(i2, j + 1, k)];
      anext[AT(i2, j, k)] = (top2 + bottom2 + up + down + left + right) * c1 - now2 * c0;
    }
    __syncthreads();
    bottom1 = now1;
    bottom2 = now2;
    now1 = top1;
    now2 = top2;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "stencil");
  int n = wl_int(&w, "side", wl_by_size(64, 128, 384), 4, 2048, "points in x and y");
  int nz = wl_int(&w, "depth", wl_by_size(12, 32, 64), 3, 1024, "points in z");
  int rounds = wl_int(&w, "iterations", wl_by_size(2, 3, 10), 1, 1000, "iterations");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t count = (size_t)n * (size_t)n * (size_t)nz;
  const float c0 = 1.0f / 6, c1 = 1.0f / 6 / 6;
  std::vector<float> a(count), b;
  for (float &v : a) v = wl_unit(&seed);
  b = a;
  float *da = wl_upload(a), *db = wl_upload(b);
  dim3 block(TX, TY), grid(wl_blocks((size_t)n, TX * 2), wl_blocks((size_t)n, TY));
  for (int r = 0; r < rounds; r++) {
    block2d<<<grid, block>>>(c0, c1, da, db, n, n, nz);
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
