/* slt_write.h - writing our own trace format (docs/reference/trace-format.md): launches as they run, or as another
 * trace gives them.
 *
 * The file appears whole or not at all: it has no name until slt_finish (base/output.h).
 */
#ifndef TRACE_SLT_WRITE_H
#define TRACE_SLT_WRITE_H

#include "ptx/feed.h"
#include "trace/common/input.h"
#include "trace/common/order.h"

struct slt_writer;

/* `program`: what is recorded, may be NULL. `temp`: the file that becomes `path`, if somebody else gives it that name
 * (output_reach); NULL: slt_finish does. */
struct slt_writer *slt_create(const char *path, const char *temp, const char *program, struct err *e);
/* A copy between host and device; `addr`: on the device, 0 if not known. */
void slt_note_copy(struct slt_writer *w, uint64_t addr, uint64_t bytes, bool to_device);
/* Record one launch: a feed that passes everything on to `inner` and writes what it answers, for `slots` CTA slots.
 * Whoever has it runs it (the timing model, or trace_drive), then calls slt_end. */
struct feed *slt_begin(struct slt_writer *w, struct feed *inner, uint32_t slots, struct err *e);
/* The launch is over. `whole` false: it faulted; it is left out of the file. */
bool slt_end(struct slt_writer *w, bool whole, struct err *e);
/* What could overlap (order.h): a launch is submitted, after the steps `deps`; returns its step. The host waits for
 * steps, for everything if there are none. The launch that slt_end is about to end is that of `step`. The order is
 * written if there is more than one stream in it. */
uint32_t slt_note_submit(struct slt_writer *w, uint32_t stream, int priority, const uint32_t *deps, uint32_t n);
void slt_note_wait(struct slt_writer *w, const uint32_t *deps, uint32_t n);
void slt_note_ran(struct slt_writer *w, uint32_t step);
/* The order of another trace whose launches have all been written. */
void slt_set_order(struct slt_writer *w, const struct trace_order *order);
/* Complete the file and give it its name; frees `w` either way. */
bool slt_finish(struct slt_writer *w, struct err *e);
/* Remove what was written; frees `w`. NULL is allowed. */
void slt_abandon(struct slt_writer *w);

#endif
