/* fft - batches of 512-point complex Fourier transforms
 *
 * Program: SHOC fft (512 points, radix 8)
 * Suites: decoupled-l1d=FFT
 * Groups: decoupled-l1d=cache-insensitive
 * Algorithm: a CTA of 64 threads transforms 512 points with three radix-8 passes; between passes the points are
 *   exchanged through shared memory with padding against bank conflicts.
 * Loads: eight coalesced reads of pairs per
 *   thread, 64 pairs apart, once; everything else is in registers and shared memory.
 * Simplified: forward transform only.
 */
#include "../common/wl.h"

#define POINTS 512
#define THREADS 64

__device__ float2 mul(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ float2 add(float2 a, float2 b) {
  return make_float2(a.x + b.x, a.y + b.y);
}
__device__ float2 sub(float2 a, float2 b) {
  return make_float2(a.x - b.x, a.y - b.y);
}
__device__ void fft2(float2 &a, float2 &b) {
  float2 t = a;
  a = add(t, b);
  b = sub(t, b);
}
__device__ float2 turn(float2 a) { /* times -i */
  return make_float2(a.y, -a.x);
}
/* Eight points in registers; result k ends at a[reverse of k]. */
__device__ void fft8(float2 a[8]) {
  const float r = 0.70710678118654752f;
  for (int k = 0; k < 4; k++) fft2(a[k], a[k + 4]);
  a[5] = mul(a[5], make_float2(r, -r));
  a[6] = turn(a[6]);
  a[7] = mul(a[7], make_float2(-r, -r));
  for (int h = 0; h < 8; h += 4) {
    fft2(a[h], a[h + 2]);
    fft2(a[h + 1], a[h + 3]);
    a[h + 3] = turn(a[h + 3]);
    fft2(a[h], a[h + 1]);
    fft2(a[h + 2], a[h + 3]);
  }
}
__device__ void twiddle(float2 a[8], int i, int n) {
  const int rev[8] = {0, 4, 2, 6, 1, 5, 3, 7};
#pragma unroll
  for (int k = 1; k < 8; k++) {
    float phi = -6.28318530717958647692f * (float)(rev[k] * i) / (float)n;
    a[k] = mul(a[k], make_float2(__cosf(phi), __sinf(phi)));
  }
}
/* Through shared memory, one component at a time: out of s[store * k + at], in from s[load * k + from]. */
__device__ void exchange(float2 a[8], float *s, int at, int store, int from, int load) {
  const int rev[8] = {0, 4, 2, 6, 1, 5, 3, 7};
#pragma unroll
  for (int k = 0; k < 8; k++) s[rev[k] * store + at] = a[k].x;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; k++) a[k].x = s[k * load + from];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; k++) s[rev[k] * store + at] = a[k].y;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 8; k++) a[k].y = s[k * load + from];
  __syncthreads();
}

__global__ void fft512(float2 *work) {
  __shared__ float s[8 * 8 * 9];
  int t = threadIdx.x, hi = t >> 3, lo = t & 7;
  const int rev[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  float2 a[8];
  work += blockIdx.x * POINTS + t;
#pragma unroll
  for (int k = 0; k < 8; k++) a[k] = work[k * 64];
  fft8(a);
  twiddle(a, t, 512);
  exchange(a, s, hi * 8 + lo, 66, lo * 66 + hi, 8);
  fft8(a);
  twiddle(a, hi, 64);
  exchange(a, s, hi * 8 + lo, 8 * 9, hi * 8 * 9 + lo, 8);
  fft8(a);
#pragma unroll
  for (int k = 0; k < 8; k++) work[rev[k] * 64] = a[k];
}

/* Recursive transform in double precision. */
static void reference(std::vector<double> *re, std::vector<double> *im) {
  size_t n = re->size();
  if (n == 1) return;
  std::vector<double> half[4];
  for (size_t i = 0; i < n; i++) {
    half[i & 1].push_back((*re)[i]);
    half[2 + (i & 1)].push_back((*im)[i]);
  }
  reference(&half[0], &half[2]);
  reference(&half[1], &half[3]);
  for (size_t k = 0; k < n / 2; k++) {
    double phi = -2 * M_PI * (double)k / (double)n, c = cos(phi), s = sin(phi);
    double x = half[1][k] * c - half[3][k] * s, y = half[1][k] * s + half[3][k] * c;
    (*re)[k] = half[0][k] + x;
    (*im)[k] = half[2][k] + y;
    (*re)[k + n / 2] = half[0][k] - x;
    (*im)[k + n / 2] = half[2][k] - y;
  }
}

int main(int argc, char **argv) {
  struct wl w = wl_begin(argc, argv, "fft");
  int batch = wl_int(&w, "batch", wl_by_size(64, 1024, 16384), 1, 65535, "transforms");
  wl_ready(&w);

  uint64_t seed = w.seed;
  std::vector<float2> x((size_t)batch * POINTS);
  for (float2 &v : x) v = make_float2(wl_range(&seed, -1, 1), wl_range(&seed, -1, 1));
  float2 *d = wl_upload(x);
  fft512<<<(unsigned)batch, THREADS>>>(d);
  WL_LAUNCHED();
  std::vector<float2> got = wl_download(d, x.size());
  struct wl_check chk = {};
  for (size_t b = 0; b < (size_t)batch; b++) {
    std::vector<double> re, im;
    for (size_t i = 0; i < POINTS; i++) {
      re.push_back(x[b * POINTS + i].x);
      im.push_back(x[b * POINTS + i].y);
    }
    reference(&re, &im);
    for (size_t i = 0; i < POINTS; i++) {
      wl_near(&chk, "real part", b * POINTS + i, got[b * POINTS + i].x, re[i], 1e-3);
      wl_near(&chk, "imaginary part", b * POINTS + i, got[b * POINTS + i].y, im[i], 1e-3);
    }
  }
  return wl_end(&w, &chk);
}
