/* api_device.c - devices: properties in the layout of each major version, attributes, limits, flags, peers, versions.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/abi_prop.h"
#include "cudart/core/clusters.h"
#include "cudart/core/copies.h"
#include "cudart/core/device.h"
#include "cudart/core/external.h"
#include "cudart/core/modules.h"
#include "cudart/core/streams.h"
#include "cudart/interop/graphics.h"
#include "cudart/runtime/api.h"

#define FILL_COMMON(p, d)                                       \
  do {                                                          \
    memset((p), 0, sizeof *(p));                                \
    snprintf((p)->name, sizeof(p)->name, "%s", (d)->name);      \
    (p)->totalGlobalMem = (d)->mem_bytes;                       \
    (p)->sharedMemPerBlock = (d)->shared_per_cta;               \
    (p)->regsPerBlock = attribute((d), 12);                     \
    (p)->warpSize = attribute((d), 10);                         \
    (p)->memPitch = INT_MAX;                                    \
    (p)->maxThreadsPerBlock = attribute((d), 1);                \
    fill_attributes((d), (p)->maxThreadsDim, 3, 2);             \
    fill_attributes((d), (p)->maxGridSize, 3, 5);               \
    (p)->totalConstMem = (d)->const_bytes;                      \
    (p)->major = attribute((d), 75);                            \
    (p)->minor = attribute((d), 76);                            \
    (p)->textureAlignment = (size_t)attribute((d), 14);         \
    (p)->texturePitchAlignment = (size_t)attribute((d), 51);    \
    (p)->multiProcessorCount = attribute((d), 16);              \
    (p)->canMapHostMemory = 1;                                  \
    (p)->maxTexture1D = attribute((d), 21);                     \
    (p)->maxTexture1DMipmap = attribute((d), 77);               \
    fill_attributes((d), (p)->maxTexture2D, 2, 22);             \
    fill_attributes((d), (p)->maxTexture2DMipmap, 2, 73);       \
    fill_attributes((d), (p)->maxTexture2DLinear, 3, 70);       \
    fill_attributes((d), (p)->maxTexture2DGather, 2, 45);       \
    fill_attributes((d), (p)->maxTexture3D, 3, 24);             \
    fill_attributes((d), (p)->maxTexture3DAlt, 3, 47);          \
    (p)->maxTextureCubemap = attribute((d), 52);                \
    fill_attributes((d), (p)->maxTexture1DLayered, 2, 42);      \
    fill_attributes((d), (p)->maxTexture2DLayered, 3, 27);      \
    fill_attributes((d), (p)->maxTextureCubemapLayered, 2, 53); \
    (p)->maxSurface1D = attribute((d), 55);                     \
    fill_attributes((d), (p)->maxSurface2D, 2, 56);             \
    fill_attributes((d), (p)->maxSurface3D, 3, 58);             \
    fill_attributes((d), (p)->maxSurface1DLayered, 2, 61);      \
    fill_attributes((d), (p)->maxSurface2DLayered, 3, 63);      \
    (p)->maxSurfaceCubemap = attribute((d), 66);                \
    fill_attributes((d), (p)->maxSurfaceCubemapLayered, 2, 67); \
    (p)->surfaceAlignment = (size_t)attribute((d), 30);         \
    (p)->concurrentKernels = attribute((d), 31);                \
    (p)->pciBusID = attribute((d), 33);                         \
    (p)->asyncEngineCount = attribute((d), 40);                 \
    (p)->unifiedAddressing = 1;                                 \
    (p)->memoryBusWidth = attribute((d), 37);                   \
    (p)->l2CacheSize = attribute((d), 38);                      \
    (p)->maxThreadsPerMultiProcessor = attribute((d), 39);      \
    (p)->streamPrioritiesSupported = 1;                         \
    (p)->globalL1CacheSupported = 1;                            \
    (p)->localL1CacheSupported = 1;                             \
    (p)->sharedMemPerMultiprocessor = (d)->shared_per_sm;       \
    (p)->regsPerMultiprocessor = attribute((d), 82);            \
    (p)->managedMemory = 1;                                     \
    (p)->concurrentManagedAccess = 1;                           \
    (p)->cooperativeLaunch = attribute((d), 95);                \
    (p)->sharedMemPerBlockOptin = (d)->shared_most;             \
  } while (0)
#define FILL_CLOCKS(p, d)                                       \
  do {                                                          \
    (p)->clockRate = attribute((d), 13);                        \
    (p)->deviceOverlap = 1;                                     \
    (p)->maxTexture1DLinear = attribute((d), 69);               \
    (p)->memoryClockRate = attribute((d), 36);                  \
    (p)->singleToDoublePrecisionPerfRatio = attribute((d), 87); \
  } while (0)
#define FILL_IDS(p) memcpy((p)->uuid.bytes, "sluice-gpu-0000", 16)
#define FILL_LIMITS(p, d) (p)->maxBlocksPerMultiProcessor = attribute((d), 106)
#define FILL_FEATURES(p)                                      \
  do {                                                        \
    (p)->hostRegisterSupported = 1;                           \
    (p)->memoryPoolsSupported = 1;                            \
    (p)->clusterLaunch = cudart_has_clusters(c->dev);         \
    (p)->reservedSharedMemPerBlock = c->dev->shared_reserved; \
  } while (0)

static int attribute(const struct session_device *d, int number) {
  int v;
  return device_attribute(d, number, &v) ? v : 0;
}

/* Consecutive attributes into an array. */
static void fill_attributes(const struct session_device *d, int *out, int n, int first) {
  for (int i = 0; i < n; i++) out[i] = attribute(d, first + i);
}

#if CUDART_MAJOR <= 12
/* libcudart 12 keeps the layout of CUDA 11 under the old name, for objects compiled earlier. */
#if CUDART_MAJOR == 9
typedef struct device_prop_9 old_prop;
enum { PROP_9_2_MORE = 2 * sizeof(int) }; /* of features that are not there */
#elif CUDART_MAJOR == 10
typedef struct device_prop_10 old_prop;
#else
typedef struct device_prop_11 old_prop;
#endif

cudaError_t cudaGetDeviceProperties(old_prop *p, int device) {
  CUDART_ENTER_ASYNC();
  if (!p || device != 0) return cudart_leave(c, p ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  FILL_COMMON(p, c->dev);
  FILL_CLOCKS(p, c->dev);
#if CUDART_MAJOR == 9
  if (cudart_api_version >= 9020) memset(p + 1, 0, PROP_9_2_MORE);
#endif
#if CUDART_MAJOR >= 10
  FILL_IDS(p);
#endif
#if CUDART_MAJOR >= 11
  FILL_LIMITS(p, c->dev);
#endif
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetDeviceProperties_v2(struct device_prop_12 *p, int device) {
  CUDART_ENTER_ASYNC();
  if (!p || device != 0) return cudart_leave(c, p ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  FILL_COMMON(p, c->dev);
  FILL_CLOCKS(p, c->dev);
  FILL_IDS(p);
  FILL_LIMITS(p, c->dev);
  FILL_FEATURES(p);
  return cudart_leave(c, cudaSuccess);
}
#else
cudaError_t cudaGetDeviceProperties(struct device_prop_13 *p, int device) {
  CUDART_ENTER_ASYNC();
  if (!p || device != 0) return cudart_leave(c, p ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  FILL_COMMON(p, c->dev);
  FILL_IDS(p);
  FILL_LIMITS(p, c->dev);
  FILL_FEATURES(p);
  p->deviceNumaId = p->hostNumaId = -1;
  return cudart_leave(c, cudaSuccess);
}
ALIAS(cudaGetDeviceProperties, _v2);
#endif

cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device) {
  CUDART_ENTER_ASYNC();
  if (device != 0) return cudart_leave(c, cudaErrorInvalidDevice);
  bool known = value && device_attribute(c->dev, attribute, value);
  return cudart_leave(c, known ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceCount(int *count) {
  CUDART_ENTER_ASYNC();
  if (!count) return cudart_leave(c, cudaErrorInvalidValue);
  *count = 1;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetDevice(int *device) {
  CUDART_ENTER_ASYNC();
  if (!device) return cudart_leave(c, cudaErrorInvalidValue);
  *device = 0;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  (void)device_flags, (void)flags;
  return cudaSetDevice(device);
}

cudaError_t cudaChooseDevice(int *device, const void *wanted) {
  (void)wanted;
  return cudaGetDevice(device);
}

cudaError_t cudaSetValidDevices(int *devices, int count) {
  CUDART_ENTER();
  if (!devices || count < 0) return cudart_leave(c, cudaErrorInvalidValue);
  for (int i = 0; i < count; i++)
    if (devices[i] != 0) return cudart_leave(c, cudaErrorInvalidDevice);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  CUDART_ENTER();
  c->device_flags = flags;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
  CUDART_ENTER();
  if (!flags) return cudart_leave(c, cudaErrorInvalidValue);
  *flags = c->device_flags | 8; /* host memory can always be mapped */
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void) {
  CUDART_ENTER();
  return cudart_leave(c, cudart_sync_allowed(c));
}

cudaError_t cudaThreadSynchronize(void) {
  return cudaDeviceSynchronize();
}

/* Allocations stay until the process ends, so that handles cannot dangle; the error state is cleared, as the last call
 * of a run expects. A fault stays: the run cannot be trusted after it. */
static bool is_variable(const struct cudart *c, uint64_t base) {
  for (const struct cuda_module *m = c->modules; m; m = m->next)
    for (const struct cuda_variable *v = m->variables; v; v = v->next)
      if (v->addr == base) return true;
  return false;
}

static void forget(struct ptrmap *m, bool own) {
  for (uint32_t i = 0; own && i < m->capacity; i++) free(m->slots[i].value);
  ptrmap_free(m);
}

/* Reset the context: memory, arrays, streams and events are gone, variables have their initial values, a fault is
 * cleared. Handles kept by the program become invalid. */
cudaError_t cudaDeviceReset(void) {
  struct cudart *c = cudart_enter();
  uint64_t at = 0;
  const struct simt_alloc *a;
  while ((a = simt_mem_after(c->simt, at))) {
    at = a->base;
    if (a->kind != SIMT_MEM_SYMBOL && !is_variable(c, at)) simt_mem_release(c->simt, at);
  }
  for (struct cuda_module *m = c->modules; m; m = m->next)
    if (m->simt) simt_reset_variables(m->simt);
  while (c->registered) {
    struct cuda_registered *r = c->registered;
    c->registered = r->next;
    free(r);
  }
  graphics_forget(c);
  external_forget(c);
  forget(&c->arrays, true);
  struct ptrmap *const handles[] = {&c->streams, &c->events, &c->textures, &c->surfaces};
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) forget(handles[i], false);
  ptrmap_free(&c->pitches);
  ptrmap_free(&c->host_flags);
  ptrmap_free(&c->graph_memory);
  c->epoch++;
  c->grid_workspace = 0;
  c->sticky = cudaSuccess;
  cudart_last_error(true);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaThreadExit(void) {
  return cudaDeviceReset();
}

cudaError_t cudaDeviceSetLimit(int limit, size_t value) {
  CUDART_ENTER();
  if (limit < 0 || limit >= LIMITS) return cudart_leave(c, cudaErrorUnsupportedLimit);
  c->limits[limit] = value;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetLimit(size_t *value, int limit) {
  CUDART_ENTER();
  if (!value) return cudart_leave(c, cudaErrorInvalidValue);
  if (limit < 0 || limit >= LIMITS) return cudart_leave(c, cudaErrorUnsupportedLimit);
  *value = c->limits[limit];
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaThreadSetLimit(int limit, size_t value) {
  return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetLimit(size_t *value, int limit) {
  return cudaDeviceGetLimit(value, limit);
}

cudaError_t cudaDeviceSetCacheConfig(int config) {
  CUDART_ENTER();
  if (config < 0 || config > 3) return cudart_leave(c, cudaErrorInvalidValue);
  c->cache_config = config;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetCacheConfig(int *config) {
  CUDART_ENTER();
  if (!config) return cudart_leave(c, cudaErrorInvalidValue);
  *config = c->cache_config;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaThreadSetCacheConfig(int config) {
  return cudaDeviceSetCacheConfig(config);
}

cudaError_t cudaThreadGetCacheConfig(int *config) {
  return cudaDeviceGetCacheConfig(config);
}

cudaError_t cudaDeviceSetSharedMemConfig(int config) {
  CUDART_ENTER();
  if (config < 0 || config > 2) return cudart_leave(c, cudaErrorInvalidValue);
  c->shared_config = config;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetSharedMemConfig(int *config) {
  CUDART_ENTER();
  if (!config) return cudart_leave(c, cudaErrorInvalidValue);
  *config = c->shared_config ? c->shared_config : 1; /* four-byte banks */
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  CUDART_ENTER_ASYNC();
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device) {
  CUDART_ENTER();
  if (!id || device != 0) return cudart_leave(c, device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  snprintf(id, len > 0 ? (size_t)len : 0, "0000:01:00.0");
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) {
  CUDART_ENTER();
  if (!device || !id) return cudart_leave(c, cudaErrorInvalidValue);
  *device = 0;
  return cudart_leave(c, strstr(id, "01:00.0") ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaCtxResetPersistingL2Cache(void) {
  CUDART_ENTER();
  return cudart_leave(c, cudaSuccess);
}

/* ---- peers: one device, so there are none ---- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  CUDART_ENTER();
  if (!can || device != 0 || peer != 0) return cudart_leave(c, can ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *can = 0;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  (void)peer, (void)flags;
  CUDART_ENTER();
  return cudart_leave(c, cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  (void)peer;
  CUDART_ENTER();
  return cudart_leave(c, cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, int attribute, int source, int target) {
  (void)attribute, (void)source, (void)target;
  CUDART_ENTER();
  if (!value) return cudart_leave(c, cudaErrorInvalidValue);
  return cudart_leave(c, cudaErrorInvalidDevice);
}

/* ---- versions, errors, profiler ---- */

/* The newest supported CUDA: programs reject a driver older than their runtime. */
enum { DRIVER_VERSION = 13000 };

cudaError_t cudaDriverGetVersion(int *version) {
  if (!version) return cudart_leave(cudart_enter_quiet(), cudaErrorInvalidValue);
  *version = DRIVER_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  if (!version) return cudart_leave(cudart_enter_quiet(), cudaErrorInvalidValue);
  *version = cudart_api_version;
  return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
  return cudart_error_text(cudart_error_code(error));
}

const char *cudaGetErrorName(cudaError_t error) {
  return cudart_error_name(cudart_error_code(error));
}

cudaError_t cudaGetLastError(void) {
  return cudart_error_number(cudart_last_error(true));
}

cudaError_t cudaPeekAtLastError(void) {
  return cudart_error_number(cudart_last_error(false));
}

/* All calls are recorded anyway. */
cudaError_t cudaProfilerStart(void) {
  CUDART_ENTER();
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaProfilerStop(void) {
  CUDART_ENTER();
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaProfilerInitialize(const char *config, const char *output, int mode) {
  (void)config, (void)output, (void)mode;
  return cudaProfilerStart();
}

/* Doubles were rounded to float on GPUs without them; every machine here has them. */
cudaError_t cudaSetDoubleForDevice(double *d) {
  (void)d;
  return cudaSuccess;
}

cudaError_t cudaSetDoubleForHost(double *d) {
  (void)d;
  return cudaSuccess;
}
