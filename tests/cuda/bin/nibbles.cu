// nibbles.cu - wmma on 4-bit integers, signed and unsigned, against the sums on the host.
// target: compute_80
#include <cstdio>
#include <cuda_runtime.h>
#include <mma.h>
using namespace nvcuda;
using namespace nvcuda::wmma::experimental;

template <class T> __global__ void multiply(const int *a, const int *b, int *c) {
  wmma::fragment<wmma::matrix_a, 8, 8, 32, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::fill_fragment(fc, 3);
  wmma::load_matrix_sync(fa, a, 64); /* rows of 64 elements, of which the first 32 take part */
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}

static int nibble(int word, int i, bool is_signed) {
  int v = word >> (4 * i) & 15;
  return is_signed && v > 7 ? v - 16 : v;
}

int main() {
  int *a, *b, *c;
  cudaMallocManaged(&a, 256);
  cudaMallocManaged(&b, 128);
  cudaMallocManaged(&c, 256);
  for (int i = 0; i < 64; i++) a[i] = i * 0x12345671 + 7;
  for (int i = 0; i < 32; i++) b[i] = i * 0x07654321 + 5;
  bool ok = true;
  for (int s = 0; s < 2; s++) {
    if (s) multiply<precision::s4><<<1, 32>>>(a, b, c);
    else multiply<precision::u4><<<1, 32>>>(a, b, c);
    ok = ok && cudaDeviceSynchronize() == cudaSuccess;
    for (int i = 0; i < 64; i++) {
      int sum = 3;
      for (int k = 0; k < 32; k++)
        sum += nibble(a[i / 8 * 8 + k / 8], k % 8, s) * nibble(b[i % 8 * 4 + k / 8], k % 8, s);
      ok = ok && c[i] == sum;
    }
  }
  puts(ok ? "PASS" : "FAIL");
  return !ok;
}
