// compilers: clang nvcc
// mode: timing
// expect: PASS
/* Kernels that promise how many of their CTAs an SM holds at once, and CTAs that rely on it by waiting for each other:
 * a compiler spills registers until the promise holds. */
#include <cstdio>
#include <cuda_runtime.h>

#include "check.h"

enum { THREADS = 256, EACH = 4, LIVE = 48 };

/* Far more values live across the barrier of the grid than 32 registers hold. */
__global__ void __launch_bounds__(THREADS, EACH) wait_for_all(unsigned *arrived, const float *in, float *out) {
  float v[LIVE];
#pragma unroll
  for (int i = 0; i < LIVE; i++) v[i] = in[i * THREADS + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (*(volatile unsigned *)arrived < gridDim.x)
      ;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < LIVE; i++) sum = sum * 0.5f + v[i];
  out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

int main() {
  cudaDeviceProp p;
  OK(cudaGetDeviceProperties(&p, 0));
  int per_sm = 0, ctas = p.multiProcessorCount * EACH;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, wait_for_all, THREADS, 0));
  if (per_sm < EACH) return printf("FAIL: %d CTAs of an SM, promised %d\n", per_sm, EACH), 1;
  float *in, *out, h[LIVE * THREADS];
  unsigned *arrived;
  for (int i = 0; i < LIVE * THREADS; i++) h[i] = (float)(i % 7);
  OK(cudaMalloc(&in, sizeof h));
  OK(cudaMalloc(&out, ctas * THREADS * sizeof *out));
  OK(cudaMalloc(&arrived, sizeof *arrived));
  OK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
  OK(cudaMemset(arrived, 0, sizeof *arrived));
  wait_for_all<<<ctas, THREADS>>>(arrived, in, out);
  OK(cudaDeviceSynchronize());
  float got, sum = 0;
  OK(cudaMemcpy(&got, out + (ctas - 1) * THREADS + 5, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < LIVE; i++) sum = sum * 0.5f + h[i * THREADS + 5];
  puts(got == sum ? "PASS" : "FAIL: sum");
}
