/* context.c - the one CUDA context of a process: lock, error state, start and end of the session.
 *
 * The contract with `sluice run` is a private directory named by SLUICE_DIR: `alive` marks that a program reached this
 * library, `error.txt` and `error.code` report an error, `process-N` and the files beside it hold the counters.
 * Without it the library uses the environment's defaults and only prints.
 */
#include "cudart/core/context.h"
#include "cudart/core/imports.h"
#include "cudart/core/modules.h"
#include "cudart/core/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/heap.h"
#include "base/text.h"

enum {
  WHY_LINES = 64,       /* explanations printed at most */
  END_WAITS_SECONDS = 2 /* wait for a call of another thread */
};

/* The library is loaded once per process and its C interface has no handle: this is its state. */
static struct cudart the_context = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
static __thread cudaError_t last_error;
__thread int cudart_by_thread __attribute__((tls_model("initial-exec"), visibility("default"), used));

static const struct error_row {
  int value;
  const char *name, *driver, *text;
} error_rows[] = {
#define CUDA_ERROR_ROW(value, name, driver, text) {value, "cuda" #name, driver, text},
#include "cudart/core/errors.def"
#undef CUDA_ERROR_ROW
};

static const struct error_row *find_error(cudaError_t r) {
  for (size_t i = 0; i < sizeof error_rows / sizeof *error_rows; i++)
    if (error_rows[i].value == r) return &error_rows[i];
  return NULL;
}

const char *cudart_error_text(cudaError_t r) {
  const struct error_row *row = find_error(r);
  return row ? row->text : "unrecognized error code";
}

const char *cudart_error_name(cudaError_t r) {
  const struct error_row *row = find_error(r);
  return row ? row->name : "unrecognized error code";
}

/* "CUDA_ERROR_INVALID_VALUE"; NULL if the driver API has no such code. */
const char *cudart_driver_error_name(cudaError_t r) {
  static const char *const prefixed[] = {
#define CUDA_ERROR_ROW(value, name, driver, text) "CUDA_" driver,
#include "cudart/core/errors.def"
#undef CUDA_ERROR_ROW
  };
  const struct error_row *row = find_error(r);
  return row && *row->driver ? prefixed[row - error_rows] : NULL;
}

const char *cudart_program(void) {
  return program_invocation_name ? program_invocation_name : "program";
}

static void put_file(struct cudart *c, const char *name, const char *text, bool keep) {
  char path[4096];
  if (!c->dir || snprintf(path, sizeof path, "%s/%s", c->dir, name) >= (int)sizeof path) return;
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (keep ? O_EXCL : O_TRUNC), 0666);
  if (fd < 0) return;
  size_t left = strlen(text);
  while (left) {
    ssize_t n = write(fd, text, left);
    if (n <= 0) break;
    text += n;
    left -= (size_t)n;
  }
  close(fd);
}

/* Keep the first error, which is the cause of later ones. */
static void leave_error(struct cudart *c, const struct err *e) {
  char code[16];
  snprintf(code, sizeof code, "%d\n", (int)e->code);
  put_file(c, "error.txt", e->msg, true);
  put_file(c, "error.code", code, true);
}

static int exit_code(enum err_code code) {
  switch (code) {
  case ERR_NONE:
    return 0;
  case ERR_USAGE:
  case ERR_INPUT:
    return 2;
  case ERR_UNSUPPORTED:
    return 3;
  case ERR_PROGRAM:
    return 4;
  case ERR_STUCK:
    return 5;
  case ERR_OUTPUT:
    return 8;
  case ERR_INTERNAL:
    break;
  }
  return 70;
}

static void print_error(const struct err *e) {
  fflush(stdout);
  text_say(stderr, "sluice: %s%s", e->msg, *e->msg && e->msg[strlen(e->msg) - 1] == '\n' ? "" : "\n");
  fflush(stderr);
}

void cudart_fault(struct cudart *c, cudaError_t r, const struct err *e) {
  print_error(e);
  leave_error(c, e);
  c->sticky = r;
}

void cudart_die(struct cudart *c, const struct err *e) {
  print_error(e);
  leave_error(c, e);
  cudart_close(c);
  fflush(NULL);
  _exit(exit_code(e->code));
}

cudaError_t cudart_why(struct cudart *c, cudaError_t r, const char *fmt, ...) {
  if (c->why_lines >= WHY_LINES) return r;
  c->why_lines++;
  struct err e;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(e.msg, sizeof e.msg, fmt, ap);
  va_end(ap);
  fflush(stdout);
  text_say(stderr, "sluice: %s\n", e.msg);
  if (c->why_lines == WHY_LINES) fputs("sluice: further explanations are left out\n", stderr);
  return r;
}

cudaError_t cudart_refuse(const char *call, const char *why) {
  struct cudart *c = cudart_enter();
  struct err e;
  err_set(&e, ERR_UNSUPPORTED, "%s called %s, which Sluice does not simulate: %s", cudart_program(), call, why);
  if (!getenv("SLUICE_ALLOW_REFUSED")) cudart_die(c, &e);
  return cudart_leave(c, cudart_why(c, cudaErrorNotSupported, "%s", e.msg));
}

/* A forked child uses CUDA: it continues with a copy of its parent's session and its own record. If the parent was
 * within a call when it forked, the copy is incomplete. */
static void go_on_as_child(struct cudart *c) {
  c->forked = false;
  c->process = getpid();
  put_file(c, "alive", "", false);
  if (!c->session || c->closed) return;
  cudart_why(c, cudaErrorInitializationError,
             "a forked child of %s uses the CUDA context of its parent%s: on a GPU every such call fails with "
             "cudaErrorInitializationError",
             cudart_program(), c->fork_busy ? ", which was within a call" : "");
  if (c->fork_busy) c->sticky = cudaErrorInitializationError, c->closed = true;
  else session_forked(c->session);
}

struct cudart *cudart_enter_quiet(void) {
  struct cudart *c = &the_context;
  pthread_mutex_lock(&c->lock);
  c->calls++;
  c->depth++;
  if (c->forked) go_on_as_child(c);
  if (!c->last_module) {
    c->last_module = &c->modules;
    c->next_id = 1;
    c->process = getpid();
    const char *dir = getenv("SLUICE_DIR");
    c->dir = dir && *dir ? dir : NULL;
    put_file(c, "alive", "", false);
    c->limits[LIMIT_STACK] = 1024;
    c->limits[LIMIT_PRINTF] = 1 << 20;
    c->limits[LIMIT_HEAP] = 8 << 20;
    c->limits[LIMIT_SYNC_DEPTH] = 2;
    c->limits[LIMIT_PENDING] = 2048;
    c->limits[LIMIT_L2_FETCH] = 64;
  }
  return c;
}

struct cudart *cudart_enter(void) {
  struct cudart *c = cudart_enter_quiet();
  c->per_thread = cudart_by_thread;
  cudart_by_thread = 0;
  if (c->closed && !c->sticky) c->sticky = cudaErrorCudartUnloading;
  if (!c->opened && !c->closed) {
    c->opened = true;
    struct err e = {0};
    c->session = session_open_from_env(&e);
    if (!c->session) cudart_die(c, &e);
    c->simt = session_simt(c->session);
    c->dev = session_device(c->session);
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    c->launch_blocking = blocking && strcmp(blocking, "0") != 0 && *blocking;
    cudart_scan_imports(c);
  }
  if (!c->closed) cudart_load_all(c);
  return c;
}

cudaError_t cudart_leave_with(struct cudart *c, cudaError_t r) {
  if (c->depth) c->depth--;
  pthread_mutex_unlock(&c->lock);
  return r;
}

cudaError_t cudart_leave(struct cudart *c, cudaError_t r) {
  if (r != cudaSuccess) last_error = r;
  return cudart_leave_with(c, r);
}

cudaError_t cudart_last_error(bool clear) {
  cudaError_t r = last_error;
  if (clear) last_error = cudaSuccess;
  return the_context.sticky && !the_context.closed ? the_context.sticky : r;
}

static void finish_session(struct cudart *c) {
  struct err e = {0};
  if (c->session && !c->sticky) cudart_drain(c); /* tasks that were never awaited */
  if (!c->session || session_finish(c->session, &e)) return;
  if (!c->sticky || e.code != ERR_OUTPUT) print_error(&e); /* a launch that could not be written has reported it */
  leave_error(c, &e);
}

/* Close the session once and write its record. The process ends: nothing is freed. */
void cudart_close(struct cudart *c) {
  if (c->closed || c->closing || c->process != getpid()) return;
  c->closing = true; /* a running function of the program may end the process again */
  finish_session(c);
  c->closed = true;
}

/* Take the lock if the session can be finished: not while this thread is within a call that a signal handler
 * interrupted, unless that call runs a function of the program; nor while another thread stays within a call. The
 * counters are then left for `sluice run`. */
static bool lock_to_end(struct cudart *c, bool for_good) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += END_WAITS_SECONDS;
  if (pthread_mutex_timedlock(&c->lock, &until)) return false;
  if (!c->depth || (c->in_call && for_good)) return true;
  pthread_mutex_unlock(&c->lock);
  return false;
}

__attribute__((visibility("default"))) void sluice_process_ends(int how) {
  struct cudart *c = &the_context;
  if (c->process != getpid() || !c->session || c->closed || c->closing || !lock_to_end(c, how == CUDART_EXITS)) return;
  fflush(stdout);
  if (how == CUDART_EXITS) cudart_close(c);
  else finish_session(c);
  pthread_mutex_unlock(&c->lock);
}

static void exits_quickly(void) {
  sluice_process_ends(CUDART_EXITS);
}

static void is_child(void) {
  struct cudart *c = &the_context;
  c->fork_busy = pthread_mutex_trylock(&c->lock) != 0 || c->depth;
  c->lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* the holder is not in this process */
  c->depth = 0;
  c->forked = c->last_module != NULL;
}

/* Before the program's first allocation. Only under `sluice run`: otherwise the program owns the heap. */
__attribute__((constructor)) static void start_of_process(void) {
  if (getenv("SLUICE_DIR")) heap_use_huge_pages();
  pthread_atfork(NULL, NULL, is_child);
  CHECK(!at_quick_exit(exits_quickly), "out of memory"); /* registered first, called last */
}

/* Runs after the program's atexit functions and destructors, which may still call the library. A program under `sluice
 * run` that registered kernels and called nothing still leaves a record without launches. */
__attribute__((destructor)) static void end_of_process(void) {
  struct cudart *c = &the_context;
  if (!lock_to_end(c, true)) return;
  if (c->last_module && c->dir && !c->opened && c->process == getpid()) {
    struct err e = {0};
    c->opened = true;
    c->session = session_open_from_env(&e);
    if (!c->session) print_error(&e);
  }
  cudart_close(c);
  pthread_mutex_unlock(&c->lock);
}
