/* replay.c - launches of a trace, one after the other, on the session's machine. */
#include "session/replay.h"

#include "session/meter.h"
#include "trace/trace_feed.h"

struct replayed {
  struct trace_input *t;
  const struct feed_kernel *kernel;
  uint32_t slots;
  struct trace_feed *feed;
};

static struct feed *open_launch(void *ctx, struct err *e) {
  struct replayed *r = ctx;
  r->feed = trace_feed_new(r->t, r->kernel, r->slots, e);
  return r->feed ? trace_feed_get(r->feed) : NULL;
}

static void explain_launch(void *ctx, struct err *e) {
  const struct replayed *r = ctx;
  const struct err *wrong = r->feed ? trace_feed_error(r->feed) : NULL;
  if (wrong) *e = *wrong;
}

static bool replay_launch(struct session *s, struct trace_input *t, const struct trace_event *ev, struct err *e) {
  struct replayed r = {.t = t, .kernel = ev->kernel, .slots = session_cta_slots(s)};
  struct session_item item = {.kind = SESSION_FEED, .ctx = &r, .open = open_launch, .explain = explain_launch};
  bool good = session_wait(s, session_submit(s, &item, NULL, 0), NULL, e);
  if (r.feed) trace_feed_free(r.feed);
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
  meter_expect(session_meter(s), o->from, t->launches);
  t->reading = meter_reading;
  t->reading_ctx = session_meter(s);
  if (!skip_to(s, t, o, e)) return false;
  for (;;) {
    if (!t->ops->next(t, &ev, e)) return false;
    if (ev.kind == TRACE_END) return true;
    if (ev.kind == TRACE_COPY) session_note_copy(s, ev.bytes, ev.to_device);
    if (ev.kind != TRACE_LAUNCH || ev.launch < o->from) continue;
    if (!replay_launch(s, t, &ev, e)) return false;
  }
}
