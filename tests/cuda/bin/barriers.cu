// target: compute_80
// expect: PASS
/* cuda::barrier, cuda::pipeline, cuda::atomic, cuda::semaphore. */
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/atomic>
#include <cooperative_groups.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void barriers(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[128];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int r = 0; r < 4; r++) {
    cuda::memcpy_async(s + threadIdx.x, in + r * 128 + threadIdx.x, sizeof(int), bar);
    bar.arrive_and_wait();
    out[r * 128 + threadIdx.x] = s[127 - threadIdx.x];
    auto token = bar.arrive();
    bar.wait(std::move(token));
  }
}
__global__ void producer_consumer(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> full[2], empty[2];
  __shared__ int buf[2][64];
  if (threadIdx.x < 2) { init(&full[threadIdx.x], blockDim.x); init(&empty[threadIdx.x], blockDim.x); }
  __syncthreads();
  if (threadIdx.x < 64) {
    for (int i = 0; i < 8; i++) {
      empty[i % 2].arrive_and_wait();
      buf[i % 2][threadIdx.x] = in[i * 64 + threadIdx.x] * 2;
      (void)full[i % 2].arrive();
    }
  } else {
    (void)empty[0].arrive(); (void)empty[1].arrive();
    for (int i = 0; i < 8; i++) {
      full[i % 2].arrive_and_wait();
      out[i * 64 + threadIdx.x - 64] = buf[i % 2][threadIdx.x - 64];
      (void)empty[i % 2].arrive();
    }
  }
}
__global__ void pipelined(const float4 *in, float *out, int batches) {
  constexpr int stages = 2;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  __shared__ float4 buf[stages][64];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0;
  for (int fetch = 0, b = 0; b < batches; b++) {
    for (; fetch < batches && fetch < b + stages; fetch++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, buf[fetch % stages], in + fetch * 64, cuda::aligned_size_t<16>(64 * sizeof(float4)), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    float4 v = buf[b % stages][63 - threadIdx.x];
    sum += v.x + v.y + v.z + v.w;
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
__device__ cuda::atomic<int, cuda::thread_scope_device> total{0};
__global__ void atomics(int *out) {
  total.fetch_add(threadIdx.x, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device> r(out[0]);
  r.fetch_max(threadIdx.x * 3);
  int e = 0; cuda::atomic_ref<int> q(out[1]);
  if (q.compare_exchange_strong(e, threadIdx.x + 1)) out[2] = threadIdx.x + 1;
}
int main() {
  int *in, *out, h[2048], o[2048];
  for (int i = 0; i < 2048; i++) h[i] = i * 7;
  OK(cudaMalloc(&in, sizeof h)); OK(cudaMalloc(&out, sizeof h));
  OK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
  barriers<<<1, 128>>>(in, out); OK(cudaMemcpy(o, out, sizeof o, cudaMemcpyDeviceToHost));
  bool good = true; for (int i = 0; i < 512; i++) good &= o[i] == h[i / 128 * 128 + 127 - i % 128]; EXPECT(good);
  producer_consumer<<<1, 128>>>(in, out); OK(cudaMemcpy(o, out, sizeof o, cudaMemcpyDeviceToHost));
  good = true; for (int i = 0; i < 512; i++) good &= o[i] == 2 * h[i]; EXPECT(good);
  float f[2048]; for (int i = 0; i < 2048; i++) f[i] = i; OK(cudaMemcpy(in, f, sizeof f, cudaMemcpyHostToDevice));
  pipelined<<<1, 64>>>((float4 *)in, (float *)out, 8); OK(cudaMemcpy(f, out, 256, cudaMemcpyDeviceToHost));
  good = true;
  for (int t = 0; t < 64; t++) { float s = 0; for (int b = 0; b < 8; b++) for (int k = 0; k < 4; k++) s += b * 256 + (63 - t) * 4 + k; good &= f[t] == s; }
  EXPECT(good);
  OK(cudaMemset(out, 0, 12)); atomics<<<2, 64>>>(out); OK(cudaMemcpy(o, out, 12, cudaMemcpyDeviceToHost));
  EXPECT(o[0] == 189 && o[1] && o[1] == o[2]);
  return verdict();
}
