/* sharing_cache.h - sharing-aware allocation and replacement in L1 and L2 (Tabbakh, Annavaram, Qian, IPDPS 2017,
 * sections V and VI).
 *
 * L2: a line stores the SM that fetched it and a flag, set when another SM touches it (hit or merge). Victim: the
 * least recently used private line, else the least recently used shared one. A missing local load allocates no line.
 * L1: a line has a private flag and a dead flag. The reply of a load has a bit for lines that are shared in the L2.
 * Such data takes an empty way, replaces a least recently used line that was declared dead before, or the least
 * recently used shared line, else it is not placed. Private data replaces by Figure 11: the least recently used line
 * if it is shared or was declared dead before; if it is private, it is declared dead and the least recently used
 * shared line goes, or itself if there is none.
 *
 * Choices not specified, or specified twice, in the paper:
 *  - The text lets a hit in the L2 by another SM bypass the L1 always, property P1 lets shared data replace shared data
 *    and fill empty ways: P1 is built, with Figure 11's replacement.
 *  - P1 says that shared data never replaces private data; Figure 11, which is drawn for every replacement, and the
 *    purpose of the dead-block rule say that a private line declared dead may go. Shared data may replace dead private
 *    lines here; `strict=1` is P1 to the letter. In that reading, dead lines fill the L1 and keep shared data out:
 *    mummergpu then takes 1.37 times the baseline's time instead of 1.00, neuralnet 1.99 instead of 1.03
 *    (docs/notes/l2-schemes.md).
 *  - Section VI-B has no dead blocks in the L2, because any line may be the least recent one of its kind. But a dead
 *    shared line is replaced only when all lines of its set are shared, and until then new lines
 *    replace each other in the ways that are left. `l2_dead=1` is an experiment: the rule of the L1 with the kinds
 *    swapped.
 *  - A line stays shared once it is, also for its owner.
 *  - Loads of every kind, stores and atomics count as touches of the L2. A line that is shared only after an SM has it
 *    as private stays private there.
 *  - A hit takes the dead flag off a line; a fill of shared data declares lines dead as one of private data does.
 *  - The victim of the L1 is chosen when the data arrives (section VI-B), so the L1 allocates on the fill; on a
 *    configuration that allocates on the miss the scheme changes that.
 *  - In the L2 the rule passes the private lines to the replacement policy: the least recently used of them is
 *    replaced, or with MeDiC the one that MeDiC chooses. Where another scheme keeps the lines of the L1 in its own
 *    manner (TSC, the decoupled L1D), the rules for lines of the L1 do not apply.
 *  - An MSHR of the L1 is held until the data arrives: only then is it known to be shared.
 */
#ifndef SCHEMES_LIB_SHARING_CACHE_H
#define SCHEMES_LIB_SHARING_CACHE_H

#include "gpu/scheme.h"

enum { SHARING_L1_LINES = 4096, SHARING_NOTE = 1 };

struct sharing_l1 { /* of an SM */
  uint8_t private[SHARING_L1_LINES], dead[SHARING_L1_LINES];
};
struct sharing_l2_line {
  uint8_t owner, shared, dead;
};

/* Parameters `k` .. of a scheme with this part. */
enum { SHARING_L1, SHARING_L2, SHARING_DEAD, SHARING_STRICT, SHARING_L2_DEAD, SHARING_PARAMS };
#define SHARING_CACHE_PARAMS                                                                                     \
  {"l1", "", "0: the L1 keeps its default policy", 0, 1, 1, true},                                               \
      {"l2", "", "0: the L2 keeps its default policy (and tracks sharing)", 0, 1, 1, true},                      \
      {"dead", "", "0: no dead-block rule (section VI-B)", 0, 1, 1, true},                                       \
      {"strict", "", "1: shared data replaces no dead private line either (P1 to the letter)", 0, 1, 0, true}, { \
    "l2_dead", "", "1: shared lines of the L2 die like private ones of the L1 (not in the paper)", 0, 1, 0, true \
  }
enum {
  SHARING_MARKED,
  SHARING_LOCAL_BYPASSES,
  SHARING_L2_SPARED,
  SHARING_KEPT_OUT,
  SHARING_L1_SPARED,
  SHARING_DEAD_DECLARED,
  SHARING_DEAD_REPLACED,
  SHARING_L2_DIED,
  SHARING_N
};
#define SHARING_CACHE_COUNTERS                                                                               \
  {"marked_shared", "line", "L2 lines that a second SM touched", true},                                      \
      {"local_bypasses", "access", "local loads that missed in the L2 and allocated no line", false},        \
      {"l2_spared", "line", "shared L2 lines kept although a younger private one was evicted", false},       \
      {"l1_kept_out", "line", "shared data not placed, as its L1 set had only private lines", true},         \
      {"l1_spared", "line", "private L1 lines kept although a younger shared one was evicted", false},       \
      {"dead_declared", "line", "private lines declared dead", false},                                       \
      {"dead_replaced", "line", "private lines replaced because they had been declared dead", false}, {      \
    "l2_dead_replaced", "line", "shared lines of the L2 replaced because they had been declared dead", false \
  }

/* Hooks without effect: each half has its own, and both need to know what is shared. */
static inline bool sharing_rule_idle(const double *param, size_t hook) {
  if (hook == offsetof(struct scheme, l2_may_allocate) || hook == offsetof(struct scheme, l2_narrow))
    return !param[SHARING_L2];
  return !param[SHARING_L1] && (hook != offsetof(struct scheme, on_l2_access) || !param[SHARING_L2]);
}

static inline size_t sharing_l2_bytes(const struct gpu_config *g) {
  return sizeof(struct sharing_l2_line) * g->channels * g->subparts * g->l2.sets * g->l2.ways;
}
static inline bool sharing_cache_init(struct scheme_ctx *c, struct err *e) {
  if (c->config->l1d.sets * c->config->l1d.ways > SHARING_L1_LINES)
    return err_set(e, ERR_USAGE, "sharing-aware management: an L1 of more than %d lines", SHARING_L1_LINES);
  return true;
}
static inline void sharing_l1_on_fill(struct gpu_config *g, bool l1) {
  if (l1) g->l1d_alloc = ALLOC_ON_FILL;
}

/* ---- L2; `lines`: the scheme's array of sharing_l2_bytes ---- */
static inline struct sharing_l2_line *sharing_l2_set(const struct scheme_ctx *c, struct sharing_l2_line *lines,
                                                     const struct mem_event *e) {
  return lines + ((size_t)e->subpart * c->config->l2.sets + e->set) * c->config->l2.ways;
}

static inline void sharing_l2_access(struct scheme_ctx *c, struct sharing_l2_line *lines, const struct mem_event *e,
                                     enum l2_outcome out, uint32_t counters) {
  if (e->way == UINT32_MAX || out == L2_BYPASSED) return;
  struct sharing_l2_line *l = &sharing_l2_set(c, lines, e)[e->way];
  if (out == L2_MISS) *l = (struct sharing_l2_line){.owner = (uint8_t)e->sm};
  else if (l->owner != e->sm && !l->shared) l->shared = 1, c->counter[counters + SHARING_MARKED]++;
  l->dead = 0;
  if (e->note) *e->note = l->shared ? SHARING_NOTE : 0;
}

static inline bool sharing_l2_admits(struct scheme_ctx *c, const struct mem_event *e, bool on, uint32_t counters) {
  if (!on || e->type != REQ_LOCAL_READ) return true;
  c->counter[counters + SHARING_LOCAL_BYPASSES]++;
  return false;
}

/* The least recently used way of `ways`, -1 if none. */
static inline int sharing_lru(const struct cache_set *s, uint64_t ways) {
  int best = -1;
  for (; ways; ways &= ways - 1) {
    int w = __builtin_ctzll(ways);
    if (best < 0 || s->used[w] < s->used[best]) best = w;
  }
  return best;
}

/* The private ways, if any: the replacement policy chooses among them. With l2_dead, a shared line that is the least
 * recently used one for the second time is replaced. */
static inline uint32_t sharing_l2_left(struct scheme_ctx *c, struct sharing_l2_line *lines, const struct cache_set *s,
                                       const struct mem_event *e, const double *param, uint32_t counters) {
  struct sharing_l2_line *l = sharing_l2_set(c, lines, e);
  uint32_t private = 0;
  for (uint32_t w = 0; w < s->ways; w++) private |= (uint32_t)(!l[w].shared) << w;
  private &= (uint32_t)s->usable; /* a set that is narrowed has 32 ways at most */
  if (param[SHARING_L2] == 0 || !private) return (uint32_t)s->usable;
  int lru = sharing_lru(s, s->usable);
  if (private >> lru & 1) return private;
  if (param[SHARING_L2_DEAD] != 0 && l[lru].dead) {
    c->counter[counters + SHARING_L2_DIED]++;
    return 1u << lru;
  }
  l[lru].dead = 1;
  c->counter[counters + SHARING_L2_SPARED]++;
  return private;
}

/* ---- L1 ---- */
static inline int sharing_l1_victim(struct scheme_ctx *c, struct sharing_l1 *l1, const struct cache_set *s,
                                    const struct l1_event *e, const double *param, uint32_t counters) {
  bool on = param[SHARING_L1] != 0, dead_rule = param[SHARING_DEAD] != 0;
  uint32_t base = s->set * s->ways;
  uint64_t shared = 0;
  for (uint32_t w = 0; w < s->ways; w++) shared |= (uint64_t)(!l1->private[base + w]) << w;
  int lru = sharing_lru(s, s->usable), best = sharing_lru(s, s->usable & shared);
  if (!on || lru == best) return lru;
  bool was_dead = l1->dead[base + (uint32_t)lru];
  if (dead_rule && !was_dead) {
    l1->dead[base + (uint32_t)lru] = 1;
    c->counter[counters + SHARING_DEAD_DECLARED]++;
  }
  bool was_shared = e->note & SHARING_NOTE && !e->local;
  if (was_shared && (param[SHARING_STRICT] != 0 || !dead_rule || !was_dead)) {
    c->counter[counters + (best < 0 ? SHARING_KEPT_OUT : SHARING_L1_SPARED)]++;
    return best;
  }
  if (dead_rule && was_dead) {
    c->counter[counters + SHARING_DEAD_REPLACED]++;
    return lru;
  }
  if (best < 0) return lru;
  c->counter[counters + SHARING_L1_SPARED]++;
  return best;
}

static inline void sharing_l1_hit(const struct scheme_ctx *c, struct sharing_l1 *l1, const struct l1_event *e) {
  l1->dead[e->set * c->config->l1d.ways + e->way] = 0;
}
static inline void sharing_l1_fill(const struct scheme_ctx *c, struct sharing_l1 *l1, const struct l1_event *e) {
  if (e->way == UINT32_MAX) return; /* not placed */
  uint32_t i = e->set * c->config->l1d.ways + e->way;
  l1->private[i] = e->local || !(e->note & SHARING_NOTE);
  l1->dead[i] = 0;
}

static inline uint32_t sharing_bits(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                    uint32_t max) {
  double l2 = (double)g->channels * g->subparts * g->l2.sets * g->l2.ways, owner = 0;
  while ((double)(1u << (uint32_t)owner) < g->sms) owner++;
  const struct scheme_bits rows[] = {
      {"owner SM of an L2 line", owner * l2},
      {"sharing flag of an L2 line", l2},
      {"private and dead flag of an L1 line", 2.0 * g->l1d.sets * g->l1d.ways * g->sms},
      {"dead flag of an L2 line", l2},
  };
  return scheme_rows(rows, sizeof rows / sizeof *rows - (param[SHARING_L2_DEAD] == 0), out, max);
}

#endif
