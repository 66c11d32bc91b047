/* graphs.c - building, cloning and running CUDA graphs. */
#include "cudart/graphs.h"

#include <stdlib.h>
#include <string.h>

struct cuda_graph *graph_new(struct cudart *c) {
  struct cuda_graph *g = calloc(1, sizeof *g);
  CHECK(g, "out of memory");
  g->last = &g->nodes;
  ptrmap_put(&c->graphs, (uintptr_t)g, g);
  return g;
}

struct cuda_node *graph_add(struct cudart *c, struct cuda_graph *g, const struct cuda_op *op) {
  struct cuda_node *n = calloc(1, sizeof *n);
  CHECK(n, "out of memory");
  n->graph = g;
  n->op = *op;
  *g->last = n;
  g->last = &n->next;
  g->count++;
  ptrmap_put(&c->nodes, (uintptr_t)n, n);
  return n;
}

void graph_depend(struct cuda_node *n, struct cuda_node *on) {
  for (uint32_t i = 0; i < n->dep_count; i++)
    if (n->deps[i] == on) return;
  if (n->dep_count == n->dep_room) {
    n->dep_room = n->dep_room ? n->dep_room * 2 : 4;
    n->deps = realloc(n->deps, n->dep_room * sizeof *n->deps);
    CHECK(n->deps, "out of memory");
  }
  n->deps[n->dep_count++] = on;
}

struct cuda_node *graph_cloned(struct cuda_graph *clone, const struct cuda_node *original) {
  for (struct cuda_node *n = clone->nodes; n; n = n->next)
    if (n->origin == original) return n;
  return NULL;
}

struct cuda_graph *graph_clone(struct cudart *c, const struct cuda_graph *g) {
  struct cuda_graph *copy = graph_new(c);
  for (const struct cuda_node *n = g->nodes; n; n = n->next) {
    struct cuda_op op = n->op;
    if (op.kind == OP_KERNEL) {
      size_t bytes = op.u.launch.function->info ? op.u.launch.function->info->param_block_bytes : 0;
      op.u.launch.params = malloc(bytes ? bytes : 1);
      CHECK(op.u.launch.params, "out of memory");
      memcpy(op.u.launch.params, n->op.u.launch.params, bytes);
    }
    if (op.kind == OP_CHILD) {
      op.u.child = graph_clone(c, op.u.child);
      op.u.child->owned = true;
    }
    struct cuda_node *m = graph_add(c, copy, &op);
    m->origin = (struct cuda_node *)n;
    m->disabled = n->disabled;
  }
  struct cuda_node *m = copy->nodes;
  for (const struct cuda_node *n = g->nodes; n; n = n->next, m = m->next)
    for (uint32_t i = 0; i < n->dep_count; i++) graph_depend(m, graph_cloned(copy, n->deps[i]));
  return copy;
}

void graph_free(struct cudart *c, struct cuda_graph *g) {
  for (struct cuda_node *n = g->nodes, *next; n; n = next) {
    next = n->next;
    if (n->op.kind == OP_KERNEL) free(n->op.u.launch.params);
    if (n->op.kind == OP_CHILD) graph_free(c, n->op.u.child);
    ptrmap_remove(&c->nodes, (uintptr_t)n);
    free(n->deps);
    free(n);
  }
  ptrmap_remove(&c->graphs, (uintptr_t)g);
  free(g);
}

/* Depth first with an explicit stack: captured graphs can be thousands of nodes deep. */
static bool visit(struct cuda_node *first, struct cuda_node **stack, struct cuda_node **out, uint32_t *done) {
  uint32_t depth = 0;
  if (first->mark == 2) return true;
  stack[depth++] = first;
  while (depth) {
    struct cuda_node *n = stack[depth - 1], *waits = NULL;
    n->mark = 1;
    for (uint32_t i = 0; i < n->dep_count && !waits; i++)
      if (n->deps[i]->mark != 2) waits = n->deps[i];
    if (!waits) {
      n->mark = 2;
      out[(*done)++] = n;
      depth--;
    } else if (waits->mark == 1) {
      return false;
    } else {
      stack[depth++] = waits;
    }
  }
  return true;
}

struct cuda_node **graph_order(struct cuda_graph *g) {
  struct cuda_node **out = calloc(g->count + 1, sizeof *out), **stack = calloc(g->count + 1, sizeof *stack);
  CHECK(out && stack, "out of memory");
  uint32_t done = 0;
  bool good = true;
  for (struct cuda_node *n = g->nodes; n; n = n->next) n->mark = 0;
  for (struct cuda_node *n = g->nodes; n && good; n = n->next) good = visit(n, stack, out, &done);
  free(stack);
  if (good) return out;
  free(out);
  return NULL;
}

cudaError_t graph_run(struct cudart *c, struct cuda_graph *g) {
  struct cuda_node **order = graph_order(g);
  if (!order) return cudaErrorInvalidValue;
  cudaError_t r = cudaSuccess;
  for (uint32_t i = 0; i < g->count && r == cudaSuccess && !c->sticky; i++)
    if (!order[i]->disabled) r = cudart_run_op(c, &order[i]->op);
  free(order);
  return r;
}
