// target: compute_80
// expect: PASS
/* Cooperative groups: tiles, coalesced groups, reduce, labeled partition, grid sync, multi-warp scan. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void tiles(const int *in, int *out) {
  cg::thread_block b = cg::this_thread_block();
  cg::thread_block_tile<16> t = cg::tiled_partition<16>(b);
  int v = in[b.group_index().x * b.size() + b.thread_rank()];
  int sum = cg::reduce(t, v, cg::plus<int>());
  int scan = cg::exclusive_scan(t, v);
  int mx = cg::reduce(t, v, cg::greater<int>());
  auto odd = cg::binary_partition(t, v & 1);
  int *o = out + 4 * (b.group_index().x * b.size() + b.thread_rank());
  o[0] = sum; o[1] = scan; o[2] = mx; o[3] = odd.size();
}
__global__ void coalesced(int *count) {
  if (threadIdx.x % 3 == 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    if (g.thread_rank() == 0) atomicAdd(count, g.size());
    g.sync();
    int v = g.shfl(threadIdx.x, 0);
    if (v % 3) atomicAdd(count, 1000);
  }
}
__global__ void whole(int *data, int n, int rounds) {
  cg::grid_group g = cg::this_grid();
  for (int r = 0; r < rounds; r++) {
    for (int i = g.thread_rank(); i < n; i += g.size()) data[(r + 1) * n + i] = data[r * n + (i + 1) % n] + 1;
    g.sync();
  }
}
__global__ void staged(const int *in, int *out, int n) {
  extern __shared__ int buf[];
  cg::thread_block b = cg::this_thread_block();
  cg::memcpy_async(b, buf, in + blockIdx.x * n, sizeof(int) * n);
  cg::wait(b);
  for (int i = b.thread_rank(); i < n; i += b.size()) out[blockIdx.x * n + i] = buf[n - 1 - i];
}
int main() {
  const int n = 1024;
  int *in, *out, h[n], o[4 * n];
  for (int i = 0; i < n; i++) h[i] = (i * 37) % 101 - 50;
  OK(cudaMalloc(&in, n * 4)); OK(cudaMalloc(&out, n * 16));
  OK(cudaMemcpy(in, h, n * 4, cudaMemcpyHostToDevice));
  tiles<<<4, 256>>>(in, out);
  OK(cudaMemcpy(o, out, n * 16, cudaMemcpyDeviceToHost));
  bool good = true;
  for (int t = 0; t < n; t += 16) {
    int sum = 0, mx = -1000, odd = 0, run = 0;
    for (int i = 0; i < 16; i++) sum += h[t + i], mx = h[t + i] > mx ? h[t + i] : mx, odd += h[t + i] & 1;
    for (int i = 0; i < 16; i++) {
      const int *q = o + 4 * (t + i);
      good &= q[0] == sum && q[1] == run && q[2] == mx && q[3] == (h[t + i] & 1 ? odd : 16 - odd);
      run += h[t + i];
    }
  }
  EXPECT(good);
  OK(cudaMemset(out, 0, 4));
  coalesced<<<3, 128>>>(out);
  int c; OK(cudaMemcpy(&c, out, 4, cudaMemcpyDeviceToHost)); EXPECT(c == 3 * 43);
  int *d, m = 600, rounds = 5; OK(cudaMalloc(&d, m * 4 * (rounds + 1))); OK(cudaMemset(d, 0, m * 4 * (rounds + 1)));
  void *args[] = {&d, &m, &rounds};
  int per = 0, dev = 0, coop = 0; OK(cudaDeviceGetAttribute(&coop, cudaDevAttrCooperativeLaunch, dev)); EXPECT(coop);
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, whole, 128, 0)); EXPECT(per > 0);
  OK(cudaLaunchCooperativeKernel((void *)whole, dim3(4), dim3(128), args, 0, 0));
  static int r[600]; OK(cudaMemcpy(r, d + m * rounds, m * 4, cudaMemcpyDeviceToHost));
  good = true; for (int i = 0; i < m; i++) good &= r[i] == rounds; EXPECT(good);
  staged<<<4, 64, 1024>>>(in, out, 256);
  OK(cudaMemcpy(o, out, n * 4, cudaMemcpyDeviceToHost));
  good = true; for (int i = 0; i < n; i++) good &= o[i] == h[i / 256 * 256 + 255 - i % 256]; EXPECT(good);
  return verdict();
}
