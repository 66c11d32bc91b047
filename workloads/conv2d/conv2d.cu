/* conv2d - two-dimensional convolution with a 3 x 3 stencil
 *
 * Program: PolyBench-GPU 2DConvolution
 * Suites: bucl=2DC
 * Groups: bucl=coherent
 * Algorithm: each thread computes one interior element from its nine neighbours; blocks of 32 x 8 threads.
 * Loads: nine loads per thread straight from global memory; a warp reads one row segment of 128 bytes, shifted by one
 *   element left and right (degree 1 or 2); neighbours above and below are reused by other warps of the CTA.
 * Simplified: nothing.
 */
#include "../common/wl.h"

__global__ void convolve(const float *a, float *b, int ni, int nj) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  const float c11 = +0.2f, c21 = +0.5f, c31 = -0.8f;
  const float c12 = -0.3f, c22 = +0.6f, c32 = -0.9f;
  const float c13 = +0.4f, c23 = +0.7f, c33 = +0.10f;
  if (i < ni - 1 && j < nj - 1 && i > 0 && j > 0) {
    const float *p = a + (i * nj + j), *up = p - nj, *down = p + nj;
    b[i * nj + j] = c11 * up[-1] + c21 * up[0] + c31 * up[1] + c12 * p[-1] + c22 * p[0] + c32 * p[1] + c13 * down[-1] +
                    c23 * down[0] + c33 * down[1];
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "conv2d");
  int ni = wl_int(&w, "rows", wl_by_size(192, 1024, 4096), 3, 8192, "rows");
  int nj = wl_int(&w, "columns", wl_by_size(256, 1024, 4096), 3, 8192, "columns");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t count = (size_t)ni * (size_t)nj;
  std::vector<float> a(count), want(count, 0);
  for (float &v : a) v = wl_unit(&seed);
  float *da = wl_upload(a), *db = wl_zeros<float>(count);
  dim3 block(32, 8), grid(wl_blocks((size_t)nj, 32), wl_blocks((size_t)ni, 8));
  convolve<<<grid, block>>>(da, db, ni, nj);
  WL_LAUNCHED();

  static const double c[3][3] = {{0.2, 0.5, -0.8}, {-0.3, 0.6, -0.9}, {0.4, 0.7, 0.10}};
  for (size_t i = 1; i + 1 < (size_t)ni; i++)
    for (size_t j = 1; j + 1 < (size_t)nj; j++) {
      double s = 0;
      for (size_t y = 0; y < 3; y++)
        for (size_t x = 0; x < 3; x++) s += c[y][x] * a[(i + y - 1) * (size_t)nj + j + x - 1];
      want[i * (size_t)nj + j] = (float)s;
    }
  struct wl_check chk = {};
  wl_near_all(&chk, "b", wl_download(db, count), want, 1e-5);
  return wl_end(&w, &chk);
}
