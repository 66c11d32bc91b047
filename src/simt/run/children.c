/* children.c - dynamic parallelism: calls of the device runtime, and the grids that a kernel launches.
 *
 * A launch copies its parameter buffer and is appended to the list of the run. When the grid has ended the session
 * runs the list in launch order, recursively. These are the semantics of CUDA 12's device runtime (a parent cannot
 * wait for its children); a kernel that waits, as allowed before CUDA 12, fails at the wait.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simt/core/machine.h"
#include "simt/core/ops.h"
#include "simt/core/run.h"

enum { PARAMETER_BUFFER = 4096, FIRST_HANDLE = 16 }; /* smaller handles are reserved */

struct pending { /* a parameter buffer that was requested and is not launched yet */
  struct pending *next;
  uint64_t at;
  uint64_t function; /* 0: given at the launch */
  uint32_t grid[3], block[3], shared;
  uint64_t stream;
};
struct children {
  struct pending *pending;
  struct simt_child *first, **last;
  uint64_t handles;
};

/* CUDA 12's device runtime names the calls with another prefix. */
static const char *plain_name(const char *name) {
  return strncmp(name, "__cudaCDP2", 10) == 0 ? name + 10 : strncmp(name, "cuda", 4) == 0 ? name + 4 : "";
}

static bool is(const char *name, const char *call) {
  size_t n = strlen(call);
  name = plain_name(name);
  return strncmp(name, call, n) == 0 && (!name[n] || !strcmp(name + n, "_ptsz"));
}

bool children_known(const char *name) {
  static const char *const calls[] = {"GetParameterBufferV2",
                                      "GetParameterBuffer",
                                      "LaunchDeviceV2",
                                      "LaunchDevice",
                                      "DeviceSynchronize",
                                      "GetLastError",
                                      "PeekAtLastError",
                                      "StreamDestroy",
                                      "StreamCreateWithFlags",
                                      "StreamWaitEvent",
                                      "EventCreateWithFlags",
                                      "EventRecord",
                                      "EventDestroy",
                                      "GetDevice",
                                      "GetDeviceCount",
                                      "Malloc",
                                      "Free"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (is(name, calls[i])) return true;
  return false;
}

static struct children *children_of(struct simt_run *r) {
  if (!r->children) {
    r->children = mem_zeroed(1, sizeof *r->children);
    r->children->last = &r->children->first;
  }
  return r->children;
}

static uint64_t new_buffer(struct exec *x, const struct pending *as) {
  struct children *c = children_of(x->run);
  struct pending *p = mem_zeroed(1, sizeof *p);
  *p = *as;
  p->at = simt_mem_alloc(x->run->s, PARAMETER_BUFFER, SIMT_MEM_DEVICE, "parameters of a child grid");
  if (p->at) simt_mem_written(x->run->s, p->at, PARAMETER_BUFFER);
  p->next = c->pending;
  c->pending = p;
  return p->at;
}

static struct simt_kernel *kernel_at(struct simt_run *r, uint64_t function) {
  for (uint32_t i = 0; i < r->m->nkernels; i++)
    if (CODE_BASE + 8ull * r->m->kernels[i].func->entry == function) return &r->m->kernels[i];
  return NULL;
}

static bool launch_child(struct exec *x, const struct xop *o, uint32_t lane, const struct pending *p) {
  struct children *c = children_of(x->run);
  struct simt_kernel *k = kernel_at(x->run, p->function);
  void *params = k ? simt_mem_at(x->run->s, p->at, k->info.param_block_bytes ? k->info.param_block_bytes : 1) : NULL;
  if (!params) {
    fault_text(x, o, (int)lane, 98, "a child grid of 0x%llx, which is no kernel of the module",
               (unsigned long long)p->function);
    return false;
  }
  struct simt_child *n = mem_zeroed(1, sizeof *n + k->info.param_block_bytes);
  memcpy(n->params, params, k->info.param_block_bytes);
  n->launch = (struct simt_launch){.kernel = k, .dynamic_shared = p->shared, .params = n->params};
  n->stream = p->stream;
  n->cta = x->cta->id;
  memcpy(n->launch.grid, p->grid, sizeof p->grid);
  memcpy(n->launch.block, p->block, sizeof p->block);
  *c->last = n;
  c->last = &n->next;
  return true;
}

/* The buffer at `at` is launched: as described at its request, or by `by`. */
static void launch_buffer(struct exec *x, const struct xop *o, uint32_t lane, uint64_t at, uint64_t stream,
                          const struct pending *by) {
  struct pending **p = &children_of(x->run)->pending;
  while (*p && (*p)->at != at) p = &(*p)->next;
  if (!*p) {
    fault_text(x, o, (int)lane, 1, "0x%llx is no parameter buffer of a child grid", (unsigned long long)at);
    return;
  }
  struct pending own = by ? *by : **p, *gone = *p;
  own.at = at;
  own.stream = stream;
  *p = gone->next;
  free(gone);
  if (launch_child(x, o, lane, &own)) simt_mem_release(x->run->s, at);
}

static void store_lane(struct exec *x, const struct xop *o, uint32_t lane, uint64_t at, uint64_t value,
                       uint32_t bytes) {
  uint8_t space = SPACE_GENERIC;
  char *p = mem_host(x, o, (int)lane, at, bytes, true, &space);
  if (p) memcpy(p, &value, bytes);
}

bool children_call(struct exec *x, const struct xop *o, uint32_t i, const char *name) {
  struct simt *s = x->run->s;
  struct pending p = {0};
  if (is(name, "GetParameterBufferV2")) {
    p.function = builtin_argument(x, o, 0, i);
    builtin_bytes(x, o, 1, i, p.grid, sizeof p.grid);
    builtin_bytes(x, o, 2, i, p.block, sizeof p.block);
    p.shared = (uint32_t)builtin_argument(x, o, 3, i);
    builtin_result(x, o, i, new_buffer(x, &p));
    return true;
  }
  if (is(name, "GetParameterBuffer")) {
    builtin_result(x, o, i, builtin_argument(x, o, 1, i) <= PARAMETER_BUFFER ? new_buffer(x, &p) : 0);
    return true;
  }
  builtin_result(x, o, i, 0);
  if (is(name, "LaunchDeviceV2")) {
    launch_buffer(x, o, i, builtin_argument(x, o, 0, i), builtin_argument(x, o, 1, i), NULL);
    return true;
  }
  if (is(name, "LaunchDevice")) {
    p.function = builtin_argument(x, o, 0, i);
    builtin_bytes(x, o, 2, i, p.grid, sizeof p.grid);
    builtin_bytes(x, o, 3, i, p.block, sizeof p.block);
    p.shared = (uint32_t)builtin_argument(x, o, 4, i);
    launch_buffer(x, o, i, builtin_argument(x, o, 1, i), builtin_argument(x, o, 5, i), &p);
    return true;
  }
  if (is(name, "DeviceSynchronize")) {
    if (x->run->children && x->run->children->first)
      fault_text(x, o, (int)i, FEED_UNSUPPORTED,
                 "a kernel waits for the grids that it launched (cudaDeviceSynchronize in device code, which CUDA 12 "
                 "removed); child grids run after their parent here");
    return false;
  }
  if (is(name, "StreamCreateWithFlags") || is(name, "EventCreateWithFlags"))
    store_lane(x, o, i, builtin_argument(x, o, 0, i), FIRST_HANDLE + children_of(x->run)->handles++, 8);
  else if (is(name, "GetDevice") || is(name, "GetDeviceCount"))
    store_lane(x, o, i, builtin_argument(x, o, 0, i), is(name, "GetDeviceCount"), 4);
  else if (is(name, "Malloc"))
    store_lane(x, o, i, builtin_argument(x, o, 0, i),
               simt_mem_alloc(s, builtin_argument(x, o, 1, i), SIMT_MEM_DEVICE, "cudaMalloc in a kernel"), 8);
  else if (is(name, "Free") && builtin_argument(x, o, 0, i) && !simt_mem_release(s, builtin_argument(x, o, 0, i)))
    fault_text(x, o, (int)i, 719, "cudaFree of 0x%llx, which is no allocation",
               (unsigned long long)builtin_argument(x, o, 0, i));
  return is(name, "Malloc") || is(name, "Free");
}

struct simt_child *simt_take_children(struct simt_run *r) {
  struct simt_child *first = r->children ? r->children->first : NULL;
  if (r->children) {
    r->children->first = NULL;
    r->children->last = &r->children->first;
  }
  return first;
}

void simt_free_children(struct simt_child *c) {
  for (struct simt_child *next; c; c = next) {
    next = c->next;
    free(c);
  }
}

void children_free(struct simt_run *r) {
  if (!r->children) return;
  simt_free_children(r->children->first);
  for (struct pending *p = r->children->pending, *next; p; p = next) {
    next = p->next;
    simt_mem_release(r->s, p->at);
    free(p);
  }
  free(r->children);
}
