/* port.c - requests from an SM into the interconnect. */
#include "gpu/state/port.h"

#include "gpu/mem/partition.h"

/* The address map is part of it. */
__attribute__((flatten)) req_id sm_request(struct sm *s, enum req_type type, uint64_t addr, uint32_t bytes) {
  req_id id = req_new(&s->g->pool);
  struct req *r = &s->g->pool.at[id];
  r->type = (uint8_t)type;
  r->addr = addr;
  r->bytes = (uint16_t)bytes;
  r->sm = (uint8_t)s->id;
  r->born = s->g->now;
  r->write = type == REQ_GLOBAL_WRITE || type == REQ_LOCAL_WRITE || type == REQ_L1_WRITEBACK;
  partition_locate(s->g->parts, r);
  return id;
}

/* Requests of the caches themselves (constants, textures, write-backs) belong to no instruction. */
static void observe_request(struct sm *s, const struct req *r) {
  enum { OF_INST = 1 << REQ_GLOBAL_READ | 1 << REQ_LOCAL_READ | 1 << REQ_GLOBAL_WRITE | 1 << REQ_LOCAL_WRITE };
  struct gpu_observed *o = &s->g->observed;
  if (!(OF_INST >> r->type & 1)) return;
  if (r->from) s = &s->g->sm[r->from - 1]; /* the L1 of `s` fetches for that SM */
  if (r->write) s = &s->g->sm[r->sm];
  uint32_t at = s->g->work[s->cta_work[s->w[r->warp].cta_slot]].inst_base + r->pc;
  if (at < o->insts) o->inst[at].bytes += r->bytes;
}

/* Data of programs lie in pages. */
static bool is_paged(const struct req *r) {
  enum {
    PAGED = 1 << REQ_GLOBAL_READ | 1 << REQ_GLOBAL_WRITE | 1 << REQ_LOCAL_READ | 1 << REQ_LOCAL_WRITE |
            1 << REQ_TEX_READ | 1 << REQ_L2_PREFETCH
  };
  return PAGED >> r->type & 1;
}

static void into_network(struct sm *s, req_id id) {
  const struct req *r = &s->g->pool.at[id];
  icnt_push(s->g->icnt, s->id, gpu_subpart_node(s->g, r->subpart, s->id), id, req_up_bytes(r));
}

bool sm_send_held(struct sm *s) {
  struct tlb_held h = s->untranslated.held[s->untranslated.first];
  if (h.ready > s->g->now) {
    if (h.ready < s->wake_at) s->wake_at = h.ready;
    return true;
  }
  if (!sm_can_send_bytes(s, req_up_bytes(&s->g->pool.at[h.id]))) return false;
  tlb_leave(&s->untranslated);
  into_network(s, h.id);
  s->acted = true;
  return true;
}

bool sm_translated(struct gpu *g, struct sm *s, req_id id) {
  const struct req *r = &g->pool.at[id];
  bool missed;
  if (!g->tlb.entries || !is_paged(r)) return true;
  uint64_t ready = tlb_look(&g->tlb, r->addr, g->now, &missed);
  s->st->tlb_misses += missed;
  if (ready <= g->now) return true;
  tlb_hold(&s->untranslated, id, ready);
  return false;
}

/* A scheme chooses the slice of the line's channel that serves the request. */
static void choose_slice(struct sm *s, struct req *r) {
  if (r->atomic || r->type == REQ_L2_PREFETCH) return;
  struct slot_instance *in = &s->g->slots.at[s->g->slots.l2_slice[0]];
  struct mem_event e = mem_event_of(r, (uint32_t)__builtin_ctz(s->c->l2.line), s->g->now, r->subpart);
  uint32_t k = in->scheme->l2_slice(&in->ctx, &e), n = s->c->subparts;
  CHECK(k < n, "cycle %llu: scheme %s sends a request to slice %u of %u", (unsigned long long)s->g->now,
        in->scheme->name, k, n);
  uint32_t to = r->channel * n + k;
  s->st->l2_moved += to != r->subpart;
  r->subpart = (uint8_t)to;
}

static inline __attribute__((always_inline)) void send(struct sm *s, req_id id, bool scheme) {
  struct req *r = &s->g->pool.at[id];
  if (r->type == REQ_GLOBAL_READ) s->st->mem_reads++;
  if (r->type == REQ_GLOBAL_WRITE || r->type == REQ_L1_WRITEBACK) s->st->mem_writes++;
  s->g->in_flight++;
  s->st->requests_awaited += r->type != REQ_L1_WRITEBACK && r->type != REQ_L2_PREFETCH;
  s->st->atomic_requests += r->atomic;
  if (scheme && r->prefetch && s->l1d.prefetch) s->st->prefetch_requests++, s->g->prefetches_sent++;
  if (scheme && s->g->slots.n_l2_slice) choose_slice(s, r);
  uint32_t bytes = req_up_bytes(r);
  s->st->packets_up++;
  s->st->flits_up += quotient_up(bytes, s->c->icnt_flit);
  if (RARE(s->g->observed.inst)) observe_request(s, r);
  if (RARE(s->g->tlb.entries)) {
    if (s->g->group) {
      if (is_paged(r)) ahead_send(s->g, r);
    } else if (!sm_translated(s->g, s, id)) {
      return;
    }
  }
  into_network(s, id);
}

static __attribute__((noinline)) void send_under_scheme(struct sm *s, req_id id) {
  send(s, id, true);
}

void sm_send(struct sm *s, req_id id) {
  if (RARE(s->g->schemes_send)) send_under_scheme(s, id);
  else send(s, id, false);
}
