// gl_images.cu - OpenGL textures and renderbuffers as CUDA arrays: every kind of target, many formats, levels, layers and
// faces, read by kernels through texture objects and written back; OpenGL ES too.
// compilers: clang nvcc
// flags: -lEGL
// expect: PASS
#include <cuda_gl_interop.h>
#include "check.h"
#include "gl_context.h"

enum { W = 37, H = 21, N = W * H }; /* rows that are no multiple of anything */

/* Turned upside down. */
__global__ void flip(cudaTextureObject_t t, uchar4 *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < w) out[y * w + x] = tex2D<uchar4>(t, x + 0.5f, h - 1 - y + 0.5f);
}

static GLuint new_texture(GLenum target) {
  GLuint t;
  gl.GenTextures(1, &t);
  gl.BindTexture(target, t);
  gl.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
  gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
  return t;
}

static cudaTextureObject_t texture_of(cudaArray_t a) {
  cudaTextureObject_t t = 0;
  struct cudaResourceDesc res;
  struct cudaTextureDesc desc;
  memset(&res, 0, sizeof res);
  memset(&desc, 0, sizeof desc);
  res.resType = cudaResourceTypeArray;
  res.res.array.array = a;
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  OK(cudaCreateTextureObject(&t, &res, &desc, NULL));
  return t;
}

/* A kernel reads the picture and a copy puts its result back; the application's bindings and stores stay. */
static void picture(void) {
  static uchar4 in[N], out[N];
  for (int i = 0; i < N; i++) in[i] = make_uchar4(i, i >> 3, i >> 6, 255 - i);
  GLuint t = new_texture(GL_TEXTURE_2D), other = new_texture(GL_TEXTURE_2D);
  gl.BindTexture(GL_TEXTURE_2D, t);
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, W, H, 0, GL_RGBA, GL_UNSIGNED_BYTE, in);
  gl.BindTexture(GL_TEXTURE_2D, other);
  gl.PixelStorei(GL_UNPACK_ROW_LENGTH, 100);
  gl.PixelStorei(GL_PACK_SKIP_ROWS, 3);
  cudaGraphicsResource_t r;
  cudaArray_t a;
  struct cudaExtent e;
  struct cudaChannelFormatDesc f;
  uchar4 *p;
  OK(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, cudaGraphicsRegisterFlagsSurfaceLoadStore));
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
  OK(cudaArrayGetInfo(&f, &e, NULL, a));
  EXPECT(e.width == W && e.height == H && e.depth == 0 && f.x == 8 && f.w == 8 && f.f == cudaChannelFormatKindUnsigned);
  GIVES(cudaFreeArray(a), cudaErrorArrayIsMapped);
  OK(cudaMalloc(&p, sizeof in));
  cudaTextureObject_t object = texture_of(a);
  flip<<<dim3((W + 31) / 32, H), 32>>>(object, p, W, H);
  OK(cudaMemcpy2DToArray(a, 0, 0, p, W * sizeof *p, W * sizeof *p, H, cudaMemcpyDeviceToDevice));
  OK(cudaDestroyTextureObject(object));
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  EXPECT(gl_bound(GL_TEXTURE_BINDING_2D) == (int)other);
  EXPECT(gl_bound(GL_UNPACK_ROW_LENGTH) == 100 && gl_bound(GL_PACK_SKIP_ROWS) == 3 && gl_bound(GL_PACK_ALIGNMENT) == 1);
  gl.PixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  gl.PixelStorei(GL_PACK_SKIP_ROWS, 0);
  gl.BindTexture(GL_TEXTURE_2D, t);
  gl.GetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, out);
  for (int y = 0; y < H; y++) EXPECT(memcmp(&out[y * W], &in[(H - 1 - y) * W], W * sizeof *in) == 0);
  /* read only: OpenGL's contents stay */
  OK(cudaGraphicsResourceSetMapFlags(r, cudaGraphicsMapFlagsReadOnly));
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
  OK(cudaMemcpy2DToArray(a, 0, 0, in, W * sizeof *p, W * sizeof *p, H, cudaMemcpyHostToDevice));
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  memset(in, 0, sizeof in);
  gl.GetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, in);
  EXPECT(memcmp(in, out, sizeof in) == 0);
  OK(cudaGraphicsUnregisterResource(r));
  OK(cudaFree(p));
}

/* Every byte of every format goes over and comes back changed. */
static void formats(void) {
  static const struct {
    GLenum internal, format, type;
    int channels, bits;
    enum cudaChannelFormatKind kind;
  } all[] = {{GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1, 8, cudaChannelFormatKindUnsigned},
             {GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2, 8, cudaChannelFormatKindUnsigned},
             {GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 4, 16, cudaChannelFormatKindUnsigned},
             {GL_R8I, GL_RED_INTEGER, GL_BYTE, 1, 8, cudaChannelFormatKindSigned},
             {GL_RG16UI, GL_RG_INTEGER, GL_UNSIGNED_SHORT, 2, 16, cudaChannelFormatKindUnsigned},
             {GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, 4, 32, cudaChannelFormatKindSigned},
             {GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4, 8, cudaChannelFormatKindUnsigned},
             {GL_R16F, GL_RED, GL_HALF_FLOAT, 1, 16, cudaChannelFormatKindFloat},
             {GL_R32F, GL_RED, GL_FLOAT, 1, 32, cudaChannelFormatKindFloat},
             {GL_RG32F, GL_RG, GL_FLOAT, 2, 32, cudaChannelFormatKindFloat},
             {GL_RGBA32F, GL_RGBA, GL_FLOAT, 4, 32, cudaChannelFormatKindFloat},
             {GL_RGBA, GL_RGBA, GL_UNSIGNED_BYTE, 4, 8, cudaChannelFormatKindUnsigned},
             {GL_LUMINANCE8, GL_RED, GL_UNSIGNED_BYTE, 1, 8, cudaChannelFormatKindUnsigned},
             {GL_ALPHA16, GL_ALPHA, GL_UNSIGNED_SHORT, 1, 16, cudaChannelFormatKindUnsigned},
             {GL_LUMINANCE8_ALPHA8, GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE, 2, 8, cudaChannelFormatKindUnsigned}};
  static unsigned char in[N * 16], out[N * 16];
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    size_t element = all[k].channels * all[k].bits / 8, bytes = N * element;
    for (size_t i = 0; i < bytes; i++) in[i] = i * 7 % 101; /* no NaN, whatever the type */
    GLuint t = new_texture(GL_TEXTURE_2D);
    gl.TexImage2D(GL_TEXTURE_2D, 0, all[k].internal, W, H, 0, all[k].format, all[k].type, in);
    cudaGraphicsResource_t r;
    cudaArray_t a;
    struct cudaChannelFormatDesc f;
    OK(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, cudaGraphicsRegisterFlagsNone));
    OK(cudaGraphicsMapResources(1, &r, 0));
    OK(cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
    OK(cudaGetChannelDesc(&f, a));
    EXPECT(f.x == all[k].bits && (f.y > 0) + (f.z > 0) + (f.w > 0) == all[k].channels - 1 && f.f == all[k].kind);
    OK(cudaMemcpy2DFromArray(out, W * element, a, 0, 0, W * element, H, cudaMemcpyDeviceToHost));
    if (memcmp(in, out, bytes)) printf("format 0x%x arrives changed\n", all[k].internal), failures++;
    for (size_t i = 0; i < bytes; i++) in[i] = (i * 11 + 5) % 97;
    OK(cudaMemcpy2DToArray(a, 0, 0, in, W * element, W * element, H, cudaMemcpyHostToDevice));
    OK(cudaGraphicsUnmapResources(1, &r, 0));
    gl.GetTexImage(GL_TEXTURE_2D, 0, all[k].format, all[k].type, out);
    if (memcmp(in, out, bytes)) printf("format 0x%x returns changed\n", all[k].internal), failures++;
    OK(cudaGraphicsUnregisterResource(r));
  }
}

/* Layers, faces and slices of float textures with two levels; what a kernel would see is read by copies. */
static void many(GLenum target, int slices) {
  static float in[2][8 * 8 * 6], out[8 * 8 * 6];
  GLuint t = new_texture(target);
  bool cube = target == GL_TEXTURE_CUBE_MAP, solid = target == GL_TEXTURE_3D;
  for (int l = 0; l < 2; l++) {
    int side = 8 >> l, depth = solid ? slices >> l : slices;
    for (int i = 0; i < side * side * depth; i++) in[l][i] = l * 1000 + i;
    if (cube)
      for (int f = 0; f < 6; f++)
        gl.TexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + f, l, GL_R32F, side, side, 0, GL_RED, GL_FLOAT,
                      in[l] + f * side * side);
    else
      gl.TexImage3D(target, l, GL_R32F, side, side, depth, 0, GL_RED, GL_FLOAT, in[l]);
  }
  cudaGraphicsResource_t r;
  cudaMipmappedArray_t mips;
  cudaArray_t whole, a;
  struct cudaExtent e;
  OK(cudaGraphicsGLRegisterImage(&r, t, target, cudaGraphicsRegisterFlagsNone));
  GIVES(cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0), cudaErrorNotMapped);
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsResourceGetMappedMipmappedArray(&mips, r));
  GIVES(cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 2), cudaErrorInvalidValue);
  GIVES(cudaGraphicsSubResourceGetMappedArray(&a, r, solid ? 1 : slices, 0), cudaErrorInvalidValue);
  for (int l = 0; l < 2; l++) {
    int side = 8 >> l, depth = solid ? slices >> l : slices;
    OK(cudaGetMipmappedArrayLevel(&whole, mips, l));
    OK(cudaArrayGetInfo(NULL, &e, NULL, whole));
    EXPECT((int)e.width == side && (int)e.height == side && (int)e.depth == depth);
    struct cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcArray = whole;
    copy.dstPtr = make_cudaPitchedPtr(out, side * sizeof *out, side, side);
    copy.extent = make_cudaExtent(side, side, depth);
    copy.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&copy));
    EXPECT(memcmp(out, in[l], side * side * depth * sizeof *out) == 0);
    if (solid) continue;
    for (int f = 0; f < depth; f++) { /* the same memory, one layer at a time */
      float *own = in[l] + f * side * side;
      OK(cudaGraphicsSubResourceGetMappedArray(&a, r, f, l));
      OK(cudaMemcpy2DFromArray(out, side * sizeof *out, a, 0, 0, side * sizeof *out, side, cudaMemcpyDeviceToHost));
      EXPECT(memcmp(out, own, side * side * sizeof *out) == 0);
      for (int i = 0; i < side * side; i++) own[i] = -own[i] - f;
      OK(cudaMemcpy2DToArray(a, 0, 0, own, side * sizeof *out, side * sizeof *out, side, cudaMemcpyHostToDevice));
    }
  }
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  for (int l = 0; l < 2; l++) {
    int side = 8 >> l, depth = solid ? slices >> l : slices;
    if (cube)
      for (int f = 0; f < 6; f++)
        gl.GetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + f, l, GL_RED, GL_FLOAT, out + f * side * side);
    else gl.GetTexImage(target, l, GL_RED, GL_FLOAT, out);
    EXPECT(memcmp(out, in[l], side * side * depth * sizeof *out) == 0);
  }
  OK(cudaGraphicsUnregisterResource(r));
}

static void renderbuffer(void) {
  static unsigned char in[N * 4], out[N * 4];
  GLuint rb, fb;
  gl.GenRenderbuffers(1, &rb);
  gl.BindRenderbuffer(GL_RENDERBUFFER, rb);
  gl.RenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, W, H);
  gl.GenFramebuffers(1, &fb);
  gl.BindFramebuffer(GL_FRAMEBUFFER, fb);
  gl.FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, rb);
  gl.ClearColor(1, 0, 0.2f, 1);
  gl.Clear(GL_COLOR_BUFFER_BIT);
  gl.Enable(GL_SCISSOR_TEST); /* must not cut what goes back */
  cudaGraphicsResource_t r;
  cudaArray_t a;
  OK(cudaGraphicsGLRegisterImage(&r, rb, GL_RENDERBUFFER, cudaGraphicsRegisterFlagsNone));
  OK(cudaGraphicsMapResources(1, &r, 0));
  OK(cudaGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
  OK(cudaMemcpy2DFromArray(out, W * 4, a, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; i++) EXPECT(out[4 * i] == 255 && out[4 * i + 1] == 0 && out[4 * i + 2] == 51);
  for (int i = 0; i < N * 4; i++) in[i] = i * 13;
  OK(cudaMemcpy2DToArray(a, 0, 0, in, W * 4, W * 4, H, cudaMemcpyHostToDevice));
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  EXPECT(gl_bound(GL_FRAMEBUFFER_BINDING) == (int)fb && gl_bound(GL_RENDERBUFFER_BINDING) == (int)rb);
  gl.ReadPixels(0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, out);
  EXPECT(memcmp(in, out, sizeof in) == 0);
  OK(cudaGraphicsUnregisterResource(r));
  gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
}

static void errors(void) {
  cudaGraphicsResource_t r;
  size_t bytes;
  void *p;
  GLuint t = new_texture(GL_TEXTURE_2D);
  GIVES(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0), cudaErrorInvalidValue); /* without storage */
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 4, 4, 0, GL_RGB, GL_UNSIGNED_BYTE, NULL);
  GIVES(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0), cudaErrorInvalidValue); /* three channels */
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
  GIVES(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_3D, 0), cudaErrorInvalidValue); /* another target */
  GIVES(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_1D, 0), cudaErrorInvalidValue);
  GIVES(cudaGraphicsGLRegisterImage(&r, 4711, GL_TEXTURE_2D, 0), cudaErrorInvalidValue);
  GIVES(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 16), cudaErrorInvalidValue);
  OK(cudaGraphicsGLRegisterImage(&r, t, GL_TEXTURE_2D, 0));
  OK(cudaGraphicsMapResources(1, &r, 0));
  GIVES(cudaGraphicsResourceGetMappedPointer(&p, &bytes, r), cudaErrorNotMappedAsPointer);
  OK(cudaGraphicsUnmapResources(1, &r, 0));
  OK(cudaGraphicsUnregisterResource(r));
}

/* The same in OpenGL ES, where buffers and textures are read another way. */
__global__ void invert(unsigned char *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 255 - p[i];
}

static void embedded(void) {
  static unsigned char in[N * 4], out[N * 4], *p;
  GLuint b, t, fb;
  cudaGraphicsResource_t r[2];
  cudaArray_t a;
  gl_begin(EGL_OPENGL_ES_API);
  for (int i = 0; i < N * 4; i++) in[i] = i * 3;
  gl.GenBuffers(1, &b);
  gl.BindBuffer(GL_ARRAY_BUFFER, b);
  gl.BufferData(GL_ARRAY_BUFFER, sizeof in, in, GL_DYNAMIC_DRAW);
  t = new_texture(GL_TEXTURE_2D);
  gl.TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, W, H, 0, GL_RGBA, GL_UNSIGNED_BYTE, in);
  OK(cudaGraphicsGLRegisterBuffer(&r[0], b, 0));
  OK(cudaGraphicsGLRegisterImage(&r[1], t, GL_TEXTURE_2D, 0));
  OK(cudaGraphicsMapResources(2, r, 0));
  OK(cudaGraphicsResourceGetMappedPointer((void **)&p, NULL, r[0]));
  OK(cudaGraphicsSubResourceGetMappedArray(&a, r[1], 0, 0));
  OK(cudaMemcpy2DFromArray(out, W * 4, a, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
  EXPECT(memcmp(in, out, sizeof in) == 0);
  invert<<<(N * 4 + 127) / 128, 128>>>(p, N * 4);
  OK(cudaMemcpy2DToArray(a, 0, 0, p, W * 4, W * 4, H, cudaMemcpyDeviceToDevice));
  OK(cudaGraphicsUnmapResources(2, r, 0));
  for (int i = 0; i < N * 4; i++) in[i] = 255 - in[i];
  const void *mapped = gl.MapBufferRange(GL_ARRAY_BUFFER, 0, sizeof in, GL_MAP_READ_BIT);
  EXPECT(mapped && memcmp(mapped, in, sizeof in) == 0);
  gl.UnmapBuffer(GL_ARRAY_BUFFER);
  gl.GenFramebuffers(1, &fb);
  gl.BindFramebuffer(GL_FRAMEBUFFER, fb);
  gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t, 0);
  gl.ReadPixels(0, 0, W, H, GL_RGBA, GL_UNSIGNED_BYTE, out);
  EXPECT(memcmp(in, out, sizeof in) == 0);
  for (int i = 0; i < 2; i++) OK(cudaGraphicsUnregisterResource(r[i]));
  EXPECT(gl.GetError() == GL_NO_ERROR);
}

int main(void) {
  gl_begin(EGL_OPENGL_API);
  picture();
  formats();
  many(GL_TEXTURE_2D_ARRAY, 5);
  many(GL_TEXTURE_CUBE_MAP, 6);
  many(GL_TEXTURE_3D, 4);
  renderbuffer();
  errors();
  EXPECT(gl.GetError() == GL_NO_ERROR);
  embedded();
  return verdict();
}
