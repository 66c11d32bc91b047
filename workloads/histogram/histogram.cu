/* histogram - histogram with saturating bins in global memory
 *
 * Program: Parboil histo
 * Suites: tsc=histo sharing=histo
 * Groups: tsc=cache-line-positive
 * Algorithm: three kernels a pass. prescan finds the range of the values by a shared-memory reduction; main_pass keeps
 *   the central window of bins in shared memory and sends the rest to global memory with atomics; final_pass saturates
 *   the counts to bytes. Several passes over the same image.
 * Loads: the image is streamed coalesced as pairs; the
 *   histogram is hit by atomics whose targets cluster around the middle (the input is a Gaussian spot, as in the
 *   original's silicon image); final_pass streams the bins.
 * Simplified: the central window is one range per CTA row
 *   rather than Parboil's several sub-histograms.
 */
#include "../common/wl.h"

#define THREADS 256
#define WINDOW 2048

__global__ void prescan(const unsigned *img, int n, int *range) {
  __shared__ int low[THREADS], high[THREADS];
  int lo = 0x7fffffff, hi = 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    int v = (int)img[i];
    lo = min(lo, v);
    hi = max(hi, v);
  }
  low[threadIdx.x] = lo;
  high[threadIdx.x] = hi;
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if ((int)threadIdx.x < s) {
      low[threadIdx.x] = min(low[threadIdx.x], low[threadIdx.x + s]);
      high[threadIdx.x] = max(high[threadIdx.x], high[threadIdx.x + s]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    atomicMin(&range[0], low[0]);
    atomicMax(&range[1], high[0]);
  }
}

__device__ void count(unsigned v, int base, unsigned *window, unsigned *bins) {
  unsigned slot = v - (unsigned)base;
  if (slot < WINDOW) {
    atomicAdd(&window[slot], 1u);
    asm volatile(""); /* keeps clang from merging the two into one atomic on a generic address */
  } else {
    atomicAdd(&bins[v], 1u);
  }
}

__global__ void main_pass(const uint2 *img, int pairs, const int *range, unsigned *bins) {
  __shared__ unsigned window[WINDOW];
  for (int i = threadIdx.x; i < WINDOW; i += THREADS) window[i] = 0;
  int base = max(0, (range[0] + range[1]) / 2 - WINDOW / 2);
  __syncthreads();
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < pairs; i += gridDim.x * THREADS) {
    uint2 p = img[i];
    count(p.x, base, window, bins);
    count(p.y, base, window, bins);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < WINDOW; i += THREADS)
    if (window[i]) atomicAdd(&bins[base + i], window[i]);
}

__global__ void final_pass(const unsigned *bins, unsigned char *out, int n) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) out[i] = (unsigned char)min(bins[i], 255u);
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "histogram");
  int n = wl_int(&w, "pixels", wl_by_size(65536, 524288, 8388608), 512, 1 << 26, "pixels (made even)");
  int nbins = wl_int(&w, "bins", wl_by_size(8192, 32768, 131072), WINDOW, 1 << 20, "bins");
  int passes = wl_int(&w, "passes", wl_by_size(2, 3, 5), 1, 100, "passes over the image");
  wl_ready(&w);
  n &= ~1;

  uint64_t seed = w.seed;
  std::vector<unsigned> img((size_t)n), counts((size_t)nbins, 0);
  for (unsigned &v : img) {
    float x = (float)nbins / 2 + wl_normal(&seed) * (float)nbins / 12;
    v = (unsigned)std::min(std::max(x, 0.0f), (float)nbins - 1);
    counts[v] = std::min(counts[v] + 1, 255u);
  }
  std::vector<unsigned char> want(counts.begin(), counts.end());
  std::vector<int> range0 = {0x7fffffff, 0};
  unsigned *dimg = wl_upload(img), *dbins = wl_alloc<unsigned>((size_t)nbins);
  int *drange = wl_alloc<int>(2);
  unsigned char *dout = wl_alloc<unsigned char>((size_t)nbins);

  unsigned grid = std::min(wl_blocks((size_t)n, 2 * THREADS), 90u);
  for (int p = 0; p < passes; p++) {
    wl_put(drange, range0);
    WL_CUDA(cudaMemset(dbins, 0, (size_t)nbins * sizeof(unsigned)));
    prescan<<<grid, THREADS>>>(dimg, n, drange);
    WL_LAUNCHED();
    main_pass<<<grid, THREADS>>>((const uint2 *)dimg, n / 2, drange, dbins);
    WL_LAUNCHED();
    final_pass<<<wl_blocks((size_t)nbins, THREADS), THREADS>>>(dbins, dout, nbins);
    WL_LAUNCHED();
  }
  struct wl_check chk = {};
  wl_equal_all(&chk, "bin", wl_download(dout, (size_t)nbins), want);
  return wl_end(&w, &chk);
}
