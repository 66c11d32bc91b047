/* graphs.c - building, cloning and running CUDA graphs. */
#include "cudart/core/graphs.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct cuda_graph *graph_new(struct cudart *c) {
  struct cuda_graph *g = mem_zeroed(1, sizeof *g);
  g->last = &g->nodes;
  ptrmap_put(&c->graphs, (uintptr_t)g, g);
  return g;
}

struct cuda_node *graph_add(struct cudart *c, struct cuda_graph *g, const struct cuda_op *op) {
  struct cuda_node *n = mem_zeroed(1, sizeof *n);
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
    n->deps = mem_resize(n->deps, n->dep_room, sizeof *n->deps);
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
      op.u.launch.params = mem_alloc(bytes ? bytes : 1);
      memcpy(op.u.launch.params, n->op.u.launch.params, bytes);
    }
    if (op.kind == OP_CHILD) {
      op.u.child = graph_clone(c, op.u.child);
      op.u.child->owned = true;
    }
    if (op.kind == OP_CONDITIONAL) {
      op.u.conditional.bodies = mem_zeroed(op.u.conditional.count, sizeof *op.u.conditional.bodies);
      for (uint32_t i = 0; i < op.u.conditional.count; i++) {
        op.u.conditional.bodies[i] = graph_clone(c, n->op.u.conditional.bodies[i]);
        op.u.conditional.bodies[i]->owned = true;
      }
    }
    struct cuda_node *m = graph_add(c, copy, &op);
    m->origin = (struct cuda_node *)n;
    m->disabled = n->disabled;
  }
  struct cuda_node *m = copy->nodes;
  for (const struct cuda_node *n = g->nodes; n; n = n->next, m = m->next)
    for (uint32_t i = 0; i < n->dep_count; i++) graph_depend(m, graph_cloned(copy, n->deps[i]));
  for (const struct cuda_condition *k = g->conditions; k; k = k->next) {
    struct cuda_condition *own = ARENA_NEW(&c->arena, struct cuda_condition);
    *own = *k;
    own->next = copy->conditions;
    copy->conditions = own;
  }
  for (const struct cuda_held *h = g->held; h; h = h->next) {
    h->object->count += h->count;
    graph_hold(copy, h->object, h->count);
  }
  return copy;
}

void graph_hold(struct cuda_graph *g, struct cuda_user_object *o, uint32_t count) {
  struct cuda_held *h = mem_zeroed(1, sizeof *h);
  *h = (struct cuda_held){.next = g->held, .object = o, .count = count};
  g->held = h;
}

void graph_let_go(struct cuda_user_object *o, uint32_t count) {
  if (!o->count) return;
  o->count -= count < o->count ? count : o->count;
  if (!o->count && o->destroy) o->destroy(o->ptr); /* the record itself stays: a handle may be queried again */
}

static void free_op(struct cudart *c, struct cuda_op *op) {
  if (op->kind == OP_KERNEL) free(op->u.launch.params);
  if (op->kind == OP_CHILD) graph_free(c, op->u.child);
  if (op->kind != OP_CONDITIONAL) return;
  for (uint32_t i = 0; i < op->u.conditional.count; i++) graph_free(c, op->u.conditional.bodies[i]);
  free(op->u.conditional.bodies);
}

void graph_remove(struct cudart *c, struct cuda_node *n) {
  struct cuda_graph *g = n->graph;
  struct cuda_node **at = &g->nodes;
  while (*at != n) at = &(*at)->next;
  *at = n->next;
  if (g->last == &n->next) g->last = at;
  g->count--;
  for (struct cuda_node *m = g->nodes; m; m = m->next) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->dep_count; i++)
      if (m->deps[i] != n) m->deps[kept++] = m->deps[i];
    m->dep_count = kept;
  }
  free_op(c, &n->op);
  ptrmap_remove(&c->nodes, (uintptr_t)n);
  free(n->deps);
  free(n);
}

void graph_free(struct cudart *c, struct cuda_graph *g) {
  for (struct cuda_node *n = g->nodes, *next; n; n = next) {
    next = n->next;
    free_op(c, &n->op);
    ptrmap_remove(&c->nodes, (uintptr_t)n);
    free(n->deps);
    free(n);
  }
  for (struct cuda_held *h = g->held, *next; h; h = next) {
    next = h->next;
    graph_let_go(h->object, h->count);
    free(h);
  }
  ptrmap_remove(&c->graphs, (uintptr_t)g);
  free(g);
}

/* Depth first with an explicit stack: captured graphs can be thousands of nodes deep. */
static bool visit_node(struct cuda_node *first, struct cuda_node **stack, struct cuda_node **out, uint32_t *done) {
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
  struct cuda_node **out = mem_zeroed(g->count + 1, sizeof *out), **stack = mem_zeroed(g->count + 1, sizeof *stack);
  uint32_t done = 0;
  bool good = true;
  for (struct cuda_node *n = g->nodes; n; n = n->next) n->mark = 0;
  for (struct cuda_node *n = g->nodes; n && good; n = n->next) good = visit_node(n, stack, out, &done);
  free(stack);
  if (good) return out;
  free(out);
  return NULL;
}

/* Set the conditions' values for a launch of the whole graph. */
static void assign_conditions(struct cudart *c, struct cuda_graph *g) {
  for (const struct cuda_condition *k = g->conditions; k; k = k->next) {
    uint32_t *p = k->assign ? simt_mem_at(c->simt, k->handle, sizeof *p) : NULL;
    if (p) *p = k->value;
  }
}

static cudaError_t join_nodes(struct cudart *c, struct cuda_stream *s, const session_task *deps, uint32_t n,
                              session_task *end) {
  return cudart_enqueue(c, &(struct cuda_op){.kind = OP_EMPTY}, s, deps, n, end);
}

static cudaError_t submit_nodes(struct cudart *c, struct cuda_graph *g, struct cuda_stream *s, const session_task *deps,
                                uint32_t n, session_task *end);

/* Later nodes depend on memory written by kernels: the host waits for earlier ones, and for each body. */
static cudaError_t conditional(struct cudart *c, const struct cuda_op *op, struct cuda_stream *s,
                               const session_task *deps, uint32_t n, session_task *end) {
  cudaError_t r = join_nodes(c, s, deps, n, end);
  for (;;) {
    if (r == cudaSuccess) r = cudart_wait(c, *end);
    if (r != cudaSuccess) return r;
    const uint32_t *p = simt_mem_at(c->simt, op->u.conditional.handle, sizeof *p);
    if (!p) return cudaErrorInvalidValue;
    uint32_t v = *p, which = op->u.conditional.kind == CONDITION_SWITCH ? v : !v;
    if (which >= op->u.conditional.count || c->sticky) return cudaSuccess;
    r = submit_nodes(c, op->u.conditional.bodies[which], s, NULL, 0, end);
    if (r != cudaSuccess || op->u.conditional.kind != CONDITION_WHILE) return r;
  }
}

static cudaError_t submit_nodes(struct cudart *c, struct cuda_graph *g, struct cuda_stream *s, const session_task *deps,
                                uint32_t n, session_task *end) {
  struct cuda_node **order = graph_order(g);
  if (!order) return cudaErrorInvalidValue;
  cudaError_t r = cudaSuccess;
  session_task *wait = mem_alloc((g->count + n + 1) * sizeof *wait);
  for (uint32_t i = 0; i < g->count && r == cudaSuccess && !c->sticky; i++) {
    struct cuda_node *m = order[i];
    uint32_t w = 0;
    for (uint32_t d = 0; d < m->dep_count; d++) wait[w++] = m->deps[d]->task;
    for (uint32_t d = 0; d < n && !m->dep_count; d++) wait[w++] = deps[d];
    if (m->op.kind == OP_CHILD && !m->disabled) {
      r = submit_nodes(c, m->op.u.child, s, wait, w, &m->task);
    } else if (m->op.kind == OP_CONDITIONAL && !m->disabled) {
      r = conditional(c, &m->op, s, wait, w, &m->task);
    } else {
      struct cuda_op op = {.kind = OP_EMPTY};
      if (!m->disabled) op = m->op;
      r = cudart_check_op(c, &op);
      if (r == cudaSuccess) r = cudart_enqueue(c, &op, s, wait, w, &m->task);
      if (r == cudaSuccess && op.kind == OP_RECORD) op.u.event->recorded = true;
    }
  }
  uint32_t all = 0; /* every node; finished ones are free */
  for (uint32_t i = 0; i < g->count && r == cudaSuccess; i++) wait[all++] = order[i]->task;
  for (uint32_t d = 0; d < n && !g->count; d++) wait[all++] = deps[d];
  if (r == cudaSuccess && !c->sticky) r = join_nodes(c, s, wait, all, end);
  free(wait);
  free(order);
  return r;
}

cudaError_t graph_submit(struct cudart *c, struct cuda_graph *g, struct cuda_stream *s, const session_task *deps,
                         uint32_t n, session_task *end) {
  /* A graph does not overlap with itself. */
  session_task *all = mem_alloc((n + 1) * sizeof *all);
  if (n) memcpy(all, deps, n * sizeof *all);
  all[n] = g->end;
  cudaError_t r = cudaSuccess;
  if (g->conditions) { /* that launch may still read the old values */
    session_task before = 0;
    r = join_nodes(c, s, all, n + 1, &before);
    if (r == cudaSuccess) r = cudart_wait(c, before);
    if (r == cudaSuccess) assign_conditions(c, g);
  }
  if (r == cudaSuccess) r = submit_nodes(c, g, s, all, n + 1, end);
  if (r == cudaSuccess) g->end = *end;
  free(all);
  return r;
}
