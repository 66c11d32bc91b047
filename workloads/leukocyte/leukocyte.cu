/* leukocyte - finding and following white blood cells in a video frame
 *
 * Program: Rodinia leukocyte
 * Suites: decoupled-l1d=LFK
 * Groups: decoupled-l1d=cache-insensitive
 * Algorithm: gicov scores every pixel by the gradient along circles of several radii around it; dilate takes the
 *   maximum under a disc; imgvf solves the gradient vector flow around each cell, one CTA per cell with the matrix in
 *   shared memory, until the cell's solution converges.
 * Loads: gicov gathers the two gradient images through textures at 40 offsets from
 *   constant memory per circle; dilate reads 11 x 11 neighbourhoods of the scores through a texture; imgvf
 *   hardly leaves shared memory. The L1 data cache sees next to no loads.
 * Simplified: texture objects where the original binds references; 5 radii of 40 points; fixed cell size.
 */
#include "../common/wl.h"

#define RADII 5
#define POINTS 40
#define MARGIN 16
#define DISC 5  /* dilation reaches this far */
#define CELL 40 /* side of a cell's matrix */

__constant__ float c_sin[POINTS], c_cos[POINTS];
__constant__ int c_x[RADII * POINTS], c_y[RADII * POINTS];
__constant__ unsigned char c_disc[(2 * DISC + 1) * (2 * DISC + 1)];

/* Columns of the image are CTAs of threads along rows, as in the original: consecutive threads are consecutive rows of
 * a column-major image. */
__global__ void gicov(cudaTextureObject_t grad_x, cudaTextureObject_t grad_y, float *out, int rows, int cols) {
  int i = blockIdx.x + MARGIN, j = threadIdx.x + blockIdx.y * blockDim.x + MARGIN;
  if (i >= cols - MARGIN || j >= rows - MARGIN) return;
  float most = 0;
  for (int k = 0; k < RADII; k++) {
    float sum = 0, m = 0, mean = 0;
    for (int n = 0; n < POINTS; n++) {
      int y = j + c_y[k * POINTS + n], x = i + c_x[k * POINTS + n], at = x * rows + y;
      float p = tex1Dfetch<float>(grad_x, at) * c_cos[n] + tex1Dfetch<float>(grad_y, at) * c_sin[n];
      sum += p;
      float d = p - mean;
      mean += d / (float)(n + 1);
      m += d * (p - mean);
    }
    float avg = sum / POINTS, var = m / (POINTS - 1);
    if (avg * avg / var > most) most = avg * avg / var;
  }
  out[i * rows + j] = most;
}

__global__ void dilate(cudaTextureObject_t img, float *out, int rows, int cols) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, i = t % rows, j = t / rows;
  if (j >= cols) return;
  float most = 0;
  for (int di = -DISC; di <= DISC; di++) {
    int y = i + di;
    if (y < 0 || y >= rows) continue;
    for (int dj = -DISC; dj <= DISC; dj++) {
      int x = j + dj;
      if (x < 0 || x >= cols || !c_disc[(di + DISC) * (2 * DISC + 1) + dj + DISC]) continue;
      most = fmaxf(most, tex1Dfetch<float>(img, x * rows + y));
    }
  }
  out[j * rows + i] = most;
}

/* Smooth step that stands for the original's arctangent Heaviside function. */
__host__ __device__ inline float heaviside(float x) {
  return x > 1e-4f ? 1 : x < -1e-4f ? 0 : 0.5f + x * 5000;
}
__host__ __device__ inline float flow(const float *m, int y, int x, float vx, float vy, float image) {
  int u = y ? y - 1 : 0, d = y < CELL - 1 ? y + 1 : y, l = x ? x - 1 : 0, r = x < CELL - 1 ? x + 1 : x;
  float here = m[y * CELL + x];
  float dul = m[u * CELL + l] - here, du = m[u * CELL + x] - here, dur = m[u * CELL + r] - here,
        dl = m[y * CELL + l] - here;
  float dr = m[y * CELL + r] - here, ddl = m[d * CELL + l] - here, dd = m[d * CELL + x] - here,
        ddr = m[d * CELL + r] - here;
  float next =
      here + 0.125f * (heaviside(-dul * (vx + vy)) * dul + heaviside(-du * vy) * du +
                       heaviside(-dur * (vy - vx)) * dur + heaviside(-dl * vx) * dl + heaviside(dr * vx) * dr +
                       heaviside(-ddl * (vx - vy)) * ddl + heaviside(dd * vy) * dd + heaviside(ddr * (vx + vy)) * ddr);
  return next - 0.2f * image * (next - image);
}

__global__ void imgvf(const float *images, float *out, float vx, float vy, float cutoff, int most, int *rounds) {
  __shared__ float m[CELL * CELL], change[256];
  __shared__ int done;
  const float *image = images + blockIdx.x * CELL * CELL;
  for (int i = threadIdx.x; i < CELL * CELL; i += blockDim.x) m[i] = image[i];
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  int round = 0;
  while (!done && round < most) {
    float next[(CELL * CELL + 255) / 256], total = 0;
    for (int i = threadIdx.x, k = 0; i < CELL * CELL; i += 256, k++) {
      next[k] = flow(m, i / CELL, i % CELL, vx, vy, image[i]);
      total += fabsf(next[k] - m[i]);
    }
    __syncthreads();
    for (int i = threadIdx.x, k = 0; i < CELL * CELL; i += 256, k++) m[i] = next[k];
    change[threadIdx.x] = total;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
      if ((int)threadIdx.x < s) change[threadIdx.x] += change[threadIdx.x + s];
      __syncthreads();
    }
    if (threadIdx.x == 0 && change[0] / (CELL * CELL) < cutoff) done = 1;
    round++;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < CELL * CELL; i += blockDim.x) out[blockIdx.x * CELL * CELL + i] = m[i];
  if (threadIdx.x == 0) rounds[blockIdx.x] = round;
}

struct tables {
  std::vector<float> s, c;
  std::vector<int> x, y;
  std::vector<unsigned char> disc;
};
static struct tables make_tables() {
  struct tables t;
  for (int n = 0; n < POINTS; n++) {
    t.s.push_back((float)sin(2 * M_PI * n / POINTS));
    t.c.push_back((float)cos(2 * M_PI * n / POINTS));
  }
  for (int k = 0; k < RADII; k++)
    for (int n = 0; n < POINTS; n++) {
      t.x.push_back((int)lround((6 + 2 * k) * cos(2 * M_PI * n / POINTS)));
      t.y.push_back((int)lround((6 + 2 * k) * sin(2 * M_PI * n / POINTS)));
    }
  for (int y = -DISC; y <= DISC; y++)
    for (int x = -DISC; x <= DISC; x++) t.disc.push_back(x * x + y * y <= DISC * DISC);
  return t;
}

static cudaTextureObject_t texture_of(float *p, size_t n) {
  cudaResourceDesc what = {};
  cudaTextureDesc how = {};
  cudaTextureObject_t t = 0;
  what.resType = cudaResourceTypeLinear;
  what.res.linear.devPtr = p;
  what.res.linear.desc = cudaCreateChannelDesc<float>();
  what.res.linear.sizeInBytes = n * sizeof(float);
  how.readMode = cudaReadModeElementType;
  WL_CUDA(cudaCreateTextureObject(&t, &what, &how, NULL));
  return t;
}

static void check_scores(struct wl_check *chk, const struct tables &t, const std::vector<float> &gx,
                         const std::vector<float> &gy, const std::vector<float> &score,
                         const std::vector<float> &dilated, int rows, int cols) {
  for (int i = MARGIN; i < cols - MARGIN; i++)
    for (int j = MARGIN; j < rows - MARGIN; j++) {
      double most = 0;
      for (size_t k = 0; k < RADII; k++) {
        double sum = 0, sq = 0;
        for (size_t n = 0; n < POINTS; n++) {
          size_t at = (size_t)((i + t.x[k * POINTS + n]) * rows + j + t.y[k * POINTS + n]);
          double p = (double)gx[at] * t.c[n] + (double)gy[at] * t.s[n];
          sum += p;
          sq += p * p;
        }
        double mean = sum / POINTS;
        most = std::max(most, mean * mean / ((sq - POINTS * mean * mean) / (POINTS - 1)));
      }
      wl_near(chk, "score", (size_t)(i * rows + j), score[(size_t)(i * rows + j)], most, 2e-3);
    }
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) {
      float most = 0;
      for (int y = std::max(0, i - DISC); y <= std::min(rows - 1, i + DISC); y++)
        for (int x = std::max(0, j - DISC); x <= std::min(cols - 1, j + DISC); x++)
          if (t.disc[(size_t)((y - i + DISC) * (2 * DISC + 1) + x - j + DISC)])
            most = std::max(most, score[(size_t)(x * rows + y)]);
      wl_near(chk, "dilated score", (size_t)(j * rows + i), dilated[(size_t)(j * rows + i)], most, 1e-6);
    }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "leukocyte");
  int rows = wl_int(&w, "rows", wl_by_size(80, 96, 256), 48, 1024, "rows of the frame");
  int cols = wl_int(&w, "columns", wl_by_size(64, 128, 512), 48, 2048, "columns of the frame");
  int cells = wl_int(&w, "cells", wl_by_size(4, 10, 36), 1, 512, "cells followed");
  int most = wl_int(&w, "iterations", wl_by_size(8, 20, 100), 1, 1000, "most iterations of the vector flow");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t n = (size_t)rows * (size_t)cols;
  std::vector<float> frame(n, 0), gx(n, 0), gy(n, 0);
  for (float &v : frame) v = 0.3f * wl_unit(&seed);
  for (int c = 0; c < cells; c++) { /* bright discs */
    int cx = (int)wl_below(&seed, (uint32_t)cols), cy = (int)wl_below(&seed, (uint32_t)rows);
    for (int x = std::max(0, cx - 9); x < std::min(cols, cx + 10); x++)
      for (int y = std::max(0, cy - 9); y < std::min(rows, cy + 10); y++)
        if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < 81) frame[(size_t)(x * rows + y)] += 0.7f;
  }
  for (int x = 1; x < cols - 1; x++)
    for (int y = 1; y < rows - 1; y++) {
      gx[(size_t)(x * rows + y)] = (frame[(size_t)((x + 1) * rows + y)] - frame[(size_t)((x - 1) * rows + y)]) / 2;
      gy[(size_t)(x * rows + y)] = (frame[(size_t)(x * rows + y + 1)] - frame[(size_t)(x * rows + y - 1)]) / 2;
    }
  struct tables t = make_tables();
  WL_CUDA(cudaMemcpyToSymbol(c_sin, t.s.data(), sizeof(float) * POINTS));
  WL_CUDA(cudaMemcpyToSymbol(c_cos, t.c.data(), sizeof(float) * POINTS));
  WL_CUDA(cudaMemcpyToSymbol(c_x, t.x.data(), sizeof(int) * RADII * POINTS));
  WL_CUDA(cudaMemcpyToSymbol(c_y, t.y.data(), sizeof(int) * RADII * POINTS));
  WL_CUDA(cudaMemcpyToSymbol(c_disc, t.disc.data(), t.disc.size()));
  float *dgx = wl_upload(gx), *dgy = wl_upload(gy), *dscore = wl_zeros<float>(n), *ddil = wl_alloc<float>(n);
  dim3 grid((unsigned)(cols - 2 * MARGIN), wl_blocks((size_t)(rows - 2 * MARGIN), 64));
  gicov<<<grid, 64>>>(texture_of(dgx, n), texture_of(dgy, n), dscore, rows, cols);
  dilate<<<wl_blocks(n, 176), 176>>>(texture_of(dscore, n), ddil, rows, cols);
  WL_LAUNCHED();
  struct wl_check chk = {};
  check_scores(&chk, t, gx, gy, wl_download(dscore, n), wl_download(ddil, n), rows, cols);

  std::vector<float> images((size_t)(cells * CELL * CELL));
  for (float &v : images) v = wl_unit(&seed);
  float *dimg = wl_upload(images), *dflow = wl_alloc<float>(images.size());
  int *drounds = wl_alloc<int>((size_t)cells);
  imgvf<<<(unsigned)cells, 256>>>(dimg, dflow, 0.7f, 0.7f, 1e-3f, most, drounds);
  WL_LAUNCHED();
  std::vector<int> rounds = wl_download(drounds, (size_t)cells);
  std::vector<float> got = wl_download(dflow, images.size()), next(CELL * CELL);
  for (size_t c = 0; c < (size_t)cells; c++) {
    std::vector<float> m(images.begin() + (long)(c * CELL * CELL), images.begin() + (long)((c + 1) * CELL * CELL));
    for (int r = 0; r < rounds[c]; r++) {
      for (int i = 0; i < CELL * CELL; i++)
        next[(size_t)i] = flow(m.data(), i / CELL, i % CELL, 0.7f, 0.7f, images[c * CELL * CELL + (size_t)i]);
      std::swap(m, next);
    }
    for (size_t i = 0; i < CELL * CELL; i++)
      wl_near(&chk, "flow", c * CELL * CELL + i, got[c * CELL * CELL + i], m[i], 1e-3);
  }
  return wl_end(&w, &chk);
}
