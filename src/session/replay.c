/* replay.c - replays a trace on the session's machine: launch by launch, or, where the trace records concurrency, in
 * the program's order of submission. Each overlapping launch reads the file through its own reader. */
#include "session/replay.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
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

/* ---- launches that may overlap ---- */

struct ordered {
  const char *path;
  uint32_t launch, slots;
  struct trace_input *t;
  struct trace_feed *feed;
};

static struct feed *open_ordered(void *ctx, struct err *e) {
  struct ordered *o = ctx;
  struct trace_event ev = {0};
  o->t = trace_open(o->path, false, e);
  if (!o->t || !o->t->ops->seek(o->t, o->launch, e)) return NULL;
  do {
    if (!o->t->ops->next(o->t, &ev, e)) return NULL;
  } while (ev.kind == TRACE_COPY);
  CHECK(ev.kind == TRACE_LAUNCH, "launch %u is not where its index says", o->launch);
  o->feed = trace_feed_new(o->t, ev.kernel, o->slots, e);
  return o->feed ? trace_feed_get(o->feed) : NULL;
}

static void explain_ordered(void *ctx, struct err *e) {
  const struct ordered *o = ctx;
  const struct err *wrong = o->feed ? trace_feed_error(o->feed) : NULL;
  if (wrong) *e = *wrong;
}

static void release_ordered(void *ctx) {
  struct ordered *o = ctx;
  if (o->feed) trace_feed_free(o->feed);
  trace_close(o->t);
  free(o);
}

static session_task submit_step(struct session *s, struct trace_input *t, const struct trace_step *step,
                                const session_task *deps) {
  struct ordered *o = mem_zeroed(1, sizeof *o);
  *o = (struct ordered){.path = t->path, .launch = step->launch, .slots = session_cta_slots(s)};
  struct session_item item = {.kind = SESSION_FEED,
                              .stream = step->stream,
                              .priority = step->priority,
                              .ctx = o,
                              .open = open_ordered,
                              .explain = explain_ordered,
                              .release = release_ordered};
  return session_submit(s, &item, deps, step->deps);
}

static bool wait_for(struct session *s, const session_task *deps, uint32_t n, struct err *e) {
  if (!n) return session_wait(s, SESSION_ALL, NULL, e);
  for (uint32_t d = 0; d < n; d++)
    if (!session_wait(s, deps[d], NULL, e)) return false;
  return true;
}

static bool replay_ordered(struct session *s, struct trace_input *t, const struct replay_options *o, struct err *e) {
  const struct trace_order *order = t->order;
  session_task *task = mem_zeroed(order->steps + 1ull, sizeof *task),
               *deps = mem_zeroed(order->ndeps + 1ull, sizeof *deps);
  bool good = true;
  for (uint32_t i = 0; good && i < order->steps; i++) {
    const struct trace_step *step = &order->step[i];
    for (uint32_t d = 0; d < step->deps; d++) deps[d] = task[order->dep[step->first + d]];
    if (step->wait) good = wait_for(s, deps, step->deps, e);
    else if (step->launch != TRACE_NO_LAUNCH && step->launch >= o->from) task[i] = submit_step(s, t, step, deps);
  }
  good = session_wait(s, SESSION_ALL, NULL, good ? e : NULL) && good;
  free(task);
  free(deps);
  return good;
}

/* Copied bytes; launches do not wait for them. */
static bool note_copies(struct session *s, struct trace_input *t, struct err *e) {
  struct trace_event ev = {0};
  if (t->knows_copies) {
    session_note_copy(s, t->copied, true);
    return true;
  }
  do {
    if (!t->ops->next(t, &ev, e)) return false;
    if (ev.kind == TRACE_COPY) session_note_copy(s, ev.bytes, ev.to_device);
  } while (ev.kind != TRACE_END);
  return true;
}

static bool skip_to(struct session *s, struct trace_input *t, const struct replay_options *o, struct err *e) {
  if (!o->from) return true;
  if (t->launches && o->from >= t->launches)
    return err_set(e, ERR_USAGE, "%s: there is no launch %u: it holds %u, counted from 0", t->path, o->from,
                   t->launches);
  for (uint32_t i = 0; i < o->from; i++) session_skip_launch(s);
  return !t->ops->seek || t->ops->seek(t, o->from, e);
}

/* A trace keeps the instructions that it was recorded with. */
static void compare_code(const struct session *s, const struct trace_input *t) {
  uint32_t machine = session_machine_code(s);
  char has[32] = "PTX", runs[32] = "PTX", record[64] = "a GPU with sm.code=ptx";
  if (t->machine == TRACE_SASS || t->machine == machine) return;
  if (t->machine) snprintf(has, sizeof has, "machine code of sm_%u", t->machine);
  if (machine) snprintf(runs, sizeof runs, "machine code of sm_%u", machine);
  if (machine) snprintf(record, sizeof record, "this --gpu");
  text_say(stderr, "sluice: warning: %s holds %s and is replayed as that; programs run as %s here: record it for %s\n",
           t->path, has, runs, record);
}

bool session_replay(struct session *s, struct trace_input *t, const struct replay_options *o, struct err *e) {
  struct err local = {0};
  struct trace_event ev = {0};
  bool compared = false;
  if (!e) e = &local;
  if (session_needs_values(s))
    return err_set(e, ERR_USAGE, "%s: a trace has no values of memory, which scheme %s compresses: run the program",
                   t->path, session_needs_values(s));
  meter_expect(session_meter(s), o->from, t->launches);
  t->reading = meter_reading;
  t->reading_ctx = session_meter(s);
  if (!skip_to(s, t, o, e)) return false;
  if (t->order && t->ops->seek) compare_code(s, t);
  if (t->order && t->ops->seek) return note_copies(s, t, e) && replay_ordered(s, t, o, e);
  for (;;) {
    if (!t->ops->next(t, &ev, e)) return false;
    if (ev.kind == TRACE_END) return true;
    if (ev.kind == TRACE_COPY) session_note_copy(s, ev.bytes, ev.to_device);
    if (ev.kind != TRACE_LAUNCH || ev.launch < o->from) continue;
    if (!compared && !ev.kernel->text) compare_code(s, t);
    compared = true;
    if (!replay_launch(s, t, &ev, e)) return false;
  }
}
