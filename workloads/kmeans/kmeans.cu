/* kmeans - k-means clustering
 *
 * Program: Rodinia kmeans
 * Suites: bucl=KMN tsc=kmeans
 * Groups: bucl=un-coalesced tsc=cache-line-negative
 * Algorithm: Lloyd's iteration. invert_mapping transposes the points from row-major to column-major, one thread per
 *   point; kmeans_point finds the nearest centre of one point per thread; the host averages the members of each cluster
 *   and launches again until no point moves.
 * Loads: in invert_mapping a thread walks its own row of numbers, so a warp's load touches 32 lines (degree 32), of which
 *   the next 31 loads hit what survives. kmeans_point reads the transposed points through a texture, coalesced, and the
 *   centres from constant memory.
 * Simplified: a texture object where the original binds a reference; the points are generated around as many centres as are searched.
 */
#include "../common/wl.h"

#define MOST_CENTRES 8192 /* numbers of all centres, in constant memory */
#define THREADS 256

__constant__ float c_centres[MOST_CENTRES];

__global__ void invert_mapping(float *input, float *output, int npoints, int nfeatures) {
  int point = threadIdx.x + blockDim.x * blockIdx.x;
  if (point >= npoints) return;
#pragma unroll 4
  for (int i = 0; i < nfeatures; i++) output[point + npoints * i] = input[point * nfeatures + i];
}

/* Square of the difference of a point's number at `at` and a centre's at `of`. */
__device__ static float apart(cudaTextureObject_t points, int at, int of) {
  float d = tex1Dfetch<float>(points, at) - c_centres[of];
  return d * d;
}

/* The grid is a square, as large as needed or a little larger. */
__global__ void kmeans_point(cudaTextureObject_t points, int nfeatures, int npoints, int nclusters, int *membership) {
  int point = (gridDim.x * blockIdx.y + blockIdx.x) * blockDim.x + threadIdx.x;
  if (point >= npoints) return;
  int nearest = -1;
  float least = 3.402823466e38f;
  for (int c = 0; c < nclusters; c++) {
    float sum = 0;
    int at = point, of = c * nfeatures, last = of + nfeatures;
    for (; of + 4 <= last; of += 4, at += 4 * npoints) { /* by fours, which no compiler does for fetches */
      sum += apart(points, at, of);
      sum += apart(points, at + npoints, of + 1);
      sum += apart(points, at + 2 * npoints, of + 2);
      sum += apart(points, at + 3 * npoints, of + 3);
    }
    for (; of < last; of++, at += npoints) sum += apart(points, at, of);
    if (sum < least) {
      least = sum;
      nearest = c;
    }
  }
  membership[point] = nearest;
}

/* New centres: the mean of each cluster's members; an empty cluster stays where it is. */
static void centres_of(const std::vector<float> &x, const std::vector<int> &member, int n, int nf,
                       std::vector<float> *c) {
  size_t k = c->size() / (size_t)nf;
  std::vector<double> sum(c->size(), 0);
  std::vector<int> count(k, 0);
  for (int p = 0; p < n; p++) {
    count[(size_t)member[p]]++;
    for (int j = 0; j < nf; j++) sum[(size_t)(member[p] * nf + j)] += x[(size_t)(p * nf + j)];
  }
  for (size_t i = 0; i < c->size(); i++)
    if (count[i / (size_t)nf]) (*c)[i] = (float)(sum[i] / count[i / (size_t)nf]);
}

/* The member of a point must be its nearest centre, or as near within rounding. */
static void check_members(struct wl_check *chk, const std::vector<float> &x, const std::vector<float> &c,
                          const std::vector<int> &member, int n, int nf) {
  int k = (int)c.size() / nf;
  for (int p = 0; p < n; p++) {
    double best = 1e300, mine = 1e300;
    for (int i = 0; i < k; i++) {
      double d = 0;
      for (int j = 0; j < nf; j++) d += pow((double)x[(size_t)(p * nf + j)] - c[(size_t)(i * nf + j)], 2);
      best = std::min(best, d);
      if (i == member[(size_t)p]) mine = d;
    }
    wl_near(chk, "distance", (size_t)p, mine, best, 1e-5);
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "kmeans");
  int n = wl_int(&w, "points", wl_by_size(2048, 8192, 262144), 32, 1 << 22, "points to cluster");
  int nf = wl_int(&w, "features", wl_by_size(34, 34, 34), 1, 256, "numbers per point");
  int k = wl_int(&w, "clusters", wl_by_size(5, 5, 5), 1, 32, "clusters to find");
  int rounds = wl_int(&w, "rounds", wl_by_size(2, 2, 6), 1, 1000, "most iterations");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<float> x((size_t)(n * nf)), c((size_t)(k * nf)), truth((size_t)(k * nf));
  for (float &v : truth) v = wl_range(&seed, 0, 10);
  for (int p = 0; p < n; p++) {
    int t = (int)wl_below(&seed, (uint32_t)k);
    for (int j = 0; j < nf; j++) x[(size_t)(p * nf + j)] = truth[(size_t)(t * nf + j)] + wl_normal(&seed);
  }
  for (size_t i = 0; i < c.size(); i++) c[i] = x[i];

  float *dx = wl_upload(x), *dt = wl_alloc<float>(x.size());
  unsigned side = 1;
  while (side * side < wl_blocks((size_t)n, THREADS)) side++;
  invert_mapping<<<side * side, THREADS>>>(dx, dt, n, nf);
  WL_LAUNCHED();
  struct cudaResourceDesc where = {};
  where.resType = cudaResourceTypeLinear;
  where.res.linear.devPtr = dt;
  where.res.linear.desc = cudaCreateChannelDesc<float>();
  where.res.linear.sizeInBytes = x.size() * sizeof(float);
  struct cudaTextureDesc how = {};
  cudaTextureObject_t points;
  WL_CUDA(cudaCreateTextureObject(&points, &where, &how, NULL));
  int *dm = wl_alloc<int>((size_t)n);

  struct wl_check chk = {};
  std::vector<int> before((size_t)n, -1);
  for (int r = 0, moved = 1; r < rounds && moved; r++) {
    WL_CUDA(cudaMemcpyToSymbol(c_centres, c.data(), c.size() * sizeof(float)));
    kmeans_point<<<dim3(side, side), THREADS>>>(points, nf, n, k, dm);
    WL_LAUNCHED();
    std::vector<int> member = wl_download(dm, (size_t)n);
    for (int m : member) wl_that(&chk, m >= 0 && m < k, "every point has a cluster");
    if (chk.wrong) return wl_end(&w, &chk);
    check_members(&chk, x, c, member, n, nf);
    moved = 0;
    for (size_t p = 0; p < member.size(); p++) moved += member[p] != before[p];
    printf("iteration %d: %d points moved\n", r + 1, moved);
    centres_of(x, member, n, nf, &c);
    before = member;
  }
  std::vector<float> t = wl_download(dt, x.size());
  for (int p = 0; p < n; p++)
    for (int j = 0; j < nf; j++)
      wl_that(&chk, t[(size_t)(j * n + p)] == x[(size_t)(p * nf + j)], "the array is transposed");
  return wl_end(&w, &chk);
}
