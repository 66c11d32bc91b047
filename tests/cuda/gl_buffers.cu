// gl_buffers.cu - kernels write the vertex and pixel buffers of a real OpenGL (Mesa, no window): what OpenGL then draws
// and reads, the flags of registering and mapping, what stays as the application had it, and every error.
// compilers: clang nvcc
// flags: -lEGL
// expect: PASS
#include <cuda_gl_interop.h>
#include "check.h"
#include "gl_context.h"

enum { SIDE = 64, COUNT = SIDE * SIDE };

/* A sine wave over a square mesh, one vertex per thread. */
__global__ void wave(float4 *v, unsigned side, float time) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float u = x / (float)side * 2 - 1, w = y / (float)side * 2 - 1;
  v[y * side + x] = make_float4(u, u * w + time, w, 1);
}

__global__ void twice(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= 2;
}

__global__ void triangle(float2 *v) {
  const float corner[3][2] = {{-1, -1}, {3, -1}, {-1, 3}};
  v[threadIdx.x] = make_float2(corner[threadIdx.x][0], corner[threadIdx.x][1]);
}

__global__ void shade(uchar4 *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = make_uchar4(i, i >> 8, 7, 255);
}

static GLuint buffer_of(size_t bytes, const void *data) {
  GLuint b;
  gl.GenBuffers(1, &b);
  gl.BindBuffer(GL_ARRAY_BUFFER, b);
  gl.BufferData(GL_ARRAY_BUFFER, bytes, data, GL_DYNAMIC_DRAW);
  gl.BindBuffer(GL_ARRAY_BUFFER, 0);
  return b;
}

static void read_back(GLuint b, void *to, size_t bytes) {
  gl.BindBuffer(GL_ARRAY_BUFFER, b);
  gl.GetBufferSubData(GL_ARRAY_BUFFER, 0, bytes, to);
  gl.BindBuffer(GL_ARRAY_BUFFER, 0);
}

/* As a program that animates a mesh does. */
static void frames(void) {
  static float4 v[COUNT];
  cudaGraphicsResource_t r;
  GLuint b = buffer_of(sizeof v, NULL);
  float4 *first = NULL;
  OK(cudaGraphicsGLRegisterBuffer(&r, b, cudaGraphicsRegisterFlagsWriteDiscard));
  for (int f = 0; f < 3; f++) {
    float4 *p = NULL;
    size_t bytes = 0;
    OK(cudaGraphicsMapResources(1, &r, 0));
    OK(cudaGraphicsResourceGetMappedPointer((void **)&p, &bytes, r));
    EXPECT(bytes == sizeof v);
    EXPECT(!first || p == first);
    first = p;
    wave<<<dim3(SIDE / 8, SIDE / 8), dim3(8, 8)>>>(p, SIDE, (float)f);
    OK(cudaGraphicsUnmapResources(1, &r, 0));
    read_back(b, v, sizeof v);
    for (int i = 0; i < COUNT; i++) {
      float u = i % SIDE / (float)SIDE * 2 - 1, w = i / SIDE / (float)SIDE * 2 - 1;
      EXPECT(v[i].x == u && v[i].y - (u * w + f) < 1e-6f && u * w + f - v[i].y < 1e-6f && v[i].z == w && v[i].w == 1);
    }
  }
  OK(cudaGraphicsUnregisterResource(r));
}

/* OpenGL draws what a kernel wrote: one triangle that covers the middle of the picture. */
static void drawing(void) {
  enum { SIZE = 16 };
  unsigned char pixel[4] = {0};
  GLuint texture, fb, b = buffer_of(3 * sizeof(float2), NULL);
  cudaGraphicsResource_t r;
  float2 *p;
  gl.GenTextures(1, &texture);
  gl.BindTexture(GL_TEXTURE_2D, texture);
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  gl.GenFramebuffers(1, &fb);
  gl.BindFramebuffer(GL_FRAMEBUFFER, fb);
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  gl.Viewport(0, 0, SIZE, SIZE);
  OK(cudaGraphicsGLRegisterBuffer(&r, b, cudaGraphicsRegisterFlagsNone));
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsResourceGetMappedPointer((void **)&p, NULL, r));
  triangle<<<1, 3>>>(p);
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  gl.ClearColor(0, 0, 0, 1);
  gl.Clear(GL_COLOR_BUFFER_BIT);
  gl.Color3f(0, 1, 0);
  gl.BindBuffer(GL_ARRAY_BUFFER, b);
  gl.EnableClientState(GL_VERTEX_ARRAY);
  gl.VertexPointer(2, GL_FLOAT, 0, NULL);
  gl.DrawArrays(GL_TRIANGLES, 0, 3);
  gl.ReadPixels(SIZE / 2, SIZE / 2, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
  EXPECT(pixel[0] == 0 && pixel[1] == 255 && pixel[2] == 0);
  gl.BindBuffer(GL_ARRAY_BUFFER, 0);
  gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
  OK(cudaGraphicsUnregisterResource(r));
}

/* A picture goes from a kernel through a pixel buffer into a texture. */
static void pixels(void) {
  static uchar4 image[COUNT];
  GLuint texture, b = buffer_of(sizeof image, NULL);
  cudaGraphicsResource_t r;
  uchar4 *p;
  OK(cudaGraphicsGLRegisterBuffer(&r, b, cudaGraphicsMapFlagsWriteDiscard));
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsResourceGetMappedPointer((void **)&p, NULL, r));
  shade<<<COUNT / 128, 128>>>(p, COUNT);
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  gl.GenTextures(1, &texture);
  gl.BindTexture(GL_TEXTURE_2D, texture);
  gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, b);
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  gl.GetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, image);
  for (int i = 0; i < COUNT; i++)
    EXPECT(image[i].x == (i & 255) && image[i].y == (i >> 8 & 255) && image[i].z == 7 && image[i].w == 255);
  OK(cudaGraphicsUnregisterResource(r));
}

static cudaGraphicsResource_t double_it(GLuint b, unsigned flags, unsigned map_flags, int n) {
  cudaGraphicsResource_t r;
  int *p;
  OK(cudaGraphicsGLRegisterBuffer(&r, b, flags));
  OK(cudaGraphicsResourceSetMapFlags(r, map_flags));
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsResourceGetMappedPointer((void **)&p, NULL, r));
  twice<<<(n + 127) / 128, 128>>>(p, n);
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  return r;
}

static void contents(void) {
  enum { N = 1000 };
  static int in[2 * N], out[2 * N];
  int *p;
  size_t bytes;
  for (int i = 0; i < 2 * N; i++) in[i] = i;
  GLuint b = buffer_of(N * sizeof *in, in);
  cudaGraphicsResource_t r = double_it(b, 0, 0, N); /* read and written */
  read_back(b, out, N * sizeof *out);
  for (int i = 0; i < N; i++) EXPECT(out[i] == 2 * i);
  OK(cudaGraphicsUnregisterResource(r));
  r = double_it(b, 0, cudaGraphicsMapFlagsReadOnly, N); /* OpenGL's contents stay */
  read_back(b, out, N * sizeof *out);
  for (int i = 0; i < N; i++) EXPECT(out[i] == 2 * i);
  /* other storage while it is registered */
  gl.BindBuffer(GL_ARRAY_BUFFER, b);
  gl.BufferData(GL_ARRAY_BUFFER, 2 * N * sizeof *in, in, GL_STATIC_DRAW);
  OK(cudaGraphicsResourceSetMapFlags(r, cudaGraphicsMapFlagsNone));
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsResourceGetMappedPointer((void **)&p, &bytes, r));
  EXPECT(bytes == 2 * N * sizeof *in);
  twice<<<(2 * N + 127) / 128, 128>>>(p, 2 * N);
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  EXPECT(gl_bound(GL_ARRAY_BUFFER_BINDING) == (int)b);
  read_back(b, out, 2 * N * sizeof *out);
  for (int i = 0; i < 2 * N; i++) EXPECT(out[i] == 2 * i);
  OK(cudaGraphicsUnregisterResource(r));
  /* storage that OpenGL itself may not write with BufferSubData */
  gl.GenBuffers(1, &b);
  gl.BindBuffer(GL_ARRAY_BUFFER, b);
  gl.BufferStorage(GL_ARRAY_BUFFER, N * sizeof *in, in, 0);
  OK(cudaGraphicsUnregisterResource(double_it(b, 0, 0, N)));
  read_back(b, out, N * sizeof *out);
  for (int i = 0; i < N; i++) EXPECT(out[i] == 2 * i);
}

/* Streams that do not wait for the default one: mapping and unmapping wait for them all the same. */
static void streams(void) {
  enum { N = 4096, BUFFERS = 3 };
  static int in[N], out[N];
  cudaGraphicsResource_t r[BUFFERS];
  cudaStream_t s;
  GLuint b[BUFFERS];
  int *p;
  for (int i = 0; i < N; i++) in[i] = i;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int k = 0; k < BUFFERS; k++) {
    b[k] = buffer_of(sizeof in, in);
    OK(cudaGraphicsGLRegisterBuffer(&r[k], b[k], 0));
  }
  OK(cudaGraphicsMapResources(BUFFERS, r, s));
  for (int k = 0; k < BUFFERS; k++) {
    OK(cudaGraphicsResourceGetMappedPointer((void **)&p, NULL, r[k]));
    for (int i = 0; i <= k; i++) twice<<<N / 128, 128, 0, s>>>(p, N);
  }
  OK(cudaGraphicsUnmapResources(BUFFERS, r, s));
  for (int k = 0; k < BUFFERS; k++) {
    read_back(b[k], out, sizeof out);
    for (int i = 0; i < N; i++) EXPECT(out[i] == i << (k + 1));
    OK(cudaGraphicsUnregisterResource(r[k]));
  }
  OK(cudaStreamDestroy(s));
}

static void errors(void) {
  cudaGraphicsResource_t r, pair[2], none = NULL;
  cudaArray_t a;
  void *p;
  GLuint b = buffer_of(256, NULL);
  int device = -1;
  unsigned count = 0;
  GIVES(cudaGraphicsGLRegisterBuffer(&r, b, 64), cudaErrorInvalidValue);
  GIVES(cudaGraphicsGLRegisterBuffer(&r, 4711, 0), cudaErrorInvalidValue);
  GIVES(cudaGraphicsGLRegisterBuffer(&r, 0, 0), cudaErrorInvalidValue);
  OK(cudaGraphicsGLRegisterBuffer(&r, b, 0));
  GIVES(cudaGraphicsResourceGetMappedPointer(&p, NULL, r), cudaErrorNotMapped);
  GIVES(cudaGraphicsUnmapResources(1, &r, 0), cudaErrorNotMapped);
  GIVES(cudaGraphicsMapResources(1, &none, 0), cudaErrorInvalidResourceHandle);
  GIVES(cudaGraphicsUnregisterResource(none), cudaErrorInvalidResourceHandle);
  GIVES(cudaGraphicsResourceSetMapFlags(r, 3), cudaErrorInvalidValue);
  pair[0] = pair[1] = r;
  GIVES(cudaGraphicsMapResources(2, pair, 0), cudaErrorInvalidResourceHandle);
  OK(cudaGraphicsMapResources(1, &r, 0));
  GIVES(cudaGraphicsMapResources(1, &r, 0), cudaErrorAlreadyMapped);
  GIVES(cudaGraphicsResourceSetMapFlags(r, 0), cudaErrorAlreadyMapped);
  GIVES(cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0), cudaErrorNotMappedAsArray);
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  /* OpenGL has it mapped */
  gl.BindBuffer(GL_ARRAY_BUFFER, b);
  EXPECT(gl.MapBufferRange(GL_ARRAY_BUFFER, 0, 256, GL_MAP_READ_BIT) != NULL);
  GIVES(cudaGraphicsMapResources(1, &r, 0), cudaErrorMapBufferObjectFailed);
  EXPECT(gl.UnmapBuffer(GL_ARRAY_BUFFER) == GL_TRUE);
  EXPECT(gl.GetError() == GL_NO_ERROR); /* what we tried leaves no trace */
  /* an error that the application has not asked about stays */
  const GLenum mistakes[] = {GL_INVALID_ENUM, GL_INVALID_VALUE, GL_INVALID_OPERATION};
  for (int i = 0; i < 3; i++) {
    if (i == 0) gl.Enable(0x1234);
    if (i == 1) gl.Viewport(0, 0, -1, -1);
    if (i == 2) gl.BindBuffer(GL_ARRAY_BUFFER, 0), gl.BufferData(GL_ARRAY_BUFFER, 1, NULL, GL_STATIC_DRAW);
    OK(cudaGraphicsMapResources(1, &r, 0));
    OK(cudaGraphicsUnmapResources(1, &r, 0));
    EXPECT(gl.GetError() == mistakes[i]);
    EXPECT(gl.GetError() == GL_NO_ERROR);
  }
  OK(cudaGLGetDevices(&count, &device, 1, cudaGLDeviceListAll));
  EXPECT(count == 1 && device == 0);
  eglMakeCurrent(gl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  GIVES(cudaGraphicsMapResources(1, &r, 0), cudaErrorInvalidGraphicsContext);
  GIVES(cudaGraphicsGLRegisterBuffer(&pair[0], b, 0), cudaErrorInvalidGraphicsContext);
  GIVES(cudaGLGetDevices(&count, &device, 1, cudaGLDeviceListAll), cudaErrorInvalidGraphicsContext);
  eglMakeCurrent(gl_display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl_context);
  OK(cudaGraphicsUnregisterResource(r));
  GIVES(cudaGraphicsMapResources(1, &r, 0), cudaErrorInvalidResourceHandle);
}

#if CUDART_VERSION < 13000
/* The interface by name of the buffer. */
static void before_cuda_3(void) {
  enum { N = 128 };
  int in[N], out[N], *p;
  for (int i = 0; i < N; i++) in[i] = i;
  GLuint b = buffer_of(sizeof in, in);
  OK(cudaGLSetGLDevice(0));
  GIVES(cudaGLMapBufferObject((void **)&p, b), cudaErrorMapBufferObjectFailed);
  OK(cudaGLRegisterBufferObject(b));
  OK(cudaGLMapBufferObject((void **)&p, b));
  twice<<<1, N>>>(p, N);
  OK(cudaGLUnmapBufferObject(b));
  read_back(b, out, sizeof out);
  for (int i = 0; i < N; i++) EXPECT(out[i] == 2 * i);
  OK(cudaGLSetBufferObjectMapFlags(b, cudaGLMapFlagsReadOnly));
  OK(cudaGLMapBufferObjectAsync((void **)&p, b, 0));
  twice<<<1, N>>>(p, N);
  OK(cudaGLUnmapBufferObjectAsync(b, 0));
  read_back(b, out, sizeof out);
  for (int i = 0; i < N; i++) EXPECT(out[i] == 2 * i);
  OK(cudaGLUnregisterBufferObject(b));
  GIVES(cudaGLUnmapBufferObject(b), cudaErrorUnmapBufferObjectFailed);
}
#else
static void before_cuda_3(void) { /* gone from CUDA 13 */
}
#endif

int main(void) {
  gl_begin(EGL_OPENGL_API);
  frames();
  drawing();
  pixels();
  contents();
  streams();
  errors();
  before_cuda_3();
  EXPECT(gl.GetError() == GL_NO_ERROR);
  return verdict();
}
