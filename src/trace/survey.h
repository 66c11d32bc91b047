/* survey.h - statistics of a trace, without a machine: instruction mix, memory by space, un-coalescing degrees,
 * footprint, working set per CTA. Also the first differences between two traces.
 */
#ifndef TRACE_SURVEY_H
#define TRACE_SURVEY_H

#include "trace/common/input.h"

enum { SURVEY_KINDS = KIND_EXIT + 1, SURVEY_SPACES = SPACE_GENERIC + 1, SURVEY_LINE = 128 };

struct survey {
  uint64_t warp_insts, thread_insts, ctas, warps;
  uint64_t diverged;           /* warp instructions with idle lanes */
  uint64_t kind[SURVEY_KINDS]; /* warp instructions */
  uint64_t lat[LAT_COUNT];     /* of those of KIND_ALU */
  uint64_t space[SURVEY_SPACES], space_lanes[SURVEY_SPACES], space_bytes[SURVEY_SPACES]; /* memory instructions */
  uint64_t degree[33];       /* loads from global memory by the 128 B lines that they touch, 32: that or more */
  uint64_t lines;            /* distinct lines of global memory and textures */
  uint64_t shared_lines;     /* those of them that more than one CTA touches */
  uint64_t set_sum, set_max; /* lines touched per CTA */
};

struct surveyor;
struct surveyor *survey_new(void);
/* Count the launch last returned by `next`. */
bool survey_launch(struct surveyor *s, struct trace_input *t, const struct trace_event *ev, struct err *e);
const struct survey *survey_result(const struct surveyor *s);
void survey_free(struct surveyor *s);

/* Call `differ` with a line of text for each difference between the traces, at most `limit` times; *found counts them.
 * False with `e`: a trace is unreadable. */
bool trace_compare(struct trace_input *a, struct trace_input *b, uint32_t limit,
                   void (*differ)(void *ctx, const char *text), void *ctx, uint32_t *found, struct err *e);

#endif
