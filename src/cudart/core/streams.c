/* streams.c - operations in streams: queued, or captured into a graph; the host's waits for streams and events. */
#include "cudart/core/streams.h"
#include "cudart/core/graphs.h"
#include "cudart/core/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- the streams that threads have of their own ---- */

struct own_stream {
  struct cudart *c;
  struct cuda_stream *stream;
  uint32_t epoch;
};

/* End of a thread: work left in its stream is awaited like that of a destroyed stream. */
static void thread_ended(void *ctx) {
  struct own_stream *own = ctx;
  struct cudart *c = own->c;
  pthread_mutex_lock(&c->lock);
  if (own->epoch == c->epoch && !c->closed && ptrmap_remove(&c->streams, (uintptr_t)own->stream)) {
    cudart_forget_stream(c, own->stream);
    free(own->stream);
  }
  pthread_mutex_unlock(&c->lock);
  free(own);
}

struct cuda_stream *cudart_thread_stream(struct cudart *c) {
  if (!c->thread_streams) CHECK(pthread_key_create(&c->thread_key, thread_ended) == 0, "no thread-specific data left");
  struct own_stream *own = c->thread_streams ? pthread_getspecific(c->thread_key) : NULL;
  if (own && own->epoch == c->epoch) return own->stream;
  if (!own) own = mem_zeroed(1, sizeof *own);
  struct cuda_stream *s = mem_zeroed(1, sizeof *s);
  s->id = c->thread_streams++ ? ++c->next_id : 1;
  *own = (struct own_stream){.c = c, .stream = s, .epoch = c->epoch};
  pthread_setspecific(c->thread_key, own);
  ptrmap_put(&c->streams, (uintptr_t)s, s);
  return s;
}

struct cuda_stream *cudart_stream(struct cudart *c, cudaStream_t s) {
  uintptr_t handle = (uintptr_t)s;
  if (handle == 2 || (handle == 0 && c->per_thread)) return cudart_thread_stream(c); /* cudaStreamPerThread */
  if (handle <= 1) return &c->null_stream;                                           /* default, cudaStreamLegacy */
  return ptrmap_get(&c->streams, handle);
}

struct cuda_event *cudart_event(struct cudart *c, cudaEvent_t e) {
  return ptrmap_get(&c->events, (uintptr_t)e);
}

static void drop_params(struct cuda_op *op) {
  if (op->kind == OP_KERNEL) free(op->u.launch.params);
}

static void append_op(struct cudart *c, struct cuda_stream *s, const struct cuda_op *op) {
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
    if (s != &c->null_stream) c->lazy = true;
    cudaError_t r = cudart_check_op(c, op);
    if (r == cudaSuccess) r = cudart_enqueue_in(c, op, s);
    if (r == cudaSuccess && op->kind == OP_RECORD) op->u.event->recorded = true, op->u.event->capture = NULL;
    drop_params(op);
    return r;
  }
  if (op->kind == OP_RECORD) { /* marks a position in the capture, not a node */
    op->u.event->capture = s->capture;
    op->u.event->tails = s->tails;
    return cudaSuccess;
  }
  append_op(c, s, op);
  return cudaSuccess;
}

cudaError_t cudart_submit_wait(struct cudart *c, cudaStream_t handle, struct cuda_op *op) {
  cudaError_t r = cudart_submit(c, handle, op);
  struct cuda_stream *s = cudart_stream(c, handle);
  return r == cudaSuccess && !s->capture ? cudart_wait(c, s->last) : r;
}

cudaError_t cudart_submit_copy(struct cudart *c, cudaStream_t stream, const struct cuda_copy *k, enum cuda_when when) {
  struct cuda_op op = {.kind = OP_COPY, .u.copy = *k};
  if (when == WHEN_QUEUED) return cudart_submit(c, stream, &op);
  cudaError_t r = cudart_sync_allowed(c);
  return r == cudaSuccess ? cudart_submit_wait(c, stream, &op) : r;
}

/* ---- waits of the host ---- */

cudaError_t cudart_stream_wait(struct cudart *c, cudaStream_t stream, bool ask) {
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s) return cudaErrorInvalidResourceHandle;
  if (s->capture) return cudaErrorStreamCaptureUnsupported;
  if (c->in_call) return cudaErrorNotPermitted;
  return ask ? cudart_poll(c, cudart_last_of(c, s)) : cudart_wait(c, cudart_last_of(c, s));
}

cudaError_t cudart_event_wait(struct cudart *c, cudaEvent_t event, bool ask) {
  struct cuda_event *e = cudart_event(c, event);
  if (!e) return cudaErrorInvalidResourceHandle;
  if (e->capture) return cudaErrorCapturedEvent;
  return ask ? cudart_poll(c, e->task) : cudart_wait(c, e->task);
}

cudaError_t cudart_stream_wait_event(struct cudart *c, cudaStream_t stream, cudaEvent_t event) {
  struct cuda_stream *s = cudart_stream(c, stream);
  struct cuda_event *e = cudart_event(c, event);
  if (!s || !e) return cudaErrorInvalidResourceHandle;
  if (e->capture) {
    if (s->capture && s->capture != e->capture) return cudaErrorStreamCaptureMerge;
    cudart_join_capture(c, s, e);
  } else if (s->capture) {
    return cudaErrorStreamCaptureIsolation;
  } else if (!session_done(c->session, e->task)) {
    cudart_join(c, s, e->task);
  }
  return cudaSuccess;
}

/* Milliseconds of simulated GPU time. */
cudaError_t cudart_elapsed(struct cudart *c, float *ms, cudaEvent_t start, cudaEvent_t end) {
  struct cuda_event *a = cudart_event(c, start), *b = cudart_event(c, end);
  if (!ms) return cudaErrorInvalidValue;
  if (!a || !b || !a->recorded || !b->recorded || ((a->flags | b->flags) & EVENT_DISABLE_TIMING))
    return cudaErrorInvalidResourceHandle;
  if (!session_done(c->session, a->task) || !session_done(c->session, b->task)) return cudaErrorNotReady;
  *ms = (float)(((double)b->ns - (double)a->ns) / 1e6);
  return cudaSuccess;
}

void cudart_event_free(struct cuda_event *e) {
  if (e && e->pending) e->destroyed = true;
  else free(e);
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
    if (s->tails.count == MAX_TAILS) append_op(c, s, &(struct cuda_op){.kind = OP_EMPTY});
    s->tails.node[s->tails.count++] = e->tails.node[i];
  }
}

cudaError_t cudart_sync_allowed(struct cudart *c) {
  if (c->capturing)
    return cudart_why(c, cudaErrorStreamCaptureUnsupported, "waiting is not permitted while a stream is captured");
  return cudaSuccess;
}
