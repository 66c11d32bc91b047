/* meter.h - how far a launch is, as one line on a terminal: CTAs that have ended, seconds, an estimate of what is left.
 */
#ifndef SESSION_METER_H
#define SESSION_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/feed.h"

struct meter {
  bool on, drawn;
  double start, read_from, shown; /* seconds of a monotonic clock; read_from: when the last launch ended */
  uint32_t next, from, launches;  /* launches: in all, 0 if nobody knows; from: those before are skipped */
};
/* One of the launches that run. */
struct meter_launch {
  struct feed_watch watch;
  struct meter *meter;
  uint32_t number;
  double start;
};

/* `wanted`: draw, if standard error is a terminal. Nothing shows in the first two seconds of a launch (of the run,
 * where the number of launches is known). */
void meter_init(struct meter *m, bool wanted);
void meter_expect(struct meter *m, uint32_t from, uint32_t launches);
/* Launch `number` (from 0) of the run is about to be driven through `f`; `l` lives as long. */
void meter_begin(struct meter *m, struct meter_launch *l, struct feed *f, uint32_t number);
/* A launch has ended: the line goes. */
void meter_end(struct meter *m);
/* A launch is being read from a file: bytes. */
void meter_reading(void *meter, uint64_t done, uint64_t total);

#endif
