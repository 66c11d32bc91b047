// overlap_priority.cu - where room is short, streams of high priority go first; a graph's branches overlap.
// compilers: clang nvcc
// mode: timing
// set: kernels.concurrent=2
// expect: PASS
#include "check.h"

__global__ void spin(int *p, int n) {
  int v = p[threadIdx.x];
  for (int i = 0; i < n; i++) v = v * 3 + 1;
  p[threadIdx.x] = v;
}

int main() {
  int least = 0, greatest = 0, *d;
  cudaStream_t s[4], high;
  cudaEvent_t e[4], first;
  float ms = 0;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(greatest < least);
  OK(cudaMalloc((void **)&d, 5 * 32 * sizeof *d));
  OK(cudaMemset(d, 0, 5 * 32 * sizeof *d));
  OK(cudaStreamCreateWithPriority(&high, cudaStreamDefault, greatest));
  OK(cudaEventCreate(&first));
  for (int i = 0; i < 4; i++) {
    OK(cudaStreamCreateWithPriority(&s[i], cudaStreamDefault, least));
    OK(cudaEventCreate(&e[i]));
  }
  /* Two run, two wait; the one that came last has the highest priority. */
  for (int i = 0; i < 4; i++) {
    spin<<<1, 32, 0, s[i]>>>(d + 32 * i, 2000);
    OK(cudaEventRecord(e[i], s[i]));
  }
  spin<<<1, 32, 0, high>>>(d + 128, 100);
  OK(cudaEventRecord(first, high));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; i++) {
    OK(cudaEventElapsedTime(&ms, first, e[i]));
    EXPECT(ms > 0);
  }
  OK(cudaEventElapsedTime(&ms, e[0], e[2]));
  EXPECT(ms > 0);

#ifdef __NVCC__ /* the header that clang uses here has no graphs */
  /* A graph of two branches, captured from two streams: as long as one, not as both. */
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  float one = 0, both = 0;
  OK(cudaEventRecord(e[0], s[0]));
  spin<<<1, 32, 0, s[0]>>>(d, 3000);
  OK(cudaEventRecord(e[1], s[0]));
  OK(cudaEventSynchronize(e[1]));
  OK(cudaEventElapsedTime(&one, e[0], e[1]));
  OK(cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(e[2], s[0]));
  OK(cudaStreamWaitEvent(s[1], e[2], 0));
  spin<<<1, 32, 0, s[0]>>>(d, 3000);
  spin<<<1, 32, 0, s[1]>>>(d + 32, 3000);
  OK(cudaEventRecord(e[3], s[1]));
  OK(cudaStreamWaitEvent(s[0], e[3], 0));
  OK(cudaStreamEndCapture(s[0], &graph));
  OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  OK(cudaEventRecord(e[0], s[0]));
  OK(cudaGraphLaunch(exec, s[0]));
  OK(cudaEventRecord(e[1], s[0]));
  OK(cudaEventSynchronize(e[1]));
  OK(cudaEventElapsedTime(&both, e[0], e[1]));
  EXPECT(both < 1.3f * one);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
#endif
  return verdict();
}
