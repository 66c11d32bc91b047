/* dwt2d - two-dimensional discrete wavelet transform of a colour image
 *
 * Program: Rodinia dwt2d
 * Suites: tsc=dwt2d sharing=dwt2d
 * Groups: tsc=cache-line-positive
 * Algorithm: the RGB bytes are split into three planes through shared memory; the reversible 5/3 transform is applied
 *   to each plane, level by level: a CTA owns 64 to 192 columns and slides down a fifteenth of the image in windows of 8
 *   rows, lifting rows in shared memory and columns in registers, and writing the four bands.
 * Loads: windows are read row by row, coalesced, and a halo of three columns that neighbouring CTAs read too; the split
 *   reads the bytes of three interleaved colours as words. Levels shrink, so later launches are short.
 * Simplified: forward 5/3 only.
 */
#include "../common/wl.h"

#define STEP 8
#define AHEAD 3 /* rows of a window that the next one needs, too */
#define SPLIT 256

__global__ void split_rgb(const unsigned *src, int *r, int *g, int *b, int n) {
  __shared__ unsigned words[SPLIT * 3 / 4];
  int x = threadIdx.x, i = blockIdx.x * SPLIT + x;
  if (4 * x < SPLIT * 3) words[x] = src[blockIdx.x * (SPLIT * 3 / 4) + x];
  __syncthreads();
  const unsigned char *data = (const unsigned char *)words;
  if (i >= n) return;
  r[i] = data[3 * x] - 128;
  g[i] = data[3 * x + 1] - 128;
  b[i] = data[3 * x + 2] - 128;
}

/* Index mirrored at the borders of 0..n-1. */
__host__ __device__ inline int mirror(int i, int n) {
  if (i < 0) i = -i;
  return i < n ? i : 2 * (n - 1) - i;
}

/* sx x sy pixels at row pitch `pitch`; bands go to out with the same pitch: LL | HL over LH | HH. A CTA has W threads. */
template <int W> __global__ void fdwt53(const int *in, int *out, int sx, int sy, int pitch, int windows) {
  /* Columns -2..W and rows -2..STEP of the window: what lifting of its samples needs. */
  __shared__ int s[STEP + AHEAD][W + 3];
  int tx = threadIdx.x, x0 = blockIdx.x * W, y0 = blockIdx.y * windows * STEP;
  int column = mirror(min(x0 + tx, sx + 1), sx), edge = tx < 2 ? tx : W + 2;
  int edge_column = mirror(min(x0 + edge - 2, sx + 1), sx);
  int pair = tx % (W / 2), parity = tx / (W / 2);
  for (int k = 0; k < windows && y0 < sy; k++, y0 += STEP) {
    int kept = k ? AHEAD : 0;
    if (kept) {
      for (int y = 0; y < AHEAD; y++) s[y][tx + 2] = s[y + STEP][tx + 2];
      __syncthreads();
    }
    for (int y = kept; y < STEP + AHEAD; y++) {
      const int *row = in + mirror(min(y0 + y - 2, sy + 1), sy) * pitch;
      s[y][tx + 2] = row[column];
      if (tx < AHEAD) s[y][edge] = row[edge_column];
    }
    __syncthreads();
    /* Rows: odd samples are predicted from even neighbours, then even ones updated. */
    for (int y = kept + parity; y < STEP + AHEAD; y += 2) {
      int x = 2 * pair + 1;
      s[y][x] -= (s[y][x - 1] + s[y][x + 1]) >> 1;
      if (pair == 0) s[y][W + 1] -= (s[y][W] + s[y][W + 2]) >> 1;
    }
    __syncthreads();
    for (int y = kept + parity; y < STEP + AHEAD; y += 2) {
      int x = 2 * pair + 2;
      s[y][x] += (s[y][x - 1] + s[y][x + 1] + 2) >> 2;
    }
    __syncthreads();
    /* Columns: a thread lifts one, the first half of the CTA those of the low band. */
    int v[STEP + AHEAD], c = 2 * pair + parity;
#pragma unroll
    for (int y = 0; y < STEP + AHEAD; y++) v[y] = s[y][c + 2];
#pragma unroll
    for (int y = 1; y < STEP + 2; y += 2) v[y] -= (v[y - 1] + v[y + 1]) >> 1;
#pragma unroll
    for (int y = 2; y < STEP + 2; y += 2) v[y] += (v[y - 1] + v[y + 1] + 2) >> 2;
    int *to = out + parity * ((sx + 1) / 2) + (x0 + c) / 2;
    if (x0 + c < sx)
#pragma unroll
      for (int y = 0; y < STEP; y++)
        if (y0 + y < sy) to[((y & 1) * ((sy + 1) / 2) + (y0 + y) / 2) * pitch] = v[y + 2];
    __syncthreads();
  }
}

/* Wider windows for larger images, and fifteen CTAs from top to bottom. */
static void transform(const int *in, int *out, int side, int pitch) {
  int windows = ((side + STEP - 1) / STEP + 14) / 15;
  int width = side >= 960 ? 192 : side >= 480 ? 128 : 64;
  dim3 grid(wl_blocks((size_t)side, (unsigned)width), wl_blocks((size_t)side, (unsigned)(windows * STEP)));
  if (width == 192) fdwt53<192><<<grid, 192>>>(in, out, side, side, pitch, windows);
  else if (width == 128) fdwt53<128><<<grid, 128>>>(in, out, side, side, pitch, windows);
  else fdwt53<64><<<grid, 64>>>(in, out, side, side, pitch, windows);
  WL_LAUNCHED();
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
  int side = wl_int(&w, "side", wl_by_size(192, 512, 1024), 16, 4096, "pixels per side (made even at every level)");
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
  rgb.resize((rgb.size() + SPLIT * 3 - 1) / (SPLIT * 3) * (SPLIT * 3));
  unsigned *drgb = (unsigned *)wl_upload(rgb);
  int *plane[3], *tmp = wl_alloc<int>(n);
  for (int c = 0; c < 3; c++) plane[c] = wl_alloc<int>(n);
  split_rgb<<<wl_blocks(n, SPLIT), SPLIT>>>(drgb, plane[0], plane[1], plane[2], (int)n);
  WL_LAUNCHED();
  struct wl_check chk = {};
  for (size_t c = 0; c < 3; c++) {
    for (int l = 0; l < levels; l++) {
      int s = side >> l;
      transform(plane[c], tmp, s, side);
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
