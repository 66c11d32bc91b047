/* kmeans - k-means clustering
 *
 * Program: Rodinia kmeans, in the form that the cache papers use (features in global memory, not in a texture)
 * Suites: bucl=KMN tsc=kmeans
 * Groups: bucl=un-coalesced tsc=cache-line-negative
 * Algorithm: Lloyd's iteration. invert_mapping transposes the points from row-major to column-major, one thread per
 *   point; kmeans_point finds the nearest centre of one point per thread; the host averages the members of each cluster
 *   and launches again until no point moves.
 * Loads: a thread walks its own row of nfeatures floats, so a warp's load touches 32 lines (degree 32) in both kernels;
 *   the centres are read by all lanes at one address (degree 1). A row's next 31 loads hit its line if it survives.
 * Simplified: --layout 1 makes kmeans_point read the transposed array, coalesced, as Rodinia's texture version does.
 *   Centres are in global memory in both.
 */
#include "../common/wl.h"

__global__ void invert_mapping(const float *input, float *output, int npoints, int nfeatures) {
  int point = threadIdx.x + blockDim.x * blockIdx.x;
  if (point < npoints)
    for (int i = 0; i < nfeatures; i++) output[point + npoints * i] = input[point * nfeatures + i];
}

/* Element j of a point is at point * point_step + j * feature_step. */
__global__ void kmeans_point(const float *features, int point_step, int feature_step, int nfeatures, int npoints,
                             int nclusters, int *membership, const float *clusters, int *moved) {
  int point = threadIdx.x + blockDim.x * blockIdx.x;
  if (point >= npoints) return;
  int nearest = -1;
  float least = 3.402823466e38f;
  for (int c = 0; c < nclusters; c++) {
    float sum = 0;
    for (int j = 0; j < nfeatures; j++) {
      float d = features[point * point_step + j * feature_step] - clusters[c * nfeatures + j];
      sum += d * d;
    }
    if (sum < least) {
      least = sum;
      nearest = c;
    }
  }
  if (membership[point] != nearest) {
    membership[point] = nearest;
    atomicAdd(moved, 1);
  }
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
  int n = wl_int(&w, "points", wl_by_size(2048, 16384, 262144), 32, 1 << 22, "points to cluster");
  int nf = wl_int(&w, "features", wl_by_size(34, 34, 34), 1, 256, "numbers per point");
  int k = wl_int(&w, "clusters", wl_by_size(5, 5, 5), 1, 64, "clusters to find");
  int rounds = wl_int(&w, "rounds", wl_by_size(2, 3, 6), 1, 1000, "most iterations");
  int layout = wl_int(&w, "layout", wl_by_size(0, 0, 0), 0, 1, "0 row-major point kernel, 1 column-major");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<float> x((size_t)(n * nf)), c((size_t)(k * nf)), truth((size_t)(k * nf));
  for (float &v : truth) v = wl_range(&seed, 0, 10);
  for (int p = 0; p < n; p++) {
    int t = (int)wl_below(&seed, (uint32_t)k);
    for (int j = 0; j < nf; j++) x[(size_t)(p * nf + j)] = truth[(size_t)(t * nf + j)] + wl_normal(&seed);
  }
  for (size_t i = 0; i < c.size(); i++) c[i] = x[i];

  float *dx = wl_upload(x), *dt = wl_alloc<float>(x.size()), *dc = wl_upload(c);
  int *dm = wl_upload(std::vector<int>((size_t)n, -1)), *dmoved = wl_alloc<int>(1);
  unsigned grid = wl_blocks((size_t)n, 256);
  invert_mapping<<<grid, 256>>>(dx, dt, n, nf);
  WL_LAUNCHED();

  struct wl_check chk = {};
  for (int r = 0, moved = 1; r < rounds && moved; r++) {
    wl_put(dc, c);
    wl_set(dmoved, 0);
    if (layout == 0) kmeans_point<<<grid, 256>>>(dx, nf, 1, nf, n, k, dm, dc, dmoved);
    else kmeans_point<<<grid, 256>>>(dt, 1, n, nf, n, k, dm, dc, dmoved);
    WL_LAUNCHED();
    moved = wl_get(dmoved);
    std::vector<int> member = wl_download(dm, (size_t)n);
    for (int m : member) wl_that(&chk, m >= 0 && m < k, "every point has a cluster");
    if (chk.wrong) return wl_end(&w, &chk);
    check_members(&chk, x, c, member, n, nf);
    printf("iteration %d: %d points moved\n", r + 1, moved);
    centres_of(x, member, n, nf, &c);
  }
  std::vector<float> t = wl_download(dt, x.size());
  for (int p = 0; p < n; p++)
    for (int j = 0; j < nf; j++)
      wl_that(&chk, t[(size_t)(j * n + p)] == x[(size_t)(p * nf + j)], "the array is transposed");
  return wl_end(&w, &chk);
}
