/* Two launches of one thread each read both clocks before and after some work. */
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void clocks(unsigned long long *out) {
  unsigned long long c0, c1, t0, t1;
  asm volatile("mov.u64 %0, %%clock64; mov.u64 %1, %%globaltimer;" : "=l"(c0), "=l"(t0));
  for (volatile int i = 0; i < 1000; i++) continue;
  asm volatile("mov.u64 %0, %%clock64; mov.u64 %1, %%globaltimer;" : "=l"(c1), "=l"(t1));
  out[0] = c0, out[1] = c1, out[2] = t0, out[3] = t1;
}

int main(void) {
  unsigned long long *d, h[2][4];
  cudaMalloc((void **)&d, sizeof h);
  for (int i = 0; i < 2; i++) clocks<<<1, 1>>>(d + 4 * i);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  unsigned long long cycles = h[0][1] - h[0][0], ns = h[0][3] - h[0][2];
  printf("%.1f cycles per microsecond\n", 1e3 * (double)cycles / (double)ns);
  printf("the second launch is %s\n", h[1][0] > h[0][1] && h[1][2] > h[0][3] ? "later" : "not later");
  return cudaGetLastError();
}
