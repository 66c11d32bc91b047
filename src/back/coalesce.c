/* coalesce.c - halves that an extension to 64 bits shares with what it reads; and copies: one of 32 bits, or of a value
 * that a guarded instruction may replace (mov d, s; @p ld d), costs nothing where its two registers can be one, which
 * is where neither takes a value while the other one has a value that is still read. Other copies of 64 bits, such as
 * those of a loop's addresses, are left: ptxas has them, too. */
#include <string.h>

#include "back/back_impl.h"

struct coalesce {
  struct back *k;
  struct live l;
  uint32_t *first, *next, *node; /* by register: its first definition + 1; of a definition the next, and its node */
  uint32_t defs;
};

static bool is_copy(const struct back *k, const struct node *n) {
  if (n->role != ROLE_COST || !n->in || n->in->guard || n->operand || n->nsrc != 1 || n->ndef != 1 || n->nuse != 1)
    return false;
  for (uint32_t q = 0; q < n->nops; q++)
    if (n->ops[q] != MO_MOV) return false;
  const struct ptx_opnd *o = n->in->ops;
  bool plain = n->in->nops == 2 && o[0].kind == OK_REG && o[1].kind == OK_REG && !o[0].reg2 && !o[1].reg2 &&
               !o[1].sel && !o[1].part && !o[1].neg && !o[1].minus;
  const struct fact *s = &k->r[n->use[0]], *d = &k->r[n->def[0]];
  return plain && back_same(k, n->use[0]) == n->src[0] && !s->konst && !d->konst && !s->uniform && !d->uniform &&
         back_weight(k, n->use[0]) && back_weight(k, n->use[0]) == back_weight(k, n->def[0]);
}

static void find_definitions(struct coalesce *c) {
  struct back *k = c->k;
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  uint32_t room = 0;
  for (uint32_t i = 0; i < k->nn; i++) room += back_writes(k, &k->n[i], r);
  c->first = ARENA_ARRAY(&k->scratch, uint32_t, k->nregs + 1);
  c->next = ARENA_ARRAY(&k->scratch, uint32_t, room + 1);
  c->node = ARENA_ARRAY(&k->scratch, uint32_t, room + 1);
  for (uint32_t i = k->nn; i-- > 0;) {
    uint32_t m = back_writes(k, &k->n[i], r);
    for (uint32_t q = 0; q < m; q++) {
      c->node[c->defs] = i;
      c->next[c->defs] = c->first[r[q]];
      c->first[r[q]] = ++c->defs;
    }
  }
}

/* Is the value of machine register x read behind node i? */
static bool is_live_after(const struct coalesce *c, uint32_t i, uint16_t x) {
  const struct back *k = c->k;
  const struct bblock *b = &k->b[k->n[i].block];
  uint16_t r[MAX_SRC + PTX_MAX_USES];
  while (++i < b->end) {
    const struct node *n = &k->n[i];
    if (back_listed(r, back_reads(k, n, r), x)) return true;
    if ((back_overwrites(n) || k->r[x].ssa) && back_listed(r, back_writes(k, n, r), x)) return false;
  }
  return c->l.out[(size_t)(b - k->b) * c->l.words + x / 64] >> x % 64 & 1;
}

/* Does a definition of `a` meet a value of `b`? A copy of b does not: both have that value then. */
static bool meets(const struct coalesce *c, uint16_t a, uint16_t b) {
  for (uint32_t d = c->first[a]; d; d = c->next[d - 1]) {
    const struct node *n = &c->k->n[c->node[d - 1]];
    bool copy = is_copy(c->k, n) && n->src[0] == b;
    if (!copy && is_live_after(c, c->node[d - 1], b)) return true;
  }
  return false;
}

static void rename(uint16_t *r, uint16_t from, uint16_t to) {
  if (*r == from) *r = to;
}

static void unite(struct coalesce *c, uint16_t from, uint16_t to) {
  struct back *k = c->k;
  k->r[from].same = to;
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    for (uint32_t q = 0; q < n->nsrc; q++) rename(&n->src[q], from, to);
    rename(&n->addr, from, to);
  }
  uint32_t *end = &c->first[to];
  while (*end) end = &c->next[*end - 1];
  *end = c->first[from];
  for (uint32_t q = 0; q < k->nb; q++) {
    uint64_t *row[] = {c->l.in + (size_t)q * c->l.words, c->l.out + (size_t)q * c->l.words};
    for (uint32_t s = 0; s < 2; s++)
      if (row[s][from / 64] >> from % 64 & 1) row[s][to / 64] |= 1ull << to % 64;
  }
}

/* Does an instruction under a guard define it? */
static bool is_replaced(const struct coalesce *c, uint16_t r) {
  for (uint32_t d = c->first[r]; d; d = c->next[d - 1])
    if (!back_overwrites(&c->k->n[c->node[d - 1]])) return true;
  return false;
}

/* ---- halves ---- */

/* A conversion of 32 bits to 64: its lower half is the register that it reads. */
static bool extends(const struct back *k, const struct node *n) {
  const struct ptx_inst *i = n->in;
  if (n->role != ROLE_COST || !i || i->op != OP_CVT || i->guard || n->ndef != 1 || n->nsrc != 1 || n->nuse != 1)
    return false;
  if (ptx_type_kinds[i->types[0]] == 'f' || ptx_type_kinds[i->types[1]] == 'f') return false;
  uint16_t d = n->def[0], r = n->src[0];
  return ptx_type_bytes[i->types[0]] == 8 && ptx_type_bytes[i->types[1]] == 4 && k->r[d].ssa && !k->r[d].same &&
         !k->r[d].spared && k->r[d].def != NODE_NONE && k->r[r].ssa && k->r[r].def != NODE_NONE &&
         back_weight(k, r) == 1 && !k->r[r].uniform;
}

static void share_halves(struct back *k) {
  uint16_t *low = ARENA_ARRAY(&k->scratch, uint16_t, k->nregs + 1);
  bool any = false;
  for (uint32_t i = 0; i < k->nn; i++)
    if (extends(k, &k->n[i])) low[k->n[i].def[0]] = k->n[i].src[0], any = true;
  for (uint32_t i = 0; i < k->nn && any; i++) {
    const struct node *n = &k->n[i];
    if (n->addr && low[n->addr]) low[n->addr] = 0;
    if (n->passes)
      for (uint32_t q = 0; q < n->nsrc; q++) low[n->src[q]] = 0;
  }
  for (uint32_t i = 0; i < k->nn && any; i++) {
    struct node *n = &k->n[i];
    for (uint32_t q = 0, m = n->nsrc; q < m; q++)
      if (low[n->src[q]]) back_add_source(n, low[n->src[q]]);
  }
  for (uint32_t r = 1; r <= k->nregs && any; r++)
    if (low[r]) k->r[r].spared = 1;
}

static bool has_source(const struct node *n, uint16_t r) {
  for (uint32_t q = 0; q < n->nsrc; q++)
    if (n->src[q] == r) return true;
  return false;
}

uint16_t back_pair_of_half(const struct back *k, const struct node *n) {
  const struct node *u = n + 1;
  if (n->in || !n->fresh || k->f->regs[n->fresh]->type != T_B32 || u->role != ROLE_COST || !u->in) return 0;
  if (u->ndef != 1 || !has_source(u, n->fresh)) return 0;
  uint8_t op = n->ops[0];
  uint16_t pair = back_same(k, u->def[0]);
  bool half = op == MO_IADD || op == MO_IADD3 || op == MO_LEA || op == MO_SHF;
  return half && back_weight(k, pair) == 2 ? pair : 0;
}

/* A lower half replaces that of the operand in whose registers the result lies. */
static void share_lower_halves(struct back *k) {
  for (uint32_t i = 0; i + 1 < k->nn; i++) {
    const struct node *u = &k->n[i + 1];
    uint16_t pair = back_pair_of_half(k, &k->n[i]);
    if (!pair || k->r[pair].ssa) continue;
    for (uint32_t q = 0; q < u->nsrc; q++)
      if (back_same(k, u->src[q]) == pair) k->r[k->n[i].fresh].spared = 1;
  }
}

void back_coalesce(struct back *k) {
  share_halves(k);
  struct coalesce c = {.k = k};
  for (uint32_t i = 0; i < k->nn; i++) {
    struct node *n = &k->n[i];
    if (!is_copy(k, n)) continue;
    if (!c.first) c.l = back_liveness(k), find_definitions(&c);
    uint16_t d = back_same(k, n->def[0]), s = n->src[0];
    if (back_weight(k, d) > 1 && !is_replaced(&c, d) && !is_replaced(&c, s)) continue;
    if (d != s && (meets(&c, d, s) || meets(&c, s, d))) continue;
    n->role = ROLE_FREE; /* before the two are one: it neither reads nor writes */
    if (d == s) continue;
    if (k->r[d].ssa) unite(&c, d, s);
    else unite(&c, s, d);
  }
  share_lower_halves(k);
}
