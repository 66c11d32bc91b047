/* test_cudart_driver.c - the driver API: PTX as text, as a fat binary and linked from two parts; launches with an array
 * of arguments, with a buffer, and as before CUDA 4; textures; and bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef uint64_t CUdeviceptr;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct context *CUcontext;
typedef struct linker *CUlinkState;

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetCount(int *count);
int cuDeviceGetName(char *name, int len, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuCtxCreate_v2(CUcontext *c, unsigned flags, int device);
int cuCtxGetCurrent(CUcontext *c);
int cuCtxSynchronize(void);
int cuModuleLoadData(CUmodule *m, const void *image);
int cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, int *options, void **values);
int cuModuleUnload(CUmodule m);
int cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name);
int cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *bytes, CUmodule m, const char *name);
int cuMemAlloc_v2(CUdeviceptr *p, size_t bytes);
int cuMemFree_v2(CUdeviceptr p);
int cuMemAddressReserve(CUdeviceptr *p, size_t bytes, size_t alignment, CUdeviceptr where, uint64_t flags);
int cuMemAddressFree(CUdeviceptr p, size_t bytes);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *props, uint64_t flags);
int cuMemMap(CUdeviceptr p, size_t bytes, size_t offset, uint64_t handle, uint64_t flags);
int cuMemUnmap(CUdeviceptr p, size_t bytes);
int cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t bytes);
int cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes);
int cuMemsetD32_v2(CUdeviceptr p, uint32_t value, size_t n);
int cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, CUstream s, void **params, void **extra);
int cuFuncSetBlockShape(CUfunction f, int x, int y, int z);
int cuParamSetSize(CUfunction f, unsigned bytes);
int cuParamSetv(CUfunction f, int offset, void *p, unsigned bytes);
int cuParamSeti(CUfunction f, int offset, unsigned value);
int cuLaunchGrid(CUfunction f, int w, int h);
int cuFuncGetAttribute(int *value, int attribute, CUfunction f);
int cuLinkCreate_v2(unsigned n, int *options, void **values, CUlinkState *s);
int cuLinkAddData_v2(CUlinkState s, int type, void *data, size_t bytes, const char *name, unsigned n, int *options,
                     void **values);
int cuLinkComplete(CUlinkState s, void **image, size_t *bytes);
int cuLinkDestroy(CUlinkState s);
int cuGetErrorName(int error, const char **name);
int cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status);
int cuEventCreate(CUevent *e, unsigned flags);
int cuEventRecord(CUevent e, CUstream s);
int cuEventElapsedTime(float *ms, CUevent a, CUevent b);
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, size_t (*shared)(int), size_t bytes,
                                     int limit);

#define HEAD ".version 6.0\n.target sm_30\n.address_size 64\n"
static const char add_ptx[] = HEAD
    ".visible .global .align 4 .u32 offset = 100;\n"
    ".visible .entry add(.param .u64 p, .param .u32 v)\n{\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [v];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %tid.x;\n"
    "mov.u32 %r4, %ntid.x;\nmad.lo.s32 %r2, %r2, %r4, %r3;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
    "ld.global.u32 %r5, [offset];\nadd.u32 %r5, %r5, %r1;\nadd.u32 %r5, %r5, %r2;\nst.global.u32 [%rd3], "
    "%r5;\nret;\n}\n";

static CUdeviceptr memory;

static int set_up(void **state) {
  (void)state;
  setenv("SLUICE_MODE", "functional", 1);
  int count = 0;
  if (cuDeviceGetCount(&count) != 3) return 1; /* not initialised yet */
  return cuInit(0) || cuMemAlloc_v2(&memory, 64 * 4);
}

static void expect(uint32_t first) {
  uint32_t got[64];
  assert_int_equal(cuMemcpyDtoH_v2(got, memory, sizeof got), 0);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(got[i], first + i);
  assert_int_equal(cuMemsetD32_v2(memory, 0xdeadbeef, 64), 0);
}

static void asks_the_device(void **state) {
  (void)state;
  int device = -1, count = 0, value = 0;
  char name[64];
  CUcontext made, current;
  assert_int_equal(cuDeviceGetCount(&count), 0);
  assert_int_equal(count, 1);
  assert_int_equal(cuDeviceGet(&device, 0), 0);
  assert_int_equal(cuDeviceGet(&device, 1), 101);
  assert_int_equal(cuDeviceGetName(name, sizeof name, 0), 0);
  assert_non_null(strstr(name, "GTX480"));
  assert_int_equal(cuDeviceGetAttribute(&value, 16, 0), 0);
  assert_int_equal(value, 15);
  assert_int_equal(cuCtxCreate_v2(&made, 0, 0), 0);
  assert_int_equal(cuCtxGetCurrent(&current), 0);
  assert_ptr_equal(made, current);
  void *entry = NULL;
  int status = -1;
  assert_int_equal(cuGetProcAddress_v2("cuMemAlloc", &entry, 12000, 0, &status), 0);
  assert_ptr_equal(entry, (void *)(uintptr_t)cuMemAlloc_v2);
  assert_int_equal(status, 0);
  assert_int_equal(cuGetProcAddress_v2("cuGetProcAddress", &entry, 12000, 0, &status), 0);
  assert_ptr_equal(entry, (void *)(uintptr_t)cuGetProcAddress_v2);
  assert_int_equal(cuGetProcAddress_v2("cuGetProcAddress", &entry, 11080, 0, &status), 0);
  assert_ptr_equal(entry, (void *)(uintptr_t)cuGetProcAddress); /* without a status */
  assert_int_equal(cuGetProcAddress_v2("cuNoSuchCall", &entry, 12000, 0, &status), 500);
}

static void maps_memory_at_one_address(void **state) {
  (void)state;
  enum { PAGE = 2 << 20 };
  const int props[8] = {1, 0, 1};
  int value = 0;
  uint64_t handle[2];
  CUdeviceptr p;
  assert_int_equal(cuDeviceGetAttribute(&value, 102, 0), 0);
  assert_int_equal(value, 1);
  assert_int_equal(cuMemAddressReserve(&p, 3 * PAGE, 0, 0, 0), 0);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(cuMemCreate(&handle[i], PAGE, props, 0), 0);
    assert_int_equal(cuMemMap(p + i * PAGE, PAGE, 0, handle[i], 0), 0);
  }
  assert_int_equal(cuMemUnmap(p, PAGE), 0);
  assert_int_equal(cuMemMap(p, PAGE, 0, handle[0], 0), 0);
  assert_int_equal(cuMemMap(p + 2 * PAGE, PAGE, 0, handle[0], 0), 801); /* its bytes lie elsewhere */
  assert_int_equal(cuMemMap(p + PAGE, PAGE / 2, PAGE / 2, handle[1], 0), 801);
  assert_int_equal(cuMemMap(p, PAGE, 0, 0, 0), 1);
  assert_int_equal(cuMemAddressFree(p, 3 * PAGE), 0);
}

static void launches_every_way(void **state) {
  (void)state;
  CUmodule m;
  CUfunction f;
  uint32_t v = 1000;
  assert_int_equal(cuModuleLoadData(&m, add_ptx), 0);
  assert_int_equal(cuModuleGetFunction(&f, m, "add"), 0);
  assert_int_equal(cuModuleGetFunction(&f, m, "sub"), 500);
  assert_int_equal(cuModuleGetFunction(&f, m, "add"), 0);
  void *params[] = {&memory, &v};
  assert_int_equal(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, params, NULL), 0);
  expect(1100);
  struct {
    CUdeviceptr p;
    uint32_t v;
  } buffer = {memory, 2000};
  size_t bytes = 12;
  void *extra[] = {(void *)1, &buffer, (void *)2, &bytes, (void *)0};
  assert_int_equal(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra), 0);
  expect(2100);
  bytes = 8; /* an argument is missing */
  assert_int_equal(cuLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, extra), 1);
  assert_int_equal(cuFuncSetBlockShape(f, 64, 1, 1), 0);
  assert_int_equal(cuParamSetSize(f, 12), 0);
  assert_int_equal(cuParamSetv(f, 0, &memory, 8), 0);
  assert_int_equal(cuParamSeti(f, 8, 3000), 0);
  assert_int_equal(cuLaunchGrid(f, 1, 1), 0);
  expect(3100);
  CUdeviceptr offset;
  assert_int_equal(cuModuleGetGlobal_v2(&offset, &bytes, m, "offset"), 0);
  assert_int_equal(bytes, 4);
  v = 7;
  assert_int_equal(cuMemcpyHtoD_v2(offset, &v, 4), 0);
  assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), 0);
  expect(14);
  int regs = 0, grid = 0, block = 0;
  assert_int_equal(cuFuncGetAttribute(&regs, 4, f), 0);
  assert_true(regs > 0 && regs < 32);
  assert_int_equal(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0), 0);
  assert_true(block >= 192 && block <= 1024 && grid >= 15);
  /* A function of a module that is gone. */
  assert_int_equal(cuModuleUnload(m), 0);
  assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), 400);
  assert_int_equal(cuModuleUnload(m), 400);
}

static void links_two_parts(void **state) {
  (void)state;
  static char caller[] =
      HEAD ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
           ".visible .entry main_kernel(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
           "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\n"
           "call.uni (b), twice, (a);\nld.param.b32 %r2, [b];\n}\n"
           "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r2;\nret;\n}\n";
  static char callee[] = HEAD ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"
                              "ld.param.b32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n";
  CUlinkState link;
  CUmodule m;
  CUfunction f;
  void *image, *params[] = {&memory};
  size_t bytes;
  uint32_t got[64];
  assert_int_equal(cuLinkCreate_v2(0, NULL, NULL, &link), 0);
  assert_int_equal(cuLinkAddData_v2(link, 1, caller, sizeof caller, "caller", 0, NULL, NULL), 0);
  assert_int_equal(cuLinkAddData_v2(link, 1, callee, sizeof callee, "callee", 0, NULL, NULL), 0);
  assert_int_equal(cuLinkComplete(link, &image, &bytes), 0);
  assert_int_equal(cuModuleLoadData(&m, image), 0);
  assert_int_equal(cuLinkDestroy(link), 0);
  assert_int_equal(cuModuleGetFunction(&f, m, "main_kernel"), 0);
  assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), 0);
  assert_int_equal(cuMemcpyDtoH_v2(got, memory, sizeof got), 0);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(got[i], 2 * i);
}

static void reports_bad_ptx(void **state) {
  (void)state;
  char log[512] = "";
  int options[] = {5, 6};
  void *values[] = {log, (void *)sizeof log};
  CUmodule m = NULL;
  const char *name = NULL;
  assert_int_equal(cuModuleLoadDataEx(&m, HEAD ".visible .entry k()\n{\nadd.u32 %r1, ;\nret;\n}\n", 2, options, values),
                   218);
  assert_non_null(strstr(log, ":6:")); /* the line of the mistake */
  assert_int_equal(cuGetErrorName(218, &name), 0);
  assert_string_equal(name, "CUDA_ERROR_INVALID_PTX");
  assert_int_equal(cuModuleLoadData(&m, ""), 218);
  assert_int_equal(cuModuleLoadData(&m, NULL), 1);
}

static void measures_simulated_time(void **state) {
  (void)state;
  CUmodule m;
  CUfunction f;
  CUevent a, b;
  float ms = -1;
  uint32_t v = 1;
  void *params[] = {&memory, &v};
  assert_int_equal(cuModuleLoadData(&m, add_ptx), 0);
  assert_int_equal(cuModuleGetFunction(&f, m, "add"), 0);
  assert_int_equal(cuEventCreate(&a, 0), 0);
  assert_int_equal(cuEventCreate(&b, 0), 0);
  assert_int_equal(cuEventElapsedTime(&ms, a, b), 400); /* not recorded */
  assert_int_equal(cuEventRecord(a, NULL), 0);
  for (int i = 0; i < 1000; i++) assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL), 0);
  assert_int_equal(cuEventRecord(b, NULL), 0);
  assert_int_equal(cuCtxSynchronize(), 0);
  assert_int_equal(cuEventElapsedTime(&ms, a, b), 0);
  assert_true(ms > 0 && ms < 10);
  assert_int_equal(cuMemFree_v2(memory), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(asks_the_device),
      cmocka_unit_test(launches_every_way),
      cmocka_unit_test(links_two_parts),
      cmocka_unit_test(reports_bad_ptx),
      cmocka_unit_test(maps_memory_at_one_address),
      cmocka_unit_test(measures_simulated_time),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
