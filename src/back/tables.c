/* tables.c - comparisons of a register with numbers, one behind the other, become a branch through a table (BRX). ptxas
 * 11.8 and 13.0 do so for two and more that stand in blocks of their own, if the table has at most five entries for
 * each; of a longer row, for the end of it.
 */
#include <string.h>

#include "back/back_impl.h"

enum { MOST_CASES = 64, ENTRIES_A_CASE = 5 };

struct row { /* of comparisons: blocks from `first` on */
  uint32_t first, n;
  struct ptx_reg *reg;
  int32_t value[MOST_CASES];
};

/* setp.eq p, r, number; @p bra L - and nothing else reads p. */
static bool compares(const struct back *k, uint32_t q, struct ptx_reg **r, int32_t *value) {
  const struct bblock *b = &k->b[q];
  if (b->end != b->first + 2 || q + 1 >= k->nb) return false;
  const struct ptx_inst *c = k->n[b->first].in, *j = k->n[b->first + 1].in;
  if (c->op != OP_SETP || c->guard || c->nops != 3 || !ptx_has(c, M_EQ) || ptx_type_bytes[c->types[0]] != 4 ||
      ptx_type_kinds[c->types[0]] == 'f')
    return false;
  const struct ptx_opnd *p = &c->ops[0], *x = &c->ops[1], *v = &c->ops[2];
  if (p->kind != OK_REG || p->reg2 || x->kind != OK_REG || x->sel || x->part || x->neg || x->minus) return false;
  if (j->op != OP_BRA || j->guard != p->reg || j->guard_neg || ptx_has(j, M_UNI) || k->r[p->reg->num].uses != 1)
    return false;
  if (ptx_type_bytes[x->reg->type] != 4) return false;
  if (v->kind == OK_IMM && !v->is_float && !v->minus && !v->neg) *value = (int32_t)v->imm;
  else if (v->kind == OK_REG && k->r[v->reg->num].konst == K_IMM && k->r[v->reg->num].number)
    *value = (int32_t)k->r[v->reg->num].imm;
  else return false;
  *r = x->reg;
  return true;
}

static struct row row_at(const struct back *k, uint32_t q) {
  struct row w = {.first = q};
  struct ptx_reg *r;
  for (; w.n < MOST_CASES && compares(k, q, &r, &w.value[w.n]); q++) {
    if (w.n && (r != w.reg || k->b[q].preds != 1)) break;
    for (uint32_t c = 0; c < w.n; c++)
      if (w.value[c] == w.value[w.n]) return w;
    w.reg = r;
    w.n++;
  }
  return w;
}

/* The longest end of a row whose table is small enough: its first comparison, or n. */
static uint32_t dense_end(const struct row *w, int32_t *least, uint32_t *span) {
  for (uint32_t from = 0; from + 2 <= w->n; from++) {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint32_t c = from; c < w->n; c++) {
      if (w->value[c] < low) low = w->value[c];
      if (w->value[c] > high) high = w->value[c];
    }
    if (high - low + 1 > ENTRIES_A_CASE * (int64_t)(w->n - from)) continue;
    *least = (int32_t)low;
    *span = (uint32_t)(high - low + 1);
    return from;
  }
  return w->n;
}

static void integer(struct back *k, struct node *n, uint8_t op, struct ptx_reg *d, struct ptx_reg *x, int32_t v) {
  struct ptx_inst *i = n->in;
  memset(i->mods, 0, sizeof i->mods);
  i->nmods = 0;
  i->op = op;
  i->guard = NULL;
  i->nops = 3;
  i->ntypes = 1;
  i->types[0] = op == OP_MIN ? T_U32 : T_S32;
  i->ops[0] = (struct ptx_opnd){.kind = OK_REG, .reg = d, .line = i->line};
  i->ops[1] = (struct ptx_opnd){.kind = OK_REG, .reg = x, .line = i->line};
  i->ops[2] = (struct ptx_opnd){.kind = OK_IMM, .imm = v, .line = i->line};
  back_touch(k, n);
}

/* The nodes of the blocks that are no more have room for the three of the branch. */
static void make_table(struct back *k, const struct row *w, uint32_t from, int32_t least, uint32_t span) {
  uint32_t last = w->first + w->n - 1, at = k->b[w->first + from].first, other = k->b[last].end, end = other;
  const struct ptx_inst *next = k->n[other].in;
  if (next->op == OP_BRA && !next->guard) { /* bra.uni default */
    other = (uint32_t)next->target;
    if (k->b[last + 1].preds == 1) k->n[end].role = ROLE_GONE;
  }
  struct ptx_opnd *label = ARENA_ARRAY(k->a, struct ptx_opnd, span + 1);
  for (uint32_t q = 0; q <= span; q++) label[q] = (struct ptx_opnd){.kind = OK_LABEL, .imm = other, .line = next->line};
  for (uint32_t c = from; c < w->n; c++)
    label[w->value[c] - least].imm = (int64_t)k->n[k->b[w->first + c].first + 1].in->target;
  uint16_t index = back_register(k, T_B32), offset = least ? back_register(k, T_B32) : w->reg->num;
  for (uint32_t i = at; i < end; i++) k->n[i].role = ROLE_GONE;
  if (least) {
    k->n[at].role = ROLE_COST;
    integer(k, &k->n[at++], OP_ADD, k->f->regs[offset], w->reg, (int32_t)(0u - (uint32_t)least));
  }
  k->n[at].role = ROLE_COST;
  integer(k, &k->n[at++], OP_MIN, k->f->regs[index], k->f->regs[offset], (int32_t)span);
  k->n[at].role = ROLE_COST;
  integer(k, &k->n[at], OP_BRX, k->f->regs[index], w->reg, 0);
  struct ptx_inst *i = k->n[at].in;
  i->ntypes = 0;
  i->nops = 2;
  i->mods[M_IDX / 64] |= 1ull << (M_IDX % 64), i->mod_order[i->nmods++] = M_IDX;
  i->ops[1] = (struct ptx_opnd){.kind = OK_TABLE, .vec = label, .imm = span + 1, .line = i->line};
  back_touch(k, &k->n[at]);
}

void back_tables(struct back *k) {
  uint32_t old = k->nregs;
  bool any = false;
  for (uint32_t q = 0; q < k->nb; q++) {
    struct row w = row_at(k, q);
    int32_t least;
    uint32_t span, from = dense_end(&w, &least, &span);
    if (from < w.n) make_table(k, &w, from, least, span), any = true;
    if (w.n) q += w.n - 1;
  }
  if (!any) return;
  back_compact(k);
  for (uint32_t r = old + 1; r <= k->nregs; r++) k->r[r].ssa = true;
  back_facts(k, false);
}
