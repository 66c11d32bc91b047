/* api_library.c - calls of CUDA 11.8 and later that delegate: entry points of the driver library, modules loaded at
 * run time, copies in batches, clusters.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cudart/core/arrays.h"
#include "cudart/core/clusters.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/runtime/api_graph.h"

/* ---- the driver library beside this one ---- */

static void *driver(void) {
  Dl_info self;
  char path[4096];
  if (!dladdr((void *)(uintptr_t)driver, &self) || !self.dli_fname) return NULL;
  const char *slash = strrchr(self.dli_fname, '/');
  int n = slash ? (int)(slash - self.dli_fname) + 1 : 0;
  if (snprintf(path, sizeof path, "%.*slibcuda.so.1", n, self.dli_fname) >= (int)sizeof path) return NULL;
  void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  int (*init)(unsigned) = NULL;
  if (lib) *(void **)&init = dlsym(lib, "cuInit");
  if (init) init(0);
  return lib;
}

/* Calls `name` of the driver, whose error codes are the runtime's. */
#define DRIVER_CALL(type, name, ...)                                         \
  do {                                                                       \
    type;                                                                    \
    void *lib_ = driver();                                                   \
    *(void **)&name = lib_ ? dlsym(lib_, #name) : NULL;                      \
    cudaError_t r_ = name ? name(__VA_ARGS__) : cudaErrorInsufficientDriver; \
    return cudart_leave(cudart_enter(), r_);                                 \
  } while (0)

enum { ENTRY_FOUND, ENTRY_NOT_FOUND };

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **entry, unsigned version,
                                             unsigned long long flags, int *status) {
  CUDART_ENTER();
  if (!symbol || !entry) return cudart_leave(c, cudaErrorInvalidValue);
  int (*find)(const char *, void **, int, uint64_t, int *);
  void *lib = driver();
  *(void **)&find = lib ? dlsym(lib, "cuGetProcAddress_v2") : NULL;
  int found = ENTRY_NOT_FOUND;
  *entry = NULL;
  if (find) find(symbol, entry, (int)version, flags, &found);
  if (status) *status = found;
  return cudart_leave(c, *entry || status ? cudaSuccess : cudaErrorSymbolNotFound);
}
PTSZ(cudaGetDriverEntryPointByVersion);

#if CUDART_MAJOR >= 12
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **entry, unsigned long long flags, int *status) {
  return cudaGetDriverEntryPointByVersion(symbol, entry, CUDART_MAJOR * 1000, flags, status);
}
#else
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **entry, unsigned long long flags) {
  return cudaGetDriverEntryPointByVersion(symbol, entry, CUDART_MAJOR * 1000, flags, NULL);
}
#endif
PTSZ(cudaGetDriverEntryPoint);

/* ---- modules loaded at run time: a library is a module of the driver ---- */

typedef struct cuda_module *cudaLibrary_t;
typedef struct cuda_function *cudaKernel_t;

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, int *options, void **values, unsigned count,
                                int *library_options, void **library_values, unsigned library_count) {
  (void)library_options, (void)library_values, (void)library_count;
  DRIVER_CALL(cudaError_t(*cuModuleLoadDataEx)(cudaLibrary_t *, const void *, unsigned, const int *, void **),
              cuModuleLoadDataEx, library, code, count, options, values);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path, int *options, void **values,
                                    unsigned count, int *library_options, void **library_values,
                                    unsigned library_count) {
  (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
  DRIVER_CALL(cudaError_t(*cuModuleLoad)(cudaLibrary_t *, const char *), cuModuleLoad, library, path);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  DRIVER_CALL(cudaError_t(*cuModuleUnload)(cudaLibrary_t), cuModuleUnload, library);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  DRIVER_CALL(cudaError_t(*cuModuleGetFunction)(cudaKernel_t *, cudaLibrary_t, const char *), cuModuleGetFunction,
              kernel, library, name);
}

cudaError_t cudaLibraryGetGlobal(void **at, size_t *bytes, cudaLibrary_t library, const char *name) {
  DRIVER_CALL(cudaError_t(*cuModuleGetGlobal_v2)(void **, size_t *, cudaLibrary_t, const char *), cuModuleGetGlobal_v2,
              at, bytes, library, name);
}

cudaError_t cudaLibraryGetManaged(void **at, size_t *bytes, cudaLibrary_t library, const char *name) {
  return cudaLibraryGetGlobal(at, bytes, library, name);
}

static bool library_known(struct cudart *c, cudaLibrary_t library) {
  for (struct cuda_module *m = c->modules; m; m = m->next)
    if (m == library) return m->simt != NULL;
  return false;
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  CUDART_ENTER();
  if (!count || !library_known(c, library)) return cudart_leave(c, cudaErrorInvalidValue);
  *count = (unsigned)simt_kernel_count(library->simt);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned count, cudaLibrary_t library) {
  CUDART_ENTER();
  if ((count && !kernels) || !library_known(c, library)) return cudart_leave(c, cudaErrorInvalidValue);
  for (unsigned i = 0; i < count && i < simt_kernel_count(library->simt); i++)
    kernels[i] = cudart_module_function(c, library, simt_kernel_info(simt_kernel_at(library->simt, i))->name);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void *func, int attribute, int value);

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, int attribute, int value, int device) {
  if (device != 0) return cudart_leave(cudart_enter(), cudaErrorInvalidDevice);
  return cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset, size_t *bytes) {
  CUDART_ENTER();
  struct cuda_function *f = cudart_function(c, func);
  if (!f || !f->info || !offset || index >= f->info->params)
    return cudart_leave(c, f && f->info ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
  *offset = f->info->param_offset[index];
  if (bytes) *bytes = f->info->param_bytes[index];
  return cudart_leave(c, cudaSuccess);
}

/* ---- clusters ---- */

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *func, const struct cudaLaunchConfig *k) {
  CUDART_ENTER();
  struct cuda_function *f = cudart_function(c, func);
  if (!f || !f->info || !clusters || !k)
    return cudart_leave(c, f && f->info ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
  if (!cudart_has_clusters(c->dev)) return cudart_leave(c, cudaErrorNotSupported);
  bool cooperative;
  uint32_t d[3] = {0};
  cudart_launch_attributes(k->attrs, k->numAttrs, &cooperative, d);
  cudaError_t r = cudart_resolve_cluster(c, f, d);
  if (r != cudaSuccess) return cudart_leave(c, r);
  uint32_t threads = k->blockDim.x * k->blockDim.y * k->blockDim.z, size = d[0] ? d[0] * d[1] * d[2] : 1;
  *clusters = (int)cudart_active_clusters(c, f, threads, k->dynamicSmemBytes, size);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *func, const struct cudaLaunchConfig *k) {
  CUDART_ENTER();
  struct cuda_function *f = cudart_function(c, func);
  if (!size || !k || !f || !f->info) return cudart_leave(c, cudaErrorInvalidValue);
  if (!cudart_has_clusters(c->dev)) return cudart_leave(c, cudaErrorNotSupported);
  *size = (int)cudart_largest_cluster(c, f, k->blockDim.x * k->blockDim.y * k->blockDim.z, k->dynamicSmemBytes);
  return cudart_leave(c, cudaSuccess);
}

/* ---- copies in batches: one after the other ---- */

static cudaError_t batch(void *const *to, const void *const *from, const size_t *bytes, size_t count, size_t *failed,
                         cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  if (count && (!to || !from || !bytes)) return cudart_leave(c, cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) {
    struct cuda_op op = api_graph_linear(to[i], from[i], bytes[i], COPY_DEFAULT);
    cudaError_t r = cudart_submit(c, stream, &op);
    if (r == cudaSuccess) continue;
    if (failed) *failed = i;
    return cudart_leave(c, r);
  }
  return cudart_leave(c, cudaSuccess);
}

#if CUDART_MAJOR >= 13
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                                 void *attributes, size_t *which, size_t attribute_count, cudaStream_t stream) {
  (void)attributes, (void)which, (void)attribute_count;
  return batch(to, from, bytes, count, NULL, stream);
}
#else
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *bytes, size_t count, void *attributes, size_t *which,
                                 size_t attribute_count, size_t *failed, cudaStream_t stream) {
  (void)attributes, (void)which, (void)attribute_count;
  return batch(to, (const void *const *)from, bytes, count, failed, stream);
}
#endif
PTSZ(cudaMemcpyBatchAsync);

/* The location of managed memory is not modelled. */
cudaError_t cudaMemPrefetchBatchAsync(void **ptrs, size_t *bytes, size_t count, void *locations, size_t *which,
                                      size_t location_count, unsigned long long flags, cudaStream_t stream) {
  (void)bytes, (void)locations, (void)which, (void)location_count, (void)flags;
  CUDART_ENTER();
  return cudart_leave(c, cudart_stream(c, stream) && (ptrs || !count) ? cudaSuccess : cudaErrorInvalidValue);
}
PTSZ(cudaMemPrefetchBatchAsync);

cudaError_t cudaMemDiscardBatchAsync(void **ptrs, size_t *bytes, size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(ptrs, bytes, count, NULL, NULL, 0, flags, stream);
}
PTSZ(cudaMemDiscardBatchAsync);

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **ptrs, size_t *bytes, size_t count, void *locations,
                                                size_t *which, size_t location_count, unsigned long long flags,
                                                cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(ptrs, bytes, count, locations, which, location_count, flags, stream);
}
PTSZ(cudaMemDiscardAndPrefetchBatchAsync);

cudaError_t cudaMemRangeGetAttribute(void *data, size_t size, int attribute, const void *p, size_t count);

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *sizes, int *attributes, size_t count, const void *p,
                                      size_t bytes) {
  for (size_t i = 0; i < count; i++) {
    cudaError_t r = cudaMemRangeGetAttribute(data[i], sizes[i], attributes[i], p, bytes);
    if (r != cudaSuccess) return r;
  }
  return cudaSuccess;
}

/* ---- pools by place: there is one ---- */

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location, int type) {
  (void)type;
  return cudaDeviceGetDefaultMemPool(pool, location ? location->id : -1);
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location, int type) {
  return cudaMemGetDefaultMemPool(pool, location, type);
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, int type, cudaMemPool_t pool) {
  (void)type;
  return cudaDeviceSetMemPool(location ? location->id : -1, pool);
}

/* ---- arrays, textures ---- */

struct array_requirements {
  size_t size, alignment;
  unsigned reserved[4];
};

cudaError_t cudaArrayGetMemoryRequirements(struct array_requirements *out, cudaArray_t array, int device) {
  CUDART_ENTER();
  struct cuda_array *a = cudart_array(c, array);
  if (!a || !out || device != 0) return cudart_leave(c, cudaErrorInvalidValue);
  *out = (struct array_requirements){.size = a->bytes, .alignment = 512};
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *d, int device) {
  CUDART_ENTER();
  size_t bytes = d ? (size_t)(d->x + d->y + d->z + d->w) / 8 : 0;
  if (!width || !bytes || device != 0) return cudart_leave(c, cudaErrorInvalidValue);
  size_t most = c->dev->mem_bytes / bytes, limit = (size_t)1 << 28;
  *width = most < limit ? most : limit;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetTextureObjectResourceViewDesc(void *out, cudaTextureObject_t object) {
  (void)object, (void)out;
  CUDART_ENTER(); /* no texture has a view */
  return cudart_leave(c, cudaErrorInvalidValue);
}

cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope) {
  (void)target, (void)scope;
  CUDART_ENTER();
  return cudart_leave(c, cudaSuccess);
}
