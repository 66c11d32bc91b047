/* slt.h - shared by writer and reader of the .slt trace format (docs/reference/trace-format.md): constants, varints,
 * blocks, and the per-warp state kept on both sides. Private to this folder.
 */
#ifndef TRACE_SLT_SLT_H
#define TRACE_SLT_SLT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "ptx/feed.h"

#define SLT_MAGIC "\x89SLT\r\n\x1a\n"
enum { SLT_VERSION = 1, SLT_ORDER = 0x01020304, SLT_HEADER = 48, SLT_BLOCK_HEADER = 16, SLT_MAX_RAW = 64 << 20 };
enum { SLT_RAW, SLT_ZSTD, SLT_ZSTD_DICT };
enum {
  SLT_META = 'M',
  SLT_CODE = 'C',
  SLT_DICT = 'D',
  SLT_COPY = 'Y',
  SLT_LAUNCH = 'K',
  SLT_SLICES = 'S',
  SLT_END = 'L',
  SLT_STEPS = 'O',
  SLT_INDEX = 'X'
};
enum slt_plane { SLT_PATH, SLT_KIND, SLT_NUMBER, SLT_LANE, SLT_PLANES };

/* A warp's stream is cut after a run once its planes reach this size, which bounds the memory of a replay. */
enum { SLT_SLICE_BYTES = 16 << 10, SLT_GROUP_BYTES = 96 << 10 };

/* ---- little-endian numbers, whatever the machine ---- */
static inline void slt_put32(uint8_t *p, uint32_t v) {
  p[0] = (uint8_t)v, p[1] = (uint8_t)(v >> 8), p[2] = (uint8_t)(v >> 16), p[3] = (uint8_t)(v >> 24);
}
static inline void slt_put64(uint8_t *p, uint64_t v) {
  slt_put32(p, (uint32_t)v);
  slt_put32(p + 4, (uint32_t)(v >> 32));
}
static inline uint32_t slt_get32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t slt_get64(const uint8_t *p) {
  return slt_get32(p) | (uint64_t)slt_get32(p + 4) << 32;
}
static inline uint64_t slt_zigzag(int64_t v) {
  return (uint64_t)v << 1 ^ (v < 0 ? ~UINT64_C(0) : 0);
}
static inline int64_t slt_unzigzag(uint64_t v) {
  return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* ---- a growing buffer ---- */
struct slt_buf {
  uint8_t *at;
  size_t used, size;
};
void slt_buf_grow(struct slt_buf *b, size_t more);
void slt_buf_free(struct slt_buf *b);
static inline uint8_t *slt_room(struct slt_buf *b, size_t more) {
  if (b->size - b->used < more) slt_buf_grow(b, more);
  return b->at + b->used;
}
static inline void slt_byte(struct slt_buf *b, uint32_t v) {
  *slt_room(b, 1) = (uint8_t)v;
  b->used++;
}
static inline void slt_v(struct slt_buf *b, uint64_t v) {
  uint8_t *p = slt_room(b, 10);
  for (; v >= 0x80; v >>= 7) *p++ = (uint8_t)(v | 0x80);
  *p++ = (uint8_t)v;
  b->used = (size_t)(p - b->at);
}
static inline void slt_z(struct slt_buf *b, int64_t v) {
  slt_v(b, slt_zigzag(v));
}
static inline void slt_bytes(struct slt_buf *b, const void *p, size_t n) {
  if (n) memcpy(slt_room(b, n), p, n);
  b->used += n;
}
void slt_text(struct slt_buf *b, const char *s); /* NULL: empty */

/* ---- reading from memory; past the end, `bad` is set and everything is 0 ---- */
struct slt_in {
  const uint8_t *p, *end;
  bool bad;
};
static inline uint8_t slt_in_byte(struct slt_in *i) {
  if (i->p >= i->end) return i->bad = true, 0;
  return *i->p++;
}
static inline uint64_t slt_in_v(struct slt_in *i) {
  if (__builtin_expect(i->p < i->end && *i->p < 0x80, 1)) return *i->p++;
  uint64_t v = 0;
  for (uint32_t shift = 0; shift < 64 && i->p < i->end; shift += 7) {
    uint8_t b = *i->p++;
    v |= (uint64_t)(b & 0x7f) << shift;
    if (b < 0x80) return v;
  }
  i->bad = true;
  return 0;
}
static inline int64_t slt_in_z(struct slt_in *i) {
  return slt_unzigzag(slt_in_v(i));
}
static inline uint32_t slt_in_32(struct slt_in *i) {
  if (i->end - i->p < 4) return i->bad = true, 0;
  i->p += 4;
  return slt_get32(i->p - 4);
}
/* A value of at most `max`; larger ones are `bad`. */
static inline uint64_t slt_in_max(struct slt_in *i, uint64_t max) {
  uint64_t v = slt_in_v(i);
  if (v <= max) return v;
  return i->bad = true, 0;
}
/* malloc'd, NUL-terminated; NULL if bad. */
char *slt_in_text(struct slt_in *i);

/* ---- blocks ---- */
struct slt_block {
  uint8_t type, codec;
  uint16_t dict;
  uint32_t stored, raw;
  uint64_t at; /* offset of its header in the file */
};
uint32_t slt_block_check(const uint8_t header[12], const uint8_t *payload, size_t bytes);

/* ---- static code ---- */
struct slt_code {
  struct inst *code; /* one more than `insts`, zeroed: read by the fetch of the last instruction */
  uint32_t insts, nfiles;
  char **files;
  char **text;      /* per instruction, of imported traces; else NULL */
  uint8_t *cls;     /* class of each instruction in KIND: enum slt_class */
  uint8_t *slot;    /* loads, stores, atomics: their entry of a warp's table */
  uint32_t entries; /* used entries of that table */
  uint32_t *plain;  /* number of consecutive instructions without a KIND entry, from here on */
  uint32_t max_reg;
};
enum slt_class { SLT_GUARD = 1, SLT_BRANCH = 2, SLT_BARRIER = 4, SLT_ACCESS = 8 };
void slt_code_encode(struct slt_buf *out, const struct feed_kernel *k);
/* False, with the reason in `why`, if it violates the format. */
bool slt_code_decode(struct slt_code *c, struct slt_in in, char why[static 128]);
/* cls and slot of `insts` instructions. */
void slt_classify(const struct inst *code, uint32_t insts, uint8_t *cls, uint8_t *slot);
void slt_code_free(struct slt_code *c);

/* ---- the state per warp ---- */
enum { SLT_RECENT = 16, SLT_ENTRIES = 128, SLT_SHAPES = 16 };
#define SLT_AFFINE UINT32_MAX
struct slt_entry {
  uint32_t owner; /* pc + 1; 0: empty */
  uint32_t shape; /* number of the shape, SLT_AFFINE: none */
  uint64_t base;
  int64_t delta, stride;
  uint8_t space, width;
};
struct slt_shape {
  uint32_t mask; /* lanes with valid offsets; used by the writer */
  int32_t off[WARP_LANES];
};
struct slt_state {
  uint32_t recent[SLT_RECENT];
  uint32_t shapes; /* counted so far */
  uint64_t last;
  struct slt_shape shape[SLT_SHAPES]; /* number n at n % SLT_SHAPES */
  struct slt_entry entry[SLT_ENTRIES];
};
/* Of code that uses the first `entries` of the table. */
static inline void slt_state_clear(struct slt_state *s, uint32_t entries) {
  memset(s->recent, 0, sizeof s->recent);
  s->shapes = 0;
  s->last = 0;
  for (uint32_t i = 0; i < entries; i++) s->entry[i].owner = 0;
}
/* Move `mask`, which is recent[at] or new (at = SLT_RECENT), to the front. */
static inline void slt_use(struct slt_state *s, uint32_t at, uint32_t mask) {
  if (at == SLT_RECENT) at--;
  for (; at; at--) s->recent[at] = s->recent[at - 1];
  s->recent[0] = mask;
}
static inline uint32_t slt_find_recent(const struct slt_state *s, uint32_t mask) {
  uint32_t i = 0;
  while (i < SLT_RECENT && s->recent[i] != mask) i++;
  return i;
}
/* Range accepted by the timing model. */
static inline bool slt_access_ok(uint8_t space, uint8_t width) {
  return space <= SPACE_TEX && width && width <= (space == SPACE_LOCAL ? 16 : 32) && !(width & (width - 1));
}
static inline uint8_t slt_default_space(const struct inst *i) {
  return i->space == SPACE_GENERIC ? SPACE_GLOBAL : i->space;
}
static inline uint8_t slt_default_width(const struct inst *i) {
  return (uint8_t)(i->elem_bytes * i->vec);
}

#endif
