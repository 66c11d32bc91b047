/* replay.c - launches of a trace, one after the other, on the session's machine. */
#include "session/replay.h"

#include "trace/trace_feed.h"

static bool replay_launch(struct session *s, struct trace_input *t, const struct trace_event *ev, struct err *e) {
  struct trace_feed *f = trace_feed_new(t, ev->kernel, session_cta_slots(s), e);
  if (!f) return false;
  bool good = session_run_feed(s, trace_feed_get(f), e);
  const struct err *wrong = trace_feed_error(f);
  if (!good && wrong) *e = *wrong;
  trace_feed_free(f);
  return good;
}

static bool skip_to(struct session *s, struct trace_input *t, const struct replay_options *o, struct err *e) {
  if (!o->from) return true;
  if (t->launches && o->from >= t->launches)
    return err_set(e, ERR_USAGE, "%s: there is no launch %u: it holds %u, counted from 0", t->path, o->from,
                   t->launches);
  for (uint32_t i = 0; i < o->from; i++) session_skip_launch(s);
  return !t->ops->seek || t->ops->seek(t, o->from, e);
}

bool session_replay(struct session *s, struct trace_input *t, const struct replay_options *o, struct err *e) {
  struct err local = {0};
  struct trace_event ev = {0};
  if (!e) e = &local;
  if (!skip_to(s, t, o, e)) return false;
  for (;;) {
    if (!t->ops->next(t, &ev, e)) return false;
    if (ev.kind == TRACE_END) return true;
    if (ev.kind == TRACE_COPY) session_note_copy(s, ev.bytes, ev.to_device);
    if (ev.kind != TRACE_LAUNCH || ev.launch < o->from) continue;
    if (!replay_launch(s, t, &ev, e)) return false;
    if (o->progress) o->progress(o->ctx, ev.launch + 1, t->launches);
  }
}
