// memory.cu - memory of every kind, copied and set in every shape.
// compilers: nvcc
// expect: PASS
#include "check.h"

__device__ int table[16];
__constant__ float scale[4];

__global__ void twice(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}
__global__ void add_table(int *p) {
  p[threadIdx.x] += table[threadIdx.x] * (int)scale[threadIdx.x & 3];
}
__global__ void rows(const char *p, size_t pitch, int *out) {
  out[threadIdx.x] = p[threadIdx.x * pitch + 3];
}

static void linear() {
  int h[100], g[100], *d = NULL, *e = NULL;
  for (int i = 0; i < 100; i++) h[i] = i;
  OK(cudaMalloc((void **)&d, sizeof h));
  OK(cudaMalloc((void **)&e, sizeof h));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
  twice<<<4, 32>>>(d, 100);
  OK(cudaMemcpy(e, d, sizeof h, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(g, e, sizeof h, cudaMemcpyDefault));
  for (int i = 0; i < 100; i++) EXPECT(g[i] == 2 * i);
  OK(cudaMemset(d, 0x5a, 40));
  OK(cudaMemcpy(g, d, sizeof h, cudaMemcpyDeviceToHost));
  EXPECT(g[9] == 0x5a5a5a5a && g[10] == 20);
  GIVES(cudaMemcpy(g, d + 90, 44, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  GIVES(cudaMemset(d, 0, 401), cudaErrorInvalidValue);
  size_t avail = 0, total = 0;
  OK(cudaMemGetInfo(&avail, &total));
  EXPECT(avail < total && total > ((size_t)1 << 30));
  OK(cudaFree(d));
  OK(cudaFree(e));
  GIVES(cudaFree(d), cudaErrorInvalidValue);
  OK(cudaFree(0));
}

static void pitched() {
  char h[8][24], g[8][24], *d;
  int *out, got[8];
  size_t pitch = 0;
  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 24; x++) h[y][x] = (char)(y * 24 + x);
  OK(cudaMallocPitch((void **)&d, &pitch, 24, 8));
  EXPECT(pitch >= 24 && pitch % 32 == 0);
  OK(cudaMemset2D(d, pitch, 7, 24, 8));
  OK(cudaMemcpy2D(d, pitch, h, 24, 24, 8, cudaMemcpyHostToDevice));
  OK(cudaMalloc((void **)&out, sizeof got));
  rows<<<1, 8>>>(d, pitch, out);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 8; y++) EXPECT(got[y] == h[y][3]);
  OK(cudaMemcpy2D(g, 24, d, pitch, 24, 8, cudaMemcpyDeviceToHost));
  EXPECT(memcmp(h, g, sizeof h) == 0);
  GIVES(cudaMemcpy2D(g, 8, d, pitch, 24, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
  OK(cudaFree(d));
  OK(cudaFree(out));
}

static void volume() {
  enum { W = 5, H = 4, D = 3 };
  int h[D][H][W], g[D][H][W];
  for (int i = 0; i < D * H * W; i++) ((int *)h)[i] = i;
  cudaPitchedPtr d;
  cudaExtent all = make_cudaExtent(W * sizeof(int), H, D);
  OK(cudaMalloc3D(&d, all));
  cudaMemcpy3DParms p;
  memset(&p, 0, sizeof p);
  p.srcPtr = make_cudaPitchedPtr(h, W * sizeof(int), W, H);
  p.dstPtr = d;
  p.extent = all;
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  memset(g, 0, sizeof g);
  memset(&p, 0, sizeof p);
  p.srcPtr = d;
  p.srcPos = make_cudaPos(sizeof(int), 1, 1); // without the first column, row and slice
  p.dstPtr = make_cudaPitchedPtr(g, W * sizeof(int), W, H);
  p.extent = make_cudaExtent((W - 1) * sizeof(int), H - 1, D - 1);
  p.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&p));
  for (int z = 0; z < D - 1; z++)
    for (int y = 0; y < H - 1; y++)
      for (int x = 0; x < W - 1; x++) EXPECT(g[z][y][x] == h[z + 1][y + 1][x + 1]);
  OK(cudaMemset3D(d, 1, all));
  p.srcPos = make_cudaPos(0, 0, 0);
  OK(cudaMemcpy3D(&p));
  EXPECT(g[0][0][0] == 0x01010101 && g[D - 2][H - 2][W - 2] == 0x01010101);
  OK(cudaFree(d.ptr));
}

static void symbols() {
  int t[16], *d, got[16];
  float s[4] = {1, 2, 3, 4};
  for (int i = 0; i < 16; i++) t[i] = i;
  OK(cudaMemcpyToSymbol(table, t, sizeof t));
  OK(cudaMemcpyToSymbol(scale, s, sizeof s));
  OK(cudaMemcpyToSymbol(table, t + 1, 4, 8)); // table[2] = 1
  size_t bytes = 0;
  void *at = NULL;
  OK(cudaGetSymbolSize(&bytes, table));
  EXPECT(bytes == sizeof t);
  OK(cudaGetSymbolAddress(&at, table));
  OK(cudaMemcpy(got, at, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got[2] == 1 && got[15] == 15);
  OK(cudaMalloc((void **)&d, sizeof got));
  OK(cudaMemset(d, 0, sizeof got));
  add_table<<<1, 16>>>(d);
  OK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(got[2] == 3 && got[7] == 28);
  OK(cudaMemcpyFromSymbol(got, table, 8, 4));
  EXPECT(got[0] == 1 && got[1] == 1);
  GIVES(cudaMemcpyToSymbol(table, t, 65), cudaErrorInvalidValue);
  OK(cudaFree(d));
}

static void host_memory() {
  int *pinned, *mapped, *same, *m, local[64];
  OK(cudaMallocHost((void **)&pinned, 256));
  OK(cudaHostAlloc((void **)&mapped, 256, cudaHostAllocMapped));
  for (int i = 0; i < 64; i++) pinned[i] = mapped[i] = local[i] = i;
  OK(cudaHostGetDevicePointer((void **)&same, mapped, 0));
  twice<<<2, 32>>>(same, 64);
  OK(cudaDeviceSynchronize());
  EXPECT(mapped[63] == 126 && pinned[63] == 63);
  unsigned flags = 0;
  OK(cudaHostGetFlags(&flags, mapped));
  EXPECT(flags & cudaHostAllocMapped);
  OK(cudaMallocManaged((void **)&m, 256));
  for (int i = 0; i < 64; i++) m[i] = 3 * i;
  twice<<<2, 32>>>(m, 64);
  OK(cudaDeviceSynchronize());
  EXPECT(m[10] == 60);
  OK(cudaHostRegister(local, sizeof local, cudaHostRegisterMapped));
  GIVES(cudaHostRegister(local, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaHostGetDevicePointer((void **)&same, local, 0));
  twice<<<2, 32>>>(same, 64);
  OK(cudaDeviceSynchronize());
  EXPECT(local[20] == 40);
  OK(cudaHostUnregister(local));
  GIVES(cudaHostUnregister(local), cudaErrorHostMemoryNotRegistered);
  cudaPointerAttributes a;
  OK(cudaPointerGetAttributes(&a, m));
  EXPECT(a.type == cudaMemoryTypeManaged && a.hostPointer == m);
  OK(cudaPointerGetAttributes(&a, pinned));
  EXPECT(a.type == cudaMemoryTypeHost);
  OK(cudaPointerGetAttributes(&a, local));
  EXPECT(a.type == cudaMemoryTypeUnregistered);
  OK(cudaFreeHost(pinned));
  OK(cudaFreeHost(mapped));
  OK(cudaFree(m));
}

int main() {
  linear();
  pitched();
  volume();
  symbols();
  host_memory();
  cudaGetLastError(); // of the calls that were meant to fail
  OK(cudaGetLastError());
  return verdict();
}
