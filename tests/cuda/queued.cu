/* queued.cu - for tests/cuda/run: keeps several streams busy for as long as it is let, says so, and waits. With a
 * number of rounds as argument it ends by itself. */
#include "check.h"

enum { STREAMS = 4, N = 4096 };

__global__ void spin(unsigned *p, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = p[i];
  for (int k = 0; k < n; k++) v = v * 3 + p[(i + k) % N];
  p[i] = v;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 100;
  cudaStream_t stream[STREAMS];
  unsigned *device[STREAMS], *host;
  OK(cudaMallocHost(&host, N * sizeof *host));
  for (int s = 0; s < STREAMS; s++) {
    OK(cudaMalloc(&device[s], N * sizeof **device));
    OK(cudaStreamCreate(&stream[s]));
  }
  for (int r = 0; r < rounds; r++)
    for (int s = 0; s < STREAMS; s++) {
      OK(cudaMemcpyAsync(device[s], host, N * sizeof *host, cudaMemcpyHostToDevice, stream[s]));
      spin<<<N / 256, 256, 0, stream[s]>>>(device[s], argc > 1 ? 10 : 100000);
    }
  puts("queued");
  fflush(stdout);
  OK(cudaDeviceSynchronize());
  return verdict();
}
