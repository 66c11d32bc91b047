/* study_impl.h - shared by the files of src/study. */
#ifndef STUDY_STUDY_IMPL_H
#define STUDY_STUDY_IMPL_H

#include "study/study.h"

/* ---- the table of keys ---- */
enum study_section {
  STUDY_TOP,
  STUDY_PROGRAM,
  STUDY_GPU,
  STUDY_RANGE,
  STUDY_LIMIT,
  STUDY_CLUSTER,
};
enum study_kind {
  STUDY_KIND_TEXT,
  STUDY_KIND_TEXTS,
  STUDY_KIND_COUNT,
  STUDY_KIND_NUMBER,
  STUDY_KIND_FLAG,
  STUDY_KIND_MODE,
  STUDY_KIND_ARGS,
  STUDY_KIND_SETS,
  STUDY_KIND_PROGRAMS,
  STUDY_KIND_GPUS,
  STUDY_KIND_RANGES,
  STUDY_KIND_LIMITS,
  STUDY_KIND_SLURM,
};
struct study_key {
  enum study_section section;
  const char *name;
  enum study_kind kind;
  const char *doc;
};
extern const struct study_key study_keys[];
extern const size_t study_key_count;

/* ---- bundled workloads ---- */
bool study_is_workload(const char *name);
/* Add the programs of a suite; the message of `e` has no position yet. */
bool study_add_suite(struct study *s, const char *suite, struct study_at at, struct err *e);
struct study_program *study_add_program(struct study *s);

/* ---- one run as a process ---- */
struct study_outcome {
  int exit_code;           /* 128+n: signal n */
  bool timed_out, too_big; /* ended by a limit of the study */
  double seconds, cpu_seconds;
  int64_t peak_kb;
};
/* All launches run in detail, so that a run is the same on any number of host threads. Where a launch runs
 * functionally, the instructions of programs that race vary. */
bool study_detailed(const struct study *s);
/* Start `self run --quiet --json RECORD ARGS` on `threads` host threads, with output
 * to `log`, in its own process group; it ends with this
 * process. Returns the process, -1 with errno. */
int study_start(const char *self, char *const *args, unsigned threads, const char *record, const char *log);
/* Resident memory of a process and its descendants, in bytes. */
uint64_t study_memory(int pid);
/* One line with the cause of a failure, from the end of its log; "" if unknown. */
void study_reason(const struct study_outcome *o, const char *log_text, const struct study *s, char *out, size_t size);
/* The failure was a full disk: not stored, since the run is not at fault. */
bool study_disk_full(const char *log_text);
/* The last `limit` bytes of a log; the caller frees it. NULL if there is none. */
char *study_log_tail(const char *path, size_t limit);
/* What a run left. */
struct study_result {
  struct study_outcome o;
  json_t *record; /* NULL: none */
  const char *log, *host;
};
/* Store how a run ended. */
bool study_store(struct db *db, const struct study *s, const struct study_run *r, const struct study_result *d,
                 struct err *e);
/* The equivalent "sluice run ..." command. */
char *study_command(struct arena *a, const struct study_run *r);
double study_now(void);

/* ---- engines ---- */
struct study_work {
  const struct study *s;
  const struct study_run **run; /* remaining runs */
  size_t count;
  const struct study_options *o;
  struct db *db;
  struct study_progress *p;
  struct err *e;
  double started;
  char *spool; /* folder beside the results file, for records not yet stored */
};
enum study_end study_local(struct study_work *w);
enum study_end study_slurm(struct study_work *w);
void study_began(struct study_work *w, const struct study_run *r);
/* Count the run, update progress, report a failure; `reason` is NULL for a run that is done. */
void study_count(struct study_work *w, const struct study_run *r, const struct study_result *d, const char *reason);
void study_show(struct study_work *w);

#endif
