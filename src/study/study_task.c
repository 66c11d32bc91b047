/* study_task.c - one task of a job array: executes its runs in turn and leaves a result file for each. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jsonfile.h"
#include "base/mem.h"
#include "base/paths.h"
#include "proc/process.h"
#include "study/study_impl.h"

enum { LOG_BYTES = 65536, GRACE_SECONDS = 5 };

/* Wait for the run, up to its time limit. False: Slurm reclaims the node (signal); write nothing. */
static bool wait_for(pid_t pid, double limit, uint64_t memory, struct study_outcome *o) {
  sigset_t watched = process_signals();
  double started = study_now(), term = 0;
  bool stopped = false;
  int status;
  struct rusage u;
  while (wait4(pid, &status, WNOHANG, &u) != pid) {
    int sig = sigtimedwait(&watched, NULL, &(struct timespec){.tv_nsec = 200000000});
    double now = study_now();
    stopped |= sig == SIGTERM || sig == SIGINT;
    if (!term && !stopped) o->timed_out = limit > 0 && now - started > limit;
    if (!term && !stopped) o->too_big = memory && study_memory(pid) > memory;
    if (!term && (stopped || o->timed_out || o->too_big)) {
      term = now;
      kill(pid, SIGTERM);
    } else if (term && now - term > GRACE_SECONDS) {
      kill(-pid, SIGKILL);
    }
  }
  o->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  o->seconds = study_now() - started;
  o->cpu_seconds =
      (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
  o->peak_kb = u.ru_maxrss;
  return !stopped;
}

static json_t *safe_text(const char *s) {
  json_t *j = json_string(s ? s : "");
  return j ? j : json_string("(what it printed is not UTF-8)");
}

static bool write_result(const char *path, const struct study_outcome *o, json_t *record, const char *log) {
  char host[128] = "";
  gethostname(host, sizeof host - 1);
  const char *node = getenv("SLURMD_NODENAME"); /* distinguishes nodes that share a machine */
  json_t *r =
      json_pack("{s:i, s:b, s:b, s:f, s:f, s:I, s:s, s:o}", "exit_code", o->exit_code, "timed_out", o->timed_out,
                "too_big", o->too_big, "seconds", o->seconds, "cpu_seconds", o->cpu_seconds, "peak_kb",
                (json_int_t)o->peak_kb, "host", node && *node ? node : host, "log", safe_text(o->exit_code ? log : ""));
  if (record) json_object_set(r, "record", record);
  return jsonfile_write(r, path, JSON_COMPACT | JSON_REAL_PRECISION(10), NULL);
}

/* -1: stopped. */
static int one_run(const char *folder, json_t *plan, json_t *run, const char *self) {
  const char *hash = json_string_value(json_object_get(run, "hash"));
  json_t *args = json_object_get(run, "args"), *v;
  char result[PATH_MAX + 128], record_path[PATH_MAX + 128], log_path[PATH_MAX + 128];
  if (!hash || !json_is_array(args)) return 2;
  snprintf(result, sizeof result, "%s/%s.result", folder, hash);
  if (!access(result, F_OK)) return 0; /* the task was requeued after this run */
  char **argv = mem_zeroed(json_array_size(args) + 1, sizeof *argv);
  size_t i;
  json_array_foreach(args, i, v) argv[i] = (char *)(json_string_value(v) ? json_string_value(v) : "");
  snprintf(record_path, sizeof record_path, "%s/%s.%d.json", folder, hash, (int)getpid());
  snprintf(log_path, sizeof log_path, "%s/%s.%d.log", folder, hash, (int)getpid());
  uint64_t memory = (uint64_t)json_integer_value(json_object_get(plan, "memory_limit"));
  struct study_outcome o = {0};
  unsigned threads = (unsigned)json_integer_value(json_object_get(plan, "threads"));
  int pid = study_start(self, argv, threads, record_path, log_path);
  bool ended = pid > 0 && wait_for(pid, json_number_value(json_object_get(plan, "time_limit")), memory, &o);
  json_t *record = ended && !o.exit_code ? json_load_file(record_path, 0, NULL) : NULL;
  char *log = study_log_tail(log_path, LOG_BYTES);
  int rc = ended ? 0 : -1;
  if (ended && !write_result(result, &o, record, log)) {
    fprintf(stderr, "sluice: cannot write '%s': %s\n", result, strerror(errno));
    rc = 8; /* the command's exit code for an output error */
  }
  unlink(record_path);
  unlink(log_path);
  json_decref(record);
  free(log);
  free(argv);
  return rc;
}

int study_task(const char *folder, uint64_t task, const char *self) {
  char path[PATH_MAX];
  json_error_t je;
  snprintf(path, sizeof path, "%s/runs.json", folder);
  json_t *plan = json_load_file(path, 0, &je), *run;
  const char *cwd = json_string_value(json_object_get(plan, "folder"));
  json_t *runs = json_array_get(json_object_get(plan, "tasks"), task);
  char absolute[PATH_MAX];
  int rc = 0;
  if (!runs || !cwd || !realpath(folder, absolute) || chdir(cwd)) {
    fprintf(stderr, "sluice: %s: no task %llu there that could be run (%s)\n", path, (unsigned long long)task,
            plan ? strerror(errno) : je.text);
    rc = 2;
  }
  sigset_t watched = process_signals();
  sigprocmask(SIG_BLOCK, &watched, NULL);
  size_t i;
  json_array_foreach(runs, i, run) {
    if (rc >= 0 && rc != 2) {
      int one = one_run(absolute, plan, run, self);
      rc = one < 0 || one > rc ? one : rc;
    }
  }
  json_decref(plan);
  return rc < 0 ? 143 : rc;
}
