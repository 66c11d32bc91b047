/* medic.h - shared by MeDiC and its parts: warp types, bypassing, insertion, DRAM class (Ausavarungnirun et al., PACT
 * 2015, section 4).
 *
 * Warp type identification (4.1): two 10-bit counters per hardware warp slot, L2 hits and L2 accesses, halved when the
 * top bit of the second is set; cleared every `period` cycles. The type follows from the counters once they hold
 * `profile` accesses; before that the warp has no type: it is not bypassed, its lines count as balanced, its requests
 * are not urgent.
 *
 * Choices not specified in the paper:
 *  - A warp that starts in a slot continues with its counters: only the periodic reset is named, section 3.1 expects
 *    the same behaviour of "different instances of the same warp", and Table II has types for programs whose warps make
 *    fewer accesses than profiling takes (BP, HS). reprofile=1 is the other reading.
 *  - Loads and stores of global and local memory and atomics count; instruction, constant and texture fetches and
 *    write-backs belong to no warp. A merge with a pending line is not a hit: the warp waits for DRAM.
 *  - The type is computed from the counters at each use, so it may change while the warp is not bypassed; a warp
 *    that is bypassed counts nothing and keeps its type until the next reset.
 *  - A store is not bypassed while the L2 holds its line: the copy would go stale. Atomics never are (the machine
 *    performs them on a line of the L2, which they may reserve; the paper forbids that to bypassed warps).
 *  - Tuning: the miss rate (bypassed requests count as misses) of the first window of a period, in which most warps are
 *    still profiled, is the reference; in each later window the boundary is `mostly_miss` less 5 points for each full 5
 *    points by which the miss rate exceeds the reference. It returns when the miss rate falls.
 *  - Insertion: a line begins at the place in the order of replacement that its type gives it: last for mostly-hit and
 *    all-hit warps and those of no type yet, in the middle for balanced, first for mostly-miss and all-miss ones; every
 *    touch makes it the last. The paper says "closer to the MRU position" and "more likely to be evicted", but also
 *    that lines of mostly-miss warps go first and those of mostly-hit warps last, and that the bits are "appended to
 *    the replacement policy bits". strict=1 is that reading: a line of a lower type always goes before one of a higher.
 *    Then dead lines of mostly-hit warps are never evicted, and the L2 misses more (mst at medium size: 25 % of
 *    accesses instead of 9 %; lonebfs at large: 80 % instead of 61 %), where the paper's misses less.
 */
#ifndef SCHEMES_LIB_MEDIC_H
#define SCHEMES_LIB_MEDIC_H

#include "gpu/scheme.h"
#include "schemes/lib/eaf.h"

enum { MEDIC_WARPS = 64, MEDIC_COUNTER_TOP = 512 };
enum medic_type { MEDIC_ALL_HIT, MEDIC_MOSTLY_HIT, MEDIC_BALANCED, MEDIC_MOSTLY_MISS, MEDIC_ALL_MISS, MEDIC_UNKNOWN };

enum { MEDIC_PERIOD, MEDIC_PROFILE, MEDIC_HIT, MEDIC_MISS, MEDIC_REPROFILE, MEDIC_WINDOW, MEDIC_STEP, MEDIC_LOWEST };
#define MEDIC_TYPE_PARAMS                                                                                           \
  {"period", "core cycle", "hit ratios are sampled again after this time (section 4.1)", 1, 1e9, 100000, true},     \
      {"profile", "access", "accesses of a warp before it has a type; above 511 it never has one (section 4.1)",    \
       1,         1024,     30,                                                                                     \
       true},                                                                                                       \
      {"mostly_hit", "", "hit ratio from which a warp is mostly-hit (Fig 4)", 0, 1, 0.7, false},                    \
      {"mostly_miss", "", "hit ratio up to which a warp is mostly-miss (Fig 4)", 0, 1, 0.2, false}, {               \
    "reprofile", "", "1: a starting warp is profiled; 0: it inherits the counters of its slot (3.1)", 0, 1, 0, true \
  }
#define MEDIC_TUNE_PARAMS                                                                                             \
  {"window", "core cycle", "miss rates are compared and the boundary set after this", 1, 1e9, 10000, true},           \
      {"step", "",   "fall of the mostly-miss boundary per equal rise of the miss rate; 0: none (4.2)", 0, 1,         \
       0.05,   false},                                                                                                \
  {                                                                                                                   \
    "lowest", "", "1: a rise is one over the lowest reference of the launch; 0: over the period's own", 0, 1, 1, true \
  }

/* The first counters of every scheme of the family; NAMES of the parts follow for included parts. */
enum { MEDIC_N_ALL_HIT, MEDIC_N_MOSTLY_HIT, MEDIC_N_BALANCED, MEDIC_N_MOSTLY_MISS, MEDIC_N_ALL_MISS, MEDIC_N_TYPES };
#define MEDIC_TYPE_COUNTERS                                                     \
  {"all_hit", "warp", "profilings that ended as all-hit", false},               \
      {"mostly_hit", "warp", "profilings that ended as mostly-hit", false},     \
      {"balanced", "warp", "profilings that ended as balanced", true},          \
      {"mostly_miss", "warp", "profilings that ended as mostly-miss", false}, { \
    "all_miss", "warp", "profilings that ended as all-miss", false              \
  }
enum { MEDIC_BYPASSED, MEDIC_KEPT_STORE, MEDIC_WINDOWS, MEDIC_LOWERED, MEDIC_N_BYPASS };
#define MEDIC_BYPASS_COUNTERS                                                                        \
  {"bypassed", "request", "requests of mostly-miss and all-miss warps sent straight to DRAM", true}, \
      {"kept_stores", "request", "stores of such warps whose line the L2 held", false},              \
      {"windows", "window", "tuning windows that had a reference", false}, {                         \
    "lowered", "window", "of those, windows that left the boundary below its nominal value", false   \
  }
enum { MEDIC_INSERT_MISS, MEDIC_INSERT_BALANCED, MEDIC_INSERT_HIT, MEDIC_OUT_OF_TURN, MEDIC_N_INSERT };
#define MEDIC_INSERT_COUNTERS                                                               \
  {"inserted_miss", "line", "lines fetched for mostly-miss and all-miss warps", true},      \
      {"inserted_balanced", "line", "lines fetched for balanced warps, or for none", true}, \
      {"inserted_hit", "line", "lines fetched for mostly-hit and all-hit warps", true}, {   \
    "out_of_turn", "line", "victims that were not the least recently used line", false      \
  }
enum { MEDIC_URGENT, MEDIC_ORDINARY, MEDIC_N_SCHED };
#define MEDIC_SCHED_COUNTERS                                                                                     \
  {"urgent", "request", "misses and bypasses of mostly-hit and all-hit warps: the high-priority queue", true}, { \
    "ordinary", "request", "other misses and bypasses", true                                                     \
  }

#define MEDIC_INSERT_PARAMS \
  { "strict", "", "1: lines of lower types always go first; 0: a type is the place where a line begins", 0, 1, 0, true }

struct medic_warp {
  uint16_t hits, accesses;
};

struct medic {
  double boundary;           /* of mostly-miss, now */
  uint64_t requests, misses; /* tracked requests of this window; those that did not hit */
  double reference;          /* miss rate of the first window */
  bool have_reference;
  double lowest; /* of the references of this launch; 1 before the first */
  uint64_t reset_at;
  int64_t clock;            /* of places */
  struct medic_warp warp[]; /* SMs x MEDIC_WARPS, then a byte and (aligned) a place per L2 line, then the filters */
};

static inline size_t medic_lines(const struct gpu_config *g) {
  return (size_t)g->channels * g->subparts * g->l2.sets * g->l2.ways;
}
static inline size_t medic_warps_bytes(const struct gpu_config *g) {
  return (size_t)g->sms * MEDIC_WARPS * sizeof(struct medic_warp);
}
static inline size_t medic_more_state(const struct gpu_config *g, const double *param) {
  (void)param;
  return medic_warps_bytes(g) + medic_lines(g) * (1 + sizeof(int64_t)) + sizeof(int64_t);
}
/* Type class of each line: 0 miss, 1 balanced, 2 hit. */
static inline uint8_t *medic_line_class(struct scheme_ctx *c) {
  return (uint8_t *)((struct medic *)c->state)->warp + medic_warps_bytes(c->config);
}

/* Place of each line in the order of replacement: the lowest of a set is replaced first. */
static inline int64_t *medic_place(struct scheme_ctx *c) {
  uintptr_t after = (uintptr_t)medic_line_class(c) + medic_lines(c->config);
  return (int64_t *)((after + 7) & ~(uintptr_t)7);
}

static inline bool medic_init(struct scheme_ctx *c, struct err *e) {
  struct medic *m = c->state;
  if (c->param[MEDIC_MISS] >= c->param[MEDIC_HIT])
    return err_set(e, ERR_USAGE, "mostly_miss=%g is not below mostly_hit=%g", c->param[MEDIC_MISS],
                   c->param[MEDIC_HIT]);
  m->boundary = c->param[MEDIC_MISS];
  m->lowest = 1;
  m->reset_at = (uint64_t)c->param[MEDIC_PERIOD];
  return true;
}

static inline bool medic_tracked(uint8_t type) {
  return type == REQ_GLOBAL_READ || type == REQ_LOCAL_READ || type == REQ_GLOBAL_WRITE || type == REQ_LOCAL_WRITE;
}
static inline struct medic_warp *medic_warp_of(struct scheme_ctx *c, uint32_t sm, uint32_t warp) {
  return &((struct medic *)c->state)->warp[sm * MEDIC_WARPS + warp];
}

static inline enum medic_type medic_type_of(const struct scheme_ctx *c, const struct medic_warp *w) {
  const struct medic *m = c->state;
  if (w->accesses < c->param[MEDIC_PROFILE]) return MEDIC_UNKNOWN;
  if (!w->hits) return MEDIC_ALL_MISS;
  if (w->hits == w->accesses) return MEDIC_ALL_HIT;
  double ratio = (double)w->hits / w->accesses;
  if (ratio >= c->param[MEDIC_HIT]) return MEDIC_MOSTLY_HIT;
  return ratio <= m->boundary ? MEDIC_MOSTLY_MISS : MEDIC_BALANCED;
}
static inline enum medic_type medic_event_type(struct scheme_ctx *c, const struct mem_event *e) {
  return medic_tracked(e->type) ? medic_type_of(c, medic_warp_of(c, e->sm, e->warp)) : MEDIC_UNKNOWN;
}
static inline bool medic_is_hit(enum medic_type t) {
  return t == MEDIC_ALL_HIT || t == MEDIC_MOSTLY_HIT;
}
static inline bool medic_is_miss(enum medic_type t) {
  return t == MEDIC_ALL_MISS || t == MEDIC_MOSTLY_MISS;
}

static inline void medic_on_warp_start(struct scheme_ctx *c, uint32_t sm, uint32_t warp, uint32_t cta) {
  (void)cta;
  if (c->param[MEDIC_REPROFILE] == 1) *medic_warp_of(c, sm, warp) = (struct medic_warp){0};
}

/* Reset: every warp is profiled again. */
static inline void medic_reset(struct scheme_ctx *c) {
  struct medic *m = c->state;
  for (uint32_t i = 0; i < c->config->sms * MEDIC_WARPS; i++) m->warp[i] = (struct medic_warp){0};
  m->boundary = c->param[MEDIC_MISS];
  m->have_reference = false;
  m->requests = m->misses = 0;
}

/* A launch starts: reset the lowest miss rate. */
static inline void medic_on_kernel(struct scheme_ctx *c) {
  ((struct medic *)c->state)->lowest = 1;
}

/* A tuning window ends. `k`: index of the first counter of the bypass part. */
static inline void medic_window(struct scheme_ctx *c, uint32_t k) {
  struct medic *m = c->state;
  if (*c->now >= m->reset_at) {
    m->reset_at = *c->now + (uint64_t)c->param[MEDIC_PERIOD];
    medic_reset(c);
    return;
  }
  if (!m->requests) return;
  double rate = (double)m->misses / (double)m->requests, step = c->param[MEDIC_STEP];
  m->requests = m->misses = 0;
  if (!m->have_reference) {
    m->reference = rate;
    m->have_reference = true;
    if (rate < m->lowest) m->lowest = rate;
    return;
  }
  double from = c->param[MEDIC_LOWEST] == 1 && m->lowest < m->reference ? m->lowest : m->reference;
  c->counter[k + MEDIC_WINDOWS]++;
  m->boundary = c->param[MEDIC_MISS];
  if (step > 0 && rate > from) {
    /* An exact multiple counts as reached, despite rounding. */
    m->boundary -= step * (double)(uint64_t)((rate - from) / step + 1e-9);
    if (m->boundary < 0) m->boundary = 0;
  }
  c->counter[k + MEDIC_LOWERED] += m->boundary < c->param[MEDIC_MISS];
}

/* An accepted access: the counters of its warp. */
static inline void medic_observe(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out) {
  struct medic *m = c->state;
  if (!medic_tracked(e->type)) return;
  m->requests++;
  m->misses += out != L2_HIT;
  if (out == L2_BYPASSED) return; /* not looked up */
  struct medic_warp *w = medic_warp_of(c, e->sm, e->warp);
  bool typed = w->accesses >= c->param[MEDIC_PROFILE];
  w->accesses++;
  w->hits += out == L2_HIT;
  enum medic_type t = medic_type_of(c, w);
  if (!typed && t != MEDIC_UNKNOWN) c->counter[t]++;
  if (w->accesses & MEDIC_COUNTER_TOP) w->accesses >>= 1, w->hits >>= 1;
}

/* ---- the parts ---- */

static inline bool medic_wants_bypass(struct scheme_ctx *c, const struct mem_event *e, uint32_t k) {
  if (!medic_is_miss(medic_event_type(c, e))) return false;
  if (!e->write || e->way == UINT32_MAX) return true;
  c->counter[k + MEDIC_KEPT_STORE]++;
  return false;
}

static inline size_t medic_line(const struct scheme_ctx *c, const struct mem_event *e, uint32_t way) {
  return ((size_t)e->subpart * c->config->l2.sets + e->set) * c->config->l2.ways + way;
}

/* The place of the line with `rank` of the set's other lines before it; `way` is not counted. */
static inline int64_t medic_place_of(const int64_t *place, uint32_t ways, uint32_t way, uint32_t rank) {
  for (uint32_t w = 0; w < ways; w++) {
    uint32_t before = 0;
    for (uint32_t v = 0; v < ways; v++) before += v != way && (place[v] < place[w] || (v < w && place[v] == place[w]));
    if (w != way && before == rank) return place[w];
  }
  return 0; /* a set of one line */
}

/* After medic_observe: a miss assigns class and place, a touch the last place. */
static inline void medic_insert(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out, uint32_t k) {
  if (e->way == UINT32_MAX || out == L2_BYPASSED) return;
  int64_t *place = medic_place(c) + medic_line(c, e, 0);
  uint32_t ways = c->config->l2.ways;
  place[e->way] = ++((struct medic *)c->state)->clock;
  if (out != L2_MISS) return;
  enum medic_type t = medic_event_type(c, e);
  if (t == MEDIC_BALANCED) place[e->way] = medic_place_of(place, ways, e->way, (ways - 1) / 2);
  if (medic_is_miss(t)) place[e->way] = medic_place_of(place, ways, e->way, 0) - 1;
  uint8_t class = medic_is_miss(t) ? 0 : medic_is_hit(t) ? 2 : 1;
  medic_line_class(c)[medic_line(c, e, e->way)] = class;
  c->counter[k + class]++;
}

static inline int medic_victim(struct scheme_ctx *c, const struct cache_set *s, const struct mem_event *e, uint32_t k,
                               bool strict) {
  const uint8_t *class = medic_line_class(c) + medic_line(c, e, 0);
  const int64_t *place = medic_place(c) + medic_line(c, e, 0);
  int best = -1, oldest = -1;
  for (uint32_t w = 0; w < s->ways; w++) {
    if (!(s->usable >> w & 1)) continue;
    if (oldest < 0 || s->used[w] < s->used[oldest]) oldest = (int)w;
    bool lower = best >= 0 && (strict ? class[w] < class[best] : place[w] < place[best]);
    bool same = best >= 0 && (strict ? class[w] == class[best] : place[w] == place[best]);
    if (best < 0 || lower || (same && s->used[w] < s->used[best])) best = (int)w;
  }
  c->counter[k + MEDIC_OUT_OF_TURN] += best != oldest;
  return best;
}

static inline bool medic_urgent(struct scheme_ctx *c, uint8_t type, uint32_t sm, uint32_t warp) {
  if (type != REQ_L2_WRITE_ALLOC && !medic_tracked(type)) return false;
  return medic_is_hit(medic_type_of(c, medic_warp_of(c, sm, warp)));
}
static inline uint32_t medic_dram_class(struct scheme_ctx *c, const struct req *r) {
  return !medic_urgent(c, r->type, r->sm, r->warp);
}
static inline void medic_count_fetch(struct scheme_ctx *c, const struct mem_event *e, enum l2_outcome out, uint32_t k) {
  if (out != L2_MISS && out != L2_BYPASSED) return;
  c->counter[k + (medic_urgent(c, e->type, e->sm, e->warp) ? MEDIC_URGENT : MEDIC_ORDINARY)]++;
}

static inline double medic_warp_bits(const struct gpu_config *g) {
  return 22.0 * g->sms * (g->sm_threads / 32); /* section 6.5: two 10-bit counters and a 2-bit type */
}

#endif
