/* api_node.c - changes of existing graph nodes, and the generic node calls: edges, parameters, conditional nodes, user
 * objects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/arrays.h"
#include "cudart/core/copies.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/runtime/api_graph.h"

/* cudaGraphNodeParams (CUDA 12.2 on): the kind, then the parameters of that kind. */
struct conditional_params {
  uint64_t handle;
  int kind;
  unsigned count;
  cudaGraph_t *bodies;
};
struct node_params {
  int type, reserved[3];
  union {
    struct cudaKernelNodeParams kernel;
    struct {
      int flags, reserved[3];
      struct cudaMemcpy3DParms copy;
    } copy;
    struct cudaMemsetParams set;
    struct cudaHostNodeParams host;
    cudaGraph_t child;
    cudaEvent_t event;
    struct cudaMemAllocNodeParams alloc;
    void *free;
    struct conditional_params conditional;
    long long room[29];
  } u;
  long long reserved2;
};
_Static_assert(sizeof(struct node_params) == 256, "layout of cudaGraphNodeParams");

/* ---- conditional nodes ---- */

cudaError_t cudaGraphConditionalHandleCreate(unsigned long long *handle, cudaGraph_t graph, unsigned value,
                                             unsigned flags) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!handle || !g || flags > 1) return cudart_leave(c, cudaErrorInvalidValue);
  uint64_t at;
  cudaError_t r = cudart_alloc(c, 256, SIMT_MEM_DEVICE, CALL_SITE(), &at);
  uint32_t *p = r == cudaSuccess ? simt_mem_at(c->simt, at, sizeof *p) : NULL;
  if (!p) return cudart_leave(c, r ? r : cudaErrorMemoryAllocation);
  *p = value;
  simt_mem_written(c->simt, at, 256);
  struct cuda_condition *k = ARENA_NEW(&c->arena, struct cuda_condition);
  *k = (struct cuda_condition){.next = g->conditions, .handle = at, .value = value, .assign = flags == 1};
  g->conditions = k;
  *handle = at;
  return cudart_leave(c, cudaSuccess);
}

static cudaError_t conditional(struct cudart *c, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                               size_t count, struct conditional_params *p) {
  bool good = p->kind >= CONDITION_IF && p->kind <= CONDITION_SWITCH && p->count && p->count <= 4096 &&
              (p->kind != CONDITION_WHILE || p->count == 1) && (p->kind != CONDITION_IF || p->count <= 2) &&
              simt_mem_at(c->simt, p->handle, 4);
  if (!good) return cudaErrorInvalidValue;
  struct cuda_op op = {.kind = OP_CONDITIONAL,
                       .u.conditional = {.handle = p->handle, .kind = p->kind, .count = p->count}};
  struct cuda_graph **bodies = op.u.conditional.bodies = mem_zeroed(p->count, sizeof *bodies);
  cudaError_t r = api_graph_insert(c, node, graph, deps, count, &op);
  if (r != cudaSuccess) {
    free(bodies);
    return r;
  }
  for (uint32_t i = 0; i < p->count; i++) {
    bodies[i] = graph_new(c);
    bodies[i]->owned = true;
  }
  p->bodies = bodies;
  return cudaSuccess;
}

/* ---- one call for every kind ---- */

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                            struct node_params *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op = {.kind = OP_EMPTY};
  cudaError_t r = p ? cudaSuccess : cudaErrorInvalidValue;
  switch (p ? p->type : -1) {
  case OP_KERNEL:
    r = api_graph_kernel(c, &p->u.kernel, &op);
    break;
  case OP_COPY:
    r = api_graph_copy(c, &p->u.copy.copy, &op);
    break;
  case OP_SET:
    r = api_graph_set(&p->u.set, &op);
    break;
  case OP_HOST:
    op = (struct cuda_op){.kind = OP_HOST, .u.host = {.fn = p->u.host.fn, .data = p->u.host.userData}};
    if (!p->u.host.fn) r = cudaErrorInvalidValue;
    break;
  case OP_CHILD: {
    struct cuda_graph *child = api_graph_known(c, p->u.child);
    if (!child || child == graph) return cudart_leave(c, cudaErrorInvalidValue);
    op = (struct cuda_op){.kind = OP_CHILD, .u.child = graph_clone(c, child)};
    op.u.child->owned = true;
    r = api_graph_insert(c, node, graph, deps, count, &op);
    if (r) graph_free(c, op.u.child);
    return cudart_leave(c, r);
  }
  case OP_EMPTY:
    break;
  case OP_WAIT:
  case OP_RECORD:
    op = (struct cuda_op){.kind = (enum cuda_op_kind)p->type, .u.event = cudart_event(c, p->u.event)};
    if (!op.u.event) r = cudaErrorInvalidResourceHandle;
    break;
  case OP_ALLOC:
    op = (struct cuda_op){.kind = OP_ALLOC, .u.mem.bytes = p->u.alloc.bytesize};
    r = op.u.mem.bytes ? cudart_alloc(c, op.u.mem.bytes, SIMT_MEM_DEVICE, CALL_SITE(), &op.u.mem.ptr)
                       : cudaErrorInvalidValue;
    if (r == cudaSuccess) ptrmap_put(&c->graph_memory, op.u.mem.ptr, c);
    p->u.alloc.dptr = r == cudaSuccess ? (void *)(uintptr_t)op.u.mem.ptr : NULL;
    break;
  case OP_FREE:
    op = (struct cuda_op){.kind = OP_FREE, .u.mem.ptr = (uintptr_t)p->u.free};
    if (!simt_mem_find(c->simt, op.u.mem.ptr)) r = cudaErrorInvalidValue;
    break;
  case OP_CONDITIONAL:
    return cudart_leave(c, conditional(c, node, graph, deps, count, &p->u.conditional));
  default:
    r = cudaErrorInvalidValue;
  }
  return cudart_leave(c, r ? r : api_graph_insert(c, node, graph, deps, count, &op));
}

/* Replace the operation of a node of a graph or of an instance. */
static cudaError_t set_node(struct cudart *c, struct cuda_node *n, const struct node_params *p) {
  struct cuda_op op;
  cudaError_t r = cudaErrorInvalidValue;
  if (!n || !p || p->type != (int)n->op.kind) return r;
  op = n->op;
  if (p->type == OP_KERNEL) r = api_graph_kernel(c, &p->u.kernel, &op);
  if (p->type == OP_COPY) r = api_graph_copy(c, &p->u.copy.copy, &op);
  if (p->type == OP_SET) r = api_graph_set(&p->u.set, &op);
  if (p->type == OP_HOST && p->u.host.fn) op.u.host.fn = p->u.host.fn, op.u.host.data = p->u.host.userData, r = 0;
  if (p->type == OP_WAIT || p->type == OP_RECORD) {
    op.u.event = cudart_event(c, p->u.event);
    r = op.u.event ? cudaSuccess : cudaErrorInvalidResourceHandle;
  }
  if (r != cudaSuccess) return r;
  if (p->type == OP_KERNEL) free(n->op.u.launch.params);
  n->op = op;
  return cudaSuccess;
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct node_params *p) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_node(c, api_graph_node(c, node), p));
}

static struct cuda_node *instance_node(struct cudart *c, cudaGraphExec_t exec, cudaGraphNode_t node) {
  struct cuda_exec *x = api_graph_exec(c, exec);
  return x ? graph_cloned(x->graph, node) : NULL;
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct node_params *p) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_node(c, instance_node(c, exec, node), p));
}

/* ---- edges ---- */

static cudaError_t edges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!g || !count || !from != !to) return cudart_leave(c, cudaErrorInvalidValue);
  size_t n = 0;
  for (struct cuda_node *x = g->nodes; x; x = x->next)
    for (uint32_t i = 0; i < x->dep_count; i++, n++)
      if (from && n < *count) from[n] = x->deps[i], to[n] = x;
  for (size_t i = n; from && i < *count; i++) from[i] = to[i] = NULL;
  if (!from || n < *count) *count = n;
  return cudart_leave(c, cudaSuccess);
}

/* The nodes that `node` waits for, or those that wait for it. */
static cudaError_t neighbours(cudaGraphNode_t node, cudaGraphNode_t *out, size_t *count, bool after) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *x = api_graph_node(c, node);
  if (!x || !count) return cudart_leave(c, cudaErrorInvalidValue);
  size_t n = 0;
  for (struct cuda_node *m = after ? x->graph->nodes : x; m; m = after ? m->next : NULL)
    for (uint32_t i = 0; i < m->dep_count; i++) {
      if (after && m->deps[i] != x) continue;
      if (out && n < *count) out[n] = after ? m : m->deps[i];
      n++;
    }
  for (size_t i = n; out && i < *count; i++) out[i] = NULL;
  if (!out || n < *count) *count = n;
  return cudart_leave(c, cudaSuccess);
}

static cudaError_t cut(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_known(c, graph) || (count && (!from || !to))) return cudart_leave(c, cudaErrorInvalidValue);
  for (size_t k = 0; k < count; k++) {
    struct cuda_node *n = api_graph_node(c, to[k]);
    uint32_t kept = 0;
    for (uint32_t i = 0; n && i < n->dep_count; i++)
      if (n->deps[i] != from[k]) n->deps[kept++] = n->deps[i];
    if (!n || kept == n->dep_count) return cudart_leave(c, cudaErrorInvalidValue);
    n->dep_count = kept;
  }
  return cudart_leave(c, cudaSuccess);
}

/* With edge data (the unsuffixed names of CUDA 13, _v2 before) and without. Programmatic edges are treated as full
 * ones.
 */
#if CUDART_MAJOR >= 13
#define WITH_EDGE_DATA(name) name
#else
#define WITH_EDGE_DATA(name) name##_v2
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                             struct node_params *p) {
  return add_node(node, graph, deps, count, p);
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
  return edges(graph, from, to, count);
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out, size_t *count) {
  return neighbours(node, out, count, false);
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out, size_t *count) {
  return neighbours(node, out, count, true);
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        size_t count) {
  return cut(graph, from, to, count);
}
#endif

cudaError_t WITH_EDGE_DATA(cudaGraphAddNode)(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                             const void *data, size_t count, struct node_params *p) {
  (void)data;
  return add_node(node, graph, deps, count, p);
}

enum { EDGE_DATA_BYTES = 8 };

static void check_plain(void *data, const size_t *count) {
  if (data && count) memset(data, 0, *count * EDGE_DATA_BYTES);
}

cudaError_t WITH_EDGE_DATA(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, void *data,
                                              size_t *count) {
  check_plain(from ? data : NULL, count);
  return edges(graph, from, to, count);
}

cudaError_t WITH_EDGE_DATA(cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t *out, void *data,
                                                         size_t *count) {
  check_plain(out ? data : NULL, count);
  return neighbours(node, out, count, false);
}

cudaError_t WITH_EDGE_DATA(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t *out, void *data,
                                                           size_t *count) {
  check_plain(out ? data : NULL, count);
  return neighbours(node, out, count, true);
}

cudaError_t WITH_EDGE_DATA(cudaGraphRemoveDependencies)(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                        const cudaGraphNode_t *to, const void *data, size_t count) {
  (void)data;
  return cut(graph, from, to, count);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n) return cudart_leave(c, cudaErrorInvalidValue);
  graph_remove(c, n);
  return cudart_leave(c, cudaSuccess);
}

/* ---- nodes of an instance ---- */

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = instance_node(c, exec, node);
  if (!n || (n->op.kind != OP_KERNEL && n->op.kind != OP_COPY && n->op.kind != OP_SET))
    return cudart_leave(c, cudaErrorInvalidValue);
  n->disabled = !enabled;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = instance_node(c, exec, node);
  if (!n || !enabled) return cudart_leave(c, cudaErrorInvalidValue);
  *enabled = !n->disabled;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_exec(c, exec) || !flags) return cudart_leave(c, cudaErrorInvalidValue);
  *flags = 0;
  return cudart_leave(c, cudaSuccess);
}

struct instantiate_params {
  unsigned long long flags;
  cudaStream_t stream;
  cudaGraphNode_t bad;
  int result;
};

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, struct instantiate_params *p) {
  cudaError_t r = api_graph_instantiate(exec, graph);
  if (p) p->bad = NULL, p->result = r == cudaSuccess ? 0 : 1;
  return r;
}
PTSZ(cudaGraphInstantiateWithParams);

/* ---- parameters by kind ---- */

static cudaError_t set_host(struct cuda_node *n, const struct cudaHostNodeParams *p) {
  if (!n || n->op.kind != OP_HOST || !p || !p->fn) return cudaErrorInvalidValue;
  n->op.u.host.fn = p->fn;
  n->op.u.host.data = p->userData;
  return cudaSuccess;
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *p) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_host(api_graph_node(c, node), p));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *p) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_host(instance_node(c, exec, node), p));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n || n->op.kind != OP_HOST || !p) return cudart_leave(c, cudaErrorInvalidValue);
  *p = (struct cudaHostNodeParams){n->op.u.host.fn, n->op.u.host.data};
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n || n->op.kind != OP_SET || !p) return cudart_leave(c, cudaErrorInvalidValue);
  const struct cuda_set *s = &n->op.u.set;
  *p = (struct cudaMemsetParams){(void *)(uintptr_t)s->ptr, s->pitch, s->value, s->element, s->width, s->rows};
  return cudart_leave(c, cudaSuccess);
}

static void side_out(const struct cuda_side *s, cudaArray_t *array, struct cudaPos *pos, struct cudaPitchedPtr *p) {
  *array = s->array;
  *pos = (struct cudaPos){s->array ? s->x / s->array->element : s->x, s->y, s->z};
  *p = (struct cudaPitchedPtr){(void *)(uintptr_t)s->ptr, s->pitch, s->pitch, s->rows};
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n || n->op.kind != OP_COPY || !p) return cudart_leave(c, cudaErrorInvalidValue);
  const struct cuda_copy *k = &n->op.u.copy;
  size_t element = k->src.array ? k->src.array->element : k->dst.array ? k->dst.array->element : 1;
  side_out(&k->src, &p->srcArray, &p->srcPos, &p->srcPtr);
  side_out(&k->dst, &p->dstArray, &p->dstPos, &p->dstPtr);
  p->extent = (struct cudaExtent){k->bytes / element, k->rows, k->slices};
  p->kind = k->kind;
  return cudart_leave(c, cudaSuccess);
}

static cudaError_t set_linear(struct cuda_node *n, const void *dst, const void *src, size_t bytes, int kind) {
  if (!n || n->op.kind != OP_COPY) return cudaErrorInvalidValue;
  n->op = api_graph_linear(dst, src, bytes, kind);
  return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src, size_t bytes, int kind) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_linear(api_graph_node(c, node), dst, src, bytes, kind));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst, const void *src,
                                               size_t bytes, int kind) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_linear(instance_node(c, exec, node), dst, src, bytes, kind));
}

static cudaError_t set_symbol(struct cudart *c, struct cuda_node *n, const struct symbol_copy *s) {
  struct cuda_op op;
  cudaError_t r = api_graph_symbol(c, s, &op);
  if (r) return r;
  if (!n || n->op.kind != OP_COPY) return cudaErrorInvalidValue;
  n->op = op;
  return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *src,
                                                 size_t bytes, size_t offset, int kind) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(
      c, set_symbol(c, api_graph_node(c, node), &(struct symbol_copy){symbol, src, bytes, offset, kind, .to = true}));
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const void *symbol, size_t bytes,
                                                   size_t offset, int kind) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(
      c, set_symbol(c, api_graph_node(c, node), &(struct symbol_copy){symbol, dst, bytes, offset, kind, .to = false}));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                     const void *src, size_t bytes, size_t offset, int kind) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_symbol(c, instance_node(c, exec, node),
                                    &(struct symbol_copy){symbol, src, bytes, offset, kind, .to = true}));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *dst,
                                                       const void *symbol, size_t bytes, size_t offset, int kind) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, set_symbol(c, instance_node(c, exec, node),
                                    &(struct symbol_copy){symbol, dst, bytes, offset, kind, .to = false}));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n || n->op.kind != OP_CHILD || !graph) return cudart_leave(c, cudaErrorInvalidValue);
  *graph = n->op.u.child;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = instance_node(c, exec, node);
  struct cuda_graph *g = api_graph_known(c, child);
  if (!n || n->op.kind != OP_CHILD || !g) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_graph *fresh = graph_clone(c, g);
  fresh->owned = true;
  graph_free(c, n->op.u.child);
  n->op.u.child = fresh;
  return cudart_leave(c, cudaSuccess);
}

static cudaError_t get_event(cudaGraphNode_t node, cudaEvent_t *event, enum cuda_op_kind kind) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n || n->op.kind != kind || !event) return cudart_leave(c, cudaErrorInvalidValue);
  *event = n->op.u.event;
  return cudart_leave(c, cudaSuccess);
}

static cudaError_t set_event(struct cudart *c, struct cuda_node *n, cudaEvent_t event, enum cuda_op_kind kind) {
  struct cuda_event *e = cudart_event(c, event);
  if (!n || n->op.kind != kind || !e) return n ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
  n->op.u.event = e;
  return cudaSuccess;
}

#define EVENT_CALLS(what, kind)                                                                                  \
  cudaError_t cudaGraph##what##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {                          \
    return get_event(node, event, kind);                                                                         \
  }                                                                                                              \
  cudaError_t cudaGraph##what##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {                           \
    CUDART_ENTER_ASYNC();                                                                                        \
    return cudart_leave(c, set_event(c, api_graph_node(c, node), event, kind));                                  \
  }                                                                                                              \
  cudaError_t cudaGraphExec##what##NodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) { \
    CUDART_ENTER_ASYNC();                                                                                        \
    return cudart_leave(c, set_event(c, instance_node(c, exec, node), event, kind));                             \
  }
EVENT_CALLS(EventRecord, OP_RECORD)
EVENT_CALLS(EventWait, OP_WAIT)

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n || n->op.kind != OP_ALLOC || !p) return cudart_leave(c, cudaErrorInvalidValue);
  *p = (struct cudaMemAllocNodeParams){.bytesize = n->op.u.mem.bytes, .dptr = (void *)(uintptr_t)n->op.u.mem.ptr};
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_node *n = api_graph_node(c, node);
  if (!n || n->op.kind != OP_FREE || !p) return cudart_leave(c, cudaErrorInvalidValue);
  memcpy(p, &n->op.u.mem.ptr, sizeof(void *));
  return cudart_leave(c, cudaSuccess);
}

/* Attributes of kernel nodes are hints. */
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute, const void *value) {
  (void)attribute, (void)value;
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, api_graph_node(c, node) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute, void *value) {
  (void)attribute;
  CUDART_ENTER_ASYNC();
  if (!api_graph_node(c, node) || !value) return cudart_leave(c, cudaErrorInvalidValue);
  memset(value, 0, 64);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, api_graph_node(c, to) && api_graph_node(c, from) ? cudaSuccess : cudaErrorInvalidValue);
}

/* ---- user objects ---- */

cudaError_t cudaUserObjectCreate(struct cuda_user_object **out, void *ptr, cudaHostFn_t destroy, unsigned count,
                                 unsigned flags) {
  (void)flags;
  CUDART_ENTER_ASYNC();
  if (!out || !destroy || !count) return cudart_leave(c, cudaErrorInvalidValue);
  *out = ARENA_NEW(&c->arena, struct cuda_user_object);
  **out = (struct cuda_user_object){ptr, destroy, count};
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaUserObjectRetain(struct cuda_user_object *o, unsigned count) {
  CUDART_ENTER_ASYNC();
  if (!o || !o->count) return cudart_leave(c, cudaErrorInvalidValue);
  o->count += count;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaUserObjectRelease(struct cuda_user_object *o, unsigned count) {
  CUDART_ENTER_ASYNC();
  if (!o || o->count < count) return cudart_leave(c, cudaErrorInvalidValue);
  graph_let_go(o, count);
  return cudart_leave(c, cudaSuccess);
}

enum { USER_OBJECT_MOVE = 1 };

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, struct cuda_user_object *o, unsigned count, unsigned flags) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!g || !o || !o->count) return cudart_leave(c, cudaErrorInvalidValue);
  if (!(flags & USER_OBJECT_MOVE)) o->count += count;
  graph_hold(g, o, count);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, struct cuda_user_object *o, unsigned count) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  for (struct cuda_held *h = g ? g->held : NULL; h; h = h->next)
    if (h->object == o && h->count >= count) {
      h->count -= count;
      graph_let_go(o, count);
      return cudart_leave(c, cudaSuccess);
    }
  return cudart_leave(c, cudaErrorInvalidValue);
}

/* ---- a picture ---- */

static const char *label(const struct cuda_op *op) {
  static const char *const names[] = {[OP_COPY] = "copy",          [OP_SET] = "set",
                                      [OP_HOST] = "host function", [OP_CHILD] = "graph",
                                      [OP_EMPTY] = "empty",        [OP_WAIT] = "wait for event",
                                      [OP_RECORD] = "event",       [OP_ALLOC] = "alloc",
                                      [OP_FREE] = "free",          [OP_CONDITIONAL] = "condition"};
  return op->kind == OP_KERNEL ? op->u.launch.function->name : names[op->kind];
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags) {
  (void)flags;
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  FILE *f = g && path ? fopen(path, "w") : NULL;
  if (!f) return cudart_leave(c, g && path ? cudaErrorOperatingSystem : cudaErrorInvalidValue);
  fputs("digraph {\n", f);
  for (const struct cuda_node *n = g->nodes; n; n = n->next) {
    fprintf(f, "  n%p [label=\"%s\"];\n", (const void *)n, label(&n->op));
    for (uint32_t i = 0; i < n->dep_count; i++)
      fprintf(f, "  n%p -> n%p;\n", (const void *)n->deps[i], (const void *)n);
  }
  fputs("}\n", f);
  bool written = !ferror(f);
  return cudart_leave(c, !fclose(f) && written ? cudaSuccess : cudaErrorOperatingSystem);
}
