// target: compute_90
// expect: PASS
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include "check.h"
__global__ void k(const float *in, float *out, int n) {
  int i = threadIdx.x; half a = __float2half(in[i]), b = __float2half(in[i + 1]); half2 p = __halves2half2(a, b), q = __hfma2(p, p, __float2half2_rn(0.5f));
  float *o = out + 16 * i; o[0] = __half2float(__hadd(a, b)); o[1] = __half2float(a * b - a); o[2] = __low2float(q); o[3] = __high2float(q); o[4] = __half2float(hexp(a)); o[5] = __half2float(hsqrt(__habs(a))); o[6] = __hgt(a, b); o[7] = __half2int_rn(a);
  o[8] = __half2float(__hmax(a, b)); o[9] = __half2float(h2exp2(p).x); __nv_bfloat16 x = __float2bfloat16(in[i]), y = __float2bfloat16(in[i + 1]); o[10] = __bfloat162float(x * y + x); o[11] = __bfloat162float(__hmin(x, y)); __nv_fp8_e4m3 f8(in[i]); o[12] = float(f8); __nv_fp8_e5m2 g8(in[i]); o[13] = float(g8);
  o[14] = __half2float(hlog(__habs(a) + __float2half(1.0f))); __shared__ half2 acc; if (i == 0) acc = __float2half2_rn(0); __syncthreads(); atomicAdd(&acc, __float2half2_rn(1)); __syncthreads(); o[15] = __high2float(acc);
}
int main() {
  const int n = 32; float in[n + 1], o[16 * n], *a, *b; for (int i = 0; i <= n; i++) in[i] = (i - 16) * 0.375f; OK(cudaMalloc(&a, sizeof in)); OK(cudaMalloc(&b, sizeof o)); OK(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice)); k<<<1, n>>>(a, b, n); OK(cudaMemcpy(o, b, sizeof o, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) { float x = in[i], y = in[i + 1]; float *q = o + 16 * i; bool good = q[0] == x + y && q[2] == __half2float(__float2half(x * x + 0.5f)) && q[3] == __half2float(__float2half(y * y + 0.5f)) && fabsf(q[4] - expf(x)) <= 2e-3f * expf(x) + 1e-6f && q[6] == (x > y) && q[8] == (x > y ? x : y) && fabsf(q[9] - exp2f(x)) <= 2e-3f * exp2f(x) && q[11] == (x < y ? x : y) && q[15] == 32;
    good &= q[12] == float(__nv_fp8_e4m3(x)) && q[13] == float(__nv_fp8_e5m2(x)); if (!good) { printf("%d:", i); for (int k = 0; k < 16; k++) printf(" %g", q[k]); puts(""); failures++; } }
  return verdict();
}
