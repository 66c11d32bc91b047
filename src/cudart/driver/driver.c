/* driver.c - libcuda: devices, contexts, modules, functions and launches, for programs that load PTX themselves, and a
 * clear message for programs that reach the driver through NVIDIA's own runtime.
 */
#include "cudart/driver/driver.h"
#include "cudart/core/streams.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "cudart/core/device.h"

/* ---- start, versions, errors ---- */

CUresult cuInit(unsigned flags) {
  struct cudart *c = cudart_enter();
  c->driver_ready = true;
  DRIVER_LEAVE(flags ? cudaErrorInvalidValue : c->sticky);
}

CUresult cuDriverGetVersion(int *version) {
  if (!version) return cudaErrorInvalidValue;
  *version = 13000;
  return cudaSuccess;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  if (!text) return cudaErrorInvalidValue;
  *text = cudart_driver_error_name(error) ? cudart_error_text(error) : NULL;
  return *text ? cudaSuccess : cudaErrorInvalidValue;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  if (!name) return cudaErrorInvalidValue;
  *name = cudart_driver_error_name(error);
  return *name ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- NVIDIA's runtime in front of us ---- */

/* Only NVIDIA's runtime requests private tables of the driver: linked into the program or a library, or loaded instead
 * of Sluice's. Its use of them cannot be served. */
CUresult cuGetExportTable(const void **table, const void *id) {
  (void)table, (void)id;
  struct cudart *c = cudart_enter_quiet();
  Dl_info caller;
  struct link_map *map = NULL; /* the program's own has an empty name */
  const char *path = dladdr1(__builtin_return_address(0), &caller, (void **)&map, RTLD_DL_LINKMAP) ? map->l_name : "";
  const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  if (strncmp(base, "libnvrtc", 8) == 0) return cudart_leave_with(c, cudaErrorSymbolNotFound); /* does without */
  struct err e;
  if (strncmp(base, "libcudart", 9) == 0)
    err_set(&e, ERR_UNSUPPORTED,
            "%s loaded the CUDA runtime %s, not Sluice's: remove its RPATH or LD_PRELOAD entry for that folder",
            cudart_program(), path);
  else if (*path)
    err_set(&e, ERR_UNSUPPORTED,
            "%s uses the library %s, which has NVIDIA's CUDA runtime linked into it: what that library does on the GPU "
            "cannot be simulated, only what the program's own kernels do",
            cudart_program(), path);
  else
    err_set(&e, ERR_UNSUPPORTED,
            "%s has NVIDIA's CUDA runtime linked into it, whose calls do not reach Sluice. Under `sluice run` they do, "
            "as long as the program keeps its symbol table (no `strip`, no -s); or link it with nvcc -cudart shared "
            "(NVCC_APPEND_FLAGS=\"-cudart shared\" in the environment does it without touching a Makefile)",
            cudart_program());
  cudart_die(c, &e);
}

/* The newest available variant of `name`. */
static void *find_entry(const char *name, bool per_thread) {
  static const char *const suffixes[] = {"_v2_ptsz", "_v2_ptds", "_ptsz", "_ptds", "_v2", ""};
  char full[160];
  Dl_info self;
  void *lib = dladdr((void *)(uintptr_t)find_entry, &self) ? dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
  void *p = NULL;
  for (size_t i = per_thread ? 0 : 4; i < sizeof suffixes / sizeof *suffixes && !p && lib; i++)
    if (snprintf(full, sizeof full, "%s%s", name, suffixes[i]) < (int)sizeof full) p = dlsym(lib, full);
  if (lib) dlclose(lib);
  return p;
}

enum { FOUND, NOT_FOUND };
enum { PER_THREAD_STREAM = 2 }; /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

CUresult cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags);

CUresult cuGetProcAddress_v2(const char *name, void **entry, int version, uint64_t flags, int *status) {
  if (!name || !entry) return cudaErrorInvalidValue;
  /* Without a status before CUDA 12. */
  if (strcmp(name, "cuGetProcAddress") == 0 && version < 12000) *entry = (void *)(uintptr_t)cuGetProcAddress;
  else *entry = find_entry(name, flags & PER_THREAD_STREAM);
  if (status) *status = *entry ? FOUND : NOT_FOUND;
  return *entry ? cudaSuccess : cudaErrorSymbolNotFound;
}

CUresult cuGetProcAddress(const char *name, void **entry, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, entry, version, flags, NULL);
}

/* ---- devices ---- */

CUresult cuDeviceGetCount(int *count) {
  DRIVER_ENTER();
  if (!count) DRIVER_LEAVE(cudaErrorInvalidValue);
  *count = 1;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  DRIVER_ENTER();
  if (!device || ordinal != 0) DRIVER_LEAVE(device ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *device = 0;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuDeviceGetName(char *name, int len, CUdevice device) {
  DRIVER_ENTER();
  if (!name || len <= 0 || device != 0) DRIVER_LEAVE(cudaErrorInvalidValue);
  snprintf(name, (size_t)len, "%s", c->dev->name);
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuDeviceGetUuid(struct cudaUUID *uuid, CUdevice device) {
  DRIVER_ENTER();
  if (!uuid || device != 0) DRIVER_LEAVE(cudaErrorInvalidValue);
  memcpy(uuid->bytes, "sluice-gpu-0000", 16);
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_V2(cuDeviceGetUuid);

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  DRIVER_ENTER();
  if (!bytes || device != 0) DRIVER_LEAVE(cudaErrorInvalidValue);
  *bytes = c->dev->mem_bytes;
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuDeviceTotalMem_v2, cuDeviceTotalMem);

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  DRIVER_ENTER();
  if (!value || device != 0) DRIVER_LEAVE(cudaErrorInvalidValue);
  DRIVER_LEAVE(device_attribute(c->dev, attribute, value) ? cudaSuccess : cudaErrorInvalidValue);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  DRIVER_ENTER();
  if (!major || !minor || device != 0) DRIVER_LEAVE(cudaErrorInvalidValue);
  *major = (int)c->dev->cc_major;
  *minor = (int)c->dev->cc_minor;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b) {
  (void)a, (void)b;
  DRIVER_ENTER();
  if (!can) DRIVER_LEAVE(cudaErrorInvalidValue);
  *can = 0;
  DRIVER_LEAVE(cudaSuccess);
}

struct device_properties { /* CUdevprop */
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock, totalConstantMemory, SIMDWidth, memPitch,
      regsPerBlock, clockRate, textureAlign;
};

CUresult cuDeviceGetProperties(struct device_properties *p, CUdevice device) {
  static const int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}; /* in the order of the fields */
  DRIVER_ENTER();
  if (!p || device != 0) DRIVER_LEAVE(cudaErrorInvalidValue);
  int values[14];
  for (int i = 0; i < 14; i++) device_attribute(c->dev, numbers[i], &values[i]);
  _Static_assert(sizeof values == sizeof *p, "CUdevprop has 14 ints");
  memcpy(p, values, sizeof *p);
  DRIVER_LEAVE(cudaSuccess);
}

/* ---- contexts: all are the one of the process ---- */

struct driver_context {
  unsigned flags;
};
enum { CONTEXT_DEPTH = 32 };
static __thread struct driver_context *current[CONTEXT_DEPTH];
static __thread uint32_t depth;

static CUresult make_context(CUcontext *context, unsigned flags) {
  DRIVER_ENTER();
  if (!context) DRIVER_LEAVE(cudaErrorInvalidValue);
  *context = ARENA_NEW(&c->arena, struct driver_context);
  (*context)->flags = flags;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  DRIVER_ENTER();
  if (!context || depth == CONTEXT_DEPTH) DRIVER_LEAVE(cudaErrorDeviceUninitialized);
  current[depth++] = context;
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuCtxPushCurrent_v2, cuCtxPushCurrent);

CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
  if (device != 0) return cudaErrorInvalidDevice;
  CUresult r = make_context(context, flags);
  return r ? r : cuCtxPushCurrent_v2(*context);
}
DRIVER_ALIAS(cuCtxCreate_v2, cuCtxCreate);

CUresult cuCtxCreate_v4(CUcontext *context, void *params, unsigned flags, CUdevice device) {
  (void)params;
  return cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  DRIVER_ENTER();
  if (!depth) DRIVER_LEAVE(cudaErrorDeviceUninitialized);
  depth--;
  if (context) *context = current[depth];
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuCtxPopCurrent_v2, cuCtxPopCurrent);

CUresult cuCtxDestroy_v2(CUcontext context) {
  DRIVER_ENTER();
  if (depth && current[depth - 1] == context) depth--;
  DRIVER_LEAVE(context ? cudaSuccess : cudaErrorDeviceUninitialized);
}
DRIVER_ALIAS(cuCtxDestroy_v2, cuCtxDestroy);

CUresult cuCtxSetCurrent(CUcontext context) {
  DRIVER_ENTER();
  if (!depth) depth = 1;
  current[depth - 1] = context;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  DRIVER_ENTER();
  if (!context) DRIVER_LEAVE(cudaErrorInvalidValue);
  *context = depth ? current[depth - 1] : NULL;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuCtxGetDevice(CUdevice *device) {
  DRIVER_ENTER();
  if (!device) DRIVER_LEAVE(cudaErrorInvalidValue);
  *device = 0;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuCtxSynchronize(void) {
  DRIVER_ENTER();
  DRIVER_LEAVE(cudart_sync_allowed(c));
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version) {
  (void)context;
  if (!version) return cudaErrorInvalidValue;
  *version = 3020;
  return cudaSuccess;
}

CUresult cuCtxSetLimit(int limit, size_t value) {
  DRIVER_ENTER();
  if (limit < 0 || limit >= LIMITS) DRIVER_LEAVE(cudaErrorUnsupportedLimit);
  c->limits[limit] = value;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuCtxGetLimit(size_t *value, int limit) {
  DRIVER_ENTER();
  if (!value || limit < 0 || limit >= LIMITS) DRIVER_LEAVE(cudaErrorUnsupportedLimit);
  *value = c->limits[limit];
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuCtxSetCacheConfig(int config) {
  DRIVER_ENTER();
  c->cache_config = config;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  (void)peer, (void)flags;
  DRIVER_ENTER();
  DRIVER_LEAVE(cudaErrorPeerAccessUnsupported);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return device ? cudaErrorInvalidDevice : make_context(context, 0);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return device ? cudaErrorInvalidDevice : cudaSuccess;
}
DRIVER_ALIAS(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease);

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return device ? cudaErrorInvalidDevice : cudaSuccess;
}
DRIVER_ALIAS(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset);

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  (void)flags;
  return device ? cudaErrorInvalidDevice : cudaSuccess;
}
DRIVER_ALIAS(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags);

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
  if (flags) *flags = 0;
  if (active) *active = 1;
  return device ? cudaErrorInvalidDevice : cudaSuccess;
}
