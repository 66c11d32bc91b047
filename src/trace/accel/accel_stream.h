/* accel_stream.h - the lines of one kernel file of Accel-Sim: text (.traceg, .trace), xz (.traceg.xz), or the packed
 * form of 2026 (.tracez), converted to the lines of a .traceg.
 *
 * Streams: a buffer of a few megabytes, never a whole kernel.
 */
#ifndef TRACE_ACCEL_ACCEL_STREAM_H
#define TRACE_ACCEL_ACCEL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct accel_stream;

/* NULL with `e` naming the file. */
struct accel_stream *accel_stream_open(const char *path, struct err *e);
/* The next line without its end; valid until the next call. False at the end of the file, or with `e` set for
 * truncated or damaged compression. */
bool accel_stream_line(struct accel_stream *s, const char **line, size_t *n, struct err *e);
uint64_t accel_stream_number(const struct accel_stream *s); /* of the last line, from 1 */
/* A byte count that only grows, and its final value: for progress. */
void accel_stream_progress(const struct accel_stream *s, uint64_t *done, uint64_t *total);
void accel_stream_close(struct accel_stream *s);

#endif
