/* unroll.c - loops, as ptxas unrolls them: one whose count is known disappears where its copies stay
 * small; the bodies of others are repeated, four times if the count is not known, then twice where two turns are left,
 * with what is left then for the loop as it was. Before and after the copies the counter is compared with the last
 * value from which all of them run. Which loops, and how many copies: loops.c.
 *
 * A register that the body writes has a name of its own in every copy but the last, so that later passes see single
 * definitions; registers to which the body adds a constant begin as a copy, the base of all addresses of the copies.
 */
#include <string.h>

#include "back/loops.h"

enum { MOST_INDUCTIONS = 32, MOST_REGISTERS = 60000 };

struct unroll {
  struct back *k;
  uint32_t *only; /* by register: the block, + 1, of all that read or write it; NODE_NONE: several */
  struct node_list out;
  uint16_t *name; /* by register: its name in the copy that is made */
  uint8_t *kept;  /* by register: has the same name in all copies */
  uint32_t *last; /* by register: its last definition in the body, a node + 1 */
  uint8_t *local; /* by register: each round of the body writes it before it reads it, and nothing else reads it */
  uint8_t *after; /* by register: it may be read after the copies */
};

/* ---- copies ---- */

static struct node *add_node(struct unroll *u, struct ptx_inst *in) {
  return back_append(u->k, &u->out, in);
}

static uint16_t fresh_name(struct unroll *u, uint16_t r) {
  return back_register(u->k, (enum ptx_type)u->k->f->regs[r]->type);
}

static void rename_use(struct unroll *u, struct ptx_opnd *o) {
  if (o->reg && u->name[o->reg->num]) o->reg = u->k->f->regs[u->name[o->reg->num]];
  if (o->kind == OK_VEC || o->kind == OK_LIST || o->kind == OK_MEM)
    for (uint32_t q = 0; q < o->n; q++) rename_use(u, &o->vec[q]);
}

static struct ptx_reg *define(struct unroll *u, struct ptx_reg *r, uint32_t node, bool last) {
  if (u->kept[r->num]) return r;
  bool own = last && !u->local[r->num] && u->after[r->num] && u->last[r->num] == node + 1;
  u->name[r->num] = own ? r->num : fresh_name(u, r->num);
  return u->k->f->regs[u->name[r->num]];
}

static void rename_def(struct unroll *u, struct ptx_opnd *o, uint32_t node, bool last) {
  if (o->reg && o->kind == OK_REG) o->reg = define(u, o->reg, node, last);
  if (o->reg2) o->reg2 = define(u, o->reg2, node, last);
  for (uint32_t q = 0; o->kind == OK_VEC && q < o->n; q++) rename_def(u, &o->vec[q], node, last);
}

static void copy_body(struct unroll *u, const struct loop *l, bool drop_setp, bool last) {
  struct back *k = u->k;
  const struct bblock *b = &l->body;
  uint32_t *place = ARENA_ARRAY(&k->scratch, uint32_t, b->end - b->first), from = u->out.nn;
  for (uint32_t i = b->first; i + 1 < b->end; i++) {
    place[i - b->first] = u->out.nn;
    if (i == l->setp && drop_setp) continue;
    struct ptx_inst *c = back_copy(k, k->n[i].in);
    uint32_t dests = ptx_dests(c);
    if (c->guard && u->name[c->guard->num]) c->guard = k->f->regs[u->name[c->guard->num]];
    for (uint32_t q = dests; q < c->nops; q++) rename_use(u, &c->ops[q]);
    for (uint32_t q = 0; q < dests; q++) {
      if (c->ops[q].kind == OK_MEM) rename_use(u, &c->ops[q]);
      else rename_def(u, &c->ops[q], i, last);
    }
    uint32_t turn = k->n[i].turn ? k->n[i].turn : l->whole ? l->turn : 0;
    add_node(u, c)->turn = turn < UINT16_MAX ? (uint16_t)turn : UINT16_MAX;
  }
  place[b->end - 1 - b->first] = u->out.nn;
  for (uint32_t i = from; i < u->out.nn; i++)
    if (u->out.n[i].in->op == OP_BRA) u->out.n[i].in->target = place[u->out.n[i].in->target - b->first];
}

static void find_local(struct unroll *u, const struct bblock *b) {
  const struct back *k = u->k;
  for (uint32_t i = b->end; i-- > b->first;) { /* backwards: the first that reads or writes it decides */
    for (uint32_t d = 0; d < k->n[i].ndef; d++) u->local[k->n[i].def[d]] = !k->n[i].in->guard;
    for (uint32_t q = 0; q < k->n[i].nuse; q++) u->local[k->n[i].use[q]] = false;
  }
  for (uint32_t i = 0; i < k->nn; i++) {
    if (i >= b->first && i < b->end) continue;
    for (uint32_t q = 0; q < k->n[i].nuse; q++) u->local[k->n[i].use[q]] = false;
  }
}

/* What comes first in a block. */
enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE };
static enum access first_access(const struct back *k, const struct bblock *b, uint16_t r) {
  for (uint32_t i = b->first; i < b->end; i++) {
    const struct node *n = &k->n[i];
    for (uint32_t u = 0; u < n->nuse; u++)
      if (n->use[u] == r) return ACCESS_READ;
    for (uint32_t d = 0; d < n->ndef; d++)
      if (n->def[d] == r && !n->in->guard) return ACCESS_WRITE;
  }
  return ACCESS_NONE;
}

/* Is the register read on a way from the end of a loop that becomes straight code, before it is written? `met` and
 * `todo`: blocks. */
static bool read_after(const struct back *k, const struct loop *l, uint16_t r, uint8_t *met, uint32_t *todo) {
  uint32_t n = 0, q = l->block;
  memset(met, 0, k->nb);
  todo[n++] = q;
  while (n) {
    uint32_t from = todo[--n];
    for (uint32_t s = 0; s < back_successors(k, from); s++) {
      uint32_t to = back_successor(k, from, s);
      if (met[to] || (from == q && to == l->head)) continue; /* its own branch back goes */
      met[to] = 1;
      enum access how = first_access(k, &k->b[to], r);
      if (how == ACCESS_READ) return true;
      if (how == ACCESS_NONE) todo[n++] = to;
    }
  }
  return false;
}

/* Straight code ends with what is read after it; a loop's last copy is followed by its first. */
static void find_after(struct unroll *u, const struct loop *l) {
  struct back *k = u->k;
  const struct bblock *b = &l->body;
  uint8_t *met = l->whole ? ARENA_ARRAY(&k->scratch, uint8_t, k->nb + 1) : NULL;
  uint32_t *todo = l->whole ? ARENA_ARRAY(&k->scratch, uint32_t, k->nb + 1) : NULL;
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      u->after[r] = !l->whole || read_after(k, l, r, met, todo);
    }
}

static void prepare_names(struct unroll *u, const struct loop *l) {
  struct back *k = u->k;
  const struct bblock *b = &l->body;
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      u->name[r] = 0;
      u->kept[r] = false;
    }
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < k->n[i].ndef; d++) {
      uint16_t r = k->n[i].def[d];
      bool aside = !loop_each_turn(k, l, i) && u->only[r] != k->n[i].block + 1;
      if (k->n[i].in->guard || aside) u->kept[r] = true;
      u->last[r] = i + 1;
    }
  find_local(u, b);
  find_after(u, l);
}

/* A later loop may read registers of the same numbers, written in between. */
static void forget_names(struct unroll *u, const struct loop *l) {
  const struct bblock *b = &l->body;
  for (uint32_t i = b->first; i < b->end; i++)
    for (uint32_t d = 0; d < u->k->n[i].ndef; d++) u->name[u->k->n[i].def[d]] = 0;
}

/* Registers that the body adds a constant to, and the counter of a loop whose count is known. */
static void begin(struct unroll *u, const struct loop *l) {
  struct back *k = u->k;
  const struct bblock *b = &l->body;
  for (uint32_t i = b->first, n = 0; i < b->end && n < MOST_INDUCTIONS; i++) {
    int64_t step;
    const struct ptx_inst *in = k->n[i].in;
    uint16_t r = k->n[i].ndef == 1 ? k->n[i].def[0] : 0;
    if (!r || u->kept[r] || loop_induction(k, l, r, &step) == NODE_NONE) continue;
    struct ptx_inst *c = back_copy(k, in);
    c->op = OP_MOV;
    c->nops = 2;
    c->ntypes = 1;
    c->types[0] = back_wide(k, r) ? T_B64 : T_B32;
    memset(c->mods, 0, sizeof c->mods);
    c->nmods = 0;
    uint16_t t = fresh_name(u, r);
    c->ops[0].reg = k->f->regs[t];
    c->ops[1] = (struct ptx_opnd){.kind = OK_REG, .reg = k->f->regs[r], .line = in->line};
    if (l->whole && r == l->counter) c->ops[1] = (struct ptx_opnd){.kind = OK_IMM, .imm = l->first, .line = in->line};
    add_node(u, c);
    u->name[r] = t;
    n++;
  }
}

/* A comparison like the loop's: of x with y, and of another predicate if there is one. */
static struct ptx_reg *add_comparison(struct unroll *u, const struct loop *l, enum ptx_mod how,
                                      const struct ptx_opnd *x, const struct ptx_opnd *y, struct ptx_reg *also) {
  struct back *k = u->k;
  struct ptx_inst *c = back_copy(k, k->n[l->setp].in);
  uint16_t r = back_register(k, T_PRED); /* may move regs */
  struct ptx_reg *p = k->f->regs[r];
  memset(c->mods, 0, sizeof c->mods);
  c->nmods = 0;
  back_set(c, how);
  c->ops[0].reg = p;
  c->ops[1] = *x;
  c->ops[2] = *y;
  if (also) {
    back_set(c, M_AND);
    c->ops[3] = (struct ptx_opnd){.kind = OK_REG, .reg = also, .line = c->line};
    c->nops = 4;
  }
  add_node(u, c);
  return p;
}

static struct ptx_opnd add_difference(struct unroll *u, const struct loop *l, const struct ptx_opnd *x,
                                      const struct ptx_opnd *y) {
  struct back *k = u->k;
  struct ptx_inst *c = back_copy(k, k->n[l->setp].in);
  memset(c->mods, 0, sizeof c->mods);
  c->nmods = 0;
  c->op = OP_SUB;
  c->ntypes = 1;
  bool wide = back_wide(k, l->counter);
  c->types[0] = wide ? T_U64 : T_U32;
  uint16_t r = back_register(k, wide ? T_B64 : T_B32); /* may move regs */
  c->ops[0].reg = k->f->regs[r];
  c->ops[1] = *x;
  c->ops[2] = *y;
  add_node(u, c);
  return c->ops[0];
}

/* Do all of n copies run? `last`: the bound less their steps but one; made before the loop. */
static struct ptx_reg *copies_follow(struct unroll *u, const struct loop *l, uint32_t n, struct ptx_opnd *last,
                                     bool before) {
  struct back *k = u->k;
  const struct ptx_inst *setp = k->n[l->setp].in;
  const struct ptx_opnd *bound = &setp->ops[2],
                        counter = {.kind = OK_REG, .reg = k->f->regs[l->counter], .line = setp->line};
  struct ptx_opnd steps = {.kind = OK_IMM, .imm = (int64_t)(n - 1) * l->step, .line = setp->line};
  int64_t number = 0;
  if (l->cond == M_NE) { /* how far it is, in steps that may pass the end of the numbers */
    struct ptx_opnd far = counter;
    bool zero = bound->kind == OK_IMM && !bound->imm && l->step < 0;
    if (!zero) far = l->step > 0 ? add_difference(u, l, bound, &counter) : add_difference(u, l, &counter, bound);
    if (steps.imm < 0) steps.imm = -steps.imm;
    struct ptx_reg *p = add_comparison(u, l, M_GT, &far, &steps, NULL);
    u->out.n[u->out.nn - 1].in->types[0] = back_wide(k, l->counter) ? T_U64 : T_U32;
    return p;
  }
  if (!before) return add_comparison(u, l, l->cond, &counter, last, NULL);
  if (bound->kind == OK_IMM) {
    loop_number_of_last(l, setp, n, &number);
    *last = (struct ptx_opnd){.kind = OK_IMM, .imm = number, .line = setp->line};
    return add_comparison(u, l, l->cond, &counter, last, NULL);
  }
  *last = add_difference(u, l, bound, &steps);
  return add_comparison(u, l, l->cond, &counter, last, add_comparison(u, l, l->cond, last, bound, NULL));
}

static uint32_t add_branch(struct unroll *u, const struct loop *l, struct ptx_reg *p, bool neg) {
  struct back *k = u->k;
  struct ptx_inst *c = back_copy(k, k->n[k->b[l->block].end - 1].in);
  c->guard = p;
  c->guard_neg = neg;
  add_node(u, c);
  return u->out.nn - 1;
}

static bool read_elsewhere(const struct back *k, const struct loop *l) {
  uint16_t p = k->n[l->setp].in->ops[0].reg->num;
  for (uint32_t i = 0; i < k->nn; i++)
    for (uint32_t x = 0; x < k->n[i].nuse; x++)
      if (k->n[i].use[x] == p && i != k->b[l->block].end - 1) return true;
  return false;
}

/* Branches of nodes from `fixed` on name new nodes already: their targets are kept in `own`. */
struct fix {
  uint32_t node, target;
  bool after; /* the node after the loop, an old number */
};

/* To the end of the loop unless it takes another turn. */
static void leave_loop(struct unroll *u, const struct loop *l, struct fix *f, uint32_t *nf) {
  const struct ptx_inst *setp = u->k->n[l->setp].in;
  struct ptx_opnd counter = {.kind = OK_REG, .reg = u->k->f->regs[l->counter], .line = setp->line};
  struct ptx_reg *more = add_comparison(u, l, l->cond, &counter, &setp->ops[2], NULL);
  f[(*nf)++] = (struct fix){add_branch(u, l, more, true), u->k->b[l->block].end, true};
  u->out.n[u->out.nn - 1].behind = true;
}

static void add_copies(struct unroll *u, const struct loop *l, uint32_t n, bool drop) {
  prepare_names(u, l);
  begin(u, l);
  for (uint32_t t = 1; t <= n; t++) copy_body(u, l, drop && (!l->trips || t < n), t == n);
}

/* Copies while as many turns are left, and twice the body if two are; the loop as it was follows. */
static void repeat(struct unroll *u, const struct loop *l, struct fix *f, uint32_t *nf) {
  bool drop = !read_elsewhere(u->k, l);
  struct ptx_opnd last = {.kind = OK_NONE}, last_of_two = {.kind = OK_NONE};
  uint32_t to_pair = add_branch(u, l, copies_follow(u, l, l->copies, &last, true), true), head = u->out.nn;
  add_copies(u, l, l->copies, drop);
  f[(*nf)++] = (struct fix){add_branch(u, l, copies_follow(u, l, l->copies, &last, false), false), head, false};
  leave_loop(u, l, f, nf);
  f[(*nf)++] = (struct fix){to_pair, u->out.nn, false};
  uint32_t to_rest = add_branch(u, l, copies_follow(u, l, 2, &last_of_two, true), true);
  add_copies(u, l, 2, drop);
  leave_loop(u, l, f, nf);
  f[(*nf)++] = (struct fix){to_rest, u->out.nn, false};
  u->k->n[u->k->b[l->block].end - 1].once = l->cond != M_NE;
}

/* A loop of known count: straight code, or copies that divide the count. */
static void repeat_known(struct unroll *u, const struct loop *l, struct fix *f, uint32_t *nf) {
  bool drop = !read_elsewhere(u->k, l);
  if (l->whole) {
    prepare_names(u, l);
    begin(u, l);
    for (uint32_t t = 0; t < l->trips; t++) copy_body(u, l, drop, t + 1 == l->trips);
    forget_names(u, l);
    return;
  }
  uint32_t head = u->out.nn;
  add_copies(u, l, l->copies, drop);
  const struct ptx_inst *bra = u->k->n[u->k->b[l->block].end - 1].in;
  struct ptx_reg *more = u->k->f->regs[u->name[bra->guard->num]]; /* as the last copy has it */
  f[(*nf)++] = (struct fix){add_branch(u, l, more, bra->guard_neg), head, false};
}

static void finish(struct unroll *u, const uint32_t *to, const struct fix *f, uint32_t nf, const uint8_t *old) {
  for (uint32_t q = 0; q < nf; q++) u->out.n[f[q].node].in->target = f[q].after ? to[f[q].target] : f[q].target;
  back_replace(u->k, &u->out, to, old);
}

/* ---- loops that are entered at their test ---- */

static void note_block(struct unroll *u, uint16_t r, uint32_t block) {
  u->only[r] = !u->only[r] || u->only[r] == block + 1 ? block + 1 : NODE_NONE;
}

static struct unroll begin_copies(struct back *k) {
  uint32_t n = k->nregs + 1;
  struct unroll u = {.k = k};
  u.name = ARENA_ARRAY(&k->scratch, uint16_t, n);
  u.kept = ARENA_ARRAY(&k->scratch, uint8_t, n);
  u.last = ARENA_ARRAY(&k->scratch, uint32_t, n);
  u.local = ARENA_ARRAY(&k->scratch, uint8_t, n);
  u.after = ARENA_ARRAY(&k->scratch, uint8_t, n);
  u.only = ARENA_ARRAY(&k->scratch, uint32_t, n);
  for (uint32_t i = 0; i < k->nn; i++) {
    for (uint32_t d = 0; d < k->n[i].ndef; d++) note_block(&u, k->n[i].def[d], k->n[i].block);
    for (uint32_t q = 0; q < k->n[i].nuse; q++) note_block(&u, k->n[i].use[q], k->n[i].block);
  }
  return u;
}

static void keep_node(struct unroll *u, uint32_t i, struct ptx_inst *in) {
  struct node *n = add_node(u, in);
  n->once = u->k->n[i].once;
  n->behind = u->k->n[i].behind;
  n->turn = u->k->n[i].turn;
}

/* A copy of the test's block goes in front of the loop, which is then one block. */
static void rotate(struct back *k) {
  uint8_t *entered = ARENA_ARRAY(&k->scratch, uint8_t, k->nb + 1);
  uint32_t most = k->nn;
  for (uint32_t q = 0; q < k->nb; q++)
    if ((entered[q] = loop_entered_at_test(k, q))) most += k->b[q + 1].end - k->b[q + 1].first;
  if (most == k->nn || k->nregs + most > MOST_REGISTERS) return;
  struct unroll u = begin_copies(k);
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  uint8_t *old = ARENA_ARRAY(&k->scratch, uint8_t, most + 1);
  for (uint32_t i = 0; i < k->nn; i++) {
    uint32_t q = k->n[i].block;
    struct ptx_inst *in = k->n[i].in;
    bool last = i + 1 == k->b[q].end;
    to[i] = u.out.nn;
    if (last && entered[q + 1]) {
      const struct loop test = {.head = q + 2, .block = q + 2, .body = k->b[q + 2]};
      prepare_names(&u, &test);
      copy_body(&u, &test, false, true);
      continue;
    }
    if (last && q > 1 && entered[q - 2] && in->op == OP_BRA && !in->guard && in->target == k->b[q - 2].first) continue;
    if (last && q && entered[q - 1] && in->target != k->b[q - 1].first) {
      in->guard_neg = !in->guard_neg;
      in->target = k->b[q - 1].first;
    }
    old[u.out.nn] = 1;
    keep_node(&u, i, in);
  }
  to[k->nn] = u.out.nn;
  finish(&u, to, NULL, 0, old);
}

/* Copies of the bodies of all loops, or of those around straight code of others; false: there are none that become
 * straight code. */
static bool unroll_loops(struct back *k, bool nests) {
  struct loop *loops = ARENA_ARRAY(&k->scratch, struct loop, k->nb + 1);
  uint32_t n = 0, nf = 0, most = k->nn;
  bool any = false;
  for (uint32_t q = 0; q < k->nb; q++)
    if (loop_find(k, q, &loops[n]) && (!nests || (loops[n].nest && loops[n].whole))) any |= loops[n++].whole;
  if (!n) return false;
  for (uint32_t q = 0; q < n; q++) {
    uint32_t size = loops[q].body.end - loops[q].body.first;
    most += (loops[q].copies + 2) * size + 2 * MOST_INDUCTIONS + 20;
  }
  if (k->nregs + most > MOST_REGISTERS) return false;
  struct unroll u = begin_copies(k);
  struct fix *f = ARENA_ARRAY(&k->scratch, struct fix, 5 * n + 1);
  uint32_t *to = ARENA_ARRAY(&k->scratch, uint32_t, k->nn + 1);
  uint8_t *old = ARENA_ARRAY(&k->scratch, uint8_t, most + 1);
  for (uint32_t i = 0, q = 0; i < k->nn; i++) {
    if (q < n && i == loops[q].body.first) {
      const struct loop *l = &loops[q++];
      uint32_t at = u.out.nn;
      if (!l->trips) {
        repeat(&u, l, f, &nf);
      } else { /* nothing is left of it */
        repeat_known(&u, l, f, &nf);
        for (uint32_t x = i; x < l->body.end; x++) to[x] = at;
        i = l->body.end - 1;
        continue;
      }
    }
    to[i] = u.out.nn;
    old[u.out.nn] = 1;
    keep_node(&u, i, k->n[i].in);
  }
  to[k->nn] = u.out.nn;
  finish(&u, to, f, nf, old);
  return any;
}

void back_unroll(struct back *k) {
  enum { DEEPEST = 4 };
  rotate(k);
  bool more = unroll_loops(k, false);
  for (uint32_t deep = 1; more && deep < DEEPEST; deep++) more = unroll_loops(k, true);
}
