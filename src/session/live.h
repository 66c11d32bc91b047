/* live.h - the live view of `sluice run --live`: what the machine does while a launch runs.
 *
 * On a terminal it is redrawn in place and erased at the end of the run; elsewhere it is a line now and then. It reads
 * the machine's counters between two cycles and changes none.
 */
#ifndef SESSION_LIVE_H
#define SESSION_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct session;
struct live;

enum { LIVE_DEFAULT_MS = UINT32_MAX }; /* half a second on a terminal, ten seconds elsewhere */
/* The value of --live, "every=SECONDS" or "every=auto"; NULL: no view, 0. */
bool live_interval(const char *text, uint32_t *ms, struct err *e);
/* Replace the session's line of progress by the view, drawn on standard error at most every `ms` milliseconds. */
struct live *live_open(struct session *s, uint32_t ms);
void live_close(struct live *l); /* erases it; NULL: nothing */

#endif
