/* session_impl.h - the inside of a session, private to session.c and tasks.c. */
#ifndef SESSION_SESSION_IMPL_H
#define SESSION_SESSION_IMPL_H

#include "base/arena.h"
#include "gpu/common/config.h"
#include "gpu/common/stats.h"
#include "gpu/gpu.h"
#include "gpu/slots/slots.h"
#include "results/record.h"
#include "session/meter.h"
#include "session/session.h"

struct task;
struct task_launches;
struct sampler;
struct live;
struct session {
  struct arena arena;
  struct session_options o; /* owns its texts */
  struct gpu_config config;
  struct session_device device;
  struct simt *simt;
  struct gpu *gpu; /* NULL in functional mode */
  struct record *record;
  struct slt_writer *trace; /* NULL: not recorded */
  struct sampler *sampler;  /* NULL: no log of launches, no plan */
  bool launch_lost;         /* one was stopped and is not in the trace */
  uint32_t launches;        /* submitted */
  uint64_t timed_insts;     /* thread instructions of launches in detail that have ended */
  uint64_t cycles;          /* core cycles of all launches so far, valid while none runs */
  uint64_t clock;           /* advance of %clock by launches without timing, in cycles */
  struct meter meter;
  struct live *live; /* NULL: none */
  /* tasks.c */
  struct task **task; /* submitted and not done, in order of submission */
  uint32_t tasks, task_room;
  session_task last_task;
  bool advancing;
  bool failed;
  bool broken;      /* a launch failed and left its CTAs on the machine: the next launch builds a new one */
  struct err error; /* with `failed`: of that launch, until a wait has reported it */
  int cuda_error;
  uint64_t opened_at;             /* core cycle at which the running launches began */
  struct record_launch *together; /* launches that have ended since then */
  uint32_t togethers, together_room;
  /* trace_order.c, by task */
  struct task_launches *task_launches;
  uint64_t task_launches_room;
};

/* Build the machine of the timing model, replacing an old one. */
bool session_make_machine(struct session *s, struct err *e);
void session_tasks_free(struct session *s);
/* Drop all pending tasks. Launches that have ended and overlapped with others are counted. */
void session_leave_undone(struct session *s);
void session_drop_tasks(struct session *s);
/* trace_order.c: a task was submitted (returns its step in the trace, TRACE_NO_LAUNCH for none); the host waits. */
uint32_t session_record_submit(struct session *s, session_task id, const struct session_item *item,
                               const session_task *deps, uint32_t n);
void session_record_wait(struct session *s, session_task id);
void session_record_free(struct session *s);

/* ---- samples of launches (sampled.c); without a sampler nothing happens ---- */
bool sampler_open(struct session *s, struct err *e);
void sampler_free(struct sampler *p);
/* Is launch `launch` timed? Without a plan: true. */
bool sampler_times(const struct session *s, uint32_t launch);
/* The feed to drive functionally in place of `f`; `f` itself if it is not observed. */
struct feed *sampler_tap(struct session *s, struct feed *f, uint32_t launch);
/* A launch has ended, with its counters; only their instructions count if it was not timed. `overlapped`: the counters
 * are of several launches. */
void sampler_note(struct session *s, const struct record_launch *l, const struct gpu_stats *stats, bool overlapped);
/* A counter of a scheme, of the launch noted last. */
void sampler_note_counter(struct session *s, const char *key, uint64_t value);
/* A timed launch of which only some CTAs are timed: the number of CTA slots that it needs, and the feed that drives the
 * machine in place of `f` (`f` itself if all are timed). */
uint32_t sampler_slots(const struct session *s, uint32_t launch);
struct feed *sampler_inside(struct session *s, struct feed *f, struct simt_run *run, uint32_t launch);
/* After its feed has got a watch. */
void sampler_watch(struct session *s);
/* Run a tapped launch on host threads. Not *ran: its feed must be driven. */
struct crew_counts;
bool sampler_drive(struct session *s, struct simt_run *run, struct crew_counts *n, bool *ran, struct err *e);
bool sampler_write(const struct session *s, struct err *e);

/* ---- options (options.c) ---- */
struct session_options session_options_copy(struct arena *a, const struct session_options *from);
/* Texts are allocated from the arena. */
bool session_options_read(struct arena *a, const char *path, struct session_options *o, struct err *e);

#endif
