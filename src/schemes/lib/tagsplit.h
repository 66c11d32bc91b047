/* tagsplit.h - the tag-split cache: chunk groups with a shared tag, chunks with private ones. Shared by `tsc` and
 * `tsc+`.
 *
 * Paper: Li, Hayes, Song, Zhang, "Tag-Split Cache for Efficient GPGPU Cache Utilization", ICS 2016, section 3.
 *
 * Choices not specified in the paper: missing chunks are placed one by one from the lowest: (1) a free chunk of a
 * group whose shared tag matches, (2) one of an empty group (the highest, as the baseline takes the highest free way),
 * (3) a victim: not recently used first, at random. A group with another shared tag may be taken only if none of its
 * chunks is pending; its other chunks are then evicted and free for rule 1. Chunks of the requested line and pending
 * chunks are never victims. In a group a chunk takes the place of its offset if that is free, else the lowest. With
 * too few places the access is refused without a change. With a 0-bit private tag a group is a sector frame. The
 * address is split above the set-index bits of a 32-bit address (bits 31-12 for 32 sets of 128 B); a wider address
 * widens the shared tag by as many bits (8 for 40 bits: 4 groups x 32 sets x 8 bits = 0.125 KB more, in every cache's
 * tag).
 */
#ifndef SCHEMES_LIB_TAGSPLIT_H
#define SCHEMES_LIB_TAGSPLIT_H

#include "gpu/scheme.h"
#include "schemes/lib/nru.h"
#include "schemes/lib/tagsplit_set.h"

enum { TS_CHUNKS_MAX = 64, TS_POOL = 16384 }; /* of a set; of an SM */

/* The first rows of both parameter tables. */
#define TAGSPLIT_PARAMS                                                                                     \
  {"chunk", "B", "chunk size: a power of two up to the line (section 5.4)", 8, 128, 32, true},              \
      {"private", "bit", "private-tag bits (section 5.1)", 0, 20, 8, true},                                 \
      {"groups", "group", "chunk groups of a set, each as large as a line (section 3.1)", 1, 8, 4, true}, { \
    "latency", "cycle", "extra hit latency (Table 2)", 0, 10, 1, true                                       \
  }

/* Bytes of all sets of an SM. */
static inline size_t ts_more_sm_state(const struct gpu_config *g, const double *param) {
  struct ts_geometry t = ts_geometry(&g->l1d, param);
  return (size_t)g->l1d.sets * ts_stride(&t) * 8;
}

static inline bool ts_configure(struct gpu_config *g, const double *param, struct err *e) {
  (void)e;
  g->l1d_latency += (uint32_t)param[TS_LATENCY];
  return true;
}

static inline bool ts_init(struct scheme_ctx *c, struct err *e) {
  const struct cache_config *k = &c->config->l1d;
  uint32_t chunk = (uint32_t)c->param[TS_CHUNK];
  if (chunk & (chunk - 1) || chunk > k->line || k->line / chunk > 32)
    return err_set(e, ERR_USAGE, "tag-split cache: chunk=%u is not a power of two up to the line of %u", chunk,
                   k->line);
  struct ts_geometry t = ts_geometry(k, c->param);
  if (t.set > TS_CHUNKS_MAX || (uint64_t)t.set * k->sets > TS_POOL || k->sets > 1024)
    return err_set(e, ERR_USAGE, "tag-split cache: %u sets of %u chunks are too many", k->sets, t.set);
  for (uint32_t i = 0; i < c->config->sms; i++) {
    struct tagsplit *s = SCHEME_SM(c, struct tagsplit, i);
    s->t = t;
    s->stride = ts_stride(&t);
  }
  return true;
}

static inline struct l1_shape ts_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, (uint32_t)c->param[TS_CHUNK], c->config->l1d.sets};
}

static inline uint32_t ts_find(struct tagsplit *s, const struct l1_event *e) {
  struct ts_set *b = ts_set_of(s, e->set);
  uint64_t own = ts_known(s, e->line) ? s->found.own : ts_look(s, b, e->line);
  return ts_offsets(s, b, own & b->valid);
}

/* Places of the missing chunks: out[j] for the j-th; `drop` receives the valid chunks to evict. False: too few places.
 */
static inline bool ts_place(struct tagsplit *s, const struct l1_event *e, uint32_t missing, uint8_t *out,
                            uint64_t *drop) {
  const struct ts_geometry t = s->t;
  const struct ts_set *b = ts_set_of(s, e->set);
  const uint64_t *line = b->line;
  uint64_t valid = b->valid, pending = b->pending, own = ts_own(s, b, e->line), matches = 0;
  uint64_t group = t.per == 64 ? ~0ull : (1ull << t.per) - 1;
  for (uint32_t g = 0; g < t.groups; g++) { /* the chunks of a group share the upper tag */
    uint64_t its = (valid | pending) & group << (g * t.per);
    if (its && line[__builtin_ctzll(its)] >> t.region == e->line >> t.region) matches |= group << (g * t.per);
  }
  uint64_t all = t.set == 64 ? ~0ull : (1ull << t.set) - 1, taken = pending;
  *drop = 0;
  uint32_t n = 0;
  for (uint32_t m = missing; m; m &= m - 1, n++) {
    uint64_t used = (valid & ~*drop) | taken, free = all & ~used & matches;
    uint32_t at;
    uint32_t offset = (uint32_t)__builtin_ctz(m);
    if (free) { /* 1 */
      at = (uint32_t)__builtin_ctzll(free);
      for (uint32_t g = 0; g < t.groups; g++)
        if (free >> (g * t.per + offset) & 1) at = g * t.per + offset;
    } else {
      int empty = -1;
      for (uint32_t g = 0; g < t.groups; g++)
        if (!(used >> (g * t.per) & group)) empty = (int)g;
      if (empty >= 0) { /* 2 */
        at = (uint32_t)empty * t.per + offset;
      } else { /* 3 */
        uint64_t usable = valid & ~*drop & ~taken & ~own;
        for (uint32_t g = 0; g < t.groups; g++)
          if (taken >> (g * t.per) & group && !(matches >> (g * t.per) & 1)) usable &= ~(group << (g * t.per));
        if (!usable) return false;
        at = nru_victim(b->nru, usable, s->draw + n);
        *drop |= 1ull << at;
        if (!(matches >> at & 1)) at = at / t.per * t.per + offset; /* the whole group becomes free */
      }
    }
    uint64_t its = group << (at / t.per * t.per);
    if (!(matches >> at & 1)) *drop |= its & valid; /* the shared tag changes */
    matches |= its;
    taken |= 1ull << at;
    out[n] = (uint8_t)at;
  }
  return true;
}

static inline enum l1_plan ts_plan(struct tagsplit *s, const struct l1_event *e, uint32_t missing) {
  if (s->plan.missing != missing || s->plan.line != e->line) {
    s->plan.full = !ts_place(s, e, missing, s->plan.at, &s->plan.drop);
    s->plan.missing = missing;
    s->plan.line = e->line;
  }
  return s->plan.full ? PLAN_FULL : PLAN_PLACE;
}

/* Evict chunks; a line that loses its last chunk here is reported as evicted. Returns the number of evicted chunks. */
static inline uint32_t ts_drop(struct scheme_ctx *c, struct tagsplit *s, const struct l1_event *e, uint64_t drop) {
  uint32_t dropped = 0;
  struct ts_set *b = ts_set_of(s, e->set);
  for (uint64_t m = drop & b->valid; m; m &= b->valid) {
    uint32_t v = (uint32_t)__builtin_ctzll(m);
    uint64_t line = b->line[v], its = ts_same(s, b, line) & (b->valid | b->pending), goes = its & b->valid & drop;
    uint32_t chunks = ts_offsets(s, b, goes);
    b->valid &= ~goes;
    dropped += (uint32_t)__builtin_popcountll(goes);
    if (its & ~goes) gpu_l1_lost(c->gpu, e, line, chunks);
    else gpu_l1_evicted(c->gpu, e, line, chunks, ts_warp(s, b)[v], (goes & b->reused) != 0);
  }
  return dropped;
}

static inline uint32_t ts_reserve(struct scheme_ctx *c, struct tagsplit *s, const struct l1_event *e,
                                  uint32_t missing) {
  const struct ts_geometry t = s->t;
  struct ts_set *b = ts_set_of(s, e->set);
  CHECK(ts_plan(s, e, missing) == PLAN_PLACE, "a tag-split cache placed chunks and then could not (set %u)", e->set);
  uint32_t dropped = ts_drop(c, s, e, s->plan.drop), n = 0;
  uint64_t *at = ts_at(s, b);
  for (uint32_t m = missing; m; m &= m - 1, n++) {
    uint32_t i = s->plan.at[n];
    b->line[i] = e->line;
    for (uint32_t o = 0; o < t.per; o++) at[o] &= ~(1ull << i);
    at[__builtin_ctz(m)] |= 1ull << i;
    ts_warp(s, b)[i] = (uint8_t)e->warp;
    b->pending |= 1ull << i;
    b->valid &= ~(1ull << i);
    b->reused &= ~(1ull << i);
    nru_use(&b->nru, i, t.set);
  }
  s->draw++;
  ts_changed(s);
  return dropped;
}

static inline void ts_touch(struct tagsplit *s, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  struct ts_set *b = ts_set_of(s, e->set);
  if (out == L1_PENDING) return;
  uint64_t touched = ts_among(s, b, ts_own(s, b, e->line) & b->valid, here);
  if (!touched) return;
  s->plan.missing = 0;
  b->reused |= touched;
  nru_use_each(&b->nru, touched, s->t.set);
}

static inline void ts_fill(struct tagsplit *s, const struct l1_event *e, uint32_t chunks) {
  struct ts_set *b = ts_set_of(s, e->set);
  uint64_t came = ts_among(s, b, ts_own(s, b, e->line) & b->pending, chunks);
  b->pending &= ~came;
  b->valid |= came;
  s->plan.missing = 0;
}

static inline bool ts_store(struct tagsplit *s, const struct l1_event *e, uint32_t chunks) {
  struct ts_set *b = ts_set_of(s, e->set);
  uint64_t hit = ts_among(s, b, ts_own(s, b, e->line) & b->valid, chunks);
  b->valid &= ~hit;
  ts_changed(s);
  return hit != 0;
}

static inline void ts_clear(struct scheme_ctx *c, struct tagsplit *s) {
  for (uint32_t i = 0; i < c->config->l1d.sets; i++) {
    struct ts_set *b = ts_set_of(s, i);
    b->valid = b->pending = b->reused = b->nru = 0;
  }

  ts_changed(s);
}

static inline void ts_forget(struct scheme_ctx *c, struct tagsplit *s) {
  for (uint32_t i = 0; i < c->config->l1d.sets; i++) ts_set_of(s, i)->valid = 0;
  ts_changed(s);
}

/* Beside the baseline's tags of 20 bits, valid bits and 2 bits of LRU a line: 0.58 KB an SM, 0.44 KB with 5-bit private
 * tags, as Table 3. The paper does not count the issued masks of the MSHRs (4 bits each). */
static inline uint32_t ts_storage(const struct gpu_config *g, const double *param, struct scheme_bits *out,
                                  uint32_t max) {
  double per = g->l1d.line / param[TS_CHUNK], groups = param[TS_GROUPS] * g->l1d.sets * g->sms, chunks = groups * per;
  double offset = 0;
  while (1u << (uint32_t)offset < (uint32_t)per) offset++;
  const struct scheme_bits rows[] = {
      {"private tag of every chunk", param[TS_PRIVATE] * chunks},
      {"inter-chunk offset of every chunk", offset * chunks},
      {"valid bit of every chunk beyond the line's", chunks - groups},
      {"recently-used bit of every chunk", chunks},
      {"less: shared tags are shorter by the private part", -param[TS_PRIVATE] * groups},
      {"less: no LRU order, 2 bits per line", -2 * groups},
  };
  return SCHEME_ROWS(rows, out, max);
}

#endif
