// graphs.cu - graphs captured from streams and built by hand, launched, cloned, updated.
// compilers: nvcc
// expect: PASS
#include "check.h"

__global__ void add(int *p, int v) {
  p[threadIdx.x] += v;
}

static int host_calls;
static void CUDART_CB count(void *data) {
  host_calls += *(int *)data;
}

int main() {
  int *d, h[32], two = 2;
  cudaStream_t s, t;
  cudaEvent_t fork, join;
  OK(cudaMalloc((void **)&d, sizeof h));
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&t));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));

  cudaGraph_t g, empty;
  cudaGraphExec_t x;
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(d, 0, sizeof h, s));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  add<<<1, 32, 0, t>>>(d, 10);
  OK(cudaLaunchHostFunc(t, count, &two));
  OK(cudaEventRecord(join, t));
  add<<<1, 32, 0, s>>>(d, 1);
  OK(cudaStreamWaitEvent(s, join, 0));
  OK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s));
  GIVES(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
  OK(cudaStreamEndCapture(s, &g));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(g, NULL, &nodes));
  EXPECT(nodes == 5 && host_calls == 0);
  OK(cudaGraphInstantiate(&x, g, 0));
  memset(h, 0xff, sizeof h);
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  EXPECT(h[31] == 11 && host_calls == 6);
  OK(cudaGraphExecDestroy(x));

  /* Work that was forked off and not joined. */
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(t, fork, 0));
  add<<<1, 32, 0, t>>>(d, 10);
  GIVES(cudaStreamEndCapture(s, &empty), cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();

  /* By hand: set, then two additions in one order, then a copy. */
  cudaGraph_t m;
  cudaGraphNode_t set, first, second, copy;
  cudaMemsetParams sp = {};
  sp.dst = d;
  sp.elementSize = 4;
  sp.width = 32;
  sp.height = 1;
  sp.value = 7;
  int ten = 10, twenty = 20;
  void *args1[] = {&d, &ten}, *args2[] = {&d, &twenty};
  cudaKernelNodeParams kp = {};
  kp.func = (void *)add;
  kp.gridDim = dim3(1);
  kp.blockDim = dim3(32);
  kp.kernelParams = args1;
  OK(cudaGraphCreate(&m, 0));
  OK(cudaGraphAddMemcpyNode1D(&copy, m, NULL, 0, h, d, sizeof h, cudaMemcpyDeviceToHost));
  OK(cudaGraphAddMemsetNode(&set, m, NULL, 0, &sp));
  OK(cudaGraphAddKernelNode(&first, m, &set, 1, &kp));
  kp.kernelParams = args2;
  OK(cudaGraphAddKernelNode(&second, m, &first, 1, &kp));
#if CUDART_VERSION >= 13000
  OK(cudaGraphAddDependencies(m, &second, &copy, NULL, 1));
#else
  OK(cudaGraphAddDependencies(m, &second, &copy, 1));
#endif
  OK(cudaGraphInstantiate(&x, m, 0));
  OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  EXPECT(h[5] == 37);
  int hundred = 100;
  void *args3[] = {&d, &hundred};
  kp.kernelParams = args3;
  OK(cudaGraphExecKernelNodeSetParams(x, second, &kp));
  OK(cudaGraphLaunch(x, s));
  EXPECT(h[5] == 117);
  cudaGraph_t c;
  OK(cudaGraphClone(&c, m));
  cudaGraphExecUpdateResultInfo info;
  OK(cudaGraphExecUpdate(x, c, &info));
  OK(cudaGraphLaunch(x, s));
  EXPECT(h[5] == 37);
  GIVES(cudaGraphExecUpdate(x, g, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged || info.result == cudaGraphExecUpdateErrorNodeTypeChanged);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(m));
  OK(cudaGraphDestroy(c));
  OK(cudaGraphDestroy(g));
  cudaGetLastError();
  return verdict();
}
