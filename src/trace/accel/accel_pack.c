/* accel_pack.c - see accel_pack.h. */
#include "trace/accel/accel_pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { SHAPE_NONE, SHAPE_STRIDE, SHAPE_LIST, MASK_CHANGES = 4, ID_SHIFT = 3 };

void pack_free(struct pack *p) {
  free(p->at);
  *p = (struct pack){0};
}

static void pack_grow(struct pack *p, size_t n) {
  if (p->size - p->used >= n) return;
  p->size = 2 * p->size + n + 4096;
  p->at = mem_resize(p->at, p->size, 1);
}

void pack_bytes(struct pack *p, const void *from, size_t n) {
  if (!n) return;
  pack_grow(p, n);
  memcpy(p->at + p->used, from, n);
  p->used += n;
}

static void varint(struct pack *p, uint64_t v) {
  for (; v >= 0x80; v >>= 7) p->at[p->used++] = (unsigned char)(v | 0x80);
  p->at[p->used++] = (unsigned char)v;
}

static void zigzag(struct pack *p, uint64_t difference) {
  varint(p, difference << 1 ^ (0 - (difference >> 63)));
}

void pack_put(struct pack *p, struct pack_warp *w, const struct pack_record *r) {
  pack_grow(p, 32 + 10 * 34);
  unsigned shape = r->naddr ? SHAPE_STRIDE : SHAPE_NONE;
  for (uint32_t k = 2; k < r->naddr; k++)
    if (r->addr[k] - r->addr[k - 1] != r->addr[1] - r->addr[0]) shape = SHAPE_LIST;
  bool changes = r->mask != w->mask;
  varint(p, (uint64_t)r->id << ID_SHIFT | (changes ? MASK_CHANGES : 0) | shape);
  if (changes) memcpy(p->at + p->used, &r->mask, 4), p->used += 4;
  w->mask = r->mask;
  if (!r->naddr) return;
  zigzag(p, r->addr[0] - w->addr);
  w->addr = r->addr[0];
  if (shape == SHAPE_STRIDE) zigzag(p, r->naddr > 1 ? r->addr[1] - r->addr[0] : 0);
  else
    for (uint32_t k = 1; k < r->naddr; k++) zigzag(p, r->addr[k] - r->addr[k - 1]);
}

static bool read_varint(struct pack_cursor *c, uint64_t *v) {
  *v = 0;
  for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
    unsigned char b = *c->at++;
    *v |= (uint64_t)(b & 0x7f) << shift;
    if (b < 0x80) return true;
  }
  return false;
}

static bool read_zigzag(struct pack_cursor *c, uint64_t *difference) {
  uint64_t v;
  if (!read_varint(c, &v)) return false;
  *difference = v >> 1 ^ (0 - (v & 1));
  return true;
}

bool pack_peek(const struct pack_cursor *c, uint32_t *id) {
  struct pack_cursor copy = *c;
  uint64_t v;
  if (!read_varint(&copy, &v)) return false;
  *id = (uint32_t)(v >> ID_SHIFT);
  return true;
}

bool pack_take(struct pack_cursor *c, struct pack_record *r) {
  uint64_t v, step = 0;
  if (!read_varint(c, &v)) return false;
  r->id = (uint32_t)(v >> ID_SHIFT);
  if (v & MASK_CHANGES) {
    if (c->end - c->at < 4) return false;
    memcpy(&c->w.mask, c->at, 4);
    c->at += 4;
  }
  r->mask = c->w.mask;
  r->naddr = 0;
  unsigned shape = v & 3;
  if (shape == SHAPE_NONE) return true;
  r->naddr = (uint32_t)__builtin_popcount(r->mask);
  if (!read_zigzag(c, &step)) return false;
  r->addr[0] = c->w.addr += step;
  if (shape == SHAPE_STRIDE && !read_zigzag(c, &step)) return false;
  for (uint32_t k = 1; k < r->naddr; k++) {
    if (shape == SHAPE_LIST && !read_zigzag(c, &step)) return false;
    r->addr[k] = r->addr[k - 1] + step;
  }
  return true;
}
