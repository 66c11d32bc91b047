// imports.cu - a program that refers to a call which is refused ends before anything runs, with the call's name.
// compilers: clang nvcc
// exit: 3
// report: cudaGraphicsUnmapResources|used by imports|no graphics device
#include <cuda_runtime.h>
#include <stdio.h>

#ifndef __CUDA_RUNTIME_H__
extern "C" cudaError_t cudaGraphicsUnmapResources(int count, void *resources, cudaStream_t stream);
#endif
__global__ void k() {
}
int main(int argc, char **argv) {
  (void)argv;
  void *p;
  cudaMalloc(&p, 4);
  printf("this must not be reached\n");
  k<<<1, 1>>>();
  if (argc > 5) cudaGraphicsUnmapResources(0, 0, 0);
  return 0;
}
