/* l1d.c - the L1 data cache: tags, MSHRs, miss queue. Global stores write through and evict; local memory writes back.
 *
 * Model: docs/explanation/gpu-model.md "Loads and stores". A refusal changes nothing and gives its reason. Reads leave
 * one entry of the miss queue free, since a read miss may also write back a dirty victim.
 *
 * A fence invalidates the L1 of its SM, as in the reference: stores of other SMs are not visible here, so copies may
 * be stale. Nothing is written back. Lines being fetched lose their place and keep their MSHR: a miss of such a line
 * joins the MSHR and reserves a place that this fetch does not fill; the data goes to the place reserved first,
 * whatever it holds by then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/l1/l1.h"
#include "gpu/observe/observe.h"
#include "gpu/l1/set.h"

enum { ORG_LINES = 64 }; /* chunks of a set, at most, in an organisation */

void l1d_init(struct l1d *l, const struct gpu_config *c) {
  const struct cache_config *k = &c->l1d;
  uint32_t lines = k->sets * k->ways;
  *l = (struct l1d){.sets = k->sets,
                    .ways = k->ways,
                    .line_bytes = k->line,
                    .line_shift = (uint32_t)__builtin_ctz(k->line),
                    .mshrs = k->mshrs,
                    .merges = k->merges,
                    .missq_limit = k->miss_queue};
  size_t tags = (2 * lines * sizeof *l->tags + 63) & ~(size_t)63;
  l->tags = mem_lines(tags, 1);
  memset(l->tags, 0, tags);
  l->state = mem_zeroed(lines, sizeof *l->state);
  l->line_mshr = mem_zeroed(lines, sizeof *l->line_mshr);
  l->line = mem_zeroed(lines, sizeof *l->line);
  l->mshr = mem_zeroed(l->mshrs, sizeof *l->mshr);
  l->waiting = mem_zeroed((size_t)l->mshrs * l->merges, sizeof *l->waiting);
  for (uint32_t i = 0; i < l->mshrs; i++) l->mshr[i].waiter = l->waiting + (size_t)i * l->merges;
  l->ready = mem_zeroed(l->mshrs, sizeof *l->ready);
  l->spare = mem_zeroed(l->mshrs, sizeof *l->spare);
  for (uint32_t i = 0; i < l->mshrs; i++) l->spare[i] = (uint16_t)(l->mshrs - 1 - i);
  /* Lines allocated on fill may evict dirty ones while the queue is full: at most one per outstanding request, since a
   * full queue admits no other. Replies waiting for room could block it permanently. A load in an organisation with
   * chunks evicts up to as many lines as a set has chunks. */
  uint32_t requests = l->mshrs * (c->l1d_alloc == ALLOC_ON_FILL && c->l2_org ? (k->line + 31) / 32 : 1);
  reqq_init(&l->missq, l->missq_limit + 2 + requests + ORG_LINES);
  l->lat_size = c->l1d_latency * c->l1d_lookups + 1;
  l->lat = mem_zeroed(l->lat_size, sizeof *l->lat);
}

void l1d_destroy(struct l1d *l) {
  l1_org_destroy(l);
  l1_order_destroy(l);
  l1_prefetch_destroy(l);
  l1_packed_destroy(l);
  l1_slow_destroy(l);
  free(l->waiting);
  free(l->tags);
  free(l->line_mshr);
  free(l->state);
  free(l->line);
  free(l->mshr);
  free(l->ready);
  free(l->spare);
  free(l->lat);
  reqq_free(&l->missq);
}

void l1d_invalidate(struct l1d *l) {
  memset(l->state, LINE_INVALID, (size_t)l->sets * l->ways);
  l->refused = 0;
  l->dropped = l->probed = false;
}

void l1d_drop(struct sm *s) {
  struct l1d *l = &s->l1d;
  s->memory_look = true;
  if (RARE(l->prefetch)) l1_prefetch_invalidated(s);
  if (RARE(l->org)) {
    l->org->drop(&l->org_of->ctx, s->id);
    l->dirty_count = 0;
    l->refused = 0;
    return;
  }
  for (uint32_t i = 0; s->g->observed.character && i < l->sets * l->ways; i++)
    if (l->state[i] == LINE_VALID || l->state[i] == LINE_DIRTY) observe_line_end(s, i);
  l1d_invalidate(l);
  l->dropped = l->mshrs_busy;
}

uint32_t gpu_l1_set(const struct gpu_config *c, uint32_t sets, uint32_t line, uint64_t addr) {
  return l1_set(c->l1d_index, sets, line, addr);
}

void l1d_notify(struct sm *s, const uint8_t *list, uint32_t n, const struct l1_event *e, size_t hook) {
  for (uint32_t i = 0; i < n; i++) {
    struct slot_instance *in = &s->g->slots.at[list[i]];
    void (*f)(struct scheme_ctx *, const struct l1_event *);
    memcpy(&f, (const char *)in->scheme + hook, sizeof f);
    f(&in->ctx, e);
  }
}

/* True if the schemes let this miss allocate a line. Local data always may. */
bool l1d_may_allocate(struct sm *s, const struct l1_event *e) {
  if (e->local) return true;
  EACH_HOOK (in, &s->g->slots, may_allocate)
    if (!in->scheme->may_allocate(&in->ctx, e)) return false;
  return true;
}

bool l1d_store_keeps(struct sm *s, const struct l1_event *e) {
  struct slot_instance *in = &s->g->slots.at[s->g->slots.store_keeps[0]];
  return in->scheme->store_keeps(&in->ctx, e);
}

void l1d_stored(struct sm *s, const struct l1_event *e, enum l1_store_end end) {
  EACH_HOOK (in, &s->g->slots, on_store) in->scheme->on_store(&in->ctx, e, end);
}

/* Notify observers of every accepted access. Without a scheme `e` is unused and not filled. */
enum l1_outcome l1d_notify_access(struct sm *s, struct l1_event *e, enum l1_outcome out) {
  struct gpu *g = s->g;
  EACH_HOOK (in, &g->slots, on_access) in->scheme->on_access(&in->ctx, e, out);
  return out;
}
