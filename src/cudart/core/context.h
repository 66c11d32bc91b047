/* context.h - what the CUDA runtime and driver libraries share: the one context of a process, its lock, its error
 * state, modules, streams, and the operations that streams carry out.
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
#include "cudart/image/fatbin.h"
#include "cudart/core/ptrmap.h"
#include "session/session.h"

/* ---- modules ---- */
struct cuda_function {
  struct cuda_function *next; /* in its module */
  struct cuda_module *module;
  const char *name; /* as in PTX */
  struct simt_kernel *kernel;
  const struct simt_kernel_info *info;
  uint32_t max_dynamic_shared; /* opted in with cudaFuncSetAttribute; 0: the device's default limit */
  int carveout;
  uint32_t cluster[3]; /* required by cudaFuncSetAttribute, {0}: nothing said */
  bool non_portable;
  int cluster_policy; /* a hint */
  bool dead;          /* its module was unloaded */
  /* cuFuncSetBlockShape, cuParamSet*: the launch description of the driver API before CUDA 4 */
  uint32_t old_block[3], old_shared, old_param_bytes;
  uint8_t *old_params;
};
struct cuda_variable {
  struct cuda_variable *next;
  struct cuda_module *module;
  const char *name;
  uint64_t addr, bytes; /* addr 0: not resolved */
  void **managed;       /* host variable that receives the address of a managed variable, or NULL */
};
/* A texture or surface reference of a module; the binding is in textures.h. */
struct cuda_texref {
  struct cuda_texref *next;
  struct cuda_module *module;
  const struct textureReference *ref;
  const char *name; /* without the "::" in front */
  int dim, normalized;
  bool surface;
  bool bound;
  uint64_t addr, offset; /* of what it is bound to */
};
struct cuda_module {
  struct cuda_module *next;
  struct fatbin fat;
  const char *text; /* PTX given as text (driver API), or NULL */
  const char *label;
  struct simt_module *simt;
  struct cuda_function *functions;
  struct cuda_variable *variables;
  struct cuda_texref *texrefs;
  bool loaded, resolved, empty; /* empty: nothing in it that could be simulated */
  bool spare;                   /* part of NVIDIA's device runtime library: not loaded unless launched from */
  bool machine_only;            /* holds machine code but no PTX */
};

/* ---- streams, events, and what they order ---- */

/* What the next captured node waits for: the last one of its stream, and those joined by events. */
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
  uint32_t pending;           /* records of it that have not been carried out */
  bool destroyed;             /* and is freed with the last of those */
  struct cuda_graph *capture; /* recorded in a capturing stream */
  struct cuda_tails tails;
};

/* One side of a copy: an array, or memory with a row pitch and a slice height. */
struct cuda_side {
  struct cuda_array *array;
  uint64_t ptr;
  size_t pitch, rows; /* rows per slice */
  size_t x, y, z;     /* start: x in bytes */
};
struct cuda_copy {
  struct cuda_side src, dst;
  size_t bytes, rows, slices; /* extent */
  int kind;                   /* enum cuda_copy_kind */
};
struct cuda_set {
  uint64_t ptr;
  size_t pitch, slice_rows;
  size_t width, rows, slices; /* width in elements */
  uint32_t value, element;    /* element: 1, 2 or 4 bytes */
};
struct cuda_launch {
  struct cuda_function *function;
  uint32_t grid[3], block[3], shared;
  uint32_t cluster[3]; /* asked for by the launch, {0}: as the kernel says */
  bool cooperative;
  void *params; /* parameter block, owned by a graph node */
};

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

struct cuda_array {
  struct cudaChannelFormatDesc desc;
  size_t width, height, depth; /* in elements; 0 where the array has no such dimension */
  uint32_t flags, element;     /* bytes of an element */
  size_t pitch, slice;         /* bytes of a row, and from one slice or layer to the next */
  uint64_t base, bytes;
  bool view; /* of memory that is not its own: a mapped graphics resource, external memory */
};
enum { MAX_LEVELS = 17 };
struct cuda_mipmap {
  uint32_t levels;
  struct cuda_array *level[MAX_LEVELS];
  uint64_t block; /* all levels lie in this allocation; 0: each has its own */
  bool mapped;    /* of a graphics resource, which frees it */
};

/* Host memory that the program registered: the device works on a copy that is brought up to date around each launch. */
struct cuda_registered {
  struct cuda_registered *next;
  void *host;
  size_t bytes;
  uint32_t flags;
  uint64_t shadow; /* 0 until its device pointer is asked for */
};

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

/* ---- entering and leaving (context.c) ---- */
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

/* ---- modules (modules.c) ---- */
struct cuda_module *cudart_module_new(struct cudart *c, const char *label);
/* Add one container found in this process's memory. */
bool cudart_module_container(struct cudart *c, struct cuda_module *m, const void *container, struct err *e);
struct cuda_function *cudart_module_function(struct cudart *c, struct cuda_module *m, const char *name);
bool cudart_module_load(struct cudart *c, struct cuda_module *m, struct err *e);
void cudart_module_unload(struct cudart *c, struct cuda_module *m);
/* Load and resolve all that is registered; ends the process if it cannot be simulated. */
void cudart_load_all(struct cudart *c);
struct cuda_function *cudart_function(struct cudart *c, const void *stub_or_handle); /* NULL: unknown */
struct cuda_variable *cudart_variable(struct cudart *c, const void *host);           /* NULL: unknown */
/* Bytes that can be read at p in this process (from /proc/self/maps). */
size_t cudart_readable(const void *p);
/* Undefined CUDA symbols of the program that we refuse or lack: ends the process naming them. */
void cudart_scan_imports(struct cudart *c);
struct cudart_refusal {
  const char *call, *why;
};
extern const struct cudart_refusal cudart_refusals[];
extern const uint32_t cudart_refusal_count;

/* ---- memory (copies.c) ---- */
cudaError_t cudart_alloc(struct cudart *c, uint64_t bytes, enum simt_mem_kind kind, const void *site, uint64_t *out);
cudaError_t cudart_release(struct cudart *c, uint64_t base, bool host);
cudaError_t cudart_copy(struct cudart *c, const struct cuda_copy *k);
/* Whether it could be carried out. */
cudaError_t cudart_check_copy(struct cudart *c, const struct cuda_copy *k);
cudaError_t cudart_check_set(struct cudart *c, const struct cuda_set *s);
cudaError_t cudart_copy_linear(struct cudart *c, uint64_t dst, uint64_t src, size_t bytes, int kind);
cudaError_t cudart_set(struct cudart *c, const struct cuda_set *s);
cudaError_t cudart_array_new(struct cudart *c, const struct cudaChannelFormatDesc *d, size_t w, size_t h, size_t depth,
                             uint32_t flags, struct cuda_array **out);
cudaError_t cudart_array_free(struct cudart *c, struct cuda_array *a);
/* The same over memory that is allocated already, at `base` with such pitches. */
cudaError_t cudart_array_view(struct cudart *c, const struct cudaChannelFormatDesc *d, const struct cudaExtent *extent,
                              uint32_t flags, uint64_t base, size_t pitch, size_t slice, struct cuda_array **out);
void cudart_array_drop_view(struct cudart *c, struct cuda_array *a);
cudaError_t cudart_mipmap_new(struct cudart *c, const struct cudaChannelFormatDesc *d, struct cudaExtent extent,
                              uint32_t levels, uint32_t flags, struct cuda_mipmap **out);
cudaError_t cudart_mipmap_free(struct cudart *c, struct cuda_mipmap *m);
/* Extent of the next smaller level. False: `e` was the last one. */
bool cudart_smaller_level(struct cudaExtent *e, uint32_t flags);
struct cuda_array *cudart_array(struct cudart *c, struct cuda_array *a); /* NULL: not one of ours */
void cudart_sync_registered(struct cudart *c, bool to_device);
struct cuda_registered *cudart_find_registered(struct cudart *c, const void *p);
uint64_t cudart_registered_device(struct cudart *c, struct cuda_registered *r, const void *p);

/* ---- launches (launches.c) ---- */
/* Build the parameter block from an array of pointers to arguments; the caller frees it. NULL: arguments missing. */
void *cudart_pack_args(const struct cuda_function *f, void **args);
cudaError_t cudart_check_launch(struct cudart *c, const struct cuda_launch *l);
/* Device address of the barrier of cooperative grids, cleared. */
uint64_t cudart_grid_workspace(struct cudart *c);
/* Resident CTAs per SM. */
uint32_t cudart_occupancy(const struct session_device *d, const struct simt_kernel_info *k, uint32_t threads,
                          uint64_t dynamic_shared);
uint64_t cudart_shared_limit(const struct session_device *d, const struct cuda_function *f);

/* ---- clusters of CTAs (clusters.c) ---- */
/* What attributes of a launch say; what they do not say stays. */
void cudart_launch_attributes(const void *attrs, unsigned n, bool *cooperative, uint32_t cluster[3]);
bool cudart_has_clusters(const struct session_device *d);
/* From what the launch asks for to what it gets: {0} is no clusters. */
cudaError_t cudart_resolve_cluster(struct cudart *c, const struct cuda_function *f, uint32_t d[3]);
cudaError_t cudart_check_cluster(struct cudart *c, const struct cuda_launch *l);
uint32_t cudart_active_clusters(const struct cudart *c, const struct cuda_function *f, uint32_t threads,
                                uint64_t shared, uint32_t size);
uint32_t cudart_largest_cluster(const struct cudart *c, const struct cuda_function *f, uint32_t threads,
                                uint64_t shared);
/* Attributes 10 to 15 of a function; false: not one that can be set so, not one of them. */
bool cudart_cluster_attribute(struct cuda_function *f, int attribute, int value);
bool cudart_cluster_value(const struct cuda_function *f, int attribute, int *value);

/* ---- streams (streams.c) ---- */
struct cuda_stream *cudart_stream(struct cudart *c, cudaStream_t s); /* NULL: not a stream */
struct cuda_stream *cudart_thread_stream(struct cudart *c);          /* the calling thread's own */
struct cuda_event *cudart_event(struct cudart *c, cudaEvent_t e);
/* Queue `op`, or append it to the graph that the stream is captured into. Takes over op's parameter block. */
cudaError_t cudart_submit(struct cudart *c, cudaStream_t s, struct cuda_op *op);
/* The same, and wait until it has been carried out. */
cudaError_t cudart_submit_wait(struct cudart *c, cudaStream_t s, struct cuda_op *op);
void cudart_event_free(struct cuda_event *e);
/* What the calls of runtime and driver about a stream or event come down to. */
cudaError_t cudart_stream_wait(struct cudart *c, cudaStream_t stream, bool ask);
cudaError_t cudart_event_wait(struct cudart *c, cudaEvent_t event, bool ask);
cudaError_t cudart_stream_wait_event(struct cudart *c, cudaStream_t stream, cudaEvent_t event);
cudaError_t cudart_elapsed(struct cudart *c, float *ms, cudaEvent_t start, cudaEvent_t end);

/* ---- the queue (queue.c) ---- */
cudaError_t cudart_wait(struct cudart *c, session_task t);
cudaError_t cudart_drain(struct cudart *c);
cudaError_t cudart_poll(struct cudart *c, session_task t); /* cudaErrorNotReady: not yet */
/* The task after which all that was submitted to `s` so far has ended. */
session_task cudart_last_of(struct cudart *c, struct cuda_stream *s);
/* What is submitted to `s` from now on waits for `other` too. */
void cudart_join(struct cudart *c, struct cuda_stream *s, session_task other);
void cudart_forget_stream(struct cudart *c, const struct cuda_stream *s);
cudaError_t cudart_check_op(struct cudart *c, const struct cuda_op *op);
/* Queue one operation that has been checked, after the tasks `deps`, on account of stream `s`. */
cudaError_t cudart_enqueue(struct cudart *c, const struct cuda_op *op, struct cuda_stream *s, const session_task *deps,
                           uint32_t n, session_task *task);
cudaError_t cudart_enqueue_in(struct cudart *c, const struct cuda_op *op, struct cuda_stream *s);
/* Let work captured later in `s` wait for what `e` marks; a stream that was not captured joins the capture. */
void cudart_join_capture(struct cudart *c, struct cuda_stream *s, const struct cuda_event *e);
/* For a call that waits: an error while a capture is going on. */
cudaError_t cudart_sync_allowed(struct cudart *c);

/* ---- hosts that wait without a call (minder.c) ---- */
/* Work stays queued: from now on it is carried out too when the program makes no call for long. */
void cudart_mind(struct cudart *c);

#endif
