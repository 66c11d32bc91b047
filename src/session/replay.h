/* replay.h - runs every launch of a trace through a session. */
#ifndef SESSION_REPLAY_H
#define SESSION_REPLAY_H

#include "session/session.h"
#include "trace/common/input.h"

struct replay_options {
  uint32_t from; /* earlier launches are not read */
};

/* Run the rest of `t`. False with `e`: the record holds the launches before the failed one. */
bool session_replay(struct session *s, struct trace_input *t, const struct replay_options *o, struct err *e);

#endif
