/* trace_order.c - dependencies between the launches of a recorded program: launches ordered by copies, events and joins
 * keep that order in the trace.
 *
 * A recorded program's launches run one at a time, so completion at submission says nothing; the dependencies of every
 * task are therefore kept to the end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/session_impl.h"
#include "trace/slt/slt_write.h"

/* The launches behind a task: itself, or those that it waits for. */
struct task_launches {
  uint32_t *step;
  uint32_t n;
};

static bool has(const struct task_launches *s, uint32_t step) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->step[i] == step) return true;
  return false;
}

static struct task_launches gather(const struct session *s, const session_task *deps, uint32_t n) {
  struct task_launches out = {0};
  for (uint32_t i = 0; i < n; i++) {
    if (!deps[i] || deps[i] >= s->task_launches_room) continue;
    const struct task_launches *of = &s->task_launches[deps[i]];
    out.step = mem_resize(out.step, out.n + of->n + 1, sizeof *out.step);
    for (uint32_t k = 0; k < of->n; k++)
      if (!has(&out, of->step[k])) out.step[out.n++] = of->step[k];
  }
  return out;
}

uint32_t session_record_submit(struct session *s, session_task id, const struct session_item *item,
                               const session_task *deps, uint32_t n) {
  uint32_t step = TRACE_NO_LAUNCH;
  if (!s->trace) return step;
  struct task_launches on = gather(s, deps, n);
  if (id >= s->task_launches_room) {
    uint64_t old = s->task_launches_room;
    s->task_launches_room = 2 * id + 64;
    s->task_launches = mem_resize(s->task_launches, s->task_launches_room, sizeof *s->task_launches);
    memset(s->task_launches + old, 0, (s->task_launches_room - old) * sizeof *s->task_launches);
  }
  if (item->kind >= SESSION_LAUNCH) {
    step = slt_note_submit(s->trace, item->stream, item->priority, on.step, on.n);
    on.step = mem_resize(on.step, sizeof *on.step, 1);
    on.step[0] = step;
    on.n = 1;
  }
  s->task_launches[id] = on;
  return step;
}

void session_record_wait(struct session *s, session_task id) {
  if (!s->trace) return;
  if (id == SESSION_ALL) slt_note_wait(s->trace, NULL, 0);
  else if (id && id < s->task_launches_room && s->task_launches[id].n)
    slt_note_wait(s->trace, s->task_launches[id].step, s->task_launches[id].n);
}

void session_record_free(struct session *s) {
  for (uint64_t i = 0; i < s->task_launches_room; i++) free(s->task_launches[i].step);
  free(s->task_launches);
  s->task_launches = NULL;
  s->task_launches_room = 0;
}
