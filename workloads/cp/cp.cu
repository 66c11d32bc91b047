/* cp - electrostatic potential on a plane of grid points
 *
 * Program: ISPASS-2009 CP (Parboil cp)
 * Suites: sharing=CP
 * Groups: none
 * Algorithm: atoms lie in constant memory, a part of them per launch; each thread adds their potentials to eight points
 *   of a row, 16 apart.
 * Loads: constant memory with all lanes at one address; the grid is read and written once per
 *   launch, in pieces of 64 bytes.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define ATOMS 4000
#define UNROLL 8
#define BX 16
#define BY 8

__constant__ float4 atoms[ATOMS];

__global__ void potential(int n, float spacing, float *grid, int width) {
  int x = blockIdx.x * BX * UNROLL + threadIdx.x, y = blockIdx.y * BY + threadIdx.y, at = y * width + x;
  float cx = spacing * (float)x, cy = spacing * (float)y, step = spacing * BX, e[UNROLL];
#pragma unroll
  for (int k = 0; k < UNROLL; k++) e[k] = 0;
  for (int a = 0; a < n; a++) {
    float4 atom = atoms[a];
    float dy = cy - atom.y, dx = cx - atom.x, dyz2 = dy * dy + atom.z;
#pragma unroll
    for (int k = 0; k < UNROLL; k++) {
      e[k] += atom.w * rsqrtf(dx * dx + dyz2);
      dx += step;
    }
  }
#pragma unroll
  for (int k = 0; k < UNROLL; k++) grid[at + k * BX] += e[k];
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "cp");
  int n = wl_int(&w, "atoms", wl_by_size(200, 300, 4400), 1, 1 << 20, "atoms");
  int side =
      wl_int(&w, "side", wl_by_size(128, 256, 384), BX * UNROLL, 4096, "grid points per side (rounded up to 128)");
  wl_ready(&w);
  side = (side + BX * UNROLL - 1) / (BX * UNROLL) * (BX * UNROLL);

  uint64_t seed = w.seed;
  size_t points = (size_t)side * (size_t)side;
  const float spacing = 0.1f;
  std::vector<float4> a((size_t)n);
  for (float4 &v : a) {
    float z = wl_range(&seed, 0.5f, 4);
    v = make_float4(wl_unit(&seed) * spacing * (float)side, wl_unit(&seed) * spacing * (float)side, z * z,
                    wl_range(&seed, -1, 1));
  }
  float *grid = wl_zeros<float>(points);
  for (int from = 0; from < n; from += ATOMS) {
    int count = std::min(ATOMS, n - from);
    WL_CUDA(cudaMemcpyToSymbol(atoms, a.data() + from, (size_t)count * sizeof(float4)));
    potential<<<dim3((unsigned)side / (BX * UNROLL), (unsigned)side / BY), dim3(BX, BY)>>>(count, spacing, grid, side);
    WL_LAUNCHED();
  }
  std::vector<float> got = wl_download(grid, points);
  struct wl_check chk = {};
  for (size_t i = 0; i<points; i += points> 100000 ? 7 : 1) {
    double e = 0, x = spacing * (double)(i % (size_t)side), y = spacing * (double)(i / (size_t)side);
    for (const float4 &v : a) e += v.w / sqrt((x - v.x) * (x - v.x) + (y - v.y) * (y - v.y) + v.z);
    wl_near(&chk, "potential", i, got[i], e, 1e-3);
  }
  return wl_end(&w, &chk);
}
