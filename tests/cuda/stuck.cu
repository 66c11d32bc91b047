// stuck.cu - two warps that wait for each other at different barriers.
// compilers: clang nvcc
// exit: 5
// expect: the launch timed out and was terminated
// report: stuck|barrier
#include <cuda_runtime.h>
#include <stdio.h>
__global__ void stuck() {
  if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");
  else asm volatile("bar.sync 2, 64;");
}
int main() {
  stuck<<<1, 64>>>();
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
