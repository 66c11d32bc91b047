/* l15c.c - the second level of constant caches. See l15c.h. */
#include "gpu/ro/l15c.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

void l15c_init(struct l15c *l, const struct gpu_config *c, uint32_t waiters) {
  *l = (struct l15c){.latency = c->l15c_latency, .size = waiters};
  if (!l->latency) return;
  rocache_init(&l->cache, &c->l15c);
  l->at = mem_zeroed(waiters, sizeof *l->at);
}

void l15c_destroy(struct l15c *l) {
  rocache_destroy(&l->cache);
  free(l->at);
  *l = (struct l15c){0};
}

void l15c_request(struct l15c *l, uint64_t line, uint16_t waiter, uint64_t now) {
  CHECK(l->count < l->size, "more requests to the second constant cache than MSHRs of the first ones");
  uint32_t at = ring_at(l->head + l->count++, l->size);
  l->at[at] = (struct l15c_request){.due = now + l->latency, .line = line, .waiter = waiter};
}

bool l15c_step(struct l15c *l, uint64_t now, uint16_t *waiter, bool *accessed, bool *missed) {
  *accessed = *missed = false;
  if (rocache_ready(&l->cache)) {
    *waiter = rocache_next(&l->cache);
    return true;
  }
  if (l15c_due(l) > now) return false;
  const struct l15c_request *r = &l->at[l->head];
  enum ro_result found = rocache_access(&l->cache, r->line, r->waiter, now);
  if (found == RO_REFUSED) return false;
  if (found == RO_MISS) rocache_prefetch(&l->cache, r->line ^ 1ull << l->cache.line_shift);
  *waiter = r->waiter;
  *accessed = true;
  *missed = found == RO_MISS;
  l->head = ring_at(l->head + 1, l->size);
  l->count--;
  return found == RO_HIT;
}
