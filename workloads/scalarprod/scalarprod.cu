/* scalarprod - scalar products of many pairs of vectors
 *
 * Program: CUDA SDK scalarProd
 * Suites: medic=SCP
 * Groups: medic=all-miss
 * Algorithm: a CTA takes every gridDim-th pair; threads accumulate strided partial sums into 1024 accumulators in
 *   shared memory, which are reduced as a tree.
 * Loads: both vectors are streamed once, fully coalesced; nothing is ever
 *   reused, so every warp misses always.
 * Simplified: nothing.
 */
#include "../common/wl.h"

#define ACCUMULATORS 1024

__global__ void scalar_prod(float *c, const float *a, const float *b, int vectors, int elements) {
  __shared__ float acc[ACCUMULATORS];
  for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
    int base = elements * v, end = base + elements;
    for (int i = threadIdx.x; i < ACCUMULATORS; i += blockDim.x) {
      float sum = 0;
      for (int pos = base + i; pos < end; pos += ACCUMULATORS) sum += a[pos] * b[pos];
      acc[i] = sum;
    }
    for (int stride = ACCUMULATORS / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < stride; i += blockDim.x) acc[i] += acc[stride + i];
    }
    if (threadIdx.x == 0) c[v] = acc[0];
    __syncthreads();
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "scalarprod");
  int vectors = wl_int(&w, "vectors", wl_by_size(32, 256, 1024), 1, 65536, "pairs");
  int elements = wl_int(&w, "elements", wl_by_size(4096, 4096, 16384), 32, 1 << 20, "elements of a vector");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<float> a((size_t)vectors * (size_t)elements), b(a.size()), want((size_t)vectors);
  for (float &v : a) v = wl_unit(&seed);
  for (float &v : b) v = wl_unit(&seed);
  for (size_t v = 0; v < want.size(); v++) {
    double sum = 0;
    for (size_t i = 0; i < (size_t)elements; i++)
      sum += (double)a[v * (size_t)elements + i] * b[v * (size_t)elements + i];
    want[v] = (float)sum;
  }
  float *da = wl_upload(a), *db = wl_upload(b), *dc = wl_alloc<float>(want.size());
  scalar_prod<<<128, 256>>>(dc, da, db, vectors, elements);
  WL_LAUNCHED();
  struct wl_check chk = {};
  wl_near_all(&chk, "product", wl_download(dc, want.size()), want, 1e-5);
  return wl_end(&w, &chk);
}
