/* slt_encode.c - encodes a warp's instructions: runs, masks, address vectors relative to the prediction. */
#include "trace/slt/slt_encode.h"

#include <stdlib.h>

void slt_encoder_start(struct slt_encoder *w, uint32_t entry_pc) {
  slt_state_clear(&w->state, SLT_ENTRIES);
  slt_encoder_empty(w);
  w->pc = w->expected = entry_pc;
  w->run_len = w->active = 0;
  w->done = false;
}

void slt_encoder_empty(struct slt_encoder *w) {
  for (int p = 0; p < SLT_PLANES; p++) w->plane[p].used = 0;
}

void slt_encoder_free(struct slt_encoder *w) {
  for (int p = 0; p < SLT_PLANES; p++) slt_buf_free(&w->plane[p]);
}

size_t slt_encoder_bytes(const struct slt_encoder *w) {
  size_t n = 0;
  for (int p = 0; p < SLT_PLANES; p++) n += w->plane[p].used;
  return n;
}

bool slt_encoder_at_cut(const struct slt_encoder *w) {
  return !w->run_len;
}

static void put_mask(struct slt_encoder *w, uint32_t mask) {
  slt_put32(slt_room(&w->plane[SLT_LANE], 4), mask);
  w->plane[SLT_LANE].used += 4;
}

/* ---- runs ---- */

static void end_run(struct slt_encoder *w) {
  if (!w->run_len) return;
  slt_v(&w->plane[SLT_PATH], w->run_len);
  w->run_len = 0;
}

/* A run begins at w->pc with the lanes `active`. */
static void begin_run(struct slt_encoder *w, uint32_t active, bool lanes) {
  end_run(w);
  uint32_t t = lanes ? 0x80 : 0;
  if (w->pc != w->expected) t |= 1;
  if (active != w->active) {
    uint32_t at = slt_find_recent(&w->state, active);
    t |= (at < SLT_RECENT ? at + 1 : 17) << 2;
    if (at == SLT_RECENT) put_mask(w, active);
    slt_use(&w->state, at, active);
  }
  slt_byte(&w->plane[SLT_PATH], t);
  if (t & 1) slt_z(&w->plane[SLT_PATH], (int64_t)w->pc - (int64_t)w->expected);
  w->active = active;
}

/* ---- lanes ---- */

static void put_lanes(struct slt_encoder *w, uint32_t active, uint32_t mask, bool branch) {
  if (mask == active || !mask) {
    slt_byte(&w->plane[SLT_KIND], !mask && active);
    return;
  }
  uint32_t at = slt_find_recent(&w->state, mask);
  slt_byte(&w->plane[SLT_KIND], at < SLT_RECENT ? at + 2 : 18);
  if (at == SLT_RECENT) put_mask(w, mask);
  slt_use(&w->state, at, mask);
  if (!branch) return;
  uint32_t rest = active & ~mask;
  slt_use(&w->state, slt_find_recent(&w->state, rest), rest);
  slt_use(&w->state, slt_find_recent(&w->state, mask), mask);
}

static void put_barrier(struct slt_encoder *w, const struct issued *is) {
  struct slt_buf *k = &w->plane[SLT_KIND];
  if (is->bar_id == FEED_NO_BARRIER) {
    slt_byte(k, 0);
  } else if (!is->bar_id && !is->bar_threads && is->waits) {
    slt_byte(k, 1);
  } else {
    slt_byte(k, 2);
    slt_byte(k, is->bar_id);
    slt_v(k, is->bar_threads / WARP_LANES);
    slt_byte(k, is->waits);
  }
}

/* ---- addresses ---- */

struct vector {
  uint32_t mask, first; /* lowest lane */
  const uint64_t *addr;
  bool affine, narrow; /* all on one line over the lanes; offsets to the lowest lane in 32 bits */
  int64_t stride;      /* if affine */
  int32_t off[WARP_LANES];
};

static void look_at(struct vector *v, const struct issued *is, const struct slt_entry *e) {
  uint32_t m = is->mask, first = (uint32_t)__builtin_ctz(m), rest = m & (m - 1);
  v->mask = m;
  v->first = first;
  v->addr = is->addr;
  v->affine = v->narrow = true;
  v->stride = e->owner ? e->stride : 0;
  uint64_t a0 = is->addr[first];
  memset(v->off, 0, sizeof v->off);
  if (rest) {
    uint32_t second = (uint32_t)__builtin_ctz(rest);
    int64_t d = (int64_t)(is->addr[second] - a0), n = (int64_t)(second - first);
    v->stride = d / n;
  }
  for (; rest; rest &= rest - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(rest);
    int64_t d = (int64_t)(is->addr[l] - a0);
    v->affine &= (uint64_t)d == (uint64_t)v->stride * (l - first);
    v->off[l] = (int32_t)d;
    v->narrow &= d == v->off[l];
  }
}

static bool fits_shape(const struct slt_shape *s, const struct vector *v) {
  if (v->mask & ~s->mask) return false;
  int64_t d = (int64_t)s->off[v->first];
  for (uint32_t m = v->mask; m; m &= m - 1) {
    uint32_t l = (uint32_t)__builtin_ctz(m);
    if ((int64_t)s->off[l] - d != v->off[l]) return false;
  }
  return true;
}

static bool alive(const struct slt_state *s, uint32_t shape) {
  return s->shapes - shape <= SLT_SHAPES;
}

/* The newest shape that fits, or SLT_AFFINE. */
static uint32_t find_shape(const struct slt_state *s, const struct vector *v) {
  for (uint32_t back = 1; back <= SLT_SHAPES && back <= s->shapes; back++)
    if (fits_shape(&s->shape[(s->shapes - back) % SLT_SHAPES], v)) return s->shapes - back;
  return SLT_AFFINE;
}

static void put_offsets(struct slt_encoder *w, struct slt_buf *kind, uint32_t tag, const struct vector *v) {
  int32_t all = 0, before = 0;
  for (uint32_t m = v->mask; m; m &= m - 1) all |= v->off[__builtin_ctz(m)];
  uint32_t shift = all ? (uint32_t)__builtin_ctz((uint32_t)all) : 0;
  if (shift > 7) shift = 7;
  slt_byte(kind, tag | shift << 5);
  for (uint32_t m = v->mask & (v->mask - 1); m; m &= m - 1) {
    int32_t o = v->off[__builtin_ctz(m)];
    slt_z(&w->plane[SLT_LANE], ((int64_t)o - before) >> shift);
    before = o;
  }
  struct slt_shape *s = &w->state.shape[w->state.shapes++ % SLT_SHAPES];
  s->mask = v->mask;
  memcpy(s->off, v->off, sizeof s->off);
}

static void put_wide(struct slt_encoder *w, const struct vector *v) {
  struct slt_buf *lane = &w->plane[SLT_LANE];
  for (uint32_t m = v->mask; m; m &= m - 1) {
    slt_put64(slt_room(lane, 8), v->addr[__builtin_ctz(m)]);
    lane->used += 8;
  }
}

/* Move the entry to a `base` that was not predicted; `number` gives the distance. */
static void move_entry(struct slt_encoder *w, struct slt_entry *e, uint64_t base, bool had) {
  int64_t d = (int64_t)(base - (had ? e->base : w->state.last));
  slt_z(&w->plane[SLT_NUMBER], d);
  e->delta = had ? d : 0;
  e->base = base;
}

static void put_access(struct slt_encoder *w, const struct inst *i, uint32_t slot, const struct issued *is) {
  uint32_t owner = w->pc + 1;
  struct slt_state *s = &w->state;
  struct slt_entry *e = &s->entry[slot];
  struct slt_buf *kind = &w->plane[SLT_KIND];
  bool had = e->owner == owner;
  if (!had) *e = (struct slt_entry){.shape = SLT_AFFINE, .space = slt_default_space(i), .width = slt_default_width(i)};
  bool written = e->space == is->space && e->width == is->width;
  bool performed = i->kind == KIND_ATOM && is->space == SPACE_GLOBAL;
  uint32_t tag = (written ? 0 : 8) | ((is->token != 0) != performed ? 16 : 0);
  uint8_t given[2] = {is->space, is->width};
  struct vector v;
  look_at(&v, is, e);
  e->owner = owner;
  e->space = is->space, e->width = is->width;
  uint64_t a0 = is->addr[v.first];
  bool same = false; /* the prediction of the entry's lanes matches */
  uint64_t base = 0;
  if (had && e->shape == SLT_AFFINE && v.affine && v.stride == e->stride) {
    same = true;
    base = a0 - (uint64_t)e->stride * v.first;
  } else if (had && e->shape != SLT_AFFINE && alive(s, e->shape) && v.narrow &&
             fits_shape(&s->shape[e->shape % SLT_SHAPES], &v)) {
    same = true;
    base = a0 - (uint64_t)(int64_t)s->shape[e->shape % SLT_SHAPES].off[v.first];
  }
  uint32_t shape;
  if (same && base == e->base + (uint64_t)e->delta) {
    slt_byte(kind, tag);
    e->base = base;
  } else if (same) {
    slt_byte(kind, tag | 1);
    move_entry(w, e, base, true);
  } else if (v.affine) {
    slt_byte(kind, tag | 2);
    move_entry(w, e, a0 - (uint64_t)v.stride * v.first, had);
    slt_z(&w->plane[SLT_NUMBER], v.stride);
    e->stride = v.stride;
    e->shape = SLT_AFFINE;
  } else if (!v.narrow) {
    slt_byte(kind, tag | 5);
    put_wide(w, &v);
    *e = (struct slt_entry){e->owner, SLT_AFFINE, a0, 0, 0, e->space, e->width};
  } else if ((shape = find_shape(s, &v)) != SLT_AFFINE) {
    slt_byte(kind, tag | 4);
    if (!written) slt_bytes(kind, given, 2), written = true;
    slt_byte(kind, s->shapes - 1 - shape);
    move_entry(w, e, a0 - (uint64_t)(int64_t)s->shape[shape % SLT_SHAPES].off[v.first], had);
    e->shape = shape;
  } else {
    put_offsets(w, kind, tag | 3, &v);
    move_entry(w, e, a0, had);
    e->shape = s->shapes - 1;
  }
  if (!written) slt_bytes(kind, given, 2);
  s->last = e->base;
}

/* ---- an instruction ---- */

static const char *wrong(const struct slt_encoder *w, const struct issued *is, uint8_t cls) {
  if (is->mask & ~is->active) return "lanes execute that are not active";
  if (is->bar_id != FEED_NO_BARRIER && !(cls & SLT_BARRIER)) return "an instruction that is no barrier arrives at one";
  if (cls & SLT_ACCESS && is->mask && !slt_access_ok(is->space, is->width))
    return "an access of a width or in a space that there is not";
  if (w->done) return "an instruction after the end of its warp";
  return NULL;
}

bool slt_encode(struct slt_encoder *w, const struct inst *code, const uint8_t *cls, const uint8_t *slot,
                const struct issued *is, const char **why) {
  uint8_t c = cls[w->pc];
  *why = wrong(w, is, c);
  if (*why) return false;
  bool lanes = !(c & SLT_GUARD) && is->mask != is->active;
  if (!w->run_len || w->pc != w->expected || is->active != w->active || lanes) begin_run(w, is->active, lanes);
  w->run_len++;
  if (lanes || c & SLT_GUARD) put_lanes(w, is->active, is->mask, (c & SLT_BRANCH) && (c & SLT_GUARD));
  if (c & SLT_BARRIER) put_barrier(w, is);
  if (c & SLT_ACCESS && is->mask) put_access(w, &code[w->pc], slot[w->pc], is);
  w->expected = w->pc + 1;
  w->pc = is->next_pc;
  if (is->next_pc == FEED_DONE) {
    end_run(w);
    slt_byte(&w->plane[SLT_PATH], 2);
    w->done = true;
  } else if (is->next_pc != w->expected) {
    end_run(w);
  }
  return true;
}
