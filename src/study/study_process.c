/* study_process.c - one run as a separate process: a crash, hang or leak does not affect others. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "proc/process.h"
#include "study/study_impl.h"

double study_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Not by setrlimit: the simulated memory reserves gigabytes of addresses that stay untouched. */
uint64_t study_memory(int pid) {
  char path[64], text[4096];
  unsigned long long all = 0, resident = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", pid);
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  if (fscanf(f, "%llu %llu", &all, &resident) != 2) resident = 0;
  fclose(f);
  uint64_t bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
  if (!(f = fopen(path, "r"))) return bytes;
  size_t n = fread(text, 1, sizeof text - 1, f);
  text[n] = 0;
  fclose(f);
  for (char *p = text, *end;; p = end) {
    long child = strtol(p, &end, 10);
    if (end == p) return bytes;
    bytes += study_memory((int)child);
  }
}

bool study_detailed(const struct study *s) {
  return !(s->mode && strcmp(s->mode, "timing")) && !s->estimate && !s->timing_kernels;
}

int study_start(const char *self, char *const *args, unsigned threads, const char *record, const char *log) {
  size_t n = 0, k = 0;
  while (args[n]) n++;
  char **argv = mem_zeroed(n + 8, sizeof *argv), count[16];
  argv[k++] = (char *)self, argv[k++] = "run", argv[k++] = "--quiet", argv[k++] = "--json", argv[k++] = (char *)record;
  snprintf(count, sizeof count, "%u", threads);
  if (threads > 1) argv[k++] = "--threads", argv[k++] = count;
  for (size_t i = 0; i < n; i++) argv[k++] = args[i];
  pid_t parent = getpid();
  fflush(NULL);
  pid_t pid = fork();
  if (pid) {
    free(argv);
    return pid;
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  setenv("SLUICE_JOB", "1", 1); /* see proc/jobs.h */
  setpgid(0, 0);                /* Ctrl-C reaches only this process, which ends the group */
  process_child(parent);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0666), null = open("/dev/null", O_RDONLY);
  if (fd < 0) fd = open("/dev/null", O_WRONLY);
  dup2(null, STDIN_FILENO);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  execv(self, argv);
  _exit(127);
}

char *study_log_tail(const char *path, size_t limit) {
  size_t n;
  char *text = path_read_whole(path, &n);
  if (!text || n <= limit) return text;
  char *tail = mem_text(text + n - limit);
  free(text);
  return tail;
}

bool study_disk_full(const char *log_text) {
  return log_text && (strstr(log_text, strerror(ENOSPC)) || strstr(log_text, strerror(EDQUOT)));
}

/* The last line of the log that begins with "sluice:", else its last line. */
static void last_words(const char *log, char *out, size_t size) {
  const char *best = NULL, *last = NULL;
  for (const char *p = log; p && *p;) {
    if (!strncmp(p, "sluice: ", 8)) best = p + 8;
    if (p[strspn(p, " \t\r\n")] && *p != '\n') last = p;
    p = strchr(p, '\n');
    if (p) p++;
  }
  const char *line = best ? best : last;
  snprintf(out, size, "%.*s", line ? (int)strcspn(line, "\n") : 0, line ? line : "");
}

void study_reason(const struct study_outcome *o, const char *log_text, const struct study *s, char *out, size_t size) {
  char words[400] = "";
  last_words(log_text, words, sizeof words);
  if (o->timed_out) snprintf(out, size, "took longer than the limit of %g s", s->time_limit);
  else if (o->too_big) snprintf(out, size, "used more memory than the limit of %g MB", (double)s->memory_limit / 1e6);
  else if (o->exit_code > 128 && !*words)
    snprintf(out, size, "killed by signal %d (%s)", o->exit_code - 128, strsignal(o->exit_code - 128));
  else if (*words) snprintf(out, size, "%s", words);
  else snprintf(out, size, "ended with code %d", o->exit_code);
}

static bool plain_word(const char *s) {
  return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@")];
}

char *study_command(struct arena *a, const struct study_run *r) {
  char *text = arena_strdup(a, "sluice run");
  for (size_t i = 0; r->args[i]; i++) {
    const char *s = r->args[i];
    if (plain_word(s)) {
      text = arena_printf(a, "%s %s", text, s);
      continue;
    }
    char *quoted = arena_strdup(a, "'");
    for (const char *p = s; *p; p++)
      quoted = *p == '\'' ? arena_printf(a, "%s'\\''", quoted) : arena_printf(a, "%s%c", quoted, *p);
    text = arena_printf(a, "%s %s'", text, quoted);
  }
  return text;
}

bool study_store(struct db *db, const struct study *s, const struct study_run *r, const struct study_result *d,
                 struct err *e) {
  const struct study_outcome *o = &d->o;
  char reason[512] = "";
  bool done = !o->exit_code && d->record;
  if (!done) study_reason(o, d->log, s, reason, sizeof reason);
  struct arena a = {0};
  struct db_run run = {.hash = r->hash,
                       .done = done,
                       .exit_code = o->exit_code,
                       .error = done ? NULL : reason,
                       .log = done ? NULL : d->log,
                       .command = study_command(&a, r),
                       .program = r->program,
                       .program_hash = r->program_hash,
                       .gpu = r->gpu,
                       .scheme = r->scheme,
                       .mode = r->mode,
                       .simulator = study_simulator(),
                       .host = d->host,
                       .seconds = o->seconds,
                       .cpu_seconds = o->cpu_seconds,
                       .peak_kb = o->peak_kb};
  bool ok = db_run_put(db, &run, done ? d->record : NULL, e);
  arena_free(&a);
  return ok;
}
