/* micro.c - the microbenchmarks of `sluice microbench` on a GPU, through CUDA's driver API: the same PTX, the same
 * sizes.
 *
 * Prints name,unit,value as CSV after notes of the GPU's name and clocks. Built and run by bench/silicon/run.
 */
#include <cuda.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "cli/cmd/micro.h"

static void check(CUresult r, const char *what) {
  const char *text = "?";
  if (r == CUDA_SUCCESS) return;
  cuGetErrorString(r, &text);
  fprintf(stderr, "micro: %s: %s\n", what, text);
  exit(1);
}
#define CU(call) check(call, #call)

struct gpu {
  CUmodule module;
  CUdeviceptr out, data;
  uint32_t results[1024];
};

static bool launch(void *ctx, const char *kernel, uint32_t ctas, uint32_t threads, uint64_t data, uint32_t n) {
  struct gpu *g = ctx;
  CUfunction f;
  uint32_t one = 1;
  void *params[] = {&g->out, &data, &n, &one};
  CU(cuModuleGetFunction(&f, g->module, kernel));
  CU(cuLaunchKernel(f, ctas, 1, 1, threads, 1, 1, 0, NULL, params, NULL));
  CU(cuCtxSynchronize());
  return true;
}

static const uint32_t *results(void *ctx) {
  struct gpu *g = ctx;
  CU(cuMemcpyDtoH(g->results, g->out, sizeof g->results));
  return g->results;
}

static void point(void *ctx, uint64_t offset, uint64_t to_offset) {
  struct gpu *g = ctx;
  uint64_t address = g->data + to_offset;
  CU(cuMemcpyHtoD(g->data + offset, &address, sizeof address));
}

static uint32_t attribute(CUdevice d, CUdevice_attribute a) {
  int v;
  CU(cuDeviceGetAttribute(&v, a, d));
  return (uint32_t)v;
}

int main(int argc, char **argv) {
  CUdevice d;
  CUcontext ctx;
  char name[256];
  struct err e = {0};
  static struct gpu g;
  CU(cuInit(0));
  CU(cuDeviceGet(&d, 0));
  CU(cuDeviceGetName(name, sizeof name, d));
  CU(cuDevicePrimaryCtxRetain(&ctx, d));
  CU(cuCtxSetCurrent(ctx));
  struct micro_device dev = {
      .ctx = &g,
      .cc = 10 * attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
            attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
      .sms = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
      .sm_threads = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
      .cta_threads = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
      .core_mhz = attribute(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000,
      .own_clocks = true,
      .launch = launch,
      .results = results,
      .point = point,
      .e = &e,
  };
  char *text = micro_ptx(dev.cc);
  CU(cuModuleLoadData(&g.module, text));
  free(text);
  CU(cuMemAlloc(&g.out, sizeof g.results));
  CU(cuMemAlloc(&g.data, MICRO_DATA));
  CU(cuMemsetD8(g.data, 0, MICRO_DATA));
  dev.data = g.data;
  double *value = calloc(micro_count, sizeof *value);
  if (!value || !micro_measure(&dev, argc > 1 ? argv[1] : NULL, NULL, NULL, value)) return 1;
  printf("# device: %s\n# core_mhz: %u\n# memory_mhz: %u\n", name, dev.core_mhz,
         attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / 1000);
  puts("name,unit,value");
  for (size_t i = 0; i < micro_count; i++)
    if (!isnan(value[i])) printf("%s,%s,%.6g\n", micros[i].name, micros[i].unit, value[i]);
  free(value);
  return 0;
}
