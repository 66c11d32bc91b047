/* dwt2d - two-dimensional discrete wavelet transform of a colour image
 *
 * Program: Rodinia dwt2d
 * Suites: tsc=dwt2d sharing=dwt2d
 * Groups: tsc=cache-line-positive
 * Algorithm: the RGB bytes are split into three planes through shared memory; the reversible 5/3 transform is applied
 *   to each plane, level by level: a CTA owns 64 columns and slides down the image in windows of 8 rows, lifting rows and
 *   then columns in shared memory and writing the four bands.
 * Loads: windows are read row by row, coalesced, with a halo
 *   of columns that neighbouring CTAs read too (degree 1 or 2); the split reads bytes of three colours interleaved.
 *   Levels shrink, so later launches are short.
 * Simplified: forward 5/3 only; windows of one fixed width for all levels.
 */
#include "../common/wl.h"

#define WIN 64
#define STEP 8
#define SPLIT 256

__global__ void split_rgb(const unsigned char *src, int *r, int *g, int *b, int n) {
  __shared__ unsigned char data[SPLIT * 3];
  int base = blockIdx.x * SPLIT * 3;
  for (int k = 0; k < 3; k++) {
    int at = base + k * SPLIT + threadIdx.x;
    data[k * SPLIT + threadIdx.x] = at < 3 * n ? src[at] : 0;
  }
  __syncthreads();
  int i = blockIdx.x * SPLIT + threadIdx.x;
  if (i >= n) return;
  r[i] = data[3 * threadIdx.x] - 128;
  g[i] = data[3 * threadIdx.x + 1] - 128;
  b[i] = data[3 * threadIdx.x + 2] - 128;
}

/* Index mirrored at the borders of 0..n-1. */
__host__ __device__ inline int mirror(int i, int n) {
  if (i < 0) i = -i;
  return i < n ? i : 2 * (n - 1) - i;
}

/* sx x sy pixels at row pitch `pitch`; bands go to out with the same pitch: LL | HL over LH | HH. */
__global__ void fdwt53(const int *in, int *out, int sx, int sy, int pitch) {
  /* Columns -2..WIN+1 of the window and rows -2..STEP+1: what lifting of the window's samples needs. */
  __shared__ int s[STEP + 4][WIN + 4];
  int x0 = blockIdx.x * WIN;
  for (int y0 = 0; y0 < sy; y0 += STEP) {
    for (int y = 0; y < STEP + 4; y++) {
      for (int x = threadIdx.x; x < WIN + 4; x += WIN)
        s[y][x] = in[mirror(min(y0 + y - 2, sy + 1), sy) * pitch + mirror(min(x0 + x - 2, sx + 1), sx)];
    }
    __syncthreads();
    /* Rows: odd samples are predicted from even neighbours, then even ones updated. */
    for (int i = threadIdx.x; i < (STEP + 4) * (WIN / 2 + 1); i += WIN) {
      int y = i / (WIN / 2 + 1), x = 2 * (i % (WIN / 2 + 1)) + 1;
      s[y][x] -= (s[y][x - 1] + s[y][x + 1]) >> 1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < (STEP + 4) * (WIN / 2); i += WIN) {
      int y = i / (WIN / 2), x = 2 * (i % (WIN / 2)) + 2;
      s[y][x] += (s[y][x - 1] + s[y][x + 1] + 2) >> 2;
    }
    __syncthreads();
    /* Columns: a thread lifts its own column of the window. */
    int x = threadIdx.x + 2;
    for (int y = 1; y < STEP + 3; y += 2) s[y][x] -= (s[y - 1][x] + s[y + 1][x]) >> 1;
    for (int y = 2; y < STEP + 2; y += 2) s[y][x] += (s[y - 1][x] + s[y + 1][x] + 2) >> 2;
    int gx = x0 + threadIdx.x;
    if (gx < sx)
      for (int y = 0; y < STEP && y0 + y < sy; y++) {
        int gy = y0 + y;
        out[((gy & 1) * ((sy + 1) / 2) + gy / 2) * pitch + (gx & 1) * ((sx + 1) / 2) + gx / 2] = s[y + 2][x];
      }
    __syncthreads();
  }
}

/* One line of n samples, `step` apart: lifted, then low band before high band. */
static void lift(int *v, size_t step, int n) {
  std::vector<int> t((size_t)n);
  for (int i = 0; i < n; i++) t[(size_t)i] = v[(size_t)i * step];
  auto at = [&](int i) -> int & { return t[(size_t)mirror(i, n)]; };
  for (int i = 1; i < n; i += 2) at(i) -= (at(i - 1) + at(i + 1)) >> 1;
  for (int i = 0; i < n; i += 2) at(i) += (at(i - 1) + at(i + 1) + 2) >> 2;
  for (int i = 0; i < n; i++) v[(size_t)((i & 1) * ((n + 1) / 2) + i / 2) * step] = t[(size_t)i];
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "dwt2d");
  int side = wl_int(&w, "side", wl_by_size(192, 464, 1024), 16, 4096, "pixels per side (made even at every level)");
  int levels = wl_int(&w, "levels", wl_by_size(2, 3, 3), 1, 8, "levels");
  wl_ready(&w);
  side = std::max(side >> levels, 2) << levels;

  uint64_t seed = w.seed;
  size_t n = (size_t)side * (size_t)side;
  std::vector<unsigned char> rgb(3 * n);
  for (size_t i = 0; i < rgb.size(); i++) { /* smooth areas with some noise, as in a photograph */
    size_t p = i / 3, x = p % (size_t)side, y = p / (size_t)side;
    rgb[i] = (unsigned char)(((x * 3 + y * (1 + i % 3)) / 8 + wl_below(&seed, 8)) & 255);
  }
  unsigned char *drgb = wl_upload(rgb);
  int *plane[3], *tmp = wl_alloc<int>(n);
  for (int c = 0; c < 3; c++) plane[c] = wl_alloc<int>(n);
  split_rgb<<<wl_blocks(n, SPLIT), SPLIT>>>(drgb, plane[0], plane[1], plane[2], (int)n);
  WL_LAUNCHED();
  struct wl_check chk = {};
  for (size_t c = 0; c < 3; c++) {
    for (int l = 0; l < levels; l++) {
      int s = side >> l;
      fdwt53<<<wl_blocks((size_t)s, WIN), WIN>>>(plane[c], tmp, s, s, side);
      WL_LAUNCHED();
      WL_CUDA(cudaMemcpy2D(plane[c], (size_t)side * 4, tmp, (size_t)side * 4, (size_t)s * 4, (size_t)s,
                           cudaMemcpyDeviceToDevice));
    }
    std::vector<int> want(n);
    for (size_t i = 0; i < n; i++) want[i] = rgb[3 * i + c] - 128;
    for (int l = 0; l < levels; l++) {
      int s = side >> l;
      for (size_t y = 0; y < (size_t)s; y++) lift(&want[y * (size_t)side], 1, s);
      for (size_t x = 0; x < (size_t)s; x++) lift(&want[x], (size_t)side, s);
    }
    wl_equal_all(&chk, "coefficient", wl_download(plane[c], n), want);
  }
  return wl_end(&w, &chk);
}
