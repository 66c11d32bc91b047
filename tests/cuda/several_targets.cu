// several_targets.cu - PTX for two targets and machine code in one binary: the best match runs.
// compilers: nvcc
// flags: -gencode arch=compute_75,code=[sm_75,compute_75] -gencode arch=compute_80,code=[sm_80,compute_80]
// set: compute_capability.major=8
// expect: target 800
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void k(int *p) {
#ifdef __CUDA_ARCH__
  *p = __CUDA_ARCH__;
#endif
}
int main() {
  int *d, h = 0;
  cudaMalloc((void **)&d, 4);
  k<<<1, 1>>>(d);
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
  printf("target %d\n", h);
  return 0;
}
