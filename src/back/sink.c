/* sink.c - a number that a block puts in a register, read only where its branch is not taken, is put there behind the
 * branch: the -1 of a search that has found nothing costs nothing in its turns.
 */
#include <string.h>

#include "back/back_impl.h"

struct sink {
  struct back *k;
  uint32_t *behind; /* by node: the branch that it goes behind + 1 */
  uint8_t *met;     /* by block */
  uint32_t *stack;
};

/* Is the register read from the begin of block q on, before it is written? */
static bool is_read_from(const struct sink *s, uint32_t q, uint16_t r) {
  const struct back *k = s->k;
  uint32_t n = 0;
  memset(s->met, 0, k->nb + 1);
  s->stack[n++] = q;
  s->met[q] = 1;
  while (n) {
    uint32_t b = s->stack[--n], i = k->b[b].first;
    for (; i < k->b[b].end; i++) {
      const struct node *u = &k->n[i];
      if (back_listed(u->use, u->nuse, r)) return true;
      if (!u->in->guard && back_listed(u->def, u->ndef, r)) break;
    }
    for (uint32_t e = 0; i == k->b[b].end && e < back_successors(k, b); e++) {
      uint32_t to = back_successor(k, b, e);
      if (to < k->nb && !s->met[to]) s->met[to] = 1, s->stack[n++] = to;
    }
  }
  return false;
}

static bool holds_number(const struct back *k, const struct ptx_opnd *o) {
  if (o->kind == OK_IMM) return true;
  if (o->kind != OK_REG || o->sel || o->part || o->neg || o->minus) return false;
  const struct ptx_inst *d = back_single(k, o->reg->num);
  return d && d->op == OP_MOV && !d->guard && d->nops == 2 && d->ops[1].kind == OK_IMM;
}

static bool may_sink(const struct back *k, uint32_t i, uint32_t end) {
  const struct node *n = &k->n[i];
  const struct ptx_inst *in = n->in;
  if (in->op != OP_MOV || in->guard || in->nops != 2 || n->ndef != 1 || ptx_type_bytes[in->types[0]] != 4) return false;
  if (in->ops[0].kind != OK_REG || k->r[n->def[0]].def != NODE_NONE || !holds_number(k, &in->ops[1])) return false;
  for (uint32_t q = i + 1; q < end; q++)
    if (back_listed(k->n[q].use, k->n[q].nuse, n->def[0]) || back_listed(k->n[q].def, k->n[q].ndef, n->def[0]))
      return false;
  return true;
}

static bool find_sinking(struct sink *s) {
  struct back *k = s->k;
  bool any = false;
  for (uint32_t q = 0; q + 1 < k->nb; q++) {
    uint32_t last = k->b[q].end - 1;
    const struct ptx_inst *b = k->n[last].in;
    if (b->op != OP_BRA || !b->guard) continue;
    uint32_t to = k->n[b->target].block;
    for (uint32_t i = k->b[q].first; to != q + 1 && i < last; i++) {
      if (!may_sink(k, i, last + 1)) continue;
      if (is_read_from(s, to, k->n[i].def[0]) || !is_read_from(s, q + 1, k->n[i].def[0])) continue;
      s->behind[i] = last + 1;
      any = true;
    }
  }
  return any;
}

void back_sink(struct back *k) {
  struct sink s = {.k = k};
  s.behind = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  s.met = ARENA_ARRAY(&k->scratch, uint8_t, k->nb + 1);
  s.stack = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1);
  if (!find_sinking(&s)) return;
  struct node_list out = {0};
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  uint8_t *old = ARENA_ARRAY(&k->scratch, uint8_t, k->nn + 1);
  for (uint32_t i = 0; i < k->nn; i++) {
    to[i] = out.nn;
    if (s.behind[i]) continue;
    back_keep(k, &out, i, old);
    for (uint32_t q = k->b[k->n[i].block].first; q < i; q++)
      if (s.behind[q] == i + 1) back_keep(k, &out, q, old);
  }
  to[k->nn] = out.nn;
  back_replace(k, &out, to, old);
  back_facts(k, true);
}
