/* api_graph.c - CUDA graphs built by hand: nodes, their parameters, instances, launches, updates. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/runtime/api_graph.h"
#include "cudart/core/arrays.h"
#include "cudart/core/copies.h"
#include "cudart/core/launches.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"

/* ---- graphs and nodes ---- */

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  CUDART_ENTER_ASYNC();
  if (!graph || flags) return cudart_leave(c, cudaErrorInvalidValue);
  *graph = graph_new(c);
  return cudart_leave(c, cudaSuccess);
}

struct cuda_graph *api_graph_known(struct cudart *c, cudaGraph_t g) {
  return ptrmap_get(&c->graphs, (uintptr_t)g);
}

struct cuda_node *api_graph_node(struct cudart *c, cudaGraphNode_t n) {
  return ptrmap_get(&c->nodes, (uintptr_t)n);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!g || g->owned) return cudart_leave(c, cudaErrorInvalidValue);
  graph_free(c, g);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!g || !clone) return cudart_leave(c, cudaErrorInvalidValue);
  *clone = graph_clone(c, g);
  return cudart_leave(c, cudaSuccess);
}

/* Append a node that waits for `deps`; on failure the operation's resources are freed. */
cudaError_t api_graph_insert(struct cudart *c, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                             size_t count, struct cuda_op *op) {
  struct cuda_graph *g = api_graph_known(c, graph);
  bool good = g && node && (deps || !count);
  for (size_t i = 0; good && i < count; i++) good = api_graph_node(c, deps[i]) && deps[i]->graph == g;
  if (!good) {
    if (op->kind == OP_KERNEL) free(op->u.launch.params);
    return cudaErrorInvalidValue;
  }
  struct cuda_node *fresh = graph_add(c, g, op); /* `node` may lie in `deps` */
  for (size_t i = 0; i < count; i++) graph_depend(fresh, deps[i]);
  *node = fresh;
  return cudaSuccess;
}

cudaError_t api_graph_kernel(struct cudart *c, const struct cudaKernelNodeParams *p, struct cuda_op *op) {
  struct cuda_function *f = p ? cudart_function(c, p->func) : NULL;
  if (!f || !f->info) return p ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
  void *params = cudart_pack_args(f, p->kernelParams);
  if (!params)
    return cudart_why(c, cudaErrorInvalidValue, "graph node for %s: it takes %u arguments as an array of pointers",
                      f->name, f->info->params);
  *op = (struct cuda_op){.kind = OP_KERNEL,
                         .u.launch = {.function = f,
                                      .grid = {p->gridDim.x, p->gridDim.y, p->gridDim.z},
                                      .block = {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                                      .shared = p->sharedMemBytes,
                                      .params = params}};
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaKernelNodeParams *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op;
  cudaError_t r = api_graph_kernel(c, p, &op);
  return cudart_leave(c, r ? r : api_graph_insert(c, node, graph, deps, count, &op));
}

static struct cuda_side side_of_node(cudaArray_t array, struct cudaPos pos, struct cudaPitchedPtr p) {
  return (struct cuda_side){.array = array,
                            .ptr = (uintptr_t)p.ptr,
                            .pitch = p.pitch,
                            .rows = p.ysize,
                            .x = array ? pos.x * array->element : pos.x,
                            .y = pos.y,
                            .z = pos.z};
}

cudaError_t api_graph_copy(struct cudart *c, const struct cudaMemcpy3DParms *p, struct cuda_op *op) {
  if (!p) return cudaErrorInvalidValue;
  if ((p->srcArray && !cudart_array(c, p->srcArray)) || (p->dstArray && !cudart_array(c, p->dstArray)))
    return cudaErrorInvalidResourceHandle;
  size_t element = p->srcArray ? p->srcArray->element : p->dstArray ? p->dstArray->element : 1;
  *op = (struct cuda_op){.kind = OP_COPY,
                         .u.copy = {.src = side_of_node(p->srcArray, p->srcPos, p->srcPtr),
                                    .dst = side_of_node(p->dstArray, p->dstPos, p->dstPtr),
                                    .bytes = p->extent.width * element,
                                    .rows = p->extent.height,
                                    .slices = p->extent.depth,
                                    .kind = p->kind}};
  return cudaSuccess;
}

struct cuda_op api_graph_linear(const void *dst, const void *src, size_t bytes, int kind) {
  return (struct cuda_op){
      .kind = OP_COPY,
      .u.copy = {
          .src.ptr = (uintptr_t)src, .dst.ptr = (uintptr_t)dst, .bytes = bytes, .rows = 1, .slices = 1, .kind = kind}};
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaMemcpy3DParms *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op;
  cudaError_t r = api_graph_copy(c, p, &op);
  return cudart_leave(c, r ? r : api_graph_insert(c, node, graph, deps, count, &op));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                     size_t count, void *dst, const void *src, size_t bytes, int kind) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op = api_graph_linear(dst, src, bytes, kind);
  return cudart_leave(c, api_graph_insert(c, node, graph, deps, count, &op));
}

cudaError_t api_graph_symbol(struct cudart *c, const struct symbol_copy *s, struct cuda_op *op) {
  struct cuda_variable *v = cudart_variable(c, s->symbol);
  if (!v) return cudaErrorInvalidSymbol;
  if (s->offset > v->bytes || s->bytes > v->bytes - s->offset) return cudaErrorInvalidValue;
  const void *at = (const void *)(uintptr_t)(v->addr + s->offset);
  *op = api_graph_linear(s->to ? at : s->other, s->to ? s->other : at, s->bytes, s->kind);
  return cudaSuccess;
}

static cudaError_t symbol_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                               const struct symbol_copy *s) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op;
  cudaError_t r = api_graph_symbol(c, s, &op);
  return cudart_leave(c, r ? r : api_graph_insert(c, node, graph, deps, count, &op));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                           size_t count, const void *symbol, const void *src, size_t bytes,
                                           size_t offset, int kind) {
  return symbol_node(node, graph, deps, count, &(struct symbol_copy){symbol, src, bytes, offset, kind, .to = true});
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                             size_t count, void *dst, const void *symbol, size_t bytes, size_t offset,
                                             int kind) {
  return symbol_node(node, graph, deps, count, &(struct symbol_copy){symbol, dst, bytes, offset, kind, .to = false});
}

cudaError_t api_graph_set(const struct cudaMemsetParams *p, struct cuda_op *op) {
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) return cudaErrorInvalidValue;
  *op = (struct cuda_op){.kind = OP_SET,
                         .u.set = {.ptr = (uintptr_t)p->dst,
                                   .pitch = p->pitch,
                                   .slice_rows = p->height,
                                   .width = p->width,
                                   .rows = p->height,
                                   .slices = 1,
                                   .value = p->value,
                                   .element = p->elementSize}};
  return cudaSuccess;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaMemsetParams *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op;
  cudaError_t r = api_graph_set(p, &op);
  return cudart_leave(c, r ? r : api_graph_insert(c, node, graph, deps, count, &op));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                 const struct cudaHostNodeParams *p) {
  CUDART_ENTER_ASYNC();
  if (!p || !p->fn) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_op op = {.kind = OP_HOST, .u.host = {.fn = p->fn, .data = p->userData}};
  return cudart_leave(c, api_graph_insert(c, node, graph, deps, count, &op));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op = {.kind = OP_EMPTY};
  return cudart_leave(c, api_graph_insert(c, node, graph, deps, count, &op));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                       size_t count, cudaGraph_t child) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_known(c, child) || child == graph) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_op op = {.kind = OP_CHILD, .u.child = graph_clone(c, child)};
  op.u.child->owned = true;
  cudaError_t r = api_graph_insert(c, node, graph, deps, count, &op);
  if (r) graph_free(c, op.u.child);
  return cudart_leave(c, r);
}

static cudaError_t event_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                              cudaEvent_t event, enum cuda_op_kind kind) {
  CUDART_ENTER_ASYNC();
  struct cuda_op op = {.kind = kind, .u.event = cudart_event(c, event)};
  return cudart_leave(c,
                      op.u.event ? api_graph_insert(c, node, graph, deps, count, &op) : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                        size_t count, cudaEvent_t event) {
  return event_node(node, graph, deps, count, event, OP_RECORD);
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                      size_t count, cudaEvent_t event) {
  return event_node(node, graph, deps, count, event, OP_WAIT);
}

/* The address is needed when the node is created, so the memory is allocated then. */
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                     size_t count, struct cudaMemAllocNodeParams *p) {
  CUDART_ENTER_ASYNC();
  if (!p || !p->bytesize) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_op op = {.kind = OP_ALLOC, .u.mem.bytes = p->bytesize};
  cudaError_t r = cudart_alloc(c, p->bytesize, SIMT_MEM_DEVICE, CALL_SITE(), &op.u.mem.ptr);
  if (r == cudaSuccess) ptrmap_put(&c->graph_memory, op.u.mem.ptr, c);
  if (r == cudaSuccess) r = api_graph_insert(c, node, graph, deps, count, &op);
  p->dptr = r == cudaSuccess ? (void *)(uintptr_t)op.u.mem.ptr : NULL;
  return cudart_leave(c, r);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count,
                                    void *p) {
  CUDART_ENTER_ASYNC();
  if (!simt_mem_find(c->simt, (uintptr_t)p)) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_op op = {.kind = OP_FREE, .u.mem.ptr = (uintptr_t)p};
  return cudart_leave(c, api_graph_insert(c, node, graph, deps, count, &op));
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value) {
  CUDART_ENTER_ASYNC();
  if (device != 0 || !value || attribute < 0 || attribute > 3) return cudart_leave(c, cudaErrorInvalidValue);
  uint64_t used = simt_mem_used(c->simt);
  memcpy(value, &used, sizeof used);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value) {
  (void)attribute, (void)value;
  return cudaDeviceGraphMemTrim(device);
}

/* ---- looking at graphs ---- */

static bool is_root(const struct cuda_node *n) {
  return n->dep_count == 0;
}

static bool is_any(const struct cuda_node *n) {
  (void)n;
  return true;
}

/* `nodes` NULL: only count. Otherwise at most *count are written and the rest of the places cleared. */
static cudaError_t list(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count,
                        bool (*want)(const struct cuda_node *)) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!g || !count) return cudart_leave(c, cudaErrorInvalidValue);
  size_t n = 0;
  for (struct cuda_node *x = g->nodes; x; x = x->next) {
    if (!want(x)) continue;
    if (nodes && n < *count) nodes[n] = x;
    n++;
  }
  for (size_t i = n; nodes && i < *count; i++) nodes[i] = NULL;
  if (!nodes || n < *count) *count = n;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  return list(graph, nodes, count, is_any);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
  return list(graph, nodes, count, is_root);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int *type) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_node(c, node) || !type) return cudart_leave(c, cudaErrorInvalidValue);
  *type = (int)node->op.kind;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t original, cudaGraph_t clone) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, clone);
  *out = g ? graph_cloned(g, original) : NULL;
  return cudart_leave(c, *out ? cudaSuccess : cudaErrorInvalidValue);
}

static cudaError_t add_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_known(c, graph) || (count && (!from || !to))) return cudart_leave(c, cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) {
    if (!api_graph_node(c, from[i]) || !api_graph_node(c, to[i])) return cudart_leave(c, cudaErrorInvalidValue);
    graph_depend(to[i], from[i]);
  }
  return cudart_leave(c, cudaSuccess);
}

#if CUDART_MAJOR >= 13
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const void *edges, size_t count) {
  (void)edges; /* programmatic edges are treated as the stricter full ones */
  return add_edges(graph, from, to, count);
}
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t count) {
  return add_edges(graph, from, to, count);
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const void *edges, size_t count) {
  (void)edges;
  return add_edges(graph, from, to, count);
}
#endif

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_node(c, node) || node->op.kind != OP_KERNEL || !p) return cudart_leave(c, cudaErrorInvalidValue);
  const struct cuda_launch *l = &node->op.u.launch;
  void **args = ARENA_ARRAY(&c->arena, void *, l->function->info->params + 1);
  for (uint32_t i = 0; i < l->function->info->params; i++)
    args[i] = (char *)l->params + l->function->info->param_offset[i];
  *p = (struct cudaKernelNodeParams){.func = l->function,
                                     .gridDim = {l->grid[0], l->grid[1], l->grid[2]},
                                     .blockDim = {l->block[0], l->block[1], l->block[2]},
                                     .sharedMemBytes = l->shared,
                                     .kernelParams = args};
  return cudart_leave(c, cudaSuccess);
}

static cudaError_t replace_kernel(struct cudart *c, struct cuda_node *n, const struct cudaKernelNodeParams *p) {
  struct cuda_op op;
  if (!n || n->op.kind != OP_KERNEL) return cudaErrorInvalidValue;
  cudaError_t r = api_graph_kernel(c, p, &op);
  if (r) return r;
  free(n->op.u.launch.params);
  n->op = op;
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, replace_kernel(c, api_graph_node(c, node), p));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_node(c, node) || node->op.kind != OP_COPY) return cudart_leave(c, cudaErrorInvalidValue);
  return cudart_leave(c, api_graph_copy(c, p, &node->op));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p) {
  CUDART_ENTER_ASYNC();
  if (!api_graph_node(c, node) || node->op.kind != OP_SET) return cudart_leave(c, cudaErrorInvalidValue);
  return cudart_leave(c, api_graph_set(p, &node->op));
}

/* ---- instances ---- */

cudaError_t api_graph_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!exec || !g) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_node **order = graph_order(g);
  if (!order)
    return cudart_leave(c, cudart_why(c, cudaErrorInvalidValue, "cudaGraphInstantiate: the graph has a cycle"));
  free(order);
  struct cuda_exec *x = mem_zeroed(1, sizeof *x);
  x->graph = graph_clone(c, g);
  x->graph->owned = true;
  ptrmap_put(&c->execs, (uintptr_t)x, x);
  *exec = x;
  return cudart_leave(c, cudaSuccess);
}

#if CUDART_MAJOR >= 12
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
  (void)flags;
  return api_graph_instantiate(exec, graph);
}
#else
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *bad, char *log,
                                 size_t log_bytes) {
  if (bad) *bad = NULL;
  if (log && log_bytes) *log = 0;
  return api_graph_instantiate(exec, graph);
}
#endif

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
  (void)flags;
  return api_graph_instantiate(exec, graph);
}

struct cuda_exec *api_graph_exec(struct cudart *c, cudaGraphExec_t x) {
  return ptrmap_get(&c->execs, (uintptr_t)x);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  (void)stream;
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, api_graph_exec(c, exec) ? cudaSuccess : cudaErrorInvalidValue);
}
PTSZ(cudaGraphUpload);

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  struct cuda_exec *x = api_graph_exec(c, exec);
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!x || !s) return cudart_leave(c, x ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
  if (s->capture) {
    struct cuda_op op = {.kind = OP_CHILD, .u.child = graph_clone(c, x->graph)};
    op.u.child->owned = true;
    return cudart_leave(c, cudart_submit(c, stream, &op));
  }
  struct cuda_op op = {.kind = OP_CHILD, .u.child = x->graph};
  c->lazy = true; /* its nodes may overlap */
  return cudart_leave(c, cudart_submit(c, stream, &op));
}
PTSZ(cudaGraphLaunch);

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  CUDART_ENTER_ASYNC();
  struct cuda_exec *x = ptrmap_remove(&c->execs, (uintptr_t)exec);
  if (!x) return cudart_leave(c, cudaErrorInvalidValue);
  graph_free(c, x->graph);
  free(x);
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_exec *x = api_graph_exec(c, exec);
  return cudart_leave(c, x ? replace_kernel(c, graph_cloned(x->graph, node), p) : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_exec *x = api_graph_exec(c, exec);
  struct cuda_node *n = x ? graph_cloned(x->graph, node) : NULL;
  return cudart_leave(c, n && n->op.kind == OP_COPY ? api_graph_copy(c, p, &n->op) : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *p) {
  CUDART_ENTER_ASYNC();
  struct cuda_exec *x = api_graph_exec(c, exec);
  struct cuda_node *n = x ? graph_cloned(x->graph, node) : NULL;
  return cudart_leave(c, n && n->op.kind == OP_SET ? api_graph_set(p, &n->op) : cudaErrorInvalidValue);
}

enum { UPDATE_DONE, UPDATE_FAILED, UPDATE_TOPOLOGY, UPDATE_TYPE };

/* The instance takes over the graph's parameters if the two have the same shape. */
static int same_shape(const struct cuda_graph *a, const struct cuda_graph *b, cudaGraphNode_t *bad) {
  const struct cuda_node *m = a->nodes;
  for (struct cuda_node *n = b->nodes; n; n = n->next, m = m->next) {
    *bad = n;
    if (!m || m->dep_count != n->dep_count) return UPDATE_TOPOLOGY;
    if (m->op.kind != n->op.kind) return UPDATE_TYPE;
  }
  *bad = NULL;
  return m ? UPDATE_TOPOLOGY : UPDATE_DONE;
}

static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *bad, int *result) {
  CUDART_ENTER_ASYNC();
  struct cuda_exec *x = api_graph_exec(c, exec);
  struct cuda_graph *g = api_graph_known(c, graph);
  if (!x || !g) return cudart_leave(c, cudaErrorInvalidValue);
  *result = same_shape(x->graph, g, bad);
  if (*result != UPDATE_DONE) return cudart_leave(c, cudaErrorGraphExecUpdateFailure);
  struct cuda_graph *fresh = graph_clone(c, g);
  fresh->owned = true;
  /* Nodes of the graph first instantiated stay valid names for the instance's nodes. */
  struct cuda_node *n = fresh->nodes;
  for (struct cuda_node *m = x->graph->nodes; m; m = m->next, n = n->next) n->origin = m->origin;
  graph_free(c, x->graph);
  x->graph = fresh;
  return cudart_leave(c, cudaSuccess);
}

#if CUDART_MAJOR >= 12
struct update_result {
  int result;
  cudaGraphNode_t bad, bad_from;
};
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, struct update_result *out) {
  struct update_result r = {.result = UPDATE_FAILED};
  cudaError_t e = update(exec, graph, &r.bad, &r.result);
  if (out) *out = r;
  return e;
}
#else
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *bad, int *result) {
  cudaGraphNode_t node = NULL;
  int code = UPDATE_FAILED;
  cudaError_t e = update(exec, graph, &node, &code);
  if (bad) *bad = node;
  if (result) *result = code;
  return e;
}
#endif
