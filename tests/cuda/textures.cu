// textures.cu - texture and surface objects on arrays and on linear memory.
// compilers: nvcc
// expect: PASS
#include "check.h"

__global__ void fetch(cudaTextureObject_t t, float *out, int n) {
  int i = threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(t, i);
}
__global__ void sample(cudaTextureObject_t t, float *out) {
  out[threadIdx.y * blockDim.x + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}
__global__ void between(cudaTextureObject_t t, float *out) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 1.0f, 0.5f);
}
__global__ void normalised(cudaTextureObject_t t, float4 *out) {
  out[threadIdx.x] = tex2D<float4>(t, (threadIdx.x + 0.5f) / 4, 0.5f / 2);
}
__global__ void negate(cudaSurfaceObject_t s) {
  float v;
  surf2Dread(&v, s, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(-v, s, threadIdx.x * 4, threadIdx.y);
}

enum { W = 8, H = 4 };

int main() {
  float h[H][W], got[H][W], *d, *out;
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) h[y][x] = 10.0f * y + x;
  OK(cudaMalloc((void **)&d, sizeof h));
  OK(cudaMalloc((void **)&out, sizeof h));
  OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));

  cudaResourceDesc r = {};
  cudaTextureDesc t = {};
  cudaTextureObject_t o = 0;
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = d;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = sizeof h;
  t.readMode = cudaReadModeElementType;
  OK(cudaCreateTextureObject(&o, &r, &t, NULL));
  fetch<<<1, 32>>>(o, out, W * H);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(memcmp(h, got, sizeof h) == 0);
  OK(cudaDestroyTextureObject(o));

  cudaArray_t a;
  cudaChannelFormatDesc c = cudaCreateChannelDesc<float>(), back;
  OK(cudaMallocArray(&a, &c, W, H, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(a, 0, 0, h, W * 4, W * 4, H, cudaMemcpyHostToDevice));
  OK(cudaGetChannelDesc(&back, a));
  EXPECT(back.x == 32 && back.f == cudaChannelFormatKindFloat);
  memset(&r, 0, sizeof r);
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  OK(cudaCreateTextureObject(&o, &r, &t, NULL));
  sample<<<1, dim3(W, H)>>>(o, out);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  EXPECT(memcmp(h, got, sizeof h) == 0);
  OK(cudaDestroyTextureObject(o));
  t.filterMode = cudaFilterModeLinear;
  OK(cudaCreateTextureObject(&o, &r, &t, NULL));
  between<<<1, W>>>(o, out);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int x = 0; x < W - 1; x++) EXPECT(got[0][x] == x + 0.5f);
  EXPECT(got[0][W - 1] == W - 1); // clamped
  OK(cudaDestroyTextureObject(o));

  cudaSurfaceObject_t s = 0;
  OK(cudaCreateSurfaceObject(&s, &r));
  negate<<<1, dim3(W, H)>>>(s);
  OK(cudaMemcpy2DFromArray(got, W * 4, a, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
  for (int i = 0; i < W * H; i++) EXPECT(((float *)got)[i] == -((float *)h)[i]);
  OK(cudaDestroySurfaceObject(s));
  OK(cudaFreeArray(a));

  /* Bytes read as fractions, with normalised coordinates. */
  unsigned char bytes[2][4][4];
  float4 f[4], *df;
  for (int i = 0; i < 32; i++) ((unsigned char *)bytes)[i] = (unsigned char)(i * 8);
  c = cudaCreateChannelDesc<uchar4>();
  OK(cudaMallocArray(&a, &c, 4, 2, 0));
  OK(cudaMemcpy2DToArray(a, 0, 0, bytes, 16, 16, 2, cudaMemcpyHostToDevice));
  r.res.array.array = a;
  memset(&t, 0, sizeof t);
  t.readMode = cudaReadModeNormalizedFloat;
  t.normalizedCoords = 1;
  OK(cudaCreateTextureObject(&o, &r, &t, NULL));
  OK(cudaMalloc((void **)&df, sizeof f));
  normalised<<<1, 4>>>(o, df);
  OK(cudaMemcpy(f, df, sizeof f, cudaMemcpyDeviceToHost));
  for (int x = 0; x < 4; x++) {
    EXPECT(f[x].x == bytes[0][x][0] / 255.0f && f[x].w == bytes[0][x][3] / 255.0f);
  }
  GIVES(cudaDestroyTextureObject(o + 12345), cudaErrorInvalidValue);
  OK(cudaDestroyTextureObject(o));
  cudaGetLastError();
  return verdict();
}
