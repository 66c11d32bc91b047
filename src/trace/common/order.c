/* order.c - see order.h. */
#include "trace/common/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

static void *grown(void *at, uint32_t used, uint32_t more, uint32_t *room, size_t size) {
  if (used + more <= *room) return at;
  while (*room < used + more) *room = *room ? 2 * *room : 64;
  at = mem_resize(at, *room * size, 1);
  return at;
}

uint32_t trace_order_add(struct trace_order *o, struct trace_step step, const uint32_t *deps, uint32_t n) {
  o->step = grown(o->step, o->steps, 1, &o->step_room, sizeof *o->step);
  o->dep = grown(o->dep, o->ndeps, n, &o->dep_room, sizeof *o->dep);
  step.first = o->ndeps;
  step.deps = n;
  if (n) memcpy(o->dep + o->ndeps, deps, n * sizeof *deps);
  o->ndeps += n;
  o->step[o->steps] = step;
  return o->steps++;
}

bool trace_order_overlaps(const struct trace_order *o) {
  uint32_t stream = 0;
  bool any = false;
  for (uint32_t i = 0; i < o->steps; i++) {
    if (o->step[i].wait) continue;
    if (any && o->step[i].stream != stream) return true;
    stream = o->step[i].stream;
    any = true;
  }
  return false;
}

void trace_order_copy(struct trace_order *to, const struct trace_order *from) {
  trace_order_free(to);
  for (uint32_t i = 0; i < from->steps; i++)
    trace_order_add(to, from->step[i], from->dep + from->step[i].first, from->step[i].deps);
}

void trace_order_free(struct trace_order *o) {
  free(o->step);
  free(o->dep);
  *o = (struct trace_order){0};
}
