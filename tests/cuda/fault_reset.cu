// fault_reset.cu - after a fault cudaDeviceReset makes the device usable again, on the machine as well.
// compilers: clang nvcc
// mode: timing
// exit: 4
// expect: fault 700|reset 0|launch 0|value 7
// report: invalid global write of 4 bytes
#include <cstdio>
#include <cuda_runtime.h>

__global__ void wild(int *p) { p[1 << 28] = 1; }
__global__ void fill(int *p) { p[threadIdx.x] = 7; }

int main() {
  int *d, value = 0;
  cudaMalloc(&d, 4096);
  wild<<<30, 64>>>(d);
  printf("fault %d\n", (int)cudaDeviceSynchronize());
  printf("reset %d\n", (int)cudaDeviceReset());
  cudaMalloc(&d, 4096);
  fill<<<30, 64>>>(d);
  printf("launch %d\n", (int)cudaDeviceSynchronize());
  cudaMemcpy(&value, d, sizeof value, cudaMemcpyDeviceToHost);
  printf("value %d\n", value);
  return value != 7;
}
