// fault.cu - a kernel writes past its allocation: the report, the error, and that the error stays.
// compilers: clang nvcc
// exit: 4
// expect: launch: no error|sync: an illegal memory access was encountered|again: cudaErrorIllegalAddress
// report: overrun|PTX line|CTA (3,0,0), thread (4,0,0)|400 bytes|cudaMalloc at fault
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void overrun(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) p[i] = i;
}

int main() {
  int *d;
  void *other;
  cudaMalloc((void **)&d, 100 * sizeof(int));
  void *args[2];
  int n = 100;
  args[0] = &d;
  args[1] = &n;
  cudaError_t r = cudaLaunchKernel((const void *)overrun, dim3(4), dim3(32), args, 0, 0);
  printf("launch: %s\n", cudaGetErrorString(r));
  printf("sync: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  printf("again: %s\n", cudaGetErrorName(cudaMalloc(&other, 4)));
  return 0;
}
