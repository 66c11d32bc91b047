// Streams and strides, as gpu-benches has them (gpu-stream, gpu-strides): what bench/silicon/streams runs.
//
//   streams stream MILLIONS BYTES THREADS...   init, read, scale and triad of MILLIONS x 2^20 doubles by CTAs of THREADS
//                                              threads with BYTES of shared memory, each launched twice
//   streams stride                             loads of floats, then of doubles, 1 to 64 elements apart, by one CTA
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern __shared__ double unused[];

// Never true; the compiler does not know.
#define NEVER (n == 1)

__global__ void init(double *a, const double *b, const double *c, size_t n) {
  size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
  if (i >= n) return;
  if (NEVER) unused[threadIdx.x] = b[i] + c[i];
  a[i] = 0.23;
}

__global__ void read(double *a, const double *b, const double *c, size_t n) {
  size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
  if (i >= n) return;
  if (NEVER) unused[threadIdx.x] = c[i];
  double x = b[i];
  if (x == 123.0) a[i] = x;
}

__global__ void scale(double *a, const double *b, const double *c, size_t n) {
  size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
  if (i >= n) return;
  if (NEVER) unused[threadIdx.x] = c[i];
  a[i] = b[i] * 1.2;
}

__global__ void triad(double *a, const double *b, const double *c, size_t n) {
  size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
  if (i >= n) return;
  if (NEVER) unused[threadIdx.x] = c[i];
  a[i] = b[i] * 1.2 + c[i];
}

// 16 warps, 1,024 loads each.
template <typename T> __global__ void stride(T *a, T *out, int zero, int apart) {
  T sum = 0;
  T *at = a + threadIdx.x % 64 * apart;
#pragma unroll 1
  for (int n = 0; n < 1024; n += 8) {
    at += zero;
    sum += at[0] * at[4];
    sum += at[8] * at[12];
    sum += at[16] * at[20];
    sum += at[24] * at[28];
  }
  if (sum == T(123123.23)) out[threadIdx.x] = sum;
}

static int streams(int count, char **arg) {
  size_t n = (size_t)atoi(arg[0]) << 20;
  int bytes = atoi(arg[1]);
  void (*kernel[])(double *, const double *, const double *, size_t) = {init, read, scale, triad};
  double *a, *b, *c;
  cudaMalloc((void **)&a, n * sizeof *a);
  cudaMalloc((void **)&b, n * sizeof *b);
  cudaMalloc((void **)&c, n * sizeof *c);
  for (int k = 0; k < 4; k++)
    cudaFuncSetAttribute((const void *)kernel[k], cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  for (int i = 2; i < count; i++)
    for (int k = 0; k < 4; k++)
      for (int r = 0; r < 2; r++) {
        unsigned threads = (unsigned)atoi(arg[i]);
        kernel[k]<<<(unsigned)((n + threads - 1) / threads), threads, bytes>>>(a, b, c, n);
      }
  return cudaDeviceSynchronize() != cudaSuccess;
}

static int strides(void) {
  double *a, *out;
  cudaMalloc((void **)&a, 1 << 20);
  cudaMalloc((void **)&out, 1 << 20);
  for (int apart = 1; apart <= 64; apart++) stride<float><<<1, 512>>>((float *)a, (float *)out, 0, apart);
  for (int apart = 1; apart <= 64; apart++) stride<double><<<1, 512>>>(a, out, 0, apart);
  return cudaDeviceSynchronize() != cudaSuccess;
}

int main(int count, char **arg) {
  int failed = 2;
  if (count > 4 && !strcmp(arg[1], "stream")) failed = streams(count - 2, arg + 2);
  else if (count == 2 && !strcmp(arg[1], "stride")) failed = strides();
  if (failed) fprintf(stderr, failed == 2 ? "usage: streams stream MILLIONS BYTES THREADS... | streams stride\n" : "failed\n");
  return failed;
}
