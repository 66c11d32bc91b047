/* context.h - shared by the CUDA runtime and driver libraries: the one context of a process, its lock, its error
 * state, and the tables of the program's objects.
 *
 * A call enters (takes the lock, opens the session on first use), works, and leaves with its result. Work of streams
 * is queued (queue.c) and executed when the host waits. A call waits for all work unless declared otherwise.
 */
#ifndef CUDART_CORE_CONTEXT_H
#define CUDART_CORE_CONTEXT_H

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
  int process;     /* the process that opened it, or a forked child that continued with it */
  uint32_t depth;  /* nesting of calls of the thread that holds the lock */
  bool forked;     /* a child that has not used CUDA yet */
  bool fork_busy;  /* and was forked while a thread was within a call */
  const char *dir; /* private directory of `sluice run`, or NULL */
  struct session *session;
  struct simt *simt;
  const struct session_device *dev;
  cudaError_t sticky;   /* after a fault every call returns it */
  bool lazy;            /* the program has streams of its own: work is queued */
  bool launch_blocking; /* CUDA_LAUNCH_BLOCKING */
  bool closing;         /* the process ends: do not wait for signals from others */
  bool per_thread;      /* the call came in by a name for per-thread default streams: stream 0 is the thread's own */
  bool minded;          /* a thread monitors hosts that wait without a call */
  bool in_call;         /* a function of the program runs as work of a stream, or a copy */
  cudaError_t late;     /* error of an executed copy or set: returned by the next wait */
  uint64_t calls;       /* made so far */
  uint64_t poll_ns;     /* simulated time granted to the next query of a task */
  session_task *orphan; /* last work of blocking streams that were destroyed */
  uint32_t orphans;
  uint32_t why_lines; /* explanations printed so far */
  bool warned_newer;  /* the warning about newer PTX was printed */
  struct arena arena; /* names, labels, modules */
  struct cuda_module *modules, **last_module;
  struct ptrmap functions; /* host stub or handle -> cuda_function */
  struct ptrmap variables; /* host variable -> cuda_variable */
  struct ptrmap texrefs;   /* host textureReference -> cuda_texref */
  struct ptrmap streams, events, arrays, graphs, nodes, execs, pools, textures, surfaces;
  struct ptrmap graphics, gl_buffers; /* registered resources; buffer name -> resource (interface until CUDA 3) */
  struct ptrmap external_memories, external_semaphores;
  struct gl *gl;                   /* entry points of the program's OpenGL, NULL until needed */
  struct ptrmap sites, host_flags; /* return address -> label; pinned base -> flags */
  struct ptrmap pitches;           /* cudaMallocPitch base -> pitch */
  struct ptrmap graph_memory;      /* memory of allocation nodes: fixed, since nodes may run again */
  struct cuda_registered *registered;
  struct cuda_stream null_stream;
  pthread_key_t thread_key; /* struct own_stream of a thread */
  uint32_t thread_streams;  /* created so far; the key exists from the first on */
  uint32_t epoch;           /* resets so far: streams of earlier ones are gone */
  uint64_t limits[LIMITS];
  uint64_t next_id;                 /* streams, texture objects */
  uint32_t device_flags, capturing; /* streams being captured */
  uint64_t grid_workspace;          /* barrier of cooperative grids, 0 until one is launched */
  int cache_config, shared_config, capture_mode;
};

/* Lock, and on first use open the session and load what was registered. Never NULL. */
struct cudart *cudart_enter(void);
/* Lock without opening the session: for registration. */
struct cudart *cudart_enter_quiet(void);
/* Unlock; a failure becomes the thread's last error. Returns r. */
cudaError_t cudart_leave(struct cudart *c, cudaError_t r);
/* Unlock without touching the last error. */
cudaError_t cudart_leave_with(struct cudart *c, cudaError_t r);
cudaError_t cudart_last_error(bool clear);
/* One line to stderr, "sluice: CALL: why"; returns r. */
cudaError_t cudart_why(struct cudart *c, cudaError_t r, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A fault of the simulated program: print it, report it to `sluice run`, make r sticky. */
void cudart_fault(struct cudart *c, cudaError_t r, const struct err *e);
/* Fatal: print, write error and record, end the process with its exit code. */
_Noreturn void cudart_die(struct cudart *c, const struct err *e);
/* An unsupported runtime call. Ends the process unless SLUICE_ALLOW_REFUSED is set. */
cudaError_t cudart_refuse(const char *call, const char *why);
void cudart_close(struct cudart *c);
/* The process will end without its exit functions, or to call exec. Finishes the session if possible, which it is not
 * within an interrupted call. Found by name from the preloaded library. */
enum { CUDART_EXITS, CUDART_EXECS };
void sluice_process_ends(int how);
const char *cudart_program(void);
const char *cudart_error_text(cudaError_t r), *cudart_error_name(cudaError_t r),
    *cudart_driver_error_name(cudaError_t r);

/* The call does not wait for streams. Any call of the runtime initialises the driver. */
#define CUDART_ENTER_ASYNC()         \
  struct cudart *c = cudart_enter(); \
  c->driver_ready = true;            \
  if (c->sticky) return cudart_leave(c, c->sticky)
/* The call waits for all work and returns its errors. */
#define CUDART_ENTER()                              \
  struct cudart *c = cudart_enter();                \
  c->driver_ready = true;                           \
  if (c->sticky) return cudart_leave(c, c->sticky); \
  cudaError_t before = cudart_drain(c);             \
  if (before != cudaSuccess) return cudart_leave(c, before)

/* Programs compiled with --default-stream per-thread call NAME_ptsz and NAME_ptds: the same functions, but stream 0 is
 * the calling thread's own stream. Such a name is an entry that sets a flag and jumps to the function with all its
 * arguments unchanged (x86-64 ELF; C cannot say this for functions of any signature). */
extern __thread int cudart_by_thread __attribute__((tls_model("initial-exec")));
#define CUDART_PER_THREAD(name, suffix)                                                            \
  __asm__(".pushsection .text\n.p2align 4\n.globl " #name #suffix "\n.type " #name #suffix         \
          ", @function\n" #name #suffix ":\nendbr64\nmovq cudart_by_thread@gottpoff(%rip), %rax\n" \
          "movl $1, %fs:(%rax)\njmp " #name "@PLT\n.size " #name #suffix ", .-" #name #suffix "\n.popsection")

#endif
