/* nn - nearest neighbours of a point among locations
 *
 * Program: Rodinia nn
 * Suites: none
 * Groups: none
 * Algorithm: each thread computes the distance of one record's location to the target; the host picks the k smallest.
 * Loads: pairs of floats, coalesced (degree 2), each read once; distances are written coalesced.
 * Simplified: several targets over the same records.
 */
#include "../common/wl.h"

__global__ void euclid(const float2 *locations, float *distances, int n, float lat, float lng) {
  int i = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
  if (i >= n) return;
  float2 p = locations[i];
  distances[i] = sqrtf((lat - p.x) * (lat - p.x) + (lng - p.y) * (lng - p.y));
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "nn");
  int n = wl_int(&w, "records", wl_by_size(32768, 131072, 4194304), 32, 1 << 25, "records");
  int targets = wl_int(&w, "targets", wl_by_size(2, 6, 10), 1, 1000, "targets");
  int k = wl_int(&w, "k", wl_by_size(5, 5, 5), 1, 32, "neighbours wanted");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<float2> at((size_t)n);
  for (float2 &p : at) p = make_float2(wl_range(&seed, 0, 90), wl_range(&seed, 0, 180));
  float2 *dat = wl_upload(at);
  float *dd = wl_alloc<float>(at.size());
  struct wl_check chk = {};
  for (int t = 0; t < targets; t++) {
    float lat = wl_range(&seed, 0, 90), lng = wl_range(&seed, 0, 180);
    euclid<<<wl_blocks(at.size(), 256), 256>>>(dat, dd, n, lat, lng);
    WL_LAUNCHED();
    std::vector<float> got = wl_download(dd, at.size()), want(at.size());
    for (size_t i = 0; i < at.size(); i++) want[i] = hypotf(lat - at[i].x, lng - at[i].y);
    wl_near_all(&chk, "distance", got, want, 1e-5);
    std::partial_sort(got.begin(), got.begin() + k, got.end());
    std::partial_sort(want.begin(), want.begin() + k, want.end());
    for (size_t i = 0; i < (size_t)k; i++) wl_near(&chk, "neighbour", i, got[i], want[i], 1e-5);
  }
  return wl_end(&w, &chk);
}
