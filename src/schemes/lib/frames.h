/* frames.h - a sectored cache: frames of one line each, with a bit per chunk; least recently used. Shared by `line`,
 * `sector` and `lamar`. Liptay, "Structural aspects of the System/360 Model 85", IBM Systems Journal 7(1), 1968.
 *
 * A frame that waits for any chunk is not replaced. Ways are chosen as the baseline does: the highest that is free,
 * else the one used longest ago, so that with chunks of a line it is the baseline. With `per` set, the victim is the
 * frame of a chunk that was not recently used, at random: the replacement of the Tag-Split Cache. With `fifo` set,
 * it is the frame allocated first.
 */
#ifndef SCHEMES_LIB_FRAMES_H
#define SCHEMES_LIB_FRAMES_H

#include "gpu/scheme.h"
#include "schemes/lib/nru.h"

enum { FRAMES_MAX = 4096 };
struct frame {
  uint64_t line, used;
  uint32_t valid, pending; /* chunks */
  uint32_t read;           /* chunks read since the frame was allocated */
  uint8_t warp;            /* that fetched it */
  bool reused;
  uint16_t words; /* of 8 B of a line of 128: those that stores have written of chunks of 32 B that are not valid */
  uint64_t bits;  /* see frames_bits */
};
struct frames {
  uint64_t draw;
  uint64_t absent; /* a line without a frame: the last failed lookup, until a frame is allocated */
  uint32_t last;   /* the frame found last; tried first */
  uint32_t per;    /* chunks of a frame if replaced by their recently-used bits; 0: least recently used */
  bool fifo;       /* uses do not count */
  struct frame at[];
};

/* Recently-used bits of the chunks of a set: kept with its first frame, whichever line is there. */
static inline uint64_t *frames_bits(struct frames *f, const struct l1_event *e, uint32_t ways) {
  return &f->at[e->set * ways].bits;
}
/* Bytes of the frames, for more_sm_state. */
static inline size_t frames_bytes(uint32_t sets, uint32_t ways) {
  return (size_t)sets * ways * sizeof(struct frame);
}

static inline struct frame *frames_find(struct frames *f, const struct l1_event *e, uint32_t ways) {
  struct frame *set = f->at + e->set * ways, *last = f->at + f->last;
  if (last->line == e->line && (last->valid | last->pending | last->words)) return last;
  if (f->absent == e->line) return NULL;
  for (uint32_t w = 0; w < ways; w++)
    if (set[w].line == e->line && (set[w].valid | set[w].pending | set[w].words)) {
      f->last = e->set * ways + w;
      return &set[w];
    }
  f->absent = e->line;
  return NULL;
}

/* The frame for a line that has none; NULL: all wait for data. */
static inline struct frame *frames_victim(struct frames *f, const struct l1_event *e, uint32_t ways) {
  struct frame *set = f->at + e->set * ways, *best = NULL;
  bool free = false;
  uint64_t usable = 0;
  for (uint32_t w = 0; w < ways; w++) {
    if (set[w].pending) continue;
    if (!(set[w].valid | set[w].words)) {
      free = true;
      best = &set[w];
    } else if (f->per) {
      usable |= (uint64_t)set[w].valid << (w * f->per);
    } else if (!free && (!best || set[w].used < best->used)) {
      best = &set[w];
    }
  }
  if (usable && !free) best = &set[nru_victim(*frames_bits(f, e, ways), usable, f->draw) / f->per];
  return best;
}

/* Chunks of a frame were used. */
static inline void frames_recent(struct frames *f, const struct l1_event *e, uint32_t ways, const struct frame *at,
                                 uint32_t chunks) {
  uint32_t way = (uint32_t)(at - (f->at + e->set * ways));
  for (uint32_t m = f->per ? chunks : 0; m; m &= m - 1)
    nru_use(frames_bits(f, e, ways), way * f->per + (uint32_t)__builtin_ctz(m), ways * f->per);
}

static inline bool frames_has_place(struct frames *f, const struct l1_event *e, uint32_t ways) {
  return frames_find(f, e, ways) || frames_victim(f, e, ways);
}

/* The frame gets the line of `e` in place of its own. */
static inline void frames_replace(struct scheme_ctx *c, struct frames *f, const struct l1_event *e, uint32_t ways,
                                  struct frame *at) {
  struct l1_event placed = *e;
  placed.way = (uint32_t)(at - (f->at + e->set * ways));
  if (at->valid) gpu_l1_evicted(c->gpu, &placed, at->line, at->valid, at->warp, at->reused);
  *at = (struct frame){.line = e->line, .used = e->cycle, .warp = (uint8_t)e->warp, .bits = at->bits};
}

/* Allocate the missing chunks (frames_has_place was true). `evicted`, if not NULL, receives the evicted line, valid 0
 * if none. */
static inline struct frame *frames_reserve(struct scheme_ctx *c, struct frames *f, const struct l1_event *e,
                                           uint32_t ways, uint32_t missing, struct frame *evicted) {
  struct frame *at = frames_find(f, e, ways);
  if (evicted) evicted->valid = 0;
  if (!at) {
    at = frames_victim(f, e, ways);
    if (evicted) *evicted = *at;
    frames_replace(c, f, e, ways, at);
  }
  at->pending |= missing;
  f->absent = UINT64_MAX;
  frames_recent(f, e, ways, at, missing);
  f->draw++;
  return at;
}

static inline void frames_touch(struct frames *f, const struct l1_event *e, uint32_t ways, uint32_t need,
                                enum l1_outcome out) {
  struct frame *at = frames_find(f, e, ways);
  if (!at) return;
  if (!f->fifo) at->used = e->cycle;
  if (out != L1_PENDING) frames_recent(f, e, ways, at, need & at->valid);
  at->read |= need;
  at->reused |= out == L1_HIT;
}

static inline void frames_fill(struct frames *f, const struct l1_event *e, uint32_t ways, uint32_t chunks) {
  struct frame *at = frames_find(f, e, ways);
  if (!at) return;
  at->valid |= chunks & at->pending;
  at->pending &= ~chunks;
}

/* A store: the baseline evicts the whole line unless it is being fetched; chunks are treated likewise. */
static inline bool frames_store(struct frames *f, const struct l1_event *e, uint32_t ways, uint32_t chunks) {
  struct frame *at = frames_find(f, e, ways);
  if (!at || !(at->valid & chunks)) return false;
  at->valid &= ~chunks;
  return true;
}

static inline void frames_clear(struct frames *f, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) f->at[i].valid = f->at[i].pending = f->at[i].words = 0, f->at[i].bits = 0;
}

static inline void frames_drop(struct frames *f, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) f->at[i].valid = f->at[i].words = 0;
}

/* Chunks of 32 B with any of the words, and the words of chunks. */
static inline uint32_t frames_chunks(uint32_t words) {
  uint32_t any = (words | words >> 1 | words >> 2 | words >> 3) & 0x1111;
  return (any | any >> 3 | any >> 6 | any >> 9) & 15;
}
static inline uint32_t frames_words(uint32_t chunks) {
  return ((chunks & 1) | (chunks & 2) << 3 | (chunks & 4) << 6 | (chunks & 8) << 9) * 15;
}

/* A store has written words of the frame: chunks written whole are valid. */
static inline void frames_write(struct frame *at, uint32_t words) {
  uint32_t all = at->words | words, whole = all & all >> 1 & all >> 2 & all >> 3 & 0x1111;
  at->valid |= frames_chunks(whole);
  at->words = (uint16_t)(all & ~frames_words(at->valid));
}

#endif
