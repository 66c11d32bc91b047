/* srad_v2 - speckle-reducing anisotropic diffusion through shared-memory tiles
 *
 * Program: Rodinia srad (v2)
 * Suites: tsc=srad_v2 decoupled-l1d=SD2 sharing=srad_v2
 * Groups: tsc=cache-line-negative decoupled-l1d=cache-unfriendly
 * Algorithm: the host computes the statistics of a region; srad_cuda_1 computes gradients and coefficients, srad_cuda_2
 *   the update, both in CTAs of 16 x 16 that stage the tile and its four borders in shared memory.
 * Loads: a warp reads
 *   two rows of 64 bytes (degree 2); west and east borders are read by all lanes of a row at a stride of a row; six
 *   arrays as large as the image stream through the cache, hardly reused.
 * Simplified: nothing of the structure.
 */
#include "../common/wl.h"

#define TILE 16

__global__ void srad_1(float *e, float *w, float *n, float *s, const float *j, float *c, int cols, int rows, float q0) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = cols * TILE * by + TILE * bx + cols * ty + tx;
  int index_n = by ? cols * TILE * by + TILE * bx + tx - cols : TILE * bx + tx;
  int index_s =
      by < (int)gridDim.y - 1 ? cols * TILE * by + TILE * bx + cols * TILE + tx : cols * (rows - 1) + TILE * bx + tx;
  int index_w = bx ? cols * TILE * by + TILE * bx + cols * ty - 1 : cols * TILE * by + cols * ty;
  int index_e = cols * TILE * by + TILE * bx + cols * ty + (bx < (int)gridDim.x - 1 ? TILE : TILE - 1);
  __shared__ float here[TILE][TILE], north[TILE][TILE], south[TILE][TILE], east[TILE][TILE], west[TILE][TILE];
  north[ty][tx] = j[index_n];
  south[ty][tx] = j[index_s];
  west[ty][tx] = j[index_w];
  east[ty][tx] = j[index_e];
  here[ty][tx] = j[index];
  __syncthreads();
  float jc = here[ty][tx];
  float dn = (ty ? here[ty - 1][tx] : north[ty][tx]) - jc, ds = (ty < TILE - 1 ? here[ty + 1][tx] : south[ty][tx]) - jc;
  float dw = (tx ? here[ty][tx - 1] : west[ty][tx]) - jc, de = (tx < TILE - 1 ? here[ty][tx + 1] : east[ty][tx]) - jc;
  float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (jc * jc), l = (dn + ds + dw + de) / jc;
  float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l), den = 1 + 0.25f * l, q = num / (den * den);
  den = (q - q0) / (q0 * (1 + q0));
  float v = 1.0f / (1.0f + den);
  c[index] = v < 0 ? 0 : v > 1 ? 1 : v;
  e[index] = de;
  w[index] = dw;
  s[index] = ds;
  n[index] = dn;
}

__global__ void srad_2(const float *e, const float *w, const float *n, const float *s, float *j, const float *c,
                       int cols, int rows, float lambda) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = cols * TILE * by + TILE * bx + cols * ty + tx;
  int index_s =
      by < (int)gridDim.y - 1 ? cols * TILE * by + TILE * bx + cols * TILE + tx : cols * (rows - 1) + TILE * bx + tx;
  int index_e = cols * TILE * by + TILE * bx + cols * ty + (bx < (int)gridDim.x - 1 ? TILE : TILE - 1);
  __shared__ float here[TILE][TILE], south[TILE][TILE], east[TILE][TILE];
  south[ty][tx] = c[index_s];
  east[ty][tx] = c[index_e];
  here[ty][tx] = c[index];
  __syncthreads();
  float cc = here[ty][tx], cs = ty < TILE - 1 ? here[ty + 1][tx] : south[ty][tx],
        ce = tx < TILE - 1 ? here[ty][tx + 1] : east[ty][tx];
  float d = cc * n[index] + cs * s[index] + cc * w[index] + ce * e[index];
  j[index] = j[index] + 0.25f * lambda * d;
}

/* Mean and variance over the whole image, as a ratio: the speckle scale. */
template <class T> static double speckle(const std::vector<T> &j) {
  double sum = 0, sum2 = 0;
  for (T v : j) sum += v, sum2 += (double)v * v;
  double mean = sum / (double)j.size();
  return (sum2 / (double)j.size() - mean * mean) / (mean * mean);
}

static void reference(std::vector<double> *img, int rows, int cols, double q0) {
  size_t n = img->size();
  std::vector<double> d[4], c(n);
  for (auto &v : d) v.resize(n);
  for (int pass = 0; pass < 2; pass++)
    for (int y = 0; y < rows; y++)
      for (int x = 0; x < cols; x++) {
        size_t at = (size_t)(y * cols + x), down = (size_t)(std::min(y + 1, rows - 1) * cols + x),
               right = (size_t)(y * cols + std::min(x + 1, cols - 1));
        if (pass) {
          (*img)[at] += 0.25 * 0.5 * (c[at] * d[0][at] + c[down] * d[1][at] + c[at] * d[2][at] + c[right] * d[3][at]);
          continue;
        }
        size_t nb[4] = {(size_t)(std::max(y - 1, 0) * cols + x), down, (size_t)(y * cols + std::max(x - 1, 0)), right};
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

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "srad_v2");
  int side = wl_int(&w, "side", wl_by_size(128, 256, 2048), TILE, 8192, "pixels per side (rounded up to 16)");
  int iterations = wl_int(&w, "iterations", wl_by_size(1, 2, 2), 1, 1000, "iterations");
  wl_ready(&w);
  side = (side + TILE - 1) / TILE * TILE;

  uint64_t seed = w.seed;
  size_t n = (size_t)side * (size_t)side;
  std::vector<float> img(n);
  for (float &v : img) v = expf(wl_unit(&seed));
  std::vector<double> want(img.begin(), img.end());
  float *j = wl_upload(img), *c = wl_alloc<float>(n), *e = wl_alloc<float>(n), *ww = wl_alloc<float>(n),
        *nn = wl_alloc<float>(n), *s = wl_alloc<float>(n);
  dim3 block(TILE, TILE), grid((unsigned)side / TILE, (unsigned)side / TILE);
  for (int it = 0; it < iterations; it++) {
    float q0 = (float)speckle(it ? wl_download(j, n) : img);
    srad_1<<<grid, block>>>(e, ww, nn, s, j, c, side, side, q0);
    srad_2<<<grid, block>>>(e, ww, nn, s, j, c, side, side, 0.5f);
    WL_LAUNCHED();
    reference(&want, side, side, speckle(want));
  }
  struct wl_check chk = {};
  std::vector<float> got = wl_download(j, n);
  for (size_t i = 0; i < n; i++) wl_near(&chk, "pixel", i, got[i], want[i], 1e-4);
  return wl_end(&w, &chk);
}
