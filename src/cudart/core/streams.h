/* streams.h - streams and events, and their order. */
#ifndef CUDART_CORE_STREAMS_H
#define CUDART_CORE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/abi.h"
#include "session/session.h"

struct cudart;
struct cuda_copy;
struct cuda_graph;
struct cuda_node;
struct cuda_op;

/* Dependencies of the next captured node: the last one of its stream, and those joined by events. */
enum { MAX_TAILS = 16 };
struct cuda_tails {
  struct cuda_node *node[MAX_TAILS];
  uint32_t count;
};
struct cuda_stream {
  uint32_t flags;
  int priority;
  uint64_t id;
  session_task last;          /* submitted to it, 0: nothing */
  struct cuda_graph *capture; /* being captured into, or NULL */
  struct cuda_tails tails;
  bool origin; /* capture began here */
  bool into;   /* a graph of the program's, by cudaStreamBeginCaptureToGraph */
};
struct cuda_event {
  uint32_t flags;
  bool recorded;
  uint64_t ns;
  session_task task;          /* that records it */
  uint32_t pending;           /* records of it that are not executed yet */
  bool destroyed;             /* and is freed with the last of those */
  struct cuda_graph *capture; /* recorded in a capturing stream */
  struct cuda_tails tails;
};

struct cuda_stream *cudart_stream(struct cudart *c, cudaStream_t s); /* NULL: not a stream */
struct cuda_stream *cudart_thread_stream(struct cudart *c);          /* the calling thread's own */
struct cuda_event *cudart_event(struct cudart *c, cudaEvent_t e);
/* Queue `op`, or append it to the graph being captured. Takes over op's parameter block. */
cudaError_t cudart_submit(struct cudart *c, cudaStream_t s, struct cuda_op *op);
/* The same, and wait until it is done. */
cudaError_t cudart_submit_wait(struct cudart *c, cudaStream_t s, struct cuda_op *op);
/* A copy of an asynchronous or a synchronous call. */
enum cuda_when { WHEN_QUEUED, WHEN_DONE };
cudaError_t cudart_submit_copy(struct cudart *c, cudaStream_t s, const struct cuda_copy *k, enum cuda_when when);
void cudart_event_free(struct cuda_event *e);
/* Common part of the runtime's and driver's calls on a stream or event. */
cudaError_t cudart_stream_wait(struct cudart *c, cudaStream_t stream, bool ask);
cudaError_t cudart_event_wait(struct cudart *c, cudaEvent_t event, bool ask);
cudaError_t cudart_stream_wait_event(struct cudart *c, cudaStream_t stream, cudaEvent_t event);
cudaError_t cudart_elapsed(struct cudart *c, float *ms, cudaEvent_t start, cudaEvent_t end);

/* Let work captured later in `s` wait for `e`; a stream that was not captured joins the capture. */
void cudart_join_capture(struct cudart *c, struct cuda_stream *s, const struct cuda_event *e);
/* For a waiting call: an error during capture. */
cudaError_t cudart_sync_allowed(struct cudart *c);

#endif
