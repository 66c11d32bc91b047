/* tagsplit_set.h - a set of the tag-split cache (tagsplit.h): its chunks, their tags and offsets, and the search for
 * them.
 */
#ifndef SCHEMES_LIB_TAGSPLIT_SET_H
#define SCHEMES_LIB_TAGSPLIT_SET_H

#ifdef __SSE4_1__
#include <smmintrin.h>
#endif

#include "gpu/scheme.h"

enum { TS_CHUNK, TS_PRIVATE, TS_GROUPS, TS_LATENCY, TS_PARAMS };

struct ts_geometry {
  uint32_t groups, per, set; /* per: chunks of a group */
  uint64_t region;           /* lines in a region of this size share a shared tag, log2 */
};

/* A bit per chunk of the set. After `line` come the inter-chunk offsets, and the warp that fetched each chunk. */
struct ts_set {
  uint64_t valid, pending, reused, nru;
  uint64_t line[]; /* the whole tag: shared and private part are compared by splitting it */
};
struct tagsplit {
  struct ts_geometry t;
  uint32_t stride; /* of sets, in 8 B */
  uint64_t draw;
  struct { /* the last plan, until the state changes */
    uint64_t line, drop;
    uint32_t missing; /* 0: there is none */
    bool full;
    uint8_t at[32];
  } plan;
  struct { /* the last chunks found, until the state changes */
    uint64_t line, own;
    bool known;
  } found;
  uint64_t sets[]; /* a struct ts_set every `stride` */
};
static inline struct ts_geometry ts_geometry(const struct cache_config *k, const double *param) {
  uint32_t per = k->line / (uint32_t)param[TS_CHUNK], groups = (uint32_t)param[TS_GROUPS];
  uint32_t index = (uint32_t)__builtin_ctz(k->line) + (uint32_t)__builtin_ctz(k->sets);
  return (struct ts_geometry){groups, per, groups * per, index + (uint32_t)param[TS_PRIVATE]};
}

/* 8 B that a set takes. */
static inline uint32_t ts_stride(const struct ts_geometry *t) {
  return (uint32_t)sizeof(struct ts_set) / 8 + t->set + t->per + (t->set + 7) / 8;
}
static inline struct ts_set *ts_set_of(struct tagsplit *s, uint32_t set) {
  return (struct ts_set *)(s->sets + (size_t)set * s->stride);
}
/* Of each of its `per` offsets, the chunks that have it. */
static inline uint64_t *ts_at(const struct tagsplit *s, struct ts_set *b) {
  return b->line + s->t.set;
}
static inline uint8_t *ts_warp(const struct tagsplit *s, struct ts_set *b) {
  return (uint8_t *)(b->line + s->t.set + s->t.per);
}

/* Call when chunks are added, removed or reassigned. */
static inline void ts_changed(struct tagsplit *s) {
  s->plan.missing = 0;
  s->found.known = false;
}

#ifdef __SSE4_1__
/* Of four tags, all ones in the 32-bit lanes of those that are equal. */
static inline __m128i ts_same_of_4(const uint64_t *k, __m128i line) {
  __m128i low = _mm_cmpeq_epi64(_mm_loadu_si128((const __m128i *)k), line);
  __m128i high = _mm_cmpeq_epi64(_mm_loadu_si128((const __m128i *)(k + 2)), line);
  return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(low), _mm_castsi128_ps(high), _MM_SHUFFLE(2, 0, 2, 0)));
}
static inline uint32_t ts_same_of_16(const uint64_t *k, __m128i line) {
  __m128i low = _mm_packs_epi32(ts_same_of_4(k, line), ts_same_of_4(k + 4, line));
  __m128i high = _mm_packs_epi32(ts_same_of_4(k + 8, line), ts_same_of_4(k + 12, line));
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}
#endif

/* Chunks of the set with the tag of `line`, in use or not. */
static inline uint64_t ts_same(const struct tagsplit *s, const struct ts_set *b, uint64_t line) {
  const uint64_t *k = b->line;
  uint64_t same = 0;
  uint32_t i = 0;
#ifdef __SSE4_1__
  __m128i both = _mm_set1_epi64x((long long)line);
  for (; i + 16 <= s->t.set; i += 16) same |= (uint64_t)ts_same_of_16(k + i, both) << i;
#endif
  for (; i < s->t.set; i++) same |= (uint64_t)(k[i] == line) << i;
  return same;
}

/* Offsets of the chunks of `m`. */
static inline uint32_t ts_offsets(const struct tagsplit *s, struct ts_set *b, uint64_t m) {
  const uint64_t *at = ts_at(s, b);
  uint32_t offsets = 0, o = 0;
#ifdef __SSE4_1__
  __m128i both = _mm_set1_epi64x((long long)m), none = _mm_setzero_si128();
  for (; o + 4 <= s->t.per; o += 4) {
    __m128i low = _mm_and_si128(_mm_loadu_si128((const __m128i *)(at + o)), both);
    __m128i high = _mm_and_si128(_mm_loadu_si128((const __m128i *)(at + o + 2)), both);
    __m128 absent = _mm_shuffle_ps(_mm_castsi128_ps(_mm_cmpeq_epi64(low, none)),
                                   _mm_castsi128_ps(_mm_cmpeq_epi64(high, none)), _MM_SHUFFLE(2, 0, 2, 0));
    offsets |= ((uint32_t)_mm_movemask_ps(absent) ^ 15) << o;
  }
#endif
  for (; o < s->t.per; o++) offsets |= (uint32_t)((at[o] & m) != 0) << o;
  return offsets;
}

/* Those of `m` whose offset is one of `chunks`. */
static inline uint64_t ts_among(const struct tagsplit *s, struct ts_set *b, uint64_t m, uint32_t chunks) {
  const uint64_t *at = ts_at(s, b);
  uint64_t among = 0;
  for (; chunks; chunks &= chunks - 1) among |= at[(uint32_t)__builtin_ctz(chunks)];
  return among & m;
}

/* Chunks of the requested line, present or pending. */
static inline uint64_t ts_look(struct tagsplit *s, const struct ts_set *b, uint64_t line) {
  s->found.line = line;
  s->found.known = true;
  return s->found.own = ts_same(s, b, line) & (b->valid | b->pending);
}
static __attribute__((noinline)) uint64_t ts_look_again(struct tagsplit *s, const struct ts_set *b, uint64_t line) {
  return ts_look(s, b, line);
}
static inline bool ts_known(const struct tagsplit *s, uint64_t line) {
  return s->found.known && s->found.line == line;
}
/* Usually cached by ts_find. */
static inline uint64_t ts_own(struct tagsplit *s, const struct ts_set *b, uint64_t line) {
  return ts_known(s, line) ? s->found.own : ts_look_again(s, b, line);
}

#endif
