/* hotspot - temperatures on a chip from its power map
 *
 * Program: Rodinia hotspot
 * Suites: medic=HS decoupled-l1d=HS sharing=hotspot
 * Groups: medic=balanced decoupled-l1d=cache-unfriendly
 * Algorithm: explicit finite differences; a launch advances several steps in CTAs of 16 x 16 whose tiles overlap by the
 *   number of steps (the pyramid), so that the border is recomputed and not exchanged.
 * Loads: temperature and power are read once per launch, 64 bytes of a row at a time and not aligned because of the
 *   overlap (degree 2 to 4); neighbouring CTAs read the same lines again.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define SIDE 16

__global__ void calculate_temp(int iteration, const float *power, const float *src, float *dst, int n, int border,
                               float step, float rx1, float ry1, float rz1) {
  __shared__ float on[SIDE][SIDE], p[SIDE][SIDE], t[SIDE][SIDE];
  const float ambient = 80.0f;
  int tx = threadIdx.x, ty = threadIdx.y, small = SIDE - iteration * 2;
  int y0 = small * blockIdx.y - border, x0 = small * blockIdx.x - border;
  int y = y0 + ty, x = x0 + tx, index = n * y + x;
  bool inside = y >= 0 && y < n && x >= 0 && x < n;
  if (inside) {
    on[ty][tx] = src[index];
    p[ty][tx] = power[index];
  }
  __syncthreads();
  /* The part of the tile that lies on the chip, and neighbours that stay within it. */
  int ymin = y0 < 0 ? -y0 : 0, ymax = y0 + SIDE - 1 > n - 1 ? SIDE - 1 - (y0 + SIDE - n) : SIDE - 1;
  int xmin = x0 < 0 ? -x0 : 0, xmax = x0 + SIDE - 1 > n - 1 ? SIDE - 1 - (x0 + SIDE - n) : SIDE - 1;
  int north = max(ty - 1, ymin), south = min(ty + 1, ymax), west = max(tx - 1, xmin), east = min(tx + 1, xmax);
  bool computed = false;
  for (int i = 0; i < iteration; i++) {
    computed = false;
    if (tx >= i + 1 && tx <= SIDE - i - 2 && ty >= i + 1 && ty <= SIDE - i - 2 && tx >= xmin && tx <= xmax &&
        ty >= ymin && ty <= ymax) {
      computed = true;
      float here = on[ty][tx];
      t[ty][tx] = here + step * (p[ty][tx] + (on[south][tx] + on[north][tx] - 2.0f * here) * ry1 +
                                 (on[ty][east] + on[ty][west] - 2.0f * here) * rx1 + (ambient - here) * rz1);
    }
    __syncthreads();
    if (i == iteration - 1) break;
    if (computed) on[ty][tx] = t[ty][tx];
    __syncthreads();
  }
  if (computed) dst[index] = t[ty][tx];
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "hotspot");
  int n = wl_int(&w, "side", wl_by_size(128, 512, 1024), SIDE, 8192, "cells per side");
  int steps = wl_int(&w, "steps", wl_by_size(4, 2, 40), 1, 10000, "time steps");
  int height = wl_int(&w, "pyramid", wl_by_size(2, 2, 2), 1, 6, "steps per launch");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t cells = (size_t)n * (size_t)n;
  std::vector<float> temp(cells), power(cells);
  for (float &v : temp) v = wl_range(&seed, 320, 345);
  for (float &v : power) v = wl_below(&seed, 8) ? 0.0f : wl_unit(&seed) * 0.01f;
  const float rx1 = 0.1f, ry1 = 0.1f, rz1 = 0.001f, step = 0.5f;
  float *dp = wl_upload(power), *a = wl_upload(temp), *b = wl_alloc<float>(cells);
  unsigned grid = wl_blocks((size_t)n, (unsigned)(SIDE - 2 * height));
  for (int t = 0; t < steps; t += height) {
    calculate_temp<<<dim3(grid, grid), dim3(SIDE, SIDE)>>>(std::min(height, steps - t), dp, a, b, n, height, step, rx1,
                                                           ry1, rz1);
    WL_LAUNCHED();
    std::swap(a, b);
  }
  std::vector<float> next(cells);
  for (int t = 0; t < steps; t++) {
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        auto at = [&](int yy, int xx) {
          return temp[(size_t)(std::min(std::max(yy, 0), n - 1) * n + std::min(std::max(xx, 0), n - 1))];
        };
        float here = at(y, x);
        next[(size_t)(y * n + x)] =
            here + step * (power[(size_t)(y * n + x)] + (at(y + 1, x) + at(y - 1, x) - 2 * here) * ry1 +
                           (at(y, x + 1) + at(y, x - 1) - 2 * here) * rx1 + (80 - here) * rz1);
      }
    std::swap(temp, next);
  }
  struct wl_check chk = {};
  wl_near_all(&chk, "temperature", wl_download(a, cells), temp, 1e-5);
  return wl_end(&w, &chk);
}
