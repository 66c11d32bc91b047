/* accel_export.h - writing recorded kernels as Accel-Sim's traces: kernelslist.g and a .traceg per launch.
 *
 * The canonical form is what the tracer writes: base and stride where the active lanes are neighbours at equal
 * distances, else base and deltas. An imported trace is exported byte for byte; instructions not from SASS get SASS
 * names by pipe and latency class.
 */
#ifndef TRACE_ACCEL_ACCEL_EXPORT_H
#define TRACE_ACCEL_ACCEL_EXPORT_H

#include "trace/common/input.h"

/* Write all events of `t` into the existing folder `dir`. `version` of the tracer: 1.2, 3, 4, 5 or 6; 0: that of the
 * imported file, or 5. */
bool accel_export(struct trace_input *t, const char *dir, double version, struct err *e);

#endif
