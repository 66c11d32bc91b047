/* space.c - the registers and shared memory that an SM leaves unused, as a place for lines: how much there is, and the
 * price of using it. That space has a port, which moves a line at a time (sm.space_interval). */
#include "gpu/l1/l1.h"

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
