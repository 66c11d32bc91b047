// target: compute_75
// expect: PASS
#include "check.h"
__global__ void add(int *p, int v) { p[threadIdx.x] += v; }
__global__ void mul(int *p, int v) { p[threadIdx.x] *= v; }
static void CUDART_CB host(void *q) { *(int *)q += 1; }
int main() {
  int *d, h[32], calls = 0; cudaStream_t s, t; cudaGraph_t g; cudaGraphExec_t x; OK(cudaStreamCreate(&s)); OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking)); OK(cudaMallocAsync(&d, 128, s)); OK(cudaMemsetAsync(d, 0, 128, s)); OK(cudaStreamSynchronize(s));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); add<<<1, 32, 0, s>>>(d, 3); mul<<<1, 32, 0, s>>>(d, 2); OK(cudaLaunchHostFunc(s, host, &calls)); OK(cudaStreamEndCapture(s, &g)); OK(cudaGraphInstantiate(&x, g, 0)); for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(x, s)); OK(cudaStreamSynchronize(s));
  OK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost)); EXPECT(h[5] == 42 && calls == 3); size_t n; OK(cudaGraphGetNodes(g, NULL, &n)); EXPECT(n == 3);
  cudaGraph_t m; OK(cudaGraphCreate(&m, 0)); int v = 7; void *args[] = {&d, &v}; cudaKernelNodeParams kp = {}; kp.func = (void *)add; kp.gridDim = 1; kp.blockDim = 32; kp.kernelParams = args; cudaGraphNode_t n1, n2; OK(cudaGraphAddKernelNode(&n1, m, NULL, 0, &kp)); OK(cudaGraphAddMemcpyNode1D(&n2, m, &n1, 1, h, d, 128, cudaMemcpyDeviceToHost)); cudaGraphExec_t y; OK(cudaGraphInstantiate(&y, m, 0)); OK(cudaGraphLaunch(y, t)); OK(cudaStreamSynchronize(t)); EXPECT(h[9] == 49);
  v = 1; OK(cudaGraphExecKernelNodeSetParams(y, n1, &kp)); OK(cudaGraphLaunch(y, t)); OK(cudaStreamSynchronize(t)); EXPECT(h[9] == 50);
  OK(cudaGraphExecDestroy(x)); OK(cudaGraphDestroy(g)); OK(cudaFreeAsync(d, s)); OK(cudaStreamSynchronize(s));
  int *q; OK(cudaMallocManaged(&q, 128)); for (int i = 0; i < 32; i++) q[i] = i; cudaMemLocation loc = {cudaMemLocationTypeDevice, 0}; OK(cudaMemPrefetchAsync(q, 128, loc, 0, s)); add<<<1, 32, 0, s>>>(q, 1); OK(cudaDeviceSynchronize()); EXPECT(q[31] == 32); OK(cudaFree(q));
  cudaLaunchConfig_t cfg = {}; cfg.gridDim = 1; cfg.blockDim = 32; cfg.stream = s; OK(cudaMalloc(&d, 128)); OK(cudaMemset(d, 0, 128)); OK(cudaLaunchKernelEx(&cfg, add, d, 9)); OK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost)); EXPECT(h[0] == 9);
  int minG, blk; OK(cudaOccupancyMaxPotentialBlockSize(&minG, &blk, add)); EXPECT(blk >= 256);
  return verdict();
}
