/* session.h - one simulated GPU as a program uses it: the functional machine, the timing model behind it, and the
 * record of results. The CUDA runtime library and the command line both use this interface, which hides the timing
 * model.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "simt/simt.h"

enum session_mode { SESSION_TIMING, SESSION_FUNCTIONAL };

/* What options.def says of its rows. The watchdog counts cycles without an issue, in functional mode warp instructions
 * without an ended CTA. */
struct session_options {
  const char *const *sets; /* "key=value" */
  size_t set_count;
#define SESSION_TEXT(member) const char *member;
#define SESSION_FLAG(member) bool member;
#define SESSION_NUMBER(type, member) type member;
#include "session/options.def"
};

/* Values of cudaGetDeviceProperties and similar calls, from the GPU configuration. */
struct session_device {
  char name[64];
  uint32_t sms, gpc_sms, warp_size, max_threads_per_cta, max_threads_per_sm, max_ctas_per_sm, regs_per_sm, regs_per_cta;
  uint32_t shared_per_cta, shared_per_sm, shared_most; /* of a CTA: without, and with its consent (opt-in) */
  uint32_t shared_reserved;                            /* what the system takes of each CTA */
  uint32_t const_bytes;
  uint32_t core_khz, mem_khz, mem_bus_bits, l2_bytes;
  uint32_t cc_major, cc_minor;
  uint64_t mem_bytes;
  bool array_blocks; /* knob l1t.blocks */
};

struct record;
struct session; /* opaque; single-threaded: callers lock */

struct session *session_open(const struct session_options *o, struct err *e);
/* Options for a library in another process, which session_open_from_env finds in $SLUICE_DIR/options.json. */
bool session_options_write(const struct session_options *o, const char *path, struct err *e);
/* Options from the environment that `sluice run` set for its child (SLUICE_*); defaults where unset. */
struct session *session_open_from_env(struct err *e);
struct simt *session_simt(struct session *s);
/* The record so far, for reading while the session runs. */
struct record *session_record(struct session *s);
const struct session_device *session_device(struct session *s);
/* Run one kernel to its end. False with `e`: a fault of the simulated program (*cuda_error: the CUDA error code to
 * report) or a stuck kernel. */
bool session_launch(struct session *s, const struct simt_launch *l, int *cuda_error, struct err *e);
/* ---- work that waits for other work (tasks.c) ---- */
typedef uint64_t session_task; /* in the order of submission; 0: none */
#define SESSION_ALL UINT64_MAX
struct feed;
struct session_item {
  enum { SESSION_CALL, SESSION_LAUNCH, SESSION_FEED } kind;
  uint32_t stream;                  /* for the record: 0 is the default stream */
  int priority;                     /* lower goes first */
  const struct simt_launch *launch; /* SESSION_LAUNCH: copied, the parameter block too */
  void *ctx;                        /* of the functions that follow */
  void (*call)(void *ctx);          /* SESSION_CALL: takes no simulated time; must not wait. NULL: only joins tasks */
  bool (*ready)(void *ctx);         /* SESSION_CALL: polled until true; NULL: ready at once */
  struct feed *(*open)(void *ctx, struct err *e); /* SESSION_FEED: opens the feed at its start; NULL with `e` */
  void (*explain)(void *ctx, struct err *e);      /* extends the message of a failure; NULL: nothing to add */
  void (*release)(void *ctx);                     /* done, failed, or never started; NULL: nothing to free */
};
/* Runs when the `n` tasks `deps` have ended. Nothing runs before a wait, unless very many tasks are pending. */
session_task session_submit(struct session *s, const struct session_item *item, const session_task *deps, uint32_t n);
bool session_done(const struct session *s, session_task t);
/* Wait until `t` has ended (SESSION_ALL: everything), or until nothing can continue before a call is ready (check
 * session_done): then try again later. False with `e`: a launch failed now or since the last wait; all pending tasks
 * are dropped. *cuda_error may be NULL. */
bool session_wait(struct session *s, session_task t, int *cuda_error, struct err *e);
/* Advance the machine by that time, or until all tasks have ended; without a clock, run what is ready. */
bool session_advance(struct session *s, uint64_t ns, int *cuda_error, struct err *e);
/* Number of CTA slots that such a feed must provide. */
uint32_t session_cta_slots(const struct session *s);
/* The compute capability (70) whose machine code kernels run as; 0: as their PTX. */
uint32_t session_machine_code(const struct session *s);
/* A scheme that needs values of memory, which a trace does not have; NULL: none. */
const char *session_needs_values(const struct session *s);
/* The feed's line of progress. */
struct meter *session_meter(struct session *s);
/* Count the next launch as done without running it. */
void session_skip_launch(struct session *s);
/* Simulated time since the session was opened, in nanoseconds of GPU time (cycles of all launches so far). */
uint64_t session_time_ns(struct session *s);
/* Copies to and from the device, for the record (the L2 stays as it is). */
void session_note_copy(struct session *s, uint64_t bytes, bool to_device);
/* Write the record, trace and timeline, if enabled. session_close may follow; a process that ends may omit it, as the
 * kernel frees memory faster. A process that continues may do more work and call session_finish again; a trace ends
 * with the first call. Within a call of a stream, pending work stays undone. */
bool session_finish(struct session *s, struct err *e);
/* This process is a forked child of the session's owner: it has an idle copy of the machine and its own record. */
void session_forked(struct session *s);
/* session_finish, then free everything. NULL is allowed. */
bool session_close(struct session *s, struct err *e);

#endif
