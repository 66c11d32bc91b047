// streams.cu - streams, events with simulated time, host functions.
// compilers: nvcc
// expect: PASS
#include "check.h"

__global__ void spin(int *p, int n) {
  int v = p[threadIdx.x];
  for (int i = 0; i < n; i++) v = v * 3 + 1;
  p[threadIdx.x] = v;
}

static int calls;

static void CUDART_CB note(cudaStream_t stream, cudaError_t status, void *data) {
  (void)stream;
  if (status == cudaSuccess) calls += *(int *)data;
}

int main() {
  cudaStream_t a, b;
  cudaEvent_t start, stop, untimed;
  int *d, one = 1, h[64];
  float shorter = -1, longer = -1;
  OK(cudaMalloc((void **)&d, sizeof h));
  OK(cudaMemset(d, 0, sizeof h));
  OK(cudaStreamCreate(&a));
  OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  GIVES(cudaEventElapsedTime(&shorter, start, stop), cudaErrorInvalidResourceHandle);

  OK(cudaEventRecord(start, a));
  spin<<<1, 64, 0, a>>>(d, 1000);
  OK(cudaEventRecord(stop, a));
  OK(cudaEventSynchronize(stop));
  OK(cudaEventElapsedTime(&shorter, start, stop));
  OK(cudaEventRecord(start, a));
  spin<<<1, 64, 0, a>>>(d, 10000);
  OK(cudaEventRecord(stop, a));
  GIVES(cudaEventElapsedTime(&longer, start, stop), cudaErrorNotReady);
  OK(cudaEventSynchronize(stop));
  OK(cudaEventElapsedTime(&longer, start, stop));
  EXPECT(shorter > 0 && longer > 5 * shorter && longer < 20 * shorter);
  OK(cudaEventRecord(untimed, b));
  OK(cudaStreamWaitEvent(a, untimed, 0));
  GIVES(cudaEventElapsedTime(&shorter, untimed, stop), cudaErrorInvalidResourceHandle);

  OK(cudaMemsetAsync(d, 1, sizeof h, b));
  OK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, b));
  OK(cudaStreamAddCallback(b, note, &one, 0));
  OK(cudaStreamSynchronize(b));
  OK(cudaStreamQuery(b));
  OK(cudaEventQuery(stop));
  EXPECT(h[63] == 0x01010101 && calls == 1);
  OK(cudaStreamDestroy(a));
  OK(cudaStreamDestroy(b));
  OK(cudaEventDestroy(start));
  GIVES(cudaEventRecord(start, 0), cudaErrorInvalidResourceHandle);
  return verdict();
}
