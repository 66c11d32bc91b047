// imports.cu - a program that refers to a call which is refused ends before anything runs, with the call's name.
// compilers: clang nvcc
// exit: 3
// report: cudaGraphicsVDPAURegisterVideoSurface|used by imports|no VDPAU device
#include <cuda_runtime.h>
#include <stdio.h>

extern "C" cudaError_t cudaGraphicsVDPAURegisterVideoSurface(void **resource, unsigned surface, unsigned flags);
__global__ void k() {
}
int main(int argc, char **argv) {
  (void)argv;
  void *p;
  cudaMalloc(&p, 4);
  printf("this must not be reached\n");
  k<<<1, 1>>>();
  if (argc > 5) cudaGraphicsVDPAURegisterVideoSurface(0, 0, 0);
  return 0;
}
