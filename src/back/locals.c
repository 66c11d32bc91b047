/* locals.c - a small array in local memory becomes registers, also where an index is not known: a chain of comparisons
 * with every place picks one. Words of 32 bits, up to 128, if the comparisons are few beside the kernel's instructions,
 * each weighted by 16 for every loop around it: ptxas 11.8 (sm_70) and 13.0 (sm_90) draw the line so, within one
 * instruction in 56 kernels padded up to it (docs/notes/backend.md).
 *
 * Approximations: all arrays of a function count as one; an access under a guard, one of a vector by an unknown index
 * and one whose address is used in another way keep them in memory. An index that is none of the array's has another
 * result than in memory.
 */
#include "back/back_impl.h"

enum { MOST_WORDS = 128, WORD = 4 };

struct locals {
  struct making m;
  const struct ptx_var *var;
  uint32_t words;
  struct ptx_opnd reg[MOST_WORDS];
};

/* An address in the array: a number and, if `index` is not 0, a register of 64 bits with the bytes to add. */
struct where {
  int64_t off;
  uint16_t index;
};

static const struct ptx_inst *definition(const struct back *k, uint16_t r) {
  const struct ptx_inst *i = back_single(k, r);
  return i && !i->guard ? i : NULL;
}

static bool find_where(const struct locals *l, const struct ptx_opnd *o, struct where *w, uint32_t deep);

/* Is it the array's address plus what `w` says? `deep`: how far the definitions may lead. */
static bool find_in_register(const struct locals *l, uint16_t r, struct where *w, uint32_t deep) {
  const struct back *k = l->m.k;
  const struct ptx_inst *i = definition(k, r);
  if (!i || !deep) return false;
  if (i->op == OP_MOV && i->nops == 2) return find_where(l, &i->ops[1], w, deep - 1);
  if (i->op != OP_ADD || i->nops != 3 || ptx_type_bytes[i->types[0]] != 8) return false;
  for (uint32_t q = 1; q <= 2; q++) {
    struct where x = {0};
    const struct ptx_opnd *other = &i->ops[3 - q];
    if (!find_where(l, &i->ops[q], &x, deep - 1)) continue;
    if (other->kind == OK_IMM) x.off += other->imm;
    else if (other->kind == OK_REG && !x.index && !other->sel && !other->neg) x.index = other->reg->num;
    else return false;
    *w = x;
    return true;
  }
  return false;
}

static bool find_where(const struct locals *l, const struct ptx_opnd *o, struct where *w, uint32_t deep) {
  *w = (struct where){0};
  if (o->kind == OK_VAR) return o->var == l->var;
  if (o->kind != OK_REG && o->kind != OK_MEM) return false;
  if (o->kind == OK_MEM && o->var) {
    w->off = o->imm;
    return o->var == l->var && !o->reg;
  }
  if (!o->reg || o->sel || o->neg || !find_in_register(l, o->reg->num, w, deep)) return false;
  if (o->kind == OK_MEM) w->off += o->imm;
  return true;
}

enum { DEEP = 6 };

static bool is_access(const struct ptx_inst *i) {
  return (i->op == OP_LD || i->op == OP_ST) && ptx_has(i, M_LOCAL) && i->nops == 2;
}

static const struct ptx_opnd *address_of(const struct ptx_inst *i) {
  return &i->ops[i->op == OP_LD];
}

static const struct ptx_opnd *moved_words(const struct ptx_inst *i) {
  return &i->ops[i->op == OP_ST];
}

/* An access of words that registers can serve: the array, at aligned places. */
static bool is_served(const struct locals *l, const struct ptx_inst *i, struct where *w) {
  const struct ptx_opnd *v = moved_words(i);
  uint32_t n = v->kind == OK_VEC ? v->n : 1;
  if (i->guard || i->ntypes != 1 || ptx_type_bytes[i->types[0]] != WORD || ptx_has(i, M_VOLATILE)) return false;
  if (!find_where(l, address_of(i), w, DEEP)) return false;
  for (uint32_t q = 0; q < n; q++) {
    const struct ptx_opnd *o = v->kind == OK_VEC ? &v->vec[q] : v;
    bool plain = o->kind == OK_REG && !o->sel && !o->part && ptx_type_bytes[o->reg->type] == WORD;
    if (!plain && !(i->op == OP_ST && o->kind == OK_IMM)) return false;
  }
  if (w->index) return n == 1;
  return w->off >= 0 && w->off % WORD == 0 && w->off / WORD + n <= l->words;
}

/* Does the node use the array's address in another way than as an address or in a sum that is one? */
static bool escapes(const struct locals *l, const struct node *n) {
  const struct ptx_inst *i = n->in;
  struct where w;
  for (uint32_t q = 0; q < i->nops; q++) {
    const struct ptx_opnd *o = &i->ops[q];
    bool address = is_access(i) && o == address_of(i);
    if (address || (q == 0 && ptx_dests(i))) continue;
    if (o->kind == OK_VEC || o->kind == OK_LIST) {
      for (uint32_t e = 0; e < o->n; e++)
        if (find_where(l, &o->vec[e], &w, DEEP)) return true;
      continue;
    }
    if (!find_where(l, o, &w, DEEP)) continue;
    if (i->op == OP_CVTA && i->ops[0].kind == OK_REG && !l->m.k->r[i->ops[0].reg->num].uses) continue;
    bool sum = (i->op == OP_ADD || i->op == OP_MOV) && i->ops[0].kind == OK_REG && !i->guard;
    if (!sum || !find_where(l, &i->ops[0], &w, DEEP)) return true;
  }
  return false;
}

/* The function's local variable, if it is the only one. */
static const struct ptx_var *only_variable(const struct back *k) {
  const struct ptx_var *v = NULL;
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t q = 0; q < k->n[i].in->nops; q++) {
      const struct ptx_opnd *o = &k->n[i].in->ops[q];
      if ((o->kind != OK_VAR && o->kind != OK_MEM) || !o->var || o->var->space != SP_LOCAL) continue;
      if (v && v != o->var) return NULL;
      v = o->var;
    }
  return v;
}

static uint64_t times_run(const struct back *k, uint32_t node) {
  enum { IN_A_LOOP = 4, MOST_DEPTH = 6 }; /* 16 for each loop */
  uint32_t depth = k->b[k->n[node].block].depth;
  return (uint64_t)1 << IN_A_LOOP * (depth < MOST_DEPTH ? depth : MOST_DEPTH);
}

/* What ptxas has no instruction for when it decides: numbers, variables, copies, known places of the array, sums that
 * nothing reads. */
static bool is_free(const struct locals *l, const struct ptx_inst *i) {
  struct where w;
  if (i->op == OP_CVTA) return true;
  if (i->op == OP_MOV && i->nops == 2)
    return i->ops[1].kind == OK_IMM || i->ops[1].kind == OK_VAR || (i->ops[1].kind == OK_REG && !i->ops[1].sel);
  if (i->op != OP_ADD || i->ops[0].kind != OK_REG) return false;
  return !l->m.k->r[i->ops[0].reg->num].uses || (find_where(l, &i->ops[0], &w, DEEP) && !w.index);
}

/* (words + 7) for each access and `once` are at most the kernel's instructions times `times` / 8. */
struct line {
  uint32_t once, times, most_compared;
};

static bool worth(const struct locals *l) {
  enum { BESIDE_WORDS = 7, OF = 8 };
  static const struct line volta = {12, 16, 511}, hopper = {10, 15, UINT32_MAX};
  const struct back *k = l->m.k;
  const struct line *at = k->t->sm >= 90 ? &hopper : &volta;
  uint64_t accesses = 0, all = 0, compared = 0;
  for (uint32_t i = 0; i < k->nn; i++) {
    const struct ptx_inst *in = k->n[i].in;
    struct where w;
    if (escapes(l, &k->n[i])) return false;
    if (!is_free(l, in)) all += times_run(k, i);
    if (!is_access(in)) continue;
    if (!is_served(l, in, &w)) return false;
    if (!w.index) continue;
    accesses += times_run(k, i);
    compared += l->words;
  }
  if (!accesses) return true;
  return compared <= at->most_compared && OF * (accesses * (l->words + BESIDE_WORDS) + at->once) <= at->times * all;
}

static void put_known(struct locals *l, const struct ptx_inst *i, uint32_t at) {
  const struct ptx_opnd *v = moved_words(i);
  for (uint32_t q = 0; q < (v->kind == OK_VEC ? v->n : 1); q++) {
    struct ptx_opnd x = v->kind == OK_VEC ? v->vec[q] : *v, r = l->reg[at + q];
    make_inst(&l->m, i->op == OP_LD ? x : r, OP_MOV, T_B32, i->op == OP_LD ? r : x, make_nothing);
  }
}

static void put_unknown(struct locals *l, const struct ptx_inst *i, const struct where *w) {
  struct making *m = &l->m;
  struct ptx_opnd bytes = make_register(m, T_B32), x = *moved_words(i);
  struct ptx_opnd index = {.kind = OK_REG, .reg = m->k->f->regs[w->index], .line = i->line, .col = i->col};
  struct ptx_inst *low = make_inst(m, bytes, OP_CVT, T_U32, index, make_nothing);
  low->types[low->ntypes++] = T_U64;
  if (i->op == OP_LD) make_inst(m, x, OP_MOV, T_B32, l->reg[0], make_nothing);
  for (uint32_t q = i->op == OP_LD; q < l->words; q++) {
    struct ptx_opnd p = make_register(m, T_PRED);
    back_set(make_inst(m, p, OP_SETP, T_S32, bytes, make_number((int64_t)q * WORD - w->off)), M_EQ);
    make_inst(m, i->op == OP_LD ? x : l->reg[q], OP_MOV, T_B32, i->op == OP_LD ? l->reg[q] : x, make_nothing);
    struct node *n = &m->out.n[m->out.nn - 1];
    n->in->guard = p.reg;
    back_touch(m->k, n);
  }
}

static uint32_t most_nodes(const struct locals *l) {
  uint32_t accesses = 0;
  for (uint32_t i = 0; i < l->m.k->nn; i++) accesses += is_access(l->m.k->n[i].in);
  return l->m.k->nn + accesses * (2 * l->words + 2);
}

static bool serve(void *ctx, const struct node *n) {
  struct locals *l = ctx;
  struct where w;
  if (!is_access(n->in) || !is_served(l, n->in, &w)) return false;
  if (w.index) put_unknown(l, n->in, &w);
  else put_known(l, n->in, (uint32_t)(w.off / WORD));
  return true;
}

void back_locals(struct back *k) {
  struct locals l = {.m.k = k, .var = only_variable(k)};
  if (!l.var || l.var->bytes % WORD || l.var->bytes > MOST_WORDS * WORD) return;
  l.words = (uint32_t)(l.var->bytes / WORD);
  if (!l.words || !worth(&l)) return;
  l.m.of = k->n[0].in;
  for (uint32_t q = 0; q < l.words; q++) l.reg[q] = make_register(&l.m, T_B32);
  make_over(&l.m, most_nodes(&l), serve, &l);
}
