/* l2_access.c - one access in an L2 sub-partition: hit, merge, miss, refusal, and the fill.
 *
 * Write policy: a hit makes the line dirty and is acknowledged at once (write-through: the write also goes to DRAM,
 * which acknowledges it). A miss sends the write to DRAM, which acknowledges it, and fetches the line, which arrives
 * clean. A miss may need three entries of the miss queue (write, fetch, write-back) and is refused unless all are
 * free. Refusals are retried every cycle and counted each time.
 *
 * A scheme may let a request bypass the L2 as it leaves the ROP delay, or keep a miss from allocating (no_line): then
 * DRAM answers a read with the requested bytes, and a write causes no fetch.
 */
#include "base/err.h"
#include "gpu/mem/l2.h"
#include "gpu/mem/l2_prefetch.h"
#include "gpu/slots/slots.h"

static struct req *req_of(const struct l2_slice *s, req_id r) {
  return &s->env->pool->at[r];
}

struct mem_event l2_event_of(const struct l2_slice *s, const struct req *r, uint32_t set, uint32_t line) {
  struct mem_event e = mem_event_of(r, s->tags.shift, *s->env->now, s->id);
  e.set = set;
  e.way = line == L2_NONE ? L2_NONE : line - set * s->tags.ways;
  return e;
}

static inline void count_outcome(struct l2_slice *s, const struct req *r, enum l2_outcome o, bool baseline) {
  if (!baseline && s->env->listener.access) s->env->listener.access(s->env->listener.ctx, r, o);
  if (r->type == REQ_L1_WRITEBACK && s->env->in_flight) --*s->env->in_flight;
  s->seen[r->type][o]++;
}

/* ---- decisions that a scheme may take over ---- */

static bool bypasses(const struct l2_slice *s, const struct req *r, uint32_t set) {
  const struct mem_hooks *h = s->env->hooks;
  if (!h || !h->bypass || r->atomic || r->type == REQ_L2_PREFETCH) return false;
  /* Data not yet written to DRAM must come from here. */
  uint32_t line = l2_tags_find(&s->tags, set, r->addr >> s->tags.shift << s->tags.shift);
  bool newer = line != L2_NONE && (s->tags.state[line] == L2_RESERVED ||
                                   (s->tags.state[line] == L2_DIRTY && s->env->config->l2_write == WRITE_BACK));
  if (l2_copied(s, set, r->addr)) return false;
  struct mem_event e = l2_event_of(s, r, set, line);
  return !newer && h->bypass(h->ctx, &e);
}

/* The line to replace; L2_NONE if all are reserved; *no_line if a scheme allocates none. Atomics are performed on a
 * line here and always get one. */
uint32_t l2_victim(const struct l2_slice *s, const struct req *r, uint32_t set, bool *no_line) {
  const struct l2_tags *t = &s->tags;
  const struct mem_hooks *h = s->env->hooks;
  uint32_t line = l2_tags_victim(t, set), base = set * t->ways;
  if (!h || line == L2_NONE) return line;
  bool empty = t->state[line] == L2_INVALID;
  if (h->may_allocate && !r->atomic) {
    struct mem_event e = l2_event_of(s, r, set, empty ? line : L2_NONE);
    if (!h->may_allocate(h->ctx, &e)) {
      *no_line = true;
      return L2_NONE;
    }
  }
  if (!h->find_victim || empty) return line;
  struct cache_set cs = {.set = set, .ways = t->ways, .tag = t->tag + base, .used = t->stamp + base};
  for (uint32_t w = 0; w < t->ways && w < 64; w++) cs.usable |= (uint64_t)(t->state[base + w] != L2_RESERVED) << w;
  struct mem_event e = l2_event_of(s, r, set, L2_NONE);
  int way = h->find_victim(h->ctx, &cs, &e);
  if (way < 0 && r->atomic) return line;
  if (way < 0) {
    *no_line = true;
    return L2_NONE;
  }
  CHECK((uint32_t)way < t->ways && cs.usable >> way & 1,
        "cycle %llu: L2 sub-partition %u: a scheme replaces way %d of set %u", (unsigned long long)e.cycle, s->id, way,
        set);
  return base + (uint32_t)way;
}

bool l2_bypasses(struct l2_slice *s, struct l2_op *op) {
  if (op->mshr != L2_NO_MSHR) return op->mshr == L2_MSHR_BYPASS; /* asked once */
  bool yes = s->env->hooks && bypasses(s, req_of(s, op->r), op->set);
  op->mshr = yes ? L2_MSHR_BYPASS : L2_MSHR_ASKED;
  return yes;
}

void l2_bypass(struct l2_slice *s, struct l2_op op) {
  op.bytes = (uint16_t)req_of(s, op.r)->bytes;
  op.mshr = L2_NO_MSHR;
  l2_queue_push(&s->to_dram, op);
  struct req *r = req_of(s, op.r);
  count_outcome(s, r, L2_BYPASSED, false);
  if (!s->env->hooks->on_access) return;
  struct mem_event e = l2_event_of(s, r, op.set, L2_NONE);
  e.note = &r->note;
  s->env->hooks->on_access(s->env->hooks->ctx, &e, L2_BYPASSED);
}

/* ---- misses ---- */

static inline req_id write_back(struct l2_slice *s, uint32_t line, bool baseline) {
  req_id wb = req_new(s->env->pool);
  struct req *w = req_of(s, wb);
  w->addr = s->tags.tag[line];
  w->bytes = 1u << s->tags.shift;
  w->type = REQ_L2_WRITEBACK;
  w->write = true;
  w->born = *s->env->now;
  addrmap_route(s->map, w);
  if (!baseline) w->subpart = (uint8_t)s->id; /* another one if a scheme chose it */
  s->env->stats->l2_writebacks++;
  return wb;
}

req_id l2_write_back(struct l2_slice *s, uint32_t line) {
  return write_back(s, line, false);
}

static inline req_id evict(struct l2_slice *s, uint32_t line, req_id by, uint32_t set, bool baseline) {
  struct l2_tags *t = &s->tags;
  struct gpu_stats *st = s->env->stats;
  const struct mem_hooks *h = baseline ? NULL : s->env->hooks;
  req_id wb = 0;
  if (t->state[line] == L2_DIRTY && (baseline || s->env->config->l2_write == WRITE_BACK))
    wb = write_back(s, line, baseline);
  if (t->state[line] != L2_INVALID) {
    st->l2_evictions++;
    if (!baseline && s->env->prefetch) l2_prefetch_gone(s->env->prefetch, t->tag[line], st);
    if (h && h->on_evict) {
      struct mem_event e = l2_event_of(s, req_of(s, by), set, line);
      e.addr = e.line = t->tag[line];
      h->on_evict(h->ctx, &e);
    }
  }
  return wb;
}

req_id l2_evict(struct l2_slice *s, uint32_t line, req_id by, uint32_t set) {
  return evict(s, line, by, set, false);
}

/* Reserve `line` for `addr`. Dirty data (unless written through) leaves as a write-back; 0 if none. */
static inline req_id reserve_mshr(struct l2_slice *s, uint32_t line, uint64_t addr, req_id by, uint32_t set,
                                  bool baseline) {
  req_id wb = evict(s, line, by, set, baseline);
  s->tags.tag[line] = addr;
  s->tags.state[line] = L2_RESERVED;
  l2_tags_stamp(&s->tags, line, *s->env->now, true);
  return wb;
}

/* Resources of a miss. */
struct plan {
  uint32_t line; /* found or to be replaced */
  uint16_t mshr; /* to merge into, or L2_NO_MSHR */
  bool reserved; /* the line is already being fetched */
  bool no_line;  /* a scheme allocates no line */
};

/* False: no room in the miss queue (a write needs two places), the MSHRs are exhausted, or every line of the set is
 * reserved. */
static inline bool plan_miss(const struct l2_slice *s, const struct l2_bank *b, const struct l2_op *op, uint32_t found,
                             struct plan *p, bool baseline) {
  const struct l2_tags *t = &s->tags;
  const struct req *r = req_of(s, op->r);
  uint64_t line_addr = r->addr >> t->shift << t->shift;
  *p = (struct plan){.line = found, .mshr = L2_NO_MSHR, .reserved = found != L2_NONE};
  if (!l2_miss_room(b, r->write ? 2 : 1)) return false;
  if (p->reserved) {
    const struct l2_mshr *e = &b->mshrs.at[t->mshr[found]];
    if (e->merged && e->line_addr == line_addr) p->mshr = t->mshr[found];
  } else {
    p->mshr = l2_mshrs_find_ready(&b->mshrs, line_addr);
  }
  if (p->mshr != L2_NO_MSHR ? b->mshrs.at[p->mshr].merged >= b->mshrs.merges : b->mshrs.used >= b->mshrs.limit)
    return false;
  if (!p->reserved) p->line = baseline ? l2_tags_victim(t, op->set) : l2_victim(s, r, op->set, &p->no_line);
  return p->line != L2_NONE || p->no_line;
}

void l2_to_dram(struct l2_slice *s, struct l2_bank *b, req_id r, uint32_t set) {
  uint16_t bytes = (uint16_t)req_of(s, r)->bytes;
  l2_queue_push(&b->miss, (struct l2_op){.r = r, .set = (uint16_t)set, .bytes = bytes, .mshr = L2_NO_MSHR});
}

/* Let `r` wait for the line of `by`, fetching it if needed; the caller has checked for room. Returns the write-back. */
static inline req_id fetch_line_of(struct l2_slice *s, struct l2_bank *b, struct plan *p, req_id r,
                                   const struct l2_op *by, bool baseline) {
  struct l2_tags *t = &s->tags;
  req_id wb = 0;
  uint64_t line_addr = req_of(s, r)->addr >> t->shift << t->shift;
  if (p->reserved) l2_tags_stamp(t, p->line, *s->env->now, false);
  else wb = reserve_mshr(s, p->line, line_addr, by->r, by->set, baseline);
  if (p->mshr == L2_NO_MSHR) {
    p->mshr = l2_mshrs_take(&b->mshrs, line_addr, p->line);
    struct l2_op op = {.r = r, .set = by->set, .bytes = (uint16_t)(1u << t->shift), .mshr = p->mshr};
    l2_queue_push(&b->miss, op);
  }
  t->mshr[p->line] = p->mshr;
  l2_mshrs_add(&b->mshrs, p->mshr, s->env->pool, r);
  return wb;
}

static inline enum l2_outcome miss(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t *line,
                                   bool baseline) {
  struct req *r = req_of(s, op->r);
  struct plan p;
  bool write = r->write;
  if (!plan_miss(s, b, op, *line, &p, baseline)) return L2_REFUSED;
  *line = p.line;
  if (write || p.no_line) l2_to_dram(s, b, op->r, op->set);
  if (!baseline && p.no_line) return L2_BYPASSED;
  req_id waits = op->r;
  if (write) {
    waits = req_new(s->env->pool);
    struct req *a = req_of(s, waits);
    *a = *req_of(s, op->r);
    a->type = REQ_L2_WRITE_ALLOC;
    a->write = a->atomic = false;
    a->bytes = 1u << s->tags.shift;
  }
  req_id wb = fetch_line_of(s, b, &p, waits, op, baseline);
  if (wb) {
    l2_to_dram(s, b, wb, op->set);
    /* Reading the victim out takes the data port; the reference charges it to write misses only. */
    if (write) b->data_free = s->t + s->line_cycles;
  }
  return p.reserved ? L2_PENDING : L2_MISS;
}

/* ---- hits ---- */

static inline enum l2_outcome hit(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t line, bool *reply,
                                  bool baseline) {
  struct req *r = req_of(s, op->r);
  bool away = !baseline && r->write && l2_away(s, r->addr);
  bool through = away || (!baseline && r->write && s->env->config->l2_write == WRITE_THROUGH);
  if (through && !l2_miss_room(b, 0)) return L2_REFUSED;
  if (line != L2_NONE) {
    l2_tags_stamp(&s->tags, line, *s->env->now, false);
    if ((r->write && !away) || r->atomic) s->tags.state[line] = L2_DIRTY;
  }
  if (through) l2_to_dram(s, b, op->r, op->set);
  *reply = !through;
  b->data_free = s->t + ((r->bytes + (1u << s->port_shift) - 1) >> s->port_shift);
  return L2_HIT;
}

enum l2_outcome l2_access_baseline(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, bool *reply) {
  const struct req *r = req_of(s, op->r);
  uint32_t line = l2_tags_find(&s->tags, op->set, r->addr >> s->tags.shift << s->tags.shift);
  bool present = line != L2_NONE && s->tags.state[line] != L2_RESERVED;
  *reply = false;
  enum l2_outcome o = present ? hit(s, b, op, line, reply, true) : miss(s, b, op, &line, true);
  if (o == L2_REFUSED) s->env->stats->l2_rejects++;
  else count_outcome(s, req_of(s, op->r), o, true);
  return o;
}

/* ---- prefetches ---- */

/* True: the line is fetched. Where a miss would wait it is not; *why. */
static bool prefetch_line(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, uint32_t *line,
                          enum prefetch_fate *why) {
  struct plan p;
  *why = PREFETCH_REDUNDANT;
  if (s->env->config->l2_perfect || *line != L2_NONE) return false;
  *why = PREFETCH_NO_MSHR;
  if (!plan_miss(s, b, op, *line, &p, false)) return false;
  if (p.no_line) *why = PREFETCH_NO_LINE;
  if (p.no_line || p.mshr != L2_NO_MSHR) return false; /* its MSHR is still being emptied */
  *line = p.line;
  req_id wb = fetch_line_of(s, b, &p, op->r, op, false);
  if (wb) l2_to_dram(s, b, wb, op->set);
  return true;
}

static __attribute__((noinline)) enum l2_outcome access_ahead(struct l2_slice *s, struct l2_bank *b, struct l2_op *op) {
  const struct mem_hooks *h = s->env->hooks;
  uint32_t line = l2_tags_find(&s->tags, op->set, req_of(s, op->r)->addr >> s->tags.shift << s->tags.shift);
  enum prefetch_fate why;
  bool fetched = s->tags.valid ? l2_sector_prefetch(s, b, op, &line, &why) : prefetch_line(s, b, op, &line, &why);
  struct req *r = req_of(s, op->r);
  l2_prefetch_reached(s->env->prefetch, r->owner, fetched, why, s->env->stats);
  if (fetched && h && h->on_access) {
    struct mem_event e = l2_event_of(s, r, op->set, line);
    e.note = &r->note;
    h->on_access(h->ctx, &e, L2_MISS);
  }
  if (!fetched) req_free(s->env->pool, op->r);
  return L2_MISS;
}

enum l2_outcome l2_access(struct l2_slice *s, struct l2_bank *b, struct l2_op *op, bool *reply) {
  struct req *r = req_of(s, op->r);
  const struct mem_hooks *h = s->env->hooks;
  *reply = false;
  if (s->env->prefetch && r->type == REQ_L2_PREFETCH) return access_ahead(s, b, op);
  if (l2_chosen(s) && !l2_agree(s, b, op)) {
    s->env->stats->l2_rejects++;
    return L2_REFUSED;
  }
  bool code = s->env->config->l2_code && (r->type == REQ_INST_READ || r->type == REQ_CONST_READ);
  bool perfect = s->env->config->l2_perfect || code;
  uint32_t line = perfect ? L2_NONE : l2_tags_find(&s->tags, op->set, r->addr >> s->tags.shift << s->tags.shift);
  bool present = perfect || (line != L2_NONE && s->tags.state[line] != L2_RESERVED);
  enum l2_outcome o = s->tags.valid && !perfect ? l2_sector_access(s, b, op, &line, reply)
                      : present                 ? hit(s, b, op, line, reply, false)
                                                : miss(s, b, op, &line, false);
  if (o == L2_REFUSED) {
    s->env->stats->l2_rejects++;
    return o;
  }
  r = req_of(s, op->r); /* the pool may have moved */
  count_outcome(s, r, o, false);
  if (s->env->prefetch) l2_prefetch_used(s->env->prefetch, r->addr >> s->tags.shift << s->tags.shift, o, s->env->stats);
  if (h && h->on_access) {
    struct mem_event e = l2_event_of(s, r, op->set, line);
    e.note = &r->note;
    h->on_access(h->ctx, &e, o);
  }
  return o;
}

/* ---- what comes back ---- */

req_id l2_take_filled(struct l2_slice *s, struct l2_bank *b) {
  req_id r = l2_mshrs_next(&b->mshrs, s->env->pool);
  if (req_of(s, r)->type < REQ_L2_WRITE_ALLOC) return r;
  if (req_of(s, r)->type == REQ_L2_PREFETCH) l2_prefetch_filled(s->env->prefetch, req_of(s, r)->owner);
  req_free(s->env->pool, r);
  return 0;
}

bool l2_take_return(struct l2_slice *s, struct l2_bank *b, bool baseline) {
  bool sectors = !baseline && s->tags.valid;
  struct l2_op *op = l2_queue_top(&b->from_dram);
  if (op->mshr == L2_NO_MSHR) {
    if (l2_queue_full(&s->out)) return false;
    l2_reply(s, op->r);
  } else {
    if (s->t < b->fill_free) return false;
    struct l2_mshr *e = &b->mshrs.at[op->mshr];
    bool all = true;
    if (sectors) all = l2_sector_arrive(s, e->line, op, e);
    else if (!baseline && e->gone) l2_forget(s, e->line);
    else s->tags.state[e->line] = e->atomic ? L2_DIRTY : L2_VALID;
    if (all) l2_mshrs_fill(&b->mshrs, op->mshr);
    b->fill_free = s->t + (sectors ? op->bytes >> s->port_shift : s->line_cycles);
  }
  l2_queue_pop(&b->from_dram);
  return true;
}
