/* thread.h - host threads of the simulator beside those of the simulated program, which gets all signals. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* False: the system has no thread to give. Of signals the thread gets only those of its own faults. */
bool thread_start(pthread_t *t, void *(*run)(void *), void *ctx);

#endif
