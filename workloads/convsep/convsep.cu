/* convsep - separable convolution: rows, then columns
 *
 * Program: CUDA SDK convolutionSeparable
 * Suites: medic=CONS
 * Groups: medic=balanced
 * Algorithm: a filter of 17 taps in constant memory is applied along rows and then along columns; each CTA stages its
 *   tile and a halo in shared memory and every thread computes eight results.
 * Loads: coalesced tiles (rows: 16 x 4
 *   threads, columns: 16 x 8), halos of neighbouring CTAs overlap; the columns pass reads 64-byte pieces of rows.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define RADIUS 8
#define RESULTS 8
#define HALO 1
#define RX 16
#define RY 4
#define CX 16
#define CY 8

__constant__ float taps[2 * RADIUS + 1];

__global__ void rows_pass(float *dst, const float *src, int width, int pitch) {
  __shared__ float s[RY][(RESULTS + 2 * HALO) * RX];
  int x0 = (blockIdx.x * RESULTS - HALO) * RX + threadIdx.x, y = blockIdx.y * RY + threadIdx.y;
  src += y * pitch + x0;
  dst += y * pitch + x0;
#pragma unroll
  for (int i = 0; i < RESULTS + 2 * HALO; i++)
    s[threadIdx.y][threadIdx.x + i * RX] = x0 + i * RX >= 0 && x0 + i * RX < width ? src[i * RX] : 0;
  __syncthreads();
#pragma unroll
  for (int i = HALO; i < HALO + RESULTS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++) sum += taps[RADIUS - j] * s[threadIdx.y][threadIdx.x + i * RX + j];
    dst[i * RX] = sum;
  }
}

__global__ void columns_pass(float *dst, const float *src, int height, int pitch) {
  __shared__ float s[CX][(RESULTS + 2 * HALO) * CY + 1];
  int x = blockIdx.x * CX + threadIdx.x, y0 = (blockIdx.y * RESULTS - HALO) * CY + threadIdx.y;
  src += y0 * pitch + x;
  dst += y0 * pitch + x;
#pragma unroll
  for (int i = 0; i < RESULTS + 2 * HALO; i++)
    s[threadIdx.x][threadIdx.y + i * CY] = y0 + i * CY >= 0 && y0 + i * CY < height ? src[i * CY * pitch] : 0;
  __syncthreads();
#pragma unroll
  for (int i = HALO; i < HALO + RESULTS; i++) {
    float sum = 0;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; j++) sum += taps[RADIUS - j] * s[threadIdx.x][threadIdx.y + i * CY + j];
    dst[i * CY * pitch] = sum;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "convsep");
  int width = wl_int(&w, "width", wl_by_size(256, 512, 2048), 128, 8192, "columns (rounded up to 128)");
  int height = wl_int(&w, "height", wl_by_size(128, 512, 2048), 64, 8192, "rows (rounded up to 64)");
  int rounds = wl_int(&w, "iterations", wl_by_size(1, 1, 4), 1, 100, "times both passes run");
  wl_ready(&w);
  width = (width + 127) / 128 * 128;
  height = (height + 63) / 64 * 64;

  uint64_t seed = w.seed;
  size_t sw = (size_t)width, n = sw * (size_t)height;
  std::vector<float> filter(2 * RADIUS + 1), src(n), want(n);
  for (float &v : filter) v = wl_unit(&seed);
  for (float &v : src) v = wl_unit(&seed);
  WL_CUDA(cudaMemcpyToSymbol(taps, filter.data(), filter.size() * sizeof(float)));
  float *dsrc = wl_upload(src), *dtmp = wl_alloc<float>(n), *dout = wl_alloc<float>(n);
  for (int r = 0; r < rounds; r++) {
    rows_pass<<<dim3((unsigned)width / (RESULTS * RX), (unsigned)height / RY), dim3(RX, RY)>>>(dtmp, dsrc, width,
                                                                                               width);
    columns_pass<<<dim3((unsigned)width / CX, (unsigned)height / (RESULTS * CY)), dim3(CX, CY)>>>(dout, dtmp, height,
                                                                                                  width);
    WL_LAUNCHED();
  }
  std::vector<double> tmp(n);
  for (int pass = 0; pass < 2; pass++)
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        double sum = 0;
        for (int j = -RADIUS; j <= RADIUS; j++) {
          int at = (pass ? y : x) + j;
          if (at < 0 || at >= (pass ? height : width)) continue;
          size_t from = pass ? (size_t)at * sw + (size_t)x : (size_t)y * sw + (size_t)at;
          sum += (double)filter[(size_t)(RADIUS - j)] * (pass ? tmp[from] : src[from]);
        }
        if (!pass) tmp[(size_t)y * sw + (size_t)x] = sum;
        else want[(size_t)y * sw + (size_t)x] = (float)sum;
      }
  struct wl_check chk = {};
  wl_near_all(&chk, "pixel", wl_download(dout, n), want, 1e-4);
  return wl_end(&w, &chk);
}
