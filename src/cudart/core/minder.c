/* minder.c - lets the device progress while the host waits without a call.
 *
 * Queued work is executed when a call waits. A host may wait in other ways: for a condition that a host function of a
 * stream sets, or for pinned memory that a kernel writes. A thread of the library handles such hosts. It executes the
 * queue once all threads of the program have slept through LOOKS_ASLEEP looks, or have made no call for LOOKS_AWAKE.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "cudart/core/minder.h"
#include "cudart/core/context.h"
#include "cudart/core/queue.h"

enum { LOOK_NS = 20000000, LOOKS_ASLEEP = 10, LOOKS_AWAKE = 250 }; /* 20 ms; 0.2 s; 5 s */

/* The state in /proc/self/task/ID/stat, after the name in parentheses; 0: the thread has ended. */
static char state_of(int tasks, const char *id) {
  char path[64], text[512];
  snprintf(path, sizeof path, "%s/stat", id);
  int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return 0;
  text[n] = 0;
  const char *end = strrchr(text, ')');
  return end && end[1] == ' ' ? end[2] : 0;
}

/* True if every other thread of the process sleeps, according to the kernel. */
static bool others_sleep(void) {
  DIR *d = opendir("/proc/self/task");
  if (!d) return false;
  bool asleep = true;
  const struct dirent *entry;
  while (asleep && (entry = readdir(d))) {
    if (!isdigit((unsigned char)*entry->d_name) || atoi(entry->d_name) == gettid()) continue;
    char state = state_of(dirfd(d), entry->d_name);
    asleep = state == 0 || strchr("SZXTt", state);
  }
  closedir(d);
  return asleep;
}

/* An error is returned by the program's next call. */
static void carry_out_all(struct cudart *c, bool awake) {
  if (awake)
    cudart_why(c, cudaSuccess, "the program has made no CUDA call for %d s: the work in its streams is executed now",
               (int)((uint64_t)LOOK_NS * LOOKS_AWAKE / 1000000000));
  cudaError_t r = cudart_drain(c);
  if (r != cudaSuccess && !c->sticky && !c->late) c->late = r;
}

static void *mind(void *ctx) {
  struct cudart *c = ctx;
  uint64_t seen = 0;
  for (uint32_t asleep = 0, awake = 0;;) {
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    if (pthread_mutex_trylock(&c->lock)) { /* a call is in progress */
      asleep = awake = 0;
      continue;
    }
    bool ends = c->closed || c->closing;
    bool quiet = c->calls == seen && c->session && !session_done(c->session, SESSION_ALL) && !c->sticky;
    seen = c->calls;
    awake = quiet ? awake + 1 : 0;
    asleep = quiet && others_sleep() ? asleep + 1 : 0;
    if (!ends && (asleep >= LOOKS_ASLEEP || awake >= LOOKS_AWAKE)) {
      carry_out_all(c, asleep < LOOKS_ASLEEP);
      asleep = awake = 0;
    }
    pthread_mutex_unlock(&c->lock);
    if (ends) return NULL;
  }
}

void cudart_mind(struct cudart *c) {
  if (c->minded) return;
  c->minded = true;
  pthread_t thread;
  if (thread_start(&thread, mind, c)) pthread_detach(thread);
}
