/* sums.c - sums that lead to addresses: what is known comes last, so that it becomes the offset of the
 * access. (v + i) + j is (i + j) + v, and i * c + v plus j is (i * c + j) + v, where v is a number or a variable; the
 * arrays of a kernel then share the index, as ptxas has it.
 */
#include <string.h>

#include "back/back_impl.h"

struct sums {
  struct back *k;
  uint8_t *leads; /* by register: every reader is an address or a sum that leads to one */
  struct node *n; /* the new nodes */
  uint32_t nn;
};

static bool simple(const struct ptx_opnd *o) {
  return o->kind == OK_REG && !o->reg2 && !o->sel && !o->part && !o->neg && !o->minus;
}

static bool is_sum(const struct ptx_inst *i) {
  return i->op == OP_ADD && !i->guard && i->nops == 3 && !ptx_has(i, M_CC) && !ptx_has(i, M_SAT) &&
         ptx_type_kinds[i->types[0]] != 'f' && ptx_type_bytes[i->types[0]] >= 4 && simple(&i->ops[0]);
}

static bool is_product(const struct ptx_inst *i) {
  return i->op == OP_MAD && !i->guard && i->nops == 4 && !ptx_has(i, M_CC) && !ptx_has(i, M_SAT) && !ptx_has(i, M_HI) &&
         !ptx_has(i, M_WIDE) && ptx_type_bytes[i->types[0]] == 4 && ptx_type_kinds[i->types[0]] != 'f' &&
         simple(&i->ops[0]) && simple(&i->ops[1]);
}

/* A number, or the address of a variable in shared memory. */
static bool known(const struct back *k, const struct ptx_opnd *o) {
  if (o->kind == OK_IMM) return !o->is_float && !o->minus && !o->neg;
  const struct ptx_inst *d = simple(o) ? back_single(k, o->reg->num) : NULL;
  if (!d || d->op != OP_MOV || d->guard || d->nops != 2) return false;
  return (d->ops[1].kind == OK_IMM && !d->ops[1].is_float) ||
         (d->ops[1].kind == OK_VAR && d->ops[1].var->space == SP_SHARED);
}

static bool single(const struct back *k, const struct ptx_opnd *o, uint32_t bytes) {
  return simple(o) && k->r[o->reg->num].def != NODE_NONE && ptx_type_bytes[o->reg->type] == bytes;
}

static bool reads_as_address(const struct ptx_inst *i, uint16_t r) {
  bool as_address = false;
  uint8_t kind = ptx_ops[i->op].kind;
  if (kind != KIND_LOAD && kind != KIND_STORE && kind != KIND_ATOM) return false;
  if (i->guard && i->guard->num == r) return false;
  for (uint32_t q = 0; q < i->nops; q++) {
    const struct ptx_opnd *o = &i->ops[q];
    if (o->kind == OK_MEM) as_address |= o->reg && o->reg->num == r;
    else if (o->reg && o->reg->num == r) return false;
    for (uint32_t v = 0; (o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM) && v < o->n; v++)
      if (o->vec[v].reg && o->vec[v].reg->num == r) return false;
  }
  return as_address;
}

static void find_leads(struct sums *s) {
  struct back *k = s->k;
  for (uint32_t r = 1; r <= k->nregs; r++) s->leads[r] = k->r[r].def != NODE_NONE && k->r[r].uses;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 0; i < k->nn; i++) {
      const struct node *n = &k->n[i];
      bool on = is_sum(n->in) && s->leads[n->in->ops[0].reg->num];
      for (uint32_t u = 0; u < n->nuse; u++) {
        uint16_t r = n->use[u];
        if (s->leads[r] && !on && !reads_as_address(n->in, r)) s->leads[r] = 0, changed = true;
      }
    }
  }
}

static struct ptx_inst *add_inst(struct sums *s, const struct ptx_inst *like, uint8_t op, const struct ptx_opnd *x,
                                 const struct ptx_opnd *y) {
  struct back *k = s->k;
  struct ptx_inst *c = back_copy(k, like);
  bool wide = ptx_type_bytes[like->types[0]] == 8;
  uint16_t r = back_register(k, wide ? T_B64 : T_B32); /* may move regs */
  memset(c->mods, 0, sizeof c->mods);
  c->nmods = 0;
  if (op == OP_MUL) c->mods[M_LO / 64] |= 1ull << (M_LO % 64), c->mod_order[c->nmods++] = M_LO;
  c->op = op;
  c->nops = 3;
  c->ntypes = 1;
  c->types[0] = wide ? T_S64 : T_S32;
  c->ops[0] = (struct ptx_opnd){.kind = OK_REG, .reg = k->f->regs[r], .line = like->line};
  c->ops[1] = *x;
  c->ops[2] = *y;
  struct node *n = &s->n[s->nn++];
  *n = (struct node){.in = c};
  back_touch(k, n);
  return c;
}

/* u = a + b, where a ends in what is known: the nodes of its other part plus b come first. */
static bool turn(struct sums *s, struct node *u) {
  struct back *k = s->k;
  struct ptx_inst *i = u->in;
  if (u->role == ROLE_GONE || !is_sum(i) || !s->leads[i->ops[0].reg->num]) return false;
  uint32_t bytes = ptx_type_bytes[i->types[0]];
  for (uint32_t q = 1; q <= 2; q++) {
    const struct ptx_opnd *b = &i->ops[3 - q];
    if (!single(k, &i->ops[q], bytes) || !single(k, b, bytes) || known(k, b)) continue;
    const struct ptx_inst *d = back_single(k, i->ops[q].reg->num);
    bool product = d && is_product(d) && single(k, &d->ops[1], bytes) && known(k, &d->ops[3]) &&
                   (d->ops[2].kind == OK_IMM || single(k, &d->ops[2], bytes));
    uint32_t last = d && is_sum(d) && known(k, &d->ops[2]) && single(k, &d->ops[1], bytes)   ? 2
                    : d && is_sum(d) && known(k, &d->ops[1]) && single(k, &d->ops[2], bytes) ? 1
                                                                                             : 0;
    if (!product && (!last || known(k, &d->ops[3 - last]))) continue;
    struct ptx_opnd index = product ? add_inst(s, i, OP_MUL, &d->ops[1], &d->ops[2])->ops[0] : d->ops[3 - last];
    bool first = bytes == 8 ? q == 1 : index.reg->num < b->reg->num; /* wide: as in the text */
    const struct ptx_inst *t = add_inst(s, i, OP_ADD, first ? &index : b, first ? b : &index);
    struct ptx_opnd offset = product ? d->ops[3] : d->ops[last];
    i->ops[1] = t->ops[0];
    i->ops[2] = offset;
    back_touch(k, u);
    return true;
  }
  return false;
}

/* ---- products of sums ---- */

/* A register of 32 bits that is another plus a number, in an iteration that unrolling made. */
static bool plus_number(const struct back *k, const struct ptx_opnd *o, uint16_t *base, int64_t *c) {
  *c = 0;
  if (!single(k, o, 4)) return false;
  *base = o->reg->num;
  const struct ptx_inst *d = o->reg->num > k->orig ? back_single(k, o->reg->num) : NULL;
  uint16_t b;
  int64_t v;
  if (!d || d->op != OP_ADD || !back_adds(k, d, &v, &b) || k->r[b].def == NODE_NONE || k->r[b].konst) return true;
  for (uint32_t q = 1; q <= 2; q++) /* a number, not the address of a variable */
    if (d->ops[q].kind == OK_REG &&
        (!simple(&d->ops[q]) || (k->r[d->ops[q].reg->num].konst && !k->r[d->ops[q].reg->num].number)))
      return true;
  *base = b;
  *c = v;
  return true;
}

/* The other operand of sum or logic d, of which one is a number: 1 or 2; 0: none is. */
static uint32_t beside_number(const struct back *k, const struct ptx_inst *d, int64_t *c) {
  for (uint32_t q = 1; q <= 2; q++) {
    const struct ptx_opnd *o = &d->ops[3 - q];
    const struct fact *f = simple(o) ? &k->r[o->reg->num] : NULL;
    bool number = o->kind == OK_IMM ? !o->is_float && !o->neg && !o->minus : f && f->konst == K_IMM && f->number;
    if (!number || !single(k, &d->ops[q], 4) || k->r[d->ops[q].reg->num].konst) continue;
    *c = f ? f->imm : o->imm;
    return q;
  }
  return 0;
}

/* (x + c) << n is (x << n) + (c << n), and with logic in place of the sum: iterations share the shift. */
static bool distribute_shift(struct sums *s, struct node *u) {
  struct back *k = s->k;
  struct ptx_inst *i = u->in;
  bool shift = u->role != ROLE_GONE && i->op == OP_SHL && !i->guard && i->nops == 3 && i->ops[2].kind == OK_IMM &&
               ptx_type_bytes[i->types[0]] == 4 && i->ops[2].imm > 0 && i->ops[2].imm < 32;
  if (!shift || !simple(&i->ops[0]) || !single(k, &i->ops[1], 4) || i->ops[1].reg->num <= k->orig) return false;
  const struct ptx_inst *d = back_single(k, i->ops[1].reg->num);
  bool logic = d && (d->op == OP_AND || d->op == OP_OR || d->op == OP_XOR);
  int64_t c;
  if (!d || (!logic && !is_sum(d)) || d->guard || d->nops != 3 || ptx_type_bytes[d->types[0]] != 4) return false;
  uint32_t q = beside_number(k, d, &c);
  if (!q) return false;
  const struct ptx_inst *x = add_inst(s, i, OP_SHL, &d->ops[q], &i->ops[2]);
  int32_t number = (int32_t)((uint32_t)c << i->ops[2].imm);
  i->op = d->op;
  i->types[0] = d->types[0];
  i->ops[1] = x->ops[0];
  i->ops[2] = (struct ptx_opnd){.kind = OK_IMM, .imm = number, .line = i->line};
  back_touch(k, u);
  return true;
}

/* (x + a) * m + (y + b) is (x * m + y) + (a * m + b): iterations of an unrolled loop share the product. */
static bool distribute(struct sums *s, struct node *u) {
  struct back *k = s->k;
  struct ptx_inst *i = u->in;
  if (distribute_shift(s, u)) return true;
  if (u->role == ROLE_GONE || !is_product(i) || i->ops[2].kind != OK_IMM || i->ops[2].is_float) return false;
  uint16_t x, y;
  int64_t a, b;
  if (!plus_number(k, &i->ops[1], &x, &a) || !plus_number(k, &i->ops[3], &y, &b)) return false;
  if (x == i->ops[1].reg->num && y == i->ops[3].reg->num) return false;
  int32_t sum = (int32_t)(uint32_t)((uint64_t)a * (uint64_t)i->ops[2].imm + (uint64_t)b);
  if (!sum) {
    i->ops[1].reg = k->f->regs[x];
    i->ops[3].reg = k->f->regs[y];
    back_touch(k, u);
    return true;
  }
  struct ptx_inst *c = back_copy(k, i);
  uint16_t r = back_register(k, T_B32); /* may move regs */
  c->ops[0] = (struct ptx_opnd){.kind = OK_REG, .reg = k->f->regs[r], .line = i->line};
  c->ops[1].reg = k->f->regs[x];
  c->ops[3].reg = k->f->regs[y];
  struct node *n = &s->n[s->nn++];
  *n = (struct node){.in = c};
  back_touch(k, n);
  i->op = OP_ADD;
  i->nops = 3;
  memset(i->mods, 0, sizeof i->mods);
  i->nmods = 0;
  i->types[0] = T_S32;
  i->ops[1] = c->ops[0];
  i->ops[2] = (struct ptx_opnd){.kind = OK_IMM, .imm = sum, .line = i->line};
  back_touch(k, u);
  return true;
}

/* One pass over the text; was anything changed? */
static bool pass(struct back *k, bool (*change)(struct sums *, struct node *)) {
  struct sums s = {.k = k};
  bool any = false;
  s.leads = ARENA_ARRAY(&k->scratch, uint8_t, k->nregs + 1);
  s.n = ARENA_ARRAY(&k->scratch, struct node, 3 * k->nn + 1);
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  find_leads(&s);
  for (uint32_t i = 0; i < k->nn; i++) {
    to[i] = s.nn;
    any |= change(&s, &k->n[i]);
    s.n[s.nn++] = k->n[i];
  }
  if (!any) return false;
  to[k->nn] = s.nn;
  for (uint32_t i = 0; i < s.nn; i++) {
    struct ptx_inst *in = s.n[i].in;
    if (in->op == OP_BRA) in->target = to[in->target];
    for (int64_t q = 0; in->op == OP_BRX && q < in->ops[1].imm; q++) in->ops[1].vec[q].imm = to[in->ops[1].vec[q].imm];
  }
  k->n = s.n;
  k->nn = s.nn;
  back_blocks(k);
  back_facts(k, false);
  return true;
}

void back_order_sums(struct back *k) {
  enum { MOST_PASSES = 4 };
  for (uint32_t q = 0, old = k->nregs; q < MOST_PASSES && pass(k, turn); q++, old = k->nregs) {
    for (uint32_t r = old + 1; r <= k->nregs; r++) k->r[r].ssa = true; /* one definition each */
    back_facts(k, false);
  }
}

bool back_distribute(struct back *k) {
  uint32_t old = k->nregs;
  if (!pass(k, distribute)) return false;
  for (uint32_t r = old + 1; r <= k->nregs; r++) k->r[r].ssa = true;
  back_facts(k, false);
  return true;
}
