/* compressed.c - the L1 data cache when a scheme compresses its lines (hook line_size).
 *
 * The usual model (Alameldeen, Wood, "Adaptive Cache Compression for High-Performance Processors", ISCA 2004): a set
 * has the space of its lines in segments, and more tags than lines (l1d.compressed_tags). A line takes as many segments
 * as it needs, wherever they lie. The least recently used lines give way until tag and segments suffice.
 *
 * A miss reserves the space of a whole line, since nothing is known of its size before the data arrive; the rest is
 * then free again. Lines that the scheme does not see are whole: local memory, and all of a trace. A store that
 * changes a line in place has it sized again; if it grows, others give way, or itself where they all are being fetched.
 * Compression is off the path of a load, so that it takes no time here; a hit of a compressed line takes longer
 * (l1_size.later), and the unit that does it takes a line a cycle, as many as the L1 looks up. With lines that are all
 * whole it is the baseline.
 */
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/l1/l1.h"

enum { LINE_MOST = 256 }; /* bytes: the largest l1d.line_bytes */

enum packed_state { PACKED_FREE, PACKED_FETCHED, PACKED_HERE };
struct packed {
  uint64_t line, used;
  uint32_t later;
  uint16_t segments;
  uint8_t state, warp;
  bool reused;
};

struct l1_packed {
  uint32_t whole;      /* segments of a line */
  struct packed *last; /* found last */
  struct packed at[];
};

/* ---- a set ---- */

struct packed_set {
  struct packed *at;
  uint32_t tags, segments;
};

static struct l1_packed *packed_of(const struct scheme_ctx *c, uint32_t sm) {
  return c->gpu->sm[sm].l1d.packed;
}

static struct packed_set packed_lines(const struct scheme_ctx *c, const struct l1_event *e) {
  struct l1_packed *p = packed_of(c, e->sm);
  uint32_t ways = c->config->l1d.ways, tags = ways * c->config->packed_tags;
  return (struct packed_set){.at = p->at + (size_t)e->set * tags, .tags = tags, .segments = ways * p->whole};
}

static struct packed *find_line(const struct scheme_ctx *c, const struct l1_event *e) {
  struct l1_packed *p = packed_of(c, e->sm);
  if (p->last && p->last->line == e->line && p->last->state) return p->last;
  struct packed_set s = packed_lines(c, e);
  for (uint32_t i = 0; i < s.tags; i++)
    if (s.at[i].line == e->line && s.at[i].state) return p->last = &s.at[i];
  return NULL;
}

static void packed_evict(struct scheme_ctx *c, const struct l1_event *e, struct packed *p) {
  gpu_l1_evicted(c->gpu, e, p->line, 1, p->warp, p->reused);
  *p = (struct packed){0};
}

/* A free tag beside `segments` free segments, after the lines used longest ago have given way; NULL: those that stay,
 * which are being fetched or `keep`, take too much. With `keep`, which has a tag, only the segments. */
static struct packed *make_room(struct scheme_ctx *c, const struct l1_event *e, uint32_t segments,
                                struct packed *keep) {
  struct packed_set s = packed_lines(c, e);
  uint32_t stays = keep ? (uint32_t)(keep - s.at) : UINT32_MAX;
  for (;;) {
    struct packed *tag = NULL, *oldest = NULL;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < s.tags; i++) {
      struct packed *p = &s.at[i];
      if (!p->state) tag = p;
      else taken += p->segments;
      if (p->state == PACKED_HERE && i != stays && (!oldest || p->used < oldest->used)) oldest = p;
    }
    if (keep) tag = keep;
    if (tag && taken + segments <= s.segments) return tag;
    if (!oldest) return NULL;
    packed_evict(c, e, oldest);
  }
}

/* ---- the organisation ---- */

static struct l1_shape packed_shape(const struct scheme_ctx *c) {
  return (struct l1_shape){c->config->l1d.line, c->config->l1d.line, c->config->l1d.sets};
}

static uint32_t packed_find(struct scheme_ctx *c, const struct l1_event *e) {
  const struct packed *p = find_line(c, e);
  return p && p->state == PACKED_HERE;
}

static enum l1_plan packed_plan(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  struct packed_set s = packed_lines(c, e);
  uint32_t tags = 0, taken = 0;
  (void)missing;
  for (uint32_t i = 0; i < s.tags; i++)
    if (s.at[i].state == PACKED_FETCHED) tags++, taken += s.at[i].segments;
  return tags < s.tags && taken + packed_of(c, e->sm)->whole <= s.segments ? PLAN_PLACE : PLAN_FULL;
}

static uint32_t packed_reserve(struct scheme_ctx *c, const struct l1_event *e, uint32_t missing) {
  uint32_t whole = packed_of(c, e->sm)->whole;
  struct packed *p = make_room(c, e, whole, NULL);
  (void)missing;
  CHECK(p, "SM %u: no room for a line that was to be placed", e->sm);
  *p = (struct packed){.line = e->line,
                       .used = e->cycle,
                       .segments = (uint16_t)whole,
                       .state = PACKED_FETCHED,
                       .warp = (uint8_t)e->warp};
  return 0;
}

static void packed_touch(struct scheme_ctx *c, const struct l1_event *e, uint32_t here, enum l1_outcome out) {
  struct packed *p = find_line(c, e);
  (void)here;
  if (!p) return;
  p->used = e->cycle;
  p->reused |= out == L1_HIT;
  if (e->write || out != L1_HIT || !p->later) return;
  struct sm *s = &c->gpu->sm[e->sm];
  s->l1d.later = p->later;
  s->st->packed_hits++;
  s->st->packed_cycles += p->later;
}

/* The line's segments, by the scheme, and the time of its hits; whole where its values are not known. */
static uint32_t size_line(struct scheme_ctx *c, const struct l1_event *e, struct packed *p) {
  struct gpu *g = c->gpu;
  const struct feed *f = g->works && !e->local ? g->work[g->turn[0]].feed : NULL;
  struct gpu_stats *st = g->sm[e->sm].st;
  uint32_t bytes = g->config.l1d.line, unit = g->config.packed_segment, whole = packed_of(c, e->sm)->whole;
  _Alignas(8) uint8_t data[LINE_MOST];
  p->later = 0;
  if (!f || !f->ops->data || !f->ops->data(f->ctx, e->line, bytes, data)) {
    st->packed_whole++;
    return whole;
  }
  struct l1_size z = g->slots.at[g->slots.line_size[0]].scheme->line_size(c, e, data);
  uint32_t n = z.bytes < bytes ? (z.bytes + unit - 1) / unit : whole;
  p->later = z.later;
  st->packed_lines++;
  st->packed_from += bytes;
  st->packed_bytes += (uint64_t)unit * n;
  return n;
}

static void packed_fill(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct packed *p = find_line(c, e);
  (void)chunks;
  if (!p || p->state != PACKED_FETCHED) return;
  p->state = PACKED_HERE;
  p->segments = (uint16_t)size_line(c, e, p);
}

void l1_packed_stored(struct sm *s, const struct l1_event *e) {
  struct scheme_ctx *c = &s->l1d.org_of->ctx;
  struct packed *p = find_line(c, e);
  if (!p) return;
  uint32_t n = size_line(c, e, p);
  p->segments = 0;
  if (make_room(c, e, n, p)) p->segments = (uint16_t)n;
  else packed_evict(c, e, p);
}

static bool packed_store(struct scheme_ctx *c, const struct l1_event *e, uint32_t chunks) {
  struct packed *p = find_line(c, e);
  (void)chunks;
  if (!p || p->state != PACKED_HERE) return false;
  *p = (struct packed){0};
  return true;
}

static void packed_clear(struct scheme_ctx *c, uint32_t sm) {
  const struct gpu_config *k = c->config;
  struct l1_packed *p = packed_of(c, sm);
  p->last = NULL;
  for (uint32_t i = 0; i < k->l1d.sets * k->l1d.ways * k->packed_tags; i++) p->at[i] = (struct packed){0};
}

static void packed_drop(struct scheme_ctx *c, uint32_t sm) {
  const struct gpu_config *k = c->config;
  struct l1_packed *p = packed_of(c, sm);
  for (uint32_t i = 0; i < k->l1d.sets * k->l1d.ways * k->packed_tags; i++)
    if (p->at[i].state == PACKED_HERE) p->at[i] = (struct packed){0};
}

static const struct l1_org packed_org = {
    .shape = packed_shape,
    .find = packed_find,
    .plan = packed_plan,
    .reserve = packed_reserve,
    .touch = packed_touch,
    .fill = packed_fill,
    .store = packed_store,
    .clear = packed_clear,
    .drop = packed_drop,
    .steady = true,
};

/* sm.unified_kb: config.l1d.ways is the most that a launch may have. */
const struct l1_org *l1_packed_init(struct sm *s) {
  const struct gpu_config *k = s->c;
  size_t tags = (size_t)k->l1d.sets * k->l1d.ways * k->packed_tags;
  struct l1_packed *p = s->l1d.packed = mem_zeroed(1, sizeof *p + tags * sizeof *p->at);
  CHECK(k->l1d.line <= LINE_MOST, "an L1 line of %u bytes", k->l1d.line);
  p->whole = (k->l1d.line + k->packed_segment - 1) / k->packed_segment;
  return &packed_org;
}

void l1_packed_destroy(struct l1d *l) {
  free(l->packed);
}
