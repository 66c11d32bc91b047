/* minder.h - hosts that wait without a call. */
#ifndef CUDART_MINDER_H
#define CUDART_MINDER_H

struct cudart;

/* Work stays queued: from now on it is also executed when the program makes no call for a while. */
void cudart_mind(struct cudart *c);

#endif
