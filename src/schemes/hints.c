/* hints.c - eviction priorities and cache operators that the program gives choose what is replaced.
 *
 * Source: NVIDIA, "Parallel Thread Execution ISA", version 8.5: "Cache Operators" (ld.cs, ld.lu, st.cs: allocated as
 * evict-first), "Cache Eviction Priority Hints" (evict_normal, evict_first, evict_last, evict_unchanged, no_allocate)
 * and createpolicy. The text says what a hint means, not what a GPU does with it.
 *
 * Choices: the victim is a line of the lowest priority, evict_first below normal below evict_last, and of those the
 * one used longest ago. The priority is that of the access that placed the line or used it last; evict_unchanged leaves
 * it. An L1 line of a load with no_allocate is not placed. Atomics reach no hook at the L1.
 */
#include "gpu/scheme.h"

enum { HINTS_L1, HINTS_L2, HINTS_OPERATORS };
static const struct scheme_param params[] = {
    {"l1", "", "hints act at the L1", 0, 1, 1, true},
    {"l2", "", "hints act at the L2", 0, 1, 1, true},
    {"operators", "", ".cs and .lu count as evict_first", 0, 1, 1, true},
    {0},
};
enum { FIRST, LAST, NO_ALLOCATE, OUT_OF_ORDER };
static const struct scheme_counter counters[] = {
    {"first", "line", "accesses that made a line evict_first, at the L1 and the L2", true},
    {"last", "line", "accesses that made one evict_last", true},
    {"no_allocate", "load", "loads that placed no line in the L1", true},
    {"out_of_order", "line", "victims that were not the line used longest ago", false},
    {0},
};
enum hints_class { CLASS_FIRST, CLASS_NORMAL, CLASS_LAST };

static size_t hints_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return (size_t)g->channels * g->subparts * g->l2.sets * g->l2.ways;
}
static size_t hints_more_sm_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return (size_t)g->l1d.sets * g->l1d.ways;
}
struct hints_sm {
  uint8_t sets; /* at least one byte; the classes of the lines follow */
};
static uint8_t *hints_l1(struct scheme_ctx *c, uint32_t sm, uint32_t set) {
  return (uint8_t *)(SCHEME_SM(c, struct hints_sm, sm) + 1) + (size_t)set * c->config->l1d.ways;
}
static uint8_t *hints_l2(struct scheme_ctx *c, const struct mem_event *e) {
  return (uint8_t *)c->state + ((size_t)e->subpart * c->config->l2.sets + e->set) * c->config->l2.ways;
}

/* The priority of the line after an access. */
static void hints_mark(struct scheme_ctx *c, uint8_t *class, uint32_t hint, uint32_t op) {
  if (hint == HINT_UNCHANGED) return;
  bool streamed = c->param[HINTS_OPERATORS] != 0 && (op == CACHE_CS || op == CACHE_LU);
  *class = hint == HINT_FIRST || (hint == HINT_NONE && streamed) ? CLASS_FIRST
           : hint == HINT_LAST                                   ? CLASS_LAST
                                                                 : CLASS_NORMAL;
  if (*class == CLASS_FIRST) c->counter[FIRST]++;
  if (*class == CLASS_LAST) c->counter[LAST]++;
}

static int hints_choose(struct scheme_ctx *c, const struct cache_set *s, const uint8_t *class) {
  int best = -1, oldest = -1;
  for (uint32_t w = 0; w < s->ways; w++) {
    if (!(s->usable >> w & 1)) continue;
    if (oldest < 0 || s->used[w] < s->used[oldest]) oldest = (int)w;
    if (best < 0 || class[w] < class[best] || (class[w] == class[best] && s->used[w] < s->used[best])) best = (int)w;
  }
  c->counter[OUT_OF_ORDER] += best != oldest;
  return best;
}

/* ---- at the L1 ---- */

/* The hook is called again for a refused access: a victim that is not the oldest is counted when the line is placed. */
static int hints_find_victim(struct scheme_ctx *c, uint32_t sm, const struct cache_set *s, const struct l1_event *e) {
  (void)e;
  uint64_t counted = c->counter[OUT_OF_ORDER];
  int way = hints_choose(c, s, hints_l1(c, sm, s->set));
  c->counter[OUT_OF_ORDER] = counted;
  return way;
}
static bool hints_may_allocate(struct scheme_ctx *c, const struct l1_event *e) {
  return c->param[HINTS_L1] == 0 || e->hint != HINT_NO_ALLOCATE;
}
static void hints_on_bypass(struct scheme_ctx *c, const struct l1_event *e, enum l1_bypass_by by) {
  c->counter[NO_ALLOCATE] += by == BYPASS_BY_CACHE && e->hint == HINT_NO_ALLOCATE;
}
static void hints_on_place(struct scheme_ctx *c, const struct l1_event *e) {
  uint8_t *class = hints_l1(c, e->sm, e->set) + e->way;
  *class = CLASS_NORMAL;
  if (c->param[HINTS_L1] != 0) hints_mark(c, class, e->hint, e->cache_op);
}
static void hints_on_hit(struct scheme_ctx *c, const struct l1_event *e) {
  if (c->param[HINTS_L1] != 0) hints_mark(c, hints_l1(c, e->sm, e->set) + e->way, e->hint, e->cache_op);
}

/* ---- at the L2 ---- */

static int hints_l2_find_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e) {
  return hints_choose(c, s, hints_l2(c, e));
}
static void hints_on_l2_access(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  if (e->way == UINT32_MAX || (out != L2_MISS && out != L2_HIT)) return;
  uint8_t *class = hints_l2(c, e) + e->way;
  if (out == L2_MISS) *class = CLASS_NORMAL;
  if (c->param[HINTS_L2] != 0) hints_mark(c, class, e->hint, e->cache_op);
}

static bool hints_idle(const double *param, size_t hook) {
  if (hook == offsetof(struct scheme, l2_find_victim) || hook == offsetof(struct scheme, on_l2_access))
    return !param[HINTS_L2];
  return !param[HINTS_L1];
}

SCHEME_STORAGE(hints_storage, {"priority of an L1 line, 2 bits", 2.0 * g->l1d.sets * g->l1d.ways * g->sms},
               {"priority of an L2 line, 2 bits", 2.0 * g->channels * g->subparts * g->l2.sets * g->l2.ways})

static const struct scheme hints = {
    .name = "hints",
    .title = "the program's cache operators and eviction priorities choose what is replaced",
    .paper = "NVIDIA: Parallel Thread Execution ISA, version 8.5, Cache Eviction Priority Hints. 2024",
    .idea = "An instruction may say that a line is not used again (evict_first, .cs) or should stay (evict_last), by\n"
            "itself or by a policy of createpolicy. Lines that may go first are replaced first, those that should\n"
            "stay last. Programs without hints run as under the baseline.",
    .params = params,
    .counters = counters,
    .state_bytes = 1,
    .more_state = hints_more_state,
    .sm_state_bytes = sizeof(struct hints_sm),
    .more_sm_state = hints_more_sm_state,
    .by_sm = true,
    .idle = hints_idle,
    .storage = hints_storage,
    .steady = true,
    .find_victim = hints_find_victim,
    .may_allocate = hints_may_allocate,
    .on_bypass = hints_on_bypass,
    .on_place = hints_on_place,
    .on_hit = hints_on_hit,
    .l2_find_victim = hints_l2_find_victim,
    .on_l2_access = hints_on_l2_access,
};
SCHEME(hints);
