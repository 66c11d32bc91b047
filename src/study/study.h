/* study.h - a study: a file that describes a set of runs, and the engines that execute the missing ones.
 *
 * study_load reads the file, study_expand turns it into runs identified by the SHA-256 of all their inputs, study_run
 * executes the runs that the results file lacks. All paths of a study are relative to the folder of its file; the
 * caller's current folder.
 */
#ifndef STUDY_STUDY_H
#define STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "results/db.h"

enum { STUDY_HASH = 65, STUDY_RUNS_MAX = 2000000 };

/* ---- the file ---- */
/* A place in the study file, for messages. */
struct study_at {
  size_t line, column;
};
struct study_program {
  struct study_at at;
  const char *name;   /* label */
  char **argv;        /* NULL-terminated, argv[0] as in the file; {replica} and {size} not replaced yet */
  const char *launch; /* of a kernel file, or NULL */
  const char *suite, *group;
  bool sized; /* a bundled workload without arguments: takes --size */
};
struct study_set {
  struct study_at at;
  const char *key, *value;
};
struct study_gpu {
  struct study_at at;
  const char *name, *base;
  struct study_set *sets;
  size_t set_count;
};
struct study_scheme {
  struct study_at at;
  const char *list;
};
struct study_range {
  struct study_at at;
  const char *key;    /* a knob, or SCHEME.PARAMETER */
  const char *scheme; /* NULL for a knob */
  const char *param;
  const char **values;
  size_t count;
};
struct study_slurm {
  const char *partition, *account, *qos, *constraint, *time, *memory;
  const char **options; /* further lines after #SBATCH */
  size_t option_count;
  uint64_t cpus, runs_per_task, max_running;
};

struct study {
  struct arena arena;
  const char *path, *file; /* of the study file: as given, without its folder */
  const char *text;
  size_t bytes;
  const char *name, *results, *mode, *timing_kernels, *estimate;
  struct study_program *programs;
  size_t program_count, program_room;
  const char **sizes;
  size_t size_count;
  struct study_gpu *gpus;
  size_t gpu_count;
  struct study_scheme *schemes;
  size_t scheme_count;
  struct study_range *ranges;
  size_t range_count;
  const char **metrics;
  size_t metric_count;
  uint64_t replicas, sample, watchdog;
  bool characterise, lines, detail;
  double time_limit;     /* seconds, 0: none */
  uint64_t memory_limit; /* bytes, 0: none */
  struct study_slurm slurm;
};

/* Errors name file:line:column. Free with study_free, also after a failure. */
bool study_load(struct study *s, const char *path, struct err *e);
/* The same in two steps: paths in the file are relative to its folder, where the second step looks for programs. */
bool study_read(struct study *s, const char *path, struct err *e);
bool study_parse(struct study *s, struct err *e);
void study_free(struct study *s);
/* The JSON schema of study files, from the table of keys (a json_t). */
json_t *study_schema(void);

/* ---- the runs ---- */
struct study_run {
  char hash[STUDY_HASH];
  char **args;         /* of `sluice run`, without --json and --quiet; NULL-terminated */
  const char *program; /* program and arguments as one text */
  const char *program_hash, *gpu, *scheme, *mode;
};
struct study_runs {
  struct study_run *run; /* each hash once, in plan order */
  size_t count;
  struct db_plan *plan; /* may name a run several times */
  size_t plan_count;
};
/* Number of rows of the plan, without building them; saturates far above STUDY_RUNS_MAX. */
double study_size(const struct study *s);
/* Resolves a program's name to a file; provided by the command line. */
typedef bool (*study_find_fn)(const char *program, char *out, size_t size);
/* Memory belongs to s->arena. */
bool study_expand(struct study *s, struct study_runs *r, study_find_fn find, struct err *e);

/* ---- running ---- */
struct study_progress {
  size_t total, before, done, failed, running, waiting; /* before: stored at the start; waiting: queued */
  double since;                                         /* seconds since the start */
};
/* A run has begun (as far as the engine knows: with Slurm no run has) or ended. */
struct study_event {
  const struct study_run *run;
  bool ended;
  const char *failed;   /* why; NULL: done */
  const json_t *record; /* of a run that is done */
  double seconds;       /* that it took */
};
enum study_engine { STUDY_LOCAL, STUDY_SLURM };
struct study_options {
  enum study_engine engine;
  const char *self;    /* path of `sluice` */
  const char *results; /* absolute path of the results file */
  unsigned jobs;       /* at a time, 0: as many as the processors have room for */
  unsigned threads;    /* host threads of a run, 0: one, and more for the last runs of a study in timing mode */
  bool retry;          /* run failed runs again */
  bool cancel;         /* Slurm: an interrupt cancels queued jobs */
  bool script_only;    /* Slurm: write the job script, submit nothing */
  void (*show)(void *ctx, const struct study_progress *p);
  void (*note)(void *ctx, const char *line); /* a failed run, a lost node */
  /* May be NULL. After an end, `p` counts the run. */
  void (*event)(void *ctx, const struct study_event *v, const struct study_progress *p);
  void *ctx;
};
enum study_end {
  STUDY_COMPLETE,    /* every run has ended */
  STUDY_INTERRUPTED, /* Ctrl-C or SIGTERM; stored results are complete */
  STUDY_STOPPED,     /* results cannot be stored: reason in `e` */
  STUDY_SCRIPT,      /* script_only: the script is written */
};
enum study_end study_run(const struct study *s, const struct study_runs *r, const struct study_options *o,
                         struct db *db, struct study_progress *p, struct err *e);
/* One task of a Slurm job: the runs of `task` in the engine's folder. Exit code. */
int study_task(const char *folder, uint64_t task, const char *self);

/* One writer at a time: false with the holder's name. Released by study_unlock or when the process ends. */
bool study_lock(const char *results, int *lock, struct err *e);
void study_unlock(const char *results, int lock);

/* ---- identity ---- */
/* SHA-256 of a file's content as hexadecimal text; false with errno. */
bool study_hash_file(const char *path, char out[STUDY_HASH]);
/* Hash of libsluice, which determines every result. */
const char *study_simulator(void);

#endif
