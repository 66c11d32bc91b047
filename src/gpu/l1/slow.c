/* slow.c - hits of the L1 that take longer than its latency, as compressed lines and lines in unused space do. */
#include <stdlib.h>

#include "base/mem.h"
#include "gpu/l1/l1.h"

struct l1_slow {
  uint64_t due;
  op_id op;
};

void l1_slow_wait(struct sm *s, op_id op) {
  struct l1d *l = &s->l1d;
  if (l->slow == l->slow_size) {
    l->slow_size = l->slow_size ? 2 * l->slow_size : 16;
    l->slow_at = mem_resize(l->slow_at, l->slow_size, sizeof *l->slow_at);
  }
  struct l1_slow new = {.due = s->g->now + l->later, .op = op};
  uint32_t at = l->slow++;
  for (; at && l->slow_at[at - 1].due <= new.due; at--) l->slow_at[at] = l->slow_at[at - 1];
  l->slow_at[at] = new;
  if (new.due < s->wake_at) s->wake_at = new.due;
}

op_id l1_slow_next(struct sm *s) {
  struct l1d *l = &s->l1d;
  if (!l->slow) return 0;
  const struct l1_slow *first = &l->slow_at[l->slow - 1];
  if (first->due <= s->g->now) {
    l->slow--;
    return first->op;
  }
  if (first->due < s->wake_at) s->wake_at = first->due;
  return 0;
}

void l1_slow_destroy(struct l1d *l) {
  free(l->slow_at);
}
