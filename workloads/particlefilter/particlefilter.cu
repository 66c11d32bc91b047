/* particlefilter - tracking a disc through noisy frames with a particle filter
 *
 * Program: Rodinia particlefilter (float)
 * Suites: bucl=PTF tsc=particlefilter decoupled-l1d=PTF
 * Groups: bucl=un-coalesced tsc=cache-line-negative decoupled-l1d=cache-unfriendly
 * Algorithm: per frame: likelihood moves every particle by the motion model plus noise and scores the pixels of the
 *   disc around it, with a partial sum per CTA; sum adds the partial sums; normalize divides the weights, and one thread
 *   builds the cumulative distribution; find_index searches it linearly for each resampling point and copies the winner.
 * Loads: likelihood stores and reads the pixel numbers of particle i at ind[i * pixels + k] (degree 32, one word a line)
 *   and gathers bytes of the video, whose frames are interleaved pixel by pixel; find_index reads the distribution
 *   uniformly; the copy of the winner gathers. All numbers are double; a store may have changed what was read before.
 * Simplified: nothing of the structure; random numbers are the same per-particle congruential generator.
 */
#include "../common/wl.h"

#define THREADS 512
#define RADIUS 5

/* As to a compiler without analysis by types, a store of one type may have changed values of another. */
typedef double __attribute__((may_alias)) real;

__device__ double uniform(int *seed) {
  *seed = (int)(1103515245u * (unsigned)*seed + 12345u) % 2147483647;
  return fabs(*seed / 2147483647.0);
}
__device__ double gauss(int *seed) {
  double u = uniform(seed), v = uniform(seed);
  return sqrt(-2 * log(u + 1e-12)) * cos(2 * 3.14159265358979323846 * v);
}
/* A square as the original's pow() computes it: by way of the logarithm. */
__device__ double square(double x, double two) {
  return exp(two * log(fabs(x)));
}
/* Log of how much more likely a pixel is of the disc (228) than of the background (100). */
__device__ double evidence(const unsigned char *video, const int *ind, double two) {
  return (square((double)(video[*ind] - 100), two) - square((double)(video[*ind] - 228), two)) / 50.0;
}

struct filter {
  real *ax, *ay, *xj, *yj, *like, *cdf, *u, *weights, *partial;
  int *disc, *ind, *seed;
  const unsigned char *video;
  int n, pixels, side, frames;
};

__global__ void likelihood(filter f, int frame, double two) {
  __shared__ double buffer[THREADS];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < f.n) {
    f.ax[i] = f.xj[i];
    f.ay[i] = f.yj[i];
    f.weights[i] = 1 / (double)f.n;
    f.ax[i] = f.ax[i] + 1.0 + 5.0 * gauss(&f.seed[i]);
    f.ay[i] = f.ay[i] - 2.0 + 2.0 * gauss(&f.seed[i]);
  }
  __syncthreads();
  if (i < f.n) {
    for (int k = 0; k < f.pixels; k++) {
      int x = (int)f.ax[i] + f.disc[2 * k + 1], y = (int)f.ay[i] + f.disc[2 * k];
      f.ind[i * f.pixels + k] = abs((x * f.side + y) * f.frames + frame);
      if (f.ind[i * f.pixels + k] >= f.side * f.side * f.frames) f.ind[i * f.pixels + k] = 0;
    }
    double sum = 0;
    for (int k = 0; k < f.pixels; k++) sum += evidence(f.video, &f.ind[i * f.pixels + k], two);
    f.like[i] = sum;
    f.like[i] = f.like[i] / f.pixels;
    f.weights[i] = f.weights[i] * exp(f.like[i]);
  }
  buffer[threadIdx.x] = 0;
  __syncthreads();
  if (i < f.n) buffer[threadIdx.x] = f.weights[i];
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if ((int)threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) f.partial[blockIdx.x] = buffer[0];
}

__global__ void sum_partial(real *partial, int n) {
  if (blockIdx.x * blockDim.x + threadIdx.x == 0) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += partial[i];
    partial[0] = sum;
  }
}

/* The distribution is a running sum: one thread, as in the original. */
__global__ void normalize(filter f) {
  __shared__ double first, total;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) total = f.partial[0];
  __syncthreads();
  if (i < f.n) f.weights[i] = f.weights[i] / total;
  __syncthreads();
  if (i == 0) {
    f.cdf[0] = f.weights[0];
    for (int k = 1; k < f.n; k++) f.cdf[k] = f.weights[k] + f.cdf[k - 1];
    f.u[0] = 1 / (double)f.n * uniform(&f.seed[i]);
  }
  __syncthreads();
  if (threadIdx.x == 0) first = f.u[0];
  __syncthreads();
  if (i < f.n) f.u[i] = first + i / (double)f.n;
}

__global__ void find_index(filter f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= f.n) return;
  int index = -1;
  for (int x = 0; x < f.n; x++)
    if (f.cdf[x] >= f.u[i]) {
      index = x;
      break;
    }
  if (index == -1) index = f.n - 1;
  f.xj[i] = f.ax[index];
  f.yj[i] = f.ay[index];
}

/* normalize of several CTAs, which the original's do not order: its distribution may have weights that another CTA divides
 * afterwards, and its CTAs an old first point. `steps`: CTAs that have divided, and one more with the distribution. */
__global__ void normalize_in_order(filter f, int *steps) {
  __shared__ double first;
  int i = blockIdx.x * blockDim.x + threadIdx.x, least = (int)gridDim.x + (blockIdx.x != 0);
  double total = f.partial[0];
  if (i < f.n) f.weights[i] = f.weights[i] / total;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(steps, 1);
    while (*(volatile int *)steps < least) {
    }
    __threadfence();
    if (i == 0) {
      f.cdf[0] = f.weights[0];
      for (int k = 1; k < f.n; k++) f.cdf[k] = f.weights[k] + f.cdf[k - 1];
      f.u[0] = 1 / (double)f.n * uniform(&f.seed[i]);
      __threadfence();
      atomicAdd(steps, 1);
    }
    first = f.u[0];
  }
  __syncthreads();
  if (i < f.n) f.u[i] = first + i / (double)f.n;
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
  int n = wl_int(&w, "particles", wl_by_size(256, 512, 1000), 32, 1 << 18, "particles");
  int side = wl_int(&w, "side", wl_by_size(64, 64, 128), 32, 1024, "pixels per side of a frame");
  int frames = wl_int(&w, "frames", wl_by_size(2, 3, 10), 2, 100, "frames; the first is where all particles are");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<int> disc, rng((size_t)n);
  for (int y = -RADIUS + 1; y < RADIUS; y++)
    for (int x = -RADIUS + 1; x < RADIUS; x++)
      if (x * x + y * y < RADIUS * RADIUS) disc.insert(disc.end(), {y, x});
  int pixels = (int)disc.size() / 2;
  for (int &r : rng) r = (int)(wl_next(&seed) >> 33);
  size_t np = (size_t)n, size = (size_t)(side * side);
  std::vector<unsigned char> video(size * (size_t)frames);
  for (int t = 0; t < frames; t++) {
    std::vector<unsigned char> frame = frame_of(side, t, disc, &seed);
    for (size_t i = 0; i < size; i++) video[i * (size_t)frames + (size_t)t] = frame[i];
  }
  std::vector<real> start(np, (double)side / 2);
  unsigned grid = wl_blocks(np, THREADS);
  filter f = {wl_alloc<real>(np),
              wl_alloc<real>(np),
              wl_upload(start),
              wl_upload(start),
              wl_alloc<real>(np),
              wl_alloc<real>(np),
              wl_alloc<real>(np),
              wl_alloc<real>(np),
              wl_alloc<real>(grid),
              wl_upload(disc),
              wl_alloc<int>(np * (size_t)pixels),
              wl_upload(rng),
              wl_upload(video),
              n,
              pixels,
              side,
              frames};

  struct wl_check chk = {};
  for (int t = 1; t < frames; t++) {
    likelihood<<<grid, THREADS>>>(f, t, 2.0);
    sum_partial<<<grid, THREADS>>>(f.partial, (int)grid);
    if (grid == 1) normalize<<<grid, THREADS>>>(f);
    else normalize_in_order<<<grid, THREADS>>>(f, wl_zeros<int>(1));
    find_index<<<grid, THREADS>>>(f);
    WL_LAUNCHED();

    /* Each stage is checked from the device's own input to it, so that rounding cannot change a decision. */
    std::vector<real> ax = wl_download(f.ax, np), ay = wl_download(f.ay, np), like = wl_download(f.like, np),
                      cdf = wl_download(f.cdf, np), u = wl_download(f.u, np), xj = wl_download(f.xj, np);
    double total = 0, running = 0, mx = 0;
    std::vector<double> weight(np);
    for (size_t i = 0; i < np; i++) {
      double sum = 0;
      for (int k = 0; k < pixels; k++) {
        int x = (int)ax[i] + disc[(size_t)(2 * k + 1)], y = (int)ay[i] + disc[(size_t)(2 * k)],
            at = abs((x * side + y) * frames + t);
        double p = video[at < side * side * frames ? (size_t)at : 0];
        sum += ((p - 100) * (p - 100) - (p - 228) * (p - 228)) / 50.0;
      }
      wl_near(&chk, "likelihood", i, like[i], sum / pixels, 1e-9);
      total += weight[i] = exp(like[i]);
    }
    for (size_t i = 0; i < np; i++) {
      running += weight[i] / total;
      wl_near(&chk, "distribution", i, cdf[i], running, 1e-9);
      size_t at = 0;
      while (at < np && cdf[at] < u[i]) at++;
      at = std::min(at, np - 1);
      wl_that(&chk, xj[i] == ax[at], "the first particle above the resampling point is copied");
      mx += xj[i] / (double)n;
    }
    printf("frame %d: mean x %.2f, the disc is at %d\n", t, mx, side / 2 + t);
  }
  return wl_end(&w, &chk);
}
