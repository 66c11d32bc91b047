/* abi.c - a host program as nvcc of one version makes it, written by hand: compiled with -DCUDA=9000, 9010, 9020,
 * 10000, 10010, 10020, 11080, 12080 or 13000 and linked with the runtime of that version. Types and calls are declared
 * here again, as the headers of that version have them and apart from src/cudart/core/abi.h and abi_prop.h, so that a
 * layout that differs shows: guards lie behind every structure that the runtime fills in. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int error_t_;
typedef struct {
  uint32_t x, y, z;
} dim3;
typedef void *stream_t;

/* ---- structures by version ---- */
struct prop {
  char name[256];
#if CUDA >= 10000
  char uuid[16], luid[8];
  unsigned luid_mask;
#endif
  size_t global, shared;
  int regs, warp;
  size_t pitch;
  int threads, dim[3], grid[3];
#if CUDA < 13000
  int clock;
#endif
  size_t constant;
  int major, minor;
  size_t texture_alignment, pitch_alignment;
#if CUDA < 13000
  int overlap, sms, timeout;
#else
  int sms;
#endif
  int integrated, maps;
#if CUDA < 13000
  int mode;
#endif
  int tex1d, tex1d_mip;
#if CUDA < 13000
  int tex1d_linear;
#endif
  int tex2d[2], tex2d_mip[2], tex2d_linear[3], tex2d_gather[2], tex3d[3], tex3d_alt[3], cube, tex1d_layered[2],
      tex2d_layered[3], cube_layered[2], surf1d, surf2d[2], surf3d[3], surf1d_layered[2], surf2d_layered[3], surf_cube,
      surf_cube_layered[2];
  size_t surface_alignment;
  int concurrent, ecc, bus, device, domain, tcc, engines, unified;
#if CUDA < 13000
  int memory_clock;
#endif
  int bus_width, l2;
#if CUDA >= 11000
  int persisting;
#endif
  int threads_per_sm, priorities, l1_global, l1_local;
  size_t shared_per_sm;
  int regs_per_sm, managed, multi, group, native_atomics;
#if CUDA < 13000
  int double_ratio;
#endif
  int pageable, concurrent_managed, preemption, host_pointer, cooperative;
#if CUDA < 13000
  int cooperative_multi;
#endif
  size_t optin;
#if CUDA >= 9020
  int page_tables, direct_managed;
#endif
#if CUDA >= 11000
  int ctas_per_sm, window;
  size_t reserved_shared;
#endif
#if CUDA >= 12000
  int features[13];
#if CUDA < 13000
  int reserved[63];
#else
  int numa[7], reserved[56];
#endif
#endif
};
struct attributes {
  size_t shared, constant, local;
  int threads, regs, ptx, binary, ca, dynamic, carveout;
#if CUDA >= 12000
  int cluster[6], reserved[16];
#endif
};
struct pointer {
#if CUDA < 11000
  int memory;
#endif
#if CUDA >= 10000
  int type;
#endif
  int device;
  void *on_device, *on_host;
#if CUDA < 11000
  int managed;
#endif
#if CUDA >= 13000
  long reserved[8];
#endif
};
struct channel {
  int x, y, z, w, f;
};
struct resource {
  int type;
  union {
    void *array;
    struct {
      void *p;
      struct channel desc;
      size_t bytes;
    } linear;
    struct {
      void *p;
      struct channel desc;
      size_t width, height, pitch;
    } pitch;
#if CUDA >= 13000
    int reserved[32];
#endif
  } u;
#if CUDA >= 13000
  unsigned flags;
#endif
};
struct reading {
  int address[3], filter, mode, srgb;
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mip_filter;
  float bias, low, high;
#if CUDA >= 10020
  int trilinear;
#endif
#if CUDA >= 12000
  int seamless;
#endif
};
struct texture_reference {
  int normalized, filter, address[3];
  struct channel desc;
  int srgb;
  unsigned anisotropy;
  int mip_filter;
  float bias, low, high;
  int reserved[15];
};

/* ---- calls ---- */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **h, const char *stub, char *fun, const char *name, int limit, void *tid, void *bid,
                            dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **h, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global);
void __cudaRegisterManagedVar(void **h, void **host, char *device, const char *name, int ext, size_t size, int constant,
                              int global);
void __cudaRegisterTexture(void **h, const struct texture_reference *host, const void **device, const char *name,
                           int dim, int norm, int ext);
char __cudaInitModule(void **h);
error_t_ cudaConfigureCall(dim3 grid, dim3 block, size_t shared, stream_t s);
error_t_ cudaSetupArgument(const void *arg, size_t size, size_t offset);
error_t_ cudaLaunch(const void *f);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, stream_t s);
error_t_ __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *s);
error_t_ cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, stream_t s);
error_t_ __cudaGetKernel(void **kernel, const void *f);
error_t_ __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **args, size_t shared, stream_t s);
error_t_ cudaMalloc(void **p, size_t n), cudaFree(void *p), cudaMemcpy(void *d, const void *s, size_t n, int kind),
    cudaMemcpyToSymbol(const void *v, const void *s, size_t n, size_t at, int kind), cudaDeviceSynchronize(void),
    cudaGetLastError(void), cudaRuntimeGetVersion(int *v), cudaSetDevice(int d),
    cudaFuncGetAttributes(struct attributes *a, const void *f),
    cudaPointerGetAttributes(struct pointer *a, const void *p), cudaStreamCreate(stream_t *s),
    cudaStreamDestroy(stream_t s), cudaEventCreate(void **e), cudaEventRecord(void *e, stream_t s),
    cudaEventQuery(void *e), cudaEventSynchronize(void *e), cudaMallocManaged(void **p, size_t n, unsigned flags),
    cudaBindTexture(size_t *offset, const struct texture_reference *t, const void *p, const struct channel *d,
                    size_t n),
    cudaCreateTextureObject(uint64_t *t, const struct resource *r, const struct reading *d, const void *view),
    cudaGetTextureObjectTextureDesc(struct reading *d, uint64_t t), cudaGraphCreate(void **g, unsigned flags),
    cudaGraphLaunch(void *x, stream_t s), cudaStreamEndCapture(stream_t s, void **g);
const char *cudaGetErrorName(error_t_ e);
#if CUDA >= 12000 && CUDA < 13000
error_t_ cudaGetDeviceProperties_v2(struct prop *p, int device);
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2
#else
error_t_ cudaGetDeviceProperties(struct prop *p, int device);
#endif
#if CUDA >= 13000
struct location {
  int type, id;
};
error_t_ cudaMemPrefetchAsync(const void *p, size_t n, struct location l, unsigned flags, stream_t s);
#else
error_t_ cudaMemPrefetchAsync(const void *p, size_t n, int device, stream_t s);
#endif
#if CUDA >= 12000
error_t_ cudaGraphInstantiate(void **x, void *g, unsigned long long flags);
#else
error_t_ cudaGraphInstantiate(void **x, void *g, void **bad, char *log, size_t n);
#endif
#if CUDA >= 10010
error_t_ cudaStreamBeginCapture(stream_t s, int mode);
#else
error_t_ cudaStreamBeginCapture(stream_t s);
#endif

enum {
  NOT_READY = CUDA < 10010 ? 34 : 600,
  INVALID_VALUE = CUDA < 10010 ? 11 : 1,
  INVALID_DEVICE = CUDA < 10010 ? 10 : 101,
  INVALID_CONFIGURATION = 9,
  MISSING_CONFIGURATION = CUDA < 10010 ? 1 : 52
};

/* ---- the device code ---- */
static const char ptx[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".visible .const .align 4 .u32 bias;\n.visible .global .align 4 .u32 shared_word;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 managed_word;\n"
    ".global .texref tref;\n"
    ".visible .entry k(.param .u64 out, .param .u32 factor, .param .f64 d)\n{\n"
    ".reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<5>;\n.reg .f64 %d<2>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [factor];\nld.param.f64 %d1, [d];\ncvt.rzi.u32.f64 %r5, %d1;\n"
    "mov.u32 %r2, %tid.x;\nld.const.u32 %r3, [bias];\nadd.u32 %r3, %r3, %r5;\nmad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], %r4;\n"
    "setp.ne.u32 %p1, %r2, 0;\n@%p1 ret;\n"
    "ld.global.u32 %r4, [managed_word];\nadd.u32 %r4, %r4, 1;\nst.global.u32 [managed_word], %r4;\nret;\n}\n"
    ".visible .entry fetch(.param .u64 out)\n{\n.reg .b32 %r<6>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, 3;\ntex.1d.v4.u32.s32 {%r2,%r3,%r4,%r5}, [tref, {%r1}];\n"
    "st.global.u32 [%rd1], %r2;\nret;\n}\n"
    ".visible .entry object(.param .u64 out, .param .u64 t)\n{\n.reg .b32 %r<6>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [t];\nmov.u32 %r1, 5;\n"
    "tex.1d.v4.u32.s32 {%r2,%r3,%r4,%r5}, [%rd2, {%r1}];\nst.global.u32 [%rd1], %r2;\nret;\n}\n";
static struct {
  uint32_t magic;
  uint16_t version, header;
  uint64_t bytes;
  uint16_t kind, one;
  uint32_t entry_header;
  uint64_t payload;
  uint32_t csize, options;
  uint16_t minor, major;
  uint32_t sm, name, name_len;
  uint64_t flags, zero, usize;
  char text[3072];
} container;
static struct {
  int magic, version;
  const void *container;
  const void *const *linked;
} wrapper;

static void **handle;
static uint32_t bias_shadow, *managed_word;
#if CUDA < 12000
static struct texture_reference tref;
#endif
static int bad;

#define CHECK_THAT(x)                                                        \
  do {                                                                       \
    if (!(x)) printf("CUDA %d: line %d: %s\n", CUDA, __LINE__, #x), bad = 1; \
  } while (0)
#define OK(x)                                                                                                  \
  do {                                                                                                         \
    error_t_ e_ = (x);                                                                                         \
    if (e_) printf("CUDA %d: line %d: %s is %d, %s\n", CUDA, __LINE__, #x, e_, cudaGetErrorName(e_)), bad = 1; \
  } while (0)

/* ---- stubs: what nvcc puts in the place of k<<<>>>(out, factor, d) ---- */
#if CUDA < 9020
static void k(uint32_t *out, uint32_t factor, double d) {
  if (cudaSetupArgument(&out, 8, 0)) return;
  if (cudaSetupArgument(&factor, 4, 8)) return;
  if (cudaSetupArgument(&d, 8, 16)) return;
  OK(cudaLaunch((const void *)k));
}
#define CONFIGURE cudaConfigureCall
#else
static void k(uint32_t *out, uint32_t factor, double d) {
  void *args[] = {&out, &factor, &d};
  dim3 grid = {1, 1, 1}, block = {1, 1, 1};
  size_t shared;
  stream_t s;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &s)) return;
#if CUDA >= 13000
  static void *kernel;
  if (!kernel) OK(__cudaGetKernel(&kernel, (const void *)k));
  OK(__cudaLaunchKernel(kernel, grid, block, args, shared, s));
#else
  OK(cudaLaunchKernel((const void *)k, grid, block, args, shared, s));
#endif
}
#define CONFIGURE __cudaPushCallConfiguration
#endif
static char fetch_stub, object_stub;

static void unregister(void) {
  __cudaUnregisterFatBinary(handle);
}

__attribute__((constructor)) static void register_all(void) {
  container.magic = 0xba55ed50;
  container.version = 1, container.header = 16, container.bytes = 64 + sizeof container.text;
  container.kind = 1, container.one = 0x0101, container.entry_header = 64, container.payload = sizeof container.text;
  container.minor = 0, container.major = 6, container.sm = 30, container.flags = 0x11;
  strcpy(container.text, ptx);
  wrapper.magic = 0x466243b1, wrapper.version = 1, wrapper.container = &container;
  handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, (const char *)k, (char *)"k", "k", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(handle, &fetch_stub, (char *)"fetch", "fetch", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(handle, &object_stub, (char *)"object", "object", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterVar(handle, (char *)&bias_shadow, (char *)"bias", "bias", 0, 4, 1, 0);
  __cudaRegisterManagedVar(handle, (void **)&managed_word, (char *)"managed_word", "managed_word", 0, 4, 0, 0);
#if CUDA < 12000
  tref.desc = (struct channel){32, 0, 0, 0, 1};
  __cudaRegisterTexture(handle, &tref, NULL, "::tref", 1, 0, 0);
#endif
#if CUDA >= 10010
  __cudaRegisterFatBinaryEnd(handle);
#endif
  atexit(unregister);
}

static void launches(uint32_t *out) {
  uint32_t bias = 5, got[64];
  if (__cudaInitModule(handle)) *managed_word = 40; /* as the first use of a managed variable does */
  OK(cudaMemcpyToSymbol(&bias_shadow, &bias, 4, 0, 1));
  dim3 one = {1, 1, 1}, threads = {64, 1, 1};
  if (!CONFIGURE(one, threads, 0, NULL)) k(out, 3, 2.5);
  OK(cudaMemcpy(got, out, sizeof got, 2));
  for (uint32_t i = 0; i < 64; i++) CHECK_THAT(got[i] == 3 * i + 7);
  CHECK_THAT(*managed_word == 41);
  CHECK_THAT(cudaGetLastError() == 0);
#if CUDA < 9020
  CHECK_THAT(cudaLaunch((const void *)k) == MISSING_CONFIGURATION);
#else
  void *args[] = {&out, &bias, &bias};
  CHECK_THAT(cudaLaunchKernel((const void *)k, one, (dim3){2000, 1, 1}, args, 0, NULL) == INVALID_CONFIGURATION);
#endif
  cudaGetLastError();
}

static void textures(uint32_t *out) {
  uint32_t host[16], got = 0, *p;
  for (uint32_t i = 0; i < 16; i++) host[i] = 100 + i;
  OK(cudaMalloc((void **)&p, sizeof host));
  OK(cudaMemcpy(p, host, sizeof host, 1));
  dim3 one = {1, 1, 1};
#if CUDA < 12000
  size_t offset;
  OK(cudaBindTexture(&offset, &tref, p, &tref.desc, sizeof host));
  void *args[] = {&out};
  OK(cudaLaunchKernel(&fetch_stub, one, one, args, 0, NULL));
  OK(cudaMemcpy(&got, out, 4, 2));
  CHECK_THAT(got == 103);
#endif
  struct resource r;
  memset(&r, 0, sizeof r);
  r.type = 2;
  r.u.linear.p = p, r.u.linear.desc = (struct channel){32, 0, 0, 0, 1}, r.u.linear.bytes = sizeof host;
  struct {
    struct reading d;
    uint32_t guard[8];
  } in = {.d = {.anisotropy = 3}}, back;
  memset(in.guard, 0x55, sizeof in.guard);
  memset(&back, 0xaa, sizeof back);
  uint64_t t;
  OK(cudaCreateTextureObject(&t, &r, &in.d, NULL));
  OK(cudaGetTextureObjectTextureDesc(&back.d, t));
  CHECK_THAT(memcmp(&in.d, &back.d, sizeof in.d) == 0);
  for (int i = 0; i < 8; i++) CHECK_THAT(back.guard[i] == 0xaaaaaaaa);
  void *two[] = {&out, &t};
  OK(cudaLaunchKernel(&object_stub, one, one, two, 0, NULL));
  OK(cudaMemcpy(&got, out, 4, 2));
  CHECK_THAT(got == 105);
}

static void layouts(uint32_t *out) {
  struct {
    struct prop p;
    uint32_t guard[8];
  } p;
  memset(&p, 0xaa, sizeof p);
  OK(cudaGetDeviceProperties(&p.p, 0));
  for (int i = 0; i < 8; i++) CHECK_THAT(p.guard[i] == 0xaaaaaaaa);
  CHECK_THAT(p.p.warp == 32 && p.p.threads == 1024 && p.p.grid[2] == 65535 && p.p.dim[2] == 64 && p.p.sms == 15);
  CHECK_THAT(p.p.major == 2 && p.p.unified == 1 && p.p.maps == 1 && p.p.texture_alignment == 512);
  CHECK_THAT(p.p.threads_per_sm == 1536 && p.p.bus_width == 384 && p.p.managed == 1 && p.p.cooperative == 1);
  CHECK_THAT(p.p.shared_per_sm == 49152 && p.p.optin == 49152 && p.p.surf2d[1] == 32768 && p.p.l1_local == 1);
#if CUDA >= 9020
  CHECK_THAT(p.p.page_tables == 0 && p.p.direct_managed == 0);
#endif
#if CUDA >= 11000
  CHECK_THAT(p.p.ctas_per_sm == 8 && p.p.window == 0);
#endif
  struct {
    struct attributes a;
    uint32_t guard[8];
  } a;
  memset(&a, 0xaa, sizeof a);
  OK(cudaFuncGetAttributes(&a.a, (const void *)k));
  CHECK_THAT(a.a.threads == 1024 && a.a.regs > 0 && a.a.dynamic == 49152);
  for (int i = 0; i < 8; i++) CHECK_THAT(a.guard[i] == 0xaaaaaaaa);
#if CUDA >= 12000
  CHECK_THAT(a.a.cluster[0] == 0 && a.a.cluster[5] == 0 && a.a.reserved[15] == 0);
#endif
  struct {
    struct pointer q;
    uint32_t guard[8];
  } q;
  memset(&q, 0xaa, sizeof q);
  OK(cudaPointerGetAttributes(&q.q, out));
  CHECK_THAT(q.q.on_device == out && q.q.device == 0 && !q.q.on_host);
  for (int i = 0; i < 8; i++) CHECK_THAT(q.guard[i] == 0xaaaaaaaa);
#if CUDA < 11000
  CHECK_THAT(q.q.memory == 2 && !q.q.managed);
  CHECK_THAT(cudaPointerGetAttributes(&q.q, &q) == INVALID_VALUE); /* from CUDA 11 on: unregistered memory */
#else
  CHECK_THAT(cudaPointerGetAttributes(&q.q, &q) == 0 && q.q.type == 0);
#endif
#if CUDA >= 10000
  OK(cudaPointerGetAttributes(&q.q, managed_word));
  CHECK_THAT(q.q.type == 3);
#endif
  cudaGetLastError();
}

static void errors(uint32_t *out) {
  int version = 0;
  OK(cudaRuntimeGetVersion(&version));
  CHECK_THAT(version == CUDA);
  CHECK_THAT(cudaMemcpy(out, out, (size_t)1 << 40, 3) == INVALID_VALUE);
  CHECK_THAT(cudaGetLastError() == INVALID_VALUE);
  CHECK_THAT(cudaSetDevice(7) == INVALID_DEVICE);
  cudaGetLastError();
  CHECK_THAT(strcmp(cudaGetErrorName(NOT_READY), "cudaErrorNotReady") == 0);
  CHECK_THAT(strcmp(cudaGetErrorName(INVALID_DEVICE), "cudaErrorInvalidDevice") == 0);
  stream_t s;
  void *e;
  OK(cudaStreamCreate(&s));
  OK(cudaEventCreate(&e));
  if (!CONFIGURE((dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, s)) k(out, 1, 0);
  OK(cudaEventRecord(e, s));
  error_t_ state;
  while ((state = cudaEventQuery(e)) == NOT_READY) {
  }
  CHECK_THAT(state == 0);
  OK(cudaEventSynchronize(e));
  OK(cudaStreamDestroy(s));
}

static void signatures(uint32_t *out) {
  void *p, *g = NULL, *x = NULL;
  OK(cudaMallocManaged(&p, 256, 1));
#if CUDA >= 13000
  OK(cudaMemPrefetchAsync(p, 256, (struct location){1, 0}, 0, NULL));
#else
  OK(cudaMemPrefetchAsync(p, 256, 0, NULL));
#endif
#if CUDA >= 10000
  stream_t s;
  OK(cudaStreamCreate(&s));
#if CUDA >= 10010
  OK(cudaStreamBeginCapture(s, 0));
#else
  OK(cudaStreamBeginCapture(s));
#endif
  if (!CONFIGURE((dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, s)) k(out, 2, 0);
  OK(cudaStreamEndCapture(s, &g));
#if CUDA >= 12000
  OK(cudaGraphInstantiate(&x, g, 0));
#else
  char log[64];
  void *node;
  OK(cudaGraphInstantiate(&x, g, &node, log, sizeof log));
#endif
  OK(cudaGraphLaunch(x, s));
  OK(cudaDeviceSynchronize());
  uint32_t got[64];
  OK(cudaMemcpy(got, out, sizeof got, 2));
  CHECK_THAT(got[9] == 23);
#else
  (void)out, (void)g, (void)x;
#endif
}

int main(void) {
  uint32_t *out;
  OK(cudaMalloc((void **)&out, 64 * 4));
  launches(out);
  textures(out);
  layouts(out);
  errors(out);
  signatures(out);
  OK(cudaFree(out));
  puts(bad ? "FAIL" : "PASS");
  return bad;
}
