/* queue.c - operations of streams as work of the session: dependencies, execution, and the host's waits.
 *
 * A stream is an in-order queue: an operation names the one before it. The legacy default stream waits for all
 * blocking streams, and they for it (CUDA Runtime API, "Stream synchronization behavior"). Calls that are asynchronous
 * in CUDA return before the work is done; it is done when the host waits. Until the program creates a stream nothing
 * can overlap, and every operation is executed at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cudart/core/queue.h"
#include "cudart/core/clusters.h"
#include "cudart/core/copies.h"
#include "cudart/core/external.h"
#include "cudart/core/graphs.h"
#include "cudart/core/launches.h"
#include "cudart/core/minder.h"
#include "cudart/core/modules.h"
#include "cudart/core/streams.h"

enum { POLL_FIRST_NS = 1000, POLL_MOST_NS = 1000000 };
enum { LOOK_NS = 1000000, SAY_AFTER_LOOKS = 10000 }; /* for external semaphores: each millisecond, after ten seconds */

struct work {
  struct cudart *c;
  struct cuda_op op;
  void *staged;
};

/* ---- the host waits ---- */

/* Results of the work executed since the last wait. */
static cudaError_t outcome(struct cudart *c, bool good, int code, const struct err *e) {
  cudaError_t late = c->late;
  c->late = cudaSuccess;
  if (good) return late;
  if (e->code != ERR_PROGRAM && e->code != ERR_STUCK) cudart_die(c, e);
  if (e->code == ERR_STUCK) code = cudaErrorLaunchTimeout;
  cudart_fault(c, code ? code : cudaErrorLaunchFailure, e);
  return c->sticky;
}

/* Work waits for an external semaphore, which another thread may signal. */
static void let_others(struct cudart *c) {
  bool per_thread = c->per_thread;
  uint32_t depth = c->depth;
  c->depth = 0;
  pthread_mutex_unlock(&c->lock);
  nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
  pthread_mutex_lock(&c->lock);
  c->depth = depth;
  c->calls++; /* the call continues */
  c->per_thread = per_thread;
}

cudaError_t cudart_wait(struct cudart *c, session_task t) {
  struct err e = {0};
  int code = 0;
  if (c->in_call) return cudaErrorNotPermitted;
  if (!c->session || c->closed) return cudaSuccess;
  c->poll_ns = POLL_FIRST_NS;
  fflush(stdout); /* keeps the order of host and kernel output */
  bool good = session_wait(c->session, t, &code, &e);
  for (uint32_t looks = 1; good && !session_done(c->session, t) && !c->closing; looks++) {
    if (looks == SAY_AFTER_LOOKS) cudart_why(c, cudaSuccess, "still waiting for an external semaphore");
    let_others(c);
    if (c->closed || c->sticky) return c->sticky;
    good = session_wait(c->session, t, &code, &e);
  }
  return outcome(c, good, code, &e);
}

cudaError_t cudart_drain(struct cudart *c) {
  return c->in_call || !c->session || (session_done(c->session, SESSION_ALL) && !c->late) ? cudaSuccess
                                                                                          : cudart_wait(c, SESSION_ALL);
}

/* Query whether `t` has ended. Host time is not simulated; each query grants some simulated time, more for consecutive
 * queries, so polling programs make progress. */
cudaError_t cudart_poll(struct cudart *c, session_task t) {
  struct err e = {0};
  int code = 0;
  if (session_done(c->session, t)) return outcome(c, true, 0, &e);
  if (c->in_call) return cudaErrorNotReady;
  fflush(stdout);
  if (!c->poll_ns) c->poll_ns = POLL_FIRST_NS;
  bool good = session_advance(c->session, c->poll_ns, &code, &e);
  if (c->poll_ns < POLL_MOST_NS) c->poll_ns *= 2;
  cudaError_t r = outcome(c, good, code, &e);
  return r ? r : session_done(c->session, t) ? cudaSuccess : cudaErrorNotReady;
}

/* ---- what waits for what ---- */

static bool blocking(const struct cuda_stream *s) {
  return !(s->flags & STREAM_NON_BLOCKING);
}

/* The dependencies of work submitted to `s` now; the caller frees the list. */
static session_task *waits_of(struct cudart *c, const struct cuda_stream *s, uint32_t *n) {
  session_task *t = mem_alloc((c->streams.used + c->orphans + 3) * sizeof *t);
  *n = 0;
  t[(*n)++] = s->last;
  if (s != &c->null_stream) {
    if (blocking(s)) t[(*n)++] = c->null_stream.last;
    return t;
  }
  for (uint32_t i = 0; i < c->streams.capacity; i++) {
    const struct cuda_stream *o = c->streams.slots[i].value;
    if (o && blocking(o)) t[(*n)++] = o->last;
  }
  for (uint32_t i = 0; i < c->orphans; i++) t[(*n)++] = c->orphan[i];
  return t;
}

session_task cudart_last_of(struct cudart *c, struct cuda_stream *s) {
  if (s != &c->null_stream && !(blocking(s) && !s->last)) return s->last;
  uint32_t n;
  session_task *t = waits_of(c, s, &n);
  session_task join = session_submit(c->session, &(struct session_item){.kind = SESSION_CALL}, t, n);
  free(t);
  return s->last = join;
}

void cudart_join(struct cudart *c, struct cuda_stream *s, session_task other) {
  uint32_t n;
  session_task *t = waits_of(c, s, &n);
  t[n++] = other; /* waits_of leaves room for one more */
  s->last = session_submit(c->session, &(struct session_item){.kind = SESSION_CALL}, t, n);
  free(t);
}

void cudart_forget_stream(struct cudart *c, const struct cuda_stream *s) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->orphans; i++)
    if (!session_done(c->session, c->orphan[i])) c->orphan[kept++] = c->orphan[i];
  c->orphans = kept;
  if (!blocking(s) || session_done(c->session, s->last)) return;
  c->orphan = mem_resize(c->orphan, kept + 1, sizeof *c->orphan);
  c->orphan[c->orphans++] = s->last;
}

/* ---- carrying out ---- */

static void recorded(struct cudart *c, struct cuda_event *e) {
  e->ns = session_time_ns(c->session);
  if (!--e->pending && e->destroyed) free(e);
}

static void carry_out(void *ctx) {
  struct work *w = ctx;
  struct cudart *c = w->c;
  cudaError_t r = cudaSuccess;
  bool per_thread = c->per_thread;
  c->in_call = true;
  switch (w->op.kind) {
  case OP_COPY:
    r = cudart_copy(c, &w->op.u.copy);
    break;
  case OP_SET:
    r = cudart_set(c, &w->op.u.set);
    break;
  case OP_HOST:
    w->op.u.host.fn(w->op.u.host.data);
    break;
  case OP_CALLBACK:
    w->op.u.callback.fn(w->op.u.callback.stream, cudaSuccess, w->op.u.callback.data);
    break;
  case OP_SIGNAL:
    r = external_semaphore_signal(c, w->op.u.semaphore.on, w->op.u.semaphore.value);
    break;
  case OP_RECORD:
    recorded(c, w->op.u.event);
    w->op.u.event = NULL;
    break;
  default:
    break;
  }
  c->in_call = false;
  c->per_thread = per_thread;
  if (r && !c->late) c->late = r;
}

static bool signalled(void *ctx) {
  const struct work *w = ctx;
  return external_semaphore_take(w->op.u.semaphore.on, w->op.u.semaphore.value);
}

static void release_op(void *ctx) {
  struct work *w = ctx;
  if (w->op.kind == OP_RECORD && w->op.u.event) { /* never executed: an earlier launch failed */
    struct cuda_event *e = w->op.u.event;
    if (!--e->pending && e->destroyed) free(e);
  }
  free(w->staged);
  free(w);
}

/* ---- submitting ---- */

enum side { ON_DEVICE, PINNED, PAGEABLE };
static enum side resolve_side(struct cudart *c, const struct cuda_side *s) {
  if (s->array) return ON_DEVICE;
  const struct simt_alloc *a = simt_mem_find(c->simt, s->ptr);
  if (a) return a->kind == SIMT_MEM_HOST ? PINNED : ON_DEVICE;
  return cudart_find_registered(c, (void *)(uintptr_t)s->ptr) ? PINNED : PAGEABLE;
}

/* Pageable memory may be reused after the call returns: copy it now. */
static void stage(struct work *w) {
  struct cuda_copy *k = &w->op.u.copy;
  size_t rows = k->rows * k->slices, slice = k->src.pitch * k->src.rows;
  if (!k->bytes || !rows) return;
  char *to = w->staged = mem_alloc(k->bytes * rows);
  const char *from = (const char *)(uintptr_t)k->src.ptr + k->src.z * slice + k->src.y * k->src.pitch + k->src.x;
  for (size_t z = 0; z < k->slices; z++)
    for (size_t y = 0; y < k->rows; y++, to += k->bytes) memcpy(to, from + z * slice + y * k->src.pitch, k->bytes);
  k->src = (struct cuda_side){.ptr = (uintptr_t)w->staged, .pitch = k->bytes, .rows = k->rows};
}

cudaError_t cudart_check_op(struct cudart *c, const struct cuda_op *op) {
  switch (op->kind) {
  case OP_KERNEL:
    return cudart_check_launch(c, &op->u.launch);
  case OP_COPY:
    return cudart_check_copy(c, &op->u.copy);
  case OP_SET:
    return cudart_check_set(c, &op->u.set);
  default:
    return cudaSuccess;
  }
}

/* Registered host memory and cooperative grids need the machine for themselves. */
static bool in_clusters(const struct cuda_launch *l) {
  return l->cluster[0] || l->function->cluster[0] || l->function->info->in_clusters;
}

static bool alone(struct cudart *c, const struct cuda_op *op) {
  if (op->kind == OP_KERNEL && (op->u.launch.cooperative || in_clusters(&op->u.launch))) return true;
  for (const struct cuda_registered *r = c->registered; r; r = r->next)
    if (r->shadow && op->kind != OP_RECORD) return true;
  return false;
}

static session_task enqueue_launch(struct cudart *c, const struct cuda_launch *l, const struct cuda_stream *s,
                                   const session_task *deps, uint32_t n) {
  struct simt_launch launch = {.kernel = l->function->kernel, .dynamic_shared = l->shared, .params = l->params};
  if (l->cooperative) launch.grid_workspace = cudart_grid_workspace(c);
  memcpy(launch.grid, l->grid, sizeof launch.grid);
  memcpy(launch.block, l->block, sizeof launch.block);
  memcpy(launch.cluster, l->cluster, sizeof launch.cluster);
  cudart_resolve_cluster(c, l->function, launch.cluster); /* checked before */
  struct session_item item = {
      .kind = SESSION_LAUNCH, .stream = (uint32_t)s->id, .priority = s->priority, .launch = &launch};
  return session_submit(c->session, &item, deps, n);
}

/* True if the host must wait for `op` before its call returns. */
static bool waited_for(struct cudart *c, const struct cuda_op *op) {
  if (!c->lazy) return true;
  if (op->kind == OP_KERNEL) return c->launch_blocking;
  if (op->kind == OP_SIGNAL) return true; /* a waiter may be outside this library */
  if (op->kind != OP_COPY) return false;
  enum side src = resolve_side(c, &op->u.copy.src), dst = resolve_side(c, &op->u.copy.dst);
  return dst == PAGEABLE || (src == PAGEABLE && dst == PINNED);
}

cudaError_t cudart_enqueue(struct cudart *c, const struct cuda_op *op, struct cuda_stream *s, const session_task *deps,
                           uint32_t n, session_task *task) {
  bool by_itself = alone(c, op);
  cudaError_t r = by_itself ? cudart_drain(c) : cudaSuccess;
  if (r != cudaSuccess) return r;
  if (op->kind == OP_KERNEL) {
    if (by_itself) cudart_sync_registered(c, true);
    *task = enqueue_launch(c, &op->u.launch, s, deps, n);
  } else {
    struct work *w = mem_zeroed(1, sizeof *w);
    *w = (struct work){.c = c, .op = *op};
    if (op->kind == OP_COPY && c->lazy && !waited_for(c, op) && resolve_side(c, &op->u.copy.src) == PAGEABLE) stage(w);
    if (op->kind == OP_RECORD) op->u.event->pending++;
    struct session_item item = {.kind = SESSION_CALL, .ctx = w, .call = carry_out, .release = release_op};
    if (op->kind == OP_AWAIT) item.ready = signalled;
    *task = session_submit(c->session, &item, deps, n);
    if (op->kind == OP_RECORD) op->u.event->task = *task;
  }
  if (!by_itself && !waited_for(c, op)) {
    cudart_mind(c);
    return cudaSuccess;
  }
  r = cudart_wait(c, *task);
  if (by_itself && op->kind == OP_KERNEL && !c->sticky) cudart_sync_registered(c, false);
  /* Launches are asynchronous: the next call reports a kernel's error, as do all later ones. */
  return op->kind == OP_KERNEL && c->sticky ? cudaSuccess : r;
}

/* Submit to a stream work that depends on everything before it. */
cudaError_t cudart_enqueue_in(struct cudart *c, const struct cuda_op *op, struct cuda_stream *s) {
  uint32_t n;
  session_task task = 0;
  if (c->in_call) return cudaErrorNotPermitted;
  session_task *deps = waits_of(c, s, &n);
  cudaError_t r =
      op->kind == OP_CHILD ? graph_submit(c, op->u.child, s, deps, n, &task) : cudart_enqueue(c, op, s, deps, n, &task);
  if (task) s->last = task;
  free(deps);
  return r;
}
