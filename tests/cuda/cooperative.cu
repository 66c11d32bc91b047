// cooperative.cu - a grid-wide barrier of a cooperative launch, and one that is too large to be resident.
// compilers: nvcc
// expect: PASS
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void rotate(int *p, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = (int)grid.thread_rank();
  p[i] = i;
  grid.sync();
  int next = p[(i + 256) % n]; // written by another CTA
  grid.sync();
  p[i] = next;
}

int main() {
  int n = 2048, *d, h[2048];
  OK(cudaMalloc((void **)&d, sizeof h));
  void *args[] = {&d, &n};
  for (int round = 0; round < 2; round++) { // the barrier starts afresh
    OK(cudaLaunchCooperativeKernel((const void *)rotate, dim3(8), dim3(256), args, 0, 0));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(h[i] == (i + 256) % n);
  }
  GIVES(cudaLaunchCooperativeKernel((const void *)rotate, dim3(1000), dim3(256), args, 0, 0),
        cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  return verdict();
}
