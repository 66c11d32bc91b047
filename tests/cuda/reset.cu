// compilers: clang nvcc
// expect: PASS
/* cudaDeviceReset: memory and handles are gone, variables have their first values, work continues. */
#include "check.h"
__device__ int value = 5;
__global__ void bump() { value += 1; }
int main() {
  int *p, h = 0;
  cudaStream_t s;
  size_t before, after, total;
  OK(cudaMemGetInfo(&before, &total));
  OK(cudaMalloc((void **)&p, 1 << 20));
  OK(cudaStreamCreate(&s));
  bump<<<1, 1>>>();
  OK(cudaMemcpyFromSymbol(&h, value, 4));
  EXPECT(h == 6);
  OK(cudaDeviceReset());
  OK(cudaMemGetInfo(&after, &total));
  EXPECT(after == before);
  OK(cudaMemcpyFromSymbol(&h, value, 4));
  EXPECT(h == 5);
  EXPECT(cudaFree(p) != cudaSuccess);
  EXPECT(cudaStreamSynchronize(s) != cudaSuccess);
  OK(cudaMalloc((void **)&p, 256));
  bump<<<1, 1>>>();
  OK(cudaMemcpyFromSymbol(&h, value, 4));
  EXPECT(h == 6);
  return verdict();
}
