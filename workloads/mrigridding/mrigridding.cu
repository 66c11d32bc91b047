/* mrigridding - samples of magnetic resonance imaging onto a regular grid
 *
 * Program: Parboil mri-gridding
 * Suites: tsc=mri-gridding sharing=mri-gridding
 * Groups: tsc=cache-line-positive
 * Algorithm: samples are counted into bins with atomics, the counts are scanned, the samples copied into bin order;
 *   then each thread owns a grid point and adds every sample of the bins around it, weighted by a Kaiser-Bessel window.
 * Loads: the reorder kernel scatters records of 24 bytes (degree up to 32); gridding reads the samples of a bin, staged
 *   in shared memory by the whole CTA, coalesced; bins are revisited by neighbouring CTAs.
 * Simplified: two-dimensional
 *   trajectory (spiral) on a grid with one bin per tile of 8 x 8 points; the window is a polynomial of the same support.
 */
#include "../common/wl.h"

#define TILE 8
#define REACH 2.0f /* half width of the window in grid points; at most TILE */
#define CHUNK 64

struct sample {
  float real, imag, x, y, density;
  int pad;
};

__global__ void count_bins(const sample *s, int n, unsigned *count, int tiles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&count[((int)s[i].y / TILE) * tiles + (int)s[i].x / TILE], 1u);
}
/* Exclusive scan of up to 1024 values a CTA; `sums` receives the totals. */
__global__ void scan(unsigned *v, unsigned *sums, int n) {
  __shared__ unsigned t[2][512];
  int i = blockIdx.x * 512 + threadIdx.x, in = 0;
  unsigned mine = i < n ? v[i] : 0;
  t[0][threadIdx.x] = mine;
  __syncthreads();
  for (int s = 1; s < 512; s *= 2, in ^= 1) {
    t[in ^ 1][threadIdx.x] = t[in][threadIdx.x] + ((int)threadIdx.x >= s ? t[in][threadIdx.x - s] : 0);
    __syncthreads();
  }
  if (i < n) v[i] = t[in][threadIdx.x] - mine;
  if (threadIdx.x == 511) sums[blockIdx.x] = t[in][511];
}
__global__ void add_sums(unsigned *v, const unsigned *sums, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  if (i < n && blockIdx.x) v[i] += sums[blockIdx.x];
}
__global__ void reorder(const sample *in, sample *out, int n, const unsigned *start, unsigned *fill, int tiles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bin = ((int)in[i].y / TILE) * tiles + (int)in[i].x / TILE;
  out[start[bin] + atomicAdd(&fill[bin], 1u)] = in[i];
}

__host__ __device__ inline float window(float dx, float dy) {
  float r = 1 - (dx * dx + dy * dy) / (REACH * REACH);
  return r > 0 ? r * r * (1 + 0.3f * r) : 0;
}

__global__ void gridding(const sample *s, const unsigned *start, int n, float2 *grid, int side, int tiles) {
  __shared__ float sx[CHUNK], sy[CHUNK], re[CHUNK], im[CHUNK];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y, t = threadIdx.y * TILE + threadIdx.x;
  float2 sum = make_float2(0, 0);
  for (int by = max(0, (int)blockIdx.y - 1); by <= min(tiles - 1, (int)blockIdx.y + 1); by++)
    for (int bx = max(0, (int)blockIdx.x - 1); bx <= min(tiles - 1, (int)blockIdx.x + 1); bx++) {
      int bin = by * tiles + bx;
      unsigned end = bin + 1 < tiles * tiles ? start[bin + 1] : (unsigned)n;
      for (unsigned base = start[bin]; base < end; base += CHUNK) {
        unsigned left = min(end - base, (unsigned)CHUNK);
        __syncthreads();
        if (t < (int)left) {
          sample a = s[base + t];
          sx[t] = a.x;
          sy[t] = a.y;
          re[t] = a.real * a.density;
          im[t] = a.imag * a.density;
        }
        __syncthreads();
        for (unsigned k = 0; k < left; k++) {
          float dx = sx[k] - (float)x, dy = sy[k] - (float)y;
          if (dx * dx + dy * dy < REACH * REACH) {
            float wgt = window(dx, dy);
            sum.x += wgt * re[k];
            sum.y += wgt * im[k];
          }
        }
      }
    }
  grid[y * side + x] = sum;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "mrigridding");
  int n = wl_int(&w, "samples", wl_by_size(2000, 12000, 400000), 64, 1 << 24, "samples");
  int side = wl_int(&w, "side", wl_by_size(48, 96, 512), TILE, 2048, "grid points per side (rounded up to 8)");
  wl_ready(&w);
  side = (side + TILE - 1) / TILE * TILE;

  uint64_t seed = w.seed;
  int tiles = side / TILE;
  size_t bins = (size_t)(tiles * tiles), points = (size_t)side * (size_t)side;
  std::vector<sample> s((size_t)n);
  for (int i = 0; i < n; i++) { /* a spiral that is dense in the middle, with jitter */
    float f = (float)i / (float)n, r = f * f * (float)side * 0.49f, phi = f * 200;
    s[(size_t)i] = {wl_range(&seed, -1, 1), wl_range(&seed, -1, 1), 0, 0, 0.1f + f, 0};
    s[(size_t)i].x =
        std::min(std::max((float)side / 2 + r * cosf(phi) + wl_range(&seed, -0.3f, 0.3f), 0.0f), (float)side - 0.01f);
    s[(size_t)i].y =
        std::min(std::max((float)side / 2 + r * sinf(phi) + wl_range(&seed, -0.3f, 0.3f), 0.0f), (float)side - 0.01f);
  }
  sample *ds = wl_upload(s), *dsorted = wl_alloc<sample>(s.size());
  unsigned scans = wl_blocks(bins, 512), *dstart = wl_zeros<unsigned>(bins), *dfill = wl_zeros<unsigned>(bins),
           *dsums = wl_alloc<unsigned>(scans);
  float2 *dgrid = wl_alloc<float2>(points);
  count_bins<<<wl_blocks(s.size(), 256), 256>>>(ds, n, dstart, tiles);
  scan<<<scans, 512>>>(dstart, dsums, (int)bins);
  WL_LAUNCHED();
  std::vector<unsigned> sums = wl_download(dsums, scans);
  for (unsigned i = 0, run = 0; i < scans; i++) {
    unsigned here = sums[i];
    sums[i] = run;
    run += here;
  }
  wl_put(dsums, sums);
  add_sums<<<scans, 512>>>(dstart, dsums, (int)bins);
  reorder<<<wl_blocks(s.size(), 256), 256>>>(ds, dsorted, n, dstart, dfill, tiles);
  gridding<<<dim3((unsigned)tiles, (unsigned)tiles), dim3(TILE, TILE)>>>(dsorted, dstart, n, dgrid, side, tiles);
  WL_LAUNCHED();

  std::vector<double> re(points, 0), im(points, 0);
  for (const sample &a : s)
    for (int y = std::max(0, (int)(a.y - REACH)); y <= std::min(side - 1, (int)(a.y + REACH) + 1); y++)
      for (int x = std::max(0, (int)(a.x - REACH)); x <= std::min(side - 1, (int)(a.x + REACH) + 1); x++) {
        float wgt = window(a.x - (float)x, a.y - (float)y);
        re[(size_t)(y * side + x)] += (double)wgt * a.real * a.density;
        im[(size_t)(y * side + x)] += (double)wgt * a.imag * a.density;
      }
  std::vector<float2> got = wl_download(dgrid, points);
  struct wl_check chk = {};
  for (size_t i = 0; i < points; i++) {
    wl_near(&chk, "real part", i, got[i].x, re[i], 1e-3);
    wl_near(&chk, "imaginary part", i, got[i].y, im[i], 1e-3);
  }
  return wl_end(&w, &chk);
}
