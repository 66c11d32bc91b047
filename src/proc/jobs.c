/* jobs.c - a small pool of child processes with progress; Ctrl-C ends them all. */
#include "proc/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/text.h"
#include "base/mem.h"

void self_path(char *out, size_t size) {
  ssize_t n = readlink("/proc/self/exe", out, size - 1);
  CHECK(n > 0, "cannot read /proc/self/exe: %s", strerror(errno));
  out[n] = 0;
}

static pid_t job_start(struct job *j, size_t index, const struct tempdir *dir, const sigset_t *mask) {
  char name[32];
  snprintf(name, sizeof name, "job%zu.log", index);
  tempdir_file(dir, name, j->log, sizeof j->log);
  fflush(stdout);
  pid_t parent = getpid(), pid = fork();
  if (pid) return pid;
  process_child(parent);
  sigprocmask(SIG_SETMASK, mask, NULL);
  setpgid(0, 0); /* Ctrl-C reaches only this process, which ends the group */
  setenv(JOB_VARIABLE, "1", 1);
  int fd = open(j->log, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  execv(j->argv[0], j->argv);
  _exit(127);
}

static double cpu_of(const struct rusage *u) {
  return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + 1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

struct pool {
  struct job *jobs;
  size_t count, next, running, done;
  pid_t *pid;
  double *since, done_weight, all_weight;
  bool failed;
};

static void reap(struct pool *p) {
  int status;
  struct rusage u;
  for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &u)) > 0;) {
    for (size_t i = 0; i < p->count; i++) {
      if (p->pid[i] != pid) continue;
      struct job *j = &p->jobs[i];
      p->pid[i] = 0;
      j->exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      j->seconds = cli_seconds() - p->since[i];
      j->cpu_seconds = cpu_of(&u);
      j->peak_kb = u.ru_maxrss;
      if (j->exit_code) p->failed = true;
      p->done_weight += j->weight;
      p->running--;
      p->done++;
    }
  }
}

static void end_all(struct pool *p) {
  for (size_t i = 0; i < p->count; i++)
    if (p->pid[i] > 0) kill(-p->pid[i], SIGTERM);
  while (wait(NULL) > 0 || errno == EINTR) continue;
}

static unsigned long threads_of(char *const *argv) {
  unsigned long n = 1;
  for (size_t i = 0; argv && argv[i] && strcmp(argv[i], "--") != 0; i++) {
    if (!strncmp(argv[i], "--threads=", 10)) n = strtoul(argv[i] + 10, NULL, 10);
    else if (!strcmp(argv[i], "--threads") && argv[i + 1]) n = strtoul(argv[i + 1], NULL, 10);
  }
  return n ? n : 1;
}

unsigned jobs_at_once(const struct job *jobs, size_t count, long cpus) {
  unsigned long most = 1, all = cpus > 0 ? (unsigned long)cpus : 1;
  for (size_t i = 0; i < count; i++) {
    unsigned long n = threads_of(jobs[i].argv);
    if (n > most) most = n;
  }
  return (unsigned)(all / most ? all / most : 1);
}

unsigned jobs_threads(unsigned cpus, size_t running, size_t left) {
  size_t all = running + 1 + left;
  return cpus > all ? (unsigned)((cpus - running) / (1 + left)) : 1;
}

bool jobs_run(struct job *jobs, size_t count, unsigned parallel, const struct tempdir *dir, const char *what,
              bool stop_on_failure) {
  struct pool p = {.jobs = jobs,
                   .count = count,
                   .pid = mem_zeroed(count + 1, sizeof *p.pid),
                   .since = mem_zeroed(count + 1, sizeof *p.since)};
  if (!parallel) parallel = jobs_at_once(jobs, count, sysconf(_SC_NPROCESSORS_ONLN));
  for (size_t i = 0; i < count; i++) {
    jobs[i].exit_code = -1;
    if (!(jobs[i].weight > 0)) jobs[i].weight = 1;
    p.all_weight += jobs[i].weight;
  }
  sigset_t watched = process_signals(), old;
  sigprocmask(SIG_BLOCK, &watched, &old);
  struct progress progress;
  progress_start(&progress);
  bool stopped = false;
  while (!stopped && (p.running || (p.next < count && !(stop_on_failure && p.failed)))) {
    while (p.running < parallel && p.next < count && !(stop_on_failure && p.failed)) {
      pid_t pid = job_start(&jobs[p.next], p.next, dir, &old);
      CHECK(pid > 0, "fork: %s", strerror(errno));
      p.since[p.next] = cli_seconds();
      p.pid[p.next++] = pid;
      p.running++;
    }
    int sig = sigtimedwait(&watched, NULL, &(struct timespec){.tv_nsec = 200000000});
    stopped = sig == SIGINT || sig == SIGTERM;
    reap(&p);
    progress_show(&progress, what, p.done_weight, p.all_weight);
  }
  progress_clear(&progress);
  if (stopped) end_all(&p);
  sigprocmask(SIG_SETMASK, &old, NULL);
  free(p.pid);
  free(p.since);
  return !stopped;
}

void job_print_warnings(const struct job *j) {
  char *text = path_read_whole(j->log, NULL), *rest = text, *line;
  while ((line = strsep(&rest, "\n")))
    if (!strncmp(line, "sluice: warning:", 16)) text_say(stderr, "%s\n", line);
  free(text);
}

void job_print_log(const struct job *j) {
  size_t n;
  char *text = path_read_whole(j->log, &n);
  if (!text) return;
  text_say(stderr, "%s", n > 3000 ? text + n - 3000 : text);
  free(text);
}
