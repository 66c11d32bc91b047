/* api_register.c - the interface that compilers emit calls to: registration of fat binaries, functions and variables,
 * and kernel launches in the forms of nvcc 9 to 13 and of clang, the legacy cudaConfigureCall sequence included.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/core/clusters.h"
#include "cudart/core/launches.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/runtime/api.h"

/* ---- registration ---- */

static void *register_failed(struct cudart *c, struct err *e) {
  err_prefix(e, "%s", cudart_program());
  cudart_die(c, e);
}

void **__cudaRegisterFatBinary(void *wrapper) {
  struct cudart *c = cudart_enter_quiet();
  uint32_t n = 1;
  for (struct cuda_module *m = c->modules; m; m = m->next) n++;
  char label[512];
  snprintf(label, sizeof label, "%.400s(module %u)", cudart_program(), n);
  struct cuda_module *m = cudart_module_new(c, label);
  const struct fatbin_wrapper *w = wrapper;
  struct err e = {0};
  if (cudart_readable(w) < sizeof *w || w->magic != FATBIN_WRAPPER_MAGIC) {
    err_set(&e, ERR_INPUT, "registers a fat binary whose wrapper does not start with 0x%08x", FATBIN_WRAPPER_MAGIC);
    register_failed(c, &e);
  }
  if (w->version != 1 && w->version != 2) {
    err_set(&e, ERR_UNSUPPORTED, "registers a fat binary of wrapper version %u; 1 and 2 are known", w->version);
    register_failed(c, &e);
  }
  if (!cudart_module_container(c, m, w->container, &e)) register_failed(c, &e);
  for (const void *const *l = w->version == 2 ? w->linked : NULL; l && *l; l++)
    if (!cudart_module_container(c, m, *l, &e)) register_failed(c, &e);
  cudart_leave_with(c, cudaSuccess);
  return (void **)m;
}

void __cudaRegisterFatBinaryEnd(void **handle) {
  (void)handle; /* modules are loaded by the first call that needs the device */
}

/* At exit: the session outlives this, because destructors of the program may still use it. */
void __cudaUnregisterFatBinary(void **handle) {
  (void)handle;
}

char __cudaInitModule(void **handle) {
  (void)handle;
  cudart_leave_with(cudart_enter(), cudaSuccess);
  return 1;
}

/* Kernels of NVIDIA's device runtime library are linked into some programs; none is launched by name. */
static bool device_runtime_kernel(const char *name) {
  return strstr(name, "cuda_device_runtime_cu") != NULL;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_fun, const char *name, int thread_limit,
                            void *tid, void *bid, dim3 *block, dim3 *grid, int *warp_size) {
  (void)device_fun, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
  struct cudart *c = cudart_enter_quiet();
  struct cuda_module *m = (struct cuda_module *)handle;
  struct cuda_function *f = ARENA_NEW(&c->arena, struct cuda_function);
  f->name = arena_strdup(&c->arena, name);
  f->module = m;
  /* With -rdc=true and PTX alone, the program's kernels and the device runtime's share one module. */
  m->spare = device_runtime_kernel(name) && (m->spare || !m->functions);
  f->next = m->functions;
  m->functions = f;
  ptrmap_put(&c->functions, (uintptr_t)stub, f);
  ptrmap_put(&c->functions, (uintptr_t)f, f);
  cudart_leave_with(c, cudaSuccess);
}

static void register_variable(void **handle, const void *host, const char *name, size_t bytes, void **managed) {
  struct cudart *c = cudart_enter_quiet();
  struct cuda_module *m = (struct cuda_module *)handle;
  struct cuda_variable *v = ARENA_NEW(&c->arena, struct cuda_variable);
  v->name = arena_strdup(&c->arena, name);
  v->module = m;
  v->bytes = bytes;
  v->managed = managed;
  v->next = m->variables;
  m->variables = v;
  ptrmap_put(&c->variables, (uintptr_t)host, v);
  cudart_leave_with(c, cudaSuccess);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes, int constant,
                       int global) {
  (void)device, (void)ext, (void)constant, (void)global;
  register_variable(handle, host, name, bytes, NULL);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t bytes,
                              int constant, int global) {
  (void)device, (void)ext, (void)constant, (void)global;
  register_variable(handle, host, name, bytes, host);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes) {
  register_variable(handle, host, name, bytes, NULL);
}

static void register_texref(void **handle, const void *host, const char *name, int dim, int norm, bool surface) {
  struct cudart *c = cudart_enter_quiet();
  struct cuda_module *m = (struct cuda_module *)handle;
  struct cuda_texref *t = ARENA_NEW(&c->arena, struct cuda_texref);
  if (strncmp(name, "::", 2) == 0) name += 2; /* nvcc writes ::tref */
  t->name = arena_strdup(&c->arena, name);
  t->module = m;
  t->ref = surface ? NULL : host;
  t->dim = dim;
  t->normalized = norm;
  t->surface = surface;
  t->next = m->texrefs;
  m->texrefs = t;
  ptrmap_put(&c->texrefs, (uintptr_t)host, t);
  cudart_leave_with(c, cudaSuccess);
}

void __cudaRegisterTexture(void **handle, const struct textureReference *host, const void **device, const char *name,
                           int dim, int norm, int ext) {
  (void)device, (void)ext;
  register_texref(handle, host, name, dim, norm, false);
}

void __cudaRegisterSurface(void **handle, const struct surfaceReference *host, const void **device, const char *name,
                           int dim, int ext) {
  (void)device, (void)ext;
  register_texref(handle, host, name, dim, 0, true);
}

void __cudaRegisterShared(void **handle, void **device) {
  (void)handle, (void)device; /* CUDA 9 and older register shared variables; PTX declares them as well */
}

void __cudaRegisterSharedVar(void **handle, void **device, size_t size, size_t alignment, int storage) {
  (void)handle, (void)device, (void)size, (void)alignment, (void)storage;
}

char __cudaRegisterUnifiedTable(void **handle, void *table) {
  (void)handle, (void)table; /* host-side table for unified function pointers; unused here */
  return 1;
}

/* ---- launch configuration between <<<>>> and the stub ---- */

enum {
  CONFIG_DEPTH = 16,
  ARGUMENT_BYTES = 4352
}; /* 4 KB of parameters, the largest that the legacy sequence can carry */
struct configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
static __thread struct configuration configurations[CONFIG_DEPTH];
static __thread uint32_t configuration_count;
/* Legacy sequence: arguments of the call being set up. */
static __thread uint8_t arguments[ARGUMENT_BYTES];
static __thread size_t argument_bytes;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  if (configuration_count == CONFIG_DEPTH) return (unsigned)cudart_error_number(cudaErrorInvalidConfiguration);
  configurations[configuration_count++] = (struct configuration){grid, block, shared, stream};
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (!configuration_count) return cudart_error_number(cudaErrorMissingConfiguration);
  const struct configuration *k = &configurations[--configuration_count];
  *grid = k->grid;
  *block = k->block;
  *shared = k->shared;
  *(cudaStream_t *)stream = k->stream;
  return cudaSuccess;
}

/* ---- launches ---- */

static struct cuda_launch shape(dim3 grid, dim3 block, size_t shared) {
  return (struct cuda_launch){.grid = {grid.x, grid.y, grid.z},
                              .block = {block.x, block.y, block.z},
                              .shared = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared};
}

static cudaError_t submit(struct cudart *c, struct cuda_launch l, cudaStream_t stream) {
  return cudart_submit(c, stream, &(struct cuda_op){.kind = OP_KERNEL, .u.launch = l});
}

/* `l` without function and parameters. */
static cudaError_t launch_stub(const void *func, struct cuda_launch l, void **args, cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  struct cuda_function *f = l.function = cudart_function(c, func);
  if (!f)
    return cudart_leave(c,
                        cudart_why(c, cudaErrorInvalidDeviceFunction, "launch: %p is not a registered kernel", func));
  l.params = f->info ? cudart_pack_args(f, args) : NULL;
  if (f->info && !l.params)
    return cudart_leave(c, cudart_why(c, cudaErrorInvalidValue, "launch of %s: it takes %u arguments, fewer were given",
                                      f->name, f->info->params));
  return cudart_leave(c, submit(c, l, stream));
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
  return launch_stub(func, shape(grid, block, shared), args, stream);
}
PTSZ(cudaLaunchKernel);

cudaError_t __cudaLaunchKernel(cudaFunction_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                               cudaStream_t stream) {
  return launch_stub(kernel, shape(grid, block, shared), args, stream);
}
PTSZ(__cudaLaunchKernel);

static cudaError_t launch_cooperative(const void *func, struct cuda_launch l, void **args, cudaStream_t stream) {
  l.cooperative = true;
  return launch_stub(func, l, args, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream) {
  return launch_cooperative(func, shape(grid, block, shared), args, stream);
}
PTSZ(cudaLaunchCooperativeKernel);

/* CUDA 9 to 12: a grid on each of several devices, of which there is one. */
struct launch_params {
  const void *func;
  dim3 grid, block;
  void **args;
  size_t shared;
  cudaStream_t stream;
};

cudaError_t cudaLaunchCooperativeKernelMultiDevice(const struct launch_params *list, unsigned devices, unsigned flags) {
  (void)flags;
  if (!list || devices != 1 || !list->stream)
    return cudart_leave(cudart_enter(), devices > 1 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  return launch_cooperative(list->func, shape(list->grid, list->block, list->shared), list->args, list->stream);
}

cudaError_t cudaLaunchKernelExC(const struct cudaLaunchConfig *k, const void *func, void **args) {
  if (!k) return cudart_leave(cudart_enter(), cudaErrorInvalidValue);
  struct cuda_launch l = shape(k->gridDim, k->blockDim, k->dynamicSmemBytes);
  cudart_launch_attributes(k->attrs, k->numAttrs, &l.cooperative, l.cluster);
  return launch_stub(func, l, args, k->stream);
}
PTSZ(cudaLaunchKernelExC);

cudaError_t __cudaGetKernel(cudaFunction_t *kernel, const void *stub) {
  struct cudart *c = cudart_enter_quiet();
  *kernel = ptrmap_get(&c->functions, (uintptr_t)stub);
  return cudart_leave_with(c, *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetKernel(cudaFunction_t *kernel, const void *stub) {
  CUDART_ENTER_ASYNC();
  *kernel = cudart_function(c, stub);
  return cudart_leave(c, *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *stub) {
  return cudaGetKernel(function, stub);
}

cudaError_t cudaFuncGetName(const char **name, const void *func) {
  CUDART_ENTER_ASYNC();
  struct cuda_function *f = cudart_function(c, func);
  if (!f || !name) return cudart_leave(c, cudaErrorInvalidDeviceFunction);
  *name = f->name;
  return cudart_leave(c, cudaSuccess);
}

/* ---- before CUDA 9.2, and clang without an SDK version ---- */

cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  argument_bytes = 0;
  return (cudaError_t)__cudaPushCallConfiguration(grid, block, shared, stream);
}

cudaError_t cudaSetupArgument(const void *arg, size_t size, size_t offset) {
  if (!configuration_count) return cudart_leave(cudart_enter_quiet(), cudaErrorMissingConfiguration);
  if (offset > ARGUMENT_BYTES || size > ARGUMENT_BYTES - offset)
    return cudart_leave(cudart_enter_quiet(), cudaErrorInvalidValue);
  memcpy(arguments + offset, arg, size);
  if (offset + size > argument_bytes) argument_bytes = offset + size;
  return cudaSuccess;
}

cudaError_t cudaLaunch(const void *func) {
  dim3 grid = {0}, block = {0};
  size_t shared = 0;
  cudaStream_t stream = NULL;
  if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != cudaSuccess)
    return cudart_leave(cudart_enter(), cudaErrorMissingConfiguration);
  CUDART_ENTER_ASYNC();
  struct cuda_function *f = cudart_function(c, func);
  if (!f) return cudart_leave(c, cudaErrorInvalidDeviceFunction);
  uint32_t want = 0;
  for (uint32_t i = 0; f->info && i < f->info->params; i++)
    if (f->info->param_offset[i] + f->info->param_bytes[i] > want)
      want = f->info->param_offset[i] + f->info->param_bytes[i];
  if (f->info && argument_bytes != want)
    return cudart_leave(c, cudart_why(c, cudaErrorInvalidValue, "launch of %s: %zu bytes of arguments, it takes %u",
                                      f->name, argument_bytes, want));
  struct cuda_launch l = shape(grid, block, shared);
  l.function = f;
  l.params = mem_zeroed(1, f->info && f->info->param_block_bytes ? f->info->param_block_bytes : 1);
  memcpy(l.params, arguments, argument_bytes);
  return cudart_leave(c, submit(c, l, stream));
}
PTSZ(cudaLaunch);
