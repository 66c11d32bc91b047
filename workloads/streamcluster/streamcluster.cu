/* streamcluster - online clustering: what opening one more centre would gain
 *
 * Program: Rodinia streamcluster
 * Suites: tsc=streamcluster medic=SC sharing=streamcluster
 * Groups: tsc=cache-line-positive medic=all-miss
 * Algorithm: the host proposes centres one by one; compute_cost finds for every point whether the proposed centre is
 *   nearer than its own, and adds what it would save to the row of its centre in a work table; the host decides,
 *   reassigns and proposes the next. One launch per proposal, with the table zeroed before.
 * Loads: coordinates are stored dimension by dimension; a thread reads its own, coalesced, and the proposed centre's at
 *   one address; points are records of 32 bytes (degree 8); each thread then adds into its own row of the work table,
 *   K + 1 floats apart: stores of a degree that grows with the centres.
 * Simplified: the local search has one
 *   pass of proposals; the host's decisions follow the original's gain formula.
 */
#include "../common/wl.h"

#define BLOBS 4 /* as many centres are opened, about */

struct point { /* as on the host: the pointer is not followed here */
  float weight;
  float *coord;
  long assign;
  float cost;
};

__device__ static float distance(int a, int b, int num, int dim, const float *coord) {
  float sum = 0;
#pragma unroll 4
  for (int i = 0; i < dim; i++) {
    float d = coord[i * num + a] - coord[i * num + b];
    sum += d * d;
  }
  return sum;
}

__global__ void compute_cost(int num, int dim, int x, const point *p, int k, const float *coord, float *work,
                             const int *center_table, bool *switch_to) {
  int tid = blockDim.x * blockIdx.x + threadIdx.x;
  if (tid >= num) return;
  float *lower = &work[tid * (k + 1)];
  float x_cost = distance(tid, x, num, dim, coord) * p[tid].weight;
  if (x_cost < p[tid].cost) {
    switch_to[tid] = true;
    lower[k] += x_cost - p[tid].cost;
  } else {
    lower[center_table[p[tid].assign]] += p[tid].cost - x_cost;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "streamcluster");
  int n = wl_int(&w, "points", wl_by_size(1024, 1024, 65536), 32, 1 << 20, "points");
  int dim = wl_int(&w, "dim", wl_by_size(16, 16, 64), 1, 1024, "dimensions");
  int proposals = wl_int(&w, "proposals", wl_by_size(12, 352, 60), 1, 1000, "centres proposed");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t np = (size_t)n;
  std::vector<float> coord(np * (size_t)dim);
  std::vector<point> points(np, point{1, NULL, 0, 0});
  std::vector<std::vector<float>> blob(BLOBS, std::vector<float>((size_t)dim));
  for (auto &b : blob)
    for (float &v : b) v = wl_unit(&seed);
  for (size_t p = 0; p < np; p++) {
    size_t b = wl_below(&seed, BLOBS);
    for (size_t i = 0; i < (size_t)dim; i++) coord[i * np + p] = blob[b][i] + 0.05f * wl_normal(&seed);
  }
  auto apart = [&](size_t a, size_t b) {
    double s = 0;
    for (size_t i = 0; i < (size_t)dim; i++) s += pow((double)coord[i * np + a] - coord[i * np + b], 2);
    return (float)s;
  };
  std::vector<int> table(np, 0), centres(1, 0);
  for (size_t p = 0; p < np; p++) points[p].cost = apart(p, 0);
  float *dcoord = wl_upload(coord), opening = 0.02f * (float)n * (float)dim / 12;
  point *dpoints = wl_upload(points);
  int *dtable = wl_upload(table);
  bool *dswitch = wl_alloc<bool>(np);

  struct wl_check chk = {};
  for (int t = 0; t < proposals; t++) {
    size_t x = wl_below(&seed, (uint32_t)n), k = centres.size();
    float *work = wl_zeros<float>(np * (k + 1));
    WL_CUDA(cudaMemset(dswitch, 0, np));
    compute_cost<<<wl_blocks(np, 512), 512>>>(n, dim, (int)x, dpoints, (int)k, dcoord, work, dtable, dswitch);
    WL_LAUNCHED();
    std::vector<float> lower = wl_download(work, np * (k + 1));
    std::vector<unsigned char> switched = wl_download((unsigned char *)dswitch, np);
    WL_CUDA(cudaFree(work));

    /* Gain of opening x, with every centre closed whose members lose less than it costs to keep. */
    std::vector<double> close(k, -opening);
    double gain = -opening;
    for (size_t p = 0; p < np; p++) {
      double to_x = apart(p, x), delta = to_x - points[p].cost;
      wl_near(&chk, "saving", p, lower[p * (k + 1) + (switched[p] ? k : (size_t)table[(size_t)points[p].assign])],
              switched[p] ? delta : -delta, 2e-4 * (1 + dim));
      if (switched[p]) gain -= delta;
      else
        close[(size_t)table[(size_t)points[p].assign]] -= lower[p * (k + 1) + (size_t)table[(size_t)points[p].assign]];
    }
    if (gain <= 0) continue;
    for (size_t p = 0; p < np; p++)
      if (switched[p]) {
        points[p].assign = (long)x;
        points[p].cost = apart(p, x);
      }
    table[x] = (int)k;
    centres.push_back((int)x);
    wl_put(dpoints, points);
    wl_put(dtable, table);
  }
  double total = 0;
  for (const point &p : points) total += p.cost;
  printf("%zu centres, cost %.1f\n", centres.size(), total);
  return wl_end(&w, &chk);
}
