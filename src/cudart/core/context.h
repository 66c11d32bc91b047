/* context.h - what the CUDA runtime and driver libraries share: the one context of a process, its lock, its error state,
 * and the tables of all that the program has made.
 *
 * A call enters (takes the lock, opens the session on first use), works, and leaves with its result. Work of streams is
 * queued (queue.c) and carried out when the host waits. A call waits for all of it unless it says that it need not.
 */
#ifndef CUDART_CONTEXT_H
#define CUDART_CONTEXT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "cudart/core/abi.h"
#include "cudart/core/ptrmap.h"
#include "cudart/core/queue.h"
#include "cudart/core/streams.h"
#include "session/session.h"

struct cuda_module;
struct cuda_registered;

struct cudart {
  pthread_mutex_t lock; /* recursive */
  bool opened, closed, scanned, driver_ready;
  int process;     /* that opened it, or a forked child that has gone on with what it inherited */
  uint32_t depth;  /* calls of the thread that has the lock, one inside the other */
  bool forked;     /* a child that has not used CUDA yet */
  bool fork_busy;  /* and was forked while another thread, or this one, was within a call */
  const char *dir; /* private directory of `sluice run`, or NULL */
  struct session *session;
  struct simt *simt;
  const struct session_device *dev;
  cudaError_t sticky;   /* after a fault every call returns it */
  bool lazy;            /* the program has streams of its own: work is queued */
  bool launch_blocking; /* CUDA_LAUNCH_BLOCKING */
  bool closing;         /* the process ends: nothing is waited for that others would have to signal */
  bool per_thread;      /* the call came in by a name for per-thread default streams: stream 0 is the thread's own */
  bool minded;          /* a thread looks after hosts that wait without a call */
  bool in_call;         /* a function of the program runs as work of a stream, or a copy */
  cudaError_t late;     /* of a copy or set that failed when it was carried out: the next wait returns it */
  uint64_t calls;       /* made so far */
  uint64_t poll_ns;     /* simulated time that the next question after a task is given */
  session_task *orphan; /* last work of blocking streams that were destroyed */
  uint32_t orphans;
  uint32_t why_lines; /* explanations printed so far */
  bool warned_newer;  /* of PTX newer than is known */
  struct arena arena; /* names, labels, modules */
  struct cuda_module *modules, **last_module;
  struct ptrmap functions; /* host stub or handle -> cuda_function */
  struct ptrmap variables; /* host variable -> cuda_variable */
  struct ptrmap texrefs;   /* host textureReference -> cuda_texref */
  struct ptrmap streams, events, arrays, graphs, nodes, execs, pools, textures, surfaces;
  struct ptrmap graphics,
      gl_buffers; /* registered resources; name of a buffer -> resource (the interface until CUDA 3) */
  struct ptrmap external_memories, external_semaphores;
  struct gl *gl;                   /* entry points of the program's OpenGL, NULL until they are asked for */
  struct ptrmap sites, host_flags; /* return address -> label; pinned base -> flags */
  struct ptrmap pitches;           /* cudaMallocPitch base -> pitch */
  struct ptrmap graph_memory;      /* of allocation nodes: it stays where it is, since they may run again */
  struct cuda_registered *registered;
  struct cuda_stream null_stream;
  pthread_key_t thread_key; /* struct own_stream of a thread */
  uint32_t thread_streams;  /* made so far; the key exists from the first on */
  uint32_t epoch;           /* resets so far: streams of earlier ones are gone */
  uint64_t limits[LIMITS];
  uint64_t next_id;                 /* streams, texture objects */
  uint32_t device_flags, capturing; /* streams being captured */
  uint64_t grid_workspace;          /* barrier of cooperative grids, 0 until one is launched */
  int cache_config, shared_config, capture_mode;
};

/* Lock, and on first use open the session and load what was registered. Never NULL. */
struct cudart *cudart_enter(void);
/* Only lock: for registration, which must not open anything. */
struct cudart *cudart_enter_quiet(void);
/* Unlock; a failure becomes the thread's last error. Returns r. */
cudaError_t cudart_leave(struct cudart *c, cudaError_t r);
/* Unlock without touching the last error. */
cudaError_t cudart_leave_with(struct cudart *c, cudaError_t r);
cudaError_t cudart_last_error(bool clear);
/* One line to stderr, "sluice: CALL: why"; returns r. */
cudaError_t cudart_why(struct cudart *c, cudaError_t r, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A fault of the simulated program: print it, leave it for `sluice run`, make r sticky. */
void cudart_fault(struct cudart *c, cudaError_t r, const struct err *e);
/* Nothing sensible can follow: print, leave the error and the record, end the process with the code for it. */
_Noreturn void cudart_die(struct cudart *c, const struct err *e);
/* A runtime call that Sluice refuses by name. Ends the process unless SLUICE_ALLOW_REFUSED is set. */
cudaError_t cudart_refuse(const char *call, const char *why);
void cudart_close(struct cudart *c);
/* The process is about to end without its exit functions, or to become another program. Finishes the session if it can
 * be finished, which is not so within a call that was interrupted. Found by name from the preloaded library. */
enum { CUDART_EXITS, CUDART_EXECS };
void sluice_process_ends(int how);
const char *cudart_program(void);
const char *cudart_error_text(cudaError_t r), *cudart_error_name(cudaError_t r),
    *cudart_driver_error_name(cudaError_t r);

/* The call does not wait for work of streams. The driver is initialised by any call of the runtime. */
#define CUDART_ENTER_ASYNC()         \
  struct cudart *c = cudart_enter(); \
  c->driver_ready = true;            \
  if (c->sticky) return cudart_leave(c, c->sticky)
/* The call waits for all of it, and returns what has gone wrong in it. */
#define CUDART_ENTER()                              \
  struct cudart *c = cudart_enter();                \
  c->driver_ready = true;                           \
  if (c->sticky) return cudart_leave(c, c->sticky); \
  cudaError_t before = cudart_drain(c);             \
  if (before != cudaSuccess) return cudart_leave(c, before)

/* Programs compiled with --default-stream per-thread call NAME_ptsz and NAME_ptds: the same functions, but stream 0 is
 * the calling thread's own stream. Such a name is an entry that leaves word of that and goes on into the function, with
 * all its arguments where they are (x86-64 ELF; C cannot say this for functions of any signature). */
extern __thread int cudart_by_thread __attribute__((tls_model("initial-exec")));
#define CUDART_PER_THREAD(name, suffix)                                                            \
  __asm__(".pushsection .text\n.p2align 4\n.globl " #name #suffix "\n.type " #name #suffix         \
          ", @function\n" #name #suffix ":\nendbr64\nmovq cudart_by_thread@gottpoff(%rip), %rax\n" \
          "movl $1, %fs:(%rax)\njmp " #name "@PLT\n.size " #name #suffix ", .-" #name #suffix "\n.popsection")

#endif
