/* streams.c - operations in streams: carried out at once, or recorded while a stream is captured into a graph. */
#include "cudart/graphs.h"

#include <stdlib.h>
#include <string.h>

struct cuda_stream *cudart_stream(struct cudart *c, cudaStream_t s) {
  uintptr_t handle = (uintptr_t)s;
  if (handle <= 1) return &c->null_stream; /* default, cudaStreamLegacy */
  if (handle == 2) return &c->thread_stream;
  return ptrmap_get(&c->streams, handle);
}

struct cuda_event *cudart_event(struct cudart *c, cudaEvent_t e) {
  return ptrmap_get(&c->events, (uintptr_t)e);
}

cudaError_t cudart_run_op(struct cudart *c, const struct cuda_op *op) {
  switch (op->kind) {
  case OP_KERNEL:
    return cudart_launch(c, &op->u.launch);
  case OP_COPY:
    return cudart_copy(c, &op->u.copy);
  case OP_SET:
    return cudart_set(c, &op->u.set);
  case OP_HOST:
    op->u.host.fn(op->u.host.data);
    return cudaSuccess;
  case OP_CHILD:
    return graph_run(c, op->u.child);
  case OP_RECORD:
    op->u.event->recorded = true;
    op->u.event->capture = NULL;
    op->u.event->ns = session_time_ns(c->session);
    return cudaSuccess;
  case OP_CONDITIONAL:
    return graph_conditional(c, op);
  case OP_EMPTY:
  case OP_WAIT:
    return cudaSuccess;
  case OP_ALLOC:
    return cudaSuccess; /* its memory exists since the node was made */
  case OP_FREE:
    return cudaSuccess; /* released with the graph */
  }
  return cudaErrorInvalidValue;
}

static void drop_params(struct cuda_op *op) {
  if (op->kind == OP_KERNEL) free(op->u.launch.params);
}

static void append(struct cudart *c, struct cuda_stream *s, const struct cuda_op *op) {
  struct cuda_node *n = graph_add(c, s->capture, op);
  for (uint32_t i = 0; i < s->tails.count; i++) graph_depend(n, s->tails.node[i]);
  s->tails = (struct cuda_tails){.node = {n}, .count = 1};
}

cudaError_t cudart_submit(struct cudart *c, cudaStream_t handle, struct cuda_op *op) {
  struct cuda_stream *s = cudart_stream(c, handle);
  if (!s) {
    drop_params(op);
    return cudart_why(c, cudaErrorInvalidResourceHandle, "%p is not a stream", (void *)handle);
  }
  if (!s->capture) {
    cudaError_t r = cudart_run_op(c, op);
    drop_params(op);
    return r;
  }
  if (op->kind == OP_RECORD) { /* marks a place in the capture, makes no node */
    op->u.event->capture = s->capture;
    op->u.event->tails = s->tails;
    return cudaSuccess;
  }
  append(c, s, op);
  return cudaSuccess;
}

void cudart_join_capture(struct cudart *c, struct cuda_stream *s, const struct cuda_event *e) {
  if (!s->capture) {
    s->capture = e->capture;
    s->tails = e->tails;
    c->capturing++;
    return;
  }
  for (uint32_t i = 0; i < e->tails.count; i++) {
    bool known = false;
    for (uint32_t t = 0; t < s->tails.count; t++) known |= s->tails.node[t] == e->tails.node[i];
    if (known) continue;
    if (s->tails.count == MAX_TAILS) append(c, s, &(struct cuda_op){.kind = OP_EMPTY});
    s->tails.node[s->tails.count++] = e->tails.node[i];
  }
}

cudaError_t cudart_sync_allowed(struct cudart *c) {
  if (c->capturing)
    return cudart_why(c, cudaErrorStreamCaptureUnsupported, "waiting is not permitted while a stream is captured");
  return cudaSuccess;
}
