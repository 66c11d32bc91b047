/* thread.c - see thread.h. */
#include "base/thread.h"

#include <signal.h>

bool thread_start(pthread_t *t, void *(*run)(void *), void *ctx) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool ok = pthread_create(t, NULL, run, ctx) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return ok;
}
