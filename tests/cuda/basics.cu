// basics.cu - the calls that nearly every program makes, in the subset that Sluice's own header declares; in timing mode.
// compilers: clang nvcc
// mode: timing
// expect: PASS
#include "check.h"

__constant__ float weight[8];
__device__ float total;

__global__ void weigh(const float *in, float *out, int n) {
  __shared__ float part[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] * weight[i & 7] : 0;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = part[0];
    atomicAdd(&total, part[0]);
  }
}

int main() {
  enum { N = 1000, BLOCKS = (N + 127) / 128 };
  float h[N], w[8], *in, *out, sum = -1, want = 0, ms = 0;
  for (int i = 0; i < 8; i++) w[i] = (float)i;
  for (int i = 0; i < N; i++) h[i] = (float)(i % 10), want += h[i] * w[i & 7];
  cudaDeviceProp p;
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  OK(cudaSetDevice(0));
  OK(cudaGetDeviceProperties(&p, 0));
  EXPECT(count == 1 && p.multiProcessorCount == 15 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.major == 2);
  GIVES(cudaSetDevice(1), cudaErrorInvalidDevice);
  GIVES(cudaGetLastError(), cudaErrorInvalidDevice);
  OK(cudaMalloc((void **)&in, sizeof h));
  OK(cudaMalloc((void **)&out, BLOCKS * sizeof *out));
  OK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
  OK(cudaMemcpyToSymbol(weight, w, sizeof w));
  cudaEvent_t a, b;
  OK(cudaEventCreate(&a));
  OK(cudaEventCreate(&b));
  OK(cudaEventRecord(a, 0));
  weigh<<<BLOCKS, 128>>>(in, out, N);
  OK(cudaGetLastError());
  OK(cudaEventRecord(b, 0));
  OK(cudaEventSynchronize(b));
  OK(cudaEventElapsedTime(&ms, a, b));
  EXPECT(ms > 0.0005f && ms < 1);
  OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
  EXPECT(sum == want);
  OK(cudaFree(in));
  OK(cudaFree(out));
  return verdict();
}
