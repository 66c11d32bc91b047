/* prefetch.c - lines that schemes requested (gpu_prefetch): their queue, and what becomes of each, the same for every
 * prefetcher. The lookup in the L1 is in prefetch.inc and organisation.c.
 *
 * A line is on record from its fetch to its fate, by its address, whether the L1 keeps lines or an organisation does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/l1/l1.h"
#include "gpu/mem/l2_prefetch.h"
#include "gpu/state/port.h"

enum { HASH = 256 };

struct wanted {
  struct l1_event e;
  uint32_t next; /* in its list, index + 1 */
  uint8_t of;    /* the scheme that asked: index into slots.at */
  bool arrived;
};

struct l1_prefetch {
  struct wanted *queue; /* ring of `size` */
  uint32_t head, count, size;
  struct wanted taken;
  struct wanted *at; /* lines fetched */
  uint32_t max, free, oldest;
  uint32_t first[HASH]; /* lists by hash of the line, index + 1 */
};

void l1_prefetch_init(struct sm *s) {
  const struct cache_config *k = &s->c->l1d;
  struct l1_prefetch *p = s->l1d.prefetch = mem_zeroed(1, sizeof *p);
  p->size = s->c->prefetch_queue;
  p->queue = mem_zeroed(p->size, sizeof *p->queue);
  p->max = k->sets * k->ways * (k->line / 32) + k->mshrs; /* organisations may have lines as short as 32 B */
  p->at = mem_zeroed(p->max, sizeof *p->at);
  for (uint32_t i = p->max; i > 0; i--) p->at[i - 1].next = p->free, p->free = i;
}

void l1_prefetch_destroy(struct l1d *l) {
  if (!l->prefetch) return;
  free(l->prefetch->queue);
  free(l->prefetch->at);
  free(l->prefetch);
}

/* ---- fates ---- */

static void end_wanted(struct sm *s, const struct wanted *w, enum prefetch_fate fate) {
  static const uint32_t counter[] = {
      [PREFETCH_USEFUL] = offsetof(struct gpu_stats, prefetch_useful),
      [PREFETCH_LATE] = offsetof(struct gpu_stats, prefetch_late),
      [PREFETCH_EVICTED] = offsetof(struct gpu_stats, prefetch_evicted),
      [PREFETCH_LEFT] = offsetof(struct gpu_stats, prefetch_left),
      [PREFETCH_REDUNDANT] = offsetof(struct gpu_stats, prefetch_redundant),
      [PREFETCH_NO_MSHR] = offsetof(struct gpu_stats, prefetch_no_mshr),
      [PREFETCH_NO_LINE] = offsetof(struct gpu_stats, prefetch_no_line),
      [PREFETCH_ENDED] = offsetof(struct gpu_stats, prefetch_ended),
  };
  struct slot_instance *in = &s->g->slots.at[w->of];
  struct l1_event e = w->e;
  e.cycle = s->g->now;
  if (e.into_l2) {
    l2_prefetch_fate(&s->g->slots, w->of, &e, fate, s->st);
    return;
  }
  *(uint64_t *)((char *)s->st + counter[fate]) += 1;
  in->scheme->on_prefetch(&in->ctx, &e, fate);
}

/* ---- lines on record ---- */

static uint32_t *list_of(struct l1_prefetch *p, uint64_t line) {
  return &p->first[(line >> 5 ^ line >> 13) % HASH];
}

static struct wanted *find_wanted(struct l1_prefetch *p, uint64_t line) {
  for (uint32_t i = *list_of(p, line); i; i = p->at[i - 1].next)
    if (p->at[i - 1].e.line == line) return &p->at[i - 1];
  return NULL;
}

static struct wanted forget(struct l1_prefetch *p, struct wanted *w) {
  struct wanted was = *w;
  uint32_t i = (uint32_t)(w - p->at) + 1, *link = list_of(p, w->e.line);
  while (*link != i) link = &p->at[*link - 1].next;
  *link = w->next;
  *w = (struct wanted){.next = p->free};
  p->free = i;
  return was;
}

void l1_prefetch_gone(struct sm *s, uint64_t line, enum prefetch_fate fate) {
  struct wanted *w = find_wanted(s->l1d.prefetch, line);
  if (!w) return;
  struct wanted was = forget(s->l1d.prefetch, w);
  end_wanted(s, &was, fate);
}

/* An organisation need not tell of lines that stores emptied: they may fill the record. */
static void record(struct sm *s, const struct wanted *new) {
  struct l1_prefetch *p = s->l1d.prefetch;
  l1_prefetch_gone(s, new->e.line, PREFETCH_LEFT);
  if (!p->free) l1_prefetch_gone(s, p->at[p->oldest++ % p->max].e.line, PREFETCH_LEFT);
  uint32_t i = p->free, *list = list_of(p, new->e.line);
  p->free = p->at[i - 1].next;
  p->at[i - 1] = *new;
  p->at[i - 1].next = *list;
  *list = i;
}

void l1_prefetch_loaded(struct sm *s, uint64_t addr, enum l1_outcome out) {
  uint64_t line = addr & ~(uint64_t)(s->l1d.line_bytes - 1);
  struct wanted *w = find_wanted(s->l1d.prefetch, line);
  if (!w) return;
  bool late = out == L1_PENDING || !w->arrived;
  l1_prefetch_gone(s, line, out == L1_MISS ? PREFETCH_LEFT : late ? PREFETCH_LATE : PREFETCH_USEFUL);
}

static void end_recorded(struct sm *s, bool arrived_only) {
  struct l1_prefetch *p = s->l1d.prefetch;
  for (uint32_t i = 0; i < HASH; i++)
    for (uint32_t k = p->first[i], next; k; k = next) {
      const struct wanted *w = &p->at[k - 1];
      next = w->next;
      if (w->arrived || !arrived_only) l1_prefetch_gone(s, w->e.line, PREFETCH_LEFT);
    }
}

void l1_prefetch_invalidated(struct sm *s) {
  end_recorded(s, true);
}

/* ---- the queue ---- */

bool l1_prefetch_waits(const struct l1d *l) {
  return l->prefetch->count;
}

static bool request(struct scheme_ctx *c, const struct l1_event *of, uint64_t addr, bool l2) {
  struct gpu *g = c->gpu;
  struct sm *s = &g->sm[of->sm];
  struct l1_prefetch *p = s->l1d.prefetch;
  CHECK(p && g->slots.at[c->index].scheme->on_prefetch, "scheme %s prefetches without on_prefetch",
        g->slots.at[c->index].scheme->name);
  struct wanted w = {.e = *of, .of = (uint8_t)c->index};
  w.e.addr = w.e.line = addr & ~(uint64_t)((l2 ? g->config.l2.line : s->l1d.line_bytes) - 1);
  w.e.prefetch = true;
  w.e.into_l2 = l2;
  w.e.local = w.e.write = w.e.pending = w.e.retry = false;
  w.e.way = w.e.note = 0;
  *(l2 ? &s->st->l2_prefetch_requested : &s->st->prefetch_requested) += 1;
  for (uint32_t i = 0; i < p->count; i++) {
    const struct l1_event *e = &p->queue[(p->head + i) % p->size].e;
    if (e->line != w.e.line || e->into_l2 != l2) continue;
    *(l2 ? &s->st->l2_prefetch_redundant : &s->st->prefetch_redundant) += 1;
    return true;
  }
  if (p->count == p->size) {
    *(l2 ? &s->st->l2_prefetch_no_queue : &s->st->prefetch_no_queue) += 1;
    return false;
  }
  p->queue[(p->head + p->count++) % p->size] = w;
  s->memory_look = true;
  if (s->live) gpu_wake_sm(g, s->id);
  return true;
}

bool gpu_prefetch(struct scheme_ctx *c, const struct l1_event *of, uint64_t addr) {
  return request(c, of, addr, false);
}

bool gpu_prefetch_l2(struct scheme_ctx *c, const struct l1_event *of, uint64_t addr) {
  return request(c, of, addr, true);
}

bool l1_prefetch_into_l2(const struct l1d *l) {
  const struct l1_prefetch *p = l->prefetch;
  return p->queue[p->head].e.into_l2;
}

void l1_prefetch_to_l2(struct sm *s) {
  struct l1_event e = l1_prefetch_take(s);
  uint32_t bytes = s->c->l2.line, sectors = 0;
  if (s->c->l2_org) { /* those of the access that led to it */
    sectors = e.chunks ? e.chunks & 15 : 15;
    bytes = 32u * (uint32_t)__builtin_popcount(sectors);
  }
  req_id id = sm_request(s, REQ_L2_PREFETCH, e.line, bytes);
  struct req *r = &s->g->pool.at[id];
  r->warp = (uint8_t)e.warp;
  r->cta = e.cta;
  r->pc = e.pc;
  r->degree = (uint16_t)e.degree;
  r->chunks = e.chunks;
  r->sectors = (uint8_t)sectors;
  r->owner = l2_prefetch_send(s->g->l2_prefetch, &e, s->l1d.prefetch->taken.of);
  s->st->l2_prefetch_sent++;
  sm_send(s, id);
}

struct l1_event l1_prefetch_take(struct sm *s) {
  struct l1_prefetch *p = s->l1d.prefetch;
  p->taken = p->queue[p->head];
  p->head = (p->head + 1) % p->size;
  p->count--;
  p->taken.e.cycle = s->g->now;
  return p->taken.e;
}

void l1_prefetch_done(struct sm *s, const struct l1_event *e, enum prefetch_fate fate) {
  struct l1_prefetch *p = s->l1d.prefetch;
  struct wanted w = p->taken;
  w.e = *e;
  if ((uint32_t)fate != PREFETCH_ISSUED) {
    end_wanted(s, &w, fate);
    return;
  }
  s->st->prefetch_issued++;
  record(s, &w);
}

void l1_prefetch_sent(struct sm *s, struct req *r, const struct l1_event *e) {
  r->warp = (uint8_t)e->warp;
  r->cta = e->cta;
  r->pc = e->pc;
  r->degree = (uint16_t)e->degree;
  r->chunks = e->chunks;
  r->prefetch = true;
  s->st->prefetch_bytes += r->bytes;
  s->g->prefetches++;
}

void l1_prefetch_arrived(struct sm *s, const struct req *r, bool placed) {
  uint64_t line = r->addr & ~(uint64_t)(s->l1d.line_bytes - 1);
  struct wanted *w = find_wanted(s->l1d.prefetch, line);
  s->g->prefetches--;
  if (!w) return;
  w->arrived = true;
  if (!placed) l1_prefetch_gone(s, line, PREFETCH_LEFT);
}

void l1_prefetch_drain(struct sm *s) {
  while (s->l1d.prefetch->count) {
    l1_prefetch_take(s);
    struct wanted w = s->l1d.prefetch->taken;
    end_wanted(s, &w, PREFETCH_ENDED);
  }
}

void l1_prefetch_end(struct sm *s) {
  l1_prefetch_drain(s);
  end_recorded(s, false);
}
