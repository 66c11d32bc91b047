/* process.c - see process.h. */
#include "proc/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/output.h"

/* ---- signals and descriptors ---- */

void process_begin(void) {
  struct sigaction old;
  /* Keep descriptors apart from /dev/null: a use of a closed descriptor must fail. */
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", fd ? O_RDONLY : O_WRONLY);
  if (!sigaction(SIGXFSZ, NULL, &old) && old.sa_handler == SIG_DFL) signal(SIGXFSZ, SIG_IGN);
}

void process_child(pid_t parent) {
  signal(SIGXFSZ, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127); /* the parent ended before the line above */
}

/* In the child of vfork only `why` may be written. */
__attribute__((noinline)) static pid_t vfork_and_run(const char *program, char *const *argv, char *const *environment,
                                                     const sigset_t *mask, pid_t parent, volatile int *why) {
  pid_t pid = vfork();
  if (pid) return pid;
  process_child(parent);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execve(program, argv, environment);
  *why = errno;
  _exit(127);
}

sigset_t process_signals(void) {
  sigset_t s;
  sigemptyset(&s);
  sigaddset(&s, SIGINT);
  sigaddset(&s, SIGTERM);
  sigaddset(&s, SIGCHLD);
  return s;
}

int process_spawn(pid_t *pid, const char *program, char *const *argv, char *const *environment, const sigset_t *mask) {
  volatile int why = 0;
  *pid = vfork_and_run(program, argv, environment, mask, getpid(), &why);
  if (*pid < 0) return errno;
  if (why) waitpid(*pid, NULL, 0);
  return why;
}

/* ---- the keeper ---- */

static bool read_start(const char *pid, const char *name, char *out, size_t size, size_t *bytes) {
  char path[300];
  snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  size_t used = 0;
  for (ssize_t n; used < size - 1 && (n = read(fd, out + used, size - 1 - used)) > 0;) used += (size_t)n;
  close(fd);
  out[used] = 0;
  *bytes = used;
  return used > 0;
}

#define KEEPER_NAME "run-keeper"

/* The environment at the start of the process contains `entry`. Keepers are skipped: they must finish their work. */
static bool holds(const char *pid, const char *entry) {
  char text[1 << 18];
  size_t n, length = strlen(entry) + 1;
  if (read_start(pid, "comm", text, sizeof text, &n) && !strcmp(text, KEEPER_NAME "\n")) return false;
  if (!read_start(pid, "environ", text, sizeof text, &n)) return false;
  for (size_t at = 0; at + length <= n + 1; at += strlen(text + at) + 1)
    if (!memcmp(text + at, entry, length)) return true;
  return false;
}

/* Kill the processes found; returns their number. */
static unsigned kill_all(const char *entry) {
  DIR *d = opendir("/proc");
  unsigned found = 0;
  for (struct dirent *p; d && (p = readdir(d));) {
    pid_t pid = (pid_t)atoi(p->d_name);
    if (!isdigit((unsigned char)*p->d_name) || pid == getpid() || !holds(p->d_name, entry)) continue;
    found += !kill(pid, SIGKILL);
  }
  if (d) closedir(d);
  return found;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where) {
  (void)st, (void)type, (void)where;
  remove(path);
  return 0;
}

void process_remove_folder(const char *dir) {
  output_clear_unfinished(dir);
  nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Wait for the other end of the socket to close; a byte before that reports a regular end. Killed processes may have
 * forked meanwhile, so repeat until none is found, for at most ten seconds. */
_Noreturn static void keep(int from, const char *variable, const char *dir) {
  char byte, entry[1200];
  ssize_t n;
  while ((n = read(from, &byte, 1)) < 0 && errno == EINTR) continue;
  if (n > 0) _exit(0);
  snprintf(entry, sizeof entry, "%s=%s", variable, dir);
  for (int i = 0; i < 1000 && kill_all(entry); i++) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  process_remove_folder(dir);
  _exit(0);
}

/* Keeps no descriptor, terminal or signal of the caller, and survives a kill of its process group. */
static void become_keeper(int keep_open) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  setsid();
  prctl(PR_SET_NAME, KEEPER_NAME);
  if (keep_open) close_range(0, (unsigned)keep_open - 1, 0);
  close_range((unsigned)keep_open + 1, ~0u, 0);
}

struct keeper process_keep(const char *variable, const char *dir) {
  struct keeper k = {.pid = -1, .end = -1};
  int p[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p)) return k;
  /* As fork, without an end signal: a wait for any child does not return it. */
  k.pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
  if (!k.pid) {
    become_keeper(p[0]);
    keep(p[0], variable, dir);
  }
  close(p[0]);
  k.end = p[1];
  if (k.pid < 0) close(k.end), k.end = -1;
  return k;
}

void process_release(struct keeper *k) {
  if (k->end < 0) return;
  while (send(k->end, "", 1, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
  close(k->end);
  while (waitpid(k->pid, NULL, __WCLONE) < 0 && errno == EINTR) continue;
  *k = (struct keeper){.pid = -1, .end = -1};
}
