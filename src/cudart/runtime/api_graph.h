/* api_graph.h - shared by the files of the graph interface. Compiled once per major version; not exported. */
#ifndef CUDART_RUNTIME_API_GRAPH_H
#define CUDART_RUNTIME_API_GRAPH_H

#include "cudart/runtime/api.h"

#pragma GCC visibility push(hidden)
/* Handles of the program: NULL if invalid. */
struct cuda_graph *api_graph_known(struct cudart *c, cudaGraph_t g);
struct cuda_node *api_graph_node(struct cudart *c, cudaGraphNode_t n);
struct cuda_exec *api_graph_exec(struct cudart *c, cudaGraphExec_t x);
/* Append a node that waits for `deps`; on failure the operation's resources are freed. */
cudaError_t api_graph_insert(struct cudart *c, cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                             size_t count, struct cuda_op *op);
/* Operations from the parameters of nodes. */
cudaError_t api_graph_kernel(struct cudart *c, const struct cudaKernelNodeParams *p, struct cuda_op *op);
cudaError_t api_graph_copy(struct cudart *c, const struct cudaMemcpy3DParms *p, struct cuda_op *op);
cudaError_t api_graph_set(const struct cudaMemsetParams *p, struct cuda_op *op);
struct cuda_op api_graph_linear(const void *dst, const void *src, size_t bytes, int kind);
/* A copy between a variable of the program and other memory. */
struct symbol_copy {
  const void *symbol, *other;
  size_t bytes, offset; /* offset: in the variable */
  int kind;
  bool to; /* the variable is written */
};
cudaError_t api_graph_symbol(struct cudart *c, const struct symbol_copy *s, struct cuda_op *op);
cudaError_t api_graph_instantiate(cudaGraphExec_t *exec, cudaGraph_t graph);
#pragma GCC visibility pop

#endif
