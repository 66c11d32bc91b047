// linked_ptx.cu - device code in two files, kept as PTX alone and so linked when loaded: symbols are copied to before any launch.
// compilers: nvcc
// with: linked_b.cu
// flags: -rdc=true -gencode arch=compute_75,code=compute_75
// expect: PASS
#include "check.h"

extern __constant__ int scale[4];
extern __device__ int shared_variable;

__global__ void kernel(int *p) {
  p[threadIdx.x] = scale[threadIdx.x & 3] + shared_variable;
}

int main() {
  int *d, h[32], v[4] = {1, 2, 3, 1000};
  OK(cudaMemcpyToSymbol(scale, v, sizeof v));
  OK(cudaMemcpyToSymbol(shared_variable, v + 3, sizeof v[3]));
  OK(cudaMalloc((void **)&d, sizeof h));
  kernel<<<1, 32>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int k = 0; k < 32; k++) EXPECT(h[k] == v[k & 3] + 1000);
  return verdict();
}
