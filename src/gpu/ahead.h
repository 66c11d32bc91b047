/* ahead.h - SMs on several host threads: they run a few cycles ahead of the interconnect, in groups.
 *
 * A window is a number of core cycles in which nothing that happens outside of an SM reaches it, but for packets that
 * have left the crossbar already. All SMs of a group run through the window one after the other, on the group's host
 * thread and with a view of the machine of its own (struct gpu with `group`). The machine then runs through the same
 * cycles, without these SMs, and repeats what they pushed into and popped from the interconnect. An SM stops where it
 * cannot know what it will find: when its injection buffer may get room, when a CTA ends while others wait for a place,
 * when an address has no translation. From there to the end of the window the machine steps it as always. So every
 * counter is that of one thread (docs/explanation/threads.md).
 */
#ifndef GPU_AHEAD_H
#define GPU_AHEAD_H

#include "gpu/state/machine.h"

/* A launch begins: share its feed, if it and the machine allow. */
void ahead_launch(struct gpu *g, struct gpu_work *k);
/* A core cycle begins; its SMs step; false: the program has a fault. */
void ahead_begin_cycle(struct gpu *g);
bool ahead_end_cycle(struct gpu *g);
/* All SMs are the machine's again, and all counters with them. Between cycles. */
void ahead_leave(struct gpu *g);
void ahead_free(struct gpu *g);

/* True if windows may be open in this launch. */
static inline bool ahead_on(const struct gpu *g) {
  return __builtin_expect(g->windows, 0);
}

#endif
