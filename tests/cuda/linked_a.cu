// linked_a.cu - device code in two files, linked on the device: functions, variables and kernels across them.
// compilers: nvcc
// with: linked_b.cu
// flags: -rdc=true
// expect: PASS
#include "check.h"

extern __device__ int shared_variable;
__device__ int helper(int x);
__global__ void other_kernel(int *p);

__global__ void kernel(int *p) {
  p[threadIdx.x] = helper((int)threadIdx.x) + shared_variable;
}

int main() {
  int *d, h[32], v = 1000;
  OK(cudaMalloc((void **)&d, sizeof h));
  kernel<<<1, 32>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[7] == 49 + 42);
  OK(cudaMemcpyToSymbol(shared_variable, &v, sizeof v));
  kernel<<<1, 32>>>(d);
  other_kernel<<<1, 32>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(h[7] == (49 + 1000) * 3);
  return verdict();
}
