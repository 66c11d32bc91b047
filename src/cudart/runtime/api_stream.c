/* api_stream.c - streams, events with simulated time, callbacks, and stream capture. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "cudart/runtime/api.h"

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  CUDART_ENTER_ASYNC();
  if (!stream || flags > STREAM_NON_BLOCKING) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_stream *s = mem_zeroed(1, sizeof *s);
  *s = (struct cuda_stream){.flags = flags, .id = ++c->next_id};
  s->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  ptrmap_put(&c->streams, (uintptr_t)s, s);
  c->lazy = true;
  *stream = s;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = ptrmap_remove(&c->streams, (uintptr_t)stream);
  if (!s) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  if (s->capture) c->capturing--;
  cudart_forget_stream(c, s);
  free(s);
  return cudart_leave(c, cudaSuccess);
}
ALIAS(cudaStreamDestroy, _v5050);

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, cudart_stream_wait(c, stream, false));
}
PTSZ(cudaStreamSynchronize);

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  cudaError_t r = cudart_stream_wait(c, stream, true);
  return r == cudaErrorNotReady ? cudart_leave_with(c, r) : cudart_leave(c, r);
}
PTSZ(cudaStreamQuery);

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || !flags) return cudart_leave(c, s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *flags = s->flags;
  return cudart_leave(c, cudaSuccess);
}
PTSZ(cudaStreamGetFlags);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || !priority) return cudart_leave(c, s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *priority = s->priority;
  return cudart_leave(c, cudaSuccess);
}
PTSZ(cudaStreamGetPriority);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || !id) return cudart_leave(c, s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *id = s->id;
  return cudart_leave(c, cudaSuccess);
}
PTSZ(cudaStreamGetId);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
  CUDART_ENTER_ASYNC();
  if (!cudart_stream(c, stream) || !device) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  *device = 0;
  return cudart_leave(c, cudaSuccess);
}
PTSZ(cudaStreamGetDevice);

static cudaError_t known_stream(cudaStream_t stream) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, cudart_stream(c, stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* Access-policy windows and the like: hints without effect. */
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int attribute, const void *value) {
  (void)attribute, (void)value;
  return known_stream(stream);
}
PTSZ(cudaStreamSetAttribute);

enum { STREAM_ATTRIBUTE_BYTES = 64 };

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int attribute, void *value) {
  (void)attribute;
  if (value) memset(value, 0, STREAM_ATTRIBUTE_BYTES);
  return known_stream(stream);
}
PTSZ(cudaStreamGetAttribute);

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  cudaError_t r = known_stream(to);
  return r ? r : known_stream(from);
}
PTSZ(cudaStreamCopyAttributes);

/* ---- work of the host in a stream ---- */

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *data) {
  CUDART_ENTER_ASYNC();
  if (!fn) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_op op = {.kind = OP_HOST, .u.host = {.fn = fn, .data = data}};
  return cudart_leave(c, cudart_submit(c, stream, &op));
}
PTSZ(cudaLaunchHostFunc);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t fn, void *data, unsigned flags) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!fn || flags) return cudart_leave(c, cudaErrorInvalidValue);
  if (!s) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  if (s->capture) return cudart_leave(c, cudaErrorStreamCaptureUnsupported);
  struct cuda_op op = {.kind = OP_CALLBACK, .u.callback = {.fn = fn, .stream = stream, .data = data}};
  return cudart_leave(c, cudart_submit(c, stream, &op));
}
PTSZ(cudaStreamAddCallback);

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  CUDART_ENTER_ASYNC();
  if (!event || flags > 7) return cudart_leave(c, cudaErrorInvalidValue);
  struct cuda_event *e = mem_zeroed(1, sizeof *e);
  e->flags = flags;
  ptrmap_put(&c->events, (uintptr_t)e, e);
  *event = e;
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  CUDART_ENTER_ASYNC();
  struct cuda_event *e = ptrmap_remove(&c->events, (uintptr_t)event);
  bool known = e != NULL;
  cudart_event_free(e);
  return cudart_leave(c, known ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  (void)flags;
  CUDART_ENTER_ASYNC();
  struct cuda_event *e = cudart_event(c, event);
  if (!e) return cudart_leave(c, cudaErrorInvalidResourceHandle);
  struct cuda_op op = {.kind = OP_RECORD, .u.event = e};
  return cudart_leave(c, cudart_submit(c, stream, &op));
}
PTSZ(cudaEventRecordWithFlags);

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
PTSZ(cudaEventRecord);

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, cudart_event_wait(c, event, false));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  CUDART_ENTER_ASYNC();
  cudaError_t r = cudart_event_wait(c, event, true);
  return r == cudaErrorNotReady ? cudart_leave_with(c, r) : cudart_leave(c, r);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, cudart_elapsed(c, ms, start, end));
}
ALIAS(cudaEventElapsedTime, _v2);

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  (void)flags;
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, cudart_stream_wait_event(c, stream, event));
}
PTSZ(cudaStreamWaitEvent);

/* ---- capture ---- */

static cudaError_t begin_capture(struct cudart *c, cudaStream_t stream, struct cuda_graph *g) {
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s) return cudaErrorInvalidResourceHandle;
  if (s == &c->null_stream) return cudaErrorStreamCaptureUnsupported; /* the legacy stream cannot be captured */
  if (s->capture) return cudaErrorIllegalState;
  s->capture = g ? g : graph_new(c);
  s->tails.count = 0;
  s->origin = true;
  c->capturing++;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode) {
  (void)mode;
  CUDART_ENTER_ASYNC();
  return cudart_leave(c, begin_capture(c, stream, NULL));
}
PTSZ(cudaStreamBeginCapture);

static cudaError_t begin_into(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps, size_t count) {
  CUDART_ENTER_ASYNC();
  struct cuda_graph *g = ptrmap_get(&c->graphs, (uintptr_t)graph);
  bool good = g && (deps || !count) && count <= MAX_TAILS;
  for (size_t i = 0; good && i < count; i++) good = ptrmap_get(&c->nodes, (uintptr_t)deps[i]) && deps[i]->graph == g;
  cudaError_t r = good ? begin_capture(c, stream, g) : cudaErrorInvalidValue;
  if (r != cudaSuccess) return cudart_leave(c, r);
  struct cuda_stream *s = cudart_stream(c, stream);
  s->into = true;
  for (size_t i = 0; i < count; i++) s->tails.node[s->tails.count++] = deps[i];
  return cudart_leave(c, cudaSuccess);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *deps,
                                          const void *edges, size_t count, int mode) {
  (void)edges, (void)mode;
  return begin_into(stream, graph, deps, count);
}
PTSZ(cudaStreamBeginCaptureToGraph);

static cudaError_t update_tails(cudaStream_t stream, cudaGraphNode_t *deps, size_t count, unsigned flags) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || !s->capture || (count && !deps) || flags > 1)
    return cudart_leave(c, s && !s->capture ? cudaErrorIllegalState : cudaErrorInvalidValue);
  uint32_t n = flags ? 0 : s->tails.count; /* 0 adds, 1 replaces */
  if (n + count > MAX_TAILS) return cudart_leave(c, cudaErrorInvalidValue);
  for (size_t i = 0; i < count; i++) s->tails.node[n + i] = deps[i];
  s->tails.count = n + (uint32_t)count;
  return cudart_leave(c, cudaSuccess);
}

#if CUDART_MAJOR >= 13
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *deps, const void *edges,
                                                size_t count, unsigned flags) {
  (void)edges;
  return update_tails(stream, deps, count, flags);
}
#else
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *deps, size_t count,
                                                unsigned flags) {
  return update_tails(stream, deps, count, flags);
}

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *deps, const void *edges,
                                                   size_t count, unsigned flags) {
  (void)edges;
  return update_tails(stream, deps, count, flags);
}
PTSZ(cudaStreamUpdateCaptureDependencies_v2);
#endif
PTSZ(cudaStreamUpdateCaptureDependencies);

static bool reached(const struct cuda_stream *s, const struct cuda_node *n) {
  for (uint32_t i = 0; i < s->tails.count; i++)
    if (s->tails.node[i] == n) return true;
  return false;
}

/* Every captured node must lead to the origin stream's end: forked work must have been joined. */
static bool joined(const struct cuda_stream *s, struct cuda_graph *g) {
  for (struct cuda_node *n = g->nodes; n; n = n->next) n->mark = 0;
  for (struct cuda_node *n = g->nodes; n; n = n->next)
    for (uint32_t i = 0; i < n->dep_count; i++) n->deps[i]->mark = 1;
  for (struct cuda_node *n = g->nodes; n; n = n->next)
    if (!n->mark && !reached(s, n)) return false;
  return true;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || (!graph && !s->into)) return cudart_leave(c, cudaErrorInvalidValue);
  if (graph) *graph = NULL;
  if (!s->capture) return cudart_leave(c, cudaErrorIllegalState);
  if (!s->origin) return cudart_leave(c, cudaErrorStreamCaptureUnmatched);
  struct cuda_graph *g = s->capture;
  bool whole = joined(s, g);
  for (uint32_t i = 0; i < c->streams.capacity; i++) {
    struct cuda_stream *t = c->streams.slots[i].value;
    if (!t || t->capture != g) continue;
    t->capture = NULL;
    t->origin = false;
    c->capturing--;
  }
  for (uint32_t i = 0; i < c->events.capacity; i++) {
    struct cuda_event *e = c->events.slots[i].value;
    if (e && e->capture == g) e->capture = NULL;
  }
  bool own = !s->into; /* a graph of the program is not replaced */
  s->into = false;
  if (whole && graph) *graph = g;
  if (!whole && own) graph_free(c, g);
  return cudart_leave(c, whole ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
}
PTSZ(cudaStreamEndCapture);

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || !status) return cudart_leave(c, s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *status = s->capture != NULL;
  return cudart_leave(c, cudaSuccess);
}
PTSZ(cudaStreamIsCapturing);

static cudaError_t capture_info(cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
                                const cudaGraphNode_t **deps, size_t *count) {
  CUDART_ENTER_ASYNC();
  struct cuda_stream *s = cudart_stream(c, stream);
  if (!s || !status) return cudart_leave(c, s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *status = s->capture != NULL;
  if (id) *id = s->capture ? (uintptr_t)s->capture : 0;
  if (graph) *graph = s->capture;
  if (deps) *deps = s->tails.node;
  if (count) *count = s->capture ? s->tails.count : 0;
  return cudart_leave(c, cudaSuccess);
}

#if CUDART_MAJOR >= 13
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **deps, const void **edges, size_t *count) {
  if (edges) *edges = NULL;
  return capture_info(stream, status, id, graph, deps, count);
}
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status, unsigned long long *id) {
  return capture_info(stream, status, id, NULL, NULL, NULL);
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **deps, size_t *count) {
  return capture_info(stream, status, id, graph, deps, count);
}
PTSZ(cudaStreamGetCaptureInfo_v2);

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **deps, const void **edges, size_t *count) {
  if (edges) *edges = NULL;
  return capture_info(stream, status, id, graph, deps, count);
}
PTSZ(cudaStreamGetCaptureInfo_v3);
#endif
PTSZ(cudaStreamGetCaptureInfo);

cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode) {
  CUDART_ENTER_ASYNC();
  if (!mode) return cudart_leave(c, cudaErrorInvalidValue);
  int was = c->capture_mode;
  c->capture_mode = *mode;
  *mode = was;
  return cudart_leave(c, cudaSuccess);
}
