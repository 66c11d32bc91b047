// target: compute_80
// expect: PASS
/* wmma in half, bf16, tf32, int8, double. */
#include <mma.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include "check.h"
using namespace nvcuda;
template <class T, class F, class A, int M, int N, int K> __global__ void gemm(const T *a, const T *b, A *c) {
  wmma::fragment<wmma::matrix_a, M, N, K, F, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, F, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, A> fc;
  wmma::fill_fragment(fc, A(1));
  for (int k = 0; k < 2; k++) {
    wmma::load_matrix_sync(fa, (const T *)a + k * K, 2 * K);
    wmma::load_matrix_sync(fb, (const T *)b + k * K, 2 * K);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i];
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
template <class T, class F, class A, int M, int N, int K> void test(const char *name, T (*from)(float)) {
  T ha[M * 2 * K], hb[N * 2 * K]; A hc[M * N];
  float fa[M * 2 * K], fb[N * 2 * K];
  for (int i = 0; i < M * 2 * K; i++) fa[i] = (i * 7) % 13 - 6, ha[i] = from(fa[i]);
  for (int i = 0; i < N * 2 * K; i++) fb[i] = (i * 5) % 11 - 5, hb[i] = from(fb[i]);
  T *a, *b; A *c; OK(cudaMalloc(&a, sizeof ha)); OK(cudaMalloc(&b, sizeof hb)); OK(cudaMalloc(&c, sizeof hc));
  OK(cudaMemcpy(a, ha, sizeof ha, cudaMemcpyHostToDevice)); OK(cudaMemcpy(b, hb, sizeof hb, cudaMemcpyHostToDevice));
  gemm<T, F, A, M, N, K><<<1, 32>>>(a, b, c);
  OK(cudaMemcpy(hc, c, sizeof hc, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {
    float s = 1; for (int k = 0; k < 2 * K; k++) s += fa[i * 2 * K + k] * fb[j * 2 * K + k];
    bad += (float)hc[i * N + j] != 2 * s;
  }
  if (bad) printf("%s: %d wrong\n", name, bad), failures++;
}
int main() {
  test<half, half, float, 16, 16, 16>("half", [](float f) { return __float2half(f); });
  test<half, half, half, 16, 16, 16>("half half", [](float f) { return __float2half(f); });
  test<half, half, float, 32, 8, 16>("half 32x8", [](float f) { return __float2half(f); });
  test<__nv_bfloat16, __nv_bfloat16, float, 16, 16, 16>("bf16", [](float f) { return __float2bfloat16(f); });
  test<__nv_bfloat16, __nv_bfloat16, float, 8, 32, 16>("bf16 8x32", [](float f) { return __float2bfloat16(f); });
  test<float, wmma::precision::tf32, float, 16, 16, 8>("tf32", [](float f) { return f; });
  test<signed char, signed char, int, 16, 16, 16>("s8", [](float f) { return (signed char)f; });

  test<double, double, double, 8, 8, 4>("f64", [](float f) { return (double)f; });
  return verdict();
}
