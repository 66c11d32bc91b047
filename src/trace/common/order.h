/* order.h - possible overlap in a recorded program: its launches with their dependencies and the waits of its host, in
 * program order.
 */
#ifndef TRACE_COMMON_ORDER_H
#define TRACE_COMMON_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_NO_LAUNCH UINT32_MAX
struct trace_step {
  bool wait;            /* a wait of the host: for `deps`, or for everything; else a launch */
  uint32_t launch;      /* its number in the file; TRACE_NO_LAUNCH: absent */
  uint32_t stream;      /* 0: the default one */
  int32_t priority;     /* lower goes first */
  uint32_t first, deps; /* trace_order.dep[first ..]: earlier steps that must have ended */
};
struct trace_order {
  struct trace_step *step;
  uint32_t steps, step_room;
  uint32_t *dep;
  uint32_t ndeps, dep_room;
};

/* Append a step with its dependencies (step.first and step.deps are set here); returns its number. */
uint32_t trace_order_add(struct trace_order *o, struct trace_step step, const uint32_t *deps, uint32_t n);
/* True with more than one stream. */
bool trace_order_overlaps(const struct trace_order *o);
void trace_order_copy(struct trace_order *to, const struct trace_order *from);
void trace_order_free(struct trace_order *o);

#endif
