// Very many launches that are all alike.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void bump(int *p) { if (threadIdx.x == 0) *p += 1; }
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  int *p, v = 0;
  cudaMalloc(&p, 4); cudaMemset(p, 0, 4);
  for (int i = 0; i < n; i++) bump<<<1, 32>>>(p);
  cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);
  printf("%d\n", v);
  return v != n;
}
