// target: compute_75
// expect: hello from 0 1.500000|PASS
/* In the style of the CUDA samples: scan, histogram, transpose, constant-memory convolution, Mandelbrot, n-body,
 * textures, surfaces, votes, atomics, streams, events, templates, printf, function pointers, recursion. */
#include "check.h"
#include <math.h>
template <int N> __global__ void transpose(const float *in, float *out, int w, int h) {
  __shared__ float tile[N][N + 1];
  int x = blockIdx.x * N + threadIdx.x, y = blockIdx.y * N + threadIdx.y;
  for (int j = 0; j < N; j += blockDim.y) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * N + threadIdx.x; y = blockIdx.x * N + threadIdx.y;
  for (int j = 0; j < N; j += blockDim.y) if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
__constant__ float taps[17];
__global__ void conv(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;
#pragma unroll
  for (int k = -8; k <= 8; k++) if (i + k >= 0 && i + k < n) s += taps[8 - k] * in[i + k];
  if (i < n) out[i] = s;
}
__global__ void mandel(int *out, int w, double x0, double y0, double d) {
  int px = blockIdx.x * 16 + threadIdx.x, py = blockIdx.y * 16 + threadIdx.y, it = 0;
  double cx = x0 + d * px, cy = y0 + d * py, zx = 0, zy = 0;
  while (it < 64 && zx * zx + zy * zy < 4) { double t = fma(zx, zx, -zy * zy) + cx; zy = 2 * zx * zy + cy; zx = t; it++; }
  out[py * w + px] = it;
}
__device__ float3 pull(float4 a, float4 b, float3 acc) {
  float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z, r2 = dx * dx + dy * dy + dz * dz + 0.01f, inv = rsqrtf(r2), f = b.w * inv * inv * inv;
  acc.x += dx * f; acc.y += dy * f; acc.z += dz * f; return acc;
}
__global__ void nbody(const float4 *p, float3 *a, int n) {
  extern __shared__ float4 sh[];
  int i = blockIdx.x * blockDim.x + threadIdx.x; float3 acc = make_float3(0, 0, 0);
  for (int t = 0; t < n; t += blockDim.x) { sh[threadIdx.x] = p[t + threadIdx.x]; __syncthreads();
    for (int k = 0; k < blockDim.x; k++) acc = pull(p[i], sh[k], acc); __syncthreads(); }
  a[i] = acc;
}
__global__ void texsurf(cudaTextureObject_t t, cudaSurfaceObject_t s, int w, int h, float angle) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y; if (x >= w || y >= h) return;
  float u = x / (float)w - 0.5f, v = y / (float)h - 0.5f;
  surf2Dwrite(tex2D<float>(t, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f), s, x * 4, y);
}
__global__ void votes(unsigned *o) {
  unsigned t = threadIdx.x; bool p = t % 5 < 2;
  unsigned b = __ballot_sync(~0u, p); o[4 * t] = __popc(b & ((1u << (t % 32)) - 1)); o[4 * t + 1] = __any_sync(~0u, t == 3) + 2 * __all_sync(~0u, t < 64);
  o[4 * t + 2] = __shfl_xor_sync(~0u, t, 5) + __match_any_sync(~0u, t % 4); o[4 * t + 3] = __syncthreads_count(p);
}
__global__ void atoms(int *g) {
  int t = blockDim.x * blockIdx.x + threadIdx.x;
  atomicAdd(&g[0], 10); atomicSub(&g[1], 10); atomicExch(&g[2], t); atomicMax(&g[3], t); atomicMin(&g[4], t); atomicInc((unsigned *)&g[5], 17); atomicDec((unsigned *)&g[6], 137);
  atomicCAS(&g[7], t - 1, t); atomicAnd(&g[8], 2 * t + 7); atomicOr(&g[9], 1 << (t % 31)); atomicXor(&g[10], t); atomicAdd((float *)&g[11], 0.5f); atomicAdd((unsigned long long *)&g[12], 3ull); atomicAdd((double *)&g[14], 0.25);
}
typedef int (*fn)(int);
__device__ int twice(int x) { return 2 * x; } __device__ int square(int x) { return x * x; }
__device__ fn table[2] = {twice, square};
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
struct Big { int v[20]; double d; __device__ virtual int f() { return v[3]; } };
struct Shape { __device__ virtual float area() const = 0; }; struct Sq : Shape { float s; __device__ Sq(float s) : s(s) {} __device__ float area() const { return s * s; } };
struct Ci : Shape { float r; __device__ Ci(float r) : r(r) {} __device__ float area() const { return 3.0f * r * r; } };
struct Args { int v[20]; double d; char c; };
__global__ void calls(int *o, Args a, int n) {
  int t = threadIdx.x; o[t] = table[t & 1](t) + fib(t % 10) + a.v[t % 20] + (int)a.d + a.c;
  Shape *s = t & 1 ? (Shape *)new Sq(t) : (Shape *)new Ci(t); o[t] += (int)s->area(); delete s;
  int *q = (int *)malloc(t * 4 + 4); for (int i = 0; i <= t; i++) q[i] = i; int sum = 0; for (int i = 0; i <= t; i++) sum += q[i]; free(q); o[t] += sum;
  if (t == 0) printf("hello from %d %f\n", t, 1.5);
}
int main() {
  bool good; cudaDeviceProp prop; OK(cudaGetDeviceProperties(&prop, 0));
  { const int w = 70, h = 50; float *a, *b, ha[w * h], hb[w * h]; for (int i = 0; i < w * h; i++) ha[i] = i; OK(cudaMalloc(&a, sizeof ha)); OK(cudaMalloc(&b, sizeof ha)); OK(cudaMemcpy(a, ha, sizeof ha, cudaMemcpyHostToDevice));
    transpose<32><<<dim3(3, 2), dim3(32, 8)>>>(a, b, w, h); OK(cudaMemcpy(hb, b, sizeof hb, cudaMemcpyDeviceToHost)); good = true; for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) good &= hb[x * h + y] == ha[y * w + x]; EXPECT(good);
    float tp[17]; for (int i = 0; i < 17; i++) tp[i] = i * 0.5f; OK(cudaMemcpyToSymbol(taps, tp, sizeof tp)); conv<<<28, 128>>>(a, b, w * h); OK(cudaMemcpy(hb, b, sizeof hb, cudaMemcpyDeviceToHost));
    good = true; for (int i = 0; i < w * h; i++) { float s = 0; for (int k = -8; k <= 8; k++) if (i + k >= 0 && i + k < w * h) s = fmaf(tp[8 - k], ha[i + k], s); good &= s == hb[i]; } EXPECT(good); }
  { int *o, ho[4096]; OK(cudaMalloc(&o, sizeof ho)); mandel<<<dim3(4, 4), dim3(16, 16)>>>(o, 64, -2, -1.2, 0.04); OK(cudaMemcpy(ho, o, sizeof ho, cudaMemcpyDeviceToHost)); int diff = 0;
    for (int p = 0; p < 4096; p++) { double cx = -2 + 0.04 * (p % 64), cy = -1.2 + 0.04 * (p / 64), zx = 0, zy = 0; int it = 0; while (it < 64 && zx * zx + zy * zy < 4) { double t = fma(zx, zx, -zy * zy) + cx; zy = 2 * zx * zy + cy; zx = t; it++; } diff += it != ho[p]; } EXPECT(diff < 40); }
  { const int n = 256; float4 hp[n], *p; float3 ha[n], *a; for (int i = 0; i < n; i++) hp[i] = make_float4(i % 7, i % 5, i % 3, 1); OK(cudaMalloc(&p, sizeof hp)); OK(cudaMalloc(&a, sizeof ha)); OK(cudaMemcpy(p, hp, sizeof hp, cudaMemcpyHostToDevice));
    nbody<<<2, 128, 128 * sizeof(float4)>>>(p, a, n); OK(cudaMemcpy(ha, a, sizeof ha, cudaMemcpyDeviceToHost)); good = true;
    for (int i = 0; i < n; i++) { double x = 0; for (int k = 0; k < n; k++) { double dx = hp[k].x - hp[i].x, dy = hp[k].y - hp[i].y, dz = hp[k].z - hp[i].z, r2 = dx * dx + dy * dy + dz * dz + 0.01; x += dx / (r2 * sqrt(r2)); } good &= fabs(x - ha[i].x) < 1e-2 + 1e-4 * fabs(x); } EXPECT(good); }
  { const int w = 32, h = 16; cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(); cudaArray_t A, B; OK(cudaMallocArray(&A, &d, w, h)); OK(cudaMallocArray(&B, &d, w, h, cudaArraySurfaceLoadStore)); float img[w * h], out[w * h]; for (int i = 0; i < w * h; i++) img[i] = i;
    OK(cudaMemcpy2DToArray(A, 0, 0, img, w * 4, w * 4, h, cudaMemcpyHostToDevice)); cudaResourceDesc r = {}; r.resType = cudaResourceTypeArray; r.res.array.array = A; cudaTextureDesc td = {}; td.addressMode[0] = td.addressMode[1] = cudaAddressModeWrap; td.filterMode = cudaFilterModePoint; td.normalizedCoords = 1;
    cudaTextureObject_t t; cudaSurfaceObject_t s; OK(cudaCreateTextureObject(&t, &r, &td, 0)); r.res.array.array = B; OK(cudaCreateSurfaceObject(&s, &r)); texsurf<<<dim3(2, 1), dim3(16, 16)>>>(t, s, w, h, 0); OK(cudaMemcpy2DFromArray(out, w * 4, B, 0, 0, w * 4, h, cudaMemcpyDeviceToHost)); EXPECT(!memcmp(img, out, sizeof img));
    OK(cudaDestroyTextureObject(t)); OK(cudaDestroySurfaceObject(s)); OK(cudaFreeArray(A)); OK(cudaFreeArray(B)); }
  { unsigned *o, h[256]; OK(cudaMalloc(&o, sizeof h)); votes<<<1, 64>>>(o); OK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost)); good = true; for (unsigned t = 0; t < 64; t++) { unsigned rank = 0, m = 0; for (unsigned k = t / 32 * 32; k < t; k++) rank += k % 5 < 2; for (unsigned k = 0; k < 32; k++) m |= (unsigned)(k % 4 == t % 4) << k;
      good &= h[4 * t] == rank && h[4 * t + 1] == (t < 32 ? 3 : 2) && h[4 * t + 2] == (t ^ 5) + m && h[4 * t + 3] == 26; } EXPECT(good); }
  { int *g, h[16] = {0, 0, 0, -1, 9999, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0}; OK(cudaMalloc(&g, sizeof h)); OK(cudaMemcpy(g, h, sizeof h, cudaMemcpyHostToDevice)); atoms<<<4, 64>>>(g); OK(cudaMemcpy(h, g, sizeof h, cudaMemcpyDeviceToHost)); float f; double d; unsigned long long u; memcpy(&f, h + 11, 4); memcpy(&u, h + 12, 8); memcpy(&d, h + 14, 8);
    EXPECT(h[0] == 2560 && h[1] == -2560 && h[3] == 255 && h[4] == 0 && h[5] == 256 % 18 && h[8] == 1 && h[9] == 0x7fffffff && h[10] == 0 && f == 128 && u == 768 && d == 64); }
  { int *o, h[64]; Args a; for (int i = 0; i < 20; i++) a.v[i] = i * 3; a.d = 5.5; a.c = 7; OK(cudaMalloc(&o, sizeof h)); calls<<<1, 64>>>(o, a, 3); OK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost)); int fb[10] = {0, 1}; for (int i = 2; i < 10; i++) fb[i] = fb[i - 1] + fb[i - 2]; good = true;
    for (int t = 0; t < 64; t++) good &= h[t] == (t & 1 ? t * t : 2 * t) + fb[t % 10] + t % 20 * 3 + 5 + 7 + (t & 1 ? t * t : 3 * t * t) + t * (t + 1) / 2; EXPECT(good); }
  { const int n = 4096, S = 4; int *h, *d; cudaStream_t s[S]; cudaEvent_t a, b; OK(cudaHostAlloc(&h, n * 4, 0)); OK(cudaMalloc(&d, n * 4)); OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b)); for (int i = 0; i < n; i++) h[i] = i; OK(cudaEventRecord(a));
    for (int i = 0; i < S; i++) { OK(cudaStreamCreate(&s[i])); OK(cudaMemcpyAsync(d + i * n / S, h + i * n / S, n / S * 4, cudaMemcpyHostToDevice, s[i])); OK(cudaMemsetAsync(d + i * n / S, 0, 4, s[i])); OK(cudaMemcpyAsync(h + i * n / S, d + i * n / S, n / S * 4, cudaMemcpyDeviceToHost, s[i])); }
    OK(cudaEventRecord(b)); OK(cudaEventSynchronize(b)); float ms; OK(cudaEventElapsedTime(&ms, a, b)); EXPECT(ms >= 0); good = true; for (int i = 0; i < n; i++) good &= h[i] == (i % (n / S) ? i : 0); EXPECT(good); for (int i = 0; i < S; i++) OK(cudaStreamDestroy(s[i])); }
  return verdict();
}
