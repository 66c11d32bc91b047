/* session.h - one simulated GPU as a program sees it: the functional machine, the timing model behind it, and the
 * record of what happened. The CUDA runtime library and the command line both work through this. Nothing of the timing
 * model shows here.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "simt/simt.h"

enum session_mode { SESSION_TIMING, SESSION_FUNCTIONAL };

struct session_options { /* a row of options.def for each */
  const char *gpu;       /* configuration name or file; NULL: "fermi" */
  const char *scheme;    /* "baseline" or a comma- or plus-separated list; NULL: baseline */
  enum session_mode mode;
  const char *const *sets; /* "key=value" */
  size_t set_count;
  const char *record_path; /* where the JSON record is written (atomically), NULL: nowhere */
  bool record_unread;      /* nobody asks what is in it, and it is not written */
  bool every_launch;       /* an entry for each, however many: see record.h */
  const char *state_path;  /* see record_head; the record is then written to that file's name with ".json" */
  const char *program;     /* for the record: program path and arguments as one string */
  uint64_t watchdog;       /* before a kernel is called stuck: cycles in which nothing issues; in functional mode warp
                            * instructions in which no CTA ends; 0: default */
  uint32_t timing_first, timing_end; /* launches (from 0) simulated in detail: first to end - 1; end 0: all */
  bool quiet;
  bool meter;                /* a launch of more than two seconds says on a terminal how far it is */
  bool detail, lines;        /* record: counters per unit; memory statistics per instruction */
  bool character;            /* record: loads by un-coalescing degree, use of lines */
  unsigned checks;           /* enum simt_checks: reads of unwritten memory, races, divergent barriers */
  enum simt_memory memory;   /* what accesses outside of allocations do */
  uint32_t turn;             /* functional mode: see simt_interleave; 0: CTA by CTA */
  bool profile;              /* record: the run over time, L1 sets, DRAM banks */
  const char *timeline_path; /* a Perfetto trace of the core cycles [first, last); NULL: none */
  uint64_t timeline_first, timeline_last;
  uint32_t timeline_sms;  /* SMs in it; 0: all */
  uint64_t sample_cycles; /* record: counters of every so many core cycles; 0: none */
  const char *trace_path; /* record every launch as a trace (docs/reference/trace-format.md), NULL: do not */
  const char *trace_temp; /* where to write it, if somebody else names it when it is complete; NULL: we do */
};

/* What cudaGetDeviceProperties and friends need, from the GPU configuration. */
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
/* What has been counted: for whoever reads it while the session goes on. */
struct record *session_record(struct session *s);
const struct session_device *session_device(struct session *s);
/* Run one kernel to its end. False with `e`: the simulated program did wrong (*cuda_error says which CUDA error code it
 * should see) or the kernel is stuck. */
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
  void (*call)(void *ctx);  /* SESSION_CALL: takes no time on the machine; must not wait. NULL: only joins others */
  bool (*ready)(void *ctx); /* SESSION_CALL: asked until it says that the call may be made; NULL: at once */
  struct feed *(*open)(void *ctx, struct err *e); /* SESSION_FEED: when it begins; NULL with `e` */
  void (*explain)(void *ctx, struct err *e);      /* it failed: may say more; NULL: nothing to add */
  void (*release)(void *ctx);                     /* done, failed, or never begun; NULL: nothing to free */
};
/* Runs once the `n` tasks `deps` have ended. Nothing happens before a wait, unless very much has been submitted. */
session_task session_submit(struct session *s, const struct session_item *item, const session_task *deps, uint32_t n);
bool session_done(const struct session *s, session_task t);
/* Until `t` has ended (SESSION_ALL: everything), or nothing can go on before a call says that it is ready (session_done
 * tells): then try again later. False with `e`: a launch failed, now or since the last wait; all that had been
 * submitted is gone. *cuda_error may be NULL. */
bool session_wait(struct session *s, session_task t, int *cuda_error, struct err *e);
/* Let that much time pass on the machine, or all that was submitted end; without a clock, do what can be done. */
bool session_advance(struct session *s, uint64_t ns, int *cuda_error, struct err *e);
/* CTA slots that such a feed is asked for at a time. */
uint32_t session_cta_slots(const struct session *s);
/* Its line of progress. */
struct meter *session_meter(struct session *s);
/* Count the next launch as done without running it. */
void session_skip_launch(struct session *s);
/* Simulated time since the session was opened, in nanoseconds of GPU time (cycles of all launches so far). */
uint64_t session_time_ns(struct session *s);
/* Copies to and from the device, for the record (the L2 stays as it is). */
void session_note_copy(struct session *s, uint64_t bytes, bool to_device);
/* Write the record, if asked for, and the trace and the timeline. What may follow is session_close, which a process
 * that ends may leave out (the kernel takes the memory back faster than it is freed piece by piece), and, where the
 * process did not end after all, more work and another session_finish; a trace ends with the first. From within a call
 * of a stream, what has not been done is left undone. */
bool session_finish(struct session *s, struct err *e);
/* This process is a forked child of the one that opened the session: it has a copy of the machine, idle, and a record
 * of its own. */
void session_forked(struct session *s);
/* The same and free everything. Idempotent through NULL. */
bool session_close(struct session *s, struct err *e);

#endif
