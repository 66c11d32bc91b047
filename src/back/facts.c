/* facts.c - a function as nodes and blocks, and what holds of its registers. */
#include <stdlib.h>
#include <string.h>

#include "back/back_impl.h"
#include "base/mem.h"

bool back_ends(const struct ptx_inst *i) {
  return i->op == OP_BRA || i->op == OP_BRX || i->op == OP_RET || i->op == OP_EXIT || i->op == OP_TRAP;
}

bool back_listed(const uint16_t *r, uint32_t n, uint16_t x) {
  for (uint32_t q = 0; q < n; q++)
    if (r[q] == x) return true;
  return false;
}

struct ptx_inst *back_single(const struct back *k, uint16_t r) {
  uint32_t d = k->r[r].def;
  return d == NODE_NONE ? NULL : k->n[d].in;
}

uint16_t back_register(struct back *k, enum ptx_type t) {
  if (++k->nregs >= k->cap_regs) {
    uint32_t cap = 2 * k->cap_regs;
    struct fact *r = ARENA_ARRAY(&k->scratch, struct fact, cap);
    struct ptx_reg **regs = ARENA_ARRAY(k->a, struct ptx_reg *, cap);
    memcpy(r, k->r, k->cap_regs * sizeof *r);
    memcpy(regs, k->f->regs, k->cap_regs * sizeof *regs);
    k->r = r;
    k->f->regs = regs;
    k->cap_regs = cap;
  }
  struct ptx_reg *g = ARENA_NEW(k->a, struct ptx_reg);
  *g = (struct ptx_reg){.name = "%machine", .type = (uint8_t)t, .num = (uint16_t)k->nregs};
  k->f->regs[k->nregs] = g;
  k->f->nregs = k->nregs;
  k->r[k->nregs] = (struct fact){.def = NODE_NONE};
  return g->num;
}

static void copy_operand(struct arena *a, struct ptx_opnd *to, const struct ptx_opnd *from) {
  *to = *from;
  bool list = from->kind == OK_VEC || from->kind == OK_LIST || from->kind == OK_MEM || from->kind == OK_TABLE;
  uint32_t n = from->kind == OK_TABLE ? (uint32_t)from->imm : from->n;
  if (!list || !from->vec || !n) return;
  to->vec = ARENA_ARRAY(a, struct ptx_opnd, n);
  for (uint32_t q = 0; q < n; q++) copy_operand(a, &to->vec[q], &from->vec[q]);
}

void back_copy_operands(struct arena *a, struct ptx_inst *to, const struct ptx_inst *from) {
  to->ops = ARENA_ARRAY(a, struct ptx_opnd, PTX_MAX_OPNDS);
  for (uint32_t q = 0; q < from->nops; q++) copy_operand(a, &to->ops[q], &from->ops[q]);
}

struct ptx_inst *back_copy(struct back *k, const struct ptx_inst *i) {
  struct ptx_inst *c = ARENA_NEW(k->a, struct ptx_inst);
  *c = *i;
  back_copy_operands(k->a, c, i);
  return c;
}

void back_touch(struct back *k, struct node *n) {
  uint16_t use[PTX_MAX_USES], def[PTX_MAX_USES];
  uint32_t nu, nd;
  ptx_uses(n->in, use, &nu, def, &nd);
  uint16_t *at = ARENA_ARRAY(&k->scratch, uint16_t, nu + nd + 1);
  memcpy(at, use, nu * sizeof *use);
  memcpy(at + nu, def, nd * sizeof *def);
  n->use = at;
  n->def = at + nu;
  n->nuse = (uint16_t)nu;
  n->ndef = (uint16_t)nd;
}

void back_set(struct ptx_inst *i, enum ptx_mod m) {
  i->mods[m / 64] |= 1ull << (m % 64);
  i->mod_order[i->nmods++] = (uint8_t)m;
}

struct node *back_append(struct back *k, struct node_list *l, struct ptx_inst *i) {
  if (l->nn == l->cap) {
    struct node *n = ARENA_ARRAY(&k->scratch, struct node, l->cap = 2 * l->cap + 64);
    if (l->nn) memcpy(n, l->n, l->nn * sizeof *n);
    l->n = n;
  }
  struct node *n = &l->n[l->nn++];
  *n = (struct node){.in = i};
  back_touch(k, n);
  return n;
}

void back_replace(struct back *k, const struct node_list *l, const uint32_t *to, const uint8_t *old) {
  for (uint32_t i = 0; i < l->nn; i++) {
    struct ptx_inst *in = l->n[i].in;
    if (!old[i]) continue;
    if (in->op == OP_BRA) in->target = to[in->target];
    for (int64_t q = 0; in->op == OP_BRX && q < in->ops[1].imm; q++) in->ops[1].vec[q].imm = to[in->ops[1].vec[q].imm];
  }
  k->n = l->n;
  k->nn = l->nn;
  back_blocks(k);
}

void back_open(struct back *k) {
  struct ptx_func *f = k->f;
  k->nregs = k->orig = f->nregs;
  k->cap_regs = f->nregs + 1;
  struct ptx_reg **regs = ARENA_ARRAY(k->a, struct ptx_reg *, k->cap_regs);
  memcpy(regs, f->regs, k->cap_regs * sizeof *regs);
  f->regs = regs;
  k->r = ARENA_ARRAY(&k->scratch, struct fact, k->cap_regs);
  k->nn = f->ncode;
  k->n = ARENA_ARRAY(&k->scratch, struct node, k->nn + 1);
  for (uint32_t i = 0; i < k->nn; i++) {
    k->n[i].in = back_copy(k, &f->code[i]);
    back_touch(k, &k->n[i]);
  }
  back_blocks(k);
}

static void mark_leaders(const struct back *k, uint8_t *leader) {
  leader[0] = 1;
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct ptx_inst *in = k->n[i].in;
    if (!back_ends(in)) continue;
    leader[i + 1] = 1;
    if (in->op == OP_BRA) leader[in->target] = 1;
    for (int64_t q = 0; in->op == OP_BRX && q < in->ops[1].imm; q++) leader[in->ops[1].vec[q].imm] = 1;
  }
}

static void connect(struct back *k) {
  for (uint32_t q = 0; q < k->nb; q++) {
    struct bblock *b = &k->b[q];
    const struct ptx_inst *in = k->n[b->end - 1].in;
    bool next = q + 1 < k->nb;
    if (in->op == OP_BRA) b->succ[b->nsucc++] = k->n[in->target].block;
    if (in->op == OP_BRX) b->targets = in->ops[1].vec, b->ntargets = (uint32_t)in->ops[1].imm;
    if (next && (!back_ends(in) || in->guard)) b->succ[b->nsucc++] = q + 1;
  }
  for (uint32_t q = 0; q < k->nb; q++) {
    struct bblock *b = &k->b[q];
    for (uint32_t s = 0; s < b->nsucc; s++) k->b[b->succ[s]].preds++;
    for (uint32_t s = 0; s < b->ntargets; s++) k->b[k->n[b->targets[s].imm].block].preds++;
  }
}

/* Loops around a block: spans of text from the target of a backward branch to that branch. What is left of a loop for
 * one turn is none. */
static void find_depths(struct back *k) {
  uint32_t *span = ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1); /* by first block: last block + 1 */
  for (uint32_t q = 0; q < k->nb; q++)
    for (uint32_t s = 0; s < k->b[q].nsucc; s++)
      if (k->b[q].succ[s] <= q && !k->n[k->b[q].end - 1].once) span[k->b[q].succ[s]] = q + 1;
  for (uint32_t h = 0; h < k->nb; h++)
    for (uint32_t q = h; q < span[h]; q++) k->b[q].depth++;
}

void back_blocks(struct back *k) {
  uint8_t *leader = ARENA_ARRAY(&k->scratch, uint8_t, k->nn + 2);
  mark_leaders(k, leader);
  k->nb = 0;
  for (uint32_t i = 0; i < k->nn; i++) k->nb += leader[i];
  k->b = ARENA_ARRAY(&k->scratch, struct bblock, k->nb + 1);
  uint32_t at = 0;
  for (uint32_t i = 0; i < k->nn; i++) {
    if (leader[i]) k->b[at++].first = i;
    k->b[at - 1].end = i + 1;
    k->n[i].block = at - 1;
  }
  connect(k);
  find_depths(k);
}

/* Nodes that are gone leave; branches to them go to what follows. */
void back_compact(struct back *k) {
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1), n = 0;
  for (uint32_t i = 0; i < k->nn; i++) {
    to[i] = n;
    n += k->n[i].role != ROLE_GONE;
  }
  to[k->nn] = n;
  for (uint32_t i = 0; i < k->nn; i++) {
    struct ptx_inst *in = k->n[i].in;
    if (in->op == OP_BRA) in->target = to[in->target];
    for (int64_t q = 0; in->op == OP_BRX && q < in->ops[1].imm; q++)
      in->ops[1].vec[q].imm = (int64_t)to[in->ops[1].vec[q].imm];
    if (k->n[i].role != ROLE_GONE) k->n[to[i]] = k->n[i];
  }
  k->nn = n;
  back_blocks(k);
}

void back_facts(struct back *k, bool first) {
  for (uint32_t r = 0; r <= k->nregs; r++) k->r[r].def = NODE_NONE, k->r[r].defs = 0, k->r[r].uses = 0;
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct node *n = &k->n[i];
    if (n->role == ROLE_GONE) continue;
    for (uint32_t u = 0; u < n->nuse; u++) k->r[n->use[u]].uses++;
    for (uint32_t d = 0; d < n->ndef; d++) {
      struct fact *r = &k->r[n->def[d]];
      r->def = i;
      r->defs += first && n->in->guard ? 2 : 1;
    }
  }
  if (first) {
    const struct ptx_func *f = k->f;
    for (uint32_t i = 0; i < f->nparams; i++)
      if (f->param_regs[i]) k->r[f->param_regs[i]->num].defs += 2;
    for (uint32_t r = 1; r <= k->nregs; r++) {
      bool before = r <= k->orig && f->live_in[r / 64] >> (r % 64) & 1;
      k->r[r].ssa = k->r[r].defs == 1 && !before;
    }
  }
  for (uint32_t r = 0; r <= k->nregs; r++)
    if (!k->r[r].ssa || k->r[r].defs != 1) k->r[r].def = NODE_NONE;
}

/* ---- the graph of blocks ---- */

uint32_t back_successors(const struct back *k, uint32_t q) {
  return k->b[q].nsucc + k->b[q].ntargets;
}
uint32_t back_successor(const struct back *k, uint32_t q, uint32_t s) {
  const struct bblock *b = &k->b[q];
  if (s < b->nsucc) return b->succ[s];
  int64_t to = b->targets[s - b->nsucc].imm;
  return k->blocks_named ? (uint32_t)to : k->n[to].block;
}

struct graph back_graph(struct back *k) {
  uint32_t edges = 0;
  for (uint32_t q = 0; q < k->nb; q++) edges += back_successors(k, q) + 1;
  struct graph_rows r = graph_rows(k->nb + 1, edges, &k->scratch);
  for (uint32_t q = 0; q < k->nb; q++, graph_next(&r)) {
    uint32_t n = back_successors(k, q);
    for (uint32_t s = 0; s < n; s++) graph_edge(&r, back_successor(k, q, s));
    if (!n) graph_edge(&r, k->nb);
  }
  graph_next(&r);
  return graph_of(&r);
}

void back_dominators(struct back *k) {
  struct graph ahead = back_graph(k), back = graph_reversed(&ahead, &k->scratch);
  k->dom = graph_dominators(&ahead, &back, 0, &k->scratch);
}

bool back_dominates(const struct back *k, uint32_t a, uint32_t b) {
  return graph_dominates(&k->dom, a, b);
}
