// fault_line.cu - with -lineinfo the report names the source line.
// compilers: nvcc
// flags: -lineinfo
// exit: 4
// report: fault_line.cu:11|misaligned
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void crooked(char *p) {
  int *q = (int *)(p + threadIdx.x);
  *q = 1;
}

int main() {
  char *d;
  cudaMalloc((void **)&d, 256);
  crooked<<<1, 2>>>(d);
  return cudaDeviceSynchronize() == cudaErrorMisalignedAddress ? 0 : 1;
}
