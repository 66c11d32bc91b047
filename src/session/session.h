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

struct session_options { /* one row of options.def each */
  const char *gpu;       /* configuration name or file; NULL: "fermi" */
  const char *scheme;    /* "baseline" or a comma- or plus-separated list; NULL: baseline */
  enum session_mode mode;
  const char *const *sets; /* "key=value" */
  size_t set_count;
  const char *record_path; /* where the JSON record is written (atomically), NULL: nowhere */
  bool record_unread;      /* the record is not read: do not write it */
  bool every_launch;       /* one entry per launch, without a limit: see record.h */
  const char *state_path;  /* see record_head; the record is then written to this name with ".json" */
  const char *program;     /* for the record: program path and arguments as one string */
  uint64_t watchdog;       /* limit before a kernel counts as stuck: cycles without an issue; in functional mode warp
                            * instructions without an ended CTA; 0: default */
  uint32_t timing_first, timing_end; /* launches (from 0) simulated in detail: first to end - 1; end 0: all */
  uint64_t
      max_insts; /* of threads: once launches in detail have executed so many, others run functionally; 0: no end */
  uint64_t warm; /* the first launches fill the caches and are not in the record */
  bool quiet;
  bool meter;                /* report progress of launches above two seconds on a terminal */
  bool detail, lines;        /* record: counters per unit; memory statistics per instruction */
  bool character;            /* record: loads by un-coalescing degree, use of lines */
  unsigned checks;           /* enum simt_checks: uninitialised reads, races, divergent barriers */
  enum simt_memory memory;   /* handling of accesses outside allocations */
  uint32_t turn;             /* functional mode: see simt_interleave; 0: CTA by CTA */
  bool profile;              /* record: the run over time, L1 sets, DRAM banks */
  const char *timeline_path; /* a Perfetto trace of the core cycles [first, last); NULL: none */
  uint64_t timeline_first, timeline_last;
  uint32_t timeline_sms;  /* SMs in it; 0: all */
  uint64_t sample_cycles; /* record: counters for each interval of this many core cycles; 0: none */
  const char *launch_log; /* write what each launch did (sample/launchlog.h), NULL: do not */
  const char *time_plan;  /* time only the launches of this plan (sample/plan.h), NULL: see above */
  const char *trace_path; /* record every launch as a trace (docs/reference/trace-format.md), NULL: do not */
  const char *trace_temp; /* file to write to, if the caller renames it when complete; NULL: none */
};

/* Values of cudaGetDeviceProperties and similar calls, from the GPU configuration. */
struct session_device {
  char name[64];
  uint32_t sms, gpc_sms, warp_size, max_threads_per_cta, max_threads_per_sm, max_ctas_per_sm, regs_per_sm, regs_per_cta;
  uint32_t shared_per_cta, shared_per_sm, const_bytes;
  uint32_t core_khz, mem_khz, mem_bus_bits, l2_bytes;
  uint32_t cc_major, cc_minor;
  uint64_t mem_bytes;
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
