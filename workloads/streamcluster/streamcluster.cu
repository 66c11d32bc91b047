/* streamcluster - online clustering: what opening one more centre would gain
 *
 * Program: Rodinia streamcluster
 * Suites: tsc=streamcluster medic=SC sharing=streamcluster
 * Groups: tsc=cache-line-positive medic=all-miss
 * Algorithm: the host proposes centres one by one; compute_cost finds for every point whether the proposed centre is
 *   nearer than its own, and adds what it would save to the row of its centre in a work table; the host decides,
 *   reassigns and proposes the next. One launch per proposal, with the table zeroed before.
 * Loads: coordinates are stored
 *   dimension by dimension and streamed coalesced (the proposed centre's are in shared memory); each thread then adds
 *   into its own row of the work table, K + 1 floats apart: stores of degree 32.
 * Simplified: the local search has one
 *   pass of proposals; the host's decisions follow the original's gain formula.
 */
#include "../common/wl.h"

__global__ void compute_cost(int num, int dim, int x, const float *weight, const float *cost, const int *assign, int k,
                             float *work, const int *center_table, unsigned char *switch_to, const float *coord) {
  extern __shared__ float coord_s[];
  int tid = blockDim.x * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0)
    for (int i = 0; i < dim; i++) coord_s[i] = coord[i * num + x];
  __syncthreads();
  if (tid >= num) return;
  float *lower = &work[tid * (k + 1)];
  float sum = 0;
  for (int i = 0; i < dim; i++) {
    float d = coord[i * num + tid] - coord_s[i];
    sum += d * d;
  }
  float x_cost = sum * weight[tid], current = cost[tid];
  if (x_cost < current) {
    switch_to[tid] = 1;
    lower[k] += x_cost - current;
  } else {
    lower[center_table[assign[tid]]] += current - x_cost;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "streamcluster");
  int n = wl_int(&w, "points", wl_by_size(1024, 8192, 65536), 32, 1 << 20, "points");
  int dim = wl_int(&w, "dim", wl_by_size(32, 64, 64), 1, 1024, "dimensions");
  int proposals = wl_int(&w, "proposals", wl_by_size(6, 12, 60), 1, 1000, "centres proposed");
  wl_ready(&w);

  uint64_t seed = w.seed;
  size_t np = (size_t)n;
  std::vector<float> coord(np * (size_t)dim), weight(np, 1), cost(np);
  std::vector<std::vector<float>> blob(8, std::vector<float>((size_t)dim));
  for (auto &b : blob)
    for (float &v : b) v = wl_unit(&seed);
  for (size_t p = 0; p < np; p++) {
    size_t b = wl_below(&seed, 8);
    for (size_t i = 0; i < (size_t)dim; i++) coord[i * np + p] = blob[b][i] + 0.05f * wl_normal(&seed);
  }
  auto distance = [&](size_t a, size_t b) {
    double s = 0;
    for (size_t i = 0; i < (size_t)dim; i++) s += pow((double)coord[i * np + a] - coord[i * np + b], 2);
    return (float)s;
  };
  std::vector<int> assign(np, 0), table(np, 0), centres(1, 0);
  for (size_t p = 0; p < np; p++) cost[p] = distance(p, 0);
  float *dcoord = wl_upload(coord), *dweight = wl_upload(weight), *dcost = wl_upload(cost),
        opening = 0.02f * (float)n * (float)dim / 12;
  int *dassign = wl_upload(assign), *dtable = wl_upload(table);
  unsigned char *dswitch = wl_alloc<unsigned char>(np);

  struct wl_check chk = {};
  for (int t = 0; t < proposals; t++) {
    size_t x = wl_below(&seed, (uint32_t)n), k = centres.size();
    float *work = wl_zeros<float>(np * (k + 1));
    WL_CUDA(cudaMemset(dswitch, 0, np));
    compute_cost<<<wl_blocks(np, 512), 512, (size_t)dim * sizeof(float)>>>(n, dim, (int)x, dweight, dcost, dassign,
                                                                           (int)k, work, dtable, dswitch, dcoord);
    WL_LAUNCHED();
    std::vector<float> lower = wl_download(work, np * (k + 1));
    std::vector<unsigned char> switched = wl_download(dswitch, np);
    WL_CUDA(cudaFree(work));

    /* Gain of opening x, with every centre closed whose members lose less than it costs to keep. */
    std::vector<double> close(k, -opening);
    double gain = -opening;
    for (size_t p = 0; p < np; p++) {
      double to_x = distance(p, x), delta = to_x - cost[p];
      wl_near(&chk, "saving", p, lower[p * (k + 1) + (switched[p] ? k : (size_t)table[(size_t)assign[p]])],
              switched[p] ? delta : -delta, 2e-4 * (1 + dim));
      if (switched[p]) gain -= delta;
      else close[(size_t)table[(size_t)assign[p]]] -= lower[p * (k + 1) + (size_t)table[(size_t)assign[p]]];
    }
    if (gain <= 0) continue;
    for (size_t p = 0; p < np; p++)
      if (switched[p]) {
        assign[p] = (int)x;
        cost[p] = distance(p, x);
      }
    table[x] = (int)k;
    centres.push_back((int)x);
    wl_put(dassign, assign);
    wl_put(dtable, table);
    wl_put(dcost, cost);
  }
  double total = 0;
  for (float c : cost) total += c;
  printf("%zu centres, cost %.1f\n", centres.size(), total);
  return wl_end(&w, &chk);
}
