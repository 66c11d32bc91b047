/* slt_decode.c - decodes a warp's stream: the inverse of slt_encode.c. No part of the stream is trusted. */
#include "trace/slt/slt_decode.h"

void slt_decoder_start(struct slt_decoder *w, const struct slt_code *c, uint32_t entry_pc) {
  slt_state_clear(&w->state, c->entries);
  w->pc = entry_pc;
  w->left = w->active = 0;
  w->lanes = w->done = false;
}

/* recent[n - 1], or from LANE if n is one above the number of entries. */
static uint32_t take_mask(struct slt_decoder *w, uint32_t n) {
  uint32_t mask = n <= SLT_RECENT ? w->state.recent[n - 1] : slt_in_32(&w->plane[SLT_LANE]);
  slt_use(&w->state, n <= SLT_RECENT ? n - 1 : SLT_RECENT, mask);
  return mask;
}

static bool planes_at_end(const struct slt_decoder *w) {
  bool all = true;
  for (int p = 0; p < SLT_PLANES; p++) all &= w->plane[p].p == w->plane[p].end && !w->plane[p].bad;
  return all;
}

/* w->pc: the pc after the run before. */
enum slt_decoded slt_decode_run(struct slt_decoder *w, uint32_t insts) {
  struct slt_in *path = &w->plane[SLT_PATH];
  if (path->p == path->end) return planes_at_end(w) ? SLT_MORE : SLT_BROKEN;
  uint32_t t = slt_in_byte(path), next = t & 3, mask = t >> 2 & 31;
  if (next == 2) {
    w->done = true;
    return t == 2 && planes_at_end(w) ? SLT_OK : SLT_BROKEN;
  }
  if (next == 3 || mask > SLT_RECENT + 1) return SLT_BROKEN;
  int64_t pc = w->pc;
  if (next) pc += slt_in_z(path);
  if (mask) w->active = take_mask(w, mask);
  uint64_t n = slt_in_v(path);
  if (path->bad || w->plane[SLT_LANE].bad || pc < 0 || pc >= insts || !n || n > insts - (uint64_t)pc) return SLT_BROKEN;
  w->pc = (uint32_t)pc;
  w->left = (uint32_t)n;
  w->lanes = t >> 7;
  return SLT_OK;
}

static bool take_lanes(struct slt_decoder *w, uint8_t cls, struct issued *out) {
  uint32_t n = slt_in_byte(&w->plane[SLT_KIND]);
  if (n < 2) {
    out->mask = n ? 0 : w->active;
    return true;
  }
  if (n > SLT_RECENT + 2) return false;
  uint32_t mask = take_mask(w, n - 1), rest = w->active & ~mask;
  out->mask = mask;
  if ((cls & (SLT_BRANCH | SLT_GUARD)) == (SLT_BRANCH | SLT_GUARD)) {
    slt_use(&w->state, slt_find_recent(&w->state, rest), rest);
    slt_use(&w->state, slt_find_recent(&w->state, mask), mask);
  }
  return !(mask & ~w->active);
}

static bool take_barrier(struct slt_decoder *w, struct issued *out) {
  struct slt_in *k = &w->plane[SLT_KIND];
  uint32_t n = slt_in_byte(k);
  if (!n) return true;
  out->bar_id = 0;
  out->bar_threads = 0;
  out->waits = true;
  if (n == 1) return true;
  out->bar_id = slt_in_byte(k);
  out->bar_threads = (uint16_t)(slt_in_max(k, 32) * WARP_LANES);
  out->waits = slt_in_byte(k);
  return n == 2 && out->bar_id < 16;
}

/* ---- addresses ---- */

/* Two lanes at a time with additions only: every x86-64 has those; a 64-bit vector product needs the newest. */
typedef uint64_t two_lanes __attribute__((vector_size(16), aligned(8), may_alias));

static inline void along_line(uint64_t *addr, uint64_t base, int64_t stride) {
  uint64_t s = (uint64_t)stride;
  two_lanes v = {base, base + s}, step = {2 * s, 2 * s};
  for (uint32_t l = 0; l < WARP_LANES; l += 2, v += step) *(two_lanes *)(addr + l) = v;
}

static void along_shape(uint64_t *addr, uint64_t base, const struct slt_shape *s) {
  for (uint32_t l = 0; l < WARP_LANES; l++) addr[l] = base + (uint64_t)(int64_t)s->off[l];
}

static void take_offsets(struct slt_decoder *w, struct slt_shape *s, uint32_t mask, uint32_t shift) {
  int64_t off = 0;
  memset(s, 0, sizeof *s);
  s->mask = mask;
  for (uint32_t m = mask & (mask - 1); m; m &= m - 1) {
    off = (int64_t)((uint64_t)off + ((uint64_t)slt_in_z(&w->plane[SLT_LANE]) << shift));
    s->off[__builtin_ctz(m)] = (int32_t)off;
  }
}

static void take_wide(struct slt_decoder *w, struct slt_entry *e, uint32_t mask, uint64_t *addr) {
  struct slt_in *lane = &w->plane[SLT_LANE];
  for (uint32_t m = mask; m; m &= m - 1) {
    if (lane->end - lane->p < 8) {
      lane->bad = true;
      return;
    }
    addr[__builtin_ctz(m)] = slt_get64(lane->p);
    lane->p += 8;
  }
  e->base = addr[__builtin_ctz(mask)];
  e->delta = e->stride = 0;
  e->shape = SLT_AFFINE;
}

static inline void move_base(struct slt_decoder *w, struct slt_entry *e, bool had) {
  int64_t d = slt_in_z(&w->plane[SLT_NUMBER]);
  e->base = (had ? e->base : w->state.last) + (uint64_t)d;
  e->delta = had ? d : 0;
}

/* Forms 2 to 4. False: no such form or shape. */
static bool take_vector(struct slt_decoder *w, struct slt_entry *e, uint32_t tag, bool had, uint32_t mask) {
  struct slt_state *s = &w->state;
  switch (tag & 7) {
  case 2:
    move_base(w, e, had);
    e->stride = slt_in_z(&w->plane[SLT_NUMBER]);
    e->shape = SLT_AFFINE;
    return true;
  case 3:
    take_offsets(w, &s->shape[s->shapes % SLT_SHAPES], mask, tag >> 5);
    e->shape = s->shapes++;
    move_base(w, e, had);
    return true;
  case 4: {
    uint32_t back = slt_in_byte(&w->plane[SLT_KIND]) + 1u;
    if (back > SLT_SHAPES || back > s->shapes) return false;
    e->shape = s->shapes - back;
    move_base(w, e, had);
    return true;
  }
  default:
    return false;
  }
}

/* `expand`: compute the lanes' addresses. */
static inline __attribute__((always_inline)) bool take_access(struct slt_decoder *w, const struct inst *i,
                                                              struct slt_entry *e, struct issued *out, bool expand) {
  struct slt_state *s = &w->state;
  struct slt_in *kind = &w->plane[SLT_KIND];
  uint32_t tag = slt_in_byte(kind), form = tag & 7;
  bool had = e->owner == w->pc + 1;
  if (__builtin_expect(!had, 0)) {
    if (form < 2) return false;
    *e = (struct slt_entry){w->pc + 1, SLT_AFFINE, 0, 0, 0, slt_default_space(i), slt_default_width(i)};
  }
  if (__builtin_expect(tag & 8, 0)) {
    e->space = slt_in_byte(kind);
    e->width = slt_in_byte(kind);
  }
  if (__builtin_expect(!slt_access_ok(e->space, e->width), 0)) return false;
  out->space = e->space;
  out->width = e->width;
  out->token = (i->kind == KIND_ATOM && e->space == SPACE_GLOBAL) != (tag >> 4 & 1);
  if (form < 2) {
    if (e->shape != SLT_AFFINE && s->shapes - e->shape > SLT_SHAPES) return false;
    if (form) e->delta = slt_in_z(&w->plane[SLT_NUMBER]);
    e->base += (uint64_t)e->delta;
  } else if (form == 5) {
    take_wide(w, e, out->mask, out->addr);
    s->last = e->base;
    return true;
  } else if (!take_vector(w, e, tag, had, out->mask)) {
    return false;
  }
  if (expand) {
    if (e->shape == SLT_AFFINE) along_line(out->addr, e->base, e->stride);
    else along_shape(out->addr, e->base, &s->shape[e->shape % SLT_SHAPES]);
  }
  s->last = e->base;
  return true;
}

/* ---- instructions ---- */

static inline __attribute__((always_inline)) bool take_particulars(struct slt_decoder *w, const struct slt_code *c,
                                                                   uint8_t cls, struct issued *out, bool expand) {
  if ((w->lanes || cls & SLT_GUARD) && !take_lanes(w, cls, out)) return false;
  w->lanes = false;
  if (cls & SLT_BARRIER && !take_barrier(w, out)) return false;
  if (cls & SLT_ACCESS && out->mask && !take_access(w, &c->code[w->pc], &w->state.entry[c->slot[w->pc]], out, expand))
    return false;
  return !(w->plane[SLT_KIND].bad | w->plane[SLT_NUMBER].bad | w->plane[SLT_LANE].bad);
}

enum slt_decoded slt_decode(struct slt_decoder *w, const struct slt_code *c, struct issued *out) {
  uint8_t cls = c->cls[w->pc];
  out->active = out->mask = w->active;
  if ((cls | w->lanes) && !take_particulars(w, c, cls, out, true)) return SLT_BROKEN;
  w->pc++;
  if (--w->left) {
    out->next_pc = w->pc;
    return SLT_OK;
  }
  enum slt_decoded r = slt_decode_run(w, c->insts);
  out->next_pc = w->done ? FEED_DONE : w->pc;
  return r;
}

/* ---- without addresses ---- */

/* Skip `n` varints: eight bytes at a time, whose top bits mark the last byte of each. */
static inline void pass_varints(struct slt_in *in, uint32_t n) {
  while (n && in->end - in->p >= 8) {
    uint64_t last = ~slt_get64(in->p) & UINT64_C(0x8080808080808080);
    uint32_t have = (uint32_t)((last >> 7) * UINT64_C(0x0101010101010101) >> 56);
    if (have >= n) {
      while (--n) last &= last - 1;
      in->p += (uint32_t)__builtin_ctzll(last) / 8 + 1;
      return;
    }
    n -= have;
    in->p += 8;
  }
  for (; n; n--) {
    while (in->p < in->end && *in->p >= 0x80) in->p++;
    if (in->p == in->end) {
      in->bad = true;
      return;
    }
    in->p++;
  }
}

static inline void pass_bytes(struct slt_in *in, uint32_t n) {
  if (in->end - in->p < n) in->bad = true;
  else in->p += n;
}

/* Skip only what precedes the next mask in KIND and LANE: NUMBER holds bases and strides only, and is not read. */
static inline void pass_access(struct slt_decoder *w, uint32_t mask) {
  struct slt_in *kind = &w->plane[SLT_KIND];
  uint32_t tag = slt_in_byte(kind);
  if (__builtin_expect(tag < 2, 1)) return;
  uint32_t form = tag & 7;
  pass_bytes(kind, (tag & 8 ? 2 : 0) + (form == 4));
  if (form == 3) pass_varints(&w->plane[SLT_LANE], (uint32_t)__builtin_popcount(mask) - 1);
  else if (form == 5) pass_bytes(&w->plane[SLT_LANE], 8 * (uint32_t)__builtin_popcount(mask));
  else if (form > 5) kind->bad = true;
}

static inline bool skim_particulars(struct slt_decoder *w, const struct slt_code *c, struct issued *out) {
  uint8_t cls = c->cls[w->pc];
  if ((w->lanes || cls & SLT_GUARD) && !take_lanes(w, cls, out)) return false;
  w->lanes = false;
  if (cls & SLT_BARRIER && !take_barrier(w, out)) return false;
  if (cls & SLT_ACCESS && out->mask) pass_access(w, out->mask);
  return !(w->plane[SLT_KIND].bad | w->plane[SLT_LANE].bad);
}

enum slt_decoded slt_skim(struct slt_decoder *w, const struct slt_code *c, uint32_t limit, struct issued *out,
                          struct trace_counts *n) {
  w->plane[SLT_NUMBER].p = w->plane[SLT_NUMBER].end;
  uint64_t insts = 0, threads = 0;
  uint32_t mask = 0, lanes = 0; /* lanes in `mask` */
  enum slt_decoded r = SLT_OK;
  while (insts < limit && r == SLT_OK && !w->done && out->bar_id == FEED_NO_BARRIER) {
    /* Instructions without stream data are counted, not visited. */
    uint32_t k = w->lanes ? 0 : c->plain[w->pc];
    out->mask = w->active;
    if (k) k = k > w->left ? w->left : k;
    else if (skim_particulars(w, c, out)) k = 1;
    else return SLT_BROKEN;
    if (out->mask != mask) mask = out->mask, lanes = (uint32_t)__builtin_popcount(mask);
    insts += k;
    threads += (uint64_t)k * lanes;
    w->pc += k;
    w->left -= k;
    if (!w->left) r = slt_decode_run(w, c->insts);
  }
  out->next_pc = w->done ? FEED_DONE : w->pc;
  n->warp_insts += insts;
  n->thread_insts += threads;
  return r;
}
