/* hooks.c - calls the schemes' hooks of the memory side, by the rules of scheme.h.
 *
 * The memory side knows schemes only through struct mem_hooks (partition.h), one function per decision; each function
 * here calls the filled slots. An entry with an empty slot stays NULL.
 */
#include "gpu/slots/slots.h"

static bool ask_bypass(void *ctx, const struct mem_event *e) {
  struct slots *s = ctx;
  EACH_HOOK (in, s, l2_bypass)
    if (in->scheme->l2_bypass(&in->ctx, e)) return true;
  return false;
}

static bool ask_may_allocate(void *ctx, const struct mem_event *e) {
  struct slots *s = ctx;
  EACH_HOOK (in, s, l2_may_allocate)
    if (!in->scheme->l2_may_allocate(&in->ctx, e)) return false;
  return true;
}

static int ask_victim(void *ctx, const struct cache_set *set, const struct mem_event *e) {
  struct slots *s = ctx;
  struct cache_set left = *set;
  EACH_HOOK (in, s, l2_narrow) {
    uint32_t ways = in->scheme->l2_narrow(&in->ctx, &left, e); /* sets of 32 ways at most */
    CHECK(ways && !(ways & ~left.usable), "cycle %llu: scheme %s leaves ways %x of %llx", (unsigned long long)e->cycle,
          in->scheme->name, ways, (unsigned long long)left.usable);
    left.usable = ways;
  }
  if (s->n_l2_find_victim) {
    struct slot_instance *in = &s->at[s->l2_find_victim[0]];
    return in->scheme->l2_find_victim(&in->ctx, &left, e);
  }
  int best = -1;
  for (uint32_t w = 0; w < left.ways; w++)
    if (left.usable >> w & 1 && (best < 0 || left.used[w] < left.used[best])) best = (int)w;
  return best;
}

static void notify_access(void *ctx, const struct mem_event *e, enum l2_outcome out) {
  struct slots *s = ctx;
  EACH_HOOK (in, s, on_l2_access) in->scheme->on_l2_access(&in->ctx, e, out);
}

static void notify_evict(void *ctx, const struct mem_event *e) {
  struct slots *s = ctx;
  EACH_HOOK (in, s, on_l2_evict) in->scheme->on_l2_evict(&in->ctx, e);
}

static uint32_t ask_class(void *ctx, const struct req *r) {
  struct slots *s = ctx;
  struct slot_instance *in = &s->at[s->dram_class[0]];
  return in->scheme->dram_class(&in->ctx, r);
}

const struct mem_hooks *slots_mem_hooks(struct slots *s, struct mem_hooks *out) {
  *out = (struct mem_hooks){.ctx = s,
                            .slices = s->n_l2_slice != 0,
                            .bypass = s->n_l2_bypass ? ask_bypass : NULL,
                            .may_allocate = s->n_l2_may_allocate ? ask_may_allocate : NULL,
                            .find_victim = s->n_l2_find_victim || s->n_l2_narrow ? ask_victim : NULL,
                            .on_access = s->n_on_l2_access ? notify_access : NULL,
                            .on_evict = s->n_on_l2_evict ? notify_evict : NULL,
                            .dram_class = s->n_dram_class ? ask_class : NULL};
  bool any = s->n_l2_bypass || s->n_l2_may_allocate || s->n_l2_find_victim || s->n_l2_narrow || s->n_on_l2_access ||
             s->n_on_l2_evict || s->n_dram_class || s->n_l2_slice;
  return any ? out : NULL;
}
