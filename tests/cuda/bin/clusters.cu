// gpu: hopper
// modes: functional timing
// Clusters of CTAs: ranks, distributed shared memory, remote atomics, launch attributes, occupancy, errors.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
// ranks, ids, distributed shared memory: read neighbour, remote atomic
__global__ void __cluster_dims__(4, 1, 1) ring(int *out) {
  __shared__ int box[64];
  __shared__ int sum;
  cg::cluster_group c = cg::this_cluster();
  unsigned r = c.block_rank(), n = c.num_blocks();
  if (threadIdx.x == 0) sum = 0;
  box[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
  c.sync();
  int *next = c.map_shared_rank(box, (r + 1) % n);
  int v = next[threadIdx.x];
  int *s0 = c.map_shared_rank(&sum, 0);
  atomicAdd(s0, (int)threadIdx.x + (int)r);
  c.sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
  if (threadIdx.x == 0) out[gridDim.x * blockDim.x + blockIdx.x] = r == 0 ? sum : (int)c.query_shared_rank(next);
  next[threadIdx.x] = -1;
  c.sync();
  if (box[threadIdx.x] != -1) out[0] = -99;
}
__global__ void dims(int *out) {
  cg::cluster_group c = cg::this_cluster();
  dim3 b = c.block_index(), d = c.dim_blocks();
  int id = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned cx, cy, nx;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(cy));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
  if (threadIdx.x == 0) {
    int *o = out + id * 8;
    o[0] = b.x;
    o[1] = b.y;
    o[2] = d.x;
    o[3] = d.y;
    o[4] = c.block_rank();
    o[5] = cx;
    o[6] = cy;
    o[7] = nx;
  }
}
// histogram as in the programming guide
__global__ void hist(int *bins, int nbins, int per, const int *in, int n) {
  extern __shared__ int smem[];
  cg::cluster_group c = cg::this_cluster();
  unsigned rank = c.block_rank();
  int size = c.dim_blocks().x;
  for (int i = threadIdx.x; i < per; i += blockDim.x) smem[i] = 0;
  c.sync();
  for (int i = cg::this_grid().thread_rank(); i < n; i += blockDim.x * gridDim.x) {
    int b = in[i];
    if (b < 0) b = 0;
    if (b >= nbins) b = nbins - 1;
    int *dst = c.map_shared_rank(smem, b / per);
    atomicAdd(dst + b % per, 1);
  }
  c.sync();
  int *l = bins + c.block_rank() * per;
  for (int i = threadIdx.x; i < per; i += blockDim.x) atomicAdd(&l[i], smem[i]);
}
int bad = 0;
#define CK(x)                                                 \
  do {                                                        \
    cudaError_t e = (x);                                      \
    if (e) {                                                  \
      printf("line %d: %s\n", __LINE__, cudaGetErrorName(e)); \
      bad = 1;                                                \
    }                                                         \
  } while (0)
int main() {
  const int G = 16, B = 64;
  int *d;
  CK(cudaMalloc(&d, 1 << 20));
  ring<<<G, B>>>(d);
  CK(cudaGetLastError());
  std::vector<int> h(G * B + G);
  CK(cudaMemcpy(h.data(), d, h.size() * 4, cudaMemcpyDeviceToHost));
  for (int b = 0; b < G; b++) {
    int nb = b / 4 * 4 + (b + 1) % 4;
    for (int t = 0; t < B; t++)
      if (h[b * B + t] != nb * 1000 + t) {
        if (bad++ < 3) printf("ring %d %d %d\n", b, t, h[b * B + t]);
      }
    int want = b % 4 == 0 ? 4 * (B * (B - 1) / 2) + B * 6 : (b + 1) % 4;
    if (h[G * B + b] != want) {
      bad++;
      printf("sum %d: %d not %d\n", b, h[G * B + b], want);
    }
  }
  cudaLaunchConfig_t k = {};
  cudaLaunchAttribute a[1];
  a[0].id = cudaLaunchAttributeClusterDimension;
  a[0].val.clusterDim.x = 2;
  a[0].val.clusterDim.y = 2;
  a[0].val.clusterDim.z = 1;
  k.gridDim = dim3(6, 4);
  k.blockDim = 32;
  k.attrs = a;
  k.numAttrs = 1;
  CK(cudaLaunchKernelEx(&k, dims, d));
  h.resize(24 * 8);
  CK(cudaMemcpy(h.data(), d, 24 * 32, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 24; i++) {
    int x = i % 6, y = i / 6;
    int want[8] = {x % 2, y % 2, 2, 2, x % 2 + 2 * (y % 2), x / 2, y / 2, 3};
    for (int j = 0; j < 8; j++)
      if (h[i * 8 + j] != want[j]) {
        bad++;
        printf("dims %d %d: %d not %d\n", i, j, h[i * 8 + j], want[j]);
      }
  }
  const int N = 20000, NB = 1024;
  std::vector<int> in(N), ref(NB);
  unsigned s = 1;
  for (auto &v : in) {
    s = s * 1664525 + 1013904223;
    v = s >> 22;
    ref[v]++;
  }
  int *din, *db;
  CK(cudaMalloc(&din, N * 4));
  CK(cudaMalloc(&db, NB * 4));
  CK(cudaMemset(db, 0, NB * 4));
  CK(cudaMemcpy(din, in.data(), N * 4, cudaMemcpyHostToDevice));
  a[0].val.clusterDim.x = 8;
  a[0].val.clusterDim.y = 1;
  k.gridDim = 32;
  k.blockDim = 128;
  k.dynamicSmemBytes = NB / 8 * 4;
  int nc = 0, mx = 0;
  CK(cudaOccupancyMaxPotentialClusterSize(&mx, hist, &k));
  CK(cudaOccupancyMaxActiveClusters(&nc, hist, &k));
  printf("max cluster %d, active %d\n", mx, nc);
  CK(cudaLaunchKernelEx(&k, hist, db, NB, NB / 8, (const int *)din, N));
  std::vector<int> hb(NB);
  CK(cudaMemcpy(hb.data(), db, NB * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < NB; i++)
    if (hb[i] != ref[i]) {
      if (bad++ < 4) printf("bin %d %d not %d\n", i, hb[i], ref[i]);
    }
  // errors
  k.gridDim = 30;
  if (cudaLaunchKernelEx(&k, hist, db, NB, NB / 8, (const int *)din, N) != cudaErrorInvalidClusterSize)
    bad++, puts("grid");
  a[0].val.clusterDim.x = 16;
  k.gridDim = 32;
  if (cudaLaunchKernelEx(&k, hist, db, NB, NB / 8, (const int *)din, N) == cudaSuccess) bad++, puts("16");
  cudaGetLastError();
  CK(cudaFuncSetAttribute(hist, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CK(cudaLaunchKernelEx(&k, hist, db, NB, NB / 16, (const int *)din, N));
  CK(cudaDeviceSynchronize());
  cudaFuncAttributes fa;
  CK(cudaFuncGetAttributes(&fa, ring));
  if (fa.requiredClusterWidth != 4 || !fa.clusterDimMustBeSet) bad++, puts("attr");
  puts(bad ? "FAIL" : "PASS");
  return bad != 0;
}
