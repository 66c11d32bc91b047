/* slt_write.h - writes .slt files (docs/reference/trace-format.md): launches as they run, or from another trace.
 *
 * The file appears whole or not at all: it gets its name at slt_finish (base/output.h).
 */
#ifndef TRACE_SLT_SLT_WRITE_H
#define TRACE_SLT_SLT_WRITE_H

#include "ptx/feed.h"
#include "trace/common/input.h"
#include "trace/common/order.h"

struct slt_writer;

/* `program`: the recorded program, may be NULL. `machine`: as in struct trace_input. `temp`: the file that becomes
 * `path`, if the caller renames it (output_reach); NULL: slt_finish does. */
struct slt_writer *slt_create(const char *path, const char *temp, const char *program, uint32_t machine, struct err *e);
/* A copy between host and device; `addr`: on the device, 0 if not known. */
void slt_note_copy(struct slt_writer *w, uint64_t addr, uint64_t bytes, bool to_device);
/* Record one launch: a feed that passes all calls on to `inner` and writes the results, for `slots` CTA slots. The
 * caller runs it (timing model or trace_drive), then calls slt_end. */
struct feed *slt_begin(struct slt_writer *w, struct feed *inner, uint32_t slots, struct err *e);
/* End of the launch. `whole` false: it faulted and is omitted from the file. */
bool slt_end(struct slt_writer *w, bool whole, struct err *e);
/* Possible overlap (order.h): a launch is submitted, after the steps `deps`; returns its step. The host waits for
 * steps, for everything if there are none. The next slt_end ends the launch of `step`. The order is written if there
 * is more than one stream in it. */
uint32_t slt_note_submit(struct slt_writer *w, uint32_t stream, int priority, const uint32_t *deps, uint32_t n);
void slt_note_wait(struct slt_writer *w, const uint32_t *deps, uint32_t n);
void slt_note_ran(struct slt_writer *w, uint32_t step);
/* Copy the order of another trace whose launches have all been written. */
void slt_set_order(struct slt_writer *w, const struct trace_order *order);
/* Complete the file and name it; frees `w` either way. */
bool slt_finish(struct slt_writer *w, struct err *e);
/* Remove what was written; frees `w`. NULL is allowed. */
void slt_abandon(struct slt_writer *w);

#endif
