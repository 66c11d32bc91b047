/* loops.c - where the lanes of a warp meet in machine code, which has convergence barriers (BSSY, BSYNC, BREAK, since
 * Volta): in a loop they meet before its next turn although some of them have left it, and in the function although
 * some have ended.
 *
 * A branch meets at the immediate post-dominator in the smallest natural loop that has two of its successors, edges
 * out of the loop left out, or at the loop's head; in no loop, in the function, exits under a guard left out. ptxas
 * 11.8 puts BSSY, BSYNC and BREAK so (cuobjdump).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ptx/cfg.h"
#include "ptx/mach.h"

struct loops {
  const struct cfg *c;
  struct dominators dom; /* from the entry */
  uint32_t n, words;
  uint64_t *in;                 /* a row of `words` for each loop: its blocks */
  uint32_t *head, *size, *sort; /* sort: loops from the smallest on */
  uint32_t *stack;              /* scratch, a place for each block */
};

static bool holds(const struct loops *l, uint32_t loop, uint32_t block) {
  return l->in[(size_t)loop * l->words + block / 64] >> (block % 64) & 1;
}

/* ---- natural loops ---- */

/* Blocks that reach `from` without the head join the loop. */
static void add_body(struct loops *l, uint32_t loop, uint32_t from) {
  const struct cfg *c = l->c;
  uint64_t *row = l->in + (size_t)loop * l->words;
  uint32_t sp = 0;
  if (!holds(l, loop, from)) l->stack[sp++] = from, row[from / 64] |= 1ull << from % 64;
  while (sp) {
    uint32_t k = l->stack[--sp];
    for (uint32_t q = c->back.at[k]; q < c->back.at[k + 1]; q++) {
      uint32_t p = c->back.to[q];
      if (!graph_reached(&l->dom, p) || holds(l, loop, p)) continue;
      row[p / 64] |= 1ull << p % 64;
      l->stack[sp++] = p;
    }
  }
}

static bool closes(const struct loops *l, uint32_t block, uint32_t head) {
  return head < l->c->n && graph_dominates(&l->dom, head, block);
}

static void find_loops(struct loops *l) {
  const struct cfg *c = l->c;
  uint32_t *of = mem_zeroed(c->n + 1, sizeof *of); /* by head: number + 1 */
  for (uint32_t k = 0; k < c->n; k++)
    for (uint32_t s = 0; s < cfg_degree(&c->b[k]); s++) {
      uint32_t h = cfg_successor(c, &c->b[k], s);
      if (closes(l, k, h) && !of[h]) of[h] = ++l->n;
    }
  l->in = mem_zeroed((size_t)l->n * l->words + 1, sizeof *l->in);
  l->head = mem_zeroed(l->n + 1, sizeof *l->head);
  l->size = mem_zeroed(l->n + 1, sizeof *l->size);
  l->sort = mem_zeroed(l->n + 1, sizeof *l->sort);
  for (uint32_t h = 0; h < c->n; h++)
    if (of[h]) l->head[of[h] - 1] = h, l->in[(size_t)(of[h] - 1) * l->words + h / 64] |= 1ull << h % 64;
  for (uint32_t k = 0; k < c->n; k++)
    for (uint32_t s = 0; s < cfg_degree(&c->b[k]); s++) {
      uint32_t h = cfg_successor(c, &c->b[k], s);
      if (closes(l, k, h)) add_body(l, of[h] - 1, k);
    }
  for (uint32_t q = 0; q < l->n; q++)
    for (uint32_t w = 0; w < l->words; w++)
      l->size[q] += (uint32_t)__builtin_popcountll(l->in[(size_t)q * l->words + w]);
  for (uint32_t q = 0; q < l->n; q++) {
    uint32_t p = q;
    for (; p && l->size[l->sort[p - 1]] > l->size[q]; p--) l->sort[p] = l->sort[p - 1];
    l->sort[p] = q;
  }
  free(of);
}

/* ---- post-dominators within a loop, or within the function ---- */

enum { NO_LOOP = UINT32_MAX };

/* Successor s of a block: c->n is the end of a turn, or of the function; GRAPH_NONE: no way within the loop. */
static uint32_t way(const struct loops *l, uint32_t loop, uint32_t block, uint32_t s) {
  const struct cfg *c = l->c;
  const struct block *b = &c->b[block];
  uint32_t to = cfg_successor(c, b, s);
  const struct ptx_inst *last = &c->f->code[b->end - 1];
  if (loop == NO_LOOP) return to == c->n && last->guard && cfg_leaves(last) && b->nsucc > 1 ? GRAPH_NONE : to;
  if (to == c->n || !holds(l, loop, to)) return GRAPH_NONE;
  return to == l->head[loop] ? c->n : to;
}

/* Nothing leads to the head within a turn. */
static struct dominators find_meetings(const struct loops *l, uint32_t loop) {
  const struct cfg *c = l->c;
  struct graph_rows r = graph_rows(c->n + 1, c->ahead.at[c->n], c->scratch);
  for (uint32_t k = 0; k < c->n; k++, graph_next(&r))
    for (uint32_t s = 0; s < cfg_degree(&c->b[k]) && (loop == NO_LOOP || holds(l, loop, k)); s++) {
      uint32_t to = way(l, loop, k, s);
      if (to != GRAPH_NONE) graph_edge(&r, to);
    }
  graph_next(&r);
  struct graph ways = graph_of(&r), back = graph_reversed(&ways, c->scratch);
  return graph_dominators(&back, &ways, c->n, c->scratch);
}

static bool parts(const struct loops *l, uint32_t loop, uint32_t block) {
  uint32_t first = GRAPH_NONE;
  if (loop != NO_LOOP && !holds(l, loop, block)) return false;
  for (uint32_t s = 0; s < cfg_degree(&l->c->b[block]); s++) {
    uint32_t to = way(l, loop, block, s);
    if (to == GRAPH_NONE) continue;
    if (first != GRAPH_NONE && first != to) return true;
    first = to;
  }
  return false;
}

/* Branches that part within the loop and in none of those before it. */
static void set_meetings(const struct loops *l, struct ptx_func *f, uint32_t loop, uint8_t *done) {
  const struct cfg *c = l->c;
  struct dominators post = {0};
  for (uint32_t k = 0; k < c->n; k++) {
    if (done[k] || !parts(l, loop, k)) continue;
    if (!post.idom) post = find_meetings(l, loop);
    if (!graph_reached(&post, k)) continue; /* an endless loop */
    uint32_t at = post.idom[k];
    if (at == c->n && loop != NO_LOOP) at = l->head[loop];
    f->code[c->b[k].end - 1].reconv = at == c->n ? PTX_EXIT : c->b[at].first;
    done[k] = 1;
  }
}

/* May a loop with this instruction end because another thread has written? */
static bool waits(const struct ptx_inst *i) {
  const struct ptx_mach *a = i->mach;
  for (uint32_t g = 0; a && !a->own && g < a->ngroup; g++)
    if (waits(&a->group[g])) return true;
  uint8_t kind = ptx_ops[i->op].kind;
  if (kind == KIND_ATOM || kind == KIND_FENCE || kind == KIND_BARRIER) return true;
  return kind == KIND_LOAD && (ptx_has(i, M_VOLATILE) || ptx_has(i, M_RELAXED) || ptx_has(i, M_ACQUIRE));
}

/* Numbers in the order of `l`, plus one. */
static void keep_loops(const struct loops *l, struct ptx_module *m, struct ptx_func *f) {
  const struct cfg *c = l->c;
  struct ptx_loops *k = ARENA_NEW(&m->arena, struct ptx_loops);
  k->n = l->n;
  k->of = ARENA_ARRAY(&m->arena, uint32_t, f->ncode + 1);
  k->up = ARENA_ARRAY(&m->arena, uint32_t, l->n + 1);
  k->waits = ARENA_ARRAY(&m->arena, uint8_t, l->n + 1);
  for (uint32_t q = l->n; q-- > 0;) {
    uint32_t loop = l->sort[q];
    for (uint32_t b = 0; b < c->n; b++)
      for (uint32_t i = c->b[b].first; holds(l, loop, b) && i < c->b[b].end; i++) {
        k->of[i] = loop + 1;
        k->waits[loop + 1] |= waits(&f->code[i]);
      }
    for (uint32_t o = q + 1; o < l->n && !k->up[loop + 1]; o++)
      if (holds(l, l->sort[o], l->head[loop])) k->up[loop + 1] = l->sort[o] + 1;
  }
  f->loops = k;
}

void cfg_meet_in_loops(struct ptx_module *m, struct ptx_func *f, const struct cfg *c) {
  struct loops l = {.c = c, .words = c->n / 64 + 1};
  l.stack = ARENA_ARRAY(c->scratch, uint32_t, c->n + 1);
  l.dom = graph_dominators(&c->ahead, &c->back, 0, c->scratch);
  find_loops(&l);
  uint8_t *done = mem_zeroed(c->n + 1, 1);
  for (uint32_t q = 0; q < l.n; q++) set_meetings(&l, f, l.sort[q], done);
  set_meetings(&l, f, NO_LOOP, done);
  if (l.n) keep_loops(&l, m, f);
  free(done);
  free(l.in);
  free(l.head);
  free(l.size);
  free(l.sort);
}
