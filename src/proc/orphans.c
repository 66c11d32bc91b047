/* orphans.c - see orphans.h. */
#include "proc/orphans.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/paths.h"

/* A line of the memory map of `pid` contains `want`. Sets *mapped to whether it has a memory map: a process that is
 * ending and a zombie have an empty one. */
static bool maps(pid_t pid, const char *want, bool *mapped) {
  char path[64], line[PATH_MAX + 128];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *f = fopen(path, "r");
  bool found = false;
  *mapped = !f; /* the map of a program of another user cannot be opened */
  while (f && !found && fgets(line, sizeof line, f)) found = strstr(line, want) != NULL, *mapped = true;
  if (f) fclose(f);
  return found;
}

/* It contains Sluice's runtime, or is ending: its own orphans become children of this process when it has ended. */
static bool simulates(pid_t pid) {
  char lib[PATH_MAX], want[PATH_MAX + 32];
  path_lib(lib, sizeof lib);
  snprintf(want, sizeof want, "%s/libsluice-core.so", lib);
  bool before, after;
  if (maps(pid, want, &before) || !before) return true;
  maps(pid, want, &after); /* the map is read in pieces: it was whole only if it is still there */
  return !after;
}

/* Children of this process now: PR_SET_CHILD_SUBREAPER. */
static size_t children(pid_t *out, size_t room) {
  char path[64];
  size_t n = 0;
  long pid;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *f = fopen(path, "r");
  while (f && n < room && fscanf(f, "%ld", &pid) == 1) out[n++] = (pid_t)pid;
  if (f) fclose(f);
  return n;
}

void processes_wait(void) {
  enum { MOST = 4096 };
  pid_t child[MOST];
  for (bool any = true; any;) {
    size_t n = children(child, MOST);
    any = false;
    bool ended = false; /* its orphans are children of this process now: look again */
    for (size_t i = 0; i < n; i++) {
      int ignored;
      pid_t changed = waitpid(child[i], &ignored, WNOHANG); /* -1: the keeper, reaped by its owner */
      if (changed > 0) ended = true;
      if (changed == 0) any |= simulates(child[i]);
    }
    if (ended) {
      any = true;
      continue;
    }
    sigset_t wanted;
    sigemptyset(&wanted);
    int const list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) sigaddset(&wanted, list[i]);
    int sig = any ? sigtimedwait(&wanted, NULL, &(struct timespec){.tv_nsec = 200000000}) : 0;
    if (sig > 0 && sig != SIGCHLD) /* all receive the signal and are awaited again */
      for (size_t i = 0; i < n; i++)
        if (simulates(child[i])) kill(child[i], sig);
  }
}
