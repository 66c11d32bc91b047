/* queue.h - operations of streams, queued and executed when the host waits. */
#ifndef CUDART_CORE_QUEUE_H
#define CUDART_CORE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/abi.h"
#include "cudart/core/copies.h"
#include "cudart/core/launches.h"
#include "session/session.h"

struct cudart;
struct cuda_stream;

enum cuda_op_kind {
  /* numbered as cudaGraphNodeType */
  OP_KERNEL,
  OP_COPY,
  OP_SET,
  OP_HOST,
  OP_CHILD,
  OP_EMPTY,
  OP_WAIT,
  OP_RECORD,
  OP_SIGNAL, /* an external semaphore */
  OP_AWAIT,
  OP_ALLOC = 10,
  OP_FREE = 11,
  OP_CONDITIONAL = 13,
  OP_CALLBACK = 100 /* cudaStreamAddCallback: never in a graph */
};
enum cuda_condition_kind { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH };
struct cuda_op {
  enum cuda_op_kind kind;
  union {
    struct cuda_launch launch;
    struct cuda_copy copy;
    struct cuda_set set;
    struct {
      cudaHostFn_t fn;
      void *data;
    } host;
    struct {
      cudaStreamCallback_t fn;
      cudaStream_t stream;
      void *data;
    } callback;
    struct cuda_graph *child;
    struct cuda_event *event;
    struct {
      uint64_t ptr, bytes;
    } mem;
    struct {
      struct cuda_semaphore *on;
      uint64_t value; /* of a timeline */
    } semaphore;
    struct {
      uint64_t handle;
      enum cuda_condition_kind kind;
      uint32_t count;
      struct cuda_graph **bodies; /* owned */
    } conditional;
  } u;
};

/* Run the queue until the task has ended; until all have. An error: of a launch that failed since the last wait. */
cudaError_t cudart_wait(struct cudart *c, session_task t);
cudaError_t cudart_drain(struct cudart *c);
cudaError_t cudart_poll(struct cudart *c, session_task t); /* cudaErrorNotReady: not yet */
/* The last task submitted to `s` so far. */
session_task cudart_last_of(struct cudart *c, struct cuda_stream *s);
/* Work submitted to `s` from now on also waits for `other`. */
void cudart_join(struct cudart *c, struct cuda_stream *s, session_task other);
/* A stream is destroyed: the default stream still waits for its last task. */
void cudart_forget_stream(struct cudart *c, const struct cuda_stream *s);
/* Whether the operation could be done: cudaSuccess, or what is wrong with it. */
cudaError_t cudart_check_op(struct cudart *c, const struct cuda_op *op);
/* Queue one checked operation of stream `s`, after the tasks `deps`. */
cudaError_t cudart_enqueue(struct cudart *c, const struct cuda_op *op, struct cuda_stream *s, const session_task *deps,
                           uint32_t n, session_task *task);
/* The same after all that the stream has to do. */
cudaError_t cudart_enqueue_in(struct cudart *c, const struct cuda_op *op, struct cuda_stream *s);

#endif
