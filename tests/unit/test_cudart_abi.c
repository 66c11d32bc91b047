/* test_cudart_abi.c - the interface that compilers call, without a compiler: a fat binary made by hand is registered
 * and its kernels are launched through every launch sequence of nvcc 9 to 13 and of clang; then what goes wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cudart/core/abi_prop.h"
#include "cudart/image/fatbin.h"

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *fun, const char *name, int limit, void *tid,
                            void *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
                       int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaFunction_t *kernel, const void *stub);
cudaError_t __cudaLaunchKernel(cudaFunction_t k, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream);
cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                  cudaStream_t stream);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t cudaSetupArgument(const void *arg, size_t size, size_t offset);
cudaError_t cudaLaunch(const void *func);
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, int kind);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *func);
cudaError_t cudaFuncSetAttribute(const void *func, int attribute, int value);
cudaError_t cudaGetDeviceProperties(struct device_prop_11 *p, int device);
cudaError_t cudaGetDeviceProperties_v2(struct device_prop_12 *p, int device);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

/* k: out[thread] = factor * thread + bias, with bias a device variable. wild: writes where nothing is. */
static const char ptx[] = ".version 6.0\n.target sm_30\n.address_size 64\n"
                          ".visible .global .align 4 .u32 bias;\n"
                          ".visible .entry k(.param .u64 out, .param .u32 factor)\n{\n"
                          ".reg .b32 %r<6>;\n.reg .b64 %rd<5>;\n"
                          "ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [factor];\ncvta.to.global.u64 %rd2, %rd1;\n"
                          "mov.u32 %r2, %tid.x;\nld.global.u32 %r3, [bias];\nmad.lo.s32 %r4, %r1, %r2, %r3;\n"
                          "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], %r4;\nret;\n}\n"
                          ".visible .entry wild()\n{\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
                          "mov.u64 %rd1, 64;\nmov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";

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
  char text[2048];
} container;
static struct fatbin_wrapper wrapper;
static char stub_k, stub_wild, stub_missing, stub_runtime,
    host_bias; /* their addresses name the kernels and the variable */

static void *out;

static int set_up(void **state) {
  (void)state;
  setenv("SLUICE_MODE", "functional", 1);
  container.magic = FATBIN_CONTAINER_MAGIC;
  container.version = 1;
  container.header = 16;
  container.bytes = 64 + sizeof container.text;
  container.kind = FATBIN_PTX;
  container.one = 0x0101;
  container.entry_header = 64;
  container.payload = sizeof container.text;
  container.sm = 30;
  container.flags = 0x11;
  strcpy(container.text, ptx);
  wrapper = (struct fatbin_wrapper){.magic = FATBIN_WRAPPER_MAGIC, .version = 1, .container = &container};
  void **h = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(h, &stub_k, NULL, "k", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(h, &stub_wild, NULL, "wild", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(h, &stub_missing, NULL, "missing", -1, NULL, NULL, NULL, NULL, NULL);
  /* nvcc -rdc=true with PTX alone registers the device runtime's kernels last, in the module of the program's. */
  __cudaRegisterFunction(h, &stub_runtime, NULL, "__nv_static_22_cuda_device_runtime_cu_x", -1, NULL, NULL, NULL, NULL,
                         NULL);
  __cudaRegisterVar(h, &host_bias, NULL, "bias", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(h);
  return cudaMalloc(&out, 64 * 4) != cudaSuccess;
}

static void expect(uint32_t factor, uint32_t bias) {
  uint32_t got[64];
  assert_int_equal(cudaMemcpy(got, out, sizeof got, COPY_D2H), cudaSuccess);
  for (uint32_t i = 0; i < 64; i++) assert_int_equal(got[i], factor * i + bias);
}

static const dim3 one = {1, 1, 1}, threads = {64, 1, 1};

static void launches_as_nvcc_11(void **state) {
  (void)state;
  uint32_t factor = 3, bias = 5;
  void *args[] = {&out, &factor};
  assert_int_equal(cudaMemcpyToSymbol(&host_bias, &bias, 4, 0, COPY_H2D), cudaSuccess);
  assert_int_equal(__cudaPushCallConfiguration(one, threads, 0, NULL), 0);
  dim3 grid, block;
  size_t shared = 99;
  cudaStream_t stream;
  assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaSuccess);
  assert_int_equal(block.x, 64);
  assert_int_equal(shared, 0);
  assert_int_equal(cudaLaunchKernel(&stub_k, grid, block, args, shared, stream), cudaSuccess);
  expect(3, 5);
  factor = 4;
  assert_int_equal(cudaLaunchKernel_ptsz(&stub_k, grid, block, args, shared, stream), cudaSuccess);
  expect(4, 5);
  assert_int_equal(__cudaPopCallConfiguration(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

static void launches_as_nvcc_13(void **state) {
  (void)state;
  uint32_t factor = 7;
  void *args[] = {&out, &factor};
  cudaFunction_t k = NULL;
  assert_int_equal(__cudaGetKernel(&k, &stub_k), cudaSuccess);
  assert_int_equal(__cudaLaunchKernel(k, one, threads, args, 0, NULL), cudaSuccess);
  expect(7, 5);
  assert_int_equal(__cudaGetKernel(&k, &container), cudaErrorInvalidDeviceFunction);
}

static void launches_as_old_clang(void **state) {
  (void)state;
  uint32_t factor = 9;
  assert_int_equal(cudaConfigureCall(one, threads, 0, NULL), cudaSuccess);
  assert_int_equal(cudaSetupArgument(&out, 8, 0), cudaSuccess);
  assert_int_equal(cudaSetupArgument(&factor, 4, 8), cudaSuccess);
  assert_int_equal(cudaLaunch(&stub_k), cudaSuccess);
  expect(9, 5);
  /* Too few bytes of arguments, too many, none configured. */
  assert_int_equal(cudaConfigureCall(one, threads, 0, NULL), cudaSuccess);
  assert_int_equal(cudaSetupArgument(&out, 8, 0), cudaSuccess);
  assert_int_equal(cudaLaunch(&stub_k), cudaErrorInvalidValue);
  assert_int_equal(cudaConfigureCall(one, threads, 0, NULL), cudaSuccess);
  assert_int_equal(cudaSetupArgument(&out, 8, 8), cudaSuccess);
  assert_int_equal(cudaLaunch(&stub_k), cudaErrorInvalidValue);
  assert_int_equal(cudaLaunch(&stub_k), cudaErrorMissingConfiguration);
  assert_int_equal(cudaSetupArgument(&out, 8, 0), cudaErrorMissingConfiguration);
  cudaGetLastError();
}

static void checks_launches(void **state) {
  (void)state;
  uint32_t factor = 1;
  void *args[] = {&out, &factor}, *short_args[] = {&out, NULL};
  assert_int_equal(cudaLaunchKernel(&stub_k, (dim3){0, 1, 1}, threads, args, 0, NULL), cudaErrorInvalidConfiguration);
  assert_int_equal(cudaLaunchKernel(&stub_k, one, (dim3){1025, 1, 1}, args, 0, NULL), cudaErrorInvalidConfiguration);
  assert_int_equal(cudaLaunchKernel(&stub_k, one, (dim3){1, 1, 65}, args, 0, NULL), cudaErrorInvalidConfiguration);
  assert_int_equal(cudaLaunchKernel(&stub_k, (dim3){1, 65536, 1}, one, args, 0, NULL), cudaErrorInvalidConfiguration);
  assert_int_equal(cudaLaunchKernel(&stub_k, one, threads, args, 49153, NULL), cudaErrorInvalidValue);
  assert_int_equal(cudaLaunchKernel(&stub_k, one, threads, short_args, 0, NULL), cudaErrorInvalidValue);
  assert_int_equal(cudaLaunchKernel(&stub_k, one, threads, args, 0, (cudaStream_t)&factor),
                   cudaErrorInvalidResourceHandle);
  assert_int_equal(cudaLaunchKernel(&container, one, threads, args, 0, NULL), cudaErrorInvalidDeviceFunction);
  assert_int_equal(cudaLaunchKernel(&stub_missing, one, threads, args, 0, NULL), cudaErrorInvalidDeviceFunction);
  /* The last failure is the thread's last error, once. */
  assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidDeviceFunction);
  assert_int_equal(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
  assert_int_equal(cudaGetLastError(), cudaSuccess);
}

static void checks_memory(void **state) {
  (void)state;
  char host[16] = {0};
  void *p = NULL;
  assert_int_equal(cudaMemcpy((char *)out + 250, host, 16, COPY_H2D), cudaErrorInvalidValue); /* past the end */
  assert_int_equal(cudaMemcpy(host, host + 8, 8, COPY_D2H), cudaErrorInvalidValue);           /* not device memory */
  assert_int_equal(cudaMemcpy(host, out, 16, 17), cudaErrorInvalidMemcpyDirection);
  assert_int_equal(cudaMemcpyToSymbol(&host_bias, host, 8, 0, COPY_H2D), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpyToSymbol(host, host, 4, 0, COPY_H2D), cudaErrorInvalidSymbol);
  assert_int_equal(cudaMalloc(&p, (size_t)1 << 50), cudaErrorMemoryAllocation);
  assert_int_equal(cudaMalloc(&p, 100), cudaSuccess);
  assert_int_equal(cudaFree((char *)p + 4), cudaErrorInvalidValue);
  assert_int_equal(cudaFree(p), cudaSuccess);
  assert_int_equal(cudaFree(p), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy(host, p, 8, COPY_DEFAULT), cudaErrorInvalidValue); /* freed */
  assert_int_equal(cudaFree(NULL), cudaSuccess);
  cudaGetLastError();
}

static void describes_the_kernel_and_the_device(void **state) {
  (void)state;
  struct cudaFuncAttributes a;
  assert_int_equal(cudaFuncGetAttributes(&a, &stub_k), cudaSuccess);
  assert_int_equal(a.maxThreadsPerBlock, 1024);
  assert_true(a.numRegs >= 4 && a.numRegs <= 16);
  assert_int_equal(a.ptxVersion, 30);
  assert_int_equal(a.maxDynamicSharedSizeBytes, 49152);
  assert_int_equal(cudaFuncSetAttribute(&stub_k, FUNC_MAX_DYNAMIC_SHARED, 1 << 20), cudaErrorInvalidValue);
  struct device_prop_11 p;
  struct device_prop_12 q;
  assert_int_equal(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  assert_int_equal(cudaGetDeviceProperties_v2(&q, 0), cudaSuccess);
  assert_int_equal(p.multiProcessorCount, 15);
  assert_int_equal(q.multiProcessorCount, 15);
  assert_int_equal(p.maxThreadsPerMultiProcessor, 1536);
  assert_int_equal(p.memoryBusWidth, 384);
  assert_int_equal(p.warpSize, 32);
  assert_int_equal(p.clockRate, 700000);
  assert_string_equal(p.name, q.name);
  assert_int_equal(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
  cudaGetLastError();
}

static void names_errors(void **state) {
  (void)state;
  assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
  assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  assert_string_equal(cudaGetErrorString(0), "no error");
  assert_string_equal(cudaGetErrorName(12345), "unrecognized error code");
}

/* In a child: the context is lost, and every call reports it. */
static void faults_stay(void **state) {
  (void)state;
  int status;
  pid_t child = fork();
  if (child == 0) {
    void *p;
    if (!freopen("/dev/null", "w", stderr)) _exit(9);
    if (cudaLaunchKernel(&stub_wild, one, one, NULL, 0, NULL) != cudaSuccess) _exit(1); /* asynchronous */
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress) _exit(2);
    if (cudaGetLastError() != cudaErrorIllegalAddress) _exit(3);
    if (cudaGetLastError() != cudaErrorIllegalAddress) _exit(4);
    if (cudaMalloc(&p, 4) != cudaErrorIllegalAddress) _exit(5);
    if (cudaLaunchKernel(&stub_k, one, one, NULL, 0, NULL) != cudaErrorIllegalAddress) _exit(6);
    _exit(42);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 42);
}

/* Children that register what cannot be simulated end with the code for it, before anything runs. */
static int register_and_use(const char *text, uint16_t kind) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    void *p;
    if (!freopen("/dev/null", "w", stderr)) _exit(99);
    memset(container.text, 0, sizeof container.text);
    strcpy(container.text, text);
    container.kind = kind;
    void **h = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(h, &stub_k, NULL, "k", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(h);
    cudaMalloc(&p, 4);
    _exit(98);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void refuses_what_cannot_run(void **state) {
  (void)state;
  assert_int_equal(register_and_use("this is not PTX", FATBIN_PTX), 2);
  assert_int_equal(
      register_and_use(".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k()\n{\nret;\n", FATBIN_PTX), 2);
  /* An instruction that Sluice does not know stops only the kernel that executes it. */
  assert_int_equal(
      register_and_use(".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k()\n{\nfly.u32 1;\n}\n",
                       FATBIN_PTX),
      98);
  assert_int_equal(register_and_use("\177ELF", FATBIN_CUBIN), 3); /* machine code alone */
  assert_int_equal(register_and_use(ptx, FATBIN_PTX), 98);
}

/* Modules of a newer PTX run, with one warning for all of them. */
static void warns_of_newer_ptx_once(void **state) {
  (void)state;
  int ends[2], status;
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    static struct fatbin_wrapper second;
    void *p;
    uint32_t got[64], factor = 7;
    void *args[] = {&p, &factor};
    if (dup2(ends[1], 2) < 0) _exit(1);
    memcpy(strstr(container.text, "6.0"), "9.9", 3);
    second = wrapper;
    for (int k = 0; k < 2; k++) {
      void **h = __cudaRegisterFatBinary(k ? &second : &wrapper);
      __cudaRegisterFunction(h, k ? &stub_missing : &stub_k, NULL, "k", -1, NULL, NULL, NULL, NULL, NULL);
      __cudaRegisterFatBinaryEnd(h);
    }
    if (cudaMalloc(&p, sizeof got) != cudaSuccess) _exit(2);
    for (int k = 0; k < 2; k++) {
      if (cudaLaunchKernel(k ? &stub_missing : &stub_k, one, threads, args, 0, NULL) != cudaSuccess) _exit(3);
      if (cudaMemcpy(got, p, sizeof got, COPY_D2H) != cudaSuccess || got[9] != 63) _exit(4);
    }
    _exit(42);
  }
  close(ends[1]);
  char text[4096];
  size_t n = 0;
  for (ssize_t r; n < sizeof text - 1 && (r = read(ends[0], text + n, sizeof text - 1 - n)) > 0;) n += (size_t)r;
  text[n] = 0;
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 42) fail_msg("ended with %#x: %s", status, text);
  const char *first = strstr(text, "warning: ");
  assert_non_null(first);
  assert_non_null(strstr(first, "is PTX of ISA version 9.9"));
  assert_null(strstr(first + 1, "warning: "));
}

int main(void) {
  /* Those with children come first, while there is one thread: a lock of the sanitizer's allocator that the thread of
   * cudart/core/minder.c holds at a fork() stays locked in the child. */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_stay),
      cmocka_unit_test(refuses_what_cannot_run),
      cmocka_unit_test(warns_of_newer_ptx_once),
      cmocka_unit_test(launches_as_nvcc_11),
      cmocka_unit_test(launches_as_nvcc_13),
      cmocka_unit_test(launches_as_old_clang),
      cmocka_unit_test(checks_launches),
      cmocka_unit_test(checks_memory),
      cmocka_unit_test(describes_the_kernel_and_the_device),
      cmocka_unit_test(names_errors),
  };
  return cmocka_run_group_tests(tests, set_up, NULL);
}
