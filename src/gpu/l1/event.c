/* event.c - see event.h. */
#include "gpu/l1/event.h"

#include "gpu/mem/partition.h"

static uint64_t line_address(const struct sm *s, uint64_t addr) {
  return addr & ~(uint64_t)(s->l1d.line_bytes - 1);
}

uint32_t l1_event_set(const struct sm *s, uint64_t addr) {
  return gpu_l1_set(s->c, s->l1d.org ? s->l1d.org_sets : s->l1d.sets, s->l1d.line_bytes, addr);
}

struct l1_event l1_event_of_access(const struct sm *s, const struct op *o, const struct access *a, uint32_t set) {
  struct req probe = {.addr = a->addr};
  partition_locate(s->g->parts, &probe);
  return (struct l1_event){.addr = a->addr,
                           .line = line_address(s, a->addr),
                           .cycle = s->g->now,
                           .sm = s->id,
                           .warp = o->warp,
                           .cta = o->cta,
                           .pc = o->uop->inst->pc,
                           .cache_op = o->uop->inst->cache_op,
                           .hint = o->uop->inst->hint_l1,
                           .degree = o->degree,
                           .chunks = a->chunks,
                           .set = set,
                           .subpart = probe.subpart,
                           .local = o->space == SPACE_LOCAL,
                           .write = !o->load};
}

struct l1_event l1_event_of_fill(const struct sm *s, const struct req *r, uint32_t set) {
  return (struct l1_event){.addr = r->addr,
                           .line = line_address(s, r->addr),
                           .cycle = s->g->now,
                           .sm = s->id,
                           .warp = r->warp,
                           .cta = r->cta,
                           .pc = r->pc,
                           .degree = r->degree,
                           .chunks = r->chunks,
                           .set = set,
                           .subpart = r->subpart,
                           .cache_op = r->cache_op,
                           .hint = r->hint_l1,
                           .note = r->note,
                           .prefetch = r->prefetch,
                           .local = r->type == REQ_LOCAL_READ};
}
