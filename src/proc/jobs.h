/* jobs.h - runs several `sluice run` processes in parallel, for compare and calibrate. */
#ifndef PROC_JOBS_H
#define PROC_JOBS_H

#include "proc/child.h"

struct job {
  /* set by the caller */
  char **argv;   /* of `sluice run`, argv[0] included, NULL-terminated */
  double weight; /* expected share of the time, for the estimate */
  /* set by jobs_run */
  char log[600]; /* everything that the process printed */
  int exit_code; /* 128+n for a signal, -1 while not run */
  double seconds;
  double cpu_seconds;
  long peak_kb;
};

/* Jobs at a time on `cpus` processors: each job takes as many as its --threads, at least one job. */
unsigned jobs_at_once(const struct job *jobs, size_t count, long cpus);
/* Host threads of a job that starts while `running` others run and `left` more wait, on `cpus` processors: one, but at
 * the end, where the last jobs share the processors that would be idle. */
unsigned jobs_threads(unsigned cpus, size_t running, size_t left);
/* Run all with at most `parallel` at a time (0: one per processor). Logs go to `dir`. With `stop_on_failure` nothing
 * new starts after a failure. Returns false on Ctrl-C. */
bool jobs_run(struct job *jobs, size_t count, unsigned parallel, const struct tempdir *dir, const char *what,
              bool stop_on_failure);
/* Print the end of a failed job's log to stderr. */
void job_print_log(const struct job *j);
/* Print the warnings in a job's log to stderr. */
void job_print_warnings(const struct job *j);
/* Set in the environment of such a process: it is one of several, and its record is read. */
#define JOB_VARIABLE "SLUICE_JOB"
/* Path of this executable. */
void self_path(char *out, size_t size);

#endif
