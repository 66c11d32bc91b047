/* converge.c - where lanes that took different ways meet again: BSSY saves a barrier's lanes before they part, BSYNC
 * waits for them (Volta and later).
 */

#include <string.h>

#include "back/back_impl.h"
#include "base/reconverge.h"

static bool of_lane(enum ptx_sreg r) {
  return r <= SR_TID_Z || r == SR_LANEID || (r >= SR_LANEMASK_EQ && r <= SR_LANEMASK_GT);
}

/* Results that all lanes of a warp share, whatever they give: votes, sums of a warp, the value of one known lane. */
static bool is_shared(const struct ptx_inst *i) {
  if (i->op == OP_SHFL) return ptx_has(i, M_IDX) && i->nops > 2 && i->ops[2].kind == OK_IMM;
  return i->op == OP_VOTE || i->op == OP_REDUX;
}

/* Does what it gives differ between the lanes of a warp? Loads from one address do not, but in local memory. */
static bool differs(const struct back *k, const struct node *n) {
  const struct ptx_inst *i = n->in;
  if (is_shared(i)) return false;
  for (uint32_t u = 0; u < n->nuse; u++)
    if (k->r[n->use[u]].lanes) return true;
  for (uint32_t q = 0; q < i->nops; q++)
    if (i->ops[q].kind == OK_SREG && of_lane(i->ops[q].sreg)) return true;
  uint8_t kind = ptx_ops[i->op].kind;
  return kind == KIND_ATOM || (kind == KIND_LOAD && n->order && n->space == SPACE_LOCAL);
}

/* ---- barriers ---- */

static void find_lanes(struct back *k) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++)
      for (uint32_t d = 0; d < k->n[i].ndef; d++) {
        struct fact *r = &k->r[k->n[i].def[d]];
        if (!r->lanes && differs(k, &k->n[i])) r->lanes = changed = true;
      }
  }
}

static void find_landings(struct back *k, const struct graph *back) {
  for (uint32_t q = 0; q < k->nb; q++) {
    bool only = back->at[q] < back->at[q + 1];
    for (uint32_t p = back->at[q]; p < back->at[q + 1]; p++) only &= k->n[k->b[back->to[p]].end - 1].in->op == OP_BRX;
    k->b[q].lands = only;
  }
}

/* The blocks between a branch that may part lanes and the place where they meet. */
static void mark_parted(struct back *k, uint32_t from, uint32_t end, uint32_t *stack, uint32_t *met) {
  uint32_t n = 0;
  stack[n++] = from;
  while (n) {
    uint32_t q = stack[--n];
    for (uint32_t s = 0; s < back_successors(k, q); s++) {
      uint32_t to = back_successor(k, q, s);
      if (to == end || to == k->nb || met[to] == from + 1) continue;
      met[to] = from + 1;
      k->b[to].parted = true;
      stack[n++] = to;
    }
  }
}

/* What a branch decides by, if lanes may disagree about it. */
static const struct ptx_reg *parts_by(const struct back *k, uint32_t q) {
  const struct ptx_inst *i = k->n[k->b[q].end - 1].in;
  const struct ptx_reg *by = i->op == OP_BRX ? i->ops[0].reg : i->op == OP_BRA ? i->guard : NULL;
  return by && !ptx_has(i, M_UNI) && k->r[by->num].lanes ? by : NULL;
}

struct barriers {
  struct back *k;
  struct graph ahead, back;
  struct reconvergence r;
  struct dominators post;
  uint32_t *begin, *place; /* by block that parts lanes: where its barrier begins and ends, NODE_NONE for none */
  uint32_t *first, *next;  /* by place the first of those, by block the next one */
  uint32_t *stack, *met;   /* scratch, a place for each block */
};

/* The block at whose end the barrier begins that lanes parted by block q wait at: it dominates the ways to `place`, but
 * for branches there that all lanes take. */
static uint32_t begin_of(const struct barriers *s, uint32_t q, uint32_t place) {
  const struct dominators *d = &s->r.dom;
  uint32_t begin = region_before_loops(&s->r, q, place), above = GRAPH_NONE;
  for (uint32_t p = s->back.at[place]; p < s->back.at[place + 1]; p++) {
    uint32_t from = s->back.to[p];
    if (!graph_reached(d, from) || graph_dominates(d, place, from)) continue;
    if (s->ahead.at[from + 1] - s->ahead.at[from] > 1 && !parts_by(s->k, from)) continue;
    above = above == GRAPH_NONE ? from : graph_common(d, above, from);
  }
  if (above != GRAPH_NONE) above = region_before_loops(&s->r, above, place);
  if (begin == NODE_NONE || above == GRAPH_NONE) return begin;
  return graph_dominates(d, above, begin) ? above : begin;
}

/* Where the lanes of block q meet; NODE_NONE: they do not. Behind copies of a loop ptxas continues to the next test. */
static uint32_t meeting_of(const struct barriers *s, uint32_t q) {
  const struct back *k = s->k;
  uint32_t place = s->r.at[q];
  if (place == GRAPH_NONE || place == k->nb || graph_dominates(&s->r.dom, place, q)) place = s->post.idom[q];
  while (place < k->nb && k->n[k->b[place].end - 1].behind) place++;
  return place == NODE_NONE || place == k->nb || back_only_leaves(k, &k->b[place]) ? NODE_NONE : place;
}

/* Another barrier at the same place serves the block. */
static bool is_covered(const struct barriers *s, uint32_t q) {
  for (uint32_t p = s->first[s->place[q]]; p != NODE_NONE; p = s->next[p]) {
    if (s->begin[p] == s->begin[q] ? p < q : graph_dominates(&s->r.dom, s->begin[p], s->begin[q])) return true;
  }
  return false;
}

/* BREAK where lanes leave the ways to the barrier's end; they meet the others elsewhere (WARPSYNC, since 9.0). */
static void add_breaks(struct barriers *s, uint32_t begin, uint32_t place) {
  struct back *k = s->k;
  const struct reconvergence *r = &s->r;
  uint32_t n = 0;
  memset(s->met, 0, (k->nb + 1) * sizeof *s->met);
  s->met[begin] = s->met[place] = 1;
  s->stack[n++] = place;
  while (n) {
    uint32_t b = s->stack[--n];
    for (uint32_t p = s->back.at[b]; p < s->back.at[b + 1]; p++) {
      uint32_t from = s->back.to[p];
      if (s->met[from] || !graph_reached(&r->dom, from) || !graph_dominates(&r->dom, begin, from)) continue;
      if (b == place && graph_dominates(&r->dom, place, from)) continue;
      s->met[from] = 1;
      s->stack[n++] = from;
    }
  }
  for (uint32_t b = 0; b < k->nb; b++) {
    bool out = false, loops = false;
    uint32_t stay = 0;
    for (uint32_t e = s->ahead.at[b]; s->met[b] && b != place && e < s->ahead.at[b + 1]; e++) {
      uint32_t to = s->ahead.to[e];
      stay += to != k->nb && s->met[to];
      if (to == k->nb || s->met[to] || r->at[b] == k->nb || r->at[b] == GRAPH_NONE) continue;
      out = true;
      for (uint32_t q = r->of[b]; q != NO_REGION; q = r->up[q]) loops |= q < r->loops && !region_has(r, q, to);
    }
    /* stay: before a loop it begins on the way there */
    if (!out || k->n[k->b[b].end - 1].behind || (b == begin && stay < 2)) continue;
    k->b[b].breaks++;
    uint32_t meet = meeting_of(s, b);
    if (!loops && meet != NODE_NONE) k->b[meet].gathers = true;
  }
}

/* A barrier for each place where lanes meet that branches may have parted: those of a loop that they may leave at
 * different times begin before it. */
void back_converge(struct back *k) {
  struct barriers s = {.k = k, .ahead = back_graph(k)};
  s.back = graph_reversed(&s.ahead, &k->scratch);
  s.post = graph_dominators(&s.back, &s.ahead, k->nb, &k->scratch);
  find_lanes(k);
  find_landings(k, &s.back);
  back_dominators(k);
  uint8_t *flags = ARENA_ARRAY(&k->scratch, uint8_t, k->nb + 1);
  uint32_t **scratch[] = {&s.begin, &s.place, &s.first, &s.next, &s.stack, &s.met};
  for (size_t q = 0; q < sizeof scratch / sizeof *scratch; q++) {
    *scratch[q] = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1);
    memset(*scratch[q], 0xff, (k->nb + 1) * sizeof **scratch[q]);
  }
  for (uint32_t q = 0; q < k->nb; q++) {
    struct node *last = &k->n[k->b[q].end - 1];
    last->together = last->in->op == OP_BRA && last->in->guard && !parts_by(k, q);
    bool alone = last->in->op == OP_BRA && !last->in->guard && k->b[q].end == k->b[q].first + 1;
    flags[q] =
        (uint8_t)((parts_by(k, q) ? 0 : TOGETHER) | (alone ? LEADS_ON : 0) | (last->in->op == OP_BRX ? CHOOSES : 0));
  }
  s.r = graph_reconverge(&s.ahead, &s.back, flags, k->t->sm >= 90, &k->scratch);
  for (uint32_t q = k->nb; q-- > 0;) {
    uint32_t end = s.post.idom[q], place = parts_by(k, q) ? meeting_of(&s, q) : NODE_NONE;
    if (!parts_by(k, q)) continue;
    if (end != NODE_NONE && end != k->nb && !back_only_leaves(k, &k->b[end])) mark_parted(k, q, end, s.stack, s.met);
    s.begin[q] = place == NODE_NONE ? NODE_NONE : begin_of(&s, q, place);
    if (s.begin[q] == NODE_NONE) continue;
    s.place[q] = place;
    s.next[q] = s.first[place];
    s.first[place] = q;
  }
  for (uint32_t q = 0; q < k->nb; q++) {
    if (s.place[q] == NODE_NONE || is_covered(&s, q)) continue;
    k->b[s.begin[q]].parts++;
    k->b[s.place[q]].meets++;
    add_breaks(&s, s.begin[q], s.place[q]);
  }
}
