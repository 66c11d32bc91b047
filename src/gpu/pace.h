/* pace.h - whether windows (ahead.h) pay on this host, for one kernel: from time to time a few short stretches of
 * cycles with and without are measured by turns, and the faster way is kept for longer and longer. Both give the same
 * counters, so that the clock decides about speed alone.
 */
#ifndef GPU_PACE_H
#define GPU_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  PACE_CHUNK = 256, /* cycles that are measured together, those of jumps left out */
  PACE_PAIRS = 3,   /* chunks of each way in a trial, after one that calls the threads */
  PACE_KEPT = 32,   /* chunks until the next trial, doubled by each that ends the same way, up to */
  PACE_LONGEST = 512
};

struct pace {
  bool on;           /* windows open now */
  bool kept, before; /* what the last trial said; no trial is under way */
  uint32_t cycles;   /* of the present chunk */
  uint32_t chunk;    /* of the trial, from 0; of those until the next one */
  uint32_t rest;     /* of these, all */
  uint64_t since;    /* ns; 0: the clock stands */
  uint64_t spent;    /* ns of the present chunk before that */
  uint64_t ns[2][PACE_PAIRS];
};

void pace_init(struct pace *p);
/* A chunk has taken `ns`: what to do in the next one. */
void pace_chunk(struct pace *p, uint64_t ns);
/* The launch rests: the time until its next cycle is not its own. */
void pace_pause(struct pace *p);
void pace_read(struct pace *p);

/* A cycle begins. */
static inline void pace_cycle(struct pace *p) {
  if (__builtin_expect(!p->since || p->cycles >= PACE_CHUNK, 0)) pace_read(p);
  p->cycles++;
}

#endif
