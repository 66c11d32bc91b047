/* meter.h - progress of a launch as one line on a terminal: finished CTAs, seconds, estimated time left. */
#ifndef SESSION_METER_H
#define SESSION_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/feed.h"

/* An observer in place of the line: launch `number` (from 0) has ended so many CTAs. */
typedef void meter_look(void *ctx, uint32_t number, const char *kernel, uint32_t ended, uint32_t ctas);
struct meter {
  bool on, drawn;
  meter_look *look;       /* NULL: draw */
  void (*end)(void *ctx); /* beside `look`: a launch has ended; may be NULL */
  void *ctx;
  double every;                   /* seconds between two calls of `look`, at least */
  double start, read_from, shown; /* seconds of a monotonic clock; read_from: end of the last launch */
  uint32_t next, from, launches;  /* launches: total, 0 if unknown; from: earlier ones are skipped */
};
/* One of the running launches. */
struct meter_launch {
  struct feed_watch watch;
  struct meter *meter;
  uint32_t number;
  double start;
};

/* The name inside a mangled one, "kernel" in "_Z6kernelPf": where it begins, and *length, at most 32. */
const char *meter_kernel(const char *mangled, int *length);
/* `wanted`: draw, if standard error is a terminal. Nothing is drawn in the first two seconds of a launch (of the run,
 * if the number of launches is known). */
void meter_init(struct meter *m, bool wanted);
void meter_expect(struct meter *m, uint32_t from, uint32_t launches);
/* Launch `number` (from 0) of the run starts, driven through `f`; `l` must live as long. */
void meter_begin(struct meter *m, struct meter_launch *l, struct feed *f, uint32_t number);
/* From now on call `look` about ten times a second while a launch runs, and draw nothing; NULL: neither. */
void meter_watch(struct meter *m, meter_look *look, void *ctx);
/* A launch has ended: erase the line. */
void meter_end(struct meter *m);
/* A launch is being read from a file: bytes read. */
void meter_reading(void *meter, uint64_t done, uint64_t total);

#endif
