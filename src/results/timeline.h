/* timeline.h - a launch's timeline as a Perfetto trace, for ui.perfetto.dev (docs/how-to/timeline.md). */
#ifndef RESULTS_TIMELINE_H
#define RESULTS_TIMELINE_H

#include <stdbool.h>

#include "base/err.h"

struct gpu_timeline;
/* Written whole or not at all. A nanosecond of the trace is a core cycle. */
bool timeline_write(const struct gpu_timeline *t, const char *path, struct err *e);

#endif
