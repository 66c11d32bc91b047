/* particlefilter - tracking a disc through noisy frames with a particle filter
 *
 * Program: Rodinia particlefilter (float)
 * Suites: bucl=PTF tsc=particlefilter decoupled-l1d=PTF
 * Groups: bucl=un-coalesced tsc=cache-line-negative decoupled-l1d=cache-unfriendly
 * Algorithm: per frame: likelihood moves every particle by the motion model plus noise and scores the pixels of the
 *   disc around it, with a partial sum per CTA; sum adds the partial sums; normalize divides the weights, and one thread
 *   builds the cumulative distribution; find_index searches it linearly for each resampling point and copies the
 *   winner.
 * Loads: likelihood stores and reads the pixel numbers of particle i at ind[i * pixels + k] (degree 32, one
 *   word a line) and gathers the frame's bytes at them; find_index reads the distribution uniformly; the copy of the
 *   winner gathers.
 * Simplified: nothing of the structure; random numbers are the same per-particle congruential
 *   generator.
 */
#include "../common/wl.h"

#define THREADS 512
#define RADIUS 5

__device__ float uniform(int *seed) {
  int num = (int)(1103515245u * (unsigned)*seed + 12345u);
  *seed = num;
  return fabsf((float)num / 2147483648.0f);
}
__device__ float gauss(int *seed) {
  float u = uniform(seed), v = uniform(seed);
  return sqrtf(-2 * __logf(u + 1e-7f)) * __cosf(6.2831853f * v);
}

__global__ void likelihood(float *ax, float *ay, const float *xj, const float *yj, float *like, const int *disc,
                           int pixels, int *ind, int *seed, float *weights, float *partial, const unsigned char *frame,
                           int side, int n) {
  __shared__ float buffer[THREADS];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  buffer[threadIdx.x] = 0;
  if (i < n) {
    ax[i] = xj[i] + 1.0f + 5.0f * gauss(&seed[i]);
    ay[i] = yj[i] - 2.0f + 2.0f * gauss(&seed[i]);
    for (int k = 0; k < pixels; k++) {
      int x = (int)rintf(ax[i]) + disc[2 * k + 1], y = (int)rintf(ay[i]) + disc[2 * k];
      int at = abs(x * side + y);
      ind[i * pixels + k] = at < side * side ? at : 0;
    }
    float sum = 0;
    for (int k = 0; k < pixels; k++) {
      float p = frame[ind[i * pixels + k]];
      sum += ((p - 100) * (p - 100) - (p - 228) * (p - 228)) / 50.0f;
    }
    like[i] = sum / (float)pixels - 300.0f;
    weights[i] = weights[i] * expf(like[i] * 0.01f);
    buffer[threadIdx.x] = weights[i];
  }
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if ((int)threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = buffer[0];
}

__global__ void sum_partial(float *partial, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += partial[i];
    partial[0] = sum;
  }
}

__global__ void normalize(float *weights, const float *partial, float *u, float u1, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) weights[i] /= partial[0];
  if (i < n) u[i] = u1 + (float)i / (float)n;
}
/* The distribution is a running sum: one thread, as in the original. */
__global__ void accumulate(const float *weights, float *cdf, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; i++) cdf[i] = sum += weights[i];
  }
}

__global__ void find_index(const float *ax, const float *ay, const float *cdf, const float *u, float *xj, float *yj,
                           float *weights, int *chosen, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int index = -1;
  for (int x = 0; x < n; x++)
    if (cdf[x] >= u[i]) {
      index = x;
      break;
    }
  if (index == -1) index = n - 1;
  xj[i] = ax[index];
  yj[i] = ay[index];
  weights[i] = 1.0f / (float)n;
  chosen[i] = index;
}

/* The disc drifts by (1, -2) a frame over a background of 100 with noise. */
static std::vector<unsigned char> frame_of(int side, int t, const std::vector<int> &disc, uint64_t *seed) {
  std::vector<unsigned char> f((size_t)(side * side));
  for (unsigned char &p : f) p = (unsigned char)(100 + (int)wl_below(seed, 11) - 5);
  for (size_t k = 0; k < disc.size() / 2; k++) {
    int x = side / 2 + t + disc[2 * k + 1], y = side / 2 - 2 * t + disc[2 * k];
    if (x >= 0 && x < side && y >= 0 && y < side)
      f[(size_t)(x * side + y)] = (unsigned char)(228 + wl_below(seed, 11) - 5);
  }
  return f;
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "particlefilter");
  int n = wl_int(&w, "particles", wl_by_size(1024, 1024, 8192), 32, 1 << 18, "particles");
  int side = wl_int(&w, "side", wl_by_size(128, 128, 256), 32, 1024, "pixels per side of a frame");
  int frames = wl_int(&w, "frames", wl_by_size(2, 10, 20), 1, 100, "frames");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<int> disc, rng((size_t)n);
  for (int y = -RADIUS; y <= RADIUS; y++)
    for (int x = -RADIUS; x <= RADIUS; x++)
      if (x * x + y * y < RADIUS * RADIUS) disc.insert(disc.end(), {y, x});
  int pixels = (int)disc.size() / 2;
  for (int &r : rng) r = (int)(wl_next(&seed) >> 33);
  size_t np = (size_t)n;
  std::vector<float> start(np, (float)side / 2), even(np, 1.0f / (float)n);
  float *dax = wl_alloc<float>(np), *day = wl_alloc<float>(np), *dxj = wl_upload(start), *dyj = wl_upload(start);
  float *dlike = wl_alloc<float>(np), *dcdf = wl_alloc<float>(np), *du = wl_alloc<float>(np), *dw = wl_upload(even);
  int *ddisc = wl_upload(disc), *dind = wl_alloc<int>(np * (size_t)pixels), *dseed = wl_upload(rng),
      *dchosen = wl_alloc<int>(np);
  unsigned char *dframe = wl_alloc<unsigned char>((size_t)(side * side));
  unsigned grid = wl_blocks(np, THREADS);
  float *dpart = wl_alloc<float>(grid);

  struct wl_check chk = {};
  for (int t = 1; t <= frames; t++) {
    std::vector<unsigned char> frame = frame_of(side, t, disc, &seed);
    wl_put(dframe, frame);
    likelihood<<<grid, THREADS>>>(dax, day, dxj, dyj, dlike, ddisc, pixels, dind, dseed, dw, dpart, dframe, side, n);
    WL_LAUNCHED();
    std::vector<float> ax = wl_download(dax, np), ay = wl_download(day, np), like = wl_download(dlike, np);
    sum_partial<<<1, THREADS>>>(dpart, (int)grid);
    normalize<<<grid, THREADS>>>(dw, dpart, du, 0.5f / (float)n, n);
    accumulate<<<1, 32>>>(dw, dcdf, n);
    find_index<<<grid, THREADS>>>(dax, day, dcdf, du, dxj, dyj, dw, dchosen, n);
    WL_LAUNCHED();

    /* Each stage is checked from the device's own input to it, so that rounding cannot change a decision. */
    std::vector<float> cdf = wl_download(dcdf, np), u = wl_download(du, np), xj = wl_download(dxj, np);
    std::vector<int> chosen = wl_download(dchosen, np);
    double total = 0, running = 0, mx = 0;
    std::vector<double> weight(np);
    for (size_t i = 0; i < np; i++) {
      double sum = 0;
      for (int k = 0; k < pixels; k++) {
        int x = (int)rintf(ax[i]) + disc[(size_t)(2 * k + 1)], y = (int)rintf(ay[i]) + disc[(size_t)(2 * k)],
            at = abs(x * side + y);
        double p = frame[at < side * side ? (size_t)at : 0];
        sum += ((p - 100) * (p - 100) - (p - 228) * (p - 228)) / 50.0;
      }
      wl_near(&chk, "likelihood", i, like[i], sum / pixels - 300, 1e-3);
      total += weight[i] = exp((double)like[i] * 0.01);
    }
    for (size_t i = 0; i < np; i++) {
      running += weight[i] / total;
      wl_near(&chk, "distribution", i, cdf[i], running, 2e-3);
      size_t at = 0;
      while (at < np && cdf[at] < u[i]) at++;
      at = std::min(at, np - 1);
      wl_that(&chk, chosen[i] == (int)at && xj[i] == ax[at], "the first particle above the resampling point is copied");
      mx += xj[i] / (double)n;
    }
    printf("frame %d: mean x %.2f, the disc is at %d\n", t, mx, side / 2 + t);
  }
  return wl_end(&w, &chk);
}
