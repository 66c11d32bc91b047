/* accel.h - Accel-Sim's trace folders (kernelslist.g) and single kernel files as recorded kernels (input.h).
 *
 * A kernel file is read once, when its launch starts: its text becomes compact records in an unlinked temporary file,
 * CTA by CTA, so that CTAs can be opened in any order and no kernel is ever held in memory.
 */
#ifndef TRACE_ACCEL_ACCEL_H
#define TRACE_ACCEL_ACCEL_H

#include "trace/common/input.h"

/* `path`: kernelslist.g (or another name that begins with kernelslist), .traceg, .traceg.xz, .tracez, .trace. NULL with
 * `e`. */
struct trace_input *accel_open(const char *path, struct err *e);
/* By name only. */
bool accel_is_name(const char *path);

#endif
