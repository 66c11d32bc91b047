// child_grids.cu - dynamic parallelism: a kernel launches grids, which launch grids; they run after their parent.
// target: compute_75, with -rdc=true -cudadevrt none
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

__global__ void add(int *p, int v, double w) {
  atomicAdd(p + blockIdx.x, v + (int)w);
}

__global__ void fork(int *p, int depth) {
  if (threadIdx.x || blockIdx.x) return;
  atomicAdd(p, 1);
  if (depth == 0) return;
  cudaStream_t s;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  fork<<<2, 32, 0, s>>>(p, depth - 1);
  fork<<<1, 32, 64, s>>>(p, depth - 1);
  cudaStreamDestroy(s);
  if (cudaGetLastError() != cudaSuccess) __trap();
}

/* Lomuto partition by one thread, the two parts by child grids. */
__global__ void quicksort(int *a, int left, int right) {
  int pivot = a[right], at = left;
  for (int i = left; i < right; i++)
    if (a[i] < pivot) {
      int t = a[i];
      a[i] = a[at];
      a[at++] = t;
    }
  a[right] = a[at];
  a[at] = pivot;
  if (at - 1 > left) quicksort<<<1, 1>>>(a, left, at - 1);
  if (at + 1 < right) quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(a, at + 1, right);
}

__global__ void each(int *p) {
  add<<<4, 32>>>(p, threadIdx.x, 2.5); /* one grid per thread */
}

static int value(const int *p) {
  int v = -1;
  cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost);
  return v;
}

int main() {
  int *p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  fork<<<1, 32>>>(p, 5);
  bool ok = value(p) == 63;
  each<<<1, 32>>>(p + 4);
  ok = ok && value(p + 7) == 32 * (31 * 16 + 64);
  std::vector<int> a(200), b(200);
  for (int i = 0; i < 200; i++) a[i] = i * 7919 % 211;
  cudaMemcpy(p, a.data(), 800, cudaMemcpyHostToDevice);
  quicksort<<<1, 1>>>(p, 0, 199);
  cudaMemcpy(b.data(), p, 800, cudaMemcpyDeviceToHost);
  std::sort(a.begin(), a.end());
  ok = ok && a == b && cudaDeviceSynchronize() == cudaSuccess;
  puts(ok ? "PASS" : "FAIL");
  return !ok;
}
