/* event.c - see event.h. */
#include "gpu/l1/event.h"

#include "gpu/l1/net.h"
#include "gpu/mem/partition.h"

static uint64_t line_address(const struct sm *s, uint64_t addr) {
  return addr & ~(uint64_t)(s->l1d.line_bytes - 1);
}

uint32_t l1_event_set(const struct sm *s, uint64_t addr) {
  return gpu_l1_set(s->c, s->l1d.org ? s->l1d.org_sets : s->l1d.sets, s->l1d.line_bytes, addr);
}

static __attribute__((noinline)) uint32_t origin_of_access(const struct sm *s, const struct op *o) {
  op_id there;
  return l1_net_origin(s, (op_id)(o - s->op), &there)->id;
}

/* The fields of every access; the address map is part of it. */
__attribute__((flatten)) struct l1_event l1_event_of_access(const struct sm *s, const struct op *o,
                                                            const struct access *a, uint32_t set) {
  struct req probe = {.addr = a->addr};
  uint32_t from = RARE(o->away) ? origin_of_access(s, o) : s->id;
  partition_locate(s->g->parts, &probe);
  return (struct l1_event){.addr = a->addr,
                           .line = line_address(s, a->addr),
                           .cycle = s->g->now,
                           .sm = s->id,
                           .from = from,
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
                           .from = r->from ? r->from - 1u : s->id,
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
