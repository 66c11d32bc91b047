// static_runtime.cu - NVIDIA's runtime linked into the program, nvcc's default: Sluice's replaces it.
// compilers: nvcc
// flags: -cudart static -rdc=true
// expect: runtime 13000|sum 4950|symbol 7|error invalid argument|PASS
#include <cstdio>
#include <cuda_runtime.h>
/* Functions of the program's own whose names look like the runtime's. */
extern "C" __attribute__((noinline)) int cudaInit(int x) { return x * 3 + 1; }
extern "C" __attribute__((noinline)) int cudaCheckErrors(const char *what) { return (int)what[0] + 5; }
__constant__ int constant[4];
__device__ int total;
__global__ void add(int n) {
  if (threadIdx.x < n) atomicAdd(&total, threadIdx.x + constant[3] - 7);
}
int main() {
  int v = 0, sum = 0, seven[4] = {1, 2, 3, 7}, back[4] = {0};
  cudaRuntimeGetVersion(&v);
  printf("runtime %d\n", v);
  cudaMemcpyToSymbol(constant, seven, sizeof seven);
  add<<<1, 128>>>(100);
  cudaMemcpyFromSymbol(&sum, total, sizeof sum);
  printf("sum %d\n", sum);
  cudaMemcpyFromSymbol(back, constant, sizeof back);
  printf("symbol %d\n", back[3]);
  printf("error %s\n", cudaGetErrorString(cudaMemcpy(nullptr, back, 4, cudaMemcpyHostToDevice)));
  cudaGetLastError();
  cudaDeviceProp p;
  bool ok = cudaGetDeviceProperties(&p, 0) == cudaSuccess && p.multiProcessorCount > 0 && p.warpSize == 32;
  ok = ok && cudaInit(v) == 39001 && cudaCheckErrors("a") == 'a' + 5;
  ok = ok && cudaDeviceSynchronize() == cudaSuccess && sum == 4950 && back[3] == 7;
  puts(ok ? "PASS" : "FAIL");
  return !ok;
}
