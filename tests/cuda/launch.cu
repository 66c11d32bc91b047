// launch.cu - arguments of every size, three-dimensional launches, shared memory, templates, attributes, occupancy.
// compilers: clang nvcc
// expect: PASS
#include "check.h"

struct small { char c; short s; };
struct large { double d[9]; int tail; };

__global__ void arguments(char a, short b, int c, long long d, float e, double f, small s, large l, double *out) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    *out = a + b + c + (double)d + e + f + s.c + s.s + l.d[8] + l.tail;
}
__global__ void coordinates(unsigned *out) {
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned i = block * (blockDim.x * blockDim.y * blockDim.z) + thread;
  out[i] = blockIdx.x | blockIdx.y << 4 | blockIdx.z << 8 | threadIdx.x << 12 | threadIdx.y << 20 | threadIdx.z << 28;
}
__global__ void reverse(int *p) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[8];
  if (threadIdx.x < 8) fixed[threadIdx.x] = (int)threadIdx.x * 1000;
  dynamic[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x] + fixed[threadIdx.x & 7];
}
template <int N> __global__ void plus(int *p) {
  p[threadIdx.x] += N;
}
__device__ __noinline__ int depth(int n) {
  return n <= 1 ? 1 : n + depth(n - 1);
}
__global__ void recursion(int *p) {
  p[threadIdx.x] = depth((int)threadIdx.x);
}
__global__ void __launch_bounds__(64) bounded(int *p) {
  p[threadIdx.x] = 1;
}

int main() {
  double *dd, got = 0;
  small s = {1, 2};
  large l;
  for (int i = 0; i < 9; i++) l.d[i] = i;
  l.tail = 100;
  OK(cudaMalloc((void **)&dd, sizeof *dd));
  arguments<<<1, 1>>>(1, 2, 3, 1LL << 40, 0.5f, 0.25, s, l, dd);
  OK(cudaMemcpy(&got, dd, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got == 1 + 2 + 3 + (double)(1LL << 40) + 0.75 + 3 + 8 + 100);

  unsigned *du, hu[2 * 3 * 2 * 4 * 2 * 3];
  OK(cudaMalloc((void **)&du, sizeof hu));
  coordinates<<<dim3(2, 3, 2), dim3(4, 2, 3)>>>(du);
  OK(cudaMemcpy(hu, du, sizeof hu, cudaMemcpyDeviceToHost));
  EXPECT(hu[0] == 0 && hu[25] == (1u | 1u << 12) && hu[12 * 24 - 1] == (1u | 2u << 4 | 1u << 8 | 3u << 12 | 1u << 20 | 2u << 28));

  int *di, hi[256];
  OK(cudaMalloc((void **)&di, sizeof hi));
  for (int i = 0; i < 256; i++) hi[i] = i;
  OK(cudaMemcpy(di, hi, sizeof hi, cudaMemcpyHostToDevice));
  reverse<<<1, 256, 256 * sizeof(int)>>>(di);
  plus<3><<<1, 256>>>(di);
  plus<40><<<1, 256>>>(di);
  OK(cudaMemcpy(hi, di, sizeof hi, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; i++) EXPECT(hi[i] == 255 - i + 1000 * (i & 7) + 43);
  recursion<<<1, 32>>>(di);
  OK(cudaMemcpy(hi, di, sizeof hi, cudaMemcpyDeviceToHost));
  EXPECT(hi[31] == 31 * 32 / 2);

  cudaFuncAttributes a;
  OK(cudaFuncGetAttributes(&a, (const void *)reverse));
  EXPECT(a.sharedSizeBytes == 32 && a.numRegs > 2 && a.maxThreadsPerBlock == 1024);
  OK(cudaFuncGetAttributes(&a, (const void *)bounded));
  EXPECT(a.maxThreadsPerBlock == 64);
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)reverse, 256, 256 * 4));
  EXPECT(blocks == 6); // 1536 threads of an SM
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)reverse, 64, 20 * 1024));
  EXPECT(blocks == 2); // 48 KB of shared memory
  OK(cudaFuncSetCacheConfig((const void *)reverse, cudaFuncCachePreferL1));

  bounded<<<1, 65>>>(di);
  GIVES(cudaGetLastError(), cudaErrorLaunchOutOfResources);
  bounded<<<0, 1>>>(di);
  GIVES(cudaGetLastError(), cudaErrorInvalidConfiguration);
  reverse<<<1, 32, 48 * 1024>>>(di); // 32 bytes too many
  GIVES(cudaGetLastError(), cudaErrorInvalidValue);
  OK(cudaDeviceSynchronize());
  return verdict();
}
