/* rocache.c - read-only caches of an SM. See rocache.h. */
#include "gpu/ro/rocache.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/common/recency.h"

void rocache_init(struct rocache *c, const struct cache_config *cfg) {
  *c = (struct rocache){.sets = cfg->sets,
                        .ways = cfg->ways,
                        .line_shift = (uint32_t)__builtin_ctz(cfg->line),
                        .merges = cfg->merges,
                        .missq_limit = cfg->miss_queue,
                        .mshrs = cfg->mshrs};
  c->tag = mem_zeroed((size_t)c->sets * c->ways, sizeof *c->tag);
  c->used = mem_zeroed((size_t)c->sets * c->ways, sizeof *c->used);
  c->mshr = mem_zeroed(c->mshrs, sizeof *c->mshr);
  uint16_t *waiters = mem_zeroed((size_t)c->mshrs * c->merges, sizeof *waiters);
  for (uint32_t i = 0; i < c->mshrs; i++) c->mshr[i].waiter = waiters + (size_t)i * c->merges;
  c->ready = mem_zeroed(c->mshrs, sizeof *c->ready);
  c->missq = mem_zeroed(c->missq_limit, sizeof *c->missq);
  c->missq_mshr = mem_zeroed(c->missq_limit, sizeof *c->missq_mshr);
  rocache_invalidate(c);
}

void rocache_destroy(struct rocache *c) {
  if (c->mshr) free(c->mshr[0].waiter);
  free(c->tag);
  free(c->used);
  free(c->mshr);
  free(c->ready);
  free(c->missq);
  free(c->missq_mshr);
  *c = (struct rocache){0};
}

void rocache_invalidate(struct rocache *c) {
  memset(c->tag, 0xff, (size_t)c->sets * c->ways * sizeof *c->tag);
}

static uint32_t set_of(const struct rocache *c, uint64_t line) {
  return (uint32_t)(line >> c->line_shift) & (c->sets - 1);
}

enum ro_result rocache_access(struct rocache *c, uint64_t addr, uint16_t waiter, uint64_t now) {
  uint64_t line = addr >> c->line_shift << c->line_shift;
  uint32_t base = set_of(c, line) * c->ways;
  for (uint32_t w = 0; w < c->ways; w++)
    if (c->tag[base + w] == line) {
      c->used[base + w] = now;
      return RO_HIT;
    }
  if (c->missq_count >= c->missq_limit) return RO_REFUSED;
  struct romshr *free_entry = NULL;
  for (uint32_t i = 0; i < c->mshrs; i++) {
    struct romshr *m = &c->mshr[i];
    if (!m->busy) {
      if (!free_entry) free_entry = m;
    } else if (m->line == line) {
      if (m->count >= c->merges) return RO_REFUSED;
      m->waiter[ring_at(m->head + m->count++, c->merges)] = waiter;
      return RO_MISS;
    }
  }
  if (!free_entry) return RO_REFUSED;
  free_entry->busy = true;
  free_entry->ready = false;
  free_entry->line = line;
  free_entry->head = 0;
  free_entry->count = 1;
  free_entry->waiter[0] = waiter;
  uint32_t at = ring_at(c->missq_head + c->missq_count++, c->missq_limit);
  c->missq[at] = line;
  c->missq_mshr[at] = (uint16_t)(free_entry - c->mshr);
  return RO_MISS;
}

bool rocache_prefetch(struct rocache *c, uint64_t addr) {
  uint64_t line = addr >> c->line_shift << c->line_shift;
  uint32_t base = set_of(c, line) * c->ways;
  struct romshr *unused = NULL;
  for (uint32_t w = 0; w < c->ways; w++)
    if (c->tag[base + w] == line) return false;
  for (uint32_t i = 0; i < c->mshrs; i++) {
    if (c->mshr[i].busy && c->mshr[i].line == line) return false;
    if (!c->mshr[i].busy) unused = &c->mshr[i];
  }
  if (!unused || c->missq_count >= c->missq_limit) return false;
  unused->busy = true;
  unused->ready = false;
  unused->line = line;
  unused->head = unused->count = 0;
  uint32_t at = ring_at(c->missq_head + c->missq_count++, c->missq_limit);
  c->missq[at] = line;
  c->missq_mshr[at] = (uint16_t)(unused - c->mshr);
  return true;
}

bool rocache_miss(const struct rocache *c, uint64_t *line, uint16_t *mshr) {
  if (!c->missq_count) return false;
  *line = c->missq[c->missq_head];
  *mshr = c->missq_mshr[c->missq_head];
  return true;
}

void rocache_miss_sent(struct rocache *c) {
  c->missq_head = ring_at(c->missq_head + 1, c->missq_limit);
  c->missq_count--;
}

/* The way for a line that is not there. */
static uint32_t victim_of(const struct rocache *c, uint64_t line) {
  uint32_t base = set_of(c, line) * c->ways, victim = base;
  bool invalid = false;
  for (uint32_t w = 0; w < c->ways; w++) {
    uint32_t i = base + w;
    if (c->tag[i] == UINT64_MAX) victim = i, invalid = true;
    else if (!invalid && c->used[i] < c->used[victim]) victim = i;
  }
  return victim;
}

bool rocache_touch(struct rocache *c, uint64_t addr, uint64_t order) {
  uint64_t line = addr >> c->line_shift << c->line_shift;
  uint32_t base = set_of(c, line) * c->ways, at = base;
  while (at < base + c->ways && c->tag[at] != line) at++;
  bool there = at < base + c->ways;
  if (!there) at = victim_of(c, line);
  c->tag[at] = line;
  c->used[at] = order;
  recency_place(&c->used[base], c->ways, at - base);
  return there;
}

void rocache_touch_end(struct rocache *c, uint64_t now) {
  for (uint32_t base = 0; base < c->sets * c->ways; base += c->ways) recency_rebase(&c->used[base], c->ways, now);
}

void rocache_fill(struct rocache *c, uint16_t mshr, uint64_t now) {
  struct romshr *m = &c->mshr[mshr];
  CHECK(m->busy && !m->ready, "a line arrived for an MSHR that does not wait");
  uint32_t victim = victim_of(c, m->line);
  c->tag[victim] = m->line;
  c->used[victim] = now;
  if (!m->count) { /* a prefetch */
    m->busy = false;
    return;
  }
  m->ready = true;
  c->ready[ring_at(c->ready_head + c->ready_count++, c->mshrs)] = mshr;
}

uint16_t rocache_next(struct rocache *c) {
  struct romshr *m = &c->mshr[c->ready[c->ready_head]];
  uint16_t w = m->waiter[m->head];
  m->head = (uint16_t)ring_at(m->head + 1u, c->merges);
  if (!--m->count) {
    m->busy = false;
    c->ready_head = ring_at(c->ready_head + 1, c->mshrs);
    c->ready_count--;
  }
  return w;
}
