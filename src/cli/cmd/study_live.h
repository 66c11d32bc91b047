/* study_live.h - the live view of `sluice study --live`: what runs, what has ended with its rates, when it ends.
 *
 * On a terminal it is redrawn in place and erased at the end; elsewhere every ended run is a line, and so is the state
 * now and then. It reads records that are stored anyway.
 */
#ifndef CLI_CMD_STUDY_LIVE_H
#define CLI_CMD_STUDY_LIVE_H

#include "study/study.h"

struct study_live;
/* `ms`: of session/live.h. The study outlives the view. */
struct study_live *study_live_open(const struct study *s, uint32_t ms);
void study_live_close(struct study_live *l); /* erases it; NULL: nothing */
/* For struct study_options; `ctx` is the view. */
void study_live_show(void *ctx, const struct study_progress *p);
void study_live_note(void *ctx, const char *line);
void study_live_event(void *ctx, const struct study_event *v, const struct study_progress *p);

#endif
