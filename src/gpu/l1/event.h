/* event.h - events of an L1 access for schemes and observers: the only place that makes an l1_event. */
#ifndef GPU_L1_EVENT_H
#define GPU_L1_EVENT_H

#include "gpu/state/machine.h"
#include "gpu/state/sm.h"

/* The set of the L1, or of its replacing organisation, of an address. */
uint32_t l1_event_set(const struct sm *s, uint64_t addr);
/* An access of the instruction `o`. */
struct l1_event l1_event_of_access(const struct sm *s, const struct op *o, const struct access *a, uint32_t set);
/* Data that arrived for request `r`. */
struct l1_event l1_event_of_fill(const struct sm *s, const struct req *r, uint32_t set);

#endif
