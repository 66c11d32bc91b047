/* l2_prefetch.c - see l2_prefetch.h. A line is on record by its address from its fetch to its fate. */
#include "gpu/mem/l2_prefetch.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"

enum { LISTS = 1024 };
enum l2_wanted_state { NOBODY, SENT, FETCHED, ENDED }; /* ENDED: its fate is known, its data is still to come */

struct l2_wanted {
  struct l1_event e;
  uint32_t next; /* in its list or of the free ones, index + 1 */
  uint8_t of, state;
  bool arrived;
};

struct l2_prefetch {
  struct slots *slots;
  uint32_t *in_flight, *prefetches, *sent;
  struct l2_wanted *at;
  uint32_t size, free;
  uint32_t first[LISTS];
};

struct l2_prefetch *l2_prefetch_new(struct slots *slots, uint32_t *in_flight, uint32_t *prefetches, uint32_t *sent) {
  struct l2_prefetch *p = mem_zeroed(1, sizeof *p);
  p->slots = slots;
  p->in_flight = in_flight;
  p->prefetches = prefetches;
  p->sent = sent;
  return p;
}

void l2_prefetch_free(struct l2_prefetch *p) {
  if (p) free(p->at);
  free(p);
}

void l2_prefetch_fate(struct slots *slots, uint32_t of, const struct l1_event *e, enum prefetch_fate fate,
                      struct gpu_stats *st) {
  static const uint32_t counter[] = {
      [PREFETCH_USEFUL] = offsetof(struct gpu_stats, l2_prefetch_useful),
      [PREFETCH_LATE] = offsetof(struct gpu_stats, l2_prefetch_late),
      [PREFETCH_EVICTED] = offsetof(struct gpu_stats, l2_prefetch_evicted),
      [PREFETCH_LEFT] = offsetof(struct gpu_stats, l2_prefetch_left),
      [PREFETCH_REDUNDANT] = offsetof(struct gpu_stats, l2_prefetch_redundant),
      [PREFETCH_NO_MSHR] = offsetof(struct gpu_stats, l2_prefetch_no_mshr),
      [PREFETCH_NO_LINE] = offsetof(struct gpu_stats, l2_prefetch_no_line),
      [PREFETCH_ENDED] = offsetof(struct gpu_stats, l2_prefetch_ended),
  };
  struct slot_instance *in = &slots->at[of];
  struct l1_event told = *e;
  *(uint64_t *)((char *)st + counter[fate]) += 1;
  told.cycle = *in->ctx.now;
  in->scheme->on_prefetch(&in->ctx, &told, fate);
}

/* ---- records ---- */

static uint32_t *wanted_list(struct l2_prefetch *p, uint64_t line) {
  return &p->first[hash_u64(line) % LISTS];
}

static struct l2_wanted *find_wanted(struct l2_prefetch *p, uint64_t line) {
  for (uint32_t i = *wanted_list(p, line); i; i = p->at[i - 1].next)
    if (p->at[i - 1].e.line == line) return &p->at[i - 1];
  return NULL;
}

static void release(struct l2_prefetch *p, struct l2_wanted *w) {
  *w = (struct l2_wanted){.next = p->free};
  p->free = (uint32_t)(w - p->at) + 1;
}

/* Its fate is known. What is still to arrive keeps its number. */
static void end_wanted(struct l2_prefetch *p, struct l2_wanted *w, enum prefetch_fate fate, struct gpu_stats *st) {
  struct l2_wanted was = *w;
  uint32_t *link = wanted_list(p, w->e.line), i = (uint32_t)(w - p->at) + 1;
  while (*link != i) link = &p->at[*link - 1].next;
  *link = w->next;
  w->state = ENDED;
  if (w->arrived) release(p, w);
  l2_prefetch_fate(p->slots, was.of, &was.e, fate, st);
}

uint32_t l2_prefetch_send(struct l2_prefetch *p, const struct l1_event *e, uint32_t of) {
  if (!p->free) {
    uint32_t old = p->size;
    p->size = old ? 2 * old : 256;
    p->at = mem_resize(p->at, p->size, sizeof *p->at);
    for (uint32_t i = p->size; i-- > old;) release(p, &p->at[i]);
  }
  uint32_t i = p->free - 1;
  p->free = p->at[i].next;
  p->at[i] = (struct l2_wanted){.e = *e, .of = (uint8_t)of, .state = SENT};
  ++*p->prefetches;
  ++*p->sent;
  return i;
}

void l2_prefetch_reached(struct l2_prefetch *p, uint32_t owner, bool fetched, enum prefetch_fate fate,
                         struct gpu_stats *st) {
  struct l2_wanted *w = &p->at[owner];
  CHECK(w->state == SENT, "prefetch %u reaches the L2 twice", owner);
  --*p->in_flight;
  --*p->sent;
  if (!fetched) {
    struct l2_wanted was = *w;
    --*p->prefetches;
    release(p, w);
    l2_prefetch_fate(p->slots, was.of, &was.e, fate, st);
    return;
  }
  struct l2_wanted *old = find_wanted(p, w->e.line); /* other sectors of the line */
  if (old) end_wanted(p, old, PREFETCH_LEFT, st);
  uint32_t *list = wanted_list(p, w->e.line);
  st->l2_prefetch_issued++;
  w->state = FETCHED;
  w->next = *list;
  *list = owner + 1;
}

void l2_prefetch_filled(struct l2_prefetch *p, uint32_t owner) {
  struct l2_wanted *w = &p->at[owner];
  --*p->prefetches;
  w->arrived = true;
  if (w->state == ENDED) release(p, w);
}

void l2_prefetch_used(struct l2_prefetch *p, uint64_t line, enum l2_outcome out, struct gpu_stats *st) {
  struct l2_wanted *w = find_wanted(p, line);
  if (!w) return;
  bool late = out == L2_PENDING || !w->arrived;
  end_wanted(p, w, out == L2_MISS ? PREFETCH_LEFT : late ? PREFETCH_LATE : PREFETCH_USEFUL, st);
}

void l2_prefetch_gone(struct l2_prefetch *p, uint64_t line, struct gpu_stats *st) {
  struct l2_wanted *w = find_wanted(p, line);
  if (w) end_wanted(p, w, PREFETCH_EVICTED, st);
}

void l2_prefetch_end(struct l2_prefetch *p, struct gpu_stats *st) {
  for (uint32_t i = 0; i < LISTS; i++)
    while (p->first[i]) end_wanted(p, &p->at[p->first[i] - 1], PREFETCH_LEFT, st);
}
