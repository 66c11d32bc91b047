/* slt_slices.c - the slices in memory: a block is unpacked once for all warps that read it at the same time, and freed
 * when the last one has left it and a few later ones have been read. This bounds the memory of a replay.
 */
#include "trace/slt/slt_slices.h"

#include <stdlib.h>

#include "base/mem.h"

enum { BUCKETS = 1024, IDLE = 4 };

struct slt_shelf {
  struct slt_file *file;
  struct slt_slices *bucket[BUCKETS];
  struct slt_slices *idle[IDLE]; /* without users, kept for the next CTA of their group */
  uint32_t oldest;
};

static struct slt_slices **bucket_of(struct slt_shelf *s, uint64_t at) {
  return &s->bucket[hash_u64(at) % BUCKETS];
}

struct slt_shelf *slt_shelf_new(struct slt_file *f) {
  struct slt_shelf *s = mem_zeroed(1, sizeof *s);
  s->file = f;
  return s;
}

static void drop_slices(struct slt_shelf *s, struct slt_slices *b) {
  struct slt_slices **p = bucket_of(s, b->at);
  while (*p != b) p = &(*p)->next;
  *p = b->next;
  free(b->part);
  free(b->raw);
  free(b);
}

void slt_shelf_free(struct slt_shelf *s) {
  if (!s) return;
  for (uint32_t i = 0; i < BUCKETS; i++)
    while (s->bucket[i]) drop_slices(s, s->bucket[i]);
  free(s);
}

/* Read the table of parts; false: it violates the format. */
static bool read_parts(struct slt_slices *b, struct slt_in in) {
  const uint8_t *start = in.p;
  uint64_t left = (uint64_t)(in.end - in.p), total = 0, cta = 0;
  b->nparts = (uint32_t)slt_in_max(&in, left / 6);
  b->part = mem_zeroed(b->nparts + 1, sizeof *b->part);
  for (uint32_t i = 0; i < b->nparts; i++) {
    struct slt_part *p = &b->part[i];
    cta += slt_in_v(&in);
    p->cta = (uint32_t)cta;
    p->warp = (uint32_t)slt_in_max(&in, 63);
    for (int k = 0; k < SLT_PLANES; k++) total += p->bytes[k] = (uint32_t)slt_in_max(&in, left);
    if (in.bad || cta > UINT32_MAX) return false;
    if (i && p->cta == p[-1].cta && p->warp <= p[-1].warp) return false;
  }
  if (in.bad || total != (uint64_t)(in.end - in.p)) return false;
  uint32_t at = (uint32_t)(in.p - start);
  for (int k = 0; k < SLT_PLANES; k++)
    for (uint32_t i = 0; i < b->nparts; i++) b->part[i].at[k] = at, at += b->part[i].bytes[k];
  return true;
}

struct slt_slices *slt_shelf_take(struct slt_shelf *s, uint64_t at, struct err *e) {
  for (struct slt_slices *b = *bucket_of(s, at); b; b = b->next) {
    if (b->at != at) continue;
    for (uint32_t i = 0; !b->users && i < IDLE; i++)
      if (s->idle[i] == b) s->idle[i] = NULL;
    b->users++;
    return b;
  }
  struct slt_block head;
  uint8_t *raw = slt_file_load(s->file, at, SLT_SLICES, &head, e);
  if (!raw) return NULL;
  struct slt_slices *b = mem_zeroed(1, sizeof *b);
  *b = (struct slt_slices){.at = at, .users = 1, .raw = raw};
  if (!read_parts(b, (struct slt_in){raw, raw + head.raw, false})) {
    slt_file_wrong(s->file, at, e, "expected a table of parts, ascending, that adds up to the block's %u bytes",
                   head.raw);
    free(b->part);
    free(b->raw);
    free(b);
    return NULL;
  }
  b->next = *bucket_of(s, at);
  *bucket_of(s, at) = b;
  return b;
}

void slt_shelf_give(struct slt_shelf *s, struct slt_slices *b) {
  if (--b->users) return;
  struct slt_slices **place = &s->idle[s->oldest++ % IDLE];
  if (*place) drop_slices(s, *place);
  *place = b;
}

const struct slt_part *slt_slices_part(const struct slt_slices *b, uint32_t cta, uint32_t warp) {
  uint32_t lo = 0, hi = b->nparts;
  while (lo < hi) {
    uint32_t mid = (lo + hi) / 2;
    const struct slt_part *p = &b->part[mid];
    if (p->cta < cta || (p->cta == cta && p->warp < warp)) lo = mid + 1;
    else hi = mid;
  }
  return lo < b->nparts && b->part[lo].cta == cta && b->part[lo].warp == warp ? &b->part[lo] : NULL;
}
