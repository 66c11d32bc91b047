/* replay.h - a recorded program instead of a running one: every launch of a trace through a session. */
#ifndef SESSION_REPLAY_H
#define SESSION_REPLAY_H

#include "session/session.h"
#include "trace/common/input.h"

struct replay_options {
  uint32_t from; /* launches before this one are not read */
};

/* Run what `t` has left. False with `e`: the launches before the one that failed are in the session's record. */
bool session_replay(struct session *s, struct trace_input *t, const struct replay_options *o, struct err *e);

#endif
