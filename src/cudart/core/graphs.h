/* graphs.h - CUDA graphs: nodes in order of creation with the nodes they wait for. */
#ifndef CUDART_CORE_GRAPHS_H
#define CUDART_CORE_GRAPHS_H

#include "cudart/core/context.h"
#include "cudart/core/queue.h"

struct cuda_node {
  struct cuda_node *next; /* in its graph, in order of creation */
  struct cuda_graph *graph;
  struct cuda_op op;
  struct cuda_node **deps;
  uint32_t dep_count, dep_room;
  struct cuda_node *origin; /* in the graph that this one was cloned from */
  uint32_t mark;            /* for the topological walk: 0 new, 1 open, 2 done */
  bool disabled;
  session_task task; /* of the launch in progress */
};
/* Condition of a conditional node: a word of device memory that kernels set. */
struct cuda_condition {
  struct cuda_condition *next;
  uint64_t handle; /* its address */
  uint32_t value;  /* at the start of each launch, if `assign` */
  bool assign;
};
/* An object of the program that lives as long as a graph refers to it. */
struct cuda_user_object {
  void *ptr;
  cudaHostFn_t destroy;
  uint32_t count;
};
struct cuda_held {
  struct cuda_held *next;
  struct cuda_user_object *object;
  uint32_t count;
};
struct cuda_graph {
  struct cuda_node *nodes, **last;
  uint32_t count;
  struct cuda_condition *conditions;
  struct cuda_held *held;
  session_task end; /* of its launch before */
  bool owned;       /* by an executable graph or a child node */
};
struct cuda_exec {
  struct cuda_graph *graph; /* a clone */
};

struct cuda_graph *graph_new(struct cudart *c);
/* Takes over the parameter block of a kernel. */
struct cuda_node *graph_add(struct cudart *c, struct cuda_graph *g, const struct cuda_op *op);
/* `n` runs after `on`. */
void graph_depend(struct cuda_node *n, struct cuda_node *on);
/* With all nodes, their parameters and child graphs; graph_cloned finds a node's copy (NULL: it has none). */
struct cuda_graph *graph_clone(struct cudart *c, const struct cuda_graph *g);
void graph_free(struct cudart *c, struct cuda_graph *g);
void graph_remove(struct cudart *c, struct cuda_node *n);
/* The graph refers to the object `count` times more; that many references end, and with the last one the object. */
void graph_hold(struct cuda_graph *g, struct cuda_user_object *o, uint32_t count);
void graph_let_go(struct cuda_user_object *o, uint32_t count);
/* Queue all nodes, each after those it depends on and the first ones after `deps`; *end: the task after all of them. */
cudaError_t graph_submit(struct cudart *c, struct cuda_graph *g, struct cuda_stream *s, const session_task *deps,
                         uint32_t n, session_task *end);
/* An order in which every node follows its dependencies; NULL if there is a cycle. The caller frees it. */
struct cuda_node **graph_order(struct cuda_graph *g);
struct cuda_node *graph_cloned(struct cuda_graph *clone, const struct cuda_node *original);

#endif
