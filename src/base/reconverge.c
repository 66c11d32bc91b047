/* reconverge.c - see reconverge.h. */
#include "base/reconverge.h"

#include <string.h>

struct finder {
  const struct graph *ahead, *back;
  const uint8_t *flags;
  struct arena *a;
  struct reconvergence r;
  struct dominators *post; /* by region: within it; [most]: of the function */
  uint32_t most;           /* regions that there is room for */
  uint32_t *begin;         /* by region of a join */
  bool loops_apart;
  uint32_t *stack; /* scratch, a place for each block */
};

static uint32_t degree(const struct graph *g, uint32_t block) {
  return g->at[block + 1] - g->at[block];
}

static void put_in(struct reconvergence *r, uint32_t region, uint32_t block) {
  r->in[(size_t)region * r->words + block / 64] |= 1ull << block % 64;
}

/* Blocks that reach `from` without those that are in the region join it. */
static void add_body(struct finder *f, uint32_t region, uint32_t from) {
  struct reconvergence *r = &f->r;
  uint32_t sp = 0;
  if (!region_has(r, region, from)) f->stack[sp++] = from, put_in(r, region, from);
  while (sp) {
    uint32_t k = f->stack[--sp];
    for (uint32_t q = f->back->at[k]; q < f->back->at[k + 1]; q++) {
      uint32_t p = f->back->to[q];
      if (!graph_reached(&r->dom, p) || region_has(r, region, p)) continue;
      put_in(r, region, p);
      f->stack[sp++] = p;
    }
  }
}

static uint32_t size_of(const struct reconvergence *r, uint32_t region) {
  uint32_t n = 0;
  for (uint32_t w = 0; w < r->words; w++) n += (uint32_t)__builtin_popcountll(r->in[(size_t)region * r->words + w]);
  return n;
}

/* Sort the regions, and find those around each and each block's. */
static void order_regions(struct finder *f) {
  struct reconvergence *r = &f->r;
  uint32_t *size = ARENA_ARRAY(f->a, uint32_t, r->n + 1);
  for (uint32_t q = 0; q < r->n; q++) {
    uint32_t p = q;
    size[q] = size_of(r, q);
    for (; p && size[r->sorted[p - 1]] > size[q]; p--) r->sorted[p] = r->sorted[p - 1];
    r->sorted[p] = q;
  }
  memset(r->of, 0xff, (r->exit + 1) * sizeof *r->of);
  memset(r->up, 0xff, (r->n + 1) * sizeof *r->up);
  for (uint32_t q = r->n; q-- > 0;) {
    uint32_t region = r->sorted[q];
    for (uint32_t b = 0, seen = 0; b < r->exit; b++) {
      if (!region_has(r, region, b)) continue;
      if (!seen++) r->up[region] = r->of[b];
      r->of[b] = region;
    }
  }
}

/* ---- loops ---- */

static bool closes(const struct finder *f, uint32_t block, uint32_t head) {
  return head < f->r.exit && graph_dominates(&f->r.dom, head, block);
}

/* Loops' heads; false if a way back leads to what does not dominate it. */
static bool find_heads(struct finder *f, uint32_t *of) {
  bool plain = true;
  const struct dominators *d = &f->r.dom;
  for (uint32_t k = 0; k < f->r.exit; k++)
    for (uint32_t s = f->ahead->at[k]; graph_reached(d, k) && s < f->ahead->at[k + 1]; s++) {
      uint32_t h = f->ahead->to[s];
      if (closes(f, k, h)) of[h] = of[h] ? of[h] : ++f->r.n;
      else plain &= d->order[h] > d->order[k];
    }
  return plain;
}

static void add_loops(struct finder *f, const uint32_t *of) {
  struct reconvergence *r = &f->r;
  for (uint32_t h = 0; h < r->exit; h++)
    if (of[h]) r->end[of[h] - 1] = h, put_in(r, of[h] - 1, h);
  for (uint32_t k = 0; k < r->exit; k++)
    for (uint32_t s = f->ahead->at[k]; s < f->ahead->at[k + 1]; s++)
      if (closes(f, k, f->ahead->to[s])) add_body(f, of[f->ahead->to[s]] - 1, k);
}

/* ---- post-dominators within a region, or within the function ---- */

/* Where way s of a block leads: `exit` is the end of the region or of the function; GRAPH_NONE: out of it. */
static uint32_t way(const struct finder *f, uint32_t region, uint32_t block, uint32_t s) {
  const struct reconvergence *r = &f->r;
  uint32_t to = f->ahead->to[f->ahead->at[block] + s];
  if (region == NO_REGION)
    return to == r->exit && f->flags[block] & ENDS_SOME && degree(f->ahead, block) > 1 ? GRAPH_NONE : to;
  if (to == r->end[region]) return r->exit;
  return to == r->exit || !region_has(r, region, to) ? GRAPH_NONE : to;
}

static const struct dominators *post_dominators(struct finder *f, uint32_t region) {
  uint32_t exit = f->r.exit;
  struct dominators *post = &f->post[region == NO_REGION ? f->most : region];
  if (post->idom) return post;
  struct graph_rows rows = graph_rows(exit + 1, f->ahead->at[exit], f->a);
  for (uint32_t k = 0; k < exit; k++, graph_next(&rows))
    for (uint32_t s = 0; s < degree(f->ahead, k) && (region == NO_REGION || region_has(&f->r, region, k)); s++) {
      uint32_t to = way(f, region, k, s);
      if (to != GRAPH_NONE) graph_edge(&rows, to);
    }
  graph_next(&rows);
  struct graph ways = graph_of(&rows), back = graph_reversed(&ways, f->a);
  *post = graph_dominators(&back, &ways, exit, f->a);
  return post;
}

/* ---- joins ---- */

/* The smallest loop in which the block is not the head. */
static uint32_t loop_around(const struct finder *f, uint32_t block) {
  uint32_t loop = f->r.of[block];
  return loop != NO_REGION && f->r.end[loop] == block ? f->r.up[loop] : loop;
}

uint32_t region_before_loops(const struct reconvergence *r, uint32_t block, uint32_t place) {
  for (uint32_t q = r->of[block]; q != NO_REGION; q = r->up[q]) {
    if (q >= r->loops || region_has(r, q, place)) continue;
    uint32_t above = r->dom.idom[r->end[q]];
    return above == r->end[q] ? GRAPH_NONE : region_before_loops(r, above, place);
  }
  return block;
}

static bool goes_back(const struct finder *f, uint32_t block) {
  bool back = false;
  for (uint32_t s = f->ahead->at[block]; s < f->ahead->at[block + 1]; s++) back |= closes(f, block, f->ahead->to[s]);
  return back;
}

/* The ways ahead to a block; `out`: how many of them lead out of a loop, `last`: where its next turn is decided. */
static uint32_t ways_to(const struct finder *f, uint32_t block, uint32_t *out, bool *last) {
  const struct dominators *d = &f->r.dom;
  uint32_t ways = 0;
  *out = 0;
  *last = false;
  for (uint32_t q = f->back->at[block]; q < f->back->at[block + 1]; q++) {
    uint32_t from = f->back->to[q], loop = f->r.of[from];
    if (!graph_reached(d, from) || graph_dominates(d, block, from)) continue;
    ways++;
    bool leaves = loop != NO_REGION && !region_has(&f->r, loop, block);
    *out += leaves;
    *last |= leaves && goes_back(f, from);
  }
  return ways;
}

/* The block at which lanes may part that meet at the join or go elsewhere; GRAPH_NONE: they all meet there. */
static uint32_t begin_of_join(struct finder *f, uint32_t join) {
  const struct dominators *d = &f->r.dom;
  if (!graph_reached(d, join) || f->flags[join] & LEADS_ON) return GRAPH_NONE;
  bool last;
  uint32_t out, ways = ways_to(f, join, &out, &last), loop = loop_around(f, join);
  if ((ways < 2 && !last) || (f->loops_apart && out && out < ways)) return GRAPH_NONE;
  uint32_t begin = region_before_loops(&f->r, d->idom[join], join);
  if (begin == GRAPH_NONE || f->r.of[begin] != loop) return GRAPH_NONE;
  const struct dominators *post = post_dominators(f, loop);
  if (!graph_reached(post, begin)) return GRAPH_NONE;
  for (uint32_t b = begin; b != f->r.exit; b = post->idom[b])
    if (b == join) return GRAPH_NONE;
  return begin;
}

static bool is_left_at(const struct finder *f, uint32_t region, uint32_t block) {
  const struct reconvergence *r = &f->r;
  for (uint32_t s = f->ahead->at[block]; s < f->ahead->at[block + 1]; s++) {
    uint32_t to = f->ahead->to[s];
    if (to != r->end[region] && (to == r->exit || !region_has(r, region, to))) return true;
  }
  return false;
}

/* Do all ways out of the loop that stay in the region lead to the end of a smaller one? */
static bool ends_apart(const struct finder *f, uint32_t region, uint32_t loop) {
  const struct reconvergence *r = &f->r;
  for (uint32_t b = 0; b < r->exit; b++)
    for (uint32_t s = f->ahead->at[b]; region_has(r, loop, b) && s < f->ahead->at[b + 1]; s++) {
      uint32_t to = f->ahead->to[s], q = r->loops;
      if (to == r->exit || region_has(r, loop, to) || !region_has(r, region, to)) continue;
      while (q < region && (r->end[q] != to || !region_has(r, q, b))) q++;
      if (q == region) return false;
    }
  return true;
}

/* Nothing leaves it without parting. */
static bool parts_at_exits(const struct finder *f, uint32_t region) {
  const struct reconvergence *r = &f->r;
  for (uint32_t b = 0; b < r->exit; b++) {
    if (!region_has(r, region, b) || !is_left_at(f, region, b)) continue;
    if (f->flags[b] & (TOGETHER | CHOOSES)) return false;
    for (uint32_t q = 0; q < r->loops && f->loops_apart; q++)
      if (region_has(r, q, b) && region_has(r, region, r->end[q]) && !region_has(r, q, r->end[region]) &&
          !ends_apart(f, region, q))
        return false;
  }
  return true;
}

/* Does it lie within all other regions of joins or around them? */
static bool is_nested(const struct finder *f, uint32_t region) {
  const struct reconvergence *r = &f->r;
  for (uint32_t q = r->loops; q < region; q++) {
    bool less = false, more = false, both = false;
    for (uint32_t w = 0; w < r->words; w++) {
      uint64_t x = r->in[(size_t)q * r->words + w], y = r->in[(size_t)region * r->words + w];
      both |= (x & y) != 0, less |= (x & ~y) != 0, more |= (y & ~x) != 0;
    }
    if (!both) continue;
    if (less == more) return false;
    uint32_t inner = less ? region : q, outer = less ? q : region;
    if (r->end[inner] != r->end[outer] && !region_has(r, outer, r->end[inner])) return false;
  }
  return true;
}

static void add_join(struct finder *f, uint32_t join, uint32_t begin) {
  struct reconvergence *r = &f->r;
  uint32_t region = r->n;
  memset(&r->in[(size_t)region * r->words], 0, r->words * sizeof *r->in);
  r->end[region] = join;
  f->begin[region] = begin;
  put_in(r, region, begin);
  for (uint32_t p = f->back->at[join]; p < f->back->at[join + 1]; p++) {
    uint32_t from = f->back->to[p];
    if (graph_reached(&r->dom, from) && !graph_dominates(&r->dom, join, from)) add_body(f, region, from);
  }
  r->n += parts_at_exits(f, region) && is_nested(f, region);
}

/* Of joins with one begin the last. Those in others come first. */
static void add_joins(struct finder *f) {
  struct reconvergence *r = &f->r;
  uint32_t *last = ARENA_ARRAY(f->a, uint32_t, r->exit + 1), joins = 0; /* by begin: its join + 1 */
  uint32_t *join = ARENA_ARRAY(f->a, uint32_t, r->exit + 1);            /* by place in the order: begin + 1 */
  for (uint32_t k = 1; k < r->exit; k++) {
    uint32_t begin = begin_of_join(f, k);
    if (begin == GRAPH_NONE) continue;
    if (!last[begin] || r->dom.order[last[begin] - 1] < r->dom.order[k]) last[begin] = k + 1;
  }
  for (uint32_t k = 0; k < r->exit; k++)
    if (last[k]) joins++, join[r->exit - (r->dom.order[k] - r->dom.order[0])] = k + 1;
  if (!joins) return;
  uint64_t *in = ARENA_ARRAY(f->a, uint64_t, (size_t)(r->n + joins) * r->words + 1);
  memcpy(in, r->in, (size_t)r->n * r->words * sizeof *in);
  r->in = in;
  for (uint32_t k = 0; k <= r->exit; k++)
    if (join[k]) add_join(f, last[join[k] - 1] - 1, join[k] - 1);
  order_regions(f);
}

/* ---- where branches reconverge ---- */

static bool parts(const struct finder *f, uint32_t region, uint32_t block) {
  uint32_t first = GRAPH_NONE;
  if (region != NO_REGION && !region_has(&f->r, region, block)) return false;
  for (uint32_t s = 0; s < degree(f->ahead, block); s++) {
    uint32_t to = way(f, region, block, s);
    if (to == GRAPH_NONE) continue;
    if (first != GRAPH_NONE && first != to) return true;
    first = to;
  }
  return false;
}

/* Branches that part within the region and in none of those before it. */
static void set_meetings(struct finder *f, uint32_t region, uint8_t *done) {
  for (uint32_t k = 0; k < f->r.exit; k++) {
    if (done[k] || !parts(f, region, k)) continue;
    const struct dominators *post = post_dominators(f, region);
    if (!graph_reached(post, k)) continue; /* an endless loop */
    uint32_t at = post->idom[k];
    f->r.at[k] = at == f->r.exit && region != NO_REGION ? f->r.end[region] : at;
    done[k] = 1;
  }
}

/* The first block behind the region that all ways from its begin lead through. */
static uint32_t meeting_around(struct finder *f, uint32_t region) {
  const struct reconvergence *r = &f->r;
  uint32_t around = r->up[region], b = region < r->loops ? r->end[region] : f->begin[region];
  const struct dominators *post = post_dominators(f, around);
  if (!graph_reached(post, b)) return GRAPH_NONE;
  while (b != r->exit && region_has(r, region, b)) b = post->idom[b];
  return b == r->exit && around != NO_REGION ? r->end[around] : b;
}

struct reconvergence graph_reconverge(const struct graph *ahead, const struct graph *back, const uint8_t *flags,
                                      bool loops_apart, struct arena *a) {
  uint32_t exit = ahead->nodes - 1;
  struct finder f = {.ahead = ahead, .back = back, .flags = flags, .a = a, .loops_apart = loops_apart};
  struct reconvergence *r = &f.r;
  r->exit = exit, r->words = exit / 64 + 1;
  r->dom = graph_dominators(ahead, back, 0, a);
  f.stack = ARENA_ARRAY(a, uint32_t, exit + 1);
  r->of = ARENA_ARRAY(a, uint32_t, exit + 1);
  r->at = ARENA_ARRAY(a, uint32_t, exit + 1);
  memset(r->at, 0xff, (exit + 1) * sizeof *r->at);
  uint32_t *heads = ARENA_ARRAY(a, uint32_t, exit + 1);
  bool plain = find_heads(&f, heads);
  r->loops = r->n;
  f.most = r->n + exit;
  r->end = ARENA_ARRAY(a, uint32_t, f.most + 1);
  r->up = ARENA_ARRAY(a, uint32_t, f.most + 1);
  r->meet = ARENA_ARRAY(a, uint32_t, f.most + 1);
  r->sorted = ARENA_ARRAY(a, uint32_t, f.most + 1);
  f.begin = ARENA_ARRAY(a, uint32_t, f.most + 1);
  f.post = ARENA_ARRAY(a, struct dominators, f.most + 1);
  r->in = ARENA_ARRAY(a, uint64_t, (size_t)r->n * r->words + 1);
  add_loops(&f, heads);
  order_regions(&f);
  if (plain) add_joins(&f);
  uint8_t *done = ARENA_ARRAY(a, uint8_t, exit + 1);
  for (uint32_t q = 0; q < r->n; q++) set_meetings(&f, r->sorted[q], done);
  set_meetings(&f, NO_REGION, done);
  for (uint32_t q = 0; q < r->n; q++) r->meet[q] = meeting_around(&f, q);
  return *r;
}
