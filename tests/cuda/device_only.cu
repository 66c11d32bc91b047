// device_only.cu - machine code without PTX is refused, with the remedy.
// compilers: nvcc
// flags: -gencode arch=compute_75,code=sm_75
// exit: 3
// report: machine code (sm_75)|-gencode arch=compute_75,code=compute_75
#include <cuda_runtime.h>
__global__ void k(int *p) {
  *p = 1;
}
int main() {
  int *d;
  cudaMalloc((void **)&d, 4);
  k<<<1, 1>>>(d);
  return cudaDeviceSynchronize() == cudaSuccess;
}
