// static_runtime.cu - the runtime linked statically: said in one line, with the remedy.
// compilers: nvcc
// flags: -cudart static
// exit: 3
// report: -cudart shared
#include <cuda_runtime.h>
__global__ void k() {
}
int main() {
  k<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
