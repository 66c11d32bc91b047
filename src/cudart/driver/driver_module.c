/* driver_module.c - libcuda: modules from PTX text, fat binaries or files, linking, functions, launches, occupancy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "cudart/core/clusters.h"
#include "cudart/core/launches.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/driver/driver.h"

enum { JIT_INFO_LOG = 3, JIT_INFO_SIZE = 4, JIT_ERROR_LOG = 5, JIT_ERROR_SIZE = 6 };
enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBIN };

/* ---- modules ---- */

/* Text, container or wrapper: distinguished by the first bytes. */
static bool fill_module(struct cudart *c, struct cuda_module *m, const void *image, struct err *e) {
  uint32_t magic = 0;
  size_t room = cudart_readable(image);
  if (!room) return err_set(e, ERR_INPUT, "module image %p cannot be read", image);
  /* No magic number contains a zero byte, and text may be shorter than one. */
  memcpy(&magic, image, strnlen(image, room < sizeof magic ? room : sizeof magic));
  if (memcmp(&magic, "\177ELF", 4) == 0)
    return err_set(e, ERR_UNSUPPORTED,
                   "%s loads a module of machine code; Sluice simulates PTX: load the .ptx file, or a fat binary that "
                   "holds PTX (nvcc -fatbin -gencode arch=compute_XX,code=compute_XX)",
                   cudart_program());
  if (magic == FATBIN_CONTAINER_MAGIC) return cudart_module_container(c, m, image, e);
  if (magic == FATBIN_WRAPPER_MAGIC) {
    const struct fatbin_wrapper *w = image;
    if (w->container && !cudart_module_container(c, m, w->container, e)) return false;
    for (const void *const *l = w->version == 2 ? w->linked : NULL; l && *l; l++)
      if (!cudart_module_container(c, m, *l, e)) return false;
    return true;
  }
  const char *end = memchr(image, 0, room);
  if (!end) return err_set(e, ERR_INPUT, "module image: PTX text does not end");
  m->text = arena_strndup(&c->arena, image, (size_t)(end - (const char *)image));
  return true;
}

static CUresult refuse(struct cudart *c, const struct err *e, char *log, size_t log_bytes) {
  if (e->code == ERR_UNSUPPORTED) cudart_die(c, e);
  if (log && log_bytes) snprintf(log, log_bytes, "%s", e->msg);
  return cudart_why(c, cudaErrorInvalidPtx, "%s", e->msg);
}

static CUresult load_image(CUmodule *module, const void *image, const char *label, char *log, size_t log_bytes) {
  DRIVER_ENTER();
  if (!module || !image) DRIVER_LEAVE(cudaErrorInvalidValue);
  char name[64];
  snprintf(name, sizeof name, "module %u", (unsigned)++c->next_id);
  struct cuda_module *m = cudart_module_new(c, label ? label : name);
  struct err e = {0};
  if (fill_module(c, m, image, &e) && cudart_module_load(c, m, &e)) {
    if (m->empty) {
      m->resolved = true;
      DRIVER_LEAVE(cudart_why(c, cudaErrorNoKernelImageForDevice, "%s holds no PTX", m->label));
    }
    *module = m;
    DRIVER_LEAVE(cudaSuccess);
  }
  m->loaded = m->resolved = m->empty = true; /* contains nothing to load */
  DRIVER_LEAVE(refuse(c, &e, log, log_bytes));
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return load_image(module, image, NULL, NULL, 0);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
  return load_image(module, image, NULL, NULL, 0);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, const int *options, void **values) {
  char *log = NULL;
  size_t bytes = 0;
  for (unsigned i = 0; options && values && i < count; i++) {
    if (options[i] == JIT_ERROR_LOG) log = values[i];
    if (options[i] == JIT_ERROR_SIZE) bytes = (uintptr_t)values[i];
    if (options[i] == JIT_INFO_SIZE) values[i] = NULL; /* no messages */
  }
  if (log && bytes) *log = 0;
  return load_image(module, image, NULL, log, bytes);
}

CUresult cuModuleLoad(CUmodule *module, const char *path) {
  size_t bytes;
  char *data = path ? path_read_whole(path, &bytes) : NULL;
  if (!data) return path ? cudaErrorFileNotFound : cudaErrorInvalidValue;
  CUresult r = load_image(module, data, path, NULL, 0);
  /* Containers are unpacked in place, and modules stay until the process ends. */
  uint32_t magic = 0;
  memcpy(&magic, data, bytes < sizeof magic ? bytes : sizeof magic);
  if (r || (magic != FATBIN_CONTAINER_MAGIC && magic != FATBIN_WRAPPER_MAGIC)) free(data);
  return r;
}

static bool known_module(struct cudart *c, CUmodule module) {
  for (struct cuda_module *m = c->modules; m; m = m->next)
    if (m == module) return m->simt != NULL;
  return false;
}

CUresult cuModuleUnload(CUmodule module) {
  DRIVER_ENTER();
  if (!known_module(c, module)) DRIVER_LEAVE(cudaErrorInvalidResourceHandle);
  cudart_module_unload(c, module);
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  DRIVER_ENTER();
  if (!function || !name) DRIVER_LEAVE(cudaErrorInvalidValue);
  if (!known_module(c, module)) DRIVER_LEAVE(cudaErrorInvalidResourceHandle);
  *function = cudart_module_function(c, module, name);
  DRIVER_LEAVE(*function ? cudaSuccess : cudaErrorSymbolNotFound);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  DRIVER_ENTER();
  uint64_t at, size;
  if (!name || !known_module(c, module)) DRIVER_LEAVE(name ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
  if (!simt_find_symbol(module->simt, name, &at, &size)) DRIVER_LEAVE(cudaErrorSymbolNotFound);
  if (address) *address = at;
  if (bytes) *bytes = size;
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuModuleGetGlobal_v2, cuModuleGetGlobal);

/* ---- linking: each PTX becomes a container of its own, and the result is a wrapper around them ---- */

enum { MAX_INPUTS = 64, CONTAINER_HEADER = 16, ENTRY_HEADER = 64 };
struct linker {
  struct fatbin_wrapper result;
  const void *parts[MAX_INPUTS + 1];
  uint32_t count;
};

CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, struct linker **state) {
  (void)count, (void)options, (void)values;
  DRIVER_ENTER();
  if (!state) DRIVER_LEAVE(cudaErrorInvalidValue);
  *state = ARENA_NEW(&c->arena, struct linker);
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuLinkCreate_v2, cuLinkCreate);

static void put32(uint8_t *p, uint32_t v) {
  memcpy(p, &v, sizeof v);
}

static void *wrap_ptx(struct cudart *c, const char *ptx, size_t bytes) {
  uint64_t padded = (bytes + 8) & ~UINT64_C(7), entries = ENTRY_HEADER + padded;
  uint8_t *p = arena_alloc(&c->arena, CONTAINER_HEADER + entries);
  put32(p, FATBIN_CONTAINER_MAGIC);
  put32(p + 4, CONTAINER_HEADER << 16 | 1);
  memcpy(p + 8, &entries, sizeof entries);
  uint8_t *entry = p + CONTAINER_HEADER;
  put32(entry, 0x01010000 | FATBIN_PTX);
  put32(entry + 4, ENTRY_HEADER);
  memcpy(entry + 8, &padded, sizeof padded);
  put32(entry + 28, 20); /* any target is simulated */
  memcpy(entry + ENTRY_HEADER, ptx, bytes);
  return p;
}

CUresult cuLinkAddData_v2(struct linker *state, int type, const void *data, size_t bytes, const char *name,
                          unsigned count, int *options, void **values) {
  (void)name, (void)count, (void)options, (void)values;
  DRIVER_ENTER();
  if (!state || !data || state->count == MAX_INPUTS) DRIVER_LEAVE(cudaErrorInvalidValue);
  if (type == INPUT_PTX) state->parts[state->count++] = wrap_ptx(c, data, strnlen(data, bytes));
  else if (type == INPUT_FATBIN) state->parts[state->count++] = data;
  else DRIVER_LEAVE(cudart_why(c, cudaErrorNoKernelImageForDevice, "cuLinkAddData: only PTX can be linked"));
  DRIVER_LEAVE(cudaSuccess);
}
DRIVER_ALIAS(cuLinkAddData_v2, cuLinkAddData);

CUresult cuLinkAddFile_v2(struct linker *state, int type, const char *path, unsigned count, int *options,
                          void **values) {
  size_t bytes;
  char *data = path ? path_read_whole(path, &bytes) : NULL;
  if (!data) return cudaErrorFileNotFound;
  CUresult r = cuLinkAddData_v2(state, type, data, bytes, path, count, options, values);
  if (r || type == INPUT_PTX) free(data);
  return r;
}
DRIVER_ALIAS(cuLinkAddFile_v2, cuLinkAddFile);

CUresult cuLinkComplete(struct linker *state, void **image, size_t *bytes) {
  DRIVER_ENTER();
  if (!state || !image) DRIVER_LEAVE(cudaErrorInvalidValue);
  state->result = (struct fatbin_wrapper){.magic = FATBIN_WRAPPER_MAGIC, .version = 2, .linked = state->parts};
  *image = &state->result;
  if (bytes) *bytes = sizeof state->result;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuLinkDestroy(struct linker *state) {
  return state ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- functions ---- */

static CUfunction known_function(struct cudart *c, CUfunction f) {
  return cudart_function(c, f);
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  DRIVER_ENTER();
  CUfunction f = known_function(c, function);
  if (!value || !f || !f->info) DRIVER_LEAVE(value ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
  const struct simt_kernel_info *k = f->info;
  uint32_t cta = c->dev->max_threads_per_cta;
  const int64_t values[] = {k->max_threads < cta ? k->max_threads : cta,
                            k->static_shared,
                            k->const_bytes,
                            k->local_bytes,
                            k->regs,
                            k->target_sm,
                            k->target_sm,
                            0,
                            (int64_t)cudart_shared_limit(c->dev, f) - k->static_shared,
                            f->carveout ? f->carveout : -1};
  if (cudart_cluster_value(f, attribute, value)) DRIVER_LEAVE(cudaSuccess);
  if (attribute < 0 || (size_t)attribute >= sizeof values / sizeof *values) DRIVER_LEAVE(cudaErrorInvalidValue);
  *value = (int)values[attribute];
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  DRIVER_ENTER();
  CUfunction f = known_function(c, function);
  if (!f || !f->info) DRIVER_LEAVE(cudaErrorInvalidResourceHandle);
  if (cudart_cluster_attribute(f, attribute, value)) DRIVER_LEAVE(cudaSuccess);
  if (attribute == FUNC_SHARED_CARVEOUT) f->carveout = value;
  else if (attribute != FUNC_MAX_DYNAMIC_SHARED) DRIVER_LEAVE(cudaErrorInvalidValue);
  else if (value < 0 || (uint64_t)value + f->info->static_shared > c->dev->shared_most)
    DRIVER_LEAVE(cudaErrorInvalidValue);
  else f->max_dynamic_shared = (uint32_t)value;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuFuncSetCacheConfig(CUfunction function, int config) {
  (void)config;
  DRIVER_ENTER();
  DRIVER_LEAVE(known_function(c, function) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, int config) {
  return cuFuncSetCacheConfig(function, config);
}

CUresult cuFuncGetName(const char **name, CUfunction function) {
  DRIVER_ENTER();
  CUfunction f = known_function(c, function);
  if (!f || !name) DRIVER_LEAVE(cudaErrorInvalidResourceHandle);
  *name = f->name;
  DRIVER_LEAVE(cudaSuccess);
}

/* ---- launches ---- */

enum { EXTRA_END, EXTRA_POINTER, EXTRA_SIZE };

/* Arguments as one buffer; its size must be the kernel's, but for padding at the end. */
static void *pack_buffer(struct cudart *c, CUfunction f, const void *buffer, size_t bytes) {
  uint32_t want = 0;
  for (uint32_t i = 0; i < f->info->params; i++)
    if (f->info->param_offset[i] + f->info->param_bytes[i] > want)
      want = f->info->param_offset[i] + f->info->param_bytes[i];
  if (bytes < want || bytes > want + 15u) {
    cudart_why(c, cudaErrorInvalidValue, "launch of %s: %zu bytes of arguments, it takes %u", f->name, bytes, want);
    return NULL;
  }
  void *block = mem_zeroed(1, f->info->param_block_bytes ? f->info->param_block_bytes : 1);
  if (want) memcpy(block, buffer, want);
  return block;
}

static void *pack(struct cudart *c, CUfunction f, void **params, void **extra) {
  const void *buffer = NULL;
  size_t bytes = 0;
  if (!extra || params) {
    void *block = cudart_pack_args(f, params);
    if (!block)
      cudart_why(c, cudaErrorInvalidValue, "launch of %s: it takes %u arguments, fewer were given", f->name,
                 f->info->params);
    return block;
  }
  for (int i = 0; i < 8 && extra[i] != (void *)EXTRA_END; i += 2) {
    if (extra[i] == (void *)EXTRA_POINTER) buffer = extra[i + 1];
    if (extra[i] == (void *)EXTRA_SIZE) bytes = *(size_t *)extra[i + 1];
  }
  return pack_buffer(c, f, buffer, bytes);
}

/* `l` without function and parameters. */
static CUresult launch_function(CUfunction function, struct cuda_launch l, cudaStream_t stream, void **params,
                                void **extra) {
  DRIVER_ENTER_ASYNC();
  CUfunction f = l.function = known_function(c, function);
  if (!f || f->dead)
    DRIVER_LEAVE(cudart_why(c, cudaErrorInvalidResourceHandle, "launch: %p is not a kernel", function));
  l.params = f->info ? pack(c, f, params, extra) : NULL;
  if (f->info && !l.params) DRIVER_LEAVE(cudaErrorInvalidValue);
  CUresult r = cudart_submit(c, stream, &(struct cuda_op){.kind = OP_KERNEL, .u.launch = l});
  /* The driver names a bad shape an invalid value; 9 is the runtime's. */
  DRIVER_LEAVE(r == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : r);
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, cudaStream_t stream, void **params, void **extra) {
  struct cuda_launch l = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared};
  return launch_function(f, l, stream, params, extra);
}
DRIVER_PTSZ(cuLaunchKernel);

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, cudaStream_t stream, void **params) {
  struct cuda_launch l = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .cooperative = true};
  return launch_function(f, l, stream, params, NULL);
}
DRIVER_PTSZ(cuLaunchCooperativeKernel);

struct launch_config { /* CUlaunchConfig */
  uint32_t grid[3], block[3], shared;
  cudaStream_t stream;
  void *attributes;
  unsigned count;
};

CUresult cuLaunchKernelEx(const struct launch_config *k, CUfunction f, void **params, void **extra) {
  if (!k) return cudaErrorInvalidValue;
  struct cuda_launch l = {.shared = k->shared};
  memcpy(l.grid, k->grid, sizeof l.grid);
  memcpy(l.block, k->block, sizeof l.block);
  cudart_launch_attributes(k->attributes, k->count, &l.cooperative, l.cluster);
  return launch_function(f, l, k->stream, params, extra);
}
DRIVER_PTSZ(cuLaunchKernelEx);

/* ---- before CUDA 4: the function carries its launch description ---- */

enum { OLD_PARAMS = 4096 };

CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z) {
  DRIVER_ENTER();
  if (!known_function(c, f) || x < 1 || y < 1 || z < 1) DRIVER_LEAVE(cudaErrorInvalidValue);
  f->old_block[0] = (uint32_t)x;
  f->old_block[1] = (uint32_t)y;
  f->old_block[2] = (uint32_t)z;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuFuncSetSharedSize(CUfunction f, unsigned bytes) {
  DRIVER_ENTER();
  if (!known_function(c, f)) DRIVER_LEAVE(cudaErrorInvalidResourceHandle);
  f->old_shared = bytes;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuParamSetSize(CUfunction f, unsigned bytes) {
  DRIVER_ENTER();
  if (!known_function(c, f) || bytes > OLD_PARAMS) DRIVER_LEAVE(cudaErrorInvalidValue);
  f->old_param_bytes = bytes;
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuParamSetv(CUfunction f, int offset, const void *value, unsigned bytes) {
  DRIVER_ENTER();
  if (!known_function(c, f) || offset < 0 || offset > OLD_PARAMS || bytes > (unsigned)(OLD_PARAMS - offset))
    DRIVER_LEAVE(cudaErrorInvalidValue);
  if (!f->old_params) f->old_params = arena_alloc(&c->arena, OLD_PARAMS);
  memcpy(f->old_params + offset, value, bytes);
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuParamSeti(CUfunction f, int offset, unsigned value) {
  return cuParamSetv(f, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction f, int offset, float value) {
  return cuParamSetv(f, offset, &value, sizeof value);
}

CUresult cuLaunchGridAsync(CUfunction f, int width, int height, cudaStream_t stream) {
  size_t bytes = f ? f->old_param_bytes : 0;
  if (!f || width < 1 || height < 1) return cudaErrorInvalidValue;
  void *extra[] = {(void *)EXTRA_POINTER, f->old_params, (void *)EXTRA_SIZE, &bytes, (void *)EXTRA_END};
  struct cuda_launch l = {.grid = {(uint32_t)width, (uint32_t)height, 1}, .shared = f->old_shared};
  memcpy(l.block, f->old_block, sizeof l.block);
  return launch_function(f, l, stream, NULL, extra);
}

CUresult cuLaunchGrid(CUfunction f, int width, int height) {
  return cuLaunchGridAsync(f, width, height, NULL);
}

CUresult cuLaunch(CUfunction f) {
  return cuLaunchGridAsync(f, 1, 1, NULL);
}

/* ---- occupancy ---- */

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                              size_t shared, unsigned flags) {
  (void)flags;
  DRIVER_ENTER();
  CUfunction f = known_function(c, function);
  if (!blocks || threads <= 0 || !f || !f->info) DRIVER_LEAVE(cudaErrorInvalidValue);
  *blocks = (int)cudart_occupancy(c->dev, f->info, (uint32_t)threads, shared);
  DRIVER_LEAVE(cudaSuccess);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

/* The CTA size with most resident threads, the larger one of equals. */
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function, size_t (*shared_of)(int),
                                          size_t shared, int limit) {
  DRIVER_ENTER();
  CUfunction f = known_function(c, function);
  if (!grid || !block || !f || !f->info) DRIVER_LEAVE(cudaErrorInvalidValue);
  uint32_t most =
      c->dev->max_threads_per_cta < f->info->max_threads ? c->dev->max_threads_per_cta : f->info->max_threads;
  if (limit > 0 && (uint32_t)limit < most) most = (uint32_t)limit;
  uint32_t best = 0;
  for (uint32_t t = most / 32 * 32; t >= 32; t -= 32) {
    uint32_t n = cudart_occupancy(c->dev, f->info, t, shared_of ? shared_of((int)t) : shared);
    if (n * t <= best) continue;
    best = n * t;
    *block = (int)t;
    *grid = (int)(n * c->dev->sms);
  }
  DRIVER_LEAVE(best ? cudaSuccess : cudaErrorLaunchOutOfResources);
}
