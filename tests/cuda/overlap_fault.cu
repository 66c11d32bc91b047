// overlap_fault.cu - a kernel that faults among others: its launch succeeds, the wait tells, and so do all calls after.
// compilers: clang nvcc
// mode: timing
// exit: 4
// expect: PASS
// report: kernel _Z5wrongPi|past the end of the nearest allocation
#include "check.h"

__global__ void wrong(int *p) { p[1 << 20] = 1; }
__global__ void spin(int *p, int n) {
  int v = p[threadIdx.x];
  for (int i = 0; i < n; i++) v = v * 3 + 1;
  p[threadIdx.x] = v;
}

int main() {
  int *d;
  cudaStream_t s[3];
  OK(cudaMalloc((void **)&d, 4096));
  OK(cudaMemset(d, 0, 4096));
  for (int i = 0; i < 3; i++) OK(cudaStreamCreate(&s[i]));
  spin<<<1, 32, 0, s[0]>>>(d, 100);
  OK(cudaGetLastError());
  wrong<<<1, 1, 0, s[1]>>>(d);
  OK(cudaGetLastError()); /* not known yet */
  spin<<<1, 32, 0, s[2]>>>(d + 64, 5000);
  GIVES(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  GIVES(cudaStreamSynchronize(s[2]), cudaErrorIllegalAddress);
  GIVES(cudaMalloc((void **)&d, 16), cudaErrorIllegalAddress);
  return verdict();
}
