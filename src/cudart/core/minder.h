/* minder.h - executes queued work while the host waits without a call, for example for memory that a kernel writes. */
#ifndef CUDART_CORE_MINDER_H
#define CUDART_CORE_MINDER_H

struct cudart;

/* From now on a thread executes the queue once the program has slept for 0.2 s or made no call for 5 s. Called when
 * work stays queued; later calls do nothing. */
void cudart_mind(struct cudart *c);

#endif
