/* slow.c - hits of the L1 that take longer than its latency: of compressed lines, and of lines in the registers and
 * shared memory that an SM leaves unused. That space has a port, which moves a line at a time
 * (sm.space_interval). */
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

struct sm_space gpu_sm_space(const struct gpu *g, uint32_t sm) {
  const struct sm *s = &g->sm[sm];
  const struct gpu_config *c = &g->config;
  uint32_t regs = c->sm_regs > s->regs_taken ? c->sm_regs - s->regs_taken : 0;
  uint32_t shared = c->sm_shared;
  if (g->l1_split) { /* the L1 has the rest */
    uint32_t all = c->unified_kb * 1024, l1 = c->l1d.ways * c->l1d.sets * c->l1d.line / c->l1d_pooled;
    shared = all > l1 ? all - l1 : 0;
  }
  return (struct sm_space){.registers = regs * 4, .shared = shared > s->shared_taken ? shared - s->shared_taken : 0};
}

void gpu_space_changed(struct gpu *g, uint32_t sm) {
  struct sm_space unused = gpu_sm_space(g, sm);
  EACH_HOOK (in, &g->slots, on_space) in->scheme->on_space(&in->ctx, sm, &unused);
}

static uint32_t use_port(struct gpu *g, uint32_t sm) {
  struct l1d *l = &g->sm[sm].l1d;
  uint64_t at = l->space_free > g->now ? l->space_free : g->now;
  uint32_t waited = (uint32_t)(at - g->now);
  l->space_free = at + g->config.space_interval;
  g->sm[sm].st->space_waited += waited;
  return waited;
}

void gpu_space_hit(struct gpu *g, uint32_t sm) {
  struct sm *s = &g->sm[sm];
  s->l1d.later = use_port(g, sm) + g->config.space_latency;
  s->st->space_reads++;
}

void gpu_space_keep(struct gpu *g, uint32_t sm) {
  use_port(g, sm);
  g->sm[sm].st->space_writes++;
}
