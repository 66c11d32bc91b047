// managed.cu - managed variables: the host reads and writes them before and after kernels.
// compilers: nvcc
// expect: PASS
#include "check.h"

__managed__ int counter = 5;
__managed__ float values[8] = {1, 2, 3};
__device__ int plain = 3;

__global__ void work(float *p) {
  atomicAdd(&counter, (int)threadIdx.x + plain);
  if (threadIdx.x < 8) p[threadIdx.x] *= 2;
}

int main() {
  EXPECT(counter == 5 && values[2] == 3);
  counter = 10;
  work<<<1, 16>>>(values); // its address, taken on the host
  OK(cudaDeviceSynchronize());
  EXPECT(counter == 10 + 120 + 48);
  EXPECT(values[0] == 2 && values[2] == 6);
  return verdict();
}
