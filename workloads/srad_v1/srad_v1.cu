/* srad_v1 - speckle-reducing anisotropic diffusion, kernel by kernel
 *
 * Program: Rodinia srad (v1)
 * Suites: tsc=srad_v1 decoupled-l1d=SD1 sharing=srad_v1
 * Groups: tsc=cache-line-positive decoupled-l1d=cache-friendly
 * Algorithm: extract (exponential), then per iteration prepare (values and squares), reduce (tree sums in shared
 *   memory, launched until one CTA is left), srad (gradients and diffusion coefficient), srad2 (divergence and update);
 *   compress (logarithm) at the end.
 * Loads: one thread per element of a column-major image; the four neighbours come
 *   through index arrays iN, iS, jW, jE that lanes read almost alike; all coalesced but for the two neighbours in the
 *   other dimension, whole lines apart.
 * Simplified: nothing of the structure.
 */
#include "../common/wl.h"

#define THREADS 256

__global__ void extract(float *img, int n) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) img[i] = expf(img[i] / 255);
}
__global__ void compress(float *img, int n) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) img[i] = logf(img[i]) * 255;
}
__global__ void prepare(const float *img, float *sums, float *sums2, int n) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  sums[i] = img[i];
  sums2[i] = img[i] * img[i];
}
/* Elements 0, mul, 2 mul, ... of both arrays: each CTA leaves the sum of its THREADS at the first. */
__global__ void reduce(float *sums, float *sums2, int count, int mul) {
  __shared__ float a[THREADS], b[THREADS];
  int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  a[t] = i < count ? sums[i * mul] : 0;
  b[t] = i < count ? sums2[i * mul] : 0;
  __syncthreads();
  for (int s = 2; s <= THREADS; s *= 2) {
    if ((t + 1) % s == 0) {
      a[t] += a[t - s / 2];
      b[t] += b[t - s / 2];
    }
    __syncthreads();
  }
  if (t == THREADS - 1) {
    sums[blockIdx.x * mul * THREADS] = a[t];
    sums2[blockIdx.x * mul * THREADS] = b[t];
  }
}
__global__ void srad(int rows, int n, const int *iN, const int *iS, const int *jE, const int *jW, float *dN, float *dS,
                     float *dE, float *dW, float q0, float *c, const float *img) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  int row = i % rows, col = i / rows;
  float jc = img[i];
  float n_ = img[iN[row] + rows * col] - jc, s = img[iS[row] + rows * col] - jc;
  float w = img[row + rows * jW[col]] - jc, e = img[row + rows * jE[col]] - jc;
  float g2 = (n_ * n_ + s * s + w * w + e * e) / (jc * jc), l = (n_ + s + w + e) / jc;
  float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l), den = 1 + 0.25f * l;
  float q = num / (den * den);
  den = (q - q0) / (q0 * (1 + q0));
  float v = 1.0f / (1.0f + den);
  dN[i] = n_;
  dS[i] = s;
  dW[i] = w;
  dE[i] = e;
  c[i] = v < 0 ? 0 : v > 1 ? 1 : v;
}
__global__ void srad2(float lambda, int rows, int n, const int *iS, const int *jE, const float *dN, const float *dS,
                      const float *dE, const float *dW, const float *c, float *img) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  int row = i % rows, col = i / rows;
  float here = c[i], south = c[iS[row] + rows * col], east = c[row + rows * jE[col]];
  float d = here * dN[i] + south * dS[i] + here * dW[i] + east * dE[i];
  img[i] = img[i] + 0.25f * lambda * d;
}

static void reference(std::vector<double> *img, int rows, int cols, int iterations) {
  size_t n = img->size();
  std::vector<double> d[4], c(n);
  for (auto &v : d) v.resize(n);
  for (double &v : *img) v = exp(v / 255);
  for (int it = 0; it < iterations; it++) {
    double sum = 0, sum2 = 0;
    for (double v : *img) sum += v, sum2 += v * v;
    double mean = sum / (double)n, q0 = (sum2 / (double)n - mean * mean) / (mean * mean);
    for (int pass = 0; pass < 2; pass++)
      for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++) {
          size_t at = (size_t)(i + rows * j), up = (size_t)(std::max(i - 1, 0) + rows * j),
                 down = (size_t)(std::min(i + 1, rows - 1) + rows * j), left = (size_t)(i + rows * std::max(j - 1, 0)),
                 right = (size_t)(i + rows * std::min(j + 1, cols - 1));
          if (pass) {
            (*img)[at] += 0.25 * 0.5 * (c[at] * d[0][at] + c[down] * d[1][at] + c[at] * d[2][at] + c[right] * d[3][at]);
            continue;
          }
          size_t nb[4] = {up, down, left, right};
          double jc = (*img)[at], g2 = 0, l = 0;
          for (size_t k = 0; k < 4; k++) {
            d[k][at] = (*img)[nb[k]] - jc;
            g2 += d[k][at] * d[k][at];
            l += d[k][at];
          }
          g2 /= jc * jc;
          l /= jc;
          double q = (0.5 * g2 - l * l / 16) / ((1 + 0.25 * l) * (1 + 0.25 * l));
          c[at] = std::min(1.0, std::max(0.0, 1 / (1 + (q - q0) / (q0 * (1 + q0)))));
        }
  }
  for (double &v : *img) v = log(v) * 255;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "srad_v1");
  int rows = wl_int(&w, "rows", wl_by_size(128, 256, 502), 4, 4096, "rows");
  int cols = wl_int(&w, "columns", wl_by_size(96, 256, 458), 4, 4096, "columns");
  int iterations = wl_int(&w, "iterations", wl_by_size(1, 1, 100), 1, 1000, "iterations");
  wl_ready(&w);

  uint64_t seed = w.seed;
  int n = rows * cols;
  size_t sn = (size_t)n;
  std::vector<float> img(sn);
  for (float &v : img) v = wl_range(&seed, 0, 255);
  std::vector<double> want(img.begin(), img.end());
  std::vector<int> north((size_t)rows), south((size_t)rows), west((size_t)cols), east((size_t)cols);
  for (int i = 0; i < rows; i++) north[(size_t)i] = std::max(i - 1, 0), south[(size_t)i] = std::min(i + 1, rows - 1);
  for (int j = 0; j < cols; j++) west[(size_t)j] = std::max(j - 1, 0), east[(size_t)j] = std::min(j + 1, cols - 1);
  int *iN = wl_upload(north), *iS = wl_upload(south), *jW = wl_upload(west), *jE = wl_upload(east);
  float *I = wl_upload(img), *dN = wl_alloc<float>(sn), *dS = wl_alloc<float>(sn), *dE = wl_alloc<float>(sn),
        *dW = wl_alloc<float>(sn);
  float *c = wl_alloc<float>(sn), *sums = wl_alloc<float>(sn), *sums2 = wl_alloc<float>(sn);
  unsigned grid = wl_blocks(sn, THREADS);
  extract<<<grid, THREADS>>>(I, n);
  for (int it = 0; it < iterations; it++) {
    prepare<<<grid, THREADS>>>(I, sums, sums2, n);
    int mul = 1;
    for (int count = n; count > 1; count = (int)wl_blocks((size_t)count, THREADS), mul *= THREADS)
      reduce<<<wl_blocks((size_t)count, THREADS), THREADS>>>(sums, sums2, count, mul);
    float mean = wl_get(sums) / (float)n, q0 = (wl_get(sums2) / (float)n - mean * mean) / (mean * mean);
    srad<<<grid, THREADS>>>(rows, n, iN, iS, jE, jW, dN, dS, dE, dW, q0, c, I);
    srad2<<<grid, THREADS>>>(0.5f, rows, n, iS, jE, dN, dS, dE, dW, c, I);
    WL_LAUNCHED();
  }
  compress<<<grid, THREADS>>>(I, n);
  WL_LAUNCHED();

  reference(&want, rows, cols, iterations);
  struct wl_check chk = {};
  std::vector<float> got = wl_download(I, sn);
  for (size_t i = 0; i < sn; i++) wl_near(&chk, "pixel", i, got[i], want[i], 2e-3);
  return wl_end(&w, &chk);
}
