/* heartwall - following points of the heart's wall through an ultrasound video
 *
 * Program: Rodinia heartwall
 * Suites: decoupled-l1d=HT
 * Groups: decoupled-l1d=cache-friendly
 * Algorithm: per frame one launch with one CTA per point: cut the search window out of the frame, correlate it with the
 *   point's template by direct convolution, normalise by running sums of the window, find the maximum, move the point
 *   and blend the template.
 * Loads: the convolution rereads window and template from global memory, column by column
 *   (degree 1 to 2, nearly always reused within the CTA: the working set of a point is tens of kilobytes); each step of
 *   the pipeline writes its result to global memory for the next.
 * Simplified: windows of 41 x 41 and templates of 25 x
 *   25; sums per window directly rather than through cumulative arrays.
 */
#include "../common/wl.h"

#define T 25 /* side of a template */
#define S 17 /* side of the search area */
#define W (T + S - 1)
#define THREADS 256

struct point_data {
  float *window, *conv, *temp, *score; /* W*W, S*S, T*T, S*S per point */
  int *row, *col;                      /* where the window's centre is */
};

__global__ void track(const float *frame, int rows, int cols, struct point_data d, int blend) {
  int p = blockIdx.x, tx = threadIdx.x;
  float *window = d.window + p * W * W, *conv = d.conv + p * S * S, *temp = d.temp + p * T * T,
        *score = d.score + p * S * S;
  int row = d.row[p], col = d.col[p];
  for (int e = tx; e < W * W; e += THREADS) {
    int y = row - W / 2 + e % W, x = col - W / 2 + e / W;
    window[e] = y >= 0 && y < rows && x >= 0 && x < cols ? frame[x * rows + y] : 0;
  }
  __syncthreads();
  float sum_t = 0, sum_t2 = 0;
  for (int e = 0; e < T * T; e++) {
    sum_t += temp[e];
    sum_t2 += temp[e] * temp[e];
  }
  for (int e = tx; e < S * S; e += THREADS) {
    int y0 = e % S, x0 = e / S;
    float s = 0;
    for (int x = 0; x < T; x++)
      for (int y = 0; y < T; y++) s += window[(x0 + x) * W + y0 + y] * temp[x * T + y];
    conv[e] = s;
  }
  __syncthreads();
  for (int e = tx; e < S * S; e += THREADS) {
    int y0 = e % S, x0 = e / S;
    float s = 0, s2 = 0;
    for (int x = 0; x < T; x++)
      for (int y = 0; y < T; y++) {
        float v = window[(x0 + x) * W + y0 + y];
        s += v;
        s2 += v * v;
      }
    float n = T * T, var = (s2 - s * s / n) * (sum_t2 - sum_t * sum_t / n);
    score[e] = (conv[e] - s * sum_t / n) / sqrtf(fmaxf(var, 1e-12f));
  }
  __shared__ float best[THREADS];
  __shared__ int where[THREADS];
  best[tx] = -2;
  where[tx] = 0;
  for (int e = tx; e < S * S; e += THREADS)
    if (score[e] > best[tx]) {
      best[tx] = score[e];
      where[tx] = e;
    }
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (tx < s && (best[tx + s] > best[tx] || (best[tx + s] == best[tx] && where[tx + s] < where[tx]))) {
      best[tx] = best[tx + s];
      where[tx] = where[tx + s];
    }
    __syncthreads();
  }
  int y0 = where[0] % S, x0 = where[0] / S;
  if (tx == 0) {
    d.row[p] = row + y0 - S / 2;
    d.col[p] = col + x0 - S / 2;
  }
  if (blend)
    for (int e = tx; e < T * T; e += THREADS) temp[e] = 0.95f * temp[e] + 0.05f * window[(x0 + e / T) * W + y0 + e % T];
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "heartwall");
  int points = wl_int(&w, "points", wl_by_size(8, 24, 51), 1, 1024, "points followed");
  int frames = wl_int(&w, "frames", wl_by_size(1, 2, 10), 1, 100, "frames");
  int rows = wl_int(&w, "rows", wl_by_size(320, 512, 656), 100, 2048, "rows of a frame");
  int cols = wl_int(&w, "columns", wl_by_size(320, 512, 744), 100, 2048, "columns of a frame");
  wl_ready(&w);

  /* A smooth random texture that moves by (2, -1) a frame: tracking must find just that. */
  uint64_t seed = w.seed;
  size_t np = (size_t)points, n = (size_t)rows * (size_t)cols;
  std::vector<float> noise(n), base(n);
  for (float &v : noise) v = wl_unit(&seed);
  for (int x = 0; x < cols; x++)
    for (int y = 0; y < rows; y++) {
      float s = 0;
      for (int k = 0; k < 9; k++) s += noise[(size_t)((x + k / 3) % cols * rows + (y + k % 3) % rows)];
      base[(size_t)(x * rows + y)] = s / 9;
    }
  std::vector<int> row(np), col(np);
  std::vector<float> temp(np * T * T);
  for (size_t p = 0; p < np; p++) {
    row[p] = W + (int)wl_below(&seed, (uint32_t)(rows - 2 * W));
    col[p] = W + (int)wl_below(&seed, (uint32_t)(cols - 2 * W));
    for (int e = 0; e < T * T; e++)
      temp[p * T * T + (size_t)e] = base[(size_t)((col[p] - T / 2 + e / T) * rows + row[p] - T / 2 + e % T)];
  }
  struct point_data d = {wl_alloc<float>(np * W * W),
                         wl_alloc<float>(np * S * S),
                         wl_upload(temp),
                         wl_alloc<float>(np * S * S),
                         wl_upload(row),
                         wl_upload(col)};
  float *dframe = wl_alloc<float>(n);
  struct wl_check chk = {};
  for (int f = 1; f <= frames; f++) {
    std::vector<float> frame(n);
    for (int x = 0; x < cols; x++)
      for (int y = 0; y < rows; y++)
        frame[(size_t)(x * rows + y)] = base[(size_t)((x + f + cols) % cols * rows + (y - 2 * f + rows) % rows)];
    wl_put(dframe, frame);
    track<<<(unsigned)points, THREADS>>>(dframe, rows, cols, d, 1);
    WL_LAUNCHED();
    std::vector<int> r = wl_download(d.row, np), c = wl_download(d.col, np);
    for (size_t p = 0; p < np; p++) {
      wl_near(&chk, "row", p, r[p], row[p] + 2 * f, 1e-9);
      wl_near(&chk, "column", p, c[p], col[p] - f, 1e-9);
    }
    std::vector<float> conv = wl_download(d.conv, np * S * S), window = wl_download(d.window, np * W * W);
    for (size_t p = 0; f == 1 && p < np; p++)
      for (size_t e = 0; e < S * S; e++) {
        double s = 0;
        for (size_t x = 0; x < T; x++)
          for (size_t y = 0; y < T; y++)
            s += (double)window[p * W * W + (e / S + x) * W + e % S + y] * temp[p * T * T + x * T + y];
        wl_near(&chk, "convolution", p * S * S + e, conv[p * S * S + e], s, 1e-4);
      }
  }
  return wl_end(&w, &chk);
}
